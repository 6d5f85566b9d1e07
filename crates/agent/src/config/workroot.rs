//! Determines the workroot, and the file that `--config` means.

use std::path::{Path, PathBuf};

use super::findings::{Findings, Origin};
use super::load::{Inputs, Read, WORKROOT_FILE};
use super::places;
use super::typed::{Typed, Val};

/// The folder of a configuration file; its parent if that folder is called `configs`.
pub(super) fn config_root(file: &Path) -> Option<PathBuf> {
    let folder = file.parent()?;
    let is_configs = folder.file_name().is_some_and(|name| name == "configs");
    Some(
        folder
            .parent()
            .filter(|_| is_configs)
            .unwrap_or(folder)
            .to_owned(),
    )
}

/// A path from a flag or the environment: relative to the caller's folder.
fn callers_path(
    text: &str,
    origin: &Origin,
    inputs: &Inputs,
    findings: &mut Findings,
) -> Option<PathBuf> {
    match places::expand(text, &inputs.cwd, inputs.home.as_deref()) {
        Ok(path) => Some(path),
        Err(why) => {
            findings.problem("workroot", origin, why, None);
            None
        }
    }
}

/// The path of a flag, which need not be UTF-8. A `~` that the shell left is expanded.
fn flag_path(path: &Path, name: &str, inputs: &Inputs, findings: &mut Findings) -> Option<PathBuf> {
    match path.to_str() {
        Some(text) => callers_path(
            given(Some(text))?,
            &Origin::Flag(name.to_owned()),
            inputs,
            findings,
        ),
        None => Some(places::normalise(&inputs.cwd.join(path))),
    }
}

/// The path of `--config`, otherwise of LOCAL_AGENT_CONFIG.
pub(super) fn named_config(inputs: &Inputs, findings: &mut Findings) -> Option<PathBuf> {
    let flag = inputs.config_flag.as_deref().filter(|p| !is_blank(p));
    if let Some(path) = flag {
        return flag_path(path, "--config", inputs, findings);
    }
    let text = given(inputs.env_config.as_deref())?;
    callers_path(
        text,
        &Origin::Environment("LOCAL_AGENT_CONFIG"),
        inputs,
        findings,
    )
}

fn is_blank(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.trim().is_empty())
}

/// The workroot. The order is: flag, environment, nearest folder with a `local-agent.yaml`, the key
/// `workroot` of `--config`, that of the user's configuration.
pub(super) fn workroot(
    inputs: &Inputs,
    named: Option<&Read>,
    user: Option<&Read>,
    findings: &mut Findings,
) -> Option<(PathBuf, Origin)> {
    let typed_now = if let Some(path) = inputs.workroot_flag.as_deref().filter(|p| !is_blank(p)) {
        Some((
            flag_path(path, "--workroot", inputs, findings)?,
            Origin::Flag("--workroot".to_owned()),
        ))
    } else if let Some(text) = given(inputs.env_workroot.as_deref()) {
        let origin = Origin::Environment("LOCAL_AGENT_WORKROOT");
        Some((callers_path(text, &origin, inputs, findings)?, origin))
    } else {
        None
    };
    if let Some((root, origin)) = typed_now {
        if !root.is_dir() {
            let why = format!("the workroot {} is not a folder", root.display());
            findings.problem(
                "workroot",
                &origin,
                why,
                Some("name an existing folder with --workroot or LOCAL_AGENT_WORKROOT, or leave that out".into()),
            );
        }
        return Some((root, origin));
    }
    if let Some(root) = walk_up(&inputs.cwd, findings) {
        let file = root.join(WORKROOT_FILE);
        return Some((root, Origin::Found(file)));
    }
    let (origin, root) = [named, user].into_iter().flatten().find_map(|read| {
        let typed = read.typed.iter().find(|t| t.key.path == "workroot")?;
        Some((
            typed.origin.clone(),
            resolve_workroot(read, typed, inputs.home.as_deref()),
        ))
    })?;
    match root {
        Ok(root) => {
            if !root.is_dir() {
                findings.warn(
                    &origin,
                    format_args!("the workroot {} is not there", root.display()),
                );
            }
            Some((root, origin))
        }
        Err(why) => {
            findings.problem("workroot", &origin, why, None);
            None
        }
    }
}

/// A file's `workroot`, relative to the file's folder (its parent when the folder is called
/// `configs`).
fn resolve_workroot(
    read: &Read,
    typed: &Typed,
    home: Option<&Path>,
) -> Result<PathBuf, &'static str> {
    let base = config_root(&read.layer.path).unwrap_or_default();
    match &typed.val {
        Val::Text(text) => places::expand(text, &base, home),
        _ => Err("`workroot` takes a path"),
    }
}

/// The nearest folder at or above `cwd` that contains a `local-agent.yaml`.
fn walk_up(cwd: &Path, findings: &mut Findings) -> Option<PathBuf> {
    let cwd = places::normalise(cwd);
    for folder in cwd.ancestors() {
        let file = folder.join(WORKROOT_FILE);
        if file.is_file() {
            return Some(folder.to_owned());
        }
        if file.exists() || file.is_symlink() {
            findings.warnings.push(format!(
                "{} is not a file and is passed over",
                file.display()
            ));
        }
    }
    None
}

/// `text`, or `None` if it is blank.
pub(super) fn given(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|t| !t.is_empty())
}

/// Warns about a `workroot` key in the workroot's own file, which is read too late and ignored.
pub(super) fn ignored_workroot(
    file: &Read,
    root: &Path,
    home: Option<&Path>,
    findings: &mut Findings,
) {
    if let Some(typed) = file.typed.iter().find(|t| t.key.path == "workroot")
        && resolve_workroot(file, typed, home).as_deref() != Ok(root)
    {
        findings.warn(
            &typed.origin,
            format_args!(
                "`workroot` has no effect here: the workroot is {}",
                root.display()
            ),
        );
    }
}
