//! Begins a new ledger after a broken one, and enters records that are in no ledger.
//!
//! The broken ledger is kept. Every line of it that is still confirmed is copied with the mark
//! `earlier`. A record without such a line is entered as `found`: later changes to it are detected,
//! and `runs verify` reports that nothing confirms it before. So no record is lost, and no earlier
//! change passes as original.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::chain::{Chain, Line, LineKind};
use super::writer::Writer;
use super::{Anchor, FILE, Ledger, NewLine, now};
use crate::runs::archive::{Archive, Entered, RunState};
use crate::runs::{RunId, RunStatus, private};
use local_agent_files::state::{self, EntryKind, StateDirectory};
use local_agent_index::store::{Durable, Head};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

/// The lines and records that a new ledger took over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renewed {
    /// The path of the broken ledger; `None`: it did not exist, or it was not renewed.
    pub aside: Option<PathBuf>,
    /// Number of confirmed lines that were copied.
    pub lines: usize,
    /// Records entered without confirmation.
    pub found: Vec<RunId>,
    /// Records from an earlier ledger that are gone.
    pub lost: Vec<RunId>,
}

impl Ledger {
    /// Sets a ledger aside as `ledger.broken-<utc>.jsonl` and begins a new one. Its first line
    /// contains the old one's hash; then come the confirmed lines of the old one, then the records
    /// that are in none of them.
    ///
    /// # Errors
    /// Those of the disk and of `durable.sqlite`; then the old ledger is either unchanged, or set
    /// aside and `--renew` must be run again.
    pub fn renew(&self) -> Result<Renewed> {
        let folder = private::make_folder(&self.runs_dir)?;
        let _lock = self.lock(&folder)?;
        let mut durable = Durable::open_write(&self.durable)?;
        let heads: Vec<Head> = durable.heads()?.into_iter().map(|(_, head)| head).collect();
        let fail = |e: std::io::Error| private::unwritable(&self.path(), &e);
        let mut done = Renewed::default();
        let mut old = Vec::new();
        if let Some(bytes) = folder.read_bytes(FILE, u64::MAX).map_err(fail)? {
            old = bytes;
            let stamp = now().replace(['-', ':'], "");
            let taken: Vec<String> = folder
                .entries()
                .map_err(fail)?
                .into_iter()
                .map(|entry| entry.name)
                .collect();
            let number = (0..)
                .find(|n| !taken.contains(&aside_name(&stamp, *n)))
                .unwrap_or(0);
            let name = aside_name(&stamp, number);
            folder.rename(FILE, &name).map_err(fail)?;
            done.aside = Some(self.runs_dir.join(name));
        }
        let kept = Chain::vouched(&old, &heads);
        let mut lines: Vec<Line> = kept
            .into_iter()
            .filter(|line| line.kind != LineKind::Open)
            .map(taken_over)
            .collect();
        done.lines = lines.len();
        let entered = self.add_strays(&mut lines, &heads, &mut done)?;
        done.lost = self.gone(&entered);
        lines.extend(done.lost.iter().map(|id| new(LineKind::Lost, id, None)));
        let mut writer = Writer::open(folder, FILE)?;
        writer.enter(&NewLine {
            sha256: done.aside.as_ref().map(|_| Sha256::of(&old)),
            ..NewLine::new(LineKind::Open)
        })?;
        lines.into_iter().try_for_each(|line| writer.add(line))?;
        let (head, mark) = writer.finish()?;
        durable.set_head(&self.runs_dir, &head, &mark, true)?;
        Ok(done)
    }

    /// Enters every record that is not in the ledger: with its line from a ledger that was set
    /// aside, or as `found`.
    ///
    /// # Errors
    /// `LEDGER_BROKEN`: renew it first. Those of the disk and of `durable.sqlite`.
    pub fn adopt(&self) -> Result<Renewed> {
        let folder = private::make_folder(&self.runs_dir)?;
        let _lock = self.lock(&folder)?;
        let mut durable = Durable::open_write(&self.durable)?;
        let heads: Vec<Head> = durable.heads()?.into_iter().map(|(_, head)| head).collect();
        let mut writer = Writer::open(folder, FILE)?;
        let anchor = self.resume(&mut writer, Some(&durable))?;
        Self::open_with(&mut writer, &anchor, true)?;
        let mut done = Renewed::default();
        let mut lines: Vec<Line> = self
            .read()?
            .unwrap_or_default()
            .lines
            .into_iter()
            .map(|(line, _)| line)
            .collect();
        let known = lines.len();
        self.add_strays(&mut lines, &heads, &mut done)?;
        if lines.len() > known || anchor != Anchor::Kept {
            lines.drain(..known);
            lines.into_iter().try_for_each(|line| writer.add(line))?;
            let (head, mark) = writer.finish()?;
            durable.set_head(&self.runs_dir, &head, &mark, false)?;
        }
        Ok(done)
    }

