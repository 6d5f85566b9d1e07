//! L5: what a text says of all but one thing, it denies of that thing: "Everyone except the owner can be
//! removed" means that the owner cannot be removed, and "nobody but the chair may sign" that the chair
//! may.

use super::passages::{Passage, Passages};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::{Quantity, Role};
use crate::text::{Token, has_stem};

const UNIVERSAL: &[&str] = list!("scopes.universal");
const NOBODY: &[&str] = list!("exceptions.nobody");
const EXCEPTING: &[&str] = list!("exceptions.excepting");
const AUXILIARIES: &[&str] = list!("exceptions.auxiliaries");

/// Maximum number of words from "everyone" to "except", and of words of what is taken out.
const NEAR: usize = 4;
const OBJECT: usize = 5;

/// Maximum number of sentences that are looked at.
const MOST: usize = 6;

/// A sentence that takes out the subject of the claim.
struct Exception<'p, 'a> {
    passage: &'p Passage<'a>,
    /// Whether the sentence asserts something of the others, so that it denies it of the subject.
    denies: bool,
    /// Whether the sentence has all words of the claim.
    has_all: bool,
}

/// Finds a claim that says of the exception what the text says of the rest.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let found = exception(case, passages)?;
    let negation = case.claim.text.tokens.iter().find(|t| t.negates());
    if negation.is_some() == found.denies {
        return None;
    }
    let subject = subject(case.claim);
    let said = case.claim.shown(0..subject.len()).to_owned();
    let why = match found.denies {
        true => format!("The cited text says this of all but “{said}”."),
        false => format!("The cited text denies this of all but “{said}”."),
    };
    let effect = match found.has_all {
        true => Effect::Rejects,
        false => Effect::Doubts,
    };
    let objection = Objection::new(Code::Negation, effect, Detail::Pointer { why });
    Some(objection.against(found.passage.source.item.label, found.passage.bytes()))
}

/// Removes the objections to a claim that denies of the exception what the text asserts of the rest, or
/// the reverse.
pub(super) fn settle(case: &Case<'_>, passages: &Passages<'_>, objections: &mut Vec<Objection>) {
    let is_of_polarity = |o: &Objection| matches!(o.code, Code::Negation | Code::Modality);
    if !objections.iter().any(is_of_polarity) {
        return;
    }
    let denies = case.claim.text.tokens.iter().any(Token::negates);
    if exception(case, passages).is_some_and(|found| found.denies == denies) {
        objections.retain(|o| !is_of_polarity(o));
    }
}

/// The words of a claim before its verb.
fn subject(claim: &Reading) -> &[Token] {
    let tokens = claim.text.tokens.as_slice();
    let verb = tokens.iter().position(|t| is_verb(claim, t));
    tokens.get(..verb.unwrap_or(0)).unwrap_or(&[])
}

fn is_verb(reading: &Reading, token: &Token) -> bool {
    token.mood().is_some() || AUXILIARIES.contains(&&*reading.lower_word(token))
}

fn exception<'p, 'a>(case: &Case<'a>, passages: &'p Passages<'a>) -> Option<Exception<'p, 'a>> {
    let claim = case.claim;
    let subject = subject(claim);
    let is_of_all = |t: &Token| is_all(claim, t) || is_nobody(claim, t) || excepts(claim, t);
    if subject.is_empty() || claim.text.tokens.iter().any(is_of_all) {
        return None;
    }
    passages.with(2).take(MOST).find_map(|passage| {
        let reading = passage.reading();
        let tokens = passage.tokens();
        let (all, object, rest) = parts(reading, tokens)?;
        let mut words = object.iter().filter(|t| t.is_content()).peekable();
        words.peek()?;
        let is_subject = words.all(|t| has_stem(subject, t.id));
        let others = claim.text.tokens.get(subject.len()..)?.iter();
        let mut others = others.filter(|t| t.is_content_or_number() && !is_verb(claim, t));
        let (mut shared, mut has_all) = (0, true);
        others.by_ref().for_each(|t| {
            let has = has_stem(rest, t.id) || has_stem(tokens, t.id);
            shared += usize::from(has);
            has_all &= has;
        });
        let denied = rest.iter().any(Token::negates);
        (is_subject && shared > 0).then_some(Exception {
            passage,
            denies: is_all(reading, all) != denied,
            has_all,
        })
    })
}

/// The "everyone" of a sentence, what it takes out, and the rest.
fn parts<'t>(
    reading: &Reading,
    tokens: &'t [Token],
) -> Option<(&'t Token, &'t [Token], &'t [Token])> {
    let at = tokens
        .iter()
        .position(|t| is_all(reading, t) || is_nobody(reading, t))?;
    let mut near = tokens.iter().enumerate().skip(at + 1).take(NEAR);
    let (from, _) = near.find(|(_, t)| excepts(reading, t))?;
    let behind = tokens.get(from + 1..)?;
    let verb = behind
        .iter()
        .take(OBJECT + 1)
        .position(|t| is_verb(reading, t))?;
    Some((tokens.get(at)?, behind.get(..verb)?, behind.get(verb..)?))
}

fn is_all(reading: &Reading, token: &Token) -> bool {
    token.quantity() == Some(Quantity::Universal)
        || UNIVERSAL.contains(&&*reading.lower_word(token))
}

fn is_nobody(reading: &Reading, token: &Token) -> bool {
    token.quantity() == Some(Quantity::Nothing) || NOBODY.contains(&&*reading.lower_word(token))
}

fn excepts(reading: &Reading, token: &Token) -> bool {
    token.does(Role::Excepting) || EXCEPTING.contains(&&*reading.lower_word(token))
}
