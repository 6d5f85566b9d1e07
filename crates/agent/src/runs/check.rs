//! Checks whether everything is consistent: the chain, its head, each record, each folder, and the
//! permissions.

use schemars::JsonSchema;
use serde::Serialize;

use super::archive::{Archive, Entered, RunState};
use super::ledger::{Anchor, Chain, LedgerView};
use super::recorder::RECORD;
use super::{RunId, private};
use local_agent_files::state::quoted;
use local_agent_text::error::{Failure, Result};
use local_agent_text::types::Sha256;

/// The kind of inconsistency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Trouble {
    /// The ledger is inconsistent, or shorter than it was.
    LedgerBroken,
    /// The ledger does not contain the head that the caller expected.
    HeadNotHeld,
    /// `durable.sqlite` does not confirm the end of the ledger, so lines cut off at the end would
    /// not be noticed. Does not fail the check.
    HeadUnknown,
    /// The bytes of a record differ from those entered in the ledger.
    RecordChanged,
    /// A run is in the ledger and was not pruned, and its record is gone or cannot be read.
    RecordMissing,
    /// A run has a folder and no entry in the ledger.
    RunUnlisted,
    /// A record was entered after its run, and nothing confirms it before that entry. Does not fail
    /// the check.
    RunUnvouched,
    /// A run was in an earlier ledger, but its record was missing when this ledger was begun. Does
    /// not fail the check.
    RunLost,
    /// A run has no end and no process is working on it. Does not fail the check.
    RunInterrupted,
    /// A run was pruned, and its folder is still there. Does not fail the check.
    RunLeftOver,
    /// Users other than the owner may read or change a record or the ledger.
    OpenToOthers,
}

impl Trouble {
    /// Every kind, its meaning, and whether it fails the check.
    pub const TABLE: &'static [(Self, &'static str, bool)] = &[
        (
            Self::LedgerBroken,
            "The ledger's hash chain is broken, or lines are missing.",
            true,
        ),
        (
            Self::HeadNotHeld,
            "The ledger does not contain the given head.",
            true,
        ),
        (
            Self::HeadUnknown,
            "`durable.sqlite` does not vouch for the ledger's end, so a tail that was cut off would not be seen.",
            false,
        ),
        (
            Self::RecordChanged,
            "A record has other bytes than were entered in the ledger.",
            true,
        ),
        (
            Self::RecordMissing,
            "A run is entered in the ledger, was not pruned, and its record is gone.",
            true,
        ),
        (
            Self::RunUnlisted,
            "A folder of a run is not entered in the ledger.",
            true,
        ),
        (
            Self::RunUnvouched,
            "The record was added to the ledger after its run, so earlier changes would not be noticed.",
            false,
        ),
        (
            Self::RunLost,
            "A run was in an earlier ledger, and its record was missing when the new ledger was created.",
            false,
        ),
        (
            Self::RunInterrupted,
            "A run has no end: its process was ended or crashed.",
            false,
        ),
        (
            Self::RunLeftOver,
            "A run was pruned, and its folder is still there.",
            false,
        ),
        (
            Self::OpenToOthers,
            "Users other than the owner may read or change a record.",
            true,
        ),
    ];

    fn entry(self) -> (&'static str, bool) {
        Self::TABLE
            .iter()
            .find(|(one, ..)| *one == self)
            .map_or(("", true), |(_, meaning, fails)| (*meaning, *fails))
    }

    /// Whether it fails the check.
    pub fn fails(self) -> bool {
        self.entry().1
    }

    /// The stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LedgerBroken => "LEDGER_BROKEN",
            Self::HeadNotHeld => "HEAD_NOT_HELD",
            Self::HeadUnknown => "HEAD_UNKNOWN",
            Self::RecordChanged => "RECORD_CHANGED",
            Self::RecordMissing => "RECORD_MISSING",
            Self::RunUnlisted => "RUN_UNLISTED",
            Self::RunUnvouched => "RUN_UNVOUCHED",
            Self::RunLost => "RUN_LOST",
            Self::RunInterrupted => "RUN_INTERRUPTED",
            Self::RunLeftOver => "RUN_LEFT_OVER",
            Self::OpenToOthers => "OPEN_TO_OTHERS",
        }
    }
}

