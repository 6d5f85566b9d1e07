//! Splits an answer into segments: its words, and its citations of files.

use std::ops::Range;

use super::cited_files::CitedFiles;
use local_agent_text::evidence::{MarkerKind, Rendered, Segment, UnresolvedProblem, scan_markers};
use local_agent_text::types::ByteSpan;
use local_agent_verify::{FileCitation, FileCitations, file_citations};

/// A part of the answer as given, and its segments.
struct CitedPart {
    given: Range<usize>,
    segment: Segment,
}

/// An answer as segments, in order.
pub(super) struct Parts(Vec<CitedPart>);

/// A part of an answer that is not words.
enum FoundMark {
    File(FileCitation),
    /// `[E1]`, which means nothing without a snapshot.
    Label,
    /// A footnote that only cites.
    Footnote,
}

impl Parts {
    /// Splits `answer` into parts, and reads what it cites.
    pub(super) fn of(answer: &str, files: &mut CitedFiles<'_>) -> Self {
        let mut parts = Self(Vec::new());
        let mut at = 0;
        let cited = file_citations(answer);
        for citation in &cited.unclear {
            files.note_unclear(citation, answer.get(citation.span.clone()).unwrap_or(""));
        }
        for (range, found) in found(answer, cited) {
            let before = parts.0.len();
            parts.text(answer, at..range.start);
            match found {
                FoundMark::Footnote => parts.push(range.clone(), Segment::Text(String::new())),
                FoundMark::Label => {
                    let why = "A label names nothing in a folder; cite `[path:line]`.";
                    let segment = files.unresolved(
                        answer.get(range.clone()).unwrap_or(""),
                        UnresolvedProblem::NotFound,
                        why,
                    );
                    parts.push(range.clone(), segment);
                }
                FoundMark::File(citation) => {
                    let written = answer.get(range.clone()).unwrap_or("");
                    let Some(segments) = files.segments(&citation, written) else {
                        // The mark was not a citation, so its bytes remain text.
                        parts.0.truncate(before);
                        continue;
                    };
                    if let Some(words) = citation.words {
                        parts.text(answer, words);
                    }
                    for segment in segments {
                        parts.push(range.clone(), segment);
                    }
                }
            }
            at = range.end;
        }
        parts.text(answer, at..answer.len());
        parts
    }

    fn push(&mut self, given: Range<usize>, segment: Segment) {
        self.0.push(CitedPart { given, segment });
    }

    fn text(&mut self, answer: &str, range: Range<usize>) {
        if !range.is_empty() {
            let text = answer.get(range.clone()).unwrap_or("").to_owned();
            self.push(range, Segment::Text(text));
        }
    }

    /// The segments of a draft.
    pub(super) fn segments(&self) -> Vec<Segment> {
        self.0.iter().map(|part| part.segment.clone()).collect()
    }

    /// The mapping from the rendered draft back to the answer as given.
    pub(super) fn back(&self, rendered: &Rendered) -> Back {
        let places = rendered
            .pieces
            .iter()
            .zip(&self.0)
            .map(|((range, _), part)| PartPlace {
                rendered: range.clone(),
                given: part.given.clone(),
                is_text: matches!(part.segment, Segment::Text(_)),
            });
        Back(places.collect())
    }
}

/// Citations of files, labels and footnotes, in order, without overlap.
fn found(answer: &str, cited: FileCitations) -> Vec<(Range<usize>, FoundMark)> {
    let mut found: Vec<(Range<usize>, FoundMark)> = cited
        .citations
        .into_iter()
        .map(|citation| (citation.span.clone(), FoundMark::File(citation)))
        .collect();
    found.extend(
        cited
            .footnotes
            .into_iter()
            .map(|f| (f, FoundMark::Footnote)),
    );
    found.sort_by_key(|(range, _)| range.start);
    let mut labels = Vec::new();
    for marker in scan_markers(answer) {
        let is_label = matches!(
            marker.kind,
            MarkerKind::Labels(_) | MarkerKind::Quoted { .. }
        );
        let range = marker.span.start()..marker.span.end();
        let next = found.partition_point(|(r, _)| r.end <= range.start);
        let overlaps = found.get(next).is_some_and(|(r, _)| r.start < range.end);
        if is_label && !overlaps {
            labels.push((range, FoundMark::Label));
        }
    }
    found.extend(labels);
    found.sort_by_key(|(range, _)| range.start);
    found
}

struct PartPlace {
    rendered: Range<usize>,
    given: Range<usize>,
    is_text: bool,
}

/// Maps bytes of the rendered draft to the answer as given.
pub(super) struct Back(Vec<PartPlace>);

impl Back {
    /// Where a span is; `None` if it has no counterpart.
    pub(super) fn given(&self, span: ByteSpan) -> Option<ByteSpan> {
        ByteSpan::new(self.start(span.start())?, self.end(span.end())?)
    }

    fn start(&self, at: usize) -> Option<usize> {
        let next = self.0.partition_point(|place| place.rendered.end <= at);
        let place = self.0.get(next)?;
        match place.is_text {
            true => Some(place.given.start + at.checked_sub(place.rendered.start)?),
            false => Some(place.given.start),
        }
    }

    fn end(&self, at: usize) -> Option<usize> {
        let next = self.0.partition_point(|place| place.rendered.end < at);
        let place = self.0.get(next)?;
        match place.is_text {
            true => Some(place.given.start + at.checked_sub(place.rendered.start)?),
            false => Some(place.given.end),
        }
    }
}
