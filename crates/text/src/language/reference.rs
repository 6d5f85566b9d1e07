//! The page `docs/languages.md`: what is supported in each language.

use std::fmt::Write as _;

use super::Language;
use super::lexicon::Section;

/// The columns of the page, and the sections that each counts.
const COLUMNS: &[(&str, &[Section])] = &[
    (
        "questions",
        &[
            Section::AsksTime,
            Section::AsksNumber,
            Section::AsksPerson,
            Section::AsksPlace,
            Section::AsksReason,
            Section::AsksSteps,
            Section::AsksDefinition,
            Section::QuestionWords,
        ],
    ),
    ("reasons", &[Section::Causal]),
    (
        "dates",
        &[Section::Months, Section::Weekdays, Section::RelativeDays],
    ),
    (
        "numbers",
        &[
            Section::Numerals,
            Section::Ordinals,
            Section::Fractions,
            Section::Magnitudes,
            Section::Bounds,
        ],
    ),
    ("units", &[Section::Units]),
    ("negation", &[Section::Negation, Section::ImplicitNegation]),
    (
        "quantity",
        &[
            Section::Universal,
            Section::Mostly,
            Section::Partial,
            Section::Rare,
            Section::Nothing,
        ],
    ),
    (
        "mood",
        &[
            Section::Must,
            Section::Should,
            Section::May,
            Section::Can,
            Section::Will,
            Section::Hedge,
        ],
    ),
    (
        "status",
        &[
            Section::Proposed,
            Section::Decided,
            Section::Rejected,
            Section::Deprecated,
            Section::Active,
            Section::Done,
            Section::Ongoing,
            Section::NotInForce,
        ],
    ),
    ("direction", &[Section::Opposites]),
    (
        "sentence ends",
        &[
            Section::Abbreviations,
            Section::AbbreviationsBeforeNumber,
            Section::AbbreviationsAtEnd,
        ],
    ),
    ("refusals", &[Section::RefusesWhole, Section::RefusesGap]),
];

const INTRODUCTION: &str = "# Languages

This page is generated from the word lists in `crates/text/src/language/data/`.

Notes in any language are indexed, found and cited. What the table counts is understood beyond
that. A number is how many words and phrases of a kind the list of a language has; `-` means none.

- **search**: `stems` when inflected forms of a word find each other; `pairs` when text without
  blanks is found by pairs of characters; `words` when only equal words find each other.
- **questions**: what kind of answer is asked for (a time, a number, a person, a reason, steps).
- **negation**, **quantity**, **mood**, **status**, **direction**: what the verifier can see a claim
  change. In a language with `-` it compares words, numbers, names and quotes only.

The verifier and `ask` still keep a part of their words of English and German in lists of their own.

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
