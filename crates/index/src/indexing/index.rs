//! The `index` job.

use std::collections::HashMap;
use std::path::Path;

use super::emptied::Was;
use super::job::{IndexOptions, IndexSummary, LazyCounter, LoadCounter};
use super::scan::Scan;
use super::{OnProgress, lexical};
use crate::indexing::Source;
use crate::store::{self, Batch, Database, IndexReader, IndexWriter, JobLock};
use local_agent_files::sandbox::Sandbox;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::SourceName;

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
        counter: LazyCounter::new(load),
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
    counter: LazyCounter<'l>,
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
                .cloned();
            let scanned = Scan::new(options, self.sandbox, (source, source_id), writer, was)
                .and_then(|scan| scan.run(writer, &self.counter, self.on_progress, summary));
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
    let name = SourceName::new(held.name.clone()).ok()?;
    let known = reader.known_documents(&name).ok()?;
    let disks = reader.disks(&held.name).ok()?;
    Some((held.name, Was::of(&known, disks)))
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
