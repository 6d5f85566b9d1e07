//! The page of a note: as it is read, or its lines as they are written, and what is around it.
//!
//! What is read is built from a tree of texts: a template writes each element, and every text of the
//! note goes through its escaping. Nothing of a note is markup, and nothing in it is loaded.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::page::{Shell, counted, exact, is_markdown, items, note_address, note_link, page, text};
use local_agent_text::markdown::{CellAlignment, SyntaxKind, SyntaxNode, syntax_tree};

/// A document as it is read, or with `is_source` its lines with their numbers, with its outline, and
/// related notes.
pub(super) fn document(shell: &Shell, note: &Value, is_source: bool) -> Markup {
    let document = &note["document"];
    let address = text(document, "address");
    let can_be_read = is_markdown(address) && document["first_line"] == json!(1);
    let is_source = is_source || !can_be_read;
    let tree = syntax_tree(if is_source {
        ""
    } else {
        text(document, "text")
    });
    let links = items(note, "links");
    let (title, line, blocks) = title_of(note, &tree.blocks);
    let body = html! {
        div class="note" {
            article class=(if is_source { "source" } else { "readable" }) {
                h1 id=[line.map(|line| format!("L{line}"))] dir="auto" { (title) }
                (beside_title(note, can_be_read, is_source))
                @if is_source {
                    (source_lines(document, links))
                } @else {
                    div class="read" dir="auto" {
                        (properties(&tree.properties))
                        (nodes(blocks, links))
                    }
                }
                @if document["truncated"] == json!(true) { p class="notice" { "The document goes on." } }
            }
            aside aria-label="Around this note" { (around(note)) }
        }
    };
    page(&title, shell, &body)
}

/// The title of a note, the line that it is on, and the blocks below it: its first heading, if the
/// note begins with one, or the name of its file.
fn title_of<'t>(
    note: &Value,
    blocks: &'t [SyntaxNode],
) -> (String, Option<usize>, &'t [SyntaxNode]) {
    let first = items(note, "outline").first();
    let title = first.filter(|heading| heading["level"] == json!(1));
    let address = text(&note["document"], "address");
    let file = address.rsplit(['/', ':']).next().unwrap_or(address);
    let Some(title) = title else {
        return (file.to_owned(), None, blocks);
    };
    let title = text(title, "title").to_owned();
    match blocks.split_first() {
        Some((one, rest)) if one.kind == SyntaxKind::Heading(1) => (title, one.line, rest),
        _ => (title, None, blocks),
    }
}

/// The line below the title: where the note is, the two ways to see it, and what opens it.
fn beside_title(note: &Value, can_be_read: bool, is_source: bool) -> Markup {
    let document = &note["document"];
    let address = text(document, "address");
    let read = note_address(address);
    html! {
        p class="meta" {
            bdi { (address) }
            span { (counted(&document["total_lines"], "line")) }
            @if let Some(link) = note["editor"].as_str() {
                a href=(exact(link)) { "Open in the editor" }
                @if let Some(link) = note["obsidian"].as_str() { a href=(exact(link)) { "Open in Obsidian" } }
            }
            @if can_be_read {
                span class="switch" role="group" aria-label="View" {
                    @if is_source {
                        a href=(read) { "Read" } span { "Source" }
                    } @else {
                        span { "Read" } a href={ (read) "&view=source" } { "Source" }
                    }
                }
            }
        }
    }
}

fn source_lines(document: &Value, links: &[Value]) -> Markup {
    let first = document["first_line"].as_u64().unwrap_or(1);
    html! {
        table class="lines" {
            @for (number, line) in (first..).zip(text(document, "text").lines()) {
                tr id={ "L" (number) } { th scope="row" { (number) } td { (with_links(line, links)) } }
            }
        }
    }
}

/// The keys of the frontmatter.
fn properties(properties: &Map<String, Value>) -> Markup {
    html! {
        @if !properties.is_empty() {
            details class="properties" {
                summary { "Properties" }
                table class="facts" {
                    @for (name, value) in properties { tr { th scope="row" { (name) } td { (in_words(value)) } } }
                }
            }
        }
    }
}

/// A value of a property: its text, or a list of texts.
fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(in_words).collect::<Vec<_>>().join(", "),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn nodes(nodes: &[SyntaxNode], links: &[Value]) -> Markup {
    html! { @for one in nodes { (node(one, links)) } }
}

