//! Turns passages into a draft over a snapshot that contains them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Day;
use super::note::NoteText;
use super::passage::{Passage, Piece, PieceForm};
use local_agent_index::retrieval::Packed;
use local_agent_text::error::{Failure, Result};
use local_agent_text::evidence::{
    Draft, EvidenceItem, EvidenceSnapshot, Excerpt, Freshness, Segment,
};
use local_agent_text::types::{ByteSpan, ChunkKey, HeadingPath, Label, Sha256};

/// A passage of an answer, for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The quotes in the order in which they are shown.
    pub pieces: Vec<ShownPiece>,
    /// The bytes of the file that answer the question.
    pub keys: Vec<ByteSpan>,
    /// Its day, if the day is part of the answer.
    pub date: Option<Day>,
    /// The title of its note.
    pub title: String,
}

/// One quote of a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownPiece {
    /// The item of the evidence that contains it.
    pub label: Label,
    /// Bytes of the file.
    pub span: ByteSpan,
    /// What kind of text it is, which decides how it is displayed.
    pub form: PieceForm,
    /// The separator between the previous piece and this one; empty before the first.
    pub joint: String,
}

/// A draft, the evidence it quotes, and how to display it.
#[derive(Debug)]
pub(in crate::ask) struct Drafted {
    pub draft: Draft,
    pub packed: Packed,
    pub shown: Vec<Shown>,
}

/// Turns `passages` into a draft. Passages that are not in the evidence yet are appended to it.
///
/// # Errors
/// `INTERNAL_ERROR` when a passage is not inside its note.
pub(in crate::ask) fn draft(
    notes: &[NoteText],
    passages: &[Passage],
    packed: &Packed,
) -> Result<Drafted> {
    let packed = with_passages(notes, passages, packed)?;
    let mut draft = Draft::default();
    let mut shown = Vec::new();
    for passage in passages {
        let Some(note) = notes.get(passage.note) else {
            continue;
        };
        shown.push(add(&mut draft, note, passage, &packed.snapshot)?);
    }
    Ok(Drafted {
        draft,
        packed,
        shown,
    })
}

/// Adds one passage to the draft: each piece is followed by its citation, a table header by its
/// first row.
fn add(
    draft: &mut Draft,
    note: &NoteText,
    passage: &Passage,
    snapshot: &EvidenceSnapshot,
) -> Result<Shown> {
    let mut pieces = Vec::new();
    let mut last: Option<&Piece> = None;
    for piece in &passage.pieces {
        let item = holding(snapshot, note, &piece.span)
            .ok_or_else(|| Failure::internal("a passage is not in the evidence"))?;
        let mut joint = last.map_or_else(String::new, |last| joint(note, last, piece));
        for (nth, part) in quoted_lines(note, piece).into_iter().enumerate() {
            if nth > 0 {
                " ".clone_into(&mut joint);
            }
            let span = ByteSpan::new(part.span.start, part.span.end)
                .ok_or_else(|| Failure::internal("a passage has no extent"))?;
            let before = match last {
                None if nth == 0 && !draft.segments().is_empty() => "\n\n",
                _ => joint.as_str(),
            };
            if !before.is_empty() {
                draft.push(Segment::Text(before.to_owned()));
            }
            draft.push(Segment::Quote {
                label: item.label,
                span,
            });
            pieces.push(ShownPiece {
                label: item.label,
                span,
                form: part.form,
                joint: joint.clone(),
            });
        }
        if !matches!(piece.form, PieceForm::Header | PieceForm::Heading) {
            let before = if piece.form == PieceForm::Code {
                "\n\n"
            } else {
                " "
            };
            draft.push(Segment::Text(before.to_owned()));
            draft.push(Segment::Cite(item.label));
        }
        last = Some(piece);
    }
    Ok(Shown {
        pieces,
        keys: passage
            .keys
            .iter()
            .filter_map(|range| ByteSpan::new(range.start, range.end))
            .collect(),
        date: passage.date,
        title: note.title.clone(),
    })
}

/// The lines of a piece, each without the marks of the block quote that it is in: inside an answer
/// they would begin a new quote. One part for a piece that is not in a quote.
fn quoted_lines(note: &NoteText, piece: &Piece) -> Vec<Piece> {
    let whole = vec![piece.clone()];
    if !matches!(piece.form, PieceForm::Text | PieceForm::Item) {
        return whole;
    }
    let text = note.slice(&piece.span);
    let mut parts = Vec::new();
    let mut start = piece.span.start;
    for line in text.split_inclusive('\n') {
        let marks = match start == piece.span.start {
            true => 0,
            false => quote_marks(line),
        };
        let words = line.get(marks..).unwrap_or("").trim_end();
        let span = start + marks..start + marks + words.len();
        start += line.len();
        if !words.is_empty() {
            let form = match parts.is_empty() {
                true => piece.form,
                false => PieceForm::Text,
            };
            parts.push(Piece { span, form });
        }
    }
    let is_quote = text.lines().skip(1).any(|line| quote_marks(line) > 0);
    if is_quote { parts } else { whole }
}

