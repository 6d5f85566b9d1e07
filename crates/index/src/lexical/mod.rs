//! The tantivy projection: finds chunks by their words.
//!
//! SQLite is the source of truth; everything in this index can be rebuilt from it. tantivy stores
//! the postings and writes them safely; the ranking is our own, because a chunk is scored together
//! with its document.

mod directory;
mod encode;
mod neighbours;
mod pending;
mod plan;
mod query;
mod question_words;
mod reader;
mod replace;
mod schema;
mod scores;
mod search;
mod stats;
mod vocabulary;
mod weights;
mod writer;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};
use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenReadError, OpenWriteError};

use crate::ids::{ChunkId, DocumentId};
use local_agent_files::state;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{ChunkKey, CommitId};

pub use directory::COMMIT_FILE;
pub use local_agent_text::language::terms;
pub use neighbours::Neighbours;
pub use query::{Filter, Query};
pub use reader::Reader;
pub use replace::{beside, clear_beside, put_in_place};
pub use stats::{TermStat, coverage};
pub use writer::LexicalWriter;

/// The version of the analysis. It changes whenever the same text would give other terms, or the
/// fields change. An index with another version is rebuilt.
pub const ANALYZER_VERSION: u32 = 4;

/// The state from which the projection was made. Stamps are compared for equality, never for order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LexicalStamp {
    /// The `commit_id` of the index database.
    pub index_commit: CommitId,
    /// [`ANALYZER_VERSION`] at the time of writing.
    pub analyzer_version: u32,
}

impl LexicalStamp {
    /// The stamp of a projection of `index_commit` written by this program.
    pub const fn new(index_commit: CommitId) -> Self {
        Self {
            index_commit,
            analyzer_version: ANALYZER_VERSION,
        }
    }
}

/// A document as input for the writer.
#[derive(Debug, Clone, Default)]
pub struct DocEntry<'a> {
    /// Row id; not negative.
    pub doc_id: DocumentId,
    /// The title shown with hits.
    pub title: &'a str,
    /// The path below its root.
    pub path: &'a str,
    /// Other names from its frontmatter.
    pub aliases: &'a [String],
    /// The tags of its frontmatter and its text.
    pub tags: &'a [String],
    /// The texts of links that point to this document.
    pub anchors: &'a [String],
    /// All headings, one per line.
    pub headings: &'a str,
    /// Text that is in no chunk: the values of the frontmatter.
    pub outside: &'a str,
    /// The chunks, in file order. A document without chunks is never found.
    pub chunks: Vec<ChunkEntry<'a>>,
}

/// A chunk as input for the writer.
#[derive(Debug, Clone)]
pub struct ChunkEntry<'a> {
    /// Row id; not negative.
    pub chunk_id: ChunkId,
    /// The key of its row; a hit contains it.
    pub key: ChunkKey,
    /// The heading path, one heading per line.
    pub headings: &'a str,
    /// The text, verbatim.
    pub text: &'a str,
}

/// A chunk that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct LexicalHit {
    /// Row id.
    pub chunk_id: ChunkId,
    /// Row id of its document.
    pub doc_id: DocumentId,
    /// The key to compare with that of the row: if they differ, the hit is stale.
    pub key: ChunkKey,
    /// The value by which hits are sorted, descending: `chunk_score` and a share of `doc_score`.
    /// Unbounded.
    pub score: f32,
    /// BM25 of the chunk alone; 0 when only its document matched.
    pub chunk_score: f32,
    /// BM25 of the whole document, including title, aliases, headings, path, tags and link texts.
    pub doc_score: f32,
    /// The share of the query's words that the chunk contains, 0 to 1, weighted by rarity. A word
    /// that is not in the index weighs most. Unlike the score it can be compared between queries.
    pub chunk_share: f32,
    /// The same share for the document.
    pub doc_share: f32,
}

/// The command for damage that may be in bytes which `index` alone does not read.
const REBUILD: &str = "local-agent index --verify";

const MAKE_ROOM: &str = "free some space or allow writing there, and run the command again";

fn corrupt(what: impl std::fmt::Display) -> Failure {
    Failure::new(
        ErrorCode::DbCorrupt,
        format!("The search index cannot be used: {what}."),
    )
    .with_command(REBUILD)
}

/// Explains a tantivy error to the user.
fn failure(error: &TantivyError) -> Failure {
    if let Some(refusal) = system_error(error).and_then(state::refusal) {
        return refusal;
    }
    match error {
        TantivyError::LockFailure(LockError::LockBusy, _) => Failure::new(
            ErrorCode::Locked,
            "Another process is writing the search index.",
        ),
        TantivyError::DataCorruption(_)
        | TantivyError::SchemaError(_)
        | TantivyError::FieldNotFound(_)
        | TantivyError::IncompatibleIndex(_)
        | TantivyError::InternalError(_)
        | TantivyError::InvalidArgument(_)
        | TantivyError::DeserializeError(_)
        | TantivyError::OpenReadError(
            OpenReadError::IncompatibleIndex(_) | OpenReadError::FileDoesNotExist(_),
        ) => corrupt(error),
        TantivyError::IoError(io)
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error: io, .. })
            if is_about_content(io) =>
        {
            corrupt(error)
        }
        TantivyError::IoError(io)
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: io, .. })
            if is_unwritable(io) =>
        {
            Failure::new(
                ErrorCode::WriteError,
                format!("The search index could not be written: {error}."),
            )
            .with_hint(MAKE_ROOM)
        }
        _ => Failure::new(
            ErrorCode::DbError,
            format!("The search index could not be read or written: {error}."),
        )
        .with_command("local-agent doctor"),
    }
}

/// The system error inside a tantivy error.
fn system_error(error: &TantivyError) -> Option<&std::io::Error> {
    match error {
        TantivyError::IoError(io)
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error: io, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: io, .. })
        | TantivyError::LockFailure(LockError::IoError(io), _) => Some(io),
        _ => None,
    }
}

/// Whether the content of a file was refused, and not the access to it. tantivy's readers report
/// some damages as an error of no kind, which never comes from the system.
fn is_about_content(error: &std::io::Error) -> bool {
    use std::io::ErrorKind as Kind;
    match error.kind() {
        Kind::InvalidData | Kind::UnexpectedEof => true,
        Kind::Other => error.raw_os_error().is_none(),
        _ => false,
    }
}

/// Whether the system refused to write.
fn is_unwritable(error: &std::io::Error) -> bool {
    use std::io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::StorageFull
            | Kind::QuotaExceeded
            | Kind::FileTooLarge
            | Kind::ReadOnlyFilesystem
            | Kind::PermissionDenied
            | Kind::WriteZero
    )
}

/// Runs `work` on untrusted files: tantivy panics on some damaged bytes, and here that counts as
/// damage like any other. `work` must not leave behind state that is used again.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let outer = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    done.unwrap_or_else(|_| Err(corrupt("its files are damaged")))
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread would be caught here and turned into a failure, so that it need
/// not be reported.
pub fn is_guarded() -> bool {
    GUARDED.get()
}

#[cfg(test)]
mod tests;
