//! The text of a chunk as people read it: without the marks of markdown.

use std::ops::Range;

use local_agent_agent::ask::table_cells;
use local_agent_text::documents::DocumentKind;
use local_agent_text::markdown::plain;
use local_agent_text::types::RelPath;

/// A text of several lines, and where they are in the original.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ReadableText {
    /// The lines. A heading keeps its `#`, which tells it from text.
    pub text: String,
    /// For each line of `text`, the lines of the original it was made of: the first, and the one
    /// after the last, from 0.
    lines: Vec<(usize, usize)>,
    /// Where the marks of headings are in `text`.
    heading_marks: Vec<Range<usize>>,
}

impl ReadableText {
    /// The text of a document with this path. Source code and plain text stay as they are.
    pub(super) fn of(path: &RelPath, text: &str) -> Self {
        let mut out = Self::default();
        if DocumentKind::of(path) != DocumentKind::Markdown {
            for (at, line) in text.split('\n').enumerate() {
                out.push(line, (at, at + 1));
            }
            return out;
        }
        let lines: Vec<&str> = text.split('\n').collect();
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let end = at + length_of_block(&lines[at..]);
            match kind_of(line) {
                LineKind::Blank => {}
                LineKind::Fence => {
                    let inside = lines.iter().enumerate().take(end).skip(at + 1);
                    for (at, line) in inside.filter(|(_, line)| !is_fence(line)) {
                        out.push(line, (at, at + 1));
                    }
                }
                LineKind::Row => out.push_row(line, at, lines.get(end).copied()),
                LineKind::Heading => {
                    let marks = line.len() - line.trim_start_matches('#').len();
                    let title = plain(line);
                    // On one line with the text below it, a heading needs an end.
                    let is_open = title.ends_with(char::is_alphanumeric) && end < lines.len();
                    let colon = if is_open { ":" } else { "" };
                    let title = format!("{} {title}{colon}", &line[..marks]);
                    out.push(&title, (at, end));
                    let start = out.text.len() - title.len();
                    out.heading_marks.push(start..start + marks);
                }
                LineKind::Item | LineKind::Text => out.push_paragraph(&lines[at..end], at),
            }
            at = end;
        }
        out
    }

    /// The line of the original that holds the part of `text` at `range`, from 0.
    pub(super) fn line_of(&self, original: &str, range: Range<usize>) -> usize {
        let before = self.text.get(..range.start).unwrap_or_default();
        let (first, end) = self
            .lines
            .get(before.matches('\n').count())
            .copied()
            .unwrap_or_default();
        let part = self.text.get(range).unwrap_or_default();
        let mut inside = original.split('\n').enumerate().take(end).skip(first);
        inside
            .find(|(_, line)| !part.is_empty() && line.contains(part))
            .map_or(first, |(at, _)| at)
    }

    /// The mark of the heading whose line begins here; empty if none does.
    pub(super) fn heading_mark_at(&self, start: usize) -> Range<usize> {
        let mark = self.heading_marks.iter().find(|mark| mark.start == start);
        mark.cloned().unwrap_or(start..start)
    }

    fn push(&mut self, line: &str, lines: (usize, usize)) {
        if !self.lines.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(&line.replace('\n', " "));
        self.lines.push(lines);
    }

    /// Adds a paragraph or list item that begins at line `at`: line by line, or as one line if a mark
    /// goes over the end of a line.
    fn push_paragraph(&mut self, lines: &[&str], at: usize) {
        let whole = words(lines);
        let parts: Vec<String> = lines.iter().map(|line| words(&[*line])).collect();
        if parts.join(" ") == whole {
            for (n, part) in parts.iter().enumerate() {
                self.push(part, (at + n, at + n + 1));
            }
        } else {
            self.push(&whole, (at, at + lines.len()));
        }
    }

    /// Adds the cells of a row; the line below a header is left out.
    fn push_row(&mut self, row: &str, at: usize, next: Option<&str>) {
        let cells: Vec<String> = table_cells(row).iter().map(|cell| plain(cell)).collect();
        let is_rule = |cell: &String| cell.chars().all(|c| matches!(c, '-' | ':' | ' '));
        if cells.iter().all(is_rule) {
            return;
        }
        let mut text = cells.join(" · ");
        if next.is_some_and(|next| kind_of(next) == LineKind::Row) {
            text.push(';');
        }
        self.push(&text, (at, at + 1));
    }
}

/// What a line of markdown is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Blank,
    Fence,
    Row,
    Heading,
    Item,
    Text,
}

fn kind_of(line: &str) -> LineKind {
    let bare = without_quote(line);
    if bare.is_empty() {
        LineKind::Blank
    } else if is_fence(line) {
        LineKind::Fence
    } else if bare.starts_with('|') {
        LineKind::Row
    } else if is_heading(line) {
        LineKind::Heading
    } else if item_mark(bare).is_some() {
        LineKind::Item
    } else {
        LineKind::Text
    }
}

