//! L4: a number in a claim appears in the cited text, counts the same thing and has the same bound.

use super::align::Alignment;
use super::arithmetic::{self, PERCENT};
use super::atoms::{all, readings};
use super::derive::ClaimNumber;
use super::greater::{self, Direction};
use super::literals::{Standing, standing};
use super::{
    Case, Effect, bounds, column_units, combinations, counts, derive, durations, equations,
    formulas, frequencies, language, listed_parts, month_parts, names, notations, operands,
    ordinals, rivals, totals, units_left_out,
};
use crate::atoms::{self as a, Atom, Literal, Number, What};
use crate::reading::Reading;
use crate::text::{Token, has_stem};
use crate::{Code, Derivation};
use local_agent_text::markdown::BlockRole;

/// The objection to number `n` of the claim. With `verbatim`, the claim is nearly the same as the
/// nearest sentence, so that sentence's number decides.
pub(super) fn check(
    case: &Case<'_>,
    alignment: &Alignment<'_>,
    atom: &Atom,
    n: &Number,
    verbatim: bool,
) -> Option<(Effect, Code, String)> {
    let shown = case.claim.shown_atom(atom);
    let signed = with_sign(case, atom, n);
    let n = &signed;
    let number = ClaimNumber { atom, number: n };
    if n.ordinal && n.words && !has_ordinal(case, n) {
        return ordinals::check(case, alignment, number);
    }
    match find(case, number) {
        NumberMatch::Otherwise => None,
        NumberMatch::Missing { other_unit } => {
            let rounded = || approximate(case, n) || is_about(case, n);
            let excused = !verbatim && (bounds::is_within_bound(case, n) || rounded())
                || is_assigned(case, shown)
                || is_in_code(case, shown)
                || is_compared(case, atom, n)
                || is_put_in(case, atom, n)
                || is_named_share(case, n)
                || frequencies::agrees(case, atom);
            if excused {
                return None;
            }
            if let Some(found) = derivation_of(case, number) {
                return greater::doubt(case, number, &found);
            }
            match counts::count(case, number) {
                counts::Count::Fits => None,
                counts::Count::Unknown => Some(uncounted(shown)),
                counts::Count::IsNone => Some(missing(case, alignment, number, other_unit)),
            }
        }
        NumberMatch::As(matched) => {
            if let Some(per) = n.per
                && matched.iter().all(|m| {
                    m.per
                        .is_some_and(|other| !a::equal_amounts(1.0, per, 1.0, other))
                })
            {
                return Some((
                    Effect::Rejects,
                    Code::Unit,
                    format!("The cited text gives “{shown}” per another unit."),
                ));
            }
            let near = alignment.best().filter(|_| verbatim);
            let is_open = matched.iter().all(|m| m.bound.is_none());
            let turned = bounds::turned(case.claim, atom, n);
            let bounded = bounds::agree(alignment, n, matched.clone(), near)
                || turned.is_some_and(|n| bounds::agree(alignment, &n, matched, near))
                || is_open && bounds::rises_to(case.claim, atom);
            let unsure = bounds::may_be_no_bound(case.claim, atom) || bounds::is_limited(alignment);
            let effect = match is_open && unsure {
                true => Effect::Doubts,
                false => Effect::Rejects,
            };
            (!bounded).then(|| {
                (
                    effect,
                    Code::Quantifier,
                    format!("The cited text sets another limit with “{shown}”."),
                )
            })
        }
    }
}

/// The number below zero, if the word before it is a minus: "minus 20 %". If the cited text has the
/// same words, the number is as it stands there.
fn with_sign(case: &Case<'_>, atom: &Atom, n: &Number) -> Number {
    let is_minus = |reading: &Reading, atom: &Atom, n: &Number| {
        let before = atom.tokens.start.checked_sub(1);
        let before = before.and_then(|at| reading.text.tokens.get(at));
        // "Por lo menos 20" is a limit.
        let plain = before.filter(|_| n.bound.is_none());
        plain.is_some_and(|t| MINUS.contains(&&*reading.lower_word(t)))
    };
    let stands = |reading: &Reading| {
        let mut atoms = reading.atoms.iter();
        atoms.any(|e| match &e.what {
            What::Number(m) => equal(n, m, reading) && is_minus(reading, e, m),
            _ => false,
        })
    };
    let turns = is_minus(case.claim, atom, n) && !readings(case).any(stands);
    let value = if turns { -n.value.abs() } else { n.value };
    Number { value, ..*n }
}

