//! Documents and chunks through the sandbox, as `get`, `multi-get` and MCP read them.

use globset::GlobBuilder;

use crate::config::Config;
use local_agent_files::sandbox::{Address, Sandbox, What, read_any};
use local_agent_index::store::IndexReader;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{ChunkKey, RelPath, Sha256, SkipReason};

/// A document, or lines of it.
#[derive(Debug)]
pub struct Piece {
    /// `source:path`.
    pub address: String,
    /// Of the whole file.
    pub sha256: Sha256,
    /// Line number of the first line of `text`, from 1.
    pub first_line: usize,
    pub total_lines: usize,
    pub text: String,
}

/// Reads `path`, `source:path`, `path:from`, `path:from:count` or `#chunk_key`.
///
/// Errors: `INVALID_ARGS` for a key that is none and a line beyond the end; `FILE_NOT_FOUND`,
/// `FILE_READ_ERROR` when the text is not UTF-8 or a chunk no longer stands where it stood; those
/// of the sandbox; those of opening the index.
pub fn get(config: &Config, sandbox: &Sandbox, address: &str) -> Result<Piece> {
    match address.strip_prefix('#') {
        Some(key) => chunk(config, sandbox, key),
        None => document(config, sandbox, address),
    }
}

/// The whole document at an address of the sandbox.
pub fn whole(sandbox: &Sandbox, at: &Address) -> Result<Piece> {
    cut(at.to_string(), &sandbox.read(at)?.bytes, None, None)
}

/// Every document that `glob` names, over `source:path` or `path`, by source and path; those that
/// are not read, with the reason.
///
/// Errors: `INVALID_ARGS` when it is no glob; those of walking.
pub fn matching(
    config: &Config,
    sandbox: &Sandbox,
    glob: &str,
) -> Result<Vec<(Address, Option<SkipReason>)>> {
    let parsed = GlobBuilder::new(glob)
        .literal_separator(true)
        .build()
        .map_err(|e| {
            Failure::new(
                ErrorCode::InvalidArgs,
                format!("`{glob}` is not a glob: {}", e.kind()),
            )
            .with_hint("local-agent multi-get 'folder/*.md'")
        })?;
    let matcher = parsed.compile_matcher();
    let exts: Vec<&str> = config
        .security
        .allowed_exts
        .iter()
        .map(String::as_str)
        .collect();
    let mut found = Vec::new();
    for root in sandbox
        .roots()
        .iter()
        .filter(|root| root.unavailable.is_none())
    {
        for entry in sandbox.walk(&root.name, &exts)? {
            let Ok(path) = RelPath::new(entry.path.as_str()) else {
                continue;
            };
            let at = Address {
                source: root.name.clone(),
                path,
            };
            if matcher.is_match(at.path.as_str()) || matcher.is_match(at.to_string()) {
                let skipped = match entry.what {
                    What::Skipped(reason) => Some(reason),
                    What::Found(_) => None,
                };
                found.push((at, skipped));
            }
        }
    }
    Ok(found)
}

/// A chunk by its key, as its file holds it now.
fn chunk(config: &Config, sandbox: &Sandbox, key: &str) -> Result<Piece> {
    let bad = || {
        Failure::new(
            ErrorCode::InvalidArgs,
            format!("`#{key}` is not a chunk key"),
        )
        .with_hint("local-agent query WORDS --json (a chunk key is the 32 hexadecimal digits that it shows)")
    };
    let key: ChunkKey = key.parse().map_err(|_| bad())?;
    let index = IndexReader::required(&config.index.db_path)?;
    let chunk = index.chunk_by_key(&key)?.ok_or_else(|| {
        Failure::new(
            ErrorCode::FileNotFound,
            format!("no chunk of the index has the key {key}"),
        )
        .with_hint("local-agent index")
    })?;
    let at = Address {
        source: chunk.source.clone(),
        path: chunk.path.clone(),
    };
    let file = sandbox.read(&at)?;
    if chunk.span.slice(&file.bytes) != Some(chunk.text.as_bytes()) {
        let message = format!(
            "{at} has changed since it was indexed, so the chunk no longer stands where it stood"
        );
        return Err(Failure::new(ErrorCode::FileReadError, message).with_hint("local-agent index"));
    }
    Ok(Piece {
        address: at.to_string(),
        sha256: Sha256::of(&file.bytes),
        first_line: chunk.lines.first() as usize,
        total_lines: count_lines(&file.bytes),
        text: chunk.text,
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
        Err(_) if config.security.allow_any_path && std::path::Path::new(path).is_absolute() => (
            path.to_owned(),
            read_any(std::path::Path::new(path), sandbox.policy())?.bytes,
        ),
        at => {
            let at = at?;
            (at.to_string(), sandbox.read(&at)?.bytes)
        }
    };
    cut(shown, &bytes, from, count)
}

fn cut(address: String, bytes: &[u8], from: Option<usize>, count: Option<usize>) -> Result<Piece> {
    let text = std::str::from_utf8(bytes).map_err(|_| {
        Failure::new(
            ErrorCode::FileReadError,
            format!("{address} is not UTF-8 text"),
        )
        .with_hint("convert the file to UTF-8")
    })?;
    let total_lines = count_lines(bytes);
    let first = from.unwrap_or(1);
    if first > total_lines.max(1) {
        let message = format!("{address} has {total_lines} lines, so there is no line {first}");
        return Err(
            Failure::new(ErrorCode::InvalidArgs, message).with_hint("ask for an earlier line")
        );
    }
    let lines: Vec<&str> = text
        .split_inclusive('\n')
        .skip(first - 1)
        .take(count.unwrap_or(usize::MAX))
        .collect();
    Ok(Piece {
        address,
        sha256: Sha256::of(bytes),
        first_line: first,
        total_lines,
        text: lines.concat(),
    })
}

fn count_lines(bytes: &[u8]) -> usize {
    bytes.split_inclusive(|b| *b == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_from_the_end_of_an_address() {
        assert_eq!(lines_wanted("a/b.md"), ("a/b.md", None, None));
        assert_eq!(
            lines_wanted("notes:a.md:12"),
            ("notes:a.md", Some(12), None)
        );
        assert_eq!(
            lines_wanted("notes:a.md:12:3"),
            ("notes:a.md", Some(12), Some(3))
        );
        assert_eq!(lines_wanted("notes:a.md"), ("notes:a.md", None, None));
        assert_eq!(lines_wanted("a.md:0"), ("a.md:0", None, None));
    }

    #[test]
    fn lines_are_exact_and_a_line_beyond_the_end_is_said() {
        let piece = cut("n:a.md".to_owned(), b"one\r\ntwo\nthree", Some(2), Some(1)).unwrap();
        assert_eq!(
            (piece.text.as_str(), piece.first_line, piece.total_lines),
            ("two\n", 2, 3)
        );
        let beyond = cut("n:a.md".to_owned(), b"one\n", Some(9), None)
            .err()
            .unwrap();
        assert_eq!(beyond.code, ErrorCode::InvalidArgs);
    }
}
