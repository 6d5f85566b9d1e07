//! `init`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;

use super::args::Init;
use super::context::Context;
use super::index::extend;
use super::write::write_whole;
use local_agent_agent::config::{self, Template, WORKROOT_FILE};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::SourceName;

pub fn run(context: &Context, args: &Init) -> Result<ExitCode> {
    let environment = &context.environment;
    let folder = match &context.global.workroot {
        Some(workroot) => environment.cwd.join(workroot),
        None => environment.cwd.clone(),
    };
    let (target, template) = if args.here {
        (folder.join(WORKROOT_FILE), here(&folder, &args.source)?)
    } else {
        let state = environment.data_dir()?.to_string_lossy().into_owned();
        let sources = sources(&args.source, |dir| {
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
        return Err(Failure::new(
            ErrorCode::ConfigError,
            format!("{} exists already", target.display()),
        )
        .with_hint(if args.here {
            "local-agent init --here --force"
        } else {
            "local-agent init --force"
        }));
    }
    write_whole(&target, config::template(&template).as_bytes())?;
    if args.here {
        config::trust(environment.trust_file()?, &target)?;
    }
    if args.json {
        let names: Vec<&SourceName> = template.sources.iter().map(|(name, _)| name).collect();
        let mut body = json!({"written": target.to_string_lossy(), "sources": names});
        extend(&mut body, context.roots());
        context.out.json(body);
    } else {
        context.out.line(&format!("written: {}", target.display()));
        for (name, root) in &template.sources {
            context.out.line(&format!("source: {name} = {root}"));
        }
        if template.sources.is_empty() {
            context
                .out
                .line("next: local-agent init --force --source notes=path/to/notes, or name your folders in that file");
        } else {
            context.out.line(
                "next: local-agent index && local-agent embed && local-agent ask \"your question\"",
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A configuration inside a folder: without `--source`, the folder itself is the one source.
fn here(folder: &Path, given: &[String]) -> Result<Template> {
    let relative = |dir: &Path| {
        let inside = config::within(dir, folder).ok_or_else(|| outside(dir, folder))?;
        let text = inside.to_string_lossy().into_owned();
        Ok(if text.is_empty() {
            ".".to_owned()
        } else {
            text
        })
    };
    let mut sources = sources(given, relative)?;
    if sources.is_empty() {
        let stem = folder
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let name = SourceName::new(stem).or_else(|_| SourceName::new("notes"));
        sources.push((
            name.map_err(|e| Failure::internal(e.to_string()))?,
            ".".to_owned(),
        ));
    }
    Ok(Template {
        sources,
        state_dir: None,
        sources_anywhere: false,
    })
}

/// What a configuration in a folder names may not lie elsewhere: it is found by walking up, and
/// could come from anywhere.
fn outside(dir: &Path, folder: &Path) -> Failure {
    let message = format!(
        "{} lies outside of {}, the folder that the configuration is for",
        dir.display(),
        folder.display()
    );
    Failure::new(ErrorCode::InvalidArgs, message).with_hint(format!(
        "local-agent init --source NAME={}, which writes your own configuration",
        dir.display()
    ))
}

fn sources(
    given: &[String],
    root: impl Fn(&Path) -> Result<String>,
) -> Result<Vec<(SourceName, String)>> {
    let one = |text: &String| {
        let bad = || {
            Failure::new(ErrorCode::InvalidArgs, format!("`{text}` is not NAME=DIR"))
                .with_hint("local-agent init --source notes=path/to/notes")
        };
        let (name, dir) = text.split_once('=').ok_or_else(bad)?;
        let name = SourceName::new(name).map_err(|_| bad())?;
        Ok((name, root(&PathBuf::from(dir))?))
    };
    given.iter().map(one).collect()
}
