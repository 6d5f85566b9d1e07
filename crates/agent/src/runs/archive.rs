//! All runs of one folder: their states, finding one by name, and pruning.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::ledger::{Chain, Ledger, Line, LineKind};
use super::recorder::{LOCK, RECORD, RunPlace};
use super::{Record, RunId, RunStatus, private};
use crate::config::LimitedClient;
use local_agent_files::state::{self, EntryKind, StateDirectory};
use local_agent_index::store::JobLock;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

/// Maximum size of a record.
const MAX_RECORD_BYTES: u64 = 64 << 20;

/// The runs of one folder, with their ledger.
#[derive(Debug, Clone)]
pub struct Archive {
    pub(super) runs_dir: PathBuf,
    /// The client whose runs are visible; `None`: all runs are.
    pub(super) only: Option<LimitedClient>,
    /// Its ledger.
    pub ledger: Ledger,
}

/// The state of a run, determined without trusting its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Its process holds the lock.
    Running,
    /// It has no end and no process is working on it: the process was killed or crashed.
    Interrupted,
    /// The ledger has an entry for its end.
    Ended,
    /// It is not in the ledger.
    Unlisted,
    /// It is in the ledger, but its record is gone without having been pruned.
    Missing,
    /// It was removed on purpose.
    Pruned,
}

/// The ledger's entries for one run.
#[derive(Debug, Clone, Default)]
pub(super) struct Entered {
    pub begin: Option<Sha256>,
    pub end: Option<Sha256>,
    pub pruned: bool,
    /// The record was entered after its run, and nothing confirms it before that line.
    pub found: bool,
    /// An earlier ledger contained the run, but its record was missing when this ledger was begun.
    pub lost: bool,
}

impl Entered {
    /// Whether its end or its removal is in the ledger.
    pub(super) const fn is_over(&self) -> bool {
        self.end.is_some() || self.pruned
    }
}

/// One run in a list.
#[derive(Debug)]
pub struct RunEntry {
    /// Its name, which contains the time when it began.
    pub id: RunId,
    /// The state as the ledger, the folder and the lock show it.
    pub state: RunState,
    /// The record, or why it cannot be read.
    pub record: Result<Record>,
}

/// Which runs to remove.
#[derive(Debug, Clone)]
pub enum Which {
    /// The named runs.
    Named(Vec<RunId>),
    /// All except the newest.
    KeepNewest(usize),
    /// Those that began before this second since 1970.
    Before(i64),
}

/// The result of pruning.
#[derive(Debug, Default)]
pub struct Prune {
    /// Runs that were removed; with `dry_run`, those that would be.
    pub removed: Vec<RunId>,
    /// Runs that are still running.
    pub running: Vec<RunId>,
    /// Like [`super::Finished::unanchored`].
    pub unanchored: Option<Failure>,
}

impl Archive {
    /// An archive; this accesses no file yet.
    pub fn new(place: RunPlace<'_>) -> Self {
        Self {
            runs_dir: place.runs_dir.to_owned(),
            only: place.only.cloned(),
            ledger: Ledger::new(place.runs_dir, place.durable),
        }
    }

    /// The folder of one run.
    pub fn folder(&self, id: &RunId) -> PathBuf {
        self.runs_dir.join(id.as_str())
    }

    /// The folder of all runs.
    pub fn runs_dir(&self) -> &Path {
        &self.runs_dir
    }

    fn open(&self) -> Result<Option<StateDirectory>> {
        StateDirectory::open(&self.runs_dir).map_err(|e| unreadable(&self.runs_dir, &e))
    }

    /// The folder of one run, if there is one.
    pub(super) fn open_run(&self, id: &RunId) -> Result<Option<StateDirectory>> {
        let Some(runs) = self.open()? else {
            return Ok(None);
        };
        runs.child(id.as_str())
            .map_err(|e| unreadable(&self.folder(id), &e))
    }

    /// Whether a run has a folder.
    pub(super) fn has_folder(&self, id: &RunId) -> bool {
        self.open_run(id).is_ok_and(|run| run.is_some())
    }

    /// Whether a process is working on a run.
    fn is_held(&self, id: &RunId) -> bool {
        self.open_run(id)
            .is_ok_and(|run| run.is_some_and(|run| JobLock::holder_in(&run, LOCK).is_some()))
    }

