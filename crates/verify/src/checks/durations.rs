//! L4: durations of a claim that are the time between two dates or two times of the cited text, and
//! ages.

use std::collections::HashSet;

use super::Case;
use super::derive::{ClaimNumber, may_be_computed, shown_result};
use super::operands::content;
use super::things::{is_word_of_difference, thing};
use crate::atoms::{self as a, Atom, Bound, Date, MeasureUnit, Number, Time, UnitKind, What};
use crate::derivation::{Derivation, Operation};
use crate::reading::Reading;
use crate::text::Token;

const SECONDS: MeasureUnit = &[(UnitKind::Time, 1.0)];
const MONTHS: MeasureUnit = &[(UnitKind::Calendar, 1.0)];

/// Words behind a duration that sets one date against another.
const APART: &[&str] = list!("durations.apart");

/// Maximum number of dates and times that are compared with each other.
const MOST: usize = 12;

/// Maximum number of dates and times that are looked at.
const MOST_SEEN: usize = 100;

/// A date or a time of day.
#[derive(Clone, Copy)]
enum Moment {
    Day(Date),
    Clock(Time),
}

/// A date or time of the cited text.
pub(super) struct Point<'t> {
    moment: Moment,
    place: (usize, usize),
    is_named: bool,
    /// Whether the claim has it itself.
    is_claimed: bool,
    pub shown: &'t str,
    /// The stems of what it belongs to.
    pub thing: Vec<u32>,
}

impl Point<'_> {
    /// The days by which it is after another date; `None` for times.
    pub(super) fn days_after(&self, other: &Self) -> Option<f64> {
        match (self.moment, other.moment) {
            (Moment::Day(own), Moment::Day(other)) => own.days_after(&other),
            _ => None,
        }
    }
}

