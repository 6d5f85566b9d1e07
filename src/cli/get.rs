//! `get` and `multi-get`: documents and chunks through the sandbox, with line numbers.

use std::process::ExitCode;

use globset::GlobBuilder;
use serde_json::{Value, json};

use super::args::{Get, MultiGet};
use super::context::Context;
use super::index::extend;
use super::output::{Output, talk};
use crate::config::Config;
use crate::error::{ErrorCode, Failure, Result};
use crate::sandbox::{Address, Sandbox, What, read_any};
use crate::store::IndexReader;
use crate::types::{ChunkKey, Sha256};

/// A document, or lines of it.
struct Piece {
    address: String,
    sha256: Sha256,
    /// Line number of the first line of `text`, from 1.
    first_line: usize,
    total_lines: usize,
    text: String,
    truncated: bool,
}

pub fn run(context: &Context, args: &Get) -> Result<ExitCode> {
    let config = context.load()?.config;
    let sandbox = context.sandbox(&config)?;
    let piece = match args.address.strip_prefix('#') {
        Some(key) => chunk(&config, &sandbox, key)?,
        None => document(&config, &sandbox, &args.address)?,
    };
    if args.json {
        let mut body = piece_json(&piece);
        extend(&mut body, context.roots());
        context.out.json(body);
    } else {
        print(context.out, &piece, args.raw);
    }
    Ok(ExitCode::SUCCESS)
}

fn chunk(config: &Config, sandbox: &Sandbox, key: &str) -> Result<Piece> {
    let bad = || {
        Failure::new(ErrorCode::InvalidArgs, format!("`#{key}` is not a chunk key"))
            .with_hint("a chunk key is the 32 hexadecimal digits that `local-agent query --json` shows")
    };
    let key: ChunkKey = key.parse().map_err(|_| bad())?;
    let index = IndexReader::required(&config.index.db_path)?;
    let chunk = index.chunk_by_key(&key)?.ok_or_else(|| {
        Failure::new(ErrorCode::FileNotFound, format!("no chunk of the index has the key {key}"))
            .with_hint("local-agent index")
    })?;
    let at = Address { source: chunk.source.clone(), path: chunk.path.clone() };
    let file = sandbox.read(&at)?;
    if chunk.span.slice(&file.bytes) != Some(chunk.text.as_bytes()) {
        let message = format!("{at} has changed since it was indexed, so the chunk no longer stands where it stood");
        return Err(Failure::new(ErrorCode::FileReadError, message).with_hint("local-agent index"));
    }
    Ok(Piece {
        address: at.to_string(),
        sha256: Sha256::of(&file.bytes),
        first_line: chunk.lines.first() as usize,
        total_lines: count_lines(&file.bytes),
        text: chunk.text,
        truncated: false,
    })
}

/// Splits `path:from:count` from its end; a path may hold colons itself.
fn lines_wanted(address: &str) -> (&str, Option<usize>, Option<usize>) {
    let number = |text: &str| text.parse::<usize>().ok().filter(|n| *n > 0);
    match address.rsplit_once(':') {
        Some((rest, last)) if number(last).is_some() => match rest.rsplit_once(':') {
            Some((path, from)) if number(from).is_some() => (path, number(from), number(last)),
            _ => (rest, number(last), None),
        },
        _ => (address, None, None),
    }
}

fn document(config: &Config, sandbox: &Sandbox, address: &str) -> Result<Piece> {
    let (path, from, count) = lines_wanted(address);
    let resolved = sandbox.resolve(path);
    let (shown, bytes) = match resolved {
        Err(_) if config.security.allow_any_path && std::path::Path::new(path).is_absolute() => {
            (path.to_owned(), read_any(std::path::Path::new(path), sandbox.policy())?.bytes)
        }
        at => {
            let at = at?;
            (at.to_string(), sandbox.read(&at)?.bytes)
        }
    };
    cut(shown, &bytes, from, count)
}

fn cut(address: String, bytes: &[u8], from: Option<usize>, count: Option<usize>) -> Result<Piece> {
    let text = std::str::from_utf8(bytes).map_err(|_| {
        Failure::new(ErrorCode::FileReadError, format!("{address} is not UTF-8 text"))
            .with_hint("convert the file to UTF-8")
    })?;
    let total_lines = count_lines(bytes);
    let first = from.unwrap_or(1);
    if first > total_lines.max(1) {
        let message = format!("{address} has {total_lines} lines, so there is no line {first}");
        return Err(Failure::new(ErrorCode::InvalidArgs, message).with_hint("ask for an earlier line"));
    }
    let lines: Vec<&str> = text.split_inclusive('\n').skip(first - 1).take(count.unwrap_or(usize::MAX)).collect();
    Ok(Piece {
        address,
        sha256: Sha256::of(bytes),
        first_line: first,
        total_lines,
        text: lines.concat(),
        truncated: false,
    })
}

