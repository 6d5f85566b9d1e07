//! `index`.

use std::borrow::Cow;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::args::{Index, SchemeArg};
use super::context::{Context, scheme_name};
use super::enter::Needs;
use super::hints::here;
use super::left_out;
use super::output::{count, pace, talk};
use super::progress::Bar;
use local_agent_agent::config::Config;
use local_agent_agent::operations::notes::KindCount;
use local_agent_agent::operations::status::by_kind;
use local_agent_agent::operations::{IndexRun, jobs, notes};
use local_agent_index::indexing::IndexSummary;
use local_agent_index::indexing::Source;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{SkipReason, SourceName};

pub(super) fn run(context: &mut Context, args: &Index) -> Result<ExitCode> {
    let scheme = args.scheme.map(|scheme| match scheme {
        SchemeArg::ObsidianV2 => "obsidian_v2",
        SchemeArg::ObsidianV1 => "obsidian_v1",
        SchemeArg::FixedWindowV1 => "fixed_window_v1",
    });
    context.flag(
        "--db-path",
        "index.db_path",
        args.db_path.as_ref().map(|p| p.display().to_string()),
    );
    context.flag("--scheme", "index.scheme", scheme);
    context.flag("--max-tokens", "index.max_tokens", args.max_tokens);
    context.flag("--max-chars", "index.max_chars", args.max_chars);
    context.flag("--overlap", "index.overlap", args.overlap);
    context.quiet = args.quiet;
    let config = context.load()?.config;
    context.say_overlaps(&config);
    let selected = jobs::select(&config, &args.source)?;
    if args.list_sources {
        list_sources(context, &selected)?;
        return Ok(ExitCode::SUCCESS);
    }
    let began = Instant::now();
    let confinement = context.enter(&config, &Needs::state())?;
    let sandbox = context.sandbox(&config)?;
    let files = context.model(&config)?;
    let bar = Bar::new(args.quiet || context.out.json);
    let run = IndexRun {
        only: &args.source,
        verify: args.verify,
        rebuild: args.rebuild,
        allow_empty: args.allow_empty,
        wait: Duration::from_secs(args.wait),
    };
    let summary = jobs::run_index(&config, &sandbox, &files, &run, &|progress| {
        bar.report(progress);
    });
    bar.finish();
    let summary = summary?;
    let ok = summary.errors.is_empty() || args.allow_partial;
    if context.out.json {
        let view = IndexView {
            left_out: notes::left_out(&config, &sandbox),
            confinement: confinement.as_str(),
            ..IndexView::new(&config, &selected, &summary, ok)
        };
        context.out.json(context.body(&view)?);
    } else if !args.quiet || !ok {
        print(context, &summary, began.elapsed());
        for line in left_out::lines(&notes::left_out(&config, &sandbox)) {
            context.out.line(&line);
        }
    }
    Ok(ExitCode::from(u8::from(!ok)))
}

/// The advice for a source whose folder cannot be read.
const UNREADABLE_SOURCE: &str = "local-agent config show, and correct the source's `root`";

/// What `index --json` prints, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct IndexView<'a> {
    #[serde(flatten)]
    summary: &'a IndexSummary,
    /// Whether every source could be read, or `--allow-partial` was given.
    ok: bool,
    /// The path of the index database.
    index_db: Cow<'a, str>,
    /// How notes are cut into chunks.
    scheme: &'static str,
    /// The names of the sources that were indexed.
    sources_selected: Vec<&'a str>,
    sources_count: usize,
    warnings: &'a [String],
    /// If not ok: the code of the first failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<&'static str>,
    /// If not ok: what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// Files in the sources that are not documents, by kind.
    left_out: Vec<KindCount>,
    /// Whether the system confines the process: `enforced`, `partly` or `absent`.
    confinement: &'static str,
}

impl<'a> IndexView<'a> {
    fn new(
        config: &'a Config,
        selected: &'a [Source],
        summary: &'a IndexSummary,
        ok: bool,
    ) -> Self {
        let first = summary.failures.first();
        let code = first.map_or(ErrorCode::ConfigError, |failure| failure.code);
        Self {
            summary,
            ok,
            index_db: config.index.db_path.to_string_lossy(),
            scheme: scheme_name(config.index.scheme),
            sources_selected: selected.iter().map(|s| s.name.as_str()).collect(),
            sources_count: selected.len(),
            warnings: &config.warnings,
            error_code: (!ok).then_some(code.as_str()),
            hint: (!ok).then(|| here(first.map_or(UNREADABLE_SOURCE, way_out))),
            left_out: Vec::new(),
            confinement: "",
        }
    }
}

