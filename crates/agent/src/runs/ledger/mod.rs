//! The ledger: one line per begin, end, removal or tool call, each with the hash of the line
//! before.
//!
//! Changing, removing or reordering a line breaks the chain after it. If the end is cut off, the
//! chain is still intact; this is detected because `durable.sqlite` stores the length that the
//! ledger had. A person who can write both files can forge both.
//!
//! A crash may leave a line that the head does not know yet (the ledger is ahead: the line is
//! accepted, because it continues the chain) or half a line at the end (it was never acknowledged,
//! and the next writer cuts it off). A ledger that is behind its head, or that does not continue
//! from it, is `LEDGER_BROKEN`, and nothing is written to it.
//!
//! The head also stores what the system reported about the file at the last write: length, inode
//! number, and the times of the last change. If a writer finds the same values, it checks only the
//! last line; otherwise it reads everything, as `runs verify` and doctor always do. So a change by
//! any program is detected before the next line is written; bytes that changed on the disk itself
//! are detected by those two commands.
//!
//! A reader reads the heads before the file: the file may have grown meanwhile, and a longer one
//! that continues the chain is intact. The file is read again, with writers locked out, only if
//! something does not match. If others write all the time, the answer is `LOCKED`.

mod chain;
mod ended;
mod queue;
mod renew;
mod writer;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use time::OffsetDateTime;

use super::{RunId, private, stamp};
use local_agent_files::state::{self, StateDirectory};
use local_agent_index::store::{Durable, Head, JobLock};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

pub use chain::{Chain, Line, LineKind, ToolLine};
use ended::has_ended_run;
pub use renew::Renewed;
use writer::Writer;

/// The ledger's file name in the folder of runs.
const FILE: &str = "ledger.jsonl";

/// Maximum number of characters of a subject in a line. Lines stay far below the 4096 bytes that a
/// writer reads at the end.
const SUBJECT: usize = 200;

/// The file that a writer locks.
const LOCK: &str = "ledger.lock";

/// How long one run waits for another to write its line.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a reader waits for the lock before it looks once more without it.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Whether `durable.sqlite` confirms the ledger's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Anchor {
    /// It knows this ledger, and the ledger reaches at least as far.
    Kept,
    /// It does not know this ledger.
    Unknown,
    /// It cannot be read or is not ours.
    Unreadable(Failure),
}

/// A ledger and its head at one moment.
#[derive(Debug)]
pub struct LedgerView {
    /// The lines; `None`: no ledger exists.
    pub chain: Option<Chain>,
    /// Whether it reaches at least as far as its head; `LEDGER_BROKEN` when it is behind, missing,
    /// or another ledger.
    pub anchor: Result<Anchor>,
}

impl LedgerView {
    /// Whether ledger and head agree, so that it does not matter if somebody wrote meanwhile.
    fn is_settled(&self) -> bool {
        match &self.anchor {
            Ok(Anchor::Kept | Anchor::Unreadable(_)) => true,
            Ok(Anchor::Unknown) => self.chain.is_none(),
            Err(_) => false,
        }
    }
}

/// One line to be written.
#[derive(Debug, Clone)]
struct NewLine {
    kind: LineKind,
    run: Option<RunId>,
    sha256: Option<Sha256>,
    tool: Option<ToolLine>,
}

impl NewLine {
    const fn new(kind: LineKind) -> Self {
        Self {
            kind,
            run: None,
            sha256: None,
            tool: None,
        }
    }
}

/// The ledger of one folder of runs, and the database with its head.
#[derive(Debug, Clone)]
pub struct Ledger {
    runs_dir: PathBuf,
    durable: PathBuf,
}

impl Ledger {
    /// A ledger; this accesses no file yet.
    pub fn new(runs_dir: &Path, durable: &Path) -> Self {
        Self {
            runs_dir: runs_dir.to_owned(),
            durable: durable.to_owned(),
        }
    }

    /// The path of its file.
    pub fn path(&self) -> PathBuf {
        self.runs_dir.join(FILE)
    }

    fn lock(&self, folder: &StateDirectory) -> Result<JobLock> {
        let holder = format!(
            "pid {}, which writes to the ledger, since {}",
            std::process::id(),
            now()
        );
        Ok(JobLock::take_in(folder, LOCK, &holder, PATIENCE)?)
    }

