//! `serve token`: named tokens with roles and sources. Tests every path by which text leaves the
//! server.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::World;
use crate::serve::{Answer, Served};

/// A text that is only in the source `work`.
const SECRET: &str = "The falcon code is Xyzzy.";

/// A text that is only in a private note of the source `open`.
const PRIVATE: &str = "The owl sleeps in the Marmalade room.";

/// Two sources; the one called `open` contains a private note.
fn world() -> World {
    let world = World::empty();
    world.write(
        "open/zoo.md",
        "# Zoo\n\n#animals The zebra eats 14 apples a day. See [[falcon]] and [[owl]].\n",
    );
    world.write(
        "open/owl.md",
        &format!("---\nprivate: true\n---\n# Owl secret\n\n{PRIVATE} See [[zoo]].\n"),
    );
    world.write(
        "work/falcon.md",
        &format!("# Falcon project\n\n#birdsofprey {SECRET} See [[zoo]].\n"),
    );
    world.ok(&[
        "init",
        "--here",
        "--source",
        "open=open",
        "--source",
        "work=work",
    ]);
    world.ok(&["index"]);
    world
}

fn add(world: &World, name: &str, role: &str, sources: &[&str]) -> String {
    let mut args = vec!["serve", "token", "add", name, "--role", role];
    for source in sources {
        args.extend(["--source", source]);
    }
    world.json(&args)["token"].as_str().unwrap().to_owned()
}

fn call(served: &Served, token: &str, tool: &str, args: &Value) -> Answer {
    let params = json!({"name": tool, "arguments": args});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    served.post_as(token, "/mcp", &message)
}

/// The key of the chunk that contains these words.
fn key_of(world: &World, words: &str) -> String {
    let found = world.json(&["query", words]);
    found["hits"][0]["chunk_key"].as_str().unwrap().to_owned()
}

/// A request as sent, and its reply.
struct Exchange {
    sent: String,
    body: String,
}

