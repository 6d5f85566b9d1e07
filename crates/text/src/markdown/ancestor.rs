//! The cut points of the earlier Python version, for comparison: `obsidian_v1` and
//! `fixed_window_v1`.
//!
//! All lengths are in code points of the text, with `\r\n` and lone `\r` counted as one line break,
//! as in Python's text files. A heading inside a code fence counts as a heading, as in the Python
//! version. The Python version joined its paragraphs with blank lines; here a chunk is the slice of
//! the file from its first paragraph to its last.

use std::ops::Range;

use crate::types::{Heading, HeadingPath};

/// A chunk as the Python version cut it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AncestorChunk {
    /// Bytes of the body.
    pub range: Range<usize>,
    pub heading: HeadingPath,
}

/// Windows of `max_chars` that advance by `max_chars - overlap`; the last one ends with the text.
pub(super) fn fixed_window_v1(body: &str, max_chars: usize, overlap: usize) -> Vec<AncestorChunk> {
    let (max_chars, overlap) = limits(max_chars, overlap);
    let text = Points::of(body, skipped_line(body)..body.len());
    let mut out = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let end = (start + max_chars).min(text.len());
        out.push(AncestorChunk {
            range: text.bytes(start..end),
            heading: HeadingPath::default(),
        });
        if end == text.len() {
            break;
        }
        start += max_chars - overlap;
    }
    out
}

/// Paragraphs packed per heading path, sections cut at level 2 (or the smallest level present).
pub(super) fn obsidian_v1(body: &str, max_chars: usize, overlap: usize) -> Vec<AncestorChunk> {
    let (max_chars, overlap) = limits(max_chars, overlap);
    let mut packer = Packer {
        body,
        max_chars,
        overlap,
        out: Vec::new(),
        current: None,
    };
    let lines = lines(body);
    let levels = || {
        lines
            .iter()
            .filter_map(|l| heading(&body[l.clone()]))
            .map(|h| h.level)
    };
    let split = if levels().any(|l| l == 2) {
        2
    } else {
        levels().min().unwrap_or(0)
    };
    let mut stack: Vec<Heading> = Vec::new();
    let mut paragraph: Option<Range<usize>> = None;
    for line in lines {
        let text = &body[line.clone()];
        let found = heading(text);
        if found.is_some() || text.trim().is_empty() {
            if let Some(done) = paragraph.take() {
                packer.paragraph(done, &stack);
            }
        } else {
            paragraph = Some(paragraph.map_or(line.start, |p| p.start)..line.end);
        }
        if let Some(found) = found {
            if found.level == split {
                packer.flush();
            }
            stack.retain(|h| h.level < found.level);
            stack.push(found);
        }
    }
    if let Some(done) = paragraph {
        packer.paragraph(done, &stack);
    }
    packer.flush();
    packer.out
}

/// Adjusts the values so that progress is possible.
fn limits(max_chars: usize, overlap: usize) -> (usize, usize) {
    let max_chars = max_chars.max(1);
    (max_chars, overlap.min(max_chars - 1))
}

/// One leading line break of the body is dropped.
fn skipped_line(body: &str) -> usize {
    if body.starts_with("\r\n") {
        2
    } else {
        usize::from(body.starts_with(['\n', '\r']))
    }
}

/// The lines of the body, line breaks included.
fn lines(body: &str) -> Vec<Range<usize>> {
    let bytes = body.as_bytes();
    let first = skipped_line(body);
    let mut ends: Vec<usize> = (first..bytes.len())
        .filter(|at| ends_line(bytes, *at))
        .map(|at| at + 1)
        .collect();
    if ends.last().copied().unwrap_or(first) < bytes.len() {
        ends.push(bytes.len());
    }
    let starts = std::iter::once(first).chain(ends.clone());
    starts.zip(ends).map(|(start, end)| start..end).collect()
}

/// Whether the byte is the last of a line break.
fn ends_line(bytes: &[u8], at: usize) -> bool {
    bytes[at] == b'\n' || bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n')
}

