//! Bringing the two sides together.
//!
//! `convex` is the score-aware combination of Bruch, Gai and Ingber (2022, arXiv:2210.11934) with
//! the theoretical lower ends: each list is scaled so that 0 (no word, no likeness) is 0 and its
//! best is 1, and the two are mixed by one weight. Unlike the lists' own ends, these do not depend
//! on how far down a list was read. A chunk that the vector side did not reach counts as its last
//! one; a chunk without words counts 0.
//!
//! The vector side weighs less the more alike the whole index looks to the question: a model that
//! cannot read a text (another language, say) finds everything similar, and its order is noise
//! then.
//!
//! `rrf` is reciprocal rank fusion (Cormack, Clarke and Büttcher 2009) with k = 60, scaled so that
//! first on both sides is 1.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use serde::Serialize;

use super::{Mode, Request};
use crate::retrieval::Fusion;
use crate::{lexical, vectors};
use local_agent_text::types::ChunkKey;

/// The constant of reciprocal rank fusion, as published.
const RRF_K: f32 = 60.0;

/// The mean cosine of question and index from which on the vector side weighs less, and at which it
/// weighs nothing. On English sets nineteen questions of twenty stay below 0.17; an English model
/// on Chinese starts at 0.32.
const BLURRED: (f32, f32) = (0.15, 0.40);

/// Every number that made a rank; what `--explain` prints.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Trace {
    /// `both`, `lexical` or `vector`; `filter` for a document that filters alone selected.
    pub method: &'static str,
    /// Place on the lexical side, from 1.
    pub lexical_rank: Option<usize>,
    /// BM25 of the chunk plus its share of the document's.
    pub lexical_score: Option<f32>,
    /// BM25 of the chunk alone.
    pub chunk_bm25: Option<f32>,
    /// BM25 of its document.
    pub document_bm25: Option<f32>,
    /// The lexical score as a share of the list's best.
    pub lexical_scaled: f32,
    /// Share of the query's words that the chunk or its document holds, weighted by rarity; the
    /// greater of the two.
    pub coverage: f32,
    /// Place on the vector side, from 1.
    pub vector_rank: Option<usize>,
    /// Cosine of query and chunk.
    pub cosine: Option<f32>,
    /// The cosine; of a chunk that the vector side did not reach, its last; 0 without a vector.
    pub likeness: f32,
    /// The cosine as a share of the list's best.
    pub vector_scaled: f32,
    /// How far the model can tell the index apart for this question, 0 to 1.
    pub sharpness: f32,
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

/// `score` as a share of the best of its list; of a list without a positive score, 0.
fn scale(score: f32, best: f32) -> f32 {
    if best > 0.0 {
        (score / best).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// What the vector side found, and how alike the index looks to the question.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Meaning<'a> {
    pub hits: &'a [vectors::Hit],
    /// Mean cosine of the question and a sample of the index.
    pub mean: f32,
}

impl Meaning<'_> {
    /// How far the model can tell the texts apart, 0 to 1.
    fn sharpness(&self) -> f32 {
        let (from, to) = BLURRED;
        ((to - self.mean) / (to - from)).clamp(0.0, 1.0)
    }
}

/// Ranks the union of both lists; ties go to the smaller chunk key, so an answer is the same on
/// every machine.
pub(super) fn fuse(
    request: &Request<'_>,
    by_words: &[lexical::Hit],
    by_meaning: Meaning<'_>,
    has_vector: impl Fn(i64) -> bool,
) -> Vec<Candidate> {
    let best_word = by_words.first().map_or(0.0, |hit| hit.score);
    let best_meaning = by_meaning.hits.first().map_or(0.0, |hit| hit.score);
    let last_meaning = by_meaning.hits.last().map_or(0.0, |hit| hit.score);
    let mut found: HashMap<i64, Candidate, RandomState> = HashMap::with_capacity_and_hasher(
        by_words.len() + by_meaning.hits.len(),
        RandomState::default(),
    );
    for (rank, hit) in (1..).zip(by_words) {
        let candidate = found
            .entry(hit.chunk_id)
            .or_insert_with(|| Candidate::new(hit.chunk_id, hit.key));
        let trace = &mut candidate.trace;
        trace.lexical_rank = Some(rank);
        trace.lexical_score = Some(hit.score);
        trace.chunk_bm25 = Some(hit.chunk_score);
        trace.document_bm25 = Some(hit.doc_score);
        trace.lexical_scaled = scale(hit.score, best_word);
        trace.coverage = hit.chunk_share.max(hit.doc_share);
        if !by_meaning.hits.is_empty() && has_vector(hit.chunk_id) {
            trace.vector_scaled = scale(last_meaning, best_meaning);
            trace.likeness = last_meaning;
        }
    }
    for (rank, hit) in (1..).zip(by_meaning.hits) {
        let candidate = found
            .entry(hit.chunk_id)
            .or_insert_with(|| Candidate::new(hit.chunk_id, hit.key));
        candidate.trace.vector_rank = Some(rank);
        candidate.trace.cosine = Some(hit.score);
        candidate.trace.vector_scaled = scale(hit.score, best_meaning);
        candidate.trace.likeness = hit.score;
    }
    let sharpness = by_meaning.sharpness();
    let weight = request.vector_weight * sharpness;
    let mut all: Vec<Candidate> = found
        .into_values()
        .map(|one| score(request, weight, one, &has_vector))
        .collect();
    all.iter_mut()
        .for_each(|candidate| candidate.trace.sharpness = sharpness);
    all.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
    all
}