fn count_lines(bytes: &[u8]) -> usize {
    bytes.split_inclusive(|b| *b == b'\n').count()
}

fn piece_json(piece: &Piece) -> Value {
    json!({
        "address": piece.address,
        "sha256": piece.sha256,
        "first_line": piece.first_line,
        "total_lines": piece.total_lines,
        "text": piece.text,
        "truncated": piece.truncated,
    })
}

fn print(out: Output, piece: &Piece, raw: bool) {
    if raw {
        out.raw(&out.shown(&piece.text));
        return;
    }
    for (at, line) in piece.text.lines().enumerate() {
        out.line(&format!("{:>5}  {}", piece.first_line + at, out.shown(line)));
    }
}

pub fn run_many(context: &Context, args: &MultiGet) -> Result<ExitCode> {
    let glob = GlobBuilder::new(&args.glob).literal_separator(true).build().map_err(|e| {
        Failure::new(ErrorCode::InvalidArgs, format!("`{}` is not a glob: {}", args.glob, e.kind()))
            .with_hint("local-agent multi-get 'folder/*.md'")
    })?;
    let matcher = glob.compile_matcher();
    let config = context.load()?.config;
    let sandbox = context.sandbox(&config)?;
    let exts: Vec<&str> = config.security.allowed_exts.iter().map(String::as_str).collect();
    let (mut pieces, mut refused, mut budget) = (Vec::new(), Vec::new(), args.max_bytes);
    let mut left_out = 0;
    for root in sandbox.roots().iter().filter(|root| root.unavailable.is_none()) {
        for entry in sandbox.walk(&root.name, &exts)? {
            let Ok(path) = crate::types::RelPath::new(entry.path.as_str()) else { continue };
            let at = Address { source: root.name.clone(), path };
            if !(matcher.is_match(at.path.as_str()) || matcher.is_match(at.to_string())) {
                continue;
            }
            if let What::Skipped(reason) = entry.what {
                refused.push(json!({"path": at.to_string(), "reason": reason}));
                continue;
            }
            let read = sandbox.read(&at).and_then(|file| cut(at.to_string(), &file.bytes, None, None));
            match read {
                Ok(piece) if piece.text.len() as u64 <= budget => {
                    budget -= piece.text.len() as u64;
                    pieces.push(piece);
                }
                Ok(_) => left_out += 1,
                Err(failure) => refused.push(json!({"path": at.to_string(), "reason": failure.code.as_str()})),
            }
        }
    }
    show_many(context, args, &pieces, &refused, left_out);
    Ok(ExitCode::SUCCESS)
}

fn show_many(context: &Context, args: &MultiGet, pieces: &[Piece], refused: &[Value], left_out: usize) {
    if args.json {
        let mut body = json!({
            "glob": args.glob,
            "count": pieces.len(),
            "outcome": if pieces.is_empty() && left_out == 0 { "nothing_found" } else { "found" },
            "documents": pieces.iter().map(piece_json).collect::<Vec<_>>(),
            "skipped": refused,
            "left_out_by_max_bytes": left_out,
        });
        extend(&mut body, context.roots());
        context.out.json(body);
        return;
    }
    for piece in pieces {
        context.out.line(&context.out.bold(&context.out.shown(&format!("== {}", piece.address))));
        print(context.out, piece, false);
    }
    if pieces.is_empty() && left_out == 0 {
        context.out.line("No document fits this glob.");
    }
    for one in refused {
        talk(&format!(
            "skipped: {} ({})",
            one["path"].as_str().unwrap_or_default(),
            one["reason"].as_str().unwrap_or_default()
        ));
    }
    if left_out > 0 {
        talk(&format!("left out: {left_out} more documents, beyond --max-bytes {}", args.max_bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_from_the_end_of_an_address() {
        assert_eq!(lines_wanted("a/b.md"), ("a/b.md", None, None));
        assert_eq!(lines_wanted("notes:a.md:12"), ("notes:a.md", Some(12), None));
        assert_eq!(lines_wanted("notes:a.md:12:3"), ("notes:a.md", Some(12), Some(3)));
        assert_eq!(lines_wanted("notes:a.md"), ("notes:a.md", None, None));
        assert_eq!(lines_wanted("a.md:0"), ("a.md:0", None, None));
    }

    #[test]
    fn lines_are_exact_and_a_line_beyond_the_end_is_said() {
        let piece = cut("n:a.md".to_owned(), b"one\r\ntwo\nthree", Some(2), Some(1)).unwrap();
        assert_eq!((piece.text.as_str(), piece.first_line, piece.total_lines), ("two\n", 2, 3));
        let beyond = cut("n:a.md".to_owned(), b"one\n", Some(9), None).err().unwrap();
        assert_eq!(beyond.code, ErrorCode::InvalidArgs);
    }
}
