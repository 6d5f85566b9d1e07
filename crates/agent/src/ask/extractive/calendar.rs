//! Dates and periods: those that a text names, and those that a question means by "last week".

use std::fmt;

use super::cues;
use local_agent_text::language::calendar::{days_in_month, distant_day};

/// A day; month or day are 0 when they are not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day {
    /// The year, 1 to 9999.
    pub year: u32,
    /// The month, 1 to 12; 0: not given.
    pub month: u32,
    /// The day of the month, 1 to 31; 0: not given.
    pub day: u32,
}

impl Day {
    /// A date; `None` if that day does not exist.
    pub fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        let fits = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
        (fits && (1..=9999).contains(&year)).then_some(Self { year, month, day })
    }

    /// Reads `2026-06-20`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let mut next = || parts.next()?.parse::<u32>().ok();
        let (year, month, day) = (next()?, next()?, next()?);
        Self::new(year, month, day)
    }

    /// Days since 1970-01-01, negative before (Hinnant's `days_from_civil`).
    pub fn number(self) -> i64 {
        let (month, day) = (i64::from(self.month.max(1)), i64::from(self.day.max(1)));
        let year = i64::from(self.year) - i64::from(month <= 2);
        let era = year.div_euclid(400);
        let of_era = year - era * 400;
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
    }

    /// The day with this number (Hinnant's `civil_from_days`).
    pub fn from_number(number: i64) -> Self {
        let shifted = number + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * of_year + 2) / 153;
        let month = (shifted_month + 2) % 12 + 1;
        let small = |n: i64| u32::try_from(n).unwrap_or(0);
        Self {
            year: small(year_of_era + era * 400 + i64::from(month <= 2)),
            month: small(month),
            day: small(of_year - (153 * shifted_month + 2) / 5 + 1),
        }
    }

    /// The weekday; 0 is Monday.
    fn weekday(self) -> i64 {
        (self.number() + 3).rem_euclid(7)
    }

    fn plus(self, days: i64) -> Self {
        Self::from_number(self.number() + days)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}", self.year)?;
        if self.month > 0 {
            write!(f, "-{:02}", self.month)?;
        }
        if self.day > 0 {
            write!(f, "-{:02}", self.day)?;
        }
        Ok(())
    }
}

fn days_in(year: u32, month: u32) -> u32 {
    days_in_month(i32::try_from(year).ok(), month)
}

/// A span of days, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Period {
    pub first: Day,
    pub last: Day,
}

impl Period {
    /// Whether the period contains at least part of a day, or of the month or year if only that is
    /// known.
    pub(super) fn holds(&self, day: Day) -> bool {
        let (first, last) = match (day.month, day.day) {
            (0, _) => (
                Day {
                    year: day.year,
                    month: 1,
                    day: 1,
                },
                Day {
                    year: day.year,
                    month: 12,
                    day: 31,
                },
            ),
            (month, 0) => month_of(day.year, month),
            _ => (day, day),
        };
        first <= self.last && self.first <= last
    }
}

fn month_of(year: u32, month: u32) -> (Day, Day) {
    let last = days_in(year, month);
    (
        Day {
            year,
            month,
            day: 1,
        },
        Day {
            year,
            month,
            day: last,
        },
    )
}

/// The period that a question means, relative to `today`: a day, a month with or without its year,
/// "yesterday", "last week". A year alone does not count.
pub(super) fn period(question: &str, today: Day) -> Option<Period> {
    let lower = question.to_lowercase();
    let of = |(first, last): (Day, Day)| Some(Period { first, last });
    let week = today.plus(-today.weekday());
    if let Some(days) = distant_day(&words_of(&lower)) {
        let day = today.plus(i64::from(days));
        return of((day, day));
    }
    if cues::YESTERDAY.are_in(&lower) {
        return of((today.plus(-1), today.plus(-1)));
    }
    if cues::TODAY.are_in(&lower) {
        return of((today, today));
    }
    if cues::LAST_WEEK.are_in(&lower) {
        return of((week.plus(-7), week.plus(-1)));
    }
    if cues::THIS_WEEK.are_in(&lower) {
        return of((week, week.plus(6)));
    }
    if cues::NEXT_WEEK.are_in(&lower) {
        return of((week.plus(7), week.plus(13)));
    }
    if cues::LAST_MONTH.are_in(&lower) {
        return of(month_before(today, 1));
    }
    if cues::THIS_MONTH.are_in(&lower) {
        return of(month_before(today, 0));
    }
    if cues::LAST_YEAR.are_in(&lower) {
        return of(year_of(today.year - 1));
    }
    let day = latest(question)?;
    match day.day {
        0 => of(month_of(day.year, day.month)),
        _ => of((day, day)),
    }
}

