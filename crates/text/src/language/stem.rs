//! Stems words: accents are folded, then the Snowball stemmer of the word's script is applied.
//!
//! [`Stems`] uses English rules for all of Latin script. Words of other languages are changed the
//! same way in documents and in queries; the stems of their own language are added
//! ([`LocalStems`]).

use std::collections::HashMap;

use foldhash::fast::RandomState;
use frostem::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::Language;
use super::lexicon::Section;
use super::script::{Script, of_word};

/// The cache is cleared when it has more words than this, which bounds memory for any input.
const MAX_SEEN: usize = 100_000;

/// Longer strings are not words and are not stemmed.
const MAX_STEMMED_BYTES: usize = 64;

impl Language {
    /// The Snowball stemmer of the language, if there is one.
    pub fn stemmer(self) -> Option<Stemmer> {
        let name = self.lexicon().property("stemmer")?;
        Stemmer::try_from_name(name).ok()
    }

    /// The languages whose documents get additional stems in the search index: those in Latin
    /// script with a stemmer. English is the default and not included.
    pub fn with_local_stems() -> impl Iterator<Item = Self> {
        Self::ALL
            .iter()
            .copied()
            .filter(|language| language.has_local_stems())
    }

    /// See [`Self::with_local_stems`].
    pub fn has_local_stems(self) -> bool {
        let lexicon = self.lexicon();
        self != Self::English
            && lexicon.property("script") == Some("Latin")
            && lexicon.property("stemmer").is_some()
    }
}

/// Stems words by their script, with a cache.
#[derive(Default)]
pub struct Stems {
    /// Word → index in `known`.
    places: HashMap<Box<str>, usize, RandomState>,
    known: Vec<Known>,
}

struct Known {
    /// `None`: the word is its own stem.
    stem: Option<Box<str>>,
    stop: bool,
}

impl Stems {
    /// The stem of `word`, which is in lower case, and whether it is a stop word for search.
    pub fn get<'a>(&'a mut self, word: &'a str) -> (&'a str, bool) {
        // There are many words with digits, and each is in few texts.
        if let Some(stem) = stem_with_digit(word) {
            return (stem, false);
        }
        let place = match self.places.get(word) {
            Some(place) => *place,
            None => self.learn(word),
        };
        match self.known.get(place) {
            Some(known) => (known.stem.as_deref().unwrap_or(word), known.stop),
            None => (word, false),
        }
    }

    fn learn(&mut self, word: &str) -> usize {
        if self.known.len() >= MAX_SEEN {
            self.known.clear();
            self.places.clear();
        }
        let stem = by_script(word);
        let stem = (stem != word).then(|| stem.into());
        self.known.push(Known {
            stem,
            stop: is_search_stop(word),
        });
        self.places.insert(word.into(), self.known.len() - 1);
        self.known.len() - 1
    }
}

/// The stem of an ASCII word with a digit: the word itself without the "'s" of a possessive.
fn stem_with_digit(word: &str) -> Option<&str> {
    let has_digit = word.is_ascii() && word.bytes().any(|b| b.is_ascii_digit());
    has_digit.then(|| word.strip_suffix("'s").unwrap_or(word))
}

fn is_search_stop(word: &str) -> bool {
    Language::English
        .lexicon()
        .contains(Section::SearchStop, word)
}

/// The stem of a lower-case word by the rules of its script: English for Latin script, Russian for
/// Cyrillic.
pub fn by_script(word: &str) -> String {
    if let Some(stem) = stem_with_digit(word) {
        return stem.to_owned();
    }
    let script = of_word(word);
    let folded = Some(fold_accents(word, script))
        .filter(|folded| !folded.is_empty())
        .unwrap_or_else(|| word.to_owned());
    if word.len() > MAX_STEMMED_BYTES || !folded.chars().all(|c| c.is_alphabetic() || c == '\'') {
        return folded;
    }
    let algorithm = match script {
        Some(Script::Latin) => Algorithm::English,
        Some(Script::Cyrillic) => Algorithm::Russian,
        Some(Script::Greek) => Algorithm::Greek,
        Some(Script::Arabic) => Algorithm::Arabic,
        Some(Script::Tamil) => Algorithm::Tamil,
        _ => return folded,
    };
    let stem = Stemmer::new(algorithm).stem(&folded).into_owned();
    if stem.is_empty() { folded } else { stem }
}

