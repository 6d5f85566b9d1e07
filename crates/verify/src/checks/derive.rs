//! L4: numbers of a claim that follow from numbers of the cited text.

use std::ops::Range;

use super::Case;
use super::numbers::{PERCENT, comparable, scaled};
use crate::atoms::{self as a, Atom, Date, Number, What};
use crate::derivation::{Derivation, Operation};
use crate::reading::Reading;

use local_agent_text::markdown::BlockRole;

/// Computes a number of the claim from two others that are in both the claim and the cited text.
pub(super) fn computed(case: &Case<'_>, n: &Number) -> Option<Derivation> {
    let claim = case.claim;
    let named: Vec<(&Atom, &Number)> = claim
        .atoms
        .iter()
        .filter_map(|atom| match &atom.what {
            What::Number(m) if !a::same(m.value, n.value) && comparable(n, m) => Some((atom, m)),
            _ => None,
        })
        .filter(|(_, m)| has_number(case, m))
        .take(6)
        .collect();
    for (i, (x, p)) in named.iter().enumerate() {
        for (y, q) in named.iter().skip(i + 1) {
            let Some(operation) = operation(p, q, n) else {
                continue;
            };
            let in_order = operation == Operation::Sum || p.value >= q.value;
            let from = if in_order { [*x, *y] } else { [*y, *x] };
            return Some(derivation(case, n, operation, claim, &from));
        }
    }
    duration(case, n)
}

/// How `n` follows from two numbers, if it does.
fn operation(p: &Number, q: &Number, n: &Number) -> Option<Operation> {
    if a::same((p.value - q.value).abs(), n.value) {
        return Some(Operation::Difference);
    }
    if a::same(p.value + q.value, n.value) {
        return Some(Operation::Sum);
    }
    let ratio = (p.value / q.value).max(q.value / p.value);
    let is_ratio = q.value != 0.0 && p.value != 0.0 && a::same(ratio, n.value) && ratio > 1.0;
    is_ratio.then_some(Operation::Ratio)
}

/// The derivation of `n` from atoms of a text.
fn derivation(
    case: &Case<'_>,
    n: &Number,
    operation: Operation,
    reading: &Reading,
    from: &[&Atom],
) -> Derivation {
    Derivation {
        operation,
        from: from
            .iter()
            .map(|atom| reading.shown_atom(atom).to_owned())
            .collect(),
        result: result(case.claim, n),
    }
}

/// Maximum number of amounts of one row or sentence that are compared with each other.
const MOST_AMOUNTS: usize = 6;

/// Computes `n` as the difference of two amounts of one row or sentence that the claim is about:
/// "2,400 above the goal", where the row has the goal and the result.
pub(super) fn difference_in_a_row(case: &Case<'_>, n: &Number) -> Option<Derivation> {
    const DIFFERENCES: &[&str] = list!("derive.differences");
    let claim = case.claim;
    let mut tokens = claim.text.tokens.iter();
    if !tokens.any(|t| DIFFERENCES.contains(&&*claim.lower_word(t))) {
        return None;
    }
    case.cited.iter().find_map(|source| {
        let rows = 0..source.reading.text.sentences.len();
        rows.into_iter()
            .find_map(|row| difference(case, source.reading, row, n))
    })
}

/// The two amounts of one row whose difference is `n`.
fn difference(case: &Case<'_>, reading: &Reading, row: usize, n: &Number) -> Option<Derivation> {
    let amounts: Vec<(&Atom, f64)> = amounts(reading, row, n).take(MOST_AMOUNTS).collect();
    for (i, (x, p)) in amounts.iter().enumerate() {
        for (y, q) in amounts.iter().skip(i + 1) {
            if a::same((p - q).abs(), n.value) {
                let from = if p >= q { [*x, *y] } else { [*y, *x] };
                let operation = Operation::Difference;
                return Some(derivation(case, n, operation, reading, &from));
            }
        }
    }
    None
}

/// The amounts of a sentence that can be compared with `n`.
fn amounts<'r>(
    reading: &'r Reading,
    sentence: usize,
    n: &Number,
) -> impl Iterator<Item = (&'r Atom, f64)> {
    let atoms = reading.atoms_of(sentence).iter();
    atoms.filter_map(move |atom| match &atom.what {
        What::Number(m) if comparable(n, m) => Some((atom, m.value)),
        _ => None,
    })
}

/// Two amounts of one sentence, list or table of the cited text that may give `n`, as written
/// there: by their sum, by their difference, as a rate times a duration, or as the days between two
/// dates. The claim does not show the computation, and the result may agree by chance.
pub(super) fn possible(case: &Case<'_>, n: &Number) -> Option<[String; 2]> {
    let mut cited = case.cited.iter();
    cited.find_map(|source| {
        blocks(source.reading).find_map(|rows| possible_in(source.reading, rows, n))
    })
}

