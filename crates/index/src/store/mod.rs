//! SQLite: the content of the files (`index.sqlite`), vectors, which take long to compute
//! (`embeddings.sqlite`), data that cannot be recreated (`durable.sqlite`), and the job locks.
//!
//! Each database is recognised by its own `application_id` **before** SQLite opens it, from the
//! first hundred bytes of the file, so a file of another program is never written, not even by a
//! pragma. Schemas are in `migrations/`.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, FileControl, OpenFlags};

use local_agent_text::error::{ErrorCode, Failure, Fix};

use local_agent_files::state::{self, StateDirectory, to_move_aside};
use local_agent_text::types::CommitId;

use filesystem::Journal;

mod ancestor;
mod begun;
mod conditions;
mod day_in_path;
mod disks;
mod durable;
mod embeddings;
mod error;
mod filesystem;
mod folded;
mod index_checks;
mod index_notes;
mod index_read;
mod index_write;
mod lock;
mod record;
mod replace;
mod row_ids;
mod schema_check;

pub use ancestor::{holds_ancestors_memory, import_ancestor};
pub use begun::BEGIN_ANEW;
pub use conditions::DocumentCondition;
pub use durable::{Durable, Head, MemoryLink, MemoryRow};
pub use embeddings::{EmbeddingStore, Inputs, Pruned, StoredEmbedding};
pub use error::{Result, StoreError};
pub use filesystem::on_network;
pub use index_notes::{NoteRow, StoredDay, StoredLink};
pub use index_read::{ChunkRecord, ChunkRef, IndexReader, LexicalSource, SourceRecord, Totals};
pub use index_write::{Batch, IndexWriter, KnownDocument, KnownDocuments, Published};
pub use lock::{JobLock, WAIT_FOR_JOB};
pub use record::{ChunkRow, DocumentRow, LinkRow, target_key};
pub use replace::{beside, clear_beside, identity, put_in_place};

/// How long one connection waits for another's write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(20);

/// How long emptying the write-ahead log waits for readers. It need not succeed: the next job tries
/// again, and a reader that takes minutes must not delay a job.
const CHECKPOINT_TIMEOUT: Duration = Duration::from_millis(250);

/// The command of [`Fix::FindDamage`]; see [`Database::blame`].
const SOMETHING_DAMAGED: &str = "local-agent doctor";

/// The advice if a file cannot be written.
const MAKE_ROOM: &str = "free some space or allow writing there, and run the command again";

/// The changes of `embeddings.sqlite` from version 1 to version 2.
const ADDED_TO_EMBEDDINGS: &str = include_str!("../../../../migrations/embeddings_unused.sql");

/// How often a reader retries opening a database that is being replaced.
const OPEN_ATTEMPTS: usize = 8;

/// One of our databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    /// The content of the files. Rebuilt, not migrated.
    Index,
    /// Vectors by input hash and fingerprint. Migrated, because they take hours to compute.
    Embeddings,
    /// Memory, and the heads of ledgers. Never recreated and never deleted.
    Durable,
}

impl Database {
    /// The number at byte 68 of the file: "LAi", "LAe" or "LAd" with a marker byte. It never
    /// changes.
    pub const fn application_id(self) -> u32 {
        match self {
            Self::Index => 0x4c41_6901,
            Self::Embeddings => 0x4c41_6501,
            Self::Durable => 0x4c41_6401,
        }
    }

    /// The `user_version` of the schema that this program writes.
    pub const fn version(self) -> u32 {
        match self {
            Self::Index | Self::Durable => 1,
            Self::Embeddings => 2,
        }
    }

    fn schema(self) -> String {
        match self {
            Self::Index => include_str!("../../../../migrations/index.sql").to_owned(),
            Self::Embeddings => [
                include_str!("../../../../migrations/embeddings.sql"),
                ADDED_TO_EMBEDDINGS,
            ]
            .join("\n"),
            Self::Durable => include_str!("../../../../migrations/durable.sql").to_owned(),
        }
    }

