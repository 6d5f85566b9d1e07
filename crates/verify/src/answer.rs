//! An answer taken apart: its markers, its units (sentences, items, rows), and where a citation
//! does not count.

use std::ops::Range;

use super::context::{CODE, Contexts};
use local_agent_text::evidence::{
    Draft, EvidenceSnapshot, MarkerKind, Piece, SegmentProblem, UnresolvedProblem, scan_markers,
};
use local_agent_text::markdown::{BlockRole, sentences};
use local_agent_text::types::{ByteSpan, Label};

/// What a marker is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MarkKind {
    /// Written as text by the answerer.
    Written(MarkerKind),
    /// A citation by structure.
    Cite(Label),
    /// A segment that the snapshot cannot serve.
    Broken(SegmentProblem),
    /// A citation that names nothing that can be read, and why.
    Unresolved(UnresolvedProblem, String),
}

/// One marker of the answer.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    /// Its bytes in the answer.
    pub range: Range<usize>,
    /// What it is.
    pub kind: MarkKind,
    /// Why the marker does not count, such as the kind of block that contains it; `None` if it
    /// counts.
    pub hidden: Option<&'static str>,
}

impl Mark {
    fn new(range: Range<usize>, kind: MarkKind) -> Self {
        Self {
            range,
            kind,
            hidden: None,
        }
    }
    /// Code is full of brackets: there, only a marker written as a citation can be misplaced.
    fn is_only_code(&self) -> bool {
        self.hidden == Some(CODE)
            && !self.is_citation()
            && matches!(
                self.kind,
                MarkKind::Written(
                    MarkerKind::Number | MarkerKind::LabelLookalike(_) | MarkerKind::Malformed(_)
                )
            )
    }

    /// Whether the marker was written as a citation, so that it would count in another place.
    pub(crate) fn is_citation(&self) -> bool {
        match &self.kind {
            MarkKind::Cite(_) | MarkKind::Broken(_) | MarkKind::Unresolved(..) => true,
            MarkKind::Written(kind) => {
                matches!(
                    kind,
                    MarkerKind::Labels(_) | MarkerKind::Quoted { .. } | MarkerKind::Source(_)
                )
            }
        }
    }
}

/// A quote by structure: bytes of an item.
#[derive(Debug, Clone)]
pub(crate) struct StructuralQuote {
    /// Its bytes in the answer.
    pub range: Range<usize>,
    /// The quoted item.
    pub label: Label,
    /// The quoted bytes of the file.
    pub span: ByteSpan,
    /// Whether a citation of that item follows it directly.
    pub cited: bool,
}

/// A sentence, item, row or code group of the answer.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    /// Its bytes in the answer.
    pub range: Range<usize>,
    /// The kind of block it is in.
    pub role: BlockRole,
    /// Which block.
    pub block: usize,
    /// Its own markers, as indices.
    pub marks: Vec<usize>,
    /// Its text without the markers, trimmed.
    pub words: String,
    /// Where runs of `words` begin, and where they begin in the answer; ascending.
    runs: Vec<(usize, usize)>,
    /// How far its line is indented, in bytes.
    pub indent: usize,
}

impl Unit {
    /// Drops the "…" that stands for a sentence left out before this one; it stays if the evidence
    /// has it too.
    fn drop_gap(&mut self, snapshot: &EvidenceSnapshot) {
        let is_of_gap = |c: char| c.is_whitespace() || c == '…';
        let rest = self.words.trim_start_matches(is_of_gap);
        let gap = self.words.len() - rest.len();
        let mut items = snapshot.items().iter();
        if gap == 0 || rest.is_empty() || items.any(|item| item.text.contains(&self.words)) {
            return;
        }
        self.words = rest.to_owned();
        for (start, place) in &mut self.runs {
            match start.checked_sub(gap) {
                Some(moved) => *start = moved,
                None => (*start, *place) = (0, *place + (gap - *start)),
            }
        }
    }

    /// Where byte `at` of its words is in the answer.
    pub(crate) fn place(&self, at: usize) -> Option<usize> {
        let run = self.runs.partition_point(|(start, _)| *start <= at);
        let (start, place) = self.runs.get(run.checked_sub(1)?)?;
        Some(place + (at - start))
    }

    /// Whether the unit has any words besides its markers.
    pub(crate) fn says_something(&self) -> bool {
        self.words.chars().any(char::is_alphanumeric)
    }
}

