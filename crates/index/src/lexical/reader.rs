//! Opens the projection for searching. Writes and creates nothing.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tantivy::columnar::ColumnValues;
use tantivy::directory::error::OpenReadError;
use tantivy::{Index, ReloadPolicy, SegmentReader, TantivyError, Term};

use super::directory::COMMIT_FILE;
use super::directory::ProjectionDirectory;
use super::replace::beside;
use super::schema::{Fields, mark, schema};
use super::scores::ScoreBuffers;
use super::weights::WEIGHTS;
use super::writer::read_stamp;
use super::{LexicalStamp, corrupt, failure, guarded};
use crate::ids::{ChunkId, DocumentId, RowId as _};
use local_agent_text::error::Result;
use local_agent_text::language::Language;
use local_agent_text::types::{ChunkKey, CommitId};

/// How often a reader retries opening files that a writer has just merged away.
const ATTEMPTS: u32 = 5;

/// A fixed view of the projection at one commit.
pub struct Reader {
    pub(super) fields: Fields,
    pub(super) segments: Vec<LexicalSegment>,
    pub(super) totals: LexicalTotals,
    /// Languages in Latin script, besides English, of the documents.
    pub(super) languages: Vec<Language>,
    stamp: Option<LexicalStamp>,
    dir: PathBuf,
}

/// One segment with the data that scoring needs for every posting.
pub(super) struct LexicalSegment {
    pub(super) reader: SegmentReader,
    /// See [`Fields::back`].
    pub(super) back: Vec<u32>,
    /// Length normalisation of each entry: 1 at average length.
    pub(super) norm: Vec<f32>,
    doc_id: Arc<dyn ColumnValues<i64>>,
    chunk_id: Arc<dyn ColumnValues<i64>>,
    key: [Arc<dyn ColumnValues<u64>>; 2],
    /// Buffers of searches that ended.
    idle_buffers: Mutex<Vec<ScoreBuffers>>,
}

/// Totals over all live entries.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LexicalTotals {
    pub(super) docs: u64,
    pub(super) chunks: u64,
    pub(super) doc_length: u64,
    pub(super) chunk_length: u64,
}

impl Reader {
    /// Opens the projection in `dir`; `None` if it does not exist. Fails with `DB_CORRUPT` if it is
    /// damaged or not ours.
    pub fn open(dir: &Path) -> Result<Option<Self>> {
        guarded(|| {
            let opened = retried(|| Self::try_open(dir))?;
            opened.map(Self::check).transpose()
        })
    }

    /// Like [`Self::open`], for a reader of the index at `commit`. If a projection of that commit
    /// is about to be swapped in, it is preferred to one of another commit. The result may still be
    /// of another commit.
    pub fn open_for(dir: &Path, commit: Option<CommitId>) -> Result<Option<Self>> {
        let begun = state(dir);
        let mut opened = Self::open(dir);
        if !is_of_commit(commit, &opened) {
            let new = Self::open(&beside(dir));
            if is_of_commit(commit, &new) {
                return new;
            }
            // The new projection was swapped in between the two checks.
            if state(dir) != begun {
                opened = Self::open(dir);
            }
        }
        opened
    }

    fn try_open(dir: &Path) -> std::result::Result<Option<Self>, Attempt> {
        let Some(index) = open_index(dir)? else {
            return Ok(None);
        };
        let (expected, fields) = schema();
        if index.schema() != expected {
            return Err(Attempt::Failed(TantivyError::SchemaError(
                "other fields than this version writes".into(),
            )));
        }
        // The stamp and the segments must be from one commit: if another commit came in between,
        // open again.
        let stamp = read_stamp(&index).ok().flatten();
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        if read_stamp(&index).ok().flatten() != stamp {
            return Err(Attempt::Vanished);
        }
        // tantivy treats a positions file that it cannot open as empty; if a merge deleted it
        // between two opens, the first search would report damage.
        let searcher = reader.searcher();
        if !searcher
            .segment_readers()
            .iter()
            .all(|segment| has_all_fields(&expected, segment))
        {
            return Err(Attempt::Vanished);
        }
        let segments = searcher
            .segment_readers()
            .iter()
            .map(|reader| LexicalSegment::open(reader.clone()))
            .collect::<tantivy::Result<Vec<_>>>()?;
        let mut languages = Vec::new();
        for language in Language::with_local_stems() {
            let mark = Term::from_field_text(fields.local, &mark(language));
            let mut held = false;
            for (segment, _) in &segments {
                held |= segment
                    .reader
                    .inverted_index(fields.local)?
                    .doc_freq(&mark)?
                    > 0;
            }
            languages.extend(held.then_some(language));
        }
        let totals = segments
            .iter()
            .fold(LexicalTotals::default(), |sum, (segment, length)| {
                sum.with(segment, length)
            });
        let segments = segments
            .into_iter()
            .map(|(segment, length)| segment.with_norms(&length, &totals))
            .collect();
        Ok(Some(Self {
            fields,
            segments,
            totals,
            languages,
            stamp,
            dir: dir.to_owned(),
        }))
    }

