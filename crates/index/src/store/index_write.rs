//! Writes `index.sqlite`: one publishing transaction per batch.
//!
//! Chunks with an unchanged key keep their row, so their vectors stay valid. Changes for lexical
//! search are recorded by generation, so a projection that missed a run catches up incrementally.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use foldhash::fast::RandomState;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use super::disks;
use super::error::Result;
use super::index_checks::{KNOWN_COLUMNS, known_document};
use super::record::{ChunkRow, DocumentRow, LinkRow};
use super::{Database, checkpoint, new_commit_id, open_write};
use crate::ids::{ChunkId, DocumentId, RowId as _, SourceId};
use local_agent_files::sandbox::Disks;
use local_agent_text::types::{CommitId, FileStamp, Sha256, SourceName};

/// Number of commits by which a projection may be behind and still catch up incrementally.
const KEPT_COMMITS: i64 = 10_000;

/// Number of pages in the write-ahead log (128 MiB) before a commit writes them into the database.
/// Every batch of a first index changes the same inner pages of the same trees, so a checkpoint
/// after each batch would write them repeatedly.
const CHECKPOINT_PAGES: i64 = 32_768;

/// The only writer of `index.sqlite`. The caller holds `index.lock`.
#[derive(Debug)]
pub struct IndexWriter {
    conn: Connection,
    /// Complete scans that are not written yet: source, its row id, start time, disks.
    scans: Vec<(SourceName, SourceId, i64, Disks)>,
}

/// The index's data on one file before a run.
#[derive(Debug, Clone)]
pub struct KnownDocument {
    /// Row id.
    pub id: DocumentId,
    /// What the file system reported when the file was last checked.
    pub stamp: FileStamp,
    /// `indexed` or the reason for skipping.
    pub status: String,
    /// Hash of the bytes, when they were read.
    pub sha256: Option<[u8; 32]>,
    /// The chunking that made its chunks.
    pub chunker_sig: String,
}

/// The index's data on the files of one source, by path.
pub type KnownDocuments = HashMap<String, KnownDocument, RandomState>;

/// The targets of changed links.
type Targets = HashSet<String, RandomState>;

/// The changes of one publishing transaction.
#[derive(Debug, Default)]
pub struct Batch {
    /// New and changed files.
    pub documents: Vec<DocumentRow>,
    /// Files with the same bytes but a changed stamp: row id and new stamp. Does not cause a
    /// publication by itself.
    pub restamped: Vec<(DocumentId, FileStamp)>,
    /// Removed files: row ids.
    pub removed: Vec<DocumentId>,
}

/// The result of a publishing transaction.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// Number of chunks added.
    pub chunks_added: usize,
    /// Number of chunks deleted.
    pub chunks_removed: usize,
}

impl IndexWriter {
    /// Opens or creates the database at `path`.
    pub fn open(path: &Path) -> Result<Self> {
        let conn = open_write(path, Database::Index)?;
        conn.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        Ok(Self {
            conn,
            scans: Vec::new(),
        })
    }

    /// The row ids of sources (name, root, kind), created or updated in one transaction.
    pub fn sources(&mut self, sources: &[(&SourceName, &str, &str)]) -> Result<Vec<SourceId>> {
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let ids = sources
            .iter()
            .map(|(name, root, kind)| source(&tx, name, root, kind))
            .collect::<Result<_>>()?;
        tx.commit()?;
        Ok(ids)
    }

    /// Start time of the last complete scan of a source, nanoseconds since 1970; 0 = never.
    pub fn last_scan(&self, source_id: SourceId) -> Result<i64> {
        Ok(self.conn.query_row(
            "SELECT scanned_ns FROM sources WHERE id = ?1",
            [source_id],
            |row| row.get(0),
        )?)
    }

    /// Records that a scan started at `began_ns` saw the whole source, on these disks. See
    /// [`Self::remember_scans`].
    pub fn scanned(
        &mut self,
        source: &SourceName,
        source_id: SourceId,
        began_ns: i64,
        disks: Disks,
    ) {
        self.scans
            .push((source.clone(), source_id, began_ns, disks));
    }

