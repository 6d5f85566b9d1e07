//! `ask`.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use super::args::{Ask as Args, ScopeArgs};
use super::context::Context;
use super::index::extend;
use super::jobs::Model;
use super::output::{Output, talk, visible};
use super::query::say_limits;
use super::run_log::RunLog;
use super::scope::scope;
use super::toolbox;
use super::write::write_whole;
use crate::ask::{self, Answer, Asked, Event, Question, Trail};
use crate::config::Config;
use crate::error::{ErrorCode, Failure, Result};
use crate::llm::Speed;
use crate::memory::Recalled;
use crate::retrieval::Engine;
use crate::runs::{Checking, Mode};
use crate::sandbox::Sandbox;
use crate::tools::Caller;
use crate::verify::VerifyOptions;

pub fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    if args.question.trim().is_empty() {
        return Err(Failure::new(ErrorCode::InvalidQuery, "the question is blank")
            .with_hint("local-agent ask \"your question\""));
    }
    let loaded = context.load()?;
    let config = &loaded.config;
    let chosen = ask::choose(config, &args.question, speed(args))?;
    let sandbox = context.sandbox(config)?;
    let model = Model::configured(context, config)?;
    let subject = Subject::of(config, args, &sandbox, &model)?;
    let question = Question {
        scope: scope(config, &args.scope)?,
        strict: args.strict || config.ask.strict,
        ..question(config, &args.question)
    };
    let recalled = super::memory::recall(config, question.text)?;
    let log = RunLog::begin(context, &loaded, Mode::Ask, question.text, &subject.checking(&question))?;
    let progress = Progress::new();
    let mut observe = |event: &Event<'_>| progress.tell(event);
    // Who embeds is asked only when there is something to embed.
    let embedded = AtomicBool::new(false);
    let load = || {
        embedded.store(true, Ordering::Relaxed);
        model.load()
    };
    let asked = match &subject {
        Subject::File { path, named_by_question } => {
            let question = ask::FileQuestion {
                text: question.text,
                file: path,
                named_by_question: *named_by_question,
                max_chars: config.llm.max_chars_full_read,
                verify: question.verify,
                strict: question.strict,
            };
            ask::ask_file(&question, &sandbox, &chosen, &mut observe, load)
        }
        Subject::Notes(engine) => {
            let factory = toolbox::factory(context, config, Caller::Model, log.id())?;
            let tools = args.tools.then(|| ask::Toolbox::new(&factory, &config.tools));
            ask::ask_with(&question, engine, &sandbox, &chosen, tools.as_ref(), &mut observe, load)
        }
    };
    progress.finish();
    let embeds = model.is_server() && embedded.into_inner();
    let run = log.end(context, config, &asked, embeds, &recalled)?;
    let Asked { answer, trail } = asked;
    let answer = answer?;
    if let Some(file) = &args.snapshot_out {
        write_snapshot(&context.environment.cwd.join(file), &answer)?;
    }
    if args.json {
        let mut body = report(context, config, args, &answer, &trail);
        body["memory"] = json!(recalled);
        extend(&mut body, run);
        context.out.json(body);
    } else {
        print(context.out, config, &answer);
        print_memory(context.out, &recalled);
        say_who(&trail);
        for path in &answer.packed.index_stale {
            talk(&format!("stale: {path} changed or went since it was indexed (fix: local-agent index)"));
        }
        if answer.file.is_none() {
            say_limits(&answer.coverage, &answer.stale);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What the question is asked of.
enum Subject {
    /// One file; whether the question itself names it.
    File { path: String, named_by_question: bool },
    /// Everything that is indexed.
    Notes(Box<Engine>),
}

impl Subject {
    /// A question that is limited to a part of the notes is asked of that part, whatever file it names.
    fn of(config: &Config, args: &Args, sandbox: &Sandbox, model: &Model) -> Result<Self> {
        if let Some(path) = &args.read {
            return Ok(Self::File { path: path.clone(), named_by_question: false });
        }
        let ScopeArgs { source, path, tag, after, before } = &args.scope;
        let limited = !source.is_empty() || !path.is_empty() || !tag.is_empty() || after.is_some() || before.is_some();
        // With tools the model reads what it likes; the question is asked of all notes.
        if let Some(path) = (!limited && !args.tools).then(|| ask::named_file(&args.question, sandbox)).flatten() {
            return Ok(Self::File { path, named_by_question: true });
        }
        let fingerprint = model.fingerprint()?;
        let (lexical, vectors) = (config.lexical_dir(), config.vectors_dir());
        Engine::open(&config.index.db_path, &lexical, &vectors, Some(&fingerprint)).map(Box::new).map(Self::Notes)
    }

    /// How strictly an answer about it is judged.
    fn checking(&self, question: &Question<'_>) -> Checking {
        let options = match self {
            Self::File { .. } => ask::file_options(question.verify),
            Self::Notes(_) => question.verify,
        };
        Checking::new(&options, question.strict)
    }
}

fn speed(args: &Args) -> Speed {
    match (args.fast, args.big) {
        (true, _) => Speed::Fast,
        (_, true) => Speed::Big,
        _ => Speed::Auto,
    }
}

/// Says on stderr who answered and why, when a chat model was asked for or could have been.
pub(super) fn say_who(trail: &Trail) {
    match &trail.model {
        Some(model) => {
            for round in &trail.rounds {
                for step in &round.steps {
                    talk(&format!(
                        "tool: {} {} ({}, {} bytes)",
                        visible(&step.name),
                        visible(&step.args.to_string()),
                        step.outcome,
                        step.bytes
                    ));
                }
                if let Some(codes) = &round.refused {
                    talk(&format!("refused: {} ({codes})", round.purpose.as_str()));
                }
            }
            let calls = trail.rounds.len();
            let asked = if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
            talk(&format!(
                "model: {} ({}, {asked} to {}; {})",
                model.name, model.provider, model.endpoint, trail.provider_why
            ));
            model.warnings.iter().for_each(|warning| talk(&format!("warning: {warning}")));
        }
        None if trail.provider_why.contains("not at hand") => talk(&format!("extractive: {}", trail.provider_why)),
        None => {}
    }
}

/// What a person sees while a model writes: who is asked and how much has come, never what.
pub(super) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn new() -> Self {
        let shown = std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self(ProgressBar::with_draw_target(None, target).with_style(ProgressStyle::default_spinner()))
    }

    pub(super) fn tell(&self, event: &Event<'_>) -> Result<()> {
        match event {
            Event::Frozen { .. } => {}
            Event::Asking { model, purpose } => {
                let what = match purpose {
                    ask::Purpose::Acquire => "which file",
                    ask::Purpose::Draft | ask::Purpose::Half => "draft",
                    ask::Purpose::Format => "draft again, its form was not right",
                    ask::Purpose::Repair => "draft again, the first one was refused",
                    ask::Purpose::Turn => "a turn with tools",
                    ask::Purpose::Chat => "a reply",
                };
                self.0.enable_steady_tick(std::time::Duration::from_millis(120));
                self.0.set_message(format!("{} at {}: {what}", model.name, model.endpoint));
            }
            Event::Receiving { bytes } => self.0.set_prefix(format!("{bytes} bytes")),
            Event::Round(round) => self.0.set_message(match &round.refused {
                Some(codes) => format!("refused: {codes}"),
                None => "passed".to_owned(),
            }),
        }
        Ok(())
    }

    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
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

fn report(context: &Context, config: &Config, args: &Args, answer: &Answer, trail: &Trail) -> Value {
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
        "provider": trail.provider,
        "provider_why": trail.provider_why,
        "model": trail.model,
        "rounds": trail.rounds.iter().map(round).collect::<Vec<_>>(),
        "sent_to": trail.sent_to,
        "verified": config.ask.show_as_verified && answer.text.is_some(),
        "snapshot_id": answer.packed.snapshot.id(),
        "evidence": evidence,
        "freshness": answer.packed.freshness,
        "index_stale": answer.packed.index_stale,
        "citation_validation": answer.report,
        "citation_validation_footer": answer.report.as_ref().map(|report| report.footer()),
        "scope": if answer.file.is_some() { "file" } else { "notes" },
        "file": answer.file,
        "coverage": answer.coverage,
        "stale": answer.stale,
        "warnings": config.warnings,
    });
    extend(&mut body, context.roots());
    body
}

