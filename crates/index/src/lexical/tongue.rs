//! Other languages in Latin script: which one a document is written in, and the stems of its words
//! in it.
//!
//! Script decides the stemmer for Greek, Cyrillic, Arabic and the like. Latin script does not, and
//! one set of rules for all of it would part `Haus` from `Häuser`. So a document that is clearly in
//! one of these languages gets the stems of that language on top of the usual ones, and a query is
//! stemmed in every language that the index holds.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use tantivy::tokenizer::{Language, RawTokenizer, Stemmer, TextAnalyzer};

use super::analyze::skip;
use super::stem::fold_latin;

/// A language of Latin script with a stemmer of its own; English is the rule and not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Tongue(usize);

struct Entry {
    /// ISO 639-1; part of the terms in the index.
    code: &'static str,
    stemmer: Language,
    /// Its commonest words.
    words: &'static [&'static str],
}

const ENGLISH: &[&str] = &[
    "the", "of", "and", "to", "is", "that", "for", "it", "was", "with", "are", "this", "be", "by",
    "an", "or", "from", "at", "which", "you", "not", "have", "has", "can", "we",
];

#[rustfmt::skip]
const TABLE: &[Entry] = &[
    Entry { code: "de", stemmer: Language::German, words: &["der", "die", "das", "und", "ist", "nicht", "ein", "eine", "mit", "auf", "für", "den", "dem", "des", "von", "zu", "im", "sich", "auch", "wird", "sind", "oder", "bei", "aus", "nach", "einen", "einer", "wir", "ich", "zum", "zur"] },
    Entry { code: "fr", stemmer: Language::French, words: &["le", "la", "les", "des", "et", "est", "une", "dans", "pour", "que", "qui", "sur", "pas", "plus", "avec", "sont", "au", "du", "ce", "cette", "par", "aux", "nous", "il", "elle"] },
    Entry { code: "es", stemmer: Language::Spanish, words: &["el", "la", "los", "las", "de", "que", "y", "en", "un", "una", "por", "con", "para", "es", "se", "del", "al", "su", "como", "más", "fue", "lo"] },
    Entry { code: "it", stemmer: Language::Italian, words: &["il", "la", "che", "di", "e", "un", "una", "per", "non", "con", "del", "della", "sono", "è", "nel", "gli", "alla", "da", "si", "le", "dei", "delle"] },
    Entry { code: "pt", stemmer: Language::Portuguese, words: &["o", "os", "as", "de", "que", "e", "do", "da", "em", "um", "uma", "para", "com", "não", "por", "mais", "dos", "das", "na", "ao", "foi", "são"] },
    Entry { code: "nl", stemmer: Language::Dutch, words: &["de", "het", "een", "en", "van", "niet", "dat", "op", "te", "zijn", "voor", "met", "die", "aan", "ook", "er", "maar", "wordt", "bij", "naar"] },
    Entry { code: "sv", stemmer: Language::Swedish, words: &["och", "att", "det", "som", "en", "på", "är", "av", "för", "med", "den", "till", "inte", "om", "ett", "har", "de", "från"] },
    Entry { code: "da", stemmer: Language::Danish, words: &["og", "at", "det", "som", "en", "på", "er", "af", "for", "med", "den", "til", "ikke", "der", "et", "har", "fra", "blev"] },
    Entry { code: "no", stemmer: Language::Norwegian, words: &["og", "å", "det", "som", "en", "på", "er", "av", "for", "med", "den", "til", "ikke", "et", "har", "fra", "ble"] },
    Entry { code: "fi", stemmer: Language::Finnish, words: &["ja", "on", "ei", "että", "se", "oli", "ovat", "tai", "kun", "mutta", "myös", "joka", "sen", "hän", "niin", "jos"] },
    Entry { code: "hu", stemmer: Language::Hungarian, words: &["a", "az", "és", "hogy", "nem", "egy", "is", "van", "meg", "volt", "ez", "csak", "már", "még", "vagy"] },
    Entry { code: "ro", stemmer: Language::Romanian, words: &["și", "în", "de", "la", "cu", "pe", "un", "o", "nu", "este", "sau", "care", "din", "să", "mai", "pentru", "ca", "fost"] },
    Entry { code: "tr", stemmer: Language::Turkish, words: &["ve", "bir", "bu", "için", "ile", "de", "da", "olarak", "daha", "çok", "gibi", "olan", "ne", "en", "olduğu"] },
];

/// Common word → the languages it is common in: bit n is entry n of the table, the next one
/// English.
static COMMON: LazyLock<HashMap<&str, u32, RandomState>> = LazyLock::new(|| {
    let mut common = HashMap::default();
    for (at, words) in TABLE
        .iter()
        .map(|entry| entry.words)
        .chain([ENGLISH])
        .enumerate()
    {
        words
            .iter()
            .for_each(|word| *common.entry(*word).or_default() |= 1 << at);
    }
    common
});

