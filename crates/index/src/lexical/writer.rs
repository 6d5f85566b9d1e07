//! Writes the projection. One writer at a time; the caller holds `index.lock`.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::index::SegmentId;
use tantivy::indexer::{NoMergePolicy, UserOperation};
use tantivy::schema::{Field, TantivyDocument};
use tantivy::{Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, TantivyError, Term};

use super::directory::ProjectionDirectory;
use super::encode::{Encoded, Encoder};
use super::pending::{Pending, Queue};
use super::schema::{Fields, mark, schema, tokenizers};
use super::{ChunkEntry, DocEntry, LexicalStamp, failure};
use crate::ids::{ChunkId, DocumentId, RowId as _};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::language::Language;
use local_agent_text::language::detect::detect_parts;

/// tantivy requires at least this much memory per thread.
const MIN_BYTES_A_THREAD: usize = 15_000_000;
const MAX_BYTES_A_THREAD: usize = 2_000_000_000;

/// Maximum number of large segments, and of small ones, after a commit. Each segment costs a reader
/// a few file maps.
const MAX_SEGMENTS: usize = 4;

/// A segment is small if it has at most one in this many of all entries. Small ones are merged with
/// each other, so that one changed file does not rewrite everything.
const SMALL: u64 = 16;

/// Adds and removes documents; readers see nothing before [`LexicalWriter::commit`].
pub struct LexicalWriter {
    inner: IndexWriter<Pending>,
    queue: Arc<Queue>,
    fields: Fields,
    stamp: Option<LexicalStamp>,
    directory: ProjectionDirectory,
    /// Encoders that no thread is using.
    encoders: Mutex<Vec<Encoder>>,
}

impl LexicalWriter {
    /// Opens the projection in the folder `dir`, which is created if it does not exist.
    /// `memory_bytes` is shared by the `threads`; both are adjusted to what is possible.
    ///
    /// A projection that is damaged or was written with other fields is deleted and started again:
    /// then [`LexicalWriter::stamp`] is `None`, and every document must be added.
    pub fn open(dir: &Path, memory_bytes: usize, threads: usize) -> Result<Self> {
        let directory =
            ProjectionDirectory::open_write(dir).map_err(|error| cannot_write(dir, &error))?;
        directory.remove_unfinished();
        let (schema, fields) = schema();
        let existing = super::guarded(|| {
            if directory
                .names_foreign_files()
                .map_err(|error| cannot_write(dir, &error))?
            {
                return Err(super::corrupt("it names files that are not its own"));
            }
            let index = Index::open(directory.clone()).map_err(|error| failure(&error))?;
            // Deletions are written into segments, so an unreadable segment would cause a failure
            // later.
            let _: IndexReader = index
                .reader_builder()
                .reload_policy(ReloadPolicy::Manual)
                .try_into()
                .map_err(|error| failure(&error))?;
            Ok(index)
        });
        let mut index = match existing {
            Ok(index) if index.schema() == schema => index,
            Err(error)
                if matches!(
                    error.code,
                    ErrorCode::Locked
                        | ErrorCode::DbError
                        | ErrorCode::WriteError
                        | ErrorCode::ConfigUntrusted
                ) =>
            {
                return Err(error);
            }
            Ok(_) | Err(_) => {
                directory
                    .discard()
                    .map_err(|error| cannot_write(dir, &error))?;
                Index::create(directory.clone(), schema, IndexSettings::default())
                    .map_err(|error| blame(&directory, &error))?
            }
        };
        index.set_tokenizers(tokenizers());
        let stamp = read_stamp(&index)?;
        let threads = threads.clamp(1, (memory_bytes / MIN_BYTES_A_THREAD).clamp(1, 8));
        let memory = memory_bytes.clamp(threads * MIN_BYTES_A_THREAD, threads * MAX_BYTES_A_THREAD);
        let inner: IndexWriter<Pending> = index
            .writer_with_num_threads(threads, memory)
            .map_err(|error| blame(&directory, &error))?;
        inner.set_merge_policy(Box::new(NoMergePolicy));
        // Removes what a killed run wrote without committing.
        inner
            .garbage_collect_files()
            .wait()
            .map_err(|error| blame(&directory, &error))?;
        Ok(Self {
            directory,
            inner,
            queue: Arc::default(),
            fields,
            stamp,
            encoders: Mutex::default(),
        })
    }