    /// The job that creates or repairs it.
    pub const fn job(self) -> &'static str {
        match self {
            Self::Index => "local-agent index",
            Self::Embeddings => "local-agent embed",
            Self::Durable => "local-agent memory repair",
        }
    }

    /// The advice for a damaged file of ours.
    fn remedy(self, path: &Path) -> String {
        match self {
            Self::Index | Self::Embeddings => format!("{} --rebuild", self.job()),
            Self::Durable => without_durable(path),
        }
    }

    /// The advice for a file that is not ours.
    fn way_out(self, path: &Path, ancestor: bool) -> String {
        match self {
            Self::Index | Self::Embeddings => format!(
                "{} --rebuild (moves it to *.ancestor-<time> first)",
                self.job()
            ),
            Self::Durable if ancestor => format!(
                "{} (keeps a copy as *.ancestor-<time> and imports it)",
                self.job()
            ),
            Self::Durable => without_durable(path),
        }
    }

    /// Adds the command that repairs this database to a failure that only knows that some database
    /// is damaged.
    #[must_use]
    pub fn blame(self, error: impl Into<Failure>) -> Failure {
        let failure: Failure = error.into();
        // The advice for lost durable memory depends on its location, which `doctor` reports.
        if self != Self::Durable
            && failure.code == ErrorCode::DbCorrupt
            && failure.fix == Fix::FindDamage
        {
            return failure.with_command(format!("{} --rebuild", self.job()));
        }
        failure
    }
}

/// The advice for an unusable file in place of durable memory. The file is kept.
pub fn without_durable(path: &Path) -> String {
    format!(
        "restore it from a backup, or without one `{} && local-agent memory repair --begin-anew`",
        to_move_aside(path)
    )
}

/// The kind of file at a path, determined without opening it as a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundDatabase {
    /// No file, or an empty one.
    Nothing,
    /// Ours, of this version.
    Ours,
    /// Ours, of an older version.
    Older(u32),
    /// Ours, of a newer version.
    Newer(u32),
    /// A foreign SQLite database; `application_id` and `user_version` as found.
    Foreign(u32, u32),
    /// Not a SQLite database.
    NotADatabase,
}

/// Reads the header of `path` and determines whose database it is. Never creates or changes
/// anything.
pub fn examine(path: &Path, database: Database) -> Result<FoundDatabase> {
    let (folder, name) = split(path)?;
    let open =
        || StateDirectory::open_configured(folder)?.map_or(Ok(None), |folder| folder.read(name));
    let Some(file) = open().map_err(|e| unreadable(path, &e))? else {
        return Ok(FoundDatabase::Nothing);
    };
    let mut header = Vec::with_capacity(100);
    file.take(100)
        .read_to_end(&mut header)
        .map_err(|e| unreadable(path, &e))?;
    if header.is_empty() {
        return Ok(FoundDatabase::Nothing);
    }
    if header.len() < 100 || !header.starts_with(b"SQLite format 3\0") {
        return Ok(FoundDatabase::NotADatabase);
    }
    let (user_version, application_id) = (header_word(&header, 60), header_word(&header, 68));
    Ok(if application_id != database.application_id() {
        FoundDatabase::Foreign(application_id, user_version)
    } else {
        match user_version.cmp(&database.version()) {
            std::cmp::Ordering::Less => FoundDatabase::Older(user_version),
            std::cmp::Ordering::Equal => FoundDatabase::Ours,
            std::cmp::Ordering::Greater => FoundDatabase::Newer(user_version),
        }
    })
}

/// Four bytes of the file's header as one number.
fn header_word(header: &[u8], at: usize) -> u32 {
    header[at..at + 4]
        .iter()
        .fold(0u32, |word, b| word << 8 | u32::from(*b))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    state::refusal(error).unwrap_or_else(|| {
        Failure::new(
            ErrorCode::DbError,
            format!(
                "the database file {} cannot be read: {error}",
                path.display()
            ),
        )
        .with_command("local-agent doctor")
    })
}

/// The failure when one of our files cannot be created, moved or removed.
fn unwritable(path: &Path, what: &str, error: &std::io::Error) -> Failure {
    state::refusal(error).unwrap_or_else(|| {
        Failure::new(
            ErrorCode::WriteError,
            format!("{} cannot be {what}: {error}", path.display()),
        )
        .with_hint(MAKE_ROOM)
    })
}

/// The folder and the name of one of our files.
fn split(path: &Path) -> Result<(&Path, &str)> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    match path.file_name().and_then(|name| name.to_str()) {
        Some(name) => Ok((folder, name)),
        None => Err(Failure::new(
            ErrorCode::ConfigError,
            format!("{} names no file", path.display()),
        )
        .with_command("local-agent config show")
        .into()),
    }
}