/// The output of `index --list-sources --json`.
#[derive(Serialize, JsonSchema)]
pub(super) struct SelectedView<'a> {
    sources: Vec<SelectedSource<'a>>,
    selected_count: usize,
}

#[derive(Serialize, JsonSchema)]
struct SelectedSource<'a> {
    name: &'a SourceName,
    root: Cow<'a, str>,
    kind: &'a str,
}

fn list_sources(context: &Context, selected: &[Source]) -> Result<()> {
    if context.out.json {
        let sources = selected.iter().map(|source| SelectedSource {
            name: &source.name,
            root: source.root.to_string_lossy(),
            kind: &source.kind,
        });
        let body = context.body(&SelectedView {
            sources: sources.collect(),
            selected_count: selected.len(),
        })?;
        context.out.json(body);
        return Ok(());
    }
    for source in selected {
        context.out.line(&format!(
            "{}\t{}\t{}",
            source.name,
            source.kind,
            source.root.display()
        ));
    }
    Ok(())
}

/// Adds fields to a JSON object.
pub(super) fn extend(body: &mut Value, more: serde_json::Map<String, Value>) {
    if let Some(fields) = body.as_object_mut() {
        fields.extend(more);
    }
}

fn print(context: &Context, summary: &IndexSummary, took: Duration) {
    let out = context.out;
    let changed = changes(summary);
    out.line(&format!(
        "indexed: {} in {}; {changed} ({})",
        count(summary.total_docs, "document"),
        count(summary.total_chunks, "chunk"),
        pace(summary.docs_scanned as u64, "file", took),
    ));
    if let Some(moved) = &summary.moved_aside {
        out.line(&format!("moved aside: {}", moved.display()));
    }
    let (not_built, others): (Vec<_>, Vec<_>) = summary
        .skipped
        .iter()
        .partition(|skipped| skipped.reason == SkipReason::NotBuilt.as_str());
    let not_built = not_built
        .iter()
        .map(|skipped| (skipped.path.as_str(), skipped.reason.as_str()));
    for line in left_out::skipped_lines(&by_kind(not_built)) {
        out.line(&line);
    }
    let others = others
        .iter()
        .map(|skipped| (skipped.path.as_str(), skipped.reason.as_str()));
    for line in left_out::skipped_files(others) {
        out.line(&line);
    }
    if summary.total_docs == 0 && summary.failures.is_empty() {
        out.line("There is nothing to search yet: put notes into the folders of `local-agent source list`, or add one with `local-agent source add DIR`.");
    }
    say_failures(&summary.failures);
}

/// A short summary of the changes in a run.
fn changes(summary: &IndexSummary) -> String {
    let mut parts = Vec::new();
    if summary.docs_changed > 0 {
        parts.push(format!("{} new or changed", summary.docs_changed));
    }
    if summary.docs_pruned > 0 {
        parts.push(format!("{} removed", summary.docs_pruned));
    }
    if parts.is_empty() && summary.chunks_removed > 0 {
        parts.push(format!(
            "{} removed",
            count(summary.chunks_removed, "chunk")
        ));
    }
    if parts.is_empty() {
        "nothing changed".to_owned()
    } else {
        parts.join(", ")
    }
}

/// Prints which sources could not be scanned, and how to fix it.
pub(super) fn say_failures(failures: &[Failure]) {
    let mut fixes: Vec<&str> = Vec::new();
    for failure in failures {
        talk(&format!("error[{}]: {}", failure.code, failure.message));
        if !fixes.contains(&way_out(failure)) {
            fixes.push(way_out(failure));
        }
    }
    for fix in fixes {
        talk(&format!("fix: {}", here(fix)));
    }
}

fn way_out(failure: &Failure) -> &str {
    match (&failure.hint, failure.code) {
        (Some(hint), ErrorCode::SourceEmpty) => hint,
        _ => UNREADABLE_SOURCE,
    }
}