/// Computes a duration from two dates or times that the claim names, or of one sentence.
pub(super) fn derived(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<Derivation> {
    let [x, y] = between(case, result, true)?;
    Some(Derivation {
        operation: Operation::Duration,
        from: vec![x, y],
        result: shown_result(case.claim, result.number),
    })
}

/// Two dates or times that may give a duration.
pub(super) fn possible(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<[String; 2]> {
    between(case, result, false).or_else(|| from_a_bare_day(case, result))
}

/// A date and a day without its month in one sentence: "found on 6 May, mended on the 9th".
fn from_a_bare_day(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<[String; 2]> {
    let n = result.number;
    n.unit.filter(|unit| is_time(unit))?;
    case.cited.iter().find_map(|source| {
        let reading = source.reading;
        let dates = reading.atoms.iter().filter_map(|atom| match &atom.what {
            What::Date(date) if date.month.is_some() && date.day.is_some() => Some((atom, date)),
            _ => None,
        });
        dates.take(MOST).find_map(|(atom, date)| {
            let sentence = reading.sentence_of(atom.tokens.start);
            let mut days = reading.atoms_of(sentence).iter().take(MOST);
            let day = days.find(|other| match &other.what {
                What::Number(m) => a::day_of(m).is_some_and(|day| {
                    let other = Date {
                        day: Some(day),
                        weekday: None,
                        ..*date
                    };
                    days_apart(n, date, &other)
                }),
                _ => false,
            })?;
            Some([atom, day].map(|atom| reading.shown_amount(atom).to_owned()))
        })
    })
}

fn between(case: &Case<'_>, result: ClaimNumber<'_>, sure: bool) -> Option<[String; 2]> {
    let n = result.number;
    // This runs for every number.
    if case.has_many_atoms() {
        return None;
    }
    let is_time = n.unit.is_some_and(is_time) || n.unit.is_none() && is_age(case.claim);
    let fits = is_time && may_be_computed(n) && n.per.is_none();
    if !fits {
        return None;
    }
    let points = points(case);
    let mut tokens = case.claim.text.tokens.iter();
    let is_apart = tokens.any(|t| {
        is_word_of_difference(case.claim, t) || APART.contains(&&*case.claim.lower_word(t))
    });
    let own = if sure {
        own_ends(case.claim)
    } else {
        Vec::new()
    };
    for (at, x) in points.iter().enumerate() {
        for y in points.iter().skip(at + 1) {
            if !may_be_meant(&own, [x.moment, y.moment]) {
                continue;
            }
            let together = x.place == y.place && (x.is_named || y.is_named);
            let named = x.is_named && y.is_named;
            // "It leaves on 19 July and they fly three days later".
            let later = is_apart && x.place.0 == y.place.0 && (x.is_claimed || y.is_claimed);
            if (named || together || later || !sure) && apart(n, x.moment, y.moment) {
                return Some([x.shown, y.shown].map(str::to_owned));
            }
        }
    }
    None
}

/// The beginnings and ends that a claim states itself: "(9 March to 8 July)", "from 8:30 to 10:00".
fn own_ends(claim: &Reading) -> Vec<[Moment; 2]> {
    let pairs = claim.atoms.windows(2);
    let found = pairs.filter_map(|pair| {
        let [x, y] = pair else { return None };
        let last = moment(claim, y)?;
        let first = match (&x.what, last) {
            // "25 and 28 August".
            (What::Number(n), Moment::Day(date)) if date.day.is_some() => {
                let day = a::day_of(n)?;
                Moment::Day(Date {
                    day: Some(day),
                    weekday: None,
                    ..date
                })
            }
            _ => moment(claim, x)?,
        };
        let between = claim.text.tokens.get(x.tokens.end..y.tokens.start)?;
        let is_full = |moment| !matches!(moment, Moment::Day(Date { day: None, .. }));
        let is_joined = between.len() <= MOST_BETWEEN && !between.iter().any(Token::is_content);
        let is_one_kind = std::mem::discriminant(&first) == std::mem::discriminant(&last);
        (is_joined && is_one_kind && is_full(first) && is_full(last)).then_some([first, last])
    });
    found.collect()
}

/// Maximum number of words between the beginning and the end that a claim states.
const MOST_BETWEEN: usize = 2;

/// Whether a duration may be the time between these two: if the claim states its own ends, only between
/// those.
fn may_be_meant(own: &[[Moment; 2]], [x, y]: [Moment; 2]) -> bool {
    let mut own = own
        .iter()
        .filter(|[first, _]| std::mem::discriminant(first) == std::mem::discriminant(&x))
        .peekable();
    own.peek().is_none()
        || own.any(|[first, last]| {
            is_that(*first, x) && is_that(*last, y) || is_that(*first, y) && is_that(*last, x)
        })
}

/// Whether a date or time of the claim is that of the cited text.
fn is_that(own: Moment, other: Moment) -> bool {
    match (own, other) {
        (Moment::Day(own), Moment::Day(other)) => own.is_part_of(&other),
        (Moment::Clock(own), Moment::Clock(other)) => own.agrees(other),
        _ => false,
    }
}

pub(super) fn is_time(unit: MeasureUnit) -> bool {
    let mut kinds = unit.iter();
    kinds.all(|(kind, _)| matches!(kind, UnitKind::Time | UnitKind::Calendar))
}

/// Whether the claim gives an age.
fn is_age(claim: &Reading) -> bool {
    let mut tokens = claim.text.tokens.iter();
    tokens.any(|t| is_age_word(claim, t))
}

/// Whether a word only says that a claim gives a duration: "lasts".
pub(super) fn is_cue(claim: &Reading, token: &Token) -> bool {
    const LASTING: &[&str] = list!("durations.lasting");
    LASTING.contains(&&*claim.lower_word(token)) || is_age_word(claim, token)
}

fn is_age_word(claim: &Reading, token: &Token) -> bool {
    const AGE: &[&str] = list!("formulas.age");
    AGE.contains(&&*claim.lower_word(token))
}

/// The dates and times of the cited text: those that the claim names, and others of their sentences
/// before the rest.
pub(super) fn points<'t>(case: &Case<'t>) -> Vec<Point<'t>> {
    let words = content(case.claim);
    let cited = case.cited.iter().enumerate();
    let all = cited.flat_map(|(item, source)| points_of(case, item, source.reading, &words));
    let mut all: Vec<Point<'t>> = all.take(MOST_SEEN).collect();
    let named: HashSet<(usize, usize)> =
        all.iter().filter(|p| p.is_named).map(|p| p.place).collect();
    all.sort_by_key(|p| (!p.is_named, !named.contains(&p.place)));
    all.truncate(MOST);
    all
}

fn points_of<'t>(
    case: &Case<'_>,
    item: usize,
    reading: &'t Reading,
    words: &HashSet<u32>,
) -> Vec<Point<'t>> {
    let atoms = reading.atoms.iter().take(MOST_SEEN * 4);
    let found = atoms.filter_map(|atom| Some((atom, moment(reading, atom)?)));
    let points = found.map(|(atom, moment)| {
        let thing = thing(reading, atom);
        let is_named = thing.iter().any(|id| words.contains(id));
        let is_claimed = is_claimed(case.claim, moment);
        Point {
            moment,
            place: (item, reading.sentence_of(atom.tokens.start)),
            is_named: is_named || is_claimed,
            is_claimed,
            shown: reading.shown_atom(atom),
            thing,
        }
    });
    points.collect()
}

