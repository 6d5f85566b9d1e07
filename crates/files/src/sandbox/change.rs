//! Changes one file below a root after a person has agreed: replaces it completely by one rename,
//! or moves it to the trash of its root. Like reading, everything goes through handles. Nothing is
//! ever written through a link, and only the content that the person was shown is overwritten.
//!
//! Between the last check and the rename, another program can still change the file: no system
//! offers a rename that compares the content first. That moment is a few system calls long, and in
//! that case the other program's change is lost.

use std::io::Write as _;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, OpenOptions};

use super::place::{open_file, read_to_cap};
use super::policy::{Denied, MAX_NAME_BYTES};
use super::refusal::{Refusal, denied};
use super::request;
use super::{Address, FileBytes, Sandbox};
use local_agent_text::documents::{extracted, is_org};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::language::scan;
use local_agent_text::types::{Sha256, to_hex};

/// The folder for deleted files, at the top of their root.
pub(super) const TRASH: &str = ".trash-local-agent";

/// Extensions of files that the system executes when they are opened. Such files are never written,
/// whatever `security.allowed_exts` says.
const EXECUTABLE: [&str; 27] = [
    ".exe", ".sh", ".bat", ".cmd", ".ps1", ".dll", ".so", ".com", ".scr", ".msi", ".vbs", ".vbe",
    ".jse", ".wsf", ".jar", ".app", ".dylib", ".bash", ".zsh", ".fish", ".command", ".desktop",
    ".lnk", ".hta", ".pif", ".reg", ".wsh",
];

impl Sandbox {
    /// The place to change, and its current file; `None` if no file exists there and one may be
    /// created.
    ///
    /// `INVALID_ARGS`, `PATH_DENIED`, `AMBIGUOUS_PATH`, `PATH_IS_DIRECTORY`, `FILE_TOO_LARGE`;
    /// `WRITE_DENIED` for a file that the system would execute; `FILE_NOT_FOUND` for a place where
    /// no file can be created (for example because a link is there).
    pub fn subject(&self, request: &str) -> Result<(Address, Option<FileBytes>)> {
        let at = match self.resolve(request) {
            Ok(at) => at,
            Err(failure) if failure.code == ErrorCode::FileNotFound => {
                self.new_place(request, failure)?
            }
            Err(failure) => return Err(failure),
        };
        let name = at.path.file_name().to_lowercase();
        if EXECUTABLE.iter().any(|ext| name.ends_with(ext)) {
            let message =
                format!("`{at}` is a file that a system may run; such files are never written.");
            return Err(
                Failure::new(ErrorCode::WriteDenied, message).with_hint("choose another file")
            );
        }
        if extracted(&name).is_some() || is_org(&name) {
            let message = format!(
                "`{at}` is read as the text that was taken out of it; such files are never written."
            );
            return Err(
                Failure::new(ErrorCode::WriteDenied, message).with_hint("choose another file")
            );
        }
        match self.read(&at) {
            Ok(file) => Ok((at, Some(file))),
            Err(failure) if failure.code == ErrorCode::FileNotFound => Ok((at, None)),
            Err(failure) => Err(failure),
        }
    }

    /// The only place that a request for a new file can mean.
    fn new_place(&self, request: &str, missing: Failure) -> Result<Address> {
        let plan = request::plan(request, &self.inner.texts, None, &self.inner.policy)
            .map_err(|d| denied(request, d))?;
        let [one] = plan.candidates.as_slice() else {
            let names: Vec<String> = self
                .inner
                .roots
                .iter()
                .map(|r| format!("{}:{request}", r.name))
                .collect();
            return Err(super::ambiguous_words(request, "place", &names));
        };
        // If something is there that cannot be read (a link, a FIFO, a hard link to another file),
        // it is not overwritten.
        match self.find(one) {
            Err(Refusal::Unseen(super::RefusalReason::Missing)) => Ok(Address {
                source: self.inner.roots[one.root].name.clone(),
                path: one.path.clone(),
            }),
            _ => Err(missing),
        }
    }

    /// Writes `bytes` to `at` by one rename, if the file there still has the hash `expected`
    /// (`None`: no file is there). Missing folders above it are created. A replaced file keeps its
    /// permissions.
    ///
    /// `WRITE_CONFLICT`; `PATH_DENIED`; `WRITE_ERROR`; no half-written file remains.
    pub fn replace(&self, at: &Address, expected: Option<Sha256>, bytes: &[u8]) -> Result<()> {
        let (parent, name) = self.parent_for_change(at, expected.is_none())?;
        let fail = |e: std::io::Error| unwritable(at, &e);
        let before = self.check_unchanged(at, &parent, &name, expected)?;
        let (temporary, mut file) = new_file(&parent, before.is_some()).map_err(fail)?;
        // The permissions are set before there is any content to read.
        let written = before
            .map_or(Ok(()), |permissions| file.set_permissions(permissions))
            .and_then(|()| file.write_all(bytes))
            .and_then(|()| file.sync_all());
        let put = written.map_err(fail).and_then(|()| {
            self.check_unchanged(at, &parent, &name, expected)?;
            if expected.is_some() {
                parent.rename(&temporary, &parent, &name).map_err(fail)
            } else {
                // Creating a hard link to the new file fails if something has appeared at that name
                // meanwhile; a rename would not fail.
                let linked =
                    parent
                        .hard_link(&temporary, &parent, &name)
                        .map_err(|e| match e.kind() {
                            std::io::ErrorKind::AlreadyExists => conflict(at),
                            _ => unwritable(at, &e),
                        });
                linked.and_then(|()| parent.remove_file(&temporary).map_err(fail))
            }
        });
        if put.is_err() {
            let _ = parent.remove_file(&temporary);
        }
        put.and_then(|()| sync(&parent).map_err(fail))
    }

