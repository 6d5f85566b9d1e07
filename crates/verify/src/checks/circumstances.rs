//! L4: where, with whom or by whom something happens. "The bread keeps in a tin" does not support
//! "The bread keeps in the fridge", although the fridge is spoken of elsewhere.

use super::passages::{Passage, Passages};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::Role;
use crate::text::{Token, has_stem};

/// Words that begin such a phrase; those of one list stand for each other.
const PLACES: &[&str] = list!("circumstances.places");
const COMPANY: &[&str] = list!("circumstances.company");
const DOERS: &[&str] = list!("circumstances.doers");

/// Words inside such a phrase that carry no content.
const INSIDE: &[&str] = list!("circumstances.inside");

/// A clause is about the same thing if it has this share of the claim's other words, and at least
/// this many of them.
const ABOUT: f64 = 0.66;
const LEAST: usize = 2;

/// Maximum number of words of a phrase.
const LONGEST: usize = 5;

/// Finds a phrase of the claim in whose place the text has another one.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    if tokens.iter().any(Token::negates) {
        return None;
    }
    (0..tokens.len()).find_map(|at| replaced(case, passages, at))
}

fn list_of(reading: &Reading, token: &Token) -> Option<&'static [&'static str]> {
    let word = reading.lower_word(token);
    let lists: [&'static [&'static str]; 3] = [PLACES, COMPANY, DOERS];
    lists.into_iter().find(|list| list.contains(&&*word))
}

/// The words with content of the phrase that begins at `at`.
fn object<'t>(reading: &Reading, tokens: &'t [Token], at: usize) -> Vec<&'t Token> {
    let Some(cue) = tokens.get(at) else {
        return Vec::new();
    };
    let behind = tokens.iter().skip(at + 1).take(LONGEST);
    let behind = behind.take_while(|t| {
        t.clause == cue.clause && (t.is_content() || INSIDE.contains(&&*reading.lower_word(t)))
    });
    behind.filter(|t| t.is_content()).collect()
}

fn replaced(case: &Case<'_>, passages: &Passages<'_>, at: usize) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let list = list_of(case.claim, tokens.get(at)?)?;
    let own = object(case.claim, tokens, at);
    let (first, last) = (own.first()?, own.last()?);
    if own
        .iter()
        .any(|t| t.number || t.may_be_amount() || t.does(Role::Everyday))
    {
        return None;
    }
    let cue = tokens.get(at)?;
    let others: Vec<&Token> = tokens
        .iter()
        .filter(|t| t.clause == cue.clause && t.is_content_or_number())
        .filter(|t| !own.iter().any(|o| o.id == t.id))
        .collect();
    if others.len() < LEAST {
        return None;
    }
    let mut found: Option<(&Passage<'_>, String)> = None;
    for passage in passages.with(LEAST) {
        let reading = passage.reading();
        let clause = best_clause(passage, &others)?;
        if Passages::share(&others, clause) < ABOUT {
            continue;
        }
        let around = passage.sentence.saturating_sub(1)..passage.sentence + 2;
        if own
            .iter()
            .any(|t| around.clone().any(|n| has_stem(reading.tokens_of(n), t.id)))
        {
            return None;
        }
        let other = (0..clause.len()).find_map(|i| {
            let cue = clause
                .get(i)
                .filter(|t| list.contains(&&*reading.lower_word(t)))?;
            let theirs = object(reading, clause, i);
            let last = theirs.last()?;
            let is_new = theirs
                .iter()
                .all(|t| !case.claim.has(t.id) && !t.number && !t.may_be_amount());
            let text = reading.normal.get(cue.start..last.end).unwrap_or("");
            is_new.then(|| text.to_owned())
        })?;
        found = found.or(Some((passage, other)));
    }
    let (passage, other) = found?;
    let said = case.claim.normal.get(cue.start..last.end).unwrap_or("");
    let detail = Detail::Differs {
        said: said.to_owned(),
        found: other,
    };
    let found = Objection::new(Code::Referent, Effect::Doubts, detail).at(first.start..last.end);
    Some(found.against(passage.source.item.label, passage.bytes()))
}

/// The clause of a sentence with most of these words.
fn best_clause<'a>(passage: &Passage<'a>, words: &[&Token]) -> Option<&'a [Token]> {
    let clauses = passage.tokens().chunk_by(|a, b| a.clause == b.clause);
    let mut best: Option<(&'a [Token], f64)> = None;
    for clause in clauses {
        let share = Passages::share(words, clause);
        if best.is_none_or(|(_, most)| share > most) {
            best = Some((clause, share));
        }
    }
    best.map(|(clause, _)| clause)
}
