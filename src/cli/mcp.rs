//! `mcp`: serves agents over stdin and stdout, and enters itself in their clients' configurations.

use std::process::ExitCode;

use serde_json::json;

use super::args::{Client, Mcp as Args, McpCommand};
use super::client_config;
use super::context::Context;
use super::index::extend;
use super::output::talk;
use super::read::read_text;
use super::toolbox;
use super::write::write_whole;
use crate::config::Config;
use crate::error::{ErrorCode, Failure, Result};
use crate::mcp::{self, House};
use crate::operations::Library;
use crate::tools::{Caller, Tool};

pub fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    match &args.command {
        Some(McpCommand::Install { client, print, .. }) => install(context, *client, *print),
        None => serve(context),
    }
}

fn serve(context: &Context) -> Result<ExitCode> {
    let mut loaded = context.load()?;
    // A person may name any file of theirs; an agent may not, whatever the configuration says.
    loaded.config.security.allow_any_path = false;
    let config = &loaded.config;
    let house = House {
        tools: tools(context, config)?,
        sandbox: context.sandbox(config)?,
        library: Library::that_stays(config, Some(context.embedding(config)?)),
        roots: context.roots(),
        log: Box::new(talk),
        loaded,
    };
    mcp::serve(house, rmcp::transport::stdio_pipes)?;
    Ok(ExitCode::SUCCESS)
}

/// The tools for files that the configuration offers to agents.
fn tools(context: &Context, config: &Config) -> Result<Vec<Tool>> {
    let offered = toolbox::factory(context, config, Caller::Agent, None)?.read_only();
    let wanted = |name: &String| {
        offered.iter().find(|tool| tool.name() == name.as_str()).cloned().ok_or_else(|| {
            let names: Vec<&str> = offered.iter().map(Tool::name).collect();
            let message = format!("`mcp.tools` names `{name}`, which is no tool that reads and is allowed");
            Failure::new(ErrorCode::ConfigError, message).with_hint(format!("use of these: {}", names.join(", ")))
        })
    };
    config.mcp.tools.iter().map(wanted).collect()
}

/// Enters this program in a client's configuration; everything else in the file stays as it is, byte for byte.
fn install(context: &Context, client: Client, print: bool) -> Result<ExitCode> {
    let program = std::env::current_exe()
        .map_err(|e| Failure::new(ErrorCode::ConfigError, format!("the program does not know where it stands: {e}")))?;
    let mut args: Vec<String> = Vec::new();
    // The client starts the server in a folder of its own choice, so the configuration is named.
    if let Some(file) = context.load()?.config.config_path {
        args.extend(["--config".to_owned(), file.to_string_lossy().into_owned()]);
    }
    args.push("mcp".to_owned());
    let entry = client.entry(&program.to_string_lossy(), &args);
    if print {
        context.out.line(&client_config::alone(client.section(), &entry));
        return Ok(ExitCode::SUCCESS);
    }
    let file = client.file(context)?;
    let before = if file.exists() { read_text(&file)? } else { String::new() };
    let after = client_config::with_entry(&before, client.section(), &entry).map_err(|why| {
        let message = format!("{} cannot be edited: {why}; it was not touched", file.display());
        Failure::new(ErrorCode::ConfigError, message).with_hint("local-agent mcp install --print shows what to enter")
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
        context.out.line(&format!("{} has it already", file.display()));
    } else {
        context.out.line(&format!("entered in {}", file.display()));
        if let Some(backup) = backup {
            context.out.line(&format!("as it was: {}", backup.display()));
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

    /// The object of the file that holds the servers.
    fn section(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::Cursor => "mcpServers",
            Self::Vscode => "servers",
        }
    }

    /// The user's own file of this client.
    fn file(self, context: &Context) -> Result<std::path::PathBuf> {
        match self {
            Self::ClaudeCode => Ok(context.environment.home()?.join(".claude.json")),
            Self::Cursor => Ok(context.environment.home()?.join(".cursor").join("mcp.json")),
            Self::Vscode => Ok(context.environment.config_base()?.join("Code").join("User").join("mcp.json")),
        }
    }

    /// What stands there for this program.
    fn entry(self, program: &str, args: &[String]) -> serde_json::Value {
        match self {
            Self::ClaudeCode | Self::Vscode => json!({"type": "stdio", "command": program, "args": args}),
            Self::Cursor => json!({"command": program, "args": args}),
        }
    }
}