/// Parses a heading: one to six `#` at the very start, white space, a title. Closing `#`s belong to
/// the title.
fn heading(line: &str) -> Option<Heading> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let title = rest.trim();
    let spaced = rest.starts_with(|c: char| c.is_whitespace());
    let level = u8::try_from(level)
        .ok()
        .filter(|l| (1..=6).contains(l) && spaced && !title.is_empty())?;
    Some(Heading {
        level,
        title: title.to_owned(),
    })
}

struct Packer<'a> {
    body: &'a str,
    max_chars: usize,
    overlap: usize,
    out: Vec<AncestorChunk>,
    /// The chunk being packed, and its length as the Python version counts it.
    current: Option<(AncestorChunk, usize)>,
}

impl Packer<'_> {
    fn flush(&mut self) {
        self.out.extend(self.current.take().map(|(piece, _)| piece));
    }

    fn paragraph(&mut self, range: Range<usize>, stack: &[Heading]) {
        let heading = HeadingPath::new(stack.to_vec()).unwrap_or_default();
        let text = Points::of(self.body, range);
        if text.len() <= self.max_chars {
            return self.add(text.bytes(0..text.len()), text.len(), &heading);
        }
        for window in self.windows(&text) {
            self.add(text.bytes(window.clone()), window.len(), &heading);
        }
    }

    fn add(&mut self, range: Range<usize>, len: usize, heading: &HeadingPath) {
        if let Some((piece, have)) = &mut self.current
            && piece.heading == *heading
            && *have + 2 + len <= self.max_chars
        {
            piece.range.end = range.end;
            *have += 2 + len;
            return;
        }
        self.flush();
        self.current = Some((
            AncestorChunk {
                range,
                heading: heading.clone(),
            },
            len,
        ));
    }

    /// Windows over a paragraph that is too long; each except the first starts `overlap` before the
    /// break.
    fn windows(&self, text: &Points<'_>) -> Vec<Range<usize>> {
        let mut out = Vec::new();
        let mut start = 0;
        while start < text.len() {
            let end = start + self.max_chars;
            if end >= text.len() {
                out.push(start..text.len());
                break;
            }
            let end = text.break_in(start, end, self.max_chars / 2);
            out.push(start..end);
            let next = end.saturating_sub(self.overlap);
            start = if next > start { next } else { end };
        }
        out
    }
}

/// A text in code points, with each line break counted once.
struct Points<'a> {
    body: &'a str,
    /// The byte at which each point begins, and one past the end.
    starts: Vec<usize>,
}

