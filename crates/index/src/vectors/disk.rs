//! The folder on disk: the only code in this module that creates, renames or removes files.
//!
//! A file appears under its name only when it is complete and synced.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use local_agent_files::state::{self, StateDirectory};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// One matrix folder, for writing.
pub(super) struct Disk {
    folder: StateDirectory,
    /// Steps left until the simulated crash.
    #[cfg(test)]
    pub(super) steps_left: Option<usize>,
}

impl Disk {
    /// Creates the folder if it is missing.
    pub(super) fn create(dir: &Path) -> Result<Self> {
        Ok(Self {
            folder: StateDirectory::make(dir).map_err(|e| write_error(dir, &e))?,
            #[cfg(test)]
            steps_left: None,
        })
    }

    /// Writes `parts` to `name`: first under another name, synced, then renamed over any existing
    /// file.
    pub(super) fn put(&mut self, name: &str, parts: &[&[u8]]) -> Result<()> {
        self.try_put(name, parts)
            .map_err(|e| write_error(&self.folder.path().join(name), &e))
    }

    fn try_put(&mut self, name: &str, parts: &[&[u8]]) -> io::Result<()> {
        let (temporary, mut file) = self.folder.create_unfinished()?;
        let written = self
            .write_parts(&mut file, parts)
            .and_then(|()| self.folder.rename(&temporary, name));
        // A simulated crash leaves the file, as a real one does.
        if written.is_err() && cfg!(not(test)) {
            let _ = self.folder.remove(&temporary);
        }
        written.and_then(|()| self.step())
    }

    fn write_parts(&mut self, file: &mut File, parts: &[&[u8]]) -> io::Result<()> {
        self.step()?;
        for part in parts {
            file.write_all(part)?;
            self.step()?;
        }
        file.sync_all()?;
        self.step()
    }

    /// Makes all renames so far durable across a power failure.
    pub(super) fn sync(&mut self) -> Result<()> {
        let synced = self.folder.sync().and_then(|()| self.step());
        synced.map_err(|e| write_error(self.folder.path(), &e))
    }

    /// Removes every file of this module's kinds that `keep` does not name. It is not an error if a
    /// file cannot be removed (on Windows, one that a reader still maps): nothing refers to it, and
    /// the next publication tries again.
    pub(super) fn sweep(&mut self, keep: impl Fn(&str) -> bool) {
        for entry in self.folder.entries().unwrap_or_default() {
            let ours =
                state::is_unfinished(&entry.name) || super::manifest::is_content_name(&entry.name);
            if ours && !keep(&entry.name) && self.step().is_ok() {
                let _ = self.folder.remove(&entry.name);
            }
        }
    }

    /// One point at which a process can die; tests simulate that here.
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

/// The whole of a small file; `None` if it does not exist.
pub(super) fn read_small(folder: &StateDirectory, name: &str, cap: u64) -> Result<Option<Vec<u8>>> {
    let path = folder.path().join(name);
    folder.read_bytes(name, cap).map_err(|e| match e.kind() {
        io::ErrorKind::InvalidData => super::corrupt(format!(
            "`{}` is larger than such a file can be.",
            path.display()
        )),
        _ => read_error(&path, &e),
    })
}

/// The folder of a matrix; `None` if it does not exist.
pub(super) fn open(dir: &Path) -> Result<Option<StateDirectory>> {
    StateDirectory::open(dir).map_err(|e| read_error(dir, &e))
}

/// The failure when a file of the matrix cannot be read.
pub(super) fn read_error(path: &Path, error: &io::Error) -> Failure {
    state::refusal(error).unwrap_or_else(|| {
        Failure::new(
            ErrorCode::DbError,
            format!("`{}` could not be read: {error}.", path.display()),
        )
        .with_command("local-agent doctor")
    })
}

fn write_error(path: &Path, error: &io::Error) -> Failure {
    state::refusal(error).unwrap_or_else(|| {
        Failure::new(
            ErrorCode::WriteError,
            format!("`{}` could not be written: {error}.", path.display()),
        )
        .with_hint("free some space or allow writing there, and run the command again")
    })
}
