//! The turns of a question about evidence from the index: one prompt contains all of it.
//!
//! ```text
//! fit into the window ──▶ ask ──▶ read whole? ──no, once──▶ half the evidence, a new snapshot ──▶ ask
//!                                     └──no, again──▶ LLM_CONTEXT_TRUNCATED
//! ```

use super::answerer::ChatAnswerer;
use super::asker::{Asker, SHORTEST_REPLY, fitted};
use super::conversation::{Received, Turns};
use super::prompt::{self, Nonce};
use super::trail::{Event, Purpose};
use crate::config::FolderContext;
use crate::llm::{Message, Sampling};
use local_agent_index::retrieval::Packed;
use local_agent_text::error::{ErrorCode, Result};

/// One question with its evidence.
pub(super) struct GroundedTurns<'a> {
    answerer: &'a ChatAnswerer,
    nonce: Nonce,
    packed: Packed,
    sampling: Sampling,
    messages: Vec<Message>,
    contexts: &'a [FolderContext],
}

impl<'a> GroundedTurns<'a> {
    /// Keeps the first items of `packed` that fit the model's window.
    ///
    /// Errors: `LLM_CONTEXT_TRUNCATED` when not even one item fits.
    pub(super) fn new(
        answerer: &'a ChatAnswerer,
        packed: &Packed,
        contexts: &'a [FolderContext],
    ) -> Result<Self> {
        let nonce = Nonce::draw(packed.snapshot.items().iter().map(|i| i.text.as_str()))?;
        let mut count = packed.snapshot.items().len();
        loop {
            let packed = packed.first(count);
            let messages = prompt::grounded(&nonce, &packed.snapshot, contexts);
            match fitted(&answerer.chat, &messages, answerer.sampling) {
                Err(_) if count > 1 => count -= 1,
                sampling => {
                    return Ok(Self {
                        answerer,
                        nonce,
                        packed,
                        sampling: sampling?,
                        messages,
                        contexts,
                    });
                }
            }
        }
    }

    fn halve(&mut self) {
        self.packed = self.packed.first(self.packed.snapshot.items().len() / 2);
        self.messages = prompt::grounded(&self.nonce, &self.packed.snapshot, self.contexts);
    }
}

impl Turns for GroundedTurns<'_> {
    fn next_reply(
        &mut self,
        again: Option<Purpose>,
        asker: &mut Asker<'_, '_>,
    ) -> Result<Received> {
        let mut purpose = again.unwrap_or(Purpose::Draft);
        loop {
            let asked = asker.ask(
                purpose,
                &self.messages,
                &[],
                self.sampling,
                Some(&self.packed),
            );
            match asked {
                Ok((call, reply)) => {
                    return Ok(Received {
                        purpose,
                        call,
                        reply,
                    });
                }
                Err(failure)
                    if failure.code == ErrorCode::ContextTruncated
                        && purpose == Purpose::Draft
                        && self.packed.snapshot.items().len() > 1 =>
                {
                    self.halve();
                    purpose = Purpose::Half;
                    (asker.observe)(&Event::Frozen {
                        snapshot: &self.packed.snapshot,
                        freshness: &self.packed.freshness,
                    })?;
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    fn evidence(&self) -> Result<Packed> {
        Ok(self.packed.first(usize::MAX))
    }

    fn object(&mut self, reply: &str, objections: &str) {
        let messages = std::mem::take(&mut self.messages);
        self.messages = prompt::repair(messages, reply, objections);
        self.sampling = self.answerer.sampling;
        if let Some(window) = self.answerer.chat.model().window {
            let room = window.saturating_sub(self.answerer.chat.count(&self.messages));
            self.sampling.max_tokens = self.sampling.max_tokens.min(room.max(SHORTEST_REPLY));
        }
    }
}
