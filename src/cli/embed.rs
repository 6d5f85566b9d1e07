//! `embed`.

use std::borrow::Cow;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use super::args::Embed;
use super::context::Context;
use super::enter::Needs;
use super::output::{count, pace};
use super::progress::Bar;
use local_agent_agent::config::Config;
use local_agent_agent::operations::model_choice::{AUTO, model_by_languages};
use local_agent_agent::operations::{EmbedRun, EmbeddingModel, jobs};
use local_agent_embed::embedding::TEMPLATE_VERSION;
use local_agent_embed::models::Engine;
use local_agent_index::indexing::EmbedSummary;
use local_agent_text::error::Result;
use local_agent_text::types::Fingerprint;

/// A text in the Python version's batches counts as this many of our tokens.
const TOKENS_A_TEXT: usize = 64;

pub(super) fn run(context: &mut Context, args: &Embed) -> Result<ExitCode> {
    // The Python version's model names included their owner.
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
    context.quiet = args.quiet;
    let mut config = context.load()?.config;
    context.enter(&config, &Needs::beside_index(&config))?;
    if id == Some(AUTO) && !config.embed.provider.is_server() {
        // Vectors that are there do not decide: whoever names `auto` asks for a new choice.
        config.embed.model = model_by_languages(&config)?.to_owned();
    }
    let began = Instant::now();
    let model = context.embedding(&config)?;
    let bar = Bar::new(args.quiet || context.out.json);
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
    if context.out.json {
        let view = view(&config, &summary, &fingerprint, &model, ok);
        context.out.json(context.body(&view)?);
    } else if !args.quiet || !ok {
        print(context, &config, &summary, began.elapsed());
        if let Some(Engine::Candle | Engine::Table) = model.engine() {
            context.out.line(&format!(
                "computed in f32: `embed.precision` applies only to BERT networks, and `{}` is not one",
                model.id()
            ));
        }
    }
    Ok(ExitCode::from(u8::from(!ok)))
}

/// What `embed --json` prints, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct EmbedView<'a> {
    #[serde(flatten)]
    summary: &'a EmbedSummary,
    /// Whether every chunk could be embedded.
    ok: bool,
    /// The path of the database of vectors.
    embeddings_db: Cow<'a, str>,
    /// `local`, `ollama` or `openai`.
    provider: &'static str,
    model_id: &'a str,
    /// What computes the vectors in this program; null: a server does.
    engine: Option<&'static str>,
    /// Identifies the vectors: they can be compared only with vectors of the same fingerprint.
    embed_runtime_fingerprint: &'a Fingerprint,
    /// Numbers in one vector; null: not known before the first one is computed.
    dim: Option<usize>,
    /// How a chunk is prepared for the model, as a version.
    chunk_preprocess_sig: String,
    /// How a question is prepared for the model, as a version.
    query_preprocess_sig: String,
    vectors_normalized: bool,
    warnings: &'a [String],
}

fn view<'a>(
    config: &'a Config,
    summary: &'a EmbedSummary,
    fingerprint: &'a Fingerprint,
    model: &'a EmbeddingModel,
    ok: bool,
) -> EmbedView<'a> {
    EmbedView {
        summary,
        ok,
        embeddings_db: config.embed.db_path.to_string_lossy(),
        provider: provider(config),
        model_id: model.id(),
        engine: model.engine().map(Engine::as_str),
        embed_runtime_fingerprint: fingerprint,
        dim: model.dim(),
        chunk_preprocess_sig: format!("headings_v{TEMPLATE_VERSION}"),
        query_preprocess_sig: format!("plain_v{TEMPLATE_VERSION}"),
        vectors_normalized: true,
        warnings: &config.warnings,
    }
}

/// The stable name of the configured provider.
pub(super) const fn provider(config: &Config) -> &'static str {
    config.embed.provider.as_str()
}

fn print(context: &Context, config: &Config, summary: &EmbedSummary, took: Duration) {
    let out = context.out;
    if summary.dry_run {
        out.line(&format!(
            "missing: {} of {} have no vector; {} without a chunk",
            summary.missing,
            count(summary.total_chunks, "chunk"),
            count(summary.orphan_embeddings_before, "vector"),
        ));
        return;
    }
    let written = if summary.embedded_written == 0 {
        "nothing to do".to_owned()
    } else {
        format!("{} written", count(summary.embedded_written, "vector"))
    };
    let pruned = match summary.orphan_embeddings_pruned {
        0 => String::new(),
        pruned => format!(", {pruned} removed"),
    };
    out.line(&format!(
        "embedded: {} of {}; {written}{pruned} ({})",
        summary.covered_chunks,
        count(summary.total_chunks, "chunk"),
        pace(summary.tokens, "token", took),
    ));
    if summary.kept_back > 0 {
        let kept = count(summary.kept_back, "chunk");
        out.line(&format!(
            "private: {kept} not sent, for the model is on another machine"
        ));
    }
    if summary.orphan_embeddings_kept > 0 {
        let days = config.embed.keep_unused_days;
        let kept = count(summary.orphan_embeddings_kept, "vector");
        out.line(&format!(
            "kept for {}: {kept} without a chunk",
            count(days, "day")
        ));
    }
    if summary.windowed > 0 {
        let split = count(summary.windowed, "text");
        out.line(&format!("split: {split} longer than the model's window"));
    }
    if let Some(moved) = &summary.moved_aside {
        out.line(&format!("moved aside: {}", moved.display()));
    }
}
