//! The program's own files beside the databases: durable memory, running jobs, folders that jobs must write.

use std::path::Path;

use super::Checks;
use super::codes::Code;
use crate::config::Config;
use crate::store::{self, Database, Found, JobLock};

pub(super) fn check(config: &Config, checks: &mut Checks) {
    memory(config, checks);
    for lock in [config.index_lock(), config.embed_lock()] {
        if let Some(holder) = JobLock::holder(&lock) {
            checks.ok(Code::JobRunning, format!("running: {holder}"));
        }
    }
    writable(config, checks);
}

/// What stands where durable memory is kept is looked at by its header only.
fn memory(config: &Config, checks: &mut Checks) {
    let path = &config.memory.db_path;
    if !config.memory.enabled {
        checks.ok(Code::MemoryDisabledWarn, "durable memory is switched off");
        return;
    }
    let shown = path.display();
    let found = match store::examine(path, Database::Index) {
        Ok(Found::Nothing) => {
            checks.ok(Code::MemoryDbMissingWarn, format!("there is no durable memory at {shown}"));
            return;
        }
        Ok(Found::Foreign(0, version)) => {
            format!("a database of the ancestor or of another program (user_version {version})")
        }
        Ok(Found::Foreign(id, version)) => format!("a database (application_id {id}, user_version {version})"),
        Ok(Found::Ours | Found::Older(_) | Found::Newer(_)) => "an index database".to_owned(),
        Ok(Found::NotADatabase) => "a file that is no SQLite database".to_owned(),
        Err(failure) => failure.message,
    };
    checks.ok(Code::MemoryDbFound, format!("at {shown} stands {found}; it was not touched"));
}

fn writable(config: &Config, checks: &mut Checks) {
    let places = [&config.index.db_path, &config.embed.db_path];
    let closed: Vec<String> = places
        .into_iter()
        .filter_map(|file| file.ancestors().skip(1).find(|folder| folder.is_dir()))
        .filter(|folder| is_closed(folder))
        .map(|folder| folder.display().to_string())
        .collect();
    match closed.first() {
        None => checks.ok(Code::StateWritableOk, "the folders for the program's own files can be written"),
        Some(folder) => {
            checks.warn(
                Code::StateReadOnlyWarn,
                format!("{folder} cannot be written, so jobs would fail"),
                format!("chmod u+w {folder}"),
            );
        }
    }
}

/// Judged by the permissions alone: trying would be writing.
fn is_closed(folder: &Path) -> bool {
    folder.metadata().is_ok_and(|meta| meta.permissions().readonly())
}
