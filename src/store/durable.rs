//! `durable.sqlite`: memory with its links to chunks, and the heads of the ledgers of runs.
//!
//! Nothing here can be computed from the files, so nothing but a person's own command removes a row, and no command
//! removes the database.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, MAIN_DB, OptionalExtension, Row, TransactionBehavior, params};

use super::{Database, Found, checkpoint, examine, open_read, open_write, split, with_side_files};
use crate::error::{ErrorCode, Failure, Result};
use crate::state::StateDirectory;
use crate::types::Sha256;

/// A connection to `durable.sqlite`, for reading or for writing. SQLite's own locks keep writers apart.
#[derive(Debug)]
pub struct Durable {
    conn: Connection,
}

impl Drop for Durable {
    /// Empties the write-ahead log. It is never removed, for readers who may not write need it; whatever it holds is
    /// read again by the next process that opens the database, and stays in front of what that one adds.
    fn drop(&mut self) {
        if !self.conn.is_readonly(MAIN_DB).unwrap_or(true) {
            // Nothing is lost when this fails: the log holds it.
            let _ = checkpoint(&self.conn);
        }
    }
}

/// How far a ledger had grown when it was last written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// SHA-256 of the ledger's first line.
    pub ledger: Sha256,
    /// Its lines.
    pub lines: u64,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of its last line.
    pub sha256: Sha256,
}

/// One remembered thing, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRow {
    pub id: String,
    pub kind: String,
    pub content: String,
    pub source: String,
    pub created_at: String,
    pub updated_at: String,
    /// By key.
    pub links: Vec<MemoryLink>,
}

/// A chunk that a memory leans on, as it was when it was linked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryLink {
    /// 32 hexadecimal digits; links of the ancestor may hold anything.
    pub chunk_key: String,
    /// Of the chunk's text; `None`: imported without one.
    pub text_sha256: Option<Sha256>,
    pub source: Option<String>,
    pub path: Option<String>,
    /// Canonical.
    pub heading: Option<String>,
}

impl Durable {
    /// Opens or creates the database for writing; its file is for its owner alone.
    pub fn open_write(path: &Path) -> Result<Self> {
        let conn = open_write(path, Database::Durable).map_err(|failure| Database::Durable.blame(failure))?;
        Ok(Self { conn })
    }

    /// Opens the database for reading; `None`: there is none yet.
    pub fn open_read(path: &Path) -> Result<Option<Self>> {
        let conn = open_read(path, Database::Durable).map_err(|failure| Database::Durable.blame(failure))?;
        Ok(conn.map(|conn| Self { conn }))
    }

    /// The head of the ledger whose first line has this hash.
    pub fn head(&self, ledger: &Sha256) -> Result<Option<Head>> {
        let sql = "SELECT ledger, lines, bytes, sha256 FROM ledger_heads WHERE ledger = ?1";
        Ok(self.conn.query_row(sql, [ledger.as_bytes()], head).optional()?)
    }

    /// A ledger that once stood in this folder of runs.
    pub fn head_of_folder(&self, runs_dir: &Path) -> Result<Option<Head>> {
        let sql = "SELECT ledger, lines, bytes, sha256 FROM ledger_heads WHERE runs_dir = ?1 LIMIT 1";
        Ok(self.conn.query_row(sql, [&*runs_dir.to_string_lossy()], head).optional()?)
    }

    /// Notes how far a ledger has grown. Other ledgers of the same folder are forgotten when `only` is set.
    pub fn set_head(&mut self, runs_dir: &Path, head: &Head, only: bool) -> Result<()> {
        let dir = runs_dir.to_string_lossy();
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if only {
            let sql = "DELETE FROM ledger_heads WHERE runs_dir = ?1 AND ledger <> ?2";
            tx.execute(sql, params![&*dir, head.ledger.as_bytes()])?;
        }
        tx.execute(
            "INSERT INTO ledger_heads (ledger, runs_dir, lines, bytes, sha256) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (ledger) DO UPDATE SET runs_dir = ?2, lines = ?3, bytes = ?4, sha256 = ?5",
            params![head.ledger.as_bytes(), &*dir, head.lines as i64, head.bytes as i64, head.sha256.as_bytes()],
        )?;
        Ok(tx.commit()?)
    }

