//! Records runs of `ask`: the record begins before any model is asked, and ends before any answer
//! is shown.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::privacy::KEPT_BACK;
use super::setup::fields_of;
use crate::ask::{AskResult, Chatted, Round, ToolStep, Trail};
use crate::config::{Config, Loaded, stays_on_this_machine};
use crate::llm::bytes_of;
use crate::memory::Recalled;
use crate::runs::{
    Begin, CalledTool, Checking, ContextItem, End, Finished, Mode, RecordedCall, Run, RunId,
    RunPlace, Sent,
};
use local_agent_text::error::Result;
use local_agent_text::evidence::canonical_json;
use local_agent_text::types::Sha256;

/// The record of this run, unless `runs.enabled` is off.
pub struct RunLog(Option<Run>);

/// The location of a configuration's runs.
pub fn place(config: &Config) -> RunPlace<'_> {
    RunPlace {
        runs_dir: &config.runs.dir,
        durable: &config.memory.db_path,
        only: config.client.as_ref(),
    }
}

impl RunLog {
    /// Begins the record. If the run cannot be recorded, it fails.
    pub fn begin(
        loaded: &Loaded,
        roots: &Map<String, Value>,
        asked_by: &str,
        mode: Mode,
        question: &str,
        checking: &Checking,
    ) -> Result<Self> {
        let config = &loaded.config;
        if !config.runs.enabled {
            return Ok(Self(None));
        }
        let begin = Begin {
            mode,
            asked_by,
            question,
            roots: serde_json::from_value(Value::Object(roots.clone())).unwrap_or_default(),
            config_sha256: config_sha256(loaded),
            checking: checking.clone(),
        };
        Run::begin(place(config), (&config.runs).into(), begin).map(|run| Self(Some(run)))
    }

    /// Its id.
    pub fn id(&self) -> Option<RunId> {
        self.0.as_ref().map(|run| run.id().clone())
    }

    /// Ends the record of a chat, whose text nothing has checked.
    pub fn end_chat(self, config: &Config, chatted: &Chatted) -> Result<Map<String, Value>> {
        let Some(run) = self.0 else {
            return Ok(fields(None));
        };
        let trail = &chatted.trail;
        let common = End {
            calls: trail.rounds.iter().map(call).collect(),
            sent: sent(config, trail, false),
            timings_ms: timings(trail),
            ..End::default()
        };
        let finished = match &chatted.text {
            Err(failure) => run.finish(&End {
                failure: Some(failure),
                ..common
            })?,
            Ok(text) => run.finish(&End {
                outcome: "unverified",
                answerer: trail.model.as_ref().map(|model| model.provider),
                text: Some(text),
                ..common
            })?,
        };
        Ok(fields(Some(&finished)))
    }

    /// Ends the record with the result; `None`: no record is kept. `embeds` says whether a server
    /// computed the vector of the question.
    pub fn end(
        self,
        config: &Config,
        asked: &AskResult,
        embeds: bool,
        recalled: &[Recalled],
    ) -> Result<Option<Finished>> {
        let Some(run) = self.0 else { return Ok(None) };
        let trail = &asked.trail;
        let common = End {
            calls: trail.rounds.iter().map(call).collect(),
            sent: sent(config, trail, embeds),
            context: recalled.iter().map(context_item).collect(),
            timings_ms: timings(trail),
            ..End::default()
        };
        let finished = match &asked.answer {
            Err(failure) => {
                // The evidence in the model's prompt before the failure.
                let last = trail
                    .rounds
                    .iter()
                    .rev()
                    .find_map(|round| Some((round.snapshot.as_ref()?, &round.freshness)));
                let unanswered = trail.unanswered.as_deref();
                let last = last.or(unanswered.map(|(snapshot, freshness)| (snapshot, freshness)));
                run.finish(&End {
                    failure: Some(failure),
                    snapshot: last.map(|(snapshot, _)| (snapshot, &[][..])),
                    freshness: last.map(|(_, freshness)| freshness),
                    ..common
                })?
            }
            Ok(answer) => run.finish(&End {
                outcome: answer.outcome().as_str(),
                answerer: Some(answer.answerer()),
                snapshot: Some((&answer.packed.snapshot, &answer.packed.scores)),
                freshness: Some(&answer.packed.freshness),
                draft: answer.draft(),
                report: answer.report(),
                opinions: answer.opinions(),
                text: answer.text(),
                why: answer.why(),
                index_stale: &answer.packed.index_stale,
                private_kept_back: answer.stale.iter().any(|one| one.what == KEPT_BACK),
                ..common
            })?,
        };
        Ok(Some(finished))
    }
}

