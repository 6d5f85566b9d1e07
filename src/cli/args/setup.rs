//! Setting up: `try`, `init`, `config`, and what shells and `man` need.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct Try {
    /// Folder of markdown; without it, the example vault inside the program
    pub dir: Option<PathBuf>,
    /// Question; without one, three questions of the example vault
    pub question: Option<String>,
    /// Seconds that embedding may take before the answer is shown
    #[arg(long, value_name = "SECS", default_value_t = 20)]
    pub budget: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Init {
    /// Write local-agent.yaml into this folder instead of the user's configuration
    #[arg(long)]
    pub here: bool,
    /// A folder of notes and the name it is cited by; may be given again
    #[arg(long, value_name = "NAME=DIR")]
    pub source: Vec<String>,
    /// Replace an existing configuration
    #[arg(long)]
    pub force: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Every value in force and where it comes from
    Show {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Load the configuration and say what is wrong with it
    Check {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Trust a configuration file as it is now, and state folders that you did not make here
    Trust {
        /// The file alone; without it, the one found from here and its state folders
        file: Option<PathBuf>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct Completions {
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// Write one page a command into this folder
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
