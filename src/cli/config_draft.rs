//! A change of the configuration file, in memory until the result is known to be good.

use std::path::{Path, PathBuf};

use super::context::Context;
use super::read::read_text;
use super::write::{back_up, rewrite, write_whole};
use local_agent_agent::config::{
    self, EditedFile, FolderContext, Layer, LayerKind, Loaded, NewSource, Origin, SourceEdit,
    Template,
};
use local_agent_files::state::in_quotes;
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};

/// The file with the sources, with changes that are not written yet.
pub(super) struct ConfigDraft {
    target: PathBuf,
    /// The layer of the file; `None` if it does not exist yet.
    kind: Option<LayerKind>,
    /// The number of problems that the configuration had before.
    problems: usize,
    text: String,
}

/// A file that was written, and the copy of its earlier state.
pub(super) struct WrittenConfig {
    pub target: PathBuf,
    pub backup: Option<PathBuf>,
}

impl ConfigDraft {
    /// The file as it is; the user's first configuration if there is none.
    ///
    /// # Errors
    /// `CONFIG_UNTRUSTED` for an untrusted file; those of reading.
    pub(super) fn open(context: &Context) -> Result<Self> {
        let loaded = context.load_lenient()?;
        let problems = loaded.problems.len();
        let Some(layer) = target(&loaded) else {
            return Ok(Self {
                target: context.environment.user_config()?.to_path_buf(),
                kind: None,
                problems,
                text: first_text(context)?,
            });
        };
        if layer.kind == LayerKind::Found && layer.needs_trust && !layer.trusted {
            let message = format!("{} is not trusted", layer.path.display());
            return Err(Failure::new(ErrorCode::ConfigUntrusted, message)
                .with_command("local-agent config trust"));
        }
        Ok(Self {
            target: layer.path.clone(),
            kind: Some(layer.kind),
            problems,
            text: read_text(&layer.path)?,
        })
    }

    /// Changes the list of sources.
    ///
    /// # Errors
    /// Those of [`config::edit_sources`]; `CONFIG_ERROR` if there is no source to change.
    pub(super) fn edit_sources(&mut self, edit: &SourceEdit) -> Result<()> {
        let edit = match (self.kind, edit) {
            (Some(kind), edit) => relative_to(edit, &self.target, kind)?,
            (None, SourceEdit::Add(_)) => edit.clone(),
            (None, _) => return Err(no_sources()),
        };
        self.text = config::edit_sources(&self.target, &self.text, &edit)?;
        Ok(())
    }

    /// Changes the contexts in the file as this change to its sources needs. Returns those that
    /// went with a removed source.
    ///
    /// # Errors
    /// Those of [`config::contexts_after`] and [`config::edit_contexts`].
    pub(super) fn follow(&mut self, edit: &SourceEdit) -> Result<Vec<FolderContext>> {
        let Some(contexts) = config::contexts_after(&self.target, &self.text, edit)? else {
            return Ok(Vec::new());
        };
        self.set_contexts(&contexts.kept)?;
        Ok(contexts.removed)
    }

    /// The contexts that the file itself has.
    ///
    /// # Errors
    /// Those of [`config::contexts_in`].
    pub(super) fn contexts(&self) -> Result<Vec<FolderContext>> {
        config::contexts_in(&self.target, &self.text)
    }

    /// The file.
    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// Replaces the list of contexts.
    ///
    /// # Errors
    /// Those of [`config::edit_contexts`].
    pub(super) fn set_contexts(&mut self, contexts: &[FolderContext]) -> Result<()> {
        self.text = config::edit_contexts(&self.target, &self.text, contexts)?;
        Ok(())
    }

    /// The configuration that the draft would give.
    ///
    /// # Errors
    /// The first problem, if the configuration would have more of them than before.
    pub(super) fn checked(&self, context: &Context) -> Result<Loaded> {
        let edited = EditedFile {
            path: self.target.clone(),
            bytes: self.text.clone().into_bytes(),
        };
        let loaded = context.load_with(edited)?;
        match loaded.problems.first() {
            Some(problem) if loaded.problems.len() > self.problems => {
                let message = format!("{}; nothing was written", problem.failure.message);
                Err(Failure {
                    message,
                    ..problem.failure.clone()
                })
            }
            _ => Ok(loaded),
        }
    }

    /// Writes the file, if the result is good, after a copy of its earlier state.
    ///
    /// # Errors
    /// As [`Self::checked`]; those of writing.
    pub(super) fn write(self, context: &Context) -> Result<WrittenConfig> {
        self.checked(context)?;
        let Some(kind) = self.kind else {
            write_whole(&self.target, self.text.as_bytes())?;
            return Ok(WrittenConfig {
                target: self.target,
                backup: None,
            });
        };
        let backup = back_up(&self.target)?;
        rewrite(&self.target, self.text.as_bytes())?;
        if matches!(kind, LayerKind::Found | LayerKind::Workroot) {
            config::trust(context.environment.trust_file()?, &self.target)?;
        }
        Ok(WrittenConfig {
            target: self.target,
            backup: Some(backup),
        })
    }
}

/// The file with the effective sources; otherwise the last one that was read.
fn target(loaded: &Loaded) -> Option<&Layer> {
    let setting = loaded.origins.iter().find(|one| one.key == "sources");
    let named = match setting.map(|setting| &setting.origin) {
        Some(Origin::File { path, .. }) => loaded.layers.iter().find(|layer| layer.path == *path),
        _ => None,
    };
    named.or(loaded.layers.last())
}

/// The text of this user's first configuration, without sources.
fn first_text(context: &Context) -> Result<String> {
    let state = context.environment.data_dir()?;
    Ok(config::template(&Template {
        sources: Vec::new(),
        state_dir: Some(state.to_string_lossy().into_owned()),
        sources_anywhere: true,
    }))
}

/// The failure for a change that needs sources.
pub(super) fn no_sources() -> Failure {
    Failure::new(ErrorCode::ConfigError, "no sources are configured")
        .with_fix(Fix::ConfigureByCommand, "local-agent source add DIR")
}

/// The change with a path that the file may contain. A configuration in a folder may only name
/// paths below that folder.
fn relative_to(edit: &SourceEdit, target: &Path, kind: LayerKind) -> Result<SourceEdit> {
    let SourceEdit::Add(new) = edit else {
        return Ok(edit.clone());
    };
    let folder = target.parent().unwrap_or(Path::new("/"));
    let inside = config::within(Path::new(&new.root), folder);
    let root = match (kind, inside) {
        (LayerKind::Found | LayerKind::Workroot, None) => {
            let message = format!(
                "{} lies outside of {}, the folder that this configuration is for",
                new.root,
                folder.display()
            );
            return Err(
                Failure::new(ErrorCode::InvalidArgs, message).with_command(format!(
                    "local-agent -C / source add {} (changes your own configuration)",
                    in_quotes(&new.root)
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
