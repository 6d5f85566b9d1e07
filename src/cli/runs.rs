//! `runs`: shows the recorded runs, checks whether they are still consistent, and whether they
//! still give the same report.

use std::borrow::Cow;
use std::path::Path;
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use time::OffsetDateTime;

use super::args::RunsCommand;
use super::claims;
use super::context::{Context, to_value};
use super::enter::Needs;
use super::hints;
use super::output::{Output, talk};
use super::write::write_whole;
use local_agent_agent::config::Config;
use local_agent_agent::operations::place;
use local_agent_agent::runs::{
    self, Archive, Finding, Prune, Record, Renewed, RunEntry, RunFindings, RunId, RunState, Which,
};
use local_agent_files::sandbox::Sandbox;
use local_agent_text::documents::said_lines;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{Label, Sha256};
use local_agent_verify::Counts;

pub(super) fn run(context: &Context, command: &RunsCommand) -> Result<ExitCode> {
    let config = context.load()?.config;
    let files = match command {
        RunsCommand::Show {
            out: Some(file), ..
        } => vec![context.environment.cwd.join(file)],
        _ => Vec::new(),
    };
    context.enter(
        &config,
        &Needs {
            files,
            ..Needs::nothing()
        },
    )?;
    let archive = Archive::new(place(&config));
    match command {
        RunsCommand::List { limit, .. } => list(context, &archive, *limit),
        RunsCommand::Show {
            id,
            html: true,
            out,
            ..
        } => html(
            context,
            &config,
            &archive,
            &archive.find(id)?,
            out.as_deref(),
        ),
        RunsCommand::Show { id, .. } => show(context, &archive, &archive.find(id)?),
        RunsCommand::Verify { id, head, .. } => {
            verify(context, &archive, id.as_deref(), head.as_deref())
        }
        RunsCommand::Replay { id, .. } => replay(context, &config, &archive, &archive.find(id)?),
        RunsCommand::Prune {
            ids,
            keep,
            older_than,
            dry_run,
            ..
        } => prune(
            context,
            &archive,
            &which(&archive, ids, *keep, *older_than)?,
            *dry_run,
        ),
        RunsCommand::Head { renew, adopt, .. } => head(context, &archive, *renew, *adopt),
    }
}

/// The output of `runs list --json`, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct ListView<'a> {
    /// Null for a visitor of `serve` who sees some sources only.
    #[schemars(with = "Option<String>")]
    runs_dir: Cow<'a, str>,
    count: usize,
    total: usize,
    runs: Vec<RunView<'a>>,
}

/// One run of a list.
#[derive(Serialize, JsonSchema)]
pub(super) struct RunView<'a> {
    run_id: &'a RunId,
    state: RunState,
    started_at: Option<&'a str>,
    elapsed_s: Option<f64>,
    outcome: Option<&'a str>,
    error_code: Option<&'a str>,
    answerer: Option<&'a str>,
    question: Option<&'a str>,
    unreadable: Option<&'a str>,
}

/// The output of `runs show --json`, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct ShowView<'a> {
    state: RunState,
    /// See docs/run.schema.json.
    #[schemars(with = "Value")]
    record: &'a Record,
    record_sha256: Sha256,
    /// Null for a visitor of `serve` who sees some sources only.
    #[schemars(with = "Option<String>")]
    record_path: Cow<'a, str>,
}

/// The output of `runs verify --json`.
#[derive(Serialize, JsonSchema)]
pub(super) struct VerifyView<'a> {
    ok: bool,
    findings: &'a [Finding],
    ledger_lines: usize,
    ledger_head: Option<Sha256>,
    anchored: bool,
    records: usize,
    running: usize,
    pruned: usize,
}

/// The output of `runs replay --json`.
#[derive(Serialize, JsonSchema)]
pub(super) struct ReplayView<'a> {
    run_id: &'a RunId,
    items: usize,
    bytes_from: runs::Bytes,
    moved: &'a [Label],
    judged: bool,
    report_sha256: Option<Sha256>,
}