    /// The state from which the last commit was made.
    pub fn stamp(&self) -> Option<LexicalStamp> {
        self.stamp
    }

    /// Adds a document and its chunks, from any number of threads. An older version under the same
    /// `doc_id` stays until [`LexicalWriter::remove_doc`], which must be called first.
    pub fn add(&self, entry: &DocEntry<'_>) -> Result<()> {
        let mut encoder = self
            .encoders
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
            .unwrap_or_default();
        let documents = encode(&self.fields, entry, &mut encoder);
        self.encoders
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(encoder);
        let mut pending: Vec<_> = documents
            .into_iter()
            .map(|document| Pending {
                document,
                place: None,
            })
            .collect();
        if let Some(last) = pending.last_mut() {
            last.place = Some(
                self.queue
                    .enter(entry.chunks.iter().map(|chunk| chunk.text.len()).sum()),
            );
        }
        // The documents of one batch go into one segment in order: a document is directly before
        // its chunks.
        let operations: Vec<_> = pending.into_iter().map(UserOperation::Add).collect();
        self.inner
            .run(operations)
            .map(drop)
            .map_err(|error| blame(&self.directory, &error))
    }

    /// Removes a document and its chunks; unknown ids are not an error.
    ///
    /// `&mut` prevents additions at the same time. tantivy expects removals in the order of their
    /// numbers, but threads that remove and add concurrently queue them in a different order: a
    /// late removal deletes documents that were added after it.
    pub fn remove_doc(&mut self, doc_id: DocumentId) {
        self.inner.delete_term(self.doc_term(doc_id));
    }

    /// Removes everything, including what was added since the last commit.
    pub fn clear(&mut self) -> Result<()> {
        self.inner
            .rollback()
            .map_err(|error| blame(&self.directory, &error))?;
        // Rolling back creates another inner writer with tantivy's default policy, which would do
        // the merging that is done here.
        self.inner.set_merge_policy(Box::new(NoMergePolicy));
        self.inner
            .delete_all_documents()
            .map(drop)
            .map_err(|error| blame(&self.directory, &error))
    }

    /// Makes everything visible under `stamp`, durably, and merges small segments. If this fails,
    /// readers still see the previous state.
    pub fn commit(&mut self, stamp: &LexicalStamp) -> Result<()> {
        let payload =
            serde_json::to_string(stamp).map_err(|error| Failure::internal(error.to_string()))?;
        let mut prepared = self
            .inner
            .prepare_commit()
            .map_err(|error| blame(&self.directory, &error))?;
        prepared.set_payload(&payload);
        prepared
            .commit()
            .map_err(|error| blame(&self.directory, &error))?;
        self.stamp = Some(*stamp);
        self.merge()
    }

    fn merge(&mut self) -> Result<()> {
        let chosen = self.to_merge()?;
        if chosen.is_empty() {
            return Ok(());
        }
        self.inner
            .merge(&chosen)
            .wait()
            .map_err(|error| blame(&self.directory, &error))?;
        // Files that a reader still maps may remain; the next commit tries again.
        self.inner
            .garbage_collect_files()
            .wait()
            .map(drop)
            .map_err(|error| blame(&self.directory, &error))
    }

    /// The segments to merge into one. Their metadata is not kept, because it would keep their
    /// files alive.
    fn to_merge(&self) -> Result<Vec<SegmentId>> {
        let segments = self
            .inner
            .index()
            .searchable_segment_metas()
            .map_err(|error| blame(&self.directory, &error))?;
        let sizes: Vec<Size> = segments
            .iter()
            .map(|s| Size {
                alive: s.num_docs(),
                dead: s.num_deleted_docs(),
            })
            .collect();
        Ok(merge_plan(&sizes)
            .into_iter()
            .filter_map(|at| Some(segments.get(at)?.id()))
            .collect())
    }

