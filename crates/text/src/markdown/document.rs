//! Turns a file's text into a [`Document`].

use std::ops::Range;

use serde_json::json;

use super::fit::{FittedBlock, Fitter};
use super::inline::Link;
use super::outline::Outline;
use super::types::{BlockKinds, Chunk, ChunkOptions, CountTokens, Document, HeadingAt, Problem};
use super::{ancestor, comments, frontmatter, pack};
use crate::markdown::Scheme;
use crate::types::{ByteSpan, Heading, HeadingPath, LineSpan, Sha256};

/// The version of the cut points of `obsidian_v2`. Increase it with every change that moves one, so
/// that older indexes are recognised as out of date.
const IMPLEMENTATION: &str = "obsidian_v2.6";

/// The Python version's name for its implementation.
const ANCESTOR_IMPLEMENTATION: &str = "phase2_chunking_v1";

/// The headings of a note. Its chunks are not used, so it is cut into one.
pub fn heading_list(file_text: &str) -> Vec<HeadingAt> {
    let options = ChunkOptions {
        scheme: Scheme::FixedWindowV1,
        max_tokens: 1,
        max_chars: file_text.len().max(1),
        overlap: 0,
    };
    parse(file_text, &options, &|_| 0).headings
}

/// Parses a markdown file. Never fails. Text that could not be parsed as probably intended is
/// listed in `problems` and is still in the chunks. The same text, options and counter give the
/// same document.
pub fn parse(file_text: &str, options: &ChunkOptions, count: CountTokens<'_>) -> Document {
    let frontmatter = frontmatter::read(file_text);
    let base = frontmatter
        .span
        .map_or(frontmatter::bom_len(file_text), ByteSpan::end);
    let body = &file_text[base..];
    let (masked, comments) = comments::mask(body);
    let outline = Outline::of(&masked);
    let place = Place {
        base,
        lines: Lines::of(file_text),
    };
    let headings: Vec<HeadingAt> = outline
        .headings
        .iter()
        .filter_map(|h| place.heading(h, &outline))
        .collect();
    let mut chunks = match options.scheme {
        Scheme::ObsidianV2 => modern_chunks(body, &outline, &headings, options, count, &place),
        Scheme::ObsidianV1 | Scheme::FixedWindowV1 => {
            old_chunks(body, &outline, options, count, &place)
        }
    };
    mark_comments(&mut chunks, &comments, base);
    name_blocks(&mut chunks, &outline.block_ids, base);
    let first_h1 = headings
        .iter()
        .find(|h| h.level == 1 && !h.title.is_empty())
        .map(|h| h.title.clone());
    let problems = problems(file_text, &frontmatter, &outline, &masked, &place);
    Document {
        title: frontmatter.text("title").or(first_h1),
        tags: all_tags(&frontmatter, &outline.tags),
        aliases: frontmatter.strings(&["aliases", "alias"], false),
        links: outline
            .links
            .into_iter()
            .filter_map(|link| place.link(link))
            .collect(),
        headings,
        chunks,
        problems,
        frontmatter,
    }
}

/// A document of another kind, whose outline was read from `file_text` without its first `base`
/// bytes. `properties` replace the keys of a frontmatter.
pub(crate) fn of_outline(
    file_text: &str,
    base: usize,
    outline: Outline,
    properties: serde_json::Map<String, serde_json::Value>,
    options: &ChunkOptions,
    count: CountTokens<'_>,
) -> Document {
    let place = Place {
        base,
        lines: Lines::of(file_text),
    };
    let headings: Vec<HeadingAt> = outline
        .headings
        .iter()
        .filter_map(|h| place.heading(h, &outline))
        .collect();
    let chunks = modern_chunks(
        &file_text[base..],
        &outline,
        &headings,
        options,
        count,
        &place,
    );
    let frontmatter = frontmatter::Frontmatter {
        json: properties,
        ..frontmatter::Frontmatter::absent()
    };
    Document {
        title: frontmatter.text("title"),
        tags: all_tags(&frontmatter, &outline.tags),
        aliases: Vec::new(),
        links: outline
            .links
            .into_iter()
            .filter_map(|link| place.link(link))
            .collect(),
        headings,
        chunks,
        problems: Vec::new(),
        frontmatter,
    }
}

