//! The URLs of the pages. Each page is an operation of the command line, which is entered in the
//! ledger and shown as HTML.

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use maud::Markup;
use serde_json::{Value, json};

use super::api::{ASK, in_query, not_so, nothing_here, run};
use super::browser_advice::for_browser;
use super::guard::Visit;
use super::page::{self, Shell};
use super::reply::{Sent, refused, status};
use super::{
    Operations, VisitorRole, WantedAnswer, WantedSearch, Within, page_note, page_proof, page_runs,
    page_state, stream,
};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

/// Number of runs on one page.
const RUNS: usize = 100;

/// Number of the newest runs among which a filter looks.
const FILTERED_RUNS: usize = 1_000;

/// Number of runs on the first page.
const NEWEST_RUNS: usize = 6;

/// The most places in the first line of a passage at which its text is looked for.
const MOST_STARTS: usize = 4_096;

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
        "/note" => note(visit, &shell, value("address"), value("view") == "source").await,
        "/runs" => runs(visit, &shell, uri).await,
        "/run" => one_run(visit, &shell, value("id")).await,
        "/runs/compare" => compared(visit, &shell, value("a"), value("b")).await,
        "/ask" if !value("run").is_empty() => answer_of_run(visit, shell, value("run")).await,
        _ if shell.is_blank() => start(visit, &shell).await,
        "/ask" => ask(visit, &shell).await,
        _ => search(visit, &shell, value("show").parse().unwrap_or(page::HITS)).await,
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

/// The first page. What cannot be read is not on it.
async fn start(visit: &Visit, shell: &Shell) -> Sent {
    let may_ask = shell.may_ask;
    let done = run(visit, "status", "", move |bodies, _| {
        let runs = match may_ask {
            true => bodies.runs(0, NEWEST_RUNS).unwrap_or_default(),
            false => Value::Null,
        };
        Ok(json!({"status": bodies.status().unwrap_or_default(), "runs": runs}))
    })
    .await;
    shown(shell, done, page::start)
}

async fn runs(visit: &Visit, shell: &Shell, uri: &Uri) -> Sent {
    let value = |name: &str| in_query(uri, name).unwrap_or_default();
    let filter = page_runs::RunFilter {
        words: value("words"),
        outcome: value("outcome"),
    };
    // Anything but a number begins with the newest run.
    let skip = value("skip").parse().unwrap_or(0);
    let is_filtered = filter.is_set();
    let (skip, most) = match is_filtered {
        true => (0, FILTERED_RUNS),
        false => (skip, RUNS),
    };
    let done = run(visit, "runs", "", move |bodies, _| {
        bodies.runs_with_askers(skip, most)
    })
    .await;
    let done = done.map(|found| fitting_runs(found, &filter));
    shown(shell, done, |shell, found| {
        page_runs::list(shell, found, skip, RUNS, &filter)
    })
}

/// The runs that fit a filter, as many as are on one page.
fn fitting_runs(mut found: Value, filter: &page_runs::RunFilter) -> Value {
    if !filter.is_set() {
        return found;
    }
    if let Some(runs) = found["runs"].as_array_mut() {
        runs.retain(|run| filter.fits(run));
        runs.truncate(RUNS);
        let count = runs.len();
        found["total"] = json!(count);
    }
    found
}

async fn search(visit: &Visit, shell: &Shell, most: usize) -> Sent {
    let most = most.clamp(1, page::MOST_HITS);
    let wanted = WantedSearch {
        query: shell.text.clone(),
        limit: Some(most),
        recent: None,
        within: within(shell),
    };
    let done = run(visit, "search", &shell.text, move |bodies, _| {
        bodies.search_with_days(&wanted)
    })
    .await;
    shown(shell, done, |shell, found| page::found(shell, found, most))
}

fn wanted_answer(shell: &Shell) -> WantedAnswer {
    WantedAnswer {
        question: shell.text.clone(),
        strict: false,
        within: within(shell),
    }
}

/// Asks. A browser is sent on to the address of the answer, so that neither "Back" nor "Reload" asks
/// again; a program gets the page at once.
async fn ask(visit: &Visit, shell: &Shell) -> Sent {
    let wanted = wanted_answer(shell);
    let done = run(visit, ASK, &shell.text, move |bodies, cancelled| {
        with_passages(bodies, bodies.ask(&wanted, cancelled, &|_| {})?)
    })
    .await;
    let address = done.as_ref().ok().and_then(answer_address);
    let mut response = shown(shell, done, page_proof::answered);
    if visit.is_browser
        && let Some(address) = address
        && let Ok(address) = HeaderValue::from_str(&address)
    {
        *response.status_mut() = StatusCode::SEE_OTHER;
        response.headers_mut().insert(header::LOCATION, address);
    }
    response
}

/// The address of an answer that a record keeps.
pub(super) fn answer_address(answer: &Value) -> Option<String> {
    let id = answer["run_id"].as_str()?;
    Some(format!("/ask?run={}", page::in_query_of_link(id)))
}

/// The answer of a run, from its record: nothing is asked.
async fn answer_of_run(visit: &Visit, mut shell: Shell, id: String) -> Sent {
    let subject = id.clone();
    let done = run(visit, "run", &subject, move |bodies, _| {
        let run = with_record_texts(bodies, bodies.run(&id)?);
        Ok(page_runs::as_answer(&run))
    })
    .await;
    if let Ok(answer) = &done {
        shell.text = page::text(answer, "question").to_owned();
    }
    shown(&shell, done, page_proof::answered)
}