/// Words for a number below zero, before it.
const MINUS: &[&str] = list!("numbers.minus");

/// Whether the cited text has the ordinal: "third", and not "3 kg".
fn has_ordinal(case: &Case<'_>, n: &Number) -> bool {
    numbers(all(case)).any(|m| m.ordinal && a::same(m.value, n.value))
}

/// The doubt about a count of things that the cited text does not count.
fn uncounted(shown: &str) -> (Effect, Code, String) {
    let why = format!("The cited text does not list “{shown}” of these.");
    (Effect::Doubts, Code::Number, why)
}

/// The objection to a number that is not in the cited text. It is only a doubt if nothing disproves
/// the number: if two amounts of one passage may give it, the question has it, it numbers an item of
/// a list, or the claim draws a conclusion.
fn missing(
    case: &Case<'_>,
    alignment: &Alignment<'_>,
    number: ClaimNumber<'_>,
    other_unit: Option<&str>,
) -> (Effect, Code, String) {
    let (n, shown) = (number.number, case.claim.shown_amount(number.atom));
    if let Some(bounded) = bounds::otherwise(case, n) {
        return (Effect::Rejects, Code::Quantifier, bounded);
    }
    let possible = derive::possible(case, number)
        .or_else(|| share_of_an_amount(case, n))
        .or_else(|| formulas::possible(case, number))
        .or_else(|| durations::possible(case, number))
        .or_else(|| {
            // The same value in another unit is no computation.
            let guessed = other_unit
                .is_none()
                .then(|| combinations::possible(case, number));
            guessed.flatten()
        })
        .or_else(|| {
            let unstated = other_unit.is_none();
            unstated.then(|| formulas::guessed(case, number)).flatten()
        });
    if let Some(from) = possible {
        let (x, y) = (&from[0], &from[1]);
        let why =
            format!("“{shown}” is not in the cited text. It may be computed from “{x}” and “{y}”.");
        return (Effect::Doubts, Code::Number, why);
    }
    if is_asked(case, n) {
        let why = format!("“{shown}” is in the question, but not in the cited text.");
        return (Effect::Doubts, Code::Number, why);
    }
    if derive::numbers_an_item(case, n) {
        let why = format!("In the cited text “{shown}” is only the number of an item.");
        return (Effect::Doubts, Code::Number, why);
    }
    if other_unit.is_none() && derive::infers(case.claim) {
        let why = format!("“{shown}” is a conclusion and is not in the cited text.");
        return (Effect::Doubts, Code::Number, why);
    }
    match other_unit {
        Some(said) => {
            let why = format!("The claim says “{shown}”, but the cited text says “{said}”.");
            let effect = match is_about_the_same(case, n) {
                true => Effect::Rejects,
                false => Effect::Doubts,
            };
            (effect, Code::Unit, why)
        }
        None => (
            rivals::effect_of_number(case, alignment, n),
            Code::Number,
            nearest(alignment, n, shown),
        ),
    }
}

/// Whether a sentence that has the value with another unit has a word of the claim too, or the claim
/// has no word of the cited text.
fn is_about_the_same(case: &Case<'_>, n: &Number) -> bool {
    let words: Vec<u32> = operands::content(case.claim).into_iter().collect();
    let is_shared = |id: &&u32| readings(case).any(|reading| reading.has(**id));
    let shared: Vec<&u32> = words.iter().filter(is_shared).collect();
    shared.is_empty()
        || readings(case).any(|reading| {
            let mut same = reading.atoms.iter().filter(|e| match &e.what {
                What::Number(m) => a::same(n.value, m.value),
                _ => false,
            });
            same.any(|e| {
                let sentence = reading.tokens_of(reading.sentence_of(e.tokens.start));
                shared.iter().any(|id| has_stem(sentence, **id))
            })
        })
}

/// Whether the question has the same amount.
fn is_asked(case: &Case<'_>, n: &Number) -> bool {
    numbers(case.asked.atoms.iter())
        .any(|m| equal(n, m, case.asked) && n.unit.is_some() == m.unit.is_some())
}

