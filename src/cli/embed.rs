//! `embed`.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};

use super::args::Embed;
use super::context::Context;
use super::enter::Needs;
use super::index::extend;
use super::progress::Bar;
use local_agent_agent::config::Config;
use local_agent_agent::operations::{EmbedRun, jobs};
use local_agent_embed::embedding::TEMPLATE_VERSION;
use local_agent_index::indexing::EmbedSummary;
use local_agent_text::error::Result;
use local_agent_text::types::Fingerprint;

/// One text of the ancestor's batches stands for so many tokens of ours.
const TOKENS_A_TEXT: usize = 64;

pub fn run(context: &mut Context, args: &Embed) -> Result<ExitCode> {
    // The ancestor named models with their owner.
    let id = args
        .model
        .as_deref()
        .map(|id| id.strip_prefix("sentence-transformers/").unwrap_or(id));
    context.flag("--model", "embed.model", id);
    context.flag(
        "--batch-size",
        "embed.batch_tokens",
        args.batch_size.map(|n| n.saturating_mul(TOKENS_A_TEXT)),
    );
    let config = context.load()?.config;
    context.enter(&config, &Needs::beside_index(&config))?;
    let model = context.embedding(&config)?;
    let bar = Bar::new(args.quiet || args.json);
    let run = EmbedRun {
        limit: args.limit,
        rebuild: args.rebuild,
        no_prune: args.no_prune,
        dry_run: args.dry_run,
        wait: Duration::from_secs(args.wait),
        ..EmbedRun::default()
    };
    let done = jobs::run_embed(&config, &model, &run, &|progress| bar.report(progress));
    bar.finish();
    let (summary, fingerprint) = done?;
    let ok = summary.errors.is_empty();
    if args.json {
        context.out.json(report(
            context,
            &config,
            &summary,
            &fingerprint,
            model.id(),
            model.dim(),
            ok,
        ));
    } else if !args.quiet || !ok {
        print(context, &config, &summary);
    }
    Ok(ExitCode::from(u8::from(!ok)))
}

fn report(
    context: &Context,
    config: &Config,
    summary: &EmbedSummary,
    fingerprint: &Fingerprint,
    model_id: &str,
    dim: Option<usize>,
    ok: bool,
) -> Value {
    let mut body = serde_json::to_value(summary).unwrap_or_default();
    let more = json!({
        "ok": ok,
        "embeddings_db": config.embed.db_path.to_string_lossy(),
        "provider": provider(config),
        "model_id": model_id,
        "embed_runtime_fingerprint": fingerprint,
        "dim": dim,
        "chunk_preprocess_sig": format!("headings_v{TEMPLATE_VERSION}"),
        "query_preprocess_sig": format!("plain_v{TEMPLATE_VERSION}"),
        "vectors_normalized": true,
        "warnings": config.warnings,
    });
    if let Value::Object(more) = more {
        extend(&mut body, more);
    }
    extend(&mut body, context.roots());
    body
}

/// The stable name of the configured provider.
pub(super) const fn provider(config: &Config) -> &'static str {
    config.embed.provider.as_str()
}

fn print(context: &Context, config: &Config, summary: &EmbedSummary) {
    let out = context.out;
    out.line(&format!(
        "embeddings_db: {}",
        config.embed.db_path.display()
    ));
    if summary.dry_run {
        out.line(&format!(
            "embed plan: {} of {} chunks have no vector; {} vectors belong to no chunk",
            summary.missing, summary.total_chunks, summary.orphan_embeddings_before
        ));
        return;
    }
    out.line(&format!(
        "embed summary: {} embedded ({} tokens), {} had one, {} pruned; {} of {} chunks can be searched by meaning",
        summary.embedded_written,
        summary.tokens,
        summary.skipped_ok,
        summary.orphan_embeddings_pruned,
        summary.covered_chunks,
        summary.total_chunks,
    ));
    if summary.orphan_embeddings_kept > 0 {
        let days = config.embed.keep_unused_days;
        out.line(&format!(
            "{} vectors that no chunk uses are kept for {days} days",
            summary.orphan_embeddings_kept
        ));
    }
    if summary.windowed > 0 {
        out.line(&format!(
            "{} texts were longer than the model's window and were split",
            summary.windowed
        ));
    }
    if let Some(moved) = &summary.moved_aside {
        out.line(&format!("moved aside: {}", moved.display()));
    }
}
