//! `/api/chat` of an Ollama server.
//!
//! Always uses `/api/chat`, never the server's `/v1`, because only here the window can be set: a
//! server that cut the prompt silently was the original defect (W8). The model is looked up before
//! anything is sent, and never pulled.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::calls::{self, Calls, Offer};
use super::patience::until_ready;
use super::thinking::without_thinking;
use super::{
    CONNECT, Finish, LOOK, MAX_REPLY, Message, Model, OnProgress, Reply, SEED, SILENCE, Sampling,
    Wait, decimal, number, tokens,
};
use local_agent_net::http::{Client, Flow, Limits, Piece, server_error};
use local_agent_net::ollama::{is_model, tags};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// The smallest window that is requested: the usual one of Ollama, so that a short prompt does not
/// make it load a model again. Larger windows are powers of two for the same reason.
const SMALLEST_WINDOW: u32 = 4096;

/// A chat model on an Ollama server.
pub struct OllamaChat {
    client: Client,
    base: String,
    model: Model,
    wait: Wait,
    /// Whether the model produces reasoning unless the request forbids it.
    thinks: bool,
    /// Whether it supports tool calls.
    tools: bool,
    /// The configured window; `None`: as large as the prompts need.
    num_ctx: Option<u32>,
    /// How long the server keeps the model in memory, as it is sent; null: the server decides.
    keep_alive: Value,
    /// The largest window that was requested so far. It never shrinks, because another window makes
    /// the server load the model again.
    requested: Arc<AtomicU32>,
}