/// Removes accents unless they make a different letter. Cyrillic `й` is kept, because the stemmer
/// needs it; marks of Indic scripts are kept, because they are vowels.
fn fold_accents(word: &str, script: Option<Script>) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    match script {
        Some(Script::Latin) => fold_latin(word),
        Some(Script::Cyrillic) => word
            .chars()
            .filter(|c| !is_combining_mark(*c))
            .map(|c| if c == 'ё' { 'е' } else { c })
            .collect(),
        Some(Script::Hebrew) => word.nfd().filter(|c| !is_combining_mark(*c)).collect(),
        _ => word.to_owned(),
    }
}

/// `word` in Latin script without accents; `ß` becomes `ss`, `æ` becomes `ae`.
pub fn fold_latin(word: &str) -> String {
    word.nfd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(plain_letters)
        .collect()
}

/// Latin letters that Unicode does not decompose.
fn plain_letters(c: char) -> impl Iterator<Item = char> {
    let [first, second] = match c {
        'ß' => ['s', 's'],
        'æ' => ['a', 'e'],
        'œ' => ['o', 'e'],
        'ø' => ['o', '\0'],
        'đ' | 'ð' => ['d', '\0'],
        'ł' => ['l', '\0'],
        'ı' => ['i', '\0'],
        c => [c, '\0'],
    };
    [first, second].into_iter().filter(|c| *c != '\0')
}

/// Stems words in the languages of [`Language::with_local_stems`], with a cache.
#[derive(Default)]
pub struct LocalStems {
    seen: HashMap<Language, Seen, RandomState>,
}

/// Word → its term.
type Seen = HashMap<Box<str>, Box<str>, RandomState>;

impl LocalStems {
    /// The term of `word` (lower case) in a language: its code, a colon, its stem without accents.
    pub fn term(&mut self, language: Language, word: &str) -> &str {
        let seen = self.seen.entry(language).or_default();
        if seen.len() >= MAX_SEEN {
            seen.clear();
        }
        seen.entry(word.into())
            .or_insert_with(|| local_term(language, word).into())
    }
}

fn local_term(language: Language, word: &str) -> String {
    let stem = language.stemmer().map(|stemmer| stemmer.stem(word));
    let stem = stem.filter(|stem| !stem.is_empty());
    let stem = fold_latin(stem.as_deref().unwrap_or(word));
    format!("{}:{stem}", language.code())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_stemmer_that_a_data_file_names_is_built_in() {
        for language in Language::ALL {
            let named = language.lexicon().property("stemmer");
            assert_eq!(
                named.is_some(),
                language.stemmer().is_some(),
                "{language:?}"
            );
        }
    }

    #[test]
    fn forms_of_a_word_share_a_term_of_their_language_alone() {
        let mut stems = LocalStems::default();
        let mut term = |language, word: &str| stems.term(language, word).to_owned();
        let (german, french) = (Language::German, Language::French);
        assert_eq!(term(german, "häuser"), term(german, "haus"));
        assert_eq!(term(french, "maisons"), term(french, "maison"));
        assert_ne!(term(german, "maison"), term(french, "maison"));
        assert!(term(german, "haus").starts_with("de:"));
    }

    /// Only the cached way once dropped the "'s", so that one word had two stems.
    #[test]
    fn a_possessive_with_a_digit_has_one_stem() {
        assert_eq!(by_script("k4's"), "k4");
        assert_eq!(Stems::default().get("k4's").0, "k4");
    }

    proptest! {
        #[test]
        fn what_needs_no_look_up_would_be_found_as_it_is(word in "[a-z0-9'./:-]{1,70}") {
            let mut stems = Stems::default();
            let computed = by_script(&word);
            prop_assert_eq!(stems.get(&word), (computed.as_str(), is_search_stop(&word)));
        }
    }
}
