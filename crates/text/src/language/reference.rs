//! The page `docs/languages.md`: what is supported in each language.

use std::fmt::Write as _;

use super::Language;
use super::lexicon::Section;

/// The columns of the page, and the sections that each counts.
const COLUMNS: &[(&str, &[Section])] = &[
    ("common", &[Section::Common]),
    ("questions", &[Section::QuestionStop]),
    (
        "dates",
        &[Section::Months, Section::Weekdays, Section::RelativeDays],
    ),
    ("numbers", &[Section::Numerals, Section::Magnitudes]),
    ("units", &[Section::Units]),
    (
        "sentence ends",
        &[
            Section::Abbreviations,
            Section::AbbreviationsBeforeNumber,
            Section::AbbreviationsAtEnd,
        ],
    ),
];

const INTRODUCTION: &str = "# Languages

This page is generated from the word lists in `crates/text/src/language/data/`.

Notes in any language are indexed, found and cited. A number in the table is how many words and
phrases of a kind the list of a language has; `-` means none.

- **search**: `stems` when inflected forms of a word find each other; `pairs` when text without
  blanks is found by pairs of characters; `words` when only equal words find each other.
- **common**: words by which the language of a text is recognised.
- **questions**: words of a question that are not searched for.
- **dates** and **numbers**: months, weekdays, distant days and written numbers that `ask` reads in
  notes and questions.
- **units**: names of units that the verifier and `ask` read after a number. A name that is another
  word in English or in another list is left out.
- **sentence ends**: abbreviations after which a dot does not always end a sentence.

The verifier compares words, numbers, units, names and quotes in every language. It sees negation,
quantity, mood, status and direction in English, and a part of them in German, French and Spanish.
It reads written numbers and months in English and German. Its own word lists are in
`crates/verify/src/data/`; those that `ask` has for questions are in
`crates/agent/src/ask/extractive/data/`.

";

/// The page.
pub fn languages_markdown() -> String {
    let mut page = INTRODUCTION.to_owned();
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(page, "| language | code | search | {} |", names.join(" | "));
    let _ = writeln!(page, "| --- | --- | --- |{}", " ---: |".repeat(names.len()));
    for language in Language::ALL {
        let counts: Vec<String> = COLUMNS
            .iter()
            .map(|(_, sections)| count(*language, sections))
            .collect();
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} |",
            language.name(),
            language.code(),
            search(*language),
            counts.join(" | ")
        );
    }
    page
}

fn count(language: Language, sections: &[Section]) -> String {
    let lexicon = language.lexicon();
    let items: usize = sections
        .iter()
        .map(|section| lexicon.items(*section).count())
        .sum();
    if items == 0 {
        "-".to_owned()
    } else {
        items.to_string()
    }
}

fn search(language: Language) -> &'static str {
    let script = language.lexicon().property("script");
    if matches!(script, Some("Han" | "Hiragana" | "Hangul")) {
        "pairs"
    } else if language.stemmer().is_some() {
        "stems"
    } else {
        "words"
    }
}
