//! `mcp` and `serve`: the servers.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pub command: Option<McpCommand>,
    /// Let a running `serve` do the work, so that many agents share one loaded model: the one of
    /// the state folder, or the one at URL; the token is that of the state folder, or
    /// LOCAL_AGENT_SERVER_TOKEN
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = OWN_SERVER)]
    pub via_server: Option<String>,
}

/// The address at which `serve` listens when none is named.
pub(crate) const USUAL_ADDRESS: &str = "127.0.0.1:8377";

/// The number of requests that one visitor may make in a minute when none is named.
pub(crate) const USUAL_REQUESTS: &str = "600";

/// In place of an address: the server that runs on the state folder, wherever it listens.
pub(crate) const OWN_SERVER: &str = "";

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Enter this program in a client's configuration; a backup is kept beside it
    Install(McpInstall),
    /// Remove this program from a client's configuration; a backup is kept beside it
    Uninstall {
        #[command(flatten)]
        place: ClientPlace,
    },
    /// Say for each client whether this program is entered, and as it would be entered now
    Status {
        /// Only this client
        #[arg(long)]
        client: Option<Client>,
        /// The client's file, if it is in another place than usual
        #[arg(long, value_name = "FILE", requires = "client")]
        file: Option<PathBuf>,
    },
}

/// Where to enter what.
#[derive(Debug, Args)]
pub(crate) struct McpInstall {
    #[command(flatten)]
    pub place: ClientPlace,
    /// Enter the address of a running `serve`; the client takes the token from
    /// LOCAL_AGENT_SERVER_TOKEN
    #[arg(long, value_name = "URL", conflicts_with = "via_server")]
    pub http: Option<String>,
    /// Enter a command that lets a running `serve` do the work
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = OWN_SERVER)]
    pub via_server: Option<String>,
    /// Print what would be entered and stop
    #[arg(long)]
    pub print: bool,
}

/// A client, and its file.
#[derive(Debug, Args)]
pub(crate) struct ClientPlace {
    /// The client
    #[arg(long)]
    pub client: Client,
    /// The client's file, if it is in another place than usual
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Codex,
    Gemini,
    Zed,
    Windsurf,
    Opencode,
    Goose,
    LmStudio,
    Jetbrains,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SkillCommand {
    /// Write the file where Claude Code finds it: `.claude/skills/local-agent/SKILL.md`
    Install {
        /// The folder with `.claude` in it, such as that of a project; otherwise your home folder
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
        /// Replace a file that was changed by hand, and keep a copy of it
        #[arg(long)]
        force: bool,
    },
    /// Print what the file teaches, for other agents
    Show,
}

/// The address to listen at. A name is not looked up, because it may have an address of another
/// machine.
fn listening(text: &str) -> Result<SocketAddr, String> {
    let port = text
        .strip_prefix("localhost:")
        .and_then(|port| port.parse().ok());
    if let Some(port) = port {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    text.parse().map_err(|_| {
        format!("name an address of this machine and a port, as in {USUAL_ADDRESS}, [::1]:8377 or localhost:8377")
    })
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Serve {
    #[command(subcommand)]
    pub command: Option<ServeCommand>,
    /// Where to listen: an address of this machine, or `localhost`, and a port; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = USUAL_ADDRESS, value_parser = listening)]
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
    /// Also print a link that lets one browser in, once, within ten minutes; if a server of this state
    /// folder runs already, print a link to that one and stop
    #[arg(long, conflicts_with = "print_unit")]
    pub open: bool,
    /// Start it without a terminal, and return when it listens
    #[arg(long, conflicts_with = "print_unit")]
    pub daemon: bool,
    /// Print a service definition (systemd, launchd, Task Scheduler) and exit
    #[arg(long, value_name = "KIND")]
    pub print_unit: Option<ServeUnit>,
    /// How many requests one visitor may make in a minute
    #[arg(long, value_name = "N", default_value = USUAL_REQUESTS, value_parser = clap::value_parser!(u32).range(1..))]
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
    #[value(alias = "task")]
    Windows,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// End the running server, and wait until its requests are finished
    Stop,
    /// Say whether a server runs, and whether it answers
    Status,
    /// Print a link to the running server that lets one browser in, once, within ten minutes
    Link {
        /// Let it in with the rights of this named token instead of yours
        #[arg(long, value_name = "TOKEN")]
        name: Option<String>,
    },
    /// Print the owner's token; creates it if there is none
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
