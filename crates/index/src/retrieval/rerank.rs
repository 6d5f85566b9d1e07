//! Ranks the best hits again with a reranker, which reads question and passage together.
//!
//! The reranker changes only the order of hits. The calibration alone decides whether a hit is
//! relevant and the chance at each rank.

use std::fmt;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use super::{Found, Hit, Stale};
use local_agent_embed::embedding::{LazyLoaded, PairScores, Reranker, passage_input};
use local_agent_embed::models::RerankerFiles;
use local_agent_text::error::Result;

/// Number of the best hits that are reranked.
const RERANKED: usize = 20;

/// Share of the reranker in the score of a hit. The fused scores of the best hits lie closer
/// together than the reranker's, which are spread from 0 to 1, so with equal shares the reranker
/// decides most of the order.
const RERANKER_SHARE: f32 = 0.5;

/// The number of hits that a search must return when `limit` are wanted and these are reranked.
pub fn with_reranked(limit: usize) -> usize {
    limit.max(RERANKED)
}

/// How reranking for one question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RerankEnd {
    /// All candidates have a score.
    Complete,
    /// The time limit was reached; candidates without a score keep their order after the others.
    OutOfTime,
    /// The question leaves no room for a passage in the reranker's window; nothing was ranked.
    QuestionTooLong,
}

/// The result of reranking the hits of one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reranked {
    /// The id of the model.
    pub model: String,
    /// Number of hits to rank: the best ones of the fused list.
    pub candidates: usize,
    /// Number of those, from the first on, that have a score.
    pub scored: usize,
    /// How it ended.
    pub end: RerankEnd,
}

/// A reranker that is loaded when it is first needed, with its limits. Any number of threads may
/// share it.
pub struct SharedReranker {
    model: LazyLoaded<'static, Reranker>,
    time: Duration,
    threads: usize,
}

impl fmt::Debug for SharedReranker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedReranker").field(&self.time).finish()
    }
}

impl SharedReranker {
    /// The reranker of these files. For each question it may score passages for `time`, counted
    /// from when it is loaded, on `threads` workers (0: one per core).
    pub fn new(files: RerankerFiles, time: Duration, threads: usize) -> Self {
        Self {
            model: LazyLoaded::new(move || Reranker::load(&files)),
            time,
            threads,
        }
    }

    /// Reranks the best hits of `found`, records the result in it, and adds to `stale` if it is
    /// incomplete. Fewer than two hits are not reranked, and no model is loaded for them.
    ///
    /// Errors: those of loading the model and of scoring a pair.
    pub fn rerank(&self, found: &mut Found, question: &str) -> Result<()> {
        let candidates = found.hits.len().min(RERANKED);
        if candidates < 2 {
            return Ok(());
        }
        let model = self.model.get()?;
        let passages: Vec<String> = found.hits[..candidates]
            .iter()
            .map(|hit| passage_input(&hit.chunk.heading, &hit.chunk.text))
            .collect();
        let start = Instant::now();
        let is_over = || start.elapsed() >= self.time;
        let scores = model.scores(question, &passages, self.threads, &is_over)?;
        let (scored, end) = match scores {
            PairScores::QuestionTooLong => (0, RerankEnd::QuestionTooLong),
            PairScores::Scored(scores) => {
                blend(&mut found.hits, &scores);
                let end = if scores.len() == candidates {
                    RerankEnd::Complete
                } else {
                    RerankEnd::OutOfTime
                };
                (scores.len(), end)
            }
        };
        let done = Reranked {
            model: model.id().to_owned(),
            candidates,
            scored,
            end,
        };
        found.stale.extend(done.not_done());
        found.reranked = Some(done);
        Ok(())
    }
}

impl Reranked {
    /// The message to the user if some candidates have no score.
    fn not_done(&self) -> Option<Stale> {
        let Self {
            model,
            candidates,
            scored,
            ..
        } = self;
        let (why, fix) = match self.end {
            RerankEnd::Complete => return None,
            RerankEnd::OutOfTime => (
                format!(
                    "the time of the reranker `{model}` ended after {scored} of {candidates} \
                     passages; the others follow in the order of the search"
                ),
                "set retrieve.reranker_ms to more, or retrieve.reranker to a smaller model",
            ),
            RerankEnd::QuestionTooLong => (
                format!(
                    "the question fills the window of the reranker `{model}`, so the hits keep \
                     the order of the search"
                ),
                "ask a shorter question",
            ),
        };
        Some(Stale {
            what: "reranker",
            why,
            fix,
        })
    }
}

