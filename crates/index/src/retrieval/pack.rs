//! Turns ranked chunks into the evidence for one question.
//!
//! Neighbours in one document become one item, near-duplicates are dropped, the number of chunks
//! per document is limited, lists of links are left out unless there is nothing else, and everything
//! fits a token budget. Then each item is compared with the **current** file: moved text is
//! re-anchored, missing text is dropped and reported, and the next hit replaces it.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Hit;
use crate::ids::DocumentId;
use crate::store::{ChunkRecord, DocumentCondition, IndexReader};
use local_agent_files::sandbox::{Address, Sandbox};
use local_agent_text::error::Result;
use local_agent_text::evidence::{EvidenceSnapshot, Excerpt, Freshness, FreshnessReport};
use local_agent_text::language::terms;
use local_agent_text::markdown::is_list_of_links;
use local_agent_text::types::{ByteSpan, LineSpan, Sha256};

/// Two chunks that share this fraction of their words (Jaccard) are duplicates.
const NEAR_DUPLICATE: f32 = 0.85;

/// Limits for one snapshot.
#[derive(Debug, Clone, Copy)]
pub struct PackLimits {
    /// Maximum number of items, at least 1.
    pub top_n: usize,
    /// Maximum number of tokens in all items together; the best item is always taken.
    pub max_tokens: usize,
    /// Maximum number of chunks per document.
    pub per_document: usize,
}

/// The evidence for one question.
#[derive(Debug)]
pub struct Packed {
    /// The frozen snapshot.
    pub snapshot: EvidenceSnapshot,
    /// The state of the files when it was frozen.
    pub freshness: FreshnessReport,
    /// Score of each item's best chunk, in the order of the snapshot.
    pub scores: Vec<f32>,
    /// Chunks whose file changed or disappeared since it was indexed, as `source:path`; they are
    /// not evidence.
    pub index_stale: Vec<String>,
}

impl Packed {
    /// Only the first `count` items, as a separate snapshot.
    pub fn first(&self, count: usize) -> Self {
        let snapshot = self.snapshot.first(count);
        let freshness = snapshot
            .items()
            .iter()
            .map(|item| (item.label, self.freshness.of(item.label)))
            .collect();
        let scores = self.scores.iter().take(count).copied().collect();
        Self {
            snapshot,
            freshness,
            scores,
            index_stale: self.index_stale.clone(),
        }
    }
}

/// A chunk whose text is in its file now.
struct Anchored<'h> {
    hit: &'h Hit,
    span: ByteSpan,
    lines: LineSpan,
    moved: bool,
}

/// Freezes the evidence for `question` from `hits` of `index`, best first.
pub fn pack(
    question: &str,
    hits: &[Hit],
    index: &IndexReader,
    sandbox: &Sandbox,
    limits: &PackLimits,
) -> Result<Packed> {
    let mut files = Files {
        sandbox,
        read: HashMap::new(),
    };
    let mut index_stale = Vec::new();
    let mut chosen: Vec<Anchored<'_>> = Vec::new();
    let mut words: Vec<HashSet<String>> = Vec::new();
    let mut per_document: HashMap<DocumentId, usize> = HashMap::new();
    let mut tokens = 0;
    for hit in telling(hits) {
        if chosen.len() >= limits.top_n.max(1) {
            break;
        }
        let chunk = &hit.chunk;
        let taken = per_document.entry(chunk.document_id).or_default();
        if *taken >= limits.per_document
            || (!chosen.is_empty() && tokens + chunk.tokens > limits.max_tokens)
        {
            continue;
        }
        let own: HashSet<String> = terms(&chunk.text).into_iter().collect();
        if words
            .iter()
            .any(|other| jaccard(&own, other) >= NEAR_DUPLICATE)
        {
            continue;
        }
        let Some(anchored) = files.anchor(hit) else {
            index_stale.push(format!("{}:{}", chunk.source, chunk.path));
            continue;
        };
        *taken += 1;
        tokens += chunk.tokens;
        words.push(own);
        chosen.push(anchored);
    }
    index_stale.sort_unstable();
    index_stale.dedup();
    freeze(question, chosen, index, &files, index_stale)
}

/// The hits with more content than a reference to another place; all hits if no hit has more.
fn telling(hits: &[Hit]) -> Vec<&Hit> {
    let telling: Vec<&Hit> = hits
        .iter()
        .filter(|hit| !is_list_of_links(&hit.chunk.text))
        .collect();
    if telling.is_empty() {
        hits.iter().collect()
    } else {
        telling
    }
}

fn jaccard(a: &HashSet<String>, b: &HashSet<String>) -> f32 {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    if all == 0 {
        0.0
    } else {
        shared as f32 / all as f32
    }
}

/// Current files, each read once.
struct Files<'s> {
    sandbox: &'s Sandbox,
    read: HashMap<Address, Option<(Vec<u8>, Sha256)>>,
}