/// The output of `runs prune --json`.
#[derive(Serialize, JsonSchema)]
pub(super) struct PruneView<'a> {
    dry_run: bool,
    removed: &'a [RunId],
    removed_count: usize,
    still_running: &'a [RunId],
}

/// The output of `runs head --json`.
#[derive(Serialize, JsonSchema)]
pub(super) struct HeadView<'a> {
    ledger: Cow<'a, str>,
    lines: usize,
    head: Option<&'a Sha256>,
    at: Option<&'a str>,
    anchored: bool,
    set_aside: Option<Cow<'a, str>>,
    lines_taken_over: usize,
    unvouched: &'a [RunId],
    lost: &'a [RunId],
}

fn print_json(context: &Context, view: &impl Serialize) -> Result<ExitCode> {
    context.out.json(context.body(view)?);
    Ok(ExitCode::SUCCESS)
}

fn list(context: &Context, archive: &Archive, limit: usize) -> Result<ExitCode> {
    if context.out.json {
        return print_json(context, &listed(archive, 0, limit)?);
    }
    let (entries, total) = archive.list(0, limit)?;
    let out = context.out;
    if entries.is_empty() {
        out.line("No run is recorded yet.");
    }
    for entry in &entries {
        let question = entry.record.as_ref().map_or_else(
            |f| f.message.clone(),
            |record| one_line(&record.question, 72),
        );
        out.line(&format!(
            "{}  {:<11}  {}",
            entry.id,
            ended_as(entry),
            out.shown(&question)
        ));
    }
    if entries.len() < total {
        out.line(&out.dim(&format!(
            "{} more: local-agent runs list --limit {total}",
            total - entries.len()
        )));
    }
    Ok(ExitCode::SUCCESS)
}

/// The output of `runs list --json`, without the roots.
pub(super) fn listed(archive: &Archive, skip: usize, limit: usize) -> Result<Value> {
    let (entries, total) = archive.list(skip, limit)?;
    to_value(&ListView {
        runs_dir: archive.runs_dir().to_string_lossy(),
        count: entries.len(),
        total,
        runs: entries.iter().map(summary).collect(),
    })
}

/// One word for a list: the outcome of an ended run, otherwise the state.
fn ended_as(entry: &RunEntry) -> String {
    match (&entry.record, entry.state) {
        (Ok(record), RunState::Ended) => {
            record.outcome.clone().unwrap_or_else(|| "ended".to_owned())
        }
        (_, state) => state_name(state).to_owned(),
    }
}

const fn state_name(state: RunState) -> &'static str {
    match state {
        RunState::Running => "running",
        RunState::Interrupted => "interrupted",
        RunState::Ended => "ended",
        RunState::Unlisted => "unlisted",
        RunState::Missing => "missing",
        RunState::Pruned => "pruned",
    }
}

fn summary(entry: &RunEntry) -> RunView<'_> {
    let record = entry.record.as_ref().ok();
    let failure = entry.record.as_ref().err();
    RunView {
        run_id: &entry.id,
        state: entry.state,
        started_at: record.map(|r| r.started_at.as_str()),
        elapsed_s: record.and_then(|r| r.elapsed_s),
        outcome: record.and_then(|r| r.outcome.as_deref()),
        error_code: record.and_then(|r| r.error_code.as_deref()),
        answerer: record.and_then(|r| r.answerer.as_deref()),
        question: record.map(|r| r.question.as_str()),
        unreadable: failure.map(|failure| failure.message.as_str()),
    }
}

fn one_line(text: &str, most: usize) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= most {
        return words;
    }
    words.chars().take(most - 1).chain(['…']).collect()
}

