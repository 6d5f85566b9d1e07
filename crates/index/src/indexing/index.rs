//! The `index` job.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rayon::prelude::*;

use super::document::{self, DocumentPlace};
use super::emptied::{self, Was};
use super::{OnProgress, Progress, compare, lexical};
use crate::indexing::Source;
use crate::store::{
    self, Batch, Database, DocumentRow, IndexReader, IndexWriter, JobLock, KnownDocument,
    KnownDocuments,
};
use local_agent_files::sandbox::{Address, Entry, Sandbox, What, Why};
use local_agent_text::documents::Definition;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::markdown::{ChunkOptions, CountTokens};
use local_agent_text::types::{FileStamp, RelPath, Sha256, SkipReason, SourceName};

/// Limits for one publishing transaction, so that memory does not grow with the corpus.
const BATCH_FILES: usize = 2_000;
const BATCH_BYTES: u64 = 4 << 20;

/// The options of a run.
pub struct IndexOptions<'a> {
    /// The sources to scan.
    pub selected: &'a [Source],
    /// Every configured source; documents of other sources are removed when all are selected and
    /// could be read.
    pub configured: &'a [Source],
    /// `index.sqlite`.
    pub db_path: &'a Path,
    /// The lexical projection's folder.
    pub lexical_dir: &'a Path,
    /// How to cut files into chunks.
    pub chunking: ChunkOptions,
    /// The name of that chunking.
    pub chunker_sig: &'a str,
    /// Finds where to cut source code.
    pub definitions: FindDefinitions<'a>,
    /// Hash every file, even if its stamp did not change.
    pub verify: bool,
    /// Rebuild everything next to the current index, which stays in use until then; a foreign
    /// database is first moved aside, with this suffix.
    pub rebuild: Option<&'a str>,
    /// Accept that a source has lost all its files.
    pub allow_empty: bool,
    /// How long to wait for another `index`.
    pub wait: Duration,
    /// The text that other processes see while this job holds the lock.
    pub holder: &'a str,
}

/// A file that is listed but not indexed, or could not be read this time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, schemars::JsonSchema, serde::Serialize)]
pub struct Skipped {
    /// `source:rel/path`.
    pub path: String,
    /// Stable name of the reason.
    pub reason: String,
}

/// The statistics of a run. Field names are those of `index --json`.
#[derive(Debug, Default, schemars::JsonSchema, serde::Serialize)]
pub struct IndexSummary {
    /// Files that the walk found.
    pub docs_scanned: usize,
    /// Files that were opened because their stamp did not prove them unchanged.
    pub docs_read: usize,
    /// Documents that are new or have other bytes.
    pub docs_changed: usize,
    /// Documents with the same bytes as before.
    pub docs_unchanged: usize,
    /// Documents whose file is gone.
    pub docs_pruned: usize,
    /// New chunks.
    pub chunks_written: usize,
    /// Chunks that are in no document any more.
    pub chunks_removed: usize,
    /// Documents in the index now.
    pub total_docs: u64,
    /// Chunks in the index now.
    pub total_chunks: u64,
    /// Files that are not documents, each with the reason.
    pub skipped: Vec<Skipped>,
    /// The number of `errors`.
    pub errors_count: usize,
    /// One sentence for each source or file that could not be read.
    pub errors: Vec<String>,
    /// The same errors with their codes.
    #[serde(skip)]
    pub failures: Vec<Failure>,
    /// The same files as `skipped`, to list each once.
    #[serde(skip)]
    listed: HashSet<Skipped>,
    /// The new path of a foreign database that was moved aside.
    pub moved_aside: Option<PathBuf>,
}

impl IndexSummary {
    /// Records a source that could not be scanned; the others continue.
    fn fail(&mut self, failure: Failure) {
        self.errors.push(failure.message.clone());
        self.failures.push(failure);
    }

    /// Lists a skipped file once: the walk has already listed the ones it refused.
    fn list(&mut self, skipped: Skipped) {
        if self.listed.insert(skipped.clone()) {
            self.skipped.push(skipped);
        }
    }
}

/// Counts the tokens of a text; may be called from any number of threads.
pub type Counter<'a> = Box<dyn Fn(&str) -> usize + Sync + 'a>;

