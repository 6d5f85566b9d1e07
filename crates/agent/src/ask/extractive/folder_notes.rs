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
        let cases = [
            ("List all recipes", Some("recipes")),
            ("list my recipes", Some("recipes")),
            ("Which recipes do I have?", Some("recipes")),
            ("Which projects are there?", Some("projects")),
            ("Welche Rezepte habe ich?", Some("rezepte")),
            ("List all recipes with rye", None),
            ("Which recipes did I write in May?", None),
            ("List the steps of the sourdough recipe", None),
            ("Summarize the recipes", None),
            ("How many recipes are there?", None),
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
