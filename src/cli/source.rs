//! `source add`, `source remove`, `source rename`, `source list`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Index, SourceAdd, SourceCommand};
use super::config_draft::{ConfigDraft, WrittenConfig};
use super::context::Context;
use crate::serve;
use local_agent_agent::config::{
    self, Config, FolderContext, NewSource, SourceEdit, unknown_source,
};
use local_agent_files::sandbox::{Confinement, Selection, confinement_offered};
use local_agent_files::state::{in_quotes, quoted};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::types::SourceName;

/// What `source list --json` prints, without the roots.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SourcesView {
    count: usize,
    sources: Vec<SourceView>,
}

/// One configured source.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SourceView {
    name: String,
    root: String,
    kind: String,
    code: bool,
    /// Extensions of documents besides notes.
    extensions: Vec<String>,
}

/// What a change prints with `--json`, without the roots.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChangedView {
    /// The configuration file that was changed.
    written: String,
    /// The file as it was before; `null` when there was none.
    backup: Option<String>,
    sources: Vec<String>,
    /// What was said about the folders of a removed source, and is no longer in the file.
    removed_contexts: Vec<String>,
    /// What to run next.
    next: &'static str,
    /// The command that ends the running server, which cannot read a folder that was added; `null`:
    /// no server has to be started again.
    end_server: Option<&'static str>,
}

/// The command that ends a running server.
const END_SERVER: &str = "local-agent serve stop";

/// The command to run after changing the sources.
const NEXT: &str = "local-agent index";

pub(super) fn run(context: &Context, command: &SourceCommand) -> Result<ExitCode> {
    match command {
        SourceCommand::Add(args) => {
            add(context, args, Some(NEXT))?;
            Ok(ExitCode::SUCCESS)
        }
        SourceCommand::Remove { name } => {
            change(context, &SourceEdit::Remove(existing(name)?), Some(NEXT))
        }
        SourceCommand::Rename { from, to } => {
            let begun = format!("local-agent source rename {}", in_quotes(from));
            let edit = SourceEdit::Rename(existing(from)?, new_name(to, &begun)?);
            change(context, &edit, Some(NEXT))
        }
        SourceCommand::List => list(context),
    }
}

/// Like [`run`], and indexes a folder that was added, as qmd does. With `--json` it prints the change
/// alone, and what to run next.
///
/// # Errors
/// Those of the change, and those of indexing, which leave it in place.
pub(super) fn run_and_index(context: &mut Context, command: &SourceCommand) -> Result<ExitCode> {
    let SourceCommand::Add(args) = command else {
        return run(context, command);
    };
    if context.out.json {
        return run(context, command);
    }
    let name = add(context, args, None)?.to_string();
    let only = Index {
        source: vec![name.clone()],
        ..Index::default()
    };
    super::index::run(context, &only).map_err(|failure| {
        let message = format!(
            "`{name}` was added, and is not indexed: {}",
            failure.message
        );
        Failure { message, ..failure }
    })
}

fn list(context: &Context) -> Result<ExitCode> {
    let config = context.load()?.config;
    let out = context.out;
    let sources: Vec<SourceView> = config
        .sources
        .iter()
        .map(|source| SourceView {
            name: source.name.to_string(),
            root: source.root.to_string_lossy().into_owned(),
            kind: source.kind.clone(),
            code: source.code,
            extensions: source.selection.extensions().to_vec(),
        })
        .collect();
    if out.json {
        let count = sources.len();
        out.json(context.body(&SourcesView { count, sources })?);
        return Ok(ExitCode::SUCCESS);
    }
    if sources.is_empty() {
        out.line("No sources are configured (next: local-agent source add DIR)");
    }
    for source in sources {
        let mut line = format!("{}\t{}\t{}", source.name, source.kind, source.root);
        if source.code {
            line.push_str("\tcode");
        }
        if !source.extensions.is_empty() {
            line.push('\t');
            line.push_str(&source.extensions.join(" "));
        }
        out.line(&out.shown(&line));
    }
    Ok(ExitCode::SUCCESS)
}

fn existing(name: &str) -> Result<SourceName> {
    SourceName::new(name).map_err(|_| unknown_source(name, []))
}

/// A name that a person typed; `fix` is the beginning of the command that ends with a name.
fn new_name(name: &str, fix: &str) -> Result<SourceName> {
    SourceName::new(name).map_err(|why| {
        Failure::new(
            ErrorCode::InvalidArgs,
            format!("`{name}` is not a name: {why}"),
        )
        .with_command(format!("{fix} {}", allowed_name(name)))
    })
}

/// The typed name with `-` for what a name may not contain.
fn allowed_name(typed: &str) -> String {
    let words = typed.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let name = words.join("-");
    match SourceName::new(&name) {
        Ok(_) => name,
        Err(_) => "notes".to_owned(),
    }
}

