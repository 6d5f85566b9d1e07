//! Restores the evidence and draft of a record, and recomputes its report.
//!
//! The bytes come from the files, read through the sandbox, or from the files of
//! `runs.keep_evidence`. The hash of each item must match the record. Missing bytes are
//! `REPLAY_EVIDENCE_GONE`. That is not a mismatch, because there is nothing to compare.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::record::tampered;
use super::recorder::{EVIDENCE, KEPT};
use super::{ItemRecord, Record};
use crate::ask::ClaimOpinion;
use local_agent_files::sandbox::{Address, Sandbox};
use local_agent_files::state::{self, StateDirectory};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::evidence::{Draft, EvidenceSnapshot, Excerpt};
use local_agent_text::types::{ByteSpan, Label, Sha256};
use local_agent_verify as verify;

/// The origin of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bytes {
    /// The files of the sources.
    Files,
    /// The run's own `evidence/`.
    Kept,
}

/// The exact evidence and draft of a run.
#[derive(Debug, Clone)]
pub struct Thawed {
    /// The evidence; its id is the one in the record.
    pub snapshot: EvidenceSnapshot,
    /// The draft that was verified; `None`: the run has no draft.
    pub draft: Option<Draft>,
    /// Where the evidence was read from.
    pub bytes: Bytes,
    /// Items whose bytes are now elsewhere in their file.
    pub moved: Vec<Label>,
}

/// The result of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// Number of items whose hash matches the record.
    pub items: usize,
    /// Where the evidence was read from.
    pub bytes: Bytes,
    /// Items whose bytes are now elsewhere in their file.
    pub moved: Vec<Label>,
    /// The report's hash, recorded and recomputed identically; `None`: no draft was judged.
    pub report_sha256: Option<Sha256>,
}

/// Restores the evidence of a record. `folder` is the run's own folder.
///
/// # Errors
/// `RUN_INCOMPLETE` without evidence; `REPLAY_EVIDENCE_GONE`; `REPLAY_REDACTED`; `RUN_TAMPERED`
/// when the parts are inconsistent.
pub fn thaw(record: &Record, folder: &Path, sandbox: &Sandbox) -> Result<Thawed> {
    let Some(frozen) = &record.snapshot else {
        let message = format!(
            "the run {} holds no evidence: it ended before any was found",
            record.run_id
        );
        return Err(Failure::new(ErrorCode::RunIncomplete, message)
            .with_command(format!("local-agent runs show {}", record.run_id)));
    };
    let thawed = match kept(record, folder)? {
        Some(thawed) => thawed,
        None => from_files(record, &frozen.items, sandbox)?,
    };
    if thawed.snapshot.id() != frozen.id {
        return Err(tampered(
            "its evidence does not have the id that was frozen",
        ));
    }
    Ok(thawed)
}

/// Maximum size of a kept file.
const MAX_KEPT_BYTES: u64 = 256 << 20;

/// The evidence kept by `runs.keep_evidence`, if it is there.
fn kept(record: &Record, folder: &Path) -> Result<Option<Thawed>> {
    if !record.kept_evidence {
        return Ok(None);
    }
    let open = || StateDirectory::open(folder)?.map_or(Ok(None), |run| run.child(EVIDENCE));
    let Some(evidence) = open().map_err(unreadable_evidence)? else {
        return Ok(None);
    };
    let Some(snapshot) = read_kept(&evidence, KEPT[0])? else {
        return Ok(None);
    };
    let snapshot =
        EvidenceSnapshot::from_json(&snapshot).map_err(|failure| tampered(&failure.message))?;
    let draft = read_kept(&evidence, KEPT[1])?
        .map(|text| {
            serde_json::from_str(&text)
                .map_err(|e| tampered(&format!("the kept draft cannot be read ({e})")))
        })
        .transpose()?;
    Ok(Some(Thawed {
        snapshot,
        draft,
        bytes: Bytes::Kept,
        moved: Vec::new(),
    }))
}

/// A file that the run kept, as text.
fn read_kept(evidence: &StateDirectory, name: &str) -> Result<Option<String>> {
    match evidence
        .read_bytes(name, MAX_KEPT_BYTES)
        .map_err(unreadable_evidence)?
    {
        Some(bytes) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| tampered("what it kept is not UTF-8 text")),
        None => Ok(None),
    }
}

/// The failure for kept evidence that cannot be read.
fn unreadable_evidence(e: std::io::Error) -> Failure {
    state::refusal(&e).unwrap_or_else(|| {
        Failure::new(
            ErrorCode::FileReadError,
            format!("the evidence that the run kept cannot be read: {e}"),
        )
        .with_command("local-agent runs verify")
    })
}

