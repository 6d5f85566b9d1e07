//! Shared text of the tools.

use std::fmt::Write as _;

use crate::mcp::shapes::{Behind, Covered};
use local_agent_index::retrieval::{Coverage, Stale};
use local_agent_text::error::FoundNevertheless;
use local_agent_text::types::LineSpan;

/// Text of notes in a form that differs from this server's own lines: each line begins with `> `.
pub(super) fn framed(text: &str) -> String {
    text.lines().map(|line| format!("> {line}\n")).collect()
}

/// The passages that a question found although it could not be answered.
pub(crate) fn closest_text(found: &FoundNevertheless) -> String {
    let mut text = String::new();
    if !found.closest.is_empty() {
        text.push_str("\nThe closest passages:\n");
    }
    for one in &found.closest {
        let quoted = framed(&one.text);
        let _ = write!(
            text,
            "\n{}:{} · {}\n{quoted}",
            one.address, one.lines, one.heading_path
        );
    }
    if let Some(run) = &found.run_id {
        let _ = write!(text, "\nrun_id: {run}");
    }
    text
}

pub(super) fn covered(coverage: Coverage) -> Covered {
    Covered {
        chunks: coverage.chunks,
        embedded: coverage.embedded,
    }
}

/// Projections that are out of date, and files (`source:path`) that changed since they were
/// indexed.
pub(super) fn behind(stale: &[Stale], files: &[String]) -> Vec<Behind> {
    let projections = stale.iter().map(|one| Behind {
        why: one.why.clone(),
        fix: one.fix.to_owned(),
    });
    let files = files.iter().map(|file| Behind {
        why: format!("{file} changed, went or cannot be read since it was indexed"),
        fix: "local-agent index".to_owned(),
    });
    projections.chain(files).collect()
}

pub(super) fn lines(lines: LineSpan) -> [u32; 2] {
    [lines.first(), lines.last()]
}

/// Adds the reasons why a result may be incomplete.
pub(super) fn say_limits(text: &mut String, coverage: &Covered, stale: &[Behind]) {
    for one in stale {
        let _ = writeln!(text, "stale: {} (ask the person: {})", one.why, one.fix);
    }
    if coverage.embedded > 0 && coverage.embedded < coverage.chunks {
        let _ = writeln!(
            text,
            "coverage: {} of {} chunks can be found by meaning (ask the person: local-agent embed)",
            coverage.embedded, coverage.chunks
        );
    }
}

pub(super) fn say_next(text: &mut String, next: Option<&str>) {
    if let Some(next) = next {
        let _ = writeln!(text, "more: the same call with cursor {next}");
    }
}
