//! The amounts of the cited text that a number of a claim may be computed from.

use std::collections::HashSet;

use super::Case;
use super::arithmetic;
use super::derive::{ClaimNumber, Operand};
use super::numbers::{equal, numbers};
use super::things::thing;
use crate::atoms::{Atom, Date, Number, OtherReading, What};
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
    /// How many words the claim has for it.
    strength: usize,
}

/// The strength of an amount that the claim has.
const BEST: usize = 100;

impl Candidate<'_> {
    /// Whether the claim has the amount itself.
    pub(super) fn is_claimed(&self) -> bool {
        self.strength >= BEST
    }

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
    let dated = dated_sentences(case);
    let all: Vec<Candidate<'t>> = amounts(case)
        .take(MOST_SEEN)
        .map(|found| {
            let named = strength(case, found, &words, result);
            candidate(found, named + usize::from(dated.contains(&found.0)))
        })
        .flat_map(readings_of)
        .collect();
    let places: HashSet<(usize, usize)> =
        all.iter().filter(|c| c.is_named).map(|c| c.place).collect();
    let (named, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|c| c.is_named);
    let beside = others.into_iter().filter(|c| places.contains(&c.place));
    named.into_iter().chain(beside).take(MOST).collect()
}

/// Amounts of the cited text, whether or not the claim names them.
pub(super) fn unnamed<'t>(case: &Case<'t>) -> impl Iterator<Item = Candidate<'t>> + use<'t> {
    let all = amounts(case).map(|found| candidate(found, 0));
    all.flat_map(readings_of)
}

/// The candidate, and the same with the other amount that its digits can mean: "3.120 €".
fn readings_of(candidate: Candidate<'_>) -> impl Iterator<Item = Candidate<'_>> {
    let other = match candidate.operand.number.also {
        Some(OtherReading::Amount(value)) => Some(value),
        _ => None,
    };
    let other = other.map(|value| {
        let mut other = candidate;
        other.operand.number.value = value;
        other
    });
    [Some(candidate), other].into_iter().flatten()
}

/// The sentences and rows with a date of the claim.
fn dated_sentences(case: &Case<'_>) -> HashSet<(usize, usize)> {
    let own = case.claim.atoms.iter().filter_map(|atom| match &atom.what {
        What::Date(date) if date.month.is_some() && date.day.is_some() => Some(date),
        _ => None,
    });
    let own: Vec<&Date> = own.take(MOST).collect();
    let cited = case.cited.iter().enumerate();
    let atoms = cited.flat_map(|(item, source)| {
        let atoms = source.reading.atoms.iter();
        atoms.map(move |atom| (item, source.reading, atom))
    });
    let dated = atoms.filter(|(_, _, atom)| match &atom.what {
        What::Date(date) => own.iter().any(|own| own.is_part_of(date)),
        _ => false,
    });
    dated
        .map(|(item, reading, atom)| (item, reading.sentence_of(atom.tokens.start)))
        .collect()
}

fn candidate((place, reading, atom, number): AmountAt<'_>, strength: usize) -> Candidate<'_> {
    Candidate {
        operand: Operand {
            reading,
            atom,
            number: *number,
            shown: reading.shown_amount(atom),
        },
        place,
        is_named: strength > 0,
        strength,
    }
}

/// How many words of the claim name what an amount belongs to. An amount that the claim has beside
/// the result is named best.
fn strength(
    case: &Case<'_>,
    (_, reading, atom, number): AmountAt<'_>,
    words: &HashSet<u32>,
    result: ClaimNumber<'_>,
) -> usize {
    let own = case.claim.atoms.iter();
    let others = own.filter(|own| own.bytes != result.atom.bytes);
    if numbers(others).any(|n| equal(n, number, reading)) {
        return BEST;
    }
    let thing: HashSet<u32> = thing(reading, atom).into_iter().collect();
    thing.iter().filter(|id| words.contains(id)).count()
}

/// Whether the claim names these amounts better than the others of their sentences that could be
/// added to them: "together they cost 60 euros" is about all prices of a sentence.
pub(super) fn are_told_apart(all: &[Candidate<'_>], chosen: &[&Candidate<'_>]) -> bool {
    let Some(weakest) = chosen.iter().map(|c| c.strength).min() else {
        return false;
    };
    let is_chosen = |c: &Candidate<'_>| {
        let mut chosen = chosen.iter();
        chosen.any(|other| std::ptr::eq(other.operand.atom, c.operand.atom))
    };
    let mut rest = all.iter().filter(|c| {
        let near = chosen.iter().any(|other| other.place == c.place);
        let alike = chosen
            .iter()
            .any(|other| other.number().unit.is_some() == c.number().unit.is_some());
        near && alike && !is_chosen(c)
    });
    rest.all(|c| c.strength < weakest || !comparable(chosen, c))
}

fn comparable(chosen: &[&Candidate<'_>], c: &Candidate<'_>) -> bool {
    let mut chosen = chosen.iter();
    chosen.any(|other| arithmetic::in_unit_of(other.number(), c.number()).is_some())
}

/// The content words of a claim.
pub(super) fn content(claim: &Reading) -> HashSet<u32> {
    let tokens = claim.text.tokens.iter();
    let words = tokens.filter(|t| t.is_content() && !t.number);
    words.map(|t| t.id).collect()
}

/// An amount, with its place.
type AmountAt<'t> = ((usize, usize), &'t Reading, &'t Atom, &'t Number);

/// All amounts of the cited items, with their places.
fn amounts<'t>(case: &Case<'t>) -> impl Iterator<Item = AmountAt<'t>> + use<'t> {
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
