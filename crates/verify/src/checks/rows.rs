//! The tables of a text and its lists of "name: amount", as named rows.

use std::collections::HashSet;

use super::extremes::cell_value;
use crate::atoms::{self as a, MeasureUnit};

/// Maximum number of lines of a text that are read, and of columns of a table.
const MOST_LINES: usize = 400;
pub(super) const MOST_COLUMNS: usize = 24;

/// Maximum number of cited texts that are read for one claim.
pub(super) const MOST_TEXTS: usize = 8;

/// The things of one table or list, with their amounts or other cells.
#[derive(Debug, Default)]
pub(super) struct NamedRows {
    /// The words above the columns behind the names; empty in a list.
    pub header: Vec<String>,
    pub rows: Vec<Row>,
}

/// One thing: its name, and its cells or what is behind its colon.
#[derive(Debug)]
pub(super) struct Row {
    pub name: String,
    pub cells: Vec<String>,
}

impl NamedRows {
    /// The unit that the words above a column name: "kg", "Rent (€)".
    pub(super) fn unit_above(&self, column: usize) -> Option<MeasureUnit> {
        let header = self.header.get(column)?;
        let mut words = header.split(|c: char| c.is_whitespace() || "()[],/".contains(c));
        words.find_map(a::unit)
    }
}

/// The lower-case words of a text.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Whether the claim has all words of a name.
pub(super) fn is_named(name: &str, claim: &HashSet<String>) -> bool {
    let mut own = words(name).peekable();
    own.peek().is_some() && own.all(|word| claim.contains(&word))
}

/// The tables of a text, and its lists of "name: amount".
pub(super) fn named_rows(text: &str) -> Vec<NamedRows> {
    let mut out: Vec<NamedRows> = Vec::new();
    let mut open = NamedRows::default();
    let mut is_table = false;
    for line in text.lines().take(MOST_LINES) {
        let line = line.trim();
        let table_row = line.strip_prefix('|').map(cells);
        let row = table_row.clone().or_else(|| listed_amount(line));
        if (row.is_none() || table_row.is_some() != is_table) && !open.rows.is_empty() {
            out.push(std::mem::take(&mut open));
        }
        is_table = table_row.is_some();
        match row {
            None => open.header.clear(),
            // The line below the header has no letter and no digit.
            Some(row) if !row.iter().any(|cell| cell.contains(char::is_alphanumeric)) => {}
            Some(row) if is_table && open.header.is_empty() && open.rows.is_empty() => {
                open.header = row.into_iter().skip(1).collect();
            }
            Some(row) => {
                let mut cells = row.into_iter();
                let name = cells.next().unwrap_or_default();
                let cells = cells.collect();
                open.rows.push(Row { name, cells });
            }
        }
    }
    out.push(open);
    out
}

/// The cells of a row.
fn cells(row: &str) -> Vec<String> {
    let row = row.strip_suffix('|').unwrap_or(row);
    let cells = row.split('|').take(MOST_COLUMNS);
    cells
        .map(|cell| cell.trim().trim_matches('*').to_owned())
        .collect()
}

/// The name and the amount of a list item: "- Rent: 900 €".
fn listed_amount(line: &str) -> Option<Vec<String>> {
    let item = line.strip_prefix(['-', '*', '+'])?.strip_prefix(' ')?;
    let (name, amount) = item.split_once(':').or_else(|| item.split_once(" – "))?;
    cell_value(amount)?;
    let parts = [name, amount].map(|part| part.trim().trim_matches('*').to_owned());
    Some(parts.to_vec())
}

/// A cell without its digits, in lower case: what must be the same for all amounts of a column.
pub(super) fn shape(cell: &str) -> String {
    beside_digits(cell).to_lowercase()
}

/// A cell without its digits: the unit of an amount.
pub(super) fn beside_digits(cell: &str) -> String {
    let kept = cell.chars().filter(|c| !c.is_ascii_digit());
    let kept: String = kept.filter(|c| !matches!(c, ',' | '.' | '*')).collect();
    kept.trim().to_owned()
}
