//! One run as a web page: self-contained, without scripts or external resources.
//!
//! Everything on it is untrusted data: question, notes, a model's words. All of it is escaped;
//! characters that could change how the rest reads (controls, bidirectional overrides, zero-width)
//! are shown by their number. A policy in the page forbids the browser to run or load anything,
//! whatever the text contains.

use std::fmt::Write as _;
use std::ops::Range;

use serde::Deserialize;

use super::{ItemRecord, Record, RecordedCall, RunState, Thawed};
use crate::ask::ClaimNote;
use local_agent_text::documents::said_lines;
use local_agent_text::types::{ByteSpan, Label, LineSpan, Sha256};
use local_agent_verify::Counts;

const STYLE: &str = include_str!("page.css");

const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// In place of the evidence of a claim without any.
const NO_PASSAGE: &str =
    "<div class=\"slice soft\">No passage of the notes supports this sentence.</div>\n";

/// What the verdicts mean.
const LEGEND: &str = "<p class=\"small\"><span class=\"badge verified\">✓ verified</span> whole \
    sentences of the evidence, word for word · <span class=\"badge derived\">= derived</span> \
    computed from the evidence · <span class=\"badge checked\">○ checked</span> nothing was found \
    against it; the wording was not proven · <span class=\"badge doubtful\">? doubtful</span> \
    something speaks against it; see the reasons · <span class=\"badge rejected\">✗ rejected</span> \
    see the reasons</p>\n";

/// The parts of the verifier's report that the page needs.
#[derive(Debug, Default, Deserialize)]
struct ReportView {
    claims: Vec<ClaimView>,
    answer_sha256: Option<Sha256>,
}

#[derive(Debug, Deserialize)]
struct ClaimView {
    text: String,
    span: ByteSpan,
    verdict: Verdict,
    codes: Vec<String>,
    /// Absent in records of earlier versions.
    #[serde(default)]
    doubts: Vec<String>,
    remarks: Vec<String>,
    citations: Vec<CitationView>,
    evidence: Option<PlaceView>,
    why: String,
}

impl ClaimView {
    /// The codes of all its reasons.
    fn shown_codes(&self) -> String {
        let codes = self.codes.iter().chain(&self.doubts).chain(&self.remarks);
        codes
            .map(|code| format!(" <code>{}</code>", escape(code)))
            .collect()
    }
}

#[derive(Debug, Deserialize)]
struct CitationView {
    span: ByteSpan,
    label: Option<Label>,
}

#[derive(Debug, Clone, Deserialize)]
struct PlaceView {
    label: Label,
    span: ByteSpan,
    lines: LineSpan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Verified,
    Derived,
    Checked,
    Doubtful,
    Rejected,
}

impl Verdict {
    /// Class, symbol and word; colour alone must not carry the meaning.
    const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Verified => ("verified", "✓", "verified"),
            Self::Derived => ("derived", "=", "derived"),
            Self::Checked => ("checked", "○", "checked"),
            Self::Doubtful => ("doubtful", "?", "doubtful"),
            Self::Rejected => ("rejected", "✗", "rejected"),
        }
    }
}

/// The page of one run. `thawed` is its exact evidence, if it could be restored. Otherwise the page
/// shows the excerpts in the record, and `missing` gives the reason.
pub fn page(
    record: &Record,
    state: RunState,
    thawed: Option<&Thawed>,
    missing: Option<&str>,
) -> String {
    let report = record
        .citation_validation
        .clone()
        .and_then(|value| serde_json::from_value(value).ok());
    let view = View {
        record,
        thawed,
        report: report.unwrap_or_default(),
    };
    let mut out = String::with_capacity(32 * 1024);
    let title = escape(&record.question);
    let _ = writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{} · local-agent run</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#answer\">To the answer</a>\n\
         <header>\n<p class=\"soft small\">Run {}</p>\n<h1 dir=\"auto\">{title}</h1>\n{}</header>\n<main>",
        plain(&record.question),
        escape(record.run_id.as_str()),
        view.facts(state),
    );
    view.answer(&mut out);
    view.claims(&mut out);
    view.evidence(&mut out, missing);
    view.context(&mut out);
    view.run(&mut out);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

