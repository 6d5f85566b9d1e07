//! `embeddings.sqlite`: the vector of a text under one fingerprint. The key is the hash of the
//! text, so moving, renaming and re-chunking cost nothing if the text is unchanged.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use super::error::Result;
use super::{Database, checkpoint, new_commit_id, open_read, open_write};
use local_agent_text::error::{ErrorCode, Failure};
use local_agent_text::types::{CommitId, Fingerprint, Sha256};

/// A connection to `embeddings.sqlite`: for writing (the caller holds `embed.lock`) or for reading.
#[derive(Debug)]
pub struct EmbeddingStore {
    conn: Connection,
    /// Whether the database records when vectors became unused; version 1 did not.
    tells_unused: bool,
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
    /// Number of model windows it took.
    pub windows: u32,
}

impl EmbeddingStore {
    /// Opens or creates the database for writing.
    pub fn open_write(path: &Path) -> Result<Self> {
        Ok(Self {
            conn: open_write(path, Database::Embeddings)?,
            tells_unused: true,
        })
    }

    /// Opens the database for reading; `None` if it was never created.
    pub fn open_read(path: &Path) -> Result<Option<Self>> {
        let Some(conn) = open_read(path, Database::Embeddings)? else {
            return Ok(None);
        };
        let tells_unused = conn
            .prepare("SELECT 1 FROM sqlite_schema WHERE name = 'unused'")?
            .exists([])?;
        Ok(Some(Self { conn, tells_unused }))
    }

    /// The newest commit; `None` if nothing was ever embedded.
    pub fn commit_id(&self) -> Result<Option<CommitId>> {
        let text: Option<String> = self
            .conn
            .query_row(
                "SELECT value FROM meta WHERE key = 'commit_id'",
                [],
                |row| row.get(0),
            )
            .optional()?;
        Ok(text.and_then(|text| text.parse().ok()))
    }

