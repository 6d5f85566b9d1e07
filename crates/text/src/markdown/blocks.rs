//! Parses markdown text into its blocks, each with its position and the block around it.
//!
//! Chunking needs blocks for its cut points, [`super::sentences`] needs them to find sentences, and
//! code that shows a passage needs to know where a whole list, table or code block begins and ends.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag};

use super::comments;
use crate::types::ByteSpan;

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// Running text; also the text of a list item that is separated by blank lines.
    Paragraph,
    /// A heading.
    Heading,
    /// A list with all its items.
    List {
        /// Whether its items are numbered.
        ordered: bool,
    },
    /// One item of a list, with everything inside it.
    Item,
    /// A table.
    Table,
    /// The header row of a table.
    Header,
    /// Another row of a table.
    Row,
    /// A code block, fences included.
    Code,
    /// A block quote or callout.
    Quote,
    /// A block of HTML.
    Html,
    /// A footnote's text, or any other markdown block.
    Other,
}

/// A block and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Its kind.
    pub kind: BlockKind,
    /// Its bytes in the text, without white space at the end.
    pub span: ByteSpan,
    /// The index of the block around it.
    pub parent: Option<usize>,
    /// For an item that is a task: whether it is ticked.
    pub task: Option<bool>,
}

/// Maximum depth at which blocks are recorded; deeper ones belong to the last recorded one.
const MAX_DEPTH: usize = 24;

/// The blocks of `text` in the order of their starts, outer blocks first. Inline markup is not
/// recorded. Never fails; the same text gives the same blocks.
pub fn blocks(text: &str) -> Vec<Block> {
    let (masked, _) = comments::mask(text);
    let mut out: Vec<Block> = Vec::new();
    // The open blocks; `None` for one that was not recorded.
    let mut open: Vec<Option<usize>> = Vec::new();
    for (event, range) in Parser::new_ext(&masked, super::dialect()).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                let kind = kind_of(&tag).filter(|_| open.len() < MAX_DEPTH);
                let block = kind.and_then(|kind| block(&masked, kind, &range, &open));
                open.push(block.is_some().then_some(out.len()));
                out.extend(block);
            }
            Event::End(_) => {
                open.pop();
            }
            Event::TaskListMarker(done) => {
                let mut around = open.iter().rev().flatten();
                let item = around.find(|i| out.get(**i).is_some_and(|b| b.kind == BlockKind::Item));
                if let Some(item) = item.and_then(|i| out.get_mut(*i)) {
                    item.task = Some(done);
                }
            }
            _ => {}
        }
    }
    out
}

fn block(
    text: &str,
    kind: BlockKind,
    range: &Range<usize>,
    open: &[Option<usize>],
) -> Option<Block> {
    let end = range.start + text.get(range.clone())?.trim_end().len();
    Some(Block {
        kind,
        span: ByteSpan::new(range.start, end)?,
        parent: open.iter().rev().flatten().next().copied(),
        task: None,
    })
}

/// `None` for inline markup.
fn kind_of(tag: &Tag<'_>) -> Option<BlockKind> {
    Some(match tag {
        Tag::Paragraph => BlockKind::Paragraph,
        Tag::Heading { .. } => BlockKind::Heading,
        Tag::List(first) => BlockKind::List {
            ordered: first.is_some(),
        },
        Tag::Item => BlockKind::Item,
        Tag::Table(_) => BlockKind::Table,
        Tag::TableHead => BlockKind::Header,
        Tag::TableRow => BlockKind::Row,
        Tag::CodeBlock(_) => BlockKind::Code,
        Tag::BlockQuote(_) => BlockKind::Quote,
        Tag::HtmlBlock => BlockKind::Html,
        Tag::FootnoteDefinition(_) => BlockKind::Other,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> Vec<(BlockKind, &str, Option<usize>)> {
        let of = |b: Block| (b.kind, &text[b.span.start()..b.span.end()], b.parent);
        blocks(text).into_iter().map(of).collect()
    }

    #[test]
    fn lists_hold_their_items_and_what_is_in_them() {
        let text = "Do this:\n\n1. Unplug.\n   - Wait.\n2. Run\n\n   ```sh\n   a\n   ```\n";
        let found = shown(text);
        assert_eq!(found[0], (BlockKind::Paragraph, "Do this:", None));
        assert_eq!(found[1].0, BlockKind::List { ordered: true });
        assert!(found[1].1.ends_with("```"));
        let code = found.iter().find(|b| b.0 == BlockKind::Code).unwrap();
        assert_eq!(found[code.2.unwrap()].0, BlockKind::Item);
    }

    #[test]
    fn tasks_say_whether_they_are_done() {
        let tasks: Vec<_> = blocks("- [ ] a\n- [x] b\n- c\n")
            .into_iter()
            .filter(|b| b.kind == BlockKind::Item)
            .map(|b| b.task)
            .collect();
        assert_eq!(tasks, [Some(false), Some(true), None]);
    }

    #[test]
    fn a_table_has_a_header_and_rows() {
        let kinds: Vec<_> = blocks("| a | b |\n|---|---|\n| 1 | 2 |\n")
            .into_iter()
            .map(|b| b.kind)
            .collect();
        assert_eq!(kinds, [BlockKind::Table, BlockKind::Header, BlockKind::Row]);
    }

    proptest! {
        #[test]
        fn blocks_lie_inside_their_parents(text in "[-a1. |`>#\n\\[\\]x]{0,80}") {
            let found = blocks(&text);
            for block in &found {
                prop_assert!(text.get(block.span.start()..block.span.end()).is_some());
                if let Some(parent) = block.parent {
                    prop_assert!(found[parent].span.start() <= block.span.start());
                }
            }
        }
    }
}
