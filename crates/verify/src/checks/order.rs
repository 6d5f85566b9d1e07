//! L5: comparisons and orders in the claim match those of the cited text.
//!
//! Both statements name the same two things around the same word ("faster than", "before"), but the
//! claim has them swapped.

use std::borrow::Cow;
use std::ops::Range;

use local_agent_text::markdown::BlockRole;

use super::nearest::{Near, Pairing, sentence};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::Role;
use crate::text::{Token, has_stem};

/// How much of a statement must be the same.
const ALIKE: f64 = 0.6;

/// Finds two things that are in the reverse order in the cited text.
pub(super) fn check(case: &Case<'_>, pairings: &[Pairing<'_>]) -> Vec<Objection> {
    let mut out = Vec::new();
    for pairing in pairings {
        let near = pairing.near.iter().filter(|n| n.share >= ALIKE);
        let found: Option<Vec<Objection>> = near.map(|n| reversed(case, pairing, n)).collect();
        out.extend(found.and_then(|found| found.into_iter().next()));
    }
    if out.is_empty() {
        out.extend(steps(case).or_else(|| sequence(case)));
    }
    out.truncate(1);
    out
}

/// Maximum number of steps of one claim, and of items of one list; both bound the work on hostile
/// text.
const MOST_STEPS: usize = 12;
const MOST_ITEMS: usize = 60;

/// How much of a step of the claim one item must contain.
const HELD: f64 = 0.6;

/// The objection to steps that a numbered list of the cited text has in a different order.
fn steps(case: &Case<'_>) -> Option<Objection> {
    let own = ordered(case.claim);
    if own.len() < 2 {
        return None;
    }
    for source in case.cited {
        let reading = source.reading;
        if numbered(&source.item.text) < 2 {
            continue;
        }
        let sentences = reading.text.sentences.iter().enumerate();
        let items: Vec<usize> = sentences
            .filter(|(_, s)| s.role == BlockRole::ListItem)
            .map(|(n, _)| n)
            .take(MOST_ITEMS)
            .collect();
        let places: Vec<(usize, &Range<usize>)> = own
            .iter()
            .filter_map(|step| Some((place_of(case.claim, step, reading, &items)?, step)))
            .collect();
        let turned = places.windows(2).find(|pair| pair[0].0 > pair[1].0);
        if let Some([first, second]) = turned {
            let detail = Detail::Reversed {
                first: case.claim.shown(first.1.clone()).to_owned(),
                second: case.claim.shown(second.1.clone()).to_owned(),
            };
            let found = Objection::new(Code::Order, Effect::Rejects, detail);
            let bytes = reading.sentence(first.0)?.bytes.clone();
            return Some(found.against(source.item.label, bytes));
        }
    }
    None
}

/// Maximum number of sentences of one source with a word of the first step.
const MOST_SENTENCES: usize = 12;

/// The objection to steps that one sentence of the cited text has in a different order: "Rinse, then
/// soak" where it says "Soak, then rinse".
fn sequence(case: &Case<'_>) -> Option<Objection> {
    let tokens = &case.claim.text.tokens;
    let own = steps_of(case.claim, tokens);
    let first = tokens.get(own.first()?.clone())?;
    let word = first
        .iter()
        .find(|t| t.is_content() && !is_sequence(case.claim, t))?;
    for source in case.cited {
        let reading = source.reading;
        for n in reading.sentences_with(word.id).iter().take(MOST_SENTENCES) {
            let sentence = reading.tokens_of(*n as usize);
            let parts = steps_of(reading, sentence);
            let places: Vec<(usize, &Range<usize>)> = own
                .iter()
                .filter_map(|step| Some((part_with(case.claim, step, sentence, &parts)?, step)))
                .collect();
            let Some([one, other]) = places.windows(2).find(|pair| pair[0].0 > pair[1].0) else {
                continue;
            };
            let detail = Detail::Reversed {
                first: case.claim.shown(one.1.clone()).to_owned(),
                second: case.claim.shown(other.1.clone()).to_owned(),
            };
            let found = Objection::new(Code::Order, Effect::Rejects, detail);
            let bytes = reading.sentence(*n as usize)?.bytes.clone();
            return Some(found.against(source.item.label, bytes));
        }
    }
    None
}

/// The steps of a sentence with "then" or its like, as ranges of its tokens; empty without two.
fn steps_of(reading: &Reading, tokens: &[Token]) -> Vec<Range<usize>> {
    let is_turned = tokens
        .iter()
        .any(|t| matches!(&*reading.lower_word(t), "before" | "after"));
    let is_ordered = tokens.iter().skip(1).any(|t| t.does(Role::Sequence));
    let parts = match is_ordered && !is_turned {
        true => parts_in_sequence(tokens),
        false => Vec::new(),
    };
    if parts.len() < 2 { Vec::new() } else { parts }
}

