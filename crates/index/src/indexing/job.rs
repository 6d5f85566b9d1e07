//! What a run of `index` is given, and what it reports.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::indexing::Source;
use local_agent_text::documents::Definition;
use local_agent_text::error::{Failure, Result};
use local_agent_text::markdown::{ChunkOptions, CountTokens};
use local_agent_text::types::RelPath;

/// The options of a run.
pub struct IndexOptions<'a> {
    /// The sources to scan.
    pub selected: &'a [Source],
    /// Every configured source; documents of other sources are removed when all are selected and
    /// could be read.
    pub configured: &'a [Source],
    /// `index.sqlite`.
    pub db_path: &'a Path,
    /// The lexical projection's folder.
    pub lexical_dir: &'a Path,
    /// How to cut files into chunks.
    pub chunking: ChunkOptions,
    /// The name of that chunking.
    pub chunker_sig: &'a str,
    /// Finds where to cut source code.
    pub definitions: FindDefinitions<'a>,
    /// Hash every file, even if its stamp did not change.
    pub verify: bool,
    /// Rebuild everything next to the current index, which stays in use until then; a foreign
    /// database is first moved aside, with this suffix.
    pub rebuild: Option<&'a str>,
    /// Accept that a source has lost all its files.
    pub allow_empty: bool,
    /// How long to wait for another `index`.
    pub wait: Duration,
    /// The text that other processes see while this job holds the lock.
    pub holder: &'a str,
}

/// A file that is listed but not indexed, or could not be read this time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, schemars::JsonSchema, serde::Serialize)]
pub struct Skipped {
    /// `source:rel/path`.
    pub path: String,
    /// Stable name of the reason.
    pub reason: String,
}

/// The statistics of a run. Field names are those of `index --json`.
#[derive(Debug, Default, schemars::JsonSchema, serde::Serialize)]
pub struct IndexSummary {
    /// Files that the walk found.
    pub docs_scanned: usize,
    /// Files that were opened because their stamp did not prove them unchanged.
    pub docs_read: usize,
    /// Documents that are new or have other bytes.
    pub docs_changed: usize,
    /// Documents with the same bytes as before.
    pub docs_unchanged: usize,
    /// Documents whose file is gone.
    pub docs_pruned: usize,
    /// New chunks.
    pub chunks_written: usize,
    /// Chunks that are in no document any more.
    pub chunks_removed: usize,
    /// Documents in the index now.
    pub total_docs: u64,
    /// Chunks in the index now.
    pub total_chunks: u64,
    /// Files that are not documents, each with the reason.
    pub skipped: Vec<Skipped>,
    /// The number of `errors`.
    pub errors_count: usize,
    /// One sentence for each source or file that could not be read.
    pub errors: Vec<String>,
    /// The same errors with their codes.
    #[serde(skip)]
    pub failures: Vec<Failure>,
    /// The same files as `skipped`, to list each once.
    #[serde(skip)]
    listed: HashSet<Skipped>,
    /// The new path of a foreign database that was moved aside.
    pub moved_aside: Option<PathBuf>,
}

impl IndexSummary {
    /// Records a source that could not be scanned; the others continue.
    pub(super) fn fail(&mut self, failure: Failure) {
        self.errors.push(failure.message.clone());
        self.failures.push(failure);
    }

    /// Lists a skipped file once: the walk has already listed the ones it refused.
    pub(super) fn list(&mut self, skipped: Skipped) {
        if self.listed.insert(skipped.clone()) {
            self.skipped.push(skipped);
        }
    }
}

/// Counts the tokens of a text; may be called from any number of threads.
pub type Counter<'a> = Box<dyn Fn(&str) -> usize + Sync + 'a>;

/// Finds the definitions in a source file; none if it cannot be parsed. May be called from any
/// number of threads.
pub type FindDefinitions<'a> = &'a (dyn Fn(&RelPath, &str) -> Vec<Definition> + Sync);

/// Makes the token counter used for chunking.
pub type LoadCounter<'a> = &'a dyn Fn() -> Result<Counter<'a>>;

/// The token counter of a run: made when the first file is read, for all sources.
pub(super) struct LazyCounter<'l> {
    load: LoadCounter<'l>,
    counter: OnceCell<Counter<'l>>,
}

impl<'l> LazyCounter<'l> {
    pub(super) fn new(load: LoadCounter<'l>) -> Self {
        Self {
            load,
            counter: OnceCell::new(),
        }
    }

    pub(super) fn get(&self) -> Result<CountTokens<'_>> {
        if let Some(counter) = self.counter.get() {
            return Ok(&**counter);
        }
        let counter = (self.load)()?;
        Ok(&**self.counter.get_or_init(|| counter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_many_skipped_files_is_listed_once() {
        // With a search through the list for each file, this would take many minutes.
        let mut summary = IndexSummary::default();
        for _ in 0..2 {
            for n in 0..200_000 {
                summary.list(Skipped {
                    path: format!("notes:{n}.md"),
                    reason: "unreadable".to_owned(),
                });
            }
        }
        assert_eq!(summary.skipped.len(), 200_000);
    }
}
