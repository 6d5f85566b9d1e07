//! `skill`: a file that teaches an agent to search, read, cite and verify.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::SkillCommand;
use super::context::Context;
use super::read::read_text;
use super::write::{back_up, write_whole};
use local_agent_files::state::quoted;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

/// The content of the file.
const TEXT: &str = include_str!("SKILL.md");

/// The path of the file, below the home folder or a project's folder.
const PLACE: [&str; 4] = [".claude", "skills", "local-agent", "SKILL.md"];

/// The last line of a file that this program wrote, before and after the hash of the text above it.
/// If the hash differs, a person has changed the file.
const SEAL: (&str, &str) = (
    "<!-- Written by local-agent; sha256 of the text above: ",
    " -->\n",
);

pub(super) fn run(context: &Context, command: &SkillCommand) -> Result<ExitCode> {
    match command {
        SkillCommand::Show => context.print_text(TEXT.to_owned()),
        SkillCommand::Install { dir, force } => install(context, dir.as_deref(), *force),
    }
}

/// The result of the installation.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct InstalledView {
    file: String,
    changed: bool,
    /// The backup of a file that a person had changed; null if no such file was replaced.
    backup: Option<String>,
}

/// The kind of file at the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    /// This version.
    Same,
    /// Another version, unchanged since the program wrote it.
    Older,
    /// A file that a person wrote or changed.
    Theirs,
}

fn install(context: &Context, dir: Option<&Path>, force: bool) -> Result<ExitCode> {
    let base = match dir {
        Some(dir) => dir.to_owned(),
        None => context.environment.home()?.to_owned(),
    };
    let file = base.join(PLACE.iter().collect::<PathBuf>());
    let found = found(&file)?;
    if found == Found::Theirs && !force {
        return Err(changed_by_hand(&file, dir));
    }
    let backup = match found {
        Found::Theirs => Some(back_up(&file)?),
        _ => None,
    };
    if found != Found::Same {
        write_whole(&file, sealed().as_bytes())?;
    }
    let view = InstalledView {
        file: file.to_string_lossy().into_owned(),
        changed: found != Found::Same,
        backup: backup.map(|path| path.to_string_lossy().into_owned()),
    };
    say(context, &view)
}

fn say(context: &Context, view: &InstalledView) -> Result<ExitCode> {
    if context.out.json {
        context.out.json(context.body(view)?);
        return Ok(ExitCode::SUCCESS);
    }
    context.out.line(&match view.changed {
        true => format!("written: {}", view.file),
        false => format!("{} has it already", view.file),
    });
    if let Some(backup) = &view.backup {
        context.out.line(&format!("as it was: {backup}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn changed_by_hand(file: &Path, dir: Option<&Path>) -> Failure {
    let message = format!(
        "{} was changed since it was written, so it was left as it is",
        file.display()
    );
    let dir = dir.map_or_else(String::new, |dir| format!(" --dir {}", quoted(dir)));
    Failure::new(ErrorCode::ConfigError, message).with_command(format!(
        "local-agent skill install{dir} --force (replaces it and keeps a copy)"
    ))
}

fn found(file: &Path) -> Result<Found> {
    if !file.exists() {
        return Ok(Found::Nothing);
    }
    let text = read_text(file)?;
    Ok(if text == sealed() {
        Found::Same
    } else if is_as_written(&text) {
        Found::Older
    } else {
        Found::Theirs
    })
}

/// The text with the last line by which later versions recognise it.
fn sealed() -> String {
    seal(TEXT)
}

fn seal(text: &str) -> String {
    let (before, after) = SEAL;
    format!("{text}\n{before}{}{after}", Sha256::of(text.as_bytes()))
}

/// Whether some version of this program wrote the file and it is unchanged.
fn is_as_written(text: &str) -> bool {
    text.rfind(SEAL.0)
        .and_then(|at| text[..at].strip_suffix('\n'))
        .is_some_and(|above| seal(above) == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_by_hand_is_noticed() {
        let written = seal("# A\n\nOlder.\n");
        assert!(is_as_written(&written));
        for theirs in [
            written.replace("Older", "Mine"),
            format!("{written}More.\n"),
            "# Mine\n".to_owned(),
            String::new(),
        ] {
            assert!(!is_as_written(&theirs), "{theirs}");
        }
    }

    #[test]
    fn the_skill_names_only_tools_that_exist() {
        let known: Vec<&str> = crate::mcp::names()
            .chain(["outline", "related_files"])
            .collect();
        for tool in [
            "search",
            "ask",
            "get",
            "outline",
            "links",
            "similar",
            "related_files",
            "verify",
            "memory_search",
        ] {
            assert!(TEXT.contains(&format!("`{tool}`")), "{tool}");
            assert!(known.contains(&tool), "{tool}");
        }
    }
}
