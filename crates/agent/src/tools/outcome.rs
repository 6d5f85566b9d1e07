//! The result of a call.

use serde_json::{Map, Value, json};

use local_agent_text::error::{ErrorCode, Failure};
use local_agent_text::evidence::Excerpt;

/// The output of a tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Output {
    /// Facts about the result, as a JSON object; never the text itself.
    pub data: Map<String, Value>,
    /// The result as text for people and models.
    pub text: String,
    /// Exact spans of files in the text. Only tools with admissible results have any.
    pub evidence: Vec<Excerpt>,
}

impl Output {
    /// `facts` must be a JSON object; anything else is dropped.
    pub(super) fn new(facts: Value, text: impl Into<String>) -> Self {
        let data = match facts {
            Value::Object(data) => data,
            _ => Map::new(),
        };
        Self {
            data,
            text: text.into(),
            evidence: Vec::new(),
        }
    }
}

/// A finished call, successful or not.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutcome {
    tool: String,
    result: Result<Output, Failure>,
}

impl ToolOutcome {
    pub(super) fn done(tool: &str, output: Output) -> Self {
        Self {
            tool: tool.to_owned(),
            result: Ok(output),
        }
    }

    /// A call that was not carried out.
    pub fn failed(tool: &str, failure: Failure) -> Self {
        Self {
            tool: tool.to_owned(),
            result: Err(failure),
        }
    }

    /// The name that was called; it may not be an existing tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Its output, or the typed failure.
    pub fn result(&self) -> Result<&Output, &Failure> {
        self.result.as_ref()
    }

    /// The code of the failure; `None` if it succeeded.
    pub fn code(&self) -> Option<ErrorCode> {
        self.result.as_ref().err().map(|failure| failure.code)
    }

    /// Number of bytes of text handed out.
    pub fn bytes(&self) -> u64 {
        self.result
            .as_ref()
            .map_or(0, |output| output.text.len() as u64)
    }

    /// One JSON object: `ok`, `tool`, and either the facts with `text` or `error_code`,
    /// `error_message`, `hint`.
    pub fn to_json(&self) -> Value {
        match &self.result {
            Ok(output) => {
                let mut body = output.data.clone();
                body.insert("ok".to_owned(), Value::Bool(true));
                body.insert("tool".to_owned(), json!(self.tool));
                body.insert("text".to_owned(), json!(output.text));
                Value::Object(body)
            }
            Err(failure) => json!({
                "ok": false,
                "tool": self.tool,
                "error_code": failure.code.as_str(),
                "error_message": failure.message,
                "hint": failure.hint,
            }),
        }
    }
}
