//! `chat`: one call of the chat model, or with `--tools` the bounded loop. The output is not
//! checked, and a notice says so.

use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::answer_view::RoundView;
use super::args::Chat as Args;
use super::ask::{Progress, say_who};
use super::context::Context;
use super::enter::Needs;
use super::index::extend;
use super::output::talk;
use super::toolbox;
use local_agent_agent::ask::{self, Chatted, Event};
use local_agent_agent::llm::Model;
use local_agent_agent::operations::privacy;
use local_agent_agent::operations::run_log::RunLog;
use local_agent_agent::runs::{Checking, Mode};
use local_agent_agent::tools::Caller;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_verify::VerifyOptions;

/// The output of `chat --json`, without the roots and the run.
#[derive(Serialize, JsonSchema)]
pub(super) struct ChatView<'a> {
    prompt: &'a str,
    outcome: &'static str,
    text: &'a str,
    verified: bool,
    provider: &'static str,
    provider_why: &'a str,
    model: Option<&'a Model>,
    rounds: Vec<RoundView<'a>>,
    sent_to: &'a [String],
    warnings: &'a [String],
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    if args.prompt.trim().is_empty() {
        return Err(Failure::new(ErrorCode::InvalidQuery, "the prompt is blank")
            .with_command("local-agent chat \"your prompt\""));
    }
    let loaded = context.load()?;
    let config = &loaded.config;
    context.enter(config, &Needs::state())?;
    let chosen = ask::choose_for_chat(config, &args.prompt)?;
    let checking = Checking::new(&VerifyOptions::default(), false);
    let log = RunLog::begin(
        &loaded,
        &context.roots(),
        "cli",
        Mode::Chat,
        &args.prompt,
        &checking,
    )?;
    let progress = Progress::new();
    let mut observe = |event: &Event<'_>| progress.tell(event);
    let factory = toolbox::factory(context, config, Caller::Model, log.id())?;
    let factory = privacy::tools_for(config, &chosen, factory)?;
    let tools = args
        .tools
        .then(|| ask::Toolbox::new(&factory, &config.tools));
    let chatted = ask::chat(&args.prompt, &chosen, tools.as_ref(), &mut observe);
    progress.finish();
    let run = log.end_chat(config, &chatted)?;
    let Chatted { text, trail } = chatted;
    let text = text?;
    if context.out.json {
        let mut body = context.body(&ChatView {
            prompt: &args.prompt,
            outcome: "unverified",
            text: &text,
            verified: false,
            provider: trail.provider,
            provider_why: &trail.provider_why,
            model: trail.model.as_ref(),
            rounds: trail.rounds.iter().map(RoundView::from).collect(),
            sent_to: &trail.sent_to,
            warnings: &config.warnings,
        })?;
        extend(&mut body, run);
        context.out.json(body);
        return Ok(ExitCode::SUCCESS);
    }
    context.out.line(&context.out.shown(&text));
    if let Some(path) = run.get("run_record").and_then(|path| path.as_str()) {
        context.out.line("");
        context.out.line(&format!("[logged] {path}"));
    }
    say_who(&trail, false);
    talk(
        "unverified: these are the model's own words; `local-agent ask` checks an answer against your notes",
    );
    Ok(ExitCode::SUCCESS)
}
