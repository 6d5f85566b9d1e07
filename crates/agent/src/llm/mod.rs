//! Chat models on servers that a person configured: one question out, one reply in.
//!
//! A server is trusted with nothing but its words. Which model answered, whether it saw the whole
//! prompt and whether its reply is whole is checked here; what the words are worth is checked by
//! `verify`. There is no model that only tests can reach: tests run a server of their own that
//! speaks the real wire format, so that what is tested is what is used, and nothing scripted can
//! ever answer a person.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `ollama` | `/api/chat` of an Ollama server |
//! | `openai` | `/v1/chat/completions` of llama.cpp, LM Studio, vLLM and their like |
//! | `patience` | when asking again is safe |
//! | `thinking` | thoughts that are no part of a reply |
//! | `calls` | calls of tools, in both wire formats |
//! | `tokens` | how many tokens a text may be |
//! | `route` | which of the configured models a question goes to |

mod calls;
mod ollama;
mod openai;
mod patience;
mod route;
mod thinking;
mod tokens;

#[cfg(test)]
mod protocol_tests;

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

pub use calls::{Offer, ToolCall};
pub use ollama::OllamaChat;
pub use openai::OpenAiChat;
pub use route::{BudgetKeys, Route, Speed, route};

use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

/// Until a connection to a server is made.
const CONNECT: Duration = Duration::from_secs(5);

/// Until a server says what it has.
const LOOK: Duration = Duration::from_secs(10);

/// The longest pause between two pieces of a reply that has begun.
const SILENCE: Duration = Duration::from_secs(120);

/// Bytes of a whole reply as it is sent; a streamed token costs a few hundred.
const MAX_REPLY: usize = 64 << 20;

/// The same question should get the same words; servers that know no seed ignore it.
const SEED: u32 = 1;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The rules.
    System,
    /// The person, and the evidence.
    User,
    /// The model, earlier.
    Assistant,
    /// A tool, called by the model.
    Tool,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    pub role: Role,
    pub content: String,
    /// Of an assistant: the tools it called in this message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Of a tool: the call that this is the result of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<ToolCall>,
}

impl Message {
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
            calls: Vec::new(),
            answers: None,
        }
    }

    /// What the model said when it called tools.
    pub fn calling(content: impl Into<String>, calls: Vec<ToolCall>) -> Self {
        Self {
            calls,
            ..Self::new(Role::Assistant, content)
        }
    }

    /// What came of a call.
    pub fn result(call: ToolCall, content: impl Into<String>) -> Self {
        Self {
            answers: Some(call),
            ..Self::new(Role::Tool, content)
        }
    }
}

/// SHA-256 of the messages as JSON: what exactly was sent.
pub fn prompt_sha256(messages: &[Message]) -> Sha256 {
    Sha256::of(json!(messages).to_string().as_bytes())
}

/// What a reply may cost, and how it is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Sampling {
    /// Tokens of the reply.
    pub max_tokens: u32,
    pub temperature: f32,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model was done, as far as the server says.
    Stop,
    /// The token limit cut it off.
    Length,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reply {
    /// The words, without thoughts; trimmed.
    pub text: String,
    /// Whether thoughts were taken away.
    pub had_thinking: bool,
    /// The model that the server says answered.
    pub served_model: Option<String>,
    pub finish: Finish,
    /// Tokens of the prompt that the model read, as the server counts.
    pub prompt_tokens: Option<u32>,
    /// Tokens of the reply, thoughts included, as the server counts.
    pub reply_tokens: Option<u32>,
    /// Tokens that the model had room for in this call, when that is known.
    pub window: Option<u32>,
    /// How often the server was asked: more than once when it was still loading.
    pub attempts: u32,
    /// Tools that the model wants called, in order; only when some were offered.
    pub calls: Vec<ToolCall>,
}

impl Reply {
    /// Whether the model cannot have read the whole prompt of `bytes` bytes: what it read fills its
    /// window to 95 %, or is less than one token for six bytes. A server that counts nothing gives
    /// no cause for doubt.
    pub fn is_truncated(&self, bytes: usize) -> bool {
        let Some(read) = self.prompt_tokens.map(u64::from) else {
            return false;
        };
        let full = self
            .window
            .is_some_and(|window| read * 100 > u64::from(window) * 95);
        full || read.saturating_mul(6) < bytes as u64
    }
}

