//! L4: a claim must not mix the words of two sentences with the same pattern.
//!
//! "Thomas lives in Graz. Anna lives in Linz." contains every word of "Thomas lives in Linz", which
//! says something else. Two sentences have the same pattern when, besides the words they share,
//! each has its own words in the same places; two table rows, when they have the same number of
//! cells. A claim crosses them when it takes the words for one place from one sentence and those
//! for another place from the other.

use std::ops::Range;

use super::align::{Alignment, common_in_order};
use super::names::is_name;
use super::{Case, Effect, Source};
use crate::Code;
use crate::reading::Reading;
use crate::tables::Role;
use crate::text::{Token, has_stem};

/// Maximum number of words of the claim that are searched for outside the nearest sentence, of
/// sentences that may contain one, and of words in a sentence; all bound the work on hostile text.
const MOST_WORDS: usize = 6;
const MOST_HOLDERS: usize = 12;
const LONGEST: usize = 60;

/// Two sentences have the same pattern when at least this share of the shorter one appears in both,
/// in order.
const SHARED: usize = 3;

/// Maximum number of words of a label.
const LABEL: usize = 6;

/// A sentence of the cited text.
#[derive(Clone, Copy)]
struct CrossedPlace<'a> {
    reading: &'a Reading,
    tokens: &'a [Token],
    /// Its normalised text.
    normal: &'a str,
    /// Where that text begins.
    start: usize,
}

/// The words that two sentences of one pattern have in the same place.
type Slot<'a> = (&'a [Token], &'a [Token]);

/// The other sentence says `taken` about `of`, and the nearest one says `said` about `put_to`; the
/// claim says `taken` about `put_to`.
struct Crossing<'a> {
    taken: &'a Token,
    of: &'a Token,
    said: &'a Token,
    put_to: &'a Token,
}

/// The objection to a claim that mixes the nearest sentence with another one. Every sentence with
/// one of the claim's other words is tried.
pub(super) fn check(case: &Case<'_>, alignment: &Alignment<'_>) -> Option<(Effect, Code, String)> {
    let mut near = alignment
        .0
        .iter()
        .filter_map(|aligned| CrossedPlace::of(aligned.source, aligned.sentence));
    let nearest = near.find(|place| !place.is_header())?;
    let strange = case
        .claim
        .text
        .tokens
        .iter()
        .filter(|t| t.is_content() && !nearest.holds(t.id) && !t.does(Role::Textual));
    for word in strange.take(MOST_WORDS) {
        let holders = case.cited.iter().flat_map(|source| {
            source
                .reading
                .sentences_with(word.id)
                .iter()
                .filter_map(|n| CrossedPlace::of(*source, *n as usize))
        });
        let holders: Vec<CrossedPlace<'_>> = holders.take(MOST_HOLDERS + 1).collect();
        if holders.len() > MOST_HOLDERS {
            continue;
        }
        let crossings: Option<Vec<_>> = holders
            .iter()
            .map(|holder| crossing(case.claim, &nearest, holder, word.id))
            .collect();
        if let (Some(other), Some(found)) =
            (holders.first(), crossings.as_deref().and_then(<[_]>::first))
        {
            let [taken, of] = [found.taken, found.of].map(|t| other.reading.word(t));
            let [said, put_to] = [found.said, found.put_to].map(|t| nearest.reading.word(t));
            // A number can be computed by the claim itself; `referent` and `numbers` check it.
            let counts = [found.taken, found.of, found.said, found.put_to];
            if counts.iter().any(|t| t.number) {
                return None;
            }
            let why = format!(
                "The cited text says “{taken}” about “{of}” and “{said}” about “{put_to}”."
            );
            return Some((Effect::Rejects, Code::Referent, why));
        }
    }
    None
}

/// How the claim takes `word` from `other` and the rest from `nearest`, if both have the same
/// pattern.
fn crossing<'a>(
    claim: &Reading,
    nearest: &CrossedPlace<'a>,
    other: &CrossedPlace<'a>,
    word: u32,
) -> Option<Crossing<'a>> {
    let in_cells = cells(nearest, other)
        .and_then(|slots| crossed(claim, nearest, other, &slots, word, |_, _| true));
    // Cells in the same place have the same kind of content. For prose this must be checked, and
    // one of the two places must contain a name: two descriptions can be of the same thing.
    in_cells.or_else(|| {
        let slots = slots(nearest, other)?;
        crossed(claim, nearest, other, &slots, word, are_of_one_kind)
            .filter(|found| [found.put_to, found.taken].into_iter().any(is_name))
    })
}

fn are_of_one_kind(a: &Token, b: &Token) -> bool {
    is_name(a) == is_name(b) && a.number == b.number
}

