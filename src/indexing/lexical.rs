//! Brings the lexical projection up to date with `index.sqlite`, by difference where that is possible.

use std::path::Path;

use super::{OnProgress, Progress};
use crate::error::Result;
use crate::lexical::{ChunkEntry, DocEntry, Stamp, Writer};
use crate::store::{IndexReader, LexicalSource};

/// What tantivy may hold in memory before it writes a segment.
const WRITER_BYTES: usize = 128 << 20;

/// Documents between two progress reports.
const REPORT_EVERY: usize = 256;

/// Makes `dir` follow the newest commit of `db_path`; starts over when `rebuild` is set or the difference is unknown.
pub(super) fn catch_up(db_path: &Path, dir: &Path, rebuild: bool, on_progress: OnProgress<'_>) -> Result<()> {
    let Some(index) = IndexReader::open(db_path)? else { return Ok(()) };
    let Some(commit) = index.commit_id()? else { return Ok(()) };
    let wanted = Stamp::new(commit);
    let mut writer = Writer::open(dir, WRITER_BYTES)?;
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
            writer.remove_doc(*id)?;
        }
    }
    for (done, id) in changed.iter().enumerate() {
        if let Some(source) = index.lexical_source(*id)? {
            add(&mut writer, &source)?;
        }
        if done % REPORT_EVERY == 0 {
            on_progress(Progress::Lexical { done, total: changed.len() });
        }
    }
    writer.commit(&wanted)
}

fn add(writer: &mut Writer, source: &LexicalSource) -> Result<()> {
    let chunks = source
        .chunks
        .iter()
        .map(|(chunk_id, key, headings, text)| ChunkEntry { chunk_id: *chunk_id, key: *key, headings, text })
        .collect();
    let mut headings: Vec<&str> = source.chunks.iter().map(|(_, _, headings, _)| headings.as_str()).collect();
    headings.dedup();
    let body: Vec<&str> = source.chunks.iter().map(|(_, _, _, text)| text.as_str()).collect();
    writer.add(&DocEntry {
        doc_id: source.id,
        title: &source.title,
        path: &source.path,
        aliases: &source.aliases,
        tags: &source.tags,
        anchors: &source.anchors,
        headings: &headings.join("\n"),
        body: &body.join("\n"),
        chunks,
    })
}
