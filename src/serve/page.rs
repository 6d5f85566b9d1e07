//! The frame of every page; search and failures.
//!
//! Every text from a note, a name, a question or a model goes through templates that escape it. All
//! that is sent then goes through [`visible_text`], so that no character of a text is invisible or
//! moves others. Everything works without the script. The input has the form of the command line's
//! `--json`.

use std::borrow::Cow;

use maud::{DOCTYPE, Markup, PreEscaped, Render as _, html};
use serde_json::{Value, json};

use super::marks::Marks;
use local_agent_text::documents;
use local_agent_text::error::{ErrorCode, Failure};
use local_agent_text::types::{percent_encode, visible};

/// The style of all pages.
pub(super) const STYLE: &str = include_str!("style.css");

/// The script of all pages: it moves the cursor to the search field on `/`, searches while words are
/// typed, and shows an answer in steps. Everything works without it.
pub(super) const SCRIPT: &str = include_str!("script.js");

/// Characters with a special meaning in a URL's query or in an attribute.
const SPECIAL: &str = " \"#&+<>?'`=;";

/// The title of a page that says what failed.
pub(super) const NOT_DONE: &str = "Not done";

/// The visitor's input, and the data for the frame of a page.
#[derive(Debug, Clone, Default)]
pub(super) struct Shell {
    /// The address of the page, without what follows `?`.
    pub path: String,
    pub text: String,
    pub source: String,
    pub tag: String,
    pub after: String,
    pub before: String,
    /// The names of the sources that it may see.
    pub sources: Vec<String>,
    /// Whether the visitor may ask, and see its runs.
    pub may_ask: bool,
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

/// The text, or the markup, as every page is sent: control characters, marks of direction and other
/// invisible characters are visible, as on a terminal. The markup itself contains none of them.
pub(super) fn visible_text(text: &str) -> String {
    visible(&text.replace("\r\n", "\n"))
}

/// Whether [`visible_text`] changes the character.
fn is_hidden(c: &char) -> bool {
    let mut buffer = [0; 4];
    let text: &str = c.encode_utf8(&mut buffer);
    visible(text) != text
}

/// The value of an attribute that a browser sends back or opens, and that therefore stays exact:
/// invisible characters are references in it. Control characters, which no reference can name, are
/// visible there, too.
pub(super) fn exact(value: &str) -> Markup {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match is_hidden(&c) && !c.is_control() {
            true => out.push_str(&format!("&#{};", u32::from(c))),
            false => c.render_to(&mut out),
        }
    }
    PreEscaped(out)
}

/// A value in the query of a link. It stays exact, because invisible characters are escapes in it.
pub(super) fn in_query_of_link(value: &str) -> Cow<'_, str> {
    let hidden = value.chars().filter(is_hidden);
    let special: String = SPECIAL.chars().chain(hidden).collect();
    percent_encode(value, &special)
}

/// The title of a page, with the name of the program.
pub(super) fn full_title(title: &str) -> String {
    format!("{title} · local-agent")
}

/// A page with a title, the form at the top, and the body.
pub(super) fn page(title: &str, shell: &Shell, body: &Markup) -> Markup {
    let script = html! { script src="/script.js" defer {} };
    let header = html! { header { (pages(shell)) (form(shell)) } };
    frame(title, &script, &header, body)
}

/// The page of a request that is refused, for a visitor who may not be known.
pub(super) fn refused(failure: &Failure) -> Markup {
    let header = html! { header { nav aria-label="Pages" { a href="/" { "Notes" } } } };
    frame(NOT_DONE, &html! {}, &header, &failure_content(failure))
}

fn frame(title: &str, script: &Markup, header: &Markup, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (full_title(title)) }
                link rel="stylesheet" href="/style.css";
                (script)
            }
            body {
                a class="skip" href="#main" { "Skip to the content" }
                (header)
                p id="told" class="told" role="status" {}
                main id="main" tabindex="-1" { (body) }
            }
        }
    }
}

fn pages(shell: &Shell) -> Markup {
    html! {
        nav id="pages" aria-label="Pages" {
            (page_link(shell, "/", "Notes"))
            @if shell.may_ask { " · " (page_link(shell, "/runs", "Runs")) }
            @if shell.is_owner {
                " · " (page_link(shell, "/memory", "Memory"))
                " · " (page_link(shell, "/doctor", "Problems"))
            }
            " · " (page_link(shell, "/status", "Status"))
        }
    }
}

