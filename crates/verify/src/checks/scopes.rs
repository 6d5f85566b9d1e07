//! L5: a claim about all of them has no exception in the cited text, and no part of them: "without
//! exception" against "except the quince", "all five took" against "two of five". In several languages.

use super::passages::{Passage, Passages};
use super::{Case, Effect};
use crate::Code;
use crate::atoms::What;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::{Quantity, Role};
use crate::text::{Token, has_stem};

const UNIVERSAL: &[&str] = list!("scopes.universal");
const EXCEPTING: &[&str] = list!("scopes.excepting");
/// Those of them that often mean something else.
const UNSURE: &[&str] = list!("scopes.unsure");
const EXCEPTION: &[&str] = list!("scopes.exception");
const ONLY: &[&str] = list!("scopes.only");
/// Words for all of two, or at all times.
const PAIRS_AND_TIMES: &[&str] = list!("scopes.pairs-and-times");
const OF: &[&str] = list!("scopes.of");

/// A sentence is about a clause of the claim if it has this share of its words.
const ABOUT: f64 = 0.5;

/// Maximum number of words between "without" and "exception", and from "only" to its object.
const NEAR: usize = 4;

/// Finds "all" where the text has an exception or a part, and "only" where the text has "all".
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let mut clauses = tokens.chunk_by(|a, b| a.clause == b.clause);
    let excepts = |t: &Token| t.does(Role::Excepting) || is_in(case.claim, t, EXCEPTING);
    let denies = tokens.iter().any(|t| is_in(case.claim, t, EXCEPTION));
    let excepts = !denies && tokens.iter().any(excepts);
    clauses.find_map(|clause| in_clause(case, passages, clause, excepts))
}

/// `excepts`: the claim has an exception itself.
fn in_clause(
    case: &Case<'_>,
    passages: &Passages<'_>,
    own: &[Token],
    excepts: bool,
) -> Option<Objection> {
    let claim = case.claim;
    let words: Vec<&Token> = own.iter().filter(|t| is_telling(claim, t)).collect();
    let best = passages
        .all
        .iter()
        .map(|p| (p, Passages::share(&words, p.tokens())))
        .filter(|(_, share)| *share >= ABOUT)
        .reduce(|a, b| if b.1 > a.1 { b } else { a });
    let (passage, _) = best?;
    let sure = no_exception(claim, own, passage, excepts);
    let effect = match sure {
        Some(_) => Effect::Rejects,
        None => Effect::Doubts,
    };
    let (said, found) = sure
        .or_else(|| part_of_all(claim, own, passage))
        .or_else(|| all_of_only(claim, own, passage))
        .or_else(|| every_to_one(claim, own, passage))
        .or_else(|| only_of_except(claim, own, passage))
        .or_else(|| only_of_all(claim, own, passage))?;
    let detail = Detail::Differs {
        said: claim.word(said).to_owned(),
        found: passage.reading().word(found).to_owned(),
    };
    let objection = Objection::new(Code::Quantifier, effect, detail);
    let objection = objection.at(said.start..said.end);
    Some(objection.against(passage.source.item.label, passage.bytes()))
}

fn is_in(reading: &Reading, token: &Token, list: &[&str]) -> bool {
    list.contains(&&*reading.lower_word(token))
}

/// Whether a word says what the clause is about, and not how much of it.
fn is_telling(claim: &Reading, token: &Token) -> bool {
    let lists = [UNIVERSAL, EXCEPTION, ONLY];
    token.is_content_or_number()
        && !token.does(Role::Everyday)
        && !lists.iter().any(|list| is_in(claim, token, list))
}

fn universal<'t>(claim: &Reading, own: &'t [Token]) -> Option<&'t Token> {
    let is_denied = own.iter().any(Token::negates);
    let mut all = own.iter().filter(|t| is_in(claim, t, UNIVERSAL));
    all.next().filter(|_| !is_denied)
}

/// "All" or "without exception" of the claim, and "except" of the text.
fn no_exception<'t>(
    claim: &Reading,
    own: &'t [Token],
    passage: &Passage<'t>,
    excepts: bool,
) -> Option<(&'t Token, &'t Token)> {
    let reading = passage.reading();
    let mut theirs = passage.tokens().iter();
    let found = theirs.find(|t| {
        (t.does(Role::Excepting) || is_in(reading, t, EXCEPTING)) && !is_in(reading, t, UNSURE)
    })?;
    let none = own.iter().position(|t| is_in(claim, t, EXCEPTION));
    if let Some(at) = none {
        let before = own.get(at.saturating_sub(NEAR)..at).unwrap_or(&[]);
        let without = before.iter().any(Token::negates);
        return without.then_some((own.get(at)?, found));
    }
    let said = universal(claim, own)?;
    (!excepts).then_some((said, found))
}

