//! Brings the lexical projection up to date with `index.sqlite`, incrementally if possible.

use std::collections::HashSet;
use std::path::Path;
use std::sync::mpsc;

use rayon::prelude::*;
use serde_json::Value;

use super::{OnProgress, Progress};
use crate::ids::DocumentId;
use crate::lexical::{
    ChunkEntry, DocEntry, LexicalStamp, LexicalWriter, Reader, beside, clear_beside, put_in_place,
};
use crate::store::{IndexReader, LexicalSource};
use local_agent_text::error::{Failure, Result};
use local_agent_text::types::CommitId;

/// Maximum memory for tantivy before it writes a segment.
const WRITER_BYTES: usize = 96 << 20;

/// Number of documents read from the database at once; at most three such batches are in memory.
const BATCH: usize = 256;

/// Whether the projection cannot be opened, or any byte of it differs from what was written. Reads
/// all of it.
pub(super) fn is_damaged(dir: &Path) -> bool {
    match Reader::open(dir) {
        Ok(Some(reader)) => reader
            .damaged_files()
            .map_or(true, |files| !files.is_empty()),
        Ok(None) => false,
        Err(_) => true,
    }
}

/// Finishes the work of a killed rebuild: a projection next to `dir` replaces it if it belongs to
/// the newest commit of `db_path`, and is removed otherwise.
pub(super) fn settle(db_path: &Path, dir: &Path) -> Result<()> {
    if !beside(dir).exists() {
        return clear_beside(dir);
    }
    let commit = match IndexReader::open(db_path) {
        Ok(Some(index)) => index.commit_id().unwrap_or(None),
        _ => None,
    };
    if is_of_commit(commit, &beside(dir)) && !is_of_commit(commit, dir) {
        put_in_place(dir)
    } else {
        clear_beside(dir)
    }
}

/// Whether the projection in the folder was made from this commit.
fn is_of_commit(commit: Option<CommitId>, dir: &Path) -> bool {
    let stamp = Reader::open(dir)
        .ok()
        .flatten()
        .and_then(|reader| reader.stamp());
    commit.is_some() && stamp.map(|stamp| stamp.index_commit) == commit
}

/// Brings `dir` up to date with the newest commit of `db_path`; starts over if `rebuild` is set or
/// the difference is unknown.
pub(super) fn catch_up(
    db_path: &Path,
    dir: &Path,
    rebuild: bool,
    on_progress: OnProgress<'_>,
) -> Result<()> {
    let Some(index) = IndexReader::open(db_path)? else {
        return Ok(());
    };
    let Some(commit) = index.commit_id()? else {
        return Ok(());
    };
    let wanted = LexicalStamp::new(commit);
    // Half of the cores write what the other half analyses. Each writer builds a separate
    // dictionary, so fewer writers mean less work; but use at least two, because one thread writes
    // a dictionary alone at the end while all others are idle.
    let threads =
        std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2).max(2));
    let mut writer = LexicalWriter::open(dir, WRITER_BYTES, threads)?;
    let stamp = writer.stamp();
    if !rebuild && stamp.as_ref() == Some(&wanted) {
        return Ok(());
    }
    let known = match stamp {
        Some(stamp) if !rebuild && stamp.analyzer_version == wanted.analyzer_version => {
            index.generation_of(&stamp.index_commit)?
        }
        _ => None,
    };
    if known.is_none() {
        writer.clear()?;
    }
    let (changed, removed) = index.lexical_changes(known.unwrap_or(0))?;
    if known.is_some() {
        for id in removed.iter().chain(&changed) {
            writer.remove_doc(*id);
        }
    }
    add_all(&index, &writer, &changed, on_progress)?;
    writer.commit(&wanted)
}

/// This thread reads documents; the others analyse them.
fn add_all(
    index: &IndexReader,
    writer: &LexicalWriter,
    changed: &[DocumentId],
    on_progress: OnProgress<'_>,
) -> Result<()> {
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::sync_channel::<Vec<LexicalSource>>(1);
        let adding = scope.spawn(move || {
            receive
                .into_iter()
                .try_for_each(|batch| batch.par_iter().try_for_each(|source| add(writer, source)))
        });
        for (number, ids) in changed.chunks(BATCH).enumerate() {
            let sources = ids
                .iter()
                .map(|id| index.lexical_source(*id))
                .filter_map(std::result::Result::transpose);
            // The receiver is gone when adding failed; then there is nothing more to do.
            if send
                .send(sources.collect::<crate::store::Result<_>>()?)
                .is_err()
            {
                break;
            }
            on_progress(Progress::Lexical {
                done: number * BATCH,
                total: changed.len(),
            });
        }
        drop(send);
        adding
            .join()
            .map_err(|_| Failure::internal("a thread that adds to lexical search panicked"))?
    })
}

fn add(writer: &LexicalWriter, source: &LexicalSource) -> Result<()> {
    let chunks = source
        .chunks
        .iter()
        .map(|(chunk_id, key, headings, text)| ChunkEntry {
            chunk_id: *chunk_id,
            key: *key,
            headings,
            text,
        })
        .collect();
    let mut seen = HashSet::new();
    let headings: Vec<&str> = source
        .chunks
        .iter()
        .flat_map(|(_, _, headings, _)| headings.lines())
        .filter(|line| seen.insert(*line))
        .collect();
    writer.add(&DocEntry {
        doc_id: source.id,
        title: &source.title,
        path: &source.path,
        aliases: &source.aliases,
        tags: &source.tags,
        anchors: &source.anchors,
        headings: &headings.join("\n"),
        outside: &frontmatter_values(&source.frontmatter_json),
        chunks,
    })
}

/// The values of the frontmatter, one per line. They are in no chunk, but people search for them.
fn frontmatter_values(json: &str) -> String {
    fn collect(value: &Value, texts: &mut Vec<String>) {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Number(number) => texts.push(number.to_string()),
            Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
            Value::Object(fields) => fields.values().for_each(|field| collect(field, texts)),
            Value::Null | Value::Bool(_) => {}
        }
    }
    let mut texts = Vec::new();
    if let Ok(value) = serde_json::from_str(json) {
        collect(&value, &mut texts);
    }
    texts.join("\n")
}
