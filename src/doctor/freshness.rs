//! Compares files with the index: all of them by stamp, and a sample byte by byte.

use super::codes::Code;
use super::{Checks, Subject, count, sample};
use local_agent_files::sandbox::Sandbox;
use local_agent_index::ids::DocumentId;
use local_agent_index::indexing::{Compared, EMPTIED_WAY_OUT, compare};
use local_agent_index::store::IndexReader;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

/// Number of files that are compared byte by byte.
const SAMPLE: usize = 32;

pub(super) fn check(subject: &Subject<'_>, index: &IndexReader, checks: &mut Checks) {
    let Ok(sandbox) = subject.sandbox else {
        checks.skipped("files", "no root could be opened");
        return;
    };
    let mut compared = Compared::default();
    for source in &subject.config().sources {
        match compare(sandbox, source, index, &mut compared) {
            Ok(()) => {}
            // This is reported with the sources.
            Err(failure) if failure.code == ErrorCode::ConfigError => {
                checks.skipped(&format!("files of `{}`", source.name), failure.message);
            }
            Err(failure) => {
                checks.fail(
                    Code::IndexDbError,
                    failure.message,
                    "local-agent index --rebuild",
                );
                return;
            }
        }
    }
    report(&compared, checks);
    for why in &compared.emptied {
        checks.fail(Code::SourceEmptied, why.clone(), EMPTIED_WAY_OUT);
    }
    sampled(subject, sandbox, index, &compared, checks);
}

fn report(compared: &Compared, checks: &mut Checks) {
    let Compared {
        new,
        changed,
        gone,
        files,
        emptied,
        ..
    } = compared;
    if [new, changed, gone].into_iter().all(Vec::is_empty) {
        if !emptied.is_empty() {
            return;
        }
        checks.ok(
            Code::FilesFreshOk,
            format!(
                "the index knows {} in their present state",
                count(*files, "file")
            ),
        );
        return;
    }
    let names: Vec<String> = [new, changed, gone]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    let kinds = [
        ("new", new.len()),
        ("changed", changed.len()),
        ("gone", gone.len()),
    ];
    let kinds = kinds.into_iter().filter(|(_, files)| *files > 0);
    let kinds: Vec<String> = kinds.map(|(what, n)| format!("{what} ({n})")).collect();
    let message = format!(
        "since they were indexed, files are {}: {}",
        kinds.join(", "),
        sample(&names)
    );
    checks.fail(Code::FilesStale, message, "local-agent index");
}

/// Compares some documents byte by byte; the seed selects them, so that many runs cover all of
/// them.
fn sampled(
    subject: &Subject<'_>,
    sandbox: &Sandbox,
    index: &IndexReader,
    compared: &Compared,
    checks: &mut Checks,
) {
    let fresh = &compared.fresh;
    let step = fresh.len().div_ceil(SAMPLE).max(1);
    let first = usize::try_from(subject.seed % step as u64).unwrap_or(0);
    let (mut other_bytes, mut other_chunks, mut looked_at, mut chunks) =
        (Vec::new(), Vec::new(), 0_usize, 0);
    for document in fresh.iter().skip(first).step_by(step) {
        let at = &document.address;
        // A file that was written after the comparison is not damaged. The next run reports that it
        // changed.
        let Some(file) = sandbox
            .read(at)
            .ok()
            .filter(|file| file.stamp == document.stamp)
        else {
            continue;
        };
        looked_at += 1;
        if Sha256::of(&file.bytes) != document.sha256 {
            other_bytes.push(at.to_string());
            continue;
        }
        match verbatim(index, document.id, &file.bytes) {
            Ok(compared) => chunks += compared,
            Err(_) => other_chunks.push(at.to_string()),
        }
    }
    if other_bytes.is_empty() {
        let message = format!(
            "{looked_at} of {} have the bytes that were indexed",
            count(fresh.len(), "file")
        );
        checks.ok(Code::FileHashOk, message);
    } else {
        let message = format!(
            "other bytes than were indexed, under an old time stamp: {}",
            sample(&other_bytes)
        );
        checks.fail(
            Code::FileHashMismatch,
            message,
            "local-agent index --verify",
        );
    }
    if other_chunks.is_empty() {
        checks.ok(
            Code::ChunkTextOk,
            format!("{} in them are verbatim slices", count(chunks, "chunk")),
        );
    } else {
        let message = format!(
            "chunks that are not slices of their file: {}",
            sample(&other_chunks)
        );
        checks.fail(
            Code::ChunkTextMismatch,
            message,
            "local-agent index --rebuild",
        );
    }
}

/// The number of chunks of a document, if each is a slice of `bytes`.
fn verbatim(index: &IndexReader, document: DocumentId, bytes: &[u8]) -> Result<u64> {
    let mut count = 0;
    while let Some(chunk) = index.chunk_at(document, u32::try_from(count).unwrap_or(u32::MAX))? {
        let slice = bytes.get(chunk.span.start()..chunk.span.end());
        if slice != Some(chunk.text.as_bytes())
            || Sha256::of(chunk.text.as_bytes()) != chunk.text_sha256
        {
            return Err(unreadable());
        }
        count += 1;
    }
    Ok(count)
}

fn unreadable() -> Failure {
    Failure::new(
        ErrorCode::DbCorrupt,
        "the index holds a document that cannot be read",
    )
}
