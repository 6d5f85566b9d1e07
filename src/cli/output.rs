//! Prints data on stdout and messages on stderr, in one JSON envelope if requested. Text from files
//! is made safe for a terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::args::ColorWhen;
use local_agent_text::error::{ErrorCode, Failure};
use local_agent_text::types::percent_encode;
pub(super) use local_agent_text::types::visible;

/// The output of a command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    /// Whether `--json` was given: stdout gets only one envelope, also for errors.
    pub json: bool,
    /// Whether stdout is a terminal, so text from files must be made safe.
    pub terminal: bool,
    /// Whether to use colour.
    pub color: bool,
}

impl Output {
    /// Checks the streams and the requested options.
    pub(super) fn new(json: bool, when: ColorWhen, no_color: bool) -> Self {
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
    pub(super) fn line(&self, text: &str) {
        write_stdout(&format!("{text}\n"));
    }

    /// Prints text unchanged, without adding a line break.
    pub(super) fn raw(&self, text: &str) {
        write_stdout(text);
    }

    /// Text from a file: exact bytes in a pipe, control characters made visible on a terminal.
    pub(super) fn shown(&self, text: &str) -> String {
        if self.terminal {
            visible(text)
        } else {
            text.to_owned()
        }
    }

    /// Prints the one JSON object of a successful command.
    pub(super) fn json(&self, mut body: Value) {
        if let Some(fields) = body.as_object_mut() {
            fields.entry("ok").or_insert(Value::Bool(true));
        }
        write_stdout(&format!("{body}\n"));
    }

    /// Bold, if colour is on.
    pub(super) fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Dim, if colour is on.
    pub(super) fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }

    /// A search term, if colour is on.
    pub(super) fn mark(&self, text: &str) -> String {
        self.paint("1;33", text)
    }

    /// A success, if colour is on.
    pub(super) fn good(&self, text: &str) -> String {
        self.paint("32", text)
    }

    /// A warning, if colour is on.
    pub(super) fn warning(&self, text: &str) -> String {
        self.paint("33", text)
    }