/// Finds the definitions in a source file; none if it cannot be parsed. May be called from any
/// number of threads.
pub type FindDefinitions<'a> = &'a (dyn Fn(&RelPath, &str) -> Vec<Definition> + Sync);

/// Makes the token counter used for chunking.
pub type LoadCounter<'a> = &'a dyn Fn() -> Result<Counter<'a>>;

/// Brings the index and the lexical projection up to date with the files. `load` is called only if
/// a file has to be read: a run without changes loads no tokenizer.
pub fn index(
    options: &IndexOptions<'_>,
    sandbox: &Sandbox,
    load: LoadCounter<'_>,
    on_progress: OnProgress<'_>,
) -> Result<IndexSummary> {
    let lock_path = JobLock::path_beside(options.db_path, "index.lock");
    let _lock = JobLock::take(&lock_path, options.holder, options.wait)?;
    work(options, sandbox, load, on_progress).map_err(|failure| Database::Index.blame(failure))
}

/// The job itself, with the lock held.
fn work(
    options: &IndexOptions<'_>,
    sandbox: &Sandbox,
    load: LoadCounter<'_>,
    on_progress: OnProgress<'_>,
) -> Result<IndexSummary> {
    let mut summary = IndexSummary::default();
    let job = Job {
        options,
        sandbox,
        load,
        counter: OnceCell::new(),
        on_progress,
    };
    store::clear_beside(options.db_path)?;
    let found = store::examine(options.db_path, Database::Index)?;
    if matches!(found, store::FoundDatabase::Newer(_)) {
        store::refuse_unless_ours(options.db_path, Database::Index, &found)?;
    }
    if options.rebuild.is_some() || matches!(found, store::FoundDatabase::Older(_)) {
        lexical::settle(options.db_path, options.lexical_dir)?;
        if let Some(suffix) = options.rebuild
            && matches!(
                found,
                store::FoundDatabase::Foreign(..) | store::FoundDatabase::NotADatabase
            )
        {
            summary.moved_aside = Some(store::move_aside(options.db_path, suffix)?);
        }
        job.rebuild(&mut summary).inspect_err(|_| job.give_up())?;
    } else {
        let mut writer = IndexWriter::open(options.db_path)?;
        lexical::settle(options.db_path, options.lexical_dir)?;
        job.scan_all(&mut writer, None, &mut summary)?;
        let anew = options.verify && lexical::is_damaged(options.lexical_dir);
        job.project(&mut writer, options.db_path, options.lexical_dir, anew)?;
        writer.checkpoint()?;
    }
    if let Some(reader) = IndexReader::open(options.db_path)? {
        let totals = reader.totals()?;
        (summary.total_docs, summary.total_chunks) = (totals.documents, totals.chunks);
    }
    summary.errors_count = summary.errors.len();
    Ok(summary)
}

/// The state of one run.
struct Job<'a, 'l> {
    options: &'a IndexOptions<'a>,
    sandbox: &'a Sandbox,
    load: LoadCounter<'l>,
    /// Made when the first file is read.
    counter: OnceCell<Counter<'l>>,
    on_progress: OnProgress<'a>,
}

/// The index's data on each source before the run.
type Before = HashMap<String, Was>;

impl Job<'_, '_> {
    /// Rebuilds index and projection next to the current ones, which stay readable meanwhile. From
    /// the old index it only reads the number of documents of each source, and only if the index is
    /// sound.
    fn rebuild(&self, summary: &mut IndexSummary) -> Result<()> {
        let IndexOptions {
            db_path,
            lexical_dir,
            ..
        } = *self.options;
        let before = before(db_path);
        let new = store::beside(db_path);
        let mut writer = IndexWriter::open(&new)?;
        self.scan_all(&mut writer, before.as_ref(), summary)?;
        if !summary.failures.is_empty() && before.is_some() {
            // Sources that could not be scanned would be missing.
            drop(writer);
            self.give_up();
            return Ok(());
        }
        self.project(
            &mut writer,
            &new,
            &crate::lexical::beside(lexical_dir),
            true,
        )?;
        drop(writer);
        store::put_in_place(db_path, Database::Index)?;
        crate::lexical::put_in_place(lexical_dir)?;
        Ok(IndexWriter::open(db_path)?.checkpoint()?)
    }

