//! Text that anybody may have written, made harmless for a model to read.

use local_agent_text::evidence::{MarkerKind, scan_markers};

/// `text` in which nothing is, or looks like, a citation or a mark of a chat template. A dot in the
/// middle of each such mark keeps it readable.
pub(super) fn defang(text: &str) -> String {
    let mut text = template_free(text);
    // A mark can stand inside another; taking one apart may show the next.
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

/// Marks by which chat templates tell who speaks; a server may take them for its own wherever they
/// stand.
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

/// `text` without marks of a chat template, each kept readable in the same way.
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
