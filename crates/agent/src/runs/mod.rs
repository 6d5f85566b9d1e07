//! Records of runs: the question, the text sent to each model, the replies and the verdicts. There
//! is one record per run, and a ledger in which each line contains the hash of the line before.
//!
//! A record is begun before any model is asked and finished afterwards. After a crash in between,
//! it is shown as `interrupted`. Nothing here is ever evidence: the folder is out of the sandbox's
//! reach.
//!
//! | file | contents |
//! | --- | --- |
//! | `id` | [`RunId`]: `<utc>_<random>` |
//! | `record` | [`Record`]: `run.json`; its schema is `docs/run.schema.json` |
//! | `recorder` | [`Run`]: begun, then finished |
//! | `redact` | tokens, keys and PEM blocks are removed before anything is written |
//! | `ledger` | the hash chain, its head, repair after a crash, and a new ledger after a broken one |
//! | `archive` | all runs of a folder: their state, one by name, pruning |
//! | `check` | checks whether everything is still consistent |
//! | `replay` | restores evidence and draft of a record and computes the same report |
//! | `page` | one run as a web page without any script |
//! | `private` | files and folders accessible only to their owner |

mod archive;
mod check;
mod id;
mod ledger;
mod page;
mod private;
mod record;
mod recorder;
mod redact;
mod replay;

pub use archive::{Archive, Prune, RunEntry, RunState, Which};
pub use check::{Finding, RunFindings, Trouble, check};
pub use id::RunId;
pub use ledger::{Anchor, Chain, Ledger, LedgerView, Line, LineKind, Renewed, ToolLine};
pub use page::page;
pub use private::is_open_to_others;
pub use record::{
    CalledTool, Checking, ContextItem, ItemRecord, Mode, Record, RecordedCall, RecordedRoots,
    RunStatus, SCHEMA_VERSION, Sent, SnapshotRecord,
};
pub use recorder::{Begin, Caps, End, Finished, Run, RunPlace};
pub use redact::{Redacted, redact};
pub use replay::{Bytes, Replayed, Thawed, replay, thaw};

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A time in RFC 3339, UTC, whole seconds.
fn stamp(moment: OffsetDateTime) -> String {
    let moment = moment
        .replace_nanosecond(0)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH);
    moment.format(&Rfc3339).unwrap_or_default()
}

/// `json` as text: never fails for our own types, which contain only strings, numbers, lists and
/// maps with text keys.
fn json_text(value: &impl serde::Serialize) -> local_agent_text::error::Result<String> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|e| {
            local_agent_text::error::Failure::internal(format!(
                "a record cannot be written as JSON: {e}"
            ))
        })
}
