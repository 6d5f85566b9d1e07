//! L5: the claim has the same quantity as the cited text: all, most, some, only, none.

use super::added_modifiers::{is_idiom, is_restricted_by_time};
use super::nearest::{Near, Pairing, sentence};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::{Mood, Quantity, Role};
use crate::text::Token;

/// How much of a statement must be the same.
const ALIKE: f64 = 0.33;
const WHOLE: f64 = 0.6;

/// How much of a statement must be the same when only one side restricts it.
const RESTRICTED: f64 = 0.65;

/// Finds quantities of the claim that differ from those of its nearest statements.
pub(super) fn check(case: &Case<'_>, pairings: &[Pairing<'_>]) -> Vec<Objection> {
    let mut out: Vec<Objection> = Vec::new();
    for pairing in pairings {
        let Some(best) = pairing.near.first().filter(|n| n.share >= ALIKE) else {
            continue;
        };
        let only = own(case, pairing).iter().any(|t| is_only(case.claim, t));
        out.extend(only_of_every(case, pairing, best).filter(|_| only));
        out.extend(differs(case, pairing, best).or_else(|| restricted(case, pairing, best)));
    }
    out.truncate(1);
    out
}

fn own<'a>(case: &Case<'a>, pairing: &Pairing<'_>) -> &'a [Token] {
    let tokens = &case.claim.text.tokens;
    tokens.get(pairing.own.own.clone()).unwrap_or(&[])
}

/// The objection to "all" if the text says "some", or "none" if it says "all".
fn differs(case: &Case<'_>, pairing: &Pairing<'_>, best: &Near<'_>) -> Option<Objection> {
    let token = strict_quantity(case.claim, own(case, pairing))?;
    if is_idiom(case, token) {
        return None;
    }
    let counts = !matches!(&*case.claim.lower_word(token), "always" | "never");
    let narrows = token.quantity() == Some(Quantity::Universal) && counts;
    let restricts = case
        .claim
        .text
        .tokens
        .iter()
        .any(|t| is_only(case.claim, t));
    let mut clash: Option<(&Near<'_>, &Token)> = None;
    for near in &pairing.near {
        let reading = near.source.reading;
        let tokens = near.sentence_tokens();
        let mut quantities = tokens.iter().filter(|t| t.quantity().is_some());
        let mut alike = quantities.clone();
        if alike.any(|t| t.quantity() == token.quantity()) {
            return None;
        }
        let part = tokens.windows(2).find(|pair| is_part(reading, pair));
        let only = tokens.iter().find(|t| is_only(reading, t));
        // "In the hall only, and everybody agreed": the claim has that restriction too.
        let only = only.filter(|_| !restricts);
        let other = quantities.find(|t| !is_strict(t));
        let other = other.or(only.filter(|_| narrows));
        let other = other.or(part.and_then(|pair| pair.first()));
        clash = clash.or(other.map(|t| (near, t)));
    }
    let (near, other) = clash?;
    let effect = if best.share >= WHOLE {
        Effect::Rejects
    } else {
        Effect::Doubts
    };
    let detail = Detail::Differs {
        said: case.claim.word(token).to_owned(),
        found: near.source.reading.word(other).to_owned(),
    };
    let found = Objection::new(Code::Quantifier, effect, detail).at(token.start..token.end);
    Some(found.against(near.source.item.label, sentence(near)?))
}

fn is_only(reading: &Reading, token: &Token) -> bool {
    reading.lower_word(token) == "only"
}

/// Whether a word says all or none.
fn is_strict(token: &Token) -> bool {
    matches!(
        token.quantity(),
        Some(Quantity::Universal | Quantity::Nothing)
    )
}

/// The word that says all or none; "both", and "not at all", do not say how many.
fn strict_quantity<'t>(claim: &Reading, tokens: &'t [Token]) -> Option<&'t Token> {
    let found = tokens.iter().enumerate().find(|(i, t)| {
        let before = i.checked_sub(1).and_then(|i| tokens.get(i));
        let word = claim.lower_word(t);
        let at_all =
            word == "all" && before.is_some_and(|b| matches!(&*claim.lower_word(b), "at" | "in"));
        let next = tokens.get(i + 1).map(|t| claim.lower_word(t));
        let at_all = at_all || next.as_deref() == Some("else");
        let is_denied = before.is_some_and(Token::negates);
        is_strict(t) && !t.negated && !t.negates() && word != "both" && !at_all && !is_denied
    });
    found.map(|(_, token)| token)
}

/// The objection to "only the first" if the text has "any" or "all", and no "only".
fn only_of_every(case: &Case<'_>, pairing: &Pairing<'_>, best: &Near<'_>) -> Option<Objection> {
    let reading = best.source.reading;
    let tokens = best.sentence_tokens();
    let other = tokens
        .iter()
        .find(|t| t.quantity() == Some(Quantity::Universal) || t.does(Role::Freeing))
        .filter(|_| best.share >= ONLY)?;
    let restricted = tokens.iter().any(|t| {
        t.does(Role::Restricting) || t.does(Role::Excepting) || t.mood() == Some(Mood::Must)
    });
    let token = own(case, pairing).iter().find(|t| is_only(case.claim, t))?;
    let detail = Detail::Differs {
        said: case.claim.word(token).to_owned(),
        found: reading.word(other).to_owned(),
    };
    let found = Objection::new(Code::Quantifier, Effect::Doubts, detail);
    let found = found.at(token.start..token.end);
    Some(found.against(best.source.item.label, sentence(best)?)).filter(|_| !restricted)
}

/// How much of a statement must be the same for an "only" to narrow it.
const ONLY: f64 = 0.5;

/// Whether two words mean a part: "a third of", "part of".
fn is_part(reading: &Reading, pair: &[Token]) -> bool {
    let [part, of] = pair else { return false };
    reading.word(of) == "of" && part.does(Role::Share)
}

/// The objection to an "only" or "always" that only one side has.
fn restricted(case: &Case<'_>, pairing: &Pairing<'_>, best: &Near<'_>) -> Option<Objection> {
    let claimed = own(case, pairing).iter().find(|t| t.does(Role::Limiting));
    let close = best.share >= RESTRICTED;
    let token = claimed.filter(|_| close && !pairing.near.iter().any(has_limit))?;
    if is_restricted_by_time(case, token) || is_idiom(case, token) {
        return None;
    }
    let detail = Detail::Added {
        said: case.claim.word(token).to_owned(),
    };
    let found = Objection::new(Code::Quantifier, Effect::Doubts, detail);
    let found = found.at(token.start..token.end);
    Some(found.against(best.source.item.label, sentence(best)?))
}

fn has_limit(near: &Near<'_>) -> bool {
    let mut tokens = near.sentence_tokens().iter();
    tokens.any(|t| t.does(Role::Limiting) || narrows(t))
}

/// Whether a word restricts in another way.
fn narrows(token: &Token) -> bool {
    token.negates() || token.quantity().is_some() || token.does(Role::Narrowing)
}
