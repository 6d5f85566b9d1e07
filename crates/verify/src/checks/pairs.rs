//! L4: adjacent things in the claim are adjacent in the cited text.
//!
//! "X on Linux and Y on Windows" breaks two pairs where the text has "Y (Linux), X (Windows)";
//! "from 20 to 8" reverses "from 8 to 20".

use super::{Case, Effect, Source};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::terms::{Term, TermKind};
use crate::text::Token;

/// Maximum number of sentences per source, among those that contain a word, that are checked, and
/// of pairs in a claim; both bound the work on hostile text.
const MOST_SENTENCES: usize = 12;
const MOST_PAIRS: usize = 12;

/// Maximum number of words of a sentence.
const LONGEST: usize = 160;

/// Maximum number of tokens from one thing of a pair to the other.
const NEAR: usize = 4;

/// The objection to pairs that have other partners in the cited text, or are reversed there.
pub(super) fn check(case: &Case<'_>) -> Option<Objection> {
    let own = pairs(case.claim, 0);
    case.cited
        .iter()
        .find_map(|source| exchanged(case, &own, source).or_else(|| turned(case, source)))
}

/// Two adjacent things: their terms in the order of the text.
type Pair<'r> = (&'r Term, &'r Term);

fn is_thing(reading: &Reading, term: &Term) -> bool {
    let first = reading.text.tokens.get(term.tokens.start);
    match term.kind {
        TermKind::Part => false,
        TermKind::Word => first.is_some_and(|t| t.capital),
        TermKind::Name | TermKind::Code | TermKind::Number => true,
    }
}

/// The adjacent things of a sentence in pairs: each thing once, with the next.
fn pairs(reading: &Reading, sentence: usize) -> Vec<Pair<'_>> {
    if reading.tokens_of(sentence).len() > LONGEST {
        return Vec::new();
    }
    let things: Vec<&Term> = reading
        .terms_of(sentence)
        .iter()
        .filter(|t| is_thing(reading, t))
        .collect();
    let mut out = Vec::new();
    for (a, b) in things.iter().zip(things.iter().skip(1)) {
        let close = b.tokens.start >= a.tokens.end && b.tokens.start - a.tokens.end < NEAR;
        if close && is_joined(reading, a, b) {
            out.push((*a, *b));
        }
    }
    out.truncate(MOST_PAIRS);
    out
}

/// Whether two things are joined by more than a comma or an "and".
fn is_joined(reading: &Reading, a: &Term, b: &Term) -> bool {
    let gap = text_between(reading, a, b).unwrap_or("");
    let between = gap.trim();
    !between.is_empty()
        && !matches!(
            between,
            "and" | "or" | "und" | "oder" | "/" | "&" | "-" | "|"
        )
        && !gap.contains([',', ';', ':'])
        && !gap.contains(". ")
}

fn text_between<'r>(reading: &'r Reading, a: &Term, b: &Term) -> Option<&'r str> {
    let tokens = &reading.text.tokens;
    let end = tokens.get(a.tokens.end.checked_sub(1)?)?.end;
    reading.normal.get(end..tokens.get(b.tokens.start)?.start)
}

/// The objection to two pairs of the claim whose things have each other's partners in one sentence.
fn exchanged(case: &Case<'_>, own: &[Pair<'_>], source: &Source<'_>) -> Option<Objection> {
    for (i, &(a, b)) in own.iter().enumerate() {
        for &(c, d) in own.iter().skip(i + 1) {
            let reading = source.reading;
            for s in reading.sentences_with(a.id).iter().take(MOST_SENTENCES) {
                let s = *s as usize;
                if has_term(reading, s, b.id) && are_exchanged(&pairs(reading, s), (a, b), (c, d)) {
                    let [said, of, belongs_to, found] =
                        [b, a, c, d].map(|t| case.claim.shown(t.tokens.clone()).to_owned());
                    let detail = Detail::Elsewhere {
                        said,
                        of,
                        belongs_to: Some(belongs_to),
                        found: Some(found),
                    };
                    let found = Objection::new(Code::Referent, Effect::Rejects, detail);
                    let bytes = reading.sentence(s)?.bytes.clone();
                    let at = bytes_of(case.claim, a, b)?;
                    return Some(found.at(at).against(source.item.label, bytes));
                }
            }
        }
    }
    None
}

