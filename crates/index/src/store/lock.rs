//! One writer per job: `index.lock`, `embed.lock`.
//!
//! The lock is the operating system's lock on an open file and does not depend on the file's
//! existence. So a killed job leaves nothing to clean up. The file's text only names the holder.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::error::Result;
use local_agent_files::state::{self, StateDirectory};
use local_agent_text::error::{ErrorCode, Failure, Fix};

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub struct JobLock {
    _file: File,
}

impl JobLock {
    /// Takes the lock at `path` (its folder is created), waiting at most `wait`. `holder` is the
    /// sentence that others read while it is held: pid, command, start.
    pub fn take(path: &Path, holder: &str, wait: Duration) -> Result<Self> {
        let (folder, name) = super::split(path)?;
        let folder = StateDirectory::make_configured(folder).map_err(|e| unusable(path, &e))?;
        Self::take_in(&folder, name, holder, wait)
    }

    /// Takes the lock `name` in an open folder, like [`JobLock::take`].
    pub fn take_in(
        folder: &StateDirectory,
        name: &str,
        holder: &str,
        wait: Duration,
    ) -> Result<Self> {
        let path = &folder.path().join(name);
        let fail = |e: std::io::Error| unusable(path, &e);
        let mut file = folder.update(name).map_err(fail)?;
        // A process that only asks who holds the lock takes it shared for an instant. That does not
        // count as taken.
        let mut patience = Patience::new(wait.max(Duration::from_millis(150)));
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if patience.waits() => {}
                Err(TryLockError::WouldBlock) => return Err(taken(path, &mut file).into()),
                Err(TryLockError::Error(e)) => return Err(fail(e).into()),
            }
        }
        name_holder(&mut file, holder).map_err(fail)?;
        Ok(Self { _file: file })
    }

    /// Takes a shared lock at `path`, which keeps exclusive lockers out, waiting at most `wait`.
    /// Creates and changes nothing. `None`: the file does not exist or cannot be opened.
    ///
    /// # Errors
    /// `LOCKED`: another process held it all the time.
    pub fn share(path: &Path, wait: Duration) -> Result<Option<Self>> {
        let Some(mut file) = existing(path) else {
            return Ok(None);
        };
        let mut patience = Patience::new(wait);
        loop {
            match file.try_lock_shared() {
                Ok(()) => return Ok(Some(Self { _file: file })),
                Err(TryLockError::WouldBlock) if patience.waits() => {}
                Err(TryLockError::WouldBlock) => return Err(taken(path, &mut file).into()),
                Err(TryLockError::Error(_)) => return Ok(None),
            }
        }
    }

    /// Returns the holder's description if some process holds the lock at `path` now. Creates
    /// nothing.
    pub fn holder(path: &Path) -> Option<String> {
        let (folder, name) = super::split(path).ok()?;
        Self::holder_in(&StateDirectory::open_configured(folder).ok()??, name)
    }

    /// Like [`JobLock::holder`], for the lock `name` in an open folder.
    pub fn holder_in(folder: &StateDirectory, name: &str) -> Option<String> {
        let mut file = folder.read(name).ok()??;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(read_holder(&mut file)),
            _ => None,
        }
    }

    /// The lock file next to a database.
    pub fn path_beside(database: &Path, name: &str) -> PathBuf {
        database.with_file_name(name)
    }
}

/// The lock file at `path`, if it exists and can be read.
fn existing(path: &Path) -> Option<File> {
    let (folder, name) = super::split(path).ok()?;
    let folder = StateDirectory::open_configured(folder).ok()??;
    folder.read(name).ok()?
}

/// Writes the holder's description over the one before.
fn name_holder(file: &mut File, holder: &str) -> std::io::Result<()> {
    let line = format!("{holder}\n");
    let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
    // Most descriptions are as long as the one before, and a file that keeps its length need not be
    // cut.
    if file.metadata()?.len() > length {
        file.set_len(length)?;
    }
    file.seek(SeekFrom::Start(0))?;
    file.write_all(line.as_bytes())
}

fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    state::refusal(error).unwrap_or_else(|| {
        Failure::new(
            ErrorCode::WriteError,
            format!("the lock file {} cannot be used: {error}", path.display()),
        )
        .with_hint(super::MAKE_ROOM)
    })
}

