//! Searching, asking and checking: `query`, `ask`, `chat`, `verify`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

use local_agent_agent::ask::Day;
use local_agent_agent::operations::Limits;
use local_agent_agent::operations::recency::LONGEST_HALF_LIFE;

/// The help heading of [`ScopeArgs`].
const SCOPE: &str = "Where to look";

/// One name of a list that may have spaces after its commas.
#[allow(clippy::unnecessary_wraps, reason = "the type of a clap parser")]
fn trimmed(name: &str) -> Result<String, std::convert::Infallible> {
    Ok(name.trim().to_owned())
}

/// Restrictions that `query` and `ask` share.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ScopeArgs {
    /// Only this source; several with commas, or given again
    #[arg(
        short = 'c',
        long,
        visible_alias = "collection",
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = trimmed,
        help_heading = SCOPE
    )]
    pub source: Vec<String>,
    /// Only below this folder, or paths that fit this glob; `source/folder` too
    #[arg(long, value_name = "PATH", help_heading = SCOPE)]
    pub path: Vec<String>,
    /// Only notes with this tag or one below it
    #[arg(long, value_name = "TAG", help_heading = SCOPE)]
    pub tag: Vec<String>,
    /// Only notes dated this day or later: by the property `date` or `created`, otherwise the day in
    /// their name or folders, otherwise the last change of the file
    #[arg(long, value_name = "YYYY-MM-DD", help_heading = SCOPE)]
    pub after: Option<String>,
    /// Only notes dated before this day, as for `--after`
    #[arg(long, value_name = "YYYY-MM-DD", help_heading = SCOPE)]
    pub before: Option<String>,
}

impl ScopeArgs {
    /// The limits for the operations.
    pub(crate) fn limits(&self) -> Limits {
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
pub(crate) enum ModeArg {
    Hybrid,
    Lexical,
    Vector,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FusionArg {
    Convex,
    Rrf,
}

/// How `query` prints its hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum QueryFormat {
    /// Two or three lines per hit
    Text,
    /// One JSON object
    Json,
    /// One JSON object per hit
    Jsonl,
    /// Only the files, best first
    Files,
    /// Comma-separated values with a header
    Csv,
    /// Markdown
    Md,
    /// XML elements
    Xml,
    /// The JSON array that `qmd query --json` prints
    Qmd,
}

impl QueryFormat {
    /// Whether stdout is for a program, including failures.
    pub(crate) const fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl | Self::Qmd)
    }
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("output").multiple(false)))]
pub(crate) struct Query {
    /// Words, "phrases", -excluded, tag:x path:folder after:2026-01-01; or lines that begin with
    /// lex:, vec:, hyde: or intent:
    #[arg(required = true, value_name = "WORDS")]
    pub words: Vec<String>,
    /// Maximum number of hits; less than 1 counts as 1
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        default_value_t = 5,
        allow_negative_numbers = true
    )]
    pub limit: i64,
    /// Show all hits that may be relevant, including weak ones
    #[arg(long, conflicts_with = "limit")]
    pub all: bool,
    /// Show hits whose chance of relevance is at least this, 0 to 1; 0 shows all [default: the
    /// calibrated floor; as text also no weak hits, which `--all` shows]
    #[arg(long, value_name = "CHANCE", value_parser = share)]
    pub min_score: Option<f32>,
    /// What is searched: words, vectors, or both
    #[arg(long)]
    pub mode: Option<ModeArg>,
    /// How the two lists become one
    #[arg(long)]
    pub fusion: Option<FusionArg>,
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Newer notes first: a score halves for every DAYS of its note's age [default: 30]
    #[arg(
        long,
        value_name = "DAYS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "30",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(LONGEST_HALF_LIFE))
    )]
    pub recent: Option<u32>,
    /// The day from which `--recent` counts [default: today, in UTC]
    #[arg(long, value_name = "YYYY-MM-DD", requires = "recent", value_parser = day)]
    pub now: Option<Day>,
    /// Print the scores behind each rank
    #[arg(long)]
    pub explain: bool,
    /// Print the whole text of each hit
    #[arg(long)]
    pub full: bool,
    /// Print line numbers before the text of each hit, with `--full`
    #[arg(long)]
    pub line_numbers: bool,
    /// Print paths of the file system instead of source:path
    #[arg(long)]
    pub full_path: bool,
    /// Do not rank the hits again with the model of `retrieve.reranker`
    #[arg(long)]
    pub no_rerank: bool,
    /// Bring the index up to date first
    #[arg(long)]
    pub refresh: bool,
    /// How to print the hits
    #[arg(long, value_name = "FORMAT", group = "output")]
    pub format: Option<QueryFormat>,
    /// Print one JSON object per hit
    #[arg(long, group = "output", conflicts_with = "json")]
    pub jsonl: bool,
    /// Print only the files, best first
    #[arg(long, group = "output", conflicts_with = "json")]
    pub files: bool,
    /// Print comma-separated values
    #[arg(long, group = "output", conflicts_with = "json")]
    pub csv: bool,
    /// Print markdown
    #[arg(long, group = "output", conflicts_with = "json")]
    pub md: bool,
    /// Print XML
    #[arg(long, group = "output", conflicts_with = "json")]
    pub xml: bool,
    /// Leave private notes out, as for agents; `mcp.private_notes` shows them to both
    #[arg(long)]
    pub for_agent: bool,
}

