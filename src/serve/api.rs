//! The endpoints: `/health`, `/enter`, `/mcp`, and those below `/api`. Each call is a line in the
//! ledger.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::guard::AtWork;
use super::reply::{Sent, object, refused, reply};
use super::{House, WantedAnswer, WantedSearch, site};
use local_agent_agent::tools::{AuditRow, Caller};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// Default and maximum number of runs listed by `/api/runs`.
const RUNS: (usize, usize) = (20, 1000);

/// Maximum number of characters of a call's subject in the ledger, as for agents.
const SUBJECT: usize = 200;

/// Answers an admitted request.
pub(super) async fn answer(house: &Arc<House>, place: AtWork, request: Request<Bytes>) -> Sent {
    let (uri, path) = (request.uri(), request.uri().path());
    if path == "/mcp" {
        // The slot is held until the answer is ready.
        let _place = place;
        return house.protocol.handle(request.map(Full::new)).await;
    }
    let is_post = matches!(path, "/api/search" | "/api/ask");
    let wanted = if is_post { Method::POST } else { Method::GET };
    let done = match path {
        "/health" | "/enter" | "/api/search" | "/api/ask" | "/api/get" | "/api/status"
        | "/api/runs" | "/api/run"
            if *request.method() != wanted =>
        {
            return not_so(&wanted);
        }
        "/" | "/ask" | "/note" | "/status" | "/style.css" | "/script.js" => {
            return site::answer(house, place, &request).await;
        }
        "/health" => return health(),
        "/enter" => return enter(house, uri),
        "/api/search" => search(house, place, request.body()).await,
        "/api/ask" => ask(house, place, request.body()).await,
        "/api/get" => read(house, place, uri).await,
        "/api/status" => run(house, place, "status", "", |house, _| house.bodies.status()).await,
        "/api/runs" => runs(house, place, uri).await,
        "/api/run" => one_run(house, place, uri).await,
        _ => return nothing_here(),
    };
    reply(done, house.roots())
}

fn health() -> Sent {
    object(
        StatusCode::OK,
        &json!({"ok": true, "program": "local-agent", "version": env!("CARGO_PKG_VERSION")}),
    )
}

/// Lets in a browser that opens a one-time link.
fn enter(house: &House, uri: &Uri) -> Sent {
    let key = in_query(uri, "key").unwrap_or_default();
    let cookie = match house.access.enter(&key) {
        Ok(cookie) => cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()),
        Err(failure) => return reply(Err(failure), &Map::new()),
    };
    let Some(cookie) = cookie else {
        let failure = Failure::new(
            ErrorCode::AccessDenied,
            "this link was used, is too old, or is none of this server's",
        )
        .with_hint("local-agent serve --open prints a new one");
        return refused(StatusCode::FORBIDDEN, &failure);
    };
    let mut response = object(StatusCode::SEE_OTHER, &json!({"ok": true}));
    let headers = response.headers_mut();
    headers.insert(header::SET_COOKIE, cookie);
    headers.insert(header::LOCATION, HeaderValue::from_static("/"));
    response
}

async fn search(house: &Arc<House>, place: AtWork, body: &Bytes) -> Result<Value> {
    let wanted: WantedSearch = parsed(body)?;
    let subject = wanted.query.clone();
    run(house, place, "search", &subject, move |house, _| {
        house.bodies.search(&wanted)
    })
    .await
}

async fn ask(house: &Arc<House>, place: AtWork, body: &Bytes) -> Result<Value> {
    let wanted: WantedAnswer = parsed(body)?;
    let subject = wanted.question.clone();
    run(house, place, "ask", &subject, move |house, cancelled| {
        house.bodies.ask(&wanted, cancelled)
    })
    .await
}

async fn read(house: &Arc<House>, place: AtWork, uri: &Uri) -> Result<Value> {
    let address = needed(uri, "address")?;
    let subject = address.clone();
    run(house, place, "get", &subject, move |house, _| {
        house.bodies.get(&address)
    })
    .await
}

