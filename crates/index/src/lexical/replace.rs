//! Replaces the projection: a new one is built next to the old one, and swapped in after the index
//! that it belongs to.
//!
//! This takes two renames: a reader in between finds the projection for its index next to the
//! folder, and a run killed in between leaves it there for the next run.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::directory::is_ours;
use super::writer::cannot_write;
use local_agent_files::state::StateDirectory;
use local_agent_text::error::{ErrorCode, Failure, Result};

/// The folder in which the replacement for the projection in `dir` is built.
pub fn beside(dir: &Path) -> PathBuf {
    let mut name = dir.file_name().map(OsString::from).unwrap_or_default();
    name.push(NEW);
    dir.with_file_name(name)
}

/// The suffix for the folder of a replacement.
const NEW: &str = ".new";

/// The suffix for the old folder until it is removed.
const OLD: &str = ".old";

/// Removes what a killed run left next to `dir`.
pub fn clear_beside(dir: &Path) -> Result<()> {
    let Some((parent, name)) = open_parent(dir)? else {
        return Ok(());
    };
    let remove = |ending: &str| remove(&parent, &format!("{name}{ending}"));
    remove(NEW)
        .and_then(|()| remove(OLD))
        .map_err(|error| cannot_write(dir, &error))
}

/// Swaps in the projection that was built next to `dir`, and removes the old one. Files in `dir`
/// that do not belong to a projection stay where they are. A reader that has the old one open can
/// finish its search.
pub fn put_in_place(dir: &Path) -> Result<()> {
    let Some((parent, name)) = open_parent(dir)? else {
        return Ok(());
    };
    replace(&parent, name).map_err(|error| cannot_write(dir, &error))
}

fn replace(parent: &StateDirectory, name: &str) -> io::Result<()> {
    let (new, old) = (format!("{name}{NEW}"), format!("{name}{OLD}"));
    let Some(made) = parent.child(&new)? else {
        return Err(io::ErrorKind::NotFound.into());
    };
    remove(parent, &old)?;
    if let Some(present) = parent.child(name)? {
        present.remove_unfinished();
        for entry in present.entries()? {
            if !is_ours(&entry.name) {
                present.rename_into(&entry.name, &made, &entry.name)?;
            }
        }
        parent.rename(name, &old)?;
    }
    parent.rename(&new, name)?;
    // Without the sync, a system crash may restore the old projection, which is then stale and
    // reports it.
    let _ = parent.sync();
    remove(parent, &old)
}

/// The parent folder of the projection's folder, and the name of the latter; `None` if it does not
/// exist.
fn open_parent(dir: &Path) -> Result<Option<(StateDirectory, &str)>> {
    let (Some(parent), Some(name)) = (dir.parent(), dir.file_name().and_then(|name| name.to_str()))
    else {
        return Err(Failure::new(
            ErrorCode::ConfigError,
            format!("{} names no folder", dir.display()),
        )
        .with_command("local-agent config show"));
    };
    let parent =
        StateDirectory::open_configured(parent).map_err(|error| cannot_write(dir, &error))?;
    Ok(parent.map(|parent| (parent, name)))
}

/// Removes a projection's files, and its folder if nothing else is in it.
fn remove(parent: &StateDirectory, name: &str) -> io::Result<()> {
    let Some(folder) = parent.child(name)? else {
        return Ok(());
    };
    folder.remove_unfinished();
    for entry in folder.entries()? {
        if is_ours(&entry.name) {
            folder.remove(&entry.name)?;
        }
    }
    match parent.remove_empty_folder(name) {
        Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::{LexicalStamp, LexicalWriter, Reader};
    use super::*;
    use local_agent_text::types::CommitId;

    fn make(dir: &Path, number: u8) {
        let mut writer = LexicalWriter::open(dir, 15_000_000, 1).unwrap();
        writer.commit(&stamp(number)).unwrap();
    }

    fn stamp(number: u8) -> LexicalStamp {
        LexicalStamp::new(CommitId::from_bytes([number; 16]))
    }

    fn seen(dir: &Path, number: u8) -> Option<LexicalStamp> {
        Reader::open_for(dir, Some(CommitId::from_bytes([number; 16])))
            .unwrap()
            .and_then(|reader| reader.stamp())
    }

    #[test]
    fn a_reader_finds_the_projection_of_its_index_at_every_step() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("lexical");
        make(&dir, 1);
        fs::write(dir.join("mine.txt"), "kept").unwrap();
        make(&beside(&dir), 2);
        assert_eq!(
            (seen(&dir, 1), seen(&dir, 2)),
            (Some(stamp(1)), Some(stamp(2)))
        );
        // The state after a kill between the two renames.
        fs::rename(&dir, root.path().join("lexical.old")).unwrap();
        assert_eq!(seen(&dir, 2), Some(stamp(2)));
        fs::rename(root.path().join("lexical.old"), &dir).unwrap();
        put_in_place(&dir).unwrap();
        assert_eq!(
            (seen(&dir, 1), seen(&dir, 2)),
            (Some(stamp(2)), Some(stamp(2)))
        );
        assert_eq!(fs::read_to_string(dir.join("mine.txt")).unwrap(), "kept");
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }
}
