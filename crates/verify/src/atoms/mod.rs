//! L4: the parts of a statement that are either right or wrong: numbers, dates, versions, code,
//! addresses.
//!
//! Names, and what each atom refers to, are examined in `checks`, which sees both sides.

mod dates;
mod hours;
mod literal;
mod notations;
mod numbers;
mod phrases;
mod spans;
mod spelled;
mod spoken;
mod times;
mod units;

pub(crate) use dates::Date;
pub(crate) use literal::{Literal, code_spans, has_file_extension};
pub(crate) use notations::{OtherReading, clock, day, fraction_sign, grouped_value};
pub(crate) use numbers::{Bound, Number, RangeEnd, digits_value};
pub(crate) use spans::simple_value;
pub(crate) use spelled::{digits_of_numeral, is_compound_numeral, numeral_in, words_of_amounts};
pub(crate) use times::Time;
pub(crate) use units::{
    CURRENCY_SIGNS, MeasureUnit, equal_amounts, is_currency, magnitude, same, same_kind,
};
pub use units::{UnitKind, unit};

use std::ops::Range;

use self::numbers::Reader;
use super::text::Text;

/// One atom.
#[derive(Debug, Clone)]
pub(crate) enum What {
    /// A number with its unit.
    Number(Number),
    /// A date; parts that were not given are missing.
    Date(Date),
    /// A time of day.
    Time(Time),
    /// A version, an address or code.
    Literal(Literal),
}

/// An atom and its position.
#[derive(Debug, Clone)]
pub(crate) struct Atom {
    /// What it is.
    pub what: What,
    /// Bytes of the normalised text.
    pub bytes: Range<usize>,
    /// Tokens of the text.
    pub tokens: Range<usize>,
}

/// The day of a month that a whole number without a unit may be.
pub(crate) fn day_of(n: &Number) -> Option<u32> {
    let is_day = n.unit.is_none() && n.value.fract() == 0.0 && (1.0..=31.0).contains(&n.value);
    (1..=31).find(|day| is_day && same(f64::from(*day), n.value))
}

/// Whether a word names a month or a weekday.
pub(crate) fn is_calendar(word: &str) -> bool {
    calendar_place(word).is_some()
}

/// Which month or weekday a word names, in full or in short.
pub(crate) fn calendar_place(word: &str) -> Option<CalendarPlace> {
    let day = dates::weekday(word).or_else(|| dates::short_weekday(word));
    let month = dates::month(word).map(CalendarPlace::Month);
    month.or(day.map(CalendarPlace::Weekday))
}

/// A month, 1 to 12, or a weekday, 0 is Monday.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CalendarPlace {
    Month(u32),
    Weekday(u32),
}

/// Reads all atoms of a text.
pub(crate) fn atoms(text: &str, words: &Text) -> Vec<Atom> {
    let mut out: Vec<Atom> = Vec::new();
    let reader = Reader {
        text,
        words,
        language: spelled::language_of(text),
    };
    for sentence in &words.sentences {
        sentence_atoms(
            &reader,
            sentence.bytes.clone(),
            sentence.tokens.clone(),
            &mut out,
        );
    }
    out
}

fn sentence_atoms(
    reader: &Reader<'_>,
    bytes: Range<usize>,
    tokens: Range<usize>,
    out: &mut Vec<Atom>,
) {
    let (text, words) = (reader.text, reader.words);
    let mut literals = literal::literals(text, bytes).into_iter().peekable();
    let mut i = tokens.start;
    while i < tokens.end {
        let Some(token) = words.tokens.get(i) else {
            break;
        };
        while literals.next_if(|(r, _)| r.end <= token.start).is_some() {}
        if let Some((range, literal)) =
            literals.next_if(|(r, _)| r.start <= token.start || r.contains(&token.start))
        {
            let end = words
                .tokens
                .get(i..tokens.end)
                .unwrap_or(&[])
                .partition_point(|t| t.start < range.end);
            out.push(Atom {
                what: What::Literal(literal),
                bytes: range,
                tokens: i..i + end.max(1),
            });
            i += end.max(1);
            continue;
        }
        if !token.may_be_amount() {
            i += 1;
            continue;
        }
        let spoken = spoken::spoken_time(reader, i).map(|(t, next)| (What::Time(t), next));
        let found = spoken
            .or_else(|| dates::date(reader, i).map(|(d, next)| (What::Date(d), next)))
            .or_else(|| times::time(reader, i).map(|(t, next)| (What::Time(t), next)))
            .or_else(|| lone_year(reader, i))
            .or_else(|| {
                (!in_identifier(reader, i))
                    .then(|| reader.number(i))
                    .flatten()
                    .map(|(n, next)| (What::Number(n), next))
            });
        match found {
            Some((what, next)) => {
                let next = next.clamp(i + 1, tokens.end);
                let end = words.tokens.get(next - 1).map_or(token.end, |t| t.end);
                out.push(Atom {
                    what,
                    bytes: token.start..end,
                    tokens: i..next,
                });
                i = next;
            }
            None => i += 1,
        }
    }
}

/// Whether the digits are part of an identifier: "A-769662", "OCT3/4".
fn in_identifier(r: &Reader<'_>, i: usize) -> bool {
    let Some(before) = i.checked_sub(1) else {
        return false;
    };
    let letters = r.word(before).chars().any(char::is_alphabetic)
        && r.word(before).chars().any(char::is_uppercase);
    letters
        && matches!(r.before(i), "-" | "/" | "")
        && r.word(i).starts_with(|c: char| c.is_ascii_digit())
}

/// Reads four digits without a unit as a year. "2026年" and "2026 года" name a year too.
fn lone_year(r: &Reader<'_>, i: usize) -> Option<(What, usize)> {
    let year = dates::year(r.word(i))?;
    let (number, next) = r.number(i)?;
    let is_named = next == i + 2 && !r.word(i + 1).is_ascii() && number.unit == unit("year");
    let counts = number.unit.is_some() || next > i + 1 || number.per.is_some();
    (is_named || !counts).then_some((
        What::Date(Date {
            year: Some(year),
            ..Date::default()
        }),
        if is_named { next } else { i + 1 },
    ))
}