/// Turns the result of the examination into a failure if the file must not be used as `database`.
pub fn refuse_unless_ours(path: &Path, database: Database, found: &FoundDatabase) -> Result<()> {
    let shown = path.display();
    match found {
        FoundDatabase::Nothing | FoundDatabase::Ours | FoundDatabase::Older(_) => Ok(()),
        FoundDatabase::Newer(version) => Err(Failure::new(
            ErrorCode::DbNewer,
            format!(
                "{shown} was written by a newer version (schema {version}, this program knows {}); it was not touched",
                database.version()
            ),
        )
        .with_hint("install the newer local-agent, or point the configuration at another path")
        .into()),
        FoundDatabase::Foreign(application_id, version) => Err(Failure::new(
            ErrorCode::DbForeign,
            format!(
                "{shown} is a database of another program (application_id {application_id}, user_version {version}); \
                 it was not touched"
            ),
        )
        .with_command(database.way_out(path, (*application_id, *version) == (0, 1)))
        .into()),
        FoundDatabase::NotADatabase => {
            Err(Failure::new(ErrorCode::DbCorrupt, format!("{shown} is not a SQLite database; it was not touched"))
                .with_command(database.way_out(path, false))
                .into())
        }
    }
}

/// Opens `path` for writing, and creates it or (for an older version) recreates it. The caller
/// holds the job's lock.
pub(crate) fn open_write(path: &Path, database: Database) -> Result<Connection> {
    let journal = Journal::for_folder(path.parent().unwrap_or(Path::new(".")));
    open_write_with(path, database, journal)
}

fn open_write_with(path: &Path, database: Database, journal: Journal) -> Result<Connection> {
    let found = examine(path, database)?;
    refuse_unless_ours(path, database, &found)?;
    if let (FoundDatabase::Older(version), Database::Durable) = (&found, database) {
        return Err(older(path, *version)
            .with_command("local-agent doctor")
            .into());
    }
    if let (FoundDatabase::Older(_), Database::Index) = (&found, database) {
        remove_all(path)?;
    }
    replace::forget_old_log(path)?;
    refuse_journal_with_a_name(path)?;
    let mut conn = Connection::open_with_flags(
        writable(path)?,
        OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW,
    )?;
    conn.busy_timeout(BUSY_TIMEOUT)?;
    // A confined process has no folder for temporary files.
    conn.pragma_update(None, "temp_store", "memory")?;
    schema_check::trust_nothing(&conn)?;
    // A process that died while creating the file leaves our header and a journal. Reading rolls
    // both back, so the file is empty.
    if table_count(&conn)? == 0 {
        create(&mut conn, database)?;
    }
    schema_check::refuse(&conn, path, database, &found)?;
    if let (FoundDatabase::Older(_), Database::Embeddings) = (&found, database) {
        migrate(&mut conn)?;
    }
    conn.pragma_update(None, "journal_mode", journal.as_str())?;
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "cache_size", -32_768)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    keep_plans(&conn)?;
    // The -wal and -shm files stay when the last writer closes, so that a reader never has to
    // create them.
    let mut persist = 1;
    conn.file_control(None::<&str>, FileControl::PersistWal(&mut persist))?;
    // The log is opened by the first read, not by the pragma; only an open log persists.
    conn.query_row("SELECT count(*) FROM meta", [], |_| Ok(()))?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(conn)
}

/// The path for SQLite to open a database for writing: neither it nor a file next to it is a link.
/// If the file does not exist, it is created with owner-only permissions; SQLite gives its side
/// files the same mode.
fn writable(path: &Path) -> Result<PathBuf> {
    let (folder, name) = split(path)?;
    let checked = || StateDirectory::make_configured(folder)?.writable_path(name, &SIDE_FILES);
    Ok(checked().map_err(|e| unwritable(path, "made", &e))?)
}

/// Number of tables and indexes; 0 if nothing was ever committed.
fn table_count(conn: &Connection) -> Result<i64> {
    Ok(conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?)
}

/// Writes identity and schema in one transaction under the rollback journal, so that the header in
/// the main file identifies it from the first moment.
fn create(conn: &mut Connection, database: Database) -> Result<()> {
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    if table_count(&tx)? == 0 {
        tx.pragma_update(None, "application_id", database.application_id())?;
        tx.pragma_update(None, "user_version", database.version())?;
        tx.execute_batch(&database.schema())?;
    }
    tx.commit()?;
    Ok(())
}

