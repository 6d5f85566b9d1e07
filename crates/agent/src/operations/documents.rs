//! Reads documents and chunks through the sandbox, for `get`, `multi-get` and MCP.

use globset::GlobBuilder;

use super::address;
use crate::config::{Config, split_list};
use local_agent_files::sandbox::{Address, Sandbox, WalkOutcome};
use local_agent_index::store::{ChunkRecord, IndexReader};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::types::{ChunkKey, RelPath, Sha256, SkipReason};

/// Maximum number of keys listed in a failure.
const MOST_KEYS: usize = 5;

/// A document, or a range of its lines.
#[derive(Debug, Clone)]
pub struct DocumentPiece {
    /// `source:path`.
    pub address: String,
    /// Hash of the whole file.
    pub sha256: Sha256,
    /// Line number of the first line of `text`, from 1.
    pub first_line: usize,
    /// Number of lines of the whole file.
    pub total_lines: usize,
    /// The lines, each with its line break, byte for byte.
    pub text: String,
    /// Whether `text` is only the beginning of what was requested.
    pub truncated: bool,
}

/// The requested lines of a document, in addition to those in its address.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lines {
    /// The first line, from 1.
    pub from: Option<usize>,
    /// Maximum number of lines.
    pub count: Option<usize>,
}

/// Reads what an address names: `path`, `source:path`, `path:from`, `path:from:count`, a note's
/// name, `[[Note]]`, `name#Heading`, `name#^block`, or `#key` of a chunk, of which the first digits
/// are enough.
///
/// # Errors
/// `INVALID_ARGS` for an invalid key or a line beyond the end; `FILE_NOT_FOUND` with the nearest
/// names; `AMBIGUOUS_PATH`; `SYMBOL_NOT_FOUND` for a missing heading or block; `FILE_READ_ERROR`
/// when the text is not UTF-8 or the text of a chunk has moved; those of the sandbox; those of
/// opening the index.
pub fn get(
    config: &Config,
    sandbox: &Sandbox,
    address: &str,
    lines: Lines,
) -> Result<DocumentPiece> {
    let piece = match address.strip_prefix('#') {
        Some(key) => chunk(config, sandbox, key),
        None => document(config, sandbox, address),
    }?;
    piece.lines(lines)
}

impl DocumentPiece {
    /// Limits the document to these lines, numbered as in the file.
    fn lines(mut self, wanted: Lines) -> Result<Self> {
        let Lines { from, count } = wanted;
        if from.is_none() && count.is_none() {
            return Ok(self);
        }
        let first = from.unwrap_or(self.first_line).max(self.first_line);
        let skipped = first - self.first_line;
        if skipped > 0 && skipped >= self.text.split_inclusive('\n').count() {
            return Err(beyond(&self.address, self.total_lines, first));
        }
        self.text = self
            .text
            .split_inclusive('\n')
            .skip(skipped)
            .take(count.unwrap_or(usize::MAX))
            .collect();
        self.first_line = first;
        Ok(self)
    }

    /// The beginning of the text: as many whole lines as fit in `bytes` bytes; `None` if not even
    /// one fits. All of an empty text fits.
    pub fn beginning(mut self, bytes: u64) -> Option<Self> {
        if self.text.is_empty() {
            return Some(self);
        }
        let mut kept = 0;
        for line in self.text.split_inclusive('\n') {
            if (kept + line.len()) as u64 > bytes {
                break;
            }
            kept += line.len();
        }
        self.truncated = kept < self.text.len();
        self.text.truncate(kept);
        (kept > 0).then_some(self)
    }
}

fn beyond(address: &str, total_lines: usize, line: usize) -> Failure {
    let message = format!("{address} has {total_lines} lines, so there is no line {line}");
    Failure::new(ErrorCode::InvalidArgs, message).with_hint("ask for an earlier line")
}

/// The whole document at an address in the sandbox.
pub fn whole(sandbox: &Sandbox, at: &Address) -> Result<DocumentPiece> {
    cut(at.to_string(), &sandbox.read(at)?.bytes, None, None)
}

/// A thing that a list of globs and addresses names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listed {
    /// A file that a glob matches.
    File(Address),
    /// A file that a glob matches and that is not read.
    Skipped(Address, SkipReason),
    /// An address, as [`get`] takes it.
    Request(String),
    /// A glob that matches nothing.
    NoMatch(String),
}

/// What a list with commas names: globs as in [`matching`], and addresses as [`get`] takes them.
///
/// # Errors
/// Those of [`matching`].
pub fn listed(sandbox: &Sandbox, list: &str) -> Result<Vec<Listed>> {
    let mut all = Vec::new();
    for pattern in split_list(list) {
        if pattern.starts_with('#') || !is_glob(pattern) {
            all.push(Listed::Request(pattern.to_owned()));
            continue;
        }
        let found = matching(sandbox, pattern)?;
        if found.is_empty() {
            all.push(Listed::NoMatch(pattern.to_owned()));
        }
        all.extend(found.into_iter().map(|(at, skipped)| match skipped {
            Some(reason) => Listed::Skipped(at, reason),
            None => Listed::File(at),
        }));
    }
    Ok(all)
}

