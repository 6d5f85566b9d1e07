//! Invalid command lines: the parser's message for people, the error envelope for programs.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::CommandFactory as _;

use super::args::{Cli, ColorWhen};
use super::context;
use super::output::{Output, TerminalWishes};
use super::spellings;
use local_agent_text::error::{ErrorCode, Failure};

/// Prints the fault of `args` (without the program's name), or the requested help. The exit code is
/// 2, or 0 for help.
pub(super) fn say(mut error: clap::Error, args: &[OsString]) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let names = command_names(args);
    let command = names.first().map_or("", String::as_str);
    let tip = spellings::say_ours(&mut error, args, command);
    if wants_json(args) {
        let failure = Failure::new(ErrorCode::InvalidArgs, sentence(&error));
        let failure = match tip {
            Some(tip) => failure.with_hint(tip),
            None => failure.with_command(help(&names)),
        };
        let out = Output::new(true, ColorWhen::Never, TerminalWishes::default());
        out.failure(&failure, &context::roots(None, None));
    } else {
        let _ = error.print();
    }
    ExitCode::from(2)
}

/// Whether the words of the line request JSON. The line could not be parsed, so options are not
/// known.
fn wants_json(args: &[OsString]) -> bool {
    let mut words = args
        .iter()
        .take_while(|arg| *arg != "--")
        .map(|arg| arg.to_string_lossy());
    words.any(|word| word == "--json" || word == "--jsonl" || word.starts_with("--json="))
}

/// The parser's message, without its tips and the usage.
fn sentence(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = first
        .trim_start_matches("error: ")
        .split_whitespace()
        .collect();
    words.join(" ")
}

/// The command that shows the usage of the given subcommand.
fn help(names: &[String]) -> String {
    let line: Vec<&str> = names.iter().map(String::as_str).collect();
    match line.as_slice() {
        [] => "local-agent --help".to_owned(),
        names => format!("local-agent {} --help", names.join(" ")),
    }
}

/// The command that a line names, with its subcommands, each by its usual name.
fn command_names(args: &[OsString]) -> Vec<String> {
    let mut command = &Cli::command();
    let mut names = Vec::new();
    let mut before = "";
    for name in args.iter().filter_map(|arg| OsStr::to_str(arg)) {
        // A word after an option may be its value.
        let is_value = std::mem::replace(&mut before, name).starts_with('-');
        if let Some(found) = command.find_subcommand(name).filter(|_| !is_value) {
            names.push(found.get_name().to_owned());
            command = found;
        }
    }
    names
}
