//! Finds Obsidian's `%%comments%%`, and makes a copy of the text in which they have no meaning.
//!
//! Readers do not see comments: a heading, a link or a claim inside one must not count. The copy
//! has the same length and the same line breaks, so every offset in it is an offset into the
//! original.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag};

use super::shallow::{MASK, shallow};

/// The text with its comments masked, and their positions. Code keeps its `%%`; an unclosed `%%` is
/// text. Excessively deep nesting is removed in the copy ([`shallow`]).
pub(super) fn mask(text: &str) -> (Cow<'_, str>, Vec<Range<usize>>) {
    let flat = shallow(text);
    let ranges = find(&flat);
    if ranges.is_empty() {
        return (flat, ranges);
    }
    let text: &str = &flat;
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for range in &ranges {
        masked.push_str(&text[at..range.start]);
        masked.extend(text[range.clone()].bytes().map(|b| {
            if matches!(b, b'\n' | b'\r') {
                b as char
            } else {
                MASK
            }
        }));
        at = range.end;
    }
    masked.push_str(&text[at..]);
    (Cow::Owned(masked), ranges)
}

/// The start of a comment that is never closed, in a text whose closed comments are masked.
pub(super) fn unclosed(masked: &str) -> Option<usize> {
    free_marks(masked).last().copied()
}

/// The byte ranges of all closed comments, markers included, in order.
fn find(text: &str) -> Vec<Range<usize>> {
    let marks = free_marks(text);
    marks
        .chunks_exact(2)
        .map(|pair| pair[0]..pair[1] + 2)
        .collect()
}

/// All `%%` outside code. A `%` after a backslash is text.
fn free_marks(text: &str) -> Vec<usize> {
    // Few texts have any, and searching for one is much faster than listing them.
    if !text.contains("%%") {
        return Vec::new();
    }
    let mut marks = marks(text);
    let mut code = code_ranges(text).into_iter().peekable();
    marks.retain(|at| {
        while code.next_if(|c| c.end <= *at).is_some() {}
        code.peek().is_none_or(|c| *at < c.start)
    });
    marks
}

/// All `%%`, except those with a backslash before one of the two.
fn marks(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut marks = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].find(['%', '\\']) {
        at += next;
        let is_mark = bytes[at..].starts_with(b"%%");
        if is_mark {
            marks.push(at);
        }
        // The byte after a backslash may be a part of a longer character.
        let escapes = bytes[at] == b'\\' && bytes.get(at + 1).is_some_and(u8::is_ascii);
        at += if is_mark || escapes { 2 } else { 1 };
    }
    marks
}

/// Code spans and code blocks, in order.
fn code_ranges(text: &str) -> Vec<Range<usize>> {
    Parser::new_ext(text, super::dialect())
        .into_offset_iter()
        .filter(|(event, _)| matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_))))
        .map(|(_, range)| range)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn comments_are_found_outside_code_only() {
        let text = "a %%b%% `%%` c %%d\n\n# e%% f %% g";
        let found: Vec<_> = find(text).into_iter().map(|r| &text[r]).collect();
        assert_eq!(found, ["%%b%%", "%%d\n\n# e%%"]);
        assert!(find("```\n%% a %%\n```").is_empty());
    }

    #[test]
    fn a_percent_sign_after_a_backslash_begins_no_comment() {
        for text in [r"a \%% b \%% c", r"a %\% b %\% c", r"\%\%\% %%", r"\ü %\%"] {
            assert!(find(text).is_empty(), "{text}");
        }
        assert_eq!(find(r"a \\%%b%% c").first(), Some(&(4..9)));
        assert_eq!(find(r"a \%%%b%% c").first(), Some(&(4..9)));
    }

    proptest! {
        #[test]
        fn the_masked_copy_keeps_every_offset(text in "[a%`\n\r ü#]{0,40}") {
            let (masked, ranges) = mask(&text);
            prop_assert_eq!(masked.len(), text.len());
            let breaks = |t: &str| t.match_indices(['\n', '\r']).map(|(i, _)| i).collect::<Vec<_>>();
            prop_assert_eq!(breaks(&masked), breaks(&text));
            for r in ranges {
                prop_assert!(text.get(r).is_some());
            }
        }
    }
}