/// One call of a chat model, in the form of the record.
fn call(round: &Round) -> RecordedCall {
    let Round {
        purpose,
        call,
        refused,
        ..
    } = round;
    let reply = call.reply.as_ref();
    RecordedCall {
        provider: call.model.provider.to_owned(),
        model: call.model.name.clone(),
        served_model: call.answering_model(),
        digest: call.model.digest.clone(),
        endpoint: call.model.endpoint.clone(),
        purpose: purpose.as_str().to_owned(),
        prompt_sha256: Some(call.prompt_sha256),
        prompt_bytes: bytes_of(&call.prompt) as u64,
        prompt_tokens: reply.and_then(|r| r.prompt_tokens).map(u64::from),
        reply_tokens: reply.and_then(|r| r.reply_tokens).map(u64::from),
        raw_reply: reply.map(|r| r.text.clone()),
        options: reply
            .and_then(|r| r.window)
            .map(|window| ("window".to_owned(), Value::from(window)))
            .into_iter()
            .collect(),
        elapsed_ms: call.took_ms,
        error: call.error.clone(),
        refused: refused.clone(),
        refused_claims: round.refused_claims(),
        tools: round.steps.iter().map(called_tool).collect(),
    }
}

/// Number of bytes of a call's arguments that a record keeps.
const MOST_ARGS: usize = 2000;

fn called_tool(step: &ToolStep) -> CalledTool {
    let args = step.args.to_string();
    CalledTool {
        name: step.name.clone(),
        args: args.chars().take(MOST_ARGS).collect(),
        args_sha256: Sha256::of(args.as_bytes()),
        outcome: step.outcome.clone(),
        bytes: step.bytes,
        result_sha256: step.sha256,
        labels: step.labels.clone(),
        trailing_text_ignored: step.trailing.clone(),
    }
}

/// Milliseconds per step; repeated steps are added up.
fn timings(trail: &Trail) -> Vec<(String, u64)> {
    let mut sums = BTreeMap::new();
    trail
        .timings
        .iter()
        .for_each(|timing| *sums.entry(timing.step.to_owned()).or_default() += timing.took_ms);
    sums.into_iter().collect()
}

fn context_item(one: &Recalled) -> ContextItem {
    ContextItem {
        label: one.label.clone(),
        memory_id: one.memory_id.clone(),
        content: one.content.clone(),
        content_sha256: Sha256::of(one.content.as_bytes()),
    }
}

/// What identifies a run in JSON outputs; null for a run that was not recorded.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunFields {
    /// Its id.
    run_id: Option<String>,
    /// The path of its record.
    run_record: Option<String>,
}

/// The fields of [`RunFields`].
pub fn fields(finished: Option<&Finished>) -> Map<String, Value> {
    fields_of(&RunFields {
        run_id: finished.map(|run| run.id.to_string()),
        run_record: finished.map(|run| run.path.to_string_lossy().into_owned()),
    })
}

/// Hash of every key with its effective value; numbers as text, so that the hash is the same
/// everywhere.
fn config_sha256(loaded: &Loaded) -> Sha256 {
    let settings: Map<String, Value> = loaded
        .origins
        .iter()
        .map(|one| (one.key.to_owned(), Value::String(one.value.to_string())))
        .collect();
    Sha256::of(canonical_json(&Value::Object(settings)).as_bytes())
}

/// The data that left this program on the way to the answer.
fn sent(config: &Config, trail: &Trail, embeds: bool) -> Vec<Sent> {
    let purposes: Vec<&str> = trail
        .rounds
        .iter()
        .map(|round| round.purpose.as_str())
        .collect();
    let chat = trail.sent_to.iter().map(|to| Sent {
        what: format!("to a chat model: {}", purposes.join(", ")),
        to: to.clone(),
        local: !trail.sent_away.contains(to),
    });
    let embedded = embeds.then(|| {
        let server = config.llm.server();
        let to = server.map_or_else(|_| config.llm.base_url.clone(), |url| url.to_string());
        Sent {
            what: "the question, to be embedded".to_owned(),
            local: stays_on_this_machine(&to, &config.embed.model),
            to,
        }
    });
    embedded.into_iter().chain(chat).collect()
}