impl<'a> Points<'a> {
    fn of(body: &'a str, range: Range<usize>) -> Self {
        let bytes = body.as_bytes();
        let points = body[range.clone()]
            .char_indices()
            .map(|(i, _)| range.start + i)
            .filter(|at| !(bytes[*at] == b'\n' && *at > range.start && bytes[*at - 1] == b'\r'));
        Self {
            body,
            starts: points.chain([range.end]).collect(),
        }
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn bytes(&self, points: Range<usize>) -> Range<usize> {
        self.starts[points.start]..self.starts[points.end]
    }

    /// The character at a point; a line break of any kind is `\n`.
    fn at(&self, point: usize) -> char {
        match self.body[self.starts[point]..].chars().next() {
            Some('\r') => '\n',
            Some(c) => c,
            None => '\0',
        }
    }

    /// Where a window `start..end` is cut: after its last boundary, otherwise its last space, both
    /// at least `least` points in; otherwise at its end.
    fn break_in(&self, start: usize, end: usize, least: usize) -> usize {
        let least = (start + least).max(start + 1);
        if let Some(found) = (least..=end)
            .rev()
            .find(|&at| self.is_boundary(start, at, end))
        {
            return found;
        }
        (least..end)
            .rev()
            .find(|&at| self.at(at) == ' ')
            .map_or(end, |at| at + 1)
    }

    /// Whether a boundary ends at `at`: all of the white space after `.`, `!`, `?` (with closing
    /// quotes and brackets between) or after `;`, `:`; or a line break.
    fn is_boundary(&self, start: usize, at: usize, end: usize) -> bool {
        if !self.at(at - 1).is_whitespace() {
            return false;
        }
        let mut before = at - 1;
        while before > start && self.at(before - 1).is_whitespace() {
            before -= 1;
        }
        if before == start {
            return self.at(at - 1) == '\n';
        }
        let whole_gap = at == end || !self.at(at).is_whitespace();
        let after_sign = matches!(self.at(before - 1), ';' | ':');
        let mut stop = before;
        while stop > start && matches!(self.at(stop - 1), '"' | '\'' | ')' | ']' | '”' | '’') {
            stop -= 1;
        }
        let after_stop = stop > start && matches!(self.at(stop - 1), '.' | '!' | '?');
        if after_sign || after_stop {
            whole_gap
        } else {
            self.at(at - 1) == '\n'
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(body: &str, max_chars: usize, overlap: usize) -> Vec<(&str, String)> {
        let pieces = obsidian_v1(body, max_chars, overlap);
        pieces
            .into_iter()
            .map(|p| (&body[p.range], p.heading.to_string()))
            .collect()
    }

    fn texts(body: &str, max_chars: usize, overlap: usize) -> Vec<&str> {
        cut(body, max_chars, overlap)
            .into_iter()
            .map(|(t, _)| t)
            .collect()
    }

    #[test]
    fn fixed_windows_step_by_the_difference() {
        let pieces = fixed_window_v1("\nabcdefghij", 4, 1);
        let found: Vec<_> = pieces.into_iter().map(|p| p.range).collect();
        assert_eq!(found, [1..5, 4..8, 7..11]);
        let crlf = fixed_window_v1("a\r\nbü", 2, 0);
        assert_eq!(
            crlf.into_iter().map(|p| p.range).collect::<Vec<_>>(),
            [0..3, 3..6]
        );
    }

    #[test]
    fn headings_cut_sections_and_stand_in_no_chunk() {
        let body = "intro\n\n# One\n\na\n\nb\n\n## Two ##\nc\n\n### Three\n\nd\n\n## Four\n";
        let expected = [
            ("intro\n", ""),
            ("a\n\nb\n", "H1: One"),
            ("c\n", "H1: One > H2: Two ##"),
            ("d\n", "H1: One > H2: Two ## > H3: Three"),
        ];
        assert_eq!(
            cut(body, 1200, 120),
            expected.map(|(t, h)| (t, h.to_owned()))
        );
    }

    #[test]
    fn code_fences_are_ignored_as_the_ancestor_did() {
        assert_eq!(cut("```\n# no\nx\n```\n", 1200, 120)[1].1, "H1: no");
        assert_eq!(
            texts(" # indented\n#none\n", 1200, 120),
            [" # indented\n#none\n"]
        );
    }

    #[test]
    fn packing_counts_a_blank_line_between_paragraphs() {
        // "aaa\n" is 4, "bbb" is 3: 4 + 2 + 3 = 9.
        assert_eq!(texts("aaa\n\nbbb", 9, 0), ["aaa\n\nbbb"]);
        assert_eq!(texts("aaa\n\nbbb", 8, 0), ["aaa\n", "bbb"]);
        assert_eq!(texts("aaa\r\n\r\nbbb", 9, 0), ["aaa\r\n\r\nbbb"]);
    }

    #[test]
    fn a_section_of_the_split_level_ends_packing_even_under_the_same_path() {
        assert_eq!(texts("## A\nx\n## A\ny\n", 1200, 0), ["x\n", "y\n"]);
    }

    #[test]
    fn long_paragraphs_break_after_a_stop_a_space_or_hard() {
        assert_eq!(
            texts("One two. Three four", 12, 0),
            ["One two. ", "Three four"]
        );
        assert_eq!(
            texts("One two. Three four", 12, 3),
            ["One two. ", "o. Three ", "ee four"]
        );
        assert_eq!(texts("abcdef ghijkl", 10, 0), ["abcdef ", "ghijkl"]);
        assert_eq!(
            texts("abcdefghijkl", 5, 2),
            ["abcde", "defgh", "ghijk", "jkl"]
        );
        assert_eq!(
            texts("One: two (x.) three", 14, 0),
            ["One: two (x.) ", "three"]
        );
    }
}
