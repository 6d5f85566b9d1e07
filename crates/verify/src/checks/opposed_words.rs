//! L5: "before" and "after", "including" and "except", in several languages: a claim has the one where
//! the text about the same thing has the other.
//!
//! "Sweep the floor after the guests leave" does not follow from "Sweep it before the guests leave".
//! The two sentences must speak of the same thing behind such a word: "A before B" says the same as
//! "B after A". `opposite_prepositions` knows the certain cases; this check only doubts.

use super::passages::Passages;
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::Role;
use crate::text::{Token, has_stem};

/// Words of one meaning and of the opposite one; some consist of several words.
struct Opposition {
    one: &'static [&'static str],
    other: &'static [&'static str],
    code: Code,
}

const OPPOSITIONS: [Opposition; 2] = [
    Opposition {
        one: list!("opposed-words.before"),
        other: list!("opposed-words.after"),
        code: Code::Order,
    },
    Opposition {
        one: list!("opposed-words.including"),
        other: list!("opposed-words.excluding"),
        code: Code::Condition,
    },
];

/// A sentence is about a clause of the claim if it has this share of its words, and surely so with
/// that share.
const ABOUT: f64 = 0.4;
const CLOSE: f64 = 0.75;

/// Maximum number of words behind such a word that say what it belongs to.
const OBJECT: usize = 5;

/// Maximum number of such words of one claim and of one sentence; bounds the work on hostile text.
const MOST_CUES: usize = 4;

/// A place in a text with such a word.
struct Cue {
    /// Its first token, and the one behind its last.
    from: usize,
    to: usize,
    /// Whether it means the first of the two meanings, negation included: "not before" is "after".
    is_one: bool,
    /// Whether it is denied.
    is_denied: bool,
}

/// Finds the first such word whose opposite the text has.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let turned = OPPOSITIONS.iter().find_map(|opposition| {
        let own = meant(case.claim, tokens, opposition);
        own.iter()
            .find_map(|cue| turned(case, passages, opposition, cue))
    });
    turned.or_else(|| beside_the_same_word(case, passages))
}

/// Maximum number of words with content of a claim that is compared word by word.
const SHORT: usize = 7;

/// "Too wet" where the text about it has "too dry": a word of the claim has its opposite in the text, and
/// the same word stands beside both.
fn beside_the_same_word(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let own = case.claim.text.tokens.as_slice();
    // A longer claim more often speaks of both sides, or of one after the other.
    let content = own.iter().filter(|t| t.is_content()).count();
    if content > SHORT || own.iter().any(Token::negates) {
        return None;
    }
    let opposed = own
        .iter()
        .enumerate()
        .filter(|(_, t)| !t.pairs().is_empty());
    let opposed: Vec<(usize, &Token)> = opposed.collect();
    passages.with(FEWEST).take(NEAREST).find_map(|passage| {
        let theirs = passage.tokens();
        let is_stated =
            |t: &Token| has_stem(theirs, t.id) || theirs.iter().any(|o| t.is_on_one_side_with(o));
        let (said, found) = opposed.iter().find_map(|(at, word)| {
            if is_stated(word) || word.is_converse() {
                return None;
            }
            let mut others = theirs.iter().enumerate();
            let found = others.find(|(there, o)| {
                word.is_opposite_of(o)
                    && !o.negated
                    && !has_stem(own, o.id)
                    && is_beside_the_same(case.claim, (own, *at), (theirs, *there))
            })?;
            Some((*word, found.1))
        })?;
        let detail = Detail::Opposite {
            said: case.claim.word(said).to_owned(),
            found: passage.reading().word(found).to_owned(),
        };
        let found = Objection::new(Code::Direction, Effect::Doubts, detail);
        let found = found.at(said.start..said.end);
        Some(found.against(passage.source.item.label, passage.bytes()))
    })
}

/// A sentence is compared word by word if it has at least this many words of the claim, and is one of
/// the first in that order.
const FEWEST: usize = 2;
const NEAREST: usize = 2;

const DEGREES: &[&str] = list!("opposed-words.degrees");

/// How many words away the same word may stand.
const BESIDE: usize = 2;

