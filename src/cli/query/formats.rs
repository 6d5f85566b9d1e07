//! Prints hits as CSV, markdown, XML, and the JSON of `qmd query --json`.

use schemars::JsonSchema;
use serde::Serialize;

use super::snippet::Highlighter;
use super::view::line_of_match;
use local_agent_agent::operations::search::Searched;
use local_agent_index::retrieval::Hit;
use local_agent_text::error::{Failure, Result};

/// Number of key digits in these formats. They are unique in 99 % of libraries with a million
/// chunks; otherwise `get` reports the ambiguity.
const KEY_DIGITS: usize = 12;

/// One hit with `qmd`'s field names.
#[derive(Debug, Serialize, JsonSchema)]
struct QmdHit {
    /// `#` and the first digits of the chunk's key.
    docid: String,
    /// The score, rounded to two decimals.
    score: f64,
    /// `qmd://source/path`.
    file: String,
    line: usize,
    title: String,
    /// The configured description of its folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<String>,
}

/// The array printed by `qmd query --json`.
///
/// # Errors
/// `INTERNAL_ERROR` when it cannot be serialized as JSON.
pub(super) fn qmd(searched: &Searched, full: bool) -> Result<String> {
    let mut highlighter = Highlighter::new(&searched.query);
    let hits: Vec<QmdHit> = searched
        .found
        .hits
        .iter()
        .zip(&searched.contexts)
        .map(|(hit, context)| qmd_hit(&mut highlighter, full, (hit, context)))
        .collect();
    serde_json::to_string_pretty(&hits)
        .map_err(|e| Failure::internal(format!("the hits cannot be written as JSON: {e}")))
}

/// A hit in the format of qmd.
fn qmd_hit(
    highlighter: &mut Highlighter,
    full: bool,
    (hit, context): (&Hit, &Option<String>),
) -> QmdHit {
    QmdHit {
        docid: docid(hit),
        score: (f64::from(hit.chance) * 100.0).round() / 100.0,
        file: format!("qmd://{}/{}", hit.chunk.source, hit.chunk.path),
        line: line_of_match(hit, highlighter),
        title: hit.chunk.title.clone(),
        context: context.clone(),
        body: full.then(|| hit.chunk.text.clone()),
        snippet: (!full).then(|| shown(hit, highlighter, false)),
    }
}

/// A header and one record per hit (RFC 4180).
pub(super) fn csv(searched: &Searched, full: bool, file: &dyn Fn(&Hit) -> String) -> String {
    let mut out = String::from("docid,score,file,title,context,line,snippet\r\n");
    let mut highlighter = Highlighter::new(&searched.query);
    for (hit, context) in hits(searched) {
        let fields = [
            docid(hit),
            format!("{:.4}", hit.chance),
            file(hit),
            hit.chunk.title.clone(),
            context.unwrap_or_default().to_owned(),
            line_of_match(hit, &mut highlighter).to_string(),
            shown(hit, &mut highlighter, full),
        ];
        out.push_str(&fields.map(|field| csv_field(&field)).join(","));
        out.push_str("\r\n");
    }
    out
}

/// One section per hit.
pub(super) fn markdown(searched: &Searched, full: bool, file: &dyn Fn(&Hit) -> String) -> String {
    let mut highlighter = Highlighter::new(&searched.query);
    let all: Vec<String> = hits(searched)
        .map(|(hit, context)| markdown_hit(&mut highlighter, full, file, (hit, context)))
        .collect();
    all.join("\n")
}

/// A hit as a section of markdown.
fn markdown_hit(
    highlighter: &mut Highlighter,
    full: bool,
    file: &dyn Fn(&Hit) -> String,
    (hit, context): (&Hit, Option<&str>),
) -> String {
    let about = context.map_or_else(String::new, |text| format!("About this folder: {text}\n\n"));
    format!(
        "## {}\n\n`{}:{}` · `{}` · {:.2}\n\n{about}{}\n",
        hit.chunk.title,
        file(hit),
        line_of_match(hit, highlighter),
        docid(hit),
        hit.chance,
        shown(hit, highlighter, full),
    )
}

/// One element per hit.
pub(super) fn xml(searched: &Searched, full: bool, file: &dyn Fn(&Hit) -> String) -> String {
    let mut out = String::new();
    let mut highlighter = Highlighter::new(&searched.query);
    for (hit, context) in hits(searched) {
        let about = context.map_or_else(String::new, |text| {
            format!(" context=\"{}\"", xml_text(text))
        });
        out.push_str(&format!(
            "<file docid=\"{}\" name=\"{}\" line=\"{}\" title=\"{}\" score=\"{:.2}\"{about}>\n{}\n</file>\n",
            docid(hit),
            xml_text(&file(hit)),
            line_of_match(hit, &mut highlighter),
            xml_text(&hit.chunk.title),
            hit.chance,
            xml_text(&shown(hit, &mut highlighter, full)),
        ));
    }
    out
}

/// Each hit with the configured description of its folder.
fn hits(searched: &Searched) -> impl Iterator<Item = (&Hit, Option<&str>)> {
    let contexts = searched.contexts.iter().map(Option::as_deref);
    searched.found.hits.iter().zip(contexts)
}

fn docid(hit: &Hit) -> String {
    let key = hit.chunk.key.to_string();
    format!("#{}", key.get(..KEY_DIGITS).unwrap_or(&key))
}

fn shown(hit: &Hit, highlighter: &mut Highlighter, full: bool) -> String {
    if full {
        hit.chunk.text.clone()
    } else {
        highlighter.snippet(&hit.chunk.path, &hit.chunk.text).text
    }
}

fn csv_field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Text for XML 1.0: characters that it does not allow are replaced.
fn xml_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(c),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(csv_field("plain"), "plain");
        assert_eq!(csv_field("a \"b\", c"), "\"a \"\"b\"\", c\"");
        assert_eq!(
            xml_text("a<b & \"c\"\u{1}"),
            "a&lt;b &amp; &quot;c&quot;\u{fffd}"
        );
    }
}
