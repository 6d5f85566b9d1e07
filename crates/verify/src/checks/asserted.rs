//! L5: what the cited text forbids, leaves undone or only asks is not said as a fact.

use super::passages::{Passage, Passages};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::{Quantity, Role, Status};
use crate::text::{Token, has_stem};

const PERMISSIONS: &[&str] = list!("asserted.permissions");
const OPEN: &[&str] = list!("asserted.open");
const NOT_YET: &[&str] = list!("asserted.not-yet");
const PERFECT: &[&str] = list!("asserted.perfect");
const ALONE: &[&str] = list!("asserted.alone");
const FOR: &[&str] = list!("asserted.for");
const EVERYBODY: &[&str] = list!("asserted.everybody");
const HAPPENED: &[&str] = list!("asserted.happened");
const PLANNED: &[&str] = list!("asserted.planned");

/// A sentence is about the claim if it has this share of its words.
const ABOUT: f64 = 0.6;
const MOST: f64 = 0.99;
const HALF: f64 = 0.5;

/// Least number of shared words.
const LEAST: usize = 2;

/// Finds a denial, an open state or a question of the text that the claim states as a fact.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let denies = tokens.iter().any(|t| {
        t.negates() && !t.does(Role::Bending) || t.turns() || t.negated && !tokens_bend(tokens)
    });
    let found = repeated(case, passages).filter(|_| !denies);
    let found = found.or_else(|| permitted(case, passages).filter(|_| !denies));
    let found = found.or_else(|| done(case, passages).filter(|_| !denies));
    let found = found.or_else(|| only_planned(case, passages).filter(|_| !denies));
    found
        .or_else(|| asked(case, passages))
        .or_else(|| any_of_only(case, passages))
        .or_else(|| one_of_several(case, passages))
        .or_else(|| everybody(case, passages))
}

/// "Unless": what follows is a condition.
fn tokens_bend(tokens: &[Token]) -> bool {
    let mut negations = tokens.iter().filter(|t| t.negates());
    negations.any(|t| t.does(Role::Bending))
}

fn is_one_of(reading: &Reading, token: &Token, list: &[&str]) -> bool {
    list.contains(&&*reading.lower_word(token))
}

/// "Add sugar unless it is old" where the text has the same words behind "do not".
fn repeated(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let own = case.claim.text.tokens.as_slice();
    if own.len() < 4 {
        return None;
    }
    passages.with(LEAST).take(4).find_map(|passage| {
        let theirs = passage.tokens();
        let at = theirs
            .windows(own.len())
            .position(|w| w.iter().zip(own).all(|(a, b)| a.id == b.id))?;
        let before = theirs.get(at.checked_sub(1)?)?;
        let found = before.negates() && !passage_has_hollow(theirs, at);
        let word = case.claim.word(own.first()?).to_owned();
        let detail = Detail::TextNegates { said: word };
        let objection = Objection::new(Code::Negation, Effect::Rejects, detail);
        found.then(|| objection.against(passage.source.item.label, passage.bytes()))
    })
}

fn passage_has_hollow(tokens: &[Token], at: usize) -> bool {
    tokens.get(at).is_some_and(Token::hollow)
}

/// "A little of it is fine" where the text says never to use it.
fn permitted(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let word = tokens
        .iter()
        .find(|t| is_one_of(case.claim, t, PERMISSIONS))?;
    let rest: Vec<&Token> = passages
        .words
        .iter()
        .copied()
        .filter(|t| t.id != word.id && !t.does(Role::Everyday) && t.quantity().is_none())
        .collect();
    if rest.is_empty() || tokens.iter().any(|t| t.does(Role::Conditional)) {
        return None;
    }
    let mut found = None;
    for passage in passages.with(1) {
        if Passages::share(&rest, passage.tokens()) < HALF {
            continue;
        }
        let mut same = passage.tokens().iter();
        let is_denied = same.any(|t| t.negated && rest.iter().any(|r| r.id == t.id));
        if !is_denied {
            return None;
        }
        found = found.or(Some(passage));
    }
    let passage = found?;
    let said = case.claim.word(rest.first()?).to_owned();
    let found = Objection::new(Code::Negation, Effect::Doubts, Detail::TextNegates { said });
    Some(found.against(passage.source.item.label, passage.bytes()))
}