/// Whether a pattern is a glob and not a name. Brackets alone may be a link: `[[Note]]`.
fn is_glob(pattern: &str) -> bool {
    let is_link = pattern.starts_with("[[") && pattern.ends_with("]]");
    !is_link && pattern.contains(['*', '?', '{', '['])
}

/// Every document that matches `glob`, over `path`, `source:path` or `source/path`, ordered by
/// source and path; also the matching files that are not read, with the reason.
///
/// Errors: `INVALID_ARGS` for an invalid glob; those of walking.
pub fn matching(sandbox: &Sandbox, glob: &str) -> Result<Vec<(Address, Option<SkipReason>)>> {
    let parsed = GlobBuilder::new(glob.strip_prefix("qmd://").unwrap_or(glob))
        .literal_separator(true)
        .build()
        .map_err(|e| {
            Failure::new(
                ErrorCode::InvalidArgs,
                format!("`{glob}` is not a glob: {}", e.kind()),
            )
            .with_command("local-agent multi-get 'folder/*.md'")
        })?;
    let matcher = parsed.compile_matcher();
    let mut found = Vec::new();
    for root in sandbox
        .roots()
        .iter()
        .filter(|root| root.unavailable.is_none())
    {
        for entry in sandbox.readable(&root.name)? {
            let Ok(path) = RelPath::new(entry.path.as_str()) else {
                continue;
            };
            let at = Address {
                source: root.name.clone(),
                path,
            };
            let in_source = format!("{}/{}", at.source, at.path);
            let names = [at.path.to_string(), at.to_string(), in_source];
            if names.iter().any(|name| matcher.is_match(name)) {
                let skipped = match entry.what {
                    WalkOutcome::Skipped(reason) => Some(reason),
                    WalkOutcome::Found(_) => None,
                };
                found.push((at, skipped));
            }
        }
    }
    Ok(found)
}

/// The fix for a key that no chunk has: indexing again does not bring it back.
const FIND_A_KEY: &str =
    "search for the passage: `local-agent query WORDS --json` shows the keys of today";

/// The one key that begins with these digits, among those of chunks that the sandbox shows.
///
/// # Errors
/// `INVALID_ARGS` for anything but hexadecimal digits; `FILE_NOT_FOUND` when no chunk has such a
/// key; `AMBIGUOUS_PATH` when several do.
pub fn chunk_key(index: &IndexReader, sandbox: &Sandbox, digits: &str) -> Result<ChunkKey> {
    Ok(chunk_of_key(index, sandbox, digits)?.0.key)
}

/// The one chunk whose key begins with these digits, and the address of its document.
///
/// # Errors
/// As [`chunk_key`].
pub(super) fn chunk_of_key(
    index: &IndexReader,
    sandbox: &Sandbox,
    digits: &str,
) -> Result<(ChunkRecord, Address)> {
    let digits = digits.strip_prefix('#').unwrap_or(digits);
    let is_key = (1..=32).contains(&digits.len()) && digits.chars().all(|c| c.is_ascii_hexdigit());
    if !is_key {
        let message = format!("`#{digits}` is not a chunk key");
        return Err(Failure::new(ErrorCode::InvalidArgs, message).with_fix(
            Fix::FindChunkKey,
            "a chunk key is up to 32 hexadecimal digits, as `local-agent query WORDS --json` shows",
        ));
    }
    // A key that is not shown must not be distinguishable from one that does not exist.
    let most = if sandbox.keeps_private() {
        usize::MAX
    } else {
        MOST_KEYS
    };
    let mut shown = Vec::new();
    for key in index.keys_with_prefix(digits, most)? {
        let Some(chunk) = index.chunk_by_key(&key)? else {
            continue;
        };
        let at = Address {
            source: chunk.source.clone(),
            path: chunk.path.clone(),
        };
        if sandbox.shows(&at) {
            shown.push((chunk, at));
        }
        if shown.len() == MOST_KEYS {
            break;
        }
    }
    if shown.len() > 1 {
        let keys: Vec<String> = shown
            .iter()
            .map(|(one, _)| format!("#{}", one.key))
            .collect();
        let message = format!("`#{digits}` fits more than one chunk: {}", keys.join(", "));
        let failure = Failure::new(ErrorCode::AmbiguousPath, message);
        return Err(address::with_name(failure, &keys[0]));
    }
    shown.pop().ok_or_else(|| {
        let message = format!("no chunk of the index has a key that begins with {digits}");
        Failure::new(ErrorCode::FileNotFound, message).with_command(FIND_A_KEY)
    })
}

