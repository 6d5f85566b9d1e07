//! `mcp install`, `uninstall` and `status`: manages this program's entry in the configurations of
//! clients.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::args::{Client, ClientPlace, McpInstall, OWN_SERVER};
use super::client_config::with_own_settings;
use super::client_formats::{ClientFormat, Way, address_in};
use super::context::Context;
use super::read::read_text;
use super::write::{back_up_as, rewrite};
use crate::mcp;
use local_agent_files::state::quoted;
use local_agent_text::error::{ErrorCode, Failure, Result};

/// The option of `mcp` with the address of a running server.
const VIA: &str = "--via-server";

/// The ending of a backup's name.
const BACKUP: &str = ".before-local-agent";

/// The result of a change to a client's file.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChangeView {
    client: String,
    file: String,
    /// The backup of the earlier file; null if it was not changed or did not exist.
    backup: Option<String>,
    changed: bool,
}

/// Adds this program to a client's configuration. All other bytes of the file stay the same.
pub(super) fn install(context: &Context, args: &McpInstall) -> Result<ExitCode> {
    let format = ClientFormat::of(args.place.client);
    let way = match (&args.http, &args.via_server) {
        (Some(url), _) => Way::Connects {
            url: mcp::endpoint(url)?,
        },
        (None, Some(url)) => starting(context, Some(url))?,
        (None, None) => starting(context, None)?,
    };
    let entry = format
        .entry(&way)?
        .ok_or_else(|| takes_no_address(format, args.http.as_deref().unwrap_or_default()))?;
    if args.print {
        let text = format.syntax.alone(format.section, &entry);
        return context.print_text(format!("{text}\n"));
    }
    let file = place(context, format, args.place.file.as_deref())?;
    let before = content(&file)?;
    let after = format
        .syntax
        .with_entry(&before, format.section, &entry)
        .map_err(|why| not_editable(format, &file, &why))?;
    let change = change(format, &file, &before, &after)?;
    let said = match change.changed {
        true => format!("entered in {}", file.display()),
        false => format!("{} has it already", file.display()),
    };
    say(context, &change, &said)
}

/// Removes only this program's entry from a client's configuration.
pub(super) fn uninstall(context: &Context, args: &ClientPlace) -> Result<ExitCode> {
    let format = ClientFormat::of(args.client);
    let file = place(context, format, args.file.as_deref())?;
    let before = content(&file)?;
    let after = format
        .syntax
        .without_entry(&before, format.section)
        .map_err(|why| {
            let message = format!(
                "{} cannot be edited: {why}; it was not touched",
                file.display()
            );
            Failure::new(ErrorCode::ConfigError, message).with_hint(format!(
                "remove `local-agent` below `{}` in it by hand",
                format.section
            ))
        })?;
    let change = change(format, &file, &before, &after)?;
    let said = match change.changed {
        true => format!("removed from {}", file.display()),
        false => format!("{} does not have it", file.display()),
    };
    say(context, &change, &said)
}

/// The way in which a client starts this program with the current configuration.
fn starting(context: &Context, via: Option<&str>) -> Result<Way> {
    let program = std::env::current_exe().map_err(|e| {
        Failure::new(
            ErrorCode::ConfigError,
            format!("the program cannot find its own file: {e}"),
        )
    })?;
    // The client starts the server in a folder of its choice.
    let mut args = context.again(&context.load()?);
    args.push("mcp".to_owned());
    if let Some(url) = via {
        args.push(VIA.to_owned());
        if url != OWN_SERVER {
            mcp::endpoint(url)?;
            args.push(url.to_owned());
        }
    }
    Ok(Way::Starts {
        program: program.to_string_lossy().into_owned(),
        args,
    })
}

fn place(context: &Context, format: &ClientFormat, named: Option<&Path>) -> Result<PathBuf> {
    match named {
        Some(file) => Ok(file.to_owned()),
        None => format.file(&context.environment),
    }
}

/// The text of a client's file; empty if the file does not exist.
fn content(file: &Path) -> Result<String> {
    if file.exists() {
        return read_text(file);
    }
    if file.is_symlink() {
        let message = format!("{} is a link to a file that does not exist", file.display());
        return Err(Failure::new(ErrorCode::ConfigError, message)
            .with_hint(format!("remove {}", file.display())));
    }
    Ok(String::new())
}

/// Writes the file if it changes, after a backup. Earlier backups stay.
fn change(format: &ClientFormat, file: &Path, before: &str, after: &str) -> Result<ChangeView> {
    let changed = before != after;
    let backup = (changed && !before.is_empty())
        .then(|| back_up_as(file, BACKUP))
        .transpose()?;
    if changed {
        rewrite(file, after.as_bytes())?;
    }
    Ok(ChangeView {
        client: format.name(),
        file: file.to_string_lossy().into_owned(),
        backup: backup.map(|path| path.to_string_lossy().into_owned()),
        changed,
    })
}