    /// The token counter: made once, for all sources.
    fn counter(&self) -> Result<CountTokens<'_>> {
        if let Some(counter) = self.counter.get() {
            return Ok(&**counter);
        }
        let counter = (self.load)()?;
        Ok(&**self.counter.get_or_init(|| counter))
    }

    /// Removes the unfinished rebuild. Files that cannot be removed now are removed by the next
    /// run.
    fn give_up(&self) {
        let _ = store::clear_beside(self.options.db_path);
        let _ = crate::lexical::clear_beside(self.options.lexical_dir);
    }

    /// Scans all selected sources and writes their documents. `before` is the data of another index
    /// on them.
    fn scan_all(
        &self,
        writer: &mut IndexWriter,
        before: Option<&Before>,
        summary: &mut IndexSummary,
    ) -> Result<()> {
        let options = self.options;
        let roots: Vec<_> = options
            .selected
            .iter()
            .map(|source| source.root.to_string_lossy())
            .collect();
        let rows = options
            .selected
            .iter()
            .zip(&roots)
            .map(|(source, root)| (&source.name, root.as_ref(), source.kind.as_str()));
        let ids = writer.sources(&rows.collect::<Vec<_>>())?;
        for (source, source_id) in options.selected.iter().zip(ids) {
            let was = before
                .and_then(|before| before.get(source.name.as_str()))
                .copied();
            let scanned = Scan::new(options, self.sandbox, (source, source_id), writer, was)
                .and_then(|scan| scan.run(writer, self, summary));
            match scanned {
                Err(failure)
                    if matches!(
                        failure.code,
                        ErrorCode::ConfigError | ErrorCode::SourceEmpty
                    ) =>
                {
                    summary.fail(failure);
                }
                done => done?,
            }
        }
        writer.remember_scans()?;
        // A renamed source that cannot be read keeps its documents under the old name.
        if options.selected.len() == options.configured.len() && summary.failures.is_empty() {
            forget_other_sources(writer, options.configured, summary)?;
        }
        if summary.failures.is_empty() {
            writer.publish_at_least_once()?;
        }
        Ok(writer.settle_chunker_sig(options.chunker_sig)?)
    }

    /// Brings the lexical projection in `lexical_dir` up to date with the index at `db_path`, or
    /// rebuilds it if `anew` is set.
    fn project(
        &self,
        writer: &mut IndexWriter,
        db_path: &Path,
        lexical_dir: &Path,
        anew: bool,
    ) -> Result<()> {
        std::thread::scope(|scope| {
            // One thread waits for the disk while the others have work to do.
            let folding = scope.spawn(|| writer.fold());
            lexical::catch_up(db_path, lexical_dir, anew, self.on_progress)?;
            folding
                .join()
                .map_err(|_| Failure::internal("the thread that folds the log panicked"))??;
            Ok(())
        })
    }
}

/// The data of the index at `db_path` on its sources; `None` if the index is missing or damaged.
fn before(db_path: &Path) -> Option<Before> {
    if store::is_damaged(db_path, Database::Index).unwrap_or(true) {
        return None;
    }
    let reader = IndexReader::open(db_path).ok()??;
    reader
        .sources()
        .ok()?
        .into_iter()
        .map(|held| was_before(&reader, held))
        .collect()
}

/// The name of a source and the index's data on it.
fn was_before(reader: &IndexReader, held: store::SourceRecord) -> Option<(String, Was)> {
    let device = reader.device(&held.name).ok()?;
    let documents = usize::try_from(held.documents).unwrap_or(usize::MAX);
    Some((held.name, Was { documents, device }))
}

fn forget_other_sources(
    writer: &mut IndexWriter,
    configured: &[Source],
    summary: &mut IndexSummary,
) -> Result<()> {
    let names: Vec<SourceName> = configured
        .iter()
        .map(|source| source.name.clone())
        .collect();
    let removed = writer.of_other_sources(&names)?;
    if !removed.is_empty() {
        summary.docs_pruned += removed.len();
        summary.chunks_removed += writer
            .publish(&Batch {
                removed,
                ..Batch::default()
            })?
            .chunks_removed;
    }
    Ok(writer.drop_empty_sources(&names)?)
}

