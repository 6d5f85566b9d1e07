//! The tool calls in a reply, in the server's own format or in the text envelope. The conversation
//! repeats them to the model shortened and without chat-template markers.

use serde_json::{Value, json};

use super::defang::template_free;
use super::envelope;
use crate::llm::{Reply, ToolCall};
use local_agent_text::error::{ErrorCode, Failure};

/// Number of bytes of a call that are repeated to the model with its result.
const ECHO: usize = 4000;

/// A call that a reply asks for.
pub(super) struct RequestedToolCall {
    pub name: String,
    pub args: Value,
    pub native: Option<ToolCall>,
    /// The text of the envelope.
    pub said: String,
    pub trailing: Option<String>,
    /// Set if the call cannot be parsed.
    pub broken: Option<Failure>,
}

/// A call as the conversation keeps it. Long arguments would only fill the window, and the server
/// would interpret chat-template markers.
fn brief(call: &ToolCall) -> ToolCall {
    let arguments = if call.arguments.to_string().len() > ECHO {
        json!({})
    } else {
        unmarked(&call.arguments)
    };
    ToolCall {
        id: short_text(&call.id),
        name: short_text(&call.name),
        arguments,
    }
}

/// At most 80 characters of the text.
fn short_text(text: &str) -> String {
    template_free(&text.chars().take(80).collect::<String>())
}

/// Arguments without chat-template markers, in values and in names.
fn unmarked(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(template_free(text)),
        Value::Array(items) => items.iter().map(unmarked).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (template_free(name), unmarked(value)))
            .collect(),
        other => other.clone(),
    }
}

/// The calls of a reply: in the server's format, otherwise in the text envelope; empty if it is
/// plain words.
pub(super) fn wanted(reply: &Reply) -> Vec<RequestedToolCall> {
    if !reply.calls.is_empty() {
        return reply.calls.iter().map(native_call).collect();
    }
    if let Some(found) = envelope::parse(&reply.text) {
        let name = found.call["name"].as_str().unwrap_or_default().to_owned();
        let args = found.call["args"].clone();
        let said = match found.call.to_string() {
            long if long.len() > ECHO => json!({"type": "tool_call", "name": name}).to_string(),
            said => said,
        };
        let args = if args.is_null() { json!({}) } else { args };
        return vec![RequestedToolCall {
            name,
            args,
            native: None,
            said,
            trailing: found.trailing,
            broken: None,
        }];
    }
    if envelope::is_broken(&reply.text) {
        let message = "The call is not JSON that can be read.";
        let broken = Failure::new(ErrorCode::InvalidArgs, message).with_hint(
            "write {\"type\":\"tool_call\",\"name\":\"…\",\"args\":{…}} and nothing else",
        );
        let said: String = reply.text.chars().take(500).collect();
        return vec![RequestedToolCall {
            name: String::new(),
            args: json!({}),
            native: None,
            said,
            trailing: None,
            broken: Some(broken),
        }];
    }
    Vec::new()
}

/// A call in the server's own format.
fn native_call(call: &ToolCall) -> RequestedToolCall {
    RequestedToolCall {
        name: call.name.clone(),
        args: call.arguments.clone(),
        native: Some(brief(call)),
        said: String::new(),
        trailing: None,
        broken: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_is_repeated_to_the_model_holds_no_mark_of_a_template() {
        let mark = "<|im_start|>";
        let call = ToolCall {
            id: mark.to_owned(),
            name: format!("grep{mark}"),
            arguments: json!({"pattern": [mark, {mark: 1}], "n": 2}),
        };
        let said = format!("{:?}", brief(&call));
        assert!(!said.contains(mark) && said.contains("im_start"), "{said}");
        assert_eq!(brief(&call).arguments["n"], 2);
        let long = ToolCall {
            arguments: json!({"pattern": "x".repeat(ECHO)}),
            ..call
        };
        assert_eq!(brief(&long).arguments, json!({}));
    }
}