/// Mixes the scores of the first hits with the reranker's, sorts them, and leaves the others after
/// them.
///
/// The formula is the convex combination of Bruch, Gai and Ingber (2022, arXiv:2210.11934), with
/// the reranker's scores scaled by their least and greatest, because they have no bounds: `(1 - s)
/// · fused + s · best · (score - least) / (greatest - least)`, where `s` is [`RERANKER_SHARE`] and
/// `best` the fused score of the first hit. For ties the smaller chunk key comes first. The chance
/// at each rank does not change.
fn blend(hits: &mut [Hit], scores: &[f32]) {
    let (head, tail) = hits.split_at_mut(scores.len().min(hits.len()));
    let best = head.iter().map(|hit| hit.score).fold(0.0, f32::max);
    let least = scores.iter().copied().fold(f32::INFINITY, f32::min);
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let chances: Vec<f32> = head.iter().map(|hit| hit.chance).collect();
    for (hit, score) in head.iter_mut().zip(scores) {
        let scaled = if greatest > least {
            (score - least) / (greatest - least)
        } else {
            0.0
        };
        hit.trace.reranker_score = Some(*score);
        hit.trace.reranker_scaled = Some(scaled);
        hit.trace.fused = Some(hit.score);
        hit.score = (1.0 - RERANKER_SHARE) * hit.score + RERANKER_SHARE * best * scaled;
    }
    head.sort_by(|a, b| {
        let by_score = b.score.total_cmp(&a.score);
        by_score.then_with(|| a.chunk.key.cmp(&b.chunk.key))
    });
    for (hit, chance) in head.iter_mut().zip(chances) {
        hit.chance = chance;
    }
    if let Some(last) = head.last().map(|hit| hit.score) {
        for hit in tail {
            hit.score = hit.score.min(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ChunkId, DocumentId, RowId as _};
    use crate::retrieval::Trace;
    use crate::store::ChunkRecord;
    use local_agent_text::types::{
        ByteSpan, ChunkKey, HeadingPath, LineSpan, RelPath, Sha256, SourceName,
    };

    fn chunk(number: u8) -> ChunkRecord {
        ChunkRecord {
            id: ChunkId::from_row(i64::from(number)),
            key: ChunkKey::from_bytes([number; 16]),
            document_id: DocumentId::from_row(1),
            ordinal: 0,
            source: SourceName::new("notes").unwrap(),
            source_kind: String::new(),
            path: RelPath::new("a.md").unwrap(),
            title: String::new(),
            heading: HeadingPath::default(),
            span: ByteSpan::new(0, 1).unwrap(),
            lines: LineSpan::new(1, 1).unwrap(),
            kinds: 0,
            tokens: 1,
            text: "a".to_owned(),
            text_sha256: Sha256::of(b"a"),
            file_sha256: Sha256::of(b"a"),
            yaml: (false, None, None, None),
        }
    }

    /// Hits with these fused scores, best first; the chance of each is half of its score.
    fn hits(scores: &[f32]) -> Vec<Hit> {
        let hit = |(number, score): (usize, &f32)| Hit {
            chunk: chunk(number as u8),
            score: *score,
            chance: score / 2.0,
            trace: Trace::default(),
        };
        scores.iter().enumerate().map(hit).collect()
    }

    fn ids(hits: &[Hit]) -> Vec<i64> {
        hits.iter().map(|hit| hit.chunk.id.row()).collect()
    }

    #[test]
    fn scores_are_mixed_as_documented_and_chances_stay_in_their_places() {
        let mut all = hits(&[0.8, 0.7, 0.6]);
        blend(&mut all, &[-4.0, 0.0, 4.0]);
        assert_eq!(ids(&all), [2, 1, 0]);
        let scores: Vec<f32> = all.iter().map(|hit| hit.score).collect();
        let wanted = [0.3 + 0.4, 0.35 + 0.2, 0.4];
        let is_near = |(own, wanted): (&f32, &f32)| (own - wanted).abs() < 1e-6;
        assert!(scores.iter().zip(&wanted).all(is_near), "{scores:?}");
        let chances: Vec<f32> = all.iter().map(|hit| hit.chance).collect();
        assert_eq!(chances, [0.4, 0.35, 0.3]);
        assert_eq!(all[0].trace.reranker_score, Some(4.0));
        assert_eq!(all[0].trace.fused, Some(0.6));
    }

    #[test]
    fn hits_without_a_score_stay_behind_in_their_order() {
        let mut all = hits(&[0.9, 0.8, 0.7, 0.6]);
        blend(&mut all, &[1.0, 2.0]);
        assert_eq!(ids(&all), [1, 0, 2, 3]);
        assert!(all.windows(2).all(|pair| pair[0].score >= pair[1].score));
        assert!(all[2].trace.reranker_score.is_none());
    }

    #[test]
    fn equal_scores_and_no_scores_keep_the_order() {
        for scores in [&[3.0, 3.0, 3.0][..], &[]] {
            let mut all = hits(&[0.9, 0.8, 0.7]);
            blend(&mut all, scores);
            assert_eq!(ids(&all), [0, 1, 2]);
        }
    }

    #[test]
    fn what_was_not_done_is_said() {
        let done = |scored, end| Reranked {
            model: "m".to_owned(),
            candidates: 9,
            scored,
            end,
        };
        assert_eq!(done(9, RerankEnd::Complete).not_done(), None);
        let said = done(4, RerankEnd::OutOfTime).not_done().unwrap();
        assert!(said.why.contains("`m` ended after 4 of 9"), "{}", said.why);
        assert!(done(0, RerankEnd::QuestionTooLong).not_done().is_some());
    }
}
