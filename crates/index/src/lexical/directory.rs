//! The folder of the projection as tantivy sees it: accepts only names that tantivy gives to its
//! files, and never follows a link.
//!
//! tantivy keeps a list of its own files and deletes the listed files that no segment uses. The
//! list is in the folder, so a foreign folder comes with a foreign list. Here a file whose name is
//! not one of tantivy's is never read, written or deleted.
//!
//! Readers create no file, not even a lock, and work in read-only folders. tantivy's own reader
//! takes a lock so that the writer deletes nothing while segments are being opened. Here a segment
//! may vanish between reading `meta.json` and opening its files, and [`super::Reader::open`] then
//! simply tries again.

use std::fs::{self, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::Directory;
use tantivy::directory::error::{
    DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, INDEX_WRITER_LOCK, Lock, MmapDirectory,
    TerminatingWrite, WatchCallback, WatchHandle, WritePtr,
};

use local_agent_files::state::StateDirectory;

/// The file that tantivy replaces with every commit.
pub const COMMIT_FILE: &str = "meta.json";

/// The list that tantivy keeps of its own files.
const MANAGED_FILE: &str = ".managed.json";

/// Maximum size in bytes of a `meta.json` or list that is read.
const MAX_SMALL_FILE: u64 = 64 << 20;

/// Whether a handle may change the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// One folder of the projection.
#[derive(Debug, Clone)]
pub(super) struct ProjectionDirectory {
    folder: Arc<StateDirectory>,
    /// Maps files for reading; used only for names that were already checked by handle.
    maps: MmapDirectory,
    access: Access,
    refused: Refused,
}

/// The first write that the system refused, shared by every clone of a folder. tantivy's own error
/// may keep only its text.
#[derive(Debug, Clone, Default)]
struct Refused(Arc<Mutex<Option<io::Error>>>);

impl Refused {
    /// Records a failure and passes the result on.
    fn note<T>(&self, done: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &done {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.get_or_insert_with(|| match error.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(error.kind(), error.to_string()),
            });
        }
        done
    }
}

impl ProjectionDirectory {
    /// The folder at `dir` for reading; `None` if it does not exist.
    pub(super) fn open_read(dir: &Path) -> io::Result<Option<Self>> {
        StateDirectory::open(dir)?
            .map(|folder| Self::new(folder, Access::Read))
            .transpose()
    }

    /// The folder at `dir` for writing; it is created if it does not exist.
    pub(super) fn open_write(dir: &Path) -> io::Result<Self> {
        Self::new(StateDirectory::make(dir)?, Access::Write)
    }

    fn new(folder: StateDirectory, access: Access) -> io::Result<Self> {
        let maps = MmapDirectory::open(folder.path()).map_err(|error| match error {
            OpenDirectoryError::IoError { io_error, .. } => {
                io::Error::new(io_error.kind(), io_error.to_string())
            }
            other => io::Error::other(other.to_string()),
        })?;
        Ok(Self {
            folder: Arc::new(folder),
            maps,
            access,
            refused: Refused::default(),
        })
    }

    /// The first write that the system refused since the last call.
    pub(super) fn take_refused(&self) -> Option<io::Error> {
        let mut kept = self
            .refused
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        kept.take()
    }

    /// The path of the folder.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Removes the files of a tantivy index from the folder, and no others.
    pub(super) fn discard(&self) -> io::Result<()> {
        for entry in self.folder.entries()? {
            if is_ours(&entry.name) {
                self.folder.remove(&entry.name)?;
            }
        }
        Ok(())
    }

    /// Removes the leftovers of a run that was killed while it replaced a small file. A file that
    /// cannot be removed is ignored.
    pub(super) fn remove_unfinished(&self) {
        self.folder.remove_unfinished();
    }

    /// Whether tantivy's list of its own files names a file that cannot be one of them. Such a list
    /// was not written by this program.
    pub(super) fn names_foreign_files(&self) -> io::Result<bool> {
        let Some(bytes) = self.folder.read_bytes(MANAGED_FILE, MAX_SMALL_FILE)? else {
            return Ok(false);
        };
        // A list that cannot be parsed is damage, which tantivy reports.
        let names: Vec<PathBuf> = serde_json::from_slice(&bytes).unwrap_or_default();
        Ok(!names.iter().all(|name| name.to_str().is_some_and(is_ours)))
    }

    /// The name in `path`, if it is one that tantivy uses.
    fn name<'a>(&self, path: &'a Path) -> io::Result<&'a str> {
        path.to_str().filter(|name| is_ours(name)).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("`{}` is no file of a search index", path.display()),
            )
        })
    }

    fn writable<'a>(&self, path: &'a Path) -> io::Result<&'a str> {
        match self.access {
            Access::Write => self.name(path),
            Access::Read => Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "the search index is open for reading only",
            )),
        }
    }
}