    fn doc_term(&self, doc_id: DocumentId) -> Term {
        Term::from_field_i64(self.fields.doc_id, doc_id.row())
    }
}

/// Explains a tantivy error after a write that the system may have refused.
fn blame(directory: &ProjectionDirectory, error: &TantivyError) -> Failure {
    match directory.take_refused() {
        Some(refused) => cannot_write(directory.path(), &refused),
        None => failure(error),
    }
}

/// Entries of one segment.
#[derive(Clone, Copy)]
struct Size {
    alive: u32,
    dead: u32,
}

/// The segments to merge into one. If a class has too many, these are its smallest ones, and all
/// others of the class that are not much larger than those together. So an entry is rewritten only
/// a logarithmic number of times. Segments with more than a third dead entries are included.
fn merge_plan(sizes: &[Size]) -> Vec<usize> {
    let all: u64 = sizes.iter().map(|size| u64::from(size.alive)).sum();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|at| sizes[*at].alive);
    let (small, large): (Vec<usize>, Vec<usize>) = order
        .into_iter()
        .partition(|at| u64::from(sizes[*at].alive) * SMALL <= all);
    let mut chosen = Vec::new();
    for class in [small, large] {
        let mut sum = 0;
        for (place, &at) in class.iter().enumerate() {
            let left = class.len() - place;
            let size = sizes[at];
            let decayed = u64::from(size.dead) * 2 > u64::from(size.alive);
            let crowded = class.len() > MAX_SEGMENTS
                && (left + 1 > MAX_SEGMENTS || u64::from(size.alive) <= sum * 2);
            if decayed || crowded {
                chosen.push(at);
                sum += u64::from(size.alive);
            }
        }
    }
    let decay = chosen.iter().any(|at| sizes[*at].dead > 0);
    if chosen.len() > 1 || decay {
        chosen
    } else {
        Vec::new()
    }
}

/// A document's entry followed by its chunks' entries.
fn encode(fields: &Fields, entry: &DocEntry<'_>, encoder: &mut Encoder) -> Vec<TantivyDocument> {
    let language = detect_parts(entry.chunks.iter().map(|chunk| chunk.text))
        .filter(|language| language.has_local_stems());
    let mut entries = EntryEncoder {
        fields,
        doc_id: entry.doc_id,
        language,
        encoder,
        terse: Encoded {
            terse: true,
            ..Encoded::default()
        },
        forms: Encoded::default(),
    };
    let mut documents = Vec::with_capacity(entry.chunks.len() + 1);
    documents.push(TantivyDocument::default());
    let mut total = 0;
    for (back, chunk) in (1..).zip(&entry.chunks) {
        let (document, length) = entries.chunk(back, chunk);
        total += length;
        documents.push(document);
    }
    documents[0] = entries.document(entry, total);
    documents
}

/// Makes the entries of one document; its buffers are used again for every entry.
struct EntryEncoder<'a> {
    fields: &'a Fields,
    doc_id: DocumentId,
    /// The language whose stems are also indexed.
    language: Option<Language>,
    encoder: &'a mut Encoder,
    terse: Encoded,
    forms: Encoded,
}

