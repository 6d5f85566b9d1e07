//! One call of a chat model, recorded in full in the trail.

use std::time::Instant;

use super::arriving::{self, ArrivingDraft, ReportedSentences};
use super::conversation::Rules;
use super::trail::{Call, Event, Observe, Purpose, Round, Timing, Trail};
use crate::llm::{Chat, Message, Offer, Reply, SEND_LESS, Sampling, bytes_to_read};
use local_agent_index::retrieval::Packed;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_verify::Report;

/// Minimum number of tokens for a useful reply.
pub(super) const SHORTEST_REPLY: u32 = 128;

/// Sends prompts to one model, and records them in the trail.
pub(super) struct Asker<'a, 'o> {
    pub chat: &'a Chat,
    pub trail: &'a mut Trail,
    pub observe: &'a mut Observe<'o>,
    /// The rules by which a draft is judged while it arrives; `None`: it is not.
    pub rules: Option<Rules>,
    reported: ReportedSentences,
}

impl<'a, 'o> Asker<'a, 'o> {
    pub(super) fn new(chat: &'a Chat, trail: &'a mut Trail, observe: &'a mut Observe<'o>) -> Self {
        Self {
            chat,
            trail,
            observe,
            rules: None,
            reported: ReportedSentences::default(),
        }
    }

    /// One call in which the model may call `tools`. The outcome is not recorded yet: see
    /// [`Self::note`]. With `evidence` the reply is a draft: its sentences are reported as soon as
    /// they pass.
    ///
    /// Errors: those of the observer. A failure of the call itself is the inner result.
    pub(super) fn send(
        &mut self,
        purpose: Purpose,
        messages: Vec<Message>,
        tools: &[Offer],
        sampling: Sampling,
        evidence: Option<&Packed>,
    ) -> Result<(Call, Result<Reply>)> {
        let model = self.chat.model();
        (self.observe)(&Event::Asking { model, purpose })?;
        self.trail.sends_to(model);
        let start = Instant::now();
        let mut stopped = None;
        let mut draft = match (evidence, self.rules) {
            (Some(evidence), Some(rules)) => {
                self.reported.begin();
                Some(ArrivingDraft::new(evidence, rules))
            }
            _ => None,
        };
        let mut size = ReplySize::default();
        let (observe, reported) = (&mut *self.observe, &mut self.reported);
        let outcome = self.chat.ask_with(&messages, tools, sampling, &mut |text| {
            let characters = size.of(text);
            let mut done = observe(&Event::Receiving { characters });
            if let (Ok(()), Some(draft)) = (&done, &mut draft) {
                done = reported.report(&draft.passing(text), observe);
            }
            stopped = done.clone().err();
            done
        });
        if let Some(failure) = stopped {
            return Err(failure);
        }
        let call = Call::new(model, messages, start, &outcome);
        self.trail.notes_answering_model(&call);
        self.trail.timings.push(Timing {
            step: "model",
            took_ms: call.took_ms,
        });
        Ok((call, outcome))
    }

    /// Like [`Self::send`]; a reply to a prompt that the model did not read in full is a failure,
    /// and every failure is recorded with the `evidence` that the model was shown.
    ///
    /// Errors: those of the observer and of [`Chat::ask_with`]; `LLM_CONTEXT_TRUNCATED`.
    pub(super) fn ask(
        &mut self,
        purpose: Purpose,
        messages: &[Message],
        tools: &[Offer],
        sampling: Sampling,
        evidence: Option<&Packed>,
    ) -> Result<(Call, Reply)> {
        let (call, outcome) = self.send(purpose, messages.to_vec(), tools, sampling, evidence)?;
        let outcome = outcome.and_then(|reply| {
            if reply.is_truncated(bytes_to_read(messages)) {
                Err(not_seen(self.chat))
            } else {
                Ok(reply)
            }
        });
        match outcome {
            Ok(reply) => Ok((call, reply)),
            Err(failure) => {
                self.note(Round::refused(purpose, call, &failure, evidence))?;
                Err(failure)
            }
        }
    }

    /// Reports the sentences of a whole draft that pass and are new.
    ///
    /// Errors: those of the observer.
    pub(super) fn report(&mut self, report: &Report, rules: &Rules) -> Result<()> {
        let passing = arriving::passing(&report.claims, rules);
        self.reported.report(&passing, self.observe)
    }

    /// Records a round.
    ///
    /// Errors: those of the observer.
    pub(super) fn note(&mut self, round: Round) -> Result<()> {
        (self.observe)(&Event::Round(&round))?;
        self.trail.rounds.push(round);
        Ok(())
    }
}

/// The size of a growing reply, of which only the new part is counted.
#[derive(Default)]
struct ReplySize {
    bytes: usize,
    characters: usize,
}

impl ReplySize {
    /// Number of characters of the reply so far.
    fn of(&mut self, text: &str) -> usize {
        let added = text.get(self.bytes..).unwrap_or_default();
        self.characters += added.chars().count();
        self.bytes = self.bytes.max(text.len());
        self.characters
    }
}

/// `sampling` with a reply length that fits the model's window next to the prompt;
/// `LLM_CONTEXT_TRUNCATED` if none fits.
pub(super) fn fitted(
    chat: &Chat,
    messages: &[Message],
    mut sampling: Sampling,
) -> Result<Sampling> {
    let Some(window) = chat.model().window else {
        return Ok(sampling);
    };
    let need = chat.count(messages);
    let left = window.saturating_sub(need);
    if left < SHORTEST_REPLY {
        return Err(too_small(chat, window, need));
    }
    sampling.max_tokens = sampling.max_tokens.min(left);
    Ok(sampling)
}

/// The failure `LLM_CONTEXT_TRUNCATED`: the prompt is larger than the model's window.
fn too_small(chat: &Chat, window: u32, need: u32) -> Failure {
    let model = chat.model();
    let message = format!(
        "The model `{}` has a window of {window} tokens; the question with its evidence needs about {need}.",
        model.name
    );
    Failure::new(ErrorCode::ContextTruncated, message)
        .with_hint("configure a model with a larger window, or raise llm.num_ctx if it is set")
}

/// The failure `LLM_CONTEXT_TRUNCATED`: the model saw only part of the prompt.
fn not_seen(chat: &Chat) -> Failure {
    let model = chat.model();
    let message = format!(
        "The model `{}` at {} did not read the whole prompt, so its answer was discarded.",
        model.name, model.endpoint
    );
    Failure::new(ErrorCode::ContextTruncated, message).with_hint(SEND_LESS)
}