struct View<'a> {
    record: &'a Record,
    thawed: Option<&'a Thawed>,
    report: ReportView,
}

impl View<'_> {
    fn facts(&self, state: RunState) -> String {
        let record = self.record;
        let outcome = record.outcome.as_deref().unwrap_or("unknown");
        let outcome = match state {
            RunState::Ended | RunState::Missing => outcome.to_owned(),
            RunState::Running => "still running".to_owned(),
            RunState::Interrupted => "interrupted: it never came to its end".to_owned(),
            RunState::Pruned => format!("{outcome} (pruned)"),
            RunState::Unlisted => format!("{outcome} (not in the ledger)"),
        };
        let sent = match record.sent.as_slice() {
            [] => "nothing left this program".to_owned(),
            [one] => format!("sent: {} → {}", one.what, one.to),
            many => format!("text was sent {} times, see below", many.len()),
        };
        let took = record.elapsed_s.map(|s| format!("{s} s"));
        let answerer = record
            .answerer
            .as_ref()
            .map(|name| format!("answerer: {name}"));
        let facts = [
            Some(outcome),
            answerer,
            Some(record.started_at.clone()),
            took,
            Some(sent),
        ];
        let items: String = facts
            .into_iter()
            .flatten()
            .map(|fact| format!("<li>{}</li>\n", escape(&fact)))
            .collect();
        format!("<ul class=\"facts\">\n{items}</ul>\n")
    }

    fn answer(&self, out: &mut String) {
        let refused = self.record.assistant_text.is_none() && self.record.draft.is_some();
        let heading = if refused {
            "The draft that was not shown"
        } else {
            "Answer"
        };
        let _ = writeln!(out, "<section id=\"answer\">\n<h2>{heading}</h2>");
        if !self.report.claims.is_empty() {
            out.push_str(LEGEND);
        }
        // A draft that was never shown is rendered again from its evidence.
        let laid_out = self
            .thawed
            .filter(|_| refused)
            .and_then(|t| Some(t.draft.as_ref()?.lay_out(&t.snapshot).text));
        match self.record.assistant_text.as_ref().or(laid_out.as_ref()) {
            Some(text) => {
                let _ = writeln!(
                    out,
                    "<div class=\"answer\" dir=\"auto\">{}</div>",
                    self.coloured(text)
                );
            }
            None if refused => {
                out.push_str("<p>Its evidence is gone, so only its claims can be shown.</p>\n");
            }
            None => out.push_str("<p>There is no answer.</p>\n"),
        }
        if let (Some(code), Some(message)) = (&self.record.error_code, &self.record.error_message) {
            let _ = writeln!(
                out,
                "<p class=\"note\"><code>{}</code> {}</p>",
                escape(code),
                escape(message)
            );
        }
        if let Some(why) = &self.record.why {
            let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(why));
        }
        let report = self.record.citation_validation.as_ref();
        let counts = report.and_then(Counts::of_report);
        if let Some(faults) = counts.and_then(|counts| counts.in_words()) {
            let _ = writeln!(out, "<p class=\"soft small\">{}</p>", escape(&faults));
        }
        out.push_str("</section>\n");
    }

    /// The text with each claim coloured, if the report's spans refer to exactly this text.
    fn coloured(&self, text: &str) -> String {
        if self.report.answer_sha256 != Some(Sha256::of(text.as_bytes())) {
            return escape(text);
        }
        let mut out = String::new();
        let mut at = 0;
        for (n, claim) in self.report.claims.iter().enumerate() {
            let span = claim.span.start()..claim.span.end();
            let (Some(before), Some(_)) = (text.get(at..span.start), text.get(span.clone())) else {
                continue;
            };
            let (class, sign, word) = claim.verdict.words();
            let own = claim
                .citations
                .iter()
                .filter(|c| inside(&span, c.span))
                .map(|c| c.span.start())
                .min();
            let words = text.get(span.start..own.unwrap_or(span.end)).unwrap_or("");
            let (words, blank) = words.split_at(words.trim_end().len());
            let _ = write!(
                out,
                "{}<a class=\"claim {class}\" href=\"#claim-{}\" title=\"{word}\">{sign}\u{a0}{}</a>{blank}{}",
                escape(before),
                n + 1,
                escape(words),
                citations(text, own.unwrap_or(span.end)..span.end, &claim.citations),
            );
            at = span.end;
        }
        out.push_str(&escape(text.get(at..).unwrap_or("")));
        out
    }

    fn claims(&self, out: &mut String) {
        if self.report.claims.is_empty() {
            return;
        }
        out.push_str("<section id=\"claims\">\n<h2>Each claim beside its evidence</h2>\n<ol class=\"claims\">\n");
        for (n, claim) in self.report.claims.iter().enumerate() {
            let (class, sign, word) = claim.verdict.words();
            let codes = claim.shown_codes();
            let _ = writeln!(
                out,
                "<li id=\"claim-{}\">\n<div>\n<span class=\"badge {class}\">{sign} {word}</span>{codes}\n\
                 <p dir=\"auto\">{}</p>\n<p class=\"soft small\">{}</p>\n</div>",
                n + 1,
                escape(claim.text.trim()),
                escape(&claim.why),
            );
            match &claim.evidence {
                Some(place) => self.slice(out, place),
                None => out.push_str(NO_PASSAGE),
            }
            out.push_str("</li>\n");
        }
        out.push_str("</ol>\n</section>\n");
    }

    /// The words that support a claim, under their file and lines.
    fn slice(&self, out: &mut String, place: &PlaceView) {
        let Some(item) = self.item(place.label) else {
            return;
        };
        let _ = writeln!(
            out,
            "<div class=\"slice\">\n<h3><a href=\"#{0}\">{0}</a> {1}</h3>\n<p class=\"soft small\">{2}</p>",
            place.label,
            escape(item.rel_path.as_str()),
            escape(&where_from(item, place.lines)),
        );
        let exact = self
            .thawed
            .and_then(|t| t.snapshot.item(place.label))
            .and_then(|item| item.slice(place.span));
        match (exact, &item.excerpt) {
            (Some(text), _) => {
                // A claim supported by the whole item has no words to highlight.
                let marks: Vec<_> = (place.span != item.span)
                    .then_some(0..text.len())
                    .into_iter()
                    .collect();
                out.push_str(&numbered(text, place.lines.first(), &marks));
            }
            (None, Some(excerpt)) => out.push_str(&numbered(excerpt, item.lines.first(), &[])),
            (None, None) => out.push_str("<p class=\"soft\">The record keeps no text of it.</p>\n"),
        }
        out.push_str("</div>\n");
    }

    fn item(&self, label: Label) -> Option<&ItemRecord> {
        self.record
            .snapshot
            .as_ref()?
            .items
            .iter()
            .find(|item| item.label == label)
    }

    fn evidence(&self, out: &mut String, missing: Option<&str>) {
        let Some(snapshot) = &self.record.snapshot else {
            return;
        };
        out.push_str(
            "<section id=\"evidence\">\n<h2>Evidence that was frozen for this question</h2>\n",
        );
        if snapshot.items.is_empty() {
            out.push_str("<p>Nothing was found.</p>\n");
        }
        if let Some(why) = missing.filter(|_| !snapshot.items.is_empty()) {
            let _ = writeln!(
                out,
                "<p class=\"note\">Only the excerpts of the record can be shown: {}</p>",
                escape(why)
            );
        }
        for item in &snapshot.items {
            let marks: Vec<Range<usize>> = self.marks(item);
            let _ = writeln!(
                out,
                "<details id=\"{}\" open>\n<summary>{} · {}</summary>\n<p class=\"soft small\">{}{}</p>",
                item.label,
                item.label,
                escape(item.rel_path.as_str()),
                escape(&where_from(item, item.lines)),
                if item.heading_path.is_empty() {
                    String::new()
                } else {
                    format!(" · {}", escape(&item.heading_path))
                },
            );
            match (
                self.thawed.and_then(|t| t.snapshot.item(item.label)),
                &item.excerpt,
            ) {
                (Some(exact), _) => {
                    out.push_str(&numbered(&exact.text, item.lines.first(), &marks));
                }
                (None, Some(excerpt)) => {
                    out.push_str(&numbered(excerpt, item.lines.first(), &[]));
                    if item.excerpt_truncated {
                        out.push_str(
                            "<p class=\"soft small\">The record keeps no more of it.</p>\n",
                        );
                    }
                }
                (None, None) => {
                    out.push_str("<p class=\"soft\">The record keeps no text of it.</p>\n");
                }
            }
            let _ = writeln!(
                out,
                "<p class=\"soft small\">bytes {}–{} · sha256 <code>{}</code> · key <code>{}</code></p>\n</details>",
                item.span.start(),
                item.span.end(),
                item.text_sha256,
                item.chunk_key
            );
        }
        out.push_str("</section>\n");
    }

    /// The supporting ranges of claims, in the item's text. Claims supported by the whole item mark
    /// nothing.
    fn marks(&self, item: &ItemRecord) -> Vec<Range<usize>> {
        let mut marks: Vec<Range<usize>> = self
            .report
            .claims
            .iter()
            .filter_map(|claim| claim.evidence.as_ref())
            .filter(|place| place.label == item.label && place.span != item.span)
            .filter_map(|place| {
                let start = place.span.start().checked_sub(item.span.start())?;
                Some(start..start + place.span.len())
            })
            .collect();
        marks.sort_by_key(|range| (range.start, range.end));
        marks
    }

    fn context(&self, out: &mut String) {
        if self.record.context.is_empty() {
            return;
        }
        out.push_str(
            "<section id=\"context\">\n<h2>From memory: context, never evidence</h2>\n<ul>\n",
        );
        for item in &self.record.context {
            let _ = writeln!(
                out,
                "<li><code>{}</code> {}</li>",
                escape(&item.label),
                escape(&item.content)
            );
        }
        out.push_str("</ul>\n</section>\n");
    }

    fn run(&self, out: &mut String) {
        out.push_str("<section id=\"run\">\n<h2>The run</h2>\n<div class=\"scroll\"><table>\n");
        self.run_table(out);
        out.push_str("</table></div>\n");
        for (n, call) in self.record.calls.iter().enumerate() {
            show_call(out, n, call);
        }
        out.push_str("</section>\n");
    }

    /// Writes the rows of the table about the run.
    fn run_table(&self, out: &mut String) {
        let record = self.record;
        let timings: Vec<String> = record
            .timings_ms
            .iter()
            .map(|(what, ms)| format!("{what} {ms} ms"))
            .collect();
        table_row(out, "Timings", &escape(&timings.join(" · ")));
        table_row(out, "Sent", &where_to(&record.sent));
        table_row(
            out,
            "Ended",
            &escape(record.ended_at.as_deref().unwrap_or("never")),
        );
        table_row(
            out,
            "Program",
            &escape(&format!("local-agent {}", record.program_version)),
        );
        table_row(
            out,
            "Configuration",
            &format!("sha256 <code>{}</code>", record.config_sha256),
        );
        if let Some(root) = &record.roots.security_root {
            table_row(out, "Root", &escape(root));
        }
        if let Some(sha) = record.report_sha256 {
            let command = escape(&format!("local-agent runs replay {}", record.run_id));
            table_row(
                out,
                "Report",
                &format!("sha256 <code>{sha}</code><br>check it again: <code>{command}</code>"),
            );
        }
        if let Some(snapshot) = &record.snapshot {
            table_row(
                out,
                "Evidence",
                &format!("snapshot <code>{}</code>", snapshot.id),
            );
        }
        if record.private_kept_back {
            table_row(
                out,
                "Private notes",
                "kept back: the chat model is on another machine",
            );
        }
        if !record.index_stale.is_empty() {
            table_row(
                out,
                "Changed files",
                &escape(&record.index_stale.join(", ")),
            );
        }
        if record.redactions > 0 {
            table_row(
                out,
                "Redacted",
                &escape(&format!(
                    "{} secrets were taken out of this record",
                    record.redactions
                )),
            );
        }
    }
}

