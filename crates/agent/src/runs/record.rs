//! `run.json`: the question, evidence, prompts, replies and verdicts of one run. Its schema is
//! `docs/run.schema.json`.
//!
//! Hashes are of the exact texts; the texts next to them are redacted and, for evidence, shortened.
//! A record whose texts were not changed by redaction is `exact`: it can be replayed from the files
//! alone.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{RunId, redact};
use crate::ask::{ClaimNote, ClaimOpinion};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::evidence::HeadingMatch;
use local_agent_text::evidence::{Draft, EvidenceItem, EvidenceSnapshot, FreshnessReport};
use local_agent_text::types::{
    ByteSpan, ChunkKey, HeadingPath, Label, LineSpan, RelPath, Sha256, SourceName,
};
use local_agent_verify::{Scope, VerifyOptions};

/// The version of the records that this program writes. A reader with another version reports it
/// and stops.
pub const SCHEMA_VERSION: u32 = 1;

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// [`SCHEMA_VERSION`] of the program that wrote this.
    pub schema_version: u32,
    /// The name of the run's folder.
    pub run_id: RunId,
    /// The kind of run: a verified answer, or a chat.
    pub mode: Mode,
    /// `cli`, `serve`, or `mcp` with the name and version that the client stated; `serve` with the
    /// name of the token, if it has one.
    pub asked_by: String,
    /// The version of the program that wrote this.
    pub program_version: String,
    /// The progress of the run.
    pub status: RunStatus,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// The same time in whole seconds since 1970.
    pub started_unix: i64,
    /// RFC 3339, UTC; `null` while it runs.
    pub ended_at: Option<String>,
    /// The same time in whole seconds since 1970; `null` while it runs.
    pub ended_unix: Option<i64>,
    /// Duration in seconds, to the millisecond; `null` while it runs.
    pub elapsed_s: Option<f64>,
    /// Whether the command succeeded; `null` while it runs.
    pub ok: Option<bool>,
    /// `answered`, `abstained`, or another outcome of the answerer; `failed` for a failure.
    pub outcome: Option<String>,
    /// The stable code of the failure; `null` if there was none.
    pub error_code: Option<String>,
    /// The sentence of the failure; `null` if there was none.
    pub error_message: Option<String>,
    /// The folders in effect.
    pub roots: RecordedRoots,
    /// SHA-256 of every configuration key with its value, sorted.
    pub config_sha256: Sha256,
    /// The question as asked, redacted.
    pub question: String,
    /// SHA-256 of the question before redaction.
    pub question_sha256: Sha256,
    /// The options of the verifier; a replay uses the same.
    pub checking: Checking,
    /// The answerer that wrote the draft.
    pub answerer: Option<String>,
    /// Every call of a chat model; empty for the extractive answerer.
    pub calls: Vec<RecordedCall>,
    /// Texts sent outside this program; empty if no text was sent.
    pub sent: Vec<Sent>,
    /// The evidence.
    pub snapshot: Option<SnapshotRecord>,
    /// The state of the files when the evidence was frozen.
    pub freshness: FreshnessReport,
    /// The memories shown with the answer as context; never evidence.
    pub context: Vec<ContextItem>,
    /// The draft that `report_sha256` is about.
    pub draft: Option<Draft>,
    /// The text shown to the user.
    pub assistant_text: Option<String>,
    /// Why the answer is missing or incomplete.
    pub why: Option<String>,
    /// The verifier's report.
    pub citation_validation: Option<Value>,
    /// The line with the counts of faulty citations that ends an answer; `null`: no draft was
    /// verified.
    pub citation_validation_footer: Option<String>,
    /// The hash in the verifier's report; `null`: no draft was verified.
    pub report_sha256: Option<Sha256>,
    /// Opinions on claims in addition to the checks; already included in the report. Absent: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opinions: Vec<ClaimOpinion>,
    /// Files that changed or disappeared since they were indexed.
    pub index_stale: Vec<String>,
    /// Whether private notes were withheld because the chat model is on another machine. Absent:
    /// no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private_kept_back: bool,
    /// Milliseconds, by step.
    pub timings_ms: std::collections::BTreeMap<String, u64>,
    /// Whether no text that identifies the evidence or the draft was redacted.
    pub exact: bool,
    /// Whether `evidence/` next to this file contains the exact snapshot and draft.
    pub kept_evidence: bool,
    /// Number of secrets removed.
    pub redactions: u64,
}

