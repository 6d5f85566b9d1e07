//! Replaces a database: a new one is built next to the old one, and replaces it when it is
//! complete. Until then readers see the old one.
//!
//! | killed | files on disk | the next job |
//! | --- | --- | --- |
//! | while the new one is made | the old one, and part of a new one | removes the part |
//! | after the old log was merged | the old one, complete without a log | removes the new one |
//! | after the rename | the new one, perhaps shared memory of the old one's log | removes that |
//!
//! SQLite's files are named after the database, so those of the old one must not affect the new
//! one: its log is written into it and removed before the rename. The new database has no log when
//! it is swapped in; SQLite reads shared memory only if there is a log.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::error::Result;
use super::{BUSY_TIMEOUT, Database};
use super::{
    CHECKPOINT_TIMEOUT, FoundDatabase, SIDE_FILES, examine, remove_all, split, unwritable,
    with_side_files,
};
use local_agent_files::state::StateDirectory;
use local_agent_text::error::{ErrorCode, Failure};

/// Pause between two checks whether readers have allowed a checkpoint of the log.
const PAUSE: Duration = Duration::from_millis(50);

/// Where the replacement for the database at `path` is built.
pub fn beside(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.new", path.display()))
}

/// Removes what a killed job left next to the database at `path`.
pub fn clear_beside(path: &Path) -> Result<()> {
    remove_all(&beside(path))
}

/// Swaps in the database that was built next to `path`. The old one is then gone; a reader that has
/// it open can finish reading. The caller holds the job's lock and has closed the new database.
///
/// `LOCKED` if a reader keeps an older state of the old one open for too long: then the old one
/// stays.
pub fn put_in_place(path: &Path, database: Database) -> Result<()> {
    let fail = |e: io::Error| unwritable(path, "replaced", &e);
    let (folder, name) = open_folder(path)?;
    let new = format!("{name}.new");
    // In this mode the database is one file, synced, without side files.
    let conn = Connection::open_with_flags(
        folder.writable_path(&new, &SIDE_FILES).map_err(fail)?,
        OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW,
    )?;
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.pragma_update(None, "journal_mode", "delete")?;
    conn.close().map_err(|(_, error)| error)?;
    let remove = |file: &String| folder.remove(file).map(drop);
    with_side_files(&new)[1..]
        .iter()
        .try_for_each(remove)
        .map_err(fail)?;
    if matches!(
        examine(path, database),
        Ok(FoundDatabase::Ours | FoundDatabase::Older(_))
    ) {
        fold_whole(path, &folder, name)?;
    }
    let [_, log, shared, journal] = with_side_files(name);
    [&log, &journal]
        .into_iter()
        .try_for_each(remove)
        .map_err(fail)?;
    folder.rename(&new, name).map_err(fail)?;
    [&log, &shared]
        .into_iter()
        .try_for_each(remove)
        .map_err(fail)?;
    // Best effort: without it a system crash may restore the old file, which is still a valid
    // state.
    let _ = folder.sync();
    Ok(())
}

/// The folder of an existing database, and the database's name.
fn open_folder(path: &Path) -> Result<(StateDirectory, &str)> {
    let (folder, name) = split(path)?;
    let folder =
        StateDirectory::make_configured(folder).map_err(|e| unwritable(path, "replaced", &e))?;
    Ok((folder, name))
}

/// Writes all of a database's log into its file, so that the file is complete without it. For a
/// damaged file this is not required.
fn fold_whole(path: &Path, folder: &StateDirectory, name: &str) -> Result<()> {
    let database = folder
        .writable_path(name, &SIDE_FILES)
        .map_err(|e| unwritable(path, "replaced", &e))?;
    let start = Instant::now();
    loop {
        match fold(&database) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(e) if e.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {}
            Err(_) => return Ok(()),
        }
        if start.elapsed() > BUSY_TIMEOUT {
            let message = format!(
                "{} is being read by another process; it was not replaced",
                path.display()
            );
            return Err(Failure::new(ErrorCode::Locked, message)
                .with_hint("wait for it to end, and run it again")
                .into());
        }
        sleep(PAUSE);
    }
}

/// Whether everything in the log is now in the file.
fn fold(path: &Path) -> rusqlite::Result<bool> {
    let conn =
        Connection::open_with_flags(path, OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW)?;
    conn.busy_timeout(CHECKPOINT_TIMEOUT)?;
    let (log, folded): (i64, i64) =
        conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
            Ok((row.get(1)?, row.get(2)?))
        })?;
    Ok(log == folded)
}

