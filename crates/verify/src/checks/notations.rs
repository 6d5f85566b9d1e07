//! Values that can be read in more than one way: "1.500", "3 m people", "14.30", "03.01.". A claim
//! has the value of the cited text if one reading of both is the same.

use super::atoms::readings;
use super::numbers::equal;
use super::{Case, foreign};
use crate::atoms::{
    self as a, Atom, Bound, CalendarPlace, Date, Literal, MeasureUnit, Number, OtherReading, Time,
    What,
};
use crate::reading::Reading;
use crate::text::Token;

/// Whether the cited text has a number of the claim, written as `shown`, in another reading.
pub(super) fn stands(case: &Case<'_>, n: &Number, shown: &str) -> bool {
    let is_grouped = n.also == Some(OtherReading::Parts);
    atoms(case).any(|(reading, e)| is_other_reading(n, shown, reading, e))
        || foreign::has_numeral(case, n)
        || is_grouped
            && parts(shown).nth(1).is_some()
            && parts(shown).all(|part| has_value(case, part))
}

/// The atoms of the cited items, their headings and paths, with their texts.
fn atoms<'a>(case: &Case<'a>) -> impl Iterator<Item = (&'a Reading, &'a Atom)> {
    readings(case).flat_map(|reading| reading.atoms.iter().map(move |atom| (reading, atom)))
}

/// Whether an atom of the cited text and a number of the claim are the same in another reading.
fn is_other_reading(n: &Number, shown: &str, reading: &Reading, e: &Atom) -> bool {
    let theirs = reading.shown_atom(e);
    match &e.what {
        What::Number(m) => {
            let is_part = m.also == Some(OtherReading::Parts)
                && parts(theirs).any(|part| a::same(part, n.value));
            is_part || are_same_amount(n, m) || are_one_day(shown, theirs)
        }
        What::Date(d) if n.unit.is_none() => {
            let is_day = a::day(shown).is_some_and(|day| day.is_part_of(d));
            is_day || year_alone(d).is_some_and(|year| means(n, year))
        }
        What::Date(_) => false,
        What::Time(t) => {
            let clock = a::clock(shown).is_some_and(|own| own.agrees(*t));
            n.unit.is_none() && (clock || is_hour_of(n, *t))
        }
        // "≥ 2.000" looks like a version.
        What::Literal(Literal::Version { key, compare }) => {
            let grouped = a::grouped_value(key);
            let is_below = matches!(n.bound, Some(Bound::AtMost | Bound::LessThan));
            let is_above = matches!(n.bound, Some(Bound::AtLeast | Bound::MoreThan));
            let is_turned =
                is_below && compare.starts_with('>') || is_above && compare.starts_with('<');
            !is_turned && grouped.is_some_and(|value| means(n, value))
        }
        What::Literal(_) => false,
    }
}

/// Whether a number is the full hour of a time: "at eight", "8:00".
fn is_hour_of(n: &Number, time: Time) -> bool {
    let hour = f64::from(time.minutes / 60);
    let is_same =
        a::same(n.value, hour) || time.either_half && a::same(n.value % 12.0, hour % 12.0);
    time.minutes.is_multiple_of(60) && is_same
}

/// Whether two pairs of digits are one day: "03.01" and "3.1". Digits that begin with a zero are no
/// decimal number.
fn are_one_day(ours: &str, theirs: &str) -> bool {
    let is_day = |digits: &str| digits.starts_with('0') && !digits.starts_with("0.");
    (is_day(ours) || is_day(theirs)) && a::day(ours).is_some_and(|x| a::day(theirs) == Some(x))
}

/// The four digits of a date that is only a year, and may be a number.
fn year_alone(date: &Date) -> Option<f64> {
    let is_alone = date.month.is_none() && date.weekday.is_none();
    date.year.filter(|_| is_alone).map(f64::from)
}

