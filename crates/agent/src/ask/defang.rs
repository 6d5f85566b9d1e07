//! Makes text from untrusted sources harmless for a model to read.

use local_agent_text::evidence::{MarkerKind, scan_markers};

/// Disables citations and chat-template markers in `text`, and everything that looks like one. A
/// dot in the middle of each keeps it readable.
pub(super) fn defang(text: &str) -> String {
    let mut text = template_free(text);
    // A marker can contain another one, which shows only after the outer one is broken up.
    for _ in 0..8 {
        let mut out = String::with_capacity(text.len() + 16);
        let mut at = 0;
        for marker in scan_markers(&text) {
            if marker.kind == MarkerKind::Number {
                continue;
            }
            let (start, end) = (marker.span.start(), marker.span.end());
            let inside = text.get(start..end).unwrap_or("");
            let dot = inside.find(char::is_alphanumeric).unwrap_or(0);
            out.push_str(text.get(at..start + dot).unwrap_or(""));
            out.push('·');
            at = start + dot;
        }
        if at == 0 && out.is_empty() {
            return text;
        }
        out.push_str(text.get(at..).unwrap_or(""));
        text = out;
    }
    text
}

/// Markers with which chat templates separate speakers. A server may interpret them anywhere in a
/// text.
const TEMPLATE: &[&str] = &[
    "<|",
    "|>",
    "[INST]",
    "[/INST]",
    "<<SYS>>",
    "<</SYS>>",
    "<s>",
    "</s>",
    "<bos>",
    "<eos>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<｜",
];

/// Disables only the chat-template markers in `text`, in the same way.
pub(super) fn template_free(text: &str) -> String {
    let mut out = text.to_owned();
    for mark in TEMPLATE {
        if out.contains(mark) {
            let at = mark.chars().next().map_or(0, char::len_utf8);
            out = out.replace(mark, &format!("{}·{}", &mark[..at], &mark[at..]));
        }
    }
    out
}
