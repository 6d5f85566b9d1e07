//! L4: numbers of a claim that are the total of a list or table in the cited text.

use super::Case;
use super::arithmetic;
use super::derive::{ClaimNumber, Operand, amounts, may_be_computed, shown_result, wording};
use super::numbers::comparable;
use super::things::computes;
use crate::atoms::{self as a, Number};
use crate::derivation::{Derivation, Operation};
use crate::reading::Reading;

use local_agent_text::markdown::BlockRole;

/// Maximum number of rows of one table or list that are added up.
const MOST_ROWS: usize = 200;

/// Computes a number of the claim as the total of a list or table in the cited text: of all its
/// rows, or of those that the claim names.
pub(super) fn total(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<Derivation> {
    if !may_be_computed(result.number) {
        return None;
    }
    let mut cited = case.cited.iter();
    cited.find_map(|source| total_in(case, source.reading, result))
}

fn total_in(case: &Case<'_>, reading: &Reading, result: ClaimNumber<'_>) -> Option<Derivation> {
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
        let is_about_all = named.is_empty() || named.len() == rows.len() || computes(case.claim);
        let all = is_about_all.then(|| sum(case, reading, &rows, result));
        let found = all.flatten().or_else(|| sum(case, reading, &named, result));
        if found.is_some() {
            return found;
        }
        s = end + 1;
    }
    None
}

fn is_row_or_item(reading: &Reading, sentence: usize) -> bool {
    let role = reading.sentence(sentence).map(|s| s.role);
    matches!(role, Some(BlockRole::TableRow | BlockRole::ListItem))
}

/// Whether the claim contains the first word of a row.
fn names(case: &Case<'_>, reading: &Reading, row: usize) -> bool {
    let first = reading
        .tokens_of(row)
        .iter()
        .find(|t| t.is_content_or_number());
    first.is_some_and(|t| case.claim.has(t.id))
}

/// The sum of the amounts in one column of these rows, when it equals the result.
fn sum(
    case: &Case<'_>,
    reading: &Reading,
    rows: &[usize],
    result: ClaimNumber<'_>,
) -> Option<Derivation> {
    if rows.len() < 2 {
        return None;
    }
    let wording = wording(case.claim, result);
    let all: Vec<Vec<Operand<'_>>> = rows
        .iter()
        .map(|row| comparable_amounts(reading, *row, result.number))
        .collect();
    let places = all.iter().map(Vec::len).min().unwrap_or(0);
    (0..places).find_map(|place| {
        let column: Vec<&Operand<'_>> = all.iter().filter_map(|row| row.get(place)).collect();
        let numbers: Vec<&Number> = column.iter().map(|operand| &operand.number).collect();
        let values = arithmetic::in_one_unit(result.number, wording.is_bare, &numbers)?;
        let equals = a::same(values.iter().sum(), result.number.value);
        equals.then(|| Derivation {
            operation: Operation::Sum,
            from: column.iter().map(|o| o.shown.to_owned()).collect(),
            result: shown_result(case.claim, result.number),
        })
    })
}

/// The amounts of a row that can be compared with `n`.
fn comparable_amounts<'r>(reading: &'r Reading, row: usize, n: &Number) -> Vec<Operand<'r>> {
    amounts(reading, row)
        .filter(|operand| comparable(n, &operand.number))
        .collect()
}
