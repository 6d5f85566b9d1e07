//! Checks and confinement before a command uses the program's own files. It checks whether this
//! user created them, and lets the kernel, if it supports that, confine the process to what the
//! command needs.

use std::path::{Path, PathBuf};

use super::context::Context;
use local_agent_agent::config::{Config, RerankerName, StateLocation};
use local_agent_embed::models::Precision;
use local_agent_files::sandbox::{self, Confinement, Places};
use local_agent_files::state::{KnownStates, Provenance, StateDirectory};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// The file in a state folder that keeps questions, answers and memory out of version control.
const IGNORE_FILE: (&str, &str) = (
    ".gitignore",
    "# Made by local-agent: nothing in this folder belongs in a repository.\n*\n",
);

/// The access that a command needs in addition to reading sources, models and its own state.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// Whether it creates a missing state folder.
    pub makes_state: bool,
    /// Whether it changes source files.
    pub changes_sources: bool,
    /// Files outside the roots that a person named, to be read or created.
    pub files: Vec<PathBuf>,
}

impl Needs {
    /// The needs of a command that only reads.
    pub(super) fn nothing() -> Self {
        Self::default()
    }

    /// The needs of a command that stores data for an index. Without an index it fails and creates
    /// nothing.
    pub(super) fn beside_index(config: &Config) -> Self {
        Self {
            makes_state: config.index.db_path.exists(),
            ..Self::default()
        }
    }

    /// The needs of a command that creates a missing state folder.
    pub(super) fn state() -> Self {
        Self {
            makes_state: true,
            ..Self::default()
        }
    }
}

impl Context {
    /// Creates missing state folders, if the command needs them, and lets the kernel confine this
    /// process to what the command needs. The configuration must have been read completely, and no
    /// thread may be running yet.
    ///
    /// # Errors
    /// `WRITE_ERROR` when a state folder cannot be created, or cannot be recorded as created by
    /// this user.
    pub(super) fn enter(&self, config: &Config, needs: &Needs) -> Result<Confinement> {
        if needs.makes_state {
            self.make_state(config)?;
            self.environment.mark_cache();
        }
        Ok(sandbox::confine(&self.places(config, needs)))
    }

    /// Refuses state folders that are not recorded as created by this user.
    ///
    /// # Errors
    /// `CONFIG_UNTRUSTED` with the folder.
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
                    .with_command("local-agent config trust"));
            }
        }
        Ok(())
    }

    /// Records every state folder in this configuration as the user's own; returns their paths.
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

    /// State folders whose location the user did not choose: they may have come with a clone.
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

    /// Creates missing state folders.
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

    /// The locations that the kernel lets the command open.
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
        if let Some(RerankerName::Folder(folder)) = &config.retrieve.reranker {
            places.read.push(folder.clone());
        }
        places.read.extend(self.environment.models_dir().ok());
        places
            .write
            .extend(needs.files.iter().filter_map(|file| existing_folder(file)));
        // Only if packed weights are stored there.
        let kept = config.embed.precision != Precision::F32;
        if let Some(prepared) = self.environment.prepared_dir().ok().filter(|_| kept) {
            let _ = std::fs::create_dir_all(&prepared);
            places.write.push(prepared);
        }
        places
    }
}

/// Creates a state folder, and restricts it to its owner.
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
    // The user may have placed a database in a folder that also contains other files. Such a folder
    // is not changed.
    if location.path != config.state_dir {
        return Ok(());
    }
    // A folder that cannot be changed does not stop the command.
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

/// The nearest existing folder above a file that may have to be created.
fn existing_folder(file: &Path) -> Option<PathBuf> {
    file.ancestors()
        .skip(1)
        .find(|folder| folder.is_dir())
        .map(Path::to_path_buf)
}
