//! `durable.sqlite`: memory with its links to chunks, and the heads of the run ledgers.
//!
//! Nothing here can be recomputed from the files. So only a person's explicit command removes a
//! row, and no command removes the database.

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, MAIN_DB, OptionalExtension as _, Row, TransactionBehavior, params};

use super::error::Result;
use super::{
    Database, FoundDatabase, begun, checkpoint, examine, identity, open_read, open_write, side_file,
};
use local_agent_text::types::Sha256;

/// A connection to `durable.sqlite`, for reading or for writing. SQLite's own locks prevent two
/// writers at once.
#[derive(Debug)]
pub struct Durable {
    pub(super) conn: Connection,
    /// The path of the database.
    path: PathBuf,
    /// Whether the only change was to a known head.
    only_head: bool,
    /// Which file was opened.
    file: Option<(u64, u64)>,
}

/// The log may grow to this length while only heads are written. The first process that opens the
/// database reads all of it.
const LOG_BYTES: u64 = 256 << 10;

impl Drop for Durable {
    /// Empties the write-ahead log. The log file is never removed, because readers without write
    /// access need it; its content is read again by the next process that opens the database, and
    /// stays before what that process adds.
    fn drop(&mut self) {
        if self.conn.is_readonly(MAIN_DB).unwrap_or(true) {
            return;
        }
        if self.log_may_stay() {
            // Otherwise SQLite would empty it when the last connection is closed.
            let _ = self
                .conn
                .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
            return;
        }
        // Nothing is lost if this fails: the data is in the log.
        let _ = checkpoint(&self.conn);
    }
}

/// The size of a ledger when it was last written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// SHA-256 of the ledger's first line.
    pub ledger: Sha256,
    /// Its number of lines.
    pub lines: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// SHA-256 of its last line.
    pub sha256: Sha256,
}

/// One memory, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRow {
    /// The id used in commands.
    pub id: String,
    /// A free-form word of the author.
    pub kind: String,
    /// The remembered text, in the author's words.
    pub content: String,
    /// The origin: a person, or chunks.
    pub source: String,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339.
    pub updated_at: String,
    /// Sorted by key.
    pub links: Vec<MemoryLink>,
}

/// A chunk that a memory refers to, as it was when it was linked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryLink {
    /// 32 hexadecimal digits; links from the Python version may contain anything.
    pub chunk_key: String,
    /// Hash of the chunk's text; `None`: imported without one.
    pub text_sha256: Option<Sha256>,
    /// The source of its document; `None` if unknown.
    pub source: Option<String>,
    /// The path of its document; `None` if unknown.
    pub path: Option<String>,
    /// Canonical heading path.
    pub heading: Option<String>,
}

impl Durable {
    /// Opens or creates the database for writing; only its owner can access the file.
    ///
    /// # Errors
    /// `DURABLE_MISSING`: the database existed, but is gone or empty. Those for a database that is
    /// not ours.
    pub fn open_write(path: &Path) -> Result<Self> {
        let was_begun = begun::was_begun(path);
        if was_begun && examine(path, Database::Durable)? == FoundDatabase::Nothing {
            return Err(begun::missing(path).into());
        }
        Self::open_or_make(path)
    }

    fn open_or_make(path: &Path) -> Result<Self> {
        let conn =
            open_write(path, Database::Durable).map_err(|error| Database::Durable.blame(error))?;
        begun::note(path)?;
        Ok(Self {
            conn,
            path: path.to_owned(),
            only_head: false,
            file: identity(path),
        })
    }

    /// Whether the file at the path is still the one that was opened, and is not empty.
    pub fn is_current(&self) -> bool {
        let has_content = std::fs::metadata(&self.path).is_ok_and(|file| file.len() > 0);
        has_content && self.file.is_some() && self.file == identity(&self.path)
    }

