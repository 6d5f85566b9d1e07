//! Errors of the store.

use std::fmt;

use local_agent_text::error::{ErrorCode, Failure, Fix};

use super::{MAKE_ROOM, SOMETHING_DAMAGED};

/// An error below or in the store.
#[derive(Debug)]
pub enum StoreError {
    /// SQLite failed or refused.
    Sqlite(rusqlite::Error),
    /// The store itself refused, with a code and the command that fixes it.
    Refused(Failure),
}

/// The result of the functions of this module.
pub type Result<T> = std::result::Result<T, StoreError>;

impl StoreError {
    /// Its stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Sqlite(error) => sqlite_failure(error).code,
            Self::Refused(failure) => failure.code,
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Sqlite(error) => sqlite_failure(&error),
            StoreError::Refused(failure) => failure,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(error) => error.fmt(f),
            Self::Refused(failure) => failure.fmt(f),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Sqlite(error) => Some(error),
            Self::Refused(failure) => Some(failure),
        }
    }
}

/// Whether the system refused to write.
fn is_unwritable(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi;
    const REFUSED: [i32; 6] = [
        ffi::SQLITE_IOERR_WRITE,
        ffi::SQLITE_IOERR_FSYNC,
        ffi::SQLITE_IOERR_DIR_FSYNC,
        ffi::SQLITE_IOERR_TRUNCATE,
        ffi::SQLITE_IOERR_SHMOPEN,
        ffi::SQLITE_IOERR_SHMSIZE,
    ];
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ReadOnly)
        || error
            .sqlite_error()
            .is_some_and(|e| REFUSED.contains(&e.extended_code))
}

/// Code, message and fix for an SQLite error.
fn sqlite_failure(error: &rusqlite::Error) -> Failure {
    use rusqlite::ErrorCode as Sqlite;
    match error.sqlite_error_code() {
        Some(Sqlite::DatabaseBusy | Sqlite::DatabaseLocked) => Failure::new(
            ErrorCode::Locked,
            format!("another process keeps the database busy: {error}"),
        )
        .with_hint("wait for the other process to end"),
        Some(Sqlite::DatabaseCorrupt | Sqlite::NotADatabase) => Failure::new(
            ErrorCode::DbCorrupt,
            format!("a database is damaged: {error}"),
        )
        .with_fix(Fix::FindDamage, SOMETHING_DAMAGED),
        Some(Sqlite::DiskFull) => Failure::new(
            ErrorCode::WriteError,
            "the disk is full; nothing half-written was published",
        )
        .with_hint(MAKE_ROOM),
        _ if is_unwritable(error) => {
            let message = format!(
                "a database cannot be written: {error}; nothing half-written was published"
            );
            Failure::new(ErrorCode::WriteError, message).with_hint(MAKE_ROOM)
        }
        _ => Failure::new(ErrorCode::DbError, format!("SQLite: {error}"))
            .with_command("local-agent doctor"),
    }
}
