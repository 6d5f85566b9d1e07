//! The table of all keys of a configuration file: name, type, default and meaning. Validation,
//! suggestions, `configs/default.yaml` and `docs/config.md` are generated from it.

use super::keys::{Effect, Key, Kind};
use super::words;

/// The sections in their written order, with one sentence for each. The blank section contains the
/// top-level keys.
pub const SECTIONS: &[(&str, &str)] = &[
    ("", "Folders of the program."),
    ("security", "What may be opened."),
    (
        "sources",
        "The folders whose markdown is indexed and searched.",
    ),
    ("index", "How files are cut into chunks."),
    ("embed", "How chunks become vectors."),
    ("retrieve", "How evidence is found."),
    ("ask", "How a question is answered and checked."),
    (
        "verify",
        "A second opinion on what a chat model wrote. Without a model there is none.",
    ),
    (
        "llm",
        "The chat models. Nothing here is contacted unless a command asks a model.",
    ),
    (
        "tools",
        "What tools may do, each `allow`, `ask` (a person says yes for each call of a model or an agent) or `deny`.",
    ),
    ("mcp", "What agents are offered over MCP."),
    ("runs", "The audit log."),
    ("memory", "Durable memory."),
];

const fn key(path: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Key {
    Key {
        path,
        kind,
        default,
        doc,
        effect: Effect::Setting,
    }
}

const fn moved(path: &'static str, kind: Kind, to: &'static str, doc: &'static str) -> Key {
    Key {
        path,
        kind,
        default: "",
        doc,
        effect: Effect::Moved(to),
    }
}

const fn kept(path: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key {
        path,
        kind,
        default: "",
        doc,
        effect: Effect::Kept,
    }
}

const fn int(min: i64, max: i64) -> Kind {
    Kind::Int { min, max }
}

/// Why the number of texts between two commits cannot be set.
const NO_BATCH_SIZE: &str =
    "has no effect: `embed` commits about every ten seconds; `embed.batch_tokens` bounds memory";
/// Why the number of candidates cannot be set.
const NO_CANDIDATES: &str =
    "has no effect: each side gives its best 1,000, because scores are scaled by whole lists";
const SCHEMES: Kind = words::SCHEMES.kind();
/// The rules of tools.
pub(super) const RULES: Kind = words::TOOL_RULES.kind();
const HEADINGS: Kind = words::HEADING_MATCHES.kind();
/// The words for instruction sets: first the word for the best one, then the names of the kernels.
pub const INSTRUCTIONS: &[&str] = &[
    "auto",
    "portable",
    "avx2",
    "avx-vnni",
    "avx512",
    "avx512-vnni",
    "avx512-bf16",
    "amx",
    "neon",
    "neon-dot",
];
/// A time of at most one day, longer than anybody would wait.
const SECONDS: Kind = int(1, 86_400);
const TOKENS: Kind = int(1, 1_000_000);
const CHARS: Kind = int(0, 100_000_000);

/// All keys: first the program's own, in the order of [`SECTIONS`], then the Python version's.
pub const KEYS: &[Key] = &[
    key(
        "workroot",
        Kind::Path,
        "",
        "The folder that holds your sources and state; `--workroot`, LOCAL_AGENT_WORKROOT and the nearest folder with a `local-agent.yaml` come first. Relative to the configuration file's folder.",
    ),
    key(
        "state_dir",
        Kind::Path,
        ".local-agent",
        "The folder for databases, search projections and run records. From the user's configuration it holds only together with that file's own sources.",
    ),
    key(
        "security.allowed_roots",
        Kind::Paths,
        "[]",
        "Folders that may be read by `get`, `ask --read` and tools although no source names them.",
    ),
    key(
        "security.allowed_exts",
        Kind::Exts,
        "[.md, .markdown, .txt, .json]",
        "Extensions of files that may be read; `index` takes the markdown among them.",
    ),
    key(
        "security.deny_absolute_paths",
        Kind::Bool,
        "true",
        "Refuse requests that name an absolute path.",
    ),
    key(
        "security.deny_hidden_paths",
        Kind::Bool,
        "true",
        "Refuse every path with a segment that starts with a dot.",
    ),
    key(
        "security.deny_names",
        Kind::Names,
        "[.env, .env.*, \"*.env\", .git, .ssh, .gnupg, .aws, id_rsa, id_dsa, id_ecdsa, id_ed25519, \"*.pem\", \"*.key\", \"*.p12\", \"*.pfx\", \"*.kdbx\", .netrc, .npmrc, credentials.json]",
        "Names that no segment of a path may have, in any case of letters; `*` matches any characters.",
    ),
    key(
        "security.hard_links",
        words::HARD_LINKS.kind(),
        "deny",
        "Whether a file that has a second name somewhere may be read.",
    ),
    key(
        "security.follow_links",
        words::FOLLOW_LINKS.kind(),
        "never",
        "Whether symbolic links are followed; `inside`: when the target stays in the same root.",
    ),
    key(
        "security.max_file_bytes",
        int(1, 1 << 40),
        "10485760",
        "Largest file that is read, in bytes.",
    ),
    key(
        "security.private_tags",
        Kind::Words,
        "[private]",
        "A note with one of these tags, or a tag below one, is private, as one with `private: true` in its frontmatter is, or with any other value of `private` than `false`, `no`, `off` and `0`. In a frontmatter that is no YAML or is never closed, the word alone is enough. Private notes are never sent to a model on another machine, and agents do not see them.",
    ),
    key(
        "security.allow_any_path",
        Kind::Bool,
        "false",
        "Let a person's own `get` and `ask --read` name any file. Never for models; every other check stays on.",
    ),
    key(
        "security.roots_must_be_within_security_root",
        Kind::Bool,
        "true",
        "Refuse sources and allowed roots outside the security root. May be false only in the user's configuration, in `--config`, or in a trusted file.",
    ),
    key(
        "sources",
        Kind::Sources,
        "[]",
        "One entry a folder: `name` (unique), `root`, and `kind`, a free word shown with each hit (`notes` when absent). `include` and `exclude` are lists of patterns as in a `.gitignore` (`archive/`, `*.draft.md`): files that `exclude` names, or that `include` does not, do not exist for this program; `exclude` ignores case. `code: true` takes source code for documents, too, and `extensions: [.txt, .org]` files of other kinds (docs/documents.md lists them).",
    ),
    key(
        "contexts",
        Kind::Words,
        "[]",
        "What is said about a source or a folder, as `source/folder: text` (`/: text` for everything): the longest folder's is given with every hit below it, and to chat models. Not evidence.",
    ),
    key(
        "index.db_path",
        Kind::Path,
        "",
        "The index database; unset: `index.sqlite` in `state_dir`. The lexical projection is in the same folder.",
    ),
    key(
        "index.scheme",
        SCHEMES,
        "obsidian_v2",
        "How a document is cut; the others reproduce the Python version's cut points, for comparison.",
    ),
    key(
        "index.max_tokens",
        int(16, 8192),
        "185",
        "Longest chunk in tokens of the embedded model (`obsidian_v2`).",
    ),
    key(
        "index.max_chars",
        int(1, 1_000_000),
        "1200",
        "Longest chunk in characters (`obsidian_v1`, `fixed_window_v1`).",
    ),
    key(
        "index.overlap",
        int(0, 999_999),
        "120",
        "Characters shared by neighbours, less than `index.max_chars` (`obsidian_v1`, `fixed_window_v1`).",
    ),
    key(
        "embed.db_path",
        Kind::Path,
        "",
        "The embeddings database; unset: `embeddings.sqlite` in `state_dir`. The vector projection is in the same folder.",
    ),
    key(
        "embed.provider",
        words::EMBED_PROVIDERS.kind(),
        "candle",
        "Who computes vectors: `candle` runs inside this program, `ollama` and `openai` (`/v1/embeddings`) ask the server at `llm.base_url`.",
    ),
    key(
        "embed.model",
        Kind::Text,
        "auto",
        "The embedding model, by its id or its repository (`BAAI/bge-small-en-v1.5`). `all-MiniLM-L6-v2` (English) and `multilingual-e5-small` (a hundred languages) are compiled in; `auto` takes one of them by the languages of the index and keeps to it until `embed --model` names another; `embed --model auto` lets the languages decide again. A server is asked for `all-MiniLM-L6-v2` if no model is set.",
    ),
    key(
        "embed.model_path",
        Kind::Path,
        "",
        "A folder with the model's files, instead of the model folder.",
    ),
    key(
        "embed.precision",
        words::PRECISIONS.kind(),
        "int8",
        "What passages are computed in inside this program: `int8` rounds weights and activations to bytes, is fastest, and ranks as well as `f32`; `bf16` rounds them to 16-bit floats and ranks as `f32` does but for near ties; `mixed` does each in two products of four. Another precision makes other vectors: `embed` computes them again.",
    ),
    key(
        "embed.instructions",
        Kind::OneOf(INSTRUCTIONS),
        "auto",
        "The processor's instructions that passages and questions are computed with; `auto`: the best it has. Vectors stay comparable.",
    ),
    key(
        "embed.batch_tokens",
        int(64, 1_048_576),
        "1024",
        "Tokens in one forward pass; bounds memory.",
    ),
    key(
        "embed.max_length",
        int(8, 32_768),
        "",
        "Window in tokens, capped by the model's own; unset: the model's own.",
    ),
    key(
        "embed.query_prefix",
        Kind::Prompt,
        "",
        "Put before a question when it is embedded; unset: what the model's files or card ask for, and nothing for a model on a server.",
    ),
    key(
        "embed.passage_prefix",
        Kind::Prompt,
        "",
        "Put before a passage when it is embedded; unset: what the model's files or card ask for, and nothing for a model on a server.",
    ),
    key(
        "embed.dimensions",
        int(8, 1_048_576),
        "",
        "Numbers that vectors are cut to, for models that were trained for it; unset: all. A change needs `embed` again.",
    ),
    key(
        "embed.threads",
        int(0, 1024),
        "0",
        "Worker threads; 0: one a core.",
    ),
    key(
        "embed.keep_unused_days",
        int(0, 36_500),
        "30",
        "Days that `embed` keeps a vector which no chunk uses: notes come back, with a disk or from another branch.",
    ),
    key(
        "retrieve.fusion",
        words::FUSIONS.kind(),
        "convex",
        "How the two lists become one: by weighted scores, or by reciprocal ranks.",
    ),
    key(
        "retrieve.vector_weight",
        Kind::Float { min: 0.0, max: 1.0 },
        "",
        "Share of the vector score in `convex`; without a value, what the model's profile says (0.5 for `all-MiniLM-L6-v2`).",
    ),
    key(
        "retrieve.path_prefix",
        Kind::Prefix,
        "",
        "Search only documents below this folder of their source.",
    ),
    key(
        "retrieve.reranker",
        Kind::Model,
        "",
        "A model that reads the question together with each of the best 20 hits of `query` and `ask`, and ranks them again: an id (`bge-reranker-base`), a repository, or a folder (`./model`, `~/model`, `/model`); unset: none. docs/models.md says which can be computed, and how its scores count.",
    ),
    key(
        "retrieve.reranker_ms",
        int(0, 600_000),
        "2000",
        "Milliseconds that the reranker may take for one question, counted from when it is loaded; hits that it did not reach keep their order after the others, and the output says so.",
    ),
    key(
        "ask.provider",
        words::ASK_PROVIDERS.kind(),
        "auto",
        "Who writes the answer: `extractive`: the best sentences themselves; `ollama`; `openai`: any server with `/v1/chat/completions`; `auto`: Ollama if a chat model is configured and there, else `extractive`.",
    ),
    key(
        "ask.top_n",
        int(1, 1000),
        "8",
        "Evidence items shown to the answerer.",
    ),
    key(
        "ask.max_evidence_tokens",
        int(64, 1_000_000),
        "2000",
        "Tokens of evidence shown to the answerer.",
    ),
    key(
        "ask.strict",
        Kind::Bool,
        "false",
        "Fail when a sentence of the answer does not pass verification or is in doubt, instead of leaving it out or marking it.",
    ),
    key(
        "ask.heading_match",
        HEADINGS,
        "prefix",
        "How a cited heading path must agree with the stored one.",
    ),
    key(
        "ask.normalize_heading",
        Kind::Bool,
        "true",
        "Compare headings without regard to white space and closing punctuation.",
    ),
    key(
        "verify.judge.provider",
        words::JUDGE_PROVIDERS.kind(),
        "ollama",
        "Where the model of the second opinion runs: on the server of `llm.base_url`, asked as an Ollama or through `/v1/chat/completions`.",
    ),
    key(
        "verify.judge.model",
        Kind::Text,
        "",
        "A model that is asked of each sentence that passed, and was not proven, whether the cited text supports it, for example `bespoke-minicheck`. Its answer only moves a sentence between `checked` and `doubtful`; unset: there is no second opinion.",
    ),
    key(
        "llm.model",
        Kind::Text,
        "",
        "The chat model; unset: answers are extractive.",
    ),
    key(
        "llm.model_fast",
        Kind::Text,
        "",
        "A smaller model for `--fast` and for `llm.prefer_fast`.",
    ),
    key(
        "llm.model_big",
        Kind::Text,
        "",
        "A larger model for `--big` and for questions with a trigger word.",
    ),
    key(
        "llm.prefer_fast",
        Kind::Bool,
        "true",
        "Use the fast model, if there is one, unless a trigger word or a flag asks for the big one.",
    ),
    key(
        "llm.big_triggers",
        Kind::Words,
        "[deep, long, essay, synthesize, thorough, \"in depth\", detailed, analysis]",
        "Words in a question that ask for the big model.",
    ),
    key(
        "llm.base_url",
        Kind::Url,
        "http://127.0.0.1:11434",
        "The model server: scheme, host, optional port; also of `openai`. `--ollama-base-url`, LOCAL_AGENT_OLLAMA_BASE_URL and OLLAMA_BASE_URL come first.",
    ),
    key(
        "llm.max_tokens",
        TOKENS,
        "800",
        "Longest reply in tokens, except of the big model.",
    ),
    key(
        "llm.max_tokens_big_second",
        TOKENS,
        "4500",
        "Longest reply in tokens of the big model, and with `--big`.",
    ),
    key(
        "llm.temperature",
        Kind::Float { min: 0.0, max: 2.0 },
        "0.2",
        "Sampling temperature.",
    ),
    key(
        "llm.num_ctx",
        int(1024, 10_000_000),
        "",
        "The window in tokens that every call requests from an Ollama server, which loads a model again for another window; unset: a power of two that holds the prompt and the reply, 4096 at least.",
    ),
    key(
        "llm.keep_alive",
        Kind::Text,
        "",
        "How long an Ollama server keeps the model in memory after a reply, for example `30m`, or `-1` for ever; unset: the server decides.",
    ),
    key(
        "llm.timeout_s",
        SECONDS,
        "300",
        "Longest wait for a reply, in seconds, loading the model included.",
    ),
    key(
        "llm.timeout_s_big_second",
        SECONDS,
        "600",
        "Longest wait for a reply of the big model, and with `--big`, in seconds; at least `llm.timeout_s`.",
    ),
    key(
        "llm.max_chars_full_read",
        int(200, 200_000),
        "200000",
        "Maximum number of characters of a file that `ask --read` reads; a longer file is refused.",
    ),
    key(
        "tools.read_text_file",
        RULES,
        "allow",
        "Reading text of a file.",
    ),
    key("tools.list_dir", RULES, "allow", "Listing a folder."),
    key(
        "tools.grep",
        RULES,
        "allow",
        "Searching files for a regular expression.",
    ),
    key(
        "tools.outline",
        RULES,
        "allow",
        "Listing headings and symbols of a file.",
    ),
    key(
        "tools.read_symbol",
        RULES,
        "allow",
        "Reading one section or definition.",
    ),
    key(
        "tools.find_defs",
        RULES,
        "allow",
        "Finding where a name is defined.",
    ),
    key(
        "tools.find_refs",
        RULES,
        "allow",
        "Finding where a name is used.",
    ),
    key(
        "tools.related_files",
        RULES,
        "allow",
        "Finding notes by links and tags.",
    ),
    key(
        "tools.propose_write",
        RULES,
        "allow",
        "Proposing the new content of a file; `allow` still asks at the terminal for each change.",
    ),
    key(
        "tools.delete",
        RULES,
        "allow",
        "Proposing to move a file to the trash; `allow` still asks at the terminal for each file.",
    ),
    key(
        "tools.max_turns",
        int(1, 32),
        "8",
        "Replies of a model in one loop of `chat --tools` or `ask --tools`; the last one must be the answer.",
    ),
    key(
        "tools.max_result_bytes",
        int(1_000, 10_000_000),
        "200000",
        "Bytes of results that a model gets in one loop; longer results are cut, and the model is told so.",
    ),
    key(
        "tools.timeout_s",
        SECONDS,
        "600",
        "Longest time of one loop, in seconds.",
    ),
    key(
        "tools.max_writes",
        int(0, 10_000),
        "50",
        "Changes to files within a day.",
    ),
    key(
        "mcp.operations",
        Kind::Words,
        "[search, get, multi_get, links, tags, similar, memory_search, ask, verify, status]",
        "What agents may do with the notes. The rules of `tools` are for tools alone: take `get` and `multi_get` out here, too, where agents are not to read whole notes.",
    ),
    key(
        "mcp.tools",
        Kind::Words,
        "[grep, list_dir, outline, related_files]",
        "Tools for files that agents are offered beside searching, reading, asking and verifying; any that `tool list` names and that only reads. Their rules are those of `tools`.",
    ),
    key(
        "mcp.private_notes",
        Kind::Bool,
        "false",
        "Let agents see private notes: those with `private: true`, or a tag of `security.private_tags`.",
    ),
    key(
        "runs.dir",
        Kind::Path,
        "",
        "The folder of run records; unset: `runs` in `state_dir`. It is never readable as evidence.",
    ),
    key(
        "runs.enabled",
        Kind::Bool,
        "true",
        "Whether `ask` keeps a record of each run. May be false only in the user's configuration, in `--config`, or in a trusted file.",
    ),
    key(
        "runs.log_evidence_excerpts",
        Kind::Bool,
        "true",
        "Keep redacted excerpts of the evidence in run records.",
    ),
    key(
        "runs.max_total_evidence_chars",
        CHARS,
        "200000",
        "Characters of evidence in one run record.",
    ),
    key(
        "runs.max_excerpt_chars",
        CHARS,
        "240",
        "Characters of one excerpt in a run record: enough to recognise a passage, less than a whole one.",
    ),
    key(
        "runs.keep_evidence",
        Kind::Bool,
        "false",
        "Keep the evidence bytes with each run, so that it can be replayed after the files have changed.",
    ),
    key(
        "memory.db_path",
        Kind::Path,
        "",
        "The durable database; unset: `durable.sqlite` in `state_dir`.",
    ),
    key(
        "memory.enabled",
        Kind::Bool,
        "true",
        "Whether the `memory` commands work, and whether memories are shown with answers.",
    ),
    // The Python version's keys.
    moved("model", Kind::Text, "llm.model", "Read as `llm.model`."),
    moved(
        "model_fast",
        Kind::Text,
        "llm.model_fast",
        "Read as `llm.model_fast`.",
    ),
    moved(
        "model_big",
        Kind::Text,
        "llm.model_big",
        "Read as `llm.model_big`.",
    ),
    moved(
        "prefer_fast",
        Kind::Bool,
        "llm.prefer_fast",
        "Read as `llm.prefer_fast`.",
    ),
    moved(
        "big_triggers",
        Kind::Words,
        "llm.big_triggers",
        "Read as `llm.big_triggers`.",
    ),
    moved(
        "ollama_base_url",
        Kind::Url,
        "llm.base_url",
        "Read as `llm.base_url`.",
    ),
    moved(
        "max_tokens",
        TOKENS,
        "llm.max_tokens",
        "Read as `llm.max_tokens`.",
    ),
    moved(
        "max_tokens_big_second",
        TOKENS,
        "llm.max_tokens_big_second",
        "Read as `llm.max_tokens_big_second`.",
    ),
    moved(
        "temperature",
        Kind::Float { min: 0.0, max: 2.0 },
        "llm.temperature",
        "Read as `llm.temperature`.",
    ),
    moved(
        "timeout_s",
        SECONDS,
        "llm.timeout_s",
        "Read as `llm.timeout_s`.",
    ),
    moved(
        "timeout_s_big_second",
        SECONDS,
        "llm.timeout_s_big_second",
        "Read as `llm.timeout_s_big_second`.",
    ),
    moved(
        "max_chars_full_read",
        CHARS,
        "llm.max_chars_full_read",
        "Read as `llm.max_chars_full_read`, between 200 and 200000.",
    ),
    kept(
        "read_full_on_thorough",
        Kind::Bool,
        "has no effect; `ask --read FILE` reads a file whole",
    ),
    kept(
        "full_evidence_triggers",
        Kind::Words,
        "has no effect; `ask --read FILE` reads a file whole",
    ),
    kept(
        "security.auto_create_allowed_roots",
        Kind::Bool,
        "has no effect: folders that are only read are never created",
    ),
    moved(
        "phase2.index_db_path",
        Kind::Path,
        "index.db_path",
        "Read as `index.db_path`.",
    ),
    moved(
        "phase2.sources",
        Kind::Sources,
        "sources",
        "Read as `sources`.",
    ),
    moved(
        "phase2.chunking.scheme",
        Kind::OneOf(&["obsidian_v1", "fixed_window_v1", "obsidian_v2"]),
        "index.scheme",
        "`obsidian_v1` is read as `obsidian_v2`; `index --scheme obsidian_v1` still gives the Python version's cut points.",
    ),
    moved(
        "phase2.chunking.max_chars",
        int(1, 1_000_000),
        "index.max_chars",
        "Read as `index.max_chars`, which `obsidian_v2` does not use: it counts tokens (`index.max_tokens`).",
    ),
    moved(
        "phase2.chunking.overlap",
        int(0, 999_999),
        "index.overlap",
        "Read as `index.overlap`, which `obsidian_v2` does not use.",
    ),
    moved(
        "phase3.embeddings_db_path",
        Kind::Path,
        "embed.db_path",
        "Read as `embed.db_path`.",
    ),
    moved(
        "phase3.embed.provider",
        Kind::OneOf(&["torch", "ollama"]),
        "embed.provider",
        "`torch` is read as `candle`: the same model, run inside this program.",
    ),
    moved(
        "phase3.embed.model_id",
        Kind::Text,
        "embed.model",
        "Read as `embed.model`, without `sentence-transformers/`.",
    ),
    kept(
        "phase3.embed.preprocess",
        Kind::OneOf(&["obsidian_v1"]),
        "has no effect: a chunk is embedded with its two innermost headings",
    ),
    kept(
        "phase3.embed.chunk_preprocess_sig",
        Kind::Text,
        "has no effect: every vector carries the fingerprint of what made it",
    ),
    kept(
        "phase3.embed.query_preprocess_sig",
        Kind::Text,
        "has no effect: every vector carries the fingerprint of what made it",
    ),
    kept("phase3.embed.batch_size", int(1, 65_536), NO_BATCH_SIZE),
    kept("embed.batch_size", int(1, 65_536), NO_BATCH_SIZE),
    moved(
        "phase3.embed.torch.local_model_path",
        Kind::Path,
        "embed.model_path",
        "Read as `embed.model_path`.",
    ),
    kept(
        "phase3.embed.torch.cache_dir",
        Kind::Text,
        "has no effect: models are stored in this program's own model folder (`local-agent models list`)",
    ),
    kept(
        "phase3.embed.torch.device",
        Kind::OneOf(&["auto", "cpu", "cuda"]),
        "is read as `cpu`: vectors are computed on the processor",
    ),
    kept(
        "phase3.embed.torch.dtype",
        Kind::OneOf(&["float16", "float32"]),
        "is read as `float32`, as the Python version did on a processor",
    ),
    kept(
        "phase3.embed.torch.batch_size",
        int(1, 65_536),
        "has no effect: `embed.batch_tokens` bounds a forward pass",
    ),
    moved(
        "phase3.embed.torch.max_length",
        int(1, 1_000_000),
        "embed.max_length",
        "Read as `embed.max_length`, capped at the model's own window.",
    ),
    kept(
        "phase3.embed.torch.pooling",
        Kind::OneOf(&["mean"]),
        "is always `mean` for this model",
    ),
    kept(
        "phase3.embed.torch.normalize",
        Kind::Bool,
        "must be true: vectors are always normalised",
    ),
    kept(
        "phase3.embed.torch.trust_remote_code",
        Kind::Bool,
        "is always false: no code of a model is ever run",
    ),
    kept(
        "phase3.embed.torch.offline_only",
        Kind::Bool,
        "is always true: only `models pull` may download",
    ),
    kept("phase3.retrieve.lexical_k", int(1, 10_000), NO_CANDIDATES),
    kept("phase3.retrieve.vector_k", int(1, 10_000), NO_CANDIDATES),
    kept("retrieve.lexical_k", int(1, 10_000), NO_CANDIDATES),
    kept("retrieve.vector_k", int(1, 10_000), NO_CANDIDATES),
    kept(
        "phase3.retrieve.vector_fetch_k",
        int(0, 1_000_000_000),
        "has no effect: filters hold before candidates are taken",
    ),
    moved(
        "phase3.retrieve.rel_path_prefix",
        Kind::Prefix,
        "retrieve.path_prefix",
        "Read as `retrieve.path_prefix`: a folder, for both searches.",
    ),
    moved(
        "phase3.retrieve.fusion",
        Kind::OneOf(&["simple_union"]),
        "retrieve.fusion",
        "`simple_union` is read as `convex`.",
    ),
    moved(
        "phase3.ask.evidence.top_n",
        int(-1_000_000, 1000),
        "ask.top_n",
        "Read as `ask.top_n`; values below 1 are raised to 1.",
    ),
    kept(
        "phase3.ask.citation_validation.enabled",
        Kind::Bool,
        "does not switch checking off: with false, answers are checked and printed under UNVERIFIED",
    ),
    moved(
        "phase3.ask.citation_validation.strict",
        Kind::Bool,
        "ask.strict",
        "Read as `ask.strict`.",
    ),
    kept(
        "phase3.ask.citation_validation.require_in_snapshot",
        Kind::Bool,
        "is always true: only evidence that was shown may be cited",
    ),
    moved(
        "phase3.ask.citation_validation.heading_match",
        HEADINGS,
        "ask.heading_match",
        "Read as `ask.heading_match`.",
    ),
    moved(
        "phase3.ask.citation_validation.normalize_heading",
        Kind::Bool,
        "ask.normalize_heading",
        "Read as `ask.normalize_heading`.",
    ),
    moved(
        "phase3.runs.log_evidence_excerpts",
        Kind::Bool,
        "runs.log_evidence_excerpts",
        "Read as `runs.log_evidence_excerpts`.",
    ),
    moved(
        "phase3.runs.max_total_evidence_chars",
        CHARS,
        "runs.max_total_evidence_chars",
        "Read as `runs.max_total_evidence_chars`.",
    ),
    moved(
        "phase3.runs.max_excerpt_chars",
        CHARS,
        "runs.max_excerpt_chars",
        "Read as `runs.max_excerpt_chars`.",
    ),
    moved(
        "phase3.memory.durable_db_path",
        Kind::Path,
        "memory.db_path",
        "Read as `memory.db_path`.",
    ),
    moved(
        "phase3.memory.enabled",
        Kind::Bool,
        "memory.enabled",
        "Read as `memory.enabled`.",
    ),
];
