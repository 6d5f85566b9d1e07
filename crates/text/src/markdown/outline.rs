//! One pass over the parser's events: the blocks of a text, and the parts that other modules need
//! (headings, links, tags, block ids).
//!
//! Blocks are kept in a flat list in document order; a block's children follow it up to `next`.
//! Nesting beyond [`MAX_DEPTH`] is not recorded: such a block is cut at sentences instead.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Parser, Tag, TagEnd};

use super::inline::{self, Link, LinkKind};
use super::plain::block_id;
use super::sentences::callout_mark;
use super::shallow::MASK;
use super::types::BlockKinds;
use crate::types::ByteSpan;

/// Maximum depth of recorded blocks.
const MAX_DEPTH: usize = 12;

/// How a block without children is cut when it is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// At sentences.
    Text,
    /// At lines.
    Lines,
    /// At lines, and it must be the last block of its chunk. A closing fence whose opening fence is
    /// in another chunk would turn the text after it into code.
    Fence,
}

/// A block.
#[derive(Debug)]
pub(crate) struct Node {
    pub range: Range<usize>,
    /// Its own kinds.
    pub own: BlockKinds,
    /// The kinds of it and everything inside it.
    pub kinds: BlockKinds,
    pub shape: Shape,
    /// The index of the first block after this one and its children.
    pub next: usize,
}

/// A heading that begins a section: not inside a list or a quote.
#[derive(Debug)]
pub(crate) struct SectionHeading {
    /// Its block.
    pub node: usize,
    pub level: u8,
    pub title: String,
}

/// The result of one pass.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    pub nodes: Vec<Node>,
    pub headings: Vec<SectionHeading>,
    pub links: Vec<Link>,
    pub tags: Vec<String>,
    /// Block ids and their positions.
    pub block_ids: Vec<(usize, String)>,
    /// Where an unclosed code fence begins.
    pub unclosed_fence: Option<usize>,
}

impl Outline {
    /// Parses `text`, in which comments are masked.
    pub(crate) fn of(text: &str) -> Self {
        let mut reader = Reader {
            text,
            ..Reader::default()
        };
        for (event, range) in Parser::new_ext(text, super::dialect()).into_offset_iter() {
            reader.take(event, range);
        }
        reader.out
    }

    /// Appends a block, and returns its index in `nodes`.
    pub(crate) fn push(&mut self, range: Range<usize>, kinds: BlockKinds, shape: Shape) -> usize {
        let node = self.nodes.len();
        self.nodes.push(Node {
            range,
            own: kinds,
            kinds,
            shape,
            next: node + 1,
        });
        node
    }

    /// Makes an added block begin a section.
    pub(crate) fn head(&mut self, node: usize, level: u8, title: String) {
        self.headings.push(SectionHeading { node, level, title });
    }

    /// The direct children of the text, or of `parent`.
    pub(crate) fn children(&self, parent: Option<usize>) -> impl Iterator<Item = usize> {
        let (first, end) = match parent {
            Some(parent) => (parent + 1, self.nodes.get(parent).map_or(0, |n| n.next)),
            None => (0, self.nodes.len()),
        };
        let inside = move |i: &usize| *i < end;
        std::iter::successors(Some(first).filter(inside), move |&i| {
            self.nodes.get(i).map(|n| n.next).filter(inside)
        })
    }
}

#[derive(Default)]
struct Reader<'a> {
    text: &'a str,
    out: Outline,
    /// Open recorded blocks.
    open: Vec<usize>,
    /// Open containers (lists, items, quotes, footnotes), recorded or not.
    depth: usize,
    /// Open blocks that were not recorded.
    unrecorded: usize,
    title: Option<String>,
    links: Vec<Link>,
    in_code: bool,
    /// The last text of the block so far.
    last_text: Option<Range<usize>>,
}

