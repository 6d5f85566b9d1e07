//! `memory`: texts that the user asked the program to remember.

use std::borrow::Cow;
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::args::{MemoryCommand, MemoryKind, MemorySource};
use super::context::{self, Context};
use super::enter::Needs;
use super::output::talk;
use super::write::write_whole;
use local_agent_agent::config::Config;
use local_agent_agent::memory::{self, LinkState, MemoryItem, Mend, Mended, New};
use local_agent_agent::operations::{documents, place};
use local_agent_agent::runs::Archive;
use local_agent_index::store::{
    Database, Durable, FoundDatabase, IndexReader, MemoryRow, examine, import_ancestor,
};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};

pub(super) fn run(context: &Context, command: &MemoryCommand) -> Result<ExitCode> {
    let config = context.load()?.config;
    // The head of the run ledger is in the same database, even if memory is disabled.
    if let MemoryCommand::Repair {
        begin_anew: true, ..
    } = command
    {
        return begin_anew(context, &config);
    }
    if !config.memory.enabled {
        return Err(switched_off());
    }
    context.enter(&config, &needs(context, command))?;
    match command {
        MemoryCommand::Add {
            kind,
            source,
            words,
            content,
            chunk_key,
            ..
        } => {
            let content = content.clone().unwrap_or_else(|| words.join(" "));
            add(context, &config, *kind, *source, &content, chunk_key)
        }
        MemoryCommand::List { dangling, .. } => list(
            context,
            &config,
            if *dangling { "dangling" } else { "list" },
            all(&config)?,
        ),
        MemoryCommand::Show { id, .. } => {
            let mut rows = all(&config)?;
            let row = rows.swap_remove(memory::find(&rows, id)?);
            list(context, &config, "show", vec![row])
        }
        MemoryCommand::Search { text, limit, .. } => {
            let rows = all(&config)?;
            let found = memory::search(&rows, text)
                .into_iter()
                .take(*limit)
                .map(|(row, _)| row.clone())
                .collect();
            list(context, &config, "search", found)
        }
        MemoryCommand::Delete { id, .. } => delete(context, &config, id),
        MemoryCommand::Export { path, .. } => export(context, &config, path),
        MemoryCommand::Repair {
            accept_changed,
            drop,
            dry_run,
            ..
        } => repair(
            context,
            &config,
            Mend {
                accept_changed: *accept_changed,
                drop: *drop,
                dry_run: *dry_run,
            },
        ),
    }
}

fn add(
    context: &Context,
    config: &Config,
    kind: MemoryKind,
    source: MemorySource,
    content: &str,
    chunk_key: &[String],
) -> Result<ExitCode> {
    let chunk_keys = whole_keys(context, config, chunk_key)?;
    let new = New {
        kind: kind_name(kind),
        source: match source {
            MemorySource::Manual => memory::MANUAL,
            MemorySource::DerivedFromEvidence => memory::DERIVED,
        },
        content,
        chunk_keys: &chunk_keys,
        now: &context::now(),
    };
    let row = memory::add(&config.memory.db_path, &config.index.db_path, &new)?;
    say(
        context,
        config,
        "add",
        AddedView { memory_id: &row.id },
        &format!("remembered: {}", row.id),
    )
}

/// Completes keys from their first digits. Any other text is passed on, and the memory refuses it.
fn whole_keys(context: &Context, config: &Config, given: &[String]) -> Result<Vec<String>> {
    if !given.iter().any(|text| is_part_of_key(text)) {
        return Ok(given.to_vec());
    }
    let index = IndexReader::required(&config.index.db_path)?;
    let sandbox = context.sandbox(config)?;
    let whole = |text: &String| {
        if is_part_of_key(text) {
            Ok(documents::chunk_key(&index, &sandbox, text.trim())?.to_string())
        } else {
            Ok(text.clone())
        }
    };
    given.iter().map(whole).collect()
}

/// Whether the text can be the beginning of a chunk's key.
fn is_part_of_key(text: &str) -> bool {
    let digits = text.trim().trim_start_matches('#');
    (1..32).contains(&digits.len()) && digits.chars().all(|c| c.is_ascii_hexdigit())
}

const fn kind_name(kind: MemoryKind) -> &'static str {
    match kind {
        MemoryKind::Constraint => "constraint",
        MemoryKind::Preference => "preference",
        MemoryKind::ProjectState => "project_state",
        MemoryKind::UserFact => "user_fact",
        MemoryKind::WorkflowRule => "workflow_rule",
    }
}

fn all(config: &Config) -> Result<Vec<MemoryRow>> {
    memory::all(&config.memory.db_path)
}

/// The output of a memory command with `--json`, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct MemoryView<'a, T> {
    action: &'a str,
    memory_db: Cow<'a, str>,
    #[serde(flatten)]
    result: T,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct AddedView<'a> {
    memory_id: &'a str,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ItemsView<'a> {
    count: usize,
    items: &'a [MemoryItem],
}

