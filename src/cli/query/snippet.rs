//! The snippet of a hit: the part of its text with most of the search terms, which are marked.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use local_agent_agent::operations::search::words_of;
use local_agent_index::lexical::Query;
use local_agent_text::language::terms;

/// Maximum length of a snippet, in characters: two lines of a terminal.
const LENGTH: usize = 190;

/// Maximum length of the text before the first marked word, in characters.
const BEFORE: usize = 50;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Snippet {
    /// On one line: each run of white space is one space.
    pub text: String,
    /// Search terms in `text`, as byte ranges.
    pub marks: Vec<Range<usize>>,
    /// The number of line breaks in the original before the first marked word; if no word is
    /// marked, before the snippet.
    pub line: usize,
    /// Whether text was left out before and after it.
    pub cut: (bool, bool),
}

/// The part of `text` with the most different words of `query`; on a tie, the first.
pub(super) fn snippet(text: &str, query: &Query) -> Snippet {
    let found = matches(text, query);
    let window = best_window(text, &found);
    let first = found
        .iter()
        .find(|found| found.range.start >= window.start)
        .map_or(window.start, |found| found.range.start);
    let line = text.get(..first).unwrap_or_default().matches('\n').count();
    let cut = (
        !text[..window.start].trim().is_empty(),
        !text[window.end..].trim().is_empty(),
    );
    let inside = found.iter().map(|found| found.range.clone());
    let inside = inside.filter(|range| range.start >= window.start && range.end <= window.end);
    let (text, marks) = one_line(text, window.clone(), inside.collect());
    Snippet {
        text,
        marks,
        line,
        cut,
    }
}

/// One search term in a text.
#[derive(Debug)]
struct Match {
    range: Range<usize>,
    /// The matched word of the query; words with the same stem count as one.
    term: String,
}

/// Every word of `text` that is a word of the query in any form.
fn matches(text: &str, query: &Query) -> Vec<Match> {
    let wanted: BTreeSet<String> = terms(&words_of(query)).into_iter().collect();
    let mut known: HashMap<&str, Option<String>> = HashMap::new();
    let mut found = Vec::new();
    for range in words(text) {
        let word = &text[range.clone()];
        let term = known
            .entry(word)
            .or_insert_with(|| terms(word).into_iter().find(|term| wanted.contains(term)))
            .clone();
        let Some(term) = term else { continue };
        // In scripts without spaces a run is a whole sentence: only the search term is marked.
        match word.find(term.as_str()).filter(|_| !word.is_ascii()) {
            Some(at) => {
                let start = range.start + at;
                let range = start..start + term.len();
                found.push(Match { range, term });
            }
            None => found.push(Match { range, term }),
        }
    }
    found
}

/// Runs of letters and digits.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let is_word = |c: char| c.is_alphanumeric();
        let (start, first) = chars.by_ref().find(|(_, c)| is_word(*c))?;
        let mut end = start + first.len_utf8();
        while let Some((at, c)) = chars.next_if(|(_, c)| is_word(*c)) {
            end = at + c.len_utf8();
        }
        Some(start..end)
    })
}

fn best_window(text: &str, found: &[Match]) -> Range<usize> {
    let mut best = ((0, false), 0..end_of(text, 0));
    for (at, first) in found.iter().enumerate() {
        let start = start_before(text, first.range.start);
        let end = end_of(text, start);
        let inside = found[at..].iter().take_while(|one| one.range.end <= end);
        let terms: BTreeSet<&str> = inside.map(|one| one.term.as_str()).collect();
        // Headings are shown separately, so text below them is more informative.
        let worth = (terms.len(), !is_heading(text, first.range.start));
        if worth > best.0 {
            best = (worth, start..end);
        }
    }
    best.1
}

/// Whether the line that contains `at` is a heading.
fn is_heading(text: &str, at: usize) -> bool {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    text[line..].starts_with('#')
}

/// The start of the line that contains `at`, or [`BEFORE`] characters before `at` on that line.
fn start_before(text: &str, at: usize) -> usize {
    let before = &text[..at];
    let line = before.rfind('\n').map_or(0, |newline| newline + 1);
    let mut start = at;
    for (byte, _) in text[line..at].char_indices().rev().take(BEFORE) {
        start = line + byte;
    }
    // Words are not cut.
    if start > line
        && let Some(space) = text[start..at].find(' ')
    {
        start += space + 1;
    }
    start
}

/// The end of the snippet that begins at `start`; words are not cut.
fn end_of(text: &str, start: usize) -> usize {
    let rest = &text[start..];
    let Some((end, _)) = rest.char_indices().nth(LENGTH) else {
        return text.len();
    };
    let whole = rest[..end].rfind(char::is_whitespace).unwrap_or(end);
    start + whole
}

/// The window with each run of white space as one space, and the marks adjusted.
fn one_line(
    text: &str,
    window: Range<usize>,
    marks: Vec<Range<usize>>,
) -> (String, Vec<Range<usize>>) {
    let mut out = String::new();
    // The new position of each byte of the window.
    let mut moved = HashMap::new();
    let mut pending_space = false;
    for (at, c) in text[window.clone()].char_indices() {
        if c.is_whitespace() {
            pending_space = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut pending_space) {
            out.push(' ');
        }
        moved.insert(window.start + at, out.len());
        out.push(c);
    }
    let moved = |mark: Range<usize>| {
        let start = *moved.get(&mark.start)?;
        Some(start..start + mark.len())
    };
    (out, marks.into_iter().filter_map(moved).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_stretch_with_most_words_is_one_line_with_its_line_number() {
        let text = format!(
            "oven\n{}\nthe old  Ovens\ncost 23,500 euros\n{}",
            "x ".repeat(200),
            "y ".repeat(200)
        );
        let found = snippet(&text, &Query::plain("oven cost"));
        assert_eq!(found.line, 2);
        assert_eq!(found.cut, (true, true));
        assert!(
            found.text.starts_with("the old Ovens cost 23,500"),
            "{found:?}"
        );
        let marked: Vec<&str> = found.marks.iter().map(|m| &found.text[m.clone()]).collect();
        assert_eq!(marked, ["Ovens", "cost"]);
    }

    #[test]
    fn without_a_word_the_beginning_is_shown() {
        let found = snippet("one two", &Query::plain("three"));
        assert_eq!((found.text.as_str(), found.line), ("one two", 0));
        assert!(found.marks.is_empty() && found.cut == (false, false));
    }

    #[test]
    fn a_part_of_an_unspaced_run_is_marked() {
        let found = snippet("美味しい食パンの作り方", &Query::plain("食パン"));
        assert!(!found.marks.is_empty());
    }

    proptest! {
        #[test]
        fn marks_lie_in_the_text_whatever_it_is(text in "\\PC{0,400}", query in "\\PC{0,30}") {
            let found = snippet(&text, &Query::plain(&query));
            for mark in &found.marks {
                prop_assert!(found.text.get(mark.clone()).is_some());
            }
            prop_assert!(!found.text.contains('\n'));
        }
    }
}