/// Whether a number has this value in one of its readings.
fn means(n: &Number, value: f64) -> bool {
    let amounts = amounts(n);
    let mut amounts = amounts.iter().flatten();
    amounts.any(|(own, _)| a::same(*own, value))
}

/// Whether four digits of the claim that look like a year count something, and the cited text has
/// the number in another notation: "1500 guests" and "1,500 guests".
pub(super) fn counts_like(case: &Case<'_>, atom: &Atom, date: &Date) -> bool {
    let Some(value) = year_alone(date) else {
        return false;
    };
    let tokens = case.claim.text.tokens.get(atom.tokens.end..);
    let next = tokens.unwrap_or(&[]).first();
    let counts = next.is_some_and(|t| t.is_content() && t.start == atom.bytes.end + 1);
    counts && atoms(case).any(|(_, e)| matches!(&e.what, What::Number(m) if means(m, value)))
}

/// Whether one reading of a number is one of the other. An amount without a unit is the same as one
/// with a unit only if one of them has two readings.
fn are_same_amount(n: &Number, m: &Number) -> bool {
    share_a_reading(n, m, n.also.is_some() || m.also.is_some())
}

/// Whether one reading of a number is one of the other; `bare`: also if only one has a unit.
pub(super) fn share_a_reading(n: &Number, m: &Number, bare: bool) -> bool {
    let (own, other) = (amounts(n), amounts(m));
    let mut own = own.iter().flatten();
    own.any(|(x, unit)| {
        let mut other = other.iter().flatten();
        other.any(|(y, theirs)| match (unit, theirs) {
            (Some(unit), Some(theirs)) => a::equal_amounts(*x, unit, *y, theirs),
            (None, None) => a::same(*x, *y),
            _ => bare && a::same(*x, *y),
        })
    })
}

/// The amounts that a number can mean.
fn amounts(n: &Number) -> [Option<(f64, Option<MeasureUnit>)>; 2] {
    let other = match n.also {
        Some(OtherReading::Amount(value)) => Some((value, n.unit)),
        Some(OtherReading::Count(value)) => Some((value, None)),
        Some(OtherReading::Parts) | None => None,
    };
    [Some((n.value, n.unit)), other]
}

/// The values of the groups of digits.
fn parts(shown: &str) -> impl Iterator<Item = f64> {
    shown.split(' ').filter_map(a::simple_value)
}

fn has_value(case: &Case<'_>, value: f64) -> bool {
    atoms(case).any(|(_, e)| matches!(&e.what, What::Number(m) if a::same(m.value, value)))
}

/// The dates of the cited text, also in digits that may be one.
pub(super) fn dates<'a>(case: &Case<'a>) -> impl Iterator<Item = Date> {
    let written = atoms(case).filter_map(|(reading, e)| date_of(reading, e));
    written.chain(readings(case).flat_map(foreign::months))
}

/// The dates of the cited text that can agree with a date of the claim: for a day, also digits with
/// a slash or a dash, in either order.
pub(super) fn dates_for<'a>(case: &Case<'a>, own: &Date) -> impl Iterator<Item = Date> {
    let slashed = own.day.is_some().then(|| {
        let days = atoms(case).flat_map(|(reading, e)| foreign::slashed_days(reading, e));
        let both = atoms(case).flat_map(|(_, e)| either_order(e));
        days.chain(both).collect::<Vec<Date>>()
    });
    dates(case).chain(slashed.into_iter().flatten())
}

/// The two days that "1-7-2029" may mean.
fn either_order(e: &Atom) -> impl Iterator<Item = Date> + use<> {
    let written = match &e.what {
        What::Date(date) if date.ambiguous => Some(*date),
        _ => None,
    };
    let orders = written.map(|date| {
        let plain = Date {
            ambiguous: false,
            ..date
        };
        let turned = Date {
            month: date.day,
            day: date.month,
            ..plain
        };
        [plain, turned]
    });
    orders.into_iter().flatten()
}

