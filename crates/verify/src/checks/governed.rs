//! L5: the words that govern a word in the claim are compatible with those in the cited text.
//!
//! A word is governed by the function words before it: "must implement", "any node", "not closed",
//! and by the content word before those: "easy to understand". If the cited text has the same word
//! in sentences about the same thing, but only with a governor that excludes the claim's, the claim
//! says something else.

use super::language::{Language, supposed};
use super::modality::Force;
use super::names::is_name;
use super::negation::{
    denies_in_two_words, is_compared_with, is_denied_in_claim, is_negative, is_only_denied,
};
use super::{Case, Effect, Source, agreed};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::{Mood, Quantity, Role};
use crate::terms::{Term, TermKind};
use crate::text::{Token, has_stem};
use local_agent_text::types::Label;

/// Maximum number of words of a claim, and of sentences of one source that contain a word; both
/// bound the work on hostile text.
const MOST_WORDS: usize = 60;
const MOST_SENTENCES: usize = 12;

/// Maximum number of words of a sentence of the cited text, and of places of one word in it; both
/// bound the work on hostile text.
const LONGEST: usize = 160;
const MOST_PLACES: usize = 4;

/// Maximum number of function words before a word that are checked.
const GOVERNORS: usize = 5;

/// How many other words of the claim a sentence must contain to be about the same thing.
const SHARED: usize = 1;
const ABOUT_THE_SAME: usize = 2;

/// Finds words of the claim that have an incompatible governor in the cited text.
/// Two languages deny with different words, in different places: with `foreign`, denials are not
/// compared.
pub(super) fn check(case: &Case<'_>, foreign: bool) -> Vec<Objection> {
    let words = words(case);
    let denied = (!foreign).then(|| denied(case, &words)).flatten();
    let mut out: Vec<Objection> = denied.into_iter().collect();
    out.extend(predicate(case));
    for (i, places) in &words {
        for find in [mood, quantity, modifier, little, behind] {
            out.extend(find(case, *i, places));
        }
    }
    out.sort_by_key(|o| std::cmp::Reverse(o.effect));
    out.truncate(1);
    out
}

/// A word of the cited text in a sentence about the same thing.
struct Governed<'a> {
    label: Label,
    reading: &'a Reading,
    sentence: usize,
    /// Its index among the tokens of its sentence.
    at: usize,
    /// How many other words of the claim the sentence contains.
    shared: usize,
}

impl<'a> Governed<'a> {
    fn tokens(&self) -> &'a [Token] {
        self.reading.tokens_of(self.sentence)
    }

    fn token(&self) -> Option<&'a Token> {
        self.tokens().get(self.at)
    }

    /// "Nobody knows why the sky turns green" says nothing of the colour.
    fn is_asked(&self) -> bool {
        let before = self.tokens().get(..self.at).unwrap_or(&[]);
        before.iter().any(|t| t.does(Role::Asking))
    }
}

/// The content words of the claim that the cited text has together with others of the claim: their
/// indices, and where they are.
fn words<'a>(case: &Case<'a>) -> Vec<(usize, Vec<Governed<'a>>)> {
    let tokens = case.claim.text.tokens.iter().enumerate();
    let own: Vec<(usize, u32)> = tokens
        .filter(|(_, t)| t.is_content())
        .map(|(i, t)| (i, t.id))
        .take(MOST_WORDS)
        .collect();
    let shared: Vec<Vec<u16>> = case.cited.iter().map(|s| counts(s.reading, &own)).collect();
    let found = own
        .iter()
        .map(|(i, id)| (*i, places_of(case.cited, &shared, *id)));
    found.filter(|(_, places)| !places.is_empty()).collect()
}

/// Where a word is in the cited text, among others of the claim.
fn places_of<'a>(cited: &[Source<'a>], shared: &[Vec<u16>], id: u32) -> Vec<Governed<'a>> {
    let mut out = Vec::new();
    for (source, shared) in cited.iter().zip(shared) {
        places(source, shared, id, &mut out);
    }
    out
}

