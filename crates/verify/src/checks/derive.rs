//! L4: numbers of a claim that follow from numbers of the cited text.

use std::ops::Range;

use super::arithmetic::{self, PERCENT, ResultWording};
use super::numbers::equal;
use super::things::{belongs_to_one, is_word_of_computing, is_word_of_difference};
use super::{Case, notations};
use crate::atoms::{self as a, Atom, Bound, Date, Number, What};
use crate::derivation::{Derivation, Operation};
use crate::reading::Reading;
use crate::tables::Role;

use local_agent_text::markdown::BlockRole;

/// A number of the claim, and where it stands there.
#[derive(Clone, Copy)]
pub(super) struct ClaimNumber<'c> {
    /// Where.
    pub atom: &'c Atom,
    /// The number.
    pub number: &'c Number,
}

/// An amount of the cited text.
#[derive(Clone, Copy)]
pub(super) struct Operand<'t> {
    pub reading: &'t Reading,
    pub atom: &'t Atom,
    pub number: Number,
    /// As people may read it.
    pub shown: &'t str,
}

/// Maximum number of amounts of one claim, row or sentence that are combined with each other.
const MOST_AMOUNTS: usize = 6;

/// Whether a number may be the result of a computation: a bound ("over 5") and an ordinal are none.
pub(super) fn may_be_computed(n: &Number) -> bool {
    !n.ordinal && matches!(n.bound, None | Some(Bound::About | Bound::Exactly))
}

/// Computes a number of the claim from two others that are in both the claim and the cited text.
pub(super) fn computed(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<Derivation> {
    if !may_be_computed(result.number) {
        return None;
    }
    let operands = operands(case, result.number);
    let wording = wording(case.claim, result);
    for (i, x) in operands.iter().enumerate() {
        for y in operands.iter().skip(i + 1) {
            if let Some(operation) = follows(case, result, wording, [x, y]) {
                return Some(derivation(case, result.number, operation, [x, y]));
            }
        }
    }
    duration(case, result.number)
}

/// The other numbers of the claim that the cited text has too.
fn operands<'t>(case: &Case<'t>, n: &Number) -> Vec<Operand<'t>> {
    let numbers = case.claim.atoms.iter().filter_map(|atom| match &atom.what {
        What::Number(m) if !m.ordinal && !is_same_amount(n, m) => Some((atom, m)),
        _ => None,
    });
    let found = numbers.filter_map(|(atom, m)| {
        let is_bare = noun(case.claim, atom).is_none();
        cited(case, atom, m).map(|operand| (is_bare, operand))
    });
    let found: Vec<(bool, Operand<'t>)> = found.take(MOST_AMOUNTS).collect();
    let unit = n
        .unit
        .or_else(|| found.iter().find_map(|(_, o)| o.number.unit));
    // "It gained 225 grams, from 815 to 1,040": the unit is said once.
    let in_unit = found.into_iter().map(|(is_bare, operand)| {
        let own = operand.number.unit;
        let unit = own.or(unit.filter(|_| is_bare));
        Operand {
            number: Number {
                unit,
                ..operand.number
            },
            ..operand
        }
    });
    in_unit.collect()
}

fn is_same_amount(n: &Number, m: &Number) -> bool {
    arithmetic::in_unit_of(n, m).is_some_and(|value| a::same(value, n.value))
}

/// A number of the claim as the cited text has it. Either may leave out the unit.
fn cited<'t>(case: &Case<'t>, own: &'t Atom, m: &Number) -> Option<Operand<'t>> {
    let mut first: Option<Operand<'t>> = None;
    for source in case.cited {
        let reading = source.reading;
        for atom in &reading.atoms {
            let What::Number(e) = &atom.what else {
                continue;
            };
            let is_equal = equal(m, e, reading);
            if e.ordinal || !is_equal && !notations::share_a_reading(m, e, false) {
                continue;
            }
            // In another reading of its digits, the number is as the claim has it.
            let taken = is_equal && (e.unit.is_some() || m.unit.is_none());
            let found = Operand {
                reading,
                atom,
                number: if taken { *e } else { *m },
                shown: match taken {
                    true => reading.shown_amount(atom),
                    false => case.claim.shown_amount(own),
                },
            };
            if e.unit.is_some() == m.unit.is_some() {
                return Some(found);
            }
            first = first.or(Some(found));
        }
    }
    first
}