/// The date or time of an atom. An hour in digits before a time is one too: "from 8 to 20 Uhr".
fn moment(reading: &Reading, atom: &Atom) -> Option<Moment> {
    match &atom.what {
        What::Date(date) if date.month.is_some() || date.year.is_some() => Some(Moment::Day(*date)),
        What::Time(time) => Some(Moment::Clock(*time)),
        What::Number(n) if n.unit.is_none() && !n.ordinal => hour_before_a_time(reading, atom, n),
        _ => None,
    }
}

fn hour_before_a_time(reading: &Reading, atom: &Atom, n: &Number) -> Option<Moment> {
    let next = reading
        .atoms
        .partition_point(|e| e.bytes.end <= atom.bytes.end);
    let next = reading.atoms.get(next)?;
    let near = next.tokens.start <= atom.tokens.end + 1;
    let is_time = matches!(next.what, What::Time(_));
    let shown = reading.shown_atom(atom);
    let whole = n.value.fract() == 0.0 && (0.0..=24.0).contains(&n.value);
    let time = a::clock(&format!("{shown}.00")).filter(|_| near && is_time && whole)?;
    Some(Moment::Clock(time))
}

/// Whether the claim has the date or time itself.
fn is_claimed(claim: &Reading, moment: Moment) -> bool {
    claim.atoms.iter().any(|atom| match (&atom.what, moment) {
        (What::Date(own), Moment::Day(date)) => {
            own.is_part_of(&date) && own.day.is_some() == date.day.is_some()
        }
        (What::Time(own), Moment::Clock(time)) => own.agrees(time),
        _ => false,
    })
}

/// Whether the time between two dates or times is `n`.
fn apart(n: &Number, x: Moment, y: Moment) -> bool {
    match (x, y) {
        (Moment::Day(x), Moment::Day(y)) => days_apart(n, &x, &y),
        (Moment::Clock(x), Moment::Clock(y)) => clocks_apart(n, x, y),
        _ => false,
    }
}

fn clocks_apart(n: &Number, x: Time, y: Time) -> bool {
    const DAY: u32 = 24 * 60;
    let Some(unit) = n.unit else { return false };
    let minutes = x.minutes.abs_diff(y.minutes);
    let is_free = x.either_half || y.either_half;
    let mut ways = vec![minutes, DAY - minutes];
    if is_free {
        ways.extend([minutes % (DAY / 2), (DAY - minutes) % (DAY / 2)]);
    }
    let mut ways = ways.into_iter().filter(|minutes| *minutes > 0);
    ways.any(|minutes| is_amount(n, unit, f64::from(minutes) * 60.0, SECONDS))
}

fn days_apart(n: &Number, x: &Date, y: &Date) -> bool {
    let years = x.year.zip(y.year).map(|(x, y)| f64::from(x.abs_diff(y)));
    let rough = x.month.is_none() || y.month.is_none();
    let Some(unit) = n.unit else {
        return years.is_some_and(|years| a::same(years, n.value));
    };
    if rough {
        return years.is_some_and(|years| years > 0.0 && is_amount(n, unit, years * 12.0, MONTHS));
    }
    let days = x.days_to(y).filter(|days| *days > 0.0);
    let months = x.months_to(y).filter(|months| *months > 0.0);
    days.is_some_and(|days| is_amount(n, unit, days * 86_400.0, SECONDS))
        || months.is_some_and(|months| is_amount(n, unit, months, MONTHS))
        || years.is_some_and(|years| {
            let full = months.map_or(0.0, |months| (months / 12.0).floor());
            is_age_of(unit) && (a::same(full, n.value) || a::same(years, n.value))
        })
}

fn is_age_of(unit: MeasureUnit) -> bool {
    unit.contains(&(UnitKind::Calendar, 12.0))
}

/// Whether a duration is `n`, or about `n` if the claim says "about".
fn is_amount(n: &Number, unit: MeasureUnit, value: f64, other: MeasureUnit) -> bool {
    const ABOUT: f64 = 0.1;
    if a::equal_amounts(n.value, unit, value, other) {
        return true;
    }
    let same = unit.iter().find_map(|(kind, one)| {
        let other = other.iter().find(|(other, _)| other == kind)?;
        Some(value * other.1 / one)
    });
    let near = same.is_some_and(|same| (same - n.value).abs() <= ABOUT * n.value);
    near && n.bound == Some(Bound::About)
}
