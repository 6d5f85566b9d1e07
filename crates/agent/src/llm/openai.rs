//! `/v1/chat/completions` of llama.cpp, LM Studio, vLLM and similar servers.
//!
//! The interface is the same, but the servers differ: fields are missing, reasoning is in tags, a
//! prompt that is too long is reported in five ways, one server ignores the model's name and
//! another `stream`. A value that a server does not report stays unknown.

use std::time::Duration;

use serde_json::{Value, json};

use super::calls::{self, Calls, Offer};
use super::patience::until_ready;
use super::thinking::without_thinking;
use super::{
    CONNECT, Finish, LOOK, MAX_REPLY, Message, Model, OnProgress, Reply, SEED, SILENCE, Sampling,
    Wait, decimal, number,
};
use local_agent_net::ApiKey;
use local_agent_net::http::{Client, Flow, Limits, Piece, server_error};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};

/// Timeout for requests that only some servers support.
const GUESS: Duration = Duration::from_secs(2);

/// Tokens that a chat template may add to each message.
const PER_MESSAGE: u32 = 16;

/// A chat model behind an OpenAI-compatible interface.
pub struct OpenAiChat {
    client: Client,
    probe: Client,
    base: String,
    model: Model,
    key: Option<ApiKey>,
    wait: Wait,
    tokenizes: bool,
}

