//! Turns paths as typed into absolute paths, and checks whether one path is inside another, both as
//! text and on disk.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Whether the name of a model is a folder. Ids and repositories never begin like this.
pub(super) fn is_folder_name(text: &str) -> bool {
    text.starts_with(['/', '~', '.', '\\']) || Path::new(text).is_absolute()
}

/// `text` as an absolute, lexically normalised path: `~` and `~/…` mean `home`, a relative path is
/// joined to `base`.
///
/// # Errors
/// One sentence: `text` begins with `~` and the home folder is unknown, or begins with `~name`,
/// which is not supported.
pub(super) fn expand(
    text: &str,
    base: &Path,
    home: Option<&Path>,
) -> Result<PathBuf, &'static str> {
    let path = match text.strip_prefix('~') {
        None => base.join(text),
        Some(rest) if rest.is_empty() || rest.starts_with(['/', '\\']) => {
            let home = home.ok_or("`~` is used, but there is no home folder")?;
            home.join(rest.trim_start_matches(['/', '\\']))
        }
        Some(_) => return Err("`~name` is not expanded; write the whole path"),
    };
    Ok(normalise(&path))
}

/// Removes `.` and resolves `..` lexically; `..` above the top stays at the top.
pub(super) fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// The real location of `path`: links are resolved in the part that exists, the rest stays as it
/// is. `None` when a link on the way is broken, because then the location of a new file is unknown.
pub(super) fn real(path: &Path) -> Option<PathBuf> {
    let mut existing = path.to_owned();
    let mut rest: Vec<OsString> = Vec::new();
    loop {
        if let Ok(found) = existing.canonicalize() {
            return Some(rest.iter().rev().fold(found, |at, name| at.join(name)));
        }
        if existing.is_symlink() {
            return None;
        }
        rest.push(existing.file_name()?.to_owned());
        if !existing.pop() {
            return None;
        }
    }
}

/// Whether `path` is `folder` or below it, either lexically or with links resolved.
pub(super) fn is_inside(path: &Path, folder: &Path) -> bool {
    path.starts_with(folder)
        && match (real(path), real(folder)) {
            (Some(path), Some(folder)) => path.starts_with(folder),
            _ => false,
        }
}

/// `path` (relative ones joined to `folder`) relative to `folder`; `None` if it is elsewhere.
pub fn within(path: &Path, folder: &Path) -> Option<PathBuf> {
    let folder = normalise(folder);
    let absolute = normalise(&folder.join(path));
    if let Ok(inside) = absolute.strip_prefix(&folder) {
        return is_inside(&absolute, &folder).then(|| inside.to_path_buf());
    }
    // The path reaches the folder through a link above both.
    Some(
        real(&absolute)?
            .strip_prefix(real(&folder)?)
            .ok()?
            .to_path_buf(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tilde_stands_for_the_home_folder_only() {
        let (base, home) = (Path::new("/b"), Some(Path::new("/home/me")));
        assert_eq!(expand("~", base, home).unwrap(), Path::new("/home/me"));
        assert_eq!(
            expand("~/notes/../x", base, home).unwrap(),
            Path::new("/home/me/x")
        );
        assert_eq!(expand("a/~/c", base, home).unwrap(), Path::new("/b/a/~/c"));
        assert!(expand("~", base, None).is_err());
        assert!(expand("~root/x", base, home).is_err());
        assert_eq!(
            expand("$HOME/x", base, home).unwrap(),
            Path::new("/b/$HOME/x")
        );
    }

    #[test]
    fn s06_a_sibling_with_the_same_beginning_is_outside() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::fs::create_dir_all(dir.path().join("root-evil")).unwrap();
        std::fs::create_dir_all(&root).unwrap();
        assert!(!is_inside(&dir.path().join("root-evil"), &root));
        assert!(is_inside(&root, &root));
        assert!(is_inside(&root.join("not/there/yet"), &root));
    }

    #[cfg(unix)]
    #[test]
    fn s07_a_link_that_leaves_is_outside_and_a_dead_one_too() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::fs::create_dir_all(&root).unwrap();
        std::os::unix::fs::symlink(dir.path(), root.join("out")).unwrap();
        std::os::unix::fs::symlink("/nowhere/at/all", root.join("dead")).unwrap();
        assert!(!is_inside(&root.join("out"), &root));
        assert!(!is_inside(&root.join("out/x/y"), &root));
        assert!(!is_inside(&root.join("dead"), &root));
        assert!(!is_inside(&root.join("dead/index.sqlite"), &root));
    }

    proptest! {
        #[test]
        fn a_normalised_path_has_no_dots_and_stays_absolute(text in "[a.~/]{0,40}") {
            if let Ok(path) = expand(&text, Path::new("/base"), Some(Path::new("/home/me"))) {
                prop_assert!(path.is_absolute());
                prop_assert!(!path.components().any(|c| matches!(c, Component::CurDir | Component::ParentDir)));
                prop_assert_eq!(normalise(&path), path.clone());
            }
        }
    }
}