fn asked_in_steps(visit: &Visit, uri: &Uri) -> Sent {
    let shell = shell(visit, uri);
    let wanted = wanted_answer(&shell);
    stream::answer(visit, shell, wanted)
}

/// An answer with the text of each evidence item.
pub(super) fn with_passages(bodies: &dyn Operations, mut answer: Value) -> Result<Value> {
    let items = answer["evidence"].as_array().into_iter().flatten();
    let passages: Value = items.map(|item| passage_now(bodies, item)).collect();
    if let Some(fields) = answer.as_object_mut() {
        fields.insert("passages".to_owned(), passages);
    }
    Ok(answer)
}

/// The text of an item of evidence as its file has it now, and whether it is the one that was judged.
fn passage_now(bodies: &dyn Operations, item: &Value) -> Value {
    let lines = lines_now(bodies, item).unwrap_or_default();
    match judged_text(item, &lines) {
        Some(text) => json!({"text": text, "exact": true}),
        None => json!({"text": lines, "exact": false}),
    }
}

/// The lines of an item as its file has them now.
fn lines_now(bodies: &dyn Operations, item: &Value) -> Option<String> {
    let document = bodies.get(&page::lines_of(item)?).ok()?;
    Some(document["text"].as_str()?.to_owned())
}

/// The text that was judged, if it is in these lines: it has the item's length and its hash. It may
/// begin inside the first line.
fn judged_text<'t>(item: &Value, lines: &'t str) -> Option<&'t str> {
    let byte = |value: &Value| usize::try_from(value.as_u64()?).ok();
    let start = byte(&item["start_byte"]).or_else(|| byte(&item["span"]["start"]))?;
    let end = byte(&item["end_byte"]).or_else(|| byte(&item["span"]["end"]))?;
    let length = end.checked_sub(start)?;
    let wanted = item["text_sha256"].as_str()?;
    let first_line = lines.find('\n').unwrap_or(lines.len());
    let is_judged = |text: &&str| Sha256::of(text.as_bytes()).to_string() == wanted;
    let starts = 0..=first_line
        .min(lines.len().checked_sub(length)?)
        .min(MOST_STARTS);
    let mut texts = starts.filter_map(|at| lines.get(at..at + length));
    texts.find(is_judged)
}

/// A run with the texts of its evidence: those of the record, or where it keeps only the beginning of
/// one, that of the file, if the file still has the same bytes.
fn with_record_texts(bodies: &dyn Operations, mut run: Value) -> Value {
    let record = &run["record"];
    let is_whole = record["redactions"].as_u64().unwrap_or_default() == 0;
    let items = record["snapshot"]["items"].as_array().into_iter().flatten();
    let passages: Value = items
        .map(|item| recorded_passage(bodies, item, is_whole))
        .collect();
    if let Some(fields) = run.as_object_mut() {
        fields.insert("passages".to_owned(), passages);
    }
    run
}

fn recorded_passage(bodies: &dyn Operations, item: &Value, is_whole: bool) -> Value {
    let excerpt = page::text(item, "excerpt");
    if item["excerpt_truncated"] != json!(true) {
        return json!({"text": excerpt, "exact": is_whole});
    }
    let lines = lines_now(bodies, item).unwrap_or_default();
    match judged_text(item, &lines) {
        Some(text) => json!({"text": text, "exact": true, "of_file": true}),
        None => json!({"text": page::whole_words(excerpt), "exact": is_whole}),
    }
}

async fn note(visit: &Visit, shell: &Shell, address: String, is_source: bool) -> Sent {
    let subject = address.clone();
    let done = run(visit, "get", &subject, move |bodies, _| {
        bodies.note(&address)
    })
    .await;
    shown(shell, done, |shell, note| {
        page_note::document(shell, note, is_source)
    })
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
    let done = run(visit, "run", &subject, move |bodies, _| {
        Ok(with_record_texts(bodies, bodies.run(&id)?))
    })
    .await;
    shown(shell, done, page_runs::one)
}

async fn compared(visit: &Visit, shell: &Shell, a: String, b: String) -> Sent {
    let subject = format!("{a} {b}");
    let done = run(visit, "compare", &subject, move |bodies, _| {
        if a.is_empty() || b.is_empty() {
            let failure = Failure::new(ErrorCode::InvalidArgs, "two runs are compared");
            return Err(failure.with_hint("choose a first and a second one in the list of runs"));
        }
        let mut two = bodies.compare(&a, &b)?;
        for side in ["a", "b"] {
            two[side] = with_record_texts(bodies, two[side].take());
        }
        Ok(two)
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

/// The icon of the program, for anybody, as the style.
pub(super) fn icon() -> Sent {
    file("image/svg+xml", page::ICON)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_that_was_judged_is_found_in_its_lines_or_it_is_another_one() {
        let of = |start: usize, text: &str| {
            json!({"start_byte": start, "end_byte": start + text.len(),
                "text_sha256": Sha256::of(text.as_bytes()).to_string()})
        };
        let lines = "é. It is so.\nAnd so.\n";
        assert_eq!(judged_text(&of(9, lines), lines), Some(lines));
        assert_eq!(
            judged_text(&of(9, "It is so.\nAnd"), lines),
            Some("It is so.\nAnd")
        );
        assert_eq!(judged_text(&of(9, "It was so."), lines), None);
        assert_eq!(judged_text(&of(9, "And so."), lines), None);
        assert_eq!(judged_text(&of(9, lines), ""), None);
        assert_eq!(judged_text(&json!({}), lines), None);
    }
}