/// The computation of a number of the claim from numbers of the cited text.
fn derivation_of(case: &Case<'_>, number: ClaimNumber<'_>) -> Option<Derivation> {
    if case.has_many_atoms() {
        return None;
    }
    derive::computed(case, number)
        .or_else(|| derive::difference_in_a_row(case, number))
        .or_else(|| totals::total(case, number))
        .or_else(|| formulas::derived(case, number))
        .or_else(|| durations::derived(case, number))
        .or_else(|| equations::derived(case, number))
        .or_else(|| listed_parts::sum(case, number))
        .or_else(|| listed_parts::product(case, number))
}

/// The computation of a number of the claim that is not in the cited text and follows from it; and
/// whether it is sure, because the claim does not turn its amounts round.
pub(super) fn derivation(case: &Case<'_>, atom: &Atom) -> Option<(Derivation, bool)> {
    let What::Number(n) = &atom.what else {
        return None;
    };
    let number = ClaimNumber { atom, number: n };
    match find(case, number) {
        NumberMatch::Missing { .. } => {
            let found = derivation_of(case, number)?;
            let direction = greater::direction(case, number, &found);
            let is_sure = matches!(direction, Direction::Unsaid | Direction::Shown);
            Some((found, is_sure))
        }
        NumberMatch::As(_) | NumberMatch::Otherwise => None,
    }
}

