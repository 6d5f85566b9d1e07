//! Which tools there are: few, each with one job, in the words a model chooses by.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::handler::server::common::{schema_for_input, schema_for_output};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::House;
use super::page::{about, budget, cursor, cut, place};
use super::shapes::{
    AskArgs, AskResult, Behind, ClaimResult, Covered, Document, Evidence, GetArgs, GetResult, MultiGetArgs,
    MultiGetPage, SearchArgs, SearchHit, SearchPage, Skipped, SourceResult, StatusArgs, StatusResult, Unresolved,
    VerifyArgs, VerifyResult,
};
use crate::ask::{Answer, Asked, Event, Purpose};
use crate::config::AskProvider;
use crate::error::{ErrorCode, Failure, Result};
use crate::llm::Speed;
use crate::operations::ask::{Ask, Desk, Done};
use crate::operations::documents::{self, Piece};
use crate::operations::freshness;
use crate::operations::search::{Search, not_blank, search};
use crate::operations::status::status;
use crate::operations::verify::{Judged, against_files, against_snapshot};
use crate::operations::{self, place as runs_place};
use crate::retrieval::{Coverage, Hit, Mode, Stale};
use crate::runs::{Archive, thaw};
use crate::tools::Tool as FileTool;
use crate::types::SkipReason;
use crate::types::{LineSpan, percent_encode};
use crate::verify::{Outcome, Verdict};

/// Usual budgets, in bytes of text.
const SEARCH_BYTES: usize = 16 << 10;
const GET_BYTES: usize = 32 << 10;
const MANY_BYTES: usize = 64 << 10;
const EVIDENCE_BYTES: usize = 16 << 10;
const CLAIM_BYTES: usize = 32 << 10;

/// Hits on one page.
const USUAL_HITS: u32 = 8;
const MOST_HITS: u32 = 50;

/// Longest answer that is judged, in bytes.
const LONGEST_ANSWER: usize = 8 << 20;

/// One call.
pub(super) struct Call {
    /// Raised when the client has taken the call back.
    pub(super) cancelled: Arc<AtomicBool>,
    /// Takes one sentence a step, when the client wants to know.
    pub(super) progress: Option<tokio::sync::mpsc::UnboundedSender<String>>,
    /// What a run's record says of who asked.
    pub(super) asked_by: String,
}

impl Call {
    fn go_on(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Failure::new(ErrorCode::Cancelled, "the client took the call back"));
        }
        Ok(())
    }

    fn tell(&self, what: String) {
        if let Some(progress) = &self.progress {
            // A client that went does not listen.
            let _ = progress.send(what);
        }
    }
}

/// What a tool gives: the words a model reads, and the same as data.
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) data: Value,
}

impl Reply {
    fn new(text: String, data: &impl Serialize) -> Result<Self> {
        let data = serde_json::to_value(data).map_err(|e| Failure::internal(format!("a result is no JSON: {e}")))?;
        Ok(Self { text, data })
    }
}

/// One tool.
pub(super) struct Spec {
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    input: fn() -> Arc<JsonObject>,
    output: fn() -> Arc<JsonObject>,
    pub(super) run: fn(&House, Value, &Call) -> Result<Reply>,
}

/// All of them, in the order in which they are listed.
pub(super) const SPECS: [Spec; 6] = [
    Spec {
        name: "search",
        title: "Search the notes",
        description: "Finds passages of the person's notes by words and by meaning, best first, word for word, each \
            with what to cite it by. Nothing relevant gives `nothing_found`.",
        input: input::<SearchArgs>,
        output: output::<SearchPage>,
        run: |house, args, _| find(house, &parse(args)?),
    },
    Spec {
        name: "get",
        title: "Read a note",
        description: "Reads one note, some lines of it, or one passage by its key, as it stands on the disk now.",
        input: input::<GetArgs>,
        output: output::<GetResult>,
        run: |house, args, _| get(house, &parse(args)?),
    },
    Spec {
        name: "multi_get",
        title: "Read many notes",
        description: "Reads every note whose path fits a glob, page by page.",
        input: input::<MultiGetArgs>,
        output: output::<MultiGetPage>,
        run: |house, args, call| multi_get(house, &parse(args)?, call),
    },
    Spec {
        name: "ask",
        title: "Ask the notes",
        description: "Answers a question from the notes. Every claim of the answer is cited and was checked against the \
            evidence, which comes with it under labels E1, E2, …. When the notes do not answer the question, it \
            abstains. The run is recorded on this machine.",
        input: input::<AskArgs>,
        output: output::<AskResult>,
        run: |house, args, call| ask(house, &parse(args)?, call),
    },
    Spec {
        name: "verify",
        title: "Check an answer",
        description: "Judges an answer that you wrote, claim by claim: is each one cited, are quotes verbatim, do \
            numbers, names, dates and negations stand so in what is cited? Use it before the person reads your answer.",
        input: input::<VerifyArgs>,
        output: output::<VerifyResult>,
        run: |house, args, _| verify(house, &parse(args)?),
    },
    Spec {
        name: "status",
        title: "How current is the index",
        description: "Says which notes are indexed, how much of them can be found by meaning, and what is behind.",
        input: input::<StatusArgs>,
        output: output::<StatusResult>,
        run: |house, args, _| state(house, &parse(args)?),
    },
];

