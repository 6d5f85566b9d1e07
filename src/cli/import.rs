//! `import`: turns the folders of another program's configuration into sources.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Import, ImportFrom};
use super::config_draft::ConfigDraft;
use super::context::Context;
use super::source;
use local_agent_agent::config::{self, Config, Imported, NewSource, OtherProgram, SourceEdit};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// What `import --json` prints, without the roots.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ImportedView {
    /// The file that was read.
    read: String,
    /// Names of the sources that were added.
    added: Vec<String>,
    contexts: usize,
    /// What has no counterpart here, or was there already.
    left_out: Vec<String>,
    /// What to run next.
    next: &'static str,
}

pub(super) fn run(context: &Context, args: &Import) -> Result<ExitCode> {
    let program = match args.from {
        ImportFrom::Qmd => OtherProgram::Qmd,
        ImportFrom::Gno => OtherProgram::Gno,
    };
    let file = match &args.file {
        Some(file) => context.environment.cwd.join(file),
        None => usual_file(context, program)?,
    };
    let text = super::read::read_text(&file)?;
    let mut imported = config::import(program, &file, &text)?;
    let config = context.load()?.config;
    let mut draft = ConfigDraft::open(context)?;
    let mut added = Vec::new();
    for new in std::mem::take(&mut imported.sources) {
        match add(context, &config, &mut draft, &file, new) {
            Ok(name) => added.push(name),
            Err(failure) if failure.code == ErrorCode::InvalidArgs => {
                imported.left_out.push(failure.message);
            }
            Err(failure) => return Err(failure),
        }
    }
    let contexts = add_contexts(context, &mut draft, &mut imported)?;
    if !added.is_empty() || contexts > 0 {
        draft.write(context)?;
    }
    say(context, &file, added, contexts, imported.left_out)
}

/// Where the other program stores its configuration.
fn usual_file(context: &Context, program: OtherProgram) -> Result<PathBuf> {
    let name = match program {
        OtherProgram::Qmd => "qmd",
        OtherProgram::Gno => "gno",
    };
    let folder = context.environment.user_config()?;
    let folder = folder.parent().and_then(Path::parent);
    let places = ["index.yml", "config/index.yml", "index.yaml"];
    let found = places
        .iter()
        .filter_map(|file| Some(folder?.join(name).join(file)))
        .find(|file| file.is_file());
    found.ok_or_else(|| {
        let message = format!("no configuration of {name} was found");
        Failure::new(ErrorCode::FileNotFound, message)
            .with_command(format!("local-agent import {name} FILE"))
    })
}

/// Adds one source; its folder must exist and be no source of `config`.
fn add(
    context: &Context,
    config: &Config,
    draft: &mut ConfigDraft,
    file: &Path,
    new: NewSource,
) -> Result<String> {
    let home = dirs::home_dir();
    let root = match (new.root.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => file.parent().unwrap_or(Path::new("/")).join(&new.root),
    };
    let root = source::existing_folder(&context.environment.cwd, &root)?;
    source::not_a_source_yet(&root, config)?;
    let name = new.name.to_string();
    let edit = SourceEdit::Add(NewSource {
        root: root.to_string_lossy().into_owned(),
        ..new
    });
    draft.edit_sources(&edit)?;
    Ok(name)
}

/// Adds the contexts of existing sources; returns their number.
fn add_contexts(
    context: &Context,
    draft: &mut ConfigDraft,
    imported: &mut Imported,
) -> Result<usize> {
    let loaded = draft.checked(context)?.config;
    let mut contexts = loaded.contexts.clone();
    let before = contexts.len();
    for new in std::mem::take(&mut imported.contexts) {
        let known = new
            .source
            .as_ref()
            .is_none_or(|name| loaded.sources.iter().any(|one| one.name == *name));
        if !known || contexts.iter().any(|one| one.place() == new.place()) {
            let place = new.place();
            imported.left_out.push(format!("the context of `{place}`"));
        } else {
            contexts.push(new);
        }
    }
    let added = contexts.len() - before;
    if added > 0 {
        draft.set_contexts(&contexts)?;
    }
    Ok(added)
}

fn say(
    context: &Context,
    file: &Path,
    added: Vec<String>,
    contexts: usize,
    left_out: Vec<String>,
) -> Result<ExitCode> {
    let out = context.out;
    let view = ImportedView {
        read: file.to_string_lossy().into_owned(),
        added,
        contexts,
        left_out,
        next: "local-agent index",
    };
    if out.json {
        out.json(context.body(&view)?);
        return Ok(ExitCode::SUCCESS);
    }
    out.line(&out.shown(&format!("read: {}", view.read)));
    for name in &view.added {
        out.line(&out.shown(&format!("source: {name}")));
    }
    if contexts > 0 {
        out.line(&format!("contexts: {contexts}"));
    }
    for what in &view.left_out {
        out.line(&out.shown(&format!("left out: {what}")));
    }
    out.line(&format!("next: {}", view.next));
    Ok(ExitCode::SUCCESS)
}
