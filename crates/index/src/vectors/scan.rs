//! The search: a quantised pass over every row, then exact rescoring of the best.
//!
//! Filter and tombstones are applied before the cut, so a narrow filter still returns enough hits.
//! The order is total (score, then the smaller key), so the result depends neither on the
//! distribution of rows over segments nor on threads.

use std::cmp::Ordering;
use std::ops::Range;

use super::kernels::Kernel;
use super::quant::{self, QuantQuery};
use super::segment::Segment;
use super::{Matrix, VectorHit, corrupt};
use crate::ids::{ChunkId, IdSet};
use crate::search_load::threads_of_a_search;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::ChunkKey;

/// Number of rows whose products are computed before any of them is examined.
const BATCH: usize = 256;
/// With fewer rows than this, a second thread costs more than it saves.
const ROWS_PER_THREAD: usize = 32 * 1024;
/// The pass is limited by memory bandwidth, which two cores nearly exhaust.
const MAX_THREADS: usize = 2;
/// Number of exactly scored rows from which a second thread is worthwhile.
const RESCORED_PER_THREAD: usize = 400;
/// How many rows are rescored beyond the requested ones: three for each, with a minimum and a
/// maximum. They were chosen so that at least 999 in 1000 of the true ten best are among them, for
/// random vectors, which are the hardest case for quantisation. For a thousand requested rows, the
/// last ones may be less accurate.
const RESCORE_FACTOR: usize = 3;
const RESCORE_MORE: (usize, usize) = (54, 300);

/// A row that may be among the best.
#[derive(Clone, Copy)]
struct ScanCandidate {
    score: f32,
    segment: u32,
    row: u32,
}

/// Keeps at most twice as many candidates as wanted. Cutting back occasionally costs less than a
/// heap, which would also order the discarded candidates.
struct Best<'a> {
    segments: &'a [Segment],
    found: Vec<ScanCandidate>,
    limit: usize,
    /// The minimum score for being a candidate.
    threshold: f32,
}

impl<'a> Best<'a> {
    fn new(segments: &'a [Segment], limit: usize) -> Self {
        Self {
            segments,
            found: Vec::with_capacity(limit * 2),
            limit,
            threshold: f32::NEG_INFINITY,
        }
    }

    fn offer(&mut self, candidate: ScanCandidate) {
        self.found.push(candidate);
        if self.found.len() >= self.limit * 2 {
            self.cut();
        }
    }

    /// Keeps only the best.
    fn cut(&mut self) {
        if self.found.len() > self.limit {
            let segments = self.segments;
            let (_, last, _) = self
                .found
                .select_nth_unstable_by(self.limit - 1, |a, b| order(segments, a, b));
            self.threshold = last.score;
            self.found.truncate(self.limit);
        }
    }
}

/// Best first; keys are read only for equal scores.
fn order(segments: &[Segment], a: &ScanCandidate, b: &ScanCandidate) -> Ordering {
    b.score
        .total_cmp(&a.score)
        .then_with(|| key_of(segments, a).cmp(&key_of(segments, b)))
}

/// The chunk key of a candidate.
fn key_of(segments: &[Segment], c: &ScanCandidate) -> Option<ChunkKey> {
    segments
        .get(c.segment as usize)
        .map(|segment| segment.key(c.row as usize))
}

/// The data for one pass, apart from its rows.
struct Pass<'a> {
    segments: &'a [Segment],
    query: QuantQuery,
    filter: Option<&'a IdSet<ChunkId>>,
    kernel: Kernel,
    limit: usize,
}

impl<'a> Pass<'a> {
    /// The best candidates among these rows, in no particular order.
    fn run(&self, parts: &[(usize, Range<usize>)]) -> Result<Best<'a>> {
        let mut best = Best::new(self.segments, self.limit);
        for (segment, rows) in parts {
            self.scan(*segment, rows.clone(), &mut best)?;
        }
        Ok(best)
    }

    fn scan(&self, index: usize, rows: Range<usize>, best: &mut Best<'_>) -> Result<()> {
        let Some(segment) = self.segments.get(index) else {
            return Ok(());
        };
        let width = self.query.blocks().len() * quant::BLOCK;
        let codes = segment
            .codes()
            .get(rows.start * width..rows.end * width)
            .unwrap_or_default();
        let scales = segment.scales().get(rows.clone()).unwrap_or_default();
        let mut dots = [0; BATCH];
        let mut row = rows.start;
        for (codes, scales) in codes.chunks(BATCH * width).zip(scales.chunks(BATCH)) {
            self.kernel.dots(&self.query, codes, &mut dots);
            for (dot, scale) in dots.iter().zip(scales) {
                let score = *dot as f32 * f32::from_le_bytes(*scale);
                // NaN must not be mistaken for a low score.
                if score >= best.threshold || score.is_nan() {
                    self.consider(segment, index, row, score, best)?;
                }
                row += 1;
            }
        }
        Ok(())
    }

    fn consider(
        &self,
        segment: &Segment,
        index: usize,
        row: usize,
        score: f32,
        best: &mut Best<'_>,
    ) -> Result<()> {
        if !segment.is_live(row)
            || self
                .filter
                .is_some_and(|filter| !filter.contains(segment.id(row)))
        {
            return Ok(());
        }
        if !score.is_finite() {
            return Err(not_finite(&segment.key(row)));
        }
        best.offer(ScanCandidate {
            score,
            segment: narrowed(index)?,
            row: narrowed(row)?,
        });
        Ok(())
    }
}

