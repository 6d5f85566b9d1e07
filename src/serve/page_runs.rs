//! The pages of runs: a list, one run, two next to each other, and a replay.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::marks::Marks;
use super::page::{Shell, counted, exact, in_query_of_link, items, moment, page, text};
use super::page_proof::{Passage, Proof, differing_words, refused_sentence, words_of};

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

/// An outcome in words.
fn outcome_in_words(outcome: &str) -> &str {
    match outcome {
        "partial" => "answered in part",
        "closest" => "closest passages",
        "abstained" => "nothing found",
        "CANCELLED" => "cancelled",
        other => other,
    }
}

/// An outcome as a word with the colour of its kind.
pub(super) fn outcome_badge(outcome: &str) -> Markup {
    let is_code = outcome.starts_with(|c: char| c.is_ascii_uppercase()) && outcome != "CANCELLED";
    let kind = if is_code { "failed" } else { outcome };
    html! { @if !outcome.is_empty() { span class={ "badge " (kind) } { (outcome_in_words(outcome)) } } }
}

/// A run in a short list: its question, which leads to its answer, how it ended and when.
pub(super) fn short(run: &Value) -> Markup {
    let id = text(run, "run_id");
    html! {
        a href=(answer_address(run)) dir="auto" { (run["question"].as_str().unwrap_or(id)) }
        p class="trail" { (outcome_badge(ending(&run["state"], run))) " " (moment(text(run, "started_at"))) }
    }
}

/// Where the answer of a run is shown; the record, if it has none.
fn answer_address(run: &Value) -> String {
    let id = text(run, "run_id");
    match run["outcome"].is_string() {
        true => format!("/ask?run={}", in_query_of_link(id)),
        false => address_of(id),
    }
}

/// The record of a run as the answer that it gave.
pub(super) fn as_answer(run: &Value) -> Value {
    let record = &run["record"];
    let refused = items(record, "calls").iter().rev();
    let refused = refused.map(|call| items(call, "refused_claims"));
    let left_out = refused.into_iter().find(|claims| !claims.is_empty());
    let said: Vec<&str> = judged_sentences(record)
        .into_iter()
        .map(|(_, said)| said)
        .collect();
    let left_out = left_out.unwrap_or_default().iter();
    let left_out: Vec<&Value> = left_out
        .filter(|claim| !said.contains(&text(claim, "sentence")))
        .collect();
    json!({
        "question": record["question"],
        "outcome": ending(&run["state"], record),
        "started_at": record["started_at"],
        "run_id": record["run_id"],
        "why": record["why"],
        "citation_validation": record["citation_validation"],
        "evidence": record["snapshot"]["items"],
        "passages": run["passages"],
        "left_out": left_out,
    })
}

/// What a list of runs is limited to.
#[derive(Debug, Clone, Default)]
pub(super) struct RunFilter {
    /// Words of the question.
    pub words: String,
    /// The outcome.
    pub outcome: String,
}

impl RunFilter {
    /// Whether anything is filtered.
    pub(super) fn is_set(&self) -> bool {
        !self.words.trim().is_empty() || !self.outcome.is_empty()
    }

    /// Whether a run has all words in its question or its asker's name, and the outcome.
    pub(super) fn fits(&self, run: &Value) -> bool {
        let said = format!("{} {}", text(run, "question"), text(run, "asked_by")).to_lowercase();
        let words = self.words.to_lowercase();
        let has_words = words.split_whitespace().all(|word| said.contains(word));
        let ended = ending(&run["state"], run);
        let has_outcome = match self.outcome.as_str() {
            "" => true,
            "failed" => outcome_is_failure(ended),
            outcome => outcome == ended,
        };
        has_words && has_outcome
    }
}

fn outcome_is_failure(ended: &str) -> bool {
    ended.starts_with(|c: char| c.is_ascii_uppercase())
}

/// The outcomes that a list can be limited to.
const OUTCOMES: [&str; 5] = ["answered", "partial", "closest", "abstained", "failed"];

/// One page of the runs, the newest first, with a form that compares two; `skip` newer ones are on
/// the pages before it.
pub(super) fn list(
    shell: &Shell,
    found: &Value,
    skip: usize,
    each: usize,
    filter: &RunFilter,
) -> Markup {
    let runs = items(found, "runs");
    let can_compare = runs.len() > 1;
    let body = html! {
        h1 { "Runs" }
        @if !runs.is_empty() || filter.is_set() { (filter_form(filter)) }
        @if runs.is_empty() { p class="notice" { (no_runs(skip, filter)) } }
        form action="/runs/compare" {
            @if can_compare {
                div class="bar" {
                    button { "Compare two" }
                    p { "To compare two runs, choose the first and the second one." }
                }
            }
            @if !runs.is_empty() {
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
            }
        }
        (pages(found, skip, each))
    };
    page("Runs", shell, &html! { div class="narrow" { (body) } })
}

