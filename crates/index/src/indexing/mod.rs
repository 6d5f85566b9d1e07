//! The `index` and `embed` jobs: scan → diff → chunk → write → publish.
//!
//! SQLite commits first, then the lexical projection, then the matrix. If a job is killed in
//! between, the projection is stale and knows it; the next run updates it incrementally. Memory is
//! limited by the batch size, not the corpus. `index --rebuild` builds index and lexical projection
//! next to the current ones, and swaps them in when both are complete.

use std::path::PathBuf;

use local_agent_files::sandbox::Selection;
use local_agent_text::types::SourceName;

mod compare;
mod document;
mod embed;
mod emptied;
mod index;
mod lexical;
mod matrix;
mod measure;

pub use compare::{Compared, compare};
pub use embed::{EmbedOptions, EmbedSummary, embed};
pub use emptied::WAY_OUT as EMPTIED_WAY_OUT;
pub use index::{
    Counter, FindDefinitions, IndexOptions, IndexSummary, LoadCounter, Skipped, index,
};

/// One entry of `sources`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Stands before the path in an address.
    pub name: SourceName,
    /// Absolute; need not exist.
    pub root: PathBuf,
    /// A free-form word shown with each hit (`corpus`, `notes`).
    pub kind: String,
    /// Whether source files in it are documents too; `security.allowed_exts` need not list their
    /// extensions.
    pub code: bool,
    /// Which of its files this program may see.
    pub selection: Selection,
}

/// Progress of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// This many files are to be read.
    Files {
        /// Looked into.
        done: usize,
        /// All of them.
        total: usize,
    },
    /// This many documents are to be added to lexical search.
    Lexical {
        /// Added.
        done: usize,
        /// All of them.
        total: usize,
    },
    /// This many tokens are to be embedded.
    Tokens {
        /// Embedded.
        done: u64,
        /// All of them.
        total: u64,
    },
}

/// Shows progress; called from the job's own thread.
pub type OnProgress<'a> = &'a dyn Fn(Progress);
