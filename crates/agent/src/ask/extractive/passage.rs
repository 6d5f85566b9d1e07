//! Selects the text that is shown for a unit: the part of the note that a person would point to,
//! instead of a bare sentence.

use std::ops::Range;

use super::calendar::Day;
use super::note::NoteText;
use super::rank::Found;
use super::units::{Form, Unit, leads_in};
use local_agent_text::markdown::BlockKind;

/// A paragraph of at most this many characters is shown whole.
const SHORT_PARAGRAPH: usize = 350;
/// Text nested in an item, or introduced by a sentence, is shown up to this many characters.
const ANNOUNCED: usize = 1200;
/// A numbered list is shown from its first step, if it has at most this many characters.
const NUMBERED_LIST: usize = 2000;
/// A table of at most this many rows is shown whole.
pub(super) const WHOLE_TABLE: usize = 12;
/// A longer code block is not shown.
const LONGEST_CODE: usize = 2000;

/// One range of bytes that is quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::ask) struct Piece {
    /// Bytes of the file.
    pub span: Range<usize>,
    pub form: PieceForm,
}

/// How a piece is formatted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceForm {
    /// Running text.
    Text,
    /// A list item, starting with its marker.
    Item,
    /// The header of a table.
    Header,
    /// A row of a table.
    Row,
    /// A code block with its fences.
    Code,
    /// A key of the frontmatter with its value.
    Property,
    /// The heading of a note or section.
    Heading,
}

/// Parts of one note that are shown together.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ask) struct Passage {
    /// Index of the note.
    pub note: usize,
    /// The pieces, in file order.
    pub pieces: Vec<Piece>,
    /// The bytes that answer the question.
    pub keys: Vec<Range<usize>>,
    /// Its day, if the day is part of the answer.
    pub date: Option<Day>,
}

impl Passage {
    pub(crate) fn new(note: usize, pieces: Vec<Piece>) -> Self {
        Self {
            note,
            pieces,
            keys: Vec::new(),
            date: None,
        }
    }

    /// Its approximate number of characters.
    pub(crate) fn len(&self) -> usize {
        self.pieces.iter().map(|p| p.span.len()).sum()
    }

    /// Whether it shows `span` of note `note`.
    pub(crate) fn shows(&self, note: usize, span: &Range<usize>) -> bool {
        self.note == note
            && self
                .pieces
                .iter()
                .any(|p| p.span.start <= span.start && span.end <= p.span.end)
    }
}

/// The passage around one unit.
pub(super) fn around(found: Found<'_>, index: usize) -> Option<Passage> {
    let unit = found.unit(index)?;
    let note = found.note_of(unit)?;
    let pieces = match unit.form {
        Form::Property => vec![Piece {
            span: unit.span.clone(),
            form: PieceForm::Property,
        }],
        Form::Row => rows(found, unit.lead, &[index]),
        Form::Code => {
            let mut pieces = lead_pieces(found, note, unit);
            pieces.extend(pieces_of(found, unit, |u| u.block == unit.block));
            pieces
        }
        Form::Item => item(found, note, unit),
        _ => paragraph(found, note, index, unit),
    };
    let mut passage = Passage::new(unit.note, pieces);
    passage.keys.push(unit.span.clone());
    (!passage.pieces.is_empty()).then_some(passage)
}