/// Whether the nearest word of content, or of degree, before or behind two places is the same.
fn is_beside_the_same(
    claim: &Reading,
    (own, at): (&[Token], usize),
    (theirs, there): (&[Token], usize),
) -> bool {
    let is_telling = |t: &Token| {
        t.is_content() && !t.number && !t.does(Role::Everyday)
            || DEGREES.contains(&&*claim.lower_word(t))
    };
    let near = |at: usize, tokens: &[Token]| {
        let before = at.saturating_sub(BESIDE)..at;
        let behind = at + 1..tokens.len().min(at + 1 + BESIDE);
        [before, behind].map(|range| tokens.get(range).unwrap_or(&[]).to_vec())
    };
    let [before, behind] = near(at, own);
    let [their_before, their_behind] = near(there, theirs);
    let shares = |own: &[Token], theirs: &[Token]| {
        own.iter().any(|t| is_telling(t) && has_stem(theirs, t.id))
    };
    shares(&before, &their_before) || shares(&behind, &their_behind)
}

/// The objection to one such word of the claim.
fn turned(
    case: &Case<'_>,
    passages: &Passages<'_>,
    opposition: &Opposition,
    own: &Cue,
) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let object = object(tokens, own.to);
    let best = passages
        .all
        .iter()
        .map(|p| (p, Passages::share(&passages.words, p.tokens())))
        .reduce(|a, b| if b.1 > a.1 { b } else { a });
    let (passage, share) = best.filter(|(_, share)| *share >= ABOUT)?;
    let theirs = meant(passage.reading(), passage.tokens(), opposition);
    if object.is_empty() || theirs.iter().any(|t| t.is_one == own.is_one) {
        return None;
    }
    let other = theirs.iter().find(|t| {
        let behind = self::object(passage.tokens(), t.to);
        let same = behind.iter().any(|t| object.iter().any(|o| o.id == t.id));
        let ahead = passage.tokens().get(..t.from).unwrap_or(&[]);
        let is_inverted = object.iter().any(|o| has_stem(ahead, o.id));
        !is_inverted && (same || share >= CLOSE)
    })?;
    let shown = |reading: &Reading, tokens: &[Token], cue: &Cue| {
        let first = tokens.get(cue.from).map_or(0, |t| t.start);
        let last = tokens.get(cue.to - 1).map_or(0, |t| t.end);
        reading.normal.get(first..last).unwrap_or("").to_owned()
    };
    let detail = Detail::Opposite {
        said: shown(case.claim, tokens, own),
        found: shown(passage.reading(), passage.tokens(), other),
    };
    let bytes = tokens.get(own.from)?.start..tokens.get(own.to - 1)?.end;
    let found = Objection::new(opposition.code, Effect::Doubts, detail).at(bytes);
    Some(found.against(passage.source.item.label, passage.bytes()))
}

/// The words of an opposition in a sentence. A denied one counts only if there is no other: "before
/// it leaves, not after".
fn meant(reading: &Reading, tokens: &[Token], opposition: &Opposition) -> Vec<Cue> {
    let mut out: Vec<Cue> = Vec::new();
    let mut at = 0;
    while at < tokens.len() && out.len() < MOST_CUES {
        let first = tokens.get(at).map(|t| reading.lower_word(t));
        let first = first.as_deref().unwrap_or("");
        let one = length_at(reading, tokens, (at, first), opposition.one);
        let other = length_at(reading, tokens, (at, first), opposition.other);
        let Some(length) = one.max(other) else {
            at += 1;
            continue;
        };
        let is_denied = at.checked_sub(1).and_then(|b| tokens.get(b));
        let is_denied = is_denied.is_some_and(Token::negates);
        out.push(Cue {
            from: at,
            to: at + length,
            is_one: (one >= other) != is_denied,
            is_denied,
        });
        at += length;
    }
    if out.iter().any(|cue| !cue.is_denied) {
        out.retain(|cue| !cue.is_denied);
    }
    out
}

/// How many tokens from `at` on, the first of which is `first` in lower case, are an entry of the
/// list: the longest one.
fn length_at(
    reading: &Reading,
    tokens: &[Token],
    (at, first): (usize, &str),
    list: &[&str],
) -> Option<usize> {
    let entries = list.iter().filter_map(|entry| entry.strip_prefix(first));
    let lengths = entries.filter_map(|rest| {
        if rest.is_empty() {
            return Some(1);
        }
        // The first word must end where the token does.
        let rest = rest.strip_prefix(' ')?;
        let mut words = rest.split(' ').enumerate();
        let fits = words.all(|(n, word)| {
            let token = tokens.get(at + n + 1);
            token.is_some_and(|t| reading.lower_word(t) == word)
        });
        fits.then(|| 1 + rest.split(' ').count())
    });
    lengths.max()
}

/// The words with content and the numbers behind such a word, in its clause.
fn object(tokens: &[Token], from: usize) -> Vec<&Token> {
    let behind = tokens.iter().skip(from).take(OBJECT);
    behind
        .filter(|t| t.is_content_or_number() && !t.does(Role::Everyday))
        .collect()
}
