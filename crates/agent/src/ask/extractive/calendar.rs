//! Dates and periods: those that a text names, and those that a question means by "last week".

use std::fmt;
use std::ops::Range;

use super::cues;
use super::periods::{self, NamedTime};
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
        let (first, last) = span_of(day);
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
    match periods::named_time(question, today) {
        NamedTime::Days(period) => Some(period),
        NamedTime::Simple | NamedTime::Unclear => of(span_of(latest(question)?)),
    }
}

/// The first and the last day of a date, which may lack its day or its month.
pub(super) fn span_of(day: Day) -> (Day, Day) {
    match (day.month, day.day) {
        (0, _) => year_of(day.year),
        (month, 0) => month_of(day.year, month),
        _ => (day, day),
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
    let joined = periods::named_months(question, today);
    if let Some(period) = joined.or_else(|| periods::since_month(question, today)) {
        return Some(period);
    }
    let lower = question.to_lowercase();
    let (month, day) = match month_and_day(&lower) {
        Some(named) => named,
        None => (cues::split(&lower).find_map(cues::month)?, 0),
    };
    let (first, last) = span_of(occurrence(today, month, day)?);
    Some(Period { first, last })
}

/// The latest occurrence, today included, of a month, or of a day if `day` is not 0.
pub(super) fn occurrence(today: Day, month: u32, day: u32) -> Option<Day> {
    if day == 0 {
        let year = today.year - u32::from(month > today.month);
        return Some(Day { year, month, day });
    }
    let years = (today.year.saturating_sub(5)..=today.year).rev();
    let mut days = years.filter_map(|year| Day::new(year, month, day));
    days.find(|day| *day <= today)
}

/// The first day from `today` on that `text` names by month and day, without a year: "18 November",
/// "November 18".
pub(super) fn next_without_year(text: &str, today: Day) -> Option<Day> {
    let lower = text.to_lowercase();
    let tokens = tokens(&lower);
    let dates = dated_tokens(&tokens);
    let has_year = |i: usize| dates.iter().any(|(range, _)| range.contains(&i));
    let months = (0..tokens.len()).filter(|i| !has_year(*i));
    let days = months.filter_map(|i| day_beside_month(&tokens, i));
    days.filter_map(|(month, day)| coming(today, month, day))
        .min()
}

/// The first month that has a day next to it.
fn month_and_day(lower: &str) -> Option<(u32, u32)> {
    let tokens = tokens(lower);
    (0..tokens.len()).find_map(|i| day_beside_month(&tokens, i))
}

/// The month that token `i` names, with the day next to it.
fn day_beside_month(tokens: &[&str], i: usize) -> Option<(u32, u32)> {
    let month = month_at(tokens, Some(i))?;
    let day =
        day_of_month(tokens, i.checked_sub(1)).or_else(|| day_of_month(tokens, Some(i + 1)))?;
    Some((month, day))
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

/// All dates in `text` that exist, in the order in which their years appear.
pub(super) fn all(text: &str) -> Vec<Day> {
    if !text.bytes().any(|b| b.is_ascii_digit()) {
        return Vec::new();
    }
    let lower = text.to_lowercase();
    let dates = dated_tokens(&tokens(&lower));
    dates.into_iter().map(|(_, day)| day).collect()
}

/// The dates among the tokens of a text, each with the range of its tokens.
pub(super) fn dated_tokens(tokens: &[&str]) -> Vec<(Range<usize>, Day)> {
    let mut out = Vec::new();
    for i in 0..tokens.len() {
        if let Some((range, day)) = date_around_year(tokens, i)
            && (day.day == 0 || Day::new(day.year, day.month, day.day).is_some())
        {
            out.push((range, day));
        }
    }
    out
}

/// The date whose year is token `i`. The day may not exist.
fn date_around_year(tokens: &[&str], i: usize) -> Option<(Range<usize>, Day)> {
    let is_long = tokens.get(i).is_some_and(|token| token.len() == 4);
    let year = number_at(tokens, Some(i)).filter(|year| is_long && (1000..3000).contains(year))?;
    let (one, two) = (i.checked_sub(1), i.checked_sub(2));
    let day_at = |at: Option<usize>| from_one_to(number_at(tokens, at), 31);
    let from = |at: Option<usize>| at.unwrap_or(i)..i + 1;
    if let Some(month) = month_at(tokens, one) {
        let day = day_at(two);
        let first = if day.is_some() { two } else { one };
        let day = day.unwrap_or(0);
        return Some((from(first), Day { year, month, day }));
    }
    if let Some((month, day)) = month_at(tokens, two).zip(day_at(one)) {
        return Some((from(two), Day { year, month, day }));
    }
    let month_of = |at: Option<usize>| from_one_to(number_at(tokens, at), 12);
    if let Some((month, day)) = month_of(Some(i + 1)).zip(day_at(Some(i + 2))) {
        return Some((i..i + 3, Day { year, month, day }));
    }
    let (month, day) = month_of(one).zip(day_at(two))?;
    Some((from(two), Day { year, month, day }))
}

/// The number, if it is at least 1 and at most `most`.
fn from_one_to(n: Option<u32>, most: u32) -> Option<u32> {
    n.filter(|n| (1..=most).contains(n))
}

/// The month that a token names.
pub(super) fn month_at(tokens: &[&str], i: Option<usize>) -> Option<u32> {
    i.and_then(|i| tokens.get(i)).and_then(|t| cues::month(t))
}

/// The number that a token contains.
pub(super) fn number_at(tokens: &[&str], i: Option<usize>) -> Option<u32> {
    i.and_then(|i| tokens.get(i))
        .and_then(|t| t.parse::<u32>().ok())
}

/// Runs of digits and runs of other letters.
pub(super) fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    for word in cues::split(text) {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let digit = first.is_ascii_digit();
            let end = rest
                .find(|c: char| c.is_ascii_digit() != digit)
                .unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            // The characters in a Japanese or Chinese date come between its numbers, and "de" in a
            // Spanish one.
            if !matches!(
                run,
                "年" | "月" | "日" | "st" | "nd" | "rd" | "th" | "de" | "del"
            ) {
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
            "1 de febrero de 2026",
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
    fn a_day_that_does_not_exist_is_no_date() {
        for text in ["2026-04-31", "31.04.2026", "31 April 2026", "2026-02-29"] {
            assert_eq!(all(text), [], "{text}");
        }
        assert_eq!(latest("29.02.2028"), Some(day("2028-02-29")));
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
        assert_eq!(next("3 March or 5 December"), Some(day("2026-12-05")));
        assert_eq!(next("on 12 July 2025"), None, "that day is over");
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
