//! Serves a client over stdin and stdout by passing its calls to a running `serve`, so that many
//! agents share one loaded model. This module decides nothing: it passes each request to the
//! server, and each message of the server to the client.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ErrorCode as Rpc, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport as _;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::transport::Lines;
use super::{FAREWELL, runtime, server};
use local_agent_net::ServerUrl;
use local_agent_net::http::{Client, Flow, Limits, Piece, origin};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

/// Maximum number of concurrent requests, which is the server's own limit.
const AT_SERVER: usize = 16;

/// After this silence the request counts as lost, because the server ends a request after five
/// minutes.
const SILENCE: Duration = Duration::from_secs(330);

/// The limits of one exchange. The largest result of a tool is far smaller.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(5),
    idle: SILENCE,
    total: Duration::from_secs(600),
    max_body: 64 << 20,
};

/// Maximum number of characters of a server's reason for a refusal.
const LONGEST_REASON: usize = 300;

/// The accepted forms of an answer: one object, or a stream of messages.
const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

/// The key with the version of the protocol in requests of versions from 2026-07-28 on.
const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The method with which a client asks for messages about changed notes.
const LISTEN: &str = "subscriptions/listen";

/// The key with the client's name in a request to a server without sessions.
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

/// The address of the protocol on a server: `/mcp` below the address that `serve` printed.
///
/// # Errors
/// `INVALID_ARGS` for an invalid address, and for one at which the token could be read in transit.
/// Only this machine and `https` are allowed.
pub fn endpoint(url: &str) -> Result<String> {
    let address = ServerUrl::parse(url).map_err(|why| refused_address(url, why))?;
    if !address.is_loopback() && !address.is_https() {
        return Err(refused_address(
            url,
            "beyond this machine it must begin with `https://`, because the token goes there",
        ));
    }
    let address = address.to_string();
    Ok(format!(
        "{}/mcp",
        address.strip_suffix("/mcp").unwrap_or(&address)
    ))
}

/// What to do about an address that is not a server's, or a server that does not answer.
const SEE_ADDRESS: &str =
    "use the address that `local-agent serve status` prints where the server runs";
const START_OR_SEE: &str = "start it with `local-agent serve`, or use the address that \
                            `local-agent serve status` prints";

/// The failure for an address that cannot be that of a server.
fn refused_address(url: &str, why: &str) -> Failure {
    Failure::new(
        ErrorCode::InvalidArgs,
        format!("`{url}` is not the address of a server: {why}"),
    )
    .with_command(SEE_ADDRESS)
}

/// A running server, and the token for it.
pub struct FarAddress {
    /// The address of the protocol: see [`endpoint`].
    pub endpoint: String,
    /// The token.
    pub token: String,
    /// The hash of the server's certificate, if it is known; otherwise an authority must vouch for
    /// it.
    pub certificate: Option<Sha256>,
    /// Checks before each request that the server is still the one that the token is for.
    pub still_there: Box<dyn Fn() -> Result<()> + Send + Sync>,
}

/// Serves one client until it closes its end. The token is sent only to the named address.
///
/// # Errors
/// `SERVER_UNREACHABLE` when no server answers at the start, `SERVER_UNAUTHORIZED` when it refuses
/// the token, `SERVER_ERROR` when another program answers; `INTERNAL_ERROR` when the system
/// provides no threads.
pub fn relay<R, W>(address: FarAddress, streams: impl FnOnce() -> (R, W)) -> Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let http = match &address.certificate {
        Some(certificate) => Client::of_certificate(LIMITS, *certificate)?,
        None => Client::new(LIMITS)?,
    };
    let far = Arc::new(FarServer {
        address,
        http,
        hello: Mutex::default(),
    });
    far.greet()?;
    let runtime = runtime(AT_SERVER)?;
    runtime.block_on(async {
        let (reader, writer) = streams();
        pass(Lines::new(reader, writer), Arc::clone(&far)).await;
    });
    runtime.shutdown_timeout(FAREWELL);
    Ok(())
}

/// A message to the client, and the request that it completes.
type RelayedAnswer = (TxJsonRpcMessage<RoleServer>, Option<RequestId>);