/// Waits between two attempts: at first a fraction of what the shortest holder needs, later longer,
/// with a random part so that processes do not retry in step.
struct Patience {
    began: Instant,
    /// `None`: later than the clock can tell.
    until: Option<Instant>,
    pause: Duration,
}

impl Patience {
    const FIRST: Duration = Duration::from_micros(200);
    /// For the time in which ledger lines are written: some milliseconds.
    const SHORT: Duration = Duration::from_millis(4);
    /// For the time of a running job: minutes.
    const LONG: Duration = Duration::from_millis(50);

    fn new(wait: Duration) -> Self {
        let began = Instant::now();
        Self {
            began,
            until: began.checked_add(wait),
            pause: Self::FIRST,
        }
    }

    /// Sleeps for a while; `false` if the time is over.
    fn waits(&mut self) -> bool {
        let now = Instant::now();
        let left = match self.until {
            Some(until) => until.saturating_duration_since(now),
            None => Duration::MAX,
        };
        if left.is_zero() {
            return false;
        }
        // The low digits of the clock serve as a random number: sleeps half of the pause plus up to
        // as much again.
        let nanos = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |d| d.subsec_nanos());
        let half = self.pause / 2;
        std::thread::sleep((half + half * (nanos / 100 % 64) / 64).min(left));
        let most = if now - self.began < Duration::from_secs(1) {
            Self::SHORT
        } else {
            Self::LONG
        };
        self.pause = (self.pause * 2).min(most);
        true
    }
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

/// The hint of `LOCKED` when another job holds the lock. Only then does `--wait` help.
pub const WAIT_FOR_JOB: &str = "wait for it to end";

fn taken(path: &Path, file: &mut File) -> Failure {
    Failure::new(
        ErrorCode::Locked,
        format!("{} is held by {}", path.display(), read_holder(file)),
    )
    .with_fix(Fix::WaitForJob, WAIT_FOR_JOB)
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
        let refused =
            Failure::from(JobLock::take(&path, "pid 8", Duration::from_millis(60)).unwrap_err());
        assert_eq!(refused.code, ErrorCode::Locked);
        assert!(
            refused.message.contains("pid 7, `index`, since noon"),
            "{}",
            refused.message
        );
        assert_eq!(
            JobLock::holder(&path).as_deref(),
            Some("pid 7, `index`, since noon")
        );
        drop(held);
        assert_eq!(JobLock::holder(&path), None);
        JobLock::take(&path, "pid 8", Duration::ZERO).unwrap();
    }

    #[test]
    fn one_may_wait_for_as_long_as_a_number_can_say() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index.lock");
        let held = JobLock::take(&path, "pid 7", Duration::MAX).unwrap();
        let wait = Duration::from_secs(u64::MAX);
        std::thread::scope(|threads| {
            let waiting = threads.spawn(|| JobLock::take(&path, "pid 8", wait));
            std::thread::sleep(Duration::from_millis(20));
            drop(held);
            waiting.join().unwrap().unwrap();
        });
    }

    #[test]
    fn who_shares_the_lock_keeps_takers_out_and_makes_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ledger.lock");
        assert!(JobLock::share(&path, Duration::ZERO).unwrap().is_none());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let held = JobLock::take(&path, "pid 7", Duration::ZERO).unwrap();
        let busy = JobLock::share(&path, Duration::from_millis(5)).unwrap_err();
        assert_eq!(busy.code(), ErrorCode::Locked);
        drop(held);
        let shared = JobLock::share(&path, Duration::ZERO).unwrap();
        assert!(shared.is_some());
        assert!(JobLock::share(&path, Duration::ZERO).unwrap().is_some());
        assert_eq!(
            JobLock::take(&path, "pid 8", Duration::ZERO)
                .unwrap_err()
                .code(),
            ErrorCode::Locked
        );
        drop(shared);
        JobLock::take(&path, "pid 8", Duration::ZERO).unwrap();
    }

    #[test]
    fn one_who_waits_gets_the_lock_when_it_is_free_and_every_one_of_many_does() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ledger.lock");
        let (count, wait) = (
            std::sync::atomic::AtomicU32::new(0),
            Duration::from_secs(60),
        );
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    for _ in 0..20 {
                        let _held = JobLock::take(&path, "one of many", wait).unwrap();
                        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), 160);
    }
}
