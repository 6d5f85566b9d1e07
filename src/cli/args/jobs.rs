//! Jobs that keep the index and the vectors: `index`, `embed`, `watch`, `models`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Default, Args)]
pub(crate) struct Index {
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
    /// If a source is empty now, remove its documents from the index
    #[arg(long)]
    pub allow_empty: bool,
    /// Build a new index next to the old one, which stays in use until the new one is complete; a
    /// foreign database is moved aside first
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
}

#[derive(Debug, Args)]
pub(crate) struct Embed {
    /// Model id, instead of the configured one; `auto`: as the languages of the index ask for
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,
    /// Embed everything again, row by row; a foreign database is moved aside first
    #[arg(short = 'f', long, visible_alias = "force")]
    pub rebuild: bool,
    /// At most N × 64 tokens per model call (kept for scripts of the Python version)
    #[arg(long, value_name = "N")]
    pub batch_size: Option<usize>,
    /// Embed at most N missing chunks; removes nothing
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Count what is missing and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Keep all vectors that no chunk uses, however old
    #[arg(long)]
    pub no_prune: bool,
    /// Seconds to wait for another embed job
    #[arg(long, value_name = "SECS", default_value_t = 0)]
    pub wait: u64,
    /// Print nothing when all is well
    #[arg(long)]
    pub quiet: bool,
}

/// How long `watch` waits after a change when nothing else is said, in milliseconds.
pub(crate) const USUAL_DEBOUNCE: u64 = 400;

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// Milliseconds without a change before anything is done
    #[arg(long, value_name = "MS", default_value_t = USUAL_DEBOUNCE)]
    pub debounce: u64,
    /// Poll interval in seconds [default: 60; 5 without file-system notifications]
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..))]
    pub poll: Option<u64>,
    /// Do not use the system's notifications, only walks
    #[arg(long)]
    pub no_notifications: bool,
    /// Bring only the index up to date
    #[arg(long)]
    pub no_embed: bool,
    /// Print a service definition (systemd, launchd, Task Scheduler, cron) and exit
    #[arg(long, value_name = "KIND")]
    pub print_unit: Option<Unit>,
    /// Print nothing when all is well
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Unit {
    /// A unit of the user
    Systemd,
    /// An agent of macOS
    Launchd,
    /// A task of the Windows Task Scheduler
    #[value(alias = "windows")]
    Task,
    /// Two lines of a crontab
    Cron,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Models that are known and where their files are
    List,
    /// Download a model; the only command that downloads anything
    Pull {
        /// A known name, or a repository OWNER/NAME (with --revision, unless it is known); any name
        /// with --repo and --revision
        id: String,
        /// Repository on the server, for a model that is not known by name
        #[arg(long, value_name = "OWNER/NAME")]
        repo: Option<String>,
        /// Commit, branch or tag of the repository; the commit that a branch is at is recorded
        #[arg(long, value_name = "REVISION")]
        revision: Option<String>,
        /// Server to download from
        #[arg(long, value_name = "URL")]
        endpoint: Option<String>,
    },
    /// Hash a model's files, and compare its vectors, computed as configured, with a second
    /// implementation's
    Verify {
        /// A known id; without it, every model that is here
        id: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum SchemeArg {
    ObsidianV2,
    ObsidianV1,
    #[value(name = "fixed_window_v1")]
    FixedWindowV1,
}
