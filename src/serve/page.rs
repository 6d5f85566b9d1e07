//! The pages: search, an answer with the proof of each sentence, a document, the status.
//!
//! Every text from a note, a name, a question or a model goes through templates that escape it.
//! Everything works without the script. The input has the form of the command line's `--json`.

use maud::{DOCTYPE, Markup, html};
use serde_json::{Value, json};

use local_agent_text::documents;
use local_agent_text::error::Failure;
use local_agent_text::types::percent_encode;
use local_agent_verify::names_faults;

/// The style of all pages.
pub(super) const STYLE: &str = include_str!("style.css");

/// The script of all pages: it moves the cursor to the search field on `/`, searches while words are
/// typed, and shows an answer in steps. Everything works without it.
pub(super) const SCRIPT: &str = include_str!("script.js");

/// Characters with a special meaning in a URL's query or in an attribute.
pub(super) const SPECIAL: &str = " \"#&+<>?'`=;";

/// The visitor's input, and the data for the frame of a page.
#[derive(Debug, Clone, Default)]
pub(super) struct Shell {
    pub text: String,
    pub source: String,
    pub tag: String,
    pub after: String,
    pub before: String,
    /// The names of the sources that it may see.
    pub sources: Vec<String>,
    /// Whether the visitor is the owner, who sees everything.
    pub is_owner: bool,
}

impl Shell {
    /// Whether the question is blank.
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn is_limited(&self) -> bool {
        let fields = [&self.source, &self.tag, &self.after, &self.before];
        fields.iter().any(|field| !field.trim().is_empty())
    }
}

/// A page with a title, the form at the top, and the body.
pub(super) fn page(title: &str, shell: &Shell, body: &Markup) -> Markup {
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
                header { (pages(shell)) (form(shell)) }
                main id="main" tabindex="-1" aria-live="polite" { (body) }
            }
        }
    }
}

fn pages(shell: &Shell) -> Markup {
    html! {
        nav aria-label="Pages" {
            a href="/" { "Notes" } " · " a href="/runs" { "Runs" }
            @if shell.is_owner { " · " a href="/memory" { "Memory" } " · " a href="/doctor" { "Problems" } }
            " · " a href="/status" { "Status" }
        }
    }
}

fn form(shell: &Shell) -> Markup {
    html! {
        form id="search" action="/" role="search" {
            label for="q" { "Words or a question" }
            input id="q" name="q" type="search" value=(shell.text) autocomplete="off" dir="auto";
            button { "Search" }
            button id="ask" formaction="/ask" { "Ask" }
            details class="limits" open[shell.is_limited()] {
                summary { "Limits" }
                label for="source" { "Source" }
                select id="source" name="source" {
                    option value="" { "all" }
                    @for name in &shell.sources {
                        option value=(name) selected[*name == shell.source] { (name) }
                    }
                }
                label for="tag" { "Tag" }
                input id="tag" name="tag" value=(shell.tag) autocomplete="off";
                label for="after" { "From" }
                input id="after" name="after" type="date" value=(shell.after);
                label for="before" { "Before" }
                input id="before" name="before" type="date" value=(shell.before);
            }
        }
    }
}

/// A failure: its message, its code and the command that fixes it.
pub(super) fn failed(shell: &Shell, failure: &Failure) -> Markup {
    page("Not done", shell, &failure_content(failure))
}

/// A failure without the frame.
pub(super) fn failure_content(failure: &Failure) -> Markup {
    html! {
        p class="failed" role="alert" { strong { (failure.code.as_str()) } ": " (failure.message) }
        @if let Some(hint) = &failure.hint { p { "To fix it: " code { (hint) } } }
    }
}

/// The page before a question was asked.
pub(super) fn start(shell: &Shell) -> Markup {
    let body = html! {
        p { "Search finds passages. Ask answers a question and shows the proof of each sentence." }
    };
    page("Notes", shell, &body)
}

pub(super) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

pub(super) fn items<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// `source:path` of a hit or an evidence item.
fn address(item: &Value) -> String {
    let path = item["rel_path"].as_str().or_else(|| item["path"].as_str());
    format!("{}:{}", text(item, "source"), path.unwrap_or_default())
}

