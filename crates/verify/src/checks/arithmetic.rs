//! Arithmetic on amounts. Only amounts of one kind are put together, and each is converted to one
//! unit first.

use crate::atoms::{self as a, Bound, MeasureUnit, Number, UnitKind};
use crate::derivation::Operation;

pub(super) const PERCENT: MeasureUnit = &[(UnitKind::Percent, 1.0)];

/// "18 percentage points" is the difference of two percentages.
const POINTS: MeasureUnit = &[(UnitKind::Points, 1.0)];

/// Multiples: "three times as long".
const TIMES: MeasureUnit = &[(UnitKind::Times, 1.0)];

/// How the claim words a result.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ResultWording {
    /// It has no unit and counts nothing of its own: "60 in total".
    pub is_bare: bool,
    /// It has no unit and is called a ratio: "a factor of 3".
    pub is_ratio: bool,
    /// It is a share of something: "80 % of them".
    pub is_share: bool,
}

/// How many of `unit` are one of `of`, if both can measure the same.
fn factor(unit: MeasureUnit, of: MeasureUnit) -> Option<f64> {
    unit.iter().find_map(|(kind, one)| {
        let other = of.iter().find(|(other, _)| other == kind);
        other.map(|(_, size)| size / one)
    })
}

/// `m` in the unit of `n`; `None` if they cannot be compared.
pub(super) fn in_unit_of(n: &Number, m: &Number) -> Option<f64> {
    match (n.unit, m.unit) {
        (None, None) => Some(m.value),
        (Some(own), Some(other)) => Some(m.value * factor(own, other)?),
        _ => None,
    }
}

/// Whether two rates are per the same, or both are no rates.
fn same_rate(x: Option<MeasureUnit>, y: Option<MeasureUnit>) -> bool {
    match (x, y) {
        (None, None) => true,
        (Some(x), Some(y)) => a::equal_amounts(1.0, x, 1.0, y),
        _ => false,
    }
}

/// These amounts in the unit of `n`. A bare `n` takes their unit, which must be the same for all.
pub(super) fn in_one_unit(n: &Number, is_bare: bool, amounts: &[&Number]) -> Option<Vec<f64>> {
    let first = amounts.first()?;
    let rates = amounts.iter().all(|m| same_rate(first.per, m.per));
    // "66 a year: 54 for the rent and 12 for the water": the parts need not say it again.
    if !rates || n.per.is_some() && first.per.is_some() && !same_rate(n.per, first.per) {
        return None;
    }
    if n.unit.is_some() || first.unit.is_none() {
        return amounts.iter().map(|m| in_unit_of(n, m)).collect();
    }
    let own = amounts
        .iter()
        .map(|m| in_unit_of(first, m).filter(|value| a::same(*value, m.value)));
    own.collect::<Option<Vec<f64>>>().filter(|_| is_bare)
}

/// How `n` follows from two amounts, and whether the second comes first in the computation.
pub(super) fn operation(
    p: &Number,
    q: &Number,
    n: &Number,
    wording: ResultWording,
) -> Option<(Operation, bool)> {
    if let Some(second_first) = ratio(p, q, n, wording) {
        return Some((Operation::Ratio, second_first));
    }
    let is_points = is_measured_in(n, POINTS) && is_measured_in(p, PERCENT);
    let unit = if is_points { Some(PERCENT) } else { n.unit };
    let result = Number { unit, ..*n };
    let values = in_one_unit(&result, wording.is_bare, &[p, q])?;
    let [x, y] = values.as_slice() else {
        return None;
    };
    if wording.is_ratio {
        return None;
    }
    if a::same((x - y).abs(), n.value) {
        return Some((Operation::Difference, x < y));
    }
    (!is_points && a::same(x + y, n.value)).then_some((Operation::Sum, false))
}

/// Whether `n` is the ratio of two amounts of one kind, and whether the second comes first.
fn ratio(p: &Number, q: &Number, n: &Number, wording: ResultWording) -> Option<bool> {
    let is_multiple = is_measured_in(n, TIMES) || n.unit.is_none() && wording.is_ratio;
    let is_share = is_measured_in(n, PERCENT) && wording.is_share;
    if !(is_multiple || is_share) || n.per.is_some() || !same_rate(p.per, q.per) {
        return None;
    }
    let (small, large) = in_order(p, q)?;
    if is_multiple && a::same(large / small, n.value) {
        return Some(a::same(p.value, small));
    }
    (is_share && is_percentage_of(p, q, n)).then(|| a::same(p.value, large))
}

/// Two different amounts above zero in the unit of the first, the smaller one first.
fn in_order(p: &Number, q: &Number) -> Option<(f64, f64)> {
    let (x, y) = (p.value, in_unit_of(p, q)?);
    let (small, large) = (x.min(y), x.max(y));
    (small > 0.0 && !a::same(small, large)).then_some((small, large))
}

/// Whether `n` is how many percent the smaller amount is of the larger one.
pub(super) fn is_percentage_of(p: &Number, q: &Number, n: &Number) -> bool {
    in_order(p, q).is_some_and(|(small, large)| a::same(100.0 * small / large, n.value))
}

/// Whether the number has this unit.
pub(super) fn is_measured_in(n: &Number, unit: MeasureUnit) -> bool {
    n.unit.is_some_and(|own| a::same_kind(own, unit))
}

/// Half of the last place that a number gives: 0.5 for 62, 0.05 for 61.5.
pub(super) fn half_a_place(n: &Number) -> f64 {
    let places = [1.0, 10.0, 100.0];
    let by = places
        .into_iter()
        .find(|by| a::same((n.value * by).fract(), 0.0));
    0.5 / by.unwrap_or(1000.0)
}

