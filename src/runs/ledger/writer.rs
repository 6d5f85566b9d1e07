//! Writes lines behind the last one, and cuts off what a crash left half-written.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use super::chain::{Kind, Line, ToolLine};
use super::now;
use crate::error::{Failure, Result};
use crate::runs::{RunId, private};
use crate::state::StateDirectory;
use crate::store::Head;
use crate::types::Sha256;

/// The open file, under the lock.
pub(super) struct Writer {
    path: PathBuf,
    file: File,
    pub(super) head: Option<Head>,
    pending: Vec<u8>,
    /// Whether the file was made just now, or holds nothing yet.
    is_new: bool,
    folder: StateDirectory,
}

impl Writer {
    /// Opens the ledger `name` in `folder`, or makes it for its owner alone.
    pub(super) fn open(folder: StateDirectory, name: &str) -> Result<Self> {
        let path = &folder.path().join(name);
        let file = folder.update(name).map_err(|e| private::unwritable(path, &e))?;
        let is_new = file.metadata().map_err(|e| private::unwritable(path, &e))?.len() == 0;
        Ok(Self { path: path.to_owned(), file, head: None, pending: Vec::new(), is_new, folder })
    }

    fn fail(&self, error: &std::io::Error) -> Failure {
        private::unwritable(&self.path, error)
    }

    /// The hash of the first line; lines are far shorter than what is read.
    pub(super) fn first_line(&mut self) -> Result<Option<Sha256>> {
        let mut start = vec![0; 4096];
        self.file.seek(SeekFrom::Start(0)).map_err(|e| self.fail(&e))?;
        let read = self.file.read(&mut start).map_err(|e| self.fail(&e))?;
        let line = start.get(..read).and_then(|bytes| bytes.split(|b| *b == b'\n').next().filter(|l| l.len() < read));
        Ok(line.map(Sha256::of))
    }

    /// Whether the file is as long as `head` says and ends in the line it names.
    pub(super) fn ends_at(&mut self, head: &Head) -> Result<bool> {
        let length = self.file.metadata().map_err(|e| self.fail(&e))?.len();
        if length != head.bytes {
            return Ok(false);
        }
        let from = length.saturating_sub(4096);
        let mut end = Vec::new();
        self.file.seek(SeekFrom::Start(from)).map_err(|e| self.fail(&e))?;
        (&self.file).take(4096).read_to_end(&mut end).map_err(|e| self.fail(&e))?;
        let Some(text) = end.strip_suffix(b"\n") else { return Ok(false) };
        let last = text.rsplit(|b| *b == b'\n').next().unwrap_or(text);
        Ok(Sha256::of(last) == head.sha256)
    }

    /// Removes half a line that nobody was told of.
    pub(super) fn cut_torn(&mut self, whole: u64) -> Result<()> {
        self.file.set_len(whole).map_err(|e| self.fail(&e))
    }

    pub(super) fn add(
        &mut self,
        kind: Kind,
        run: Option<RunId>,
        record_sha256: Option<Sha256>,
        tool: Option<ToolLine>,
    ) -> Result<()> {
        let before = self.head.clone();
        let n = before.as_ref().map_or(0, |head| head.lines);
        let line = Line { n, at: now(), kind, run, tool, record_sha256, prev: before.as_ref().map(|head| head.sha256) };
        let text = serde_json::to_string(&line)
            .map_err(|e| Failure::internal(format!("a line of the ledger cannot be written: {e}")))?;
        let sha256 = Sha256::of(text.as_bytes());
        let bytes = before.as_ref().map_or(0, |head| head.bytes) + text.len() as u64 + 1;
        let ledger = before.map_or(sha256, |head| head.ledger);
        self.head = Some(Head { ledger, lines: n + 1, bytes, sha256 });
        self.pending.extend_from_slice(text.as_bytes());
        self.pending.push(b'\n');
        Ok(())
    }

    /// Writes what was added, at once, and waits for the disk.
    pub(super) fn finish(mut self) -> Result<Head> {
        self.file.seek(SeekFrom::End(0)).map_err(|e| self.fail(&e))?;
        self.file.write_all(&self.pending).map_err(|e| self.fail(&e))?;
        self.file.sync_all().map_err(|e| self.fail(&e))?;
        if self.is_new {
            self.folder.sync().map_err(|e| self.fail(&e))?;
        }
        self.head.ok_or_else(|| Failure::internal("a ledger was written without a line"))
    }
}
