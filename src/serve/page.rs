//! The frame of every page; search and failures.
//!
//! Every text from a note, a name, a question or a model goes through templates that escape it. All
//! that is sent then goes through [`visible_text`], so that no character of a text is invisible or
//! moves others. Everything works without the script. The input has the form of the command line's
//! `--json`.

use std::borrow::Cow;

use maud::{DOCTYPE, Markup, PreEscaped, Render as _, html};
use serde_json::{Value, json};

use super::guard::NO_ACCESS;
use super::marks::Marks;
use super::page_runs;
use local_agent_text::documents;
use local_agent_text::error::{ErrorCode, Failure};
use local_agent_text::markdown::plain;
use local_agent_text::types::{percent_encode, visible};

/// The style of all pages.
pub(super) const STYLE: &str = include_str!("style.css");

/// The script of all pages: it moves the cursor to the search field on `/`, searches while words are
/// typed, and shows an answer in steps. Everything works without it.
pub(super) const SCRIPT: &str = include_str!("script.js");

/// The icon of the program: a checked citation.
pub(super) const ICON: &str = include_str!("icon.svg");

/// The sign of the filters.
const FUNNEL: &str = "<svg viewBox=\"0 0 20 20\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.8\" \
                      stroke-linecap=\"round\" aria-hidden=\"true\"><path d=\"M3 5h14M6 10h8M8.5 15h3\"/></svg>";

/// What a request for an address without a page is told.
pub(super) const NOTHING_HERE: &str = "there is nothing at this address";

/// The most characters of a passage that are shown without being asked for.
const FEW_CHARACTERS: usize = 700;

/// Number of passages on one page, and how many more each step shows.
pub(super) const HITS: usize = 20;

/// The most passages of one search.
pub(super) const MOST_HITS: usize = 1_000;

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

    /// Whether a filter is set.
    pub(super) fn is_limited(&self) -> bool {
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
    let header = html! { header class="top" { (brand()) (form(shell)) (pages(shell)) } };
    frame(title, &script, &header, body)
}

/// The page of a request that is refused, for a visitor who may not be known.
pub(super) fn refused(failure: &Failure) -> Markup {
    let header = html! {
        header class="top" { (brand()) nav id="pages" aria-label="Pages" { a href="/" { "Notes" } } }
    };
    let body = html! { div class="narrow" { (refusal(failure)) } };
    frame(NOT_DONE, &html! {}, &header, &body)
}

/// What a browser shows of a refusal: for a person, not for a program.
fn refusal(failure: &Failure) -> Markup {
    let is_unknown = failure.message == NO_ACCESS;
    html! {
        @if failure.code == ErrorCode::AccessDenied && is_unknown {
            h1 { "This browser is not admitted" }
            (failure_message(failure))
            p { "The server forgets its browsers when it ends. A new link lets this one in. On the machine that runs the server:" }
            p { code { "local-agent serve link" } }
            p { "Then open the link here. It works once, for ten minutes." }
        } @else if failure.message == NOTHING_HERE {
            h1 { "There is no such page" }
            p class="lead" { "Nothing is at this address. Perhaps one of these is what you look for:" }
            (ways_on())
            p class="trail" role="alert" { (failure.code.as_str()) ": " (failure.message) }
        } @else {
            (failure_content(failure))
            p { a href="/" { "Search the notes" } }
        }
    }
}

fn ways_on() -> Markup {
    html! {
        ul class="plain" {
            li { a href="/" { "Search and ask" } p class="trail" { "every note that the server knows" } }
            li { a href="/runs" { "Runs" } p class="trail" { "questions that were asked, with their answers" } }
            li { a href="/status" { "Status" } p class="trail" { "what is indexed" } }
        }
    }
}

fn frame(title: &str, script: &Markup, header: &Markup, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (full_title(title)) }
                link rel="icon" href="/icon.svg" type="image/svg+xml";
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

/// The icon and the name, which lead to the first page. The icon is a part of the program.
fn brand() -> Markup {
    html! { a class="brand" href="/" title="local-agent" { (PreEscaped(ICON)) span { "local-agent" } } }
}

fn pages(shell: &Shell) -> Markup {
    html! {
        nav id="pages" aria-label="Pages" {
            (page_link(shell, "/", "Notes"))
            @if shell.may_ask { (page_link(shell, "/runs", "Runs")) }
            @if shell.is_owner {
                (page_link(shell, "/memory", "Memory"))
                (page_link(shell, "/doctor", "Problems"))
            }
            (page_link(shell, "/status", "Status"))
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
            label class="unseen" for="q" { "Words or a question" }
            input id="q" name="q" type="search" value=(exact(&shell.text)) placeholder="Search or ask"
                autocomplete="off" enterkeyhint="search" dir="auto";
            button class="go" { "Search" }
            @if shell.may_ask { button id="ask" formaction="/ask" { "Ask" } }
            (filters(shell))
        }
    }
}

