//! The scoring state of one search: what its terms add up to in each entry, and the best candidates.

use super::LexicalHit;
use super::reader::LexicalSegment;
use super::weights::WEIGHTS;
use crate::ids::{DocumentId, IdSet};

/// How many buffers a segment keeps for the next searches.
const MOST_IDLE_BUFFERS: usize = 4;

/// Candidates are cut back when there are this many times as many as wanted.
const CUT_AT: usize = 4;

/// The scoring state for one segment. The buffers are lent by the segment and given back at the end.
pub(super) struct Scores<'a> {
    pub(super) segment: &'a LexicalSegment,
    buffers: ScoreBuffers,
}

/// What a search counts in one segment. The vectors of fractions are indexed by entry.
#[derive(Default)]
pub(super) struct ScoreBuffers {
    /// Weighted frequency of the current term; 0 elsewhere.
    frequency: Vec<f32>,
    /// Entries whose `frequency` is not 0.
    touched: Vec<u32>,
    score: Vec<f32>,
    /// Documents whose `score` is not 0.
    matched: Vec<u32>,
    /// Weight of the terms that an entry contains, counting each once.
    covered: Vec<f32>,
}

impl ScoreBuffers {
    /// Buffers of a search that ended, or new ones; for `entries` entries, without a match.
    fn for_entries(mut self, entries: usize) -> Self {
        for fractions in [&mut self.frequency, &mut self.score, &mut self.covered] {
            fractions.clear();
            fractions.resize(entries, 0.0);
        }
        self.touched.clear();
        self.matched.clear();
        self
    }
}

impl Drop for Scores<'_> {
    fn drop(&mut self) {
        let mut idle = self.segment.idle_buffers();
        if idle.len() < MOST_IDLE_BUFFERS {
            idle.push(std::mem::take(&mut self.buffers));
        }
    }
}

/// The total weight of all terms, for a document and for a chunk.
#[derive(Default)]
pub(super) struct Most {
    pub(super) doc: f32,
    pub(super) chunk: f32,
}

/// A chunk that may be among the best.
pub(super) struct ChunkCandidate<'a> {
    segment: &'a LexicalSegment,
    at: u32,
    score: f32,
    chunk_score: f32,
    doc_score: f32,
    chunk_covered: f32,
    doc_covered: f32,
}

impl<'a> Scores<'a> {
    pub(super) fn new(segment: &'a LexicalSegment) -> Self {
        let idle = segment.idle_buffers().pop().unwrap_or_default();
        Self {
            segment,
            buffers: idle.for_entries(segment.back.len()),
        }
    }

    /// The weighted frequency of the current term in an entry.
    pub(super) fn frequency(&self, at: u32) -> f32 {
        self.buffers.frequency[at as usize]
    }

    pub(super) fn touch(&mut self, at: u32, frequency: f32) {
        let sum = &mut self.buffers.frequency[at as usize];
        if *sum == 0.0 && frequency > 0.0 {
            self.buffers.touched.push(at);
        }
        *sum += frequency;
    }

    /// The number of documents and chunks touched.
    pub(super) fn count(&self) -> (u64, u64) {
        let chunks = self
            .buffers
            .touched
            .iter()
            .filter(|at| self.segment.is_chunk(**at))
            .count();
        ((self.buffers.touched.len() - chunks) as u64, chunks as u64)
    }

    /// Adds the gathered term to the scores.
    pub(super) fn add_up(&mut self, doc_idf: f32, chunk_idf: f32) {
        let k1 = WEIGHTS.k1;
        for &at in &self.buffers.touched {
            let frequency = self.buffers.frequency[at as usize];
            let is_chunk = self.segment.is_chunk(at);
            let idf = if is_chunk { chunk_idf } else { doc_idf };
            let score = &mut self.buffers.score[at as usize];
            let more = idf * ((k1 + 1.0) * frequency / (k1 + frequency) + WEIGHTS.delta);
            if !is_chunk && *score == 0.0 && more > 0.0 {
                self.buffers.matched.push(at);
            }
            *score += more;
            self.buffers.covered[at as usize] += idf;
        }
    }

