//! Chat models on servers that the user configured: one prompt out, one reply in.
//!
//! A server is trusted only to return text. This module checks which model answered, whether it saw
//! the whole prompt and whether its reply is complete; `verify` checks the content. The program
//! contains no test model: tests run their own server with the real wire format. So they test the
//! code that users run, and no scripted reply can ever reach a user.
//!
//! | file | contents |
//! | --- | --- |
//! | `ollama` | `/api/chat` of an Ollama server |
//! | `openai` | `/v1/chat/completions` of llama.cpp, LM Studio, vLLM and similar servers |
//! | `patience` | when asking again is safe |
//! | `thinking` | thinking that is not part of a reply |
//! | `calls` | tool calls, in both wire formats |
//! | `tokens` | estimates how many tokens a text has |
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

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

pub use calls::{Offer, ToolCall};
pub use ollama::OllamaChat;
pub use openai::OpenAiChat;
pub(crate) use openai::SEND_LESS;
pub use route::{BudgetKeys, Route, Speed, route};
pub(crate) use thinking::without_thinking;

use crate::config::stays_on_this_machine;
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::types::Sha256;

/// Timeout for connecting to a server.
const CONNECT: Duration = Duration::from_secs(5);

/// Timeout for a server to list its models.
const LOOK: Duration = Duration::from_secs(10);

/// The longest pause between two pieces of a reply that has begun.
const SILENCE: Duration = Duration::from_secs(120);

/// Maximum size of a whole reply as sent, in bytes; a streamed token takes a few hundred.
const MAX_REPLY: usize = 64 << 20;

/// The sampling seed, so that the same question gets the same text; servers without seeds ignore
/// it.
const SEED: u32 = 1;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The instructions.
    System,
    /// The user, and the evidence.
    User,
    /// The model in an earlier turn.
    Assistant,
    /// A tool, called by the model.
    Tool,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Message {
    /// The author.
    pub role: Role,
    /// The text. May be empty if the message calls tools.
    pub content: String,
    /// For an assistant: the tools it called in this message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// For a tool: the call that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<ToolCall>,
}

impl Message {
    /// A message with text only: it calls no tools and answers no call.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
            calls: Vec::new(),
            answers: None,
        }
    }

    /// The model's message when it called tools.
    pub fn calling(content: impl Into<String>, calls: Vec<ToolCall>) -> Self {
        Self {
            calls,
            ..Self::new(Role::Assistant, content)
        }
    }

    /// The result of a call.
    pub fn result(call: ToolCall, content: impl Into<String>) -> Self {
        Self {
            answers: Some(call),
            ..Self::new(Role::Tool, content)
        }
    }
}

/// SHA-256 of the messages as JSON: identifies exactly what was sent.
pub fn prompt_sha256(messages: &[Message]) -> Sha256 {
    Sha256::of(json!(messages).to_string().as_bytes())
}

/// The length limit and sampling of a reply.
#[derive(Debug, Clone, Copy)]
pub struct Sampling {
    /// Maximum number of tokens in the reply.
    pub max_tokens: u32,
    /// Sampling temperature; at 0 the most likely token is always chosen.
    pub temperature: f32,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model finished, as far as the server reports.
    Stop,
    /// The token limit cut it off.
    Length,
}

/// A reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reply {
    /// The text, without reasoning; trimmed.
    pub text: String,
    /// Whether reasoning was removed.
    pub had_thinking: bool,
    /// The model that answered, according to the server.
    pub served_model: Option<String>,
    /// Why the reply ended.
    pub finish: Finish,
    /// Number of prompt tokens that the model read, according to the server.
    pub prompt_tokens: Option<u32>,
    /// Number of reply tokens including reasoning, according to the server.
    pub reply_tokens: Option<u32>,
    /// Size of the model's context window in this call, if known.
    pub window: Option<u32>,
    /// Number of attempts: more than one if the server was still loading.
    pub attempts: u32,
    /// Tools that the model wants to call, in order; only if some were offered.
    pub calls: Vec<ToolCall>,
}

impl Reply {
    /// The model that answered, if the server names another one than `asked`: on one line, at most
    /// 200 characters. Some servers have one model and ignore the name in a request. A server may
    /// also name the same model by its file, or add the date of its version.
    pub fn other_model(&self, asked: &str) -> Option<String> {
        let served = self.served_model.as_deref()?.trim();
        if served.is_empty() || is_same_model(asked, served) {
            return None;
        }
        Some(
            served
                .chars()
                .filter(|c| !c.is_control())
                .take(200)
                .collect(),
        )
    }

    /// Whether the model cannot have read the whole prompt of `bytes` bytes, as [`bytes_to_read`]
    /// counts them: its prompt tokens fill the window to 95 %, or are fewer than one per six bytes.
    /// If the server reports no counts, the prompt is assumed to be complete.
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

/// The model that answers, and its location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Model {
    /// `ollama` or `openai`.
    pub provider: &'static str,
    /// The name in the server's list.
    pub name: String,
    /// The digest of its files, if the server reports one.
    pub digest: Option<String>,
    /// `host:port` that receives the text.
    pub endpoint: String,
    /// Size of the model's context window, if the server reports it.
    pub window: Option<u32>,
    /// Warnings for the user about this server: plain sentences.
    pub warnings: Vec<String>,
}

impl Model {
    /// Whether the text for this model stays on this machine: its server is here and runs the model
    /// itself.
    pub fn is_on_this_machine(&self) -> bool {
        stays_on_this_machine(&format!("http://{}", self.endpoint), &self.name)
    }
}

