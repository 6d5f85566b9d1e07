//! The one place that says which findings of L4–L6 may reject a claim.
//!
//! A finding disproves a claim only if the cited text is about the same thing as the claim: the
//! less exact the finding, the nearer the text must be. Otherwise the finding raises a doubt.
//!
//! - Exact comparisons need nothing more: pointers, quotations, coverage, addresses and paths.
//! - A value (a number, unit, date or name), a reversed statement (negation, direction, modality,
//!   order) or a reason needs a text that is about the same thing ([`ANCHORED`]). A value in a
//!   sentence that shares little with the text is more often computed, an example, or a conclusion
//!   than a contradiction. A value that the text does not have needs a rival there too
//!   (`rivals`).
//! - Everything else (bindings, quantities, conditions, status, code) needs a text that is nearly
//!   the same ([`CLOSE`]). In free wording such findings are often wrong.
//! - A claim of few words ([`SHORT_CLAIM`]) explains and computes nothing: every finding rejects
//!   it.
//!
//! A longer claim that shares nothing with the cited text is rejected for that reason alone.
//!
//! Both numbers were chosen so that on the development sets of natural answers (`docs/verifier.md`)
//! at least nine of ten rejections are right, and fewer than one of two hundred true sentences is
//! refused by one kind of finding.

use super::align::Alignment;
use super::nearest::Pairing;
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};

/// A text with this share of the claim's content words is about the same thing.
const ANCHORED: f64 = 1.0 / 3.0;

/// A text with this share of the claim's content words is nearly the same.
const CLOSE: f64 = 0.6;

/// A claim of at most this many content words is short.
const SHORT_CLAIM: usize = 5;

/// How much of the claim the cited text must have before this finding rejects the claim.
fn needed(objection: &Objection, is_short: bool) -> f64 {
    match (objection.code, &objection.detail) {
        _ if is_short => 0.0,
        // An address or a path is compared letter by letter.
        (Code::Code, Detail::Pointer { .. }) => 0.0,
        (Code::Number | Code::Unit | Code::Date | Code::Name, _) => ANCHORED,
        (Code::Negation | Code::Direction | Code::Modality, _) => ANCHORED,
        (Code::Order | Code::Cause, _) => ANCHORED,
        (Code::Quantifier | Code::Referent | Code::Status, _) => CLOSE,
        (Code::Condition | Code::Code, _) => CLOSE,
        _ => 0.0,
    }
}

/// How much of the claim the cited text has in one place: the share of its content words in the
/// nearest sentence or, if that is more, the least share that one of its statements has in the
/// statement nearest to it. Statements are completed by the names of their row and column.
fn nearness(pairings: &[Pairing<'_>], alignment: &Alignment<'_>) -> f64 {
    let nearest = pairings.iter().map(|pairing| pairing.near.first());
    let statements = nearest
        .map(|near| near.map_or(0.0, |near| near.share))
        .reduce(f64::min);
    let sentence = alignment.best().map_or(0.0, |best| best.share);
    sentence.max(statements.unwrap_or(0.0))
}

/// Whether a claim has at most [`SHORT_CLAIM`] content words.
pub(super) fn has_few_words(case: &Case<'_>) -> bool {
    let tokens = case.claim.text.tokens.iter();
    tokens
        .filter(|t| t.is_content())
        .take(SHORT_CLAIM + 1)
        .count()
        <= SHORT_CLAIM
}

/// Turns every rejection without enough proof into a doubt. With `foreign`, the claim is in another
/// language than the cited text and can share few words with it, so only values are compared.
pub(super) fn settle(
    case: &Case<'_>,
    objections: &mut [Objection],
    pairings: &[Pairing<'_>],
    alignment: &Alignment<'_>,
    foreign: bool,
) {
    let nearness = match foreign {
        true => ANCHORED,
        false => nearness(pairings, alignment),
    };
    let rejections = objections
        .iter_mut()
        .filter(|o| o.effect == Effect::Rejects);
    let is_short = has_few_words(case);
    for objection in rejections.filter(|o| nearness < needed(o, is_short)) {
        objection.effect = Effect::Doubts;
    }
}