impl Query {
    /// A list of every note with this tag or one below it.
    pub(crate) fn of_tag(tag: &str) -> Self {
        Self {
            words: vec![format!("tag:\"{}\"", tag.trim_start_matches('#'))],
            limit: 0,
            all: true,
            min_score: None,
            mode: None,
            fusion: None,
            scope: ScopeArgs::default(),
            recent: None,
            now: None,
            explain: false,
            full: false,
            line_numbers: false,
            full_path: false,
            no_rerank: false,
            refresh: false,
            for_agent: false,
            format: None,
            jsonl: false,
            files: false,
            csv: false,
            md: false,
            xml: false,
        }
    }

    /// The query as one text. Words need no quotes.
    pub(crate) fn text(&self) -> String {
        self.words.join(" ")
    }

    /// The output format. `--json` asks for JSON; `--format` may say in which shape.
    pub(crate) fn format(&self, json: bool) -> QueryFormat {
        let flags = [
            (self.jsonl, QueryFormat::Jsonl),
            (self.files, QueryFormat::Files),
            (self.csv, QueryFormat::Csv),
            (self.md, QueryFormat::Md),
            (self.xml, QueryFormat::Xml),
        ];
        let flag = flags.iter().find(|(given, _)| *given);
        self.format
            .or(flag.map(|(_, format)| *format))
            .unwrap_or(if json {
                QueryFormat::Json
            } else {
                QueryFormat::Text
            })
    }
}

#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// The question. It needs quotes only around signs that the shell reads itself
    #[arg(required = true, value_name = "QUESTION")]
    pub words: Vec<String>,
    /// Use the big model when a chat model answers
    #[arg(long, conflicts_with = "fast")]
    pub big: bool,
    /// Use the fast model when a chat model answers
    #[arg(long)]
    pub fast: bool,
    /// Print every passage that the answer was looked for in, below it
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
    /// Leave private notes out, as for agents; `mcp.private_notes` shows them to both
    #[arg(long)]
    pub for_agent: bool,
}

/// How the citations of an answer are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum CitationForm {
    /// `[1]`, and a list of sources
    #[default]
    Numbers,
    /// The full form, as records and `--json` hold it
    Canonical,
}

fn day(text: &str) -> Result<Day, String> {
    Day::parse(text).ok_or_else(|| "write a day as 2026-06-20".to_owned())
}

impl Ask {
    /// The question as one text.
    pub(crate) fn question(&self) -> String {
        self.words.join(" ")
    }
}

#[derive(Debug, Args)]
pub(crate) struct Chat {
    /// What to say to the model
    pub prompt: String,
    /// Let the model call tools that read your files, in a bounded loop
    #[arg(long)]
    pub tools: bool,
}

/// Without `--snapshot` and `--vault` the evidence is the files of the configured sources.
#[derive(Debug, Args)]
pub(crate) struct Verify {
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
    /// A doubt fails, too
    #[arg(long)]
    pub strict: bool,
    /// Leave private notes out, as for agents; `mcp.private_notes` shows them to both
    #[arg(long)]
    pub for_agent: bool,
}

/// A number from 0 to 1.
fn share(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("not a number from 0 to 1".to_owned()),
    }
}