    /// Checks what scoring relies on: the entry of a document precedes the entries of its chunks in
    /// the same segment.
    fn check(self) -> Result<Self> {
        let sound = self.segments.iter().all(|segment| {
            segment.back.iter().zip(0u32..).all(|(&back, at)| {
                at.checked_sub(back)
                    .is_some_and(|doc| segment.back.get(doc as usize) == Some(&0))
            })
        });
        if sound {
            Ok(self)
        } else {
            Err(corrupt("a chunk has no document"))
        }
    }

    /// The state from which the last commit was made; `None` if the payload is not ours.
    pub fn stamp(&self) -> Option<LexicalStamp> {
        self.stamp
    }

    /// The number of documents.
    pub fn doc_count(&self) -> u64 {
        self.totals.docs
    }

    /// The number of chunks.
    pub fn chunk_count(&self) -> u64 {
        self.totals.chunks
    }

    /// Row id and key of every chunk, in no particular order.
    pub fn chunk_keys(&self) -> Result<Vec<(ChunkId, ChunkKey)>> {
        guarded(|| Ok(self.segments.iter().flat_map(keys_of).collect()))
    }

    /// Reads every file of the latest commit and compares its checksum; returns the names of the
    /// damaged ones.
    pub fn damaged_files(&self) -> Result<Vec<String>> {
        guarded(|| {
            let damaged = retried(|| match open_index(&self.dir)? {
                Some(index) => Ok(index.validate_checksum()?),
                None => Err(Attempt::Vanished),
            })?;
            let mut names: Vec<_> = damaged
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            names.sort();
            Ok(names)
        })
    }
}

/// Whether the projection was made from this commit.
fn is_of_commit(commit: Option<CommitId>, opened: &Result<Option<Reader>>) -> bool {
    let stamp = opened
        .as_ref()
        .ok()
        .and_then(|reader| reader.as_ref())
        .and_then(Reader::stamp);
    commit.is_some() && stamp.map(|stamp| stamp.index_commit) == commit
}

/// The ids and keys of the chunks of a segment.
fn keys_of(segment: &LexicalSegment) -> Vec<(ChunkId, ChunkKey)> {
    let chunks = segment.alive().filter(|at| segment.is_chunk(*at));
    chunks
        .map(|at| (segment.chunk_id(at), segment.key(at)))
        .collect()
}

/// Whether every field of the schema can be read in the segment.
fn has_all_fields(expected: &tantivy::schema::Schema, segment: &SegmentReader) -> bool {
    expected
        .fields()
        .all(|(field, entry)| !entry.is_indexed() || segment.inverted_index(field).is_ok())
}

/// A value that changes when another projection is swapped in.
fn state(dir: &Path) -> Option<(std::time::SystemTime, u64)> {
    let meta = std::fs::metadata(dir.join(COMMIT_FILE)).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

/// The tantivy index in `dir`, with the files of its latest commit; `None` if it does not exist.
fn open_index(dir: &Path) -> std::result::Result<Option<Index>, Attempt> {
    let Some(directory) = ProjectionDirectory::open_read(dir)? else {
        return Ok(None);
    };
    if !Index::exists(&directory)? {
        return Ok(None);
    }
    Ok(Some(Index::open(directory)?))
}

/// Repeats `attempt` if a writer removed files while they were being opened.
fn retried<T>(mut attempt: impl FnMut() -> std::result::Result<T, Attempt>) -> Result<T> {
    for failed in 1..ATTEMPTS {
        match attempt() {
            Err(Attempt::Vanished) => {
                std::thread::sleep(Duration::from_millis(u64::from(failed)));
            }
            Err(Attempt::Failed(error)) => return Err(failure(&error)),
            Ok(done) => return Ok(done),
        }
    }
    attempt().map_err(|last| match last {
        Attempt::Vanished => corrupt("files that it names are missing"),
        Attempt::Failed(error) => failure(&error),
    })
}

/// Why opening failed.
enum Attempt {
    /// A file, or the whole folder, was replaced while it was opened.
    Vanished,
    Failed(TantivyError),
}

impl<E: Into<TantivyError>> From<E> for Attempt {
    fn from(error: E) -> Self {
        match error.into() {
            TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_)) => Self::Vanished,
            TantivyError::IoError(io) if io.kind() == std::io::ErrorKind::NotFound => {
                Self::Vanished
            }
            error => Self::Failed(error),
        }
    }
}

