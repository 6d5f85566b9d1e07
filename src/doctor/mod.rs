//! Checks everything that the other commands rely on.
//!
//! One file per group of checks. A check is a value: a stable code, a finding, and the command that
//! fixes it. Doctor changes nothing, and creates only the cache folder for packed weights, if the
//! configuration wants them, and SQLite's own shared memory (`-shm`), which the first process that
//! opens a database sets up. Databases are recognised by their headers and
//! opened for reading, files are read through the sandbox. If a group cannot be checked, a check of
//! an earlier group says why. So later groups still run as far as possible, and none is skipped
//! silently.

mod asking;
mod codes;
mod config;
mod configured_model;
mod database;
mod durable;
mod embeddings;
mod freshness;
mod index;
mod models;
mod projections;
mod reranker;
mod server;
mod smoke;
mod state;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use codes::Code;
use local_agent_agent::config::{Config, Loaded};
use local_agent_embed::models::{ModelFiles, RerankerFiles};
use local_agent_files::sandbox::Sandbox;
use local_agent_text::error::Result;

/// Maximum number of names listed in one message.
const MOST_SAMPLES: usize = 10;

/// Every code that a check can have, with its meaning, in the order of the table.
pub(crate) fn codes() -> &'static [(&'static str, &'static str)] {
    codes::TABLE
}

/// Codes of the earlier Python version that no check uses any more: name, and the current code for
/// it.
pub(crate) fn retired_codes() -> &'static [(&'static str, &'static str)] {
    codes::RETIRED
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Check {
    /// Whether it passed, or is only a warning.
    pub ok: bool,
    /// A stable code.
    pub error_code: &'static str,
    /// One sentence for people, without a full stop.
    pub message: String,
    /// The command that fixes it; every failed check has one.
    pub suggested_fix: Option<String>,
}

/// The subject: the configuration as far as it can be read, and what is derived from it.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    /// The configuration, with its problems as data.
    pub loaded: &'a Loaded,
    /// Whether this user created the state folders; otherwise nothing in them is checked.
    pub state_is_trusted: bool,
    /// A sandbox over the configured roots.
    pub sandbox: &'a Result<Sandbox>,
    /// The files of the configured embedding model.
    pub model: &'a Result<ModelFiles>,
    /// The files of the reranker, if one is configured.
    pub reranker: &'a Result<Option<RerankerFiles>>,
    /// Whether a state that could make a hybrid answer wrong counts as a failure.
    pub require_phase3: bool,
    /// Whether servers must not be contacted.
    pub offline: bool,
    /// Selects the sampled files, so that many runs cover all of them.
    pub seed: u64,
}

impl Subject<'_> {
    const fn config(&self) -> &Config {
        &self.loaded.config
    }
}

/// The numbers of `phase3` in `doctor --json`; `None` for a number that could not be determined.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Phase3 {
    pub require_phase3: bool,
    pub chunks_total: Option<u64>,
    pub embeddings_total: Option<u64>,
    pub missing_embeddings: Option<u64>,
    pub outdated_embeddings: Option<u64>,
    pub dim_mismatch_embeddings: Option<u64>,
    pub orphan_embeddings: Option<u64>,
    pub embed_provider: &'static str,
    pub embed_runtime_fingerprint_match: Option<bool>,
    pub embeddings_db_path: PathBuf,
    pub memory_db_path: PathBuf,
    pub memory_enabled: bool,
    pub dangling_memory_evidence: Option<u64>,
    pub retrieval_smoke_ran: bool,
    pub retrieval_smoke_ok: Option<bool>,
    pub retrieval_smoke_reason: String,
}

/// All results.
#[derive(Debug)]
pub(crate) struct Report {
    /// The checks in the order in which they ran.
    pub checks: Vec<Check>,
    /// The numbers of `phase3`.
    pub phase3: Phase3,
}

impl Report {
    /// Whether every check is ok.
    pub(crate) fn ok(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }
}

/// The checks made so far.
#[derive(Debug, Default)]
struct Checks(Vec<Check>);

impl Checks {
    fn ok(&mut self, code: Code, message: impl Into<String>) {
        let message = message.into();
        self.0.push(Check {
            ok: true,
            error_code: code.as_str(),
            message,
            suggested_fix: None,
        });
    }

    fn fail(&mut self, code: Code, message: impl Into<String>, fix: impl Into<String>) {
        let message = message.into();
        self.0.push(Check {
            ok: false,
            error_code: code.as_str(),
            message,
            suggested_fix: Some(fix.into()),
        });
    }

    /// Adds a warning with the command that resolves it.
    fn warn(&mut self, code: Code, message: impl Into<String>, fix: impl Into<String>) {
        let message = message.into();
        self.0.push(Check {
            ok: true,
            error_code: code.as_str(),
            message,
            suggested_fix: Some(fix.into()),
        });
    }

