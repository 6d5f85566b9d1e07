//! Readings of a counter, such as a meter: they are subtracted and not added up.

use super::amounts::Amount;
use super::calendar::{self, Day};
use super::cues;
use super::passage::{self, Passage};
use super::question::Operation;
use super::rank::Ranked;
use super::totals::{Column, Computed, keys, with_unit};

/// Fewer amounts may grow by chance.
const FEWEST: usize = 3;

/// By how much a counter grew from its first reading to its last, for a question that asks how much
/// in all; `None` if the column has no readings. A table has readings if its header, its headings or
/// the names of its note have a word for a counter, and each row has a later day and a higher amount
/// than the one above.
pub(super) fn growth(
    ranked: &Ranked<'_>,
    note: usize,
    column: &Column,
) -> Option<(Computed, Vec<Passage>)> {
    if !is_of_counter(ranked, column) || !rises(ranked, column) {
        return None;
    }
    let (first, last) = (column.amounts.first()?, column.amounts.last()?);
    let ends = [*column.rows.first()?, *column.rows.last()?];
    let mut shown = Passage::new(note, passage::rows(ranked.found, column.header, &ends));
    shown.keys.extend(keys(ranked, &ends));
    let difference = Amount {
        parts: last.parts - first.parts,
        ..last.clone()
    };
    let computed = Computed {
        operation: Operation::Difference,
        value: with_unit(&difference),
        arithmetic: format!("{} − {}", column.written.last()?, column.written.first()?),
        count: ends.len(),
        notes: 1,
    };
    Some((computed, vec![shown]))
}

/// Whether a word for a counter is in the header of the table or above it.
fn is_of_counter(ranked: &Ranked<'_>, column: &Column) -> bool {
    let header = column.header.and_then(|header| ranked.unit(header));
    header.is_some_and(|header| {
        let mut texts = [&header.plain, &header.place.written].into_iter();
        texts.any(|text| {
            let lower = text.to_lowercase();
            cues::split(&lower).any(|word| cues::holds(cues::COUNTERS, word))
        })
    })
}

/// Whether days and amounts rise from row to row.
fn rises(ranked: &Ranked<'_>, column: &Column) -> bool {
    let units = column.rows.iter().filter_map(|row| ranked.unit(*row));
    let days: Vec<Day> = units
        .filter_map(|unit| calendar::latest(&unit.plain))
        .collect();
    column.amounts.len() >= FEWEST
        && days.len() == column.amounts.len()
        && days.is_sorted_by(|one, next| one < next)
        && column
            .amounts
            .is_sorted_by(|one, next| one.parts < next.parts)
}
