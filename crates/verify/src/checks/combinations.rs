//! L4: numbers of a claim that a computation in any words may give.
//!
//! This proves nothing: it only keeps a number from being rejected because the words for its
//! computation are unknown.

use super::derive::{ClaimNumber, Operand, may_be_computed};
use super::formulas::is_cue;
use super::numbers::numbers;
use super::things::belongs_to_one;
use super::{Case, arithmetic, foreign, fractions};
use crate::atoms::{self as a, Atom, Number, OtherReading, What};
use crate::reading::Reading;

/// Maximum number of amounts of the claim, and of the cited text, that are combined.
const MOST_OWN: usize = 8;
const MOST_CITED: usize = 24;

/// A smaller number agrees with too many computations by chance.
const SMALLEST: f64 = 10.0;

/// A number with decimals, or from this on, agrees with few computations by chance.
const TELLING: f64 = 100.0;

/// A quotient may be rounded to whole numbers.
const ROUNDING: f64 = 0.5;

/// "Three tickets at 40, together 120": the largest count that no digits show.
const LARGEST_COUNT: f64 = 12.0;

/// An amount, as people may read it and its value.
#[derive(Clone, Copy)]
struct CombinedAmount<'t> {
    reading: &'t Reading,
    atom: &'t Atom,
    shown: &'t str,
    number: &'t Number,
    value: f64,
    /// Whether the claim computes it from the cited text.
    is_explained: bool,
    /// Whether it is the value as written, or the digits read as a whole number.
    is_plain: bool,
    /// The item of the cited text; `None` in the claim.
    item: Option<usize>,
}

/// Two amounts that may give the result: one that the claim has beside it, and another of the claim
/// or of the cited text; or any of the cited text, if the number is no small one or the claim
/// says that it computes.
pub(super) fn possible(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<[String; 2]> {
    let n = result.number;
    if !may_be_computed(n) || case.has_many_atoms() {
        return None;
    }
    let mut wanted = values(n).into_iter().flatten();
    wanted.find_map(|wanted| of_value(case, result, wanted.abs()))
}

fn of_value(case: &Case<'_>, result: ClaimNumber<'_>, wanted: f64) -> Option<[String; 2]> {
    let n = result.number;
    let beside = case.claim.atoms.iter();
    let beside = beside.filter(|atom| atom.bytes != result.atom.bytes);
    let beside: Vec<CombinedAmount<'_>> =
        amounts(case.claim, beside, None).take(MOST_OWN).collect();
    let cited: Vec<CombinedAmount<'_>> = cited_amounts(case).take(MOST_CITED).collect();
    let own = known(case, &beside, &cited, n);
    if wanted < SMALLEST && is_whole(wanted) {
        return product_before(&own, result, wanted);
    }
    // The same value in another unit is no computation.
    if cited.iter().any(|x| a::same(x.value, wanted)) {
        return None;
    }
    let mut with_own = own.iter().flat_map(|x| {
        let others = cited.iter().chain(&own);
        others.map(move |y| (x, y))
    });
    // "2,900 came in and 380 went out, so 2,520 are left": amounts that the claim computed itself.
    let is_shown = |x: &CombinedAmount<'_>| x.item.is_none() && !is_cited(case, x.number);
    let found = with_own.find(|(x, y)| {
        gives(x, y, wanted)
            && (fits(case, result, x, y) || (is_shown(x) || is_shown(y)) && is_added(x, y, wanted))
    });
    let found = found.map(|(x, y)| [x.shown, y.shown].map(str::to_owned));
    let computes = || case.claim.text.tokens.iter().any(|t| is_cue(case.claim, t));
    found
        .or_else(|| {
            fractions::part(
                case,
                cited.iter().chain(&own).map(|x| (x.shown, x.value)),
                wanted,
            )
        })
        .or_else(|| sum_of_products(&beside, wanted))
        .or_else(|| repeated(&own, wanted).filter(|_| computes()))
        .or_else(|| {
            let is_exact = wanted >= TELLING || !is_whole(wanted);
            let may = (is_exact || computes())
                && wanted > 1.0
                && (is_whole(wanted) || a::same(wanted, n.value.abs()));
            let plain: Vec<CombinedAmount<'_>> =
                cited.iter().filter(|x| x.is_plain).copied().collect();
            may.then(|| anywhere(case, (&plain, &own), result, wanted))
                .flatten()
        })
}

/// The amounts of the claim that the cited text or the question has, or whose sum the cited text has,
/// and the amounts of the question; in their own unit and in that of the result.
fn known<'t>(
    case: &Case<'t>,
    beside: &[CombinedAmount<'t>],
    cited: &[CombinedAmount<'t>],
    n: &Number,
) -> Vec<CombinedAmount<'t>> {
    let asked = amounts(case.asked, case.asked.atoms.iter(), None);
    let asked: Vec<CombinedAmount<'t>> = asked.take(MOST_OWN).collect();
    let is_known = |x: &&CombinedAmount<'t>| {
        x.is_explained
            || is_cited(case, x.number)
            || foreign::has_numeral(case, x.number)
            || asked.iter().any(|y| a::same(x.value, y.value))
            || asked
                .iter()
                .any(|y| cited.iter().any(|z| is_added(y, z, x.value)))
            || x.value >= TELLING && sum_in_a_row(cited, x.value).is_some()
    };
    let own = beside.iter().filter(is_known);
    let all: Vec<CombinedAmount<'t>> = own.chain(&asked).copied().collect();
    all.iter().flat_map(|x| in_units(&all, n, x)).collect()
}

