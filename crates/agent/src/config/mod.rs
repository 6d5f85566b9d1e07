//! Turns raw configuration (what was typed) into [`Config`] (validated, roots resolved).
//!
//! Layers, lowest first: `configs/default.yaml` (compiled in), the user's configuration,
//! `<workroot>/local-agent.yaml`, `--config`, environment and flags. Every value knows the line it
//! was typed on. `raw` reads YAML, `typed` checks keys and types against the table in `keys`,
//! `compat` replaces the ancestor's keys, `trust` checks what a found file requests, `validate`
//! resolves paths, `show` prints everything for people, `edit` changes the list of sources in a
//! file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use local_agent_embed::embedding::{ServerSpec, Wire};
use local_agent_embed::models::Precision;
use local_agent_files::sandbox::Security;
use local_agent_index::indexing::Source;
use local_agent_index::retrieval::Fusion;
use local_agent_net::{ApiKey, ServerUrl};
use local_agent_text::evidence::HeadingMatch;
use local_agent_text::markdown::Scheme;

use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::RelPath;

mod compat;
mod edit;
mod findings;
mod folder_context;
mod import;
pub mod keys;
mod load;
mod places;
mod raw;
mod show;
mod sources;
mod table;
mod trust;
mod typed;
mod validate;
mod values;
mod workroot;

pub use edit::{NewSource, SourceEdit, edit_contexts, edit_sources};
pub use findings::Origin;
pub use folder_context::{FolderContext, context_of};
pub use import::{Imported, OtherProgram, import};
pub use load::{
    FlagValue, Inputs, Layer, LayerKind, Loaded, Setting, WORKROOT_FILE, load, load_lenient,
};
pub use places::within;
pub use show::{Template, reference_markdown, template};
pub use trust::{is_trusted, trust};

/// Everything the commands need to know, validated; all paths absolute.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file that was loaded last, if any (`resolved_config_path` in JSON).
    pub config_path: Option<PathBuf>,
    /// The folder of that file; its parent when the folder is called `configs`.
    pub config_root: Option<PathBuf>,
    /// The folder of a person's own state and sources, if set.
    pub workroot: Option<PathBuf>,
    /// The folder that relative paths are joined to: workroot, otherwise config_root, otherwise the
    /// current folder.
    pub security_root: PathBuf,
    pub security: Security,
    /// May be empty: a configuration without sources loads, and `index` says how to add one.
    pub sources: Vec<Source>,
    pub contexts: Vec<FolderContext>,
    pub index: Index,
    pub embed: Embed,
    pub retrieve: Retrieve,
    pub ask: Ask,
    pub verify_judge: VerifyJudge,
    pub llm: Llm,
    pub tools: Tools,
    pub mcp: Mcp,
    pub runs: Runs,
    pub memory: Memory,
    /// The folder for the program's own files. With the ancestor's locations it may be empty.
    pub state_dir: PathBuf,
    /// The outermost folders that contain the program's own files.
    pub state_locations: Vec<StateLocation>,
    /// Folders whose content is never readable, whichever root contains them: state and run
    /// records. Earlier answers are not evidence.
    pub protected: Vec<PathBuf>,
    /// Warnings about keys that were interpreted differently from what they say (the ancestor's
    /// keys).
    pub warnings: Vec<String>,
    /// The client that this configuration was limited to; `None`: it is the owner's.
    pub client: Option<LimitedClient>,
}

/// A client of the server that sees only a part: some sources, no private notes, and only its own
/// runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitedClient {
    /// The name in the records of its runs.
    pub asked_by: String,
    /// RFC 3339, UTC. A run that began earlier is not its own: somebody else may have had the name.
    pub since: String,
}

impl LimitedClient {
    /// Whether a run with this name and this beginning is its own. A client of the Model Context
    /// Protocol adds its own name after a colon.
    pub fn made(&self, asked_by: &str, started_at: &str) -> bool {
        let rest = asked_by.strip_prefix(&self.asked_by);
        let is_named = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(": "));
        is_named && started_at >= self.since.as_str()
    }
}

impl Config {
    /// The same configuration as one client may see it: only these sources (all if empty) and
    /// nothing outside of sources. Every operation that gets it, and a sandbox without private
    /// notes, gives nothing else.
    #[must_use]
    pub fn limited_to(&self, sources: &[String], client: LimitedClient) -> Self {
        let mut limited = self.clone();
        let may = |name: &str| sources.is_empty() || sources.iter().any(|own| own == name);
        limited.sources.retain(|source| may(source.name.as_str()));
        limited.security.allowed_roots.clear();
        limited.security.allow_any_path = false;
        limited.client = Some(client);
        limited
    }
}

