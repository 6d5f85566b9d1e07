//! Lists the notes of a folder: "List all recipes", "Which books do I have?"

use super::passage;
use super::question::{ParsedQuestion, QuestionKind, Term};
use super::{Extracted, Lookup, MoreNotes, NoteText, Passage};
use local_agent_text::error::Result;

/// Maximum number of notes that are shown.
const MOST: usize = 40;

/// The word that may name a folder: the only one of a question that asks for a list, and for nothing
/// more exact.
fn asked(question: &ParsedQuestion) -> Option<&Term> {
    let asks_for_all = question.kind == QuestionKind::List
        && question.period.is_none()
        && !question.has_unclear_time
        && question.constraints.is_empty()
        && question.conditions.is_empty();
    match question.terms.as_slice() {
        [term] if asks_for_all => Some(term),
        _ => None,
    }
}

/// The titles of the notes in the folder that the question names; `None` if it asks for more than
/// them, or if fewer than two notes are in such a folder.
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
    let MoreNotes { notes, all } = more(&Lookup::InFolder(&term.stem))?;
    let notes: Vec<NoteText> = notes.into_iter().map(NoteText::read).collect();
    let passages: Vec<Passage> = notes
        .iter()
        .enumerate()
        .filter_map(|(index, note)| Some(Passage::new(index, vec![passage::title(note)?])))
        .take(MOST)
        .collect();
    if passages.len() < 2 {
        return Ok(None);
    }
    let why = said(&notes, passages.len(), all);
    Ok(Some(Extracted {
        notes,
        passages,
        certain: true,
        computed: None,
        why: Some(why),
    }))
}

/// Where the notes are, and how many of them are shown.
fn said(notes: &[NoteText], shown: usize, all: usize) -> String {
    let folder = notes
        .first()
        .and_then(|note| note.path.as_str().rsplit_once('/'))
        .map_or("", |(folder, _)| folder);
    match shown < all {
        true => format!("These are the titles of {shown} of {all} notes in the folder `{folder}`."),
        false => format!("These are the titles of the notes in the folder `{folder}`."),
    }
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
        for (text, folder) in [
            ("List all recipes", "recipes"),
            ("list my recipes", "recipes"),
            ("Show me all the recipes", "recipes"),
            ("Which recipes do I have?", "recipes"),
            ("Which projects are there?", "projects"),
            ("Liste alle Rezepte auf", "rezepte"),
            ("Welche Rezepte habe ich?", "rezepte"),
        ] {
            assert_eq!(word(text).as_deref(), Some(folder), "{text}");
        }
        for text in [
            "List all recipes with rye",
            "Which recipes did I write in May?",
            "List the steps of the sourdough recipe",
            "Summarize the recipes",
            "How many recipes are there?",
            "Who wrote the recipes?",
        ] {
            assert_eq!(word(text), None, "{text}");
        }
    }
}