/// Where a number of the claim appears.
enum NumberMatch<'a> {
    /// The cited text has it as these numbers.
    As(Vec<&'a Number>),
    /// The cited text has it as a year, a day or a version.
    Otherwise,
    /// The cited text does not have it; it may have the same value with another unit.
    Missing { other_unit: Option<&'a str> },
}

fn find<'a>(case: &Case<'a>, number: ClaimNumber<'_>) -> NumberMatch<'a> {
    let (n, shown) = (number.number, case.claim.shown_atom(number.atom));
    let is_day = n.unit.is_none() && month_parts::names_a_day(case.claim, number.atom);
    let is_beside_a_day = is_beside_a_day(case.claim, number) && !case.has_many_atoms();
    let mut matched: Vec<&Number> = Vec::new();
    let mut other_unit = None;
    let mut is_exact = false;
    let mut same_kind = false;
    let mut is_hour = false;
    let key = shown.split(' ').next().unwrap_or(shown);
    for reading in readings(case) {
        for e in &reading.atoms {
            let there = match &e.what {
                What::Number(m) if counts_a_unit(n, m, e, reading) => {
                    matched.push(m);
                    false
                }
                What::Number(m) if is_part_of_a_name(n, m, e, reading) => false,
                What::Number(m)
                    if counts_something_else(n, m, e, reading)
                        || column_units::is_another(n, m, e, reading) =>
                {
                    other_unit = other_unit.or(Some(reading.shown_amount(e)));
                    false
                }
                What::Number(m) => {
                    if equal(n, m, reading) {
                        matched.push(m);
                        is_exact |= m.unit.is_some() || n.unit.is_none_or(|u| named(reading, u));
                    } else if a::same(n.value, m.value) && n.unit.is_some() {
                        other_unit = Some(reading.shown_amount(e));
                        same_kind |= n.unit.zip(m.unit).is_some_and(|(x, y)| a::same_kind(x, y));
                    }
                    false
                }
                What::Date(d) => {
                    n.unit.is_none() && d.year.is_some_and(|y| a::same(f64::from(y), n.value))
                        || n.unit.is_some() && is_amount_in_a_row(n, d, e, reading)
                        || (n.ordinal || is_day || is_beside_a_day && names_a_month(case, d))
                            && d.day.is_some_and(|d| a::same(f64::from(d), n.value))
                }
                What::Literal(Literal::Version { key: v, .. }) => v == key,
                What::Time(t) => {
                    is_hour |= n.unit.is_none() && counts_hours(*t, reading.shown_atom(e), n);
                    false
                }
                What::Literal(_) => false,
            };
            if there {
                return NumberMatch::Otherwise;
            }
        }
    }
    // "8-bit" where the text has "8-byte" and a bare "8" in a table.
    if matched.is_empty() || same_kind && !is_exact {
        match is_hour
            || notations::stands(case, n, shown)
            || frequencies::is_adverb(case, number.atom, n)
        {
            true => NumberMatch::Otherwise,
            false => NumberMatch::Missing { other_unit },
        }
    } else {
        NumberMatch::As(matched)
    }
}

/// Whether a number without a unit stands right behind another one or right before a date: "26 and 27",
/// "between 3 and 10 March".
fn is_beside_a_day(claim: &Reading, number: ClaimNumber<'_>) -> bool {
    const BETWEEN: &[&str] = list!("dates.between-days");
    let own = &number.atom.tokens;
    let is_joined = |from: usize, to: usize| match claim.text.tokens.get(from..to) {
        Some([]) => true,
        Some([one]) => BETWEEN.contains(&&*claim.lower_word(one)),
        _ => false,
    };
    let at = claim.atoms.partition_point(|a| a.tokens.end <= own.start);
    let before = at.checked_sub(1).and_then(|at| claim.atoms.get(at));
    let at = claim.atoms.partition_point(|a| a.tokens.start < own.end);
    let behind = claim.atoms.get(at);
    let follows = before.is_some_and(|atom| {
        let is_day = matches!(&atom.what, What::Number(n) if a::day_of(n).is_some());
        is_day && is_joined(atom.tokens.end, own.start)
    });
    let leads = behind.is_some_and(|atom| {
        let is_day = matches!(&atom.what, What::Date(d) if d.day.is_some());
        is_day && is_joined(own.end, atom.tokens.start)
    });
    number.number.unit.is_none() && (follows || leads)
}

/// Whether the claim has a date in the month of this day: "12 and 13 July, or else 26 and 27".
fn names_a_month(case: &Case<'_>, date: &a::Date) -> bool {
    let mut own = case.claim.atoms.iter();
    date.month.is_some()
        && own.any(|atom| matches!(&atom.what, What::Date(d) if d.month == date.month))
}

/// Whether four digits in a row of a table, which look like a year, are the amount: "1340".
fn is_amount_in_a_row(n: &Number, date: &a::Date, atom: &Atom, reading: &Reading) -> bool {
    let row = reading.sentence(reading.sentence_of(atom.tokens.start));
    let is_row = row.is_some_and(|row| row.role == BlockRole::TableRow);
    is_row && date.month.is_none() && date.year.is_some_and(|y| a::same(f64::from(y), n.value))
}

/// Whether a time in whole hours may count something: "2 in the morning".
fn counts_hours(time: a::Time, shown: &str, n: &Number) -> bool {
    a::same(time.hours() % 12.0, n.value % 12.0) && !shown.contains([':', '.'])
}

/// Whether the unit comes before the number: "Week 1" supports "one week in".
fn counts_a_unit(n: &Number, m: &Number, atom: &Atom, reading: &Reading) -> bool {
    let Some(unit) = n
        .unit
        .filter(|_| m.unit.is_none() && a::same(n.value, m.value))
    else {
        return false;
    };
    let before = atom.tokens.start.checked_sub(1);
    let before = before.and_then(|at| reading.text.tokens.get(at));
    let named = before.and_then(|t| a::unit(&reading.lower_word(t)));
    named.is_some_and(|named| a::equal_amounts(1.0, unit, 1.0, named))
}

/// Whether the words after a number without a unit show that it counts something else: "72 degrees
/// and 4 bar" does not support "72 bar".
fn counts_something_else(n: &Number, m: &Number, atom: &Atom, reading: &Reading) -> bool {
    let same = m.unit.is_none() && m.range.is_none() && a::same(n.value, m.value);
    let Some(unit) = n.unit.filter(|_| same) else {
        return false;
    };
    let last = reading.text.tokens.get(atom.tokens.end.saturating_sub(1));
    let behind = reading.text.tokens.get(atom.tokens.end..).unwrap_or(&[]);
    let joined = last.zip(behind.first()).is_some_and(|(number, noun)| {
        noun.is_content() && !noun.number && noun.start == number.end + 1
    });
    let mut near = behind.iter().take(UNIT_WITHIN);
    joined
        && !near.any(|t| is_unit_of_kind(reading.word(t), unit))
        && !units_left_out::leaves_out_its_unit(reading, atom, unit)
}

fn is_unit_of_kind(word: &str, kind: a::MeasureUnit) -> bool {
    a::unit(word).is_some_and(|unit| a::same_kind(unit, kind))
}

/// Maximum number of words from a number to its unit: "three business days".
const UNIT_WITHIN: usize = 3;

/// Whether a number without a unit belongs to the name before it, while another number of the
/// sentence has the unit: "It runs Debian 12 and has 8 TB" does not support "12 TB". In "Anna lifts
/// 12 and Ben 8 kg", every name has a number, so the 12 does not belong to a name.
fn is_part_of_a_name(n: &Number, m: &Number, atom: &Atom, reading: &Reading) -> bool {
    let Some(unit) = n.unit else { return false };
    // A price and a measure have decimals, "Debian 12" has none. In German every noun has a capital.
    let may_be_named = m.value.fract() == 0.0
        && !reading.shown_atom(atom).contains([',', '.'])
        && !language::is_german(reading);
    if m.unit.is_some() || m.range.is_some() || !may_be_named || !follows_a_name(reading, atom) {
        return false;
    }
    let sentence = reading.sentence_of(atom.tokens.start);
    let mut with_unit = reading
        .atoms_of(sentence)
        .iter()
        .filter(|other| match &other.what {
            What::Number(other) => other.unit.is_some_and(|other| a::same_kind(other, unit)),
            _ => false,
        });
    with_unit.clone().next().is_some() && !with_unit.any(|other| follows_a_name(reading, other))
}

/// Whether a name inside a sentence is directly before an atom.
fn follows_a_name(reading: &Reading, atom: &Atom) -> bool {
    let (own, before) = (atom.tokens.start, atom.tokens.start.checked_sub(1));
    let tokens = &reading.text.tokens;
    let (Some(own), Some(before)) = (tokens.get(own), before.and_then(|at| tokens.get(at))) else {
        return false;
    };
    names::is_name(before) && !before.first && own.start == before.end + 1
}

/// Whether two numbers are the same amount.
pub(super) fn equal(n: &Number, m: &Number, reading: &Reading) -> bool {
    match (n.unit, m.unit) {
        (Some(a_), Some(b)) => {
            a::equal_amounts(n.value, a_, m.value, b) || arithmetic::is_converted(n, m)
        }
        (None, None) => a::same(n.value, m.value),
        // "half" and "50 %".
        (None, Some(unit)) => {
            a::same(n.value, m.value)
                || a::same_kind(unit, PERCENT) && a::same(n.value * 100.0, m.value)
        }
        (Some(unit), None) => {
            a::same(n.value, m.value) && (named(reading, unit) || m.range.is_some() || !m.words)
                || a::same_kind(unit, PERCENT) && is_rounded_share(n.value, m)
        }
    }
}

/// Whether a percentage is a share in words, or is rounded from it: "67 %" and "two thirds".
fn is_rounded_share(percent: f64, m: &Number) -> bool {
    const HALF_A_POINT: f64 = 0.5;
    let exact = m.value * 100.0;
    let rounds = percent.fract() == 0.0 && (exact - percent).abs() < HALF_A_POINT;
    m.words && m.value < 1.0 && (rounds || a::same(percent, exact))
}

/// Whether the text names such a unit anywhere: in a table header, or after the second of two
/// numbers.
fn named(reading: &Reading, unit: a::MeasureUnit) -> bool {
    reading.units().iter().any(|u| a::same_kind(u, unit))
}

/// Whether the cited text has the amount only in another unit: "half an hour" for 30 minutes.
pub(super) fn stands_in_another_unit(case: &Case<'_>, n: &Number) -> bool {
    let mut found = false;
    for reading in readings(case).filter(|_| n.unit.is_some()) {
        let mut same = numbers(reading.atoms.iter()).filter(|m| equal(n, m, reading));
        if same.any(|m| a::same(n.value, m.value)) {
            return false;
        }
        found |= numbers(reading.atoms.iter()).any(|m| m.unit.is_some() && equal(n, m, reading));
    }
    found
}

/// The numbers among these atoms.
pub(super) fn numbers<'a>(
    atoms: impl Iterator<Item = &'a Atom>,
) -> impl Iterator<Item = &'a Number> {
    atoms.filter_map(|atom| match &atom.what {
        What::Number(m) => Some(m),
        _ => None,
    })
}

