//! What can be typed: the one definition that parser, help, completions, man page and `docs/cli.md` come from.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::operations::Limits;

/// Answers questions from your own markdown, and proves every answer.
#[derive(Debug, Parser)]
#[command(name = "local-agent", version, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Options that every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Run as if started in this folder
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Folder that relative paths of the configuration start from
    #[arg(long, global = true, value_name = "DIR")]
    pub workroot: Option<PathBuf>,
    /// Configuration file, read after all others
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Address of the Ollama server: scheme, host, optional port
    #[arg(long, global = true, value_name = "URL")]
    pub ollama_base_url: Option<String>,
    /// When to colour and link
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Ask questions about any folder with no set-up at all
    Try(Try),
    /// Write a configuration
    Init(Init),
    /// Show, check or trust the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Bring the index up to date with the files
    Index(Index),
    /// Give every chunk of the index a vector
    Embed(Embed),
    /// Search
    Query(Query),
    /// Answer a question with checked citations
    Ask(Ask),
    /// Ask the chat model itself, without evidence; what it says is not checked
    Chat(Chat),
    /// Judge anybody's answer against evidence
    Verify(Verify),
    /// What `ask` recorded: list, show, verify, replay, prune
    #[command(subcommand)]
    Runs(RunsCommand),
    /// What you told the program to remember, with links to your notes
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Tools over your files: list, describe, run, and the log of their calls
    #[command(subcommand)]
    Tool(ToolCommand),
    /// Show a document or a chunk, with line numbers
    Get(Get),
    /// Show every document that a glob names
    MultiGet(MultiGet),
    /// Check everything that the other commands rely on
    Doctor(Doctor),
    /// Say what is indexed, embedded and current
    Status(Status),
    /// List, download or verify model files
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Measure the search on questions with known answers
    #[command(subcommand)]
    Eval(EvalCommand),
    /// Keep index and embeddings current while files change
    Watch(Watch),
    /// Serve agents over stdin and stdout (Model Context Protocol)
    Mcp(Mcp),
    /// Print a completion script
    Completions(Completions),
    /// Print the manual page, or write one a command into a folder
    Man(Man),
}

