//! L4: every date, version, address and piece of code in a claim is in the cited text (numbers:
//! `numbers`).

use super::align::{Aligned, Alignment, Edit};
use super::literals::Standing;
use super::{
    Case, Effect, Source, addresses, averages, compared, derive, equations, frequencies, limits,
    literals, month_parts, notations, numbers, ordinals, rivals, sequence, shifted, years,
};
use crate::Code;
use crate::atoms::{self as a, Atom, Date, Literal, Time, What};
use crate::reading::Reading;
use crate::text::Token;

/// The objections to the claim's atoms, in the order of the claim.
pub(super) fn check(case: &Case<'_>, alignment: &Alignment<'_>) -> Vec<(Effect, Code, String)> {
    let changed = alignment.edits();
    if let Some((code, why)) = replaced(case, alignment, changed) {
        return vec![(Effect::Rejects, code, why)];
    }
    let mut out = Vec::new();
    let verbatim = !changed.is_empty();
    for atom in &case.claim.atoms {
        let shown = case.claim.shown_atom(atom);
        let wrong = match &atom.what {
            What::Number(n) => numbers::check(case, alignment, atom, n, verbatim),
            What::Date(d) if notations::counts_like(case, atom, d) => None,
            What::Date(d) => match date(case, d) {
                true => Some(missing_date(case, alignment, d, shown)),
                false => month_parts::check(case, atom, d),
            },
            What::Time(t) => match has_time(case, *t) {
                true => shifted::other_half(case, *t, shown),
                false => Some(shifted::time(case, *t, shown).unwrap_or(absent(Code::Date, shown))),
            },
            What::Literal(Literal::Version { key, compare }) => {
                let wrong = version(case, key, compare, shown);
                let wrong = wrong.filter(|_| !notations::has_day(case, shown));
                wrong.map(|(code, why)| (Effect::Rejects, code, why))
            }
            // Code between back-ticks is compared as a whole by the check `code`.
            What::Literal(_) if in_code(case, shown) => None,
            What::Literal(_) => objection_to_code(literals::standing(case, shown), shown),
        };
        out.extend(wrong);
    }
    out.extend(equations::check(case));
    out.extend(averages::check(case));
    out.extend(compared::check(case));
    out.extend(compared::check_changes(case));
    out.extend(compared::check_differences(case));
    out.extend(limits::check(case));
    out.extend(sequence::check(case));
    out.extend(ordinals::check_last(case));
    out.extend(frequencies::check(case, alignment));
    for constant in constants(&case.claim.normal) {
        if !in_code(case, constant) && !has_constant(case, constant) {
            out.push(absent(Code::Number, constant));
        }
    }
    out.extend(check_addresses(case));
    out.dedup();
    out
}

/// The objections to the addresses of the claim's links and pictures.
pub(super) fn check_addresses<'a>(
    case: &'a Case<'_>,
) -> impl Iterator<Item = (Effect, Code, String)> + use<'a> {
    let hidden = addresses::hidden_addresses(case.raw).into_iter();
    hidden.filter_map(|hidden| {
        let standing = addresses::standing_of(case, &hidden);
        objection_to_code(standing, hidden.address)
    })
}

/// Whether the time is there, or its hour as a number.
pub(super) fn has_time(case: &Case<'_>, t: Time) -> bool {
    let hour = t.minutes.is_multiple_of(60).then_some(t.minutes / 60);
    notations::times(case).any(|other| other.agrees(t))
        || all(case).any(|e| match &e.what {
            What::Number(n) => {
                n.unit.is_none() && hour.is_some_and(|hour| a::same(n.value, f64::from(hour)))
            }
            _ => false,
        })
}

