//! Two steps: what one note says of another thing leads to the note that says the rest, as in "the
//! phone number of the owner of X".

use super::choose::{Choice, around};
use super::note::Note;
use super::question::Term;
use super::rank::{Candidate, Found, Ranked};
use super::score;
use super::units::{Form, Unit};
use local_agent_index::lexical::terms;

/// Units that may lead on.
const FROM: usize = 10;
/// A unit that leads on covers at least this share of the question.
const LEADS: f32 = 0.25;
/// What it does not cover must be covered to this share by the second one.
const REACHES: f32 = 0.5;
/// Both together must cover so much more than the best unit alone.
const BETTER: f32 = 0.12;
/// A term with this credit is covered.
const CREDITED: f32 = 0.45;

/// A unit, and the names in it that may lead to another note.
pub(super) struct Lead {
    pub index: usize,
    pub names: Vec<String>,
}

/// The units that may lead on, with the names that stand in them and not in the question.
pub(super) fn leads(ranked: &Ranked<'_>) -> Vec<Lead> {
    let open = |c: &&Candidate| {
        let f = &c.features;
        f.unknown_name == 0.0 && f.covered >= LEADS && f.covered < 0.9
    };
    ranked
        .order
        .iter()
        .take(FROM)
        .filter(open)
        .filter_map(|c| {
            let unit = ranked.unit(c.index)?;
            let note = ranked.found.note_of(unit)?;
            let names = names(ranked, note, unit);
            (!names.is_empty()).then_some(Lead {
                index: c.index,
                names,
            })
        })
        .collect()
}

/// Links and capitalised words of a unit that the question does not hold.
fn names(ranked: &Ranked<'_>, note: &Note, unit: &Unit) -> Vec<String> {
    let raw = note.slice(&unit.span);
    let mut out: Vec<String> = Vec::new();
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
    let asked = |name: &str| {
        terms(name).iter().all(|stem| {
            let mut asked = ranked.question.terms.iter();
            asked.any(|t| t.stem == *stem)
        })
    };
    out.retain(|name| name.chars().count() > 2 && !asked(name));
    out.dedup();
    out.truncate(6);
    out
}

/// Whether a note is called `name`, or a name in it begins with it ("Jonas" for "Jonas Weber").
pub(super) fn is_called(note: &Note, name: &str) -> bool {
    let wanted = name.to_lowercase();
    note.names.iter().any(|own| {
        let own = own.to_lowercase();
        own == wanted || own.split_whitespace().next() == Some(&wanted)
    })
}

/// Both steps, when they answer better than the best unit alone.
pub(super) fn choose(ranked: &Ranked<'_>, leads: &[Lead]) -> Option<Choice> {
    let found = ranked.found;
    let alone = ranked.best().map_or(0.0, |best| {
        if best.features.kind < 0.0 || best.features.unknown_name > 0.0 {
            best.features.covered.min(0.5)
        } else {
            best.features.covered
        }
    });
    let mut best: Option<(f32, usize, usize)> = None;
    for lead in leads {
        let Some(from) = ranked.order.iter().find(|c| c.index == lead.index) else {
            continue;
        };
        let open: Vec<(usize, &Term)> = ranked
            .question
            .terms
            .iter()
            .enumerate()
            .filter(|(at, _)| from.credits.all.get(*at).is_none_or(|c| *c < CREDITED))
            .collect();
        let weight: f32 = open.iter().map(|(_, t)| t.weight).sum();
        let own = ranked.unit(lead.index)?.note;
        for (note, _) in found.notes.iter().enumerate().filter(|(i, _)| *i != own) {
            let called = found
                .notes
                .get(note)
                .is_some_and(|n| lead.names.iter().any(|name| is_called(n, name)));
            if !called || weight <= 0.0 {
                continue;
            }
            for (index, unit) in super::passage::of_note(found, note) {
                let reached = reached(unit, &open);
                let typed = score::answer_type(&ranked.question, unit);
                if !unit.sayable || reached < REACHES * weight || typed < 0.0 && !is_short(unit) {
                    continue;
                }
                let total = ranked.question.total();
                let both = from.features.covered + reached / total.max(f32::EPSILON);
                if best.is_none_or(|(most, ..)| both > most) {
                    best = Some((both, lead.index, index));
                }
            }
        }
    }
    let (both, first, second) = best?;
    if both < alone + BETTER {
        return None;
    }
    Some(Choice::certain(vec![
        around(ranked, first)?,
        around(ranked, second)?,
    ]))
}

/// The weight of the open terms that a unit holds itself.
fn reached(unit: &Unit, open: &[(usize, &Term)]) -> f32 {
    open.iter()
        .map(|(_, t)| t.weight * score::covers(&unit.stems, t))
        .sum()
}

fn is_short(unit: &Unit) -> bool {
    matches!(unit.form, Form::Property | Form::Row)
}

/// The notes that a lead names and that were not found yet.
pub(super) fn unknown<'l>(found: Found<'_>, leads: &'l [Lead]) -> Vec<&'l str> {
    let known = |name: &str| found.notes.iter().any(|n| is_called(n, name));
    let names = leads.iter().flat_map(|l| &l.names).map(String::as_str);
    let mut out: Vec<&str> = names.filter(|name| !known(name)).collect();
    out.sort_unstable();
    out.dedup();
    out.truncate(6);
    out
}
