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

/// The objection to a superlative beside the other end of a column.
pub(super) fn check(case: &Case<'_>, _: &Passages<'_>) -> Option<Objection> {
    let claim = case.claim;
    let tokens = claim.text.tokens.as_slice();
    let is = |t: &Token, list: &[&str]| list.contains(&&*claim.lower_word(t));
    let mut superlatives = tokens.iter().filter(|t| is(t, LEAST) || is(t, MOST));
    let word = superlatives.next()?;
    if superlatives.next().is_some() || tokens.iter().any(Token::negates) {
        return None;
    }
    let is_least = is(word, LEAST);
    let columns: Vec<Vec<f64>> = case
        .cited
        .iter()
        .flat_map(|source| columns(&source.item.text))
        .collect();
    let numbers = claim.atoms.iter().filter_map(|atom| match &atom.what {
        What::Number(n) => Some((n.value, atom)),
        _ => None,
    });
    for (value, atom) in numbers.take(MOST_NUMBERS) {
        let mut holding = columns
            .iter()
            .filter(|column| column.iter().any(|v| a::same(*v, value)));
        let Some(column) = holding.next().filter(|_| holding.next().is_none()) else {
            continue;
        };
        let least = column.iter().copied().fold(f64::INFINITY, f64::min);
        let most = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (own, other) = if is_least {
            (least, most)
        } else {
            (most, least)
        };
        if a::same(own, value) {
            continue;
        }
        let effect = match a::same(other, value) {
            true => Effect::Rejects,
            false => Effect::Doubts,
        };
        let why = format!(
            "The claim says “{}” of {}, but that column of the cited text has {own}.",
            claim.word(word),
            claim.shown_amount(atom),
        );
        let found = Objection::new(Code::Direction, effect, Detail::Pointer { why });
        return Some(found.at(word.start..word.end));
    }
    None
}

/// The numbers of each column of the tables of a text.
fn columns(text: &str) -> Vec<Vec<f64>> {
    let mut out: Vec<Vec<f64>> = Vec::new();
    let mut open: Vec<Vec<f64>> = Vec::new();
    let rows = text.lines().take(MOST_ROWS * 8);
    let mut count = 0;
    for line in rows {
        let Some(row) = line.trim().strip_prefix('|') else {
            out.append(&mut open);
            continue;
        };
        count += 1;
        if count > MOST_ROWS {
            break;
        }
        for (n, cell) in row.split('|').take(MOST_COLUMNS).enumerate() {
            if open.len() <= n {
                open.push(Vec::new());
            }
            if let Some(column) = open.get_mut(n) {
                column.extend(cell_value(cell));
            }
        }
    }
    out.append(&mut open);
    out.retain(|column| column.len() >= FEWEST);
    out
}

/// The number with which a cell begins; none in a date or a name: "2020-09-12", "O1".
fn cell_value(cell: &str) -> Option<f64> {
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
