//! Values of a claim that follow from the cited text but stand there in other words: computed numbers,
//! "four times an hour" for "every 15 minutes", "half past seven" for "7:30".

use std::ops::Range;

use super::{Case, atoms, durations, formulas, frequencies, numbers};
use crate::atoms::{Atom, What};
use crate::derivation::{Derivation, Operation};

/// Finds those values of the claim, which then need no support by words, and returns the computation
/// of the first computed number.
pub(super) fn explain(case: &Case<'_>) -> Option<Derivation> {
    let claim = case.claim;
    let mut first: Option<Derivation> = None;
    let mut computation: Option<Operation> = None;
    let mut ranges = Vec::new();
    for atom in &claim.atoms {
        let computed = numbers::derivation(case, atom);
        if computed.is_some() || stands_in_other_words(case, atom) {
            ranges.push(atom.tokens.clone());
        }
        computation = computation.or(computed.as_ref().map(|(found, _)| found.operation));
        let sure = computed.filter(|(_, is_sure)| *is_sure);
        first = first.or(sure.map(|(derivation, _)| derivation));
    }
    ranges.extend(frequencies::explained(case));
    if let Some(operation) = computation {
        let is_duration = operation == Operation::Duration;
        let tokens = claim.text.tokens.iter().enumerate();
        let cues = tokens.filter(|(_, t)| {
            formulas::is_cue(claim, t) || is_duration && durations::is_cue(claim, t)
        });
        ranges.extend(cues.map(|(at, _)| at..at + 1));
    }
    // A claim is compared with one set of cited items.
    let _ = claim.explained.set(marked(claim.text.tokens.len(), ranges));
    first
}

/// For each of `count` tokens: whether one of the ranges has it.
fn marked(count: usize, ranges: Vec<Range<usize>>) -> Vec<bool> {
    let mut out = vec![false; count];
    for range in ranges {
        if let Some(own) = out.get_mut(range) {
            own.fill(true);
        }
    }
    out
}

/// Whether an atom is a time in words that the cited text has in digits, or an amount in another unit.
fn stands_in_other_words(case: &Case<'_>, atom: &Atom) -> bool {
    let shown = case.claim.shown_atom(atom);
    let in_words = shown.contains(' ') && !shown.contains(':');
    match &atom.what {
        What::Time(time) => in_words && atoms::has_time(case, *time),
        What::Number(n) => numbers::stands_in_another_unit(case, n),
        _ => false,
    }
}
