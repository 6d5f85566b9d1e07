//! Reading notes and what connects them: `get`, `multi-get`, `ls`, `links`, `backlinks`, `tags`,
//! `similar`, `conflicts`.

use clap::Args;

use super::asking::ScopeArgs;

#[derive(Debug, Args)]
pub(crate) struct Get {
    /// path, source:path, path:from:count, path#Heading, path#^block, a note's name, [[Note]], or
    /// #key of a chunk (its first digits are enough)
    pub address: String,
    /// First line to print, instead of :from
    #[arg(long, value_name = "LINE", value_parser = clap::value_parser!(u64).range(1..))]
    pub from: Option<u64>,
    /// Maximum number of lines to print
    #[arg(short = 'l', long = "lines", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub lines: Option<u64>,
    /// Print the bytes without line numbers
    #[arg(long)]
    pub raw: bool,
    /// Print the path of the file system first
    #[arg(long)]
    pub full_path: bool,
    /// Has no effect: a document is always printed whole, with line numbers
    #[arg(long, visible_alias = "line-numbers", overrides_with = "full")]
    pub full: bool,
    /// Leave private notes out, as for agents; `mcp.private_notes` shows them to both
    #[arg(long)]
    pub for_agent: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MultiGet {
    /// Globs over source:path or path, addresses as `get` takes them, or lists of them with commas
    #[arg(required = true, value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Stop after N bytes of text; the document that does not fit is cut
    #[arg(long, value_name = "N", default_value_t = 1 << 20)]
    pub max_bytes: u64,
    /// Maximum number of lines of each document
    #[arg(short = 'l', long = "lines", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub lines: Option<u64>,
    /// Has no effect: documents are always printed whole, with line numbers
    #[arg(long, visible_alias = "line-numbers", overrides_with = "full")]
    pub full: bool,
    /// Leave private notes out, as for agents; `mcp.private_notes` shows them to both
    #[arg(long)]
    pub for_agent: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Ls {
    /// A source, a folder below it (source/folder), or a path; without it, all sources
    pub place: Option<String>,
    /// Print paths of the file system
    #[arg(long)]
    pub full_path: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NoteArgs {
    /// The note, as `get` takes it
    pub note: String,
}

#[derive(Debug, Args)]
pub(crate) struct Tags {
    /// List the notes with this tag or one below it
    pub tag: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Similar {
    /// The note, as `get` takes it
    pub note: String,
    /// Maximum number of notes
    #[arg(short = 'n', long, value_name = "N", default_value_t = 5)]
    pub limit: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Conflicts {
    /// Compare only passages that this query finds; without it, those of the whole index, within a
    /// bound
    #[arg(value_name = "TOPIC")]
    pub topic: Vec<String>,
    /// Maximum number of conflicts
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    #[command(flatten)]
    pub scope: ScopeArgs,
}
