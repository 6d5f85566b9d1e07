//! Counts what an introduction announces: a list or table that is cut says so.

use super::passage::{self, Passage, PieceForm};
use super::rank::Ranked;
use super::units::{Form, Unit, leads_in};

/// How many items or rows a passage shows behind an introduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AnnouncedCount {
    pub shown: usize,
    pub all: usize,
    /// What they are: "items" or "rows".
    pub what: &'static str,
}

/// Counts the items or rows behind an introduction; `None` if the passage has no introduction with
/// two of them or more.
pub(super) fn count(ranked: &Ranked<'_>, passage: &Passage) -> Option<AnnouncedCount> {
    let last = passage.pieces.last()?;
    let form = match last.form {
        PieceForm::Item => Form::Item,
        PieceForm::Row => Form::Row,
        _ => return None,
    };
    let units = passage::of_note(ranked.found, passage.note);
    let shown: Vec<(usize, &Unit)> = units
        .filter(|(_, unit)| passage.shows(passage.note, &unit.span))
        .collect();
    let has_lead = shown
        .iter()
        .any(|(_, unit)| unit.form == Form::Sentence && leads_in(unit));
    let (index, unit) = shown
        .iter()
        .find(|(_, unit)| unit.form == form && unit.span.end == last.span.end)?;
    let count = match form {
        Form::Row => rows(ranked, passage, *index),
        _ => items(ranked, passage, unit)?,
    };
    (has_lead && count.shown > 1).then_some(count)
}

/// The rows of the table with this row.
fn rows(ranked: &Ranked<'_>, passage: &Passage, index: usize) -> AnnouncedCount {
    let all = passage::rows_beside(ranked.found, index);
    let units = all.iter().filter_map(|row| ranked.unit(*row));
    let shown = units.filter(|unit| passage.shows(passage.note, &unit.span));
    AnnouncedCount {
        shown: shown.count(),
        all: all.len(),
        what: "rows",
    }
}

/// The outermost items of the list with this item.
fn items(ranked: &Ranked<'_>, passage: &Passage, unit: &Unit) -> Option<AnnouncedCount> {
    let note = ranked.found.note_of(unit)?;
    let list = unit.outer?;
    let blocks = note.blocks.iter().filter(|b| b.parent == Some(list));
    let (mut shown, mut all) = (0, 0);
    for span in blocks.map(|block| block.span) {
        let mut pieces = passage.pieces.iter();
        let is_inside = |start: usize| span.start() <= start && start < span.end();
        shown += usize::from(pieces.any(|piece| is_inside(piece.span.start)));
        all += 1;
    }
    Some(AnnouncedCount {
        shown,
        all,
        what: "items",
    })
}
