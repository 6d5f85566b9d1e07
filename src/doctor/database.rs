//! Checks both databases before they are opened: the program that created the file, its version,
//! and whether it is intact.

use std::path::Path;

use super::Checks;
use super::codes::Code;
use local_agent_files::state::quoted;
use local_agent_index::store::{self, Database, FoundDatabase};
use local_agent_text::error::Failure;

/// The codes for the checks of one database.
pub(super) struct Codes {
    pub foreign: Code,
    pub version: Code,
    pub error: Code,
    pub schema_ok: Code,
    pub integrity_ok: Code,
    /// The configuration key with the file's path.
    pub key: &'static str,
}

/// The result of checking the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looked {
    /// The file does not exist; nothing has been reported yet.
    Nothing,
    /// The file is ours, has this version, and is intact.
    Usable,
    /// The fault was reported as a failure.
    Refused,
}

/// Checks the file; everything except its absence is reported.
pub(super) fn look(path: &Path, database: Database, codes: &Codes, checks: &mut Checks) -> Looked {
    let (shown, job) = (path.display(), database.job());
    let aside = again(database);
    match store::examine(path, database) {
        Ok(FoundDatabase::Nothing) => return Looked::Nothing,
        Ok(FoundDatabase::Ours) => checks.ok(
            codes.schema_ok,
            format!("{shown} has schema {}", database.version()),
        ),
        Ok(FoundDatabase::Older(version)) => {
            let message = format!(
                "{shown} has the older schema {version}; this program writes {}",
                database.version()
            );
            checks.fail(codes.version, message, job);
        }
        Ok(FoundDatabase::Newer(version)) => {
            let message = format!(
                "{shown} has the newer schema {version}; this program writes {}",
                database.version()
            );
            let fix = format!(
                "install the newer local-agent, or set `{}` to another path and run `{job}`",
                codes.key
            );
            checks.fail(codes.version, message, fix);
        }
        Ok(FoundDatabase::Foreign(application_id, version)) => {
            let whose = if application_id == 0 {
                "the earlier Python version, or of another program"
            } else {
                "another program"
            };
            let message = format!(
                "{shown} is a database of {whose} (application_id {application_id}, user_version {version}); \
                 `--rebuild` moves it to *.ancestor-<time> first"
            );
            checks.fail(codes.foreign, message, aside);
        }
        Ok(FoundDatabase::NotADatabase) => {
            let message = format!(
                "{shown} is not an SQLite database; `--rebuild` moves it to *.ancestor-<time> first"
            );
            checks.fail(codes.error, message, aside);
        }
        Err(failure) => {
            let fix = format!(
                "make {} a file that you can read, or move it away and run `{job}`",
                quoted(path)
            );
            checks.fail(codes.error, Failure::from(failure).message, fix);
        }
    }
    if checks.0.last().is_some_and(|check| !check.ok) {
        return Looked::Refused;
    }
    whole(path, database, codes, checks)
}

fn whole(path: &Path, database: Database, codes: &Codes, checks: &mut Checks) -> Looked {
    match store::damage(path, database) {
        Ok(None) => {
            checks.ok(
                codes.integrity_ok,
                format!("SQLite finds {} whole", path.display()),
            );
            if path.parent().is_some_and(store::on_network) {
                let message = format!(
                    "{} is on a network file system; a local disk is faster and safer",
                    path.display()
                );
                checks.ok(Code::StateOnNetwork, message);
            }
            Looked::Usable
        }
        Ok(Some(found)) => {
            let found = found.lines().next().unwrap_or_default().to_owned();
            checks.fail(
                codes.error,
                format!("{} is damaged: {found}", path.display()),
                again(database),
            );
            Looked::Refused
        }
        Err(failure) => {
            let message = format!(
                "{} cannot be read: {}",
                path.display(),
                Failure::from(failure).message
            );
            checks.fail(codes.error, message, again(database));
            Looked::Refused
        }
    }
}

/// The command that recreates a damaged database. Both databases can be computed from the files.
pub(super) fn again(database: Database) -> String {
    format!("{} --rebuild", database.job())
}