    /// The ids of the runs that have a folder, oldest first. Folders with other names are ignored.
    pub fn ids(&self) -> Result<Vec<RunId>> {
        let Some(runs) = self.open()? else {
            return Ok(Vec::new());
        };
        let entries = runs.entries().map_err(|e| unreadable(&self.runs_dir, &e))?;
        // A link is never one of our runs, whatever its name.
        let folders = entries
            .iter()
            .filter(|entry| entry.kind == EntryKind::Folder);
        let mut ids: Vec<RunId> = folders
            .filter_map(|entry| entry.name.parse().ok())
            .filter(|id| self.shows(id))
            .collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Whether a run is visible. A limited client cannot see a run whose record cannot be read.
    fn shows(&self, id: &RunId) -> bool {
        let Some(client) = &self.only else {
            return true;
        };
        let record = self.load(id);
        record.is_ok_and(|(record, _)| client.made(&record.asked_by, &record.started_at))
    }

    /// The ledger's entries for each run.
    pub(super) fn entered(chain: Option<&Chain>) -> HashMap<RunId, Entered> {
        Self::entered_in(
            chain
                .into_iter()
                .flat_map(|chain| &chain.lines)
                .map(|(line, _)| line),
        )
    }

    pub(super) fn entered_in<'a>(lines: impl Iterator<Item = &'a Line>) -> HashMap<RunId, Entered> {
        let mut runs = HashMap::new();
        lines.for_each(|line| Self::note(&mut runs, line));
        runs
    }

    pub(super) fn note(runs: &mut HashMap<RunId, Entered>, line: &Line) {
        let Some(id) = &line.run else { return };
        let run = runs.entry(id.clone()).or_default();
        match line.kind {
            LineKind::Begin => run.begin = line.record_sha256,
            LineKind::End => run.end = line.record_sha256,
            LineKind::Prune => run.pruned = true,
            LineKind::Found => (run.end, run.found) = (line.record_sha256, true),
            LineKind::Lost => run.lost = true,
            LineKind::Open | LineKind::Anchor | LineKind::Tool => {}
        }
    }

    pub(super) fn state_of(&self, id: &RunId, entered: Option<&Entered>) -> RunState {
        let there = self.has_folder(id);
        match entered {
            Some(run) if run.pruned => RunState::Pruned,
            Some(_) if !there => RunState::Missing,
            Some(run) if run.end.is_some() => RunState::Ended,
            _ if self.is_held(id) => RunState::Running,
            Some(_) => RunState::Interrupted,
            // A run may also be killed after creating its folder and before writing its line in the
            // ledger. It has no content yet.
            None if self.claims_nothing(id) => RunState::Interrupted,
            None => RunState::Unlisted,
        }
    }

    fn claims_nothing(&self, id: &RunId) -> bool {
        match self.load(id) {
            Ok((record, _)) => record.status == RunStatus::Running,
            Err(failure) => failure.code == ErrorCode::RunNotFound,
        }
    }

    /// The newest runs first without the first `skip`, at most `limit`; and the total number.
    pub fn list(&self, skip: usize, limit: usize) -> Result<(Vec<RunEntry>, usize)> {
        // The folders are read before the ledger. A run that is created meanwhile is then in the
        // ledger too, and not only in its folder.
        let mut ids: BTreeSet<RunId> = self.ids()?.into_iter().collect();
        let chain = self.ledger.read()?;
        let entered = Self::entered(chain.as_ref());
        ids.extend(
            entered
                .iter()
                .filter(|(id, run)| !run.pruned && self.shows(id))
                .map(|(id, _)| id.clone()),
        );
        let total = ids.len();
        let entries = ids.into_iter().rev().skip(skip).take(limit).map(|id| {
            let state = self.state_of(&id, entered.get(&id));
            RunEntry {
                state,
                record: self.load(&id).map(|(record, _)| record),
                id,
            }
        });
        Ok((entries.collect(), total))
    }

    /// The state of one run.
    pub fn state(&self, id: &RunId) -> Result<RunState> {
        let chain = self.ledger.read()?;
        Ok(self.state_of(id, Self::entered(chain.as_ref()).get(id)))
    }

