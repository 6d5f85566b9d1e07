//! A word → its stem: accents folded, then the Snowball stemmer of the word's script.
//!
//! English rules are used for all of Latin script here. What they do to a word of another language
//! they do to the same word in the query as well; the stems of its own language come on top (see
//! [`super::tongue`]).

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tantivy::tokenizer::{Language, RawTokenizer, Stemmer, TextAnalyzer};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Words of English that say nothing about what a text is about: Lucene's list.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
];

/// Seen words are forgotten when there are more than this: memory stays bounded on any input.
const MAX_SEEN: usize = 100_000;

/// Longer words are not stemmed: they are not words.
const MAX_STEMMED_BYTES: usize = 64;

/// Stems words, remembering those it has seen.
#[derive(Default)]
pub(super) struct Stems {
    /// Word → place in `known`.
    places: HashMap<Box<str>, usize, RandomState>,
    known: Vec<Known>,
    stemmers: HashMap<Script, TextAnalyzer>,
}

struct Known {
    /// `None`: the word is its own stem.
    stem: Option<Box<str>>,
    stop: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Script {
    Latin,
    Cyrillic,
    Greek,
    Arabic,
    Tamil,
    Hebrew,
    Other,
}

impl Stems {
    /// The stem of `word`, which is in lower case, and whether it is a stop word.
    pub(super) fn get<'a>(&'a mut self, word: &'a str) -> (&'a str, bool) {
        // Its own stem; there are many such, and each stands in few texts.
        if word.is_ascii() && word.bytes().any(|b| b.is_ascii_digit()) {
            return (word, false);
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
        let stem = self.compute(word);
        let stem = (stem != word).then(|| stem.into());
        self.known.push(Known {
            stem,
            stop: STOP_WORDS.contains(&word),
        });
        self.places.insert(word.into(), self.known.len() - 1);
        self.known.len() - 1
    }

    fn compute(&mut self, word: &str) -> String {
        let script = Script::of(word);
        let folded = Some(fold(word, script))
            .filter(|folded| !folded.is_empty())
            .unwrap_or_else(|| word.to_owned());
        if word.len() > MAX_STEMMED_BYTES || !folded.chars().all(|c| c.is_alphabetic() || c == '\'')
        {
            return folded;
        }
        let Some(language) = script.stemmer() else {
            return folded;
        };
        let stemmer = self.stemmers.entry(script).or_insert_with(|| {
            TextAnalyzer::builder(RawTokenizer::default())
                .filter(Stemmer::new(language))
                .build()
        });
        let stem = stemmer
            .token_stream(&folded)
            .next()
            .map(|token| token.text.clone());
        stem.filter(|stem| !stem.is_empty()).unwrap_or(folded)
    }
}

impl Script {
    /// By the first letter: Unicode blocks.
    fn of(word: &str) -> Self {
        match word
            .chars()
            .find(|c| c.is_alphabetic())
            .map_or(0, u32::from)
        {
            0..=0x024F | 0x1E00..=0x1EFF => Self::Latin,
            0x0370..=0x03FF | 0x1F00..=0x1FFF => Self::Greek,
            0x0400..=0x052F => Self::Cyrillic,
            0x0590..=0x05FF => Self::Hebrew,
            0x0600..=0x06FF | 0x0750..=0x077F => Self::Arabic,
            0x0B80..=0x0BFF => Self::Tamil,
            _ => Self::Other,
        }
    }

    fn stemmer(self) -> Option<Language> {
        match self {
            Self::Latin => Some(Language::English),
            Self::Cyrillic => Some(Language::Russian),
            Self::Greek => Some(Language::Greek),
            Self::Arabic => Some(Language::Arabic),
            Self::Tamil => Some(Language::Tamil),
            Self::Hebrew | Self::Other => None,
        }
    }
}

/// Takes off accents where they do not make another letter. Cyrillic `й` stays, because the stemmer
/// needs it; marks of Indic scripts stay, because they are vowels.
fn fold(word: &str, script: Script) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    match script {
        Script::Latin => word
            .nfd()
            .filter(|c| !is_combining_mark(*c))
            .flat_map(plain_letters)
            .collect(),
        Script::Cyrillic => word
            .chars()
            .filter(|c| !is_combining_mark(*c))
            .map(|c| if c == 'ё' { 'е' } else { c })
            .collect(),
        Script::Hebrew => word.nfd().filter(|c| !is_combining_mark(*c)).collect(),
        Script::Greek | Script::Arabic | Script::Tamil | Script::Other => word.to_owned(),
    }
}

/// `word` of Latin script without accents.
pub(super) fn fold_latin(word: &str) -> String {
    fold(word, Script::Latin)
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_needs_no_look_up_would_be_found_as_it_is(word in "[a-z0-9'./:-]{1,70}") {
            let mut stems = Stems::default();
            let computed = stems.compute(&word);
            prop_assert_eq!(stems.get(&word), (computed.as_str(), STOP_WORDS.contains(&word.as_str())));
        }
    }
}
