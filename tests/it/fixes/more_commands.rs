//! Reading, changing and asking: what the commands cannot do as they were typed.

use super::case::{Case, Follow, Then, case};
use super::place::{configure_trusted, indexed, used};
use crate::harness::World;

const QUESTION: &str = "What is the oven made of?";

pub(super) fn cases() -> Vec<Case> {
    [naming(), refused(), linked(), asking(), others()].concat()
}

/// The indexed vault with another file, which is not indexed.
fn with_file(path: &str, text: &str) -> World {
    let world = indexed();
    world.write(path, text);
    world
}

fn naming() -> Vec<Case> {
    let many = || {
        let world = indexed();
        for n in 0..24 {
            let text = format!("# N{n}\n\nThe pump number {n}.\n");
            world.write(&format!("notes/n{n}.md"), &text);
        }
        world.ok(&["index"]);
        world
    };
    vec![
        case(
            "a name that is almost that of a note",
            indexed,
            &["get", "ovn.md"],
            "FILE_NOT_FOUND",
        )
        .ends(Follow::Printed, Then::Informed),
        case("a blank path", indexed, &["get", " "], "INVALID_ARGS")
            .ends(Follow::Again(&["get", "notes:oven.md"]), Then::Health),
        case(
            "a folder with a name like a note's",
            || with_file("year.md/may.md", "# May\n"),
            &["get", "year.md"],
            "PATH_IS_DIRECTORY",
        )
        .ends(
            Follow::Again(&["get", "notes:year.md/may.md"]),
            Then::Health,
        ),
        case(
            "a pattern that cannot be read",
            indexed,
            &["multi-get", "{deep"],
            "INVALID_ARGS",
        )
        .ends(Follow::Again(&["multi-get", "deep/*.md"]), Then::Health),
        case(
            "the first digit of several keys",
            many,
            &["get", "#b"],
            "AMBIGUOUS_PATH",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "an invalid day in a query",
            indexed,
            &["query", "oven after:yesterday"],
            "INVALID_QUERY",
        )
        .ends(
            Follow::Again(&["query", "oven after:2026-01-31"]),
            Then::Health,
        ),
    ]
}

/// The vault with a configuration that allows files of these kinds.
fn allowing(extensions: &str) -> World {
    let world = indexed();
    configure_trusted(
        &world,
        &format!("security: {{allowed_exts: [{extensions}]}}\n"),
    );
    world
}

fn refused() -> Vec<Case> {
    const NOTE: &[&str] = &[
        "tool",
        "run",
        "propose_write",
        "--arg",
        "path=notes:plan.md",
        "--arg",
        "content=hello",
    ];
    vec![
        case(
            "a file of source code",
            || with_file("oven.py", "heat = 200\n"),
            &["get", "oven.py"],
            "PATH_DENIED",
        )
        .ends(
            Follow::ByHand("it is set", |world| {
                let source = "{name: notes, root: ., code: true}";
                world.write("local-agent.yaml", &format!("sources: [{source}]\n"));
            }),
            Then::Health,
        ),
        case(
            "a file of another kind",
            || with_file("oven.xyz", "hot\n"),
            &["get", "oven.xyz"],
            "PATH_DENIED",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "a hidden file",
            || with_file(".plan.md", "# Plan\n"),
            &["get", ".plan.md"],
            "PATH_DENIED",
        )
        .ends(
            Follow::ByHand("`security.deny_hidden_paths` is switched off", |world| {
                configure_trusted(world, "security: {deny_hidden_paths: false}\n");
            }),
            Then::Health,
        ),
        case(
            "a damaged document",
            || {
                let world = allowing(".md, .docx");
                world.write("letter.docx", "no archive");
                world
            },
            &["get", "letter.docx"],
            "FILE_READ_ERROR",
        )
        .ends(
            Follow::ByHand("there is no such program in the test", |_| {}),
            Then::Informed,
        ),
        case(
            "a change of a file that a system may run",
            || allowing(".md, .sh"),
            &[
                "tool",
                "run",
                "propose_write",
                "--arg",
                "path=notes:plan.sh",
                "--arg",
                "content=hello",
            ],
            "WRITE_DENIED",
        )
        .ends(Follow::Again(NOTE), Then::Next("WRITE_DENIED")),
        case(
            "a change of a document whose text was taken out",
            || allowing(".md, .docx"),
            &[
                "tool",
                "run",
                "propose_write",
                "--arg",
                "path=notes:plan.docx",
                "--arg",
                "content=hello",
            ],
            "WRITE_DENIED",
        )
        .ends(Follow::Again(NOTE), Then::Next("WRITE_DENIED")),
    ]
}

