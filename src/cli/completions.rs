//! `completions` and `man`: made from the same definition as the parser, so they cannot lag.

use std::process::ExitCode;

use clap::CommandFactory;

use super::args::{Cli, Completions, Man};
use super::context::Context;
use local_agent_text::error::{ErrorCode, Failure, Result};

pub fn run(args: &Completions) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "local-agent", &mut script);
    super::output::raw_stdout(&script);
    Ok(ExitCode::SUCCESS)
}

pub fn man(context: &Context, args: &Man) -> Result<ExitCode> {
    let fail = |e: std::io::Error| {
        Failure::new(
            ErrorCode::WriteError,
            format!("the manual cannot be written: {e}"),
        )
    };
    if let Some(dir) = &args.dir {
        let dir = context.environment.cwd.join(dir);
        std::fs::create_dir_all(&dir).map_err(fail)?;
        clap_mangen::generate_to(Cli::command(), &dir).map_err(fail)?;
        context.out.line(&format!("written: {}", dir.display()));
    } else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command())
            .render(&mut page)
            .map_err(fail)?;
        super::output::raw_stdout(&page);
    }
    Ok(ExitCode::SUCCESS)
}
