//! Commands that cannot do what was requested, although no file is damaged.

use std::fs;

use super::case::{Case, Follow, Then, case};
use super::place::{file, indexed, plain, used};
use crate::harness::World;

pub(super) fn cases() -> Vec<Case> {
    [
        searching(),
        reading(),
        remembering(),
        tools(),
        others(),
        settling(),
    ]
    .concat()
}

fn searching() -> Vec<Case> {
    vec![
        case(
            "nothing was indexed",
            plain,
            &["query", "oven"],
            "INDEX_MISSING",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "nothing was indexed",
            plain,
            &["ask", "What is the oven made of?"],
            "INDEX_MISSING",
        )
        .ends(Follow::Printed, Then::Health),
        case("nothing was indexed", plain, &["embed"], "INDEX_MISSING")
            .ends(Follow::Printed, Then::Health),
        case(
            "nothing was embedded",
            indexed,
            &["query", "oven", "--mode", "vector"],
            "PHASE2_QUERY_ERROR",
        )
        .ends(Follow::Printed, Then::Health),
        case("a blank query", indexed, &["query", " "], "INVALID_QUERY")
            .ends(Follow::Again(&["query", "oven"]), Then::Health),
        case("a blank question", indexed, &["ask", " "], "INVALID_QUERY").ends(
            Follow::Again(&["ask", "What is the oven made of?"]),
            Then::Health,
        ),
        case(
            "a source that does not exist",
            indexed,
            &["query", "oven", "--source", "work"],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "a source that does not exist",
            indexed,
            &["index", "--source", "work"],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "an invalid day",
            indexed,
            &["query", "oven", "--after", "yesterday"],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Again(&["query", "oven", "--after", "2026-01-31"]),
            Then::Health,
        ),
        case(
            "a source that shows nothing any more",
            emptied,
            &["index"],
            "SOURCE_EMPTY",
        )
        .ends(Follow::Choice(1), Then::Health),
        case(
            "a source whose disk is not there",
            emptied,
            &["index"],
            "SOURCE_EMPTY",
        )
        .ends(
            Follow::ByHand("the files are brought back", bring_back),
            Then::Health,
        ),
        case(
            "a note changed, and nothing reads it",
            || {
                let world = used();
                world.write("oven.md", "# Oven\n\nIt is cold today.\n");
                world
            },
            &["status", "--wait-fresh", "--timeout", "0"],
            "NOT_FRESH",
        )
        .ends(Follow::Choice(0), Then::Health),
        case(
            "another `index` is at work",
            || locked("index.lock"),
            &["index"],
            "LOCKED",
        )
        .ends(
            Follow::ByHand("the other process ends", unlock),
            Then::Health,
        ),
    ]
}

fn emptied() -> World {
    let world = used();
    for name in ["oven.md", "pump.md", "deep"] {
        fs::rename(world.vault().join(name), world.root().join(name)).unwrap();
    }
    world
}

fn bring_back(world: &World) {
    for name in ["oven.md", "pump.md", "deep"] {
        fs::rename(world.root().join(name), world.vault().join(name)).unwrap();
    }
}

/// Holds a lock in a thread until [`unlock`] is called in the same thread.
pub(super) fn locked(name: &str) -> World {
    let world = used();
    let lock = fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(file(&world, name))
        .unwrap();
    lock.lock().unwrap();
    HELD.with_borrow_mut(|held| held.push(lock));
    world
}

thread_local! {
    static HELD: std::cell::RefCell<Vec<fs::File>> = const { std::cell::RefCell::new(Vec::new()) };
}

fn unlock(_: &World) {
    HELD.with_borrow_mut(Vec::clear);
}

