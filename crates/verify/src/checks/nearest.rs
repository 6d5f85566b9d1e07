//! Which statements of the cited text are about the same thing as a statement of the claim.

use std::ops::Range;

use super::{Case, Source};
use crate::reading::{ALIKE, Reading};
use crate::statements::Statement;
use crate::text::Token;

/// A statement of the cited text, and how much of the claim's statement it contains.
#[derive(Clone, Copy)]
pub(super) struct Near<'a> {
    /// Its item.
    pub source: Source<'a>,
    /// The statement.
    pub statement: &'a Statement,
    /// Share of the content words of the claim's statement, weighted by rarity.
    pub share: f64,
}

impl<'a> Near<'a> {
    /// The words of its sentence.
    pub(super) fn sentence_tokens(&self) -> &'a [Token] {
        self.source.reading.tokens_of(self.statement.sentence)
    }
}

/// A statement of the claim with the statements nearest to it, nearest first.
pub(super) struct Pairing<'a> {
    /// The claim's own statement.
    pub own: &'a Statement,
    /// Statements of the cited text.
    pub near: Vec<Near<'a>>,
}

/// A statement with a smaller share is about something else.
const LEAST: f64 = 0.3;

/// A statement is compared if its share is at least this fraction of the nearest one's.
const ALMOST: f64 = 0.85;

/// Maximum number of words in a statement, of sentences that contain one of them, and of statements
/// that are kept; all bound the work on hostile text.
const MOST_WORDS: usize = 60;
const MOST_SENTENCES: usize = 40;
const MOST_NEAR: usize = 6;

/// Pairs every statement of the claim with the statements of the cited text that are nearest.
pub(super) fn pairings<'a>(case: &Case<'a>) -> Vec<Pairing<'a>> {
    let claim: &'a Reading = case.claim;
    let statements = claim.statements().iter();
    statements
        .map(|own| Pairing {
            own,
            near: near(case, own),
        })
        .collect()
}

/// The bytes of the sentence of a statement of the cited text.
pub(super) fn sentence(near: &Near<'_>) -> Option<Range<usize>> {
    let sentence = near.source.reading.sentence(near.statement.sentence)?;
    Some(sentence.bytes.clone())
}

fn near<'a>(case: &Case<'a>, own: &Statement) -> Vec<Near<'a>> {
    let mut words: Vec<(&Token, f64)> = Vec::new();
    let counted = own.tokens.iter().filter(|t| t.is_content_or_number());
    for token in counted.take(MOST_WORDS) {
        if !words.iter().any(|(t, _)| t.id == token.id) {
            words.push((token, weight(case, token)));
        }
    }
    let total: f64 = words.iter().map(|(_, w)| w).sum();
    if words.is_empty() || words.len() < 2 && !says_one_word(case.claim) {
        return Vec::new();
    }
    let mut out: Vec<Near<'a>> = Vec::new();
    for source in case.cited {
        let reading = source.reading;
        let mut asked = vec![false; reading.text.sentences.len() + 1];
        for (token, _) in &words {
            for s in reading.sentences_with(token.id).iter().take(MOST_SENTENCES) {
                // The sentence before can complete a statement.
                for s in [*s as usize, *s as usize + 1] {
                    asked.get_mut(s).into_iter().for_each(|a| *a = true);
                }
            }
        }
        for statement in reading.statements() {
            if !asked.get(statement.sentence).copied().unwrap_or(false) {
                continue;
            }
            let found = words.iter().map(|(t, w)| w * held(case, statement, t));
            let share = found.sum::<f64>() / total;
            if share >= LEAST {
                out.push(Near {
                    source: *source,
                    statement,
                    share,
                });
            }
        }
    }
    out.sort_by(|a, b| b.share.total_cmp(&a.share));
    let best = out.first().map_or(0.0, |n| n.share);
    out.retain(|n| n.share >= ALMOST * best);
    out.truncate(MOST_NEAR);
    out
}

/// Whether a claim has one word with content: "You must sign".
fn says_one_word(claim: &Reading) -> bool {
    let tokens = claim.text.tokens.iter();
    tokens.filter(|t| t.is_content_or_number()).take(2).count() == 1
}

/// How well a statement matches a word: 1 for the word or its opposite, less for a similar one, or
/// 0.
fn held(case: &Case<'_>, statement: &Statement, token: &Token) -> f64 {
    let mut tokens = statement.tokens.iter();
    if tokens
        .clone()
        .any(|t| t.id == token.id || token.is_opposite_of(t))
    {
        return 1.0;
    }
    let alike = case.lexicon.alike(token.id);
    if alike.is_some() && tokens.any(|t| case.lexicon.alike(t.id) == alike) {
        ALIKE
    } else {
        0.0
    }
}

/// The weight of a word; words in few sentences of the cited text weigh more.
fn weight(case: &Case<'_>, token: &Token) -> f64 {
    let found: usize = case
        .cited
        .iter()
        .map(|s| s.reading.sentences_with(token.id).len())
        .sum();
    match found {
        0 | 1 => 1.0,
        2 | 3 => 0.8,
        4..=8 => 0.6,
        _ => 0.4,
    }
}
