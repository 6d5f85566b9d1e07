//! Downloads files from a model hub through `hf-hub`.
//!
//! The library is restricted: it writes only below a staging folder, gets no token from the user's
//! own cache, and runs on a separate thread, because it has no timeouts and no size limit. The size
//! and the names that the server sends are checked before the library uses them; silence ends the
//! wait, and more bytes than announced end the download.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use hf_hub::api::sync::{Api, ApiBuilder, ApiError};
use hf_hub::{Cache, Repo, RepoType};

use local_agent_text::error::{ErrorCode, Failure, Result};

/// A commit of a repository on a server.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Scheme, host and port of the hub.
    pub endpoint: String,
    /// `owner/name`.
    pub repo: String,
    /// A commit (40 hexadecimal digits), or for [`resolve`] a branch or tag.
    pub revision: String,
    /// How long the server may be silent.
    pub idle: Duration,
}

/// One downloaded file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Its path below the staging folder.
    pub path: PathBuf,
    /// The SHA-256 that the server announced (hubs do for large files).
    pub announced_sha256: Option<String>,
}

/// How often an interrupted download is resumed.
const RETRIES: usize = 3;

/// Downloads `file` below `staging`, or resumes an earlier attempt. `None` if the repository does
/// not have the file. `progress` gets the bytes so far and the total, on the calling thread.
///
/// Errors: `MODEL_PULL_ERROR`, also for a file larger than `max_bytes` and for a commit other than
/// the requested one.
pub fn fetch(
    remote: &Remote,
    file: &str,
    staging: &Path,
    max_bytes: u64,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Option<Fetched>> {
    let (sender, events) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    let job = Job {
        remote: remote.clone(),
        file: file.to_owned(),
        staging: staging.to_owned(),
        max_bytes,
        events: sender,
        stop: stop.clone(),
    };
    std::thread::spawn(move || {
        let result = job.run();
        // After a timeout nobody is listening.
        let _ = job.events.send(Event::Done(result));
    });
    loop {
        match events.recv_timeout(remote.idle) {
            Ok(Event::Bytes { so_far, total }) => progress(so_far, total),
            Ok(Event::Done(result)) => return result,
            Err(RecvTimeoutError::Timeout) => {
                stop.store(true, Ordering::Relaxed);
                return Err(remote.was_silent(file));
            }
            Err(RecvTimeoutError::Disconnected) => return Err(ended_early()),
        }
    }
}

/// The commit that a branch or tag of a repository is at now: `remote.revision` is its name, and
/// `file` a file that it has. `None` if the server knows no such file or no such name.
///
/// Errors: `MODEL_PULL_ERROR`.
pub fn resolve(remote: &Remote, file: &str) -> Result<Option<String>> {
    let (sender, answer) = channel();
    let (of, name) = (remote.clone(), file.to_owned());
    std::thread::spawn(move || {
        // After a timeout nobody is listening.
        let found = catch_unwind(AssertUnwindSafe(|| commit_of(&of, &name)));
        let _ = sender.send(found.unwrap_or_else(|_| Err(ended_early())));
    });
    match answer.recv_timeout(remote.idle) {
        Ok(found) => found,
        Err(RecvTimeoutError::Timeout) => Err(remote.was_silent(file)),
        Err(RecvTimeoutError::Disconnected) => Err(ended_early()),
    }
}

fn commit_of(remote: &Remote, file: &str) -> Result<Option<String>> {
    let api = ApiBuilder::from_cache(Cache::new(PathBuf::new()))
        .with_endpoint(remote.endpoint.clone())
        .with_token(None)
        .with_progress(false)
        .build()
        .map_err(|e| remote.error(file, &reason(&e)))?;
    let repo = Repo::with_revision(
        remote.repo.clone(),
        RepoType::Model,
        remote.revision.clone(),
    );
    match api.metadata(&api.repo(repo).url(file)) {
        Ok(metadata) if is_commit(metadata.commit_hash()) => {
            Ok(Some(metadata.commit_hash().to_owned()))
        }
        Ok(_) => Err(remote.error(file, "the server names no commit")),
        Err(error) if status(&error) == Some(404) => Ok(None),
        Err(error) => Err(remote.error(file, &reason(&error))),
    }
}

/// Whether this is the name of a commit: 40 hexadecimal digits in lower case.
pub fn is_commit(name: &str) -> bool {
    name.len() == 40 && name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// The failure of a download thread that panicked.
fn ended_early() -> Failure {
    Failure::internal("the download thread ended early")
}

impl Remote {
    fn was_silent(&self, file: &str) -> Failure {
        let seconds = self.idle.as_secs_f32();
        self.error(file, &format!("the server was silent for {seconds} s"))
    }

    /// The failure `MODEL_PULL_ERROR` for `file`.
    fn error(&self, file: &str, reason: &str) -> Failure {
        let message = format!("{file} of {} cannot be pulled: {reason}.", self.repo);
        Failure::new(ErrorCode::ModelPull, message)
            .with_hint("run the same command again: it goes on where it stopped")
    }
}

enum Event {
    Bytes { so_far: u64, total: u64 },
    Done(Result<Option<Fetched>>),
}

struct Job {
    remote: Remote,
    file: String,
    staging: PathBuf,
    max_bytes: u64,
    events: Sender<Event>,
    stop: Arc<AtomicBool>,
}

/// Why a download was aborted by its own progress watcher.
struct TooLong;

impl Job {
    fn run(&self) -> Result<Option<Fetched>> {
        let cache = Cache::new(self.staging.clone());
        let api = ApiBuilder::from_cache(cache.clone())
            .with_endpoint(self.remote.endpoint.clone())
            .with_token(None)
            .with_progress(false)
            .build()
            .map_err(|e| self.error(&reason(&e)))?;
        let repo = Repo::with_revision(
            self.remote.repo.clone(),
            RepoType::Model,
            self.remote.revision.clone(),
        );
        let Some((size, etag)) = self.announced(&api, &repo)? else {
            return Ok(None);
        };
        let part = cache
            .repo(repo.clone())
            .blob_path(&etag)
            .with_extension("part");
        for attempt in 0.. {
            match self.download(&api, &repo, size)? {
                Ok(link) => {
                    let path =
                        std::fs::canonicalize(&link).map_err(|e| self.error(&e.to_string()))?;
                    if link.is_symlink() {
                        // If it were left dangling after the file is moved, the library would fail
                        // next time.
                        let _ = std::fs::remove_file(&link);
                    }
                    let announced_sha256 = Some(etag).filter(|etag| etag.len() == 64);
                    return Ok(Some(Fetched {
                        path,
                        announced_sha256,
                    }));
                }
                Err(error) => {
                    // A partial file that is as long as the whole file, or longer, cannot be
                    // resumed.
                    if std::fs::metadata(&part).is_ok_and(|m| m.len() >= size) {
                        let _ = std::fs::remove_file(&part);
                    }
                    if attempt >= RETRIES || self.stop.load(Ordering::Relaxed) {
                        return Err(self.error(&reason(&error)));
                    }
                }
            }
        }
        Err(Failure::internal("a download neither ended nor failed"))
    }

    /// Size and entity tag of the file, checked: the library uses the tag as a file name and trusts
    /// the size.
    fn announced(&self, api: &Api, repo: &Repo) -> Result<Option<(u64, String)>> {
        let metadata = match api.metadata(&api.repo(repo.clone()).url(&self.file)) {
            Ok(metadata) => metadata,
            Err(error) if status(&error) == Some(404) => return Ok(None),
            Err(error) => return Err(self.error(&reason(&error))),
        };
        if metadata.commit_hash() != self.remote.revision {
            let plain: String = metadata
                .commit_hash()
                .chars()
                .filter(char::is_ascii_alphanumeric)
                .take(40)
                .collect();
            return Err(self.error(&format!(
                "the server has commit {plain} in place of the one asked for"
            )));
        }
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        let etag = metadata.etag();
        if etag.is_empty() || etag.len() > 128 || !etag.bytes().all(plain) {
            return Err(self.error("the server names the file in a way that is not safe"));
        }
        let size = metadata.size() as u64;
        if size > self.max_bytes {
            return Err(self.error(&format!(
                "it has {size} bytes, more than the limit of {}",
                self.max_bytes
            )));
        }
        Ok(Some((size, etag.to_owned())))
    }

    /// One attempt. The library copies until the server stops and cannot be interrupted, so the
    /// watcher ends it by unwinding. No shared state can be left half-changed.
    fn download(
        &self,
        api: &Api,
        repo: &Repo,
        size: u64,
    ) -> Result<std::result::Result<PathBuf, ApiError>> {
        let watch = Watch {
            events: self.events.clone(),
            stop: self.stop.clone(),
            size,
            so_far: 0,
        };
        let run = || {
            api.repo(repo.clone())
                .download_with_progress(&self.file, watch)
        };
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(result) => Ok(result),
            Err(cause) if cause.is::<TooLong>() => {
                Err(self.error("the server sent more than it announced, or the wait was over"))
            }
            Err(_) => Err(Failure::internal("the download library panicked")),
        }
    }

    fn error(&self, reason: &str) -> Failure {
        self.remote.error(&self.file, reason)
    }
}

/// Reports progress and aborts a download that is longer than announced.
struct Watch {
    events: Sender<Event>,
    stop: Arc<AtomicBool>,
    size: u64,
    so_far: u64,
}

impl hf_hub::api::Progress for Watch {
    fn init(&mut self, _size: usize, _file: &str) {
        // Called twice; both times nothing has been counted yet.
        self.so_far = 0;
    }

    fn update(&mut self, bytes: usize) {
        self.so_far += bytes as u64;
        if self.so_far > self.size || self.stop.load(Ordering::Relaxed) {
            resume_unwind(Box::new(TooLong));
        }
        let _ = self.events.send(Event::Bytes {
            so_far: self.so_far,
            total: self.size,
        });
    }

    fn finish(&mut self) {}
}

/// The HTTP status of an error, if it has one.
fn status(error: &ApiError) -> Option<u16> {
    // The library boxes its client's error, whose type is not accessible here; its text is `http
    // status: 404`.
    let ApiError::RequestError(inner) = error else {
        return None;
    };
    inner
        .to_string()
        .strip_prefix("http status: ")?
        .parse()
        .ok()
}

/// An error's text without control characters: parts of it come from the server.
fn reason(error: &ApiError) -> String {
    error
        .to_string()
        .chars()
        .filter(|c| !c.is_control())
        .take(300)
        .collect()
}
