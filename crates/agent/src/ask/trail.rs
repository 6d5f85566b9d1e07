//! The record of everything on the way to an answer: the prompts, the replies and the verdicts. It
//! contains all data for the run record, also for an abstention.

use std::time::Instant;

use serde::Serialize;

use super::answerer::is_of_server;
use super::claim_notes::{ClaimNote, claim_notes};
use super::{Answerer, Chosen};
use crate::llm::{Message, Model, Reply, prompt_sha256};
use local_agent_index::retrieval::Packed;
use local_agent_text::error::{Failure, Result};
use local_agent_text::evidence::{EvidenceSnapshot, FreshnessReport};
use local_agent_text::types::Sha256;
use local_agent_verify::{Claim, Report, Verdict};

/// One call of a chat model.
#[derive(Debug, Clone, Serialize)]
pub struct Call {
    /// The model that was asked, and where it runs.
    pub model: Model,
    /// The prompt, word for word.
    pub prompt: Vec<Message>,
    /// SHA-256 of the prompt as JSON.
    pub prompt_sha256: Sha256,
    /// The reply, without reasoning; `None` when the call failed.
    pub reply: Option<Reply>,
    /// Why the call failed.
    pub error: Option<String>,
    /// How long the call took, in milliseconds.
    pub took_ms: u64,
}

/// The purpose of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, schemars::JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// To choose the file to read.
    Acquire,
    /// The first draft.
    Draft,
    /// Another first draft, with half the evidence, because the model did not read all of it.
    Half,
    /// The draft again, in the required form.
    Format,
    /// The draft again, after the verifier's objections.
    Repair,
    /// A turn in which the model may call tools.
    Turn,
    /// A question without evidence and without tools.
    Chat,
    /// A second opinion on one claim.
    Judge,
}

impl Purpose {
    /// Its stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Acquire => "acquire",
            Self::Draft => "draft",
            Self::Half => "half",
            Self::Format => "format",
            Self::Repair => "repair",
            Self::Turn => "turn",
            Self::Chat => "chat",
            Self::Judge => "judge",
        }
    }
}

/// One call and the verdict on its reply.
#[derive(Debug, Clone, Serialize)]
pub struct Round {
    /// The purpose of the call.
    pub purpose: Purpose,
    /// The prompt and the reply.
    pub call: Call,
    /// The evidence that the reply was verified against; `None` if the reply was not a draft.
    pub snapshot: Option<EvidenceSnapshot>,
    /// The state of the files of that evidence when it was frozen; empty without evidence.
    pub freshness: FreshnessReport,
    /// The verifier's report on the reply.
    pub report: Option<Report>,
    /// Why the reply was rejected: codes, or another word. `None` if it was accepted.
    pub refused: Option<String>,
    /// The tool calls in the reply, and their results.
    pub steps: Vec<ToolStep>,
}

impl Round {
    /// A call without a usable reply; `evidence` is the evidence in its prompt.
    pub(super) fn refused(
        purpose: Purpose,
        call: Call,
        failure: &Failure,
        evidence: Option<&Packed>,
    ) -> Self {
        Self {
            snapshot: evidence.map(|packed| packed.snapshot.clone()),
            freshness: evidence.map_or_else(FreshnessReport::default, |p| p.freshness.clone()),
            refused: Some(failure.code.to_string()),
            ..Self::plain(purpose, call)
        }
    }

    /// The sentences of the reply that the verifier rejected, each with its reason.
    pub fn refused_claims(&self) -> Vec<ClaimNote> {
        match (&self.report, &self.snapshot) {
            (Some(report), Some(snapshot)) => claim_notes(report, snapshot, Verdict::Rejected),
            _ => Vec::new(),
        }
    }

    /// A call whose reply was not a draft, and was accepted.
    pub(super) fn plain(purpose: Purpose, call: Call) -> Self {
        Self {
            purpose,
            call,
            snapshot: None,
            freshness: FreshnessReport::default(),
            report: None,
            refused: None,
            steps: Vec::new(),
        }
    }
}

/// One call of a tool.
#[derive(Debug, Clone, Serialize)]
pub struct ToolStep {
    /// The name as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them; they may be invalid.
    pub args: serde_json::Value,
    /// `ok`, or the code of the failure.
    pub outcome: String,
    /// Number of bytes of text shown to the model.
    pub bytes: u64,
    /// SHA-256 of that text.
    pub sha256: Sha256,
    /// The labels for citing it.
    pub labels: Vec<local_agent_text::types::Label>,
    /// The beginning of the text after a call in the text envelope; it was ignored.
    pub trailing: Option<String>,
}

/// The duration of one step.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Timing {
    /// `retrieve`, `read`, `extract`, `model`, `verify`.
    pub step: &'static str,
    /// In milliseconds.
    pub took_ms: u64,
}

