//! L4: dates and times of a claim that are a duration of the cited text before or after one of its
//! dates and times: "by 5:15", where the shift begins at 6:15 and one must call an hour before.

use super::atoms::readings;
use super::{Case, Effect, notations};
use crate::Code;
use crate::atoms::{Date, MeasureUnit, Number, Time, UnitKind, What, simple_value, unit};

/// Maximum number of durations, dates and times that are combined.
const MOST: usize = 24;

/// The doubt about a time that may be computed.
pub(super) fn time(case: &Case<'_>, own: Time, shown: &str) -> Option<(Effect, Code, String)> {
    const HALF: f64 = 12.0 * 3600.0;
    let asked = case.asked.atoms.iter().filter_map(|atom| match &atom.what {
        What::Time(time) => Some(*time),
        _ => None,
    });
    let times: Vec<Time> = notations::times(case)
        .take(MOST)
        .chain(asked.take(MOST))
        .collect();
    let durations = durations(case, UnitKind::Time);
    let is_apart = times.iter().any(|time| {
        let apart = (f64::from(time.minutes) - f64::from(own.minutes)).abs() * 60.0;
        let mut durations = durations.iter();
        durations.any(|d| *d > 0.0 && ((apart - d).rem_euclid(HALF)).abs() < 1.0)
    });
    is_apart.then(|| doubt(shown))
}

/// The doubt about a date that may be computed, or whose day and month the cited text has apart.
pub(super) fn date(case: &Case<'_>, own: &Date, shown: &str) -> Option<(Effect, Code, String)> {
    const DAY: f64 = 86_400.0;
    own.day?;
    let dates: Vec<Date> = notations::dates_for(case, own).take(MOST).collect();
    let [days, months] = [UnitKind::Time, UnitKind::Calendar].map(|kind| durations(case, kind));
    let is_apart = dates.iter().any(|date| {
        let apart = date.days_to(own);
        let same_day = date.day == own.day;
        let in_months = date.months_to(own).filter(|_| same_day);
        apart.is_some_and(|apart| {
            days.iter()
                .any(|d| (apart * DAY - d).abs() < 1.0 && *d > 0.0)
        }) || in_months.is_some_and(|m| months.iter().any(|d| (m - d).abs() < 0.01 && m > 0.0))
    });
    (is_apart || stands_apart(case, own, &dates)).then(|| doubt(shown))
}

fn doubt(shown: &str) -> (Effect, Code, String) {
    let shown = crate::identity::shorten(shown);
    let why = format!("“{shown}” is not in the cited text. It may be computed from what is there.");
    (Effect::Doubts, Code::Date, why)
}

/// Whether the cited text has the day as a number by itself, and the month in a date: "on 10 March
/// it was moved to the 21st".
fn stands_apart(case: &Case<'_>, own: &Date, dates: &[Date]) -> bool {
    let month = dates
        .iter()
        .any(|date| date.month.is_some() && date.month == own.month);
    let mut atoms = readings(case).flat_map(|reading| reading.atoms.iter());
    month
        && atoms.any(|atom| match &atom.what {
            What::Number(n) => n.unit.is_none() && own.day.is_some_and(|d| is_day(n, d)),
            _ => false,
        })
}

fn is_day(n: &Number, day: u32) -> bool {
    crate::atoms::same(n.value, f64::from(day))
}

/// The durations of the cited text in the base unit of a kind, also "an hour" and "one week".
fn durations(case: &Case<'_>, kind: UnitKind) -> Vec<f64> {
    const ONE: &[&str] = list!("formulas.one");
    let mut out = Vec::new();
    for reading in readings(case) {
        let atoms = reading.atoms.iter().filter_map(|atom| match &atom.what {
            What::Number(n) => amount(n.value, n.unit?, kind),
            _ => None,
        });
        out.extend(atoms.take(MOST));
        let pairs = reading.text.tokens.windows(2).filter_map(|two| {
            let [one, name] = two else { return None };
            let one = reading.lower_word(one);
            let is_one = ONE.contains(&&*one) || simple_value(&one) == Some(1.0);
            let unit = unit(&reading.lower_word(name)).filter(|_| is_one)?;
            amount(1.0, unit, kind)
        });
        out.extend(pairs.take(MOST));
    }
    out
}

fn amount(value: f64, unit: MeasureUnit, kind: UnitKind) -> Option<f64> {
    let size = unit.iter().find(|(own, _)| *own == kind)?.1;
    Some(value * size)
}

/// The doubt about a time after noon for which the cited text has only one before noon that could be
/// either: "8:00" in a text that writes "18:30" for the evening.
pub(super) fn other_half(
    case: &Case<'_>,
    own: Time,
    shown: &str,
) -> Option<(Effect, Code, String)> {
    const NOON: u32 = 12 * 60;
    if own.either_half || own.minutes <= NOON + 59 {
        return None;
    }
    let mut counts_to_24 = false;
    for time in notations::times(case) {
        if time.minutes == own.minutes {
            return None;
        }
        counts_to_24 |= !time.either_half && time.minutes > NOON + 59;
    }
    let shown = crate::identity::shorten(shown);
    let why = format!("The cited text has the time “{shown}” only before noon.");
    counts_to_24.then_some((Effect::Doubts, Code::Date, why))
}
