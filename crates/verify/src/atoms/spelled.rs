//! Numbers, months and weekdays in words of other languages than English.
//!
//! A word is read in the language of its text. If that is not known, only a word that no other
//! language has in another meaning is read.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use super::numbers::{Reader, Value, fraction_value};
use crate::checks::{Language as Known, of_answer};
use local_agent_text::language::Language;
use local_agent_text::language::lexicon::Section;
use local_agent_text::language::{calendar, is_common_english_word, numerals};

/// The languages whose numerals are read.
const LANGUAGES: [Language; 7] = [
    Language::German,
    Language::French,
    Language::Spanish,
    Language::Italian,
    Language::Dutch,
    Language::Portuguese,
    Language::Russian,
];

/// Numerals with another meaning: they count only as a part of a larger number, or before a unit.
const AMBIGUOUS: &[&str] = list!("spelled.ambiguous");
pub(super) const TIES: &[&str] = list!("spelled.ties");
pub(super) const HALVES: &[&str] = list!("spelled.halves");

type Places = HashMap<&'static str, u32, RandomState>;

/// The words of `data/spelled.txt` and of the languages.
#[derive(Default)]
struct Words {
    numerals: HashMap<&'static str, Vec<(Language, f64)>, RandomState>,
    days: Places,
    hours: Places,
    weekdays: Places,
}

static WORDS: LazyLock<Words> = LazyLock::new(Words::read);

impl Words {
    fn read() -> Self {
        let mut this = Self::default();
        for language in LANGUAGES {
            for row in language.lexicon().rows(Section::Numerals) {
                let value = row.key.parse::<f64>().ok().filter(|v| *v > 0.0);
                let items = row.items.iter().filter_map(|item| Some((*item, value?)));
                for (item, value) in items {
                    this.numerals
                        .entry(item)
                        .or_default()
                        .push((language, value));
                }
            }
        }
        let lines = include_str!("../data/spelled.txt").lines();
        for line in lines.filter(|l| !l.starts_with('#')) {
            this.add(line);
        }
        this
    }

    /// Adds a line: `language value: words`.
    fn add(&mut self, line: &'static str) {
        let Some((head, words)) = line.split_once(": ") else {
            return;
        };
        let Some((code, value)) = head.split_once(' ') else {
            return;
        };
        for word in words.split_whitespace() {
            let places = match code {
                "day" => Some(&mut self.days),
                "hour" => Some(&mut self.hours),
                "weekday" => Some(&mut self.weekdays),
                _ => None,
            };
            if let Some(places) = places {
                value.parse().ok().map(|n| places.insert(word, n));
                continue;
            }
            let language = LANGUAGES.iter().find(|l| l.code() == code);
            if let (Some(language), Ok(value)) = (language, value.parse()) {
                let known = self.numerals.entry(word).or_default();
                known.push((*language, value));
            }
        }
    }
}

/// Every word at which a number, date or time of these languages may begin.
pub(crate) fn words_of_amounts() -> Vec<&'static str> {
    let words = &*WORDS;
    let mut out: Vec<&str> = words.numerals.keys().copied().collect();
    for places in [&words.days, &words.hours, &words.weekdays] {
        out.extend(places.keys().copied());
    }
    for language in LANGUAGES {
        for section in [Section::Months, Section::Weekdays] {
            // The words of "segunda-feira" are tokens of their own.
            let items = language.lexicon().items(section);
            out.extend(items.filter_map(|item| item.split('-').next()));
        }
    }
    out.extend(SIGNS_OF_WEEKDAYS);
    out.extend(HALVES);
    out.extend(super::spoken::OPENERS.iter().copied().flatten());
    out
}

/// Whether a lower-case word is a numeral in one word: "zweihundertfünfzig".
pub(crate) fn is_compound_numeral(word: &str) -> bool {
    const SHORTEST: usize = 8;
    word.len() >= SHORTEST && numerals::any_cardinal(word).is_some()
}

/// The language of a text, as far as its numerals are concerned.
pub(super) fn language_of(text: &str) -> Option<Language> {
    language_with_numerals(of_answer(text)?)
}

/// The value of a numeral in lower case in a text of this language: "sei" is 6 in Italian.
pub(crate) fn numeral_in(lower: &str, language: Option<Known>) -> Option<f64> {
    let language = language_with_numerals(language?)?;
    numeral(lower, Some(language), true)
}

/// The language of the numerals.
fn language_with_numerals(known: Known) -> Option<Language> {
    Some(match known {
        Known::English => Language::English,
        Known::German => Language::German,
        Known::French => Language::French,
        Known::Spanish => Language::Spanish,
        Known::Italian => Language::Italian,
        Known::Dutch => Language::Dutch,
        Known::Portuguese => Language::Portuguese,
        Known::Script(0x04) => Language::Russian,
        Known::Script(_) => return None,
    })
}