impl std::fmt::Debug for OpenAiChat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenAiChat")
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl OpenAiChat {
    /// Asks the server at `base` for its models; no text is sent. Without `wanted`, the only model
    /// of a server with one model is used. `timeout` limits one reply, including loading the model.
    ///
    /// Errors: `SERVER_UNREACHABLE`, `SERVER_ERROR`; `MODEL_NOT_FOUND` when no model is named and
    /// the server does not have exactly one.
    pub fn connect(
        base: &str,
        wanted: Option<&str>,
        key: Option<&ApiKey>,
        timeout: Duration,
    ) -> Result<Self> {
        let base = base.trim_end_matches('/').to_owned();
        let limits = Limits {
            connect: CONNECT,
            idle: timeout,
            total: timeout,
            max_body: MAX_REPLY,
        };
        let bearer = key.map(ApiKey::expose);
        let listed = models(&base, bearer, timeout)?;
        let name = model_name(&base, wanted, &listed)?;
        let probe = Client::new(Limits {
            total: GUESS,
            idle: GUESS,
            ..Limits::probe(GUESS)
        })?;
        let mut warnings = Vec::from_iter(not_listed(&name, &listed));
        if is_ollama(&probe, &base) {
            warnings.push(
                "this server is an Ollama: under /v1 it may cut a long prompt without a word; set `ask.provider: ollama`"
                    .to_owned(),
            );
        }
        if key.is_some() && !is_private_way(&base) {
            warnings.push("the key travels to another machine without encryption".to_owned());
        }
        let window = listed
            .iter()
            .find(|(id, _)| *id == name)
            .and_then(|(_, window)| *window);
        let window = window.or_else(|| props(&probe, &base));
        let model = Model {
            provider: "openai",
            name,
            digest: None,
            endpoint: super::endpoint(&base),
            window,
            warnings,
        };
        let mut chat = Self {
            client: Client::new(limits)?,
            probe,
            base,
            model,
            key: key.cloned(),
            wait: Wait::new(timeout),
            tokenizes: false,
        };
        chat.tokenizes = chat.tokens("a b").is_some();
        Ok(chat)
    }

    /// The model and its location.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Number of tokens in a prompt, if the server counts them.
    pub(super) fn count(&self, messages: &[Message]) -> Option<u32> {
        if !self.tokenizes {
            return None;
        }
        let text: String = messages
            .iter()
            .map(|m| m.content.as_str())
            .collect::<Vec<_>>()
            .join("\n");
        let overhead =
            PER_MESSAGE.saturating_mul(u32::try_from(messages.len()).unwrap_or(u32::MAX));
        self.tokens(&text).map(|n| n.saturating_add(overhead))
    }

    /// `/tokenize` of llama.cpp (`content` → `tokens`) and vLLM (`prompt` → `count`).
    fn tokens(&self, text: &str) -> Option<u32> {
        let url = format!("{}/tokenize", self.base);
        let body = json!({"model": self.model.name, "prompt": text, "content": text});
        let reply = self
            .probe
            .post(&url, &body, self.bearer())
            .ok()?
            .json(&url)
            .ok()?;
        number(&reply["count"])
            .or_else(|| listed_tokens(&reply))
            .filter(|n| *n > 0)
    }

    fn bearer(&self) -> Option<&str> {
        self.key.as_ref().map(ApiKey::expose)
    }

    pub(super) fn wait(&self) -> Wait {
        self.wait
    }

    pub(super) fn wait_mut(&mut self) -> &mut Wait {
        &mut self.wait
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
        let url = format!("{}/v1/chat/completions", self.base);
        let mut body = json!({
            "model": self.model.name,
            "messages": calls::openai_messages(messages),
            "stream": true,
            "stream_options": {"include_usage": true},
            "max_tokens": sampling.max_tokens,
            "temperature": decimal(sampling.temperature),
            "seed": SEED,
        });
        if !tools.is_empty() {
            body["tools"] = calls::offers(tools);
        }
        let mut stream = OpenAiStream::default();
        let (status, attempts) = until_ready(self.wait.limit, || {
            on_progress(&stream.text)?;
            self.client
                .post_lines(&url, &body, self.bearer(), SILENCE, &mut |piece| {
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
        stream.finish(&url)?;
        if stream.ended.is_none() && !stream.done {
            return Err(server_error(&url, "broke off its reply"));
        }
        let (text, tagged) = without_thinking(&stream.text);
        Ok(Reply {
            text,
            had_thinking: tagged || stream.thought,
            served_model: stream.model,
            finish: if stream.ended.as_deref() == Some("length") {
                Finish::Length
            } else {
                Finish::Stop
            },
            prompt_tokens: stream.prompt_tokens,
            reply_tokens: stream.reply_tokens,
            window: self.model.window,
            attempts,
            calls: stream.calls.finish(),
        })
    }

    fn refused(&self, url: &str, reply: &local_agent_net::http::Reply) -> Failure {
        let body = String::from_utf8_lossy(&reply.body);
        if (400..=500).contains(&reply.status) && is_overflow(&body) {
            return overflow(&self.model.endpoint);
        }
        let failure = match reply.json(url) {
            Err(failure) => failure,
            Ok(_) => server_error(url, "sent a reply that was not asked for"),
        };
        match reply.status {
            404 => Failure::new(ErrorCode::ModelNotFound, failure.message).with_fix(
                Fix::ChangeSetting,
                "set llm.model to a model that the server has",
            ),
            _ => failure,
        }
    }
}

/// How many tokens the reply lists.
fn listed_tokens(reply: &Value) -> Option<u32> {
    reply["tokens"]
        .as_array()
        .and_then(|t| u32::try_from(t.len()).ok())
}

/// The content of the stream so far.
#[derive(Default)]
struct OpenAiStream {
    text: String,
    calls: Calls,
    thought: bool,
    model: Option<String>,
    /// The reason that the server gave for the end.
    ended: Option<String>,
    /// `[DONE]` was received.
    done: bool,
    prompt_tokens: Option<u32>,
    reply_tokens: Option<u32>,
    /// Lines from a server that does not stream: one object.
    whole: String,
}

impl OpenAiStream {
    /// Processes one line of an event stream.
    fn line(&mut self, url: &str, line: &str) -> Result<Flow> {
        let data = match line.split_once(':') {
            Some(("data", data)) => data.trim(),
            // Older llama.cpp servers report errors this way.
            Some(("error", data)) => {
                return Err(failure_of(
                    url,
                    &serde_json::from_str(data).unwrap_or(Value::Null),
                ));
            }
            // Comments, names and numbers of events.
            Some(("" | "event" | "id" | "retry", _)) => return Ok(Flow::More),
            _ => {
                self.whole.push_str(line);
                return Ok(Flow::More);
            }
        };
        if data == "[DONE]" {
            self.done = true;
            return Ok(Flow::Stop);
        }
        if data.is_empty() {
            return Ok(Flow::More);
        }
        let piece = serde_json::from_str(data)
            .map_err(|_| server_error(url, "sent an event that is not JSON"))?;
        self.piece(url, &piece)?;
        Ok(Flow::More)
    }

    /// Processes one object: a piece of a reply, or all of it.
    fn piece(&mut self, url: &str, piece: &Value) -> Result<()> {
        if !piece["error"].is_null() {
            return Err(failure_of(url, &piece["error"]));
        }
        let choice = &piece["choices"][0];
        for part in [&choice["delta"], &choice["message"]] {
            self.text.push_str(part["content"].as_str().unwrap_or(""));
            self.calls.take(&part["tool_calls"]);
            let thoughts = [&part["reasoning_content"], &part["reasoning"]];
            self.thought |= thoughts
                .iter()
                .any(|t| t.as_str().is_some_and(|t| !t.is_empty()));
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.ended = Some(reason.to_owned());
        }
        if self.model.is_none() {
            self.model = piece["model"].as_str().map(str::to_owned);
        }
        self.prompt_tokens = number(&piece["usage"]["prompt_tokens"])
            .filter(|n| *n > 0)
            .or(self.prompt_tokens);
        self.reply_tokens = number(&piece["usage"]["completion_tokens"]).or(self.reply_tokens);
        Ok(())
    }

    /// The reply of a server that did not stream.
    fn finish(&mut self, url: &str) -> Result<()> {
        let whole = std::mem::take(&mut self.whole);
        if whole.trim().is_empty() {
            return Ok(());
        }
        let reply: Value = serde_json::from_str(&whole)
            .map_err(|_| server_error(url, "sent a reply that is not JSON"))?;
        if reply["choices"][0]["message"].is_null() && reply["error"].is_null() {
            return Err(server_error(url, "sent a reply without a message"));
        }
        self.piece(url, &reply)?;
        // The object arrived complete.
        self.done = true;
        Ok(())
    }
}

/// The failure for an error inside a reply.
fn failure_of(url: &str, error: &Value) -> Failure {
    let said = error["message"]
        .as_str()
        .or(error.as_str())
        .unwrap_or("no reason given");
    if is_overflow(&error.to_string()) {
        return overflow(&super::endpoint(&local_agent_net::http::origin(url)));
    }
    let said: String = said.chars().filter(|c| !c.is_control()).take(200).collect();
    server_error(url, &format!("broke off its reply: {said}"))
}

/// Whether an error says that the prompt is longer than the window. Each server words this
/// differently.
pub(super) fn is_overflow(said: &str) -> bool {
    let said = said.to_lowercase();
    [
        "context_length_exceeded",
        "exceed_context_size",
        "context size",
        "context length",
        "context window",
        "context overflow",
        "too many tokens",
    ]
    .iter()
    .any(|words| said.contains(words))
}

/// What to do if a prompt does not fit the window of a model.
pub(crate) const SEND_LESS: &str = "configure a model with a larger window, or send less: lower `ask.max_evidence_tokens` or \
                                    `ask.top_n`, or shorten the prompt of a chat";

/// The failure `LLM_CONTEXT_TRUNCATED`, as reported by the server.
pub(super) fn overflow(endpoint: &str) -> Failure {
    let message =
        format!("The server at {endpoint} says that the prompt is longer than the model's window.");
    Failure::new(ErrorCode::ContextTruncated, message).with_hint(SEND_LESS)
}

/// The models that a server lists, with their windows if it reports them; empty if the server has
/// no list. A server that is still loading is given time.
fn models(
    base: &str,
    bearer: Option<&str>,
    timeout: Duration,
) -> Result<Vec<(String, Option<u32>)>> {
    let url = format!("{base}/v1/models");
    let client = Client::new(Limits {
        connect: CONNECT,
        idle: LOOK,
        total: LOOK,
        max_body: 4 << 20,
    })?;
    let (reply, _) = until_ready(timeout, || client.get_with(&url, bearer))?;
    if matches!(reply.status, 404 | 405 | 501) {
        return Ok(Vec::new());
    }
    let reply = reply.json(&url)?;
    let listed = reply["data"]
        .as_array()
        .ok_or_else(|| server_error(&url, "sent no list of models"))?;
    Ok(listed.iter().filter_map(listed_model).collect())
}

/// The name of a model and its window, if the server says it.
fn listed_model(m: &Value) -> Option<(String, Option<u32>)> {
    let window = number(&m["max_model_len"])
        .or(number(&m["meta"]["n_ctx"]))
        .or(number(&m["context_length"]));
    Some((m["id"].as_str()?.to_owned(), window.filter(|n| *n > 0)))
}

/// The window size of a llama.cpp server.
fn props(probe: &Client, base: &str) -> Option<u32> {
    let props = probe.get_json(&format!("{base}/props")).ok()?;
    number(&props["default_generation_settings"]["n_ctx"]).filter(|n| *n > 0)
}

/// Whether the server is an Ollama: only Ollama answers this request.
fn is_ollama(probe: &Client, base: &str) -> bool {
    probe
        .get_json(&format!("{base}/api/version"))
        .is_ok_and(|reply| reply["version"].is_string())
}

/// The wanted model, or the only one that the server has.
fn model_name(
    base: &str,
    wanted: Option<&str>,
    listed: &[(String, Option<u32>)],
) -> Result<String> {
    match (wanted, listed) {
        (Some(name), _) => Ok(name.to_owned()),
        (None, [(only, _)]) => Ok(only.clone()),
        (None, _) => {
            let message = format!(
                "No chat model is configured, and the server at {} lists {} models.",
                super::endpoint(base),
                listed.len()
            );
            Err(Failure::new(ErrorCode::ModelNotFound, message)
                .with_fix(Fix::ChangeSetting, "set llm.model"))
        }
    }
}

/// A warning if the server lists models, but not this one.
fn not_listed(name: &str, listed: &[(String, Option<u32>)]) -> Option<String> {
    if listed.is_empty() || listed.iter().any(|(id, _)| id == name) {
        return None;
    }
    let ids: Vec<&str> = listed.iter().take(5).map(|(id, _)| id.as_str()).collect();
    Some(format!(
        "the server does not list `{name}`; it has {}",
        ids.join(", ")
    ))
}

/// Whether no third party can read the traffic to this address.
fn is_private_way(base: &str) -> bool {
    local_agent_net::ServerUrl::parse(base).is_ok_and(|url| url.is_https() || url.is_loopback())
}
