//! Selects the items of a list that a question counts or adds up.

use std::collections::HashSet;

use super::calendar::Day;
use super::cues;
use super::passage;
use super::periods;
use super::question::Term;
use super::rank::Ranked;
use super::rows::{self, stems_of};
use super::score;
use super::units::Unit;

/// An item of a list, with everything nested in it.
pub(super) struct ListItem {
    pub stems: HashSet<String>,
    /// Its sentences and those nested in it, in file order.
    pub units: Vec<usize>,
    date: Option<Day>,
}

/// How many items of the list around `unit` the question means; `None` if it has a condition that
/// the items do not decide, or if none of them meets it.
pub(super) fn asked(ranked: &Ranked<'_>, unit: &Unit) -> Option<usize> {
    let count = meant(ranked, unit)?.len();
    (count > 0).then_some(count)
}

/// The items of the list around `unit` that the question means; `None` if it has a condition that
/// the items do not decide.
pub(super) fn meant(ranked: &Ranked<'_>, unit: &Unit) -> Option<Vec<ListItem>> {
    let question = &ranked.question;
    if cues::negates(&question.text.to_lowercase()) {
        return None;
    }
    let all = of_list(ranked, unit)?;
    let period = question.counted_days();
    let dates = match period {
        Some(_) => periods::date_words(&question.text),
        None => HashSet::new(),
    };
    // A month in the heading is that of all items.
    let is_date = |term: &&Term| dates.contains(&term.word.to_lowercase());
    let mut dated = question.terms.iter().filter(is_date);
    let period = period.filter(|_| !dated.any(|term| says_above(ranked, unit, term)));
    let mut deciding: Vec<&Term> = Vec::new();
    for (at, term) in question.terms.iter().enumerate() {
        let with_it = all
            .iter()
            .filter(|item| score::covers(&item.stems, term) > 0.0);
        let with_it = with_it.count();
        let is_dividing = with_it > 0 && with_it < all.len();
        let is_above = says_above(ranked, unit, term) || dates.contains(&term.word.to_lowercase());
        match is_dividing && !is_above {
            // Items of which only some have the name of what is counted are a list of other things.
            true if question.counted == Some(at) => return None,
            true => deciding.push(term),
            false => {}
        }
    }
    let is_meant = |item: &ListItem| {
        deciding
            .iter()
            .all(|term| score::covers(&item.stems, term) > 0.0)
    };
    let mut meant: Vec<ListItem> = all.into_iter().filter(is_meant).collect();
    if let Some(period) = period {
        let is_dated = |item: &ListItem| item.date.is_some();
        if !meant.iter().all(is_dated) {
            return None;
        }
        meant.retain(|item| item.date.is_some_and(|day| period.holds(day)));
    }
    Some(meant)
}

/// The outermost items of the list around a unit.
fn of_list(ranked: &Ranked<'_>, unit: &Unit) -> Option<Vec<ListItem>> {
    let outer = unit.outer?;
    let note = ranked.found.note_of(unit)?;
    let blocks = note.blocks.iter().enumerate();
    let items = blocks.filter(|(_, block)| block.parent == Some(outer));
    let all = items.map(|(item, _)| {
        let mut found = ListItem {
            stems: HashSet::new(),
            units: Vec::new(),
            date: None,
        };
        for (index, unit) in passage::of_note(ranked.found, unit.note) {
            let inside = unit
                .block
                .is_some_and(|b| note.around(b).any(|b| b == item));
            if inside {
                found.stems.extend(unit.stems.iter().cloned());
                found.units.push(index);
                found.date = found.date.or(unit.date);
            }
        }
        found
    });
    Some(all.collect())
}

/// Whether a word of the question, other than what is counted and light verbs, is neither in the
/// list around a unit nor above it, and no item means the same: the models of a theory are not those
/// that a program downloads.
pub(super) fn leaves_open(ranked: &Ranked<'_>, unit: &Unit) -> bool {
    let question = &ranked.question;
    let dates = periods::date_words(&question.text);
    let items: Vec<usize> = of_list(ranked, unit)
        .into_iter()
        .flatten()
        .flat_map(|item| item.units)
        .collect();
    let is_open = |term: &&Term| {
        !dates.contains(&term.word.to_lowercase())
            && !says_above(ranked, unit, term)
            && rows::is_nowhere(ranked, &items, term)
    };
    question.terms.iter().any(|term| is_open(&term))
}

/// Whether the headings, the names of the note or the lead-in have the term.
pub(super) fn says_above(ranked: &Ranked<'_>, unit: &Unit, term: &Term) -> bool {
    let note = ranked.found.note_of(unit);
    let headings = note.and_then(|note| note.sections.get(unit.section));
    let titles = headings.map_or_else(String::new, |section| section.heading.to_string());
    let lead = unit.lead.and_then(|lead| ranked.unit(lead));
    score::covers(&unit.place.names, term) > 0.0
        || score::covers(&stems_of(&titles), term) > 0.0
        || lead.is_some_and(|lead| score::covers(&lead.stems, term) > 0.0)
}

/// Whether a term that is in no item itself is only in the path of its folder.
pub(super) fn only_folder_says(ranked: &Ranked<'_>, unit: &Unit, term: &Term) -> bool {
    let in_place = score::covers(&unit.place.stems, term) > 0.0;
    let in_item = score::covers(&unit.stems, term) > 0.0;
    in_place && !in_item && !says_above(ranked, unit, term)
}