/// How the claim words a number that it may have computed.
pub(super) fn wording(claim: &Reading, result: ClaimNumber<'_>) -> ResultWording {
    const RATIOS: &[&str] = list!("derive.ratios");
    const OF: &[&str] = list!("derive.of");
    let tokens = &claim.text.tokens;
    let before = tokens.get(..result.atom.tokens.start).unwrap_or(&[]);
    let mut before = before.iter().rev().take(NEAR_A_RATIO);
    let behind = tokens.get(result.atom.tokens.end);
    ResultWording {
        is_bare: noun(claim, result.atom).is_none(),
        is_ratio: before.any(|t| RATIOS.contains(&&*claim.lower_word(t))),
        is_share: behind.is_some_and(|t| OF.contains(&&*claim.lower_word(t))),
    }
}

/// Maximum number of words from "ratio" to its number.
const NEAR_A_RATIO: usize = 3;

/// What a number without a unit counts: the noun directly behind it.
fn noun(reading: &Reading, atom: &Atom) -> Option<u32> {
    let last = reading.text.tokens.get(atom.tokens.end.checked_sub(1)?)?;
    let noun = reading.text.tokens.get(atom.tokens.end)?;
    let joined = reading.normal.get(last.end..noun.start) == Some(" ");
    let counts = noun.is_content() && !noun.number && !noun.does(Role::Everyday);
    (joined && counts && !is_word_of_computing(reading, noun)).then_some(noun.id)
}