pub(super) fn comparable(n: &Number, m: &Number) -> bool {
    match (n.unit, m.unit) {
        (Some(x), Some(y)) => a::same_kind(x, y),
        (None, _) => true,
        (Some(unit), None) => a::same_kind(unit, PERCENT) && is_share(m),
    }
}

/// Whether a number is a share in words: "a quarter", "two thirds".
fn is_share(m: &Number) -> bool {
    m.unit.is_none() && m.words && m.value < 1.0
}

/// `m` in the unit of `n`, if that has one.
pub(super) fn scaled(n: &Number, m: &Number) -> f64 {
    match arithmetic::in_unit_of(n, m) {
        Some(value) => value,
        None if is_share(m) => m.value * 100.0,
        None if is_share(n) => m.value / 100.0,
        None => m.value,
    }
}

/// Whether the text has a number that rounds to `n`: "5.4 million" for 5,412,300.
fn approximate(case: &Case<'_>, n: &Number) -> bool {
    let step = [1e9, 1e6, 1e3]
        .into_iter()
        .find(|s| n.value.abs() >= *s)
        .filter(|_| n.value.fract() == 0.0);
    let Some(step) = step.map(|s| s / 10.0) else {
        return false;
    };
    is_rounded(n.value, step)
        && numbers(all(case)).any(|m| {
            comparable(n, m)
                && m.value.fract() == 0.0
                && !is_rounded(m.value, step)
                && a::same((m.value / step).round(), (n.value / step).round())
        })
}

