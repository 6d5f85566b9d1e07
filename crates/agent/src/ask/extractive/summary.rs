//! A summary of a note without new words: its headings and the first sentence under each.

use super::choose::Choice;
use super::passage::{self, Passage, Piece, PieceForm};
use super::question::ParsedQuestion;
use super::rank::Ranked;
use super::score;
use super::units::{Form, Unit};

/// The question means a note if the note's names cover this share of the question.
const NAMED: f32 = 0.5;
/// Maximum number of sections that are shown.
const MOST: usize = 14;
/// Maximum number of list items that are shown for a section without a sentence.
const ITEMS: usize = 6;
/// Maximum number of sentences and list items that stand for one of several notes.
const LEAD: usize = 2;
/// The note or section in question is shown whole when it has at most this many characters.
const SHORT: usize = 1000;
/// The question means a section when its heading covers this share of the question.
const HEADED: f32 = 0.4;

/// The outline of the note that the question names, or of the one that fits best.
pub(super) fn choose(ranked: &Ranked<'_>) -> Option<Choice> {
    let best = (0..ranked.found.notes.len())
        .filter_map(|note| Some((share_in_names(ranked, note)?, note)))
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let note = match best {
        Some((share, note)) if share >= NAMED => note,
        _ => ranked.unit(ranked.best()?.index)?.note,
    };
    let passage = section(ranked).or_else(|| of_note(ranked, note))?;
    Some(Choice::certain(vec![passage]))
}

/// The share of the question that the names of a note cover.
fn share_in_names(ranked: &Ranked<'_>, note: usize) -> Option<f32> {
    let unit = passage::of_note(ranked.found, note)
        .next()
        .map(|(_, u)| u)?;
    let credits: Vec<f32> = ranked
        .question
        .terms
        .iter()
        .map(|t| score::covers(&unit.place.names, t))
        .collect();
    Some(score::share(&ranked.question, &credits))
}

/// A short version of a note: a short note whole, or the headings of a longer one and the beginning
/// of each section.
pub(super) fn of_note(ranked: &Ranked<'_>, note: usize) -> Option<Passage> {
    short(ranked, note).or_else(|| skeleton(ranked, note))
}

/// The section whose own heading matches the question.
fn section(ranked: &Ranked<'_>) -> Option<Passage> {
    let found = ranked.found;
    let best = ranked.order.iter().filter_map(|c| found.unit(c.index));
    let unit = best.max_by(|a, b| {
        share_in_headings(&ranked.question, a).total_cmp(&share_in_headings(&ranked.question, b))
    })?;
    if share_in_headings(&ranked.question, unit) < HEADED {
        return None;
    }
    let note = found.note_of(unit)?;
    let blocks = note.blocks_of_section(unit.section);
    let pieces: Vec<Piece> = blocks
        .flat_map(|block| passage::whole_block(found, unit.note, block))
        .collect();
    (!pieces.is_empty()).then(|| Passage::new(unit.note, pieces))
}

/// The share of the question that the headings of a unit cover, without the names of its note.
fn share_in_headings(question: &ParsedQuestion, unit: &Unit) -> f32 {
    let credits: Vec<f32> = question
        .terms
        .iter()
        .map(|t| heading_credit(unit, t))
        .collect();
    score::share(question, &credits)
}

/// How well the headings cover a word that is not in the names of the note.
fn heading_credit(unit: &Unit, t: &super::question::Term) -> f32 {
    let named = unit.place.names.contains(&t.stem);
    if named {
        0.0
    } else {
        score::covers(&unit.place.heading_stems, t)
    }
}

/// All of a short note.
fn short(ranked: &Ranked<'_>, note: usize) -> Option<Passage> {
    let of = ranked.found.notes.get(note)?;
    let length: usize = of.parts.iter().map(ExactSizeIterator::len).sum();
    if length > SHORT {
        return None;
    }
    let mut pieces: Vec<Piece> = Vec::new();
    for index in 0..of.sections.len() {
        pieces.extend(heading(ranked, note, index));
        let blocks = of.blocks_of_section(index);
        pieces.extend(blocks.flat_map(|block| passage::whole_block(ranked.found, note, block)));
    }
    (!pieces.is_empty()).then(|| Passage::new(note, pieces))
}

/// The title, and for each section its heading and its beginning.
fn skeleton(ranked: &Ranked<'_>, note: usize) -> Option<Passage> {
    let found = ranked.found;
    let of = found.notes.get(note)?;
    let mut pieces: Vec<Piece> = Vec::new();
    for index in 0..of.sections.len().min(MOST) {
        let begins = beginning(ranked, note, index);
        pieces.extend(heading(ranked, note, index));
        let units = begins.iter().filter_map(|i| found.unit(*i));
        pieces.extend(passage::joined(of, units));
    }
    (!pieces.is_empty()).then(|| Passage::new(note, pieces))
}

/// The first heading of a note, and its first sentence or list items.
pub(super) fn lead(ranked: &Ranked<'_>, note: usize) -> Option<Passage> {
    let of = ranked.found.notes.get(note)?;
    let sections = 0..of.sections.len().min(MOST);
    let heading = sections
        .clone()
        .find_map(|index| heading(ranked, note, index));
    let begins = sections
        .map(|index| beginning(ranked, note, index))
        .find(|begins| !begins.is_empty());
    let units = begins.iter().flatten();
    let units = units.take(LEAD).filter_map(|i| ranked.found.unit(*i));
    let pieces: Vec<Piece> = heading
        .into_iter()
        .chain(passage::joined(of, units))
        .collect();
    (!pieces.is_empty()).then(|| Passage::new(note, pieces))
}

/// The heading of a section.
fn heading(ranked: &Ranked<'_>, note: usize, section: usize) -> Option<Piece> {
    let of = ranked.found.notes.get(note)?;
    let section = of.sections.get(section)?;
    let line = of.slice(&(section.span.start..section.body)).trim_end();
    (section.level > 0 && !line.is_empty()).then(|| Piece {
        span: section.span.start..section.span.start + line.len(),
        form: PieceForm::Heading,
    })
}

/// The first sentence of a section, or the first items of its list.
fn beginning(ranked: &Ranked<'_>, note: usize, section: usize) -> Vec<usize> {
    let mut units = passage::of_note(ranked.found, note)
        .filter(|(_, u)| u.section == section && u.sayable && u.block.is_some())
        .peekable();
    match units.peek().map(|(_, u)| u.form) {
        Some(Form::Item | Form::Row) => units.take(ITEMS).map(|(i, _)| i).collect(),
        Some(_) => units.take(1).map(|(i, _)| i).collect(),
        None => Vec::new(),
    }
}
