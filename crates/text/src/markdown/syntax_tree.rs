//! The syntax tree of a note, for whoever shows it: texts and what they are, without any markup. An
//! address in it is a text too, and what is shown of it is up to the reader of the tree.

use std::ops::Range;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, LinkType, Parser, Tag, TagEnd};
use pulldown_cmark::{HeadingLevel, TextMergeWithOffset};
use serde_json::{Map, Value};

use super::sentences::callout_mark;
use super::shallow::MASK;
use super::{comments, frontmatter};
use crate::types::ByteSpan;

/// Maximum depth of the tree. What is deeper stands on the deepest level, so that no text can make
/// the tree deep enough to exhaust the stack.
const DEEPEST_NODE: usize = 48;

/// A note as a tree.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SyntaxTree {
    /// The keys of its frontmatter.
    pub properties: Map<String, Value>,
    /// Its blocks.
    pub blocks: Vec<SyntaxNode>,
}

/// A part of a note.
#[derive(Debug, Clone, PartialEq)]
pub struct SyntaxNode {
    /// What it is.
    pub kind: SyntaxKind,
    /// The line of the file, from 1, on which it begins, if it is the first node that names the
    /// line. No two nodes of a tree have the same.
    pub line: Option<usize>,
    /// Its parts.
    pub children: Vec<SyntaxNode>,
}

/// What a part of a note is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyntaxKind {
    /// A paragraph.
    Paragraph,
    /// With its level, from 1.
    Heading(u8),
    /// A block quote.
    Quote,
    /// An Obsidian callout with its name in lower case. Its first child is its title.
    Callout(String),
    /// The title of a callout.
    CalloutTitle,
    /// With its language; empty if none is named.
    CodeBlock(String),
    /// With the number of its first item, if it has numbers.
    List(Option<u64>),
    /// An item of a list.
    Item,
    /// An item of a list of tasks: whether it is done.
    Task(bool),
    /// A table.
    Table,
    /// The row of a table with the names of its columns.
    TableHead,
    /// A row of a table.
    TableRow,
    /// A cell of a row.
    TableCell(CellAlignment),
    /// A thematic break.
    Rule,
    /// With its label.
    Footnote(String),
    /// A mark that leads to the footnote with this label.
    FootnoteMark(String),
    /// Words.
    Text(String),
    /// Code in a line.
    InlineCode(String),
    /// Words with emphasis.
    Emphasis,
    /// Words with strong emphasis.
    Strong,
    /// Words that are struck out.
    Struck,
    /// With its target as written.
    WebLink(String),
    /// `[[target]]`, with what stands before `|`.
    NoteLink(String),
    /// A picture or an embedded note, with its target. Its children are its description.
    Picture(String),
    /// HTML as written.
    RawHtml(String),
    /// The end of a line inside a paragraph.
    SoftBreak,
    /// A line break that is shown.
    HardBreak,
}

/// How the cells of a column are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellAlignment {
    /// At the beginning of the line.
    Start,
    /// In the middle.
    Center,
    /// At the end of the line.
    End,
}

/// The tree of a note. Never fails; comments are not in it.
pub fn syntax_tree(file_text: &str) -> SyntaxTree {
    let matter = frontmatter::read(file_text);
    let base = matter
        .span
        .map_or(frontmatter::bom_len(file_text), ByteSpan::end);
    let (masked, _) = comments::mask(&file_text[base..]);
    let mut tree = TreeBuilder::new(file_text, base);
    let parser = Parser::new_ext(&masked, super::dialect());
    for (event, range) in TextMergeWithOffset::new(parser.into_offset_iter()) {
        tree.take(event, range);
    }
    SyntaxTree {
        properties: matter.json,
        blocks: tree.finished(),
    }
}

/// Builds the tree from the parser's events.
struct TreeBuilder {
    /// The first byte of each line of the file.
    line_starts: Vec<usize>,
    /// Where the parsed text begins in the file.
    base: usize,
    /// The greatest line that a node names.
    named_line: usize,
    /// The open nodes. The first one holds the blocks.
    open: Vec<SyntaxNode>,
    /// Number of open nodes that are too deep, and are not in `open`.
    too_deep: usize,
    alignments: Vec<Alignment>,
}