    /// Empties the write-ahead log as closing the connection would, and leaves it open.
    ///
    /// # Errors
    /// Those of SQLite.
    pub fn settle(&mut self) -> Result<()> {
        if self.log_may_stay() {
            return Ok(());
        }
        checkpoint(&self.conn)
    }

    /// Whether the write-ahead log has nothing but heads, and is short.
    fn log_may_stay(&self) -> bool {
        let log = side_file(&self.path, "-wal");
        self.only_head && std::fs::metadata(log).is_ok_and(|log| log.len() < LOG_BYTES)
    }

    /// Opens the database for reading; `None` if it was never created.
    ///
    /// # Errors
    /// As [`Durable::open_write`].
    pub fn open_read(path: &Path) -> Result<Option<Self>> {
        // Checked first: while a database is being created, its marker is written after its first
        // row.
        let was_begun = begun::was_begun(path);
        let conn =
            open_read(path, Database::Durable).map_err(|error| Database::Durable.blame(error))?;
        match conn {
            None if was_begun => Err(begun::missing(path).into()),
            conn => Ok(conn.map(|conn| Self {
                conn,
                path: path.to_owned(),
                only_head: false,
                file: None,
            })),
        }
    }

    /// Whether there was a database that is now gone or empty.
    ///
    /// # Errors
    /// Those of reading the file.
    pub fn is_missing(path: &Path) -> Result<bool> {
        let was_begun = begun::was_begun(path);
        Ok(examine(path, Database::Durable)? == FoundDatabase::Nothing && was_begun)
    }

    /// Creates a new database in place of a lost one. Leftover side files of the lost one are moved
    /// to `*.lost-<stamp>`. Returns whether it created one; an existing database is not changed.
    ///
    /// # Errors
    /// Those of the disk, and for a database that is not ours.
    pub fn begin_anew(path: &Path, stamp: &str) -> Result<bool> {
        let found = examine(path, Database::Durable)?;
        super::refuse_unless_ours(path, Database::Durable, &found)?;
        if found != FoundDatabase::Nothing {
            return Ok(false);
        }
        super::move_to(path, "lost", stamp)?;
        Self::open_or_make(path).map(|_| true)
    }

    /// The head of the ledger whose first line has this hash.
    pub fn head(&self, ledger: &Sha256) -> Result<Option<Head>> {
        let sql = "SELECT ledger, lines, bytes, sha256 FROM ledger_heads WHERE ledger = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        Ok(statement.query_row([ledger.as_bytes()], head).optional()?)
    }

