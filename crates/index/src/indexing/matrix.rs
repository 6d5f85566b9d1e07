//! Brings the matrix projection up to date with `index.sqlite` and `embeddings.sqlite`, using the
//! difference of chunk keys.

use std::collections::HashMap;
use std::path::Path;

use crate::ids::ChunkId;
use crate::store::{Database, EmbeddingStore, IndexReader, Inputs};
use crate::vectors::{Matrix, MatrixStamp, Row, VectorWriter};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{ChunkKey, Fingerprint, Sha256};

/// Whether `old` is current: it contains the `covered` chunks with a vector and was published from
/// the current state of the databases. Then it need not be published again, and the leftovers of
/// killed runs are removed.
pub(super) fn is_current(
    index_db: &Path,
    store: &EmbeddingStore,
    dir: &Path,
    fingerprint: &Fingerprint,
    old: &Matrix,
    covered: usize,
) -> Result<bool> {
    let stamp = stamp(
        &IndexReader::required(index_db)?,
        store,
        fingerprint,
        old.stamp().dim,
    )?;
    let current = stamp.as_ref() == Some(old.stamp()) && old.len() == covered;
    if current {
        VectorWriter::tidy(dir)?;
    }
    Ok(current)
}

/// The stamp for publishing a matrix with rows of `dim` numbers; `None` before the first commit of
/// either database.
fn stamp(
    index: &IndexReader,
    store: &EmbeddingStore,
    fingerprint: &Fingerprint,
    dim: usize,
) -> Result<Option<MatrixStamp>> {
    let (Some(index_commit), Some(embed_commit)) = (index.commit_id()?, store.commit_id()?) else {
        return Ok(None);
    };
    let chunker_sig = index.meta("chunker_sig")?.unwrap_or_default();
    Ok(Some(MatrixStamp {
        index_commit,
        embed_commit,
        fingerprint: *fingerprint,
        chunker_sig,
        dim,
    }))
}

/// Publishes a matrix with every chunk of the index that has a vector under `fingerprint`; returns
/// the number of chunks. `old` is the currently published matrix, as returned by [`sound`]: if it
/// is `None` or damaged, nothing of it is reused. The caller holds `embed.lock`.
pub(super) fn publish(
    index_db: &Path,
    store: &EmbeddingStore,
    dir: &Path,
    fingerprint: &Fingerprint,
    old: Result<Option<Matrix>>,
) -> Result<usize> {
    let index = IndexReader::required(index_db)?;
    let mut wanted =
        wanted(&index, &store.inputs(fingerprint)?).map_err(|f| Database::Index.blame(f))?;
    let old_stamp = old
        .as_ref()
        .ok()
        .and_then(|old| old.as_ref())
        .map(Matrix::stamp)
        .filter(|s| s.fingerprint == *fingerprint);
    let dim = match (wanted.values().next(), old_stamp) {
        (Some((_, first)), _) => vector(store, fingerprint, first)?.len(),
        // The last chunk with a vector is gone: the matrix must drop its rows too.
        (None, Some(stamp)) => stamp.dim,
        (None, None) => return Ok(0),
    };
    let Some(stamp) = stamp(&index, store, fingerprint, dim)? else {
        return Ok(0);
    };
    let mut writer = match old {
        Ok(Some(old)) if (old.stamp().fingerprint, old.stamp().dim) == (*fingerprint, dim) => {
            VectorWriter::update(dir, stamp)?
        }
        // No matrix, another model, or damage: everything is in the database, so it is rebuilt.
        Ok(_) => VectorWriter::rebuild(dir, stamp)?,
        Err(failure) if failure.code == ErrorCode::DbCorrupt => VectorWriter::rebuild(dir, stamp)?,
        Err(failure) => return Err(failure),
    };
    writer.retain(|id, key| match wanted.get(key) {
        Some((wanted_id, _)) if *wanted_id == id => wanted.remove(key).is_some(),
        _ => false,
    });
    let mut added: Vec<(ChunkId, ChunkKey, Sha256)> = wanted
        .into_iter()
        .map(|(key, (id, input))| (id, key, input))
        .collect();
    added.sort_unstable_by_key(|(id, ..)| *id);
    for (chunk_id, key, input) in &added {
        let vector = vector(store, fingerprint, input)?;
        writer.add(&Row {
            chunk_id: *chunk_id,
            key: *key,
            vector: &vector,
        })?;
    }
    writer.publish()
}

/// Row id and input of a chunk, by its key.
type MissingVectors = HashMap<ChunkKey, (ChunkId, Sha256), foldhash::fast::RandomState>;

/// The chunks that have a vector.
fn wanted(index: &IndexReader, have: &Inputs) -> Result<MissingVectors> {
    let mut wanted = MissingVectors::default();
    index.each_chunk(|chunk| {
        if have.contains(&chunk.input_sha256) {
            wanted.insert(chunk.key, (chunk.id, chunk.input_sha256));
        }
        Ok(())
    })?;
    Ok(wanted)
}

/// The published matrix, with every byte compared with its checksums, because rows are copied from
/// it. For damage that only a full read finds, the suggested command is `embed`.
pub(super) fn sound(dir: &Path) -> Result<Option<Matrix>> {
    let matrix = Matrix::open(dir)?;
    matrix.as_ref().map_or(Ok(()), Matrix::verify)?;
    Ok(matrix)
}

fn vector(store: &EmbeddingStore, fingerprint: &Fingerprint, input: &Sha256) -> Result<Vec<f32>> {
    store.vector(fingerprint, input)?.ok_or_else(|| {
        Failure::new(
            ErrorCode::DbCorrupt,
            format!("the vector of input {input} went missing while it was published"),
        )
        .with_command("local-agent embed --rebuild")
    })
}
