//! Two things compared: the table that contains both, or the best passage about each.

use super::choose::{Choice, around};
use super::confidence;
use super::cues;
use super::passage::{self, Passage, WHOLE_TABLE};
use super::question::Term;
use super::rank::{Candidate, Ranked};
use super::score;
use super::units::{Form, Unit};

/// Words that only come between two compared things.
const OPPOSED: &str = "versus vs from than gegenüber";

/// Both sides, with what the notes say about each; `None` when the question does not name two
/// things.
pub(super) fn choose(ranked: &Ranked<'_>) -> Option<Choice> {
    let (left, right) = sides(ranked)?;
    if let Some(table) = table(ranked, &left, &right) {
        return Some(Choice::certain(vec![table]));
    }
    let both = ranked.order.iter().take(6).find(|c| {
        ranked
            .unit(c.index)
            .is_some_and(|u| names(u, &left) && names(u, &right))
    });
    if let Some(both) = both.filter(|c| confidence::fits(ranked, c)) {
        let mut out = vec![around(ranked, both.index)?];
        for sides in [(&left, &right), (&right, &left)] {
            out.extend(best_of(ranked, sides, &out));
        }
        return Some(Choice::certain(out));
    }
    let mut out: Vec<Passage> = Vec::new();
    for (side, other) in [(&left, &right), (&right, &left)] {
        let passage = best_of(ranked, (side, other), &out)?;
        out.push(passage);
    }
    Some(Choice::certain(out))
}

/// The terms of the two things, cut at the word between them.
fn sides(ranked: &Ranked<'_>) -> Option<(Vec<Term>, Vec<Term>)> {
    let text = &ranked.question.text;
    let lower = text.to_lowercase();
    let words: Vec<&str> = cues::split(&lower).collect();
    let is_term = |word: &str| {
        let term = ranked
            .question
            .terms
            .iter()
            .find(|t| t.word.to_lowercase() == word);
        term.cloned()
    };
    // The last word between two terms: "the difference in price between A and B".
    let between = |list: &str, i: usize| {
        list.split(' ').any(|w| w == words[i])
            && words[..i].iter().any(|w| is_term(w).is_some())
            && words[i + 1..].iter().any(|w| is_term(w).is_some())
    };
    let last = |list: &str| (1..words.len()).rev().find(|i| between(list, *i));
    let cut = last(OPPOSED).or_else(|| last(cues::SIDES))?;
    let right: Vec<Term> = words[cut + 1..].iter().filter_map(|w| is_term(w)).collect();
    let before: Vec<Term> = words[..cut].iter().filter_map(|w| is_term(w)).collect();
    // The compared things are next to the word between them; the rest is the criterion.
    let left = before.into_iter().rev().take(2).collect();
    let right: Vec<Term> = right.into_iter().take(2).collect();
    let left: Vec<Term> = left;
    // A word in both names does not distinguish them.
    let shared = |side: &[Term], other: &[Term]| -> Vec<Term> {
        let own = side
            .iter()
            .filter(|t| other.iter().all(|o| o.stem != t.stem));
        own.cloned().collect()
    };
    let (one, two) = (shared(&left, &right), shared(&right, &left));
    match one.is_empty() || two.is_empty() {
        true => Some((left, right)),
        false => Some((one, two)),
    }
}

fn names(unit: &Unit, side: &[Term]) -> bool {
    side.iter()
        .any(|t| score::covers(&unit.stems, t) > 0.0 || score::covers(&unit.place.stems, t) > 0.0)
}

/// A table with both things as columns, or as rows.
fn table(ranked: &Ranked<'_>, left: &[Term], right: &[Term]) -> Option<Passage> {
    let found = ranked.found;
    let holds = |index: usize, side: &[Term]| {
        let unit = found.unit(index);
        unit.is_some_and(|u| side.iter().any(|t| score::covers(&u.stems, t) > 0.0))
    };
    for candidate in ranked.order.iter().take(16) {
        let Some(unit) = found.unit(candidate.index).filter(|u| u.form == Form::Row) else {
            continue;
        };
        let all = passage::rows_beside(found, candidate.index);
        let header = unit.lead;
        let columns = header.is_some_and(|h| holds(h, left) && holds(h, right));
        let rows: Vec<usize> = all
            .iter()
            .copied()
            .filter(|i| holds(*i, left) || holds(*i, right))
            .collect();
        let both = rows.iter().any(|i| holds(*i, left)) && rows.iter().any(|i| holds(*i, right));
        let chosen = match (columns, both) {
            (true, _) => asked_rows(ranked, all, left, right),
            (_, true) if rows.len() <= WHOLE_TABLE => rows,
            _ => continue,
        };
        let mut out = Passage::new(unit.note, passage::rows(found, header, &chosen));
        out.keys.push(unit.span.clone());
        return Some(out);
    }
    None
}

/// The rows about the criterion of the comparison; all rows of a short table if there are none.
fn asked_rows(ranked: &Ranked<'_>, all: Vec<usize>, left: &[Term], right: &[Term]) -> Vec<usize> {
    let is_side = |t: &Term| left.contains(t) || right.contains(t);
    let asked = |index: &usize| {
        let mut terms = ranked.question.terms.iter().filter(|t| !is_side(t));
        ranked
            .unit(*index)
            .is_some_and(|u| terms.any(|t| score::covers(&u.stems, t) > 0.0))
    };
    let rows: Vec<usize> = all.iter().copied().filter(asked).collect();
    match rows.is_empty() {
        true if all.len() <= WHOLE_TABLE => all,
        true => {
            let found = ranked.order.iter().map(|c| c.index);
            found
                .filter(|i| all.contains(i))
                .take(WHOLE_TABLE)
                .collect()
        }
        false => rows,
    }
}

/// The bonus for a unit that mentions the criterion.
const COMPARED_BY: f32 = 0.5;

/// The best passage about one side and not the other that is not shown yet, preferring those about
/// the criterion.
fn best_of(
    ranked: &Ranked<'_>,
    (side, other): (&Vec<Term>, &Vec<Term>),
    shown: &[Passage],
) -> Option<Passage> {
    let speaks = |c: &&Candidate| {
        ranked
            .unit(c.index)
            .is_some_and(|u| names(u, side) && !shown.iter().any(|p| p.shows(u.note, &u.span)))
    };
    let is_side = |t: &Term| side.contains(t) || other.contains(t);
    let weigh = |c: &Candidate| {
        let terms = ranked.question.terms.iter().zip(&c.credits.own);
        let by: Vec<f32> = terms
            .map(|(t, own)| if is_side(t) { 0.0 } else { *own })
            .collect();
        let mixed = ranked.unit(c.index).is_some_and(|u| {
            let here = |side: &[Term]| side.iter().any(|t| score::covers(&u.stems, t) > 0.0);
            here(other) && !here(side)
        });
        let against = if mixed { COMPARED_BY } else { 0.0 };
        c.score + COMPARED_BY * score::share(&ranked.question, &by) - against
    };
    let all = ranked.order.iter().filter(speaks);
    let candidate = all.max_by(|a, b| weigh(a).total_cmp(&weigh(b)).then(b.index.cmp(&a.index)))?;
    around(ranked, candidate.index)
}
