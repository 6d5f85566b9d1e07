//! Checks and repairs the links from memories to chunks.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::{DERIVED, MemoryItem, link_to};
use local_agent_index::store::{ChunkRecord, Durable, IndexReader, MemoryLink, MemoryRow};
use local_agent_text::error::Result;
use local_agent_text::types::{ChunkKey, RelPath, Sha256, SourceName};

/// The result of comparing a link with the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkState {
    /// The chunk is there, with the same text.
    Intact,
    /// The same text has another key: it is in another file, under other headings, or further down.
    Moved,
    /// The file exists, but not the text.
    Changed,
    /// Neither the text nor the file exists.
    Gone,
    /// The state is unknown: the index is missing, or the link was imported without a hash.
    Unknown,
}

impl LinkState {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Intact => "intact",
            Self::Moved => "moved",
            Self::Changed => "changed",
            Self::Gone => "gone",
            Self::Unknown => "unknown",
        }
    }
}

/// One link in its current state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Link {
    /// The key of the chunk when it was linked; a link of the Python version may have another form.
    pub chunk_key: String,
    /// The state of the chunk since it was linked.
    pub state: LinkState,
    /// Hash of the chunk's text when it was linked; `None`: imported without one.
    pub text_sha256: Option<Sha256>,
    /// The source of the chunk when it was linked.
    pub source: Option<String>,
    /// Its file when it was linked, below the source's folder; `None` if unknown.
    pub rel_path: Option<String>,
    /// The headings above it when it was linked, in canonical form; `None` if unknown.
    pub heading_path: Option<String>,
    /// The chunk that `repair` would link to instead: the same text elsewhere, or, for a changed
    /// one, the current text under the same headings.
    pub now: Option<ChunkKey>,
}

/// The memories with the state of each link.
pub fn judge(rows: Vec<MemoryRow>, index: Option<&IndexReader>) -> Result<Vec<MemoryItem>> {
    let known = Known::gather(&rows, index)?;
    rows.into_iter()
        .map(|row| {
            let evidence = row
                .links
                .iter()
                .map(|link| known.state(link))
                .collect::<Result<Vec<_>>>()?;
            Ok(MemoryItem {
                memory_id: row.id,
                kind: row.kind,
                content: row.content,
                source: row.source,
                created_at: row.created_at,
                updated_at: row.updated_at,
                chunk_keys: row.links.into_iter().map(|link| link.chunk_key).collect(),
                evidence,
            })
        })
        .collect()
}

/// The index's data for all links: one scan, however many links have moved.
struct Known<'a> {
    index: Option<&'a IndexReader>,
    present: HashSet<String>,
    by_text: HashMap<Sha256, Vec<ChunkRecord>>,
}

impl<'a> Known<'a> {
    fn gather(rows: &[MemoryRow], index: Option<&'a IndexReader>) -> Result<Self> {
        let mut known = Self {
            index,
            present: HashSet::new(),
            by_text: HashMap::new(),
        };
        let Some(index) = index else { return Ok(known) };
        let mut lost = HashSet::new();
        for link in rows.iter().flat_map(|row| &row.links) {
            let found = match link.chunk_key.parse::<ChunkKey>() {
                Ok(key) => index.chunk_by_key(&key)?,
                Err(_) => None,
            };
            if found
                .is_some_and(|chunk| link.text_sha256.is_none_or(|sha| sha == chunk.text_sha256))
            {
                known.present.insert(link.chunk_key.clone());
            } else if let Some(sha) = link.text_sha256 {
                lost.insert(sha);
            }
        }
        for chunk in index.chunks_with_text(&lost)? {
            known
                .by_text
                .entry(chunk.text_sha256)
                .or_default()
                .push(chunk);
        }
        Ok(known)
    }

    fn state(&self, link: &MemoryLink) -> Result<Link> {
        let (state, now) = self.find(link)?;
        Ok(Link {
            chunk_key: link.chunk_key.clone(),
            state,
            text_sha256: link.text_sha256,
            source: link.source.clone(),
            rel_path: link.path.clone(),
            heading_path: link.heading.clone(),
            now: now.map(|chunk| chunk.key),
        })
    }

