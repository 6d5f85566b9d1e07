//! Collects the notes that a search found, with the current content of their files.

use std::collections::HashMap;
use std::ops::Range;

use super::extractive::{Lookup, MoreNotes, NoteSource};
use local_agent_files::sandbox::{Address, Sandbox};
use local_agent_index::ids::{DocumentId, IdSet};
use local_agent_index::lexical::{self, Filter, Query};
use local_agent_index::retrieval::{Engine, Fusion, Hit, Mode, Request, Scope};
use local_agent_index::store::DocumentCondition;
use local_agent_text::error::{Failure, Result};
use local_agent_text::types::{RelPath, SourceName};

/// Maximum number of notes that are read for one question.
const MOST_NOTES: usize = 14;

/// Maximum number of notes that a name or a day may add.
const MOST_ADDED: usize = 4;
const MOST_OF_DAYS: usize = 31;
const MOST_LISTED: usize = 500;

/// The stores in which notes are searched.
pub(super) struct OpenStores<'a> {
    pub engine: &'a Engine,
    pub sandbox: &'a Sandbox,
    pub scope: &'a Scope,
    /// Whether whoever asks may see every document of the index.
    pub sees_all: bool,
}

impl OpenStores<'_> {
    /// The notes of `hits`, each with the places of its hits, in the order of their best hits. A
    /// file that cannot be read is left out; packing reports it.
    ///
    /// # Errors
    /// Those of the index.
    pub(super) fn notes(&self, hits: &[Hit]) -> Result<Vec<NoteSource>> {
        let best = hits.iter().map(|hit| hit.score).fold(0.0, f32::max);
        let mut out: Vec<NoteSource> = Vec::new();
        for hit in hits {
            let chunk = &hit.chunk;
            let at = out
                .iter()
                .position(|n| n.source == chunk.source && n.path == chunk.path);
            let at = match at {
                Some(at) => at,
                None if out.len() >= MOST_NOTES => continue,
                None => match self.read(&chunk.source, &chunk.path)? {
                    Some(note) => {
                        out.push(note);
                        out.len() - 1
                    }
                    None => continue,
                },
            };
            if let Some(note) = out.get_mut(at)
                && let Some(place) = place_of(&note.text, hit)
            {
                let score = if best > 0.0 { hit.score / best } else { 0.0 };
                note.hits.push((place, score.clamp(0.0, 1.0)));
            }
        }
        Ok(out)
    }

    /// The notes that a first answer leads to.
    ///
    /// # Errors
    /// Those of the index.
    pub(super) fn more(&self, lookup: &Lookup<'_>) -> Result<MoreNotes> {
        let notes = match lookup {
            Lookup::Named(name) => self.named(name)?,
            Lookup::InPath(parts) => self.in_path(parts)?,
            Lookup::WithTasks => return self.with_tasks(),
            Lookup::Tagged(tag) => return self.tagged(tag),
            Lookup::InFolder(stem, most) => return self.in_folder(stem, *most),
            Lookup::MostLinked(most) => return self.most_linked(*most),
        };
        let all = notes.len();
        Ok(MoreNotes { notes, all })
    }

    fn named(&self, name: &str) -> Result<Vec<NoteSource>> {
        let query = Query::plain(name);
        let request = Request {
            query: &query,
            mode: Mode::Lexical,
            scope: self.scope.clone(),
            limit: MOST_ADDED,
            fusion: Fusion::Convex,
            vector_weight: Some(0.0),
        };
        let found = self.engine.search_documents(&request, || {
            Err(Failure::internal("a search for a name asked for a vector"))
        })?;
        let mut notes = self.notes(&found.hits)?;
        // The search for the question itself did not find them, so they have no score.
        for note in &mut notes {
            note.hits.clear();
        }
        Ok(notes)
    }

    /// The notes whose path contains one of `parts`, if the question covers all notes.
    fn in_path(&self, parts: &[String]) -> Result<Vec<NoteSource>> {
        if self.is_limited() || parts.is_empty() {
            return Ok(Vec::new());
        }
        let index = self.engine.index();
        let mut documents: Vec<DocumentId> = Vec::new();
        for part in parts {
            let ids = index.documents_where(&[DocumentCondition::PathContains(part)])?;
            documents.extend(ids.iter());
        }
        documents.dedup();
        let mut out = Vec::new();
        for document in documents.into_iter().take(MOST_OF_DAYS) {
            if let Some(chunk) = index.chunk_at(document, 0)? {
                out.extend(self.read(&chunk.source, &chunk.path)?);
            }
        }
        Ok(out)
    }

    /// The notes with tasks that the question covers, at most [`MOST_LISTED`].
    fn with_tasks(&self) -> Result<MoreNotes> {
        let index = self.engine.index();
        let allowed = self.engine.allowed(self.scope)?;
        let documents = index.documents_where(&[DocumentCondition::HasTask])?;
        let documents = documents.iter();
        let documents = documents.filter(|id| allowed.as_ref().is_none_or(|ids| ids.contains(*id)));
        self.listed(documents.collect())
    }

    /// The notes with a tag, or one below it, that the question covers, at most [`MOST_LISTED`].
    fn tagged(&self, tag: &str) -> Result<MoreNotes> {
        let mut scope = self.scope.clone();
        scope.filters.push(Filter {
            key: "tag".to_owned(),
            value: tag.to_owned(),
            negated: false,
        });
        let documents = self.engine.allowed(&scope)?;
        self.listed(documents.iter().flat_map(IdSet::iter).collect())
    }

    /// The notes that the question covers in folders, or below them, whose name has one stem, this
    /// one; by source and path, at most `most`.
    fn in_folder(&self, stem: &str, most: usize) -> Result<MoreNotes> {
        let mut known: HashMap<String, bool> = HashMap::new();
        let mut documents = Vec::new();
        for note in self.engine.index().notes()? {
            let Some((folder, _)) = note.path.rsplit_once('/') else {
                continue;
            };
            let is_named = match known.get(folder) {
                Some(is_named) => *is_named,
                None => {
                    let is_named = folder.split('/').any(|name| has_stem(name, stem));
                    known.insert(folder.to_owned(), is_named);
                    is_named
                }
            };
            if is_named {
                documents.push(note.id);
            }
        }
        self.first(documents, most)
    }

    /// The notes that the question covers to which most others link, at most `most`. If some documents
    /// must not be seen, their links would tell of them: then these are the first notes by path.
    fn most_linked(&self, most: usize) -> Result<MoreNotes> {
        let index = self.engine.index();
        let documents = match self.sees_all {
            true => index.documents_by_links()?,
            false => index.notes()?.iter().map(|note| note.id).collect(),
        };
        self.first(documents, most)
    }

    /// The first `most` of these documents that the question covers and that can be read, and how many
    /// it covers. If some documents must not be seen, their number would tell of them: then only those
    /// that were read are counted.
    fn first(&self, documents: Vec<DocumentId>, most: usize) -> Result<MoreNotes> {
        let index = self.engine.index();
        let allowed = self.engine.allowed(self.scope)?;
        let covered = |id: &DocumentId| allowed.as_ref().is_none_or(|ids| ids.contains(*id));
        let documents: Vec<DocumentId> = documents.into_iter().filter(covered).collect();
        let mut notes = Vec::new();
        for document in &documents {
            if notes.len() == most {
                break;
            }
            if let Some(chunk) = index.chunk_at(*document, 0)? {
                notes.extend(self.read(&chunk.source, &chunk.path)?);
            }
        }
        let all = match self.sees_all {
            true => documents.len(),
            false => notes.len(),
        };
        Ok(MoreNotes { notes, all })
    }

    /// The first [`MOST_LISTED`] documents, and their number. A file that cannot be read is neither
    /// among them nor counted.
    fn listed(&self, documents: Vec<DocumentId>) -> Result<MoreNotes> {
        let index = self.engine.index();
        let mut found = MoreNotes {
            notes: Vec::new(),
            all: documents.len().saturating_sub(MOST_LISTED),
        };
        for document in documents.into_iter().take(MOST_LISTED) {
            if let Some(chunk) = index.chunk_at(document, 0)? {
                found.notes.extend(self.read(&chunk.source, &chunk.path)?);
            }
        }
        found.all += found.notes.len();
        Ok(found)
    }

    /// Whether the question is limited to some notes.
    fn is_limited(&self) -> bool {
        let scope = self.scope;
        !scope.sources.is_empty() || scope.path_prefix.is_some() || !scope.filters.is_empty()
    }

    fn read(&self, source: &SourceName, path: &RelPath) -> Result<Option<NoteSource>> {
        let at = Address {
            source: source.clone(),
            path: path.clone(),
        };
        let Ok(file) = self.sandbox.read(&at) else {
            return Ok(None);
        };
        let Ok(text) = String::from_utf8(file.bytes) else {
            return Ok(None);
        };
        let same = self
            .engine
            .index()
            .documents_where(&[DocumentCondition::HasPath(path)])?;
        Ok(Some(NoteSource {
            source: source.clone(),
            path: path.clone(),
            path_is_shared: same.len() > 1,
            text,
            hits: Vec::new(),
        }))
    }
}

/// Whether the name of a folder is one word with this stem.
fn has_stem(name: &str, stem: &str) -> bool {
    lexical::terms(name).iter().eq([stem])
}

/// The current position of a chunk's text in its file; `None` if the file no longer contains it.
fn place_of(text: &str, hit: &Hit) -> Option<Range<usize>> {
    let (start, end) = (hit.chunk.span.start(), hit.chunk.span.end());
    if text.get(start..end) == Some(hit.chunk.text.as_str()) {
        return Some(start..end);
    }
    let at = text.find(&hit.chunk.text)?;
    Some(at..at + hit.chunk.text.len())
}
