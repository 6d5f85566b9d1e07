//! A server for tests: it answers one request per connection with any bytes that a test wants to
//! send.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// One request as received.
pub struct Seen {
    /// `GET`, `POST` and so on.
    pub method: String,
    /// The path with its query.
    pub path: String,
    headers: Vec<(String, String)>,
    /// The whole body as text.
    pub body: String,
}

impl Seen {
    /// The header `name` (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, v)| v.as_str())
    }
}

/// An action of the server. After the last one it closes the connection.
pub enum Step {
    /// It sends these bytes.
    Bytes(Vec<u8>),
    /// It sends nothing for this time.
    Wait(Duration),
}

/// A running server; it ends with the test process.
pub struct Server {
    address: std::net::SocketAddr,
    hits: Arc<AtomicUsize>,
}

impl Server {
    /// The address of `path` on this server.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Number of requests received.
    pub fn hits(&self) -> usize {
        self.hits.load(Ordering::SeqCst)
    }
}

/// Answers every request with the result of `answer`, each on a separate thread.
pub fn serve(answer: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let hits = Arc::new(AtomicUsize::new(0));
    let (counter, answer) = (hits.clone(), Arc::new(answer));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (counter, answer) = (counter.clone(), answer.clone());
            std::thread::spawn(move || {
                let Some(seen) = read(&stream) else { return };
                counter.fetch_add(1, Ordering::SeqCst);
                for step in answer(&seen) {
                    match step {
                        Step::Bytes(bytes) if (&stream).write_all(&bytes).is_err() => return,
                        Step::Bytes(_) => {}
                        Step::Wait(time) => std::thread::sleep(time),
                    }
                }
            });
        }
    });
    Server { address, hits }
}

fn read(stream: &TcpStream) -> Option<Seen> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut parts = line.split_whitespace();
    let (method, path) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_lowercase(), value.to_owned())),
            None => break,
        }
    }
    let length = headers
        .iter()
        .find(|(n, _)| n == "content-length")
        .map_or(0, |(_, v)| v.parse().unwrap_or(0));
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Seen {
        method,
        path,
        headers,
        body: String::from_utf8(body).ok()?,
    })
}

/// A whole reply with status 200 and this JSON.
pub fn ok_json(body: &str) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
    format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}
