//! Which units make the answer, and in what order.

use std::cmp::Reverse;
use std::ops::Range;

use super::dates;
use super::extractive::{Candidate, Ranked};
use super::score::{self, Credits};
use super::units::{self, Unit};
use super::words;
use local_agent_text::markdown::BlockRole;

/// One quote of the answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub item: usize,
    /// Bytes of the item's text.
    pub span: Range<usize>,
    /// What stands between the part before and this one.
    pub joint: &'static str,
    /// What stands between the quote and its citation; `None` for a table's header, which is cited
    /// with its row.
    pub before_cite: Option<&'static str>,
}

/// At most this many sentences are chosen for what they say.
const MAX_SENTENCES: usize = 4;
/// A longer list is not quoted as a whole: of steps, of anything else.
const MAX_STEPS: usize = 9;
const MAX_LIST: usize = 5;
/// A list is the answer when what stands above it covers this share of the question, and no item of
/// it this share.
const LIST_ASKED: f32 = 0.6;
const ITEM_ASKED: f32 = 0.7;
/// A further sentence must score this share of the best one …
const NEAR_BEST: f32 = 0.8;
/// … and add this share of the question's weight, from the same file, …
const GAIN: f32 = 0.18;
/// … this share when one thing is asked and the best one holds a thing of that kind, …
const GAIN_ANSWERED: f32 = 0.35;
/// … or cover the question as well as the best one, from another file.
const AS_WELL: f32 = 0.93;
/// A second sentence of the same file that scores this share of the best one may as well be the
/// answer.
const TIE: f32 = 0.95;
/// A word of the question that is credited with this much already is no news.
const KNOWN: f32 = 0.5;
/// Two units whose words overlap by more than this (of the shorter one's) say the same.
const SAME: f32 = 0.7;

/// The answer's parts, best first; empty when there is nothing to choose from.
pub(super) fn select(ranked: &Ranked<'_>) -> Vec<Part> {
    let Some(best) = ranked.order.first() else {
        return Vec::new();
    };
    let mut chosen = match whole_list(ranked, best) {
        Some(list) => list,
        None => sentences(ranked, best),
    };
    chosen.extend(code_beside(ranked, best, &chosen));
    lay_out(ranked, &chosen)
}

/// The list that answers as a whole: the one that the best unit is an item of, or (when steps are
/// asked for) the numbered one in its section, if headings and lead-in say what was asked and no
/// single item does.
fn whole_list(ranked: &Ranked<'_>, best: &Candidate) -> Option<Vec<usize>> {
    let units = &ranked.units;
    let unit = units.get(best.index)?;
    let steps = ranked.question.wants.steps;
    let in_section = |u: &&Unit| u.item == unit.item && u.section == unit.section;
    let list = match unit.list {
        Some(list) => list,
        None if steps => {
            units
                .iter()
                .filter(in_section)
                .find(|u| u.numbered && u.sayable)?
                .list?
        }
        None => return None,
    };
    let is_member = |u: &Unit| u.item == unit.item && u.list == Some(list) && u.sayable;
    let members: Vec<usize> = units
        .iter()
        .enumerate()
        .filter(|(_, u)| is_member(u))
        .map(|(i, _)| i)
        .collect();
    let credits = members
        .iter()
        .map(|i| Credits::of(&ranked.question, units, *i));
    let (mut above, mut own) = (0.0f32, 0.0f32);
    for credit in credits {
        above = above.max(score::share(&ranked.question, &credit.above));
        own = own.max(score::share(&ranked.question, &credit.own));
    }
    let mut blocks: Vec<usize> = members
        .iter()
        .filter_map(|i| units.get(*i))
        .map(|u| u.block)
        .collect();
    blocks.dedup();
    let most = if steps { MAX_STEPS } else { MAX_LIST };
    let fits = (2..=most).contains(&blocks.len()) && above >= LIST_ASKED && own < ITEM_ASKED;
    let lead = members
        .first()
        .and_then(|i| units.get(*i)?.lead)
        .filter(|i| units.get(*i).is_some_and(|u| u.sayable));
    fits.then(|| lead.into_iter().chain(members).collect())
}