    /// Reads the whole chain; `None` if no ledger exists.
    pub fn read(&self) -> Result<Option<Chain>> {
        let read = || match StateDirectory::open(&self.runs_dir)? {
            Some(folder) => folder.read_bytes(FILE, u64::MAX),
            None => Ok(None),
        };
        match read() {
            Ok(bytes) => Ok(bytes
                .filter(|bytes| !bytes.is_empty())
                .map(|bytes| Chain::parse(&bytes))),
            Err(e) => Err(state::refusal(&e).unwrap_or_else(|| {
                let message = format!("the ledger {} cannot be read: {e}", self.path().display());
                Failure::new(ErrorCode::FileReadError, message).with_command("local-agent doctor")
            })),
        }
    }

    /// Reads the ledger and its head as one consistent state, even while others write. Writes
    /// nothing.
    ///
    /// # Errors
    /// Failures to read the file. `LOCKED`: others wrote to it all the time, so nothing can be said
    /// about it.
    pub fn look(&self) -> Result<LedgerView> {
        self.look_within(PATIENCE)
    }

    /// Like [`Ledger::look`], waiting at most about `wait` for those who write.
    fn look_within(&self, wait: Duration) -> Result<LedgerView> {
        let until = Instant::now() + wait;
        loop {
            let look = self.look_once()?;
            if look.is_settled() {
                return Ok(look);
            }
            // A new ledger may have been begun, or half a line cut off, between the two reads. Only
            // a look while nobody writes can tell.
            match JobLock::share(&self.runs_dir.join(LOCK), BETWEEN_LOOKS) {
                Ok(_writers_wait) => return self.look_once(),
                Err(busy) if Instant::now() >= until => {
                    return Err(Failure::from(busy).with_command("local-agent runs verify"));
                }
                Err(_) => {}
            }
        }
    }

    fn look_once(&self) -> Result<LedgerView> {
        let heads = match Durable::open_read(&self.durable) {
            Ok(Some(durable)) => durable.heads(),
            Ok(None) => Ok(Vec::new()),
            Err(failure) => Err(failure),
        };
        let chain = self.read()?;
        let anchor = match heads {
            Ok(heads) => self.compare(&heads, chain.as_ref()),
            Err(failure) => self
                .fits(chain.as_ref())
                .map(|()| Anchor::Unreadable(failure.into())),
        };
        Ok(LedgerView { chain, anchor })
    }

    fn fits(&self, chain: Option<&Chain>) -> Result<()> {
        match chain.and_then(|chain| chain.broken.as_ref()) {
            Some((line, why)) => Err(self.broken(&format!("line {line}: {why}"))),
            None => Ok(()),
        }
    }

    /// Compares a chain with the stored heads, each with its folder of runs.
    fn compare(&self, heads: &[(String, Head)], chain: Option<&Chain>) -> Result<Anchor> {
        self.fits(chain)?;
        let id = chain.and_then(Chain::id);
        let known = heads
            .iter()
            .map(|(_, head)| head)
            .find(|head| Some(head.ledger) == id);
        let here = self.runs_dir.to_string_lossy();
        let of_folder = heads.iter().any(|(dir, _)| *dir == *here);
        match (chain, known) {
            (Some(chain), Some(head)) if chain.continues(head) => Ok(Anchor::Kept),
            (Some(chain), Some(head)) => {
                let (has, had) = (chain.lines.len(), head.lines);
                Err(self.broken(&format!(
                    "it has {has} lines that fit, and had {had} when it was last written to"
                )))
            }
            (Some(_), None) if of_folder => {
                Err(self.broken("it is not the ledger that was kept here"))
            }
            (None, _) if of_folder || has_ended_run(&self.runs_dir) => {
                Err(self.broken("it is gone"))
            }
            // After a move the heads name another folder, but the records are there.
            (Some(chain), None) if chain.lines.is_empty() && has_ended_run(&self.runs_dir) => {
                Err(self.broken("it is empty"))
            }
            _ => Ok(Anchor::Unknown),
        }
    }

    fn broken(&self, why: &str) -> Failure {
        Failure::new(
            ErrorCode::LedgerBroken,
            format!("the ledger {} was changed: {why}", self.path().display()),
        )
        .with_command(
            "local-agent runs head --renew (keeps the broken one aside, and every record)",
        )
    }

    /// Adds lines. Returns why the head could not be stored if `durable.sqlite` is not ours or was
    /// lost; every other failure is an error.
    pub(super) fn append(
        &self,
        events: &[(LineKind, Option<RunId>, Option<Sha256>)],
    ) -> Result<Option<Failure>> {
        queue::enter(self, events.iter().map(new_line).collect())
    }

    /// Whether a line of `run` is in the ledger.
    ///
    /// # Errors
    /// `FILE_READ_ERROR`, `LEDGER_BROKEN`: the ledger cannot be read.
    pub(super) fn knows(&self, run: &RunId) -> Result<bool> {
        let chain = self.read()?;
        Ok(chain.is_some_and(|chain| {
            chain
                .lines
                .iter()
                .any(|(line, _)| line.run.as_ref() == Some(run))
        }))
    }

