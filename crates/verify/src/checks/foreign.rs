//! Numbers, dates and weekdays of the cited text in words of other languages, and days with a slash.

use local_agent_text::language::{calendar, numerals};

use super::atoms::readings;
use super::{Case, language};
use crate::atoms::{self as a, Atom, Date, Number, What};
use crate::reading::Reading;
use crate::text::Token;

/// The shortest name of a month or weekday in Latin letters that is read in any language.
const SHORTEST: usize = 4;

/// The largest number that is looked for in words of other languages.
const MOST: f64 = 100.0;

fn is_long(word: &str) -> bool {
    word.chars().count() >= SHORTEST || !word.is_ascii()
}

/// The weekday that a word names in any language, in the singular or plural.
pub(super) fn weekday(lower: &str) -> Option<u32> {
    let name = Some(lower).filter(|word| is_long(word))?;
    let singular = name.strip_suffix('s').unwrap_or(name);
    calendar::any_weekday(name).or_else(|| calendar::any_weekday(singular))
}

/// The months that a text names in small letters, with the years behind them: "junio de 2026".
pub(super) fn months(reading: &Reading) -> impl Iterator<Item = Date> {
    let tokens = reading.text.tokens.iter().enumerate();
    tokens.filter_map(|(at, token)| month_at(reading, at, token))
}

fn month_at(reading: &Reading, at: usize, token: &Token) -> Option<Date> {
    let word = reading.word(token);
    let is_short = reading.normal.as_bytes().get(token.end) == Some(&b'.');
    let is_name = !token.number && !token.capital && (is_long(word) || is_short);
    let month = is_name.then(|| calendar::any_month(word)).flatten()?;
    let known = calendar::is_ambiguous_month(word);
    let next = |n: usize| {
        reading
            .text
            .tokens
            .get(at + n)
            .map_or("", |t| reading.word(t))
    };
    let of = usize::from(matches!(next(1), "de" | "del"));
    let year = next(1 + of).parse().ok();
    let year = year.filter(|year| next(1 + of).len() == 4 && (1000..2200).contains(year));
    (!known || is_short || year.is_some()).then_some(Date {
        year,
        month: Some(month),
        ..Date::default()
    })
}

/// The days that two numbers with a slash may mean: "5/3".
pub(super) fn slashed_days(reading: &Reading, e: &Atom) -> Vec<Date> {
    let What::Number(n) = &e.what else {
        return Vec::new();
    };
    let behind = reading.normal.get(e.bytes.end..).unwrap_or("");
    let digits: Option<&str> = behind.strip_prefix('/').map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit());
        rest.get(..end.unwrap_or(rest.len())).unwrap_or("")
    });
    let shown = reading.shown_atom(e);
    let Some(digits) = digits.filter(|digits| n.unit.is_none() && !digits.is_empty()) else {
        return Vec::new();
    };
    let ways = [format!("{shown}.{digits}"), format!("{digits}.{shown}")];
    ways.iter().filter_map(|way| a::day(way)).collect()
}

/// Whether the cited text has a small number in words of another language, with the same unit.
pub(super) fn has_numeral(case: &Case<'_>, n: &Number) -> bool {
    let is_small = n.value.fract() == 0.0 && (2.0..=MOST).contains(&n.value) && !n.ordinal;
    is_small && readings(case).any(|reading| has_numeral_in(reading, n))
}

fn has_numeral_in(reading: &Reading, n: &Number) -> bool {
    let tokens = &reading.text.tokens;
    let mut at = 0..tokens.len();
    at.any(|at| {
        let Some(token) = tokens.get(at).filter(|t| !t.number) else {
            return false;
        };
        // "十" in "十四" is no ten.
        if is_in_a_longer_number(reading, at) {
            return false;
        }
        let word = reading.lower_word(token);
        // "Sei" is six in an Italian text and another word elsewhere.
        let own = || a::numeral_in(&word, language::of(reading));
        let value = numerals::any_cardinal(&word).or_else(own);
        value.is_some_and(|value| a::same(value, n.value))
            && has_unit(reading, tokens.get(at + 1), n)
    })
}

/// Whether a token is one of several that make one number or date.
fn is_in_a_longer_number(reading: &Reading, at: usize) -> bool {
    let next = reading.atoms.partition_point(|atom| atom.tokens.end <= at);
    let atom = reading.atoms.get(next);
    atom.is_some_and(|atom| {
        let is_value = matches!(atom.what, What::Number(_) | What::Date(_));
        is_value && atom.tokens.contains(&at) && atom.tokens.len() > 1
    })
}

/// Whether the word behind a numeral is the unit of the number, or neither has one.
fn has_unit(reading: &Reading, next: Option<&Token>, n: &Number) -> bool {
    let theirs = next.and_then(|t| a::unit(&reading.lower_word(t)));
    match (n.unit, theirs) {
        (None, _) => true,
        (Some(own), Some(theirs)) => a::equal_amounts(1.0, own, 1.0, theirs),
        (Some(_), None) => false,
    }
}