impl LexicalSegment {
    /// Buffers that a search may take, and give back.
    pub(super) fn idle_buffers(&self) -> MutexGuard<'_, Vec<ScoreBuffers>> {
        self.idle_buffers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the segment; returns it with the length of each entry (see [`Fields::length`]).
    fn open(reader: SegmentReader) -> tantivy::Result<(Self, Vec<u32>)> {
        let fast = reader.fast_fields();
        let u64s = |name| Ok::<_, TantivyError>(fast.u64(name)?.first_or_default_col(0));
        let i64s = |name| Ok::<_, TantivyError>(fast.i64(name)?.first_or_default_col(0));
        let entries = reader.max_doc();
        let length = all_values(entries, u64s("length")?);
        let segment = Self {
            back: all_values(entries, u64s("back")?),
            norm: Vec::new(),
            doc_id: i64s("doc_id")?,
            chunk_id: i64s("chunk_id")?,
            key: [u64s("key_first")?, u64s("key_last")?],
            idle_buffers: Mutex::default(),
            reader,
        };
        Ok((segment, length))
    }

    /// BM25's `1 − b + b · length / average`, computed once per entry.
    fn with_norms(mut self, length: &[u32], totals: &LexicalTotals) -> Self {
        let of_docs = average_length(totals.doc_length, totals.docs);
        let of_chunks = average_length(totals.chunk_length, totals.chunks);
        self.norm = length
            .iter()
            .zip(&self.back)
            .map(|(length, back)| norm_of(of_docs, of_chunks, (length, back)))
            .collect();
        self
    }

    /// Entries that were not removed.
    pub(super) fn alive(&self) -> impl Iterator<Item = u32> + '_ {
        self.reader.doc_ids_alive()
    }

    pub(super) fn is_chunk(&self, at: u32) -> bool {
        self.back.get(at as usize).is_some_and(|back| *back > 0)
    }

    pub(super) fn doc_id(&self, at: u32) -> DocumentId {
        DocumentId::from_row(self.doc_id.get_val(at))
    }

    pub(super) fn chunk_id(&self, at: u32) -> ChunkId {
        ChunkId::from_row(self.chunk_id.get_val(at))
    }

    pub(super) fn key(&self, at: u32) -> ChunkKey {
        let [first, last] = self
            .key
            .each_ref()
            .map(|half| half.get_val(at).to_be_bytes());
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&first);
        bytes[8..].copy_from_slice(&last);
        ChunkKey::from_bytes(bytes)
    }
}

/// The divisor of an entry's frequencies, which makes long texts count less.
fn norm_of(of_docs: f32, of_chunks: f32, (length, back): (&u32, &u32)) -> f32 {
    let average = if *back > 0 { of_chunks } else { of_docs };
    1.0 - WEIGHTS.b + WEIGHTS.b * *length as f32 / average
}

/// The mean length of `count` texts; at least 1.
fn average_length(sum: u64, count: u64) -> f32 {
    (sum as f32 / count.max(1) as f32).max(1.0)
}

/// Every value of a column as 32 bits; a larger value becomes the maximum.
fn all_values(entries: u32, column: Arc<dyn ColumnValues<u64>>) -> Vec<u32> {
    let mut values = vec![0; entries as usize];
    column.get_range(0, &mut values);
    values
        .into_iter()
        .map(|value| u32::try_from(value).unwrap_or(u32::MAX))
        .collect()
}

impl LexicalTotals {
    fn with(mut self, segment: &LexicalSegment, length: &[u32]) -> Self {
        for at in segment.alive() {
            let length = length.get(at as usize).copied().map_or(0, u64::from);
            if segment.is_chunk(at) {
                self.chunks += 1;
                self.chunk_length += length;
            } else {
                self.docs += 1;
                self.doc_length += length;
            }
        }
        self
    }
}
