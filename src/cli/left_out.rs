//! Files that are in the sources and not in the index, by kind, and how they could be.

use super::output::{count, visible};
use local_agent_agent::operations::notes::KindCount;
use local_agent_agent::operations::status::SkippedKind;
use local_agent_files::sandbox::readable;
use local_agent_text::types::SkipReason;

/// Kinds of files that one line names.
const KINDS: usize = 4;

/// `left out: 12 files, no notes (8 .pdf, 4 .txt)`, and how those kinds can be taken in; nothing
/// where there is no such file.
pub(super) fn lines(kinds: &[KindCount]) -> Vec<String> {
    let all: u64 = kinds.iter().map(|kind| kind.files).sum();
    if all == 0 {
        return Vec::new();
    }
    let mut named: Vec<String> = kinds.iter().take(KINDS).map(files_of_kind).collect();
    if kinds.len() > KINDS {
        named.push("…".to_owned());
    }
    let named = named.join(", ");
    let mut lines = vec![format!(
        "left out: {}, no notes ({named})",
        count(all, "file")
    )];
    lines.extend(
        kinds
            .iter()
            .filter_map(|kind| Some((kind, kind.way_in.as_ref()?)))
            .take(KINDS)
            .map(|(kind, way)| format!("  {} become documents by {way}", visible(&kind.extension))),
    );
    lines
}

/// How many files of one extension there are.
fn files_of_kind(kind: &KindCount) -> String {
    match kind.extension.as_str() {
        "" => format!("{} without extension", kind.files),
        extension => format!("{} {}", kind.files, visible(extension)),
    }
}

/// `skipped: 12 .pdf (not_built: this build has no `pdf`)`, a line a kind and reason.
pub(super) fn skipped_lines(kinds: &[SkippedKind]) -> Vec<String> {
    kinds.iter().map(skipped_line).collect()
}

fn skipped_line(kind: &SkippedKind) -> String {
    let extension = match kind.extension.as_str() {
        "" => "without extension".to_owned(),
        extension => visible(extension),
    };
    let why = match readable(&kind.extension) {
        Err(why) if kind.reason == SkipReason::NotBuilt.as_str() => format!(": {why}"),
        _ => String::new(),
    };
    format!("skipped: {} {extension} ({}{why})", kind.files, kind.reason)
}
