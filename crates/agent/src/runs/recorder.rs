//! Records one run: begins before any model is asked, and finishes after the answer was verified.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use time::OffsetDateTime;

use super::ledger::{Ledger, LineKind};
use super::record::ExcerptCaps;
use super::{
    Checking, ContextItem, Mode, Record, RecordedCall, RecordedRoots, RunId, RunStatus,
    SCHEMA_VERSION, Sent, SnapshotRecord, json_text, private, stamp,
};
use crate::ask::ClaimOpinion;
use crate::config::{LimitedClient, Runs};
use local_agent_files::state::StateDirectory;
use local_agent_index::store::JobLock;
use local_agent_text::error::{Failure, Result};
use local_agent_text::evidence::{Draft, EvidenceSnapshot, FreshnessReport};
use local_agent_text::types::Sha256;
use local_agent_verify::Report;

/// Where records and the ledger's head are stored.
#[derive(Debug, Clone, Copy)]
pub struct RunPlace<'a> {
    /// `runs.dir`.
    pub runs_dir: &'a Path,
    /// `durable.sqlite`.
    pub durable: &'a Path,
    /// The client whose runs are visible; `None`: all runs are.
    pub only: Option<&'a LimitedClient>,
}

/// The limits for the recorded evidence.
#[derive(Debug, Clone, Copy)]
pub struct Caps {
    excerpts: ExcerptCaps,
    /// Keep the exact snapshot and draft in `evidence/`.
    keep_evidence: bool,
}

impl From<&Runs> for Caps {
    fn from(runs: &Runs) -> Self {
        let excerpts = ExcerptCaps {
            keep: runs.log_evidence_excerpts,
            one: runs.max_excerpt_chars,
            all: runs.max_total_evidence_chars,
        };
        Self {
            excerpts,
            keep_evidence: runs.keep_evidence,
        }
    }
}

/// The data of a run at its beginning.
#[derive(Debug)]
pub struct Begin<'a> {
    /// The kind of run: a verified answer, or a chat.
    pub mode: Mode,
    /// See [`Record::asked_by`].
    pub asked_by: &'a str,
    /// The question, not redacted yet.
    pub question: &'a str,
    /// The folders in effect.
    pub roots: RecordedRoots,
    /// See [`Record::config_sha256`].
    pub config_sha256: Sha256,
    /// The options of the verifier.
    pub checking: Checking,
}

/// The data of a run at its end, borrowed from the answer.
#[derive(Debug, Default)]
pub struct End<'a> {
    /// `answered`, `abstained`, …; ignored if there is a failure.
    pub outcome: &'a str,
    /// The failure that ended the run; `None`: the command succeeded.
    pub failure: Option<&'a Failure>,
    /// The answerer; `None`: the run failed.
    pub answerer: Option<&'a str>,
    /// Every call of a chat model, in order.
    pub calls: Vec<RecordedCall>,
    /// Text sent outside this program.
    pub sent: Vec<Sent>,
    /// The evidence, with the score of each item in the same order; missing scores are recorded as
    /// `null`. `None`: no evidence is recorded.
    pub snapshot: Option<(&'a EvidenceSnapshot, &'a [f32])>,
    /// The state of the files when the evidence was frozen; `None` is recorded as an empty report.
    pub freshness: Option<&'a FreshnessReport>,
    /// The memories shown with the answer.
    pub context: Vec<ContextItem>,
    /// The draft that `report` is about.
    pub draft: Option<&'a Draft>,
    /// The verifier's report on `draft`; `None`: no draft was judged.
    pub report: Option<&'a Report>,
    /// Opinions on its claims; already included in `report`.
    pub opinions: &'a [ClaimOpinion],
    /// The text shown to the user; `None`: none was.
    pub text: Option<&'a str>,
    /// Why the answer is missing, incomplete, or not the model's; `None`: no explanation is needed.
    pub why: Option<&'a str>,
    /// Files that changed or disappeared since they were indexed.
    pub index_stale: &'a [String],
    /// Whether private notes were withheld.
    pub private_kept_back: bool,
    /// Steps within the run.
    pub timings_ms: Vec<(String, u64)>,
}

