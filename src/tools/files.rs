//! Which files a tool looks through, and for how long.

use std::time::{Duration, Instant};

use super::Bound;
use crate::error::{ErrorCode, Result};
use crate::sandbox::{Address, What};

/// Longest time that one call looks through files. What was not looked at by then is said to be left out.
const PATIENCE: Duration = Duration::from_secs(15);

/// When to stop.
#[derive(Clone, Copy)]
pub(super) struct Deadline(Instant);

impl Deadline {
    pub fn new() -> Self {
        Self(Instant::now() + PATIENCE)
    }

    pub fn is_over(self) -> bool {
        Instant::now() > self.0
    }
}

/// The readable files that `path` means, sorted: all of them, those below a folder, or one.
///
/// `PATH_DENIED`, `FILE_NOT_FOUND`, `AMBIGUOUS_PATH`.
pub(super) fn files(bound: &Bound, path: Option<&str>) -> Result<Vec<Address>> {
    let sandbox = &bound.sandbox;
    let Some(path) = path.map(str::trim).filter(|path| !path.is_empty()) else {
        return Ok(sandbox.roots().iter().flat_map(|root| below(bound, &root.name, "")).collect());
    };
    let file = match sandbox.resolve(path) {
        Ok(at) => return Ok(vec![at]),
        Err(failure) => failure,
    };
    match sandbox.list(path) {
        Ok((folder, _)) => {
            let prefix = folder.path.as_ref().map_or_else(String::new, |path| format!("{path}/"));
            Ok(below(bound, &folder.source, &prefix))
        }
        // A folder's name has no extension, so that reason would mislead.
        Err(folder) if file.code == ErrorCode::PathDenied => Err(folder),
        Err(_) => Err(file),
    }
}

/// A root that cannot be walked has no files.
fn below(bound: &Bound, source: &crate::types::SourceName, prefix: &str) -> Vec<Address> {
    let sandbox = &bound.sandbox;
    let code = sandbox.roots().iter().any(|root| root.name == *source && root.code);
    let entries = sandbox.walk(source, &sandbox.policy().extensions(code)).unwrap_or_default();
    let found = entries.into_iter().filter(|e| matches!(e.what, What::Found(_)) && e.path.as_str().starts_with(prefix));
    found.map(|entry| Address { source: source.clone(), path: entry.path }).collect()
}

/// Whether a file is a note.
pub(super) fn is_note(at: &Address) -> bool {
    let name = at.path.file_name().to_lowercase();
    crate::config::MARKDOWN_EXTS.iter().any(|ext| name.strip_suffix(ext).is_some_and(|stem| stem.ends_with('.')))
}
