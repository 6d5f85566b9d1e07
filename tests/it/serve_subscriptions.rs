//! `/mcp` of `serve`: streams on which a client is told of changed notes.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::World;
use crate::serve::{Answer, Served};
use crate::serve_sessions::{guest, request, send, session};

/// A time limit that only a hang reaches.
const CAP: Duration = Duration::from_secs(240);

const NOTE: &str = "note://notes/zoo.md";

const UPDATED: &str = "notifications/resources/updated";

fn zoo() -> World {
    World::with(&[
        ("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n"),
        ("farm.md", "# Farm\n\nThe cow eats grass.\n"),
    ])
}

fn message(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string()
}

fn subscribe(served: &Served, token: &str, session: &str, uri: &str) -> Answer {
    let body = message("resources/subscribe", &json!({"uri": uri}));
    send(served, token, Some(session), &body)
}

/// An open stream, and what came on it so far.
pub(crate) struct Stream(TcpStream, pub(crate) String);

impl Stream {
    fn open(served: &Served, head: &str, token: &str, body: &str) -> Self {
        let mut stream = TcpStream::connect(&served.address).unwrap();
        stream.set_read_timeout(Some(CAP)).unwrap();
        let request = format!(
            "{head}\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            served.address,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        Self(stream, String::new()).until("\r\n\r\n")
    }

    pub(crate) fn of_session(served: &Served, token: &str, session: &str) -> Self {
        let head = format!("GET /mcp HTTP/1.1\r\nMcp-Session-Id: {session}");
        Self::open(served, &head, token, "")
    }

    /// Reads until the text has come.
    fn until(mut self, text: &str) -> Self {
        while !self.1.contains(text) {
            let mut bytes = [0; 1024];
            let n = self.0.read(&mut bytes).unwrap();
            assert_ne!(n, 0, "ended before `{text}`: {}", self.1);
            self.1.push_str(&String::from_utf8_lossy(&bytes[..n]));
        }
        self
    }

    /// Everything that came until the server ended the stream.
    fn rest(mut self) -> String {
        self.0.read_to_string(&mut self.1).unwrap();
        self.1
    }
}

#[test]
fn a_session_is_told_of_changes_of_the_notes_it_subscribed_to() {
    let world = zoo();
    let served = Served::start(&world, &[]);
    let (one, other) = (guest(&world, "one"), guest(&world, "other"));
    let (own, second) = (session(&served, &one), session(&served, &one));
    assert_eq!(
        subscribe(&served, &one, &own, NOTE).json()["result"],
        json!({})
    );
    let gone = subscribe(&served, &one, &own, "note://notes/gone.md").json();
    assert_eq!(
        gone["error"]["data"]["error_code"], "FILE_NOT_FOUND",
        "{gone}"
    );
    let farm = "note://notes/farm.md";
    assert_eq!(
        subscribe(&served, &one, &second, farm).json()["result"],
        json!({})
    );
    // A session is heard of with its own token only.
    request(&served, "GET", &other, Some(&own), "").is_refused(404, "INVALID_ARGS");
    let stream = Stream::of_session(&served, &one, &own);
    assert!(stream.1.starts_with("HTTP/1.1 200 OK"), "{}", stream.1);
    assert!(stream.1.contains("text/event-stream"), "{}", stream.1);
    world.write("farm.md", "# Farm\n\nThe cow sleeps.\n");
    world.write("zoo.md", "# Zoo\n\nThe zebra eats 15 apples a day.\n");
    let stream = stream.until(UPDATED);
    // What the other session subscribed to is told on its own stream, even if it changed before.
    let told = Stream::of_session(&served, &one, &second).until(UPDATED);
    assert!(
        told.1.contains(farm) && !told.1.contains(NOTE),
        "{}",
        told.1
    );
    let body = message("resources/unsubscribe", &json!({"uri": NOTE}));
    assert_eq!(
        send(&served, &one, Some(&own), &body).json()["result"],
        json!({})
    );
    world.write("zoo.md", "# Zoo\n\nThe zebra eats 16 apples a day.\n");
    // A token that is removed hears nothing any more: its stream ends.
    world.ok(&["serve", "token", "remove", "one"]);
    let all = stream.rest();
    assert_eq!(all.matches(UPDATED).count(), 1, "{all}");
    assert!(all.contains(NOTE) && !all.contains(farm), "{all}");
    let log = world.json(&["tool", "log"]).to_string();
    assert!(
        log.contains("resources/subscribe") && log.contains("one"),
        "{log}"
    );
}

#[test]
fn a_session_that_ends_and_a_server_that_ends_close_their_streams() {
    let world = zoo();
    let mut served = Served::start(&world, &[]);
    let token = served.token.clone();
    let (own, second) = (session(&served, &token), session(&served, &token));
    let stream = Stream::of_session(&served, &token, &own);
    let kept = Stream::of_session(&served, &token, &second);
    assert_eq!(
        request(&served, "DELETE", &token, Some(&own), "").status,
        204
    );
    stream.rest();
    world.ok(&["serve", "stop"]);
    kept.rest();
    assert_eq!(served.child.wait().unwrap().code(), Some(0));
}

#[test]
fn streams_have_a_limit_of_their_own_and_leave_places_for_requests() {
    let world = zoo();
    let served = Served::start(&world, &[]);
    let one = guest(&world, "one");
    let own = session(&served, &one);
    let streams: Vec<Stream> = (0..16)
        .map(|_| Stream::of_session(&served, &one, &own))
        .collect();
    request(&served, "GET", &one, Some(&own), "").is_refused(429, "SERVER_BUSY");
    let ping = message("ping", &json!({}));
    assert_eq!(send(&served, &one, Some(&own), &ping).status, 200);
    drop(streams);
}

#[test]
fn the_newest_version_listens_on_the_stream_of_one_request() {
    let world = zoo();
    let served = Served::start(&world, &[]);
    let one = guest(&world, "one");
    let name = |key: &str| format!("io.modelcontextprotocol/{key}");
    let meta = json!({
        name("protocolVersion"): "2026-07-28",
        name("clientInfo"): {"name": "t", "version": "1"},
        name("clientCapabilities"): {},
    });
    let wanted =
        json!({"resourceSubscriptions": [NOTE, "note://notes/gone.md"], "toolsListChanged": true});
    let body = message(
        "subscriptions/listen",
        &json!({"notifications": wanted, "_meta": meta}),
    );
    let head = "POST /mcp HTTP/1.1\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen";
    let stream =
        Stream::open(&served, head, &one, &body).until("notifications/subscriptions/acknowledged");
    assert!(
        stream.1.contains(NOTE) && !stream.1.contains("gone.md"),
        "{}",
        stream.1
    );
    assert!(!stream.1.contains("toolsListChanged"), "{}", stream.1);
    // The note is watched once its line is in the ledger.
    while !world.json(&["tool", "log"]).to_string().contains(NOTE) {
        std::thread::sleep(Duration::from_millis(20));
    }
    world.write("zoo.md", "# Zoo\n\nThe zebra eats 15 apples a day.\n");
    let stream = stream.until(UPDATED);
    world.ok(&["serve", "token", "remove", "one"]);
    let all = stream.rest();
    assert_eq!(all.matches(UPDATED).count(), 1, "{all}");
}
