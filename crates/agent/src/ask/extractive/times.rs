//! Finds the newest statement, or everything from certain days.

use std::cmp::Reverse;

use super::calendar::{Day, Period};
use super::choose::{self, Choice, around};
use super::confidence;
use super::passage::Passage;
use super::rank::{Candidate, Ranked};
use super::score;
use super::summary;
use super::whole_rows;

/// A unit is about the same thing as the best one if it covers this share of what the best one
/// covers …
const SAME_THING: f32 = 0.8;
/// … and has this share of the best one's score.
const NEAR_BEST: f32 = 0.8;
/// Maximum number of passages for a period.
const MOST: usize = 8;

/// The newest unit about the subject of the question, excluding future dates; `None` if no such
/// unit has a date. If the question is only a note's name, a short version of the note.
pub(super) fn latest(ranked: &Ranked<'_>) -> Option<Choice> {
    let most = ranked
        .order
        .iter()
        .filter(|c| speaks(c))
        .map(|c| about_it(ranked, c))
        .fold(0.0, f32::max);
    let scores = ranked.order.iter().filter(|c| speaks(c)).map(|c| c.score);
    let top = scores.fold(0.0, f32::max);
    let mut about: Vec<(&Candidate, Day)> = ranked
        .order
        .iter()
        .filter(|c| speaks(c) && about_it(ranked, c) >= SAME_THING * most)
        .filter(|c| c.score >= NEAR_BEST * top)
        .filter_map(|c| Some((c, ranked.unit(c.index)?.date?)))
        .filter(|(_, day)| *day <= ranked.question.today)
        .collect();
    about.sort_by_key(|(_, day)| Reverse(*day));
    let (newest, day) = *about.first()?;
    // Among units of one day, the best.
    let best = about
        .iter()
        .filter(|(_, other)| *other == day)
        .map(|(c, _)| *c)
        .max_by(|a, b| a.score.total_cmp(&b.score))
        .unwrap_or(newest);
    if !confidence::fits(ranked, best) {
        return None;
    }
    let mut out = match is_named(ranked, best) {
        true => summary::of_note(ranked, ranked.unit(best.index)?.note)?,
        false => around(ranked, best.index)?,
    };
    out.date = ranked.unit(best.index)?.entry_day;
    Some(Choice::certain(vec![out]))
}

/// Whether the question consists only of the name of a unit's note.
fn is_named(ranked: &Ranked<'_>, candidate: &Candidate) -> bool {
    let wants = ranked.question.wants;
    let open = !(wants.time || wants.number || wants.extent || wants.person);
    let names = ranked.unit(candidate.index).map(|u| &u.place.names);
    let mut terms = ranked.question.terms.iter();
    open && names.is_some_and(|names| terms.all(|t| names.contains(&t.stem)))
}

/// The share of the question that is in a unit or above it, with equal weight.
fn about_it(ranked: &Ranked<'_>, candidate: &Candidate) -> f32 {
    let credits = &candidate.credits;
    let both = credits.own.iter().zip(&credits.above);
    let best: Vec<f32> = both.map(|(own, above)| own.max(*above)).collect();
    score::share(&ranked.question, &best)
}

/// The search results for the question's days, newest first; `None` if nothing matches them.
pub(super) fn in_period(ranked: &Ranked<'_>) -> Option<Choice> {
    let period = ranked.question.period?;
    if ranked.question.is_about_days_alone
        && let Some(choice) = everything(ranked, &period)
    {
        return Some(choice);
    }
    let mut within: Vec<(&Candidate, Day)> = ranked
        .order
        .iter()
        .filter(|c| speaks(c))
        .filter_map(|c| Some((c, ranked.unit(c.index)?.date?)))
        .filter(|(_, day)| period.holds(*day))
        .collect();
    let open = ranked.question.terms.iter().all(|t| t.weight <= 0.0);
    within.retain(|(c, _)| open || confidence::fits(ranked, c));
    let top = within.iter().map(|(c, _)| c.score).fold(0.0, f32::max);
    within.retain(|(c, _)| open || c.score >= SAME_THING * top);
    if !ranked.question.wants.several && !open {
        within.sort_by(|a, b| b.0.score.total_cmp(&a.0.score));
        within.truncate(2);
    }
    within.sort_by_key(|(_, day)| Reverse(*day));
    let mut out: Vec<Passage> = Vec::new();
    for (candidate, _) in within {
        let unit = ranked.unit(candidate.index)?;
        if out.iter().any(|p| p.shows(unit.note, &unit.span)) {
            continue;
        }
        if let Some(mut passage) = around(ranked, candidate.index) {
            passage.date = unit.entry_day;
            choose::add(&mut out, passage);
        }
    }
    for passage in &mut out {
        whole_rows::complete(ranked, passage);
    }
    first(out, MOST, "passages")
}

/// Maximum number of notes when the question asks for everything from a period.
const MOST_NOTES: usize = 7;

/// The notes of a period, newest first, each whole or in its short version.
fn everything(ranked: &Ranked<'_>, period: &Period) -> Option<Choice> {
    let notes = ranked.found.notes.iter().enumerate();
    let mut within: Vec<(usize, Day)> = notes
        .filter_map(|(index, note)| Some((index, note.date?)))
        .filter(|(_, day)| day.day > 0 && period.holds(*day))
        .collect();
    within.sort_by_key(|(_, day)| Reverse(*day));
    let out: Vec<Passage> = within
        .into_iter()
        .filter_map(|(note, day)| dated_summary(ranked, (note, day)))
        .collect();
    first(out, MOST_NOTES, "notes")
}

/// The answer with at most `most` of the passages; `what` names what they are. `None` if there are
/// no passages.
fn first(mut passages: Vec<Passage>, most: usize, what: &str) -> Option<Choice> {
    let all = passages.len();
    passages.truncate(most);
    let counts = (passages.len(), all);
    (all > 0).then(|| Choice::part_of(passages, counts, what))
}

/// The summary of a note with its date.
fn dated_summary(ranked: &Ranked<'_>, (note, day): (usize, Day)) -> Option<Passage> {
    let mut passage = summary::of_note(ranked, note)?;
    passage.date = Some(day);
    Some(passage)
}

fn speaks(candidate: &Candidate) -> bool {
    let f = &candidate.features;
    f.unknown_name == 0.0 && f.empty < 0.9 && f.other_note < 0.3
}
