//! The only HTTP client.
//!
//! Even a server that a person configured must not use up this program's time or memory:
//! connecting, silence and the whole exchange have time limits, and a body is cut off at its size
//! limit while it streams. A redirect is followed only within the same origin, so a server cannot
//! send a request (and the text in it) elsewhere. Proxy variables of the environment are ignored.

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Method, StatusCode, Url};
use serde_json::Value;

use crate::pinned;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

/// The limits of an exchange.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Time until the connection is made.
    pub connect: Duration,
    /// How long the server may be silent during a reply (and before it begins).
    pub idle: Duration,
    /// Time from the first byte sent to the last byte received.
    pub total: Duration,
    /// Maximum bytes of a reply's body.
    pub max_body: usize,
}

impl Limits {
    /// Limits for requests that a healthy server answers at once: `timeout` for everything, and at
    /// most 4 MiB.
    pub const fn probe(timeout: Duration) -> Self {
        Self {
            connect: timeout,
            idle: timeout,
            total: timeout,
            max_body: 4 << 20,
        }
    }
}

/// A reply as received.
#[derive(Debug)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The decoded body, up to the size limit.
    pub body: Vec<u8>,
}

/// The events while a reply is being received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A line, without its line break.
    Line(&'a str),
    /// No data was received for the time [`HEARTBEAT`], so the caller may give up.
    Waiting,
}

/// The interval at which a caller that waits for a server is asked whether to continue.
pub const HEARTBEAT: Duration = Duration::from_millis(100);

/// How long the event loop goes on after an exchange, which is enough to close its connection.
const GOODBYE: Duration = Duration::from_millis(2);

/// Whether the caller wants more lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// It wants more lines.
    More,
    /// The reply is complete; anything else from the server is not read.
    Stop,
}

impl Reply {
    /// The body as JSON.
    ///
    /// Errors: `SERVER_ERROR` for a status outside 200–299 (with the server's message) or a body
    /// that is not JSON.
    pub fn json(&self, url: &str) -> Result<Value> {
        let parsed: Option<Value> = serde_json::from_slice(&self.body).ok();
        if (200..300).contains(&self.status) {
            return parsed.ok_or_else(|| server_error(url, "sent a reply that is not JSON"));
        }
        let said = parsed
            .as_ref()
            .and_then(|v| v["error"]["message"].as_str().or(v["error"].as_str()))
            .unwrap_or("");
        let said: String = said.chars().filter(|c| !c.is_control()).take(200).collect();
        let colon = if said.is_empty() { "" } else { ": " };
        let what = format!("answered with status {}{colon}{said}", self.status);
        let mut failure = server_error(url, &what);
        if matches!(self.status, 401 | 403) {
            failure.code = ErrorCode::ServerUnauthorized;
        }
        Err(failure)
    }
}

/// A client with fixed limits. Any number of threads may use it. Calls on the same client wait for
/// each other only while they drive its private event loop.
pub struct Client {
    runtime: tokio::runtime::Runtime,
    http: reqwest::Client,
    limits: Limits,
}

/// Maximum number of redirects within one origin.
const REDIRECTS: usize = 3;

impl Client {
    /// A client with these limits; no server is contacted.
    ///
    /// Errors: `INTERNAL_ERROR` when the system provides no event loop or no root certificates.
    pub fn new(limits: Limits) -> Result<Self> {
        Self::made(limits, None)
    }

    /// A client for a server with this certificate (its hash), and for servers without TLS. No
    /// other certificate is accepted.
    ///
    /// Errors: see [`Self::new`].
    pub fn of_certificate(limits: Limits, certificate: Sha256) -> Result<Self> {
        Self::made(limits, Some(certificate))
    }

