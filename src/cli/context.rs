//! What every command starts from: the environment (read here and nowhere else), the configuration, the sandbox, the
//! model.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::args::Global;
use super::output::{Output, talk};
use crate::config::{self, ApiKey, Config, FlagValue, Inputs, Loaded, Scheme};
use crate::error::{ErrorCode, Failure, Result};
use crate::markdown::{self, ChunkOptions};
use crate::models::{self, ModelFiles};
use crate::sandbox::{Policy, RootSpec, Sandbox};
use crate::types::SourceName;

/// What the process was started with.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The folder the caller stands in.
    pub cwd: PathBuf,
    /// Whether NO_COLOR is set.
    pub no_color: bool,
    inputs: Inputs,
    package_root: Option<PathBuf>,
    cache_dir: Option<PathBuf>,
    data_dir: Option<PathBuf>,
}

impl Environment {
    /// Reads LOCAL_AGENT_WORKROOT, LOCAL_AGENT_CONFIG, LOCAL_AGENT_OLLAMA_BASE_URL, OLLAMA_BASE_URL,
    /// LOCAL_AGENT_API_KEY, NO_COLOR and the standard folders. Nothing else of the environment is ever looked at.
    pub fn read() -> Result<Self> {
        let var = |name: &str| std::env::var(name).ok();
        let cwd = std::env::current_dir().map_err(|e| {
            Failure::new(ErrorCode::ConfigError, format!("the current folder cannot be used: {e}"))
                .with_hint("change to a folder that exists")
        })?;
        let config_dir = dirs::config_dir().map(|dir| dir.join("local-agent"));
        let inputs = Inputs {
            cwd: cwd.clone(),
            user_config: config_dir.as_ref().map(|dir| dir.join("config.yaml")),
            env_workroot: var("LOCAL_AGENT_WORKROOT"),
            env_config: var("LOCAL_AGENT_CONFIG"),
            env_ollama_urls: [var("LOCAL_AGENT_OLLAMA_BASE_URL"), var("OLLAMA_BASE_URL")],
            env_api_key: var("LOCAL_AGENT_API_KEY").and_then(|key| ApiKey::new(&key)),
            home: dirs::home_dir(),
            trust_file: config_dir.as_ref().map(|dir| dir.join("trust.json")),
            ..Inputs::default()
        };
        let package_root = std::env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf));
        Ok(Self {
            cwd,
            no_color: std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
            inputs,
            package_root,
            cache_dir: dirs::cache_dir().map(|dir| dir.join("local-agent")),
            data_dir: dirs::data_dir().map(|dir| dir.join("local-agent")),
        })
    }

    /// The user's own configuration file, which need not exist.
    pub fn user_config(&self) -> Result<&Path> {
        self.inputs.user_config.as_deref().ok_or_else(|| no_folder("configuration"))
    }

    /// Where agreements to found configurations are kept.
    pub fn trust_file(&self) -> Result<&Path> {
        self.inputs.trust_file.as_deref().ok_or_else(|| no_folder("configuration"))
    }

    /// The folder for what can be made again.
    pub fn cache_dir(&self) -> Result<&Path> {
        self.cache_dir.as_deref().ok_or_else(|| no_folder("cache"))
    }

    /// The folder for what should last: the user's own state, and downloaded models.
    pub fn data_dir(&self) -> Result<&Path> {
        self.data_dir.as_deref().ok_or_else(|| no_folder("data"))
    }

    /// Where downloaded models are.
    pub fn models_dir(&self) -> Result<PathBuf> {
        Ok(self.data_dir()?.join("models"))
    }
}

fn no_folder(which: &str) -> Failure {
    Failure::new(ErrorCode::ConfigError, format!("the system names no {which} folder for this user"))
        .with_hint("set HOME")
}

/// One run of one command.
#[derive(Debug)]
pub struct Context {
    pub environment: Environment,
    pub global: Global,
    pub out: Output,
    /// Flags that stand for configuration keys.
    pub flags: Vec<FlagValue>,
}