/// The words of a text with one blank between them; hyphens and apostrophes stay.
fn words_of(lower: &str) -> String {
    let words = lower.split(|c: char| !c.is_alphanumeric() && !"-'’".contains(c));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// The first and the last day of a year.
fn year_of(year: u32) -> (Day, Day) {
    (month_of(year, 1).0, month_of(year, 12).1)
}

/// The first and the last day of the month that is `back` months before `today`.
fn month_before(today: Day, back: u32) -> (Day, Day) {
    let months = today.year * 12 + today.month - 1 - back;
    month_of(months / 12, months % 12 + 1)
}

/// The latest occurrence, today included, of the month or day that `question` names: "in March",
/// "on 8 November".
pub(super) fn named_days(question: &str, today: Day) -> Option<Period> {
    let lower = question.to_lowercase();
    if let Some((month, day)) = month_and_day(&lower) {
        let of = |year: u32| Day::new(year, month, day).filter(|day| *day <= today);
        let day = (today.year.saturating_sub(5)..=today.year)
            .rev()
            .find_map(of)?;
        return Some(Period {
            first: day,
            last: day,
        });
    }
    let month = cues::split(&lower).find_map(cues::month)?;
    let year = today.year - u32::from(month > today.month);
    let (first, last) = month_of(year, month);
    Some(Period { first, last })
}

/// The first day from `today` on that `text` names by month and day, without a year: "18 November",
/// "November 18".
pub(super) fn next_without_year(text: &str, today: Day) -> Option<Day> {
    let (month, day) = month_and_day(&text.to_lowercase())?;
    coming(today, month, day)
}

/// The first month that has a day next to it.
fn month_and_day(lower: &str) -> Option<(u32, u32)> {
    let tokens = tokens(lower);
    tokens.iter().enumerate().find_map(|(i, token)| {
        let month = cues::month(token)?;
        let number = day_of_month(&tokens, i.checked_sub(1))
            .or_else(|| day_of_month(&tokens, Some(i + 1)))?;
        Some((month, number))
    })
}

/// The day of a month that a token names.
fn day_of_month(tokens: &[&str], i: Option<usize>) -> Option<u32> {
    let number = tokens.get(i?)?.parse::<u32>().ok()?;
    (1..=31).contains(&number).then_some(number)
}

/// The first day from `today` on with this month and day.
pub(super) fn coming(today: Day, month: u32, day: u32) -> Option<Day> {
    let mut years = (today.year..today.year + 5).filter_map(|year| Day::new(year, month, day));
    years.find(|day| *day >= today)
}

/// Whole years from one day to a later one.
pub(super) fn years_between(from: Day, to: Day) -> Option<u32> {
    let before_the_day = (to.month, to.day) < (from.month, from.day);
    to.year
        .checked_sub(from.year)?
        .checked_sub(u32::from(before_the_day))
}

/// The latest date in `text`: `2026-02-01`, `1 February 2026`, `February 1, 2026`, `1. Februar
/// 2026`, `01.02.2026`, `2026年2月1日`, `February 2026`. A year alone does not count.
pub(super) fn latest(text: &str) -> Option<Day> {
    all(text).into_iter().max()
}

/// All dates in `text`, in the order in which their years appear.
pub(super) fn all(text: &str) -> Vec<Day> {
    if !text.bytes().any(|b| b.is_ascii_digit()) {
        return Vec::new();
    }
    let lower = text.to_lowercase();
    let tokens: Vec<&str> = tokens(&lower);
    let mut out = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let year =
            number_at(&tokens, Some(i)).filter(|y| token.len() == 4 && (1000..3000).contains(y));
        let Some(year) = year else { continue };
        let (one, two) = (i.checked_sub(1), i.checked_sub(2));
        let forward = from_one_to(number_at(&tokens, Some(i + 1)), 12)
            .zip(from_one_to(number_at(&tokens, Some(i + 2)), 31));
        let backward =
            from_one_to(number_at(&tokens, one), 12).zip(from_one_to(number_at(&tokens, two), 31));
        let (month, day) = match (
            month_at(&tokens, one),
            month_at(&tokens, two),
            forward,
            backward,
        ) {
            (Some(month), ..) => (month, from_one_to(number_at(&tokens, two), 31).unwrap_or(0)),
            (_, Some(month), _, _)
                if number_at(&tokens, one).is_some_and(|d| (1..=31).contains(&d)) =>
            {
                (month, number_at(&tokens, one).unwrap_or(0))
            }
            (_, _, Some((month, day)), _) | (_, _, _, Some((month, day))) => (month, day),
            _ => continue,
        };
        out.push(Day { year, month, day });
    }
    out
}