/// A link of the navigation.
fn page_link(shell: &Shell, address: &str, name: &str) -> Markup {
    html! { a href=(address) aria-current=[current(&shell.path, address)] { (name) } }
}

/// What a link of the navigation says if its page is shown (`page`), or one that belongs to it
/// (`true`).
fn current(shown: &str, address: &str) -> Option<&'static str> {
    let belongs_to = match shown {
        "/ask" | "/note" => "/",
        "/run" | "/run/replay" | "/runs/compare" => "/runs",
        itself => itself,
    };
    if shown == address {
        return Some("page");
    }
    (belongs_to == address).then_some("true")
}

fn form(shell: &Shell) -> Markup {
    html! {
        form id="search" action="/" role="search" {
            label for="q" { "Words or a question" }
            input id="q" name="q" type="search" value=(exact(&shell.text)) autocomplete="off" dir="auto";
            button { "Search" }
            @if shell.may_ask { button id="ask" formaction="/ask" { "Ask" } }
            details class="limits" open[shell.is_limited()] {
                summary { "Limits" }
                span class="limit" {
                    label for="source" { "Source" }
                    select id="source" name="source" {
                        option value="" { "all" }
                        @for name in &shell.sources {
                            option value=(name) selected[*name == shell.source] { (name) }
                        }
                    }
                }
                span class="limit" {
                    label for="tag" { "Tag" }
                    input id="tag" name="tag" value=(exact(&shell.tag)) autocomplete="off";
                }
                span class="limit" {
                    label for="after" { "From" }
                    input id="after" name="after" type="date" value=(shell.after);
                }
                span class="limit" {
                    label for="before" { "Before" }
                    input id="before" name="before" type="date" value=(shell.before);
                }
            }
        }
    }
}

/// A failure: its message, its code and the command that fixes it. The notes that it offers in place
/// of one that does not exist are links.
pub(super) fn failed(shell: &Shell, failure: &Failure) -> Markup {
    let offered = offered_notes(&shell.sources, failure);
    if offered.is_empty() {
        return page(NOT_DONE, shell, &failure_content(failure));
    }
    let body = html! {
        (failure_message(failure))
        p { "To fix it, search for its words, or open one of these:" }
        ul class="offered" { @for note in offered { li { (note_link(note)) } } }
    };
    page(NOT_DONE, shell, &body)
}

/// A failure without the frame.
pub(super) fn failure_content(failure: &Failure) -> Markup {
    html! {
        (failure_message(failure))
        @if let Some(hint) = &failure.hint { p { "To fix it: " code { (hint) } } }
    }
}

fn failure_message(failure: &Failure) -> Markup {
    html! { p class="failed" role="alert" { strong { (failure.code.as_str()) } ": " (failure.message) } }
}

/// The notes of these sources that a failure names, after the name that was not found.
fn offered_notes<'f>(sources: &[String], failure: &'f Failure) -> Vec<&'f str> {
    if !matches!(
        failure.code,
        ErrorCode::FileNotFound | ErrorCode::AmbiguousPath
    ) {
        return Vec::new();
    }
    let names = failure.message.split('`').skip(1).step_by(2).skip(1);
    let is_note = |name: &&str| {
        let source = name.split_once(':').map(|(source, _)| source);
        source.is_some_and(|source| sources.iter().any(|own| own == source))
    };
    names.filter(is_note).collect()
}

/// A link to a note that is named as `source:path`.
pub(super) fn note_link(note: &str) -> Markup {
    html! { bdi { a href=(note_address(note)) { (note) } } }
}

/// The address of the page of a note.
pub(super) fn note_address(note: &str) -> String {
    format!("/note?address={}", in_query_of_link(note))
}

/// The page before a question was asked.
pub(super) fn start(shell: &Shell) -> Markup {
    let body = html! {
        p {
            "Search finds passages."
            @if shell.may_ask { " Ask answers a question and shows the proof of each sentence." }
        }
    };
    page("Notes", shell, &body)
}

pub(super) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

