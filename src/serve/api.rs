//! The endpoints: `/health`, `/enter`, the style of the pages, and those below `/api`. The ledger
//! records each call that needs a token.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::body::{ask_fields, parsed, search_fields};
use super::guard::Visit;
use super::reply::{Sent, object, refused, reply};
use super::{
    Operations, ServerState, View, VisitorRole, WantedAnswer, WantedSearch, protocol, site,
};
use local_agent_agent::operations::privacy;
use local_agent_agent::tools::{AuditRow, Caller};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// Default and maximum number of runs listed by `/api/runs`.
const RUNS: (usize, usize) = (20, 1000);

/// Maximum number of characters of a call's subject in the ledger, as for agents.
const SUBJECT: usize = 200;

/// The name of the operation that may wait for a chat model.
pub(super) const ASK: &str = "ask";

/// Whether an address can be used without a token.
pub(super) fn is_for_anybody(path: &str) -> bool {
    matches!(path, "/health" | "/enter" | "/style.css" | "/icon.svg")
}

/// Answers a request that needs no token.
pub(super) fn answer_anybody(house: &ServerState, request: &Request<Bytes>) -> Sent {
    match request.uri().path() {
        _ if *request.method() != Method::GET => not_so(&Method::GET),
        "/enter" => enter(house, request.uri()),
        "/style.css" => site::style(),
        "/icon.svg" => site::icon(),
        _ => health(),
    }
}

/// The role that an address needs.
fn role_for(path: &str) -> VisitorRole {
    match path {
        "/ask" | "/ask/stream" | "/runs" | "/run" | "/runs/compare" | "/run/replay"
        | "/api/ask" | "/api/runs" | "/api/run" => VisitorRole::Ask,
        "/memory" | "/doctor" => VisitorRole::Owner,
        _ => VisitorRole::Search,
    }
}

/// Answers an admitted request.
pub(super) async fn answer(
    house: &Arc<ServerState>,
    visit: Visit,
    request: Request<Bytes>,
) -> Sent {
    let (uri, path) = (request.uri(), request.uri().path());
    let needed = role_for(path);
    // The findings of doctor may name any note.
    let is_too_much = path == "/doctor" && visit.visitor.is_limited();
    if visit.visitor.role < needed || is_too_much {
        return too_little(&visit, path, needed);
    }
    if path == "/mcp" {
        return protocol::answer(house, &visit, request).await;
    }
    let wanted = match path {
        "/api/search" | "/api/ask" => Method::POST,
        "/api/get" | "/api/status" | "/api/runs" | "/api/run" => Method::GET,
        _ => return site::answer(&visit, &request).await,
    };
    if *request.method() != wanted {
        return not_so(&wanted);
    }
    let done = match path {
        "/api/search" => search(&visit, request.body()).await,
        "/api/ask" => ask(&visit, request.body()).await,
        "/api/get" => read(&visit, uri).await,
        "/api/status" => run(&visit, "status", "", |bodies, _| bodies.status()).await,
        "/api/runs" => runs(&visit, uri).await,
        _ => one_run(&visit, uri).await,
    };
    reply(done.map_err(for_callers), &visit.view.service.roots)
}

/// The failure with a fix for a program that calls the API: it has addresses, and its user may have
/// no shell on this machine.
fn for_callers(failure: Failure) -> Failure {
    let by_api = match failure.code {
        ErrorCode::RunNotFound | ErrorCode::RunIncomplete => "GET /api/runs lists the runs",
        ErrorCode::FileNotFound => "POST /api/search finds notes",
        ErrorCode::InvalidQuery => "give it words",
        ErrorCode::AmbiguousPath => "send the same request with one of these names",
        ErrorCode::SymbolNotFound => "send the same request with what is before `#` alone",
        ErrorCode::ServerUnreachable | ErrorCode::ServerError if failure.hint.is_none() => {
            "POST /api/search finds passages without a model; ask the person who runs this server: \
             local-agent doctor"
        }
        ErrorCode::PathIsDirectory => "name a file in it; POST /api/search finds notes",
        _ => return for_the_operator(failure),
    };
    failure.with_hint(by_api)
}

/// A fix that is a command is for whoever runs the server.
fn for_the_operator(mut failure: Failure) -> Failure {
    if failure.fix.is_command() {
        failure.hint = failure
            .hint
            .map(|hint| format!("ask the person who runs this server: {hint}"));
    }
    failure
}

/// Refuses a request that the role of a token does not allow; the ledger records it.
fn too_little(visit: &Visit, path: &str, needed: VisitorRole) -> Sent {
    let role = visit.visitor.role.as_str();
    let needed = needed.as_str();
    let all = if role == needed {
        " for all sources"
    } else {
        ""
    };
    let message =
        format!("this token has the role `{role}`, and this address needs `{needed}`{all}");
    let failure = Failure::new(ErrorCode::AccessDenied, message)
        .with_command(format!("local-agent serve token add NAME --role {needed}"));
    match entered(&visit.view, path, "", Err(failure)) {
        Err(failure) => refused(StatusCode::FORBIDDEN, &failure),
        Ok(_) => nothing_here(),
    }
}

fn health() -> Sent {
    object(
        StatusCode::OK,
        &json!({"ok": true, "program": "local-agent", "version": env!("CARGO_PKG_VERSION")}),
    )
}