fn filters(shell: &Shell) -> Markup {
    html! {
        details class="filters" {
            summary class=[shell.is_limited().then_some("set")] {
                (PreEscaped(FUNNEL)) span { "Filters" @if shell.is_limited() { " are set" } }
            }
            div class="panel" {
                div class="limit" {
                    label for="source" { "Source" }
                    select id="source" name="source" {
                        option value="" { "all" }
                        @for name in &shell.sources {
                            option value=(name) selected[*name == shell.source] { (name) }
                        }
                    }
                }
                div class="limit" {
                    label for="tag" { "Tag" }
                    input id="tag" name="tag" value=(exact(&shell.tag)) autocomplete="off";
                }
                div class="limit" {
                    label for="after" { "From" }
                    input id="after" name="after" type="date" value=(shell.after);
                }
                div class="limit" {
                    label for="before" { "Before" }
                    input id="before" name="before" type="date" value=(shell.before);
                }
                button class="primary" { "Search" }
            }
        }
    }
}

/// A failure: its message, its code and the command that fixes it. The notes that it offers in place
/// of one that does not exist are links.
pub(super) fn failed(shell: &Shell, failure: &Failure) -> Markup {
    let offered = offered_notes(&shell.sources, failure);
    let body = html! {
        div class="narrow" {
            h1 { (headline(failure.code)) }
            @if offered.is_empty() {
                (failure_content(failure))
            } @else {
                (failure_message(failure))
                p { "To fix it, search for its words, or open one of these:" }
                ul class="offered" { @for note in offered { li { (note_link(note)) } } }
            }
        }
    };
    page(NOT_DONE, shell, &body)
}

/// What a failure is, for a person.
const fn headline(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::FileNotFound => "There is no such note",
        ErrorCode::RunNotFound => "There is no such run",
        ErrorCode::IndexMissing => "Nothing is indexed yet",
        ErrorCode::InvalidArgs | ErrorCode::InvalidQuery => "That cannot be searched",
        ErrorCode::ServerUnreachable | ErrorCode::ServerError => "The model does not answer",
        ErrorCode::Cancelled => "Cancelled",
        _ => NOT_DONE,
    }
}

/// A failure without the frame.
pub(super) fn failure_content(failure: &Failure) -> Markup {
    html! {
        (failure_message(failure))
        @match failure.hint.as_deref() {
            Some(hint) => (fix(failure, hint)),
            None if is_of_a_model(failure.code) => {
                p {
                    "Is the model's server running? " a href="/doctor" { "Problems" } " shows the settings; in a shell: "
                    code { "local-agent doctor" }
                }
            }
            None => {}
        }
    }
}

const fn is_of_a_model(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::ServerUnreachable | ErrorCode::ServerError | ErrorCode::ServerUnauthorized
    )
}

