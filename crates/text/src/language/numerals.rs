//! Numbers written out.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use super::Language;
use super::lexicon::{Section, items_without_false_friends};

/// Word → value, for all languages, without words that mean something else in another language.
type Values = HashMap<&'static str, f64, RandomState>;

static CARDINALS: LazyLock<Values> = LazyLock::new(|| values(Section::Numerals));

fn values(section: Section) -> Values {
    let mut values = Values::default();
    for (language, row, item) in items_without_false_friends(section) {
        let ambiguous = language != Language::English && is_ambiguous(language, item);
        if let Ok(value) = row.key.parse()
            && !ambiguous
        {
            values.entry(item).or_insert(value);
        }
    }
    values
}

/// The value of one number word (lower case) in `language`: "twelve", "zwanzig",
/// "zweihundertfünfzig".
pub fn cardinal(language: Language, word: &str) -> Option<f64> {
    value(language, Section::Numerals, word).or_else(|| compound(language, word))
}

/// The value of one number word (lower case) in any language. Words with another meaning in some
/// language are left out; English "one" is included.
pub fn any_cardinal(word: &str) -> Option<f64> {
    let compounding = [Language::German, Language::Dutch];
    let known = CARDINALS.get(word).copied();
    known.or_else(|| compounding.iter().find_map(|one| compound(*one, word)))
}

/// The longest word that is parsed as a compound, in bytes.
const LONGEST_COMPOUND: usize = 64;

/// The value of a number written as one word: units, the word "and" and tens ("fünfundzwanzig"), or
/// parts around "hundred" and "thousand" ("zweitausenddreihundert"). `None` in languages without
/// such words (they have no property `compound-and`).
fn compound(language: Language, word: &str) -> Option<f64> {
    let and = language.lexicon().property("compound-and")?;
    if word.len() > LONGEST_COMPOUND {
        return None;
    }
    for magnitude in [1000.0, 100.0] {
        let names = language.lexicon().rows(Section::Magnitudes).iter();
        let mut names = names
            .filter(|row| row.key.parse() == Ok(magnitude))
            .flat_map(|row| &row.items);
        if let Some((before, after)) = names.find_map(|name| word.split_once(name)) {
            let times = part(language, before, 1.0).filter(|times| *times < magnitude)?;
            let rest = part(language, after, 0.0).filter(|rest| *rest < magnitude)?;
            return Some(times * magnitude + rest);
        }
    }
    let splits = word.match_indices(and);
    splits.into_iter().find_map(|(at, _)| {
        let units = value(language, Section::Numerals, &word[..at])?;
        let tens = value(language, Section::Numerals, &word[at + and.len()..])?;
        let fits = (1.0..10.0).contains(&units) && tens >= 20.0 && tens % 10.0 == 0.0;
        fits.then_some(units + tens)
    })
}

/// The value of a part of a compound, or `missing` if the part is empty.
fn part(language: Language, word: &str, missing: f64) -> Option<f64> {
    if word.is_empty() {
        Some(missing)
    } else {
        cardinal(language, word)
    }
}

/// Whether `word` (lower case) is a numeral of `language` with another meaning: "one".
pub fn is_ambiguous(language: Language, word: &str) -> bool {
    language
        .lexicon()
        .contains(Section::AmbiguousNumerals, word)
}

fn value(language: Language, section: Section, word: &str) -> Option<f64> {
    let (key, _) = language.lexicon().row_of(section, word)?;
    key.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_words_have_their_values() {
        for (word, value) in [
            ("zero", 0.0),
            ("twelve", 12.0),
            ("zwölf", 12.0),
            ("dreißig", 30.0),
            ("quinze", 15.0),
            ("veinte", 20.0),
            ("sette", 7.0),
            ("двадцать", 20.0),
            ("七", 7.0),
        ] {
            assert_eq!(any_cardinal(word), Some(value), "{word}");
        }
        assert_eq!(cardinal(Language::German, "eine"), Some(1.0));
        assert!(is_ambiguous(Language::English, "one"));
    }

    #[test]
    fn numbers_in_one_word_are_put_together() {
        for (word, value) in [
            ("fünfundzwanzig", 25.0),
            ("einundachtzig", 81.0),
            ("hundert", 100.0),
            ("zweihundertfünfzig", 250.0),
            ("dreitausend", 3000.0),
            ("zweitausenddreihundertvierundsechzig", 2364.0),
            ("vijfentwintig", 25.0),
        ] {
            assert_eq!(any_cardinal(word), Some(value), "{word}");
        }
        for word in [
            "hundertwasser",
            "tausendfüßler",
            "undzwanzig",
            "einundzwei",
            "stunden",
        ] {
            assert_eq!(any_cardinal(word), None, "{word}");
        }
    }

    #[test]
    fn a_numeral_that_is_another_word_elsewhere_needs_its_language() {
        assert_eq!(cardinal(Language::Spanish, "once"), Some(11.0));
        assert_eq!(cardinal(Language::Danish, "fire"), Some(4.0));
        for word in ["once", "fire", "on", "to", "bin", "eine"] {
            assert_eq!(any_cardinal(word), None, "{word}");
        }
    }
}