/// The one part of a sentence that has most of a step of the claim.
fn part_with(
    claim: &Reading,
    step: &Range<usize>,
    sentence: &[Token],
    parts: &[Range<usize>],
) -> Option<usize> {
    let tokens = claim.text.tokens.get(step.clone())?.iter();
    let words: Vec<&Token> = tokens
        .filter(|t| t.is_content() && !is_sequence(claim, t))
        .collect();
    if words.is_empty() {
        return None;
    }
    let shares = parts.iter().map(|part| {
        let tokens = sentence.get(part.clone()).unwrap_or(&[]);
        share_of_words(&words, tokens)
    });
    let shares: Vec<f64> = shares.collect();
    let mut held = (0..shares.len()).filter(|n| shares.get(*n).is_some_and(|s| *s >= HELD));
    let only = held.next()?;
    held.next().is_none().then_some(only)
}

/// How many lines of a text begin with a number and a full stop.
fn numbered(text: &str) -> usize {
    text.lines().filter(|line| is_numbered(line)).count()
}

fn is_numbered(line: &str) -> bool {
    let item = line.trim_start();
    let behind = item.trim_start_matches(|c: char| c.is_ascii_digit());
    behind.len() < item.len() && behind.starts_with(['.', ')'])
}

/// The steps of a claim in the order in which they happen, as token ranges: parts with "first",
/// "then", "finally", or two parts around "before" or "after". Empty when it has no order.
fn ordered(claim: &Reading) -> Vec<Range<usize>> {
    let tokens = &claim.text.tokens;
    let cue = (1..tokens.len()).find(|i| matches!(&*lower_word_at(claim, *i), "before" | "after"));
    let cues = tokens.iter().filter(|t| t.does(Role::Sequence)).count();
    match (cue, cues) {
        (Some(at), 0) => around_cue(claim, at),
        (None, 2..) => parts_in_sequence(tokens),
        _ => Vec::new(),
    }
}

/// A word in lower case; empty behind the last.
fn lower_word_at(claim: &Reading, at: usize) -> Cow<'_, str> {
    let token = claim.text.tokens.get(at);
    token.map_or(Cow::Borrowed(""), |t| claim.lower_word(t))
}

/// The two parts around "before" or "after", which is at `at`.
fn around_cue(claim: &Reading, at: usize) -> Vec<Range<usize>> {
    let (left, right) = (0..at, at + 1..claim.text.tokens.len());
    let is_before = lower_word_at(claim, at) == "before"
        || matches!(&*lower_word_at(claim, at + 1), "which" | "that");
    if is_before {
        vec![left, right]
    } else {
        vec![right, left]
    }
}

/// The parts that begin with a new clause, or with "then" and its like.
fn parts_in_sequence(tokens: &[Token]) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut from = 0;
    for i in 1..=tokens.len() {
        let ends = tokens.get(i).is_none_or(|t| {
            tokens
                .get(i - 1)
                .is_some_and(|before| before.clause != t.clause)
                || t.does(Role::Sequence)
        });
        if ends {
            out.push(from..i);
            from = i;
        }
    }
    out.retain(|part| tokens[part.clone()].iter().any(Token::is_content));
    out.truncate(MOST_STEPS);
    out
}

/// The one item that best matches a step of the claim, if it contains most of it.
fn place_of(
    claim: &Reading,
    step: &Range<usize>,
    reading: &Reading,
    items: &[usize],
) -> Option<usize> {
    let tokens = claim.text.tokens.get(step.clone())?;
    let words: Vec<&Token> = tokens
        .iter()
        .filter(|t| t.is_content() && !is_sequence(claim, t))
        .collect();
    if words.is_empty() {
        return None;
    }
    let shares: Vec<(f64, usize)> = items
        .iter()
        .map(|n| (share_of_words(&words, reading.tokens_of(*n)), *n))
        .collect();
    let best = shares
        .iter()
        .fold(None, |best: Option<&(f64, usize)>, one| match best {
            Some(b) if b.0 >= one.0 => Some(b),
            _ => Some(one),
        })?;
    let alone = shares.iter().filter(|one| one.0 >= best.0).count() == 1;
    (best.0 >= HELD && alone).then_some(best.1)
}

/// The share of the words that a sentence has.
fn share_of_words(words: &[&Token], sentence: &[Token]) -> f64 {
    let held = words.iter().filter(|w| has_stem(sentence, w.id));
    super::ratio(held.count(), words.len())
}

/// Whether the token is an ordinal or a word for a sequence.
fn is_sequence(claim: &Reading, token: &Token) -> bool {
    token.does(Role::Sequence) || matches!(&*claim.lower_word(token), "last" | "step")
}