/// The signs with which a weekday begins in Chinese and Japanese.
const SIGNS_OF_WEEKDAYS: &[&str] = &[
    "月", "火", "水", "木", "金", "土", "日", "周", "週", "星", "礼",
];

/// The least letters of a word in Latin letters that is read without its language.
const SHORTEST_FREE: usize = 4;

/// The value of one numeral in lower case; `anyway`: also if the word mostly means something else.
pub(super) fn numeral(lower: &str, language: Option<Language>, anyway: bool) -> Option<f64> {
    if language == Some(Language::English) || !anyway && AMBIGUOUS.contains(&lower) {
        return None;
    }
    let known = WORDS.numerals.get(lower).map_or(&[][..], Vec::as_slice);
    if let Some((_, value)) = known.iter().find(|(l, _)| Some(*l) == language) {
        return Some(*value);
    }
    let Some((_, first)) = known.first() else {
        return numerals::any_cardinal(lower).filter(|_| is_compound_numeral(lower));
    };
    let is_free = !lower.is_ascii() || lower.len() >= SHORTEST_FREE;
    let is_one = known.iter().all(|(_, value)| value == first);
    (is_free && is_one && !is_common_english_word(lower)).then_some(*first)
}

/// The digits of a numeral in lower case that is one in any text: "vier", "doce", "двенадцать".
pub(crate) fn digits_of_numeral(lower: &str) -> Option<String> {
    let value = numeral(lower, None, false)?;
    let is_safe = value >= 2.0 && value.fract() == 0.0 && lower != "otto";
    is_safe.then(|| value.to_string())
}

/// The day of the month that an ordinal names: "dritten", "третьего".
pub(super) fn day_by_ordinal(lower: &str) -> Option<u32> {
    WORDS.days.get(lower).copied()
}

/// The hour that the Russian ordinal names: "восьмого".
pub(super) fn hour_by_ordinal(lower: &str) -> Option<u32> {
    WORDS.hours.get(lower).copied()
}

/// Maximum number of words of one number.
const MOST_PARTS: usize = 8;