/// One call of a model, without any words of it: what was refused is in the run's record.
pub(super) fn round(round: &ask::Round) -> Value {
    json!({
        "purpose": round.purpose,
        "prompt_sha256": round.call.prompt_sha256,
        "snapshot_id": round.snapshot.as_ref().map(crate::evidence::EvidenceSnapshot::id),
        "prompt_tokens": round.call.reply.as_ref().and_then(|r| r.prompt_tokens),
        "reply_tokens": round.call.reply.as_ref().and_then(|r| r.reply_tokens),
        "refused": round.refused,
        "report_sha256": round.report.as_ref().map(|r| r.sha256),
        "tools": round.steps.iter().map(step).collect::<Vec<_>>(),
    })
}

/// One call of a tool, without its result.
fn step(step: &ask::ToolStep) -> Value {
    json!({
        "name": step.name,
        "args": step.args,
        "outcome": step.outcome,
        "bytes": step.bytes,
        "labels": step.labels,
    })
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
            // An answer about one file ends with its own footer.
            if let Some(report) = answer.report.as_ref().filter(|_| answer.file.is_none()) {
                out.line("");
                out.line(&out.dim(&report.footer()));
            }
        }
        None if answer.report.as_ref().is_some_and(|r| !r.ok) => out.line("There is no answer that can be shown."),
        None if answer.file.is_some() => out.line("The file holds nothing that answers this."),
        None => out.line("The notes hold nothing that answers this."),
    }
    if let Some(why) = &answer.why {
        out.line(&out.shown(why));
    }
}