/// The kind of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A verified or rejected answer.
    Ask,
    /// A chat model's own words.
    Chat,
}

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Begun and not finished: it is running, or it was interrupted.
    Running,
    /// It finished.
    Done,
    /// It ended in a typed failure.
    Failed,
}

/// The folders in effect.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedRoots {
    /// The configuration file that was loaded last; `null`: none.
    pub resolved_config_path: Option<String>,
    /// The folder of that file; `null`: no file was loaded.
    pub config_root: Option<String>,
    /// The folder of the program's executable; `null`: unknown.
    pub package_root: Option<String>,
    /// The user's workroot; `null`: none is set.
    pub workroot: Option<String>,
    /// The folder that relative paths were joined to.
    pub security_root: Option<String>,
}

/// The options of the verifier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checking {
    /// How the headings of a citation had to agree with those of its chunk.
    pub heading_match: RecordedHeadingMatch,
    /// Whether white space and closing punctuation were ignored when headings were compared.
    pub normalize_heading: bool,
    /// What each claim was checked against.
    pub scope: RecordedScope,
    /// Whether a claim that did not pass or was in doubt rejected the whole answer.
    pub strict: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedHeadingMatch {
    Prefix,
    Exact,
    Ignore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedScope {
    Cited,
    File,
}

impl Checking {
    /// The verifier's options in the form of a record.
    pub fn new(options: &VerifyOptions, strict: bool) -> Self {
        Self {
            heading_match: match options.heading_match {
                HeadingMatch::Prefix => RecordedHeadingMatch::Prefix,
                HeadingMatch::Exact => RecordedHeadingMatch::Exact,
                HeadingMatch::Ignore => RecordedHeadingMatch::Ignore,
            },
            normalize_heading: options.normalize_heading,
            scope: match options.scope {
                Scope::Cited => RecordedScope::Cited,
                Scope::File => RecordedScope::File,
            },
            strict,
        }
    }

    /// The options in the verifier's type.
    pub fn options(&self) -> VerifyOptions {
        VerifyOptions {
            heading_match: match self.heading_match {
                RecordedHeadingMatch::Prefix => HeadingMatch::Prefix,
                RecordedHeadingMatch::Exact => HeadingMatch::Exact,
                RecordedHeadingMatch::Ignore => HeadingMatch::Ignore,
            },
            normalize_heading: self.normalize_heading,
            scope: match self.scope {
                RecordedScope::Cited => Scope::Cited,
                RecordedScope::File => Scope::File,
            },
        }
    }
}

/// One call of a chat model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedCall {
    /// `ollama`, `openai`.
    pub provider: String,
    /// The name of the model as its server lists it.
    pub model: String,
    /// The model that answered, if the server names another one than `model`; absent: no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served_model: Option<String>,
    /// Digest of the model's files, as the server reports it.
    pub digest: Option<String>,
    /// The request's URL without user, password and query.
    pub endpoint: String,
    /// The purpose of the call: `draft`, `repair`.
    pub purpose: String,
    /// SHA-256 of the whole prompt.
    pub prompt_sha256: Option<Sha256>,
    /// Its length.
    pub prompt_bytes: u64,
    /// As counted by the server.
    pub prompt_tokens: Option<u64>,
    /// As counted by the server, reasoning included; `null`: the server does not report it.
    pub reply_tokens: Option<u64>,
    /// The reply, without the model's reasoning; redacted.
    pub raw_reply: Option<String>,
    /// Seed, temperature, window and the like.
    pub options: std::collections::BTreeMap<String, Value>,
    /// How long the call took, in milliseconds.
    pub elapsed_ms: u64,
    /// Why the call returned no reply.
    pub error: Option<String>,
    /// Why the reply was rejected: codes of the verifier, or another word; `null` if it was
    /// accepted.
    pub refused: Option<String>,
    /// Sentences of the reply that the verifier rejected, each with its reason; absent: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_claims: Vec<ClaimNote>,
    /// The tool calls in the reply; absent: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<CalledTool>,
}