/// Writes a row of the table about the run.
fn table_row(out: &mut String, name: &str, value: &str) {
    let _ = writeln!(
        out,
        "<tr><th scope=\"row\">{}</th><td>{value}</td></tr>",
        escape(name)
    );
}

/// The texts that were sent, each with the receiving machine.
fn where_to(sent: &[super::Sent]) -> String {
    if sent.is_empty() {
        return "nothing was sent anywhere".to_owned();
    }
    let lines = sent.iter().map(|sent| {
        let machine = if sent.local {
            "this machine"
        } else {
            "another machine"
        };
        escape(&format!("{} → {} ({machine})", sent.what, sent.to))
    });
    lines.collect::<Vec<_>>().join("<br>")
}

/// One call of a model, collapsed.
fn show_call(out: &mut String, n: usize, call: &RecordedCall) {
    let _ = writeln!(
        out,
        "<details>\n<summary>Call {}: {} · {} ms · {}</summary>\n<p class=\"soft small\">{} at {} · {} bytes sent · \
         prompt sha256 <code>{}</code> · model digest <code>{}</code></p>\n<pre dir=\"auto\">{}</pre>\n</details>",
        n + 1,
        escape(&call.purpose),
        call.elapsed_ms,
        escape(
            &call
                .refused
                .as_ref()
                .map_or_else(|| "taken".to_owned(), |codes| format!("refused: {codes}"))
        ),
        escape(&answering_model(call)),
        escape(&call.endpoint),
        call.prompt_bytes,
        call.prompt_sha256
            .map_or_else(String::new, |sha| sha.to_string()),
        escape(call.digest.as_deref().unwrap_or("unknown")),
        escape(
            call.raw_reply
                .as_deref()
                .or(call.error.as_deref())
                .unwrap_or("no reply")
        ),
    );
    refused_sentences(out, &call.refused_claims);
}

