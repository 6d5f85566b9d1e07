//! Checks data that cannot be recreated: durable memory with its links, the run ledger and the
//! records.

use std::path::Path;

use super::codes::Code;
use super::{Checks, count, sample};
use local_agent_agent::config::Config;
use local_agent_agent::memory::{self, LinkState};
use local_agent_agent::runs::{self, Archive, RunFindings, RunId, RunPlace, Trouble};
use local_agent_files::state::{quoted, to_move_aside};
use local_agent_index::store::{self, Database, Durable, FoundDatabase, IndexReader};
use local_agent_text::error::{Failure, Result};

/// The command that names the damaged records.
const VERIFY_RUNS: &str = "local-agent runs verify";

/// Checks durable memory; returns the number of links that are not intact, if known.
pub(super) fn memory(
    config: &Config,
    index: Option<&IndexReader>,
    checks: &mut Checks,
) -> Option<u64> {
    let path = &config.memory.db_path;
    if (config.memory.enabled || config.runs.enabled) && Durable::is_missing(path).unwrap_or(false)
    {
        let what = if path.exists() { "is empty" } else { "is gone" };
        let message = format!(
            "{} {what}, and there was a database of memory before",
            path.display()
        );
        checks.fail(Code::DurableMissing, message, store::BEGIN_ANEW);
        return None;
    }
    if !config.memory.enabled {
        checks.ok(Code::MemoryDisabledWarn, "durable memory is switched off");
        return None;
    }
    if !is_ours(path, checks) || !is_whole(path, checks) {
        return None;
    }
    let Some(index) = index else {
        checks.skipped("links of memories", "there is no index that can be read");
        return None;
    };
    links(config, index, checks).unwrap_or_else(|failure| {
        checks.fail(
            Code::MemoryDbError,
            failure.message,
            store::without_durable(path),
        );
        None
    })
}

/// Whether the database exists and belongs to this program.
fn is_ours(path: &Path, checks: &mut Checks) -> bool {
    let shown = path.display();
    match store::examine(path, Database::Durable) {
        Ok(FoundDatabase::Ours) => return true,
        Ok(FoundDatabase::Nothing) => {
            checks.ok(
                Code::MemoryDbMissingWarn,
                format!("there is no durable memory at {shown}"),
            );
        }
        Ok(FoundDatabase::Foreign(..)) if store::holds_ancestors_memory(path) => {
            let message = format!(
                "{shown} contains a memory of the Python version that has not been imported"
            );
            checks.fail(Code::MemoryDbFound, message, "local-agent memory repair");
        }
        Ok(FoundDatabase::Foreign(id, version)) => {
            let message = format!(
                "{shown} is a database of another program (application_id {id}, user_version {version})"
            );
            checks.fail(Code::MemoryDbFound, message, store::without_durable(path));
        }
        Ok(FoundDatabase::Older(version) | FoundDatabase::Newer(version)) => {
            let known = Database::Durable.version();
            let message = format!("{shown} has schema {version}; this program writes {known}");
            checks.fail(
                Code::MemorySchemaVersion,
                message,
                format!(
                    "install the version that wrote it, or {}",
                    store::without_durable(path)
                ),
            );
        }
        Ok(FoundDatabase::NotADatabase) => {
            checks.fail(
                Code::MemoryDbError,
                format!("{shown} is not an SQLite database"),
                store::without_durable(path),
            );
        }
        Err(failure) => {
            checks.fail(
                Code::MemoryDbError,
                Failure::from(failure).message,
                store::without_durable(path),
            );
        }
    }
    false
}

/// Whether SQLite finds no damage in the database.
fn is_whole(path: &Path, checks: &mut Checks) -> bool {
    let shown = path.display();
    match store::damage(path, Database::Durable) {
        Ok(None) => {
            checks.ok(Code::MemoryDbOk, format!("SQLite finds {shown} whole"));
            return true;
        }
        Ok(Some(found)) => {
            let found = found.lines().next().unwrap_or_default().to_owned();
            checks.fail(
                Code::MemoryDbError,
                format!("{shown} is damaged: {found}"),
                store::without_durable(path),
            );
        }
        Err(failure) => {
            checks.fail(
                Code::MemoryDbError,
                Failure::from(failure).message,
                store::without_durable(path),
            );
        }
    }
    false
}

fn links(config: &Config, index: &IndexReader, checks: &mut Checks) -> Result<Option<u64>> {
    let items = memory::judge(memory::all(&config.memory.db_path)?, Some(index))?;
    let links = items
        .iter()
        .flat_map(|item| item.evidence.iter().map(move |link| (item, link)));
    let (mut moved, mut left) = (Vec::new(), Vec::new());
    let mut whole = 0_usize;
    for (item, link) in links {
        let name = || format!("{} ({})", item.memory_id, link.state.as_str());
        match link.state {
            LinkState::Intact => whole += 1,
            LinkState::Moved => moved.push(name()),
            LinkState::Changed | LinkState::Gone | LinkState::Unknown => left.push(name()),
        }
    }
    if moved.is_empty() && left.is_empty() {
        let message = format!(
            "{} in all, {} to chunks, all intact",
            memories(items.len()),
            count(whole, "link")
        );
        checks.ok(Code::MemoryDanglingOk, message);
    }
    if !moved.is_empty() {
        let message = format!(
            "{} of memories to text that moved: {}",
            count(moved.len(), "link"),
            sample(&moved)
        );
        checks.fail(Code::MemoryDangling, message, "local-agent memory repair");
    }
    // The text may come back, and a program must not discard a person's links.
    if !left.is_empty() {
        let message = format!(
            "{} of memories not intact, and kept: {}",
            count(left.len(), "link"),
            sample(&left)
        );
        checks.warn(
            Code::MemoryDanglingWarn,
            message,
            "local-agent memory list --dangling",
        );
    }
    Ok(Some((moved.len() + left.len()) as u64))
}