fn has_term(reading: &Reading, sentence: usize, id: u32) -> bool {
    reading.terms_of(sentence).iter().any(|t| t.id == id)
}

/// Whether a sentence has only `a` with `d` and `c` with `b`.
fn are_exchanged(theirs: &[Pair<'_>], (a, b): Pair<'_>, (c, d): Pair<'_>) -> bool {
    has_pair(theirs, a, d)
        && has_pair(theirs, c, b)
        && !has_pair(theirs, a, b)
        && !has_pair(theirs, c, d)
        && a.id != c.id
        && b.id != d.id
}

/// Whether two things are a pair, in any order.
fn has_pair(pairs: &[Pair<'_>], x: &Term, y: &Term) -> bool {
    pairs
        .iter()
        .any(|(l, r)| l.id == x.id && r.id == y.id || l.id == y.id && r.id == x.id)
}

fn bytes_of(reading: &Reading, a: &Term, b: &Term) -> Option<std::ops::Range<usize>> {
    let first = reading.text.tokens.get(a.tokens.start)?;
    let last = reading.text.tokens.get(b.tokens.end.checked_sub(1)?)?;
    Some(first.start..last.end)
}

/// The objection to "from 20 to 8" if the text has "from 8 to 20".
fn turned(case: &Case<'_>, source: &Source<'_>) -> Option<Objection> {
    let tokens = &case.claim.text.tokens;
    let mut own = ranges(case.claim, 0).into_iter();
    own.find_map(|(from, to)| reversed(case, source, tokens.get(from)?, tokens.get(to)?))
}

/// A sentence that has a range of the claim only in reverse.
fn reversed(
    case: &Case<'_>,
    source: &Source<'_>,
    first: &Token,
    last: &Token,
) -> Option<Objection> {
    if first.id == last.id {
        return None;
    }
    let reading = source.reading;
    let mut sentences = reading
        .sentences_with(first.id)
        .iter()
        .map(|s| *s as usize)
        .take(MOST_SENTENCES);
    let sentence = sentences.find(|s| {
        let theirs = range_ids(reading, *s);
        theirs.contains(&(last.id, first.id)) && !theirs.contains(&(first.id, last.id))
    })?;
    let detail = Detail::Reversed {
        first: case.claim.word(first).to_owned(),
        second: case.claim.word(last).to_owned(),
    };
    let found = Objection::new(Code::Order, Effect::Rejects, detail).at(first.start..last.end);
    let bytes = reading.sentence(sentence)?.bytes.clone();
    Some(found.against(source.item.label, bytes))
}

/// The stems of the two ends of each range in a sentence.
fn range_ids(reading: &Reading, sentence: usize) -> Vec<(u32, u32)> {
    let tokens = &reading.text.tokens;
    let ranges = ranges(reading, sentence).into_iter();
    ranges
        .filter_map(|(from, to)| Some((tokens.get(from)?.id, tokens.get(to)?.id)))
        .collect()
}

/// The two ends of each range in a sentence, as tokens: "from A to B", "8 to 20".
fn ranges(reading: &Reading, sentence: usize) -> Vec<(usize, usize)> {
    let tokens = reading.sentence(sentence).map(|s| s.tokens.clone());
    let Some(tokens) = tokens.filter(|t| t.len() <= LONGEST) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    let places = tokens.clone().filter(|i| is_word(reading, *i, "to"));
    for to in places.take(MOST_PAIRS) {
        let mut before = (to.saturating_sub(NEAR)..to).filter(|i| tokens.contains(i));
        let from = before.find(|i| is_word(reading, *i, "from"));
        let first = match from {
            Some(from) => (from + 1..to).find(|i| may_end_a_range(reading, *i)),
            None => to
                .checked_sub(1)
                .filter(|i| reading.text.tokens.get(*i).is_some_and(|t| t.number)),
        };
        let mut after = to + 1..(to + NEAR).min(tokens.end);
        let last = after.find(|i| may_end_a_range(reading, *i));
        out.extend(first.zip(last));
    }
    out
}

fn is_word(reading: &Reading, at: usize, word: &str) -> bool {
    let token = reading.text.tokens.get(at);
    token.is_some_and(|t| reading.word(t) == word)
}

fn may_end_a_range(reading: &Reading, at: usize) -> bool {
    let token = reading.text.tokens.get(at);
    token.is_some_and(Token::is_content_or_number)
}
