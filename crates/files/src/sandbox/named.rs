//! Reads a file outside all roots that a person named explicitly. Allowed only with
//! `security.allow_any_path`.

use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::place::{look, open_file, read_to_cap};
use super::policy::{Denied, Policy};
use super::refusal::{Refusal, denied};
use super::{FileBytes, words_of};
use local_agent_text::error::Result;

/// Reads the regular file at `path` (absolute, or relative to the current folder) of at most
/// `max_file_bytes`.
///
/// For a person's own request, never a model's. Links in the path are followed, because the person
/// chose it. The extension and the deny list are checked on the path as it was named **and** on the
/// path that links lead to; the rule for hidden names only on the file names of both. Never waits
/// for a FIFO.
///
/// `PATH_DENIED` (also when `allow_any_path` is off), `FILE_NOT_FOUND`, `PATH_IS_DIRECTORY`,
/// `FILE_TOO_LARGE`, `FILE_READ_ERROR`.
pub(super) fn read_any(path: &Path, policy: &Policy) -> Result<FileBytes> {
    let request = path.to_string_lossy();
    if !policy.allow_any_path {
        return Err(denied(&request, Denied::AnyPathOff));
    }
    judge(path, policy).map_err(|d| denied(&request, d))?;
    read(path, policy).map_err(|refusal| refusal.into_failure(&request))
}

fn read(path: &Path, policy: &Policy) -> std::result::Result<FileBytes, Refusal> {
    let real = std::fs::canonicalize(path).map_err(|e| Refusal::of_lookup(&e))?;
    judge(&real, policy).map_err(|_| Refusal::Unseen(super::RefusalReason::Denied))?;
    let (Some(parent), Some(name)) = (real.parent(), real.file_name().and_then(|n| n.to_str()))
    else {
        return Err(Refusal::Directory);
    };
    let parent =
        Dir::open_ambient_dir(parent, ambient_authority()).map_err(|e| Refusal::of_lookup(&e))?;
    look(&parent, name, policy)?;
    let (file, stamp) = open_file(&parent, name, policy)?;
    let bytes = words_of(name, read_to_cap(file, stamp, policy)?, policy)?;
    Ok(FileBytes { bytes, stamp })
}

fn judge(path: &Path, policy: &Policy) -> std::result::Result<(), Denied> {
    let name = path
        .file_name()
        .and_then(|n| n.to_str())
        .ok_or(Denied::Extension)?;
    policy.check_name(name, &[])?;
    policy.check_extension(name, &[])?;
    let above = path.parent().into_iter().flat_map(Path::components);
    if above
        .into_iter()
        .any(|part| policy.is_deny_listed(&part.as_os_str().to_string_lossy()))
    {
        Err(Denied::Name)
    } else {
        Ok(())
    }
}