/// The best sentence and those that add to it.
fn sentences(ranked: &Ranked<'_>, best: &Candidate) -> Vec<usize> {
    let question = &ranked.question;
    let mut chosen: Vec<&Candidate> = Vec::new();
    let mut covered = vec![0.0f32; question.terms.len()];
    let mut as_well = None;
    let answered = best.features.kind > 0.0 && !question.wants.several;
    let enough = if answered { GAIN_ANSWERED } else { GAIN };
    for candidate in &ranked.order {
        if chosen.len() >= MAX_SENTENCES
            || (candidate.score < NEAR_BEST * best.score && !chosen.is_empty())
        {
            break;
        }
        if candidate.features.empty >= 1.0
            || chosen
                .iter()
                .any(|c| same(ranked, c.index, candidate.index))
        {
            continue;
        }
        let credits = Credits::of(question, &ranked.units, candidate.index);
        // What stands around a further sentence is no reason to quote it, nor is what stands around
        // the first.
        let gain = |(c, had): (&f32, &f32)| {
            if *had >= KNOWN {
                0.0
            } else {
                (c - had).max(0.0)
            }
        };
        let gained: Vec<f32> = credits.own.iter().zip(&covered).map(gain).collect();
        let gains = score::share(question, &gained) >= enough && goes_with(ranked, best, candidate);
        let second = as_well.is_none() && says_as_well(ranked, best, candidate);
        let tie = chosen.len() == 1
            && candidate.score >= TIE * best.score
            && goes_with(ranked, best, candidate);
        if chosen.is_empty() || ((gains || second || tie) && stands_alone(ranked, best, candidate))
        {
            if second && !gains {
                as_well = Some(candidate);
            }
            covered
                .iter_mut()
                .zip(&credits.all)
                .for_each(|(had, c)| *had = had.max(*c));
            chosen.push(candidate);
        }
    }
    // Two statements about the same thing: the newer one first.
    if let ([first, ..], Some(other)) = (chosen.as_slice(), as_well)
        && let (Some(old), Some(new)) = (ranked.date(first.index), ranked.date(other.index))
        && new > old
    {
        chosen.sort_by_key(|c| Reverse(c.index == other.index));
    }
    with_neighbours(ranked, &chosen)
}

/// Whether `other` may complete `best`: out of the same file (what another file says about a part
/// of the question is mostly about something else), and not without what was asked when `best` has
/// it.
fn goes_with(ranked: &Ranked<'_>, best: &Candidate, other: &Candidate) -> bool {
    let file = |c: &Candidate| {
        ranked
            .unit(c.index)
            .and_then(|u| ranked.snapshot.items().get(u.item))
            .map(|i| (&i.source, &i.path))
    };
    file(best) == file(other) && other.features.kind >= best.features.kind
}

/// Whether a reader learns something from a further sentence: it is a whole one, or goes on with
/// the list or table of `best`.
fn stands_alone(ranked: &Ranked<'_>, best: &Candidate, other: &Candidate) -> bool {
    let (Some(first), Some(unit)) = (ranked.unit(best.index), ranked.unit(other.index)) else {
        return false;
    };
    let same_list = first.item == unit.item && first.list.is_some() && first.list == unit.list;
    let same_table =
        unit.role == BlockRole::TableRow && first.role == unit.role && first.lead == unit.lead;
    unit.ends() || same_list || same_table || unit.role == BlockRole::Code
}

/// Whether `other` covers the question as well as `best`, from another file.
fn says_as_well(ranked: &Ranked<'_>, best: &Candidate, other: &Candidate) -> bool {
    let path = |c: &Candidate| {
        ranked
            .unit(c.index)
            .and_then(|u| ranked.snapshot.items().get(u.item))
            .map(|i| &i.path)
    };
    path(best) != path(other)
        && other.features.covered >= AS_WELL * best.features.covered
        && other.features.kind >= best.features.kind
        && other.score >= AS_WELL * best.score
}

/// Whether one of two units repeats the other.
fn same(ranked: &Ranked<'_>, a: usize, b: usize) -> bool {
    let (Some(a), Some(b)) = (ranked.unit(a), ranked.unit(b)) else {
        return false;
    };
    let shared = a.stems.intersection(&b.stems).count() as f32;
    shared / a.stems.len().min(b.stems.len()).max(1) as f32 > SAME
}

/// Puts before each sentence that points back the one it points to, after each that lacks what was
/// asked the one that goes on with it, and brings the sentences of one block together in their
/// order.
fn with_neighbours(ranked: &Ranked<'_>, chosen: &[&Candidate]) -> Vec<usize> {
    let mut out: Vec<usize> = Vec::new();
    for candidate in chosen {
        let Some(unit) = ranked.unit(candidate.index) else {
            continue;
        };
        let sayable = |i: &usize| ranked.unit(*i).is_some_and(|u| u.sayable);
        let before = unit
            .before
            .filter(|i| words::points_back(&unit.plain) && sayable(i));
        let goes_on = |i: &usize| {
            let next = ranked
                .unit(*i)
                .filter(|next| next.before == Some(candidate.index));
            sayable(i) && next.is_some_and(|next| score::kind(&ranked.question, next) > 0.0)
        };
        let after =
            Some(candidate.index + 1).filter(|i| candidate.features.kind < 0.0 && goes_on(i));
        for index in before.into_iter().chain([candidate.index]).chain(after) {
            if !out.contains(&index) {
                let place = place_among(ranked, &out, index);
                out.insert(place, index);
            }
        }
    }
    out
}

