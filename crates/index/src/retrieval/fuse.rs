//! Combines the results of word search and vector search.
//!
//! `convex` is the score-aware combination of Bruch, Gai and Ingber (2022, arXiv:2210.11934) with
//! theoretical minimums: each list is scaled so that 0 (no common word, no similarity) is 0 and its
//! best score is 1, and the two are mixed with one weight. Unlike the minimum of a list, this does
//! not depend on how many hits were read. A chunk that the vector side did not reach gets the value
//! of the last one; a chunk without words counts 0.
//!
//! The vector side has no weight if the model cannot read the question or the index (see
//! [`super::legibility`]), and the words weigh less if they match almost nothing.
//!
//! `rrf` is reciprocal rank fusion (Cormack, Clarke and Büttcher 2009) with k = 60, scaled so that
//! first place on both sides is 1.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Mode, Request};
use crate::ids::ChunkId;
use crate::profile::Profile;
use crate::retrieval::Fusion;
use crate::{lexical, vectors};
use local_agent_text::types::ChunkKey;

/// The constant of reciprocal rank fusion, as published.
const RRF_K: f32 = 60.0;

/// If no hit has at least this share of the question's words, the words count less, because they
/// match almost nothing. The question may be in another language than the notes.
const FEW_WORDS: f32 = 0.3;

/// The same limit for an index in several languages. There, words of the question also match
/// unrelated notes in the question's own language.
const FEW_WORDS_OF_SEVERAL_LANGUAGES: f32 = 0.7;

/// All numbers that determined a rank; printed by `--explain`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Trace {
    /// `both`, `lexical` or `vector`; `filter` for a document that filters alone selected.
    pub method: &'static str,
    /// Rank on the lexical side, from 1.
    pub lexical_rank: Option<usize>,
    /// BM25 of the chunk plus its share of the document's.
    pub lexical_score: Option<f32>,
    /// BM25 of the chunk alone.
    pub chunk_bm25: Option<f32>,
    /// BM25 of its document.
    pub document_bm25: Option<f32>,
    /// The lexical score as a share of the list's best.
    pub lexical_scaled: f32,
    /// Share of the query's words in the chunk or its document, weighted by rarity; the greater of
    /// the two.
    pub coverage: f32,
    /// Rank on the vector side, from 1.
    pub vector_rank: Option<usize>,
    /// Cosine of query and chunk.
    pub cosine: Option<f32>,
    /// The cosine on the scale that all models share. For a chunk that the vector search did not
    /// return, it is that of the last one; 0 without a vector.
    pub likeness: f32,
    /// The likeness of a chunk in another language than the question, measured by what stands out
    /// among the question's own cosines; it decides the chance if it is greater.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub likeness_across: Option<f32>,
    /// The likeness of the mean of its document's chunks, if the document has several and is among
    /// the best.
    pub document_likeness: Option<f32>,
    /// The likeness, mixed with its document's, as a share of the list's best. Cosines of a question
    /// that the profile does not describe count by their distance from the question's median.
    pub vector_scaled: f32,
    /// How far the model can read the question and the index, 0 to 1.
    pub legibility: f32,
    /// Share of the question's adjacent word pairs that are adjacent in the chunk too; only for the
    /// best chunks.
    pub neighbours: Option<f32>,
    /// How much the words are trusted, 0 to 1. The value is less if they match almost nothing.
    pub word_trust: f32,
    /// Weight of the words in this chunk's score.
    pub lexical_weight: f32,
    /// Weight of the vectors in this chunk's score; 0 for a chunk that has no vector yet.
    pub vector_weight: f32,
    /// `convex` or `rrf`.
    pub fusion: &'static str,
    /// The reranker's score for question and passage, without bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reranker_score: Option<f32>,
    /// The reranker's score scaled from 0 for the least to 1 for the greatest of the ranked hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reranker_scaled: Option<f32>,
    /// The score before it was mixed with the reranker's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fused: Option<f32>,
    /// Age of the note in days, if newer notes are ranked higher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_days: Option<i64>,
    /// The share of its score that a note of this age keeps, 0 to 1; `score` already includes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recency: Option<f32>,
}

/// A ranked id; its row has not been read yet.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub chunk_id: ChunkId,
    pub key: ChunkKey,
    pub score: f32,
    pub trace: Trace,
}