impl Spec {
    /// As clients see it.
    pub(super) fn listed(&self, house: &House) -> Tool {
        // Only `ask` can reach a server, and only when one is configured.
        let reaches_out = self.name == "ask" && house.loaded.config.ask.provider != AskProvider::Extractive;
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(reaches_out);
        Tool::new(self.name, self.description, (self.input)())
            .with_title(self.title)
            .with_raw_output_schema((self.output)())
            .with_annotations(annotations)
    }
}

/// A tool for files, as clients see it.
pub(super) fn listed(tool: &FileTool) -> Tool {
    let schema = match tool.schema() {
        Value::Object(schema) => plain(Arc::new(schema)),
        _ => Arc::default(),
    };
    let annotations = ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false);
    Tool::new(tool.name(), tool.description(), schema).with_annotations(annotations)
}

/// Runs a tool for files. It has its own caps, and says itself where the next part begins.
pub(super) fn on_files(tool: &FileTool, args: &Value) -> Result<Reply> {
    let outcome = tool.run(args);
    let output = outcome.result().map_err(Clone::clone)?;
    let mut text = output.text.clone();
    if text.is_empty() {
        text.push_str(&Value::Object(output.data.clone()).to_string());
    }
    Reply::new(text, &outcome.to_json())
}

fn input<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    // Every type of arguments is a struct, whose schema is an object: `every_tool_has_a_schema` holds it.
    plain(schema_for_input::<T>().unwrap_or_default())
}

fn output<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    plain(schema_for_output::<T>())
}

/// Without the formats of Rust's numbers, which are no formats of JSON Schema: clients complain of each.
fn plain(schema: Arc<JsonObject>) -> Arc<JsonObject> {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, value| name != "format" || !value.is_string());
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut schema = Value::Object(Arc::unwrap_or_clone(schema));
    strip(&mut schema);
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}

fn parse<T: DeserializeOwned>(args: Value) -> Result<T> {
    serde_json::from_value(args).map_err(|e| {
        Failure::new(ErrorCode::InvalidArgs, format!("the arguments do not fit: {e}"))
            .with_hint("see the tool's input schema")
    })
}

