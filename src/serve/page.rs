//! The pages: search, an answer with the proof of each sentence, a document, the status.
//!
//! Every text from a note, a name, a question or a model goes through templates that escape it.
//! Everything works without the script. The input has the form of the command line's `--json`.

use maud::{DOCTYPE, Markup, html};
use serde_json::{Value, json};

use local_agent_text::documents;
use local_agent_text::error::Failure;
use local_agent_text::types::percent_encode;

/// The style of all pages.
pub(super) const STYLE: &str = include_str!("style.css");

/// `/` moves the cursor to the search field; everything else works without it.
pub(super) const SCRIPT: &str = include_str!("script.js");

/// Characters with a special meaning in a URL's query or in an attribute.
const SPECIAL: &str = " \"#&+<>?'`=;";

/// A page with a title, the form at the top, and the body.
fn page(title: &str, asked: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " · local-agent" }
                link rel="stylesheet" href="/style.css";
                script src="/script.js" defer {}
            }
            body {
                a class="skip" href="#main" { "Skip to the content" }
                header {
                    nav aria-label="Pages" { a href="/" { "Notes" } " · " a href="/status" { "Status" } }
                    form action="/" role="search" {
                        label for="q" { "Words or a question" }
                        input id="q" name="q" type="search" value=(asked) autocomplete="off";
                        button { "Search" }
                        button formaction="/ask" { "Ask" }
                    }
                }
                main id="main" tabindex="-1" { (body) }
            }
        }
    }
}

/// A failure: its message, its code and the command that fixes it.
pub(super) fn failed(asked: &str, failure: &Failure) -> Markup {
    let body = html! {
        p class="failed" { strong { (failure.code.as_str()) } ": " (failure.message) }
        @if let Some(hint) = &failure.hint { p { "What mends it: " code { (hint) } } }
    };
    page("Not done", asked, &body)
}

/// The page before anything was asked.
pub(super) fn start() -> Markup {
    let body = html! {
        p { "Search finds passages. Ask answers a question and shows the proof of each sentence." }
    };
    page("Notes", "", &body)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn items<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// `source:path` of a hit or an evidence item.
fn address(item: &Value) -> String {
    let path = item["rel_path"].as_str().or_else(|| item["path"].as_str());
    format!("{}:{}", text(item, "source"), path.unwrap_or_default())
}

/// A number and its noun: "1 chunk", "2 chunks".
fn counted(number: &Value, noun: &str) -> String {
    let number = number.as_u64().unwrap_or_default();
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A link to the lines of a document.
fn place(item: &Value) -> Markup {
    let (address, lines) = (address(item), text(item, "lines"));
    let first: String = lines.chars().take_while(char::is_ascii_digit).collect();
    html! {
        a href={ "/note?address=" (percent_encode(&address, SPECIAL)) "#L" (first) } {
            (address) ", " (said_lines(&address, lines))
        }
    }
}

fn said_lines(address: &str, lines: &str) -> String {
    match lines.parse() {
        Ok(span) => documents::said_lines(address, span),
        Err(_) => format!("line {lines}"),
    }
}

/// The lines of an evidence item in the form for `get`: `source:path:first:count`.
pub(super) fn lines_of(item: &Value) -> Option<String> {
    let (first, last) = text(item, "lines")
        .split_once('-')
        .unwrap_or((text(item, "lines"), text(item, "lines")));
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    Some(format!(
        "{}:{first}:{}",
        address(item),
        (last + 1).checked_sub(first)?
    ))
}

/// The search results.
pub(super) fn found(asked: &str, found: &Value) -> Markup {
    let hits = items(found, "hits");
    let body = html! {
        h1 { (counted(&json!(hits.len()), "passage")) }
        @if hits.is_empty() { p { "Nothing in the index fits these words." } }
        ol class="hits" {
            @for hit in hits {
                li {
                    h2 { (text(hit, "title")) }
                    p class="place" {
                        (place(hit)) " " span class="trail" { (text(hit, "heading_path")) }
                        @if hit["fresh"] == json!(false) { " " strong { "changed since it was indexed" } }
                    }
                    blockquote { (marked(text(hit, "text"), asked)) }
                }
            }
        }
        (behind(found))
    };
    page(asked, asked, &body)
}

/// A text with the words of a question highlighted.
fn marked(text: &str, question: &str) -> Markup {
    let words: Vec<String> = question
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 2)
        .map(str::to_lowercase)
        .collect();
    let mut parts: Vec<(&str, bool)> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_inside = first.is_alphanumeric();
        let end = rest.find(|c: char| c.is_alphanumeric() != is_inside);
        let (part, behind) = rest.split_at(end.unwrap_or(rest.len()));
        parts.push((part, is_inside && words.contains(&part.to_lowercase())));
        rest = behind;
    }
    html! {
        @for (part, is_marked) in parts {
            @if is_marked { mark { (part) } } @else { (part) }
        }
    }
}

