//! L5: a task of a list with boxes is as done, and has the same person, as the list says: "- [ ]
//! Repair the fence (Olu)".

use super::passages::{Passage, Passages};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::Status;
use crate::text::{Token, has_stem};

/// A claim speaks of a task if it has this share of the task's words.
const ABOUT: f64 = 0.75;

/// Maximum number of tokens of a task.
const LONGEST: usize = 40;

/// Words of a claim about a task that is still open, and about one that is done.
const OPEN: &[&str] = list!("boxes.open");
const DONE: &[&str] = list!("boxes.done");
const PASSIVE: &[&str] = list!("boxes.passive");
const PASSIVE_ELSEWHERE: &[&str] = list!("boxes.passive-elsewhere");
const TO_DO: &[&str] = list!("boxes.to-do");

/// The objection to a task that the claim says is done and the list leaves open, or the reverse.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let clauses = tokens.chunk_by(|a, b| a.clause == b.clause);
    let mut parts = clauses.chain(std::iter::once(tokens));
    let (passage, said, ticked) = parts.find_map(|own| differs(case.claim, own, passages))?;
    let words = |done: bool| if done { "done" } else { "not done" };
    let detail = Detail::Differs {
        said: words(said).to_owned(),
        found: words(ticked).to_owned(),
    };
    let found = Objection::new(Code::Status, Effect::Rejects, detail);
    Some(found.against(passage.source.item.label, passage.bytes()))
}

/// The task that a part of the claim speaks of, whether it is done there, and in the list; `None` if
/// these agree.
fn differs<'p, 'a>(
    claim: &Reading,
    own: &[Token],
    passages: &'p Passages<'a>,
) -> Option<(&'p Passage<'a>, bool, bool)> {
    let mut tasks = passages
        .with(1)
        .filter_map(|passage| Some((passage, is_ticked(passage)?)))
        .filter(|(passage, _)| is_about(claim, own, passage));
    let (passage, ticked) = tasks.next()?;
    if tasks.next().is_some() {
        return None;
    }
    let said = state(claim, own, passage)?;
    (said != ticked).then_some((passage, said, ticked))
}

/// Whether the box before a sentence is ticked; `None` without a box.
pub(super) fn is_ticked(passage: &Passage<'_>) -> Option<bool> {
    let normal = passage.reading().normal.as_str();
    let bytes = passage.bytes();
    let own = normal.get(bytes.clone()).unwrap_or("").trim_start();
    let own = own.trim_start_matches(['-', '*', '+', ' ']);
    let before = normal.get(..bytes.start).unwrap_or("").trim_end();
    let has = |mark: &str| own.starts_with(mark) || before.ends_with(mark);
    if has("[ ]") {
        Some(false)
    } else if has("[x]") || has("[X]") {
        Some(true)
    } else {
        None
    }
}

/// The words of a task with content, without those in brackets behind it.
fn task_words<'a>(passage: &Passage<'a>) -> Vec<&'a Token> {
    let inside = in_brackets(passage.reading(), passage.sentence);
    let end = inside.first().map_or(usize::MAX, |t| t.start);
    let counted = passage.tokens().iter().filter(|t| t.start < end);
    counted
        .filter(|t| t.is_content_or_number())
        .take(LONGEST)
        .collect()
}

fn is_about(claim: &Reading, own: &[Token], passage: &Passage<'_>) -> bool {
    let words = task_words(passage);
    let reading = passage.reading();
    let held = words
        .iter()
        .filter(|t| said_in(claim, own, reading, t).is_some());
    let held = held.count();
    words.len() >= 2 && super::ratio(held, words.len()) >= ABOUT
}

/// The claim's word for a word of a task: the word itself, or a longer form of it.
fn said_in<'c>(
    claim: &Reading,
    own: &'c [Token],
    reading: &Reading,
    word: &Token,
) -> Option<&'c Token> {
    let written = reading.lower_word(word);
    own.iter().find(|t| {
        let said = claim.lower_word(t);
        let is_form = written.len() >= 4 && said.starts_with(&*written);
        t.id == word.id || is_form || is_form_of_verb(&said, &written)
    })
}

/// Least number of letters in which two forms of a verb begin alike.
const STEM: usize = 5;

/// Maximum number of letters behind them: the ending.
const ENDING: usize = 4;

/// Whether two words look like forms of one verb: "réparé" and "réparer", "gereinigt" and "reinigen".
fn is_form_of_verb(one: &str, other: &str) -> bool {
    let without_prefix = one
        .find("ge")
        .map(|at| [&one[..at], &one[at + "ge".len()..]].concat());
    share_a_beginning(one, other)
        || without_prefix.is_some_and(|one| share_a_beginning(&one, other))
}

fn share_a_beginning(one: &str, other: &str) -> bool {
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b);
    let same = same.count();
    let longest = one.chars().count().max(other.chars().count());
    same >= STEM && longest - same <= ENDING
}