/// Removes shared memory that refers to a log when the database has none: a job was killed after it
/// had swapped in a new database.
pub(super) fn forget_old_log(path: &Path) -> Result<()> {
    let (folder, name) = open_folder(path)?;
    let mut header = [0; 20];
    let mut look = || match folder.read(name)? {
        Some(mut file) => file.read_exact(&mut header),
        None => Err(io::ErrorKind::NotFound.into()),
    };
    // The write version of the file format; 2: with a write-ahead log.
    if look().is_err() || header[18] == 2 {
        return Ok(());
    }
    folder
        .remove(&format!("{name}-shm"))
        .map_err(|e| unwritable(path, "replaced", &e))?;
    Ok(())
}

/// Distinguishes a file from another one with the same name; `None` if the file does not exist. If
/// two calls give the same value, the file was not replaced in between.
#[cfg(unix)]
pub fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}

/// On other systems, the creation time distinguishes the files.
#[cfg(not(unix))]
pub fn identity(path: &Path) -> Option<(u64, u64)> {
    let made = fs::metadata(path).ok()?.created().ok()?;
    let since = made.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some((since.as_secs(), u64::from(since.subsec_nanos())))
}

#[cfg(test)]
mod tests {
    use super::super::{open_read, open_write};
    use super::*;

    /// The database file and its side files.
    fn files(path: &Path) -> [PathBuf; 4] {
        with_side_files(&path.to_string_lossy()).map(PathBuf::from)
    }

    fn fill(path: &Path, name: &str) {
        let conn = open_write(path, Database::Index).unwrap();
        conn.execute(
            "INSERT INTO sources (name, root, kind) VALUES (?1, '/a', 'notes')",
            [name],
        )
        .unwrap();
    }

    fn held(conn: &Connection) -> String {
        conn.query_row("SELECT name FROM sources", [], |row| row.get(0))
            .unwrap()
    }

    #[test]
    fn who_reads_the_old_database_reads_it_to_the_end_and_the_next_one_reads_the_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index.sqlite");
        fill(&path, "old");
        let before = open_read(&path, Database::Index).unwrap().unwrap();
        before.execute_batch("BEGIN").unwrap();
        assert_eq!(held(&before), "old");
        fill(&beside(&path), "new");
        put_in_place(&path, Database::Index).unwrap();
        assert_eq!(held(&before), "old");
        let after = open_read(&path, Database::Index).unwrap().unwrap();
        assert_eq!(
            (held(&before), held(&after)),
            ("old".to_owned(), "new".to_owned())
        );
        drop(open_write(&path, Database::Index).unwrap());
        let again = open_read(&path, Database::Index).unwrap().unwrap();
        assert_eq!(
            [held(&before), held(&after), held(&again)],
            ["old", "new", "new"]
        );
        assert!(files(&beside(&path)).iter().all(|file| !file.exists()));
    }

    #[test]
    fn whatever_a_kill_leaves_is_one_of_both_databases_whole() {
        // The old database's log and shared memory as of each step, next to either database.
        for step in 0..4 {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("index.sqlite");
            fill(&path, "old");
            let busy = open_write(&path, Database::Index).unwrap();
            busy.execute("UPDATE sources SET root = '/b'", []).unwrap();
            let copies: Vec<_> = files(&path)
                .iter()
                .map(|file| fs::read(file).ok())
                .collect();
            fill(&beside(&path), "new");
            let expected = if step == 0 {
                "old"
            } else {
                put_in_place(&path, Database::Index).unwrap();
                // Killed before the shared memory was removed: it still refers to the old log.
                if step > 1 {
                    fs::write(&files(&path)[2], copies[2].as_ref().unwrap()).unwrap();
                }
                "new"
            };
            if step == 3 {
                drop(busy);
            }
            drop(open_write(&path, Database::Index).unwrap());
            clear_beside(&path).unwrap();
            assert_eq!(
                held(&open_read(&path, Database::Index).unwrap().unwrap()),
                expected,
                "{step}"
            );
            let verdict = super::super::damage(&path, Database::Index).unwrap();
            assert_eq!(verdict, None, "{step}");
        }
    }

    #[test]
    fn a_damaged_database_is_replaced_without_being_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index.sqlite");
        fill(&path, "old");
        let mut bytes = fs::read(&path).unwrap();
        bytes[100..].fill(0xa5);
        fs::write(&path, bytes).unwrap();
        fs::write(&files(&path)[3], "no journal").unwrap();
        fill(&beside(&path), "new");
        put_in_place(&path, Database::Index).unwrap();
        assert_eq!(
            held(&open_read(&path, Database::Index).unwrap().unwrap()),
            "new"
        );
    }
}
