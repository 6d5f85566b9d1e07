//! Judging documents against their evidence, and measuring on sets of questions.

use std::fs;

use super::case::{Case, Follow, Then, case};
use super::place::indexed;
use crate::harness::World;

const QUESTION: &str = "What is the oven made of?";

pub(super) fn cases() -> Vec<Case> {
    [judging(), versions(), measuring()].concat()
}

/// The indexed vault with another file, which is not indexed.
fn with_file(path: &str, text: &str) -> World {
    let world = indexed();
    world.write(path, text);
    world
}

/// A vault with a report that cites a note.
fn cited() -> World {
    with_file("report.md", "The oven is made of granite. [oven.md:6]\n")
}

/// A vault with a report that cites a snapshot, in which a text was changed.
fn tampered() -> World {
    let world = with_file("report.md", "The oven is made of granite. [E1]\n");
    world.ok(&["ask", QUESTION, "--snapshot-out", "evidence.json"]);
    let file = world.vault().join("evidence.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(file, text.replace("granite", "marbles")).unwrap();
    world
}

fn judging() -> Vec<Case> {
    let latin = || {
        let world = indexed();
        fs::write(world.vault().join("report.md"), b"caf\xe9 [oven.md:6]").unwrap();
        world
    };
    vec![
        case(
            "the folder of the cited files does not exist",
            cited,
            &["verify", "report.md", "--vault", "nowhere"],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Again(&["verify", "report.md", "--vault", "."]),
            Then::Health,
        ),
        case(
            "a folder instead of a document",
            cited,
            &["verify", "deep"],
            "PATH_IS_DIRECTORY",
        )
        .ends(Follow::Again(&["verify", "report.md"]), Then::Health),
        case(
            "a document that is not UTF-8",
            latin,
            &["verify", "report.md"],
            "FILE_READ_ERROR",
        )
        .ends(
            Follow::ByHand("the file is converted", |world| {
                world.write("report.md", "The oven is made of granite. [oven.md:6]\n");
            }),
            Then::Health,
        ),
        case(
            "the evidence of a report was changed",
            tampered,
            &["verify", "report.md", "--snapshot", "evidence.json"],
            "SNAPSHOT_TAMPERED",
        )
        .ends(
            Follow::Filled(&[
                ("QUESTION", "'What is the oven made of?'"),
                ("FILE", "evidence.json"),
            ]),
            Then::Health,
        ),
    ]
}

/// A set of one question.
fn measured() -> World {
    let world = with_file("set/docs/a.md", "# A\n\nAn oven of granite.\n");
    let query = "{\"id\": \"1\", \"text\": \"oven granite\"}\n";
    world.write("set/queries.jsonl", query);
    world.write("set/qrels.tsv", "1\ta.md\t1\n");
    world
}

/// A set with one answer from a note of the vault `v`.
fn answered() -> World {
    let row = serde_json::json!({
        "id": "1",
        "vault": "v",
        "question": QUESTION,
        "answer": "The oven is made of granite. [E1]",
        "kind": "honest",
        "evidence": [{"path": "oven.md", "start_line": 1, "end_line": 6}],
    });
    with_file("set.jsonl", &format!("{row}\n"))
}

fn measuring() -> Vec<Case> {
    vec![
        case(
            "a value that a key does not take",
            measured,
            &["eval", "retrieval", "set", "--set", "retrieve.fusion=x"],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Again(&["eval", "retrieval", "set", "--set", "retrieve.fusion=rrf"]),
            Then::Health,
        ),
        case(
            "a set of answers from a vault that was not named",
            answered,
            &["eval", "natural", "set.jsonl"],
            "EVAL_ERROR",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "no passage to score",
            indexed,
            &["eval", "passages", "nothing", "--k", "0"],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Again(&["eval", "passages", "nothing", "--k", "1,5"]),
            Then::Next("EVAL_ERROR"),
        ),
        case(
            "a set of answers without a row",
            || with_file("set.jsonl", ""),
            &["eval", "natural", "set.jsonl"],
            "EVAL_ERROR",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "a vault without a folder",
            || with_file("set.jsonl", ""),
            &["eval", "natural", "set.jsonl", "--vault", "notes"],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Informed),
    ]
}

#[cfg(unix)]
fn versions() -> Vec<Case> {
    vec![
        case(
            "a revision that does not exist",
            versioned,
            &["verify", "report.md", "--changed-since", "0123abcd"],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Again(&["verify", "report.md", "--changed-since", "HEAD"]),
            Then::Health,
        ),
    ]
}

#[cfg(not(unix))]
fn versions() -> Vec<Case> {
    Vec::new()
}

/// The report and the notes in a git repository.
#[cfg(unix)]
fn versioned() -> World {
    let world = cited();
    for line in [
        &["init", "-q"][..],
        &["add", "oven.md", "report.md"],
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-qm",
            "x",
        ],
    ] {
        let done = std::process::Command::new("git")
            .args(line)
            .env("HOME", world.home())
            .current_dir(world.vault())
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    }
    world
}
