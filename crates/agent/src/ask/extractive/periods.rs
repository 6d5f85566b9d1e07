//! The days from one date to another that a question names: "from January to March 2026".
//!
//! A question that names several dates, or a time without an end, and does not say which days it
//! means, has no clear time. Nothing is computed for it.

use std::collections::HashSet;
use std::ops::Range;

use super::calendar::{
    Day, Period, dated_tokens, month_at, named_days, number_at, occurrence, span_of, tokens,
};
use super::cues;
use local_agent_text::language::calendar::is_ambiguous_month;

/// What a question says about its days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamedTime {
    /// Nothing, or one date, or one word such as "yesterday".
    Simple,
    /// All days from one date to another.
    Days(Period),
    /// Several dates, or a time without a beginning or an end.
    Unclear,
}

/// What `question` says about its days. `today` ends a time that is still going on.
pub(super) fn named_time(question: &str, today: Day) -> NamedTime {
    let lower = question.to_lowercase();
    let tokens = tokens(&lower);
    let dates = dated_tokens(&tokens);
    let words = QuestionWords {
        tokens: &tokens,
        today,
    };
    let relative = relative_times(&lower);
    let mixed = relative > 1 || relative > 0 && !dates.is_empty();
    if mixed || cues::opens_relative_time(&lower) || words.has_unclear_years(&dates) {
        return NamedTime::Unclear;
    }
    if lower.bytes().any(|b| b.is_ascii_digit()) && cues::OPEN_TIME.is_in_unspaced(&lower) {
        return NamedTime::Unclear;
    }
    match dates.as_slice() {
        [] => NamedTime::Simple,
        [date] => words.with_one_date(date),
        [first, last] => words.with_two_dates(first, last),
        _ => NamedTime::Unclear,
    }
}

/// The days from one month or day to another, both without a year: "from January to March". The
/// last one is the latest before `today`.
pub(super) fn named_months(question: &str, today: Day) -> Option<Period> {
    let lower = question.to_lowercase();
    let tokens = tokens(&lower);
    let words = QuestionWords {
        tokens: &tokens,
        today,
    };
    (1..tokens.len()).find_map(|middle| words.months_around(middle))
}

/// The latest month, or months, that the question names without a year: "in November".
pub(super) fn month_without_year(question: &str, today: Day) -> Option<Period> {
    let lower = question.to_lowercase();
    let tokens = tokens(&lower);
    let is_time =
        |pair: &[&str]| cues::holds(cues::BEFORE_MONTH, pair[0]) && cues::month(pair[1]).is_some();
    let names_month = tokens.windows(2).any(is_time);
    names_month.then(|| named_days(question, today)).flatten()
}

/// Whether the question means all months from one to another.
pub(super) fn joins_months(question: &str, today: Day) -> bool {
    named_months(question, today).is_some()
        || matches!(named_time(question, today), NamedTime::Days(_))
}

/// The days since a month, or a day, without a year: "since January", "since 3 March".
pub(super) fn since_month(question: &str, today: Day) -> Option<Period> {
    let lower = question.to_lowercase();
    let tokens = tokens(&lower);
    let words = QuestionWords {
        tokens: &tokens,
        today,
    };
    (1..tokens.len()).find_map(|at| words.since_month(at))
}

/// The words of the question, in lower case, that are part of its dates.
pub(super) fn date_words(question: &str) -> HashSet<String> {
    let lower = question.to_lowercase();
    let tokens = tokens(&lower);
    let dates = dated_tokens(&tokens);
    let is_dated = |at: usize| dates.iter().any(|(range, _)| range.contains(&at));
    let is_month = |at: Option<usize>| month_at(&tokens, at).is_some();
    let is_range = |at: usize| {
        let to = tokens
            .get(at + 1)
            .is_some_and(|w| cues::holds(cues::RANGE_TO, w));
        to && number_at(&tokens, Some(at)).is_some()
    };
    let positions = 0..tokens.len();
    let words = positions.filter(|at| {
        let beside = is_month(at.checked_sub(1)) || is_month(Some(at + 1));
        let number = number_at(&tokens, Some(*at)).is_some();
        is_dated(*at) || is_month(Some(*at)) || number && (beside || is_range(*at))
    });
    let words = words.filter_map(|at| tokens.get(at));
    words.map(|word| (*word).to_owned()).collect()
}

/// How many kinds of words such as "yesterday" and "last week" the text has.
fn relative_times(lower: &str) -> usize {
    let kinds = cues::RELATIVE_TIMES.iter();
    kinds.filter(|cue| cue.are_in(lower)).count()
}

/// The words of a question, in lower case, and the day on which it is asked.
struct QuestionWords<'a> {
    tokens: &'a [&'a str],
    today: Day,
}

