//! Detects the language of a text: by its script, and in Latin script by its most common words.
//!
//! An unclear text gets no language, and the rules shared by all languages apply. A wrong language
//! would give a document wrong stems.
//!
//! Measured against two crates on 1,024 translated manual pages in 20 languages (half of a sample
//! of Debian 12's `manpages-*`; the other half was used to make the word lists). Each detector got
//! the first 1,200 bytes. Untranslated English pages count as wrong for all detectors, and so do
//! answers for Polish and Ukrainian, which have no data file:
//!
//! | detector | right | wrong | no answer | µs per page |
//! | --- | ---: | ---: | ---: | ---: |
//! | this one | .837 | .069 | .094 | 95 |
//! | `whatlang` 0.18 | .901 | .096 | .003 | 768 |
//! | `whatlang` 0.18, when it says it is reliable | .789 | .060 | .151 | 708 |
//! | `whichlang` 0.1 (16 languages) | .632 | .365 | .003 | 77 |
//!
//! Indexing detects the language of every document, so time matters, and a wrong answer costs more
//! than no answer.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use super::Language;
use super::lexicon::Section;
use super::scan::{prefix, skip};
use super::script::{self, Script};

/// Number of bytes of a document that are examined. Its language shows early, and the cost grows
/// with every word.
const SAMPLE_BYTES: usize = 1_200;
/// Minimum number of common words, and their minimum share of all words.
const LEAST_WORDS: usize = 3;
const LEAST_SHARE: f32 = 0.12;

/// A set of languages as one number.
type LanguageBits = u32;

const _: () = assert!(Language::ALL.len() <= LanguageBits::BITS as usize);

struct CommonWords {
    /// Common word → the languages in Latin script in which it is common.
    languages: HashMap<&'static str, LanguageBits, RandomState>,
    longest: usize,
}

static COMMON: LazyLock<CommonWords> = LazyLock::new(|| {
    let mut common = CommonWords {
        languages: HashMap::default(),
        longest: 0,
    };
    for language in Language::ALL.iter().filter(|one| is_latin(**one)) {
        for word in language.lexicon().items(Section::Common) {
            *common.languages.entry(word).or_default() |= 1 << *language as u32;
            common.longest = common.longest.max(word.len());
        }
    }
    common
});

fn is_latin(language: Language) -> bool {
    language.lexicon().property("script") == Some("Latin")
}

/// The language that `text` is clearly written in; `None` if that is unclear or the language has no
/// data file. The first 1,200 bytes decide.
pub fn detect(text: &str) -> Option<Language> {
    detect_parts(std::iter::once(text))
}

/// Like [`detect`], for a text in several parts. The script is that of the first part.
pub fn detect_parts<'a>(mut parts: impl Iterator<Item = &'a str> + Clone) -> Option<Language> {
    let all = parts.clone();
    let first = prefix(parts.next()?, SAMPLE_BYTES);
    match script::of_text(first) {
        Some(Script::Latin) | None => by_words(all),
        Some(script) => by_script(script, first),
    }
}

/// The sections whose words show the language of a question.
const OF_QUESTIONS: [Section; 3] = [Section::Common, Section::Stop, Section::QuestionStop];

/// The languages that a question may be in: that of its script, or in Latin script those with the
/// most function words in it. Several languages can have the same words. Empty if the text has no
/// such word.
///
/// [`detect`] needs three common words, which few questions have.
pub fn languages_of_question(text: &str) -> Vec<Language> {
    let sample = prefix(text, SAMPLE_BYTES);
    match script::of_text(sample) {
        Some(Script::Latin) | None => by_function_words(sample),
        Some(script) => by_script(script, sample).into_iter().collect(),
    }
}

/// The languages in Latin script with the most function words in `sample`.
fn by_function_words(sample: &str) -> Vec<Language> {
    let words = sample.split(|c: char| !c.is_alphabetic());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    let counts: Vec<(Language, usize)> = Language::ALL
        .iter()
        .filter(|language| is_latin(**language))
        .map(|language| (*language, function_words(*language, &words)))
        .collect();
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let best = counts
        .into_iter()
        .filter(|(_, count)| *count > 0 && *count == most);
    best.map(|(language, _)| language).collect()
}

/// How many of `words`, in lower case, are function words of `language`.
fn function_words(language: Language, words: &[String]) -> usize {
    let sections = |word: &&String| {
        OF_QUESTIONS
            .iter()
            .any(|section| language.lexicon().contains(*section, word))
    };
    words.iter().filter(sections).count()
}

/// The number of words in a sample, and how many of them are common in each language.
struct Counts {
    words: usize,
    common: [usize; Language::ALL.len()],
}

