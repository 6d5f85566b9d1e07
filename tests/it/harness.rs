//! One temporary world per test: a separate home, a vault, and the real program.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, UNIX_EPOCH};

use regex::Regex;
use serde_json::Value;
use tempfile::TempDir;

use crate::json_schema;

/// The fields that every JSON object of the program contains.
pub(crate) const ROOTS: [&str; 5] = [
    "resolved_config_path",
    "config_root",
    "package_root",
    "workroot",
    "security_root",
];

/// The program under test: the one of this build, or the one named by `LOCAL_AGENT_TEST_PROGRAM`,
/// so that a simultaneous build does not disturb a long run.
pub(crate) fn program() -> PathBuf {
    let other = std::env::var_os("LOCAL_AGENT_TEST_PROGRAM").map(PathBuf::from);
    // Fixes are typed as printed, and they begin with this name.
    let named = |path: &PathBuf| path.file_stem().is_some_and(|name| name == "local-agent");
    assert!(
        other.as_ref().is_none_or(named),
        "{other:?} is not named local-agent"
    );
    other.unwrap_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_local-agent")))
}

/// A home folder and a vault that no other test uses.
pub(crate) struct World {
    dir: TempDir,
}

/// The result of running the program.
pub(crate) struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl World {
    /// An empty vault.
    pub(crate) fn empty() -> Self {
        Self::empty_in(&std::env::temp_dir())
    }

    /// An empty vault in the given folder, which determines its file system.
    pub(crate) fn empty_in(place: &Path) -> Self {
        let world = Self {
            dir: tempfile::tempdir_in(place).unwrap(),
        };
        fs::create_dir_all(world.vault()).unwrap();
        fs::create_dir_all(world.home()).unwrap();
        world
    }

    /// A vault of these notes, with a configuration written by `init --here`.
    pub(crate) fn with(notes: &[(&str, &str)]) -> Self {
        let world = Self::empty();
        for (path, text) in notes {
            world.write(path, text);
        }
        world.ok(&["init", "--here", "--source", "notes=."]);
        world
    }

    /// A copy of the example vault, configured and indexed.
    pub(crate) fn example() -> Self {
        let world = Self::empty();
        copy(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/vault"),
            &world.vault(),
        );
        world.ok(&["init", "--here", "--source", "vault=."]);
        world.ok(&["index"]);
        world
    }

    /// The example vault, indexed and embedded. Embedding takes seconds, so it is done once per
    /// build of the program and copied.
    pub(crate) fn embedded() -> Self {
        static MADE: OnceLock<PathBuf> = OnceLock::new();
        let world = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        copy(MADE.get_or_init(make_embedded), world.root());
        world
    }

    pub(crate) fn vault(&self) -> PathBuf {
        self.dir.path().join("vault")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    /// The folder in which `init --here` stores the program's own files.
    pub(crate) fn state(&self) -> PathBuf {
        self.vault().join(".local-agent")
    }

    /// The names of the runs that have a complete record; one that never ended has none.
    pub(crate) fn complete_records(&self) -> BTreeSet<String> {
        let runs = fs::read_dir(self.state().join("runs"));
        let whole = runs.into_iter().flatten().flatten().filter(|entry| {
            let record = fs::read_to_string(entry.path().join("run.json"));
            record.is_ok_and(|text| !text.contains("\"status\": \"running\""))
        });
        whole
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    }

    /// Creates the state folder in the way in which the program does before it writes there.
    pub(crate) fn adopt_state(&self) {
        let known = self.home().join(".config/local-agent/states");
        local_agent_files::state::KnownStates::new(&known)
            .adopt(&self.state())
            .unwrap();
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.vault().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// The program, in the vault, with an empty environment.
    pub(crate) fn command(&self) -> Command {
        self.command_of(program())
    }

    /// Another program in the same folder.
    pub(crate) fn command_of(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home())
            .env("RUST_BACKTRACE", "1")
            .current_dir(self.vault())
            .stdin(Stdio::null());
        command
    }

    /// The program in the vault, with these environment variables.
    pub(crate) fn run_with(&self, variables: &[(&str, &str)], args: &[&str]) -> Run {
        Run::from(
            self.command()
                .envs(variables.iter().copied())
                .args(args)
                .output()
                .unwrap(),
        )
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::from(self.command().args(args).output().unwrap())
    }

    /// Runs and expects exit code 0.
    pub(crate) fn ok(&self, args: &[&str]) -> Run {
        let run = self.run(args);
        assert_eq!(
            run.code, 0,
            "{args:?}\nstdout: {}\nstderr: {}",
            run.stdout, run.stderr
        );
        run
    }

    /// Runs with `--json`, expects exit code 0, and returns the one object on stdout.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let run = self.ok(&[args, &["--json"]].concat());
        let body = run.json();
        json_schema::fits_command(args, &body);
        body
    }

    /// Runs, expects exit code 1, and returns the error envelope: the only output on stdout with
    /// `--json`; otherwise code, message and hint from the last two lines of stderr.
    pub(crate) fn fails(&self, args: &[&str]) -> Value {
        let run = self.run(args);
        assert_eq!(
            run.code, 1,
            "{args:?}\nstdout: {}\nstderr: {}",
            run.stdout, run.stderr
        );
        let json = args.contains(&"--json") || args.contains(&"--jsonl");
        let envelope = if json {
            let envelope = run.json();
            json_schema::fits_command(args, &envelope);
            for field in &ROOTS {
                assert!(
                    envelope.get(field).is_some(),
                    "{args:?}: no `{field}` in {envelope}"
                );
            }
            envelope
        } else {
            assert_eq!(run.stdout, "", "{args:?}");
            spoken_failure(&run.stderr).unwrap_or_else(|| panic!("{args:?}: {}", run.stderr))
        };
        assert_eq!(envelope["ok"], false);
        assert!(
            envelope["error_message"]
                .as_str()
                .is_some_and(|m| !m.is_empty())
        );
        for field in ["error_code", "hint"] {
            assert!(
                envelope.get(field).is_some(),
                "{args:?}: no `{field}` in {envelope}"
            );
        }
        envelope
    }

    /// Runs, expects a typed failure, and returns its code.
    pub(crate) fn code(&self, args: &[&str]) -> String {
        self.fails(args)["error_code"].as_str().unwrap().to_owned()
    }

    /// Runs and expects a usage error: exit code 2, nothing on stdout, a reference to the usage on
    /// stderr; with `--json` the envelope on stdout instead.
    pub(crate) fn usage(&self, args: &[&str]) -> String {
        let run = self.run(args);
        assert_eq!(
            run.code, 2,
            "{args:?}\nstdout: {}\nstderr: {}",
            run.stdout, run.stderr
        );
        if args
            .iter()
            .take_while(|arg| **arg != "--")
            .any(|arg| matches!(*arg, "--json" | "--jsonl"))
        {
            assert_eq!(run.stderr, "", "{args:?}");
            let envelope = run.json();
            assert_eq!(envelope["error_code"], "INVALID_ARGS", "{args:?}");
            return envelope["error_message"].as_str().unwrap().to_owned();
        }
        assert_eq!(run.stdout, "", "{args:?}");
        assert!(
            run.stderr.contains("Usage:") || run.stderr.contains("--help"),
            "{args:?}: {}",
            run.stderr
        );
        run.stderr
    }

    /// `text` without the parts that differ from run to run: paths, hashes, keys, times, measured
    /// numbers.
    pub(crate) fn stable(&self, text: &str) -> String {
        let mut text = text.to_owned();
        let package = Path::new(env!("CARGO_BIN_EXE_local-agent"))
            .parent()
            .unwrap();
        for (path, word) in [
            (self.vault(), "<vault>"),
            (self.home(), "<home>"),
            (self.root().into(), "<world>"),
            (package.into(), "<package>"),
        ] {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            text = text
                .replace(&*real.to_string_lossy(), word)
                .replace(&*path.to_string_lossy(), word);
        }
        for (pattern, word) in [
            (r"\b[0-9a-f]{64}\b", "<sha256>"),
            (r"\b[0-9a-f]{32}\b", "<key>"),
            (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<time>"),
            (r"\b\d{8}T\d{6}Z_[0-9a-f]{16}", "<run>"),
            (r"\b\d{8}T\d{6}Z", "<time>"),
            (r#"("last_scan_unix": )\d+"#, "${1}<time>"),
            (r"\bpid \d+", "pid <pid>"),
            (r"\b\d+\.\d{3,}(e-?\d+)?\b", "<n>"),
            (r", \d+\.\d s(, \d+ a second)?", ", <s> s"),
        ] {
            text = Regex::new(pattern)
                .unwrap()
                .replace_all(&text, word)
                .into_owned();
        }
        text
    }

    /// A JSON object for a snapshot: one field per line, with stable values, without the roots.
    pub(crate) fn pretty(&self, mut value: Value) -> String {
        if let Some(fields) = value.as_object_mut() {
            fields.retain(|name, _| !ROOTS.contains(&name.as_str()));
        }
        self.stable(&serde_json::to_string_pretty(&value).unwrap())
    }

    /// Every file below the vault and the home with its bytes, to check that nothing was written.
    pub(crate) fn photograph(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        photograph(self.dir.path(), &mut files);
        files.sort();
        files
    }
}

impl World {
    /// Fails with the names of the files that were added, removed or changed since `before`, after
    /// `args` were run. SQLite's `-shm` is memory that its processes share for locking: it may
    /// exist, and its content does not matter.
    pub(crate) fn is_as(&self, before: &[(PathBuf, Vec<u8>)], args: &[&str]) {
        let kept = |(path, bytes): &(PathBuf, Vec<u8>)| {
            let shared = path.to_string_lossy().ends_with("-shm");
            (
                path.clone(),
                if shared { Vec::new() } else { bytes.clone() },
            )
        };
        let before: BTreeSet<(PathBuf, Vec<u8>)> = before.iter().map(kept).collect();
        let after: BTreeSet<(PathBuf, Vec<u8>)> = self.photograph().iter().map(kept).collect();
        let changed: BTreeSet<&PathBuf> = before
            .symmetric_difference(&after)
            .map(|(path, _)| path)
            .collect();
        assert!(changed.is_empty(), "{args:?} changed {changed:?}");
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Run {
    /// The one JSON object on stdout.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(
            self.stdout.lines().count(),
            1,
            "one object, alone: {}",
            self.stdout
        );
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// The failure in the last lines of stderr: `error[CODE]: message`, and below it `fix: hint`.
pub(crate) fn spoken_failure(stderr: &str) -> Option<Value> {
    let at = stderr.rfind("error[")?;
    let mut lines = stderr[at..].lines();
    let (code, message) = lines.next()?.strip_prefix("error[")?.split_once("]: ")?;
    let hint = lines.next().and_then(|line| line.strip_prefix("fix: "));
    Some(serde_json::json!({
        "ok": false,
        "error_code": code,
        "error_message": message,
        "hint": hint,
    }))
}

/// The embedded example of this build of the program. Those of other builds are removed after a
/// day, because runs of those builds may still copy them.
fn make_embedded() -> PathBuf {
    let built = fs::metadata(env!("CARGO_BIN_EXE_local-agent")).unwrap();
    let age = built
        .modified()
        .unwrap()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos();
    let shelf = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let made = shelf.join(format!("embedded-{}-{age}", built.len()));
    if made.is_dir() {
        return made;
    }
    for entry in fs::read_dir(shelf).unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with("embedded-") && is_a_day_old(&entry) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let world = World::example();
    world.ok(&["embed"]);
    let half = tempfile::tempdir_in(shelf).unwrap();
    copy(world.root(), half.path());
    // Another process may have been faster; its world is equivalent.
    let _ = fs::rename(half.path(), &made);
    made
}

fn is_a_day_old(entry: &fs::DirEntry) -> bool {
    let changed = entry.metadata().and_then(|data| data.modified());
    changed
        .ok()
        .and_then(|time| time.elapsed().ok())
        .is_some_and(|age| age > Duration::from_secs(24 * 60 * 60))
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
            fs::set_permissions(&target, entry.metadata().unwrap().permissions()).unwrap();
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn photograph(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            photograph(&path, files);
        } else {
            let bytes = fs::read(&path).unwrap_or_default();
            files.push((path, bytes));
        }
    }
}

/// The output of a command line at a terminal at which somebody types: `early` text before the
/// program asks, and `answer` when it does. `script` is the command of that name, which makes the
/// terminal, with the environment of the command line.
#[cfg(target_os = "linux")]
pub(crate) fn at_terminal(
    mut script: Command,
    line: &str,
    early: &str,
    answer: impl FnOnce() -> &'static str,
) -> String {
    use std::io::{Read as _, Write as _};
    // Long enough for the early text to arrive first.
    let wait = if early.is_empty() { "" } else { "sleep 1; " };
    let mut child = script
        .args(["-qec", &format!("{wait}{line} 2>&1"), "/dev/null"])
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let _ = input.write_all(early.as_bytes());
    let (mut output, mut said) = (child.stdout.take().unwrap(), String::new());
    let (mut some, mut answer) = ([0; 1024], Some(answer));
    while let Ok(read @ 1..) = output.read(&mut some) {
        said.push_str(&String::from_utf8_lossy(&some[..read]));
        if said.contains("[y/N]")
            && let Some(answer) = answer.take()
        {
            let _ = input.write_all(answer().as_bytes());
        }
    }
    child.wait().unwrap();
    said
}