impl QuestionWords<'_> {
    /// The position of the word before `at`, without articles.
    fn before(&self, at: usize) -> Option<usize> {
        let before = self.tokens.get(..at)?;
        before
            .iter()
            .rposition(|word| !cues::holds(cues::ARTICLES, word))
    }

    /// Whether the word before `at` is in a list.
    fn follows(&self, at: usize, list: &'static str) -> bool {
        let word = self.before(at).and_then(|i| self.tokens.get(i));
        word.is_some_and(|word| cues::holds(list, word))
    }

    /// Whether the question names several years without a month, or the beginning or the end of a
    /// time by a year.
    fn has_unclear_years(&self, dates: &[(Range<usize>, Day)]) -> bool {
        let is_year = |i: &usize| {
            let four = self.tokens.get(*i).is_some_and(|token| token.len() == 4);
            four && number_at(self.tokens, Some(*i)).is_some_and(|y| (1900..2100).contains(&y))
                && !dates.iter().any(|(range, _)| range.contains(i))
        };
        let years: Vec<usize> = (0..self.tokens.len()).filter(is_year).collect();
        let open = |at: &usize| self.follows(*at, cues::OPEN_TIME.spaced());
        years.len() > 1 || !years.is_empty() && !dates.is_empty() || years.iter().any(open)
    }

    fn with_two_dates(&self, first: &(Range<usize>, Day), last: &(Range<usize>, Day)) -> NamedTime {
        let joint = self.before(last.0.start);
        let alone = joint.is_some_and(|at| self.before(at).map(|i| i + 1) == Some(first.0.end));
        match alone && self.joins(joint, first.0.start) {
            true => days_from(first.1, last.1),
            false => NamedTime::Unclear,
        }
    }

    /// Whether the word at `joint` joins the ends of a time of which the first begins at `start`.
    fn joins(&self, joint: Option<usize>, start: usize) -> bool {
        let Some(word) = joint.and_then(|at| self.tokens.get(at)) else {
            return false;
        };
        cues::holds(cues::RANGE_TO, word)
            || cues::holds(cues::RANGE_AND, word) && self.follows(start, cues::RANGE_BETWEEN)
    }

    fn with_one_date(&self, (range, day): &(Range<usize>, Day)) -> NamedTime {
        let joint = self.before(range.start);
        let word = joint.and_then(|at| self.tokens.get(at)).unwrap_or(&"");
        let ends = cues::holds(cues::RANGE_TO, word) || cues::holds(cues::RANGE_AND, word);
        if let Some((start, first)) = joint
            .filter(|_| ends)
            .and_then(|at| self.part_before(at, *day))
        {
            return match self.joins(joint, start) {
                true => days_from(first, *day),
                false => NamedTime::Unclear,
            };
        }
        let (begin, _) = span_of(*day);
        if cues::holds(cues::SINCE, word) && begin <= self.today {
            return days_from(*day, self.today);
        }
        let other_month = self.tokens.iter().enumerate().any(|(i, token)| {
            let named = cues::month(token).is_some() && !is_ambiguous_month(token);
            named && !range.contains(&i)
        });
        match other_month || cues::holds(cues::OPEN_TIME.spaced(), word) {
            true => NamedTime::Unclear,
            false => NamedTime::Simple,
        }
    }

    /// The month or day that ends before token `at`, with the year, and maybe the month, of the
    /// date `last`; and where it begins.
    fn part_before(&self, at: usize, last: Day) -> Option<(usize, Day)> {
        let (one, two) = (at.checked_sub(1)?, at.checked_sub(2));
        let day_at = |i: Option<usize>| number_at(self.tokens, i).filter(|d| (1..=31).contains(d));
        let year = last.year;
        if let Some(month) = month_at(self.tokens, Some(one)) {
            let day = day_at(two);
            let start = two.filter(|_| day.is_some()).unwrap_or(one);
            let day = day.unwrap_or(0);
            return Some((start, Day { year, month, day }));
        }
        let day = day_at(Some(one))?;
        if let Some((start, month)) = two.zip(month_at(self.tokens, two)) {
            return Some((start, Day { year, month, day }));
        }
        let month = last.month;
        (last.day > 0).then_some((one, Day { year, month, day }))
    }

    /// The days from the month before token `middle` to the month behind it.
    fn months_around(&self, middle: usize) -> Option<Period> {
        let behind = (middle + 1..self.tokens.len())
            .find(|i| !cues::holds(cues::ARTICLES, self.tokens.get(*i).unwrap_or(&"")))?;
        let (month, day) = self.month_from(behind)?;
        let last = occurrence(self.today, month, day)?;
        let (start, first) = self.part_before(middle, last)?;
        if !self.joins(Some(middle), start) {
            return None;
        }
        let year = first.year - u32::from((first.month, first.day) > (last.month, last.day));
        match days_from(Day { year, ..first }, last) {
            NamedTime::Days(period) => Some(period),
            _ => None,
        }
    }

    /// The month at token `at`, with the day beside it or 0.
    fn month_from(&self, at: usize) -> Option<(u32, u32)> {
        let day_at = |i: usize| number_at(self.tokens, Some(i)).filter(|d| (1..=31).contains(d));
        if let Some(month) = month_at(self.tokens, Some(at)) {
            return Some((month, day_at(at + 1).unwrap_or(0)));
        }
        let day = day_at(at)?;
        Some((month_at(self.tokens, Some(at + 1))?, day))
    }

    /// The days since the month at token `at`, or since the day beside it, if "since" stands before.
    fn since_month(&self, at: usize) -> Option<Period> {
        let (month, day) = self
            .month_from(at)
            .filter(|_| self.follows(at, cues::SINCE))?;
        match days_from(occurrence(self.today, month, day)?, self.today) {
            NamedTime::Days(period) => Some(period),
            _ => None,
        }
    }
}