fn filter_form(filter: &RunFilter) -> Markup {
    html! {
        form class="line" action="/runs" role="search" aria-label="Runs" {
            label for="words" class="unseen" { "Words of the question, or who asked" }
            input id="words" name="words" type="search" value=(exact(&filter.words))
                placeholder="Words of the question, or who asked" dir="auto";
            label for="outcome" class="unseen" { (OUTCOME) }
            select id="outcome" name="outcome" {
                option value="" { "every outcome" }
                @for outcome in OUTCOMES {
                    option value=(outcome) selected[outcome == filter.outcome] { (outcome_in_words(outcome)) }
                }
            }
            button { "Filter" }
            @if filter.is_set() { a href="/runs" { "All runs" } }
        }
    }
}

fn no_runs(skip: usize, filter: &RunFilter) -> &'static str {
    match skip {
        _ if filter.is_set() => "No run fits.",
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
            nav class="more" aria-label="More runs" {
                @if shown > 0 { span { (skip + 1) " to " (end) " of " (total) } }
                @if skip > 0 {
                    a class="button" rel="prev" href={ "/runs?skip=" (skip.min(total).saturating_sub(each)) } { "Newer" }
                }
                @if end < total { a class="button" rel="next" href={ "/runs?skip=" (end) } { "Older" } }
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
                p class="trail" dir="ltr" {
                    (outcome_badge(ending(&run["state"], run))) " " (moment(text(run, "started_at")))
                    @if let Some(asker) = run["asked_by"].as_str() { " · " bdi { (asker) } }
                }
            }
        }
    }
}

/// One run, with a button that replays it.
pub(super) fn one(shell: &Shell, run: &Value) -> Markup {
    let record = &run["record"];
    let id = text(record, "run_id");
    let body = html! {
        div class="asked" {
            h1 dir="auto" { (text(record, "question")) }
            div class="meta" {
                (outcome_badge(ending(&run["state"], record)))
                span { (moment(text(record, "started_at"))) }
                span { "asked by " bdi { (text(record, "asked_by")) } }
                @if record["outcome"].is_string() { a href={ "/ask?run=" (in_query_of_link(id)) } { "As an answer" } }
                form method="post" action="/run/replay" {
                    input type="hidden" name="id" value=(id);
                    button { "Replay" }
                }
            }
        }
        (content(run, "", &[], true))
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
        (beside(&two["a"]["record"], &two["b"]["record"], &differing))
        div class="proof two" {
            @for (run, prefix) in [(&two["a"], "a-"), (&two["b"], "b-")] {
                section aria-label=(text(&run["record"], "run_id")) {
                    h2 dir="auto" {
                        a href=(address_of(text(&run["record"], "run_id"))) { (text(&run["record"], "question")) }
                        (difference(&differing, QUESTION))
                    }
                    (content(run, prefix, &differing, false))
                }
            }
        }
    };
    page("Two runs", shell, &body)
}

/// The sentences of two runs and their passages, in rows: what is the same, and what stands on one
/// side only, with the words that differ.
fn beside(a: &Value, b: &Value, differing: &[&str]) -> Markup {
    let (one, other) = (judged_sentences(a), judged_sentences(b));
    let (places_a, places_b) = (places_of(a), places_of(b));
    html! {
        @if differing.contains(&ANSWER) {
            h2 { "What the answers say" }
            table class="beside" {
                tr { th scope="col" { "First" } th scope="col" { "Second" } }
                @for (left, right) in aligned(&one, &other) {
                    tr class=[(left != right).then_some("other")] {
                        td { (side(left, right)) }
                        td { (side(right, left)) }
                    }
                }
            }
        }
        @if differing.contains(&EVIDENCE) {
            h2 { "Passages that only one has" }
            table class="beside" {
                tr { th scope="col" { "First" } th scope="col" { "Second" } }
                @for (left, right) in aligned(&places_a, &places_b).into_iter().filter(|(left, right)| left != right) {
                    tr { @for place in [left, right] { td { bdi { (place.map_or("", String::as_str)) } } } }
                }
            }
        }
    }
}

