//! `mcp`: serves agents over stdin and stdout, and adds itself to their clients' configurations.

use std::process::ExitCode;

use serde_json::json;

use super::args::{Client, Mcp as Args, McpCommand};
use super::client_config;
use super::context::Context;
use super::enter::Needs;
use super::index::extend;
use super::output::talk;
use super::read::read_text;
use super::toolbox;
use super::write::write_whole;
use crate::mcp::{self, Service};
use local_agent_agent::config::Config;
use local_agent_agent::operations::Library;
use local_agent_agent::operations::privacy;
use local_agent_agent::operations::standing::Standing;
use local_agent_agent::tools::{Caller, Tool, ToolFactory};
use local_agent_files::sandbox::Confinement;
use local_agent_text::error::{ErrorCode, Failure, Result};

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    match &args.command {
        Some(McpCommand::Install { client, print, .. }) => install(context, *client, *print),
        None => serve(context),
    }
}

fn serve(context: &Context) -> Result<ExitCode> {
    let mut loaded = context.load()?;
    // A person may name any of their files; an agent may not, whatever the configuration says.
    loaded.config.security.allow_any_path = false;
    let config = &loaded.config;
    let files = toolbox::factory(context, config, Caller::Agent, None)?;
    offers_exist(config, &files)?;
    let confined = context.enter(config, &Needs::state())? != Confinement::Absent;
    let service = Service {
        confined_to: confined.then(|| Standing::of(config)),
        audit: toolbox::audit(config, &files, None),
        files,
        private: privacy::kept_from_agents(config),
        library: Library::that_stays(config, Some(context.embedding(config)?)),
        roots: context.roots(),
        log: Box::new(talk),
        today: super::ask::today,
        loaded,
    };
    mcp::serve(service, rmcp::transport::stdio_pipes)?;
    Ok(ExitCode::SUCCESS)
}

/// Checks that everything the configuration offers to agents exists: otherwise a typo would
/// silently withhold it.
pub(super) fn offers_exist(config: &Config, files: &ToolFactory) -> Result<()> {
    let (operations, readers) = (mcp::names().collect::<Vec<_>>(), files.read_only());
    let readers: Vec<&str> = readers.iter().map(Tool::name).collect();
    let check = |key: &str, wanted: &[String], known: &[&str], what: &str| {
        let Some(name) = wanted.iter().find(|name| !known.contains(&name.as_str())) else {
            return Ok(());
        };
        Err(Failure::new(
            ErrorCode::ConfigError,
            format!("`{key}` names `{name}`, which is {what}"),
        )
        .with_hint(format!("use of these: {}", known.join(", "))))
    };
    check(
        "mcp.operations",
        &config.mcp.operations,
        &operations,
        "no operation",
    )?;
    check(
        "mcp.tools",
        &config.mcp.tools,
        &readers,
        "no tool that reads and is allowed",
    )
}

/// Adds this program to a client's configuration; everything else in the file stays the same, byte
/// for byte.
fn install(context: &Context, client: Client, print: bool) -> Result<ExitCode> {
    let program = std::env::current_exe().map_err(|e| {
        Failure::new(
            ErrorCode::ConfigError,
            format!("the program does not know where it stands: {e}"),
        )
    })?;
    // The client starts the server in a folder of its choice.
    let mut args = context.again(&context.load()?);
    args.push("mcp".to_owned());
    let entry = client.entry(&program.to_string_lossy(), &args);
    if print {
        context
            .out
            .line(&client_config::alone(client.section(), &entry));
        return Ok(ExitCode::SUCCESS);
    }
    let file = client.file(context)?;
    let before = if file.exists() {
        read_text(&file)?
    } else {
        String::new()
    };
    let after = client_config::with_entry(&before, client.section(), &entry).map_err(|why| {
        let message = format!(
            "{} cannot be edited: {why}; it was not touched",
            file.display()
        );
        Failure::new(ErrorCode::ConfigError, message)
            .with_hint("local-agent mcp install --print shows what to enter")
    })?;
    let backup = (!before.is_empty() && before != after).then(|| {
        let mut name = file.clone().into_os_string();
        name.push(".before-local-agent");
        std::path::PathBuf::from(name)
    });
    if let Some(backup) = &backup {
        write_whole(backup, before.as_bytes())?;
    }
    if before != after {
        write_whole(&file, after.as_bytes())?;
    }
    if context.out.json {
        let mut body = json!({
            "client": client.name(),
            "file": file.to_string_lossy(),
            "backup": backup.map(|path| path.to_string_lossy().into_owned()),
            "changed": before != after,
        });
        extend(&mut body, context.roots());
        context.out.json(body);
    } else if before == after {
        context
            .out
            .line(&format!("{} has it already", file.display()));
    } else {
        context.out.line(&format!("entered in {}", file.display()));
        if let Some(backup) = backup {
            context
                .out
                .line(&format!("as it was: {}", backup.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl Client {
    fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
        }
    }

    /// The name of the object with the servers in the file.
    fn section(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::Cursor => "mcpServers",
            Self::Vscode => "servers",
        }
    }

    /// The user's configuration file of this client.
    fn file(self, context: &Context) -> Result<std::path::PathBuf> {
        match self {
            Self::ClaudeCode => Ok(context.environment.home()?.join(".claude.json")),
            Self::Cursor => Ok(context.environment.home()?.join(".cursor").join("mcp.json")),
            Self::Vscode => Ok(context
                .environment
                .config_base()?
                .join("Code")
                .join("User")
                .join("mcp.json")),
        }
    }

    /// This program's entry in that file.
    fn entry(self, program: &str, args: &[String]) -> serde_json::Value {
        match self {
            Self::ClaudeCode | Self::Vscode => {
                json!({"type": "stdio", "command": program, "args": args})
            }
            Self::Cursor => json!({"command": program, "args": args}),
        }
    }
}