    fn made(limits: Limits, certificate: Option<Sha256>) -> Result<Self> {
        // Fails only if a provider is already installed, which is just as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| Failure::internal(format!("no event loop: {e}")))?;
        let builder = match certificate {
            None => reqwest::Client::builder(),
            Some(certificate) => {
                reqwest::Client::builder().tls_backend_preconfigured(pinned::tls(certificate)?)
            }
        };
        let http = builder
            .user_agent(concat!("local-agent/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(limits.connect)
            .read_timeout(limits.idle)
            .timeout(limits.total)
            .redirect(Policy::custom(|attempt| match attempt.previous().last() {
                Some(from)
                    if same_origin(from, attempt.url())
                        && attempt.previous().len() <= REDIRECTS =>
                {
                    attempt.follow()
                }
                _ => attempt.stop(),
            }))
            .no_proxy()
            // The server may have closed an idle connection meanwhile; a new one is always open.
            .pool_max_idle_per_host(0)
            .build()
            .map_err(|e| Failure::internal(format!("no HTTP client: {}", reason(&e))))?;
        Ok(Self {
            runtime,
            http,
            limits,
        })
    }

    /// GET; returns the reply as JSON.
    ///
    /// Errors: `SERVER_UNREACHABLE`, `SERVER_ERROR`.
    pub fn get_json(&self, url: &str) -> Result<Value> {
        self.get(url)?.json(url)
    }

    /// POST of `body` as JSON; returns the reply as JSON.
    ///
    /// Errors: `SERVER_UNREACHABLE`, `SERVER_ERROR`.
    pub fn post_json(&self, url: &str, body: &Value) -> Result<Value> {
        self.post(url, body, None)?.json(url)
    }

    /// GET; a reply with any status is accepted.
    ///
    /// Errors: `SERVER_UNREACHABLE`; `SERVER_ERROR` for a redirect to another origin, or a reply
    /// that is too long or incomplete.
    pub fn get(&self, url: &str) -> Result<Reply> {
        self.send(Method::GET, url, None, None)
    }

    /// GET with `bearer` as the key if the server requires one; a reply with any status is
    /// accepted.
    ///
    /// Errors: see [`Self::get`].
    pub fn get_with(&self, url: &str, bearer: Option<&str>) -> Result<Reply> {
        self.send(Method::GET, url, None, bearer)
    }

    /// POST of `body` as JSON, with `bearer` as the key if the server requires one; a reply with
    /// any status is accepted.
    ///
    /// Errors: see [`Self::get`].
    pub fn post(&self, url: &str, body: &Value, bearer: Option<&str>) -> Result<Reply> {
        self.send(Method::POST, url, Some(body), bearer)
    }

    fn send(
        &self,
        method: Method,
        url: &str,
        body: Option<&Value>,
        bearer: Option<&str>,
    ) -> Result<Reply> {
        let (target, mut request) = self.request(method, url, body)?;
        if let Some(key) = bearer {
            request = request.bearer_auth(key);
        }
        self.runtime.block_on(async {
            let response = request.send().await.map_err(|e| self.failure(url, &e))?;
            if let Some(elsewhere) = left_origin(&target, &response, response.status()) {
                return Err(server_error(
                    url,
                    &format!("redirects to {elsewhere}, which was not asked for"),
                ));
            }
            self.rest(url, response).await
        })
    }

    /// POST of `body` as JSON. If the status is 200–299, every line of the reply is passed to
    /// `on_piece` as it arrives, until `on_piece` returns `Stop` or an error, or the reply ends.
    /// Then the connection is closed, so that the server can stop. `silence` limits the wait for
    /// the next bytes once the reply has begun; before that only the client's own limits apply,
    /// because a server may be loading a model. A reply with any other status is returned whole;
    /// for a streamed reply the returned body is empty.
    ///
    /// Errors: see [`Self::get`], those of `on_piece`, and `SERVER_ERROR` for bytes that are not
    /// UTF-8.
    pub fn post_lines(
        &self,
        url: &str,
        body: &Value,
        bearer: Option<&str>,
        silence: Duration,
        on_piece: &mut dyn FnMut(Piece<'_>) -> Result<Flow>,
    ) -> Result<Reply> {
        self.post_lines_with(url, body, bearer, &[], silence, on_piece)
    }

    /// Like [`Self::post_lines`], with additional headers.
    ///
    /// Errors: see [`Self::post_lines`].
    pub fn post_lines_with(
        &self,
        url: &str,
        body: &Value,
        bearer: Option<&str>,
        headers: &[(&str, &str)],
        silence: Duration,
        on_piece: &mut dyn FnMut(Piece<'_>) -> Result<Flow>,
    ) -> Result<Reply> {
        let (target, mut request) = self.request(Method::POST, url, Some(body))?;
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(key) = bearer {
            request = request.bearer_auth(key);
        }
        self.runtime.block_on(async {
            let done = self.lines((url, &target), request, silence, on_piece).await;
            // The event loop works only while somebody waits for it. Without this, the connection
            // of an exchange that was given up would stay open until the next one.
            tokio::time::sleep(GOODBYE).await;
            done
        })
    }

    /// Sends a request and passes the lines of its reply on.
    async fn lines(
        &self,
        (url, target): (&str, &Url),
        request: reqwest::RequestBuilder,
        silence: Duration,
        on_piece: &mut dyn FnMut(Piece<'_>) -> Result<Flow>,
    ) -> Result<Reply> {
        let response = heeding(request.send(), on_piece).await?;
        let mut response = response.map_err(|e| self.failure(url, &e))?;
        let status = response.status();
        if let Some(elsewhere) = left_origin(target, &response, status) {
            return Err(server_error(
                url,
                &format!("redirects to {elsewhere}, which was not asked for"),
            ));
        }
        if !status.is_success() {
            return self.rest(url, response).await;
        }
        let whole = Reply {
            status: status.as_u16(),
            body: Vec::new(),
        };
        let (mut pending, mut seen) = (Vec::new(), 0);
        loop {
            let next = heeding(tokio::time::timeout(silence, response.chunk()), on_piece).await?;
            let next = next.map_err(|_| silent(url))?;
            let Some(bytes) = next.map_err(|e| self.failure(url, &e))? else {
                break;
            };
            seen += bytes.len();
            if seen > self.limits.max_body {
                return Err(server_error(
                    url,
                    &format!("sent more than {} bytes", self.limits.max_body),
                ));
            }
            for part in bytes.split_inclusive(|b| *b == b'\n') {
                pending.extend_from_slice(part);
                if pending.last() == Some(&b'\n') {
                    pending.pop();
                    if line(url, &std::mem::take(&mut pending), on_piece)? == Flow::Stop {
                        return Ok(whole);
                    }
                }
            }
        }
        if !pending.is_empty() {
            line(url, &pending, on_piece)?;
        }
        Ok(whole)
    }

    fn request(
        &self,
        method: Method,
        url: &str,
        body: Option<&Value>,
    ) -> Result<(Url, reqwest::RequestBuilder)> {
        let target = Url::parse(url)
            .map_err(|e| server_error(url, &format!("has an address that is not valid ({e})")))?;
        let request = self.http.request(method, target.clone());
        Ok((
            target,
            if let Some(body) = body {
                request.json(body)
            } else {
                request
            },
        ))
    }

    /// The whole body, up to the size limit.
    async fn rest(&self, url: &str, mut response: reqwest::Response) -> Result<Reply> {
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(|e| self.failure(url, &e))? {
            if body.len() + bytes.len() > self.limits.max_body {
                return Err(server_error(
                    url,
                    &format!("sent more than {} bytes", self.limits.max_body),
                ));
            }
            body.extend_from_slice(&bytes);
        }
        Ok(Reply { status, body })
    }

    /// Converts an error of the HTTP library to a failure.
    fn failure(&self, url: &str, error: &reqwest::Error) -> Failure {
        let server = origin(url);
        if error.is_timeout() {
            return silent(url);
        }
        if error.is_connect() {
            let message = format!("The server {server} cannot be reached ({}).", reason(error));
            return Failure::new(ErrorCode::ServerUnreachable, message);
        }
        server_error(url, &format!("broke off its reply ({})", reason(error)))
    }
}

/// Waits for `work`; at every [`HEARTBEAT`], asks whether to continue.
async fn heeding<T>(
    work: impl Future<Output = T>,
    on_piece: &mut dyn FnMut(Piece<'_>) -> Result<Flow>,
) -> Result<T> {
    let mut work = std::pin::pin!(work);
    loop {
        match tokio::time::timeout(HEARTBEAT, &mut work).await {
            Ok(done) => return Ok(done),
            Err(_) => on_piece(Piece::Waiting)?,
        };
    }
}

/// Passes one line on.
fn line(
    url: &str,
    bytes: &[u8],
    on_piece: &mut dyn FnMut(Piece<'_>) -> Result<Flow>,
) -> Result<Flow> {
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes)
        .map_err(|_| server_error(url, "sent bytes that are not UTF-8"))?;
    on_piece(Piece::Line(text))
}

/// The failure `SERVER_UNREACHABLE`: no reply in time.
fn silent(url: &str) -> Failure {
    Failure::new(
        ErrorCode::ServerUnreachable,
        format!("The server {} did not answer in time.", origin(url)),
    )
}

/// The target of a redirect that was not followed, without its path, which could contain anything.
fn left_origin(target: &Url, response: &reqwest::Response, status: StatusCode) -> Option<String> {
    if !status.is_redirection() {
        return None;
    }
    let location = response.headers().get("location")?.to_str().ok()?;
    let to = target.join(location).ok()?;
    Some(to.origin().ascii_serialization())
}

fn same_origin(a: &Url, b: &Url) -> bool {
    a.origin() == b.origin()
}

/// Scheme, host and port: a message must not show a path, user name or key.
pub fn origin(url: &str) -> String {
    Url::parse(url).map_or_else(
        |_| "(no valid address)".into(),
        |url| url.origin().ascii_serialization(),
    )
}

/// The innermost cause of an error; the outer ones repeat the address.
fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

/// Whether a server cannot be used: it does not answer, refuses, or answers with an error.
pub fn is_server_failure(failure: &Failure) -> bool {
    matches!(
        failure.code,
        ErrorCode::ServerUnreachable | ErrorCode::ServerError | ErrorCode::ServerUnauthorized
    )
}

/// The failure `SERVER_ERROR` for the server of `url`.
pub fn server_error(url: &str, what: &str) -> Failure {
    Failure::new(
        ErrorCode::ServerError,
        format!("The server {} {what}.", origin(url)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_testing::server::{Step, ok_json, serve};
    use std::io::Write as _;

    /// Generous limits for tests that are not about time.
    const CALM: Limits = Limits {
        connect: Duration::from_secs(20),
        idle: Duration::from_secs(20),
        total: Duration::from_secs(60),
        max_body: 1000,
    };

    #[test]
    fn json_goes_out_and_comes_back() {
        let server = serve(|seen| {
            vec![Step::Bytes(ok_json(&format!(
                r#"{{"got":{},"by":"{}"}}"#,
                seen.body, seen.method
            )))]
        });
        let client = Client::new(CALM).unwrap();
        let reply = client
            .post_json(&server.url("/x"), &serde_json::json!({"a": 1}))
            .unwrap();
        assert_eq!(reply, serde_json::json!({"got": {"a": 1}, "by": "POST"}));
        assert_eq!(client.get(&server.url("/x")).unwrap().status, 200);
    }

    #[test]
    fn s41_a_redirect_to_another_origin_is_not_followed() {
        let other = serve(|_| vec![Step::Bytes(ok_json("{}"))]);
        let to = other.url("/steal");
        let server = serve(move |_| {
            vec![Step::Bytes(
                format!("HTTP/1.1 307 X\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n")
                    .into_bytes(),
            )]
        });
        let failure = Client::new(CALM)
            .unwrap()
            .post_json(&server.url("/x"), &serde_json::json!({}))
            .unwrap_err();
        assert_eq!(failure.code, ErrorCode::ServerError);
        assert!(failure.message.contains("redirects"), "{failure}");
        assert_eq!(other.hits(), 0);
    }

    #[test]
    fn a_redirect_within_the_origin_is_followed_a_few_times() {
        let server = serve(|seen| {
            let next = match seen.path.as_str() {
                "/a" => "/b",
                "/loop" => "/loop",
                _ => return vec![Step::Bytes(ok_json("true"))],
            };
            vec![Step::Bytes(
                format!("HTTP/1.1 302 X\r\nlocation: {next}\r\ncontent-length: 0\r\n\r\n")
                    .into_bytes(),
            )]
        });
        let client = Client::new(CALM).unwrap();
        assert_eq!(
            client.get_json(&server.url("/a")).unwrap(),
            Value::Bool(true)
        );
        assert_eq!(
            client.get_json(&server.url("/loop")).unwrap_err().code,
            ErrorCode::ServerError
        );
    }

    #[test]
    fn s41_a_huge_reply_is_cut_off_at_the_cap() {
        // No length is announced; the server would never stop sending.
        let server = serve(|_| {
            let head = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
            std::iter::once(Step::Bytes(head))
                .chain((0..100_000).map(|_| Step::Bytes(vec![b' '; 1000])))
                .collect()
        });
        let failure = Client::new(CALM)
            .unwrap()
            .get_json(&server.url("/"))
            .unwrap_err();
        assert_eq!(failure.code, ErrorCode::ServerError);
        assert!(
            failure.message.contains("more than 1000 bytes"),
            "{failure}"
        );
    }

    #[test]
    fn s41_a_slow_drip_ends_at_the_total_limit() {
        let server = serve(|_| {
            let drip = (0..2000).flat_map(|_| {
                [
                    Step::Bytes(b" ".to_vec()),
                    Step::Wait(Duration::from_millis(20)),
                ]
            });
            std::iter::once(Step::Bytes(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()))
                .chain(drip)
                .collect()
        });
        let limits = Limits {
            total: Duration::from_millis(300),
            ..CALM
        };
        let failure = Client::new(limits)
            .unwrap()
            .get_json(&server.url("/"))
            .unwrap_err();
        assert_eq!(failure.code, ErrorCode::ServerUnreachable);
    }

    #[test]
    fn silence_ends_at_the_idle_limit() {
        let server = serve(|_| vec![Step::Wait(Duration::from_secs(30))]);
        let limits = Limits {
            idle: Duration::from_millis(200),
            ..CALM
        };
        assert_eq!(
            Client::new(limits)
                .unwrap()
                .get(&server.url("/"))
                .unwrap_err()
                .code,
            ErrorCode::ServerUnreachable
        );
    }

    #[test]
    fn s41_replies_that_are_not_json_or_break_off_are_server_errors() {
        let not_json = serve(|_| vec![Step::Bytes(ok_json("<html>"))]);
        let cut = serve(|_| {
            vec![Step::Bytes(
                b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{".to_vec(),
            )]
        });
        let client = Client::new(CALM).unwrap();
        for server in [not_json, cut] {
            assert_eq!(
                client.get_json(&server.url("/")).unwrap_err().code,
                ErrorCode::ServerError
            );
        }
    }

    #[test]
    fn an_error_status_carries_what_the_server_says() {
        let server = serve(|_| {
            let body = r#"{"error":"model 'x' not found"}"#;
            let mut reply = Vec::new();
            write!(
                reply,
                "HTTP/1.1 404 X\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
            .unwrap();
            vec![Step::Bytes(reply)]
        });
        let failure = Client::new(CALM)
            .unwrap()
            .get_json(&server.url("/secret-path"))
            .unwrap_err();
        assert!(failure.message.contains("404") && failure.message.contains("model 'x' not found"));
        assert!(!failure.message.contains("secret-path"));
    }

    fn lines(
        server: &local_agent_testing::server::Server,
        silence: u64,
    ) -> (Vec<String>, Result<Reply>) {
        let mut seen = Vec::new();
        let client = Client::new(CALM).unwrap();
        let reply = client.post_lines(
            &server.url("/"),
            &serde_json::json!({}),
            None,
            Duration::from_millis(silence),
            &mut |piece| {
                let Piece::Line(line) = piece else {
                    return Ok(Flow::More);
                };
                seen.push(line.to_owned());
                Ok(if line == "stop" {
                    Flow::Stop
                } else {
                    Flow::More
                })
            },
        );
        (seen, reply)
    }

    #[test]
    fn lines_come_whole_however_the_bytes_are_cut() {
        let server = serve(|_| {
            let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
            let text = "é 日本\r\n\nlast";
            std::iter::once(head)
                .chain(text.bytes().map(|b| vec![b]))
                .map(Step::Bytes)
                .collect()
        });
        let (seen, reply) = lines(&server, 20_000);
        assert_eq!(
            (seen, reply.unwrap().status),
            (
                vec!["é 日本".to_owned(), String::new(), "last".to_owned()],
                200
            )
        );
    }

    /// Whether the connection of an exchange that is given up is closed, though nobody asks
    /// anything else. The server sends `head` and then nothing.
    fn is_closed_when_given_up(head: &'static [u8]) -> bool {
        use std::io::Read as _;
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            // A reply before the request would be an error of its own.
            let began = stream.read(&mut [0; 4096]).unwrap();
            assert_ne!(began, 0);
            stream.write_all(head).unwrap();
            stream
                .set_read_timeout(Some(Duration::from_secs(20)))
                .unwrap();
            // Everything that the client sent, until it closes its end.
            let read = stream.read_to_end(&mut Vec::new());
            read.map_or_else(
                |e| e.kind() == std::io::ErrorKind::ConnectionReset,
                |_| true,
            )
        });
        let client = Client::new(CALM).unwrap();
        let mut waited = 0;
        let given_up = client.post_lines(
            &url,
            &serde_json::json!({}),
            None,
            Duration::from_secs(60),
            &mut |_| {
                waited += 1;
                match waited {
                    0..3 => Ok(Flow::More),
                    _ => Err(Failure::new(ErrorCode::Cancelled, "enough")),
                }
            },
        );
        assert_eq!(given_up.unwrap_err().code, ErrorCode::Cancelled);
        let is_closed = server.join().unwrap();
        // The client is still there: the end of its life would close everything.
        drop(client);
        is_closed
    }

    #[test]
    fn an_exchange_that_is_given_up_closes_its_connection_at_once() {
        assert!(is_closed_when_given_up(b""), "before the reply");
        let head = b"HTTP/1.1 200 OK\r\n\r\none\n";
        assert!(is_closed_when_given_up(head), "during the reply");
    }

    #[test]
    fn what_follows_the_end_is_not_waited_for() {
        let server = serve(|_| {
            let text = b"HTTP/1.1 200 OK\r\n\r\na\nstop\nmore\n".to_vec();
            vec![Step::Bytes(text), Step::Wait(Duration::from_secs(30))]
        });
        assert_eq!(lines(&server, 20_000).0, ["a", "stop"]);
    }

    #[test]
    fn s41_silence_within_a_reply_a_flood_and_a_status_end_the_lines() {
        let silent = serve(|_| {
            vec![
                Step::Bytes(b"HTTP/1.1 200 OK\r\n\r\na\n".to_vec()),
                Step::Wait(Duration::from_secs(30)),
            ]
        });
        let (seen, reply) = lines(&silent, 200);
        assert_eq!(
            (seen.len(), reply.unwrap_err().code),
            (1, ErrorCode::ServerUnreachable)
        );
        let flood = serve(|_| {
            vec![Step::Bytes(
                [b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'x'; 5000]].concat(),
            )]
        });
        assert_eq!(
            lines(&flood, 20_000).1.unwrap_err().code,
            ErrorCode::ServerError
        );
        let binary = serve(|_| vec![Step::Bytes(b"HTTP/1.1 200 OK\r\n\r\n\xff\n".to_vec())]);
        assert_eq!(
            lines(&binary, 20_000).1.unwrap_err().code,
            ErrorCode::ServerError
        );
        let busy = serve(|_| {
            vec![Step::Bytes(
                b"HTTP/1.1 503 X\r\ncontent-length: 2\r\n\r\nno".to_vec(),
            )]
        });
        let (seen, reply) = lines(&busy, 20_000);
        let reply = reply.unwrap();
        assert_eq!(
            (seen.len(), reply.status, reply.body.as_slice()),
            (0, 503, b"no".as_slice())
        );
    }

    #[test]
    fn nobody_listening_is_unreachable() {
        let free = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let failure = Client::new(CALM)
            .unwrap()
            .get(&format!("http://{free}/"))
            .unwrap_err();
        assert_eq!(failure.code, ErrorCode::ServerUnreachable);
        assert_eq!(
            Client::new(CALM).unwrap().get("nonsense").unwrap_err().code,
            ErrorCode::ServerError
        );
    }
}
