//! Keeping index and embeddings current while somebody writes.
//!
//! What the system tells about changes only says *when* to look; *what* changed is found by the
//! same jobs that run by hand and from cron. So an event that is lost, a queue that overflows, or a
//! folder that is deleted and made again cost time and never truth: a walk at intervals finds what
//! was not told.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `eyes` | the system's notifications, and what is done without them |
//! | `unit` | a systemd unit and a cron line |

mod eyes;
mod unit;

use std::convert::Infallible;
use std::time::{Duration, Instant};

use serde::Serialize;

pub use unit::{cron, launchd, systemd, task};

use self::eyes::Eyes;
use local_agent_agent::config::Config;
use local_agent_agent::operations::{self, EmbedRun, IndexRun, Library, Model, holder, jobs};
use local_agent_embed::models::ModelFiles;
use local_agent_files::sandbox::{self, Places};
use local_agent_index::indexing::{EmbedSummary, IndexSummary};
use local_agent_index::store::JobLock;
use local_agent_text::error::{ErrorCode, Failure, Result};

/// When to look again after a change, and after a job that could not be done. After a change,
/// because what is written into a folder that has just been made may be told by nobody.
const AGAIN: Duration = Duration::from_secs(2);

/// How to watch.
pub struct Plan<'a> {
    pub config: &'a Config,
    /// What one round of the jobs may open, as it is now.
    pub places: &'a (dyn Fn() -> Places + Sync),
    /// What chunks are measured by.
    pub files: &'a ModelFiles,
    /// What chunks are embedded with; `None`: they are not.
    pub model: Option<&'a Model>,
    /// How long it must be quiet before anything is done.
    pub debounce: Duration,
    /// Whether the system's notifications are used.
    pub notifications: bool,
    /// Between two walks that look for what was not told; `None`: rarely with notifications, often
    /// without.
    pub poll: Option<Duration>,
}

/// What goes on.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Said {
    /// It has begun, or sees in another way now.
    Watching {
        /// `notifications` or `walks`.
        by: &'static str,
        /// Why not by notifications.
        why: Option<String>,
    },
    /// Something was brought up to date.
    Updated {
        index: Box<IndexSummary>,
        embed: Option<Box<EmbedSummary>>,
        took_ms: u64,
    },
    /// A job was put off.
    PutOff { why: String },
    /// A job failed; it is tried again.
    Failed {
        error_code: &'static str,
        error_message: String,
        hint: Option<String>,
    },
}

/// Watches until the process is ended; the jobs are safe to end at any moment.
///
/// Errors: `LOCKED` when another `watch` of this index is at work. Whatever goes wrong afterwards
/// is said and tried again.
pub fn watch(plan: &Plan<'_>, tell: &dyn Fn(&Said)) -> Result<Infallible> {
    let lock = JobLock::path_beside(&plan.config.index.db_path, "watch.lock");
    let _lock = JobLock::take(&lock, &holder("watch"), Duration::ZERO)?;
    let mut eyes = Eyes::open(plan.config, plan.notifications, plan.poll);
    tell(&eyes.says());
    let mut last_complaint = String::new();
    loop {
        // Before the walk: what changes behind it is told.
        if eyes.tend() {
            tell(&eyes.says());
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
                tell(&Said::Updated {
                    index: Box::new(index),
                    embed: embed.map(Box::new),
                    took_ms,
                });
                Some(AGAIN)
            }
            Err(failure) => {
                // Said once, however often it is tried.
                if last_complaint != failure.message {
                    tell(&complaint(&failure));
                    last_complaint = failure.message;
                }
                Some(AGAIN)
            }
        };
        eyes.wait(pause, plan.debounce);
    }
}

fn complaint(failure: &Failure) -> Said {
    if failure.code == ErrorCode::Locked {
        return Said::PutOff {
            why: failure.message.clone(),
        };
    }
    Said::Failed {
        error_code: failure.code.as_str(),
        error_message: failure.message.clone(),
        hint: failure.hint.clone(),
    }
}

/// One round, on a thread that the kernel confines to the folders as they are now: one that was
/// deleted and made again is another folder.
fn confined_update(plan: &Plan<'_>) -> Result<Option<(IndexSummary, Option<EmbedSummary>)>> {
    sandbox::run_confined(&(plan.places)(), || update(plan)).map_err(|e| {
        Failure::new(
            ErrorCode::IndexError,
            format!("the system starts no thread: {e}"),
        )
        .with_hint("end other processes; `watch` tries again by itself")
    })?
}

/// Runs the jobs once; `None`: there was nothing to do. A lock that another process holds is a
/// failure, at once.
fn update(plan: &Plan<'_>) -> Result<Option<(IndexSummary, Option<EmbedSummary>)>> {
    let config = plan.config;
    // A root that was deleted and made again is another folder, so the sandbox is opened anew.
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

/// Whether `embed` has anything to do. It checks every byte of the vectors first, so it is not run
/// for nothing.
fn is_behind(config: &Config, model: &Model) -> Result<bool> {
    let library = Library::for_one(config, Some(model.clone()));
    library.with(|engine| {
        let coverage = engine.coverage()?;
        Ok(engine.stale().iter().any(|stale| stale.what == "vectors")
            || coverage.embedded < coverage.chunks)
    })
}
