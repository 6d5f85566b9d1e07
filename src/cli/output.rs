//! Printing: data on stdout, talk on stderr, one JSON envelope, text from files made safe on a
//! terminal.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::args::ColorWhen;
use local_agent_text::error::{ErrorCode, Failure};
pub use local_agent_text::types::visible;

/// Where a command prints to.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// Whether `--json` was given: one envelope, alone, on stdout, errors too.
    pub json: bool,
    /// Whether stdout is a terminal, so text from files must be made safe.
    pub terminal: bool,
    /// Whether to colour.
    pub color: bool,
}

impl Output {
    /// Looks at the streams and at what was asked for.
    pub fn new(json: bool, when: ColorWhen, no_color: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let color = match when {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => terminal && !no_color,
        };
        Self {
            json,
            terminal,
            color,
        }
    }

    /// Prints a line of data.
    pub fn line(&self, text: &str) {
        write_stdout(&format!("{text}\n"));
    }

    /// Prints text as it is, without a line break of its own.
    pub fn raw(&self, text: &str) {
        write_stdout(text);
    }

    /// Text that came out of a file: exact bytes in a pipe, made visible on a terminal.
    pub fn shown(&self, text: &str) -> String {
        if self.terminal {
            visible(text)
        } else {
            text.to_owned()
        }
    }

    /// Prints the one JSON object of a successful command.
    pub fn json(&self, mut body: Value) {
        if let Some(fields) = body.as_object_mut() {
            fields.entry("ok").or_insert(Value::Bool(true));
        }
        write_stdout(&format!("{body}\n"));
    }

    /// Bold, where colour is wanted.
    pub fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Dim, where colour is wanted.
    pub fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.color {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Says what failed and how to mend it, in the form the reader can use, and gives the exit
    /// code.
    pub fn failure(&self, failure: &Failure, roots: &Map<String, Value>) -> ExitCode {
        let envelope = envelope(failure, roots);
        if self.json {
            write_stdout(&format!("{envelope}\n"));
        } else if io::stderr().is_terminal() {
            talk(&format!(
                "error[{}]: {}",
                failure.code,
                visible(&failure.message)
            ));
            if let Some(hint) = &failure.hint {
                talk(&format!("fix: {}", visible(hint)));
            }
        } else {
            talk(&envelope.to_string());
        }
        ExitCode::from(1)
    }
}

/// The error envelope of every command.
fn envelope(failure: &Failure, roots: &Map<String, Value>) -> Value {
    let mut body = json!({
        "ok": false,
        "error_code": failure.code.as_str(),
        "error_message": failure.message,
        "hint": failure.hint,
    });
    if let Some(fields) = body.as_object_mut() {
        fields.extend(roots.clone());
    }
    body
}

/// Says something on stderr; nobody listening is not an error.
pub fn talk(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

fn write_stdout(text: &str) {
    raw_stdout(text.as_bytes());
}

/// Prints bytes as they are. A closed pipe ends the program silently, as `head` expects.
pub fn raw_stdout(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(e) => {
            talk(&format!(
                "error[{}]: stdout cannot be written: {e}",
                ErrorCode::WriteError
            ));
            std::process::exit(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s27_terminal_escapes_and_bidi_marks_are_made_visible() {
        assert_eq!(
            visible("a\x1b]52;c;eA==\x07b\u{202e}c"),
            "a\\u{1b}]52;c;eA==\\u{7}b\\u{202e}c"
        );
        assert_eq!(visible("line\n\ttab ä 日本"), "line\n\ttab ä 日本");
    }
}
