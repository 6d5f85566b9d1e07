//! Records that `durable.sqlite` was created: a marker file next to it, so that a missing or empty
//! database is not mistaken for a new one.
//!
//! Other evidence of it: the log that SQLite leaves next to a database and, next to a database with
//! the usual name, a ledger of runs with lines, because the database is created before the first
//! line.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::error::Result;
use super::{split, unwritable};
use local_agent_files::state::StateDirectory;
use local_agent_text::error::{ErrorCode, Failure};

/// The default name of the database.
const USUAL: &str = "durable.sqlite";

const TEXT: &str = "Memory and the head of the ledger of runs were begun in the database beside this note. When that \
                    database is gone or empty, restore it from a backup, or run: local-agent memory repair --begin-anew\n";

/// `durable.begun` for `durable.sqlite`; a name that does not match a glob for the database and
/// SQLite's side files.
fn note_of(path: &Path) -> PathBuf {
    path.with_extension("begun")
}

/// Whether there has ever been a database at `path`. Creates nothing.
pub(super) fn was_begun(path: &Path) -> bool {
    let Ok((folder, name)) = split(path) else {
        return false;
    };
    let Ok(Some(folder)) = StateDirectory::open_configured(folder) else {
        return false;
    };
    // A link in its place says nothing.
    let metadata = |name: &str| folder.metadata(name).ok().flatten();
    let holds = |name: &str| metadata(name).is_some_and(|meta| meta.is_file());
    note_of(path)
        .file_name()
        .and_then(|note| note.to_str())
        .is_some_and(holds)
        || holds(&format!("{name}-wal"))
        || name == USUAL && has_ledger(&folder)
}

/// Whether the usual folder of runs has a ledger with lines.
fn has_ledger(folder: &StateDirectory) -> bool {
    let Ok(Some(runs)) = folder.child("runs") else {
        return false;
    };
    let Ok(Some(meta)) = runs.metadata("ledger.jsonl") else {
        return false;
    };
    meta.is_file() && meta.len() > 0
}

/// Writes the marker file if it does not exist. A link in its place is not followed.
pub(super) fn note(path: &Path) -> Result<()> {
    let note = note_of(path);
    let (folder, name) = split(&note)?;
    let fail = |e: io::Error| unwritable(&note, "made", &e);
    let folder = StateDirectory::make_configured(folder).map_err(fail)?;
    if folder.metadata(name).map_err(fail)?.is_some() {
        return Ok(());
    }
    match folder.create_new(name) {
        Ok(mut file) => file
            .write_all(TEXT.as_bytes())
            .and_then(|()| file.sync_all())
            .map_err(|e| fail(e).into()),
        // Another process was faster.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(e) => Err(fail(e).into()),
    }
}

/// The advice if durable memory is lost.
pub const BEGIN_ANEW: &str =
    "restore it from a backup, or without one `local-agent memory repair --begin-anew`";

/// The failure when a required database was lost.
pub(super) fn missing(path: &Path) -> Failure {
    let what = if path.exists() { "is empty" } else { "is gone" };
    let message = format!(
        "{} {what}, and there was a database of memory before",
        path.display()
    );
    Failure::new(ErrorCode::DurableMissing, message).with_command(BEGIN_ANEW)
}

#[cfg(test)]
mod tests {
    use super::super::Durable;
    use super::*;

    fn lost(path: &Path) {
        let codes = [
            Durable::open_write(path).unwrap_err().code(),
            Durable::open_read(path).unwrap_err().code(),
            if Durable::is_missing(path).unwrap() {
                ErrorCode::DurableMissing
            } else {
                ErrorCode::InternalError
            },
        ];
        assert_eq!(codes, [ErrorCode::DurableMissing; 3]);
    }

    /// A link was taken for the note that memory was begun.
    #[cfg(unix)]
    #[test]
    fn a_link_in_place_of_the_note_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("durable.sqlite");
        std::fs::write(dir.path().join("other"), "x").unwrap();
        std::os::unix::fs::symlink(dir.path().join("other"), note_of(&path)).unwrap();
        assert!(!was_begun(&path));
        std::fs::remove_file(note_of(&path)).unwrap();
        std::fs::write(note_of(&path), TEXT).unwrap();
        assert!(was_begun(&path));
    }

    #[test]
    fn a_database_that_is_gone_or_empty_is_no_new_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("durable.sqlite");
        assert!(
            Durable::open_read(&path).unwrap().is_none() && !Durable::is_missing(&path).unwrap()
        );
        assert_eq!(
            std::fs::read_dir(dir.path()).unwrap().count(),
            0,
            "a look leaves nothing"
        );
        drop(Durable::open_write(&path).unwrap());
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, "").unwrap();
        lost(&path);
        for file in super::super::with_side_files("durable.sqlite") {
            let _ = std::fs::remove_file(dir.path().join(file));
        }
        lost(&path);
        std::fs::write(&path, &bytes).unwrap();
        assert!(
            Durable::open_read(&path).unwrap().is_some(),
            "restored, all is well"
        );
        std::fs::remove_file(&path).unwrap();
        assert!(Durable::begin_anew(&path, "now").unwrap());
        assert!(
            !Durable::begin_anew(&path, "now").unwrap(),
            "what is there stays"
        );
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
