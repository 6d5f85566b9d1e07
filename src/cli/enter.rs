//! What stands between a command and the program's own files: whether this user made them, and,
//! where the kernel can, confinement to what the command needs.

use std::path::{Path, PathBuf};

use super::context::Context;
use local_agent_agent::config::{Config, StateLocation};
use local_agent_embed::models::Precision;
use local_agent_files::sandbox::{self, Confinement, Places};
use local_agent_files::state::{KnownStates, Provenance, StateDirectory};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// The file in a state folder that keeps version control from taking questions, answers and memory
/// along.
const IGNORE_FILE: (&str, &str) = (
    ".gitignore",
    "# Made by local-agent: nothing in this folder belongs into a repository.\n*\n",
);

/// What a command needs beside reading sources, models and its own state.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// It makes the state folder when there is none.
    pub makes_state: bool,
    /// It changes files of the sources.
    pub changes_sources: bool,
    /// Files outside that a person named, to be read or made.
    pub files: Vec<PathBuf>,
}

impl Needs {
    /// Only looks.
    pub(super) fn nothing() -> Self {
        Self::default()
    }

    /// Keeps something that follows from an index: without one the command fails and makes nothing.
    pub(super) fn beside_index(config: &Config) -> Self {
        Self {
            makes_state: config.index.db_path.exists(),
            ..Self::default()
        }
    }

    /// Makes the state folder when there is none.
    pub(super) fn state() -> Self {
        Self {
            makes_state: true,
            ..Self::default()
        }
    }
}

impl Context {
    /// Makes what is missing of the state folders, if the command needs them, and lets the kernel
    /// confine this process to what the command needs. All of the configuration is read by then,
    /// and no thread may run yet.
    ///
    /// # Errors
    /// `WRITE_ERROR` when a state folder cannot be made, or cannot be noted as made by this user.
    pub(super) fn enter(&self, config: &Config, needs: &Needs) -> Result<Confinement> {
        if needs.makes_state {
            self.make_state(config)?;
            self.environment.mark_cache();
        }
        Ok(sandbox::confine(&self.places(config, needs)))
    }

    /// Refuses state folders that nobody says this user made.
    ///
    /// # Errors
    /// `CONFIG_UNTRUSTED` naming the folder.
    pub(super) fn check_state(&self, config: &Config) -> Result<()> {
        let known = self.known_states()?;
        for location in self.doubtful(config) {
            if known.provenance(&location.path)? == Provenance::Unknown {
                let message = format!(
                    "{} was not made by you on this machine, so nothing in it is used: databases, ledger and memory may be \
                     somebody else's; trust it only if you know where it comes from",
                    location.path.display()
                );
                return Err(Failure::new(ErrorCode::ConfigUntrusted, message)
                    .with_hint("local-agent config trust"));
            }
        }
        Ok(())
    }

    /// Notes every state folder that this configuration names as the user's own; gives their paths.
    ///
    /// # Errors
    /// `WRITE_ERROR`.
    pub(super) fn trust_state(&self, config: &Config) -> Result<Vec<PathBuf>> {
        let known = self.known_states()?;
        let mut out = Vec::new();
        for location in self.doubtful(config) {
            if known.provenance(&location.path)? == Provenance::Unknown {
                known.adopt(&location.path)?;
                out.push(location.path.clone());
            }
        }
        Ok(out)
    }

    /// State folders whose place the user did not choose: they may have come with a clone.
    fn doubtful<'a>(&self, config: &'a Config) -> impl Iterator<Item = &'a StateLocation> {
        let own = [self.environment.cache_dir(), self.environment.data_dir()]
            .map(|dir| dir.ok().map(Path::to_path_buf));
        let is_own = move |path: &Path| own.iter().flatten().any(|dir| path.starts_with(dir));
        config
            .state_locations
            .iter()
            .filter(move |location| !location.chosen && !is_own(&location.path))
    }

    fn known_states(&self) -> Result<KnownStates> {
        Ok(KnownStates::new(self.environment.states_file()?))
    }

    /// Makes what is missing of the state folders.
    pub(super) fn make_state(&self, config: &Config) -> Result<()> {
        let known = self.known_states()?;
        for location in self.doubtful(config) {
            if known.provenance(&location.path)? == Provenance::Empty {
                known.adopt(&location.path)?;
            }
        }
        config
            .state_locations
            .iter()
            .try_for_each(|location| make_private(config, location))
    }

    /// What the kernel lets the command open.
    pub(super) fn places(&self, config: &Config, needs: &Needs) -> Places {
        let mut places = Places {
            read: vec![],
            write: config
                .state_locations
                .iter()
                .map(|location| location.path.clone())
                .collect(),
        };
        let roots = config.sources.iter().map(|source| source.root.clone());
        let roots = roots.chain(config.security.allowed_roots.iter().cloned());
        if needs.changes_sources {
            places.write.extend(roots);
        } else {
            places.read.extend(roots);
        }
        if config.security.allow_any_path {
            places.read.push(PathBuf::from("/"));
        }
        places.read.extend(config.embed.model_path.iter().cloned());
        places.read.extend(self.environment.models_dir().ok());
        places
            .write
            .extend(needs.files.iter().filter_map(|file| existing_folder(file)));
        // Only where something is kept there.
        let kept = config.embed.precision != Precision::F32;
        if let Some(prepared) = self.environment.prepared_dir().ok().filter(|_| kept) {
            let _ = std::fs::create_dir_all(&prepared);
            places.write.push(prepared);
        }
        places
    }
}

/// Makes a state folder, and takes it from everybody but its owner.
fn make_private(config: &Config, location: &StateLocation) -> Result<()> {
    let fail = |e: std::io::Error| {
        local_agent_files::state::refusal(&e).unwrap_or_else(|| {
            let message = format!(
                "the state folder {} cannot be made: {e}",
                location.path.display()
            );
            Failure::new(ErrorCode::WriteError, message).with_hint(
                "free some space or allow writing there, or set `state_dir` to another folder",
            )
        })
    };
    let folder = StateDirectory::make_configured(&location.path).map_err(fail)?;
    // A database may have been placed in a folder that also holds other things; that one stays as
    // it is.
    if location.path != config.state_dir {
        return Ok(());
    }
    // Neither stops the work where the folder cannot be changed.
    if folder
        .metadata(IGNORE_FILE.0)
        .is_ok_and(|meta| meta.is_none())
    {
        let _ = folder.replace(IGNORE_FILE.0, IGNORE_FILE.1.as_bytes());
    }
    let _ = folder.make_private();
    for projection in ["lexical", "vectors"] {
        if let Ok(Some(folder)) = folder.child(projection) {
            let _ = folder.make_private();
        }
    }
    Ok(())
}

/// The nearest folder above a file that exists, for a file that may have to be made.
fn existing_folder(file: &Path) -> Option<PathBuf> {
    file.ancestors()
        .skip(1)
        .find(|folder| folder.is_dir())
        .map(Path::to_path_buf)
}
