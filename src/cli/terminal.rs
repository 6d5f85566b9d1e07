//! Asks for confirmation at the controlling terminal, so that a pipe, a model or a script cannot
//! confirm.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};

use local_agent_text::error::Result;

/// Maximum length of an answer, in bytes.
const MAX_ANSWER_BYTES: u64 = 100;

/// Shows `question` at the controlling terminal and waits for a line. Only `y` and `yes` confirm;
/// without a terminal the answer is no. `question` may contain text from files, so it is made safe
/// for a terminal here.
pub(super) fn agrees(question: &str) -> Result<bool> {
    let Some((mut out, input)) = open() else {
        return Ok(false);
    };
    drop_what_was_typed_before();
    let asked =
        write!(out, "{} [y/N] ", super::output::visible(question)).and_then(|()| out.flush());
    if asked.is_err() {
        return Ok(false);
    }
    let mut line = String::new();
    let read = BufReader::new(std::io::Read::take(input, MAX_ANSWER_BYTES)).read_line(&mut line);
    Ok(read.is_ok() && matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Whether this process has a terminal at which a person can be asked.
pub(super) fn is_there() -> bool {
    open().is_some()
}

/// Discards lines that were typed before the question was shown, because a yes to another question
/// must not count.
#[cfg(target_os = "linux")]
fn drop_what_was_typed_before() {
    use std::io::Read as _;
    use std::os::unix::fs::OpenOptionsExt as _;

    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    if let Ok(mut waiting) = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open("/dev/tty")
    {
        let mut line = [0; 4096];
        while waiting.read(&mut line).is_ok_and(|read| read > 0) {}
    }
}

/// On other systems, lines that were typed ahead count.
#[cfg(not(target_os = "linux"))]
fn drop_what_was_typed_before() {}

/// The controlling terminal, independent of the standard streams.
#[cfg(unix)]
fn open() -> Option<(std::fs::File, std::fs::File)> {
    let terminal = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/tty")
        .ok()
        .filter(std::io::IsTerminal::is_terminal)?;
    Some((terminal.try_clone().ok()?, terminal))
}

#[cfg(windows)]
fn open() -> Option<(std::fs::File, std::fs::File)> {
    let input = OpenOptions::new()
        .read(true)
        .write(true)
        .open("CONIN$")
        .ok()
        .filter(|file| file.is_terminal())?;
    let output = OpenOptions::new()
        .read(true)
        .write(true)
        .open("CONOUT$")
        .ok()
        .filter(|file| file.is_terminal())?;
    Some((output, input))
}

#[cfg(not(any(unix, windows)))]
fn open() -> Option<(std::fs::File, std::fs::File)> {
    None
}
