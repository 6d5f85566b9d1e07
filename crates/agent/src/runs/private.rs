//! Files and folders with owner-only permissions, written completely or not at all.

use std::fs;
use std::path::Path;

use local_agent_files::state::{self, StateDirectory};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// The failure for a record that cannot be stored. An answer without its record is not shown.
pub(super) fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    state::refusal(error).unwrap_or_else(|| {
        let message = format!("the record of the run cannot be kept: {}: {error}", path.display());
        let hint = "free some space or allow writing there, set `runs.dir` to another folder, or `runs.enabled: false`";
        Failure::new(ErrorCode::WriteError, message).with_hint(hint)
    })
}

/// The folder of all runs, created with owner-only permissions if it does not exist.
pub(super) fn make_folder(path: &Path) -> Result<StateDirectory> {
    StateDirectory::make(path).map_err(|e| unwritable(path, &e))
}

/// Writes the whole file or nothing.
pub(super) fn write(folder: &StateDirectory, name: &str, bytes: &[u8]) -> Result<()> {
    folder
        .replace(name, bytes)
        .map_err(|e| unwritable(&folder.path().join(name), &e))
}

/// Whether anyone but the owner may read or change `path`. `false` on systems without such
/// permissions.
pub fn is_open_to_others(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
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
        let path = dir.path().join("a/b");
        let folder = make_folder(&path).unwrap();
        write(&folder, "run.json", b"one").unwrap();
        write(&folder, "run.json", b"two").unwrap();
        let file = path.join("run.json");
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert_eq!(
            fs::read_dir(&path).unwrap().count(),
            1,
            "nothing half-written is left"
        );
        assert!(
            !is_open_to_others(&file)
                && !is_open_to_others(&path)
                && !is_open_to_others(&dir.path().join("a"))
        );
        fs::remove_dir_all(&path).unwrap();
        assert_eq!(
            write(&folder, "run.json", b"x").unwrap_err().code,
            ErrorCode::WriteError
        );
    }
}
