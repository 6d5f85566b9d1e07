//! The output of `ask --json`.

use schemars::JsonSchema;
use serde::Serialize;

use local_agent_agent::ask::{
    Answer, ClaimNote, ClaimOpinion, FileScope, Outcome, Purpose, RecomputedValue, Round, ToolStep,
    Trail,
};
use local_agent_agent::config::Config;
use local_agent_agent::llm::Model;
use local_agent_agent::memory::Recalled;
use local_agent_index::retrieval::{Coverage, Reranked, Stale};
use local_agent_text::evidence::{EvidenceItem, EvidenceSnapshot, FreshnessReport};
use local_agent_text::types::{ChunkKey, Label, LineSpan, RelPath, Sha256, SourceName};
use local_agent_verify::Report;

/// An answer with everything that is needed to verify it, without the roots and the run.
#[derive(Serialize, JsonSchema)]
pub(super) struct AnswerView<'a> {
    question: &'a str,
    outcome: Outcome,
    answer: Option<&'a str>,
    computed: Option<&'a RecomputedValue>,
    why: Option<&'a str>,
    doubts: Vec<ClaimNote>,
    left_out: &'a [ClaimNote],
    opinions: &'a [ClaimOpinion],
    answerer: &'static str,
    provider: &'static str,
    provider_why: &'a str,
    model: Option<&'a Model>,
    rounds: Vec<RoundView<'a>>,
    sent_to: &'a [String],
    verified: bool,
    snapshot_id: Sha256,
    evidence: Vec<EvidenceView<'a>>,
    freshness: &'a FreshnessReport,
    index_stale: &'a [String],
    citation_validation: Option<&'a Report>,
    citation_validation_footer: Option<String>,
    scope: &'static str,
    file: Option<&'a FileScope>,
    coverage: Coverage,
    stale: &'a [Stale],
    #[serde(skip_serializing_if = "Option::is_none")]
    reranked: Option<&'a Reranked>,
    warnings: &'a [String],
    memory: &'a [Recalled],
}

/// One item of the evidence, without its text.
#[derive(Serialize, JsonSchema)]
pub(super) struct EvidenceView<'a> {
    label: Label,
    source: &'a SourceName,
    rel_path: &'a RelPath,
    heading_path: String,
    chunk_key: ChunkKey,
    lines: LineSpan,
    start_byte: usize,
    end_byte: usize,
    text_sha256: Sha256,
    /// Null for a visitor of `serve` who sees some sources only.
    #[schemars(with = "Option<f32>")]
    score: f32,
}

/// One call of a model. Of its reply, only rejected sentences are included, each with its reason.
/// The whole reply is in the run's record.
#[derive(Serialize, JsonSchema)]
pub(super) struct RoundView<'a> {
    purpose: Purpose,
    prompt_sha256: Sha256,
    snapshot_id: Option<Sha256>,
    prompt_tokens: Option<u32>,
    reply_tokens: Option<u32>,
    refused: Option<&'a str>,
    refused_claims: Vec<ClaimNote>,
    report_sha256: Option<Sha256>,
    tools: Vec<StepView<'a>>,
}

/// One call of a tool, without its result.
#[derive(Serialize, JsonSchema)]
pub(super) struct StepView<'a> {
    name: &'a str,
    args: &'a serde_json::Value,
    outcome: &'a str,
    bytes: u64,
    labels: &'a [Label],
}

impl<'a> AnswerView<'a> {
    /// The view of an answer and of the memories shown with it.
    pub(super) fn new(
        config: &'a Config,
        question: &'a str,
        answer: &'a Answer,
        trail: &'a Trail,
        memory: &'a [Recalled],
    ) -> Self {
        let packed = &answer.packed;
        let items = packed.snapshot.items().iter().zip(&packed.scores);
        Self {
            question,
            outcome: answer.outcome(),
            answer: answer.text(),
            computed: answer.computed(),
            why: answer.why(),
            doubts: answer.doubts(),
            left_out: &answer.left_out,
            opinions: answer.opinions(),
            answerer: answer.answerer(),
            provider: trail.provider,
            provider_why: &trail.provider_why,
            model: trail.model.as_ref(),
            rounds: trail.rounds.iter().map(RoundView::from).collect(),
            sent_to: &trail.sent_to,
            verified: config.ask.show_as_verified && answer.text().is_some(),
            snapshot_id: packed.snapshot.id(),
            evidence: items
                .map(|(item, score)| EvidenceView::new(item, *score))
                .collect(),
            freshness: &packed.freshness,
            index_stale: &packed.index_stale,
            citation_validation: answer.report(),
            citation_validation_footer: answer.report().map(Report::footer),
            scope: if answer.file.is_some() {
                "file"
            } else {
                "notes"
            },
            file: answer.file.as_ref(),
            coverage: answer.coverage,
            stale: &answer.stale,
            reranked: answer.reranked.as_ref(),
            warnings: &config.warnings,
            memory,
        }
    }
}

impl<'a> EvidenceView<'a> {
    fn new(item: &'a EvidenceItem, score: f32) -> Self {
        Self {
            label: item.label,
            source: &item.source,
            rel_path: &item.path,
            heading_path: item.heading.to_string(),
            chunk_key: item.chunk_key,
            lines: item.lines,
            start_byte: item.span.start(),
            end_byte: item.span.end(),
            text_sha256: item.text_sha256,
            score,
        }
    }
}

impl<'a> From<&'a Round> for RoundView<'a> {
    fn from(round: &'a Round) -> Self {
        let reply = round.call.reply.as_ref();
        Self {
            purpose: round.purpose,
            prompt_sha256: round.call.prompt_sha256,
            snapshot_id: round.snapshot.as_ref().map(EvidenceSnapshot::id),
            prompt_tokens: reply.and_then(|reply| reply.prompt_tokens),
            reply_tokens: reply.and_then(|reply| reply.reply_tokens),
            refused: round.refused.as_deref(),
            refused_claims: round.refused_claims(),
            report_sha256: round.report.as_ref().map(|report| report.sha256),
            tools: round.steps.iter().map(StepView::from).collect(),
        }
    }
}

impl<'a> From<&'a ToolStep> for StepView<'a> {
    fn from(step: &'a ToolStep) -> Self {
        Self {
            name: &step.name,
            args: &step.args,
            outcome: &step.outcome,
            bytes: step.bytes,
            labels: &step.labels,
        }
    }
}
