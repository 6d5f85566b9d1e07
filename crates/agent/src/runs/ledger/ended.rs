//! Whether a folder of runs has a run that ended. Its begin and its end were entered in a ledger.

use std::path::Path;

use serde_json::Value;

use super::super::RunId;
use local_agent_files::state::{EntryKind, StateDirectory};

/// The file of a run's record.
const RECORD: &str = "run.json";

/// A larger record is not read.
const MOST_BYTES: u64 = 64 << 20;

/// Whether a record in this folder says when its run ended. What cannot be read does not count.
pub(super) fn has_ended_run(runs_dir: &Path) -> bool {
    let Ok(Some(runs)) = StateDirectory::open(runs_dir) else {
        return false;
    };
    let entries = runs.entries().unwrap_or_default();
    entries.iter().any(|entry| {
        let is_run = entry.kind == EntryKind::Folder && entry.name.parse::<RunId>().is_ok();
        is_run && has_ended(&runs, &entry.name)
    })
}

fn has_ended(runs: &StateDirectory, id: &str) -> bool {
    let record = match runs.child(id) {
        Ok(Some(run)) => run.read_bytes(RECORD, MOST_BYTES),
        _ => return false,
    };
    let Ok(Some(bytes)) = record else {
        return false;
    };
    let record: Option<Value> = serde_json::from_slice(&bytes).ok();
    record.is_some_and(|record| record["ended_at"].is_string())
}
