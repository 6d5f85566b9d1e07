//! `read_text_file`: text of one file, by characters (the contract for evidence), by bytes, or by
//! lines. Omissions are always reported: `end` is `end_of_file`, `partial` or `truncated`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::outcome::Output;
use super::text::{Content, ReadFile, prefix};
use super::{Bound, Spec, ToolEffect, schema};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};

/// Maximum number of bytes in one result, in byte and line mode.
const MOST_BYTES: usize = 64 * 1024;
/// Default number of characters in one result.
const USUAL_CHARS: usize = 12_000;
const LEAST_CHARS: u32 = 200;
const MOST_CHARS: u32 = 200_000;

pub(super) const SPEC: Spec = Spec {
    name: "read_text_file",
    description: "Reads text of one file. Without more arguments: from the beginning, up to max_chars characters. With \
                  start_line or max_lines: lines, each with its number. With offset or length: bytes. Images and PDFs \
                  are described, not shown.",
    effect: ToolEffect::Reads,
    admissible: true,
    schema: schema::of::<ReadTextFileArgs>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadTextFileArgs {
    /// The file: `source:folder/file.md`, a path below a source, or a file name.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// Characters from the beginning (12000 when absent).
    #[schemars(range(min = LEAST_CHARS, max = MOST_CHARS))]
    max_chars: Option<u32>,
    /// First byte, from 0.
    #[schemars(range(min = 0, max = 1_099_511_627_776u64))]
    offset: Option<u64>,
    /// Bytes.
    #[schemars(range(min = 1, max = 65_536))]
    length: Option<u32>,
    /// First line, from 1.
    #[schemars(range(min = 1, max = 4_294_967_295u64))]
    start_line: Option<u32>,
    /// Lines.
    #[schemars(range(min = 1, max = 100_000))]
    max_lines: Option<u32>,
}

fn run(bound: &Bound, args: Value) -> Result<Output> {
    let args: ReadTextFileArgs = schema::parse(args)?;
    let bytes = args.offset.is_some() || args.length.is_some();
    let lines = args.start_line.is_some() || args.max_lines.is_some();
    if usize::from(bytes) + usize::from(lines) + usize::from(args.max_chars.is_some()) > 1 {
        let message = "max_chars, offset with length, and start_line with max_lines are three ways; use one of them.";
        return Err(Failure::new(ErrorCode::InvalidArgs, message)
            .with_command("local-agent tool describe read_text_file"));
    }
    let file = ReadFile::of(bound, &args.path)?;
    match file.content() {
        Content::Text(text) if lines => Ok(by_lines(&file, text, &args)),
        Content::Text(text) if bytes => by_bytes(&file, text, &args),
        Content::Text(text) => Ok(by_chars(
            &file,
            text,
            args.max_chars.map_or(USUAL_CHARS, |n| n as usize),
        )),
        Content::Image(kind, pixels) => Ok(described(&file, kind, pixels)),
        Content::Pdf => Ok(described(&file, "application/pdf", None)),
        Content::Binary => {
            let message = format!(
                "`{}` is not UTF-8 text ({} bytes).",
                file.at,
                file.bytes.len()
            );
            Err(Failure::new(ErrorCode::FileReadError, message)
                .with_fix(Fix::ByPerson, "convert the file to UTF-8"))
        }
    }
}

/// The result in the form for evidence: the total, the returned amount, and whether that is
/// everything.
fn by_chars(file: &ReadFile, text: &str, max_chars: usize) -> Output {
    let chars_full = text.chars().count();
    let end = text
        .char_indices()
        .nth(max_chars)
        .map_or(text.len(), |(at, _)| at);
    let shown = &text[..end];
    let truncated = end < text.len();
    let mut out = Output::new(
        json!({
            "path": file.at.to_string(),
            "sha256": file.sha256,
            "mode": "chars",
            "chars_full": chars_full,
            "chars_returned": chars_full.min(max_chars),
            "truncated": truncated,
            "end": if truncated { "truncated" } else { "end_of_file" },
            "next_start_line": truncated.then(|| shown.matches('\n').count() + 1),
        }),
        shown,
    );
    out.evidence.extend(file.excerpt(0, end));
    out
}

fn by_bytes(file: &ReadFile, text: &str, args: &ReadTextFileArgs) -> Result<Output> {
    let size = text.len();
    let offset = usize::try_from(args.offset.unwrap_or(0)).unwrap_or(usize::MAX);
    if offset > size {
        let message = format!(
            "`{}` has {size} bytes, so there is no byte {offset}.",
            file.at
        );
        return Err(
            Failure::new(ErrorCode::InvalidArgs, message).with_hint("ask for an earlier byte")
        );
    }
    // Half a character is never shown: both ends move forward to the next boundary.
    let start = next_boundary(text, offset);
    let end = next_boundary(
        text,
        offset
            .saturating_add(args.length.map_or(MOST_BYTES, |n| n as usize))
            .min(size),
    )
    .max(start);
    let mut out = Output::new(
        json!({
            "path": file.at.to_string(),
            "sha256": file.sha256,
            "mode": "bytes",
            "size": size,
            "start_byte": start,
            "end_byte": end,
            "truncated": end < size,
            "end": if end == size { "end_of_file" } else { "partial" },
            "next_offset": (end < size).then_some(end),
        }),
        &text[start..end],
    );
    out.evidence.extend(file.excerpt(start, end));
    Ok(out)
}

/// The next place at or after `at` where a character begins.
fn next_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// `N|text`; the numbers count towards the bytes. A line that does not fit is cut and marked as
/// cut.
fn by_lines(file: &ReadFile, text: &str, args: &ReadTextFileArgs) -> Output {
    let total = text.split_inclusive('\n').count();
    let first = args.start_line.unwrap_or(1) as usize;
    let wanted = args.max_lines.unwrap_or(u32::MAX) as usize;
    let before: usize = text
        .split_inclusive('\n')
        .take(first - 1)
        .map(str::len)
        .sum();
    let (mut shown, mut end, mut number, mut cut) = (String::new(), before, first, false);
    for line in text.split_inclusive('\n').skip(first - 1).take(wanted) {
        let label = format!("{number}|");
        let room = MOST_BYTES.saturating_sub(shown.len() + label.len());
        if line.len() > room {
            cut = true;
            let part = prefix(line, room);
            // Only a line that is too long for any call is shown partly.
            if number == first {
                shown.push_str(&label);
                shown.push_str(part);
                end += part.len();
                number += 1;
            }
            break;
        }
        shown.push_str(&label);
        shown.push_str(line);
        end += line.len();
        number += 1;
    }
    let last = number - 1;
    let state = match (cut, last >= total) {
        (true, _) => "truncated",
        (_, true) => "end_of_file",
        _ => "partial",
    };
    let mut out = Output::new(
        json!({
            "path": file.at.to_string(),
            "sha256": file.sha256,
            "mode": "lines",
            "first_line": first,
            "last_line": last.max(first.saturating_sub(1)),
            "total_lines": total,
            "truncated": state != "end_of_file",
            "end": state,
            "next_start_line": (last < total).then_some(number),
        }),
        shown,
    );
    out.evidence.extend(file.excerpt(before, end));
    out
}

fn described(file: &ReadFile, kind: &str, pixels: Option<(u32, u32)>) -> Output {
    let size = file.bytes.len();
    let shape = pixels.map_or_else(String::new, |(w, h)| format!(", {w}x{h} pixels"));
    Output::new(
        json!({
            "path": file.at.to_string(),
            "sha256": file.sha256,
            "mode": "described",
            "kind": kind,
            "size": size,
            "width": pixels.map(|p| p.0),
            "height": pixels.map(|p| p.1),
        }),
        format!(
            "{}: {kind}, {size} bytes{shape}. Its bytes are not shown.",
            file.at
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, code, ok};
    use super::*;

    #[test]
    fn characters_are_counted_and_the_rest_is_said_to_be_left_out() {
        let world = World::new();
        world.write("a.md", &format!("{}\nend", "ä".repeat(300)));
        let whole = ok(&world.run("read_text_file", json!({"path": "a.md"})));
        assert_eq!(
            (&whole["chars_full"], &whole["chars_returned"]),
            (&json!(304), &json!(304))
        );
        assert_eq!(
            (&whole["truncated"], &whole["end"]),
            (&json!(false), &json!("end_of_file"))
        );
        let part = ok(&world.run(
            "read_text_file",
            json!({"path": "notes:a.md", "max_chars": 200}),
        ));
        assert_eq!(
            (&part["chars_returned"], &part["truncated"]),
            (&json!(200), &json!(true))
        );
        assert_eq!(part["text"].as_str().unwrap().chars().count(), 200);
        assert_eq!(part["next_start_line"], 1);
    }

    #[test]
    fn lines_are_numbered_and_their_end_is_honest() {
        let world = World::new();
        world.write("a.md", "one\ntwo\r\nthree");
        let read = |args: Value| ok(&world.run("read_text_file", args));
        let middle = read(json!({"path": "a.md", "start_line": 2, "max_lines": 1}));
        assert_eq!(
            (&middle["text"], &middle["end"]),
            (&json!("2|two\r\n"), &json!("partial"))
        );
        assert_eq!(middle["next_start_line"], 3);
        let rest = read(json!({"path": "a.md", "start_line": 2}));
        assert_eq!(
            (&rest["text"], &rest["end"]),
            (&json!("2|two\r\n3|three"), &json!("end_of_file"))
        );
        let beyond = read(json!({"path": "a.md", "start_line": 9}));
        assert_eq!(
            (&beyond["text"], &beyond["end"], &beyond["last_line"]),
            (&json!(""), &json!("end_of_file"), &json!(8))
        );
        world.write("long.md", &format!("{}\nnext\n", "x".repeat(70_000)));
        let cut = read(json!({"path": "long.md", "start_line": 1}));
        assert_eq!(
            (cut["text"].as_str().unwrap().len(), &cut["end"]),
            (MOST_BYTES, &json!("truncated"))
        );
        assert_eq!(cut["next_start_line"], 2);
    }

    #[test]
    fn bytes_never_show_half_a_character() {
        let world = World::new();
        world.write("a.md", "aäb");
        let read = |args: Value| ok(&world.run("read_text_file", args));
        let part = read(json!({"path": "a.md", "offset": 1, "length": 1}));
        assert_eq!(
            (&part["text"], &part["end_byte"], &part["next_offset"]),
            (&json!("ä"), &json!(3), &json!(3))
        );
        let rest = read(json!({"path": "a.md", "offset": 2}));
        assert_eq!(
            (&rest["text"], &rest["start_byte"], &rest["end"]),
            (&json!("b"), &json!(3), &json!("end_of_file"))
        );
        assert_eq!(
            code(&world.run("read_text_file", json!({"path": "a.md", "offset": 5}))),
            "INVALID_ARGS"
        );
    }

    #[test]
    fn the_evidence_is_the_files_own_bytes() {
        let world = World::new();
        let text = "# H\r\n\r\nThe zebra eats 14 apples.\nLast\n";
        world.write("a.md", text);
        for args in [
            json!({"path": "a.md"}),
            json!({"path": "a.md", "start_line": 3, "max_lines": 1}),
            json!({"path": "a.md", "offset": 7}),
        ] {
            let outcome = world.run("read_text_file", args);
            let evidence = &outcome.result().unwrap().evidence[0];
            assert_eq!(
                evidence.span.slice(text.as_bytes()).unwrap(),
                evidence.text.as_bytes()
            );
            assert_eq!(
                evidence.lines.last(),
                if evidence.text.ends_with("apples.\n") {
                    3
                } else {
                    4
                }
            );
        }
        world.write("blank.md", " \n");
        assert!(
            world
                .run("read_text_file", json!({"path": "blank.md"}))
                .result()
                .unwrap()
                .evidence
                .is_empty()
        );
    }

    #[test]
    fn ways_are_not_mixed_and_bad_arguments_are_results() {
        let world = World::new();
        world.write("a.md", "x");
        for args in [
            json!({}),
            json!([]),
            json!({"path": ""}),
            json!({"path": 1}),
            json!({"path": "a.md", "max_chars": 199}),
            json!({"path": "a.md", "max_chars": 200_001}),
            json!({"path": "a.md", "max_chars": -1}),
            json!({"path": "a.md", "max_chars": 300.5}),
            json!({"path": "a.md", "offset": 0, "start_line": 1}),
            json!({"path": "a.md", "start_line": 0}),
            json!({"path": "a.md", "length": 65_537}),
            json!({"path": "a.md", "encoding": "latin1"}),
            json!({"path": "x".repeat(5000)}),
        ] {
            assert_eq!(
                code(&world.run("read_text_file", args.clone())),
                "INVALID_ARGS",
                "{args}"
            );
        }
        world.write_bytes("b.md", b"\xff\xfe");
        assert_eq!(
            code(&world.run("read_text_file", json!({"path": "b.md"}))),
            "FILE_READ_ERROR"
        );
        world.write_bytes("c.md", b"%PDF-1.4 ...");
        let pdf = ok(&world.run("read_text_file", json!({"path": "c.md"})));
        assert_eq!(
            (&pdf["kind"], &pdf["size"]),
            (&json!("application/pdf"), &json!(12))
        );
    }
}