    /// Enters a tool call, within a run or separately. Returns as [`Ledger::append`].
    ///
    /// # Errors
    /// `WRITE_ERROR`, `LEDGER_BROKEN`, `LOCKED`: a call that cannot be entered is not made.
    pub fn enter_tool(&self, run: Option<&RunId>, tool: ToolLine) -> Result<Option<Failure>> {
        let subject: String = super::redact(&tool.subject)
            .text
            .chars()
            .take(SUBJECT)
            .collect();
        let name: String = tool.name.chars().take(80).collect();
        let tool = ToolLine {
            subject,
            name,
            ..tool
        };
        queue::enter(
            self,
            vec![NewLine {
                run: run.cloned(),
                tool: Some(tool),
                ..NewLine::new(LineKind::Tool)
            }],
        )
    }

    /// Makes `durable.sqlite` confirm the ledger's end again, after the database was created again.
    /// Does nothing without a ledger.
    ///
    /// # Errors
    /// As [`Ledger::enter_tool`].
    pub fn vouch(&self) -> Result<()> {
        if self.read()?.is_none() {
            Ok(())
        } else {
            self.append(&[]).map(drop)
        }
    }

    /// Writes lines and the head. `kept` is the connection of the write before, and of this one if
    /// nothing failed: opening the database takes longer than the write.
    fn write(&self, entries: &[NewLine], kept: &mut Option<Durable>) -> Result<Option<Failure>> {
        let folder = private::make_folder(&self.runs_dir)?;
        let _lock = self.lock(&folder)?;
        let opened = match kept.take().filter(Durable::is_current) {
            Some(durable) => Ok(durable),
            None => Durable::open_write(&self.durable).map_err(Failure::from),
        };
        let durable = match opened {
            Ok(durable) => Ok(durable),
            Err(failure)
                if matches!(
                    failure.code,
                    ErrorCode::DbForeign | ErrorCode::DurableMissing
                ) =>
            {
                Err(failure)
            }
            Err(failure) => return Err(failure),
        };
        let mut writer = Writer::open(folder, FILE)?;
        let anchor = self.resume(&mut writer, durable.as_ref().ok())?;
        Self::open_with(&mut writer, &anchor, durable.is_ok())?;
        entries.iter().try_for_each(|entry| writer.enter(entry))?;
        let (head, mark) = writer.finish()?;
        match durable {
            Ok(mut durable) => {
                durable.set_head(&self.runs_dir, &head, &mark, false)?;
                durable.settle()?;
                *kept = Some(durable);
                Ok(None)
            }
            Err(failure) => Ok(Some(failure)),
        }
    }

    /// Writes the opening line, or the line that records the loss of the head.
    fn open_with(writer: &mut Writer, anchor: &Anchor, is_kept: bool) -> Result<()> {
        match anchor {
            Anchor::Kept => Ok(()),
            _ if writer.head.is_none() => writer.enter(&NewLine::new(LineKind::Open)),
            _ if is_kept => writer.enter(&NewLine::new(LineKind::Anchor)),
            _ => Ok(()),
        }
    }

    /// Determines where the writer continues, and cuts off half a line.
    fn resume(&self, writer: &mut Writer, durable: Option<&Durable>) -> Result<Anchor> {
        let known = match (durable, writer.first_line()?) {
            (Some(durable), Some(id)) => durable.head(&id)?.zip(durable.mark(&id)?),
            _ => None,
        };
        if let Some((head, mark)) = known
            && writer.mark()? == mark
            && writer.ends_at(&head)?
        {
            writer.head = Some(head);
            return Ok(Anchor::Kept);
        }
        let chain = self.read()?;
        let anchor = match durable {
            Some(durable) => self.compare(&durable.heads()?, chain.as_ref())?,
            None => self.fits(chain.as_ref()).map(|()| Anchor::Unknown)?,
        };
        writer.head = chain.as_ref().and_then(Chain::head);
        writer.cut_torn(writer.head.as_ref().map_or(0, |head| head.bytes))?;
        Ok(anchor)
    }
}

/// A line that is not in the chain yet.
fn new_line((kind, run, sha256): &(LineKind, Option<RunId>, Option<Sha256>)) -> NewLine {
    NewLine {
        run: run.clone(),
        sha256: *sha256,
        ..NewLine::new(*kind)
    }
}

fn now() -> String {
    stamp(OffsetDateTime::now_utc())
}

#[cfg(test)]
mod tests;