    /// Reports a check that was skipped.
    fn skipped(&mut self, what: &str, why: impl std::fmt::Display) {
        self.ok(
            Code::CheckSkipped,
            format!("{what}: not checked, because {why}"),
        );
    }

    /// The fix of the first of these checks that failed.
    fn fix_of(&self, codes: &[Code]) -> Option<String> {
        let failed = |check: &&Check| {
            !check.ok && codes.iter().any(|code| code.as_str() == check.error_code)
        };
        self.0.iter().find(failed)?.suggested_fix.clone()
    }

    fn reported(&self, code: Code) -> bool {
        self.0.iter().any(|check| check.error_code == code.as_str())
    }

    fn failed(&self, code: Code) -> bool {
        self.0
            .iter()
            .any(|check| !check.ok && check.error_code == code.as_str())
    }
}

/// Runs every check. Never fails: if a check is not possible, the result reports that.
pub(crate) fn examine(subject: &Subject<'_>) -> Report {
    let mut checks = Checks::default();
    let config = subject.config();
    let mut phase3 = Phase3 {
        require_phase3: subject.require_phase3,
        embed_provider: embeddings::provider(config),
        embeddings_db_path: config.embed.db_path.clone(),
        memory_db_path: config.memory.db_path.clone(),
        memory_enabled: config.memory.enabled,
        ..Phase3::default()
    };
    config::check(subject, &mut checks);
    models::check(subject, &mut checks);
    reranker::check(subject, &mut checks);
    if !subject.state_is_trusted {
        checks.skipped(
            "index, embeddings, memory and records of runs",
            "the state folder is not trusted",
        );
        return Report {
            checks: checks.0,
            phase3,
        };
    }
    let index = index::check(subject, &mut checks);
    if let Some(index) = &index {
        phase3.chunks_total = index.chunk_count().ok();
        freshness::check(subject, index, &mut checks);
        projections::lexical(subject, index, &mut checks);
    } else {
        checks.skipped(
            "files and lexical projection",
            "there is no index that can be read",
        );
    }
    let reachable = server::check(subject, &mut checks);
    let server_fix = (!reachable).then(|| checks.fix_of(server::CODES)).flatten();
    asking::check(subject, &mut checks);
    let configured = configured_model::configured(subject, reachable, server_fix);
    let store = embeddings::check(
        subject,
        index.as_ref(),
        &configured,
        &mut checks,
        &mut phase3,
    );
    if let (Some(index), Some(store)) = (&index, &store) {
        projections::vectors(subject, index, store, configured.as_ref().ok(), &mut checks);
    }
    let searchable = configured
        .as_ref()
        .ok()
        .filter(|_| index.is_some() && store.is_some());
    smoke::check(subject, searchable, &mut checks, &mut phase3);
    phase3.dangling_memory_evidence = durable::memory(config, index.as_ref(), &mut checks);
    durable::runs(config, &mut checks);
    state::check(config, &mut checks);
    Report {
        checks: checks.0,
        phase3,
    }
}

/// A number and its noun: `1 file`, `2 files`.
fn count(n: impl TryInto<u64>, one: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    if n == 1 {
        format!("1 {one}")
    } else {
        format!("{n} {one}s")
    }
}

/// The first names of a list, and the number of the rest.
fn sample(names: &[String]) -> String {
    let shown = names
        .iter()
        .take(MOST_SAMPLES)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    match names.len().checked_sub(MOST_SAMPLES) {
        Some(more) if more > 0 => format!("{shown} and {more} more"),
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_well_formed() {
        let mut seen = std::collections::HashSet::new();
        for (code, meaning) in codes() {
            assert!(seen.insert(code), "{code} twice");
            assert!(
                code.starts_with("DOCTOR_")
                    && code
                        .bytes()
                        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
            );
            assert!(meaning.ends_with('.'), "{code}");
        }
    }

    #[test]
    fn a_retired_code_is_said_by_one_that_is_there() {
        for (old, now) in retired_codes() {
            assert!(codes().iter().all(|(code, _)| code != old), "{old}");
            assert!(codes().iter().any(|(code, _)| code == now), "{now}");
        }
    }

    #[test]
    fn long_lists_are_cut_and_counted() {
        let names: Vec<String> = (0..12).map(|n| n.to_string()).collect();
        assert_eq!(sample(&names), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more");
        assert_eq!(sample(&names[..2]), "0, 1");
        assert_eq!(
            (count(1_usize, "file"), count(0_u64, "file")),
            ("1 file".to_owned(), "0 files".to_owned())
        );
    }
}
