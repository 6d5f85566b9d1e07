//! Checks whether the folders that a confined process may open are still the same. The kernel's
//! rules apply to folders and not to their names, so the process cannot open a folder that was
//! recreated.

use std::fs;
use std::path::{Path, PathBuf};

use crate::config::Config;

/// The identity of the folder at each path when it was recorded.
#[derive(Debug, Clone)]
pub struct RootIdentities(Vec<(PathBuf, Option<Id>)>);

/// Device and inode.
type Id = (u64, u64);

impl RootIdentities {
    /// Records the sources and the folder of the program's own state.
    pub fn of(config: &Config) -> Self {
        let roots = config.sources.iter().map(|source| source.root.clone());
        let all = roots.chain([config.state_dir.clone()]);
        Self(all.map(|path| (path.clone(), id(&path))).collect())
    }

    /// A folder that has been replaced by another one; a missing folder does not count.
    pub fn replaced(&self) -> Option<&Path> {
        self.0
            .iter()
            .find(|(path, before)| was_replaced(path, *before))
            .map(|(path, _)| path.as_path())
    }
}

/// Whether another file is at the path now.
fn was_replaced(path: &Path, before: Option<Id>) -> bool {
    let now = id(path);
    now.is_some() && now != before
}

#[cfg(unix)]
fn id(path: &Path) -> Option<Id> {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
fn id(path: &Path) -> Option<Id> {
    fs::metadata(path).ok().map(|_| (0, 0))
}