/// One inconsistency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// The stable name of its kind, as [`Trouble::as_str`] gives it.
    pub code: &'static str,
    /// Whether it fails the check.
    pub fails: bool,
    /// The run; `None`: it concerns the ledger as a whole.
    pub run_id: Option<RunId>,
    /// One sentence.
    pub message: String,
    /// The command that fixes it, or the next step.
    pub fix: String,
}

/// All findings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFindings {
    /// The inconsistencies, in the order in which they were found.
    pub list: Vec<Finding>,
    /// Number of valid ledger lines.
    pub lines: usize,
    /// SHA-256 of the last of them.
    pub head: Option<Sha256>,
    /// Whether `durable.sqlite` confirms it.
    pub anchored: bool,
    /// Number of records checked.
    pub records: usize,
    /// Number of pruned runs.
    pub pruned: usize,
    /// Number of running runs.
    pub running: usize,
}

impl RunFindings {
    /// Whether no finding fails the check.
    pub fn ok(&self) -> bool {
        self.list.iter().all(|finding| !finding.fails)
    }

    /// Adds the findings for one run.
    fn take(&mut self, one: Self) {
        self.list.extend(one.list);
        self.records += one.records;
        self.pruned += one.pruned;
        self.running += one.running;
    }

    fn add(
        &mut self,
        trouble: Trouble,
        run: Option<&RunId>,
        message: String,
        fix: impl Into<String>,
    ) {
        self.list.push(Finding {
            code: trouble.as_str(),
            fails: trouble.fails(),
            run_id: run.cloned(),
            message,
            fix: fix.into(),
        });
    }
}

/// Checks the whole folder of runs, or one run in it; changes nothing. `expected`: a head that was
/// noted earlier and that the ledger must still contain.
///
/// # Errors
/// Only failures that prevent the check itself.
pub fn check(
    archive: &Archive,
    only: Option<&RunId>,
    expected: Option<&Sha256>,
) -> Result<RunFindings> {
    let mut out = RunFindings::default();
    let LedgerView { chain, anchor } = archive.ledger.look()?;
    let is_broken = anchor.is_err();
    match anchor {
        Ok(Anchor::Kept) => out.anchored = true,
        Ok(Anchor::Unknown) if chain.is_none() => {}
        Ok(Anchor::Unknown) => {
            let message =
                "durable.sqlite does not know this ledger; the next run enters it there".to_owned();
            out.add(
                Trouble::HeadUnknown,
                None,
                message,
                "local-agent ask \"a question\"",
            );
        }
        Ok(Anchor::Unreadable(failure)) => {
            let fix = failure
                .hint
                .unwrap_or_else(|| "local-agent doctor".to_owned());
            out.add(
                Trouble::HeadUnknown,
                None,
                format!("the ledger's head is not kept: {}", failure.message),
                fix,
            );
        }
        Err(failure) => broken(&mut out, failure),
    }
    if let Some(chain) = &chain {
        out.lines = chain.lines.len();
        out.head = chain.lines.last().map(|(_, sha)| *sha);
    }
    if let Some(expected) =
        expected.filter(|sha| !chain.as_ref().is_some_and(|chain| chain.holds(sha)))
    {
        let message = format!("no line of the ledger has the hash {expected}");
        out.add(
            Trouble::HeadNotHeld,
            None,
            message,
            "compare with a copy of the ledger from that time",
        );
    }
    runs(archive, chain.as_ref(), only, is_broken, &mut out)?;
    if only.is_none()
        && archive.ledger.path().exists()
        && private::is_open_to_others(&archive.ledger.path())
    {
        let path = archive.ledger.path();
        let fix = format!("chmod 600 {}", quoted(&path));
        out.add(
            Trouble::OpenToOthers,
            None,
            format!("{} is open to others", path.display()),
            fix,
        );
    }
    Ok(out)
}

/// Checks each run. An inconsistent run may have been begun, ended or pruned since the ledger was
/// read: it is checked again with the then current ledger.
fn runs(
    archive: &Archive,
    chain: Option<&Chain>,
    only: Option<&RunId>,
    is_broken: bool,
    out: &mut RunFindings,
) -> Result<()> {
    let entered = Archive::entered(chain);
    let mut ids = archive.ids()?;
    ids.extend(entered.keys().filter(|id| !archive.has_folder(id)).cloned());
    ids.sort_unstable();
    ids.dedup();
    let mut again = Vec::new();
    for id in ids.iter().filter(|id| only.is_none_or(|one| one == *id)) {
        let mut one = RunFindings::default();
        run(archive, id, entered.get(id), is_broken, &mut one);
        if one.list.is_empty() {
            out.take(one);
        } else {
            again.push(id);
        }
    }
    if again.is_empty() {
        return Ok(());
    }
    let chain = archive.ledger.read()?;
    let entered = Archive::entered(chain.as_ref());
    for id in again {
        run(archive, id, entered.get(id), is_broken, out);
    }
    Ok(())
}

