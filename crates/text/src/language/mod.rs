//! Everything that depends on human languages. Every word list is in `data/`, one file per
//! language; no other module has words of a language in its code.
//!
//! | module | contents |
//! | --- | --- |
//! | [`lexicon`] | the word lists: [`Section`], [`Lexicon`] |
//! | [`scan`] | helpers for scanning a text |
//! | [`script`] | writing systems: which scripts are written without blanks between words |
//! | [`detect`] | detects the language of a text |
//! | [`stem`] | words → stems (Snowball) |
//! | [`tokenize`] | text → words, compounds and their parts |
//! | [`segment`] | text → sentences |
//! | [`calendar`] | months, weekdays, "tomorrow" |
//! | [`numerals`] | numbers in words |
//! | [`units`] | units and currencies |
//! | [`vocabulary`] | whether an English word is a common one |
//! | [`reference`] | the page `docs/languages.md` |
//!
//! To add a language: add `data/<code>.txt` and its line in the list below. Code that uses lexicon
//! sections then supports the language, as far as its file has the sections.

pub mod calendar;
pub mod detect;
pub mod lexicon;
pub mod lists;
pub mod numerals;
pub mod reference;
pub mod scan;
pub mod script;
pub mod segment;
pub mod stem;
pub mod tokenize;
pub mod units;
pub mod vocabulary;

pub use detect::{detect, languages_of_question};
pub use lexicon::{Lexicon, Row, Section, SectionSet};
pub use script::{is_east_asian, is_ideographic, is_unspaced, is_unspaced_or_hangul};
pub use tokenize::terms;
pub use vocabulary::is_common_english_word;

macro_rules! languages {
    ($($name:ident = $code:literal,)+) => {
        /// A language that has a data file.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Language {
            $(#[doc = concat!("`", $code, "`")] $name,)+
        }

        impl Language {
            /// All languages, English first.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The ISO 639-1 code.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }

            /// The English name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }

            /// The text of the data file.
            const fn data(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(concat!("data/", $code, ".txt")),)+
                }
            }
        }
    };
}

languages! {
    English = "en",
    German = "de",
    French = "fr",
    Spanish = "es",
    Italian = "it",
    Portuguese = "pt",
    Dutch = "nl",
    Swedish = "sv",
    Danish = "da",
    Norwegian = "no",
    Finnish = "fi",
    Hungarian = "hu",
    Romanian = "ro",
    Turkish = "tr",
    Russian = "ru",
    Greek = "el",
    Arabic = "ar",
    Chinese = "zh",
    Japanese = "ja",
    Korean = "ko",
}

impl Language {
    /// The word lists of the language.
    pub fn lexicon(self) -> &'static Lexicon {
        lexicon::of(self)
    }
}
