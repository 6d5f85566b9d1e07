//! Converts markdown text to the words that a reader sees.

use pulldown_cmark::{Event, LinkType, Parser, Tag, TagEnd, TextMergeWithOffset};

use super::comments;
use super::sentences::callout_mark;
use super::shallow::MASK;

/// The words that a reader sees: emphasis, links, `[[target|alias]]`, code ticks, footnote marks,
/// `%%comments%%`, block ids and HTML tags are resolved or removed; a soft line break becomes a
/// space, blocks are separated by one line break, cells by ` | `. Numbers of list items and
/// `[E3]`-like marks are words; an embedded picture is not.
pub fn plain(text: &str) -> String {
    let trimmed = text.trim();
    let may_be_marked = trimmed
        .bytes()
        .any(|b| b"*_[]<>&`~|%=^\\#\n\r".contains(&b))
        || trimmed.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+'))
        || text.starts_with(['\t', ' ']);
    if !may_be_marked {
        return trimmed.to_owned();
    }
    let (masked, _) = comments::mask(text);
    let parser = Parser::new_ext(&masked, super::dialect());
    let mut definitions: Vec<_> = parser
        .reference_definitions()
        .iter()
        .map(|(_, d)| d.span.clone())
        .collect();
    definitions.sort_unstable_by_key(|r| std::cmp::Reverse(r.start));
    let mut words = Words::default();
    for (event, range) in TextMergeWithOffset::new(parser.into_offset_iter()) {
        while definitions.last().is_some_and(|d| d.start <= range.start) {
            let definition = definitions.pop().unwrap_or_default();
            words.end_block();
            words.line.push_str(&masked[definition]);
            words.end_block();
        }
        words.take(event);
    }
    for definition in definitions.into_iter().rev() {
        words.end_block();
        words.line.push_str(&masked[definition]);
    }
    words.end_block();
    words.out
}

#[derive(Default)]
struct Words {
    out: String,
    /// The block being collected.
    line: String,
    /// The numbers of the open lists.
    numbers: Vec<Option<u64>>,
    /// Depth inside a picture whose words are not shown.
    hidden: usize,
    html: Option<String>,
    in_code: bool,
}

impl Words {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Html(html) => self.html.get_or_insert_default().push_str(&html),
            Event::InlineHtml(tag) if is_break(&tag) => self.line.push(' '),
            _ if self.hidden > 0 => {}
            Event::Text(text) if self.in_code => self.line.push_str(&text),
            Event::Text(text) => push_words(&mut self.line, &text),
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                self.line.push_str(&code);
            }
            Event::SoftBreak => self.line.push(' '),
            Event::HardBreak => self.line.push('\n'),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Image {
                link_type,
                dest_url,
                ..
            } => {
                let picture = matches!(link_type, LinkType::WikiLink { .. }) && is_media(&dest_url);
                self.hidden += usize::from(picture || self.hidden > 0);
            }
            Tag::List(first) => {
                self.end_block();
                self.numbers.push(first);
            }
            Tag::Item => {
                self.end_block();
                if let Some(Some(number)) = self.numbers.last_mut() {
                    self.line = format!("{number}. ");
                    *number = number.saturating_add(1);
                }
            }
            Tag::CodeBlock(_) => {
                self.end_block();
                self.in_code = true;
            }
            Tag::Paragraph if self.line.ends_with(". ") => {}
            Tag::Paragraph
            | Tag::Heading { .. }
            | Tag::BlockQuote(_)
            | Tag::TableRow
            | Tag::HtmlBlock => self.end_block(),
            Tag::TableCell if !self.line.is_empty() => self.line.push_str(" | "),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Image => self.hidden = self.hidden.saturating_sub(1),
            TagEnd::List(_) => {
                self.end_block();
                self.numbers.pop();
            }
            TagEnd::CodeBlock => {
                self.out_line_as_is();
                self.in_code = false;
            }
            TagEnd::HtmlBlock => {
                self.line = self
                    .html
                    .take()
                    .map(|html| strip_tags(&html))
                    .unwrap_or_default();
                self.end_block();
            }
            TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::BlockQuote(_) | TagEnd::Item => {
                self.end_block();
            }
            TagEnd::TableHead | TagEnd::TableRow | TagEnd::FootnoteDefinition => self.end_block(),
            _ => {}
        }
    }

    fn out_line_as_is(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.push_block(line.trim_end());
    }

    fn end_block(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = line.trim();
        let line = callout_mark(line).map_or(line, |mark| line[mark..].trim_start());
        let line = without_block_id(line);
        // The parser does not recognise a single row as a table.
        let line = match line.strip_prefix('|').and_then(|l| l.strip_suffix('|')) {
            Some(row) => row.trim(),
            None => line,
        };
        self.push_block(line);
    }

    fn push_block(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.extend(line.chars().filter(|c| *c != MASK));
    }
}

