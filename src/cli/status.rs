//! `status`: reports what is indexed and embedded, and whether it is up to date. Changes nothing.

use std::process::ExitCode;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::args::Status;
use super::context::{Context, to_value};
use super::enter::Needs;
use super::hints::here;
use super::left_out;
use super::output::count;
use local_agent_agent::config::Config;
use local_agent_agent::operations::notes::KindCount;
use local_agent_agent::operations::status::Status as IndexStatus;
use local_agent_agent::operations::{self, Library, notes};
use local_agent_files::sandbox::Sandbox;
use local_agent_text::error::Result;

/// What `status --json` prints, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct StatusView {
    #[serde(flatten)]
    status: IndexStatus,
    /// Files in the sources that are not documents, by kind.
    left_out: Vec<KindCount>,
    /// True after `--wait-fresh`.
    #[serde(skip_serializing_if = "Option::is_none")]
    fresh: Option<bool>,
}

pub(super) fn run(context: &Context, args: &Status) -> Result<ExitCode> {
    let config = context.load()?.config;
    context.enter(&config, &Needs::nothing())?;
    let library = Library::for_command(&config, Some(context.embedding(&config)?));
    if args.wait_fresh {
        operations::freshness::wait(&config, &library, Duration::from_secs(args.timeout))?;
    }
    let view = StatusView {
        fresh: args.wait_fresh.then_some(true),
        ..view(&config, &library, &context.sandbox(&config)?)?
    };
    if context.out.json {
        context.out.json(context.body(&view)?);
        return Ok(ExitCode::SUCCESS);
    }
    print(context, &view.status);
    let skipped = view.status.index.as_ref();
    for line in skipped.map_or_else(Vec::new, |index| {
        left_out::skipped_lines(&index.skipped_kinds)
    }) {
        context.out.line(&line);
    }
    for line in left_out::lines(&view.left_out) {
        context.out.line(&line);
    }
    Ok(ExitCode::SUCCESS)
}

fn view(config: &Config, library: &Library, sandbox: &Sandbox) -> Result<StatusView> {
    Ok(StatusView {
        status: operations::status::status(config, library, sandbox, true)?,
        left_out: notes::left_out(config, sandbox),
        fresh: None,
    })
}

/// The output of `status --json`, without the roots.
pub(super) fn body(config: &Config, library: &Library, sandbox: &Sandbox) -> Result<Value> {
    to_value(&view(config, library, sandbox)?)
}

fn print(context: &Context, status: &IndexStatus) {
    let out = context.out;
    let Some(index) = &status.index else {
        let fix = here(context.first_step().unwrap_or("local-agent index"));
        out.line(&format!("Nothing is indexed yet (fix: {fix})"));
        return;
    };
    let skipped = match index.skipped_files {
        0 => String::new(),
        files => format!(", {} skipped", count(files, "file")),
    };
    out.line(&format!(
        "index: {}, {}{skipped}",
        count(index.documents, "document"),
        count(index.chunks, "chunk"),
    ));
    out.line(&format!(
        "meaning: {} of {} ({})",
        index.coverage.embedded,
        count(index.coverage.chunks, "chunk"),
        index.model
    ));
    let kept = index.chunks.saturating_sub(index.coverage.chunks);
    if kept > 0 {
        let kept = count(kept, "chunk");
        out.line(&format!(
            "private: {kept} more are not sent for embedding, for the model is on another machine"
        ));
    }
    if let Some(why) = &index.model_reason {
        out.sentence(&format!("model: chosen because {why}"));
    }
    for source in &index.sources {
        out.line(&format!(
            "source: {} ({}), {}",
            source.name,
            source.root,
            count(source.documents, "document")
        ));
    }
    for stale in &index.stale {
        out.line(&format!("stale: {} (fix: {})", stale.why, here(stale.fix)));
    }
    if let Some(why) = &index.vectors_without_say {
        out.line(&format!("note: {why}"));
    }
    for holder in [&status.index_job, &status.embed_job].into_iter().flatten() {
        out.line(&format!("running: {holder}"));
    }
}
