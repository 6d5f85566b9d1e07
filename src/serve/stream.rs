//! An answer as server-sent events: the steps, with each sentence of a draft as soon as it passed,
//! then each sentence of the answer, then the whole answer as the page shows it.
//!
//! No text of a model is sent before the verifier has judged it. A sentence of a draft is
//! preliminary: the sentences of the answer replace it. If the client closes the connection, the
//! question is cancelled, and its record says so.

use std::cell::RefCell;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::Response;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{self, HeaderValue};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, Interval, Sleep, interval, sleep_until};

use super::api::{Waiting, entered, subject_of};
use super::browser_advice::for_browser;
use super::guard::{Permits, REQUEST_TIMEOUT, Visit};
use super::page::{self, Shell};
use super::reply::Sent;
use super::sessions::RunningRequest;
use super::{AskEvent, AskStep, PassedSentence, WantedAnswer, page_proof, site};
use local_agent_text::error::Result;

/// The interval at which a message is sent while nothing happens, so that a closed connection is
/// noticed.
const STILL_HERE: Duration = Duration::from_secs(1);

/// The last event: the content of the page, as HTML in which every text is escaped, and its title.
#[derive(Serialize, JsonSchema)]
struct PageEvent {
    ok: bool,
    /// Where the answer is from now on; null if no record keeps it.
    address: Option<String>,
    title: String,
    html: String,
}

/// The body of the response.
struct Events {
    receiver: UnboundedReceiver<Bytes>,
    tick: Interval,
    until: Instant,
    /// Cancels the operation when the client stops waiting.
    _waiting: Waiting,
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, Infallible>>> {
        if let Poll::Ready(next) = self.receiver.poll_recv(context) {
            return Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))));
        }
        if self.tick.poll_tick(context).is_ready() {
            if Instant::now() >= self.until {
                return Poll::Ready(None);
            }
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b":\n\n")))));
        }
        Poll::Pending
    }
}

/// A body that ends at a point of time or when its client cancels the request, even if more would
/// come. It holds the permits of its request until then.
pub(super) struct TimedBody<B> {
    /// `None` once it has ended.
    body: Option<B>,
    end: Pin<Box<Sleep>>,
    /// The request in its session, if it belongs to one.
    request: Option<RunningRequest>,
    _permits: Permits,
}

impl<B> TimedBody<B> {
    pub(super) fn new(
        body: B,
        until: Instant,
        request: Option<RunningRequest>,
        permits: Permits,
    ) -> Self {
        Self {
            body: Some(body),
            end: Box::pin(sleep_until(until)),
            request,
            _permits: permits,
        }
    }

    /// Whether nothing more of the body is wanted.
    fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        let request = self.request.as_mut();
        self.end.as_mut().poll(context).is_ready()
            || request.is_some_and(|request| request.poll_cancelled(context).is_ready())
    }
}

impl<B: Body + Unpin> Body for TimedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<B::Data>, B::Error>>> {
        if self.is_over(context) {
            // A dropped body cancels its work.
            self.body = None;
        }
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(SizeHint::default, Body::size_hint)
    }
}

/// Answers a question in steps.
pub(super) fn answer(visit: &Visit, shell: Shell, wanted: WantedAnswer) -> Sent {
    let (sender, receiver) = unbounded_channel();
    let waiting = Waiting::default();
    let cancelled = Arc::clone(&waiting.0);
    let inside = visit.clone();
    tokio::task::spawn_blocking(move || {
        let bodies = &*inside.view.bodies;
        let last = RefCell::default();
        let tell = |news| report(&sender, &last, news);
        let done = bodies.ask(&wanted, &cancelled, &tell);
        let done = done.and_then(|answer| site::with_passages(bodies, answer));
        let subject = subject_of(&wanted.question);
        finish(
            &sender,
            &shell,
            entered(&inside.view, "ask", &subject, done),
        );
    });
    let events = Events {
        receiver,
        tick: interval(STILL_HERE),
        until: Instant::now() + REQUEST_TIMEOUT,
        _waiting: waiting,
    };
    let mut response = Response::new(events.boxed());
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// Sends what is reported before the answer. A step that equals the one before is not sent again.
fn report(sender: &UnboundedSender<Bytes>, last: &RefCell<Option<AskStep>>, news: AskEvent) {
    match news {
        AskEvent::Step(step) => {
            if last.borrow().as_ref() != Some(&step) {
                send(sender, "step", &step);
            }
            last.replace(Some(step));
        }
        AskEvent::Sentence(sentence) => send(sender, "sentence", &sentence),
    }
}

/// Sends the sentences and the whole answer, or the failure.
fn finish(sender: &UnboundedSender<Bytes>, shell: &Shell, done: Result<Value>) {
    let (ok, title, html) = match &done {
        Ok(answer) => {
            let claims = answer["citation_validation"]["claims"].as_array();
            for claim in claims.into_iter().flatten() {
                let sentence = PassedSentence {
                    draft: None,
                    verdict: claim_text(claim, "verdict").to_owned(),
                    text: claim_text(claim, "text").to_owned(),
                };
                send(sender, "sentence", &sentence);
            }
            let html = page_proof::answer_content(shell, answer);
            (true, shell.text.as_str(), html)
        }
        Err(failure) => (
            false,
            page::NOT_DONE,
            page::failure_content(&for_browser(failure)),
        ),
    };
    let last = PageEvent {
        ok,
        address: done.as_ref().ok().and_then(site::answer_address),
        title: page::full_title(title),
        html: html.into_string(),
    };
    send(sender, "page", &last);
}

/// A text field of a claim; empty if it is missing.
fn claim_text<'c>(claim: &'c Value, key: &str) -> &'c str {
    claim[key].as_str().unwrap_or_default()
}

/// Sends an event, in which every character of a text is visible, as on a page.
fn send(sender: &UnboundedSender<Bytes>, name: &str, data: &impl Serialize) {
    if let Ok(data) = serde_json::to_value(data) {
        // JSON on one line has no line breaks: those in strings are escaped.
        let data = with_visible_texts(data);
        // The client may have stopped waiting; that is not an error.
        let _ = sender.send(Bytes::from(format!("event: {name}\ndata: {data}\n\n")));
    }
}

/// The value, in which every character of a text is visible.
fn with_visible_texts(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(page::visible_text(&text)),
        Value::Array(items) => Value::Array(items.into_iter().map(with_visible_texts).collect()),
        Value::Object(fields) => {
            let mut shown = Map::new();
            for (name, value) in fields {
                shown.insert(name, with_visible_texts(value));
            }
            Value::Object(shown)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_without_an_end_ends_in_time_and_what_is_behind_it_is_dropped() {
        let runtime = crate::mcp::runtime(1).unwrap();
        runtime.block_on(async {
            let (sender, receiver) = unbounded_channel();
            let waiting = Waiting::default();
            let cancelled = Arc::clone(&waiting.0);
            let endless = Events {
                receiver,
                tick: interval(Duration::from_millis(1)),
                until: Instant::now() + REQUEST_TIMEOUT,
                _waiting: waiting,
            };
            let until = Instant::now() + Duration::from_millis(20);
            let mut body = TimedBody::new(endless, until, None, Permits::unlimited());
            while body.frame().await.is_some() {}
            assert!(Instant::now() >= until);
            assert!(sender.is_closed());
            assert!(cancelled.load(std::sync::atomic::Ordering::Relaxed));
        });
    }
}
