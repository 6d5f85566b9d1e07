//! Files against the index: every one by its stamp, and a sample byte by byte.

use std::collections::HashMap;

use rayon::prelude::*;
use serde_json::Value;

use super::codes::Code;
use super::{Checks, Subject, count, sample};
use crate::config::{MARKDOWN_EXTS, Source};
use crate::error::{ErrorCode, Failure, Result};
use crate::sandbox::{Address, Entry, Sandbox, What};
use crate::store::IndexReader;
use crate::types::{FileStamp, Sha256, SkipReason};

/// Files of which every byte is compared.
const SAMPLE: usize = 32;

/// As in the `index` job: a file written so shortly before a scan may change again without its stamp moving.
const STAMP_GRAIN_NS: i64 = 2_000_000_000;

/// What the index says of one file.
struct Known {
    id: i64,
    stamp: FileStamp,
    status: String,
    sha256: Option<Sha256>,
}

/// What comparing came to.
#[derive(Default)]
struct Compared {
    new: Vec<String>,
    changed: Vec<String>,
    gone: Vec<String>,
    /// Indexed documents in their present state: row id, address, hash.
    fresh: Vec<(i64, Address, Sha256)>,
    files: usize,
}

pub(super) fn check(subject: &Subject<'_>, index: &IndexReader, checks: &mut Checks) {
    let Ok(sandbox) = subject.sandbox else {
        checks.skipped("files", "no root could be opened");
        return;
    };
    let mut compared = Compared::default();
    for source in &subject.config().sources {
        match compare(sandbox, source, index, &mut compared) {
            Ok(()) => {}
            // Reported with the sources.
            Err(failure) if failure.code == ErrorCode::ConfigError => {
                checks.skipped(&format!("files of `{}`", source.name), failure.message);
            }
            Err(failure) => {
                checks.fail(Code::IndexDbError, failure.message, "local-agent index --rebuild");
                return;
            }
        }
    }
    report(&compared, checks);
    sampled(subject, sandbox, index, &compared, checks);
}

fn report(compared: &Compared, checks: &mut Checks) {
    let Compared { new, changed, gone, files, .. } = compared;
    if new.is_empty() && changed.is_empty() && gone.is_empty() {
        checks.ok(Code::FilesFreshOk, format!("the index knows {} in their present state", count(*files, "file")));
        return;
    }
    let names: Vec<String> = [new, changed, gone].into_iter().flatten().cloned().collect();
    let message = format!(
        "since they were indexed, files are new ({}), changed ({}), gone ({}): {}",
        new.len(),
        changed.len(),
        gone.len(),
        sample(&names)
    );
    checks.fail(Code::FilesStale, message, "local-agent index");
}

fn compare(sandbox: &Sandbox, source: &Source, index: &IndexReader, out: &mut Compared) -> Result<()> {
    let exts = MARKDOWN_EXTS.map(|ext| format!(".{ext}"));
    let entries = sandbox.walk(&source.name, &exts.each_ref().map(String::as_str))?;
    let mut known = known(index, source)?;
    let last_scan = index.sources()?.into_iter().find(|s| s.name == source.name.as_str()).map_or(0, |s| s.scanned_ns);
    let states: Vec<State> = entries
        .par_iter()
        .map(|entry| state(sandbox, source, entry, known.get(entry.path.as_str()), last_scan))
        .collect();
    out.files += entries.len();
    let mut closed = Vec::new();
    for (entry, state) in entries.iter().zip(states) {
        if entry.what == What::Skipped(SkipReason::Unreadable) {
            closed.push(format!("{}/", entry.path));
        }
        let at = Address { source: source.name.clone(), path: entry.path.clone() };
        let was = known.remove(entry.path.as_str());
        match state {
            State::New => out.new.push(at.to_string()),
            State::Changed => out.changed.push(at.to_string()),
            State::Same => {
                if let Some(Known { id, sha256: Some(sha256), .. }) = was.filter(|was| was.status == "indexed") {
                    out.fresh.push((id, at, sha256));
                }
            }
        }
    }
    // Below a folder that cannot be listed nothing is known, so nothing there is gone.
    let mut gone: Vec<String> = known
        .into_keys()
        .filter(|path| !closed.iter().any(|folder| path.starts_with(folder.as_str())))
        .map(|path| format!("{}:{path}", source.name))
        .collect();
    gone.sort();
    out.gone.append(&mut gone);
    Ok(())
}

#[derive(Clone, Copy)]
enum State {
    New,
    Changed,
    Same,
}

