//! A note's headings, links and tags, by the same parser that indexes it.

use std::ops::Range;

use local_agent_text::markdown::Scheme;
use local_agent_text::markdown::{self, ChunkOptions, Document};

/// Parses a note. The chunks are not used, so their size does not matter.
pub(crate) fn parse(text: &str) -> Document {
    let options = ChunkOptions {
        scheme: Scheme::ObsidianV2,
        max_tokens: usize::MAX >> 1,
        max_chars: 1,
        overlap: 0,
    };
    markdown::parse(text, &options, &|text| text.len() / 4)
}

/// The section of heading number `n`: up to the next heading of the same or a higher level.
pub(crate) fn section(document: &Document, n: usize, text: &str) -> Option<Range<usize>> {
    let heading = document.headings.get(n)?;
    let next = document
        .headings
        .iter()
        .skip(n + 1)
        .find(|other| other.level <= heading.level);
    Some(heading.span.start()..next.map_or(text.len(), |next| next.span.start()))
}
