//! Searching, asking, checking and reading: `query`, `ask`, `chat`, `verify`, `get`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use local_agent_agent::ask::Day;
use local_agent_agent::operations::Limits;

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
        let Self {
            source,
            path,
            tag,
            after,
            before,
        } = self.clone();
        Limits {
            source,
            path,
            tag,
            after,
            before,
        }
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
    #[arg(
        long,
        value_name = "N",
        default_value_t = 5,
        allow_negative_numbers = true
    )]
    pub limit: i64,
    /// Show hits whose chance of relevance is at least this, 0 to 1; 0 shows all [default: the
    /// calibrated floor decides whether anything was found]
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
    /// Fail when a sentence of the answer does not pass verification or is in doubt
    #[arg(long)]
    pub strict: bool,
    /// Write the evidence snapshot to this file
    #[arg(long, value_name = "FILE")]
    pub snapshot_out: Option<PathBuf>,
    /// The day from which "yesterday" and "last week" are counted [default: today, in UTC]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    pub now: Option<Day>,
    /// How citations are printed
    #[arg(long, value_name = "FORM", default_value = "numbers")]
    pub citations: CitationForm,
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// How the citations of an answer are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum CitationForm {
    /// `[1]`, and a list of sources
    #[default]
    Numbers,
    /// The full form, as records and `--json` hold it
    Canonical,
}

fn day(text: &str) -> Result<Day, String> {
    Day::parse(text).ok_or_else(|| "write a day as 2026-06-20".to_owned())
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

/// Without `--snapshot` and `--vault` the evidence is the files of the configured sources.
#[derive(Debug, Args)]
pub struct Verify {
    /// File with the answer; `-` reads stdin
    pub answer: PathBuf,
    /// Evidence: a snapshot file, or a run's record that holds one. The answer cites [E1] or
    /// [source: …]
    #[arg(long, value_name = "FILE", conflicts_with = "vault")]
    pub snapshot: Option<PathBuf>,
    /// Evidence: the files below this folder as they are now [default: the files of the configured
    /// sources]. The answer cites [path:12-18], `path:12`, [text](path#L12), [[Note#Heading]]
    #[arg(long, value_name = "DIR")]
    pub vault: Option<PathBuf>,
    /// Judge only claims that cite a file which changed since this git revision; fail when what
    /// they cite no longer carries them
    #[arg(long, value_name = "REV", conflicts_with_all = ["snapshot", "lock"])]
    pub changed_since: Option<String>,
    /// Compare with the verdicts in this file; fail when a passage changed so that it no longer
    /// carries its claim. A passage that only moved is found again
    #[arg(long, value_name = "FILE", conflicts_with = "snapshot")]
    pub lock: Option<PathBuf>,
    /// Write the verdicts of this document into the lock file instead
    #[arg(long, requires = "lock")]
    pub update: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
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

/// A number from 0 to 1.
fn share(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("not a number from 0 to 1".to_owned()),
    }
}
