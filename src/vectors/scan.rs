//! The search: a quantised pass over every row, then exact rescoring of the best.
//!
//! Filter and tombstones are applied before the cut, so a narrow filter never comes back short. The order is total
//! (score, then the smaller key), so the result depends neither on how rows are spread over segments nor on threads.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

use super::kernels::Kernel;
use super::quant::{self, QuantQuery};
use super::segment::Segment;
use super::{Hit, Matrix, corrupt};
use crate::error::{ErrorCode, Failure, Result};
use crate::types::{ChunkKey, IdSet};

/// Rows whose products are computed before any of them is looked at.
const BATCH: usize = 256;
/// Below this many rows a second thread costs more than it saves.
const ROWS_PER_THREAD: usize = 32 * 1024;
/// The pass is bound by memory bandwidth, which two cores nearly exhaust.
const MAX_THREADS: usize = 2;
/// How many rows are rescored beyond those asked for: three for each, at least and at most so many. Set so that of the
/// true ten best of random vectors, the hardest case for quantisation, at least 999 in 1000 are among them; of a thousand
/// the last ones need no such care.
const RESCORE_FACTOR: usize = 3;
const RESCORE_MORE: (usize, usize) = (54, 300);

/// A row that may be among the best. Greater is better.
#[derive(Clone, Copy)]
struct Candidate {
    score: f32,
    key: ChunkKey,
    segment: usize,
    row: usize,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.key.cmp(&self.key))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// The best candidates so far; the worst of them on top.
struct Best {
    heap: BinaryHeap<Reverse<Candidate>>,
    limit: usize,
}

impl Best {
    fn new(limit: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(limit + 1), limit }
    }

    /// What a score must not be below to have a chance.
    fn threshold(&self) -> f32 {
        match self.heap.peek() {
            Some(Reverse(worst)) if self.heap.len() >= self.limit => worst.score,
            _ => f32::NEG_INFINITY,
        }
    }

    fn offer(&mut self, candidate: Candidate) {
        self.heap.push(Reverse(candidate));
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
    }
}

/// Everything one pass needs besides its rows.
struct Pass<'a> {
    segments: &'a [Segment],
    query: QuantQuery,
    filter: Option<&'a IdSet>,
    kernel: Kernel,
    limit: usize,
}

impl Pass<'_> {
    /// The best candidates among these rows.
    fn run(&self, parts: &[(usize, Range<usize>)]) -> Result<Best> {
        let mut best = Best::new(self.limit);
        for (segment, rows) in parts {
            self.scan(*segment, rows.clone(), &mut best)?;
        }
        Ok(best)
    }

    fn scan(&self, index: usize, rows: Range<usize>, best: &mut Best) -> Result<()> {
        let Some(segment) = self.segments.get(index) else { return Ok(()) };
        let width = self.query.blocks().len() * super::kernels::BLOCK;
        let codes = segment.codes().get(rows.start * width..rows.end * width).unwrap_or_default();
        let scales = segment.scales().get(rows.clone()).unwrap_or_default();
        let mut dots = [0; BATCH];
        let mut row = rows.start;
        let mut threshold = best.threshold();
        for (codes, scales) in codes.chunks(BATCH * width).zip(scales.chunks(BATCH)) {
            self.kernel.dots(&self.query, codes, &mut dots);
            for (dot, scale) in dots.iter().zip(scales) {
                let score = *dot as f32 * f32::from_le_bytes(*scale);
                // NaN must not pass for a low score.
                if score >= threshold || score.is_nan() {
                    self.consider(segment, index, row, score, best)?;
                    threshold = best.threshold();
                }
                row += 1;
            }
        }
        Ok(())
    }

    fn consider(&self, segment: &Segment, index: usize, row: usize, score: f32, best: &mut Best) -> Result<()> {
        if !segment.is_live(row) || self.filter.is_some_and(|filter| !filter.contains(segment.id(row))) {
            return Ok(());
        }
        if !score.is_finite() {
            return Err(not_finite(&segment.key(row)));
        }
        best.offer(Candidate { score, key: segment.key(row), segment: index, row });
        Ok(())
    }
}

fn not_finite(key: &ChunkKey) -> Failure {
    corrupt(format!("The stored vector of the chunk {key} is not finite."))
}

impl Matrix {
    /// The `k` live rows with the highest cosine to `query`, best first, equal scores by the smaller key; fewer if
    /// there are fewer. With a `filter`, only rows whose chunk id is in it exist.
    ///
    /// Scores are exact for the stored half-precision rows. Which rows are scored exactly is decided by 8-bit codes:
    /// `k` and between 54 and 300 more of them are. The query need not be normalised. `PHASE2_QUERY_ERROR` if it is not `dim` finite
    /// numbers, or all zero.
    pub fn search(&self, query: &[f32], k: usize, filter: Option<&IdSet>) -> Result<Vec<Hit>> {
        self.search_with(Kernel::best(), query, k, filter)
    }

