//! Reads `index.sqlite` for jobs and checks that compare it with files, with the configuration or with
//! itself.

use rusqlite::Row;

use super::error::Result;
use super::{IndexReader, KnownDocument, KnownDocuments};
use local_agent_text::error::{ErrorCode, Failure};
use local_agent_text::types::{FileStamp, SourceName};

/// The columns that [`known_document`] reads, in its order.
pub(super) const KNOWN_COLUMNS: &str =
    "rel_path, documents.id, size, mtime_ns, ctime_ns, inode, status, sha256, chunker_sig";

/// The path of a document and the recorded data of its file, from [`KNOWN_COLUMNS`].
pub(super) fn known_document(row: &Row<'_>) -> rusqlite::Result<(String, KnownDocument)> {
    let known = KnownDocument {
        id: row.get(1)?,
        stamp: FileStamp {
            size: row.get::<_, i64>(2)? as u64,
            mtime_ns: row.get(3)?,
            ctime_ns: row.get(4)?,
            inode: row.get::<_, i64>(5)? as u64,
        },
        status: row.get(6)?,
        sha256: row.get(7)?,
        chunker_sig: row.get(8)?,
    };
    Ok((row.get(0)?, known))
}

impl IndexReader {
    /// The recorded data of a source's files, by path; empty if the source was never indexed.
    ///
    /// Errors: `DB_CORRUPT` when a row cannot be read.
    pub fn known_documents(&self, source: &SourceName) -> Result<KnownDocuments> {
        let mut statement = self.conn.prepare(&format!(
            "SELECT {KNOWN_COLUMNS}
             FROM documents JOIN sources ON sources.id = source_id WHERE name = ?1"
        ))?;
        let mut rows = statement.query([source.as_str()])?;
        let mut known = KnownDocuments::default();
        while let Some(row) = rows.next()? {
            let (path, document) = known_document(row).map_err(|_| {
                Failure::new(
                    ErrorCode::DbCorrupt,
                    "the index holds a document that cannot be read",
                )
            })?;
            known.insert(path, document);
        }
        Ok(known)
    }

    /// The number of files that are listed and not indexed, by reason: `3 too_large`. The most
    /// frequent reason comes first.
    pub fn skipped_by_reason(&self) -> Result<Vec<String>> {
        self.texts(
            "SELECT count(*) || ' ' || status FROM documents WHERE status <> 'indexed'
             GROUP BY status ORDER BY count(*) DESC, status",
            &[],
        )
    }

    /// Source and path of at most `limit` indexed documents that are not empty and have no chunks.
    pub fn documents_without_chunks(&self, limit: usize) -> Result<Vec<(String, String)>> {
        let mut statement = self.conn.prepare(
            "SELECT name, rel_path FROM documents JOIN sources ON sources.id = source_id
             WHERE status = 'indexed' AND size > 0
               AND NOT EXISTS (SELECT 1 FROM chunks WHERE document_id = documents.id)
             ORDER BY name, rel_path",
        )?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.take(limit).collect::<rusqlite::Result<_>>()?)
    }

    /// Keys of the chunks that belong to no indexed document, in hexadecimal digits.
    pub fn chunks_without_document(&self) -> Result<Vec<String>> {
        self.texts(
            "SELECT lower(hex(key)) FROM chunks
             WHERE document_id NOT IN (SELECT id FROM documents WHERE status = 'indexed')
             ORDER BY id",
            &[],
        )
    }

    /// Row ids of at most `limit` chunks whose key is missing, damaged or the key of another chunk.
    pub fn chunks_without_own_key(&self, limit: usize) -> Result<Vec<String>> {
        let mut wrong = self.texts(
            "SELECT CAST(id AS TEXT) FROM chunks WHERE key IS NULL OR length(key) <> 16
                OR key IN (SELECT key FROM chunks GROUP BY key HAVING count(*) > 1)",
            &[],
        )?;
        wrong.truncate(limit);
        Ok(wrong)
    }

    /// The indexed documents, as `source:path`, that were cut with another chunking.
    pub fn documents_cut_otherwise(&self, chunker_sig: &str) -> Result<Vec<String>> {
        self.texts(
            "SELECT name || ':' || rel_path FROM documents JOIN sources ON sources.id = source_id
             WHERE status = 'indexed' AND chunker_sig <> ?1 ORDER BY name, rel_path",
            &[chunker_sig],
        )
    }

    /// The single text column of a query.
    fn texts(&self, sql: &str, values: &[&str]) -> Result<Vec<String>> {
        let mut statement = self.conn.prepare(sql)?;
        let rows = statement.query_map(rusqlite::params_from_iter(values), |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}
