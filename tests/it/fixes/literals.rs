//! Every hint in the source is in a row of `docs/fixes.md` or `docs/client_fixes.md`, or has a reason why no test can follow it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::architecture::source_files;

/// Hints without a row, by reason.
const WITHOUT_ROW: &[(&str, &[&str])] = &[
    (
        "a disk that is full, or a folder without permission: `tests/torture` makes them",
        &[
            "allow reading and writing there",
            "allow writing there, then run the same command again",
            "check the permissions of its folder and the space left",
        ],
    ),
    (
        "two processes at the same moment",
        &[
            "kill {}",
            "local-agent serve status",
            "look at the file again, then propose again",
            "remove that folder; it is made again",
            "run the command again",
            "wait for it to end, and run it again",
            "wait for the other process to end",
        ],
    ),
    (
        "another system, processor or build",
        &[
            "build it with the feature `code`",
            "cargo install --path . --features pull",
            "local-agent models pull bge-small-en-v1.5",
            "restart the server: the kernel confines it to the folders that it started with",
            "set embed.instructions to auto (here that is {best})",
            "taskkill /F /PID {}",
        ],
    ),
    (
        "an environment that the test cannot give to the program",
        &[
            "change to a folder that exists",
            "end other processes; `watch` tries again by itself",
            "install git, or use --lock",
            "set HOME",
        ],
    ),
    (
        "a chat model gets it in a conversation",
        &[
            "ask something narrower, or raise {key}",
            "call it in the next reply",
            "write {\"type\":\"tool_call\",\"name\":\"…\",\"args\":{…}} and nothing else",
        ],
    ),
    (
        "a server of models that sends wrong bytes, or a reranker that is too slow",
        &[
            "--set retrieve.reranker_ms=600000",
            "pull again, or from another --endpoint",
        ],
    ),
    ("a session whose server moved", &["start the client again"]),
];

#[test]
fn every_hint_is_followed_or_has_a_reason() {
    let pages = ["docs/fixes.md", "docs/client_fixes.md"];
    let pages = pages.map(|page| fs::read_to_string(root().join(page)).unwrap());
    let rows: Vec<String> = pages
        .iter()
        .flat_map(|page| page.lines())
        .map(plain)
        .collect();
    let known: Vec<&str> = WITHOUT_ROW
        .iter()
        .flat_map(|(_, hints)| hints.iter().copied())
        .collect();
    let hints = hints_in_source();
    assert!(hints.len() > 150, "only {} hints were found", hints.len());
    let missing: Vec<&String> = hints
        .iter()
        .filter(|hint| !known.contains(&hint.as_str()) && !is_in_a_row(hint, &rows))
        .collect();
    assert!(missing.is_empty(), "without a row: {missing:#?}");
    let gone: Vec<&&str> = known
        .iter()
        .filter(|hint| !hints.contains(**hint))
        .collect();
    assert!(gone.is_empty(), "no hint of the program: {gone:#?}");
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A text without the marks of code and the escapes of a table.
fn plain(text: &str) -> String {
    text.replace('`', "").replace("\\|", "|")
}

/// Whether a row has the parts of a hint around its placeholders, in order.
fn is_in_a_row(hint: &str, rows: &[String]) -> bool {
    let hint = plain(hint);
    let parts = parts(&hint);
    rows.iter().any(|row| {
        let mut rest = row.as_str();
        parts
            .iter()
            .all(|part| match rest.split_once(part.as_str()) {
                Some((_, behind)) => {
                    rest = behind;
                    true
                }
                None => false,
            })
    })
}

/// The parts of a format string between its placeholders.
fn parts(format: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for (n, piece) in format.split('{').enumerate() {
        let behind = match n {
            0 => piece,
            _ => piece.split_once('}').map_or("", |(_, behind)| behind),
        };
        parts.push(behind.to_owned());
    }
    parts
}

/// The literals in the arguments of `with_hint` in the program, without those of tests.
fn hints_in_source() -> BTreeSet<String> {
    let mut files = Vec::new();
    for folder in ["src", "crates"] {
        source_files(&root().join(folder), &mut files);
    }
    let mut found = BTreeSet::new();
    for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
        let text = fs::read_to_string(file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for call in code.split("with_hint(").skip(1) {
            found.extend(literals(arguments(call)));
        }
    }
    found
}

/// The text up to the parenthesis that closes the arguments at its beginning.
fn arguments(text: &str) -> &str {
    let (mut depth, mut is_quoted, mut is_escaped) = (1, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[..at];
        }
    }
    text
}

/// The string literals of a piece of code, as the program reads them.
fn literals(code: &str) -> Vec<String> {
    let literal = regex::Regex::new(r#""((?:[^"\\]|\\[\s\S])*)""#).unwrap();
    let continued = regex::Regex::new(r"\\\n\s*").unwrap();
    literal
        .captures_iter(code)
        .map(|found| continued.replace_all(&found[1], "").replace("\\\"", "\""))
        .collect()
}
