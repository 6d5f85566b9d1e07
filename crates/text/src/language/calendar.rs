//! Months, weekdays and days relative to today, in every language that has a data file.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use super::Language;
use super::lexicon::{Section, all_items, items_without_false_friends};
use super::script::is_unspaced;

/// Word → number, for all languages, without words that mean something else in another language.
type Places = HashMap<&'static str, u32, RandomState>;

static MONTHS: LazyLock<Places> = LazyLock::new(|| places(Section::Months, 1));
static WEEKDAYS: LazyLock<Places> = LazyLock::new(|| places(Section::Weekdays, 0));

fn places(section: Section, first: u32) -> Places {
    let mut places = Places::default();
    for (language, _, item) in items_without_false_friends(section) {
        if let Some(place) = place(language, section, item) {
            places.entry(item).or_insert(place + first);
        }
    }
    places
}

/// The number of the month, 1 to 12, that `word` (lower case, no dot) names in `language`.
pub fn month(language: Language, word: &str) -> Option<u32> {
    place(language, Section::Months, word).map(|place| place + 1)
}

/// The number of the month, 1 to 12, that `word` (lower case, no dot) names in any language.
pub fn any_month(word: &str) -> Option<u32> {
    MONTHS.get(word).copied()
}

/// Whether `word` (lower case) also has another meaning ("may", "march"). Then it is a month only
/// with a capital letter or next to a number.
pub fn is_ambiguous_month(word: &str) -> bool {
    all_items(Section::AmbiguousMonths).any(|(_, item)| item == word)
}

/// The number of the day, 0 (Monday) to 6, that `word` (lower case) names in `language`.
pub fn weekday(language: Language, word: &str) -> Option<u32> {
    place(language, Section::Weekdays, word)
}

/// The number of the day, 0 (Monday) to 6, that `word` (lower case) names in any language.
pub fn any_weekday(word: &str) -> Option<u32> {
    WEEKDAYS.get(word).copied()
}

/// The days from today to the day that a phrase for the day before yesterday or the day after
/// tomorrow in `lower` (lower case, one blank between words) names, in any language: -2 or 2. The
/// phrases for nearer days have other meanings too ("morgen", "hier").
pub fn distant_day(lower: &str) -> Option<i32> {
    let spaced = format!(" {lower} ");
    let rows = Language::ALL
        .iter()
        .flat_map(|language| language.lexicon().rows(Section::RelativeDays));
    let distant = rows.filter_map(|row| {
        let days = row.key.parse::<i32>().ok().filter(|days| days.abs() == 2)?;
        Some((days, row))
    });
    let is_in = |phrase: &&str| match phrase.chars().any(is_unspaced) {
        true => lower.contains(*phrase),
        false => spaced.contains(&format!(" {phrase} ")),
    };
    distant
        .into_iter()
        .find(|(_, row)| row.items.iter().any(is_in))
        .map(|(days, _)| days)
}

fn place(language: Language, section: Section, word: &str) -> Option<u32> {
    let (_, place) = language.lexicon().row_of(section, word)?;
    u32::try_from(place).ok()
}

/// The number of days of a month, 1 to 12, in the Gregorian calendar; 0 for an invalid month.
/// Without a year February has 29.
pub fn days_in_month(year: Option<i32>, month: u32) -> u32 {
    let is_leap = year.is_none_or(|year| {
        year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0)
    });
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

/// Whether a day of the month exists; without a year, whether it exists in any.
pub fn is_day(year: Option<i32>, month: u32, day: u32) -> bool {
    (1..=days_in_month(year, month)).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_two_days_away_is_named_in_any_language() {
        for (text, days) in [
            ("what did i do the day before yesterday", Some(-2)),
            ("was habe ich vorgestern gemacht", Some(-2)),
            ("qu'est-ce que j'ai fait avant-hier", Some(-2)),
            ("какие встречи послезавтра", Some(2)),
            ("我前天做了什么", Some(-2)),
            ("what did i do yesterday", None),
            ("was mache ich morgen früh", None),
            ("die vorgestern", Some(-2)),
            ("vorgesternabend", None),
        ] {
            assert_eq!(distant_day(text), days, "{text}");
        }
    }

    #[test]
    fn a_day_exists_or_it_does_not() {
        for (year, month, day) in [
            (Some(2024), 2, 29),
            (Some(2000), 2, 29),
            (None, 2, 29),
            (None, 12, 31),
        ] {
            assert!(is_day(year, month, day), "{year:?} {month} {day}");
        }
        for (year, month, day) in [
            (Some(2023), 2, 29),
            (Some(1900), 2, 29),
            (None, 2, 30),
            (None, 4, 31),
            (None, 13, 1),
            (None, 0, 1),
            (None, 1, 0),
        ] {
            assert!(!is_day(year, month, day), "{year:?} {month} {day}");
        }
    }

    #[test]
    fn months_and_days_are_known_in_their_languages() {
        for (language, first, last, monday, sunday) in [
            (Language::English, "january", "dec", "monday", "sundays"),
            (Language::German, "jänner", "dezember", "montag", "sonntag"),
            (Language::French, "janvier", "décembre", "lundi", "dimanche"),
            (Language::Spanish, "enero", "diciembre", "lunes", "domingo"),
            (
                Language::Italian,
                "gennaio",
                "dicembre",
                "lunedì",
                "domenica",
            ),
            (
                Language::Portuguese,
                "janeiro",
                "dezembro",
                "segunda-feira",
                "domingo",
            ),
            (Language::Dutch, "januari", "december", "maandag", "zondag"),
            (
                Language::Russian,
                "января",
                "декабрь",
                "понедельник",
                "воскресенье",
            ),
            (Language::Chinese, "一月", "十二月", "星期一", "星期日"),
            (Language::Japanese, "一月", "十二月", "月曜日", "日曜日"),
        ] {
            assert_eq!(month(language, first), Some(1), "{first}");
            assert_eq!(month(language, last), Some(12), "{last}");
            assert_eq!(weekday(language, monday), Some(0), "{monday}");
            assert_eq!(weekday(language, sunday), Some(6), "{sunday}");
            assert_eq!((any_month(first), any_weekday(sunday)), (Some(1), Some(6)));
        }
        assert!(is_ambiguous_month("may") && !is_ambiguous_month("february"));
    }
}
