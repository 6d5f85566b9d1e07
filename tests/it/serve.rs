//! `serve`: raw HTTP to the real program.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::World;

/// A time limit that only a hang reaches.
const CAP: Duration = Duration::from_secs(240);

/// A running server.
pub(crate) struct Served {
    pub child: Child,
    pub address: String,
    pub token: String,
    pub link: Option<String>,
}

/// A reply of the server.
pub(crate) struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .filter(|(given, _)| given.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
            .next()
    }

    pub(crate) fn is_refused(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{}{}", self.head, self.body);
        let body = self.json();
        assert_eq!(
            (&body["ok"], &body["error_code"]),
            (&json!(false), &json!(code))
        );
    }
}

impl Served {
    pub(crate) fn start(world: &World, args: &[&str]) -> Self {
        let token = world.json(&["serve", "token"])["token"]
            .as_str()
            .unwrap()
            .to_owned();
        let is_named = args.contains(&"--listen");
        let listen = ["--listen", "127.0.0.1:0"];
        let listen = if is_named { &listen[..0] } else { &listen[..] };
        let mut child = world
            .command()
            .args(["serve", "--json"])
            .args(listen)
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        assert_eq!(said["ok"], true);
        let text = |name: &str| said[name].as_str().map(str::to_owned);
        Self {
            child,
            address: text("listening").unwrap(),
            token,
            link: text("link"),
        }
    }

    pub(crate) fn port(&self) -> &str {
        self.address.rsplit(':').next().unwrap()
    }

