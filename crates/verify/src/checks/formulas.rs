//! L4: numbers of a claim that a short formula gives from amounts of the cited text. The claim says by
//! a word what it computes ("together", "left", "each", "average"), or names all amounts.
//!
//! Many numbers are a sum or a difference of something. So a number is computed only if the claim
//! names what the amounts belong to. Otherwise it is only possible, which is a doubt.

use super::Case;
use super::arithmetic::{self, PERCENT, ResultWording};
use super::derive::{ClaimNumber, may_be_computed, shown_result, wording};
use super::greater::{self, Direction};
use super::operands::{Candidate, are_told_apart, candidates, unnamed};
use super::things::{belongs_to_one, is_word_of_computing, is_word_of_difference};
use crate::atoms::{self as a, Bound, Number, UnitKind, What};
use crate::derivation::{Derivation, Operation};
use crate::reading::Reading;
use crate::text::Token;
use local_agent_text::markdown::BlockRole;

/// Maximum number of amounts that are combined without being named.
const MOST_UNNAMED: usize = 16;

/// What the words of a claim say about how it computes.
#[derive(Debug, Clone, Copy, Default)]
struct Cues {
    total: bool,
    difference: bool,
    each: bool,
    average: bool,
    product: bool,
    /// Whether the result is a percentage by which something grew (true) or shrank: no share.
    growth: Option<bool>,
}

/// The same for one number of the claim.
fn cues_for(case: &Case<'_>, result: ClaimNumber<'_>) -> Cues {
    let mut cues = cues(case.claim);
    cues.difference |= is_behind_by(case.claim, result);
    let is_percentage = arithmetic::is_measured_in(result.number, PERCENT);
    cues.growth = is_percentage
        .then(|| greater::change(case.claim, result))
        .flatten();
    cues
}

fn cues(claim: &Reading) -> Cues {
    const LEFT: &[&str] = list!("formulas.left");
    const AVERAGE: &[&str] = list!("formulas.average");
    const EACH: &[&str] = list!("derive.each");
    const PRODUCTS: &[&str] = list!("formulas.products");
    const TOTALS: &[&str] = list!("derive.total-phrases");
    const CHANGES: &[&str] = list!("formulas.changes");
    const ONE: &[&str] = list!("formulas.one");
    const SIGNS: &[&str] = list!("formulas.signs");
    let mut out = Cues::default();
    for token in &claim.text.tokens {
        let word = &*claim.lower_word(token);
        let difference = is_word_of_difference(claim, token);
        out.difference |= difference || LEFT.contains(&word) || CHANGES.contains(&word);
        out.total |= is_word_of_computing(claim, token) && !difference;
        out.each |= EACH.contains(&word);
        out.average |= AVERAGE.contains(&word);
        out.product |= PRODUCTS.contains(&word);
    }
    let mut pairs = claim.text.tokens.windows(2);
    // "a litre costs 2 euros".
    out.each |= pairs.any(|two| {
        let [one, unit] = two else { return false };
        ONE.contains(&&*claim.lower_word(one)) && a::unit(&claim.lower_word(unit)).is_some()
    });
    out.total |= TOTALS.iter().any(|phrase| claim.lower().contains(phrase));
    out.difference |= SIGNS.iter().any(|sign| claim.lower().contains(sign));
    out
}

/// Whether a word only says that or how a claim computes: "together", "left".
pub(super) fn is_cue(claim: &Reading, token: &Token) -> bool {
    const LEFT: &[&str] = list!("formulas.left");
    const AVERAGE: &[&str] = list!("formulas.average");
    let word = &*claim.lower_word(token);
    is_word_of_computing(claim, token) || LEFT.contains(&word) || AVERAGE.contains(&word)
}

/// A way to compute the result.
struct Formula {
    operation: Operation,
    from: Vec<String>,
}