impl Context {
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
    pub fn flag(&mut self, flag: &str, key: &'static str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.flags.push(FlagValue { flag: flag.to_owned(), key, value: value.to_string() });
        }
    }

    /// The configuration, or the first thing that is wrong with it. Warnings go to stderr.
    pub fn load(&self) -> Result<Loaded> {
        let loaded = config::load(&self.inputs())?;
        for warning in &loaded.config.warnings {
            talk(&format!("warning: {warning}"));
        }
        Ok(loaded)
    }

    /// The configuration with everything that is wrong with it as data.
    pub fn load_lenient(&self) -> Result<Loaded> {
        config::load_lenient(&self.inputs())
    }

    /// The five roots that JSON outputs name, from as much of the configuration as can be read.
    pub fn roots(&self) -> Map<String, Value> {
        let config = self.load_lenient().ok().map(|loaded| loaded.config);
        roots(config.as_ref(), self.environment.package_root.as_deref())
    }

    /// The sandbox over every configured source, and over allowed folders that no source covers.
    pub fn sandbox(&self, config: &Config) -> Result<Sandbox> {
        let mut specs: Vec<RootSpec> = config
            .sources
            .iter()
            .map(|s| RootSpec { name: s.name.clone(), path: s.root.clone(), kind: s.kind.clone(), code: s.code })
            .collect();
        for root in &config.security.allowed_roots {
            if specs.iter().any(|spec| spec.path.starts_with(root)) {
                continue;
            }
            let stem = root.file_name().map_or_else(|| "root".to_owned(), |name| name.to_string_lossy().into_owned());
            let taken = |name: &str| specs.iter().any(|spec| spec.name.as_str() == name);
            let mut candidates = std::iter::once(stem.clone()).chain((2..).map(|n| format!("{stem}-{n}")));
            let name = candidates.find(|name| !taken(name)).unwrap_or(stem);
            if let Ok(name) = SourceName::new(name) {
                specs.push(RootSpec { name, path: root.clone(), kind: "allowed".to_owned(), code: false });
            }
        }
        let policy = Policy::from(&config.security).keep_out(config.protected.clone());
        Sandbox::with_base(specs, policy, &config.security_root)
    }

    /// The files of the configured embedding model, whose tokens chunks are measured in.
    pub fn model(&self, config: &Config) -> Result<ModelFiles> {
        model_files(config, self.environment.models_dir().ok().as_deref())
    }
}

/// The files of the configured embedding model: a folder of its own, the embedded default, or the model folder.
pub fn model_files(config: &Config, models_dir: Option<&Path>) -> Result<ModelFiles> {
    let embed = &config.embed;
    if embed.provider.is_server() {
        // The server has the model; its tokens are counted by the one that is compiled in.
        return ModelFiles::embedded();
    }
    let files = match (&embed.model_path, models_dir) {
        (Some(folder), _) => ModelFiles::from_folder(&embed.model, folder)?,
        (None, _) if embed.model == models::EMBEDDED_ID => ModelFiles::embedded()?,
        (None, Some(dir)) => ModelFiles::find(&embed.model, dir)?,
        (None, None) => return Err(no_folder("data")),
    };
    Ok(files.with_window(embed.max_length))
}

/// How files are cut, and the name of that way.
pub struct Cutting {
    pub options: ChunkOptions,
    pub sig: String,
}

impl Cutting {
    /// As the configuration says, counted in tokens of this model.
    pub fn new(config: &Config, files: &ModelFiles) -> Self {
        let index = &config.index;
        let options = ChunkOptions {
            scheme: index.scheme,
            max_tokens: index.max_tokens,
            max_chars: index.max_chars,
            overlap: index.overlap,
        };
        let sig = markdown::chunker_sig(&options, files.tokenizer_sha256());
        Self { options, sig }
    }
}

/// The five roots that JSON outputs name.
pub fn roots(config: Option<&Config>, package_root: Option<&Path>) -> Map<String, Value> {
    let path = |path: Option<&Path>| path.map(|p| p.to_string_lossy().into_owned());
    let body = json!({
        "resolved_config_path": path(config.and_then(|c| c.config_path.as_deref())),
        "config_root": path(config.and_then(|c| c.config_root.as_deref())),
        "package_root": path(package_root),
        "workroot": path(config.and_then(|c| c.workroot.as_deref())),
        "security_root": path(config.map(|c| c.security_root.as_path())),
    });
    match body {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The stable name of a scheme.
pub const fn scheme_name(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::ObsidianV2 => "obsidian_v2",
        Scheme::ObsidianV1 => "obsidian_v1",
        Scheme::FixedWindowV1 => "fixed_window_v1",
    }
}

/// Now, RFC 3339, UTC, whole seconds.
pub fn now() -> String {
    let now = OffsetDateTime::now_utc().replace_nanosecond(0).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    now.format(&Rfc3339).unwrap_or_default()
}

/// Now, as part of a file name.
pub fn file_stamp() -> String {
    now().replace(['-', ':'], "")
}

/// What others read while a job of this process holds a lock.
pub fn holder(command: &str) -> String {
    format!("pid {}, `local-agent {command}`, since {}", std::process::id(), now())
}
