//! Calls of tools and of resources that fail at `local-agent mcp`.

use std::fs;

use serde_json::{Value, json};

use super::client_calls::{ClientRow, FailingCalls, MakesCalls, ToldFailure, follow};
use super::mcp_arguments::{ARGUMENTS, SCHEMA};
use super::mcp_names::NAMES;
use super::place::{indexed, used};
use crate::harness::World;
use crate::json_schema::check;
use crate::mcp::Session;

/// The fields of a result that a later call of a table uses, and the words in their place.
const GIVEN: [(&str, &str); 3] = [
    ("/hits/0/chunk_key", "<key>"),
    ("/run_id", "<run>"),
    ("/next_cursor", "<cursor>"),
];

/// Fixes that tools tell which a person offers and trusts, one of whose sources holds code.
const TRUSTED: &[FailingCalls] = &[
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "ask for an earlier byte",
        next: None,
        calls: &[[
            "a byte after the end of the file",
            r#"read_text_file {"path": "notes:oven.md", "offset": 3000}"#,
            r#"read_text_file {"path": "notes:oven.md", "offset": 30}"#,
        ]],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "read it with read_text_file",
        next: None,
        calls: &[
            [
                "a file that has no names, and read_text_file is offered",
                r#"outline {"path": "notes:plain.txt"}"#,
                r#"read_text_file {"path": "notes:plain.txt"}"#,
            ],
            [
                "a file that has no names, and read_text_file is offered",
                r#"read_symbol {"path": "notes:plain.txt", "symbol": "Oven"}"#,
                r#"read_text_file {"path": "notes:plain.txt"}"#,
            ],
        ],
    },
    FailingCalls {
        code: "FILE_READ_ERROR",
        fix: "read_text_file says what kind of file it is",
        next: Some("FILE_READ_ERROR"),
        calls: &[[
            "a file that is not UTF-8, and read_text_file is offered",
            r#"outline {"path": "notes:latin.md"}"#,
            r#"read_text_file {"path": "notes:latin.md"}"#,
        ]],
    },
    FailingCalls {
        code: "FILE_TOO_LARGE",
        fix: "search it with grep",
        next: None,
        calls: &[
            [
                "a source file of more than 1 MiB",
                r#"outline {"path": "code:long.rs"}"#,
                r#"grep {"pattern": "main", "path": "code:long.rs"}"#,
            ],
            [
                "a source file of deep brackets",
                r#"read_symbol {"path": "code:nested.rs", "symbol": "main"}"#,
                r#"grep {"pattern": "main", "path": "code:nested.rs"}"#,
            ],
        ],
    },
    FailingCalls {
        code: "SYMBOL_NOT_FOUND",
        fix: "there are: Oven",
        next: None,
        calls: &[[
            "a heading that a note does not have",
            r#"read_symbol {"path": "notes:oven.md", "symbol": "Stove"}"#,
            r#"read_symbol {"path": "notes:oven.md", "symbol": "Oven"}"#,
        ]],
    },
];

pub(super) fn rows() -> Vec<ClientRow> {
    let mut rows = of_one_session(&furnished(), &[ARGUMENTS, NAMES]);
    rows.extend(of_one_session(&coded(), &[TRUSTED]));
    rows
}

/// Follows the fixes of these tables in one session.
fn of_one_session(world: &World, tables: &[&[FailingCalls]]) -> Vec<ClientRow> {
    let mut caller = McpCaller::start(world);
    let mut rows = Vec::new();
    for group in tables.iter().copied().flatten() {
        rows.extend(follow(&mut caller, group));
        if group.fix == SCHEMA {
            caller.schema_explains(group);
        }
    }
    assert_eq!(caller.session.end().0, 0);
    rows
}

/// A used vault with other kinds of files.
fn furnished() -> World {
    let world = used();
    world.write("plain.txt", "Plain text.\n");
    world.write("long.md", &"The kiln bakes tiles.\n".repeat(60_000));
    world
}

/// A vault with source code and with more tools than by default, which its owner trusts.
pub(super) fn coded() -> World {
    let world = indexed();
    world.write(
        "local-agent.yaml",
        "sources: [{name: notes, root: .}, {name: code, root: src, code: true}]\n\
         mcp: {tools: [read_text_file, grep, outline, read_symbol]}\n",
    );
    world.write("src/long.rs", &"fn main() {}\n".repeat(90_000));
    world.write("src/nested.rs", &"(".repeat(600));
    world.write("plain.txt", "Plain text.\n");
    fs::write(world.vault().join("latin.md"), b"caf\xe9 au lait").unwrap();
    world.ok(&["config", "trust"]);
    world
}

/// Makes calls at one `local-agent mcp`.
pub(super) struct McpCaller {
    pub session: Session,
    /// Words of later calls, and what the last results put in their place.
    given: Vec<(&'static str, String)>,
}

impl McpCaller {
    pub(super) fn start(world: &World) -> Self {
        Self {
            session: Session::start(world, &[]),
            given: Vec::new(),
        }
    }

    /// Keeps the fields of a result that later calls use.
    fn keep(&mut self, result: &Value) {
        for (place, word) in GIVEN {
            if let Some(value) = result.pointer(place).and_then(Value::as_str) {
                self.given.retain(|(known, _)| *known != word);
                self.given.push((word, value.to_owned()));
            }
        }
    }

    /// The call with what earlier results gave.
    fn filled(&self, call: &str) -> String {
        let filled = |call: String, (word, value): &(&str, String)| call.replace(word, value);
        self.given.iter().fold(call.to_owned(), filled)
    }

    /// The schema of each tool forbids the call that failed, and allows the one that succeeded.
    fn schema_explains(&mut self, group: &FailingCalls) {
        let listed = self.session.request("tools/list", json!({}));
        for [_, call, mended] in group.calls {
            let (name, given) = parts(call);
            let tools = listed["result"]["tools"].as_array().unwrap();
            let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
            let schema = &tool["inputSchema"];
            assert!(check(schema, schema, &given, "").is_err(), "{call}");
            assert_eq!(check(schema, schema, &parts(mended).1, ""), Ok(()));
        }
    }
}

impl MakesCalls for McpCaller {
    fn make(&mut self, call: &str) -> Option<ToldFailure> {
        let call = self.filled(call);
        let (name, args) = parts(&call);
        // A method has a slash, and a tool has none.
        if name.contains('/') {
            let response = self.session.request(name, args);
            let message = response["error"]["message"].as_str();
            return message.map(ToldFailure::in_text);
        }
        let result = self.session.call(name, args);
        if result["isError"] == true {
            let text = result["content"][0]["text"].as_str().unwrap();
            return Some(ToldFailure::in_text(text));
        }
        self.keep(&result["structuredContent"]);
        None
    }
}

/// The name in a call, and its arguments.
fn parts(call: &str) -> (&str, Value) {
    let (name, args) = call.split_once(' ').unwrap();
    (name, serde_json::from_str(args).unwrap())
}
