//! Streams that report changed notes to clients of the protocol. Such a stream may stay open
//! for days, so it holds no permit of a request; the number of streams has its own limit. Each second
//! its token is checked again.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future as _;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame};
use hyper::header::{self, HeaderValue};
use hyper::{HeaderMap, Response};
use rmcp::model::{
    ResourceUpdatedNotification, ResourceUpdatedNotificationParam, ServerJsonRpcMessage,
    ServerNotification,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::guard::Visit;
use super::reply::Sent;
use super::{ServerState, View};
use crate::mcp::Subscriptions;
use local_agent_text::types::Sha256;

/// Maximum number of streams of one token, and of all: half of the connections.
const MAX_STREAMS: (usize, usize) = (16, 32);

/// The interval at which the access of a stream is checked.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// A comment is sent after this many checks without a message, so that a closed connection is
/// noticed.
const QUIET_CHECKS: u32 = 15;

/// The open streams.
#[derive(Default)]
pub(super) struct Listeners {
    /// The number of streams of each token.
    open: Mutex<HashMap<Sha256, usize>>,
    is_ending: AtomicBool,
}

impl Listeners {
    /// A place for one more stream of this token; `None` if it has as many as it may.
    fn admit(self: &Arc<Self>, token: Sha256) -> Option<StreamPlace> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = open.values().sum();
        let own = open.entry(token).or_default();
        if *own >= MAX_STREAMS.0 || all >= MAX_STREAMS.1 {
            return None;
        }
        *own += 1;
        Some(StreamPlace {
            listeners: Arc::clone(self),
            token,
        })
    }

    /// Ends all streams at their next check, because the server ends.
    pub(super) fn end(&self) {
        self.is_ending.store(true, Ordering::Relaxed);
    }
}

/// The place of one stream; it is free when this is dropped.
struct StreamPlace {
    listeners: Arc<Listeners>,
    token: Sha256,
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let open = &self.listeners.open;
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = open.get_mut(&self.token) {
            *own -= 1;
            if *own == 0 {
                open.remove(&self.token);
            }
        }
    }
}

/// The client of a stream, as its request identified it.
struct Listener {
    house: Arc<ServerState>,
    headers: HeaderMap,
    token: Sha256,
    /// The session that the stream belongs to, if it does.
    session: Option<String>,
}

impl Listener {
    /// The view of the client now; `None` if it has lost its access, its session has ended, or the
    /// server ends.
    fn view(&self) -> Option<Arc<View>> {
        if self.house.listeners.is_ending.load(Ordering::Relaxed) {
            return None;
        }
        let admitted = self.house.access.admits(&self.headers).ok().flatten()?;
        let has_session = |id: &String| self.house.sessions.has(id, self.token, Instant::now());
        if admitted.token != self.token || !self.session.as_ref().is_none_or(has_session) {
            return None;
        }
        self.house.views.of(&admitted.visitor).ok()
    }
}

/// Opens the stream of a session; `None` if the token has as many streams as it may.
pub(super) fn open(
    house: &Arc<ServerState>,
    visit: &Visit,
    (session, subscriptions): (String, Arc<Subscriptions>),
    headers: &HeaderMap,
) -> Option<Sent> {
    let place = house.listeners.admit(visit.token)?;
    let listener = Listener {
        house: Arc::clone(house),
        headers: headers.clone(),
        token: visit.token,
        session: Some(session),
    };
    let (sender, receiver) = unbounded_channel();
    tokio::spawn(tell(listener, subscriptions, sender));
    let body = Messages {
        receiver,
        _place: place,
    };
    let mut response = Response::new(body.boxed());
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Some(response)
}

/// Sends what changed until the client is gone or is no longer admitted.
async fn tell(
    listener: Listener,
    subscriptions: Arc<Subscriptions>,
    sender: UnboundedSender<Bytes>,
) {
    let mut quiet = 0;
    while let Some(view) = listener.view() {
        let changed = subscriptions.next_changes(&view.service).await;
        quiet = if changed.is_empty() { quiet + 1 } else { 0 };
        let comment = (quiet % QUIET_CHECKS == 1).then(|| Bytes::from_static(b":\n\n"));
        let messages = changed.into_iter().filter_map(event);
        for bytes in messages.chain(comment) {
            if sender.send(bytes).is_err() {
                return;
            }
        }
        if sender.is_closed() {
            return;
        }
    }
}

/// The message that a note has changed, as a server-sent event.
fn event(uri: String) -> Option<Bytes> {
    let told = ResourceUpdatedNotification::new(ResourceUpdatedNotificationParam::new(uri));
    let told = ServerNotification::ResourceUpdatedNotification(told);
    let message = serde_json::to_string(&ServerJsonRpcMessage::notification(told)).ok()?;
    Some(Bytes::from(format!("data: {message}\n\n")))
}

/// The body of a session's stream.
struct Messages {
    receiver: UnboundedReceiver<Bytes>,
    _place: StreamPlace,
}

impl Body for Messages {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = self.receiver.poll_recv(context);
        next.map(|next| next.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// The answer of the library to `subscriptions/listen`, with a body that ends when the client is no
/// longer admitted or what it may see has changed; `None` if the token has as many streams as it may.
pub(super) async fn listen(
    house: &Arc<ServerState>,
    visit: &Visit,
    session: Option<String>,
    request: hyper::Request<Bytes>,
) -> Option<Sent> {
    let place = house.listeners.admit(visit.token)?;
    let listener = Listener {
        house: Arc::clone(house),
        headers: request.headers().clone(),
        token: visit.token,
        session,
    };
    let answer = visit
        .view
        .protocol
        .handle(request.map(http_body_util::Full::new))
        .await;
    let (is_wanted, ended) = oneshot::channel();
    tokio::spawn(watch_access(listener, Arc::clone(&visit.view), is_wanted));
    Some(answer.map(|body| {
        let body = AdmittedBody {
            body: Some(body),
            ended,
            _place: place,
        };
        body.boxed()
    }))
}

/// Drops `is_wanted` once the client may not listen on. Ends when nobody listens.
async fn watch_access(listener: Listener, view: Arc<View>, mut is_wanted: oneshot::Sender<()>) {
    while listener.view().is_some_and(|now| Arc::ptr_eq(&now, &view)) {
        tokio::select! {
            () = tokio::time::sleep(CHECK_EVERY) => {}
            () = is_wanted.closed() => return,
        }
    }
}

/// A body that ends when its client is no longer admitted.
struct AdmittedBody<B> {
    /// `None` once it has ended.
    body: Option<B>,
    ended: oneshot::Receiver<()>,
    _place: StreamPlace,
}

impl<B: Body + Unpin> Body for AdmittedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        if self.body.is_some() && Pin::new(&mut self.ended).poll(context).is_ready() {
            // A dropped body cancels its work.
            self.body = None;
        }
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }
}
