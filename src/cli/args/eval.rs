//! `eval`: measurements on judged sets.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Which side or mixture of sides a set is searched with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvalModeArg {
    Default,
    Lexical,
    Vector,
    Convex,
    Rrf,
}

/// What both measurements take.
#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// Folders with docs/, queries.jsonl and the judgments
    #[arg(required = true, value_name = "SET")]
    pub sets: Vec<PathBuf>,
    /// How to search; `default` is what `query` does, and what the others are compared with
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "default,lexical,vector",
        value_name = "MODE,…"
    )]
    pub modes: Vec<EvalModeArg>,
    /// Write every run into this folder as SET.MODE.tsv
    #[arg(long, value_name = "DIR")]
    pub runs_out: Option<PathBuf>,
    /// Use another value of a configuration key; may be given again
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// Whole documents: nDCG@10, Recall@10, Recall@100, MRR@10 against qrels.tsv
    Retrieval(EvalArgs),
    /// Passages: hit, recall, precision and overlap with the marks of spans.jsonl
    Passages {
        #[command(flatten)]
        args: EvalArgs,
        /// Numbers of best passages to score
        #[arg(
            long,
            value_delimiter = ',',
            default_value = "1,3,5,10",
            value_name = "K,…"
        )]
        k: Vec<usize>,
    },
    /// Fit the chance of relevance, and say what its floor refuses and lets through
    Calibrate {
        /// Two or more sets with qrels.tsv; questions of one are asked of the others
        #[arg(required = true, num_args = 2.., value_name = "SET")]
        sets: Vec<PathBuf>,
        /// Maximum number of questions of one set, evenly spread
        #[arg(long, value_name = "N", default_value_t = 400)]
        questions: usize,
        /// Write the weights to this file
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// True sentences made false: are they caught, and the true ones let pass?
    Attacks {
        /// Folder of notes whose sentences are attacked; without it, the example vault inside the
        /// program
        #[arg(long, value_name = "DIR")]
        notes: Option<PathBuf>,
        /// A file of judged claims; its supported ones are attacked; may be given again
        #[arg(long, value_name = "FILE")]
        claims: Vec<PathBuf>,
        /// Write what was missed and what was rejected without a fault, one JSON object each
        #[arg(long, value_name = "FILE")]
        misses_out: Option<PathBuf>,
    },
    /// Faulty drafts: citation recall and precision before and after the gate
    Drafts {
        /// Drafts with their evidence, one JSON object a line; without it, those inside the program
        #[arg(conflicts_with = "sets")]
        file: Option<PathBuf>,
        /// Make the drafts of the marked answers (spans.jsonl) of this set; may be given again
        #[arg(long = "set-dir", value_name = "DIR")]
        sets: Vec<PathBuf>,
    },
    /// Natural answers, honest and with one fact changed: what is passed, refused, doubted
    Natural {
        /// Sets of answers, one JSON object a line
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Folder with the notes of one vault of the sets; may be repeated
        #[arg(long = "vault", value_name = "NAME=DIR")]
        vaults: Vec<String>,
        /// List true sentences that are not simply shown, and false ones that are
        #[arg(long)]
        show: bool,
    },
    /// Claims that people judged: does the verifier's support agree with them?
    Claims {
        /// Files of judged claims (claims.jsonl)
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Write every score and feature, one JSON object a claim
        #[arg(long, value_name = "FILE")]
        scores_out: Option<PathBuf>,
    },
}
