//! Sums of the vectors of several rows. The mean of a group points in the direction of its sum.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::Matrix;
use super::quant;
use super::scan::check_query;
use super::segment::Segment;
use crate::ids::ChunkId;
use local_agent_text::error::Result;

/// The sum of the vectors of some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorSum {
    sum: Vec<f32>,
    norm: f64,
}

impl VectorSum {
    fn cosine(&self, query: &[f32], norm: f64) -> Option<f32> {
        let cosine = quant::dot(query, &self.sum) / (norm * self.norm);
        cosine.is_finite().then(|| cosine.clamp(-1.0, 1.0) as f32)
    }
}

impl Matrix {
    /// The cosine of `query` and each of these sums of rows of this matrix; `None` for a sum of no
    /// rows, or of rows that cancel each other out. `PHASE2_QUERY_ERROR` as in [`Self::search`].
    pub fn cosines_of_sums<'a>(
        &self,
        query: &[f32],
        sums: impl Iterator<Item = &'a VectorSum>,
    ) -> Result<Vec<Option<f32>>> {
        let norm = check_query(query, self.stamp().dim)?;
        Ok(sums.map(|one| one.cosine(query, norm)).collect())
    }

    /// The sum of the rows of each group of chunk ids. Ids without a row are ignored.
    pub fn sums_of(&self, groups: &[Vec<ChunkId>]) -> Vec<VectorSum> {
        let places = self.places(groups);
        let (mut halves, mut vector) = (Vec::new(), Vec::new());
        let mut sum_of = |group: &Vec<ChunkId>| {
            let mut sum = vec![0.0; self.stamp().dim];
            for (segment, row) in group.iter().filter_map(|id| places.get(id)) {
                quant::read_halves(segment.halves(*row), &mut halves, &mut vector);
                sum.iter_mut().zip(&vector).for_each(|(sum, x)| *sum += x);
            }
            let norm = quant::norm(&sum);
            VectorSum { sum, norm }
        };
        groups.iter().map(&mut sum_of).collect()
    }

    /// The positions of the rows of these chunks.
    fn places(&self, groups: &[Vec<ChunkId>]) -> HashMap<ChunkId, (&Segment, usize), RandomState> {
        let mut places = HashMap::default();
        for segment in &self.segments {
            for id in groups.iter().flatten() {
                if let Some(row) = segment.row_of(*id) {
                    places.insert(*id, (segment, row));
                }
            }
        }
        places
    }
}