impl TreeBuilder {
    fn new(file_text: &str, base: usize) -> Self {
        let breaks = file_text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            line_starts: std::iter::once(0).chain(breaks).collect(),
            base,
            named_line: 0,
            open: vec![SyntaxNode {
                kind: SyntaxKind::Paragraph,
                line: None,
                children: Vec::new(),
            }],
            too_deep: 0,
            alignments: Vec::new(),
        }
    }

    fn finished(mut self) -> Vec<SyntaxNode> {
        while self.open.len() > 1 {
            self.close();
        }
        self.open
            .pop()
            .map(|root| root.children)
            .unwrap_or_default()
    }

    /// The line of a byte of the parsed text.
    fn line_of(&self, at: usize) -> usize {
        self.line_starts
            .partition_point(|start| *start <= self.base + at)
    }

    /// The line, if no node names it yet, nor a later one.
    fn new_line(&mut self, line: usize) -> Option<usize> {
        let is_new = line > self.named_line;
        self.named_line = self.named_line.max(line);
        is_new.then_some(line)
    }

    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, &range),
            Event::End(end) => self.end(end, &range),
            Event::Text(text) => self.leaf(SyntaxKind::Text(shown(&text))),
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                self.leaf(SyntaxKind::InlineCode(shown(&code)));
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                self.leaf(SyntaxKind::RawHtml(shown(&html)));
            }
            Event::FootnoteReference(label) => {
                self.leaf(SyntaxKind::FootnoteMark(label.to_string()));
            }
            Event::SoftBreak => self.line_break(SyntaxKind::SoftBreak, &range),
            Event::HardBreak => self.line_break(SyntaxKind::HardBreak, &range),
            Event::Rule => {
                let line = self.line_of(range.start);
                let line = self.new_line(line);
                self.push(SyntaxKind::Rule, line);
            }
            Event::TaskListMarker(is_done) => self.task(is_done),
        }
    }

    fn push(&mut self, kind: SyntaxKind, line: Option<usize>) {
        if let Some(parent) = self.open.last_mut() {
            parent.children.push(SyntaxNode {
                kind,
                line,
                children: Vec::new(),
            });
        }
    }

    fn leaf(&mut self, kind: SyntaxKind) {
        self.push(kind, None);
    }

    /// A break names the line after it.
    fn line_break(&mut self, kind: SyntaxKind, range: &Range<usize>) {
        let line = self.line_of(range.start) + 1;
        let line = self.new_line(line);
        self.push(kind, line);
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        if self.open.len() >= DEEPEST_NODE {
            self.too_deep += 1;
            return;
        }
        let names_line = names_line(&tag);
        let kind = self.kind_of(tag);
        let line = self.line_of(range.start);
        let line = if names_line {
            self.new_line(line)
        } else {
            None
        };
        self.open.push(SyntaxNode {
            kind,
            line,
            children: Vec::new(),
        });
    }

    fn kind_of(&mut self, tag: Tag<'_>) -> SyntaxKind {
        match tag {
            Tag::Heading { level, .. } => SyntaxKind::Heading(level_number(level)),
            Tag::BlockQuote(_) => SyntaxKind::Quote,
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => {
                let language = info.split([' ', ',', '{']).next();
                SyntaxKind::CodeBlock(language.unwrap_or_default().to_owned())
            }
            Tag::CodeBlock(CodeBlockKind::Indented) => SyntaxKind::CodeBlock(String::new()),
            Tag::List(first) => SyntaxKind::List(first),
            Tag::Item => SyntaxKind::Item,
            Tag::Table(alignments) => {
                self.alignments = alignments;
                SyntaxKind::Table
            }
            Tag::TableHead => SyntaxKind::TableHead,
            Tag::TableRow => SyntaxKind::TableRow,
            Tag::TableCell => SyntaxKind::TableCell(self.alignment()),
            Tag::FootnoteDefinition(label) => SyntaxKind::Footnote(label.to_string()),
            Tag::Emphasis => SyntaxKind::Emphasis,
            Tag::Strong => SyntaxKind::Strong,
            Tag::Strikethrough => SyntaxKind::Struck,
            Tag::Link {
                link_type: LinkType::WikiLink { .. },
                dest_url,
                ..
            } => SyntaxKind::NoteLink(shown(&dest_url)),
            Tag::Link { dest_url, .. } => SyntaxKind::WebLink(shown(&dest_url)),
            Tag::Image { dest_url, .. } => SyntaxKind::Picture(shown(&dest_url)),
            _ => SyntaxKind::Paragraph,
        }
    }

    /// The alignment of the cell that begins now.
    fn alignment(&self) -> CellAlignment {
        let column = self.open.last().map_or(0, |row| row.children.len());
        match self.alignments.get(column) {
            Some(Alignment::Right) => CellAlignment::End,
            Some(Alignment::Center) => CellAlignment::Center,
            _ => CellAlignment::Start,
        }
    }

    fn end(&mut self, end: TagEnd, range: &Range<usize>) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        if end == TagEnd::CodeBlock {
            // Whoever shows the block may name each of its lines.
            let last = self.line_of(range.end.saturating_sub(1));
            self.named_line = self.named_line.max(last);
        }
        self.close();
    }

    fn close(&mut self) {
        if self.open.len() < 2 {
            return;
        }
        if let (Some(mut node), Some(parent)) = (self.open.pop(), self.open.last_mut()) {
            if node.kind == SyntaxKind::Quote {
                as_callout(&mut node);
            }
            parent.children.push(node);
        }
    }

    fn task(&mut self, is_done: bool) {
        let mut open = self.open.iter_mut().rev();
        if let Some(item) = open.find(|node| node.kind == SyntaxKind::Item) {
            item.kind = SyntaxKind::Task(is_done);
        }
    }
}