    /// [`Self::search`] with a given kernel, for tests and benchmarks: the result is the same with each.
    pub fn search_with(&self, kernel: Kernel, query: &[f32], k: usize, filter: Option<&IdSet>) -> Result<Vec<Hit>> {
        let norm = check_query(query, self.stamp().dim)?;
        if k == 0 || self.is_empty() || filter.is_some_and(IdSet::is_empty) {
            return Ok(Vec::new());
        }
        let more = k.saturating_mul(RESCORE_FACTOR).clamp(RESCORE_MORE.0, RESCORE_MORE.1);
        let limit = k.saturating_add(more).min(self.len());
        let query8 = QuantQuery::new(query);
        let pass = Pass { segments: &self.segments, query: query8, filter, kernel, limit };
        let best = self.first_pass(&pass)?;
        self.rescore(query, norm, &best, k)
    }

    /// The mean of at most `most` live rows, evenly spread, and how many they are: its product with a unit vector is their
    /// mean cosine.
    pub fn centroid(&self, most: usize) -> (Vec<f64>, usize) {
        let step = self.len().div_ceil(most.max(1)).max(1);
        let (mut halves, mut vector) = (Vec::new(), Vec::new());
        let (mut sum, mut count) = (vec![0.0; self.stamp().dim], 0);
        let live =
            self.segments.iter().flat_map(|s| (0..s.entry.rows).filter(|row| s.is_live(*row)).map(move |r| (s, r)));
        for (segment, row) in live.step_by(step) {
            quant::read_halves(segment.halves(row), &mut halves, &mut vector);
            sum.iter_mut().zip(&vector).for_each(|(sum, x)| *sum += f64::from(*x));
            count += 1;
        }
        sum.iter_mut().for_each(|sum| *sum /= count.max(1) as f64);
        (sum, count)
    }

    fn first_pass(&self, pass: &Pass<'_>) -> Result<Best> {
        let total: usize = self.segments.iter().map(|s| s.entry.rows).sum();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = total.div_ceil(ROWS_PER_THREAD).min(MAX_THREADS).min(cores).max(1);
        let parts = split(self.segments.iter().map(|s| s.entry.rows), total.div_ceil(threads));
        let Some((own, others)) = parts.split_first() else { return Ok(Best::new(pass.limit)) };
        std::thread::scope(|scope| {
            let others: Vec<_> = others.iter().map(|part| scope.spawn(|| pass.run(part))).collect();
            let mut best = pass.run(own)?;
            for other in others {
                let found = other.join().map_err(|_| Failure::internal("A thread of the vector scan panicked."))??;
                found.heap.into_iter().for_each(|Reverse(candidate)| best.offer(candidate));
            }
            Ok(best)
        })
    }

    fn rescore(&self, query: &[f32], norm: f64, best: &Best, k: usize) -> Result<Vec<Hit>> {
        let (mut halves, mut vector) = (Vec::new(), Vec::new());
        let mut exact = Vec::with_capacity(best.heap.len());
        for Reverse(candidate) in &best.heap {
            let Some(segment) = self.segments.get(candidate.segment) else { continue };
            quant::read_halves(segment.halves(candidate.row), &mut halves, &mut vector);
            // Dividing by the row's own length takes away what rounding to half floats did to it.
            let cosine = quant::dot(query, &vector) / (norm * quant::norm(&vector));
            if !cosine.is_finite() {
                return Err(not_finite(&candidate.key));
            }
            exact.push(Candidate { score: cosine.clamp(-1.0, 1.0) as f32, ..*candidate });
        }
        exact.sort_unstable_by(|a, b| b.cmp(a));
        exact.truncate(k);
        let hit = |c: Candidate| {
            self.segments.get(c.segment).map(|s| Hit { chunk_id: s.id(c.row), key: c.key, score: c.score })
        };
        Ok(exact.into_iter().filter_map(hit).collect())
    }
}

/// The length of a usable query.
fn check_query(query: &[f32], dim: usize) -> Result<f64> {
    let refuse = |why: String| Err(Failure::new(ErrorCode::QueryError, why));
    if query.len() != dim {
        return refuse(format!("The query's vector has {} dimensions where the matrix has {dim}.", query.len()))
            .map_err(|f| f.with_hint("local-agent embed"));
    }
    let norm = quant::norm(query);
    if !norm.is_finite() || norm <= f64::from(f32::MIN_POSITIVE) {
        return refuse("The query's vector holds values that are not finite, or only zeros.".into());
    }
    Ok(norm)
}

/// Cuts rows of segments of these sizes into consecutive parts of at most `share` rows.
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