    fn find(&self, link: &MemoryLink) -> Result<(LinkState, Option<ChunkRecord>)> {
        let Some(index) = self.index else {
            return Ok((LinkState::Unknown, None));
        };
        if self.present.contains(&link.chunk_key) {
            return Ok((LinkState::Intact, None));
        }
        let Some(sha) = link.text_sha256 else {
            return Ok((LinkState::Unknown, None));
        };
        if let Some(chunks) = self.by_text.get(&sha) {
            let best = chunks
                .iter()
                .find(|chunk| is_same_file(link, chunk))
                .or_else(|| chunks.first());
            return Ok((LinkState::Moved, best.cloned()));
        }
        let place = link.source.as_deref().zip(link.path.as_deref());
        let place = place.and_then(|(source, path)| {
            Some((SourceName::new(source).ok()?, RelPath::new(path).ok()?))
        });
        let document = match place {
            Some((source, path)) => index.document(&source, &path)?,
            None => None,
        };
        let Some((document, _)) = document else {
            return Ok((LinkState::Gone, None));
        };
        // The current text under the same headings, if it is a single chunk.
        let heading = link.heading.as_deref().unwrap_or("");
        let mut under = index.chunks_under(document, heading)?;
        let only = if under.len() == 1 { under.pop() } else { None };
        Ok((LinkState::Changed, only))
    }
}

/// Whether the chunk is in the file that the link names.
fn is_same_file(link: &MemoryLink, chunk: &ChunkRecord) -> bool {
    link.source.as_deref() == Some(chunk.source.as_str())
        && link.path.as_deref() == Some(chunk.path.as_str())
}

/// Options of a repair. Links whose text only moved are always repaired.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mend {
    /// Relink a changed link to the current text under the same headings.
    pub accept_changed: bool,
    /// Remove broken links: those that are changed, gone or unknown.
    pub drop: bool,
    /// Change nothing.
    pub dry_run: bool,
}

/// The result for one link that was not intact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Mended {
    /// The memory that the link belongs to.
    pub memory_id: String,
    /// The key of the chunk before the repair.
    pub chunk_key: String,
    /// The state of the link before the repair.
    pub state: LinkState,
    /// `relinked`, `dropped` or `left`.
    pub action: &'static str,
    /// The new key of a relinked link.
    pub now: Option<ChunkKey>,
    /// Why the link was left.
    pub why: Option<&'static str>,
}

/// Repairs links in one transaction. A link whose text moved is relinked to the new location.
pub fn repair(durable: &Path, index: &IndexReader, mend: Mend) -> Result<Vec<Mended>> {
    let rows = super::all(durable)?;
    let known = Known::gather(&rows, Some(index))?;
    let (mut out, mut changes) = (Vec::new(), Vec::new());
    for row in &rows {
        let mut left = row.links.len();
        for link in &row.links {
            let (state, now) = known.find(link)?;
            let relink = match state {
                LinkState::Intact => continue,
                LinkState::Moved => true,
                LinkState::Changed => mend.accept_changed,
                LinkState::Gone | LinkState::Unknown => false,
            };
            let (action, why, to) = match now.filter(|_| relink) {
                Some(chunk) => ("relinked", None, Some(chunk)),
                None if mend.drop && row.source == DERIVED && left == 1 => (
                    "left",
                    Some("a conclusion keeps at least one link; `memory delete` forgets it"),
                    None,
                ),
                None if mend.drop => ("dropped", None, None),
                None => ("left", Some(reason(state)), None),
            };
            if action == "dropped" {
                left -= 1;
            }
            if action != "left" {
                changes.push((
                    row.id.clone(),
                    link.chunk_key.clone(),
                    to.as_ref().map(link_to),
                ));
            }
            let (memory_id, chunk_key) = (row.id.clone(), link.chunk_key.clone());
            out.push(Mended {
                memory_id,
                chunk_key,
                state,
                action,
                now: to.map(|chunk| chunk.key),
                why,
            });
        }
    }
    if !changes.is_empty() && !mend.dry_run {
        Durable::open_write(durable)?.relink(&changes)?;
    }
    Ok(out)
}

const fn reason(state: LinkState) -> &'static str {
    match state {
        LinkState::Changed => {
            "the text changed; read it, then --accept-changed links to the current text"
        }
        LinkState::Gone => "text and file are gone; when they come back, it is intact again",
        _ => "it was imported without a hash, so nobody can say where its text is",
    }
}