/// An answer taken apart.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The answer as people see it.
    pub text: String,
    /// The same length, every readable marker replaced by `[E11…1]`.
    pub masked: String,
    /// All markers, in order.
    pub marks: Vec<Mark>,
    /// The quotes by structure, in order.
    pub quotes: Vec<StructuralQuote>,
    /// The units, in order.
    pub units: Vec<Unit>,
    /// Markers outside every unit.
    pub strays: Vec<usize>,
    /// Where a citation does not count.
    pub contexts: Contexts,
}

impl Answer {
    /// Takes `draft` apart.
    pub(crate) fn of(draft: &Draft, snapshot: &EvidenceSnapshot) -> Self {
        let rendered = draft.lay_out(snapshot);
        let mut marks = Vec::new();
        let mut quotes = Vec::new();
        for (i, (range, piece)) in rendered.pieces.iter().enumerate() {
            match piece {
                Piece::Text => marks.extend(written_marks(&rendered.text, range)),
                Piece::Cite(label) => marks.push(Mark::new(range.clone(), MarkKind::Cite(*label))),
                Piece::Broken(problem) => {
                    marks.push(Mark::new(range.clone(), MarkKind::Broken(*problem)));
                }
                Piece::Unresolved(problem, why) => {
                    let kind = MarkKind::Unresolved(*problem, why.clone());
                    marks.push(Mark::new(range.clone(), kind));
                }
                Piece::Quote { label, span } => {
                    let cited = is_cited(
                        &rendered.text,
                        rendered.pieces.get(i + 1..).unwrap_or(&[]),
                        *label,
                    );
                    quotes.push(StructuralQuote {
                        range: range.clone(),
                        label: *label,
                        span: *span,
                        cited,
                    });
                }
            }
        }
        let masked = mask(&rendered.text, &marks);
        let contexts = Contexts::of(&masked);
        for mark in &mut marks {
            mark.hidden = contexts.name_at(mark.range.start);
        }
        marks.retain(|m| !m.is_only_code());
        let mut this = Self {
            text: rendered.text,
            masked,
            marks,
            quotes,
            units: Vec::new(),
            strays: Vec::new(),
            contexts,
        };
        this.cut();
        for unit in &mut this.units {
            unit.drop_gap(snapshot);
        }
        this
    }

    /// Cuts the text into units and gives each its markers.
    fn cut(&mut self) {
        let mut next = 0;
        let (mut line, mut seen) = (0, 0);
        for sentence in sentences(&self.contexts.without_tags(&self.masked)) {
            let range = sentence.span.start()..sentence.span.end();
            while self
                .marks
                .get(next)
                .is_some_and(|m| m.range.start < range.start)
            {
                self.strays.push(next);
                next += 1;
            }
            let first = next;
            while self
                .marks
                .get(next)
                .is_some_and(|m| m.range.start < range.end)
            {
                next += 1;
            }
            let (words, runs) = without(
                &self.text,
                range.clone(),
                self.marks.get(first..next).unwrap_or(&[]),
            );
            line = self
                .text
                .get(seen..range.start)
                .and_then(|t| t.rfind('\n'))
                .map_or(line, |i| seen + i + 1);
            seen = range.start;
            let lead = self.text.get(line..range.start).unwrap_or("");
            let indent = lead.len() - lead.trim_start_matches([' ', '\t']).len();
            self.units.push(Unit {
                range,
                role: sentence.role,
                block: sentence.block,
                marks: (first..next).collect(),
                words,
                runs,
                indent,
            });
        }
        self.strays.extend(next..self.marks.len());
    }
}

/// A marker kind with its inner span relative to the whole text.
fn shift(kind: MarkerKind, by: usize) -> MarkerKind {
    match kind {
        MarkerKind::Quoted { label, quote } => {
            match ByteSpan::new(quote.start() + by, quote.end() + by) {
                Some(quote) => MarkerKind::Quoted { label, quote },
                None => MarkerKind::Quoted { label, quote },
            }
        }
        other => other,
    }
}

/// Whether the run of citations that follows, before any further word, names `label`.
fn is_cited(text: &str, after: &[(Range<usize>, Piece)], label: Label) -> bool {
    let mut in_run = false;
    for (range, piece) in after {
        match piece {
            Piece::Cite(cited) if *cited == label => return true,
            Piece::Cite(_) => in_run = true,
            Piece::Quote { .. } if in_run => return false,
            Piece::Quote { .. } => {}
            Piece::Text
                if text
                    .get(range.clone())
                    .is_some_and(|t| t.chars().any(char::is_alphanumeric)) =>
            {
                return false;
            }
            Piece::Text => {}
            Piece::Broken(_) | Piece::Unresolved(..) => return false,
        }
    }
    false
}

