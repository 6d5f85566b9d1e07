//! L5: the claim is as certain and as binding as the cited text.

use super::nearest::{Pairing, sentence};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::{Mood, Role};
use crate::text::Token;

/// Statements are compared if they share at least this much.
const ALIKE: f64 = 0.4;
const SAME: f64 = 0.65;

/// How binding a statement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Force {
    May,
    Should,
    Must,
}

/// Finds statements of the claim that are more or less binding than the nearest ones in the text.
pub(super) fn check(case: &Case<'_>, pairings: &[Pairing<'_>]) -> Vec<Objection> {
    let found = pairings.iter().filter_map(|pairing| compare(case, pairing));
    let found = found.chain(pairings.iter().filter_map(|pairing| surer(case, pairing)));
    found.take(1).collect()
}

/// Verbs by which somebody advises, and who does.
const ADVISING: &[&str] = list!("modality.advising");
const ADVISERS: &[&str] = list!("modality.advisers");

/// Words of duty that forbid if they are denied: "must not", "ne doit pas".
const PROHIBITING: &[&str] = list!("modality.prohibiting");

/// Words that leave open whether something is so.
const OPEN: &[&str] = list!("modality.open");

/// The doubt about a claim of one statement that is sure of what the cited text leaves open: "is caused
/// by frost" for "might be caused by frost".
fn surer(case: &Case<'_>, pairing: &Pairing<'_>) -> Option<Objection> {
    let leaves_open = |reading: &Reading, tokens: &'_ [Token]| {
        let mut tokens = tokens.iter();
        tokens.any(|t| OPEN.contains(&&*reading.lower_word(t)) || t.mood().is_some())
    };
    let best = pairing.near.first().filter(|n| n.share >= SAME)?;
    let own = case.claim.text.tokens.as_slice();
    if case.claim.statements().len() != 1 || leaves_open(case.claim, own) {
        return None;
    }
    let reading = best.source.reading;
    let tokens = best.sentence_tokens();
    let open = tokens
        .iter()
        .find(|t| OPEN.contains(&&*reading.lower_word(t)))?;
    let is_negated = tokens.iter().chain(own).any(Token::negates);
    // The open word must be in the statement itself.
    let is_in_statement = reading
        .statements()
        .iter()
        .filter(|statement| statement.own.len() > 1)
        .any(|statement| {
            let tokens = reading
                .text
                .tokens
                .get(statement.own.clone())
                .unwrap_or(&[]);
            let shared = tokens
                .iter()
                .filter(|t| t.is_content() && case.claim.has(t.id));
            tokens.iter().any(|t| t.start == open.start) && shared.count() > 1
        });
    if is_negated || !is_in_statement {
        return None;
    }
    let why = Detail::Pointer {
        why: format!(
            "The cited text leaves this open (“{}”), and the claim does not.",
            reading.word(open)
        ),
    };
    let found = Objection::new(Code::Modality, Effect::Doubts, why);
    Some(found.against(best.source.item.label, sentence(best)?))
}

fn compare(case: &Case<'_>, pairing: &Pairing<'_>) -> Option<Objection> {
    let best = pairing.near.first().filter(|n| n.share >= ALIKE)?;
    let own_tokens = case.claim.text.tokens.get(pairing.own.own.clone())?;
    let own = forces(case.claim, own_tokens);
    let (at, force) = *own.first()?;
    let mut clash = None;
    for near in &pairing.near {
        let reading = near.source.reading;
        let theirs = forces(reading, near.sentence_tokens());
        if theirs.is_empty() || theirs.iter().any(|(_, f)| *f == force) {
            return None;
        }
        clash = clash.or(theirs.first().map(|(t, f)| (near, *t, *f)));
    }
    let (near, theirs, other) = clash?;
    // "can" and "can't": `negation` checks them.
    if theirs.id == at.id {
        return None;
    }
    if (force, other) == (Force::Should, Force::Must) {
        return None;
    }
    if (force, other) == (Force::Must, Force::May) && forbids(case.claim, at, theirs) {
        return None;
    }
    // "May only be cut the next day" forbids what "must not be cut before" forbids.
    if (force, other) == (Force::May, Force::Must) && own_tokens.iter().any(is_restricting) {
        return None;
    }
    let one = case.claim.statements().len() == 1;
    let is_advice = (force, other) == (Force::Must, Force::Should) && one;
    // "May" instead of "must" drops an obligation; "must" instead of "may" is often only emphasis.
    // Only a claim with a single statement is sure to be about one case.
    let far = match (force, other) {
        (Force::May, Force::Must) => true,
        (Force::Must, Force::May) => one,
        (Force::Must, Force::Should) => is_advice,
        _ => false,
    };
    if !far || best.share < if one { ALIKE } else { SAME } {
        return None;
    }
    let detail = Detail::Differs {
        said: case.claim.word(at).to_owned(),
        found: near.source.reading.word(theirs).to_owned(),
    };
    // An advice may be meant as a duty.
    let effect = match is_advice {
        true => Effect::Doubts,
        false => Effect::Rejects,
    };
    let found = Objection::new(Code::Modality, effect, detail).at(at.start..at.end);
    Some(found.against(near.source.item.label, sentence(near)?))
}

/// Whether a word of duty forbids: "must not exceed 5 MB", where the text says "may be up to 5 MB". A
/// denial of what is allowed is for `negation` to find.
fn forbids(reading: &Reading, token: &Token, allowed: &Token) -> bool {
    PROHIBITING.contains(&&*reading.lower_word(token))
        && reading.text.tokens.iter().any(Token::negates)
        && matches!(allowed.mood(), Some(Mood::May | Mood::Can))
}

fn is_restricting(token: &Token) -> bool {
    token.does(Role::Restricting)
}

/// The binding words among some tokens; a negated one is inverted: "need not" is "may".
fn forces<'t>(reading: &Reading, tokens: &'t [Token]) -> Vec<(&'t Token, Force)> {
    let mut out = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let next = tokens.get(i + 1);
        let before = i.checked_sub(1).and_then(|at| tokens.get(at));
        let denied = [before, next].into_iter().flatten().any(Token::negates);
        let obliges = matches!(&*reading.lower_word(token), "have" | "has" | "had")
            && next.is_some_and(|t| reading.lower_word(t) == "to");
        let advises = ADVISING.contains(&&*reading.lower_word(token))
            && tokens.get(i.saturating_sub(2)..i).is_some_and(|near| {
                let mut near = near.iter();
                near.any(|t| ADVISERS.contains(&&*reading.lower_word(t)))
            });
        let force = match token.mood() {
            _ if obliges => Some(Force::Must),
            _ if advises => Some(Force::Should),
            Some(Mood::Must) => Some(Force::Must),
            Some(Mood::Should) => Some(Force::Should),
            Some(Mood::May | Mood::Can) => Some(Force::May),
            _ => None,
        };
        let force = match (force, denied) {
            // "Must not" and "may not" forbid; "need not" allows.
            (Some(Force::Must), true) if PROHIBITING.contains(&&*reading.lower_word(token)) => {
                Some(Force::Must)
            }
            (Some(Force::Must), true) => Some(Force::May),
            (Some(Force::May), true) => Some(Force::Must),
            (force, _) => force,
        };
        out.extend(force.map(|f| (token, f)));
    }
    out
}
