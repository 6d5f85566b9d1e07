//! `completions` and `man`: generated from the parser's definition, so that they are always up to
//! date.

use std::borrow::Cow;
use std::io::Write as _;
use std::process::{Command, ExitCode, Stdio};

use clap::CommandFactory as _;
use serde::Serialize;

use super::args::{Cli, Completions, Man};
use super::context::Context;
use local_agent_text::error::{ErrorCode, Failure, Result};

pub(super) fn run(context: &Context, args: &Completions) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "local-agent", &mut script);
    show(context, "script", &script, false)
}

/// What `man --dir --json` prints, without the roots.
#[derive(Serialize)]
struct ManualView<'a> {
    /// The folder with the pages.
    written: Cow<'a, str>,
}

/// Prints a text: in one JSON object, through the pager of `man` on a terminal, or unchanged.
fn show(context: &Context, field: &str, text: &[u8], is_page: bool) -> Result<ExitCode> {
    if context.out.json {
        let mut body = serde_json::Map::new();
        let text = String::from_utf8_lossy(text).into_owned();
        body.insert(field.to_owned(), text.into());
        context.out.json(context.body(&body)?);
    } else if !(is_page && context.out.terminal && paged(text)) {
        super::output::raw_stdout(text);
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows a manual page with `man`, which formats and pages it; `false` if no suitable `man` exists.
fn paged(page: &[u8]) -> bool {
    let child = Command::new("man")
        .args(["-l", "-"])
        .stdin(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        return false;
    };
    // The user may leave the pager early; that is not an error.
    let _ = child.stdin.take().map(|mut input| input.write_all(page));
    child.wait().is_ok_and(|status| status.success())
}

pub(super) fn man(context: &Context, args: &Man) -> Result<ExitCode> {
    if let Some(dir) = &args.dir {
        let dir = context.environment.cwd.join(dir);
        std::fs::create_dir_all(&dir).map_err(unwritable_manual)?;
        clap_mangen::generate_to(Cli::command(), &dir).map_err(unwritable_manual)?;
        if context.out.json {
            let view = ManualView {
                written: dir.to_string_lossy(),
            };
            context.out.json(context.body(&view)?);
        } else {
            context.out.line(&format!("written: {}", dir.display()));
        }
    } else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command_of(&args.command)?)
            .render(&mut page)
            .map_err(unwritable_manual)?;
        return show(context, "page", &page, true);
    }
    Ok(ExitCode::SUCCESS)
}

/// The command with this name, like `query` or `memory add`; without a name the whole program.
fn command_of(path: &[String]) -> Result<clap::Command> {
    let mut command = Cli::command();
    // Gives the subcommands their full names.
    command.build();
    for name in path {
        let Some(found) = command.find_subcommand(name) else {
            let message = format!("there is no command `{}`", path.join(" "));
            let failure = Failure::new(ErrorCode::InvalidArgs, message);
            return Err(failure.with_command("local-agent --help"));
        };
        command = found.clone();
        if let Some(whole) = command.get_display_name() {
            let whole = whole.to_owned();
            command = command.name(whole);
        }
    }
    Ok(command)
}

/// The failure for a manual that cannot be written.
fn unwritable_manual(e: std::io::Error) -> Failure {
    Failure::new(
        ErrorCode::WriteError,
        format!("the manual cannot be written: {e}"),
    )
}
