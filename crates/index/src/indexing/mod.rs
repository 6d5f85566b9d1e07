//! The `index` and `embed` jobs: scan → diff → chunk → write → publish.
//!
//! SQLite commits first, then the lexical projection, then the matrix. A job that dies in between
//! leaves a projection that is behind and knows it; the next run mends it by difference. Memory is
//! bounded by a batch, never by the corpus. `index --rebuild` makes index and lexical projection
//! beside those that are read, and puts them in place when both are whole.

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
    /// A free word shown with each hit (`corpus`, `notes`).
    pub kind: String,
    /// Whether source files below it are documents, too; `security.allowed_exts` need not name their
    /// extensions.
    pub code: bool,
    /// Which of its files exist for this program.
    pub selection: Selection,
}

/// What a job tells whoever shows its progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// So many files are to be looked into.
    Files {
        /// Looked into.
        done: usize,
        /// All of them.
        total: usize,
    },
    /// So many documents are to be added to lexical search.
    Lexical {
        /// Added.
        done: usize,
        /// All of them.
        total: usize,
    },
    /// So many tokens are to be embedded.
    Tokens {
        /// Embedded.
        done: u64,
        /// All of them.
        total: u64,
    },
}

/// Shows progress; called from the job's own thread.
pub type OnProgress<'a> = &'a dyn Fn(Progress);