/// The crossing at `word`; `alike` tells which words can replace each other.
fn crossed<'a>(
    claim: &Reading,
    nearest: &CrossedPlace<'a>,
    other: &CrossedPlace<'a>,
    slots: &[Slot<'a>],
    word: u32,
    alike: fn(&Token, &Token) -> bool,
) -> Option<Crossing<'a>> {
    let from = slots
        .iter()
        .position(|slot| only_here(slot.1, nearest).any(|t| t.id == word))?;
    let slot = slots.get(from)?;
    let taken = only_here(slot.1, nearest).find(|t| t.id == word)?;
    let said = only_here(slot.0, other).find(|t| alike(t, taken))?;
    // A claim that also names the word it would have replaced is about both.
    if only_here(slot.0, other).any(|t| claim.has(t.id)) {
        return None;
    }
    let others = slots.iter().enumerate().filter(|(n, _)| *n != from);
    for (_, slot) in others {
        let mut own = only_here(slot.0, other).filter(|t| claim.has(t.id));
        let Some((put_to, of)) = own.find_map(|own| {
            let of = only_here(slot.1, nearest).find(|t| alike(own, t))?;
            Some((own, of))
        }) else {
            continue;
        };
        let names_both = only_here(slot.1, nearest).any(|t| claim.has(t.id));
        return (!names_both).then_some(Crossing {
            taken,
            of,
            said,
            put_to,
        });
    }
    None
}

/// The content words of a part of one sentence that the other does not have.
fn only_here<'a>(part: &'a [Token], other: &CrossedPlace<'_>) -> impl Iterator<Item = &'a Token> {
    part.iter().filter(|t| t.is_content() && !other.holds(t.id))
}

/// The cells of two rows with the same number of cells, or of two labelled items.
fn cells<'a>(a: &CrossedPlace<'a>, b: &CrossedPlace<'a>) -> Option<Vec<Slot<'a>>> {
    let (ours, theirs) = (a.cells()?, b.cells()?);
    if b.is_header() {
        return None;
    }
    (ours.len() == theirs.len()).then(|| ours.into_iter().zip(theirs).collect())
}

/// The words in the same places of two sentences with one pattern: those between the words they
/// share.
fn slots<'a>(a: &CrossedPlace<'a>, b: &CrossedPlace<'a>) -> Option<Vec<Slot<'a>>> {
    if a.tokens.len().max(b.tokens.len()) > LONGEST || a.is_row() || b.is_row() {
        return None;
    }
    let shared = common_in_order(a.tokens, b.tokens, |x, y| x.id == y.id);
    let telling = shared.len() > 1
        || shared
            .iter()
            .any(|(i, _)| a.tokens.get(*i).is_some_and(Token::is_content));
    if !telling || shared.len() * SHARED < a.tokens.len().min(b.tokens.len()) {
        return None;
    }
    let ends = shared
        .iter()
        .copied()
        .chain([(a.tokens.len(), b.tokens.len())]);
    let mut from = (0, 0);
    let mut out = Vec::new();
    for (i, j) in ends {
        let (ours, theirs) = (a.tokens.get(from.0..i)?, b.tokens.get(from.1..j)?);
        if !ours.is_empty() && !theirs.is_empty() {
            out.push((ours, theirs));
        }
        from = (i + 1, j + 1);
    }
    Some(out)
}

impl<'a> CrossedPlace<'a> {
    fn of(source: Source<'a>, sentence: usize) -> Option<Self> {
        let bytes = source.reading.sentence(sentence)?.bytes.clone();
        let (start, normal) = (bytes.start, source.reading.normal.get(bytes)?);
        Some(Self {
            reading: source.reading,
            tokens: source.reading.tokens_of(sentence),
            normal,
            start,
        })
    }

    fn holds(&self, id: u32) -> bool {
        has_stem(self.tokens, id)
    }

    fn is_row(&self) -> bool {
        self.normal.starts_with('|')
    }

    /// Whether it is the header row: the one above a row of dashes.
    fn is_header(&self) -> bool {
        let below = self
            .reading
            .normal
            .get(self.start + self.normal.len()..)
            .unwrap_or("")
            .trim_start();
        let dashes = below.strip_prefix('|').unwrap_or("").trim_start();
        self.is_row() && dashes.trim_start_matches(':').starts_with('-')
    }

    /// The words of each cell of a row; for "Tom: an engineer" and "Tom – an engineer", what comes
    /// before and after the separator.
    fn cells(&self) -> Option<Vec<&'a [Token]>> {
        if self.is_row() {
            // The last `|` of a row may be missing.
            let end = Some(self.normal.trim_end().len())
                .filter(|_| !self.normal.trim_end().ends_with('|'));
            let bars = self.normal.match_indices('|').map(|(at, _)| at);
            let cuts: Vec<usize> = bars.chain(end).map(|at| self.start + at).collect();
            return Some(
                cuts.windows(2)
                    .map(|cut| self.between(cut[0]..cut[1]))
                    .collect(),
            );
        }
        let at = self.start
            + [": ", " – ", " — ", " - "]
                .iter()
                .filter_map(|mark| self.normal.find(mark))
                .min()?;
        let label = self.between(self.start..at);
        (label.len() <= LABEL).then(|| vec![label, self.between(at..usize::MAX)])
    }

    fn between(&self, bytes: Range<usize>) -> &'a [Token] {
        let from = self.tokens.partition_point(|t| t.start < bytes.start);
        let to = self.tokens.partition_point(|t| t.start < bytes.end);
        self.tokens.get(from..to).unwrap_or(&[])
    }
}
