//! An answer before it has been checked: text, exact quotes, citations.
//!
//! Quotes and citations are represented by structure where possible. The extractive answerer builds
//! segments directly; a model's text is parsed by [`Draft::parse`], which turns what it can resolve
//! into segments and leaves everything else as text, where verification finds and rejects it. No
//! text is ever dropped.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{EvidenceItem, EvidenceSnapshot, MarkerKind, Normal, citation_of, scan_markers};
use crate::error::{Failure, Result};
use crate::types::{ByteSpan, Label};

/// One piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Segment {
    /// Text of the answerer. Verification scans it for markers.
    Text(String),
    /// Exact bytes of the evidence.
    Quote {
        /// The quoted item.
        label: Label,
        /// The quoted bytes, counted from the start of the **file**.
        span: ByteSpan,
    },
    /// A citation of one item.
    Cite(Label),
    /// A citation that refers to nothing readable. Verification rejects it.
    Unresolved {
        /// The citation as written.
        written: String,
        /// What is wrong with it.
        problem: UnresolvedProblem,
        /// The problem in one sentence.
        why: String,
    },
}

/// Why a citation refers to nothing readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnresolvedProblem {
    /// The file does not exist or may not be read.
    NotFound,
    /// A file has this path with another spelling.
    OtherPath,
    /// The file does not have these lines, this heading or this block.
    PastTheEnd,
}

/// An answer as a list of segments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Draft(Vec<Segment>);

/// Why a segment cannot be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentProblem {
    /// The snapshot has no item with this label.
    NoSuchItem(Label),
    /// The bytes are not in the item, or they split a character.
    OutOfRange(Label),
}

/// The kind of a part of a rendered answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text of the answerer.
    Text,
    /// Exact bytes of one item.
    Quote {
        /// The quoted item.
        label: Label,
        /// The quoted bytes, counted from the start of the file.
        span: ByteSpan,
    },
    /// A canonical citation.
    Cite(Label),
    /// A segment that the snapshot cannot provide; a placeholder is shown.
    Broken(SegmentProblem),
    /// A citation that refers to nothing readable, and why.
    Unresolved(UnresolvedProblem, String),
}

/// An answer in its displayed form, and the kind of each part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The whole answer.
    pub text: String,
    /// Adjacent ranges of `text` that cover it, in order.
    pub pieces: Vec<(Range<usize>, Piece)>,
}

impl Draft {
    /// A draft of these segments.
    pub const fn new(segments: Vec<Segment>) -> Self {
        Self(segments)
    }

    /// A finished answer from elsewhere, as one text in which verification finds the citations.
    pub fn verbatim(text: impl Into<String>) -> Self {
        Self(vec![Segment::Text(text.into())])
    }

    /// Parses a model's text. `[E3]` becomes a citation; `[E3: "words"]` becomes the quote in quote
    /// marks and a citation, if the words are in the item under the declared normalisation: the
    /// item's own bytes are shown. Everything that does not resolve stays text.
    pub fn parse(text: &str, snapshot: &EvidenceSnapshot) -> Self {
        let mut draft = Self::default();
        let mut normals: Vec<Option<Normal>> = vec![None; snapshot.items().len()];
        let mut at = 0;
        for marker in scan_markers(text) {
            let segments = match marker.kind {
                MarkerKind::Labels(labels)
                    if labels.iter().all(|l| snapshot.item(*l).is_some()) =>
                {
                    labels.into_iter().map(Segment::Cite).collect()
                }
                MarkerKind::Quoted { label, quote } => {
                    let words = text.get(quote.start()..quote.end()).unwrap_or("");
                    let found = snapshot.item(label).and_then(|item| {
                        let slot = normals.get_mut(label.number() as usize - 1)?;
                        find_quote(
                            item,
                            slot.get_or_insert_with(|| Normal::of(&item.text)),
                            words,
                        )
                    });
                    let Some(span) = found else { continue };
                    let mark = |m: &str| Segment::Text(m.to_owned());
                    vec![
                        mark("\""),
                        Segment::Quote { label, span },
                        mark("\" "),
                        Segment::Cite(label),
                    ]
                }
                _ => continue,
            };
            draft.text(text.get(at..marker.span.start()).unwrap_or(""));
            for segment in segments {
                draft.push(segment);
            }
            at = marker.span.end();
        }
        draft.text(text.get(at..).unwrap_or(""));
        draft
    }

