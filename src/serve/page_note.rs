//! The page of a note: its lines, in which links lead to other notes, and what is around it.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::page::{Shell, exact, items, note_address, note_link, page, text};

/// A document with its line numbers, its outline, and related notes.
pub(super) fn document(shell: &Shell, note: &Value) -> Markup {
    let document = &note["document"];
    let first = document["first_line"].as_u64().unwrap_or(1);
    let links = items(note, "links");
    let body = html! {
        h1 { (text(document, "address")) }
        @if let Some(link) = note["editor"].as_str() {
            p class="trail" {
                a href=(exact(link)) { "Open in the editor" }
                @if let Some(link) = note["obsidian"].as_str() {
                    " · " a href=(exact(link)) { "Open in Obsidian" }
                }
            }
        }
        div class="note" {
            table class="lines" {
                @for (number, line) in (first..).zip(text(document, "text").lines()) {
                    tr id={ "L" (number) } { th scope="row" { (number) } td { (with_links(line, links)) } }
                }
            }
            aside aria-label="Around this note" { (around(note)) }
        }
        @if document["truncated"] == json!(true) { p { "The document goes on." } }
    };
    page(text(document, "address"), shell, &body)
}

/// A line of a note, in which each `[[name]]` of one known note is a link.
fn with_links(line: &str, links: &[Value]) -> Markup {
    html! {
        @for (part, note) in parts(line, links) {
            @match note {
                Some(note) => a href=(note_address(note)) { (part) },
                None => (part),
            }
        }
    }
}

/// The parts of a line, and the note that a part leads to.
fn parts<'l>(line: &'l str, links: &'l [Value]) -> Vec<(&'l str, Option<&'l str>)> {
    let mut parts = Vec::new();
    let (mut shown, mut from) = (0, 0);
    while let Some(start) = line[from..].find("[[").map(|at| from + at) {
        let Some(end) = line[start..].find("]]").map(|at| start + at + 2) else {
            break;
        };
        from = end;
        if let Some(note) = one_note(&line[start + 2..end - 2], links) {
            parts.push((&line[shown..start], None));
            parts.push((&line[start..end], Some(note)));
            shown = end;
        }
    }
    parts.push((&line[shown..], None));
    parts
}

/// The note that the inside of a link means; `None` if it means none, or more than one.
fn one_note<'l>(inside: &str, links: &'l [Value]) -> Option<&'l str> {
    let name = inside.split(['|', '#']).next()?.trim();
    let link = links.iter().find(|link| text(link, "target") == name)?;
    match items(link, "notes") {
        [note] => note.as_str(),
        _ => None,
    }
}

fn around(note: &Value) -> Markup {
    let (outline, backlinks) = (items(note, "outline"), items(note, "backlinks"));
    let (links, similar) = (items(note, "links"), items(note, "similar"));
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
        @if !links.is_empty() { h2 { "Links in it" } ul { @for one in links { li { (outgoing(one)) } } } }
        @if !backlinks.is_empty() { h2 { "Links to it" } ul { @for one in backlinks { li { (whole_note(one)) } } } }
        @if !similar.is_empty() { h2 { "Similar notes" } ul { @for one in similar { li { (whole_note(one)) } } } }
    }
}

/// A link of a note: the notes that it means, or its target.
fn outgoing(link: &Value) -> Markup {
    let (target, notes) = (text(link, "target"), items(link, "notes"));
    let is_web = target.starts_with("https://") || target.starts_with("http://");
    html! {
        @if !notes.is_empty() {
            @for (number, note) in notes.iter().enumerate() {
                @if number > 0 { " · " }
                (note_link(note.as_str().unwrap_or_default()))
            }
        } @else if is_web {
            bdi { a href=(exact(target)) rel="noreferrer noopener" { (target) } }
        } @else {
            (target)
            @if link["external"] == json!(false) { " " span class="trail" { "no such note" } }
        }
    }
}

/// A link to a note that is named as `source:path`.
fn whole_note(one: &Value) -> Markup {
    let note = text(one, "note");
    html! {
        bdi { a href=(note_address(note)) { (text(one, "title")) } }
        " " bdi class="trail" { (note) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links() -> Vec<Value> {
        vec![
            json!({"target": "lion", "notes": ["n:lion.md"], "external": false}),
            json!({"target": "two", "notes": ["n:a/two.md", "n:b/two.md"], "external": false}),
            json!({"target": "none", "notes": [], "external": false}),
        ]
    }

    #[test]
    fn a_link_that_means_one_note_is_a_link() {
        let links = links();
        let to_lion = Some("n:lion.md");
        for (line, wanted) in [
            (
                "a [[lion]] b",
                vec![("a ", None), ("[[lion]]", to_lion), (" b", None)],
            ),
            (
                "![[ lion#Mane|x]]",
                vec![("!", None), ("[[ lion#Mane|x]]", to_lion), ("", None)],
            ),
            (
                "[[two]] [[none]] [[gone]]",
                vec![("[[two]] [[none]] [[gone]]", None)],
            ),
            ("é [[lion é", vec![("é [[lion é", None)]),
            ("", vec![("", None)]),
        ] {
            assert_eq!(parts(line, &links), wanted, "{line}");
        }
    }

    #[test]
    fn a_target_is_never_markup_nor_a_script() {
        for target in [
            "javascript:alert(1)",
            "<b>x",
            "https://a\"><script>",
            "data:text/html,x",
        ] {
            let link = json!({"target": target, "notes": [], "external": true});
            let shown = outgoing(&link).into_string();
            assert!(
                !shown.contains("<script") && !shown.contains("<b>"),
                "{shown}"
            );
            assert_eq!(
                shown.contains("href"),
                target.starts_with("https://"),
                "{shown}"
            );
        }
    }
}
