//! Earlier versions of files, read with the user's own `git`.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::RelPath;

/// The text of `path` (below the folder `root`) at `revision`; `None` if the file did not exist
/// then, or was not UTF-8 text.
///
/// Errors: `INVALID_ARGS` when `git` cannot be run there, or the revision does not exist.
pub(super) fn text_at(root: &Path, revision: &str, path: &RelPath) -> Result<Option<String>> {
    let shown = git(
        root,
        &["show", "--end-of-options", &format!("{revision}:./{path}")],
    )?;
    Ok(shown
        .status
        .success()
        .then(|| String::from_utf8(shown.stdout).ok())
        .flatten())
}

/// Checks that `revision` is a commit in the repository that contains `root`.
///
/// Errors: as [`text_at`].
pub(super) fn check_revision(root: &Path, revision: &str) -> Result<()> {
    let commit = format!("{revision}^{{commit}}");
    let found = git(
        root,
        &[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &commit,
        ],
    )?;
    if found.status.success() {
        return Ok(());
    }
    if !git(root, &["rev-parse", "--git-dir"])?.status.success() {
        let message = format!("{} is in no git repository.", root.display());
        let hint = "write a lock file: `local-agent verify DOCUMENT --lock FILE --update`; later compare without --update";
        return Err(Failure::new(ErrorCode::InvalidArgs, message).with_command(hint));
    }
    let message = format!(
        "`{revision}` is not a commit in the git repository at {}.",
        root.display()
    );
    Err(Failure::new(ErrorCode::InvalidArgs, message).with_hint("git log --oneline"))
}

fn git(root: &Path, args: &[&str]) -> Result<Output> {
    Command::new("git")
        .arg("-C")
        .arg(root)
        .args(args)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .map_err(|e| {
            Failure::new(ErrorCode::InvalidArgs, format!("`git` cannot be run: {e}"))
                .with_hint("install git, or use --lock")
        })
}
