//! The state machine around a chat model: prompt → draft → verify → one repair → taken or refused.
//!
//! ```text
//! fit ──▶ ask ──▶ truncated? ──once──▶ half the evidence, a new snapshot ──▶ ask
//!          │                └──again──▶ LLM_CONTEXT_TRUNCATED
//!          ▼
//!        verify ──ok──▶ taken (an answer, or an honest refusal to answer)
//!          │
//!          └──rejected, cut or blank──once──▶ ask again, with the codes ──▶ verify ──▶ taken | refused
//! ```
//!
//! Nothing of a reply leaves this file before the verifier has passed all of it. At most three
//! calls are made.

use std::time::Instant;

use super::answerer::ChatAnswerer;
use super::prompt::{self, Nonce};
use super::trail::{Call, Event, Observe, Purpose, Round, Trail};
use crate::llm::{Chat, Finish, Message, Offer, Reply, Sampling, bytes_of};
use local_agent_index::retrieval::Packed;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::evidence::Draft;
use local_agent_verify::{self as verify, Outcome, Report, VerifyOptions};

/// Tokens that a reply needs to say anything.
pub(super) const SHORTEST_REPLY: u32 = 128;

/// What a reply that the token limit cut off is refused with.
pub(super) const CUT: &str = "LLM_REPLY_CUT";

/// What a blank reply is refused with.
pub(super) const BLANK: &str = "LLM_REPLY_BLANK";

/// How drafting ended.
pub(super) enum Drafted {
    /// The verifier passed all of it.
    Answer {
        text: String,
        draft: Draft,
        report: Report,
        packed: Packed,
    },
    /// The model says that the evidence does not answer, and claims nothing.
    Refusal {
        draft: Draft,
        report: Report,
        packed: Packed,
    },
    /// Refused twice.
    Rejected { reasons: String, report: Report },
}

/// Asks one model, and keeps the trail.
pub(super) struct Asker<'a, 'o> {
    pub chat: &'a Chat,
    pub trail: &'a mut Trail,
    pub observe: &'a mut Observe<'o>,
}

impl Asker<'_, '_> {
    /// One call. The outcome is noted by [`Self::note`].
    pub fn call(
        &mut self,
        purpose: Purpose,
        messages: Vec<Message>,
        sampling: Sampling,
    ) -> Result<(Call, Result<Reply>)> {
        self.call_with(purpose, messages, &[], sampling)
    }

    /// One call in which the model may call tools. The outcome is noted by [`Self::note`].
    pub fn call_with(
        &mut self,
        purpose: Purpose,
        messages: Vec<Message>,
        tools: &[Offer],
        sampling: Sampling,
    ) -> Result<(Call, Result<Reply>)> {
        let model = self.chat.model();
        (self.observe)(&Event::Asking { model, purpose })?;
        self.trail.sends_to(&model.endpoint);
        let start = Instant::now();
        let mut stopped = None;
        let outcome = self
            .chat
            .ask_with(&messages, tools, sampling, &mut |bytes| {
                let told = (self.observe)(&Event::Receiving { bytes });
                stopped = told.clone().err();
                told
            });
        if let Some(failure) = stopped {
            return Err(failure);
        }
        let call = Call::new(model, messages, start, &outcome);
        self.trail.timings.push(super::trail::Timing {
            step: "model",
            took_ms: call.took_ms,
        });
        Ok((call, outcome))
    }

    /// Notes a round.
    pub fn note(&mut self, round: Round) -> Result<()> {
        (self.observe)(&Event::Round(&round))?;
        self.trail.rounds.push(round);
        Ok(())
    }
}

