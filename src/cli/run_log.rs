//! How a command records its run: begun before anything is asked, ended before anything is shown.

use std::io::IsTerminal as _;

use serde_json::{Map, Value, json};

use super::context::Context;
use super::output::talk;
use crate::ask::{Answer, Outcome, Question};
use crate::config::{Config, EmbedProvider, Loaded, ServerUrl};
use crate::error::Result;
use crate::evidence::canonical_json;
use crate::memory::Recalled;
use crate::retrieval::Engine;
use crate::runs::{Begin, Checking, ContextItem, End, Finished, Mode, Place, Roots, Run, Sent};
use crate::types::Sha256;

/// The record of this run, unless `runs.enabled` is off.
pub struct RunLog(Option<Run>);

/// Where a configuration keeps its runs.
pub fn place(config: &Config) -> Place<'_> {
    Place { runs_dir: &config.runs.dir, durable: &config.memory.db_path }
}

impl RunLog {
    /// Begins the record. A run that cannot be recorded is a failure.
    pub fn begin(context: &Context, loaded: &Loaded, question: &Question<'_>) -> Result<Self> {
        let config = &loaded.config;
        if !config.runs.enabled {
            return Ok(Self(None));
        }
        let begin = Begin {
            mode: Mode::Ask,
            question: question.text,
            roots: roots(context.roots()),
            config_sha256: config_sha256(loaded),
            checking: Checking::new(&question.verify, question.strict),
        };
        Run::begin(place(config), (&config.runs).into(), begin).map(|run| Self(Some(run)))
    }

    /// Ends the record with what came of it, and gives the fields that JSON outputs name it by.
    pub fn end(
        self,
        context: &Context,
        config: &Config,
        engine: &Engine,
        answer: &Result<Answer>,
        recalled: &[Recalled],
    ) -> Result<Map<String, Value>> {
        let Some(run) = self.0 else { return Ok(fields(None)) };
        let sent = sent(config, engine);
        let finished = match answer {
            Err(failure) => run.finish(&End { failure: Some(failure), sent, ..End::default() })?,
            Ok(answer) => run.finish(&End {
                outcome: match answer.outcome {
                    Outcome::Answered => "answered",
                    Outcome::Abstained => "abstained",
                },
                answerer: Some(answer.answerer),
                sent,
                snapshot: Some((&answer.packed.snapshot, &answer.packed.scores)),
                freshness: Some(&answer.packed.freshness),
                context: recalled.iter().map(context_item).collect(),
                draft: answer.draft.as_ref(),
                report: answer.report.as_ref(),
                text: answer.text.as_deref(),
                why: answer.why.as_deref(),
                index_stale: &answer.packed.index_stale,
                ..End::default()
            })?,
        };
        if let Some(why) = &finished.unanchored {
            let fix = why.hint.as_deref().unwrap_or("local-agent doctor");
            talk(&format!("runs: the ledger's head is not kept: {} (fix: {fix})", context.out.shown(&why.message)));
        }
        if !context.out.json && std::io::stderr().is_terminal() {
            talk(&context.out.dim(&format!("run {} (local-agent runs show last)", finished.id)));
        }
        Ok(fields(Some(&finished)))
    }
}

fn context_item(one: &Recalled) -> ContextItem {
    ContextItem {
        label: one.label.clone(),
        memory_id: one.memory_id.clone(),
        content: one.content.clone(),
        content_sha256: Sha256::of(one.content.as_bytes()),
    }
}

fn fields(finished: Option<&Finished>) -> Map<String, Value> {
    let body = json!({
        "run_id": finished.map(|run| run.id.to_string()),
        "run_record": finished.map(|run| run.path.to_string_lossy().into_owned()),
    });
    match body {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn roots(roots: Map<String, Value>) -> Roots {
    serde_json::from_value(Value::Object(roots)).unwrap_or_default()
}

/// Of every key with its value in force; numbers as text, so that the hash means the same everywhere.
fn config_sha256(loaded: &Loaded) -> Sha256 {
    let settings: Map<String, Value> =
        loaded.origins.iter().map(|one| (one.key.to_owned(), Value::String(one.value.to_string()))).collect();
    Sha256::of(canonical_json(&Value::Object(settings)).as_bytes())
}

/// What leaves this program on the way to an answer without a chat model: with a server that embeds, the question.
fn sent(config: &Config, engine: &Engine) -> Vec<Sent> {
    if config.embed.provider != EmbedProvider::Ollama || !engine.has_vectors() {
        return Vec::new();
    }
    let server = config.llm.server().ok();
    vec![Sent {
        what: "the question, to be embedded".to_owned(),
        to: server.as_ref().map_or_else(|| config.llm.base_url.clone(), ServerUrl::to_string),
        local: server.is_some_and(|server| server.is_loopback()),
    }]
}