/// The number, if it is at least 1 and at most `most`.
fn from_one_to(n: Option<u32>, most: u32) -> Option<u32> {
    n.filter(|n| (1..=most).contains(n))
}

/// The month that a token names.
fn month_at(tokens: &[&str], i: Option<usize>) -> Option<u32> {
    i.and_then(|i| tokens.get(i)).and_then(|t| cues::month(t))
}

/// The number that a token contains.
fn number_at(tokens: &[&str], i: Option<usize>) -> Option<u32> {
    i.and_then(|i| tokens.get(i))
        .and_then(|t| t.parse::<u32>().ok())
}

/// Runs of digits and runs of other letters.
fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    for word in cues::split(text) {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let digit = first.is_ascii_digit();
            let end = rest
                .find(|c: char| c.is_ascii_digit() != digit)
                .unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            // The characters in a Japanese or Chinese date come between its numbers.
            if !matches!(run, "年" | "月" | "日" | "st" | "nd" | "rd" | "th") {
                out.push(run);
            }
            rest = after;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    #[test]
    fn dates_are_read_however_they_are_written() {
        for text in [
            "on 2026-02-01",
            "1 February 2026",
            "February 1, 2026",
            "February 1st, 2026",
            "am 1. Februar 2026",
            "01.02.2026",
            "2026年2月1日から",
            "1 Feb 2026",
        ] {
            assert_eq!(latest(text), Some(day("2026-02-01")), "{text}");
        }
        let may = Day {
            year: 2026,
            month: 5,
            day: 0,
        };
        assert_eq!(latest("since May 2026"), Some(may));
        assert_eq!(
            latest("2025-01-03 and then 3 March 2026, built in 1998"),
            Some(day("2026-03-03"))
        );
        assert_eq!(latest("in 1998 we paid 2026 euros"), None);
    }

    #[test]
    fn words_for_time_are_seen_from_today() {
        let today = day("2026-06-20");
        let means = |text: &str| {
            let period = period(text, today).unwrap();
            format!("{}..{}", period.first, period.last)
        };
        assert_eq!(means("What did I do yesterday?"), "2026-06-19..2026-06-19");
        assert_eq!(means("what happened last week"), "2026-06-08..2026-06-14");
        assert_eq!(means("Was war letzten Monat?"), "2026-05-01..2026-05-31");
        assert_eq!(means("on 2026-05-14?"), "2026-05-14..2026-05-14");
        assert_eq!(means("in May 2025"), "2025-05-01..2025-05-31");
        assert_eq!(period("Who leads it?", today), None);
    }

    #[test]
    fn a_month_or_a_day_without_its_year_is_the_nearest() {
        let today = day("2026-06-20");
        let month = |text: &str| named_days(text, today).map(|p| p.first.to_string());
        assert_eq!(
            month("what happened in March").as_deref(),
            Some("2026-03-01")
        );
        assert_eq!(month("was war im Juni").as_deref(), Some("2026-06-01"));
        assert_eq!(month("in november").as_deref(), Some("2025-11-01"));
        assert_eq!(month("on 8 november").as_deref(), Some("2025-11-08"));
        assert_eq!(month("what happened"), None);
        let next = |text: &str| next_without_year(text, today);
        assert_eq!(next("opens on 18 November"), Some(day("2026-11-18")));
        assert_eq!(next("March 2nd at noon"), Some(day("2027-03-02")));
        assert_eq!(next("29 February"), Some(day("2028-02-29")));
        assert_eq!(next("31 November"), None);
    }

    #[test]
    fn a_year_is_over_on_its_day() {
        let years = |from: &str, to: &str| years_between(day(from), day(to));
        assert_eq!(years("1990-07-01", "2026-06-30"), Some(35));
        assert_eq!(years("1990-07-01", "2026-07-01"), Some(36));
        assert_eq!(years("2026-07-01", "2026-06-30"), None);
    }

    proptest! {
        #[test]
        fn numbers_of_days_come_back(number in -700_000_i64..2_900_000) {
            let day = Day::from_number(number);
            prop_assert_eq!(day.number(), number);
            prop_assert_eq!(Day::new(day.year, day.month, day.day), Some(day));
        }
    }
}
