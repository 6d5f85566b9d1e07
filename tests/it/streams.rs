//! Data on stdout, messages on stderr, colour on request, and silence when nobody reads any more.

use std::io::Read as _;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::harness::World;

#[test]
fn a_closed_pipe_is_silent() {
    let world = World::example();
    // The text is longer than the buffer of a pipe, so that the program is still writing when the
    // reader is gone.
    let long = "A line of a long note, again and again.\n".repeat(20_000);
    world.write("long.md", &long);
    for args in [
        &["get", "long.md"][..],
        &["get", "long.md", "--raw"],
        &["get", "long.md", "--json"],
    ] {
        let mut child = world
            .command()
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 16];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let mut talk = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut talk)
            .unwrap();
        let status = child.wait().unwrap();
        assert_eq!((status.code(), talk.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let world = World::example();
    let query = ["query", "proofbox", "--mode", "lexical"];
    let coloured = |variables: &[(&str, &str)], args: &[&str]| {
        world
            .run_with(variables, &[&query[..], args].concat())
            .stdout
            .contains('\x1b')
    };
    assert!(!coloured(&[], &[]));
    assert!(coloured(&[], &["--color", "always"]));
    assert!(!coloured(&[], &["--color", "never"]));
    assert!(!coloured(&[("NO_COLOR", "1")], &[]));
    assert!(
        coloured(&[("NO_COLOR", "1")], &["--color", "always"]),
        "a flag says more than a variable"
    );
    assert!(
        !coloured(&[("CLICOLOR_FORCE", "1"), ("COLORTERM", "truecolor")], &[]),
        "nothing else is looked at"
    );
    world.usage(&[&query[..], &["--color", "sometimes"]].concat());
}

#[test]
fn json_is_never_coloured_and_errors_are_no_less() {
    let world = World::example();
    let run = world.run(&[
        "query", "proofbox", "--mode", "lexical", "--json", "--color", "always",
    ]);
    assert!(!run.stdout.contains('\x1b'));
    let run = world.run(&["get", "missing.md", "--json", "--color", "always"]);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    assert!(!run.stdout.contains('\x1b'));
}

/// S27: a pipe gets the exact bytes of a note, whatever they are; they are made safe only for
/// terminals.
#[test]
fn s27_control_characters_reach_a_pipe_as_they_are() {
    let text = "# A\n\nThe walrus \u{202e}esrever\u{202c} \x1b]52;c;eA==\x07 end.\n";
    let world = World::with(&[("a.md", text)]);
    world.ok(&["index"]);
    assert_eq!(world.ok(&["get", "a.md", "--raw"]).stdout, text);
    let body = world.json(&["query", "walrus", "--mode", "lexical"]);
    assert!(text.contains(body["hits"][0]["text"].as_str().unwrap().trim_end()));
}

#[test]
fn what_is_told_on_stderr_is_safe_for_a_terminal_wherever_stdout_goes() {
    let world = World::example();
    let answer = "The oven is hot [gone\x1bc.md:1-2], and wide [a\u{202e}b.md:3].\n";
    let file = world.root().join("answer.md");
    std::fs::write(&file, answer).unwrap();
    let run = world.run(&["verify", file.to_str().unwrap()]);
    assert!(
        run.stderr.contains("gone"),
        "the test looks for nothing: {}",
        run.stderr
    );
    let unsafe_ones = |c: char| c == '\u{202e}' || c.is_control() && c != '\n';
    assert!(!run.stderr.contains(unsafe_ones), "{:?}", run.stderr);
}

/// Regression: a program that asked for JSON got a page of usage on stderr, and nothing to parse.
#[test]
fn a_command_line_that_cannot_be_understood_is_an_envelope_when_json_is_asked_for() {
    let world = World::empty();
    for (args, hint) in [
        (
            &["query", "bread", "--limit", "few", "--json"][..],
            "local-agent query --help",
        ),
        (
            &["query", "bread", "--frobnicate", "--jsonl"],
            "local-agent query --help",
        ),
        (
            &["tool", "list", "extra", "--json"],
            "local-agent tool list --help",
        ),
        (&["ask", "--json"], "local-agent ask --help"),
        (&["--json"], "local-agent --help"),
        (
            &["query", "bread", "--json=yes"],
            "local-agent query --help",
        ),
        (&["-C", "tool", "ask", "--json"], "local-agent ask --help"),
    ] {
        let run = world.run(args);
        assert_eq!((run.code, run.stderr.as_str()), (2, ""), "{args:?}");
        let envelope = run.json();
        assert_eq!(envelope["error_code"], "INVALID_ARGS", "{args:?}");
        assert_eq!(envelope["hint"], hint, "{args:?}");
        let message = envelope["error_message"].as_str().unwrap();
        assert!(
            !message.is_empty() && !message.contains('\n') && !message.contains("Usage"),
            "{message}"
        );
    }
    let envelope = world
        .run(&["query", "bread", "--limit", "few", "--json"])
        .json();
    assert_snapshot!(envelope["error_message"].as_str().unwrap(), @"invalid value 'few' for '--limit <N>': invalid digit found in string");
    // For two options that exclude each other, the message names both.
    let both = [
        "verify",
        "answer.md",
        "--snapshot",
        "a",
        "--vault",
        "b",
        "--json",
    ];
    let envelope = world.run(&both).json();
    assert_snapshot!(envelope["error_message"].as_str().unwrap(), @"the argument '--snapshot <FILE>' cannot be used with '--vault <DIR>'");
    world.usage(&["query", "--frobnicate", "--", "--json"]);
}
