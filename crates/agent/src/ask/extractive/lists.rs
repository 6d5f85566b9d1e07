//! Answers with several things: a whole list, a table, or its matching rows.

use super::choose::Choice;
use super::confidence;
use super::passage::{self, Passage, Piece, WHOLE_TABLE};
use super::rank::{Candidate, Ranked};
use super::score;
use super::units::{Form, Unit, leads_in};
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
    let mut listed: Vec<(f32, &Candidate, Passage)> = near
        .filter_map(|c| {
            let (above, passage) = whole(ranked, c)?;
            Some((c.score + 0.3 * above, c, passage))
        })
        .collect();
    listed.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (_, candidate, passage) = listed.into_iter().next()?;
    let certain = confidence::fits(ranked, candidate) || confidence::fits(ranked, best);
    certain.then(|| Choice::certain(vec![passage]))
}

/// The whole list or table around a unit, and the share of the question that the text above it
/// covers.
fn whole(ranked: &Ranked<'_>, candidate: &Candidate) -> Option<(f32, Passage)> {
    let found = ranked.found;
    let unit = ranked.unit(candidate.index)?;
    let above = score::share(&ranked.question, &candidate.credits.above);
    let passage = match unit.form {
        Form::Row => table(ranked, candidate, unit)?,
        Form::Item => list(ranked, unit, unit.outer?)?,
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
            return Some((1.0, out));
        }
        _ => return None,
    };
    let own = score::share(&ranked.question, &candidate.credits.own);
    let whole = above >= ASKED_ABOVE || own < above + ITEM_ASKED;
    whole.then_some((above, passage))
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

/// The rows of a table that match the question as well as the best one; all rows of a short table
/// if the question does not ask for a row.
fn table(ranked: &Ranked<'_>, candidate: &Candidate, unit: &Unit) -> Option<Passage> {
    let found = ranked.found;
    let all = passage::rows_beside(found, candidate.index);
    let best = own_without_header(ranked, candidate);
    let matching: Vec<usize> = all
        .iter()
        .copied()
        .filter(|i| best > 0.0 && row_share(ranked, *i).unwrap_or(0.0) >= ROW_MATCHES * best)
        .collect();
    let chosen = match matching.len() {
        0 if all.len() <= WHOLE_TABLE => all,
        0 => vec![candidate.index],
        _ => matching,
    };
    let mut out = Passage::new(unit.note, passage::rows(found, unit.lead, &chosen));
    out.keys.push(unit.span.clone());
    Some(out)
}

/// How well a row of the table matches by its own cells.
fn row_share(ranked: &Ranked<'_>, index: usize) -> Option<f32> {
    let row = ranked.order.iter().find(|c| c.index == index)?;
    Some(own_without_header(ranked, row))
}

/// The share of the question that the row's own cells cover.
fn own_without_header(ranked: &Ranked<'_>, candidate: &Candidate) -> f32 {
    let Some(unit) = ranked.unit(candidate.index) else {
        return 0.0;
    };
    let own: Vec<f32> = ranked
        .question
        .terms
        .iter()
        .map(|term| score::covers(&unit.stems, term))
        .collect();
    score::share(&ranked.question, &own)
}