/// Whether the claim says "nearly" or "about" of a number that differs little from one of the text.
fn is_about(case: &Case<'_>, n: &Number) -> bool {
    const LITTLE: f64 = 0.015;
    let is_near = |m: &Number| {
        let apart = (scaled(n, m) - n.value).abs();
        comparable(n, m) && apart <= LITTLE * n.value.abs()
    };
    let unsure = n.bound == Some(a::Bound::About);
    unsure
        && numbers(all(case)).any(|m| {
            is_near(m)
                || n.unit.is_some()
                    && is_near(&Number {
                        unit: m.unit.or(n.unit),
                        ..*m
                    })
        })
}

fn is_rounded(x: f64, step: f64) -> bool {
    a::same(x, (x / step).round() * step)
}

/// Whether the text assigns the number: "20 per page" where the text has `limit=20`.
fn is_assigned(case: &Case<'_>, shown: &str) -> bool {
    let digits = shown.split(' ').next().unwrap_or(shown);
    let assigned = format!("={digits}");
    let plain = digits.bytes().all(|b| b.is_ascii_digit());
    plain
        && case
            .cited
            .iter()
            .any(|s| has_whole_number(&s.item.text, &assigned))
}

/// Whether a text has this somewhere without more letters or digits behind it.
fn has_whole_number(text: &str, number: &str) -> bool {
    text.match_indices(number).any(|(at, _)| {
        text.get(at + number.len()..)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '.'))
    })
}

/// Maximum number of spans of code in which one number is looked for; bounds the work on hostile
/// text.
const MOST_SPANS: usize = 64;

/// Whether the number is part of code, such as the `0` of `0x800`; the code is compared as a whole.
fn is_in_code(case: &Case<'_>, shown: &str) -> bool {
    case.code
        .iter()
        .take(MOST_SPANS)
        .any(|span| has_before_letter(span, shown) && standing(case, span) == Standing::Whole)
}

/// Whether a span has the digits somewhere with a letter directly behind them.
fn has_before_letter(span: &str, digits: &str) -> bool {
    span.match_indices(digits).any(|(at, _)| {
        let next = span.get(at + digits.len()..);
        next.is_some_and(|rest| rest.starts_with(char::is_alphabetic))
    })
}

/// Whether a number of the question is compared with one of the cited text in the same unit: "45
/// days are more than the 30 that are allowed".
fn is_compared(case: &Case<'_>, atom: &Atom, n: &Number) -> bool {
    let asked = numbers(case.asked.atoms.iter()).any(|m| is_same_amount(n, m));
    let others = case.claim.atoms.iter().filter(|e| e.bytes != atom.bytes);
    asked
        && numbers(others).any(|m| {
            n.unit.is_some()
                && m.unit.is_some()
                && comparable(n, m)
                && !a::same(scaled(n, m), n.value)
                && numbers(all(case)).any(|o| equal(m, o, case.claim))
        })
}

fn is_same_amount(n: &Number, m: &Number) -> bool {
    comparable(n, m) && a::same(scaled(n, m), n.value)
}

