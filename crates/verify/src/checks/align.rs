//! Which sentences of the cited text are about the same thing as a claim.

use std::cell::OnceCell;

use super::{Case, Source};
use crate::reading::{ALIKE, Reading};
use crate::text::Token;

/// Maximum number of sentences that are compared with one claim.
const MOST: usize = 6;

/// A sentence counts as about the same thing if its share is at least this fraction of the best.
const NEAR: f64 = 0.7;

/// One sentence of the cited text.
#[derive(Clone, Copy)]
pub(super) struct Aligned<'a> {
    /// Its item.
    pub source: Source<'a>,
    /// Which sentence.
    pub sentence: usize,
    /// Share of the claim's content words that it contains.
    pub share: f64,
}

impl<'a> Aligned<'a> {
    /// Its words.
    pub(super) fn tokens(&self) -> &'a [Token] {
        self.source.reading.tokens_of(self.sentence)
    }
}

/// The sentences nearest to a claim, best first.
pub(super) struct Alignment<'a>(pub Vec<Aligned<'a>>, &'a Reading, OnceCell<Vec<Edit<'a>>>);

impl<'a> Alignment<'a> {
    /// Aligns the claim of `case` with what it cites.
    pub(super) fn of(case: &Case<'a>) -> Self {
        let words: Vec<&Token> = case
            .claim
            .text
            .tokens
            .iter()
            .filter(|t| t.is_content())
            .take(300)
            .collect();
        let total: f64 = words.iter().map(|t| weight(t)).sum();
        let mut all: Vec<Aligned<'a>> = Vec::new();
        for source in case.cited {
            all.extend(
                weights_found(case, source.reading, &words)
                    .into_iter()
                    .enumerate()
                    .filter(|(_, s)| *s > 0.0)
                    .map(|(sentence, share)| Aligned {
                        source: *source,
                        sentence,
                        share: share / total.max(1e-9),
                    }),
            );
        }
        all.sort_by(|a, b| b.share.total_cmp(&a.share));
        let best = all.first().map_or(0.0, |a| a.share);
        all.retain(|a| a.share >= NEAR * best && a.share >= 0.25);
        all.truncate(MOST);
        Self(all, case.claim, OnceCell::new())
    }

    /// The nearest sentence.
    pub(super) fn best(&self) -> Option<&Aligned<'a>> {
        self.0.first()
    }

    /// The edits between the claim and the nearest sentence; found once.
    pub(super) fn edits(&self) -> &[Edit<'a>] {
        self.2.get_or_init(|| {
            self.best()
                .map(|best| edits(self.1, best))
                .unwrap_or_default()
        })
    }

    /// All tokens of all aligned sentences.
    pub(super) fn tokens(&self) -> impl Iterator<Item = &'a Token> + '_ {
        self.0.iter().flat_map(Aligned::tokens)
    }
}

/// For every sentence: the weights of the words that it has.
fn weights_found(case: &Case<'_>, reading: &Reading, words: &[&Token]) -> Vec<f64> {
    let mut found = vec![0.0_f64; reading.text.sentences.len()];
    for token in words {
        let exact = reading.sentences_with(token.id);
        let like = reading.sentences_like(token.id, case.lexicon).iter();
        let only_like = like.filter(|s| exact.binary_search(s).is_err());
        let places = exact.iter().map(|s| (s, 1.0));
        for (s, value) in places.chain(only_like.map(|s| (s, ALIKE))) {
            if let Some(found) = found.get_mut(*s as usize) {
                *found += value * weight(token);
            }
        }
    }
    found
}

fn weight(token: &Token) -> f64 {
    if token.number || token.capital {
        1.2
    } else {
        1.0
    }
}

/// One word of the claim that replaces, adds or omits a word of the evidence, where everything else
/// is the same.
#[derive(Clone, Copy)]
pub(super) struct Edit<'a> {
    /// The claim's word; `None` when a word was left out.
    pub claim: Option<&'a Token>,
    /// The evidence's word; `None` when a word was added.
    pub evidence: Option<&'a Token>,
}

