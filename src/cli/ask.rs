//! `ask`.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::args::Ask as Args;
use super::context::Context;
use super::index::extend;
use super::jobs::Model;
use super::output::{Output, talk};
use super::query::say_limits;
use super::run_log::RunLog;
use super::scope::scope;
use super::write::write_whole;
use crate::ask::{self, Answer, Outcome, Question};
use crate::config::Config;
use crate::error::{ErrorCode, Failure, Result};
use crate::memory::Recalled;
use crate::retrieval::Engine;
use crate::verify::VerifyOptions;

pub fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    if args.question.trim().is_empty() {
        return Err(Failure::new(ErrorCode::InvalidQuery, "the question is blank")
            .with_hint("local-agent ask \"your question\""));
    }
    let loaded = context.load()?;
    let config = &loaded.config;
    ask::answerer(config.ask.provider)?;
    let sandbox = context.sandbox(config)?;
    let model = Model::configured(context, config)?;
    let fingerprint = model.fingerprint()?;
    let engine = Engine::open(&config.index.db_path, &config.lexical_dir(), &config.vectors_dir(), Some(&fingerprint))?;
    let question = Question {
        scope: scope(config, &args.scope)?,
        strict: args.strict || config.ask.strict,
        ..question(config, &args.question)
    };
    let recalled = super::memory::recall(config, question.text)?;
    let log = RunLog::begin(context, &loaded, &question)?;
    let answer = ask::ask(&question, &engine, &sandbox, || model.load());
    let run = log.end(context, config, &engine, &answer, &recalled)?;
    let answer = answer?;
    if let Some(file) = &args.snapshot_out {
        write_snapshot(&context.environment.cwd.join(file), &answer)?;
    }
    if args.json {
        let mut body = report(context, config, args, &answer);
        body["memory"] = json!(recalled);
        extend(&mut body, run);
        context.out.json(body);
    } else {
        print(context.out, config, &answer);
        print_memory(context.out, &recalled);
        for path in &answer.packed.index_stale {
            talk(&format!("stale: {path} changed or went since it was indexed (fix: local-agent index)"));
        }
        say_limits(&answer.coverage, &answer.stale);
    }
    Ok(ExitCode::SUCCESS)
}

/// A question under the configured bounds, over everything.
pub(super) fn question<'a>(config: &Config, text: &'a str) -> Question<'a> {
    Question {
        text,
        scope: crate::retrieval::Scope::default(),
        fusion: config.retrieve.fusion,
        vector_weight: config.retrieve.vector_weight,
        top_n: config.ask.top_n,
        max_tokens: config.ask.max_evidence_tokens,
        verify: VerifyOptions {
            heading_match: config.ask.heading_match,
            normalize_heading: config.ask.normalize_heading,
            ..VerifyOptions::default()
        },
        strict: config.ask.strict,
    }
}

fn write_snapshot(file: &std::path::Path, answer: &Answer) -> Result<()> {
    let json = serde_json::to_string_pretty(&answer.packed.snapshot)
        .map_err(|e| Failure::internal(format!("the snapshot cannot be written as JSON: {e}")))?;
    write_whole(file, (json + "\n").as_bytes())
}

fn report(context: &Context, config: &Config, args: &Args, answer: &Answer) -> Value {
    let evidence: Vec<Value> = answer
        .packed
        .snapshot
        .items()
        .iter()
        .zip(&answer.packed.scores)
        .map(|(item, score)| {
            json!({
                "label": item.label,
                "source": item.source,
                "rel_path": item.path,
                "heading_path": item.heading.to_string(),
                "chunk_key": item.chunk_key,
                "lines": item.lines,
                "start_byte": item.span.start(),
                "end_byte": item.span.end(),
                "text_sha256": item.text_sha256,
                "score": score,
            })
        })
        .collect();
    let mut body = json!({
        "question": args.question,
        "outcome": answer.outcome,
        "answer": answer.text,
        "why": answer.why,
        "answerer": answer.answerer,
        "verified": config.ask.show_as_verified && answer.outcome == Outcome::Answered,
        "snapshot_id": answer.packed.snapshot.id(),
        "evidence": evidence,
        "freshness": answer.packed.freshness,
        "index_stale": answer.packed.index_stale,
        "citation_validation": answer.report,
        "citation_validation_footer": answer.report.as_ref().map(|report| report.footer()),
        "coverage": answer.coverage,
        "stale": answer.stale,
        "warnings": config.warnings,
    });
    extend(&mut body, context.roots());
    body
}

/// What was remembered about the question: beside the answer, never in it.
fn print_memory(out: Output, recalled: &[Recalled]) {
    if !recalled.is_empty() {
        out.line("");
        out.line("From memory (context, not evidence):");
    }
    for one in recalled {
        out.line(&out.shown(&format!("  {}  {}", one.label, one.content)));
    }
}

/// The answer and its footer, or why there is none.
pub(super) fn print(out: Output, config: &Config, answer: &Answer) {
    match &answer.text {
        Some(text) => {
            if !config.ask.show_as_verified {
                out.line("UNVERIFIED (citation validation is switched off in the configuration)");
            }
            out.line(&out.shown(text));
            if let Some(report) = &answer.report {
                out.line("");
                out.line(&out.dim(&report.footer()));
            }
        }
        None if answer.report.is_some() => out.line("There is no answer that can be shown."),
        None => out.line("The notes hold nothing that answers this."),
    }
    if let Some(why) = &answer.why {
        out.line(&out.shown(why));
    }
}
