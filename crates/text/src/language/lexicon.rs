//! The word lists of a language, read once from its data file.
//!
//! The format of a data file, line by line: `# comment`; `property: value` before the first
//! section; `[section]`; then the items of the section, separated by commas. An item is a word or a
//! phrase, in lower case. In sections where position or key matters (months, numerals) every line
//! is a row: `key = item, item`, or only the items.

use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::RandomState;

use super::Language;

macro_rules! sections {
    ($($(#[$doc:meta])+ $name:ident = $key:literal,)+) => {
        /// A section of a data file.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Section {
            $($(#[$doc])+ $name,)+
        }

        impl Section {
            /// All sections.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The name in data files.
            pub const fn key(self) -> &'static str {
                match self {
                    $(Self::$name => $key,)+
                }
            }
        }
    };
}

sections! {
    // Function words.

    /// The most common words; used to detect a text's language.
    Common = "common",
    /// Words without content.
    Stop = "stop",
    /// Function words of questions, which do not describe the subject.
    QuestionStop = "question-stop",
    /// Words that the search index leaves out of its stems.
    SearchStop = "search-stop",
    /// Pronouns for a person.
    PersonPronouns = "person-pronouns",

    // Sentences.

    /// Abbreviations after which a dot never ends a sentence. Without the last dot.
    Abbreviations = "abbreviations",
    /// Abbreviations after which a dot does not end a sentence before a number: "No. 5". Without
    /// the dot.
    AbbreviationsBeforeNumber = "abbreviations-before-number",
    /// Abbreviations after which a dot ends a sentence only before a word that typically begins
    /// one: "Inc. The".
    AbbreviationsAtEnd = "abbreviations-at-end",
    /// Words that begin sentences and rarely follow an initial.
    SentenceStarters = "sentence-starters",
    /// Words before an ordinal written with a dot: "am 3. Tag".
    BeforeOrdinal = "before-ordinal",

    // Time.

    /// The months, twelve rows.
    Months = "months",
    /// Months that have another meaning if they are not capitalised.
    AmbiguousMonths = "ambiguous-months",
    /// The days of the week, seven rows, Monday first.
    Weekdays = "weekdays",
    /// Days by their distance from today. Key: the number of days.
    RelativeDays = "relative-days",

    // Numbers.

    /// Numbers written out. Key: the value.
    Numerals = "numerals",
    /// Numerals with another meaning, which count only with a numbered thing.
    AmbiguousNumerals = "ambiguous-numerals",
    /// Words that multiply a number. Key: the factor.
    Magnitudes = "magnitudes",
    /// Names of units. Key: the symbol in `units.txt`.
    Units = "units",

    /// Words that mean something else than a number, a month or a unit, as which another language
    /// has them.
    OtherWords = "other-words",
}

// A set of sections as one number.
const _: () = assert!(Section::ALL.len() <= u128::BITS as usize);

/// A set of sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SectionSet(u128);

impl SectionSet {
    /// Whether `section` is in the set.
    pub const fn contains(self, section: Section) -> bool {
        self.0 >> section as u32 & 1 == 1
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    const fn insert(&mut self, section: Section) {
        self.0 |= 1 << section as u32;
    }

    fn without(self, sections: &[Section]) -> Self {
        let out = sections
            .iter()
            .fold(0, |bits, section| bits | 1 << *section as u32);
        Self(self.0 & !out)
    }
}

/// A line of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The text before `=`; empty if the line has no `=`.
    pub key: &'static str,
    /// The words and phrases, in file order.
    pub items: Vec<&'static str>,
}

/// The word lists of a language.
#[derive(Debug, Default)]
pub struct Lexicon {
    properties: HashMap<&'static str, &'static str, RandomState>,
    sections: HashMap<Section, Vec<Row>, RandomState>,
    words: HashMap<&'static str, SectionSet, RandomState>,
}

/// The word lists of `language`.
pub(super) fn of(language: Language) -> &'static Lexicon {
    static LEXICONS: [OnceLock<Lexicon>; Language::ALL.len()] =
        [const { OnceLock::new() }; Language::ALL.len()];
    LEXICONS[language as usize].get_or_init(|| Lexicon::read(language.data()))
}

/// Every item of `section`, language by language.
pub fn all_items(section: Section) -> impl Iterator<Item = (Language, &'static str)> {
    Language::ALL.iter().flat_map(move |language| {
        language
            .lexicon()
            .items(section)
            .map(move |item| (*language, item))
    })
}

/// Sections of numbers and time. A word that two languages have in them mostly means the same, or
/// its context shows the meaning.
const AMOUNTS: &[Section] = &[
    Section::AbbreviationsBeforeNumber,
    Section::AmbiguousMonths,
    Section::AmbiguousNumerals,
    Section::Magnitudes,
    Section::Months,
    Section::Numerals,
    Section::Units,
    Section::Weekdays,
];

/// Every item of `section` (numbers or time) that can be read without knowing the language of the
/// text. These are all items of English and German, and those of other languages that no language
/// has as another kind of word. Spanish "once" (11) is left out, because it is an English word.
/// German "mai" is included, although Italian has it too.
pub(super) fn items_without_false_friends(
    section: Section,
) -> impl Iterator<Item = (Language, &'static Row, &'static str)> {
    let rows = Language::ALL.iter().flat_map(move |language| {
        language
            .lexicon()
            .rows(section)
            .iter()
            .map(|r| (*language, r))
    });
    rows.flat_map(|(language, row)| row.items.iter().map(move |item| (language, row, *item)))
        .filter(|(language, _, item)| !is_false_friend(*language, item))
}

fn is_false_friend(language: Language, item: &str) -> bool {
    if matches!(language, Language::English | Language::German) {
        return false;
    }
    let mut others = Language::ALL.iter().filter(|other| **other != language);
    others.any(|other| {
        let sections = other.lexicon().sections_of(item);
        !sections.without(AMOUNTS).is_empty()
    })
}

impl Lexicon {
    fn read(data: &'static str) -> Self {
        let mut this = Self::default();
        let mut section = None;
        for line in lines(data) {
            if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
                section = Section::ALL.iter().copied().find(|s| s.key() == name);
            } else if let Some(section) = section {
                this.add(section, row(line));
            } else if let Some((name, value)) = line.split_once(':') {
                this.properties.insert(name.trim(), value.trim());
            }
        }
        this
    }

    fn add(&mut self, section: Section, row: Row) {
        for item in &row.items {
            self.words.entry(item).or_default().insert(section);
        }
        self.sections.entry(section).or_default().push(row);
    }

    /// A property of the language from the beginning of its file: `stemmer`, `script`, `decimal`.
    pub fn property(&self, name: &str) -> Option<&'static str> {
        self.properties.get(name).copied()
    }

    /// The lines of `section`, in file order.
    pub fn rows(&self, section: Section) -> &[Row] {
        self.sections.get(&section).map_or(&[], Vec::as_slice)
    }

    /// All words and phrases of `section`, in file order.
    pub fn items(&self, section: Section) -> impl Iterator<Item = &'static str> {
        self.rows(section)
            .iter()
            .flat_map(|row| row.items.iter().copied())
    }

    /// The sections that contain `word`, a word or phrase in lower case.
    pub fn sections_of(&self, word: &str) -> SectionSet {
        self.words.get(word).copied().unwrap_or_default()
    }

    /// Whether `section` contains `word`, a word or phrase in lower case.
    pub fn contains(&self, section: Section, word: &str) -> bool {
        self.sections_of(word).contains(section)
    }

    /// The key of the first row of `section` that contains `word`, and the row's index from 0.
    pub fn row_of(&self, section: Section, word: &str) -> Option<(&'static str, usize)> {
        if !self.contains(section, word) {
            return None;
        }
        let rows = self.rows(section);
        let at = rows.iter().position(|row| row.items.contains(&word))?;
        Some((rows.get(at)?.key, at))
    }
}

