//! `serve`: whoever has no token cannot keep out those who have one.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::World;
use crate::serve::Served;

/// A limit that only somebody who is kept out reaches.
const PATIENCE: Duration = Duration::from_secs(5);

fn opened(served: &Served) -> TcpStream {
    let stream = TcpStream::connect(&served.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends a request on the open connection; returns the head of the answer, or what was wrong.
fn asked(stream: &mut TcpStream, path: &str, headers: &str) -> Result<String, String> {
    let head = format!("GET {path} HTTP/1.1\r\n{headers}\r\n");
    stream
        .write_all(head.as_bytes())
        .map_err(|e| e.to_string())?;
    let mut bytes = [0; 4096];
    let read = stream.read(&mut bytes).map_err(|e| e.to_string())?;
    Ok(String::from_utf8_lossy(&bytes[..read]).into_owned())
}

/// Whether the server ended the connection.
fn is_closed(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).is_ok()
}

#[test]
fn a_crowd_without_a_token_keeps_nobody_with_one_out() {
    let world = World::example();
    let served = Served::start(&world, &[]);
    let host = format!("Host: {}\r\n", served.address);
    let with_token = format!("{host}Authorization: {}\r\n", served.bearer());
    let mut holder = opened(&served);
    let first = asked(&mut holder, "/api/status", &with_token).unwrap();
    assert!(first.starts_with("HTTP/1.1 200"), "{first}");
    // Some are silent, some ask what needs no token; all stay as long as they are let.
    let silent: Vec<TcpStream> = (0..100).map(|_| opened(&served)).collect();
    let mut asking: Vec<TcpStream> = (0..100).map(|_| opened(&served)).collect();
    for stream in &mut asking {
        let _ = asked(stream, "/health", &host);
    }
    let start = Instant::now();
    assert_eq!(served.get("/api/status").status, 200);
    let found = served.post("/api/search", &json!({"query": "oven"}));
    assert_eq!(found.status, 200);
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    drop((silent, asking));
    drop(holder);
}

#[test]
fn a_connection_without_a_token_ends_with_its_answer_and_one_with_a_token_does_not() {
    let world = World::example();
    let served = Served::start(&world, &[]);
    let host = format!("Host: {}\r\n", served.address);
    for path in ["/health", "/style.css", "/api/status"] {
        let mut stranger = opened(&served);
        let answer = asked(&mut stranger, path, &host).unwrap();
        assert!(answer.contains("connection: close"), "{path}: {answer}");
        assert!(is_closed(&mut stranger), "{path}");
    }
    let with_token = format!("{host}Authorization: {}\r\n", served.bearer());
    let mut holder = opened(&served);
    for (path, headers) in [
        ("/script.js", &with_token),
        ("/health", &host),
        ("/script.js", &with_token),
    ] {
        let mut all = asked(&mut holder, path, headers).unwrap();
        assert!(all.starts_with("HTTP/1.1 200"), "{path}: {all}");
        let (head, body) = all.split_once("\r\n\r\n").unwrap();
        let mut lengths = head
            .lines()
            .filter_map(|line| line.strip_prefix("content-length: "));
        let length: usize = lengths.next().unwrap().parse().unwrap();
        let mut left = vec![0; length - body.len()];
        holder.read_exact(&mut left).unwrap();
        all.clear();
    }
    // With a wrong token it is a stranger's again.
    let wrong = asked(&mut holder, "/api/status", &host).unwrap();
    assert!(
        wrong.starts_with("HTTP/1.1 401") && wrong.contains("connection: close"),
        "{wrong}"
    );
}

#[test]
fn whoever_tries_tokens_has_to_wait_and_the_right_one_has_not() {
    let world = World::example();
    let served = Served::start(&world, &[]);
    let start = Instant::now();
    for _ in 0..8 {
        served
            .get_as("wrong", "/api/status")
            .is_refused(401, "ACCESS_DENIED");
    }
    let quick = start.elapsed();
    let start = Instant::now();
    served
        .get_as("wrong", "/api/status")
        .is_refused(401, "ACCESS_DENIED");
    assert!(
        start.elapsed() >= Duration::from_secs(2),
        "{quick:?}, {:?}",
        start.elapsed()
    );
    let start = Instant::now();
    assert_eq!(served.get("/api/status").status, 200);
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
}
