//! The matrix projection: every chunk's vector in immutable, mapped segment files under one small
//! manifest.
//!
//! A query could not read a hundred thousand rows from SQLite one by one. SQLite is the source of
//! truth; this module keeps a disposable copy, laid out so that one query is one sequential pass
//! over one byte per dimension and row, followed by an exact rescoring of the few best rows.
//!
//! * A [`VectorWriter`] adds, removes and publishes. Its caller holds the `embed` lock.
//! * A [`Matrix`] is one published state, opened read-only; it stays valid whatever a writer does
//!   meanwhile.
//!
//! On disk, in one folder: `manifest.json` (replaced atomically, the only file with a fixed name),
//! `seg-<32 hex>.vec` and `dead-<32 hex>.bits`. The last two are named by content and never changed
//! in place, so a crash at any point leaves the previous manifest and everything it names
//! unchanged. Segments contain rows in the order they were added; a row that was removed or
//! replaced is marked in a tombstone file until its segment is rewritten.

mod disk;
#[allow(unsafe_code)] // SIMD intrinsics
mod kernels;
mod manifest;
#[allow(unsafe_code)] // mapping a file
mod map;
mod matrix;
mod quant;
mod scan;
mod segment;
mod similar;
mod sums;
mod tombstones;
mod writer;

#[cfg(test)]
mod tests;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::ids::ChunkId;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{ChunkKey, CommitId, Fingerprint};

pub use kernels::Kernel;
pub use manifest::FILE as MANIFEST_FILE;
pub use matrix::Matrix;
pub use sums::VectorSum;
pub use writer::VectorWriter;

/// The largest number of dimensions a matrix may have. Far above any embedding model; it keeps
/// every product of two quantised rows inside 32 bits (16384 × 255 × 127 < 2³¹).
pub const MAX_DIM: usize = 16_384;

/// The state from which a matrix was made. Stamps are compared only for equality; if they differ,
/// the matrix is stale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixStamp {
    /// The index state that the rows' chunk ids refer to.
    pub index_commit: CommitId,
    /// The state of the embeddings that the vectors were copied from.
    pub embed_commit: CommitId,
    /// The model that produced the vectors. Two fingerprints never share a matrix.
    pub fingerprint: Fingerprint,
    /// The chunking that cut the chunks.
    pub chunker_sig: String,
    /// Number of dimensions of every vector: 1 to [`MAX_DIM`].
    pub dim: usize,
}

/// One row to be added.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// The chunk's row id in the index, which filters refer to.
    pub chunk_id: ChunkId,
    /// The chunk's identity; at most one live row has it.
    pub key: ChunkKey,
    /// `dim` finite numbers of Euclidean length 1 (within 10⁻³).
    pub vector: &'a [f32],
}

/// One row that a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorHit {
    /// The chunk's row id when the matrix was made.
    pub chunk_id: ChunkId,
    /// The key that the chunk with that id must have.
    pub key: ChunkKey,
    /// Cosine of query and row, −1 to 1, computed from the half-precision copy of the row.
    pub score: f32,
}

/// The state from which the matrix in `dir` was made; `None` if none was ever published there.
/// Reads no other data of the matrix.
///
/// Errors: as [`Matrix::open`].
pub fn stamp(dir: &Path) -> Result<Option<MatrixStamp>> {
    let Some(folder) = disk::open(dir)? else {
        return Ok(None);
    };
    let bytes = manifest::Manifest::read(&folder)?;
    let manifest = bytes
        .map(|bytes| manifest::Manifest::decode(&bytes))
        .transpose()?;
    Ok(manifest.map(|manifest| manifest.stamp))
}

/// The dot product of two vectors of equal length: for unit vectors, their cosine.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    quant::dot(a, b) as f32
}

/// A small file in the folder of a matrix; `None` if it does not exist.
///
/// Errors: `DB_ERROR` when it cannot be read, `DB_CORRUPT` when it is larger than `cap`.
pub fn read_beside(dir: &Path, name: &str, cap: u64) -> Result<Option<Vec<u8>>> {
    match disk::open(dir)? {
        Some(folder) => disk::read_small(&folder, name, cap),
        None => Ok(None),
    }
}

/// Writes a small file into the folder of a matrix, completely or not at all.
///
/// Errors: `WRITE_ERROR`.
pub fn write_beside(dir: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let mut disk = disk::Disk::create(dir)?;
    disk.put(name, &[bytes])?;
    disk.sync()
}

/// The failure for a damaged projection: `embed` rebuilds it from the database.
fn corrupt(message: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::DbCorrupt, message).with_command("local-agent embed")
}

/// The failure for a projection in a later format.
fn newer(what: &str, version: u64) -> Failure {
    Failure::new(
        ErrorCode::DbNewer,
        format!("The {what} has format {version}, which a newer version of local-agent wrote; it was not touched."),
    )
    .with_hint("use the newer local-agent, or set another state folder")
}

/// Rejects a number of dimensions that no matrix can have.
fn check_dim(dim: usize) -> Result<()> {
    if (1..=MAX_DIM).contains(&dim) {
        return Ok(());
    }
    Err(Failure::new(
        ErrorCode::EmbedError,
        format!("Vectors of {dim} dimensions cannot be stored; 1 to {MAX_DIM} can."),
    ))
}