/// A sentence of one run; the words that the one beside it lacks are marked.
fn side(own: Option<&(&str, &str)>, other: Option<&(&str, &str)>) -> Markup {
    html! {
        @match own {
            Some((verdict, said)) => {
                span class={ "badge " (verdict) } { (verdict) } " "
                @let beside = other.map_or("", |(_, said)| said);
                (Marks::default().with_differing(changed_words(said, beside)).show(said))
            }
            None => span class="none" { "not in this answer" },
        }
    }
}

/// The words of a sentence that the one beside it lacks; none if the two have little in common.
fn changed_words<'t>(said: &'t str, beside: &str) -> Vec<&'t str> {
    let changed = differing_words(said, beside);
    match changed.len() * 2 > words_of(said).count() {
        true => Vec::new(),
        false => changed,
    }
}

/// The passages of a run in words.
fn places_of(record: &Value) -> Vec<String> {
    let items = items(&record["snapshot"], "items").iter();
    items
        .map(|item| {
            let (source, path) = (text(item, "source"), text(item, "rel_path"));
            format!("{source}:{path}, {}", text(item, "lines"))
        })
        .collect()
}

/// Two lists next to each other: equal items in one row, in the order of both, and between them the
/// others, as long as there are any on either side.
fn aligned<'l, T: PartialEq>(one: &'l [T], other: &'l [T]) -> Vec<(Option<&'l T>, Option<&'l T>)> {
    let mut rows = Vec::new();
    let (mut left, mut right) = (0, 0);
    while let Some((i, j)) = next_equal(one, other, left, right) {
        unequal(&one[left..i], &other[right..j], &mut rows);
        rows.push((one.get(i), other.get(j)));
        (left, right) = (i + 1, j + 1);
    }
    unequal(&one[left..], &other[right..], &mut rows);
    rows
}

/// The next two equal items, those that leave out the fewest before them.
fn next_equal<T: PartialEq>(
    one: &[T],
    other: &[T],
    left: usize,
    right: usize,
) -> Option<(usize, usize)> {
    let left_items = one.iter().enumerate().skip(left);
    let pairs = left_items.filter_map(|(i, item)| {
        let at = other.iter().skip(right).position(|other| other == item)?;
        Some((i, right + at))
    });
    pairs.min_by_key(|(i, j)| (i - left) + (j - right))
}

/// Rows of items that have no equal.
fn unequal<'l, T>(one: &'l [T], other: &'l [T], rows: &mut Vec<(Option<&'l T>, Option<&'l T>)>) {
    for row in 0..one.len().max(other.len()) {
        rows.push((one.get(row), other.get(row)));
    }
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
/// With `has_columns`, the evidence stands beside the answer.
fn content(run: &Value, prefix: &'static str, differing: &[&str], has_columns: bool) -> Markup {
    let record = &run["record"];
    let proof = Proof {
        report: &record["citation_validation"],
        passages: passages(run),
        prefix,
        is_record: true,
    };
    let answer = html! {
        @if let Some(message) = record["error_message"].as_str() {
            p class="failed" { strong { (text(record, "error_code")) } ": " (message) }
        }
        @if let Some(why) = record["why"].as_str() { p class="why" { (why) } }
        (heading(differing, ANSWER, judged_sentences(record).is_empty()))
        (proof.sentences())
        (replies(record))
        (proof.faults())
    };
    let evidence = html! {
        (heading(differing, EVIDENCE, proof.passages.is_empty()))
        (proof.evidence())
    };
    html! {
        @if has_columns {
            div class="proof" {
                section aria-label=(ANSWER) { (answer) h2 { "The record" } (facts(run, differing)) }
                section class="evidence" aria-label=(EVIDENCE) { (evidence) }
            }
        } @else {
            (facts(run, differing)) (answer)
            div class="evidence" { (evidence) }
        }
    }
}

/// The replies of a model that were refused, each with its refused sentences and the reasons.
fn replies(record: &Value) -> Markup {
    let calls = items(record, "calls").iter();
    let refused: Vec<&Value> = calls.filter(|call| call["refused"].is_string()).collect();
    html! {
        @if !refused.is_empty() {
            h3 { "Refused replies" }
            @for call in refused {
                p class="trail" { "A reply of " (text(call, "model")) " was refused: " code { (text(call, "refused")) } }
                @for claim in items(call, "refused_claims") { (refused_sentence(claim)) }
            }
        }
    }
}

/// The passages of a run with their texts, as the site read them, or else as the record has them.
fn passages(run: &Value) -> Vec<Passage<'_>> {
    let items = items(&run["record"]["snapshot"], "items")
        .iter()
        .enumerate();
    items
        .map(|(number, item)| match run["passages"].get(number) {
            Some(passage) => Passage::new(item, passage),
            None => Passage {
                item,
                text: text(item, "excerpt"),
                is_exact: false,
                is_of_file: false,
            },
        })
        .collect()
}

