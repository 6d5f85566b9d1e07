//! Reads a file outside all roots that an operator named. No other function does this.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use local_agent_text::error::{ErrorCode, Failure, Result};

/// Maximum size in bytes; no command needs larger files.
const MAX_BYTES: u64 = 256 << 20;

/// The whole text of a regular file; a FIFO or device is refused before it could block.
///
/// `FILE_NOT_FOUND`, `PATH_IS_DIRECTORY`, `FILE_TOO_LARGE`, `FILE_READ_ERROR` (also when it is not
/// UTF-8).
pub(super) fn read_text(file: &Path) -> Result<String> {
    let kind = match std::fs::metadata(file) {
        Ok(kind) => kind,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return unreadable(file, ErrorCode::FileNotFound, "does not exist");
        }
        Err(e) => {
            return unreadable(
                file,
                ErrorCode::FileReadError,
                &format!("cannot be read: {e}"),
            );
        }
    };
    if kind.is_dir() {
        return unreadable(file, ErrorCode::PathIsDirectory, "is a folder");
    }
    if !kind.is_file() {
        return unreadable(file, ErrorCode::FileNotFound, "is not a regular file");
    }
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|open| open.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    if let Err(e) = read {
        return unreadable(
            file,
            ErrorCode::FileReadError,
            &format!("cannot be read: {e}"),
        );
    }
    if bytes.len() as u64 > MAX_BYTES {
        return unreadable(file, ErrorCode::FileTooLarge, "is too large");
    }
    String::from_utf8(bytes)
        .or_else(|_| unreadable(file, ErrorCode::FileReadError, "is not UTF-8 text"))
}

/// The failure for a file that cannot be read as text.
fn unreadable(file: &Path, code: ErrorCode, why: &str) -> Result<String> {
    Err(Failure::new(code, format!("{} {why}", file.display())))
}