#[derive(Serialize, JsonSchema)]
pub(super) struct DeletedView<'a> {
    memory_id: &'a str,
    deleted: bool,
    #[serde(flatten)]
    failure: Option<FailedView<'a>>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct FailedView<'a> {
    ok: bool,
    error_code: &'static str,
    error_message: &'a str,
    hint: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ExportedView<'a> {
    path: &'a str,
    items_count: usize,
}

/// A file of exported memories.
#[derive(Serialize, JsonSchema)]
struct ExportFile<'a> {
    schema_version: u32,
    exported_at: &'a str,
    items: &'a [MemoryItem],
}

#[derive(Serialize, JsonSchema)]
pub(super) struct BegunView {
    begun: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct RepairedView<'a> {
    dry_run: bool,
    imported: Option<usize>,
    relinked: usize,
    dropped: usize,
    left: usize,
    links: &'a [Mended],
}

fn say(
    context: &Context,
    config: &Config,
    action: &str,
    result: impl Serialize,
    words: &str,
) -> Result<ExitCode> {
    if !context.out.json {
        context.out.line(words);
        return Ok(ExitCode::SUCCESS);
    }
    let body = context.body(&MemoryView {
        action,
        memory_db: config.memory.db_path.to_string_lossy(),
        result,
    })?;
    context.out.json(body);
    Ok(ExitCode::SUCCESS)
}

/// The needs of a memory command. Those that change memory create its folder; an export creates a
/// file outside.
fn needs(context: &Context, command: &MemoryCommand) -> Needs {
    match command {
        MemoryCommand::Add { .. } => Needs::state(),
        MemoryCommand::Export { path, .. } => Needs {
            files: vec![context.environment.cwd.join(path)],
            ..Needs::nothing()
        },
        _ => Needs::nothing(),
    }
}

/// The output of `memory list --json` or, with words, of `memory search --json`, without the roots.
/// It contains only the memories for which `may_see` is true.
pub(super) fn listed(
    config: &Config,
    words: &str,
    may_see: impl Fn(&MemoryRow) -> bool,
) -> Result<Value> {
    if !config.memory.enabled {
        return Err(switched_off());
    }
    let mut rows = all(config)?;
    rows.retain(may_see);
    let is_search = !words.trim().is_empty();
    if is_search {
        let found = memory::search(&rows, words).into_iter();
        rows = found.map(|(row, _)| row.clone()).collect();
    }
    let items = judged(config, rows)?;
    context::to_value(&MemoryView {
        action: if is_search { "search" } else { "list" },
        memory_db: config.memory.db_path.to_string_lossy(),
        result: ItemsView {
            count: items.len(),
            items: &items,
        },
    })
}

fn switched_off() -> Failure {
    Failure::new(ErrorCode::MemoryDisabled, "durable memory is switched off")
        .with_fix(Fix::ChangeSetting, "set `memory.enabled: true`")
}

fn judged(config: &Config, rows: Vec<MemoryRow>) -> Result<Vec<MemoryItem>> {
    // Without an index the state of a link is unknown, which is not a failure.
    let index = if rows.iter().any(|row| !row.links.is_empty()) {
        IndexReader::open(&config.index.db_path)?
    } else {
        None
    };
    memory::judge(rows, index.as_ref())
}

fn list(
    context: &Context,
    config: &Config,
    action: &str,
    rows: Vec<MemoryRow>,
) -> Result<ExitCode> {
    let mut items = judged(config, rows)?;
    if action == "dangling" {
        items.retain(|item| {
            item.evidence
                .iter()
                .any(|link| link.state != LinkState::Intact)
        });
    }
    if context.out.json {
        return say(
            context,
            config,
            action,
            ItemsView {
                count: items.len(),
                items: &items,
            },
            "",
        );
    }
    if items.is_empty() {
        context.out.line(match action {
            "search" => "No memory holds these words.",
            "dangling" => "Every link of every memory is intact.",
            _ => "Nothing is remembered yet.",
        });
    }
    for item in &items {
        print(context, item);
    }
    Ok(ExitCode::SUCCESS)
}

fn print(context: &Context, item: &MemoryItem) {
    let out = context.out;
    out.line(&format!(
        "{}  {}  {}",
        item.memory_id,
        item.kind,
        out.shown(&item.content)
    ));
    for link in &item.evidence {
        let place = match (&link.source, &link.rel_path) {
            (Some(source), Some(path)) => format!("{source}:{path}"),
            _ => "from an earlier program".to_owned(),
        };
        out.line(&out.shown(&format!(
            "    {:<8} {}  {place}",
            link.state.as_str(),
            link.chunk_key
        )));
    }
}

