//! L4: whether the cited text gives another value where the claim gives its own.
//!
//! A value that the cited text does not have disproves nothing by itself: it may be computed, counted
//! or converted in words that are not understood. It is disproved if the nearest sentence has a value
//! of the same kind that the claim leaves out, or says nearly the same as the claim without it.

use super::align::{Aligned, Alignment};
use super::arithmetic;
use super::atoms::all;
use super::durations;
use super::numbers::{comparable, equal, numbers};
use super::rejection;
use super::{Case, Effect};
use crate::atoms::{self as a, Atom, Date, Literal, Number, What};

/// A sentence with this share of the claim's content words says nearly the same.
const NEARLY_THE_SAME: f64 = 0.6;

/// The effect of a number that the cited text does not have.
pub(super) fn effect_of_number(case: &Case<'_>, alignment: &Alignment<'_>, n: &Number) -> Effect {
    // A claim of few words computes nothing, and a count is compared with what is counted.
    let is_count = n.unit.is_none() && alignment.best().is_some();
    if is_count || rejection::has_few_words(case) || is_measured_nowhere(case, n) {
        return Effect::Rejects;
    }
    let is_rival = |m: &Number, best: &Aligned<'_>| {
        let reading = best.source.reading;
        let mut own = numbers(case.claim.atoms.iter());
        !m.ordinal
            && comparable(n, m)
            && !own.any(|own| equal(own, m, reading))
            && !may_follow(case, n, m)
    };
    effect(alignment, |atom, best| match &atom.what {
        What::Number(m) => is_rival(m, best),
        _ => false,
    })
}

/// Whether the cited text has no amount of this kind, nor days or times if it is a duration: then
/// nothing can be computed that gives it.
fn is_measured_nowhere(case: &Case<'_>, n: &Number) -> bool {
    let is_duration = n.unit.is_some_and(durations::is_time);
    let may_give = |what: &What| match what {
        What::Number(m) => arithmetic::in_unit_of(n, m).is_some(),
        What::Date(_) | What::Time(_) => is_duration,
        What::Literal(_) => false,
    };
    n.unit.is_some() && !all(case).any(|atom| may_give(&atom.what))
}

/// Whether an amount may be computed from one of the cited text: a small multiple of it, or its sum
/// or difference with another amount in the same unit.
fn may_follow(case: &Case<'_>, n: &Number, m: &Number) -> bool {
    const MOST_TIMES: f64 = 12.0;
    let Some(value) = arithmetic::in_unit_of(n, m).filter(|value| n.unit.is_some() && *value > 0.0)
    else {
        return false;
    };
    let times = n.value / value;
    // Ten times as much is a slipped decimal sign. A count that the claim gives was tried before.
    let is_counted = numbers(case.claim.atoms.iter()).any(|own| a::same(own.value, times));
    let is_multiple = times.fract() == 0.0
        && (2.0..=MOST_TIMES).contains(&times)
        && !a::same(times, 10.0)
        && !is_counted;
    let others = numbers(all(case)).filter_map(|other| arithmetic::in_unit_of(n, other));
    let mut others = others.take(MOST_AMOUNTS);
    is_multiple
        || others.any(|other| {
            other > 0.0
                && !a::same(other, value)
                && (a::same(value + other, n.value) || a::same((value - other).abs(), n.value))
        })
}

/// Maximum number of amounts that are tried; bounds the work on hostile text.
const MOST_AMOUNTS: usize = 64;

/// The effect of a date that the cited text does not have.
pub(super) fn effect_of_date(case: &Case<'_>, alignment: &Alignment<'_>) -> Effect {
    if rejection::has_few_words(case) && alignment.best().is_some() {
        return Effect::Rejects;
    }
    let is_claimed = |other: &Date| {
        case.claim.atoms.iter().any(|atom| match &atom.what {
            What::Date(own) => own.is_part_of(other) || other.is_part_of(own),
            _ => false,
        })
    };
    effect(alignment, |atom, _| match &atom.what {
        What::Date(other) => !is_claimed(other),
        // "03.01.24" may be read as a version.
        What::Literal(Literal::Version { .. }) => true,
        _ => false,
    })
}

fn effect(alignment: &Alignment<'_>, is_rival: impl Fn(&Atom, &Aligned<'_>) -> bool) -> Effect {
    let Some(best) = alignment.best() else {
        return Effect::Doubts;
    };
    let reading = best.source.reading;
    // "We bought the deck oven. It costs 18,400 euros."
    let (own, next) = (best.sentence, best.sentence + 1);
    let mut atoms = reading.atoms_of(own).iter().chain(reading.atoms_of(next));
    match best.share >= NEARLY_THE_SAME || atoms.any(|atom| is_rival(atom, best)) {
        true => Effect::Rejects,
        false => Effect::Doubts,
    }
}
