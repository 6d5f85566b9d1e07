//! Prints data on stdout and messages on stderr, in one JSON envelope if requested. Text from files
//! is made safe for a terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use console::Term;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::args::ColorWhen;
pub(super) use super::links::editor_link;
use super::links::link_target;
use super::wrap::wrap;
use local_agent_text::error::{ClosestPassage, ErrorCode, Failure, FoundNevertheless};
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
    /// Whether to print links that a terminal follows.
    pub links: bool,
    /// Number of columns of the terminal, if stdout is one and says it.
    pub width: Option<usize>,
}

/// What the environment says about colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TerminalWishes {
    /// Whether NO_COLOR is set.
    pub no_color: bool,
    /// Whether TERM is `dumb`: the terminal understands no escape sequences.
    pub is_dumb: bool,
}

impl Output {
    /// Checks the streams and the requested options.
    pub(super) fn new(json: bool, when: ColorWhen, wishes: TerminalWishes) -> Self {
        let terminal = io::stdout().is_terminal();
        Self {
            width: width_of(&Term::stdout()),
            ..Self::on(terminal, json, when, wishes)
        }
    }

    /// The output on a terminal, or on something else.
    fn on(terminal: bool, json: bool, when: ColorWhen, wishes: TerminalWishes) -> Self {
        let color = match when {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => terminal && !wishes.no_color && !wishes.is_dumb,
        };
        Self {
            json,
            terminal,
            color,
            links: terminal && color && !wishes.is_dumb,
            width: None,
        }
    }

    /// Prints a line of data.
    pub(super) fn line(&self, text: &str) {
        write_stdout(&format!("{text}\n"));
    }

    /// Prints a line of data. On a terminal it is broken between words, so that none is cut.
    pub(super) fn sentence(&self, text: &str) {
        match self.width {
            Some(width) => wrap(text, width).iter().for_each(|line| self.line(line)),
            None => self.line(text),
        }
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

    /// A search term, if colour is on: bold and underlined, because no colour can be read on every
    /// background.
    pub(super) fn mark(&self, text: &str) -> String {
        self.paint("1;4", text)
    }

    /// A success, if colour is on.
    pub(super) fn good(&self, text: &str) -> String {
        self.paint("32", text)
    }

    /// A warning, if colour is on: not in yellow, which cannot be read on white.
    pub(super) fn warning(&self, text: &str) -> String {
        self.paint("35", text)
    }

    /// A failure, if colour is on.
    pub(super) fn bad(&self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// `text` as a link to a line of a file, if there is a terminal and colour is on: the
    /// terminal's hyperlink escape sequence (OSC 8), which terminals without support ignore.
    pub(super) fn link(&self, path: &Path, line: usize, text: &str) -> String {
        if !self.links {
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
            if let Some(found) = &failure.found {
                talk_of_closest(&found.closest);
            }
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

/// Prints the passages that a question found although it could not be answered. They are no result,
/// so they are not on stdout.
fn talk_of_closest(passages: &[ClosestPassage]) {
    if !passages.is_empty() {
        talk("No answer could be written. The closest passages:");
    }
    for one in passages {
        let heading = match one.heading_path.is_empty() {
            true => String::new(),
            false => format!("  {}", one.heading_path),
        };
        talk(&format!("{}:{}{heading}", one.address, one.lines));
        for line in one.text.lines() {
            talk(&format!("    {line}"));
        }
    }
}

/// Text of a message on one line, made safe for a terminal.
fn one_line(text: &str) -> String {
    visible(text).replace('\n', " ")
}

/// A failure as `--json` prints it.
#[derive(Serialize, JsonSchema)]
pub(super) struct ProblemView<'a> {
    /// A stable code: docs/codes.md.
    error_code: &'static str,
    error_message: &'a str,
    /// The command that mends it.
    hint: Option<&'a str>,
    /// What a question found although no model could answer it.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    found: Option<&'a FoundNevertheless>,
}

impl<'a> From<&'a Failure> for ProblemView<'a> {
    fn from(failure: &'a Failure) -> Self {
        Self {
            error_code: failure.code.as_str(),
            error_message: &failure.message,
            hint: failure.hint.as_deref(),
            found: failure.found.as_deref(),
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
    let text = visible(text);
    match width_of(&Term::stderr()) {
        // A command must stay on one line, so that it can be copied.
        Some(width) if !text.contains("fix: ") => wrap(&text, width)
            .iter()
            .for_each(|line| write_stderr(line)),
        _ => write_stderr(&text),
    }
}

/// Number of columns of a stream, if it is a terminal and says it.
fn width_of(stream: &Term) -> Option<usize> {
    let (_, columns) = stream.size_checked()?;
    (columns > 0).then_some(usize::from(columns))
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
    fn a_dumb_terminal_gets_no_colour_and_never_a_link() {
        let dumb = TerminalWishes {
            is_dumb: true,
            ..TerminalWishes::default()
        };
        let out = Output::on(true, false, ColorWhen::Auto, dumb);
        assert_eq!(out.bold("a"), "a");
        let out = Output::on(true, false, ColorWhen::Always, dumb);
        assert_eq!(out.link(Path::new("/a.md"), 3, "a"), "a");
        let out = Output::on(true, false, ColorWhen::Auto, TerminalWishes::default());
        assert!(
            out.link(Path::new("/a.md"), 3, "a")
                .contains("file:///a.md")
        );
    }

    #[test]
    fn no_colour_of_words_is_yellow_which_cannot_be_read_on_white() {
        let out = Output::on(true, false, ColorWhen::Always, TerminalWishes::default());
        for text in [out.mark("a"), out.warning("a"), out.bad("a"), out.bold("a")] {
            assert!(!text.contains("33m"), "{text:?}");
        }
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
