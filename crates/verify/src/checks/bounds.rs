//! L4: the bound of a number ("at least 5") is that of the cited text, or follows from it.

use super::Case;
use super::align::{Aligned, Alignment};
use super::atoms::readings;
use super::numbers::{comparable, equal, numbers, scaled};
use crate::atoms::{self as a, Atom, Bound, Number, RangeEnd, What};
use crate::reading::Reading;
use crate::tables::Quantity;
use crate::text::Token;

/// The tolerance of "about".
const ABOUT: f64 = 0.1;

/// The most by which an amount of the text may exceed a bound of the claim, as a factor.
const NEAR: f64 = 1.5;

/// Whether one of the numbers that match `n` has the same bound. In nearly the same sentence
/// (`near`), that sentence's number decides.
pub(super) fn agree(
    alignment: &Alignment<'_>,
    n: &Number,
    matched: Vec<&Number>,
    near: Option<&Aligned<'_>>,
) -> bool {
    let own: Vec<&Number> = near
        .map(|near| {
            let reading = near.source.reading;
            numbers(reading.atoms_of(near.sentence).iter())
                .filter(|m| equal(n, m, reading))
                .collect()
        })
        .unwrap_or_default();
    if own.iter().any(|m| m.bound.is_some()) && n.bound == Some(Bound::Exactly) {
        return false;
    }
    let matched = if own.is_empty() { matched } else { own };
    let close = alignment.best().is_some_and(|b| b.share >= 0.8);
    matched.iter().any(|m| match (n.bound, bound_of(m)) {
        (None | Some(Bound::About), _) => true,
        (Some(Bound::Exactly), None) => true,
        (Some(own), Some(theirs)) => own == theirs,
        (Some(_), None) => !close,
    })
}

/// Whether the nearest sentence calls something the least or the most: "Minimum holding is 100".
pub(super) fn is_limited(alignment: &Alignment<'_>) -> bool {
    const LIMITS: &[&str] = list!("bounds.limits");
    alignment.best().is_some_and(|near| {
        let reading = near.source.reading;
        let mut tokens = near.tokens().iter();
        tokens.any(|t| LIMITS.contains(&&*reading.lower_word(t)))
    })
}

/// Whether the word before a number of the claim may bound it or only say how much: "an invoice over
/// 300", "eine Rechnung über 300".
pub(super) fn may_be_no_bound(claim: &Reading, atom: &Atom) -> bool {
    const OPEN: &[&str] = list!("bounds.open");
    is_before(claim, atom, 1, OPEN)
}

/// Whether the words before a number of the claim say how far something rises: "pumped up to 4.2 bar".
pub(super) fn rises_to(claim: &Reading, atom: &Atom) -> bool {
    const RISING: &[&str] = list!("bounds.rising");
    is_before(claim, atom, 1, &["to"])
        && is_before(claim, atom, 2, &["up"])
        && is_before(claim, atom, 3, RISING)
}

/// Whether the word so many places before an atom is one of a list.
fn is_before(claim: &Reading, atom: &Atom, places: usize, list: &[&str]) -> bool {
    let at = atom.tokens.start.checked_sub(places);
    let token = at.and_then(|at| claim.text.tokens.get(at));
    token.is_some_and(|t| list.contains(&&*claim.lower_word(t)))
}

/// Maximum number of words from a "nobody" to the number that it bounds.
const NOBODY_WITHIN: usize = 24;

/// The number with the bound that a "nobody" before it makes of its own: "nobody may pay less than 5"
/// is at least 5.
pub(super) fn turned(claim: &Reading, atom: &Atom, n: &Number) -> Option<Number> {
    let bound = match n.bound? {
        Bound::AtLeast => Bound::LessThan,
        Bound::MoreThan => Bound::AtMost,
        Bound::AtMost => Bound::MoreThan,
        Bound::LessThan => Bound::AtLeast,
        Bound::About | Bound::Exactly => return None,
    };
    let first = atom.tokens.start.saturating_sub(NOBODY_WITHIN);
    let before = claim.text.tokens.get(first..atom.tokens.start)?;
    let denies = |t: &Token| t.negates() || t.quantity() == Some(Quantity::Nothing);
    before.iter().any(denies).then_some(Number {
        bound: Some(bound),
        ..*n
    })
}

/// The bound of a number of the text: an end of a range bounds it on one side.
fn bound_of(m: &Number) -> Option<Bound> {
    let end = m.range.map(|end| match end {
        RangeEnd::Lower => Bound::AtLeast,
        RangeEnd::Upper => Bound::AtMost,
    });
    m.bound.or(end)
}

