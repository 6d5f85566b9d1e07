//! `conflicts`: prints notes that give different values for the same thing.

use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::Conflicts as Args;
use super::context::Context;
use super::enter::Needs;
use super::output::count;
use super::query::{file_path, say_index_stale, say_limits};
use local_agent_agent::config::Config;
use local_agent_agent::operations::Library;
use local_agent_agent::operations::conflicts::{
    Conflict, ConflictRequest, ConflictSide, Conflicts, conflicts,
};
use local_agent_index::retrieval::Stale;
use local_agent_text::error::Result;

/// What `conflicts --json` prints, without the roots.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ConflictsView<'a> {
    /// The query whose hits were compared; null: the whole index.
    topic: Option<&'a str>,
    /// How many conflicts there are; `conflicts` has at most `--limit` of them.
    found: usize,
    conflicts: &'a [Conflict],
    /// How many passages were compared.
    compared: usize,
    /// How many there are to compare; more than `compared`: the others were beyond the bound.
    passages: usize,
    /// Files of these conflicts that changed since they were indexed.
    index_stale: Vec<String>,
    stale: Vec<StaleView<'a>>,
}

/// Why hits of a topic may be missing.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StaleView<'a> {
    /// What is out of date: `lexical`, `vectors` or `files`.
    what: &'a str,
    why: &'a str,
    /// The command that mends it.
    fix: &'a str,
}

impl<'a> From<&'a Stale> for StaleView<'a> {
    fn from(stale: &'a Stale) -> Self {
        Self {
            what: stale.what,
            why: &stale.why,
            fix: stale.fix,
        }
    }
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<ExitCode> {
    let config = context.load()?.config;
    context.enter(&config, &Needs::nothing())?;
    let sandbox = context.sandbox(&config)?;
    let topic = args.topic.join(" ");
    let topic = (!topic.trim().is_empty()).then_some(topic.as_str());
    let model = match topic {
        Some(_) => Some(context.embedding(&config)?),
        None => None,
    };
    let wanted = ConflictRequest {
        topic,
        limits: args.scope.limits(),
        limit: args.limit.max(1),
    };
    let library = Library::for_command(&config, model);
    let found = conflicts(&config, &sandbox, &library, &wanted)?;
    if context.out.json {
        let view = ConflictsView {
            topic,
            found: found.found,
            conflicts: &found.conflicts,
            compared: found.compared,
            passages: found.passages,
            index_stale: found.index_stale(),
            stale: found.stale.iter().map(StaleView::from).collect(),
        };
        context.out.json(context.body(&view)?);
        return Ok(ExitCode::SUCCESS);
    }
    for conflict in &found.conflicts {
        print(context, &config, conflict);
    }
    context.out.line(&summary(&found, topic.is_some()));
    say_index_stale(&found.index_stale());
    say_limits(&found.coverage, &found.stale);
    Ok(ExitCode::SUCCESS)
}

/// Prints the subject, then both sides, each with its value, note and day, and its sentence below.
fn print(context: &Context, config: &Config, conflict: &Conflict) {
    let out = context.out;
    out.line(&out.bold(&out.shown(&conflict.thing)));
    for side in [&conflict.a, &conflict.b] {
        let place = out.shown(&format!("{}:{}", side.note, side.line));
        let place = match side.note.split_once(':') {
            Some((source, path)) => out.link(&file_path(config, source, path), side.line, &place),
            None => place,
        };
        let value = out.mark(&out.shown(&side.value));
        out.line(&format!("    {value}  {place}  {}", out.dim(&day(side))));
        out.line(&format!("        {}", out.shown(&side.sentence)));
    }
    out.line("");
}

fn day(side: &ConflictSide) -> String {
    let changed = if side.date_is_stated { "" } else { "file of " };
    let newest = if side.is_newest { ", newest" } else { "" };
    format!("{changed}{}{newest}", side.date)
}

/// The number of conflicts, and the text that was compared.
fn summary(found: &Conflicts, has_topic: bool) -> String {
    let conflicts = match found.found {
        0 => "No conflicts".to_owned(),
        found => count(found as u64, "conflict"),
    };
    let shown = found.conflicts.len();
    let shown = if shown < found.found {
        format!(" ({shown} shown; --limit N shows more)")
    } else {
        String::new()
    };
    let passages = count(found.compared as u64, "passage");
    let compared = match (has_topic, found.compared < found.passages) {
        (true, _) => format!("{passages} that fit the topic"),
        (false, true) => format!(
            "the {passages} of the newest notes, of {}; name a topic or a folder to compare others",
            found.passages
        ),
        (false, false) => passages,
    };
    format!("{conflicts}{shown} in {compared}.")
}