impl Counts {
    fn of<'a>(parts: impl Iterator<Item = &'a str>) -> Self {
        let mut counts = Self {
            words: 0,
            common: [0; Language::ALL.len()],
        };
        let mut left = SAMPLE_BYTES;
        for part in parts {
            let sample = prefix(part, left);
            left -= sample.len();
            counts.add(sample);
            if left == 0 {
                break;
            }
        }
        counts
    }

    fn add(&mut self, mut rest: &str) {
        let mut lower = String::new();
        loop {
            rest = &rest[skip(rest, 0, |c| !c.is_alphabetic())..];
            let (word, after) = rest.split_at(skip(rest, 0, char::is_alphabetic));
            if word.is_empty() {
                break;
            }
            rest = after;
            self.words += 1;
            if word.len() > COMMON.longest {
                continue;
            }
            lower.clear();
            if word.is_ascii() {
                lower.push_str(word);
                lower.make_ascii_lowercase();
            } else {
                lower.push_str(&word.to_lowercase());
            }
            let Some(languages) = COMMON.languages.get(lower.as_str()) else {
                continue;
            };
            for (at, count) in self.common.iter_mut().enumerate() {
                *count += (languages >> at & 1) as usize;
            }
        }
    }
}

/// The language whose common words make up most of a text in Latin script.
fn by_words<'a>(parts: impl Iterator<Item = &'a str>) -> Option<Language> {
    let counts = Counts::of(parts);
    // In a tie, the first in the list wins; English is first, so another language needs more.
    let (language, count) = Language::ALL
        .iter()
        .zip(counts.common)
        .max_by_key(|(language, count)| (*count, usize::MAX - **language as usize))?;
    let clear = count >= LEAST_WORDS && count as f32 >= LEAST_SHARE * counts.words as f32;
    clear.then_some(*language)
}

/// The language of a script that only one of our languages uses. `None` if `sample` has letters of
/// another language in that script, such as Ukrainian ones in Cyrillic.
fn by_script(script: Script, sample: &str) -> Option<Language> {
    let language = match script {
        Script::Cyrillic => Language::Russian,
        Script::Greek => Language::Greek,
        Script::Arabic => Language::Arabic,
        Script::Han => Language::Chinese,
        Script::Hiragana => Language::Japanese,
        Script::Hangul => Language::Korean,
        _ => return None,
    };
    let foreign = language
        .lexicon()
        .property("foreign-letters")
        .unwrap_or_default();
    (!sample.contains(|c| foreign.contains(c))).then_some(language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_detected_by_its_common_words_or_its_script() {
        let cases = [
            (
                "Die Häuser an der Straße sind alt, und das Dach des einen ist undicht.",
                Some("de"),
            ),
            (
                "Les maisons de la rue sont vieilles et le toit est abîmé par la pluie.",
                Some("fr"),
            ),
            (
                "Las casas de la calle son viejas y el techo de una se cayó por la lluvia.",
                Some("es"),
            ),
            (
                "Le case della strada sono vecchie e il tetto di una non è più intero.",
                Some("it"),
            ),
            (
                "As casas da rua são velhas e o telhado de uma não está inteiro.",
                Some("pt"),
            ),
            (
                "De huizen aan de straat zijn oud en het dak van een is niet dicht.",
                Some("nl"),
            ),
            (
                "Husen på gatan är gamla och taket på ett av dem är inte tätt.",
                Some("sv"),
            ),
            (
                "A ház az utcában régi, és a tető nem jó, hogy beázik.",
                Some("hu"),
            ),
            (
                "The houses of the street are old, and the roof of one is not tight.",
                Some("en"),
            ),
            (
                "The word Haus and the words die, der, das of the table are German.",
                Some("en"),
            ),
            ("Дома на улице старые, и крыша протекает.", Some("ru")),
            ("Будинки на вулиці старі, і дах протікає.", None),
            ("Τα σπίτια του δρόμου είναι παλιά.", Some("el")),
            ("بيوت الشارع قديمة والسقف يسرب الماء.", Some("ar")),
            ("خانه‌های این خیابان قدیمی هستند و گچ ریخته است.", None),
            ("街上的房子很旧，屋顶漏水。", Some("zh")),
            ("通りの家は古くて、屋根から雨が漏る。", Some("ja")),
            ("거리의 집들은 오래되었고 지붕이 샌다.", Some("ko")),
            ("let x = foo(bar); // de la", None),
            ("Brot", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(detect(text).map(Language::code), expected, "{text}");
        }
    }

    #[test]
    fn the_language_of_a_short_question_is_that_of_its_function_words() {
        let cases: [(&str, &[&str]); 9] = [
            ("How much flour does the starter get?", &["en"]),
            ("Wie viel Mehl bekommt der Sauerteig?", &["de"]),
            ("Was kostet die Haftpflichtversicherung?", &["de", "nl"]),
            ("Combien de farine dans le levain ?", &["fr"]),
            ("Сколько стоит страховка?", &["ru"]),
            ("котёл", &["ru"]),
            ("猫多久打一次疫苗？", &["zh"]),
            ("zzqx flurbl wombat", &[]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            let found: Vec<&str> = languages_of_question(text)
                .into_iter()
                .map(Language::code)
                .collect();
            assert_eq!(found, expected, "{text}");
        }
        let shared = languages_of_question("Reifen in Keller");
        assert!(shared.contains(&Language::German) && shared.contains(&Language::English));
    }
}
