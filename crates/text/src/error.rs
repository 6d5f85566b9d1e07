//! The table of stable error codes, and [`Failure`], the error that a command reports.
//!
//! A code never changes its meaning once released. `docs/codes.md` is generated from this table.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// Declares [`ErrorCode`] from one table: variant, stable name, meaning.
macro_rules! error_codes {
    ($($variant:ident $name:literal $meaning:literal)+) => {
        /// The stable code of an error.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $(#[doc = $meaning] $variant,)+
        }

        impl ErrorCode {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The stable name.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// One sentence for `docs/codes.md`.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)+ }
            }
        }
    };
}

error_codes! {
    ConfigError "CONFIG_ERROR" "The configuration cannot be read, holds an unknown key or a wrong value, or names roots that cannot be used."
    ConfigUntrusted "CONFIG_UNTRUSTED" "A configuration found by walking up asks for more than its own folder and has not been trusted; or a state folder was not made by this user, or holds a link."
    InvalidArgs "INVALID_ARGS" "An argument has a value that the command cannot use."
    InvalidQuery "INVALID_QUERY" "The query is blank."
    PathDenied "PATH_DENIED" "The request names something that the policy never opens, judged by its text alone."
    FileNotFound "FILE_NOT_FOUND" "There is no readable file at the requested address."
    PathIsDirectory "PATH_IS_DIRECTORY" "The request names a folder."
    AmbiguousPath "AMBIGUOUS_PATH" "More than one file fits the request."
    FileReadError "FILE_READ_ERROR" "A file was found but could not be read to its end."
    FileTooLarge "FILE_TOO_LARGE" "A file is larger than `security.max_file_bytes`."
    IndexMissing "INDEX_MISSING" "There is no index yet."
    SourceEmpty "SOURCE_EMPTY" "A source that had documents now shows none, or less than half of them and from another disk, or the disk of one of its folders is missing; nothing of it was removed from the index."
    IndexError "PHASE2_INDEX_ERROR" "The `index` job could not be finished."
    QueryError "PHASE2_QUERY_ERROR" "The search could not be carried out."
    EmbedError "PHASE3_EMBED_ERROR" "The `embed` job could not be finished."
    AskError "PHASE3_ASK_ERROR" "The question could not be answered for a technical reason."
    AskCitationInvalid "ASK_CITATION_INVALID" "The answer did not pass verification, and strict mode refuses to show it."
    SnapshotTampered "SNAPSHOT_TAMPERED" "An evidence snapshot was changed after it was frozen."
    RunNotFound "RUN_NOT_FOUND" "No run, or more than one, fits the name, or its record is gone."
    RunTampered "RUN_TAMPERED" "A run's record was changed after it was written."
    RunNewer "RUN_NEWER" "A run's record was written by a newer version."
    RunIncomplete "RUN_INCOMPLETE" "A run ended before its record held what the command needs."
    LedgerBroken "LEDGER_BROKEN" "The ledger of runs was changed, cut or removed; nothing was written to it."
    ReplayEvidenceGone "REPLAY_EVIDENCE_GONE" "Evidence of a run is no longer in its files, so nothing can be compared."
    ReplayRedacted "REPLAY_REDACTED" "A secret was taken out of a run's record, so it cannot be replayed from the files."
    ReplayMismatch "REPLAY_MISMATCH" "The verifier gives another report for a run than the recorded one."
    MemoryDisabled "PHASE3_MEMORY_DISABLED" "Durable memory is switched off."
    MemoryError "PHASE3_MEMORY_ERROR" "A memory cannot be added, found or mended as asked."
    DurableMissing "DURABLE_MISSING" "The memory database existed before and is now missing or empty; no new one was created."
    DbForeign "DB_FOREIGN" "A database file belongs to another program or to this program's earlier Python version; it was not touched."
    DbNewer "DB_NEWER" "A database was written by a newer version; it was not touched."
    DbCorrupt "DB_CORRUPT" "A database or projection is damaged."
    DbError "DB_ERROR" "A database could not be opened, read or written."
    Locked "LOCKED" "Another process holds the lock that this job needs."
    NotFresh "NOT_FRESH" "Index or projections were still older than the files when the time limit was reached."
    ModelNotFound "MODEL_NOT_FOUND" "The model's files are not on this machine."
    ModelInvalid "MODEL_INVALID" "The model's files cannot be used."
    ModelChecksum "MODEL_CHECKSUM_MISMATCH" "A model file does not have the expected SHA-256."
    ModelPull "MODEL_PULL_ERROR" "A model could not be downloaded."
    ServerUnreachable "SERVER_UNREACHABLE" "A configured server did not answer in time."
    ServerError "SERVER_ERROR" "A configured server answered, but not with what was asked for."
    ServerUnauthorized "SERVER_UNAUTHORIZED" "A configured server wants a key, or refuses the one that was sent."
    ContextTruncated "LLM_CONTEXT_TRUNCATED" "The model's window did not hold the question with its evidence, so the model did not see all of it."
    EvidenceNotAcquired "EVIDENCE_NOT_ACQUIRED" "The question names a file, and the model answered without reading it."
    EvidenceInvalid "EVIDENCE_INVALID" "What was read is not the evidence that the question asks for."
    EvidenceTruncated "EVIDENCE_TRUNCATED" "The file is longer than what is read of one file, so an answer would rest on a part of it."
    FileEmpty "FILE_EMPTY" "A file was to be summarised, and it is empty."
    ToolError "TOOL_ERROR" "A tool was called that does not exist."
    ToolDenied "TOOL_DENIED" "The policy, or the person who was asked, did not allow this call of a tool."
    ToolLimit "TOOL_LIMIT" "A model's turns, bytes or time for calling tools were used up before it answered."
    SymbolNotFound "SYMBOL_NOT_FOUND" "No heading or symbol of a file has the name."
    WriteConflict "WRITE_CONFLICT" "A file is not, or no longer, what a proposal to change it was made from."
    WriteDenied "WRITE_DENIED" "A proposal to change a file was not allowed by the policy, or not agreed to at the terminal."
    UnexpectedToolCall "UNEXPECTED_TOOL_CALL_SECOND_PASS" "The model called a tool when it had to answer."
    FormatViolation "SECOND_PASS_FORMAT_VIOLATION" "The model did not keep the form of an answer about a file, twice."
    EvalError "EVAL_ERROR" "An evaluation set cannot be read, or the measurement would measure nothing."
    Cancelled "CANCELLED" "The caller cancelled the request."
    AccessDenied "ACCESS_DENIED" "A request to the server came without its token, under another name, or from another site."
    ServerBusy "SERVER_BUSY" "A request to the server took too long, or came while too many others were at work."
    RequestTooLarge "REQUEST_TOO_LARGE" "The body of a request to the server is larger than it takes."
    WriteError "WRITE_ERROR" "A file could not be written; nothing half-written was left."
    InternalError "INTERNAL_ERROR" "The program broke one of its own promises; please report it."
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What kind of action a hint asks for. Code that must act on a hint reads this, never the words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Fix {
    /// Advice that whoever made the request can follow.
    #[default]
    Words,
    /// Something that only a person can do, such as converting a file.
    ByPerson,
    /// A person changes a setting.
    ChangeSetting,
    /// A command of this program.
    RunCommand,
    /// A command of this program that changes the configuration.
    ConfigureByCommand,
    /// The command that lists the sources.
    ListSources,
    /// The same request with another name. The name is the one that the hint's command contains.
    UseName(String),
    /// The command that shows the keys of chunks.
    FindChunkKey,
    /// The command that reads files into the index.
    UpdateIndex,
    /// The same request with an argument like this example.
    PassArgument {
        /// The argument's name, without dashes.
        name: String,
        /// A value that it takes.
        example: String,
    },
    /// The tool `read_text_file`.
    ReadTextFile,
    /// The tool `grep`.
    SearchWithGrep,
    /// The command that downloads the files of a model.
    PullModel,
    /// The command that compares the files of a model with their hashes.
    VerifyModel,
    /// Waiting until the job that holds a lock ends.
    WaitForJob,
    /// The command that finds out which database is damaged.
    FindDamage,
}

impl Fix {
    /// Whether the hint contains a command of this program.
    pub const fn is_command(&self) -> bool {
        match self {
            Self::RunCommand
            | Self::ConfigureByCommand
            | Self::ListSources
            | Self::UseName(_)
            | Self::FindChunkKey
            | Self::UpdateIndex
            | Self::PullModel
            | Self::VerifyModel
            | Self::FindDamage => true,
            Self::Words
            | Self::ByPerson
            | Self::ChangeSetting
            | Self::PassArgument { .. }
            | Self::ReadTextFile
            | Self::SearchWithGrep
            | Self::WaitForJob => false,
        }
    }
}

/// A typed failure: a stable code, one plain sentence, and the command that fixes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The code, for programs.
    pub code: ErrorCode,
    /// The message for people: one sentence, without the code.
    pub message: String,
    /// The command (or other action) that fixes it, if one is known.
    pub hint: Option<String>,
    /// The kind of action that the hint asks for.
    pub fix: Fix,
    /// What a question that could not be answered found nevertheless.
    pub found: Option<Box<FoundNevertheless>>,
}

