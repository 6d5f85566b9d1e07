//! `clean`: removes only files that the program can recreate. Memory, run records, downloaded
//! models and configurations are always kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::Clean;
use super::context::Context;
use super::output::talk;
use local_agent_agent::config::Config;
use local_agent_agent::operations::holder;
use local_agent_index::store::{self, Database, FoundDatabase, JobLock};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// What `clean --json` prints, without the roots.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CleanView {
    /// Whether it was removed, or would be.
    removed: bool,
    bytes: u64,
    items: Vec<Item>,
    /// Databases that this version did not make, which stay.
    left: Vec<LeftDatabase>,
}

/// A database that stays.
#[derive(Debug, Serialize, JsonSchema)]
struct LeftDatabase {
    path: PathBuf,
    /// Why it stays.
    why: String,
}

/// One file or folder that can be made again.
#[derive(Debug, Serialize, JsonSchema)]
struct Item {
    path: PathBuf,
    /// What it is.
    what: &'static str,
    bytes: u64,
}

pub(super) fn run(context: &Context, args: &Clean) -> Result<ExitCode> {
    let config = context.load()?.config;
    let mut items = caches(context)?;
    let _locks = if args.all && args.yes {
        Some(job_locks(&config)?)
    } else {
        None
    };
    let mut left = Vec::new();
    if args.all {
        for database in [Database::Index, Database::Embeddings] {
            let path = path_of(&config, database);
            match why_left(path, database) {
                None => items.extend(made_from_files(&config, database)),
                Some(why) => left.push(LeftDatabase {
                    path: path.to_owned(),
                    why,
                }),
            }
        }
    }
    if args.yes {
        items.iter().try_for_each(|item| remove(&item.path))?;
    }
    let view = CleanView {
        removed: args.yes,
        bytes: items.iter().map(|item| item.bytes).sum(),
        items,
        left,
    };
    if context.out.json {
        context.out.json(context.body(&view)?);
    } else {
        print(context, args, &view, !config.sources.is_empty());
    }
    Ok(ExitCode::SUCCESS)
}

fn print(context: &Context, args: &Clean, view: &CleanView, has_sources: bool) {
    let out = context.out;
    for one in &view.left {
        talk(&format!("left: {} {}", one.path.display(), one.why));
    }
    if view.items.is_empty() {
        out.line(match args.all {
            true => "There is nothing to remove.",
            false => {
                "There is nothing to remove. With --all the indexes are listed, too; --yes removes what is listed."
            }
        });
        return;
    }
    for item in &view.items {
        let path = item.path.display();
        out.line(&format!("{:>9}  {path}  {}", size(item.bytes), item.what));
    }
    let total = size(view.bytes);
    if view.removed {
        out.line(&format!("removed: {total}"));
    } else {
        let all = if args.all { " --all" } else { "" };
        out.line(&format!(
            "{total} can be removed: local-agent clean{all} --yes"
        ));
    }
    if args.all && view.removed && has_sources {
        out.line("next: local-agent index && local-agent embed");
    }
}

/// A size in the largest unit with a digit before the decimal point.
fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "kB", "MB"] {
        if value < 1000.0 {
            return format!("{value:.0} {unit}");
        }
        value /= 1000.0;
    }
    format!("{value:.1} GB")
}

/// The content of the cache folder: the state of `try`, the example vault, packed weights.
fn caches(context: &Context) -> Result<Vec<Item>> {
    let cache = context.environment.cache_dir()?;
    let parts = [
        ("try", "indexes of `try`"),
        ("example-vault", "the example vault"),
        ("models", "packed weights of models"),
    ];
    let items = parts
        .into_iter()
        .filter_map(|(name, what)| item(&cache.join(name), what));
    // An empty folder takes no room.
    Ok(items.filter(|item| item.bytes > 0).collect())
}

fn path_of(config: &Config, database: Database) -> &Path {
    match database {
        Database::Embeddings => &config.embed.db_path,
        _ => &config.index.db_path,
    }
}

/// Why a database stays, as the end of a sentence; `None` if it can be made again, or is missing.
fn why_left(path: &Path, database: Database) -> Option<String> {
    match store::examine(path, database) {
        Ok(FoundDatabase::Ours | FoundDatabase::Older(_) | FoundDatabase::Nothing) => None,
        Ok(FoundDatabase::Newer(version)) => Some(format!(
            "is of a newer local-agent: it has schema {version}"
        )),
        Ok(FoundDatabase::Foreign(..)) => Some("is a database of another program".to_owned()),
        Ok(FoundDatabase::NotADatabase) => Some("is not a database of this program".to_owned()),
        Err(failure) => Some(format!(
            "cannot be examined: {}",
            Failure::from(failure).message
        )),
    }
}

/// A database that can be made again, and its projection.
fn made_from_files(config: &Config, database: Database) -> Vec<Item> {
    let (what, projection, of) = match database {
        Database::Embeddings => ("the vectors", config.vectors_dir(), "the vector index"),
        _ => ("the index", config.lexical_dir(), "the word index"),
    };
    let path = path_of(config, database);
    let mut items = Vec::new();
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(suffix);
        items.extend(item(&path.with_file_name(name), what));
    }
    items.extend(item(&projection, of));
    items
}

/// The file or folder at `path`; `None` if it does not exist, or if it is a link to a place that
/// was not created here.
fn item(path: &Path, what: &'static str) -> Option<Item> {
    let meta = fs::symlink_metadata(path).ok()?;
    (!meta.is_symlink()).then(|| Item {
        path: path.to_owned(),
        what,
        bytes: bytes_in(path),
    })
}

/// The size of a file, or of all files in a folder, in bytes. Links are not followed.
fn bytes_in(path: &Path) -> u64 {
    let Ok(meta) = fs::symlink_metadata(path) else {
        return 0;
    };
    if !meta.is_dir() {
        return meta.len();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| bytes_in(&entry.path())).sum()
}

/// Takes the locks of the jobs, so that nothing is removed while they run.
fn job_locks(config: &Config) -> Result<Vec<JobLock>> {
    let locks = [
        take_lock(&config.index.db_path, "index.lock")?,
        take_lock(&config.embed.db_path, "embed.lock")?,
    ];
    Ok(locks.into_iter().flatten().collect())
}

/// Takes the lock beside a database, without waiting. `None` if its folder does not exist: no job
/// runs there, and a new folder would have no proof of who made it.
fn take_lock(database: &Path, name: &str) -> Result<Option<JobLock>> {
    let path = JobLock::path_beside(database, name);
    if !path.parent().is_some_and(Path::exists) {
        return Ok(None);
    }
    JobLock::take(&path, &holder("clean"), Duration::ZERO)
        .map(Some)
        .map_err(Failure::from)
}

fn remove(path: &Path) -> Result<()> {
    let is_dir = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    let done = if is_dir {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    match done {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Failure::new(
            ErrorCode::WriteError,
            format!("{} cannot be removed: {e}", path.display()),
        )
        .with_hint("allow writing there, then run the same command again")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_one_unit() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(12_345), "12 kB");
        assert_eq!(size(2_500_000_000), "2.5 GB");
    }
}
