//! The folders of the program's own files: opened by handle, and never through a link.
//!
//! Everything that the program writes for itself (databases, locks, both projections, records of
//! runs) is in a few folders that may have come with somebody's clone. A link in such a folder
//! could lead to any file of the user. For this reason each file is opened relative to the handle
//! of its folder. A link is refused, and so is a file with more than one hard link if it is to be
//! changed in place. New files and folders are accessible only to their owner.
//!
//! | file | subject |
//! | --- | --- |
//! | `mod` | [`StateDirectory`]: open, read, replace, rename, remove |
//! | `identity` | whether this user created a folder, on this machine |

mod identity;

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, Metadata, OpenOptions};

pub use local_agent_text::shell::{in_quotes, quoted};
use local_agent_text::shell::{moving_aside, replacing_by_copy};

use local_agent_text::error::{ErrorCode, Failure};
use local_agent_text::types::to_hex;

pub use identity::{IDENTITY_FILE, KnownStates, Provenance};

/// Prefix and suffix of the names of unfinished files. The next writer removes those that a crash
/// left.
const UNFINISHED: (&str, &str) = ("tmp-", ".part");

/// One open folder of the program's own files.
#[derive(Debug)]
pub struct StateDirectory {
    dir: Dir,
    path: PathBuf,
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// The name: one segment.
    pub name: String,
    /// The kind, as the folder's listing reports it.
    pub kind: EntryKind,
}

/// The kind of an entry. Links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A FIFO, a socket or a device.
    Other,
}

impl StateDirectory {
    /// Opens the folder at `path`; `None` if it does not exist. Its last name may be a link,
    /// because the person who configured the path decided where the folder is.
    pub fn open_configured(path: &Path) -> io::Result<Option<Self>> {
        found(
            Dir::open_ambient_dir(path, cap_std::ambient_authority())
                .map(|dir| Self::new(dir, path)),
        )
    }

