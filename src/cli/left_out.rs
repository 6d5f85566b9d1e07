//! Describes files that are in the sources but not in the index, by kind, and how to index them.

use super::output::{count, visible};
use local_agent_agent::operations::notes::KindCount;
use local_agent_agent::operations::status::SkippedKind;
use local_agent_files::sandbox::readable;
use local_agent_text::types::SkipReason;

/// Maximum number of kinds of files in one line.
const KINDS: usize = 4;

/// `left out: 12 files, no notes (8 .pdf, 4 .txt)`, and how to index those kinds; empty if no file
/// was left out.
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

/// The number of files of one extension.
fn files_of_kind(kind: &KindCount) -> String {
    match kind.extension.as_str() {
        "" => format!("{} without extension", kind.files),
        extension => format!("{} {}", kind.files, visible(extension)),
    }
}

/// `skipped: 12 .pdf (not_built: this program was built without support for PDF)`, one line per kind and reason.
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
