//! What all notes are about: "Summarize the vault". Each note is shown by its first heading and its
//! first sentence.

use super::cues;
use super::note::NoteText;
use super::passage::Passage;
use super::question::{ParsedQuestion, QuestionKind};
use super::rank::{self, Found};
use super::{Extracted, Lookup, MoreNotes, summary, units};
use local_agent_text::error::Result;

/// Maximum number of notes that are shown.
const MOST: usize = 12;

/// Whether a question asks for a summary of all notes and of nothing else.
pub(super) fn is_asked(question: &ParsedQuestion) -> bool {
    let lower = question.text.to_lowercase();
    let mut terms = question.terms.iter();
    question.kind == QuestionKind::Summary
        && cues::split(&lower).any(|word| cues::holds(cues::COLLECTION, word))
        && terms.all(|term| says_only_that(&term.word.to_lowercase()))
}

/// Whether a word names all notes, or is of the request for a summary.
fn says_only_that(word: &str) -> bool {
    let mut asking = cues::SUMMARY.spaced().split([' ', '|']);
    cues::holds(cues::COLLECTION, word)
        || cues::holds(cues::WHOLE, word)
        || asking.any(|own| own == word)
}

/// The beginnings of the notes to which most others link; `None` if the question covers fewer than
/// two notes.
///
/// # Errors
/// Those of `more`.
pub(super) fn extract(
    question: &ParsedQuestion,
    more: &dyn Fn(&Lookup<'_>) -> Result<MoreNotes>,
) -> Result<Option<Extracted>> {
    let MoreNotes { notes, all } = more(&Lookup::MostLinked(MOST))?;
    let notes: Vec<NoteText> = notes.into_iter().map(NoteText::read).collect();
    let units = units::of_notes(&notes);
    let found = Found {
        notes: &notes,
        units: &units,
    };
    let ranked = rank::rank(question.clone(), found, None)?;
    let passages: Vec<Passage> = (0..notes.len())
        .filter_map(|note| summary::lead(&ranked, note))
        .collect();
    if passages.len() < 2 {
        return Ok(None);
    }
    let why = said(passages.len(), all);
    Ok(Some(Extracted {
        notes,
        passages,
        certain: true,
        computed: None,
        why: Some(why),
    }))
}

/// Which notes are shown, and how.
fn said(shown: usize, all: usize) -> String {
    const HOW: &str = "each with its first heading and sentence; without a chat model nothing is put into other words.";
    match (shown < all, shown < MOST) {
        (true, _) => {
            format!("These are some of {all} notes, those to which most others link first, {HOW}")
        }
        (false, true) => format!("These are the beginnings of the notes, {HOW}"),
        // There may be more, of which nothing is told.
        (false, false) => format!("These are the beginnings of some notes, {HOW}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Day;
    use super::super::question::Rarity;
    use super::*;

    fn asks(text: &str) -> bool {
        let rarity = Rarity {
            idf: 1.0,
            known: true,
        };
        let today = Day::parse("2026-06-20").unwrap();
        is_asked(&ParsedQuestion::read(text, today, &|_| rarity))
    }

    #[test]
    fn notes_that_may_be_some_of_more_are_not_called_all() {
        assert!(said(2, 2).starts_with("These are the beginnings of the notes,"));
        assert!(said(MOST, MOST).starts_with("These are the beginnings of some notes,"));
        assert!(said(MOST, 87).starts_with("These are some of 87 notes,"));
    }

    #[test]
    fn only_a_question_about_all_notes_asks_for_them() {
        for all in [
            "Summarize the vault",
            "summarize my notes",
            "What are my notes about?",
            "Give me an overview of everything",
            "Fasse meine Notizen zusammen",
            "Résume toutes mes notes",
            "Resumen de mis notas",
        ] {
            assert!(asks(all), "{all}");
        }
        for one in [
            "Summarize the garden note",
            "Summarize my notes about the oven",
            "Summarize this note",
            "Summarize the library",
            "Summarize the todo note",
            "Which notes are about bread?",
            "Fasse die Notiz zum Garten zusammen",
        ] {
            assert!(!asks(one), "{one}");
        }
    }
}