/// Drafts an answer from `packed`.
///
/// Errors: those of [`Chat::ask`], `LLM_CONTEXT_TRUNCATED` when the model did not see all of the
/// evidence twice, and those of the observer.
pub(super) fn draft(
    answerer: &ChatAnswerer,
    packed: &Packed,
    options: &VerifyOptions,
    asker: &mut Asker<'_, '_>,
) -> Result<Drafted> {
    let nonce = Nonce::draw(packed.snapshot.items().iter().map(|i| i.text.as_str()))?;
    let (mut packed, mut sampling) = fit(
        &answerer.chat,
        &nonce,
        packed.first(usize::MAX),
        answerer.sampling,
    )?;
    let (mut halved, mut repaired) = (false, false);
    let mut messages = prompt::grounded(&nonce, &packed.snapshot);
    let mut purpose = Purpose::Draft;
    loop {
        let bytes = bytes_of(&messages);
        let (call, outcome) = asker.call(purpose, messages.clone(), sampling)?;
        let round = |report: Option<Report>, refused: Option<String>| Round {
            purpose,
            call,
            snapshot: Some(packed.snapshot.clone()),
            freshness: packed.freshness.clone(),
            report,
            refused,
            steps: Vec::new(),
        };
        let reply = match outcome {
            Ok(reply) if !reply.is_truncated(bytes) => reply,
            Err(failure) if failure.code != ErrorCode::ContextTruncated => {
                asker.note(round(None, Some(failure.code.to_string())))?;
                return Err(failure);
            }
            truncated => {
                asker.note(round(None, Some(ErrorCode::ContextTruncated.to_string())))?;
                let items = packed.snapshot.items().len();
                if halved || items < 2 {
                    return Err(truncated.err().unwrap_or_else(|| not_seen(&answerer.chat)));
                }
                halved = true;
                packed = packed.first(items / 2);
                messages = prompt::grounded(&nonce, &packed.snapshot);
                purpose = Purpose::Half;
                (asker.observe)(&Event::Frozen {
                    snapshot: &packed.snapshot,
                    freshness: &packed.freshness,
                })?;
                continue;
            }
        };
        let draft = Draft::parse(&reply.text, &packed.snapshot);
        let report = asker.trail.timed("verify", || {
            verify::verify(&draft, &packed.snapshot, &packed.freshness, options)
        });
        let refused = refused(&reply, &report);
        asker.note(round(Some(report.clone()), refused.clone()))?;
        let Some(reasons) = refused else {
            return match report.outcome {
                Outcome::Abstained => Ok(Drafted::Refusal {
                    draft,
                    report,
                    packed,
                }),
                _ => Ok(Drafted::Answer {
                    text: draft.render(&packed.snapshot)?.text,
                    draft,
                    report,
                    packed,
                }),
            };
        };
        if repaired {
            return Ok(Drafted::Rejected { reasons, report });
        }
        repaired = true;
        purpose = Purpose::Repair;
        messages = prompt::repair(messages, &reply.text, &objections(&reply, &report));
        sampling = answerer.sampling;
        if let Some(window) = answerer.chat.model().window {
            let room = window.saturating_sub(answerer.chat.count(&messages));
            sampling.max_tokens = sampling.max_tokens.min(room.max(SHORTEST_REPLY));
        }
    }
}

/// Why a reply is not taken; `None` when it is.
pub(super) fn refused(reply: &Reply, report: &Report) -> Option<String> {
    if reply.text.is_empty() {
        return Some(BLANK.to_owned());
    }
    if reply.finish == Finish::Length {
        return Some(CUT.to_owned());
    }
    (!report.ok).then(|| super::gate::codes(report))
}

/// What the model is told about its draft.
pub(super) fn objections(reply: &Reply, report: &Report) -> String {
    match refused(reply, report).as_deref() {
        Some(BLANK) => "- It was blank.\n".to_owned(),
        Some(CUT) => {
            "- It was cut off at the length limit. Write at most half as much.\n".to_owned()
        }
        _ => prompt::objections(report),
    }
}

/// Drops the last items until the prompt fits the model's window with room for a reply. A window
/// that nobody knows fits everything.
fn fit(
    chat: &Chat,
    nonce: &Nonce,
    mut packed: Packed,
    mut sampling: Sampling,
) -> Result<(Packed, Sampling)> {
    let Some(window) = chat.model().window else {
        return Ok((packed, sampling));
    };
    loop {
        let need = chat.count(&prompt::grounded(nonce, &packed.snapshot));
        let room = window.saturating_sub(need);
        if room >= SHORTEST_REPLY {
            sampling.max_tokens = sampling.max_tokens.min(room);
            return Ok((packed, sampling));
        }
        let items = packed.snapshot.items().len();
        if items < 2 {
            return Err(too_small(chat, window, need));
        }
        packed = packed.first(items - 1);
    }
}

pub(super) fn too_small(chat: &Chat, window: u32, need: u32) -> Failure {
    let model = chat.model();
    let message = format!(
        "The model `{}` has a window of {window} tokens; the question with its evidence needs about {need}.",
        model.name
    );
    Failure::new(ErrorCode::ContextTruncated, message)
        .with_hint("configure a model with a larger window")
}

pub(super) fn not_seen(chat: &Chat) -> Failure {
    let model = chat.model();
    let message = format!(
        "The model `{}` at {} did not read the whole prompt, so its answer was discarded.",
        model.name, model.endpoint
    );
    Failure::new(ErrorCode::ContextTruncated, message)
        .with_hint("lower ask.max_evidence_tokens or ask.top_n")
}