/// Receives the reply so far, with reasoning: with every piece, and several times a second between
/// pieces. If it fails, the call ends and the connection is closed, which may stop the server.
pub type OnProgress<'a> = &'a mut dyn FnMut(&str) -> Result<()>;

/// A chat model on a server.
#[derive(Debug)]
pub enum Chat {
    /// An Ollama server.
    Ollama(Box<OllamaChat>),
    /// A server with an OpenAI-compatible interface.
    OpenAi(Box<OpenAiChat>),
}

impl Chat {
    /// The model and its location.
    pub fn model(&self) -> &Model {
        match self {
            Self::Ollama(chat) => chat.model(),
            Self::OpenAi(chat) => chat.model(),
        }
    }

    /// Number of tokens in a prompt: exact if the server counts them, otherwise an upper estimate.
    pub fn count(&self, messages: &[Message]) -> u32 {
        match self {
            Self::Ollama(_) => tokens::estimate(messages),
            Self::OpenAi(chat) => chat
                .count(messages)
                .unwrap_or_else(|| tokens::estimate(messages)),
        }
    }

    /// Sends `messages` and waits for the whole reply.
    ///
    /// A server with an OpenAI-compatible interface may answer with another model than the one that
    /// was asked: [`Reply::other_model`].
    ///
    /// Errors: those of `on_progress`; `SERVER_UNREACHABLE`; `SERVER_ERROR` for a reply that breaks
    /// off, is too long, is invalid, or comes from another model of an Ollama; `MODEL_NOT_FOUND`;
    /// `LLM_CONTEXT_TRUNCATED` when the server says that the prompt is too long.
    pub fn ask(
        &self,
        messages: &[Message],
        sampling: Sampling,
        on_progress: OnProgress<'_>,
    ) -> Result<Reply> {
        self.ask_with(messages, &[], sampling, on_progress)
    }

    /// Like [`Chat::ask`], with tools that the model may call, and with the same errors.
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

    /// The same chat model, with these keys in its failures.
    pub fn with_keys(mut self, keys: BudgetKeys) -> Self {
        match &mut self {
            Self::Ollama(chat) => chat.wait_mut().key = keys.timeout_s,
            Self::OpenAi(chat) => chat.wait_mut().key = keys.timeout_s,
        }
        self
    }

    /// The same chat model, requesting the same windows as `other` if it is the same model on the
    /// same server.
    #[must_use]
    pub fn with_window_of(mut self, other: &Self) -> Self {
        if let (Self::Ollama(own), Self::Ollama(other)) = (&mut self, other) {
            own.share_window(other);
        }
        self
    }

    /// Whether the server accepts tools in its own wire format. Ollama reports it for each model;
    /// for other servers it is unknown and assumed.
    pub fn takes_tools(&self) -> bool {
        match self {
            Self::Ollama(chat) => chat.takes_tools(),
            Self::OpenAi(_) => true,
        }
    }
}

/// The time limit of a reply, and the configuration key that sets it.
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

    /// If the time limit was reached, names the key in the failure.
    fn explain(&self, failure: Failure, took: Duration) -> Failure {
        match failure.code {
            ErrorCode::ServerUnreachable if took >= self.limit => failure.with_fix(
                Fix::ChangeSetting,
                format!("raise {} (it is {} now)", self.key, self.limit.as_secs()),
            ),
            _ => failure,
        }
    }
}

/// Number of bytes of all messages, in which a run of one sign or of spaces counts once: tokenizers
/// make few tokens of it. The columns of a wide table are mostly such runs.
pub fn bytes_to_read(messages: &[Message]) -> usize {
    messages
        .iter()
        .map(|m| bytes_without_runs(&m.content))
        .sum()
}

fn bytes_without_runs(text: &str) -> usize {
    let mut last = None;
    let mut bytes = 0;
    for c in text.chars() {
        if c.is_alphanumeric() || last != Some(c) {
            bytes += c.len_utf8();
        }
        last = Some(c);
    }
    bytes
}

/// Whether two names mean the same model: without folder, `.gguf` and `:latest`, in any case of
/// letters, with or without the date of a version (`gpt-4o-2024-08-06`).
fn is_same_model(asked: &str, served: &str) -> bool {
    let (asked, served) = (bare_model(asked), bare_model(served));
    let dated = |long: &str, short: &str| {
        long.strip_prefix(short)
            .is_some_and(|rest| rest.starts_with('-') && rest.len() >= 5 && is_date(rest))
    };
    asked == served || dated(&served, &asked)
}

/// The last part of a model's name, in lower case.
fn bare_model(name: &str) -> String {
    let name = name.trim().to_lowercase();
    let name = name.rsplit(['/', '\\']).next().unwrap_or(&name);
    let name = name.strip_suffix(".gguf").unwrap_or(name);
    name.strip_suffix(":latest").unwrap_or(name).to_owned()
}

/// Whether a text has only digits and hyphens.
fn is_date(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || c == '-')
}

/// Number of bytes in all messages together.
pub fn bytes_of(messages: &[Message]) -> usize {
    messages.iter().map(|m| m.content.len()).sum()
}

/// `host:port` of a base URL.
fn endpoint(base: &str) -> String {
    base.split_once("://")
        .map_or(base, |(_, rest)| rest)
        .trim_end_matches('/')
        .to_owned()
}

/// A number as it was written in the configuration: 0.2 and not 0.20000000298023224.
fn decimal(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|n| u32::try_from(n).ok())
}
