//! L4: a claim must not put together words of two contrasted parts of the text.
//!
//! "The red cable feeds the pump, the blue cable feeds the lamp" contains every word of "the blue
//! cable feeds the pump", which says something else. Unlike `crossed`, this compares parts of a
//! sentence, and needs no names.

use super::align::{Alignment, common_in_order};
use super::{Case, Effect, Source};
use crate::Code;
use crate::reading::Reading;
use crate::text::{Token, has_stem};

/// Maximum number of parts of the text and of the claim, of words of a part, and of words in one place of it; all
/// bound the work on hostile text.
const MOST_PARTS: usize = 8;
const LONGEST: usize = 40;
const LONGEST_GAP: usize = 4;

/// A part of a sentence of the cited text.
#[derive(Clone, Copy)]
struct ClausePart<'a> {
    source: Source<'a>,
    sentence: usize,
    tokens: &'a [Token],
}

/// The words that two parts have in the same place, and do not share.
type OwnWords<'a> = (Vec<&'a Token>, Vec<&'a Token>);

/// Two words of the claim that the text has in different parts.
struct Recombination<'a> {
    one: &'a Token,
    other: &'a Token,
}

/// The objection to a clause of the claim that takes one word from each of two parts of one pattern.
pub(super) fn check(case: &Case<'_>, alignment: &Alignment<'_>) -> Option<(Effect, Code, String)> {
    let parts = parts(alignment);
    let claim = case.claim.text.tokens.as_slice();
    let clauses = claim.chunk_by(|a, b| a.clause == b.clause);
    for said in clauses.take(MOST_PARTS) {
        for (n, one) in parts.iter().enumerate() {
            for other in parts.iter().skip(n + 1) {
                let Some(found) = recombined(said, one, other) else {
                    continue;
                };
                if stand_together(case, &found, one, other) {
                    continue;
                }
                let is_whole = said.len() == claim.len()
                    && one.sentence == other.sentence
                    && has_nothing_else(claim, one, other);
                let effect = if is_whole {
                    Effect::Rejects
                } else {
                    Effect::Doubts
                };
                let words = [found.one, found.other].map(|t| case.claim.word(t));
                let why = format!(
                    "The cited text has “{}” and “{}”, but not together: they belong to two different things.",
                    words[0], words[1]
                );
                return Some((effect, Code::Referent, why));
            }
        }
    }
    None
}

/// The parts of the nearest sentences, between commas and words like "and".
fn parts<'a>(alignment: &Alignment<'a>) -> Vec<ClausePart<'a>> {
    let near = alignment.0.iter().flat_map(|aligned| {
        let chunks = aligned.tokens().chunk_by(|a, b| a.clause == b.clause);
        chunks.map(|tokens| ClausePart {
            source: aligned.source,
            sentence: aligned.sentence,
            tokens,
        })
    });
    near.filter(|part| part.tokens.len() <= LONGEST && !is_row(part.source.reading, part.sentence))
        .take(MOST_PARTS)
        .collect()
}

/// Rows of tables and labelled items are compared elsewhere.
fn is_row(reading: &Reading, sentence: usize) -> bool {
    let bytes = reading.sentence(sentence).map(|s| s.bytes.clone());
    let own = bytes.and_then(|bytes| reading.normal.get(bytes));
    own.is_some_and(|text| text.starts_with('|') || text.contains(": "))
}

/// The words that `said` takes from two places of two parts: in one place the word of the first, in
/// the other the word of the second.
fn recombined<'c>(
    said: &'c [Token],
    one: &ClausePart<'_>,
    other: &ClausePart<'_>,
) -> Option<Recombination<'c>> {
    let gaps = own_words(said, one, other)?;
    let takes = |words: &[&Token]| {
        let mut all = words.iter();
        all.find_map(|w| said.iter().find(|t| t.id == w.id))
    };
    let mut first = None;
    let mut second = None;
    for (ours, theirs) in &gaps {
        match (takes(ours), takes(theirs)) {
            (Some(token), None) => first = first.or(Some(token)),
            (None, Some(token)) => second = second.or(Some(token)),
            (Some(_), Some(_)) => return None,
            (None, None) => {}
        }
    }
    let (one, other) = (first?, second?);
    let is_sure = !one.negated && !other.negated;
    is_sure.then_some(Recombination { one, other })
}

/// The own words of two parts of one pattern, place by place. `None` if they share less than half of
/// the shorter one, or no word with content that the claim has too.
fn own_words<'a>(
    said: &[Token],
    one: &ClausePart<'a>,
    other: &ClausePart<'a>,
) -> Option<Vec<OwnWords<'a>>> {
    let common = common_in_order(one.tokens, other.tokens, |x, y| x.id == y.id);
    let shared = common.iter().filter_map(|(i, _)| one.tokens.get(*i));
    let frames = shared.filter(|t| t.is_content() && has_stem(said, t.id));
    let least = one.tokens.len().min(other.tokens.len());
    if frames.count() == 0 || common.len() * 2 < least {
        return None;
    }
    let mut out = Vec::new();
    let mut from = (0, 0);
    let ends = common.iter().copied();
    for (i, j) in ends.chain([(one.tokens.len(), other.tokens.len())]) {
        let (ours, theirs) = (one.tokens.get(from.0..i)?, other.tokens.get(from.1..j)?);
        if ours.len().max(theirs.len()) > LONGEST_GAP {
            return None;
        }
        let gap = (only_in(ours, one, other), only_in(theirs, other, one));
        match (gap.0.is_empty(), gap.1.is_empty()) {
            (true, true) => {}
            (false, false) => out.push(gap),
            _ => return None,
        }
        from = (i + 1, j + 1);
    }
    (out.len() >= 2).then_some(out)
}

/// The words with content and the numbers that the other part does not have. "One" is a number here.
fn only_in<'a>(run: &'a [Token], part: &ClausePart<'_>, other: &ClausePart<'_>) -> Vec<&'a Token> {
    let reading = part.source.reading;
    let counted = run
        .iter()
        .filter(|t| t.is_content_or_number() || reading.lower_word(t) == "one");
    counted.filter(|t| !has_stem(other.tokens, t.id)).collect()
}

/// Whether another sentence of the cited text has both words, or one of the parts does.
fn stand_together(
    case: &Case<'_>,
    found: &Recombination<'_>,
    one: &ClausePart<'_>,
    other: &ClausePart<'_>,
) -> bool {
    case.cited.iter().any(|source| {
        let reading = source.reading;
        let own = reading.sentences_with(found.other.id);
        let mut sentences = reading.sentences_with(found.one.id).iter();
        sentences.any(|n| {
            let is_theirs = [one, other].iter().any(|part| {
                part.sentence == *n as usize && std::ptr::eq(part.source.reading, reading)
            });
            !is_theirs && own.binary_search(n).is_ok()
        })
    })
}

/// Whether both parts have all words of the claim.
fn has_nothing_else(claim: &[Token], one: &ClausePart<'_>, other: &ClausePart<'_>) -> bool {
    let mut counted = claim.iter().filter(|t| t.is_content_or_number());
    counted.all(|t| has_stem(one.tokens, t.id) || has_stem(other.tokens, t.id))
}
