//! `source add`, `source remove`, `source rename`, `source list`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{SourceAdd, SourceCommand};
use super::context::Context;
use super::write::{back_up, write_whole};
use local_agent_agent::config::{
    self, Layer, LayerKind, Loaded, NewSource, Origin, SourceEdit, Template, unknown_source,
};
use local_agent_files::sandbox::Selection;
use local_agent_text::error::{ErrorCode, Failure, Result};
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
    /// What to run next.
    next: &'static str,
}

/// The command to run after changing the sources.
const NEXT: &str = "local-agent index";

pub(super) fn run(context: &Context, command: &SourceCommand) -> Result<ExitCode> {
    match command {
        SourceCommand::Add(args) => add(context, args),
        SourceCommand::Remove { name } => change(context, &SourceEdit::Remove(existing(name)?)),
        SourceCommand::Rename { from, to } => {
            let edit = SourceEdit::Rename(existing(from)?, new_name(to)?);
            change(context, &edit)
        }
        SourceCommand::List => list(context),
    }
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

fn new_name(name: &str) -> Result<SourceName> {
    SourceName::new(name).map_err(|why| {
        Failure::new(
            ErrorCode::InvalidArgs,
            format!("`{name}` is not a name: {why}"),
        )
        .with_hint("local-agent source add DIR --name notes")
    })
}

fn add(context: &Context, args: &SourceAdd) -> Result<ExitCode> {
    let dir = existing_folder(&context.environment.cwd, &args.dir)?;
    let name = match &args.name {
        Some(name) => new_name(name)?,
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
            Failure::new(ErrorCode::InvalidArgs, why).with_hint("local-agent source add --help")
        })?;
    change(context, &SourceEdit::Add(new))
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

fn change(context: &Context, edit: &SourceEdit) -> Result<ExitCode> {
    let (target, backup) = apply(context, edit)?;
    say(context, &target, backup.as_deref())
}

/// Changes the file with the sources; creates a configuration if none exists. Returns the file and
/// the copy of its earlier state.
pub(super) fn apply(context: &Context, edit: &SourceEdit) -> Result<(PathBuf, Option<PathBuf>)> {
    let rewritten = rewrite(context, &|target, layer, text| {
        config::edit_sources(target, text, &relative_to(edit, target, layer)?)
    })?;
    match rewritten {
        Rewritten::Changed { target, backup } => Ok((target, Some(backup))),
        Rewritten::Missing(target) => {
            begin(context, &target, edit)?;
            Ok((target, None))
        }
    }
}

/// The result of changing a configuration file.
pub(super) enum Rewritten {
    Changed {
        target: PathBuf,
        backup: PathBuf,
    },
    /// The file does not exist yet; this would be its path.
    Missing(PathBuf),
}

/// Computes the new text of a file from its path, layer and text.
type Change<'a> = dyn Fn(&Path, &Layer, &str) -> Result<String> + 'a;

/// Changes the file with the sources, and keeps a copy of it.
///
/// # Errors
/// `CONFIG_UNTRUSTED` for an untrusted file; those of the change, of reading and writing.
pub(super) fn rewrite(context: &Context, change: &Change<'_>) -> Result<Rewritten> {
    let loaded = context.load_lenient()?;
    let (target, layer) = target(context, &loaded)?;
    let Some(layer) = layer else {
        return Ok(Rewritten::Missing(target));
    };
    if layer.kind == LayerKind::Found && layer.needs_trust && !layer.trusted {
        let message = format!("{} is not trusted", target.display());
        return Err(
            Failure::new(ErrorCode::ConfigUntrusted, message).with_hint("local-agent config trust")
        );
    }
    let text = super::read::read_text(&target)?;
    let changed = change(&target, layer, &text)?;
    let backup = back_up(&target)?;
    write_whole(&target, changed.as_bytes())?;
    if matches!(layer.kind, LayerKind::Found | LayerKind::Workroot) {
        config::trust(context.environment.trust_file()?, &target)?;
    }
    Ok(Rewritten::Changed { target, backup })
}

/// The file with the effective sources; otherwise the last one that was read; otherwise the user's
/// own, which does not exist yet.
fn target<'a>(context: &Context, loaded: &'a Loaded) -> Result<(PathBuf, Option<&'a Layer>)> {
    let setting = loaded.origins.iter().find(|one| one.key == "sources");
    let named = match setting.map(|setting| &setting.origin) {
        Some(Origin::File { path, .. }) => loaded.layers.iter().find(|layer| layer.path == *path),
        _ => None,
    };
    Ok(match named.or(loaded.layers.last()) {
        Some(layer) => (layer.path.clone(), Some(layer)),
        None => (context.environment.user_config()?.to_path_buf(), None),
    })
}

/// Writes this user's first configuration.
fn begin(context: &Context, target: &Path, edit: &SourceEdit) -> Result<()> {
    let SourceEdit::Add(new) = edit else {
        return Err(
            Failure::new(ErrorCode::ConfigError, "no sources are configured")
                .with_hint("local-agent source add DIR"),
        );
    };
    let state = context.environment.data_dir()?;
    let template = config::template(&Template {
        sources: Vec::new(),
        state_dir: Some(state.to_string_lossy().into_owned()),
        sources_anywhere: true,
    });
    let text = config::edit_sources(target, &template, &SourceEdit::Add(new.clone()))?;
    write_whole(target, text.as_bytes())
}

/// The change with a path that the file may contain. A configuration in a folder may only name
/// paths below that folder.
fn relative_to(edit: &SourceEdit, target: &Path, layer: &Layer) -> Result<SourceEdit> {
    let SourceEdit::Add(new) = edit else {
        return Ok(edit.clone());
    };
    let folder = target.parent().unwrap_or(Path::new("/"));
    let inside = config::within(Path::new(&new.root), folder);
    let root = match (layer.kind, inside) {
        (LayerKind::Found | LayerKind::Workroot, None) => {
            let message = format!(
                "{} lies outside of {}, the folder that this configuration is for",
                new.root,
                folder.display()
            );
            return Err(
                Failure::new(ErrorCode::InvalidArgs, message).with_hint(format!(
                    "local-agent -C / source add '{}', which changes your own configuration",
                    new.root
                )),
            );
        }
        (LayerKind::Found | LayerKind::Workroot, Some(inside)) => {
            let text = inside.to_string_lossy().into_owned();
            if text.is_empty() {
                ".".to_owned()
            } else {
                text
            }
        }
        (LayerKind::User | LayerKind::Named, _) => new.root.clone(),
    };
    Ok(SourceEdit::Add(NewSource {
        root,
        ..new.clone()
    }))
}

/// Prints what was written, and the resulting configuration.
fn say(context: &Context, target: &Path, backup: Option<&Path>) -> Result<ExitCode> {
    let config = context.load()?.config;
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
            next: NEXT,
        };
        out.json(context.body(&view)?);
        return Ok(ExitCode::SUCCESS);
    }
    out.line(&format!("written: {}", target.display()));
    if let Some(backup) = backup {
        out.line(&format!("backup: {}", backup.display()));
    }
    for source in &config.sources {
        out.line(&format!(
            "source: {} = {}",
            source.name,
            source.root.display()
        ));
    }
    out.line(&format!("next: {NEXT}"));
    Ok(ExitCode::SUCCESS)
}
