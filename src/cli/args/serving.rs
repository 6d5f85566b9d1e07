//! `mcp` and `serve`: the servers.

use std::net::SocketAddr;
use std::path::PathBuf;

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
    /// Speak TLS with this certificate (PEM, with those that vouch for it)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The key of the certificate (PEM, not encrypted)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// The public name of a proxy before this server that ends TLS; this or a certificate is needed
    /// to listen beyond this machine
    #[arg(long, value_name = "HOST")]
    pub behind_proxy: Option<String>,
    /// Also print a link that lets one browser in, once, within ten minutes
    #[arg(long)]
    pub open: bool,
    /// Start it without a terminal, and return when it listens
    #[arg(long, conflicts_with = "print_unit")]
    pub daemon: bool,
    /// Print what keeps it at work without a terminal, and stop
    #[arg(long, value_name = "KIND")]
    pub print_unit: Option<ServeUnit>,
    /// How many requests one visitor may make in a minute
    #[arg(long, value_name = "N", default_value = "600", value_parser = clap::value_parser!(u32).range(1..))]
    pub requests_per_minute: u32,
}

/// What keeps the server at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServeUnit {
    /// A unit of the user
    Systemd,
    /// An agent of macOS
    Launchd,
    /// A task of the Windows Task Scheduler
    Windows,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// End the running server, and wait until its requests are finished
    Stop,
    /// Say whether a server runs, and whether it answers
    Status,
    /// Print the owner's token; it is made when there is none
    #[command(args_conflicts_with_subcommands = true)]
    Token {
        #[command(subcommand)]
        command: Option<TokenCommand>,
        /// Make a new one; the old one and every browser that was let in stop working at once
        #[arg(long)]
        renew: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token for somebody else, and print it once
    Add {
        /// Its name in the ledger: letters, digits, `-`, `_`
        name: String,
        /// What it may do; each role may do what the one before it may
        #[arg(long)]
        role: TokenRole,
        /// Only this source; may be given more than once
        #[arg(long, value_name = "SOURCE")]
        source: Vec<String>,
    },
    /// List the tokens that were made for others
    List,
    /// Remove a token; it stops working at once
    Remove { name: String },
}

/// What the owner of a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TokenRole {
    /// Search and read notes
    Search,
    /// Also ask, and see its own runs
    Ask,
    /// Also call the file tools of `/mcp`
    Tools,
    /// Also see private notes, memory, all runs and the state of the program
    Owner,
}