fn reading() -> Vec<Case> {
    let latin = || {
        let world = indexed();
        fs::write(world.vault().join("latin.md"), b"caf\xe9 au lait").unwrap();
        world
    };
    let large = || {
        let world = indexed();
        world.write("large.md", &"word ".repeat(3 << 20));
        world
    };
    vec![
        case(
            "no such note",
            indexed,
            &["get", "nothing.md"],
            "FILE_NOT_FOUND",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "a folder instead of a note",
            indexed,
            &["get", "deep"],
            "PATH_IS_DIRECTORY",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "a pattern instead of a note",
            indexed,
            &["get", "deep/*.md"],
            "FILE_NOT_FOUND",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "a line after the end of the file",
            indexed,
            &["get", "oven.md:900"],
            "INVALID_ARGS",
        )
        .ends(Follow::Again(&["get", "oven.md:2"]), Then::Health),
        case(
            "a key that no chunk has",
            indexed,
            &["get", "#00000000000000000000000000000000"],
            "FILE_NOT_FOUND",
        )
        .ends(Follow::Printed, Then::Informed),
        case("an invalid key", indexed, &["get", "#oven"], "INVALID_ARGS")
            .ends(Follow::Filled(&[("WORDS", "oven")]), Then::Informed),
        case(
            "a path that leads outside",
            indexed,
            &["get", "../secret.md"],
            "PATH_DENIED",
        )
        .ends(Follow::Again(&["get", "notes:deep/pump.md"]), Then::Health),
        case(
            "a source that no source is called",
            indexed,
            &["get", "work:oven.md"],
            "PATH_DENIED",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "two notes of one name",
            twins,
            &["get", "x.md"],
            "AMBIGUOUS_PATH",
        )
        .ends(Follow::Again(&["get", "notes:a/x.md"]), Then::Health),
        case(
            "a note that is not UTF-8",
            latin,
            &["get", "latin.md"],
            "FILE_READ_ERROR",
        )
        .ends(
            Follow::ByHand("the file is converted", |world| {
                world.write("latin.md", "café au lait");
            }),
            Then::Health,
        ),
        case(
            "a note that is too large",
            large,
            &["get", "large.md"],
            "FILE_TOO_LARGE",
        )
        .ends(
            Follow::ByHand("the limit is raised", raise_limit),
            Then::Health,
        ),
    ]
}

/// A vault with two notes of one name.
fn twins() -> World {
    let world = indexed();
    world.write("a/x.md", "# X\n\nThe first.\n");
    world.write("b/x.md", "# X\n\nThe second.\n");
    world.ok(&["index"]);
    world
}

fn raise_limit(world: &World) {
    let limit = "security: {max_file_bytes: 100000000}\n";
    world.write(
        "local-agent.yaml",
        &format!("sources: [{{name: notes, root: .}}]\n{limit}"),
    );
    world.ok(&["config", "trust"]);
}

fn remembering() -> Vec<Case> {
    let disabled = || {
        let world = used();
        world.write(
            "local-agent.yaml",
            "sources: [{name: notes, root: .}]\nmemory: {enabled: false}\n",
        );
        world
    };
    vec![
        case(
            "memory is switched off",
            disabled,
            &["memory", "list"],
            "PHASE3_MEMORY_DISABLED",
        )
        .ends(
            Follow::ByHand("the key is taken out", |world| {
                world.write("local-agent.yaml", "sources: [{name: notes, root: .}]\n");
            }),
            Then::Health,
        ),
        case(
            "no such memory",
            used,
            &["memory", "delete", "no-such-id"],
            "PHASE3_MEMORY_ERROR",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "a run that does not exist",
            used,
            &["runs", "show", "2020"],
            "RUN_NOT_FOUND",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "the notes of a run are gone",
            gone,
            &["runs", "replay", "last"],
            "REPLAY_EVIDENCE_GONE",
        )
        .ends(
            Follow::ByHand("the note is put back", |world| {
                fs::rename(world.root().join("oven.md"), world.vault().join("oven.md")).unwrap();
            }),
            Then::Health,
        ),
        case(
            "an invalid head",
            used,
            &["runs", "verify", "--head", "abc"],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Informed),
    ]
}

fn gone() -> World {
    let world = used();
    fs::rename(world.vault().join("oven.md"), world.root().join("oven.md")).unwrap();
    world
}

fn tools() -> Vec<Case> {
    vec![
        case(
            "a tool that the configuration denies",
            || {
                let world = indexed();
                let denied = "sources: [{name: notes, root: .}]\ntools: {grep: deny}\n";
                world.write("local-agent.yaml", denied);
                world
            },
            &["tool", "run", "grep", "--arg", "pattern=oven"],
            "TOOL_DENIED",
        )
        .ends(
            Follow::ByHand("the key is taken out", |world| {
                world.write("local-agent.yaml", "sources: [{name: notes, root: .}]\n");
            }),
            Then::Health,
        ),
        case(
            "a tool that does not exist",
            indexed,
            &["tool", "run", "dance"],
            "TOOL_ERROR",
        )
        .ends(
            Follow::Again(&["tool", "run", "grep", "--arg", "pattern=oven"]),
            Then::Health,
        ),
        case(
            "an argument that the tool does not have",
            indexed,
            &["tool", "run", "grep", "--arg", "x=1"],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "an argument without a name",
            indexed,
            &["tool", "run", "grep", "--arg", "oven"],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Again(&["tool", "run", "grep", "--arg", "pattern=oven"]),
            Then::Health,
        ),
        case(
            "a pattern that cannot be read",
            indexed,
            &["tool", "run", "grep", "--arg", "pattern=("],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Again(&[
                "tool",
                "run",
                "grep",
                "--arg",
                "pattern=(",
                "--arg",
                "fixed=true",
            ]),
            Then::Health,
        ),
    ]
}

