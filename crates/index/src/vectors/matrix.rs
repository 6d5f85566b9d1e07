//! One published state of the matrix, opened for reading.

use std::collections::HashSet;
use std::path::Path;

use super::manifest::Manifest;
use super::segment::Segment;
use super::{MatrixStamp, corrupt, disk, quant};
use crate::ids::ChunkId;
use local_agent_files::state::StateDirectory;
use local_agent_text::error::Result;
use local_agent_text::types::ChunkKey;

/// How often a reader retries if a writer publishes while it opens files. Each retry needs another
/// publication at that moment, so the number is generous.
const OPEN_ATTEMPTS: usize = 16;

/// A mapped, immutable view. Later publications are not visible in it and cannot break it.
pub struct Matrix {
    stamp: MatrixStamp,
    pub(super) segments: Vec<Segment>,
    live: usize,
}

impl std::fmt::Debug for Matrix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Matrix")
            .field("stamp", &self.stamp)
            .field("live", &self.live)
            .finish_non_exhaustive()
    }
}

impl Matrix {
    /// Opens the matrix in `dir`; `None` if none was ever published there. Creates and writes
    /// nothing.
    ///
    /// Lengths, headers and tombstones are checked, sections are not (see [`Self::verify`]).
    /// `DB_CORRUPT` for damage, `DB_NEWER` for a later format, `DB_ERROR` if a file cannot be read.
    pub fn open(dir: &Path) -> Result<Option<Self>> {
        let Some(dir) = disk::open(dir)? else {
            return Ok(None);
        };
        let mut failed: Option<(Vec<u8>, local_agent_text::error::Failure)> = None;
        for _ in 0..OPEN_ATTEMPTS {
            let Some(bytes) = Manifest::read(&dir)? else {
                return Ok(None);
            };
            // If a segment is gone, its manifest may have been replaced too; if the same manifest
            // fails twice, the failure is real.
            if let Some((_, failure)) = failed.take_if(|(before, _)| *before == bytes) {
                return Err(failure);
            }
            match Self::load(&dir, &bytes) {
                Ok(matrix) => return Ok(Some(matrix)),
                Err(failure) => failed = Some((bytes, failure)),
            }
        }
        Err(failed.map_or_else(
            || corrupt("The list of vector files kept changing while it was opened."),
            |(_, failure)| failure,
        ))
    }

    fn load(dir: &StateDirectory, manifest: &[u8]) -> Result<Self> {
        let Manifest {
            stamp, segments, ..
        } = Manifest::decode(manifest)?;
        let segments = segments
            .iter()
            .map(|entry| Segment::open(dir, entry, stamp.dim))
            .collect::<Result<Vec<_>>>()?;
        let live = segments.iter().map(|s| s.entry.rows - s.entry.dead).sum();
        Ok(Self {
            stamp,
            segments,
            live,
        })
    }

    /// The state from which the matrix was made.
    pub fn stamp(&self) -> &MatrixStamp {
        &self.stamp
    }

    /// Number of live rows.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Whether all rows are dead.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Chunk id and key of every live row, in stored order. In a sound matrix no key occurs twice.
    pub fn rows(&self) -> impl Iterator<Item = (ChunkId, ChunkKey)> + '_ {
        self.segments.iter().flat_map(|segment| {
            let live = (0..segment.entry.rows).filter(|row| segment.is_live(*row));
            live.map(|row| (segment.id(row), segment.key(row)))
        })
    }

    /// Reads every byte and checks the checksums of all sections, that no key occurs twice, and
    /// that all vectors are finite and of length 1. The first damage found is `DB_CORRUPT`.
    pub fn verify(&self) -> Result<()> {
        let mut seen = HashSet::with_capacity(self.live);
        let (mut halves, mut vector) = (Vec::new(), Vec::new());
        for segment in &self.segments {
            segment.verify()?;
            for row in (0..segment.entry.rows).filter(|row| segment.is_live(*row)) {
                let key = segment.key(row);
                if !seen.insert(key) {
                    return Err(corrupt(format!("The chunk {key} has two live vectors.")));
                }
                quant::read_halves(segment.halves(row), &mut halves, &mut vector);
                // Written within 1e-3 of 1, then rounded to half floats.
                let norm = quant::norm(&vector);
                if norm.is_nan() || (norm - 1.0).abs() > 1e-2 {
                    return Err(corrupt(format!(
                        "The vector of the chunk {key} has length {norm}."
                    )));
                }
            }
        }
        Ok(())
    }
}