fn facts(run: &Value, differing: &[&str]) -> Markup {
    let record = &run["record"];
    let sent = items(record, "sent");
    html! {
        table class="facts" {
            tr { th scope="row" { "Run" } td { code { (text(record, "run_id")) } } }
            tr { th scope="row" { (OUTCOME) } td { (outcome_badge(ending(&run["state"], record))) (difference(differing, OUTCOME)) } }
            tr { th scope="row" { "Began" } td { (moment(text(record, "started_at"))) } }
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

/// Where the bytes of a replay came from, in words.
fn read_from(bytes_from: &str) -> &str {
    match bytes_from {
        "files" => "the files themselves",
        "kept" | "kept_evidence" => "the copy that the record keeps",
        other => other,
    }
}

/// A run that was replayed: its evidence is still there and gives the same report.
pub(super) fn replayed(shell: &Shell, done: &Value) -> Markup {
    let id = text(done, "run_id");
    let count = counted(&done["items"], "passage");
    let body = html! {
        div class="narrow" {
            h1 { "Replayed: nothing has changed" }
            p class="lead" { (count) " of evidence: byte for byte as they were, read from " (read_from(text(done, "bytes_from"))) "." }
            @match done["report_sha256"].as_str() {
                Some(sha256) => {
                    p { "The same report: the verifier judged every sentence again and came to the verdicts of the record." }
                    details class="fold" {
                        summary { "The fingerprint of both reports" }
                        p { code { (sha256) } }
                    }
                }
                None => { p { "No draft was judged, so there is no report to compare." } }
            }
            p class="more" { a class="button" href=(address_of(id)) { "The run" } a href="/runs" { "All runs" } }
        }
    };
    page("Replayed", shell, &body)
}

#[cfg(test)]
mod tests {
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
    fn two_lists_stand_beside_each_other_with_equal_items_in_one_row() {
        let rows = |one: &str, other: &str| {
            let one: Vec<&str> = one.split_whitespace().collect();
            let other: Vec<&str> = other.split_whitespace().collect();
            let rows = aligned(&one, &other);
            let name = |side: Option<&&str>| side.map_or("-".to_owned(), |one| (*one).to_owned());
            let rows = rows
                .into_iter()
                .map(|(a, b)| format!("{}{}", name(a), name(b)));
            rows.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(rows("a b c", "a b c"), "aa bb cc");
        assert_eq!(rows("a b c", "a x c"), "aa bx cc");
        assert_eq!(rows("a c", "a b c"), "aa -b cc");
        assert_eq!(rows("a b", ""), "a- b-");
        assert_eq!(rows("x a", "a y"), "x- aa -y");
    }

    #[test]
    fn a_filter_fits_words_of_the_question_the_asker_and_the_outcome() {
        let run = json!({"question": "How hot is the Oven?", "asked_by": "serve (ann)", "outcome": "closest", "state": "ended"});
        let fits = |words: &str, outcome: &str| {
            let filter = RunFilter {
                words: words.to_owned(),
                outcome: outcome.to_owned(),
            };
            filter.fits(&run)
        };
        for (words, outcome, wanted) in [
            ("", "", true),
            ("oven HOW", "", true),
            ("ann", "closest", true),
            ("oven", "answered", false),
            ("bread", "", false),
            ("", "failed", false),
        ] {
            assert_eq!(fits(words, outcome), wanted, "{words} {outcome}");
        }
    }

    #[test]
    fn a_refused_sentence_has_its_words_and_its_reason() {
        let run = json!({"state": "ended", "record": {"calls": [{"model": "m", "refused": "NUMBER",
            "refused_claims": [{"sentence": "It has 15 <b>.", "reason": "E1 says 14.",
                "source": {"address": "n:a.md", "lines": "3", "text": "It has 14."}}]}]}});
        let shown = content(&run, "", &[], true).into_string();
        for part in [
            "It has <u>15</u> &lt;b&gt;.",
            "E1 says 14.",
            "n:a.md, line 3",
            "It has <u>14</u>.",
        ] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    }

    #[test]
    fn a_page_of_runs_leads_to_the_newer_and_the_older_ones() {
        let run = json!({"run_id": "r", "question": "q", "state": "ended"});
        let shown = |skip: usize, shown: usize, total: usize| {
            let found = json!({"runs": vec![run.clone(); shown], "total": total});
            list(&Shell::default(), &found, skip, 100, &RunFilter::default()).into_string()
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
