//! The tantivy projection: what finds chunks by their words.
//!
//! SQLite holds the truth; this index holds nothing that cannot be made from it again. tantivy
//! keeps the postings and writes them safely; the ranking is our own, because a chunk is scored
//! together with its document.

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

/// Changes whenever the same text would give other terms, or the fields change. An index with
/// another number is rebuilt.
pub const ANALYZER_VERSION: u32 = 3;

/// What the projection was made from. Two stamps are compared for equality, never for order.
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

/// A document as the writer takes it.
#[derive(Debug, Clone, Default)]
pub struct DocEntry<'a> {
    /// Row id; not negative.
    pub doc_id: i64,
    /// As hits show it.
    pub title: &'a str,
    /// Below its root.
    pub path: &'a str,
    /// Other names from its frontmatter.
    pub aliases: &'a [String],
    /// Of its frontmatter and its text.
    pub tags: &'a [String],
    /// The texts of links that point here.
    pub anchors: &'a [String],
    /// All headings, one a line.
    pub headings: &'a str,
    /// Text that stands in no chunk: the values of the frontmatter.
    pub outside: &'a str,
    /// The chunks, in the order of the file. A document without chunks is never found.
    pub chunks: Vec<ChunkEntry<'a>>,
}

/// A chunk as the writer takes it.
#[derive(Debug, Clone)]
pub struct ChunkEntry<'a> {
    /// Row id; not negative.
    pub chunk_id: i64,
    /// Of its row; a hit carries it.
    pub key: ChunkKey,
    /// The heading path, one heading a line.
    pub headings: &'a str,
    /// Verbatim.
    pub text: &'a str,
}

/// A chunk that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct LexicalHit {
    /// Row id.
    pub chunk_id: i64,
    /// Row id of its document.
    pub doc_id: i64,
    /// Compare it with the key of the row: a hit whose row has another key is dead.
    pub key: ChunkKey,
    /// What hits are ordered by, greater first: `chunk_score` and a share of `doc_score`. Not
    /// bounded.
    pub score: f32,
    /// BM25 of the chunk alone; 0 when only its document matched.
    pub chunk_score: f32,
    /// BM25 of the whole document, title, aliases, headings, path, tags and link texts included.
    pub doc_score: f32,
    /// The share of the query's words that the chunk holds, 0 to 1, the rarer the weightier. A word
    /// that the index does not hold weighs most. Unlike the score it can be compared between
    /// queries.
    pub chunk_share: f32,
    /// The same of the document.
    pub doc_share: f32,
}

/// Damage may lie in bytes that `index` alone does not read.
const REBUILD: &str = "local-agent index --verify";

const MAKE_ROOM: &str = "free some space or allow writing there, and run the command again";

fn corrupt(what: impl std::fmt::Display) -> Failure {
    Failure::new(
        ErrorCode::DbCorrupt,
        format!("The search index cannot be used: {what}."),
    )
    .with_hint(REBUILD)
}

/// Says what tantivy's error means for a person.
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
            if matches!(
                io.kind(),
                std::io::ErrorKind::InvalidData | std::io::ErrorKind::UnexpectedEof
            ) =>
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
        .with_hint("local-agent doctor"),
    }
}

/// The system's error inside tantivy's.
fn system_error(error: &TantivyError) -> Option<&std::io::Error> {
    match error {
        TantivyError::IoError(io)
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error: io, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: io, .. })
        | TantivyError::LockFailure(LockError::IoError(io), _) => Some(io),
        _ => None,
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

/// Runs `work` on files that may hold anything: tantivy panics on some damaged bytes, which here is
/// damage like any other. `work` must not leave behind state that anybody looks at again.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let outer = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    done.unwrap_or_else(|_| Err(corrupt("its files are damaged")))
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread would be caught here and become a failure, so that nobody needs
/// to hear of it.
pub fn is_guarded() -> bool {
    GUARDED.get()
}

#[cfg(test)]
mod tests;
