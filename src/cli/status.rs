//! `status`: what is indexed, embedded and current. Reads only.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::args::Status;
use super::context::Context;
use super::index::extend;
use super::jobs::Model;
use crate::error::Result;
use crate::retrieval::Engine;
use crate::store::{IndexReader, JobLock};

pub fn run(context: &Context, args: &Status) -> Result<ExitCode> {
    let config = context.load()?.config;
    let index = IndexReader::open(&config.index.db_path)?;
    let mut body = json!({
        "index_db": config.index.db_path.to_string_lossy(),
        "embeddings_db": config.embed.db_path.to_string_lossy(),
        "indexed": index.is_some(),
        "index_job": JobLock::holder(&JobLock::path_beside(&config.index.db_path, "index.lock")),
        "embed_job": JobLock::holder(&JobLock::path_beside(&config.embed.db_path, "embed.lock")),
    });
    if let Some(index) = index {
        let totals = index.totals()?;
        let fingerprint = Model::configured(context, &config)?.fingerprint()?;
        let engine =
            Engine::open(&config.index.db_path, &config.lexical_dir(), &config.vectors_dir(), Some(&fingerprint))?;
        let sources: Vec<Value> = index
            .sources()?
            .into_iter()
            .map(|s| {
                json!({"name": s.name, "root": s.root.to_string_lossy(), "kind": s.kind, "documents": s.documents,
                       "last_scan_unix": s.scanned_ns / 1_000_000_000})
            })
            .collect();
        let more = json!({
            "documents": totals.documents,
            "skipped_files": totals.skipped,
            "chunks": totals.chunks,
            "sources": sources,
            "coverage": engine.coverage()?,
            "stale": engine.stale(),
            "model": config.embed.model,
            "fingerprint": fingerprint,
        });
        if let Value::Object(more) = more {
            extend(&mut body, more);
        }
    }
    if args.json {
        extend(&mut body, context.roots());
        context.out.json(body);
    } else {
        print(context, &body);
    }
    Ok(ExitCode::SUCCESS)
}

fn print(context: &Context, body: &Value) {
    let out = context.out;
    if body["indexed"] == false {
        out.line("Nothing is indexed yet (fix: local-agent index)");
        return;
    }
    out.line(&format!(
        "index: {} documents, {} chunks, {} files skipped",
        body["documents"], body["chunks"], body["skipped_files"]
    ));
    out.line(&format!(
        "meaning: {} of {} chunks ({})",
        body["coverage"]["embedded"],
        body["coverage"]["chunks"],
        text(&body["model"])
    ));
    for source in body["sources"].as_array().into_iter().flatten() {
        out.line(&format!(
            "source: {} ({}), {} documents",
            text(&source["name"]),
            text(&source["root"]),
            source["documents"]
        ));
    }
    for stale in body["stale"].as_array().into_iter().flatten() {
        out.line(&format!("stale: {} (fix: {})", text(&stale["why"]), text(&stale["fix"])));
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