    /// Writes the recorded scans in one transaction, because separate ones would each wait for the
    /// disk.
    pub fn remember_scans(&mut self) -> Result<()> {
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (source, id, began_ns, disks) in self.scans.drain(..) {
            tx.prepare_cached("UPDATE sources SET scanned_ns = ?2 WHERE id = ?1")?
                .execute(params![id, began_ns])?;
            let mounted = disks::mounted_value(&disks);
            set_meta(&tx, &disks::mounted_key(source.as_str()), &mounted)?;
            let Some(device) = disks.root else { continue };
            let key = disks::device_key(source.as_str());
            set_meta(&tx, &key, &device.to_string())?;
        }
        Ok(tx.commit()?)
    }

    /// The disks of a source when it was last scanned completely.
    pub fn disks(&self, source: &SourceName) -> Result<Disks> {
        disks::read(&self.conn, source.as_str())
    }

    /// The recorded data of a source's files, by path.
    pub fn known(&self, source_id: SourceId) -> Result<KnownDocuments> {
        let mut statement = self.conn.prepare(&format!(
            "SELECT {KNOWN_COLUMNS} FROM documents WHERE source_id = ?1"
        ))?;
        let rows = statement.query_map([source_id], known_document)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Row ids of all documents whose source is not in `names`: sources removed from the
    /// configuration.
    pub fn of_other_sources(&self, names: &[SourceName]) -> Result<Vec<DocumentId>> {
        let known: HashSet<&str> = names.iter().map(SourceName::as_str).collect();
        let mut statement = self
            .conn
            .prepare("SELECT documents.id, sources.name FROM documents JOIN sources ON sources.id = source_id")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
        let mut ids = Vec::new();
        for row in rows {
            let (id, name) = row?;
            if !known.contains(name.as_str()) {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// Removes sources without documents that are not in `names`.
    pub fn drop_empty_sources(&self, names: &[SourceName]) -> Result<()> {
        let listed = serde_json::json!(names).to_string();
        self.conn.execute(
            "DELETE FROM sources WHERE name NOT IN (SELECT value FROM json_each(?1))
             AND id NOT IN (SELECT source_id FROM documents)",
            [&listed],
        )?;
        self.conn.execute(
            "DELETE FROM meta WHERE (key LIKE 'device:%' OR key LIKE 'mounts:%')
             AND substr(key, 8) NOT IN (SELECT value FROM json_each(?1))",
            [&listed],
        )?;
        Ok(())
    }

    /// The newest commit, if anything was ever published.
    pub fn commit_id(&self) -> Result<Option<CommitId>> {
        let newest = "SELECT commit_id FROM commits ORDER BY gen DESC LIMIT 1";
        let id: Option<[u8; 16]> = self
            .conn
            .query_row(newest, [], |row| row.get(0))
            .optional()?;
        Ok(id.map(CommitId::from_bytes))
    }

    /// Records `sig` as the chunking of the index if no document uses another one. So a partial run
    /// never marks the whole index as current.
    pub fn settle_chunker_sig(&self, sig: &str) -> Result<()> {
        self.conn.execute(
            "INSERT OR REPLACE INTO meta (key, value) SELECT 'chunker_sig', ?1
             WHERE NOT EXISTS (SELECT 1 FROM documents WHERE status = 'indexed' AND chunker_sig <> ?1)
               AND ?1 IS NOT (SELECT value FROM meta WHERE key = 'chunker_sig')",
            [sig],
        )?;
        Ok(())
    }

    /// Publishes an empty index if nothing was ever published, because a vault without notes has an
    /// index too.
    pub fn publish_at_least_once(&mut self) -> Result<()> {
        if self.commit_id()?.is_some() {
            return Ok(());
        }
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        next_generation(&tx)?;
        Ok(tx.commit()?)
    }

    /// Writes `batch` in one transaction with a new commit id.
    pub fn publish(&mut self, batch: &Batch) -> Result<Published> {
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (id, stamp) in &batch.restamped {
            restamp(&tx, *id, stamp)?;
        }
        let mut published = Published::default();
        if !batch.documents.is_empty() || !batch.removed.is_empty() {
            let generation = next_generation(&tx)?;
            let mut moved = Targets::default();
            for &id in &batch.removed {
                published.chunks_removed += remove(&tx, id, generation, &mut moved)?;
            }
            for document in &batch.documents {
                let one = write(&tx, document, generation, &mut moved)?;
                published.chunks_added += one.chunks_added;
                published.chunks_removed += one.chunks_removed;
            }
            touch_targets(&tx, moved, generation)?;
        }
        tx.commit()?;
        Ok(published)
    }

    /// Copies the write-ahead log into the database file while others read, and frees memory. Call
    /// it after all writing.
    pub fn fold(&mut self) -> Result<()> {
        self.conn
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        Ok(self.conn.execute_batch("PRAGMA shrink_memory")?)
    }

    /// Writes the write-ahead log into the database file, so that it does not grow without limit.
    pub fn checkpoint(&self) -> Result<()> {
        checkpoint(&self.conn)
    }
}

/// The row id of one source, created or updated.
fn source(tx: &Transaction<'_>, name: &SourceName, root: &str, kind: &str) -> Result<SourceId> {
    let known: Option<(SourceId, String, String)> = tx
        .query_row(
            "SELECT id, root, kind FROM sources WHERE name = ?1",
            [name.as_str()],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .optional()?;
    match known {
        Some((id, ref old_root, ref old_kind)) if old_root == root && old_kind == kind => Ok(id),
        Some((id, ..)) => {
            tx.execute(
                "UPDATE sources SET root = ?2, kind = ?3 WHERE id = ?1",
                params![id, root, kind],
            )?;
            Ok(id)
        }
        None => {
            tx.execute(
                "INSERT INTO sources (name, root, kind) VALUES (?1, ?2, ?3)",
                params![name.as_str(), root, kind],
            )?;
            Ok(SourceId::from_row(tx.last_insert_rowid()))
        }
    }
}

/// Sets a metadata value; an equal one is not written again.
fn set_meta(tx: &Transaction<'_>, key: &str, value: &str) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO meta (key, value) VALUES (?1, ?2)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE value <> excluded.value",
    )?
    .execute(params![key, value])?;
    Ok(())
}

fn next_generation(tx: &Transaction<'_>) -> Result<i64> {
    let id = new_commit_id()?;
    tx.execute(
        "INSERT INTO commits (commit_id) VALUES (?1)",
        [id.as_bytes()],
    )?;
    let generation = tx.last_insert_rowid();
    tx.execute(
        "DELETE FROM commits WHERE gen <= ?1",
        [generation - KEPT_COMMITS],
    )?;
    tx.execute(
        "DELETE FROM removed WHERE gen <= ?1",
        [generation - KEPT_COMMITS],
    )?;
    Ok(generation)
}

fn restamp(tx: &Transaction<'_>, id: DocumentId, stamp: &FileStamp) -> Result<()> {
    tx.prepare_cached(
        "UPDATE documents SET size = ?2, mtime_ns = ?3, ctime_ns = ?4, inode = ?5 WHERE id = ?1",
    )?
    .execute(params![
        id,
        stamp.size as i64,
        stamp.mtime_ns,
        stamp.ctime_ns,
        stamp.inode as i64
    ])?;
    Ok(())
}

/// Deletes one document with all its dependent rows; returns the number of deleted chunks. The
/// targets of its links are added to `moved`.
fn remove(
    tx: &Transaction<'_>,
    id: DocumentId,
    generation: i64,
    moved: &mut Targets,
) -> Result<usize> {
    moved.extend(link_set(tx, id)?.into_iter().map(|(target, _)| target));
    let chunks = tx
        .prepare_cached("DELETE FROM chunks WHERE document_id = ?1")?
        .execute([id])?;
    tx.prepare_cached("DELETE FROM documents WHERE id = ?1")?
        .execute([id])?;
    tx.prepare_cached("INSERT INTO removed (gen, document_id) VALUES (?1, ?2)")?
        .execute((generation, id))?;
    Ok(chunks)
}

/// Writes one document. For a new one, no old rows have to be searched or removed. The targets of
/// changed links are added to `moved`.
fn write(
    tx: &Transaction<'_>,
    document: &DocumentRow,
    generation: i64,
    moved: &mut Targets,
) -> Result<Published> {
    let (id, is_new) = put_document(tx, document, generation)?;
    if is_new {
        moved.extend(document.links.iter().map(|link| link.target_key.clone()));
    } else {
        let before = link_set(tx, id)?;
        tx.prepare_cached("DELETE FROM links WHERE document_id = ?1")?
            .execute([id])?;
        tx.prepare_cached("DELETE FROM tags WHERE document_id = ?1")?
            .execute([id])?;
        let after: HashSet<(String, String)> = document
            .links
            .iter()
            .map(|link| (link.target_key.clone(), link.text.clone()))
            .collect();
        moved.extend(
            before
                .symmetric_difference(&after)
                .map(|(target, _)| target.clone()),
        );
    }
    add_links_and_tags(tx, id, document)?;
    let old = if is_new {
        HashMap::new()
    } else {
        chunk_ids(tx, id)?
    };
    replace_chunks(tx, id, &document.chunks, old, generation)
}

/// Writes the row of a document; returns its id and whether it is new.
fn put_document(
    tx: &Transaction<'_>,
    document: &DocumentRow,
    generation: i64,
) -> Result<(DocumentId, bool)> {
    // Without `RETURNING`: SQLite treats it like a trigger, and a statement with a trigger copies
    // every page it touches, so that it can undo the change.
    let known: Option<DocumentId> = tx
        .prepare_cached("SELECT id FROM documents WHERE source_id = ?1 AND rel_path = ?2")?
        .query_row(params![document.source_id, document.path.as_str()], |row| {
            row.get(0)
        })
        .optional()?;
    let status = document.skipped.map_or("indexed", |reason| reason.as_str());
    tx.prepare_cached(
        "INSERT INTO documents (source_id, rel_path, status, size, mtime_ns, ctime_ns, inode, sha256, chunker_sig,
             title, stem_key, yaml_present, yaml_parse_ok, yaml_error, required_keys_present, frontmatter_json,
             aliases_json, note_date, lexical_gen)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)
         ON CONFLICT (source_id, rel_path) DO UPDATE SET status = excluded.status, size = excluded.size,
             mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns, inode = excluded.inode,
             sha256 = excluded.sha256, chunker_sig = excluded.chunker_sig, title = excluded.title,
             yaml_present = excluded.yaml_present, yaml_parse_ok = excluded.yaml_parse_ok,
             yaml_error = excluded.yaml_error, required_keys_present = excluded.required_keys_present,
             frontmatter_json = excluded.frontmatter_json, aliases_json = excluded.aliases_json,
             note_date = excluded.note_date, lexical_gen = excluded.lexical_gen",
    )?
    .execute(params![
        document.source_id,
        document.path.as_str(),
        status,
        document.stamp.size as i64,
        document.stamp.mtime_ns,
        document.stamp.ctime_ns,
        document.stamp.inode as i64,
        document.sha256.as_ref().map(Sha256::as_bytes),
        document.chunker_sig,
        document.title,
        document.stem_key(),
        document.yaml_present,
        document.yaml_parse_ok,
        document.yaml_error,
        document.required_keys_present,
        document.frontmatter_json,
        serde_json::json!(document.aliases).to_string(),
        document.note_date,
        generation,
    ])?;
    Ok(match known {
        Some(id) => (id, false),
        None => (DocumentId::from_row(tx.last_insert_rowid()), true),
    })
}

/// The links of a document: (target key, text).
fn link_set(tx: &Transaction<'_>, id: DocumentId) -> Result<HashSet<(String, String)>> {
    let mut statement =
        tx.prepare_cached("SELECT target_key, text FROM links WHERE document_id = ?1")?;
    let rows = statement.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Anchor text is indexed with the target document, so the targets of changed links must be indexed
/// again.
fn touch_targets(tx: &Transaction<'_>, target_keys: Targets, generation: i64) -> Result<()> {
    let mut statement = tx.prepare_cached(
        "UPDATE documents SET lexical_gen = ?2 WHERE stem_key = ?1 AND lexical_gen <> ?2",
    )?;
    for key in target_keys {
        statement.execute(params![key, generation])?;
    }
    Ok(())
}

fn add_links_and_tags(tx: &Transaction<'_>, id: DocumentId, document: &DocumentRow) -> Result<()> {
    let mut link = tx.prepare_cached(
        "INSERT INTO links (document_id, kind, target, target_key, anchor, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let mut seen: HashSet<&LinkRow, RandomState> = HashSet::default();
    for row in document.links.iter().filter(|row| seen.insert(row)) {
        link.execute(params![
            id,
            row.kind,
            row.target,
            row.target_key,
            row.anchor,
            row.text
        ])?;
    }
    let mut tag = tx.prepare_cached("INSERT INTO tags (document_id, tag) VALUES (?1, ?2)")?;
    for name in &document.tags {
        tag.execute(params![id, name])?;
    }
    Ok(())
}

/// The rows of a document's chunks by key.
fn chunk_ids(tx: &Transaction<'_>, document_id: DocumentId) -> Result<HashMap<[u8; 16], ChunkId>> {
    Ok(tx
        .prepare_cached("SELECT key, id FROM chunks WHERE document_id = ?1")?
        .query_map([document_id], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?)
}

/// Replaces the chunks of a document: an unchanged key keeps its row.
fn replace_chunks(
    tx: &Transaction<'_>,
    id: DocumentId,
    chunks: &[ChunkRow],
    mut old: HashMap<[u8; 16], ChunkId>,
    generation: i64,
) -> Result<Published> {
    let kept: Vec<Option<ChunkId>> = chunks
        .iter()
        .map(|chunk| old.remove(chunk.key.as_bytes()))
        .collect();
    let mut delete = tx.prepare_cached("DELETE FROM chunks WHERE id = ?1")?;
    for gone in old.values() {
        delete.execute([gone])?;
    }
    let mut published = Published {
        chunks_added: 0,
        chunks_removed: old.len(),
    };
    let mut insert = tx.prepare_cached(
        "INSERT INTO chunks (document_id, ordinal, key, start_byte, end_byte, first_line, last_line, heading, kinds,
             tokens, text, text_sha256, input_sha256, added_gen)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    let mut place = tx.prepare_cached(
        "UPDATE chunks SET ordinal = ?2, start_byte = ?3, end_byte = ?4, first_line = ?5, last_line = ?6, kinds = ?7,
             input_sha256 = ?8, tokens = ?9 WHERE id = ?1",
    )?;
    for (ordinal, (chunk, row_id)) in chunks.iter().zip(kept).enumerate() {
        let (start, end) = (chunk.span.start() as i64, chunk.span.end() as i64);
        let (first, last) = (chunk.lines.first(), chunk.lines.last());
        let input = chunk.input_sha256.as_bytes();
        if let Some(row_id) = row_id {
            let tokens = chunk.tokens as i64;
            place.execute(params![
                row_id,
                ordinal as i64,
                start,
                end,
                first,
                last,
                chunk.kinds,
                input,
                tokens
            ])?;
            continue;
        }
        published.chunks_added += 1;
        insert.execute(params![
            id,
            ordinal as i64,
            chunk.key.as_bytes(),
            start,
            end,
            first,
            last,
            chunk.heading,
            chunk.kinds,
            chunk.tokens as i64,
            chunk.text,
            chunk.text_sha256.as_bytes(),
            input,
            generation,
        ])?;
    }
    Ok(published)
}