/// For every sentence: how many of these words it contains, each counted once.
fn counts(reading: &Reading, own: &[(usize, u32)]) -> Vec<u16> {
    let mut out = vec![0_u16; reading.text.sentences.len()];
    let mut ids: Vec<u32> = own.iter().map(|(_, id)| *id).collect();
    ids.sort_unstable();
    ids.dedup();
    for s in ids.iter().flat_map(|id| reading.sentences_with(*id)) {
        if let Some(count) = out.get_mut(*s as usize) {
            *count += 1;
        }
    }
    out
}

fn places<'a>(source: &Source<'a>, shared: &[u16], id: u32, out: &mut Vec<Governed<'a>>) {
    let reading = source.reading;
    for s in reading.sentences_with(id).iter().take(MOST_SENTENCES) {
        let sentence = *s as usize;
        let others = shared
            .get(sentence)
            .map_or(0, |n| usize::from(*n))
            .saturating_sub(1);
        let tokens = reading.tokens_of(sentence);
        if others < SHARED || tokens.len() > LONGEST {
            continue;
        }
        let found = tokens.iter().enumerate().filter(|(_, t)| t.id == id);
        let found = found.take(MOST_PLACES).map(|(at, _)| Governed {
            label: source.item.label,
            reading,
            sentence,
            at,
            shared: others,
        });
        out.extend(found);
    }
}

/// The function words directly before a word.
fn governors(tokens: &[Token], at: usize) -> &[Token] {
    let before = tokens.get(..at).unwrap_or(&[]);
    let clause = tokens.get(at).map_or(0, |t| t.clause);
    let nearest = before.iter().rev().take(GOVERNORS);
    let count = nearest
        .take_while(|t| may_govern(t) && t.clause == clause)
        .count();
    before.get(before.len() - count..).unwrap_or(&[])
}

fn may_govern(token: &Token) -> bool {
    !token.is_content() || token.quantity().is_some() || token.mood().is_some()
}

/// How binding the function words before a word are.
fn force(governors: &[Token]) -> Option<Force> {
    let denied = governors.iter().any(Token::negates);
    let force = governors.iter().find_map(|t| match t.mood() {
        Some(Mood::Must) => Some(Force::Must),
        Some(Mood::Should) => Some(Force::Should),
        Some(Mood::May) => Some(Force::May),
        _ => None,
    })?;
    match (force, denied) {
        (Force::Must, true) => Some(Force::May),
        (Force::May, true) => Some(Force::Must),
        (force, _) => Some(force),
    }
}

/// The objection to "may implement" if the text has "must implement".
fn mood(case: &Case<'_>, at: usize, places: &[Governed<'_>]) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let own_words = governors(tokens, at);
    let own = force(own_words)?;
    let mut clash = None;
    for place in places {
        let theirs = force(governors(place.tokens(), place.at));
        match theirs {
            Some(theirs) if theirs != own => clash = clash.or(Some((place, theirs))),
            Some(_) => return None,
            None => {}
        }
    }
    let (place, theirs) = clash?;
    // "Greenhouses need permission; sheds do not."
    if are_denied(own_words) && place.tokens().iter().any(Token::negates) {
        return None;
    }
    let far = (own == Force::Must) != (theirs == Force::Must)
        && own != Force::Should
        && theirs != Force::Should;
    let effect = if far { Effect::Rejects } else { Effect::Doubts };
    differs(
        case,
        Code::Modality,
        effect,
        own_words.first()?.start..tokens.get(at)?.end,
        place,
    )
}

/// How many things a quantity word means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Amount {
    Every,
    One,
    Only,
    None,
    Some,
}