fn find(house: &House, args: &SearchArgs) -> Result<Reply> {
    let limit = args.limit.unwrap_or(USUAL_HITS);
    if !(1..=MOST_HITS).contains(&limit) {
        return Err(Failure::new(ErrorCode::InvalidArgs, format!("`limit` is from 1 to {MOST_HITS}"))
            .with_hint("leave `limit` out"));
    }
    let mut left = budget(args.max_bytes, SEARCH_BYTES)?;
    let limits = args.limits();
    not_blank(&args.query)?;
    let of = about(&["search", &args.query, &format!("{limits:?}"), &house.library.state()?]);
    let from = place(args.cursor.as_deref(), &of)?;
    let until = from.saturating_add(limit as usize);
    let wanted = Search {
        text: &args.query,
        has_syntax: false,
        mode: if house.library.model().is_some() { Mode::Hybrid } else { Mode::Lexical },
        fusion: None,
        limits,
        limit: until.saturating_add(1),
        min_score: None,
    };
    let (_, found) = search(&house.loaded.config, &house.library, &wanted)?;
    let mut hits = Vec::new();
    for (at, hit) in found.hits.iter().enumerate().take(until).skip(from) {
        if hit.chunk.text.len() > left && !hits.is_empty() {
            break;
        }
        let one = search_hit(at, hit, left);
        left = left.saturating_sub(one.text.len());
        hits.push(one);
    }
    let end = from + hits.len();
    let page = SearchPage {
        outcome: if found.hits.is_empty() { "nothing_found" } else { "found" },
        next_cursor: (end < found.hits.len()).then(|| cursor(end, &of)),
        coverage: covered(found.coverage),
        stale: behind(&found.stale),
        hits,
    };
    let mut text = String::new();
    if page.hits.is_empty() {
        text.push_str(if from == 0 { "Nothing in the notes fits this.\n" } else { "There are no more hits.\n" });
    }
    for hit in &page.hits {
        let heading = if hit.heading_path.is_empty() { "" } else { " · " };
        let _ = writeln!(
            text,
            "{}. cite as {} · #{}{heading}{} · score {:.2}\n{}{}\n",
            hit.rank,
            hit.cite,
            hit.chunk_key,
            hit.heading_path,
            hit.score,
            framed(hit.text.trim_end()),
            if hit.truncated { "(cut: get it by its key)\n" } else { "" },
        );
    }
    say_limits(&mut text, &page.coverage, &page.stale);
    say_next(&mut text, page.next_cursor.as_deref());
    Reply::new(text, &page)
}

fn search_hit(at: usize, hit: &Hit, left: usize) -> SearchHit {
    let chunk = &hit.chunk;
    let text = cut(&chunk.text, left);
    SearchHit {
        rank: at + 1,
        // A reader of citations undoes these escapes.
        cite: format!("[{}:{}:{}]", chunk.source, percent_encode(chunk.path.as_str(), "[]()"), chunk.lines),
        source: chunk.source.to_string(),
        rel_path: chunk.path.to_string(),
        title: chunk.title.clone(),
        heading_path: chunk.heading.to_string(),
        lines: lines(chunk.lines),
        chunk_key: chunk.key.to_string(),
        score: hit.chance,
        truncated: text.len() < chunk.text.len(),
        text: text.to_owned(),
    }
}

fn get(house: &House, args: &GetArgs) -> Result<Reply> {
    let bytes = budget(args.max_bytes, GET_BYTES)?;
    let piece = documents::get(&house.loaded.config, &house.sandbox, &args.address)?;
    let of = about(&["get", &args.address, &piece.sha256.to_string()]);
    let from = place(args.cursor.as_deref(), &of)?;
    let Some(rest) = piece.text.get(from..) else {
        return Err(Failure::new(ErrorCode::InvalidArgs, "the cursor is not one of this server's")
            .with_hint("make the same call without `cursor`"));
    };
    let shown = cut(rest, bytes);
    let end = from + shown.len();
    let first_line = piece.first_line + piece.text[..from].matches('\n').count();
    let document = document(&piece, first_line, shown);
    let next_cursor = (end < piece.text.len()).then(|| cursor(end, &of));
    let mut text = head(&document);
    text.push_str(&framed(&document.text));
    say_next(&mut text, next_cursor.as_deref());
    Reply::new(text, &GetResult { document, next_cursor })
}

fn document(piece: &Piece, first_line: usize, shown: &str) -> Document {
    Document {
        address: piece.address.clone(),
        sha256: piece.sha256.to_string(),
        first_line,
        total_lines: piece.total_lines,
        truncated: shown.len() < piece.text.len(),
        text: shown.to_owned(),
    }
}

/// Text of notes, told apart from this server's own lines: each line begins with `> `.
fn framed(text: &str) -> String {
    text.lines().map(|line| format!("> {line}\n")).collect()
}

/// What stands above the text of a document.
fn head(document: &Document) -> String {
    let last = document.first_line + document.text.lines().count().saturating_sub(1);
    format!("{} lines {}-{last} of {}\n\n", document.address, document.first_line, document.total_lines)
}

