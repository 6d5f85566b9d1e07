//! Reads a file outside all roots that an operator named. No other function does this.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use local_agent_text::error::{ErrorCode, Failure, Result};

/// Maximum size in bytes; no command needs larger files.
const MAX_BYTES: u64 = 256 << 20;

/// The fix for a file that is not there.
const EXISTING: &str = "name a file that exists";

/// The fix for a file that the system does not let this user read.
const READABLE: &str = "name a file that you can read";

/// The whole text of a regular file; a FIFO or device is refused before it could block.
///
/// `FILE_NOT_FOUND`, `PATH_IS_DIRECTORY`, `FILE_TOO_LARGE`, `FILE_READ_ERROR` (also when it is not
/// UTF-8).
pub(super) fn read_text(file: &Path) -> Result<String> {
    let kind = match std::fs::metadata(file) {
        Ok(kind) => kind,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return unreadable(file, ErrorCode::FileNotFound, "does not exist", EXISTING);
        }
        Err(e) => {
            return unreadable(
                file,
                ErrorCode::FileReadError,
                &format!("cannot be read: {e}"),
                READABLE,
            );
        }
    };
    if kind.is_dir() {
        let hint = "name a file in it";
        return unreadable(file, ErrorCode::PathIsDirectory, "is a folder", hint);
    }
    if !kind.is_file() {
        let why = "is not a regular file";
        return unreadable(file, ErrorCode::FileNotFound, why, EXISTING);
    }
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|open| open.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    if let Err(e) = read {
        return unreadable(
            file,
            ErrorCode::FileReadError,
            &format!("cannot be read: {e}"),
            READABLE,
        );
    }
    if bytes.len() as u64 > MAX_BYTES {
        let hint = "name a smaller file";
        return unreadable(file, ErrorCode::FileTooLarge, "is too large", hint);
    }
    String::from_utf8(bytes).or_else(|_| {
        let hint = "convert the file to UTF-8";
        unreadable(file, ErrorCode::FileReadError, "is not UTF-8 text", hint)
    })
}

/// The failure for a file that cannot be read as text.
fn unreadable(file: &Path, code: ErrorCode, why: &str, hint: &str) -> Result<String> {
    Err(Failure::new(code, format!("{} {why}", file.display())).with_hint(hint))
}