/// `index.*`.
#[derive(Debug, Clone)]
pub struct Index {
    pub db_path: PathBuf,
    pub scheme: Scheme,
    /// Upper bound of one chunk, in tokens of the embedded model (`obsidian_v2`).
    pub max_tokens: usize,
    /// Upper bound of one chunk in characters (`obsidian_v1`, `fixed_window_v1`).
    pub max_chars: usize,
    /// Overlap in characters (`obsidian_v1`, `fixed_window_v1`).
    pub overlap: usize,
}

/// `embed.*`.
#[derive(Debug, Clone)]
pub struct Embed {
    pub db_path: PathBuf,
    pub provider: EmbedProvider,
    /// `auto`, the id of a compiled-in model, or the id of a model in the model folder.
    pub model: String,
    /// A folder with the model's files, instead of the model folder.
    pub model_path: Option<PathBuf>,
    /// The precision for embedding passages inside this program.
    pub precision: Precision,
    /// The instruction set to use, by the kernels' names; `None`: the best that the machine has.
    pub instructions: Option<&'static str>,
    /// Tokens in one forward pass; bounds memory.
    pub batch_tokens: usize,
    /// Window in tokens; capped by the model's own.
    pub max_length: Option<usize>,
    /// Put before a question for a server's model; models in this program have their own prefix.
    pub query_prefix: String,
    /// Put before a passage for a server's model.
    pub passage_prefix: String,
    /// Number of worker threads; 0 = one per core.
    pub threads: usize,
    /// How long a vector that no chunk uses is kept.
    pub keep_unused_days: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedProvider {
    Candle,
    Ollama,
    OpenAi,
}

impl EmbedProvider {
    /// The word in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Candle => "candle",
            Self::Ollama => "ollama",
            Self::OpenAi => "openai",
        }
    }

    /// Whether a server computes the vectors.
    pub const fn is_server(self) -> bool {
        !matches!(self, Self::Candle)
    }
}

/// `retrieve.*`.
#[derive(Debug, Clone)]
pub struct Retrieve {
    pub fusion: Fusion,
    /// Share of the vector side in `convex`, 0 to 1; `None`: the share in the model's profile.
    pub vector_weight: Option<f32>,
    /// Only search documents below this folder.
    pub path_prefix: Option<RelPath>,
}

/// `ask.*`.
#[derive(Debug, Clone)]
pub struct Ask {
    pub provider: AskProvider,
    /// Evidence items in a snapshot, at least 1.
    pub top_n: usize,
    /// Tokens of evidence in a snapshot.
    pub max_evidence_tokens: usize,
    pub strict: bool,
    pub heading_match: HeadingMatch,
    pub normalize_heading: bool,
    /// `false` (from the ancestor's `citation_validation.enabled`): answers are still checked but
    /// printed under `UNVERIFIED`.
    pub show_as_verified: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskProvider {
    Auto,
    Extractive,
    Ollama,
    OpenAi,
}

/// `verify.judge.*`: which model gives a second opinion.
#[derive(Debug, Clone)]
pub struct VerifyJudge {
    pub provider: JudgeProvider,
    /// `None`: no second opinion.
    pub model: Option<String>,
}

/// The server type for second opinions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgeProvider {
    Ollama,
    OpenAi,
}

/// Whether LOCAL_AGENT_API_KEY is sent to the server at `llm.base_url`, and why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiKeyUse {
    Sent,
    /// The variable is not set.
    NotSet,
    /// The address is in a file that the user does not trust.
    FileNotTrusted,
    /// The address is the default one, or was found on this machine.
    AddressNotChosen,
}

/// `llm.*`: settings for the chat models; no server is contacted unless a command needs it.
#[derive(Debug, Clone)]
pub struct Llm {
    pub model: Option<String>,
    pub model_fast: Option<String>,
    pub model_big: Option<String>,
    pub prefer_fast: bool,
    pub big_triggers: Vec<String>,
    /// As typed; commands that contact the server call [`Llm::server`].
    pub base_url: String,
    /// Where `base_url` comes from.
    pub base_url_origin: Origin,
    /// LOCAL_AGENT_API_KEY, when `api_key_use` is [`ApiKeyUse::Sent`].
    pub api_key: Option<ApiKey>,
    pub api_key_use: ApiKeyUse,
    pub max_tokens: u32,
    pub max_tokens_big_second: u32,
    pub temperature: f32,
    pub timeout_s: u64,
    pub timeout_s_big_second: u64,
    pub max_chars_full_read: usize,
}