/// Whether a number of the question replaces a variable of the text: "repeated five times" where
/// the question has five folds and the text says "repeat K times".
fn is_put_in(case: &Case<'_>, atom: &Atom, n: &Number) -> bool {
    let noun = case
        .claim
        .text
        .tokens
        .get(atom.tokens.end.saturating_sub(1)..=atom.tokens.end);
    let noun = noun.unwrap_or(&[]);
    numbers(case.asked.atoms.iter()).any(|m| a::same(m.value, n.value))
        && case.cited.iter().any(|s| counts_by_letter(s.reading, noun))
}

/// Whether a text has a letter in place of the number before one of these nouns: "K times".
fn counts_by_letter(reading: &Reading, nouns: &[Token]) -> bool {
    reading.text.tokens.windows(2).any(|pair| {
        let letter = reading.word(&pair[0]);
        matches!(letter, "K" | "N" | "k" | "n" | "M" | "m" | "x") && has_stem(nouns, pair[1].id)
    })
}

/// Whether the number is a share of an amount, both from the cited text, and the claim names one of
/// them or draws a conclusion: "that would be 7.5 million" for 50 % of 15 million.
fn is_named_share(case: &Case<'_>, n: &Number) -> bool {
    let concludes = derive::infers(case.claim);
    shares(case, n).any(|(_, parts)| concludes || parts.iter().any(|part| is_claimed(case, part)))
}

/// Whether the claim has the same amount.
fn is_claimed(case: &Case<'_>, n: &Number) -> bool {
    numbers(case.claim.atoms.iter()).any(|m| is_same_amount(n, m))
}

/// The amount and the percentage of the cited text that may give the number.
fn share_of_an_amount(case: &Case<'_>, n: &Number) -> Option<[String; 2]> {
    shares(case, n).next().map(|(shown, _)| shown)
}

/// Maximum number of amounts of the cited text that are tried as a share or its whole.
const MOST_AMOUNTS: usize = 64;

/// A smaller number without a unit is too often a share of something by chance.
const FEWEST: f64 = 10.0;

/// The amounts and percentages of the cited text whose product is the number, as written there.
fn shares<'a>(
    case: &Case<'a>,
    n: &Number,
) -> impl Iterator<Item = ([String; 2], [&'a Number; 2])> + use<'a> {
    let n = *n;
    let measured = n.unit.is_some();
    let found = readings(case).flat_map(|reading| {
        let atoms = reading.atoms.iter();
        atoms.filter_map(move |atom| match &atom.what {
            What::Number(m) => Some((reading.shown_amount(atom), m)),
            _ => None,
        })
    });
    let is_counted = measured || n.value >= FEWEST;
    let found = found.take(if is_counted { MOST_AMOUNTS } else { 0 });
    let (shares, amounts): (Vec<_>, Vec<_>) =
        found.partition(|(_, m)| is_percentage(m) || is_share(m));
    amounts.into_iter().flat_map(move |(whole, amount)| {
        let of = match measured {
            true => arithmetic::in_unit_of(&n, amount),
            false => Some(amount.value),
        };
        let of = of.map(|value| value / 100.0);
        let own = shares.clone().into_iter();
        own.filter(move |(_, share)| {
            let percent = share.value * if is_share(share) { 100.0 } else { 1.0 };
            of.is_some_and(|of| a::same(of * percent, n.value))
        })
        .map(move |(part, share)| ([part.to_owned(), whole.to_owned()], [share, amount]))
    })
}

fn is_percentage(m: &Number) -> bool {
    m.unit
        .is_some_and(|unit| a::unit("%").is_some_and(|p| a::equal_amounts(1.0, unit, 1.0, p)))
}

fn nearest(alignment: &Alignment<'_>, n: &Number, shown: &str) -> String {
    let numbers = alignment.best().into_iter().flat_map(|b| {
        b.source
            .reading
            .atoms_of(b.sentence)
            .iter()
            .map(move |e| (b, e))
    });
    let said = numbers.filter_map(|(b, e)| match &e.what {
        What::Number(m) if comparable(n, m) => Some(b.source.reading.shown_amount(e)),
        _ => None,
    });
    match said.into_iter().next() {
        Some(said) => format!("“{shown}” is not in the cited text. It says “{said}”."),
        None => format!("“{shown}” is not in the cited text."),
    }
}
