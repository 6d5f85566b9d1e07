//! The snippet of a hit: the part of its text with most of the search terms, which are marked.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use foldhash::fast::RandomState;

use super::reading::ReadableText;
use local_agent_agent::operations::search::words_of;
use local_agent_index::lexical::Query;
use local_agent_text::language::terms;
use local_agent_text::language::tokenize::with_analyzer;
use local_agent_text::types::RelPath;

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

/// Finds the words of one query in texts. It remembers which words of the texts match, because the
/// texts of one answer share most of their words.
pub(super) struct Highlighter {
    /// The search terms of the query, in ascending order.
    wanted: Vec<String>,
    /// Whether the query has words other than stop words and characters of unspaced scripts.
    has_content_stems: bool,
    /// Word of a text → the index in `wanted` of the search term that it contains.
    known: HashMap<String, Option<usize>, RandomState>,
}

/// One search term in a text.
#[derive(Debug)]
struct Match {
    range: Range<usize>,
    /// The index of the search term; words with the same stem count as one.
    term: usize,
}

impl Highlighter {
    pub(super) fn new(query: &Query) -> Self {
        let words = words_of(query);
        let mut wanted = terms(&words);
        wanted.sort_unstable();
        wanted.dedup();
        let mut has_content_stems = false;
        with_analyzer(|analyzer| {
            analyzer.each_content_stem(&words, &mut |_| has_content_stems = true);
        });
        Self {
            wanted,
            has_content_stems,
            known: HashMap::default(),
        }
    }

    /// The part with the most different words of the query, on a tie the first, of `text` as people
    /// read it. `path` is that of its document.
    pub(super) fn snippet(&mut self, path: &RelPath, text: &str) -> Snippet {
        let read = ReadableText::of(path, text);
        let (mut snippet, first) = self.best_of(&read);
        snippet.line = read.line_of(text, first);
        snippet
    }

    /// The best part of a text, and the place in it of the first mark, otherwise of the part's start.
    fn best_of(&mut self, read: &ReadableText) -> (Snippet, Range<usize>) {
        let text = read.text.as_str();
        let found = self.matches(text);
        let (window, line) = best_part(text, &found);
        let cut = (
            !text[..window.start].trim().is_empty(),
            !text[window.end..].trim().is_empty(),
        );
        let inside = found.into_iter().map(|found| found.range);
        let inside = inside.filter(|range| range.start >= window.start && range.end <= window.end);
        let inside: Vec<Range<usize>> = inside.collect();
        let first = inside.first().cloned();
        let first = first.unwrap_or(window.start..window.start);
        let (text, marks) = one_line(read, window.clone(), inside);
        let snippet = Snippet {
            text,
            marks,
            line,
            cut,
        };
        (snippet, first)
    }

    /// [`Snippet::line`] of the snippet of `text`.
    pub(super) fn line(&mut self, text: &str) -> usize {
        best_part(text, &self.matches(text)).1
    }

    /// Every word of `text` that is a word of the query in any form.
    fn matches(&mut self, text: &str) -> Vec<Match> {
        let mut found = Vec::new();
        for range in words(text) {
            let word = &text[range.clone()];
            let Some(term) = self.term_of(word) else {
                continue;
            };
            // In scripts without spaces a run is a whole sentence: only the search term is marked.
            let wanted = self.wanted[term].as_str();
            let part = word.find(wanted).filter(|_| !word.is_ascii());
            let range = part.map_or(range.clone(), |at| {
                let start = range.start + at;
                start..start + wanted.len()
            });
            found.push(Match { range, term });
        }
        found
    }

    /// The index of the first search term that `word` contains.
    fn term_of(&mut self, word: &str) -> Option<usize> {
        if let Some(known) = self.known.get(word) {
            return *known;
        }
        let term = if word.is_ascii() && self.has_content_stems {
            self.content_term_of(word)
        } else {
            terms(word)
                .iter()
                .find_map(|term| self.wanted.binary_search(term).ok())
        };
        self.known.insert(word.to_owned(), term);
        term
    }

