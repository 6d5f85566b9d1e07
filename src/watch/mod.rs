//! Keeps index and embeddings up to date while somebody writes.
//!
//! Notifications of the file system only decide *when* to check. The same jobs that run by hand and
//! from cron find *what* changed. So a lost event, an overflowing queue, or a folder that was
//! deleted and recreated delays an update but never makes it wrong: a walk at intervals finds what
//! no event reported.
//!
//! | file | contents |
//! | --- | --- |
//! | `fs_watcher` | waits for changes: by notifications, or by polling without them |
//! | `unit` | units of systemd and launchd, a Windows task, lines of a crontab |

mod fs_watcher;
mod unit;

use std::convert::Infallible;
use std::time::{Duration, Instant};

use serde::Serialize;

pub(crate) use unit::{UnitSubject, WATCH, cron, launchd, systemd, task};

use self::fs_watcher::FsWatcher;
use local_agent_agent::config::Config;
use local_agent_agent::operations::{
    self, EmbedRun, EmbeddingModel, IndexRun, Library, holder, jobs,
};
use local_agent_embed::models::ModelFiles;
use local_agent_files::sandbox::{self, Places};
use local_agent_index::indexing::{EmbedSummary, IndexSummary};
use local_agent_index::store::{JobLock, StoreError};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// The pause before another check after a change, and after a failed job. It is needed after a
/// change because files that are written into a new folder may cause no event.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// The options of `watch`.
pub(crate) struct WatchOptions<'a> {
    pub config: &'a Config,
    /// The places that one round of the jobs may open, in their current state.
    pub places: &'a (dyn Fn() -> Places + Sync),
    /// The model whose tokens measure chunks.
    pub files: &'a ModelFiles,
    /// The model that embeds chunks; `None`: nothing is embedded.
    pub model: Option<&'a EmbeddingModel>,
    /// The time without changes before the jobs run.
    pub debounce: Duration,
    /// Whether the system's notifications are used.
    pub notifications: bool,
    /// The poll interval. `None`: a long one with notifications, a short one without.
    pub poll: Option<Duration>,
}

/// An event that `watch` reports.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum WatchEvent {
    /// It has begun, or has changed its way of noticing changes.
    Watching {
        /// `notifications` or `walks`.
        by: &'static str,
        /// Why notifications are not used.
        why: Option<String>,
    },
    /// The index or the embeddings were brought up to date.
    Updated {
        index: Box<IndexSummary>,
        embed: Option<Box<EmbedSummary>>,
        took_ms: u64,
    },
    /// A job waits for another process.
    PutOff { why: String },
    /// A job failed; it will be tried again.
    Failed {
        error_code: &'static str,
        error_message: String,
        hint: Option<String>,
    },
}

/// Watches until the process ends; the jobs may be interrupted at any moment. Calls `report` with
/// every event.
///
/// # Errors
///
/// `LOCKED` when another `watch` of this index is running. Later failures are reported as events and
/// tried again.
pub(crate) fn watch(plan: &WatchOptions<'_>, report: &dyn Fn(&WatchEvent)) -> Result<Infallible> {
    let lock = JobLock::path_beside(&plan.config.index.db_path, "watch.lock");
    let _lock = JobLock::take(&lock, &holder("watch"), Duration::ZERO).map_err(at_work)?;
    let mut watcher = FsWatcher::open(plan.config, plan.notifications, plan.poll);
    report(&watcher.status());
    let mut last_complaint = String::new();
    loop {
        // The watch begins before the walk, so that events report changes after the walk has
        // passed.
        if watcher.rearm() {
            report(&watcher.status());
        }
        let start = Instant::now();
        let pause = match confined_update(plan) {
            Ok(None) => {
                last_complaint.clear();
                None
            }
            Ok(Some((index, embed))) => {
                last_complaint.clear();
                let took_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
                report(&WatchEvent::Updated {
                    index: Box::new(index),
                    embed: embed.map(Box::new),
                    took_ms,
                });
                Some(RETRY_AFTER)
            }
            Err(failure) => {
                // A repeated failure is reported once.
                if last_complaint != failure.message {
                    report(&complaint(&failure));
                    last_complaint = failure.message;
                }
                Some(RETRY_AFTER)
            }
        };
        watcher.wait(pause, plan.debounce);
    }
}

/// The failure of a second `watch`: the first one does the work already.
fn at_work(failure: StoreError) -> Failure {
    let failure = Failure::from(failure);
    match failure.code {
        ErrorCode::Locked => {
            failure.with_hint("nothing to do: the other `watch` keeps the index current")
        }
        _ => failure,
    }
}

fn complaint(failure: &Failure) -> WatchEvent {
    if failure.code == ErrorCode::Locked {
        return WatchEvent::PutOff {
            why: failure.message.clone(),
        };
    }
    WatchEvent::Failed {
        error_code: failure.code.as_str(),
        error_message: failure.message.clone(),
        hint: failure.hint.clone(),
    }
}

/// Runs one round on a thread that the kernel restricts to the current folders. The rules apply to
/// inodes, and a folder that was deleted and recreated has another inode.
fn confined_update(
    plan: &WatchOptions<'_>,
) -> Result<Option<(IndexSummary, Option<EmbedSummary>)>> {
    sandbox::run_confined(&(plan.places)(), || update(plan)).map_err(|e| {
        Failure::new(
            ErrorCode::IndexError,
            format!("the system could not start a thread: {e}"),
        )
        .with_hint("end other processes; `watch` tries again by itself")
    })?
}

/// Runs the jobs once; `None` if there was nothing to do. Fails at once if another process holds
/// the lock.
fn update(plan: &WatchOptions<'_>) -> Result<Option<(IndexSummary, Option<EmbedSummary>)>> {
    let config = plan.config;
    // Opened again each time: a root may have been deleted and recreated.
    let sandbox = operations::sandbox(config)?;
    let index = jobs::run_index(config, &sandbox, plan.files, &IndexRun::default(), &|_| ())?;
    let changed =
        index.docs_changed + index.docs_pruned + index.chunks_written + index.chunks_removed > 0;
    let embed = match plan.model {
        Some(model) if is_behind(config, model)? => {
            Some(jobs::run_embed(config, model, &EmbedRun::default(), &|_| ())?.0)
        }
        _ => None,
    };
    if let Some(failure) = index
        .failures
        .first()
        .filter(|_| !changed && embed.is_none())
    {
        return Err(failure.clone());
    }
    Ok((changed || embed.is_some()).then_some((index, embed)))
}

/// Whether `embed` has anything to do. `embed` first checks every byte of the vectors, so it runs
/// only if needed.
fn is_behind(config: &Config, model: &EmbeddingModel) -> Result<bool> {
    let library = Library::for_command(config, Some(model.clone()));
    library.with(|engine| {
        let coverage = engine.coverage()?;
        Ok(engine.stale()?.iter().any(|stale| stale.what == "vectors")
            || coverage.embedded < coverage.chunks)
    })
}
