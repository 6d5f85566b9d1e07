//! Prints rejected and doubtful sentences.

use local_agent_agent::ask::{ClaimNote, SourceSentence};
use local_agent_text::documents::said_lines;

/// A note on one line: the sentence, the reason, the source.
pub(super) fn line(note: &ClaimNote) -> String {
    let mut line = format!("- “{}” {}", note.sentence, note.reason);
    if let Some(source) = &note.source {
        line.push_str(&format!(" {}", quoted(source)));
    }
    line
}

/// A sentence of the evidence with its place.
pub(super) fn quoted(source: &SourceSentence) -> String {
    let SourceSentence {
        address,
        lines: at,
        text,
        ..
    } = source;
    format!("{address}, {}: “{text}”", lines(address, at))
}

fn lines(address: &str, lines: &str) -> String {
    match lines.parse() {
        Ok(span) => said_lines(address, span),
        Err(_) => format!("line {lines}"),
    }
}
