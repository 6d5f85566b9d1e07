//! `config show`, `config check`, `config trust`.

use std::borrow::Cow;
use std::path::PathBuf;
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::ConfigCommand;
use super::context::Context;
use super::output::{ProblemView, count, talk};
use local_agent_agent::config::{self, ConfigProblem, Layer, LayerKind, Setting};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::types::Sha256;

pub(super) fn run(context: &Context, command: &ConfigCommand) -> Result<ExitCode> {
    match command {
        ConfigCommand::Show => show(context),
        ConfigCommand::Check => check(context),
        ConfigCommand::Trust { file, .. } => trust(context, file.as_deref()),
    }
}

fn show(context: &Context) -> Result<ExitCode> {
    let loaded = context.load_lenient()?;
    if context.out.json {
        let view = SettingsView {
            settings: &loaded.origins,
            files: &loaded.layers,
            warnings: &loaded.config.warnings,
        };
        context.out.json(context.body(&view)?);
        return Ok(ExitCode::SUCCESS);
    }
    for layer in &loaded.layers {
        let trusted = if layer.trusted { ", trusted" } else { "" };
        context.out.line(&format!(
            "file: {} ({}{trusted})",
            layer.path.display(),
            layer.kind.as_str()
        ));
    }
    for setting in &loaded.origins {
        let note = setting
            .note
            .as_ref()
            .map(|note| format!("  ({note})"))
            .unwrap_or_default();
        context.out.line(&format!(
            "{} = {}  # {}{note}",
            setting.key, setting.value, setting.origin
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn check(context: &Context) -> Result<ExitCode> {
    let mut loaded = context.load_lenient()?;
    // Other commands check the server's address only if they would use it.
    let address = loaded.config.llm.server().err();
    loaded.problems.extend(address.map(ConfigProblem::from));
    let ok = loaded.problems.is_empty();
    if context.out.json {
        let view = CheckedView {
            ok,
            problems: loaded
                .problems
                .iter()
                .map(|problem| ProblemView::from(&problem.failure))
                .collect(),
            warnings: &loaded.config.warnings,
            files: &loaded.layers,
        };
        context.out.json(context.body(&view)?);
    } else {
        for problem in loaded.problems.iter().map(|problem| &problem.failure) {
            context
                .out
                .line(&format!("error[{}]: {}", problem.code, problem.message));
            if let Some(hint) = &problem.hint {
                context.out.line(&format!("fix: {hint}"));
            }
        }
        for warning in &loaded.config.warnings {
            talk(&format!("warning: {warning}"));
        }
        if ok {
            let sources = count(loaded.config.sources.len(), "source");
            context.out.line(&format!("configuration: ok ({sources})"));
        }
    }
    Ok(ExitCode::from(u8::from(!ok)))
}

/// What `config show --json` prints, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct SettingsView<'a> {
    /// Every key with its value and where the value comes from.
    settings: &'a [Setting],
    /// The files that were read.
    files: &'a [Layer],
    warnings: &'a [String],
}

/// What `config check --json` prints, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct CheckedView<'a> {
    /// Whether there is no problem.
    ok: bool,
    problems: Vec<ProblemView<'a>>,
    warnings: &'a [String],
    /// The files that were read.
    files: &'a [Layer],
}

/// What `config trust --json` prints, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct TrustedView<'a> {
    /// The configuration that is trusted now; null: only state folders are.
    trusted: Option<Cow<'a, str>>,
    /// SHA-256 of its bytes. Other bytes are not trusted.
    sha256: Option<Sha256>,
    state_folders: &'a [PathBuf],
}

/// Trusts a configuration that was found, and state folders that may have been created by somebody
/// else. With `file`, trusts only that configuration.
fn trust(context: &Context, file: Option<&std::path::Path>) -> Result<ExitCode> {
    let loaded = context.load_lenient()?;
    let found = match file {
        Some(file) => Some(context.environment.cwd.join(file)),
        None => loaded
            .layers
            .iter()
            .find(|layer| matches!(layer.kind, LayerKind::Found | LayerKind::Workroot))
            .map(|layer| layer.path.clone()),
    };
    let sha256 = found
        .as_ref()
        .map(|found| config::trust(context.environment.trust_file()?, found))
        .transpose()?;
    let states = if file.is_none() {
        context.trust_state(&loaded.config)?
    } else {
        Vec::new()
    };
    if found.is_none() && states.is_empty() {
        return Err(Failure::new(
            ErrorCode::ConfigError,
            "no local-agent.yaml is found from here",
        )
        .with_fix(Fix::ConfigureByCommand, "local-agent init --here"));
    }
    if context.out.json {
        let view = TrustedView {
            trusted: found.as_ref().map(|found| found.to_string_lossy()),
            sha256,
            state_folders: &states,
        };
        context.out.json(context.body(&view)?);
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(found), Some(sha256)) = (found, sha256) {
        context.out.line(&format!(
            "trusted: {} as it is now (sha256 {sha256})",
            found.display()
        ));
    }
    for state in states {
        context
            .out
            .line(&format!("trusted: the state folder {}", state.display()));
    }
    Ok(ExitCode::SUCCESS)
}