    /// Adds one memory with its links, or none of it.
    pub fn add(&mut self, row: &MemoryRow) -> Result<()> {
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        insert(&tx, row)?;
        Ok(tx.commit()?)
    }

    /// Every memory, newest first, then by id.
    pub fn all(&self) -> Result<Vec<MemoryRow>> {
        let sql = "SELECT memory_id, type, content, source, created_at, updated_at FROM memory
                   ORDER BY updated_at DESC, memory_id";
        let mut statement = self.conn.prepare(sql)?;
        let rows = statement.query_map([], |row| {
            Ok(MemoryRow {
                id: row.get(0)?,
                kind: row.get(1)?,
                content: row.get(2)?,
                source: row.get(3)?,
                created_at: row.get(4)?,
                updated_at: row.get(5)?,
                links: Vec::new(),
            })
        })?;
        let mut found: Vec<MemoryRow> = rows.collect::<rusqlite::Result<_>>()?;
        // All links at once: one query, however many memories there are.
        let sql = "SELECT memory_id, chunk_key, text_sha256, source, rel_path, heading FROM memory_evidence
                   ORDER BY memory_id, chunk_key";
        let mut statement = self.conn.prepare(sql)?;
        let links = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, link(row)?)))?;
        let mut by_id: std::collections::HashMap<String, Vec<MemoryLink>> = std::collections::HashMap::new();
        for one in links {
            let (id, link) = one?;
            by_id.entry(id).or_default().push(link);
        }
        for row in &mut found {
            row.links = by_id.remove(&row.id).unwrap_or_default();
        }
        Ok(found)
    }

    /// Removes one memory with its links; whether there was one.
    pub fn delete(&mut self, id: &str) -> Result<bool> {
        Ok(self.conn.execute("DELETE FROM memory WHERE memory_id = ?1", [id])? > 0)
    }

    /// Replaces links: (memory, key as it is, the new link; `None`: the link goes). All or none.
    pub fn relink(&mut self, changes: &[(String, String, Option<MemoryLink>)]) -> Result<()> {
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (id, key, new) in changes {
            tx.execute("DELETE FROM memory_evidence WHERE memory_id = ?1 AND chunk_key = ?2", params![id, key])?;
            if let Some(new) = new {
                insert_link(&tx, id, new)?;
            }
        }
        Ok(tx.commit()?)
    }

    /// Brings an ancestor's memory over: its file is copied byte for byte to `*.ancestor-<stamp>`, read into a new
    /// database beside it in one transaction, and that takes its place. Returns the copy and how many were imported.
    ///
    /// `DB_FOREIGN` when the file is no memory of the ancestor's.
    pub fn import_ancestor(path: &Path, stamp: &str) -> Result<(PathBuf, usize)> {
        let found = examine(path, Database::Durable)?;
        if !matches!(found, Found::Foreign(0, 1)) {
            super::refuse_unless_ours(path, Database::Durable, &found)?;
            return Err(Failure::internal("there is no memory of the ancestor to import"));
        }
        let unwritable = |e: std::io::Error| super::unwritable(path, "imported", &e);
        let (folder, name) = split(path)?;
        let folder = StateDirectory::make_configured(folder).map_err(unwritable)?;
        // Read from a copy that may be written: a journal left by a crash is played back there, not in the original.
        let work = tempfile::tempdir_in(folder.path()).map_err(unwritable)?;
        let (copy, made) = (work.path().join("copy.sqlite"), work.path().join("durable.sqlite"));
        for (from, to) in with_side_files(name).iter().zip(with_side_files("copy.sqlite")) {
            if let Some(mut from) = folder.read(from).map_err(unwritable)? {
                let mut to = std::fs::File::create_new(work.path().join(to)).map_err(unwritable)?;
                std::io::copy(&mut from, &mut to).map_err(unwritable)?;
            }
        }
        let rows = read_ancestor(&copy).map_err(|why| {
            let message = format!("{} is no memory of the ancestor's: {why}; it was not touched", path.display());
            Failure::new(ErrorCode::DbForeign, message).with_hint(Database::Durable.way_out(false))
        })?;
        let mut new = Self::open_write(&made)?;
        let tx = new.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        rows.iter().try_for_each(|row| insert(&tx, row))?;
        tx.commit()?;
        // One file without side files, so that a rename moves all of it.
        new.conn.pragma_update(None, "journal_mode", "delete")?;
        drop(new);
        let aside = super::move_aside(path, stamp)?;
        std::fs::rename(&made, path).map_err(|e| {
            // The place is empty now; what stood there goes back.
            let _ = std::fs::rename(&aside, path);
            unwritable(e)
        })?;
        Ok((aside, rows.len()))
    }
}