    /// A failure, if colour is on.
    pub(super) fn bad(&self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// `text` as a link to a line of a file, if there is a terminal and colour is on: the
    /// terminal's hyperlink escape sequence (OSC 8), which terminals without support ignore.
    pub(super) fn link(&self, path: &Path, line: usize, text: &str) -> String {
        if !(self.terminal && self.color) {
            return text.to_owned();
        }
        let target = link_target(path, line);
        format!("\x1b]8;;{target}\x1b\\{text}\x1b]8;;\x1b\\")
    }

    /// Prints a message like [`talk`], dim if colour is on.
    pub(super) fn talk_dimly(&self, text: &str) {
        write_stderr(&self.dim(&visible(text)));
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.color {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Prints the failure and its fix in the requested form, and returns the exit code.
    pub(super) fn failure(&self, failure: &Failure, roots: &Map<String, Value>) -> ExitCode {
        if self.json {
            write_stdout(&format!("{}\n", envelope(failure, roots)));
        } else {
            let terminal = io::stderr().is_terminal();
            let code = format!("error[{}]:", failure.code);
            let code = if terminal && self.color {
                self.bad(&code)
            } else {
                code
            };
            // The message is on one line, so that a log has one line per failure.
            write_stderr(&format!("{code} {}", one_line(&failure.message)));
            if let Some(hint) = &failure.hint {
                talk(&format!("fix: {}", one_line(hint)));
            }
        }
        ExitCode::from(1)
    }
}

/// Text of a message on one line, made safe for a terminal.
fn one_line(text: &str) -> String {
    visible(text).replace('\n', " ")
}

/// An address that opens a line of a file in an editor: the template in LOCAL_AGENT_LINK, otherwise
/// the address that Visual Studio Code opens, because a browser does not follow a link from a page
/// to a file.
pub(super) fn editor_link(path: &Path, line: usize) -> String {
    match LINK_TEMPLATE.get() {
        Some(_) => link_target(path, line),
        None => {
            let shown = path.to_string_lossy();
            let path = percent_encode(&shown, " %#?[]<>\"^`{|}\\");
            format!("vscode://file/{}:{line}", path.trim_start_matches('/'))
        }
    }
}

/// The target of a link to a line of a file: the template in LOCAL_AGENT_LINK with `{path}` and
/// `{line}` replaced; without a template, the file itself.
fn link_target(path: &Path, line: usize) -> String {
    let path = path.to_string_lossy();
    let path = percent_encode(&path, " %#?[]<>\"^`{|}\\");
    match LINK_TEMPLATE.get() {
        Some(template) => template
            .replace("{path}", &path)
            .replace("{line}", &line.to_string()),
        None => format!("file://{path}"),
    }
}

static LINK_TEMPLATE: OnceLock<String> = OnceLock::new();

/// Sets the target of [`Output::link`], once; a template that could end the escape sequence is
/// ignored.
pub(super) fn set_link_template(template: String) {
    if !template.chars().any(char::is_control) {
        let _ = LINK_TEMPLATE.set(template);
    }
}

/// A failure as `--json` prints it.
#[derive(Serialize, JsonSchema)]
pub(super) struct ProblemView<'a> {
    /// A stable code: docs/codes.md.
    error_code: &'static str,
    error_message: &'a str,
    /// The command that mends it.
    hint: Option<&'a str>,
}

impl<'a> From<&'a Failure> for ProblemView<'a> {
    fn from(failure: &'a Failure) -> Self {
        Self {
            error_code: failure.code.as_str(),
            error_message: &failure.message,
            hint: failure.hint.as_deref(),
        }
    }
}

/// The error envelope of every command.
fn envelope(failure: &Failure, roots: &Map<String, Value>) -> Value {
    let mut body = serde_json::to_value(ProblemView::from(failure)).unwrap_or_default();
    body["ok"] = Value::Bool(false);
    if let Some(fields) = body.as_object_mut() {
        fields.extend(roots.clone());
    }
    body
}

/// A number and its noun: `1 note`, `2 notes`.
pub(super) fn count(n: impl TryInto<u64>, what: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A number, a time and a rate: `173 files, 0.8 s, 216 a second`. The rate is left out if it is not
/// meaningful.
pub(super) fn pace(n: u64, what: &str, took: Duration) -> String {
    let seconds = took.as_secs_f64();
    let mut text = format!("{}, {seconds:.1} s", count(n, what));
    if n > 0 && seconds >= 0.05 {
        text.push_str(&format!(", {:.0} a second", n as f64 / seconds));
    }
    text
}

/// Prints a message on stderr; a closed stderr is ignored. Text from files in it is made safe for a
/// terminal, wherever stdout goes.
pub(super) fn talk(text: &str) {
    write_stderr(&visible(text));
}

fn write_stderr(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

fn write_stdout(text: &str) {
    raw_stdout(text.as_bytes());
}

/// Prints bytes unchanged. A closed pipe ends the program silently, as `head` expects.
pub(super) fn raw_stdout(bytes: &[u8]) {
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
    fn paces_and_counts_have_plurals_and_no_rate_of_nothing() {
        assert_eq!(
            (count(1_u64, "note"), count(0_usize, "note")),
            ("1 note".into(), "0 notes".into())
        );
        let second = Duration::from_millis(800);
        assert_eq!(pace(200, "file", second), "200 files, 0.8 s, 250 a second");
        assert_eq!(pace(0, "file", second), "0 files, 0.8 s");
        assert_eq!(pace(1, "file", Duration::ZERO), "1 file, 0.0 s");
    }

    #[test]
    fn a_link_to_a_file_is_a_percent_encoded_address() {
        assert_eq!(
            link_target(Path::new("/a b/c#1.md"), 3),
            "file:///a%20b/c%231.md"
        );
    }

    #[test]
    fn s27_terminal_escapes_and_bidi_marks_are_made_visible() {
        assert_eq!(
            visible("a\x1b]52;c;eA==\x07b\u{202e}c"),
            "a\\u{1b}]52;c;eA==\\u{7}b\\u{202e}c"
        );
        assert_eq!(visible("line\n\ttab ä 日本"), "line\n\ttab ä 日本");
    }
}