/// Two amounts before a small result whose product it is: "ten miles at 60 p make £6". A small number
/// agrees with other computations by chance.
fn product_before(
    own: &[CombinedAmount<'_>],
    result: ClaimNumber<'_>,
    wanted: f64,
) -> Option<[String; 2]> {
    let is_measured = result.number.unit.is_some();
    let is_before = |x: &&CombinedAmount<'_>| x.atom.bytes.end <= result.atom.bytes.start;
    let mut pairs = own.windows(2).filter(|_| is_measured);
    let found = pairs.find(|pair| {
        pair.iter().filter(is_before).count() == 2 && a::same(pair[0].value * pair[1].value, wanted)
    })?;
    Some([found[0].shown, found[1].shown].map(str::to_owned))
}

/// Whether the claim does not give the result to a thing that has another number.
fn fits(
    case: &Case<'_>,
    result: ClaimNumber<'_>,
    x: &CombinedAmount<'_>,
    y: &CombinedAmount<'_>,
) -> bool {
    let [x, y] = [x, y].map(|amount| Operand {
        reading: amount.reading,
        atom: amount.atom,
        number: *amount.number,
        shown: amount.shown,
    });
    !belongs_to_one(case, result, [&x, &y])
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
) -> impl Iterator<Item = CombinedAmount<'t>> {
    let numbers = atoms.filter_map(move |atom| match &atom.what {
        What::Number(m) if !m.ordinal => Some((atom, m)),
        _ => None,
    });
    numbers.flat_map(move |(atom, number)| {
        let values = values(number).into_iter().flatten();
        values.map(move |value| CombinedAmount {
            reading,
            atom,
            shown: reading.shown_amount(atom),
            number,
            value: value.abs(),
            is_explained: reading.is_explained(atom.tokens.start),
            is_plain: is_whole(value) || a::same(value, number.value),
            item,
        })
    })
}

fn cited_amounts<'t>(case: &Case<'t>) -> impl Iterator<Item = CombinedAmount<'t>> {
    let cited = case.cited.iter().enumerate();
    cited
        .flat_map(|(item, source)| amounts(source.reading, source.reading.atoms.iter(), Some(item)))
}

/// Whether the cited text has the number, above or below zero, in any unit.
fn is_cited(case: &Case<'_>, n: &Number) -> bool {
    let mut cited = case.cited.iter();
    cited.any(|s| numbers(s.reading.atoms.iter()).any(|m| a::same(n.value.abs(), m.value.abs())))
}

