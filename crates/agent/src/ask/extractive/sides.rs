//! Compares two things: shows the table that contains both, or the best passage about each.

use super::choose::{Choice, around};
use super::confidence;
use super::cues;
use super::passage::{self, Passage, WHOLE_TABLE};
use super::question::{ParsedQuestion, Term};
use super::rank::{Candidate, Found, Ranked};
use super::score;
use super::units::{Form, Unit};

/// The best passages about both things; `None` if the question does not name two things.
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

/// The rows of one table about the two things that a question compares by an adjective: "which boat
/// is older, the Heron or the Gull?"; `None` if it names no two things or no table has both.
pub(super) fn in_one_table(ranked: &Ranked<'_>) -> Option<Choice> {
    if !cues::compares(&ranked.question.text.to_lowercase()) {
        return None;
    }
    let (left, right) = sides(ranked)?;
    // "Older than 10 years" compares with no other thing.
    let is_number = |term: &Term| term.word.chars().all(|c| c.is_ascii_digit());
    if left.iter().chain(&right).any(is_number) {
        return None;
    }
    Some(Choice::certain(vec![table(ranked, &left, &right)?]))
}

/// The terms of the two things, cut at the word between them.
pub(super) fn sides(ranked: &Ranked<'_>) -> Option<(Vec<Term>, Vec<Term>)> {
    let text = &ranked.question.text;
    let lower = text.to_lowercase();
    let words: Vec<&str> = cues::split(&lower).collect();
    // The last word between two terms: "the difference in price between A and B".
    let last = |list: &str| {
        (1..words.len())
            .rev()
            .find(|i| is_between_terms(&ranked.question, &words, list, *i))
    };
    // "Als" and "que" are between two things only behind an adjective that compares.
    let than = || last(cues::THAN).filter(|_| cues::compares(&lower));
    let cut = last(cues::OPPOSED)
        .or_else(than)
        .or_else(|| last(cues::SIDES))?;
    let right: Vec<Term> = words[cut + 1..]
        .iter()
        .filter_map(|w| term_of(&ranked.question, w))
        .collect();
    let before: Vec<Term> = words[..cut]
        .iter()
        .filter_map(|w| term_of(&ranked.question, w))
        .collect();
    // The compared things are next to the word between them; the rest is the criterion.
    let left = before.into_iter().rev().take(2).collect();
    let right: Vec<Term> = right.into_iter().take(2).collect();
    let left: Vec<Term> = left;
    // A word in both names does not distinguish them.
    let (one, two) = (own_terms(&left, &right), own_terms(&right, &left));
    match one.is_empty() || two.is_empty() {
        true => Some((left, right)),
        false => Some((one, two)),
    }
}

/// The terms of one side that the other does not have.
fn own_terms(side: &[Term], other: &[Term]) -> Vec<Term> {
    let own = side
        .iter()
        .filter(|t| other.iter().all(|o| o.stem != t.stem));
    own.cloned().collect()
}

/// Whether the `i`th word is in the list and between terms of the question.
fn is_between_terms(question: &ParsedQuestion, words: &[&str], list: &str, i: usize) -> bool {
    list.split(' ').any(|w| w == words[i])
        && words[..i].iter().any(|w| term_of(question, w).is_some())
        && words[i + 1..]
            .iter()
            .any(|w| term_of(question, w).is_some())
}

/// The question's term for a word.
fn term_of(question: &ParsedQuestion, word: &str) -> Option<Term> {
    let term = question
        .terms
        .iter()
        .find(|t| t.word.to_lowercase() == word);
    term.cloned()
}

fn names(unit: &Unit, side: &[Term]) -> bool {
    side.iter()
        .any(|t| score::covers(&unit.stems, t) > 0.0 || score::covers(&unit.place.stems, t) > 0.0)
}

/// A table with both things as columns, or as rows.
fn table(ranked: &Ranked<'_>, left: &[Term], right: &[Term]) -> Option<Passage> {
    let found = ranked.found;
    for candidate in ranked.order.iter().take(16) {
        let Some(unit) = found.unit(candidate.index).filter(|u| u.form == Form::Row) else {
            continue;
        };
        let all = passage::rows_beside(found, candidate.index);
        let header = unit.lead;
        let columns = header.is_some_and(|h| row_has(found, h, left) && row_has(found, h, right));
        let rows: Vec<usize> = all
            .iter()
            .copied()
            .filter(|i| row_has(found, *i, left) || row_has(found, *i, right))
            .collect();
        let both = rows.iter().any(|i| row_has(found, *i, left))
            && rows.iter().any(|i| row_has(found, *i, right));
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

/// Whether a row contains a term of the side.
fn row_has(found: Found<'_>, index: usize, side: &[Term]) -> bool {
    let unit = found.unit(index);
    unit.is_some_and(|u| side.iter().any(|t| score::covers(&u.stems, t) > 0.0))
}

/// The rows about the criterion of the comparison, or all rows of a short table if no row is about
/// it.
fn asked_rows(ranked: &Ranked<'_>, all: Vec<usize>, left: &[Term], right: &[Term]) -> Vec<usize> {
    let rows: Vec<usize> = all
        .iter()
        .copied()
        .filter(|index| has_other_term(ranked, left, right, *index))
        .collect();
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

/// Whether a row contains a term of the question that names neither side.
fn has_other_term(ranked: &Ranked<'_>, left: &[Term], right: &[Term], index: usize) -> bool {
    let mut terms = ranked
        .question
        .terms
        .iter()
        .filter(|t| !(left.contains(t) || right.contains(t)));
    ranked
        .unit(index)
        .is_some_and(|u| terms.any(|t| score::covers(&u.stems, t) > 0.0))
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
    let all = ranked
        .order
        .iter()
        .filter(|c| speaks_of(ranked, side, shown, c));
    let candidate = all.max_by(|a, b| {
        score_for_side(ranked, side, other, a)
            .total_cmp(&score_for_side(ranked, side, other, b))
            .then(b.index.cmp(&a.index))
    })?;
    around(ranked, candidate.index)
}

/// The score of a candidate by the criterion; a candidate that only names the other side loses.
fn score_for_side(ranked: &Ranked<'_>, side: &[Term], other: &[Term], c: &Candidate) -> f32 {
    let terms = ranked.question.terms.iter().zip(&c.credits.own);
    let by: Vec<f32> = terms
        .map(|(t, own)| {
            if side.contains(t) || other.contains(t) {
                0.0
            } else {
                *own
            }
        })
        .collect();
    let mixed = ranked.unit(c.index).is_some_and(|u| {
        let here = |side: &[Term]| side.iter().any(|t| score::covers(&u.stems, t) > 0.0);
        here(other) && !here(side)
    });
    let against = if mixed { COMPARED_BY } else { 0.0 };
    c.score + COMPARED_BY * score::share(&ranked.question, &by) - against
}

/// Whether a candidate names the side and is not shown yet.
fn speaks_of(ranked: &Ranked<'_>, side: &[Term], shown: &[Passage], c: &Candidate) -> bool {
    ranked
        .unit(c.index)
        .is_some_and(|u| names(u, side) && !shown.iter().any(|p| p.shows(u.note, &u.span)))
}
