//! Which language a text is written in: by its script, and in Latin script by its commonest words.
//!
//! Only what is clear is said. A wrong language would stem a document wrongly; an unknown one
//! leaves it with the rules that all share.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use super::Language;
use super::lexicon::Section;
use super::script::{self, Script};
use super::tokenize::{prefix, skip};

/// How much of a document is looked at: its language shows early, and indexing costs by the word.
const SAMPLE_BYTES: usize = 1_200;
/// Fewer common words than this, or than this share of all, prove nothing.
const LEAST_WORDS: usize = 3;
const LEAST_SHARE: f32 = 0.12;

/// A set of languages is one number.
type LanguageBits = u32;

const _: () = assert!(Language::ALL.len() <= LanguageBits::BITS as usize);

struct CommonWords {
    /// Common word → the languages of Latin script that it is common in.
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

/// The language that `text` is clearly written in; `None` when that is unclear or no language that
/// has a data file. The first 1,200 bytes decide.
pub fn detect(text: &str) -> Option<Language> {
    detect_parts(std::iter::once(text))
}

/// Like [`detect`], of a text in several parts.
pub fn detect_parts<'a>(parts: impl Iterator<Item = &'a str> + Clone) -> Option<Language> {
    by_words(parts.clone()).or_else(|| by_script(parts.into_iter().next()?))
}

/// How many words of a sample there are, and how many of them are common in each language.
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

/// The language whose common words make up most of a text of Latin script.
fn by_words<'a>(parts: impl Iterator<Item = &'a str>) -> Option<Language> {
    let counts = Counts::of(parts);
    // Of two with as many, the first of the list; English is first, so another one needs more.
    let (language, count) = Language::ALL
        .iter()
        .zip(counts.common)
        .max_by_key(|(language, count)| (*count, usize::MAX - **language as usize))?;
    let clear = count >= LEAST_WORDS && count as f32 >= LEAST_SHARE * counts.words as f32;
    clear.then_some(*language)
}

/// The language of a script that only one of ours is written in, unless letters of another language
/// of that script occur: Ukrainian is not Russian.
fn by_script(text: &str) -> Option<Language> {
    let sample = prefix(text, SAMPLE_BYTES);
    let language = match script::of_text(sample)? {
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
}
