//! A chat server for tests that speaks the real wire formats: its replies come from a script, and
//! the whole program sends the requests as in real use.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use local_agent_testing::server::{Server, Step, ok_json, serve};

/// The next reply of the server.
pub(crate) enum Say {
    /// A whole reply.
    Text(String),
    /// A whole reply of a model that read only this many tokens of the prompt.
    ReadOnly(u32, String),
    /// A reply that the token limit cut off.
    Cut(String),
    /// Calls of tools in the server's own format.
    Calls(Vec<(&'static str, Value)>),
    /// Arbitrary bytes.
    Bytes(Vec<u8>),
    /// A whole reply, with a pause after each piece.
    Slowly(String, Duration),
}

/// A reply with this text.
pub(crate) fn say(text: &str) -> Say {
    Say::Text(text.to_owned())
}

/// A running chat server.
pub(crate) struct ChatServer {
    server: Server,
    prompts: Arc<Mutex<Vec<Value>>>,
}

impl ChatServer {
    /// An Ollama server with the model `m` that gives these replies in turn.
    pub(crate) fn ollama(script: Vec<Say>) -> Self {
        Self::start(script, |path| match path {
            "/api/tags" => {
                Some(r#"{"models":[{"name":"m:latest","digest":"0123abcd"}]}"#.to_owned())
            }
            "/api/show" => Some(r#"{"model_info":{"llama.context_length":8192}}"#.to_owned()),
            _ => None,
        })
    }

    /// An Ollama server that sends the text for its model `m:8b-cloud` to another machine.
    pub(crate) fn ollama_cloud(script: Vec<Say>) -> Self {
        Self::start(script, |path| match path {
            "/api/tags" => {
                Some(r#"{"models":[{"name":"m:8b-cloud","digest":"0123abcd"}]}"#.to_owned())
            }
            "/api/show" => Some(r#"{"model_info":{"llama.context_length":8192}}"#.to_owned()),
            _ => None,
        })
    }

    /// An Ollama server with a model that supports tool calls.
    pub(crate) fn ollama_with_tools(script: Vec<Say>) -> Self {
        Self::start(script, |path| match path {
            "/api/tags" => {
                Some(r#"{"models":[{"name":"m:latest","digest":"0123abcd"}]}"#.to_owned())
            }
            "/api/show" => Some(
                r#"{"capabilities":["tools"],"model_info":{"llama.context_length":131072}}"#
                    .to_owned(),
            ),
            _ => None,
        })
    }

    /// A server like llama.cpp's with the model `m`.
    pub(crate) fn openai(script: Vec<Say>) -> Self {
        Self::start(script, |path| match path {
            "/v1/models" => Some(r#"{"data":[{"id":"m"}]}"#.to_owned()),
            _ => None,
        })
    }

    fn start(
        script: Vec<Say>,
        known: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        let script = Mutex::new(VecDeque::from(script));
        let prompts: Arc<Mutex<Vec<Value>>> = Arc::default();
        let log = prompts.clone();
        let server = serve(move |seen| {
            // Behind a gateway, the server's paths have a prefix.
            let path = seen.path.strip_prefix("/gate").unwrap_or(&seen.path);
            if let Some(body) = known(path) {
                return vec![Step::Bytes(ok_json(&body))];
            }
            if !matches!(path, "/api/chat" | "/v1/chat/completions") {
                return vec![Step::Bytes(
                    b"HTTP/1.1 404 X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec(),
                )];
            }
            let asked: Value = serde_json::from_str(&seen.body).unwrap();
            let bytes: usize = asked["messages"]
                .as_array()
                .unwrap()
                .iter()
                .map(|m| m["content"].as_str().unwrap().len())
                .sum();
            log.lock().unwrap().push(asked);
            let next = script
                .lock()
                .unwrap()
                .pop_front()
                .unwrap_or_else(|| say("INSUFFICIENT_EVIDENCE"));
            let openai = path.starts_with("/v1");
            match next {
                Say::Slowly(text, pause) => slowly(&reply(Say::Text(text), bytes, openai), pause),
                next => vec![Step::Bytes(reply(next, bytes, openai))],
            }
        });
        Self { server, prompts }
    }

    pub(crate) fn url(&self) -> String {
        self.server.url("")
    }

    /// The bodies of the chat requests so far.
    pub(crate) fn prompts(&self) -> Vec<Value> {
        self.prompts.lock().unwrap().clone()
    }

    /// The whole text that was sent to the model in request `n`.
    pub(crate) fn prompt(&self, n: usize) -> String {
        let prompts = self.prompts();
        let messages = prompts[n]["messages"].as_array().unwrap();
        messages
            .iter()
            .map(|m| m["content"].as_str().unwrap())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// The lines of a reply, each followed by a pause.
fn slowly(reply: &[u8], pause: Duration) -> Vec<Step> {
    let lines = reply.split_inclusive(|b| *b == b'\n');
    lines
        .flat_map(|line| [Step::Bytes(line.to_vec()), Step::Wait(pause)])
        .collect()
}

fn reply(next: Say, prompt_bytes: usize, openai: bool) -> Vec<u8> {
    let usual = u32::try_from(prompt_bytes / 4 + 1).unwrap();
    let mut calls = Vec::new();
    let (text, tokens, reason) = match next {
        Say::Calls(all) => {
            calls = all;
            (String::new(), usual, "stop")
        }
        Say::Bytes(bytes) => return bytes,
        Say::Text(text) | Say::Slowly(text, _) => (text, usual, "stop"),
        Say::ReadOnly(tokens, text) => (text, tokens, "stop"),
        Say::Cut(text) => (text, usual, "length"),
    };
    let mut out = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
    let pieces: Vec<String> = text
        .chars()
        .collect::<Vec<_>>()
        .chunks(7)
        .map(|c| c.iter().collect())
        .collect();
    for piece in pieces {
        let line = if openai {
            format!(
                "data: {}\n\n",
                json!({"model": "m", "choices": [{"delta": {"content": piece}}]})
            )
        } else {
            format!(
                "{}\n",
                json!({"model": "m:latest", "message": {"content": piece}, "done": false})
            )
        };
        out.extend(line.bytes());
    }
    for (n, (name, arguments)) in calls.into_iter().enumerate() {
        let line = if openai {
            // In two pieces, as servers send them.
            let text = arguments.to_string();
            let (one, two) = text.split_at(text.len() / 2);
            let piece = |id: Value, name: Value, text: &str| {
                let call =
                    json!({"index": n, "id": id, "function": {"name": name, "arguments": text}});
                format!(
                    "data: {}\n\n",
                    json!({"model": "m", "choices": [{"delta": {"tool_calls": [call]}}]})
                )
            };
            piece(json!(format!("id{n}")), json!(name), one) + &piece(Value::Null, Value::Null, two)
        } else {
            let call = json!({"function": {"name": name, "arguments": arguments}});
            format!(
                "{}\n",
                json!({"model": "m:latest", "message": {"content": "", "tool_calls": [call]}, "done": false})
            )
        };
        out.extend(line.bytes());
    }
    let end = if openai {
        let end = json!({"choices": [{"delta": {}, "finish_reason": reason}], "usage": {"prompt_tokens": tokens}});
        format!("data: {end}\n\ndata: [DONE]\n\n")
    } else {
        format!(
            "{}\n",
            json!({"model": "m:latest", "done": true, "done_reason": reason, "prompt_eval_count": tokens})
        )
    };
    out.extend(end.bytes());
    out
}
