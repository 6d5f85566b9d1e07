//! `serve`: the operations over HTTP, for this machine.
//!
//! | file | contents |
//! | --- | --- |
//! | `mod` | starting it |
//! | `tokens` | the tokens of the owner and of others |
//! | `views` | what each visitor sees, from the configuration as it is now |
//! | `bodies` | the operations, with the results of the command line's `--json` |

mod bodies;
mod tokens;
mod views;

use std::process::ExitCode;

use serde::Serialize;

use super::args::{Serve as Args, ServeCommand};
use super::context::Context;
use crate::serve::{self, Listening, Settings};
use local_agent_text::error::Result;

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    match &args.command {
        Some(ServeCommand::Token { command, renew }) => match command {
            None => tokens::own(context, *renew),
            Some(command) => tokens::change(context, command),
        },
        None => start(context, args),
    }
}

fn start(context: &Context, args: &Args) -> Result<ExitCode> {
    let made = views::ConfiguredViews::open(context)?;
    let settings = Settings {
        listen: args.listen,
        behind_proxy: args.behind_proxy.clone(),
        open: args.open,
        state_dir: made.state_dir(),
        per_minute: args.requests_per_minute,
    };
    serve::serve(Box::new(made), &settings, |listening| {
        say(context, listening);
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What `serve --json` prints first.
#[derive(Serialize)]
struct ListeningView<'a> {
    listening: String,
    url: &'a str,
    link: Option<&'a str>,
}

/// Prints the address of the server as the first line on stdout.
fn say(context: &Context, listening: &Listening) {
    let Listening { address, url, link } = listening;
    if context.out.json {
        let view = ListeningView {
            listening: address.to_string(),
            url,
            link: link.as_deref(),
        };
        if let Ok(body) = context.body(&view) {
            context.out.json(body);
        }
        return;
    }
    context.out.line(url);
    if let Some(link) = link {
        context.out.line(link);
    }
}
