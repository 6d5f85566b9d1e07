//! Turns raw configuration (what was typed) into [`Config`] (validated, roots resolved).
//!
//! Layers, lowest first: `configs/default.yaml` (compiled in), the user's configuration,
//! `<workroot>/local-agent.yaml`, `--config`, environment and flags. Every value knows the line it
//! was typed on. `raw` reads YAML, `typed` checks keys and types against the table in `keys`,
//! `compat` replaces the Python version's keys, `trust` checks what a found file requests,
//! `validate` resolves paths, `show` prints everything for people, `edit` changes the list of
//! sources in a file.

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
mod globs;
mod import;
pub mod keys;
mod load;
mod places;
mod raw;
mod show;
mod sources;
mod table;
mod this_machine;
mod trust;
mod typed;
mod unknown_source;
mod untrusted;
mod validate;
mod values;
mod words;
mod workroot;

pub use edit::{
    ContextsAfter, NewSource, SourceEdit, contexts_after, contexts_in, edit_contexts, edit_sources,
};
pub use findings::{ConfigArea, ConfigProblem, Origin};
pub use folder_context::{FolderContext, context_of};
pub use globs::{GlobSettings, split_list};
pub use import::{Imported, OtherProgram, import};
pub use load::{
    EditedFile, FlagValue, Inputs, Layer, LayerKind, Loaded, Setting, WORKROOT_FILE, load,
    load_lenient,
};
pub use places::within;
pub use show::{Template, reference_markdown, template};
pub use this_machine::{is_cloud_model, stays_on_this_machine};
pub use trust::{is_trusted, trust};
pub use unknown_source::{similar_names, unknown_source};

/// The validated configuration for all commands; all paths are absolute.
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
    /// `security.*`: which files may be opened, and how large they may be.
    pub security: Security,
    /// The sources. The list may be empty: the configuration loads, and `index` says how to add a
    /// source.
    pub sources: Vec<Source>,
    /// The user's descriptions of sources and folders, in the order of the configuration. An entry
    /// about an unknown source is kept, with a warning.
    pub contexts: Vec<FolderContext>,
    /// The location of the index, and how documents are cut into chunks.
    pub index: Index,
    /// The embedding model and its settings.
    pub embed: Embed,
    /// How the lists of hits are merged, and which folder is searched.
    pub retrieve: Retrieve,
    /// The answerer, the amount of evidence, and how strictly citations are compared.
    pub ask: Ask,
    /// The model for second opinions, if any.
    pub verify_judge: VerifyJudge,
    /// The chat models, their server and their limits.
    pub llm: Llm,
    /// The rule of each tool, and the limits of a loop of tool calls.
    pub tools: Tools,
    /// The operations and tools that agents are offered.
    pub mcp: Mcp,
    /// Whether and where run records are kept, and how much evidence they contain.
    pub runs: Runs,
    /// The location of the durable memory, and whether its commands are enabled.
    pub memory: Memory,
    /// The folder for the program's own files. With the Python version's locations it may be empty.
    pub state_dir: PathBuf,
    /// The outermost folders that contain the program's own files.
    pub state_locations: Vec<StateLocation>,
    /// Folders whose content is never readable, even inside a root: state and run records. Earlier
    /// answers are not evidence.
    pub protected: Vec<PathBuf>,
    /// Warnings about keys (the Python version's) that have another meaning here.
    pub warnings: Vec<String>,
    /// Those of `warnings` that say which sources overlap. Commands that only search do not repeat
    /// them.
    pub overlaps: Vec<String>,
    /// The client that this configuration is limited to; `None`: the owner's configuration.
    pub client: Option<LimitedClient>,
}

/// A client of the server with limited access: some sources, no private notes, and only its own
/// runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitedClient {
    /// The name in the records of its runs.
    pub asked_by: String,
    /// RFC 3339, UTC. Earlier runs are not its own, because another client may have had the same
    /// name.
    pub since: String,
}

impl LimitedClient {
    /// Whether a run with this name and start time is the client's own. A client of the Model
    /// Context Protocol appends its own name after a colon.
    pub fn made(&self, asked_by: &str, started_at: &str) -> bool {
        let rest = asked_by.strip_prefix(&self.asked_by);
        let is_named = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(": "));
        is_named && started_at >= self.since.as_str()
    }
}