/// Number of lines of the block that begins with the first line: a paragraph, a list item or a
/// block of code has several.
fn length_of_block(lines: &[&str]) -> usize {
    let Some((first, rest)) = lines.split_first() else {
        return 0;
    };
    let more = match kind_of(first) {
        LineKind::Fence => match rest.iter().position(|line| is_fence(line)) {
            Some(at) => at + 1,
            None => rest.len(),
        },
        LineKind::Text | LineKind::Item => rest
            .iter()
            .take_while(|line| kind_of(line) == LineKind::Text && !starts_callout(line))
            .count(),
        LineKind::Blank | LineKind::Row | LineKind::Heading => 0,
    };
    1 + more
}

fn is_heading(line: &str) -> bool {
    let marks = line.len() - line.trim_start_matches('#').len();
    (1..=6).contains(&marks) && line[marks..].starts_with(' ')
}

fn is_fence(line: &str) -> bool {
    let bare = without_quote(line);
    bare.starts_with("```") || bare.starts_with("~~~")
}

fn starts_callout(line: &str) -> bool {
    line.trim_start().starts_with('>') && without_quote(line).starts_with("[!")
}

/// The line without the marks of a quotation before it.
fn without_quote(line: &str) -> &str {
    line.trim_start_matches([' ', '\t', '>']).trim_end()
}

/// The mark of a list item, and the words after it.
fn item_mark(bare: &str) -> Option<(&str, &str)> {
    let (mark, rest) = bare.split_once(' ')?;
    let digits = mark.trim_end_matches(['.', ')']);
    let is_number = digits.len() + 1 == mark.len() && digits.bytes().all(|b| b.is_ascii_digit());
    (matches!(mark, "-" | "*" | "+") || is_number && !digits.is_empty()).then_some((mark, rest))
}

/// The words of a paragraph or list item.
fn words(lines: &[&str]) -> String {
    let bare: Vec<&str> = lines.iter().map(|line| without_quote(line)).collect();
    let first = bare.first().copied().unwrap_or_default();
    let Some((mark, rest)) = item_mark(first) else {
        let text = bare.join("\n");
        // The kind of a callout is no word of it.
        let callout = text
            .strip_prefix("[!")
            .and_then(|rest| rest.split_once(']'));
        return plain(callout.map_or(text.as_str(), |(_, rest)| {
            rest.trim_start_matches(['+', '-'])
        }));
    };
    let (task, rest) = match rest.get(..4) {
        Some("[ ] ") => ("☐ ", &rest[4..]),
        Some("[x] " | "[X] ") => ("☑ ", &rest[4..]),
        _ => ("", rest),
    };
    let mut inside = vec![rest];
    inside.extend(&bare[1..]);
    let mark = if mark.len() == 1 { "-" } else { mark };
    let mark = if task.is_empty() {
        format!("{mark} ")
    } else {
        task.to_owned()
    };
    format!("{mark}{}", plain(&inside.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> ReadableText {
        ReadableText::of(&RelPath::new("a.md").unwrap(), text)
    }

    #[test]
    fn marks_of_markdown_are_no_words() {
        for (text, words) in [
            (
                "# The *big* oven\n\nIt is [[Oven|hot]].",
                "# The big oven:\nIt is hot.",
            ),
            (
                "| Flour | €/kg |\n| --- | ---: |\n| [[Rye\\|rye]] | **1.45** |\n\nend",
                "Flour · €/kg;\nrye · 1.45\nend",
            ),
            ("| --- | ---: |\n| a | b |", "a · b"),
            (
                "> [!tip]+ Warm it\n> before you\n> bake",
                "Warm it\nbefore you\nbake",
            ),
            (
                "- [x] Buy [flour](http://x)\n- [ ] bake\n  it\n1. one",
                "☑ Buy flour\n☐ bake\nit\n1. one",
            ),
            ("```sh\n# a **b**\n```\nafter", "# a **b**\nafter"),
            ("two\nlines of **bold\nwords**", "two lines of bold words"),
            ("1986 was dry - very", "1986 was dry - very"),
        ] {
            assert_eq!(read(text).text, words, "{text:?}");
        }
    }

    #[test]
    fn source_code_and_plain_text_stay_as_they_are() {
        for path in ["a.rs", "a.txt"] {
            let text = "# a | b\n\n| x | y |\nlet a = b * c * d;";
            let read = ReadableText::of(&RelPath::new(path).unwrap(), text);
            assert_eq!(read.text, text);
        }
    }

    #[test]
    fn a_word_is_found_in_the_line_it_came_from() {
        let text = "# T\n\n| a | b |\n| - | - |\n| c | d |\n\none\ntwo *three*\nfour";
        let read = read(text);
        for (word, line) in [("T", 0), ("c", 4), ("one", 6), ("three", 7), ("four", 8)] {
            let at = read.text.rfind(word).unwrap();
            assert_eq!(read.line_of(text, at..at + word.len()), line, "{word}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "([#>|`\\-\\[\\]x!* \n]|[a-zü食]){0,200}") {
            let read = read(&text);
            let lines = text.split('\n').count();
            prop_assert!(read.lines.iter().all(|(first, end)| first < end && *end <= lines));
            prop_assert_eq!(read.lines.len().max(1), read.text.split('\n').count());
        }
    }
}