/// Passes messages on until the client closes its end and every request is answered.
async fn pass<R, W>(mut client: Lines<R, W>, far: Arc<FarServer>)
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (sender, mut answers) = unbounded_channel::<RelayedAnswer>();
    let mut open: HashMap<RequestId, Arc<AtomicBool>> = HashMap::new();
    let mut listening = true;
    while listening || !open.is_empty() {
        tokio::select! {
            message = client.receive(), if listening => match message {
                None => listening = false,
                Some(message) => accept(message, &far, &sender, &mut open),
            },
            Some((message, ends)) = answers.recv() => {
                let is_wanted = match ends {
                    // A cancelled request gets no answer.
                    Some(id) => open.remove(&id).is_some_and(|flag| !flag.load(Ordering::Relaxed)),
                    None => true,
                };
                if is_wanted && client.send(message).await.is_err() {
                    break;
                }
            }
        }
    }
    for flag in open.values() {
        flag.store(true, Ordering::Relaxed);
    }
    let _ = client.close().await;
}

/// Sends a request to the server, or cancels one. A server without sessions ignores other messages
/// of a client.
fn accept(
    message: RxJsonRpcMessage<RoleServer>,
    far: &Arc<FarServer>,
    sender: &UnboundedSender<RelayedAnswer>,
    open: &mut HashMap<RequestId, Arc<AtomicBool>>,
) {
    let Ok(value) = serde_json::to_value(&message) else {
        return;
    };
    match message {
        JsonRpcMessage::Request(request) if value["method"] == LISTEN => {
            let why = "a client of `mcp --via-server` cannot subscribe";
            let error = ErrorData::new(Rpc::METHOD_NOT_FOUND, why, None);
            let _ = sender.send((JsonRpcMessage::error(error, Some(request.id)), None));
        }
        JsonRpcMessage::Request(request) => {
            let flag = Arc::<AtomicBool>::default();
            open.insert(request.id.clone(), Arc::clone(&flag));
            let (far, sender) = (Arc::clone(far), sender.clone());
            tokio::task::spawn_blocking(move || {
                far.ask(&request.id, value, &flag, &sender);
            });
        }
        JsonRpcMessage::Notification(_) if value["method"] == "notifications/cancelled" => {
            let id = serde_json::from_value::<RequestId>(value["params"]["requestId"].clone());
            if let Some(flag) = id.ok().and_then(|id| open.get(&id)) {
                flag.store(true, Ordering::Relaxed);
            }
        }
        _ => {}
    }
}

/// The client's first message.
#[derive(Debug, Default, Clone)]
struct Hello {
    /// The version of the protocol that the server chose.
    version: Option<String>,
    client: Option<Value>,
}

/// The server that answers the requests.
struct FarServer {
    address: FarAddress,
    http: Client,
    hello: Mutex<Hello>,
}

impl FarServer {
    /// Checks that the server is reachable and accepts the token.
    fn greet(&self) -> Result<()> {
        let ping = json!({"jsonrpc": "2.0", "id": 0, "method": "ping"});
        let mut answered = false;
        self.exchange(&ping, &mut |piece| {
            answered |= matches!(piece, Piece::Line(line) if message_in(line).is_some());
            Ok(Flow::More)
        })?;
        if answered {
            return Ok(());
        }
        Err(self.stranger("answered with something else than a message"))
    }

