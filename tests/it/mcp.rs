//! `mcp`: raw JSON-RPC lines to the real program.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::World;
use crate::schema;
use local_agent_testing::server::{Step, ok_json, serve};

/// What to do if no server answers at a named address.
const START_OR_SEE: &str =
    "start it with `local-agent serve`, or use the address that `local-agent serve status` prints";

/// A time limit that only a hang reaches.
const CAP: Duration = Duration::from_secs(240);

/// One server and its messages.
pub(crate) struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next: i64,
    /// Progress messages received while waiting for something else.
    progress: Vec<Value>,
}

impl Session {
    /// Starts the server and sends nothing.
    fn silent(world: &World, args: &[&str]) -> Self {
        let mut command = world.command();
        command.args(args).arg("mcp");
        Self::of(command)
    }

    fn of(mut command: Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (send, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            stdout
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| send.send(line))
        });
        let stdin = child.stdin.take();
        Self {
            child,
            stdin,
            lines,
            next: 0,
            progress: Vec::new(),
        }
    }

    pub(crate) fn start(world: &World, args: &[&str]) -> Self {
        Self::begun(Self::silent(world, args))
    }

    fn begun(mut session: Self) -> Self {
        let hello = session.request(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "tester", "version": "7"}}),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "local-agent");
        assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        session
    }

    fn raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).and_then(|()| stdin.flush()).unwrap();
    }

    fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    /// The next message; every one must be well-formed.
    fn receive(&mut self) -> Value {
        let line = self
            .lines
            .recv_timeout(CAP)
            .expect("the server says something");
        well_formed(&line)
    }

    /// Sends a request and returns its response.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.response(&json!(id))
    }

    fn response(&mut self, id: &Value) -> Value {
        loop {
            let message = self.receive();
            if message["method"] == "notifications/progress" {
                self.progress.push(message);
            } else if message["id"] == *id {
                return message;
            } else {
                panic!("nobody asked for {message}");
            }
        }
    }

    /// Calls a tool.
    pub(crate) fn call(&mut self, tool: &str, args: Value) -> Value {
        let response = self.request("tools/call", json!({"name": tool, "arguments": args}));
        response
            .get("result")
            .unwrap_or_else(|| panic!("{tool}: {response}"))
            .clone()
    }

    /// Calls a tool that must succeed, and returns its data.
    fn data(&mut self, tool: &str, args: Value) -> Value {
        let result = self.call(tool, args);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        assert!(!result["content"][0]["text"].as_str().unwrap().is_empty());
        result["structuredContent"].clone()
    }

    /// Closes stdin and waits for the end: exit code, the rest of stdout, stderr.
    pub(crate) fn end(mut self) -> (i32, Vec<String>, String) {
        drop(self.stdin.take());
        let output = self.child.wait_with_output().unwrap();
        let rest = self.lines.iter().collect();
        (
            output.status.code().unwrap_or(-1),
            rest,
            String::from_utf8(output.stderr).unwrap(),
        )
    }
}

/// The message of a line, which must be JSON-RPC 2.0 as MCP requires.
fn well_formed(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    let (result, error, method) = (
        message.get("result"),
        message.get("error"),
        message.get("method"),
    );
    assert_eq!(
        [result, error, method].iter().flatten().count(),
        1,
        "{line}"
    );
    if result.is_some() {
        assert!(
            message["id"].is_i64() || message["id"].is_string(),
            "{line}"
        );
    }
    if let Some(error) = error {
        assert!(
            error["code"].is_i64() && error["message"].is_string(),
            "{line}"
        );
    }
    message
}

#[test]
fn every_tool_does_its_job_and_gives_what_its_schema_says() {
    let world = World::embedded();
    let mut session = Session::start(&world, &[]);
    let listed = session.request("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "search",
            "get",
            "multi_get",
            "links",
            "tags",
            "similar",
            "memory_search",
            "ask",
            "verify",
            "status",
            "grep",
            "list_dir",
            "outline",
            "related_files"
        ]
    );
    for tool in listed.as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        let files = ["grep", "list_dir", "outline", "related_files"]
            .contains(&tool["name"].as_str().unwrap());
        assert!(tool["outputSchema"]["type"] == "object" || files, "{tool}");
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        assert_eq!(tool["annotations"]["destructiveHint"], false, "{tool}");
        for (name, field) in tool["inputSchema"]["properties"]
            .as_object()
            .into_iter()
            .flatten()
        {
            assert!(
                field["description"].is_string(),
                "{name} of {} says nothing",
                tool["name"]
            );
        }
    }
    let mut gives = |tool: &str, args: Value| {
        let data = session.data(tool, args);
        let at = names.iter().position(|name| *name == tool).unwrap();
        schema::holds(&listed[at]["outputSchema"], &data);
        data
    };
    let question = "At what temperature does the proofbox hold sourdough?";
    let found = gives("search", json!({"query": question}));
    let hit = &found["hits"][0];
    assert_eq!(found["outcome"], "found");
    let by_key = gives(
        "get",
        json!({"address": format!("#{}", hit["chunk_key"].as_str().unwrap())}),
    );
    assert_eq!(by_key["text"], hit["text"]);
    let by_place = gives(
        "get",
        json!({"address": format!("{}:{}:1:2", hit["source"].as_str().unwrap(), hit["rel_path"].as_str().unwrap())}),
    );
    assert_eq!(by_place["text"].as_str().unwrap().lines().count(), 2);
    assert_eq!(
        gives(
            "multi_get",
            json!({"glob": "**/*.md", "max_bytes": 262_144})
        )["skipped"],
        json!([])
    );
    let asked = gives("ask", json!({"question": question}));
    assert_eq!(asked["outcome"], "answered");
    assert!(asked["answer"].as_str().unwrap().contains("[source: "));
    // Its own answer passes verification, with its own citations and against the evidence of its
    // run.
    let judged = gives(
        "verify",
        json!({"answer": asked["answer"], "run_id": asked["run_id"]}),
    );
    assert_eq!(judged["passed"], true, "{judged}");
    let cited = format!(
        "{} {}",
        hit["text"].as_str().unwrap().lines().last().unwrap(),
        hit["cite"].as_str().unwrap()
    );
    let judged = gives("verify", json!({"answer": cited}));
    assert_eq!(judged["unresolved"], json!([]), "{judged}");
    let wrong = gives(
        "verify",
        json!({"answer": "The proofbox holds sourdough at 99 °C [E1].", "run_id": asked["run_id"]}),
    );
    assert_eq!(
        (&wrong["passed"], &wrong["outcome"]),
        (&json!(false), &json!("rejected"))
    );
    assert_eq!(gives("status", json!({}))["indexed"], true);
    let note = json!({"note": hit["rel_path"]});
    let links = gives("links", note.clone());
    assert!(links["links"].is_array() && links["backlinks"].is_array());
    let alike = gives("similar", note)["similar"].clone();
    assert!(alike.as_array().unwrap().len() > 1, "{alike}");
    let tags = gives("tags", json!({}));
    assert_eq!(tags["count"], tags["tags"].as_array().unwrap().len());
    assert_eq!(
        gives("memory_search", json!({"query": "oven"}))["memories"],
        json!([])
    );
    let nothing = gives("search", json!({"query": "xylophone quokka zeppelin"}));
    assert_eq!(
        (&nothing["outcome"], &nothing["hits"]),
        (&json!("nothing_found"), &json!([]))
    );
    let lines = session.data("grep", json!({"pattern": "proofbox"}));
    assert!(
        lines["text"].as_str().unwrap().contains("proofbox"),
        "{lines}"
    );
    assert_eq!(
        session.call("grep", json!({"patern": "x"}))["_meta"]["local-agent/error"]["error_code"],
        "INVALID_ARGS"
    );
    let (code, rest, stderr) = session.end();
    assert_eq!((code, rest.len(), stderr.as_str()), (0, 0, ""));
}

#[test]
fn tools_for_files_are_those_that_the_configuration_offers() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    let config = world.root().join("more.yaml");
    let names = |session: &mut Session| -> Vec<String> {
        let listed = session.request("tools/list", json!({}))["result"]["tools"].clone();
        listed
            .as_array()
            .unwrap()
            .iter()
            .skip(10)
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    fs::write(
        &config,
        "mcp: {tools: [read_text_file, outline]}\ntools: {grep: deny}\n",
    )
    .unwrap();
    let mut session = Session::start(&world, &["--config", config.to_str().unwrap()]);
    assert_eq!(names(&mut session), ["read_text_file", "outline"]);
    assert!(
        session.data("read_text_file", json!({"path": "a.md"}))["text"]
            .as_str()
            .unwrap()
            .contains("One.")
    );
    assert_eq!(
        session.request("tools/call", json!({"name": "grep", "arguments": {}}))["error"]["code"],
        -32602
    );
    assert_eq!(session.end().0, 0);
    for tools in ["[grep]", "[propose_write]", "[nope]"] {
        fs::write(
            &config,
            format!("mcp: {{tools: {tools}}}\ntools: {{grep: deny}}\n"),
        )
        .unwrap();
        assert_eq!(
            world.code(&["mcp", "--config", config.to_str().unwrap()]),
            "CONFIG_ERROR",
            "{tools}"
        );
    }
}