impl Config {
    /// The command that makes this folder the first source: `init` writes a configuration only where
    /// there is none.
    #[must_use]
    pub const fn first_step(&self) -> &'static str {
        match self.config_path {
            Some(_) => "local-agent source add .",
            None => "local-agent init --here",
        }
    }

    /// The same configuration limited to one client: only these sources (all if empty), and no
    /// files outside sources. An operation with this configuration and a sandbox without private
    /// notes returns nothing else.
    #[must_use]
    pub fn limited_to(&self, sources: &[String], client: LimitedClient) -> Self {
        let mut limited = self.clone();
        limited.sources.retain(|source| {
            sources.is_empty() || sources.iter().any(|own| own == source.name.as_str())
        });
        limited.security.allowed_roots.clear();
        limited.security.allow_any_path = false;
        limited.client = Some(client);
        limited
    }
}

/// `index.*`.
#[derive(Debug, Clone)]
pub struct Index {
    /// The index database; unless configured, `index.sqlite` in the state folder.
    pub db_path: PathBuf,
    /// How a document is cut into chunks.
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
    /// The embeddings database; unless configured, `embeddings.sqlite` in the state folder.
    pub db_path: PathBuf,
    /// Where vectors are computed: in this program or on a server.
    pub provider: EmbedProvider,
    /// `auto`, the id of a compiled-in model, or the id of a model in the model folder.
    pub model: String,
    /// A folder with the model's files, instead of the model folder.
    pub model_path: Option<PathBuf>,
    /// The precision for embedding passages inside this program.
    pub precision: Precision,
    /// The instruction set, by the kernels' names; `None`: the best one of the machine.
    pub instructions: Option<&'static str>,
    /// Tokens in one forward pass; bounds memory.
    pub batch_tokens: usize,
    /// Window in tokens; capped by the model's own.
    pub max_length: Option<usize>,
    /// The text before a question; `None`: the prefix from the model's files or card, and no prefix
    /// for a model on a server.
    pub query_prefix: Option<String>,
    /// The same for the text before a passage.
    pub passage_prefix: Option<String>,
    /// The length that vectors are cut to; `None`: they are not cut.
    pub dimensions: Option<usize>,
    /// Number of worker threads; 0 = one per core.
    pub threads: usize,
    /// How long a vector that no chunk uses is kept.
    pub keep_unused_days: u64,
}

/// Where vectors are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedProvider {
    /// In this program, on the processor.
    Candle,
    /// On the server at `llm.base_url`, asked as an Ollama.
    Ollama,
    /// On the server at `llm.base_url`, asked through `/v1/embeddings`.
    OpenAi,
}

impl EmbedProvider {
    /// Its name in the configuration.
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
    /// How the lexical and the vector list are merged.
    pub fusion: Fusion,
    /// Share of the vector side in `convex`, 0 to 1; `None`: the share in the model's profile.
    pub vector_weight: Option<f32>,
    /// Only search documents below this folder.
    pub path_prefix: Option<RelPath>,
    /// The reranker for the best hits; `None`: they are not reranked.
    pub reranker: Option<RerankerName>,
    /// How long it may score passages for one question, in milliseconds.
    pub reranker_ms: u64,
}

/// The location of a reranker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RerankerName {
    /// Its id or its repository, below the model folder.
    Named(String),
    /// The folder with its files.
    Folder(PathBuf),
}

/// `ask.*`.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The answerer.
    pub provider: AskProvider,
    /// Evidence items in a snapshot, at least 1.
    pub top_n: usize,
    /// Tokens of evidence in a snapshot.
    pub max_evidence_tokens: usize,
    /// Whether an answer fails with `ASK_CITATION_INVALID` when a sentence does not pass or is in
    /// doubt. Otherwise such a sentence is left out or marked.
    pub strict: bool,
    /// How exactly the headings of a citation must match those of its chunk.
    pub heading_match: HeadingMatch,
    /// Whether white space and closing punctuation are ignored when headings are compared.
    pub normalize_heading: bool,
    /// `false` (from the Python version's `citation_validation.enabled`): answers are still checked
    /// but printed under `UNVERIFIED`.
    pub show_as_verified: bool,
}

/// The component that writes the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskProvider {
    /// An Ollama if a chat model is configured and the server is there; otherwise extractive.
    Auto,
    /// The best sentences of the notes, without a model.
    Extractive,
    /// The chat model on an Ollama server.
    Ollama,
    /// The chat model on a server with `/v1/chat/completions`.
    OpenAi,
}

/// `verify.judge.*`: the model for second opinions.
#[derive(Debug, Clone)]
pub struct VerifyJudge {
    /// The type of the server that runs the model.
    pub provider: JudgeProvider,
    /// The model; `None`: no second opinion.
    pub model: Option<String>,
}

/// The server type for second opinions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgeProvider {
    /// The server at `llm.base_url`, asked as an Ollama.
    Ollama,
    /// The server at `llm.base_url`, asked through `/v1/chat/completions`.
    OpenAi,
}

