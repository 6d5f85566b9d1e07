//! L4: numbers of a claim that a computation in any words may give.
//!
//! This proves nothing: it only keeps a number from being rejected because the words for its
//! computation are unknown.

use super::Case;
use super::derive::{ClaimNumber, may_be_computed};
use super::formulas::is_cue;
use super::numbers::numbers;
use crate::atoms::{self as a, Atom, Number, OtherReading, What};
use crate::reading::Reading;

/// Maximum number of amounts of the claim, and of the cited text, that are combined.
const MOST_OWN: usize = 8;
const MOST_CITED: usize = 24;

/// A smaller number agrees with too many computations by chance.
const SMALLEST: f64 = 10.0;

/// A quotient may be rounded to whole numbers.
const ROUNDING: f64 = 0.5;

/// "Three tickets at 40, together 120": the largest count that no digits show.
const LARGEST_COUNT: f64 = 12.0;

/// An amount, as people may read it and its value.
#[derive(Clone, Copy)]
struct Amount<'t> {
    shown: &'t str,
    number: &'t Number,
    value: f64,
    /// The sentence of the cited text.
    place: Option<(usize, usize)>,
}

/// Two amounts that may give the result: one that the claim has beside it, and another of the claim
/// or of the cited text; or two of one sentence of the cited text, if the claim says that it computes.
pub(super) fn possible(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<[String; 2]> {
    let n = result.number;
    if !may_be_computed(n) || case.has_many_atoms() {
        return None;
    }
    let mut wanted = values(n).into_iter().flatten();
    wanted.find_map(|wanted| of_value(case, result, wanted.abs()))
}

fn of_value(case: &Case<'_>, result: ClaimNumber<'_>, wanted: f64) -> Option<[String; 2]> {
    if wanted < SMALLEST {
        return None;
    }
    let beside = case.claim.atoms.iter();
    let beside = beside.filter(|atom| atom.bytes != result.atom.bytes);
    let beside: Vec<Amount<'_>> = amounts(case.claim, beside, None).take(MOST_OWN).collect();
    let is_known = |x: &&Amount<'_>| is_cited(case, x.number);
    let own: Vec<Amount<'_>> = beside.iter().filter(is_known).copied().collect();
    let cited: Vec<Amount<'_>> = cited_amounts(case).take(MOST_CITED).collect();
    let mut with_own = own.iter().flat_map(|x| {
        let others = cited.iter().chain(&own);
        others.map(move |y| (x, y))
    });
    let found = with_own.find(|(x, y)| gives(x, y, wanted));
    let found = found.map(|(x, y)| [x.shown, y.shown].map(str::to_owned));
    let computes = || case.claim.text.tokens.iter().any(|t| is_cue(case.claim, t));
    found
        .or_else(|| sum_of_products(&beside, wanted))
        .or_else(|| repeated(&own, wanted).filter(|_| computes()))
        .or_else(|| of_one_sentence(&cited, wanted).filter(|_| computes()))
}

/// The amounts that the digits of a number can mean.
fn values(n: &Number) -> [Option<f64>; 2] {
    let other = match n.also {
        Some(OtherReading::Amount(value) | OtherReading::Count(value)) => Some(value),
        Some(OtherReading::Parts) | None => None,
    };
    [Some(n.value), other]
}

fn amounts<'t>(
    reading: &'t Reading,
    atoms: impl Iterator<Item = &'t Atom>,
    item: Option<usize>,
) -> impl Iterator<Item = Amount<'t>> {
    let numbers = atoms.filter_map(move |atom| match &atom.what {
        What::Number(m) if !m.ordinal => Some((atom, m)),
        _ => None,
    });
    numbers.flat_map(move |(atom, number)| {
        let place = item.map(|item| (item, reading.sentence_of(atom.tokens.start)));
        let values = values(number).into_iter().flatten();
        values.map(move |value| Amount {
            shown: reading.shown_amount(atom),
            number,
            value: value.abs(),
            place,
        })
    })
}

fn cited_amounts<'t>(case: &Case<'t>) -> impl Iterator<Item = Amount<'t>> {
    let cited = case.cited.iter().enumerate();
    cited
        .flat_map(|(item, source)| amounts(source.reading, source.reading.atoms.iter(), Some(item)))
}

/// Whether the cited text has the number, above or below zero, in any unit.
fn is_cited(case: &Case<'_>, n: &Number) -> bool {
    let mut cited = case.cited.iter();
    cited.any(|s| numbers(s.reading.atoms.iter()).any(|m| a::same(n.value.abs(), m.value.abs())))
}

/// Two amounts of one sentence that are added or subtracted.
fn of_one_sentence(cited: &[Amount<'_>], wanted: f64) -> Option<[String; 2]> {
    cited.iter().enumerate().find_map(|(i, x)| {
        let mut others = cited.iter().skip(i + 1).filter(|y| y.place == x.place);
        let found = others.find(|y| is_added(x, y, wanted))?;
        Some([x.shown, found.shown].map(str::to_owned))
    })
}

/// A small multiple of an amount whose count stands in words that are not read.
fn repeated(own: &[Amount<'_>], wanted: f64) -> Option<[String; 2]> {
    own.iter().find_map(|x| {
        let count = wanted / x.value;
        let is_count = is_whole(count) && (2.0..=LARGEST_COUNT).contains(&count);
        is_count.then(|| [count.to_string(), x.shown.to_owned()])
    })
}

/// "16 adults at 38 and 4 children at 19": two products, added up.
fn sum_of_products(own: &[Amount<'_>], wanted: f64) -> Option<[String; 2]> {
    own.windows(4).find_map(|four| {
        let [p, q, r, s] = four else { return None };
        let sum = p.value * q.value + r.value * s.value;
        let shown = |x: &Amount<'_>, y: &Amount<'_>| format!("{} × {}", x.shown, y.shown);
        a::same(sum, wanted).then(|| [shown(p, q), shown(r, s)])
    })
}

/// Whether two different amounts give the result, whatever their units are called.
fn gives(x: &Amount<'_>, y: &Amount<'_>, wanted: f64) -> bool {
    if is_added(x, y, wanted) {
        return true;
    }
    let (p, q) = (x.value, y.value);
    let is_part = q > 0.0 && q < 1.0 && a::same(p * q, wanted);
    let counts = p.min(q) >= 2.0 && (is_whole(p) || is_whole(q)) && !a::same(p, q);
    let multiplied = a::same(p * q, wanted);
    let divided = [p / q, q / p]
        .iter()
        .any(|quotient| (quotient - wanted).abs() < ROUNDING);
    is_part || counts && (multiplied || divided)
}

/// Whether two amounts of one kind have this sum or difference.
fn is_added(x: &Amount<'_>, y: &Amount<'_>, wanted: f64) -> bool {
    let units = x.number.unit.zip(y.number.unit);
    let alike = units.is_none_or(|(p, q)| a::same_kind(p, q));
    let (p, q) = (x.value, y.value);
    let is_two = q > 0.0 && !a::same(p, q);
    alike && is_two && (a::same(p + q, wanted) || a::same((p - q).abs(), wanted))
}

fn is_whole(value: f64) -> bool {
    value.fract() == 0.0
}