    /// Moves `at` into the trash of its root, if it still has the hash `expected`. Returns its name
    /// in the trash.
    ///
    /// `WRITE_CONFLICT`; `PATH_DENIED`; `WRITE_ERROR`; then nothing was moved.
    pub fn move_to_trash(&self, at: &Address, expected: Sha256) -> Result<String> {
        let (parent, name) = self.parent_for_change(at, false)?;
        let fail = |e: std::io::Error| unwritable(at, &e);
        let root = self.admitted(at)?.root;
        let root = self
            .open_root(root)
            .map_err(|r| r.into_failure(&at.to_string()))?;
        let trash = make_folder(root.dir, TRASH).map_err(fail)?;
        let kept = name_in_trash(&random().map_err(fail)?, &name);
        self.check_unchanged(at, &parent, &name, Some(expected))?;
        parent.rename(&name, &trash, &kept).map_err(fail)?;
        sync(&parent).and_then(|()| sync(&trash)).map_err(fail)?;
        Ok(format!("{TRASH}/{kept}"))
    }

    /// The open folder above `at`, opened one name at a time and never through a link, and the name
    /// of the file.
    fn parent_for_change(&self, at: &Address, make: bool) -> Result<(Dir, String)> {
        let candidate = self.admitted(at)?;
        let root = self
            .open_root(candidate.root)
            .map_err(|r| r.into_failure(&at.to_string()))?;
        let mut here = root.dir.try_clone().map_err(|e| unwritable(at, &e))?;
        let mut names: Vec<&str> = at.path.segments().collect();
        let Some(name) = names.pop() else {
            return Err(denied(&at.to_string(), Denied::Extension));
        };
        for folder in names {
            let next = if make {
                make_folder(&here, folder)
            } else {
                here.open_dir_nofollow(folder)
            };
            here = next.map_err(|e| unwritable(at, &e))?;
        }
        Ok((here, name.to_owned()))
    }

    /// `WRITE_CONFLICT` unless the file `name` has the hash; returns its permissions.
    fn check_unchanged(
        &self,
        at: &Address,
        parent: &Dir,
        name: &str,
        expected: Option<Sha256>,
    ) -> Result<Option<cap_std::fs::Permissions>> {
        let policy = &self.inner.policy;
        let Some(expected) = expected else {
            return match parent.symlink_metadata(name) {
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
                _ => Err(conflict(at)),
            };
        };
        let (file, stamp) = open_file(parent, name, policy).map_err(|_| conflict(at))?;
        let permissions = file
            .metadata()
            .map_err(|e| unwritable(at, &e))?
            .permissions();
        let bytes = read_to_cap(file, stamp, policy).map_err(|_| conflict(at))?;
        if Sha256::of(&bytes) == expected {
            Ok(Some(permissions))
        } else {
            Err(conflict(at))
        }
    }
}

/// The name in the trash: `mark`, then the name, whose stem is shortened if the result would be
/// longer than a name can be.
fn name_in_trash(mark: &str, name: &str) -> String {
    let whole = format!("{mark}_{name}");
    if whole.len() <= MAX_NAME_BYTES {
        return whole;
    }
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let rest = mark.len() + extension.len() + 2;
    let stem = scan::prefix(stem, MAX_NAME_BYTES.saturating_sub(rest));
    format!("{mark}_{stem}.{extension}")
}

fn conflict(at: &Address) -> Failure {
    let message = format!("`{at}` changed after the proposal was made; nothing was written.");
    Failure::new(ErrorCode::WriteConflict, message)
        .with_hint("look at the file again, then propose again")
}

fn unwritable(at: &Address, error: &std::io::Error) -> Failure {
    Failure::new(
        ErrorCode::WriteError,
        format!("`{at}` could not be written: {error}."),
    )
    .with_hint("check the permissions of its folder and the space left")
}

fn random() -> std::io::Result<String> {
    let mut bytes = [0u8; 6];
    getrandom::fill(&mut bytes).map_err(|e| std::io::Error::other(e.to_string()))?;
    Ok(to_hex(&bytes))
}

/// A new file next to the file to be replaced. Its name begins with a dot, so no walk takes it for
/// a note. `private`: accessible only to the owner.
fn new_file(parent: &Dir, private: bool) -> std::io::Result<(String, cap_std::fs::File)> {
    let name = format!(".local-agent-{}.new", random()?);
    let mut how = OpenOptions::new();
    how.write(true).create_new(true).follow(FollowSymlinks::No);
    #[cfg(unix)]
    if private {
        cap_std::fs::OpenOptionsExt::mode(&mut how, 0o600);
    }
    #[cfg(not(unix))]
    let _ = private;
    let file = parent.open_with(&name, &how)?;
    Ok((name, file))
}

/// Opens a folder; creates it when nothing has its name.
fn make_folder(parent: &Dir, name: &str) -> std::io::Result<Dir> {
    match parent.create_dir(name) {
        Ok(()) => {}
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(e) => return Err(e),
    }
    parent.open_dir_nofollow(name)
}

/// Makes new names durable across a power failure, if the system supports it.
fn sync(dir: &Dir) -> std::io::Result<()> {
    #[cfg(unix)]
    // The handle itself can only be used to look up names; a file opened from it can be synced.
    dir.open(".")?.sync_all()?;
    #[cfg(not(unix))]
    let _ = dir;
    Ok(())
}
