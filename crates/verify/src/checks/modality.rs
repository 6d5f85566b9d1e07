//! L5: the claim is as certain and as binding as the cited text.

use super::nearest::{Pairing, sentence};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::Mood;
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
    found.take(1).collect()
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
    // "May" instead of "must" drops an obligation; "must" instead of "may" is often only emphasis.
    // Only a claim with a single statement is sure to be about one case.
    let one = case.claim.statements().len() == 1;
    let far = match (force, other) {
        (Force::May, Force::Must) => true,
        (Force::Must, Force::May) => one,
        _ => false,
    };
    if !far || best.share < if one { ALIKE } else { SAME } {
        return None;
    }
    let detail = Detail::Differs {
        said: case.claim.word(at).to_owned(),
        found: near.source.reading.word(theirs).to_owned(),
    };
    let found = Objection::new(Code::Modality, Effect::Rejects, detail).at(at.start..at.end);
    Some(found.against(near.source.item.label, sentence(near)?))
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
        let force = match token.mood() {
            _ if obliges => Some(Force::Must),
            Some(Mood::Must) => Some(Force::Must),
            Some(Mood::Should) => Some(Force::Should),
            Some(Mood::May | Mood::Can) => Some(Force::May),
            _ => None,
        };
        let force = match (force, denied) {
            (Some(Force::Must), true) => Some(Force::May),
            (Some(Force::May), true) => Some(Force::Must),
            (force, _) => force,
        };
        out.extend(force.map(|f| (token, f)));
    }
    out
}
