//! Lists or counts the notes of a folder: "List all recipes", "How many books do I have?"

use std::collections::BTreeSet;

use super::cues;
use super::passage;
use super::question::{Operation, ParsedQuestion, QuestionKind, Term};
use super::totals;
use super::{Extracted, Lookup, MoreNotes, NoteText, Passage};
use local_agent_text::error::Result;

/// Maximum number of notes that are shown.
const MOST: usize = 40;

/// The word that may name a folder: the only one of a question that asks for a list or a number, and
/// for nothing more exact.
fn asked(question: &ParsedQuestion) -> Option<&Term> {
    let asks_for_all = (question.kind == QuestionKind::List || counts(question))
        && question.period.is_none()
        && !question.has_unclear_time
        && question.constraints.is_empty()
        && question.conditions.is_empty();
    let mut terms = question
        .terms
        .iter()
        .filter(|term| !cues::holds(cues::ENUMERATE, &term.word.to_lowercase()));
    match (terms.next(), terms.next()) {
        (Some(term), None) if asks_for_all && asks_for_several(question, term) => Some(term),
        _ => None,
    }
}

fn counts(question: &ParsedQuestion) -> bool {
    question.kind == QuestionKind::Total(Operation::Count)
}

/// Whether a question asks for more than one thing: it begins with a verb such as "list", asks how
/// many there are, or asks which there are and has its word in the English plural. "Which oven do we
/// have?" asks for one.
fn asks_for_several(question: &ParsedQuestion, term: &Term) -> bool {
    let lower = question.text.to_lowercase();
    let mut words = cues::split(&lower);
    let is_request = cues::without_request(&question.text) != question.text.trim_start();
    let first = words.next();
    let begins = is_request || first.is_some_and(|first| cues::holds(cues::ENUMERATE, first));
    let word = term.word.to_lowercase();
    let is_plural = word.ends_with('s') && word != term.stem;
    let is_several = is_plural || counts(question);
    begins || is_several && words.any(|word| cues::holds(cues::OWNED, word))
}

/// The titles of the notes in the folders that the question names; `None` if it asks for more than
/// them, or if fewer than two notes with a title are in such a folder.
///
/// # Errors
/// Those of `more`.
pub(super) fn extract(
    question: &ParsedQuestion,
    more: &dyn Fn(&Lookup<'_>) -> Result<MoreNotes>,
) -> Result<Option<Extracted>> {
    let Some(term) = asked(question) else {
        return Ok(None);
    };
    let MoreNotes { notes, all } = more(&Lookup::InFolder(&term.stem, MOST))?;
    let notes: Vec<NoteText> = notes.into_iter().map(NoteText::read).collect();
    let passages: Vec<Passage> = notes
        .iter()
        .enumerate()
        .filter_map(|(index, note)| Some(Passage::new(index, vec![passage::title(note)?])))
        .collect();
    if passages.len() < 2 {
        return Ok(None);
    }
    let why = said(&notes, passages.len(), all);
    let computed = counts(question).then(|| totals::counted(all, &term.word, all));
    Ok(Some(Extracted {
        notes,
        passages,
        certain: true,
        computed,
        why: Some(why),
    }))
}

/// How many folders are named in an answer.
const MOST_FOLDERS: usize = 3;

/// Which notes are shown, and how many of them.
fn said(notes: &[NoteText], shown: usize, all: usize) -> String {
    let paths = notes.iter().map(|note| note.path.as_str());
    let folders: BTreeSet<&str> = paths
        .filter_map(|path| path.rsplit_once('/'))
        .map(|(folder, _)| folder)
        .collect();
    let named = folders.iter().take(MOST_FOLDERS);
    let named: Vec<String> = named.map(|folder| format!("`{folder}`")).collect();
    let (noun, others) = match folders.len() {
        1 => ("folder", ""),
        2..=MOST_FOLDERS => ("folders", ""),
        _ => ("folders", " and others"),
    };
    let part = match shown < all {
        true => format!("titles of {shown} of {all} notes"),
        false => "titles of the notes".to_owned(),
    };
    let named = named.join(", ");
    format!("These are the {part} in the {noun} {named}{others}.")
}

#[cfg(test)]
mod tests {
    use super::super::Day;
    use super::super::question::Rarity;
    use super::*;

    fn word(text: &str) -> Option<String> {
        let rarity = Rarity {
            idf: 1.0,
            known: true,
        };
        let today = Day::parse("2026-06-20").unwrap();
        let question = ParsedQuestion::read(text, today, &|_| rarity);
        asked(&question).map(|term| term.word.to_lowercase())
    }

    #[test]
    fn a_list_of_one_kind_of_notes_may_be_a_folder() {
        let cases = [
            ("List all recipes", Some("recipes")),
            ("list my recipes", Some("recipes")),
            ("Which recipes do I have?", Some("recipes")),
            ("Which projects are there?", Some("projects")),
            ("Nenne alle Rezepte", Some("rezepte")),
            ("Show me all the recipes", Some("recipes")),
            ("Show me my recipes", Some("recipes")),
            ("Zeig mir alle Rezepte", Some("rezepte")),
            ("Show me the recipe", None),
            ("Liste meine Rezepte", Some("rezepte")),
            ("Which oven do we have?", None),
            ("Which recipes are good?", None),
            ("Which recipes did Anna write?", None),
            ("List all recipes with rye", None),
            ("Which recipes did I write in May?", None),
            ("List the steps of the sourdough recipe", None),
            ("Summarize the recipes", None),
            ("How many recipes are there?", Some("recipes")),
            ("How many recipes do I have?", Some("recipes")),
            ("Wie viele Rezepte habe ich?", Some("rezepte")),
            ("How many recipes use rye?", None),
            ("How many recipes did I write in May?", None),
            ("Who wrote the recipes?", None),
        ];
        let wrong: Vec<_> = cases
            .into_iter()
            .map(|(text, folder)| (text, folder, word(text)))
            .filter(|(_, folder, found)| found.as_deref() != *folder)
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