/// A part of a note. Each element is written here; a text of the note is never one.
fn node(node: &SyntaxNode, links: &[Value]) -> Markup {
    let id = node.line.map(|line| format!("L{line}"));
    let inner = || nodes(&node.children, links);
    match &node.kind {
        SyntaxKind::Text(text) => html! { (text) },
        SyntaxKind::InlineCode(text) => html! { code { (text) } },
        SyntaxKind::RawHtml(text) => html! { span class="raw" { (text) } },
        SyntaxKind::Emphasis => html! { em { (inner()) } },
        SyntaxKind::Strong => html! { strong { (inner()) } },
        SyntaxKind::Struck => html! { s { (inner()) } },
        SyntaxKind::SoftBreak => html! { " " (at_line(id)) },
        SyntaxKind::HardBreak => html! { br; (at_line(id)) },
        SyntaxKind::WebLink(target) => web_link(target, &inner(), links),
        SyntaxKind::NoteLink(target) => to_note(target, &inner(), links),
        SyntaxKind::Picture(target) => picture(target, &inner(), links),
        SyntaxKind::FootnoteMark(label) => html! { sup { "[" (label) "]" } },
        _ => block(node, id, links),
    }
}

/// A block of a note. The headings begin below that of the page.
fn block(node: &SyntaxNode, id: Option<String>, links: &[Value]) -> Markup {
    let inner = || nodes(&node.children, links);
    match &node.kind {
        SyntaxKind::Heading(1) => html! { h1 id=[id] { (inner()) } },
        SyntaxKind::Heading(2) => html! { h2 id=[id] { (inner()) } },
        SyntaxKind::Heading(3) => html! { h3 id=[id] { (inner()) } },
        SyntaxKind::Heading(4) => html! { h4 id=[id] { (inner()) } },
        SyntaxKind::Heading(5) => html! { h5 id=[id] { (inner()) } },
        SyntaxKind::Heading(_) => html! { h6 id=[id] { (inner()) } },
        SyntaxKind::Quote => html! { blockquote id=[id] { (inner()) } },
        SyntaxKind::Callout(name) => {
            html! { div class={ "callout " (callout_class(name)) } id=[id] { (callout(name, &node.children, links)) } }
        }
        SyntaxKind::CodeBlock(language) => code_block(node, language, id),
        SyntaxKind::List(None) => html! { ul { (inner()) } },
        SyntaxKind::List(Some(first)) => html! { ol start=(first) { (inner()) } },
        SyntaxKind::Item => html! { li id=[id] { (inner()) } },
        SyntaxKind::Task(is_done) => html! {
            li class=(if *is_done { "task done" } else { "task" }) id=[id] {
                span class="box" role="img" aria-label=(if *is_done { "done" } else { "to do" }) {
                    @if *is_done { "☑" } @else { "☐" }
                }
                (inner())
            }
        },
        SyntaxKind::Table => {
            html! { div class="wide" tabindex="0" role="region" aria-label="Table" { table { (inner()) } } }
        }
        SyntaxKind::TableHead => html! {
            tr id=[id] { @for cell in &node.children { th scope="col" class=[cell_class(cell)] { (nodes(&cell.children, links)) } } }
        },
        SyntaxKind::TableRow => html! {
            tr id=[id] { @for cell in &node.children { td class=[cell_class(cell)] { (nodes(&cell.children, links)) } } }
        },
        SyntaxKind::Rule => html! { hr id=[id]; },
        SyntaxKind::Footnote(label) => html! {
            div class="footnote" id=[id] { span { "[" (label) "]" } div { (inner()) } }
        },
        _ => html! { p id=[id] dir="auto" { (inner()) } },
    }
}

/// The place of a line inside a paragraph.
fn at_line(id: Option<String>) -> Markup {
    html! { @if let Some(id) = id { span class="at" id=(id) {} } }
}

const fn cell_class(cell: &SyntaxNode) -> Option<&'static str> {
    match cell.kind {
        SyntaxKind::TableCell(CellAlignment::End) => Some("right"),
        SyntaxKind::TableCell(CellAlignment::Center) => Some("center"),
        _ => None,
    }
}

/// The colour of a callout; every name of a note that is not known here has the plain one.
fn callout_class(name: &str) -> &'static str {
    match name {
        "warning" | "caution" | "attention" | "important" | "question" | "help" | "faq" => {
            "warning"
        }
        "danger" | "error" | "bug" | "failure" | "fail" | "missing" => "danger",
        "tip" | "hint" | "success" | "check" | "done" => "tip",
        _ => "plain",
    }
}

fn callout(name: &str, children: &[SyntaxNode], links: &[Value]) -> Markup {
    let (title, rest) = children.split_at(children.len().min(1));
    let words = |node: &SyntaxNode| {
        node.children
            .iter()
            .any(|child| child.kind != SyntaxKind::Text(String::new()))
    };
    html! {
        p class="title" {
            @if title.iter().any(words) { @for one in title { (nodes(&one.children, links)) } } @else { (name) }
        }
        (nodes(rest, links))
    }
}