/// A run that has begun. If it is dropped without [`Run::finish`], its folder stays as
/// `interrupted`.
#[derive(Debug)]
pub struct Run {
    ledger: Ledger,
    folder: StateDirectory,
    record: Record,
    caps: Caps,
    began: Instant,
    lock: JobLock,
}

/// The result of recording.
#[derive(Debug)]
pub struct Finished {
    /// The id of the run.
    pub id: RunId,
    /// `run.json`.
    pub path: PathBuf,
    /// Why the ledger's head was not stored, if `durable.sqlite` is not ours.
    pub unanchored: Option<Failure>,
}

/// The file that a running run locks.
pub(super) const LOCK: &str = "run.lock";

/// The file name of the record.
pub(super) const RECORD: &str = "run.json";

/// The folder in a run's folder for the files of `runs.keep_evidence`.
pub(super) const EVIDENCE: &str = "evidence";

/// The files that `runs.keep_evidence` keeps.
pub(super) const KEPT: [&str; 2] = ["snapshot.json", "draft.json"];

impl Run {
    /// Creates the folder, writes the first state of the record, and enters the run in the ledger.
    ///
    /// # Errors
    /// `WRITE_ERROR`, `LEDGER_BROKEN`, `LOCKED`: a run that cannot be recorded does not begin.
    pub fn begin(place: RunPlace<'_>, caps: Caps, begin: Begin<'_>) -> Result<Self> {
        let now = OffsetDateTime::now_utc();
        let id = RunId::new(now)?;
        let runs = private::make_folder(place.runs_dir)?;
        let folder = runs
            .make_child(id.as_str())
            .map_err(|e| private::unwritable(&place.runs_dir.join(id.as_str()), &e))?;
        let holder = format!("pid {}, run {id}", std::process::id());
        let lock = JobLock::take_in(&folder, LOCK, &holder, Duration::ZERO)?;
        let record = begun_record(id.clone(), now, begin);
        let ledger = Ledger::new(place.runs_dir, place.durable);
        let run = Self {
            ledger,
            folder,
            record,
            caps,
            began: Instant::now(),
            lock,
        };
        let sha256 = run.write(&run.record.redacted()?)?;
        if let Err(failure) =
            run.ledger
                .append(&[(LineKind::Begin, Some(id.clone()), Some(sha256))])
        {
            // A run that is not in the ledger counts as never begun. The line may be there even if
            // the head could not be stored. Then the record stays as an interrupted run.
            if matches!(run.ledger.knows(&id), Ok(false)) {
                let _ = runs.remove_folder(id.as_str());
            }
            return Err(failure);
        }
        Ok(run)
    }

    /// Its id.
    pub fn id(&self) -> &RunId {
        &self.record.run_id
    }

    fn write(&self, record: &Record) -> Result<Sha256> {
        let text = json_text(record)?;
        private::write(&self.folder, RECORD, text.as_bytes())?;
        Ok(Sha256::of(text.as_bytes()))
    }

