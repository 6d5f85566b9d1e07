//! L5: a word of the claim has its opposite in the matching statement of the cited text.

use super::nearest::{Near, Pairing, sentence};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::tables::Role;
use crate::text::Token;

/// An opposite rejects if the statements share at least `WHOLE` of the other words, or `SAME` if
/// the claim has a single statement. From `ALIKE` on, it raises a doubt.
const WHOLE: f64 = 0.9;
const SAME: f64 = 0.5;
const ALIKE: f64 = 0.25;

/// Finds words of the claim whose opposite is in a statement about the same thing.
pub(super) fn check(case: &Case<'_>, pairings: &[Pairing<'_>]) -> Vec<Objection> {
    let mut out = Vec::new();
    for pairing in pairings {
        let own = &pairing.own.tokens;
        // "A before B" and "B after A" say the same: `order` checks them.
        let opposed = own.iter().filter(|t| !t.pairs().is_empty());
        for token in opposed.filter(|t| !t.does(Role::Placing)) {
            out.extend(opposite(case, pairing, token));
        }
    }
    out.extend(beside_the_same(case));
    out.truncate(1);
    out
}

/// Maximum number of sentences of one source that contain a word and are checked.
const MOST_SENTENCES: usize = 12;

/// The objection to "debug builds" if the cited text has "release builds", and "debug" nowhere.
fn beside_the_same(case: &Case<'_>) -> Option<Objection> {
    let tokens = &case.claim.text.tokens;
    let known = |t: &Token| {
        let readings = case.cited.iter().map(|s| s.reading);
        let mut readings = readings.chain([case.around]);
        readings.any(|r| r.text.tokens.iter().any(|e| e.id == t.id || agrees(t, e)))
    };
    tokens.iter().enumerate().find_map(|(i, token)| {
        if token.pairs().is_empty() || !token.is_content() || known(token) {
            return None;
        }
        let beside = tokens.get(i + 1).filter(|t| is_beside(token, t))?;
        for source in case.cited {
            let reading = source.reading;
            for n in reading
                .sentences_with(beside.id)
                .iter()
                .take(MOST_SENTENCES)
            {
                let theirs = reading.tokens_of(*n as usize);
                let mut pairs = theirs.windows(2);
                let found = pairs.find(|pair| {
                    pair[1].id == beside.id
                        && is_beside(&pair[0], &pair[1])
                        && opposes(token, &pair[0])
                        && !case.claim.has(pair[0].id)
                });
                if let Some(pair) = found {
                    let detail = Detail::Opposite {
                        said: case.claim.word(token).to_owned(),
                        found: reading.word(&pair[0]).to_owned(),
                    };
                    let found = Objection::new(Code::Direction, Effect::Rejects, detail);
                    let bytes = reading.sentence(*n as usize)?.bytes.clone();
                    let found = found.at(token.start..token.end);
                    return Some(found.against(source.item.label, bytes));
                }
            }
        }
        None
    })
}

/// Whether two content words are in one phrase.
fn is_beside(token: &Token, next: &Token) -> bool {
    next.is_content() && next.clause == token.clause && next.start <= token.end + 1
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
    // "Anna sold it to Karl" means "Karl bought it from Anna": verb and order are both reversed.
    if token.is_converse() && super::order::is_exchanged(case.claim, token, near, other) {
        return None;
    }
    // If the claim contains the opposite word too, it does not contradict the claim.
    if case.claim.has(other.id) || near.share < ALIKE || near.share < 0.9 * best.share {
        return None;
    }
    let excepts = near
        .statement
        .tokens
        .iter()
        .any(|t| t.does(Role::Excepting));
    let rest = rest_share(pairing, near, token);
    // Only a claim with a single statement is sure to be about one case.
    let one = case.claim.statements().len() == 1;
    let whole = if one { SAME } else { WHOLE };
    let neighbours = shares_a_neighbour(case, token, near, other);
    let effect = match rest {
        r if r >= whole && neighbours && !excepts => Effect::Rejects,
        r if r >= ALIKE && neighbours => Effect::Doubts,
        _ => return None,
    };
    let detail = Detail::Opposite {
        said: case.claim.word(token).to_owned(),
        found: near.source.reading.word(other).to_owned(),
    };
    let found = Objection::new(Code::Direction, effect, detail).at(token.start..token.end);
    Some(found.against(near.source.item.label, sentence(near)?))
}

/// Whether both words have the same content word next to them.
fn shares_a_neighbour(case: &Case<'_>, own: &Token, near: &Near<'_>, other: &Token) -> bool {
    let beside = |tokens: &[Token], token: &Token| {
        let at = tokens.iter().position(|t| t.start == token.start);
        let (before, after) = at.map_or((&[][..], &[][..]), |at| {
            (
                tokens.get(..at).unwrap_or(&[]),
                tokens.get(at + 1..).unwrap_or(&[]),
            )
        });
        let left = before.iter().rev().find(|t| t.is_content()).map(|t| t.id);
        let right = after.iter().find(|t| t.is_content()).map(|t| t.id);
        [left, right]
    };
    let ours = beside(&case.claim.text.tokens, own);
    let theirs = beside(
        near.source.reading.tokens_of(near.statement.sentence),
        other,
    );
    ours.iter()
        .flatten()
        .any(|id| theirs.iter().flatten().any(|t| t == id))
}

/// The share of the other content words of the claim's statement that the near one contains.
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

/// Whether both words have the same meaning, negations included.
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

/// Whether one is the opposite of the other, both negated or neither.
fn opposes(own: &Token, other: &Token) -> bool {
    let opposite = own
        .pairs()
        .iter()
        .any(|(n, s)| other.pairs().contains(&(*n, !*s)));
    own.id != other.id && own.negated == other.negated && opposite
}
