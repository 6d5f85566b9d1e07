//! L6: few shared words say little against a claim all of whose values and names stand in one sentence
//! or row of the cited text.

use std::ops::Range;

use super::atoms::readings;
use super::names::is_name;
use super::numbers::equal;
use super::{Case, Extent};
use crate::atoms::{self as a, Atom, What};
use crate::reading::Reading;
use crate::text::{Token, has_stem};
use local_agent_text::markdown::BlockRole;

/// A claim with fewer values and names may share them with a sentence, or with a row of a table, by
/// chance.
const LEAST: usize = 3;
const LEAST_IN_A_ROW: usize = 2;

/// Maximum number of values and names of a claim, and of sentences of one item that are compared; both
/// bound the work on hostile text.
const MOST_MARKS: usize = 16;
const MOST_SENTENCES: usize = 400;

/// Whether one sentence or row has every value and every name of the claim, and each of these parts of
/// the claim has one of them.
pub(super) fn stands_in_one_place(case: &Case<'_>, parts: &[Range<usize>]) -> bool {
    let claim = case.claim;
    let values: Vec<&Atom> = claim.atoms.iter().take(MOST_MARKS + 1).collect();
    let is_apart = |t: &&Token| {
        let mut values = values.iter();
        !values.any(|atom| atom.bytes.start < t.end && t.start < atom.bytes.end)
    };
    let names = claim.text.tokens.iter();
    let names = names.filter(|t| is_name(t) && !t.first).filter(is_apart);
    let names: Vec<&Token> = names.take(MOST_MARKS + 1).collect();
    let marks = values.len() + names.len();
    let is_marked = |part: &Range<usize>| {
        let mut values = values.iter().map(|atom| atom.bytes.start);
        let mut names = names.iter().map(|t| t.start);
        values.any(|at| part.contains(&at)) || names.any(|at| part.contains(&at))
    };
    let counted = (LEAST_IN_A_ROW..=MOST_MARKS).contains(&marks);
    if case.extent != Extent::Sentence || !counted || !parts.iter().all(is_marked) {
        return false;
    }
    readings(case).any(|reading| {
        let sentences = 0..reading.text.sentences.len().min(MOST_SENTENCES);
        let mut sentences = sentences.into_iter();
        sentences.any(|n| {
            let sentence = reading.sentence(n);
            let is_row = sentence.is_some_and(|s| s.role == BlockRole::TableRow);
            (is_row || marks >= LEAST) && has_all(reading, n, claim, &values, &names)
        })
    })
}

fn has_all(
    reading: &Reading,
    n: usize,
    claim: &Reading,
    values: &[&Atom],
    names: &[&Token],
) -> bool {
    let (atoms, tokens) = (reading.atoms_of(n), reading.tokens_of(n));
    let has_value = |own: &&Atom| {
        atoms
            .iter()
            .any(|other| is_same(claim, own, reading, other))
    };
    names.iter().all(|t| has_stem(tokens, t.id)) && values.iter().all(has_value)
}

fn is_same(claim: &Reading, own: &Atom, reading: &Reading, other: &Atom) -> bool {
    match (&own.what, &other.what) {
        (What::Number(n), What::Number(m)) => {
            equal(n, m, reading)
                || a::same(n.value, m.value) && (n.unit.is_none() || m.unit.is_none())
        }
        (What::Date(d), What::Date(e)) => d.is_part_of(e),
        (What::Time(t), What::Time(u)) => t.agrees(*u),
        (What::Literal(_), What::Literal(_)) => claim.shown_atom(own) == reading.shown_atom(other),
        _ => false,
    }
}
