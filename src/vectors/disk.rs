//! The folder on disk: the only code of this room that creates, renames or removes files.
//!
//! A file appears under its name complete and synced, or not at all.

use std::fs::{self, File};
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use crate::error::{ErrorCode, Failure, Result};

/// How the names of unfinished files start and end; the next publication removes what a crash left of them.
const UNFINISHED: (&str, &str) = ("tmp-", ".part");

/// One matrix folder, for writing.
pub(super) struct Disk {
    dir: PathBuf,
    /// Steps left until the simulated crash.
    #[cfg(test)]
    pub(super) steps_left: Option<usize>,
}

impl Disk {
    /// Creates the folder if it is missing.
    pub(super) fn create(dir: &Path) -> Result<Self> {
        fs::create_dir_all(dir).map_err(|e| write_error(dir, &e))?;
        Ok(Self {
            dir: dir.to_owned(),
            #[cfg(test)]
            steps_left: None,
        })
    }

    /// Writes `parts` under `name`: to another name first, synced, then renamed over whatever was there.
    pub(super) fn put(&mut self, name: &str, parts: &[&[u8]]) -> Result<()> {
        let target = self.dir.join(name);
        self.try_put(&target, parts).map_err(|e| write_error(&target, &e))
    }

    fn try_put(&mut self, target: &Path, parts: &[&[u8]]) -> io::Result<()> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED.0).suffix(UNFINISHED.1);
        #[cfg(unix)]
        {
            // The same rights as every other new file of this user; tempfile alone would make it unreadable to others.
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut file = builder.tempfile_in(&self.dir)?;
        #[cfg(test)]
        file.disable_cleanup(true);
        self.step()?;
        for part in parts {
            file.write_all(part)?;
            self.step()?;
        }
        file.as_file().sync_all()?;
        self.step()?;
        file.persist(target)?;
        self.step()
    }

    /// Makes the renames so far survive a power cut.
    pub(super) fn sync(&mut self) -> Result<()> {
        // Windows cannot sync a folder, and its renames are journalled.
        #[cfg(unix)]
        File::open(&self.dir).and_then(|d| d.sync_all()).map_err(|e| write_error(&self.dir, &e))?;
        let dir = self.dir.clone();
        self.step().map_err(|e| write_error(&dir, &e))
    }

    /// Removes every file of this room's kinds that `keep` does not name. What cannot be removed (on Windows a file
    /// that a reader still maps) is no failure: nothing refers to it, and the next publication tries again.
    pub(super) fn sweep(&mut self, keep: impl Fn(&str) -> bool) {
        let Ok(entries) = fs::read_dir(&self.dir) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let unfinished = name.starts_with(UNFINISHED.0) && name.ends_with(UNFINISHED.1);
            let ours = unfinished || super::manifest::is_content_name(name);
            if ours && !keep(name) && self.step().is_ok() {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// One point at which a process can die; tests make it die there.
    #[cfg(test)]
    fn step(&mut self) -> io::Result<()> {
        match &mut self.steps_left {
            Some(0) => Err(io::Error::other("simulated crash")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)] // the shape that tests need
    fn step(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The whole of a small file; `None` if there is none.
pub(super) fn read_small(path: &Path, cap: u64) -> Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(read_error(path, &e)),
    };
    let mut bytes = Vec::new();
    file.take(cap + 1).read_to_end(&mut bytes).map_err(|e| read_error(path, &e))?;
    if bytes.len() as u64 > cap {
        return Err(super::corrupt(format!("`{}` is larger than such a file can be.", path.display())));
    }
    Ok(Some(bytes))
}

/// A file of the matrix could not be read.
pub(super) fn read_error(path: &Path, error: &io::Error) -> Failure {
    Failure::new(ErrorCode::DbError, format!("`{}` could not be read: {error}.", path.display()))
        .with_hint("local-agent doctor")
}

fn write_error(path: &Path, error: &io::Error) -> Failure {
    Failure::new(ErrorCode::WriteError, format!("`{}` could not be written: {error}.", path.display()))
        .with_hint("free some space or allow writing there, and run the command again")
}