/// `score` as a share of the best in its list; 0 for a list without a positive score.
fn scale(score: f32, best: f32) -> f32 {
    if best > 0.0 {
        (score / best).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// The hits of the vector search, and the scale of their cosines.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct VectorSide<'a> {
    pub hits: &'a [vectors::VectorHit],
    /// `None`: cosines are used as they are.
    pub profile: Option<&'a Profile>,
    /// How far the model can read the question and the index, 0 to 1.
    pub legibility: f32,
    /// Added to every likeness for ranking, see [`super::question_scale`].
    pub lift: f32,
}

impl VectorSide<'_> {
    /// The likeness of a cosine, on the scale that all models share.
    pub(super) fn likeness(&self, cosine: f32) -> f32 {
        self.profile
            .map_or(cosine, |profile| profile.scaled(cosine))
    }

    /// A likeness as a share of the best one.
    pub(super) fn share(&self, likeness: f32, best: f32) -> f32 {
        scale(likeness + self.lift, best + self.lift)
    }

    /// The share of the question's words below which words count less.
    fn few_words(&self) -> f32 {
        let is_mixed = self.profile.is_some_and(|p| p.languages.is_some());
        if is_mixed {
            FEW_WORDS_OF_SEVERAL_LANGUAGES
        } else {
            FEW_WORDS
        }
    }

    /// The share of the vector side in a chunk's score if the words match as usual.
    fn weight(&self, request: &Request<'_>) -> f32 {
        let usual = self.profile.map_or(0.5, |profile| profile.vector_weight);
        request.vector_weight.unwrap_or(usual) * self.legibility
    }
}

/// Ranks the union of both lists. For ties the smaller chunk key comes first, so that the order is
/// the same on every machine.
pub(super) fn fuse(
    request: &Request<'_>,
    words: &[lexical::LexicalHit],
    vectors: VectorSide<'_>,
    has_vector: impl Fn(ChunkId) -> bool,
) -> Vec<Candidate> {
    let best_word = words.first().map_or(0.0, |hit| hit.score);
    let likeness_of =
        |hit: Option<&vectors::VectorHit>| hit.map_or(0.0, |hit| vectors.likeness(hit.score));
    let best_likeness = likeness_of(vectors.hits.first());
    let last_likeness = likeness_of(vectors.hits.last());
    let mut found: HashMap<ChunkId, Candidate, RandomState> =
        HashMap::with_capacity_and_hasher(words.len() + vectors.hits.len(), RandomState::default());
    for (rank, hit) in (1..).zip(words) {
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
        if !vectors.hits.is_empty() && has_vector(hit.chunk_id) {
            trace.vector_scaled = vectors.share(last_likeness, best_likeness);
            trace.likeness = last_likeness;
        }
    }
    for (rank, hit) in (1..).zip(vectors.hits) {
        let candidate = found
            .entry(hit.chunk_id)
            .or_insert_with(|| Candidate::new(hit.chunk_id, hit.key));
        candidate.trace.vector_rank = Some(rank);
        candidate.trace.cosine = Some(hit.score);
        candidate.trace.likeness = vectors.likeness(hit.score);
        candidate.trace.vector_scaled = vectors.share(candidate.trace.likeness, best_likeness);
    }
    let weights = Weights::of(request, words, vectors);
    let mut all: Vec<Candidate> = found.into_values().collect();
    for candidate in &mut all {
        candidate.trace.legibility = vectors.legibility;
        candidate.weigh(request, weights, &has_vector);
        candidate.score = candidate.mixed(request.fusion);
    }
    sort(&mut all);
    all
}

/// Sorts by score, best first; for ties the smaller key first.
pub(super) fn sort(candidates: &mut [Candidate]) {
    candidates.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
}

/// The weights of the two sides for one question.
#[derive(Debug, Clone, Copy)]
struct Weights {
    /// The share of the vectors in the score of a chunk that has one.
    vectors: f32,
    /// How much the words are trusted, 0 to 1.
    trust: f32,
}

impl Weights {
    fn of(request: &Request<'_>, words: &[lexical::LexicalHit], vectors: VectorSide<'_>) -> Self {
        let usual = vectors.weight(request);
        let covered = words
            .iter()
            .map(|hit| hit.chunk_share.max(hit.doc_share))
            .fold(0.0, f32::max);
        // If the vectors do not count, matching words count in full, however few.
        let has_say = usual > 0.0 && !vectors.hits.is_empty();
        let trust = if has_say {
            (covered / vectors.few_words()).min(1.0)
        } else {
            1.0
        };
        Self {
            vectors: 1.0 - (1.0 - usual) * trust,
            trust,
        }
    }
}

