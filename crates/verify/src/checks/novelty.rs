//! L6: a part of a claim must not consist mostly of words that the cited text does not have.
//!
//! A paraphrase changes a few words. A clause added after a sentence, or a whole claim, with many
//! distinctive words that are in no cited text often makes a different statement. Everyday words
//! ("way", "make", "instead") are ignored.

use std::ops::Range;

use super::align::Alignment;
use super::nearest::Pairing;
use super::{Case, Effect, Extent};
use crate::Code;
use crate::atoms::What;
use crate::finding::{Detail, Objection};
use crate::tables::Role;
use crate::text::Token;

/// A part of a claim is doubtful if it has this many distinctive words that the text does not have,
/// and they are this share of all its distinctive words.
struct Limit {
    strange: usize,
    share: f64,
}

/// The limit for the first clause.
const FIRST: Limit = Limit {
    strange: 3,
    share: 0.7,
};

/// The limit for a later clause.
const BEHIND: Limit = Limit {
    strange: 2,
    share: 0.33,
};

/// The limit for the whole claim.
const WHOLE: Limit = Limit {
    strange: 3,
    share: 0.3,
};

/// A claim is near the text if one sentence has this share of its words, or if each of its
/// statements has a statement of the text with this share.
const NEAR_SENTENCE: f64 = 0.6;
const NEAR_STATEMENTS: f64 = 0.5;

/// Finds clauses of the claim whose words are mostly absent from the cited text.
pub(super) fn check(
    case: &Case<'_>,
    pairings: &[Pairing<'_>],
    alignment: &Alignment<'_>,
) -> Option<Objection> {
    if case.extent != Extent::Sentence || is_near(pairings, alignment) {
        return None;
    }
    let whole = 0..case.claim.text.tokens.len();
    let clauses = clauses(case).into_iter();
    let limited = clauses.map(|clause| match clause.start {
        0 => (clause, FIRST),
        _ => (clause, BEHIND),
    });
    let mut limited = limited.chain([(whole, WHOLE)]);
    limited.find_map(|(range, limit)| strange(case, range, &limit))
}

/// Whether the text has most of the claim in one place, so that the rest is only wording.
fn is_near(pairings: &[Pairing<'_>], alignment: &Alignment<'_>) -> bool {
    let mut nearest = pairings.iter().map(|p| p.near.first());
    alignment
        .best()
        .is_some_and(|best| best.share >= NEAR_SENTENCE)
        || !pairings.is_empty()
            && nearest.all(|near| near.is_some_and(|n| n.share >= NEAR_STATEMENTS))
}

/// The objection to part of the claim if too many of its words are in no cited text.
fn strange(case: &Case<'_>, range: Range<usize>, limit: &Limit) -> Option<Objection> {
    let own = case.claim.text.tokens.get(range.clone())?;
    let telling = (range.start..)
        .zip(own)
        .filter(|(_, t)| t.is_content_or_number() && !t.does(Role::Everyday));
    let words = telling.clone().count();
    let strange: Vec<&Token> = telling
        .filter(|(at, t)| !is_value(case, *at) && !is_known(case, t))
        .map(|(_, t)| t)
        .collect();
    let share = super::ratio(strange.len(), words);
    if strange.len() < limit.strange || share < limit.share {
        return None;
    }
    let said = case.claim.shown(range).to_owned();
    let bytes = own.first().map_or(0, |t| t.start)..own.last().map_or(0, |t| t.end);
    let detail = Detail::Absent { said };
    Some(Objection::new(Code::LowSupport, Effect::Doubts, detail).at(bytes))
}

/// The clauses of a claim as token ranges: cut at commas and where a new statement begins.
fn clauses(case: &Case<'_>) -> Vec<Range<usize>> {
    let tokens = case.claim.text.tokens.iter().map(|t| t.clause);
    let places: Vec<(u32, u32)> = case.claim.parts().iter().copied().zip(tokens).collect();
    let mut from = 0;
    let same = places.chunk_by(|a, b| a == b);
    same.map(|clause| {
        let start = from;
        from += clause.len();
        start..from
    })
    .collect()
}

/// Whether a token is of a number, date or time, which are compared by themselves.
fn is_value(case: &Case<'_>, at: usize) -> bool {
    let atoms = &case.claim.atoms;
    let next = atoms.partition_point(|atom| atom.tokens.end <= at);
    let atom = atoms.get(next).filter(|atom| atom.tokens.contains(&at));
    let is_literal = atom.is_some_and(|atom| matches!(atom.what, What::Literal(_)));
    case.claim.is_explained(at) || atom.is_some() && !is_literal
}

fn is_known(case: &Case<'_>, token: &Token) -> bool {
    case.cited
        .iter()
        .map(|s| s.reading)
        .chain([case.around, case.asked])
        .any(|r| r.matches(token.id, case.lexicon) > 0.0)
}