#[test]
fn a_run_says_who_asked_and_how_far_it_is() {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let mut session = Session::start(&world, &[]);
    let params = json!({"name": "ask", "arguments": {"question": "How many apples does the zebra eat a day?"},
        "_meta": {"progressToken": "p"}});
    let result = session.request("tools/call", params)["result"].clone();
    let run = result["structuredContent"]["run_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let record = world.json(&["runs", "show", &run]);
    assert_eq!(record["record"]["asked_by"], "mcp: tester 7");
    assert!(world.json(&["runs", "verify"])["ok"].as_bool().unwrap());
    let steps: Vec<f64> = session
        .progress
        .iter()
        .map(|p| p["params"]["progress"].as_f64().unwrap())
        .collect();
    assert!(
        steps.len() >= 2 && steps.is_sorted_by(|a, b| a < b),
        "{:?}",
        session.progress
    );
    assert!(
        session
            .progress
            .iter()
            .all(|p| p["params"]["progressToken"] == "p")
    );
    assert_eq!(session.end().0, 0);
}

#[test]
fn failures_are_those_of_the_command_line() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    let mut session = Session::start(&world, &[]);
    let same = |told: Value, envelope: &Value| {
        assert_eq!(told["isError"], true, "{told}");
        assert!(told.get("structuredContent").is_none(), "{told}");
        for field in ["ok", "error_code", "error_message", "hint"] {
            assert_eq!(
                told["_meta"]["local-agent/error"][field], envelope[field],
                "{field}: {told}"
            );
        }
        let text = told["content"][0]["text"].as_str().unwrap();
        assert!(
            text.contains(envelope["error_code"].as_str().unwrap()),
            "{text}"
        );
    };
    same(
        session.call("search", json!({"query": "one"})),
        &world.fails(&["query", "one", "--json"]),
    );
    same(
        session.call("ask", json!({"question": "one?"})),
        &world.fails(&["ask", "one?", "--json"]),
    );
    same(
        session.call("search", json!({"query": "  "})),
        &world.fails(&["query", "  ", "--json"]),
    );
    same(
        session.call("ask", json!({"question": ""})),
        &world.fails(&["ask", "", "--json"]),
    );
    // It notices the index that is made meanwhile.
    world.ok(&["index"]);
    assert_eq!(
        session.data("search", json!({"query": "one"}))["outcome"],
        "found"
    );
    for (tool, args, line) in [
        ("get", json!({"address": "../x.md"}), vec!["get", "../x.md"]),
        (
            "get",
            json!({"address": "missing.md"}),
            vec!["get", "missing.md"],
        ),
        ("get", json!({"address": "a.md:99"}), vec!["get", "a.md:99"]),
        ("get", json!({"address": "#zz"}), vec!["get", "#zz"]),
        ("multi_get", json!({"glob": "[x"}), vec!["multi-get", "[x"]),
        (
            "search",
            json!({"query": "one", "source": ["nope"]}),
            vec!["query", "one", "--source", "nope"],
        ),
        (
            "search",
            json!({"query": "one", "after": "soon"}),
            vec!["query", "one", "--after", "soon"],
        ),
        (
            "ask",
            json!({"question": "one?", "file": "missing.md"}),
            vec!["ask", "one?", "--read", "missing.md"],
        ),
    ] {
        same(
            session.call(tool, args),
            &world.fails(&[line, vec!["--json"]].concat()),
        );
    }
    for (tool, args) in [
        ("search", json!({})),
        ("search", json!({"query": 5})),
        ("search", json!({"query": "one", "limt": 3})),
        ("search", json!({"query": "one", "limit": 0})),
        ("search", json!({"query": "one", "max_bytes": 1})),
        (
            "search",
            json!({"query": "one", "cursor": "9-0000000000000000"}),
        ),
        ("status", json!({"x": 1})),
    ] {
        let told = session.call(tool, args.clone());
        assert_eq!(
            (
                &told["isError"],
                &told["_meta"]["local-agent/error"]["error_code"]
            ),
            (&json!(true), &json!("INVALID_ARGS")),
            "{args}"
        );
    }
    assert_eq!(
        session.call("verify", json!({"answer": "x", "run_id": "nope"}))["_meta"]["local-agent/error"]
            ["error_code"],
        "RUN_NOT_FOUND"
    );
    // Requests for unknown methods or tools get the protocol's own error.
    for (method, params, code) in [
        ("tools/call", json!({"name": "rm", "arguments": {}}), -32602),
        ("tools/call", json!({"name": 7}), -32602),
        (
            "tools/call",
            json!({"name": "search", "arguments": [1]}),
            -32602,
        ),
        ("prompts/get", json!({"name": "nope"}), -32602),
        ("prompts/get", json!({"name": "cite_the_notes"}), -32602),
        ("no/such/method", json!({}), -32601),
    ] {
        assert_eq!(
            session.request(method, params.clone())["error"]["code"],
            code,
            "{method} {params}"
        );
    }
    let told = session.request(
        "prompts/get",
        json!({"name": "cite_the_notes", "arguments": {"question": "How hot?"}}),
    );
    let words = told["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    assert!(
        words.contains("How hot?") && words.contains("[E1]") && words.contains("`verify`"),
        "{words}"
    );
    assert_eq!(session.end().0, 0);
}

/// A note of many sections, each long enough to be a separate chunk.
fn long_note() -> String {
    let section = |n: usize| {
        format!(
            "## Part {n}\n\n{}\n\n",
            format!("The kiln number {n} bakes tiles ä 日本. ").repeat(40)
        )
    };
    (1..12).map(section).collect()
}

#[test]
fn what_is_long_comes_in_pages_that_join_without_a_seam() {
    let long = long_note();
    let world = World::with(&[
        ("long.md", &long),
        ("b.md", "# B\n\nTwo kilns.\n"),
        ("c.md", "# C\n\nThree.\n"),
    ]);
    world.ok(&["index"]);
    let mut session = Session::start(&world, &[]);
    let (mut cursor, mut joined, mut pages, mut line) = (Value::Null, String::new(), 0, 1);
    loop {
        let page = session.data(
            "get",
            json!({"address": "long.md", "max_bytes": 3000, "cursor": cursor}),
        );
        let text = page["text"].as_str().unwrap();
        assert!(text.len() <= 3000 && !text.is_empty());
        assert_eq!(page["first_line"], line);
        line += text.matches('\n').count();
        joined.push_str(text);
        pages += 1;
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert!(joined == long && pages > 5);
    let all = session.data(
        "search",
        json!({"query": "kiln", "limit": 50, "max_bytes": 262_144}),
    );
    let whole: Vec<&Value> = all["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| &hit["chunk_key"])
        .collect();
    assert!(whole.len() > 10 && all["next_cursor"].is_null());
    let (mut cursor, mut keys) = (Value::Null, Vec::new());
    loop {
        let page = session.data(
            "search",
            json!({"query": "kiln", "limit": 4, "max_bytes": 4000, "cursor": cursor}),
        );
        let hits = page["hits"].as_array().unwrap();
        assert!(!hits.is_empty() && hits.len() <= 4);
        assert!(
            hits.iter()
                .map(|hit| hit["text"].as_str().unwrap().len())
                .sum::<usize>()
                <= 4000
        );
        assert_eq!(hits[0]["rank"], keys.len() + 1);
        keys.extend(hits.iter().map(|hit| hit["chunk_key"].clone()));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(keys.iter().collect::<Vec<_>>(), whole);
    // A page mentions only the files of its own hits.
    world.write("b.md", "# B\n\nTwo kilns and a half.\n");
    let place = all["hits"]
        .as_array()
        .unwrap()
        .iter()
        .position(|hit| hit["rel_path"] == "b.md")
        .unwrap();
    let mut cursor = Value::Null;
    for number in 0..keys.len() {
        let page = session.data(
            "search",
            json!({"query": "kiln", "limit": 1, "max_bytes": 4000, "cursor": cursor}),
        );
        assert_eq!(
            page["stale"].to_string().contains("notes:b.md"),
            number == place,
            "{page}"
        );
        cursor = page["next_cursor"].clone();
    }
    let (mut cursor, mut names) = (Value::Null, Vec::new());
    loop {
        let page = session.data(
            "multi_get",
            json!({"glob": "*.md", "max_bytes": 1000, "cursor": cursor}),
        );
        for document in page["documents"].as_array().unwrap() {
            let is_long = document["address"] == "notes:long.md";
            assert_eq!(document["truncated"], is_long, "{document}");
            names.push(document["address"].as_str().unwrap().to_owned());
        }
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(names.iter().collect::<BTreeSet<&String>>().len(), 3);
    // A cursor into results that have changed is refused.
    let cursor =
        session.data("search", json!({"query": "kiln", "limit": 4}))["next_cursor"].clone();
    world.write("d.md", "# D\n\nThe kiln number 99.\n");
    let status = session.data("status", json!({"compare_files": true}));
    assert!(
        status["stale"].to_string().contains("notes:d.md"),
        "{status}"
    );
    world.ok(&["index"]);
    let told = session.call(
        "search",
        json!({"query": "kiln", "limit": 4, "cursor": cursor}),
    );
    assert_eq!(
        told["_meta"]["local-agent/error"]["error_code"], "INVALID_ARGS",
        "{told}"
    );
    assert_eq!(session.end().0, 0);
}

#[test]
fn what_is_no_message_is_answered_and_the_session_goes_on() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    let mut session = Session::silent(&world, &[]);
    // Before the session begins, meaningless messages are ignored.
    session.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}}),
    );
    session.send(&json!({"jsonrpc": "2.0", "id": 4, "result": {}}));
    session.raw(b"\n\r\n   \n");
    assert_eq!(session.request("ping", json!({}))["result"], json!({}));
    assert!(
        session.request("tools/list", json!({}))["error"]["code"].is_i64(),
        "nobody has said hello"
    );
    session.request(
        "initialize",
        json!({"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}),
    );
    for (bytes, code, id) in [
        (&b"this is not JSON"[..], -32700, Value::Null),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 1", -32700, Value::Null),
        (b"\xff\xfe{}", -32700, Value::Null),
        (b"[]", -32600, Value::Null),
        (
            b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
            -32600,
            Value::Null,
        ),
        (b"7", -32600, Value::Null),
        (
            b"{\"id\": \"seven\", \"method\": \"ping\"}",
            -32600,
            json!("seven"),
        ),
        (
            b"{\"jsonrpc\": \"1.0\", \"id\": 8, \"method\": \"ping\"}",
            -32600,
            json!(8),
        ),
    ] {
        session.raw(bytes);
        session.raw(b"\n");
        let answer = session.receive();
        assert_eq!(
            answer["error"]["code"],
            code,
            "{}: {answer}",
            String::from_utf8_lossy(bytes)
        );
        assert_eq!(
            answer["id"],
            id,
            "{}: {answer}",
            String::from_utf8_lossy(bytes)
        );
    }
    let deep = format!("{}{}\n", "[".repeat(5000), "]".repeat(5000));
    session.raw(deep.as_bytes());
    assert_eq!(session.receive()["error"]["code"], -32700);
    // An unfinished line is not stored, and the lines after it are answered.
    for _ in 0..17 {
        session.raw(&vec![b'x'; 1 << 20]);
    }
    assert_eq!(session.receive()["error"]["code"], -32600);
    session.raw(b"xx\n");
    assert_eq!(session.request("ping", json!({}))["result"], json!({}));
    let (code, rest, _) = session.end();
    assert_eq!((code, rest.len()), (0, 0));
}

#[test]
fn the_end_of_the_input_is_the_end_of_the_program_and_nothing_asked_is_lost() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    world.ok(&["index"]);
    assert_eq!(Session::silent(&world, &[]).end().0, 0);
    let mut session = Session::start(&world, &[]);
    for id in 100..120 {
        session.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "search", "arguments": {"query": "one"}}}));
    }
    session.raw(b"{\"jsonrpc\": \"2.0\", \"id\": 7");
    let (code, rest, stderr) = session.end();
    let answered: BTreeSet<i64> = rest
        .iter()
        .map(|line| well_formed(line)["id"].as_i64().unwrap())
        .collect();
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(answered, (100..120).collect());
}