/// By how much a value may differ from "about" this number: by a tenth, but not by more than half of
/// the step to which the number is rounded. "About 60" may be 61.5, "about 64" may not.
pub(super) fn about(n: &Number) -> f64 {
    const TENTH: f64 = 0.1;
    const STEPS: [f64; 8] = [1000.0, 500.0, 100.0, 50.0, 10.0, 5.0, 1.0, 0.5];
    let tenth = TENTH * n.value.abs();
    if n.words {
        return tenth;
    }
    let steps = STEPS.into_iter();
    let mut steps = steps.filter(|step| a::same((n.value / step).fract(), 0.0));
    let half = steps.next().map_or(half_a_place(n), |step| step / 2.0);
    tenth.min(half.max(half_a_place(n)))
}

/// By how many percent the smaller of two amounts must grow to be the larger one, or the larger one
/// must shrink to be the smaller one.
pub(super) fn growth(p: &Number, q: &Number, is_more: bool) -> Option<f64> {
    let (small, large) = in_order(p, q).filter(|_| same_rate(p.per, q.per))?;
    let base = if is_more { small } else { large };
    Some(100.0 * (large - small) / base)
}

/// Whether `n` is a rate times a duration: "$350K/month" for "14 months".
pub(super) fn accrues(rate: &Number, duration: &Number, n: &Number) -> bool {
    let (Some(per), Some(unit)) = (rate.per, duration.unit) else {
        return false;
    };
    let Some(periods) = factor(per, unit) else {
        return false;
    };
    let amount = in_unit_of(n, rate).filter(|_| n.unit.is_some() && n.per.is_none());
    amount.is_some_and(|amount| a::same(amount * duration.value * periods, n.value))
}

/// Whether `n` is `m` in a unit of another system, rounded to the digits of `n`: 428 °F for 220 °C,
/// "44 lb" for 20 kg.
pub(super) fn is_converted(n: &Number, m: &Number) -> bool {
    const ABOUT: f64 = 0.05;
    let (Some([own]), Some([other])) = (n.unit, m.unit) else {
        return false;
    };
    let value = match (own.0, other.0) {
        (UnitKind::Fahrenheit, UnitKind::Celsius) => m.value * 1.8 + 32.0,
        (UnitKind::Celsius, UnitKind::Fahrenheit) => (m.value - 32.0) / 1.8,
        (kind, same) if kind == same && are_of_two_systems(own.1, other.1) => {
            m.value * other.1 / own.1
        }
        _ => return false,
    };
    let off = match n.bound {
        Some(Bound::About) => ABOUT * n.value.abs(),
        _ => half_a_place(n),
    };
    same_rate(n.per, m.per) && (value - n.value).abs() <= off
}

/// Whether neither unit is a whole number of the other: pounds and kilograms.
fn are_of_two_systems(x: f64, y: f64) -> bool {
    let ratio = x.max(y) / x.min(y);
    !a::same(ratio, ratio.round())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64, unit: &str) -> Number {
        Number {
            value,
            also: None,
            unit: a::unit(unit),
            per: None,
            bound: None,
            ordinal: false,
            words: false,
            range: None,
        }
    }

    fn result(p: (f64, &str), q: (f64, &str), n: (f64, &str)) -> Option<(Operation, bool)> {
        let [p, q, n] = [p, q, n].map(|(value, unit)| number(value, unit));
        let wording = ResultWording {
            is_bare: true,
            is_share: true,
            ..ResultWording::default()
        };
        operation(&p, &q, &n, wording)
    }

    #[test]
    fn amounts_are_converted_before_they_are_computed_with() {
        use Operation::{Difference, Ratio, Sum};
        for (p, q, n, wanted) in [
            ((1.0, "h"), (30.0, "min"), (90.0, "min"), (Sum, false)),
            ((1.0, "h"), (30.0, "min"), (1.5, "h"), (Sum, false)),
            ((30.0, "min"), (1.0, "h"), (0.5, "h"), (Difference, true)),
            (
                (2.0, "km"),
                (500.0, "m"),
                (1500.0, "m"),
                (Difference, false),
            ),
            ((500.0, "m"), (2.0, "km"), (4.0, "times"), (Ratio, true)),
            ((40.0, ""), (50.0, ""), (80.0, "%"), (Ratio, false)),
            ((60.0, "%"), (42.0, "%"), (18.0, "pp"), (Difference, false)),
            ((50.0, "€"), (10.0, "€"), (60.0, ""), (Sum, false)),
        ] {
            assert_eq!(result(p, q, n), Some(wanted), "{p:?} {q:?} {n:?}");
        }
    }

    #[test]
    fn amounts_of_different_kinds_give_nothing() {
        for (p, q, n) in [
            ((1.0, "h"), (30.0, "min"), (31.0, "min")),
            ((1.0, "h"), (30.0, "min"), (31.0, "")),
            ((1.0, "h"), (30.0, "min"), (30.0, "times")),
            ((50.0, "€"), (10.0, "$"), (60.0, "€")),
            ((50.0, "€"), (10.0, ""), (60.0, "€")),
            ((6.0, "€"), (2.0, "h"), (3.0, "times")),
            ((60.0, "%"), (40.0, "%"), (100.0, "pp")),
            ((40.0, ""), (50.0, ""), (125.0, "%")),
            ((0.0, ""), (50.0, ""), (0.0, "%")),
        ] {
            assert_eq!(result(p, q, n), None, "{p:?} {q:?} {n:?}");
        }
    }
}
