//! Records, memory and status: `runs`, `memory`, `doctor`, `status`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// The newest runs and how they ended
    List {
        /// Maximum number of runs
        #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
        limit: usize,
    },
    /// One run: question, answer, evidence, verdicts
    Show {
        /// Run id, the beginning of it, the part after `_`, or `last`
        id: String,
        /// Print a web page that needs no script and loads nothing
        #[arg(long, conflicts_with = "json")]
        html: bool,
        /// Write the page to this file
        #[arg(long, value_name = "FILE", requires = "html")]
        out: Option<PathBuf>,
    },
    /// Check the ledger, its head, the records and the permissions
    Verify {
        /// Only this run; without it, all
        id: Option<String>,
        /// A head that was noted earlier, which the ledger must still hold
        #[arg(long, value_name = "SHA256")]
        head: Option<String>,
    },
    /// Bring a run's evidence back and verify its draft again: the report must be the same
    Replay {
        /// The run, as `show` takes it
        id: String,
    },
    /// Remove records; the ledger remembers that they were
    Prune {
        /// The runs, as `show` takes them
        #[arg(required_unless_present_any = ["keep", "older_than"], conflicts_with_all = ["keep", "older_than"])]
        ids: Vec<String>,
        /// All but the newest N
        #[arg(long, value_name = "N", conflicts_with = "older_than")]
        keep: Option<usize>,
        /// Those that began more than DAYS days ago
        #[arg(long, value_name = "DAYS")]
        older_than: Option<u32>,
        /// Say what would be removed and stop
        #[arg(long)]
        dry_run: bool,
    },
    /// The hash of the ledger's last line, to be kept elsewhere
    Head {
        /// Set a broken ledger aside and begin a new one: it holds the old one's hash, its whole
        /// lines and every record
        #[arg(long)]
        renew: bool,
        /// Enter every record that the ledger does not hold
        #[arg(long, conflicts_with = "renew")]
        adopt: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum MemoryKind {
    Constraint,
    Preference,
    ProjectState,
    UserFact,
    WorkflowRule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum MemorySource {
    Manual,
    DerivedFromEvidence,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Remember something
    Add {
        /// What to remember
        #[arg(
            value_name = "TEXT",
            required_unless_present = "content",
            conflicts_with = "content"
        )]
        words: Vec<String>,
        /// What kind of thing it is
        #[arg(long = "type", value_name = "TYPE", default_value = "user_fact")]
        kind: MemoryKind,
        /// Whether you say so, or it was concluded from chunks
        #[arg(long, default_value = "manual")]
        source: MemorySource,
        /// The same text as one argument
        #[arg(long, value_name = "TEXT")]
        content: Option<String>,
        /// A supporting chunk, as `query` shows it; may be repeated
        #[arg(long, value_name = "KEY")]
        chunk_key: Vec<String>,
    },
    /// Everything that is remembered, newest first, with the state of each link
    List {
        /// Only memories with a link that is not intact
        #[arg(long)]
        dangling: bool,
    },
    /// One memory
    Show {
        /// Its name, or the beginning of it
        id: String,
    },
    /// Memories that hold these words, best first
    Search {
        text: String,
        /// Maximum number of memories
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: usize,
    },
    /// Forget one memory
    Delete {
        /// Its whole name
        id: String,
    },
    /// Write everything into a new JSON file
    Export { path: PathBuf },
    /// Mend links whose text moved; bring the memory of the earlier Python version over
    Repair {
        /// Link a changed one to the current text under the same headings
        #[arg(long)]
        accept_changed: bool,
        /// Take links away that lead nowhere
        #[arg(long)]
        drop: bool,
        /// Say what would be done and stop
        #[arg(long)]
        dry_run: bool,
        /// Create an empty memory database after the old one was lost
        #[arg(long, conflicts_with_all = ["accept_changed", "drop", "dry_run"])]
        begin_anew: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Also fail if chunks lack vectors or vectors are out of date
    #[arg(long)]
    pub require_phase3: bool,
    /// Contact no server
    #[arg(long, visible_alias = "no-ollama")]
    pub offline: bool,
    /// Print only what fails
    #[arg(long)]
    pub quiet: bool,
    /// Print every check
    #[arg(short = 'v', long, conflicts_with = "quiet")]
    pub verbose: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Wait until index and projections match the files
    #[arg(long)]
    pub wait_fresh: bool,
    /// Seconds to wait at most
    #[arg(
        long,
        value_name = "SECS",
        default_value_t = 60,
        requires = "wait_fresh"
    )]
    pub timeout: u64,
}
