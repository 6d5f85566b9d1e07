//! Reference pages generated from the code, so that they are always up to date: `docs/cli.md`,
//! `docs/codes.md`.

use std::fmt::Write as _;

use clap::CommandFactory as _;

use super::args::Cli;
use crate::doctor;
use local_agent_agent::runs::Trouble;
use local_agent_text::error::ErrorCode;
use local_agent_verify as verify;

/// `docs/cli.md`: the help of every command. The options shared by all commands appear once, under
/// the program's own name.
pub fn cli_reference() -> String {
    let mut out = String::from(
        "# Command line\n\nGenerated from the program's own help. Every command also takes the global \
         options below.\n",
    );
    let mut root = Cli::command().term_width(100).disable_help_subcommand(true);
    root.build();
    page(&mut out, &mut root, "");
    out
}

fn page(out: &mut String, command: &mut clap::Command, parents: &str) {
    let name = if parents.is_empty() {
        command.get_name().to_owned()
    } else {
        format!("{parents} {}", command.get_name())
    };
    let help = if parents.is_empty() {
        command.render_long_help()
    } else {
        without_globals(command).render_long_help()
    };
    let help = help.to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(
        out,
        "\n## `{name}`\n\n```text\n{}\n```\n",
        help.join("\n").trim_end()
    );
    for sub in command
        .get_subcommands_mut()
        .filter(|sub| sub.get_name() != "help")
    {
        page(out, sub, &name);
    }
}

/// The command with the shared options hidden, including `--help` and `--version`.
fn without_globals(command: &clap::Command) -> clap::Command {
    let hidden = |arg: clap::Arg| {
        let is_global = arg.is_global_set() || matches!(arg.get_id().as_str(), "help" | "version");
        arg.hide(is_global)
    };
    command.clone().mut_args(hidden)
}

/// `docs/codes.md`: every stable code with its meaning.
pub fn codes_reference() -> String {
    let mut out = String::from(
        "# Codes\n\nGenerated from the tables in the source. A code never changes its meaning.\n\n\
         ## Errors\n\nExit code 1; 2 when the command line cannot be read. `error_code` in JSON.\n\n| code | meaning |\n| --- | --- |\n",
    );
    for code in ErrorCode::ALL {
        let _ = writeln!(out, "| `{code}` | {} |", code.meaning());
    }
    out.push_str("\n## Doctor\n\n| code | meaning |\n| --- | --- |\n");
    for (code, meaning) in doctor::codes() {
        let _ = writeln!(out, "| `{code}` | {meaning} |");
    }
    out.push_str(
        "\nCodes of the ancestor that another one says now:\n\n| code | now |\n| --- | --- |\n",
    );
    for (code, now) in doctor::retired_codes() {
        let _ = writeln!(out, "| `{code}` | `{now}` |");
    }
    out.push_str(
        "\n## Records of runs\n\nFindings of `runs verify`.\n\n| code | meaning | fails |\n| --- | --- | --- |\n",
    );
    for (trouble, meaning, fails) in Trouble::TABLE {
        let _ = writeln!(
            out,
            "| `{}` | {meaning} | {} |",
            trouble.as_str(),
            if *fails { "yes" } else { "no" }
        );
    }
    out.push_str("\n## Verification\n\n| code | meaning | example |\n| --- | --- | --- |\n");
    for code in verify::Code::ALL {
        let _ = writeln!(
            out,
            "| `{code}` | {} | {} |",
            code.meaning(),
            code.example()
        );
    }
    out
}