fn delete(context: &Context, config: &Config, id: &str) -> Result<ExitCode> {
    let deleted = memory::delete(&config.memory.db_path, id)?;
    if !deleted {
        let failure = Failure::new(
            ErrorCode::MemoryError,
            format!("there is no memory called `{id}`"),
        )
        .with_command("local-agent memory list");
        if !context.out.json {
            return Err(failure);
        }
        let body = DeletedView {
            memory_id: id,
            deleted: false,
            failure: Some(FailedView {
                ok: false,
                error_code: failure.code.as_str(),
                error_message: &failure.message,
                hint: failure.hint.as_deref(),
            }),
        };
        say(context, config, "delete", body, "")?;
        return Ok(ExitCode::from(1));
    }
    say(
        context,
        config,
        "delete",
        DeletedView {
            memory_id: id,
            deleted: true,
            failure: None,
        },
        &format!("forgotten: {id}"),
    )
}

fn export(context: &Context, config: &Config, path: &std::path::Path) -> Result<ExitCode> {
    let file = context.environment.cwd.join(path);
    if file.symlink_metadata().is_ok() {
        return Err(Failure::new(
            ErrorCode::MemoryError,
            format!("{} is there already", file.display()),
        )
        .with_hint("name a file that does not exist yet"));
    }
    let index = IndexReader::open(&config.index.db_path)?;
    let items = memory::judge(all(config)?, index.as_ref())?;
    let whole = ExportFile {
        schema_version: 1,
        exported_at: &context::now(),
        items: &items,
    };
    let text = serde_json::to_string_pretty(&context::to_value(&whole)?)
        .map_err(|e| Failure::internal(format!("memory cannot be written as JSON: {e}")))?;
    write_whole(&file, (text + "\n").as_bytes())?;
    let shown = file.to_string_lossy();
    let words = format!("{} written to {shown}", counted(items.len()));
    say(
        context,
        config,
        "export",
        ExportedView {
            path: &shown,
            items_count: items.len(),
        },
        &words,
    )
}

fn counted(n: usize) -> String {
    if n == 1 {
        "1 memory".to_owned()
    } else {
        format!("{n} memories")
    }
}

fn begin_anew(context: &Context, config: &Config) -> Result<ExitCode> {
    let begun = Durable::begin_anew(&config.memory.db_path, &context::file_stamp())?;
    if let Some(failure) = Archive::new(place(config))
        .ledger
        .vouch()
        .err()
        .filter(|_| begun)
    {
        talk(&format!(
            "the ledger of runs is not vouched for yet: {}",
            failure.message
        ));
    }
    let words = if begun {
        "a new memory is begun"
    } else {
        "a memory is there: nothing was begun"
    };
    say(context, config, "begin_anew", BegunView { begun }, words)
}

fn repair(context: &Context, config: &Config, mend: Mend) -> Result<ExitCode> {
    let path = &config.memory.db_path;
    let mut imported = None;
    if !mend.dry_run
        && matches!(
            examine(path, Database::Durable)?,
            FoundDatabase::Foreign(0, 1)
        )
    {
        let (aside, count) = import_ancestor(path, &context::file_stamp())?;
        talk(&format!(
            "imported {}; the Python version's file is kept as {}",
            counted(count),
            aside.display()
        ));
        imported = Some(count);
    }
    let mended = match IndexReader::open(&config.index.db_path) {
        Ok(Some(index)) => memory::repair(path, &index, mend)?,
        // A Python version's index at that path has no information on our links.
        Ok(None) => Vec::new(),
        Err(failure) if imported.is_some() && failure.code() == ErrorCode::DbForeign => Vec::new(),
        Err(failure) => return Err(failure.into()),
    };
    let count = |action: &str| mended.iter().filter(|one| one.action == action).count();
    let (relinked, dropped, left) = (count("relinked"), count("dropped"), count("left"));
    if context.out.json {
        let body = RepairedView {
            dry_run: mend.dry_run,
            imported,
            relinked,
            dropped,
            left,
            links: &mended,
        };
        return say(context, config, "repair", body, "");
    }
    for Mended {
        memory_id,
        chunk_key,
        state,
        action,
        now,
        why,
    } in &mended
    {
        let to = now.map_or_else(String::new, |key| format!(" to {key}"));
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        let state = if *state == LinkState::Unknown {
            "of unknown state"
        } else {
            state.as_str()
        };
        context.out.line(&format!(
            "{memory_id}  {chunk_key} {state}, {action}{to}{why}"
        ));
    }
    let tense = if mend.dry_run { "would be " } else { "" };
    context.out.line(&format!(
        "{relinked} links {tense}relinked, {dropped} {tense}dropped, {left} left as they are"
    ));
    Ok(ExitCode::SUCCESS)
}