/// The model of a call, with the one that answered if that is another.
fn answering_model(call: &RecordedCall) -> String {
    match &call.served_model {
        Some(other) => format!("{} (answered by {other})", call.model),
        None => call.model.clone(),
    }
}

/// The rejected sentences of one reply, each with its reason and what the source says.
fn refused_sentences(out: &mut String, notes: &[ClaimNote]) {
    if notes.is_empty() {
        return;
    }
    out.push_str("<ul>\n");
    for note in notes {
        let codes: String = note
            .codes
            .iter()
            .map(|code| format!(" <code>{}</code>", escape(code)))
            .collect();
        let source = note.source.as_ref().map_or_else(String::new, |source| {
            format!(
                "<br><span class=\"soft small\">{} {}: “{}”</span>",
                escape(&source.address),
                escape(&source.lines),
                escape(&source.text)
            )
        });
        let _ = writeln!(
            out,
            "<li dir=\"auto\"><span class=\"badge rejected\">✗ refused</span>{codes} “{}” {}{source}</li>",
            escape(&note.sentence),
            escape(&note.reason)
        );
    }
    out.push_str("</ul>\n");
}

fn inside(outer: &Range<usize>, span: ByteSpan) -> bool {
    outer.start <= span.start() && span.end() <= outer.end
}