/// The item with everything nested in it, below its outer items and its lead-in.
fn item(found: Found<'_>, note: &NoteText, unit: &Unit) -> Vec<Piece> {
    let Some(own) = unit.item else {
        return Vec::new();
    };
    let mut pieces = lead_pieces(found, note, unit);
    let numbered = unit.outer.filter(|outer| {
        let ordered = note.kind_of(*outer) == Some(BlockKind::List { ordered: true });
        ordered && note.span_of(*outer).len() <= NUMBERED_LIST
    });
    if let Some(outer) = numbered {
        pieces.extend(whole_block(found, unit.note, outer));
        return pieces;
    }
    let ancestors: Vec<usize> = note
        .around(own)
        .skip(1)
        .filter(|b| note.kind_of(*b) == Some(BlockKind::Item))
        .collect();
    pieces.extend(pieces_of(found, unit, |u| {
        u.item.is_some_and(|i| ancestors.contains(&i)) && u.span.start < unit.span.start
    }));
    let nested = pieces_of(found, unit, |u| {
        u.item.is_some_and(|i| note.around(i).any(|b| b == own))
    });
    let long = nested.iter().map(|p| p.span.len()).sum::<usize>() > ANNOUNCED;
    pieces.extend(match long {
        true => pieces_of(found, unit, |u| u.item == Some(own)),
        false => nested,
    });
    pieces
}

/// The lead-in sentence of the block of `unit`.
fn lead_pieces(found: Found<'_>, note: &NoteText, unit: &Unit) -> Vec<Piece> {
    let mut lead = unit.lead;
    // Continues from a nested item to the lead-in of the whole list.
    while let Some(above) = lead.and_then(|i| found.unit(i)) {
        if above.outer != unit.outer {
            return match note.slice(&above.span).len() <= SHORT_PARAGRAPH {
                true => vec![piece(note, above)],
                false => Vec::new(),
            };
        }
        lead = above.lead;
    }
    Vec::new()
}

/// The sentence in its paragraph, and the block that it introduces.
fn paragraph(found: Found<'_>, note: &NoteText, index: usize, unit: &Unit) -> Vec<Piece> {
    let Some(block) = unit.block else {
        return Vec::new();
    };
    let short = note.span_of(block).len() <= SHORT_PARAGRAPH;
    let before = unit.before;
    let after = index + 1;
    let near = |i: usize| i == index || Some(i) == before || i == after;
    let chosen: Vec<usize> = of_note(found, unit.note)
        .filter(|(i, u)| u.block == Some(block) && (short || near(*i)))
        .filter(|(i, u)| *i == index || is_readable(u))
        .map(|(i, _)| i)
        .collect();
    let units = chosen.iter().filter_map(|i| found.unit(*i));
    let mut pieces = joined(note, units);
    let last = chosen.last().and_then(|i| found.unit(*i));
    if let Some(last) = last.filter(|u| leads_in(u)) {
        pieces.extend(announced(found, note, last));
    }
    pieces
}

/// The next block, if the sentence ends with a colon and introduces it.
pub(super) fn announced(found: Found<'_>, note: &NoteText, unit: &Unit) -> Vec<Piece> {
    let section = note.sections.get(unit.section).map_or(0, |s| s.span.end);
    let next = note
        .blocks
        .iter()
        .enumerate()
        .filter(|(_, b)| b.parent.is_none())
        .find(|(_, b)| b.span.start() >= unit.span.end && b.span.start() < section);
    let Some((outer, _)) = next else {
        return Vec::new();
    };
    let mut announced = Passage::new(unit.note, whole_block(found, unit.note, outer));
    cut(&mut announced, ANNOUNCED);
    announced.pieces
}

/// Leaves out the last pieces of a passage that is longer than `most` bytes.
pub(super) fn cut(passage: &mut Passage, most: usize) {
    let mut length = 0;
    let fits = |piece: &&Piece| {
        length += piece.span.len();
        length <= most
    };
    let kept = passage.pieces.iter().take_while(fits).count();
    passage.pieces.truncate(kept);
}

/// The words of a note's first heading, as text, because a heading is not cited.
pub(super) fn title(note: &NoteText) -> Option<Piece> {
    let section = note.sections.iter().find(|s| s.level > 0)?;
    let line = note.slice(&(section.span.start..section.body)).trim_end();
    let words = line.trim_start_matches(['#', ' ']);
    let end = section.span.start + line.len();
    (!words.is_empty()).then(|| Piece {
        span: end - words.len()..end,
        form: PieceForm::Text,
    })
}

