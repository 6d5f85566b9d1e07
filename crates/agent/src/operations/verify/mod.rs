//! Verifies answers from any author, for `verify` and MCP.
//!
//! With a snapshot, the answer cites `[E1]` or the canonical form. With files, it cites lines,
//! sections and notes; these are read through a sandbox and become the snapshot. Spans of the
//! report always refer to the answer as given.
//!
//! | file | contents |
//! | --- | --- |
//! | `parts` | an answer as segments, and where each of them is in the answer |
//! | `cited_files` | finds and reads the cited files |
//! | `passage` | a cited passage, found again in its file |
//! | `surroundings` | the headings and the header of a table above cited lines |
//! | `lock` | how the passages that a document cites have changed |

mod cited_files;
pub mod lock;
mod parts;
mod passage;
mod surroundings;

use schemars::JsonSchema;
use serde::Serialize;

use local_agent_files::sandbox::Sandbox;
use local_agent_text::error::Result;
use local_agent_text::evidence::{Draft, EvidenceSnapshot, Freshness, FreshnessReport};
use local_agent_verify::{self as verify, Report, VerifyOptions};

use cited_files::CitedFiles;
use parts::Parts;

/// A report, and the evidence it is based on.
#[derive(Debug)]
pub struct Judged {
    /// The verifier's report. Its spans refer to the answer as given.
    pub report: Report,
    /// The evidence: the given snapshot, or the parts of files that the answer cites.
    pub snapshot: EvidenceSnapshot,
    /// Citations that refer to nothing readable.
    pub unresolved: Vec<Unresolved>,
}

/// A citation that refers to nothing readable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unresolved {
    /// The citation as written.
    pub citation: String,
    /// The reason, in one sentence.
    pub why: String,
}

/// Judges an answer against frozen evidence.
pub fn against_snapshot(answer: &str, snapshot: EvidenceSnapshot) -> Judged {
    let report = verify::verify_text(
        answer,
        &snapshot,
        &FreshnessReport::default(),
        &VerifyOptions::default(),
    );
    Judged {
        report,
        snapshot,
        unresolved: Vec::new(),
    }
}

/// Judges an answer that cites files ([`local_agent_verify::file_citations`]) against the current
/// content of these files.
///
/// Errors: `INTERNAL_ERROR`. Unreadable files are in the report.
pub fn against_files(answer: &str, sandbox: &Sandbox) -> Result<Judged> {
    let mut files = CitedFiles::new(sandbox);
    let parts = Parts::of(answer, &mut files);
    let (excerpts, heads, unresolved) = files.into_parts();
    let snapshot = EvidenceSnapshot::freeze("", excerpts)?;
    // The bytes were read just now.
    let fresh: FreshnessReport = snapshot
        .items()
        .iter()
        .map(|item| (item.label, Freshness::Fresh))
        .collect();
    let draft = Draft::new(parts.segments());
    let options = VerifyOptions::default();
    let mut report = verify::verify_with_table_heads(&draft, &snapshot, &fresh, &options, &heads);
    let back = parts.back(&draft.lay_out(&snapshot));
    report.relocate(answer, |span| back.given(span));
    Ok(Judged {
        report,
        snapshot,
        unresolved,
    })
}
