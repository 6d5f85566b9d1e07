//! Files and folders for their owner alone, written whole or not at all.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use crate::error::{ErrorCode, Failure, Result};

/// Every failure to keep a record is this one: an answer without its record is not given.
pub(super) fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::WriteError, format!("the record of the run cannot be kept: {}: {error}", path.display()))
        .with_hint("free some space or allow writing there, set `runs.dir` to another folder, or `runs.enabled: false`")
}

/// Makes a folder and what is missing above it; what is made is for its owner alone.
pub fn make_folder(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|e| unwritable(path, &e))
}

/// Writes the whole file or nothing: a new file for its owner alone, synced, renamed into place, the folder synced.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || {
        let mut new = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
        new.write_all(bytes)?;
        new.as_file().sync_all()?;
        new.persist(path).map_err(|e| e.error)?;
        sync_folder(folder)
    };
    write().map_err(|e| unwritable(path, &e))
}

/// Makes a rename or a new name in `folder` last through a power failure, where the system can.
pub(super) fn sync_folder(folder: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = (folder, File::open);
    Ok(())
}

/// Whether anybody but the owner may read or change `path`. `false` where the system has no such modes.
pub fn is_open_to_others(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::symlink_metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_whole_and_private() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a/b");
        make_folder(&folder).unwrap();
        let file = folder.join("run.json");
        write(&file, b"one").unwrap();
        write(&file, b"two").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing half-written is left");
        assert!(!is_open_to_others(&file) && !is_open_to_others(&folder) && !is_open_to_others(&dir.path().join("a")));
        let failure = write(&dir.path().join("nowhere/run.json"), b"x").unwrap_err();
        assert_eq!(failure.code, ErrorCode::WriteError);
    }
}
