//! The common setup of commands: the environment (read only here), the configuration, the sandbox,
//! the model.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::args::Global;
use super::links::{link_to_editor, set_link_template};
use super::output::{Output, TerminalWishes, talk};
use local_agent_agent::config::{
    self, ApiKeyUse, Config, ConfigProblem, EditedFile, FlagValue, Inputs, Layer, LayerKind, Loaded,
};
use local_agent_agent::operations::{self, EmbeddingModel, privacy};
use local_agent_embed::models::{ModelFiles, PreparedFolder, RerankerFiles};
use local_agent_files::sandbox::Sandbox;
use local_agent_net::ApiKey;
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::markdown::Scheme;

pub(super) use local_agent_agent::operations::{file_stamp, now, roots};

/// The environment of the process.
#[derive(Debug, Clone)]
pub(super) struct Environment {
    /// The caller's current folder.
    pub cwd: PathBuf,
    /// The folder in which the process was started, before `-C` was applied.
    pub started_in: Option<PathBuf>,
    /// What NO_COLOR and TERM say.
    pub wishes: TerminalWishes,
    inputs: Inputs,
    package_root: Option<PathBuf>,
    states_file: Option<PathBuf>,
    cache_dir: Option<PathBuf>,
    data_dir: Option<PathBuf>,
    server_token: Option<String>,
}

impl Environment {
    /// Reads LOCAL_AGENT_WORKROOT, LOCAL_AGENT_CONFIG, LOCAL_AGENT_OLLAMA_BASE_URL,
    /// OLLAMA_BASE_URL, LOCAL_AGENT_API_KEY, LOCAL_AGENT_SERVER_TOKEN, LOCAL_AGENT_LINK,
    /// QMD_EDITOR_URI, VISUAL, EDITOR, NO_COLOR, TERM, TERM_PROGRAM and the standard folders.
    /// Nothing else in the environment is ever read.
    pub(super) fn read(started_in: Option<PathBuf>) -> Result<Self> {
        let cwd = std::env::current_dir().map_err(|e| {
            Failure::new(
                ErrorCode::ConfigError,
                format!("the current folder cannot be used: {e}"),
            )
            .with_hint("change to a folder that exists")
        })?;
        let templates = ["LOCAL_AGENT_LINK", "QMD_EDITOR_URI"];
        if let Some(template) = templates.into_iter().find_map(given) {
            set_link_template(template);
        }
        for editor in ["VISUAL", "EDITOR", "TERM_PROGRAM"] {
            // The first one that opens addresses counts.
            link_to_editor(&variable(editor).unwrap_or_default());
        }
        let config_dir = dirs::config_dir().map(|dir| dir.join("local-agent"));
        let inputs = Inputs {
            cwd: cwd.clone(),
            user_config: config_dir.as_ref().map(|dir| dir.join("config.yaml")),
            env_workroot: variable("LOCAL_AGENT_WORKROOT"),
            env_config: variable("LOCAL_AGENT_CONFIG"),
            env_ollama_urls: [
                variable("LOCAL_AGENT_OLLAMA_BASE_URL"),
                variable("OLLAMA_BASE_URL"),
            ],
            env_api_key: variable("LOCAL_AGENT_API_KEY").and_then(|key| ApiKey::new(&key)),
            home: dirs::home_dir(),
            trust_file: config_dir.as_ref().map(|dir| dir.join("trust.json")),
            ..Inputs::default()
        };
        let package_root = std::env::current_exe()
            .ok()
            .and_then(|exe| exe.parent().map(Path::to_path_buf));
        Ok(Self {
            cwd,
            started_in,
            wishes: TerminalWishes {
                no_color: std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
                is_dumb: variable("TERM").is_some_and(|term| term == "dumb"),
            },
            inputs,
            package_root,
            states_file: config_dir.as_ref().map(|dir| dir.join("states")),
            cache_dir: dirs::cache_dir().map(|dir| dir.join("local-agent")),
            data_dir: dirs::data_dir().map(|dir| dir.join("local-agent")),
            server_token: variable("LOCAL_AGENT_SERVER_TOKEN").filter(|token| !token.is_empty()),
        })
    }

    /// The user's home folder.
    pub(super) fn home(&self) -> Result<&Path> {
        self.inputs.home.as_deref().ok_or_else(|| no_folder("home"))
    }

    /// The standard folder for this user's configurations.
    pub(super) fn config_base(&self) -> Result<PathBuf> {
        dirs::config_dir().ok_or_else(|| no_folder("configuration"))
    }