    /// Like [`Self::term_of`], for an ASCII word: its stems are probably known to the analyzer.
    fn content_term_of(&self, word: &str) -> Option<usize> {
        let mut found = None;
        let mut look = |stem: &str| {
            let place = self.wanted.binary_search_by(|term| term.as_str().cmp(stem));
            found = found.or(place.ok());
        };
        with_analyzer(|analyzer| analyzer.each_content_stem(word, &mut look));
        found
    }
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

/// The window of a snippet, and [`Snippet::line`].
fn best_part(text: &str, found: &[Match]) -> (Range<usize>, usize) {
    let window = best_window(text, found);
    let first = found
        .iter()
        .find(|found| found.range.start >= window.start)
        .map_or(window.start, |found| found.range.start);
    let line = text.get(..first).unwrap_or_default().matches('\n').count();
    (window, line)
}

fn best_window(text: &str, found: &[Match]) -> Range<usize> {
    let mut best = ((0, false), 0..end_of(text, 0));
    for (at, first) in found.iter().enumerate() {
        let start = start_before(text, first.range.start);
        let end = end_of(text, start);
        let inside = found[at..].iter().take_while(|one| one.range.end <= end);
        let terms: BTreeSet<usize> = inside.map(|one| one.term).collect();
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

/// The window with each run of white space as one space, without the `#` before headings, and the
/// marks adjusted. `marks` are in order, and none begins with white space.
fn one_line(
    read: &ReadableText,
    window: Range<usize>,
    marks: Vec<Range<usize>>,
) -> (String, Vec<Range<usize>>) {
    let mut out = String::new();
    let mut moved = Vec::with_capacity(marks.len());
    let mut marks = marks.into_iter().peekable();
    let mut pending_space = false;
    let mut hidden = read.heading_mark_at(window.start);
    for (at, c) in read.text[window.clone()].char_indices() {
        let at = window.start + at;
        if c == '\n' {
            hidden = read.heading_mark_at(at + 1);
        } else if hidden.contains(&at) {
            continue;
        }
        if c.is_whitespace() {
            pending_space = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut pending_space) {
            out.push(' ');
        }
        if let Some(mark) = marks.next_if(|mark| mark.start == at) {
            moved.push(out.len()..out.len() + mark.len());
        }
        out.push(c);
    }
    (out, moved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn note() -> RelPath {
        RelPath::new("a.md").unwrap()
    }

    #[test]
    fn the_stretch_with_most_words_is_one_line_with_its_line_number() {
        let text = format!(
            "oven\n{}\nthe old  Ovens\ncost 23,500 euros\n{}",
            "x ".repeat(200),
            "y ".repeat(200)
        );
        let found = Highlighter::new(&Query::plain("oven cost")).snippet(&note(), &text);
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
        let found = Highlighter::new(&Query::plain("three")).snippet(&note(), "one two");
        assert_eq!((found.text.as_str(), found.line), ("one two", 0));
        assert!(found.marks.is_empty() && found.cut == (false, false));
    }

    #[test]
    fn a_part_of_an_unspaced_run_is_marked() {
        let found =
            Highlighter::new(&Query::plain("食パン")).snippet(&note(), "美味しい食パンの作り方");
        assert!(!found.marks.is_empty());
    }

    proptest! {
        #[test]
        fn the_marked_term_is_the_first_of_the_word_that_the_query_has(
            text in "((the|Ovens?|costs?|COST-2|e-mail|Überzüge|食パン屋|don't)[ \n]){0,12}",
            query in "((the|oven|cost|mail|uberzug|食パン)[ ]){0,3}",
        ) {
            let query = Query::plain(&query);
            let mut highlighter = Highlighter::new(&query);
            for range in words(&text) {
                let word = &text[range];
                let all = terms(word);
                let first = all.iter().find(|term| terms(&words_of(&query)).contains(term));
                let found = highlighter.term_of(word).map(|term| &highlighter.wanted[term]);
                prop_assert_eq!(found, first, "{}", word);
            }
        }

        #[test]
        fn marks_lie_in_the_text_whatever_it_is(text in "\\PC{0,400}", query in "\\PC{0,30}") {
            let found = Highlighter::new(&Query::plain(&query)).snippet(&note(), &text);
            for mark in &found.marks {
                prop_assert!(found.text.get(mark.clone()).is_some());
            }
            prop_assert!(!found.text.contains('\n'));
        }
    }
}