/// Uses every way in which a client can request text, and returns all results.
fn all_that_comes_out(served: &Served, token: &str, keys: &[String]) -> Vec<Exchange> {
    let mut all = Vec::new();
    let mut keep = |sent: String, answer: Answer| {
        assert_ne!(answer.status, 500, "{sent}: {}", answer.body);
        assert_ne!(answer.status, 429, "{sent}: {}", answer.body);
        let sent = sent.replace('+', " ");
        let body = answer.body;
        all.push(Exchange { sent, body });
    };
    let posts = [
        ("/api/search", json!({"query": "falcon code"})),
        ("/api/search", json!({"query": "falcn owl"})),
        ("/api/search", json!({"query": "path:**"})),
        (
            "/api/search",
            json!({"query": "falcon", "within": {"source": ["work"]}}),
        ),
        ("/api/search", json!({"query": "tag:birdsofprey"})),
        ("/api/ask", json!({"question": "What is the falcon code?"})),
        ("/api/ask", json!({"question": "Where does the owl sleep?"})),
        ("/api/ask", json!({"question": "Summarise falcon.md"})),
    ];
    for (path, body) in posts {
        keep(format!("{path} {body}"), served.post_as(token, path, &body));
    }
    let key = |key: &String| format!("/api/get?address=%23{key}");
    let pages = [
        "/api/get?address=falcon.md",
        "/api/get?address=work:falcon.md",
        "/api/get?address=work/falcon.md",
        "/api/get?address=%5B%5Bfalcon%5D%5D",
        "/api/get?address=Falcon+project",
        "/api/get?address=owl.md",
        "/api/get?address=Owl+secret",
        "/api/status",
        "/api/runs",
        "/api/run?id=last",
        "/api/run?id=none",
        "/run?id=none",
        "/runs/compare?a=none&b=",
        "/?q=falcon+code",
        "/?q=falcon&source=work",
        "/ask?q=What+is+the+falcon+code",
        "/ask/stream?q=Where+does+the+owl+sleep",
        "/note?address=falcon.md",
        "/note?address=open:owl.md",
        "/note?address=open:zoo.md",
        "/status",
        "/runs",
        "/run?id=last",
        "/runs/compare?a=last&b=last",
        "/memory",
        "/memory?words=falcon",
        "/doctor",
    ];
    let pages = pages.iter().map(|path| (*path).to_owned());
    for path in pages.chain(keys.iter().map(key)) {
        let answer = served.get_as(token, &path);
        keep(path, answer);
    }
    let calls = [
        ("search", json!({"query": "falcon code"})),
        ("ask", json!({"question": "What is the falcon code?"})),
        ("get", json!({"address": "falcon.md"})),
        ("get", json!({"address": format!("#{}", keys[0])})),
        ("get", json!({"address": "[[owl]]"})),
        ("multi_get", json!({"glob": "**/*.md"})),
        ("multi_get", json!({"glob": "work:*.md"})),
        ("grep", json!({"pattern": "(code|sleeps)"})),
        ("list_dir", json!({"path": "."})),
        ("list_dir", json!({"path": "work:"})),
        ("links", json!({"note": "zoo.md"})),
        ("similar", json!({"note": "zoo.md"})),
        ("tags", json!({})),
        ("memory_search", json!({"query": "falcon code"})),
        ("outline", json!({"path": "work:falcon.md"})),
        ("related_files", json!({"path": "zoo.md"})),
        ("status", json!({"compare_files": true})),
        (
            "verify",
            json!({"answer": "The falcon code is Plover [work:falcon.md:3]."}),
        ),
        (
            "verify",
            json!({"answer": "The falcon code is Plover [E1].", "run_id": "last"}),
        ),
        (
            "verify",
            json!({"answer": "The falcon code is Plover [E1].", "run_id": "none"}),
        ),
    ];
    for (tool, args) in calls {
        keep(format!("{tool} {args}"), call(served, token, tool, &args));
    }
    let resources = [
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": "note://work/falcon.md"})),
        ("resources/read", json!({"uri": "note://open/owl.md"})),
    ];
    for (method, params) in resources {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer = served.post_as(token, "/mcp", &message);
        keep(format!("{method} {params}"), answer);
    }
    all
}

#[test]
fn a_token_for_one_source_gets_no_word_of_another_or_of_a_private_note() {
    let world = world();
    let keys = [key_of(&world, "falcon code"), key_of(&world, "owl sleeps")];
    // The owner's questions and memories are visible only to the owner.
    world.ok(&["ask", "What is the falcon code?"]);
    let remember = [
        "memory",
        "add",
        "--source",
        "manual",
        "--type",
        "user_fact",
        "--content",
    ];
    world.ok(&[&remember[..], &["The falcon code is Xyzzy, says Leyla."]].concat());
    let linked = ["The falcon code Xyzzy is old.", "--chunk-key", &keys[0]];
    world.ok(&[&remember[..], &linked].concat());
    world.write("work/lynx.md", "A lynx that is not indexed yet.\n");
    let served = Served::start(&world, &["--requests-per-minute", "10000"]);
    let whole = all_that_comes_out(&served, &served.token, &keys);
    let words = [
        "Xyzzy",
        "Marmalade",
        "Leyla",
        "Falcon project",
        "Owl secret",
        "birdsofprey",
        "falcon.md",
        "owl.md",
        "lynx",
    ];
    for word in words {
        let is_there = whole.iter().any(|one| one.body.contains(word));
        assert!(is_there, "the test looks for nothing: {word}");
    }
    for role in ["search", "ask", "tools", "owner"] {
        let token = add(&world, role, role, &["open"]);
        let all = all_that_comes_out(&served, &token, &keys);
        for Exchange { sent, body } in &all {
            let here = world.root().to_str().unwrap();
            assert!(!body.contains(here), "{role}: a folder for {sent}: {body}");
            // A reply may contain words that the client itself sent.
            for word in words.into_iter().filter(|word| !sent.contains(word)) {
                assert!(!body.contains(word), "{role}: {word} for {sent}: {body}");
            }
        }
        let is_of_use = all.iter().any(|one| one.body.contains("The zebra eats 14"));
        assert!(is_of_use, "{role} sees nothing at all");
    }
    world.ok(&["runs", "verify"]);
}