/// The markers in a range of a text.
fn written_marks(text: &str, range: &Range<usize>) -> Vec<Mark> {
    let start = range.start;
    let markers = scan_markers(text.get(range.clone()).unwrap_or(""));
    markers
        .into_iter()
        .map(|m| {
            let at = start + m.span.start()..start + m.span.end();
            Mark::new(at, MarkKind::Written(shift(m.kind, start)))
        })
        .collect()
}

/// The text with every readable marker replaced by one of the same length. The replacement means
/// nothing in markdown, and the sentence cutter treats it as a citation.
fn mask(text: &str, marks: &[Mark]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for mark in marks
        .iter()
        .filter(|m| m.is_citation() && m.range.len() >= 4)
    {
        out.push_str(text.get(at..mark.range.start).unwrap_or(""));
        out.push_str("[E");
        out.extend(std::iter::repeat_n('1', mark.range.len() - 3));
        out.push(']');
        at = mark.range.end;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

/// `text[range]` without the citations among `marks` (a quote inside one is kept), and without the
/// space before them when punctuation follows; and where its runs are in `text`.
fn without(text: &str, range: Range<usize>, marks: &[Mark]) -> (String, Vec<(usize, usize)>) {
    let mut copy = CopiedRuns {
        text,
        out: String::with_capacity(range.len()),
        runs: Vec::new(),
    };
    let mut at = range.start;
    for mark in marks.iter().filter(|m| m.is_citation()) {
        copy.add(at..mark.range.start);
        if let MarkKind::Written(MarkerKind::Quoted { quote, .. }) = &mark.kind {
            copy.out.push('"');
            copy.add(quote.start()..quote.end());
            copy.out.push('"');
        }
        at = mark.range.end;
        let rest = text.get(at..range.end).unwrap_or("");
        if rest.starts_with(['.', ',', ';', ':', '!', '?', ')', '。', '，', '、']) {
            copy.out.truncate(copy.out.trim_end().len());
        }
    }
    copy.add(at..range.end.max(at));
    let lead = copy.out.len() - copy.out.trim_start().len();
    let trimmed = copy.out.trim().to_owned();
    let moved = copy
        .runs
        .into_iter()
        .map(|(start, place)| match start.checked_sub(lead) {
            Some(start) => (start, place),
            None => (0, place + (lead - start)),
        });
    (trimmed, moved.collect())
}

/// Parts of a text, and where each begins in the copy and in the text.
struct CopiedRuns<'t> {
    text: &'t str,
    out: String,
    runs: Vec<(usize, usize)>,
}

impl CopiedRuns<'_> {
    fn add(&mut self, range: Range<usize>) {
        self.runs.push((self.out.len(), range.start));
        self.out.push_str(self.text.get(range).unwrap_or(""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_testing::fixture::snapshot;
    use proptest::prelude::*;

    #[test]
    fn a_marker_belongs_to_the_sentence_before_it() {
        let frozen = snapshot(&["a\n"]);
        let answer = Answer::of(
            &Draft::verbatim("One is. [E1] Two is [E1]. Three."),
            &frozen,
        );
        let units: Vec<_> = answer
            .units
            .iter()
            .map(|u| (u.words.as_str(), u.marks.len()))
            .collect();
        assert_eq!(units, [("One is.", 1), ("Two is.", 1), ("Three.", 0)]);
    }

    #[test]
    fn what_stands_for_a_sentence_that_was_left_out_is_no_word_of_the_next_one() {
        let frozen = snapshot(&["a\n"]);
        let draft = Draft::verbatim("One is [E1].… Two is [E1]. … Three is [E1].");
        let answer = Answer::of(&draft, &frozen);
        let words: Vec<_> = answer.units.iter().map(|u| u.words.as_str()).collect();
        assert_eq!(words.last(), Some(&"Three is."), "{words:?}");
        assert!(
            words.iter().all(|words| !words.starts_with('…')),
            "{words:?}"
        );
    }

    proptest! {
        #[test]
        fn masking_keeps_the_length_and_every_marker_has_a_home(text in "[\\[\\]E1 :\"a.,`>#|\n-]{0,80}", any in any::<String>()) {
            let frozen = snapshot(&["a a. a a\n"]);
            for t in [&text, &any] {
                for draft in [Draft::verbatim(t.as_str()), Draft::parse(t, &frozen)] {
                    let answer = Answer::of(&draft, &frozen);
                    prop_assert_eq!(answer.text.len(), answer.masked.len());
                    let homes: usize = answer.units.iter().map(|u| u.marks.len()).sum();
                    prop_assert_eq!(homes + answer.strays.len(), answer.marks.len());
                }
            }
        }
    }
}