/// Migrates `embeddings.sqlite` from version 1 to 2; every vector is kept.
fn migrate(conn: &mut Connection) -> Result<()> {
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // The header in the file may lag behind the log.
    let version: u32 = tx.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version < Database::Embeddings.version() {
        tx.execute_batch(ADDED_TO_EMBEDDINGS)?;
        tx.pragma_update(None, "user_version", Database::Embeddings.version())?;
    }
    tx.commit()?;
    checkpoint(conn)
}

/// Opens `path` for reading only; `None` if it does not exist. Nothing is created or changed, except
/// that the transaction of a killed writer is rolled back. If the system allows no writes (a
/// read-only folder), the file is read as immutable.
pub(crate) fn open_read(path: &Path, database: Database) -> Result<Option<Connection>> {
    for _ in 0..OPEN_ATTEMPTS {
        let before = identity(path);
        let opened = open_read_once(path, database, true);
        // If another database was swapped in meanwhile, the files next to it belong to that one.
        if identity(path) == before {
            return opened;
        }
    }
    open_read_once(path, database, true)
}

/// `may_roll_back`: see [`roll_back`]; it is tried once.
fn open_read_once(
    path: &Path,
    database: Database,
    may_roll_back: bool,
) -> Result<Option<Connection>> {
    let found = examine(path, database)?;
    refuse_unless_ours(path, database, &found)?;
    match found {
        FoundDatabase::Nothing => return Ok(None),
        // Code that uses the newer tables checks for them first.
        FoundDatabase::Older(_) if database == Database::Embeddings => {}
        FoundDatabase::Older(version) => {
            return Err(older(path, version).with_command(database.job()).into());
        }
        _ => {}
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let (folder, name) = split(path)?;
    let checked = || {
        StateDirectory::open_configured(folder)?
            .map(|folder| folder.checked_path(name, &SIDE_FILES))
            .transpose()
    };
    let Some(path) = checked().map_err(|e| unreadable(path, &e))? else {
        return Ok(None);
    };
    let plain = Connection::open_with_flags(&path, flags).and_then(|conn| {
        conn.busy_timeout(BUSY_TIMEOUT)?;
        conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(conn)
    });
    let conn = match plain {
        Ok(conn) => conn,
        // What was rolled back may have been the creation of the whole database.
        Err(e) if may_roll_back && is_unfinished(&e) && roll_back(&path).is_ok() => {
            return open_read_once(&path, database, false);
        }
        Err(e)
            if matches!(
                e.sqlite_error_code(),
                Some(rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::ReadOnly)
            ) =>
        {
            let uri = format!(
                "file:{}?immutable=1",
                local_agent_text::types::percent_encode(&path.to_string_lossy(), "?#")
            );
            Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)?
        }
        Err(e) => return Err(e.into()),
    };
    // A confined process has no folder for temporary files, and sorting would create one.
    conn.pragma_update(None, "temp_store", "memory")?;
    schema_check::trust_nothing(&conn)?;
    schema_check::refuse(&conn, &path, database, &found)?;
    // Pages are read, not mapped: a mapped page counts as memory of every connection that sees it.
    conn.pragma_update(None, "mmap_size", 0_i64)?;
    keep_plans(&conn)?;
    folded::register(&conn)?;
    day_in_path::register(&conn)?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(Some(conn))
}

/// Whether a file cannot be read because the rollback journal beside it belongs to a transaction
/// whose writer was killed. A connection that only reads cannot use that journal.
fn is_unfinished(e: &rusqlite::Error) -> bool {
    let unfinished = rusqlite::ffi::SQLITE_READONLY_ROLLBACK;
    e.sqlite_error()
        .is_some_and(|error| error.extended_code == unfinished)
}

