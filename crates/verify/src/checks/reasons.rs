//! L5: a claim gives the reason that the cited text gives for the same fact, not another one.

use std::ops::Range;

use super::clauses::extent;
use super::passages::{Passage, Passages};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::Role;
use crate::text::{Token, has_stem};

/// A sentence is about the fact if it has this share of the words of the fact.
const ABOUT: f64 = 0.6;

/// Words that begin a reason, and words that begin what follows from one.
const REASONS: &[&str] = list!("reasons.begin");
const RESULTS: &[&str] = list!("reasons.results");

/// Finds a reason of the claim of which the text has no word beside the fact, although it gives a
/// reason there.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let at = tokens
        .iter()
        .position(|t| REASONS.contains(&&*case.claim.lower_word(t)))?;
    let range = extent(case, at);
    let reason = words(tokens, range.clone());
    let fact = words_outside(tokens, &range);
    if reason.is_empty() || fact.is_empty() {
        return None;
    }
    let mut about = passages
        .with(1)
        .filter(|p| Passages::share(&fact, p.tokens()) >= ABOUT);
    let first = about.next()?;
    if let Some(found) = denied(case, first, &reason) {
        return Some(found);
    }
    let mut found = std::iter::once(first).chain(about);
    if found.any(|p| has_some(case, p, &reason)) || !gives_a_reason(first) {
        return None;
    }
    let said = case.claim.shown(range.clone()).to_owned();
    let bytes = tokens.get(range.start)?.start..tokens.get(range.end - 1)?.end;
    let found = Objection::new(Code::Cause, Effect::Doubts, Detail::Absent { said }).at(bytes);
    Some(found.against(first.source.item.label, first.bytes()))
}

/// The objection to a reason that the text denies: "not because of the floods".
fn denied(case: &Case<'_>, passage: &Passage<'_>, reason: &[&Token]) -> Option<Objection> {
    let tokens = passage.tokens().iter();
    let same = tokens.filter(|t| reason.iter().any(|r| r.id == t.id && !r.negated));
    let mut same = same.peekable();
    let word = *same.peek()?;
    let is_reason = gives_a_reason(passage) && same.all(|t| t.negated);
    let said = passage.reading().word(word).to_owned();
    let own = case.claim.text.tokens.iter().find(|t| t.id == word.id)?;
    let found = Objection::new(Code::Cause, Effect::Rejects, Detail::TextNegates { said });
    let found = found.at(own.start..own.end);
    is_reason.then(|| found.against(passage.source.item.label, passage.bytes()))
}

fn words(tokens: &[Token], range: Range<usize>) -> Vec<&Token> {
    let inside = tokens.get(range).unwrap_or(&[]).iter();
    let content = inside.filter(|t| t.is_content_or_number());
    content.filter(|t| !t.does(Role::Everyday)).collect()
}

fn words_outside<'t>(tokens: &'t [Token], range: &Range<usize>) -> Vec<&'t Token> {
    let outside = tokens
        .iter()
        .enumerate()
        .filter(|(i, _)| !range.contains(i));
    outside
        .map(|(_, t)| t)
        .filter(|t| t.is_content_or_number())
        .collect()
}

/// Whether a sentence or one of its neighbours has a word of the reason, or its opposite.
fn has_some(case: &Case<'_>, passage: &Passage<'_>, reason: &[&Token]) -> bool {
    let reading = passage.reading();
    let near = passage.sentence.saturating_sub(1)..passage.sentence + 2;
    let mut near = near.map(|n| reading.tokens_of(n));
    near.any(|theirs| reason.iter().any(|t| has_word_like(case, theirs, t)))
}

fn has_word_like(case: &Case<'_>, tokens: &[Token], word: &Token) -> bool {
    let alike = case.lexicon.alike(word.id);
    has_stem(tokens, word.id)
        || tokens.iter().any(|t| {
            word.is_opposite_of(t)
                || word.is_on_one_side_with(t)
                || alike.is_some() && case.lexicon.alike(t.id) == alike
        })
}

fn gives_a_reason(passage: &Passage<'_>) -> bool {
    let reading: &Reading = passage.reading();
    let mut tokens = passage.tokens().iter();
    tokens.any(|t| {
        let word = reading.lower_word(t);
        REASONS.contains(&&*word) || RESULTS.contains(&&*word)
    })
}
