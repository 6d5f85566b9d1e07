//! `verify`: the verifier alone, on anybody's answer.
//!
//! Against a snapshot the answer cites `[E1]` or the canonical form. Against a folder it cites lines of files; these
//! are read through a sandbox and become the snapshot. Spans of the report always count in the answer as it was given.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::args::Verify as Args;
use super::context::Context;
use super::index::extend;
use super::output::talk;
use super::read::read_text;
use super::try_it::config_for;
use crate::error::{ErrorCode, Failure, Result};
use crate::evidence::{
    Draft, EvidenceSnapshot, Excerpt, Freshness, FreshnessReport, MarkerKind, Segment, scan_markers,
};
use crate::runs::{self, Record};
use crate::sandbox::{Address, Sandbox};
use crate::types::{ByteSpan, ChunkKey, HeadingPath, Label, LineSpan, Sha256};
use crate::verify::{self, LineCitation, Report, Verdict, VerifyOptions, line_citations};

/// Largest answer that is judged, in bytes.
const LARGEST: u64 = 8 << 20;

pub fn run(context: &mut Context, args: &Args) -> Result<ExitCode> {
    let answer = answer(context, &args.answer)?;
    let judged = match (&args.snapshot, &args.vault) {
        (Some(file), None) => {
            let snapshot = snapshot(context, &context.environment.cwd.join(file))?;
            let report =
                verify::verify_text(&answer, &snapshot, &FreshnessReport::default(), &VerifyOptions::default());
            Judged { report, unresolved: Vec::new() }
        }
        (None, Some(dir)) => against_files(context, &answer, dir)?,
        _ => {
            return Err(Failure::new(ErrorCode::InvalidArgs, "one of --snapshot and --vault must be given")
                .with_hint("local-agent verify ANSWER --vault DIR"));
        }
    };
    if args.json {
        let mut body = body(&judged)?;
        extend(&mut body, context.roots());
        context.out.json(body);
    } else {
        print(context, &judged);
    }
    Ok(if judged.report.ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// A report, and citations that name nothing that can be read.
struct Judged {
    report: Report,
    unresolved: Vec<(String, String)>,
}

fn answer(context: &Context, file: &Path) -> Result<String> {
    if file != Path::new("-") {
        return read_text(&context.environment.cwd.join(file));
    }
    let mut bytes = Vec::new();
    let fail = |why: String| Failure::new(ErrorCode::FileReadError, format!("stdin {why}"));
    std::io::stdin().take(LARGEST + 1).read_to_end(&mut bytes).map_err(|e| fail(format!("cannot be read: {e}")))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Failure::new(ErrorCode::FileTooLarge, "the answer on stdin is too large"));
    }
    String::from_utf8(bytes).map_err(|_| fail("is not UTF-8 text".to_owned()))
}

/// A snapshot file, something that holds one under `snapshot`, or a run's record, whose evidence is brought back.
fn snapshot(context: &Context, file: &Path) -> Result<EvidenceSnapshot> {
    let json = read_text(file)?;
    let held = serde_json::from_str::<Value>(&json).ok();
    if held.as_ref().is_some_and(Record::is_one) {
        let record = Record::from_json(&json)?;
        let config = context.load()?.config;
        let folder = file.parent().unwrap_or(Path::new("."));
        return Ok(runs::thaw(&record, folder, &context.sandbox(&config)?)?.snapshot);
    }
    let held = held.and_then(|v| v.get("snapshot").filter(|s| s.is_object()).map(Value::to_string));
    EvidenceSnapshot::from_json(held.as_deref().unwrap_or(&json))
}

/// A stretch of the answer as given, and what it became.
struct Part {
    given: Range<usize>,
    segment: Segment,
}

fn against_files(context: &mut Context, answer: &str, dir: &Path) -> Result<Judged> {
    let dir = context.environment.cwd.join(dir);
    let config = config_for(context, &dir)?;
    let sandbox = context.sandbox(&config)?;
    let mut files = Files { sandbox: &sandbox, places: BTreeMap::new(), excerpts: Vec::new(), unresolved: Vec::new() };
    let parts = parts(answer, &mut files);
    let Files { excerpts, unresolved, .. } = files;
    let snapshot = EvidenceSnapshot::freeze("", excerpts)?;
    // The bytes were read a moment ago.
    let fresh: FreshnessReport = snapshot.items().iter().map(|item| (item.label, Freshness::Fresh)).collect();
    let draft = Draft::new(parts.iter().map(|p| p.segment.clone()).collect());
    let mut report = verify::verify(&draft, &snapshot, &fresh, &VerifyOptions::default());
    let rendered = draft.lay_out(&snapshot);
    let back: Vec<(Range<usize>, Range<usize>, bool)> = rendered
        .pieces
        .iter()
        .zip(&parts)
        .map(|((range, _), part)| (range.clone(), part.given.clone(), matches!(part.segment, Segment::Text(_))))
        .collect();
    report.relocate(answer, |span| given(&back, span));
    Ok(Judged { report, unresolved })
}