/// All days from the first day of one date to the last day of another.
fn days_from(first: Day, last: Day) -> NamedTime {
    let exists = |day: Day| day.day == 0 || Day::new(day.year, day.month, day.day).is_some();
    let ((first, _), (_, last)) = match exists(first) && exists(last) {
        true => (span_of(first), span_of(last)),
        false => return NamedTime::Unclear,
    };
    match first <= last {
        true => NamedTime::Days(Period { first, last }),
        false => NamedTime::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(question: &str) -> String {
        match named_time(question, Day::parse("2026-06-20").unwrap()) {
            NamedTime::Simple => "simple".to_owned(),
            NamedTime::Unclear => "unclear".to_owned(),
            NamedTime::Days(period) => format!("{}..{}", period.first, period.last),
        }
    }

    #[test]
    fn a_time_is_all_days_from_its_first_date_to_its_last() {
        for (question, days) in [
            ("from January 2026 to March 2026", "2026-01-01..2026-03-31"),
            ("from January to March 2026", "2026-01-01..2026-03-31"),
            (
                "between 2026-01-01 and 2026-03-12",
                "2026-01-01..2026-03-12",
            ),
            ("from 1 to 15 May 2026", "2026-05-01..2026-05-15"),
            ("from May 3 until June 4, 2026", "2026-05-03..2026-06-04"),
            ("von Januar 2026 bis März 2026", "2026-01-01..2026-03-31"),
            ("vom 1. bis zum 15. Mai 2026", "2026-05-01..2026-05-15"),
            (
                "zwischen dem 01.01.2026 und dem 12.03.2026",
                "2026-01-01..2026-03-12",
            ),
            ("de janvier 2026 à mars 2026", "2026-01-01..2026-03-31"),
            ("entre enero y marzo de 2026", "2026-01-01..2026-03-31"),
            ("с января 2026 по март 2026", "2026-01-01..2026-03-31"),
            ("since January 2026", "2026-01-01..2026-06-20"),
        ] {
            assert_eq!(time(question), days, "{question}");
        }
    }

    #[test]
    fn dates_that_bound_no_time_leave_it_unclear() {
        for question in [
            "in January 2026 and March 2026",
            "in January and March 2026",
            "on 2026-01-01, 2026-03-12",
            "before March 2026",
            "until 2026-03-12",
            "from March 2026 to January 2026",
            "from 2024 to 2026",
            "since 2024",
            "since last week",
            "last week and this week",
            "from 2026-01-01 until today",
        ] {
            assert_eq!(time(question), "unclear", "{question}");
        }
        for question in [
            "in March 2026",
            "last week",
            "in 2026",
            "What may I spend in March 2026?",
        ] {
            assert_eq!(time(question), "simple", "{question}");
        }
    }

    #[test]
    fn months_without_a_year_bound_the_latest_time() {
        let days = |question: &str| {
            let today = Day::parse("2026-06-20").unwrap();
            named_months(question, today).map(|p| format!("{}..{}", p.first, p.last))
        };
        let spring = Some("2026-01-01..2026-03-31".to_owned());
        assert_eq!(days("what happened from January to March"), spring);
        assert_eq!(days("was war zwischen Januar und März"), spring);
        let winter = Some("2025-11-01..2026-02-28".to_owned());
        assert_eq!(days("from November to February"), winter);
        assert_eq!(days("January and March"), None);
        let since = |question: &str| {
            let today = Day::parse("2026-06-20").unwrap();
            since_month(question, today).map(|p| format!("{}..{}", p.first, p.last))
        };
        for (question, days) in [
            ("what happened since March", Some("2026-03-01..2026-06-20")),
            (
                "what happened since 3 March",
                Some("2026-03-03..2026-06-20"),
            ),
            (
                "what happened since March 3",
                Some("2026-03-03..2026-06-20"),
            ),
            ("was war seit dem 1. Juni", Some("2026-06-01..2026-06-20")),
            ("what happened since 3 July", Some("2025-07-03..2026-06-20")),
            ("what happened in March", None),
        ] {
            assert_eq!(since(question).as_deref(), days, "{question}");
        }
        let joins = |question: &str| joins_months(question, Day::parse("2026-06-20").unwrap());
        assert!(joins("rent from January to March") && joins("from January 2026 to March 2026"));
        assert!(!joins("rent in January and March"), "February is not meant");
    }
}
