//! The origin of a value, and the problems found with it.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use local_agent_text::error::{ErrorCode, Failure, Fix};

/// The origin of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// `configs/default.yaml`, compiled in.
    Default,
    /// A line of a file.
    File {
        /// The file, as an absolute path.
        path: PathBuf,
        /// The line, from 1.
        line: u32,
    },
    /// A command-line flag, with its dashes.
    Flag(String),
    /// An environment variable.
    Environment(&'static str),
    /// For the workroot only: the folder of this file, found by walking up.
    Found(PathBuf),
}

impl Origin {
    /// The same origin, at a line of the same file. Line 0 means "no specific line".
    pub(super) fn at(&self, line: u32) -> Self {
        match self {
            Self::File { path, .. } if line > 0 => Self::File {
                path: path.clone(),
                line,
            },
            other => other.clone(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Flag(name) => write!(f, "flag {name}"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Found(path) => write!(f, "found {}", path.display()),
        }
    }
}

impl JsonSchema for Origin {
    fn schema_name() -> Cow<'static, str> {
        "Origin".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "description": "where the value comes from, in words"})
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The part of the configuration that has a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigArea {
    /// An allowed root outside the security root.
    AllowedRootOutside,
    /// `sources` and `index`, and the keys of the Python version for them.
    Sources,
    /// `embed`, `retrieve` and `ask`, and the keys of the Python version for them.
    Search,
    /// Everything else.
    Other,
}

impl ConfigArea {
    /// The part with this key.
    fn of_key(key: &str) -> Self {
        match key.split('.').next().unwrap_or_default() {
            "sources" | "index" | "phase2" => Self::Sources,
            "embed" | "retrieve" | "ask" | "phase3" => Self::Search,
            _ => Self::Other,
        }
    }
}

/// A problem of the configuration.
#[derive(Debug, Clone)]
pub struct ConfigProblem {
    /// Code, message and fix.
    pub failure: Failure,
    /// The part of the configuration that has it.
    pub area: ConfigArea,
}

impl From<Failure> for ConfigProblem {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            area: ConfigArea::Other,
        }
    }
}

/// Errors, and warnings about values whose interpretation differs from what was typed.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub problems: Vec<ConfigProblem>,
    pub warnings: Vec<String>,
    /// Those of `warnings` that say which sources overlap.
    pub overlaps: Vec<String>,
}

impl Findings {
    /// Records a mistake in the value of `key`, typed at this origin: `INVALID_ARGS` for a flag,
    /// otherwise `CONFIG_ERROR`.
    pub(super) fn problem(
        &mut self,
        key: &str,
        origin: &Origin,
        message: impl fmt::Display,
        fix: Option<String>,
    ) {
        self.problem_in(ConfigArea::of_key(key), origin, message, fix);
    }

    /// As [`Self::problem`], in this part of the configuration.
    pub(super) fn problem_in(
        &mut self,
        area: ConfigArea,
        origin: &Origin,
        message: impl fmt::Display,
        fix: Option<String>,
    ) {
        let code = if matches!(origin, Origin::Flag(_)) {
            ErrorCode::InvalidArgs
        } else {
            ErrorCode::ConfigError
        };
        let (kind, hint) = match (fix, origin) {
            (Some(hint), _) => (Fix::ChangeSetting, hint),
            (None, Origin::File { path, line }) => (
                Fix::RunCommand,
                format!(
                    "mend line {line} of {}, then run `local-agent config check`",
                    path.display()
                ),
            ),
            (None, Origin::Flag(name)) => (Fix::Words, format!("give {name} another value")),
            (None, _) => (Fix::RunCommand, "local-agent config check".to_owned()),
        };
        let failure = Failure::new(code, format!("{origin}: {message}")).with_fix(kind, hint);
        self.problems.push(ConfigProblem { failure, area });
    }

    pub(super) fn warn(&mut self, origin: &Origin, message: impl fmt::Display) {
        self.warnings.push(format!("{origin}: {message}"));
    }

    /// As [`Self::warn`], of sources that overlap.
    pub(super) fn warn_of_overlap(&mut self, origin: &Origin, message: impl fmt::Display) {
        self.warn(origin, message);
        self.overlaps.extend(self.warnings.last().cloned());
    }
}
