//! Judging anybody's answer, as `verify` and MCP do it.
//!
//! Against a snapshot the answer cites `[E1]` or the canonical form. Against files it cites lines;
//! these are read through a sandbox and become the snapshot. Spans of the report always count in
//! the answer as it was given.

use std::collections::BTreeMap;
use std::ops::Range;

use local_agent_files::sandbox::{Address, Sandbox};
use local_agent_text::error::Result;
use local_agent_text::evidence::{
    Draft, EvidenceSnapshot, Excerpt, Freshness, FreshnessReport, MarkerKind, Segment, scan_markers,
};
use local_agent_text::types::{ByteSpan, ChunkKey, HeadingPath, Label, LineSpan, Sha256};
use local_agent_verify::{self as verify, LineCitation, Report, VerifyOptions, line_citations};

/// A report, and citations that name nothing that can be read.
#[derive(Debug)]
pub struct Judged {
    pub report: Report,
    /// The citation as written, and why it names nothing.
    pub unresolved: Vec<(String, String)>,
}

/// Judges an answer against frozen evidence.
pub fn against_snapshot(answer: &str, snapshot: &EvidenceSnapshot) -> Judged {
    let report = verify::verify_text(
        answer,
        snapshot,
        &FreshnessReport::default(),
        &VerifyOptions::default(),
    );
    Judged {
        report,
        unresolved: Vec::new(),
    }
}

/// A stretch of the answer as given, and what it became.
struct Part {
    given: Range<usize>,
    segment: Segment,
}

/// Judges an answer that cites lines of files (`[path:12-18]`, links with lines) against those
/// lines as they are now.
pub fn against_files(answer: &str, sandbox: &Sandbox) -> Result<Judged> {
    let mut files = Files {
        sandbox,
        places: BTreeMap::new(),
        excerpts: Vec::new(),
        unresolved: Vec::new(),
    };
    let parts = parts(answer, &mut files);
    let Files {
        excerpts,
        unresolved,
        ..
    } = files;
    let snapshot = EvidenceSnapshot::freeze("", excerpts)?;
    // The bytes were read a moment ago.
    let fresh: FreshnessReport = snapshot
        .items()
        .iter()
        .map(|item| (item.label, Freshness::Fresh))
        .collect();
    let draft = Draft::new(parts.iter().map(|p| p.segment.clone()).collect());
    let mut report = verify::verify(&draft, &snapshot, &fresh, &VerifyOptions::default());
    let rendered = draft.lay_out(&snapshot);
    let back: Vec<(Range<usize>, Range<usize>, bool)> = rendered
        .pieces
        .iter()
        .zip(&parts)
        .map(|((range, _), part)| {
            (
                range.clone(),
                part.given.clone(),
                matches!(part.segment, Segment::Text(_)),
            )
        })
        .collect();
    report.relocate(answer, |span| given(&back, span));
    Ok(Judged { report, unresolved })
}

/// Where a span of the rendered answer stands in the answer as it was given.
fn given(back: &[(Range<usize>, Range<usize>, bool)], span: ByteSpan) -> Option<ByteSpan> {
    let place = |at: usize, end: bool| {
        let n = if end {
            back.partition_point(|(r, ..)| r.end < at)
        } else {
            back.partition_point(|(r, ..)| r.end <= at)
        };
        let (range, given, text) = back.get(n)?;
        Some(match (text, end) {
            (true, _) => given.start + at.checked_sub(range.start)?,
            (false, true) => given.end,
            (false, false) => given.start,
        })
    };
    ByteSpan::new(place(span.start(), false)?, place(span.end(), true)?)
}

/// Reads what an answer cites, once each.
struct Files<'a> {
    sandbox: &'a Sandbox,
    places: BTreeMap<(Address, u32, u32), Label>,
    excerpts: Vec<Excerpt>,
    unresolved: Vec<(String, String)>,
}

/// A label that no snapshot has.
fn nothing() -> Segment {
    Label::new(u32::MAX).map_or_else(|| Segment::Text(String::new()), Segment::Cite)
}

