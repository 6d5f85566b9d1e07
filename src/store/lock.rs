//! One writer a job: `index.lock`, `embed.lock`.
//!
//! The lock is the operating system's lock on an open file, never the file's existence, so a killed job leaves nothing
//! to clean up. The file's text only tells the next one who holds it.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::{ErrorCode, Failure, Result};
use crate::state::{self, StateDirectory};

/// Held until dropped.
#[derive(Debug)]
pub struct JobLock {
    _file: File,
}

impl JobLock {
    /// Takes the lock at `path` (its folder is made), waiting at most `wait`. `holder` is the sentence that others read
    /// while it is held: pid, command, start.
    pub fn take(path: &Path, holder: &str, wait: Duration) -> Result<Self> {
        let (folder, name) = super::split(path)?;
        let folder = StateDirectory::make_configured(folder).map_err(|e| unusable(path, &e))?;
        Self::take_in(&folder, name, holder, wait)
    }

    /// Takes the lock `name` in an open folder, as [`JobLock::take`] does.
    pub fn take_in(folder: &StateDirectory, name: &str, holder: &str, wait: Duration) -> Result<Self> {
        let path = &folder.path().join(name);
        let fail = |e: std::io::Error| unusable(path, &e);
        let mut file = folder.update(name).map_err(fail)?;
        // Somebody who only asks who holds the lock holds it shared for an instant; that is not "taken".
        let deadline = Instant::now() + wait.max(Duration::from_millis(150));
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(50));
                }
                Err(TryLockError::WouldBlock) => return Err(taken(path, &mut file)),
                Err(TryLockError::Error(e)) => return Err(fail(e)),
            }
        }
        file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).map_err(fail)?;
        writeln!(file, "{holder}").map_err(fail)?;
        Ok(Self { _file: file })
    }

    /// Whether some process holds the lock at `path` now, and what it says of itself. Creates nothing.
    pub fn holder(path: &Path) -> Option<String> {
        let (folder, name) = super::split(path).ok()?;
        Self::holder_in(&StateDirectory::open_configured(folder).ok()??, name)
    }

    /// As [`JobLock::holder`], for the lock `name` in an open folder.
    pub fn holder_in(folder: &StateDirectory, name: &str) -> Option<String> {
        let mut file = folder.read(name).ok()??;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(read_holder(&mut file)),
            _ => None,
        }
    }

    /// The lock file that stands beside a database.
    pub fn path_beside(database: &Path, name: &str) -> PathBuf {
        database.with_file_name(name)
    }
}

fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    state::refusal(error).unwrap_or_else(|| {
        Failure::new(ErrorCode::WriteError, format!("the lock file {} cannot be used: {error}", path.display()))
            .with_hint(super::MAKE_ROOM)
    })
}

fn read_holder(file: &mut File) -> String {
    let mut text = String::new();
    let _ = file.seek(SeekFrom::Start(0));
    let _ = file.take(400).read_to_string(&mut text);
    match text.trim() {
        "" => "an unnamed process".to_owned(),
        holder => holder.to_owned(),
    }
}

fn taken(path: &Path, file: &mut File) -> Failure {
    Failure::new(ErrorCode::Locked, format!("{} is held by {}", path.display(), read_holder(file)))
        .with_hint("wait for it to end, or pass --wait SECS")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s36_a_second_job_is_told_who_holds_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/index.lock");
        assert_eq!(JobLock::holder(&path), None);
        let held = JobLock::take(&path, "pid 7, `index`, since noon", Duration::ZERO).unwrap();
        let refused = JobLock::take(&path, "pid 8", Duration::from_millis(60)).unwrap_err();
        assert_eq!(refused.code, ErrorCode::Locked);
        assert!(refused.message.contains("pid 7, `index`, since noon"), "{}", refused.message);
        assert_eq!(JobLock::holder(&path).as_deref(), Some("pid 7, `index`, since noon"));
        drop(held);
        assert_eq!(JobLock::holder(&path), None);
        JobLock::take(&path, "pid 8", Duration::ZERO).unwrap();
    }
}
