//! `mcp` and `serve`: the servers.

use std::net::SocketAddr;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pub command: Option<McpCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
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
pub(crate) enum Client {
    ClaudeCode,
    Cursor,
    Vscode,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Serve {
    #[command(subcommand)]
    pub command: Option<ServeCommand>,
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8377")]
    pub listen: SocketAddr,
    /// The public name of a proxy before this server that ends TLS; needed to listen beyond this
    /// machine
    #[arg(long, value_name = "HOST")]
    pub behind_proxy: Option<String>,
    /// Also print a link that lets one browser in, once, within ten minutes
    #[arg(long)]
    pub open: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// Print the token that every request needs; it is made when there is none
    Token {
        /// Make a new one; the old one and every browser that was let in stop working at once
        #[arg(long)]
        renew: bool,
    },
}
