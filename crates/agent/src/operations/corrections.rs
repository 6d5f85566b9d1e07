//! Finds completions and corrections for words of a query that no note contains.

use schemars::JsonSchema;
use serde::Serialize;

use super::search::words_of;
use local_agent_index::lexical::{Query, Reader, terms};
use local_agent_text::error::Result;

/// Maximum number of words of one query that are looked up.
const MOST_WORDS: usize = 16;

/// Maximum number of completions listed for a word.
const COMPLETIONS: usize = 4;

/// What is known about a word that no note holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Correction {
    /// As it was typed, without a `*` after it.
    pub word: String,
    /// Words of the index that begin with it, the most frequent first; else the one that is spelled
    /// most alike.
    pub instead: Vec<String>,
    /// How the words in `instead` are like it.
    pub why: CorrectionReason,
    /// Whether the first of `instead` was searched for in its place.
    pub used: bool,
}

/// How the words in [`Correction::instead`] are like the one that was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CorrectionReason {
    /// They begin with it.
    Begins,
    /// It may be a slip for it.
    Spelling,
}

/// What is said of a word with alternatives; `None` without any.
pub(super) fn said(correction: &Correction) -> Option<String> {
    let Correction {
        word,
        instead,
        why,
        used,
    } = correction;
    let (first, others) = instead.split_first()?;
    Some(match (why, used) {
        (CorrectionReason::Begins, _) if others.is_empty() => {
            format!("no note holds the word `{word}`; searched for `{first}`")
        }
        (CorrectionReason::Begins, _) => format!(
            "no note holds the word `{word}`; searched for `{first}` (there are also: {})",
            others.join(", ")
        ),
        (CorrectionReason::Spelling, true) => {
            format!("no note holds the word `{word}`; searched for `{first}`")
        }
        (CorrectionReason::Spelling, false) => {
            format!("no note holds the word `{word}`; did you mean `{first}`?")
        }
    })
}

/// What is said of the words in no note that have no alternatives; `None` if there are none.
pub(super) fn without_any(corrections: &[Correction], words: &[String]) -> Option<String> {
    let has_one = |word: &String| corrections.iter().any(|one| one.word == *word);
    let words: Vec<String> = words
        .iter()
        .filter(|word| !has_one(word))
        .map(|word| format!("`{word}`"))
        .collect();
    match words.as_slice() {
        [] => None,
        [word] => Some(format!("no note holds the word {word}")),
        words => Some(format!("no note holds the words {}", words.join(", "))),
    }
}

/// Completions and corrections for the words of `query` that no note contains. A word without any
/// is left out, and so is one that only asks: "how" is no beginning of "however".
///
/// # Errors
/// `DB_CORRUPT` when the projection is damaged.
pub(super) fn of(reader: &Reader, query: &Query) -> Result<Vec<Correction>> {
    let mut out = Vec::new();
    let content = terms(&words_of(query));
    let asking = reader.question_words(query);
    for word in query.words.iter().take(MOST_WORDS) {
        if asking.contains(word) {
            continue;
        }
        let word = without_star(word);
        if !word.chars().all(char::is_alphanumeric)
            || !is_content(&content, word)
            || reader.holds(word)?
        {
            continue;
        }
        let begun = reader.words_with_prefix(word, COMPLETIONS)?;
        if !begun.is_empty() {
            out.push(Correction {
                word: word.to_owned(),
                instead: begun,
                why: CorrectionReason::Begins,
                used: true,
            });
        } else if let Some(near) = reader.nearest_word(word)? {
            out.push(Correction {
                word: word.to_owned(),
                instead: vec![near],
                why: CorrectionReason::Spelling,
                used: false,
            });
        }
    }
    Ok(out)
}

/// The words of `query` that no note contains in any form, without those that only ask.
///
/// # Errors
/// `DB_CORRUPT` when the projection is damaged.
pub(super) fn in_no_note(reader: &Reader, query: &Query) -> Result<Vec<String>> {
    let content = terms(&words_of(query));
    let asking = reader.question_words(query);
    let mut out: Vec<String> = Vec::new();
    for word in query.words.iter().take(MOST_WORDS) {
        if asking.contains(word) {
            continue;
        }
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_word = !word.is_empty() && word.chars().all(char::is_alphanumeric);
        if is_word
            && is_content(&content, word)
            && !out.iter().any(|one| one == word)
            && !reader.holds(word)?
        {
            out.push(word.to_owned());
        }
    }
    Ok(out)
}

/// A word without the stars after it, with which other programs ask for completions.
fn without_star(word: &str) -> &str {
    word.trim_end_matches('*')
}

/// Whether a word of a query is more than a word of grammar. `content` are the terms of the query.
fn is_content(content: &[String], word: &str) -> bool {
    terms(word).iter().any(|term| content.contains(term))
}

/// The query with the corrections that are applied.
pub(super) fn apply(query: &Query, corrections: &[Correction]) -> Query {
    Query {
        words: query
            .words
            .iter()
            .map(|word| corrected_word(corrections, word))
            .collect(),
        ..query.clone()
    }
}

/// The word, or its replacement if it has a correction.
fn corrected_word(corrections: &[Correction], word: &String) -> String {
    corrections
        .iter()
        .find(|one| one.used && one.word == without_star(word))
        .and_then(|one| one.instead.first())
        .unwrap_or(word)
        .clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_grammar_are_not_corrected_beside_others() {
        let content = terms("the price of the bread");
        for (word, is) in [("the", false), ("of", false), ("bread", true)] {
            assert_eq!(is_content(&content, word), is, "{word}");
        }
        assert!(is_content(&terms("the"), "the"));
    }

    #[test]
    fn only_corrections_in_use_change_the_query() {
        let one = |used| Correction {
            word: "conflits".to_owned(),
            instead: vec!["conflicts".to_owned()],
            why: CorrectionReason::Spelling,
            used,
        };
        let query = Query::plain("sync conflits");
        assert_eq!(apply(&query, &[one(false)]), query);
        assert_eq!(apply(&query, &[one(true)]).words, ["sync", "conflicts"]);
    }
}