/// Rolls back the transaction of a killed writer, as SQLite does for each connection that may write.
fn roll_back(path: &Path) -> Result<()> {
    refuse_journal_with_a_name(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(BUSY_TIMEOUT)?;
    Ok(conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?)
}

/// The last bytes of a rollback journal that names a super-journal ("The Rollback Journal" in
/// SQLite's file format).
const END_OF_NAME: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Refuses a rollback journal that names another file. SQLite deletes that file after the rollback,
/// wherever it is. A transaction of this program changes one database, so its journals name none.
///
/// # Errors
/// `DB_FOREIGN`; `DB_ERROR` if the journal cannot be read.
fn refuse_journal_with_a_name(path: &Path) -> Result<()> {
    let (folder, name) = split(path)?;
    let journal = format!("{name}-journal");
    let unread = |e: std::io::Error| unreadable(&folder.join(&journal), &e);
    let opened = StateDirectory::open_configured(folder).map_err(unread)?;
    let file = opened.map_or(Ok(None), |opened| opened.read(&journal));
    let Some(mut file) = file.map_err(unread)? else {
        return Ok(());
    };
    let mut end = [0; END_OF_NAME.len()];
    let has_end = file.metadata().map_err(unread)?.len() > end.len() as u64;
    if !has_end {
        return Ok(());
    }
    file.seek(SeekFrom::End(-(end.len() as i64)))
        .and_then(|_| file.read_exact(&mut end))
        .map_err(unread)?;
    if end != END_OF_NAME {
        return Ok(());
    }
    let journal = folder.join(journal);
    let message = format!(
        "{} names another file, so it is not of this program",
        journal.display()
    );
    Err(Failure::new(ErrorCode::DbForeign, message)
        .with_hint(to_move_aside(&journal))
        .into())
}

/// Makes query plans independent of bound values. Otherwise SQLite guesses the number of rows from
/// a bound 0 or 1, and re-plans such a prepared statement every time it runs.
fn keep_plans(conn: &Connection) -> Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

fn older(path: &Path, version: u32) -> Failure {
    Failure::new(
        ErrorCode::DbError,
        format!("{} has the older schema {version}", path.display()),
    )
}

/// Writes as much of the write-ahead log into the database file as readers allow.
fn checkpoint(conn: &Connection) -> Result<()> {
    conn.busy_timeout(CHECKPOINT_TIMEOUT)?;
    let done = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    conn.busy_timeout(BUSY_TIMEOUT)?;
    match done {
        Err(e) if e.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => Ok(()),
        done => Ok(done?),
    }
}

/// Reads the whole database: SQLite checks its pages and indexes, and every vector and text is
/// compared with its hash or required form. `Ok(None)`: it is intact; `Ok(Some(sentence))`: the
/// first damage found.
pub fn damage(path: &Path, database: Database) -> Result<Option<String>> {
    let Some(conn) = open_read(path, database)? else {
        return Ok(None);
    };
    let verdict: String = conn.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if verdict != "ok" {
        return Ok(Some(verdict));
    }
    match database {
        Database::Index => index_read::damage(&conn),
        Database::Embeddings => embeddings::damage(&conn),
        Database::Durable => Ok(None),
    }
}

/// Whether the database is damaged, or too damaged to be checked.
pub fn is_damaged(path: &Path, database: Database) -> Result<bool> {
    match damage(path, database) {
        Ok(found) => Ok(found.is_some()),
        Err(failure) if failure.code() == ErrorCode::DbCorrupt => Ok(true),
        Err(failure) => Err(failure),
    }
}

/// Moves a file that is not ours, with its side files, to `<name>.ancestor-<stamp>` and returns the
/// new path. If a file was moved aside in the same second, the name gets a number instead of
/// replacing it.
pub fn move_aside(path: &Path, stamp: &str) -> Result<PathBuf> {
    move_to(path, "ancestor", stamp)
}

/// Like [`move_aside`], to `<name>.<why>-<stamp>`.
fn move_to(path: &Path, why: &str, stamp: &str) -> Result<PathBuf> {
    let fail = |e: std::io::Error| unwritable(path, "moved", &e);
    let (folder, name) = split(path)?;
    let Some(folder) = StateDirectory::open_configured(folder).map_err(fail)? else {
        return Ok(path.to_owned());
    };
    let taken: Vec<String> = folder
        .entries()
        .map_err(fail)?
        .into_iter()
        .map(|entry| entry.name)
        .collect();
    let number = (1..)
        .find(|n| is_free_number(name, why, stamp, &taken, *n))
        .unwrap_or(1);
    for file in with_side_files(name) {
        match folder.rename(&file, &name_aside(why, stamp, &file, number)) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(fail(e).into()),
            _ => {}
        }
    }
    Ok(path.with_file_name(name_aside(why, stamp, name, number)))
}

/// Whether no file of the database would get a name that is already taken.
fn is_free_number(name: &str, why: &str, stamp: &str, taken: &[String], n: u32) -> bool {
    !with_side_files(name)
        .iter()
        .any(|file| taken.contains(&name_aside(why, stamp, file, n)))
}

