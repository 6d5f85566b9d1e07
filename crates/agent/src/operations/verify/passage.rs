//! A cited passage: how it is stored, and how it is found in the current file.

use std::cmp::Reverse;
use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use local_agent_files::sandbox::{Address, Sandbox};
use local_agent_text::evidence::{EvidenceItem, Excerpt};
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
    /// The passage now; `None`: no line of it was found.
    pub excerpt: Option<Excerpt>,
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

    /// Searches for the passage: at its old place, as the same lines elsewhere, or by its remaining
    /// lines.
    pub(super) fn find(&self, sandbox: &Sandbox) -> FoundPassage {
        let nothing = FoundPassage {
            change: Change::Edited,
            excerpt: None,
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
                excerpt: excerpt(&at, &lines, was, count),
            };
        }
        let starts = 0..=hashes.len().saturating_sub(count);
        if let Some(start) = starts.clone().find(|start| is_at(*start)) {
            return FoundPassage {
                change: Change::Moved,
                excerpt: excerpt(&at, &lines, start, count),
            };
        }
        let best = best_window(&hashes, &self.line_hashes, was);
        FoundPassage {
            change: Change::Edited,
            excerpt: excerpt(&at, &lines, best, count),
        }
    }
}

/// These lines of a text as an excerpt; `None` if it has none of them.
pub(super) fn lines_of(at: &Address, lines: LineSpan, text: &str) -> Option<Excerpt> {
    let first = lines.first() as usize - 1;
    let count = (lines.last() - lines.first()) as usize + 1;
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    excerpt(at, &all, first, count)
}

/// The start of the window with the most lines of the passage; on a tie, the one nearest to the old
/// place; `was` if no line remains.
fn best_window(hashes: &[String], passage: &[String], was: usize) -> usize {
    let known: HashSet<&String> = passage.iter().collect();
    let mut kept = vec![0];
    for hash in hashes {
        let before = kept.last().copied().unwrap_or(0);
        kept.push(before + usize::from(known.contains(hash)));
    }
    let at = |line: usize| kept.get(line.min(hashes.len())).copied().unwrap_or(0);
    let in_window = |start: usize| at(start + passage.len()) - at(start);
    (0..=hashes.len().saturating_sub(passage.len()))
        .map(|start| (in_window(start), Reverse(start.abs_diff(was)), start))
        .max()
        .filter(|(kept, ..)| *kept > 0)
        .map_or(was, |(.., start)| start)
}

/// The first digits of the SHA-256 of a line without trailing white space.
fn line_hash(line: &str) -> String {
    let hash = Sha256::of(line.trim_end().as_bytes()).to_string();
    hash.chars().take(12).collect()
}

fn parse_address(text: &str) -> Option<Address> {
    let (source, path) = text.split_once(':')?;
    Some(Address {
        source: SourceName::new(source).ok()?,
        path: RelPath::new(path).ok()?,
    })
}

/// `count` lines from line `start`, counted from 0, or as many as exist.
fn excerpt(at: &Address, lines: &[&str], start: usize, count: usize) -> Option<Excerpt> {
    let end = (start + count).min(lines.len());
    let held = lines.get(start..end).filter(|held| !held.is_empty())?;
    let text = held.concat();
    let before: usize = lines.get(..start)?.iter().map(|line| line.len()).sum();
    let heading = HeadingPath::default();
    let nth = u32::try_from(start).ok()?;
    let sha = Sha256::of(text.as_bytes());
    Some(Excerpt {
        chunk_key: ChunkKey::derive(&at.source, &at.path, &heading, &sha, nth),
        merged: Vec::new(),
        source: at.source.clone(),
        path: at.path.clone(),
        path_is_shared: false,
        heading,
        span: ByteSpan::new(before, before + text.len())?,
        lines: LineSpan::new(nth.checked_add(1)?, u32::try_from(end).ok()?)?,
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(text: &str) -> Vec<String> {
        text.split_inclusive('\n').map(line_hash).collect()
    }

    #[test]
    fn an_edited_passage_is_found_by_the_lines_that_are_left() {
        let file = hashes("x\na\nB\nc\ny\nz\n");
        assert_eq!(best_window(&file, &hashes("a\nb\nc\n"), 4), 1);
        // No line remains: the old place.
        assert_eq!(best_window(&file, &hashes("q\nr\n"), 3), 3);
        assert_eq!(best_window(&[], &hashes("q\n"), 0), 0);
    }
}
