//! `status`: reports what is indexed and embedded, and whether it is up to date. Changes nothing.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value;

use super::args::Status;
use super::context::Context;
use super::enter::Needs;
use super::index::extend;
use super::left_out;
use super::output::count;
use local_agent_agent::config::Config;
use local_agent_agent::operations::status::SkippedKind;
use local_agent_agent::operations::{self, Library, notes};
use local_agent_files::sandbox::Sandbox;
use local_agent_text::error::{Failure, Result};

pub(super) fn run(context: &Context, args: &Status) -> Result<ExitCode> {
    let config = context.load()?.config;
    context.enter(&config, &Needs::nothing())?;
    let library = Library::for_one(&config, Some(context.embedding(&config)?));
    if args.wait_fresh {
        operations::freshness::wait(&config, &library, Duration::from_secs(args.timeout))?;
    }
    let (mut body, others) = state(&config, &library, &context.sandbox(&config)?)?;
    if context.out.json {
        if args.wait_fresh {
            body["fresh"] = Value::Bool(true);
        }
        body["left_out"] = serde_json::json!(others);
        extend(&mut body, context.roots());
        context.out.json(body);
    } else {
        print(context, &body);
        let skipped: Vec<SkippedKind> =
            serde_json::from_value(body["skipped_kinds"].clone()).unwrap_or_default();
        for line in left_out::skipped_lines(&skipped) {
            context.out.line(&line);
        }
        for line in left_out::lines(&others) {
            context.out.line(&line);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The state as an object, and the files in the sources that are not documents.
fn state(
    config: &Config,
    library: &Library,
    sandbox: &Sandbox,
) -> Result<(Value, Vec<notes::KindCount>)> {
    let status = operations::status::status(config, library, sandbox, true)?;
    let body = serde_json::to_value(status)
        .map_err(|e| Failure::internal(format!("the status cannot be written as JSON: {e}")))?;
    Ok((body, notes::left_out(config, sandbox)))
}

/// The output of `status --json`, without the roots.
pub(super) fn body(config: &Config, library: &Library, sandbox: &Sandbox) -> Result<Value> {
    let (mut body, others) = state(config, library, sandbox)?;
    body["left_out"] = serde_json::json!(others);
    Ok(body)
}

fn print(context: &Context, body: &Value) {
    let out = context.out;
    if body["indexed"] == false {
        out.line("Nothing is indexed yet (fix: local-agent index)");
        return;
    }
    out.line(&format!(
        "index: {}, {}, {} skipped",
        count(body["documents"].as_u64().unwrap_or(0), "document"),
        count(body["chunks"].as_u64().unwrap_or(0), "chunk"),
        count(body["skipped_files"].as_u64().unwrap_or(0), "file"),
    ));
    out.line(&format!(
        "meaning: {} of {} chunks ({})",
        body["coverage"]["embedded"],
        body["coverage"]["chunks"],
        text(&body["model"])
    ));
    if let Some(why) = body["model_reason"].as_str() {
        out.line(&format!("model: chosen because {why}"));
    }
    for source in body["sources"].as_array().into_iter().flatten() {
        out.line(&format!(
            "source: {} ({}), {}",
            text(&source["name"]),
            text(&source["root"]),
            count(source["documents"].as_u64().unwrap_or(0), "document")
        ));
    }
    for stale in body["stale"].as_array().into_iter().flatten() {
        out.line(&format!(
            "stale: {} (fix: {})",
            text(&stale["why"]),
            text(&stale["fix"])
        ));
    }
    if let Some(why) = body["vectors_without_say"].as_str() {
        out.line(&format!("note: {why}"));
    }
    for job in ["index_job", "embed_job"] {
        if let Some(holder) = body[job].as_str() {
            out.line(&format!("running: {holder}"));
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