/// Everything that happened.
#[derive(Debug, Clone, Serialize)]
pub struct Trail {
    /// The chosen answerer: `extractive`, `ollama` or `openai`.
    pub provider: &'static str,
    /// The reason for the choice, in one plain sentence.
    pub provider_why: String,
    /// Whether a chat model is configured and cannot answer.
    #[serde(skip)]
    pub model_unavailable: bool,
    /// The chat model, when one was chosen.
    pub model: Option<Model>,
    /// The calls, in order.
    pub rounds: Vec<Round>,
    /// The steps, in order; a repeated step appears each time.
    pub timings: Vec<Timing>,
    /// `host:port` of the servers that received text; empty if no text left this program.
    pub sent_to: Vec<String>,
    /// Those of `sent_to` that are on another machine or send the text on to one.
    pub sent_away: Vec<String>,
    /// Number of claims about which the model of `verify.judge` was not asked, because there were
    /// too many or its server failed.
    pub claims_without_opinion: usize,
    /// The evidence of a question that a model's server left without an answer.
    #[serde(skip)]
    pub unanswered: Option<Box<(EvidenceSnapshot, FreshnessReport)>>,
}

impl Trail {
    /// The beginning of a trail: which answerer was chosen, and why.
    pub(super) fn of(chosen: &Chosen) -> Self {
        let model = match &chosen.answerer {
            Answerer::Extractive | Answerer::Unusable(_) => None,
            Answerer::Chat(chat) => Some(chat.chat.model().clone()),
        };
        Self {
            provider: model.as_ref().map_or("extractive", |m| m.provider),
            provider_why: chosen.why.clone(),
            model_unavailable: chosen.unavailable.is_some(),
            model,
            rounds: Vec::new(),
            timings: Vec::new(),
            sent_to: Vec::new(),
            sent_away: Vec::new(),
            claims_without_opinion: 0,
            unanswered: None,
        }
    }

    /// Keeps the evidence if the failure is one of a model's server.
    pub(super) fn keeps_unanswered(&mut self, failure: &Failure, packed: &Packed) {
        if is_of_server(failure) {
            let kept = (packed.snapshot.clone(), packed.freshness.clone());
            self.unanswered = Some(Box::new(kept));
        }
    }

    /// Runs one step and records its duration.
    pub(super) fn timed<T>(&mut self, step: &'static str, run: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let out = run();
        self.timings.push(Timing {
            step,
            took_ms: millis(start),
        });
        out
    }

    /// Adds a warning about the model to those that the person sees, once.
    fn warns(&mut self, warning: String) {
        if let Some(model) = &mut self.model
            && !model.warnings.contains(&warning)
        {
            model.warnings.push(warning);
        }
    }

    /// Notes that another model than the one that was asked has answered.
    pub(super) fn notes_answering_model(&mut self, call: &Call) {
        if let Some(other) = call.answering_model() {
            self.warns(format!(
                "`{}` was asked, and the server at {} says that `{other}` answered",
                call.model.name, call.model.endpoint
            ));
        }
    }

    /// Records that text is sent to a model.
    pub(super) fn sends_to(&mut self, model: &Model) {
        add_once(&mut self.sent_to, &model.endpoint);
        if !model.is_on_this_machine() {
            add_once(&mut self.sent_away, &model.endpoint);
        }
    }
}

fn add_once(list: &mut Vec<String>, text: &str) {
    if !list.iter().any(|other| other == text) {
        list.push(text.to_owned());
    }
}

pub(super) fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Call {
    /// The model that answered, if the server names another one than the one that was asked.
    pub fn answering_model(&self) -> Option<String> {
        self.reply.as_ref()?.other_model(&self.model.name)
    }

    /// The record of one call of a model.
    pub(super) fn new(
        model: &Model,
        prompt: Vec<Message>,
        start: Instant,
        outcome: &Result<Reply>,
    ) -> Self {
        Self {
            model: model.clone(),
            prompt_sha256: prompt_sha256(&prompt),
            prompt,
            reply: outcome.as_ref().ok().cloned(),
            error: outcome.as_ref().err().map(ToString::to_string),
            took_ms: millis(start),
        }
    }
}

/// Progress events; none of them contains a model's words that the verifier did not pass.
#[derive(Debug)]
pub enum Event<'a> {
    /// The evidence is final. Nothing has been sent yet, and nothing is sent if the observer fails.
    Frozen {
        /// The evidence.
        snapshot: &'a EvidenceSnapshot,
        /// The state of its files.
        freshness: &'a FreshnessReport,
    },
    /// A model is about to receive a prompt.
    Asking {
        /// The model, and where it runs.
        model: &'a Model,
        /// The purpose of the call.
        purpose: Purpose,
    },
    /// The size of the reply so far.
    Receiving {
        /// Number of characters so far.
        characters: usize,
    },
    /// A sentence of a draft that the verifier passed, before the answer is final. It is part of
    /// the answer only if the answer contains it.
    Sentence {
        /// The number of the draft, from 1 on. A new number replaces the sentences of the older
        /// ones.
        draft: u32,
        /// The sentence and its verdict.
        claim: &'a Claim,
    },
    /// A call is finished.
    Round(&'a Round),
}

/// An observer; if it fails, the question ends with that failure.
pub type Observe<'a> = dyn FnMut(&Event<'_>) -> Result<()> + 'a;
