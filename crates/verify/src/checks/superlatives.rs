//! L5: what a claim calls the cheapest or the oldest is so in the cited table or list, if the claim
//! names one of its rows: "The ferry is the most expensive".

use std::collections::HashSet;

use super::extremes::cell_value;
use super::passages::Passages;
use super::rows::{MOST_COLUMNS, MOST_TEXTS, NamedRows, Row, is_named, named_rows, shape, words};
use super::{Case, Effect};
use crate::Code;
use crate::atoms::{self as a, What};
use crate::finding::{Detail, Objection};
use crate::text::Token;

const LEAST: &[&str] = list!("extremes.least");
const MOST: &[&str] = list!("extremes.most");

/// Rows are compared if there are at least this many.
const FEWEST: usize = 3;

/// Maximum number of words of the claim.
const MOST_WORDS: usize = 60;

/// What a superlative says.
#[derive(Clone, Copy)]
struct Superlative<'t> {
    word: &'t Token,
    is_least: bool,
    /// Words above the column that it compares, or beside its amounts; `None` for "highest", which
    /// may compare anything.
    compares: Option<&'static [&'static str]>,
}

/// A superlative of the only row that a claim names.
struct Compared<'t> {
    superlative: Superlative<'t>,
    /// The row's name.
    name: String,
    /// The name and the amount of the row of which the superlative is true, if it is another one.
    other: Option<(String, String)>,
}

/// The doubt about a superlative of the only row that the claim names, if another row of the column
/// that it compares has a smaller or a greater amount.
pub(super) fn check(case: &Case<'_>, _: &Passages<'_>) -> Option<Objection> {
    let compared = compare(case)?;
    let word = compared.superlative.word;
    let (name, amount) = compared.other?;
    let why = format!(
        "The claim says “{}” of “{}”, but the cited text gives “{amount}” for “{name}”.",
        case.claim.word(word),
        compared.name,
    );
    let found = Objection::new(Code::Direction, Effect::Doubts, Detail::Pointer { why });
    Some(found.at(word.start..word.end))
}

/// Whether the superlative of the claim is true of the only row that it names.
pub(super) fn is_proven(case: &Case<'_>) -> bool {
    compare(case).is_some_and(|compared| compared.other.is_none())
}

/// Compares the only row that the claim names with the others; `None` if nothing can be compared.
fn compare<'c>(case: &Case<'c>) -> Option<Compared<'c>> {
    let superlative = only_superlative(case)?;
    let words: HashSet<String> = words(&case.claim.normal).take(MOST_WORDS).collect();
    let cited = case.cited.iter().take(MOST_TEXTS);
    let texts = cited.map(|source| source.item.text.as_str());
    let tables: Vec<NamedRows> = texts.flat_map(named_rows).collect();
    let mut named = tables.iter().flat_map(|table| {
        let rows = table.rows.iter();
        let named = rows.filter(|row| is_named(&row.name, &words));
        named.map(move |row| (table, row))
    });
    let (table, row) = named.next().filter(|_| named.next().is_none())?;
    let column = table.column(superlative, &words)?;
    let other = table.better(row, column, superlative.is_least);
    Some(Compared {
        superlative,
        name: row.name.clone(),
        other: other.map(|(name, amount)| (name.to_owned(), amount.to_owned())),
    })
}

/// The superlative of the claim, if it has only one and is about all things: not "the second
/// cheapest", "the cheapest in May".
fn only_superlative<'c>(case: &Case<'c>) -> Option<Superlative<'c>> {
    const SOME: &[&str] = list!("extremes.some");
    let claim = case.claim;
    let tokens = claim.text.tokens.as_slice();
    let is_limited = |t: &Token| t.negates() || SOME.contains(&&*claim.lower_word(t));
    let has_date = claim
        .atoms
        .iter()
        .any(|atom| matches!(atom.what, What::Date(_)));
    if has_date || tokens.len() > MOST_WORDS || tokens.iter().any(is_limited) {
        return None;
    }
    let each = 0..tokens.len();
    let mut found = each.filter_map(|at| superlative(case, at));
    found.next().filter(|_| found.next().is_none())
}

