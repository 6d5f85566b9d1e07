//! Limits how deep lists and quotes nest in a text.
//!
//! For every line of a paragraph, the markdown parser checks each open list and quote again. So the
//! cost of a small text can grow with the square of its length. No real note has a hundred nested
//! lists.

use std::borrow::Cow;

/// The character that hides a byte of a comment, or of a mark that nests too deep, from the
/// markdown parser. It is not white space, so that a line which begins with it does not become
/// indented code. It is not a letter, so that it is not read as a word.
pub(super) const MASK: char = '\u{1}';

/// The column after which list and quote marks are text. A tab counts as four columns.
const DEEPEST: usize = 100;

/// The text with every list or quote mark beyond column [`DEEPEST`] replaced by a character without
/// meaning in markdown. The length and the line breaks stay the same; nearly always it is the text
/// itself.
pub fn shallow(text: &str) -> Cow<'_, str> {
    let mut marks = Vec::new();
    let mut at = 0;
    // The characters are searched one after the other, which is much faster than a search for
    // either.
    for line in text
        .split_inclusive('\n')
        .flat_map(|line| line.split_inclusive('\r'))
    {
        if line.len() > DEEPEST / 4 {
            deep_marks(line, at, &mut marks);
        }
        at += line.len();
    }
    if marks.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for mark in marks {
        out.push_str(&text[at..mark]);
        out.push(MASK);
        at = mark + 1;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

/// The bytes of `line`, which begins at `start`, that open a list or quote too deep.
fn deep_marks(line: &str, start: usize, out: &mut Vec<usize>) {
    let bytes = line.as_bytes();
    let mut column = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digits = bytes[at..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        let mark = match byte {
            b' ' | b'\t' => None,
            b'>' | b'-' | b'+' | b'*' => Some(at),
            // A longer number does not open a list. The `.` or `)` is the mark, so the digits stay.
            b'0'..=b'9' if digits < 10 && matches!(bytes.get(at + digits), Some(b'.' | b')')) => {
                Some(at + digits)
            }
            _ => return,
        };
        if let Some(mark) = mark.filter(|_| column > DEEPEST) {
            // Checked at the first such mark only.
            if out.last().is_none_or(|last| *last < start) && is_rule(&line[at..]) {
                return;
            }
            out.push(start + mark);
        }
        column += if byte == b'\t' { 4 } else { 1 };
        at = mark.unwrap_or(at) + 1;
    }
}

/// Whether only `- - -` or `* * *` remains on a line: a rule nests nothing. (If a line could be a
/// list or a rule, the parser chooses the rule, so the rule began where such marks began.)
fn is_rule(rest: &str) -> bool {
    let mark = rest.chars().next().filter(|c| matches!(c, '-' | '*'));
    mark.is_some_and(|mark| rest.chars().all(|c| c == mark || c.is_whitespace()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::{BlockRole, plain, sentences};

    #[test]
    fn any_line_break_begins_a_line() {
        let deep = "> ".repeat(80);
        let flat = |lines_end: &str| {
            shallow(&format!("a{lines_end}{deep}b{lines_end}{deep}c"))
                .matches(MASK)
                .count()
        };
        // Marks beyond column 100, on both lines.
        assert_eq!([flat("\n"), flat("\r"), flat("\r\n")], [58; 3]);
    }

    #[test]
    fn what_people_write_stays_as_it_is() {
        for text in [
            "",
            "- a\n  - b\n    1. c\n",
            "> > > a\n",
            &format!("{}code - 1\n", " ".repeat(300)),
            &format!("{}\n", "- ".repeat(300)),
            "| a | - b |\n",
        ] {
            assert!(matches!(shallow(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn s25_ten_thousand_lists_and_quotes_nest_a_hundred_deep() {
        for unit in ["> ", "- ", ">", "1. ", "+ > 12) ", " - "] {
            let text = format!("{}Alice leads.\nBob follows.\n", unit.repeat(10_000));
            let flat = shallow(&text);
            assert_eq!(flat.len(), text.len());
            let depth = pulldown_cmark::Parser::new(&flat)
                .filter(|e| {
                    use pulldown_cmark::{Event, Tag};
                    matches!(e, Event::Start(Tag::Item | Tag::BlockQuote(_)))
                })
                .count();
            assert!((1..=DEEPEST + 2).contains(&depth), "{unit}: {depth}");
            // No text is lost.
            let said = sentences(&text);
            let words: Vec<&str> = said
                .iter()
                .map(|s| &text[s.span.start()..s.span.end()])
                .collect();
            assert!(
                words.iter().any(|w| w.ends_with("Alice leads."))
                    && words.contains(&"Bob follows."),
                "{unit}"
            );
            assert!(said.iter().all(|s| s.role != BlockRole::Comment));
            assert!(plain(&text).contains("Alice leads."), "{unit}");
        }
    }
}