/// The objection to a number, unit, month or weekday that replaces another one in an otherwise
/// equal sentence.
fn replaced(
    case: &Case<'_>,
    alignment: &Alignment<'_>,
    changed: &[Edit<'_>],
) -> Option<(Code, String)> {
    let best = alignment.best()?;
    if is_part_of(case.claim, best) {
        return None;
    }
    for edit in changed {
        let (Some(c), Some(e)) = (edit.claim, edit.evidence) else {
            continue;
        };
        let (ours, theirs) = (case.claim.word(c), best.source.reading.word(e));
        if c.id == e.id || notations::are_one((case.claim, c), (best.source.reading, e)) {
            continue;
        }
        if let Some(code) = code_of_replaced(case, (c, ours), (e, theirs)) {
            let why = format!("The claim says “{ours}”, but the cited text says “{theirs}”.");
            return Some((code, why));
        }
    }
    None
}

/// Whether the nearest sentence has all numbers of the claim, at least two, one behind the other, and
/// more: "Room 14 was renovated on 3 March and room 15 on 8 May" has those of "Room 15 was renovated on
/// 8 May".
fn is_part_of(claim: &Reading, best: &Aligned<'_>) -> bool {
    let numbers = |tokens: &[Token]| -> Vec<u32> {
        let numbers = tokens.iter().filter(|t| t.number);
        numbers.map(|t| t.id).collect()
    };
    let own = numbers(&claim.text.tokens);
    let theirs = numbers(best.tokens());
    own.len() > 1 && own.len() < theirs.len() && theirs.windows(own.len()).any(|part| part == own)
}

/// What kind of thing was replaced, by the word of the claim and that of the cited text.
fn code_of_replaced(
    case: &Case<'_>,
    (c, ours): (&Token, &str),
    (e, theirs): (&Token, &str),
) -> Option<Code> {
    let unlike = match (a::digits_value(ours), a::digits_value(theirs)) {
        (Some(x), Some(y)) => !a::same(x, y),
        _ => true,
    };
    if is_number(c, ours) && is_number(e, theirs) && (c.number || c.end - c.start > 1) && unlike {
        let dated = is_part_of_a_date_or_time(case.claim, c) || is_year(ours) && is_year(theirs);
        return Some(if dated { Code::Date } else { Code::Number });
    }
    if let (Some(x), Some(y)) = (a::calendar_place(ours), a::calendar_place(theirs)) {
        return (x != y).then_some(Code::Date);
    }
    let (x, y) = (a::unit(ours)?, a::unit(theirs)?);
    let same = a::equal_amounts(1.0, x, 1.0, y);
    (!same && (a::same_kind(x, y) || follows_number(case, c))).then_some(Code::Unit)
}

fn is_number(token: &Token, word: &str) -> bool {
    token.number || a::magnitude(word).is_some()
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && a::digits_value(word).is_some_and(|v| (1000.0..2200.0).contains(&v))
}

/// Whether a number is next to a word of the calendar, or is the minutes of a time.
fn is_part_of_a_date_or_time(claim: &Reading, number: &Token) -> bool {
    let before = claim.normal.get(..number.start);
    before.is_some_and(|text| text.ends_with(':'))
        || claim.text.tokens.iter().any(|t| {
            let next = t.start >= number.end && t.start <= number.end + 4
                || t.end <= number.start && number.start <= t.end + 2;
            next && a::is_calendar(claim.word(t))
        })
}

fn follows_number(case: &Case<'_>, token: &Token) -> bool {
    case.claim
        .text
        .tokens
        .iter()
        .rfind(|t| t.end <= token.start)
        .is_some_and(|t| t.number && token.start - t.end <= 1)
}

fn missing(code: Code, shown: &str) -> (Code, String) {
    let shown = crate::identity::shorten(shown);
    (code, format!("“{shown}” is not in the cited text."))
}

fn absent(code: Code, shown: &str) -> (Effect, Code, String) {
    let (code, why) = missing(code, shown);
    (Effect::Rejects, code, why)
}

/// The objection to code, a path or an address that the cited text does not have as a whole.
fn objection_to_code(standing: Standing, shown: &str) -> Option<(Effect, Code, String)> {
    match standing {
        Standing::Whole => None,
        Standing::Absent => Some(absent(Code::Code, shown)),
        Standing::Part => {
            let shown = crate::identity::shorten(shown);
            let why =
                format!("The cited text contains “{shown}” only inside a longer word or path.");
            Some((Effect::Doubts, Code::Code, why))
        }
    }
}

/// The objection to a date that is not in the cited text: only a doubt if the question has it, or
/// the claim draws a conclusion.
fn missing_date(
    case: &Case<'_>,
    alignment: &Alignment<'_>,
    date: &Date,
    shown: &str,
) -> (Effect, Code, String) {
    let asked = case.asked.atoms.iter().any(|atom| match &atom.what {
        What::Date(other) => date.is_part_of(other),
        _ => false,
    });
    if asked {
        let shown = crate::identity::shorten(shown);
        let why = format!("“{shown}” is in the question, but not in the cited text.");
        return (Effect::Doubts, Code::Date, why);
    }
    if derive::infers(case.claim) {
        let shown = crate::identity::shorten(shown);
        let why = format!("“{shown}” is a conclusion and is not in the cited text.");
        return (Effect::Doubts, Code::Date, why);
    }
    if let Some(doubt) = shifted::date(case, date, shown) {
        return doubt;
    }
    if adds_a_year(case, date) {
        let shown = crate::identity::shorten(shown);
        let why = format!("“{shown}” has a year; the cited text names none.");
        return (Effect::Doubts, Code::Date, why);
    }
    let (code, why) = missing(Code::Date, shown);
    (rivals::effect_of_date(case, alignment), code, why)
}

/// Whether the cited text has the day or month of a date, but no year at all.
fn adds_a_year(case: &Case<'_>, date: &Date) -> bool {
    let rest = Date {
        year: None,
        ..*date
    };
    date.year.is_some()
        && date.month.is_some()
        && years::names_no_year(case)
        && notations::dates(case).any(|e| rest.is_part_of(&e))
}

/// Where a claim's atoms may appear: the cited items, their headings and paths.
pub(super) fn readings<'a>(case: &Case<'a>) -> impl Iterator<Item = &'a Reading> + use<'a> {
    let cited: &'a [Source<'a>] = case.cited;
    cited.iter().map(|s| s.reading).chain([case.around])
}