fn reversed(case: &Case<'_>, pairing: &Pairing<'_>, near: &Near<'_>) -> Option<Objection> {
    let own = case.claim.text.tokens.get(pairing.own.own.clone())?;
    let reading = near.source.reading;
    let theirs = reading.tokens_of(near.statement.sentence);
    let at = (0..own.len()).find(|at| is_cue(case.claim, own, *at))?;
    let cue = own.get(at)?;
    let there = (0..theirs.len())
        .filter(|at| theirs.get(*at).is_some_and(|t| t.id == cue.id))
        .find(|at| is_cue(reading, theirs, *at));
    let Some(there) = there else {
        return turned(case, own, at, near);
    };
    let (first, second) = crossed(own, at, theirs, there)?;
    let detail = Detail::Reversed {
        first: case.claim.word(first).to_owned(),
        second: case.claim.word(second).to_owned(),
    };
    let found = Objection::new(Code::Order, Effect::Rejects, detail).at(cue.start..cue.end);
    Some(found.against(near.source.item.label, sentence(near)?))
}

/// Whether things on one side of the claim's word are on the other side of the text's word, and
/// more of them changed sides than stayed.
pub(super) fn is_exchanged(claim: &Reading, word: &Token, near: &Near<'_>, other: &Token) -> bool {
    let own = claim.text.tokens.as_slice();
    let theirs = near.source.reading.tokens_of(near.statement.sentence);
    let (Some(at), Some(there)) = (position_of(own, word), position_of(theirs, other)) else {
        return false;
    };
    crossed(own, at, theirs, there).is_some()
}

fn position_of(tokens: &[Token], token: &Token) -> Option<usize> {
    tokens.iter().position(|t| t.start == token.start)
}

/// The objection to "after" if the text has "before" between the same two things, in the same
/// order.
fn turned(case: &Case<'_>, own: &[Token], at: usize, near: &Near<'_>) -> Option<Objection> {
    let reading = near.source.reading;
    let theirs = reading.tokens_of(near.statement.sentence);
    let cue = own.get(at)?;
    let (there, _) = theirs
        .iter()
        .enumerate()
        .filter(|(_, t)| cue.negated == t.negated && cue.is_opposite_of(t))
        .find(|(at, _)| is_cue(reading, theirs, *at))?;
    let (before, after) = (own.get(..at)?, own.get(at + 1..)?);
    let (ahead, behind) = (theirs.get(..there)?, theirs.get(there + 1..)?);
    let is_turned = share_a_word(before, ahead)
        && share_a_word(after, behind)
        && !share_a_word(before, behind)
        && !share_a_word(after, ahead);
    if !is_turned {
        return None;
    }
    let detail = Detail::Opposite {
        said: case.claim.word(cue).to_owned(),
        found: reading.word(theirs.get(there)?).to_owned(),
    };
    let found = Objection::new(Code::Order, Effect::Rejects, detail).at(cue.start..cue.end);
    Some(found.against(near.source.item.label, sentence(near)?))
}

/// Whether a word with content, or a number, is on both sides.
fn share_a_word(ours: &[Token], others: &[Token]) -> bool {
    let mut counted = ours.iter().filter(|t| t.is_content_or_number());
    counted.any(|t| has_stem(others, t.id))
}

/// Whether the token is "before", "after" or a comparative: "faster than".
fn is_cue(reading: &Reading, tokens: &[Token], at: usize) -> bool {
    let Some(token) = tokens.get(at) else {
        return false;
    };
    let after = tokens.get(at + 1..).unwrap_or(&[]);
    let compared = after
        .iter()
        .take(2)
        .map(|t| reading.lower_word(t))
        .any(|w| w == "than" || w == "als");
    token.does(Role::Ordering) || compared && !token.pairs().is_empty()
}

/// Finds two things that changed sides: one is before the word in the claim and after it in the
/// text, and the other the reverse. Fewer things must have stayed on the same side.
fn crossed<'t>(
    own: &'t [Token],
    at: usize,
    theirs: &[Token],
    there: usize,
) -> Option<(&'t Token, &'t Token)> {
    let (before, after) = (own.get(..at)?, own.get(at + 1..)?);
    let (ahead, behind) = (theirs.get(..there)?, theirs.get(there + 1..)?);
    let first = words_only_in(before, behind, ahead);
    let second = words_only_in(after, ahead, behind);
    let same =
        words_only_in(before, ahead, behind).len() + words_only_in(after, behind, ahead).len();
    let pair = (first.first()?, second.first()?);
    (first.len() + second.len() > same).then_some((*pair.0, *pair.1))
}

/// The words with content, and numbers, that are on one side of the text and not on the other.
fn words_only_in<'t>(words: &'t [Token], here: &[Token], not_here: &[Token]) -> Vec<&'t Token> {
    let counted = words.iter().filter(|t| t.is_content_or_number());
    counted
        .filter(|t| has_stem(here, t.id) && !has_stem(not_here, t.id))
        .collect()
}
