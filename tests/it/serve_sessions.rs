//! `/mcp` of `serve`: sessions, cancelled requests, and bodies that are no message.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::World;
use crate::serve::{Answer, Served};

/// A time limit that only a hang reaches.
const CAP: Duration = Duration::from_secs(240);

const QUESTION: &str = "How many apples does the zebra eat a day?";

/// A message to `/mcp`, in a session if one is given.
pub(crate) fn send(served: &Served, token: &str, session: Option<&str>, body: &str) -> Answer {
    request(served, "POST", token, session, body)
}

pub(crate) fn request(
    served: &Served,
    method: &str,
    token: &str,
    session: Option<&str>,
    body: &str,
) -> Answer {
    let bearer = format!("Bearer {token}");
    let mut headers = vec![
        ("Host", served.address.as_str()),
        ("Authorization", &bearer),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    headers.extend(session.map(|id| ("Mcp-Session-Id", id)));
    served.with(&format!("{method} /mcp"), &headers, body)
}

fn hello() -> String {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
    .to_string()
}

fn ping() -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string()
}

fn cancelled(id: &Value) -> String {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
        .to_string()
}

/// Begins a session; returns its id.
pub(crate) fn session(served: &Served, token: &str) -> String {
    let answer = send(served, token, None, &hello());
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.json()["result"]["serverInfo"]["name"], "local-agent");
    answer.header("mcp-session-id").unwrap().to_owned()
}

/// A running question of a session, whose model says nothing for an hour.
struct Asked(TcpStream);

impl Asked {
    /// Asks and waits until the model is asked. Without `progress`, the response does not begin
    /// before the answer.
    fn begin(served: &Served, token: &str, session: &str, id: &Value, progress: bool) -> Self {
        let mut params = json!({"name": "ask", "arguments": {"question": QUESTION}});
        if progress {
            params["_meta"] = json!({"progressToken": 1});
        }
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        let body = message.to_string();
        let mut stream = TcpStream::connect(&served.address).unwrap();
        stream.set_read_timeout(Some(CAP)).unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nMcp-Session-Id: {session}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            served.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut seen = String::new();
        while progress && !seen.contains(": draft") {
            let mut bytes = [0; 1024];
            let n = stream.read(&mut bytes).unwrap();
            assert_ne!(n, 0, "{seen}");
            seen.push_str(&String::from_utf8_lossy(&bytes[..n]));
        }
        Self(stream)
    }

    /// Everything that still comes.
    fn rest(mut self) -> String {
        let mut rest = String::new();
        self.0.read_to_string(&mut rest).unwrap();
        rest
    }
}

