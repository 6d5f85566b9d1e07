//! `mcp`: the server for agents.

use clap::{Args, Subcommand, ValueEnum};

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
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Client {
    ClaudeCode,
    Cursor,
    Vscode,
}
