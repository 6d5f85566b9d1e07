//! Bringing the two sides together.
//!
//! `convex` is the score-aware combination of Bruch, Gai and Ingber (2022, arXiv:2210.11934): each list is scaled to
//! 0..1 by its own ends, a chunk that a list does not hold counts as its lower end, and the two are mixed by one
//! weight. `rrf` is reciprocal rank fusion (Cormack, Clarke and Büttcher 2009) with k = 60, scaled so that first on
//! both sides is 1.

use std::collections::HashMap;

use serde::Serialize;

use super::{Mode, Request, ranks};
use crate::config::Fusion;
use crate::types::ChunkKey;
use crate::{lexical, vectors};

/// The constant of reciprocal rank fusion, as published.
const RRF_K: f32 = 60.0;

/// Every number that made a rank; what `--explain` prints.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Trace {
    /// `both`, `lexical` or `vector`.
    pub method: &'static str,
    /// Place on the lexical side, from 1.
    pub lexical_rank: Option<usize>,
    /// BM25 of the chunk plus its share of the document's.
    pub lexical_score: Option<f32>,
    /// BM25 of the chunk alone.
    pub chunk_bm25: Option<f32>,
    /// BM25 of its document.
    pub document_bm25: Option<f32>,
    /// The lexical score scaled to 0..1 by the list's ends.
    pub lexical_scaled: f32,
    /// Place on the vector side, from 1.
    pub vector_rank: Option<usize>,
    /// Cosine of query and chunk.
    pub cosine: Option<f32>,
    /// The cosine scaled to 0..1 by the list's ends.
    pub vector_scaled: f32,
    /// Share of the vector side in this chunk's score; 0 for a chunk that has no vector yet.
    pub vector_weight: f32,
    /// `convex` or `rrf`.
    pub fusion: &'static str,
}

/// A ranked id; its row has not been read yet.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub chunk_id: i64,
    pub key: ChunkKey,
    pub score: f32,
    pub trace: Trace,
}

/// Scales `score` to 0..1 by the ends of its list; a list of one value scales to 1.
fn scale(score: f32, ends: (f32, f32)) -> f32 {
    let (low, high) = ends;
    if high > low { ((score - low) / (high - low)).clamp(0.0, 1.0) } else { 1.0 }
}

fn ends(scores: impl Iterator<Item = f32>) -> (f32, f32) {
    scores.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), s| (low.min(s), high.max(s)))
}

/// Ranks the union of both lists; ties go to the smaller chunk key, so an answer is the same on every machine.
pub(super) fn fuse(
    request: &Request<'_>,
    by_words: &[lexical::Hit],
    by_meaning: &[vectors::Hit],
    has_vector: impl Fn(i64) -> bool,
) -> Vec<Candidate> {
    let word_ends = ends(by_words.iter().map(|hit| hit.score));
    let meaning_ends = ends(by_meaning.iter().map(|hit| hit.score));
    let word_ranks = ranks(by_words, |hit| hit.chunk_id);
    let meaning_ranks = ranks(by_meaning, |hit| hit.chunk_id);
    let mut found: HashMap<i64, Candidate> = HashMap::with_capacity(by_words.len() + by_meaning.len());
    for hit in by_words {
        let candidate = found.entry(hit.chunk_id).or_insert_with(|| Candidate::new(hit.chunk_id, hit.key));
        candidate.trace.lexical_rank = word_ranks.get(&hit.chunk_id).copied();
        candidate.trace.lexical_score = Some(hit.score);
        candidate.trace.chunk_bm25 = Some(hit.chunk_score);
        candidate.trace.document_bm25 = Some(hit.doc_score);
        candidate.trace.lexical_scaled = scale(hit.score, word_ends);
    }
    for hit in by_meaning {
        let candidate = found.entry(hit.chunk_id).or_insert_with(|| Candidate::new(hit.chunk_id, hit.key));
        candidate.trace.vector_rank = meaning_ranks.get(&hit.chunk_id).copied();
        candidate.trace.cosine = Some(hit.score);
        candidate.trace.vector_scaled = scale(hit.score, meaning_ends);
    }
    let mut all: Vec<Candidate> = found.into_values().map(|one| score(request, one, &has_vector)).collect();
    all.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
    all
}

