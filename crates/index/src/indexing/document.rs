//! Turns the bytes of one file into its index row. Pure functions.

use std::collections::HashMap;

use super::IndexOptions;
use crate::ids::SourceId;
use crate::store::{self, ChunkRow, DocumentRow, LinkRow};
use local_agent_embed::embedding;
use local_agent_text::documents::{self, DocumentKind};
use local_agent_text::language::calendar::is_day;
use local_agent_text::markdown::{self, CountTokens, Document, LinkKind};
use local_agent_text::types::{ChunkKey, FileStamp, RelPath, Sha256, SkipReason, SourceName};

/// Where a file is.
#[derive(Debug, Clone, Copy)]
pub(super) struct DocumentPlace<'a> {
    pub source_id: SourceId,
    pub source: &'a SourceName,
    pub path: &'a RelPath,
}

/// The row of a file that is listed but not indexed.
pub(super) fn skipped(
    place: DocumentPlace<'_>,
    stamp: FileStamp,
    reason: SkipReason,
    sha256: Option<Sha256>,
) -> DocumentRow {
    DocumentRow {
        source_id: place.source_id,
        path: place.path.clone(),
        stamp,
        skipped: Some(reason),
        sha256,
        chunker_sig: String::new(),
        title: String::new(),
        aliases: Vec::new(),
        tags: Vec::new(),
        note_date: None,
        yaml_present: false,
        yaml_parse_ok: None,
        yaml_error: None,
        required_keys_present: None,
        frontmatter_json: "{}".to_owned(),
        links: Vec::new(),
        chunks: Vec::new(),
    }
}

/// The row for a file's bytes: cut into chunks, hashed, with keys.
pub(super) fn row(
    place: DocumentPlace<'_>,
    stamp: FileStamp,
    bytes: &[u8],
    options: &IndexOptions<'_>,
    count: CountTokens<'_>,
) -> DocumentRow {
    let sha256 = Sha256::of(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else {
        return skipped(place, stamp, SkipReason::NotUtf8, Some(sha256));
    };
    let kind = DocumentKind::of(place.path);
    let definitions = match kind {
        DocumentKind::Code => (options.definitions)(place.path, text),
        _ => Vec::new(),
    };
    let document = documents::parse(kind, text, &definitions, &options.chunking, count);
    let yaml = &document.frontmatter;
    DocumentRow {
        source_id: place.source_id,
        path: place.path.clone(),
        stamp,
        skipped: None,
        sha256: Some(sha256),
        chunker_sig: options.chunker_sig.to_owned(),
        title: document
            .title
            .clone()
            .unwrap_or_else(|| place.path.stem().to_owned()),
        aliases: document.aliases.clone(),
        tags: document.tags.clone(),
        note_date: note_date(&document),
        yaml_present: yaml.yaml_present(),
        yaml_parse_ok: yaml.yaml_parse_ok(),
        yaml_error: yaml.yaml_error().map(str::to_owned),
        required_keys_present: yaml.typed,
        frontmatter_json: serde_json::Value::Object(yaml.json.clone()).to_string(),
        links: document.links.iter().map(link).collect(),
        chunks: chunks(place, text, &document),
    }
}

fn chunks(place: DocumentPlace<'_>, text: &str, document: &Document) -> Vec<ChunkRow> {
    let mut seen: HashMap<(String, Sha256), u32> = HashMap::new();
    let row = |chunk: &markdown::Chunk| {
        let slice = text
            .get(chunk.span.start()..chunk.span.end())
            .unwrap_or_default();
        let text_sha256 = Sha256::of(slice.as_bytes());
        let heading = chunk.heading.to_canonical();
        let occurrence = seen.entry((heading.clone(), text_sha256)).or_default();
        let key = ChunkKey::derive(
            place.source,
            place.path,
            &chunk.heading,
            &text_sha256,
            *occurrence,
        );
        *occurrence += 1;
        ChunkRow {
            key,
            span: chunk.span,
            lines: chunk.lines,
            heading,
            kinds: u32::from(chunk.kinds.bits()),
            tokens: chunk.tokens,
            text: slice.to_owned(),
            text_sha256,
            input_sha256: Sha256::of(embedding::passage_input(&chunk.heading, slice).as_bytes()),
        }
    };
    document.chunks.iter().map(row).collect()
}

fn link(link: &markdown::Link) -> LinkRow {
    LinkRow {
        kind: match link.kind {
            LinkKind::Wiki => "wiki",
            LinkKind::Embed => "embed",
            LinkKind::Markdown => "markdown",
            LinkKind::Image => "image",
            LinkKind::Autolink => "autolink",
        },
        target: link.target.clone(),
        target_key: store::target_key(&link.target),
        anchor: link.anchor.clone(),
        text: link.text.clone().unwrap_or_default(),
    }
}

/// The ISO date at the start of frontmatter `date`, otherwise of `created`, in any case; `None` if
/// that day does not exist.
fn note_date(document: &Document) -> Option<String> {
    ["date", "created"]
        .iter()
        .find_map(|key| iso_day(&document.frontmatter.text(key)?))
}

/// The day that a property begins with, if it is written as `YYYY-MM-DD` and exists.
fn iso_day(value: &str) -> Option<String> {
    let day = value.get(..10)?;
    let dashes = day.as_bytes()[4] == b'-' && day.as_bytes()[7] == b'-';
    if !(day.is_ascii()
        && dashes
        && is_all_digits(day, 0..4)
        && is_all_digits(day, 5..7)
        && is_all_digits(day, 8..10))
    {
        return None;
    }
    let year = day[0..4].parse().ok();
    is_day(year, number_in(day, 5..7)?, number_in(day, 8..10)?).then(|| day.to_owned())
}

/// The number in this part of the day.
fn number_in(day: &str, range: std::ops::Range<usize>) -> Option<u32> {
    day[range].parse::<u32>().ok()
}

/// Whether this part of the day has only digits.
fn is_all_digits(day: &str, range: std::ops::Range<usize>) -> bool {
    day[range].bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_text::markdown::{ChunkOptions, Scheme};

    fn day_of(note: &str) -> Option<String> {
        let options = ChunkOptions {
            scheme: Scheme::ObsidianV2,
            max_tokens: 100,
            max_chars: 100,
            overlap: 0,
        };
        note_date(&markdown::parse(note, &options, &str::len))
    }

    #[test]
    fn the_date_of_a_note_may_be_written_in_any_case() {
        for key in ["date", "Date", "DATE", "created", "Created"] {
            let note = format!("---\n{key}: 2026-01-10\n---\nx");
            assert_eq!(day_of(&note).as_deref(), Some("2026-01-10"), "{key}");
        }
        assert_eq!(day_of("---\nDate: 2026-02-30\n---\nx"), None);
    }
}