/// The number of a segment or row as 32 bits.
fn narrowed(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|_| corrupt("A segment has more rows than a chunk id can tell."))
}

fn not_finite(key: &ChunkKey) -> Failure {
    corrupt(format!(
        "The stored vector of the chunk {key} is not finite."
    ))
}

impl Matrix {
    /// The `k` live rows with the highest cosine to `query`, best first, the smaller key first for
    /// equal scores; fewer if there are fewer. With a `filter`, only rows whose chunk id is in it
    /// are considered.
    ///
    /// Scores are exact for the stored half-precision rows. The 8-bit codes decide which rows are
    /// scored exactly: `k` and between 54 and 300 more. The query need not be normalised.
    /// `PHASE2_QUERY_ERROR` if it is not `dim` finite numbers, or all zero.
    pub fn search(
        &self,
        query: &[f32],
        k: usize,
        filter: Option<&IdSet<ChunkId>>,
    ) -> Result<Vec<VectorHit>> {
        self.search_with(Kernel::best(), query, k, filter)
    }

    /// [`Self::search`] with a given kernel, for tests and benchmarks: the result is the same with
    /// every kernel.
    pub fn search_with(
        &self,
        kernel: Kernel,
        query: &[f32],
        k: usize,
        filter: Option<&IdSet<ChunkId>>,
    ) -> Result<Vec<VectorHit>> {
        let norm = check_query(query, self.stamp().dim)?;
        if k == 0 || self.is_empty() || filter.is_some_and(IdSet::is_empty) {
            return Ok(Vec::new());
        }
        let more = k
            .saturating_mul(RESCORE_FACTOR)
            .clamp(RESCORE_MORE.0, RESCORE_MORE.1);
        let limit = k.saturating_add(more).min(self.len());
        let query8 = QuantQuery::new(query);
        let pass = Pass {
            segments: &self.segments,
            query: query8,
            filter,
            kernel,
            limit,
        };
        let best = self.first_pass(&pass)?;
        self.rescore(query, norm, best, k)
    }

    /// The chunks of at most `most` live rows, and their vectors. The choice depends only on the
    /// keys, not on how the rows were added to the matrix.
    pub fn sample(&self, most: usize) -> Vec<(ChunkId, Vec<f32>)> {
        let mut halves = Vec::new();
        let read = |(_, segment, row): (ChunkKey, &Segment, usize)| {
            let mut vector = Vec::new();
            quant::read_halves(segment.halves(row), &mut halves, &mut vector);
            (segment.id(row), vector)
        };
        self.with_smallest_keys(most)
            .into_iter()
            .map(read)
            .collect()
    }

    /// The chunks of at most `most` live rows, chosen as by [`Self::sample`].
    pub fn sample_ids(&self, most: usize) -> Vec<ChunkId> {
        self.with_smallest_keys(most)
            .into_iter()
            .map(|(_, segment, row)| segment.id(row))
            .collect()
    }

    /// The live rows with the smallest keys, ordered by key. Keys are hashes, so they say nothing
    /// about the vectors.
    fn with_smallest_keys(&self, most: usize) -> Vec<(ChunkKey, &Segment, usize)> {
        let most = most.max(1);
        let mut found: Vec<(ChunkKey, &Segment, usize)> = Vec::with_capacity(most * 2);
        let mut last: Option<ChunkKey> = None;
        for segment in &self.segments {
            for row in 0..segment.entry.rows {
                let key = segment.key(row);
                if last.is_some_and(|last| key > last) || !segment.is_live(row) {
                    continue;
                }
                found.push((key, segment, row));
                if found.len() == most * 2 {
                    let (_, greatest, _) =
                        found.select_nth_unstable_by_key(most - 1, |(key, ..)| *key);
                    last = Some(greatest.0);
                    found.truncate(most);
                }
            }
        }
        found.sort_unstable_by_key(|(key, ..)| *key);
        found.truncate(most);
        found
    }

    fn first_pass(&self, pass: &Pass<'_>) -> Result<Vec<ScanCandidate>> {
        let total: usize = self.segments.iter().map(|s| s.entry.rows).sum();
        let parts = split(
            self.segments.iter().map(|s| s.entry.rows),
            total.div_ceil(threads(total, ROWS_PER_THREAD)),
        );
        let found = in_parallel(&parts, |part| pass.run(part))?;
        let mut best = Best::new(pass.segments, pass.limit);
        found
            .into_iter()
            .flat_map(|part| part.found)
            .for_each(|candidate| best.offer(candidate));
        best.cut();
        Ok(best.found)
    }