/// Admits a browser that opens a one-time link.
fn enter(house: &ServerState, uri: &Uri) -> Sent {
    let key = in_query(uri, "key").unwrap_or_default();
    let cookie = match house.access.enter(&key) {
        Ok(cookie) => cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()),
        Err(failure) => return reply(Err(failure), &Map::new()),
    };
    let Some(cookie) = cookie else {
        let failure = Failure::new(
            ErrorCode::AccessDenied,
            "this link has been used, has expired, or belongs to another server",
        )
        .with_command("local-agent serve link prints a new one");
        return refused(StatusCode::FORBIDDEN, &failure);
    };
    let mut response = object(StatusCode::SEE_OTHER, &json!({"ok": true}));
    let headers = response.headers_mut();
    headers.insert(header::SET_COOKIE, cookie);
    headers.insert(header::LOCATION, HeaderValue::from_static("/"));
    response
}

async fn search(visit: &Visit, body: &Bytes) -> Result<Value> {
    let wanted: WantedSearch = parsed(body, search_fields())?;
    let subject = wanted.query.clone();
    run(visit, "search", &subject, move |bodies, _| {
        bodies.search(&wanted)
    })
    .await
}

async fn ask(visit: &Visit, body: &Bytes) -> Result<Value> {
    let wanted: WantedAnswer = parsed(body, ask_fields())?;
    let subject = wanted.question.clone();
    run(visit, ASK, &subject, move |bodies, cancelled| {
        bodies.ask(&wanted, cancelled, &|_| {})
    })
    .await
}

async fn read(visit: &Visit, uri: &Uri) -> Result<Value> {
    let address = needed(uri, "address")?;
    let subject = address.clone();
    run(visit, "get", &subject, move |bodies, _| {
        bodies.get(&address)
    })
    .await
}

async fn runs(visit: &Visit, uri: &Uri) -> Result<Value> {
    let limit = match in_query(uri, "limit") {
        None => RUNS.0,
        Some(text) => text.parse().map_err(|_| {
            Failure::new(
                ErrorCode::InvalidArgs,
                "`limit` is not a whole number from 0 on",
            )
            .with_hint("leave `limit` out")
        })?,
    };
    run(visit, "runs", "", move |bodies, _| {
        bodies.runs(0, limit.min(RUNS.1))
    })
    .await
}

async fn one_run(visit: &Visit, uri: &Uri) -> Result<Value> {
    let id = needed(uri, "id")?;
    let subject = id.clone();
    run(visit, "run", &subject, move |bodies, _| bodies.run(&id)).await
}

/// What there is for programs.
const ADDRESSES: &str = "there are POST /api/search, POST /api/ask, GET /api/get, GET /api/status, GET /api/runs, \
                         GET /api/run and /mcp; people begin at /";

pub(super) fn nothing_here() -> Sent {
    let failure =
        Failure::new(ErrorCode::InvalidArgs, super::page::NOTHING_HERE).with_hint(ADDRESSES);
    refused(StatusCode::NOT_FOUND, &failure)
}

pub(super) fn not_so(wanted: &Method) -> Sent {
    let failure = Failure::new(
        ErrorCode::InvalidArgs,
        format!("this address takes {wanted} only"),
    )
    .with_hint(format!("send the same request with {wanted}"));
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
            .with_hint(format!("add `{name}=…` to the query of the URL"))
    })
}

/// Sets its flag when the client stops waiting.
#[derive(Default)]
pub(super) struct Waiting(pub(super) Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The smallest number of operations without a chat model that work at once.
const FEWEST_TURNS: usize = 4;

/// Turns of operations that wait for no chat model. With more of them at work than two for each
/// core, all would only be slower and need more memory.
static TURNS: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Semaphore::new((cores * 2).max(FEWEST_TURNS))
});

/// Waits until the operation may work; `None`: it needs no turn, because it may wait for a chat
/// model for minutes.
async fn turn_of(name: &str) -> Option<SemaphorePermit<'static>> {
    if name == ASK {
        return None;
    }
    TURNS.acquire().await.ok()
}

/// Runs an operation on a separate thread, enters it in the ledger and returns its result. The
/// permits are held until the operation has ended, even if the client stops waiting.
pub(super) async fn run(
    visit: &Visit,
    name: &'static str,
    subject: &str,
    operation: impl FnOnce(&dyn Operations, &AtomicBool) -> Result<Value> + Send + 'static,
) -> Result<Value> {
    let waiting = Waiting::default();
    let cancelled = Arc::clone(&waiting.0);
    let inside = visit.clone();
    let subject = subject_of(subject);
    let turn = turn_of(name).await;
    let work = tokio::task::spawn_blocking(move || {
        let done = operation(&*inside.view.bodies, &cancelled);
        let entered = entered(&inside.view, name, &subject, done);
        drop(turn);
        entered
    });
    let done = work.await;
    drop(waiting);
    done.unwrap_or_else(|_| Err(Failure::internal("the operation panicked")))
}

/// The subject of a call, cut to the ledger's limit.
pub(super) fn subject_of(text: &str) -> String {
    text.chars().take(SUBJECT).collect()
}

/// Enters a call and returns its result. A result that cannot be entered is not returned.
pub(super) fn entered(
    view: &View,
    name: &str,
    subject: &str,
    done: Result<Value>,
) -> Result<Value> {
    let config = &view.service.loaded.config;
    let done = done.map_err(|failure| privacy::without_folders(config, failure));
    let failed = done.as_ref().err();
    (view.service.audit)(&AuditRow {
        caller: Caller::Agent,
        tool: name.to_owned(),
        subject: subject.to_owned(),
        outcome: failed
            .map_or("ok", |failure| failure.code.as_str())
            .to_owned(),
        why: None,
        bytes: done.as_ref().map_or(0, length_as_json),
    })?;
    done
}

/// The length of a value as JSON, in bytes.
fn length_as_json(body: &Value) -> u64 {
    let mut count = CountedBytes(0);
    match serde_json::to_writer(&mut count, body) {
        Ok(()) => count.0,
        Err(_) => 0,
    }
}

/// Counts what is written to it.
struct CountedBytes(u64);

impl Write for CountedBytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