/// What the index does not contain yet, with the command that fixes it.
fn behind(result: &Value) -> Markup {
    html! {
        @for one in items(result, "stale") {
            p class="stale" { (text(one, "why")) ": " code { (text(one, "fix")) } }
        }
    }
}

/// An answer: each sentence with its verdict and location, next to the evidence. `passages` are the
/// current words of each evidence item.
pub(super) fn answered(asked: &str, answer: &Value, passages: &[String]) -> Markup {
    let evidence = items(answer, "evidence").iter().zip(passages);
    let body = html! {
        h1 { (asked) }
        div class="proof" {
            section aria-label="Answer" { (judged(answer)) }
            section aria-label="Evidence" {
                h2 { "Evidence" }
                @for (item, passage) in evidence {
                    article id=(text(item, "label")) {
                        h3 { (text(item, "label")) " " (place(item)) }
                        blockquote { (passage) }
                    }
                }
            }
        }
        (behind(answer))
    };
    page(asked, asked, &body)
}

fn judged(answer: &Value) -> Markup {
    let claims = items(&answer["citation_validation"], "claims");
    html! {
        @match text(answer, "outcome") {
            "closest" => { p { "No sentence answers this for certain. These passages come closest:" } }
            "abstained" => { p { "The notes hold nothing on this." } }
            _ => {}
        }
        @if let Some(computed) = answer["computed"].as_object() {
            p class="computed" {
                (computed.get("value").and_then(Value::as_str).unwrap_or_default()) " = "
                (computed.get("arithmetic").and_then(Value::as_str).unwrap_or_default())
            }
        }
        ul class="claims" {
            @for claim in claims {
                li class=(text(claim, "verdict")) {
                    span class="verdict" { (text(claim, "verdict")) } " " (text(claim, "text"))
                    details {
                        summary { "Proof" }
                        p { (text(claim, "why")) }
                        @if claim["evidence"].is_object() { p { (place(&claim["evidence"])) } }
                    }
                }
            }
        }
        @if let Some(why) = answer["why"].as_str() { p class="why" { (why) } }
        @for left_out in items(answer, "left_out") {
            p class="refused" { "Left out: “" (text(left_out, "sentence")) "” " (text(left_out, "reason")) }
        }
        p class="checks" { (text(answer, "citation_validation_footer")) }
    }
}

/// A document with its line numbers.
pub(super) fn document(document: &Value) -> Markup {
    let first = document["first_line"].as_u64().unwrap_or(1);
    let body = html! {
        h1 { (text(document, "address")) }
        table class="lines" {
            @for (number, line) in (first..).zip(text(document, "text").lines()) {
                tr id={ "L" (number) } { th scope="row" { (number) } td { (line) } }
            }
        }
        @if document["truncated"] == json!(true) { p { "The document goes on." } }
    };
    page(text(document, "address"), "", &body)
}

/// What is indexed, and the commands that bring it up to date.
pub(super) fn state(state: &Value) -> Markup {
    let body = html! {
        h1 { "Status" }
        p {
            (counted(&state["documents"], "document")) " in " (counted(&state["chunks"], "chunk")) "; model: "
            (state["model"].as_str().unwrap_or("none"))
        }
        table {
            tr { th scope="col" { "Source" } th scope="col" { "Kind" } th scope="col" { "Documents" } }
            @for source in items(state, "sources") {
                tr { td { (text(source, "name")) } td { (text(source, "kind")) } td { (source["documents"]) } }
            }
        }
        (behind(state))
    };
    page("Status", "", &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_a_note_is_never_markup() {
        let shown = marked("<img onerror=alert(1)> the oven", "oven img").into_string();
        assert!(
            !shown.contains("<img") && shown.contains("<mark>oven</mark>"),
            "{shown}"
        );
        let item = json!({"source": "n", "rel_path": "\"><script>.md", "lines": "1-2"});
        let shown = place(&item).into_string();
        assert!(!shown.contains("<script>"), "{shown}");
    }

    #[test]
    fn the_lines_of_an_item_are_an_address() {
        let item = |lines: &str| json!({"source": "n", "rel_path": "a.md", "lines": lines});
        assert_eq!(lines_of(&item("3-5")).as_deref(), Some("n:a.md:3:3"));
        assert_eq!(lines_of(&item("7")).as_deref(), Some("n:a.md:7:1"));
        assert_eq!(lines_of(&item("")), None);
    }
}
