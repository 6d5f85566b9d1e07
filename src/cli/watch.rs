//! `watch`: keeps index and embeddings up to date.

use std::process::ExitCode;
use std::time::Duration;

use super::args::{USUAL_DEBOUNCE, Unit, Watch as Args};
use super::context::Context;
use super::enter::Needs;
use super::output::{Output, talk};
use crate::watch::{WATCH, WatchEvent, WatchOptions, cron, launchd, systemd, task, watch};
use local_agent_agent::config::Loaded;
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let loaded = context.load()?;
    if let Some(unit) = args.print_unit {
        return print_unit(context, &loaded, unit, args);
    }
    let config = loaded.config;
    if config.sources.is_empty() {
        return Err(
            Failure::new(ErrorCode::IndexError, "no sources are configured")
                .with_fix(Fix::ConfigureByCommand, config.first_step()),
        );
    }
    let files = context.model(&config)?;
    let model = if args.no_embed {
        None
    } else {
        Some(context.embedding(&config)?)
    };
    context.make_state(&config)?;
    let places = || context.places(&config, &Needs::state());
    let options = WatchOptions {
        places: &places,
        config: &config,
        files: &files,
        model: model.as_ref(),
        debounce: Duration::from_millis(args.debounce),
        notifications: !args.no_notifications,
        poll: args.poll.map(Duration::from_secs),
    };
    match watch(&options, &|event| report(context.out, args, event))? {}
}

fn report(out: Output, args: &Args, event: &WatchEvent) {
    if out.json {
        match serde_json::to_string(event) {
            Ok(line) => out.line(&line),
            Err(e) => talk(&format!("error: {e}")),
        }
        return;
    }
    match event {
        WatchEvent::Watching { why: None, .. } if args.quiet => {}
        WatchEvent::Watching { by, why: None } => talk(&format!("watching by {by}")),
        WatchEvent::Watching { by, why: Some(why) } => {
            talk(&format!("watching by {by}: {why}"));
        }
        WatchEvent::Updated { .. } if args.quiet => {}
        WatchEvent::Updated {
            index,
            embed,
            took_ms,
        } => {
            out.line(&format!(
                "updated: {} changed, {} gone, {} embedded; {} documents in {} chunks ({took_ms} ms)",
                index.docs_changed,
                index.docs_pruned,
                embed.as_ref().map_or(0, |embed| embed.embedded_written),
                index.total_docs,
                index.total_chunks,
            ));
            for error in &index.errors {
                talk(&format!("error: {error}"));
            }
        }
        WatchEvent::PutOff { why } => talk(&format!("put off: {why}")),
        WatchEvent::Failed {
            error_code,
            error_message,
            hint,
        } => {
            talk(&format!("error[{error_code}]: {error_message}"));
            if let Some(hint) = hint {
                talk(&format!("fix: {hint}"));
            }
        }
    }
}

fn print_unit(context: &Context, loaded: &Loaded, unit: Unit, args: &Args) -> Result<ExitCode> {
    let program = std::env::current_exe().map_err(|e| {
        Failure::new(
            ErrorCode::ConfigError,
            format!("the program cannot find its own file: {e}"),
        )
    })?;
    let program = program.to_string_lossy().into_owned();
    let mut named = context.again(loaded);
    named.extend(context.server_option());
    let command: Vec<String> = [program.clone()]
        .into_iter()
        .chain(named.clone())
        .chain(["watch".to_owned()])
        .chain(options(args))
        .collect();
    if unit == Unit::Cron && (args.debounce != USUAL_DEBOUNCE || args.poll.is_some()) {
        talk("cron decides when these jobs run; --debounce and --poll are not in them");
    }
    context.print_text(match unit {
        Unit::Systemd => systemd(&WATCH, &command),
        Unit::Launchd => launchd(&WATCH, &command),
        Unit::Task => task(&WATCH, &command),
        // cron decides itself when to look, and its jobs are quiet.
        Unit::Cron => cron(&[program], &named, !args.no_embed),
    })
}

/// The options of `watch` that differ from their defaults.
fn options(args: &Args) -> Vec<String> {
    let mut words = Vec::new();
    if args.debounce != USUAL_DEBOUNCE {
        words.extend(["--debounce".to_owned(), args.debounce.to_string()]);
    }
    if let Some(seconds) = args.poll {
        words.extend(["--poll".to_owned(), seconds.to_string()]);
    }
    for (is_set, name) in [
        (args.no_notifications, "--no-notifications"),
        (args.no_embed, "--no-embed"),
        (args.quiet, "--quiet"),
    ] {
        words.extend(is_set.then(|| name.to_owned()));
    }
    words
}
