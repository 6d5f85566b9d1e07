//! Runs the real program with a time limit and judges how it ended.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::harness::World;
use super::tally::{Kind, Tally};

/// A time limit that only a hang reaches.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub args: String,
    pub status: ExitStatus,
    /// Whether the run was killed because the time was over.
    pub late: bool,
    pub stdout: String,
    pub stderr: String,
}

/// A run that has not ended yet. Its output goes to files, so that it never waits for a reader.
pub(crate) struct Running {
    pub child: Child,
    args: String,
    said: [File; 2],
}

impl Running {
    pub(crate) fn start(mut command: Command) -> std::io::Result<Self> {
        let said = [tempfile::tempfile()?, tempfile::tempfile()?];
        command
            .stdout(said[0].try_clone()?)
            .stderr(said[1].try_clone()?);
        let args: Vec<_> = command
            .get_args()
            .map(|arg| arg.to_string_lossy().into_owned())
            .collect();
        Ok(Self {
            child: command.spawn()?,
            args: args.join(" "),
            said,
        })
    }

    /// Waits for the end, but at most for `limit`; then kills it.
    pub(crate) fn wait(mut self, limit: Duration) -> Ran {
        let began = Instant::now();
        let mut late = false;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if began.elapsed() > limit {
                late = true;
                let _ = self.child.kill();
                break self.child.wait().unwrap();
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let [stdout, stderr] = self.said.map(text);
        Ran {
            args: self.args,
            status,
            late,
            stdout,
            stderr,
        }
    }
}

impl Running {
    /// The result, if other code waited for the end and got this raw status.
    pub(crate) fn ended(self, status: i32, late: bool) -> Ran {
        let [stdout, stderr] = self.said.map(text);
        Ran {
            args: self.args,
            status: ExitStatus::from_raw(status),
            late,
            stdout,
            stderr,
        }
    }
}

fn text(mut file: File) -> String {
    let mut bytes = Vec::new();
    file.rewind()
        .and_then(|()| file.read_to_end(&mut bytes))
        .unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(crate) fn run(world: &World, args: &[&str]) -> Ran {
    let mut command = world.command();
    command.args(args);
    Running::start(command).unwrap().wait(LIMIT)
}

/// Runs a command with its output in pipes, because files cannot grow in that place.
pub(crate) fn piped(mut command: Command) -> Ran {
    let args: Vec<_> = command
        .get_args()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    Ran {
        args: args.join(" "),
        status: output.status,
        late: false,
        stdout,
        stderr,
    }
}

/// Runs a line as a person would type it.
pub(crate) fn shell(world: &World, line: &str) -> Ran {
    let program = super::harness::program();
    let folder = program.parent().unwrap();
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", line])
        .env_clear()
        .env("HOME", world.home())
        .current_dir(world.vault());
    command
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .stdin(std::process::Stdio::null());
    Running::start(command).unwrap().wait(LIMIT)
}

/// The failure on stderr in the form `error[CODE]: message`.
fn spoken_failure(stderr: &str) -> Option<Value> {
    let at = stderr.rfind("error[")?;
    let line = stderr[at..].lines().next()?;
    let (code, message) = line.strip_prefix("error[")?.split_once("]: ")?;
    Some(serde_json::json!({"ok": false, "error_code": code, "error_message": message}))
}

impl Ran {
    pub(crate) fn done(&self) -> bool {
        self.status.success()
    }

    /// The one object that was printed, or the failure that stderr reports as text.
    pub(crate) fn object(&self) -> Option<Value> {
        let mut lines = self.stdout.lines().rev().chain(self.stderr.lines().rev());
        lines
            .by_ref()
            .filter_map(|line| serde_json::from_str(line).ok())
            .find(Value::is_object)
            .or_else(|| spoken_failure(&self.stderr))
    }

    pub(crate) fn json(&self) -> Value {
        self.object().unwrap_or_default()
    }

    /// The code of a typed failure.
    pub(crate) fn code(&self) -> String {
        self.json()["error_code"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// The fault in the end of the run, if any: it took too long, was ended by a signal, panicked,
    /// or failed without a code.
    pub(crate) fn wrong(&self) -> Option<String> {
        let said = self.json();
        let why = self.crashed().or_else(|| match self.status.code() {
            Some(0) => None,
            Some(1 | 2) if said["error_code"] == "INTERNAL_ERROR" => {
                Some("INTERNAL_ERROR".to_owned())
            }
            Some(1 | 2) if said["error_code"].is_string() || said["ok"] == false => None,
            code => Some(format!("no code, exit {code:?}")),
        })?;
        Some(format!(
            "`{}`: {why}: {} {}",
            self.args,
            end(&self.stdout),
            end(&self.stderr)
        ))
    }

    /// Whether it ended in a way that no user should ever see: late, by a signal, in a panic, or as
    /// a command that does not exist.
    pub(crate) fn crashed(&self) -> Option<String> {
        if self.late {
            Some("did not end".to_owned())
        } else if let Some(signal) = self.status.signal() {
            Some(format!("signal {signal}"))
        } else if self.stderr.contains("panicked at") {
            Some("panicked".to_owned())
        } else {
            let code = self.status.code().unwrap_or(-1);
            (code > 2 || (code == 2 && self.object().is_none()))
                .then(|| format!("exit {code}: {}", end(&self.stderr)))
        }
    }

    /// The command that a failure names, if it names one.
    pub(crate) fn fix(&self) -> Option<String> {
        command_of(self.json()["hint"].as_str()?)
    }
}

/// The command of a hint: `local-agent …`, without the explanation after it.
pub(crate) fn command_of(hint: &str) -> Option<String> {
    let command = hint.split(" (").next().unwrap_or_default().trim();
    command
        .starts_with("local-agent ")
        .then(|| command.replace(", then ", "; "))
}

fn end(text: &str) -> String {
    let from = text.char_indices().rev().nth(299).map_or(0, |(at, _)| at);
    text[from..].trim().replace('\n', " / ")
}

impl Tally {
    /// Counts a run and records a defect if it ended wrongly.
    pub(crate) fn judge(&mut self, case: &str, ran: &Ran) -> bool {
        self.operations += 1;
        if let Some(wrong) = ran.wrong() {
            self.defect(case, wrong);
        }
        ran.done()
    }

    /// A run that must succeed.
    pub(crate) fn must(&mut self, case: &str, ran: &Ran) -> bool {
        let before = self.findings.len();
        let done = self.judge(case, ran);
        if !done && self.findings.len() == before {
            self.find(
                Kind::UnexpectedError,
                case,
                format!("`{}`: {} {}", ran.args, end(&ran.stdout), end(&ran.stderr)),
            );
        }
        done
    }
}
