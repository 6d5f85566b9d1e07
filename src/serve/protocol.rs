//! Messages of the Model Context Protocol over HTTP. A client may begin a session with
//! `initialize`; a message without the id of one is on its own.

use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Instant;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Bytes};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use rmcp::model::{
    ClientNotification, ClientRequest, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use serde_json::{Value, json};

use super::guard::{REQUEST_TIMEOUT, Visit};
use super::reply::{Sent, object, refused, reply};
use super::sessions::RunningRequest;
use super::stream::TimedBody;
use super::{ServerState, listening};
use crate::mcp::{self, ClientName};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// The header with the id of a session.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The methods that the address takes; in a session also GET, which opens its stream.
const METHODS: HeaderValue = HeaderValue::from_static("POST, DELETE");

/// What a message means for sessions.
enum Meaning {
    /// It may begin a session of a client that calls itself so.
    Hello(ClientName),
    /// A request that may be cancelled.
    Request(RequestId),
    /// The client cancels a request.
    Cancel(RequestId),
    /// The client wants to hear of changes of a note.
    Subscribe(RequestId, String),
    /// It no longer wants to.
    Unsubscribe(RequestId, String),
    /// The client wants to hear of changes on the stream of this answer.
    Listen,
    Other,
}

/// The code of a message that was refused before it was read.
const REFUSED: i32 = -32000;

/// Answers a message of the protocol, or ends a session.
pub(super) async fn answer(
    house: &Arc<ServerState>,
    visit: &Visit,
    request: Request<Bytes>,
) -> Sent {
    let session = match session_of(request.headers()) {
        Some(id) if !house.sessions.has(&id, visit.token, Instant::now()) => {
            return no_such_session();
        }
        session => session,
    };
    match (request.method(), session) {
        (&Method::DELETE, None) => no_session_named(),
        (&Method::DELETE, Some(id)) => {
            house.sessions.end(&id);
            empty(StatusCode::NO_CONTENT)
        }
        (&Method::GET, Some(id)) => {
            let Some(subscriptions) = house.sessions.subscriptions(&id) else {
                return no_such_session();
            };
            listening::open(house, visit, (id, subscriptions), request.headers())
                .unwrap_or_else(too_many_streams)
        }
        (&Method::POST, session) => posted(house, visit, session, request).await,
        _ => {
            let mut response = passed_on(visit, None, request).await;
            response.headers_mut().insert(header::ALLOW, METHODS);
            response
        }
    }
}

/// The id of the session that the client names; one that is no text is that of no session.
fn session_of(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(SESSION)?;
    Some(id.to_str().unwrap_or_default().to_owned())
}

async fn posted(
    house: &Arc<ServerState>,
    visit: &Visit,
    session: Option<String>,
    request: Request<Bytes>,
) -> Sent {
    let meaning = match meaning_of(request.body()) {
        Ok(meaning) => meaning,
        Err(response) => return *response,
    };
    match (meaning, session) {
        (Meaning::Hello(client), None) => {
            let response = passed_on(visit, None, request).await;
            with_session(house, visit, client, response).await
        }
        (Meaning::Request(request_id), Some(id)) => {
            // The session may have ended just now.
            let Some(running) = house.sessions.run(&id, request_id) else {
                return no_such_session();
            };
            let mut request = request;
            if let Some(client) = house.sessions.client(&id) {
                request.extensions_mut().insert(client);
            }
            passed_on(visit, Some(running), request).await
        }
        (Meaning::Cancel(request_id), Some(id)) => {
            house.sessions.cancel(&id, &request_id);
            passed_on(visit, None, request).await
        }
        (Meaning::Subscribe(request_id, uri), Some(id)) => {
            let Some(subscriptions) = house.sessions.subscriptions(&id) else {
                return no_such_session();
            };
            let done = subscriptions.subscribe(&visit.view.service, uri).await;
            answered(request_id, done)
        }
        (Meaning::Unsubscribe(request_id, uri), Some(id)) => {
            if let Some(subscriptions) = house.sessions.subscriptions(&id) {
                subscriptions.remove(&uri);
            }
            answered(request_id, Ok(()))
        }
        (Meaning::Listen, session) => listening::listen(house, visit, session, request)
            .await
            .unwrap_or_else(too_many_streams),
        _ => passed_on(visit, None, request).await,
    }
}

/// The answer to a request whose result is empty.
fn answered(id: RequestId, done: std::result::Result<(), ErrorData>) -> Sent {
    let message = match done {
        Ok(()) => ServerJsonRpcMessage::response(ServerResult::empty(()), id),
        Err(error) => ServerJsonRpcMessage::error(error, Some(id)),
    };
    let message = serde_json::to_value(message).unwrap_or_default();
    object(StatusCode::OK, &message)
}

/// What the message in a body means; `Err`: the response to a body that contains none.
fn meaning_of(body: &[u8]) -> std::result::Result<Meaning, Box<Sent>> {
    let message = mcp::message_in(body).map_err(|refusal| {
        let message = serde_json::to_value(refusal.into_message()).unwrap_or_default();
        Box::new(object(StatusCode::BAD_REQUEST, &message))
    })?;
    Ok(match message {
        JsonRpcMessage::Request(request) => match request.request {
            ClientRequest::InitializeRequest(hello) => {
                Meaning::Hello(ClientName::of(&hello.params.client_info))
            }
            ClientRequest::SubscribeRequest(wanted) => {
                Meaning::Subscribe(request.id, wanted.params.uri)
            }
            ClientRequest::UnsubscribeRequest(wanted) => {
                Meaning::Unsubscribe(request.id, wanted.params.uri)
            }
            ClientRequest::SubscriptionsListenRequest(_) => Meaning::Listen,
            _ => Meaning::Request(request.id),
        },
        JsonRpcMessage::Notification(notification) => match notification.notification {
            ClientNotification::CancelledNotification(cancelled) => cancelled
                .params
                .request_id
                .map_or(Meaning::Other, Meaning::Cancel),
            _ => Meaning::Other,
        },
        _ => Meaning::Other,
    })
}

/// Passes a message to the library. The permits are held until both the work and the answer have
/// ended, and an answer in steps ends after [`REQUEST_TIMEOUT`], like any other request. A cancelled request
/// gets no answer, as the protocol wants it: the body ends there.
async fn passed_on(
    visit: &Visit,
    mut running: Option<RunningRequest>,
    request: Request<Bytes>,
) -> Sent {
    let until = tokio::time::Instant::now() + REQUEST_TIMEOUT;
    let mut request = request.map(Full::new);
    // The extensions of a request reach the thread that does its work.
    request.extensions_mut().insert(visit.permits.clone());
    let answer = visit.view.protocol.handle(request);
    let answer = match &mut running {
        None => answer.await,
        // If the answer is dropped, its work is cancelled.
        Some(running) => tokio::select! {
            biased;
            () = poll_fn(|context| running.poll_cancelled(context)) => return no_answer(),
            answer = answer => answer,
        },
    };
    if is_plain_refusal(&answer) {
        return as_message(answer).await;
    }
    answer.map(|body| TimedBody::new(body, until, running, visit.permits.clone()).boxed())
}

/// Whether the library refuses a request in plain text.
fn is_plain_refusal<B>(answer: &Response<B>) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    let is_json = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    answer.status().is_client_error() && !is_json
}