    /// Opens the folder at `path`, whose last name must not be a link; `None` if it does not exist.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        match open_without_link(path) {
            Ok(dir) => Ok(Some(Self::new(dir, path))),
            Err(_) if path.is_symlink() => Err(refused(Refused::Link, path)),
            Err(e) => found(Err(e)),
        }
    }

    /// Opens the folder at `path` like [`StateDirectory::open_configured`], and creates it and
    /// missing folders above it, accessible only to their owner.
    pub fn make_configured(path: &Path) -> io::Result<Self> {
        make_all(path)?;
        Self::open_configured(path)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Opens the folder at `path` like [`StateDirectory::open`], and creates it and missing folders
    /// above it.
    pub fn make(path: &Path) -> io::Result<Self> {
        if !path.is_symlink() {
            make_all(path)?;
        }
        Self::open(path)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn new(dir: Dir, path: &Path) -> Self {
        Self {
            dir,
            path: path.to_owned(),
        }
    }

    /// The path by which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder `name` in this one; `None` if it does not exist.
    pub fn child(&self, name: &str) -> io::Result<Option<Self>> {
        plain(name)?;
        let opened = self
            .dir
            .open_dir_nofollow(name)
            .map(|dir| Self::new(dir, &self.path.join(name)));
        match found(opened) {
            Err(_) if self.is_link(name) => Err(refused(Refused::Link, &self.path.join(name))),
            opened => opened,
        }
    }

    /// The folder `name` in this one. If it does not exist, it is created, accessible only to its
    /// owner.
    pub fn make_child(&self, name: &str) -> io::Result<Self> {
        plain(name)?;
        #[allow(unused_mut)]
        let mut builder = cap_std::fs::DirBuilder::new();
        #[cfg(unix)]
        cap_std::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match self.dir.create_dir_with(name, &builder) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
            _ => {}
        }
        self.child(name)?
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Opens the file `name` for reading; `None` if it does not exist.
    pub fn read(&self, name: &str) -> io::Result<Option<fs::File>> {
        found(self.open_file(name, OpenOptions::new().read(true)))
    }

    /// The bytes of the file `name`; `None` if it does not exist. `InvalidData` if it has more than
    /// `cap` bytes.
    pub fn read_bytes(&self, name: &str, cap: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = self.read(name)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.take(cap.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > cap {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the file is larger than such a file can be",
            ));
        }
        Ok(Some(bytes))
    }

    /// Opens the file `name` for reading and writing in place. If it does not exist, it is created,
    /// accessible only to its owner. A file with more than one hard link is refused, because the
    /// change would be visible under the other name.
    pub fn update(&self, name: &str) -> io::Result<fs::File> {
        let mut how = OpenOptions::new();
        how.read(true).write(true).create(true);
        self.open_alone(name, &mut how)
    }

    /// Opens the file `name` for writing at its end. It is created and refused as by
    /// [`Self::update`].
    pub fn append(&self, name: &str) -> io::Result<fs::File> {
        let mut how = OpenOptions::new();
        how.append(true).create(true);
        self.open_alone(name, &mut how)
    }

    fn open_alone(&self, name: &str, how: &mut OpenOptions) -> io::Result<fs::File> {
        let file = cap_std::fs::File::from_std(self.open_file(name, private(how))?);
        if name_count(&file.metadata()?) > 1 {
            return Err(refused(Refused::SecondName, &self.path.join(name)));
        }
        Ok(file.into_std())
    }

    /// Creates the file `name`, accessible only to its owner. `AlreadyExists` if the name is taken.
    pub fn create_new(&self, name: &str) -> io::Result<fs::File> {
        let mut how = OpenOptions::new();
        how.write(true).create_new(true);
        self.open_file(name, private(&mut how))
    }

    /// Replaces the file `name` completely or not at all: a new file, accessible only to its owner,
    /// is written, synced and renamed, then the folder is synced. A link of that name is replaced,
    /// not followed.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        plain(name)?;
        let (temporary, mut file) = self.create_unfinished()?;
        let done = file
            .write_all(bytes)
            .and_then(|()| file.sync_all())
            .and_then(|()| self.rename(&temporary, name));
        if done.is_err() {
            let _ = self.dir.remove_file(&temporary);
        }
        done.and_then(|()| self.sync())
    }

    /// A new file with a unique name that [`StateDirectory::remove_unfinished`] recognises.
    pub fn create_unfinished(&self) -> io::Result<(String, fs::File)> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let name = format!("{}{}{}", UNFINISHED.0, to_hex(&random), UNFINISHED.1);
        Ok((name.clone(), self.create_new(&name)?))
    }

    /// Removes the unfinished files that a crash left. A file that cannot be removed is ignored.
    pub fn remove_unfinished(&self) {
        for entry in self.entries().unwrap_or_default() {
            if is_unfinished(&entry.name) {
                let _ = self.dir.remove_file(&entry.name);
            }
        }
    }

    /// Renames within the folder; an existing file with the new name is replaced.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.dir.rename(plain(from)?, &self.dir, plain(to)?)
    }

    /// Moves `from` into another folder under the name `to`; an existing file with that name is
    /// replaced.
    pub fn rename_into(&self, from: &str, folder: &Self, to: &str) -> io::Result<()> {
        self.dir.rename(plain(from)?, &folder.dir, plain(to)?)
    }

    /// Removes the folder `name`, which must be empty.
    pub fn remove_empty_folder(&self, name: &str) -> io::Result<()> {
        self.dir.remove_dir(plain(name)?)
    }

    /// Removes the file or link `name`; returns whether it existed. The target of a link is kept.
    pub fn remove(&self, name: &str) -> io::Result<bool> {
        Ok(found(self.dir.remove_file(plain(name)?))?.is_some())
    }

    /// Removes the folder `name` with everything below it; returns whether it existed. Links below
    /// it are removed, never followed.
    pub fn remove_folder(&self, name: &str) -> io::Result<bool> {
        let Some(child) = self.child(name)? else {
            return Ok(false);
        };
        drop(child);
        Ok(found(self.dir.remove_dir_all(name))?.is_some())
    }

    /// Every name in the folder that is valid UTF-8, in any order. The program itself creates no
    /// other names.
    pub fn entries(&self) -> io::Result<Vec<DirectoryEntry>> {
        let mut out = Vec::new();
        for entry in self.dir.entries()? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let kind = match () {
                () if kind.is_symlink() => EntryKind::Link,
                () if kind.is_dir() => EntryKind::Folder,
                () if kind.is_file() => EntryKind::File,
                () => EntryKind::Other,
            };
            if let Ok(name) = entry.file_name().into_string() {
                out.push(DirectoryEntry { name, kind });
            }
        }
        Ok(out)
    }

    /// The metadata of `name`; for a link, those of the link itself. `None` if it does not exist.
    pub fn metadata(&self, name: &str) -> io::Result<Option<Metadata>> {
        found(self.dir.symlink_metadata(plain(name)?))
    }

    /// The path of the file `name` for a library that opens files by path. The path of the folder
    /// contains no link, and neither `name` nor `name` with one of `endings` is a link or a folder.
    pub fn checked_path(&self, name: &str, endings: &[&str]) -> io::Result<PathBuf> {
        for ending in std::iter::once(&"").chain(endings) {
            let name = format!("{name}{ending}");
            match self.metadata(&name)? {
                Some(meta) if meta.is_symlink() => {
                    return Err(refused(Refused::Link, &self.path.join(name)));
                }
                Some(meta) if !meta.is_file() => {
                    return Err(refused(Refused::NotAFile, &self.path.join(name)));
                }
                _ => {}
            }
        }
        Ok(self.path.canonicalize()?.join(name))
    }

    /// Like [`StateDirectory::checked_path`], for a library that changes the file: a missing file
    /// is created, accessible only to its owner, and a file with more than one hard link is
    /// refused. An existing file is not opened, because closing it would release the locks that
    /// this process holds on it elsewhere.
    pub fn writable_path(&self, name: &str, endings: &[&str]) -> io::Result<PathBuf> {
        let path = self.checked_path(name, endings)?;
        match self.metadata(name)? {
            Some(meta) if name_count(&meta) > 1 => {
                Err(refused(Refused::SecondName, &self.path.join(name)))
            }
            Some(_) => Ok(path),
            None => match self.create_new(name) {
                Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
                _ => Ok(path),
            },
        }
    }

    /// Makes renames and new names in the folder durable across a power failure, if the system
    /// supports it.
    pub fn sync(&self) -> io::Result<()> {
        #[cfg(unix)]
        self.dir.open(".")?.sync_all()?;
        Ok(())
    }

    /// Removes all permissions of others on the folder and the files directly in it.
    pub fn make_private(&self) -> io::Result<()> {
        #[cfg(unix)]
        {
            use cap_std::fs::{Permissions, PermissionsExt as _};
            let mode = self.dir.dir_metadata()?.permissions().mode();
            if mode & 0o077 != 0 {
                self.dir
                    .set_permissions(".", Permissions::from_mode(mode & 0o700))?;
            }
            for entry in self
                .entries()?
                .iter()
                .filter(|entry| entry.kind == EntryKind::File)
            {
                let Some(meta) = self.metadata(&entry.name)? else {
                    continue;
                };
                let mode = meta.permissions().mode();
                if mode & 0o077 != 0 {
                    self.dir
                        .set_permissions(&entry.name, Permissions::from_mode(mode & 0o700))?;
                }
            }
        }
        Ok(())
    }

    fn is_link(&self, name: &str) -> bool {
        self.dir
            .symlink_metadata(name)
            .is_ok_and(|meta| meta.is_symlink())
    }

    /// Opens one name without following a link and without waiting for the other end of a FIFO.
    fn open_file(&self, name: &str, how: &mut OpenOptions) -> io::Result<fs::File> {
        plain(name)?;
        how.follow(FollowSymlinks::No);
        #[cfg(unix)]
        cap_fs_ext::OpenOptionsSyncExt::nonblock(how, true);
        let file = match self.dir.open_with(name, how) {
            Ok(file) => file.into_std(),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(e),
            Err(_) if self.is_link(name) => {
                return Err(refused(Refused::Link, &self.path.join(name)));
            }
            Err(e) if e.kind() == io::ErrorKind::IsADirectory => {
                return Err(refused(Refused::NotAFile, &self.path.join(name)));
            }
            Err(e) => return Err(e),
        };
        if !file.metadata()?.is_file() {
            return Err(refused(Refused::NotAFile, &self.path.join(name)));
        }
        Ok(file)
    }
}