/// All atoms of those readings.
pub(super) fn all<'a>(case: &Case<'a>) -> impl Iterator<Item = &'a Atom> + use<'a> {
    readings(case).flat_map(|r| r.atoms.iter())
}

/// Whether a literal is part of code between back-ticks.
fn in_code(case: &Case<'_>, literal: &str) -> bool {
    case.code.iter().any(|span| span.contains(literal))
}

/// Whether a cited item has this number in program notation.
fn has_constant(case: &Case<'_>, constant: &str) -> bool {
    let folded = constant.to_lowercase();
    let mut cited = case.cited.iter();
    cited.any(|s| literals::standing_in(s.reading.lower(), &folded) > Standing::Absent)
}

/// Numbers in program notation (`0xFE`, `0b10`) in prose, outside code.
fn constants(normal: &str) -> impl Iterator<Item = &str> {
    let words = normal.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| {
        let digits = word.strip_prefix("0x").or(word.strip_prefix("0b"));
        digits.is_some_and(|d| !d.is_empty() && d.chars().all(|c| c.is_ascii_hexdigit()))
    })
}

/// Whether the cited text does **not** have the date.
fn date(case: &Case<'_>, d: &Date) -> bool {
    let there: Vec<Date> = notations::dates_for(case, d).collect();
    if let (Some(weekday), Some(computed)) = (d.weekday, d.computed_weekday())
        && weekday != computed
    {
        return true;
    }
    if let Some(weekday) = d.weekday {
        let said = there.iter().any(|e| {
            e.weekday == Some(weekday) && e.agrees(d)
                || e.computed_weekday() == Some(weekday) && e.agrees(d)
        }) || notations::names_weekday(case, weekday);
        let right = d.computed_weekday() == Some(weekday);
        if !(said || right) {
            return true;
        }
    }
    let parts = Date {
        weekday: None,
        ..*d
    };
    if parts.month.is_none() && parts.year.is_none() {
        return false;
    }
    if there.iter().any(|e| parts.is_part_of(e)) {
        return false;
    }

    let year_ok = parts.year.is_none_or(|y| years::has_year(case, y));
    let rest = Date {
        year: None,
        ..parts
    };
    let rest_ok = rest.month.is_none()
        || there.iter().any(|e| {
            rest.is_part_of(&Date { year: None, ..*e })
                && (e.year.is_none() || parts.year.is_none() || e.year == parts.year)
        });
    !(year_ok && rest_ok)
}

fn version(case: &Case<'_>, key: &str, compare: &str, shown: &str) -> Option<(Code, String)> {
    let mut found = false;
    for reading in readings(case) {
        for e in &reading.atoms {
            let text = reading.shown_atom(e);
            let (other, theirs) = match &e.what {
                What::Literal(Literal::Version { key, compare }) => (key.as_str(), *compare),
                What::Number(_) => (text.split(' ').next().unwrap_or(""), ""),
                _ => continue,
            };
            let less = other
                .strip_prefix(key)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.') && key.contains('.'));
            if !less {
                continue;
            }
            if compare.is_empty() || compare == theirs || compare == "=" && theirs.is_empty() {
                return None;
            }
            found = true;
        }
    }
    Some(if found {
        (
            Code::Number,
            format!("The cited text sets another limit for “{shown}”."),
        )
    } else {
        missing(Code::Number, shown)
    })
}