fn lines(data: &'static str) -> impl Iterator<Item = &'static str> {
    data.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn row(line: &'static str) -> Row {
    let (key, items) = line.split_once(" = ").unwrap_or(("", line));
    Row {
        key: key.trim(),
        items: items
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use unicode_normalization::is_nfc;

    use super::*;

    #[test]
    fn every_section_of_every_file_is_known() {
        for language in Language::ALL {
            for line in lines(language.data()).filter(|line| line.starts_with('[')) {
                let name = line.trim_matches(['[', ']']);
                let known = Section::ALL.iter().any(|section| section.key() == name);
                assert!(known, "{line} in {}", language.code());
            }
        }
    }

    #[test]
    fn items_are_composed_in_lower_case_and_listed_once() {
        for language in Language::ALL {
            for section in Section::ALL {
                let mut seen = HashSet::new();
                for item in language.lexicon().items(*section) {
                    let place = format!("{item:?} in [{}] of {}", section.key(), language.code());
                    assert!(is_nfc(item), "{place}");
                    assert_eq!(item.to_lowercase(), item, "{place}");
                    assert!(seen.insert(item), "{place}");
                }
            }
        }
    }

    #[test]
    fn a_calendar_has_twelve_months_and_seven_days() {
        for language in Language::ALL {
            let lexicon = language.lexicon();
            assert_eq!(lexicon.rows(Section::Months).len(), 12, "{language:?}");
            assert_eq!(lexicon.rows(Section::Weekdays).len(), 7, "{language:?}");
        }
    }

    #[test]
    fn every_language_has_what_it_is_detected_and_asked_by() {
        for language in Language::ALL {
            let lexicon = language.lexicon();
            for section in [Section::Stop, Section::Numerals] {
                assert!(
                    lexicon.items(section).next().is_some(),
                    "[{}] of {language:?}",
                    section.key()
                );
            }
        }
    }
}
