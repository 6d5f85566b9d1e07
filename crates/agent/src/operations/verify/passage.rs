//! A cited passage: how it is stored, and how it is found in the current file.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::surroundings::{InFile, Outline, table_head};
use local_agent_files::sandbox::{Address, Sandbox};
use local_agent_text::evidence::{EvidenceItem, Excerpt};
use local_agent_text::language::tokenize;
use local_agent_text::types::{
    ByteSpan, ChunkKey, HeadingPath, LineSpan, RelPath, Sha256, SourceName,
};

/// What happened to the passage that a claim cites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It has the same place and the same text.
    Unchanged,
    /// The same text is on other lines.
    Moved,
    /// It was edited.
    Edited,
    /// The claim was not known before.
    New,
}

/// A cited passage in its earlier state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CitedPassage {
    /// `source:path`.
    address: String,
    /// `12` or `12-18`.
    lines: String,
    sha256: Sha256,
    /// The first digits of the SHA-256 of each line, used to find it again.
    line_hashes: Vec<String>,
    /// The same of the stem of each word, used to find an edited line again.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    word_hashes: BTreeSet<String>,
}

/// The file of an item.
pub(super) fn address(item: &EvidenceItem) -> Address {
    Address {
        source: item.source.clone(),
        path: item.path.clone(),
    }
}

/// A passage in the current file.
pub(super) struct FoundPassage {
    pub change: Change,
    /// The passage now; `None`: it was not found.
    pub now: Option<InFile>,
}

impl CitedPassage {
    pub(super) fn of(item: &EvidenceItem) -> Self {
        Self::new(&address(item), item.lines, &item.text)
    }

    fn new(at: &Address, lines: LineSpan, text: &str) -> Self {
        Self {
            address: at.to_string(),
            lines: lines.to_string(),
            sha256: Sha256::of(text.as_bytes()),
            line_hashes: text.split_inclusive('\n').map(line_hash).collect(),
            word_hashes: word_hashes(text).take(MOST_WORDS).collect(),
        }
    }

    /// These lines of an earlier text; `None` if it had fewer.
    pub(super) fn in_text(at: &Address, lines: LineSpan, text: &str) -> Option<Self> {
        let first = lines.first() as usize - 1;
        let count = (lines.last() - lines.first()) as usize + 1;
        let held: Vec<&str> = text.split_inclusive('\n').skip(first).take(count).collect();
        (held.len() == count).then(|| Self::new(at, lines, &held.concat()))
    }

    fn first_line(&self) -> Option<usize> {
        let first = self.lines.split('-').next()?;
        first.parse::<usize>().ok()?.checked_sub(1)
    }

    /// Searches for the passage: at its old place, as the same lines elsewhere, by its remaining lines,
    /// or by its words. `words` are stems of it, in case it does not know its own.
    pub(super) fn find(&self, sandbox: &Sandbox, words: &BTreeSet<String>) -> FoundPassage {
        let nothing = FoundPassage {
            change: Change::Edited,
            now: None,
        };
        let Some(at) = parse_address(&self.address) else {
            return nothing;
        };
        let Some(text) = sandbox
            .read(&at)
            .ok()
            .and_then(|file| String::from_utf8(file.bytes).ok())
        else {
            return nothing;
        };
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let hashes: Vec<String> = lines.iter().map(|line| line_hash(line)).collect();
        let count = self.line_hashes.len();
        let is_at = |start: usize| hashes.get(start..start + count) == Some(&self.line_hashes[..]);
        let was = self.first_line().unwrap_or(0);
        if is_at(was) {
            return FoundPassage {
                change: Change::Unchanged,
                now: excerpt(&at, &lines, was, count),
            };
        }
        let starts = 0..=hashes.len().saturating_sub(count);
        if let Some(start) = starts.clone().find(|start| is_at(*start)) {
            return FoundPassage {
                change: Change::Moved,
                now: excerpt(&at, &lines, start, count),
            };
        }
        let words = match self.word_hashes.is_empty() {
            true => words
                .iter()
                .map(|stem| short_hash(stem, WORD_DIGITS))
                .collect(),
            false => self.word_hashes.clone(),
        };
        let best = best_window(&lines, &self.line_hashes, was)
            .or_else(|| window_with(&lines, &words, count, was));
        FoundPassage {
            change: Change::Edited,
            now: best.and_then(|best| excerpt(&at, &lines, best, count)),
        }
    }
}

/// The stems of the content words and numbers of a text.
pub(super) fn content_stems(text: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    tokenize::with_analyzer(|analyzer| {
        analyzer.each_content_stem(text, &mut |stem| {
            out.insert(stem.to_owned());
        });
    });
    out
}

/// Maximum number of words of a passage that are kept.
const MOST_WORDS: usize = 256;

/// Digits that are kept of the hash of a line, and of a word.
const LINE_DIGITS: usize = 12;
const WORD_DIGITS: usize = 6;

fn word_hashes(text: &str) -> impl Iterator<Item = String> {
    let stems = content_stems(text).into_iter();
    stems.map(|stem| short_hash(&stem, WORD_DIGITS))
}

/// The first digits of the SHA-256 of a text.
fn short_hash(text: &str, digits: usize) -> String {
    let hash = Sha256::of(text.as_bytes()).to_string();
    hash.chars().take(digits).collect()
}

/// These lines of a text as an excerpt; `None` if it has none of them.
pub(super) fn lines_of(at: &Address, lines: LineSpan, text: &str) -> Option<InFile> {
    let first = lines.first() as usize - 1;
    let count = (lines.last() - lines.first()) as usize + 1;
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    excerpt(at, &all, first, count)
}

