//! `context add`, `context remove`, `context list`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::ContextCommand;
use super::config_draft::ConfigDraft;
use super::context::Context;
use super::output::talk;
use local_agent_agent::config::{self, Config, FolderContext, similar_names, unknown_source};
use local_agent_files::state::in_quotes;
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};

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
        ContextCommand::Add { place, text } if text.is_empty() => add_here(context, place),
        ContextCommand::Add { place, text } => {
            add(context, place, &text.join(" "), Known::IsReplaced)
        }
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

/// Adds a text for this folder, if it has none yet. One word, or a place, is not a text.
fn add_here(context: &Context, text: &str) -> Result<ExitCode> {
    let is_place = !text.contains(char::is_whitespace)
        || text.contains(['/', ':', '\\'])
        || context.environment.cwd.join(text).exists();
    if is_place {
        return Err(wrong(format!("what `{text}` holds is missing")));
    }
    add(context, ".", text, Known::Stays)
}

/// What happens to a text that a place has already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Stays,
    IsReplaced,
}

fn add(context: &Context, place: &str, text: &str, known: Known) -> Result<ExitCode> {
    let config = context.load()?.config;
    let draft = ConfigDraft::open(context)?;
    let mut contexts = draft.contexts()?;
    let place = in_source(&config, &context.environment.cwd, place)?;
    let new = FolderContext::new(&place, text).map_err(wrong)?;
    if let Some(source) = &new.source
        && !config.sources.iter().any(|one| one.name == *source)
    {
        let known = config.sources.iter().map(|one| one.name.as_str());
        return Err(unknown_source(source.as_str(), known));
    }
    say_missing_folder(context, &config, &new);
    match contexts.iter_mut().find(|one| one.place() == new.place()) {
        Some(before) if known == Known::Stays => return Err(has_text(before, text)),
        Some(before) => *before = new,
        None => contexts.push(new),
    }
    write(context, draft, &contexts)
}

/// The failure for a place whose text would be lost.
fn has_text(before: &FolderContext, text: &str) -> Failure {
    let message = format!("`{}` has a text already: {}", before.place(), before.text);
    let hint = format!("local-agent context add . {}", in_quotes(text));
    Failure::new(ErrorCode::InvalidArgs, message).with_command(hint)
}

/// The place with the name of its source: a path below the root of a source, such as "." or an
/// absolute one, or a folder that exactly one source has ("recipes" for "notes:recipes").
///
/// # Errors
/// `INVALID_ARGS` for a path that is in no source.
fn in_source(config: &Config, cwd: &Path, place: &str) -> Result<String> {
    if is_path(place) {
        return at_path(config, cwd, place);
    }
    let path = place.trim_start_matches("./").trim_end_matches('/');
    let first = path.split('/').next().unwrap_or(path);
    let is_source = config.sources.iter().any(|one| one.name.as_str() == first);
    if path.is_empty() || place.contains(':') || is_source {
        return Ok(place.to_owned());
    }
    let path = if path == "." { "" } else { path };
    let sources = config.sources.iter();
    let mut holders = sources.filter(|one| one.root.join(path).exists());
    Ok(match (holders.next(), holders.next()) {
        (Some(only), None) => format!("{}:{path}", only.name),
        _ => place.to_owned(),
    })
}

/// Whether a place is a path of the file system: `.`, `..`, or absolute. `/` alone is everything.
fn is_path(place: &str) -> bool {
    let is_whole = place.trim_matches('/').is_empty();
    !is_whole && (place.starts_with('.') || Path::new(place).is_absolute())
}

/// The source, and the folder in it, that a path of the file system leads to.
fn at_path(config: &Config, cwd: &Path, place: &str) -> Result<String> {
    let path = cwd.join(place);
    let sources = config.sources.iter();
    let inside = sources.filter_map(|one| Some((one, config::within(&path, &one.root)?)));
    let nearest = inside.min_by_key(|(_, folder)| folder.components().count());
    let (source, folder) = nearest.ok_or_else(|| {
        let message = format!("{} is in no source", path.display());
        Failure::new(ErrorCode::InvalidArgs, message)
            .with_fix(Fix::ListSources, "local-agent source list")
    })?;
    let names = folder
        .components()
        .map(|name| name.as_os_str().to_string_lossy());
    let folder = names.collect::<Vec<_>>().join("/");
    Ok(format!("{}:{folder}", source.name))
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
    let config = context.load()?.config;
    let draft = ConfigDraft::open(context)?;
    let mut contexts = draft.contexts()?;
    // The folder may be gone.
    let bare = place.trim_end_matches('/');
    let of_folder = contexts
        .iter()
        .filter(|one| !is_path(place) && one.folder == bare);
    let place = match of_folder.collect::<Vec<_>>()[..] {
        [only] => only.place(),
        _ => in_source(&config, &context.environment.cwd, place)?,
    };
    let place = FolderContext::new(&place, "x").map_err(wrong)?.place();
    let before = contexts.len();
    contexts.retain(|one| one.place() != place);
    if contexts.len() == before {
        let message = format!("nothing is said about `{place}`");
        return Err(
            Failure::new(ErrorCode::InvalidArgs, message).with_command("local-agent context list")
        );
    }
    write(context, draft, &contexts)
}

fn wrong(why: String) -> Failure {
    Failure::new(ErrorCode::InvalidArgs, why).with_command("local-agent context add --help")
}

/// Writes the whole list into the file of the draft, and prints the list in force.
///
/// # Errors
/// `CONFIG_ERROR` without a configuration; those of changing it.
fn write(
    context: &Context,
    mut draft: ConfigDraft,
    contexts: &[FolderContext],
) -> Result<ExitCode> {
    draft.set_contexts(contexts)?;
    let target = draft.target().to_path_buf();
    draft.write(context)?;
    let in_force = context.load()?.config.contexts;
    if in_force != contexts {
        talk(&format!(
            "warning: the contexts of {} are not in force here: another file has a list of its own",
            target.display()
        ));
    }
    list(context)
}
