//! One case: a state, the command that fails in it, and the result of following its fix.

use std::collections::BTreeSet;
use std::fmt;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::harness::{World, program};

/// The first word of a fix that is a command.
const COMMANDS: &[&str] = &["local-agent ", "rm ", "mv ", "cp ", "mkdir ", "chmod "];

/// How a fix is followed.
#[derive(Clone, Copy)]
pub(super) enum Follow {
    /// It is one command, or several alternatives; each is run.
    Printed,
    /// It is one of several alternatives, counted from 0.
    Choice(usize),
    /// It is a command with placeholders: (placeholder, value).
    Filled(&'static [(&'static str, &'static str)]),
    /// It is the command that failed, run with these arguments instead.
    Again(&'static [&'static str]),
    /// It is a variable of the environment to set: (name, value).
    Variable(&'static str, &'static str),
    /// A person must do it by hand; the test does what the text says.
    ByHand(&'static str, fn(&World)),
}

/// The required result when the command is run again.
#[derive(Clone, Copy)]
pub(super) enum Then {
    Health,
    /// Another failure, with its own fix.
    Next(&'static str),
    /// The fix only shows information, and the command correctly fails as before.
    Informed,
    /// The fix does the same in another way, and the command correctly fails as before.
    Instead,
    /// The fix is to run this command, which reports this code and a more specific fix.
    Says(&'static [&'static str], &'static str),
}

#[derive(Clone, Copy)]
pub(super) struct Case {
    pub state: &'static str,
    pub make: fn() -> World,
    pub command: &'static [&'static str],
    pub code: &'static str,
    pub follow: Follow,
    pub then: Then,
}

/// A case without instructions for following its fix yet.
pub(super) fn case(
    state: &'static str,
    make: fn() -> World,
    command: &'static [&'static str],
    code: &'static str,
) -> Case {
    Case {
        state,
        make,
        command,
        code,
        follow: Follow::Printed,
        then: Then::Health,
    }
}

/// One line of the table.
#[derive(Clone)]
pub(super) struct Row {
    state: &'static str,
    command: String,
    code: &'static str,
    fix: String,
    ends_in: String,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            state,
            command,
            code,
            fix,
            ends_in,
        } = self;
        let (command, fix) = (command.replace('|', "\\|"), fix.replace('|', "\\|"));
        write!(
            f,
            "| {state} | `{command}` | `{code}` | {fix} | {ends_in} |"
        )
    }
}

/// Code and fix of a failed run; `None` if it succeeded.
type Failed = Option<(String, String)>;

impl Case {
    /// The same case, with how its fix is followed and the required result.
    pub(super) const fn ends(self, follow: Follow, then: Then) -> Self {
        Self {
            follow,
            then,
            ..self
        }
    }

    /// Follows the fix like [`Case::run`]; a state that cannot be made is an error too.
    pub(super) fn run_safely(&self) -> Result<Row, String> {
        std::panic::catch_unwind(|| self.run())
            .unwrap_or_else(|_| Err(self.wrong("the state cannot be made, as printed above")))
    }

