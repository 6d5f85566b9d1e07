//! Prints rejected and doubtful sentences.

use local_agent_agent::ask::ClaimNote;
use local_agent_text::documents::said_lines;
use local_agent_verify::{Report, Verdict};

/// The mark after a doubtful sentence.
const MARK: &str = " [?]";

/// A note on one line: the sentence, the reason, the source.
pub(super) fn line(note: &ClaimNote) -> String {
    let mut line = format!("- “{}” {}", note.sentence, note.reason);
    if let Some(source) = &note.source {
        line.push_str(&format!(
            " {}, {}: “{}”",
            source.address,
            lines(&source.address, &source.lines),
            source.text
        ));
    }
    line
}

fn lines(address: &str, lines: &str) -> String {
    match lines.parse() {
        Ok(span) => said_lines(address, span),
        Err(_) => format!("line {lines}"),
    }
}

/// The text that `report` is about, with a mark after each doubtful sentence.
pub(super) fn marked(text: &str, report: &Report) -> String {
    let mut ends: Vec<usize> = report
        .claims
        .iter()
        .filter(|claim| claim.verdict == Verdict::Doubtful)
        .map(|claim| claim.span.end())
        .collect();
    ends.sort_unstable();
    let mut out = text.to_owned();
    for end in ends.into_iter().rev() {
        if out.is_char_boundary(end) {
            out.insert_str(end, MARK);
        }
    }
    out
}