fn from_files(record: &Record, items: &[ItemRecord], sandbox: &Sandbox) -> Result<Thawed> {
    if !record.exact {
        let message = "a text that identifies the evidence or the draft was redacted, so they cannot be brought back";
        return Err(Failure::new(ErrorCode::ReplayRedacted, message).with_fix(
            Fix::ChangeSetting,
            "set `runs.keep_evidence: true`; then later runs can be replayed whatever they hold",
        ));
    }
    let (mut excerpts, mut gone, mut moved) = (Vec::new(), Vec::new(), Vec::new());
    for item in items {
        let at = Address {
            source: item.source.clone(),
            path: item.rel_path.clone(),
        };
        let found = sandbox
            .read(&at)
            .map_err(|failure| failure.message)
            .and_then(|file| text_of(item.span, &item.text_sha256, &file.bytes));
        match found {
            Ok((text, in_place)) => {
                if !in_place {
                    moved.push(item.label);
                }
                excerpts.push(excerpt(item, text)?);
            }
            Err(why) => gone.push(format!(
                "{} ({at}, lines {}): {why}",
                item.label, item.lines
            )),
        }
    }
    if !gone.is_empty() {
        let message = format!(
            "{} of {} items are no longer what they were: {}",
            gone.len(),
            items.len(),
            gone.join("; ")
        );
        return Err(
            Failure::new(ErrorCode::ReplayEvidenceGone, message).with_hint(
                "restore the files as they were, or set `runs.keep_evidence: true` for later runs",
            ),
        );
    }
    let snapshot = EvidenceSnapshot::freeze(record.question.clone(), excerpts)?;
    Ok(Thawed {
        snapshot,
        draft: record.draft.clone(),
        bytes: Bytes::Files,
        moved,
    })
}

fn excerpt(item: &ItemRecord, text: String) -> Result<Excerpt> {
    Ok(Excerpt {
        chunk_key: item.chunk_key,
        merged: item.merged.clone(),
        source: item.source.clone(),
        path: item.rel_path.clone(),
        path_is_shared: item.path_is_shared,
        heading: item.heading()?,
        span: item.span,
        lines: item.lines,
        text,
    })
}

/// The bytes of an item, and whether they are at their old place. If text above was added or
/// removed, they are at the start of another line.
fn text_of(
    span: ByteSpan,
    sha256: &Sha256,
    file: &[u8],
) -> std::result::Result<(String, bool), String> {
    let fits = |bytes: &[u8]| Sha256::of(bytes) == *sha256;
    if let Some(bytes) = span.slice(file).filter(|bytes| fits(bytes)) {
        return Ok((as_text(bytes)?, true));
    }
    let starts = std::iter::once(0).chain(
        file.iter()
            .enumerate()
            .filter(|(_, b)| **b == b'\n')
            .map(|(at, _)| at + 1),
    );
    for start in starts {
        // The length comes from the record and may be any number.
        let Some(end) = start.checked_add(span.len()) else {
            break;
        };
        if let Some(bytes) = file.get(start..end).filter(|bytes| fits(bytes)) {
            return Ok((as_text(bytes)?, false));
        }
    }
    Err("the file changed".to_owned())
}

/// The bytes as text.
fn as_text(bytes: &[u8]) -> std::result::Result<String, String> {
    String::from_utf8(bytes.to_vec()).map_err(|_| "it is not UTF-8 text".to_owned())
}

/// Verifies the draft of a run again and compares the report's hash with the recorded one.
///
/// # Errors
/// Those of [`thaw`]; `REPLAY_MISMATCH` when the report differs.
pub fn replay(record: &Record, thawed: &Thawed) -> Result<Replayed> {
    let done = |report_sha256| Replayed {
        items: thawed.snapshot.items().len(),
        bytes: thawed.bytes,
        moved: thawed.moved.clone(),
        report_sha256,
    };
    let Some(expected) = record.report_sha256 else {
        return Ok(done(None));
    };
    let Some(draft) = &thawed.draft else {
        return Err(tampered("it holds a report and no draft"));
    };
    let report = verify::verify(
        draft,
        &thawed.snapshot,
        &record.freshness,
        &record.checking.options(),
    );
    // The model's opinions come from the record; the model is not asked again.
    let opinions: Vec<verify::Opinion> =
        record.opinions.iter().map(ClaimOpinion::opinion).collect();
    let report = match opinions.is_empty() {
        true => report,
        false => report.with_opinions(&opinions),
    };
    if report.sha256 == expected {
        return Ok(done(Some(expected)));
    }
    let version = env!("CARGO_PKG_VERSION");
    let recorded = record.citation_validation.as_ref();
    let judged_by = recorded
        .and_then(|report| report.get("version")?.as_u64())
        .unwrap_or(1);
    let why = if judged_by != u64::from(verify::REPORT_VERSION) {
        format!(
            "rules of version {judged_by} judged it, and this program judges by version {}",
            verify::REPORT_VERSION
        )
    } else if record.program_version == version {
        "the same version of the program wrote it".to_owned()
    } else {
        format!(
            "version {} of the program wrote it, this is {version}",
            record.program_version
        )
    };
    let message = format!(
        "the report has SHA-256 {}, the record says {expected}; {why}",
        report.sha256
    );
    Err(Failure::new(ErrorCode::ReplayMismatch, message).with_command("local-agent runs verify"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_that_no_file_can_hold_is_a_change_and_no_panic() {
        let file = b"one\ntwo\n";
        let sha = Sha256::of(b"two");
        let at = |start, end| text_of(ByteSpan::new(start, end).unwrap(), &sha, file);
        assert_eq!(at(4, 7), Ok(("two".to_owned(), true)));
        assert_eq!(at(0, 3), Ok(("two".to_owned(), false)));
        for (start, end) in [
            (0, usize::MAX),
            (usize::MAX, usize::MAX),
            (8, 9),
            (100, 200),
        ] {
            assert!(at(start, end).is_err(), "{start}..{end}");
        }
        let reversed = serde_json::json!({"start": 7, "end": 4});
        assert!(serde_json::from_value::<ByteSpan>(reversed).is_err());
    }
}