fn say(context: &Context, change: &ChangeView, said: &str) -> Result<ExitCode> {
    if context.out.json {
        context.out.json(context.body(change)?);
        return Ok(ExitCode::SUCCESS);
    }
    context.out.line(said);
    if let Some(backup) = &change.backup {
        context.out.line(&format!("as it was: {backup}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn not_editable(format: &ClientFormat, file: &Path, why: &str) -> Failure {
    let message = format!(
        "{} cannot be edited: {why}; it was not touched",
        file.display()
    );
    Failure::new(ErrorCode::ConfigError, message).with_command(format!(
        "local-agent mcp install --client {} --print (shows what to enter)",
        format.name()
    ))
}

fn takes_no_address(format: &ClientFormat, url: &str) -> Failure {
    let name = format.name();
    let message = format!("{name} cannot take the token of a server from its environment");
    Failure::new(ErrorCode::ConfigError, message).with_command(format!(
        "local-agent mcp install --client {name} --via-server {url}"
    ))
}

/// The state of one client's file.
#[derive(Debug, Serialize, JsonSchema)]
struct ClientStatus {
    client: String,
    file: String,
    state: EntryState,
    /// The server in the entry, if the client connects to one.
    url: Option<String>,
    /// Why the file cannot be read.
    why: Option<String>,
    /// The command that writes the current entry; null if it would change nothing.
    fix: Option<String>,
}

/// The state of this program's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum EntryState {
    /// The client has no file.
    NoFile,
    /// The file has no entry.
    Absent,
    /// The entry is the one that would be written now.
    Current,
    /// The entry differs from the one that would be written now.
    Stale,
    /// The file cannot be read.
    Unreadable,
}

impl EntryState {
    const fn words(self) -> &'static str {
        match self {
            Self::NoFile => "no file",
            Self::Absent => "not entered",
            Self::Current => "entered",
            Self::Stale => "entered with other settings",
            Self::Unreadable => "not readable",
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ClientsView {
    clients: Vec<ClientStatus>,
}

/// Reports for each client whether this program is entered, and whether the entry is current.
pub(super) fn status(
    context: &Context,
    client: Option<Client>,
    named: Option<&Path>,
) -> Result<ExitCode> {
    let wanted = ClientFormat::all()
        .iter()
        .filter(|format| client.is_none_or(|client| format.is_of(client)));
    let clients = wanted
        .map(|format| client_status(context, format, named))
        .collect::<Result<Vec<_>>>()?;
    let view = ClientsView { clients };
    if context.out.json {
        context.out.json(context.body(&view)?);
        return Ok(ExitCode::SUCCESS);
    }
    for one in &view.clients {
        context.out.line(&format!(
            "{:<15} {:<27} {}",
            one.client,
            one.state.words(),
            one.file
        ));
        if let Some(why) = &one.why {
            context.out.line(&format!("{:<15} {why}", ""));
        }
        if let Some(fix) = &one.fix {
            context.out.line(&format!("{:<15} fix: {fix}", ""));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn client_status(
    context: &Context,
    format: &ClientFormat,
    named: Option<&Path>,
) -> Result<ClientStatus> {
    let file = place(context, format, named)?;
    let mut install = format!("local-agent mcp install --client {}", format.name());
    if let Some(file) = named {
        let file = context.environment.cwd.join(file);
        install.push_str(&format!(" --file {}", quoted(&file)));
    }
    let mut status = ClientStatus {
        client: format.name(),
        file: file.to_string_lossy().into_owned(),
        state: EntryState::NoFile,
        url: None,
        why: None,
        fix: Some(install.clone()),
    };
    if !file.exists() {
        return Ok(status);
    }
    let found = read_text(&file)
        .map_err(|failure| failure.message)
        .and_then(|text| format.syntax.entry(&text, format.section));
    match found {
        Err(why) => {
            status.state = EntryState::Unreadable;
            status.why = Some(why);
            status.fix = Some(format!("{install} --print shows what to enter by hand"));
        }
        Ok(None) => status.state = EntryState::Absent,
        Ok(Some(entry)) => {
            let (way, option) = way_of(context, &entry)?;
            let wanted = format.entry(&way)?;
            let wanted = wanted.map(|wanted| with_own_settings(Some(&entry), &wanted));
            let is_current = wanted.as_ref() == Some(&entry);
            status.url = address_in(&entry).map(str::to_owned);
            status.state = match is_current {
                true => EntryState::Current,
                false => EntryState::Stale,
            };
            status.fix = (!is_current).then(|| format!("{install}{option}"));
        }
    }
    Ok(status)
}

/// The way in which an entry reaches this program, with current values, and the option that writes
/// it. An address that would be refused is ignored.
fn way_of(context: &Context, entry: &Value) -> Result<(Way, String)> {
    if let Some(url) = address_in(entry)
        && let Ok(url) = mcp::endpoint(url)
    {
        let option = format!(" --http {url}");
        return Ok((Way::Connects { url }, option));
    }
    let words = ["args", "command"]
        .iter()
        .filter_map(|key| entry.get(key)?.as_array())
        .flatten()
        .filter_map(Value::as_str);
    let mut after = words.skip_while(|word| *word != VIA);
    let via = after.next().map(|_| after.next().unwrap_or(OWN_SERVER));
    let via = via.filter(|url| *url == OWN_SERVER || mcp::endpoint(url).is_ok());
    let option = match via {
        None => String::new(),
        Some(OWN_SERVER) => format!(" {VIA}"),
        Some(url) => format!(" {VIA} {url}"),
    };
    Ok((starting(context, via)?, option))
}
