//! Describes files that are in the sources but not in the index, by kind, and how to index them.

use super::output::{count, visible};
use local_agent_agent::operations::notes::KindCount;
use local_agent_agent::operations::status::SkippedKind;
use local_agent_files::sandbox::readable;
use local_agent_text::types::SkipReason;

/// Maximum number of kinds of files in one line: more than any usual folder has.
const KINDS: usize = 50;

/// Maximum number of skipped files that are named.
const SKIPPED: usize = 20;

/// `left out: 12 files, not notes (8 .pdf, 4 .txt)`, and how to index those kinds; empty if no file
/// was left out.
pub(super) fn lines(kinds: &[KindCount]) -> Vec<String> {
    let all: u64 = kinds.iter().map(|kind| kind.files).sum();
    if all == 0 {
        return Vec::new();
    }
    let mut named: Vec<String> = kinds.iter().take(KINDS).map(files_of_kind).collect();
    if let Some(more) = kinds.len().checked_sub(KINDS).filter(|more| *more > 0) {
        let more = count(more, "more kind");
        named.push(format!("and {more}, which `status --json` names"));
    }
    let named = named.join(", ");
    let mut lines = vec![format!(
        "left out: {}, not notes ({named})",
        count(all, "file")
    )];
    let ways = by_way(kinds).into_iter();
    lines.extend(ways.map(|(way, kinds)| format!("  {kinds} become documents by {way}")));
    lines
}

/// The ways in which kinds of files become documents, each with its kinds in one text.
fn by_way(kinds: &[KindCount]) -> Vec<(&str, String)> {
    let mut ways: Vec<(&str, String)> = Vec::new();
    for kind in kinds {
        let Some(way) = kind.way_in.as_deref() else {
            continue;
        };
        let extension = visible(&kind.extension);
        match ways.iter_mut().find(|(known, _)| *known == way) {
            Some((_, kinds)) => {
                kinds.push_str(", ");
                kinds.push_str(&extension);
            }
            None => ways.push((way, extension)),
        }
    }
    ways
}

/// The number of files of one extension.
fn files_of_kind(kind: &KindCount) -> String {
    match kind.extension.as_str() {
        "" => format!("{} without extension", kind.files),
        extension => format!("{} {}", kind.files, visible(extension)),
    }
}

/// `skipped: 12 .pdf (not_built: this program was built without support for PDF)`, one line per
/// kind and reason.
pub(super) fn skipped_lines(kinds: &[SkippedKind]) -> Vec<String> {
    kinds.iter().map(skipped_line).collect()
}

/// `skipped: notes:a.md (too_large)`, one line per file, each a path and a reason. If there are
/// many, the last line counts the others and says where they are listed.
pub(super) fn skipped_files<'s>(
    files: impl ExactSizeIterator<Item = (&'s str, &'s str)>,
) -> Vec<String> {
    let more = files.len().saturating_sub(SKIPPED);
    let mut lines: Vec<String> = files
        .take(SKIPPED)
        .map(|(path, reason)| format!("skipped: {} ({reason})", visible(path)))
        .collect();
    if more > 0 {
        let more = count(more, "more file");
        lines.push(format!(
            "skipped: {more} (`status` counts them by kind, `index --json` names them)"
        ));
    }
    lines
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

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(extension: &str, files: u64, way_in: Option<&str>) -> KindCount {
        KindCount {
            extension: extension.to_owned(),
            files,
            way_in: way_in.map(str::to_owned),
        }
    }

    #[test]
    fn every_kind_is_named_with_its_way_in() {
        let code = Some("`code: true` of their source");
        let kinds = [
            kind(
                ".canvas",
                3,
                Some("`extensions: [.canvas]` of their source"),
            ),
            kind(".go", 2, None),
            kind(".png", 2, None),
            kind(".py", 1, code),
            kind(".rs", 1, code),
            kind(".txt", 1, Some("`extensions: [.txt]` of their source")),
        ];
        assert_eq!(
            lines(&kinds),
            [
                "left out: 10 files, not notes (3 .canvas, 2 .go, 2 .png, 1 .py, 1 .rs, 1 .txt)",
                "  .canvas become documents by `extensions: [.canvas]` of their source",
                "  .py, .rs become documents by `code: true` of their source",
                "  .txt become documents by `extensions: [.txt]` of their source",
            ]
        );
    }

    #[test]
    fn many_kinds_and_many_skipped_files_are_counted() {
        let many: Vec<KindCount> = (0..KINDS + 2)
            .map(|n| kind(&format!(".k{n}"), 1, None))
            .collect();
        assert!(lines(&many)[0].ends_with(", and 2 more kinds, which `status --json` names)"));
        let files = vec![("notes:a.md", "too_large"); SKIPPED + 1];
        let said = skipped_files(files.iter().copied());
        assert_eq!(said.len(), SKIPPED + 1);
        assert!(
            said[SKIPPED].starts_with("skipped: 1 more file ("),
            "{said:?}"
        );
    }
}
