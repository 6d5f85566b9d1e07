//! File tools and tokens that cannot do what was requested.

use std::fs;

use super::case::{Case, Follow, Then, case};
use super::commands::locked;
use super::mcp_calls::coded;
use super::place::{indexed, plain};
use crate::harness::World;

/// The SHA-256 of `oven.md` in [`indexed`].
const OVEN: &str =
    "expected_sha256=e13f13e5421df9c9f99c5b3351f5df1ebbec32476c0c1fb8512527490cb5d87f";
const OTHER: &str =
    "expected_sha256=0000000000000000000000000000000000000000000000000000000000000000";

/// Content of more than 80 bytes, which is more than `oven.md` has.
const LONG: &str = "content=The oven is made of granite, and the kiln beside it is made of tiles. \
                    Both are hot in the evening.";

pub(super) fn cases() -> Vec<Case> {
    [reading(), naming(), changing(), tokens(), watching()].concat()
}

fn reading() -> Vec<Case> {
    vec![
        case(
            "two ways of reading at once",
            plain,
            &[
                "tool",
                "run",
                "read_text_file",
                "--json-args",
                r#"{"path": "oven.md", "max_chars": 500, "offset": 3}"#,
            ],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "a folder instead of a file",
            plain,
            &["tool", "run", "read_text_file", "--arg", "path=notes:deep"],
            "PATH_IS_DIRECTORY",
        )
        .ends(
            Follow::Again(&[
                "tool",
                "run",
                "read_text_file",
                "--arg",
                "path=notes:deep/pump.md",
            ]),
            Then::Health,
        ),
        case(
            "a file of a kind that its source leaves out",
            || {
                let world = indexed();
                world.write("plain.txt", "See [[oven]].\n");
                world
            },
            &["links", "notes:plain.txt"],
            "FILE_NOT_FOUND",
        )
        .ends(
            Follow::ByHand(
                "the source takes it, and `local-agent index` is run",
                |world| {
                    let text = "sources: [{name: notes, root: ., extensions: [.txt]}]\n";
                    world.write("local-agent.yaml", text);
                    world.ok(&["index"]);
                },
            ),
            Then::Health,
        ),
        case(
            "a byte after the end of the file",
            plain,
            &[
                "tool",
                "run",
                "read_text_file",
                "--json-args",
                r#"{"path": "oven.md", "offset": 3000}"#,
            ],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Again(&[
                "tool",
                "run",
                "read_text_file",
                "--json-args",
                r#"{"path": "oven.md", "offset": 30}"#,
            ]),
            Then::Health,
        ),
        case(
            "a pattern of two lines",
            plain,
            &[
                "tool",
                "run",
                "grep",
                "--json-args",
                r#"{"pattern": "Oven\nThe oven"}"#,
            ],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Again(&[
                "tool",
                "run",
                "grep",
                "--json-args",
                r#"{"pattern": "The oven"}"#,
            ]),
            Then::Health,
        ),
    ]
}

fn naming() -> Vec<Case> {
    vec![
        case(
            "a file that has no names",
            coded,
            &["tool", "run", "outline", "--arg", "path=notes:plain.txt"],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Again(&[
                "tool",
                "run",
                "read_text_file",
                "--arg",
                "path=notes:plain.txt",
            ]),
            Then::Health,
        ),
        case(
            "a file that is not UTF-8",
            coded,
            &["tool", "run", "outline", "--arg", "path=notes:latin.md"],
            "FILE_READ_ERROR",
        )
        .ends(
            Follow::Again(&[
                "tool",
                "run",
                "read_text_file",
                "--arg",
                "path=notes:latin.md",
            ]),
            Then::Next("FILE_READ_ERROR"),
        ),
        case(
            "a file that is not UTF-8",
            coded,
            &[
                "tool",
                "run",
                "read_text_file",
                "--arg",
                "path=notes:latin.md",
            ],
            "FILE_READ_ERROR",
        )
        .ends(
            Follow::ByHand("the file is converted", |world| {
                world.write("latin.md", "café au lait");
            }),
            Then::Health,
        ),
        case(
            "a source file of more than 1 MiB",
            coded,
            &["tool", "run", "outline", "--arg", "path=code:long.rs"],
            "FILE_TOO_LARGE",
        )
        .ends(
            Follow::Again(&[
                "tool",
                "run",
                "grep",
                "--arg",
                "path=code:long.rs",
                "--arg",
                "pattern=main",
            ]),
            Then::Health,
        ),
        case(
            "a source file of deep brackets",
            coded,
            &["tool", "run", "outline", "--arg", "path=code:nested.rs"],
            "FILE_TOO_LARGE",
        )
        .ends(
            Follow::Again(&[
                "tool",
                "run",
                "grep",
                "--arg",
                "path=code:nested.rs",
                "--arg",
                "pattern=main",
            ]),
            Then::Health,
        ),
        case(
            "a file that is no note",
            coded,
            &[
                "tool",
                "run",
                "related_files",
                "--arg",
                "path=notes:plain.txt",
            ],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Again(&[
                "tool",
                "run",
                "related_files",
                "--arg",
                "path=notes:oven.md",
            ]),
            Then::Health,
        ),
    ]
}

