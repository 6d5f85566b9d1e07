//! Plain text, whose paragraphs are separated by blank lines.

use std::ops::Range;

use crate::markdown::{BlockKinds, Outline, Shape};

/// The paragraphs of a text.
pub(super) fn outline(text: &str) -> Outline {
    let mut outline = Outline::default();
    for range in paragraphs(text, 0..text.len()) {
        outline.push(range, BlockKinds::PARAGRAPH, Shape::Text);
    }
    outline
}

/// The parts of `range` between blank lines, each without surrounding blank lines.
pub(super) fn paragraphs(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut open: Option<Range<usize>> = None;
    let mut at = range.start;
    for line in text[range].split_inclusive('\n') {
        let this = at..at + line.len();
        at = this.end;
        if line.trim().is_empty() {
            out.extend(open.take());
        } else {
            open = Some(open.map_or(this.start, |open| open.start)..this.end);
        }
    }
    out.extend(open);
    out
}
