//! `completions`, `man`: generated from the parser's own definition.

use std::fs;

use crate::harness::World;

const COMMANDS: &[&str] = &[
    "try",
    "init",
    "config",
    "index",
    "embed",
    "query",
    "ask",
    "get",
    "multi-get",
    "doctor",
    "status",
    "models",
    "runs",
    "memory",
    "completions",
    "man",
];

#[test]
fn every_shell_completes_every_command() {
    let world = World::empty();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = world.ok(&["completions", shell]).stdout;
        for command in COMMANDS {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    world.usage(&["completions", "cobol"]);
    world.usage(&["completions"]);
}

#[test]
fn the_manual_has_a_page_a_command() {
    let world = World::empty();
    assert!(world.ok(&["man"]).stdout.contains(".TH local-agent 1"));
    let page = world.ok(&["man", "memory", "add"]).stdout;
    assert!(
        page.contains(".TH local-agent-memory-add 1") && page.contains("Remember something"),
        "{page}"
    );
    assert_eq!(world.code(&["man", "dance"]), "INVALID_ARGS");
    world.ok(&["man", "--dir", "out/man"]);
    for command in COMMANDS {
        let page = fs::read_to_string(
            world
                .vault()
                .join(format!("out/man/local-agent-{command}.1")),
        )
        .unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{command}");
    }
    world.write("file", "in the way");
    assert_eq!(world.code(&["man", "--dir", "file/man"]), "WRITE_ERROR");
}

#[test]
fn help_is_data() {
    let world = World::empty();
    for command in COMMANDS {
        let run = world.ok(&[command, "--help"]);
        assert!(
            run.stdout.contains("Usage: local-agent") && run.stderr.is_empty(),
            "{command}"
        );
    }
}
