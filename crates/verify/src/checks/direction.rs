//! L5: a word of the claim has its opposite in the statement of the cited text that says the same.

use super::nearest::{Near, Pairing, sentence};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::text::Token;

/// How much of the rest of a statement must be the same to reject, and to doubt.
const SAME: f64 = 0.5;
const ALIKE: f64 = 0.25;

/// Opposites in statements that are about the same thing.
pub fn check(case: &Case<'_>, pairings: &[Pairing<'_>]) -> Vec<Objection> {
    let mut out = Vec::new();
    for pairing in pairings {
        let own = &pairing.own.tokens;
        // "A before B" and "B after A" are one: `order` looks at them.
        let orders = |t: &&Token| {
            let word = case.claim.word(t);
            matches!(
                word,
                "before" | "after" | "above" | "below" | "over" | "under" | "prior"
            )
        };
        let opposed = own.iter().filter(|t| !t.pairs().is_empty());
        for token in opposed.filter(|t| !orders(t)) {
            out.extend(opposite(case, pairing, token));
        }
    }
    out.truncate(1);
    out
}

fn opposite(case: &Case<'_>, pairing: &Pairing<'_>, token: &Token) -> Option<Objection> {
    let best = pairing.near.first()?;
    let mut opposed: Option<(&Near<'_>, &Token)> = None;
    for near in &pairing.near {
        let tokens = near.source.reading.tokens_of(near.statement.sentence);
        if tokens.iter().any(|e| agrees(token, e)) {
            return None;
        }
        let other = near.statement.tokens.iter().find(|e| opposes(token, e));
        opposed = opposed.or(other.map(|e| (near, e)));
    }
    let (near, other) = opposed?;
    // "Anna sold it to Karl" is "Karl bought it from Anna": the two have exchanged their places.
    if token.is_converse() && super::order::is_exchanged(case.claim, token, near, other) {
        return None;
    }
    // The opposite of a word that the claim has too is no opposite of the claim.
    if case.claim.has(other.id) || near.share < ALIKE || near.share < 0.9 * best.share {
        return None;
    }
    let excepts = near.statement.tokens.iter().any(|t| {
        matches!(
            near.source.reading.word(t),
            "except" | "excluding" | "unless" | "but"
        )
    });
    let rest = rest_share(pairing, near, token);
    let effect = match rest {
        r if r >= ALIKE && excepts => Effect::Doubts,
        r if r >= SAME => Effect::Rejects,
        r if r >= ALIKE => Effect::Doubts,
        _ => return None,
    };
    let detail = Detail::Opposite {
        said: case.claim.word(token).to_owned(),
        found: near.source.reading.word(other).to_owned(),
    };
    let found = Objection::new(Code::Direction, effect, detail).at(token.start..token.end);
    Some(found.against(near.source.item.label, sentence(near)?))
}

/// The share of the other content words of the claim's statement that the near one holds.
fn rest_share(pairing: &Pairing<'_>, near: &Near<'_>, token: &Token) -> f64 {
    let rest: Vec<u32> = pairing
        .own
        .tokens
        .iter()
        .filter(|t| t.id != token.id && (t.is_content() || t.number))
        .map(|t| t.id)
        .collect();
    if rest.len() < 2 {
        return 0.0;
    }
    let held = rest
        .iter()
        .filter(|id| near.statement.tokens.iter().any(|e| e.id == **id))
        .count();
    if held < 2 {
        return 0.0;
    }
    super::ratio(held, rest.len())
}

/// Whether both words say the same, negations included.
fn agrees(own: &Token, other: &Token) -> bool {
    let pairs = |side: bool| {
        own.pairs()
            .iter()
            .any(|(n, s)| other.pairs().contains(&(*n, *s == side)))
    };
    own.id == other.id
        || own.negated == other.negated && pairs(true)
        || own.negated != other.negated && pairs(false)
}

/// Whether one says the opposite of the other, both negated or neither.
fn opposes(own: &Token, other: &Token) -> bool {
    let opposite = own
        .pairs()
        .iter()
        .any(|(n, s)| other.pairs().contains(&(*n, !*s)));
    own.id != other.id && own.negated == other.negated && opposite
}
