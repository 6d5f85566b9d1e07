//! L4: what a claim says of one person is not what the cited text says of another: "Dorothy asked for
//! longer hours" against "Nasreen asked for longer hours".
//!
//! One sentence of the text has most words of the claim and the name of another; the sentences with
//! the name of the claim have far fewer. Unlike `actors`, this needs no clause with every word of the
//! act, so it only doubts.

use super::actors::{is_person, one_name, people};
use super::language::{Language, supposed};
use super::passages::{Passage, Passages};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::Role;
use crate::text::{Token, has_stem};

/// Least number of words that a sentence shares with the claim, and how many fewer the sentences
/// with the name of the claim must have.
const ENOUGH: usize = 2;

/// A sentence is about what the claim says if it has this share of its words.
const ABOUT: f64 = 0.5;

/// How many sentences around may name who is meant.
const AROUND: usize = 1;

/// Finds the first name of the claim in whose place the text has another.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let cited: Vec<&Reading> = case.cited.iter().map(|s| s.reading).collect();
    // Every noun of a German sentence has a capital.
    if supposed(case.claim, case.language, &cited) == Some(Language::German) {
        return None;
    }
    let tokens = case.claim.text.tokens.as_slice();
    let clauses = tokens.chunk_by(|a, b| a.clause == b.clause);
    let mut parts = std::iter::once(tokens).chain(clauses);
    parts.find_map(|part| replaced(case, passages, part))
}

fn replaced(case: &Case<'_>, passages: &Passages<'_>, part: &[Token]) -> Option<Objection> {
    let claim = case.claim;
    let named: Vec<&Token> = people(claim, part)
        .into_iter()
        .filter(|t| !t.may_be_amount())
        .collect();
    let own = one_name(claim, &named)?;
    let is_told = case.cited.iter().any(|s| s.reading.has(own.id));
    if !is_told || case.around.has(own.id) {
        return None;
    }
    let is_counted = |t: &&Token| t.is_content_or_number() && !t.does(Role::Everyday);
    let words: Vec<&Token> = part
        .iter()
        .filter(is_counted)
        .filter(|t| !named.iter().any(|n| n.id == t.id))
        .collect();
    let best = passages
        .with(ENOUGH)
        .map(|p| (p, held(&words, p)))
        .reduce(|a, b| if b.1 > a.1 { b } else { a });
    let (passage, most) = best?;
    let with_name = passages.all.iter().filter(|p| has_stem(p.tokens(), own.id));
    let theirs = with_name.map(|p| held(&words, p)).max().unwrap_or(0);
    let is_near = Passages::share(&words, passage.tokens()) >= ABOUT;
    if !is_near || most < theirs + ENOUGH || is_named_around(passage, own) {
        return None;
    }
    let mut others = passage.tokens().iter();
    let other = others
        .find(|t| is_person(passage.reading(), t) && !t.may_be_amount() && !claim.has(t.id))?;
    let detail = Detail::Differs {
        said: claim.word(own).to_owned(),
        found: passage.reading().word(other).to_owned(),
    };
    let found = Objection::new(Code::Referent, Effect::Doubts, detail).at(own.start..own.end);
    Some(found.against(passage.source.item.label, passage.bytes()))
}

/// How many of these words a sentence has.
fn held(words: &[&Token], passage: &Passage<'_>) -> usize {
    let held = words.iter().filter(|t| has_stem(passage.tokens(), t.id));
    held.count()
}

/// Whether the sentence or its neighbours have the name.
fn is_named_around(passage: &Passage<'_>, name: &Token) -> bool {
    let reading = passage.reading();
    let mut near = passage.sentence.saturating_sub(AROUND)..passage.sentence + AROUND + 1;
    near.any(|n| has_stem(reading.tokens_of(n), name.id))
}