fn memories(n: usize) -> String {
    if n == 1 {
        "1 memory".to_owned()
    } else {
        format!("{n} memories")
    }
}

/// Checks the ledger, its head, and every record.
pub(super) fn runs(config: &Config, checks: &mut Checks) {
    if !config.runs.enabled {
        checks.warn(
            Code::RunsDisabledWarn,
            "`ask` keeps no records",
            "set `runs.enabled: true`",
        );
        return;
    }
    let archive = Archive::new(RunPlace {
        runs_dir: &config.runs.dir,
        durable: &config.memory.db_path,
        only: None,
    });
    let found = match runs::check(&archive, None, None) {
        Ok(found) => found,
        Err(failure) => {
            let fix = match config.runs.dir.is_file() {
                true => to_move_aside(&config.runs.dir),
                false => failure.hint.unwrap_or_else(|| VERIFY_RUNS.to_owned()),
            };
            checks.fail(Code::LedgerBroken, failure.message, fix);
            return;
        }
    };
    if found.head.is_none() && found.list.is_empty() {
        checks.ok(
            Code::RunsNoneYet,
            format!("no run is recorded yet in {}", config.runs.dir.display()),
        );
        return;
    }
    ledger(&found, checks);
    records(&found, checks);
    let cut_short = of(&found, &[Trouble::RunInterrupted, Trouble::RunLeftOver]);
    if !cut_short.is_empty() {
        let what = match cut_short.len() {
            1 => "never ended, or was not removed whole",
            _ => "never ended, or were not removed whole",
        };
        let message = format!("{} {what}", count(cut_short.len(), "run"));
        let ids = cut_short.iter().filter_map(|one| one.run_id.as_ref());
        let ids: Vec<&str> = ids.map(RunId::as_str).collect();
        checks.warn(Code::RunsInterruptedWarn, message, prune_all(&ids));
    }
    if !of(&found, &[Trouble::OpenToOthers]).is_empty() {
        let message = format!(
            "others than you may read or change records in {}",
            config.runs.dir.display()
        );
        checks.fail(
            Code::RunsOpenToOthers,
            message,
            format!("chmod -R go-rwx {}", quoted(&config.runs.dir)),
        );
    }
}

/// The command that removes all these runs at once.
fn prune_all(ids: &[&str]) -> String {
    format!("local-agent runs prune {}", ids.join(" "))
}

/// The findings of these kinds.
fn of<'a>(found: &'a RunFindings, troubles: &[Trouble]) -> Vec<&'a runs::Finding> {
    found
        .list
        .iter()
        .filter(|one| troubles.iter().any(|trouble| trouble.as_str() == one.code))
        .collect()
}

/// Checks whether the ledger is consistent.
fn ledger(found: &RunFindings, checks: &mut Checks) {
    match (
        of(found, &[Trouble::LedgerBroken]).first(),
        of(found, &[Trouble::HeadUnknown]).first(),
    ) {
        (Some(broken), _) => checks.fail(
            Code::LedgerBroken,
            broken.message.clone(),
            "local-agent runs head --renew",
        ),
        (None, Some(unknown)) => checks.warn(
            Code::LedgerHeadUnknownWarn,
            unknown.message.clone(),
            unknown.fix.clone(),
        ),
        (None, None) => {
            checks.ok(
                Code::LedgerOk,
                format!(
                    "the ledger of runs holds together: {}",
                    count(found.lines, "line")
                ),
            );
        }
    }
}

/// Checks whether every record is unchanged since it was entered.
fn records(found: &RunFindings, checks: &mut Checks) {
    let damaged = of(
        found,
        &[
            Trouble::RecordChanged,
            Trouble::RecordMissing,
            Trouble::RunUnlisted,
        ],
    );
    if damaged.is_empty() {
        checks.ok(
            Code::RunRecordsOk,
            format!(
                "{} as entered in the ledger",
                count(found.records, "record")
            ),
        );
    } else {
        let names: Vec<String> = damaged
            .iter()
            .map(|one| {
                format!(
                    "{} ({})",
                    one.run_id.as_ref().map_or("?", |id| id.as_str()),
                    one.code
                )
            })
            .collect();
        let message = format!(
            "{} not as entered in the ledger: {}",
            count(damaged.len(), "record"),
            sample(&names)
        );
        checks.fail(Code::RunRecordsDamaged, message, VERIFY_RUNS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_command_removes_every_run_that_never_ended() {
        assert_eq!(prune_all(&["a", "b"]), "local-agent runs prune a b");
    }
}
