//! L4: computations that a claim writes out, such as "400 + 350 = 750": they must be right.

use super::Case;
use super::Effect;
use super::arithmetic::{self, PERCENT};
use super::derive::ClaimNumber;
use super::numbers::{equal, numbers};
use crate::Code;
use crate::atoms::{self as a, Atom, Bound, Number, What};
use crate::derivation::{Derivation, Operation};
use crate::reading::Reading;

const PLUS: &[&str] = list!("formulas.plus");
const MINUS: &[&str] = list!("formulas.minus");
const TIMES: &[&str] = list!("formulas.times");
const DIVIDED: &[&str] = list!("formulas.divided");
const EQUALS: &[&str] = list!("formulas.equals");

/// Maximum number of amounts of one computation.
const MOST: usize = 12;

/// A computation that a claim writes out.
struct Equation<'c> {
    /// The amounts, as the claim has them.
    from: Vec<(&'c Atom, &'c Number)>,
    /// One operation for all of them.
    operation: Operation,
    result: (&'c Atom, &'c Number),
}

/// The objection to a computation of the claim that is wrong.
pub(super) fn check(case: &Case<'_>) -> Option<(Effect, Code, String)> {
    let claim = case.claim;
    let wrong = equations(claim)
        .into_iter()
        .find(|e| is_right(e) == Some(false))?;
    let (first, last) = (wrong.from.first()?.0, wrong.result.0);
    let shown = claim.normal.get(first.bytes.start..last.bytes.end)?;
    let shown = crate::identity::shorten(shown);
    let why = format!("The computation “{shown}” is wrong.");
    Some((Effect::Rejects, Code::Number, why))
}

/// The computation of a number that the claim writes out, if all its amounts are in the cited text.
pub(super) fn derived(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<Derivation> {
    let claim = case.claim;
    let own = equations(claim);
    let found = own.iter().find(|e| e.result.0.bytes == result.atom.bytes)?;
    let all = found.from.iter().all(|(_, n)| is_cited(case, n));
    if !all || is_right(found) != Some(true) {
        return None;
    }
    let from = found.from.iter();
    Some(Derivation {
        operation: found.operation,
        from: from
            .map(|(atom, _)| claim.shown_amount(atom).to_owned())
            .collect(),
        result: claim.shown_amount(result.atom).to_owned(),
    })
}

pub(super) fn is_cited(case: &Case<'_>, n: &Number) -> bool {
    let mut cited = case.cited.iter();
    cited.any(|s| numbers(s.reading.atoms.iter()).any(|m| equal(n, m, s.reading)))
}

/// The computations of a claim with one operation each.
fn equations(claim: &Reading) -> Vec<Equation<'_>> {
    let mut out = Vec::new();
    let mut open: Vec<(&Atom, &Number)> = Vec::new();
    let mut operation: Option<Operation> = None;
    for atom in &claim.atoms {
        let What::Number(n) = &atom.what else {
            (open, operation) = (Vec::new(), None);
            continue;
        };
        let gap = open
            .last()
            .map(|(last, _)| last.bytes.end..atom.bytes.start);
        let gap = gap.and_then(|gap| claim.normal.get(gap)).unwrap_or("");
        if is_equals(gap)
            && let Some(operation) = operation.filter(|_| open.len() > 1)
        {
            out.push(Equation {
                from: std::mem::take(&mut open),
                operation,
                result: (atom, n),
            });
        }
        let next = operator(gap);
        let goes_on = next.is_some() && (operation.is_none() || operation == next);
        if !goes_on || open.len() >= MOST {
            open.clear();
        }
        operation = next.filter(|_| goes_on);
        open.push((atom, n));
    }
    out
}

fn is_equals(gap: &str) -> bool {
    const MOST_BYTES: usize = 12;
    let signs = gap.trim().trim_start_matches(',').trim();
    gap.len() <= MOST_BYTES && EQUALS.contains(&&*signs.to_lowercase())
}

/// The operation between two amounts. A dash without blanks makes a range, and no difference.
fn operator(gap: &str) -> Option<Operation> {
    const MOST_BYTES: usize = 16;
    if gap.len() > MOST_BYTES || !gap.starts_with(' ') || !gap.ends_with(' ') {
        return None;
    }
    let word = gap.trim().to_lowercase();
    let all = [
        (PLUS, Operation::Sum),
        (MINUS, Operation::Difference),
        (TIMES, Operation::Product),
        (DIVIDED, Operation::Ratio),
    ];
    let found = all.into_iter().find(|(words, _)| words.contains(&&*word));
    found.map(|(_, operation)| operation)
}

/// Whether a computation is right; `None` if its amounts cannot be computed with.
fn is_right(equation: &Equation<'_>) -> Option<bool> {
    let result = equation.result.1;
    let numbers: Vec<&Number> = equation.from.iter().map(|(_, n)| *n).collect();
    let value = match equation.operation {
        Operation::Sum => in_one_unit(result, &numbers)?.iter().sum(),
        Operation::Difference => {
            let values = in_one_unit(result, &numbers)?;
            let (first, rest) = values.split_first()?;
            first - rest.iter().sum::<f64>()
        }
        Operation::Product => in_plain_units(result, &numbers)?.product(),
        Operation::Ratio => {
            let values: Vec<f64> = in_plain_units(result, &numbers)?.collect();
            let (first, rest) = values.split_first()?;
            first / rest.iter().product::<f64>()
        }
        _ => return None,
    };
    let off = match (equation.operation, result.bound) {
        (_, Some(Bound::About)) => arithmetic::about(result),
        (Operation::Ratio, _) => arithmetic::half_a_place(result),
        _ => 0.0,
    };
    // "40 ÷ 65 = 61.5 %".
    let is_share = equation.operation == Operation::Ratio
        && arithmetic::is_measured_in(result, PERCENT)
        && numbers
            .iter()
            .all(|n| !arithmetic::is_measured_in(n, PERCENT));
    let value = if is_share { 100.0 * value } else { value };
    Some(a::same(value, result.value) || (value - result.value).abs() <= off)
}

/// The amounts in the unit of the result. Amounts without a unit take it.
pub(super) fn in_one_unit(result: &Number, all: &[&Number]) -> Option<Vec<f64>> {
    if all.iter().all(|n| n.unit.is_none()) {
        return Some(all.iter().map(|n| n.value).collect());
    }
    let unit = result.unit.or_else(|| all.iter().find_map(|n| n.unit));
    let result = Number { unit, ..*result };
    let values = all.iter().map(|n| match n.unit {
        None => Some(n.value),
        Some(_) => arithmetic::in_unit_of(&result, n),
    });
    values.collect()
}

/// The values of factors: at most one of them has a unit, and the result none or the same.
fn in_plain_units(result: &Number, all: &[&Number]) -> Option<impl Iterator<Item = f64>> {
    let measured = all.iter().filter(|n| n.unit.is_some());
    let plain = measured.clone().count() <= 1
        && measured.clone().all(|n| {
            result.unit.is_none_or(|unit| {
                n.unit
                    .is_some_and(|own| a::equal_amounts(1.0, unit, 1.0, own))
            })
        });
    let values: Vec<f64> = all.iter().map(|n| n.value).collect();
    plain.then(|| values.into_iter())
}