fn where_from(item: &ItemRecord, lines: LineSpan) -> String {
    let lines = said_lines(item.rel_path.as_str(), lines);
    format!("{}:{}, {lines}", item.source, item.rel_path)
}

/// The end of a claim: its citations as links to their evidence, with the full citation in the
/// title; text between them stays.
fn citations(text: &str, range: Range<usize>, citations: &[CitationView]) -> String {
    let mut out = String::new();
    let mut at = range.start;
    let mut own: Vec<&CitationView> = citations
        .iter()
        .filter(|c| inside(&range, c.span))
        .collect();
    own.sort_by_key(|c| c.span.start());
    for citation in own {
        let (start, end) = (citation.span.start(), citation.span.end());
        let (Some(before), Some(whole)) = (text.get(at..start), text.get(start..end)) else {
            continue;
        };
        out.push_str(&escape(before));
        let _ = match citation.label {
            Some(label) => write!(
                out,
                "<a class=\"cite\" href=\"#{label}\" title=\"{}\">[{label}]</a>",
                plain(whole)
            ),
            None => write!(out, "<span class=\"cite\">{}</span>", escape(whole)),
        };
        at = end;
    }
    out.push_str(&escape(text.get(at..range.end).unwrap_or("")));
    out
}

/// Text with line numbers and with `marks` (bytes, sorted) highlighted.
fn numbered(text: &str, first: u32, marks: &[Range<usize>]) -> String {
    let mut out = String::from("<pre dir=\"auto\">");
    let mut start = 0;
    for (n, line) in text.split_inclusive('\n').enumerate() {
        let body = line.trim_end_matches(['\n', '\r']);
        let _ = write!(
            out,
            "<span class=\"l\"><span class=\"n\">{}</span>",
            first as usize + n
        );
        let mut at = 0;
        for mark in marks {
            let (from, to) = (mark.start.max(start + at), mark.end.min(start + body.len()));
            if from >= to {
                continue;
            }
            let (Some(before), Some(inside)) = (
                body.get(at..from - start),
                body.get(from - start..to - start),
            ) else {
                continue;
            };
            let _ = write!(out, "{}<mark>{}</mark>", escape(before), escape(inside));
            at = to - start;
        }
        out.push_str(&escape(body.get(at..).unwrap_or("")));
        out.push_str("</span>");
        start += line.len();
    }
    out.push_str("</pre>\n");
    out
}

