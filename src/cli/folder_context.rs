//! `context add`, `context remove`, `context list`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::ContextCommand;
use super::config_draft::{ConfigDraft, contexts_to_edit};
use super::context::Context;
use super::output::talk;
use local_agent_agent::config::{self, Config, FolderContext, similar_names, unknown_source};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// What these commands print with `--json`, without the roots.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ContextsView {
    count: usize,
    contexts: Vec<ContextView>,
}

/// What is said about one folder.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ContextView {
    /// `/`, a source, or `source/folder`.
    place: String,
    text: String,
}

pub(super) fn run(context: &Context, command: &ContextCommand) -> Result<ExitCode> {
    match command {
        ContextCommand::Add { place, text } if text.is_empty() => {
            if !place.contains(char::is_whitespace) {
                return Err(wrong(format!("what `{place}` holds is missing")));
            }
            add(context, ".", place)
        }
        ContextCommand::Add { place, text } => add(context, place, &text.join(" ")),
        ContextCommand::Remove { place } => remove(context, place),
        ContextCommand::List => list(context),
    }
}

fn list(context: &Context) -> Result<ExitCode> {
    let config = context.load()?.config;
    let out = context.out;
    if out.json {
        let contexts: Vec<ContextView> = config.contexts.iter().map(view).collect();
        let count = contexts.len();
        out.json(context.body(&ContextsView { count, contexts })?);
        return Ok(ExitCode::SUCCESS);
    }
    if config.contexts.is_empty() {
        out.line("Nothing is said about any folder (next: local-agent context add PLACE TEXT)");
    }
    for one in &config.contexts {
        out.line(&out.shown(&format!("{}\t{}", one.place(), one.text)));
    }
    Ok(ExitCode::SUCCESS)
}

fn view(one: &FolderContext) -> ContextView {
    ContextView {
        place: one.place(),
        text: one.text.clone(),
    }
}

fn add(context: &Context, place: &str, text: &str) -> Result<ExitCode> {
    let loaded = context.load()?;
    let mut contexts = contexts_to_edit(&loaded);
    let config = loaded.config;
    let place = in_source(&config, &context.environment.cwd, place);
    let new = FolderContext::new(&place, text).map_err(wrong)?;
    if let Some(source) = &new.source
        && !config.sources.iter().any(|one| one.name == *source)
    {
        let known = config.sources.iter().map(|one| one.name.as_str());
        return Err(unknown_source(source.as_str(), known));
    }
    say_missing_folder(context, &config, &new);
    match contexts.iter_mut().find(|one| one.place() == new.place()) {
        Some(known) => *known = new,
        None => contexts.push(new),
    }
    write(context, &contexts)
}

/// The place with the name of its source: a path below the root of a source, such as "." or an
/// absolute one, or a folder that exactly one source has ("recipes" for "notes:recipes").
fn in_source(config: &Config, cwd: &Path, place: &str) -> String {
    if let Some(place) = at_path(config, cwd, place) {
        return place;
    }
    let path = place.trim_start_matches("./").trim_end_matches('/');
    let first = path.split('/').next().unwrap_or(path);
    let is_source = config.sources.iter().any(|one| one.name.as_str() == first);
    if path.is_empty() || place.contains(':') || is_source {
        return place.to_owned();
    }
    let path = if path == "." { "" } else { path };
    let sources = config.sources.iter();
    let mut holders = sources.filter(|one| one.root.join(path).exists());
    match (holders.next(), holders.next()) {
        (Some(only), None) => format!("{}:{path}", only.name),
        _ => place.to_owned(),
    }
}

/// The source, and the folder in it, that a path of the file system leads to.
fn at_path(config: &Config, cwd: &Path, place: &str) -> Option<String> {
    let is_path = place.starts_with(['.', '/']) && !place.trim_matches('/').is_empty();
    let path = cwd.join(place);
    let sources = config.sources.iter().filter(|_| is_path);
    let inside = sources.filter_map(|one| Some((one, config::within(&path, &one.root)?)));
    let (source, folder) = inside.min_by_key(|(_, folder)| folder.components().count())?;
    let folder = folder.to_string_lossy().replace('\\', "/");
    Some(format!("{}:{folder}", source.name))
}

/// Warns if the folder is in no source, with the nearest names: it may still come, or is misspelt.
fn say_missing_folder(context: &Context, config: &Config, new: &FolderContext) {
    let folder = new.folder.as_str();
    let sources = config.sources.iter();
    let mut sources =
        sources.filter(|one| new.source.as_ref().is_none_or(|name| one.name == *name));
    if folder.is_empty() || sources.any(|source| source.root.join(folder).exists()) {
        return;
    }
    let known = folders_of(context, config, new);
    let near = similar_names(folder, known.iter().map(String::as_str));
    let near = near.map_or_else(String::new, |near| format!("; like it are: {near}"));
    let place = new.place();
    talk(&format!("warning: there is no folder `{place}` yet{near}"));
}

/// The folders with notes in the sources that a context is about.
fn folders_of(context: &Context, config: &Config, new: &FolderContext) -> BTreeSet<String> {
    let Ok(sandbox) = context.sandbox(config) else {
        return BTreeSet::new();
    };
    let mut folders = BTreeSet::new();
    for source in &config.sources {
        if new.source.as_ref().is_some_and(|name| source.name != *name) {
            continue;
        }
        for entry in sandbox.readable(&source.name).unwrap_or_default() {
            let mut path = entry.path.as_str();
            while let Some((above, _)) = path.rsplit_once('/') {
                folders.insert(above.to_owned());
                path = above;
            }
        }
    }
    folders
}

fn remove(context: &Context, place: &str) -> Result<ExitCode> {
    let loaded = context.load()?;
    let mut contexts = contexts_to_edit(&loaded);
    let config = loaded.config;
    // The folder may be gone.
    let bare = place.trim_start_matches("./").trim_end_matches('/');
    let of_folder = config.contexts.iter().filter(|one| one.folder == bare);
    let place = match of_folder.collect::<Vec<_>>()[..] {
        [only] => only.place(),
        _ => in_source(&config, &context.environment.cwd, place),
    };
    let place = FolderContext::new(&place, "x").map_err(wrong)?.place();
    let before = contexts.len();
    contexts.retain(|one| one.place() != place);
    if contexts.len() == before {
        let message = format!("nothing is said about `{place}`");
        return Err(
            Failure::new(ErrorCode::InvalidArgs, message).with_hint("local-agent context list")
        );
    }
    write(context, &contexts)
}

fn wrong(why: String) -> Failure {
    Failure::new(ErrorCode::InvalidArgs, why).with_hint("local-agent context add --help")
}

/// Writes the whole list, and prints the result.
///
/// # Errors
/// `CONFIG_ERROR` without a configuration; those of changing it.
fn write(context: &Context, contexts: &[FolderContext]) -> Result<ExitCode> {
    let mut draft = ConfigDraft::open(context)?;
    draft.set_contexts(contexts)?;
    draft.write(context)?;
    list(context)
}
