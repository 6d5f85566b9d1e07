//! Set-up: `try`, `init`, `config`, and output for shells and `man`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use local_agent_agent::config::GlobSettings;

#[derive(Debug, Args)]
pub(crate) struct Try {
    /// Folder of markdown; without it, the example vault inside the program
    pub dir: Option<PathBuf>,
    /// Question; without one, three questions of the example vault
    #[arg(value_name = "QUESTION")]
    pub words: Vec<String>,
    /// Seconds that embedding may take before the answer is shown
    #[arg(long, value_name = "SECS", default_value_t = 20)]
    pub budget: u64,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Folders of notes, each with the name it is cited by (else its own)
    #[arg(value_name = "[NAME=]DIR")]
    pub folders: Vec<String>,
    /// Write local-agent.yaml into this folder instead of the user's configuration
    #[arg(long)]
    pub here: bool,
    /// The same, as an option; may be given again
    #[arg(long, value_name = "[NAME=]DIR")]
    pub source: Vec<String>,
    /// Replace an existing configuration
    #[arg(long)]
    pub force: bool,
}

impl Init {
    /// All folders that were named, in both ways.
    pub(crate) fn named(&self) -> Vec<String> {
        [self.folders.as_slice(), self.source.as_slice()].concat()
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum SourceCommand {
    /// Add a folder to the configuration
    Add(SourceAdd),
    /// Take a source out of the configuration; its files stay
    Remove {
        /// Its name
        name: String,
    },
    /// Give a source another name
    Rename {
        /// Its name now
        from: String,
        /// Its new name
        to: String,
    },
    /// List the configured sources
    List,
}

impl SourceCommand {
    /// The same command, with the settings that `--mask` means.
    pub(crate) fn with_mask_read(self) -> Self {
        let Self::Add(mut add) = self else {
            return self;
        };
        if let Some(mask) = add.mask.take() {
            let settings = GlobSettings::of(&mask, &[]);
            add.code |= settings.code;
            add.extension.extend(settings.extensions);
            add.include.extend(settings.include);
        }
        Self::Add(add)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    /// Describe a source or a folder; search results and chat models show it
    Add {
        /// `/` for everything, a source, `source/folder`, or a path such as `.`
        place: String,
        /// What it holds; words need no quotes. Without it, the first argument is the text, and the
        /// place is this folder
        #[arg(value_name = "TEXT")]
        text: Vec<String>,
    },
    /// Take back what is said about a place
    #[command(visible_alias = "rm")]
    Remove {
        /// As `context list` shows it
        place: String,
    },
    /// List what is said about which place
    List,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFrom {
    Qmd,
    Gno,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Whose folders to take over
    pub from: ImportFrom,
    /// Its configuration [default: where that program keeps it]
    pub file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SourceAdd {
    /// The folder
    pub dir: PathBuf,
    /// The name it is cited by [default: the folder's own name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// A word shown with each hit [default: notes]
    #[arg(long, value_name = "WORD")]
    pub kind: Option<String>,
    /// Take source code for documents, too
    #[arg(long)]
    pub code: bool,
    /// Take files with this extension for documents, too (`.txt`, `.canvas`); may be given again
    #[arg(long, value_name = "EXT")]
    pub extension: Vec<String>,
    /// Only files that match, as in a `.gitignore` (`projects/`, `*.note.md`); may be given again
    #[arg(long, value_name = "PATTERN")]
    pub include: Vec<String>,
    /// Only files that match this glob, which may name kinds of files, too (`**/*.{md,txt}`)
    #[arg(long, value_name = "GLOB")]
    pub mask: Option<String>,
    /// No files that match, as in a `.gitignore` (`archive/`, `*.draft.md`); may be given again
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Clean {
    /// Remove the index and the vectors of this configuration, too
    #[arg(long)]
    pub all: bool,
    /// Remove; without it, only say what would be removed
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Every value in force and where it comes from
    Show,
    /// Load the configuration and say what is wrong with it
    Check,
    /// Trust a configuration file as it is now, and state folders that you did not make here
    Trust {
        /// The file alone; without it, the one found from here and its state folders
        file: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The page of this command
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    pub command: Vec<String>,
    /// Write one page per command into this folder
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
