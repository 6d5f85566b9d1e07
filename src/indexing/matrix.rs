//! Brings the matrix projection up to date with `index.sqlite` and `embeddings.sqlite`, by difference of chunk keys.

use std::collections::HashMap;
use std::path::Path;

use crate::error::{ErrorCode, Failure, Result};
use crate::store::{EmbeddingStore, IndexReader};
use crate::types::{ChunkKey, Fingerprint, Sha256};
use crate::vectors::{self, Matrix, Row, Stamp};

/// Publishes a matrix that holds every chunk of the index that has a vector under `fingerprint`; returns how many.
/// The caller holds `embed.lock`.
pub fn publish(index_db: &Path, store: &EmbeddingStore, dir: &Path, fingerprint: &Fingerprint) -> Result<usize> {
    let index = IndexReader::required(index_db)?;
    let (Some(index_commit), Some(embed_commit)) = (index.commit_id()?, store.commit_id()?) else { return Ok(0) };
    let have = store.inputs(fingerprint)?;
    let mut wanted: HashMap<ChunkKey, (i64, Sha256)> = HashMap::new();
    index.each_chunk(|chunk| {
        if have.contains(&chunk.input_sha256) {
            wanted.insert(chunk.key, (chunk.id, chunk.input_sha256));
        }
        Ok(())
    })?;
    let covered = wanted.len();
    let Some((_, first)) = wanted.values().next() else { return Ok(0) };
    let dim = vector(store, fingerprint, first)?.len();
    let stamp = Stamp { index_commit, embed_commit, fingerprint: *fingerprint, dim };
    let old = Matrix::open(dir)?.filter(|old| old.stamp().fingerprint == *fingerprint && old.stamp().dim == dim);
    let mut removed = Vec::new();
    if let Some(old) = &old {
        if *old.stamp() == stamp && old.len() == covered {
            return Ok(covered);
        }
        for (key, id) in old.rows() {
            match wanted.get(&key) {
                Some((wanted_id, _)) if *wanted_id == id => drop(wanted.remove(&key)),
                _ => removed.push(key),
            }
        }
    }
    let mut added: Vec<(ChunkKey, i64, Sha256)> = wanted.into_iter().map(|(key, (id, input))| (key, id, input)).collect();
    added.sort_unstable_by_key(|(_, id, _)| *id);
    let rows = added.iter().map(|(key, id, input)| {
        Ok(Row { chunk_id: *id, key: *key, vector: vector(store, fingerprint, input)? })
    });
    vectors::publish(dir, &stamp, old.is_some(), &removed, rows)?;
    Ok(covered)
}

fn vector(store: &EmbeddingStore, fingerprint: &Fingerprint, input: &Sha256) -> Result<Vec<f32>> {
    store.vector(fingerprint, input)?.ok_or_else(|| {
        Failure::new(ErrorCode::DbCorrupt, format!("the vector of input {input} went missing while it was published"))
            .with_hint("local-agent embed")
    })
}