/// The start of the window with the most lines of the passage; on a tie, the one nearest to the old
/// place. `None` if no line with a word is left.
fn best_window(lines: &[&str], passage: &[String], was: usize) -> Option<usize> {
    let known: HashSet<&String> = passage.iter().collect();
    let mut kept = vec![0];
    for line in lines {
        let before = kept.last().copied().unwrap_or(0);
        let says = line.contains(char::is_alphanumeric);
        kept.push(before + usize::from(says && known.contains(&line_hash(line))));
    }
    let at = |line: usize| kept.get(line.min(lines.len())).copied().unwrap_or(0);
    let in_window = |start: usize| at(start + passage.len()) - at(start);
    (0..=lines.len().saturating_sub(passage.len()))
        .map(|start| (in_window(start), Reverse(start.abs_diff(was)), start))
        .max()
        .filter(|(kept, ..)| *kept > 0)
        .map(|(.., start)| start)
}

/// The start of the window of so many lines that has most of these words; on a tie, the one nearest to
/// the old place. `None` if each has less than half of them: the passage is gone.
fn window_with(
    lines: &[&str],
    words: &BTreeSet<String>,
    count: usize,
    was: usize,
) -> Option<usize> {
    let of_lines = lines.iter().map(|line| {
        let own: BTreeSet<String> = word_hashes(line).collect();
        own.intersection(words).cloned().collect::<Vec<String>>()
    });
    let of_lines: Vec<Vec<String>> = of_lines.collect();
    let mut held: HashMap<&String, usize> = HashMap::new();
    let mut best: Option<(usize, Reverse<usize>, usize)> = None;
    for (last, own) in of_lines.iter().enumerate() {
        for word in own {
            *held.entry(word).or_default() += 1;
        }
        let gone = last
            .checked_sub(count)
            .and_then(|first| of_lines.get(first));
        for word in gone.into_iter().flatten() {
            if let Some(times) = held.get_mut(word) {
                *times -= 1;
            }
        }
        let start = (last + 1).saturating_sub(count);
        let found = held.values().filter(|times| **times > 0).count();
        best = best.max(Some((found, Reverse(start.abs_diff(was)), start)));
    }
    let (_, _, start) = best.filter(|(found, ..)| *found > 0 && found * 2 >= words.len())?;
    Some(start)
}

/// The first digits of the SHA-256 of a line without trailing white space.
fn line_hash(line: &str) -> String {
    short_hash(line.trim_end(), LINE_DIGITS)
}

fn parse_address(text: &str) -> Option<Address> {
    let (source, path) = text.split_once(':')?;
    Some(Address {
        source: SourceName::new(source).ok()?,
        path: RelPath::new(path).ok()?,
    })
}

/// `count` lines from line `start`, counted from 0, or as many as exist.
fn excerpt(at: &Address, lines: &[&str], start: usize, count: usize) -> Option<InFile> {
    let end = (start + count).min(lines.len());
    let held = lines.get(start..end).filter(|held| !held.is_empty())?;
    let text = held.concat();
    let before: usize = lines.get(..start)?.iter().map(|line| line.len()).sum();
    let whole = lines.concat();
    let heading = Outline::of(&at.path, &whole).above(before);
    let nth = u32::try_from(start).ok()?;
    let sha = Sha256::of(text.as_bytes());
    let root = HeadingPath::default();
    let excerpt = Excerpt {
        chunk_key: ChunkKey::derive(&at.source, &at.path, &root, &sha, nth),
        merged: Vec::new(),
        source: at.source.clone(),
        path: at.path.clone(),
        path_is_shared: false,
        heading,
        span: ByteSpan::new(before, before + text.len())?,
        lines: LineSpan::new(nth.checked_add(1)?, u32::try_from(end).ok()?)?,
        text,
    };
    Some(InFile {
        excerpt,
        table_head: table_head(&whole, before),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<&str> {
        text.split_inclusive('\n').collect()
    }

    fn hashes(text: &str) -> Vec<String> {
        text.split_inclusive('\n').map(line_hash).collect()
    }

    #[test]
    fn an_edited_passage_is_found_by_the_lines_that_are_left() {
        let file = lines("x\na\nB\nc\ny\nz\n");
        assert_eq!(best_window(&file, &hashes("a\nb\nc\n"), 4), Some(1));
        assert_eq!(best_window(&file, &hashes("q\nr\n"), 3), None);
        assert_eq!(best_window(&[], &hashes("q\n"), 0), None);
        // A blank line is no line of its own.
        assert_eq!(best_window(&lines("a\n\nb\n"), &hashes("q\n\n"), 0), None);
    }

    #[test]
    fn a_line_that_moved_and_was_edited_is_found_by_its_words() {
        let file = lines(
            "# Plans\n\nPrices are net.\n\n| Plan | Price | Help |\n| --- | --- | --- |\n| Free | 0 € | Forum |\n\
             | Basic | 18 € | Mail |\n\nThe Basic plan has no audit logs.\n",
        );
        let found = |passage: &str, was| {
            let words: BTreeSet<String> = word_hashes(passage).collect();
            window_with(&file, &words, passage.lines().count(), was)
        };
        assert_eq!(found("| Basic | 18 € | E-mail |\n", 3), Some(7));
        assert_eq!(
            found("| Free | 0 € | Phone |\n| Basic | 20 € | Phone |\n", 1),
            Some(6)
        );
        // Less than half of it is left: it is nowhere.
        assert_eq!(found("The tank holds forty litres of diesel.\n", 3), None);
        assert_eq!(found("The Basic tank holds forty litres.\n", 3), None);
    }
}
