//! The URLs of the pages. Each page is an operation of the command line, entered in the ledger as
//! such, and shown as HTML.

use std::sync::Arc;

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use maud::Markup;
use serde_json::Value;

use super::api::{in_query, not_so, run};
use super::guard::AtWork;
use super::reply::Sent;
use super::{House, WantedAnswer, WantedSearch, Within, page};
use local_agent_text::error::Result;

/// Number of passages on one page.
const HITS: usize = 20;

/// Answers a request for a page.
pub(super) async fn answer(house: &Arc<House>, place: AtWork, request: &Request<Bytes>) -> Sent {
    if *request.method() != Method::GET {
        return not_so(&Method::GET);
    }
    let uri = request.uri();
    let asked = in_query(uri, "q").unwrap_or_default();
    let is_blank = asked.trim().is_empty();
    match uri.path() {
        "/style.css" => file("text/css; charset=utf-8", page::STYLE),
        "/script.js" => file("text/javascript; charset=utf-8", page::SCRIPT),
        "/status" => {
            let done = run(house, place, "status", "", |house, _| house.bodies.status()).await;
            shown("", done, page::state)
        }
        "/note" => {
            let address = in_query(uri, "address").unwrap_or_default();
            let subject = address.clone();
            let work = move |house: &House, _: &_| house.bodies.get(&address);
            let done = run(house, place, "get", &subject, work).await;
            shown("", done, page::document)
        }
        _ if is_blank => html(page::start()),
        "/ask" => ask(house, place, &asked).await,
        _ => search(house, place, &asked).await,
    }
}

async fn search(house: &Arc<House>, place: AtWork, asked: &str) -> Sent {
    let wanted = WantedSearch {
        query: asked.to_owned(),
        limit: Some(HITS),
        within: Within::default(),
    };
    let work = move |house: &House, _: &_| house.bodies.search(&wanted);
    let done = run(house, place, "search", asked, work).await;
    shown(asked, done, |found| page::found(asked, found))
}

async fn ask(house: &Arc<House>, place: AtWork, asked: &str) -> Sent {
    let wanted = WantedAnswer {
        question: asked.to_owned(),
        strict: false,
        within: Within::default(),
    };
    let done = run(house, place, "ask", asked, move |house, cancelled| {
        let mut answer = house.bodies.ask(&wanted, cancelled)?;
        let passages = passages(house, &answer);
        if let Some(fields) = answer.as_object_mut() {
            fields.insert("passages".to_owned(), passages);
        }
        Ok(answer)
    })
    .await;
    shown(asked, done, |answer| {
        let passages = answer["passages"].as_array().into_iter().flatten();
        let passages: Vec<String> = passages
            .map(|passage| passage.as_str().unwrap_or_default().to_owned())
            .collect();
        page::answered(asked, answer, &passages)
    })
}

/// The current words of each evidence item. Empty if they cannot be read.
fn passages(house: &House, answer: &Value) -> Value {
    let items = answer["evidence"].as_array().into_iter().flatten();
    let words = items.map(|item| {
        let address = page::lines_of(item)?;
        let document = house.bodies.get(&address).ok()?;
        Some(document["text"].as_str()?.to_owned())
    });
    words.map(Option::unwrap_or_default).collect()
}

/// A result as a page, or its failure as one.
fn shown(asked: &str, done: Result<Value>, show: impl FnOnce(&Value) -> Markup) -> Sent {
    html(match &done {
        Ok(body) => show(body),
        Err(failure) => page::failed(asked, failure),
    })
}

fn html(markup: Markup) -> Sent {
    sent(
        "text/html; charset=utf-8",
        Bytes::from(markup.into_string()),
    )
}

fn file(kind: &'static str, text: &'static str) -> Sent {
    sent(kind, Bytes::from_static(text.as_bytes()))
}

fn sent(kind: &'static str, bytes: Bytes) -> Sent {
    let mut response = Response::new(Full::new(bytes).boxed());
    *response.status_mut() = StatusCode::OK;
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