fn amount(governors: &[Token]) -> Option<Amount> {
    if has_role(governors, Role::Restricting) {
        Some(Amount::Only)
    } else if has_role(governors, Role::Freeing) {
        Some(Amount::Every)
    } else if governors.iter().any(says_nothing) {
        Some(Amount::None)
    } else if has_role(governors, Role::Singling) {
        Some(Amount::One)
    } else if governors.iter().any(|t| t.quantity().is_some()) {
        Some(Amount::Some)
    } else {
        None
    }
}

fn says_nothing(token: &Token) -> bool {
    token.quantity() == Some(Quantity::Nothing) || token.negates()
}

fn has_role(tokens: &[Token], role: Role) -> bool {
    tokens.iter().any(|t| t.does(role))
}

/// The objection to "only one node" if the text has "any node".
fn quantity(case: &Case<'_>, at: usize, places: &[Governed<'_>]) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let own_words = governors(tokens, at);
    let own = amount(own_words)?;
    let mut clash = None;
    for place in places {
        let theirs = amount(governors(place.tokens(), place.at));
        match theirs {
            Some(theirs) if theirs != own => clash = clash.or(Some((place, theirs))),
            Some(_) => return None,
            None => {}
        }
    }
    let (place, theirs) = clash?;
    let excludes = matches!((own, theirs), (Amount::Only | Amount::One, Amount::Every));
    if !excludes {
        return None;
    }
    differs(
        case,
        Code::Quantifier,
        Effect::Doubts,
        own_words.first()?.start..tokens.get(at)?.end,
        place,
    )
}

/// Maximum distance between a word and the content word that modifies it.
const MODIFIER: usize = 4;

/// The content word before a word, skipping function words.
fn before(tokens: &[Token], at: usize) -> Option<&Token> {
    let clause = tokens.get(at)?.clause;
    let mut words = tokens.get(..at)?.iter().rev().take(MODIFIER);
    words
        .find(|t| t.is_content())
        .filter(|t| t.clause == clause)
}

fn opposes(a: &Token, b: &Token) -> bool {
    a.id != b.id && a.is_opposite_of(b)
}

/// The objection to "easy to understand" if the text has "difficult to understand".
fn modifier(case: &Case<'_>, at: usize, places: &[Governed<'_>]) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let own = before(tokens, at)?;
    if own.number {
        return None;
    }
    let mut clash = None;
    for place in places {
        // A sentence with both words does not contradict: "the first edition has 310 pages, the
        // second 348".
        if place.tokens().iter().any(|t| t.id == own.id) {
            return None;
        }
        let Some(other) = before(place.tokens(), place.at) else {
            continue;
        };
        let contradicts = opposes(own, other) && own.negated == other.negated;
        if contradicts && !other.number && !case.claim.has(other.id) {
            clash = clash.or(Some((place, other)));
        }
    }
    let (place, other) = clash?;
    let at = own.start..tokens.get(at)?.end;
    let theirs = other.start..place.tokens().get(place.at)?.end;
    let detail = Detail::Opposite {
        said: case.claim.normal.get(at.clone())?.to_owned(),
        found: place.reading.normal.get(theirs)?.to_owned(),
    };
    let found = Objection::new(Code::Direction, Effect::Rejects, detail).at(at);
    let bytes = place.reading.sentence(place.sentence)?.bytes.clone();
    Some(found.against(place.label, bytes))
}

/// The objection to "off by default" if the text has "on by default".
fn little(case: &Case<'_>, at: usize, places: &[Governed<'_>]) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let own_words = governors(tokens, at);
    let own = own_words.iter().find(|t| !t.pairs().is_empty())?;
    let mut clash = None;
    for place in places {
        let theirs = governors(place.tokens(), place.at);
        if theirs.iter().any(|t| t.id == own.id) {
            return None;
        }
        if theirs.iter().any(|t| opposes(own, t)) && are_denied(own_words) == are_denied(theirs) {
            clash = clash.or(Some(place));
        }
    }
    let place = clash?;
    differs(
        case,
        Code::Direction,
        Effect::Doubts,
        own_words.first()?.start..tokens.get(at)?.end,
        place,
    )
}