impl Candidate {
    fn new(chunk_id: i64, key: ChunkKey) -> Self {
        Self {
            chunk_id,
            key,
            score: 0.0,
            trace: Trace::default(),
        }
    }
}

fn score(
    request: &Request<'_>,
    vector_weight: f32,
    mut candidate: Candidate,
    has_vector: &impl Fn(i64) -> bool,
) -> Candidate {
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
        Mode::Hybrid => vector_weight,
    };
    candidate.score = match request.fusion {
        Fusion::Convex => {
            trace.fusion = "convex";
            trace.lexical_scaled * (1.0 - trace.vector_weight)
                + trace.vector_scaled * trace.vector_weight
        }
        Fusion::Rrf => {
            trace.fusion = "rrf";
            let part = |rank: Option<usize>| {
                rank.map_or(0.0, |rank| (RRF_K + 1.0) / (RRF_K + rank as f32))
            };
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
        lexical::Hit {
            chunk_id: id,
            doc_id: id,
            key,
            score,
            chunk_score: score,
            doc_score: 0.0,
            chunk_share: 0.5,
            doc_share: 0.5,
        }
    }

    fn meaning(id: i64, score: f32) -> vectors::Hit {
        vectors::Hit {
            chunk_id: id,
            key: ChunkKey::from_bytes([id as u8; 16]),
            score,
        }
    }

    fn sharp(hits: &[vectors::Hit]) -> Meaning<'_> {
        Meaning { hits, mean: 0.05 }
    }

    fn request(query: &Query, fusion: Fusion) -> Request<'_> {
        Request {
            query,
            mode: Mode::Hybrid,
            scope: Scope::default(),
            limit: 10,
            fusion,
            vector_weight: 0.5,
        }
    }

    #[test]
    fn w13_being_in_both_lists_is_not_enough_to_be_first() {
        let query = Query::plain("x");
        let words = [word(1, 9.0), word(2, 1.0)];
        let meanings = [meaning(1, 0.8), meaning(3, 0.79), meaning(2, 0.1)];
        let order: Vec<i64> = fuse(
            &request(&query, Fusion::Convex),
            &words,
            sharp(&meanings),
            |_| true,
        )
        .iter()
        .map(|c| c.chunk_id)
        .collect();
        assert_eq!(order, [1, 3, 2]);
    }

    #[test]
    fn a_chunk_without_a_vector_is_ranked_by_its_words_on_the_same_scale() {
        let query = Query::plain("x");
        let words = [word(1, 10.0), word(2, 9.0), word(3, 0.0)];
        let meanings = [meaning(2, 0.5), meaning(3, 0.4)];
        let ranked = fuse(
            &request(&query, Fusion::Convex),
            &words,
            sharp(&meanings),
            |id| id != 1,
        );
        assert_eq!(ranked[0].chunk_id, 1);
        assert!((ranked[0].score - 1.0).abs() < 1e-6);
        assert_eq!(ranked[0].trace.vector_weight, 0.0);
    }

    #[test]
    fn what_the_vector_side_did_not_reach_counts_as_its_last() {
        let query = Query::plain("x");
        let ranked = fuse(
            &request(&query, Fusion::Convex),
            &[word(9, 4.0)],
            sharp(&[meaning(2, 0.8), meaning(3, 0.2)]),
            |_| true,
        );
        let unreached = ranked.iter().find(|c| c.chunk_id == 9).unwrap();
        assert!((unreached.trace.vector_scaled - 0.25).abs() < 1e-6);
        assert!((unreached.score - (0.5 + 0.5 * 0.25)).abs() < 1e-6);
    }

    #[test]
    fn a_model_to_which_everything_looks_alike_is_not_listened_to() {
        let query = Query::plain("x");
        let (words, meanings) = (
            [word(1, 9.0), word(2, 8.0)],
            [meaning(2, 0.62), meaning(1, 0.5)],
        );
        let first = |mean| {
            let by_meaning = Meaning {
                hits: &meanings,
                mean,
            };
            let ranked = fuse(&request(&query, Fusion::Convex), &words, by_meaning, |_| {
                true
            });
            (ranked[0].chunk_id, ranked[0].trace.vector_weight)
        };
        assert_eq!(first(0.1), (2, 0.5));
        assert_eq!(first(0.45), (1, 0.0));
    }

    #[test]
    fn ties_go_to_the_smaller_key_in_both_fusions() {
        let query = Query::plain("x");
        for fusion in [Fusion::Convex, Fusion::Rrf] {
            let ranked = fuse(
                &request(&query, fusion),
                &[word(7, 2.0), word(4, 2.0)],
                sharp(&[]),
                |_| false,
            );
            let first = if fusion == Fusion::Convex { 4 } else { 7 };
            assert_eq!(ranked[0].chunk_id, first);
        }
    }
}