/// Commands that change the configuration or the records of a person.
fn settling() -> Vec<Case> {
    vec![
        case(
            "a source that is there already",
            indexed,
            &["source", "add", "."],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "a source that does not exist",
            indexed,
            &["source", "remove", "work"],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "a folder of which nothing was said",
            indexed,
            &["context", "remove", "deep"],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "a blank memory",
            indexed,
            &[
                "memory",
                "add",
                "--type",
                "user_fact",
                "--source",
                "manual",
                "--content",
                " ",
            ],
            "PHASE3_MEMORY_ERROR",
        )
        .ends(Follow::Printed, Then::Informed),
        case("a blank prompt", indexed, &["chat", " "], "INVALID_QUERY").ends(
            Follow::Again(&["chat", "hello"]),
            Then::Next("PHASE3_ASK_ERROR"),
        ),
        case(
            "a lock file that does not exist",
            cited,
            &["verify", "report.md", "--lock", "report.lock"],
            "FILE_NOT_FOUND",
        )
        .ends(
            Follow::Filled(&[("DOCUMENT", "report.md"), ("FILE", "report.lock")]),
            Then::Health,
        ),
        case(
            "a document that does not exist",
            cited,
            &["verify", "nothing.md"],
            "FILE_NOT_FOUND",
        )
        .ends(Follow::Again(&["verify", "report.md"]), Then::Health),
        case(
            "a folder of sources that does not exist",
            World::empty,
            &["init", "notes=nowhere"],
            "INVALID_ARGS",
        )
        .ends(Follow::Again(&["init", "notes=."]), Then::Health),
        case(
            "no configuration of the other program",
            World::empty,
            &["import", "qmd"],
            "FILE_NOT_FOUND",
        )
        .ends(
            Follow::ByHand("its file is named, and it is not there", |_| {}),
            Then::Informed,
        ),
        case(
            "a token that does not exist",
            indexed,
            &["serve", "token", "remove", "phone"],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "a change that nobody agrees to",
            indexed,
            &["tool", "run", "delete", "--arg", "path=notes:oven.md"],
            "WRITE_DENIED",
        )
        .ends(
            Follow::ByHand("there is no terminal in the test", |_| {}),
            Then::Informed,
        ),
        case(
            "a heading that a note does not have",
            indexed,
            &[
                "tool",
                "run",
                "read_symbol",
                "--arg",
                "path=notes:oven.md",
                "--arg",
                "symbol=Stove",
            ],
            "SYMBOL_NOT_FOUND",
        )
        .ends(
            Follow::Again(&[
                "tool",
                "run",
                "read_symbol",
                "--arg",
                "path=notes:oven.md",
                "--arg",
                "symbol=Oven",
            ]),
            Then::Health,
        ),
    ]
}

/// A vault with a report that cites a note.
fn cited() -> World {
    let world = indexed();
    let report = "The oven is made of granite. [oven.md:6]\n";
    world.write("report.md", report);
    world
}

fn others() -> Vec<Case> {
    vec![
        case(
            "a model that does not exist",
            indexed,
            &["embed", "--model", "no-such-model"],
            "MODEL_NOT_FOUND",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "a model that does not exist",
            indexed,
            &["models", "verify", "no-such-model"],
            "MODEL_NOT_FOUND",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "a folder that holds no model",
            || {
                let world = indexed();
                fs::create_dir(world.vault().join("model")).unwrap();
                let own = "sources: [{name: notes, root: .}]\nembed: {model_path: model}\n";
                world.write("local-agent.yaml", own);
                world.ok(&["config", "trust"]);
                world
            },
            &["embed"],
            "MODEL_INVALID",
        )
        .ends(
            Follow::ByHand("the key is taken out", |world| {
                world.write("local-agent.yaml", "sources: [{name: notes, root: .}]\n");
            }),
            Then::Health,
        ),
        case(
            "a set of questions that does not exist",
            indexed,
            &["eval", "retrieval", "nothing"],
            "EVAL_ERROR",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "no chat model is configured",
            indexed,
            &["chat", "hello"],
            "PHASE3_ASK_ERROR",
        )
        .ends(
            Follow::ByHand("a model is named, on a server that is not there", |world| {
                let llm =
                    "llm: {model: m, base_url: 'http://127.0.0.1:9'}\nask: {provider: ollama}\n";
                world.write(
                    "local-agent.yaml",
                    &format!("sources: [{{name: notes, root: .}}]\n{llm}"),
                );
            }),
            Then::Next("SERVER_UNREACHABLE"),
        ),
        case(
            "a folder that does not exist",
            indexed,
            &["try", "nowhere", "oven"],
            "INVALID_ARGS",
        )
        .ends(Follow::Again(&["try", ".", "oven"]), Then::Health),
    ]
}