/// A tool call by a model. Its result is text from the person's files, so only its hash is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalledTool {
    /// The name as the model wrote it; that tool may not exist.
    pub name: String,
    /// As JSON, shortened and redacted.
    pub args: String,
    /// Hash of the whole JSON.
    pub args_sha256: Sha256,
    /// `ok`, or the code of the failure.
    pub outcome: String,
    /// Number of bytes of the text given to the model.
    pub bytes: u64,
    /// Hash of that text.
    pub result_sha256: Sha256,
    /// Labels for citing spans of it.
    pub labels: Vec<Label>,
    /// The beginning of what the model wrote after the call.
    pub trailing_text_ignored: Option<String>,
}

/// Text that left this program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sent {
    /// A description: `the question, to be embedded`.
    pub what: String,
    /// The receiving server.
    pub to: String,
    /// Whether the text stays on this machine.
    pub local: bool,
}

/// The evidence of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotRecord {
    /// Id of the exact snapshot.
    pub id: Sha256,
    /// The items in the order of the snapshot, so that `E1` is the first.
    pub items: Vec<ItemRecord>,
    /// Number of items whose text was shortened, left out or redacted.
    pub not_whole: u64,
}

/// One item of the evidence: its location, the hash of its bytes, and the beginning of its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemRecord {
    /// `E1`, `E2`, …: how the draft cites it.
    pub label: Label,
    /// The key of its best-ranked chunk.
    pub chunk_key: ChunkKey,
    /// The keys of the neighbours that were merged into the same span.
    pub merged: Vec<ChunkKey>,
    /// The source that the file belongs to.
    pub source: SourceName,
    /// The file, below the source's folder.
    pub rel_path: RelPath,
    /// Whether another source had a file with this path too, so that a citation names the source.
    pub path_is_shared: bool,
    /// Canonical form.
    pub heading_path: String,
    /// Where the text was in the file, in bytes.
    pub span: ByteSpan,
    /// Where the text was in the file, in lines from 1.
    pub lines: LineSpan,
    /// SHA-256 of the whole text; a replay compares it with the file.
    pub text_sha256: Sha256,
    /// The score that ranked it here.
    pub score: Option<f32>,
    /// The beginning of the text, redacted; `null`: none is kept.
    pub excerpt: Option<String>,
    /// Whether the excerpt is not the whole text.
    pub excerpt_truncated: bool,
}

/// Something shown as context with the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextItem {
    /// `M1`, `M2`, …: never an evidence label.
    pub label: String,
    /// The id of the memory.
    pub memory_id: String,
    /// The text of the memory as shown, redacted.
    pub content: String,
    /// SHA-256 of that text before redaction.
    pub content_sha256: Sha256,
}

/// How much of the evidence's text a record contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExcerptCaps {
    /// Whether the record contains excerpts.
    pub keep: bool,
    /// Maximum number of characters in one excerpt.
    pub one: usize,
    /// Maximum number of characters in all excerpts.
    pub all: usize,
}

impl SnapshotRecord {
    /// Shortens the texts. Redaction comes first, so that no cut leaves half a secret.
    pub fn new(snapshot: &EvidenceSnapshot, scores: &[f32], caps: &ExcerptCaps) -> Self {
        let mut left = caps.all;
        let mut not_whole = 0;
        let items = snapshot.items().iter().enumerate().map(|(at, item)| {
            let (excerpt, truncated) = if caps.keep && left > 0 {
                let text = redact(&item.text).text.into_owned();
                let cut: String = text.chars().take(caps.one.min(left)).collect();
                left -= cut.chars().count();
                let truncated = cut != item.text;
                (Some(cut), truncated)
            } else {
                (None, true)
            };
            not_whole += u64::from(truncated);
            ItemRecord::new(item, scores.get(at).copied(), excerpt, truncated)
        });
        let items = items.collect();
        Self {
            id: snapshot.id(),
            items,
            not_whole,
        }
    }
}

