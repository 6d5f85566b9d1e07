//! Chooses the files that a tool searches, limits the time, and reports files that were not
//! searched.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::Bound;
use local_agent_files::sandbox::{Address, NOTE_EXTENSIONS, WalkOutcome};
use local_agent_text::documents::is_org;
use local_agent_text::error::{ErrorCode, Result};
use local_agent_text::types::SourceName;

/// Maximum time for one call to search files. Files that remain are reported as left out.
const PATIENCE: Duration = Duration::from_secs(15);

/// The time at which a search ends.
#[derive(Clone, Copy)]
pub(super) struct Deadline(Instant);

impl Deadline {
    pub(super) fn new() -> Self {
        Self(Instant::now() + PATIENCE)
    }

    pub(super) fn is_over(self) -> bool {
        Instant::now() > self.0
    }
}

/// The result of searching one file.
pub(super) enum FileLook {
    Done,
    /// It could not be read or parsed.
    Unread,
    /// The result is full, so the search ends; contains the limit that was reached.
    Full(&'static str),
}

/// Statistics of a search. Every omission is counted.
pub(super) struct Survey {
    searched: usize,
    unread: usize,
    left_out: usize,
    limit: Option<&'static str>,
    /// Roots that cannot be walked.
    closed: Vec<String>,
}

impl Survey {
    /// Searches the files that `path` means and `wanted` accepts, in order, until the time is over
    /// or `look` ends it.
    ///
    /// Errors as [`files`], and those of `look`.
    pub(super) fn of(
        bound: &Bound,
        path: Option<&str>,
        wanted: impl Fn(&Address) -> bool,
        mut look: impl FnMut(&Address) -> Result<FileLook>,
    ) -> Result<Self> {
        let deadline = Deadline::new();
        let (mut all, closed) = files(bound, path)?;
        all.retain(wanted);
        let mut survey = Self {
            searched: 0,
            unread: 0,
            left_out: 0,
            limit: None,
            closed,
        };
        for at in &all {
            if deadline.is_over() {
                survey.limit = Some("time");
                break;
            }
            match look(at)? {
                FileLook::Unread => survey.unread += 1,
                FileLook::Done => survey.searched += 1,
                FileLook::Full(what) => {
                    survey.searched += 1;
                    survey.limit = Some(what);
                    break;
                }
            }
        }
        survey.left_out = all.len() - survey.searched - survey.unread;
        Ok(survey)
    }

    /// Adds the statistics to the result.
    pub(super) fn report(&self, facts: &mut Map<String, Value>, text: &mut String) {
        facts.insert("files_searched".to_owned(), json!(self.searched));
        facts.insert("files_unreadable".to_owned(), json!(self.unread));
        facts.insert("files_left_out".to_owned(), json!(self.left_out));
        facts.insert("sources_unavailable".to_owned(), json!(self.closed));
        facts.insert("truncated".to_owned(), json!(self.limit.is_some()));
        facts.insert("limit".to_owned(), json!(self.limit));
        if let Some(limit) = self.limit {
            text.push_str(&format!("TRUNCATED: the limit of {limit} was reached"));
            if self.left_out > 0 {
                text.push_str(&format!("; {} files were not looked at", self.left_out));
            }
            text.push('\n');
        }
        if self.unread > 0 {
            text.push_str(&format!(
                "NOT READ: {} files could not be read\n",
                self.unread
            ));
        }
        for name in &self.closed {
            text.push_str(&format!(
                "NOT SEARCHED: the source `{name}` cannot be opened now\n"
            ));
        }
    }
}

/// The readable files that `path` means, sorted: all files, those in a folder, or one file. Also
/// the roots that should have been walked but could not be.
///
/// `PATH_DENIED`, `FILE_NOT_FOUND`, `AMBIGUOUS_PATH`.
pub(super) fn files(bound: &Bound, path: Option<&str>) -> Result<(Vec<Address>, Vec<String>)> {
    let sandbox = &bound.sandbox;
    let Some(path) = path.map(str::trim).filter(|path| !path.is_empty()) else {
        let (mut found, mut closed) = (Vec::new(), Vec::new());
        for root in sandbox.roots() {
            match below(bound, &root.name, "") {
                Some(files) => found.extend(files),
                None => closed.push(root.name.to_string()),
            }
        }
        return Ok((found, closed));
    };
    let file = match sandbox.resolve(path) {
        Ok(at) => return Ok((vec![at], Vec::new())),
        Err(failure) => failure,
    };
    match sandbox.list(path) {
        Ok((folder, _)) => {
            let prefix = folder
                .path
                .as_ref()
                .map_or_else(String::new, |path| format!("{path}/"));
            let found = below(bound, &folder.source, &prefix);
            let closed = if found.is_none() {
                vec![folder.source.to_string()]
            } else {
                Vec::new()
            };
            Ok((found.unwrap_or_default(), closed))
        }
        // A folder's name has no extension, so the reason for the file would be misleading.
        Err(folder) if file.code == ErrorCode::PathDenied => Err(folder),
        Err(_) => Err(file),
    }
}

/// The files of one root; `None` when it cannot be walked.
fn below(bound: &Bound, source: &SourceName, prefix: &str) -> Option<Vec<Address>> {
    let entries = bound.sandbox.readable(source).ok()?;
    let found = entries
        .into_iter()
        .filter(|e| matches!(e.what, WalkOutcome::Found(_)) && e.path.as_str().starts_with(prefix));
    Some(
        found
            .map(|entry| Address {
                source: source.clone(),
                path: entry.path,
            })
            .collect(),
    )
}

/// Whether a file is a note: it is markdown, or read as markdown.
pub(super) fn is_note(at: &Address) -> bool {
    let name = at.path.file_name().to_lowercase();
    is_org(&name) || NOTE_EXTENSIONS.iter().any(|ext| name.ends_with(ext))
}
