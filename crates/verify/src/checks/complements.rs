//! A claim may say what a bound allows where the cited text says what it forbids: "Up to 20
//! attachments are accepted" for "More than 20 attachments are rejected". And it may compare from the
//! other side: "Porto is cooler than Lisbon" for "Lisbon is warmer than Porto".

use super::Case;
use super::atoms::readings;
use super::ends::is_shared;
use super::numbers::comparable;
use crate::Code;
use crate::atoms::{self as a, Atom, Bound, Number, What};
use crate::finding::Objection;
use crate::reading::Reading;
use crate::text::Token;

/// Takes back what was found against a claim that restates a bound of the cited text from its other
/// side.
pub(super) fn settle(case: &Case<'_>, objections: &mut Vec<Objection>) {
    let speaks_of_bounds = |o: &Objection| {
        matches!(
            o.code,
            Code::Quantifier | Code::Direction | Code::Status | Code::Negation
        )
    };
    if objections.iter().any(speaks_of_bounds) && restates(case) {
        objections.retain(|o| !speaks_of_bounds(o));
    }
    let speaks_of_sides = |o: &Objection| matches!(o.code, Code::Direction | Code::Order);
    if objections.iter().any(speaks_of_sides) && compares_from_the_other_side(case) {
        objections.retain(|o| !speaks_of_sides(o));
    }
}

/// Forms of "to be" before what is said of something.
const BE: &[&str] = list!("complements.be");
/// Words between two things that are compared, and the number of words before one that are searched
/// for the adjective.
const NEAR: usize = 2;
const THAN: &[&str] = list!("complements.than");

/// Whether a sentence of the cited text compares the same two things the other way round, with the
/// opposite word.
fn compares_from_the_other_side(case: &Case<'_>) -> bool {
    let own = case.claim.text.tokens.as_slice();
    let Some((first, second)) = compared(case.claim, own) else {
        return false;
    };
    readings(case).any(|reading| {
        let sentences = 0..reading.text.sentences.len();
        let mut sentences = sentences.map(|n| reading.tokens_of(n));
        sentences.any(|sentence| {
            let Some((theirs_first, theirs_second)) = compared(reading, sentence) else {
                return false;
            };
            let is_turned = is_shared(&first, &theirs_second) && is_shared(&second, &theirs_first);
            let mut adjectives = before_than(case.claim, own).iter();
            let theirs = before_than(reading, sentence);
            is_turned && adjectives.any(|t| theirs.iter().any(|other| t.is_opposite_of(other)))
        })
    })
}

/// The stems of the two things that some words compare.
fn compared(reading: &Reading, tokens: &[Token]) -> Option<(Vec<u32>, Vec<u32>)> {
    let is_than = |t: &Token| THAN.contains(&&*reading.lower_word(t));
    let at = tokens.iter().position(is_than)?;
    let names = |tokens: &[Token]| -> Vec<u32> {
        let named = tokens.iter().filter(|t| t.is_content_or_number());
        named.map(|t| t.id).collect()
    };
    Some((names(tokens.get(..at)?), names(tokens.get(at + 1..)?)))
}

/// The words directly before "than".
fn before_than<'t>(reading: &Reading, tokens: &'t [Token]) -> &'t [Token] {
    let is_than = |t: &Token| THAN.contains(&&*reading.lower_word(t));
    let at = tokens.iter().position(is_than).unwrap_or(0);
    tokens.get(at.saturating_sub(NEAR)..at).unwrap_or(&[])
}

fn restates(case: &Case<'_>) -> bool {
    if case.has_many_atoms() {
        return false;
    }
    let own = case.claim.atoms.iter().filter_map(bounded);
    let mut pairs = own.flat_map(|(_, n)| {
        let all = readings(case).flat_map(|reading| {
            let atoms = reading.atoms.iter().filter_map(bounded);
            atoms.map(move |(atom, m)| (reading, atom, m))
        });
        all.filter(move |(_, _, m)| are_complements(n, m))
    });
    pairs.any(|(reading, atom, _)| {
        let sentence = reading.tokens_of(reading.sentence_of(atom.tokens.start));
        says_the_opposite(case.claim, sentence)
    })
}

/// A number with a bound.
fn bounded(atom: &Atom) -> Option<(&Atom, &Number)> {
    match &atom.what {
        What::Number(n) if n.bound.is_some() => Some((atom, n)),
        _ => None,
    }
}

/// Whether every amount is within exactly one of two bounds: "up to 20" and "more than 20".
fn are_complements(n: &Number, m: &Number) -> bool {
    let opposed = matches!(
        (n.bound, m.bound),
        (Some(Bound::AtMost), Some(Bound::MoreThan))
            | (Some(Bound::MoreThan), Some(Bound::AtMost))
            | (Some(Bound::AtLeast), Some(Bound::LessThan))
            | (Some(Bound::LessThan), Some(Bound::AtLeast))
    );
    opposed && comparable(n, m) && a::same(n.value, m.value)
}

/// Whether a claim has the opposite of a word of the sentence, or is negated where the sentence is
/// not; not both, which would say the same.
fn says_the_opposite(claim: &Reading, sentence: &[Token]) -> bool {
    let own = claim.text.tokens.as_slice();
    let opposes = |t: &Token| sentence.iter().any(|other| t.is_opposite_of(other));
    // "Are accepted": not "new" for "old" beside the same verb.
    let is_opposed = own.windows(2).any(|pair| {
        let [be, verb] = pair else { return false };
        BE.contains(&&*claim.lower_word(be)) && opposes(verb)
    });
    let denials = |tokens: &[Token]| tokens.iter().filter(|t| t.negates()).count();
    let is_denied = denials(own) % 2 != denials(sentence) % 2;
    is_opposed != is_denied
}