/// "It has been repaired" where the text says that it is still broken, or not yet done.
fn done(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let claim = case.claim;
    let tokens = claim.text.tokens.as_slice();
    let at = tokens.windows(2).position(|w| {
        is_one_of(claim, &w[0], PERFECT) && (claim.lower_word(&w[1]) == "been" || w[1].is_content())
    })?;
    if tokens.iter().any(|t| is_one_of(claim, t, OPEN)) {
        return None;
    }
    let subject: Vec<&Token> = tokens
        .get(..at)?
        .iter()
        .filter(|t| t.is_content())
        .collect();
    if subject.is_empty() {
        return None;
    }
    let mut found = None;
    for passage in passages.with(1) {
        if Passages::share(&subject, passage.tokens()) < MOST {
            continue;
        }
        let reading = passage.reading();
        let open = passage
            .tokens()
            .iter()
            .find(|t| is_one_of(reading, t, NOT_YET))?;
        found = found.or(Some((passage, reading.word(open).to_owned())));
    }
    let (passage, word) = found?;
    let found = Objection::new(
        Code::Status,
        Effect::Doubts,
        Detail::LeftOut { found: word },
    );
    Some(found.against(passage.source.item.label, passage.bytes()))
}

/// "A sample was taken" where the text says that one is planned, and "it is already running" where it
/// was put off.
fn only_planned(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let claim = case.claim;
    let all = claim.text.tokens.as_slice();
    let is_open = |t: &Token| {
        is_one_of(claim, t, PLANNED)
            || is_one_of(claim, t, OPEN) && !t.negates()
            || t.status() == Some(Status::Proposed)
            || t.mood().is_some()
    };
    if all.iter().any(is_open) {
        return None;
    }
    let mut clauses = all.chunk_by(|a, b| a.clause == b.clause);
    clauses.find_map(|own| {
        let happened = own.iter().find(|t| is_one_of(claim, t, HAPPENED))?;
        let words: Vec<&Token> = own.iter().filter(|t| t.is_content_or_number()).collect();
        let held = |p: &Passage<'_>| {
            let shared = words.iter().filter(|w| has_stem(p.tokens(), w.id));
            shared.count()
        };
        let about = passages.with(LEAST).map(|p| (p, held(p)));
        let best = about.reduce(|a, b| if b.1 > a.1 { b } else { a });
        let (passage, shared) = best?;
        let reading = passage.reading();
        let mut theirs = passage.tokens().iter();
        let is_settled = theirs.clone().any(|t| {
            matches!(t.status(), Some(Status::Done | Status::Decided))
                || is_one_of(reading, t, HAPPENED)
                || t.negates()
        });
        if shared < LEAST || shared * 2 < words.len() || is_settled {
            return None;
        }
        let open = theirs
            .find(|t| is_one_of(reading, t, PLANNED) || t.status() == Some(Status::Proposed))?;
        let detail = Detail::Differs {
            said: claim.word(happened).to_owned(),
            found: reading.word(open).to_owned(),
        };
        let found = Objection::new(Code::Status, Effect::Doubts, detail);
        let found = found.at(happened.start..happened.end);
        Some(found.against(passage.source.item.label, passage.bytes()))
    })
}

/// A statement that the text only has as a question.
fn asked(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let claim = case.claim;
    let mut tokens = claim.text.tokens.iter();
    if tokens.any(|t| is_one_of(claim, t, OPEN) || t.does(Role::Asking)) {
        return None;
    }
    let mut found = None;
    for passage in passages.with(1) {
        if Passages::share(&passages.words, passage.tokens()) < ABOUT {
            continue;
        }
        let text = passage.reading().normal.get(passage.bytes()).unwrap_or("");
        if !text.trim_end().ends_with('?') {
            return None;
        }
        found = found.or(Some(passage));
    }
    let passage = found?;
    let why = "The cited text only asks this.".to_owned();
    let found = Objection::new(Code::Status, Effect::Doubts, Detail::Pointer { why });
    Some(found.against(passage.source.item.label, passage.bytes()))
}