#[test]
fn the_counts_of_a_limited_token_are_those_of_what_it_sees() {
    let world = world();
    let served = Served::start(&world, &[]);
    let token = add(&world, "guest", "search", &["open"]);
    let status = served.get_as(&token, "/api/status").json();
    let count = |name: &str| status[name].as_u64().unwrap();
    assert_eq!(
        (count("documents"), count("chunks"), count("skipped_files")),
        (1, 1, 0)
    );
    assert_eq!(status["coverage"]["chunks"], 1);
    assert_eq!(status["sources"].as_array().unwrap().len(), 1);
    assert_eq!(status["sources"][0]["documents"], 1);
    let found = served.post_as(&token, "/api/search", &json!({"query": "zebra"}));
    assert_eq!(found.json()["coverage"]["chunks"], 1, "{}", found.body);
}

#[test]
fn a_limited_token_learns_no_folder_of_this_machine() {
    let world = world();
    let served = Served::start(&world, &[]);
    let here = world.root().to_str().unwrap();
    let whole = served.get("/api/status");
    assert!(whole.body.contains(here), "the test looks for nothing");
    for (role, sources) in [("search", vec![]), ("owner", vec!["open"])] {
        let token = add(&world, role, role, &sources);
        for path in [
            "/api/status",
            "/api/get?address=zoo.md",
            "/api/get?address=x.md",
        ] {
            let answer = served.get_as(&token, path);
            assert!(
                !answer.body.contains(here),
                "{role} {path}: {}",
                answer.body
            );
        }
        let status = served.get_as(&token, "/api/status").json();
        assert_eq!(status["model_reason"], Value::Null, "{status}");
        assert_eq!(status["vectors_without_say"], Value::Null, "{status}");
    }
    let asker = add(&world, "asker", "ask", &[]);
    let question = json!({"question": "How many apples does the zebra eat a day?"});
    for answer in [
        served.post_as(&asker, "/api/ask", &question),
        served.get_as(&asker, "/api/run?id=last"),
    ] {
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(!answer.body.contains(here), "{}", answer.body);
    }
    world.ok(&["runs", "verify"]);
}

#[test]
fn a_run_is_seen_by_the_token_that_made_it_and_by_the_owner() {
    let world = world();
    let served = Served::start(&world, &[]);
    let (one, other) = (
        add(&world, "one", "ask", &[]),
        add(&world, "other", "ask", &["open"]),
    );
    let ask = |token: &str| {
        let question = json!({"question": "How many apples does the zebra eat a day?"});
        let asked = served.post_as(token, "/api/ask", &question);
        asked.json()["run_id"].as_str().unwrap().to_owned()
    };
    let (own, theirs) = (ask(&one), ask(&other));
    let by_agent = call(
        &served,
        &one,
        "ask",
        &json!({"question": "How many apples does the zebra eat?"}),
    );
    assert!(by_agent.body.contains("14 apples"), "{}", by_agent.body);
    let list = |token: &str| served.get_as(token, "/api/runs").json()["total"].clone();
    assert_eq!(
        (list(&one), list(&other), list(&served.token)),
        (json!(2), json!(1), json!(3))
    );
    let run = |token: &str, id: &str| served.get_as(token, &format!("/api/run?id={id}"));
    let seen = run(&one, &own).json();
    assert_eq!(seen["record"]["asked_by"], "serve (one)");
    run(&one, &theirs).is_refused(404, "RUN_NOT_FOUND");
    run(&other, &own).is_refused(404, "RUN_NOT_FOUND");
    assert_eq!(
        run(&other, "last").json()["record"]["run_id"],
        theirs.as_str()
    );
    assert_eq!(run(&served.token, &theirs).status, 200);
    // Evidence that became private is not shown again.
    world.write(
        "open/zoo.md",
        "---\nprivate: true\n---\nThe zebra eats 14 apples a day.\n",
    );
    run(&other, &theirs).is_refused(404, "RUN_NOT_FOUND");
    // A new token with an old name does not own the old token's runs.
    world.ok(&["serve", "token", "remove", "one"]);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let again = add(&world, "one", "ask", &[]);
    assert_eq!(list(&again), json!(0));
}

