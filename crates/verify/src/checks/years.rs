//! L4: a year of a claim is in the cited text, its heading or its path: as a year, and not within a
//! longer number.

use super::atoms::readings;
use super::{Case, notations};
use crate::atoms::{Atom, MeasureUnit, UnitKind, What, same};
use crate::reading::Reading;

/// Whether the cited text, its heading or its path has the year.
pub(super) fn has_year(case: &Case<'_>, year: i32) -> bool {
    readings(case).any(|reading| has_year_in(reading, year))
}

/// Whether the cited text, its heading and its path have no year at all, so that a date with one
/// says more than they do.
pub(super) fn names_no_year(case: &Case<'_>) -> bool {
    notations::dates(case).all(|date| date.year.is_none())
}

fn has_year_in(reading: &Reading, year: i32) -> bool {
    let mut atoms = reading.atoms.iter();
    let has = |e: &Atom| match &e.what {
        What::Date(date) => date.year == Some(year),
        // "二〇一九年".
        What::Number(n) => n.words && n.unit.is_none_or(is_year) && same(n.value, f64::from(year)),
        _ => false,
    };
    atoms.any(has)
        || states_in_full(reading, &year.to_string())
        || states_in_short(&reading.normal, &format!("{:02}", year.rem_euclid(100)))
}

/// Whether the unit is a year.
fn is_year(unit: MeasureUnit) -> bool {
    unit.contains(&(UnitKind::Calendar, 12.0))
}

/// Whether the four digits are somewhere, and belong to no longer number and to no unit. The day of
/// a file's name may follow: "20190304".
fn states_in_full(reading: &Reading, year: &str) -> bool {
    let text = reading.normal.as_str();
    text.match_indices(year).any(|(at, _)| {
        let behind = text.get(at + year.len()..).unwrap_or("");
        !ends_with_a_digit(text.get(..at).unwrap_or(""))
            && (!begins_with_a_digit(behind) || begins_with_a_day(behind))
            && !is_amount(reading, at)
    })
}

/// Whether a number with a unit begins at this byte: "2019 km".
fn is_amount(reading: &Reading, at: usize) -> bool {
    let next = reading.atoms.partition_point(|e| e.bytes.end <= at);
    let atom = reading.atoms.get(next).filter(|e| e.bytes.start <= at);
    atom.is_some_and(|e| matches!(&e.what, What::Number(n) if n.unit.is_some()))
}

/// Whether a number goes on to the left: "1.2019", "3,2019" and "120195".
fn ends_with_a_digit(before: &str) -> bool {
    let mut back = before.chars().rev();
    let last = back.next();
    last.is_some_and(char::is_numeric)
        || matches!(last, Some('.' | ',')) && is_decimal(before.trim_end_matches(['.', ',']))
}

/// Whether the digits before a separator are no day and month: those of "03.04.2019" are.
fn is_decimal(before: &str) -> bool {
    let digits = before.trim_end_matches(|c: char| c.is_ascii_digit());
    let count = before.len() - digits.len();
    count > 0 && !(count <= 2 && digits.ends_with(['.', '-', '/']))
}

fn begins_with_a_digit(behind: &str) -> bool {
    let mut ahead = behind.chars();
    let (next, second) = (ahead.next(), ahead.next());
    next.is_some_and(char::is_numeric) || next == Some(',') && second.is_some_and(char::is_numeric)
}

/// Whether exactly four digits of a month and a day follow.
fn begins_with_a_day(behind: &str) -> bool {
    let part = |range: std::ops::Range<usize>| behind.get(range)?.parse::<u32>().ok();
    let is_day = part(0..2).is_some_and(|month| (1..=12).contains(&month))
        && part(2..4).is_some_and(|day| (1..=31).contains(&day));
    is_day && !behind.get(4..).unwrap_or("").starts_with(char::is_numeric)
}

/// Whether the last two digits of a year are somewhere where they mean a year: "’19", "FY19",
/// "2018/19", "03.04.19".
fn states_in_short(text: &str, short: &str) -> bool {
    text.match_indices(short).any(|(at, _)| {
        let before = text.get(..at).unwrap_or("");
        let behind = text.get(at + short.len()..).unwrap_or("");
        !behind.starts_with(char::is_numeric) && comes_before_a_short_year(before)
    })
}

fn comes_before_a_short_year(before: &str) -> bool {
    if before.ends_with("FY") || before.ends_with("GJ") {
        return true;
    }
    if let Some(rest) = before.strip_suffix('\'') {
        return !rest.ends_with(char::is_alphanumeric);
    }
    let rest = before.trim_end_matches(['/', '-', '–', '.']);
    rest.len() < before.len() && (ends_with_year(rest) || ends_with_day_and_month(rest))
}

/// Whether a text ends with a year of four digits.
fn ends_with_year(text: &str) -> bool {
    let digits = trailing_digits(text);
    digits.len() == 4 && digits.starts_with(['1', '2'])
}

/// Whether a text ends with a day and a month: "03.04", "3/4"; or with a quarter, "Q3".
fn ends_with_day_and_month(text: &str) -> bool {
    let second = trailing_digits(text);
    let rest = text.get(..text.len() - second.len()).unwrap_or("");
    let first = trailing_digits(rest.trim_end_matches(['/', '-', '.']));
    let is_short = |digits: &str| (1..=2).contains(&digits.len());
    is_short(second) && (rest.ends_with('Q') || rest.ends_with(['/', '-', '.']) && is_short(first))
}

/// The digits at the end of a text, of which few are looked at.
fn trailing_digits(text: &str) -> &str {
    const MOST: usize = 5;
    let count = text.bytes().rev().take(MOST).take_while(u8::is_ascii_digit);
    text.get(text.len() - count.count()..).unwrap_or("")
}