    /// The segments, in order.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Adds a segment; adjacent text is joined.
    pub fn push(&mut self, segment: Segment) {
        match (self.0.last_mut(), segment) {
            (Some(Segment::Text(last)), Segment::Text(more)) => last.push_str(&more),
            (_, segment) => self.0.push(segment),
        }
    }

    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.push(Segment::Text(text.to_owned()));
        }
    }

    /// Renders the answer in its displayed form. Never fails: a segment that the snapshot cannot
    /// provide is marked [`Piece::Broken`], shown as its label, and rejected by verification.
    pub fn lay_out(&self, snapshot: &EvidenceSnapshot) -> Rendered {
        let mut out = Rendered {
            text: String::new(),
            pieces: Vec::with_capacity(self.0.len()),
        };
        let citations: Vec<String> = snapshot
            .items()
            .iter()
            .map(|i| citation_of(i, snapshot))
            .collect();
        for segment in &self.0 {
            let start = out.text.len();
            let piece = match segment {
                Segment::Text(text) => {
                    out.text.push_str(text);
                    Piece::Text
                }
                Segment::Quote { label, span } => match quoted(snapshot, *label, *span) {
                    Ok(bytes) => {
                        out.text.push_str(bytes);
                        Piece::Quote {
                            label: *label,
                            span: *span,
                        }
                    }
                    Err(problem) => out.broken(*label, problem),
                },
                Segment::Cite(label) => match citations.get(label.number() as usize - 1) {
                    Some(citation) => {
                        out.text.push_str(citation);
                        Piece::Cite(*label)
                    }
                    None => out.broken(*label, SegmentProblem::NoSuchItem(*label)),
                },
                Segment::Unresolved {
                    written,
                    problem,
                    why,
                } => {
                    out.text.push_str(written);
                    Piece::Unresolved(*problem, why.clone())
                }
            };
            out.pieces.push((start..out.text.len(), piece));
        }
        out
    }

    /// Like [`Self::lay_out`], for a draft built by this program: a segment that the snapshot
    /// cannot provide is `INTERNAL_ERROR`.
    pub fn render(&self, snapshot: &EvidenceSnapshot) -> Result<Rendered> {
        let rendered = self.lay_out(snapshot);
        if rendered
            .pieces
            .iter()
            .any(|(_, piece)| matches!(piece, Piece::Unresolved(..)))
        {
            return Err(Failure::internal(
                "A draft cites something that cannot be read.",
            ));
        }
        let broken = rendered.pieces.iter().find_map(|(_, piece)| match piece {
            Piece::Broken(problem) => Some(*problem),
            _ => None,
        });
        match broken {
            None => Ok(rendered),
            Some(SegmentProblem::NoSuchItem(label)) => Err(Failure::internal(format!(
                "A draft cites {label}, which its snapshot does not hold."
            ))),
            Some(SegmentProblem::OutOfRange(label)) => Err(Failure::internal(format!(
                "A draft quotes bytes that {label} does not hold."
            ))),
        }
    }
}

impl Rendered {
    fn broken(&mut self, label: Label, problem: SegmentProblem) -> Piece {
        self.text.push_str(&format!("[{label}]"));
        Piece::Broken(problem)
    }
}

fn quoted(
    snapshot: &EvidenceSnapshot,
    label: Label,
    span: ByteSpan,
) -> std::result::Result<&str, SegmentProblem> {
    let item = snapshot
        .item(label)
        .ok_or(SegmentProblem::NoSuchItem(label))?;
    item.slice(span)
        .filter(|bytes| !bytes.is_empty())
        .ok_or(SegmentProblem::OutOfRange(label))
}

