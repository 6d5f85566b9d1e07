//! Finds or counts the notes with a tag: "which notes are tagged garden?"

use super::choose::Choice;
use super::cues;
use super::newest::is_tag_key;
use super::note::NoteText;
use super::passage::{self, Passage, Piece, PieceForm};
use super::question::{Operation, ParsedQuestion, QuestionKind};
use super::rank::Ranked;
use super::totals::{Computed, counted};

/// Maximum number of notes that are shown.
const MOST: usize = 40;

/// The tag that a question asks for: the last word, besides the word for tags, of a question that
/// lists or counts what is tagged.
pub(super) fn asked(question: &ParsedQuestion) -> Option<&str> {
    let lists = matches!(
        question.kind,
        QuestionKind::List | QuestionKind::Total(Operation::Count)
    );
    let lower = question.text.to_lowercase();
    let words: Vec<&str> = cues::split(&lower).collect();
    let at = words
        .iter()
        .rposition(|word| cues::holds(cues::TAGGED, word))?;
    let is_term = |word: &&str| {
        let mut terms = question.terms.iter();
        let is_asked = terms.any(|t| t.word.to_lowercase() == **word);
        is_asked && !cues::holds(cues::TAGGED, word)
    };
    let behind = words.get(at + 1..)?.iter().copied().find(|w| is_term(w));
    let before = || {
        words
            .get(at.checked_sub(1)?)
            .copied()
            .filter(|w| is_term(w))
    };
    let tag = behind.or_else(before).filter(|_| lists)?;
    let term = question.terms.iter().find(|t| t.word.to_lowercase() == tag);
    term.map(|t| t.word.as_str())
}

/// The notes with the tag that the question names, and their number if it asks for it; `None` if it
/// names no tag, or if no note has it.
pub(super) fn choose(ranked: &Ranked<'_>) -> Option<(Option<Computed>, Choice)> {
    let tag = asked(&ranked.question)?.to_lowercase();
    let notes = ranked.found.notes.iter().enumerate();
    let all: Vec<Passage> = notes
        .filter(|(_, note)| has_tag(note, &tag))
        .filter_map(|(index, note)| shown(index, note, &tag))
        .collect();
    let count = all.len();
    let counts = ranked.question.kind == QuestionKind::Total(Operation::Count);
    let computed = counts.then(|| counted(count, "tagged", count));
    let passages: Vec<Passage> = all.into_iter().take(MOST).collect();
    let shown = (passages.len(), count);
    (count > 0).then(|| (computed, Choice::part_of(passages, shown, "notes")))
}

/// Whether a note has a tag, or one below it, in its properties or in its text.
fn has_tag(note: &NoteText, tag: &str) -> bool {
    let tags = note.properties.iter().filter(|p| is_tag_key(&p.key));
    let mut listed = tags.flat_map(|p| p.value.split([',', ' ', '[', ']', '"', '\'']));
    listed.any(|one| is_or_is_below(one, tag)) || tag_in_text(note, tag).is_some()
}

/// Whether a written tag is the tag or one below it.
fn is_or_is_below(written: &str, tag: &str) -> bool {
    let lower = written.trim_start_matches('#').to_lowercase();
    let below = lower.strip_prefix(tag);
    below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Where the text of a note has the tag.
fn tag_in_text(note: &NoteText, tag: &str) -> Option<std::ops::Range<usize>> {
    let start = note.parts.first()?.start;
    let mut at = start;
    for word in note.text.get(start..)?.split(char::is_whitespace) {
        let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        if bare.starts_with('#') && is_or_is_below(bare, tag) {
            return Some(at..at + bare.len());
        }
        at += word.len();
        at += note
            .text
            .get(at..)?
            .chars()
            .next()
            .map_or(0, char::len_utf8);
    }
    None
}

/// A note with the tag: its title, and the property that lists the tag or the tag itself.
fn shown(index: usize, note: &NoteText, tag: &str) -> Option<Passage> {
    let tags = note.properties.iter().filter(|p| is_tag_key(&p.key));
    let listed = tags.map(|property| Piece {
        span: property.span.clone(),
        form: PieceForm::Property,
    });
    let mut pieces: Vec<Piece> = listed.collect();
    if pieces.is_empty() {
        let span = tag_in_text(note, tag)?;
        pieces.push(Piece {
            span,
            form: PieceForm::Text,
        });
    }
    let keys = pieces.iter().map(|piece| piece.span.clone()).collect();
    pieces.extend(passage::title(note));
    pieces.sort_by_key(|piece| piece.span.start);
    let mut out = Passage::new(index, pieces);
    out.keys = keys;
    Some(out)
}