/// Waits until a question has reached the model: its server lists and describes it before that.
fn wait_until_asked(model: &local_agent_testing::server::Server) {
    let give_up = Instant::now() + CAP;
    while model.hits() < 3 {
        assert!(Instant::now() < give_up, "{}", model.hits());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the newest run has ended as cancelled.
fn wait_for_cancelled(world: &World) {
    let give_up = Instant::now() + CAP;
    loop {
        let record = world.run(&["runs", "show", "last", "--json"]).stdout;
        if record.contains("\"CANCELLED\"") {
            return;
        }
        assert!(Instant::now() < give_up, "{record}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A server with a model that never ends its reply.
fn slow(world: &World, model: &local_agent_testing::server::Server) -> Served {
    let config = world.root().join("llm.yaml");
    let text = "ask: {provider: ollama}\nllm: {model: m, timeout_s: 200}\n";
    std::fs::write(&config, text).unwrap();
    let url = model.url("");
    let config = config.to_str().unwrap();
    Served::start(world, &["--config", config, "--ollama-base-url", &url])
}

fn zoo() -> World {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    world
}

pub(crate) fn guest(world: &World, name: &str) -> String {
    let added = world.json(&["serve", "token", "add", name, "--role", "ask"]);
    added["token"].as_str().unwrap().to_owned()
}

#[test]
fn a_message_cancels_a_request_of_its_own_session_and_token_only() {
    let (world, model) = (zoo(), crate::mcp::slow_model());
    let served = slow(&world, &model);
    let (one, other) = (guest(&world, "one"), guest(&world, "other"));
    let (own, second) = (session(&served, &one), session(&served, &one));
    let foreign = session(&served, &other);
    let id = json!("slow");
    let asked = Asked::begin(&served, &one, &own, &id, true);
    // Neither another session, nor another token, nor a message without a session cancels it.
    for (token, named, status) in [
        (&one, Some(&second), 202),
        (&other, Some(&foreign), 202),
        (&other, Some(&own), 404),
        (&one, None, 202),
    ] {
        let answer = send(&served, token, named.map(String::as_str), &cancelled(&id));
        assert_eq!(answer.status, status, "{}", answer.body);
    }
    let unknown = send(&served, &one, Some(&own), &cancelled(&json!(7)));
    assert_eq!(unknown.status, 202);
    std::thread::sleep(Duration::from_secs(1));
    let record = world.run(&["runs", "show", "last", "--json"]).stdout;
    assert!(!record.contains("\"CANCELLED\""), "{record}");
    let answer = send(&served, &one, Some(&own), &cancelled(&id));
    assert_eq!(answer.status, 202, "{}", answer.body);
    // A cancelled request gets no answer.
    let rest = asked.rest();
    assert!(
        !rest.contains("\"result\"") && !rest.contains("\"error\""),
        "{rest}"
    );
    wait_for_cancelled(&world);
    // The session goes on.
    assert_eq!(send(&served, &one, Some(&own), &ping()).status, 200);
}

#[test]
fn a_request_whose_response_has_not_begun_is_cancelled_too() {
    let (world, model) = (zoo(), crate::mcp::slow_model());
    let served = slow(&world, &model);
    let own = session(&served, &served.token);
    let asked = Asked::begin(&served, &served.token, &own, &json!(5), false);
    wait_until_asked(&model);
    send(&served, &served.token, Some(&own), &cancelled(&json!(5)));
    let response = asked.rest();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    assert!(head.contains("text/event-stream"), "{head}");
    assert_eq!(body, "");
    wait_for_cancelled(&world);
}

#[test]
fn the_end_of_a_session_cancels_what_runs_in_it() {
    let (world, model) = (zoo(), crate::mcp::slow_model());
    let served = slow(&world, &model);
    let (one, other) = (guest(&world, "one"), guest(&world, "other"));
    let own = session(&served, &one);
    let end = |token: &str, session: Option<&str>| request(&served, "DELETE", token, session, "");
    let asked = Asked::begin(&served, &one, &own, &json!(1), true);
    end(&other, Some(&own)).is_refused(404, "INVALID_ARGS");
    end(&one, None).is_refused(400, "INVALID_ARGS");
    assert_eq!(send(&served, &one, Some(&own), &ping()).status, 200);
    let ended = end(&one, Some(&own));
    assert_eq!((ended.status, ended.body.as_str()), (204, ""));
    let rest = asked.rest();
    assert!(!rest.contains("\"result\""), "{rest}");
    wait_for_cancelled(&world);
    end(&one, Some(&own)).is_refused(404, "INVALID_ARGS");
    send(&served, &one, Some(&own), &ping()).is_refused(404, "INVALID_ARGS");
}

#[test]
fn a_session_is_random_and_belongs_to_the_token_that_began_it() {
    let world = zoo();
    let served = Served::start(&world, &[]);
    let (one, other) = (guest(&world, "one"), guest(&world, "other"));
    let own = session(&served, &one);
    assert!(
        own.len() == 64 && own.bytes().all(|b| b.is_ascii_hexdigit()),
        "{own}"
    );
    assert_ne!(own, session(&served, &one));
    for (token, id) in [
        (&other, own.as_str()),
        (&served.token, &own),
        (&one, "none"),
        (&one, ""),
    ] {
        let answer = send(&served, token, Some(id), &ping());
        answer.is_refused(404, "INVALID_ARGS");
    }
    // A request without an id goes on to stand for itself, and begins no session.
    let answer = send(&served, &one, None, &ping());
    assert_eq!(
        (answer.status, answer.header("mcp-session-id")),
        (200, None)
    );
    // A new token of the same name is another one.
    world.ok(&["serve", "token", "remove", "one"]);
    let again = guest(&world, "one");
    send(&served, &again, Some(&own), &ping()).is_refused(404, "INVALID_ARGS");
    // A client that the server does not accept gets no session.
    let wrong =
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}).to_string();
    let answer = send(&served, &again, None, &wrong);
    assert_eq!(answer.header("mcp-session-id"), None, "{}", answer.head);
    let listening = request(&served, "GET", &again, None, "");
    assert_eq!(
        (listening.status, listening.header("allow")),
        (405, Some("POST, DELETE"))
    );
}

#[test]
fn a_body_that_is_no_message_gets_the_error_of_the_protocol() {
    let world = zoo();
    let served = Served::start(&world, &[]);
    let cases = [
        ("{", -32700, Value::Null),
        ("", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        ("7", -32600, Value::Null),
        (
            r#"[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]"#,
            -32600,
            Value::Null,
        ),
        (r#"{"id": 3, "words": "a"}"#, -32600, json!(3)),
        (
            r#"{"jsonrpc": "1.0", "id": "x", "method": "ping"}"#,
            -32600,
            json!("x"),
        ),
    ];
    for (body, code, id) in cases {
        let answer = send(&served, &served.token, None, body);
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        let message = answer.json();
        assert_eq!(message["error"]["code"], code, "{body}: {message}");
        assert_eq!(
            (&message["jsonrpc"], &message["id"]),
            (&json!("2.0"), &id),
            "{body}"
        );
    }
}

/// They named the library of the server.
#[test]
fn a_record_names_the_client_of_the_session() {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let served = Served::start(&world, &[]);
    let token = world.ok(&["serve", "token"]).stdout;
    let token = token.trim();
    let ask = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call",
        "params": {"name": "ask", "arguments": {"question": QUESTION}}})
    .to_string();
    let asked_by = || {
        let last = world.json(&["runs", "show", "last"]);
        last["record"]["asked_by"].as_str().unwrap().to_owned()
    };
    let id = session(&served, token);
    assert_eq!(send(&served, token, Some(&id), &ask).status, 200);
    assert_eq!(asked_by(), "serve: t 1");
    assert_eq!(send(&served, token, None, &ask).status, 200);
    assert_eq!(asked_by(), "serve");
}
