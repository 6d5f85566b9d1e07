//! Cuts source code into sections: its outermost definitions. The text between them is cut at blank
//! lines.

use std::ops::Range;

use super::Definition;
use super::text::paragraphs;
use crate::markdown::{BlockKinds, Outline, Shape};

/// The heading level of a definition: one at which small neighbours can be packed together.
const LEVEL: u8 = 3;

/// The outermost definitions of a source file, and the text between them.
pub(super) fn outline(text: &str, definitions: &[Definition]) -> Outline {
    let mut outline = Outline::default();
    let mut at = 0;
    for definition in outermost(text, definitions) {
        let range = whole_lines(text, &definition.range);
        if range.start < at || range.is_empty() {
            continue;
        }
        between(text, at..range.start, &mut outline);
        at = range.end;
        let node = outline.push(range, BlockKinds::CODE, Shape::Lines);
        outline.head(node, LEVEL, definition.name.clone());
    }
    between(text, at..text.len(), &mut outline);
    outline
}

/// The definitions in file order, an outer one before those inside it. Definitions outside the text
/// are left out.
fn outermost<'a>(text: &str, definitions: &'a [Definition]) -> Vec<&'a Definition> {
    let mut out: Vec<&Definition> = definitions
        .iter()
        .filter(|one| text.get(one.range.clone()).is_some())
        .collect();
    out.sort_by_key(|one| (one.range.start, std::cmp::Reverse(one.range.end)));
    out
}

/// Extends a range to whole lines. Comment and attribute lines directly above belong to the
/// definition.
fn whole_lines(text: &str, range: &Range<usize>) -> Range<usize> {
    let mut start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    loop {
        let above = text[..start].trim_end_matches('\n');
        let line = above.rfind('\n').map_or(0, |at| at + 1);
        let is_remark = start - above.len() == 1
            && ["//", "#", "@", "/*", " *", "*"]
                .iter()
                .any(|mark| above[line..].trim_start().starts_with(mark));
        if !is_remark {
            break;
        }
        start = line;
    }
    let end = text[range.end..]
        .find('\n')
        .map_or(text.len(), |at| range.end + at + 1);
    let ends_a_line = range.end > start && text[..range.end].ends_with('\n');
    start..if ends_a_line { range.end } else { end }
}

fn between(text: &str, range: Range<usize>, outline: &mut Outline) {
    for paragraph in paragraphs(text, range) {
        outline.push(paragraph, BlockKinds::CODE, Shape::Lines);
    }
}
