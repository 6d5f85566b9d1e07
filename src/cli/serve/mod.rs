//! `serve`: the operations over HTTP, for this machine.
//!
//! | file | contents |
//! | --- | --- |
//! | `mod` | starting it |
//! | `tokens` | the tokens of the owner and of others |
//! | `views` | what each visitor sees, from the configuration as it is now |
//! | `daemon` | a server without a terminal |
//! | `bodies` | the operations, with the results of the command line's `--json` |

mod bodies;
pub(super) mod daemon;
pub(super) mod tokens;
mod views;

use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Serve as Args, ServeCommand};
use super::context::{Context, now};
use crate::serve::{self, Listening, Settings, TlsIdentity};
use local_agent_text::error::Result;

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    match &args.command {
        Some(ServeCommand::Token { command, renew }) => match command {
            None => tokens::own(context, *renew),
            Some(command) => tokens::change(context, command),
        },
        Some(ServeCommand::Stop) => daemon::stop(context),
        Some(ServeCommand::Status) => daemon::status(context),
        Some(ServeCommand::Link { name }) => daemon::link(context, name.as_deref()),
        None if args.open && daemon::is_at_work(context)? => daemon::link(context, None),
        None => match args.print_unit {
            Some(unit) => daemon::print_unit(context, &context.load()?, unit, args),
            None if args.daemon => daemon::start(context),
            None => start(context, args),
        },
    }
}

fn start(context: &Context, args: &Args) -> Result<ExitCode> {
    // This happens before the kernel confines the process.
    let tls = identity(context, args)?;
    let made = views::ConfiguredViews::open(context)?;
    let settings = Settings {
        listen: args.listen,
        tls,
        behind_proxy: args.behind_proxy.clone(),
        open: args.open,
        state_dir: made.state_dir(),
        per_minute: args.requests_per_minute,
        started_at: now(),
    };
    serve::serve(Box::new(made), &settings, |listening| {
        say(context, listening);
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The certificate with its key, if one is configured.
fn identity(context: &Context, args: &Args) -> Result<Option<TlsIdentity>> {
    let (Some(certificate), Some(key)) = (&args.tls_cert, &args.tls_key) else {
        return Ok(None);
    };
    let cwd = &context.environment.cwd;
    TlsIdentity::read(&cwd.join(certificate), &cwd.join(key)).map(Some)
}

/// The first output of `serve --json`.
#[derive(Serialize, JsonSchema)]
pub(in crate::cli) struct ListeningView<'a> {
    listening: String,
    url: &'a str,
    link: Option<&'a str>,
}

/// Prints the address of the server as the first line on stdout.
fn say(context: &Context, listening: &Listening) {
    let Listening { address, url, link } = listening;
    let view = ListeningView {
        listening: address.to_string(),
        url,
        link: link.as_deref(),
    };
    // It fails only if an address cannot be written as JSON.
    let _ = show(context, &view);
}

fn show(context: &Context, view: &ListeningView<'_>) -> Result<ExitCode> {
    let words = match view.link {
        Some(link) => format!("{}\n{link}", view.url),
        None => view.url.to_owned(),
    };
    context.say(view, &words)
}

impl Context {
    /// Prints the result of a command: the words or, with `--json`, the view.
    fn say(&self, view: &impl Serialize, words: &str) -> Result<ExitCode> {
        if self.out.json {
            self.out.json(self.body(view)?);
        } else {
            words
                .lines()
                .for_each(|line| self.out.line(&self.out.shown(line)));
        }
        Ok(ExitCode::SUCCESS)
    }
}