#[cfg(unix)]
fn linked() -> Vec<Case> {
    let link = || {
        let world = indexed();
        std::os::unix::fs::symlink("oven.md", world.vault().join("stove.md")).unwrap();
        world
    };
    vec![
        case(
            "a link to a note",
            link,
            &["get", "stove.md"],
            "PATH_DENIED",
        )
        .ends(
            Follow::ByHand("`inside` is set", |world| {
                configure_trusted(world, "security: {follow_links: inside}\n");
            }),
            Then::Health,
        ),
    ]
}

#[cfg(not(unix))]
fn linked() -> Vec<Case> {
    Vec::new()
}

fn asking() -> Vec<Case> {
    let long = || {
        let world = with_file("long.md", &"The oven is hot. ".repeat(100));
        configure_trusted(&world, "llm: {max_chars_full_read: 1000}\n");
        world
    };
    vec![
        case(
            "a file without any text",
            || with_file("empty.md", " \n"),
            &["ask", "Summarise it", "--read", "empty.md"],
            "FILE_EMPTY",
        )
        .ends(
            Follow::Again(&["ask", "Summarise it", "--read", "oven.md"]),
            Then::Health,
        ),
        case(
            "a file that is longer than the limit",
            long,
            &["ask", "How is the oven?", "--read", "long.md"],
            "EVIDENCE_TRUNCATED",
        )
        .ends(
            Follow::ByHand("the limit is raised", |world| {
                configure_trusted(world, "llm: {max_chars_full_read: 2000}\n");
            }),
            Then::Health,
        ),
        case(
            "a file that is too long for any limit",
            || with_file("long.md", &"The oven is hot. ".repeat(20_000)),
            &["ask", QUESTION, "--read", "long.md"],
            "EVIDENCE_TRUNCATED",
        )
        .ends(Follow::Again(&["ask", QUESTION]), Then::Health),
        case(
            "a secret in the evidence of a run",
            secret,
            &["runs", "replay", "last"],
            "REPLAY_REDACTED",
        )
        .ends(
            Follow::ByHand("it is set, and the question is asked again", |world| {
                configure_trusted(world, "runs: {keep_evidence: true}\n");
                ask_for_secret(world);
            }),
            Then::Health,
        ),
    ]
}

fn secret() -> World {
    let world = indexed();
    let note = format!("# Door\n\nThe door token is {} for the oven.\n", token());
    world.write("door.md", &note);
    world.ok(&["index"]);
    ask_for_secret(&world);
    world
}

/// A text that looks like a token of GitHub.
fn token() -> String {
    format!("ghp_{}", "a1B2c3".repeat(6))
}

fn ask_for_secret(world: &World) {
    let question = format!("What is the door token, is it {}?", token());
    world.ok(&["ask", &question]);
}

fn others() -> Vec<Case> {
    vec![
        case(
            "a manual page of no command",
            indexed,
            &["man", "dance"],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "memories are written to a file that exists",
            || {
                let world = used();
                world.write("memories.json", "{}");
                world
            },
            &["memory", "export", "memories.json"],
            "PHASE3_MEMORY_ERROR",
        )
        .ends(
            Follow::Again(&["memory", "export", "more.json"]),
            Then::Health,
        ),
    ]
}