impl EntryEncoder<'_> {
    /// The entry of a chunk that is `back` places after its document's, and its length in words.
    fn chunk(&mut self, back: u64, chunk: &ChunkEntry<'_>) -> (TantivyDocument, u64) {
        let fields = self.fields;
        let mut document = TantivyDocument::default();
        self.terse.clear();
        self.forms.clear();
        let text = [chunk.text];
        let (terse, encoder) = (&mut self.terse, &mut *self.encoder);
        add(&mut document, fields.stems.text, terse, encoder, &text);
        document.add_text(fields.exact, &self.terse.exact);
        if let Some(language) = self.language {
            let mut locals = String::new();
            self.encoder.locals(language, chunk.text, &mut locals);
            document.add_text(fields.local, &locals);
        }
        let length = self.terse.length;
        // Phrases match headings on the document's entry.
        self.add(&mut document, fields.stems.headings, &[chunk.headings]);
        let key = u128::from_be_bytes(*chunk.key.as_bytes());
        let id = chunk.chunk_id;
        number(&mut document, fields, self.doc_id, id, back, length, key);
        (document, length)
    }

    /// The entry of the document, whose chunks have `length` words together.
    fn document(&mut self, entry: &DocEntry<'_>, length: u64) -> TantivyDocument {
        let fields = self.fields;
        let mut document = TantivyDocument::default();
        if let Some(language) = self.language {
            document.add_text(fields.local, mark(language) + "\n");
        }
        self.forms.clear();
        self.add(&mut document, fields.stems.text, &[entry.outside]);
        let total = length + self.forms.length;
        self.add(&mut document, fields.stems.title, &[entry.title]);
        self.add(&mut document, fields.stems.headings, &[entry.headings]);
        self.add(&mut document, fields.stems.path, &[entry.path]);
        for (field, list) in [
            (fields.stems.aliases, entry.aliases),
            (fields.stems.tags, entry.tags),
            (fields.stems.anchors, entry.anchors),
        ] {
            let list: Vec<&str> = list.iter().map(String::as_str).collect();
            self.add(&mut document, field, &list);
        }
        document.add_text(fields.exact, &self.forms.exact);
        number(
            &mut document,
            fields,
            self.doc_id,
            ChunkId::default(),
            0,
            total,
            0,
        );
        document
    }

    /// Analyses `texts` into a field of stems, and into the exact forms.
    fn add(&mut self, document: &mut TantivyDocument, field: Field, texts: &[&str]) {
        add(document, field, &mut self.forms, self.encoder, texts);
    }
}

/// Analyses `texts` into the stem `field`, and into the exact forms of the entry.
fn add(
    document: &mut TantivyDocument,
    field: Field,
    forms: &mut Encoded,
    encoder: &mut Encoder,
    texts: &[&str],
) {
    forms.stems.clear();
    for text in texts {
        forms.add(encoder, text);
        forms.gap();
    }
    if !forms.stems.is_empty() {
        document.add_text(field, &forms.stems);
    }
}

fn number(
    document: &mut TantivyDocument,
    fields: &Fields,
    doc_id: DocumentId,
    chunk_id: ChunkId,
    back: u64,
    length: u64,
    key: u128,
) {
    document.add_i64(fields.doc_id, doc_id.row());
    document.add_i64(fields.chunk_id, chunk_id.row());
    document.add_u64(fields.back, back);
    document.add_u64(fields.length, length);
    document.add_u64(fields.key[0], (key >> 64) as u64);
    document.add_u64(fields.key[1], key as u64);
}

/// The stamp in the payload of the last commit; `None` if nothing was committed or the payload is
/// not ours.
pub(super) fn read_stamp(index: &Index) -> Result<Option<LexicalStamp>> {
    let meta = index.load_metas().map_err(|error| failure(&error))?;
    Ok(meta
        .payload
        .and_then(|payload| serde_json::from_str(&payload).ok()))
}

