//! Finds notes by a property: "which recipes have a rating of 5".

use std::collections::BTreeSet;

use super::attributes;
use super::choose::Choice;
use super::confidence;
use super::cues;
use super::passage::{self, Passage, Piece, PieceForm};
use super::question::Term;
use super::rank::Ranked;
use super::rows::stems_of;
use super::score;
use super::units::{Form, Unit};

/// Maximum number of notes that are shown.
const MOST: usize = 12;

/// Each note with the property that the question names, under its title; `None` if the question
/// names no value, or no note has it.
pub(super) fn choose(ranked: &Ranked<'_>) -> Option<Choice> {
    let lower = ranked.question.text.to_lowercase();
    if !cues::LIST.are_in(&lower) {
        return None;
    }
    let mut out: Vec<Passage> = Vec::new();
    let mut notes = BTreeSet::new();
    for unit in ranked.found.units.iter().filter(|u| has_it(ranked, u)) {
        if !notes.insert(unit.note) || out.len() >= MOST {
            continue;
        }
        let note = ranked.found.note_of(unit)?;
        let mut pieces = vec![Piece {
            span: unit.span.clone(),
            form: PieceForm::Property,
        }];
        pieces.extend(passage::title(note));
        let mut passage = Passage::new(unit.note, pieces);
        passage.keys.push(unit.span.clone());
        out.push(passage);
    }
    let counts = (out.len(), notes.len());
    (!out.is_empty()).then(|| Choice::part_of(out, counts, "notes"))
}

/// Whether a property matches the question: its whole value is in the question, and the other terms
/// are in its key or above it. A number alone counts as a value only together with its key.
fn has_it(ranked: &Ranked<'_>, unit: &Unit) -> bool {
    if unit.form != Form::Property || !unit.sayable || is_tag(unit) {
        return false;
    }
    let Some((key, value)) = unit.plain.split_once(':') else {
        return false;
    };
    let (key, value) = (stems_of(key), stems_of(value));
    let terms = &ranked.question.terms;
    if value.is_empty()
        || value.len() > 3
        || !value
            .iter()
            .all(|stem| terms.iter().any(|t| t.stem == *stem))
    {
        return false;
    }
    let named = terms.iter().any(|t| score::covers(&key, t) > 0.0);
    let rest = |t: &&Term| !value.contains(&t.stem) && score::covers(&key, t) == 0.0;
    (named
        || !value
            .iter()
            .any(|stem| stem.chars().all(|c| c.is_ascii_digit())))
        && terms
            .iter()
            .filter(rest)
            .all(|t| score::covers(&unit.place.stems, t) > 0.0)
}

/// The property with the attribute that the question asks for, in the note of the best passage, if
/// that passage does not have the attribute itself: the birthday of somebody of whom the passage
/// says who she is.
pub(super) fn attribute(ranked: &Ranked<'_>) -> Option<Choice> {
    let question = &ranked.question;
    let attribute = question.terms.get(question.attribute?)?;
    let word = attribute.word.to_lowercase();
    let best = ranked.best()?;
    let unit = ranked.unit(best.index)?;
    let says_it = cues::split(&unit.plain.to_lowercase()).any(|w| attributes::same(w, &word));
    // The property belongs to the note: "my sister's" birthday is not that of her son.
    let names = question.terms.iter().filter(|term| term.is_name);
    let mut names = names.filter(|term| term.word.to_lowercase() != word);
    let is_named = best.features.unknown_name == 0.0
        && (question.names_relation()
            || names.all(|term| score::covers(&unit.place.names, term) > 0.0));
    if !is_named || says_it || unit.form != Form::Sentence {
        return None;
    }
    let (_, property) = passage::of_note(ranked.found, unit.note).find(|(_, unit)| {
        let key = unit.plain.split(':').next().unwrap_or("").to_lowercase();
        unit.form == Form::Property && cues::split(&key).any(|w| attributes::same(w, &word))
    })?;
    if !confidence::fits_but_for_attribute(ranked, best) {
        return None;
    }
    let mut passage = passage::around(ranked.found, best.index)?;
    passage.pieces.insert(
        0,
        Piece {
            span: property.span.clone(),
            form: PieceForm::Property,
        },
    );
    passage.keys = vec![property.span.clone()];
    Some(Choice::certain(vec![passage]))
}

/// Whether the property lists tags.
fn is_tag(unit: &Unit) -> bool {
    ["tag", "tags"]
        .iter()
        .any(|key| unit.plain.starts_with(key))
}
