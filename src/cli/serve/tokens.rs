//! `serve token`: the owner's token, and those of others.

use std::borrow::Cow;
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::{TokenCommand, TokenRole};
use crate::cli::context::{Context, now};
use crate::cli::enter::Needs;
use crate::serve::{self, VisitorRole};
use local_agent_agent::config::{Config, unknown_source};
use local_agent_text::error::Result;

/// The output of `serve token --json`, without the roots.
#[derive(Serialize, JsonSchema)]
pub(in crate::cli) struct OwnTokenView<'a> {
    token: &'a str,
    file: Cow<'a, str>,
    renewed: bool,
}

/// The output of `serve token add --json`, without the roots. The token is shown only here.
#[derive(Serialize, JsonSchema)]
pub(in crate::cli) struct AddedTokenView<'a> {
    name: &'a str,
    role: VisitorRole,
    sources: &'a [String],
    token: &'a str,
}

/// The output of `serve token list --json`, without the roots.
#[derive(Serialize, JsonSchema)]
pub(in crate::cli) struct TokensView<'a> {
    count: usize,
    tokens: Vec<TokenView<'a>>,
}

/// One named token.
#[derive(Serialize, JsonSchema)]
pub(in crate::cli) struct TokenView<'a> {
    name: &'a str,
    role: VisitorRole,
    sources: &'a [String],
    made_at: &'a str,
}

/// The output of `serve token remove --json`, without the roots.
#[derive(Serialize, JsonSchema)]
pub(in crate::cli) struct RemovedTokenView<'a> {
    name: &'a str,
    removed: bool,
}

/// Prints the owner's token.
pub(super) fn own(context: &Context, renew: bool) -> Result<ExitCode> {
    let config = context.load()?.config;
    context.enter(&config, &Needs::state())?;
    let token = serve::token(&config.state_dir, renew)?;
    let file = config.state_dir.join(serve::TOKEN_FILE);
    let view = OwnTokenView {
        token: &token,
        file: file.to_string_lossy(),
        renewed: renew,
    };
    context.say(&view, &token)
}

/// Adds, lists or removes a named token.
pub(super) fn change(context: &Context, command: &TokenCommand) -> Result<ExitCode> {
    match command {
        TokenCommand::Add { name, role, source } => {
            let config = context.load()?.config;
            add(context, &config, name, *role, source)
        }
        TokenCommand::List => list(context, &context.load_for_state()?.config),
        TokenCommand::Remove { name } => {
            let config = context.load_for_state()?.config;
            context.enter(&config, &Needs::state())?;
            serve::remove_token(&config.state_dir, name)?;
            let view = RemovedTokenView {
                name,
                removed: true,
            };
            context.say(&view, &format!("removed: {name}"))
        }
    }
}

fn add(
    context: &Context,
    config: &Config,
    name: &str,
    role: TokenRole,
    sources: &[String],
) -> Result<ExitCode> {
    let is_known = |name: &String| config.sources.iter().any(|one| one.name.as_str() == name);
    if let Some(other) = sources.iter().find(|name| !is_known(name)) {
        let known = config.sources.iter().map(|one| one.name.as_str());
        return Err(unknown_source(&context.out.shown(other), known));
    }
    context.enter(config, &Needs::state())?;
    let role = VisitorRole::from(role);
    let token = serve::add_token(&config.state_dir, name, role, sources, &now())?;
    let view = AddedTokenView {
        name,
        role,
        sources,
        token: &token,
    };
    context.say(&view, &token)
}

fn list(context: &Context, config: &Config) -> Result<ExitCode> {
    context.enter(config, &Needs::nothing())?;
    let tokens = serve::named_tokens(&config.state_dir)?;
    let rows = tokens.iter().map(|token| TokenView {
        name: &token.name,
        role: token.role,
        sources: &token.sources,
        made_at: &token.made_at,
    });
    let view = TokensView {
        count: tokens.len(),
        tokens: rows.collect(),
    };
    let mut lines: Vec<String> = view.tokens.iter().map(line).collect();
    if lines.is_empty() {
        lines.push("There is no named token; the owner's is `local-agent serve token`.".to_owned());
    }
    context.say(&view, &lines.join("\n"))
}

fn line(token: &TokenView<'_>) -> String {
    let sources = if token.sources.is_empty() {
        "all sources".to_owned()
    } else {
        token.sources.join(", ")
    };
    let (name, role) = (token.name, token.role.as_str());
    format!("{name}  {role}  {sources}  since {}", token.made_at)
}

impl From<TokenRole> for VisitorRole {
    fn from(role: TokenRole) -> Self {
        match role {
            TokenRole::Search => Self::Search,
            TokenRole::Ask => Self::Ask,
            TokenRole::Tools => Self::Tools,
            TokenRole::Owner => Self::Owner,
        }
    }
}