pub(super) fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    local_agent_files::state::refusal(error).unwrap_or_else(|| {
        let message = format!(
            "The search index in {} cannot be written: {error}.",
            path.display()
        );
        Failure::new(ErrorCode::WriteError, message).with_hint(super::MAKE_ROOM)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_this_writer_merges_also_after_everything_was_removed() {
        let dir = tempfile::tempdir().unwrap();
        let text = "one two three ".repeat(200);
        for round in 0..6 {
            let mut writer = LexicalWriter::open(dir.path(), 120_000_000, 8).unwrap();
            writer.clear().unwrap();
            assert_eq!(
                format!("{:?}", writer.inner.get_merge_policy()),
                format!("{:?}", Box::new(NoMergePolicy))
            );
            for id in 0..240 {
                let chunk = ChunkEntry {
                    chunk_id: ChunkId::from_row(id),
                    key: key(id),
                    headings: "",
                    text: text.as_str(),
                };
                writer
                    .add(&DocEntry {
                        doc_id: DocumentId::from_row(id),
                        title: "t",
                        chunks: vec![chunk],
                        ..DocEntry::default()
                    })
                    .unwrap();
            }
            let stamp =
                LexicalStamp::new(local_agent_text::types::CommitId::from_bytes([round; 16]));
            writer.commit(&stamp).unwrap();
            let reader = crate::lexical::Reader::open(dir.path()).unwrap().unwrap();
            assert_eq!((reader.doc_count(), reader.stamp()), (240, Some(stamp)));
        }
    }

    fn key(id: i64) -> local_agent_text::types::ChunkKey {
        let mut bytes = [0; 16];
        bytes[8..].copy_from_slice(&id.to_be_bytes());
        local_agent_text::types::ChunkKey::from_bytes(bytes)
    }

    fn sizes(list: &[(u32, u32)]) -> Vec<Size> {
        list.iter()
            .map(|&(alive, dead)| Size { alive, dead })
            .collect()
    }

    #[test]
    fn opening_deletes_only_files_of_a_tantivy_index() {
        let dir = tempfile::tempdir().unwrap();
        let ours = [
            "meta.json",
            ".managed.json",
            "0123456789abcdef0123456789abcdef.idx",
        ];
        let others = [
            "notes.md",
            "meta.json.bak",
            "0123456789abcdef.idx",
            "config.json",
        ];
        for name in ours.iter().chain(&others) {
            std::fs::write(dir.path().join(name), "?").unwrap();
        }
        drop(LexicalWriter::open(dir.path(), 15_000_000, 1).unwrap());
        for name in others {
            assert_eq!(
                std::fs::read(dir.path().join(name)).unwrap(),
                b"?",
                "{name}"
            );
        }
        assert!(!dir.path().join(ours[2]).exists());
    }

    #[test]
    fn few_segments_are_left_alone_and_the_large_one_is_not_rewritten_for_crumbs() {
        assert!(merge_plan(&sizes(&[(1000, 0), (10, 0), (5, 1)])).is_empty());
        let mut plan = merge_plan(&sizes(&[
            (100_000, 0),
            (10, 0),
            (5, 0),
            (7, 0),
            (3, 0),
            (2, 0),
        ]));
        plan.sort_unstable();
        assert_eq!(plan, [1, 2, 3, 4, 5]);
    }

    /// A first index once left four large segments, and the next commit of one file took seconds to
    /// rewrite all of them.
    #[test]
    fn a_small_commit_after_a_first_index_rewrites_nothing_large() {
        let mut list = vec![(40_000, 3); 4];
        let mut written = 0;
        for _ in 0..1_000 {
            list.push((3, 0));
            let plan = merge_plan(&sizes(&list));
            let merged: u32 = plan.iter().map(|at| list[*at].0).sum();
            assert!(merged <= 3_000, "{merged}");
            written += merged;
            if !plan.is_empty() {
                list = list
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| !plan.contains(at))
                    .map(|(_, size)| *size)
                    .collect();
                list.push((merged, 0));
            }
            assert!(list.len() <= 2 * MAX_SEGMENTS);
        }
        // Each of the 3,000 new entries is written at most ten times.
        assert!(written <= 3_000 * 10, "{written}");
    }

    #[test]
    fn a_segment_that_is_mostly_dead_is_rewritten() {
        assert_eq!(merge_plan(&sizes(&[(1000, 0), (10, 90)])), [1]);
    }

    proptest! {
        #[test]
        fn a_merge_leaves_no_more_segments_than_promised(list in prop::collection::vec((0u32..1_000_000, 0u32..1000), 0..40)) {
            let plan = merge_plan(&sizes(&list));
            let left = list.len() - plan.len() + usize::from(!plan.is_empty());
            prop_assert!(left <= 2 * MAX_SEGMENTS, "{left}");
        }
    }
}
