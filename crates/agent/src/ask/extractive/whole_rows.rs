//! Completes the rows of a table: whoever sees two rows takes them for all that match.

use super::passage::{self, Passage, Piece, PieceForm, WHOLE_TABLE};
use super::rank::Ranked;
use super::rows;
use super::totals;
use super::units::Form;

/// How many rows a passage shows, and how many match the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowCount {
    pub shown: usize,
    pub all: usize,
}

/// Adds to a passage with rows of one table the other rows that the question means, up to
/// [`WHOLE_TABLE`]. Gives how many there are. `None` if the passage is left as it is: it shows rows
/// that the question does not mean, or one row, and no word of the question tells rows apart.
pub(super) fn complete(ranked: &Ranked<'_>, passage: &mut Passage) -> Option<RowCount> {
    let found = ranked.found;
    let shown = rows_of(ranked, passage);
    let first = found.unit(*shown.first()?)?;
    let is_one_table = |row: &usize| {
        let other = found.unit(*row);
        other.is_some_and(|other| other.lead == first.lead && other.outer == first.outer)
    };
    if !shown.iter().all(is_one_table) {
        return None;
    }
    let names = rows::cells(found.unit(first.lead?)?);
    let all: Vec<usize> = passage::rows_beside(found, *shown.first()?)
        .into_iter()
        .filter(|row| found.unit(*row).is_some_and(|unit| !totals::is_total(unit)))
        .collect();
    let of = all.len();
    let meant = rows::asked(ranked, &names, all)?;
    let is_decided = meant.len() < of;
    if !shown.iter().all(|row| meant.contains(row)) || shown.len() == 1 && !is_decided {
        return None;
    }
    let chosen: Vec<usize> = meant.iter().copied().take(WHOLE_TABLE).collect();
    let is_row = |piece: &Piece| matches!(piece.form, PieceForm::Header | PieceForm::Row);
    passage.pieces.retain(|piece| !is_row(piece));
    passage
        .pieces
        .extend(passage::rows(found, first.lead, &chosen));
    passage.pieces.sort_by_key(|piece| piece.span.start);
    Some(RowCount {
        shown: chosen.len(),
        all: meant.len(),
    })
}

/// The rows that a passage shows, in the order of the file.
fn rows_of(ranked: &Ranked<'_>, passage: &Passage) -> Vec<usize> {
    let units = passage::of_note(ranked.found, passage.note);
    let rows = units.filter(|(_, unit)| unit.form == Form::Row && unit.lead.is_some());
    rows.filter(|(_, unit)| passage.shows(passage.note, &unit.span))
        .map(|(index, _)| index)
        .collect()
}
