//! L4: of two dates that a claim puts some time apart, the earlier one is earlier in the cited text too:
//! "paid twelve days before the trip".

use std::collections::HashSet;

use super::durations::{Point, is_time, points};
use super::{Case, Effect};
use crate::Code;
use crate::atoms::{Atom, What};
use crate::reading::Reading;
use crate::text::Token;

/// What a claim says: the first thing is before or after the second.
struct Sequence {
    first: HashSet<u32>,
    second: HashSet<u32>,
    is_before: bool,
}

/// The doubt about two dates in the wrong order.
pub(super) fn check(case: &Case<'_>) -> Option<(Effect, Code, String)> {
    let mut atoms = case.claim.atoms.iter();
    let sequence = atoms.find_map(|atom| sequence(case.claim, atom))?;
    let all = points(case);
    let first = only_of(&all, &sequence.first, &sequence.second)?;
    let second = only_of(&all, &sequence.second, &sequence.first)?;
    let days = first.days_after(second)?;
    let agrees = match sequence.is_before {
        true => days <= 0.0,
        false => days >= 0.0,
    };
    (!agrees).then(|| {
        let (first, second) = (first.shown, second.shown);
        let why = format!("The claim puts “{first}” and “{second}” in the wrong order.");
        (Effect::Doubts, Code::Date, why)
    })
}

/// The only date or time that belongs to one of these words and to none of the others.
fn only_of<'p, 't>(
    all: &'p [Point<'t>],
    words: &HashSet<u32>,
    others: &HashSet<u32>,
) -> Option<&'p Point<'t>> {
    let mut found = all.iter().filter(|point| {
        let own = point
            .thing
            .iter()
            .any(|id| words.contains(id) && !others.contains(id));
        let other = point
            .thing
            .iter()
            .any(|id| others.contains(id) && !words.contains(id));
        own && !other
    });
    let first = found.next();
    first.filter(|_| found.next().is_none())
}

/// Reads "… twelve days before …" with nothing between the duration and "before".
fn sequence(claim: &Reading, atom: &Atom) -> Option<Sequence> {
    const BEFORE: &[&str] = list!("sequence.before");
    const AFTER: &[&str] = list!("sequence.after");
    let What::Number(n) = &atom.what else {
        return None;
    };
    let tokens = claim.text.tokens.as_slice();
    let word = claim.lower_word(tokens.get(atom.tokens.end)?);
    let is_before = BEFORE.contains(&&*word);
    let fits = n.unit.is_some_and(is_time) && (is_before || AFTER.contains(&&*word));
    if !fits || tokens.iter().any(Token::negates) {
        return None;
    }
    Some(Sequence {
        first: ids(tokens.get(..atom.tokens.start)?),
        second: ids(tokens.get(atom.tokens.end + 1..)?),
        is_before,
    })
}

fn ids(tokens: &[Token]) -> HashSet<u32> {
    let words = tokens.iter().filter(|t| t.is_content() && !t.number);
    words.map(|t| t.id).collect()
}
