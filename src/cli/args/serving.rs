//! `mcp` and `serve`: the servers.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pub command: Option<McpCommand>,
    /// Let a running `serve` do the work, so that many agents share one loaded model; the token is
    /// that of the state folder, or LOCAL_AGENT_SERVER_TOKEN
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = USUAL_SERVER)]
    pub via_server: Option<String>,
}

/// The address at which `serve` listens when none is named.
pub(crate) const USUAL_SERVER: &str = "http://127.0.0.1:8377";

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
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = USUAL_SERVER)]
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
