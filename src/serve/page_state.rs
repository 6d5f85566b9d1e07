//! The pages of the program's memories and of its own state.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::page::{Shell, behind, counted, exact, items, page, text};

/// What is indexed, and the commands that bring it up to date.
pub(super) fn state(shell: &Shell, state: &Value) -> Markup {
    let body = html! {
        h1 { "Status" }
        p {
            (counted(&state["documents"], "document")) " in " (counted(&state["chunks"], "chunk")) "; model: "
            (state["model"].as_str().unwrap_or("none"))
        }
        @if let Some(embedded) = state["coverage"]["embedded"].as_u64() {
            p { (embedded) " of " (counted(&state["coverage"]["chunks"], "chunk")) " can be found by meaning." }
        }
        @if let Some(why) = state["model_reason"].as_str() { p { "The model was chosen because " (why) "." } }
        @for job in ["index_job", "embed_job"].iter().filter_map(|job| state[*job].as_str()) {
            p { "Running: " (job) }
        }
        table {
            tr { th scope="col" { "Source" } th scope="col" { "Kind" } th scope="col" { "Documents" } }
            @for source in items(state, "sources") {
                tr { td { (text(source, "name")) } td { (text(source, "kind")) } td { (source["documents"]) } }
            }
        }
        (skipped(state))
        (behind(state))
        @if let Some(why) = state["vectors_without_say"].as_str() { p class="stale" { (why) } }
    };
    page("Status", shell, &body)
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
        h1 { "Memory" }
        form class="line" action="/memory" {
            label for="words" { "Words of a memory" }
            input id="words" name="words" type="search" value=(exact(words)) dir="auto";
            button { "Search memory" }
        }
        @if memories.is_empty() { p { "No memory fits." } }
        ul class="memories" {
            @for memory in memories {
                li {
                    p dir="auto" { (text(memory, "content")) }
                    p class="trail" { (text(memory, "type")) " · " (text(memory, "memory_id")) }
                    @for link in items(memory, "evidence") {
                        p class="trail" {
                            (text(link, "state")) " "
                            bdi { (text(link, "source")) ":" (text(link, "rel_path")) }
                        }
                    }
                }
            }
        }
    };
    page("Memory", shell, &body)
}

/// The problems, and the commands that fix them.
pub(super) fn problems(shell: &Shell, report: &Value) -> Markup {
    let checks = items(report, "checks");
    let (failed, noted) = (of(checks, false), of(checks, true));
    let body = html! {
        h1 { "Problems" }
        p { (counted(&json!(checks.len()), "check")) ", " (failed.len()) " failed. Servers were not asked." }
        @for check in failed { (problem(check, "failed")) }
        @for check in noted { (problem(check, "stale")) }
    };
    page("Problems", shell, &body)
}

/// The failed checks, or those that passed with a suggestion.
fn of(checks: &[Value], passed: bool) -> Vec<&Value> {
    checks
        .iter()
        .filter(|check| is_wanted(passed, check))
        .collect()
}

/// Whether the check belongs to this part of the page.
fn is_wanted(passed: bool, check: &Value) -> bool {
    let is_noted = check["suggested_fix"].is_string();
    check["ok"] == json!(passed) && (!passed || is_noted)
}

fn problem(check: &Value, class: &str) -> Markup {
    html! {
        article {
            p class=(class) { strong { (text(check, "error_code")) } ": " (text(check, "message")) }
            @if let Some(fix) = check["suggested_fix"].as_str() { p { "To fix it: " code { (fix) } } }
        }
    }
}
