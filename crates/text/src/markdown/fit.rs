//! Cuts blocks into units that fit the budget: whole if possible, otherwise at the next smaller
//! structure.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use super::outline::{Outline, Shape};
use super::plain::block_id;
use super::sentences::sentences;
use super::types::{BlockKinds, CountTokens};

/// A part of the text that is never cut again.
#[derive(Debug, Clone)]
pub(super) struct FittedBlock {
    /// The range extends to the start of the next unit, so that the byte counts add up.
    pub range: Range<usize>,
    pub tokens: usize,
    pub kinds: BlockKinds,
    /// Whether it must be the last one in its chunk.
    pub sealed: bool,
    /// Whether it introduces the next unit, because it ends with a colon.
    pub leads: bool,
}

/// Cuts blocks to size.
pub(super) struct Fitter<'a> {
    pub text: &'a str,
    pub outline: &'a Outline,
    pub budget: usize,
    pub count: CountTokens<'a>,
}

impl Fitter<'_> {
    /// The units of `range`, which contains the top blocks `nodes` and, between them, text that the
    /// parser skipped.
    pub(super) fn units(&self, range: Range<usize>, nodes: &[usize]) -> Vec<FittedBlock> {
        let mut parts = self.tiles(range, nodes.iter().copied());
        // An id on a separate line names the block before it.
        parts.dedup_by(|id, block| {
            let is_id = self.is_block_id(&id.0);
            block.0.end = if is_id { id.0.end } else { block.0.end };
            is_id
        });
        let mut out = Vec::with_capacity(parts.len());
        for (part, node) in parts {
            self.fit(part, node, &mut out);
        }
        out
    }

    fn is_block_id(&self, range: &Range<usize>) -> bool {
        let text = self.text[range.clone()].trim();
        text.starts_with('^') && block_id(text).is_some_and(|id| id.len() + 1 == text.len())
    }

    /// Cuts `range` at the starts of `nodes`. Text outside every block is a separate part, unless
    /// it consists only of marks, which belong to the next block.
    fn tiles(
        &self,
        range: Range<usize>,
        nodes: impl Iterator<Item = usize>,
    ) -> Vec<(Range<usize>, Option<usize>)> {
        let mut cuts: Vec<(usize, Option<usize>)> = Vec::new();
        let mut at = range.start;
        for node in nodes {
            let found = &self.outline.nodes[node].range;
            let start = self.line_start(found.start).clamp(at, range.end);
            if let Some(text) = self.passed_over(at..start) {
                cuts.push((if cuts.is_empty() { range.start } else { text }, None));
            }
            cuts.push((
                if cuts.is_empty() { range.start } else { start },
                Some(node),
            ));
            at = found.end.clamp(start, range.end);
        }
        if let Some(text) = self.passed_over(at..range.end) {
            cuts.push((if cuts.is_empty() { range.start } else { text }, None));
        }
        let ends: Vec<usize> = cuts
            .iter()
            .skip(1)
            .map(|c| c.0)
            .chain([range.end])
            .collect();
        cuts.into_iter()
            .zip(ends)
            .map(|((start, node), end)| (start..end, node))
            .collect()
    }

    /// The start of text that no block contains.
    fn passed_over(&self, range: Range<usize>) -> Option<usize> {
        let text = &self.text[range.clone()];
        let is_mark = |c: char| c.is_whitespace() || ">-+*[]|:".contains(c);
        let found = text.find(|c| !is_mark(c))?;
        let rest = text[found..].trim_start_matches(|c: char| c.is_ascii_digit());
        let only_number = rest
            .strip_prefix(['.', ')'])
            .is_some_and(|rest| rest.trim_matches(is_mark).is_empty());
        let only_task = matches!(text[found..].trim_end(), "x]" | "X]");
        let line = text[..found].rfind('\n').map_or(0, |i| i + 1);
        (!only_number && !only_task).then_some(range.start + line)
    }

    /// The start of the line, when only blanks and quote marks are between it and `at`.
    fn line_start(&self, at: usize) -> usize {
        let before = self.text[..at].trim_end_matches([' ', '\t', '>']);
        if before.is_empty() || before.ends_with('\n') {
            before.len()
        } else {
            at
        }
    }

    fn fit(&self, range: Range<usize>, node: Option<usize>, out: &mut Vec<FittedBlock>) {
        let found = node.and_then(|n| self.outline.nodes.get(n));
        let kinds = found.map_or(BlockKinds::PARAGRAPH, |n| n.kinds);
        if self.push_if_fits(range.clone(), kinds, out) {
            return;
        }
        let shape = found.map_or(Shape::Text, |n| n.shape);
        if let Some(node) = node {
            let parts = self.tiles(range.clone(), self.outline.children(Some(node)));
            let own = found.map_or(kinds, |n| n.own);
            if parts.len() > 1 || parts.first().is_some_and(|p| p.1.is_some()) {
                for (part, child) in parts {
                    let first = out.len();
                    self.fit(part, child, out);
                    out[first..].iter_mut().for_each(|unit| unit.kinds |= own);
                }
                return;
            }
        }
        match shape {
            Shape::Text => self.by_sentences(range, kinds, out),
            Shape::Lines | Shape::Fence => self.by_lines(range, kinds, out),
        }
        if let Some(last) = out.last_mut() {
            last.sealed |= shape == Shape::Fence;
        }
    }

    fn push_if_fits(
        &self,
        range: Range<usize>,
        kinds: BlockKinds,
        out: &mut Vec<FittedBlock>,
    ) -> bool {
        // Each word is at least one token: text with more words than the budget can be cut without
        // counting its tokens.
        let text = &self.text[range.clone()];
        if text.len() / 2 >= self.budget && text.split_whitespace().nth(self.budget).is_some() {
            return false;
        }
        if self.is_surely_too_long(text) {
            return false;
        }
        let tokens = (self.count)(text);
        let fits = tokens <= self.budget;
        if fits {
            out.push(FittedBlock {
                leads: text.trim_end().ends_with([':', '：']),
                range,
                tokens,
                kinds,
                sealed: false,
            });
        }
        fits
    }

    /// Whether a small part of a long text already exceeds the budget. Counting words is not
    /// enough, because ideographs are written without blanks. A line of megabytes would be
    /// tokenized as a whole, which takes a hundred times its memory. A text that is cut between two
    /// ideographs has no fewer tokens than its first part, except for a few at the cut.
    fn is_surely_too_long(&self, text: &str) -> bool {
        let from = self.budget.saturating_mul(PART_BYTES);
        if text.len() < from.saturating_mul(4) {
            return false;
        }
        let start = (from..text.len())
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(text.len());
        let rest = &text[start..];
        let window = rest
            .char_indices()
            .zip(rest.chars().skip(1))
            .take(PART_LOOK);
        let cut = window
            .clone()
            .find(|((_, this), next)| is_ideograph(*this) && is_ideograph(*next));
        cut.is_some_and(|((at, this), _)| {
            (self.count)(&text[..start + at + this.len_utf8()])
                > self.budget.saturating_add(PART_SLACK)
        })
    }

    fn by_lines(&self, range: Range<usize>, kinds: BlockKinds, out: &mut Vec<FittedBlock>) {
        let mut at = range.start;
        for line in self.text[range].split_inclusive('\n') {
            let this = at..at + line.len();
            at = this.end;
            if !self.push_if_fits(this.clone(), kinds, out) {
                self.by_words(this, kinds, out);
            }
        }
    }

    fn by_sentences(&self, range: Range<usize>, kinds: BlockKinds, out: &mut Vec<FittedBlock>) {
        let base = range.start;
        let starts: Vec<usize> = sentences(&self.text[range.clone()])
            .iter()
            .skip(1)
            .map(|s| self.line_start(base + s.span.start()).max(base))
            .collect();
        let mut at = range.start;
        for end in starts
            .into_iter()
            .chain([range.end])
            .filter(|end| *end > base)
        {
            let this = at..end.max(at);
            at = this.end;
            if !this.is_empty() && !self.push_if_fits(this.clone(), kinds, out) {
                self.by_words(this, kinds, out);
            }
        }
    }

    /// Cuts at white space, and if a single word is too large, between user-perceived characters.
    fn by_words(&self, range: Range<usize>, kinds: BlockKinds, out: &mut Vec<FittedBlock>) {
        let mut at = range.start;
        let mut guess = self.budget.saturating_mul(4).max(1);
        while at < range.end {
            let rest = &self.text[at..range.end];
            let len = prefix(rest, guess);
            if self.push_if_fits(at..at + len, kinds, out) {
                at += len;
                guess = (guess * 5 / 4 + 1).min(self.budget.saturating_mul(8).max(1));
            } else if len > smallest(rest) {
                guess = (guess.min(len) / 2).max(1);
            } else {
                out.push(FittedBlock {
                    range: at..at + len,
                    tokens: (self.count)(&rest[..len]),
                    kinds,
                    sealed: false,
                    leads: false,
                });
                at += len;
            }
        }
    }
}