    /// All heads, each with the last folder of runs that contained its ledger.
    pub fn heads(&self) -> Result<Vec<(String, Head)>> {
        let sql = "SELECT ledger, lines, bytes, sha256, runs_dir FROM ledger_heads";
        let mut statement = self.conn.prepare(sql)?;
        let rows = statement.query_map([], |row| Ok((row.get::<_, String>(4)?, head(row)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// What the system reported about a ledger's file when its head was recorded; `None` if that
    /// was not recorded.
    pub fn mark(&self, ledger: &Sha256) -> Result<Option<String>> {
        let sql = "SELECT value FROM meta WHERE key = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        Ok(statement
            .query_row([mark_key(ledger)], |row| row.get(0))
            .optional()?)
    }

    /// Records the length of a ledger and the metadata of its file. Other ledgers of the same
    /// folder are removed if `only` is set.
    ///
    /// An update of a known head is written without waiting for the disk: the line it describes
    /// already exists, and after a power failure a head that lags behind its ledger is good enough.
    pub fn set_head(&mut self, runs_dir: &Path, head: &Head, mark: &str, only: bool) -> Result<()> {
        let dir = runs_dir.to_string_lossy();
        let has_log = side_file(&self.path, "-wal").exists();
        self.only_head = !only && has_log && self.head(&head.ledger)?.is_some();
        self.conn.pragma_update(
            None,
            "synchronous",
            if self.only_head { "normal" } else { "full" },
        )?;
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        if only {
            let sql = "DELETE FROM ledger_heads WHERE runs_dir = ?1 AND ledger <> ?2";
            tx.execute(sql, params![&*dir, head.ledger.as_bytes()])?;
        }
        let sql = "INSERT INTO ledger_heads (ledger, runs_dir, lines, bytes, sha256) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (ledger) DO UPDATE SET runs_dir = ?2, lines = ?3, bytes = ?4, sha256 = ?5";
        tx.prepare_cached(sql)?.execute(params![
            head.ledger.as_bytes(),
            &*dir,
            head.lines as i64,
            head.bytes as i64,
            head.sha256.as_bytes()
        ])?;
        let sql = "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2";
        tx.prepare_cached(sql)?
            .execute(params![mark_key(&head.ledger), mark])?;
        tx.commit()?;
        Ok(self.conn.pragma_update(None, "synchronous", "full")?)
    }

    /// Adds one memory with all its links, or nothing.
    pub fn add(&mut self, row: &MemoryRow) -> Result<()> {
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
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
        // All links at once: one query regardless of the number of memories.
        let sql = "SELECT memory_id, chunk_key, text_sha256, source, rel_path, heading FROM memory_evidence
                   ORDER BY memory_id, chunk_key";
        let mut statement = self.conn.prepare(sql)?;
        let links = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, link(row)?)))?;
        let mut by_id: std::collections::HashMap<String, Vec<MemoryLink>> =
            std::collections::HashMap::new();
        for one in links {
            let (id, link) = one?;
            by_id.entry(id).or_default().push(link);
        }
        for row in &mut found {
            row.links = by_id.remove(&row.id).unwrap_or_default();
        }
        Ok(found)
    }

    /// Removes one memory with its links; returns whether it existed.
    pub fn delete(&mut self, id: &str) -> Result<bool> {
        Ok(self
            .conn
            .execute("DELETE FROM memory WHERE memory_id = ?1", [id])?
            > 0)
    }

    /// Replaces links. Each change is (memory, current key, new link); `None` removes the link.
    /// Either all changes are made or none.
    pub fn relink(&mut self, changes: &[(String, String, Option<MemoryLink>)]) -> Result<()> {
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (id, key, new) in changes {
            tx.execute(
                "DELETE FROM memory_evidence WHERE memory_id = ?1 AND chunk_key = ?2",
                params![id, key],
            )?;
            if let Some(new) = new {
                insert_link(&tx, id, new)?;
            }
        }
        Ok(tx.commit()?)
    }
}