impl ItemRecord {
    fn new(
        item: &EvidenceItem,
        score: Option<f32>,
        excerpt: Option<String>,
        excerpt_truncated: bool,
    ) -> Self {
        Self {
            label: item.label,
            chunk_key: item.chunk_key,
            merged: item.merged.clone(),
            source: item.source.clone(),
            rel_path: item.path.clone(),
            path_is_shared: item.path_is_shared,
            heading_path: item.heading.to_canonical(),
            span: item.span,
            lines: item.lines,
            text_sha256: item.text_sha256,
            score,
            excerpt,
            excerpt_truncated,
        }
    }

    /// The headings above the item.
    pub fn heading(&self) -> Result<HeadingPath> {
        HeadingPath::from_canonical(&self.heading_path)
            .map_err(|_| tampered("a heading path in it cannot be read"))
    }
}

/// The failure `RUN_TAMPERED`.
pub(super) fn tampered(why: &str) -> Failure {
    Failure::new(
        ErrorCode::RunTampered,
        format!("the record is not as it was written: {why}"),
    )
    .with_command("local-agent runs verify")
}

impl Record {
    /// Parses a record. `RUN_TAMPERED` when it is invalid; `RUN_NEWER` when another version wrote
    /// it.
    pub fn from_json(json: &str) -> Result<Self> {
        let value: Value =
            serde_json::from_str(json).map_err(|e| tampered(&format!("it is not JSON ({e})")))?;
        let version = value.get("schema_version").and_then(Value::as_u64);
        if version.is_some_and(|version| version > u64::from(SCHEMA_VERSION)) {
            let message = format!(
                "the record has schema {}; this program knows {SCHEMA_VERSION}",
                version.unwrap_or(0)
            );
            return Err(Failure::new(ErrorCode::RunNewer, message)
                .with_hint("install the newer local-agent"));
        }
        serde_json::from_value(value).map_err(|e| tampered(&e.to_string()))
    }

    /// Whether a JSON value looks like a record and not like another object with a snapshot.
    pub fn is_one(value: &Value) -> bool {
        value.get("schema_version").is_some() && value.get("run_id").is_some()
    }

    /// Removes the secrets from every text, and records their number and whether the record is
    /// still `exact`.
    ///
    /// # Errors
    /// Only `INTERNAL_ERROR`.
    pub(super) fn redacted(&self) -> Result<Self> {
        let mut value = serde_json::to_value(self).map_err(broken_record)?;
        let count = redact_strings(&mut value);
        let mut out: Self = serde_json::from_value(value).map_err(broken_record)?;
        let identity = |record: &Self| {
            let items = record.snapshot.as_ref().map(|s| {
                s.items
                    .iter()
                    .map(|i| (i.source.clone(), i.rel_path.clone(), i.heading_path.clone()))
                    .collect::<Vec<_>>()
            });
            (record.question.clone(), record.draft.clone(), items)
        };
        out.exact = identity(&out) == identity(self);
        out.redactions = self.redactions + count;
        Ok(out)
    }
}

/// The failure for a record that cannot be redacted.
fn broken_record(e: serde_json::Error) -> Failure {
    Failure::internal(format!("a record cannot be redacted: {e}"))
}

