//! The pages of runs: a list, one run, two next to each other, and a replay.

use maud::{Markup, html};
use serde_json::Value;

use super::page::{SPECIAL, Shell, counted, items, page, text};
use super::page_proof::Proof;
use local_agent_text::types::percent_encode;

fn address_of(id: &str) -> String {
    format!("/run?id={}", percent_encode(id, SPECIAL))
}

/// The outcome of a run; its state if it has none.
fn ending<'v>(state: &'v Value, record: &'v Value) -> &'v str {
    match state.as_str() {
        Some("ended") | None => record["error_code"]
            .as_str()
            .unwrap_or_else(|| text(record, "outcome")),
        Some(state) => state,
    }
}

/// One page of the runs, the newest first, with a form that compares two; `skip` newer ones are on
/// the pages before it.
pub(super) fn list(shell: &Shell, found: &Value, skip: usize, each: usize) -> Markup {
    let runs = items(found, "runs");
    let body = html! {
        h1 { "Runs" }
        @if runs.is_empty() { p { (no_runs(skip)) } }
        form action="/runs/compare" {
            table class="runs" {
                tr { th scope="col" { "Compare" } th scope="col" { "Question" } }
                @for run in runs { (row(run, runs.len() > 1)) }
            }
            @if runs.len() > 1 { button { "Compare two" } }
        }
        (pages(found, skip, each))
    };
    page("Runs", shell, &body)
}

fn no_runs(skip: usize) -> &'static str {
    match skip {
        0 => "No run is recorded yet.",
        _ => "No run is older than those.",
    }
}

/// Links to the pages with newer and older runs.
fn pages(found: &Value, skip: usize, each: usize) -> Markup {
    let total = found["total"].as_u64().unwrap_or_default();
    let total = usize::try_from(total).unwrap_or(usize::MAX);
    let shown = items(found, "runs").len();
    let end = skip.saturating_add(shown);
    html! {
        @if skip > 0 || end < total {
            nav aria-label="More runs" {
                @if shown > 0 { (skip + 1) " to " (end) " of " (total) }
                @if skip > 0 {
                    " · " a rel="prev" href={ "/runs?skip=" (skip.min(total).saturating_sub(each)) } { "Newer" }
                }
                @if end < total { " · " a rel="next" href={ "/runs?skip=" (end) } { "Older" } }
            }
        }
    }
}

fn row(run: &Value, can_compare: bool) -> Markup {
    let id = text(run, "run_id");
    let question = run["question"].as_str().unwrap_or(id);
    html! {
        tr {
            td class="choice" {
                @if can_compare {
                    input type="radio" name="a" value=(id) required aria-label={ "First: " (question) };
                    input type="radio" name="b" value=(id) required aria-label={ "Second: " (question) };
                }
            }
            td dir="auto" {
                a href=(address_of(id)) { (question) }
                p class="trail" dir="ltr" { (ending(&run["state"], run)) " · " (text(run, "started_at")) }
            }
        }
    }
}

/// One run, with a button that replays it.
pub(super) fn one(shell: &Shell, run: &Value) -> Markup {
    let id = text(&run["record"], "run_id");
    let body = html! {
        h1 dir="auto" { (text(&run["record"], "question")) }
        form method="post" action="/run/replay" {
            input type="hidden" name="id" value=(id);
            button { "Replay" }
        }
        (content(run, ""))
    };
    page("Run", shell, &body)
}

/// Two runs next to each other.
pub(super) fn compared(shell: &Shell, two: &Value) -> Markup {
    let body = html! {
        h1 { "Two runs" }
        div class="proof" {
            @for (run, prefix) in [(&two["a"], "a-"), (&two["b"], "b-")] {
                section aria-label=(text(&run["record"], "run_id")) {
                    h2 dir="auto" {
                        a href=(address_of(text(&run["record"], "run_id"))) { (text(&run["record"], "question")) }
                    }
                    (content(run, prefix))
                }
            }
        }
    };
    page("Two runs", shell, &body)
}

fn content(run: &Value, prefix: &'static str) -> Markup {
    let record = &run["record"];
    let evidence = items(&record["snapshot"], "items").iter();
    let proof = Proof {
        report: &record["citation_validation"],
        passages: evidence.map(|item| (item, text(item, "excerpt"))).collect(),
        prefix,
    };
    html! {
        (facts(run))
        @if let Some(message) = record["error_message"].as_str() {
            p class="failed" { strong { (text(record, "error_code")) } ": " (message) }
        }
        @if let Some(why) = record["why"].as_str() { p class="why" { (why) } }
        (proof.sentences())
        @for call in items(record, "calls") {
            @if let Some(reasons) = call["refused"].as_str() {
                p class="refused" { "A reply of " (text(call, "model")) " was refused: " (reasons) }
            }
        }
        @if !proof.passages.is_empty() { h3 { "Evidence" } (proof.evidence()) }
        (proof.faults())
    }
}

fn facts(run: &Value) -> Markup {
    let record = &run["record"];
    let sent = items(record, "sent");
    html! {
        table class="facts" {
            tr { th scope="row" { "Run" } td { (text(record, "run_id")) } }
            tr { th scope="row" { "Ended as" } td { (ending(&run["state"], record)) } }
            tr { th scope="row" { "Began" } td { (text(record, "started_at")) } }
            @if let Some(seconds) = record["elapsed_s"].as_f64() {
                tr { th scope="row" { "Took" } td { (seconds) " s" } }
            }
            tr { th scope="row" { "Asked by" } td { (text(record, "asked_by")) } }
            tr { th scope="row" { "Answered by" } td { (record["answerer"].as_str().unwrap_or("nobody")) } }
            tr {
                th scope="row" { "Sent" }
                td {
                    @if sent.is_empty() { "nothing left this program" }
                    @for one in sent { (text(one, "what")) " → " (text(one, "to")) " " }
                }
            }
        }
    }
}

/// A run that was replayed: its evidence is still there and gives the same report.
pub(super) fn replayed(shell: &Shell, done: &Value) -> Markup {
    let id = text(done, "run_id");
    let body = html! {
        h1 { "Replayed" }
        p {
            (counted(&done["items"], "item")) " of evidence: byte for byte as they were ("
            (text(done, "bytes_from")) ")."
        }
        @match done["report_sha256"].as_str() {
            Some(sha256) => { p { "The same report: " code { (sha256) } } }
            None => { p { "No draft was judged, so there is no report to compare." } }
        }
        p { a href=(address_of(id)) { "The run" } }
    };
    page("Replayed", shell, &body)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_page_of_runs_leads_to_the_newer_and_the_older_ones() {
        let run = json!({"run_id": "r", "question": "q", "state": "ended"});
        let shown = |skip: usize, shown: usize, total: usize| {
            let found = json!({"runs": vec![run.clone(); shown], "total": total});
            list(&Shell::default(), &found, skip, 100).into_string()
        };
        let middle = shown(100, 100, 250);
        assert!(middle.contains("101 to 200 of 250"), "{middle}");
        assert!(middle.contains("\"/runs?skip=0\">Newer"), "{middle}");
        assert!(middle.contains("\"/runs?skip=200\">Older"), "{middle}");
        let first = shown(0, 100, 100);
        assert!(
            !first.contains("Newer") && !first.contains("Older"),
            "{first}"
        );
        // Far beyond the end, the way back leads to the last page.
        let beyond = shown(usize::MAX, 0, 250);
        assert!(beyond.contains("\"/runs?skip=150\">Newer"), "{beyond}");
        assert!(beyond.contains("No run is older than those."), "{beyond}");
    }
}
