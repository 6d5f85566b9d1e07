//! Two hops: one note mentions another thing, whose note has the rest of the answer, as in "the
//! phone number of the owner of X".

use super::choose::{Choice, around};
use super::note::NoteText;
use super::question::{ParsedQuestion, Term};
use super::rank::{Found, Ranked};
use super::score::{self, Credits};
use super::units::{Form, Unit};
use local_agent_index::lexical::terms;

/// Maximum number of units to start from.
const FROM: usize = 10;
/// A starting unit must cover at least this share of the question, with its note's names.
const LEADS: f32 = 0.2;
/// The second unit must cover at least this share of what the first one does not cover.
const REACHES: f32 = 0.5;
/// Both together must cover this much more than the best unit alone.
const BETTER: f32 = 0.12;
/// A term with at least this credit is covered.
const CREDITED: f32 = 0.45;
/// Weight of the model's cosine when choosing among several starting units.
const MEANING: f32 = 0.3;

/// A unit, and the names in it that may lead to another note.
pub(super) struct Lead {
    pub index: usize,
    pub names: Vec<String>,
    credits: Vec<f32>,
    covered: f32,
    similar: f32,
}

/// The units that may lead to another note, with those names in them that the question does not
/// have. These are the best units, and every property of the notes that the question names.
pub(super) fn leads(ranked: &Ranked<'_>) -> Vec<Lead> {
    let best = ranked.order.iter().take(FROM).map(|c| c.index);
    let mut indices: Vec<usize> = best.collect();
    for (index, unit) in ranked.found.units.iter().enumerate() {
        let mut terms = ranked.question.terms.iter();
        let named = terms.any(|t| unit.place.names.contains(&t.stem));
        if unit.form == Form::Property && unit.sayable && named && !indices.contains(&index) {
            indices.push(index);
        }
    }
    indices
        .into_iter()
        .filter_map(|i| lead(ranked, i))
        .collect()
}

fn lead(ranked: &Ranked<'_>, index: usize) -> Option<Lead> {
    let unit = ranked.unit(index)?;
    let known = ranked.order.iter().find(|c| c.index == index);
    let credits = match known {
        Some(candidate) => candidate.credits.all.clone(),
        None => Credits::of(&ranked.question, ranked.found.units, index).all,
    };
    let named = ranked.question.terms.iter().zip(&credits);
    let lacks_name = named.into_iter().any(|(t, c)| t.is_name && *c == 0.0);
    let covered = score::share(&ranked.question, &credits);
    if lacks_name || !(LEADS..0.9).contains(&covered) {
        return None;
    }
    let names = names(ranked, ranked.found.note_of(unit)?, unit);
    (!names.is_empty()).then_some(Lead {
        index,
        names,
        credits,
        covered,
        similar: known.map_or(0.0, |c| c.features.similar),
    })
}

/// Links and capitalised words of a unit that are not in the question.
fn names(ranked: &Ranked<'_>, note: &NoteText, unit: &Unit) -> Vec<String> {
    let raw = note.slice(&unit.span);
    let mut out: Vec<String> = Vec::new();
    // A list of names says nothing about any single one of them.
    if unit.form == Form::Property && raw.matches(',').count() >= 2 {
        return out;
    }
    for link in raw.split("[[").skip(1) {
        let target = link.split("]]").next().unwrap_or("");
        let target = target.split(['|', '#']).next().unwrap_or("");
        let name = target.rsplit('/').next().unwrap_or(target).trim();
        out.push(name.to_owned());
    }
    let mut run: Vec<&str> = Vec::new();
    for word in unit.plain.split_whitespace().chain([""]) {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        if bare.starts_with(char::is_uppercase) {
            run.push(bare);
        }
        if !bare.starts_with(char::is_uppercase) || word.ends_with([',', '.', ';', ':']) {
            out.extend((!run.is_empty()).then(|| run.join(" ")));
            run.clear();
        }
    }
    out.retain(|name| name.chars().count() > 2 && !is_asked(&ranked.question, name));
    out.dedup();
    out.truncate(8);
    out
}