/// Whether this is the name of an unfinished file that a crash may have left.
pub fn is_unfinished(name: &str) -> bool {
    let middle = name
        .strip_prefix(UNFINISHED.0)
        .and_then(|name| name.strip_suffix(UNFINISHED.1));
    middle.is_some_and(|hex| hex.len() == 16 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// The failure inside `error` if one of our files was refused; `None` if the system failed.
pub fn refusal(error: &io::Error) -> Option<Failure> {
    error.get_ref()?.downcast_ref::<Failure>().cloned()
}

/// Why one of our files is not opened.
#[derive(Debug, Clone, Copy)]
enum Refused {
    Link,
    SecondName,
    NotAFile,
}

/// The command that moves `path` aside, to a name that nothing has.
pub fn to_move_aside(path: &Path) -> String {
    moving_aside(path, is_free)
}

fn is_free(path: &Path) -> bool {
    path.symlink_metadata().is_err()
}

fn refused(why: Refused, path: &Path) -> io::Error {
    let (what, hint) = match why {
        Refused::Link => (
            "is a link, and nothing below a state folder may be one",
            format!("rm {}", quoted(path)),
        ),
        Refused::SecondName => (
            "has a second name (a hard link), which would change with it",
            replacing_by_copy(path, is_free),
        ),
        Refused::NotAFile => ("is not a regular file", to_move_aside(path)),
    };
    let message = format!("{} {what}; it was not opened", path.display());
    io::Error::other(Failure::new(ErrorCode::ConfigUntrusted, message).with_hint(hint))
}

/// `name`, if it is a single name and not a path.
fn plain(name: &str) -> io::Result<&str> {
    let is_path =
        name.is_empty() || name == "." || name == ".." || name.contains(['/', '\\', '\0']);
    if is_path {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("`{name}` is not a file name"),
        ))
    } else {
        Ok(name)
    }
}

/// Turns "not found" into `None`.
fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Makes new files accessible only to their owner.
fn private(how: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::mode(how, 0o600);
    how
}

fn make_all(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(unix)]
fn open_without_link(path: &Path) -> io::Result<Dir> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::open(path, flags, Mode::empty())?;
    Ok(Dir::from_std_file(handle.into()))
}

/// On Windows, creating links requires a special right; the name is checked before it is opened.
#[cfg(not(unix))]
fn open_without_link(path: &Path) -> io::Result<Dir> {
    if path.is_symlink() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Dir::open_ambient_dir(path, cap_std::ambient_authority())
}

#[cfg(unix)]
fn name_count(meta: &Metadata) -> u64 {
    cap_fs_ext::MetadataExt::nlink(meta)
}

/// The link count cannot be read here without opening the file in another way.
#[cfg(not(unix))]
fn name_count(_: &Metadata) -> u64 {
    1
}

#[cfg(all(test, unix))]
mod tests;