    /// The token for a running `serve`, if the environment gives one.
    pub(super) fn server_token(&self) -> Option<&str> {
        self.server_token.as_deref()
    }

    /// The user's own configuration file, which may not exist.
    pub(super) fn user_config(&self) -> Result<&Path> {
        self.inputs
            .user_config
            .as_deref()
            .ok_or_else(|| no_folder("configuration"))
    }

    /// The file that records trust in configurations that were found.
    pub(super) fn trust_file(&self) -> Result<&Path> {
        self.inputs
            .trust_file
            .as_deref()
            .ok_or_else(|| no_folder("configuration"))
    }

    /// The list of state folders that the user created or trusts.
    pub(super) fn states_file(&self) -> Result<&Path> {
        self.states_file
            .as_deref()
            .ok_or_else(|| no_folder("configuration"))
    }

    /// The folder for files that can be recreated.
    pub(super) fn cache_dir(&self) -> Result<&Path> {
        self.cache_dir.as_deref().ok_or_else(|| no_folder("cache"))
    }

    /// The folder for persistent data: the user's own state, and downloaded models.
    pub(super) fn data_dir(&self) -> Result<&Path> {
        self.data_dir.as_deref().ok_or_else(|| no_folder("data"))
    }

    /// Marks the cache folder, so that backups skip it (bford.info/cachedir). A failure is ignored.
    pub(super) fn mark_cache(&self) {
        let Ok(cache) = self.cache_dir() else { return };
        let tag = cache.join("CACHEDIR.TAG");
        if cache.is_dir() && !tag.exists() {
            let _ = super::write::write_whole(&tag, CACHE_TAG.as_bytes());
        }
    }

    /// The folder for packed weights.
    pub(super) fn prepared_dir(&self) -> Result<PathBuf> {
        Ok(self.cache_dir()?.join("models"))
    }

    /// The folder for downloaded models.
    pub(super) fn models_dir(&self) -> Result<PathBuf> {
        Ok(self.data_dir()?.join("models"))
    }
}

/// The value of an environment variable.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Gives each command that mends what is stale the options of this command line, so that it uses
/// the same folder and configuration.
fn complete_fixes(body: &mut Value) {
    let stale = body.get_mut("stale").and_then(Value::as_array_mut);
    let fixes = stale.into_iter().flatten();
    for fix in fixes.filter_map(|one| one.get_mut("fix")) {
        if let Some(command) = fix.as_str() {
            *fix = super::hints::here(command).into();
        }
    }
}

/// The value of an environment variable that is not blank.
fn given(name: &str) -> Option<String> {
    variable(name).filter(|value| !value.trim().is_empty())
}

/// The first line is the signature required by the standard.
const CACHE_TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n\
                         # This folder is a cache of local-agent; `local-agent clean` empties it.\n";

fn no_folder(which: &str) -> Failure {
    Failure::new(
        ErrorCode::ConfigError,
        format!("the system names no {which} folder for this user"),
    )
    .with_fix(Fix::ByPerson, "set HOME")
}

/// What a command prints with `--json` if its output is a text, without the roots.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TextView {
    text: String,
}

/// One run of one command.
#[derive(Debug, Clone)]
pub(super) struct Context {
    pub environment: Environment,
    pub global: Global,
    pub out: Output,
    /// Flags that set configuration keys.
    pub flags: Vec<FlagValue>,
    /// Whether to print nothing on success.
    pub quiet: bool,
    roots: OnceLock<Map<String, Value>>,
    first_step: OnceLock<Option<&'static str>>,
    api_key_use: OnceLock<ApiKeyUse>,
}

impl Context {
    /// A run that has not read any file yet.
    pub(super) fn new(environment: Environment, global: Global, out: Output) -> Self {
        Self {
            environment,
            global,
            out,
            flags: Vec::new(),
            quiet: false,
            roots: OnceLock::new(),
            first_step: OnceLock::new(),
            api_key_use: OnceLock::new(),
        }
    }

    fn inputs(&self) -> Inputs {
        Inputs {
            config_flag: self.global.config.clone(),
            workroot_flag: self.global.workroot.clone(),
            ollama_url_flag: self.global.ollama_base_url.clone(),
            flags: self.flags.clone(),
            ..self.environment.inputs.clone()
        }
    }