/// Whether a character changes how the text around it is displayed.
fn misleads(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn escape_with(text: &str, out: &mut String, hidden: impl Fn(char, &mut String)) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if misleads(c) => hidden(c, out),
            c => out.push(c),
        }
    }
}

/// Escapes text between tags.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    escape_with(text, &mut out, |c, out| {
        let _ = write!(out, "<span class=\"ctl\">U+{:04X}</span>", u32::from(c));
    });
    out
}

/// Escapes text for the title and for attributes, which cannot contain tags.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    escape_with(text, &mut out, |c, out| {
        let _ = write!(out, "U+{:04X}", u32::from(c));
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s28_what_could_break_out_is_escaped_everywhere() {
        let bad = "<script>alert(1)</script>\"' onload=x & \u{202e}gpj\u{0} </pre></style>";
        for safe in [escape(bad), numbered(bad, 1, &[0..3, 5..9])] {
            assert!(
                !safe.contains("<script")
                    && !safe.contains("</style")
                    && !safe.contains('\u{202e}'),
                "{safe}"
            );
            assert!(safe.contains("U+202E") && safe.contains("U+0000"));
        }
        let attribute = plain(bad);
        assert!(!attribute.contains(['<', '>', '"', '\'']), "{attribute}");
    }

    #[test]
    fn a_doubtful_claim_shows_its_codes_and_the_legend_explains_every_verdict() {
        let claim = |more: &str| -> ClaimView {
            let json = format!(
                "{{\"text\": \"x\", \"span\": {{\"start\": 0, \"end\": 1}}, \"verdict\": \"doubtful\", \"codes\": [], \
                 {more} \"remarks\": [\"SHORT\"], \"citations\": [], \"evidence\": null, \"why\": \"\"}}"
            );
            serde_json::from_str(&json).unwrap()
        };
        let doubtful = claim("\"doubts\": [\"NUMBER\"],").shown_codes();
        assert_eq!(doubtful, " <code>NUMBER</code> <code>SHORT</code>");
        assert_eq!(claim("").shown_codes(), " <code>SHORT</code>");
        for verdict in [
            Verdict::Verified,
            Verdict::Derived,
            Verdict::Checked,
            Verdict::Doubtful,
            Verdict::Rejected,
        ] {
            let (class, sign, word) = verdict.words();
            let badge = format!("<span class=\"badge {class}\">{sign} {word}</span>");
            assert!(LEGEND.contains(&badge), "{word}");
        }
    }

    #[test]
    fn lines_are_numbered_and_marks_may_cross_them() {
        let shown = numbered("one\r\ntwo\nthree", 7, &[2..7, 9..11]);
        assert_eq!(
            shown,
            "<pre dir=\"auto\"><span class=\"l\"><span class=\"n\">7</span>on<mark>e</mark></span>\
             <span class=\"l\"><span class=\"n\">8</span><mark>tw</mark>o</span>\
             <span class=\"l\"><span class=\"n\">9</span><mark>th</mark>ree</span></pre>\n"
        );
        // Marks that overlap, split a character or exceed the text do no harm.
        assert!(numbered("äöü", 1, &[0..4, 2..6, 1..3, 5..99]).contains("<mark>"));
    }
}
