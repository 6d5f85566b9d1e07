//! The memory of the earlier Python version: detected without modifying it, and imported
//! completely.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row, TransactionBehavior};
use time::OffsetDateTime;
use time::macros::format_description;

use super::durable::insert;
use super::error::{Result, StoreError};
use super::{
    Database, Durable, FoundDatabase, MemoryLink, MemoryRow, examine, split, with_side_files,
};
use local_agent_files::state::StateDirectory;
use local_agent_text::error::{ErrorCode, Failure};

/// Reads the Python version's `memory`; of its `memory_evidence` only the chunk keys are used.
const ROWS: &str =
    "SELECT memory_id, type, content, source, created_at, updated_at FROM memory ORDER BY 1";
const KEYS: &str = "SELECT chunk_key FROM memory_evidence WHERE memory_id = ?1 ORDER BY 1";

/// Whether the database at `path` is a memory of the Python version, which [`import_ancestor`]
/// would import. Changes nothing, not even files next to it.
pub fn holds_ancestors_memory(path: &Path) -> bool {
    if !matches!(
        examine(path, Database::Durable),
        Ok(FoundDatabase::Foreign(0, 1))
    ) {
        return false;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let uri = format!(
        "file:{}?immutable=1",
        local_agent_text::types::percent_encode(&path.to_string_lossy(), "?#")
    );
    Connection::open_with_flags(uri, flags)
        .and_then(|conn| {
            conn.prepare(ROWS)
                .map(drop)
                .and_then(|()| conn.prepare(KEYS).map(drop))
        })
        .is_ok()
}

/// Imports a Python version's memory: its file is copied byte for byte to `*.ancestor-<stamp>` and
/// read into a new database next to it in one transaction, and that database replaces it. Returns
/// the copy's path and the number of imported memories.
///
/// # Errors
/// `DB_FOREIGN` when the file is not a memory of the Python version, or contains something that
/// cannot be kept exactly.
pub fn import_ancestor(path: &Path, stamp: &str) -> Result<(PathBuf, usize)> {
    let found = examine(path, Database::Durable)?;
    if !matches!(found, FoundDatabase::Foreign(0, 1)) {
        super::refuse_unless_ours(path, Database::Durable, &found)?;
        return Err(Failure::internal("there is no memory of the Python version to import").into());
    }
    let unwritable = |e: io::Error| super::unwritable(path, "imported", &e);
    let (folder, name) = split(path)?;
    let folder = StateDirectory::make_configured(folder).map_err(unwritable)?;
    // The copy is writable, so that a journal left by a crash is replayed there and not in the
    // original.
    let work = tempfile::tempdir_in(folder.path()).map_err(unwritable)?;
    let (copy, made) = (
        work.path().join("copy.sqlite"),
        work.path().join("durable.sqlite"),
    );
    for (from, to) in with_side_files(name)
        .iter()
        .zip(with_side_files("copy.sqlite"))
    {
        if let Some(mut from) = folder.read(from).map_err(unwritable)? {
            let mut to = std::fs::File::create_new(work.path().join(to)).map_err(unwritable)?;
            io::copy(&mut from, &mut to).map_err(unwritable)?;
        }
    }
    let rows = read(&copy).map_err(|why| foreign(path, &why.to_string()))?;
    let mut new = Durable::open_write(&made)?;
    // Rows that our tables refuse; a full disk is a different failure.
    let refused = |error: StoreError| match Failure::from(error) {
        failure if failure.code == ErrorCode::DbError => foreign(path, &failure.message),
        failure => failure,
    };
    new.fill(&rows).map_err(refused)?;
    drop(new);
    let aside = super::move_aside(path, stamp)?;
    std::fs::rename(&made, path).map_err(|e| {
        // The path is empty now, so the original is moved back.
        let _ = std::fs::rename(&aside, path);
        unwritable(e)
    })?;
    // Records that the memory was created here.
    drop(Durable::open_write(path)?);
    Ok((aside, rows.len()))
}

/// The failure for a file that is not a memory of the Python version.
fn foreign(path: &Path, why: &str) -> Failure {
    let message = format!(
        "{} is not a memory of the Python predecessor: {why}; it was not touched",
        path.display()
    );
    Failure::new(ErrorCode::DbForeign, message).with_command(Database::Durable.way_out(path, false))
}

impl Durable {
    /// Writes all rows in one transaction, and leaves a single file without side files, so that a
    /// rename moves everything.
    fn fill(&mut self, rows: &[MemoryRow]) -> Result<()> {
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        rows.iter().try_for_each(|row| insert(&tx, row))?;
        tx.commit()?;
        Ok(self.conn.pragma_update(None, "journal_mode", "delete")?)
    }
}

fn read(copy: &Path) -> rusqlite::Result<Vec<MemoryRow>> {
    let conn = Connection::open(copy)?;
    let mut statement = conn.prepare(ROWS)?;
    let mut keys = conn.prepare(KEYS)?;
    let rows = statement.query_map([], |row| {
        let id: String = row.get(0)?;
        let keys = keys
            .query_map([&id], |row| row.get::<_, String>(0))?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        Ok(MemoryRow {
            id,
            kind: row.get(1)?,
            content: row.get(2)?,
            source: row.get(3)?,
            created_at: moment(row, 4)?,
            updated_at: moment(row, 5)?,
            links: keys.into_iter().map(link_without_place).collect(),
        })
    })?;
    rows.collect()
}

/// A link with only a known key.
fn link_without_place(chunk_key: String) -> MemoryLink {
    MemoryLink {
        chunk_key,
        text_sha256: None,
        source: None,
        path: None,
        heading: None,
    }
}

/// The Python version stores seconds since 1970 with a fraction; a text is kept as it is.
fn moment(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    let value = row.get_ref(column)?;
    let text = match value {
        ValueRef::Real(seconds) => stamp(seconds),
        ValueRef::Integer(seconds) => stamp_of(seconds, None),
        ValueRef::Text(text) => std::str::from_utf8(text).ok().map(str::to_owned),
        ValueRef::Null | ValueRef::Blob(_) => None,
    };
    let kind = value.data_type();
    text.ok_or_else(|| {
        rusqlite::Error::InvalidColumnType(column, "a time that can be kept".to_owned(), kind)
    })
}

/// RFC 3339 in UTC with every digit of the number, and at least nine, so that texts sort by time.
fn stamp(seconds: f64) -> Option<String> {
    // The shortest decimal number that denotes exactly this value.
    let text = if seconds.is_finite() && seconds >= 0.0 {
        seconds.to_string()
    } else {
        return None;
    };
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    stamp_of(whole.parse().ok()?, Some(part))
}

fn stamp_of(seconds: i64, part: Option<&str>) -> Option<String> {
    let form = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]");
    let whole = OffsetDateTime::from_unix_timestamp(seconds)
        .ok()?
        .format(form)
        .ok()?;
    Some(part.map_or_else(
        || format!("{whole}Z"),
        |part| format!("{whole}.{part:0<9}Z"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables of the Python version, as its own code creates them.
    const TABLES: &str = "PRAGMA user_version = 1;
        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE memory (
            memory_id TEXT PRIMARY KEY, type TEXT NOT NULL, content TEXT NOT NULL, source TEXT NOT NULL,
            created_at REAL NOT NULL, updated_at REAL NOT NULL);
        CREATE TABLE memory_evidence (
            memory_id TEXT NOT NULL, chunk_key TEXT NOT NULL, PRIMARY KEY (memory_id, chunk_key),
            FOREIGN KEY (memory_id) REFERENCES memory(memory_id) ON DELETE CASCADE);
        CREATE INDEX idx_memory_type ON memory(type);
        CREATE INDEX idx_memory_source ON memory(source);
        CREATE INDEX idx_memory_evidence_chunk_key ON memory_evidence(chunk_key);
        INSERT INTO meta VALUES ('schema_version', '1');";

    #[test]
    fn an_ancestors_memory_is_copied_and_imported_whole_with_its_times() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("durable.sqlite");
        let ancestor = Connection::open(&path).unwrap();
        ancestor.execute_batch(TABLES).unwrap();
        for (id, made, changed) in [
            ("6f", 1_767_225_600.123_456_7, 1_767_312_000.5),
            ("7a", 1_767_225_600.0, 1_767_225_600.0),
        ] {
            let sql = "INSERT INTO memory VALUES (?1, 'user_fact', 'Likes tea.', 'manual', ?2, ?3)";
            ancestor
                .execute(sql, rusqlite::params![id, made, changed])
                .unwrap();
        }
        ancestor
            .execute_batch("INSERT INTO memory_evidence VALUES ('6f', 'not hex'), ('6f', 'b')")
            .unwrap();
        drop(ancestor);
        let bytes = std::fs::read(&path).unwrap();
        assert!(holds_ancestors_memory(&path));
        assert_eq!(
            Durable::open_write(&path).unwrap_err().code(),
            ErrorCode::DbForeign
        );
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        let (aside, count) = import_ancestor(&path, "20260101T000000Z").unwrap();
        assert_eq!((std::fs::read(aside).unwrap() == bytes, count), (true, 2));
        let all = Durable::open_read(&path).unwrap().unwrap().all().unwrap();
        let times = all
            .iter()
            .map(|row| (row.created_at.as_str(), row.updated_at.as_str()))
            .collect::<Vec<_>>();
        assert_eq!(
            times,
            [
                (
                    "2026-01-01T00:00:00.123456700Z",
                    "2026-01-02T00:00:00.500000000Z"
                ),
                (
                    "2026-01-01T00:00:00.000000000Z",
                    "2026-01-01T00:00:00.000000000Z"
                )
            ]
        );
        assert_eq!(
            (
                all[0].content.as_str(),
                all[0].links.len(),
                all[0].links[0].text_sha256
            ),
            ("Likes tea.", 2, None)
        );
        // The second time there is nothing to import, and a foreign database is refused.
        assert!(
            import_ancestor(&path, "20260101T000001Z").is_err() && !holds_ancestors_memory(&path)
        );
        let other = dir.path().join("other.sqlite");
        Connection::open(&other)
            .unwrap()
            .execute_batch("PRAGMA user_version = 1; CREATE TABLE x (y)")
            .unwrap();
        assert!(!holds_ancestors_memory(&other));
        assert_eq!(
            import_ancestor(&other, "s").unwrap_err().code(),
            ErrorCode::DbForeign
        );
    }

    #[test]
    fn what_cannot_be_kept_exactly_is_refused_and_stays_where_it_is() {
        let dir = tempfile::tempdir().unwrap();
        for (n, row) in [
            "('a', 'user_fact', 'x', 'manual', -1.0, 0.0)",
            "('a', 'user_fact', 'x', 'manual', 9e99, 0.0)",
            "('a', 'a fact', 'x', 'manual', 0.0, 0.0)",
        ]
        .into_iter()
        .enumerate()
        {
            let path = dir.path().join(format!("{n}.sqlite"));
            let ancestor = Connection::open(&path).unwrap();
            ancestor.execute_batch(TABLES).unwrap();
            ancestor
                .execute_batch(&format!("INSERT INTO memory VALUES {row}"))
                .unwrap();
            drop(ancestor);
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!(
                import_ancestor(&path, "s").unwrap_err().code(),
                ErrorCode::DbForeign,
                "{row}"
            );
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_digit_of_a_time_is_lost(seconds in 0.0_f64..4e9) {
            let text = stamp(seconds).unwrap();
            let (whole, part) = text.trim_end_matches('Z').split_once('.').unwrap();
            let form = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]");
            let whole = time::PrimitiveDateTime::parse(whole, form).unwrap().assume_utc().unix_timestamp();
            assert_eq!(format!("{whole}.{part}").parse::<f64>().unwrap(), seconds);
        }
    }
}