fn multi_get(house: &House, args: &MultiGetArgs, call: &Call) -> Result<Reply> {
    let mut left = budget(args.max_bytes, MANY_BYTES)?;
    let matched = documents::matching(&house.loaded.config, &house.sandbox, &args.glob)?;
    let names: String = matched.iter().map(|(at, _)| format!("{at}\n")).collect();
    let of = about(&["multi_get", &args.glob, &names]);
    let mut at = place(args.cursor.as_deref(), &of)?;
    let (mut pages, mut skipped) = (Vec::new(), Vec::new());
    for (address, reason) in matched.iter().skip(at) {
        call.go_on()?;
        let refused = |reason: &str| Skipped { path: address.to_string(), reason: reason.to_owned() };
        match (reason, documents::whole(&house.sandbox, address)) {
            // What is denied or lies behind a link does not exist for an agent, as in `list_dir`.
            (Some(SkipReason::Denied | SkipReason::Symlink), _) => {}
            (Some(reason), _) => skipped.push(refused(reason.as_str())),
            (None, Err(failure)) => skipped.push(refused(failure.code.as_str())),
            (None, Ok(piece)) if piece.text.len() > left && !pages.is_empty() => break,
            (None, Ok(piece)) => {
                let shown = cut(&piece.text, left);
                left = left.saturating_sub(shown.len());
                pages.push(document(&piece, piece.first_line, shown));
            }
        }
        at += 1;
    }
    let page = MultiGetPage {
        outcome: if matched.is_empty() { "nothing_found" } else { "found" },
        matched: matched.len(),
        documents: pages,
        skipped,
        next_cursor: (at < matched.len()).then(|| cursor(at, &of)),
    };
    let mut text = if matched.is_empty() { "No note fits this glob.\n".to_owned() } else { String::new() };
    for document in &page.documents {
        let _ = writeln!(text, "== {}{}", head(document), framed(&document.text));
        if document.truncated {
            let next = document.first_line + document.text.lines().count();
            let _ = writeln!(text, "(cut: get `{}:{next}` reads on)", document.address);
        }
    }
    for one in &page.skipped {
        let _ = writeln!(text, "skipped: {} ({})", one.path, one.reason);
    }
    say_next(&mut text, page.next_cursor.as_deref());
    Reply::new(text, &page)
}

fn ask(house: &House, args: &AskArgs, call: &Call) -> Result<Reply> {
    let left = budget(args.max_bytes, EVIDENCE_BYTES)?;
    if args.file.is_some() && !args.limits().is_everything() {
        return Err(Failure::new(ErrorCode::InvalidArgs, "`file` cannot be limited further")
            .with_hint("leave `source`, `path`, `tag`, `after` and `before` out, or `file`"));
    }
    let desk = Desk { loaded: &house.loaded, sandbox: &house.sandbox, library: &house.library, roots: &house.roots };
    let wanted = Ask {
        question: &args.question,
        read: args.file.as_deref(),
        limits: args.limits(),
        speed: Speed::Auto,
        strict: args.strict,
        asked_by: &call.asked_by,
        tools: None,
    };
    call.tell("looking for evidence".to_owned());
    let done = operations::ask::ask(&desk, &wanted, &mut |event| {
        call.go_on()?;
        if let Some(what) = step(event) {
            call.tell(what);
        }
        Ok(())
    })?;
    let Done { asked: Asked { answer, trail }, recalled, run } = done;
    if let Some(why) = run.as_ref().and_then(|run| run.unanchored.as_ref()) {
        (house.log)(&format!("runs: the ledger's head is not kept: {}", why.message));
    }
    let answer = answer?;
    let result = AskResult {
        outcome: answer.outcome.as_str(),
        why: answer.why.clone(),
        answerer: answer.answerer.to_owned(),
        verified: house.loaded.config.ask.show_as_verified && answer.text.is_some(),
        checks: answer.report.as_ref().map(|report| report.footer()),
        run_id: run.map(|run| run.id.as_str().to_owned()),
        evidence: evidence(&answer, left),
        memory: recalled.into_iter().map(|one| one.content).collect(),
        sent_to: trail.sent_to,
        coverage: covered(answer.coverage),
        stale: behind(&answer.stale)
            .into_iter()
            .chain(answer.packed.index_stale.iter().map(|path| Behind {
                why: format!("{path} changed or went since it was indexed"),
                fix: "local-agent index".to_owned(),
            }))
            .collect(),
        answer: answer.text,
    };
    Reply::new(ask_text(&result), &result)
}

