//! A new projection is made beside the old one and takes its place when the index it belongs to has been put in place.
//!
//! Two renames: a reader that comes in between finds the projection of its index beside the folder, and a run that is killed
//! in between leaves it there for the next one.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::writer::{cannot_write, discard, is_ours, remove_unfinished};
use crate::error::Result;

/// The folder where a projection is made that is to take the place of the one in `dir`.
pub fn beside(dir: &Path) -> PathBuf {
    named(dir, ".new")
}

/// Where the old projection waits to be removed.
fn old(dir: &Path) -> PathBuf {
    named(dir, ".old")
}

fn named(dir: &Path, suffix: &str) -> PathBuf {
    let mut name = dir.file_name().map(OsString::from).unwrap_or_default();
    name.push(suffix);
    dir.with_file_name(name)
}

/// Takes away what a killed run left beside `dir`.
pub fn clear_beside(dir: &Path) -> Result<()> {
    remove(&beside(dir))?;
    remove(&old(dir))
}

/// Puts the projection that was made beside `dir` in its place; the old one is removed. Files in `dir` that are not of a
/// projection stay where they are. Whoever has the old one open searches it to the end.
pub fn put_in_place(dir: &Path) -> Result<()> {
    let (new, old) = (beside(dir), old(dir));
    remove(&old)?;
    let moved = |from: &Path, to: &Path| fs::rename(from, to).map_err(|error| cannot_write(to, &error));
    remove_unfinished(dir);
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if !is_ours(&path) {
            moved(&path, &new.join(entry.file_name()))?;
        }
    }
    if dir.exists() {
        moved(dir, &old)?;
    }
    moved(&new, dir)?;
    if let Some(folder) = dir.parent() {
        // Without it a crash of the system may bring the old one back, which is then behind and says so.
        let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
    }
    remove(&old)
}

/// Removes a projection's files, and its folder when nothing else is in it.
fn remove(dir: &Path) -> Result<()> {
    if !dir.is_dir() {
        return Ok(());
    }
    discard(dir)?;
    remove_unfinished(dir);
    match fs::remove_dir(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::DirectoryNotEmpty => Err(cannot_write(dir, &error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Reader, Stamp, Writer};
    use super::*;
    use crate::types::CommitId;

    fn make(dir: &Path, number: u8) {
        let mut writer = Writer::open(dir, 15_000_000, 1).unwrap();
        writer.commit(&stamp(number)).unwrap();
    }

    fn stamp(number: u8) -> Stamp {
        Stamp::new(CommitId::from_bytes([number; 16]))
    }

    fn seen(dir: &Path, number: u8) -> Option<Stamp> {
        Reader::open_for(dir, Some(CommitId::from_bytes([number; 16]))).unwrap().and_then(|reader| reader.stamp())
    }

    #[test]
    fn a_reader_finds_the_projection_of_its_index_at_every_step() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("lexical");
        make(&dir, 1);
        fs::write(dir.join("mine.txt"), "kept").unwrap();
        make(&beside(&dir), 2);
        assert_eq!((seen(&dir, 1), seen(&dir, 2)), (Some(stamp(1)), Some(stamp(2))));
        // Killed between the two renames.
        fs::rename(&dir, old(&dir)).unwrap();
        assert_eq!(seen(&dir, 2), Some(stamp(2)));
        fs::rename(old(&dir), &dir).unwrap();
        put_in_place(&dir).unwrap();
        assert_eq!((seen(&dir, 1), seen(&dir, 2)), (Some(stamp(2)), Some(stamp(2))));
        assert_eq!(fs::read_to_string(dir.join("mine.txt")).unwrap(), "kept");
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }
}