/// The same refusal as an error of the protocol, which has no id.
async fn as_message<B>(answer: Response<B>) -> Sent
where
    B: Body<Data = Bytes, Error = Infallible>,
{
    let (parts, body) = answer.into_parts();
    let text = body.collect().await.unwrap_or_default().to_bytes();
    let text = String::from_utf8_lossy(&text);
    let why = match text.trim() {
        "" => parts.status.canonical_reason().unwrap_or_default(),
        text => text,
    };
    let error = json!({"code": REFUSED, "message": why});
    let body = json!({"jsonrpc": "2.0", "id": null, "error": error});
    let mut response = object(parts.status, &body);
    if let Some(allowed) = parts.headers.get(header::ALLOW) {
        response
            .headers_mut()
            .insert(header::ALLOW, allowed.clone());
    }
    response
}

/// Begins a session if the library accepted the client, and names it in the response.
async fn with_session(
    house: &ServerState,
    visit: &Visit,
    client: ClientName,
    response: Sent,
) -> Sent {
    let (mut parts, body) = response.into_parts();
    // The body is infallible.
    let body = body.collect().await.unwrap_or_default().to_bytes();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    if message.get("result").is_some() {
        match new_session(house, visit, client) {
            Ok(id) => parts.headers.insert(SESSION, id),
            Err(failure) => return reply(Err(failure), &visit.view.service.roots),
        };
    }
    Response::from_parts(parts, Full::new(body).boxed())
}

fn new_session(house: &ServerState, visit: &Visit, client: ClientName) -> Result<HeaderValue> {
    let now = Instant::now();
    let id = house.sessions.begin(visit.token, Some(client), now)?;
    HeaderValue::from_str(&id)
        .map_err(|e| Failure::internal(format!("the id of a session is not a header: {e}")))
}

fn no_such_session() -> Sent {
    let failure = Failure::new(
        ErrorCode::InvalidArgs,
        "there is no such session: it has ended, or belongs to another token",
    )
    .with_hint("send `initialize` again, without `Mcp-Session-Id`");
    refused(StatusCode::NOT_FOUND, &failure)
}

fn too_many_streams() -> Sent {
    let failure = Failure::new(
        ErrorCode::ServerBusy,
        "too many streams of this token, or of all, are open already",
    )
    .with_hint("close one of them");
    refused(StatusCode::TOO_MANY_REQUESTS, &failure)
}

fn no_session_named() -> Sent {
    let failure = Failure::new(ErrorCode::InvalidArgs, "`Mcp-Session-Id` is missing")
        .with_hint("send the id that the answer to `initialize` names");
    refused(StatusCode::BAD_REQUEST, &failure)
}

/// The response to a cancelled request: a stream of messages without any.
fn no_answer() -> Sent {
    let mut response = empty(StatusCode::OK);
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

fn empty(status: StatusCode) -> Sent {
    let mut response = Response::new(Full::default().boxed());
    *response.status_mut() = status;
    response
}
