//! Counts the items of a list that an introduction announces: a list that is cut says so.

use super::passage::{self, Passage, PieceForm};
use super::rank::Ranked;
use super::units::{Form, Unit, leads_in};

/// How many items a passage shows behind an introduction, and how many the list has; `None` if the
/// passage has no introduction with two items or more.
pub(super) fn counts(ranked: &Ranked<'_>, passage: &Passage) -> Option<(usize, usize)> {
    let found = ranked.found;
    let note = found.notes.get(passage.note)?;
    let last = passage.pieces.last()?;
    if last.form != PieceForm::Item {
        return None;
    }
    let units = passage::of_note(found, passage.note).map(|(_, unit)| unit);
    let shown: Vec<&Unit> = units
        .filter(|unit| passage.shows(passage.note, &unit.span))
        .collect();
    let has_lead = shown
        .iter()
        .any(|unit| unit.form == Form::Sentence && leads_in(unit));
    let item = shown
        .iter()
        .find(|unit| unit.form == Form::Item && unit.span.end == last.span.end)?;
    let list = item.outer?;
    let blocks = note
        .blocks
        .iter()
        .filter(|block| block.parent == Some(list));
    let items: Vec<_> = blocks.map(|block| block.span).collect();
    let is_shown = |start: usize, end: usize| {
        let mut pieces = passage.pieces.iter();
        pieces.any(|piece| start <= piece.span.start && piece.span.start < end)
    };
    let count = items
        .iter()
        .filter(|span| is_shown(span.start(), span.end()))
        .count();
    (has_lead && count > 1).then_some((count, items.len()))
}