/// Adds text without footnote marks (`[^1]`; the parser resolves them only together with their
/// definition) and without the marks of `==highlighted==` words; `a == b` keeps them.
fn push_words(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(open) = rest.find("[^") {
        let label = &rest[open + 2..];
        let len = label
            .find(|c: char| c == ']' || c == '[' || c.is_whitespace())
            .unwrap_or(0);
        let is_mark = len > 0 && label[len..].starts_with(']');
        push_without_highlights(
            out,
            if is_mark {
                &rest[..open]
            } else {
                &rest[..open + 2]
            },
        );
        rest = if is_mark { &label[len + 1..] } else { label };
    }
    push_without_highlights(out, rest);
}

fn push_without_highlights(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(open) = rest.find("==") {
        let body = &rest[open + 2..];
        let close = body.find("==").filter(|close| {
            let inner = &body[..*close];
            !inner.is_empty() && !inner.starts_with([' ', '=']) && !inner.ends_with(' ')
        });
        let Some(close) = close else { break };
        out.push_str(&rest[..open]);
        out.push_str(&body[..close]);
        rest = &body[close + 2..];
    }
    out.push_str(rest);
}

/// The line without the `^id` that names a block.
fn without_block_id(line: &str) -> &str {
    match block_id(line) {
        Some(id) => line[..line.len() - id.len() - 1].trim_end(),
        None => line,
    }
}

/// The id at the end of a block: `^` and letters, digits, hyphens, after white space or alone.
pub(super) fn block_id(block: &str) -> Option<&str> {
    let block = block.trim_end();
    let at = block.rfind('^')?;
    let id = &block[at + 1..];
    let named = !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    (named && (at == 0 || block[..at].ends_with(char::is_whitespace))).then_some(id)
}

/// Whether an embed shows a picture, sound or document instead of words.
fn is_media(target: &str) -> bool {
    let Some((_, extension)) = target.rsplit_once('.') else {
        return false;
    };
    let extension = extension.to_ascii_lowercase();
    [
        "avif", "bmp", "gif", "jpeg", "jpg", "png", "svg", "webp", "flac", "m4a", "mp3", "ogg",
        "wav", "mkv", "mov", "mp4", "ogv", "webm", "pdf", "canvas", "base",
    ]
    .contains(&extension.as_str())
}

fn is_break(tag: &str) -> bool {
    tag.get(..3).is_some_and(|t| t.eq_ignore_ascii_case("<br"))
}

/// The text of a piece of HTML: without tags, comments, scripts and styles, and with the common
/// entities decoded.
fn strip_tags(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        out.push_str(&rest[..open]);
        let tag = &rest[open..];
        let close = [
            ("<!--", "-->"),
            ("<script", "</script>"),
            ("<style", "</style>"),
        ]
        .into_iter()
        .find(|(start, _)| {
            tag.get(..start.len())
                .is_some_and(|t| t.eq_ignore_ascii_case(start))
        })
        .map_or(">", |(_, end)| end);
        let Some(end) = tag.find(close) else {
            rest = if close == ">" { tag } else { "" };
            break;
        };
        rest = &tag[end + close.len()..];
        out.push(' ');
    }
    out.push_str(rest);
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    if out.contains('&') {
        out = entities
            .iter()
            .fold(out, |text, (entity, c)| text.replace(entity, c));
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_resolved_to_the_words_a_person_reads() {
        for (text, words) in [
            ("just words", "just words"),
            (
                "**bold** _it_ ~~out~~ `code` ==high==",
                "bold it out code high",
            ),
            (
                "[text](http://u) and [[Note#H|alias]] and [[Note]]",
                "text and alias and Note",
            ),
            ("snake_case 2 * 3 * 4 a == b", "snake_case 2 * 3 * 4 a == b"),
            (
                "see ![[pic.png|300]] and ![[Note]] and ![alt](x.png)",
                "see  and Note and alt",
            ),
            ("fact[^1] stays %%hidden%% out ^block-1", "fact stays  out"),
            ("a &amp; b \\* c <b>d</b><br>e", "a & b * c d e"),
            (
                "# Title\n\n- one\n- two\n\n1. x\n2. y",
                "Title\none\ntwo\n1. x\n2. y",
            ),
            ("| a | b |\n|---|---|\n| 1 | [[x\\|y]] |", "a | b\n1 | y"),
            ("| 1 | 2 |", "1 | 2"),
            ("> [!tip]+ Title\n> body\n> more", "Title body more"),
            ("```sh\n# a == b\n```", "# a == b"),
            ("soft\nbreak", "soft break"),
            (
                "claim. [E3] and [source: a.md | 00]",
                "claim. [E3] and [source: a.md | 00]",
            ),
            ("1986. A year", "1986. A year"),
            ("<p>one <!-- no --> &lt;two&gt;</p>", "one <two>"),
            ("[E3]: nobody sees this", "[E3]: nobody sees this"),
            ("", ""),
        ] {
            assert_eq!(plain(text), words, "{text:?}");
        }
    }
}
