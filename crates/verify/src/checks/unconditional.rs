//! L5: a claim must not hold "even if" or "whether or not" where the cited text has a condition.

use super::passages::{Passage, Passages};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::Role;
use crate::text::{Token, has_stem};

/// Phrases that free a claim of a condition, and words that begin a condition in a text.
const BEGINS: &[&str] = list!("unconditional.begins");
const CONDITIONS: &[&str] = list!("unconditional.conditions");

/// A sentence is about the claim if it has this share of its words, and at least this many.
const ABOUT: f64 = 0.33;
const LEAST: usize = 2;

/// The doubt about a claim that holds whatever the condition is.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let claim = case.claim.lower();
    let said = BEGINS.iter().find(|phrase| has_phrase(claim, phrase))?;
    let frees = |text: &str| BEGINS.iter().any(|phrase| has_phrase(text, phrase));
    let mut about = passages
        .with(LEAST)
        .filter(|p| Passages::share(&passages.words, p.tokens()) >= ABOUT);
    let (passage, word) = about.find_map(|p| {
        let reading = p.reading();
        if frees(reading.lower().get(p.bytes()).unwrap_or("")) {
            return None;
        }
        let mut tokens = p.tokens().iter();
        let word = tokens
            .find(|t| t.does(Role::Conditional) || CONDITIONS.contains(&&*reading.lower_word(t)))?;
        Some((p, word))
    })?;
    let detail = Detail::Differs {
        said: (*said).to_owned(),
        found: passage.reading().word(word).to_owned(),
    };
    let effect = match is_about(case.claim, said, passage, word) {
        true => Effect::Rejects,
        false => Effect::Doubts,
    };
    let found = Objection::new(Code::Condition, effect, detail);
    Some(found.against(passage.source.item.label, passage.bytes()))
}

/// Whether the condition that the claim waives is the one of the text: they share a word with content.
fn is_about(claim: &Reading, said: &str, passage: &Passage<'_>, begin: &Token) -> bool {
    let from = claim.lower().find(said).unwrap_or(usize::MAX);
    let own = claim.text.tokens.iter();
    let mut waived = own.filter(|t| t.start > from && t.is_content());
    let theirs = passage.tokens();
    let at = theirs.iter().position(|t| t.start == begin.start);
    let behind = at.and_then(|at| theirs.get(at + 1..)).unwrap_or(&[]);
    waived.any(|t| has_stem(behind, t.id))
}

/// Whether a text has a phrase as whole words.
fn has_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let behind = text.get(at + phrase.len()..);
        let behind = behind.and_then(|t| t.chars().next());
        let ends = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
        ends(before) && ends(behind)
    })
}