    /// Follows the fix; the error is the reason why it does not work.
    fn run(&self) -> Result<Row, String> {
        let world = (self.make)();
        let fix = self.fix_in(&world)?;
        let choices = match self.follow {
            Follow::Printed | Follow::Filled(_) => commands_of(&fix),
            Follow::Choice(at) => commands_of(&fix).into_iter().skip(at).take(1).collect(),
            Follow::Again(_) | Follow::Variable(..) | Follow::ByHand(..) => vec![String::new()],
        };
        if choices.is_empty() {
            return Err(self.wrong(&format!("`{fix}` holds no command")));
        }
        let mut world = Some(world);
        for choice in &choices {
            let world = world.take().unwrap_or_else(self.make);
            self.fix_in(&world)?;
            let before = kept(&world);
            let again = self.follow(&world, choice)?;
            self.judge(&world, &fix, choice, again)?;
            let after = kept(&world);
            if !before.is_subset(&after) {
                let lost: Vec<_> = before.difference(&after).collect();
                return Err(self.wrong(&format!("`{fix}` lost {lost:?}")));
            }
        }
        let ends_in = match self.then {
            Then::Health => "health".to_owned(),
            Then::Next(code) => format!("`{code}`"),
            Then::Informed => "what there is to choose from".to_owned(),
            Then::Instead => "the same in another way".to_owned(),
            Then::Says(_, code) => format!("`{code}`"),
        };
        let how = match self.follow {
            Follow::ByHand(words, _) => format!(" ({words})"),
            Follow::Again(args) => format!(" (`local-agent {}`)", args.join(" ")),
            Follow::Choice(_) => format!(" (`{}`)", choices[0]),
            Follow::Variable(name, value) => format!(" (`{name}={value}`)"),
            Follow::Printed | Follow::Filled(_) => String::new(),
        };
        Ok(Row {
            state: self.state,
            command: format!("local-agent {}", self.command.join(" ")),
            code: self.code,
            fix: world_free(&fix),
            ends_in: ends_in + &how,
        })
    }

    /// The fix that the command prints in this state.
    fn fix_in(&self, world: &World) -> Result<String, String> {
        let (code, fix) = failed(
            self.command,
            &world_run(world, self.command, None),
            Some(self.code),
        )
        .ok_or_else(|| self.wrong("the command does its job"))?;
        if code != self.code {
            return Err(self.wrong(&format!("its code is {code}, its fix `{fix}`")));
        }
        Ok(world.stable_paths(&fix))
    }

    /// Follows the fix and runs the command again.
    fn follow(&self, world: &World, choice: &str) -> Result<Failed, String> {
        let mut again = self.command;
        let mut variable = None;
        match self.follow {
            Follow::Printed | Follow::Choice(_) => self.shell(world, choice)?,
            Follow::Filled(words) => {
                let filled = words.iter().fold(choice.to_owned(), |line, (word, value)| {
                    line.replace(word, value)
                });
                self.shell(world, &filled)?;
            }
            Follow::Again(args) => again = args,
            Follow::Variable(name, value) => variable = Some((name, value)),
            Follow::ByHand(_, act) => act(world),
        }
        if let Then::Says(look, code) = self.then {
            return Ok(failed(look, &world_run(world, look, None), Some(code)));
        }
        let code = (again == self.command).then_some(self.code);
        Ok(failed(again, &world_run(world, again, variable), code))
    }

    /// Runs a line as a person would type it.
    fn shell(&self, world: &World, line: &str) -> Result<(), String> {
        let line = world.real_paths(line);
        let folder = program()
            .parent()
            .map(|folder| folder.display().to_string());
        let path = format!("{}:/usr/bin:/bin", folder.unwrap_or_default());
        let output = Command::new("/bin/sh")
            .args(["-c", &line])
            .env_clear()
            .env("HOME", world.home())
            .env("PATH", path)
            .current_dir(world.vault())
            .stdin(Stdio::null())
            .output()
            .map_err(|e| self.wrong(&e.to_string()))?;
        let code = output.status.code().unwrap_or(-1);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if code > 1 || said.contains("panicked at") {
            return Err(self.wrong(&format!("`{line}` ended with {code}: {said}")));
        }
        if code != 0 && !matches!(self.then, Then::Next(_) | Then::Says(..)) {
            return Err(self.wrong(&format!("`{line}` failed: {said}")));
        }
        Ok(())
    }

    fn judge(&self, world: &World, fix: &str, choice: &str, again: Failed) -> Result<(), String> {
        match (self.then, again) {
            (Then::Health, None) | (Then::Informed | Then::Instead, Some(_)) => Ok(()),
            (Then::Next(wanted) | Then::Says(_, wanted), Some((code, next)))
                if code == wanted && world.stable_paths(&next) != fix =>
            {
                Ok(())
            }
            (_, again) => Err(self.wrong(&format!("after `{choice}` of `{fix}`: {again:?}"))),
        }
    }

