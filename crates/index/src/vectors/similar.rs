//! The vector of a whole document: the mean of its chunks' vectors.

use super::matrix::Matrix;
use super::quant;
use crate::ids::{ChunkId, IdSet};

impl Matrix {
    /// The mean of the live vectors of these chunks, scaled to length 1. `None` if none of them has
    /// a vector, or they cancel out.
    pub fn mean_of(&self, chunks: &IdSet<ChunkId>) -> Option<Vec<f32>> {
        let (mut halves, mut vector) = (Vec::new(), Vec::new());
        let mut sum = vec![0.0_f32; self.stamp().dim];
        for segment in &self.segments {
            for row in 0..segment.entry.rows {
                if !segment.is_live(row) || !chunks.contains(segment.id(row)) {
                    continue;
                }
                quant::read_halves(segment.halves(row), &mut halves, &mut vector);
                sum.iter_mut().zip(&vector).for_each(|(sum, x)| *sum += x);
            }
        }
        let length = quant::norm(&sum) as f32;
        (length > f32::EPSILON).then(|| sum.into_iter().map(|x| x / length).collect())
    }
}