fn redact_strings(value: &mut Value) -> u64 {
    match value {
        Value::String(text) => {
            let redacted = redact(text);
            let count = redacted.count as u64;
            if count > 0 {
                *text = redacted.text.into_owned();
            }
            count
        }
        Value::Array(items) => items.iter_mut().map(redact_strings).sum(),
        // A source's name is a short word of the configuration, and must stay unchanged. A claim's
        // `source` is a sentence of the notes.
        Value::Object(fields) => fields
            .iter_mut()
            .filter(|(name, value)| *name != "source" || !value.is_string())
            .map(|(_, value)| redact_strings(value))
            .sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_text::evidence::Excerpt;
    use local_agent_text::types::{LineSpan, SourceName};

    pub(in crate::runs) fn excerpt(path: &str, text: &str) -> Excerpt {
        let (source, path) = (
            SourceName::new("notes").unwrap(),
            RelPath::new(path).unwrap(),
        );
        let heading = HeadingPath::default();
        Excerpt {
            chunk_key: ChunkKey::derive(&source, &path, &heading, &Sha256::of(text.as_bytes()), 0),
            merged: vec![],
            source,
            path,
            path_is_shared: false,
            heading,
            span: ByteSpan::new(0, text.len()).unwrap(),
            lines: LineSpan::new(1, 1 + text.trim_end().matches('\n').count() as u32).unwrap(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn w46_a_record_holds_the_beginning_of_evidence_within_both_caps() {
        let long = "ä".repeat(500);
        let snapshot = EvidenceSnapshot::freeze(
            "q",
            vec![
                excerpt("a.md", &long),
                excerpt("b.md", "short"),
                excerpt("c.md", &long),
                excerpt("d.md", &long),
            ],
        )
        .unwrap();
        let caps = ExcerptCaps {
            keep: true,
            one: 100,
            all: 150,
        };
        let kept = SnapshotRecord::new(&snapshot, &[0.5], &caps);
        let lengths: Vec<_> = kept
            .items
            .iter()
            .map(|i| i.excerpt.as_ref().map(|e| e.chars().count()))
            .collect();
        assert_eq!(lengths, [Some(100), Some(5), Some(45), None]);
        assert_eq!(
            kept.items
                .iter()
                .map(|i| i.excerpt_truncated)
                .collect::<Vec<_>>(),
            [true, false, true, true]
        );
        assert_eq!(
            (kept.not_whole, kept.items[0].score, kept.items[1].score),
            (3, Some(0.5), None)
        );
        assert_eq!(
            kept.items[0].text_sha256,
            Sha256::of(long.as_bytes()),
            "the hash is of the whole text"
        );
        let none = SnapshotRecord::new(
            &snapshot,
            &[],
            &ExcerptCaps {
                keep: false,
                ..caps
            },
        );
        assert!(none.items.iter().all(|item| item.excerpt.is_none()));
    }

    #[test]
    fn s30_the_quoted_sentence_of_a_rejected_claim_is_redacted_and_a_sources_name_is_not() {
        let secret = format!("ghp_{}", "a1B2c3".repeat(6));
        let note = ClaimNote {
            sentence: format!("The token is {secret}."),
            verdict: "rejected".to_owned(),
            codes: vec!["NUMBER".to_owned()],
            reason: "it differs".to_owned(),
            source: Some(crate::ask::SourceSentence {
                label: "E1".to_owned(),
                address: "notes:a.md".to_owned(),
                lines: "1".to_owned(),
                text: format!("The token is {secret}."),
            }),
        };
        let call = RecordedCall {
            refused_claims: vec![note],
            ..RecordedCall::default()
        };
        let mut value = serde_json::json!({"calls": [call], "items": [{"source": secret}]});
        let count = redact_strings(&mut value);
        assert_eq!(count, 2);
        assert!(!value["calls"].to_string().contains("ghp_"), "{value}");
        assert_eq!(value["items"][0]["source"], secret.as_str());
        let back: Vec<RecordedCall> = serde_json::from_value(value["calls"].clone()).unwrap();
        assert_eq!(
            back[0].refused_claims[0].source.as_ref().unwrap().lines,
            "1"
        );
    }

    #[test]
    fn s30_a_cut_never_leaves_half_a_secret() {
        let secret = format!("ghp_{}", "a1B2c3".repeat(6));
        let text = format!("{}{secret} and more", "word ".repeat(4));
        let snapshot = EvidenceSnapshot::freeze("q", vec![excerpt("a.md", &text)]).unwrap();
        for one in 1..text.len() {
            let kept = SnapshotRecord::new(
                &snapshot,
                &[],
                &ExcerptCaps {
                    keep: true,
                    one,
                    all: 1000,
                },
            );
            assert!(
                !kept.items[0].excerpt.as_ref().unwrap().contains("ghp_"),
                "{one}"
            );
        }
    }
}