fn mark_key(ledger: &Sha256) -> String {
    format!("ledger_file:{ledger}")
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

pub(super) fn insert(conn: &Connection, row: &MemoryRow) -> Result<()> {
    conn.execute(
        "INSERT INTO memory (memory_id, type, content, source, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![row.id, row.kind, row.content, row.source, row.created_at, row.updated_at],
    )?;
    row.links
        .iter()
        .try_for_each(|link| insert_link(conn, &row.id, link))
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

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_text::error::ErrorCode;

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

    #[test]
    fn the_log_stays_short_under_heads_of_one_connection() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("durable.sqlite");
        let mut durable = Durable::open_write(&path).unwrap();
        for n in 0..500 {
            let head = Head {
                ledger: Sha256::of(b"1"),
                lines: n,
                bytes: n,
                sha256: Sha256::of(b"3"),
            };
            durable.set_head(dir.path(), &head, "mark", false).unwrap();
            durable.settle().unwrap();
            let log = std::fs::metadata(dir.path().join("durable.sqlite-wal"));
            assert!(log.unwrap().len() < LOG_BYTES + (64 << 10), "{n}");
        }
        assert!(durable.is_current());
        std::fs::rename(&path, dir.path().join("elsewhere.sqlite")).unwrap();
        assert!(!durable.is_current());
    }

    /// The log once grew with every line of the ledger, and each process that wrote a line read all
    /// of it first.
    #[test]
    fn the_log_stays_short_under_heads_and_is_empty_after_every_other_writer() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("durable.sqlite");
        let log = || {
            std::fs::metadata(dir.path().join("durable.sqlite-wal"))
                .unwrap()
                .len()
        };
        let mut longest = 0;
        for n in 0..200 {
            let head = Head {
                ledger: Sha256::of(b"1"),
                lines: n,
                bytes: n,
                sha256: Sha256::of(b"3"),
            };
            Durable::open_write(&path)
                .unwrap()
                .set_head(Path::new("/runs"), &head, "mark", false)
                .unwrap();
            assert!(
                n > 0 || log() == 0,
                "a new head goes into the database at once"
            );
            longest = longest.max(log());
            assert_eq!(
                Durable::open_read(&path)
                    .unwrap()
                    .unwrap()
                    .head(&head.ledger)
                    .unwrap(),
                Some(head)
            );
        }
        assert!(longest > 0 && longest < LOG_BYTES + (64 << 10), "{longest}");
        Durable::open_write(&path)
            .unwrap()
            .add(&row("a", &[]))
            .unwrap();
        assert_eq!(log(), 0);
    }

    #[test]
    fn memory_and_heads_survive_closing_and_are_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/durable.sqlite");
        assert!(Durable::open_read(&path).unwrap().is_none());
        let mut durable = Durable::open_write(&path).unwrap();
        durable.add(&row("b", &["k2", "k1"])).unwrap();
        durable.add(&row("a", &[])).unwrap();
        let head = Head {
            ledger: Sha256::of(b"1"),
            lines: 3,
            bytes: 90,
            sha256: Sha256::of(b"3"),
        };
        durable
            .set_head(Path::new("/runs"), &head, "mark", false)
            .unwrap();
        drop(durable);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(
                std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                0o600
            );
        }
        let durable = Durable::open_read(&path).unwrap().unwrap();
        let all = durable.all().unwrap();
        assert_eq!(
            all.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(),
            ["a", "b"]
        );
        assert_eq!(
            all[1]
                .links
                .iter()
                .map(|l| l.chunk_key.as_str())
                .collect::<Vec<_>>(),
            ["k1", "k2"]
        );
        assert_eq!(durable.head(&head.ledger).unwrap(), Some(head.clone()));
        assert_eq!(durable.mark(&head.ledger).unwrap().as_deref(), Some("mark"));
        assert_eq!(durable.heads().unwrap(), [("/runs".to_owned(), head)]);
    }

    #[test]
    fn no_command_deletes_or_remakes_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("durable.sqlite");
        let mut durable = Durable::open_write(&path).unwrap();
        durable.add(&row("a", &[])).unwrap();
        drop(durable);
        assert!(super::super::delete(&path, Database::Durable).is_err());
        // The state that an older or newer program might have left.
        let conn = Connection::open(&path).unwrap();
        conn.pragma_update(None, "user_version", 0).unwrap();
        conn.pragma_update(None, "journal_mode", "delete").unwrap();
        drop(conn);
        assert_eq!(
            Durable::open_write(&path).unwrap_err().code(),
            ErrorCode::DbError
        );
        assert!(path.exists());
    }

    #[test]
    fn s32_a_database_whose_making_was_cut_short_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("durable.sqlite");
        // The file has our header and no table. This happens when the first transaction is rolled
        // back after its first page reached the file.
        let conn = Connection::open(&path).unwrap();
        conn.pragma_update(None, "application_id", Database::Durable.application_id())
            .unwrap();
        conn.pragma_update(None, "user_version", Database::Durable.version())
            .unwrap();
        drop(conn);
        assert_eq!(
            examine(&path, Database::Durable).unwrap(),
            FoundDatabase::Ours
        );
        let mut durable = Durable::open_write(&path).unwrap();
        durable.add(&row("a", &[])).unwrap();
        assert_eq!(durable.all().unwrap().len(), 1);
    }
}
