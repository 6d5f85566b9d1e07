//! L5: the status of a plan or thing is the one that the cited text gives.

use std::borrow::Cow;

use super::language::{differ, is_english};
use super::nearest::{Near, Pairing, sentence};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::{Quantity, Role, Status};
use crate::text::Token;

/// How much of a statement must be the same.
const ALIKE: f64 = 0.33;
const SAME: f64 = 0.5;

/// Whether status `own` rules out status `theirs`.
fn excludes(own: Status, theirs: Status) -> bool {
    use Status::{Active, Decided, Deprecated, Done, Ongoing, Proposed, Rejected, Removed};
    matches!(
        (own, theirs),
        (Decided, Proposed | Rejected)
            | (Done, Proposed | Ongoing | Rejected)
            | (Active, Deprecated | Rejected | Removed)
            | (Rejected, Decided | Done | Active)
            | (Deprecated, Active | Removed)
            | (Removed, Active | Deprecated | Proposed)
            | (Proposed, Removed | Done)
            | (Ongoing, Done)
    )
}

/// Finds a status in the claim that its nearest statements contradict.
pub(super) fn check(case: &Case<'_>, pairings: &[Pairing<'_>]) -> Vec<Objection> {
    let found = pairings
        .iter()
        .filter_map(|pairing| compare(case, pairing).or_else(|| silent(case, pairing)));
    let found = found.chain(early(case));
    found.chain(rejected_nowhere(case)).take(1).collect()
}

/// The doubt about "The order was cancelled" if no cited text rejects or denies anything.
fn rejected_nowhere(case: &Case<'_>) -> Option<Objection> {
    let is_rejected = |t: &Token| matches!(t.status(), Some(Status::Rejected | Status::Removed));
    let mut own = case.claim.text.tokens.iter();
    let said = own.find(|t| is_rejected(t) && !t.negated)?;
    let readings: Vec<&Reading> = case.cited.iter().map(|s| s.reading).collect();
    let is_foreign = differ(case.claim, case.language, &readings);
    if is_foreign || !is_english(case.claim, case.language, &readings) {
        return None;
    }
    let denies = |t: &Token| is_rejected(t) || t.negates() || t.turns() || t.does(Role::Scarce);
    let mut cited = case.cited.iter().flat_map(|s| s.reading.text.tokens.iter());
    if cited.any(|t| denies(t) || t.id == said.id)
        || case.claim.text.tokens.iter().any(Token::negates)
    {
        return None;
    }
    let detail = Detail::Added {
        said: case.claim.word(said).to_owned(),
    };
    let found = Objection::new(Code::Status, Effect::Doubts, detail);
    Some(found.at(said.start..said.end))
}

/// When something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tense {
    /// It happened in the past.
    Done,
    /// It will happen.
    Future,
    /// The time is not stated.
    Open,
}

/// The objection to "has already been removed" if the text says only "will be removed".
fn early(case: &Case<'_>) -> Option<Objection> {
    (0..case.claim.text.tokens.len()).find_map(|at| still_to_come(case, at))
}

/// The same for the word at `at`.
fn still_to_come(case: &Case<'_>, at: usize) -> Option<Objection> {
    let tokens = &case.claim.text.tokens;
    let token = tokens.get(at)?;
    if !token.is_content() || tense(case.claim, tokens, at) != Tense::Done {
        return None;
    }
    let near = tokens.get(at.saturating_sub(NEAR)..at).unwrap_or(&[]);
    if near
        .iter()
        .any(|t| t.clause == token.clause && says_none(t))
    {
        return None;
    }
    let mut future: Option<Objection> = None;
    for source in case.cited {
        let reading = source.reading;
        for n in reading.sentences_with(token.id).iter().take(MOST_SENTENCES) {
            let theirs = reading.tokens_of(*n as usize);
            for (j, other) in theirs.iter().enumerate().filter(|(_, t)| t.id == token.id) {
                if tense(reading, theirs, j) != Tense::Future {
                    return None;
                }
                let detail = Detail::Differs {
                    said: format!("already {}", case.claim.word(token)),
                    found: format!("to be {}", reading.word(other)),
                };
                // "To be trained again (6 of 11 done)": a part is done.
                let is_partly = theirs.iter().any(|t| t.status() == Some(Status::Done));
                let effect = match is_partly {
                    true => Effect::Doubts,
                    false => Effect::Rejects,
                };
                let found = Objection::new(Code::Status, effect, detail);
                let bytes = reading.sentence(*n as usize)?.bytes.clone();
                let found = found.at(token.start..token.end);
                future = future.or(Some(found.against(source.item.label, bytes)));
            }
        }
    }
    future
}

