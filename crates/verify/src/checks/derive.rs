//! L4: numbers of a claim that follow from numbers of the cited text.

use super::Case;
use super::numbers::{PERCENT, comparable, scaled};
use crate::atoms::{self as a, Atom, Date, Number, What};
use crate::derivation::{Derivation, Operation};
use crate::reading::Reading;
use crate::text::{Token, lower_case};
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
    let shown = |atom: &Atom| {
        claim
            .normal
            .get(atom.bytes.clone())
            .unwrap_or("")
            .to_owned()
    };
    let made = |operation, x: &Atom, y: &Atom| Derivation {
        operation,
        from: vec![shown(x), shown(y)],
        result: result(claim, n),
    };
    for (i, (x, p)) in named.iter().enumerate() {
        for (y, q) in named.iter().skip(i + 1) {
            let (larger, smaller) = if p.value >= q.value { (x, y) } else { (y, x) };
            if a::same((p.value - q.value).abs(), n.value) {
                return Some(made(Operation::Difference, larger, smaller));
            }
            if a::same(p.value + q.value, n.value) {
                return Some(made(Operation::Sum, x, y));
            }
            if q.value != 0.0 && p.value != 0.0 {
                let ratio = (p.value / q.value).max(q.value / p.value);
                if a::same(ratio, n.value) && ratio > 1.0 {
                    return Some(made(Operation::Ratio, larger, smaller));
                }
            }
        }
    }
    duration(case, n)
}

/// Maximum number of amounts of one row or sentence that are compared with each other.
const MOST_AMOUNTS: usize = 6;

/// Computes `n` as the difference of two amounts of one row or sentence that the claim is about:
/// "2,400 above the goal", where the row has the goal and the result.
pub(super) fn difference_in_a_row(case: &Case<'_>, n: &Number) -> Option<Derivation> {
    const DIFFERENCES: &[&str] = list!("derive.differences");
    let claim = case.claim;
    let differs = |t: &Token| DIFFERENCES.contains(&&*lower_case(claim.word(t)));
    if !claim.text.tokens.iter().any(differs) {
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
    let amounts: Vec<(&Atom, f64)> = reading
        .atoms_of(row)
        .iter()
        .filter_map(|atom| match &atom.what {
            What::Number(m) if comparable(n, m) => Some((atom, m.value)),
            _ => None,
        })
        .take(MOST_AMOUNTS)
        .collect();
    for (i, (x, p)) in amounts.iter().enumerate() {
        for (y, q) in amounts.iter().skip(i + 1) {
            if a::same((p - q).abs(), n.value) {
                let (larger, smaller) = if p >= q { (x, y) } else { (y, x) };
                let shown = |atom: &Atom| {
                    let text = reading.normal.get(atom.bytes.clone());
                    text.unwrap_or("").to_owned()
                };
                return Some(Derivation {
                    operation: Operation::Difference,
                    from: vec![shown(larger), shown(smaller)],
                    result: result(case.claim, n),
                });
            }
        }
    }
    None
}

/// Two amounts of one sentence, list or table of the cited text that may give `n`, as written
/// there: by their sum, by their difference, as a rate times a duration, or as the days between two
/// dates. The claim does not show the computation, and the result may agree by chance.
pub(super) fn possible(case: &Case<'_>, n: &Number) -> Option<[String; 2]> {
    case.cited.iter().find_map(|source| {
        let reading = source.reading;
        blocks(reading).find_map(|rows| {
            let atoms: Vec<&Atom> = rows
                .flat_map(|row| reading.atoms_of(row))
                .take(MOST_AMOUNTS)
                .collect();
            let (x, y) = pair(&atoms, n)?;
            let shown = |atom: &Atom| {
                let text = reading.normal.get(atom.bytes.clone());
                text.unwrap_or("").to_owned()
            };
            Some([shown(x), shown(y)])
        })
    })
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
    let word = |t: &Token| WORDS.contains(&&*lower_case(claim.word(t)));
    let lower = claim.lower();
    claim.text.tokens.iter().any(word) || PHRASES.iter().any(|phrase| lower.contains(phrase))
}

/// Whether the cited text has an item of a numbered list with this number: "reason 2".
pub(super) fn numbers_an_item(case: &Case<'_>, n: &Number) -> bool {
    if n.unit.is_some() || n.value.fract() != 0.0 || !(1.0..=99.0).contains(&n.value) {
        return false;
    }
    let marks = [format!("{}.", n.value), format!("{})", n.value)];
    let is_item = |line: &str| marks.iter().any(|mark| line.trim_start().starts_with(mark));
    case.cited.iter().any(|s| s.item.text.lines().any(is_item))
}

/// The parts of a text that belong together: each run of list items or table rows, and each other
/// sentence alone.
fn blocks(reading: &Reading) -> impl Iterator<Item = std::ops::Range<usize>> {
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
    let percent = |m: &Number| m.unit.is_some_and(|unit| a::same_kind(unit, PERCENT));
    let points = n.unit.is_some_and(|unit| a::same_kind(unit, POINTS));
    (alike || points && percent(p) && percent(q)) && a::same(apart, n.value)
        || alike && a::same(x + y, n.value)
        || accrues(p, q, n)
        || accrues(q, p, n)
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
    own.and_then(|atom| claim.normal.get(atom.bytes.clone()))
        .unwrap_or("")
        .to_owned()
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
                let shown = |atom: &Atom| {
                    case.claim
                        .normal
                        .get(atom.bytes.clone())
                        .unwrap_or("")
                        .to_owned()
                };
                return Some(Derivation {
                    operation: Operation::Duration,
                    from: vec![shown(x), shown(y)],
                    result: result(case.claim, n),
                });
            }
        }
    }
    None
}

