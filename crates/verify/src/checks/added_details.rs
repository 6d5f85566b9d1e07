//! L6: one more thing, place or reason at the end of a sentence of which the cited text says nothing:
//! "pears and a melon", "cracked in the centrifuge", "because the sample had clotted".
//!
//! A paraphrase replaces words, but it seldom adds a thing. The claim must be in the language of the
//! text, and the rest of it must be near the text.

use super::passages::Passages;
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::tables::Role;
use crate::text::Token;

/// Words that join a further thing, that begin a place, and that stand before a thing.
const JOINING: &[&str] = list!("added-details.joining");
const PLACES: &[&str] = list!("added-details.places");
const ARTICLES: &[&str] = list!("added-details.articles");
/// Words that begin a reason.
const REASONS: &[&str] = list!("added-details.reasons");

/// Maximum number of words of a thing or a place, and of a reason.
const THING: usize = 3;
const REASON: usize = 12;

/// Maximum number of additions of one claim that are looked up, and of words before one; both bound
/// the work on hostile text.
const MOST_CUES: usize = 16;
const MOST_BEFORE: usize = 24;

/// Words of the times of a day: "nine in the morning" says no more than "9 am".
const TIMES: &[&str] = list!("denied.times");

/// One sentence of the text has this share of the words before the addition.
const ABOUT: f64 = 0.4;

/// The doubt about the first addition that the cited text does not have.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let lists = [JOINING, PLACES, REASONS, &["as"]];
    let is_cue = |at: &usize| {
        let word = tokens.get(*at).map(|t| case.claim.lower_word(t));
        word.is_some_and(|word| lists.iter().any(|list| list.contains(&&*word)))
    };
    let mut cues = (1..tokens.len()).filter(is_cue).take(MOST_CUES);
    cues.find_map(|at| addition(case, passages, at))
}

fn addition(case: &Case<'_>, passages: &Passages<'_>, at: usize) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let cue = case.claim.lower_word(tokens.get(at)?);
    let (end, code) = if JOINING.contains(&&*cue) || PLACES.contains(&&*cue) {
        // "In the morning" without an article is often a set phrase: "in parallel".
        let article = tokens.get(at + 1).map(|t| case.claim.lower_word(t))?;
        let is_thing = ARTICLES.contains(&&*article);
        if !is_thing && !JOINING.contains(&&*cue) {
            return None;
        }
        (end_of(case, at, THING + 2), Code::LowSupport)
    } else if REASONS.contains(&&*cue) || begins_as(case, at) {
        (end_of(case, at, REASON), Code::Cause)
    } else {
        return None;
    };
    let own = tokens.get(at + 1..end)?;
    let before = tokens.get(at.saturating_sub(MOST_BEFORE)..at)?;
    if !is_unknown(case, own, code) || !is_about(passages, before) {
        return None;
    }
    let said = case.claim.shown(at..end).to_owned();
    let bytes = tokens.get(at)?.start..own.last()?.end;
    let found = Objection::new(code, Effect::Doubts, Detail::Absent { said });
    Some(found.at(bytes))
}

/// "It is closed, as the roof leaks": "as" behind a comma, but not "as well" or "as soon as".
fn begins_as(case: &Case<'_>, at: usize) -> bool {
    let tokens = case.claim.text.tokens.as_slice();
    let is_as = |at: usize| {
        let token = tokens.get(at);
        token.is_some_and(|t| case.claim.lower_word(t) == "as")
    };
    is_as(at) && follows_comma(case, at) && !is_as(at + 2) && at + 2 < tokens.len()
}

fn gap<'c>(case: &'c Case<'_>, at: usize) -> &'c str {
    let tokens = case.claim.text.tokens.as_slice();
    let pair = at
        .checked_sub(1)
        .and_then(|b| tokens.get(b))
        .zip(tokens.get(at));
    let bytes = pair.map(|(a, b)| a.end..b.start);
    bytes
        .and_then(|bytes| case.claim.normal.get(bytes))
        .unwrap_or("")
}

fn follows_comma(case: &Case<'_>, at: usize) -> bool {
    gap(case, at).contains(',')
}

/// Where the addition at `at` ends: at a comma, a full stop, or after `most` words.
fn end_of(case: &Case<'_>, at: usize, most: usize) -> usize {
    let tokens = case.claim.text.tokens.as_slice();
    let last = tokens.len().min(at + most + 1);
    let cut = (at + 2..last).find(|n| {
        let gap = gap(case, *n);
        gap.contains([',', ';', ':', '(', ')', '—', '–', '.'])
    });
    cut.unwrap_or(last)
}

/// Whether the text has no word of a thing, or at most half of a reason.
fn is_unknown(case: &Case<'_>, own: &[Token], code: Code) -> bool {
    let words = own.iter().filter(|t| t.is_content_or_number());
    let words: Vec<&Token> = words.filter(|t| !t.does(Role::Everyday)).collect();
    let is_word = |t: &&Token| !t.number && !t.may_be_amount() && !t.capital;
    let strange = words
        .iter()
        .filter(|t| is_word(t) && !is_known(case, t))
        .count();
    match code {
        Code::Cause => strange > 0 && strange * 2 >= words.len(),
        _ => {
            let is_thing = names_a_thing(case, own) && words.len() <= THING;
            is_thing && strange > 0 && strange == words.len() && ends(case, own)
        }
    }
}

/// Whether words are an article or none, and then only words with content: "a balanced budget", but not
/// "the one that is left", "the frame has a border", "the morning".
fn names_a_thing(case: &Case<'_>, own: &[Token]) -> bool {
    let article = own.first().map(|t| case.claim.lower_word(t));
    let is_article = article.is_some_and(|word| ARTICLES.contains(&&*word));
    let thing = own.get(usize::from(is_article)..).unwrap_or(&[]);
    let is_time = |t: &Token| TIMES.contains(&&*case.claim.lower_word(t));
    thing.iter().all(|t| t.is_content() && !is_time(t))
}

/// Whether the claim or its clause ends behind these words.
fn ends(case: &Case<'_>, own: &[Token]) -> bool {
    let end = own.last().map_or(0, |t| t.end);
    let rest = case.claim.normal.get(end..).unwrap_or("").trim_start();
    rest.is_empty() || rest.starts_with(['.', ',', ';', ':', '!', ')', '['])
}

fn is_about(passages: &Passages<'_>, before: &[Token]) -> bool {
    let words: Vec<&Token> = before.iter().filter(|t| t.is_content_or_number()).collect();
    let mut all = passages.all.iter();
    words.len() >= 2 && all.any(|p| Passages::share(&words, p.tokens()) >= ABOUT)
}

fn is_known(case: &Case<'_>, token: &Token) -> bool {
    case.cited
        .iter()
        .chain(case.others)
        .map(|s| s.reading)
        .chain([case.around, case.asked])
        .any(|r| r.matches(token.id, case.lexicon) > 0.0)
}
