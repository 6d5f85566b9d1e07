//! The definition of the command line, from which parser, help, completions, man page and
//! `docs/cli.md` are made. One file per group of commands; this one contains what they share.

mod asking;
mod eval;
mod jobs;
mod notes;
mod records;
mod serving;
mod setup;
mod tools;

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

pub(super) use asking::{Ask, Chat, CitationForm, FusionArg, ModeArg, Query, QueryFormat, Verify};
pub(super) use eval::{EvalArgs, EvalCommand, EvalModeArg};
pub(super) use jobs::{Embed, Index, ModelsCommand, SchemeArg, USUAL_DEBOUNCE, Unit, Watch};
pub(super) use notes::{Conflicts, Get, Ls, MultiGet, NoteArgs, Similar, Tags};
pub(super) use records::{Doctor, MemoryCommand, MemoryKind, MemorySource, RunsCommand, Status};
pub(super) use serving::{
    Client, ClientPlace, Mcp, McpCommand, McpInstall, OWN_SERVER, Serve, ServeCommand, ServeUnit,
    SkillCommand, TokenCommand, TokenRole, USUAL_ADDRESS, USUAL_REQUESTS,
};
pub(super) use setup::{
    Clean, Completions, ConfigCommand, ContextCommand, Import, ImportFrom, Init, Man, SourceAdd,
    SourceCommand, Try,
};
pub(super) use tools::{ToolCommand, ToolRun};

/// Answers questions from your own markdown, and proves every answer.
#[derive(Debug, Parser)]
#[command(
    name = "local-agent",
    version = env!("LOCAL_AGENT_VERSION"),
    propagate_version = true,
    max_term_width = 100
)]
pub(super) struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// The command line, if no two of its options contradict each other.
///
/// # Errors
/// `--json` with a `--format` that is no JSON.
pub(super) fn checked(cli: Cli) -> Result<Cli, clap::Error> {
    match &cli.command {
        Command::Query(args) | Command::Search(args) | Command::Vsearch(args)
            if cli.global.json && !args.format(true).is_json() =>
        {
            let message = "the argument '--json' cannot be used with a '--format' that is not JSON";
            Err(Cli::command().error(ErrorKind::ArgumentConflict, message))
        }
        _ => Ok(cli),
    }
}

/// Options that every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
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
    /// Print one JSON object, alone, on stdout; failures too
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorWhen {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Ask questions about any folder with no set-up at all
    Try(Try),
    /// Write a configuration
    Init(Init),
    /// Add, remove, rename or list the folders that are searched
    #[command(subcommand)]
    Source(SourceCommand),
    /// `source` for users of qmd: `collection add` also indexes the folder, unless --json is given
    #[command(subcommand)]
    Collection(SourceCommand),
    /// Describe folders; search results and chat models show the descriptions
    #[command(subcommand)]
    Context(ContextCommand),
    /// Take over the folders of qmd or gno as sources
    Import(Import),
    /// Show, check or trust the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Bring the index up to date with the files
    #[command(visible_alias = "update")]
    Index(Index),
    /// Give every chunk of the index a vector
    Embed(Embed),
    /// Search by words and by meaning
    Query(Query),
    /// Search by words alone: `query --mode lexical`
    Search(Query),
    /// Search by meaning alone: `query --mode vector`
    Vsearch(Query),
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
    /// Show several documents: globs, paths, note names and chunk keys
    MultiGet(MultiGet),
    /// List the indexed documents
    Ls(Ls),
    /// List what a note links to
    Links(NoteArgs),
    /// List the notes that link to a note
    Backlinks(NoteArgs),
    /// List all tags, or the notes with one tag
    Tags(Tags),
    /// List the notes whose text is most alike
    Similar(Similar),
    /// List notes that give different values for the same thing
    Conflicts(Conflicts),
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
    /// A file that teaches an agent to search, read, cite and verify
    #[command(subcommand)]
    Skill(SkillCommand),
    /// Serve programs and a browser of this machine over HTTP: search, ask, get, and MCP at /mcp
    Serve(Serve),
    /// Remove what can be made again: indexes, vectors, caches
    #[command(visible_alias = "cleanup")]
    Clean(Clean),
    /// Print a completion script
    Completions(Completions),
    /// Print the manual page, or write one page per command into a folder
    Man(Man),
}