/// How much of a document is looked at: its language shows early, and indexing costs by the word.
const SAMPLE_BYTES: usize = 1_200;
/// Fewer common words than this, or than this share of all, prove nothing.
const LEAST_WORDS: usize = 3;
const LEAST_SHARE: f32 = 0.12;

impl Tongue {
    /// Every language of the table.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..TABLE.len()).map(Self)
    }

    /// The language that `texts`, parts of one document, are clearly written in; `None`: English,
    /// or unclear.
    pub(super) fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Self> {
        let (mut counts, mut english, mut words, mut left) =
            ([0usize; TABLE.len()], 0, 0, SAMPLE_BYTES);
        let mut lower = String::new();
        for text in texts {
            let end = (0..=left.min(text.len()))
                .rev()
                .find(|end| text.is_char_boundary(*end))
                .unwrap_or(0);
            left -= end;
            let mut rest = &text[..end];
            loop {
                rest = &rest[skip(rest, 0, |c| !c.is_alphabetic())..];
                let (word, after) = rest.split_at(skip(rest, 0, char::is_alphabetic));
                if word.is_empty() {
                    break;
                }
                rest = after;
                words += 1;
                // No common word is longer.
                if word.len() > 10 {
                    continue;
                }
                lower.clear();
                if word.is_ascii() {
                    lower.push_str(word);
                    lower.make_ascii_lowercase();
                } else {
                    lower.push_str(&word.to_lowercase());
                }
                let Some(languages) = COMMON.get(lower.as_str()) else {
                    continue;
                };
                english += (languages >> TABLE.len() & 1) as usize;
                counts
                    .iter_mut()
                    .enumerate()
                    .for_each(|(at, count)| *count += (languages >> at & 1) as usize);
            }
            if left == 0 {
                break;
            }
        }
        let (best, count) = counts
            .iter()
            .enumerate()
            .max_by_key(|(at, count)| (**count, usize::MAX - at))?;
        let clear = *count >= LEAST_WORDS
            && *count > english
            && *count as f32 >= LEAST_SHARE * words as f32;
        clear.then_some(Self(best))
    }

    /// What says, in the index, that a document is in this language.
    pub(super) fn mark(self) -> String {
        format!("{}:", TABLE[self.0].code)
    }
}

/// Stems words in many languages; remembers what it has seen.
#[derive(Default)]
pub(super) struct Tongues {
    stemmers: HashMap<Tongue, (TextAnalyzer, Seen)>,
}

/// Word → its term.
type Seen = HashMap<Box<str>, Box<str>>;

/// Seen words are forgotten when there are more than this.
const MAX_SEEN: usize = 100_000;

impl Tongues {
    /// The term of `word` (lower case) in a language: its code, a colon, its stem without accents.
    pub(super) fn term(&mut self, tongue: Tongue, word: &str) -> &str {
        let (stemmer, seen) = self.stemmers.entry(tongue).or_insert_with(|| {
            let stemmer = Stemmer::new(TABLE[tongue.0].stemmer);
            (
                TextAnalyzer::builder(RawTokenizer::default())
                    .filter(stemmer)
                    .build(),
                HashMap::new(),
            )
        });
        if seen.len() >= MAX_SEEN {
            seen.clear();
        }
        seen.entry(word.into()).or_insert_with(|| {
            let stem = stemmer
                .token_stream(word)
                .next()
                .map(|token| token.text.clone());
            let stem = fold_latin(
                stem.as_deref()
                    .filter(|stem| !stem.is_empty())
                    .unwrap_or(word),
            );
            format!("{}{stem}", tongue.mark()).into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<String> {
        Tongue::of(std::iter::once(text))
            .map(|tongue| tongue.mark().trim_end_matches(':').to_owned())
    }

    #[test]
    fn a_language_is_told_by_its_common_words() {
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
                None,
            ),
            (
                "The word Haus and the words die, der, das of the table are German.",
                None,
            ),
            ("let x = foo(bar); // de la", None),
            ("Brot", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(code(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn forms_of_a_word_share_a_term_of_their_language_alone() {
        let mut tongues = Tongues::default();
        let [german, french] = [Tongue(0), Tongue(1)];
        let mut term = |tongue, word: &str| tongues.term(tongue, word).to_owned();
        assert_eq!(term(german, "häuser"), term(german, "haus"));
        assert_eq!(term(french, "maisons"), term(french, "maison"));
        assert_ne!(term(german, "maison"), term(french, "maison"));
    }
}