/// Computes a number of the claim from amounts of the cited text that the claim names.
pub(super) fn derived(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<Derivation> {
    let n = result.number;
    if !may_be_computed(n) || case.has_many_atoms() {
        return None;
    }
    let (cues, wording) = (cues_for(case, result), wording(case.claim, result));
    let all = candidates(case, result);
    // An average of some of the amounts of a sentence is none of them all.
    let several = Cues {
        average: false,
        ..cues
    };
    let found = pairs(&all)
        .filter(|[x, y]| x.goes_with(y))
        .find_map(|[x, y]| {
            let found = of_two(n, cues, wording, x, y)?;
            let from = [x, y].map(|c| c.operand.shown);
            let grows = cues.growth.is_some();
            if grows && greater::of_amounts(case, result, from) != Direction::Shown {
                return None;
            }
            let fits = found.operation != Operation::Sum || are_told_apart(&all, &[x, y]);
            fits.then_some(found)
        })
        .or_else(|| of_many(n, several, wording, &all))
        .or_else(|| average_of_named(n, cues, wording, &all))
        .or_else(|| all.iter().find_map(|x| of_rate(n, x)))
        .or_else(|| in_a_column(n, cues, &all))?;
    Some(Derivation {
        operation: found.operation,
        from: found.from,
        result: shown_result(case.claim, n),
    })
}

/// The difference of two amounts of one column whose rows the claim names. Their unit may stand in the
/// header only.
fn in_a_column(n: &Number, cues: Cues, all: &[Candidate<'_>]) -> Option<Formula> {
    if arithmetic::is_measured_in(n, PERCENT) {
        return None;
    }
    let mut both = pairs(all).filter(|[x, y]| x.is_named && y.is_named && x.place != y.place);
    let [x, y] = both.find(|[x, y]| {
        let column = column_of(x);
        let [p, q] = [x, y].map(|c| *in_unit(c, n).number());
        let values = arithmetic::in_one_unit(n, false, &[&p, &q]);
        cues.difference
            && column.is_some()
            && column == column_of(y)
            && values.is_some_and(|v| matches!(v[..], [p, q] if a::same((p - q).abs(), n.value)))
    })?;
    Some(formula(Operation::Difference, [x, y]))
}

/// The number of the cell of an amount in its row; `None` outside a table.
fn column_of(amount: &Candidate<'_>) -> Option<usize> {
    let (reading, atom) = (amount.operand.reading, amount.operand.atom);
    let row = reading.sentence(reading.sentence_of(atom.tokens.start))?;
    let before = reading.normal.get(row.bytes.start..atom.bytes.start)?;
    let bars = before.matches('|').count();
    (row.role == BlockRole::TableRow && bars > 0).then_some(bars)
}

/// Two amounts of the cited text or of the claim whose difference or sum is the result, if the claim
/// has a word by which it computes. The result may agree by chance.
pub(super) fn guessed(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<[String; 2]> {
    const SMALLEST: f64 = 10.0;
    let n = result.number;
    let by_chance = n.unit.is_none() && n.value < SMALLEST && n.value.fract() == 0.0;
    if !may_be_computed(n) || case.has_many_atoms() || by_chance {
        return None;
    }
    let cues = cues_for(case, result);
    if !(cues.difference || cues.total) {
        return None;
    }
    let own = case
        .claim
        .atoms
        .iter()
        .filter(|own| own.bytes != result.atom.bytes);
    let own = own.map(|atom| (case.claim, atom));
    let cited = case.cited.iter().flat_map(|source| {
        let atoms = source.reading.atoms.iter();
        atoms.map(|atom| (source.reading, atom))
    });
    let all = own
        .chain(cited)
        .filter_map(|(reading, atom)| match &atom.what {
            What::Number(m) if !m.ordinal => {
                let value = match n.unit.and(m.unit) {
                    Some(_) => arithmetic::in_unit_of(n, m)?,
                    None => m.value,
                };
                Some((value, reading.shown_amount(atom)))
            }
            _ => None,
        });
    let all: Vec<(f64, &str)> = all.take(MOST_GUESSED).collect();
    let mut found = all.iter().enumerate().flat_map(|(at, x)| {
        let others = all.iter().skip(at + 1);
        others.map(move |y| (x, y))
    });
    let (x, y) = found.find(|(x, y)| {
        let is_sum = cues.total && a::same(x.0 + y.0, n.value);
        let is_difference = cues.difference && a::same((x.0 - y.0).abs(), n.value);
        x.0 > 0.0 && y.0 > 0.0 && (is_sum || is_difference)
    })?;
    Some([x.1, y.1].map(str::to_owned))
}

/// Maximum number of amounts that are combined to guess how a number was computed.
const MOST_GUESSED: usize = 64;

/// Two amounts that may give the result, although the claim does not name both.
pub(super) fn possible(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<[String; 2]> {
    let n = result.number;
    if n.ordinal || case.has_many_atoms() {
        return None;
    }
    let mut cues = cues_for(case, result);
    let mut wording = wording(case.claim, result);
    let named = candidates(case, result);
    let anyhow = Cues {
        total: true,
        difference: true,
        product: true,
        ..cues
    };
    let found = pairs(&named)
        .filter(|[x, y]| x.goes_with(y))
        // "9 of the people": a part of what one of them counts.
        .filter(|[x, y]| {
            wording.is_share || !belongs_to_one(case, result, [&x.operand, &y.operand])
        })
        .find_map(|[x, y]| of_two(n, anyhow, wording, x, y))
        .or_else(|| of_many(n, anyhow, wording, &named))
        .or_else(|| pairs(&named).find_map(|[x, y]| quotient_of_counts(n, x, y)));
    let found = found.or_else(|| {
        cues.product = cues.total;
        let all: Vec<Candidate<'_>> = unnamed(case).take(MOST_UNNAMED).collect();
        wording.is_bare = true;
        let mut found = pairs(&all).filter(|[x, y]| n.unit.is_some() || x.place == y.place);
        found
            .find_map(|[x, y]| of_two(n, cues, wording, &in_unit(x, n), &in_unit(y, n)))
            .or_else(|| of_a_group(n, cues, wording, n.unit.map_or(&[], |_| &all)))
    })?;
    let mut from = found.from.into_iter();
    Some([from.next()?, from.next()?])
}

/// An amount without a unit in the unit of the result: "we have done 4 of the 6 hours".
fn in_unit<'t>(c: &Candidate<'t>, n: &Number) -> Candidate<'t> {
    let mut out = *c;
    out.operand.number.unit = c.number().unit.or(n.unit);
    out
}

/// Whether "by" is directly before the result: "it went down by 8".
fn is_behind_by(claim: &Reading, result: ClaimNumber<'_>) -> bool {
    const BY: &[&str] = list!("formulas.by");
    let before = result.atom.tokens.start.checked_sub(1);
    let before = before.and_then(|at| claim.text.tokens.get(at));
    before.is_some_and(|t| BY.contains(&&*claim.lower_word(t)))
}

fn pairs<'c, 't>(
    all: &'c [Candidate<'t>],
) -> impl Iterator<Item = [&'c Candidate<'t>; 2]> + use<'c, 't> {
    let each = all.iter().enumerate();
    each.flat_map(|(at, x)| all.iter().skip(at + 1).map(move |y| [x, y]))
}

fn formula<const N: usize>(operation: Operation, from: [&Candidate<'_>; N]) -> Formula {
    Formula {
        operation,
        from: from.map(|c| c.operand.shown.to_owned()).to_vec(),
    }
}

/// How the result follows from two amounts, if the claim says that it computes in this way.
fn of_two<'t>(
    n: &Number,
    cues: Cues,
    wording: ResultWording,
    x: &Candidate<'t>,
    y: &Candidate<'t>,
) -> Option<Formula> {
    let (p, q) = (x.number(), y.number());
    if let Some(values) = arithmetic::in_one_unit(n, wording.is_bare, &[p, q]) {
        let [p, q] = [values.first().copied()?, values.get(1).copied()?];
        if cues.difference && is_result(n, (p - q).abs(), 0.0) && !a::same(p, q) {
            let from = if p < q { [y, x] } else { [x, y] };
            return Some(formula(Operation::Difference, from));
        }
        if cues.total && is_result(n, p + q, 0.0) {
            return Some(formula(Operation::Sum, [x, y]));
        }
    }
    let both = [(x, y), (y, x)];
    if let Some(is_more) = cues.growth {
        if let Some(found) = of_growth(n, is_more, x, y) {
            return Some(found);
        }
    } else if let Some((small, large)) = both.into_iter().find(|(s, l)| is_share(n, s, l)) {
        return Some(formula(Operation::Ratio, [small, large]));
    }
    if let Some(found) = of_two_lengths(n, x, y) {
        return Some(found);
    }
    let is_each = cues.each || cues.average;
    both.into_iter().find_map(|(count, amount)| {
        let by = as_count(count.number())?;
        let of = same_unit(n, amount.number())?;
        if (cues.total || cues.each || cues.product) && is_result(n, of * by, 0.0) {
            return Some(formula(Operation::Product, [count, amount]));
        }
        (is_each && is_result(n, of / by, ROUNDING))
            .then(|| formula(Operation::Ratio, [amount, count]))
    })
}

/// The percentage by which the smaller of two amounts grew, or the larger one shrank.
fn of_growth(n: &Number, is_more: bool, x: &Candidate<'_>, y: &Candidate<'_>) -> Option<Formula> {
    let percent = arithmetic::growth(x.number(), y.number(), is_more)?;
    if !is_result(n, percent, ROUNDING) {
        return None;
    }
    let is_first = arithmetic::in_unit_of(x.number(), y.number())? > x.number().value;
    let (small, large) = if is_first { (x, y) } else { (y, x) };
    let base = if is_more { small } else { large };
    let [small, large, base] = [small, large, base].map(|c| c.operand.shown);
    Some(Formula {
        operation: Operation::Ratio,
        from: vec![format!("({large} − {small})"), base.to_owned()],
    })
}

/// A count that is the quotient of two counts which the claim names: 10 cakes for 120 guests, where one
/// is enough for 12.
fn quotient_of_counts(n: &Number, x: &Candidate<'_>, y: &Candidate<'_>) -> Option<Formula> {
    let result = as_count(n).filter(|_| x.is_named && y.is_named)?;
    let (p, q) = (as_count(x.number())?, as_count(y.number())?);
    if a::same(result * q, p) {
        return Some(formula(Operation::Ratio, [x, y]));
    }
    a::same(result * p, q).then(|| formula(Operation::Ratio, [y, x]))
}

/// An area as the product of two lengths of one sentence.
fn of_two_lengths(n: &Number, x: &Candidate<'_>, y: &Candidate<'_>) -> Option<Formula> {
    let metres = |m: &Number| match m.unit {
        Some([(UnitKind::Length, size)]) => Some(m.value * size),
        _ => None,
    };
    let Some([(UnitKind::Area, size)]) = n.unit else {
        return None;
    };
    let area = metres(x.number())? * metres(y.number())? / size;
    let fits = x.place == y.place && is_result(n, area, ROUNDING);
    fits.then(|| formula(Operation::Product, [x, y]))
}

/// A share of a number that is rounded to whole numbers may be off by this much.
const ROUNDING: f64 = 0.5;

/// Whether a computed value is the result. A result with decimals is rounded to them; with whole
/// numbers, by at most `rounding`.
fn is_result(n: &Number, value: f64, rounding: f64) -> bool {
    if n.bound == Some(Bound::About) {
        return (value - n.value).abs() <= arithmetic::about(n);
    }
    let digits = [1.0, 10.0, 100.0];
    let place = digits
        .into_iter()
        .find(|by| a::same((n.value * by).fract(), 0.0));
    let off = match place {
        Some(by) if rounding > 0.0 && (by > 1.0 || n.value.abs() >= 10.0) => rounding / by,
        _ => 0.0,
    };
    a::same(value, n.value) || (value - n.value).abs() < off
}

/// Whether the mean of all amounts of a group is the result, rounded to its digits.
pub(super) fn is_mean(n: &Number, mean: f64) -> bool {
    is_result(n, mean, ROUNDING)
}

/// The number of things that an amount without a unit counts.
fn as_count(n: &Number) -> Option<f64> {
    let counts = n.unit.is_none() && n.per.is_none() && n.value.fract() == 0.0;
    (counts && n.value > 1.0).then_some(n.value)
}

/// `m` in the unit of `n`, if both have one.
fn same_unit(n: &Number, m: &Number) -> Option<f64> {
    let measured = n.unit.is_some() && m.unit.is_some();
    arithmetic::in_unit_of(n, m).filter(|_| measured)
}

/// Whether `n` is the share that the first amount is of the second: "75 %", "three quarters".
fn is_share(n: &Number, small: &Candidate<'_>, large: &Candidate<'_>) -> bool {
    let (p, q) = (small.number(), large.number());
    let is_percentage = arithmetic::is_measured_in(n, PERCENT);
    let in_words = n.unit.is_none() && n.words && n.value < 1.0;
    let Some(whole) = arithmetic::in_unit_of(p, q) else {
        return false;
    };
    let fits = p.value > 0.0 && p.value < whole && p.value >= 1.0;
    match (is_percentage, in_words) {
        _ if !fits => false,
        (true, _) => is_result(n, 100.0 * p.value / whole, ROUNDING),
        (_, true) => is_result(n, p.value / whole, 0.0),
        _ => false,
    }
}

/// How the result follows from three amounts or more of one sentence, or that the claim names: their
/// sum, their average, or one amount without two others.
fn of_many(
    n: &Number,
    cues: Cues,
    wording: ResultWording,
    all: &[Candidate<'_>],
) -> Option<Formula> {
    let mut sorted = all.to_vec();
    sorted.sort_by_key(|c| c.place);
    sorted
        .chunk_by(|x, y| x.place == y.place)
        .find_map(|own| of_a_group(n, cues, wording, own))
        .or_else(|| {
            let named: Vec<Candidate<'_>> = all.iter().filter(|c| c.is_named).copied().collect();
            of_a_group(n, cues, wording, &named)
        })
}

/// The average of all amounts that the claim names, if it says that it computes one.
fn average_of_named(
    n: &Number,
    cues: Cues,
    wording: ResultWording,
    all: &[Candidate<'_>],
) -> Option<Formula> {
    let named: Vec<&Candidate<'_>> = all.iter().filter(|c| c.is_named).collect();
    let is_average = cues.average && named.len() > 1 && is_average(n, wording, &named);
    is_average.then(|| Formula {
        operation: Operation::Average,
        from: named.iter().map(|c| c.operand.shown.to_owned()).collect(),
    })
}

/// Maximum number of amounts of which three are chosen.
const MOST_OF_THREE: usize = 8;

fn of_a_group(
    n: &Number,
    cues: Cues,
    wording: ResultWording,
    all: &[Candidate<'_>],
) -> Option<Formula> {
    let all = all.get(..MOST_OF_THREE).unwrap_or(all);
    if cues.average {
        let found = pairs(all).find(|[x, y]| is_average(n, wording, &[x, y]));
        if let Some(two) = found {
            return Some(formula(Operation::Average, two));
        }
    }
    for (i, x) in all.iter().enumerate() {
        for (j, y) in all.iter().enumerate().skip(i + 1) {
            for z in all.iter().skip(j + 1) {
                if let Some(found) = of_three(n, cues, wording, [x, y, z]) {
                    return Some(found);
                }
            }
        }
    }
    None
}

fn of_three(
    n: &Number,
    cues: Cues,
    wording: ResultWording,
    three: [&Candidate<'_>; 3],
) -> Option<Formula> {
    if cues.average && is_average(n, wording, &three) {
        return Some(formula(Operation::Average, three));
    }
    let numbers = three.map(Candidate::number);
    let values = arithmetic::in_one_unit(n, wording.is_bare, &numbers)?;
    let sum: f64 = values.iter().sum();
    if cues.total && is_result(n, sum, 0.0) {
        return Some(formula(Operation::Sum, three));
    }
    // One amount without the two others, or two without the third.
    let first = values.iter().position(|other| {
        is_result(n, 2.0 * other - sum, 0.0) || is_result(n, sum - 2.0 * other, 0.0)
    });
    let whole = first.filter(|_| cues.difference && n.value > 0.0 && n.unit.is_some())?;
    let mut from = three;
    let one = values.get(whole).copied().unwrap_or(0.0);
    if is_result(n, 2.0 * one - sum, 0.0) {
        from.swap(0, whole);
        return Some(formula(Operation::Difference, from));
    }
    from.swap(2, whole);
    let [x, y, z] = from.map(|c| c.operand.shown.to_owned());
    Some(Formula {
        operation: Operation::Difference,
        from: vec![format!("{x} + {y}"), z],
    })
}

fn is_average(n: &Number, wording: ResultWording, all: &[&Candidate<'_>]) -> bool {
    let numbers: Vec<&Number> = all.iter().map(|c| c.number()).collect();
    let Some(values) = arithmetic::in_one_unit(n, wording.is_bare, &numbers) else {
        return false;
    };
    let sum: f64 = values.iter().sum();
    is_result(n, sum / super::as_float(all.len()), ROUNDING / 10.0)
}

/// The same rate per another unit: "5 euros a month" for 60 euros a year.
fn of_rate(n: &Number, x: &Candidate<'_>) -> Option<Formula> {
    let m = x.number();
    let (own, other) = (n.per?, m.per?);
    let amount = same_unit(n, m)?;
    let periods = other
        .iter()
        .find_map(|(kind, size)| {
            let same = own.iter().find(|(k, _)| k == kind)?;
            Some(size / same.1)
        })
        .filter(|periods| !a::same(*periods, 1.0))?;
    let divided = is_result(n, amount / periods, ROUNDING);
    let (operation, by) = match periods > 1.0 {
        true => (Operation::Ratio, periods),
        false => (Operation::Product, 1.0 / periods),
    };
    divided.then(|| Formula {
        operation,
        from: vec![x.operand.shown.to_owned(), by.to_string()],
    })
}