impl Files<'_> {
    /// Finds the chunk's text in its file: at its indexed position, otherwise where it occurs
    /// exactly once.
    fn anchor<'h>(&mut self, hit: &'h Hit) -> Option<Anchored<'h>> {
        let chunk = &hit.chunk;
        let at = Address {
            source: chunk.source.clone(),
            path: chunk.path.clone(),
        };
        let sandbox = self.sandbox;
        let file = self.read.entry(at.clone()).or_insert_with(|| {
            sandbox.read(&at).ok().map(|file| {
                let sha = Sha256::of(&file.bytes);
                (file.bytes, sha)
            })
        });
        let (bytes, sha) = file.as_ref()?;
        let in_place = chunk.span.slice(bytes) == Some(chunk.text.as_bytes());
        if in_place
            && (*sha == chunk.file_sha256 || lines_of(bytes, chunk.span) == Some(chunk.lines))
        {
            return Some(Anchored {
                hit,
                span: chunk.span,
                lines: chunk.lines,
                moved: false,
            });
        }
        let text = std::str::from_utf8(bytes).ok()?;
        let start = text.find(&chunk.text)?;
        if text.rfind(&chunk.text) != Some(start) {
            return None;
        }
        let span = ByteSpan::new(start, start + chunk.text.len())?;
        Some(Anchored {
            hit,
            span,
            lines: lines_of(bytes, span)?,
            moved: true,
        })
    }

    fn bytes(&self, chunk: &ChunkRecord) -> Option<&[u8]> {
        let at = Address {
            source: chunk.source.clone(),
            path: chunk.path.clone(),
        };
        self.read
            .get(&at)?
            .as_ref()
            .map(|(bytes, _)| bytes.as_slice())
    }
}

/// The lines a span covers, counted from 1.
fn lines_of(bytes: &[u8], span: ByteSpan) -> Option<LineSpan> {
    let first = newlines(bytes.get(..span.start())?) + 1;
    let body = span.slice(bytes)?;
    let within = newlines(body.strip_suffix(b"\n").unwrap_or(body));
    LineSpan::new(
        u32::try_from(first).ok()?,
        u32::try_from(first + within).ok()?,
    )
}

/// How many lines end in these bytes.
fn newlines(part: &[u8]) -> usize {
    part.iter().filter(|b| **b == b'\n').count()
}

/// Joins neighbours and freezes. An item is placed at the rank of its best chunk.
fn freeze(
    question: &str,
    chosen: Vec<Anchored<'_>>,
    index: &IndexReader,
    files: &Files<'_>,
    index_stale: Vec<String>,
) -> Result<Packed> {
    let mut groups: Vec<Vec<Anchored<'_>>> = Vec::new();
    for anchored in chosen {
        match groups
            .iter_mut()
            .find(|group| group.iter().any(|other| touches(&anchored, other)))
        {
            Some(group) => group.push(anchored),
            None => groups.push(vec![anchored]),
        }
    }
    let mut moved = BTreeMap::new();
    let mut scores = Vec::new();
    let mut excerpts = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        excerpts.extend(excerpt(group, index, files)?);
        scores.push(group.iter().map(|one| one.hit.score).fold(0.0, f32::max));
        if let [one] = group.as_slice()
            && one.moved
        {
            moved.insert(at, (one.span, one.lines));
        }
    }
    let snapshot = EvidenceSnapshot::freeze(question, excerpts)?;
    let mut freshness = FreshnessReport::default();
    for (at, item) in snapshot.items().iter().enumerate() {
        let state = match moved.get(&at) {
            Some((span, lines)) => Freshness::Moved {
                span: *span,
                lines: *lines,
            },
            None => Freshness::Fresh,
        };
        freshness.set(item.label, state);
    }
    Ok(Packed {
        snapshot,
        freshness,
        scores,
        index_stale,
    })
}

/// Whether two chunks are neighbours under one heading, at their indexed positions.
fn touches(anchored: &Anchored<'_>, other: &Anchored<'_>) -> bool {
    let chunk = &anchored.hit.chunk;
    other.hit.chunk.document_id == chunk.document_id
        && other.hit.chunk.ordinal.abs_diff(chunk.ordinal) == 1
        && other.hit.chunk.heading == chunk.heading
        && !other.moved
        && !anchored.moved
}

/// One contiguous part of the file: the best chunk and the chosen neighbours.
fn excerpt(
    group: &[Anchored<'_>],
    index: &IndexReader,
    files: &Files<'_>,
) -> Result<Option<Excerpt>> {
    let Some(best) = group.first() else {
        return Ok(None);
    };
    let same_path = index.documents_where(&[DocumentCondition::HasPath(&best.hit.chunk.path)])?;
    Ok(cut(&best.hit.chunk, group, same_path.len() > 1, files))
}

/// The bytes of `group` around its best chunk.
fn cut(
    chunk: &ChunkRecord,
    group: &[Anchored<'_>],
    path_is_shared: bool,
    files: &Files<'_>,
) -> Option<Excerpt> {
    let start = group.iter().map(|one| one.span.start()).min()?;
    let end = group.iter().map(|one| one.span.end()).max()?;
    let span = ByteSpan::new(start, end)?;
    let bytes = files.bytes(chunk)?;
    Some(Excerpt {
        chunk_key: chunk.key,
        merged: group[1..].iter().map(|one| one.hit.chunk.key).collect(),
        source: chunk.source.clone(),
        path: chunk.path.clone(),
        path_is_shared,
        heading: chunk.heading.clone(),
        span,
        lines: lines_of(bytes, span)?,
        text: String::from_utf8(span.slice(bytes)?.to_vec()).ok()?,
    })
}