fn add(context: &Context, args: &SourceAdd, next: Option<&'static str>) -> Result<SourceName> {
    let dir = existing_folder(&context.environment.cwd, &args.dir)?;
    not_a_source_yet(&dir, &context.load_lenient()?.config)?;
    let name = match &args.name {
        Some(name) => new_name(
            name,
            &format!("local-agent source add {} --name", quoted(&args.dir)),
        )?,
        None => name_of(&dir)?,
    };
    let new = NewSource {
        name,
        root: dir.to_string_lossy().into_owned(),
        kind: args.kind.clone().unwrap_or_else(|| "notes".to_owned()),
        code: args.code,
        extensions: args.extension.clone(),
        include: args.include.clone(),
        exclude: args.exclude.clone(),
    };
    Selection::new(&new.include, &new.exclude)
        .and_then(|selection| selection.with_extensions(&new.extensions))
        .map_err(|why| {
            Failure::new(ErrorCode::InvalidArgs, why).with_command("local-agent source add --help")
        })?;
    let name = new.name.clone();
    change(context, &SourceEdit::Add(new), next)?;
    Ok(name)
}

/// Fails with `INVALID_ARGS` if a source is this folder.
pub(super) fn not_a_source_yet(dir: &Path, config: &Config) -> Result<()> {
    let is_same = |root: &Path| root.canonicalize().is_ok_and(|root| root == dir);
    let Some(source) = config.sources.iter().find(|one| is_same(&one.root)) else {
        return Ok(());
    };
    let message = format!("{} is the source `{}` already", dir.display(), source.name);
    Err(Failure::new(ErrorCode::InvalidArgs, message)
        .with_fix(Fix::ListSources, "local-agent source list"))
}

/// The absolute path of a folder that a person typed.
///
/// # Errors
/// `INVALID_ARGS` when it does not exist.
pub(super) fn existing_folder(cwd: &Path, dir: &Path) -> Result<PathBuf> {
    let path = cwd.join(dir);
    // `..` is resolved lexically, as in the configuration.
    let path = match config::within(&path, Path::new("/")) {
        Some(inside) => Path::new("/").join(inside),
        None => path,
    };
    if path.is_dir() {
        return Ok(path.canonicalize().unwrap_or(path));
    }
    Err(Failure::new(
        ErrorCode::InvalidArgs,
        format!("{} is not a folder", path.display()),
    )
    .with_hint("name a folder that exists"))
}

/// The source name for a folder: the folder's own name, without characters that are not allowed.
pub(super) fn name_of(dir: &Path) -> Result<SourceName> {
    let stem = dir.file_name().map(|name| name.to_string_lossy());
    let stem = stem.unwrap_or_default().replace(['/', '\\', ':'], "-");
    SourceName::new(stem.trim())
        .or_else(|_| SourceName::new("notes"))
        .map_err(|e| Failure::internal(e.to_string()))
}

/// `next`: what a person should run next.
fn change(context: &Context, edit: &SourceEdit, next: Option<&'static str>) -> Result<ExitCode> {
    let mut draft = ConfigDraft::open(context)?;
    draft.edit_sources(edit)?;
    let removed = draft.follow(edit)?;
    let written = draft.write(context)?;
    let added = match edit {
        SourceEdit::Add(new) => Some(Path::new(&new.root)),
        _ => None,
    };
    say(context, &written, &removed, next, added)
}

/// Whether a server runs that the kernel keeps away from a new folder: from every one that is not
/// below the folder of another source.
fn is_kept_from_server(config: &Config, added: &Path) -> bool {
    let holds_it = |root: &Path| root != added && added.starts_with(root);
    confinement_offered() != Confinement::Absent
        && !config.sources.iter().any(|one| holds_it(&one.root))
        && serve::running(&config.state_dir).is_ok_and(|server| server.is_some())
}

/// Prints what was written, and the resulting configuration.
fn say(
    context: &Context,
    written: &WrittenConfig,
    removed: &[FolderContext],
    next: Option<&'static str>,
    added: Option<&Path>,
) -> Result<ExitCode> {
    let (target, backup) = (&written.target, written.backup.as_deref());
    let config = context.load()?.config;
    let end_server = added
        .filter(|added| is_kept_from_server(&config, added))
        .map(|_| END_SERVER);
    context.say_overlaps(&config);
    let out = context.out;
    if out.json {
        let view = ChangedView {
            written: target.to_string_lossy().into_owned(),
            backup: backup.map(|path| path.to_string_lossy().into_owned()),
            sources: config
                .sources
                .iter()
                .map(|one| one.name.to_string())
                .collect(),
            removed_contexts: removed.iter().map(ToString::to_string).collect(),
            next: NEXT,
            end_server,
        };
        out.json(context.body(&view)?);
        return Ok(ExitCode::SUCCESS);
    }
    out.line(&format!("written: {}", target.display()));
    if let Some(backup) = backup {
        out.line(&format!("backup: {}", backup.display()));
    }
    for one in removed {
        out.line(&out.shown(&format!("context removed: {one}")));
    }
    for source in &config.sources {
        out.line(&format!(
            "source: {} = {}",
            source.name,
            source.root.display()
        ));
    }
    if let Some(next) = next {
        out.line(&format!("next: {next}"));
    }
    if let Some(end) = end_server {
        out.line(&format!(
            "A server runs, and can read only the folders that it was started with. \
            To serve this one too: {end}, then start it again."
        ));
    }
    Ok(ExitCode::SUCCESS)
}