/// Whether the number of negations is odd.
fn are_denied(governors: &[Token]) -> bool {
    governors.iter().filter(|t| t.negates()).count() % 2 == 1
}

/// Maximum distance between a word and the thing it describes, in tokens.
const SAID_OF: usize = 8;

/// A word names a single thing if at most this many sentences of the cited text contain it.
const FEW: usize = 4;

/// The objection to "`path` is optional" if every sentence that names `path` says "required".
fn predicate(case: &Case<'_>) -> Option<Objection> {
    let things = case.claim.terms.iter().filter(|t| {
        matches!(t.kind, TermKind::Code | TermKind::Name)
            || case.code.contains(&case.claim.shown(t.tokens.clone()))
    });
    let mut said = things
        .take(MOST_WORDS)
        .flat_map(|thing| said_of(case.claim, thing).map(move |word| (thing, word)));
    said.find_map(|(thing, word)| opposite_said_of(case, thing, word))
}

/// The words with an opposite that follow a thing in its part of the sentence.
fn said_of<'r>(claim: &'r Reading, thing: &Term) -> impl Iterator<Item = &'r Token> {
    let parts = claim.parts();
    let own = parts.get(thing.tokens.start);
    let behind = claim.text.tokens.get(thing.tokens.end..).unwrap_or(&[]);
    let parts = parts.get(thing.tokens.end..).unwrap_or(&[]);
    let near = behind.iter().zip(parts).take(SAID_OF);
    near.filter(move |(t, part)| Some(*part) == own && t.is_content() && !t.pairs().is_empty())
        .map(|(t, _)| t)
}

/// The opposite of a word in the few sentences that name a thing, if none has the word itself.
fn opposite_said_of(case: &Case<'_>, thing: &Term, word: &Token) -> Option<Objection> {
    let mut clash: Option<(Label, &Reading, usize, &Token)> = None;
    let mut count = 0;
    for source in case.cited {
        let reading = source.reading;
        for s in reading.sentences_with(thing.id) {
            count += 1;
            if count > FEW {
                return None;
            }
            let theirs = reading.tokens_of(*s as usize);
            if theirs.len() > LONGEST || has_stem(theirs, word.id) {
                return None;
            }
            let other = theirs
                .iter()
                .find(|t| opposes(word, t) && t.negated == word.negated && !case.claim.has(t.id));
            clash = clash.or(other.map(|t| (source.item.label, reading, *s as usize, t)));
        }
    }
    let (label, reading, s, other) = clash?;
    let detail = Detail::Opposite {
        said: case.claim.word(word).to_owned(),
        found: reading.word(other).to_owned(),
    };
    let found = Objection::new(Code::Direction, Effect::Doubts, detail);
    let bytes = reading.sentence(s)?.bytes.clone();
    Some(found.at(word.start..word.end).against(label, bytes))
}

/// The content word after a word in its clause, or one with an opposite.
fn after(tokens: &[Token], at: usize) -> Option<&Token> {
    let clause = tokens.get(at)?.clause;
    let mut next = tokens.get(at + 1..)?.iter().take(MODIFIER);
    next.find(|t| t.is_content() || !t.pairs().is_empty())
        .filter(|t| t.clause == clause)
}

/// The objection to a word after which the text has the opposite: "errors are fatal".
fn behind(case: &Case<'_>, at: usize, places: &[Governed<'_>]) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let own = after(tokens, at)?;
    if own.pairs().is_empty() {
        return None;
    }
    let mut clash = None;
    for place in places {
        let Some(other) = after(place.tokens(), place.at) else {
            continue;
        };
        if other.id == own.id {
            return None;
        }
        if opposes(own, other) && own.negated == other.negated && !case.claim.has(other.id) {
            clash = clash.or(Some((place, other)));
        }
    }
    let (place, other) = clash.filter(|(place, _)| place.shared > 1)?;
    let detail = Detail::Opposite {
        said: case
            .claim
            .normal
            .get(tokens.get(at)?.start..own.end)?
            .to_owned(),
        found: place
            .reading
            .normal
            .get(place.tokens().get(place.at)?.start..other.end)?
            .to_owned(),
    };
    let found = Objection::new(Code::Direction, Effect::Doubts, detail);
    let bytes = place.reading.sentence(place.sentence)?.bytes.clone();
    Some(found.at(own.start..own.end).against(place.label, bytes))
}