    /// Input hashes that have a vector under `fingerprint`.
    pub fn inputs(&self, fingerprint: &Fingerprint) -> Result<Inputs> {
        let mut statement = self
            .conn
            .prepare("SELECT input_sha256 FROM embeddings WHERE fingerprint = ?1")?;
        let rows = statement.query_map([fingerprint.as_bytes()], |row| {
            Ok(Sha256::from_bytes(row.get(0)?))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The number of rows, of any fingerprint.
    pub fn count(&self) -> Result<u64> {
        Ok(self
            .conn
            .query_row("SELECT count(*) FROM embeddings", [], |row| {
                row.get::<_, i64>(0)
            })? as u64)
    }

    /// Rows by fingerprint and model id, most rows first.
    pub fn by_fingerprint(&self) -> Result<Vec<(Fingerprint, String, u64)>> {
        let mut statement = self.conn.prepare(
            "SELECT fingerprint, min(model_id), count(*) FROM embeddings GROUP BY fingerprint ORDER BY 3 DESC, 1",
        )?;
        let rows = statement.query_map([], |row| {
            Ok((
                Fingerprint::from_bytes(row.get(0)?),
                row.get(1)?,
                row.get::<_, i64>(2)? as u64,
            ))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The id of the model that made the vectors under `fingerprint`; `None` without any.
    pub fn model_of(&self, fingerprint: &Fingerprint) -> Result<Option<String>> {
        let mut statement = self
            .conn
            .prepare("SELECT model_id FROM embeddings WHERE fingerprint = ?1 LIMIT 1")?;
        Ok(statement
            .query_row([fingerprint.as_bytes()], |row| row.get(0))
            .optional()?)
    }

    /// The number of vectors under `fingerprint` for each number of dimensions, without reading a
    /// vector.
    pub fn dims(&self, fingerprint: &Fingerprint) -> Result<Vec<(usize, u64)>> {
        let mut statement = self.conn.prepare(
            "SELECT length(vector) / 4, count(*) FROM embeddings WHERE fingerprint = ?1 GROUP BY 1 ORDER BY 1",
        )?;
        let rows = statement.query_map([fingerprint.as_bytes()], |row| {
            Ok((row.get::<_, i64>(0)? as usize, row.get::<_, i64>(1)? as u64))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The vector of one input; `None` if it is not embedded under `fingerprint`.
    pub fn vector(&self, fingerprint: &Fingerprint, input: &Sha256) -> Result<Option<Vec<f32>>> {
        let mut statement = self.conn.prepare_cached(
            "SELECT vector FROM embeddings WHERE fingerprint = ?1 AND input_sha256 = ?2",
        )?;
        let bytes: Option<Vec<u8>> = statement
            .query_row(params![fingerprint.as_bytes(), input.as_bytes()], |row| {
                row.get(0)
            })
            .optional()?;
        Ok(bytes.map(|bytes| {
            bytes
                .chunks_exact(4)
                .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
                .collect()
        }))
    }

    /// Writes `rows` in one transaction with a new commit id; an existing row is replaced.
    pub fn publish(
        &mut self,
        fingerprint: &Fingerprint,
        model_id: &str,
        now: &str,
        rows: &[StoredEmbedding],
    ) -> Result<()> {
        if let Some(bad) = rows
            .iter()
            .find(|row| row.vector.iter().any(|v| !v.is_finite()))
        {
            let message = format!(
                "the model gave a vector with NaN or infinity for input {}",
                bad.input_sha256
            );
            return Err(Failure::new(ErrorCode::EmbedError, message)
                .with_command("local-agent models verify")
                .into());
        }
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
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

    /// The vectors that are recorded as unused by any chunk and are still kept.
    pub fn unused(&self) -> Result<Vec<(Fingerprint, Sha256)>> {
        if !self.tells_unused {
            return Ok(Vec::new());
        }
        let mut statement = self
            .conn
            .prepare("SELECT fingerprint, input_sha256 FROM unused")?;
        let rows = statement.query_map([], |row| {
            Ok((
                Fingerprint::from_bytes(row.get(0)?),
                Sha256::from_bytes(row.get(1)?),
            ))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Removes vectors that have been unused for `keep_s` seconds: those that are not in `used`, or
    /// have another fingerprint than `fingerprint`. The others are recorded as unused since `now_s`
    /// (seconds since 1970); the record of one that is used again is removed.
    pub fn prune(
        &mut self,
        fingerprint: &Fingerprint,
        used: &Inputs,
        now_s: i64,
        keep_s: i64,
    ) -> Result<Pruned> {
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut since = since(&tx)?;
        let (mut gone, mut new, mut kept) = (Vec::new(), Vec::new(), 0);
        {
            let mut statement =
                tx.prepare("SELECT rowid, input_sha256, fingerprint FROM embeddings")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let key: Key = (row.get(2)?, row.get(1)?);
                if used.contains(&Sha256::from_bytes(key.1)) && key.0 == *fingerprint.as_bytes() {
                    continue;
                }
                match since.get(&key).copied() {
                    // If the clock was set back, nothing counts as old.
                    Some(since) if now_s.saturating_sub(since) < keep_s => kept += 1,
                    None if keep_s > 0 => new.push(key),
                    _ => {
                        gone.push(row.get::<_, i64>(0)?);
                        continue;
                    }
                }
                since.remove(&key);
            }
        }
        let mut delete = tx.prepare("DELETE FROM embeddings WHERE rowid = ?1")?;
        for id in &gone {
            delete.execute([id])?;
        }
        drop(delete);
        record(&tx, since.into_keys(), &new, now_s)?;
        if !gone.is_empty() {
            set_commit(&tx, &new_commit_id()?)?;
        }
        tx.commit()?;
        Ok(Pruned {
            gone: gone.len() as u64,
            kept: kept + new.len() as u64,
        })
    }

    /// Writes the write-ahead log into the database file.
    pub fn checkpoint(&self) -> Result<()> {
        checkpoint(&self.conn)
    }
}

/// The result of pruning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Number of removed vectors.
    pub gone: u64,
    /// Number of vectors that no chunk uses but that are still kept.
    pub kept: u64,
}

/// Fingerprint and input.
type Key = ([u8; 32], [u8; 32]);

/// The time since when each vector has been recorded as unused.
fn since(tx: &rusqlite::Transaction<'_>) -> Result<HashMap<Key, i64, foldhash::fast::RandomState>> {
    let mut statement = tx.prepare("SELECT fingerprint, input_sha256, since FROM unused")?;
    let rows = statement.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Removes the unused-records of the keys in `over`, and adds records for those in `new`.
fn record(
    tx: &rusqlite::Transaction<'_>,
    over: impl Iterator<Item = Key>,
    new: &[Key],
    now_s: i64,
) -> Result<()> {
    let mut forget =
        tx.prepare("DELETE FROM unused WHERE fingerprint = ?1 AND input_sha256 = ?2")?;
    for (fingerprint, input) in over {
        forget.execute([fingerprint, input])?;
    }
    let mut add = tx.prepare(
        "INSERT OR REPLACE INTO unused (fingerprint, input_sha256, since) VALUES (?1, ?2, ?3)",
    )?;
    for (fingerprint, input) in new {
        add.execute(params![fingerprint, input, now_s])?;
    }
    Ok(())
}

/// Maximum deviation of the length of a stored vector from 1.
const LENGTH_TOLERANCE: f64 = 2e-3;

/// The first invalid vector; `None` if all are valid.
pub(super) fn damage(conn: &Connection) -> Result<Option<String>> {
    let mut statement = conn.prepare("SELECT input_sha256, fingerprint, vector FROM embeddings")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let input = Sha256::from_bytes(row.get(0)?);
        let _: [u8; 32] = row.get(1)?;
        let bytes: Vec<u8> = row.get(2)?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        let squares = numbers
            .iter()
            .map(|four| f64::from(f32::from_le_bytes(*four)).powi(2));
        let length = squares.sum::<f64>().sqrt();
        if !rest.is_empty() || length.is_nan() || (length - 1.0).abs() > LENGTH_TOLERANCE {
            return Ok(Some(format!(
                "the vector of input {input} is not what was written"
            )));
        }
    }
    Ok(None)
}

fn set_commit(tx: &rusqlite::Transaction<'_>, id: &CommitId) -> Result<()> {
    tx.execute(
        "INSERT OR REPLACE INTO meta (key, value) VALUES ('commit_id', ?1)",
        [id.to_string()],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::is_damaged;

    const DIM: u32 = 24;

    fn print() -> Fingerprint {
        Fingerprint::from_bytes([7; 32])
    }

    /// A row of length 1, derived from its number.
    fn row(n: u32) -> StoredEmbedding {
        let raw: Vec<f32> = (0..DIM)
            .map(|i| ((n * 31 + i * 17) % 101) as f32 - 50.0)
            .collect();
        let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
        StoredEmbedding {
            input_sha256: Sha256::of(&n.to_le_bytes()),
            vector: raw.iter().map(|x| x / length).collect(),
            tokens: 3,
            windows: 1,
        }
    }

    fn made(path: &Path, rows: u32) -> Inputs {
        let rows: Vec<StoredEmbedding> = (0..rows).map(row).collect();
        let mut store = EmbeddingStore::open_write(path).unwrap();
        store
            .publish(&print(), "model", "2026-01-01T00:00:00Z", &rows)
            .unwrap();
        drop(store);
        Connection::open(path)
            .unwrap()
            .pragma_update(None, "journal_mode", "delete")
            .unwrap();
        rows.iter().map(|row| row.input_sha256).collect()
    }

    #[test]
    fn whatever_is_damaged_is_found_or_hurts_nobody_who_reads() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("embeddings.sqlite");
        let inputs = made(&path, 120);
        let whole = std::fs::read(&path).unwrap();
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut dice = |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            usize::try_from(seed >> 11).unwrap() % below
        };
        let mut found = 0;
        for round in 0..400 {
            let mut bytes = whole.clone();
            for _ in 0..=dice(6) {
                bytes[dice(whole.len())] ^= 1 << dice(8);
            }
            std::fs::write(&path, &bytes).unwrap();
            if is_damaged(&path, Database::Embeddings).unwrap_or(true) {
                found += 1;
                continue;
            }
            let store = EmbeddingStore::open_read(&path).unwrap().unwrap();
            // A row with another fingerprint counts as missing; every other row is readable.
            for input in store.inputs(&print()).unwrap() {
                let vector = store.vector(&print(), &input).unwrap();
                assert!(
                    vector.is_some_and(|vector| vector.len() == DIM as usize),
                    "{round}"
                );
            }
            assert!(
                store.inputs(&print()).unwrap().is_subset(&inputs),
                "{round}"
            );
        }
        assert!(found > 200, "{found}");
    }

    #[test]
    fn an_unused_vector_is_kept_as_long_as_is_asked_and_is_there_again_when_it_is_used() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("embeddings.sqlite");
        let all = made(&path, 3);
        let mut store = EmbeddingStore::open_write(&path).unwrap();
        let used: Inputs = all.iter().copied().take(1).collect();
        let mut prune = |used: &Inputs, now| {
            let Pruned { gone, kept } = store.prune(&print(), used, now, 100).unwrap();
            (
                gone,
                kept,
                store.count().unwrap(),
                store.unused().unwrap().len(),
            )
        };
        assert_eq!(prune(&used, 1_000), (0, 2, 3, 2));
        assert_eq!(prune(&used, 1_099), (0, 2, 3, 2));
        assert_eq!(prune(&all, 1_099), (0, 0, 3, 0), "used again");
        assert_eq!(prune(&used, 1_150), (0, 2, 3, 2));
        assert_eq!(prune(&used, 5), (0, 2, 3, 2), "a clock that was set back");
        assert_eq!(prune(&used, 1_250), (2, 0, 1, 0));
        // Under another model none of them is used.
        let other = Fingerprint::from_bytes([8; 32]);
        assert_eq!(
            store.prune(&other, &used, 2_000, 100).unwrap(),
            Pruned { gone: 0, kept: 1 }
        );
        assert_eq!(
            store.prune(&other, &used, 2_000, 0).unwrap(),
            Pruned { gone: 1, kept: 0 }
        );
    }
}