/// Any two amounts of one item, or three, that give the result.
fn anywhere(
    case: &Case<'_>,
    (cited, own): (&[CombinedAmount<'_>], &[CombinedAmount<'_>]),
    result: ClaimNumber<'_>,
    wanted: f64,
) -> Option<[String; 2]> {
    let n = result.number;
    let all: Vec<CombinedAmount<'_>> = cited.iter().flat_map(|x| in_units(cited, n, x)).collect();
    let mut pairs = all.iter().enumerate().flat_map(|(i, x)| {
        let others = all.iter().skip(i + 1);
        let others = others.filter(|y| y.item == x.item && !std::ptr::eq(x.number, y.number));
        others.map(move |y| (x, y))
    });
    let found = pairs.find(|(x, y)| {
        let product = x.value.min(y.value) >= 2.0 && a::same(x.value * y.value, wanted);
        let is_computed = is_added(x, y, wanted) || product;
        is_share_of(x, y, wanted) || is_computed && fits(case, result, x, y)
    });
    let found = found.map(|(x, y)| [x.shown, y.shown].map(str::to_owned));
    found
        .or_else(|| sum_in_a_row(cited, wanted))
        .or_else(|| half(cited, wanted))
        .or_else(|| product_and_more(own, &all, wanted))
}

/// An amount in the unit of the result, and one without a unit in every unit that the text has.
fn in_units<'t>(
    cited: &[CombinedAmount<'t>],
    n: &Number,
    x: &CombinedAmount<'t>,
) -> Vec<CombinedAmount<'t>> {
    let factor = |m: &Number| arithmetic::in_unit_of(n, &Number { value: 1.0, ..*m });
    let mut factors: Vec<f64> = vec![1.0];
    match x.number.unit {
        Some(_) => factors.extend(factor(x.number)),
        None => factors.extend(cited.iter().filter_map(|y| factor(y.number)).take(2)),
    }
    factors.sort_by(f64::total_cmp);
    factors.dedup();
    let scaled = factors.into_iter().map(|by| CombinedAmount {
        value: x.value * by,
        ..*x
    });
    scaled.collect()
}

/// Whether the result is a share of an amount, or the amount with the share added or taken off:
/// "7,200, and 21 % tax" gives 8,712.
fn is_share_of(x: &CombinedAmount<'_>, y: &CombinedAmount<'_>, wanted: f64) -> bool {
    [(x, y), (y, x)].into_iter().any(|(whole, share)| {
        let by = share.value / 100.0;
        let ways = [by, 1.0 + by, 1.0 - by];
        let is_percentage = arithmetic::is_measured_in(share.number, arithmetic::PERCENT);
        is_percentage && ways.iter().any(|by| a::same(whole.value * by, wanted))
    })
}

