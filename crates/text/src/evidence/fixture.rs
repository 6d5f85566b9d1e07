//! Small snapshots for tests of this module and of `verify`.

// `crates/testing` is made of this file too, and there it is public.
#![allow(unreachable_pub)]

use super::{EvidenceSnapshot, Excerpt};
use crate::types::{ByteSpan, ChunkKey, HeadingPath, LineSpan, RelPath, Sha256, SourceName};

/// An excerpt of `path` in source `notes`, starting at byte `start`, on line 1.
pub fn excerpt(path: &str, heading: &str, start: usize, text: &str) -> Excerpt {
    let source = SourceName::new("notes").unwrap();
    let path = RelPath::new(path).unwrap();
    let heading = HeadingPath::from_canonical(heading).unwrap();
    let chunk_key = ChunkKey::derive(&source, &path, &heading, &Sha256::of(text.as_bytes()), 0);
    let breaks = u32::try_from(text.trim_end_matches('\n').matches('\n').count()).unwrap();
    Excerpt {
        chunk_key,
        merged: vec![],
        source,
        path,
        path_is_shared: false,
        heading,
        span: ByteSpan::new(start, start + text.len()).unwrap(),
        lines: LineSpan::new(1, 1 + breaks).unwrap(),
        text: text.to_owned(),
    }
}

/// A snapshot with one item per text: `n1.md`, `n2.md`, …, each under `H1: Title`.
pub fn snapshot(texts: &[&str]) -> EvidenceSnapshot {
    let excerpts = texts
        .iter()
        .enumerate()
        .map(|(i, text)| excerpt(&format!("n{}.md", i + 1), "H1: Title", 0, text))
        .collect();
    EvidenceSnapshot::freeze("What is the budget?", excerpts).unwrap()
}