impl Reader<'_> {
    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag),
            Event::Text(words) if !self.in_code => {
                self.say(&words);
                if self.links.is_empty() {
                    inline::tags(self.text, range.clone(), &mut self.out.tags);
                }
                self.last_text = Some(range);
            }
            Event::Code(words) => {
                self.say(&words);
                self.last_text = None;
            }
            Event::SoftBreak | Event::HardBreak => {
                self.say(" ");
                self.last_text = None;
            }
            Event::Rule => {
                self.end_of_text();
                self.push(range, BlockKinds::default(), Shape::Text);
                self.pop();
            }
            Event::InlineHtml(_) | Event::FootnoteReference(_) => self.last_text = None,
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        let (kinds, shape) = match tag {
            Tag::Link {
                link_type,
                dest_url,
                ..
            } => return self.start_link(link_type, &dest_url, range, false),
            Tag::Image {
                link_type,
                dest_url,
                ..
            } => return self.start_link(link_type, &dest_url, range, true),
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::TableCell => return,
            Tag::Paragraph if self.depth > 0 => (BlockKinds::default(), Shape::Text),
            Tag::Paragraph => (BlockKinds::PARAGRAPH, Shape::Text),
            Tag::Heading { .. } => {
                self.title = Some(String::new());
                (BlockKinds::HEADING, Shape::Text)
            }
            Tag::BlockQuote(_) => (self.quote_kinds(&range), Shape::Text),
            Tag::CodeBlock(ref kind) => {
                self.in_code = true;
                let fenced = matches!(kind, CodeBlockKind::Fenced(_));
                if fenced && self.out.unclosed_fence.is_none() && is_unclosed(self.text, &range) {
                    self.out.unclosed_fence = Some(range.start);
                }
                (
                    BlockKinds::CODE,
                    if fenced { Shape::Fence } else { Shape::Lines },
                )
            }
            Tag::HtmlBlock => (BlockKinds::HTML, Shape::Lines),
            Tag::List(_) | Tag::Item => (BlockKinds::LIST, Shape::Text),
            Tag::Table(_) => (BlockKinds::TABLE, Shape::Lines),
            Tag::TableHead | Tag::TableRow => (BlockKinds::TABLE, Shape::Text),
            _ => (BlockKinds::PARAGRAPH, Shape::Text),
        };
        self.end_of_text();
        self.push(range, kinds, shape);
        self.depth += usize::from(is_container(&tag.to_end()));
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Link | TagEnd::Image => {
                let Some(link) = self.links.pop() else { return };
                self.out.links.push(inline::finish(link));
                self.last_text = None;
                return;
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::TableCell => {
                self.last_text = None;
                return;
            }
            TagEnd::Heading(level) => {
                let title = self.title.take().unwrap_or_default();
                if self.depth == 0
                    && let Some(&node) = self.open.last()
                {
                    self.out.headings.push(SectionHeading {
                        node,
                        level: level as u8,
                        title,
                    });
                }
            }
            TagEnd::CodeBlock => self.in_code = false,
            _ => {}
        }
        self.end_of_text();
        self.depth -= usize::from(is_container(&tag));
        self.pop();
    }

    fn push(&mut self, range: Range<usize>, kinds: BlockKinds, shape: Shape) {
        if self.open.len() >= MAX_DEPTH {
            self.unrecorded += 1;
            if let Some(&top) = self.open.last() {
                self.out.nodes[top].kinds |= kinds;
            }
            return;
        }
        self.open.push(self.out.nodes.len());
        self.out.nodes.push(Node {
            range,
            own: kinds,
            kinds,
            shape,
            next: 0,
        });
    }

    fn pop(&mut self) {
        if self.unrecorded > 0 {
            self.unrecorded -= 1;
            return;
        }
        let Some(node) = self.open.pop() else { return };
        self.out.nodes[node].next = self.out.nodes.len();
        let kinds = self.out.nodes[node].kinds;
        if let Some(&parent) = self.open.last() {
            self.out.nodes[parent].kinds |= kinds;
        }
    }

    fn start_link(&mut self, kind: LinkType, target: &str, range: Range<usize>, image: bool) {
        let kind = match (kind, image) {
            (LinkType::WikiLink { .. }, false) => LinkKind::Wiki,
            (LinkType::WikiLink { .. }, true) => LinkKind::Embed,
            (LinkType::Autolink | LinkType::Email, _) => LinkKind::Autolink,
            (_, false) => LinkKind::Markdown,
            (_, true) => LinkKind::Image,
        };
        let Some(span) = ByteSpan::new(range.start, range.end) else {
            return;
        };
        self.last_text = None;
        self.links.push(Link {
            kind,
            target: target.to_owned(),
            anchor: None,
            text: Some(String::new()),
            span,
        });
    }

    /// Adds words of a heading or a link.
    fn say(&mut self, words: &str) {
        let texts = self
            .links
            .iter_mut()
            .filter_map(|l| l.text.as_mut())
            .chain(self.title.as_mut());
        texts.for_each(|text| text.extend(words.chars().filter(|c| *c != MASK)));
    }

    /// Ends the text of a block; its last words may be a block id.
    fn end_of_text(&mut self) {
        let Some(range) = self.last_text.take() else {
            return;
        };
        let words = &self.text[range.clone()];
        let Some(id) = block_id(words) else { return };
        let at = range.start + words.trim_end().len() - id.len() - 1;
        if self.text[..at].ends_with(|c: char| c.is_whitespace() || c == '>') || at == 0 {
            self.out.block_ids.push((at, id.to_owned()));
        }
    }

    fn quote_kinds(&self, range: &Range<usize>) -> BlockKinds {
        let body = self.text[range.clone()].trim_start_matches(['>', ' ', '\t']);
        if callout_mark(body).is_some() {
            BlockKinds::QUOTE | BlockKinds::CALLOUT
        } else {
            BlockKinds::QUOTE
        }
    }
}

fn is_container(tag: &TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::List(_) | TagEnd::Item | TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition
    )
}

/// Whether the fence that begins `range` is not closed by its last line.
fn is_unclosed(text: &str, range: &Range<usize>) -> bool {
    let block = &text[range.clone()];
    let mark = block.bytes().next().unwrap_or(b'`') as char;
    let opening = block.len() - block.trim_start_matches(mark).len();
    let last = block
        .trim_end()
        .rsplit('\n')
        .next()
        .unwrap_or("")
        .trim_start_matches([' ', '\t', '>']);
    let closing = last.len() - last.trim_start_matches(mark).len();
    !(block.trim_end().contains('\n') && closing >= opening && closing == last.len())
}