impl Candidate {
    fn new(chunk_id: ChunkId, key: ChunkKey) -> Self {
        Self {
            chunk_id,
            key,
            score: 0.0,
            trace: Trace::default(),
        }
    }

    /// Records how much each side weighs for this chunk, and which of them found it.
    fn weigh(
        &mut self,
        request: &Request<'_>,
        weights: Weights,
        has_vector: &impl Fn(ChunkId) -> bool,
    ) {
        let chunk_id = self.chunk_id;
        let trace = &mut self.trace;
        trace.method = match (trace.lexical_rank, trace.vector_rank) {
            (Some(_), Some(_)) => "both",
            (Some(_), None) => "lexical",
            _ => "vector",
        };
        (trace.lexical_weight, trace.vector_weight) = match request.mode {
            Mode::Vector => (0.0, 1.0),
            Mode::Lexical => (1.0, 0.0),
            // A chunk without a vector is ranked by its words alone, on the same scale.
            Mode::Hybrid if trace.vector_rank.is_none() && !has_vector(chunk_id) => {
                (weights.trust, 0.0)
            }
            Mode::Hybrid => (1.0 - weights.vectors, weights.vectors),
        };
        trace.word_trust = weights.trust;
        trace.fusion = match request.fusion {
            Fusion::Convex => "convex",
            Fusion::Rrf => "rrf",
        };
    }

