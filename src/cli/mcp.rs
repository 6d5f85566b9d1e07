//! `mcp`: serves agents over stdin and stdout.

use std::path::Path;
use std::process::ExitCode;

use super::args::{Mcp as Args, McpCommand, OWN_SERVER};
use super::context::Context;
use super::enter::Needs;
use super::hints::here;
use super::output::talk;
use super::{mcp_clients, toolbox};
use crate::mcp::{self, Service};
use crate::serve::{RunningServer, running};
use local_agent_agent::config::Config;
use local_agent_agent::operations::Library;
use local_agent_agent::operations::privacy;
use local_agent_agent::operations::root_identity::RootIdentities;
use local_agent_agent::tools::{Caller, Tool, ToolFactory};
use local_agent_files::sandbox::Confinement;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    match &args.command {
        Some(McpCommand::Install(args)) => mcp_clients::install(context, args),
        Some(McpCommand::Uninstall { place }) => mcp_clients::uninstall(context, place),
        Some(McpCommand::Status { client, file }) => {
            mcp_clients::status(context, *client, file.as_deref())
        }
        None => match &args.via_server {
            Some(url) => relay(context, url),
            None => serve(context),
        },
    }
}

fn serve(context: &Context) -> Result<ExitCode> {
    let mut loaded = context.load()?;
    // A person may name any of their files. An agent may not, whatever the configuration says.
    loaded.config.security.allow_any_path = false;
    let config = &loaded.config;
    if config.sources.is_empty() {
        let fix = here(config.first_step());
        talk(&format!(
            "no sources are configured, so there is nothing to serve (fix: {fix})"
        ));
    }
    let files = toolbox::factory(context, config, Caller::Agent, None)?;
    offers_exist(config, &files)?;
    let confined = context.enter(config, &Needs::state())? != Confinement::Absent;
    let service = Service {
        confined_to: confined.then(|| RootIdentities::of(config)),
        audit: toolbox::audit(config, &files, None),
        files,
        private: privacy::kept_from_agents(config),
        library: Library::for_server(config, Some(context.embedding(config)?))
            .with_reranker(config, context.reranker(config)?),
        roots: context.roots(),
        log: Box::new(talk),
        today: super::ask::today,
        loaded,
    };
    mcp::serve(service, rmcp::transport::stdio_pipes)?;
    Ok(ExitCode::SUCCESS)
}

/// Serves the client by passing its calls to a running `serve`: the one at `url`, or without an
/// address the one of the state folder.
fn relay(context: &Context, url: &str) -> Result<ExitCode> {
    let (own, certificate, url) = match url {
        OWN_SERVER => {
            let state = context.load()?.config.state_dir;
            let server = own_server(&state)?;
            let (certificate, url) = (server.certificate_sha256, server.url.clone());
            (Some((state, server)), certificate, url)
        }
        url => (None, certificate_at(context, url), url.to_owned()),
    };
    let endpoint = mcp::endpoint(&url)?;
    let token = match context.environment.server_token() {
        Some(token) => token.to_owned(),
        None => kept_token(context)?,
    };
    // Another program may listen at the address of a server that has ended.
    let still_there = move || match &own {
        Some((state, before)) => own_server(state).and_then(|now| same_server(&now, before)),
        None => Ok(()),
    };
    let server = mcp::FarAddress {
        endpoint,
        token,
        certificate,
        still_there: Box::new(still_there),
    };
    mcp::relay(server, rmcp::transport::stdio_pipes)?;
    Ok(ExitCode::SUCCESS)
}

/// The server that runs on this state folder.
///
/// # Errors
/// `SERVER_UNREACHABLE` when none does.
fn own_server(state_dir: &Path) -> Result<RunningServer> {
    running(state_dir)?.ok_or_else(|| {
        let message = format!("no server runs on {}", state_dir.display());
        Failure::new(ErrorCode::ServerUnreachable, message).with_command("local-agent serve")
    })
}

/// The certificate of the state folder's server, if it runs at this address.
fn certificate_at(context: &Context, url: &str) -> Option<Sha256> {
    let state = context.load().ok()?.config.state_dir;
    let server = running(&state).ok().flatten()?;
    let is_same = mcp::endpoint(url).ok()? == mcp::endpoint(&server.url).ok()?;
    server.certificate_sha256.filter(|_| is_same)
}

/// Checks that the server listens where it did at the start, with the same certificate.
fn same_server(now: &RunningServer, before: &RunningServer) -> Result<()> {
    if now.url == before.url && now.certificate_sha256 == before.certificate_sha256 {
        return Ok(());
    }
    let message = match now.url == before.url {
        true => "the server has another certificate now".to_owned(),
        false => format!(
            "the server listens at {} now, no longer at {}",
            now.url, before.url
        ),
    };
    Err(Failure::new(ErrorCode::ServerUnreachable, message).with_hint("start the client again"))
}

/// The token of the state folder. This does not create one.
fn kept_token(context: &Context) -> Result<String> {
    let config = context.load()?.config;
    crate::serve::kept_token(&config.state_dir)?.ok_or_else(|| {
        let message = format!("{} holds no token for a server", config.state_dir.display());
        Failure::new(ErrorCode::ServerUnauthorized, message).with_command("local-agent serve token")
    })
}

/// Checks that everything the configuration offers to agents exists. Otherwise a typo would
/// silently withhold it.
pub(super) fn offers_exist(config: &Config, files: &ToolFactory) -> Result<()> {
    let (operations, readers) = (mcp::names().collect::<Vec<_>>(), files.read_only());
    let readers: Vec<&str> = readers.iter().map(Tool::name).collect();
    all_known(
        "mcp.operations",
        &config.mcp.operations,
        &operations,
        "no operation",
    )?;
    all_known(
        "mcp.tools",
        &config.mcp.tools,
        &readers,
        "no tool that reads and is allowed",
    )
}

/// Checks that every name is a known one.
fn all_known(key: &str, wanted: &[String], known: &[&str], what: &str) -> Result<()> {
    let Some(name) = wanted.iter().find(|name| !known.contains(&name.as_str())) else {
        return Ok(());
    };
    Err(Failure::new(
        ErrorCode::ConfigError,
        format!("`{key}` names `{name}`, which is {what}"),
    )
    .with_hint(format!("use some of these: {}", known.join(", "))))
}