/// Maximum number of words of a sentence that is compared word by word.
const LONGEST: usize = 120;

/// The edits between a claim and the nearest sentence, when they are nearly the same: at least five
/// words, and four out of five the same, in order (longest common subsequence).
fn edits<'a>(claim: &'a Reading, nearest: &Aligned<'a>) -> Vec<Edit<'a>> {
    let (a, b) = (claim.text.tokens.as_slice(), nearest.tokens());
    if a.len() < 5 || a.len() > LONGEST || b.len() > LONGEST {
        return Vec::new();
    }
    let text = nearest.source.reading;
    let common = common_in_order(a, b, |x, y| {
        x.id == y.id
            && (claim.word(x).eq_ignore_ascii_case(text.word(y))
                || x.number
                || x.pairs().is_empty())
    });
    if common.len() * 5 < a.len() * 4 {
        return Vec::new();
    }
    let mut out = Vec::new();
    // Counts only edits inside the part that the claim covers. Text that the claim left out before
    // or after that part does not count as an edit.
    let (mut i, mut j) = (0, 0);
    for (n, (x, y)) in common.iter().copied().enumerate() {
        let run = (a.get(i..x).unwrap_or(&[]), b.get(j..y).unwrap_or(&[]));
        pair(run, n > 0, &mut out);
        (i, j) = (x + 1, y + 1);
    }
    // At the end of the claim, take only as many words of the evidence as the claim has in their
    // place, or one omitted word.
    let (rest, goes_on) = (a.get(i..).unwrap_or(&[]), b.get(j..).unwrap_or(&[]));
    let room = if rest.is_empty() && goes_on.len() > 1 {
        0
    } else {
        rest.len().max(1).min(goes_on.len())
    };
    pair((rest, goes_on.get(..room).unwrap_or(&[])), true, &mut out);
    out
}

/// The pairs of a longest common subsequence of `a` and `b`, in order.
pub(super) fn common_in_order(
    a: &[Token],
    b: &[Token],
    same: impl Fn(&Token, &Token) -> bool,
) -> Vec<(usize, usize)> {
    let mut table = LengthTable::new(a.len(), b.len());
    for (i, x) in a.iter().enumerate().rev() {
        for (j, y) in b.iter().enumerate().rev() {
            let value = if same(x, y) {
                table.get(i + 1, j + 1) + 1
            } else {
                table.get(i + 1, j).max(table.get(i, j + 1))
            };
            table.set(i, j, value);
        }
    }
    let mut out = Vec::with_capacity(usize::from(table.get(0, 0)));
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if same(x, y) && table.get(i, j) == table.get(i + 1, j + 1) + 1 {
            out.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if table.get(i + 1, j) >= table.get(i, j + 1) {
            i += 1;
        } else {
            j += 1;
        }
    }
    out
}

/// The lengths of the longest common subsequences of what is left of two lists.
struct LengthTable {
    cells: Vec<u16>,
    width: usize,
}

impl LengthTable {
    fn new(a: usize, b: usize) -> Self {
        let width = b + 1;
        Self {
            cells: vec![0; (a + 1) * width],
            width,
        }
    }

    fn get(&self, i: usize, j: usize) -> u16 {
        self.cells.get(i * self.width + j).copied().unwrap_or(0)
    }

    fn set(&mut self, i: usize, j: usize, value: u16) {
        if let Some(cell) = self.cells.get_mut(i * self.width + j) {
            *cell = value;
        }
    }
}

/// Pairs the words of one changed part; omitted words count only between unchanged words.
fn pair<'a>((claim, evidence): (&'a [Token], &'a [Token]), inside: bool, out: &mut Vec<Edit<'a>>) {
    if claim.len() == evidence.len() || !claim.is_empty() {
        for n in 0..claim.len().max(evidence.len()) {
            out.push(Edit {
                claim: claim.get(n),
                evidence: evidence.get(n),
            });
        }
    } else if inside {
        out.extend(evidence.iter().map(|e| Edit {
            claim: None,
            evidence: Some(e),
        }));
    }
}
