//! The whole way from a file's text to a [`Document`].

use std::ops::Range;

use serde_json::json;

use super::fit::{Fitter, Unit};
use super::inline::Link;
use super::outline::Outline;
use super::types::{BlockKinds, Chunk, ChunkOptions, CountTokens, Document, HeadingAt, Problem};
use super::{ancestor, comments, frontmatter, pack};
use crate::config::Scheme;
use crate::types::{ByteSpan, Heading, HeadingPath, LineSpan, Sha256};

/// The version of the cut points of `obsidian_v2`. To be raised with every change that moves one, so that an index made
/// before is known to be out of date.
const IMPLEMENTATION: &str = "obsidian_v2.1";

/// What the ancestor called its implementation.
const ANCESTOR_IMPLEMENTATION: &str = "phase2_chunking_v1";

/// Reads a markdown file. Never fails: what could not be read as it was probably meant stands in `problems`, and its
/// text is in the chunks all the same. The same text, options and counter give the same document.
pub fn parse(file_text: &str, options: &ChunkOptions, count: CountTokens<'_>) -> Document {
    let frontmatter = frontmatter::read(file_text);
    let base = frontmatter.span.map_or(frontmatter::bom_len(file_text), ByteSpan::end);
    let body = &file_text[base..];
    let (masked, comments) = comments::mask(body);
    let outline = Outline::of(&masked);
    let place = Place { base, lines: Lines::of(file_text) };
    let headings: Vec<HeadingAt> = outline.headings.iter().filter_map(|h| place.heading(h, &outline)).collect();
    let mut chunks = match options.scheme {
        Scheme::ObsidianV2 => modern_chunks(body, &outline, &headings, options, count, &place),
        Scheme::ObsidianV1 | Scheme::FixedWindowV1 => old_chunks(body, &outline, options, count, &place),
    };
    mark_comments(&mut chunks, &comments, base);
    name_blocks(&mut chunks, &outline.block_ids, base);
    let first_h1 = headings.iter().find(|h| h.level == 1 && !h.title.is_empty()).map(|h| h.title.clone());
    let problems = problems(file_text, &frontmatter, &outline, &masked, &place);
    Document {
        title: frontmatter.text("title").or(first_h1),
        tags: all_tags(&frontmatter, &outline.tags),
        aliases: frontmatter.strings(&["aliases", "alias"], false),
        links: outline.links.into_iter().filter_map(|link| place.link(link)).collect(),
        headings,
        chunks,
        problems,
        frontmatter,
    }
}

/// The identity of everything that decides cut points: 32 hexadecimal digits that change whenever these could.
///
/// The ancestor's schemes have the ancestor's value: SHA-256 over compact JSON with sorted keys. They do not depend on
/// a tokenizer.
pub fn chunker_sig(options: &ChunkOptions, tokenizer_sha256: &Sha256) -> String {
    let facts = match options.scheme {
        Scheme::ObsidianV2 => json!({
            "chunker_impl": IMPLEMENTATION,
            "max_tokens": options.max_tokens,
            "scheme": "obsidian_v2",
            "tokenizer_sha256": tokenizer_sha256.to_string(),
        }),
        Scheme::ObsidianV1 | Scheme::FixedWindowV1 => json!({
            "chunker_impl": ANCESTOR_IMPLEMENTATION,
            "max_chars": options.max_chars,
            "overlap": options.overlap,
            "scheme": if options.scheme == Scheme::ObsidianV1 { "obsidian_v1" } else { "fixed_window_v1" },
        }),
    };
    let mut sig = Sha256::of(facts.to_string().as_bytes()).to_string();
    sig.truncate(32);
    sig
}

/// Where things of the body stand in the file.
struct Place {
    base: usize,
    lines: Lines,
}

impl Place {
    fn span(&self, range: &Range<usize>) -> Option<ByteSpan> {
        ByteSpan::new(range.start + self.base, range.end + self.base)
    }

    fn heading(&self, heading: &super::outline::SectionHeading, outline: &Outline) -> Option<HeadingAt> {
        let span = self.span(&outline.nodes.get(heading.node)?.range)?;
        let title = heading.title.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(HeadingAt { level: heading.level, title, span, line: self.lines.at(span.start()) })
    }

    fn link(&self, link: Link) -> Option<Link> {
        let span = self.span(&(link.span.start()..link.span.end()))?;
        Some(Link { span, ..link })
    }

    /// A chunk of the body; `None` for an empty range.
    fn chunk(&self, range: &Range<usize>, heading: HeadingPath, kinds: BlockKinds, tokens: usize) -> Option<Chunk> {
        let span = self.span(range).filter(|s| !s.is_empty())?;
        let lines = LineSpan::new(self.lines.at(span.start()), self.lines.at(span.end() - 1))?;
        Some(Chunk { span, lines, heading, kinds, tokens, block_ids: Vec::new() })
    }
}

/// Offsets of the line breaks of a file.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line of a byte, from 1.
    fn at(&self, byte: usize) -> u32 {
        u32::try_from(self.0.partition_point(|b| *b < byte) + 1).unwrap_or(u32::MAX)
    }
}

/// Without white space at both ends.
fn trim(text: &str, range: &Range<usize>) -> Range<usize> {
    let body = &text[range.clone()];
    let start = range.start + body.len() - body.trim_start().len();
    start..start + body.trim().len()
}

