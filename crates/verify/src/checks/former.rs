//! L5: what the cited text says of an earlier time is not said of today: "Until May it met in the
//! hall" does not support "It meets in the hall".

use std::ops::Range;

use super::passages::{Passage, Passages};
use super::{Case, Effect};
use crate::Code;
use crate::atoms::{Atom, What, same};
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::Status;
use crate::text::Token;

/// A sentence is about the claim if it has this share of its words, and at least this many.
const SHARE: f64 = 0.6;
const LEAST: usize = 2;

/// Words that limit a statement to an earlier time, and words of the past.
const EARLIER: &[&str] = list!("former.earlier");
const PAST: &[&str] = list!("former.past");
/// How a sentence begins that continues the one before.
const CONTINUES: &[&str] = list!("former.continues");

/// Finds a statement about today that the text makes of an earlier time, or takes back.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let claim = case.claim;
    let tokens = claim.text.tokens.as_slice();
    let tells = tokens.iter().any(|t| {
        let word = claim.lower_word(t);
        t.negates()
            || EARLIER.contains(&&*word)
            || PAST.contains(&&*word)
            || matches!(t.status(), Some(Status::Rejected | Status::Removed))
    });
    if let Some(found) = exchanged(case, passages) {
        return Some(found);
    }
    if tells {
        return None;
    }
    let mut found: Option<Objection> = None;
    for passage in passages.with(LEAST) {
        if Passages::share(&passages.words, passage.tokens()) < SHARE {
            continue;
        }
        let word = earlier(claim, passage).or_else(|| taken_back(passage))?;
        let detail = Detail::LeftOut { found: word };
        let objection = Objection::new(Code::Status, Effect::Doubts, detail);
        found = found.or(Some(
            objection.against(passage.source.item.label, passage.bytes()),
        ));
    }
    found
}

/// Words between what holds now and what held before, and words of a text before what held before.
const INSTEAD: &[&str] = list!("former.instead");
const BEFORE: &[&str] = list!("former.before");

/// Maximum number of words from such a word to its number.
const NEAR: usize = 4;

/// "Five instead of four" where the text has "4 (was: 5)".
fn exchanged(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let claim = case.claim;
    let tokens = claim.text.tokens.as_slice();
    let at = tokens
        .iter()
        .position(|t| INSTEAD.contains(&&*claim.lower_word(t)))?;
    let (now, earlier) = (number_before(claim, at)?, number_behind(claim, at)?);
    passages.with(1).find_map(|passage| {
        let reading = passage.reading();
        let first = reading.sentence(passage.sentence)?.tokens.start;
        let mut cues = passage.tokens().iter().enumerate();
        let turned = cues.find_map(|(n, t)| {
            let is_cue = BEFORE.contains(&&*reading.lower_word(t));
            let cue = Some(first + n).filter(|_| is_cue)?;
            let (theirs, former) = (number_before(reading, cue)?, number_behind(reading, cue)?);
            (same(now.0, former.0) && same(earlier.0, theirs.0)).then_some(former.1)
        })?;
        let found = reading.shown(turned.clone()).to_owned();
        let said = claim.shown(now.1.clone()).to_owned();
        let detail = Detail::Differs {
            said,
            found: format!("formerly {found}"),
        };
        let objection = Objection::new(Code::Order, Effect::Rejects, detail);
        Some(objection.against(passage.source.item.label, passage.bytes()))
    })
}

/// The last number that ends at most [`NEAR`] words before a token.
fn number_before(reading: &Reading, at: usize) -> Option<(f64, Range<usize>)> {
    let ends = reading.atoms.partition_point(|a| a.tokens.end <= at);
    let atoms = reading.atoms.get(..ends)?.iter().rev();
    let mut near = atoms.take_while(|a| a.tokens.end + NEAR >= at);
    near.find_map(value)
}

/// The first number that begins at most [`NEAR`] words behind a token.
fn number_behind(reading: &Reading, at: usize) -> Option<(f64, Range<usize>)> {
    let starts = reading.atoms.partition_point(|a| a.tokens.start <= at);
    let atoms = reading.atoms.get(starts..)?.iter();
    let mut near = atoms.take_while(|a| a.tokens.start <= at + NEAR);
    near.find_map(value)
}

fn value(atom: &Atom) -> Option<(f64, Range<usize>)> {
    match &atom.what {
        What::Number(n) => Some((n.value, atom.tokens.clone())),
        _ => None,
    }
}

/// The word that limits a sentence to an earlier time, if one of its words is in the past and in the
/// present in the claim.
fn earlier(claim: &Reading, passage: &Passage<'_>) -> Option<String> {
    let reading = passage.reading();
    let tokens = passage.tokens();
    let cue = tokens
        .iter()
        .find(|t| EARLIER.contains(&&*reading.lower_word(t)))
        .or_else(|| used_to(reading, tokens))?;
    let is_past = tokens.iter().any(|t| {
        let word = reading.lower_word(t);
        PAST.contains(&&*word) || t.is_content() && is_turned_into_the_past(claim, t, &word)
    });
    is_past.then(|| reading.word(cue).to_owned())
}

/// The "used" of "it used to meet there", or the "first" of "it was first planned".
fn used_to<'t>(reading: &Reading, tokens: &'t [Token]) -> Option<&'t Token> {
    let found = tokens.windows(3).find(|w| {
        let [before, word, behind] = w else {
            return false;
        };
        let is_passive = PAST.contains(&&*reading.lower_word(before))
            || matches!(
                &*reading.lower_word(before),
                "is" | "are" | "be" | "been" | "at"
            );
        match &*reading.lower_word(word) {
            "used" => !is_passive && reading.lower_word(behind) == "to",
            "first" => is_passive,
            _ => false,
        }
    });
    found.and_then(|w| w.get(1))
}

/// Whether the claim has the word in another form, and this form is one of the past.
fn is_turned_into_the_past(claim: &Reading, token: &Token, word: &str) -> bool {
    let mut own = claim.text.tokens.iter().filter(|t| t.id == token.id);
    own.any(|t| {
        let said = claim.lower_word(t);
        said != word && !word.ends_with('s') && !word.ends_with("ing") && !said.ends_with("ed")
    })
}

/// The word by which the next sentence takes a plan back: "It has been cancelled since".
fn taken_back(passage: &Passage<'_>) -> Option<String> {
    let reading = passage.reading();
    let tokens = passage.tokens();
    let is_past = tokens
        .iter()
        .any(|t| PAST.contains(&&*reading.lower_word(t)));
    let next = reading.tokens_of(passage.sentence + 1);
    let continues = next
        .first()
        .is_some_and(|t| CONTINUES.contains(&&*reading.lower_word(t)));
    let turned = next
        .iter()
        .find(|t| matches!(t.status(), Some(Status::Rejected | Status::Removed)) && !t.negated)?;
    (is_past && continues).then(|| reading.word(turned).to_owned())
}
