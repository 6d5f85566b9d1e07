//! Computes a value from the amounts in the items of a list: "what do the presents cost altogether?"

use super::amounts::{self, Amount};
use super::confidence;
use super::cues;
use super::items::{self, ListItem};
use super::passage::{self, Passage};
use super::question::{Operation, ParsedQuestion};
use super::rank::{Candidate, Ranked};
use super::score;
use super::totals::{Computed, with_unit};
use super::units::{Form, Unit};
use local_agent_verify::UnitKind;

/// The share of the question that neither the list nor the text above it may leave uncovered.
const UNCOVERED: f32 = 0.34;
/// Maximum number of items in one computation.
const MOST_ITEMS: usize = 60;

/// The sum, mean or extreme of the amounts of a list; `None` if an item that the question means has
/// no amount of the wanted kind, or several.
pub(super) fn compute(
    ranked: &Ranked<'_>,
    operation: Operation,
) -> Option<(Computed, Vec<Passage>)> {
    let near = ranked.order.iter().take(8);
    let mut near = near.filter(|c| is_item(ranked, c));
    near.find_map(|candidate| of_list(ranked, candidate, operation))
}

/// Whether a candidate is an item of a list that fits the question nearly.
fn is_item(ranked: &Ranked<'_>, candidate: &Candidate) -> bool {
    let is_item = ranked
        .unit(candidate.index)
        .is_some_and(|unit| unit.form == Form::Item);
    is_item && candidate.features.unknown_name == 0.0 && confidence::nearly_fits(ranked, candidate)
}

fn of_list(
    ranked: &Ranked<'_>,
    candidate: &Candidate,
    operation: Operation,
) -> Option<(Computed, Vec<Passage>)> {
    let unit = ranked.unit(candidate.index)?;
    let note = ranked.found.note_of(unit)?;
    if !note.is_whole || ranked.question.has_unclear_time {
        return None;
    }
    let meant = items::meant(ranked, unit)?;
    if meant.is_empty() || meant.len() > MOST_ITEMS || leaves_uncovered(ranked, unit, &meant) {
        return None;
    }
    let written: Option<Vec<String>> = meant
        .iter()
        .map(|item| amount_in(&ranked.question, &text_of(ranked, item)))
        .collect();
    let written = written?;
    let cells: Vec<&str> = written.iter().map(String::as_str).collect();
    let read = amounts::of_column(&cells, ranked.found.decimal_sign(unit.note))?;
    let amounts = amounts::in_one_unit(&read)?;
    let shown_amounts: Vec<String> = match amounts == read {
        true => read.iter().map(Amount::to_string).collect(),
        false => read.iter().map(with_unit).collect(),
    };
    let (value, arithmetic) = result(operation, &amounts, &shown_amounts)?;
    let units = meant.iter().flat_map(|item| &item.units);
    let units: Vec<&Unit> = units.filter_map(|index| ranked.unit(*index)).collect();
    let mut shown = Passage::new(unit.note, passage::joined(note, units.iter().copied()));
    shown
        .keys
        .extend(units.iter().map(|unit| unit.span.clone()));
    let computed = Computed {
        operation,
        value,
        arithmetic,
        count: meant.len(),
        notes: 1,
    };
    Some((computed, vec![shown]))
}

/// The value and the calculation.
fn result(
    operation: Operation,
    amounts: &[Amount],
    written: &[String],
) -> Option<(String, String)> {
    let extreme = |name: &str| format!("the {name} of {}", written.join(", "));
    Some(match operation {
        Operation::Sum => (with_unit(&amounts::sum(amounts)?), written.join(" + ")),
        Operation::Average => (
            with_unit(&amounts::mean(amounts)?),
            format!("({}) / {}", written.join(" + "), written.len()),
        ),
        Operation::Minimum => (
            with_unit(amounts.iter().min_by_key(|a| a.parts)?),
            extreme("smallest"),
        ),
        Operation::Maximum => (
            with_unit(amounts.iter().max_by_key(|a| a.parts)?),
            extreme("largest"),
        ),
        _ => return None,
    })
}

/// The text of an item.
fn text_of(ranked: &Ranked<'_>, item: &ListItem) -> String {
    let units = item.units.iter().filter_map(|index| ranked.unit(*index));
    let texts: Vec<&str> = units.map(|unit| unit.plain.as_str()).collect();
    texts.join("\n")
}

/// Whether too much of the question is neither in the items that are meant nor above their list.
fn leaves_uncovered(ranked: &Ranked<'_>, unit: &Unit, meant: &[ListItem]) -> bool {
    let question = &ranked.question;
    let covered: Vec<f32> = question
        .terms
        .iter()
        .map(|term| {
            let is_there = items::says_above(ranked, unit, term)
                || meant
                    .iter()
                    .any(|item| score::covers(&item.stems, term) > 0.0);
            f32::from(u8::from(is_there || asks_for_amount(question, &term.word)))
        })
        .collect();
    score::share(question, &covered) < 1.0 - UNCOVERED
}

/// Whether a word of the question says what kind of amount it asks for.
fn asks_for_amount(question: &ParsedQuestion, word: &str) -> bool {
    let lower = word.to_lowercase();
    local_agent_verify::unit(&lower).is_some()
        || asks_for_money(question) && cues::MONEY.are_in(&lower)
}

fn asks_for_money(question: &ParsedQuestion) -> bool {
    cues::MONEY.are_in(&question.text.to_lowercase())
}

/// The amount of the wanted kind in a text: its number and its unit. `None` unless there is exactly
/// one.
fn amount_in(question: &ParsedQuestion, text: &str) -> Option<String> {
    let all = amounts::with_units(text)?;
    let counted = question.counted.and_then(|at| question.terms.get(at));
    let counted = counted.and_then(|term| local_agent_verify::unit(&term.word.to_lowercase()));
    let wanted: Vec<UnitKind> = counted
        .unwrap_or_default()
        .iter()
        .map(|(kind, _)| *kind)
        .collect();
    let is_of_kind = |cell: &&(String, String)| {
        let kinds = local_agent_verify::unit(&cell.1).unwrap_or_default();
        kinds.iter().any(|(kind, _)| wanted.contains(kind))
    };
    let is_money = |cell: &&(String, String)| is_money(&cell.1);
    let of_kind: Vec<_> = match (wanted.is_empty(), asks_for_money(question)) {
        (false, _) => all.iter().filter(is_of_kind).collect(),
        (true, true) => all.iter().filter(is_money).collect(),
        (true, false) => all.iter().collect(),
    };
    match of_kind.as_slice() {
        [(number, unit)] => Some(format!("{number} {unit}")),
        _ => None,
    }
}

/// Whether a unit is a currency.
fn is_money(unit: &str) -> bool {
    unit.contains(|c: char| cues::MONEY_MARKS.contains(c))
        || cues::split(&unit.to_lowercase()).any(|word| cues::holds(cues::CURRENCIES, word))
}