/// Where a span of the rendered answer stands in the answer as it was given.
fn given(back: &[(Range<usize>, Range<usize>, bool)], span: ByteSpan) -> Option<ByteSpan> {
    let place = |at: usize, end: bool| {
        let n =
            if end { back.partition_point(|(r, ..)| r.end < at) } else { back.partition_point(|(r, ..)| r.end <= at) };
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
    let mut found: Vec<(Range<usize>, Found)> =
        line_citations(answer).into_iter().map(|c| (c.span.clone(), Found::Lines(c))).collect();
    for marker in scan_markers(answer) {
        let range = marker.span.start()..marker.span.end();
        let inside = found.iter().any(|(r, _)| r.start < range.end && range.start < r.end);
        if !inside && matches!(marker.kind, MarkerKind::Labels(_) | MarkerKind::Quoted { .. }) {
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
                files.unresolved.push((shown, "labels name nothing in a folder".to_owned()));
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
        out.push(Part { given: range.clone(), segment });
        at = range.end;
    }
    if at < answer.len() {
        out.push(text(at..answer.len()));
    }
    out
}

impl Files<'_> {
    /// The label of the cited lines; reads them when they are new.
    fn label(&mut self, citation: &LineCitation) -> std::result::Result<Label, String> {
        let at = self.sandbox.resolve(&citation.path).map_err(|f| f.message)?;
        let key = (at, citation.first, citation.last);
        if let Some(label) = self.places.get(&key) {
            return Ok(*label);
        }
        let bytes = self.sandbox.read(&key.0).map_err(|f| f.message)?.bytes;
        let text = std::str::from_utf8(&bytes).map_err(|_| "the file is not UTF-8 text".to_owned())?;
        let excerpt = excerpt(&key.0, text, citation)?;
        self.excerpts.push(excerpt);
        let label = u32::try_from(self.excerpts.len()).ok().and_then(Label::new).ok_or("too many citations")?;
        self.places.insert(key, label);
        Ok(label)
    }
}

/// The cited lines of a file.
fn excerpt(at: &Address, text: &str, citation: &LineCitation) -> std::result::Result<Excerpt, String> {
    let count = text.split_inclusive('\n').count();
    let (first, last) = (citation.first as usize, citation.last as usize);
    if last > count {
        return Err(format!("the file has {count} lines"));
    }
    let length = |lines: usize| text.split_inclusive('\n').take(lines).map(str::len).sum::<usize>();
    let (start, end) = (length(first - 1), length(last));
    let cut = text.get(start..end).unwrap_or("");
    let heading = HeadingPath::default();
    let lines = LineSpan::new(citation.first, citation.last);
    let span = ByteSpan::new(start, end);
    let (Some(lines), Some(span)) = (lines, span) else { return Err("the lines are out of order".to_owned()) };
    // Equal lines of one file are told apart by where they begin.
    let nth = u32::try_from(start).unwrap_or(u32::MAX);
    let chunk_key = ChunkKey::derive(&at.source, &at.path, &heading, &Sha256::of(cut.as_bytes()), nth);
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

fn body(judged: &Judged) -> Result<Value> {
    let mut body = serde_json::to_value(&judged.report)
        .map_err(|e| Failure::internal(format!("the report cannot be written as JSON: {e}")))?;
    let unresolved: Vec<Value> =
        judged.unresolved.iter().map(|(citation, why)| json!({ "citation": citation, "why": why })).collect();
    if let Some(fields) = body.as_object_mut() {
        fields.insert("unresolved".to_owned(), Value::Array(unresolved));
    }
    Ok(body)
}

fn print(context: &Context, judged: &Judged) {
    let out = context.out;
    for (citation, why) in &judged.unresolved {
        talk(&format!("{}: {}", out.shown(citation), out.shown(why)));
    }
    let report = &judged.report;
    for claim in &report.claims {
        let verdict = match claim.verdict {
            Verdict::Verified => "verified",
            Verdict::Checked => "checked ",
            Verdict::Rejected => "REJECTED",
        };
        let words: Vec<&str> = claim.text.split_whitespace().collect();
        out.line(&format!("{verdict}  {}", out.bold(&out.shown(&words.join(" ")))));
        let codes: Vec<&str> = claim.codes.iter().chain(&claim.remarks).map(|c| c.as_str()).collect();
        let codes = if codes.is_empty() { String::new() } else { format!("{}: ", codes.join(", ")) };
        out.line(&format!("          {codes}{}", out.shown(&claim.why)));
    }
    let names: Vec<&str> = report.codes.iter().map(|c| c.as_str()).collect();
    let outcome = match report.outcome {
        verify::Outcome::Passed => "passed: every claim is cited, and nothing was found against it".to_owned(),
        verify::Outcome::Abstained => "abstained: the answer says that it cannot answer, and claims nothing".to_owned(),
        verify::Outcome::Rejected => format!("rejected: {}", names.join(", ")),
    };
    out.line(&outcome);
    out.line(&out.dim(&report.footer()));
}