impl Reader<'_> {
    /// The value of the numeral at token `i`; a capital is allowed only at the beginning.
    fn numeral_at(&self, i: usize, anyway: bool) -> Option<f64> {
        let token = self.words.tokens.get(i)?;
        let is_word = self.word(i).starts_with(char::is_alphabetic);
        let is_small = !token.capital || token.first;
        let lower = self.lower(i);
        numeral(&lower, self.language, anyway).filter(|_| is_word && is_small)
    }

    /// Reads a number in words: "quarante-deux", "treinta y cinco", "двадцать пять".
    pub(super) fn spelled(&self, i: usize) -> Option<Value> {
        if let Some(half) = self.half_of_a_unit(i) {
            return Some(half);
        }
        // "Drei Viertel" is a fraction.
        if fraction_value(&self.lower(i + 1)).is_some() && self.joined(i) {
            return None;
        }
        let ambiguous = AMBIGUOUS.contains(&&*self.lower(i));
        let mut value = self.numeral_at(i, ambiguous)?;
        let (mut total, mut next) = (0.0, i + 1);
        for _ in 0..MOST_PARTS {
            if !self.joined(next - 1) {
                break;
            }
            let tied = TIES.contains(&&*self.lower(next)) && self.joined(next);
            let at = next + usize::from(tied);
            let Some(part) = self.numeral_at(at, true) else {
                break;
            };
            if part == 1000.0 && !tied && (1.0..1000.0).contains(&value) {
                (total, value) = (total + value * 1000.0, 0.0);
            } else if let Some(sum) = put_together(value, part, tied) {
                value = sum;
            } else {
                break;
            }
            next = at + 1;
        }
        let is_alone = ambiguous && next == i + 1;
        let counts = value > 1.0 && self.unit_after(next).0.is_some();
        (!is_alone || counts).then(|| Value::words(value + total, next))
    }

    /// Reads "half" directly before a unit: "media hora".
    fn half_of_a_unit(&self, i: usize) -> Option<Value> {
        let is_half = HALVES.contains(&&*self.lower(i)) && self.joined(i);
        (is_half && self.unit_after(i + 1).0.is_some()).then(|| Value::words(0.5, i + 1))
    }

    /// The index behind "and a half" that follows a unit: "deux heures et demie".
    pub(super) fn half_behind_a_unit(&self, next: usize) -> Option<usize> {
        if self.word(next) == "半" && self.before(next).is_empty() {
            return Some(next + 1);
        }
        let tied = TIES.contains(&&*self.lower(next)) && self.joined(next);
        let is_half = tied && HALVES.contains(&&*self.lower(next + 1));
        (is_half && next > 0 && self.joined(next - 1)).then_some(next + 2)
    }

    /// The month that token `i` names in another language than English, in lower case: "mars".
    pub(super) fn month_in_words(&self, i: usize) -> Option<u32> {
        let word = self.word(i);
        if !word.starts_with(char::is_lowercase) {
            return None;
        }
        let is_long = word.chars().count() >= SHORTEST_FREE || !word.is_ascii();
        match self.language {
            Some(Language::English) => None,
            // "Sept" is seven in French.
            Some(language) if numeral(word, Some(language), false).is_some() => None,
            Some(language) => {
                let own = calendar::month(language, word);
                own.filter(|_| is_long || matches!(word, "mai" | "mei"))
            }
            None => calendar::any_month(word).filter(|_| {
                is_long && !calendar::is_ambiguous_month(word) && !is_common_english_word(word)
            }),
        }
    }

    /// The month that token `i` names in short behind a day, in the language of the text: "5 out", in
    /// a Portuguese text.
    pub(super) fn short_month(&self, i: usize) -> Option<u32> {
        const SHORT: &[&str] = list!("dates.short-months");
        let language = self.language.filter(|l| *l != Language::English)?;
        let lower = self.lower(i);
        let own = SHORT.iter().find_map(|entry| {
            let mut parts = entry.split(' ');
            let is_own = parts.next() == Some(language.code()) && parts.next() == Some(&*lower);
            parts.next().filter(|_| is_own)?.parse().ok()
        });
        own.or_else(|| calendar::month(language, &lower))
    }

    /// The weekday that token `i` names in another language than English, and the index behind it.
    pub(super) fn weekday_in_words(&self, i: usize) -> Option<(u32, usize)> {
        if let Some(found) = self.weekday_in_signs(i) {
            return Some(found);
        }
        let word = self.word(i);
        if self.language == Some(Language::English) || !word.starts_with(char::is_alphabetic) {
            return None;
        }
        let lower = self.lower(i);
        if self.gap(i) == "-" && self.lower(i + 1).starts_with("feira") {
            let full = format!("{lower}-feira");
            let day = calendar::weekday(Language::Portuguese, full.trim());
            let plural = format!("{lower}-feiras");
            return day
                .or_else(|| calendar::weekday(Language::Portuguese, &plural))
                .map(|day| (day, i + 2));
        }
        let known = self.language.and_then(|l| calendar::weekday(l, &lower));
        let known = known.or_else(|| WORDS.weekdays.get(&*lower).copied());
        let free = || calendar::any_weekday(&lower).filter(|_| self.language.is_none());
        let is_small = word.starts_with(char::is_lowercase);
        let is_first = self.words.tokens.get(i).is_some_and(|t| t.first);
        let allowed = is_small || is_first || self.language == Some(Language::German);
        known
            .or_else(free)
            .filter(|_| allowed)
            .map(|day| (day, i + 1))
    }

    /// Reads "水曜日" or "周二".
    fn weekday_in_signs(&self, i: usize) -> Option<(u32, usize)> {
        let first = self.word(i).chars().next().filter(|c| !c.is_ascii())?;
        if !SIGNS_OF_WEEKDAYS.iter().any(|sign| sign.starts_with(first)) {
            return None;
        }
        let rest = self.text.get(self.words.tokens.get(i)?.start..)?;
        let counted = self.before(i).is_empty()
            && i.checked_sub(1)
                .is_some_and(|p| self.ideographs(p).is_some());
        for language in [Language::Japanese, Language::Chinese] {
            let rows = language.lexicon().rows(Section::Weekdays);
            for (day, row) in (0_u32..).zip(rows) {
                let found = row.items.iter().find(|item| rest.starts_with(**item));
                if let Some(item) = found.filter(|_| !counted) {
                    return Some((day, i + item.chars().count()));
                }
            }
        }
        None
    }
}

/// The value of two parts of a number behind each other: 40 and 2, 4 and 20, 3 and 100, 60 and 12.
fn put_together(value: f64, part: f64, tied: bool) -> Option<f64> {
    let is_part = |unit: f64| value % unit == 0.0 && part < unit;
    if part == 100.0 && !tied && (2.0..=9.0).contains(&value) {
        return Some(value * 100.0);
    }
    // "quatre-vingts".
    if value == 4.0 && part == 20.0 && !tied {
        return Some(80.0);
    }
    let french = matches!(value % 100.0, 60.0 | 80.0) && (10.0..20.0).contains(&part);
    // "dix-huit".
    let teens = value == 10.0 && (7.0..=9.0).contains(&part);
    let tens = (20.0..1000.0).contains(&value) && value % 100.0 != 0.0 && is_part(10.0);
    let hundreds = value >= 100.0 && is_part(100.0);
    (part >= 1.0 && (french || teens || tens || hundreds)).then_some(value + part)
}
