//! One source during a run of `index`: which of its files are read, and what becomes of each.
//!
//! What was found is written before what is gone is removed, so a folder that was moved is never
//! missing from the index. If files vanish between the walk and their reading, the source is walked
//! again: they may have another name now.

use std::collections::HashSet;
use std::time::{SystemTime, UNIX_EPOCH};

use rayon::prelude::*;

use super::document::{self, DocumentPlace};
use super::emptied::{self, LostDisk, Was};
use super::job::{IndexOptions, IndexSummary, LazyCounter, Skipped};
use super::{OnProgress, Progress, compare};
use crate::ids::{DocumentId, SourceId};
use crate::indexing::Source;
use crate::store::{Batch, DocumentRow, IndexWriter, KnownDocument, KnownDocuments};
use local_agent_files::sandbox::{Address, Disks, Entry, RefusalReason, Sandbox, WalkOutcome};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::markdown::CountTokens;
use local_agent_text::types::{FileStamp, RelPath, Sha256, SkipReason};

/// Limits for one publishing transaction, so that memory does not grow with the corpus.
const BATCH_FILES: usize = 2_000;
const BATCH_BYTES: u64 = 4 << 20;

/// How often a source is walked at most in one run.
const MOST_WALKS: usize = 3;

/// One source during a scan.
pub(super) struct Scan<'a> {
    options: &'a IndexOptions<'a>,
    sandbox: &'a Sandbox,
    source: &'a Source,
    source_id: SourceId,
    began_ns: i64,
    entries: Vec<Entry>,
    known: KnownDocuments,
    last_scan_ns: i64,
    /// The index's data on the source before this run.
    was: Was,
    /// Whether those data come from another index, which says nothing about single files.
    is_new: bool,
    /// The disks on which the walk found the files.
    disks: Disks,
}

/// The result for one file.
enum Outcome {
    /// New or changed.
    Row(Box<DocumentRow>),
    /// Same bytes, different stamp.
    Restamped(DocumentId, FileStamp),
    /// Same bytes, same stamp.
    Unchanged,
    /// Not indexed, for the same reason as before.
    StillSkipped(Skipped),
    /// The file vanished since the walk.
    Vanished,
}

