//! L5: the claim must not add small words that change its meaning.
//!
//! "Already", "even", "only" and "always" change how far a sentence goes, but only one of its
//! words. A paraphrase may add such a word too, so this check raises only a doubt.

use super::{Case, Effect, Source};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::tables::{Quantity, Role, Status};
use crate::text::Token;

/// The objection to the first word of the claim that goes further than every word of the cited
/// text.
pub(super) fn check(case: &Case<'_>) -> Option<Objection> {
    let tokens = &case.claim.text.tokens;
    let mut changing = tokens.iter().filter_map(|t| Some((t, code(case, t)?)));
    let (token, code) =
        changing.find(|(t, _)| !is_backed(case, t) && !is_restricted_by_time(case, t))?;
    let detail = Detail::Added {
        said: case.claim.word(token).to_owned(),
    };
    Some(Objection::new(code, Effect::Doubts, detail).at(token.start..token.end))
}

/// The code that names the change if the word is added.
fn code(case: &Case<'_>, token: &Token) -> Option<Code> {
    let quantity = token.quantity().is_some_and(|q| q != Quantity::Nothing) && token.is_content();
    match &*case.claim.lower_word(token) {
        "already" if case.cited.iter().any(is_open) => Some(Code::Status),
        _ if is_idiom(case, token) => None,
        "only" | "always" | "solely" | "exclusively" => Some(Code::Quantifier),
        "fully" | "completely" | "entirely" if quantity => Some(Code::Quantifier),
        _ => None,
    }
}

/// Whether a word means no quantity together with the word beside it: "every other week", "in all".
pub(super) fn is_idiom(case: &Case<'_>, token: &Token) -> bool {
    const BEFORE_ALL: &[&str] = list!("added-modifiers.before-all");
    const BEHIND_EVERY: &[&str] = list!("added-modifiers.behind-every");
    let claim = case.claim;
    let at = claim.text.tokens.partition_point(|t| t.start < token.start);
    let near = |at: Option<usize>| at.and_then(|at| claim.text.tokens.get(at));
    let [before, behind] = [at.checked_sub(1), Some(at + 1)].map(near);
    match &*claim.lower_word(token) {
        "all" => before.is_some_and(|t| BEFORE_ALL.contains(&&*claim.lower_word(t))),
        "every" => behind.is_some_and(|t| BEHIND_EVERY.contains(&&*claim.lower_word(t))),
        _ => false,
    }
}

/// Whether a text says of anything that it is not done.
fn is_open(source: &Source<'_>) -> bool {
    const OPEN: &[&str] = list!("added-modifiers.open");
    let reading = source.reading;
    let mut tokens = reading.text.tokens.iter();
    tokens.any(|t| {
        let status = matches!(t.status(), Some(Status::Proposed | Status::Ongoing));
        status || OPEN.contains(&&*reading.lower_word(t))
    }) || source.item.text.contains("[ ]")
}

/// Words that begin a time or a condition.
const TIMES: &[&str] = list!("added-modifiers.times");

/// Maximum number of words between "only" and the time or condition.
const NEAR: usize = 6;

/// Whether the word before a time or condition says no more than the text: "needed from the fourth
/// day" means "only from the fourth day".
pub(super) fn is_restricted_by_time(case: &Case<'_>, token: &Token) -> bool {
    if !token.does(Role::Restricting) {
        return false;
    }
    let tokens = case.claim.text.tokens.iter();
    let near = tokens.filter(|t| t.start > token.start).take(NEAR);
    let mut times = near.filter(|t| TIMES.contains(&&*case.claim.lower_word(t)));
    times.any(|time| case.cited.iter().any(|s| s.reading.has(time.id)))
}

/// Whether the cited text has the word, or one that goes equally far.
fn is_backed(case: &Case<'_>, token: &Token) -> bool {
    let readings = case.cited.iter().map(|s| s.reading);
    readings
        .chain([case.around, case.asked])
        .any(|r| r.text.tokens.iter().any(|t| goes_as_far(t, token)))
}

fn goes_as_far(other: &Token, token: &Token) -> bool {
    other.id == token.id
        || token.quantity().is_some() && other.quantity() == token.quantity()
        || restricts(token) && restricts(other)
}

fn restricts(token: &Token) -> bool {
    token.does(Role::Restricting) || token.does(Role::Excepting)
}
