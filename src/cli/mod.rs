//! Command line, output, exit codes: the only module that prints, reads the environment, or ends
//! the process.
//!
//! Exit codes: 0 success (also if nothing was found) · 1 a typed failure · 2 invalid command line.

mod answer_view;
mod args;
mod ask;
mod chat;
mod claims;
mod clean;
mod client_config;
mod client_formats;
mod client_toml;
mod client_yaml;
mod completions;
mod config;
mod config_draft;
mod conflicts;
mod context;
mod docs;
mod doctor;
mod embed;
mod enter;
mod eval;
mod eval_attacks;
mod eval_calibrate;
mod eval_claims;
mod eval_drafts;
mod eval_natural;
mod eval_set;
mod folder_context;
mod get;
mod git;
mod hints;
mod import;
mod index;
mod init;
mod left_out;
mod links;
mod mcp;
mod mcp_clients;
mod memory;
mod models;
mod notes;
mod output;
mod progress;
mod query;
mod read;
mod runs;
mod schemas;
mod serve;
mod skill;
mod source;
mod spellings;
mod status;
mod terminal;
mod tool;
mod toolbox;
mod try_it;
mod usage;
mod verify;
mod watch;
mod wrap;
mod write;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser as _;

use self::args::{Cli, Command, ModeArg};
use self::context::{Context, Environment};
use self::output::{Output, TerminalWishes};
use local_agent_text::error::{ErrorCode, Failure, Result};

pub use docs::{cli_reference, codes_reference, models_reference};
pub use schemas::json_schemas;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    hush_guarded_panics();
    outlive_file_limits();
    let cli = match Cli::try_parse().and_then(args::checked) {
        Ok(cli) => cli,
        Err(e) => return usage::say(e, &std::env::args_os().skip(1).collect::<Vec<_>>()),
    };
    let json = wants_json(&cli);
    hints::keep_options(&cli.global);
    let environment = match stand_in(cli.global.directory.as_deref()).and_then(Environment::read) {
        Ok(environment) => environment,
        Err(failure) => {
            return Output::new(json, cli.global.color, TerminalWishes::default())
                .failure(&failure, &context::roots(None, None));
        }
    };
    let out = Output::new(json, cli.global.color, environment.wishes);
    let takes_wait = matches!(cli.command, Command::Index(_) | Command::Embed(_));
    let mut context = Context::new(environment, cli.global, out);
    match run(&mut context, cli.command) {
        Ok(code) => code,
        Err(failure) => {
            let situation = hints::Situation {
                first_step: context.first_step(),
                api_key_use: context.api_key_use(),
                takes_wait,
            };
            let failure = hints::completed(failure, situation);
            context.out.failure(&failure, &context.roots())
        }
    }
}

/// Makes a write beyond the system's file size limit (`ulimit -f`) fail instead of ending the
/// process. The failure then has a code, and unfinished files are removed.
fn outlive_file_limits() {
    #[cfg(unix)]
    // The flag is never read; it is enough that the signal is handled.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

/// Applies `-C`: all relative paths start from that folder, and the search for a configuration goes
/// up from it. Returns the folder before.
fn stand_in(dir: Option<&Path>) -> Result<Option<PathBuf>> {
    let before = std::env::current_dir().ok();
    let Some(dir) = dir else { return Ok(before) };
    std::env::set_current_dir(dir).map_err(|e| {
        Failure::new(
            ErrorCode::ConfigError,
            format!("{} cannot be changed to: {e}", dir.display()),
        )
        .with_hint(folder_hint(dir))
    })?;
    Ok(before)
}

/// The advice for a folder that cannot be entered. `-C` has another meaning in other programs.
fn folder_hint(dir: &Path) -> &'static str {
    let is_number = dir.to_str().is_some_and(|text| text.parse::<u32>().is_ok());
    if is_number {
        "-C is the folder to start in; a search ranks every note and needs no limit of candidates"
    } else {
        "name a folder that exists with -C"
    }
}

/// Silences the panics of a library on damaged search files. They are caught and reported once, as
/// a failure.
fn hush_guarded_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !local_agent_index::lexical::is_guarded() {
            usual(info);
        }
    }));
}

/// Whether stdout is for a program: JSON was requested in some form.
fn wants_json(cli: &Cli) -> bool {
    let lines = match &cli.command {
        Command::Query(args) | Command::Search(args) | Command::Vsearch(args) => {
            args.format(cli.global.json).is_json()
        }
        _ => false,
    };
    cli.global.json || lines
}

fn run(context: &mut Context, command: Command) -> Result<ExitCode> {
    match command {
        Command::Try(args) => try_it::run(context, &args),
        Command::Init(args) => init::run(context, &args),
        Command::Source(command) => source::run(context, &command.with_mask_read()),
        Command::Collection(command) => source::run_and_index(context, &command.with_mask_read()),
        Command::Context(command) => folder_context::run(context, &command),
        Command::Import(args) => import::run(context, &args),
        Command::Clean(args) => clean::run(context, &args),
        Command::Config(command) => config::run(context, &command),
        Command::Index(args) => index::run(context, &args),
        Command::Embed(args) => embed::run(context, &args),
        Command::Query(args) => query::run(context, &args, ModeArg::Hybrid),
        Command::Search(args) => query::run(context, &args, ModeArg::Lexical),
        Command::Vsearch(args) => query::run(context, &args, ModeArg::Vector),
        Command::Ask(args) => ask::run(context, &args),
        Command::Chat(args) => chat::run(context, &args),
        Command::Tool(command) => tool::run(context, &command),
        Command::Get(args) => get::run(context, &args),
        Command::MultiGet(args) => get::run_many(context, &args),
        Command::Ls(args) => notes::ls(context, &args),
        Command::Links(args) => notes::links(context, &args),
        Command::Backlinks(args) => notes::backlinks(context, &args),
        Command::Tags(args) => notes::tags(context, &args),
        Command::Similar(args) => notes::similar(context, &args),
        Command::Conflicts(args) => conflicts::run(context, &args),
        Command::Doctor(args) => doctor::run(context, &args),
        Command::Status(args) => status::run(context, &args),
        Command::Models(command) => models::run(context, &command),
        Command::Verify(args) => verify::run(context, &args),
        Command::Runs(command) => runs::run(context, &command),
        Command::Memory(command) => memory::run(context, &command),
        Command::Eval(command) => eval::run(context, &command),
        Command::Watch(args) => watch::run(context, &args),
        Command::Mcp(args) => mcp::run(context, &args),
        Command::Skill(command) => skill::run(context, &command),
        Command::Serve(args) => serve::run(context, &args),
        Command::Completions(args) => completions::run(context, &args),
        Command::Man(args) => completions::man(context, &args),
    }
}