/// A number and its noun: "1 chunk", "2 chunks".
pub(super) fn counted(number: &Value, noun: &str) -> String {
    let number = number.as_u64().unwrap_or_default();
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A link to the lines of a document.
pub(super) fn place(item: &Value) -> Markup {
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
pub(super) fn found(shell: &Shell, found: &Value) -> Markup {
    let asked = shell.text.as_str();
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
    page(asked, shell, &body)
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

/// The parts that the index does not contain yet, with the command that fixes it.
pub(super) fn behind(result: &Value) -> Markup {
    html! {
        @for one in items(result, "stale") {
            p class="stale" { (text(one, "why")) ": " code { (text(one, "fix")) } }
        }
    }
}

/// An answer: each sentence with its verdict and location, next to the evidence. `passages` are the
/// current words of each evidence item.
pub(super) fn answered(shell: &Shell, answer: &Value) -> Markup {
    page(&shell.text, shell, &answer_content(shell, answer))
}

/// An answer without the frame.
pub(super) fn answer_content(shell: &Shell, answer: &Value) -> Markup {
    let evidence = items(answer, "evidence").iter();
    let evidence = evidence.zip(items(answer, "passages"));
    html! {
        h1 dir="auto" { (shell.text) }
        div class="proof" {
            section aria-label="Answer" { (judged(answer)) }
            section aria-label="Evidence" {
                h2 { "Evidence" }
                @for (item, passage) in evidence {
                    article id=(text(item, "label")) {
                        h3 { (text(item, "label")) " " (place(item)) }
                        blockquote { (passage.as_str().unwrap_or_default()) }
                    }
                }
            }
        }
        @if let Some(id) = answer["run_id"].as_str() {
            p class="trail" { a href={ "/run?id=" (percent_encode(id, SPECIAL)) } { "The record of this answer" } }
        }
        (behind(answer))
    }
}

fn judged(answer: &Value) -> Markup {
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
        (sentences(&answer["citation_validation"]))
        @if let Some(why) = answer["why"].as_str() { p class="why" { (why) } }
        @for left_out in items(answer, "left_out") {
            p class="refused" { "Left out: “" (text(left_out, "sentence")) "” " (text(left_out, "reason")) }
        }
        (faults(answer))
    }
}

/// How many citations have which fault; nothing if none has any.
pub(super) fn faults(value: &Value) -> Markup {
    let footer = text(value, "citation_validation_footer");
    html! { @if names_faults(footer) { p class="checks" { (footer) } } }
}

/// The sentences of a verifier's report, each with its verdict and its proof.
pub(super) fn sentences(report: &Value) -> Markup {
    html! {
        ul class="claims" {
            @for claim in items(report, "claims") {
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
    }
}

/// A document with its line numbers, its outline, and related notes.
pub(super) fn document(shell: &Shell, note: &Value) -> Markup {
    let document = &note["document"];
    let first = document["first_line"].as_u64().unwrap_or(1);
    let body = html! {
        h1 { (text(document, "address")) }
        @if let Some(link) = note["editor"].as_str() {
            p class="trail" {
                a href=(link) { "Open in the editor" }
                @if let Some(link) = note["obsidian"].as_str() { " · " a href=(link) { "Open in Obsidian" } }
            }
        }
        div class="note" {
            table class="lines" {
                @for (number, line) in (first..).zip(text(document, "text").lines()) {
                    tr id={ "L" (number) } { th scope="row" { (number) } td { (line) } }
                }
            }
            aside aria-label="Around this note" { (around(note)) }
        }
        @if document["truncated"] == json!(true) { p { "The document goes on." } }
    };
    page(text(document, "address"), shell, &body)
}

fn around(note: &Value) -> Markup {
    let (outline, backlinks) = (items(note, "outline"), items(note, "backlinks"));
    let similar = items(note, "similar");
    html! {
        @if !outline.is_empty() {
            nav aria-label="Outline" {
                h2 { "Outline" }
                ul {
                    @for heading in outline {
                        li class={ "level" (heading["level"]) } {
                            a href={ "#L" (heading["line"]) } { (text(heading, "title")) }
                        }
                    }
                }
            }
        }
        @if !backlinks.is_empty() { h2 { "Links to it" } ul { @for one in backlinks { li { (whole_note(one)) } } } }
        @if !similar.is_empty() { h2 { "Similar notes" } ul { @for one in similar { li { (whole_note(one)) } } } }
    }
}

/// A link to a note that is named as `source:path`.
fn whole_note(one: &Value) -> Markup {
    let note = text(one, "note");
    html! {
        a href={ "/note?address=" (percent_encode(note, SPECIAL)) } { (text(one, "title")) }
        " " span class="trail" { (note) }
    }
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
