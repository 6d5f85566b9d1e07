//! Answers "how do I" with the section that explains it, starting with its first step.

use std::collections::HashMap;

use super::choose::{Choice, passages};
use super::confidence;
use super::passage::{self, Passage};
use super::rank::{Candidate, Found, Ranked};
use super::score;
use super::units::{self, Form, leads_in};
use local_agent_text::markdown::{BlockKind, is_list_of_links};

/// A section of at most this many bytes is shown whole.
const SHORT_SECTION: usize = 1200;
/// A list of steps is cut at this many bytes, before the step that exceeds it.
const LONGEST: usize = 4000;
/// Weight of the heading's match with the question, relative to the best unit.
const ABOVE: f32 = 0.35;
/// Bonus for a section with numbered steps, and for one with other items or code.
const NUMBERED: f32 = 0.15;
const LISTED: f32 = 0.07;

/// A section and its score as instructions.
struct StepSection<'r> {
    note: usize,
    section: usize,
    /// Its best unit.
    best: &'r Candidate,
    /// Its first list of steps.
    list: Option<usize>,
    score: f32,
}

/// The steps of the best section; `None` if no section has steps.
pub(super) fn choose(ranked: &Ranked<'_>) -> Option<Choice> {
    let mut sections: HashMap<(usize, usize), StepSection<'_>> = HashMap::new();
    for candidate in &ranked.order {
        let unit = ranked.unit(candidate.index)?;
        if candidate.features.unknown_name > 0.0 {
            continue;
        }
        let key = (unit.note, unit.section);
        if !sections.contains_key(&key)
            && let Some(section) = weigh(ranked, candidate)
        {
            sections.insert(key, section);
        }
    }
    let mut sections: Vec<StepSection<'_>> = sections.into_values().collect();
    sections.sort_by(|a, b| {
        let by_score = b.score.total_cmp(&a.score);
        by_score.then((a.note, a.section).cmp(&(b.note, b.section)))
    });
    let first = sections.first()?;
    let certain = confidence::fits(ranked, first.best)
        || ranked.best().is_some_and(|best| {
            is_in_section(ranked, first, best) && confidence::fits(ranked, best)
        });
    let mut shown = shown(ranked, first)?;
    if !certain {
        return None;
    }
    shown.keys.push(ranked.unit(first.best.index)?.span.clone());
    let mut out = vec![shown];
    // A sentence of another section is shown if it fits better than the steps.
    if let Some(best) = ranked
        .best()
        .filter(|best| best.score > first.best.score && confidence::fits(ranked, best))
    {
        let extra = passages(ranked, best).into_iter().next()?;
        let known = extra
            .pieces
            .iter()
            .all(|p| out[0].shows(extra.note, &p.span));
        if !known && !is_link(ranked.found, best) {
            out.push(extra);
        }
    }
    Some(Choice::certain(out))
}

/// Whether a candidate is in the section of the unit.
fn is_in_section(ranked: &Ranked<'_>, first: &StepSection<'_>, c: &Candidate) -> bool {
    ranked
        .unit(c.index)
        .is_some_and(|u| (u.note, u.section) == (first.note, first.section))
}

/// Scores the section of a unit; `None` when it has neither list nor code.
fn weigh<'r>(ranked: &'r Ranked<'_>, best: &'r Candidate) -> Option<StepSection<'r>> {
    let found = ranked.found;
    let unit = ranked.unit(best.index)?;
    let note = found.note_of(unit)?;
    let headed: Vec<f32> = ranked
        .question
        .terms
        .iter()
        .map(|t| score::covers(&unit.place.heading_stems, t))
        .collect();
    let above = score::share(&ranked.question, &headed);
    let is_headed = above > 0.0;
    let mut list = None;
    let (mut numbered, mut listed) = (false, false);
    for block in note.blocks_of_section(unit.section) {
        match note.kind_of(block) {
            // Tasks are no steps, unless the heading says of what.
            Some(BlockKind::List { .. }) if !is_headed && has_tasks(found, unit.note, block) => {}
            // It says where the steps are.
            Some(BlockKind::List { .. }) if leads_elsewhere(note.slice(&note.span_of(block))) => {}
            Some(BlockKind::List { ordered }) => {
                listed = true;
                if ordered && !numbered {
                    list = Some(block);
                }
                numbered |= ordered;
                list = list.or(Some(block));
            }
            Some(BlockKind::Code) => listed = true,
            _ => {}
        }
    }
    if !listed {
        return None;
    }
    // The list that contains the best unit, if it is numbered too.
    if let Some(outer) = unit.outer
        && matches!(note.kind_of(outer), Some(BlockKind::List { ordered }) if ordered || !numbered)
    {
        list = Some(outer);
    }
    let form = match (numbered, listed) {
        (true, _) => NUMBERED,
        (_, true) => LISTED,
        _ => 0.0,
    };
    Some(StepSection {
        note: unit.note,
        section: unit.section,
        best,
        list,
        score: best.score + ABOVE * above + form,
    })
}

/// Whether a list consists of links, or of titles with the numbers of their pages.
fn leads_elsewhere(list: &str) -> bool {
    is_list_of_links(list)
        || list
            .lines()
            .all(|line| units::leads_to_page(line.trim_end()))
}

/// Whether a unit is nothing but a link.
pub(super) fn is_link(found: Found<'_>, candidate: &Candidate) -> bool {
    let unit = found.unit(candidate.index);
    let note = unit.and_then(|unit| found.note_of(unit));
    unit.zip(note)
        .is_some_and(|(unit, note)| units::is_link(note.slice(&unit.span)))
}

/// Whether an item of a list is a task.
fn has_tasks(found: Found<'_>, note: usize, list: usize) -> bool {
    passage::of_note(found, note).any(|(_, unit)| unit.outer == Some(list) && unit.task.is_some())
}

/// The whole section if it is short, otherwise the list with its lead-in.
fn shown(ranked: &Ranked<'_>, section: &StepSection<'_>) -> Option<Passage> {
    let found = ranked.found;
    let note = found.notes.get(section.note)?;
    let of = note.sections.get(section.section)?;
    let mut pieces = Vec::new();
    match section.list {
        _ if of.span.end - of.body <= SHORT_SECTION => {
            for block in note.blocks_of_section(section.section) {
                pieces.extend(passage::whole_block(found, section.note, block));
            }
        }
        Some(list) => {
            let list_span = note.span_of(list);
            let lead = passage::of_note(found, section.note)
                .filter(|(_, u)| u.section == section.section && u.form == Form::Sentence)
                .filter(|(_, u)| u.span.end <= list_span.start && u.block.is_some())
                .last()
                .filter(|(_, u)| leads_in(u) || note.slice(&u.span).len() < 200);
            pieces.extend(lead.map(|(_, u)| passage::piece(note, u)));
            let mut length = 0;
            let steps = passage::whole_block(found, section.note, list);
            pieces.extend(steps.into_iter().take_while(|p| {
                length += p.span.len();
                length <= LONGEST
            }));
        }
        None => return passage::around(found, section.best.index),
    }
    (!pieces.is_empty()).then(|| Passage::new(section.note, pieces))
}