/// Where a unit goes: beside its neighbours of the same block, else to the end.
fn place_among(ranked: &Ranked<'_>, out: &[usize], index: usize) -> usize {
    let near = |other: &usize| match (ranked.unit(*other), ranked.unit(index)) {
        (Some(a), Some(b)) => a.item == b.item && a.block == b.block,
        _ => false,
    };
    let ahead = out.iter().position(|other| near(other) && *other > index);
    ahead
        .or(out.iter().rposition(near).map(|p| p + 1))
        .unwrap_or(out.len())
}

/// The code block in the best unit's section, when a command or steps are asked for and the section
/// is about them.
fn code_beside(ranked: &Ranked<'_>, best: &Candidate, chosen: &[usize]) -> Option<usize> {
    let wants = ranked.question.wants;
    let unit = ranked.unit(best.index)?;
    let beside = |u: &Unit| {
        u.item == unit.item && u.section == unit.section && u.role == BlockRole::Code && u.sayable
    };
    let above = score::share(
        &ranked.question,
        &Credits::of(&ranked.question, &ranked.units, best.index).above,
    );
    let asked = (wants.code || wants.steps) && above >= LIST_ASKED && unit.role != BlockRole::Code;
    let code = ranked
        .units
        .iter()
        .enumerate()
        .filter(|(i, u)| *i > best.index && beside(u))
        .map(|(i, _)| i)
        .next();
    code.filter(|i| asked && !chosen.contains(i))
}

/// Units → parts: list marks, table headers, joints.
fn lay_out(ranked: &Ranked<'_>, chosen: &[usize]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut last: Option<&Unit> = None;
    for index in chosen {
        let Some(unit) = ranked.unit(*index) else {
            continue;
        };
        let Some(item) = ranked.snapshot.items().get(unit.item) else {
            continue;
        };
        let beside = last.filter(|l| l.item == unit.item);
        let same_block = beside.is_some_and(|l| l.block == unit.block);
        if same_block && unit.before == index.checked_sub(1) && follows(chosen, *index) {
            if let Some(part) = parts.last_mut() {
                part.span.end = unit.span.end;
            }
            last = Some(unit);
            continue;
        }
        let same_list = beside.is_some_and(|l| l.list.is_some() && l.list == unit.list);
        let is_row = unit.role == BlockRole::TableRow;
        let same_table =
            is_row && beside.is_some_and(|l| l.role == BlockRole::TableRow && l.lead == unit.lead);
        let mut joint = match (last, same_block, same_list || same_table) {
            (None, _, _) => "",
            (_, true, _) => " ",
            (_, _, true) => "\n",
            _ => "\n\n",
        };
        if is_row
            && !same_table
            && let Some(header) = unit.lead.and_then(|i| ranked.unit(i))
        {
            parts.push(Part {
                item: unit.item,
                span: header.span.clone(),
                joint,
                before_cite: None,
            });
            joint = "\n";
        }
        let in_list = |i: &usize| {
            ranked.unit(*i).is_some_and(|u| {
                u.item == unit.item && u.list == unit.list && u.block != unit.block
            })
        };
        let listed = unit.list.is_some() && !same_block && chosen.iter().any(in_list);
        let start = if listed {
            units::with_mark(&item.text, unit.span.start)
        } else {
            unit.span.start
        };
        let before_cite = Some(if unit.role == BlockRole::Code {
            "\n\n"
        } else {
            " "
        });
        parts.push(Part {
            item: unit.item,
            span: start..unit.span.end,
            joint,
            before_cite,
        });
        last = Some(unit);
    }
    parts
}

/// Whether the unit before `index` in the file stands before it in the answer too.
fn follows(chosen: &[usize], index: usize) -> bool {
    let at = chosen.iter().position(|i| *i == index);
    at.and_then(|at| at.checked_sub(1))
        .and_then(|at| chosen.get(at))
        .copied()
        == index.checked_sub(1)
}

impl Ranked<'_> {
    /// The latest day that a unit names, or else its headings and file name.
    fn date(&self, index: usize) -> Option<dates::Day> {
        let unit = self.unit(index)?;
        let item = self.snapshot.items().get(unit.item)?;
        let place = || dates::latest(&format!("{} {}", item.path, item.heading));
        dates::latest(&unit.plain).or_else(place)
    }
}