/// The text without the characters that stand for a comment.
fn shown(text: &str) -> String {
    text.replace(MASK, "")
}

/// Whether a node of this kind names the line on which it begins.
const fn names_line(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Paragraph
            | Tag::Heading { .. }
            | Tag::BlockQuote(_)
            | Tag::CodeBlock(_)
            | Tag::Item
            | Tag::TableHead
            | Tag::TableRow
            | Tag::FootnoteDefinition(_)
    )
}

const fn level_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// A quote that begins with `[!note]` is a callout; the rest of that line is its title.
fn as_callout(quote: &mut SyntaxNode) {
    let Some(first) = quote.children.first_mut() else {
        return;
    };
    let Some(SyntaxNode {
        kind: SyntaxKind::Text(text),
        ..
    }) = first.children.first_mut()
    else {
        return;
    };
    let Some(length) = callout_mark(text) else {
        return;
    };
    let mark = text[2..length].trim_end_matches(['+', '-', ']']);
    let name = mark.to_lowercase();
    *text = text[length..].trim_start().to_owned();
    let is_break =
        |node: &SyntaxNode| matches!(node.kind, SyntaxKind::SoftBreak | SyntaxKind::HardBreak);
    let end = first.children.iter().position(is_break);
    let body = first
        .children
        .split_off(end.unwrap_or(first.children.len()));
    let title = SyntaxNode {
        kind: SyntaxKind::CalloutTitle,
        line: None,
        children: std::mem::take(&mut first.children),
    };
    match body.is_empty() {
        true => drop(quote.children.remove(0)),
        false => first.children = body,
    }
    quote.children.insert(0, title);
    quote.kind = SyntaxKind::Callout(name);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree in one line: names of kinds, with lines and texts.
    fn outline(nodes: &[SyntaxNode]) -> String {
        let shown = nodes.iter().map(|node| {
            let line = node
                .line
                .map_or_else(String::new, |line| format!("@{line}"));
            let name = match &node.kind {
                SyntaxKind::Text(text) => return format!("{text:?}"),
                kind => format!("{kind:?}{line}"),
            };
            match node.children.is_empty() {
                true => name,
                false => format!("{name}[{}]", outline(&node.children)),
            }
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    fn tree(text: &str) -> String {
        outline(&syntax_tree(text).blocks)
    }

    #[test]
    fn blocks_have_their_kind_and_their_line_in_the_file() {
        for (text, wanted) in [
            (
                "---\na: b\n---\n# T\n\nOne\ntwo.\n",
                "Heading(1)@4[\"T\"] Paragraph@6[\"One\" SoftBreak@7 \"two.\"]",
            ),
            (
                "- [x] a\n- [ ] b\n- c\n",
                "List(None)[Task(true)@1[\"a\"] Task(false)@2[\"b\"] Item@3[\"c\"]]",
            ),
            (
                "> [!Tip]+ Try *it*\n> so\n",
                "Callout(\"tip\")@1[CalloutTitle[\"Try \" Emphasis[\"it\"]] Paragraph[SoftBreak@2 \"so\"]]",
            ),
            ("> [!note]\n", "Callout(\"note\")@1[CalloutTitle[\"\"]]"),
            ("> [!] x\n", "Quote@1[Paragraph[\"[!] x\"]]"),
            (
                "|a|b|\n|-|-:|\n|c|d|\n",
                "Table[TableHead@1[TableCell(Start)[\"a\"] TableCell(End)[\"b\"]] \
                 TableRow@3[TableCell(Start)[\"c\"] TableCell(End)[\"d\"]]]",
            ),
            (
                "```rust x\nfn\n```\nend\n",
                "CodeBlock(\"rust\")@1[\"fn\\n\"] Paragraph@4[\"end\"]",
            ),
            (
                "[[a|b]] ![p](q.png) [w](x)\n",
                "Paragraph@1[NoteLink(\"a\")[\"b\"] \" \" Picture(\"q.png\")[\"p\"] \" \" WebLink(\"x\")[\"w\"]]",
            ),
            ("a %%no%% b\n", "Paragraph@1[\"a  b\"]"),
            ("", ""),
        ] {
            assert_eq!(tree(text), wanted, "{text}");
        }
    }

    #[test]
    fn the_keys_of_the_frontmatter_are_properties() {
        let tree = syntax_tree("---\ntags: [a, b]\n---\nText\n");
        assert_eq!(tree.properties["tags"], serde_json::json!(["a", "b"]));
    }

    #[test]
    fn no_text_makes_the_tree_deep_and_none_of_it_is_lost() {
        fn depth(nodes: &[SyntaxNode]) -> usize {
            nodes
                .iter()
                .map(|node| 1 + depth(&node.children))
                .max()
                .unwrap_or(0)
        }
        for text in [
            format!("{}deep{}", "*a **b ".repeat(5_000), "** c*".repeat(5_000)),
            format!("{}deep", "> ".repeat(3_000)),
            format!("{}deep", "- ".repeat(3_000)),
        ] {
            let tree = syntax_tree(&text);
            assert!(
                depth(&tree.blocks) <= DEEPEST_NODE,
                "{}",
                depth(&tree.blocks)
            );
            assert!(outline(&tree.blocks).contains("deep"));
        }
    }

    #[test]
    fn no_line_is_named_twice() {
        fn lines(nodes: &[SyntaxNode], out: &mut Vec<usize>) {
            for node in nodes {
                out.extend(node.line);
                lines(&node.children, out);
            }
        }
        let text = "# A\n> - b\n>   c\n> 1. d\n\n| e |\n|---|\n| f |\n\n```\ng\nh\n```\n- i\n\n  j\n[^1]: k\n";
        let mut named = Vec::new();
        lines(&syntax_tree(text).blocks, &mut named);
        let mut once = named.clone();
        once.dedup();
        assert_eq!(named, once);
        assert!(named.is_sorted(), "{named:?}");
    }
}
