//! Answers with several things: a whole list, a table, or its matching rows.

use super::choose::Choice;
use super::confidence;
use super::passage::{self, Passage, Piece, WHOLE_TABLE};
use super::rank::{Candidate, Ranked};
use super::units::{Form, Unit, leads_in};
use super::{rows, score};
use local_agent_text::markdown::BlockKind;

/// A list answers the question if the text above it covers this share of the question, …
const ASKED_ABOVE: f32 = 0.45;
/// … and no single item covers this much more.
const ITEM_ASKED: f32 = 0.35;
/// A list with more characters shows only its best items.
const LONGEST: usize = 3000;
/// A row matches if it covers this share of what the best row covers.
const ROW_MATCHES: f32 = 0.8;

/// The list or table that answers the question. Returns `None` if the best units belong to no list,
/// or none of them fits the question well enough.
pub(super) fn choose(ranked: &Ranked<'_>) -> Option<Choice> {
    let best = ranked.best()?;
    let near = ranked
        .order
        .iter()
        .take(8)
        .filter(|c| c.score >= 0.8 * best.score && c.features.unknown_name == 0.0);
    let mut listed: Vec<(f32, &Candidate, Choice)> = near
        .filter_map(|c| {
            let (above, choice) = whole(ranked, c)?;
            Some((c.score + 0.3 * above, c, choice))
        })
        .collect();
    listed.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (_, candidate, choice) = listed.into_iter().next()?;
    let certain = confidence::fits(ranked, candidate) || confidence::fits(ranked, best);
    certain.then_some(choice)
}

/// The whole list or table around a unit, and the share of the question that the text above it
/// covers.
fn whole(ranked: &Ranked<'_>, candidate: &Candidate) -> Option<(f32, Choice)> {
    let found = ranked.found;
    let unit = ranked.unit(candidate.index)?;
    let above = score::share(&ranked.question, &candidate.credits.above);
    let choice = match unit.form {
        Form::Row => table(ranked, candidate, unit)?,
        Form::Item => Choice::certain(vec![list(ranked, unit, unit.outer?)?]),
        Form::Sentence if leads_in(unit) => {
            let note = found.note_of(unit)?;
            let listed = passage::announced(found, note, unit);
            if listed.len() < 2 {
                return None;
            }
            let mut pieces = vec![passage::piece(note, unit)];
            pieces.extend(listed);
            let mut out = Passage::new(unit.note, pieces);
            out.keys.push(unit.span.clone());
            return Some((1.0, Choice::certain(vec![out])));
        }
        _ => return None,
    };
    let own = score::share(&ranked.question, &candidate.credits.own);
    let whole = above >= ASKED_ABOVE || own < above + ITEM_ASKED;
    whole.then_some((above, choice))
}

/// A list with its lead-in.
pub(super) fn list(ranked: &Ranked<'_>, unit: &Unit, outer: usize) -> Option<Passage> {
    let found = ranked.found;
    let note = found.note_of(unit)?;
    if !matches!(note.kind_of(outer), Some(BlockKind::List { .. })) {
        return None;
    }
    let items = passage::whole_block(found, unit.note, outer);
    let length: usize = items.iter().map(|p| p.span.len()).sum();
    if items.len() < 2 || length > LONGEST {
        return None;
    }
    let list = note.span_of(outer);
    let lead = passage::of_note(found, unit.note)
        .filter(|(_, u)| u.section == unit.section && u.form == Form::Sentence)
        .filter(|(_, u)| u.span.end <= list.start)
        .last()
        .filter(|(_, u)| leads_in(u));
    let mut pieces: Vec<Piece> = lead
        .map(|(_, u)| passage::piece(note, u))
        .into_iter()
        .collect();
    pieces.extend(items);
    Some(Passage::new(unit.note, pieces))
}

/// The rows of a table that match the question as well as the best one; if the question does not ask
/// for a row, all rows, of a long table the first ones and how many there are. `None` if the question has a "not" that the table does
/// not decide, or if no row meets its conditions.
fn table(ranked: &Ranked<'_>, candidate: &Candidate, unit: &Unit) -> Option<Choice> {
    let found = ranked.found;
    let header = unit.lead.and_then(|header| found.unit(header));
    let names = header.map(rows::cells).unwrap_or_default();
    let all = passage::rows_beside(found, candidate.index);
    let conditions = rows::matching(ranked, &names, all)?;
    let mut stems = rows::stems_of(&names.join(" "));
    stems.extend(unit.place.stems.iter().cloned());
    let share = |index: usize| {
        let unit = found.unit(index);
        unit.map_or(0.0, |unit| {
            rows::share_without_header(&ranked.question, unit, &stems)
        })
    };
    let all = conditions.rows;
    let best = match all.contains(&candidate.index) {
        true => share(candidate.index),
        false => all.iter().map(|i| share(*i)).fold(0.0, f32::max),
    };
    let matching: Vec<usize> = all
        .iter()
        .copied()
        .filter(|i| best > 0.0 && share(*i) >= ROW_MATCHES * best)
        .collect();
    let mut chosen = match matching.len() {
        0 => all,
        _ => matching,
    };
    if chosen.is_empty() {
        return None;
    }
    let of = chosen.len();
    if !conditions.is_decided && best == 0.0 {
        chosen.truncate(WHOLE_TABLE);
    }
    let counts = (chosen.len(), of);
    let mut out = Passage::new(unit.note, passage::rows(found, unit.lead, &chosen));
    out.keys.push(unit.span.clone());
    Some(Choice::part_of(vec![out], counts, "rows"))
}