    fn rescore(
        &self,
        query: &[f32],
        norm: f64,
        mut best: Vec<ScanCandidate>,
        k: usize,
    ) -> Result<Vec<VectorHit>> {
        // The candidates in file order.
        best.sort_unstable_by_key(|c| (c.segment, c.row));
        let share = best
            .len()
            .div_ceil(threads(best.len(), RESCORED_PER_THREAD))
            .max(1);
        let parts: Vec<_> = best.chunks(share).collect();
        let exact = in_parallel(&parts, |part| self.rescored(query, norm, part))?;
        let mut hits: Vec<VectorHit> = exact.into_iter().flatten().collect();
        hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
        hits.truncate(k);
        Ok(hits)
    }

    fn rescored(
        &self,
        query: &[f32],
        norm: f64,
        candidates: &[ScanCandidate],
    ) -> Result<Vec<VectorHit>> {
        let (mut halves, mut vector) = (Vec::new(), Vec::new());
        let mut hits = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let Some(segment) = self.segments.get(candidate.segment as usize) else {
                continue;
            };
            let row = candidate.row as usize;
            quant::read_halves(segment.halves(row), &mut halves, &mut vector);
            // Dividing by the row's own length cancels the effect of rounding to half floats.
            let cosine = quant::dot(query, &vector) / (norm * quant::norm(&vector));
            let key = segment.key(row);
            if !cosine.is_finite() {
                return Err(not_finite(&key));
            }
            hits.push(VectorHit {
                chunk_id: segment.id(row),
                key,
                score: cosine.clamp(-1.0, 1.0) as f32,
            });
        }
        Ok(hits)
    }
}

/// How many threads are worthwhile.
fn threads(items: usize, per_thread: usize) -> usize {
    items
        .div_ceil(per_thread)
        .min(MAX_THREADS)
        .min(threads_of_a_search())
        .max(1)
}

/// Runs `work` on every part, the first on this thread; returns the results in the order of the
/// parts.
fn in_parallel<P: Sync, R: Send>(
    parts: &[P],
    work: impl Fn(&P) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let Some((own, others)) = parts.split_first() else {
        return Ok(Vec::new());
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = others
            .iter()
            .map(|part| scope.spawn(|| work(part)))
            .collect();
        let mut done = vec![work(own)?];
        for other in others {
            done.push(
                other
                    .join()
                    .map_err(|_| Failure::internal("a thread of the vector scan panicked"))??,
            );
        }
        Ok(done)
    })
}

/// The length of the query; fails if the query is unusable.
pub(super) fn check_query(query: &[f32], dim: usize) -> Result<f64> {
    if query.len() != dim {
        return refused_query(format!(
            "The query's vector has {} dimensions where the matrix has {dim}.",
            query.len()
        ))
        .map_err(|f| f.with_command("local-agent embed"));
    }
    let norm = quant::norm(query);
    if !norm.is_finite() || norm <= f64::from(f32::MIN_POSITIVE) {
        return refused_query(
            "The query's vector holds values that are not finite, or only zeros.".into(),
        );
    }
    Ok(norm)
}

/// The failure for a query vector that cannot be compared.
fn refused_query(why: String) -> Result<f64> {
    Err(Failure::new(ErrorCode::QueryError, why))
}

/// Splits the rows of segments with these sizes into consecutive parts of at most `share` rows.
fn split(sizes: impl Iterator<Item = usize>, share: usize) -> Vec<Vec<(usize, Range<usize>)>> {
    let mut parts = Vec::new();
    let (mut part, mut room) = (Vec::new(), share);
    for (segment, rows) in sizes.enumerate() {
        let mut start = 0;
        while start < rows && share > 0 {
            let end = rows.min(start + room);
            part.push((segment, start..end));
            room -= end - start;
            start = end;
            if room == 0 {
                parts.push(std::mem::take(&mut part));
                room = share;
            }
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn split_covers_every_row_once_in_order(sizes in prop::collection::vec(0usize..20, 0..8), share in 1usize..30) {
            let parts = split(sizes.iter().copied(), share);
            let expected: Vec<_> = sizes.iter().enumerate().flat_map(|(s, n)| (0..*n).map(move |r| (s, r))).collect();
            let got: Vec<_> = parts.iter().flatten().flat_map(|(s, r)| r.clone().map(move |r| (*s, r))).collect();
            prop_assert_eq!(got, expected);
            let rows = |p: &Vec<(usize, Range<usize>)>| p.iter().map(|(_, r)| r.len()).sum::<usize>();
            prop_assert!(parts.iter().all(|p| (1..=share).contains(&rows(p))));
            prop_assert!(parts.iter().rev().skip(1).all(|p| rows(p) == share));
        }
    }
}