    /// Sends bytes unchanged.
    pub(crate) fn raw(&self, head: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(CAP)).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        // The server may reply before it has read all of an over-long body.
        let _ = stream.write_all(body.as_bytes());
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        let all = String::from_utf8(all).unwrap();
        let (head, body) = all.split_once("\r\n\r\n").unwrap_or((&all, ""));
        Answer {
            status: head
                .split(' ')
                .nth(1)
                .and_then(|s| s.parse().ok())
                .unwrap_or(0),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// A request with only these headers and the content length.
    pub(crate) fn with(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let headers: String = headers
            .iter()
            .map(|(n, v)| format!("{n}: {v}\r\n"))
            .collect();
        let length = body.len();
        let head = format!(
            "{line} HTTP/1.1\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        self.raw(&head, body)
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.get_as(&self.token, path)
    }

    pub(crate) fn get_as(&self, token: &str, path: &str) -> Answer {
        let headers = [
            ("Host", self.address.as_str()),
            ("Authorization", &format!("Bearer {token}")),
        ];
        self.with(&format!("GET {path}"), &headers, "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_as(&self.token, path, body)
    }

    pub(crate) fn post_as(&self, token: &str, path: &str, body: &Value) -> Answer {
        let headers = [
            ("Host", self.address.as_str()),
            ("Authorization", &format!("Bearer {token}")),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        self.with(&format!("POST {path}"), &headers, &body.to_string())
    }

    /// A request whose body has not been sent yet.
    pub(crate) fn begun(&self, path: &str, length: usize) -> TcpStream {
        self.begun_as(&self.token, path, length)
    }

    pub(crate) fn begun_as(&self, token: &str, path: &str, length: usize) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(CAP)).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}\r\n\r\n",
            self.address,
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let sent = std::process::Command::new("kill")
            .args([signal, &id])
            .status();
        assert!(sent.unwrap().success());
    }

    /// Sends it a signal to end; returns its exit code.
    pub(crate) fn end(mut self, signal: &str) -> Option<i32> {
        self.signal(signal);
        self.child.wait().unwrap().code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The body without fields that differ from one run to the next.
fn lasting(mut body: Value) -> Value {
    for name in ["run_id", "run_record"] {
        body.as_object_mut().unwrap().remove(name);
    }
    body
}

#[test]
fn nobody_gets_in_without_the_token_under_another_name_or_from_another_site() {
    let world = World::example();
    let served = Served::start(&world, &[]);
    let host = ("Host", served.address.as_str());
    let bearer = served.bearer();
    let token = ("Authorization", bearer.as_str());
    let health = served.with("GET /health", &[host], "");
    assert_eq!((health.status, &health.json()["ok"]), (200, &json!(true)));
    for path in [
        "GET /api/status",
        "POST /mcp",
        "GET /",
        "GET /nowhere",
        "POST /api/search",
    ] {
        served
            .with(path, &[host], "")
            .is_refused(401, "ACCESS_DENIED");
        for wrong in ["Bearer 0", "Bearer", "Basic YTpi", "Bearer "] {
            let answer = served.with(path, &[host, ("Authorization", wrong)], "");
            answer.is_refused(401, "ACCESS_DENIED");
        }
    }
    let by_port = format!("evil.example:{}", served.port());
    for name in [
        "evil.example",
        by_port.as_str(),
        "localhost",
        "127.0.0.1",
        "",
    ] {
        for path in ["GET /api/status", "GET /health"] {
            let answer = served.with(path, &[("Host", name), token], "");
            answer.is_refused(403, "ACCESS_DENIED");
        }
    }
    served
        .with("GET /health", &[host, host], "")
        .is_refused(403, "ACCESS_DENIED");
    let local = format!("localhost:{}", served.port());
    assert_eq!(
        served
            .with("GET /api/status", &[("Host", &local), token], "")
            .status,
        200
    );
    for origin in [
        "http://evil.example",
        "null",
        "https://localhost",
        "http://localhost:1",
    ] {
        let answer = served.with("GET /api/status", &[host, token, ("Origin", origin)], "");
        answer.is_refused(403, "ACCESS_DENIED");
    }
    let own = format!("http://{}", served.address);
    let answer = served.with("GET /api/status", &[host, token, ("Origin", &own)], "");
    assert_eq!(answer.status, 200);
    for site in ["cross-site", "same-site"] {
        let answer = served.with(
            "GET /api/status",
            &[host, token, ("Sec-Fetch-Site", site)],
            "",
        );
        answer.is_refused(403, "ACCESS_DENIED");
    }
    // A renewed token is valid at once.
    world.ok(&["serve", "token", "--renew"]);
    served.get("/api/status").is_refused(401, "ACCESS_DENIED");
}

#[cfg(unix)]
#[test]
fn the_token_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::example();
    let said = world.json(&["serve", "token"]);
    let file = said["file"].as_str().unwrap();
    assert_eq!(
        std::fs::metadata(file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        world.ok(&["serve", "token"]).stdout.trim(),
        said["token"].as_str().unwrap()
    );
    let renewed = world.ok(&["serve", "token", "--renew"]).stdout;
    assert_ne!(renewed.trim(), said["token"].as_str().unwrap());
    assert_eq!(
        std::fs::metadata(file).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn the_operations_give_what_the_command_line_gives() {
    let world = World::embedded();
    let served = Served::start(&world, &[]);
    let found = served.post("/api/search", &json!({"query": "oven", "limit": 3}));
    assert_eq!(found.status, 200, "{}", found.body);
    assert!(found.json()["count"].as_u64().unwrap() > 0);
    assert_eq!(found.json(), world.json(&["query", "oven", "-n", "3"]));
    let question = "What humidity does the proofbox hold?";
    let asked = served.post("/api/ask", &json!({"question": question}));
    assert_eq!(asked.status, 200, "{}", asked.body);
    let run = asked.json()["run_id"].as_str().unwrap().to_owned();
    assert_eq!(
        lasting(asked.json()),
        lasting(world.json(&["ask", question]))
    );
    let hit = &found.json()["hits"][0];
    let address = format!(
        "{}:{}",
        hit["source"].as_str().unwrap(),
        hit["rel_path"].as_str().unwrap()
    );
    let read = served.get(&format!("/api/get?address={}", address.replace(' ', "%20")));
    assert_eq!(read.json(), world.json(&["get", &address]));
    assert_eq!(served.get("/api/status").json(), world.json(&["status"]));
    let shown = served.get(&format!("/api/run?id={run}"));
    assert_eq!(shown.json(), world.json(&["runs", "show", &run]));
    assert_eq!(shown.json()["record"]["asked_by"], "serve");
    assert_eq!(
        served.get("/api/runs?limit=2").json(),
        world.json(&["runs", "list", "--limit", "2"])
    );
}

#[test]
fn what_does_not_fit_is_a_typed_failure() {
    let world = World::example();
    let served = Served::start(&world, &[]);
    served
        .post("/api/search", &json!({"query": " "}))
        .is_refused(400, "INVALID_QUERY");
    served
        .post("/api/search", &json!({"query": "a", "typo": 1}))
        .is_refused(400, "INVALID_ARGS");
    let nowhere = json!({"query": "a", "within": {"source": ["nowhere"]}});
    served
        .post("/api/search", &nowhere)
        .is_refused(400, "INVALID_ARGS");
    served
        .post("/api/search", &json!({"query": "a", "limit": 0}))
        .is_refused(400, "INVALID_ARGS");
    served
        .post("/api/search", &json!([]))
        .is_refused(400, "INVALID_ARGS");
    let taken = json!({"query": "oven", "limit": "3", "within": {"path": "**"}});
    assert_eq!(served.post("/api/search", &taken).status, 200);
    let named = served.post("/api/search", &json!({"query": "oven", "limit": "x"}));
    named.is_refused(400, "INVALID_ARGS");
    assert!(
        named.body.contains("`limit` must be a whole number"),
        "{}",
        named.body
    );
    served
        .get("/api/get?address=nowhere.md")
        .is_refused(404, "FILE_NOT_FOUND");
    served.get("/api/get").is_refused(400, "INVALID_ARGS");
    let outside = served.get("/api/get?address=../../../etc/passwd");
    assert!(!outside.json()["ok"].as_bool().unwrap() && !outside.body.contains("root:"));
    served
        .get("/api/run?id=none")
        .is_refused(404, "RUN_NOT_FOUND");
    served.get("/nowhere").is_refused(404, "INVALID_ARGS");
    served.get("/api/search").is_refused(405, "INVALID_ARGS");
    let long = "x".repeat((1 << 20) + 1);
    served
        .post("/api/search", &json!({"query": long}))
        .is_refused(413, "REQUEST_TOO_LARGE");
    served
        .post("/mcp", &json!({"query": long}))
        .is_refused(413, "REQUEST_TOO_LARGE");
    let bearer = served.bearer();
    let many = "a: b\r\n".repeat(100);
    let head = format!(
        "GET /health HTTP/1.1\r\nHost: {}\r\nAuthorization: {bearer}\r\n{many}\r\n",
        served.address
    );
    assert_eq!(served.raw(&head, "").status, 431);
}

#[test]
fn every_response_keeps_browsers_from_running_anything() {
    let world = World::with(&[(
        "<script>alert(1)<.md",
        "# A\n\n<img src=x onerror=alert(2)> oven\n",
    )]);
    world.ok(&["index"]);
    let served = Served::start(&world, &[]);
    let found = served.post("/api/search", &json!({"query": "oven"}));
    assert_eq!(found.json()["count"], 1, "{}", found.body);
    let refused = served.with("GET /", &[("Host", &served.address)], "");
    for answer in [&found, &refused, &served.get("/nowhere")] {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none';") && policy.contains("frame-ancestors 'none'")
        );
        assert!(!policy.contains("unsafe"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("same-origin"));
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[test]
fn a_link_lets_one_browser_in_once() {
    let world = World::example();
    let served = Served::start(&world, &["--open"]);
    let link = served.link.clone().unwrap();
    let path = link
        .strip_prefix(&format!("http://{}", served.address))
        .unwrap();
    let host = ("Host", served.address.as_str());
    let entered = served.with(&format!("GET {path}"), &[host], "");
    assert_eq!(entered.status, 303, "{}", entered.body);
    let cookie = entered.header("set-cookie").unwrap();
    assert!(
        cookie.contains("; HttpOnly; SameSite=Strict; Path=/"),
        "{cookie}"
    );
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(
        served
            .with("GET /api/status", &[host, ("Cookie", cookie)], "")
            .status,
        200
    );
    served
        .with(&format!("GET {path}"), &[host], "")
        .is_refused(403, "ACCESS_DENIED");
    served
        .with("GET /enter?key=0", &[host], "")
        .is_refused(403, "ACCESS_DENIED");
}

#[test]
fn agents_speak_their_protocol_and_every_call_is_in_the_ledger() {
    let world = World::example();
    let served = Served::start(&world, &[]);
    let rpc = |id: u32, method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let answer = served.post("/mcp", &message);
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()["result"].clone()
    };
    let hello = rpc(
        1,
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
    );
    assert_eq!(hello["serverInfo"]["name"], "local-agent");
    let tools = rpc(2, "tools/list", json!({}));
    assert!(
        tools["tools"]
            .as_array()
            .unwrap()
            .iter()
            .any(|tool| tool["name"] == "search")
    );
    let found = rpc(
        3,
        "tools/call",
        json!({"name": "search", "arguments": {"query": "oven"}}),
    );
    assert_eq!(found["structuredContent"]["outcome"], "found", "{found}");
    served.post("/api/search", &json!({"query": "proofbox"}));
    served.get("/api/get?address=nowhere.md");
    let ledger = std::fs::read_to_string(world.state().join("runs/ledger.jsonl")).unwrap();
    let lines: Vec<Value> = ledger
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let calls: Vec<[&str; 4]> = lines
        .iter()
        .filter(|line| line["kind"] == "tool")
        .map(|line| {
            ["caller", "name", "subject", "outcome"]
                .map(|name| line["tool"][name].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        calls,
        [
            ["serve", "search", "oven", "ok"],
            ["serve", "search", "proofbox", "ok"],
            ["serve", "get", "nowhere.md", "FILE_NOT_FOUND"],
        ]
    );
    world.ok(&["runs", "verify"]);
}

#[test]
fn without_the_server_of_the_model_clients_get_the_closest_passages_and_a_fix() {
    let world = World::with(&[("oven.md", "# Oven\n\nThe oven is made of granite.\n")]);
    world.ok(&["index"]);
    let text = "sources:\n  - {name: notes, root: .}\nask: {provider: openai}\n\
                llm: {model: m, base_url: 'http://127.0.0.1:9'}\n";
    world.write("local-agent.yaml", text);
    let served = Served::start(&world, &[]);
    let question = json!({"question": "What is the oven made of?"});
    let failure = served.post("/api/ask", &question);
    failure.is_refused(502, "SERVER_UNREACHABLE");
    let body = failure.json();
    assert!(
        body["closest"][0]["text"]
            .as_str()
            .unwrap()
            .contains("granite"),
        "{body}"
    );
    assert!(
        body["hint"].as_str().unwrap().contains("POST /api/search"),
        "{body}"
    );
    let run = served.get(&format!("/api/run?id={}", body["run_id"].as_str().unwrap()));
    assert_eq!(run.status, 200, "{}", run.body);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "ask", "arguments": question}});
    let said = served.post("/mcp", &call).body;
    for wanted in [
        "SERVER_UNREACHABLE",
        "granite",
        "`search`",
        "ask the person",
        "run_id",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
}

#[test]
fn what_the_protocol_refuses_has_an_object_as_its_body() {
    let world = World::example();
    let served = Served::start(&world, &[]);
    let bearer = served.bearer();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let host = ("Host", served.address.as_str());
    let token = ("Authorization", bearer.as_str());
    let json_body = ("Content-Type", "application/json");
    let accept = ("Accept", "application/json, text/event-stream");
    for (status, headers) in [
        (406, vec![host, token, json_body, ("Accept", "text/html")]),
        (
            415,
            vec![host, token, accept, ("Content-Type", "text/plain")],
        ),
        (
            400,
            vec![
                host,
                token,
                json_body,
                accept,
                ("MCP-Protocol-Version", "1999-01-01"),
            ],
        ),
    ] {
        let answer = served.with("POST /mcp", &headers, &ping);
        assert_eq!(answer.status, status, "{}", answer.body);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let error = answer.json()["error"].clone();
        assert!(!error["message"].as_str().unwrap().is_empty(), "{error}");
    }
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "search", "arguments": "x"}});
    let said = served.post("/mcp", &call).body;
    assert!(
        said.contains("`arguments` of tools/call must be an object"),
        "{said}"
    );
}

#[test]
fn two_clients_are_served_at_once() {
    let world = World::example();
    let served = Served::start(&world, &[]);
    std::thread::scope(|scope| {
        for query in ["oven", "proofbox"] {
            let served = &served;
            scope.spawn(move || {
                for _ in 0..5 {
                    let found = served.post("/api/search", &json!({"query": query}));
                    assert_eq!((found.status, &found.json()["query"]), (200, &json!(query)));
                }
            });
        }
    });
}

#[test]
fn nothing_listens_beyond_this_machine_without_a_proxy() {
    let world = World::example();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let failure = world.fails(&["serve", "--listen", address]);
        assert_eq!(failure["error_code"], "INVALID_ARGS");
        assert!(
            failure["error_message"]
                .as_str()
                .unwrap()
                .contains("no TLS")
        );
    }
    let failure = world.fails(&[
        "serve",
        "--listen",
        "0.0.0.0:0",
        "--behind-proxy",
        "https://a/",
    ]);
    assert_eq!(failure["error_code"], "INVALID_ARGS");
}

#[test]
fn the_cookie_behind_a_proxy_is_sent_over_tls_only() {
    let world = World::example();
    let cookie = |args: &[&str]| {
        let served = Served::start(&world, args);
        let link = served.link.clone().unwrap();
        let path = &link[link.find("/enter").unwrap()..];
        let answer = served.with(
            &format!("GET {path}"),
            &[("Host", served.address.as_str())],
            "",
        );
        assert_eq!(answer.status, 303, "{}", answer.body);
        answer.header("set-cookie").unwrap().to_owned()
    };
    assert!(!cookie(&["--open"]).contains("Secure"));
    let behind = cookie(&["--open", "--behind-proxy", "notes.example.org"]);
    assert!(behind.ends_with("; Secure"), "{behind}");
}

#[test]
fn it_listens_at_localhost_and_an_address_that_is_none_names_the_fix() {
    let world = World::example();
    let served = Served::start(&world, &["--listen", "localhost:0"]);
    assert!(
        served.address.starts_with("127.0.0.1:"),
        "{}",
        served.address
    );
    assert_eq!(served.get("/api/status").status, 200);
    for wrong in ["localhost", "nowhere.example:80", "8377", "127.0.0.1", ""] {
        let failed = world.run(&["serve", "--listen", wrong]);
        assert_eq!(failed.code, 2, "{wrong}: {}", failed.stderr);
        assert!(
            failed.stderr.contains("as in 127.0.0.1:8377"),
            "{}",
            failed.stderr
        );
    }
}

#[cfg(unix)]
#[test]
fn the_end_is_graceful() {
    let world = World::example();
    for signal in ["-TERM", "-INT"] {
        let served = Served::start(&world, &[]);
        assert_eq!(served.get("/api/status").status, 200);
        assert_eq!(served.end(signal), Some(0), "{signal}");
    }
}

#[test]
fn the_pages_show_what_was_found_and_the_proof_of_each_sentence() {
    let world = World::with(&[("zebra.md", "# Zebra\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let served = Served::start(&world, &[]);
    let found = served.get("/?q=apples");
    assert_eq!(found.status, 200, "{}", found.body);
    assert!(
        found.body.contains("<mark>apples</mark>") && found.body.contains("/note?address="),
        "{}",
        found.body
    );
    let answer = served.get("/ask?q=How+many+apples+does+the+zebra+eat+a+day");
    assert!(
        answer.body.contains("<li class=\"verified\">")
            && answer.body.contains("zebra.md, line 3</a>")
            // Only what the sentence rests on is marked.
            && answer.body.contains("<td># Zebra</td>"),
        "{}",
        answer.body
    );
    let note = served.get("/note?address=zebra.md");
    assert!(
        note.body.contains("id=\"L3\"") && note.body.contains("The zebra eats 14 apples a day."),
        "{}",
        note.body
    );
    let gone = served.get("/note?address=gone.md");
    assert!(gone.body.contains("FILE_NOT_FOUND"), "{}", gone.body);
    let by_api = served.get("/api/get?address=gone.md");
    assert_eq!((gone.status, by_api.status), (404, 404));
    let state = served.get("/status");
    assert!(
        state.body.contains("1 document in 1 chunk;"),
        "{}",
        state.body
    );
    for path in ["/style.css", "/script.js"] {
        assert_eq!(served.get(path).status, 200, "{path}");
    }
    let posted = served.post("/ask", &json!({}));
    assert_eq!(posted.status, 405, "{}", posted.head);
}

#[test]
fn nothing_that_a_note_or_a_question_holds_is_markup_of_a_page() {
    let world = World::with(&[(
        "<script>alert(1)<.md",
        "# <script>alert(3)</script>\n\n<img src=x onerror=alert(2)> The lion eats meat.\n",
    )]);
    world.ok(&["index"]);
    let served = Served::start(&world, &[]);
    for path in [
        "/?q=lion",
        "/?q=%22%3E%3Cscript%3Ealert(4)%3C/script%3E",
        "/ask?q=What+does+the+lion+eat%3Cscript%3E",
        "/note?address=%3Cscript%3Ealert(1)%3C.md",
        "/note?address=%3Cscript%3Egone.md",
        "/status",
    ] {
        let page = served.get(path);
        let status = if path.contains("gone.md") { 404 } else { 200 };
        assert_eq!(page.status, status, "{path}");
        assert_eq!(
            page.header("content-type"),
            Some("text/html; charset=utf-8")
        );
        assert!(
            !page.body.contains("<script>") && !page.body.contains("<img"),
            "{path}: {}",
            page.body
        );
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none';"), "{policy}");
    }
}

/// Repeats the request until the reply has this status.
pub(crate) fn until(status: u16, ask: impl Fn() -> Answer) -> Answer {
    for _ in 0..200 {
        let answer = ask();
        if answer.status == status {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("no answer had the status {status}");
}

#[test]
fn one_request_too_many_is_refused_and_health_is_not() {
    let world = World::example();
    let served = Served::start(&world, &[]);
    let host = ("Host", served.address.as_str());
    let body = json!({"query": "oven"}).to_string();
    // Requests without a token do not use up the limit of requests.
    let open: Vec<TcpStream> = (0..20).map(|_| served.begun("/health", 9)).collect();
    assert_eq!(served.get("/api/status").status, 200);
    drop(open);
    let waiting: Vec<TcpStream> = (0..16)
        .map(|_| served.begun("/api/search", body.len()))
        .collect();
    let busy = until(503, || served.get("/api/status"));
    busy.is_refused(503, "SERVER_BUSY");
    assert_eq!(busy.header("retry-after"), Some("1"));
    assert_eq!(served.with("GET /health", &[host], "").status, 200);
    drop(waiting);
    until(200, || served.get("/api/status"));
}

#[cfg(unix)]
#[test]
fn a_request_at_work_is_finished_before_the_end() {
    let world = World::example();
    let served = Served::start(&world, &[]);
    let body = json!({"query": "oven"}).to_string();
    let mut stream = served.begun("/api/search", body.len());
    // The body was read by then.
    assert_eq!(served.get("/api/status").status, 200);
    served.signal("-TERM");
    while TcpStream::connect(&served.address).is_ok() {
        std::thread::sleep(Duration::from_millis(20));
    }
    stream.write_all(body.as_bytes()).unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    assert!(all.starts_with("HTTP/1.1 200"), "{all}");
    assert!(all.contains("\"outcome\":\"found\""), "{all}");
    let mut served = served;
    assert_eq!(served.child.wait().unwrap().code(), Some(0));
}
