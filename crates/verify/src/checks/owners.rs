//! L4: a name of the claim stands in the cited text, but beside other words: where the text has the
//! words of the claim, it has another name.
//!
//! It is like [`super::actors`], for claims in freer wording, and raises only a doubt.

use super::passages::{Passage, Passages};
use super::{Case, Effect, actors};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::tables::Role;
use crate::text::{Token, has_stem};

/// A clause of the text is about the claim's clause if it has this share of its other words, and at
/// least this many.
const ABOUT: f64 = 0.5;
const LEAST: usize = 2;

/// Finds the first name of the claim in whose place the text has another.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let mut clauses = tokens.chunk_by(|a, b| a.clause == b.clause);
    clauses.find_map(|clause| in_clause(case, passages, clause))
}

fn in_clause(case: &Case<'_>, passages: &Passages<'_>, clause: &[Token]) -> Option<Objection> {
    let people = actors::people(case.claim, clause);
    let own = actors::one_name(case.claim, &people)?;
    if !case.cited.iter().any(|s| s.reading.has(own.id)) {
        return None;
    }
    let act: Vec<&Token> = clause
        .iter()
        .filter(|t| t.is_content_or_number() && !t.does(Role::Everyday))
        .filter(|t| !people.iter().any(|p| p.start == t.start))
        .collect();
    if act.len() < LEAST {
        return None;
    }
    let mut found: Option<(&Passage<'_>, &Token)> = None;
    for passage in passages.with(LEAST) {
        let parts = passage.tokens().chunk_by(|a, b| a.clause == b.clause);
        let best = parts
            .map(|part| (part, Passages::share(&act, part)))
            .reduce(|a, b| if b.1 > a.1 { b } else { a });
        let Some((part, share)) = best else { continue };
        if share < ABOUT || act.iter().filter(|t| has_stem(part, t.id)).count() < LEAST {
            continue;
        }
        let reading = passage.reading();
        let around = passage.sentence.saturating_sub(1)..passage.sentence + 2;
        if around
            .clone()
            .any(|n| has_stem(reading.tokens_of(n), own.id))
        {
            return None;
        }
        let other = part
            .iter()
            .rfind(|t| actors::is_person(reading, t) && !case.claim.has(t.id));
        found = found.or(other.map(|other| (passage, other)));
    }
    let (passage, other) = found?;
    if case.around.has(own.id) {
        return None;
    }
    let detail = Detail::Differs {
        said: case.claim.word(own).to_owned(),
        found: passage.reading().word(other).to_owned(),
    };
    let found = Objection::new(Code::Referent, Effect::Doubts, detail).at(own.start..own.end);
    Some(found.against(passage.source.item.label, passage.bytes()))
}