fn head(row: &Row<'_>) -> rusqlite::Result<Head> {
    Ok(Head {
        ledger: Sha256::from_bytes(row.get(0)?),
        lines: row.get::<_, i64>(1)?.max(0) as u64,
        bytes: row.get::<_, i64>(2)?.max(0) as u64,
        sha256: Sha256::from_bytes(row.get(3)?),
    })
}

fn link(row: &Row<'_>) -> rusqlite::Result<MemoryLink> {
    Ok(MemoryLink {
        chunk_key: row.get(1)?,
        text_sha256: row.get::<_, Option<[u8; 32]>>(2)?.map(Sha256::from_bytes),
        source: row.get(3)?,
        path: row.get(4)?,
        heading: row.get(5)?,
    })
}

fn insert(conn: &Connection, row: &MemoryRow) -> Result<()> {
    conn.execute(
        "INSERT INTO memory (memory_id, type, content, source, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![row.id, row.kind, row.content, row.source, row.created_at, row.updated_at],
    )?;
    row.links.iter().try_for_each(|link| insert_link(conn, &row.id, link))
}

fn insert_link(conn: &Connection, id: &str, link: &MemoryLink) -> Result<()> {
    conn.execute(
        "INSERT OR REPLACE INTO memory_evidence (memory_id, chunk_key, text_sha256, source, rel_path, heading)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            id,
            link.chunk_key,
            link.text_sha256.as_ref().map(Sha256::as_bytes),
            link.source,
            link.path,
            link.heading
        ],
    )?;
    Ok(())
}

