//! Writes files outside all roots that an operator named: a configuration, a snapshot, the example
//! vault in the cache.

use std::fs::Permissions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use local_agent_text::error::{ErrorCode, Failure, Result};

/// Writes the file completely or not at all; missing parent folders are created.
pub(super) fn write_whole(file: &Path, bytes: &[u8]) -> Result<()> {
    write_with(file, bytes, None)
}

/// Rewrites a file of another program. If it is a link, its target is replaced, with the target's
/// permissions.
///
/// # Errors
/// `WRITE_ERROR`.
pub(super) fn rewrite(file: &Path, bytes: &[u8]) -> Result<()> {
    let target = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let permissions = std::fs::metadata(&target).map(|about| about.permissions());
    write_with(&target, bytes, permissions.ok())
}

fn write_with(file: &Path, bytes: &[u8], permissions: Option<Permissions>) -> Result<()> {
    let fail = |e: std::io::Error| {
        Failure::new(
            ErrorCode::WriteError,
            format!("{} cannot be written: {e}", file.display()),
        )
    };
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(fail)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(fail)?;
    temporary
        .write_all(bytes)
        .and_then(|()| temporary.as_file().sync_all())
        .map_err(fail)?;
    if let Some(permissions) = permissions {
        temporary
            .as_file()
            .set_permissions(permissions)
            .map_err(fail)?;
    }
    temporary.persist(file).map_err(|e| fail(e.error))?;
    Ok(())
}

/// Copies a file that is about to be changed to a backup next to it, replacing an earlier backup;
/// returns the backup's path.
///
/// # Errors
/// `WRITE_ERROR`.
pub(super) fn back_up(file: &Path) -> Result<PathBuf> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".bak");
    let copy = file.with_file_name(name);
    let bytes = std::fs::read(file).map_err(|e| {
        Failure::new(
            ErrorCode::WriteError,
            format!("{} cannot be copied: {e}", file.display()),
        )
        .with_hint("allow reading and writing there")
    })?;
    write_whole(&copy, &bytes)?;
    Ok(copy)
}
