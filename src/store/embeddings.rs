//! `embeddings.sqlite`: the vector a text gets under one fingerprint. Content-addressed, so moving, renaming and
//! re-cutting cost nothing for text that stays the same.

use std::collections::HashSet;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::{Database, checkpoint, new_commit_id, open_read, open_write};
use crate::error::{ErrorCode, Failure, Result};
use crate::types::{CommitId, Fingerprint, Sha256};

/// A connection to `embeddings.sqlite`: for writing (the caller holds `embed.lock`) or for reading.
#[derive(Debug)]
pub struct EmbeddingStore {
    conn: Connection,
}

/// Hashes of texts.
pub type Inputs = HashSet<Sha256, foldhash::fast::RandomState>;

/// One row to be written.
#[derive(Debug, Clone)]
pub struct StoredEmbedding {
    /// Hash of the text that was embedded.
    pub input_sha256: Sha256,
    /// L2-normalised.
    pub vector: Vec<f32>,
    /// Tokens of the text.
    pub tokens: u32,
    /// Windows of the model it took.
    pub windows: u32,
}

impl EmbeddingStore {
    /// Opens or creates the database for writing.
    pub fn open_write(path: &Path) -> Result<Self> {
        Ok(Self { conn: open_write(path, Database::Embeddings)? })
    }

    /// Opens the database for reading; `None`: there is none yet.
    pub fn open_read(path: &Path) -> Result<Option<Self>> {
        Ok(open_read(path, Database::Embeddings)?.map(|conn| Self { conn }))
    }

    /// The newest commit; `None`: nothing was ever embedded.
    pub fn commit_id(&self) -> Result<Option<CommitId>> {
        let text: Option<String> =
            self.conn.query_row("SELECT value FROM meta WHERE key = 'commit_id'", [], |row| row.get(0)).optional()?;
        Ok(text.and_then(|text| text.parse().ok()))
    }

    /// Input hashes that have a vector under `fingerprint`.
    pub fn inputs(&self, fingerprint: &Fingerprint) -> Result<Inputs> {
        let mut statement = self.conn.prepare("SELECT input_sha256 FROM embeddings WHERE fingerprint = ?1")?;
        let rows = statement.query_map([fingerprint.as_bytes()], |row| Ok(Sha256::from_bytes(row.get(0)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// How many rows there are, of any fingerprint.
    pub fn count(&self) -> Result<u64> {
        Ok(self.conn.query_row("SELECT count(*) FROM embeddings", [], |row| row.get::<_, i64>(0))? as u64)
    }

    /// Rows by fingerprint and model id, most rows first.
    pub fn by_fingerprint(&self) -> Result<Vec<(Fingerprint, String, u64)>> {
        let mut statement = self.conn.prepare(
            "SELECT fingerprint, min(model_id), count(*) FROM embeddings GROUP BY fingerprint ORDER BY 3 DESC, 1",
        )?;
        let rows = statement.query_map([], |row| {
            Ok((Fingerprint::from_bytes(row.get(0)?), row.get(1)?, row.get::<_, i64>(2)? as u64))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// How many vectors under `fingerprint` have which number of dimensions; no vector is read.
    pub fn dims(&self, fingerprint: &Fingerprint) -> Result<Vec<(usize, u64)>> {
        let mut statement = self.conn.prepare(
            "SELECT length(vector) / 4, count(*) FROM embeddings WHERE fingerprint = ?1 GROUP BY 1 ORDER BY 1",
        )?;
        let rows = statement.query_map([fingerprint.as_bytes()], |row| {
            Ok((row.get::<_, i64>(0)? as usize, row.get::<_, i64>(1)? as u64))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The vector of one input; `None`: not embedded under `fingerprint`.
    pub fn vector(&self, fingerprint: &Fingerprint, input: &Sha256) -> Result<Option<Vec<f32>>> {
        let mut statement =
            self.conn.prepare_cached("SELECT vector FROM embeddings WHERE fingerprint = ?1 AND input_sha256 = ?2")?;
        let bytes: Option<Vec<u8>> =
            statement.query_row(params![fingerprint.as_bytes(), input.as_bytes()], |row| row.get(0)).optional()?;
        Ok(bytes.map(|bytes| {
            bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
        }))
    }

    /// Writes `rows` in one transaction with a commit id of its own; a row that exists is replaced.
    pub fn publish(
        &mut self,
        fingerprint: &Fingerprint,
        model_id: &str,
        now: &str,
        rows: &[StoredEmbedding],
    ) -> Result<()> {
        if let Some(bad) = rows.iter().find(|row| row.vector.iter().any(|v| !v.is_finite())) {
            let message = format!("the model gave a vector with NaN or infinity for input {}", bad.input_sha256);
            return Err(Failure::new(ErrorCode::EmbedError, message).with_hint("local-agent models verify"));
        }
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut insert = tx.prepare_cached(
                "INSERT INTO embeddings (input_sha256, fingerprint, vector, tokens, windows, model_id, embedded_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT (fingerprint, input_sha256) DO UPDATE SET vector = excluded.vector,
                     tokens = excluded.tokens, windows = excluded.windows, embedded_at = excluded.embedded_at",
            )?;
            for row in rows {
                let bytes: Vec<u8> = row.vector.iter().flat_map(|v| v.to_le_bytes()).collect();
                insert.execute(params![
                    row.input_sha256.as_bytes(),
                    fingerprint.as_bytes(),
                    bytes,
                    row.tokens,
                    row.windows,
                    model_id,
                    now
                ])?;
            }
        }
        set_commit(&tx, &new_commit_id()?)?;
        Ok(tx.commit()?)
    }

    /// Removes every vector that `keep` does not name, of any fingerprint but `fingerprint` too; returns how many went.
    pub fn prune(&mut self, fingerprint: &Fingerprint, keep: &Inputs) -> Result<u64> {
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut gone = Vec::new();
        {
            let mut statement = tx.prepare("SELECT rowid, input_sha256, fingerprint FROM embeddings")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let input = Sha256::from_bytes(row.get(1)?);
                if !keep.contains(&input) || Fingerprint::from_bytes(row.get(2)?) != *fingerprint {
                    gone.push(row.get::<_, i64>(0)?);
                }
            }
            let mut delete = tx.prepare("DELETE FROM embeddings WHERE rowid = ?1")?;
            for id in &gone {
                delete.execute([id])?;
            }
        }
        if !gone.is_empty() {
            set_commit(&tx, &new_commit_id()?)?;
        }
        tx.commit()?;
        Ok(gone.len() as u64)
    }

    /// Folds the write-ahead log into the database file.
    pub fn checkpoint(&self) -> Result<()> {
        checkpoint(&self.conn)
    }
}

fn set_commit(tx: &rusqlite::Transaction<'_>, id: &CommitId) -> Result<()> {
    tx.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('commit_id', ?1)", [id.to_string()])?;
    Ok(())
}