/// One source during a scan.
struct Scan<'a> {
    options: &'a IndexOptions<'a>,
    sandbox: &'a Sandbox,
    source: &'a Source,
    source_id: i64,
    began_ns: i64,
    entries: Vec<Entry>,
    known: KnownDocuments,
    last_scan_ns: i64,
    /// The index's data on the source before this run.
    was: Was,
    /// Whether those data come from another index, which says nothing about single files.
    is_new: bool,
    /// The device of the source's root.
    device: Option<u64>,
}

/// The result for one file.
enum Outcome {
    /// New or changed.
    Row(Box<DocumentRow>),
    /// Same bytes, different stamp.
    Restamped(i64, FileStamp),
    /// Same bytes, same stamp.
    Unchanged,
    /// Not indexed, for the same reason as before.
    StillSkipped(Skipped),
}

impl<'a> Scan<'a> {
    fn new(
        options: &'a IndexOptions<'a>,
        sandbox: &'a Sandbox,
        (source, source_id): (&'a Source, i64),
        writer: &IndexWriter,
        was: Option<Was>,
    ) -> Result<Self> {
        let last_scan_ns = writer.last_scan(source_id)?;
        let began_ns = now_ns();
        // The walk waits for the disk, and the list of known files for SQLite.
        let (entries, known) = std::thread::scope(|scope| {
            let walk = scope.spawn(|| sandbox.documents(&source.name));
            let known = writer.known(source_id);
            (
                walk.join()
                    .unwrap_or_else(|_| Err(Failure::internal("the walk panicked"))),
                known,
            )
        });
        let (entries, known) = (entries?, known?);
        let is_new = was.is_some();
        let was = match was {
            Some(was) => was,
            None => Was {
                documents: known
                    .values()
                    .filter(|known| known.status == "indexed")
                    .count(),
                device: writer.device(&source.name)?,
            },
        };
        let device = sandbox.device(&source.name);
        Ok(Self {
            options,
            sandbox,
            source,
            source_id,
            began_ns,
            entries,
            known,
            last_scan_ns,
            was,
            is_new,
            device,
        })
    }

    fn run(
        &self,
        writer: &mut IndexWriter,
        job: &Job<'_, '_>,
        summary: &mut IndexSummary,
    ) -> Result<()> {
        summary.docs_scanned += self.entries.len();
        let work = self.to_process(summary);
        self.remove_gone(writer, summary)?;
        summary.docs_read += work
            .iter()
            .filter(|(entry, _)| matches!(entry.what, What::Found(_)))
            .count();
        if !work.is_empty() {
            self.process(&work, writer, job.counter()?, job.on_progress, summary)?;
        }
        // If the clock was set back, the new documents must not look old.
        writer.scanned(
            &self.source.name,
            self.source_id,
            self.began_ns.min(now_ns()),
            self.device,
        );
        Ok(())
    }

    /// The files that must be read, and those to list as skipped; the others are counted.
    fn to_process(&self, summary: &mut IndexSummary) -> Vec<(&Entry, &RelPath)> {
        let mut work = Vec::new();
        for entry in &self.entries {
            let path = &entry.path;
            match entry.what {
                What::Skipped(reason) => {
                    summary.list(self.skipped(path.as_str(), reason));
                    if self
                        .known
                        .get(path.as_str())
                        .is_none_or(|known| known.status != reason.as_str())
                    {
                        work.push((entry, path));
                    }
                }
                What::Found(stamp) if self.is_unchanged(path, &stamp) => {
                    summary.docs_unchanged += 1;
                }
                What::Found(stamp) if self.gives_no_text(path, &stamp) => {
                    let reason = SkipReason::NotExtracted;
                    summary.list(self.skipped(path.as_str(), reason));
                }
                What::Found(_) => work.push((entry, path)),
            }
        }
        work
    }

    /// Removes the documents whose files are gone, unless the source looks emptied by accident.
    fn remove_gone(&self, writer: &mut IndexWriter, summary: &mut IndexSummary) -> Result<()> {
        let removed = self.gone();
        if !self.options.allow_empty
            && (self.is_new || !removed.is_empty())
            && let Some(why) = emptied::suspicion(
                &self.source.name,
                self.was,
                emptied::shown(&self.entries),
                self.device,
            )
        {
            return Err(emptied::failure(&why));
        }
        summary.docs_pruned += removed.len();
        if !removed.is_empty() {
            summary.chunks_removed += writer
                .publish(&Batch {
                    removed,
                    ..Batch::default()
                })?
                .chunks_removed;
        }
        Ok(())
    }

    /// Row ids of the documents whose files are gone.
    fn gone(&self) -> Vec<i64> {
        compare::gone(&self.entries, &self.known)
            .into_iter()
            .map(|(_, known)| known.id)
            .collect()
    }

    fn skipped(&self, path: &str, reason: SkipReason) -> Skipped {
        Skipped {
            path: format!("{}:{path}", self.source.name),
            reason: reason.as_str().to_owned(),
        }
    }

    /// Whether the stamp proves that the file has the indexed bytes, and they were cut with the
    /// current chunking.
    fn is_unchanged(&self, path: &RelPath, stamp: &FileStamp) -> bool {
        !self.options.verify
            && self.known.get(path.as_str()).is_some_and(|known| {
                known.status == "indexed"
                    && known.chunker_sig == self.options.chunker_sig
                    && compare::proves(known, stamp, self.last_scan_ns)
            })
    }

    /// Whether a file without extractable text has not changed. For some files it takes seconds to
    /// find out that they have no text.
    fn gives_no_text(&self, path: &RelPath, stamp: &FileStamp) -> bool {
        !self.options.verify
            && self.known.get(path.as_str()).is_some_and(|known| {
                known.status == SkipReason::NotExtracted.as_str()
                    && compare::proves(known, stamp, self.last_scan_ns)
            })
    }

    /// One thread writes a batch while the others read, hash and cut the next; if it finishes
    /// first, it helps them. The batches keep writer and readers together: with one reader per
    /// core, a writer would wait for a core, and at the end the readers would be far ahead and wait
    /// for the writer. A batch is therefore reported when the next one is cut.
    fn process(
        &self,
        work: &[(&Entry, &RelPath)],
        writer: &mut IndexWriter,
        count: CountTokens<'_>,
        on_progress: OnProgress<'_>,
        summary: &mut IndexSummary,
    ) -> Result<()> {
        let mut batches = split(work).into_iter();
        let mut next = batches.next().map(|batch| self.look_at_all(count, batch));
        let mut done = 0;
        while let Some(outcomes) = next {
            let outcomes = outcomes?;
            done += outcomes.len();
            let publish = || self.publish(outcomes, writer, summary);
            let (published, ahead) = rayon::join(publish, || {
                batches.next().map(|batch| self.look_at_all(count, batch))
            });
            published?;
            on_progress(Progress::Files {
                done,
                total: work.len(),
            });
            next = ahead;
        }
        Ok(())
    }

    /// Looks at the files of a batch, several at a time.
    fn look_at_all(
        &self,
        count: CountTokens<'_>,
        batch: &[(&Entry, &RelPath)],
    ) -> Result<Vec<Outcome>> {
        batch
            .par_iter()
            .map(|(entry, path)| self.look(entry, path, count))
            .collect()
    }

    fn publish(
        &self,
        outcomes: Vec<Outcome>,
        writer: &mut IndexWriter,
        summary: &mut IndexSummary,
    ) -> Result<()> {
        let mut batch = Batch::default();
        for outcome in outcomes {
            match outcome {
                Outcome::Row(row) => {
                    if let Some(reason) = row.skipped {
                        summary.list(self.skipped(row.path.as_str(), reason));
                    } else {
                        summary.docs_changed += 1;
                    }
                    batch.documents.push(*row);
                }
                Outcome::Restamped(id, stamp) => {
                    summary.docs_unchanged += 1;
                    batch.restamped.push((id, stamp));
                }
                Outcome::Unchanged => summary.docs_unchanged += 1,
                Outcome::StillSkipped(listed) => summary.list(listed),
            }
        }
        let published = writer.publish(&batch)?;
        summary.chunks_written += published.chunks_added;
        summary.chunks_removed += published.chunks_removed;
        Ok(())
    }

    fn look(&self, entry: &Entry, path: &RelPath, count: CountTokens<'_>) -> Result<Outcome> {
        let place = DocumentPlace {
            source_id: self.source_id,
            source: &self.source.name,
            path,
        };
        let stamp = match entry.what {
            What::Skipped(reason) => {
                let row = document::skipped(place, FileStamp::default(), reason, None);
                return Ok(Outcome::Row(Box::new(row)));
            }
            What::Found(stamp) => stamp,
        };
        let at = Address {
            source: self.source.name.clone(),
            path: path.clone(),
        };
        let file = match self.sandbox.read_or_skip(&at) {
            Ok(file) => file,
            Err(refused) => {
                let reason = refused.no_text.unwrap_or_else(|| {
                    reason(&refused.failure, || self.sandbox.explain(&at.to_string()))
                });
                return Ok(self.outcome(document::skipped(place, stamp, reason, None)));
            }
        };
        if let Some(known) = self
            .known
            .get(path.as_str())
            .filter(|known| self.has_same_text(&file, known))
        {
            return Ok(if known.stamp == file.stamp {
                Outcome::Unchanged
            } else {
                Outcome::Restamped(known.id, file.stamp)
            });
        }
        let row = document::row(place, file.stamp, &file.bytes, self.options, count);
        Ok(self.outcome(row))
    }

    /// Whether the file was indexed with the same bytes and cut in the same way.
    fn has_same_text(
        &self,
        file: &local_agent_files::sandbox::FileBytes,
        known: &KnownDocument,
    ) -> bool {
        known.status == "indexed"
            && known.chunker_sig == self.options.chunker_sig
            && known.sha256 == Some(*Sha256::of(&file.bytes).as_bytes())
    }

    /// The result for a row. A row that only repeats why a file is skipped is not written, so that
    /// nothing is published and no projection becomes stale.
    fn outcome(&self, row: DocumentRow) -> Outcome {
        let known = self.known.get(row.path.as_str());
        let sha256 = row.sha256.map(|sha256| *sha256.as_bytes());
        match row.skipped {
            Some(reason)
                if known.is_some_and(|k| k.status == reason.as_str() && k.sha256 == sha256) =>
            {
                Outcome::StillSkipped(self.skipped(row.path.as_str(), reason))
            }
            _ => Outcome::Row(Box::new(row)),
        }
    }
}

/// Nanoseconds since 1970.
fn now_ns() -> i64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}