/// Whether the time between two dates is `n`.
fn are_apart(p: &Date, q: &Date, n: &Number) -> bool {
    let Some(unit) = n.unit else { return false };
    let apart = |size: f64, kind: a::UnitKind| {
        let wanted: a::MeasureUnit = match kind {
            a::UnitKind::Time => &[(a::UnitKind::Time, 86_400.0)],
            _ => &[(a::UnitKind::Calendar, 1.0)],
        };
        a::equal_amounts(n.value, unit, size, wanted)
    };
    p.days_to(q).is_some_and(|d| apart(d, a::UnitKind::Time))
        || p.months_to(q)
            .is_some_and(|m| apart(m, a::UnitKind::Calendar))
}

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
    let short = |item: &str| (1..=4).contains(&item.split_whitespace().count());
    let items: Vec<&str> = before.split(", ").collect();
    let plain = items.iter().all(|item| short(item.trim_end_matches(','))) && short(last);
    plain.then_some(items.len() + 1)
}

/// Maximum number of rows of one table or list that are added up.
const MOST_ROWS: usize = 200;

/// Computes a number of the claim as the total of a list or table in the cited text: of all its
/// rows, or of those that the claim names.
pub(super) fn total(case: &Case<'_>, n: &Number) -> Option<Derivation> {
    case.cited.iter().find_map(|source| {
        let reading = source.reading;
        let sentences = &reading.text.sentences;
        let listed = |s: usize| {
            let role = sentences.get(s).map(|s| s.role);
            matches!(role, Some(BlockRole::TableRow | BlockRole::ListItem))
        };
        let mut s = 0;
        while s < sentences.len() {
            let end = (s..sentences.len())
                .find(|s| !listed(*s))
                .unwrap_or(sentences.len());
            let rows: Vec<usize> = (s..end).take(MOST_ROWS).collect();
            let named: Vec<usize> = rows
                .iter()
                .copied()
                .filter(|r| names(case, reading, *r))
                .collect();
            let found = sum(case, reading, &rows, n).or_else(|| sum(case, reading, &named, n));
            if found.is_some() {
                return found;
            }
            s = end + 1;
        }
        None
    })
}

/// Whether the claim contains the first word of a row.
fn names(case: &Case<'_>, reading: &Reading, row: usize) -> bool {
    let first = reading
        .tokens_of(row)
        .iter()
        .find(|t| t.is_content() || t.number);
    first.is_some_and(|t| case.claim.has(t.id))
}

/// The sum of the numbers in one column of these rows, when it equals `n`.
fn sum(case: &Case<'_>, reading: &Reading, rows: &[usize], n: &Number) -> Option<Derivation> {
    if rows.len() < 2 {
        return None;
    }
    let amounts = |row: usize| {
        let atoms = reading.atoms_of(row).iter();
        let numbers = atoms.filter_map(|atom| match &atom.what {
            What::Number(m) if comparable(n, m) => Some((atom, m.value)),
            _ => None,
        });
        numbers.collect::<Vec<_>>()
    };
    let all: Vec<Vec<(&Atom, f64)>> = rows.iter().map(|row| amounts(*row)).collect();
    let places = all.iter().map(Vec::len).min().unwrap_or(0);
    (0..places).find_map(|place| {
        let column: Vec<&(&Atom, f64)> = all.iter().filter_map(|row| row.get(place)).collect();
        let total: f64 = column.iter().map(|(_, value)| value).sum();
        let shown = |atom: &Atom| {
            reading
                .normal
                .get(atom.bytes.clone())
                .unwrap_or("")
                .to_owned()
        };
        a::same(total, n.value).then(|| Derivation {
            operation: Operation::Sum,
            from: column.iter().map(|(atom, _)| shown(atom)).collect(),
            result: result(case.claim, n),
        })
    })
}
