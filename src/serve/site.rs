//! The URLs of the pages. Each page is an operation of the command line, which is entered in the
//! ledger and shown as HTML.

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use maud::Markup;
use serde_json::Value;

use super::api::{ASK, in_query, not_so, nothing_here, run};
use super::browser_advice::for_browser;
use super::guard::Visit;
use super::page::{self, Shell};
use super::reply::{Sent, refused, status};
use super::{
    Bodies, VisitorRole, WantedAnswer, WantedSearch, Within, page_note, page_proof, page_runs,
    page_state, stream,
};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// Number of passages on one page.
const HITS: usize = 20;

/// Number of runs on one page.
const RUNS: usize = 100;

/// Answers a request for a page.
pub(super) async fn answer(visit: &Visit, request: &Request<Bytes>) -> Sent {
    let (uri, path) = (request.uri(), request.uri().path());
    let wanted = if path == "/run/replay" {
        Method::POST
    } else {
        Method::GET
    };
    if !is_page(path) {
        return nothing_here();
    }
    if *request.method() != wanted {
        return not_so(&wanted);
    }
    match path {
        "/script.js" => file("text/javascript; charset=utf-8", page::SCRIPT),
        "/run/replay" => replay(visit, request).await,
        "/ask/stream" => asked_in_steps(visit, uri),
        _ => one_page(visit, uri).await,
    }
}

fn is_page(path: &str) -> bool {
    const PAGES: [&str; 12] = [
        "/",
        "/ask",
        "/ask/stream",
        "/note",
        "/status",
        "/runs",
        "/run",
        "/run/replay",
        "/runs/compare",
        "/memory",
        "/doctor",
        "/script.js",
    ];
    PAGES.contains(&path)
}

async fn one_page(visit: &Visit, uri: &Uri) -> Sent {
    let shell = shell(visit, uri);
    let value = |name: &str| in_query(uri, name).unwrap_or_default();
    match uri.path() {
        "/status" => {
            let done = run(visit, "status", "", |bodies, _| bodies.status()).await;
            shown(&shell, done, page_state::state)
        }
        "/doctor" => {
            let done = run(visit, "doctor", "", |bodies, _| bodies.doctor()).await;
            shown(&shell, done, page_state::problems)
        }
        "/memory" => memory(visit, &shell, value("words")).await,
        "/note" => note(visit, &shell, value("address")).await,
        "/runs" => {
            // Anything but a number begins with the newest run.
            let skip = value("skip").parse().unwrap_or(0);
            let done = run(visit, "runs", "", move |bodies, _| bodies.runs(skip, RUNS)).await;
            shown(&shell, done, |shell, found| {
                page_runs::list(shell, found, skip, RUNS)
            })
        }
        "/run" => one_run(visit, &shell, value("id")).await,
        "/runs/compare" => compared(visit, &shell, value("a"), value("b")).await,
        _ if shell.is_blank() => html(page::start(&shell)),
        "/ask" => ask(visit, &shell).await,
        _ => search(visit, &shell).await,
    }
}

/// The visitor's input, for the form at the top of each page.
fn shell(visit: &Visit, uri: &Uri) -> Shell {
    let value = |name: &str| in_query(uri, name).unwrap_or_default();
    let sources = &visit.view.service.loaded.config.sources;
    Shell {
        path: uri.path().to_owned(),
        text: value("q"),
        source: value("source"),
        tag: value("tag"),
        after: value("after"),
        before: value("before"),
        sources: sources.iter().map(|one| one.name.to_string()).collect(),
        may_ask: visit.visitor.role >= VisitorRole::Ask,
        is_owner: !visit.visitor.is_limited(),
    }
}

/// The limits that a visitor typed; a blank field sets no limit.
fn within(shell: &Shell) -> Within {
    let tag = shell.tag.trim().trim_start_matches('#');
    Within {
        source: text_or_none(&shell.source).into_iter().collect(),
        path: Vec::new(),
        tag: text_or_none(tag).into_iter().collect(),
        after: text_or_none(&shell.after),
        before: text_or_none(&shell.before),
    }
}

/// The text without blanks around it; `None` if it is blank.
fn text_or_none(value: &str) -> Option<String> {
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}

async fn search(visit: &Visit, shell: &Shell) -> Sent {
    let wanted = WantedSearch {
        query: shell.text.clone(),
        limit: Some(HITS),
        recent: None,
        within: within(shell),
    };
    let done = run(visit, "search", &shell.text, move |bodies, _| {
        bodies.search(&wanted)
    })
    .await;
    shown(shell, done, page::found)
}

fn wanted_answer(shell: &Shell) -> WantedAnswer {
    WantedAnswer {
        question: shell.text.clone(),
        strict: false,
        within: within(shell),
    }
}