    /// Writes the whole record and enters the end in the ledger.
    ///
    /// # Errors
    /// `WRITE_ERROR`, `LEDGER_BROKEN`, `LOCKED`: an answer without its record is not shown.
    pub fn finish(mut self, end: &End<'_>) -> Result<Finished> {
        let now = OffsetDateTime::now_utc();
        let elapsed = self.began.elapsed();
        let kept = self.keep_evidence(end)?;
        let record = &mut self.record;
        record.status = if end.failure.is_some() {
            RunStatus::Failed
        } else {
            RunStatus::Done
        };
        record.ended_at = Some(stamp(now));
        record.ended_unix = Some(now.unix_timestamp());
        record.elapsed_s = Some((elapsed.as_secs_f64() * 1000.0).round() / 1000.0);
        record.ok = Some(end.failure.is_none());
        record.outcome = Some(
            if end.failure.is_some() {
                "failed"
            } else {
                end.outcome
            }
            .to_owned(),
        );
        record.error_code = end.failure.map(|failure| failure.code.to_string());
        record.error_message = end.failure.map(|failure| failure.message.clone());
        record.answerer = end.answerer.map(str::to_owned);
        record.calls.clone_from(&end.calls);
        record.sent.clone_from(&end.sent);
        record.snapshot = end
            .snapshot
            .map(|(snapshot, scores)| SnapshotRecord::new(snapshot, scores, &self.caps.excerpts));
        record.freshness = end.freshness.cloned().unwrap_or_default();
        record.context.clone_from(&end.context);
        record.draft = end.draft.cloned();
        record.assistant_text = end.text.map(str::to_owned);
        record.why = end.why.map(str::to_owned);
        record.citation_validation = end
            .report
            .map(serde_json::to_value)
            .transpose()
            .map_err(|e| Failure::internal(format!("the report cannot be written as JSON: {e}")))?;
        record.citation_validation_footer = end.report.map(Report::footer);
        record.report_sha256 = end.report.map(|report| report.sha256);
        record.opinions = end.opinions.to_vec();
        record.index_stale = end.index_stale.to_vec();
        record.private_kept_back = end.private_kept_back;
        record.timings_ms = end.timings_ms.iter().cloned().collect();
        record.timings_ms.insert(
            "total".to_owned(),
            u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        );
        record.kept_evidence = kept;
        let sha256 = self.write(&self.record.redacted()?)?;
        let id = self.record.run_id.clone();
        let unanchored = self
            .ledger
            .append(&[(LineKind::End, Some(id.clone()), Some(sha256))])?;
        let path = self.folder.path().join(RECORD);
        drop(self.lock);
        // Only the lock counts, not its file; a leftover file does no harm.
        let _ = self.folder.remove(LOCK);
        Ok(Finished {
            id,
            path,
            unanchored,
        })
    }

    /// With `runs.keep_evidence`: stores the exact snapshot and draft, so that a replay does not
    /// need the source files.
    fn keep_evidence(&self, end: &End<'_>) -> Result<bool> {
        let Some((snapshot, _)) = end.snapshot.filter(|_| self.caps.keep_evidence) else {
            return Ok(false);
        };
        let path = self.folder.path().join(EVIDENCE);
        let evidence = self
            .folder
            .make_child(EVIDENCE)
            .map_err(|e| private::unwritable(&path, &e))?;
        private::write(&evidence, KEPT[0], json_text(snapshot)?.as_bytes())?;
        if let Some(draft) = end.draft {
            private::write(&evidence, KEPT[1], json_text(draft)?.as_bytes())?;
        }
        Ok(true)
    }
}

/// The record of a run at its beginning.
fn begun_record(id: RunId, now: OffsetDateTime, begin: Begin<'_>) -> Record {
    Record {
        schema_version: SCHEMA_VERSION,
        run_id: id,
        mode: begin.mode,
        asked_by: begin.asked_by.to_owned(),
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        status: RunStatus::Running,
        started_at: stamp(now),
        started_unix: now.unix_timestamp(),
        ended_at: None,
        ended_unix: None,
        elapsed_s: None,
        ok: None,
        outcome: None,
        error_code: None,
        error_message: None,
        roots: begin.roots,
        config_sha256: begin.config_sha256,
        question: begin.question.to_owned(),
        question_sha256: Sha256::of(begin.question.as_bytes()),
        checking: begin.checking,
        answerer: None,
        calls: Vec::new(),
        sent: Vec::new(),
        snapshot: None,
        freshness: FreshnessReport::default(),
        context: Vec::new(),
        draft: None,
        assistant_text: None,
        why: None,
        citation_validation: None,
        citation_validation_footer: None,
        report_sha256: None,
        opinions: Vec::new(),
        index_stale: Vec::new(),
        private_kept_back: false,
        timings_ms: std::collections::BTreeMap::new(),
        exact: true,
        kept_evidence: false,
        redactions: 0,
    }
}
