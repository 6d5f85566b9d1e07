//! The results of tools as shown to the model, and the labels for citing them.

use serde_json::{Map, Value};

use super::defang::defang;
use super::prompt::Nonce;
use crate::tools::{Output, ToolOutcome};
use local_agent_text::evidence::Excerpt;
use local_agent_text::types::Label;

/// The message to the model about a truncated result.
const CUT_OFF: &str = "TRUNCATED: no more bytes of results are given; this cannot be cited. Answer from what you have.";

/// The results of one loop, and how many bytes of them were shown.
pub(super) struct ToolResults {
    nonce: Nonce,
    bytes: usize,
    max_bytes: usize,
    /// The spans that may be cited, in label order.
    excerpts: Vec<Excerpt>,
}

/// A result as shown to the model.
pub(super) struct ShownResult {
    pub text: String,
    /// Labels of the spans in it; if empty, it cannot be cited.
    pub labels: Vec<Label>,
}

impl ToolResults {
    /// Starts without results; `excerpts` get the first labels.
    pub(super) fn new(nonce: Nonce, max_bytes: usize, excerpts: Vec<Excerpt>) -> Self {
        Self {
            nonce,
            bytes: 0,
            max_bytes,
            excerpts,
        }
    }

    /// The code that frames results.
    pub(super) fn nonce(&self) -> &Nonce {
        &self.nonce
    }

    /// The spans that may be cited, in label order.
    pub(super) fn excerpts(&self) -> &[Excerpt] {
        &self.excerpts
    }

    /// A result in its frame. Text beyond the loop's byte limit is cut off, and a truncated span is
    /// not evidence: a label means a whole span.
    pub(super) fn show(&mut self, outcome: &ToolOutcome) -> ShownResult {
        let Ok(output) = outcome.result() else {
            let text = self.framed(&self.safe(&outcome.to_json().to_string()));
            self.bytes += text.len();
            return ShownResult {
                text,
                labels: Vec::new(),
            };
        };
        let head = self.safe(&facts(output));
        let body = self.body(output);
        let left = self.max_bytes.saturating_sub(self.bytes);
        if head.len() + body.len() > left {
            let body = cut(&body, left.saturating_sub(head.len()));
            self.bytes = self.max_bytes;
            return ShownResult {
                text: self.framed(&format!("{head}\n{body}\n{CUT_OFF}")),
                labels: Vec::new(),
            };
        }
        self.bytes += head.len() + body.len();
        let labels: Vec<Label> = output
            .evidence
            .iter()
            .filter_map(|excerpt| self.label(excerpt))
            .collect();
        let code = self.nonce.as_str();
        let cite: String = labels
            .iter()
            .map(|label| format!("--- {code} [{label}]\n"))
            .collect();
        ShownResult {
            text: self.framed(&format!("{head}\n{cite}{body}")),
            labels,
        }
    }

    fn framed(&self, inside: &str) -> String {
        let code = self.nonce.as_str();
        format!("<<<result {code}>>>\n{inside}\n<<<end {code}>>>")
    }

    /// `text` without anything that could close the frame or look like a citation.
    fn safe(&self, text: &str) -> String {
        defang(text).replace(self.nonce.as_str(), "…")
    }

    fn body(&self, output: &Output) -> String {
        if output.evidence.is_empty() {
            return self.safe(&output.text);
        }
        let texts: Vec<String> = output.evidence.iter().map(|e| self.safe(&e.text)).collect();
        texts.join("\n")
    }

    /// The label of an excerpt; the same span always has the same label.
    fn label(&mut self, excerpt: &Excerpt) -> Option<Label> {
        let known = self.excerpts.iter().position(|e| is_same(e, excerpt));
        let place = known.unwrap_or_else(|| {
            self.excerpts.push(excerpt.clone());
            self.excerpts.len() - 1
        });
        Label::new(u32::try_from(place + 1).ok()?)
    }
}

fn is_same(a: &Excerpt, b: &Excerpt) -> bool {
    a.source == b.source && a.path == b.path && a.span == b.span && a.text == b.text
}

/// The fields of a result that are neither lists nor null.
fn facts(output: &Output) -> String {
    let facts: Map<String, Value> = output
        .data
        .iter()
        .filter(|(_, value)| !value.is_array() && !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    Value::Object(facts).to_string()
}

/// The longest prefix of `text` with at most `most` bytes.
fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0)).unwrap_or("")
}