async fn ask(visit: &Visit, shell: &Shell) -> Sent {
    let wanted = wanted_answer(shell);
    let done = run(visit, ASK, &shell.text, move |bodies, cancelled| {
        with_passages(bodies, bodies.ask(&wanted, cancelled, &|_| {})?)
    })
    .await;
    shown(shell, done, page_proof::answered)
}

fn asked_in_steps(visit: &Visit, uri: &Uri) -> Sent {
    let shell = shell(visit, uri);
    let wanted = wanted_answer(&shell);
    stream::answer(visit, shell, wanted)
}

/// An answer with the current text of each evidence item; empty if it cannot be read.
pub(super) fn with_passages(bodies: &dyn Bodies, mut answer: Value) -> Result<Value> {
    let items = answer["evidence"].as_array().into_iter().flatten();
    let words = items.map(|item| {
        let address = page::lines_of(item)?;
        let document = bodies.get(&address).ok()?;
        Some(document["text"].as_str()?.to_owned())
    });
    let passages: Value = words.map(Option::unwrap_or_default).collect();
    if let Some(fields) = answer.as_object_mut() {
        fields.insert("passages".to_owned(), passages);
    }
    Ok(answer)
}

async fn note(visit: &Visit, shell: &Shell, address: String) -> Sent {
    let subject = address.clone();
    let done = run(visit, "get", &subject, move |bodies, _| {
        bodies.note(&address)
    })
    .await;
    shown(shell, done, page_note::document)
}

async fn memory(visit: &Visit, shell: &Shell, words: String) -> Sent {
    let subject = words.clone();
    let done = run(visit, "memory", &subject, move |bodies, _| {
        bodies.memory(&words)
    })
    .await;
    shown(shell, done, |shell, found| {
        page_state::memories(shell, &subject, found)
    })
}

async fn one_run(visit: &Visit, shell: &Shell, id: String) -> Sent {
    let subject = id.clone();
    let done = run(visit, "run", &subject, move |bodies, _| bodies.run(&id)).await;
    shown(shell, done, page_runs::one)
}

async fn compared(visit: &Visit, shell: &Shell, a: String, b: String) -> Sent {
    let subject = format!("{a} {b}");
    let done = run(visit, "compare", &subject, move |bodies, _| {
        if a.is_empty() || b.is_empty() {
            let failure = Failure::new(ErrorCode::InvalidArgs, "two runs are compared");
            return Err(failure.with_hint("choose a first and a second one in the list of runs"));
        }
        bodies.compare(&a, &b)
    })
    .await;
    shown(shell, done, page_runs::compared)
}

/// Replays a run. No other page performs an action. A browser reports the origin of a form, and a
/// program sends its token in a header that no form can send.
async fn replay(visit: &Visit, request: &Request<Bytes>) -> Sent {
    let headers = request.headers();
    // The guard has already checked that these headers name this server.
    let says_where = headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site");
    if !says_where && !headers.contains_key(header::AUTHORIZATION) {
        let failure = Failure::new(
            ErrorCode::AccessDenied,
            "the form does not say which site it comes from",
        )
        .with_hint("open the page of the run and press Replay");
        return refused(StatusCode::FORBIDDEN, &failure);
    }
    let form = form_urlencoded::parse(request.body());
    let id = form
        .into_iter()
        .find(|(name, _)| name == "id")
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default();
    let subject = id.clone();
    let done = run(visit, "replay", &subject, move |bodies, _| {
        bodies.replay(&id)
    })
    .await;
    shown(&shell(visit, request.uri()), done, page_runs::replayed)
}

/// A result as a page, or its failure as one, with the status that `/api` gives.
fn shown(shell: &Shell, done: Result<Value>, show: impl FnOnce(&Shell, &Value) -> Markup) -> Sent {
    match &done {
        Ok(body) => html(show(shell, body)),
        Err(failure) => {
            let mut response = html(page::failed(shell, &for_browser(failure)));
            *response.status_mut() = status(failure.code);
            response
        }
    }
}

/// A page, in which every character of a text is visible.
pub(super) fn html(markup: Markup) -> Sent {
    let markup = page::visible_text(&markup.into_string());
    sent("text/html; charset=utf-8", Bytes::from(markup))
}

/// The style of all pages. It contains nothing of a note, so anybody may have it: the page of a
/// refusal needs it, too.
pub(super) fn style() -> Sent {
    file("text/css; charset=utf-8", page::STYLE)
}

fn file(kind: &'static str, text: &'static str) -> Sent {
    sent(kind, Bytes::from_static(text.as_bytes()))
}

fn sent(kind: &'static str, bytes: Bytes) -> Sent {
    let mut response = Response::new(Full::new(bytes).boxed());
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
