//! Compares things that are the columns of a table: their names are in the header, and their
//! attributes in the first column.

use super::amounts::{self, Amount};
use super::cues;
use super::passage::{self, Passage};
use super::question::Operation;
use super::rank::{Candidate, Ranked};
use super::rows::{cells, stems_of};
use super::score;
use super::totals::{Computed, is_total_name, with_unit};

/// A thing that is a column, and its amount.
struct Compared<'t> {
    name: &'t str,
    written: &'t str,
}

/// The smallest or largest amount of the row that the question names; `None` if the question is not
/// about such a row, or if the columns of the row are not amounts of one kind.
pub(super) fn compute(
    ranked: &Ranked<'_>,
    candidate: &Candidate,
    operation: Operation,
) -> Option<(Computed, Vec<Passage>)> {
    let name = match operation {
        Operation::Minimum => "smallest",
        Operation::Maximum => "largest",
        _ => return None,
    };
    let header = ranked.unit(ranked.unit(candidate.index)?.lead?)?;
    let all = passage::rows_beside(ranked.found, candidate.index);
    let mut named = all.iter().copied().filter(|row| is_named(ranked, *row));
    let (row, None) = (named.next()?, named.next()) else {
        return None;
    };
    let unit = ranked.unit(row)?;
    let things = things(ranked, cells(header), cells(unit))?;
    let written: Vec<&str> = things.iter().map(|thing| thing.written).collect();
    let amounts = amounts::in_one_unit(&amounts::of_column(
        &written,
        ranked.found.decimal_sign(unit.note),
    )?)?;
    let all = amounts.iter();
    let best = match operation {
        Operation::Minimum => all.min_by_key(|amount| amount.parts)?,
        _ => all.max_by_key(|amount| amount.parts)?,
    };
    let computed = Computed {
        operation,
        value: with_unit(best),
        arithmetic: format!("the {name} of {}", named_amounts(&things, &amounts)),
        count: things.len(),
        notes: 1,
    };
    let mut shown = Passage::new(unit.note, passage::rows(ranked.found, unit.lead, &[row]));
    shown.keys.push(unit.span.clone());
    Some((computed, vec![shown]))
}

/// Whether the first cell of a row is what the question compares: a word of the question, or what
/// its superlative means.
fn is_named(ranked: &Ranked<'_>, row: usize) -> bool {
    let first = ranked.unit(row).and_then(|u| cells(u).first().copied());
    let stems = stems_of(first.unwrap_or(""));
    let attributes = cues::compared_attributes(&ranked.question.text.to_lowercase());
    let mut terms = ranked.question.terms.iter();
    terms.any(|term| score::covers(&stems, term) > 0.0)
        || attributes
            .iter()
            .any(|attribute| !stems.is_disjoint(&stems_of(attribute)))
}

/// The columns behind the first, with the cells of a row; `None` if there is only one, or if the
/// question names one of them alone.
fn things<'t>(
    ranked: &Ranked<'_>,
    names: Vec<&'t str>,
    cells: Vec<&'t str>,
) -> Option<Vec<Compared<'t>>> {
    // The first column may have no name at all.
    let unnamed = cells.len().checked_sub(names.len())?;
    let names = names.into_iter().skip(1_usize.checked_sub(unnamed)?);
    let columns = names.zip(cells.into_iter().skip(1));
    let things: Vec<Compared<'t>> = columns
        .filter(|(name, cell)| !is_total_name(name) && !cell.is_empty())
        .map(|(name, written)| Compared { name, written })
        .collect();
    let is_asked = |thing: &&Compared<'_>| {
        let stems = stems_of(thing.name);
        let mut terms = ranked.question.terms.iter();
        terms.any(|term| score::covers(&stems, term) > 0.0)
    };
    let asked = things.iter().filter(is_asked).count();
    (things.len() > 1 && (asked == 0 || asked == things.len())).then_some(things)
}

/// The amounts, each with the name of its thing.
fn named_amounts(things: &[Compared<'_>], amounts: &[Amount]) -> String {
    let both = things.iter().zip(amounts);
    let named: Vec<String> = both
        .map(|(thing, amount)| format!("{amount} ({})", thing.name))
        .collect();
    named.join(", ")
}
