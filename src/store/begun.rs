//! That `durable.sqlite` was begun: a note beside it, so that one that is gone or empty is no new beginning.
//!
//! What else says so: the log that SQLite leaves beside a database, and, beside a database of the usual name, a ledger of
//! runs with lines, for the database is made before the first of them.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::side_file;
use crate::error::{ErrorCode, Failure, Result};

/// The name of the database, where the configuration says nothing else.
const USUAL: &str = "durable.sqlite";

const TEXT: &str = "Memory and the head of the ledger of runs were begun in the database beside this note. When that \
                    database is gone or empty, restore it from a backup, or run: local-agent memory repair --begin-anew\n";

/// `durable.begun` for `durable.sqlite`; a name that a pattern for the database and SQLite's own files does not fit.
fn note_of(path: &Path) -> PathBuf {
    path.with_extension("begun")
}

/// Whether there was a database at `path` once. Creates nothing.
pub(super) fn was_begun(path: &Path) -> bool {
    let ledger = || path.with_file_name("runs").join("ledger.jsonl");
    note_of(path).exists()
        || side_file(path, "-wal").exists()
        || path.file_name().is_some_and(|name| name == USUAL)
            && std::fs::metadata(ledger()).is_ok_and(|ledger| ledger.is_file() && ledger.len() > 0)
}

/// Writes the note, unless it is there. A link at its place is not followed.
pub(super) fn note(path: &Path) -> Result<()> {
    let note = note_of(path);
    if note.symlink_metadata().is_ok() {
        return Ok(());
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(&note).and_then(|mut file| file.write_all(TEXT.as_bytes()).and_then(|()| file.sync_all())) {
        // Another process was first.
        Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(Failure::new(ErrorCode::WriteError, format!("{} cannot be made: {e}", note.display()))
                .with_hint(super::MAKE_ROOM))
        }
        _ => Ok(()),
    }
}

/// The failure of whoever needs a database that was lost.
pub(super) fn missing(path: &Path) -> Failure {
    let what = if path.exists() { "is empty" } else { "is gone" };
    let message = format!("{} {what}, and there was a database of memory before", path.display());
    Failure::new(ErrorCode::DurableMissing, message)
        .with_hint("restore it from a backup; without one: local-agent memory repair --begin-anew")
}

#[cfg(test)]
mod tests {
    use super::super::Durable;
    use super::*;

    fn lost(path: &Path) {
        let codes = [
            Durable::open_write(path).unwrap_err().code,
            Durable::open_read(path).unwrap_err().code,
            if Durable::is_missing(path).unwrap() { ErrorCode::DurableMissing } else { ErrorCode::InternalError },
        ];
        assert_eq!(codes, [ErrorCode::DurableMissing; 3]);
    }

    #[test]
    fn a_database_that_is_gone_or_empty_is_no_new_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("durable.sqlite");
        assert!(Durable::open_read(&path).unwrap().is_none() && !Durable::is_missing(&path).unwrap());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "a look leaves nothing");
        drop(Durable::open_write(&path).unwrap());
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, "").unwrap();
        lost(&path);
        for file in super::super::with_side_files(&path) {
            let _ = std::fs::remove_file(file);
        }
        lost(&path);
        std::fs::write(&path, &bytes).unwrap();
        assert!(Durable::open_read(&path).unwrap().is_some(), "restored, all is well");
        std::fs::remove_file(&path).unwrap();
        assert!(Durable::begin_anew(&path, "now").unwrap());
        assert!(!Durable::begin_anew(&path, "now").unwrap(), "what is there stays");
        drop(Durable::open_write(&path).unwrap());
    }

    #[test]
    fn a_ledger_with_lines_or_a_log_says_that_there_was_one() {
        for sign in ["runs/ledger.jsonl", "durable.sqlite-wal"] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("durable.sqlite");
            std::fs::create_dir(dir.path().join("runs")).unwrap();
            std::fs::write(dir.path().join(sign), "x").unwrap();
            lost(&path);
            assert!(Durable::begin_anew(&path, "now").unwrap());
            assert!(Durable::open_read(&path).unwrap().is_some());
        }
    }

    #[test]
    fn a_making_that_was_cut_short_is_done_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("durable.sqlite");
        std::fs::write(&path, "").unwrap();
        assert!(!Durable::is_missing(&path).unwrap());
        drop(Durable::open_write(&path).unwrap());
    }
}
