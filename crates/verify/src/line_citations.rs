//! Citations as other tools write them: `[notes/a.md:12-18]`, `[text](notes/a.md#L12-L18)`. Lines
//! count from 1, and the last one is included.

use std::ops::Range;

/// One such citation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineCitation {
    /// Its bytes in the answer.
    pub span: Range<usize>,
    /// The path as written, percent escapes undone.
    pub path: String,
    /// The first line, from 1.
    pub first: u32,
    /// The last line.
    pub last: u32,
    /// The words of a link that belong to the sentence: neither the path itself nor a mere number.
    pub words: Option<Range<usize>>,
}

/// Longest citation that is looked for, in bytes.
const LONGEST: usize = 1024;

/// Finds them all, in order.
pub fn line_citations(text: &str) -> Vec<LineCitation> {
    let mut out: Vec<LineCitation> = Vec::new();
    let mut at = 0;
    while let Some(open) = text.get(at..).and_then(|r| r.find('[')).map(|i| at + i) {
        at = open + 1;
        let Some(inner) = inside(text, open + 1, ']') else {
            continue;
        };
        let close = inner.end;
        let link = text
            .get(close + 1..)
            .is_some_and(|r| r.starts_with('('))
            .then(|| inside(text, close + 2, ')'))
            .flatten();
        let found = match link {
            Some(target) => text.get(target.clone()).and_then(place).map(|place| {
                let words = Some(inner.clone())
                    .filter(|w| belongs(text.get(w.clone()).unwrap_or(""), &place.0));
                (open..target.end + 1, place, words)
            }),
            None => text
                .get(inner)
                .and_then(place)
                .map(|place| (open..close + 1, place, None)),
        };
        if let Some((span, (path, first, last), words)) = found {
            at = span.end;
            out.push(LineCitation {
                span,
                path,
                first,
                last,
                words,
            });
        }
    }
    out
}

/// The bytes up to `close` on the same line.
fn inside(text: &str, from: usize, close: char) -> Option<Range<usize>> {
    let rest = text.get(from..)?;
    let end = rest
        .char_indices()
        .take(LONGEST)
        .take_while(|(_, c)| *c != '\n')
        .find(|(_, c)| *c == close || *c == '[')?;
    (end.1 == close).then_some(from..from + end.0)
}

/// Whether the words of a link are part of what is said.
fn belongs(words: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let plain = words.trim().trim_matches('`');
    let label = plain.chars().all(|c| c.is_ascii_digit())
        || matches!(
            plain.to_lowercase().as_str(),
            "source" | "src" | "ref" | "link" | "note"
        );
    !(label
        || plain == path
        || plain == name
        || plain.starts_with(name)
        || name.strip_suffix(".md") == Some(plain))
}

/// `a.md:12-18`, `a.md:12`, `a.md#L12-L18`, `a.md#L12`.
fn place(raw: &str) -> Option<(String, u32, u32)> {
    let raw = raw.trim();
    let (path, lines) = match raw.rsplit_once("#L") {
        Some((path, lines)) => (path, lines),
        None => raw.rsplit_once(':')?,
    };
    let mut numbers = lines
        .split(['-', '–'])
        .map(|n| n.trim().trim_start_matches('L'));
    let number = |n: &str| n.parse::<u32>().ok().filter(|n| *n > 0);
    let first = number(numbers.next()?)?;
    let last = numbers.next().map_or(Some(first), number)?;
    let named = path.contains('.') || path.contains('/');
    let sane = !path.is_empty()
        && path.trim() == path
        && !path.contains("://")
        && numbers.next().is_none()
        && last >= first;
    (named && sane).then(|| (unescaped(path), first, last))
}

/// Percent escapes undone, where they are UTF-8.
fn unescaped(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let raw = path.as_bytes();
    let mut at = 0;
    while let Some(b) = raw.get(at) {
        let hex = raw
            .get(at + 1..at + 3)
            .filter(|_| *b == b'%')
            .and_then(|h| std::str::from_utf8(h).ok());
        match hex.and_then(|h| u8::from_str_radix(h, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                at += 3;
            }
            None => {
                bytes.push(*b);
                at += 1;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<(String, u32, u32)> {
        line_citations(text)
            .into_iter()
            .map(|c| (c.path, c.first, c.last))
            .collect()
    }

    #[test]
    fn lines_are_read_in_every_spelling() {
        let one = |path: &str, first, last| vec![(path.to_owned(), first, last)];
        assert_eq!(
            found("It is so [notes/a.md:12-18]."),
            one("notes/a.md", 12, 18)
        );
        assert_eq!(found("It is so [a.md:7]"), one("a.md", 7, 7));
        assert_eq!(
            found("[the plan](my%20notes/a.md#L3-L4) says"),
            one("my notes/a.md", 3, 4)
        );
        assert_eq!(found("([1](a.md#L3))"), one("a.md", 3, 3));
        assert_eq!(found("[x](a.md:3-5)"), one("a.md", 3, 5));
        assert_eq!(
            found("[E1] [12:30] [a.md:0] [a.md:9-3] [link](a.md) [u](http://a.b:80) [b:3]"),
            []
        );
    }

    #[test]
    fn words_of_a_link_stay_words() {
        let words = |text: &str| {
            line_citations(text)[0]
                .words
                .clone()
                .map(|r| text[r].to_owned())
        };
        assert_eq!(
            words("[The budget](a.md#L3) is 5."),
            Some("The budget".to_owned())
        );
        for label in [
            "[1](x/a.md#L3)",
            "[a.md](x/a.md#L3)",
            "[a](x/a.md#L3)",
            "[a.md:3](x/a.md#L3)",
            "[source](x/a.md#L3)",
        ] {
            assert_eq!(words(label), None, "{label}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in any::<String>(), md in "[\\[\\]()a./:#L0-9% -]{0,60}") {
            for t in [&text, &md] {
                for c in line_citations(t) {
                    prop_assert!(t.get(c.span).is_some() && c.first <= c.last && c.first > 0);
                }
            }
        }
    }
}