/// Why a file that the walk found could not be read afterwards.
fn reason(failure: &Failure, why: impl FnOnce() -> Option<Why>) -> SkipReason {
    match failure.code {
        ErrorCode::FileTooLarge => SkipReason::TooLarge,
        ErrorCode::PathDenied => SkipReason::Denied,
        _ => match why() {
            Some(Why::Symlink | Why::LinkLeaves | Why::LinkLoop) => SkipReason::Symlink,
            Some(Why::Denied) => SkipReason::Denied,
            Some(Why::NotRegular) => SkipReason::NotRegular,
            Some(Why::HardLink) => SkipReason::HardLink,
            _ => SkipReason::Unreadable,
        },
    }
}

/// Splits the work into batches of limited count and bytes.
fn split<'w>(work: &'w [(&'w Entry, &'w RelPath)]) -> Vec<&'w [(&'w Entry, &'w RelPath)]> {
    let mut batches = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, (entry, _)) in work.iter().enumerate() {
        bytes += size_of_entry(entry);
        if at + 1 - start >= BATCH_FILES || bytes >= BATCH_BYTES {
            batches.push(&work[start..=at]);
            (start, bytes) = (at + 1, 0);
        }
    }
    if start < work.len() {
        batches.push(&work[start..]);
    }
    batches
}

/// The size of a file in bytes; 0 if it is not read.
fn size_of_entry(entry: &Entry) -> u64 {
    match entry.what {
        What::Found(stamp) => stamp.size,
        What::Skipped(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_many_skipped_files_is_listed_once() {
        // With a search through the list for each file, this would take many minutes.
        let mut summary = IndexSummary::default();
        for _ in 0..2 {
            for n in 0..200_000 {
                summary.list(Skipped {
                    path: format!("notes:{n}.md"),
                    reason: "unreadable".to_owned(),
                });
            }
        }
        assert_eq!(summary.skipped.len(), 200_000);
    }
}