/// Whether the question contains every word of the name.
fn is_asked(question: &ParsedQuestion, name: &str) -> bool {
    terms(name).iter().all(|stem| {
        let mut asked = question.terms.iter();
        asked.any(|t| t.stem == *stem)
    })
}

/// Whether a note has this name, or has a name that begins with it ("Jonas" for "Jonas Weber").
pub(super) fn is_called(note: &NoteText, name: &str) -> bool {
    let wanted = name.to_lowercase();
    note.names.iter().any(|own| {
        let own = own.to_lowercase();
        own == wanted || own.split_whitespace().next() == Some(&wanted)
    })
}

/// The answer in two hops, if it is better than the best unit alone.
pub(super) fn choose(ranked: &Ranked<'_>, leads: &[Lead]) -> Option<Choice> {
    let found = ranked.found;
    let alone = ranked.best().map_or(0.0, |best| {
        if best.features.kind < 0.0 || best.features.unknown_name > 0.0 {
            best.features.covered.min(0.5)
        } else {
            best.features.covered
        }
    });
    let mut best: Option<(f32, f32, usize, usize)> = None;
    for lead in leads {
        let open: Vec<&Term> = ranked
            .question
            .terms
            .iter()
            .zip(&lead.credits)
            .filter(|(_, credit)| **credit < CREDITED)
            .map(|(t, _)| t)
            .collect();
        let weight: f32 = open.iter().map(|t| t.weight).sum();
        let own = ranked.unit(lead.index)?.note;
        for (note, of) in found.notes.iter().enumerate().filter(|(i, _)| *i != own) {
            if weight <= 0.0 || !lead.names.iter().any(|name| is_called(of, name)) {
                continue;
            }
            for (index, unit) in super::passage::of_note(found, note) {
                let typed = score::answer_type(
                    &ranked.question,
                    unit,
                    unit.lead.and_then(|lead| ranked.unit(lead)),
                );
                let wants = ranked.question.wants;
                // If the question asks for a phone number, it is found whatever text is before it.
                let reached = match typed > 0.0 && (wants.phone || wants.email) {
                    true => reached(unit, &open).max(REACHES * weight),
                    false => reached(unit, &open),
                };
                let lacks_type = typed < 0.0 || typed == 0.0 && (wants.phone || wants.email);
                if !unit.sayable || reached < REACHES * weight || lacks_type {
                    continue;
                }
                let total = ranked.question.total();
                let both = lead.covered + reached / total.max(f32::EPSILON);
                let weighed = both + MEANING * lead.similar;
                if best.is_none_or(|(_, most, ..)| weighed > most) {
                    best = Some((both, weighed, lead.index, index));
                }
            }
        }
    }
    let (both, _, first, second) = best?;
    if both < alone + BETTER {
        return None;
    }
    Some(Choice::certain(vec![
        around(ranked, first)?,
        around(ranked, second)?,
    ]))
}

/// The weight of the open terms that a unit itself covers.
fn reached(unit: &Unit, open: &[&Term]) -> f32 {
    open.iter()
        .map(|t| t.weight * score::covers(&unit.stems, t))
        .sum()
}

/// The notes that a lead names and that the search did not find.
pub(super) fn unknown<'l>(found: Found<'_>, leads: &'l [Lead]) -> Vec<&'l str> {
    let names = leads.iter().flat_map(|l| &l.names).map(String::as_str);
    let mut out: Vec<&str> = names.filter(|name| !is_known(found, name)).collect();
    out.sort_unstable();
    out.dedup();
    out.truncate(8);
    out
}

/// Whether a note of this name was found.
fn is_known(found: Found<'_>, name: &str) -> bool {
    found.notes.iter().any(|n| is_called(n, name))
}