/// The sum of amounts that follow each other; all in their first reading, or in the other one where
/// they have two.
fn sum_in_a_row(cited: &[CombinedAmount<'_>], wanted: f64) -> Option<[String; 2]> {
    let readings = cited.chunk_by(|x, y| std::ptr::eq(x.number, y.number));
    let readings: Vec<&[CombinedAmount<'_>]> = readings.collect();
    let first = readings.iter().filter_map(|same| same.first());
    let other = readings.iter().filter_map(|same| same.last());
    let (first, other): (Vec<_>, Vec<_>) = (first.collect(), other.collect());
    sum_of_neighbours(&first, wanted).or_else(|| sum_of_neighbours(&other, wanted))
}

fn sum_of_neighbours(amounts: &[&CombinedAmount<'_>], wanted: f64) -> Option<[String; 2]> {
    (0..amounts.len()).find_map(|from| {
        let mut sum = 0.0;
        let mut rest = amounts.get(from..).unwrap_or(&[]).iter();
        let last = rest.find(|x| {
            sum += x.value;
            a::same(sum, wanted)
        })?;
        let first = amounts.get(from)?;
        let is_pair = amounts
            .get(from + 1)
            .is_some_and(|x| std::ptr::eq(x.atom, last.atom));
        let more = if is_pair { "" } else { " + …" };
        Some([format!("{}{more}", first.shown), last.shown.to_owned()])
    })
}

/// Half of an amount, if it is not a whole number.
fn half(cited: &[CombinedAmount<'_>], wanted: f64) -> Option<[String; 2]> {
    let mut halves = cited.iter().filter(|_| !is_whole(wanted));
    let found = halves.find(|x| a::same(x.value / 2.0, wanted))?;
    Some([found.shown.to_owned(), "2".to_owned()])
}

/// "2.5 hours at 78, and parts for 140": a product with a third amount, two of which the claim has.
fn product_and_more(
    own: &[CombinedAmount<'_>],
    all: &[CombinedAmount<'_>],
    wanted: f64,
) -> Option<[String; 2]> {
    own.iter().find_map(|x| {
        let mut others = own.iter().filter(|z| !std::ptr::eq(x.number, z.number));
        others.find_map(|z| {
            let is_left = |y: &&CombinedAmount<'_>| a::same(x.value * y.value + z.value, wanted);
            let y = all.iter().find(is_left)?;
            let is_same = a::same(y.value, z.value) || a::same(y.value, x.value);
            let shown = format!("{} × {}", x.shown, y.shown);
            (!is_same).then(|| [shown, z.shown.to_owned()])
        })
    })
}

/// A small multiple of an amount whose count stands in words that are not read.
fn repeated(own: &[CombinedAmount<'_>], wanted: f64) -> Option<[String; 2]> {
    own.iter().find_map(|x| {
        let count = wanted / x.value;
        let is_count = is_whole(count) && (2.0..=LARGEST_COUNT).contains(&count);
        is_count.then(|| [count.to_string(), x.shown.to_owned()])
    })
}

/// "16 adults at 38 and 4 children at 19": two products, added up.
fn sum_of_products(own: &[CombinedAmount<'_>], wanted: f64) -> Option<[String; 2]> {
    own.windows(4).find_map(|four| {
        let [p, q, r, s] = four else { return None };
        let sum = p.value * q.value + r.value * s.value;
        let shown =
            |x: &CombinedAmount<'_>, y: &CombinedAmount<'_>| format!("{} × {}", x.shown, y.shown);
        a::same(sum, wanted).then(|| [shown(p, q), shown(r, s)])
    })
}

/// Whether two different amounts give the result, whatever their units are called.
fn gives(x: &CombinedAmount<'_>, y: &CombinedAmount<'_>, wanted: f64) -> bool {
    if is_added(x, y, wanted) {
        return true;
    }
    let (p, q) = (x.value, y.value);
    let is_part = q > 0.0 && q < 1.0 && a::same(p * q, wanted);
    let counts = p.min(q) >= 2.0 && (is_whole(p) || is_whole(q)) && !a::same(p, q);
    let multiplied = a::same(p * q, wanted);
    let divided = [p / q, q / p]
        .iter()
        .any(|quotient| (quotient - wanted).abs() < rounding(wanted));
    is_part || counts && (multiplied || divided)
}

/// Whether two amounts of one kind have this sum or difference.
fn is_added(x: &CombinedAmount<'_>, y: &CombinedAmount<'_>, wanted: f64) -> bool {
    let units = x.number.unit.zip(y.number.unit);
    let alike = units.is_none_or(|(p, q)| a::same_kind(p, q));
    let (p, q) = (x.value, y.value);
    let is_two = q > 0.0 && !a::same(p, q);
    alike && is_two && (a::same(p + q, wanted) || a::same((p - q).abs(), wanted))
}

/// By how much a quotient may differ that is rounded to the digits of the result.
fn rounding(wanted: f64) -> f64 {
    match is_whole(wanted) {
        true => ROUNDING,
        false => ROUNDING / 10.0,
    }
}

fn is_whole(value: f64) -> bool {
    value.fract() == 0.0
}