/// The identity of everything that determines cut points: 32 hexadecimal digits that change
/// whenever the cut points could.
///
/// The Python version's schemes use the Python version's value: SHA-256 over compact JSON with
/// sorted keys. They do not depend on a tokenizer.
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

/// Converts positions in the body to positions in the file.
struct Place {
    base: usize,
    lines: Lines,
}

impl Place {
    fn span(&self, range: &Range<usize>) -> Option<ByteSpan> {
        ByteSpan::new(range.start + self.base, range.end + self.base)
    }

    fn heading(
        &self,
        heading: &super::outline::SectionHeading,
        outline: &Outline,
    ) -> Option<HeadingAt> {
        let span = self.span(&outline.nodes.get(heading.node)?.range)?;
        let title = heading
            .title
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        Some(HeadingAt {
            level: heading.level,
            title,
            span,
            line: self.lines.at(span.start()),
        })
    }

    fn link(&self, link: Link) -> Option<Link> {
        let span = self.span(&(link.span.start()..link.span.end()))?;
        Some(Link { span, ..link })
    }

    /// A chunk of the body; `None` for an empty range.
    fn chunk(
        &self,
        range: &Range<usize>,
        heading: HeadingPath,
        kinds: BlockKinds,
        tokens: usize,
    ) -> Option<Chunk> {
        let span = self.span(range).filter(|s| !s.is_empty())?;
        let lines = LineSpan::new(self.lines.at(span.start()), self.lines.at(span.end() - 1))?;
        Some(Chunk {
            span,
            lines,
            heading,
            kinds,
            tokens,
            block_ids: Vec::new(),
        })
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
    let sections = sections(
        outline,
        headings,
        &Fitter {
            text: body,
            outline,
            budget,
            count,
        },
    );
    let pieces = pack::pack(&sections, budget);
    let chunk = |piece: pack::PackedChunk| {
        let path = sections
            .get(piece.section)
            .map(|s| s.path.clone())
            .unwrap_or_default();
        place.chunk(&trim(body, &piece.range), path, piece.kinds, piece.tokens)
    };
    pieces.into_iter().filter_map(chunk).collect()
}

/// The sections of the body, each with its units; the first is the text above all headings.
fn sections(
    outline: &Outline,
    headings: &[HeadingAt],
    fitter: &Fitter<'_>,
) -> Vec<pack::PackableSection> {
    let mut nodes = outline.children(None).peekable();
    let mut take_until = |end: usize| {
        let mut out = Vec::new();
        while let Some(node) = nodes.next_if(|n| outline.nodes[*n].range.start < end) {
            out.push(node);
        }
        out
    };
    let mut units = |range: Range<usize>| -> Vec<FittedBlock> {
        let own = take_until(range.end);
        let is_blank = fitter.text[range.clone()].trim().is_empty();
        if is_blank {
            Vec::new()
        } else {
            fitter.units(range, &own)
        }
    };
    let mut out = vec![pack::PackableSection {
        level: 0,
        path: HeadingPath::default(),
        units: units(0..start_of_section(outline, fitter, 0)),
    }];
    let mut stack: Vec<Heading> = Vec::new();
    for (i, heading) in headings.iter().enumerate() {
        stack.retain(|h| h.level < heading.level);
        stack.push(Heading {
            level: heading.level,
            title: heading.title.clone(),
        });
        let path = HeadingPath::new(stack.clone()).unwrap_or_default();
        out.push(pack::PackableSection {
            level: heading.level,
            path,
            units: units(
                start_of_section(outline, fitter, i)..start_of_section(outline, fitter, i + 1),
            ),
        });
    }
    out
}

/// The start of section `i`; the end of the text after the last one.
fn start_of_section(outline: &Outline, fitter: &Fitter<'_>, i: usize) -> usize {
    outline
        .headings
        .get(i)
        .map_or(fitter.text.len(), |h| outline.nodes[h.node].range.start)
}

fn old_chunks(
    body: &str,
    outline: &Outline,
    options: &ChunkOptions,
    count: CountTokens<'_>,
    place: &Place,
) -> Vec<Chunk> {
    let pieces = match options.scheme {
        Scheme::FixedWindowV1 => {
            ancestor::fixed_window_v1(body, options.max_chars, options.overlap)
        }
        _ => ancestor::obsidian_v1(body, options.max_chars, options.overlap),
    };
    let blocks: Vec<usize> = outline.children(None).collect();
    let chunk = |piece: ancestor::AncestorChunk| {
        let tokens = count(&body[piece.range.clone()]);
        place.chunk(
            &piece.range,
            piece.heading,
            kinds_in(outline, &blocks, &piece.range),
            tokens,
        )
    };
    pieces.into_iter().filter_map(chunk).collect()
}

/// The kinds of the blocks that overlap the range.
fn kinds_in(outline: &Outline, blocks: &[usize], range: &Range<usize>) -> BlockKinds {
    let first = blocks.partition_point(|n| outline.nodes[*n].range.end <= range.start);
    let inside = blocks[first..]
        .iter()
        .map(|n| &outline.nodes[*n])
        .take_while(|n| n.range.start < range.end);
    inside.fold(BlockKinds::default(), |kinds, node| kinds | node.kinds)
}

fn mark_comments(chunks: &mut [Chunk], comments: &[Range<usize>], base: usize) {
    let mut rest = comments.iter().peekable();
    for chunk in chunks {
        while rest
            .next_if(|c| c.end + base <= chunk.span.start())
            .is_some()
        {}
        if rest
            .peek()
            .is_some_and(|c| c.start + base < chunk.span.end())
        {
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

/// Tags of the frontmatter, then of the text, each in its first spelling.
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
        out.push(Problem {
            line: 1,
            message: error.clone(),
        });
    }
    if frontmatter::looks_unclosed(file) {
        out.push(Problem {
            line: 1,
            message: "the frontmatter is never closed and was read as text".into(),
        });
    }
    if let Some(at) = outline.unclosed_fence {
        let line = place.lines.at(at + place.base);
        out.push(Problem {
            line,
            message: "a code fence is never closed; all after it is code".into(),
        });
    }
    if let Some(at) = comments::unclosed(masked) {
        let line = place.lines.at(at + place.base);
        out.push(Problem {
            line,
            message: "a %% comment is never closed and was read as text".into(),
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::inline::LinkKind;
    use super::*;
    use proptest::prelude::*;

    /// Approximates a WordPiece tokenizer; additive over white space.
    fn estimate(text: &str) -> usize {
        text.split_whitespace()
            .map(|word| word.chars().count().div_ceil(4))
            .sum()
    }

    fn options(max_tokens: usize) -> ChunkOptions {
        ChunkOptions {
            scheme: Scheme::ObsidianV2,
            max_tokens,
            max_chars: 1200,
            overlap: 120,
        }
    }

    fn doc(text: &str) -> Document {
        parse(text, &options(256), &estimate)
    }

    /// Chunk texts and their paths, for a token budget.
    fn chunks(text: &str, max_tokens: usize) -> Vec<(&str, String)> {
        let found = parse(text, &options(max_tokens), &estimate).chunks;
        found
            .into_iter()
            .map(|c| (&text[c.span.start()..c.span.end()], c.heading.to_string()))
            .collect()
    }

    fn words(n: usize) -> String {
        vec!["word"; n].join(" ")
    }

    /// Checks what must be true for every document.
    fn check(text: &str, max_tokens: usize) -> Result<(), TestCaseError> {
        let found = parse(text, &options(max_tokens), &estimate);
        let mut at = found
            .frontmatter
            .span
            .map_or(frontmatter::bom_len(text), ByteSpan::end);
        let mut line = 1 + text[..at].matches('\n').count();
        for chunk in &found.chunks {
            let (start, end) = (chunk.span.start(), chunk.span.end());
            prop_assert!(start >= at && end > start, "order");
            prop_assert!(
                text.is_char_boundary(at) && text[at..start].trim().is_empty(),
                "gap {:?}",
                &text[at..start]
            );
            let body = text.get(start..end);
            prop_assert!(body.is_some_and(|b| b.trim() == b), "slice");
            prop_assert_eq!(
                chunk.lines.first() as usize,
                line + text[at..start].matches('\n').count()
            );
            line += text[at..end].matches('\n').count();
            prop_assert_eq!(chunk.lines.last() as usize, line);
            let exact = estimate(&text[start..end]);
            let grapheme =
                unicode_segmentation::UnicodeSegmentation::graphemes(&text[start..end], true)
                    .count()
                    == 1;
            prop_assert!(
                exact <= max_tokens || grapheme,
                "{} tokens in {:?}",
                exact,
                body
            );
            prop_assert!(chunk.tokens >= exact);
            at = end;
        }
        prop_assert!(text[at..].trim().is_empty(), "end {:?}", &text[at..]);
        let (mut at, mut line) = (0, 1);
        for heading in &found.headings {
            line += text[at..heading.span.start()].matches('\n').count();
            at = heading.span.start();
            prop_assert_eq!(heading.line as usize, line);
        }
        for link in &found.links {
            prop_assert!(text.get(link.span.start()..link.span.end()).is_some());
        }
        Ok(())
    }

    #[test]
    fn w20_a_chunk_is_a_slice_of_the_file_with_its_lines() {
        let text = "\u{feff}---\r\nuuid: x\r\n---\r\n# Tïtle\r\n\r\nBody line\r\nand more\r\n";
        let found = doc(text);
        let chunk = &found.chunks[0];
        assert_eq!(
            &text[chunk.span.start()..chunk.span.end()],
            "# Tïtle\r\n\r\nBody line\r\nand more"
        );
        assert_eq!((chunk.lines.first(), chunk.lines.last()), (4, 7));
        assert_eq!(chunk.heading.to_string(), "H1: Tïtle");
        assert_eq!(found.headings[0].line, 4);
    }

    #[test]
    fn w19_comments_in_fences_are_no_headings_and_setext_lines_are() {
        let found = doc(
            "Top\n===\n\n```sh\n# install\n## all\n```\n\n  ## Second ##\n\nx\n\n- # in a list\n> # in a quote\n",
        );
        let titles: Vec<_> = found
            .headings
            .iter()
            .map(|h| (h.level, h.title.as_str()))
            .collect();
        assert_eq!(titles, [(1, "Top"), (2, "Second")]);
    }

    #[test]
    fn w21_a_document_of_headings_alone_has_a_chunk() {
        assert_eq!(
            chunks("# One\n## Two\n", 256),
            [("# One\n## Two", "H1: One > H2: Two".to_owned())]
        );
        assert_eq!(chunks("---\na: b\n---\n", 256), []);
        assert_eq!(chunks("", 256), []);
    }

    #[test]
    fn w22_a_section_put_first_leaves_the_other_chunks_as_they_are() {
        let old: String = (0..6)
            .map(|i| format!("## S{i}\n\n{}\n\n", words(120 + i)))
            .collect();
        let new = format!("## New\n\n{}\n\n{old}", words(130));
        let (old, new) = (chunks(&old, 256), chunks(&new, 256));
        assert_eq!(old[..], new[1..]);
    }

    #[test]
    fn w30_small_sections_are_packed_under_the_path_they_share() {
        let text = "# Top\n\n## A\n\none\n\n## B\n\ntwo\n\n### C\n\nthree\n";
        assert_eq!(chunks(text, 256), [(text.trim_end(), "H1: Top".to_owned())]);
        // Two substantial chapters stay apart.
        let two = format!(
            "# Top\n\n## A\n\n{}\n\n## B\n\n{}\n",
            words(100),
            words(100)
        );
        let found: Vec<_> = chunks(&two, 256)
            .into_iter()
            .map(|(_, path)| path)
            .collect();
        assert_eq!(found, ["H1: Top > H2: A", "H1: Top > H2: B"]);
        // Sections below them are packed: the chunk begins at the first one's heading.
        let many: String = (0..8)
            .map(|i| format!("### S{i}\n\n{}\n\n", words(60)))
            .collect();
        let text = format!("# T\n\n{}\n\n## A\n\n{many}", words(200));
        let found = chunks(&text, 256);
        assert!(found[1].0.starts_with("## A") && found[1].1 == "H1: T > H2: A");
        assert!(found[2].0.starts_with("### S") && found[2].1 == "H1: T > H2: A");
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn blocks_are_kept_whole_unless_they_are_larger_than_the_budget() {
        let code = format!("```\n{}```", "let x = 1;\n".repeat(10));
        let text = format!("{}\n\n{code}\n\n{}", words(30), words(30));
        assert!(chunks(&text, 64).iter().any(|(t, _)| t.contains(&code)));
        let table: String = (0..40)
            .map(|i| format!("| row{i} | {} |\n", words(5)))
            .collect();
        let text = format!("| a | b |\n|---|---|\n{table}");
        let found = chunks(&text, 64);
        assert!(
            found.len() > 3
                && found
                    .iter()
                    .all(|(t, _)| t.starts_with('|') && t.ends_with('|'))
        );
        let list: String = (0..40)
            .map(|i| format!("- item {i}\n  - sub {}\n", words(5)))
            .collect();
        assert!(
            chunks(&list, 64)
                .iter()
                .all(|(t, _)| t.starts_with("- item"))
        );
        let quote: String = (0..9).map(|_| format!("> {}\n>\n", words(30))).collect();
        assert!(
            chunks(&quote, 64)
                .iter()
                .all(|(t, _)| t.starts_with("> word"))
        );
    }

    #[test]
    fn what_introduces_a_list_or_a_fence_goes_with_it() {
        let item = format!("- {}\n", words(12));
        let list = item.repeat(4);
        let text = format!("{}\n\nThese are the steps:\n\n{list}", words(40));
        for max_tokens in [40, 48, 64, 80, 200] {
            for (chunk, _) in chunks(&text, max_tokens) {
                assert!(!chunk.ends_with(':'), "{max_tokens}: {chunk}");
            }
        }
        // A bare heading does not form a chunk, and no chunk exceeds the budget.
        let text = format!("# Title\n\nOnly this:\n\n{}\n", words(30));
        assert_eq!(chunks(&text, 32)[0].0, "# Title\n\nOnly this:");
    }

    #[test]
    fn nothing_follows_the_tail_of_a_fence_that_was_cut() {
        let text = format!("```\n{}```\n\nafter the code\n", "let x = 1;\n".repeat(60));
        let found = chunks(&text, 64);
        assert_eq!(found.last().map(|c| c.0), Some("after the code"));
    }

    #[test]
    fn f22_frontmatter_and_inline_tags_aliases_and_titles_are_read() {
        let found = doc(
            "---\ntags: [Area/x, '#b']\naliases: Other, Name\n---\n# Head\n\nSee #area/X and #new/one, `#no`.\n\n    #no\n",
        );
        assert_eq!(found.tags, ["Area/x", "b", "new/one"]);
        assert_eq!(found.aliases, ["Other", "Name"]);
        assert_eq!(found.title.as_deref(), Some("Head"));
        assert_eq!(
            doc("---\ntitle: Mine\n---\n# Head").title.as_deref(),
            Some("Mine")
        );
        assert_eq!(doc("## Head").title, None);
    }

    #[test]
    fn f23_f24_links_embeds_and_block_ids_are_found() {
        let text = "[[Note#A#B|shown]] ![[Note#^id1]] [text](My%20Note.md#H) <https://a.b/#c> ![alt](p.png) [[#Here]] `[[no]]` ^p1\n\n| a |\n|---|\n| [[T\\|x]] |\n\n^t1\n\n- item ^i1\n- b\n";
        let found = doc(text);
        let links: Vec<_> = found
            .links
            .iter()
            .map(|l| {
                (
                    l.kind,
                    l.target.as_str(),
                    l.anchor.as_deref(),
                    l.text.as_deref(),
                )
            })
            .collect();
        use LinkKind::*;
        assert_eq!(
            links,
            [
                (Wiki, "Note", Some("B"), Some("shown")),
                (Embed, "Note", Some("^id1"), None),
                (Markdown, "My Note.md", Some("H"), Some("text")),
                (Autolink, "https://a.b/#c", None, None),
                (Image, "p.png", None, Some("alt")),
                (Wiki, "", Some("Here"), None),
                (Wiki, "T", None, Some("x")),
            ]
        );
        let first = &found.links[0];
        assert_eq!(
            &text[first.span.start()..first.span.end()],
            "[[Note#A#B|shown]]"
        );
        assert_eq!(found.chunks[0].block_ids, ["p1", "t1", "i1"]);
    }

    #[test]
    fn f25_comments_and_callouts_are_marked_and_comments_hold_no_structure() {
        let found = doc(
            "Text %%inline [[no]] #no%% more\n\n> [!note] Title\n> body\n\n%%\n# No heading\n%%\n",
        );
        assert!(found.headings.is_empty() && found.links.is_empty() && found.tags.is_empty());
        let kinds: Vec<_> = found.chunks[0].kinds.names().collect();
        assert_eq!(kinds, ["paragraph", "quote", "callout", "comment"]);
    }

    #[test]
    fn what_could_not_be_read_is_reported_with_its_line() {
        let lines = |text: &str| {
            doc(text)
                .problems
                .into_iter()
                .map(|p| p.line)
                .collect::<Vec<_>>()
        };
        assert_eq!(lines("---\na: [\n---\nx"), [1]);
        assert_eq!(lines("---\na: b\nno end"), [1]);
        assert_eq!(lines("a\n\n```\ncode\n"), [3]);
        assert_eq!(lines("a\n\nb %% c\n"), [3]);
        assert!(lines("```\ncode\n```\n\n~~~~\n```\n~~~~\n\n- ```\n  x\n  ```\n").is_empty());
    }

    #[test]
    fn s22_a_byte_order_mark_and_nul_bytes_are_text_like_any_other() {
        let text = "\u{feff}# A\0b\n\nx\0y";
        assert_eq!(chunks(text, 256)[0].0, "# A\0b\n\nx\0y");
    }

    #[test]
    fn the_signature_is_the_ancestors_for_its_schemes_and_ours_for_ours() {
        let sha = Sha256::of(b"tokenizer");
        let old = ChunkOptions {
            scheme: Scheme::ObsidianV1,
            ..options(256)
        };
        assert_eq!(chunker_sig(&old, &sha), "abd4b97185f77c5306bc0ed5067a56bc");
        let sig = chunker_sig(&options(256), &sha);
        assert_eq!(sig.len(), 32);
        assert_ne!(sig, chunker_sig(&options(255), &sha));
        assert_ne!(sig, chunker_sig(&options(256), &Sha256::of(b"other")));
        assert_ne!(
            chunker_sig(
                &ChunkOptions {
                    scheme: Scheme::FixedWindowV1,
                    ..old
                },
                &sha
            ),
            chunker_sig(&old, &sha)
        );
    }

    #[test]
    fn moving_a_cut_point_needs_a_new_implementation_version() {
        let parts = [
            "Intro e.g. one. Two! Three [E1]. Four\nfive six seven eight nine ten.\n\n",
            "# Alpha\n\n- one two three four\n  - nested five six\n- seven eight nine ten\n\n",
            "## Beta\n\n| a | b |\n|---|---|\n| one two three | four five six |\n| seven | eight |\n\n",
            "```rust\nfn one() {}\n\nfn two_is_longer() {}\n```\n\n^block\n\n",
            "### Gamma\n\n> [!tip] Title\n> body one two\n>\n> more three four\n\n### Delta\n\nShort.\n\n",
            "### Epsilon\n\none two three four five six.\n\nThese follow:\n\n- six seven eight\n- nine ten\n\n",
            "Setext\n======\n\n%%hidden%% 日本語。テスト。 [x]: y\n\n[r]: http://a.b\n\n<div>\nhtml here\n</div>\n",
        ];
        let text = parts.concat();
        let cuts: Vec<String> = [1, 6, 16, 48, 500]
            .into_iter()
            .flat_map(|budget| parse(&text, &options(budget), &estimate).chunks)
            .map(|c| format!("{} {} {}", c.span.start(), c.span.end(), c.heading))
            .collect();
        let found = (
            IMPLEMENTATION,
            Sha256::of(cuts.join("\n").as_bytes()).to_string(),
        );
        assert_eq!(
            found,
            (
                "obsidian_v2.6",
                "c17facc9fa369959b29de89f6903be4a6204b5ad49907aa4dd1d5dd74aff0aa2".to_owned()
            ),
            "{cuts:#?}"
        );
    }

    #[test]
    fn s25_hostile_documents_are_read_in_linear_time() {
        let nested: String = (0..600)
            .map(|i| format!("{}- x\n", "  ".repeat(i)))
            .collect();
        for text in [
            "# h\n".repeat(100_000),
            "###### h\n# g\n".repeat(50_000),
            "word. ".repeat(200_000),
            "x".repeat(1_000_000),
            "e\u{301}".repeat(100_000),
            format!("a{}", "\u{301}".repeat(100_000)),
            "> ".repeat(10_000) + "x",
            "- ".repeat(10_000) + "x",
            nested,
            "[[a".repeat(50_000),
            "#a".repeat(100_000),
            " #a".repeat(100_000),
            "```\n".repeat(50_001),
            "| a ".repeat(20_000) + "\n" + &"|---".repeat(20_000) + "\n" + &"| b ".repeat(20_000),
            "%% a ".repeat(100_001),
            "\n".repeat(500_000),
            "[a]: b\n".repeat(50_000),
            "- a ^x\n".repeat(50_000),
        ] {
            check(&text, 64).unwrap();
        }
    }

    /// Pieces of markdown that are combined in every way.
    fn markdown() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "# H\n",
            "## Zwei\n",
            "### c ###\n",
            "Set\n===\n",
            "para graph ü. ",
            "日本語。",
            "\n",
            "\n\n",
            "\r\n",
            "- item\n",
            "  - sub\n",
            "1. one\n",
            "> quote\n",
            "> [!note] T\n",
            "| a | b |\n|---|---|\n",
            "| c | d |\n",
            "```\n",
            "~~~\n",
            "    code\n",
            "<div>\n",
            "[x]: y\n",
            "[^1]: note\n",
            "---\n",
            "%%",
            "^id\n",
            "#tag ",
            "[[L|a]] ",
            "\t",
            "\u{feff}",
            "\0",
            "word word word word word word word word word word ",
            "…\u{301}",
            "a: b\n",
            ">\n",
            "- [ ] t\n",
            "*em* ",
            "\r",
        ]);
        prop::collection::vec(piece, 0..40).prop_map(|p| p.concat())
    }

    proptest! {
        #[test]
        fn chunks_cover_the_body_in_order_within_the_budget(text in markdown(), max_tokens in 1usize..40) {
            check(&text, max_tokens)?;
        }

        #[test]
        fn any_text_is_read(text in any::<String>(), max_tokens in 1usize..9) {
            check(&text, max_tokens)?;
        }

        #[test]
        fn the_ancestors_chunks_are_slices_too(text in markdown(), max_chars in 0usize..60, overlap in 0usize..40) {
            for scheme in [Scheme::ObsidianV1, Scheme::FixedWindowV1] {
                let options = ChunkOptions { scheme, max_chars, overlap, max_tokens: 1 };
                for chunk in parse(&text, &options, &estimate).chunks {
                    prop_assert!(text.get(chunk.span.start()..chunk.span.end()).is_some());
                }
            }
        }
    }
}
