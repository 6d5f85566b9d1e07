//! The `index` and `embed` jobs: scan → diff → chunk → write → publish.
//!
//! SQLite commits first, then the lexical projection, then the matrix. If a job is killed in
//! between, the projection is stale. Its stamp shows this, and the next run updates it
//! incrementally. Memory is limited by the batch size, not the corpus. `index --rebuild` builds
//! index and lexical projection next to the current ones, and swaps them in when both are complete.

use std::path::PathBuf;

use local_agent_files::sandbox::Selection;
use local_agent_text::types::SourceName;

mod compare;
mod document;
mod embed;
mod emptied;
mod index;
mod job;
mod lexical;
mod matrix;
mod measure;
mod scan;

pub use compare::{Compared, compare};
pub use embed::{EmbedOptions, EmbedSummary, embed};
pub use emptied::WAY_OUT as EMPTIED_WAY_OUT;
pub use index::index;
pub use job::{Counter, FindDefinitions, IndexOptions, IndexSummary, LoadCounter, Skipped};
pub use measure::profile_is_wanted;

/// One entry of `sources`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The name, which comes before the path in an address.
    pub name: SourceName,
    /// The absolute path of its folder, which need not exist.
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
    /// Files are being read.
    Files {
        /// Number of files that were read.
        done: usize,
        /// Number of files to read.
        total: usize,
    },
    /// Documents are being added to lexical search.
    Lexical {
        /// Number of documents that were added.
        done: usize,
        /// Number of documents to add.
        total: usize,
    },
    /// Tokens are being embedded.
    Tokens {
        /// Number of tokens that were embedded.
        done: u64,
        /// Number of tokens to embed.
        total: u64,
    },
}

/// Shows progress; called from the job's own thread.
pub type OnProgress<'a> = &'a dyn Fn(Progress);