    /// Sends one request and passes the server's messages on; a failure becomes the answer.
    fn ask(
        &self,
        id: &RequestId,
        mut request: Value,
        taken_back: &AtomicBool,
        sender: &UnboundedSender<RelayedAnswer>,
    ) {
        let method = request["method"].as_str().unwrap_or_default().to_owned();
        if method == "initialize" {
            self.hello().client = Some(request["params"]["clientInfo"].clone());
        }
        self.name_client(&mut request);
        let mut ended = false;
        let done = self.exchange(&request, &mut |piece| {
            if taken_back.load(Ordering::Relaxed) {
                let message = "the client took the call back";
                return Err(Failure::new(ErrorCode::Cancelled, message));
            }
            let Piece::Line(line) = piece else {
                return Ok(Flow::More);
            };
            let Some(mut message) = message_in(line) else {
                return Ok(Flow::More);
            };
            offer_no_subscriptions(&mut message);
            if let Some(version) = message["result"]["protocolVersion"].as_str()
                && method == "initialize"
            {
                self.hello().version = Some(version.to_owned());
            }
            let Ok(message) = serde_json::from_value(message) else {
                return Ok(Flow::More);
            };
            let ends = matches!(
                message,
                JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)
            );
            ended |= ends;
            // The receiver is gone because the client is; the next piece reports it.
            let _ = sender.send((message, ends.then(|| id.clone())));
            Ok(if ends { Flow::Stop } else { Flow::More })
        });
        if !ended {
            let failure = done
                .err()
                .unwrap_or_else(|| self.stranger("ended its answer early"));
            let _ = sender.send((failed(id, &method, &failure), Some(id.clone())));
        }
    }

    fn exchange(
        &self,
        body: &Value,
        on_piece: &mut dyn FnMut(Piece<'_>) -> Result<Flow>,
    ) -> Result<()> {
        (self.address.still_there)()?;
        let chosen = self.hello().version.clone();
        let headers = headers(body, chosen.as_deref());
        let reply = self
            .http
            .post_lines_with(
                &self.address.endpoint,
                body,
                Some(&self.address.token),
                &headers,
                SILENCE,
                on_piece,
            )
            .map_err(|failure| self.explained(failure))?;
        match reply.status {
            200..300 => Ok(()),
            401 => Err(self.refused_token()),
            403 => Err(self.refused_access(&reply.body)),
            // An error of the protocol itself, with its HTTP status.
            _ => match serde_json::from_slice::<Value>(&reply.body) {
                Ok(message) if message["error"]["code"].is_i64() => {
                    on_piece(Piece::Line(&message.to_string())).map(drop)
                }
                _ => Err(self.stranger(&format!("answered with status {}", reply.status))),
            },
        }
    }

    /// A failure to reach the server, with advice.
    fn explained(&self, failure: Failure) -> Failure {
        match failure.code {
            ErrorCode::ServerUnreachable => failure.with_command(START_OR_SEE),
            ErrorCode::ServerError => failure.with_command(SEE_ADDRESS),
            _ => failure,
        }
    }

    fn refused_token(&self) -> Failure {
        let message = format!(
            "The server {} refuses the token.",
            origin(&self.address.endpoint)
        );
        Failure::new(ErrorCode::ServerUnauthorized, message).with_command(
            "set LOCAL_AGENT_SERVER_TOKEN to what `local-agent serve token` prints where that server runs",
        )
    }

    /// The failure for a request that the server refuses, in the server's own words if it gives any.
    fn refused_access(&self, body: &[u8]) -> Failure {
        let said: Value = serde_json::from_slice(body).unwrap_or_default();
        let Some(why) = said["error_message"].as_str() else {
            return self.refused_token();
        };
        let why: String = why.chars().take(LONGEST_REASON).collect();
        let server = origin(&self.address.endpoint);
        let message = format!("The server {server} refuses access: {why}.");
        Failure::new(ErrorCode::ServerUnauthorized, message).with_command(SEE_ADDRESS)
    }

    fn stranger(&self, what: &str) -> Failure {
        let message = format!("The server {} {what}.", origin(&self.address.endpoint));
        Failure::new(ErrorCode::ServerError, message).with_command(SEE_ADDRESS)
    }

    fn hello(&self) -> std::sync::MutexGuard<'_, Hello> {
        self.hello.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the client's name, because the server keeps no session with it.
    fn name_client(&self, request: &mut Value) {
        let Some(client) = self.hello().client.clone() else {
            return;
        };
        let Some(fields) = request.as_object_mut() else {
            return;
        };
        let empty = || Value::Object(Map::new());
        let params = fields.entry("params").or_insert_with(empty);
        let Some(params) = params.as_object_mut() else {
            return;
        };
        let meta = params.entry("_meta").or_insert_with(empty);
        if let Some(meta) = meta.as_object_mut() {
            meta.entry(CLIENT_INFO).or_insert(client);
        }
    }
}

/// Takes subscriptions out of what the server says it can do: they need its session or stream, and
/// this module has neither.
fn offer_no_subscriptions(message: &mut Value) {
    let resources = message.pointer_mut("/result/capabilities/resources");
    if let Some(resources) = resources.and_then(Value::as_object_mut) {
        resources.remove("subscribe");
    }
}

