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
    if tokens.iter().any(is_open) || !tokens.iter().any(is_done) && !tells_alike(claim, tokens) {
        return None;
    }
    let has_task = |ticked: bool| {
        passages
            .with(1)
            .filter(move |p| is_ticked(p) == Some(ticked))
    };
    let (task, shared) = has_task(false)
        .map(|p| (p, shared(claim, p)))
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
    let found = Objection::new(Code::Status, Effect::Rejects, detail);
    Some(found.against(task.source.item.label, task.bytes()))
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