/// The same rule as the `index` job: the stamp decides, and where it cannot, the bytes do.
fn state(sandbox: &Sandbox, source: &Source, entry: &Entry, known: Option<&Known>, last_scan: i64) -> State {
    let Some(known) = known else { return State::New };
    let stamp = match entry.what {
        What::Skipped(reason) => return if known.status == reason.as_str() { State::Same } else { State::Changed },
        What::Found(stamp) => stamp,
    };
    if known.stamp == stamp && stamp.mtime_ns < last_scan.saturating_sub(STAMP_GRAIN_NS) {
        return State::Same;
    }
    let at = Address { source: source.name.clone(), path: entry.path.clone() };
    let same = match sandbox.read(&at) {
        Ok(file) => known.sha256 == Some(Sha256::of(&file.bytes)),
        // Still unreadable, or unreadable since: the latter will be listed with its reason.
        Err(_) => known.status != "indexed",
    };
    if same { State::Same } else { State::Changed }
}

fn known(index: &IndexReader, source: &Source) -> Result<HashMap<String, Known>> {
    let name = source.name.as_str().replace('\'', "''");
    let rows = index.texts(
        &format!(
            "SELECT json_array(rel_path, documents.id, size, mtime_ns, ctime_ns, inode, status, lower(hex(sha256)))
             FROM documents JOIN sources ON sources.id = source_id WHERE name = '{name}'"
        ),
        usize::MAX,
    )?;
    rows.iter()
        .map(|row| {
            let fields: Vec<Value> = serde_json::from_str(row).map_err(|_| unreadable())?;
            read(&fields).ok_or_else(unreadable)
        })
        .collect()
}

fn read(fields: &[Value]) -> Option<(String, Known)> {
    let number = |at: usize| fields.get(at)?.as_i64();
    let text = |at: usize| fields.get(at)?.as_str();
    let stamp = FileStamp {
        size: number(2)?.cast_unsigned(),
        mtime_ns: number(3)?,
        ctime_ns: number(4)?,
        inode: number(5)?.cast_unsigned(),
    };
    let known = Known { id: number(1)?, stamp, status: text(6)?.to_owned(), sha256: text(7)?.parse().ok() };
    Some((text(0)?.to_owned(), known))
}

fn unreadable() -> Failure {
    Failure::new(ErrorCode::DbCorrupt, "the index holds a document that cannot be read")
}

/// Compares some documents byte by byte; which ones depends on the seed, so that many runs look at all of them.
fn sampled(subject: &Subject<'_>, sandbox: &Sandbox, index: &IndexReader, compared: &Compared, checks: &mut Checks) {
    let fresh = &compared.fresh;
    let step = fresh.len().div_ceil(SAMPLE).max(1);
    let first = usize::try_from(subject.seed % step as u64).unwrap_or(0);
    let (mut other_bytes, mut other_chunks, mut looked_at, mut chunks) = (Vec::new(), Vec::new(), 0_usize, 0);
    for (id, at, sha256) in fresh.iter().skip(first).step_by(step) {
        let Ok(file) = sandbox.read(at) else { continue };
        looked_at += 1;
        if Sha256::of(&file.bytes) != *sha256 {
            other_bytes.push(at.to_string());
            continue;
        }
        match verbatim(index, *id, &file.bytes) {
            Ok(compared) => chunks += compared,
            Err(_) => other_chunks.push(at.to_string()),
        }
    }
    if other_bytes.is_empty() {
        let message = format!("{looked_at} of {} have the bytes that were indexed", count(fresh.len(), "file"));
        checks.ok(Code::FileHashOk, message);
    } else {
        let message = format!("other bytes than were indexed, under an old time stamp: {}", sample(&other_bytes));
        checks.fail(Code::FileHashMismatch, message, "local-agent index --verify");
    }
    if other_chunks.is_empty() {
        checks.ok(Code::ChunkTextOk, format!("{} in them are verbatim slices", count(chunks, "chunk")));
    } else {
        let message = format!("chunks that are no slices of their file: {}", sample(&other_chunks));
        checks.fail(Code::ChunkTextMismatch, message, "local-agent index --rebuild");
    }
}

/// How many chunks of a document there are, when each is a slice of `bytes`.
fn verbatim(index: &IndexReader, document: i64, bytes: &[u8]) -> Result<u64> {
    let mut count = 0;
    while let Some(chunk) = index.chunk_at(document, u32::try_from(count).unwrap_or(u32::MAX))? {
        let slice = bytes.get(chunk.span.start()..chunk.span.end());
        if slice != Some(chunk.text.as_bytes()) || Sha256::of(chunk.text.as_bytes()) != chunk.text_sha256 {
            return Err(unreadable());
        }
        count += 1;
    }
    Ok(count)
}