/// Bytes per token of the budget in the counted part of a long text. Most ideographs take three
/// bytes.
const PART_BYTES: usize = 16;

/// Number of characters after the part in which a place to cut is searched.
const PART_LOOK: usize = 1_000;

/// Number of tokens that a cut may add, because a word cut in two can become many pieces.
const PART_SLACK: usize = 200;

/// Characters that BERT tokenizers treat as separate words.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2ebef}')
}

/// A prefix of about `bytes` bytes that ends after white space, otherwise between characters; never
/// empty.
fn prefix(text: &str, bytes: usize) -> usize {
    if bytes >= text.len() {
        return text.len();
    }
    let end = (0..=bytes)
        .rev()
        .find(|i| text.is_char_boundary(*i))
        .unwrap_or(0);
    let head = &text[..end];
    if let Some(space) = head.char_indices().rfind(|(_, c)| c.is_whitespace()) {
        return space.0 + space.1.len_utf8();
    }
    // The text after the head may extend its last character, so the cut is before it.
    match head.grapheme_indices(true).next_back() {
        Some((start, _)) if start > 0 => start,
        _ => smallest(text),
    }
}

/// The first user-perceived character.
fn smallest(text: &str) -> usize {
    text.graphemes(true).next().map_or(0, str::len)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_long_line_of_ideographs_is_cut_as_ever_and_never_counted_whole() {
        let text = "山川水火土木金日月年".repeat(6_000);
        let longest = AtomicUsize::new(0);
        let count = |part: &str| {
            longest.fetch_max(part.len(), Ordering::Relaxed);
            part.chars().filter(|c| is_ideograph(*c)).count()
        };
        let outline = Outline::of(&text);
        let fitter = Fitter {
            text: &text,
            outline: &outline,
            budget: 185,
            count: &count,
        };
        let units = fitter.units(0..text.len(), &outline.children(None).collect::<Vec<_>>());
        assert!(units.iter().all(|unit| (1..=185).contains(&unit.tokens)));
        assert_eq!(
            units.iter().map(|unit| unit.range.len()).sum::<usize>(),
            text.len()
        );
        assert!(longest.into_inner() < 10_000);
    }

    #[test]
    fn a_word_that_is_one_token_however_long_is_no_long_text() {
        let text = "x".repeat(1 << 20);
        let outline = Outline::of(&text);
        let fitter = Fitter {
            text: &text,
            outline: &outline,
            budget: 185,
            count: &|part| part.split(' ').count(),
        };
        assert_eq!(fitter.units(0..text.len(), &[]).len(), 1);
    }
}