/// Whether the claim tells in another language that a task was done: its verb stands there in another
/// form than in the task, behind a word for the past and no word for what is to do.
fn is_told_as_done(claim: &Reading, tokens: &[Token], passage: &Passage<'_>) -> bool {
    let reading = passage.reading();
    let is = |t: &Token, list: &[&str]| list.contains(&&*claim.lower_word(t));
    let inflected = task_words(passage).iter().any(|word| {
        said_in(claim, tokens, reading, word).is_some_and(|said| {
            let (own, written) = (claim.lower_word(said), reading.lower_word(word));
            own != written && is_form_of_verb(&own, &written)
        })
    });
    inflected
        && tokens.iter().any(|t| is(t, PASSIVE_ELSEWHERE))
        && !tokens.iter().any(|t| is(t, TO_DO) || t.negates())
}

/// Whether the claim says that a task is done; `None` if it does not say.
fn state(claim: &Reading, tokens: &[Token], passage: &Passage<'_>) -> Option<bool> {
    let is = |t: &Token, list: &[&str]| list.contains(&&*claim.lower_word(t));
    let denied = tokens.iter().any(Token::negates);
    if tokens.iter().any(|t| is(t, OPEN)) {
        return (!denied).then_some(false);
    }
    let is_done = tokens
        .iter()
        .any(|t| is(t, DONE) || t.status() == Some(Status::Done));
    let verb = passage.tokens().iter().find(|t| t.is_content())?;
    let verb = said_in(claim, tokens, passage.reading(), verb);
    let is_past = verb.is_some_and(|verb| {
        let word = claim.lower_word(verb);
        let before = tokens.iter().take_while(|t| t.start < verb.start);
        let near = before.collect::<Vec<_>>();
        let near = near.iter().rev().take(NEAR);
        let passive = near.clone().any(|t| is(t, PASSIVE));
        let future = near.clone().any(|t| t.mood().is_some());
        (word.ends_with("ed") || passive) && !future && near.clone().all(|t| !is(t, &["be", "to"]))
    });
    (is_done || is_past || is_told_as_done(claim, tokens, passage)).then_some(!denied)
}

/// How many words before a verb show its tense.
const NEAR: usize = 4;

/// The objection to a person that the list gives another task to.
pub(super) fn person(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let mut tasks = passages
        .with(1)
        .filter(|p| is_item(p) && is_about(case.claim, &case.claim.text.tokens, p));
    let task = tasks.next().filter(|_| tasks.next().is_none())?;
    let theirs = in_brackets(task.reading(), task.sentence);
    let first = theirs.first()?;
    if theirs.iter().any(|t| case.claim.has(t.id)) {
        return None;
    }
    let own =
        case.claim.text.tokens.iter().find(|t| {
            t.is_content() && !has_stem(task.tokens(), t.id) && owns_a_task(case, task, t)
        })?;
    let detail = Detail::Differs {
        said: case.claim.word(own).to_owned(),
        found: task.reading().word(first).to_owned(),
    };
    let found = Objection::new(Code::Referent, Effect::Rejects, detail).at(own.start..own.end);
    Some(found.against(task.source.item.label, task.bytes()))
}

fn is_item(passage: &Passage<'_>) -> bool {
    let sentence = passage.reading().sentence(passage.sentence);
    sentence.is_some_and(|s| s.role == local_agent_text::markdown::BlockRole::ListItem)
}

/// The words in brackets at the end of an item: "Repair the fence (Olu)", "games (the children)".
fn in_brackets(reading: &Reading, sentence: usize) -> Vec<&Token> {
    let tokens = reading.tokens_of(sentence);
    let Some(last) = tokens.last() else {
        return Vec::new();
    };
    let behind = reading.normal.get(last.end..).unwrap_or("");
    let opens = |t: &&Token| {
        let before = reading.normal.get(..t.start).unwrap_or("");
        before.ends_with('(')
    };
    let first = tokens.iter().rev().take(NEAR).find(opens);
    let Some(first) = first.filter(|_| behind.starts_with(')')) else {
        return Vec::new();
    };
    let inside = tokens.iter().filter(|t| t.start >= first.start);
    inside.filter(|t| t.is_content()).collect()
}

/// Maximum number of sentences in which a name is looked up.
const MOST_SENTENCES: usize = 12;

/// Whether a word stands alone in brackets behind another item of the same text.
fn owns_a_task(case: &Case<'_>, task: &Passage<'_>, name: &Token) -> bool {
    case.cited.iter().any(|source| {
        let same = std::ptr::eq(source.reading, task.reading());
        let sentences = source.reading.sentences_with(name.id).iter();
        same && sentences.take(MOST_SENTENCES).any(|n| {
            let inside = in_brackets(source.reading, *n as usize);
            matches!(inside.as_slice(), [one] if one.id == name.id)
        })
    })
}