/// Maximum number of words from a denial to the word whose tense it is.
const NEAR: usize = 8;

/// Whether a word denies the statement: "nothing has been spent".
fn says_none(token: &Token) -> bool {
    token.negates() || token.quantity() == Some(Quantity::Nothing)
}

/// Maximum number of sentences of one source that contain a word and are checked.
const MOST_SENTENCES: usize = 12;

/// Maximum distance before a verb at which its tense may be marked, in words.
const TENSE: usize = 4;

/// When the event that word `at` names happens, judged by the words before it.
fn tense(reading: &Reading, tokens: &[Token], at: usize) -> Tense {
    let before = tokens.get(at.saturating_sub(TENSE)..at).unwrap_or(&[]);
    let words: Vec<_> = before.iter().map(|t| reading.lower_word(t)).collect();
    let to_be = words.windows(2).any(|w| w[0] == "to" && w[1] == "be");
    if to_be || has_one_of(&words, &["will", "planned"]) {
        return Tense::Future;
    }
    let has_been = has_one_of(&words, &["been"]) && has_one_of(&words, &["has", "have", "had"]);
    if has_been || has_one_of(&words, &["already"]) {
        Tense::Done
    } else {
        Tense::Open
    }
}

fn has_one_of(words: &[Cow<'_, str>], wanted: &[&str]) -> bool {
    words.iter().any(|word| wanted.contains(&&**word))
}

/// A claim with this share of the words of a rejected plan repeats the plan.
const SILENT: f64 = 0.75;

/// The objection to "We replace RabbitMQ with NATS" if that proposal was rejected.
fn silent(case: &Case<'_>, pairing: &Pairing<'_>) -> Option<Objection> {
    let near = pairing.near.first().filter(|n| n.share >= SILENT)?;
    let reading = near.source.reading;
    let theirs = reading.tokens_of(near.statement.sentence).iter();
    let turned = theirs
        .clone()
        .find(|t| t.status() == Some(Status::Rejected) && !t.negated)?;
    let claim = &case.claim.text.tokens;
    let told = claim.iter().any(|t| {
        t.id == turned.id
            || t.negates()
            || t.turns()
            || t.status().is_some()
            || t.is_on_one_side_with(turned)
    });
    // "Only if the names match, else refuse": the claim gives the condition under which it is not.
    let conditional = [claim.as_slice(), reading.tokens_of(near.statement.sentence)]
        .iter()
        .all(|tokens| tokens.iter().any(sets_a_condition));
    if told || conditional || claim.iter().filter(|t| t.is_content()).count() < 3 {
        return None;
    }
    let detail = Detail::LeftOut {
        found: reading.word(turned).to_owned(),
    };
    let found = Objection::new(Code::Status, Effect::Rejects, detail);
    Some(found.against(near.source.item.label, sentence(near)?))
}

fn sets_a_condition(token: &Token) -> bool {
    token.does(Role::Conditional) || token.does(Role::Restricting)
}

fn compare(case: &Case<'_>, pairing: &Pairing<'_>) -> Option<Objection> {
    let best = pairing.near.first().filter(|n| n.share >= ALIKE)?;
    let own = case.claim.text.tokens.get(pairing.own.own.clone())?;
    let token = own.iter().find(|t| t.status().is_some() && !t.negated)?;
    let status = token.status()?;
    let mut clash: Option<(&Near<'_>, &Token)> = None;
    for near in &pairing.near {
        let mut tokens = near.sentence_tokens().iter();
        let mut same = tokens.clone();
        if same.any(|e| e.id == token.id || e.status() == Some(status) && !e.negated) {
            return None;
        }
        let excluded = tokens
            .find(|e| !e.negated && e.status().is_some_and(|theirs| excludes(status, theirs)));
        clash = clash.or(excluded.map(|e| (near, e)));
    }
    let (near, other) = clash?;
    // "The test planned for May was done before": the claim has that status too.
    let is_open = |t: &Token| matches!(&*case.claim.lower_word(t), "still" | "yet");
    if case.claim.has(other.id) && !case.claim.text.tokens.iter().any(is_open) {
        return None;
    }
    let effect = if best.share >= SAME {
        Effect::Rejects
    } else {
        Effect::Doubts
    };
    let detail = Detail::Differs {
        said: case.claim.word(token).to_owned(),
        found: near.source.reading.word(other).to_owned(),
    };
    let found = Objection::new(Code::Status, effect, detail).at(token.start..token.end);
    Some(found.against(near.source.item.label, sentence(near)?))
}
