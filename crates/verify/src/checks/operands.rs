//! The amounts of the cited text that a number of a claim may be computed from.

use std::collections::HashSet;

use super::Case;
use super::derive::{ClaimNumber, Operand};
use super::numbers::{equal, numbers};
use super::things::thing;
use crate::atoms::{Atom, Number, What};
use crate::reading::Reading;

/// Maximum number of amounts that are combined; bounds the work on hostile text.
const MOST: usize = 14;

/// Maximum number of amounts that are looked at.
const MOST_SEEN: usize = 200;

/// An amount of the cited text.
#[derive(Clone, Copy)]
pub(super) struct Candidate<'t> {
    pub operand: Operand<'t>,
    /// The item and the sentence.
    pub place: (usize, usize),
    /// Whether the claim names what it belongs to, or has the amount itself.
    pub is_named: bool,
}

impl Candidate<'_> {
    pub(super) fn number(&self) -> &Number {
        &self.operand.number
    }

    /// Whether both can be parts of one computation of the claim: the claim names both, or names one
    /// and the other is in the same sentence.
    pub(super) fn goes_with(&self, other: &Self) -> bool {
        self.is_named && other.is_named
            || (self.is_named || other.is_named) && self.place == other.place
    }
}

/// The amounts that the claim names, then those in the same sentences.
pub(super) fn candidates<'t>(case: &Case<'t>, result: ClaimNumber<'_>) -> Vec<Candidate<'t>> {
    let words = content(case.claim);
    let all: Vec<Candidate<'t>> = amounts(case)
        .take(MOST_SEEN)
        .map(|(place, reading, atom, number)| Candidate {
            is_named: is_named(case, reading, atom, number, &words, result),
            operand: Operand {
                reading,
                atom,
                number: *number,
                shown: reading.shown_amount(atom),
            },
            place,
        })
        .collect();
    let places: HashSet<(usize, usize)> =
        all.iter().filter(|c| c.is_named).map(|c| c.place).collect();
    let (named, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|c| c.is_named);
    let beside = others.into_iter().filter(|c| places.contains(&c.place));
    named.into_iter().chain(beside).take(MOST).collect()
}

/// Whether the claim names what an amount belongs to, or has the amount beside the result.
fn is_named(
    case: &Case<'_>,
    reading: &Reading,
    atom: &Atom,
    number: &Number,
    words: &HashSet<u32>,
    result: ClaimNumber<'_>,
) -> bool {
    let own = case.claim.atoms.iter();
    let others = own.filter(|own| own.bytes != result.atom.bytes);
    thing(reading, atom).iter().any(|id| words.contains(id))
        || numbers(others).any(|n| equal(n, number, reading))
}

/// The content words of a claim.
pub(super) fn content(claim: &Reading) -> HashSet<u32> {
    let tokens = claim.text.tokens.iter();
    let words = tokens.filter(|t| t.is_content() && !t.number);
    words.map(|t| t.id).collect()
}

type Found<'t> = ((usize, usize), &'t Reading, &'t Atom, &'t Number);

/// All amounts of the cited items, with their places.
pub(super) fn amounts<'t>(case: &Case<'t>) -> impl Iterator<Item = Found<'t>> + use<'t> {
    let cited = case.cited;
    cited.iter().enumerate().flat_map(|(item, source)| {
        let reading = source.reading;
        reading.atoms.iter().filter_map(move |atom| {
            let place = (item, reading.sentence_of(atom.tokens.start));
            match &atom.what {
                What::Number(n) if !n.ordinal => Some((place, reading, atom, n)),
                _ => None,
            }
        })
    })
}