    pub(super) fn reset(&mut self) {
        for at in self.buffers.touched.drain(..) {
            self.buffers.frequency[at as usize] = 0.0;
        }
    }

    /// Chunks that match; for documents that match only outside their chunks, the first chunk.
    pub(super) fn collect(
        &self,
        filter: Option<&IdSet<DocumentId>>,
        allowed: Option<&[bool]>,
        found: &mut Finalists<'a>,
    ) {
        let segment = self.segment;
        let entries = segment.back.len() as u32;
        for &doc in self
            .buffers
            .matched
            .iter()
            .filter(|doc| filter.is_none_or(|ids| ids.contains(segment.doc_id(**doc))))
        {
            let mut at = doc + 1;
            let mut first = None;
            let mut has_match = false;
            let doc_score = self.buffers.score[doc as usize];
            let doc_covered = self.buffers.covered[doc as usize];
            while at < entries && segment.back[at as usize] > 0 {
                let chunk_score = self.buffers.score[at as usize];
                let passes = allowed.is_none_or(|a| a[at as usize]);
                if passes {
                    first = first.or(Some(at));
                }
                if passes && chunk_score > 0.0 {
                    has_match = true;
                    let score = chunk_score + WEIGHTS.doc_share * doc_score;
                    let chunk_covered = self.buffers.covered[at as usize];
                    found.push(ChunkCandidate {
                        segment,
                        at,
                        score,
                        chunk_score,
                        doc_score,
                        chunk_covered,
                        doc_covered,
                    });
                }
                at += 1;
            }
            if let Some(at) = first.filter(|_| !has_match) {
                found.push(ChunkCandidate {
                    segment,
                    at,
                    score: WEIGHTS.doc_share * doc_score,
                    chunk_score: 0.0,
                    doc_score,
                    chunk_covered: 0.0,
                    doc_covered,
                });
            }
        }
    }
}

/// The candidates that can still be among the `k` best.
pub(super) struct Finalists<'a> {
    k: usize,
    found: Vec<ChunkCandidate<'a>>,
    /// Candidates below it are not among the best.
    least: f32,
    /// The number of candidates at which they are cut back.
    cut_at: usize,
}

impl<'a> Finalists<'a> {
    pub(super) fn new(k: usize) -> Self {
        Self {
            k,
            found: Vec::new(),
            least: f32::NEG_INFINITY,
            cut_at: k.saturating_mul(CUT_AT),
        }
    }

    fn push(&mut self, candidate: ChunkCandidate<'a>) {
        if candidate.score < self.least {
            return;
        }
        self.found.push(candidate);
        if self.found.len() >= self.cut_at {
            self.cut();
            // Candidates with the score of the last one all stay, however many there are.
            self.cut_at = self.cut_at.max(self.found.len().saturating_mul(2));
        }
    }

    /// Keeps the `k` best, and those with the score of the last of them.
    fn cut(&mut self) {
        if self.found.len() <= self.k {
            return;
        }
        let (_, last, _) = self
            .found
            .select_nth_unstable_by(self.k - 1, |a, b| b.score.total_cmp(&a.score));
        let least = last.score;
        self.found.retain(|candidate| candidate.score >= least);
        self.least = least;
    }
}

/// Keys are read only for candidates that can still be among the best.
pub(super) fn best(mut finalists: Finalists<'_>, most: &Most) -> Vec<LexicalHit> {
    finalists.cut();
    let Finalists { k, found, .. } = finalists;
    let mut hits: Vec<LexicalHit> = found
        .into_iter()
        .map(|c| LexicalHit {
            chunk_id: c.segment.chunk_id(c.at),
            doc_id: c.segment.doc_id(c.at),
            key: c.segment.key(c.at),
            score: c.score,
            chunk_score: c.chunk_score,
            doc_score: c.doc_score,
            chunk_share: share_of_most(c.chunk_covered, most.chunk),
            doc_share: share_of_most(c.doc_covered, most.doc),
        })
        .collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
    hits.truncate(k);
    hits
}

/// The score as a share of the greatest one; 0 if `most` is 0.
fn share_of_most(score: f32, most: f32) -> f32 {
    if most > 0.0 {
        (score / most).clamp(0.0, 1.0)
    } else {
        0.0
    }
}