fn modern_chunks(
    body: &str,
    outline: &Outline,
    headings: &[HeadingAt],
    options: &ChunkOptions,
    count: CountTokens<'_>,
    place: &Place,
) -> Vec<Chunk> {
    let budget = options.max_tokens.max(1);
    let sections = sections(outline, headings, &Fitter { text: body, outline, budget, count });
    let pieces = pack::pack(&sections, budget);
    let chunk = |piece: pack::Piece| {
        let path = sections.get(piece.section).map(|s| s.path.clone()).unwrap_or_default();
        place.chunk(&trim(body, &piece.range), path, piece.kinds, piece.tokens)
    };
    pieces.into_iter().filter_map(chunk).collect()
}

/// The sections of the body, each with its units; the first is what stands above all headings.
fn sections(outline: &Outline, headings: &[HeadingAt], fitter: &Fitter<'_>) -> Vec<pack::Section> {
    let start_of = |i: usize| outline.headings.get(i).map_or(fitter.text.len(), |h| outline.nodes[h.node].range.start);
    let mut nodes = outline.children(None).peekable();
    let mut take_until = |end: usize| {
        let mut out = Vec::new();
        while let Some(node) = nodes.next_if(|n| outline.nodes[*n].range.start < end) {
            out.push(node);
        }
        out
    };
    let mut units = |range: Range<usize>| -> Vec<Unit> {
        let own = take_until(range.end);
        let is_blank = fitter.text[range.clone()].trim().is_empty();
        if is_blank { Vec::new() } else { fitter.units(range, &own) }
    };
    let mut out = vec![pack::Section { level: 0, path: HeadingPath::default(), units: units(0..start_of(0)) }];
    let mut stack: Vec<Heading> = Vec::new();
    for (i, heading) in headings.iter().enumerate() {
        stack.retain(|h| h.level < heading.level);
        stack.push(Heading { level: heading.level, title: heading.title.clone() });
        let path = HeadingPath::new(stack.clone()).unwrap_or_default();
        out.push(pack::Section { level: heading.level, path, units: units(start_of(i)..start_of(i + 1)) });
    }
    out
}

fn old_chunks(
    body: &str,
    outline: &Outline,
    options: &ChunkOptions,
    count: CountTokens<'_>,
    place: &Place,
) -> Vec<Chunk> {
    let pieces = match options.scheme {
        Scheme::FixedWindowV1 => ancestor::fixed_window_v1(body, options.max_chars, options.overlap),
        _ => ancestor::obsidian_v1(body, options.max_chars, options.overlap),
    };
    let blocks: Vec<usize> = outline.children(None).collect();
    let kinds_of = |range: &Range<usize>| {
        let first = blocks.partition_point(|n| outline.nodes[*n].range.end <= range.start);
        let inside = blocks[first..].iter().map(|n| &outline.nodes[*n]).take_while(|n| n.range.start < range.end);
        inside.fold(BlockKinds::default(), |kinds, node| kinds | node.kinds)
    };
    let chunk = |piece: ancestor::Piece| {
        let tokens = count(&body[piece.range.clone()]);
        place.chunk(&piece.range, piece.heading, kinds_of(&piece.range), tokens)
    };
    pieces.into_iter().filter_map(chunk).collect()
}

fn mark_comments(chunks: &mut [Chunk], comments: &[Range<usize>], base: usize) {
    let mut rest = comments.iter().peekable();
    for chunk in chunks {
        while rest.next_if(|c| c.end + base <= chunk.span.start()).is_some() {}
        if rest.peek().is_some_and(|c| c.start + base < chunk.span.end()) {
            chunk.kinds |= BlockKinds::COMMENT;
        }
    }
}

fn name_blocks(chunks: &mut [Chunk], ids: &[(usize, String)], base: usize) {
    for (at, id) in ids {
        let i = chunks.partition_point(|c| c.span.end() <= at + base);
        if let Some(chunk) = chunks.get_mut(i).filter(|c| c.span.start() <= at + base) {
            chunk.block_ids.push(id.clone());
        }
    }
}

/// Tags of the frontmatter, then of the text; the first spelling of each.
fn all_tags(frontmatter: &frontmatter::Frontmatter, inline: &[String]) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let own = frontmatter.strings(&["tags", "tag"], true);
    own.iter()
        .map(|tag| tag.trim_start_matches('#').trim_matches('/'))
        .chain(inline.iter().map(String::as_str))
        .filter(|tag| !tag.is_empty() && seen.insert(tag.to_lowercase()))
        .map(str::to_owned)
        .collect()
}

fn problems(
    file: &str,
    frontmatter: &frontmatter::Frontmatter,
    outline: &Outline,
    masked: &str,
    place: &Place,
) -> Vec<Problem> {
    let mut out = Vec::new();
    if let Some(error) = &frontmatter.error {
        out.push(Problem { line: 1, message: error.clone() });
    }
    if frontmatter::looks_unclosed(file) {
        out.push(Problem { line: 1, message: "the frontmatter is never closed and was read as text".into() });
    }
    if let Some(at) = outline.unclosed_fence {
        let line = place.lines.at(at + place.base);
        out.push(Problem { line, message: "a code fence is never closed; all after it is code".into() });
    }
    if let Some(at) = comments::unclosed(masked) {
        let line = place.lines.at(at + place.base);
        out.push(Problem { line, message: "a %% comment is never closed and was read as text".into() });
    }
    out
}
