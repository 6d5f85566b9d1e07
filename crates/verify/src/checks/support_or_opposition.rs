//! L5: who is for something and who is against it.

use super::passages::{Passage, Passages};
use super::{Case, Effect, names};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::text::Token;

/// Words of those who are for something, and of those who are against it; base forms.
const FOR: &[&str] = list!("support-or-opposition.for");
const AGAINST: &[&str] = list!("support-or-opposition.against");

/// Finds a person of the claim whom the text has on the other side.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let clauses = tokens.chunk_by(|a, b| a.clause == b.clause);
    for clause in clauses {
        let Some((word, is_for)) = stance(case.claim, clause) else {
            continue;
        };
        let mut people = clause.iter().filter(|t| t.capital && t.is_content());
        let Some(person) = people.next().filter(|_| people.next().is_none()) else {
            continue;
        };
        if let Some((passage, other)) = other_side(passages, person, is_for) {
            let detail = Detail::Differs {
                said: case.claim.word(word).to_owned(),
                found: passage.reading().word(other).to_owned(),
            };
            let found = Objection::new(Code::Direction, Effect::Doubts, detail);
            let found = found.at(word.start..word.end);
            return Some(found.against(passage.source.item.label, passage.bytes()));
        }
    }
    None
}

/// The word of a clause that takes a side, and which.
fn stance<'t>(reading: &Reading, clause: &'t [Token]) -> Option<(&'t Token, bool)> {
    let (word, is_for) = clause.iter().find_map(|t| {
        let word = reading.lower_word(t);
        let is = |list: &[&str]| list.contains(&&*word);
        match (is(FOR), is(AGAINST)) {
            (true, _) => Some((t, true)),
            (_, true) => Some((t, false)),
            _ => None,
        }
    })?;
    let denials = clause.iter().filter(|t| t.negates()).count();
    Some((word, is_for != (denials % 2 == 1)))
}

/// The clause with the person that takes the other side; `None` if one takes this side.
fn other_side<'p, 'a>(
    passages: &'p Passages<'a>,
    person: &Token,
    is_for: bool,
) -> Option<(&'p Passage<'a>, &'a Token)> {
    let mut found = None;
    for passage in passages.with(1) {
        let clauses = passage.tokens().chunk_by(|a, b| a.clause == b.clause);
        for clause in clauses {
            if !clause
                .iter()
                .any(|t| t.id == person.id && (t.first || names::is_name(t)))
            {
                continue;
            }
            let Some((word, theirs)) = stance(passage.reading(), clause) else {
                continue;
            };
            if theirs == is_for {
                return None;
            }
            found = found.or(Some((passage, word)));
        }
    }
    found
}