/// The headers of a request: the accepted types, the version of the protocol and, from 2026-07-28
/// on, the method and the name in the request.
fn headers<'a>(request: &'a Value, chosen: Option<&'a str>) -> Vec<(&'static str, &'a str)> {
    let mut headers = vec![ACCEPT];
    let params = &request["params"];
    let Some(version) = params["_meta"][PROTOCOL_VERSION].as_str() else {
        headers.extend(chosen.map(|version| ("mcp-protocol-version", version)));
        return headers;
    };
    headers.push(("mcp-protocol-version", version));
    headers.extend(
        request["method"]
            .as_str()
            .map(|method| ("mcp-method", method)),
    );
    let name = params["name"].as_str().or(params["uri"].as_str());
    headers.extend(
        name.filter(|name| name.bytes().all(|b| (b' '..=b'~').contains(&b)))
            .map(|name| ("mcp-name", name)),
    );
    headers
}

/// The message in a line of an answer: the line itself, or the data of an event.
fn message_in(line: &str) -> Option<Value> {
    let data = line.strip_prefix("data:").unwrap_or(line).trim();
    let message: Value = serde_json::from_str(data).ok()?;
    message.is_object().then_some(message)
}

/// The error response for a request that the server did not answer.
fn failed(id: &RequestId, method: &str, failure: &Failure) -> TxJsonRpcMessage<RoleServer> {
    if method == "tools/call" {
        let result = server::failed_call(failure, &|_| true);
        return JsonRpcMessage::response(result.into(), id.clone());
    }
    let message = server::said(failure, &|_| true);
    JsonRpcMessage::error(ErrorData::internal_error(message, None), Some(id.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_goes_only_where_nobody_can_read_it() {
        for (url, there) in [
            ("http://127.0.0.1:8377", "http://127.0.0.1:8377/mcp"),
            ("http://127.0.0.1:8377/", "http://127.0.0.1:8377/mcp"),
            ("http://localhost:1/mcp", "http://localhost:1/mcp"),
            ("https://notes.example/a", "https://notes.example/a/mcp"),
        ] {
            assert_eq!(endpoint(url).unwrap(), there);
        }
        for bad in [
            "http://notes.example",
            "http://192.168.0.2:8377",
            "127.0.0.1:8377",
            "ftp://localhost",
            "http://a@localhost",
        ] {
            let failure = endpoint(bad).unwrap_err();
            assert_eq!(failure.code, ErrorCode::InvalidArgs, "{bad}");
        }
    }

    #[test]
    fn a_request_that_names_its_version_names_its_method_too() {
        let old = json!({"method": "tools/call", "params": {"name": "search"}});
        assert_eq!(
            headers(&old, Some("2025-06-18")),
            [ACCEPT, ("mcp-protocol-version", "2025-06-18")]
        );
        let new = json!({"method": "tools/call", "params": {"name": "search", "_meta": {PROTOCOL_VERSION: "2026-07-28"}}});
        assert_eq!(
            headers(&new, None)[1..],
            [
                ("mcp-protocol-version", "2026-07-28"),
                ("mcp-method", "tools/call"),
                ("mcp-name", "search")
            ]
        );
    }

    #[test]
    fn what_the_relay_cannot_do_is_not_offered() {
        let mut message = json!({"id": 1, "result": {"capabilities": {
            "resources": {"subscribe": true, "listChanged": false}, "tools": {}}}});
        offer_no_subscriptions(&mut message);
        let resources = &message["result"]["capabilities"]["resources"];
        assert_eq!(resources, &json!({"listChanged": false}));
        let other = json!({"id": 1, "result": {"content": []}});
        let mut same = other.clone();
        offer_no_subscriptions(&mut same);
        assert_eq!(same, other);
    }

    #[test]
    fn messages_are_found_in_objects_and_in_events() {
        let message = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
        for line in [message.to_string(), format!("data: {message}")] {
            assert_eq!(message_in(&line), Some(message.clone()));
        }
        for line in [
            "",
            ": ping",
            "id: 1",
            "data:",
            "event: message",
            "retry: 3000",
        ] {
            assert_eq!(message_in(line), None, "{line}");
        }
    }
}