/// Where `words` are in the file: the exact bytes if they are there, otherwise under the declared
/// normalisation.
fn find_quote(item: &EvidenceItem, normal: &Normal, words: &str) -> Option<ByteSpan> {
    let needle = Normal::of(words);
    let raw = normal.raw(normal.find(needle.as_str())?)?;
    item.locate(raw.start, raw.end).map(|(span, _)| span)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{excerpt, snapshot};
    use super::*;
    use crate::error::ErrorCode;
    use proptest::prelude::*;

    fn label(n: u32) -> Label {
        Label::new(n).unwrap()
    }

    #[test]
    fn w6_a_label_becomes_the_whole_citation() {
        let frozen = snapshot(&["The budget is 5 million.\n", "The sky is green.\n"]);
        let draft = Draft::parse(
            "The sky is green [E2]. The budget is 5 million.[E1, E2]",
            &frozen,
        );
        let (one, two) = (
            citation_of(&frozen.items()[0], &frozen),
            citation_of(&frozen.items()[1], &frozen),
        );
        let text = draft.render(&frozen).unwrap().text;
        assert_eq!(
            text,
            format!("The sky is green {two}. The budget is 5 million.{one}{two}")
        );
    }

    #[test]
    fn a_quote_is_shown_with_the_bytes_of_the_file() {
        let frozen = EvidenceSnapshot::freeze(
            "q",
            vec![excerpt("a.md", "", 50, "It’s **5 million**\nin 2026.\n")],
        )
        .unwrap();
        let draft = Draft::parse("So: [E1: \"It's 5 million in 2026.\"]", &frozen);
        let rendered = draft.render(&frozen).unwrap();
        assert!(
            rendered
                .text
                .starts_with("So: \"It’s **5 million**\nin 2026.\" [source: a.md | ")
        );
        let quote = rendered.pieces.iter().find_map(|(_, p)| match p {
            Piece::Quote { span, .. } => Some(*span),
            _ => None,
        });
        assert_eq!(quote.map(ByteSpan::start), Some(50));
    }

    #[test]
    fn c02_what_does_not_resolve_stays_to_be_seen() {
        let frozen = snapshot(&["The budget is 5 million.\n"]);
        for text in [
            "X [E9].",
            "X [E1, E9].",
            "X [9].",
            "X [E1: \"The budget is 6 million.\"]",
            "X 【E1】",
            "X [source: a]",
        ] {
            assert_eq!(Draft::parse(text, &frozen), Draft::verbatim(text));
        }
    }

    #[test]
    fn a_draft_that_its_snapshot_cannot_serve_is_not_rendered() {
        let frozen = snapshot(&["té\n"]);
        for segment in [
            Segment::Cite(label(2)),
            Segment::Quote {
                label: label(2),
                span: ByteSpan::new(0, 1).unwrap(),
            },
            Segment::Quote {
                label: label(1),
                span: ByteSpan::new(0, 9).unwrap(),
            },
            Segment::Quote {
                label: label(1),
                span: ByteSpan::new(0, 2).unwrap(),
            },
            Segment::Quote {
                label: label(1),
                span: ByteSpan::new(1, 1).unwrap(),
            },
        ] {
            let error = Draft::new(vec![segment]).render(&frozen).unwrap_err();
            assert_eq!(error.code, ErrorCode::InternalError);
        }
    }

    proptest! {
        #[test]
        fn laying_out_covers_the_text_and_parsing_never_panics(text in "[\\[\\]E12: \"“”a-c.\n]{0,60}", any in any::<String>()) {
            let frozen = snapshot(&["a b c a b c\n", "c \"b\" a\n"]);
            for t in [&text, &any] {
                let rendered = Draft::parse(t, &frozen).render(&frozen).unwrap();
                let mut end = 0;
                for (range, _) in &rendered.pieces {
                    prop_assert_eq!(range.start, end);
                    end = range.end;
                }
                prop_assert_eq!(end, rendered.text.len());
            }
        }
    }
}