/// The objection to a word that the claim asserts and every sentence about the same thing negates.
fn denied(case: &Case<'_>, words: &[(usize, Vec<Governed<'_>>)]) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    // "It only works by hand" for "it does not work automatically, only by hand".
    let negates = agreed::says_instead(case.claim)
        || denies_in_two_words(case.claim, tokens)
        || tokens
            .iter()
            .any(|t| is_negative(case.claim, t) || t.does(Role::Restricting));
    let mut count = 0;
    let mut found: Option<(Token, Label, std::ops::Range<usize>, bool)> = None;
    for (i, places) in words {
        let Some(token) = tokens.get(*i).filter(|t| !t.negated) else {
            continue;
        };
        let about = places
            .iter()
            .filter(|p| p.shared >= ABOUT_THE_SAME && !p.is_asked());
        let places: Vec<&Governed<'_>> = about.collect();
        let theirs: Vec<&Token> = places.iter().filter_map(|p| p.token()).collect();
        if places.is_empty() || !theirs.iter().all(|t| t.negated) {
            continue;
        }
        let head = theirs.iter().any(|t| t.head);
        count += 1;
        let place = places.first()?;
        let bytes = place.reading.sentence(place.sentence)?.bytes.clone();
        if may_be_denied(token) && found.as_ref().is_none_or(|f| head && !f.3) {
            found = Some((*token, place.label, bytes, head));
        }
    }
    let (token, label, bytes, head) = found?;
    let effect = match (negates, head, count) {
        _ if is_compared_with(case.claim, &token) => return None,
        (false, true, _) if is_sure(case, &token) => Effect::Rejects,
        // "Beef is never fed", where the text has "never beef".
        (true, _, _) if is_denied_in_claim(case.claim, &token) => return None,
        (false, _, _) | (true, true, 1) => Effect::Doubts,
        _ => return None,
    };
    let said = case.claim.word(&token).to_owned();
    let found = Objection::new(Code::Negation, effect, Detail::TextNegates { said });
    Some(found.at(token.start..token.end).against(label, bytes))
}

/// Whether the cited text denies a word wherever it has it. Words that deny without a "not" are known
/// well enough only in English.
fn is_sure(case: &Case<'_>, token: &Token) -> bool {
    let cited: Vec<&Reading> = case.cited.iter().map(|s| s.reading).collect();
    is_only_denied(case, token, true)
        && supposed(case.claim, case.language, &cited) == Some(Language::English)
}

/// Whether the denial of a word denies a statement: an everyday verb is used of many things, and
/// "not the witch" only tells her from another person.
fn may_be_denied(token: &Token) -> bool {
    !token.does(Role::Everyday) && (token.first || !is_name(token))
}

fn differs(
    case: &Case<'_>,
    code: Code,
    effect: Effect,
    range: std::ops::Range<usize>,
    place: &Governed<'_>,
) -> Option<Objection> {
    let tokens = place.tokens();
    let governors = governors(tokens, place.at);
    let start = governors
        .first()
        .map_or(tokens.get(place.at)?.start, |t| t.start);
    let detail = Detail::Differs {
        said: case.claim.normal.get(range.clone())?.to_owned(),
        found: place
            .reading
            .normal
            .get(start..tokens.get(place.at)?.end)?
            .to_owned(),
    };
    let found = Objection::new(code, effect, detail).at(range);
    let bytes = place.reading.sentence(place.sentence)?.bytes.clone();
    Some(found.against(place.label, bytes))
}