fn possible_in(reading: &Reading, rows: Range<usize>, n: &Number) -> Option<[String; 2]> {
    let atoms = rows.flat_map(|row| reading.atoms_of(row));
    let atoms: Vec<&Atom> = atoms.take(MOST_AMOUNTS).collect();
    let (x, y) = pair(&atoms, n)?;
    Some([x, y].map(|atom| reading.shown_atom(atom).to_owned()))
}

/// Maximum number of numbers, dates and names in a claim that is read as a conclusion.
const MOST_NUMBERS: usize = 64;

/// Whether words of the claim show that it draws a conclusion or makes up an example.
pub(super) fn infers(claim: &Reading) -> bool {
    const WORDS: &[&str] = list!("derive.inferences");
    const PHRASES: &[&str] = list!("derive.inference-phrases");
    // This runs for every number; the limit bounds the work on hostile text.
    if claim.atoms.len() > MOST_NUMBERS {
        return false;
    }
    let lower = claim.lower();
    let mut tokens = claim.text.tokens.iter();
    tokens.any(|t| WORDS.contains(&&*claim.lower_word(t)))
        || PHRASES.iter().any(|phrase| lower.contains(phrase))
}

/// Whether the cited text has an item of a numbered list with this number: "reason 2".
pub(super) fn numbers_an_item(case: &Case<'_>, n: &Number) -> bool {
    if n.unit.is_some() || n.value.fract() != 0.0 || !(1.0..=99.0).contains(&n.value) {
        return false;
    }
    let marks = [format!("{}.", n.value), format!("{})", n.value)];
    let mut lines = case.cited.iter().flat_map(|s| s.item.text.lines());
    lines.any(|line| {
        let item = line.trim_start();
        marks.iter().any(|mark| item.starts_with(mark))
    })
}

/// The parts of a text that belong together: each run of list items or table rows, and each other
/// sentence alone.
fn blocks(reading: &Reading) -> impl Iterator<Item = Range<usize>> {
    let sentences = &reading.text.sentences;
    let mut next = 0;
    std::iter::from_fn(move || {
        let start = next;
        let role = sentences.get(start)?.role;
        let end = match role {
            BlockRole::TableRow | BlockRole::ListItem => (start..sentences.len())
                .find(|s| sentences.get(*s).is_none_or(|s| s.role != role))
                .unwrap_or(sentences.len()),
            _ => start + 1,
        };
        next = end;
        Some(start..end)
    })
}

/// The first two of these atoms that may give `n`.
fn pair<'t>(atoms: &[&'t Atom], n: &Number) -> Option<(&'t Atom, &'t Atom)> {
    for (i, x) in atoms.iter().enumerate() {
        for y in atoms.iter().skip(i + 1) {
            let gives = match (&x.what, &y.what) {
                (What::Number(p), What::Number(q)) => give(p, q, n),
                (What::Date(p), What::Date(q)) => are_apart(p, q, n),
                _ => false,
            };
            if gives {
                return Some((x, y));
            }
        }
    }
    None
}

/// "18 percentage points" is the difference of two percentages.
const POINTS: a::MeasureUnit = &[(a::UnitKind::Points, 1.0)];

/// Whether `n` is the sum or the difference of two amounts, or a rate times a duration.
fn give(p: &Number, q: &Number, n: &Number) -> bool {
    let (x, y) = (scaled(n, p), scaled(n, q));
    let apart = (x - y).abs();
    let alike = n.unit.is_some() && comparable(n, p) && comparable(n, q);
    let points = is_measured_in(n, POINTS) && is_measured_in(p, PERCENT);
    (alike || points && is_measured_in(q, PERCENT)) && a::same(apart, n.value)
        || alike && a::same(x + y, n.value)
        || accrues(p, q, n)
        || accrues(q, p, n)
}

fn is_measured_in(n: &Number, unit: a::MeasureUnit) -> bool {
    n.unit.is_some_and(|own| a::same_kind(own, unit))
}

/// Whether `n` is a rate times a duration: "$350K/month" for "14 months".
fn accrues(rate: &Number, duration: &Number, n: &Number) -> bool {
    let (Some(per), Some(unit)) = (rate.per, duration.unit) else {
        return false;
    };
    let same = a::equal_amounts(1.0, per, 1.0, unit) && n.unit.is_some() && comparable(n, rate);
    same && a::same(rate.value * duration.value, n.value)
}

fn result(claim: &Reading, n: &Number) -> String {
    let own = claim.atoms.iter().find(|atom| match &atom.what {
        What::Number(m) => a::same(m.value, n.value) && m.unit == n.unit,
        _ => false,
    });
    own.map_or("", |atom| claim.shown_atom(atom)).to_owned()
}

