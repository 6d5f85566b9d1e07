//! Reads `index.sqlite`: all rows of one answer come from one read transaction.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::BuildHasher;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::disks;
use super::error::Result;
use super::row_ids::json_list;
use super::{Database, open_read};
use crate::ids::{ChunkId, DocumentId, IdSet};
use local_agent_files::sandbox::Disks;
use local_agent_text::error::{ErrorCode, Failure};
use local_agent_text::types::{
    ByteSpan, ChunkKey, CommitId, HeadingPath, LineSpan, RelPath, Sha256, SourceName,
};

/// The chunks of some documents, in file order.
const CHUNKS_BY_DOCUMENT: &str = "SELECT document_id, id FROM chunks
     WHERE document_id IN (SELECT value FROM json_each(?1))
     ORDER BY document_id, ordinal";

/// A view of the index at one moment. Later writes are not seen until it is opened again.
#[derive(Debug)]
pub struct IndexReader {
    pub(super) conn: Connection,
}

/// Totals of the index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Documents with status `indexed`.
    pub documents: u64,
    /// Files listed with a reason for not being indexed.
    pub skipped: u64,
    /// Number of chunks.
    pub chunks: u64,
}

/// The identity of one chunk and of its embedding input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkRef {
    /// Row id.
    pub id: ChunkId,
    /// Chunk key.
    pub key: ChunkKey,
    /// Hash of its embedding input.
    pub input_sha256: Sha256,
    /// Number of tokens for the embedding model.
    pub tokens: usize,
}

/// One chunk with everything needed to show it.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkRecord {
    /// Row id.
    pub id: ChunkId,
    /// Chunk key.
    pub key: ChunkKey,
    /// Row id of its document.
    pub document_id: DocumentId,
    /// Position among the document's chunks, from 0.
    pub ordinal: u32,
    /// Source of the document.
    pub source: SourceName,
    /// The source's kind.
    pub source_kind: String,
    /// Path below the source's root.
    pub path: RelPath,
    /// Title of the document.
    pub title: String,
    /// Headings above the chunk.
    pub heading: HeadingPath,
    /// Position in the file.
    pub span: ByteSpan,
    /// Lines of the file.
    pub lines: LineSpan,
    /// Bit set of block kinds.
    pub kinds: u32,
    /// Number of tokens for the embedding model.
    pub tokens: usize,
    /// Verbatim bytes.
    pub text: String,
    /// Their hash.
    pub text_sha256: Sha256,
    /// Hash of the whole file when it was indexed.
    pub file_sha256: Sha256,
    /// Frontmatter: present, parsed, error, typed.
    pub yaml: (bool, Option<bool>, Option<String>, Option<bool>),
}

/// One source, as of its last indexing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRecord {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub root: PathBuf,
    /// Its kind.
    pub kind: String,
    /// Documents with status `indexed`.
    pub documents: u64,
    /// Start of the last complete scan, nanoseconds since 1970; 0 = never.
    pub scanned_ns: i64,
}

/// One document, as needed for lexical search.
#[derive(Debug, Clone)]
pub struct LexicalSource {
    /// Row id.
    pub id: DocumentId,
    /// Path below the source's root.
    pub path: String,
    /// Title.
    pub title: String,
    /// Frontmatter aliases.
    pub aliases: Vec<String>,
    /// Tags without `#`.
    pub tags: Vec<String>,
    /// The texts of links to this document.
    pub anchors: Vec<String>,
    /// The frontmatter as a JSON object.
    pub frontmatter_json: String,
    /// (row id, key, headings for display, text), in file order.
    pub chunks: Vec<(ChunkId, ChunkKey, String, String)>,
}

fn corrupt(what: &str) -> Failure {
    Failure::new(
        ErrorCode::DbCorrupt,
        format!("the index holds a {what} that cannot be read"),
    )
    .with_command("local-agent index --rebuild")
}

