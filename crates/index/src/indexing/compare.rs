//! Compares files with the index: which are new, changed or gone. Writes nothing; uses the same
//! rule as the `index` job.

use std::collections::HashSet;

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::emptied::{self, Was};
use crate::ids::DocumentId;
use crate::indexing::Source;
use crate::store::{IndexReader, KnownDocument, KnownDocuments};
use local_agent_files::sandbox::{Address, Entry, Sandbox, WalkOutcome};
use local_agent_text::error::Result;
use local_agent_text::types::{FileStamp, Sha256, SkipReason};

/// A file modified this shortly before the scan may change again without a change to its stamp: FAT
/// has a resolution of two seconds, others are finer.
const STAMP_GRAIN_NS: i64 = 2_000_000_000;

/// An indexed document whose file has not changed since it was indexed.
#[derive(Debug)]
pub struct FreshDocument {
    /// Its row.
    pub id: DocumentId,
    pub address: Address,
    /// Hash of the bytes that were indexed.
    pub sha256: Sha256,
    /// Stamp of the file when it was compared.
    pub stamp: FileStamp,
}

/// The result of a comparison; files are named `source:path`.
#[derive(Debug, Default)]
pub struct Compared {
    /// Files that are not indexed yet.
    pub new: Vec<String>,
    /// Files with other bytes than those that were indexed.
    pub changed: Vec<String>,
    /// Files that were indexed and no longer exist.
    pub gone: Vec<String>,
    /// Sources whose missing files are not treated as deleted, one sentence each; those files are
    /// not in `gone`.
    pub emptied: Vec<String>,
    /// Indexed documents that are up to date.
    pub fresh: Vec<FreshDocument>,
    /// Number of files checked.
    pub files: usize,
}

impl Compared {
    /// Whether the index is up to date with every file.
    pub fn is_fresh(&self) -> bool {
        [&self.new, &self.changed, &self.gone, &self.emptied]
            .into_iter()
            .all(Vec::is_empty)
    }

    /// Adds one file and how it compares with what the index knew about it.
    fn add(&mut self, source: &Source, entry: &Entry, state: State, was: Option<KnownDocument>) {
        let at = Address {
            source: source.name.clone(),
            path: entry.path.clone(),
        };
        match state {
            State::New => self.new.push(at.to_string()),
            State::Changed => self.changed.push(at.to_string()),
            State::Same => self.fresh.extend(fresh(at, entry, was)),
        }
    }
}

/// Adds the comparison of one source. `CONFIG_ERROR` when its root cannot be used.
pub fn compare(
    sandbox: &Sandbox,
    source: &Source,
    index: &IndexReader,
    out: &mut Compared,
) -> Result<()> {
    let (entries, disks) = sandbox.documents_and_disks(&source.name)?;
    let mut known = index.known_documents(&source.name)?;
    let was = Was::of(&known, index.disks(source.name.as_str())?);
    let last_scan = index.last_scan(&source.name)?;
    let states: Vec<State> = entries
        .par_iter()
        .map(|entry| {
            let known = known.get(entry.path.as_str());
            state(sandbox, source, entry, known, last_scan)
        })
        .collect();
    out.files += entries.len();
    let gone = gone(&entries, &known);
    let mut gone: Vec<String> = gone.into_iter().map(|(path, _)| path.to_owned()).collect();
    gone.sort();
    for (entry, state) in entries.iter().zip(states) {
        let was = known.remove(entry.path.as_str());
        out.add(source, entry, state, was);
    }
    if gone.is_empty() {
        return Ok(());
    }
    if let Some(why) = emptied::suspicion(&source.name, &was, &entries, &disks) {
        out.emptied.push(why);
        return Ok(());
    }
    let lost = emptied::lost_disks(sandbox, &source.name, &was, &entries, &disks);
    out.emptied
        .extend(lost.iter().map(|lost| lost.why(&source.name)));
    gone.retain(|path| !lost.iter().any(|lost| lost.holds(path)));
    let gone = gone.into_iter();
    out.gone
        .extend(gone.map(|path| format!("{}:{path}", source.name)));
    Ok(())
}

/// Whether a stamp proves that a file has the bytes that were read before the last scan.
pub(super) fn proves(known: &KnownDocument, stamp: &FileStamp, last_scan_ns: i64) -> bool {
    known.stamp == *stamp && stamp.mtime_ns < last_scan_ns.saturating_sub(STAMP_GRAIN_NS)
}

/// The known documents for which the walk found no entry. If a folder cannot be listed, the files
/// below it are unknown, so they do not count as gone.
pub(super) fn gone<'k>(
    entries: &[Entry],
    known: &'k KnownDocuments,
) -> Vec<(&'k str, &'k KnownDocument)> {
    let mut seen: HashSet<&str, RandomState> =
        HashSet::with_capacity_and_hasher(entries.len(), RandomState::default());
    seen.extend(entries.iter().map(|entry| entry.path.as_str()));
    let closed: Vec<String> = entries
        .iter()
        .filter(|entry| entry.what == WalkOutcome::Skipped(SkipReason::Unreadable))
        .map(|entry| format!("{}/", entry.path))
        .collect();
    known
        .iter()
        .map(|(path, known)| (path.as_str(), known))
        .filter(|(path, _)| is_gone(&seen, &closed, path))
        .collect()
}

/// Whether a document was not found although its folder could be read.
fn is_gone(seen: &HashSet<&str, RandomState>, closed: &[String], path: &str) -> bool {
    !seen.contains(path)
        && !closed
            .iter()
            .any(|folder| path.starts_with(folder.as_str()))
}

/// The document as up to date, if it is indexed.
fn fresh(address: Address, entry: &Entry, was: Option<KnownDocument>) -> Option<FreshDocument> {
    let was = was.filter(|was| was.status == "indexed")?;
    let WalkOutcome::Found(stamp) = entry.what else {
        return None;
    };
    Some(FreshDocument {
        id: was.id,
        address,
        sha256: Sha256::from_bytes(was.sha256?),
        stamp,
    })
}

#[derive(Clone, Copy)]
enum State {
    New,
    Changed,
    Same,
}

/// The same rule as in the `index` job: the stamp decides, and if it cannot, the bytes do.
fn state(
    sandbox: &Sandbox,
    source: &Source,
    entry: &Entry,
    known: Option<&KnownDocument>,
    last_scan: i64,
) -> State {
    let Some(known) = known else {
        return State::New;
    };
    let stamp = match entry.what {
        WalkOutcome::Skipped(reason) => {
            return if known.status == reason.as_str() {
                State::Same
            } else {
                State::Changed
            };
        }
        WalkOutcome::Found(stamp) => stamp,
    };
    if proves(known, &stamp, last_scan) {
        return State::Same;
    }
    let at = Address {
        source: source.name.clone(),
        path: entry.path.clone(),
    };
    let same = match sandbox.read(&at) {
        Ok(file) => known.sha256 == Some(*Sha256::of(&file.bytes).as_bytes()),
        // The file is still unreadable, or newly unreadable. In the second case the job lists it
        // with its reason.
        Err(_) => known.status != "indexed",
    };
    if same { State::Same } else { State::Changed }
}
