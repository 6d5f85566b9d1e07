//! Appends lines, and cuts off half a line that a crash left.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use super::chain::Line;
use super::{NewLine, now};
use crate::runs::private;
use local_agent_files::state::StateDirectory;
use local_agent_index::store::Head;
use local_agent_text::error::{Failure, Result};
use local_agent_text::types::Sha256;

/// The open file, with the lock held.
pub(super) struct Writer {
    path: PathBuf,
    file: File,
    pub(super) head: Option<Head>,
    pending: Vec<u8>,
    /// Whether the file was just created, or is empty.
    is_new: bool,
    folder: StateDirectory,
}

impl Writer {
    /// Opens the ledger `name` in `folder`, or creates it with owner-only permissions.
    pub(super) fn open(folder: StateDirectory, name: &str) -> Result<Self> {
        let path = &folder.path().join(name);
        let file = folder
            .update(name)
            .map_err(|e| private::unwritable(path, &e))?;
        let is_new = file
            .metadata()
            .map_err(|e| private::unwritable(path, &e))?
            .len()
            == 0;
        Ok(Self {
            path: path.to_owned(),
            file,
            head: None,
            pending: Vec::new(),
            is_new,
            folder,
        })
    }

    fn fail(&self, error: &std::io::Error) -> Failure {
        private::unwritable(&self.path, error)
    }

    /// The hash of the first line; lines are far shorter than the bytes read.
    pub(super) fn first_line(&mut self) -> Result<Option<Sha256>> {
        let mut start = vec![0; 4096];
        self.file
            .seek(SeekFrom::Start(0))
            .map_err(|e| self.fail(&e))?;
        let read = self.file.read(&mut start).map_err(|e| self.fail(&e))?;
        let line = start.get(..read).and_then(|bytes| {
            bytes
                .split(|b| *b == b'\n')
                .next()
                .filter(|l| l.len() < read)
        });
        Ok(line.map(Sha256::of))
    }

    /// Whether the file has the length in `head` and ends with the line it names.
    pub(super) fn ends_at(&mut self, head: &Head) -> Result<bool> {
        let length = self.file.metadata().map_err(|e| self.fail(&e))?.len();
        if length != head.bytes {
            return Ok(false);
        }
        let from = length.saturating_sub(4096);
        let mut end = Vec::new();
        self.file
            .seek(SeekFrom::Start(from))
            .map_err(|e| self.fail(&e))?;
        (&self.file)
            .take(4096)
            .read_to_end(&mut end)
            .map_err(|e| self.fail(&e))?;
        let Some(text) = end.strip_suffix(b"\n") else {
            return Ok(false);
        };
        let last = text.rsplit(|b| *b == b'\n').next().unwrap_or(text);
        Ok(Sha256::of(last) == head.sha256)
    }

    /// Removes half a line that was never confirmed to a caller.
    pub(super) fn cut_torn(&mut self, whole: u64) -> Result<()> {
        self.file.set_len(whole).map_err(|e| self.fail(&e))
    }

    /// The file's metadata. If it differs, somebody has written to the file or replaced it.
    pub(super) fn mark(&self) -> Result<String> {
        let meta = self.file.metadata().map_err(|e| self.fail(&e))?;
        Ok(mark_of(&meta))
    }

    /// Adds a line with the current time.
    pub(super) fn enter(&mut self, entry: &NewLine) -> Result<()> {
        let (run, tool) = (entry.run.clone(), entry.tool.clone());
        let line = Line {
            n: 0,
            at: now(),
            kind: entry.kind,
            run,
            tool,
            record_sha256: entry.sha256,
            earlier: false,
            prev: None,
        };
        self.add(line)
    }

    /// Adds a line at its position in this chain.
    pub(super) fn add(&mut self, line: Line) -> Result<()> {
        let before = self.head.clone();
        let n = before.as_ref().map_or(0, |head| head.lines);
        let line = Line {
            n,
            prev: before.as_ref().map(|head| head.sha256),
            ..line
        };
        let text = serde_json::to_string(&line).map_err(|e| {
            Failure::internal(format!("a line of the ledger cannot be written: {e}"))
        })?;
        let sha256 = Sha256::of(text.as_bytes());
        let bytes = before.as_ref().map_or(0, |head| head.bytes) + text.len() as u64 + 1;
        let ledger = before.map_or(sha256, |head| head.ledger);
        self.head = Some(Head {
            ledger,
            lines: n + 1,
            bytes,
            sha256,
        });
        self.pending.extend_from_slice(text.as_bytes());
        self.pending.push(b'\n');
        Ok(())
    }

    /// Writes all added lines in one write and waits for the disk. Returns the new head and the
    /// file's mark.
    pub(super) fn finish(mut self) -> Result<(Head, String)> {
        self.file
            .seek(SeekFrom::End(0))
            .map_err(|e| self.fail(&e))?;
        self.file
            .write_all(&self.pending)
            .map_err(|e| self.fail(&e))?;
        self.file.sync_data().map_err(|e| self.fail(&e))?;
        if self.is_new {
            self.folder.sync().map_err(|e| self.fail(&e))?;
        }
        let mark = self.mark()?;
        let head = self
            .head
            .ok_or_else(|| Failure::internal("a ledger was written without a line"))?;
        Ok((head, mark))
    }
}

#[cfg(unix)]
fn mark_of(meta: &std::fs::Metadata) -> String {
    use std::os::unix::fs::MetadataExt as _;
    // The change time cannot be set back by the calls that set the modification time.
    let (modified, changed) = (
        (meta.mtime(), meta.mtime_nsec()),
        (meta.ctime(), meta.ctime_nsec()),
    );
    format!(
        "{} {} {}.{:09} {}.{:09}",
        meta.len(),
        meta.ino(),
        modified.0,
        modified.1,
        changed.0,
        changed.1
    )
}

#[cfg(not(unix))]
fn mark_of(meta: &std::fs::Metadata) -> String {
    format!("{} {:?}", meta.len(), meta.modified().ok())
}