/// `tools.*`.
#[derive(Debug, Clone)]
pub struct Tools {
    /// By tool name.
    pub rules: BTreeMap<&'static str, ToolRule>,
    /// Maximum number of replies of a model in one loop.
    pub max_turns: u32,
    /// Maximum number of bytes of results given to a model in one loop.
    pub max_result_bytes: usize,
    /// Longest time of one loop, in seconds.
    pub timeout_s: u64,
    /// Maximum number of changes to files within a day.
    pub max_writes: u32,
}

/// Whether a tool may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolRule {
    Allow,
    /// Each call by a model or an agent must be confirmed at the terminal.
    Ask,
    Deny,
}

impl ToolRule {
    /// Its word in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// `mcp.*`.
#[derive(Debug, Clone, PartialEq)]
pub struct Mcp {
    /// Names of the note operations offered to agents.
    pub operations: Vec<String>,
    /// Names of the file tools offered to agents.
    pub tools: Vec<String>,
    /// Whether agents see private notes.
    pub private_notes: bool,
}

/// A folder that contains files of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateLocation {
    pub path: PathBuf,
    /// The user named it in their own configuration, as a flag or as a variable: it did not come
    /// with another folder.
    pub chosen: bool,
}

/// `runs.*`.
#[derive(Debug, Clone)]
pub struct Runs {
    pub dir: PathBuf,
    /// Whether `ask` keeps records.
    pub enabled: bool,
    pub log_evidence_excerpts: bool,
    pub max_total_evidence_chars: usize,
    pub max_excerpt_chars: usize,
    /// Keep the evidence bytes in `<run>/evidence/`.
    pub keep_evidence: bool,
}

/// `memory.*`.
#[derive(Debug, Clone)]
pub struct Memory {
    pub db_path: PathBuf,
    pub enabled: bool,
}

impl Config {
    /// The compiled-in defaults relative to `security_root`, without sources: for commands that
    /// need no file, and for tests.
    ///
    /// # Errors
    /// Only `INTERNAL_ERROR`.
    pub fn defaults(security_root: &Path) -> Result<Self> {
        let inputs = Inputs {
            cwd: security_root.to_owned(),
            ..Inputs::default()
        };
        load::without_files(&inputs)
    }

    /// The folder of the lexical projection: next to the index database, `lexical` for
    /// `index.sqlite`.
    pub fn lexical_dir(&self) -> PathBuf {
        projection(&self.index.db_path, "index.sqlite", "lexical")
    }

    /// The folder of the vector projection: next to the embeddings database, `vectors` for
    /// `embeddings.sqlite`.
    pub fn vectors_dir(&self) -> PathBuf {
        projection(&self.embed.db_path, "embeddings.sqlite", "vectors")
    }

    /// Held by `index` while it writes.
    pub fn index_lock(&self) -> PathBuf {
        self.index.db_path.with_file_name("index.lock")
    }

    /// Held by `embed` while it writes.
    pub fn embed_lock(&self) -> PathBuf {
        self.embed.db_path.with_file_name("embed.lock")
    }
}

impl Config {
    /// The server that computes vectors. If vectors are computed in this program, no server is
    /// configured, and the settings are read as for Ollama. `timeout` limits each request.
    ///
    /// # Errors
    /// `CONFIG_ERROR` for an invalid address.
    pub fn embedding_server(&self, timeout: Duration) -> Result<ServerSpec> {
        let wire = if self.embed.provider == EmbedProvider::OpenAi {
            Wire::OpenAi
        } else {
            Wire::Ollama
        };
        Ok(ServerSpec {
            wire,
            base: self.llm.server()?.to_string(),
            model: self.embed.model.clone(),
            key: self.llm.api_key.clone(),
            query_prefix: self.embed.query_prefix.clone(),
            passage_prefix: self.embed.passage_prefix.clone(),
            timeout,
        })
    }
}

/// A projection belongs to one database: another database in the same folder gets its own folder.
fn projection(database: &Path, usual: &str, folder: &str) -> PathBuf {
    match database.file_name() {
        Some(name) if name != usual => {
            database.with_file_name(format!("{}.{folder}", name.to_string_lossy()))
        }
        _ => database.with_file_name(folder),
    }
}

impl Llm {
    /// The server's address, checked now: an invalid one affects only the commands that would use
    /// it.
    ///
    /// # Errors
    /// `CONFIG_ERROR` with the address, what is wrong with it, and the flag, variable or line it
    /// comes from.
    pub fn server(&self) -> Result<ServerUrl> {
        ServerUrl::parse(&self.base_url).map_err(|why| {
            let shown = raw::shown(&self.base_url);
            let message = format!(
                "{}: `{shown}` is not a server address: {why}",
                self.base_url_origin
            );
            Failure::new(ErrorCode::ConfigError, message)
                .with_hint("write it as `http://127.0.0.1:11434`")
        })
    }
}

#[cfg(test)]
mod tests;
