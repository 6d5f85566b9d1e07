//! L4: numbers of a claim that are the total or the mean of a list, table or sentence of the cited text.

use super::arithmetic;
use super::averages::says_average;
use super::derive::{ClaimNumber, Operand, amounts, may_be_computed, shown_result, wording};
use super::formulas::is_mean;
use super::numbers::comparable;
use super::rows::named_rows;
use super::things::{computes, is_word_of_totals};
use super::{Case, Source, as_float};
use crate::atoms::{self as a, Date, Number, OtherReading, What};
use crate::derivation::{Derivation, Operation};
use crate::reading::Reading;

use local_agent_text::markdown::BlockRole;

/// Maximum number of rows of one table or list that are added up.
const MOST_ROWS: usize = 200;

/// Computes a number of the claim as the total of a list or table in the cited text: of all its
/// rows, or of those that the claim names. If the claim says that it is an average, as their mean, or
/// as that of all amounts of a sentence.
pub(super) fn total(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<Derivation> {
    if !may_be_computed(result.number) {
        return None;
    }
    let operation = match says_average(case.claim) {
        true => Operation::Average,
        false => Operation::Sum,
    };
    let mut cited = case.cited.iter();
    cited.find_map(|source| {
        let reading = source.reading;
        let of_rows = total_in(case, source, operation, result);
        of_rows.or_else(|| mean_of_a_sentence(case, reading, operation, result))
    })
}

/// Whether a header of a table of the text names the unit of a number: "kg", "Rent (€)".
fn is_in_a_header(text: &str, n: &Number) -> bool {
    let Some(unit) = n.unit else { return false };
    let tables = named_rows(text);
    let mut units = tables
        .iter()
        .flat_map(|table| (0..table.header.len()).filter_map(|at| table.unit_above(at)));
    units.any(|own| a::same_kind(own, unit))
}

/// The mean of all amounts of one sentence, when it equals the result.
fn mean_of_a_sentence(
    case: &Case<'_>,
    reading: &Reading,
    operation: Operation,
    result: ClaimNumber<'_>,
) -> Option<Derivation> {
    if operation != Operation::Average {
        return None;
    }
    let sentences = 0..reading.text.sentences.len();
    sentences
        .filter(|s| !is_row_or_item(reading, *s))
        .find_map(|s| {
            let all = comparable_amounts(reading, s, result.number);
            combined(case, &all.iter().collect::<Vec<_>>(), operation, result)
        })
}

fn total_in(
    case: &Case<'_>,
    source: &Source<'_>,
    operation: Operation,
    result: ClaimNumber<'_>,
) -> Option<Derivation> {
    let reading = source.reading;
    let has_unit_above = is_in_a_header(&source.item.text, result.number);
    let count = reading.text.sentences.len();
    let mut s = 0;
    while s < count {
        let end = (s..count)
            .find(|s| !is_row_or_item(reading, *s))
            .unwrap_or(count);
        let rows: Vec<usize> = (s..end).take(MOST_ROWS).collect();
        let mut named = rows.clone();
        named.retain(|row| names(case, reading, *row));
        // A claim about some of the rows does not give the total of all.
        let is_about_all = named.is_empty()
            || named.len() == rows.len()
            || operation == Operation::Average
            || computes(case.claim);
        let mut parts = rows.clone();
        parts.retain(|row| !is_total_row(reading, *row));
        let sets = match is_about_all {
            true => vec![rows, named, parts],
            false => vec![named],
        };
        let mut found = sets.iter().filter_map(|rows| {
            of_columns(case, reading, (rows, has_unit_above), operation, result)
        });
        if let Some(found) = found.next() {
            return Some(found);
        }
        s = end + 1;
    }
    None
}

fn is_row_or_item(reading: &Reading, sentence: usize) -> bool {
    let role = reading.sentence(sentence).map(|s| s.role);
    matches!(role, Some(BlockRole::TableRow | BlockRole::ListItem))
}

/// Whether a row begins with a word for a total, so that its amount is none of those above it.
fn is_total_row(reading: &Reading, row: usize) -> bool {
    let first = reading.tokens_of(row).first();
    first.is_some_and(|t| is_word_of_totals(reading, t))
}

/// Whether the claim contains the first word of a row.
fn names(case: &Case<'_>, reading: &Reading, row: usize) -> bool {
    let first = reading
        .tokens_of(row)
        .iter()
        .find(|t| t.is_content_or_number());
    first.is_some_and(|t| case.claim.has(t.id))
}

/// The sum or mean of the amounts in one column of these rows, when it equals the result. The unit of
/// the amounts may be above their column.
fn of_columns(
    case: &Case<'_>,
    reading: &Reading,
    (rows, has_unit_above): (&[usize], bool),
    operation: Operation,
    result: ClaimNumber<'_>,
) -> Option<Derivation> {
    let n = result.number;
    let of_row = |row: &usize| match has_unit_above {
        true => amounts_below_a_unit(reading, *row, n),
        false => comparable_amounts(reading, *row, n),
    };
    let all: Vec<Vec<Operand<'_>>> = rows.iter().map(of_row).collect();
    let places = all.iter().map(Vec::len).min().unwrap_or(0);
    (0..places).find_map(|place| {
        let column: Vec<&Operand<'_>> = all.iter().filter_map(|row| row.get(place)).collect();
        combined(case, &column, operation, result)
    })
}

/// The sum or mean of two or more amounts, when it equals the result. A mean is rounded to the digits
/// of the result.
fn combined(
    case: &Case<'_>,
    amounts: &[&Operand<'_>],
    operation: Operation,
    result: ClaimNumber<'_>,
) -> Option<Derivation> {
    if amounts.len() < 2 {
        return None;
    }
    let (n, wording) = (result.number, wording(case.claim, result));
    let numbers: Vec<&Number> = amounts.iter().map(|operand| &operand.number).collect();
    let values = arithmetic::in_one_unit(n, wording.is_bare, &numbers)?;
    let sum: f64 = values.iter().sum();
    // "3.000 kWh" may be three or three thousand.
    let other = match n.also {
        Some(OtherReading::Amount(value)) => Some(Number { value, ..*n }),
        _ => None,
    };
    let mut readings = [Some(*n), other].into_iter().flatten();
    let equals = readings.any(|n| match operation {
        Operation::Average => is_mean(&n, sum / as_float(values.len())),
        _ => a::same(sum, n.value),
    });
    equals.then(|| Derivation {
        operation,
        from: amounts.iter().map(|o| o.shown.to_owned()).collect(),
        result: shown_result(case.claim, n),
    })
}

/// The amounts of a row that can be compared with `n`.
fn comparable_amounts<'r>(reading: &'r Reading, row: usize, n: &Number) -> Vec<Operand<'r>> {
    amounts(reading, row)
        .filter(|operand| comparable(n, &operand.number))
        .collect()
}

/// The amounts of a row; those without a unit have that of `n`, which is above a column. Four digits
/// that look like a year are an amount there.
fn amounts_below_a_unit<'r>(reading: &'r Reading, row: usize, n: &Number) -> Vec<Operand<'r>> {
    let atoms = reading.atoms_of(row).iter();
    let all = atoms.filter_map(|atom| {
        let number = match &atom.what {
            What::Number(m) if !m.ordinal => *m,
            What::Date(date) => year_as_amount(date)?,
            _ => return None,
        };
        Some(Operand {
            reading,
            atom,
            number: Number {
                unit: number.unit.or(n.unit),
                ..number
            },
            shown: reading.shown_amount(atom),
        })
    });
    all.filter(|operand| comparable(n, &operand.number))
        .collect()
}

/// The digits of a year as an amount; `None` for a day or a month.
fn year_as_amount(date: &Date) -> Option<Number> {
    let is_year = date.month.is_none() && date.day.is_none();
    let year = date.year.filter(|_| is_year)?;
    Some(Number {
        value: f64::from(year),
        also: None,
        unit: None,
        per: None,
        bound: None,
        ordinal: false,
        words: false,
        range: None,
    })
}