/// A chunk by its key, with its current text in the file.
fn chunk(config: &Config, sandbox: &Sandbox, digits: &str) -> Result<DocumentPiece> {
    let index = IndexReader::required(&config.index.db_path)?;
    let (chunk, at) = chunk_of_key(&index, sandbox, digits)?;
    let file = sandbox.read(&at)?;
    if chunk.span.slice(&file.bytes) != Some(chunk.text.as_bytes()) {
        let message = format!(
            "{at} has changed since it was indexed, so the chunk is no longer at that position"
        );
        return Err(
            Failure::new(ErrorCode::FileReadError, message).with_command("local-agent index")
        );
    }
    Ok(DocumentPiece {
        address: at.to_string(),
        sha256: Sha256::of(&file.bytes),
        first_line: chunk.lines.first() as usize,
        total_lines: count_lines(&file.bytes),
        text: chunk.text,
        truncated: false,
    })
}

/// Splits `path:from`, `path:from:count` or `path:first-last`, the form of citations, from the end; a
/// path may contain colons itself.
fn lines_wanted(address: &str) -> (&str, Option<usize>, Option<usize>) {
    if let Some((path, lines)) = address.rsplit_once(':')
        && let Some((first, last)) = lines.split_once('-')
        && let Some((first, last)) = line_number(first).zip(line_number(last))
        && let Some(more) = last.checked_sub(first)
    {
        return (path, Some(first), Some(more + 1));
    }
    match address.rsplit_once(':') {
        Some((rest, last)) if line_number(last).is_some() => match rest.rsplit_once(':') {
            Some((path, from)) if line_number(from).is_some() => {
                (path, line_number(from), line_number(last))
            }
            _ => (rest, line_number(last), None),
        },
        _ => (address, None, None),
    }
}

/// Parses a line number, counted from 1.
fn line_number(text: &str) -> Option<usize> {
    text.parse::<usize>().ok().filter(|n| *n > 0)
}

fn document(config: &Config, sandbox: &Sandbox, address: &str) -> Result<DocumentPiece> {
    let (path, from, count) = lines_wanted(address);
    let resolved = sandbox.resolve(path);
    let (shown, bytes) = match resolved {
        Err(_) if config.security.allow_any_path && std::path::Path::new(path).is_absolute() => (
            path.to_owned(),
            sandbox.read_any(std::path::Path::new(path))?.bytes,
        ),
        _ => return named(config, sandbox, path, from, count),
    };
    cut(shown, &bytes, from, count)
}

/// Reads the document with a user's name for it, from the named place on.
fn named(
    config: &Config,
    sandbox: &Sandbox,
    request: &str,
    from: Option<usize>,
    count: Option<usize>,
) -> Result<DocumentPiece> {
    let (at, anchor) = address::find(config, sandbox, request)?;
    let bytes = sandbox.read(&at)?.bytes;
    let Some(anchor) = anchor else {
        return cut(at.to_string(), &bytes, from, count);
    };
    let whole = cut(at.to_string(), &bytes, None, None)?;
    let range = address::place(&whole.text, &anchor, &at)?;
    let before = whole.text.get(..range.start).unwrap_or_default();
    let text = whole.text.get(range.clone()).unwrap_or_default();
    DocumentPiece {
        first_line: 1 + before.matches('\n').count(),
        text: text.to_owned(),
        ..whole
    }
    .lines(Lines { from, count })
}

fn cut(
    address: String,
    bytes: &[u8],
    from: Option<usize>,
    count: Option<usize>,
) -> Result<DocumentPiece> {
    let text = std::str::from_utf8(bytes).map_err(|_| {
        Failure::new(
            ErrorCode::FileReadError,
            format!("{address} is not UTF-8 text"),
        )
        .with_fix(Fix::ByPerson, "convert the file to UTF-8")
    })?;
    let total_lines = count_lines(bytes);
    let first = from.unwrap_or(1);
    if first > total_lines.max(1) {
        return Err(beyond(&address, total_lines, first));
    }
    let lines: Vec<&str> = text
        .split_inclusive('\n')
        .skip(first - 1)
        .take(count.unwrap_or(usize::MAX))
        .collect();
    Ok(DocumentPiece {
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
        assert_eq!(
            lines_wanted("notes:a.md:12-14"),
            ("notes:a.md", Some(12), Some(3))
        );
        for whole in ["a.md:0", "a.md:0-3", "a.md:9-3", "2024:5-x.md", "a.md:12-"] {
            assert_eq!(lines_wanted(whole), (whole, None, None));
        }
    }

    #[test]
    fn a_link_is_no_glob() {
        assert!(!is_glob("[[Note]]") && !is_glob("a.md"));
        assert!(is_glob("daily/2026-0[14]-*.md") && is_glob("{a,b}.md"));
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
