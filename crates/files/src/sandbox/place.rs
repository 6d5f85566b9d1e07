//! Opens a file on the way down from a root's handle, one name at a time. Every name is opened
//! relative to the handle of the folder above it and never through a link. So the names that were
//! checked are the names that were opened, even if something is renamed or swapped meanwhile; every
//! check of a file is done on its open handle.

use std::io::Read as _;
use std::path::Component;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use super::policy::Policy;
use super::refusal::{Refusal, RefusalReason};
use super::request::RootText;
use crate::sandbox::{FollowLinks, HardLinks};
use local_agent_text::types::{FileStamp, RelPath};

/// Maximum number of links that one request may pass through.
const MAX_LINKS: usize = 8;
/// Maximum memory that is reserved before anything was read; a sparse file can claim any size.
const MAX_RESERVED: u64 = 16 << 20;

/// One root while it is open.
pub(super) struct OpenRoot<'a> {
    pub(super) dir: &'a Dir,
    pub(super) text: &'a RootText,
    pub(super) policy: &'a Policy,
}

/// A file that was found and is allowed, but not opened yet.
#[derive(Debug)]
pub(super) struct Leaf {
    /// The handle of its folder; `None` if that is the root itself.
    parent: Option<Dir>,
    name: String,
    pub(super) stamp: FileStamp,
}

impl OpenRoot<'_> {
    /// Goes down to the last name of `path`, which the policy has allowed, and checks it.
    pub(super) fn find(&self, path: &RelPath) -> Result<Leaf, Refusal> {
        let mut pending: Vec<String> = path.segments().rev().map(str::to_owned).collect();
        let mut passed: Vec<(Dir, String)> = Vec::new();
        let mut links = 0;
        while let Some(name) = pending.pop() {
            if name == ".." {
                // Only the target of a followed link can contain one; those of the request itself
                // were already resolved in its text.
                passed
                    .pop()
                    .ok_or(Refusal::Unseen(RefusalReason::LinkLeaves))?;
                continue;
            }
            let here = passed.last().map_or(self.dir, |(dir, _)| dir);
            if !pending.is_empty()
                && let Ok(dir) = here.open_dir_nofollow(&name)
            {
                passed.push((dir, name));
                continue;
            }
            let meta = here
                .symlink_metadata(&name)
                .map_err(|e| Refusal::of_lookup(&e))?;
            if meta.is_symlink() {
                links += 1;
                self.splice(here, &name, links, &mut pending)?;
            } else if !pending.is_empty() {
                let why = if meta.is_dir() {
                    RefusalReason::NoPermission
                } else {
                    RefusalReason::Missing
                };
                return Err(Refusal::Unseen(why));
            } else {
                if links > 0 {
                    self.recheck(&passed, &name, meta.is_dir())?;
                }
                let stamp = admit(&meta, self.policy)?;
                return Ok(Leaf {
                    parent: passed.pop().map(|(dir, _)| dir),
                    name,
                    stamp,
                });
            }
        }
        Err(Refusal::Directory)
    }

    /// Opens the file that [`OpenRoot::find`] found and checks it again, on the handle.
    pub(super) fn open(&self, leaf: &Leaf) -> Result<(File, FileStamp), Refusal> {
        open_file(
            leaf.parent.as_ref().unwrap_or(self.dir),
            &leaf.name,
            self.policy,
        )
    }

    /// Replaces a link by the names of its target.
    fn splice(
        &self,
        here: &Dir,
        name: &str,
        links: usize,
        pending: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        if self.policy.follow_links == FollowLinks::Never {
            return Err(Refusal::Unseen(RefusalReason::Symlink));
        }
        if links > MAX_LINKS {
            return Err(Refusal::Unseen(RefusalReason::LinkLoop));
        }
        let target = here
            .read_link_contents(name)
            .map_err(|e| Refusal::of_lookup(&e))?;
        if target.has_root() || target.is_absolute() {
            return Err(Refusal::Unseen(RefusalReason::LinkLeaves));
        }
        for part in target.components().rev() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => pending.push("..".to_owned()),
                Component::RootDir | Component::Prefix(_) => {
                    return Err(Refusal::Unseen(RefusalReason::LinkLeaves));
                }
                Component::Normal(part) => {
                    let part = part
                        .to_str()
                        .ok_or(Refusal::Unseen(RefusalReason::Denied))?;
                    self.policy
                        .check_name(part, &self.text.extensions)
                        .map_err(|_| Refusal::Unseen(RefusalReason::Denied))?;
                    pending.push(part.to_owned());
                }
            }
        }
        Ok(())
    }

    /// The path to which links lead must obey the same rules as the requested path.
    fn recheck(&self, passed: &[(Dir, String)], name: &str, is_dir: bool) -> Result<(), Refusal> {
        let names: Vec<&str> = passed
            .iter()
            .map(|(_, n)| n.as_str())
            .chain([name])
            .collect();
        let real =
            RelPath::new(names.join("/")).map_err(|_| Refusal::Unseen(RefusalReason::Denied))?;
        let allowed = if is_dir {
            !self.text.holds_own_state(&real)
        } else {
            self.text.check(&real, self.policy).is_ok()
        };
        if allowed {
            Ok(())
        } else {
            Err(Refusal::Unseen(RefusalReason::Denied))
        }
    }
}