/// The answer as segments: its words, and its citations of lines.
fn parts(answer: &str, files: &mut Files<'_>) -> Vec<Part> {
    enum Found {
        Lines(LineCitation),
        Label,
    }
    let mut found: Vec<(Range<usize>, Found)> = line_citations(answer)
        .into_iter()
        .map(|c| (c.span.clone(), Found::Lines(c)))
        .collect();
    for marker in scan_markers(answer) {
        let range = marker.span.start()..marker.span.end();
        let inside = found
            .iter()
            .any(|(r, _)| r.start < range.end && range.start < r.end);
        if !inside
            && matches!(
                marker.kind,
                MarkerKind::Labels(_) | MarkerKind::Quoted { .. }
            )
        {
            found.push((range, Found::Label));
        }
    }
    found.sort_by_key(|(r, _)| r.start);
    let mut out = Vec::new();
    let mut at = 0;
    let text = |range: Range<usize>| Part {
        segment: Segment::Text(answer.get(range.clone()).unwrap_or("").to_owned()),
        given: range,
    };
    for (range, what) in found {
        if at < range.start {
            out.push(text(at..range.start));
        }
        let shown = answer.get(range.clone()).unwrap_or("").to_owned();
        let segment = match what {
            Found::Label => {
                files
                    .unresolved
                    .push((shown, "labels name nothing in a folder".to_owned()));
                nothing()
            }
            Found::Lines(citation) => {
                if let Some(words) = citation.words.clone() {
                    out.push(text(words));
                }
                match files.label(&citation) {
                    Ok(label) => Segment::Cite(label),
                    Err(why) => {
                        files.unresolved.push((shown, why));
                        nothing()
                    }
                }
            }
        };
        out.push(Part {
            given: range.clone(),
            segment,
        });
        at = range.end;
    }
    if at < answer.len() {
        out.push(text(at..answer.len()));
    }
    out
}

/// Text of files that one answer may cite. Lines may be cited in ever new ranges, and each is held
/// as evidence.
const MOST_CITED_BYTES: usize = 16 << 20;

impl Files<'_> {
    /// The label of the cited lines; reads them when they are new.
    fn label(&mut self, citation: &LineCitation) -> std::result::Result<Label, String> {
        let at = self
            .sandbox
            .resolve(&citation.path)
            .map_err(|f| f.message)?;
        let key = (at, citation.first, citation.last);
        if let Some(label) = self.places.get(&key) {
            return Ok(*label);
        }
        let bytes = self.sandbox.read(&key.0).map_err(|f| f.message)?.bytes;
        let text =
            std::str::from_utf8(&bytes).map_err(|_| "the file is not UTF-8 text".to_owned())?;
        let excerpt = excerpt(&key.0, text, citation)?;
        let held: usize = self.excerpts.iter().map(|excerpt| excerpt.text.len()).sum();
        if held + excerpt.text.len() > MOST_CITED_BYTES {
            return Err("more text is cited than is judged at once".to_owned());
        }
        self.excerpts.push(excerpt);
        let label = u32::try_from(self.excerpts.len())
            .ok()
            .and_then(Label::new)
            .ok_or("too many citations")?;
        self.places.insert(key, label);
        Ok(label)
    }
}

/// The cited lines of a file.
fn excerpt(
    at: &Address,
    text: &str,
    citation: &LineCitation,
) -> std::result::Result<Excerpt, String> {
    let count = text.split_inclusive('\n').count();
    let (first, last) = (citation.first as usize, citation.last as usize);
    if last > count {
        return Err(format!("the file has {count} lines"));
    }
    let length = |lines: usize| {
        text.split_inclusive('\n')
            .take(lines)
            .map(str::len)
            .sum::<usize>()
    };
    let (start, end) = (length(first - 1), length(last));
    let cut = text.get(start..end).unwrap_or("");
    let heading = HeadingPath::default();
    let lines = LineSpan::new(citation.first, citation.last);
    let span = ByteSpan::new(start, end);
    let (Some(lines), Some(span)) = (lines, span) else {
        return Err("the lines are out of order".to_owned());
    };
    // Equal lines of one file are told apart by where they begin.
    let nth = u32::try_from(start).unwrap_or(u32::MAX);
    let chunk_key = ChunkKey::derive(
        &at.source,
        &at.path,
        &heading,
        &Sha256::of(cut.as_bytes()),
        nth,
    );
    let (source, path) = (at.source.clone(), at.path.clone());
    Ok(Excerpt {
        chunk_key,
        merged: Vec::new(),
        source,
        path,
        heading,
        span,
        lines,
        text: cut.to_owned(),
        path_is_shared: false,
    })
}
