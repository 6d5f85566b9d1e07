//! L4: a total whose parts the claim lists behind it: "1,440 in August: 980 for the vet, 340 for food
//! and 120 for litter", or a product whose factors stand before it.

use super::derive::{ClaimNumber, may_be_computed};
use super::equations::{in_one_unit, is_cited};
use super::things::computes;
use super::{Case, foreign};
use crate::atoms::{self as a, Atom, Number, What};
use crate::derivation::{Derivation, Operation};

/// Maximum number of parts.
const MOST: usize = 12;

/// The sum of the amounts behind a number and a colon or bracket, if all of them are in the cited
/// text.
pub(super) fn sum(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<Derivation> {
    let (claim, n) = (case.claim, result.number);
    if !may_be_computed(n) {
        return None;
    }
    let behind = claim
        .atoms
        .iter()
        .filter(|atom| atom.bytes.start >= result.atom.bytes.end);
    let parts: Vec<(&Atom, &Number)> = behind.map_while(number).take(MOST).collect();
    let first = parts.first()?.0.bytes.start;
    let between = claim.normal.get(result.atom.bytes.end..first)?;
    if !between.contains([':', '(', '–', '—', '=', '：', '（']) {
        return None;
    }
    let is_sum = |count: &usize| {
        let numbers: Vec<&Number> = parts.iter().take(*count).map(|(_, m)| *m).collect();
        let values = in_one_unit(n, &numbers);
        values.is_some_and(|values| a::same(values.iter().sum(), n.value))
            && numbers.iter().all(|m| is_cited(case, m))
    };
    let count = (2..=parts.len()).find(is_sum)?;
    let from = parts.iter().take(count);
    Some(Derivation {
        operation: Operation::Sum,
        from: from
            .map(|(atom, _)| claim.shown_amount(atom).to_owned())
            .collect(),
        result: claim.shown_amount(result.atom).to_owned(),
    })
}

/// The product of two amounts before a number in a claim that says that it computes: "two rows of 20,
/// so 40 in all". Both are in the cited text, and at most one of them has a unit.
pub(super) fn product(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<Derivation> {
    let (claim, n) = (case.claim, result.number);
    if !may_be_computed(n) || !computes(claim) {
        return None;
    }
    let before = claim.atoms.iter();
    let before = before.filter(|atom| atom.bytes.end <= result.atom.bytes.start);
    let factors: Vec<(&Atom, &Number)> = before.filter_map(number).take(MOST).collect();
    let found = factors.windows(2).find(|pair| {
        let units = pair.iter().filter_map(|(_, m)| m.unit);
        let has_own = n.unit.is_none() || pair.iter().any(|(_, m)| m.unit == n.unit);
        let is_cited = |m| is_cited(case, m) || foreign::has_numeral(case, m);
        let value: f64 = pair.iter().map(|(_, m)| m.value).product();
        has_own
            && units.count() <= 1
            && pair.iter().all(|(_, m)| m.value > 1.0 && is_cited(m))
            && a::same(value, n.value)
    })?;
    let from = found.iter();
    Some(Derivation {
        operation: Operation::Product,
        from: from
            .map(|(atom, _)| claim.shown_amount(atom).to_owned())
            .collect(),
        result: claim.shown_amount(result.atom).to_owned(),
    })
}

fn number(atom: &Atom) -> Option<(&Atom, &Number)> {
    match &atom.what {
        What::Number(n) if !n.ordinal => Some((atom, n)),
        _ => None,
    }
}