    /// The run that a name means: a full id, `last`, the beginning of an id, or the part after `_`.
    /// `RUN_NOT_FOUND`, also if several match.
    pub fn find(&self, name: &str) -> Result<RunId> {
        let ids = self.ids()?;
        // A missing record is found by its full id, so that it can be pruned.
        if let Ok(id) = name.parse::<RunId>()
            && self.shows(&id)
            && Self::entered(self.ledger.read()?.as_ref()).contains_key(&id)
        {
            return Ok(id);
        }
        if name == "last" {
            return ids
                .into_iter()
                .next_back()
                .ok_or_else(|| missing_run("there is no run yet".to_owned()).with_hint(FIRST_RUN));
        }
        let found: Vec<&RunId> = ids.iter().filter(|id| is_named(name, id)).collect();
        match found.as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(missing_run(format!(
                "there is no run called `{name}` in {}",
                self.runs_dir.display()
            ))),
            many => {
                let names: Vec<&str> = many.iter().take(5).map(|id| id.as_str()).collect();
                Err(missing_run(format!(
                    "`{name}` fits {} runs: {}",
                    many.len(),
                    names.join(", ")
                )))
            }
        }
    }

    /// The record of one run and the hash of its bytes. `RUN_NOT_FOUND`, `RUN_TAMPERED`,
    /// `RUN_NEWER`.
    pub fn load(&self, id: &RunId) -> Result<(Record, Sha256)> {
        let bytes = self.bytes(id)?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| super::record::tampered("it is not UTF-8 text"))?;
        let record = Record::from_json(text)?;
        if record.run_id != *id {
            return Err(super::record::tampered("it names another run"));
        }
        Ok((record, Sha256::of(&bytes)))
    }

    pub(super) fn bytes(&self, id: &RunId) -> Result<Vec<u8>> {
        let path = self.folder(id).join(RECORD);
        let Some(run) = self.open_run(id)? else {
            return Err(missing_record(&path, "is not there"));
        };
        match run.read_bytes(RECORD, MAX_RECORD_BYTES) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(missing_record(&path, "is not there")),
            Err(e) if e.kind() == std::io::ErrorKind::InvalidData => Err(missing_record(
                &path,
                "is not a regular file of a sensible size",
            )),
            Err(e) => Err(unreadable(&path, &e)),
        }
    }

    /// Removes runs: each removal is entered in the ledger first, then its folder is deleted.
    /// Running runs are kept. With `dry_run` nothing is changed.
    pub fn prune(&self, which: &Which, dry_run: bool) -> Result<Prune> {
        let look = self.ledger.look()?;
        look.anchor?;
        let entered = Self::entered(look.chain.as_ref());
        let ids = self.ids()?;
        let wanted: Vec<RunId> = match which {
            Which::Named(names) => names.clone(),
            Which::KeepNewest(keep) => ids.iter().rev().skip(*keep).rev().cloned().collect(),
            // The id contains the start time, even if the record cannot be read.
            Which::Before(unix) => ids
                .iter()
                .filter(|id| began(id).is_some_and(|at| at < *unix))
                .cloned()
                .collect(),
        };
        let mut out = Prune::default();
        for id in wanted {
            let run = entered.get(&id);
            if self.state_of(&id, run) == RunState::Running {
                out.running.push(id);
                continue;
            }
            if !dry_run {
                out.unanchored = self.remove(&id, run)?.or(out.unanchored);
            }
            out.removed.push(id);
        }
        Ok(out)
    }

    fn remove(&self, id: &RunId, entered: Option<&Entered>) -> Result<Option<Failure>> {
        let Some(runs) = self.open()? else {
            return Ok(None);
        };
        let Some(run) = runs
            .child(id.as_str())
            .map_err(|e| unreadable(&self.folder(id), &e))?
        else {
            // Its record disappeared without pruning. This removal now records the loss as
            // intended.
            return if entered.is_some_and(|run| !run.pruned) {
                self.ledger
                    .append(&[(LineKind::Prune, Some(id.clone()), None)])
            } else {
                Ok(None)
            };
        };
        // The lock keeps other processes from working on the run meanwhile.
        let lock = JobLock::take_in(&run, LOCK, "runs prune", Duration::ZERO)?;
        let mut unanchored = None;
        if !entered.is_some_and(|run| run.pruned) {
            let sha256 = self.bytes(id).ok().map(|bytes| Sha256::of(&bytes));
            unanchored = self
                .ledger
                .append(&[(LineKind::Prune, Some(id.clone()), sha256)])?;
        }
        runs.remove_folder(id.as_str())
            .map_err(|e| private::unwritable(&self.folder(id), &e))?;
        drop(lock);
        Ok(unanchored)
    }
}

/// The failure for a record that cannot be read.
fn missing_record(path: &Path, why: &str) -> Failure {
    Failure::new(
        ErrorCode::RunNotFound,
        format!("the record {} {why}", path.display()),
    )
    .with_command("local-agent runs verify")
}

/// Whether the name is the run's id or a part of it that is long enough.
fn is_named(name: &str, id: &RunId) -> bool {
    let (at, random) = id.as_str().split_once('_').unwrap_or((id.as_str(), ""));
    id.as_str() == name
        || at == name
        || name.len() >= 4 && (id.as_str().starts_with(name) || random.starts_with(name))
}

/// What makes the first record.
const FIRST_RUN: &str = "local-agent ask \"your question\"";

/// The failure for a run that does not exist.
fn missing_run(why: String) -> Failure {
    Failure::new(ErrorCode::RunNotFound, why).with_command("local-agent runs list")
}

/// When a run began, from its id, in seconds since 1970.
fn began(id: &RunId) -> Option<i64> {
    let form = time::macros::format_description!("[year][month][day]T[hour][minute][second]Z");
    let at = id.as_str().split_once('_')?.0;
    time::PrimitiveDateTime::parse(at, form)
        .ok()
        .map(|at| at.assume_utc().unix_timestamp())
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    state::refusal(error).unwrap_or_else(|| {
        Failure::new(
            ErrorCode::FileReadError,
            format!("{} cannot be read: {error}", path.display()),
        )
        .with_command("local-agent doctor")
    })
}