    fn wrong(&self, why: &str) -> String {
        format!("- {} / {}: {why}", self.state, self.command.join(" "))
    }
}

fn world_run(world: &World, args: &[&str], variable: Option<(&str, &str)>) -> Output {
    let mut command = world.command();
    command.envs(variable);
    command.args(args).arg("--json");
    command.output().unwrap()
}

/// Code and fix of a failed run. `doctor` and `runs verify` report several; then those of `wanted`
/// are returned, if it is among them.
fn failed(args: &[&str], output: &Output, wanted: Option<&str>) -> Failed {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let mut lines = stdout.lines().rev().chain(stderr.lines().rev());
    let said: Value = lines
        .find_map(|line| serde_json::from_str(line).ok())
        .unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |name: &str| said[name].as_array().cloned().unwrap_or_default();
    let mut named: Vec<(String, String)> = match args.first() {
        Some(&"doctor") => list("checks")
            .iter()
            .filter(|check| {
                wanted.is_some_and(|code| check["error_code"] == code) || check["ok"] == false
            })
            .map(|check| (text(&check["error_code"]), text(&check["suggested_fix"])))
            .filter(|(_, fix)| !fix.is_empty())
            .collect(),
        Some(&"runs") => list("findings")
            .iter()
            .filter(|one| wanted.is_some_and(|code| one["code"] == code) || one["fails"] == true)
            .map(|one| (text(&one["code"]), text(&one["fix"])))
            .collect(),
        _ => Vec::new(),
    };
    if named.is_empty() && !output.status.success() {
        named.push((text(&said["error_code"]), text(&said["hint"])));
    }
    let at = named
        .iter()
        .position(|(code, _)| wanted == Some(code.as_str()));
    match at {
        Some(at) => Some(named.swap_remove(at)),
        None => named.into_iter().next(),
    }
}

/// The commands of a fix: all of its text except explanations in brackets, or the parts in
/// backticks.
pub(super) fn commands_of(fix: &str) -> Vec<String> {
    let is_command = |text: &&str| COMMANDS.iter().any(|start| text.starts_with(start));
    if is_command(&fix) {
        let command = fix.split(" (").next().unwrap_or_default();
        return vec![command.replace(", then ", "; ")];
    }
    let quoted = fix.split('`').skip(1).step_by(2);
    quoted.filter(is_command).map(str::to_owned).collect()
}

/// Data that a person wrote: memories, and the records of runs.
fn kept(world: &World) -> BTreeSet<String> {
    let mut kept = BTreeSet::new();
    let list = world_run(world, &["memory", "list"], None);
    if let Ok(said) = serde_json::from_slice::<Value>(&list.stdout) {
        let items = said["items"].as_array().cloned().unwrap_or_default();
        kept.extend(items.iter().map(|item| item["content"].to_string()));
    }
    kept.extend(world.complete_records());
    kept
}

/// A fix as the table shows it: without the names of runs, which are others each time.
fn world_free(fix: &str) -> String {
    let run = regex::Regex::new(r"\b\d{8}T\d{6}Z_[0-9a-f]{16}").unwrap();
    let fix = run.replace_all(fix, "<run>");
    if fix.contains('`') {
        fix.into_owned()
    } else {
        format!("`{fix}`")
    }
}

impl World {
    /// `text` with the paths of this world replaced by placeholders.
    pub(super) fn stable_paths(&self, text: &str) -> String {
        text.replace(&*self.vault().to_string_lossy(), "<vault>")
            .replace(&*self.home().to_string_lossy(), "<home>")
    }

    fn real_paths(&self, text: &str) -> String {
        text.replace("<vault>", &self.vault().to_string_lossy())
            .replace("<home>", &self.home().to_string_lossy())
    }
}
