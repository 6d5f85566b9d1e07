//! Compares files with the index: which are new, changed or gone. Writes nothing; uses the same
//! rule as the `index` job.

use std::collections::HashMap;

use rayon::prelude::*;
use serde_json::Value;

use super::emptied::{self, Was};
use crate::indexing::Source;
use crate::store::IndexReader;
use local_agent_files::sandbox::{Address, Entry, Sandbox, What};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{FileStamp, Sha256, SkipReason};

/// As in the `index` job: a file written this shortly before a scan may change again without a
/// change to its stamp.
const STAMP_GRAIN_NS: i64 = 2_000_000_000;

/// What the index knows about one file.
struct Known {
    id: i64,
    stamp: FileStamp,
    status: String,
    sha256: Option<Sha256>,
}

/// An indexed document whose file has not changed since it was indexed.
#[derive(Debug)]
pub struct FreshDocument {
    /// Its row.
    pub id: i64,
    pub address: Address,
    /// Hash of the bytes that were indexed.
    pub sha256: Sha256,
    /// Stamp of the file when it was compared.
    pub stamp: FileStamp,
}

/// The result of a comparison; files are named `source:path`.
#[derive(Debug, Default)]
pub struct Compared {
    /// Not indexed yet.
    pub new: Vec<String>,
    /// Indexed with other bytes.
    pub changed: Vec<String>,
    /// Indexed, and no longer there.
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
}

/// Adds the comparison of one source. `CONFIG_ERROR` when its root cannot be used.
pub fn compare(
    sandbox: &Sandbox,
    source: &Source,
    index: &IndexReader,
    out: &mut Compared,
) -> Result<()> {
    let entries = sandbox.documents(&source.name)?;
    let mut known = known(index, source)?;
    let was = Was {
        documents: known
            .values()
            .filter(|known| known.status == "indexed")
            .count(),
        device: index.device(source.name.as_str())?,
    };
    let last_scan = index.last_scan(&source.name)?;
    let states: Vec<State> = entries
        .par_iter()
        .map(|entry| {
            state(
                sandbox,
                source,
                entry,
                known.get(entry.path.as_str()),
                last_scan,
            )
        })
        .collect();
    out.files += entries.len();
    let mut closed = Vec::new();
    for (entry, state) in entries.iter().zip(states) {
        if entry.what == What::Skipped(SkipReason::Unreadable) {
            closed.push(format!("{}/", entry.path));
        }
        let at = Address {
            source: source.name.clone(),
            path: entry.path.clone(),
        };
        let was = known.remove(entry.path.as_str());
        match state {
            State::New => out.new.push(at.to_string()),
            State::Changed => out.changed.push(at.to_string()),
            State::Same => {
                if let Some(Known {
                    id,
                    sha256: Some(sha256),
                    ..
                }) = was.filter(|was| was.status == "indexed")
                    && let What::Found(stamp) = entry.what
                {
                    out.fresh.push(FreshDocument {
                        id,
                        address: at,
                        sha256,
                        stamp,
                    });
                }
            }
        }
    }
    // If a folder cannot be listed, nothing is known about the files below it, so none of them
    // counts as gone.
    let mut gone: Vec<String> = known
        .into_keys()
        .filter(|path| {
            !closed
                .iter()
                .any(|folder| path.starts_with(folder.as_str()))
        })
        .map(|path| format!("{}:{path}", source.name))
        .collect();
    gone.sort();
    let device = sandbox.device(&source.name);
    match emptied::suspicion(&source.name, was, emptied::shown(&entries), device)
        .filter(|_| !gone.is_empty())
    {
        Some(why) => out.emptied.push(why),
        None => out.gone.append(&mut gone),
    }
    Ok(())
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
    known: Option<&Known>,
    last_scan: i64,
) -> State {
    let Some(known) = known else {
        return State::New;
    };
    let stamp = match entry.what {
        What::Skipped(reason) => {
            return if known.status == reason.as_str() {
                State::Same
            } else {
                State::Changed
            };
        }
        What::Found(stamp) => stamp,
    };
    if known.stamp == stamp && stamp.mtime_ns < last_scan.saturating_sub(STAMP_GRAIN_NS) {
        return State::Same;
    }
    let at = Address {
        source: source.name.clone(),
        path: entry.path.clone(),
    };
    let same = match sandbox.read(&at) {
        Ok(file) => known.sha256 == Some(Sha256::of(&file.bytes)),
        // Still unreadable, or newly unreadable: the latter will be listed with its reason.
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
    let known = Known {
        id: number(1)?,
        stamp,
        status: text(6)?.to_owned(),
        sha256: text(7)?.parse().ok(),
    };
    Some((text(0)?.to_owned(), known))
}

fn unreadable() -> Failure {
    Failure::new(
        ErrorCode::DbCorrupt,
        "the index holds a document that cannot be read",
    )
}
