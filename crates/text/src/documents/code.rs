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
    for definition in in_file_order(text, definitions) {
        if definition.range.start < at {
            continue;
        }
        let range = whole_lines(text, at, &definition.range);
        if range.is_empty() {
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
fn in_file_order<'a>(text: &str, definitions: &'a [Definition]) -> Vec<&'a Definition> {
    let mut out: Vec<&Definition> = definitions
        .iter()
        .filter(|one| text.get(one.range.clone()).is_some())
        .collect();
    out.sort_by_key(|one| (one.range.start, std::cmp::Reverse(one.range.end)));
    out
}

/// Extends a range to whole lines. Comment and attribute lines directly above belong to the
/// definition. Nothing before `from`, the start of a line, is read.
fn whole_lines(text: &str, from: usize, range: &Range<usize>) -> Range<usize> {
    let mut start = line_start(text, from, range.start);
    while start > from {
        let above = text[from..start].strip_suffix('\n');
        let end = start - usize::from(above.is_some());
        let line = line_start(text, from, end);
        let is_remark = above.is_some()
            && ["//", "#", "@", "/*", " *", "*"]
                .iter()
                .any(|mark| text[line..end].trim_start().starts_with(mark));
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

/// The start of the line with byte `at`, but not before `from`.
fn line_start(text: &str, from: usize, at: usize) -> usize {
    text[from..at]
        .rfind('\n')
        .map_or(from, |line| from + line + 1)
}

fn between(text: &str, range: Range<usize>, outline: &mut Outline) {
    for paragraph in paragraphs(text, range) {
        outline.push(paragraph, BlockKinds::CODE, Shape::Lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A definition for every occurrence of `code` in `text`.
    fn definitions(text: &str, code: &str) -> Vec<Definition> {
        let found = text.match_indices(code);
        let definition = |(at, code): (usize, &str)| Definition {
            name: "f".to_owned(),
            range: at..at + code.len(),
        };
        found.map(definition).collect()
    }

    #[test]
    fn many_definitions_on_one_line_are_one_section_and_take_linear_time() {
        // With a search for the line of each definition, this would take many minutes.
        let text = "fn f(){} ".repeat(1_000_000);
        let outline = outline(&text, &definitions(&text, "fn f(){}"));
        assert_eq!(outline.headings.len(), 1);
    }

    #[test]
    fn many_lines_that_look_like_remarks_are_read_once() {
        let text = "#[t] fn f(){}\n".repeat(300_000);
        let outline = outline(&text, &definitions(&text, "fn f(){}"));
        assert_eq!(outline.headings.len(), 300_000);
    }
}