/// A model that sends one word and then nothing for an hour.
pub(crate) fn slow_model() -> local_agent_testing::server::Server {
    serve(|seen| match seen.path.as_str() {
        "/api/tags" => vec![Step::Bytes(ok_json(
            r#"{"models":[{"name":"m:latest","digest":"0123abcd"}]}"#,
        ))],
        "/api/show" => vec![Step::Bytes(ok_json(
            r#"{"model_info":{"llama.context_length":8192}}"#,
        ))],
        _ => {
            let line = json!({"model": "m:latest", "message": {"content": "on "}, "done": false});
            let head = Step::Bytes(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec());
            vec![
                head,
                Step::Bytes(format!("{line}\n").into_bytes()),
                Step::Wait(Duration::from_secs(3600)),
            ]
        }
    })
}

#[test]
fn a_call_that_is_taken_back_ends_and_its_record_says_so() {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let config = world.root().join("llm.yaml");
    fs::write(
        &config,
        "ask: {provider: ollama}\nllm: {model: m, timeout_s: 60}\n",
    )
    .unwrap();
    let server = slow_model();
    let url = server.url("");
    let mut session = Session::start(
        &world,
        &[
            "--config",
            config.to_str().unwrap(),
            "--ollama-base-url",
            &url,
        ],
    );
    session.send(&json!({"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": {"name": "ask",
        "arguments": {"question": "How many apples does the zebra eat a day?"}, "_meta": {"progressToken": 1}}}));
    // The model is being asked.
    loop {
        let step = session.receive();
        if step["params"]["message"]
            .as_str()
            .unwrap()
            .starts_with("m:latest")
            || step["params"]["message"]
                .as_str()
                .unwrap()
                .starts_with("m at")
        {
            break;
        }
    }
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}}));
    // Other calls are served at once, and the cancelled call sends nothing more.
    assert_eq!(
        session.data("search", json!({"query": "zebra"}))["outcome"],
        "found"
    );
    let (code, rest, _) = session.end();
    assert_eq!((code, rest.len()), (0, 0), "{rest:?}");
    let record = world.json(&["runs", "show", "last"]);
    assert_eq!(record["record"]["error_code"], "CANCELLED", "{record}");
}

/// Numbers that look random but are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

#[test]
fn whatever_comes_in_only_protocol_comes_out_and_the_end_is_clean() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    world.ok(&["index"]);
    let good = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
            "capabilities": {}, "clientInfo": {"name": "f", "version": "0"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": {"name": "search", "arguments": {"query": "one"}}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "get", "arguments": {"address": "a.md"}}}),
        json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "verify", "arguments": {"answer": "One [a.md:3]."}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}),
        json!({"jsonrpc": "2.0", "id": 5, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 9, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 9, "error": {"code": 1, "message": "x"}}),
    ];
    for seed in [1, 2, 3] {
        let mut dice = Dice(seed);
        let mut session = Session::silent(&world, &[]);
        let mut sent = 0;
        for _ in 0..400 {
            let mut line = good[dice.roll(good.len())].to_string().into_bytes();
            for _ in 0..dice.roll(4) {
                let at = dice.roll(line.len());
                match dice.roll(5) {
                    0 => line[at] = dice.roll(256) as u8,
                    1 => line.truncate(at.max(1)),
                    2 => line.insert(at, b"{}[]\",:0\\\n"[dice.roll(10)]),
                    3 => drop(line.remove(at)),
                    _ => line.extend_from_within(..at),
                }
                if line.is_empty() {
                    line.push(b' ');
                }
            }
            line.push(b'\n');
            session.raw(&line);
            sent += line.iter().filter(|b| **b == b'\n').count();
        }
        let (code, lines, stderr) = session.end();
        assert_eq!(code, 0, "seed {seed}: {stderr}");
        assert!(!stderr.contains("panicked"), "seed {seed}: {stderr}");
        for line in &lines {
            drop(well_formed(line));
        }
        assert!(
            (50..=sent).contains(&lines.len()),
            "seed {seed}: {} answers to {sent} lines",
            lines.len()
        );
    }
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let world = World::embedded();
    let mut session = Session::start(&world, &[]);
    let queries = [
        "proofbox",
        "order book",
        "backup",
        "sourdough",
        "restore the database",
    ];
    for id in 0..60 {
        let query = queries[id % queries.len()];
        session.send(
            &json!({"jsonrpc": "2.0", "id": 1000 + id, "method": "tools/call",
            "params": {"name": "search", "arguments": {"query": query}}}),
        );
    }
    let mut found = std::collections::BTreeMap::new();
    for _ in 0..60 {
        let answer = session.receive();
        let id = answer["id"].as_u64().unwrap() as usize - 1000;
        let keys: Vec<String> = answer["result"]["structuredContent"]["hits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["chunk_key"].to_string())
            .collect();
        assert_eq!(
            found
                .entry(id % queries.len())
                .or_insert_with(|| keys.clone()),
            &keys
        );
    }
    assert_eq!(session.end().0, 0);
}

