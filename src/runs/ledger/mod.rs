//! The ledger: one line a begin, end, removal or call of a tool, each with the hash of the line before.
//!
//! Whoever changes, removes or reorders a line breaks the chain behind it. A tail that was cut off leaves a whole chain;
//! it is seen because `durable.sqlite` knows how far the ledger had grown. Who can write both can forge both.
//!
//! A crash may leave a line that the head does not know yet (the ledger is ahead: it is believed, for it continues the
//! chain) or half a line at the end (it was never acknowledged: it is cut off by the next writer). A ledger that is
//! behind its head, or that does not continue from it, is `LEDGER_BROKEN`, and nothing is written to it. A writer whose
//! ledger is exactly as long as its head says looks at the last line alone; `runs verify` and doctor read all of it.

mod chain;
mod writer;

use std::path::{Path, PathBuf};
use std::time::Duration;

use time::OffsetDateTime;

use super::{RunId, private, stamp};
use crate::error::{ErrorCode, Failure, Result};
use crate::state::{self, StateDirectory};
use crate::store::{Durable, JobLock};
use crate::types::Sha256;

pub use chain::{Chain, Kind, Line, ToolLine};
use writer::Writer;

/// The ledger's name in the folder of runs.
const FILE: &str = "ledger.jsonl";

/// Characters of a subject that a line keeps. Lines stay far below the 4096 bytes that a writer reads of the end.
const SUBJECT: usize = 200;

/// How long one run waits for another to write its line.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whether `durable.sqlite` vouches for the ledger's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Anchor {
    /// It knows this ledger, and the ledger goes at least as far.
    Kept,
    /// It does not know this ledger.
    Unknown,
    /// It cannot be read or is not ours.
    Unreadable(Failure),
}

/// The ledger of one folder of runs, and the database that knows its head.
#[derive(Debug, Clone)]
pub struct Ledger {
    runs_dir: PathBuf,
    durable: PathBuf,
}

impl Ledger {
    /// Touches nothing.
    pub fn new(runs_dir: &Path, durable: &Path) -> Self {
        Self { runs_dir: runs_dir.to_owned(), durable: durable.to_owned() }
    }

    /// Where its lines stand.
    pub fn path(&self) -> PathBuf {
        self.runs_dir.join(FILE)
    }

    fn lock(&self, folder: &StateDirectory) -> Result<JobLock> {
        let holder = format!("pid {}, which writes to the ledger, since {}", std::process::id(), now());
        JobLock::take_in(folder, "ledger.lock", &holder, PATIENCE)
    }

    /// Reads the whole chain. `None`: there is no ledger.
    pub fn read(&self) -> Result<Option<Chain>> {
        let read = || match StateDirectory::open(&self.runs_dir)? {
            Some(folder) => folder.read_bytes(FILE, u64::MAX),
            None => Ok(None),
        };
        match read() {
            Ok(bytes) => Ok(bytes.filter(|bytes| !bytes.is_empty()).map(|bytes| Chain::parse(&bytes))),
            Err(e) => Err(state::refusal(&e).unwrap_or_else(|| {
                let message = format!("the ledger {} cannot be read: {e}", self.path().display());
                Failure::new(ErrorCode::FileReadError, message).with_hint("local-agent doctor")
            })),
        }
    }

    /// Compares a chain with the head that is kept of it. `LEDGER_BROKEN` when it is behind, or gone, or another.
    pub fn anchor(&self, chain: Option<&Chain>) -> Result<Anchor> {
        let durable = match Durable::open_read(&self.durable) {
            Ok(Some(durable)) => durable,
            Ok(None) => return Ok(Anchor::Unknown),
            Err(failure) => return Ok(Anchor::Unreadable(failure)),
        };
        self.compare(&durable, chain)
    }

    fn compare(&self, durable: &Durable, chain: Option<&Chain>) -> Result<Anchor> {
        if let Some((line, why)) = chain.and_then(|chain| chain.broken.as_ref()) {
            return Err(self.broken(&format!("line {line}: {why}")));
        }
        let known = match chain.and_then(Chain::id) {
            Some(id) => durable.head(&id)?,
            None => None,
        };
        match (chain, known, durable.head_of_folder(&self.runs_dir)?) {
            (Some(chain), Some(head), _) if chain.continues(&head) => Ok(Anchor::Kept),
            (Some(chain), Some(head), _) => {
                let (has, had) = (chain.lines.len(), head.lines);
                Err(self.broken(&format!("it has {has} lines that fit, and had {had} when it was last written to")))
            }
            (Some(_), None, Some(_)) => Err(self.broken("it is not the ledger that was kept here")),
            (None, _, Some(_)) => Err(self.broken("it is gone")),
            (_, None, None) | (None, Some(_), None) => Ok(Anchor::Unknown),
        }
    }

    fn broken(&self, why: &str) -> Failure {
        Failure::new(ErrorCode::LedgerBroken, format!("the ledger {} was changed: {why}", self.path().display()))
            .with_hint("local-agent runs verify, then local-agent runs head --renew (keeps the broken one aside)")
    }

