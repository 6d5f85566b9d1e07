//! Checks the program's own files next to the databases: running jobs, and folders to which jobs
//! must write.

use std::path::Path;

use super::Checks;
use super::codes::Code;
use local_agent_agent::config::Config;
use local_agent_files::state::quoted;
use local_agent_index::store::JobLock;

pub(super) fn check(config: &Config, checks: &mut Checks) {
    for lock in [config.index_lock(), config.embed_lock()] {
        if let Some(holder) = JobLock::holder(&lock) {
            checks.ok(Code::JobRunning, format!("running: {holder}"));
        }
    }
    writable(config, checks);
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
        None => checks.ok(
            Code::StateWritableOk,
            "the folders for the program's own files can be written",
        ),
        Some(folder) => {
            checks.warn(
                Code::StateReadOnlyWarn,
                format!("{folder} cannot be written, so jobs would fail"),
                format!("chmod u+w {}", quoted(Path::new(folder))),
            );
        }
    }
}

/// Whether the permissions forbid writing. A trial is not possible, because doctor writes nothing.
fn is_closed(folder: &Path) -> bool {
    folder
        .metadata()
        .is_ok_and(|meta| meta.permissions().readonly())
}