impl std::fmt::Debug for OllamaChat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OllamaChat")
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl OllamaChat {
    /// Looks up `model` on the server at `base`, waiting at most `look` for its model list.
    /// `timeout` limits one reply, including loading the model.
    ///
    /// Errors: `SERVER_UNREACHABLE`, `SERVER_ERROR`; `MODEL_NOT_FOUND` when the server does not
    /// list the model.
    pub fn connect(base: &str, model: &str, look: Duration, timeout: Duration) -> Result<Self> {
        let base = base.trim_end_matches('/').to_owned();
        let tag = tags(&base, look.min(LOOK))?
            .into_iter()
            .find(|t| is_model(&t.name, model));
        let tag = tag.ok_or_else(|| not_found(&base, model))?;
        let shown = show(&base, &tag.name);
        let limits = Limits {
            connect: CONNECT,
            idle: timeout,
            total: timeout,
            max_body: MAX_REPLY,
        };
        let model = Model {
            provider: "ollama",
            name: tag.name,
            digest: tag.digest,
            endpoint: super::endpoint(&base),
            window: shown.as_ref().and_then(window_of),
            warnings: Vec::new(),
        };
        let (thinks, tools) = (
            has_capability(shown.as_ref(), "thinking"),
            has_capability(shown.as_ref(), "tools"),
        );
        Ok(Self {
            client: Client::new(limits)?,
            base,
            model,
            wait: Wait::new(timeout),
            thinks,
            tools,
            num_ctx: None,
            keep_alive: Value::Null,
            requested: Arc::default(),
        })
    }

    /// The same model with the window `num_ctx`, if given, kept in memory for `keep_alive`.
    #[must_use]
    pub fn with_memory(mut self, num_ctx: Option<u32>, keep_alive: Option<&str>) -> Self {
        if let Some(wanted) = num_ctx {
            let window = self.model.window.map_or(wanted, |most| wanted.min(most));
            (self.num_ctx, self.model.window) = (Some(window), Some(window));
        }
        // Without a unit the server takes only a number.
        self.keep_alive = keep_alive.map_or(Value::Null, |time| {
            time.parse::<i64>()
                .map_or(json!(time), |seconds| json!(seconds))
        });
        self
    }

    /// Requests the same windows as `other`, if it is the same model on the same server.
    pub fn share_window(&mut self, other: &Self) {
        if self.base == other.base && self.model.name == other.model.name {
            self.requested = Arc::clone(&other.requested);
        }
    }

    /// The model and its location.
    pub fn model(&self) -> &Model {
        &self.model
    }

    pub(super) fn wait(&self) -> Wait {
        self.wait
    }

    pub(super) fn wait_mut(&mut self) -> &mut Wait {
        &mut self.wait
    }

    /// Like [`super::Chat::takes_tools`].
    pub fn takes_tools(&self) -> bool {
        self.tools
    }

    /// Like [`super::Chat::ask`].
    pub fn ask(
        &self,
        messages: &[Message],
        sampling: Sampling,
        on_progress: OnProgress<'_>,
    ) -> Result<Reply> {
        self.ask_with(messages, &[], sampling, on_progress)
    }

    /// Like [`super::Chat::ask_with`].
    pub fn ask_with(
        &self,
        messages: &[Message],
        tools: &[Offer],
        sampling: Sampling,
        on_progress: OnProgress<'_>,
    ) -> Result<Reply> {
        let url = format!("{}/api/chat", self.base);
        let offered = (!tools.is_empty()).then(|| calls::offers(tools));
        let window = self.window_for(messages, offered.as_ref(), sampling);
        let body = self.body(messages, offered, sampling, window);
        let mut stream = OllamaStream::default();
        let (status, attempts) = until_ready(self.wait.limit, || {
            on_progress(&stream.text)?;
            self.client
                .post_lines(&url, &body, None, SILENCE, &mut |piece| {
                    let flow = match piece {
                        Piece::Line(line) => stream.line(&url, line)?,
                        Piece::Waiting => Flow::More,
                    };
                    on_progress(&stream.text)?;
                    Ok(flow)
                })
        })?;
        if !(200..300).contains(&status.status) {
            return Err(self.refused(&url, &status));
        }
        if !stream.done {
            return Err(server_error(&url, "broke off its reply"));
        }
        if let Some(other) = stream
            .model
            .as_deref()
            .filter(|name| !is_model(name, &self.model.name))
        {
            let what = format!(
                "answered with the model `{other}`; `{}` was asked",
                self.model.name
            );
            return Err(server_error(&url, &what));
        }
        let (text, tagged) = without_thinking(&stream.text);
        Ok(Reply {
            text,
            had_thinking: tagged || stream.thought,
            served_model: stream.model,
            finish: stream.finish,
            prompt_tokens: stream.prompt_tokens,
            reply_tokens: stream.reply_tokens,
            window: Some(window),
            attempts,
            calls: stream.calls.finish(),
        })
    }

    /// The window to request: the configured one; otherwise enough for the prompt, the reply and the
    /// offered tools, not less than in an earlier call, and at most the model's own window.
    fn window_for(&self, messages: &[Message], offered: Option<&Value>, sampling: Sampling) -> u32 {
        if let Some(window) = self.num_ctx {
            return window;
        }
        let offer_tokens = offered.map_or(0, |offered| offered.to_string().len() / 2);
        let offer_tokens = u32::try_from(offer_tokens).unwrap_or(u32::MAX);
        let need = tokens::estimate(messages)
            .saturating_add(sampling.max_tokens)
            .saturating_add(offer_tokens)
            .max(SMALLEST_WINDOW);
        let need = need.checked_next_power_of_two().unwrap_or(need);
        let before = self.requested.fetch_max(need, Ordering::Relaxed);
        let window = need.max(before);
        self.model.window.map_or(window, |most| window.min(most))
    }

    /// The body of a request to `/api/chat`.
    fn body(
        &self,
        messages: &[Message],
        offered: Option<Value>,
        sampling: Sampling,
        window: u32,
    ) -> Value {
        let mut body = json!({
            "model": self.model.name,
            "messages": calls::ollama_messages(messages),
            "stream": true,
            // Newer servers then report that the prompt is too long instead of cutting it; older
            // ones ignore this.
            "truncate": false,
            "shift": false,
            "options": {
                "num_ctx": window,
                "num_predict": sampling.max_tokens,
                "temperature": decimal(sampling.temperature),
                "seed": SEED,
            },
        });
        if let Some(offered) = offered {
            body["tools"] = offered;
        }
        if !self.keep_alive.is_null() {
            body["keep_alive"] = self.keep_alive.clone();
        }
        if self.thinks {
            body["think"] = Value::Bool(false);
        }
        body
    }

    fn refused(&self, url: &str, reply: &local_agent_net::http::Reply) -> Failure {
        let failure = match reply.json(url) {
            Err(failure) => failure,
            Ok(_) => server_error(url, "sent a reply that was not asked for"),
        };
        if super::openai::is_overflow(&failure.message) {
            return super::openai::overflow(&self.model.endpoint);
        }
        if reply.status == 404 {
            not_found(&self.base, &self.model.name)
        } else {
            failure
        }
    }
}