/// How many bytes of a line are marks of block quotes, with the blanks around them.
fn quote_marks(line: &str) -> usize {
    let words = line.trim_start_matches(['>', ' ', '\t']);
    let marks = line.len() - words.len();
    let has_mark = line.get(..marks).is_some_and(|marks| marks.contains('>'));
    if has_mark { marks } else { 0 }
}

/// The text between two pieces of one passage.
fn joint(note: &NoteText, last: &Piece, piece: &Piece) -> String {
    let between = note.slice(&(last.span.end..piece.span.start));
    match (last.form, piece.form) {
        (PieceForm::Header | PieceForm::Row, PieceForm::Row)
        | (PieceForm::Property, PieceForm::Property) => "\n".to_owned(),
        (PieceForm::Item | PieceForm::Text, PieceForm::Item) if !between.contains("\n\n") => {
            format!("\n{}", indent(note, piece))
        }
        (PieceForm::Item, PieceForm::Item) => format!("\n{}", indent(note, piece)),
        (_, PieceForm::Text) if !between.contains("\n\n") => " ".to_owned(),
        _ => "\n\n".to_owned(),
    }
}

/// The white space before an item on its line.
fn indent(note: &NoteText, piece: &Piece) -> String {
    let before = note.slice(&(0..piece.span.start));
    let line = before.rsplit('\n').next().unwrap_or("");
    let blank = line.chars().all(|c| matches!(c, ' ' | '\t'));
    if blank {
        line.to_owned()
    } else {
        String::new()
    }
}

fn holding<'s>(
    snapshot: &'s EvidenceSnapshot,
    note: &NoteText,
    span: &Range<usize>,
) -> Option<&'s EvidenceItem> {
    snapshot.items().iter().find(|item| {
        item.source == note.source
            && item.path == note.path
            && item.span.start() <= span.start
            && span.end <= item.span.end()
    })
}

/// Appends to the evidence the `passages` that it does not contain: one item per note and section,
/// or one for each property.
fn with_passages(notes: &[NoteText], passages: &[Passage], packed: &Packed) -> Result<Packed> {
    let mut wanted: BTreeMap<(usize, usize, usize), Range<usize>> = BTreeMap::new();
    for passage in passages {
        let Some(note) = notes.get(passage.note) else {
            continue;
        };
        for piece in &passage.pieces {
            if holding(&packed.snapshot, note, &piece.span).is_some() {
                continue;
            }
            let own = match piece.form {
                PieceForm::Property => piece.span.start,
                _ => 0,
            };
            let key = (passage.note, note.section_at(piece.span.start), own);
            let range = wanted.entry(key).or_insert(piece.span.clone());
            range.start = range.start.min(piece.span.start);
            range.end = range.end.max(piece.span.end);
        }
    }
    if wanted.is_empty() {
        return Ok(copy(packed));
    }
    let mut excerpts: Vec<Excerpt> = packed.snapshot.items().iter().map(Excerpt::from).collect();
    let mut new = Vec::new();
    for ((note, section, own), range) in wanted {
        let of = notes.get(note);
        let excerpt = of.and_then(|note| excerpt(note, section, own > 0, range));
        new.push(excerpt.ok_or_else(|| Failure::internal("a passage has no place in its file"))?);
    }
    let known = excerpts.len();
    excerpts.extend(new);
    let snapshot = EvidenceSnapshot::freeze(packed.snapshot.question(), excerpts)?;
    let mut freshness = packed.freshness.clone();
    let mut scores = packed.scores.clone();
    for item in snapshot.items().iter().skip(known) {
        // The text was just read from the file, so it is fresh.
        freshness.set(item.label, Freshness::Fresh);
        scores.push(0.0);
    }
    Ok(Packed {
        snapshot,
        freshness,
        scores,
        index_stale: packed.index_stale.clone(),
    })
}

fn copy(packed: &Packed) -> Packed {
    packed.first(packed.snapshot.items().len())
}

fn excerpt(
    note: &NoteText,
    section: usize,
    is_property: bool,
    range: Range<usize>,
) -> Option<Excerpt> {
    let heading = match is_property {
        true => HeadingPath::default(),
        false => note.sections.get(section)?.heading.clone(),
    };
    let text = note.slice(&range).to_owned();
    let sha256 = Sha256::of(text.as_bytes());
    Some(Excerpt {
        chunk_key: ChunkKey::derive(&note.source, &note.path, &heading, &sha256, 0),
        merged: Vec::new(),
        source: note.source.clone(),
        path: note.path.clone(),
        path_is_shared: note.path_is_shared,
        heading,
        span: ByteSpan::new(range.start, range.end)?,
        lines: note.lines(&range)?,
        text,
    })
}
