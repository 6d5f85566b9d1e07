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
    OPPOSITIONS.iter().find_map(|opposition| {
        let own = meant(case.claim, tokens, opposition);
        own.iter()
            .find_map(|cue| turned(case, passages, opposition, cue))
    })
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
