//! Every command that a message of the program names exists, with every flag.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::architecture::source_files;
use crate::harness::World;

/// Where a command in a text ends.
const ENDS: &[char] = &['`', '"', '(', ')', ',', ';', '&', '|', '{', '\\'];

/// What may stand behind the program's name although it is no command: names of formats, a title, and
/// sentences about the program.
const NO_COMMANDS: &[&str] = &["in", "keeps", "pack", "run</title>", "serves", "vectors"];

#[test]
fn every_command_in_a_message_exists_with_its_flags() {
    let world = World::empty();
    let mut helps: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut wrong = BTreeSet::new();
    let mut seen = 0;
    for command in commands_in_messages() {
        seen += 1;
        if let Err(why) = exists(&world, &mut helps, &command) {
            wrong.insert(format!("`local-agent {command}`: {why}"));
        }
    }
    assert!(seen > 60, "only {seen} commands were found");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What stands behind the program's name in the strings of the source, without tests.
fn commands_in_messages() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    for folder in ["src", "crates"] {
        let mut files = Vec::new();
        source_files(&root.join(folder), &mut files);
        files.retain(|file| !file.ends_with("tests.rs"));
        for file in files {
            let text = fs::read_to_string(file).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                found.extend(line.split("local-agent ").skip(1).map(command_at));
            }
        }
    }
    found.retain(|command| is_command(command));
    found
}

/// Whether the text is meant as a command.
fn is_command(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    first.starts_with(|c: char| c.is_ascii_lowercase()) && !NO_COMMANDS.contains(&first)
}

/// The command at the beginning of a text.
fn command_at(text: &str) -> String {
    text.split(ENDS)
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// Whether the program has the command and its flags; the error is the reason why not.
fn exists(
    world: &World,
    helps: &mut BTreeMap<String, Option<String>>,
    command: &str,
) -> Result<(), String> {
    let mut words = command.split_whitespace();
    let mut path = words.next().unwrap_or_default().to_owned();
    let mut help = help_of(world, helps, &path).ok_or("there is no such command")?;
    for word in words {
        if let Some(flag) = word
            .strip_prefix("--")
            .and_then(|flag| flag.split('=').next())
            && !flag.is_empty()
            && flag != "help"
            && !help.contains(&format!("--{flag}"))
        {
            return Err(format!("there is no flag --{flag}"));
        }
        let longer = format!("{path} {word}");
        if help.contains(&format!("\n  {word} "))
            && let Some(deeper) = help_of(world, helps, &longer)
        {
            (path, help) = (longer, deeper);
        }
    }
    Ok(())
}

/// What `--help` says about a command; `None` if there is no such command.
fn help_of(
    world: &World,
    helps: &mut BTreeMap<String, Option<String>>,
    path: &str,
) -> Option<String> {
    let help = || {
        let mut args: Vec<&str> = path.split(' ').collect();
        args.push("--help");
        let run = world.run(&args);
        (run.code == 0).then_some(run.stdout)
    };
    helps.entry(path.to_owned()).or_insert_with(help).clone()
}