impl Candidate {
    fn new(chunk_id: i64, key: ChunkKey) -> Self {
        Self { chunk_id, key, score: 0.0, trace: Trace::default() }
    }
}

fn score(request: &Request<'_>, mut candidate: Candidate, has_vector: &impl Fn(i64) -> bool) -> Candidate {
    let trace = &mut candidate.trace;
    trace.method = match (trace.lexical_rank, trace.vector_rank) {
        (Some(_), Some(_)) => "both",
        (Some(_), None) => "lexical",
        _ => "vector",
    };
    trace.vector_weight = match request.mode {
        Mode::Vector => 1.0,
        Mode::Lexical => 0.0,
        // A chunk without a vector is ranked by its words alone, on the same scale.
        Mode::Hybrid if trace.vector_rank.is_none() && !has_vector(candidate.chunk_id) => 0.0,
        Mode::Hybrid => request.vector_weight,
    };
    candidate.score = match request.fusion {
        Fusion::Convex => {
            trace.fusion = "convex";
            trace.lexical_scaled * (1.0 - trace.vector_weight) + trace.vector_scaled * trace.vector_weight
        }
        Fusion::Rrf => {
            trace.fusion = "rrf";
            let part = |rank: Option<usize>| rank.map_or(0.0, |rank| (RRF_K + 1.0) / (RRF_K + rank as f32));
            match trace.vector_weight {
                0.0 => part(trace.lexical_rank),
                1.0 => part(trace.vector_rank),
                _ => (part(trace.lexical_rank) + part(trace.vector_rank)) / 2.0,
            }
        }
    };
    candidate
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::Query;
    use crate::retrieval::Scope;

    fn word(id: i64, score: f32) -> lexical::Hit {
        let key = ChunkKey::from_bytes([id as u8; 16]);
        lexical::Hit { chunk_id: id, doc_id: id, key, score, chunk_score: score, doc_score: 0.0 }
    }

    fn meaning(id: i64, score: f32) -> vectors::Hit {
        vectors::Hit { chunk_id: id, key: ChunkKey::from_bytes([id as u8; 16]), score }
    }

    fn request(query: &Query, fusion: Fusion) -> Request<'_> {
        Request { query, mode: Mode::Hybrid, scope: Scope::default(), limit: 10, fusion, vector_weight: 0.5 }
    }

    #[test]
    fn w13_being_in_both_lists_is_not_enough_to_be_first() {
        let query = Query::plain("x");
        let words = [word(1, 9.0), word(2, 1.0)];
        let meanings = [meaning(1, 0.8), meaning(3, 0.79), meaning(2, 0.1)];
        let order: Vec<i64> =
            fuse(&request(&query, Fusion::Convex), &words, &meanings, |_| true).iter().map(|c| c.chunk_id).collect();
        assert_eq!(order, [1, 3, 2]);
    }

    #[test]
    fn a_chunk_without_a_vector_is_ranked_by_its_words_on_the_same_scale() {
        let query = Query::plain("x");
        let words = [word(1, 10.0), word(2, 9.0), word(3, 0.0)];
        let meanings = [meaning(2, 0.5), meaning(3, 0.4)];
        let ranked = fuse(&request(&query, Fusion::Convex), &words, &meanings, |id| id != 1);
        assert_eq!(ranked[0].chunk_id, 1);
        assert!((ranked[0].score - 1.0).abs() < 1e-6);
        assert_eq!(ranked[0].trace.vector_weight, 0.0);
    }

    #[test]
    fn ties_go_to_the_smaller_key_in_both_fusions() {
        let query = Query::plain("x");
        for fusion in [Fusion::Convex, Fusion::Rrf] {
            let ranked = fuse(&request(&query, fusion), &[word(7, 2.0), word(4, 2.0)], &[], |_| false);
            let first = if fusion == Fusion::Convex { 4 } else { 7 };
            assert_eq!(ranked[0].chunk_id, first);
        }
    }
}
