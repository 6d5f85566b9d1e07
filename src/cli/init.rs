//! `init`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::Init;
use super::context::Context;
use super::source::{existing_folder, name_of};
use super::write::{back_up, rewrite, write_whole};
use local_agent_agent::config::{self, EditedFile, Template, WORKROOT_FILE};
use local_agent_files::state::{in_quotes, quoted};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::SourceName;

/// What `init --json` prints, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct InitializedView<'a> {
    /// The configuration file that was written.
    written: Cow<'a, str>,
    /// The names of its sources.
    sources: Vec<&'a SourceName>,
    /// The copy of the file that was there before.
    backup: Option<Cow<'a, str>>,
}

pub(super) fn run(context: &Context, args: &Init) -> Result<ExitCode> {
    let environment = &context.environment;
    let folder = match &context.global.workroot {
        Some(workroot) => environment.cwd.join(workroot),
        None => environment.cwd.clone(),
    };
    let (target, template) = if args.here {
        (folder.join(WORKROOT_FILE), here(&folder, &args.named())?)
    } else {
        let state = environment.data_dir()?.to_string_lossy().into_owned();
        let sources = sources(&args.named(), &folder, |dir| {
            Ok(folder.join(dir).to_string_lossy().into_owned())
        })?;
        let template = Template {
            sources,
            state_dir: Some(state),
            sources_anywhere: true,
        };
        (environment.user_config()?.to_path_buf(), template)
    };
    if target.exists() && !args.force {
        return Err(exists_already(&target, args));
    }
    let text = config::template(&template);
    let backup = match target.exists() {
        true => Some(replaced(context, &target, &text)?),
        false => {
            write_whole(&target, text.as_bytes())?;
            None
        }
    };
    if args.here {
        config::trust(environment.trust_file()?, &target)?;
    }
    if context.out.json {
        let view = InitializedView {
            written: target.to_string_lossy(),
            sources: template.sources.iter().map(|(name, _)| name).collect(),
            backup: backup.as_ref().map(|path| path.to_string_lossy()),
        };
        context.out.json(context.body(&view)?);
    } else {
        context.out.line(&format!("written: {}", target.display()));
        if let Some(backup) = &backup {
            context.out.line(&format!("backup: {}", backup.display()));
        }
        for (name, root) in &template.sources {
            context.out.line(&format!("source: {name} = {root}"));
        }
        if template.sources.is_empty() {
            context
                .out
                .line("next: local-agent source add path/to/notes");
        } else {
            context.out.line(
                "next: local-agent index && local-agent embed && local-agent ask \"your question\"",
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Replaces a configuration after a copy, unless the new one has more problems; returns the copy.
fn replaced(context: &Context, target: &Path, text: &str) -> Result<PathBuf> {
    let before = context.load_lenient()?.problems.len();
    let edited = EditedFile {
        path: target.to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let problems = context.load_with(edited)?.problems;
    if problems.len() > before
        && let Some(problem) = problems.into_iter().next()
    {
        return Err(problem.failure);
    }
    let backup = back_up(target)?;
    rewrite(target, text.as_bytes())?;
    Ok(backup)
}

/// A configuration inside a folder: if none is named, the folder itself is the only source.
fn here(folder: &Path, given: &[String]) -> Result<Template> {
    let mut sources = sources(given, folder, |dir| root_below(folder, dir))?;
    if sources.is_empty() {
        sources.push((name_of(folder)?, ".".to_owned()));
    }
    Ok(Template {
        sources,
        state_dir: None,
        sources_anywhere: false,
    })
}

/// The path of a source in the form for a file in `folder`.
fn root_below(folder: &Path, dir: &Path) -> Result<String> {
    let inside = config::within(dir, folder).ok_or_else(|| outside(dir, folder))?;
    let text = inside.to_string_lossy().into_owned();
    Ok(if text.is_empty() {
        ".".to_owned()
    } else {
        text
    })
}

/// The failure for a path outside the folder of its configuration. Such a configuration is found by
/// walking up, so it could come from anywhere.
fn outside(dir: &Path, folder: &Path) -> Failure {
    let message = format!(
        "{} lies outside of {}, the folder that the configuration is for",
        dir.display(),
        folder.display()
    );
    Failure::new(ErrorCode::InvalidArgs, message).with_command(format!(
        "local-agent init {} (writes your own configuration)",
        quoted(dir)
    ))
}

/// The failure if a configuration exists. Sources are added to it; it is not replaced.
fn exists_already(target: &Path, args: &Init) -> Failure {
    let named = args.named();
    let first = named.first().map(|text| match text.split_once('=') {
        Some((name, dir)) => format!("{} --name {}", in_quotes(dir), in_quotes(name)),
        None => in_quotes(text),
    });
    let hint = match first {
        Some(source) => format!("local-agent source add {source}"),
        None => "local-agent source list".to_owned(),
    };
    Failure::new(
        ErrorCode::ConfigError,
        format!("{} exists already", target.display()),
    )
    .with_command(hint)
}

/// Parses the named folders: `NAME=DIR`, or `DIR`, whose name is then used in citations.
fn sources(
    given: &[String],
    folder: &Path,
    root: impl Fn(&Path) -> Result<String>,
) -> Result<Vec<(SourceName, String)>> {
    let one = |text: &String| {
        if text.trim().is_empty() {
            return Err(bad_source(text));
        }
        let (name, dir) = match text.split_once('=') {
            Some((name, dir)) => (
                Some(SourceName::new(name).map_err(|_| bad_source(text))?),
                dir,
            ),
            None => (None, text.as_str()),
        };
        let root = root(Path::new(dir))?;
        let dir = existing_folder(folder, Path::new(dir))?;
        let name = match name {
            Some(name) => name,
            None => name_of(&dir)?,
        };
        Ok((name, root))
    };
    given.iter().map(one).collect()
}

/// The failure for the name of a folder that cannot be used.
fn bad_source(text: &str) -> Failure {
    Failure::new(
        ErrorCode::InvalidArgs,
        format!("`{text}` is neither DIR nor NAME=DIR"),
    )
    .with_command("local-agent init notes=path/to/notes")
}
