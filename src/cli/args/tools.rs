//! `tool`: the file and code tools, for people.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum ToolCommand {
    /// Every tool, what it does, and what the configuration allows
    List,
    /// The arguments of one tool; with --json as a JSON schema
    Describe {
        /// Name of the tool
        name: String,
    },
    /// Run one tool
    Run(ToolRun),
    /// The latest calls of tools, as the ledger holds them
    Log {
        /// Maximum number of calls, newest first
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ToolRun {
    /// Name of the tool
    pub name: String,
    /// One argument; may be given again
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub args: Vec<String>,
    /// All arguments as one JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "args")]
    pub json_args: Option<String>,
}
