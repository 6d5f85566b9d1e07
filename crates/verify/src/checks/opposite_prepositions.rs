//! L5: small words with an opposite, "with" and "without", "for" and "against", stand beside the
//! same words as in the cited text.

use super::passages::{Passage, Passages};
use super::things::computes;
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::text::Token;

/// The words, each followed by its opposite.
const BEFORE_NOUNS: &[&str] = list!("opposite-prepositions.before-nouns");
const BEHIND_VERBS: &[&str] = list!("opposite-prepositions.behind-verbs");

/// Words for no thing in particular.
const INDEFINITE: &[&str] = list!("opposite-prepositions.indefinite");

/// A sentence with this many words of the claim is about the same thing.
const ABOUT: usize = 2;

/// Maximum number of words between such a word and the noun that it belongs to.
const NEAR: usize = 3;

/// Finds such a word whose opposite the text has in its place.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let is_denied = tokens
        .iter()
        .any(|t| t.negates() && !is_word(case.claim, t, "without"));
    if is_denied {
        return None;
    }
    (0..tokens.len()).find_map(|at| turned(case, passages, at))
}

fn is_word(reading: &Reading, token: &Token, word: &str) -> bool {
    reading.lower_word(token) == word
}

/// The opposite of a word in a list of pairs.
fn opposite_in(list: &'static [&'static str], word: &str) -> Option<&'static str> {
    let at = list.iter().position(|w| *w == word)?;
    list.get(at ^ 1).copied()
}

fn turned(case: &Case<'_>, passages: &Passages<'_>, at: usize) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let own = tokens.get(at)?;
    let word = case.claim.lower_word(own);
    let (opposite, neighbour, is_ahead) = match opposite_in(BEFORE_NOUNS, &word) {
        Some(opposite) => (opposite, noun(case.claim, tokens, at)?, true),
        None => (opposite_in(BEHIND_VERBS, &word)?, verb(tokens, at)?, false),
    };
    let mut found: Option<(&Passage<'_>, &Token)> = None;
    for passage in passages.with(ABOUT) {
        let (reading, theirs) = (passage.reading(), passage.tokens());
        for (i, other) in theirs.iter().enumerate() {
            let beside = match is_ahead {
                true => noun(reading, theirs, i),
                false => verb(theirs, i),
            };
            if beside.is_none_or(|t| t.id != neighbour.id) {
                continue;
            }
            if is_word(reading, other, &word) {
                return None;
            }
            if is_word(reading, other, opposite) {
                found = found.or(Some((passage, other)));
            }
        }
    }
    let (passage, other) = found?;
    let reading = passage.reading();
    let mut theirs = passage.tokens().iter();
    if theirs.any(|t| t.negates() && t.start != other.start && t.clause == other.clause) {
        return None;
    }
    let detail = Detail::Opposite {
        said: case.claim.word(own).to_owned(),
        found: reading.word(other).to_owned(),
    };
    // "With the lining it comes to 340", where the text has the price without it and the surcharge.
    let effect = match is_ahead && computes(case.claim) {
        true => Effect::Doubts,
        false => Effect::Rejects,
    };
    let found = Objection::new(Code::Direction, effect, detail).at(own.start..own.end);
    Some(found.against(passage.source.item.label, passage.bytes()))
}

/// The first word with content behind a token.
fn noun<'t>(reading: &Reading, tokens: &'t [Token], at: usize) -> Option<&'t Token> {
    let mut behind = tokens.iter().skip(at + 1).take(NEAR);
    behind.find(|t| {
        let is_open = t.quantity().is_some() || INDEFINITE.contains(&&*reading.lower_word(t));
        t.is_content() && !is_open
    })
}

/// The word with content directly before a token.
fn verb(tokens: &[Token], at: usize) -> Option<&Token> {
    let before = tokens.get(at.checked_sub(1)?)?;
    before.is_content().then_some(before)
}