fn has_number(case: &Case<'_>, m: &Number) -> bool {
    case.cited.iter().any(|source| {
        source.reading.atoms.iter().any(|atom| match &atom.what {
            What::Number(e) => a::same(e.value, m.value),
            _ => false,
        })
    })
}

/// Computes the days, weeks or months between two dates that the claim names.
fn duration(case: &Case<'_>, n: &Number) -> Option<Derivation> {
    let dates: Vec<(&Atom, &Date)> = case
        .claim
        .atoms
        .iter()
        .filter_map(|atom| match &atom.what {
            What::Date(date) => Some((atom, date)),
            _ => None,
        })
        .take(4)
        .collect();
    for (i, (x, p)) in dates.iter().enumerate() {
        for (y, q) in dates.iter().skip(i + 1) {
            if are_apart(p, q, n) {
                let (operation, claim) = (Operation::Duration, case.claim);
                return Some(derivation(case, n, operation, claim, &[*x, *y]));
            }
        }
    }
    None
}

/// Whether the time between two dates is `n`.
fn are_apart(p: &Date, q: &Date, n: &Number) -> bool {
    let Some(unit) = n.unit else { return false };
    p.days_to(q)
        .is_some_and(|days| a::equal_amounts(n.value, unit, days, DAYS))
        || p.months_to(q)
            .is_some_and(|months| a::equal_amounts(n.value, unit, months, MONTHS))
}

const DAYS: a::MeasureUnit = &[(a::UnitKind::Time, 86_400.0)];
const MONTHS: a::MeasureUnit = &[(a::UnitKind::Calendar, 1.0)];

/// How many things a claim lists after a colon that follows token `from`: "three kinds: a, b and
/// c". `None` when it lists nothing.
pub(super) fn own_list(claim: &Reading, from: usize) -> Option<usize> {
    let start = claim.text.tokens.get(from.checked_sub(1)?)?.end;
    let rest = claim.normal.get(start..)?;
    let colon = rest.find(": ").or_else(|| rest.find(" – "))?;
    if rest.get(..colon)?.contains([',', ';', '.']) {
        return None;
    }
    let list = rest.get(colon + 2..)?;
    let list = list.split(['.', ';']).next()?;
    let (before, last) = list
        .rsplit_once(" and ")
        .or_else(|| list.rsplit_once(" or "))?;
    let items: Vec<&str> = before.split(", ").collect();
    let plain = items
        .iter()
        .all(|item| is_short(item.trim_end_matches(',')))
        && is_short(last);
    plain.then_some(items.len() + 1)
}

/// Whether an item has few enough words to be one of a list within a sentence.
fn is_short(item: &str) -> bool {
    (1..=4).contains(&item.split_whitespace().count())
}

/// Maximum number of rows of one table or list that are added up.
const MOST_ROWS: usize = 200;

/// Computes a number of the claim as the total of a list or table in the cited text: of all its
/// rows, or of those that the claim names.
pub(super) fn total(case: &Case<'_>, n: &Number) -> Option<Derivation> {
    let mut cited = case.cited.iter();
    cited.find_map(|source| total_in(case, source.reading, n))
}

fn total_in(case: &Case<'_>, reading: &Reading, n: &Number) -> Option<Derivation> {
    let count = reading.text.sentences.len();
    let mut s = 0;
    while s < count {
        let end = (s..count)
            .find(|s| !is_row_or_item(reading, *s))
            .unwrap_or(count);
        let rows: Vec<usize> = (s..end).take(MOST_ROWS).collect();
        let mut named = rows.clone();
        named.retain(|row| names(case, reading, *row));
        let found = sum(case, reading, &rows, n).or_else(|| sum(case, reading, &named, n));
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

/// The sum of the numbers in one column of these rows, when it equals `n`.
fn sum(case: &Case<'_>, reading: &Reading, rows: &[usize], n: &Number) -> Option<Derivation> {
    if rows.len() < 2 {
        return None;
    }
    let all: Vec<Vec<(&Atom, f64)>> = rows
        .iter()
        .map(|row| amounts(reading, *row, n).collect())
        .collect();
    let places = all.iter().map(Vec::len).min().unwrap_or(0);
    (0..places).find_map(|place| {
        let column: Vec<&(&Atom, f64)> = all.iter().filter_map(|row| row.get(place)).collect();
        let total: f64 = column.iter().map(|(_, value)| value).sum();
        let atoms: Vec<&Atom> = column.iter().map(|(atom, _)| *atom).collect();
        a::same(total, n.value).then(|| derivation(case, n, Operation::Sum, reading, &atoms))
    })
}