impl<'a> Scan<'a> {
    /// Walks the source.
    pub(super) fn new(
        options: &'a IndexOptions<'a>,
        sandbox: &'a Sandbox,
        (source, source_id): (&'a Source, SourceId),
        writer: &IndexWriter,
        was: Option<Was>,
    ) -> Result<Self> {
        let last_scan_ns = writer.last_scan(source_id)?;
        let began_ns = now_ns();
        // The walk waits for the disk, and the list of known files for SQLite.
        let (walked, known) = std::thread::scope(|scope| {
            let walk = scope.spawn(|| sandbox.documents_and_disks(&source.name));
            let known = writer.known(source_id);
            (
                walk.join()
                    .unwrap_or_else(|_| Err(Failure::internal("the walk panicked"))),
                known,
            )
        });
        let ((entries, disks), known) = (walked?, known?);
        let is_new = was.is_some();
        let was = match was {
            Some(was) => was,
            None => Was::of(&known, writer.disks(&source.name)?),
        };
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
            disks,
        })
    }

    /// Reads what has to be read, then removes what is gone.
    ///
    /// Errors: `SOURCE_EMPTY` if the source looks emptied by accident; nothing is removed then.
    pub(super) fn run(
        mut self,
        writer: &mut IndexWriter,
        counter: &LazyCounter<'_>,
        on_progress: OnProgress<'_>,
        summary: &mut IndexSummary,
    ) -> Result<()> {
        self.refuse_emptied()?;
        let mut vanished = self.read(&self.entries, writer, counter, on_progress, summary)?;
        let mut walks = 1;
        while vanished > 0 && walks < MOST_WALKS {
            walks += 1;
            let (entries, disks) = self.sandbox.documents_and_disks(&self.source.name)?;
            let unseen = unseen(&self.entries, &entries);
            vanished = self.read(&unseen, writer, counter, on_progress, summary)?;
            self.entries = entries;
            self.disks = disks;
        }
        // A disk may have gone meanwhile.
        self.refuse_emptied()?;
        let lost = self.lost_disks();
        self.remove_gone(writer, summary, &lost)?;
        if !lost.is_empty() {
            let why: Vec<String> = lost.iter().map(|l| l.why(&self.source.name)).collect();
            return Err(emptied::failure(&why.join("; ")));
        }
        // If the clock was set back, the new documents must not look old.
        writer.scanned(
            &self.source.name,
            self.source_id,
            self.began_ns.min(now_ns()),
            emptied::with_unreadable(self.disks, &self.was, &self.entries),
        );
        Ok(())
    }

    /// Reads and writes those of these files that are new or may have changed; returns how many
    /// vanished meanwhile.
    fn read(
        &self,
        entries: &[Entry],
        writer: &mut IndexWriter,
        counter: &LazyCounter<'_>,
        on_progress: OnProgress<'_>,
        summary: &mut IndexSummary,
    ) -> Result<usize> {
        summary.docs_scanned += entries.len();
        let work = self.to_process(entries, summary);
        summary.docs_read += work
            .iter()
            .filter(|(entry, _)| matches!(entry.what, WalkOutcome::Found(_)))
            .count();
        if work.is_empty() {
            return Ok(0);
        }
        self.process(&work, writer, counter.get()?, on_progress, summary)
    }

    /// The files that must be read, and those to list as skipped; the others are counted.
    fn to_process<'e>(
        &self,
        entries: &'e [Entry],
        summary: &mut IndexSummary,
    ) -> Vec<(&'e Entry, &'e RelPath)> {
        let mut work = Vec::new();
        for entry in entries {
            let path = &entry.path;
            match entry.what {
                WalkOutcome::Skipped(reason) => {
                    summary.list(self.skipped(path.as_str(), reason));
                    if self
                        .known
                        .get(path.as_str())
                        .is_none_or(|known| known.status != reason.as_str())
                    {
                        work.push((entry, path));
                    }
                }
                WalkOutcome::Found(stamp) if self.is_unchanged(path, &stamp) => {
                    summary.docs_unchanged += 1;
                }
                WalkOutcome::Found(stamp) if self.gives_no_text(path, &stamp) => {
                    let reason = SkipReason::NotExtracted;
                    summary.list(self.skipped(path.as_str(), reason));
                }
                WalkOutcome::Found(_) => work.push((entry, path)),
            }
        }
        work
    }

    /// The failure of a source that looks emptied by accident.
    fn refuse_emptied(&self) -> Result<()> {
        if self.may_lose() {
            return Ok(());
        }
        let why = emptied::suspicion(&self.source.name, &self.was, &self.entries, &self.disks);
        why.map_or(Ok(()), |why| Err(emptied::failure(&why)))
    }

    /// The folders whose disk seems to be unmounted.
    fn lost_disks(&self) -> Vec<LostDisk> {
        if self.may_lose() {
            return Vec::new();
        }
        emptied::lost_disks(
            self.sandbox,
            &self.source.name,
            &self.was,
            &self.entries,
            &self.disks,
        )
    }

    /// Whether nothing is lost, or a person agreed to the loss.
    fn may_lose(&self) -> bool {
        let is_nothing_gone = || compare::gone(&self.entries, &self.known).is_empty();
        self.options.allow_empty || !self.is_new && is_nothing_gone()
    }

    /// Removes the documents whose files are gone, but for those on a lost disk.
    fn remove_gone(
        &self,
        writer: &mut IndexWriter,
        summary: &mut IndexSummary,
        lost: &[LostDisk],
    ) -> Result<()> {
        let removed: Vec<DocumentId> = compare::gone(&self.entries, &self.known)
            .into_iter()
            .filter(|(path, _)| !lost.iter().any(|lost| lost.holds(path)))
            .map(|(_, known)| known.id)
            .collect();
        if removed.is_empty() {
            return Ok(());
        }
        summary.docs_pruned += removed.len();
        let batch = Batch {
            removed,
            ..Batch::default()
        };
        summary.chunks_removed += writer.publish(&batch)?.chunks_removed;
        Ok(())
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
    ///
    /// Returns how many of the files vanished.
    fn process(
        &self,
        work: &[(&Entry, &RelPath)],
        writer: &mut IndexWriter,
        count: CountTokens<'_>,
        on_progress: OnProgress<'_>,
        summary: &mut IndexSummary,
    ) -> Result<usize> {
        let mut vanished = 0;
        let mut batches = split(work).into_iter();
        let mut next = batches.next().map(|batch| self.look_at_all(count, batch));
        let mut done = 0;
        while let Some(outcomes) = next {
            let outcomes = outcomes?;
            done += outcomes.len();
            vanished += count_vanished(&outcomes);
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
        Ok(vanished)
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
                Outcome::Vanished => {}
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
            WalkOutcome::Skipped(reason) => {
                let row = document::skipped(place, FileStamp::default(), reason, None);
                return Ok(Outcome::Row(Box::new(row)));
            }
            WalkOutcome::Found(stamp) => stamp,
        };
        let at = Address {
            source: self.source.name.clone(),
            path: path.clone(),
        };
        let file = match self.sandbox.read_or_skip(&at) {
            Ok(file) => file,
            Err(refused) if self.has_vanished(&at, &refused.failure) => {
                return Ok(Outcome::Vanished);
            }
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

    /// Whether a file could not be read because nothing has its name any more.
    fn has_vanished(&self, at: &Address, failure: &Failure) -> bool {
        failure.code == ErrorCode::FileNotFound
            && matches!(
                self.sandbox.explain(&at.to_string()),
                None | Some(RefusalReason::Missing)
            )
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

/// How many files vanished.
fn count_vanished(outcomes: &[Outcome]) -> usize {
    outcomes
        .iter()
        .filter(|outcome| matches!(outcome, Outcome::Vanished))
        .count()
}

/// The entries of a later walk whose paths are not in an earlier one.
fn unseen(earlier: &[Entry], later: &[Entry]) -> Vec<Entry> {
    let seen: HashSet<&str> = earlier.iter().map(|entry| entry.path.as_str()).collect();
    later
        .iter()
        .filter(|entry| !seen.contains(entry.path.as_str()))
        .cloned()
        .collect()
}

/// Nanoseconds since 1970.
fn now_ns() -> i64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}

/// Why a file that the walk found could not be read afterwards.
fn reason(failure: &Failure, why: impl FnOnce() -> Option<RefusalReason>) -> SkipReason {
    match failure.code {
        ErrorCode::FileTooLarge => SkipReason::TooLarge,
        ErrorCode::PathDenied => SkipReason::Denied,
        _ => match why() {
            Some(RefusalReason::Symlink | RefusalReason::LinkLeaves | RefusalReason::LinkLoop) => {
                SkipReason::Symlink
            }
            Some(RefusalReason::Denied) => SkipReason::Denied,
            Some(RefusalReason::NotRegular) => SkipReason::NotRegular,
            Some(RefusalReason::HardLink) => SkipReason::HardLink,
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
        WalkOutcome::Found(stamp) => stamp.size,
        WalkOutcome::Skipped(_) => 0,
    }
}
