//! L5: a claim must not leave out what the cited text restricts it to: "only by the ground floor",
//! "except on seedlings", "if it rains".

use std::ops::Range;

use super::passages::{Passage, Passages};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::Role;
use crate::text::{Token, has_stem};

/// A sentence is about the claim if it has this share of its words, and at least this many.
const SHARE: f64 = 0.75;
const LEAST: usize = 2;

/// Maximum number of words of a restriction.
const LONGEST: usize = 8;

const RESTRICTING: &[&str] = list!("left-out.restricting");
const EXCEPTING: &[&str] = list!("left-out.excepting");
const BEGINS: &[&str] = list!("left-out.begins");
/// Words with which a claim tells itself that something is restricted.
const TELLING: &[&str] = list!("left-out.telling");

/// Finds a restriction of the text that the claim leaves out, and an exception that it denies.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    if let Some(found) = even(case, passages) {
        return Some(found);
    }
    if tells(case.claim) {
        return None;
    }
    let mut found: Option<Objection> = None;
    for passage in passages.with(LEAST) {
        if Passages::share(&passages.words, passage.tokens()) < SHARE {
            continue;
        }
        // Another sentence says it without a restriction.
        let restriction = restriction(case, passage)?;
        let detail = Detail::LeftOut {
            found: passage.reading().shown(restriction).to_owned(),
        };
        let objection = Objection::new(Code::Condition, Effect::Doubts, detail);
        found = found.or(Some(
            objection.against(passage.source.item.label, passage.bytes()),
        ));
    }
    found
}

fn tells(claim: &Reading) -> bool {
    let mut tokens = claim.text.tokens.iter();
    tokens.any(|t| {
        t.negates()
            || t.does(Role::Conditional)
            || t.does(Role::Restricting)
            || TELLING.contains(&&*claim.lower_word(t))
    })
}

/// The restriction of a sentence of which the claim has no word, as tokens of its text.
fn restriction(case: &Case<'_>, passage: &Passage<'_>) -> Option<Range<usize>> {
    let reading = passage.reading();
    let tokens = passage.tokens();
    let offset = reading.sentence(passage.sentence)?.tokens.start;
    if let Some(condition) = condition(case.claim, reading, tokens) {
        return Some(offset + condition.start..offset + condition.end);
    }
    for (at, token) in tokens.iter().enumerate() {
        let word = reading.lower_word(token);
        let restricts = RESTRICTING.contains(&&*word) || begins_late(reading, tokens, at);
        if !restricts && !EXCEPTING.contains(&&*word) {
            continue;
        }
        let behind = tokens.iter().skip(at + 1).take(LONGEST);
        let behind = behind.take_while(|t| t.clause == token.clause);
        let mut begin = 0;
        if restricts {
            // What is restricted stands before the word, and is in the claim.
            let mut before = tokens.iter().take(at).filter(|t| t.clause == token.clause);
            if !before.any(|t| t.is_content() && case.claim.has(t.id)) {
                continue;
            }
            begin = behind
                .clone()
                .position(|t| BEGINS.contains(&&*reading.lower_word(t)))
                .unwrap_or(0);
        }
        let words: Vec<&Token> = behind
            .clone()
            .skip(begin)
            .filter(|t| t.is_content_or_number())
            .collect();
        let is_left_out = !words.is_empty() && !words.iter().any(|t| case.claim.has(t.id));
        if is_left_out {
            let end = at + 1 + behind.count();
            return Some(offset + at..offset + end);
        }
    }
    None
}

/// "From the second year": a time behind "from" or "until".
fn begins_late(reading: &Reading, tokens: &[Token], at: usize) -> bool {
    let is_cue = tokens
        .get(at)
        .is_some_and(|t| matches!(&*reading.lower_word(t), "from" | "until"));
    let mut behind = tokens.iter().skip(at + 1).take(2);
    let mut times = tokens.iter().skip(at + 1).take(TIME);
    let is_numbered = behind.any(|t| t.number || t.may_be_amount() && t.is_content());
    is_cue && is_numbered && times.any(|t| TIMES.contains(&&*reading.lower_word(t)))
}

/// Maximum number of words of such a time.
const TIME: usize = 3;
const TIMES: &[&str] = list!("left-out.times");

/// The condition that a sentence begins with, if the claim has less than half of its words.
fn condition(claim: &Reading, reading: &Reading, tokens: &[Token]) -> Option<Range<usize>> {
    let first = tokens.first()?;
    let begins = matches!(&*reading.lower_word(first), "if" | "unless");
    if !begins || super::clauses::is_wish(reading, tokens, 0) {
        return None;
    }
    let end = tokens.partition_point(|t| t.clause <= first.clause);
    let words: Vec<&Token> = tokens
        .get(1..end)?
        .iter()
        .filter(|t| t.is_content_or_number())
        .collect();
    let held = words.iter().filter(|t| claim.has(t.id)).count();
    (!words.is_empty() && held * 2 <= words.len()).then_some(0..end)
}

/// The objection to "even on seedlings" where the text has "except on seedlings".
fn even(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let claim = case.claim;
    let tokens = claim.text.tokens.as_slice();
    let at = tokens.iter().position(|t| claim.lower_word(t) == "even")?;
    let cue = tokens.get(at)?;
    let own = tokens.iter().skip(at + 1).take(LONGEST);
    let own: Vec<&Token> = own
        .take_while(|t| t.clause == cue.clause)
        .filter(|t| t.is_content_or_number())
        .collect();
    for passage in passages.with(LEAST).filter(|_| !own.is_empty()) {
        let reading = passage.reading();
        let theirs = passage.tokens();
        let cue_at = theirs
            .iter()
            .position(|t| EXCEPTING.contains(&&*reading.lower_word(t)));
        let Some(other) = cue_at.and_then(|at| theirs.get(at)) else {
            continue;
        };
        let behind = theirs.get(cue_at.unwrap_or(0)..).unwrap_or(&[]);
        if own.iter().all(|t| has_stem(behind, t.id)) {
            let detail = Detail::Opposite {
                said: claim.word(cue).to_owned(),
                found: reading.word(other).to_owned(),
            };
            let found = Objection::new(Code::Condition, Effect::Rejects, detail);
            let found = found.at(cue.start..cue.end);
            return Some(found.against(passage.source.item.label, passage.bytes()));
        }
    }
    None
}