    /// Adds lines. Returns why the head could not be kept, when `durable.sqlite` is not ours; every other failure is
    /// one.
    pub(super) fn append(&self, events: &[(Kind, Option<RunId>, Option<Sha256>)]) -> Result<Option<Failure>> {
        let add = |writer: &mut Writer| {
            events.iter().try_for_each(|(kind, run, sha)| writer.add(*kind, run.clone(), *sha, None))
        };
        self.write(add)
    }

    /// Enters a call of a tool, within a run or by itself. Returns as [`Ledger::append`].
    ///
    /// # Errors
    /// `WRITE_ERROR`, `LEDGER_BROKEN`, `LOCKED`: a call that cannot be entered is not made.
    pub fn enter_tool(&self, run: Option<&RunId>, tool: ToolLine) -> Result<Option<Failure>> {
        let subject: String = super::redact(&tool.subject).text.chars().take(SUBJECT).collect();
        let name: String = tool.name.chars().take(80).collect();
        let tool = ToolLine { subject, name, ..tool };
        self.write(|writer| writer.add(Kind::Tool, run.cloned(), None, Some(tool)))
    }

    fn write(&self, add: impl FnOnce(&mut Writer) -> Result<()>) -> Result<Option<Failure>> {
        let folder = private::make_folder(&self.runs_dir)?;
        let _lock = self.lock(&folder)?;
        let mut durable = match Durable::open_write(&self.durable) {
            Ok(durable) => Ok(durable),
            Err(failure) if failure.code == ErrorCode::DbForeign => Err(failure),
            Err(failure) => return Err(failure),
        };
        let mut writer = Writer::open(folder, FILE)?;
        match self.resume(&mut writer, durable.as_ref().ok())? {
            Anchor::Kept => {}
            _ if writer.head.is_none() => writer.add(Kind::Open, None, None, None)?,
            // A ledger whose head was lost says so, once.
            _ if durable.is_ok() => writer.add(Kind::Anchor, None, None, None)?,
            _ => {}
        }
        add(&mut writer)?;
        let head = writer.finish()?;
        match &mut durable {
            Ok(durable) => durable.set_head(&self.runs_dir, &head, false).map(|()| None),
            Err(failure) => Ok(Some(failure.clone())),
        }
    }

    /// Finds out where to write on. When the file is exactly as the head says, one line is read; else all of it.
    fn resume(&self, writer: &mut Writer, durable: Option<&Durable>) -> Result<Anchor> {
        let first = writer.first_line()?;
        if let (Some(first), Some(durable)) = (&first, durable)
            && let Some(head) = durable.head(first)?
            && writer.ends_at(&head)?
        {
            writer.head = Some(head);
            return Ok(Anchor::Kept);
        }
        let chain = self.read()?;
        let anchor = match durable {
            Some(durable) => self.compare(durable, chain.as_ref())?,
            None => {
                if let Some((line, why)) = chain.as_ref().and_then(|chain| chain.broken.as_ref()) {
                    return Err(self.broken(&format!("line {line}: {why}")));
                }
                Anchor::Unknown
            }
        };
        writer.head = chain.as_ref().and_then(Chain::head);
        writer.cut_torn(writer.head.as_ref().map_or(0, |head| head.bytes))?;
        Ok(anchor)
    }

    /// Sets a ledger aside as `ledger.broken-<utc>.jsonl` and begins a new one whose first line holds the old one's
    /// hash. Returns where the old one is; `None`: there was none.
    pub fn renew(&self) -> Result<Option<PathBuf>> {
        let folder = private::make_folder(&self.runs_dir)?;
        let _lock = self.lock(&folder)?;
        let mut durable = Durable::open_write(&self.durable)?;
        let fail = |e: std::io::Error| private::unwritable(&self.path(), &e);
        let (mut aside, mut sha) = (None, None);
        if let Some(bytes) = folder.read_bytes(FILE, u64::MAX).map_err(fail)? {
            sha = Some(Sha256::of(&bytes));
            let stamp = now().replace(['-', ':'], "");
            let taken: Vec<String> = folder.entries().map_err(fail)?.into_iter().map(|entry| entry.name).collect();
            let free = |n: &u32| !taken.contains(&aside_name(&stamp, *n));
            let name = aside_name(&stamp, (0..).find(free).unwrap_or(0));
            folder.rename(FILE, &name).map_err(fail)?;
            aside = Some(self.runs_dir.join(name));
        }
        let mut writer = Writer::open(folder, FILE)?;
        writer.add(Kind::Open, None, sha, None)?;
        let head = writer.finish()?;
        durable.set_head(&self.runs_dir, &head, true)?;
        Ok(aside)
    }
}

fn aside_name(stamp: &str, n: u32) -> String {
    if n == 0 { format!("ledger.broken-{stamp}.jsonl") } else { format!("ledger.broken-{stamp}-{n}.jsonl") }
}

fn now() -> String {
    stamp(OffsetDateTime::now_utc())
}

#[cfg(test)]
mod tests;