/// "For any reason" where the text has "only for an important reason".
fn any_of_only(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let claim = case.claim;
    let tokens = claim.text.tokens.as_slice();
    let (word, noun) = tokens.windows(2).find_map(|w| {
        let free = w[0].quantity() == Some(Quantity::Universal) || w[0].does(Role::Freeing);
        (free && w[1].is_content()).then_some((&w[0], &w[1]))
    })?;
    if tokens
        .iter()
        .any(|t| t.negates() || t.does(Role::Restricting))
    {
        return None;
    }
    let mut found = None;
    for passage in passages.with(LEAST) {
        let theirs = passage.tokens();
        let Some(same) = theirs.iter().find(|t| t.id == noun.id) else {
            continue;
        };
        let reading = passage.reading();
        let before = theirs.iter().take_while(|t| t.start < same.start);
        let near = before.filter(|t| t.clause == same.clause);
        let only = near
            .filter(|t| matches!(&*reading.lower_word(t), "only" | "solely"))
            .last()?;
        found = found.or(Some((passage, reading.word(only).to_owned())));
    }
    let (passage, only) = found?;
    let detail = Detail::Differs {
        said: claim.word(word).to_owned(),
        found: only,
    };
    let found = Objection::new(Code::Quantifier, Effect::Rejects, detail);
    let found = found.at(word.start..word.end);
    Some(found.against(passage.source.item.label, passage.bytes()))
}

/// "One of several causes" where the text blames one alone.
fn one_of_several(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let claim = case.claim;
    let mut pairs = claim.text.tokens.windows(2);
    let pair = pairs.find(|w| {
        claim.lower_word(&w[0]) == "one" && claim.lower_word(&w[1]) == "of"
            || claim.lower_word(&w[0]) == "among" && claim.lower_word(&w[1]) == "others"
    })?;
    let word = pair.first()?;
    let passage = passages.with(LEAST).next()?;
    let reading = passage.reading();
    let mut tokens = passage.tokens().iter();
    let alone = tokens.find(|t| is_one_of(reading, t, ALONE))?;
    let detail = Detail::Differs {
        said: claim.normal.get(word.start..pair.get(1)?.end)?.to_owned(),
        found: reading.word(alone).to_owned(),
    };
    let found = Objection::new(Code::Quantifier, Effect::Doubts, detail);
    let found = found.at(word.start..word.end);
    Some(found.against(passage.source.item.label, passage.bytes()))
}

/// "Free for everyone" where no sentence about it says that of everybody.
fn everybody(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let claim = case.claim;
    // "Anyone who joins" is not everybody.
    let mut pairs = claim.text.tokens.windows(2);
    let pair =
        pairs.find(|w| is_one_of(claim, &w[0], FOR) && is_one_of(claim, &w[1], EVERYBODY))?;
    let word = pair.get(1)?;
    let first = passages.with(1).next()?;
    let backed = passages
        .with(LEAST)
        .any(|p| says_of_all(p) || p.tokens().iter().any(|t| t.does(Role::Freeing)));
    if backed {
        return None;
    }
    let said = claim.word(word).to_owned();
    let found = Objection::new(Code::Quantifier, Effect::Doubts, Detail::Added { said });
    let found = found.at(word.start..word.end);
    Some(found.against(first.source.item.label, first.bytes()))
}

fn says_of_all(passage: &Passage<'_>) -> bool {
    let mut tokens = passage.tokens().iter();
    tokens.any(|t| matches!(t.quantity(), Some(Quantity::Universal | Quantity::Nothing)))
}
