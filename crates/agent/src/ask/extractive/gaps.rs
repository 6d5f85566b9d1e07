//! Computes by how much two things differ: "how much more does the oak table cost than the pine one?"

use super::amounts::{self, Amount};
use super::cues;
use super::passage::{self, Passage};
use super::question::{Operation, Term};
use super::rank::{Candidate, Ranked};
use super::rows::{cell_at, cells, stems_of};
use super::score;
use super::sides;
use super::totals::{self, Computed, with_unit};
use super::units::Form;

/// The difference of the amounts of two rows, with both rows; `None` if the question does not ask by
/// how much two things differ, or if no table has one row for each.
pub(super) fn choose(ranked: &Ranked<'_>) -> Option<(Computed, Vec<Passage>)> {
    if !cues::GAP.are_in(&ranked.question.text.to_lowercase()) {
        return None;
    }
    let (left, right) = sides::sides(ranked)?;
    let near = ranked.order.iter().take(16);
    let mut rows = near.filter(|c| {
        let unit = ranked.unit(c.index);
        unit.is_some_and(|unit| unit.form == Form::Row)
    });
    rows.find_map(|candidate| of_table(ranked, candidate, &left, &right))
}

fn of_table(
    ranked: &Ranked<'_>,
    candidate: &Candidate,
    left: &[Term],
    right: &[Term],
) -> Option<(Computed, Vec<Passage>)> {
    let found = ranked.found;
    let unit = ranked.unit(candidate.index)?;
    let header = ranked.unit(unit.lead?)?;
    let all = passage::rows_beside(found, candidate.index);
    let rows = [
        only_row(ranked, &all, left)?,
        only_row(ranked, &all, right)?,
    ];
    if rows[0] == rows[1] {
        return None;
    }
    let column = totals::asked_column(ranked, &cells(header), &all)?;
    let written: Option<Vec<&str>> = rows
        .iter()
        .map(|row| cell_at(found, *row, column))
        .collect();
    let amounts = amounts::in_one_unit(&amounts::of_column(
        &written?,
        found.decimal_sign(unit.note),
    )?)?;
    let (smaller, larger) = match amounts.as_slice() {
        [one, two] if one.parts <= two.parts => (one, two),
        [one, two] => (two, one),
        _ => return None,
    };
    let gap = Amount {
        parts: larger.parts.checked_sub(smaller.parts)?,
        decimals: larger.decimals.max(smaller.decimals),
        unit: larger.unit.clone(),
    };
    let mut shown = Passage::new(unit.note, passage::rows(found, unit.lead, &rows));
    let units = rows.iter().filter_map(|row| ranked.unit(*row));
    shown.keys.extend(units.map(|unit| unit.span.clone()));
    let computed = Computed {
        operation: Operation::Difference,
        value: with_unit(&gap),
        arithmetic: format!("{larger} − {smaller}"),
        count: 2,
        notes: 1,
    };
    Some((computed, vec![shown]))
}

/// The only row with a term of one side in its first cell.
fn only_row(ranked: &Ranked<'_>, all: &[usize], side: &[Term]) -> Option<usize> {
    let names_side = |row: &&usize| {
        let name = cell_at(ranked.found, **row, 0).unwrap_or("");
        let stems = stems_of(name);
        side.iter().any(|term| score::covers(&stems, term) > 0.0)
    };
    let mut named = all.iter().filter(names_side);
    match (named.next(), named.next()) {
        (Some(row), None) => Some(*row),
        _ => None,
    }
}
