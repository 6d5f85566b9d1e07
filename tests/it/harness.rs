//! One temporary world a test: a home of its own, a vault, and the real program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

/// A home folder and a vault that nobody else sees.
pub struct World {
    dir: TempDir,
}

/// What a run of the program gave.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl World {
    /// An empty vault.
    pub fn empty() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(world.vault()).unwrap();
        fs::create_dir_all(world.home()).unwrap();
        world
    }

    /// A vault of these notes, with a configuration written by `init --here`.
    pub fn with(notes: &[(&str, &str)]) -> Self {
        let world = Self::empty();
        notes.iter().for_each(|(path, text)| world.write(path, text));
        world.ok(&["init", "--here", "--source", "notes=."]);
        world
    }

    /// A copy of the example vault, configured and indexed.
    pub fn example() -> Self {
        let world = Self::empty();
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/vault"), &world.vault());
        world.ok(&["init", "--here", "--source", "vault=."]);
        world.ok(&["index"]);
        world
    }

    /// The example vault, indexed and embedded: a copy of one that is made once in a run of the tests.
    pub fn embedded() -> Self {
        static PREPARED: OnceLock<World> = OnceLock::new();
        let prepared = PREPARED.get_or_init(|| {
            let world = Self::example();
            world.ok(&["embed"]);
            world
        });
        let world = Self::empty();
        copy(prepared.root(), world.root());
        world
    }

    pub fn vault(&self) -> PathBuf {
        self.dir.path().join("vault")
    }

    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    /// Where `init --here` keeps the program's own files.
    pub fn state(&self) -> PathBuf {
        self.vault().join(".local-agent")
    }

    pub fn write(&self, path: &str, text: &str) {
        let file = self.vault().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// The program, in the vault, with nothing of the caller's environment.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_local-agent"));
        command
            .env_clear()
            .env("HOME", self.home())
            .env("RUST_BACKTRACE", "1")
            .current_dir(self.vault())
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        Run::from(self.command().args(args).output().unwrap())
    }

    /// Runs and expects exit code 0.
    pub fn ok(&self, args: &[&str]) -> Run {
        let run = self.run(args);
        assert_eq!(run.code, 0, "{args:?}\nstdout: {}\nstderr: {}", run.stdout, run.stderr);
        run
    }

    /// Runs with `--json`, expects exit code 0, and gives the one object on stdout.
    pub fn json(&self, args: &[&str]) -> Value {
        let run = self.ok(&[args, &["--json"]].concat());
        run.json()
    }

    /// Runs, expects exit code 1, and gives the error envelope.
    pub fn fails(&self, args: &[&str]) -> Value {
        let run = self.run(args);
        assert_eq!(run.code, 1, "{args:?}\nstdout: {}\nstderr: {}", run.stdout, run.stderr);
        let text =
            if run.stdout.starts_with('{') { &run.stdout } else { run.stderr.lines().last().unwrap_or_default() };
        let envelope: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
        assert_eq!(envelope["ok"], false);
        assert!(envelope["error_message"].as_str().is_some_and(|m| !m.is_empty()));
        envelope
    }

    /// Every file below the vault and the home with its bytes, so that "nothing was written" can be seen.
    pub fn photograph(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        photograph(self.dir.path(), &mut files);
        files.sort();
        files
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
    /// The one JSON object that stdout holds.
    pub fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "one object, alone: {}", self.stdout);
        serde_json::from_str(&self.stdout).unwrap()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
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