async fn runs(house: &Arc<House>, place: AtWork, uri: &Uri) -> Result<Value> {
    let limit = match in_query(uri, "limit") {
        None => RUNS.0,
        Some(text) => text.parse().map_err(|_| {
            Failure::new(ErrorCode::InvalidArgs, "`limit` is no number")
                .with_hint("leave `limit` out")
        })?,
    };
    run(house, place, "runs", "", move |house, _| {
        house.bodies.runs(limit.min(RUNS.1))
    })
    .await
}

async fn one_run(house: &Arc<House>, place: AtWork, uri: &Uri) -> Result<Value> {
    let id = needed(uri, "id")?;
    let subject = id.clone();
    run(house, place, "run", &subject, move |house, _| {
        house.bodies.run(&id)
    })
    .await
}

fn nothing_here() -> Sent {
    let failure = Failure::new(ErrorCode::InvalidArgs, "there is nothing at this address")
        .with_hint("docs/serve.md lists what there is");
    refused(StatusCode::NOT_FOUND, &failure)
}

pub(super) fn not_so(wanted: &Method) -> Sent {
    let failure = Failure::new(
        ErrorCode::InvalidArgs,
        format!("this address takes {wanted} only"),
    )
    .with_hint("docs/serve.md lists what there is");
    let mut response = refused(StatusCode::METHOD_NOT_ALLOWED, &failure);
    if let Ok(allowed) = HeaderValue::from_str(wanted.as_str()) {
        response.headers_mut().insert(header::ALLOW, allowed);
    }
    response
}

/// The first query parameter with this name.
pub(super) fn in_query(uri: &Uri, name: &str) -> Option<String> {
    let query = uri.query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes())
        .find(|(given, _)| given == name)
        .map(|(_, value)| value.into_owned())
}

fn needed(uri: &Uri, name: &str) -> Result<String> {
    in_query(uri, name).ok_or_else(|| {
        Failure::new(ErrorCode::InvalidArgs, format!("`{name}` is missing"))
            .with_hint(format!("add ?{name}=… to the address"))
    })
}

fn parsed<T: DeserializeOwned>(body: &Bytes) -> Result<T> {
    serde_json::from_slice(body).map_err(|e| {
        Failure::new(
            ErrorCode::InvalidArgs,
            format!("the body does not fit: {e}"),
        )
        .with_hint("docs/serve.md shows what this address takes")
    })
}

/// Sets its flag when nobody waits any more.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs an operation on a separate thread, enters it in the ledger and returns its result. The slot
/// is held until the operation has ended, even if nobody waits for it.
pub(super) async fn run(
    house: &Arc<House>,
    place: AtWork,
    name: &'static str,
    subject: &str,
    operation: impl FnOnce(&House, &AtomicBool) -> Result<Value> + Send + 'static,
) -> Result<Value> {
    let waiting = Waiting(Arc::default());
    let cancelled = Arc::clone(&waiting.0);
    let inside = Arc::clone(house);
    let subject: String = subject.chars().take(SUBJECT).collect();
    let work = tokio::task::spawn_blocking(move || {
        let done = operation(&inside, &cancelled);
        drop(place);
        entered(&inside, name, &subject, done)
    });
    let done = work.await;
    drop(waiting);
    done.unwrap_or_else(|_| Err(Failure::internal("the operation panicked")))
}

/// Enters a call and returns its result. A result that cannot be entered is not handed out.
fn entered(house: &House, name: &str, subject: &str, done: Result<Value>) -> Result<Value> {
    let failed = done.as_ref().err();
    (house.service.audit)(&AuditRow {
        caller: Caller::Agent,
        tool: name.to_owned(),
        subject: subject.to_owned(),
        outcome: failed
            .map_or("ok", |failure| failure.code.as_str())
            .to_owned(),
        why: None,
        bytes: done
            .as_ref()
            .map_or(0, |body| body.to_string().len() as u64),
    })?;
    done
}