pub(super) fn items<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// `source:path` of a hit, an evidence item or a sentence of a source.
fn address(item: &Value) -> String {
    if let Some(address) = item["address"].as_str() {
        return address.to_owned();
    }
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
        bdi {
            a href={ "/note?address=" (in_query_of_link(&address)) "#L" (first) } {
                (address) ", " (said_lines(&address, lines))
            }
        }
    }
}

fn said_lines(address: &str, lines: &str) -> String {
    match lines.parse() {
        Ok(span) => documents::said_lines(address, span),
        Err(_) => format!("line {lines}"),
    }
}

/// The first and the last line of an item.
pub(super) fn first_and_last(item: &Value) -> Option<(usize, usize)> {
    let lines = text(item, "lines");
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// The lines of an evidence item in the form for `get`: `source:path:first:count`.
pub(super) fn lines_of(item: &Value) -> Option<String> {
    let (first, last) = first_and_last(item)?;
    let count = (last + 1).checked_sub(first)?;
    Some(format!("{}:{first}:{count}", address(item)))
}

/// The search results.
pub(super) fn found(shell: &Shell, found: &Value) -> Markup {
    let asked = shell.text.as_str();
    let hits = items(found, "hits");
    let marks = Marks::of_question(asked);
    let body = html! {
        h1 { (counted(&json!(hits.len()), "passage")) }
        @if hits.is_empty() { p { "Nothing in the index fits these words." } }
        ol class="hits" {
            @for hit in hits {
                li {
                    h2 { (text(hit, "title")) }
                    p class="place" {
                        (place(hit)) " " bdi class="trail" { (text(hit, "heading_path")) }
                        @if hit["fresh"] == json!(false) { " " strong { "changed since it was indexed" } }
                    }
                    blockquote { (marks.show(text(hit, "text"))) }
                }
            }
        }
        (behind(found))
    };
    page(asked, shell, &body)
}

/// The parts that the index does not contain yet, with the command that fixes it.
pub(super) fn behind(result: &Value) -> Markup {
    html! {
        @for one in items(result, "stale") {
            p class="stale" { (text(one, "why")) ": " code { (text(one, "fix")) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_a_note_is_never_markup() {
        let item = json!({"source": "n", "rel_path": "\"><script>.md", "lines": "1-2"});
        let shown = place(&item).into_string();
        assert!(!shown.contains("<script>"), "{shown}");
    }

    #[test]
    fn an_invisible_character_is_visible_in_a_text_and_exact_in_a_link_and_a_field() {
        let item = json!({"source": "n", "rel_path": "a\u{202e}b.md", "lines": "1"});
        assert_eq!(
            visible_text(&place(&item).into_string()),
            "<bdi><a href=\"/note?address=n:a%E2%80%AEb.md#L1\">n:a\\u{202e}b.md, line 1</a></bdi>"
        );
        let field = exact("a\u{202e}\"\u{7}é\r\n").into_string();
        assert_eq!(visible_text(&field), "a&#8238;&quot;\\u{7}é\n");
    }

    #[test]
    fn the_navigation_says_which_page_is_shown_and_to_which_it_belongs() {
        for (shown, address, said) in [
            ("/", "/", Some("page")),
            ("/note", "/", Some("true")),
            ("/run", "/runs", Some("true")),
            ("/runs", "/runs", Some("page")),
            ("/runs", "/", None),
            ("", "/", None),
        ] {
            assert_eq!(current(shown, address), said, "{shown} {address}");
        }
    }

    #[test]
    fn a_failure_offers_notes_of_known_sources_only() {
        let said = "No file or note is called `n:x.md`; the nearest names: `n:a.md`, `m:b.md`.";
        let failure = Failure::new(ErrorCode::FileNotFound, said);
        let sources = ["n".to_owned()];
        assert_eq!(offered_notes(&sources, &failure), ["n:a.md"]);
        let other = Failure::new(ErrorCode::InvalidArgs, said);
        assert!(offered_notes(&sources, &other).is_empty());
    }

    #[test]
    fn the_lines_of_an_item_are_an_address() {
        let item = |lines: &str| json!({"source": "n", "rel_path": "a.md", "lines": lines});
        assert_eq!(lines_of(&item("3-5")).as_deref(), Some("n:a.md:3:3"));
        assert_eq!(lines_of(&item("7")).as_deref(), Some("n:a.md:7:1"));
        assert_eq!(lines_of(&item("")), None);
    }
}