#[test]
fn install_edits_one_entry_and_keeps_a_copy() {
    let world = World::with(&[]);
    let printed = world
        .ok(&["mcp", "install", "--client", "vscode", "--print"])
        .stdout;
    let entry: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(
        entry["servers"]["local-agent"]["args"]
            .as_array()
            .unwrap()
            .last()
            .unwrap(),
        "mcp"
    );
    let file = world.home().join(".claude.json");
    let before = "{\n  \"zz\": 1,\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  },\n  \"aa\": [ ]\n}\n";
    fs::write(&file, before).unwrap();
    let body = world.json(&["mcp", "install", "--client", "claude-code"]);
    assert_eq!(body["changed"], true);
    assert_eq!(
        fs::read_to_string(body["backup"].as_str().unwrap()).unwrap(),
        before
    );
    let after = fs::read_to_string(&file).unwrap();
    let (head, tail) = before.split_at(before.find("}\n  },").unwrap() + 1);
    assert!(after.starts_with(head) && after.ends_with(tail), "{after}");
    assert_eq!(
        world.json(&["mcp", "install", "--client", "claude-code"])["changed"],
        false
    );
    // The written entry starts a server.
    let entered: Value = serde_json::from_str(&after).unwrap();
    let server = &entered["mcpServers"]["local-agent"];
    let args = server["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|arg| arg.as_str().unwrap());
    let mut command = Command::new(server["command"].as_str().unwrap());
    let output = command
        .args(args)
        .env_clear()
        .env("HOME", world.home())
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // Clients that have no file yet get one; a file that cannot be parsed is not changed.
    assert_eq!(
        world.json(&["mcp", "install", "--client", "cursor"])["backup"],
        Value::Null
    );
    assert!(world.home().join(".cursor/mcp.json").exists());
    fs::write(&file, "{ // mine\n}\n").unwrap();
    assert_eq!(
        world.code(&["mcp", "install", "--client", "claude-code", "--json"]),
        "CONFIG_ERROR"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ // mine\n}\n");
}

#[test]
fn no_backup_of_a_clients_file_is_ever_replaced() {
    let world = World::with(&[]);
    let folder = world.home().join(".cursor");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("mcp.json");
    fs::write(&file, "{\"precious\":1}").unwrap();
    let cursor = ["--client", "cursor"];
    let mut kept = Vec::new();
    for command in [
        &["mcp", "install"][..],
        &["mcp", "install", "--via-server"],
        &["mcp", "uninstall"],
        &["mcp", "install"],
        &["mcp", "uninstall"],
    ] {
        let before = fs::read_to_string(&file).unwrap();
        let args = match command {
            [first, second, rest @ ..] => [&[*first, *second][..], &cursor, rest].concat(),
            _ => unreachable!(),
        };
        let backup = world.json(&args)["backup"].as_str().unwrap().to_owned();
        kept.push((backup, before));
    }
    for (backup, before) in &kept {
        assert_eq!(&fs::read_to_string(backup).unwrap(), before, "{backup}");
    }
    assert_eq!(kept[0].1, "{\"precious\":1}");
}

#[test]
fn a_question_that_nothing_answers_gets_a_short_reply() {
    let notes: Vec<(String, String)> = (0..8)
        .map(|n| {
            let thing = ["football", "map", "kettle", "clock"][n % 4];
            let long = format!("The {thing} is beside the window of room {n}. ").repeat(60);
            (format!("n{n}.md"), format!("# Room {n}\n\n{long}\n"))
        })
        .collect();
    let notes: Vec<(&str, &str)> = notes
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let world = World::with(&notes);
    world.ok(&["index"]);
    let mut session = Session::start(&world, &[]);
    for question in [
        "Who won the football world cup in 1998?",
        "zzqx wibble frobnicate 77?",
    ] {
        let reply = session.call("ask", json!({"question": question}));
        let outcome = reply["structuredContent"]["outcome"].as_str().unwrap();
        assert!(
            ["closest", "abstained"].contains(&outcome),
            "{question}: {reply}"
        );
        let size = reply.to_string().len();
        assert!(size < 5000, "{question}: {size} bytes: {reply}");
    }
}

#[test]
fn an_argument_that_does_not_fit_is_named_with_advice_for_an_agent() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    world.ok(&["index"]);
    let mut session = Session::start(&world, &[]);
    for (tool, args, names, advice) in [
        (
            "search",
            json!({"query": "a", "limit": -1}),
            "`limit`",
            "schema",
        ),
        (
            "search",
            json!({"query": "a", "after": "yesterday"}),
            "`after`",
            "pass `after`",
        ),
        (
            "search",
            json!({"query": "a", "source": ["x"]}),
            "`x`",
            "call `status`",
        ),
        ("get", json!({"address": "#zzz"}), "`#zzz`", "call `search`"),
    ] {
        let reply = session.call(tool, args);
        let text = reply["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(names) && text.contains(advice), "{text}");
    }
}

#[test]
fn passages_that_are_only_closest_take_little_room() {
    let long = "The zebra rests near the old gate of the northern yard in summer. ".repeat(40);
    let world = World::with(&[
        ("a.md", &format!("# Zebra\n\n{long}\n")),
        ("b.md", &format!("# Gate\n\n{long}\n")),
        ("c.md", &format!("# Yard\n\n{long}\n")),
    ]);
    world.ok(&["index"]);
    let mut session = Session::start(&world, &[]);
    let question = "What colour did the vet paint the door of the zebra?";
    let reply = session.call("ask", json!({"question": question}));
    let text = reply["content"][0]["text"].as_str().unwrap();
    assert_eq!(reply["structuredContent"]["outcome"], "closest", "{reply}");
    assert!(text.len() < 1600, "{} bytes: {text}", text.len());
    let answer = reply["structuredContent"]["answer"].as_str().unwrap();
    assert!(answer.len() < 620, "{answer}");
}

#[test]
fn what_an_agent_reads_first_is_short() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    let mut session = Session::start(&world, &[]);
    let listed = session.request("tools/list", json!({}))["result"]["tools"].clone();
    let sizes: Vec<(String, usize)> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| (tool["name"].to_string(), tool.to_string().len()))
        .collect();
    // Four bytes are about one token.
    let tokens = listed.to_string().len() / 4;
    assert!(tokens <= 2500, "{tokens} tokens: {sizes:?}");
    let text = listed.to_string();
    for word in ["\"format\"", "$schema"] {
        assert!(!text.contains(word), "{word}");
    }
    for tool in listed.as_array().unwrap() {
        let input = tool["inputSchema"].to_string();
        assert!(
            !input.contains("anyOf") && !input.contains("null"),
            "{input}"
        );
    }
    assert_eq!(session.end().0, 0);
}