/// A block of code, each line of which can be led to.
fn code_block(node: &SyntaxNode, language: &str, id: Option<String>) -> Markup {
    let text: String = node.children.iter().map(code_text).collect();
    let label = if language.is_empty() {
        "Code".to_owned()
    } else {
        format!("Code: {language}")
    };
    html! {
        pre id=[id] tabindex="0" role="region" aria-label=(label) {
            code {
                @for (after, line) in (1..).zip(text.split_inclusive('\n')) {
                    (at_line(node.line.map(|first| format!("L{}", first + after)))) (line)
                }
            }
        }
    }
}

fn code_text(node: &SyntaxNode) -> &str {
    match &node.kind {
        SyntaxKind::Text(text) | SyntaxKind::RawHtml(text) | SyntaxKind::InlineCode(text) => text,
        _ => "",
    }
}

/// Whether a browser may open an address that a note names.
fn is_web(target: &str) -> bool {
    target.starts_with("https://") || target.starts_with("http://")
}

/// A link of a note: to the web, or to another note. Any other target is only shown.
fn web_link(target: &str, words: &Markup, links: &[Value]) -> Markup {
    html! {
        @if is_web(target) {
            a href=(exact(target)) rel="noreferrer noopener" { (words) }
        } @else {
            (to_note(target, words, links))
        }
    }
}

/// A link to the note that a target means. If it means none, or more than one, its words say so.
fn to_note(target: &str, words: &Markup, links: &[Value]) -> Markup {
    html! {
        @match one_note(target, links) {
            Some(note) => a href=(note_address(note)) { (words) },
            None => span class="picture" title=(target) { (words) },
        }
    }
}

/// A picture is not loaded: its description stands for it.
fn picture(target: &str, words: &Markup, links: &[Value]) -> Markup {
    html! {
        @match one_note(target, links) {
            Some(note) => a href=(note_address(note)) { (words) },
            None => span class="picture" { "[picture: " (words) @if words.0.is_empty() { (target) } "]" },
        }
    }
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
    html! {
        @if !notes.is_empty() {
            @for (number, note) in notes.iter().enumerate() {
                @if number > 0 { " · " }
                (note_link(note.as_str().unwrap_or_default()))
            }
        } @else if is_web(target) {
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

    fn shown(text: &str) -> String {
        let note = json!({"document": {"address": "n:a.md", "text": text, "first_line": 1, "total_lines": 9},
            "links": links(), "outline": [{"level": 1, "title": "T", "line": 1}]});
        document(&Shell::default(), &note, false).into_string()
    }

    #[test]
    fn a_note_is_read_with_its_structure() {
        let shown = shown(
            "# T\n\nOne **two**\nthree [[lion|the cat]].\n\n## Part\n\n- [x] done\n\n> [!tip] Try\n> it\n\n\
             | a | b |\n|---|--:|\n| c | d |\n\n```rs\nfn x\n```\n",
        );
        for part in [
            "<h1 id=\"L1\" dir=\"auto\">T</h1>",
            "<p id=\"L3\" dir=\"auto\">One <strong>two</strong> <span class=\"at\" id=\"L4\"></span>three ",
            "<a href=\"/note?address=n:lion.md\">the cat</a>.",
            "<h2 id=\"L6\">Part</h2>",
            "aria-label=\"done\">☑</span>done",
            "<div class=\"callout tip\" id=\"L10\"><p class=\"title\">Try</p>",
            "<td class=\"right\">d</td>",
            "<span class=\"at\" id=\"L18\"></span>fn x",
            "href=\"/note?address=n:a.md&amp;view=source\"",
        ] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        assert_eq!(shown.matches("<h1").count(), 1, "{shown}");
    }

    #[test]
    fn nothing_of_a_note_is_markup_runs_or_is_loaded() {
        for text in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "![p](https://evil.example/p.png)",
            "[a](javascript:alert(1)) [b](data:text/html,x) [c](//evil.example)",
            "[a](<https://x.example/\"><script>alert(1)</script>>)",
            "![[\"><script>alert(1)</script>]]",
            "<style>body{display:none}</style>",
            "```\"><script>alert(1)</script>\n</code></pre><script>x</script>\n```",
            "> [!\"><script>x] <svg onload=alert(1)>",
            "| <script>x</script> |\n|---|\n| <iframe src=//evil.example> |",
            "[^1]\n\n[^1]: <b onclick=x>",
            "---\n<script>: <script>x</script>\n---\n",
        ] {
            let shown = shown(&format!("# T\n\n{text}\n"));
            let (_, main) = shown.split_once("<main").unwrap();
            for element in [
                "<script",
                "<img",
                "<style",
                "<svg",
                "<iframe",
                "<b ",
                " onclick=x>",
                "href=\"java",
                "href=\"data",
                "href=\"//",
            ] {
                let is_there = main.contains(element);
                assert!(
                    !is_there || element == " onclick=x>" && main.contains("&lt;b onclick=x"),
                    "{element} in {main}"
                );
            }
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