    /// Sets a configuration key for this run.
    pub(super) fn flag(&mut self, flag: &str, key: &'static str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.flags.push(FlagValue {
                flag: flag.to_owned(),
                key,
                value: value.to_string(),
            });
        }
    }

    /// The configuration, or its first problem. Warnings go to stderr.
    pub(super) fn load(&self) -> Result<Loaded> {
        let loaded = config::load(&self.inputs())?;
        self.first_step.get_or_init(|| {
            let has_none = loaded.config.sources.is_empty();
            has_none.then(|| loaded.config.first_step())
        });
        self.api_key_use
            .get_or_init(|| loaded.config.llm.api_key_use);
        self.say_warnings(&loaded.config);
        self.check_state(&loaded.config)?;
        self.roots.get_or_init(|| {
            roots(
                Some(&loaded.config),
                self.environment.package_root.as_deref(),
            )
        });
        Ok(loaded)
    }

    /// Prints a single warning; for several, only their number, because every command would repeat
    /// them. Sources that overlap are reported by [`Self::say_overlaps`].
    fn say_warnings(&self, config: &Config) {
        let warnings: Vec<&String> = config
            .warnings
            .iter()
            .filter(|one| !config.overlaps.contains(one))
            .collect();
        match warnings.as_slice() {
            [] => {}
            _ if self.quiet => {}
            [one] => talk(&format!("warning: {one}")),
            many => talk(&format!(
                "warning: {} settings are read differently from what they say ({} lists them)",
                many.len(),
                super::hints::here("local-agent config check"),
            )),
        }
    }

    /// Prints which sources overlap; for commands that change or read whole sources.
    pub(super) fn say_overlaps(&self, config: &Config) {
        for one in config.overlaps.iter().filter(|_| !self.quiet) {
            talk(&format!("warning: {one}"));
        }
    }

    /// As [`Self::load`], for a command that uses only the state folder: if the configuration has
    /// errors, as much of it as can be read, with a warning. A configuration that needs trust is
    /// refused, and so is one whose state folder does not exist.
    pub(super) fn load_for_state(&self) -> Result<Loaded> {
        let failure = match self.load() {
            Err(failure) if failure.code == ErrorCode::ConfigError => failure,
            done => return done,
        };
        let loaded = self.load_lenient()?;
        let is_error = |problem: &ConfigProblem| problem.failure.code == ErrorCode::ConfigError;
        if !loaded.problems.iter().all(is_error) || !loaded.config.state_dir.is_dir() {
            return Err(failure);
        }
        self.check_state(&loaded.config)?;
        talk(&format!("warning: {}", failure.message));
        Ok(loaded)
    }

    /// The configuration with all its problems as data.
    pub(super) fn load_lenient(&self) -> Result<Loaded> {
        config::load_lenient(&self.inputs())
    }

    /// As [`Self::load_lenient`], with a text in place of what is in a file.
    pub(super) fn load_with(&self, edited: EditedFile) -> Result<Loaded> {
        config::load_lenient(&Inputs {
            edited: Some(edited),
            ..self.inputs()
        })
    }

    /// The command that adds a first source; `None` if there is one, or if the configuration has not
    /// been read yet.
    pub(super) fn first_step(&self) -> Option<&'static str> {
        self.first_step.get().copied().flatten()
    }

    /// Whether the key for model servers is sent; `None` if the configuration has not been read
    /// yet.
    pub(super) fn api_key_use(&self) -> Option<ApiKeyUse> {
        self.api_key_use.get().copied()
    }

    /// The five roots in JSON outputs, from as much of the configuration as can be read. They are
    /// determined once, because a confined process may not read the configuration again.
    pub(super) fn roots(&self) -> Map<String, Value> {
        let read = || {
            let config = self.load_lenient().ok().map(|loaded| loaded.config);
            roots(config.as_ref(), self.environment.package_root.as_deref())
        };
        self.roots.get_or_init(read).clone()
    }

    /// The output of a command with `--json`: the fields of `view`, and the roots.
    ///
    /// # Errors
    /// `INTERNAL_ERROR` when the view cannot be serialized as JSON.
    pub(super) fn body(&self, view: &impl Serialize) -> Result<Value> {
        let mut body = to_value(view)?;
        if let Some(fields) = body.as_object_mut() {
            fields.extend(self.roots());
        }
        complete_fixes(&mut body);
        Ok(body)
    }

    /// Options with which a process started in any folder reads the same configuration as this one.
    /// Each file keeps its trust level: a file that was found is found again, so its requests still
    /// need trust.
    pub(super) fn again(&self, loaded: &Loaded) -> Vec<String> {
        let options = loaded.layers.iter().filter_map(|layer| match layer.kind {
            LayerKind::User => None,
            LayerKind::Found => Some(("-C", layer.path.parent()?)),
            LayerKind::Workroot => Some(("--workroot", layer.path.parent()?)),
            LayerKind::Named => Some(("--config", layer.path.as_path())),
        });
        // A workroot that was named may have no file.
        let has_file = |layer: &Layer| layer.kind == LayerKind::Workroot;
        let is_named =
            self.global.workroot.is_some() || self.environment.inputs.env_workroot.is_some();
        let workroot = loaded.config.workroot.as_deref();
        let without_file = workroot.filter(|_| is_named && !loaded.layers.iter().any(has_file));
        options
            .chain(without_file.map(|folder| ("--workroot", folder)))
            .flat_map(|(name, path)| [name.to_owned(), path.to_string_lossy().into_owned()])
            .collect()
    }

    /// The option that names the model server, if it was given, for a process started later.
    pub(super) fn server_option(&self) -> Vec<String> {
        let url = self.global.ollama_base_url.iter();
        url.flat_map(|url| ["--ollama-base-url".to_owned(), url.clone()])
            .collect()
    }

    /// Prints a text as it is or, with `--json`, as the field `text`.
    pub(super) fn print_text(&self, text: String) -> Result<ExitCode> {
        if self.out.json {
            self.out.json(self.body(&TextView { text })?);
        } else {
            self.out.raw(&text);
        }
        Ok(ExitCode::SUCCESS)
    }

    /// See [`operations::sandbox`].
    pub(super) fn sandbox(&self, config: &Config) -> Result<Sandbox> {
        operations::sandbox(config)
    }

    /// The files that a command may read; `for_agent`: only what an agent sees.
    pub(super) fn sandbox_for(&self, config: &Config, for_agent: bool) -> Result<Sandbox> {
        let sandbox = self.sandbox(config)?;
        let hidden = for_agent
            .then(|| privacy::kept_from_agents(config))
            .flatten();
        Ok(match hidden {
            Some(private) => sandbox.without_private(private),
            None => sandbox,
        })
    }

    /// The files of the configured embedding model, whose tokens measure chunks.
    pub(super) fn model(&self, config: &Config) -> Result<ModelFiles> {
        operations::model_files(config, self.environment.models_dir().ok().as_deref())
    }

    /// The files of the model that computes vectors inside this program.
    pub(super) fn embedding_files(&self, config: &Config) -> Result<ModelFiles> {
        operations::embedding_files(config, self.environment.models_dir().ok().as_deref())
    }

    /// The files of the configured reranker, if there is one.
    pub(super) fn reranker(&self, config: &Config) -> Result<Option<RerankerFiles>> {
        let models_dir = self.environment.models_dir().ok();
        let files = operations::reranker_files(config, models_dir.as_deref())?;
        let prepared = self.prepared();
        Ok(files.map(|files| match prepared {
            Some(folder) => files.with_prepared(folder),
            None => files,
        }))
    }

    /// The folder of packed weights; `None` without a cache folder, so that weights are packed each
    /// time.
    fn prepared(&self) -> Option<PreparedFolder> {
        let dir = self.environment.prepared_dir().ok()?;
        let warn = |text: &str| talk(&format!("warning: {text}"));
        Some(PreparedFolder::new(dir, warn))
    }

    /// The embedding model for questions and chunks.
    pub(super) fn embedding(&self, config: &Config) -> Result<EmbeddingModel> {
        let model =
            EmbeddingModel::configured(config, self.environment.models_dir().ok().as_deref())?;
        Ok(match self.prepared() {
            Some(folder) => model.with_prepared(folder),
            None => model,
        })
    }
}

/// The stable name of a scheme.
pub(super) const fn scheme_name(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::ObsidianV2 => "obsidian_v2",
        Scheme::ObsidianV1 => "obsidian_v1",
        Scheme::FixedWindowV1 => "fixed_window_v1",
    }
}

/// A view as the JSON that is printed, without the roots.
///
/// # Errors
/// `INTERNAL_ERROR` when it cannot be written as JSON.
pub(super) fn to_value(view: &impl Serialize) -> Result<Value> {
    serde_json::to_value(view)
        .map_err(|e| Failure::internal(format!("the result cannot be written as JSON: {e}")))
}