/// The name of a file that is kept aside; a number follows if the name is taken.
fn name_aside(why: &str, stamp: &str, name: &str, n: u32) -> String {
    if n == 1 {
        format!("{name}.{why}-{stamp}")
    } else {
        format!("{name}.{why}-{stamp}-{n}")
    }
}

/// The path of an SQLite side file of a database.
fn side_file(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The suffixes of SQLite's side files.
const SIDE_FILES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The name of a database file and those of its side files.
fn with_side_files(name: &str) -> [String; 4] {
    ["", "-wal", "-shm", "-journal"].map(|ending| format!("{name}{ending}"))
}

/// Deletes one of our own databases with its side files, for `--rebuild`.
pub fn delete(path: &Path, database: Database) -> Result<()> {
    if database == Database::Durable {
        return Err(Failure::internal("durable memory is never deleted").into());
    }
    refuse_unless_ours(path, database, &examine(path, database)?)?;
    remove_all(path)
}

/// Removes a database file and its side files.
fn remove_all(path: &Path) -> Result<()> {
    let fail = |e: std::io::Error| unwritable(path, "removed", &e);
    let (folder, name) = split(path)?;
    let Some(folder) = StateDirectory::open_configured(folder).map_err(fail)? else {
        return Ok(());
    };
    Ok(with_side_files(name)
        .iter()
        .try_for_each(|file| folder.remove(file).map(drop))
        .map_err(fail)?)
}

/// Sixteen random bytes.
pub(crate) fn new_commit_id() -> Result<CommitId> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| {
        Failure::new(
            ErrorCode::DbError,
            format!("the system gave no random bytes: {e}"),
        )
    })?;
    Ok(CommitId::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_database_is_known_by_its_header_before_it_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index.sqlite");
        assert_eq!(
            examine(&path, Database::Index).unwrap(),
            FoundDatabase::Nothing
        );
        drop(open_write(&path, Database::Index).unwrap());
        assert_eq!(
            examine(&path, Database::Index).unwrap(),
            FoundDatabase::Ours
        );
        assert!(matches!(
            examine(&path, Database::Embeddings).unwrap(),
            FoundDatabase::Foreign(_, 1)
        ));
    }

    /// A database whose creation was torn by a kill was damaged for readers, again and again, until a
    /// writer came.
    #[test]
    fn a_database_whose_creation_was_torn_is_none_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("durable.sqlite");
        drop(open_write(&path, Database::Durable).unwrap());
        let mut bytes = fs::read(&path).unwrap();
        // The first transaction has a rollback journal, and half of the second page was written.
        bytes[18..20].fill(1);
        bytes.truncate(4096 + 2048);
        let mut journal = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7".to_vec();
        for word in [0_u32, 7, 0, 512, 4096] {
            journal.extend(word.to_be_bytes());
        }
        journal.resize(512, 0);
        for side in ["-wal", "-shm"] {
            let _ = fs::remove_file(dir.path().join(format!("durable.sqlite{side}")));
        }
        fs::write(&path, &bytes).unwrap();
        let journal_path = dir.path().join("durable.sqlite-journal");
        fs::write(&journal_path, &journal).unwrap();
        assert!(open_read(&path, Database::Durable).unwrap().is_none());
        assert!(!journal_path.exists());
        drop(open_write(&path, Database::Durable).unwrap());
        assert!(open_read(&path, Database::Durable).unwrap().is_some());
    }

    /// SQLite deletes the file that a journal names.
    #[test]
    fn a_journal_that_names_another_file_deletes_it_for_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let (path, victim) = (dir.path().join("durable.sqlite"), dir.path().join("victim"));
        drop(open_write(&path, Database::Durable).unwrap());
        fs::write(&victim, "mine").unwrap();
        let mut journal = END_OF_NAME.to_vec();
        for word in [0_u32, 7, 6, 512, 4096] {
            journal.extend(word.to_be_bytes());
        }
        journal.resize(512, 0);
        let name = victim.to_str().unwrap().as_bytes();
        let sum = name.iter().map(|byte| u32::from(*byte)).sum::<u32>();
        journal.extend([&0_u32.to_be_bytes()[..], name].concat());
        journal.extend((name.len() as u32).to_be_bytes());
        journal.extend(sum.to_be_bytes());
        journal.extend(END_OF_NAME);
        // The database is out of WAL mode, in which a rollback journal counts.
        let mut bytes = fs::read(&path).unwrap();
        bytes[18..20].fill(1);
        fs::write(&path, bytes).unwrap();
        for side in ["-wal", "-shm"] {
            let _ = fs::remove_file(dir.path().join(format!("durable.sqlite{side}")));
        }
        fs::write(dir.path().join("durable.sqlite-journal"), &journal).unwrap();
        let refused = open_write(&path, Database::Durable).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::DbForeign);
        let _ = open_read(&path, Database::Durable);
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    }

    #[test]
    fn a_foreign_database_is_never_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index.sqlite");
        let ancestor = Connection::open(&path).unwrap();
        ancestor
            .execute_batch("PRAGMA user_version = 3; CREATE TABLE docs (id INTEGER PRIMARY KEY)")
            .unwrap();
        drop(ancestor);
        let before = fs::read(&path).unwrap();
        assert_eq!(
            open_write(&path, Database::Index).unwrap_err().code(),
            ErrorCode::DbForeign
        );
        assert_eq!(
            open_read(&path, Database::Index).unwrap_err().code(),
            ErrorCode::DbForeign
        );
        assert_eq!(fs::read(&path).unwrap(), before);
        let moved = move_aside(&path, "20260101T000000Z").unwrap();
        assert_eq!(fs::read(moved).unwrap(), before);
        drop(open_write(&path, Database::Index).unwrap());
    }

    #[test]
    fn a_newer_database_is_never_touched() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index.sqlite");
        let conn = open_write(&path, Database::Index).unwrap();
        conn.pragma_update(None, "journal_mode", "delete").unwrap();
        conn.pragma_update(None, "user_version", 99).unwrap();
        drop(conn);
        let before = fs::read(&path).unwrap();
        assert_eq!(
            open_write(&path, Database::Index).unwrap_err().code(),
            ErrorCode::DbNewer
        );
        assert_eq!(
            delete(&path, Database::Index).unwrap_err().code(),
            ErrorCode::DbNewer
        );
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn on_a_network_a_database_has_no_write_ahead_log() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index.sqlite");
        // The state after the database was moved there from a local disk.
        drop(open_write(&path, Database::Index).unwrap());
        let conn = open_write_with(&path, Database::Index, Journal::Rollback).unwrap();
        conn.execute(
            "INSERT INTO sources (name, root, kind) VALUES ('a', '/a', 'notes')",
            [],
        )
        .unwrap();
        drop(conn);
        assert!(
            !with_side_files("index.sqlite")[1..]
                .iter()
                .any(|file| dir.path().join(file).exists())
        );
        let reader = open_read(&path, Database::Index).unwrap().unwrap();
        assert_eq!(
            reader
                .query_row("SELECT count(*) FROM sources", [], |row| row
                    .get::<_, i64>(0))
                .unwrap(),
            1
        );
    }

    #[test]
    fn junk_is_damage_and_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index.sqlite");
        fs::write(&path, "not a database at all").unwrap();
        assert_eq!(
            open_write(&path, Database::Index).unwrap_err().code(),
            ErrorCode::DbCorrupt
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "not a database at all");
    }

    #[test]
    fn a_statement_is_planned_once_whatever_is_bound() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index.sqlite");
        let writer = open_write(&path, Database::Index).unwrap();
        let reader = open_read(&path, Database::Index).unwrap().unwrap();
        for conn in [writer, reader] {
            for id in 100..105 {
                let sql = "SELECT id FROM chunks WHERE document_id = ?1 ORDER BY ordinal";
                let mut statement = conn.prepare_cached(sql).unwrap();
                assert!(!statement.exists([id]).unwrap());
                assert_eq!(
                    statement.get_status(rusqlite::StatementStatus::RePrepare),
                    0
                );
            }
        }
    }

    #[test]
    fn w48_a_reader_creates_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index.sqlite");
        assert!(open_read(&path, Database::Index).unwrap().is_none());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        drop(open_write(&path, Database::Index).unwrap());
        let list = || {
            let mut names: Vec<_> = fs::read_dir(dir.path())
                .unwrap()
                .map(|e| e.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        let before = list();
        let reader = open_read(&path, Database::Index).unwrap().unwrap();
        reader
            .query_row("SELECT count(*) FROM chunks", [], |_| Ok(()))
            .unwrap();
        drop(reader);
        assert_eq!(list(), before);
    }
}
