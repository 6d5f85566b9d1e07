//! Private notes: notes that are marked as visible only to their owner.
//!
//! A sandbox [without them](Sandbox::without_private) does not read, find or list any private note.
//! Only this module decides which notes are private. Code that gives text to others uses such a
//! sandbox.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use super::named::read_any;
use super::refusal::{Refusal, RefusalReason};
use super::request::Candidate;
use super::walk::{Entry, WalkOutcome};
use super::{Address, FileBytes, Sandbox, Security};
use local_agent_text::documents;
use local_agent_text::error::{ErrorCode, Result};
use local_agent_text::types::{FileStamp, RelPath, SourceName};

/// The rules for recognising private notes, and a cache of the result for each file while its stamp
/// does not change. Code that opens many sandboxes keeps it, so that each file is read only once.
#[derive(Debug)]
pub struct PrivateNotes {
    /// A note that has one of these tags, or one below it, is private.
    tags: Vec<String>,
    seen: Mutex<HashMap<Address, (FileStamp, bool)>>,
}

impl PrivateNotes {
    /// Notes are recognised by `security.private_tags` in addition to their frontmatter.
    pub fn new(security: &Security) -> Self {
        Self {
            tags: security
                .private_tags
                .iter()
                .map(|tag| tag.to_lowercase())
                .collect(),
            seen: Mutex::default(),
        }
    }

    /// Whether any private note was found since this was created.
    pub fn kept_any(&self) -> bool {
        self.lock().values().any(|(_, is_private)| *is_private)
    }

    fn is_private(&self, at: &Address, file: &FileBytes) -> bool {
        let text = String::from_utf8_lossy(&file.bytes);
        let is_private = documents::is_private(&at.path, &text, &self.tags);
        self.lock().insert(at.clone(), (file.stamp, is_private));
        is_private
    }

    fn known(&self, at: &Address, stamp: FileStamp) -> Option<bool> {
        let seen = self.lock();
        let (then, is_private) = seen.get(at)?;
        (*then == stamp).then_some(*is_private)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Address, (FileStamp, bool)>> {
        // An entry for a file is written in one step.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sandbox {
    /// The same roots without private notes: those with `private: true` in their frontmatter, and
    /// those with one of `security.private_tags`, or a tag below it. They cannot be read, found or
    /// listed; a request for one fails as if it did not exist.
    #[must_use]
    pub fn without_private(self, notes: Arc<PrivateNotes>) -> Self {
        Self {
            private: Some(notes),
            ..self
        }
    }

    /// Whether private notes are withheld.
    pub fn keeps_private(&self) -> bool {
        self.private.is_some()
    }

    /// Whether text of this file may be given to others, even if it comes from the index. Always
    /// true for a sandbox that withholds nothing; otherwise false for a private note, and for a
    /// file that cannot be read now.
    pub fn shows(&self, at: &Address) -> bool {
        let Some(notes) = &self.private else {
            return true;
        };
        let stamp = self.stamp(at).ok();
        match stamp.and_then(|stamp| notes.known(at, stamp)) {
            Some(is_private) => !is_private,
            None => self.read(at).is_ok(),
        }
    }

    /// Reads a file that a person named with its absolute path, in any folder. Only with
    /// `security.allow_any_path`; every other rule holds as for files in the roots.
    ///
    /// # Errors
    /// `PATH_DENIED` (also when `allow_any_path` is off), `FILE_NOT_FOUND` (also for a private note,
    /// if these are withheld), `PATH_IS_DIRECTORY`, `FILE_TOO_LARGE`, `FILE_READ_ERROR`.
    pub fn read_any(&self, path: &Path) -> Result<FileBytes> {
        let file = read_any(path, self.policy())?;
        let Some(notes) = &self.private else {
            return Ok(file);
        };
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        // Without a name, nobody can say which kind of document it is.
        let is_private = [path, &real]
            .iter()
            .any(|name| address_of(name).is_none_or(|at| notes.is_private(&at, &file)));
        if is_private {
            let refusal = Refusal::Unseen(RefusalReason::Private);
            return Err(refusal.into_failure(&path.to_string_lossy()));
        }
        Ok(file)
    }

    /// Rejects a private note that was just read.
    pub(super) fn keep_private(
        &self,
        at: &Address,
        file: FileBytes,
    ) -> std::result::Result<FileBytes, Refusal> {
        match &self.private {
            Some(notes) if notes.is_private(at, &file) => {
                Err(Refusal::Unseen(RefusalReason::Private))
            }
            _ => Ok(file),
        }
    }

    /// Whether a file that was found may be named.
    pub(super) fn may_name(&self, candidate: &Candidate) -> bool {
        let name = &self.roots()[candidate.root].name;
        self.private.is_none() || self.is_open(name, &candidate.path, None)
    }

    /// Removes private notes from a list.
    pub(super) fn drop_private(&self, source: &SourceName, entries: Vec<Entry>) -> Vec<Entry> {
        if self.private.is_none() {
            return entries;
        }
        let is_open = |entry: &&Entry| match entry.what {
            WalkOutcome::Found(stamp) => self.is_open(source, &entry.path, Some(stamp)),
            WalkOutcome::Skipped(_) => true,
        };
        entries.par_iter().filter(is_open).cloned().collect()
    }

    /// Whether a file is not a private note. A file too large to be read shows only its name, so it
    /// is not private.
    fn is_open(&self, source: &SourceName, path: &RelPath, stamp: Option<FileStamp>) -> bool {
        let at = Address {
            source: source.clone(),
            path: path.clone(),
        };
        let known = self.private.as_ref().zip(stamp);
        if let Some(is_private) = known.and_then(|(notes, stamp)| notes.known(&at, stamp)) {
            return !is_private;
        }
        match self.read(&at) {
            Ok(_) => true,
            Err(failure) => failure.code == ErrorCode::FileTooLarge,
        }
    }
}

/// The address of a file outside all roots.
fn address_of(path: &Path) -> Option<Address> {
    let text = path.to_str()?.replace('\\', "/");
    Some(Address {
        source: SourceName::new("file").ok()?,
        path: RelPath::new(text.trim_start_matches('/')).ok()?,
    })
}