    fn archive(&self) -> Archive {
        Archive {
            runs_dir: self.runs_dir.clone(),
            only: None,
            ledger: self.clone(),
        }
    }

    /// Adds a line for each record that is not in `lines`. Returns all entries.
    fn add_strays(
        &self,
        lines: &mut Vec<Line>,
        heads: &[Head],
        done: &mut Renewed,
    ) -> Result<HashMap<RunId, Entered>> {
        let archive = self.archive();
        let mut entered = Archive::entered_in(lines.iter());
        let strays = Self::strays(&archive, &entered)?;
        let aside = if strays.is_empty() {
            Vec::new()
        } else {
            self.kept_aside()?
        };
        for line in aside.iter().flat_map(|bytes| Chain::vouched(bytes, heads)) {
            let ends = matches!(line.kind, LineKind::End | LineKind::Found | LineKind::Prune);
            let Some(id) = line
                .run
                .as_ref()
                .filter(|id| ends && strays.binary_search(id).is_ok())
            else {
                continue;
            };
            if !entered.get(id).is_some_and(Entered::is_over) {
                let line = taken_over(line);
                Archive::note(&mut entered, &line);
                lines.push(line);
                done.lines += 1;
            }
        }
        for id in strays {
            if entered.get(&id).is_some_and(Entered::is_over) {
                continue;
            }
            if let Ok(bytes) = archive.bytes(&id) {
                let line = new(LineKind::Found, &id, Some(Sha256::of(&bytes)));
                Archive::note(&mut entered, &line);
                lines.push(line);
                done.found.push(id);
            }
        }
        Ok(entered)
    }

    /// Runs that are in the lines, were not pruned, and whose folder is gone.
    fn gone(&self, entered: &HashMap<RunId, Entered>) -> Vec<RunId> {
        let archive = self.archive();
        let mut gone: Vec<RunId> = entered
            .iter()
            .filter(|(id, run)| !run.pruned && !run.lost && !archive.has_folder(id))
            .map(|(id, _)| id.clone())
            .collect();
        gone.sort_unstable();
        gone
    }

    /// The runs with a complete record and no end in any line, and without a working process.
    fn strays(archive: &Archive, entered: &HashMap<RunId, Entered>) -> Result<Vec<RunId>> {
        let mut out = archive.ids()?;
        out.retain(|id| {
            let run = entered.get(id);
            !run.is_some_and(Entered::is_over)
                && archive.state_of(id, run) != RunState::Running
                && match archive.load(id) {
                    Ok((record, _)) => record.status != RunStatus::Running,
                    Err(failure) => failure.code != ErrorCode::RunNotFound,
                }
        });
        Ok(out)
    }

    /// The ledgers that were set aside, newest first.
    fn kept_aside(&self) -> Result<Vec<Vec<u8>>> {
        let Some(folder) = StateDirectory::open(&self.runs_dir)
            .map_err(|e| unreadable_folder(&self.runs_dir, e))?
        else {
            return Ok(Vec::new());
        };
        let files = folder
            .entries()
            .map_err(|e| unreadable_folder(&self.runs_dir, e))?
            .into_iter()
            .filter(|entry| entry.kind == EntryKind::File);
        let mut names: Vec<String> = files
            .map(|entry| entry.name)
            .filter(|name| is_kept_aside(name))
            .collect();
        names.sort_unstable();
        let mut out = Vec::new();
        for name in names.iter().rev() {
            out.extend(
                folder
                    .read_bytes(name, u64::MAX)
                    .map_err(|e| unreadable_folder(&self.runs_dir, e))?,
            );
        }
        Ok(out)
    }
}

/// Whether a file is a ledger that was kept aside.
fn is_kept_aside(name: &str) -> bool {
    name.starts_with("ledger.broken-") && name.ends_with(".jsonl")
}

/// The failure for a folder of runs that cannot be read.
fn unreadable_folder(runs_dir: &Path, e: std::io::Error) -> Failure {
    state::refusal(&e).unwrap_or_else(|| {
        Failure::new(
            ErrorCode::FileReadError,
            format!("{} cannot be read: {e}", runs_dir.display()),
        )
        .with_command("local-agent doctor")
    })
}

fn taken_over(line: Line) -> Line {
    Line {
        earlier: true,
        ..line
    }
}

fn new(kind: LineKind, id: &RunId, record_sha256: Option<Sha256>) -> Line {
    Line {
        n: 0,
        at: now(),
        kind,
        run: Some(id.clone()),
        tool: None,
        record_sha256,
        earlier: false,
        prev: None,
    }
}

fn aside_name(stamp: &str, n: u32) -> String {
    if n == 0 {
        format!("ledger.broken-{stamp}.jsonl")
    } else {
        format!("ledger.broken-{stamp}-{n}.jsonl")
    }
}