#[test]
fn each_role_may_do_what_the_one_before_it_may() {
    let world = world();
    let served = Served::start(&world, &["--requests-per-minute", "10000"]);
    let mut table = String::new();
    let paths = [
        "/",
        "/note?address=zoo.md",
        "/status",
        "/api/status",
        "/api/get?address=zoo.md",
        "/ask",
        "/runs",
        "/api/runs",
        "/memory",
        "/doctor",
    ];
    for role in ["search", "ask", "tools", "owner"] {
        let token = add(&world, role, role, &[]);
        let may: Vec<&str> = paths
            .into_iter()
            .filter(|path| served.get_as(&token, path).status == 200)
            .collect();
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
        let listed = served.post_as(&token, "/mcp", &list).json();
        let tools: Vec<&str> = listed["result"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        table.push_str(&format!(
            "{role}\n  {}\n  {}\n",
            may.join(" "),
            tools.join(" ")
        ));
    }
    assert_snapshot!(table, @r"
    search
      / /note?address=zoo.md /status /api/status /api/get?address=zoo.md
      search get multi_get links tags similar status
    ask
      / /note?address=zoo.md /status /api/status /api/get?address=zoo.md /ask /runs /api/runs
      search get multi_get links tags similar memory_search ask verify status
    tools
      / /note?address=zoo.md /status /api/status /api/get?address=zoo.md /ask /runs /api/runs
      search get multi_get links tags similar memory_search ask verify status grep list_dir outline related_files
    owner
      / /note?address=zoo.md /status /api/status /api/get?address=zoo.md /ask /runs /api/runs /memory /doctor
      search get multi_get links tags similar memory_search ask verify status grep list_dir outline related_files
    ");
    let token = add(&world, "reader", "search", &[]);
    let refused = served.get_as(&token, "/api/runs");
    refused.is_refused(403, "ACCESS_DENIED");
    assert_eq!(
        refused.json()["hint"],
        "local-agent serve token add NAME --role ask"
    );
    let ledger = std::fs::read_to_string(world.state().join("runs/ledger.jsonl")).unwrap();
    let last: Value = serde_json::from_str(ledger.lines().last().unwrap()).unwrap();
    assert_eq!(
        [
            &last["tool"]["caller"],
            &last["tool"]["name"],
            &last["tool"]["outcome"]
        ],
        ["serve (reader)", "/api/runs", "ACCESS_DENIED"]
    );
}

/// The calls of file tools were entered as those of an agent, so nobody could tell whose they were;
/// and a line break in a subject looked like a line of its own.
#[test]
fn every_call_is_entered_with_the_name_of_its_token() {
    let world = world();
    let served = Served::start(&world, &[]);
    let token = add(&world, "reader", "tools", &[]);
    for (tool, args) in [
        ("grep", json!({"pattern": "zebra\n2026-01-01 forged"})),
        ("list_dir", json!({"path": "open:"})),
        ("outline", json!({"path": "zoo.md"})),
        ("tags", json!({})),
    ] {
        let params = json!({"name": tool, "arguments": args});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let answer = crate::serve_sessions::send(&served, &token, None, &message.to_string());
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    let log = world.json(&["tool", "log"]);
    let calls = log["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 4, "{log}");
    assert!(
        calls
            .iter()
            .all(|call| call["tool"]["caller"] == "serve (reader)"),
        "{log}"
    );
    let shown = world.ok(&["tool", "log"]).stdout;
    assert_eq!(shown.lines().count(), 4, "{shown}");
}

#[test]
fn a_named_token_is_shown_once_and_ends_with_its_removal() {
    let world = world();
    let served = Served::start(&world, &[]);
    assert_snapshot!(world.ok(&["serve", "token", "list"]).stdout, @"There is no named token; the owner's is `local-agent serve token`.");
    let token = world
        .ok(&[
            "serve", "token", "add", "phone", "--role", "search", "--source", "open",
        ])
        .stdout;
    let token = token.trim();
    assert_eq!(token.len(), 64);
    assert_eq!(served.get_as(token, "/api/status").status, 200);
    let listed = world.ok(&["serve", "token", "list"]).stdout;
    assert_snapshot!(world.stable(&listed), @"phone  search  open  since <time>");
    assert!(
        !world
            .json(&["serve", "token", "list"])
            .to_string()
            .contains(token)
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let file = world.state().join("serve.tokens.json");
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!std::fs::read_to_string(file).unwrap().contains(token));
    }
    let twice = world.fails(&["serve", "token", "add", "phone", "--role", "ask"]);
    assert_eq!(twice["hint"], "local-agent serve token remove phone");
    let nowhere = [
        "serve", "token", "add", "x", "--role", "ask", "--source", "nowhere",
    ];
    assert_eq!(world.fails(&nowhere)["hint"], "local-agent source list");
    assert_eq!(
        world.code(&["serve", "token", "add", "a b", "--role", "ask"]),
        "INVALID_ARGS"
    );
    world.usage(&["serve", "token", "add", "x"]);
    world.ok(&["serve", "token", "remove", "phone"]);
    served
        .get_as(token, "/api/status")
        .is_refused(401, "ACCESS_DENIED");
    assert_eq!(
        world.fails(&["serve", "token", "remove", "phone"])["hint"],
        "local-agent serve token list"
    );
}

#[test]
fn a_token_that_asks_too_often_has_to_wait_and_others_have_not() {
    let world = world();
    let served = Served::start(&world, &["--requests-per-minute", "3"]);
    let token = add(&world, "busy", "search", &[]);
    for _ in 0..3 {
        assert_eq!(served.get_as(&token, "/script.js").status, 200);
    }
    let refused = served.get_as(&token, "/script.js");
    refused.is_refused(429, "SERVER_BUSY");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=20).contains(&wait), "{wait}");
    assert_eq!(served.get("/api/status").status, 200);
    world.usage(&["serve", "--requests-per-minute", "0"]);
}

#[test]
fn a_named_token_has_only_some_of_the_places() {
    let world = world();
    let served = Served::start(&world, &[]);
    let token = add(&world, "busy", "search", &[]);
    let body = json!({"query": "zebra"}).to_string();
    let waiting: Vec<_> = (0..8)
        .map(|_| served.begun_as(&token, "/api/search", body.len()))
        .collect();
    let refused = crate::serve::until(429, || served.get_as(&token, "/api/status"));
    refused.is_refused(429, "SERVER_BUSY");
    assert_eq!(served.get("/api/status").status, 200);
    drop(waiting);
    crate::serve::until(200, || served.get_as(&token, "/api/status"));
}

#[test]
fn no_number_of_a_limited_token_depends_on_notes_that_it_may_not_see() {
    let world = world();
    let served = Served::start(&world, &[]);
    let token = add(&world, "guest", "ask", &["open"]);
    let question = "How many apples does the zebra eat a day?";
    let within = json!({"source": ["open"]});
    // The order of all that is found, and every number that is shown with it.
    let shown = || {
        let wanted = json!({"query": "zebra apples", "within": within});
        let found = served.post_as(&token, "/api/search", &wanted).json();
        let asked = json!({"question": question, "within": within});
        let asked = served.post_as(&token, "/api/ask", &asked).json();
        let id = asked["run_id"].as_str().unwrap();
        let run = served.get_as(&token, &format!("/api/run?id={id}")).json();
        let agent = call(&served, &token, "search", &json!({"query": "zebra apples"})).json();
        let agent = agent["result"].clone();
        assert!(agent["isError"] != json!(true), "{agent}");
        let items = run["record"]["snapshot"]["items"].clone();
        let lists = [
            found["hits"].clone(),
            asked["evidence"].clone(),
            items,
            agent["structuredContent"]["hits"].clone(),
        ];
        for list in &lists {
            let list = list.as_array().unwrap();
            assert!(!list.is_empty());
            assert!(list.iter().all(|item| item["score"].is_null()), "{list:?}");
        }
        let text = agent["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(!text.contains("score"), "{text}");
        (lists, text)
    };
    let before = shown();
    for number in 0..9 {
        let text = format!("# Note {number}\n\nA zebra, and {number} apples.\n");
        world.write(&format!("work/{number}.md"), &text);
    }
    world.ok(&["index"]);
    assert_eq!(shown(), before);
    // The owner sees every note, and their scores.
    let found = served
        .post("/api/search", &json!({"query": "zebra apples"}))
        .json();
    assert!(found["hits"][0]["score"].is_number(), "{found}");
}

#[test]
fn an_answer_in_steps_over_mcp_holds_its_place_until_it_has_ended() {
    use std::io::{Read as _, Write as _};
    let world = world();
    let slow = crate::mcp::slow_model();
    let config = world.root().join("llm.yaml");
    std::fs::write(
        &config,
        "ask: {provider: ollama}\nllm: {model: m, timeout_s: 60}\n",
    )
    .unwrap();
    let config = config.to_str().unwrap();
    let url = slow.url("");
    let served = Served::start(&world, &["--config", config, "--ollama-base-url", &url]);
    let token = add(&world, "busy", "ask", &[]);
    let params = json!({"name": "ask", "_meta": {"progressToken": 1},
        "arguments": {"question": "How many apples does the zebra eat a day?"}});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let body = message.to_string();
    let waiting: Vec<_> = (0..8)
        .map(|_| {
            let mut stream = std::net::TcpStream::connect(&served.address).unwrap();
            let head = format!(
                "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\
                 Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
                 Content-Length: {}\r\n\r\n{body}",
                served.address,
                body.len()
            );
            stream.write_all(head.as_bytes()).unwrap();
            let mut seen = String::new();
            while !seen.contains("notifications/progress") {
                let mut bytes = [0; 1024];
                let n = stream.read(&mut bytes).unwrap();
                assert_ne!(n, 0, "{seen}");
                seen.push_str(&String::from_utf8_lossy(&bytes[..n]));
            }
            stream
        })
        .collect();
    let refused = served.get_as(&token, "/api/status");
    refused.is_refused(429, "SERVER_BUSY");
    assert_eq!(served.get("/api/status").status, 200);
    drop(waiting);
    crate::serve::until(200, || served.get_as(&token, "/api/status"));
}

#[test]
fn a_run_is_a_tokens_own_by_its_name_and_its_time() {
    let client = local_agent_agent::config::LimitedClient {
        asked_by: "serve (one)".to_owned(),
        since: "2026-01-02T00:00:00Z".to_owned(),
    };
    for own in ["serve (one)", "serve (one): claude 1.0"] {
        assert!(client.made(own, "2026-01-02T00:00:00Z"), "{own}");
        assert!(!client.made(own, "2026-01-01T23:59:59Z"), "{own}");
    }
    for other in [
        "serve",
        "serve: (one)",
        "serve (one",
        "serve (one)x",
        "serve (one) : a",
        "cli",
    ] {
        assert!(!client.made(other, "2027-01-01T00:00:00Z"), "{other}");
    }
}