/// The ancestor's rows: its `memory` and `memory_evidence` have our columns but for what a link was.
fn read_ancestor(copy: &Path) -> rusqlite::Result<Vec<MemoryRow>> {
    let conn = Connection::open(copy)?;
    let mut statement =
        conn.prepare("SELECT memory_id, type, content, source, created_at, updated_at FROM memory ORDER BY 1")?;
    let mut keys = conn.prepare("SELECT chunk_key FROM memory_evidence WHERE memory_id = ?1 ORDER BY 1")?;
    let rows = statement.query_map([], |row| {
        let id: String = row.get(0)?;
        let keys = keys.query_map([&id], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
        let unknown = |chunk_key| MemoryLink { chunk_key, text_sha256: None, source: None, path: None, heading: None };
        Ok(MemoryRow {
            id,
            kind: row.get(1)?,
            content: row.get(2)?,
            source: row.get(3)?,
            created_at: row.get(4)?,
            updated_at: row.get(5)?,
            links: keys.into_iter().map(unknown).collect(),
        })
    })?;
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, links: &[&str]) -> MemoryRow {
        let link = |key: &&str| MemoryLink {
            chunk_key: (*key).to_owned(),
            text_sha256: Some(Sha256::of(key.as_bytes())),
            source: Some("notes".to_owned()),
            path: Some("a.md".to_owned()),
            heading: Some(String::new()),
        };
        MemoryRow {
            id: id.to_owned(),
            kind: "user_fact".to_owned(),
            content: format!("fact {id}"),
            source: "manual".to_owned(),
            created_at: "2026-01-01T00:00:00Z".to_owned(),
            updated_at: "2026-01-01T00:00:00Z".to_owned(),
            links: links.iter().map(link).collect(),
        }
    }

    /// The log once grew with every line of the ledger, and each process that wrote one read all of it first.
    #[test]
    fn the_log_is_empty_after_each_writer() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("durable.sqlite");
        for n in 0..5 {
            let head = Head { ledger: Sha256::of(b"1"), lines: n, bytes: n, sha256: Sha256::of(b"3") };
            Durable::open_write(&path).unwrap().set_head(Path::new("/runs"), &head, false).unwrap();
            assert_eq!(std::fs::metadata(dir.path().join("durable.sqlite-wal")).unwrap().len(), 0);
        }
        assert!(Durable::open_read(&path).unwrap().is_some());
    }

    #[test]
    fn memory_and_heads_survive_closing_and_are_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/durable.sqlite");
        assert!(Durable::open_read(&path).unwrap().is_none());
        let mut durable = Durable::open_write(&path).unwrap();
        durable.add(&row("b", &["k2", "k1"])).unwrap();
        durable.add(&row("a", &[])).unwrap();
        let head = Head { ledger: Sha256::of(b"1"), lines: 3, bytes: 90, sha256: Sha256::of(b"3") };
        durable.set_head(Path::new("/runs"), &head, false).unwrap();
        drop(durable);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let durable = Durable::open_read(&path).unwrap().unwrap();
        let all = durable.all().unwrap();
        assert_eq!(all.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(all[1].links.iter().map(|l| l.chunk_key.as_str()).collect::<Vec<_>>(), ["k1", "k2"]);
        assert_eq!(durable.head(&head.ledger).unwrap(), Some(head.clone()));
        assert_eq!(durable.head_of_folder(Path::new("/runs")).unwrap(), Some(head));
        assert_eq!(durable.head_of_folder(Path::new("/other")).unwrap(), None);
    }

    #[test]
    fn no_command_deletes_or_remakes_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("durable.sqlite");
        let mut durable = Durable::open_write(&path).unwrap();
        durable.add(&row("a", &[])).unwrap();
        drop(durable);
        assert!(super::super::delete(&path, Database::Durable).is_err());
        // As a program of another age might have left it.
        let conn = Connection::open(&path).unwrap();
        conn.pragma_update(None, "user_version", 0).unwrap();
        conn.pragma_update(None, "journal_mode", "delete").unwrap();
        drop(conn);
        assert_eq!(Durable::open_write(&path).unwrap_err().code, ErrorCode::DbError);
        assert!(path.exists());
    }

    #[test]
    fn s32_a_database_whose_making_was_cut_short_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("durable.sqlite");
        // Our header and no table: what is left when the journal of the first transaction was rolled back after its
        // first page had reached the file.
        let conn = Connection::open(&path).unwrap();
        conn.pragma_update(None, "application_id", Database::Durable.application_id()).unwrap();
        conn.pragma_update(None, "user_version", Database::Durable.version()).unwrap();
        drop(conn);
        assert_eq!(examine(&path, Database::Durable).unwrap(), Found::Ours);
        let mut durable = Durable::open_write(&path).unwrap();
        durable.add(&row("a", &[])).unwrap();
        assert_eq!(durable.all().unwrap().len(), 1);
    }

    #[test]
    fn an_ancestors_memory_is_copied_and_imported_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("durable.sqlite");
        let ancestor = Connection::open(&path).unwrap();
        ancestor
            .execute_batch(
                "PRAGMA user_version = 1;
                 CREATE TABLE memory (memory_id TEXT PRIMARY KEY, type TEXT, content TEXT, source TEXT,
                     created_at TEXT, updated_at TEXT);
                 CREATE TABLE memory_evidence (memory_id TEXT, chunk_key TEXT, PRIMARY KEY (memory_id, chunk_key));
                 INSERT INTO memory VALUES ('6f', 'user_fact', 'Likes tea.', 'manual', '2026-01-01', '2026-01-02');
                 INSERT INTO memory_evidence VALUES ('6f', 'not hex');",
            )
            .unwrap();
        drop(ancestor);
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(Durable::open_write(&path).unwrap_err().code, ErrorCode::DbForeign);
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        let (aside, count) = Durable::import_ancestor(&path, "20260101T000000Z").unwrap();
        assert_eq!((std::fs::read(aside).unwrap() == bytes, count), (true, 1));
        let all = Durable::open_read(&path).unwrap().unwrap().all().unwrap();
        assert_eq!((all[0].content.as_str(), all[0].links[0].text_sha256), ("Likes tea.", None));
        // A second time there is nothing to import, and a database of somebody else is refused.
        assert!(Durable::import_ancestor(&path, "20260101T000001Z").is_err());
        let other = dir.path().join("other.sqlite");
        Connection::open(&other).unwrap().execute_batch("PRAGMA user_version = 1; CREATE TABLE x (y)").unwrap();
        assert_eq!(Durable::import_ancestor(&other, "s").unwrap_err().code, ErrorCode::DbForeign);
    }
}