    /// The score computed from scaled values, ranks and weights.
    pub(super) fn mixed(&self, fusion: Fusion) -> f32 {
        let trace = &self.trace;
        if fusion == Fusion::Convex {
            return trace.lexical_scaled * trace.lexical_weight
                + trace.vector_scaled * trace.vector_weight;
        }
        let part =
            |rank: Option<usize>| rank.map_or(0.0, |rank| (RRF_K + 1.0) / (RRF_K + rank as f32));
        match (trace.lexical_weight, trace.vector_weight) {
            (_, 0.0) => part(trace.lexical_rank),
            (0.0, _) => part(trace.vector_rank),
            _ => (part(trace.lexical_rank) + part(trace.vector_rank)) / 2.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{DocumentId, RowId as _};
    use crate::lexical::Query;
    use crate::profile::{Cosines, LanguageSpace, Origin};
    use crate::retrieval::Scope;
    use local_agent_text::language::Language;

    fn word(id: i64, score: f32) -> lexical::LexicalHit {
        let key = ChunkKey::from_bytes([id as u8; 16]);
        lexical::LexicalHit {
            chunk_id: ChunkId::from_row(id),
            doc_id: DocumentId::from_row(id),
            key,
            score,
            chunk_score: score,
            doc_score: 0.0,
            chunk_share: 0.5,
            doc_share: 0.5,
        }
    }

    fn meaning(id: i64, score: f32) -> vectors::VectorHit {
        vectors::VectorHit {
            chunk_id: ChunkId::from_row(id),
            key: ChunkKey::from_bytes([id as u8; 16]),
            score,
        }
    }

    fn legible(hits: &[vectors::VectorHit]) -> VectorSide<'_> {
        VectorSide {
            hits,
            profile: None,
            legibility: 1.0,
            lift: 0.0,
        }
    }

    fn request(query: &Query, fusion: Fusion) -> Request<'_> {
        Request {
            query,
            mode: Mode::Hybrid,
            scope: Scope::default(),
            limit: 10,
            fusion,
            vector_weight: Some(0.5),
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
            legible(&meanings),
            |_| true,
        )
        .iter()
        .map(|c| c.chunk_id.row())
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
            legible(&meanings),
            |id| id.row() != 1,
        );
        assert_eq!(ranked[0].chunk_id.row(), 1);
        assert!((ranked[0].score - 1.0).abs() < 1e-6);
        assert_eq!(ranked[0].trace.vector_weight, 0.0);
    }

    #[test]
    fn what_the_vector_side_did_not_reach_counts_as_its_last() {
        let query = Query::plain("x");
        let ranked = fuse(
            &request(&query, Fusion::Convex),
            &[word(9, 4.0)],
            legible(&[meaning(2, 0.8), meaning(3, 0.2)]),
            |_| true,
        );
        let unreached = ranked.iter().find(|c| c.chunk_id.row() == 9).unwrap();
        assert!((unreached.trace.vector_scaled - 0.25).abs() < 1e-6);
        assert!((unreached.score - (0.5 + 0.5 * 0.25)).abs() < 1e-6);
    }

    #[test]
    fn a_model_that_cannot_read_the_texts_has_no_say() {
        let query = Query::plain("x");
        let words = [word(1, 9.0), word(2, 8.0)];
        let meanings = [meaning(2, 0.62), meaning(1, 0.5)];
        let first = |legibility| {
            let side = VectorSide {
                legibility,
                ..legible(&meanings)
            };
            let ranked = fuse(&request(&query, Fusion::Convex), &words, side, |_| true);
            (ranked[0].chunk_id.row(), ranked[0].trace.vector_weight)
        };
        assert_eq!(first(1.0), (2, 0.5));
        assert_eq!(first(0.0), (1, 0.0));
    }

    #[test]
    fn cosines_of_another_model_rank_as_those_of_the_reference() {
        let query = Query::plain("x");
        let profile = Profile::new(
            Origin::Measured,
            Cosines {
                mean: 0.78,
                spread: 0.02,
            },
            Some(0.95),
        );
        let meanings = [meaning(2, 0.90), meaning(1, 0.80)];
        let side = VectorSide {
            profile: Some(&profile),
            ..legible(&meanings)
        };
        let ranked = fuse(
            &request(&query, Fusion::Convex),
            &[word(1, 9.0), word(2, 8.0)],
            side,
            |_| true,
        );
        assert_eq!(ranked[0].chunk_id.row(), 2);
        assert!(ranked[1].trace.vector_scaled < 0.6, "{:?}", ranked[1].trace);
    }

    #[test]
    fn cosines_below_those_of_unrelated_notes_still_rank() {
        let query = Query::plain("x");
        let profile = Profile::new(
            Origin::Measured,
            Cosines {
                mean: 0.83,
                spread: 0.018,
            },
            Some(0.95),
        );
        let meanings = [meaning(9, 0.76), meaning(1, 0.72), meaning(4, 0.69)];
        let order = |lift, mode| {
            let side = VectorSide {
                profile: Some(&profile),
                lift,
                ..legible(&meanings)
            };
            let request = Request {
                mode,
                ..request(&query, Fusion::Convex)
            };
            let ranked = fuse(&request, &[], side, |_| true);
            ranked.iter().map(|c| c.chunk_id.row()).collect::<Vec<_>>()
        };
        for mode in [Mode::Hybrid, Mode::Vector] {
            assert_eq!(order(0.0, mode), [1, 4, 9], "ties by key");
            assert_eq!(order(0.78, mode), [9, 1, 4]);
        }
    }

    #[test]
    fn words_that_find_next_to_nothing_weigh_less() {
        let query = Query::plain("x");
        let weight = |share| {
            let rare = lexical::LexicalHit {
                chunk_share: share,
                doc_share: share,
                ..word(1, 9.0)
            };
            let side = [meaning(2, 0.6), meaning(1, 0.5)];
            let ranked = fuse(
                &request(&query, Fusion::Convex),
                &[rare],
                legible(&side),
                |_| true,
            );
            (ranked[0].chunk_id.row(), ranked[0].trace.vector_weight)
        };
        assert_eq!(weight(0.6), (1, 0.5));
        assert_eq!(weight(0.0), (2, 1.0));
    }

    #[test]
    fn in_an_index_of_several_languages_a_few_words_weigh_less() {
        let (english, german) = ([1.0, 0.0], [0.0, 1.0]);
        let passages = [
            [(Some(Language::English), english.as_slice()); 6],
            [(Some(Language::German), german.as_slice()); 6],
        ]
        .concat();
        let mut profile = Profile::new(
            Origin::Measured,
            Cosines {
                mean: 0.78,
                spread: 0.02,
            },
            Some(0.95),
        );
        let few_words = |profile: &Profile| {
            let side = VectorSide {
                profile: Some(profile),
                ..legible(&[])
            };
            side.few_words()
        };
        assert_eq!(few_words(&profile), FEW_WORDS);
        profile.languages = LanguageSpace::of(&passages);
        assert_eq!(few_words(&profile), FEW_WORDS_OF_SEVERAL_LANGUAGES);
    }

    #[test]
    fn ties_go_to_the_smaller_key_in_both_fusions() {
        let query = Query::plain("x");
        for fusion in [Fusion::Convex, Fusion::Rrf] {
            let ranked = fuse(
                &request(&query, fusion),
                &[word(7, 2.0), word(4, 2.0)],
                legible(&[]),
                |_| false,
            );
            let first = if fusion == Fusion::Convex { 4 } else { 7 };
            assert_eq!(ranked[0].chunk_id.row(), first);
        }
    }
}
