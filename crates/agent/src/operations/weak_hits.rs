//! Tells hits that fit from weak ones, which people see only if they ask for them.
//!
//! A hit is weak if its chance is low, and far below that of the best one or no more than a guess,
//! unless it holds a rare word of the query that no good hit holds.
//!
//! For 190 questions about two vaults of notes, 53 and 45, 299 of the first five hits were in the
//! note with the answer, and 322 in others. Chances below [`GOOD`] alone would cut 52 and 210 of
//! them; below a fifth of the best chance as well, 9 and 137; and 2 and 42 are below [`GUESS`].

use std::collections::BTreeSet;

use local_agent_index::lexical::{Query, Reader, terms};
use local_agent_index::retrieval::{Found, Hit, Mode};
use local_agent_text::error::Result;

/// A hit with at least this chance is good.
const GOOD: f32 = 0.1;

/// A hit with a lower chance is a guess.
const GUESS: f32 = 0.02;

/// The chance of a hit that is far below the best one is a smaller share of the best chance.
const FAR_BELOW: f32 = 0.2;

/// A word is rare if at most this many documents hold it.
const RARE_IN: u64 = 3;

/// In a large index a word is rare if at most one document of this many holds it.
const RARE_ONE_OF: u64 = 50;

/// What decides whether a hit of one search is weak.
#[derive(Debug, Default)]
pub(super) struct WeakHits {
    /// Whether any hit can be weak.
    may_be_weak: bool,
    /// Rare words of the query that no good hit holds, as terms.
    rare: BTreeSet<String>,
    /// The chance of the best hit.
    best: f32,
}

impl WeakHits {
    /// For the hits of a search, best first.
    ///
    /// # Errors
    /// `DB_CORRUPT` when the projection is damaged.
    pub(super) fn of(
        reader: Option<&Reader>,
        query: &Query,
        mode: Mode,
        found: &Found,
    ) -> Result<Self> {
        let best = found.hits.first().map_or(0.0, |hit| hit.chance);
        // Every hit holds the phrase word for word.
        let may_be_weak =
            query.phrases.is_empty() && found.hits.iter().any(|hit| is_low(hit, best));
        if !may_be_weak {
            return Ok(Self::default());
        }
        let mut rare = match reader {
            Some(reader) if mode != Mode::Vector => rare_words(reader, query)?,
            _ => BTreeSet::new(),
        };
        for hit in found.hits.iter().filter(|hit| is_good(hit)) {
            if rare.is_empty() {
                break;
            }
            let held = terms_of(hit);
            rare.retain(|word| !held.contains(word));
        }
        Ok(Self {
            may_be_weak,
            rare,
            best,
        })
    }

    /// Whether the hit is weak.
    pub(super) fn is_weak(&self, hit: &Hit) -> bool {
        self.may_be_weak
            && is_low(hit, self.best)
            && (self.rare.is_empty() || self.rare.is_disjoint(&terms_of(hit)))
    }
}

/// Whether any of these hits is good.
pub(super) fn has_good(hits: &[Hit]) -> bool {
    hits.iter().any(is_good)
}

fn is_good(hit: &Hit) -> bool {
    hit.chance >= GOOD
}

/// Whether the chance of a hit is a guess, or far below the best one and not good.
fn is_low(hit: &Hit, best: f32) -> bool {
    !is_good(hit) && (hit.chance < GUESS || hit.chance < FAR_BELOW * best)
}

/// The terms of the text and of the names above it.
fn terms_of(hit: &Hit) -> BTreeSet<String> {
    let chunk = &hit.chunk;
    let text = format!(
        "{}\n{}\n{}\n{}",
        chunk.path, chunk.title, chunk.heading, chunk.text
    );
    terms(&text).into_iter().collect()
}

/// The words of the query that few documents hold, as terms.
fn rare_words(reader: &Reader, query: &Query) -> Result<BTreeSet<String>> {
    let stats = reader.term_stats(query)?;
    let rare = stats.into_iter().filter(|stat| {
        let most = RARE_IN.max(stat.docs / RARE_ONE_OF);
        (1..=most).contains(&stat.doc_freq)
    });
    Ok(rare.map(|stat| stat.term).collect())
}
