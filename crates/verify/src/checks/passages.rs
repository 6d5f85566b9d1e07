//! The sentences of the cited text that have words of the claim; found once, for several checks.

use super::{Case, Source};
use crate::reading::Reading;
use crate::text::{Token, has_stem};

/// Maximum number of different words of the claim, and of sentences that are kept; both bound the
/// work on hostile text.
const MOST_WORDS: usize = 60;
const MOST_KEPT: usize = 24;

/// Maximum number of tokens of a sentence that is kept.
const LONGEST: usize = 120;

/// A sentence of the cited text.
#[derive(Clone, Copy)]
pub(super) struct Passage<'a> {
    /// Its item.
    pub source: Source<'a>,
    /// Which sentence.
    pub sentence: usize,
    /// How many different words of the claim it has.
    pub shared: usize,
}

impl<'a> Passage<'a> {
    /// Its words.
    pub(super) fn tokens(&self) -> &'a [Token] {
        self.reading().tokens_of(self.sentence)
    }

    /// The text that it is in.
    pub(super) fn reading(&self) -> &'a Reading {
        self.source.reading
    }

    /// Its bytes in the normalised text.
    pub(super) fn bytes(&self) -> std::ops::Range<usize> {
        let sentence = self.reading().sentence(self.sentence);
        sentence.map_or(0..0, |s| s.bytes.clone())
    }
}

/// The sentences of the cited text with words of the claim, those with most words first.
pub(super) struct Passages<'a> {
    /// The sentences.
    pub all: Vec<Passage<'a>>,
    /// The different words of the claim with content, and its numbers.
    pub words: Vec<&'a Token>,
}

impl<'a> Passages<'a> {
    /// Looks up the words of the claim.
    pub(super) fn of(case: &Case<'a>) -> Self {
        let mut words: Vec<&'a Token> = Vec::new();
        let counted = case.claim.text.tokens.iter();
        for token in counted.filter(|t| t.is_content_or_number()) {
            if words.len() < MOST_WORDS && !words.iter().any(|t| t.id == token.id) {
                words.push(token);
            }
        }
        let mut all = Vec::new();
        for source in case.cited {
            let mut counts = vec![0_usize; source.reading.text.sentences.len()];
            for n in words
                .iter()
                .flat_map(|t| source.reading.sentences_with(t.id))
            {
                if let Some(count) = counts.get_mut(*n as usize) {
                    *count += 1;
                }
            }
            let found = counts.into_iter().enumerate().filter(|(_, n)| *n > 0);
            all.extend(found.map(|(sentence, shared)| Passage {
                source: *source,
                sentence,
                shared,
            }));
        }
        all.retain(|p| p.tokens().len() <= LONGEST);
        all.sort_by_key(|p| std::cmp::Reverse(p.shared));
        all.truncate(MOST_KEPT);
        Self { all, words }
    }

    /// The sentences with at least this many words of the claim, or all of them if it has fewer.
    pub(super) fn with(&self, least: usize) -> impl Iterator<Item = &Passage<'a>> {
        let least = least.min(self.words.len());
        self.all.iter().filter(move |p| p.shared >= least)
    }

    /// The share of these words that some tokens have.
    pub(super) fn share(words: &[&Token], tokens: &[Token]) -> f64 {
        let held = words.iter().filter(|t| has_stem(tokens, t.id));
        super::ratio(held.count(), words.len())
    }
}
