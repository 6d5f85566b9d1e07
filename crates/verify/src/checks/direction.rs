//! L5: a word of the claim has its opposite in the matching statement of the cited text.

use super::atoms::readings;
use super::nearest::{Near, Pairing, sentence};
use super::things::computes;
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

const WITHOUT: &[&str] = list!("negation.without");

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
    let pairs = case.claim.text.tokens.windows(2);
    let mut phrases = pairs.filter(|pair| is_beside(&pair[0], &pair[1]));
    phrases.find_map(|pair| opposite_beside(case, &pair[0], &pair[1]))
}

/// The opposite of an unknown word before the word that follows it.
fn opposite_beside(case: &Case<'_>, token: &Token, beside: &Token) -> Option<Objection> {
    if token.pairs().is_empty() || !token.is_content() || is_known(case, token) {
        return None;
    }
    for source in case.cited {
        let reading = source.reading;
        let sentences = reading.sentences_with(beside.id).iter();
        for n in sentences.take(MOST_SENTENCES) {
            let mut pairs = reading.tokens_of(*n as usize).windows(2);
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
}

/// Whether the cited text or its headings have the word, or one that means the same.
fn is_known(case: &Case<'_>, token: &Token) -> bool {
    let mut tokens = readings(case).flat_map(|r| &r.text.tokens);
    tokens.any(|other| other.id == token.id || agrees(token, other))
}

/// Whether two content words are in one phrase.
fn is_beside(token: &Token, next: &Token) -> bool {
    next.is_content() && next.clause == token.clause && next.start <= token.end + 1
}

fn opposite(case: &Case<'_>, pairing: &Pairing<'_>, token: &Token) -> Option<Objection> {
    let best = pairing.near.first()?;
    let mut opposed: Option<(&Near<'_>, &Token)> = None;
    for near in &pairing.near {
        let tokens = near.sentence_tokens();
        if tokens.iter().any(|e| agrees(token, e)) {
            return None;
        }
        let other = near.statement.tokens.iter();
        let mut other = other.filter(|e| opposes(token, e) && !ends_a_bound(near, e));
        let other = other.next();
        opposed = opposed.or(other.map(|e| (near, e)));
    }
    let (near, other) = opposed?;
    if is_beside_its_neighbour(case, token) {
        return None;
    }
    // "Anna sold it to Karl" means "Karl bought it from Anna": verb and order are both reversed.
    if token.is_converse() && super::order::is_exchanged(case.claim, token, near, other) {
        return None;
    }
    // If the claim contains the opposite word too, it does not contradict the claim.
    if case.claim.has(other.id) || near.share < ALIKE || near.share < 0.9 * best.share {
        return None;
    }
    let mut behind = near.sentence_tokens().iter();
    let excepts = behind.any(|t| t.does(Role::Excepting));
    // "Only after the rinse does it stay closed": the claim speaks of the exception.
    if excepts
        && behind
            .find(|t| t.is_content())
            .is_some_and(|t| case.claim.has(t.id))
    {
        return None;
    }
    let rest = rest_share(pairing, near, token);
    // Only a claim with a single statement is sure to be about one case.
    let one = case.claim.statements().len() == 1;
    let whole = if one { SAME } else { WHOLE };
    let neighbours = shares_a_neighbour(case, token, near, other);
    // "With the lining it comes to 340", where the text has the price without it and the surcharge.
    let computes =
        WITHOUT.contains(&&*near.source.reading.lower_word(other)) && computes(case.claim);
    let effect = match rest {
        r if computes && r >= ALIKE && neighbours => Effect::Doubts,
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

/// Whether a word only makes a limit of the number before it: "1.22 or newer".
fn ends_a_bound(near: &Near<'_>, word: &Token) -> bool {
    const OR: &[&str] = list!("direction.or");
    let tokens = near.sentence_tokens();
    let Some(at) = tokens.iter().position(|t| t.start == word.start) else {
        return false;
    };
    let back = |n: usize| at.checked_sub(n).and_then(|at| tokens.get(at));
    let is_or = back(1).is_some_and(|t| OR.contains(&&*near.source.reading.lower_word(t)));
    is_or && back(2).is_some_and(|t| t.number)
}

/// Whether the cited text has the word itself, with the word that follows it in the claim: "first
/// year" somewhere beside "second year".
fn is_beside_its_neighbour(case: &Case<'_>, token: &Token) -> bool {
    let mut behind = case
        .claim
        .text
        .tokens
        .iter()
        .filter(|t| t.start > token.start);
    let Some(next) = behind.next().filter(|next| is_beside(token, next)) else {
        return false;
    };
    case.cited.iter().any(|source| {
        let sentences = source.reading.sentences_with(token.id).iter();
        sentences.take(MOST_SENTENCES).any(|n| {
            let mut pairs = source.reading.tokens_of(*n as usize).windows(2);
            pairs.any(|pair| pair[0].id == token.id && pair[1].id == next.id)
        })
    })
}

/// Whether both words have the same content word next to them.
fn shares_a_neighbour(case: &Case<'_>, own: &Token, near: &Near<'_>, other: &Token) -> bool {
    let theirs = neighbours(near.sentence_tokens(), other);
    neighbours(&case.claim.text.tokens, own)
        .iter()
        .any(|id| theirs.contains(id))
}

/// The stems of the content words before and after a word.
fn neighbours(tokens: &[Token], token: &Token) -> Vec<u32> {
    let Some(at) = tokens.iter().position(|t| t.start == token.start) else {
        return Vec::new();
    };
    let mut before = tokens[..at].iter().rev();
    let mut after = tokens[at + 1..].iter();
    let both = [
        before.find(|t| t.is_content()),
        after.find(|t| t.is_content()),
    ];
    both.into_iter().flatten().map(|t| t.id).collect()
}

/// The share of the other content words of the claim's statement that the near one contains.
fn rest_share(pairing: &Pairing<'_>, near: &Near<'_>, token: &Token) -> f64 {
    let rest: Vec<u32> = pairing
        .own
        .tokens
        .iter()
        .filter(|t| t.id != token.id && t.is_content_or_number())
        .map(|t| t.id)
        .collect();
    let few = is_short(near) && pairing.own.tokens.len() <= SHORT;
    if rest.is_empty() || rest.len() < 2 && !few {
        return 0.0;
    }
    let held = rest
        .iter()
        .filter(|id| near.statement.tokens.iter().any(|e| e.id == **id))
        .count();
    if held < 2 && !few {
        return 0.0;
    }
    let share = super::ratio(held, rest.len());
    // A single other word raises no more than a doubt.
    if held < 2 { share.min(ALIKE) } else { share }
}

/// Statements of at most this many words are compared by a single other word: "Costs rose".
const SHORT: usize = 4;

fn is_short(near: &Near<'_>) -> bool {
    near.statement.tokens.len() <= SHORT
}

/// Whether both words have the same meaning, negations included.
fn agrees(own: &Token, other: &Token) -> bool {
    let is_counterpart = if own.negated == other.negated {
        own.is_on_one_side_with(other)
    } else {
        own.is_opposite_of(other)
    };
    own.id == other.id || is_counterpart
}

/// Whether one is the opposite of the other, both negated or neither.
fn opposes(own: &Token, other: &Token) -> bool {
    own.id != other.id && own.negated == other.negated && own.is_opposite_of(other)
}
