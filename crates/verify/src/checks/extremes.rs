//! L5: what a claim calls the lowest or the highest is so in the column of the cited table.

use super::passages::Passages;
use super::{Case, Effect};
use crate::Code;
use crate::atoms::{self as a, What};
use crate::finding::{Detail, Objection};
use crate::text::Token;

const LEAST: &[&str] = list!("extremes.least");
const MOST: &[&str] = list!("extremes.most");

/// A column is compared if it has at least this many numbers.
const FEWEST: usize = 3;

/// Maximum number of lines with cells that are read, of columns, and of numbers of the claim.
const MOST_ROWS: usize = 400;
const MOST_COLUMNS: usize = 24;
const MOST_NUMBERS: usize = 8;

/// A table of the cited text: its rows, each with the numbers of its cells.
type Rows = Vec<Vec<Option<f64>>>;

/// The doubt about a superlative beside a number of a row that has it in no column.
pub(super) fn check(case: &Case<'_>, _: &Passages<'_>) -> Option<Objection> {
    let claim = case.claim;
    let tokens = claim.text.tokens.as_slice();
    let is = |t: &Token, list: &[&str]| list.contains(&&*claim.lower_word(t));
    let superlatives = tokens.iter().filter(|t| is(t, LEAST) || is(t, MOST));
    let superlatives: Vec<&Token> = superlatives.take(MOST_NUMBERS).collect();
    if superlatives.is_empty() || tokens.iter().any(Token::negates) {
        return None;
    }
    let texts = case.cited.iter().map(|source| source.item.text.as_str());
    let tables: Vec<Rows> = texts.flat_map(tables).collect();
    let numbers = claim.atoms.iter().filter_map(|atom| match &atom.what {
        What::Number(n) => Some((n.value, atom)),
        _ => None,
    });
    let mut numbers = numbers.take(MOST_NUMBERS);
    numbers.find_map(|(value, atom)| {
        // Of several superlatives, the one before a number is its own.
        let mut before = superlatives.iter().rev();
        let own = before.find(|t| t.end <= atom.bytes.start);
        let only = superlatives.first().filter(|_| superlatives.len() == 1);
        let word = *own.or(only)?;
        let is_least = is(word, LEAST);
        let extreme = other_extreme(&tables, value, is_least)?;
        let why = format!(
            "The claim says “{}” of {}, but that column of the cited text has {extreme}.",
            claim.word(word),
            claim.shown_amount(atom),
        );
        let detail = Detail::Pointer { why };
        let found = Objection::new(Code::Direction, Effect::Doubts, detail);
        Some(found.at(word.start..word.end))
    })
}

/// The extreme of the only column that has a value, if it is another one, and the row of the value has
/// the extreme of no other column either: "the cheapest plan has 24 months of notice".
fn other_extreme(tables: &[Rows], value: f64, is_least: bool) -> Option<f64> {
    let mut places = tables.iter().flat_map(|rows| places_of(rows, value));
    let (rows, row, column) = places.next().filter(|_| places.next().is_none())?;
    // The first cell of a row numbers it: "launch 6 was the slowest".
    if column == 0 {
        return None;
    }
    let extremes = (0..row.len()).map(|n| (n, extreme(rows, n, is_least)));
    let mut own = None;
    for (n, extreme) in extremes {
        let Some(extreme) = extreme else { continue };
        if row
            .get(n)
            .copied()
            .flatten()
            .is_some_and(|v| a::same(v, extreme))
        {
            return None;
        }
        if n == column {
            own = Some(extreme);
        }
    }
    own
}

/// The cells of a table that have a value: all rows, the row, and the column.
fn places_of(rows: &Rows, value: f64) -> impl Iterator<Item = (&Rows, &Vec<Option<f64>>, usize)> {
    rows.iter().flat_map(move |row| {
        let cells = row.iter().enumerate();
        let same = cells.filter(move |(_, cell)| cell.is_some_and(|v| a::same(v, value)));
        same.map(move |(column, _)| (rows, row, column))
    })
}

/// The least or the greatest number of a column with enough of them.
fn extreme(rows: &Rows, column: usize, is_least: bool) -> Option<f64> {
    let cells = rows
        .iter()
        .filter_map(|row| row.get(column).copied().flatten());
    let cells: Vec<f64> = cells.collect();
    let least = cells.iter().copied().reduce(f64::min);
    let most = cells.iter().copied().reduce(f64::max);
    let found = if is_least { least } else { most };
    found.filter(|_| cells.len() >= FEWEST)
}

/// The tables of a text.
fn tables(text: &str) -> Vec<Rows> {
    let mut out: Vec<Rows> = vec![Vec::new()];
    let mut count = 0;
    for line in text.lines() {
        let row = line.trim().strip_prefix('|').filter(|_| count < MOST_ROWS);
        match (row, out.last_mut()) {
            (Some(row), Some(open)) => {
                count += 1;
                open.push(row.split('|').take(MOST_COLUMNS).map(cell_value).collect());
            }
            (None, Some(open)) if !open.is_empty() => out.push(Vec::new()),
            _ => {}
        }
    }
    out
}

/// The number with which a cell begins; none in a date or a name: "2020-09-12", "O1".
pub(super) fn cell_value(cell: &str) -> Option<f64> {
    let cell = cell.trim().trim_matches('*');
    let start = cell.find(char::is_alphanumeric)?;
    let digits = cell.get(start..)?;
    let end = digits
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, ',' | '.')))
        .unwrap_or(digits.len());
    let (number, rest) = digits.split_at_checked(end)?;
    if rest.starts_with(['-', '/', ':', '–']) || rest.starts_with(char::is_alphabetic) {
        return None;
    }
    a::digits_value(number.trim_end_matches(['.', ',']))
}
