//! Tool calls in both wire formats. A model's call is not trusted: a name is just text, arguments
//! may be any JSON, and arguments that are not JSON are kept as text for the tool to refuse.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Message, Role};

/// Maximum number of calls of one reply that are read.
const MAX_CALLS: usize = 16;

/// A tool in the form offered to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The name by which the model calls it.
    pub name: String,
    /// What it does, for the model to read.
    pub description: String,
    /// JSON schema of the arguments.
    pub parameters: Value,
}

/// A tool call requested by a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToolCall {
    /// The id that connects the result with the call.
    pub id: String,
    /// The name as the model wrote it, never empty; such a tool may not exist.
    pub name: String,
    /// The arguments as received: an object if they are valid; text if they are not JSON.
    pub arguments: Value,
}

/// Both formats describe tools in the same way.
pub(super) fn offers(tools: &[Offer]) -> Value {
    tools.iter().map(offer_json).collect()
}

/// A tool in the format that servers expect.
fn offer_json(tool: &Offer) -> Value {
    json!({
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    })
}

/// Messages in the form that `/api/chat` expects: arguments are objects, results name their tool.
pub(super) fn ollama_messages(messages: &[Message]) -> Value {
    messages.iter().map(ollama_message).collect()
}

/// A message in Ollama's format.
fn ollama_message(message: &Message) -> Value {
    let mut body = json!({"role": message.role, "content": message.content});
    if !message.calls.is_empty() {
        body["tool_calls"] = message.calls.iter().map(ollama_call).collect();
    }
    if let Some(call) = &message.answers {
        body["tool_name"] = json!(call.name);
    }
    body
}

/// A call in Ollama's format.
fn ollama_call(call: &ToolCall) -> Value {
    json!({"function": {"name": call.name, "arguments": object(&call.arguments)}})
}

/// Messages in the form that `/v1/chat/completions` expects: arguments are text, results name their
/// call.
pub(super) fn openai_messages(messages: &[Message]) -> Value {
    debug_assert!(
        messages
            .iter()
            .all(|m| m.answers.is_some() == (m.role == Role::Tool))
    );
    messages.iter().map(openai_message).collect()
}

/// A message in the format of OpenAI.
fn openai_message(message: &Message) -> Value {
    let mut body = json!({"role": message.role, "content": message.content});
    if !message.calls.is_empty() {
        body["tool_calls"] = message.calls.iter().map(openai_call).collect();
    }
    if let Some(call) = &message.answers {
        body["tool_call_id"] = json!(call.id);
    }
    body
}

/// A call in the format of OpenAI.
fn openai_call(call: &ToolCall) -> Value {
    let function = json!({"name": call.name, "arguments": object(&call.arguments).to_string()});
    json!({"id": call.id, "type": "function", "function": function})
}

/// A server may refuse a conversation whose arguments are not an object, so such arguments are not
/// repeated.
fn object(arguments: &Value) -> Value {
    if arguments.is_object() {
        arguments.clone()
    } else {
        json!({})
    }
}

/// Calls as received: complete, or in fragments that are joined by their index.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<CallFragment>);

#[derive(Debug, Default)]
struct CallFragment {
    id: String,
    name: String,
    /// Arguments received as an object.
    object: Option<Value>,
    /// Arguments received as text, in fragments.
    text: String,
}

impl Calls {
    /// Adds the `tool_calls` of one piece of a reply; anything else is skipped.
    pub(super) fn take(&mut self, calls: &Value) {
        for (position, call) in calls.as_array().into_iter().flatten().enumerate() {
            // Ollama sends complete calls without an index, one or more per piece; other servers
            // number the fragments of a call.
            let index = match call["index"].as_u64() {
                Some(index) => usize::try_from(index).unwrap_or(usize::MAX),
                None if call["function"]["arguments"].is_object() => self.0.len(),
                None => position,
            };
            if index >= MAX_CALLS {
                continue;
            }
            if self.0.len() <= index {
                self.0.resize_with(index + 1, CallFragment::default);
            }
            let Some(piece) = self.0.get_mut(index) else {
                continue;
            };
            if piece.id.is_empty() {
                piece.id = text_or_empty(&call["id"]);
            }
            piece
                .name
                .push_str(&text_or_empty(&call["function"]["name"]));
            match &call["function"]["arguments"] {
                Value::String(more) => piece.text.push_str(more),
                Value::Null => {}
                whole => piece.object = Some(whole.clone()),
            }
        }
    }

    pub(super) fn finish(self) -> Vec<ToolCall> {
        self.0
            .into_iter()
            .enumerate()
            .filter_map(finished_call)
            .collect()
    }
}

/// The complete call; `None` if it has no name.
fn finished_call((n, piece): (usize, CallFragment)) -> Option<ToolCall> {
    let arguments = piece.object.unwrap_or_else(|| match piece.text.trim() {
        "" => json!({}),
        text => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
    });
    let id = if piece.id.is_empty() {
        format!("call_{n}")
    } else {
        piece.id
    };
    (!piece.name.is_empty()).then_some(ToolCall {
        id,
        name: piece.name,
        arguments,
    })
}

/// The text of a value; empty for anything else.
fn text_or_empty(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn calls(pieces: &[Value]) -> Vec<(String, Value)> {
        let mut calls = Calls::default();
        for piece in pieces {
            calls.take(piece);
        }
        calls
            .finish()
            .into_iter()
            .map(|call| (call.name, call.arguments))
            .collect()
    }

    #[test]
    fn calls_come_whole_or_in_pieces() {
        let whole = json!([{"function": {"name": "grep", "arguments": {"pattern": "x"}}}]);
        let two = [
            ("grep".to_owned(), json!({"pattern": "x"})),
            ("grep".to_owned(), json!({"pattern": "x"})),
        ];
        assert_eq!(calls(&[whole.clone(), whole]), two);
        let pieces = [
            json!([{"index": 0, "id": "a", "function": {"name": "grep", "arguments": ""}}]),
            json!([{"index": 1, "id": "b", "function": {"name": "list_dir", "arguments": "{}"}}]),
            json!([{"index": 0, "function": {"arguments": "{\"pattern\":"}}]),
            json!([{"index": 0, "function": {"arguments": "\"y\"}"}}]),
        ];
        assert_eq!(
            calls(&pieces),
            [
                ("grep".to_owned(), json!({"pattern": "y"})),
                ("list_dir".to_owned(), json!({}))
            ]
        );
        let broken =
            json!([{"index": 0, "function": {"name": "grep", "arguments": "{\"pattern\""}}]);
        assert_eq!(
            calls(&[broken]),
            [("grep".to_owned(), json!("{\"pattern\""))]
        );
        assert!(
            calls(&[
                json!(null),
                json!([]),
                json!({"a": 1}),
                json!([1, {"index": 9_999_999}])
            ])
            .is_empty()
        );
    }

    proptest! {
        #[test]
        fn no_pieces_make_it_panic(index in any::<Option<u64>>(), name in any::<Option<String>>(), text in any::<String>()) {
            let _ = calls(&[json!([{"index": index, "function": {"name": name, "arguments": text}}])]);
        }
    }
}