/// Whether the server lists the capability.
fn has_capability(shown: Option<&Value>, what: &str) -> bool {
    let listed = shown.as_ref().and_then(|s| s["capabilities"].as_array());
    listed.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(what)))
}

/// The content of the stream so far.
struct OllamaStream {
    calls: Calls,
    text: String,
    thought: bool,
    model: Option<String>,
    done: bool,
    finish: Finish,
    prompt_tokens: Option<u32>,
    reply_tokens: Option<u32>,
}

impl Default for OllamaStream {
    fn default() -> Self {
        Self {
            calls: Calls::default(),
            text: String::new(),
            thought: false,
            model: None,
            done: false,
            finish: Finish::Stop,
            prompt_tokens: None,
            reply_tokens: None,
        }
    }
}

impl OllamaStream {
    /// Processes one line: an object with a piece of the message, or with the end.
    fn line(&mut self, url: &str, line: &str) -> Result<Flow> {
        if line.trim().is_empty() {
            return Ok(Flow::More);
        }
        let piece: Value = serde_json::from_str(line)
            .map_err(|_| server_error(url, "sent a line that is not JSON"))?;
        if let Some(error) = piece["error"].as_str() {
            if super::openai::is_overflow(error) {
                return Err(super::openai::overflow(&super::endpoint(
                    &local_agent_net::http::origin(url),
                )));
            }
            let said: String = error
                .chars()
                .filter(|c| !c.is_control())
                .take(200)
                .collect();
            return Err(server_error(url, &format!("broke off its reply: {said}")));
        }
        if !piece.is_object() || (piece["message"].is_null() && piece["done"].is_null()) {
            return Err(server_error(url, "sent a line that is not part of a reply"));
        }
        if let Some(text) = piece["message"]["content"].as_str() {
            self.text.push_str(text);
        }
        self.calls.take(&piece["message"]["tool_calls"]);
        self.thought |= piece["message"]["thinking"]
            .as_str()
            .is_some_and(|t| !t.is_empty());
        if self.model.is_none() {
            self.model = piece["model"].as_str().map(str::to_owned);
        }
        if piece["done"].as_bool() != Some(true) {
            return Ok(Flow::More);
        }
        self.done = true;
        if piece["done_reason"].as_str() == Some("length") {
            self.finish = Finish::Length;
        }
        self.prompt_tokens = number(&piece["prompt_eval_count"]);
        self.reply_tokens = number(&piece["eval_count"]);
        Ok(Flow::Stop)
    }
}

/// What the server reports about the model; `None` if it reports nothing.
fn show(base: &str, model: &str) -> Option<Value> {
    let url = format!("{base}/api/show");
    Client::new(Limits::probe(LOOK))
        .ok()?
        .post_json(&url, &json!({"model": model}))
        .ok()
}

/// `<architecture>.context_length`.
fn window_of(shown: &Value) -> Option<u32> {
    let info = shown["model_info"].as_object()?;
    info.iter()
        .find(|(name, _)| name.ends_with(".context_length"))
        .and_then(|(_, n)| number(n))
        .filter(|n| *n > 0)
}

fn not_found(base: &str, model: &str) -> Failure {
    let message = format!(
        "The Ollama server at {} has no model `{model}`.",
        super::endpoint(base)
    );
    Failure::new(ErrorCode::ModelNotFound, message).with_hint(format!("ollama pull {model}"))
}