#[test]
fn an_agent_is_told_what_was_searched_in_place_of_a_word() {
    let world = World::with(&[("oven.md", "# Oven\n\nThe oven is made of granite.\n")]);
    world.ok(&["index"]);
    let mut session = Session::start(&world, &[]);
    let told = session.call("search", json!({"query": "grannite"}));
    let said = "no note holds the word `grannite`; searched for `granite`";
    assert_eq!(told["structuredContent"]["unknown_words"], json!([said]));
    let text = told["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(said), "{text}");
    let told = session.call("search", json!({"query": "granite"}));
    assert_eq!(told["structuredContent"]["unknown_words"], json!([]));
    assert_eq!(session.end().0, 0);
}

#[test]
fn arguments_that_can_mean_only_one_thing_are_taken() {
    let world = World::with(&[
        ("a.md", "---\ntags: [tea]\n---\n# A\n\nOne kettle.\n"),
        ("b.md", "# B\n\nTwo kettles.\n"),
    ]);
    world.ok(&["index"]);
    let mut session = Session::start(&world, &[]);
    let found = session.data(
        "search",
        json!({"query": "kettle", "limit": "1", "tag": "tea", "path": null}),
    );
    assert_eq!(found["hits"][0]["rel_path"], "a.md", "{found}");
    session.data("status", json!({"compare_files": "true"}));
    session.data("grep", json!({"pattern": "kettle", "context": "1"}));
    for (tool, args) in [
        ("search", json!({})),
        ("search", json!({"query": ["kettle"]})),
        ("search", json!({"query": "kettle", "limit": "many"})),
        ("search", json!({"query": "kettle", "tag": {"a": 1}})),
        ("search", json!({"query": "kettle", "sourc": "notes"})),
        ("status", json!({"x": 1})),
        ("status", json!({"compare_files": 1})),
        ("grep", json!({"pattern": "kettle", "context": "some"})),
        ("get", json!({"address": "kettel.md"})),
        ("verify", json!({"answer": "x", "run_id": "nope"})),
    ] {
        let told = session.call(tool, args.clone());
        assert_eq!(told["isError"], true, "{args}");
        let text = told["content"][0]["text"].as_str().unwrap();
        assert!(!text.contains("fix: local-agent"), "{text}");
    }
    let told = session.call("search", json!({"query": "kettle", "limit": "many"}));
    insta::assert_snapshot!(told["content"][0]["text"].as_str().unwrap(), @r"
    error[INVALID_ARGS]: `limit` must be a whole number from 0 on
    fix: change the argument that the message names; the tool's input schema describes all of them
    ");
    let told = session.call("verify", json!({"answer": "x", "run_id": "nope"}));
    insta::assert_snapshot!(world.stable(told["content"][0]["text"].as_str().unwrap()), @r"
    error[RUN_NOT_FOUND]: there is no run called `nope` in <vault>/.local-agent/runs
    fix: call `ask`, and verify with the `run_id` that it gives
    ");
    // If nothing is answered, no evidence is returned.
    let asked = session.call(
        "ask",
        json!({"question": "Which quokka flies the zeppelin?"}),
    );
    assert_eq!(
        asked["structuredContent"]["outcome"], "abstained",
        "{asked}"
    );
    assert!(asked.to_string().len() < 1500, "{asked}");
    assert_eq!(session.end().0, 0);
}

#[test]
fn what_is_remembered_is_found_and_what_rests_on_a_private_note_is_not() {
    let world = World::with(&[
        ("open.md", "# Open\n\nThe kiln is repaired by Leyla.\n"),
        (
            "own.md",
            "---\nprivate: true\n---\n# Own\n\nThe kiln costs 900 euros.\n",
        ),
    ]);
    world.ok(&["index"]);
    let key = |path: &str| {
        let found = world.json(&["query", "kiln", "--path", path]);
        found["hits"][0]["chunk_key"].as_str().unwrap().to_owned()
    };
    let add = [
        "memory",
        "add",
        "--type",
        "user_fact",
        "--source",
        "derived_from_evidence",
    ];
    world.ok(&[
        &add[..],
        &[
            "--content",
            "Leyla knows the kiln",
            "--chunk-key",
            &key("open.md"),
        ],
    ]
    .concat());
    world.ok(&[
        &add[..],
        &[
            "--content",
            "The kiln was dear",
            "--chunk-key",
            &key("own.md"),
        ],
    ]
    .concat());
    world.ok(&[
        "memory",
        "add",
        "--type",
        "preference",
        "--source",
        "manual",
        "--content",
        "Say kiln, not oven",
    ]);
    let mut session = Session::start(&world, &[]);
    let contents = |found: &Value| -> BTreeSet<String> {
        let memories = found["memories"].as_array().unwrap().iter();
        memories
            .map(|one| one["content"].as_str().unwrap().to_owned())
            .collect()
    };
    let seen = contents(&session.data("memory_search", json!({"query": "kiln"})));
    assert_eq!(
        seen,
        ["Leyla knows the kiln", "Say kiln, not oven"]
            .map(str::to_owned)
            .into()
    );
    let asked = session.call("ask", json!({"question": "What about the kiln?"}));
    assert!(!asked.to_string().contains("dear"), "{asked}");
    assert_eq!(session.end().0, 0);
    let config = world.root().join("all.yaml");
    fs::write(&config, "mcp: {private_notes: true}\n").unwrap();
    let mut session = Session::start(&world, &["--config", config.to_str().unwrap()]);
    let seen = contents(&session.data("memory_search", json!({"query": "kiln"})));
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert_eq!(session.end().0, 0);
}

#[test]
fn notes_are_resources_and_a_change_of_one_is_told() {
    let world = World::with(&[
        ("a b/Ä ö.md", "# A\n\nOne.\n"),
        ("c.md", "# C\n\nThree.\n"),
        ("own.md", "---\nprivate: true\n---\n# Own\n\nSecret.\n"),
    ]);
    world.ok(&["index"]);
    let mut session = Session::start(&world, &[]);
    let listed = session.request("resources/list", json!({}))["result"].clone();
    let uris: Vec<&str> = listed["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["uri"].as_str().unwrap())
        .collect();
    assert_eq!(
        uris,
        ["note://notes/a%20b/%C3%84%20%C3%B6.md", "note://notes/c.md"]
    );
    let templates = session.request("resources/templates/list", json!({}));
    assert_eq!(
        templates["result"]["resourceTemplates"][0]["uriTemplate"],
        "note://{source}/{+path}"
    );
    for (uri, text) in [
        (uris[0], "# A\n\nOne.\n"),
        ("note://NOTES/a b/Ä%20ö.md", "# A\n\nOne.\n"),
        (uris[1], "# C\n\nThree.\n"),
    ] {
        let read = session.request("resources/read", json!({"uri": uri}))["result"].clone();
        assert_eq!(read["contents"][0]["text"], text, "{uri}: {read}");
        assert_eq!(read["contents"][0]["uri"], uri);
        assert_eq!(read["contents"][0]["mimeType"], "text/markdown");
    }
    for (uri, code, name) in [
        ("note://notes/own.md", -32002, "FILE_NOT_FOUND"),
        ("note://notes/gone.md", -32002, "FILE_NOT_FOUND"),
        ("note://notes/../../etc/passwd", -32602, "INVALID_ARGS"),
        ("note://notes/%2e%2e/x.md", -32602, "INVALID_ARGS"),
        ("note://elsewhere/c.md", -32002, "PATH_DENIED"),
        ("file:///etc/passwd", -32602, "INVALID_ARGS"),
    ] {
        for method in ["resources/read", "resources/subscribe"] {
            let error = session.request(method, json!({"uri": uri}))["error"].clone();
            assert_eq!(error["code"], code, "{method} {uri}: {error}");
            assert_eq!(error["data"]["error_code"], name, "{method} {uri}: {error}");
        }
    }
    let uri = json!({"uri": "note://notes/c.md"});
    assert_eq!(
        session.request("resources/subscribe", uri.clone())["result"],
        json!({})
    );
    world.write("a b/Ä ö.md", "# A\n\nNobody asked.\n");
    world.write("c.md", "# C\n\nThree and a half.\n");
    let told = session.receive();
    assert_eq!(told["method"], "notifications/resources/updated", "{told}");
    assert_eq!(told["params"], uri);
    fs::remove_file(world.vault().join("c.md")).unwrap();
    assert_eq!(session.receive()["params"], uri, "it is gone");
    assert_eq!(
        session.request("resources/unsubscribe", uri)["result"],
        json!({})
    );
    let (code, rest, stderr) = session.end();
    assert_eq!((code, rest.len(), stderr.as_str()), (0, 0, ""));
    let log = world.json(&["tool", "log"]);
    let entered = |name: &str| {
        let calls = log["calls"].as_array().unwrap().iter();
        calls.filter(|call| call["tool"]["name"] == name).count()
    };
    assert_eq!(
        ["resources/list", "resources/read", "resources/subscribe"].map(entered),
        [1, 9, 7]
    );
    // If agents must not read whole notes, notes are not resources.
    let config = world.root().join("few.yaml");
    fs::write(&config, "mcp: {operations: [search]}\n").unwrap();
    let mut session = Session::start(&world, &["--config", config.to_str().unwrap()]);
    for method in [
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "resources/subscribe",
    ] {
        let refused = session.request(method, json!({"uri": "note://notes/a b/Ä ö.md"}));
        assert_eq!(refused["error"]["code"], -32601, "{method}: {refused}");
    }
    assert_eq!(session.end().0, 0);
}

#[test]
fn many_notes_are_listed_in_pages() {
    let world = World::with(&[]);
    for n in 0..1234 {
        world.write(&format!("n{n:04}.md"), "# N\n");
    }
    let mut session = Session::start(&world, &[]);
    let (mut cursor, mut uris) = (Value::Null, Vec::new());
    loop {
        let page = session.request("resources/list", json!({"cursor": cursor}))["result"].clone();
        let resources = page["resources"].as_array().unwrap();
        uris.extend(resources.iter().map(|one| one["uri"].to_string()));
        cursor = page.get("nextCursor").cloned().unwrap_or_default();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!((uris.len(), uris.is_sorted()), (1234, true));
    let refused = session.request("resources/list", json!({"cursor": "7-x"}));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(session.end().0, 0);
}

#[test]
fn a_client_that_waits_is_told_how_much_a_model_has_written() {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let config = world.root().join("llm.yaml");
    fs::write(
        &config,
        "ask: {provider: ollama}\nllm: {model: m, timeout_s: 60}\n",
    )
    .unwrap();
    let server = slow_model();
    let url = server.url("");
    let args = [
        "--config",
        config.to_str().unwrap(),
        "--ollama-base-url",
        &url,
    ];
    let mut session = Session::start(&world, &args);
    session.send(&json!({"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": {"name": "ask",
        "arguments": {"question": "How many apples does the zebra eat a day?"}, "_meta": {"progressToken": 1}}}));
    let mut sizes = Vec::new();
    while sizes.len() < 2 {
        let step = session.receive();
        assert_eq!(step["method"], "notifications/progress", "{step}");
        let message = step["params"]["message"].as_str().unwrap().to_owned();
        if message.contains("so far") {
            sizes.push(message);
        }
    }
    assert_eq!(sizes[1], "the model has written 3 characters so far");
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}}));
    assert_eq!(session.end().0, 0);
}

/// A running `serve` and its address.
struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    fn start(world: &World, args: &[&str]) -> Self {
        let mut command = world.command();
        command
            .args(args)
            .args(["serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut url)
            .unwrap();
        Self {
            child,
            url: url.trim().to_owned(),
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn via(world: &World, args: &[&str], url: &str) -> Session {
    let mut command = world.command();
    command.args(args).args(["mcp", "--via-server", url]);
    Session::of(command)
}

#[test]
fn many_agents_share_one_running_server() {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let server = Serving::start(&world, &[]);
    let mut one = Session::begun(via(&world, &[], &server.url));
    let mut other = Session::begun(via(&world, &[], &server.url));
    let own = Session::start(&world, &[]).request("tools/list", json!({}))["result"].clone();
    for session in [&mut one, &mut other] {
        assert_eq!(session.request("tools/list", json!({}))["result"], own);
        let found = session.data("search", json!({"query": "zebra"}));
        assert_eq!(found["hits"][0]["rel_path"], "zoo.md");
        let told = session.call("get", json!({"address": "../x.md"}));
        assert_eq!(
            told["_meta"]["local-agent/error"]["error_code"],
            "PATH_DENIED"
        );
        let read = session.request("resources/read", json!({"uri": "note://notes/zoo.md"}));
        assert!(
            read["result"]["contents"][0]["text"]
                .as_str()
                .unwrap()
                .contains("zebra")
        );
        assert_eq!(
            session.request("no/such/method", json!({}))["error"]["code"],
            -32601
        );
    }
    // The record contains the client's name, and steps are passed on.
    let question = "How many apples does the zebra eat a day?";
    let params = json!({"name": "ask", "arguments": {"question": question}, "_meta": {"progressToken": "p"}});
    let asked = one.request("tools/call", params)["result"].clone();
    let run = asked["structuredContent"]["run_id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(one.progress.len() >= 2, "{:?}", one.progress);
    let record = world.json(&["runs", "show", &run]);
    assert_eq!(record["record"]["asked_by"], "serve: tester 7");
    one.raw(b"this is not JSON\n");
    assert_eq!(one.receive()["error"]["code"], -32700);
    // After the server has ended, a call reports this with advice.
    drop(server);
    let told = other.call("search", json!({"query": "zebra"}));
    assert_eq!(
        told["_meta"]["local-agent/error"]["error_code"], "SERVER_UNREACHABLE",
        "{told}"
    );
    assert_eq!(told["_meta"]["local-agent/error"]["hint"], START_OR_SEE);
    assert!(
        other.request("tools/list", json!({}))["error"]["message"]
            .as_str()
            .unwrap()
            .contains("SERVER_UNREACHABLE")
    );
    for session in [one, other] {
        let (code, rest, _) = session.end();
        assert_eq!((code, rest.len()), (0, 0), "{rest:?}");
    }
}

#[test]
fn a_call_at_a_server_is_taken_back_there() {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let config = world.root().join("llm.yaml");
    fs::write(
        &config,
        "ask: {provider: ollama}\nllm: {model: m, timeout_s: 60}\n",
    )
    .unwrap();
    let model = slow_model();
    let url = model.url("");
    let args = [
        "--config",
        config.to_str().unwrap(),
        "--ollama-base-url",
        &url,
    ];
    let server = Serving::start(&world, &args);
    let mut session = Session::begun(via(&world, &[], &server.url));
    session.send(&json!({"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": {"name": "ask",
        "arguments": {"question": "How many apples does the zebra eat a day?"}, "_meta": {"progressToken": 1}}}));
    loop {
        let step = session.receive();
        if step["params"]["message"].as_str().unwrap().contains(" at ") {
            break;
        }
    }
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}}));
    // The client says nothing more, and stays.
    let give_up = std::time::Instant::now() + CAP;
    loop {
        let record = world.run(&["runs", "show", "last", "--json"]).stdout;
        if record.contains("\"CANCELLED\"") {
            break;
        }
        assert!(std::time::Instant::now() < give_up, "{record}");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(
        session.data("search", json!({"query": "zebra"}))["outcome"],
        "found"
    );
    assert_eq!(session.end().0, 0);
}

#[test]
fn without_a_server_the_failure_says_how_to_get_one() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    assert_eq!(
        world.code(&["mcp", "--via-server", "http://10.0.0.1:8377"]),
        "INVALID_ARGS"
    );
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let envelope = world.fails(&["mcp", "--via-server", &closed, "--json"]);
    assert_eq!(
        envelope["error_code"], "SERVER_UNAUTHORIZED",
        "no token was made yet: {envelope}"
    );
    assert_eq!(envelope["hint"], "local-agent serve token");
    world.ok(&["serve", "token"]);
    let envelope = world.fails(&["mcp", "--via-server", &closed, "--json"]);
    assert_eq!(
        (&envelope["error_code"], &envelope["hint"]),
        (&json!("SERVER_UNREACHABLE"), &json!(START_OR_SEE))
    );
    let server = Serving::start(&world, &[]);
    let wrong = [("LOCAL_AGENT_SERVER_TOKEN", "00")];
    let refused = world.run_with(&wrong, &["mcp", "--via-server", &server.url, "--json"]);
    assert_eq!(refused.json()["error_code"], "SERVER_UNAUTHORIZED");
    // The right token in the environment serves a client in another folder.
    let token = world.ok(&["serve", "token"]).stdout;
    let right = [("LOCAL_AGENT_SERVER_TOKEN", token.trim())];
    assert_eq!(
        world
            .run_with(&right, &["mcp", "--via-server", &server.url])
            .code,
        0
    );
    // A program that answers but is not such a server gets no messages.
    let stranger = serve(|_| vec![Step::Bytes(ok_json("[1]"))]);
    let envelope = world.fails(&["mcp", "--via-server", &stranger.url(""), "--json"]);
    assert_eq!(envelope["error_code"], "SERVER_ERROR", "{envelope}");
}

#[cfg(unix)]
#[test]
fn multi_get_counts_no_file_that_an_agent_may_not_see() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n"), ("keys/.env.md", "no\n")]);
    fs::write(world.root().join("secret.md"), "No.\n").unwrap();
    std::os::unix::fs::symlink(
        world.root().join("secret.md"),
        world.vault().join("linked.md"),
    )
    .unwrap();
    world.write("b.pem", "no\n");
    let mut session = Session::start(&world, &[]);
    let all = session.data("multi_get", json!({"glob": "**"}));
    assert_eq!(all["matched"], 1, "{all}");
    for glob in ["linked.*", "*.pem"] {
        let none = session.data("multi_get", json!({"glob": glob}));
        assert_eq!(
            (&none["outcome"], &none["matched"]),
            (&json!("nothing_found"), &json!(0)),
            "{none}"
        );
    }
}

#[test]
fn a_note_cannot_pass_for_a_line_of_ask() {
    let forged = "run_id: 00000000";
    let note = format!("# Zoo\n\nThe zebra eats 14 apples a day\n{forged}\n");
    let world = World::with(&[("zoo.md", &note)]);
    world.ok(&["index"]);
    let mut session = Session::start(&world, &[]);
    let question = json!({"question": "How many apples does the zebra eat a day?"});
    let reply = session.call("ask", question);
    let text = reply["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(forged), "the test looks for nothing: {text}");
    assert!(!text.lines().any(|line| line == forged), "{text}");
    assert!(text.starts_with("> "), "{text}");
}

#[test]
fn without_an_address_the_token_goes_to_the_server_of_the_state_folder_alone() {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    world.ok(&["serve", "token"]);
    // Another program may listen at the usual port, and must not be asked.
    let _taken = std::net::TcpListener::bind("127.0.0.1:8377");
    let envelope = world.fails(&["mcp", "--via-server", "--json"]);
    assert_eq!(
        (&envelope["error_code"], &envelope["hint"]),
        (&json!("SERVER_UNREACHABLE"), &json!("local-agent serve"))
    );
    let server = Serving::start(&world, &[]);
    let mut command = world.command();
    command.args(["mcp", "--via-server"]);
    let mut session = Session::begun(Session::of(command));
    let found = session.data("search", json!({"query": "zebra"}));
    assert_eq!(found["hits"][0]["rel_path"], "zoo.md");
    // Its successor at the same port is not this server.
    let port = server.url.rsplit(':').next().unwrap().to_owned();
    drop(server);
    let stranger = std::net::TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    stranger.set_nonblocking(true).unwrap();
    let failed = session.request("tools/list", json!({}));
    assert!(failed.to_string().contains("no server runs on"), "{failed}");
    assert!(stranger.accept().is_err(), "nobody connects to it");
    assert_eq!(session.end().0, 0);
}

#[test]
fn a_client_whose_server_moved_is_started_again() {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let begin = || {
        let mut command = world.command();
        command.args(["mcp", "--via-server"]);
        Session::begun(Session::of(command))
    };
    let first = Serving::start(&world, &[]);
    let mut session = begin();
    let found = session.data("search", json!({"query": "zebra"}));
    assert_eq!(found["hits"][0]["rel_path"], "zoo.md");
    let port = first.url.rsplit(':').next().unwrap().to_owned();
    drop(first);
    // The port stays taken, so the next server gets another one.
    let _taken = std::net::TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    let _second = Serving::start(&world, &[]);
    let failed = session.request("tools/list", json!({})).to_string();
    for part in ["no longer at", "start the client again"] {
        assert!(failed.contains(part), "{failed}");
    }
    assert_eq!(session.end().0, 0);
    let found = begin().data("search", json!({"query": "zebra"}));
    assert_eq!(found["hits"][0]["rel_path"], "zoo.md");
}

#[test]
fn a_refusal_of_a_server_is_told_in_its_own_words() {
    let world = World::with(&[]);
    world.ok(&["serve", "token"]);
    let body = json!({"ok": false, "error_message": "the Host header names another server"});
    let answer = format!(
        "HTTP/1.1 403 X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.to_string().len()
    );
    let server = serve(move |_| vec![Step::Bytes(answer.clone().into_bytes())]);
    let envelope = world.fails(&["mcp", "--via-server", &server.url(""), "--json"]);
    assert_eq!(envelope["error_code"], "SERVER_UNAUTHORIZED");
    let said = envelope["error_message"].as_str().unwrap();
    assert!(
        said.ends_with("refuses access: the Host header names another server."),
        "{said}"
    );
}

#[test]
fn the_fix_of_a_named_file_names_that_file() {
    let world = World::with(&[]);
    let file = world.root().join("a project").join("mcp.json");
    let named = ["--client", "cursor", "--file", file.to_str().unwrap()];
    let status = |args: &[&str]| world.json(&[&["mcp", "status"][..], args].concat());
    let told = status(&named)["clients"][0].clone();
    let wanted = format!(
        "local-agent mcp install --client cursor --file '{}'",
        file.display()
    );
    assert_eq!(
        (&told["state"], &told["fix"]),
        (&json!("no_file"), &json!(wanted))
    );
    let text = world.ok(&[&["mcp", "status"][..], &named].concat()).stdout;
    assert!(text.contains(&format!("fix: {wanted}")), "{text}");
    world.ok(&[&["mcp", "install"][..], &named].concat());
    assert_eq!(status(&named)["clients"][0]["state"], "current");
    let text = world.ok(&[&["mcp", "status"][..], &named].concat()).stdout;
    assert!(!text.contains("fix:"), "{text}");
}

#[test]
fn the_skill_is_written_once_and_never_over_a_persons_words() {
    let world = World::with(&[]);
    let shown = world.ok(&["skill", "show"]).stdout;
    assert!(
        shown.starts_with("---\nname: local-agent\ndescription: "),
        "{shown}"
    );
    let written = world.json(&["skill", "install"]);
    let file = written["file"].as_str().unwrap().to_owned();
    assert_eq!(
        Path::new(&file),
        world.home().join(".claude/skills/local-agent/SKILL.md")
    );
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with(&shown));
    assert_eq!(world.json(&["skill", "install"])["changed"], false);
    fs::write(&file, text.replace("four steps", "five steps")).unwrap();
    let envelope = world.fails(&["skill", "install", "--json"]);
    assert_eq!(envelope["error_code"], "CONFIG_ERROR");
    assert!(fs::read_to_string(&file).unwrap().contains("five steps"));
    let forced = world.json(&["skill", "install", "--force"]);
    assert!(
        fs::read_to_string(forced["backup"].as_str().unwrap())
            .unwrap()
            .contains("five steps")
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    let project = world.root().join("project");
    let written = world.json(&["skill", "install", "--dir", project.to_str().unwrap()]);
    assert!(Path::new(written["file"].as_str().unwrap()).starts_with(&project));
}

const CLIENTS: [&str; 12] = [
    "claude-code",
    "claude-desktop",
    "cursor",
    "vscode",
    "codex",
    "gemini",
    "zed",
    "windsurf",
    "opencode",
    "goose",
    "lm-studio",
    "jetbrains",
];

/// The file of each client, below the home folder on Linux.
fn client_files(world: &World) -> Vec<(String, String)> {
    let status = world.json(&["mcp", "status"]);
    let home = world.home().to_str().unwrap().to_owned();
    let clients = status["clients"].as_array().unwrap().iter();
    clients
        .map(|one| {
            let file = one["file"].as_str().unwrap();
            let below = file.strip_prefix(&home).unwrap_or(file).to_owned();
            (one["client"].as_str().unwrap().to_owned(), below)
        })
        .collect()
}

#[test]
fn every_client_is_entered_seen_and_removed_again() {
    let world = World::with(&[]);
    let files = client_files(&world);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, CLIENTS);
    #[cfg(target_os = "linux")]
    insta::assert_snapshot!(files.iter().map(|(name, file)| format!("{name}: {file}")).collect::<Vec<_>>().join("\n"), @r"
    claude-code: /.claude.json
    claude-desktop: /.config/Claude/claude_desktop_config.json
    cursor: /.cursor/mcp.json
    vscode: /.config/Code/User/mcp.json
    codex: /.codex/config.toml
    gemini: /.gemini/settings.json
    zed: /.config/zed/settings.json
    windsurf: /.codeium/windsurf/mcp_config.json
    opencode: /.config/opencode/opencode.json
    goose: /.config/goose/config.yaml
    lm-studio: /.lmstudio/mcp.json
    jetbrains: /.junie/mcp/mcp.json
    ");
    let state = |client: &str| {
        let one = world.json(&["mcp", "status", "--client", client])["clients"][0].clone();
        (one["state"].as_str().unwrap().to_owned(), one)
    };
    for client in CLIENTS {
        assert_eq!(state(client).0, "no_file", "{client}");
        let entered = world.json(&["mcp", "install", "--client", client]);
        assert_eq!(entered["changed"], true, "{client}");
        let file = entered["file"].as_str().unwrap().to_owned();
        let first = fs::read_to_string(&file).unwrap();
        assert!(first.contains(env!("CARGO_BIN_EXE_local-agent")), "{first}");
        assert_eq!(state(client).0, "current", "{client}");
        let again = world.json(&["mcp", "install", "--client", client]);
        assert_eq!(again["changed"], false, "{client}");
        // The program has been moved since then.
        fs::write(
            &file,
            first
                .replace("local-agent\"", "elsewhere\"")
                .replace("elsewhere\":", "local-agent\":"),
        )
        .unwrap();
        let (now, told) = state(client);
        assert_eq!(now, "stale", "{client}: {told}");
        let fix: Vec<&str> = told["fix"].as_str().unwrap().split(' ').skip(1).collect();
        world.ok(&fix);
        assert_eq!(fs::read_to_string(&file).unwrap(), first, "{client}");
        // A running server instead.
        world.ok(&["mcp", "install", "--client", client, "--via-server"]);
        assert_eq!(state(client).0, "current", "{client}");
        let entered = fs::read_to_string(&file).unwrap();
        assert!(entered.contains("--via-server"), "{entered}");
        assert!(!entered.contains("8377"), "{entered}");
        let removed = world.json(&["mcp", "uninstall", "--client", client]);
        assert_eq!(removed["changed"], true, "{client}");
        assert_eq!(state(client).0, "absent", "{client}");
        let nothing = world.json(&["mcp", "uninstall", "--client", client]);
        assert_eq!(nothing["changed"], false, "{client}");
    }
}

#[test]
fn an_address_is_entered_without_the_token_or_not_at_all() {
    let world = World::with(&[]);
    let url = "http://127.0.0.1:8377";
    let shown: Vec<String> = CLIENTS
        .iter()
        .map(|client| {
            let install = ["mcp", "install", "--client", client, "--http", url];
            let failed = world.run(&[&install[..], &["--print"]].concat());
            if failed.code == 0 {
                world.ok(&install);
                let status = world.json(&["mcp", "status", "--client", client]);
                assert_eq!(status["clients"][0]["state"], "current", "{status}");
                assert_eq!(status["clients"][0]["url"], "http://127.0.0.1:8377/mcp");
                return format!("== {client}\n{}", failed.stdout);
            }
            let envelope = world.fails(&[&install[..], &["--json"]].concat());
            assert_eq!(envelope["error_code"], "CONFIG_ERROR");
            let fix: Vec<&str> = envelope["hint"]
                .as_str()
                .unwrap()
                .split(' ')
                .skip(1)
                .collect();
            world.ok(&fix);
            format!(
                "== {client}: {}",
                envelope["error_message"].as_str().unwrap()
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    == claude-code
    {
      "mcpServers": {
        "local-agent": {
          "headers": {
            "Authorization": "Bearer ${LOCAL_AGENT_SERVER_TOKEN}"
          },
          "type": "http",
          "url": "http://127.0.0.1:8377/mcp"
        }
      }
    }

    == claude-desktop: claude-desktop cannot take the token of a server from its environment
    == cursor
    {
      "mcpServers": {
        "local-agent": {
          "headers": {
            "Authorization": "Bearer ${env:LOCAL_AGENT_SERVER_TOKEN}"
          },
          "url": "http://127.0.0.1:8377/mcp"
        }
      }
    }

    == vscode
    {
      "servers": {
        "local-agent": {
          "headers": {
            "Authorization": "Bearer ${env:LOCAL_AGENT_SERVER_TOKEN}"
          },
          "type": "http",
          "url": "http://127.0.0.1:8377/mcp"
        }
      }
    }

    == codex
    [mcp_servers.local-agent]
    bearer_token_env_var = "LOCAL_AGENT_SERVER_TOKEN"
    url = "http://127.0.0.1:8377/mcp"

    == gemini
    {
      "mcpServers": {
        "local-agent": {
          "headers": {
            "Authorization": "Bearer ${LOCAL_AGENT_SERVER_TOKEN}"
          },
          "httpUrl": "http://127.0.0.1:8377/mcp"
        }
      }
    }

    == zed: zed cannot take the token of a server from its environment
    == windsurf
    {
      "mcpServers": {
        "local-agent": {
          "headers": {
            "Authorization": "Bearer ${env:LOCAL_AGENT_SERVER_TOKEN}"
          },
          "serverUrl": "http://127.0.0.1:8377/mcp"
        }
      }
    }

    == opencode
    {
      "mcp": {
        "local-agent": {
          "enabled": true,
          "headers": {
            "Authorization": "Bearer {env:LOCAL_AGENT_SERVER_TOKEN}"
          },
          "type": "remote",
          "url": "http://127.0.0.1:8377/mcp"
        }
      }
    }

    == goose
    extensions:
      local-agent:
        enabled: true
        env_keys: ["LOCAL_AGENT_SERVER_TOKEN"]
        envs: {}
        headers:
          Authorization: "Bearer ${LOCAL_AGENT_SERVER_TOKEN}"
        name: "local-agent"
        timeout: 300
        type: "streamable_http"
        uri: "http://127.0.0.1:8377/mcp"

    == lm-studio: lm-studio cannot take the token of a server from its environment
    == jetbrains: jetbrains cannot take the token of a server from its environment
    "#);
    for bad in ["http://notes.example:8377", "8377", "http://10.0.0.2"] {
        for option in ["--http", "--via-server"] {
            let code = world.code(&["mcp", "install", "--client", "cursor", option, bad]);
            assert_eq!(code, "INVALID_ARGS", "{option} {bad}");
        }
    }
}

#[test]
fn a_file_of_a_person_is_changed_in_one_place_and_put_back() {
    let world = World::with(&[]);
    for (client, below, before) in [
        (
            "zed",
            ".config/zed/settings.json",
            "// mine\n{\n  \"theme\": \"One\", // dark\n  \"context_servers\": {\n    \"x\": {\"command\": \"y\"},\n  },\n}\n",
        ),
        (
            "codex",
            ".codex/config.toml",
            "model = \"o4\"   # of today\n\n[mcp_servers.x]\ncommand = 'y'\n\n[profiles.p]\nn = 1\n",
        ),
        (
            "goose",
            ".config/goose/config.yaml",
            "GOOSE_MODEL: m # of today\nextensions:\n  developer:\n    enabled: true\n",
        ),
    ] {
        let file = world.home().join(below);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        // The file has other settings and is a link.
        let kept = world.root().join(client);
        fs::write(&kept, before).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&kept, &file).unwrap();
        #[cfg(not(unix))]
        fs::copy(&kept, &file).unwrap();
        let entered = world.json(&[
            "mcp",
            "install",
            "--client",
            client,
            "--file",
            file.to_str().unwrap(),
        ]);
        let after = fs::read_to_string(&file).unwrap();
        assert!(
            before
                .lines()
                .all(|line| after.lines().any(|new| new == line)),
            "{after}"
        );
        assert_eq!(
            fs::read_to_string(entered["backup"].as_str().unwrap()).unwrap(),
            before
        );
        #[cfg(unix)]
        assert_eq!(
            fs::read_to_string(&kept).unwrap(),
            after,
            "the link was followed"
        );
        world.ok(&[
            "mcp",
            "uninstall",
            "--client",
            client,
            "--file",
            file.to_str().unwrap(),
        ]);
        assert_eq!(fs::read_to_string(&file).unwrap(), before, "{client}");
        fs::write(&file, "{[ no").unwrap();
        for command in ["install", "uninstall"] {
            let named = [
                "mcp",
                command,
                "--client",
                client,
                "--file",
                file.to_str().unwrap(),
            ];
            assert_eq!(world.code(&named), "CONFIG_ERROR", "{client}");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "{[ no");
        let status = world.json(&[
            "mcp",
            "status",
            "--client",
            client,
            "--file",
            file.to_str().unwrap(),
        ]);
        assert_eq!(status["clients"][0]["state"], "unreadable", "{status}");
    }
}

/// The official Python client, if it is installed.
#[test]
fn the_python_client_asks_and_verifies() {
    let python = std::env::var("LOCAL_AGENT_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let there = Command::new(&python)
        .args(["-c", "import mcp"])
        .output()
        .is_ok_and(|o| o.status.success());
    if !there {
        // Printed without the output capture of the test runner, so that nobody mistakes this for a
        // pass.
        let why = format!(
            "NOT RUN: mcp::the_python_client_asks_and_verifies: `{python} -c 'import mcp'` does not work here\n"
        );
        std::io::stderr().write_all(why.as_bytes()).unwrap();
        return;
    }
    let world = World::embedded();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/peer.py");
    let output = Command::new(&python)
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_local-agent"))
        .current_dir(world.vault())
        .env("HOME", world.home())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{told}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        told.contains("verify: passed") && told.contains("verify of a changed number: rejected"),
        "{told}"
    );
    // The documentation shows exactly what the client received.
    let document =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/mcp.md")).unwrap();
    let shown = document
        .split("<!-- transcript: peer.py -->\n```text\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    for line in shown.lines().filter(|line| !line.starts_with("server:")) {
        assert!(
            told.lines().any(|told| told == line),
            "docs/mcp.md shows a line that is not told: {line}\n{told}"
        );
    }
}

/// Anyone who sends notes may edit a configuration that was found by walking up, so the user is
/// asked about it again.
#[test]
fn what_install_enters_trusts_no_later_edit_of_a_found_configuration() {
    let world = World::with(&[("a.md", "# A\n\nOne quokka.\n")]);
    let entry: Value = serde_json::from_str(
        &world
            .ok(&["mcp", "install", "--client", "cursor", "--print"])
            .stdout,
    )
    .unwrap();
    let args: Vec<String> =
        serde_json::from_value(entry["mcpServers"]["local-agent"]["args"].clone()).unwrap();
    assert_eq!(args[0], "-C", "{args:?}");
    let file = world.vault().join("local-agent.yaml");
    let config = fs::read_to_string(&file).unwrap();
    let loosened = config.replace(
        "  # base_url: http://127.0.0.1:11434",
        "  base_url: http://192.0.2.1:11434",
    );
    assert_ne!(config, loosened);
    fs::write(&file, loosened).unwrap();
    let output = world
        .command()
        .args(&args)
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("CONFIG_UNTRUSTED"),
        "{output:?}"
    );
}

#[test]
fn operations_are_offered_as_configured_and_every_call_is_in_the_ledger() {
    let world = World::with(&[("a.md", "# A\n\nThe quokka sleeps in the shed.\n")]);
    world.ok(&["index"]);
    world.ok(&["embed"]);
    let mut session = Session::start(&world, &[]);
    session.data("search", json!({"query": "quokka"}));
    session.data("get", json!({"address": "a.md"}));
    session.call("get", json!({"address": "../secret.md"}));
    session.data("multi_get", json!({"glob": "*.md"}));
    session.data(
        "verify",
        json!({"answer": "The quokka sleeps in the shed [a.md:3-3]."}),
    );
    session.data("status", json!({}));
    session.request("resources/list", json!({}));
    for path in ["a.md", "gone.md"] {
        let uri = format!("note://notes/{path}");
        session.request("resources/subscribe", json!({"uri": uri}));
    }
    assert_eq!(session.end().0, 0);
    let log = world.json(&["tool", "log"]);
    let lines: Vec<String> = log["calls"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|call| {
            let word = |key: &str| call["tool"][key].as_str().unwrap_or_default().to_owned();
            format!(
                "{} {} {} {}",
                word("caller"),
                word("name"),
                word("subject"),
                word("outcome")
            )
        })
        .collect();
    let expected = [
        "agent search quokka ok",
        "agent get a.md ok",
        "agent get ../secret.md PATH_DENIED",
        "agent multi_get *.md ok",
        "agent verify  ok",
        "agent status  ok",
        "agent resources/list  ok",
        "agent resources/subscribe note://notes/a.md ok",
        "agent resources/subscribe note://notes/gone.md FILE_NOT_FOUND",
    ];
    assert_eq!(lines, expected);
    let file = world.vault().join("local-agent.yaml");
    fs::write(
        &file,
        fs::read_to_string(&file).unwrap() + "mcp:\n  operations: [search, status]\n",
    )
    .unwrap();
    let mut session = Session::start(&world, &[]);
    let listed = session.request("tools/list", json!({}));
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "search",
            "status",
            "grep",
            "list_dir",
            "outline",
            "related_files"
        ]
    );
    session.end();
    fs::write(
        &file,
        fs::read_to_string(&file)
            .unwrap()
            .replace("[search, status]", "[find]"),
    )
    .unwrap();
    world.ok(&["config", "trust"]);
    let output = world
        .command()
        .arg("mcp")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("`mcp.operations` names `find`"),
        "{output:?}"
    );
}