fn date_of(reading: &Reading, e: &Atom) -> Option<Date> {
    match &e.what {
        What::Date(date) => Some(*date),
        What::Number(n) if n.unit.is_none() => a::day(reading.shown_atom(e)),
        What::Literal(Literal::Version { key, .. }) => a::day(key),
        _ => None,
    }
}

/// The times of the cited text, also in digits that may be one.
pub(super) fn times<'a>(case: &Case<'a>) -> impl Iterator<Item = Time> {
    atoms(case).filter_map(|(reading, e)| time_of(reading, e))
}

fn time_of(reading: &Reading, e: &Atom) -> Option<Time> {
    match &e.what {
        What::Time(time) => Some(*time),
        What::Number(n) if n.unit.is_none() => a::clock(reading.shown_atom(e)),
        _ => None,
    }
}

/// Whether digits that look like a version are a day that the cited text has: "03.01.24".
pub(super) fn has_day(case: &Case<'_>, shown: &str) -> bool {
    let Some(day) = a::day(shown).filter(|day| day.year.is_some()) else {
        return false;
    };
    atoms(case).any(|(_, e)| matches!(&e.what, What::Date(date) if day.is_part_of(date)))
}

/// Whether the cited text names the weekday, in full or in short.
pub(super) fn names_weekday(case: &Case<'_>, weekday: u32) -> bool {
    let wanted = Some(CalendarPlace::Weekday(weekday));
    readings(case).any(|reading| {
        let mut tokens = reading.text.tokens.iter();
        tokens.any(|t| {
            t.capital && a::calendar_place(reading.word(t)) == wanted
                || foreign::weekday(&reading.lower_word(t)) == Some(weekday)
                || is_cut_weekday(reading, t, weekday)
        })
    })
}

/// Whether a word is the weekday without its end, which the next word has: "Sonn- und Feiertage".
fn is_cut_weekday(reading: &Reading, token: &Token, weekday: u32) -> bool {
    const ENDINGS: &[&str] = list!("dates.weekday-endings");
    let behind = reading.normal.get(token.end..).unwrap_or("");
    let is_cut = behind.starts_with("- ");
    let full = |ending: &&str| format!("{}{ending}", reading.lower_word(token));
    is_cut
        && ENDINGS
            .iter()
            .any(|ending| foreign::weekday(&full(ending)) == Some(weekday))
}

/// Whether two tokens belong to one value in two notations.
pub(super) fn are_one(ours: (&Reading, &Token), theirs: (&Reading, &Token)) -> bool {
    let (Some(x), Some(y)) = (atom_of(ours.0, ours.1), atom_of(theirs.0, theirs.1)) else {
        return false;
    };
    match (&x.what, &y.what) {
        (What::Number(n), What::Number(m)) => {
            let shown = (ours.0.shown_atom(x), theirs.0.shown_atom(y));
            share_a_reading(n, m, true) || are_one_day(shown.0, shown.1) || equal(n, m, theirs.0)
        }
        (What::Number(n), What::Date(d)) | (What::Date(d), What::Number(n)) => {
            year_alone(d).is_some_and(|year| means(n, year))
                || are_one_date((ours.0, x), (theirs.0, y))
        }
        _ => {
            let times = (time_of(ours.0, x), time_of(theirs.0, y));
            are_one_date((ours.0, x), (theirs.0, y))
                || matches!(times, (Some(x), Some(y)) if x.agrees(y))
        }
    }
}

fn are_one_date(ours: (&Reading, &Atom), theirs: (&Reading, &Atom)) -> bool {
    let dates = (date_of(ours.0, ours.1), date_of(theirs.0, theirs.1));
    matches!(dates, (Some(x), Some(y)) if x.is_part_of(&y))
}

/// The atom that a token is part of.
fn atom_of<'r>(reading: &'r Reading, token: &Token) -> Option<&'r Atom> {
    let next = reading
        .atoms
        .partition_point(|e| e.bytes.end <= token.start);
    reading
        .atoms
        .get(next)
        .filter(|e| e.bytes.start <= token.start)
}