/// Whether LOCAL_AGENT_API_KEY is sent to the server at `llm.base_url`, and why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiKeyUse {
    /// The variable is set, and the user chose the address or trusts the file that names it.
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
    /// The usual chat model; `None`: not configured.
    pub model: Option<String>,
    /// A smaller model; `None`: not configured.
    pub model_fast: Option<String>,
    /// A larger model; `None`: not configured.
    pub model_big: Option<String>,
    /// Whether the fast model is used unless a trigger word or a flag asks for the big one.
    pub prefer_fast: bool,
    /// Words that ask for the big model, in lower case. A word matches anywhere in the lower-cased
    /// question.
    pub big_triggers: Vec<String>,
    /// The address as typed; commands that contact the server call [`Llm::server`].
    pub base_url: String,
    /// The origin of `base_url`.
    pub base_url_origin: Origin,
    /// LOCAL_AGENT_API_KEY, when `api_key_use` is [`ApiKeyUse::Sent`].
    pub api_key: Option<ApiKey>,
    /// Whether the key is sent to the server, and if not, why.
    pub api_key_use: ApiKeyUse,
    /// Longest reply in tokens, except of the big model.
    pub max_tokens: u32,
    /// Longest reply in tokens of the big model, and with `--big`.
    pub max_tokens_big_second: u32,
    /// Sampling temperature, 0 to 2.
    pub temperature: f32,
    /// The window in tokens requested from an Ollama server; `None`: chosen for the prompt.
    pub num_ctx: Option<u32>,
    /// How long an Ollama server keeps the model in memory; `None`: the server decides.
    pub keep_alive: Option<String>,
    /// Longest wait for a reply in seconds, including the time to load the model.
    pub timeout_s: u64,
    /// Longest wait in seconds for a reply of the big model, and with `--big`. If it is less than
    /// `timeout_s`, `timeout_s` is used.
    pub timeout_s_big_second: u64,
    /// Maximum number of characters of a file that `ask --read` reads, 200 to 200,000; a longer
    /// file is refused.
    pub max_chars_full_read: usize,
}

/// `tools.*`.
#[derive(Debug, Clone)]
pub struct Tools {
    /// The rules by tool name.
    pub rules: BTreeMap<&'static str, ToolRule>,
    /// Maximum number of replies of a model in one loop.
    pub max_turns: u32,
    /// Maximum number of bytes of results given to a model in one loop.
    pub max_result_bytes: usize,
    /// Longest time of one loop, in seconds.
    pub timeout_s: u64,
    /// Maximum number of changes to files per day.
    pub max_writes: u32,
}

/// Whether a tool may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, schemars::JsonSchema, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolRule {
    /// The tool may be called. Tools that change files still ask at the terminal.
    Allow,
    /// Each call by a model or an agent must be confirmed at the terminal.
    Ask,
    /// Every call is refused with `TOOL_DENIED`.
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
    /// The absolute path of the folder.
    pub path: PathBuf,
    /// Whether the user chose it: in their own configuration, with a flag or with a variable, and
    /// not in a file that came with another folder.
    pub chosen: bool,
}

/// `runs.*`.
#[derive(Debug, Clone)]
pub struct Runs {
    /// The folder of run records and of the ledger; unless configured, `runs` in the state folder.
    pub dir: PathBuf,
    /// Whether `ask` keeps records.
    pub enabled: bool,
    /// Whether records contain redacted excerpts of the evidence.
    pub log_evidence_excerpts: bool,
    /// Maximum number of characters in all excerpts of one record.
    pub max_total_evidence_chars: usize,
    /// Maximum number of characters in one excerpt.
    pub max_excerpt_chars: usize,
    /// Whether the evidence bytes are kept in `<run>/evidence/`.
    pub keep_evidence: bool,
}

/// `memory.*`.
#[derive(Debug, Clone)]
pub struct Memory {
    /// The durable database; unless configured, `durable.sqlite` in the state folder. It also
    /// stores the last known length of the ledger.
    pub db_path: PathBuf,
    /// Whether the `memory` commands are enabled and memories are shown with answers.
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

    /// The lock file that `index` holds while it writes.
    pub fn index_lock(&self) -> PathBuf {
        self.index.db_path.with_file_name("index.lock")
    }

    /// The lock file that `embed` holds while it writes.
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
            query_prefix: self.embed.query_prefix.clone().unwrap_or_default(),
            passage_prefix: self.embed.passage_prefix.clone().unwrap_or_default(),
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
    /// `CONFIG_ERROR` with the address, the fault, and the flag, variable or line that set it.
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
