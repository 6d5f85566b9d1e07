//! L5: what the claim says to follow from a condition follows from it in the cited text too: "if the
//! tap blinks" must not take over what the text says "if the drain blinks".

use super::clauses::extent;
use super::passages::{Passage, Passages};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::text::{Token, has_stem};

/// The sentence that has what follows has this share of its words.
const MAIN: f64 = 0.75;

/// How many sentences after a condition may still say what follows from it.
const REACH: usize = 2;

const CONDITIONS: &[&str] = list!("consequences.begin");
const WISHES: &[&str] = list!("consequences.wishes");

/// Finds a consequence that the text ties to another condition.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let claim = case.claim;
    let tokens = claim.text.tokens.as_slice();
    let at = tokens
        .iter()
        .position(|t| CONDITIONS.contains(&&*claim.lower_word(t)))?;
    let range = extent(case, at);
    let split = tokens.iter().enumerate();
    let (inside, outside): (Vec<_>, Vec<_>) = split
        .filter(|(_, t)| t.is_content_or_number())
        .partition(|(i, _)| range.contains(i));
    let condition: Vec<&Token> = inside.into_iter().map(|(_, t)| t).collect();
    let main: Vec<&Token> = outside.into_iter().map(|(_, t)| t).collect();
    if condition.is_empty() || main.is_empty() {
        return None;
    }
    let mut found: Option<(&Passage<'_>, &Token)> = None;
    let mut is_known = false;
    for passage in passages.with(1) {
        is_known |= Passages::share(&condition, passage.tokens()) >= 1.0;
        if Passages::share(&main, passage.tokens()) < MAIN {
            continue;
        }
        let other = governing(passage)?;
        let reading = passage.reading();
        let theirs = reading.tokens_of(other);
        let strange = condition.iter().find(|t| !has_stem(theirs, t.id))?;
        // The condition may be spread over the sentences.
        if (other..=passage.sentence).any(|n| has_stem(reading.tokens_of(n), strange.id)) {
            return None;
        }
        found = found.or(Some((passage, strange)));
    }
    let (passage, _) = found.filter(|_| is_known)?;
    let said = claim.shown(range.clone()).to_owned();
    let bytes = tokens.get(range.start)?.start..tokens.get(range.end - 1)?.end;
    let detail = Detail::Elsewhere {
        said: claim_words(claim, &main),
        of: said,
        belongs_to: None,
        found: None,
    };
    // "If he wants that", "if he wishes": a wish can be said in many words, and so can one word.
    let wishes = |reading: &Reading, tokens: &[Token]| {
        let mut tokens = tokens.iter();
        tokens.any(|t| WISHES.contains(&&*reading.lower_word(t)))
    };
    if wishes(claim, tokens.get(range.clone()).unwrap_or(&[]))
        && wishes(passage.reading(), passage.tokens())
    {
        return None;
    }
    let effect = match Passages::share(&main, passage.tokens()) {
        1.0.. if condition.len() > 1 => Effect::Rejects,
        _ => Effect::Doubts,
    };
    let found = Objection::new(Code::Condition, effect, detail).at(bytes);
    Some(found.against(passage.source.item.label, passage.bytes()))
}

/// The text of the claim from the first to the last of these words.
fn claim_words(claim: &Reading, words: &[&Token]) -> String {
    let (first, last) = (words.first(), words.last());
    let bytes = first.zip(last).map(|(a, b)| a.start..b.end);
    let text = bytes.and_then(|bytes| claim.normal.get(bytes));
    text.unwrap_or("").to_owned()
}

/// The sentence with the condition that a sentence follows from: itself, or one shortly before it.
fn governing(passage: &Passage<'_>) -> Option<usize> {
    let reading = passage.reading();
    let own = reading.sentence(passage.sentence)?;
    let from = passage.sentence.saturating_sub(REACH);
    (from..=passage.sentence).rev().find(|n| {
        let same = reading.sentence(*n).is_some_and(|s| s.block == own.block);
        let tokens = reading.tokens_of(*n);
        let mut tokens = tokens.iter();
        same && tokens.any(|t| CONDITIONS.contains(&&*reading.lower_word(t)))
    })
}