/// All pieces of an outermost block.
pub(super) fn whole_block(found: Found<'_>, note: usize, outer: usize) -> Vec<Piece> {
    let Some(of) = found.notes.get(note) else {
        return Vec::new();
    };
    let units = of_note(found, note)
        .filter(|(_, u)| u.outer == Some(outer) && is_readable(u))
        .map(|(_, u)| u);
    joined(of, units)
}

/// Rows of one table under their header, in file order.
pub(super) fn rows(found: Found<'_>, header: Option<usize>, chosen: &[usize]) -> Vec<Piece> {
    let mut indices = chosen.to_vec();
    indices.sort_unstable();
    let units = header.into_iter().chain(indices);
    units
        .filter_map(|i| found.unit(i))
        .filter_map(|u| Some(piece(found.note_of(u)?, u)))
        .collect()
}

/// The rows of the table that contains row `index`, as units.
pub(super) fn rows_beside(found: Found<'_>, index: usize) -> Vec<usize> {
    let Some(unit) = found.unit(index) else {
        return Vec::new();
    };
    of_note(found, unit.note)
        .filter(|(_, u)| u.form == Form::Row && u.outer == unit.outer)
        .filter(|(_, u)| u.block.is_some() && u.lead == unit.lead)
        .map(|(i, _)| i)
        .collect()
}

/// The units of one note with their indices.
pub(super) fn of_note<'a>(
    found: Found<'a>,
    note: usize,
) -> impl Iterator<Item = (usize, &'a Unit)> {
    let start = found.units.partition_point(|u| u.note < note);
    let units = found.units.get(start..).unwrap_or(&[]);
    units
        .iter()
        .enumerate()
        .take_while(move |(_, u)| u.note == note)
        .map(move |(i, u)| (start + i, u))
}

fn is_readable(unit: &Unit) -> bool {
    unit.sayable || unit.form == Form::Header || leads_in(unit)
}

/// The pieces of those units in `unit`'s outermost block that `wanted` selects.
fn pieces_of(found: Found<'_>, unit: &Unit, wanted: impl Fn(&Unit) -> bool) -> Vec<Piece> {
    let Some(note) = found.note_of(unit) else {
        return Vec::new();
    };
    let units = of_note(found, unit.note)
        .filter(|(_, u)| u.outer == unit.outer && is_readable(u) && wanted(u))
        .map(|(_, u)| u);
    joined(note, units)
}

/// Turns units, in order, into pieces: one per sentence, so that each has its own citation and the
/// printed answer can be verified again as text. Only the first sentence of an item includes its
/// marker.
pub(super) fn joined<'a>(note: &NoteText, units: impl Iterator<Item = &'a Unit>) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    let mut last: Option<&Unit> = None;
    for unit in units {
        if unit.form == Form::Code && unit.span.len() > LONGEST_CODE {
            continue;
        }
        let begins = last.is_none_or(|last| last.item != unit.item);
        let mut next = piece(note, unit);
        if unit.form == Form::Item && !begins {
            next = Piece {
                span: unit.span.clone(),
                form: PieceForm::Text,
            };
        }
        out.push(next);
        last = Some(unit);
    }
    out
}

/// A unit as a piece; an item includes its marker.
pub(super) fn piece(note: &NoteText, unit: &Unit) -> Piece {
    let form = match unit.form {
        Form::Item => PieceForm::Item,
        Form::Row => PieceForm::Row,
        Form::Header => PieceForm::Header,
        Form::Code => PieceForm::Code,
        Form::Property => PieceForm::Property,
        Form::Sentence | Form::Hidden => PieceForm::Text,
    };
    let mark = unit
        .item
        .filter(|_| unit.form == Form::Item)
        .map(|item| note.span_of(item).start)
        .filter(|start| {
            let lead = note.slice(&(*start..unit.span.start));
            !lead.contains('\n')
        });
    Piece {
        span: mark.unwrap_or(unit.span.start)..unit.span.end,
        form: if unit.form == Form::Item && mark.is_none() {
            PieceForm::Text
        } else {
            form
        },
    }
}
