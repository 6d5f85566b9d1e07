//! The pages of the program's memories and of its own state.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::page::{Shell, behind, counted, exact, items, moment, note_link, page, text};

/// What is indexed, and the commands that bring it up to date.
pub(super) fn state(shell: &Shell, state: &Value) -> Markup {
    let body = html! {
        div class="narrow" {
            h1 { "Status" }
            dl class="figures" {
                (figure(&state["documents"], "documents"))
                (figure(&state["chunks"], "passages"))
                @if state["coverage"]["embedded"].is_u64() { (figure(&state["coverage"]["embedded"], "of them found by meaning")) }
                (figure(&json!(items(state, "sources").len()), "sources"))
            }
            (behind(state))
            @if let Some(why) = state["vectors_without_say"].as_str() { p class="stale" { (why) } }
            @if is_up_to_date(state) { p class="notice" { span class="badge passed" { "up to date" } " The index knows every file as it is now." } }
            @for job in ["index_job", "embed_job"].iter().filter_map(|job| state[*job].as_str()) {
                p class="notice" { "Running: " (job) }
            }
            h2 { "Sources" }
            table class="facts" {
                tr { th scope="col" { "Source" } th scope="col" { "Kind" } th class="number" scope="col" { "Documents" } }
                @for source in items(state, "sources") {
                    tr { td { (text(source, "name")) } td { (text(source, "kind")) } td class="number" { (source["documents"]) } }
                }
            }
            p class="trail" {
                (counted(&state["documents"], "document")) " in " (counted(&state["chunks"], "chunk"))
                "; model: " (state["model"].as_str().unwrap_or("none")) "."
                @if let Some(why) = state["model_reason"].as_str() { " The model was chosen because " (why) "." }
            }
            (skipped(state))
        }
    };
    page("Status", shell, &body)
}

fn figure(number: &Value, name: &str) -> Markup {
    html! { div { dt { (name) } dd { (with_spaces(number.as_u64().unwrap_or_default())) } } }
}

/// A number in groups of three digits.
fn with_spaces(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(' ');
        }
        shown.push(digit);
    }
    shown
}

/// Whether nothing is missing in the index.
fn is_up_to_date(state: &Value) -> bool {
    let is_empty = state["documents"].as_u64().unwrap_or_default() == 0;
    !is_empty && items(state, "stale").is_empty() && !state["vectors_without_say"].is_string()
}

/// The files that are in no index, by kind and reason.
fn skipped(state: &Value) -> Markup {
    let kinds = items(state, "skipped_kinds");
    html! {
        @if !kinds.is_empty() {
            h2 { (counted(&state["skipped_files"], "file")) " skipped" }
            ul {
                @for kind in kinds {
                    li {
                        (counted(&kind["files"], "file")) " " (named_extension(kind)) ": " (text(kind, "reason"))
                    }
                }
            }
        }
    }
}

/// The extension of a kind of files in words.
fn named_extension(kind: &Value) -> &str {
    match text(kind, "extension") {
        "" => "without an extension",
        extension => extension,
    }
}

/// The memories.
pub(super) fn memories(shell: &Shell, words: &str, found: &Value) -> Markup {
    let memories = items(found, "items");
    let body = html! {
        div class="narrow" {
            h1 { "Memory" }
            p class="lead" { "What the program was asked to remember, and from where." }
            form class="line" action="/memory" {
                label class="unseen" for="words" { "Words of a memory" }
                input id="words" name="words" type="search" value=(exact(words)) placeholder="Words of a memory" dir="auto";
                button { "Search memory" }
                @if !words.is_empty() { a href="/memory" { "All memories" } }
            }
            @if memories.is_empty() {
                p class="notice" {
                    @if words.is_empty() { "Nothing is remembered yet. To add something: " code { "local-agent memory add \"…\"" } }
                    @else { "No memory fits." }
                }
            }
            ul class="plain memories" { @for memory in memories { li { (one_memory(memory)) } } }
        }
    };
    page("Memory", shell, &body)
}

