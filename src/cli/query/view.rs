//! The output of `query --json` and `--jsonl`.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::snippet::Highlighter;
use local_agent_agent::operations::corrections::Correction;
use local_agent_agent::operations::search::Searched;
use local_agent_index::lexical::Query;
use local_agent_index::retrieval::{Coverage, Hit, Reranked, Stale};
use local_agent_text::types::LineSpan;

/// The object of `query --json`, without the roots.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct QueryView<'a> {
    /// The query as typed.
    pub query: String,
    /// The query as parsed and searched.
    pub parsed: &'a Query,
    pub outcome: Outcome,
    pub count: usize,
    pub hits: Vec<HitView<'a>>,
    /// The number of matching documents, if the query has only filters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<usize>,
    /// Words that no note contains.
    #[serde(skip_serializing_if = "<[Correction]>::is_empty")]
    pub corrections: &'a [Correction],
    /// How parts of the query were read that may have been meant otherwise.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub remarks: &'a [String],
    pub coverage: Coverage,
    /// Files that changed since they were indexed.
    pub index_stale: Vec<String>,
    pub stale: &'a [Stale],
    /// Why the ranking ignores the vectors, if it does.
    pub vectors_without_say: Option<&'a str>,
    /// The result of the reranker, if one ranked the hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reranked: Option<&'a Reranked>,
    pub warnings: &'a [String],
}

/// Whether anything was found.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum Outcome {
    Found,
    NothingFound,
}

/// One hit.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct HitView<'a> {
    /// The rank, from 1.
    rank: usize,
    source: &'a str,
    kind: &'a str,
    rel_path: &'a str,
    title: &'a str,
    heading_path: String,
    chunk_key: String,
    lines: LineSpan,
    /// The line of the file with the first search term.
    line: usize,
    start_byte: usize,
    end_byte: usize,
    /// Whether the file is unchanged since it was indexed.
    fresh: bool,
    /// Whether the file is gone.
    gone: bool,
    /// The chance that it is relevant, 0 to 1; null for a visitor of `serve` who sees some sources only.
    #[schemars(with = "Option<f32>")]
    score: f32,
    /// The reranker's score for query and passage; greater is better, without bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    reranker_score: Option<f32>,
    method: &'static str,
    metadata: &'static str,
    yaml_present: bool,
    yaml_parse_ok: Option<bool>,
    yaml_error: Option<&'a str>,
    required_keys_present: Option<bool>,
    text: &'a str,
    /// The configured description of its folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Value>,
}

impl<'a> QueryView<'a> {
    pub(super) fn new(
        text: String,
        searched: &'a Searched,
        warnings: &'a [String],
        explain: bool,
    ) -> Self {
        let hits = hits(searched, explain);
        Self {
            query: text,
            parsed: &searched.query,
            outcome: if hits.is_empty() {
                Outcome::NothingFound
            } else {
                Outcome::Found
            },
            count: hits.len(),
            documents: searched.documents,
            corrections: &searched.corrections,
            remarks: &searched.remarks,
            coverage: searched.found.coverage,
            index_stale: searched.index_stale(0..hits.len()),
            stale: &searched.found.stale,
            vectors_without_say: searched.found.vectors_without_say.as_deref(),
            reranked: searched.found.reranked.as_ref(),
            warnings,
            hits,
        }
    }
}

/// The hits of a search, best first.
pub(super) fn hits(searched: &Searched, explain: bool) -> Vec<HitView<'_>> {
    let mut highlighter = Highlighter::new(&searched.query);
    let found = searched.found.hits.iter().zip(&searched.fresh);
    found
        .zip(searched.gone.iter().zip(&searched.contexts))
        .enumerate()
        .map(|(at, ((hit, fresh), (gone, context)))| HitView {
            gone: *gone,
            context: context.as_deref(),
            ..HitView::new(at + 1, hit, *fresh, &mut highlighter, explain)
        })
        .collect()
}

impl<'a> HitView<'a> {
    fn new(
        rank: usize,
        hit: &'a Hit,
        fresh: bool,
        highlighter: &mut Highlighter,
        explain: bool,
    ) -> Self {
        let chunk = &hit.chunk;
        let (yaml_present, yaml_parse_ok, yaml_error, typed) = &chunk.yaml;
        Self {
            rank,
            source: chunk.source.as_str(),
            kind: &chunk.source_kind,
            rel_path: chunk.path.as_str(),
            title: &chunk.title,
            heading_path: chunk.heading.to_string(),
            chunk_key: chunk.key.to_string(),
            lines: chunk.lines,
            line: line_of_match(hit, highlighter),
            start_byte: chunk.span.start(),
            end_byte: chunk.span.end(),
            fresh,
            gone: false,
            score: hit.chance,
            reranker_score: hit.trace.reranker_score,
            method: hit.trace.method,
            metadata: metadata_state(*yaml_present, *yaml_parse_ok),
            yaml_present: *yaml_present,
            yaml_parse_ok: *yaml_parse_ok,
            yaml_error: yaml_error.as_deref(),
            required_keys_present: *typed,
            text: &chunk.text,
            context: None,
            explain: explain.then(|| explanation(hit)),
        }
    }
}

/// The line of the file with the first search term.
pub(super) fn line_of_match(hit: &Hit, highlighter: &mut Highlighter) -> usize {
    hit.chunk.lines.first() as usize + highlighter.line(&hit.chunk.text)
}

/// All numbers that determined the rank.
pub(super) fn explanation(hit: &Hit) -> Value {
    let mut all = serde_json::to_value(&hit.trace).unwrap_or_default();
    if hit.trace.fused.is_some() {
        all["blended"] = hit.score.into();
    } else {
        all["fused"] = hit.score.into();
    }
    all
}

/// `absent`, `present` or `unknown`, as shown by the Python version.
pub(super) fn metadata_state(yaml_present: bool, yaml_parse_ok: Option<bool>) -> &'static str {
    match (yaml_present, yaml_parse_ok) {
        (false, _) => "absent",
        (true, Some(true)) => "present",
        (true, _) => "unknown",
    }
}