/// Whether tantivy uses such a file name: `meta.json`, its list and lock, and `<32 hex
/// digits>.<part>`.
pub(super) fn is_ours(name: &str) -> bool {
    if matches!(
        name,
        COMMIT_FILE | MANAGED_FILE | ".tantivy-writer.lock" | ".tantivy-meta.lock"
    ) {
        return true;
    }
    let (stem, part) = name.split_once('.').unwrap_or((name, ""));
    let is_part = !part.is_empty()
        && part
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'_');
    stem.len() == 32
        && stem.bytes().all(|b| b.is_ascii_hexdigit())
        && is_part
        && !part.contains("..")
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> OpenReadError {
    |error| OpenReadError::wrap_io_error(error, path.to_owned())
}

impl Directory for ProjectionDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let name = self.name(path).map_err(unreadable(path))?;
        self.folder
            .checked_path(name, &[])
            .map_err(unreadable(path))?;
        self.maps.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        let fail = |error| DeleteError::IoError {
            io_error: Arc::new(error),
            filepath: path.to_owned(),
        };
        match self
            .writable(path)
            .and_then(|name| self.folder.remove(name))
        {
            Ok(true) => Ok(()),
            Ok(false) => Err(DeleteError::FileDoesNotExist(path.to_owned())),
            Err(error) => Err(fail(error)),
        }
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        let found = self.name(path).and_then(|name| self.folder.metadata(name));
        found.map(|meta| meta.is_some()).map_err(unreadable(path))
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        match self
            .writable(path)
            .and_then(|name| self.folder.create_new(name))
        {
            Ok(file) => {
                let refused = self.refused.clone();
                Ok(BufWriter::new(Box::new(SyncedFile { file, refused })))
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(OpenWriteError::FileAlreadyExists(path.to_owned()))
            }
            Err(error) => {
                let _ = self
                    .refused
                    .note::<()>(Err(io::Error::new(error.kind(), error.to_string())));
                Err(OpenWriteError::wrap_io_error(error, path.to_owned()))
            }
        }
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let read = self
            .name(path)
            .and_then(|name| self.folder.read_bytes(name, MAX_SMALL_FILE));
        read.map_err(unreadable(path))?
            .ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_owned()))
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        let name = self.writable(path)?;
        self.refused.note(self.folder.replace(name, data))
    }

    fn sync_directory(&self) -> io::Result<()> {
        match self.access {
            Access::Write => self.folder.sync(),
            Access::Read => Ok(()),
        }
    }

    /// Only one writer exists at a time, so no other lock is needed (see the top of this file).
    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        if self.access == Access::Read || lock.filepath != INDEX_WRITER_LOCK.filepath {
            return Ok(DirectoryLock::from(Box::new(())));
        }
        let file = self
            .writable(&lock.filepath)
            .and_then(|name| self.folder.update(name))
            .map_err(LockError::wrap_io_error)?;
        match file.try_lock() {
            Ok(()) => Ok(DirectoryLock::from(Box::new(file))),
            Err(TryLockError::WouldBlock) => Err(LockError::LockBusy),
            Err(TryLockError::Error(error)) => Err(LockError::wrap_io_error(error)),
        }
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// A new file that is synced to disk when it is finished.
struct SyncedFile {
    file: fs::File,
    refused: Refused,
}

impl Write for SyncedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.refused.note(self.file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.refused.note(self.file.flush())
    }
}

impl TerminatingWrite for SyncedFile {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.refused.note(self.file.sync_data())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_a_tantivy_index_are_ever_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let ours = [
            "meta.json",
            ".managed.json",
            ".tantivy-writer.lock",
            "0123456789abcdef0123456789abcdef.fast",
        ];
        let others = [
            "notes.md",
            "index.sqlite",
            "0123456789abcdef.fast",
            "0123456789abcdef0123456789abcdeg.fast",
            ".x",
        ];
        for name in ours.iter().chain(&others) {
            fs::write(dir.path().join(name), "?").unwrap();
        }
        let directory = ProjectionDirectory::open_write(dir.path()).unwrap();
        for name in others {
            assert!(directory.delete(Path::new(name)).is_err(), "{name}");
        }
        directory.discard().unwrap();
        for name in others {
            assert_eq!(fs::read(dir.path().join(name)).unwrap(), b"?", "{name}");
        }
        assert!(ours.iter().all(|name| !dir.path().join(name).exists()));
    }

    #[test]
    fn a_list_that_names_other_files_is_not_ours() {
        let dir = tempfile::tempdir().unwrap();
        let directory = ProjectionDirectory::open_write(dir.path()).unwrap();
        assert!(!directory.names_foreign_files().unwrap());
        let good = "0123456789abcdef0123456789abcdef.123.del";
        for (list, foreign) in [
            (format!("[\"{good}\", \"meta.json\"]"), false),
            (format!("[\"{good}\", \"/home/somebody/thesis.md\"]"), true),
            ("[\"../durable.sqlite\"]".to_owned(), true),
            ("[\"notes.md\"]".to_owned(), true),
            (
                "[\"0123456789abcdef0123456789abcdef./../../x\"]".to_owned(),
                true,
            ),
        ] {
            fs::write(dir.path().join(MANAGED_FILE), &list).unwrap();
            assert_eq!(directory.names_foreign_files().unwrap(), foreign, "{list}");
        }
    }
}