/// The superlative of one word: "cheapest", or "most" before "expensive".
fn superlative<'c>(case: &Case<'c>, at: usize) -> Option<Superlative<'c>> {
    const KINDS: [(&[&str], &[&str]); 5] = [
        (list!("extremes.of-price"), list!("extremes.price")),
        (list!("extremes.of-age"), list!("extremes.age")),
        (list!("extremes.of-length"), list!("extremes.length")),
        (list!("extremes.of-mass"), list!("extremes.mass")),
        (list!("extremes.of-heat"), list!("extremes.heat")),
    ];
    const MORE_LEAST: &[&str] = list!("extremes.more-least");
    const MORE_MOST: &[&str] = list!("extremes.more-most");
    const YOUNGEST: &[&str] = list!("extremes.youngest");
    const OLDEST: &[&str] = list!("extremes.oldest");
    let claim = case.claim;
    let word = claim.text.tokens.get(at)?;
    let lower = claim.lower_word(word);
    let is_in = |lists: [&[&str]; 3]| lists.iter().any(|list| list.contains(&&*lower));
    let is_least = is_in([LEAST, MORE_LEAST, YOUNGEST]);
    if !is_least && !is_in([MOST, MORE_MOST, OLDEST]) {
        return None;
    }
    // "Most" says what it compares by the next word.
    let is_degree = matches!(&*lower, "most" | "least");
    let next = claim.text.tokens.get(at + 1).filter(|_| is_degree);
    let said = next.map_or(lower, |next| claim.lower_word(next));
    let kind = KINDS.iter().find(|(words, _)| words.contains(&&*said));
    let compares = kind.map(|(_, columns)| *columns);
    (compares.is_some() || !is_degree).then_some(Superlative {
        word,
        is_least,
        compares,
    })
}

impl NamedRows {
    /// The name and the amount of the row with the least or the greatest amount of a column, if it is
    /// another one than `row`.
    fn better(&self, row: &Row, column: usize, is_least: bool) -> Option<(&str, &str)> {
        let own = cell_value(row.cells.get(column)?)?;
        let amounts = self.rows.iter().filter_map(|row| {
            let cell = row.cells.get(column)?;
            Some((cell_value(cell)?, row, cell))
        });
        let best = amounts.reduce(|x, y| match (y.0 < x.0) == is_least {
            true => y,
            false => x,
        })?;
        let is_own = a::same(best.0, own);
        (!is_own).then_some((best.1.name.as_str(), best.2.trim()))
    }

    /// The column that a superlative compares: the only one with amounts of its kind, or the only one
    /// with amounts at all or whose header the claim names.
    fn column(&self, superlative: Superlative<'_>, words: &HashSet<String>) -> Option<usize> {
        let most = self.rows.iter().map(|row| row.cells.len()).max()?;
        let all: Vec<usize> = (0..most.min(MOST_COLUMNS))
            .filter(|column| self.is_comparable(*column))
            .collect();
        if let Some(kind) = superlative.compares {
            let mut fitting = all.iter().filter(|column| self.is_of(**column, kind));
            return fitting.next().copied().filter(|_| fitting.next().is_none());
        }
        match all[..] {
            [only] => Some(only),
            _ => {
                let header = |column: &&usize| self.header.get(**column);
                let is_asked = |column: &&usize| header(column).is_some_and(|h| is_named(h, words));
                let mut asked = all.iter().filter(is_asked);
                asked.next().copied().filter(|_| asked.next().is_none())
            }
        }
    }

    /// Whether every row has an amount in a column, all written with the same signs and units.
    fn is_comparable(&self, column: usize) -> bool {
        let cells = self.rows.iter().map(|row| row.cells.get(column));
        let mut shapes: HashSet<Option<String>> = HashSet::new();
        for cell in cells {
            let amount = cell.filter(|cell| cell_value(cell).is_some());
            shapes.insert(amount.map(|cell| shape(cell)));
        }
        self.rows.len() >= FEWEST && shapes.len() == 1 && !shapes.contains(&None)
    }

    /// Whether a word of `kind` is above a column or beside its amounts.
    fn is_of(&self, column: usize, kind: &[&str]) -> bool {
        let header = self.header.get(column).map_or("", String::as_str);
        let cell = self.rows.first().and_then(|row| row.cells.get(column));
        let beside = cell.map(|cell| shape(cell)).unwrap_or_default();
        let said = format!("{header} {beside}").to_lowercase();
        let mut parts = said.split(|c: char| c.is_whitespace() || "()[],".contains(c));
        parts.any(|part| kind.contains(&part.trim_matches('.')))
    }
}
