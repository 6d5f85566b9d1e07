//! L4: a number of a table has the unit that the head of its column names: "43" below "Girth (cm)" does
//! not support "43 mm".

use std::ops::Range;

use crate::atoms::{self as a, Atom, MeasureUnit, Number, UnitKind};
use crate::reading::Reading;
use local_agent_text::markdown::BlockRole;

/// Maximum number of rows between a number and the head of its table, and of bytes of a row; both bound
/// the work on hostile text.
const MOST_ROWS: usize = 60;
const LONGEST_ROW: usize = 2000;

/// Whether a number without a unit, equal to one of the claim, has another unit by its column.
pub(super) fn is_another(n: &Number, m: &Number, atom: &Atom, reading: &Reading) -> bool {
    let same = m.unit.is_none() && m.range.is_none() && a::same(n.value, m.value);
    let Some(unit) = n.unit.filter(|_| same && n.per.is_none()) else {
        return false;
    };
    let named = head(reading, atom).and_then(unit_of_head);
    named.is_some_and(|named| !a::equal_amounts(1.0, unit, 1.0, named))
}

/// The head of the column that an atom is in.
fn head<'r>(reading: &'r Reading, atom: &Atom) -> Option<&'r str> {
    reading.normal.get(head_range(reading, atom)?)
}

/// Where the head of the column that an atom is in stands in the text.
pub(super) fn head_range(reading: &Reading, atom: &Atom) -> Option<Range<usize>> {
    let row = reading.sentence_of(atom.tokens.start);
    let is = |n: usize, role| reading.sentence(n).is_some_and(|s| s.role == role);
    let mut above = (row.saturating_sub(MOST_ROWS)..=row).rev();
    let first = above.find(|n| !is(*n, BlockRole::TableRow))?;
    if first == row || !is(first, BlockRole::TableHeader) {
        return None;
    }
    let bytes = reading.sentence(row)?.bytes.clone();
    let before = reading.normal.get(bytes.start..atom.bytes.start)?;
    if before.len() > LONGEST_ROW {
        return None;
    }
    let column = before.trim_start_matches('|').matches('|').count();
    let header = reading.sentence(first)?.bytes.clone();
    let text = reading.normal.get(header.clone())?;
    let mut start = header.start + text.len() - text.trim_start_matches('|').len();
    for (at, cell) in text.trim_start_matches('|').split('|').enumerate() {
        if at == column {
            return Some(start..start + cell.len());
        }
        start += cell.len() + 1;
    }
    None
}

/// The unit in brackets, or at the end: "Girth (cm)", "Temp °C". A rate is no unit.
fn unit_of_head(head: &str) -> Option<MeasureUnit> {
    let inside = head.split_once(['(', '[']).map(|(_, rest)| rest);
    let inside = inside.and_then(|rest| rest.split([')', ']', ',', ';']).next());
    let name = match inside {
        Some(inside) => inside.trim(),
        None => {
            let (before, last) = head.trim().rsplit_once(' ').unwrap_or(("", head.trim()));
            let is_rate = before.ends_with('/') || before.ends_with(" per") || before == "per";
            Some(last).filter(|last| last.len() > 1 && !is_rate)?
        }
    };
    let unit = a::unit(name)?;
    let is_measure =
        |(kind, _): &(UnitKind, f64)| !matches!(kind, UnitKind::Points | UnitKind::Times);
    unit.iter().all(is_measure).then_some(unit)
}