/// What a question found although it could not be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FoundNevertheless {
    /// The passages that the search found, best first.
    pub closest: Vec<ClosestPassage>,
    /// The record of the run; null when no records are kept.
    pub run_id: Option<String>,
}

/// A passage of the notes that is close to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClosestPassage {
    /// `source:path`.
    pub address: String,
    /// The headings above it.
    pub heading_path: String,
    /// Its lines, as in a citation.
    pub lines: String,
    /// Its beginning, word for word.
    pub text: String,
}

/// The result of fallible functions of this crate.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure without a hint.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
            fix: Fix::Words,
            found: None,
        }
    }

    /// Adds what was found nevertheless.
    #[must_use]
    pub fn with_found(mut self, found: FoundNevertheless) -> Self {
        self.found = Some(Box::new(found));
        self
    }

    /// Adds advice in words that whoever made the request can follow.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        self.with_fix(Fix::Words, hint)
    }

    /// Adds a hint that contains a command of this program.
    #[must_use]
    pub fn with_command(self, hint: impl Into<String>) -> Self {
        self.with_fix(Fix::RunCommand, hint)
    }

    /// Adds a hint that asks for an action of this kind.
    #[must_use]
    pub fn with_fix(mut self, fix: Fix, hint: impl Into<String>) -> Self {
        self.fix = fix;
        self.hint = Some(hint.into());
        self
    }

    /// A failure caused by a bug in this program. Never used for errors that input, disk or network
    /// can cause.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InternalError, message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_well_formed() {
        let mut seen = std::collections::HashSet::new();
        for code in ErrorCode::ALL {
            assert!(seen.insert(code.as_str()), "{code} twice");
            assert!(
                code.as_str()
                    .bytes()
                    .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
            );
            assert!(code.meaning().ends_with('.'));
        }
    }
}
