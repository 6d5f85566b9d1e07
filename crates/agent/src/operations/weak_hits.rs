//! Tells hits that fit from weak ones, which people see only if they ask for them.
//!
//! A hit is weak if its chance is low, unless it holds a rare word of the query that no good hit
//! holds, or no hit is good and it is clearly the first of the vectors: a question in another
//! language than the notes shares no word with them, and its chances are always low.

use std::collections::BTreeSet;

use local_agent_index::lexical::{Query, Reader, terms};
use local_agent_index::retrieval::{Found, Hit, Mode, by_vectors};
use local_agent_text::error::Result;

/// A hit with at least this chance is good.
const GOOD: f32 = 0.1;

/// A word is rare if at most this many documents hold it.
const RARE_IN: u64 = 3;

/// In a large index a word is rare if at most one document of this many holds it.
const RARE_ONE_OF: u64 = 50;

/// From this chance on, the first hit of the vectors is more than a guess.
const FIRST_BY_MEANING: f32 = 0.02;

/// How much nearer to the question than every other note the first hit of the vectors is, if it is
/// clearly the first. Also how far hits are from it that are as near.
const CLEARLY: f32 = 0.03;

/// Number of hits that are compared with each other, even if fewer are wanted.
pub(super) const COMPARED: usize = 10;

/// What decides whether a hit of one search is weak.
#[derive(Debug, Default)]
pub(super) struct WeakHits {
    /// Whether any hit can be weak.
    may_be_weak: bool,
    /// Rare words of the query that no good hit holds, as terms.
    rare: BTreeSet<String>,
    /// A hit of the vectors with at least this likeness is not weak.
    near: Option<f32>,
}

impl WeakHits {
    /// For the hits of a search, before they are cut to the number wanted.
    ///
    /// # Errors
    /// `DB_CORRUPT` when the projection is damaged.
    pub(super) fn of(
        reader: Option<&Reader>,
        query: &Query,
        mode: Mode,
        found: &Found,
    ) -> Result<Self> {
        // Every hit holds the phrase word for word.
        if !query.phrases.is_empty() {
            return Ok(Self::default());
        }
        let mut rare = match reader {
            Some(reader) if mode != Mode::Vector => rare_words(reader, query)?,
            _ => BTreeSet::new(),
        };
        let is_by_meaning = by_vectors(mode, &found.hits) && !has_good(&found.hits);
        for hit in found.hits.iter().filter(|hit| is_good(hit)) {
            if rare.is_empty() {
                break;
            }
            let held = terms_of(hit);
            rare.retain(|word| !held.contains(word));
        }
        Ok(Self {
            may_be_weak: true,
            rare,
            near: is_by_meaning.then(|| nearest(&found.hits)).flatten(),
        })
    }

    /// Whether the hit is weak.
    pub(super) fn is_weak(&self, hit: &Hit) -> bool {
        if !self.may_be_weak || is_good(hit) {
            return false;
        }
        let is_near = self
            .near
            .is_some_and(|near| hit.trace.vector_rank.is_some() && hit.trace.likeness >= near);
        let holds_rare = !self.rare.is_empty() && !self.rare.is_disjoint(&terms_of(hit));
        !is_near && !holds_rare
    }

    /// Whether all of these hits are weak; also if there are none.
    pub(super) fn are_all(&self, hits: &[Hit]) -> bool {
        hits.iter().all(|hit| self.is_weak(hit))
    }
}

/// Whether any of these hits is good.
pub(super) fn has_good(hits: &[Hit]) -> bool {
    hits.iter().any(is_good)
}

fn is_good(hit: &Hit) -> bool {
    hit.chance >= GOOD
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

/// The likeness from which on hits are as near to the question as the first of the vectors; `None`
/// if that one is not clearly the first.
fn nearest(hits: &[Hit]) -> Option<f32> {
    let ranked = || hits.iter().filter(|hit| hit.trace.vector_rank.is_some());
    let first = ranked().min_by_key(|hit| hit.trace.vector_rank)?;
    let next = ranked()
        .filter(|hit| hit.chunk.document_id != first.chunk.document_id)
        .map(|hit| hit.trace.likeness)
        .fold(0.0, f32::max);
    let is_clear = first.chance >= FIRST_BY_MEANING || first.trace.likeness >= next + CLEARLY;
    is_clear.then_some(first.trace.likeness - CLEARLY)
}