/// What a person waiting sees of a step.
fn step(event: &Event<'_>) -> Option<String> {
    match event {
        Event::Frozen { snapshot, .. } => Some(format!("{} passages of evidence", snapshot.items().len())),
        Event::Asking { model, purpose } => {
            let what = match purpose {
                Purpose::Acquire => "which file",
                Purpose::Draft | Purpose::Half => "draft",
                Purpose::Format => "draft again, its form was not right",
                Purpose::Repair => "draft again, the first one was refused",
                Purpose::Turn => "what to look at, or the answer",
                Purpose::Chat => "a reply",
            };
            Some(format!("{} at {}: {what}", model.name, model.endpoint))
        }
        // Thousands a reply.
        Event::Receiving { .. } => None,
        Event::Round(round) => Some(match &round.refused {
            Some(codes) => format!("refused: {codes}"),
            None => "passed".to_owned(),
        }),
    }
}

fn evidence(answer: &Answer, mut left: usize) -> Vec<Evidence> {
    let items = answer.packed.snapshot.items().iter().map(|item| {
        let text = cut(&item.text, left);
        left -= text.len();
        Evidence {
            label: item.label.to_string(),
            source: item.source.to_string(),
            rel_path: item.path.to_string(),
            heading_path: item.heading.to_string(),
            lines: lines(item.lines),
            chunk_key: item.chunk_key.to_string(),
            truncated: text.len() < item.text.len(),
            text: text.to_owned(),
        }
    });
    items.collect()
}

fn ask_text(result: &AskResult) -> String {
    let mut text = match &result.answer {
        Some(answer) => format!("{}\n", answer.trim_end()),
        None => "The notes hold nothing that answers this.\n".to_owned(),
    };
    if !result.verified && result.answer.is_some() {
        text.insert_str(0, "UNVERIFIED (citation validation is switched off in the configuration)\n");
    }
    for line in result.why.iter().chain(&result.checks) {
        let _ = writeln!(text, "{line}");
    }
    if let Some(run) = &result.run_id {
        let _ = writeln!(text, "run_id: {run}");
    }
    for one in &result.evidence {
        let _ = writeln!(
            text,
            "\n[{}] {}:{}:{}-{} · #{} · {}\n{}{}",
            one.label,
            one.source,
            one.rel_path,
            one.lines[0],
            one.lines[1],
            one.chunk_key,
            one.heading_path,
            framed(one.text.trim_end()),
            if one.truncated { "(cut: get it by its key)\n" } else { "" },
        );
    }
    if !result.memory.is_empty() {
        let _ = writeln!(text, "\nRemembered (context, not evidence): {}", result.memory.join(" · "));
    }
    say_limits(&mut text, &result.coverage, &result.stale);
    text
}

fn verify(house: &House, args: &VerifyArgs) -> Result<Reply> {
    let mut left = budget(args.max_bytes, CLAIM_BYTES)?;
    if args.answer.len() > LONGEST_ANSWER {
        return Err(Failure::new(ErrorCode::FileTooLarge, "the answer is too large").with_hint("verify its parts"));
    }
    let judged = match &args.run_id {
        None => against_files(&args.answer, &house.sandbox)?,
        Some(name) => {
            let archive = Archive::new(runs_place(&house.loaded.config));
            let id = archive.find(name)?;
            let (record, _) = archive.load(&id)?;
            against_snapshot(&args.answer, &thaw(&record, &archive.folder(&id), &house.sandbox)?.snapshot)
        }
    };
    let Judged { report, unresolved } = judged;
    let of = about(&["verify", &args.answer, args.run_id.as_deref().unwrap_or(""), &report.sha256.to_string()]);
    let from = place(args.cursor.as_deref(), &of)?;
    let mut claims = Vec::new();
    for claim in report.claims.iter().skip(from) {
        let bytes = claim.text.len() + claim.why.len();
        if bytes > left && !claims.is_empty() {
            break;
        }
        left = left.saturating_sub(bytes);
        claims.push(ClaimResult {
            text: claim.text.clone(),
            verdict: verdict(claim.verdict).to_owned(),
            codes: claim.codes.iter().chain(&claim.remarks).map(|code| code.as_str().to_owned()).collect(),
            why: claim.why.clone(),
            found_in: claim.evidence.as_ref().map(|at| format!("{}:{}:{}", at.source, at.path, at.lines)),
        });
    }
    let end = from + claims.len();
    let result = VerifyResult {
        passed: report.ok,
        outcome: outcome(report.outcome).to_owned(),
        codes: report.codes.iter().map(|code| code.as_str().to_owned()).collect(),
        claims,
        unresolved: unresolved.into_iter().map(|(citation, why)| Unresolved { citation, why }).collect(),
        footer: report.footer(),
        next_cursor: (end < report.claims.len()).then(|| cursor(end, &of)),
    };
    let mut text = format!("{}{}\n", result.outcome, joined(&result.codes));
    for one in &result.unresolved {
        let _ = writeln!(text, "{}: {}", one.citation, one.why);
    }
    for claim in &result.claims {
        let _ = writeln!(text, "\n{}{}\n  {}\n  {}", claim.verdict, joined(&claim.codes), claim.text, claim.why);
    }
    let _ = writeln!(text, "\n{}", result.footer);
    say_next(&mut text, result.next_cursor.as_deref());
    Reply::new(text, &result)
}

