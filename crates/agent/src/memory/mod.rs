//! Durable memory: texts that the user asked the program to remember, with links to the related
//! chunks.
//!
//! A link stores the hash of its chunk's text, so that the program notices edits of the notes: the
//! chunk is intact, moved, changed or gone. Memory is context and never evidence: in an answer it
//! has its own labels (`M1`), which no citation can use.

mod links;
mod recall;

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use local_agent_index::store::{ChunkRecord, Durable, IndexReader, MemoryLink, MemoryRow};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::ChunkKey;

pub use links::{Link, LinkState, Mend, Mended, judge, repair};
pub use recall::{Recalled, recall, search};

/// The kinds of memories.
pub const KINDS: [&str; 5] = [
    "constraint",
    "preference",
    "project_state",
    "user_fact",
    "workflow_rule",
];

/// Typed by a person.
pub const MANUAL: &str = "manual";

/// Concluded from chunks; such a memory has at least one link.
pub const DERIVED: &str = "derived_from_evidence";

/// A memory with the current state of its links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemoryItem {
    /// The id used in commands; for a memory added here, a random UUID.
    pub memory_id: String,
    /// One of [`KINDS`]; a memory of the Python version may have another word.
    #[serde(rename = "type")]
    pub kind: String,
    /// The remembered text, in the user's words.
    pub content: String,
    /// [`MANUAL`] or [`DERIVED`]; a memory of the Python version may have another word.
    pub source: String,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// RFC 3339, UTC.
    pub updated_at: String,
    /// The keys of the linked chunks as stored, sorted.
    pub chunk_keys: Vec<String>,
    /// The links in their current state, in the same order.
    pub evidence: Vec<Link>,
}

/// A new memory.
#[derive(Debug, Clone)]
pub struct New<'a> {
    /// One of [`KINDS`].
    pub kind: &'a str,
    /// [`MANUAL`] or [`DERIVED`].
    pub source: &'a str,
    /// The text. White space at both ends is removed; the rest must not be blank.
    pub content: &'a str,
    /// The keys as typed; each may begin with `#`.
    pub chunk_keys: &'a [String],
    /// RFC 3339, UTC.
    pub now: &'a str,
}

/// How to find the key of a chunk.
const SHOW_KEYS: &str =
    "local-agent query WORDS --json (shows the key of each chunk for --chunk-key)";

fn refused(why: impl Into<String>, fix: &str) -> Failure {
    Failure::new(ErrorCode::MemoryError, why).with_command(fix)
}

/// Adds a memory. Each key must be in the index: its chunk's text hash, file and headings are
/// stored with it.
///
/// # Errors
/// `PHASE3_MEMORY_ERROR` for blank content, an invalid key or one that is not in the index, or a
/// conclusion without any key; `INDEX_MISSING` when there are keys and no index; those of the
/// database.
pub fn add(durable: &Path, index_db: &Path, new: &New<'_>) -> Result<MemoryRow> {
    let content = new.content.trim();
    if content.is_empty() {
        return Err(refused(
            "there is nothing to remember: the content is blank",
            "local-agent memory add --help",
        ));
    }
    if new.source == DERIVED && new.chunk_keys.is_empty() {
        let why = format!("A memory of the kind `{DERIVED}` needs at least one `--chunk-key`.");
        return Err(refused(why, SHOW_KEYS));
    }
    let links = if new.chunk_keys.is_empty() {
        Vec::new()
    } else {
        new_links(index_db, new.chunk_keys)?
    };
    let row = MemoryRow {
        id: uuid()?,
        kind: new.kind.to_owned(),
        content: content.to_owned(),
        source: new.source.to_owned(),
        created_at: new.now.to_owned(),
        updated_at: new.now.to_owned(),
        links,
    };
    Durable::open_write(durable)?.add(&row)?;
    Ok(row)
}

/// The links for the typed keys, sorted and without duplicates. Every key must be in the index.
fn new_links(index_db: &Path, typed: &[String]) -> Result<Vec<MemoryLink>> {
    let index = IndexReader::required(index_db)?;
    let mut keys = Vec::new();
    for text in typed {
        let key: ChunkKey = text.trim().trim_start_matches('#').parse().map_err(|_| {
            refused(
                format!("`{text}` is not a chunk key: a key is 32 hexadecimal digits"),
                SHOW_KEYS,
            )
        })?;
        keys.push(key);
    }
    keys.sort_unstable();
    keys.dedup();
    keys.iter()
        .map(|key| {
            let chunk = index
                .chunk_by_key(key)?
                .ok_or_else(|| refused(format!("the index holds no chunk {key}"), SHOW_KEYS))?;
            Ok(link_to(&chunk))
        })
        .collect()
}

fn link_to(chunk: &ChunkRecord) -> MemoryLink {
    MemoryLink {
        chunk_key: chunk.key.to_string(),
        text_sha256: Some(chunk.text_sha256),
        source: Some(chunk.source.to_string()),
        path: Some(chunk.path.to_string()),
        heading: Some(chunk.heading.to_canonical()),
    }
}

/// All memories, newest first; empty without a database.
pub fn all(durable: &Path) -> Result<Vec<MemoryRow>> {
    match Durable::open_read(durable)? {
        Some(durable) => Ok(durable.all()?),
        None => Ok(Vec::new()),
    }
}

/// The memory with this id, or with an id that begins with it.
pub fn find(rows: &[MemoryRow], name: &str) -> Result<usize> {
    let found: Vec<usize> = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.id == name || name.len() >= 4 && row.id.starts_with(name))
        .map(|(at, _)| at)
        .collect();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(refused(
            format!("there is no memory called `{name}`"),
            "local-agent memory list",
        )),
        many => Err(refused(
            format!("`{name}` fits {} memories", many.len()),
            "local-agent memory list",
        )),
    }
}

/// Deletes one memory; returns whether it existed.
pub fn delete(durable: &Path, id: &str) -> Result<bool> {
    if Durable::open_read(durable)?.is_none() {
        return Ok(false);
    }
    Ok(Durable::open_write(durable)?.delete(id)?)
}

/// A random (version 4) UUID.
fn uuid() -> Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|e| {
        Failure::new(
            ErrorCode::MemoryError,
            format!("the system gave no random bytes: {e}"),
        )
    })?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = local_agent_text::types::to_hex(&bytes);
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or("");
    Ok(format!(
        "{}-{}-{}-{}-{}",
        part(0, 8),
        part(8, 12),
        part(12, 16),
        part(16, 20),
        part(20, 32)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_from_evidence_without_a_chunk_is_refused_and_told_what_it_needs() {
        let nowhere = Path::new("/nowhere");
        let new = New {
            kind: "user_fact",
            source: DERIVED,
            content: "The oak is old.",
            chunk_keys: &[],
            now: "2026-01-01T00:00:00Z",
        };
        let failure = add(nowhere, nowhere, &new).unwrap_err();
        assert_eq!(failure.code, ErrorCode::MemoryError);
        let words =
            "A memory of the kind `derived_from_evidence` needs at least one `--chunk-key`.";
        assert_eq!(failure.message, words);
    }

    #[test]
    fn names_are_version_4_uuids_and_never_repeat() {
        let (one, two) = (uuid().unwrap(), uuid().unwrap());
        assert_ne!(one, two);
        assert_eq!(
            one.split('-').map(str::len).collect::<Vec<_>>(),
            [8, 4, 4, 4, 12]
        );
        assert_eq!(one.as_bytes()[14], b'4');
        assert!(matches!(one.as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
    }
}