/// Which model answers, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Model {
    /// `ollama` or `openai`.
    pub provider: &'static str,
    /// As the server lists it.
    pub name: String,
    /// The digest of its files, when the server says it.
    pub digest: Option<String>,
    /// `host:port` that text is sent to.
    pub endpoint: String,
    /// Tokens that the model has room for, when the server says it.
    pub window: Option<u32>,
    /// What a person should know about this server: plain sentences.
    pub warnings: Vec<String>,
}

/// Gets the number of bytes that a reply has so far, with every piece and several times a second
/// while none comes. Its failure ends the call: the connection is closed, and the server may stop.
pub type OnProgress<'a> = &'a mut dyn FnMut(usize) -> Result<()>;

/// A chat model on a server.
#[derive(Debug)]
pub enum Chat {
    /// An Ollama server.
    Ollama(Box<OllamaChat>),
    /// A server with an interface like OpenAI's.
    OpenAi(Box<OpenAiChat>),
}

impl Chat {
    /// Which model, and where.
    pub fn model(&self) -> &Model {
        match self {
            Self::Ollama(chat) => chat.model(),
            Self::OpenAi(chat) => chat.model(),
        }
    }

    /// Tokens of a prompt: exact where the server counts for us, else more than it can be expected
    /// to be.
    pub fn count(&self, messages: &[Message]) -> u32 {
        match self {
            Self::Ollama(_) => tokens::estimate(messages),
            Self::OpenAi(chat) => chat
                .count(messages)
                .unwrap_or_else(|| tokens::estimate(messages)),
        }
    }

    /// Sends `messages` and waits for the whole reply; the words themselves are given out only at
    /// the end.
    ///
    /// Errors: those of `on_progress`; `SERVER_UNREACHABLE`; `SERVER_ERROR` for a reply that breaks
    /// off, is too long, is no reply, or comes from another model; `MODEL_NOT_FOUND`;
    /// `LLM_CONTEXT_TRUNCATED` when the server says that the prompt is too long.
    pub fn ask(
        &self,
        messages: &[Message],
        sampling: Sampling,
        on_progress: OnProgress<'_>,
    ) -> Result<Reply> {
        self.ask_with(messages, &[], sampling, on_progress)
    }

    /// The same with tools that the model may call. Errors as [`Chat::ask`].
    pub fn ask_with(
        &self,
        messages: &[Message],
        tools: &[Offer],
        sampling: Sampling,
        on_progress: OnProgress<'_>,
    ) -> Result<Reply> {
        let start = Instant::now();
        let (outcome, wait) = match self {
            Self::Ollama(chat) => (
                chat.ask_with(messages, tools, sampling, on_progress),
                chat.wait(),
            ),
            Self::OpenAi(chat) => (
                chat.ask_with(messages, tools, sampling, on_progress),
                chat.wait(),
            ),
        };
        outcome.map_err(|failure| wait.explain(failure, start.elapsed()))
    }

    /// The same chat model, whose failures name these keys.
    pub fn with_keys(mut self, keys: BudgetKeys) -> Self {
        match &mut self {
            Self::Ollama(chat) => chat.wait_mut().key = keys.timeout_s,
            Self::OpenAi(chat) => chat.wait_mut().key = keys.timeout_s,
        }
        self
    }

    /// Whether the server takes tools in its own wire format. An Ollama says so of each model; of
    /// other servers it is not known, and assumed.
    pub fn takes_tools(&self) -> bool {
        match self {
            Self::Ollama(chat) => chat.takes_tools(),
            Self::OpenAi(_) => true,
        }
    }
}

/// How long a reply may take, and the key of the configuration that says so.
#[derive(Debug, Clone, Copy)]
struct Wait {
    limit: Duration,
    key: &'static str,
}

impl Wait {
    fn new(limit: Duration) -> Self {
        let key = BudgetKeys::USUAL.timeout_s;
        Self { limit, key }
    }

    /// A failure after all of the time names the key.
    fn explain(&self, failure: Failure, took: Duration) -> Failure {
        match failure.code {
            ErrorCode::ServerUnreachable if took >= self.limit => failure.with_hint(format!(
                "raise {} (it is {} now)",
                self.key,
                self.limit.as_secs()
            )),
            _ => failure,
        }
    }
}

/// Bytes of all messages together.
pub fn bytes_of(messages: &[Message]) -> usize {
    messages.iter().map(|m| m.content.len()).sum()
}

/// `host:port` of a base address.
fn endpoint(base: &str) -> String {
    base.split_once("://")
        .map_or(base, |(_, rest)| rest)
        .trim_end_matches('/')
        .to_owned()
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|n| u32::try_from(n).ok())
}