/// Checks one name in an open folder without opening it: opening a device can have side effects,
/// and for a link the reason must be reported. The check on the handle afterwards is the decisive
/// one.
pub(super) fn look(parent: &Dir, name: &str, policy: &Policy) -> Result<FileStamp, Refusal> {
    parent
        .symlink_metadata(name)
        .map_err(|e| Refusal::of_lookup(&e))
        .and_then(|meta| admit(&meta, policy))
}

/// Opens one name in an open folder, without following a link and without waiting for the other end
/// of a FIFO, and checks the metadata of the handle.
pub(super) fn open_file(
    parent: &Dir,
    name: &str,
    policy: &Policy,
) -> Result<(File, FileStamp), Refusal> {
    let mut how = OpenOptions::new();
    how.read(true).follow(FollowSymlinks::No);
    #[cfg(unix)]
    cap_fs_ext::OpenOptionsSyncExt::nonblock(&mut how, true);
    let file = parent
        .open_with(name, &how)
        .map_err(|e| Refusal::of_lookup(&e))?;
    let meta = file.metadata().map_err(|e| Refusal::of_lookup(&e))?;
    let stamp = admit(&meta, policy)?;
    Ok((file, stamp))
}

/// Reads a file whose `stamp` was taken through the same handle, at most one byte beyond the cap.
///
/// The stamp was taken before the first byte was read. If the file changes meanwhile, its stamp on
/// disk differs from this one, and the next scan reads it again.
pub(super) fn read_to_cap(
    file: File,
    stamp: FileStamp,
    policy: &Policy,
) -> Result<Vec<u8>, Refusal> {
    let cap = policy.max_file_bytes;
    let reserved = usize::try_from(stamp.size.min(MAX_RESERVED)).unwrap_or(0);
    let mut bytes = Vec::with_capacity(reserved.saturating_add(1));
    file.take(cap.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|e| Refusal::Broken(e.to_string()))?;
    let size = bytes.len() as u64;
    if size > cap {
        Err(Refusal::TooLarge { size, cap })
    } else {
        Ok(bytes)
    }
}

/// Whether a file may be read, by its kind, its links and its size, in this order: the size is
/// reported only for a file that is allowed in every other respect.
pub(super) fn admit(meta: &Metadata, policy: &Policy) -> Result<FileStamp, Refusal> {
    if meta.is_dir() {
        return Err(Refusal::Directory);
    }
    if meta.is_symlink() {
        return Err(Refusal::Unseen(RefusalReason::Symlink));
    }
    if !meta.is_file() {
        return Err(Refusal::Unseen(RefusalReason::NotRegular));
    }
    if policy.hard_links == HardLinks::Deny && link_count(meta) > 1 {
        return Err(Refusal::Unseen(RefusalReason::HardLink));
    }
    if meta.len() > policy.max_file_bytes {
        return Err(Refusal::TooLarge {
            size: meta.len(),
            cap: policy.max_file_bytes,
        });
    }
    Ok(stamp(meta))
}

#[cfg(unix)]
fn link_count(meta: &Metadata) -> u64 {
    cap_fs_ext::MetadataExt::nlink(meta)
}

/// The link count cannot be read here without opening the file in another way; on Windows, creating
/// hard links requires the right to write to the target.
#[cfg(not(unix))]
fn link_count(_: &Metadata) -> u64 {
    1
}

#[cfg(unix)]
fn stamp(meta: &Metadata) -> FileStamp {
    use cap_std::fs::MetadataExt as _;
    FileStamp {
        size: meta.len(),
        mtime_ns: nanoseconds(meta.mtime(), meta.mtime_nsec()),
        ctime_ns: nanoseconds(meta.ctime(), meta.ctime_nsec()),
        inode: meta.ino(),
    }
}

/// A time in nanoseconds.
fn nanoseconds(s: i64, ns: i64) -> i64 {
    s.saturating_mul(1_000_000_000).saturating_add(ns)
}

#[cfg(not(unix))]
fn stamp(meta: &Metadata) -> FileStamp {
    let mtime_ns = meta.modified().map_or(0, |time| {
        match time.into_std().duration_since(std::time::UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |ns| -ns),
        }
    });
    FileStamp {
        size: meta.len(),
        mtime_ns,
        ctime_ns: 0,
        inode: 0,
    }
}