impl IndexReader {
    /// Opens the database at `path` and begins the read transaction. `None` if nothing was ever
    /// indexed.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        let begin = || -> Result<Option<Self>> {
            let Some(conn) = open_read(path, Database::Index)? else {
                return Ok(None);
            };
            conn.execute_batch("BEGIN")?;
            let reader = Self { conn };
            // The first read fixes the snapshot for all later reads.
            Ok(reader.commit_id()?.map(|_| reader))
        };
        begin().map_err(|error| Database::Index.blame(error).into())
    }

    /// Like [`Self::open`], but a missing index is the failure `INDEX_MISSING`.
    pub fn required(path: &Path) -> Result<Self> {
        Self::open(path)?.ok_or_else(|| {
            Failure::new(
                ErrorCode::IndexMissing,
                format!("there is no index at {}", path.display()),
            )
            .with_command("local-agent index")
            .into()
        })
    }

    /// Ends the read transaction. Until [`Self::begin_again`], every read would see a different
    /// snapshot.
    pub fn end(&self) -> Result<()> {
        Ok(self.conn.execute_batch("COMMIT")?)
    }

    /// Begins a new read transaction and returns the newest commit that it sees.
    pub fn begin_again(&self) -> Result<Option<CommitId>> {
        self.conn.execute_batch("BEGIN")?;
        self.commit_id()
    }

    /// The newest commit; `None` if nothing was published yet.
    pub fn commit_id(&self) -> Result<Option<CommitId>> {
        let newest = "SELECT commit_id FROM commits ORDER BY gen DESC LIMIT 1";
        let id: Option<[u8; 16]> = self
            .conn
            .query_row(newest, [], |row| row.get(0))
            .optional()?;
        Ok(id.map(CommitId::from_bytes))
    }

    /// The generation that `commit` published, if it is still recorded.
    pub fn generation_of(&self, commit: &CommitId) -> Result<Option<i64>> {
        let found = self
            .conn
            .query_row(
                "SELECT gen FROM commits WHERE commit_id = ?1",
                [commit.as_bytes()],
                |row| row.get(0),
            )
            .optional()?;
        Ok(found)
    }

    /// A metadata value of the whole index.
    pub fn meta(&self, key: &str) -> Result<Option<String>> {
        Ok(self
            .conn
            .query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| {
                row.get(0)
            })
            .optional()?)
    }

    /// The disks of a source when it was last scanned completely.
    pub fn disks(&self, source: &str) -> Result<Disks> {
        disks::read(&self.conn, source)
    }

    /// Computes the totals.
    pub fn totals(&self) -> Result<Totals> {
        Ok(Totals {
            documents: self
                .count_rows("SELECT count(*) FROM documents WHERE status = 'indexed'")?,
            skipped: self.count_rows("SELECT count(*) FROM documents WHERE status <> 'indexed'")?,
            chunks: self.chunk_count()?,
        })
    }

    /// The number that a query without parameters returns.
    fn count_rows(&self, sql: &str) -> Result<u64> {
        Ok(self.conn.query_row(sql, [], |row| row.get::<_, i64>(0))? as u64)
    }

    /// The number of chunks.
    pub fn chunk_count(&self) -> Result<u64> {
        Ok(self
            .conn
            .query_row("SELECT count(*) FROM chunks", [], |row| {
                row.get::<_, i64>(0)
            })? as u64)
    }

    /// Sources as of their last indexing, by name.
    pub fn sources(&self) -> Result<Vec<SourceRecord>> {
        let mut statement = self.conn.prepare(
            "SELECT name, root, kind, (SELECT count(*) FROM documents WHERE source_id = sources.id AND status = 'indexed'),
                 scanned_ns
             FROM sources ORDER BY name",
        )?;
        let rows = statement.query_map([], |row| {
            let root: String = row.get(1)?;
            Ok(SourceRecord {
                name: row.get(0)?,
                root: PathBuf::from(root),
                kind: row.get(2)?,
                documents: row.get::<_, i64>(3)? as u64,
                scanned_ns: row.get(4)?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The names of all sources that the index has, in order.
    pub fn source_names(&self) -> Result<Vec<String>> {
        let mut statement = self
            .conn
            .prepare("SELECT name FROM sources ORDER BY name")?;
        let rows = statement.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Start time of the last complete scan of a source, nanoseconds since 1970; 0: never.
    pub fn last_scan(&self, source: &SourceName) -> Result<i64> {
        let found = self
            .conn
            .query_row(
                "SELECT scanned_ns FROM sources WHERE name = ?1",
                [source.as_str()],
                |row| row.get(0),
            )
            .optional()?;
        Ok(found.unwrap_or(0))
    }

    /// Files listed with a reason, as (source, path, reason).
    pub fn skipped(&self, limit: usize) -> Result<Vec<(String, String, String)>> {
        let mut statement = self.conn.prepare(
            "SELECT name, rel_path, status FROM documents JOIN sources ON sources.id = source_id
             WHERE status <> 'indexed' ORDER BY name, rel_path LIMIT ?1",
        )?;
        let rows = statement.query_map([limit as i64], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The chunks with these row ids, in that order; ids without a row are left out.
    pub fn chunks(&self, ids: &[ChunkId]) -> Result<Vec<ChunkRecord>> {
        let mut records = Vec::with_capacity(ids.len());
        for &id in ids {
            records.extend(self.one("chunks.id = ?1", params![id])?);
        }
        Ok(records)
    }

    /// The chunk with the given key.
    pub fn chunk_by_key(&self, key: &ChunkKey) -> Result<Option<ChunkRecord>> {
        self.one("chunks.key = ?1", params![key.as_bytes()])
    }

    /// The chunks whose text has one of these hashes; takes one table scan, or none without hashes.
    pub fn chunks_with_text(&self, hashes: &HashSet<Sha256>) -> Result<Vec<ChunkRecord>> {
        if hashes.is_empty() {
            return Ok(Vec::new());
        }
        let mut statement = self
            .conn
            .prepare("SELECT id, text_sha256 FROM chunks ORDER BY id")?;
        let mut rows = statement.query([])?;
        let mut ids = Vec::new();
        while let Some(row) = rows.next()? {
            if hashes.contains(&Sha256::from_bytes(row.get(1)?)) {
                ids.push(row.get(0)?);
            }
        }
        self.chunks(&ids)
    }

    /// The chunks of a document under exactly these headings, in file order.
    pub fn chunks_under(&self, document_id: DocumentId, heading: &str) -> Result<Vec<ChunkRecord>> {
        let sql = "SELECT id FROM chunks WHERE document_id = ?1 AND heading = ?2 ORDER BY ordinal";
        let mut statement = self.conn.prepare(sql)?;
        let ids = statement
            .query_map(params![document_id, heading], |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<ChunkId>>>()?;
        self.chunks(&ids)
    }

    /// The chunk at `ordinal` of a document.
    pub fn chunk_at(&self, document_id: DocumentId, ordinal: u32) -> Result<Option<ChunkRecord>> {
        self.one(
            "chunks.document_id = ?1 AND ordinal = ?2",
            params![document_id, ordinal],
        )
    }

    fn one(&self, filter: &str, params: impl rusqlite::Params) -> Result<Option<ChunkRecord>> {
        let sql = format!(
            "SELECT chunks.id, key, document_id, ordinal, name, kind, rel_path, title, heading, start_byte, end_byte,
                 first_line, last_line, kinds, tokens, text, text_sha256, sha256, yaml_present, yaml_parse_ok,
                 yaml_error, required_keys_present
             FROM chunks JOIN documents ON documents.id = document_id JOIN sources ON sources.id = source_id
             WHERE {filter}"
        );
        let mut statement = self.conn.prepare_cached(&sql)?;
        let mut rows = statement.query(params)?;
        rows.next()?.map(record).transpose()
    }

    /// Row ids of the chunks of these documents.
    pub fn chunks_of(&self, documents: &IdSet<DocumentId>) -> Result<IdSet<ChunkId>> {
        let mut statement = self.conn.prepare("SELECT id, document_id FROM chunks")?;
        let rows = statement.query_map([], |row| {
            Ok((row.get::<_, ChunkId>(0)?, row.get::<_, DocumentId>(1)?))
        })?;
        let mut set = IdSet::default();
        for row in rows {
            let (id, document) = row?;
            if documents.contains(document) {
                set.insert(id);
            }
        }
        Ok(set)
    }

    /// Chunk → its document, for those of these chunks that exist.
    pub fn documents_of<S: BuildHasher + Default>(
        &self,
        chunks: &[ChunkId],
    ) -> Result<HashMap<ChunkId, DocumentId, S>> {
        let sql = "SELECT id, document_id FROM chunks
             WHERE id IN (SELECT value FROM json_each(?1))";
        let mut statement = self.conn.prepare_cached(sql)?;
        let rows =
            statement.query_map([json_list(chunks)], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// All chunks of these documents, by row ids: document, then chunk. Ordered by document, and in
    /// file order.
    pub fn chunks_by_document(
        &self,
        documents: &[DocumentId],
    ) -> Result<Vec<(DocumentId, ChunkId)>> {
        let mut statement = self.conn.prepare_cached(CHUNKS_BY_DOCUMENT)?;
        let rows =
            statement.query_map([json_list(documents)], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The texts of at most `most` chunks, chosen by their keys, which are hashes.
    pub fn sample_texts(&self, most: usize) -> Result<Vec<String>> {
        let mut statement = self
            .conn
            .prepare("SELECT text FROM chunks ORDER BY key LIMIT ?1")?;
        let rows = statement.query_map([most as i64], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Text and number of tokens of the chunks with these row ids.
    pub fn texts_and_tokens(&self, chunks: &[ChunkId]) -> Result<Vec<(String, usize)>> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT text, tokens FROM chunks WHERE id = ?1")?;
        let mut found = Vec::with_capacity(chunks.len());
        for id in chunks {
            let row = statement.query_row([id], |row| {
                Ok((row.get(0)?, row.get::<_, i64>(1)?.max(0) as usize))
            });
            found.extend(row.optional()?);
        }
        Ok(found)
    }

    /// Row ids of all chunks.
    pub fn all_chunk_ids(&self) -> Result<IdSet<ChunkId>> {
        let mut statement = self.conn.prepare("SELECT id FROM chunks")?;
        let rows = statement.query_map([], |row| row.get::<_, ChunkId>(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Frontmatter keys that occur in the index.
    pub fn frontmatter_keys(&self) -> Result<BTreeSet<String>> {
        let mut statement = self.conn.prepare(
            "SELECT DISTINCT key FROM documents, json_each(frontmatter_json)
             WHERE yaml_parse_ok IS NOT 0 ORDER BY 1",
        )?;
        let rows = statement.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Passes the identity of every chunk to `take`, by row id.
    pub fn each_chunk(&self, mut take: impl FnMut(ChunkRef) -> Result<()>) -> Result<()> {
        let mut statement = self
            .conn
            .prepare("SELECT id, key, input_sha256, tokens FROM chunks ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            take(ChunkRef {
                id: row.get(0)?,
                key: ChunkKey::from_bytes(row.get(1)?),
                input_sha256: Sha256::from_bytes(row.get(2)?),
                tokens: row.get::<_, i64>(3)?.max(0) as usize,
            })?;
        }
        Ok(())
    }

    /// Heading path and text of one chunk: its embedding input.
    pub fn embedding_text(&self, id: ChunkId) -> Result<Option<(HeadingPath, String)>> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT heading, text FROM chunks WHERE id = ?1")?;
        let found: Option<(String, String)> = statement
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        found
            .map(|(heading, text)| {
                HeadingPath::from_canonical(&heading)
                    .map(|h| (h, text))
                    .map_err(|_| corrupt("heading path").into())
            })
            .transpose()
    }

    /// Passes the embedding input of every chunk to the callback, with its recorded hash.
    pub fn each_text(
        &self,
        mut take: impl FnMut(ChunkId, &HeadingPath, &str, Sha256) -> Result<()>,
    ) -> Result<()> {
        let mut statement = self
            .conn
            .prepare("SELECT id, heading, text, input_sha256 FROM chunks ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let heading = HeadingPath::from_canonical(&row.get::<_, String>(1)?)
                .map_err(|_| corrupt("heading path"))?;
            take(
                row.get(0)?,
                &heading,
                &row.get::<_, String>(2)?,
                Sha256::from_bytes(row.get(3)?),
            )?;
        }
        Ok(())
    }

    /// Row ids of documents whose lexical entry changed after `generation`, and of documents
    /// removed after it.
    pub fn lexical_changes(&self, generation: i64) -> Result<(Vec<DocumentId>, Vec<DocumentId>)> {
        Ok((
            self.document_ids_after(
                generation,
                "SELECT id FROM documents WHERE lexical_gen > ?1 ORDER BY id",
            )?,
            self.document_ids_after(generation, "SELECT document_id FROM removed WHERE gen > ?1")?,
        ))
    }

    /// The document ids that a query returns for a generation.
    fn document_ids_after(&self, generation: i64, sql: &str) -> Result<Vec<DocumentId>> {
        let mut statement = self.conn.prepare(sql)?;
        let rows = statement.query_map([generation], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// One document, as needed for lexical search; `None` when it is skipped or gone.
    pub fn lexical_source(&self, id: DocumentId) -> Result<Option<LexicalSource>> {
        let found: Option<(String, String, String, String, String)> = self
            .conn
            .prepare_cached(
                "SELECT rel_path, title, aliases_json, stem_key, frontmatter_json FROM documents
                 WHERE id = ?1 AND status = 'indexed'",
            )?
            .query_row([id], |row| {
                Ok((
                    row.get(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                    row.get(4)?,
                ))
            })
            .optional()?;
        let Some((path, title, aliases, stem_key, frontmatter_json)) = found else {
            return Ok(None);
        };
        let aliases = serde_json::from_str(&aliases).map_err(|_| corrupt("list of aliases"))?;
        let tags = self
            .conn
            .prepare_cached("SELECT tag FROM tags WHERE document_id = ?1")?
            .query_map([id], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let anchors = self
            .conn
            .prepare_cached(
                "SELECT DISTINCT text FROM links WHERE target_key = ?1 AND text <> '' ORDER BY text LIMIT 50",
            )?
            .query_map([stem_key], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let mut statement = self.conn.prepare_cached(
            "SELECT id, key, heading, text FROM chunks WHERE document_id = ?1 ORDER BY ordinal",
        )?;
        let mut rows = statement.query([id])?;
        let mut chunks = Vec::new();
        while let Some(row) = rows.next()? {
            let heading = HeadingPath::from_canonical(&row.get::<_, String>(2)?)
                .map_err(|_| corrupt("heading path"))?;
            let titles: Vec<&str> = heading
                .headings()
                .iter()
                .map(|h| h.title.as_str())
                .collect();
            chunks.push((
                row.get(0)?,
                ChunkKey::from_bytes(row.get(1)?),
                titles.join("\n"),
                row.get(3)?,
            ));
        }
        Ok(Some(LexicalSource {
            id,
            path,
            title,
            aliases,
            tags,
            anchors,
            frontmatter_json,
            chunks,
        }))
    }

    /// The hash of a document when it was indexed, with its row id; `None` if it is not in the
    /// index.
    pub fn document(
        &self,
        source: &SourceName,
        path: &RelPath,
    ) -> Result<Option<(DocumentId, Option<Sha256>)>> {
        let found = self
            .conn
            .prepare_cached(
                "SELECT documents.id, sha256 FROM documents JOIN sources ON sources.id = source_id
                 WHERE name = ?1 AND rel_path = ?2",
            )?
            .query_row([source.as_str(), path.as_str()], |row| {
                Ok((row.get(0)?, row.get::<_, Option<[u8; 32]>>(1)?))
            })
            .optional()?;
        Ok(found.map(|(id, sha)| (id, sha.map(Sha256::from_bytes))))
    }
}

fn record(row: &Row<'_>) -> Result<ChunkRecord> {
    let (body, text_sha256) = (text_in(row, 15)?, Sha256::from_bytes(row.get(16)?));
    // SQLite stores no checksums. A text that differs from the stored hash is never shown.
    if Sha256::of(body.as_bytes()) != text_sha256 {
        return Err(corrupt("chunk").into());
    }
    Ok(ChunkRecord {
        id: row.get(0)?,
        key: ChunkKey::from_bytes(row.get(1)?),
        document_id: row.get(2)?,
        ordinal: row.get(3)?,
        source: SourceName::new(text_in(row, 4)?).map_err(|_| corrupt("source name"))?,
        source_kind: text_in(row, 5)?,
        path: RelPath::new(text_in(row, 6)?).map_err(|_| corrupt("path"))?,
        title: text_in(row, 7)?,
        heading: HeadingPath::from_canonical(&text_in(row, 8)?)
            .map_err(|_| corrupt("heading path"))?,
        span: ByteSpan::new(number_in(row, 9)?, number_in(row, 10)?)
            .ok_or_else(|| corrupt("byte span"))?,
        lines: LineSpan::new(row.get(11)?, row.get(12)?).ok_or_else(|| corrupt("line span"))?,
        kinds: row.get(13)?,
        tokens: number_in(row, 14)?,
        text: body,
        text_sha256,
        file_sha256: Sha256::from_bytes(row.get(17)?),
        yaml: (row.get(18)?, row.get(19)?, row.get(20)?, row.get(21)?),
    })
}

/// The text in a column.
fn text_in(row: &Row<'_>, column: usize) -> Result<String> {
    Ok(row.get(column)?)
}

/// The number in a column; a negative one is 0.
fn number_in(row: &Row<'_>, column: usize) -> Result<usize> {
    Ok(row.get::<_, i64>(column)?.max(0) as usize)
}

/// The first text that differs from its hash; `None` if all are intact.
pub(super) fn damage(conn: &Connection) -> Result<Option<String>> {
    let mut statement = conn.prepare("SELECT id, text, text_sha256, heading FROM chunks")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, text, sha256): (ChunkId, String, [u8; 32]) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        if Sha256::of(text.as_bytes()) != Sha256::from_bytes(sha256) {
            return Ok(Some(format!(
                "the text of chunk {id} is not what was written"
            )));
        }
        if HeadingPath::from_canonical(&row.get::<_, String>(3)?).is_err() {
            return Ok(Some(format!("the heading of chunk {id} cannot be read")));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::RowId as _;

    fn reader() -> IndexReader {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(&Database::Index.schema()).unwrap();
        IndexReader { conn }
    }

    #[test]
    fn the_chunks_of_documents_stand_in_file_order_whatever_was_written_first() {
        let reader = reader();
        let chunks = [(1, 7, 1), (2, 7, 0), (3, 5, 2), (4, 5, 0), (5, 5, 1)];
        reader
            .conn
            .execute_batch("PRAGMA foreign_keys = OFF")
            .unwrap();
        for (id, document, ordinal) in chunks {
            let sql = "INSERT INTO chunks VALUES
                (?1, ?2, ?3, unhex(printf('%032x', ?1)), 0, 0, 0, 0, '', 0, 0, '',
                 zeroblob(32), zeroblob(32), 0)";
            let values = params![id, document, ordinal];
            reader.conn.execute(sql, values).unwrap();
        }
        let documents = [7, 5].map(DocumentId::from_row);
        let found = reader.chunks_by_document(&documents).unwrap();
        let rows: Vec<(i64, i64)> = found
            .iter()
            .map(|(document, chunk)| (document.row(), chunk.row()))
            .collect();
        assert_eq!(rows, [(5, 4), (5, 5), (5, 3), (7, 2), (7, 1)]);
    }

    #[test]
    fn the_chunks_of_documents_are_read_from_an_index() {
        let reader = reader();
        let plan: Vec<String> = reader
            .conn
            .prepare(&format!("EXPLAIN QUERY PLAN {CHUNKS_BY_DOCUMENT}"))
            .unwrap()
            .query_map(["[1]"], |row| row.get(3))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        let plan = plan.join("\n");
        assert!(
            plan.contains("chunks USING COVERING INDEX chunks_document"),
            "{plan}"
        );
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    }
}
