//! Brings the matrix projection up to date with `index.sqlite` and `embeddings.sqlite`, by difference of chunk keys.

use std::collections::HashMap;
use std::path::Path;

use crate::error::{ErrorCode, Failure, Result};
use crate::store::{EmbeddingStore, IndexReader};
use crate::types::{ChunkKey, Fingerprint, Sha256};
use crate::vectors::{Matrix, Row, Stamp, Writer};

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
    let stamp = Stamp {
        index_commit,
        embed_commit,
        fingerprint: *fingerprint,
        chunker_sig: index.meta("chunker_sig")?.unwrap_or_default(),
        dim,
    };
    let mut writer = match Matrix::open(dir) {
        Ok(Some(old)) if *old.stamp() == stamp && old.len() == covered => return Ok(covered),
        Ok(Some(old)) if (old.stamp().fingerprint, old.stamp().dim) == (*fingerprint, dim) => {
            Writer::update(dir, stamp)?
        }
        // Nothing there, another model, or damage: everything is in the database, so it is made again.
        Ok(_) => Writer::rebuild(dir, stamp)?,
        Err(failure) if failure.code == ErrorCode::DbCorrupt => Writer::rebuild(dir, stamp)?,
        Err(failure) => return Err(failure),
    };
    writer.retain(|id, key| match wanted.get(key) {
        Some((wanted_id, _)) if *wanted_id == id => wanted.remove(key).is_some(),
        _ => false,
    });
    let mut added: Vec<(i64, ChunkKey, Sha256)> =
        wanted.into_iter().map(|(key, (id, input))| (id, key, input)).collect();
    added.sort_unstable_by_key(|(id, ..)| *id);
    for (chunk_id, key, input) in &added {
        let vector = vector(store, fingerprint, input)?;
        writer.add(&Row { chunk_id: *chunk_id, key: *key, vector: &vector })?;
    }
    writer.publish()
}

fn vector(store: &EmbeddingStore, fingerprint: &Fingerprint, input: &Sha256) -> Result<Vec<f32>> {
    store.vector(fingerprint, input)?.ok_or_else(|| {
        Failure::new(ErrorCode::DbCorrupt, format!("the vector of input {input} went missing while it was published"))
            .with_hint("local-agent embed")
    })
}