/// The way to fix a failure, with a link where a page is the way.
fn fix(failure: &Failure, hint: &str) -> Markup {
    html! {
        @if failure.code == ErrorCode::FileNotFound {
            p { "To fix it: " a href="/" { "search for words of the note" } "." }
        } @else if failure.code == ErrorCode::RunNotFound {
            p { "To fix it: choose one of " a href="/runs" { "the runs" } "." }
        } @else {
            p { "To fix it: " code { (hint) } }
        }
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

/// The page before a question was asked: what is here, what to try, and what was asked last. `start`
/// has the `status` and the newest `runs`; each may be missing.
pub(super) fn start(shell: &Shell, start: &Value) -> Markup {
    let (status, runs) = (&start["status"], items(&start["runs"], "runs"));
    let body = html! {
        div class="hero" {
            h1 { @if shell.may_ask { "Ask your notes. See the proof." } @else { "Search your notes." } }
            p class="lead" {
                @if status.is_object() {
                    (counted(&status["documents"], "note")) " in " (counted(&json!(items(status, "sources").len()), "source")) ". "
                }
                "Search finds passages."
                @if shell.may_ask { " Ask answers a question and shows the proof of each sentence." }
            }
        }
        (behind(status))
        div class="pair" {
            section { h2 { "Try" } (to_try(shell)) }
            @if !runs.is_empty() {
                section {
                    h2 { "Asked last" }
                    ul class="plain recent" { @for run in runs { li { (page_runs::short(run)) } } }
                    p class="more" { a href="/runs" { "All runs" } }
                }
            }
        }
    };
    page("Notes", shell, &body)
}

fn to_try(shell: &Shell) -> Markup {
    html! {
        ul class="plain" {
            @if shell.may_ask {
                li { "A question in your own words" p class="trail" { "then Ask: every sentence of the answer has its source" } }
            }
            li { "Two or three words" p class="trail" { "what is found comes while you type" } }
            li { code { "\"exact words\"" } " and " code { "-without" } p class="trail" { "a phrase as it stands, and a word that must not be there" } }
            @if shell.sources.len() > 1 {
                li {
                    "Filters: one source, a tag, a time"
                    p class="trail" { @for (n, name) in shell.sources.iter().enumerate() { @if n > 0 { " · " } bdi { (name) } } }
                }
            }
            li { "The key " code { "/" } p class="trail" { "leads to the field from everywhere" } }
        }
    }
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

/// The address of the first line of an item in the page of its note.
fn place_address(item: &Value) -> String {
    let lines = text(item, "lines");
    let first: String = lines.chars().take_while(char::is_ascii_digit).collect();
    format!("{}#L{first}", note_address(&address(item)))
}

/// A link to the lines of a document.
pub(super) fn place(item: &Value) -> Markup {
    let (address, lines) = (address(item), text(item, "lines"));
    html! {
        bdi { a href=(place_address(item)) { (address) ", " (said_lines(&address, lines)) } }
    }
}

/// A point in time. Without the script it is in UTC; the script shows it in the time of the visitor.
pub(super) fn moment(at: &str) -> Markup {
    let shown = at.replace('T', " ");
    let shown = shown
        .trim_end_matches('Z')
        .get(..16)
        .map_or(at.to_owned(), |shown| format!("{shown} UTC"));
    html! { time class="moment" datetime=(at) { (shown) } }
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

/// The search results; `most` is the number that was asked for.
pub(super) fn found(shell: &Shell, found: &Value, most: usize) -> Markup {
    let asked = shell.text.as_str();
    let hits = items(found, "hits");
    let marks = Marks::of_question(asked);
    let body = html! {
        h1 { (counted(&json!(hits.len()), "passage")) @if hits.len() == most { " or more" } }
        @if hits.is_empty() {
            p { "Nothing in the index fits these words." }
            p class="trail" { "Fewer or other words may find it." }
        }
        @if shell.is_limited() {
            p class="meta" { span { "Filters are set." } a href={ "/?q=" (in_query_of_link(asked)) } { "Search without them" } }
        }
        ol class="hits wide" { @for (number, hit) in hits.iter().enumerate() { li id={ "hit" (number + 1) } { (one_hit(hit, &marks)) } } }
        @if hits.len() == most && most < MOST_HITS {
            p class="more" { a class="button" rel="next" href=(more_address(shell, most)) { "More passages" } }
        }
        (behind(found))
    };
    page(asked, shell, &body)
}

/// The address of the same search with more hits, at the first new one.
fn more_address(shell: &Shell, most: usize) -> String {
    let fields = [
        ("q", &shell.text),
        ("source", &shell.source),
        ("tag", &shell.tag),
        ("after", &shell.after),
        ("before", &shell.before),
    ];
    let set = fields.iter().filter(|(_, value)| !value.is_empty());
    let set: Vec<String> = set
        .map(|(name, value)| format!("{name}={}", in_query_of_link(value)))
        .collect();
    let wanted = (most + HITS).min(MOST_HITS);
    format!("/?{}&show={wanted}#hit{}", set.join("&"), most + 1)
}

fn one_hit(hit: &Value, marks: &Marks<'_>) -> Markup {
    let passage = passage_to_read(hit);
    let passage = passage.as_str();
    let is_long = passage.chars().count() > FEW_CHARACTERS;
    let trail = headings(text(hit, "heading_path"), text(hit, "title"));
    html! {
        h2 { a href=(place_address(hit)) { (text(hit, "title")) } }
        p class="place" {
            (place(hit))
            @if !trail.is_empty() { " · " bdi class="trail" { (trail) } }
            @if let Some(day) = hit["day"].as_str() { " · " time datetime=(day) { (day) } }
            @if hit["gone"] == json!(true) { " " strong class="gone" { "no longer there" } }
            @else if hit["fresh"] == json!(false) { " " strong class="gone" { "changed since it was indexed" } }
        }
        @if is_long {
            blockquote { (marks.show(first_characters(passage))) " …" }
            details { summary { "Show all" } blockquote { (marks.show(passage)) } }
        } @else {
            blockquote { (marks.show(passage)) }
        }
    }
}

/// The passage of a hit as it is read: a note without its marks of markdown, and without the heading
/// that stands above it already.
fn passage_to_read(hit: &Value) -> String {
    let passage = text(hit, "text");
    if !is_markdown(text(hit, "rel_path")) {
        return passage.to_owned();
    }
    let shown = plain(passage);
    let (first, rest) = shown.split_once('\n').unwrap_or((&shown, ""));
    let path = text(hit, "heading_path");
    let is_heading = path
        .split(" > ")
        .any(|heading| without_level(heading) == first.trim());
    match is_heading && !rest.trim().is_empty() {
        true => rest.to_owned(),
        false => shown,
    }
}

/// The ends of the names of files that are written in markdown.
const MARKDOWN: [&str; 3] = [".md", ".markdown", ".mdx"];

/// Whether a file is written in markdown.
pub(super) fn is_markdown(address: &str) -> bool {
    let address = address.to_lowercase();
    MARKDOWN.iter().any(|end| address.ends_with(end))
}

/// The beginning of a long passage, which ends between two words if it can.
fn first_characters(passage: &str) -> &str {
    let end = passage.char_indices().nth(FEW_CHARACTERS * 2 / 3);
    whole_words(&passage[..end.map_or(passage.len(), |(at, _)| at)])
}

/// The text without the word that its end may cut.
pub(super) fn whole_words(text: &str) -> &str {
    match text.rfind(char::is_whitespace) {
        Some(at) if at > text.len() / 2 => text[..at].trim_end(),
        _ => text,
    }
}

/// A path of headings without its levels, and without the title, which stands above it:
/// "Baking › Times".
pub(super) fn headings(path: &str, title: &str) -> String {
    let names: Vec<&str> = path.split(" > ").map(without_level).collect();
    let names = match names.split_first() {
        Some((first, rest)) if *first == title => rest,
        _ => &names,
    };
    names.join(" › ")
}

/// A heading without the `H2: ` in front of it.
fn without_level(heading: &str) -> &str {
    let rest = heading
        .strip_prefix('H')
        .and_then(|rest| rest.split_once(": "));
    match rest {
        Some((level, name)) if level.chars().all(|c| c.is_ascii_digit()) => name,
        _ => heading,
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

    #[test]
    fn the_headings_of_a_hit_are_shown_without_their_levels_and_the_title() {
        for (path, title, wanted) in [
            ("H1: Baking > H2: Times", "Baking", "Times"),
            ("H1: Baking > H2: Times", "manual", "Baking › Times"),
            ("H1: Oven", "Oven", ""),
            ("H1: H2: of water", "x", "H2: of water"),
            ("Hz: 50", "x", "Hz: 50"),
            ("", "x", ""),
        ] {
            assert_eq!(headings(path, title), wanted, "{path}");
        }
    }

    #[test]
    fn a_text_that_is_cut_ends_with_a_whole_word() {
        assert_eq!(whole_words("Good for bre"), "Good for");
        assert_eq!(whole_words("Pneumono"), "Pneumono");
        assert_eq!(whole_words("a pneumonoultra"), "a pneumonoultra");
        assert_eq!(whole_words(""), "");
    }

    #[test]
    fn a_point_in_time_is_in_words_and_exact_for_the_script() {
        let shown = moment("2026-11-29T13:59:16Z").into_string();
        assert!(
            shown.contains("datetime=\"2026-11-29T13:59:16Z\""),
            "{shown}"
        );
        assert!(shown.contains(">2026-11-29 13:59 UTC<"), "{shown}");
        assert!(moment("").into_string().contains("></time>"));
    }

    #[test]
    fn a_passage_is_shown_as_it_is_read() {
        let hit = |path: &str, text: &str| json!({"rel_path": path, "heading_path": "H1: Oven > H2: Use", "text": text});
        for (path, text, wanted) in [
            (
                "a.md",
                "## Use\n\nIt is **hot**, see [[Box|the box]].",
                "It is hot, see the box.",
            ),
            ("a.md", "## Use", "Use"),
            ("a.md", "Other\n\nIt is hot.", "Other\nIt is hot."),
            ("a.rs", "## Use\n**x**", "## Use\n**x**"),
        ] {
            assert_eq!(passage_to_read(&hit(path, text)), wanted, "{text}");
        }
    }

    #[test]
    fn more_passages_keep_the_filters() {
        let shell = Shell {
            text: "a&b".to_owned(),
            tag: "x".to_owned(),
            ..Shell::default()
        };
        assert_eq!(more_address(&shell, 20), "/?q=a%26b&tag=x&show=40#hit21");
    }
}