/// Whether an amount of the text is within the bound of the number: "more than 5 million" where the
/// text has 5.4 million.
pub(super) fn is_within_bound(case: &Case<'_>, n: &Number) -> bool {
    let Some(bound) = n.bound else { return false };
    let mut found = near_a_bound(case, n, bound);
    found.any(|(reading, at)| allows_only(reading, at, n, bound))
}

/// What is wrong with a bound that the text has on the other side: "over 15 mg" where it has "up to
/// 20 mg" or "10–20 mg".
pub(super) fn otherwise(case: &Case<'_>, n: &Number) -> Option<String> {
    let mut near = near_a_bound(case, n, n.bound?);
    // "at least two hours' work" has nothing to do with "2.2 m".
    let (reading, at) = near.find(|(reading, at)| {
        let m = reading.atoms.get(*at).and_then(number);
        m.is_some_and(|m| m.unit.is_some() == n.unit.is_some())
    })?;
    let said = reading.shown_amount(reading.atoms.get(at)?);
    Some(format!("The cited text sets another limit with “{said}”."))
}

/// The amounts of the text that are within the bound of `n`, and near it: their readings and atoms.
fn near_a_bound<'a>(
    case: &Case<'a>,
    n: &Number,
    bound: Bound,
) -> impl Iterator<Item = (&'a Reading, usize)> + use<'a> {
    let n = *n;
    let all = readings(case).flat_map(|reading| {
        let atoms = reading.atoms.iter().enumerate();
        atoms.map(move |(at, atom)| (reading, at, atom))
    });
    all.filter(move |(_, _, atom)| {
        number(atom).is_some_and(|m| comparable(&n, m) && is_near(bound, n.value, scaled(&n, m)))
    })
    .map(|(reading, at, _)| (reading, at))
}

fn number(atom: &Atom) -> Option<&Number> {
    match &atom.what {
        What::Number(m) => Some(m),
        _ => None,
    }
}

/// Whether an amount is within a bound, and near it.
fn is_near(bound: Bound, limit: f64, x: f64) -> bool {
    let near = match bound {
        Bound::AtLeast | Bound::MoreThan => x <= limit * NEAR,
        Bound::AtMost | Bound::LessThan => x * NEAR >= limit,
        Bound::About | Bound::Exactly => true,
    };
    near && is_within(bound, limit, x)
}

/// An amount may be rounded by a little more than half a step.
const HALF_A_STEP: f64 = 0.6;

/// The step to which an amount seems to be rounded: 100,000 for 1,300,000, five for 45.
fn step(limit: f64) -> f64 {
    let mut places = (-3..=12).rev().map(|power| 10_f64.powi(power));
    let is_whole = |place: &f64| {
        let count = limit.abs() / place;
        count >= 1.0 && a::same(count, count.round())
    };
    let place = places.find(is_whole).unwrap_or(0.0);
    let count = (limit.abs() / place).round();
    let ends_in_five = count > 10.0 && a::same(count % 10.0, 5.0);
    if ends_in_five { 5.0 * place } else { place }
}

fn is_within(bound: Bound, limit: f64, x: f64) -> bool {
    match bound {
        Bound::AtLeast => x >= limit,
        Bound::MoreThan => x > limit,
        Bound::AtMost => x <= limit,
        Bound::LessThan => x < limit,
        Bound::About => {
            let off = (x - limit).abs();
            off <= ABOUT * limit.abs() && off <= HALF_A_STEP * step(limit)
        }
        Bound::Exactly => false,
    }
}

/// Whether everything that the amount at `at` allows is within the claim's bound: "up to 20 mg" may
/// be less than 15, and so may "10–20 mg".
fn allows_only(reading: &Reading, at: usize, n: &Number, bound: Bound) -> bool {
    let Some(m) = reading.atoms.get(at).and_then(number) else {
        return false;
    };
    let other_side = match bound {
        Bound::AtLeast | Bound::MoreThan => {
            matches!(m.bound, Some(Bound::AtMost | Bound::LessThan))
        }
        Bound::AtMost | Bound::LessThan => {
            matches!(m.bound, Some(Bound::AtLeast | Bound::MoreThan))
        }
        Bound::About | Bound::Exactly => false,
    };
    let ends = [at.checked_sub(1), at.checked_add(1)].into_iter().flatten();
    let ends = ends
        .filter(|_| m.range.is_some() && bound != Bound::About)
        .filter_map(|end| reading.atoms.get(end).and_then(number))
        .filter(|end| end.range.is_some());
    // "10–20 kg": the first end has the unit of the second.
    let mut ends = ends.map(|end| Number {
        unit: end.unit.or(m.unit),
        ..*end
    });
    !other_side && ends.all(|end| is_within(bound, n.value, scaled(n, &end)))
}
