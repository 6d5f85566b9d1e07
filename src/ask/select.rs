//! Which units make the answer, and in what order.

use std::collections::HashSet;
use std::ops::Range;

use super::extractive::Ranked;
use super::score;
use super::units::{self, Unit};
use crate::markdown::BlockRole;

/// One quote of the answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub item: usize,
    /// Bytes of the item's text.
    pub span: Range<usize>,
    /// What stands between the part before and this one.
    pub joint: &'static str,
    /// Whether a citation follows; a table's header is cited with its row.
    pub cited: bool,
    /// What stands before the citation.
    pub before_cite: &'static str,
}

/// At most this many sentences.
const MAX_SENTENCES: usize = 4;
/// A list of steps longer than this is cut to the steps that fit best.
const MAX_STEPS: usize = 9;
/// A further sentence must score this share of the best one …
const NEAR_BEST: f32 = 0.8;
/// … and add this share of the question's weight, …
const GAIN: f32 = 0.18;
/// … or cover the question as well as the best one, from another place.
const AS_WELL: f32 = 0.93;
/// Two units whose words overlap by more than this (of the shorter one's) say the same.
const SAME: f32 = 0.7;

/// The answer's parts, best first; empty when there is nothing to choose from.
pub(super) fn select(ranked: &Ranked<'_>) -> Vec<Part> {
    let Some((best, _, _)) = ranked.order.first() else { return Vec::new() };
    let chosen = match steps(ranked, *best) {
        Some(list) => list,
        None => sentences(ranked),
    };
    lay_out(ranked, &chosen)
}

/// The whole list of steps, when steps are asked for and the best unit stands in or beside one.
fn steps(ranked: &Ranked<'_>, best: usize) -> Option<Vec<usize>> {
    if !ranked.question.wants.steps {
        return None;
    }
    let units = &ranked.units;
    let unit = units.get(best)?;
    let beside = |u: &Unit| u.item == unit.item && u.section == unit.section && u.numbered && u.sayable;
    let list = if unit.numbered { unit.list } else { units.iter().find(|u| beside(u)).and_then(|u| u.list) };
    let list: Vec<usize> = units
        .iter()
        .enumerate()
        .filter(|(_, u)| {
            u.item == unit.item && u.section == unit.section && u.list == list && list.is_some() && u.sayable
        })
        .map(|(i, _)| i)
        .collect();
    (list.len() > 1 && list.len() <= MAX_STEPS).then_some(list)
}

/// The best sentence and those that add to it.
fn sentences(ranked: &Ranked<'_>) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    let mut covered = vec![0.0f32; ranked.question.terms.len()];
    let Some((_, first, top)) = ranked.order.first() else { return chosen };
    for (index, features, score) in &ranked.order {
        if chosen.len() >= MAX_SENTENCES || (*score < NEAR_BEST * top && !chosen.is_empty()) {
            break;
        }
        if chosen.iter().any(|other| same(ranked, *other, *index)) {
            continue;
        }
        let (credits, _) = score::credits(&ranked.question, &ranked.units, *index);
        let gained: Vec<f32> = credits.iter().zip(&covered).map(|(c, had)| (c - had).max(0.0)).collect();
        let gain = score::share(&ranked.question, &gained);
        let elsewhere = chosen.iter().all(|other| ranked.units[*other].item != ranked.units[*index].item);
        let as_well = elsewhere && features.covered >= AS_WELL * first.covered && *score >= AS_WELL * top;
        if chosen.is_empty() || gain >= GAIN || as_well {
            covered.iter_mut().zip(&credits).for_each(|(had, c)| *had = had.max(*c));
            chosen.push(*index);
        }
    }
    with_antecedents(ranked, chosen)
}

/// Whether one of two units repeats the other.
fn same(ranked: &Ranked<'_>, a: usize, b: usize) -> bool {
    let (a, b) = (&ranked.units[a].stems, &ranked.units[b].stems);
    let shared = a.intersection(b).count() as f32;
    let shorter = a.len().min(b.len()).max(1) as f32;
    shared / shorter > SAME
}

/// Puts before each sentence that points back the one it points to, and brings neighbours into the order of the file.
fn with_antecedents(ranked: &Ranked<'_>, chosen: Vec<usize>) -> Vec<usize> {
    let mut out: Vec<usize> = Vec::new();
    let mut seen = HashSet::new();
    for index in chosen {
        let unit = &ranked.units[index];
        let before = unit.before.filter(|i| ranked.units[*i].sayable && score::points_back(&unit.plain));
        for i in before.into_iter().chain([index]) {
            if seen.insert(i) {
                // After the neighbour before it, ahead of the neighbour behind it.
                let near = |other: &usize| {
                    ranked.units[*other].block == ranked.units[i].block
                        && ranked.units[*other].item == ranked.units[i].item
                };
                let at = out.iter().position(|other| near(other) && *other > i);
                let after = out.iter().rposition(|other| near(other) && *other < i).map(|p| p + 1);
                out.insert(at.or(after).unwrap_or(out.len()), i);
            }
        }
    }
    out
}

/// Units → parts: list marks, table headers, joints.
fn lay_out(ranked: &Ranked<'_>, chosen: &[usize]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut last: Option<usize> = None;
    for &index in chosen {
        let unit = &ranked.units[index];
        let Some(item) = ranked.snapshot.items().get(unit.item) else { continue };
        let is_list = unit.list.is_some() && chosen.len() > 1;
        let previous = last.and_then(|i| ranked.units.get(i));
        let same_block = previous.is_some_and(|p| p.item == unit.item && p.block == unit.block);
        let same_list = previous.is_some_and(|p| p.item == unit.item && p.list.is_some() && p.list == unit.list);
        let same_table =
            previous.is_some_and(|p| unit.role == BlockRole::TableRow && p.item == unit.item && p.lead == unit.lead);
        let joint = if same_block {
            " "
        } else if same_list || same_table {
            "\n"
        } else {
            "\n\n"
        };
        let start = if is_list && unit.numbered && !same_block {
            units::with_mark(&item.text, unit.span.start)
        } else {
            unit.span.start
        };
        let mut part = Part { item: unit.item, span: start..unit.span.end, joint, cited: true, before_cite: " " };
        if unit.role == BlockRole::TableRow
            && !same_table
            && let Some(header) = unit.lead.and_then(|i| ranked.units.get(i))
        {
            parts.push(Part { item: unit.item, span: header.span.clone(), joint, cited: false, before_cite: "" });
            part.joint = "\n";
        }
        parts.push(part);
        last = Some(index);
    }
    parts
}