#[test]
fn a_root_that_was_moved_away_and_made_again_is_read_as_it_is_now() {
    let world = World::with(&[("sub/a.md", "# A\n\nOld words.\n")]);
    let file = world.vault().join("local-agent.yaml");
    let config = fs::read_to_string(&file).unwrap();
    assert!(config.contains("root: \".\""), "{config}");
    fs::write(&file, config.replace("root: \".\"", "root: sub")).unwrap();
    world.ok(&["index"]);
    let mut session = Session::start(&world, &[]);
    assert!(
        session.data("get", json!({"address": "a.md"}))["text"]
            .as_str()
            .unwrap()
            .contains("Old")
    );
    fs::rename(world.vault().join("sub"), world.vault().join("gone")).unwrap();
    world.write("sub/a.md", "# A\n\nNew words.\n");
    let got = session.call("get", json!({"address": "a.md"}));
    if got["isError"] == true {
        // If the kernel restricts the server to the old folder, the message says how to fix it.
        let text = got["content"][0]["text"].as_str().unwrap();
        assert!(
            text.contains("FILE_READ_ERROR")
                && text.contains(
                    "restart the server: the kernel confines it to the folders that it started with"
                ),
            "{text}"
        );
        session.end();
        let log = world.json(&["tool", "log"]);
        assert_eq!(
            log["calls"][0]["tool"]["outcome"], "FILE_READ_ERROR",
            "{log}"
        );
        session = Session::start(&world, &[]);
    }
    assert!(
        session.data("get", json!({"address": "a.md"}))["text"]
            .as_str()
            .unwrap()
            .contains("New")
    );
    let listed = session.data("grep", json!({"pattern": "words"}));
    assert!(listed.to_string().contains("New words"), "{listed}");
    assert_eq!(session.end().0, 0);
}

