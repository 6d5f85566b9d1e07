//! The pages of runs: a list, one run, two next to each other, and a replay.

use maud::{Markup, html};
use serde_json::Value;

use super::page::{Shell, counted, in_query_of_link, items, page, text};
use super::page_proof::Proof;

/// The name of the part with the question, as every page of runs shows it.
const QUESTION: &str = "Question";

/// The name of the part with the outcome.
const OUTCOME: &str = "Ended as";

/// The name of the part that says what answered.
const ANSWERER: &str = "Answered by";

/// The name of the part with the sentences.
const ANSWER: &str = "Answer";

/// The name of the part with the passages.
const EVIDENCE: &str = "Evidence";

fn address_of(id: &str) -> String {
    format!("/run?id={}", in_query_of_link(id))
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
    let can_compare = runs.len() > 1;
    let body = html! {
        h1 { "Runs" }
        @if runs.is_empty() { p { (no_runs(skip)) } }
        form action="/runs/compare" {
            @if can_compare { p { "To compare two runs, choose the first and the second one." } }
            table class="runs" {
                tr {
                    @if can_compare {
                        th class="choice" scope="col" { "First" }
                        th class="choice" scope="col" { "Second" }
                    }
                    th scope="col" { (QUESTION) }
                }
                @for run in runs { (row(run, can_compare)) }
            }
            @if can_compare { button { "Compare two" } }
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
            @if can_compare {
                td class="choice" {
                    label { input type="radio" name="a" value=(id) required aria-label={ "First: " (question) }; }
                }
                td class="choice" {
                    label { input type="radio" name="b" value=(id) required aria-label={ "Second: " (question) }; }
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
        (content(run, "", &[]))
    };
    page("Run", shell, &body)
}

/// Two runs next to each other, with what differs between them.
pub(super) fn compared(shell: &Shell, two: &Value) -> Markup {
    let parts = compared_parts(&two["a"], &two["b"]);
    let differing = differing_names(&parts);
    let body = html! {
        h1 { "Two runs" }
        table class="facts" {
            @for (name, differs) in parts {
                tr {
                    th scope="row" { (name) }
                    td { @if differs { strong class="differs" { "differs" } } @else { "the same" } }
                }
            }
        }
        div class="proof" {
            @for (run, prefix) in [(&two["a"], "a-"), (&two["b"], "b-")] {
                section aria-label=(text(&run["record"], "run_id")) {
                    h2 dir="auto" {
                        a href=(address_of(text(&run["record"], "run_id"))) { (text(&run["record"], "question")) }
                        (difference(&differing, QUESTION))
                    }
                    (content(run, prefix, &differing))
                }
            }
        }
    };
    page("Two runs", shell, &body)
}

/// The parts in which two runs are compared, each with whether it differs.
fn compared_parts(a: &Value, b: &Value) -> [(&'static str, bool); 5] {
    let (one, other) = (&a["record"], &b["record"]);
    let has_other_outcome = ending(&a["state"], one) != ending(&b["state"], other);
    [
        (QUESTION, one["question"] != other["question"]),
        (OUTCOME, has_other_outcome),
        (ANSWERER, one["answerer"] != other["answerer"]),
        (ANSWER, judged_sentences(one) != judged_sentences(other)),
        (EVIDENCE, passages_of(one) != passages_of(other)),
    ]
}

/// The names of the parts that differ.
fn differing_names(parts: &[(&'static str, bool)]) -> Vec<&'static str> {
    let differing = parts.iter().filter(|(_, differs)| *differs);
    differing.map(|(name, _)| *name).collect()
}

/// The sentences of an answer, each with its verdict.
fn judged_sentences(record: &Value) -> Vec<(&str, &str)> {
    let claims = items(&record["citation_validation"], "claims").iter();
    claims
        .map(|claim| (text(claim, "verdict"), text(claim, "text")))
        .collect()
}

/// What tells one passage of the evidence from another, for each.
fn passages_of(record: &Value) -> Vec<[&Value; 4]> {
    let items = items(&record["snapshot"], "items").iter();
    let parts = ["source", "rel_path", "lines", "text_sha256"];
    items.map(|item| parts.map(|part| &item[part])).collect()
}

/// The word beside a part of a run that differs from that of the other one.
fn difference(differing: &[&str], name: &str) -> Markup {
    html! { @if differing.contains(&name) { " " strong class="differs" { "differs" } } }
}

/// The heading of a part of a run. A part that is empty has one only if it differs.
fn heading(differing: &[&str], name: &str, is_empty: bool) -> Markup {
    html! {
        @if !is_empty || differing.contains(&name) { h3 { (name) (difference(differing, name)) } }
        @if is_empty && differing.contains(&name) { p { "There is none." } }
    }
}

/// What a run was and gave. `differing` names the parts that differ from those of the run beside it.
fn content(run: &Value, prefix: &'static str, differing: &[&str]) -> Markup {
    let record = &run["record"];
    let evidence = items(&record["snapshot"], "items").iter();
    let proof = Proof {
        report: &record["citation_validation"],
        passages: evidence.map(|item| (item, text(item, "excerpt"))).collect(),
        prefix,
    };
    html! {
        (facts(run, differing))
        @if let Some(message) = record["error_message"].as_str() {
            p class="failed" { strong { (text(record, "error_code")) } ": " (message) }
        }
        @if let Some(why) = record["why"].as_str() { p class="why" { (why) } }
        (heading(differing, ANSWER, judged_sentences(record).is_empty()))
        (proof.sentences())
        @for call in items(record, "calls") {
            @if let Some(reasons) = call["refused"].as_str() {
                p class="refused" { "A reply of " (text(call, "model")) " was refused: " (reasons) }
            }
        }
        (heading(differing, EVIDENCE, proof.passages.is_empty()))
        (proof.evidence())
        (proof.faults())
    }
}

fn facts(run: &Value, differing: &[&str]) -> Markup {
    let record = &run["record"];
    let sent = items(record, "sent");
    html! {
        table class="facts" {
            tr { th scope="row" { "Run" } td { (text(record, "run_id")) } }
            tr { th scope="row" { (OUTCOME) } td { (ending(&run["state"], record)) (difference(differing, OUTCOME)) } }
            tr { th scope="row" { "Began" } td { (text(record, "started_at")) } }
            @if let Some(seconds) = record["elapsed_s"].as_f64() {
                tr { th scope="row" { "Took" } td { (seconds) " s" } }
            }
            tr { th scope="row" { "Asked by" } td { (text(record, "asked_by")) } }
            tr {
                th scope="row" { (ANSWERER) }
                td { (record["answerer"].as_str().unwrap_or("nobody")) (difference(differing, ANSWERER)) }
            }
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
    fn two_runs_say_in_words_what_differs() {
        let run = |outcome: &str, text: &str, sha256: &str| {
            json!({"state": "ended", "record": {
                "run_id": "r", "question": "q", "answerer": "extractive", "outcome": outcome,
                "citation_validation": {"claims": [{"verdict": "verified", "text": text}]},
                "snapshot": {"items": [{"source": "n", "rel_path": "a.md", "lines": "1", "text_sha256": sha256}]},
            }})
        };
        let differing = |b: &Value| {
            let parts = compared_parts(&run("answered", "One.", "1"), b);
            differing_names(&parts)
        };
        assert!(differing(&run("answered", "One.", "1")).is_empty());
        assert_eq!(differing(&run("partial", "One.", "1")), [OUTCOME]);
        assert_eq!(differing(&run("answered", "Two.", "1")), [ANSWER]);
        assert_eq!(differing(&run("answered", "One.", "2")), [EVIDENCE]);
        let failed =
            json!({"state": "ended", "record": {"question": "?", "error_code": "CANCELLED"}});
        assert_eq!(
            differing(&failed),
            [QUESTION, OUTCOME, ANSWERER, ANSWER, EVIDENCE]
        );
    }

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