/// A memory: what it says, what kind it is, since when, and the notes that it rests on.
fn one_memory(memory: &Value) -> Markup {
    let id = text(memory, "memory_id");
    html! {
        p dir="auto" { (text(memory, "content")) }
        p class="trail" {
            span class="badge" { (text(memory, "type").replace('_', " ")) } " "
            @match text(memory, "source") { "manual" => "told by you", other => (other.replace('_', " ")) }
            " · " (moment(text(memory, "created_at")))
        }
        @for link in items(memory, "evidence") {
            @let note = format!("{}:{}", text(link, "source"), text(link, "rel_path"));
            p class="trail" { span class="badge" { (text(link, "state")) } " " (note_link(&note)) }
        }
        details {
            summary class="trail" { "To delete it" }
            p { code { "local-agent memory delete " (id) } }
        }
    }
}

/// The problems, and the commands that fix them.
pub(super) fn problems(shell: &Shell, report: &Value) -> Markup {
    let checks = items(report, "checks");
    let (failed, noted) = (of(checks, "failed"), of(checks, "warning"));
    let passed = of(checks, "passed");
    let body = html! {
        div class="narrow" {
            h1 {
                @if failed.is_empty() && noted.is_empty() { "No problems" } @else { "Problems" }
            }
            p class="meta" {
                span { (counted(&json!(checks.len()), "check")) ", " (failed.len()) " failed" }
                @if !noted.is_empty() { span { (counted(&json!(noted.len()), "warning")) } }
                span { "Servers were not asked." }
            }
            @for check in failed { (problem(check, "failed")) }
            @for check in noted { (problem(check, "warning")) }
            @if !passed.is_empty() {
                details class="fold" {
                    summary { (counted(&json!(passed.len()), "check")) " passed" }
                    ul class="passed-list" { @for check in passed { li { (text(check, "message")) } } }
                }
            }
        }
    };
    page("Problems", shell, &body)
}

/// The checks of a kind.
fn of<'v>(checks: &'v [Value], kind: &str) -> Vec<&'v Value> {
    checks
        .iter()
        .filter(|check| kind_of(check) == kind)
        .collect()
}

/// Whether a check failed, passed with a suggestion, or passed.
fn kind_of(check: &Value) -> &'static str {
    match (
        check["ok"] == json!(true),
        check["suggested_fix"].is_string(),
    ) {
        (false, _) => "failed",
        (true, true) => "warning",
        (true, false) => "passed",
    }
}

fn problem(check: &Value, kind: &str) -> Markup {
    html! {
        article class="check" {
            p { span class={ "badge " (kind) } { (kind) } (text(check, "message")) }
            @if let Some(fix) = check["suggested_fix"].as_str() { p { "To fix it: " code { (fix) } } }
            p class="trail" { (text(check, "error_code")) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_no_failure_and_what_passed_is_there_too() {
        let check = |ok: bool, fix: Option<&str>, code: &str| json!({"ok": ok, "suggested_fix": fix, "error_code": code, "message": code});
        let report = json!({"checks": [check(true, None, "A"), check(true, Some("b"), "B"), check(false, None, "C")]});
        let shown = problems(&Shell::default(), &report).into_string();
        for part in [
            "3 checks, 1 failed",
            "<span class=\"badge failed\">failed</span>C",
            "<span class=\"badge warning\">warning</span>B",
            "1 check passed</summary><ul class=\"passed-list\"><li>A</li>",
        ] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    }

    #[test]
    fn a_great_number_is_in_groups() {
        for (number, wanted) in [
            (7, "7"),
            (999, "999"),
            (1_000, "1\u{202f}000"),
            (1_234_567, "1\u{202f}234\u{202f}567"),
        ] {
            assert_eq!(with_spaces(number), wanted.replace('\u{202f}', " "));
        }
    }

    #[test]
    fn a_memory_says_what_it_says_and_where_from() {
        let found = json!({"items": [{"content": "Tea at <4>.", "type": "user_fact", "source": "manual",
            "memory_id": "i", "created_at": "2026-11-29T13:59:17Z",
            "evidence": [{"state": "current", "source": "n", "rel_path": "a.md"}]}]});
        let shown = memories(&Shell::default(), "", &found).into_string();
        for part in [
            "Tea at &lt;4&gt;.",
            "user fact",
            "told by you",
            "/note?address=n:a.md",
            "memory delete i",
        ] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    }
}