#[test]
fn multi_get_takes_a_list_of_globs_names_and_keys() {
    let world = World::with(&[
        ("Flour.md", "# Flour\n\nRye.\n"),
        ("Proof.md", "# Proof\n\nTwo hours.\n"),
        ("log/a.md", "# Log\n\nBaked.\n"),
        ("secret.md", "---\nprivate: on\n---\n# Secret\n\nHidden.\n"),
    ]);
    world.ok(&["index"]);
    let key = |query: &str| {
        let hit = &world.json(&["query", query, "--min-score", "0"])["hits"][0];
        format!("#{}", &hit["chunk_key"].as_str().unwrap()[..16])
    };
    let (rye, hidden) = (key("Rye"), key("Hidden"));
    let mut session = Session::start(&world, &[]);
    let list = format!("Flour.md, [[Proof]], log/*.md, {rye}");
    let all = session.data("multi_get", json!({"glob": list}));
    assert_eq!((&all["matched"], &all["skipped"]), (&json!(4), &json!([])));
    let some = session.data("multi_get", json!({"glob": "Flour.md,nosuch.md"}));
    assert_eq!(some["matched"], 1, "{some}");
    assert_eq!(some["skipped"][0]["reason"], "FILE_NOT_FOUND");
    let list = format!("secret.md,{hidden}");
    let none = session.data("multi_get", json!({"glob": list}));
    assert_eq!(
        (&none["outcome"], &none["matched"]),
        (&json!("nothing_found"), &json!(0))
    );
    // A key is not completed, because that would say that the note exists.
    let refused = session.request(
        "tools/call",
        json!({"name": "get", "arguments": {"address": &hidden[..9]}}),
    );
    assert!(!refused.to_string().contains(&hidden[..16]), "{refused}");
}