#[derive(Debug, Subcommand)]
pub enum ToolCommand {
    /// Every tool, what it does, and what the configuration allows
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// The arguments of one tool, as a JSON schema
    Describe {
        /// Name of the tool
        name: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Run one tool
    Run(ToolRun),
    /// The latest calls of tools, as the ledger holds them
    Log {
        /// At most so many, newest first
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct ToolRun {
    /// Name of the tool
    pub name: String,
    /// One argument; may be given again
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub args: Vec<String>,
    /// All arguments as one JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "args")]
    pub json_args: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Try {
    /// Folder of markdown; without it, the example vault inside the program
    pub dir: Option<PathBuf>,
    /// Question; without one, three questions of the example vault
    pub question: Option<String>,
    /// Seconds that embedding may take before the answer is shown
    #[arg(long, value_name = "SECS", default_value_t = 20)]
    pub budget: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Init {
    /// Write local-agent.yaml into this folder instead of the user's configuration
    #[arg(long)]
    pub here: bool,
    /// A folder of notes and the name it is cited by; may be given again
    #[arg(long, value_name = "NAME=DIR")]
    pub source: Vec<String>,
    /// Replace an existing configuration
    #[arg(long)]
    pub force: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Every value in force and where it comes from
    Show {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Load the configuration and say what is wrong with it
    Check {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Trust a configuration file as it is now
    Trust {
        /// The file; without it, the one found from here
        file: Option<PathBuf>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum SchemeArg {
    ObsidianV2,
    ObsidianV1,
    #[value(name = "fixed_window_v1")]
    FixedWindowV1,
}

#[derive(Debug, Args)]
pub struct Index {
    /// Index database, instead of the configured one
    #[arg(long, value_name = "PATH")]
    pub db_path: Option<PathBuf>,
    /// How documents are cut
    #[arg(long)]
    pub scheme: Option<SchemeArg>,
    /// Largest chunk in tokens (obsidian_v2)
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<usize>,
    /// Largest chunk in characters (obsidian_v1, fixed_window_v1)
    #[arg(long, value_name = "N")]
    pub max_chars: Option<usize>,
    /// Overlap in characters (obsidian_v1, fixed_window_v1)
    #[arg(long, value_name = "N")]
    pub overlap: Option<usize>,
    /// Only this source; may be given again
    #[arg(long, value_name = "NAME")]
    pub source: Vec<String>,
    /// List the configured sources and stop
    #[arg(long)]
    pub list_sources: bool,
    /// Exit 0 although some source could not be read
    #[arg(long)]
    pub allow_partial: bool,
    /// Start from an empty index; a foreign database is moved aside first
    #[arg(long)]
    pub rebuild: bool,
    /// Hash every file, whatever its time stamp says
    #[arg(long)]
    pub verify: bool,
    /// Seconds to wait for another index job
    #[arg(long, value_name = "SECS", default_value_t = 0)]
    pub wait: u64,
    /// Print nothing when all is well
    #[arg(long)]
    pub quiet: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Embed {
    /// Model id, instead of the configured one
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,
    /// Embed everything again, row by row; a foreign database is moved aside first
    #[arg(long)]
    pub rebuild: bool,
    /// Texts between two commits of the ancestor; here it bounds one forward pass to N × 64 tokens
    #[arg(long, value_name = "N")]
    pub batch_size: Option<usize>,
    /// Embed at most N missing chunks; removes nothing
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Count what is missing and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Keep vectors that no chunk uses
    #[arg(long)]
    pub no_prune: bool,
    /// Seconds to wait for another embed job
    #[arg(long, value_name = "SECS", default_value_t = 0)]
    pub wait: u64,
    /// Print nothing when all is well
    #[arg(long)]
    pub quiet: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Restrictions that `query` and `ask` share.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Where to look")]
pub struct ScopeArgs {
    /// Only this source; may be given again
    #[arg(long, value_name = "NAME")]
    pub source: Vec<String>,
    /// Only below this folder, or paths that fit this glob
    #[arg(long, value_name = "PATH")]
    pub path: Vec<String>,
    /// Only notes with this tag or one below it
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Only notes of this day or later
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub after: Option<String>,
    /// Only notes of before this day
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub before: Option<String>,
}

impl ScopeArgs {
    /// The same for the operations.
    pub fn limits(&self) -> Limits {
        let Self { source, path, tag, after, before } = self.clone();
        Limits { source, path, tag, after, before }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    Hybrid,
    Lexical,
    Vector,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FusionArg {
    Convex,
    Rrf,
}

#[derive(Debug, Args)]
pub struct Query {
    /// Words, "phrases", -excluded, tag:x path:folder after:2026-01-01
    pub text: String,
    /// Most hits; less than 1 counts as 1
    #[arg(long, value_name = "N", default_value_t = 5, allow_negative_numbers = true)]
    pub limit: i64,
    /// Show hits whose chance of relevance is at least this, 0 to 1; 0 shows all [default: the calibrated floor decides
    /// whether anything was found]
    #[arg(long, value_name = "CHANCE", value_parser = share)]
    pub min_score: Option<f32>,
    /// Which sides take part
    #[arg(long, default_value = "hybrid")]
    pub mode: ModeArg,
    /// How the sides are brought together
    #[arg(long)]
    pub fusion: Option<FusionArg>,
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Print every number that made a rank
    #[arg(long)]
    pub explain: bool,
    /// Bring the index up to date first
    #[arg(long)]
    pub refresh: bool,
    /// Print one JSON object
    #[arg(long, conflicts_with_all = ["jsonl", "files"])]
    pub json: bool,
    /// Print one JSON object a hit
    #[arg(long, conflicts_with = "files")]
    pub jsonl: bool,
    /// Print only the files, best first
    #[arg(long)]
    pub files: bool,
}

#[derive(Debug, Args)]
pub struct Ask {
    /// The question
    pub question: String,
    /// Use the big model when a chat model answers
    #[arg(long, conflicts_with = "fast")]
    pub big: bool,
    /// Use the fast model when a chat model answers
    #[arg(long)]
    pub fast: bool,
    /// Accepted for the ancestor's sake: the evidence is always as full as its budget allows
    #[arg(long)]
    pub full: bool,
    /// Answer from this one file, read whole
    #[arg(long, value_name = "FILE", conflicts_with_all = ["source", "path", "tag", "after", "before"])]
    pub read: Option<String>,
    /// Let the chat model call tools that read your files, in a bounded loop
    #[arg(long, conflicts_with = "read")]
    pub tools: bool,
    /// Refuse to show an answer that does not pass verification
    #[arg(long)]
    pub strict: bool,
    /// Write the evidence snapshot to this file
    #[arg(long, value_name = "FILE")]
    pub snapshot_out: Option<PathBuf>,
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Chat {
    /// What to say to the model
    pub prompt: String,
    /// Let the model call tools that read your files, in a bounded loop
    #[arg(long)]
    pub tools: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Verify {
    /// File with the answer; `-` reads stdin
    pub answer: PathBuf,
    /// Evidence: a snapshot file, or a run's record that holds one. The answer cites [E1] or [source: …]
    #[arg(long, value_name = "FILE", conflicts_with = "vault", required_unless_present = "vault")]
    pub snapshot: Option<PathBuf>,
    /// Evidence: the files below this folder as they are now. The answer cites [path:12-18] or links with lines
    #[arg(long, value_name = "DIR")]
    pub vault: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// The newest runs and how they ended
    List {
        /// Most runs
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// One run: question, answer, evidence, verdicts
    Show {
        /// The run: its name, the beginning of it, the part behind `_`, or `last`
        id: String,
        /// Print a web page that needs no script and loads nothing
        #[arg(long, conflicts_with = "json")]
        html: bool,
        /// Write the page to this file
        #[arg(long, value_name = "FILE", requires = "html")]
        out: Option<PathBuf>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Does everything still fit together: ledger, head, records, permissions?
    Verify {
        /// Only this run; without it, all
        id: Option<String>,
        /// A head that was noted earlier, which the ledger must still hold
        #[arg(long, value_name = "SHA256")]
        head: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Bring a run's evidence back and verify its draft again: the report must be the same
    Replay {
        /// The run, as `show` takes it
        id: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Remove records; the ledger remembers that they were
    Prune {
        /// The runs, as `show` takes them
        #[arg(required_unless_present_any = ["keep", "older_than"], conflicts_with_all = ["keep", "older_than"])]
        ids: Vec<String>,
        /// All but the newest N
        #[arg(long, value_name = "N", conflicts_with = "older_than")]
        keep: Option<usize>,
        /// Those that began more than so many days ago
        #[arg(long, value_name = "DAYS")]
        older_than: Option<u32>,
        /// Say what would be removed and stop
        #[arg(long)]
        dry_run: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// The hash of the ledger's last line, to be kept elsewhere
    Head {
        /// Set a broken ledger aside and begin a new one that holds its hash
        #[arg(long)]
        renew: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum MemoryKind {
    Constraint,
    Preference,
    ProjectState,
    UserFact,
    WorkflowRule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum MemorySource {
    Manual,
    DerivedFromEvidence,
}

#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// Remember something
    Add {
        /// What kind of thing it is
        #[arg(long = "type", value_name = "TYPE")]
        kind: MemoryKind,
        /// Whether you say so, or it was concluded from chunks
        #[arg(long)]
        source: MemorySource,
        /// The words
        #[arg(long, value_name = "TEXT")]
        content: String,
        /// A chunk it leans on, as `query` shows it; may be given again
        #[arg(long, value_name = "KEY")]
        chunk_key: Vec<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Everything that is remembered, newest first, with the state of each link
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// One memory
    Show {
        /// Its name, or the beginning of it
        id: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Memories that hold these words, best first
    Search {
        text: String,
        /// Most memories
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: usize,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Forget one memory
    Delete {
        /// Its whole name
        id: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Write everything into a new JSON file
    Export {
        path: PathBuf,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Mend links whose text moved; bring the memory of the Python ancestor over
    Repair {
        /// Link a changed one to what stands under the same headings now
        #[arg(long)]
        accept_changed: bool,
        /// Take links away that lead nowhere
        #[arg(long)]
        drop: bool,
        /// Say what would be done and stop
        #[arg(long)]
        dry_run: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct Get {
    /// path, source:path, path:from, path:from:count, or #chunk_key
    pub address: String,
    /// Print the bytes without line numbers
    #[arg(long)]
    pub raw: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct MultiGet {
    /// Glob over source:path or path, for example 'daily/2026-*.md'
    pub glob: String,
    /// Stop after so many bytes of text
    #[arg(long, value_name = "N", default_value_t = 1 << 20)]
    pub max_bytes: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// Fail on anything that would make a hybrid ask untrue
    #[arg(long)]
    pub require_phase3: bool,
    /// Contact no server
    #[arg(long, visible_alias = "no-ollama")]
    pub offline: bool,
    /// Print only what fails
    #[arg(long)]
    pub quiet: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Status {
    /// Wait until index and projections match the files
    #[arg(long)]
    pub wait_fresh: bool,
    /// Seconds to wait at most
    #[arg(long, value_name = "SECS", default_value_t = 60, requires = "wait_fresh")]
    pub timeout: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum ModelsCommand {
    /// Models that are known and where their files are
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Download a model; the only command that downloads anything
    Pull {
        /// The name it will be used by; a known one, or any with --repo and --revision
        id: String,
        /// Repository on the server, for a model that is not known by name
        #[arg(long, value_name = "OWNER/NAME")]
        repo: Option<String>,
        /// Commit of the repository, 40 hexadecimal digits
        #[arg(long, value_name = "COMMIT")]
        revision: Option<String>,
        /// Server to download from
        #[arg(long, value_name = "URL")]
        endpoint: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Hash a model's files and compare
    Verify {
        /// A known id; without it, every model that is here
        id: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// Which side or mixture of sides a set is searched with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EvalModeArg {
    Default,
    Lexical,
    Vector,
    Convex,
    Rrf,
}

/// What both measurements take.
#[derive(Debug, Args)]
pub struct EvalArgs {
    /// Folders with docs/, queries.jsonl and the judgments
    #[arg(required = true, value_name = "SET")]
    pub sets: Vec<PathBuf>,
    /// How to search; `default` is what `query` does, and what the others are compared with
    #[arg(long, value_delimiter = ',', default_value = "default,lexical,vector", value_name = "MODE,…")]
    pub modes: Vec<EvalModeArg>,
    /// Write every run into this folder as SET.MODE.tsv
    #[arg(long, value_name = "DIR")]
    pub runs_out: Option<PathBuf>,
    /// Use another value of a configuration key; may be given again
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum EvalCommand {
    /// Whole documents: nDCG@10, Recall@10, Recall@100, MRR@10 against qrels.tsv
    Retrieval(EvalArgs),
    /// Passages: hit, recall, precision and overlap with the marks of spans.jsonl
    Passages {
        #[command(flatten)]
        args: EvalArgs,
        /// Score the first so many passages
        #[arg(long, value_delimiter = ',', default_value = "1,3,5,10", value_name = "K,…")]
        k: Vec<usize>,
    },
    /// Fit the chance of relevance, and say what its floor refuses and lets through
    Calibrate {
        /// Two or more sets with qrels.tsv; questions of one are asked of the others
        #[arg(required = true, num_args = 2.., value_name = "SET")]
        sets: Vec<PathBuf>,
        /// Most questions of one set, evenly spread
        #[arg(long, value_name = "N", default_value_t = 400)]
        questions: usize,
        /// Write the weights to this file
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// True sentences made false: are they caught, and the true ones let pass?
    Attacks {
        /// Folder of notes whose sentences are attacked; without it, the example vault inside the program
        #[arg(long, value_name = "DIR")]
        notes: Option<PathBuf>,
        /// A file of judged claims; its supported ones are attacked; may be given again
        #[arg(long, value_name = "FILE")]
        claims: Vec<PathBuf>,
        /// Write what was missed and what was rejected without a fault, one JSON object each
        #[arg(long, value_name = "FILE")]
        misses_out: Option<PathBuf>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Faulty drafts: citation recall and precision before the gate and behind it
    Drafts {
        /// Drafts with their evidence, one JSON object a line; without it, those inside the program
        #[arg(conflicts_with = "sets")]
        file: Option<PathBuf>,
        /// Make the drafts of the marked answers (spans.jsonl) of this set; may be given again
        #[arg(long = "set-dir", value_name = "DIR")]
        sets: Vec<PathBuf>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Claims that people judged: does the verifier's support agree with them?
    Claims {
        /// Files of judged claims (claims.jsonl)
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Write every score and feature, one JSON object a claim
        #[arg(long, value_name = "FILE")]
        scores_out: Option<PathBuf>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct Watch {
    /// Milliseconds without a change before anything is done
    #[arg(long, value_name = "MS", default_value_t = 400)]
    pub debounce: u64,
    /// Seconds between two walks that look for changes nobody told of [default: 60; 5 where the system tells nothing]
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..))]
    pub poll: Option<u64>,
    /// Do not use the system's notifications, only walks
    #[arg(long)]
    pub no_notifications: bool,
    /// Bring only the index up to date
    #[arg(long)]
    pub no_embed: bool,
    /// Print what keeps it at work without a terminal, and stop
    #[arg(long, value_name = "KIND")]
    pub print_unit: Option<Unit>,
    /// Print nothing when all is well
    #[arg(long)]
    pub quiet: bool,
    /// Print one JSON object an event
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Unit {
    Systemd,
    Cron,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Mcp {
    #[command(subcommand)]
    pub command: Option<McpCommand>,
}

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Enter this program in a client's configuration; a backup is kept beside it
    Install {
        /// The client
        #[arg(long)]
        client: Client,
        /// Print what would be entered and stop
        #[arg(long)]
        print: bool,
        /// Print one JSON object
        #[arg(long, conflicts_with = "print")]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Client {
    ClaudeCode,
    Cursor,
    Vscode,
}

#[derive(Debug, Args)]
pub struct Completions {
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// Write one page a command into this folder
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// A number from 0 to 1.
fn share(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("not a number from 0 to 1".to_owned()),
    }
}