/// A test has no terminal, so a proposal that is right fails because nobody can agree to it.
fn changing() -> Vec<Case> {
    vec![
        case(
            "a file changed since it was read",
            indexed,
            &[
                "tool",
                "run",
                "propose_write",
                "--arg",
                "path=oven.md",
                "--arg",
                "content=x",
                "--arg",
                OTHER,
            ],
            "WRITE_CONFLICT",
        )
        .ends(
            Follow::Again(&[
                "tool",
                "run",
                "propose_write",
                "--arg",
                "path=oven.md",
                "--arg",
                "content=x",
                "--arg",
                OVEN,
            ]),
            Then::Next("WRITE_DENIED"),
        ),
        case(
            "new content for a file that is not UTF-8",
            coded,
            &[
                "tool",
                "run",
                "propose_write",
                "--arg",
                "path=notes:latin.md",
                "--arg",
                "content=x",
            ],
            "FILE_READ_ERROR",
        )
        .ends(
            Follow::Again(&[
                "tool",
                "run",
                "propose_write",
                "--arg",
                "path=notes:oven.md",
                "--arg",
                "content=x",
            ]),
            Then::Next("WRITE_DENIED"),
        ),
        case(
            "new content that is too large",
            || configured("security: {max_file_bytes: 80}"),
            &[
                "tool",
                "run",
                "propose_write",
                "--arg",
                "path=oven.md",
                "--arg",
                LONG,
            ],
            "FILE_TOO_LARGE",
        )
        .ends(
            Follow::Again(&[
                "tool",
                "run",
                "propose_write",
                "--arg",
                "path=oven.md",
                "--arg",
                "content=x",
            ]),
            Then::Next("WRITE_DENIED"),
        ),
        case(
            "as many changes as a day may have",
            || configured("tools: {max_writes: 0}"),
            &[
                "tool",
                "run",
                "propose_write",
                "--arg",
                "path=oven.md",
                "--arg",
                "content=x",
            ],
            "WRITE_DENIED",
        )
        .ends(
            Follow::ByHand("the limit is raised", |world| {
                configure(world, "tools: {max_writes: 1}");
            }),
            Then::Next("WRITE_DENIED"),
        ),
    ]
}

fn configured(text: &str) -> World {
    let world = indexed();
    configure(&world, text);
    world
}

fn configure(world: &World, text: &str) {
    let text = format!("sources: [{{name: notes, root: .}}]\n{text}\n");
    fs::write(world.vault().join("local-agent.yaml"), text).unwrap();
}

fn tokens() -> Vec<Case> {
    vec![
        case(
            "a token of that name is there already",
            with_phone,
            &["serve", "token", "add", "phone", "--role", "search"],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "a name that no token can have",
            indexed,
            &["serve", "token", "add", "my phone", "--role", "search"],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Again(&["serve", "token", "add", "laptop", "--role", "search"]),
            Then::Health,
        ),
    ]
}

/// A vault with a named token.
fn with_phone() -> World {
    let world = indexed();
    world.ok(&["serve", "token", "add", "phone", "--role", "search"]);
    world
}

fn watching() -> Vec<Case> {
    vec![
        case(
            "another `watch` is at work",
            || locked("watch.lock"),
            &["watch"],
            "LOCKED",
        )
        .ends(
            Follow::ByHand("nothing is done; the other one works", |_| {}),
            Then::Informed,
        ),
    ]
}
