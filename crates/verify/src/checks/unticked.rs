//! L5: a claim that everything is done has no task of which the box in the cited list is empty: "The
//! map is finished, and so are the letters" against "- [ ] letters for the council".

use super::boxes::is_ticked;
use super::passages::{Passage, Passages};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::Status;
use crate::text::Token;

/// Words of a claim about a task that is done, and words that leave something open.
const DONE: &[&str] = list!("unticked.done");
const OPEN: &[&str] = list!("unticked.open");

/// Least number of letters of a common beginning: "recoger", "recogida".
const BEGINNING: usize = 5;

/// Finds an open task of the text of which the claim says that it is done.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let claim = case.claim;
    let tokens = claim.text.tokens.as_slice();
    let is_done =
        |t: &Token| DONE.contains(&&*claim.lower_word(t)) || t.status() == Some(Status::Done);
    let is_open =
        |t: &Token| OPEN.contains(&&*claim.lower_word(t)) || t.negates() || t.mood().is_some();
    if tokens.iter().any(is_open) {
        return None;
    }
    let is_finished = tokens.iter().any(is_done) || tells_alike(claim, tokens);
    let has_happened = tells_of_the_past(claim);
    if !is_finished && !has_happened {
        return None;
    }
    let has_task = |ticked: bool| {
        passages
            .with(1)
            .filter(move |p| is_ticked(p) == Some(ticked))
    };
    let (task, shared) = has_task(false)
        .map(|p| (p, shared(claim, p)))
        .filter(|(p, _)| is_finished || was_done(claim, p))
        .find(|(p, shared)| shared.len() >= 2 && shared.len() * 2 >= head(p).len())?;
    // A ticked task with the same words may be meant.
    let is_other = |p: &Passage<'_>| {
        let theirs = p.tokens();
        shared.iter().all(|id| theirs.iter().any(|t| t.id == *id))
    };
    if has_task(true).any(is_other) {
        return None;
    }
    let detail = Detail::Differs {
        said: "done".to_owned(),
        found: "not done".to_owned(),
    };
    let effect = match is_finished {
        true => Effect::Rejects,
        false => Effect::Doubts,
    };
    let found = Objection::new(Code::Status, effect, detail);
    Some(found.against(task.source.item.label, task.bytes()))
}

/// Removes the objection to a claim that denies that an open task is done.
pub(super) fn settle(case: &Case<'_>, passages: &Passages<'_>, objections: &mut Vec<Objection>) {
    let is_of_denial =
        |o: &Objection| o.code == Code::Negation && matches!(o.detail, Detail::ClaimNegates { .. });
    if !objections.iter().any(is_of_denial) {
        return;
    }
    let is_open_task = |p: &Passage<'_>| {
        let shared = shared(case.claim, p);
        is_ticked(p) == Some(false) && shared.len() >= 2 && shared.len() * 2 >= head(p).len()
    };
    if passages.with(1).any(is_open_task) {
        objections.retain(|o| !is_of_denial(o));
    }
}

/// Words of what has happened, and of what is only planned.
const HAPPENED: &[&str] = list!("asserted.happened");
const PLANNED: &[&str] = list!("asserted.planned");

/// Whether a claim tells that something has happened: "was moved", and not "still has to be moved".
fn tells_of_the_past(claim: &Reading) -> bool {
    const STILL: &[&str] = list!("asserted.not-yet");
    let is_in = |t: &Token, list: &[&str]| list.contains(&&*claim.lower_word(t));
    let tokens = claim.text.tokens.as_slice();
    let is_to_come = tokens.windows(2).any(|pair| {
        let [first, next] = [0, 1].map(|n| pair.get(n).map(|t| claim.lower_word(t)));
        let is_duty = matches!(first.as_deref(), Some("has" | "have" | "had"));
        is_duty && next.as_deref() == Some("to")
            || first.as_deref() == Some("to") && next.as_deref() == Some("be")
    });
    let happened = tokens.iter().any(|t| is_in(t, HAPPENED));
    let is_planned = |t: &Token| is_in(t, PLANNED) || is_in(t, STILL);
    happened && !is_to_come && !tokens.iter().any(is_planned)
}

/// Maximum number of words from "was" to what was done.
const NEAR: usize = 3;

/// Whether the claim says of the verb that begins a task that it was done: "was moved" for "Move the
/// gateway".
fn was_done(claim: &Reading, task: &Passage<'_>) -> bool {
    let reading = task.reading();
    let words = head(task);
    let first = task.tokens().iter().find(|t| reading.lower_word(t) != "x");
    let (Some(verb), Some(first)) = (words.first(), first) else {
        return false;
    };
    let written = reading.lower_word(verb);
    let tokens = claim.text.tokens.as_slice();
    let mut places = tokens.iter().enumerate().filter(|(_, t)| {
        t.id == verb.id || t.is_content() && begin_alike(&claim.lower_word(t), &written)
    });
    verb.start == first.start
        && places.any(|(at, own)| {
            let before = tokens.get(at.saturating_sub(NEAR)..at).unwrap_or(&[]);
            before
                .iter()
                .any(|t| t.clause == own.clause && HAPPENED.contains(&&*claim.lower_word(t)))
        })
}

/// "And so are the letters".
fn tells_alike(claim: &Reading, tokens: &[Token]) -> bool {
    tokens.windows(2).any(|pair| {
        claim.lower_word(&pair[0]) == "so"
            && matches!(
                &*claim.lower_word(&pair[1]),
                "is" | "are" | "was" | "were" | "has" | "have"
            )
    })
}

/// The words of a task with content, without what stands behind a colon, a dash, a comma or a
/// bracket.
fn head<'a>(task: &Passage<'a>) -> Vec<&'a Token> {
    let reading = task.reading();
    let tokens = task.tokens();
    let cut = tokens.windows(2).position(|pair| {
        let gap = reading.normal.get(pair[0].end..pair[1].start).unwrap_or("");
        gap.contains([':', ',', '(', '–', '—', ';'])
    });
    let end = cut.map_or(tokens.len(), |at| at + 1);
    let words = tokens.get(..end).unwrap_or(&[]).iter();
    words
        .filter(|t| t.is_content_or_number() && reading.lower_word(t) != "x")
        .collect()
}

/// The words of the head of a task that the claim has, some in another form.
fn shared(claim: &Reading, task: &Passage<'_>) -> Vec<u32> {
    let reading = task.reading();
    let is_held = |word: &&Token| {
        let written = reading.lower_word(word);
        claim.text.tokens.iter().any(|t| {
            t.id == word.id || t.is_content() && begin_alike(&claim.lower_word(t), &written)
        })
    };
    let words = head(task).into_iter().filter(is_held);
    words.map(|t| t.id).collect()
}

fn begin_alike(one: &str, other: &str) -> bool {
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b);
    same.count() >= BEGINNING
}
