//! Turns sources, folders, tags and days into the scope of retrieval.

use crate::config::{Config, unknown_source};
use local_agent_index::lexical::Filter;
use local_agent_index::retrieval::{Engine, Scope, Stale};
use local_agent_index::store::IndexReader;
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::types::SourceName;

/// The limits of a search, as typed.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// The sources to search; empty: all.
    pub source: Vec<String>,
    /// Folders or globs.
    pub path: Vec<String>,
    /// Tags that a document must have.
    pub tag: Vec<String>,
    /// The first day, `YYYY-MM-DD`.
    pub after: Option<String>,
    /// The day after the last one, `YYYY-MM-DD`.
    pub before: Option<String>,
}

impl Limits {
    /// Whether there are no limits.
    pub fn is_everything(&self) -> bool {
        let Self {
            source,
            path,
            tag,
            after,
            before,
        } = self;
        source.is_empty()
            && path.is_empty()
            && tag.is_empty()
            && after.is_none()
            && before.is_none()
    }
}

/// Parses the limits; an unknown source or an invalid day is a failure, not an empty result.
pub fn scope(config: &Config, args: &Limits) -> Result<Scope> {
    let mut scope = Scope {
        path_prefix: config.retrieve.path_prefix.clone(),
        ..Scope::default()
    };
    for name in &args.source {
        let source = SourceName::new(name.as_str())
            .ok()
            .filter(|n| config.sources.iter().any(|s| s.name == *n));
        scope.sources.push(
            source.ok_or_else(|| {
                unknown_source(name, config.sources.iter().map(|s| s.name.as_str()))
            })?,
        );
    }
    if config.client.is_some() && scope.sources.is_empty() {
        scope.sources = every_source(config)?;
    }
    args.path
        .iter()
        .for_each(|path| add_filter(&mut scope, "path", path));
    args.tag
        .iter()
        .for_each(|tag| add_filter(&mut scope, "tag", tag));
    for (key, day) in [("after", &args.after), ("before", &args.before)] {
        let Some(day) = day else { continue };
        if !is_day(day) {
            let message = format!("`{key}` must be a day, and `{day}` is not a day");
            return Err(Failure::new(ErrorCode::InvalidArgs, message)
                .with_fix(as_example(key), format!("--{key} {EXAMPLE_DAY}")));
        }
        add_filter(&mut scope, key, day);
    }
    Ok(scope)
}

/// A day that shows how days are written.
const EXAMPLE_DAY: &str = "2026-01-31";

/// The advice to write the argument `key` like [`EXAMPLE_DAY`].
fn as_example(key: &str) -> Fix {
    Fix::PassArgument {
        name: key.to_owned(),
        example: EXAMPLE_DAY.to_owned(),
    }
}

/// Leaves the sources out of a search that the index has and the configuration has no longer: nothing
/// in their files can be checked. Returns a sentence about each.
///
/// # Errors
/// `CONFIG_ERROR` if no source is configured.
pub(super) fn leave_out_unconfigured(
    config: &Config,
    engine: &Engine,
    scope: &mut Scope,
) -> Result<Vec<Stale>> {
    if !scope.sources.is_empty() || config.client.is_some() {
        return Ok(Vec::new());
    }
    if config.sources.is_empty() {
        return Err(
            Failure::new(ErrorCode::ConfigError, "no sources are configured")
                .with_fix(Fix::ConfigureByCommand, "local-agent source add DIR"),
        );
    }
    let unconfigured = unconfigured(config, engine.index())?;
    if unconfigured.is_empty() {
        return Ok(Vec::new());
    }
    scope.sources = config.sources.iter().map(|s| s.name.clone()).collect();
    let stale = unconfigured.iter().map(|name| Stale {
        what: "files",
        why: not_configured(name),
        fix: "local-agent index",
    });
    Ok(stale.collect())
}

/// The names of the sources that the index has and the configuration has no longer.
pub(super) fn unconfigured(config: &Config, index: &IndexReader) -> Result<Vec<String>> {
    let mut names = index.source_names()?;
    names.retain(|name| !config.sources.iter().any(|s| s.name.as_str() == name));
    Ok(names)
}

/// Says that a source is in the index only.
pub(super) fn not_configured(name: &str) -> String {
    format!("source `{name}` is indexed and no longer configured")
}

/// Adds a filter for one key.
fn add_filter(scope: &mut Scope, key: &str, value: &str) {
    scope.filters.push(Filter {
        key: key.to_owned(),
        value: value.to_owned(),
        negated: false,
    });
}

/// The names of all sources that a limited client may see. An empty list would mean every source of
/// the index.
fn every_source(config: &Config) -> Result<Vec<SourceName>> {
    if config.sources.is_empty() {
        let message = "no source that this token is for is configured any more";
        return Err(Failure::new(ErrorCode::InvalidArgs, message)
            .with_command("local-agent serve token list"));
    }
    Ok(config.sources.iter().map(|s| s.name.clone()).collect())
}

fn is_day(text: &str) -> bool {
    let form = time::macros::format_description!("[year]-[month]-[day]");
    time::Date::parse(text, form).is_ok()
}