fn broken(out: &mut RunFindings, failure: Failure) {
    out.add(
        Trouble::LedgerBroken,
        None,
        failure.message,
        "local-agent runs head --renew",
    );
}

fn run(
    archive: &Archive,
    id: &RunId,
    entered: Option<&Entered>,
    is_broken: bool,
    out: &mut RunFindings,
) {
    if !state(archive, id, entered, is_broken, out) {
        return;
    }
    out.records += 1;
    for path in [archive.folder(id), archive.folder(id).join(RECORD)] {
        if private::is_open_to_others(&path) {
            let fix = format!("chmod -R go-rwx {}", quoted(&archive.folder(id)));
            out.add(
                Trouble::OpenToOthers,
                Some(id),
                format!("{} is open to others", path.display()),
                fix,
            );
            break;
        }
    }
    record(archive, id, entered, out);
}

/// Checks a run against its state in the ledger; `false` if the run has no record to read.
fn state(
    archive: &Archive,
    id: &RunId,
    entered: Option<&Entered>,
    is_broken: bool,
    out: &mut RunFindings,
) -> bool {
    let state = archive.state_of(id, entered);
    let prune = prune_of(id);
    match state {
        RunState::Pruned if archive.has_folder(id) => {
            out.add(
                Trouble::RunLeftOver,
                Some(id),
                "it was pruned, and its folder is still there".to_owned(),
                prune,
            );
            return false;
        }
        RunState::Pruned => {
            out.pruned += 1;
            return false;
        }
        RunState::Missing if entered.is_some_and(|run| run.lost) => {
            let message =
                "an earlier ledger held it, and its record was gone when this ledger was begun"
                    .to_owned();
            out.add(Trouble::RunLost, Some(id), message, restore_or(&prune));
            return false;
        }
        RunState::Missing => {
            let message = "it is entered in the ledger, and its record is gone".to_owned();
            out.add(
                Trouble::RecordMissing,
                Some(id),
                message,
                restore_or(&prune),
            );
            return false;
        }
        RunState::Unlisted => {
            let message = "its folder is not entered in the ledger".to_owned();
            let fix = if is_broken {
                "local-agent runs head --renew"
            } else {
                "local-agent runs head --adopt"
            };
            out.add(Trouble::RunUnlisted, Some(id), message, fix);
        }
        RunState::Running => out.running += 1,
        RunState::Interrupted => {
            let message = "it was begun and never ended; nothing of it is vouched for".to_owned();
            out.add(Trouble::RunInterrupted, Some(id), message, prune.clone());
        }
        RunState::Ended => {}
    }
    true
}

/// Compares the bytes of a record with the hash in the ledger.
fn record(archive: &Archive, id: &RunId, entered: Option<&Entered>, out: &mut RunFindings) {
    // A record without an end is, or was, being written; the ledger has only its beginning.
    let Some(expected) = entered.and_then(|run| run.end) else {
        return;
    };
    match archive.bytes(id) {
        Ok(bytes) if Sha256::of(&bytes) == expected => {
            if entered.is_some_and(|run| run.found) {
                let message =
                    "its record was entered after the run, and nothing vouches for it before"
                        .to_owned();
                out.add(
                    Trouble::RunUnvouched,
                    Some(id),
                    message,
                    format!("none is needed; to read it: local-agent runs show {id}"),
                );
            }
        }
        Ok(_) => {
            let message = "its record has other bytes than were entered in the ledger".to_owned();
            out.add(
                Trouble::RecordChanged,
                Some(id),
                message,
                "restore its folder from a backup",
            );
        }
        Err(failure) => {
            out.add(
                Trouble::RecordMissing,
                Some(id),
                failure.message,
                restore_or(&prune_of(id)),
            );
        }
    }
}

fn prune_of(id: &RunId) -> String {
    format!("local-agent runs prune {id}")
}

/// The fix for a missing record, which pruning cannot remove.
fn restore_or(prune: &str) -> String {
    format!("restore its folder from a backup, or without one `{prune}`")
}
