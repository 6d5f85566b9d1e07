//! L4: what a claim says of a row of a table is in the cells of that row.

use std::collections::HashSet;

use super::extremes::cell_value;
use super::passages::Passages;
use super::rows::{MOST_TEXTS, NamedRows, Row, beside_digits, is_named, named_rows, words};
use super::things::computes;
use super::{Case, Effect};
use crate::Code;
use crate::atoms::{self as a, Number, What};
use crate::finding::{Detail, Objection};
use crate::text::Token;

const NO: &[&str] = list!("cells.no");

/// Maximum number of words of a claim, of its numbers, and of rows that it names.
const MOST_WORDS: usize = 40;
const MOST_NUMBERS: usize = 4;
const MOST_NAMED: usize = 8;

/// The objection to an amount that the cited tables have in another row than the only one that the
/// claim names: "The Team plan costs 30 EUR", which is what Business costs.
pub(super) fn check(case: &Case<'_>, _: &Passages<'_>) -> Option<Objection> {
    let tables = tables(case)?;
    let (table, row) = only_row(case, &tables)?;
    let mut tokens = case.claim.text.tokens.iter();
    let denies = tokens.any(Token::negates);
    if computes(case.claim) || denies {
        return None;
    }
    let numbers = case.claim.atoms.iter().filter_map(|atom| match &atom.what {
        What::Number(n) if !n.ordinal && n.range.is_none() => Some((atom, n)),
        _ => None,
    });
    let mut numbers = numbers.take(MOST_NUMBERS);
    numbers.find_map(|(atom, n)| {
        let other = row_with(table, n).filter(|_| !has_amount(table, row, n))?;
        let is_elsewhere = case.cited.iter().any(|source| {
            let lines = source.item.text.lines();
            let mut lines = lines.filter(|line| !line.trim_start().starts_with('|'));
            lines.any(|line| has_value(line, n))
        });
        if is_elsewhere {
            return None;
        }
        let why = format!(
            "In the cited text “{}” belongs to “{}”, not to “{}”.",
            case.claim.shown_amount(atom),
            other.name,
            row.name,
        );
        let found = Objection::new(Code::Referent, Effect::Rejects, Detail::Pointer { why });
        Some(found.at(atom.bytes.clone()))
    })
}

/// Whether the claim names one row of a table, and all its amounts, at least one, are in that row.
pub(super) fn is_proven(case: &Case<'_>) -> bool {
    let Some(tables) = tables(case) else {
        return false;
    };
    let Some((table, row)) = only_row(case, &tables) else {
        return false;
    };
    let numbers = case.claim.atoms.iter().filter_map(|atom| match &atom.what {
        What::Number(n) => Some(n),
        _ => None,
    });
    let mut numbers = numbers.take(MOST_NUMBERS).peekable();
    numbers.peek().is_some() && numbers.all(|n| has_amount(table, row, n))
}

/// Whether the claim denies a column of the only row that it names, and the cell there says no: "The
/// Team plan does not include encryption".
pub(super) fn denies(case: &Case<'_>) -> bool {
    let tokens = case.claim.text.tokens.as_slice();
    let denials = tokens.iter().filter(|t| t.negates() || t.turns()).count();
    if denials != 1 || case.claim.statements().len() != 1 {
        return false;
    }
    let Some(tables) = tables(case) else {
        return false;
    };
    let Some((table, row)) = only_row(case, &tables) else {
        return false;
    };
    let said = claim_words(case);
    let columns = table.header.iter().enumerate();
    let mut asked = columns.filter(|(_, header)| is_named(header, &said));
    let only = asked.next().filter(|_| asked.next().is_none());
    let cell = only.and_then(|(column, _)| row.cells.get(column));
    cell.is_some_and(|cell| NO.contains(&&*cell.trim().to_lowercase()))
}

/// The tables of the cited text; `None` if there is none or the claim is long.
fn tables(case: &Case<'_>) -> Option<Vec<NamedRows>> {
    if case.claim.text.tokens.len() > MOST_WORDS {
        return None;
    }
    let cited = case.cited.iter().take(MOST_TEXTS);
    let texts = cited.map(|source| source.item.text.as_str());
    let all = texts.filter(|text| text.contains('|')).flat_map(named_rows);
    let tables: Vec<NamedRows> = all.filter(|table| !table.header.is_empty()).collect();
    (!tables.is_empty()).then_some(tables)
}

fn claim_words(case: &Case<'_>) -> HashSet<String> {
    words(&case.claim.normal).collect()
}

/// The only row that the claim names, written as in the table: "Free" is no "free".
fn only_row<'t>(case: &Case<'_>, tables: &'t [NamedRows]) -> Option<(&'t NamedRows, &'t Row)> {
    let said = claim_words(case);
    let rows = tables
        .iter()
        .flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    let named = rows.filter(|(_, row)| {
        is_named(&row.name, &said) && case.claim.normal.contains(row.name.trim())
    });
    let mut named: Vec<(&NamedRows, &Row)> = named.take(MOST_NAMED).collect();
    // "Team Plus" is not "Team".
    let names: Vec<&str> = named.iter().map(|(_, row)| row.name.trim()).collect();
    named.retain(|(_, row)| {
        let own = row.name.trim();
        let mut longer = names.iter().filter(|name| name.len() > own.len());
        !longer.any(|name| name.contains(own))
    });
    match named[..] {
        [only] => Some(only),
        _ => None,
    }
}

/// Another row with the amount, in the same unit.
fn row_with<'t>(table: &'t NamedRows, n: &Number) -> Option<&'t Row> {
    table.rows.iter().find(|row| has_amount(table, row, n))
}

fn has_amount(table: &NamedRows, row: &Row, n: &Number) -> bool {
    row.cells.iter().enumerate().any(|(column, cell)| {
        let is_same = cell_value(cell).is_some_and(|value| a::same(value, n.value));
        is_same && has_unit(table, (column, cell), n)
    })
}

/// Whether what is beside the number of a cell, or else above its column, is the unit of `n`, or both
/// have none.
fn has_unit(table: &NamedRows, (column, cell): (usize, &str), n: &Number) -> bool {
    let beside = beside_digits(cell);
    let theirs = match beside.is_empty() {
        true => table.unit_above(column),
        false => a::unit(&beside),
    };
    match (n.unit, theirs) {
        (Some(own), Some(other)) => a::same_kind(own, other),
        (None, _) => beside.is_empty(),
        (Some(_), None) => false,
    }
}

/// Whether a line has the value anywhere, in any unit.
fn has_value(line: &str, n: &Number) -> bool {
    let numbers = line.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')));
    numbers
        .filter_map(|digits| a::digits_value(digits.trim_matches(['.', ','])))
        .any(|value| a::same(value, n.value))
}