fn show(context: &Context, archive: &Archive, id: &RunId) -> Result<ExitCode> {
    if context.out.json {
        return print_json(context, &shown(archive, id)?);
    }
    print(context, &archive.load(id)?.0, archive.state(id)?);
    Ok(ExitCode::SUCCESS)
}

/// The output of `runs show --json`, without the roots.
pub(super) fn shown(archive: &Archive, id: &RunId) -> Result<Value> {
    let (record, sha256) = archive.load(id)?;
    to_value(&ShowView {
        state: archive.state(id)?,
        record: &record,
        record_sha256: sha256,
        record_path: archive.folder(id).join("run.json").to_string_lossy(),
    })
}

/// The page, with the exact evidence if it can be restored.
fn html(
    context: &Context,
    config: &Config,
    archive: &Archive,
    id: &RunId,
    out: Option<&Path>,
) -> Result<ExitCode> {
    let (record, _) = archive.load(id)?;
    let thawed = runs::thaw(&record, &archive.folder(id), &context.sandbox(config)?);
    let missing = thawed.as_ref().err().map(|failure| failure.message.clone());
    let page = runs::page(
        &record,
        archive.state(id)?,
        thawed.ok().as_ref(),
        missing.as_deref(),
    );
    match out {
        None => context.out.raw(&page),
        Some(file) => {
            write_whole(&context.environment.cwd.join(file), page.as_bytes())?;
            context.out.line(&format!("written: {}", file.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print(context: &Context, record: &Record, state: RunState) {
    let out = context.out;
    print_field(out, "run", record.run_id.as_str());
    let outcome = match state {
        RunState::Ended => record.outcome.clone().unwrap_or_default(),
        state => state_name(state).to_owned(),
    };
    print_field(out, "outcome", &outcome);
    print_field(out, "started", &record.started_at);
    if let Some(elapsed) = record.elapsed_s {
        print_field(out, "took", &format!("{elapsed} s"));
    }
    print_field(
        out,
        "answerer",
        record.answerer.as_deref().unwrap_or("none"),
    );
    let sent = if record.sent.is_empty() {
        "nowhere: nothing left this program".to_owned()
    } else {
        sent(record)
    };
    print_field(out, "sent", &sent);
    print_field(out, "question", &record.question);
    if let Some(text) = &record.assistant_text {
        out.line("");
        out.line(&out.shown(text));
    }
    if let (Some(code), Some(message)) = (&record.error_code, &record.error_message) {
        out.line("");
        out.line(&out.shown(&format!("{code}: {message}")));
    }
    if let Some(why) = &record.why {
        out.line(&out.shown(why));
    }
    for (n, call) in record.calls.iter().enumerate() {
        let Some(reasons) = &call.refused else {
            continue;
        };
        out.line("");
        out.line(&out.shown(&format!(
            "call {} ({}) was refused: {reasons}",
            n + 1,
            call.purpose
        )));
        for note in &call.refused_claims {
            out.line(&out.shown(&claims::line(note)));
        }
    }
    if let Some(snapshot) = &record.snapshot {
        out.line("");
        for item in &snapshot.items {
            out.line(&out.shown(&format!(
                "{} {}:{}, {}",
                item.label,
                item.source,
                item.rel_path,
                said_lines(item.rel_path.as_str(), item.lines)
            )));
        }
    }
    let report = record.citation_validation.as_ref();
    let counts = report.and_then(Counts::of_report);
    if let Some(faults) = counts.and_then(|counts| counts.in_words()) {
        out.line("");
        out.line(&out.dim(&faults));
    }
}

/// Prints a name and its value on one line.
fn print_field(out: Output, name: &str, value: &str) {
    out.line(&format!(
        "{} {}",
        out.dim(&format!("{name:<10}")),
        out.shown(value)
    ));
}

fn sent(record: &Record) -> String {
    record
        .sent
        .iter()
        .map(sent_to)
        .collect::<Vec<_>>()
        .join("; ")
}

/// The text that was sent, and the receiving server.
fn sent_to(sent: &runs::Sent) -> String {
    let place = if sent.local {
        "this machine"
    } else {
        "another machine"
    };
    format!("{} → {} ({place})", sent.what, sent.to)
}

fn verify(
    context: &Context,
    archive: &Archive,
    id: Option<&str>,
    head: Option<&str>,
) -> Result<ExitCode> {
    let only = id.map(|id| archive.find(id)).transpose()?;
    let expected = head.map(hash).transpose()?;
    let mut found = runs::check(archive, only.as_ref(), expected.as_ref())?;
    for finding in &mut found.list {
        finding.fix = hints::here(&finding.fix);
    }
    if context.out.json {
        print_json(
            context,
            &VerifyView {
                ok: found.ok(),
                findings: &found.list,
                ledger_lines: found.lines,
                ledger_head: found.head,
                anchored: found.anchored,
                records: found.records,
                running: found.running,
                pruned: found.pruned,
            },
        )?;
    } else {
        print_findings(context, &found);
    }
    Ok(ExitCode::from(u8::from(!found.ok())))
}

fn hash(text: &str) -> Result<Sha256> {
    text.parse().map_err(|_| {
        Failure::new(ErrorCode::InvalidArgs, format!("`{text}` is not a SHA-256"))
            .with_command("local-agent runs head")
    })
}

fn print_findings(context: &Context, found: &RunFindings) {
    let out = context.out;
    for Finding {
        code,
        fails,
        run_id,
        message,
        fix,
    } in &found.list
    {
        let run = run_id
            .as_ref()
            .map_or_else(String::new, |id| format!("{id}: "));
        let line = format!(
            "[{}] {code}: {run}{}",
            if *fails { "FAIL" } else { "NOTE" },
            out.shown(message)
        );
        out.line(&if *fails { out.bold(&line) } else { line });
        out.line(&format!("    fix: {}", out.shown(fix)));
    }
    let Some(head) = &found.head else {
        out.line(match found.records {
            0 => "No run is recorded yet.",
            _ => "The ledger holds no run.",
        });
        return;
    };
    let records = if found.records == 1 {
        "1 record".to_owned()
    } else {
        format!("{} records", found.records)
    };
    let vouched = if found.anchored {
        "vouched for by durable.sqlite"
    } else {
        "vouched for by nothing else"
    };
    out.line(&format!(
        "{records} looked at; the ledger has {} lines, {vouched}; head {head}",
        found.lines
    ));
}

fn again(archive: &Archive, id: &RunId, sandbox: &Sandbox) -> Result<runs::Replayed> {
    let (record, _) = archive.load(id)?;
    let thawed = runs::thaw(&record, &archive.folder(id), sandbox)?;
    runs::replay(&record, &thawed)
}

/// The output of `runs replay --json`, without the roots.
pub(super) fn replayed(archive: &Archive, id: &RunId, sandbox: &Sandbox) -> Result<Value> {
    let done = again(archive, id, sandbox)?;
    to_value(&ReplayView {
        run_id: id,
        items: done.items,
        bytes_from: done.bytes,
        moved: &done.moved,
        judged: done.report_sha256.is_some(),
        report_sha256: done.report_sha256,
    })
}

fn replay(context: &Context, config: &Config, archive: &Archive, id: &RunId) -> Result<ExitCode> {
    let sandbox = context.sandbox(config)?;
    if context.out.json {
        return print_json(context, &replayed(archive, id, &sandbox)?);
    }
    let done = again(archive, id, &sandbox)?;
    let from = match done.bytes {
        runs::Bytes::Files => "in their files",
        runs::Bytes::Kept => "in the run's own evidence",
    };
    let items = if done.items == 1 {
        "1 item of evidence is".to_owned()
    } else {
        format!("{} items of evidence are", done.items)
    };
    context.out.line(&format!("{items} {from}, byte for byte"));
    for label in &done.moved {
        context
            .out
            .line(&format!("{label} is now on other lines of its file"));
    }
    match done.report_sha256 {
        Some(sha256) => context.out.line(&format!("the same report: {sha256}")),
        None => context
            .out
            .line("no draft was judged, so there is no report to compare"),
    }
    Ok(ExitCode::SUCCESS)
}

fn which(
    archive: &Archive,
    ids: &[String],
    keep: Option<usize>,
    older_than: Option<u32>,
) -> Result<Which> {
    match (keep, older_than) {
        (Some(keep), _) => Ok(Which::KeepNewest(keep)),
        (_, Some(days)) => Ok(Which::Before(
            OffsetDateTime::now_utc().unix_timestamp() - i64::from(days) * 86_400,
        )),
        _ => ids
            .iter()
            .map(|id| archive.find(id))
            .collect::<Result<_>>()
            .map(Which::Named),
    }
}

fn prune(context: &Context, archive: &Archive, which: &Which, dry_run: bool) -> Result<ExitCode> {
    let Prune {
        removed,
        running,
        unanchored,
    } = archive.prune(which, dry_run)?;
    if let Some(why) = &unanchored {
        talk(&format!(
            "runs: the ledger's head is not kept: {}",
            why.message
        ));
    }
    if context.out.json {
        return print_json(
            context,
            &PruneView {
                dry_run,
                removed: &removed,
                removed_count: removed.len(),
                still_running: &running,
            },
        );
    }
    for id in &removed {
        context.out.line(&format!(
            "{}{id}",
            if dry_run { "would remove " } else { "removed " }
        ));
    }
    for id in &running {
        talk(&format!("{id} is still at work and stays"));
    }
    if removed.is_empty() {
        context.out.line("nothing to remove");
    }
    Ok(ExitCode::SUCCESS)
}

fn head(context: &Context, archive: &Archive, renew: bool, adopt: bool) -> Result<ExitCode> {
    let done = match (renew, adopt) {
        (true, _) => archive.ledger.renew()?,
        (_, true) => archive.ledger.adopt()?,
        _ => Renewed::default(),
    };
    let look = archive.ledger.look()?;
    let (anchored, chain) = (matches!(look.anchor?, runs::Anchor::Kept), look.chain);
    let last = chain.as_ref().and_then(|chain| chain.lines.last());
    if context.out.json {
        return print_json(
            context,
            &HeadView {
                ledger: archive.ledger.path().to_string_lossy(),
                lines: chain.as_ref().map_or(0, |chain| chain.lines.len()),
                head: last.map(|(_, sha)| sha),
                at: last.map(|(line, _)| line.at.as_str()),
                anchored,
                set_aside: done.aside.as_ref().map(|path| path.to_string_lossy()),
                lines_taken_over: done.lines,
                unvouched: &done.found,
                lost: &done.lost,
            },
        );
    }
    print_renewed(context, &done, renew || adopt);
    match last {
        None => context.out.line("No run is recorded yet."),
        Some((line, sha)) => {
            context
                .out
                .line(&format!("{sha}  line {}, {}", line.n + 1, line.at));
            let check = format!("keep it elsewhere; later: local-agent runs verify --head {sha}");
            context.out.line(&context.out.dim(&check));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print_renewed(context: &Context, done: &Renewed, was_asked: bool) {
    if let Some(path) = &done.aside {
        context.out.line(&format!("set aside: {}", path.display()));
    }
    if was_asked {
        let lines = counted(done.lines, "line");
        let found = counted(done.found.len(), "record");
        context.out.line(&format!(
            "{lines} taken over; {found} entered for which nothing vouches"
        ));
    }
    for id in &done.lost {
        context.out.line(&format!("{id}: its record is gone"));
    }
}

/// A number and its noun.
fn counted(n: usize, what: &str) -> String {
    if n == 1 {
        format!("1 {what}")
    } else {
        format!("{n} {what}s")
    }
}