const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Verified => "verified",
        Verdict::Checked => "checked",
        Verdict::Rejected => "rejected",
    }
}

const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Abstained => "abstained",
        Outcome::Rejected => "rejected",
    }
}

fn joined(codes: &[String]) -> String {
    if codes.is_empty() { String::new() } else { format!(": {}", codes.join(", ")) }
}

fn state(house: &House, args: &StatusArgs) -> Result<Reply> {
    let status = status(&house.loaded.config, &house.library)?;
    let jobs: Vec<String> = status.index_job.into_iter().chain(status.embed_job).collect();
    let mut result = match status.index {
        None => StatusResult {
            indexed: false,
            documents: 0,
            skipped_files: 0,
            sources: Vec::new(),
            coverage: Covered { chunks: 0, embedded: 0 },
            stale: vec![Behind { why: "nothing is indexed yet".to_owned(), fix: "local-agent index".to_owned() }],
            model: None,
            jobs,
        },
        Some(index) => StatusResult {
            indexed: true,
            documents: index.documents,
            skipped_files: index.skipped_files,
            sources: index
                .sources
                .into_iter()
                .map(|s| SourceResult {
                    name: s.name,
                    kind: s.kind,
                    documents: s.documents,
                    last_scan_unix: s.last_scan_unix,
                })
                .collect(),
            coverage: covered(index.coverage),
            stale: behind(&index.stale),
            model: Some(index.model),
            jobs,
        },
    };
    if args.compare_files && result.indexed {
        let found = freshness::files_behind(&house.loaded.config)?;
        result.stale.extend(found.into_iter().map(|why| Behind { why, fix: "local-agent index".to_owned() }));
    }
    let mut text = format!(
        "{} documents, {} chunks ({} can be found by meaning), {} files skipped\n",
        result.documents, result.coverage.chunks, result.coverage.embedded, result.skipped_files
    );
    for source in &result.sources {
        let _ = writeln!(text, "source: {}, {} documents", source.name, source.documents);
    }
    for job in &result.jobs {
        let _ = writeln!(text, "at work: {job}");
    }
    say_limits(&mut text, &result.coverage, &result.stale);
    Reply::new(text, &result)
}

fn covered(coverage: Coverage) -> Covered {
    Covered { chunks: coverage.chunks, embedded: coverage.embedded }
}

fn behind(stale: &[Stale]) -> Vec<Behind> {
    stale.iter().map(|one| Behind { why: one.why.clone(), fix: one.fix.to_owned() }).collect()
}

fn lines(lines: LineSpan) -> [u32; 2] {
    [lines.first(), lines.last()]
}

/// What a reader must know about how far a result reaches.
fn say_limits(text: &mut String, coverage: &Covered, stale: &[Behind]) {
    for one in stale {
        let _ = writeln!(text, "stale: {} (fix: {})", one.why, one.fix);
    }
    if coverage.embedded > 0 && coverage.embedded < coverage.chunks {
        let _ = writeln!(
            text,
            "coverage: {} of {} chunks can be found by meaning (fix: local-agent embed)",
            coverage.embedded, coverage.chunks
        );
    }
}

fn say_next(text: &mut String, next: Option<&str>) {
    if let Some(next) = next {
        let _ = writeln!(text, "more: the same call with cursor {next}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_a_schema() {
        for spec in &SPECS {
            for schema in [(spec.input)(), (spec.output)()] {
                assert_eq!(schema["type"], "object", "{}", spec.name);
                assert!(!Value::Object((*schema).clone()).to_string().contains("\"format\""), "{}", spec.name);
            }
        }
    }
}