/// "All" of the claim, and "two of five" of the text.
fn part_of_all<'t>(
    claim: &Reading,
    own: &'t [Token],
    passage: &Passage<'t>,
) -> Option<(&'t Token, &'t Token)> {
    let said = universal(claim, own)?;
    let reading = passage.reading();
    let numbers = reading.atoms_of(passage.sentence).iter();
    let numbers: Vec<(f64, &std::ops::Range<usize>)> = numbers
        .filter_map(|atom| match &atom.what {
            What::Number(n) => Some((n.value, &atom.tokens)),
            _ => None,
        })
        .collect();
    let pair = numbers.windows(2).find(|pair| {
        let between = reading.text.tokens.get(pair[0].1.end..pair[1].1.start);
        let between = between.unwrap_or(&[]);
        let joins = between.first().is_some_and(|t| is_in(reading, t, OF));
        pair[0].0 < pair[1].0 && joins && between.len() <= 2
    })?;
    let found = reading.text.tokens.get(pair[0].1.start)?;
    // "All five" must be about the five.
    let whole = reading.text.tokens.get(pair[1].1.start)?;
    own.iter()
        .any(|t| t.id == whole.id)
        .then_some((said, found))
}

/// "All" or "both" of the claim, and "only" of the text.
fn all_of_only<'t>(
    claim: &Reading,
    own: &'t [Token],
    passage: &Passage<'t>,
) -> Option<(&'t Token, &'t Token)> {
    let is_pair = |t: &&Token| is_in(claim, t, PAIRS_AND_TIMES);
    let said = universal(claim, own).or_else(|| own.iter().find(is_pair))?;
    // "Seven in all"; "all that are newer" sets a limit itself.
    let at = own.iter().position(|t| t.start == said.start)?;
    let before = at.checked_sub(1).and_then(|b| own.get(b));
    let behind = own.get(at + 1..).unwrap_or(&[]);
    let is_alone = !behind.first().is_some_and(Token::is_content);
    if is_alone && before.is_some_and(|t| is_in(claim, t, BEFORE_ALL))
        || behind.iter().any(|t| is_in(claim, t, RELATIVE))
    {
        return None;
    }
    let restricts =
        |reading: &Reading, t: &Token| is_in(reading, t, ONLY) || t.does(Role::Restricting);
    if own.iter().any(|t| t.negates() || restricts(claim, t)) {
        return None;
    }
    let reading = passage.reading();
    let mut theirs = passage.tokens().iter();
    let says_all = |t: &Token| is_in(reading, t, UNIVERSAL) || t.id == said.id;
    if theirs.clone().any(says_all) {
        return None;
    }
    Some((said, theirs.find(|t| restricts(reading, t))?))
}

/// "Only on Saturdays" of the claim, and "unless it is a Saturday" of the text.
fn only_of_except<'t>(
    claim: &Reading,
    own: &'t [Token],
    passage: &Passage<'t>,
) -> Option<(&'t Token, &'t Token)> {
    let reading = passage.reading();
    let theirs = passage.tokens();
    let only = own
        .iter()
        .position(|t| is_in(claim, t, ONLY) || t.does(Role::Restricting))?;
    let excepts = |t: &Token| t.does(Role::Excepting) || is_in(reading, t, EXCEPTING);
    let except = theirs
        .iter()
        .position(|t| excepts(t) && !is_in(reading, t, UNSURE))?;
    // "No entry unless it is a Saturday" is "only on Saturdays".
    let denies = |tokens: &[Token], but: usize| {
        let mut others = tokens.iter().enumerate().filter(|(at, _)| *at != but);
        others.any(|(_, t)| t.negates() || t.turns())
    };
    if denies(own, only) || denies(theirs, except) {
        return None;
    }
    let near = |tokens: &'t [Token], at: usize| {
        let end = tokens.len().min(at + 1 + NEAR);
        tokens.get(at + 1..end).unwrap_or(&[])
    };
    let object = near(theirs, except);
    let is_same = |t: &Token| t.is_content() && has_stem(object, t.id);
    let same = near(own, only).iter().any(is_same);
    same.then_some((own.get(only)?, theirs.get(except)?))
}

const BEFORE_ALL: &[&str] = list!("added-modifiers.before-all");
const RELATIVE: &[&str] = list!("scopes.relative");
const ONE: &[&str] = list!("scopes.one");
const EVERY: &[&str] = list!("scopes.every");

/// "Before the first outing" of the claim, and "before every outing" of the text.
fn every_to_one<'t>(
    claim: &Reading,
    own: &'t [Token],
    passage: &Passage<'t>,
) -> Option<(&'t Token, &'t Token)> {
    let reading = passage.reading();
    let theirs = passage.tokens();
    own.windows(2).find_map(|pair| {
        let [one, noun] = pair else { return None };
        if !is_in(claim, one, ONE) || !noun.is_content() || has_stem(theirs, one.id) {
            return None;
        }
        let mut pairs = theirs.windows(2);
        let found = pairs.find(|w| is_in(reading, &w[0], EVERY) && w[1].id == noun.id)?;
        Some((one, found.first()?))
    })
}

/// "Only" of the claim, and "everybody" of the text.
fn only_of_all<'t>(
    claim: &Reading,
    own: &'t [Token],
    passage: &Passage<'t>,
) -> Option<(&'t Token, &'t Token)> {
    let reading = passage.reading();
    let said = own.iter().find(|t| is_in(claim, t, ONLY))?;
    let mut theirs = passage.tokens().iter();
    let restricts = |t: &Token| is_in(reading, t, ONLY) || t.does(Role::Restricting);
    if theirs.clone().any(restricts) {
        return None;
    }
    let found = theirs.find(|t| {
        t.quantity() == Some(Quantity::Universal) && !is_in(reading, t, PAIRS_AND_TIMES)
            || is_in(reading, t, UNIVERSAL)
    })?;
    (!own.iter().any(|t| t.id == found.id)).then_some((said, found))
}
