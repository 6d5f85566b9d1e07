//! Writes files outside all roots that an operator named: a configuration, a snapshot, the example
//! vault in the cache.

use std::fs::Permissions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use local_agent_text::error::{ErrorCode, Failure, Result};

/// Writes the file completely or not at all; missing parent folders are created.
pub(super) fn write_whole(file: &Path, bytes: &[u8]) -> Result<()> {
    write_with(file, bytes, None)
}

/// Rewrites a file that a person or another program keeps. If it is a link, its target is replaced, with the target's
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
    let temporary = temporary_beside(file, bytes).map_err(fail)?;
    if let Some(permissions) = permissions {
        temporary
            .as_file()
            .set_permissions(permissions)
            .map_err(fail)?;
    }
    temporary.persist(file).map_err(|e| fail(e.error))?;
    Ok(())
}

/// Copies a file that is about to be changed to a backup next to it: see [`back_up_as`].
///
/// # Errors
/// `WRITE_ERROR`.
pub(super) fn back_up(file: &Path) -> Result<PathBuf> {
    back_up_as(file, ".bak")
}

/// Copies a file that is about to be changed to a backup next to it, with the same permissions;
/// returns the backup's path. Earlier backups stay: the name is the first free one of `.bak`,
/// `.bak.1` and so on, if `ending` is `.bak`. A backup with the same bytes is not made twice.
///
/// # Errors
/// `WRITE_ERROR`.
pub(super) fn back_up_as(file: &Path, ending: &str) -> Result<PathBuf> {
    let fail = |e: std::io::Error| {
        Failure::new(
            ErrorCode::WriteError,
            format!("{} cannot be copied: {e}", file.display()),
        )
        .with_hint("allow reading and writing there")
    };
    let bytes = std::fs::read(file).map_err(fail)?;
    let permissions = std::fs::metadata(file).map_err(fail)?.permissions();
    let mut number = 0_u32;
    loop {
        let copy = backup_name(file, ending, number);
        if std::fs::read(&copy).is_ok_and(|earlier| earlier == bytes) {
            return Ok(copy);
        }
        let mut temporary = temporary_beside(&copy, &bytes).map_err(fail)?;
        temporary
            .as_file_mut()
            .set_permissions(permissions.clone())
            .map_err(fail)?;
        match temporary.persist_noclobber(&copy) {
            Ok(_) => return Ok(copy),
            Err(e) if e.error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(e) => return Err(fail(e.error)),
        }
    }
}

/// The name of a backup: with only the ending for the first, such as `.bak`, and `.bak.1` for the
/// second.
fn backup_name(file: &Path, ending: &str, number: u32) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    if number > 0 {
        name.push(format!(".{number}"));
    }
    file.with_file_name(name)
}

/// A file without a final name in the folder of `file`, with these bytes on the disk.
fn temporary_beside(file: &Path, bytes: &[u8]) -> std::io::Result<NamedTempFile> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut temporary = NamedTempFile::new_in(folder)?;
    temporary.write_all(bytes)?;
    temporary.as_file().sync_all()?;
    Ok(temporary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_rewritten_file_keeps_its_link_its_mode_and_every_earlier_state() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        std::fs::write(&real, "0").unwrap();
        std::fs::set_permissions(&real, Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        for number in 0..3 {
            let backup = back_up(&link).unwrap();
            assert_eq!(backup, backup_name(&link, ".bak", number));
            rewrite(&link, (number + 1).to_string().as_bytes()).unwrap();
            assert_eq!(
                std::fs::read_to_string(&backup).unwrap(),
                number.to_string()
            );
            for file in [&backup, &real] {
                let mode = std::fs::metadata(file).unwrap().permissions().mode();
                assert_eq!(mode & 0o777, 0o644, "{}", file.display());
            }
        }
        let same = back_up(&link).unwrap();
        assert_eq!(back_up(&link).unwrap(), same, "the same bytes twice");
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&real).unwrap(), "3");
    }
}
