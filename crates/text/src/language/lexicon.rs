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
use super::scan::split;

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
    /// Words with little content: for the speaker, an amount, a direction.
    Light = "light",
    /// Function words of questions, which do not describe the subject.
    QuestionStop = "question-stop",
    /// Verbs with little meaning in a question. A note on the servings of a dish need not "make"
    /// them.
    LightVerbs = "light-verbs",
    /// Words that the search index leaves out of its stems.
    SearchStop = "search-stop",
    /// Characters that are mostly grammar, in scripts without blanks.
    GrammarCharacters = "grammar-characters",
    /// Words at the start of a sentence that refer to an earlier sentence.
    PointsBack = "points-back",
    /// Personal and possessive pronouns, and other words that may replace a name.
    Pronouns = "pronouns",
    /// Pronouns for a person.
    PersonPronouns = "person-pronouns",
    /// Prepositions that may come before a name.
    Prepositions = "prepositions",
    /// Conjunctions that begin a clause.
    ClauseOpeners = "clause-openers",
    /// Finite verbs that make a clause or a heading a statement.
    FiniteVerbs = "finite-verbs",
    /// Irregular forms. Key: the base form.
    IrregularForms = "irregular-forms",
    /// Opposites. Key: the words of one side.
    Opposites = "opposites",

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
    /// Words before the name of a month.
    BeforeMonth = "before-month",
    /// The days of the week, seven rows, Monday first.
    Weekdays = "weekdays",
    /// Days by their distance from today. Key: the number of days.
    RelativeDays = "relative-days",
    /// Words for a quarter of a year.
    Quarters = "quarters",
    /// Words that mark a time of day.
    Clock = "clock",
    /// Spans of time in one word.
    TimeSpans = "time-spans",

    // Numbers.

    /// Numbers written out. Key: the value.
    Numerals = "numerals",
    /// Numerals with another meaning, which count only with a numbered thing.
    AmbiguousNumerals = "ambiguous-numerals",
    /// Ordinal numbers written out. Key: the value.
    Ordinals = "ordinals",
    /// Fractions written out. Key: the value.
    Fractions = "fractions",
    /// Words that multiply a number. Key: the factor.
    Magnitudes = "magnitudes",
    /// Names of units. Key: the symbol in `units.txt`.
    Units = "units",
    /// Bounds of a number. Key: at-least, at-most, more-than, less-than, exactly, about.
    Bounds = "bounds",
    /// Amounts without a number.
    IndefiniteAmounts = "indefinite-amounts",
    /// Words for a part of something.
    Shares = "shares",
    /// Characters for numbers and counting, in scripts without blanks.
    CountingCharacters = "counting-characters",

    // The claim of a statement.

    /// Words that negate what follows.
    Negation = "negation",
    /// Verbs and nouns that negate what follows: "fails to".
    ImplicitNegation = "implicit-negation",
    /// Words before which a negation does not negate: "not only".
    NonNegating = "non-negating",
    /// Words for absence or scarcity.
    Scarcity = "scarcity",
    /// Words that change the meaning of a quote when they are left out.
    QuoteNegation = "quote-negation",
    /// All, every, always.
    Universal = "universal",
    /// Most, usually, often.
    Mostly = "mostly",
    /// Some, sometimes.
    Partial = "partial",
    /// Rarely.
    Rare = "rare",
    /// None, never.
    Nothing = "nothing",
    /// Words for how often something happens.
    Frequency = "frequency",
    /// Must, required.
    Must = "must",
    /// Should, recommended.
    Should = "should",
    /// May, might.
    May = "may",
    /// Can.
    Can = "can",
    /// Will, certainly.
    Will = "will",
    /// Likely, reportedly.
    Hedge = "hedge",
    /// Still to be decided.
    Proposed = "proposed",
    /// Decided.
    Decided = "decided",
    /// Turned down.
    Rejected = "rejected",
    /// On its way out.
    Deprecated = "deprecated",
    /// In force.
    Active = "active",
    /// Finished.
    Done = "done",
    /// Not finished.
    Ongoing = "ongoing",
    /// Words for something that is not, or no longer, valid.
    NotInForce = "not-in-force",
    /// Words of order: before, above.
    Order = "order",
    /// Words that give a reason.
    Causal = "causal",

    // Questions.

    /// Question words.
    QuestionWords = "question-words",
    /// Words that ask for an amount after a word like "how".
    Degrees = "degrees",
    /// Words before one of the degrees, such as "how".
    DegreeQuestion = "degree-question",
    /// Words that ask for a time.
    AsksTime = "asks-time",
    /// Words that ask for a number.
    AsksNumber = "asks-number",
    /// Words that ask for an amount of time or length.
    AsksExtent = "asks-extent",
    /// Words that ask for a person.
    AsksPerson = "asks-person",
    /// Words that ask for a place.
    AsksPlace = "asks-place",
    /// Words that ask for a reason.
    AsksReason = "asks-reason",
    /// Words that ask for steps.
    AsksSteps = "asks-steps",
    /// Words that ask for a definition.
    AsksDefinition = "asks-definition",
    /// Words that ask for a command or code.
    AsksCode = "asks-code",
    /// Words that ask for the newest or last of several things.
    AsksLatest = "asks-latest",
    /// Words that ask for a list.
    AsksList = "asks-list",

    // What an answer says about itself.

    /// Phrases that decline to answer the whole question.
    RefusesWhole = "refuses-whole",
    /// Phrases that name a gap.
    RefusesGap = "refuses-gap",
    /// Phrases that name a gap when a word for the evidence follows.
    AbsentFrom = "absent-from",
    /// Words for a speaker who talks about the evidence and not the world.
    Speakers = "speakers",
    /// Such words as the first word of a sentence.
    FirstWordsOfRefusal = "first-words-of-refusal",
    /// Words for notes.
    EvidenceWords = "evidence-words",
    /// Verbs of saying.
    SayingVerbs = "saying-verbs",
    /// How advice begins.
    Advice = "advice",
    /// How an offer begins.
    Offers = "offers",
    /// Words for what is offered.
    Offered = "offered",
    /// Words used in announcements.
    AnnouncementWords = "announcement-words",
    /// How an announcement begins.
    AnnouncementOpeners = "announcement-openers",
    /// How a polite phrase begins.
    Courtesies = "courtesies",
    /// Words after which a different statement begins.
    Contrasts = "contrasts",
    /// Such words that count only at the start of a clause.
    ContrastsInFront = "contrasts-in-front",
    /// Such words in scripts without blanks.
    ContrastsWithin = "contrasts-within",
    /// Words that begin an indirect question.
    IndirectQuestions = "indirect-questions",
    /// Words that make a clause part of another one.
    Subordinate = "subordinate",
    /// Phrases in a note that are addressed to the answerer.
    Instructions = "instructions",
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
    Section::CountingCharacters,
    Section::Fractions,
    Section::Magnitudes,
    Section::Months,
    Section::Numerals,
    Section::Ordinals,
    Section::Quarters,
    Section::Shares,
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

    /// Whether `lower`, a text in lower case, contains an item of `section`: as whole words, or
    /// anywhere when the item is in a script without blanks.
    pub fn occurs_in(&self, section: Section, lower: &str) -> bool {
        let spaced = format!(" {} ", split(lower).collect::<Vec<_>>().join(" "));
        self.items(section).any(|item| {
            if item.contains(super::script::is_unspaced_or_hangul) {
                lower.contains(item)
            } else {
                spaced.contains(&format!(" {item} "))
            }
        })
    }

    /// Whether `lower`, a text in lower case, begins with an item of `section` as whole words.
    pub fn begins(&self, section: Section, lower: &str) -> bool {
        self.items(section).any(|item| {
            lower.strip_prefix(item).is_some_and(|rest| {
                item.ends_with(super::script::is_unspaced_or_hangul)
                    || !rest.starts_with(char::is_alphanumeric)
            })
        })
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
                    // A word may be on one side of several opposites.
                    assert!(
                        seen.insert(item) || *section == Section::Opposites,
                        "{place}"
                    );
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
            for section in [
                Section::Stop,
                Section::Negation,
                Section::QuestionWords,
                Section::AsksTime,
                Section::AsksNumber,
                Section::AsksPerson,
                Section::AsksReason,
                Section::Numerals,
                Section::Causal,
            ] {
                assert!(
                    lexicon.items(section).next().is_some(),
                    "[{}] of {language:?}",
                    section.key()
                );
            }
        }
    }

    #[test]
    fn phrases_are_found_as_whole_words_or_anywhere_without_blanks() {
        let english = Language::English.lexicon();
        assert!(english.occurs_in(Section::AsksNumber, "so, how many are there?"));
        assert!(!english.occurs_in(Section::AsksNumber, "show manyfold"));
        let japanese = Language::Japanese.lexicon();
        assert!(japanese.occurs_in(Section::AsksTime, "会議はいつですか"));
        assert!(english.begins(Section::AnnouncementOpeners, "here is what i found"));
        assert!(!english.begins(Section::AnnouncementOpeners, "here island"));
    }
}
