//! `config show`, `config check`, `config trust`.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::args::ConfigCommand;
use super::context::Context;
use super::index::extend;
use super::output::{count, talk};
use local_agent_agent::config::{self, LayerKind};
use local_agent_text::error::{ErrorCode, Failure, Result};

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
        let mut body = json!({"settings": loaded.origins, "files": loaded.layers, "warnings": loaded.config.warnings});
        extend(&mut body, context.roots());
        context.out.json(body);
        return Ok(ExitCode::SUCCESS);
    }
    for layer in &loaded.layers {
        let trusted = if layer.trusted { ", trusted" } else { "" };
        let kind = json!(layer.kind);
        context.out.line(&format!(
            "file: {} ({}{trusted})",
            layer.path.display(),
            kind.as_str().unwrap_or_default()
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
    loaded.problems.extend(loaded.config.llm.server().err());
    let ok = loaded.problems.is_empty();
    if context.out.json {
        let problems: Vec<Value> = loaded.problems.iter().map(problem_view).collect();
        let mut body = json!({"ok": ok, "problems": problems, "warnings": loaded.config.warnings, "files": loaded.layers});
        extend(&mut body, context.roots());
        context.out.json(body);
    } else {
        for problem in &loaded.problems {
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

/// A problem in the form of `--json`.
fn problem_view(f: &Failure) -> Value {
    json!({"error_code": f.code.as_str(), "error_message": f.message, "hint": f.hint})
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
        .with_hint("local-agent init --here"));
    }
    if context.out.json {
        let mut body = json!({
            "trusted": found.as_ref().map(|found| found.to_string_lossy()),
            "sha256": sha256,
            "state_folders": states,
        });
        extend(&mut body, context.roots());
        context.out.json(body);
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
