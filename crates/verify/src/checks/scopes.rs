//! L5: a claim about all of them has no exception in the cited text, and no part of them: "without
//! exception" against "except the quince", "all five took" against "two of five". In several languages.

use super::passages::{Passage, Passages};
use super::{Case, Effect};
use crate::Code;
use crate::atoms::What;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::{Quantity, Role};
use crate::text::Token;

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

/// Maximum number of words between "without" and "exception".
const NEAR: usize = 3;

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
    let (said, found) = no_exception(claim, own, passage, excepts)
        .or_else(|| part_of_all(claim, own, passage))
        .or_else(|| only_of_all(claim, own, passage))?;
    let detail = Detail::Differs {
        said: claim.word(said).to_owned(),
        found: passage.reading().word(found).to_owned(),
    };
    let objection = Objection::new(Code::Quantifier, Effect::Doubts, detail);
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