/// How the result follows from two amounts, if it does and the claim does not give it to only one
/// of the things that they belong to.
fn follows(
    case: &Case<'_>,
    result: ClaimNumber<'_>,
    wording: ResultWording,
    from: [&Operand<'_>; 2],
) -> Option<(Operation, bool)> {
    let [x, y] = from;
    let found = arithmetic::operation(&x.number, &y.number, result.number, wording)?;
    let adds = matches!(found.0, Operation::Sum | Operation::Difference);
    let fits = counts_alike(case.claim, result.atom, from) && !belongs_to_one(case, result, from);
    (fits || !adds).then_some(found)
}

/// Whether a count is of what both others count, or of something else than each of them: "6 members
/// and 2 rooms" are not "8 members".
fn counts_alike(claim: &Reading, result: &Atom, [x, y]: [&Operand<'_>; 2]) -> bool {
    let own = noun(claim, result);
    let others = [x, y].map(|operand| noun(operand.reading, operand.atom));
    match (own, others) {
        (Some(own), [Some(x), Some(y)]) => (own == x) == (own == y),
        _ => true,
    }
}

/// The derivation of `n` from two amounts of the cited text.
fn derivation(
    case: &Case<'_>,
    n: &Number,
    (operation, second_first): (Operation, bool),
    [x, y]: [&Operand<'_>; 2],
) -> Derivation {
    let from = match second_first {
        true => [y.shown, x.shown],
        false => [x.shown, y.shown],
    };
    Derivation {
        operation,
        from: from.map(str::to_owned).to_vec(),
        result: shown_result(case.claim, n),
    }
}

/// Computes a number as the difference of two amounts of one row or sentence that the claim is
/// about: "2,400 above the goal", where the row has the goal and the result.
pub(super) fn difference_in_a_row(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<Derivation> {
    let claim = case.claim;
    let mut tokens = claim.text.tokens.iter();
    if !may_be_computed(result.number) || !tokens.any(|t| is_word_of_difference(claim, t)) {
        return None;
    }
    case.cited.iter().find_map(|source| {
        let rows = 0..source.reading.text.sentences.len();
        rows.into_iter()
            .find_map(|row| difference(case, source.reading, row, result))
    })
}

/// The two amounts of one row whose difference is the result.
fn difference(
    case: &Case<'_>,
    reading: &Reading,
    row: usize,
    result: ClaimNumber<'_>,
) -> Option<Derivation> {
    let wording = wording(case.claim, result);
    let amounts: Vec<Operand<'_>> = amounts(reading, row).take(MOST_AMOUNTS).collect();
    for (i, x) in amounts.iter().enumerate() {
        for y in amounts.iter().skip(i + 1) {
            let found = follows(case, result, wording, [x, y]);
            if let Some(operation) = found.filter(|(how, _)| *how == Operation::Difference) {
                return Some(derivation(case, result.number, operation, [x, y]));
            }
        }
    }
    None
}

/// The amounts of a sentence.
pub(super) fn amounts<'r>(
    reading: &'r Reading,
    sentence: usize,
) -> impl Iterator<Item = Operand<'r>> {
    let atoms = reading.atoms_of(sentence).iter();
    atoms.filter_map(move |atom| match &atom.what {
        What::Number(m) if !m.ordinal => Some(Operand {
            reading,
            atom,
            number: *m,
            shown: reading.shown_amount(atom),
        }),
        _ => None,
    })
}

/// Two amounts of one sentence, list or table of the cited text that may give the result, as
/// written there: by their sum, by their difference, as a rate times a duration, or as the days
/// between two dates. The claim does not show the computation, and the result may agree by chance.
pub(super) fn possible(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<[String; 2]> {
    let mut cited = case.cited.iter();
    let found = cited.find_map(|source| {
        blocks(source.reading).find_map(|rows| possible_in(case, source.reading, rows, result))
    });
    found.or_else(|| quotient(case, result))
}

fn possible_in(
    case: &Case<'_>,
    reading: &Reading,
    rows: Range<usize>,
    result: ClaimNumber<'_>,
) -> Option<[String; 2]> {
    let atoms = rows.flat_map(|row| reading.atoms_of(row));
    let atoms: Vec<&Atom> = atoms.take(MOST_AMOUNTS).collect();
    let (x, y) = pair(case, reading, &atoms, result)?;
    Some([x, y].map(|atom| reading.shown_amount(atom).to_owned()))
}

/// Two amounts that the claim names and whose quotient may be the result: "6 members in 2 rooms, 3 in
/// each room", "40 of 50, that is 80 %".
fn quotient(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<[String; 2]> {
    const EACH: &[&str] = list!("derive.each");
    let (claim, n) = (case.claim, result.number);
    // This runs for every number; the limit bounds the work on hostile text.
    if claim.atoms.len() > MOST_NUMBERS {
        return None;
    }
    let mut tokens = claim.text.tokens.iter();
    let is_percentage = arithmetic::is_measured_in(n, PERCENT);
    if !is_percentage && !tokens.any(|t| EACH.contains(&&*claim.lower_word(t))) {
        return None;
    }
    let operands = operands(case, n);
    for (i, x) in operands.iter().enumerate() {
        for y in operands.iter().skip(i + 1) {
            let is_quotient = match is_percentage {
                true => arithmetic::is_percentage_of(&x.number, &y.number, n),
                false => is_quotient(&x.number, &y.number, n),
            };
            if is_quotient {
                return Some([x, y].map(|operand| operand.shown.to_owned()));
            }
        }
    }
    None
}

fn is_quotient(p: &Number, q: &Number, n: &Number) -> bool {
    a::same(p.value / q.value, n.value) || a::same(q.value / p.value, n.value)
}

/// Maximum number of numbers, dates and names in a claim that is read as a conclusion or computes.
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

/// The first two of these atoms that may give the result.
fn pair<'t>(
    case: &Case<'_>,
    reading: &'t Reading,
    atoms: &[&'t Atom],
    result: ClaimNumber<'_>,
) -> Option<(&'t Atom, &'t Atom)> {
    for (i, x) in atoms.iter().enumerate() {
        for y in atoms.iter().skip(i + 1) {
            let gives = match (&x.what, &y.what) {
                (What::Number(p), What::Number(q)) => {
                    let [x, y] = [(*x, p), (*y, q)].map(|(atom, number)| Operand {
                        reading,
                        atom,
                        number: *number,
                        shown: "",
                    });
                    give(&x, &y, result.number) && !belongs_to_one(case, result, [&x, &y])
                }
                (What::Date(p), What::Date(q)) => are_apart(p, q, result.number),
                _ => false,
            };
            if gives {
                return Some((x, y));
            }
        }
    }
    None
}

/// Whether `n` is the sum or the difference of two amounts, or a rate times a duration.
fn give(x: &Operand<'_>, y: &Operand<'_>, n: &Number) -> bool {
    let (p, q) = (&x.number, &y.number);
    let computed = arithmetic::operation(p, q, n, ResultWording::default());
    n.unit.is_some() && computed.is_some()
        || arithmetic::accrues(p, q, n)
        || arithmetic::accrues(q, p, n)
}

/// The number as the claim writes it.
pub(super) fn shown_result(claim: &Reading, n: &Number) -> String {
    let own = claim.atoms.iter().find(|atom| match &atom.what {
        What::Number(m) => a::same(m.value, n.value) && m.unit == n.unit,
        _ => false,
    });
    own.map_or("", |atom| claim.shown_amount(atom)).to_owned()
}

/// Computes the days, weeks or months between two dates that the claim names.
fn duration(case: &Case<'_>, n: &Number) -> Option<Derivation> {
    duration_of_days(case, n).or_else(|| duration_between(case, n))
}

/// The same for days of one month: "from 1 to 17 October".
fn duration_of_days(case: &Case<'_>, n: &Number) -> Option<Derivation> {
    let mut pairs = case.claim.atoms.windows(2);
    pairs.find_map(|pair| {
        let [x, y] = pair else { return None };
        let (What::Number(first), What::Date(last)) = (&x.what, &y.what) else {
            return None;
        };
        let day = a::day_of(first).filter(|_| last.day.is_some() && last.month.is_some())?;
        let first = Date {
            day: Some(day),
            weekday: None,
            ..*last
        };
        are_apart(&first, last, n).then(|| Derivation {
            operation: Operation::Duration,
            from: [x, y]
                .map(|atom| case.claim.shown_amount(atom).to_owned())
                .to_vec(),
            result: shown_result(case.claim, n),
        })
    })
}

fn duration_between(case: &Case<'_>, n: &Number) -> Option<Derivation> {
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
                let from = [*x, *y].map(|atom| case.claim.shown_amount(atom).to_owned());
                return Some(Derivation {
                    operation: Operation::Duration,
                    from: from.to_vec(),
                    result: shown_result(case.claim, n),
                });
            }
        }
    }
    None
}

/// Whether the time between two dates is `n`.
fn are_apart(p: &Date, q: &Date, n: &Number) -> bool {
    let Some(unit) = n.unit else { return false };
    p.days_to(q).is_some_and(|days| {
        // From the first to the third are three days, the first included.
        let with_both_ends = a::equal_amounts(n.value, unit, days + 1.0, DAYS);
        let in_weeks = a::equal_amounts(1.0, unit, 7.0, DAYS) && n.value >= 2.0;
        let weeks = in_weeks && (days / 7.0 - n.value).abs() < 0.5;
        a::equal_amounts(n.value, unit, days, DAYS)
            || weeks
            || with_both_ends && a::equal_amounts(1.0, unit, 1.0, DAYS)
    }) || p
        .months_to(q)
        .is_some_and(|months| a::equal_amounts(n.value, unit, months, MONTHS))
}

const DAYS: a::MeasureUnit = &[(a::UnitKind::Time, 86_400.0)];
const MONTHS: a::MeasureUnit = &[(a::UnitKind::Calendar, 1.0)];
