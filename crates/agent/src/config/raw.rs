//! Parses a YAML file into a tree in which every value has its line number.
//!
//! A configuration may be found by walking up from the current folder, so its bytes are not
//! trusted: size and nesting are checked before parsing, and anchors, tags, duplicate keys and
//! second documents are refused.

use std::io::Read as _;
use std::path::Path;

use marked_yaml::{LoadError, LoaderOptions, parse_yaml_with_options};

use local_agent_text::error::{ErrorCode, Failure, Result};

/// Maximum size of a configuration file, in bytes.
pub(super) const MAX_FILE_BYTES: u64 = 256 * 1024;
/// Deepest column at which the content of a line may start. The parser recurses once per block
/// level, and a block level needs at least one column; the parser itself limits flow levels (255).
const MAX_INDENT: usize = 160;

/// One value, with the 1-based line it starts on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub line: u32,
    pub value: Value,
}

/// A value whose type has not been checked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// The text of a scalar; `plain` if it was not quoted.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    /// Keys in file order.
    Map(Vec<(String, Node)>),
}

impl Node {
    /// Whether the value is unset: empty, `null`, `~`, or blank quotes.
    pub(super) fn is_unset(&self) -> bool {
        match &self.value {
            Value::Scalar { text, plain } => {
                text.trim().is_empty() || (*plain && matches!(text.as_str(), "~" | "null"))
            }
            _ => false,
        }
    }

    /// Its type, for messages.
    pub(super) fn describe(&self) -> String {
        match &self.value {
            Value::Scalar { text, .. } => format!("`{}`", shown(text)),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a mapping".to_owned(),
        }
    }
}

/// `text` on one line, at most 80 characters of it, control characters escaped.
pub(super) fn shown(text: &str) -> String {
    let mut out: String = text
        .chars()
        .take(80)
        .flat_map(|c| {
            if c.is_control() {
                c.escape_default().collect()
            } else {
                vec![c]
            }
        })
        .collect();
    if text.chars().nth(80).is_some() {
        out.push('…');
    }
    out
}

/// Reads at most `max_bytes` of a regular file: trust is checked on the same bytes that are parsed.
///
/// # Errors
/// The reason, as the end of a sentence that begins with the file.
pub(super) fn read_file(path: &Path, max_bytes: u64) -> std::result::Result<Vec<u8>, String> {
    let failed = |e: std::io::Error| format!("cannot be read: {e}");
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        // Checked before opening, because opening a FIFO would wait for a writer.
        return Err("is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(max_bytes + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    if bytes.len() as u64 > max_bytes {
        Err(format!("is larger than {max_bytes} bytes"))
    } else {
        Ok(bytes)
    }
}

/// The failure `CONFIG_ERROR` for a configuration file that [`read_file`] could not read.
pub(super) fn unreadable(path: &Path, why: &str) -> Failure {
    Failure::new(
        ErrorCode::ConfigError,
        format!("the configuration file {} {why}", path.display()),
    )
    .with_hint("name a readable file with --config or LOCAL_AGENT_CONFIG, or leave that out")
}

/// Parses one file. The top level must be a mapping; an empty file is an empty mapping.
///
/// # Errors
/// `CONFIG_ERROR` with `name:line` and the parser's reason.
pub(super) fn parse(name: &str, bytes: &[u8]) -> Result<Vec<(String, Node)>> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let before = bytes.get(..e.valid_up_to()).unwrap_or_default();
        failure_in_line(
            name,
            1 + before.iter().filter(|b| **b == b'\n').count(),
            "the bytes here are not UTF-8",
        )
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    check_shape(text).map_err(|(line, why)| failure_in_line(name, line, why))?;
    let options = LoaderOptions::default()
        .error_on_duplicate_keys(true)
        .prevent_coercion(true);
    let node = parse_yaml_with_options(0, text, options).map_err(|error| {
        let (line, why) = explain(&error);
        failure_in_line(name, line, &why)
    })?;
    match convert(&node).value {
        Value::Map(map) => Ok(map),
        _ => Err(failure_in_line(
            name,
            1,
            "the top level must be a mapping of sections",
        )),
    }
}

/// The failure for a line of the file that cannot be read.
fn failure_in_line(name: &str, line: usize, why: &str) -> Failure {
    Failure::new(ErrorCode::ConfigError, format!("{name}:{line}: {why}")).with_command(format!(
        "mend line {line} of {name}, then run `local-agent config check`"
    ))
}

/// Limits block nesting and detects a second document, which the parser would ignore.
fn check_shape(text: &str) -> std::result::Result<(), (usize, &'static str)> {
    let mut content_seen = false;
    for (i, line) in text.split('\n').enumerate() {
        let content = line.trim_start_matches([' ', '\t', '-', '?', ':']);
        if line.len() - content.len() > MAX_INDENT && !content.trim_end().is_empty() {
            return Err((i + 1, "this line is nested too deeply"));
        }
        if line.len() - content.len() > 4 * MAX_INDENT {
            return Err((i + 1, "this line is nested too deeply"));
        }
        let marker = line.trim_end();
        if content_seen
            && (marker == "---" || line.starts_with("--- ") || line.starts_with("---\t"))
        {
            return Err((
                i + 1,
                "a second YAML document starts here; a configuration is one document",
            ));
        }
        content_seen |= !marker.is_empty() && !marker.starts_with(['#', '%']);
    }
    Ok(())
}

/// The line and a plain sentence for a parser error.
fn explain(error: &LoadError) -> (usize, String) {
    match error {
        LoadError::TopLevelMustBeMapping(m) | LoadError::TopLevelMustBeSequence(m) => (
            m.line(),
            "the top level must be a mapping of sections".to_owned(),
        ),
        LoadError::UnexpectedAnchor(m) => (
            m.line(),
            "YAML anchors and aliases are not used here".to_owned(),
        ),
        LoadError::MappingKeyMustBeScalar(m) => (m.line(), "a key must be a plain word".to_owned()),
        LoadError::UnexpectedTag(m) => (m.line(), "YAML tags (`!…`) are not used here".to_owned()),
        LoadError::DuplicateKey(both) => {
            let (first, second) = (line_of(&both.prev_key), line_of(&both.key));
            (
                second,
                format!(
                    "the key `{}` is here for the second time; the first is on line {first}",
                    shown(&both.key)
                ),
            )
        }
        // The scanner's message ends with its position; ours already begins with the position.
        LoadError::ScanError(m, e) if e.info().contains("unknown anchor") => (
            m.line(),
            "a value that starts with `*` needs quotes".to_owned(),
        ),
        LoadError::ScanError(m, e) => (m.line(), e.info().to_owned()),
    }
}

/// The line of a node; 1 if it is not known.
fn line_of(node: &marked_yaml::types::MarkedScalarNode) -> usize {
    node.span().start().map_or(1, marked_yaml::Marker::line)
}

fn convert(node: &marked_yaml::Node) -> Node {
    let line = node
        .span()
        .start()
        .map_or(1, |m| u32::try_from(m.line()).unwrap_or(u32::MAX));
    let value = match node {
        marked_yaml::Node::Scalar(s) => Value::Scalar {
            text: s.as_str().to_owned(),
            plain: s.may_coerce(),
        },
        marked_yaml::Node::Sequence(list) => Value::List(list.iter().map(convert).collect()),
        marked_yaml::Node::Mapping(map) => Value::Map(
            map.iter()
                .map(|(key, value)| (key.as_str().to_owned(), under(key, convert(value))))
                .collect(),
        ),
    };
    Node { line, value }
}

/// Corrects the position of a section. The parser gives the position of its first entry, but people
/// look for the line of its key.
fn under(key: &marked_yaml::types::MarkedScalarNode, mut node: Node) -> Node {
    if matches!(node.value, Value::Map(_) | Value::List(_))
        && let Some(mark) = key.span().start()
    {
        node.line = u32::try_from(mark.line()).unwrap_or(u32::MAX);
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(text: &str) -> String {
        parse("f.yaml", text.as_bytes()).unwrap_err().message
    }

    #[test]
    fn every_value_knows_its_line() {
        let map = parse(
            "f",
            b"# top\nask:\n  strict: true\nsources:\n  - name: \"a\"\n    root: b\n",
        )
        .unwrap();
        let Value::Map(ask) = &map[0].1.value else {
            panic!()
        };
        assert_eq!((map[0].1.line, ask[0].1.line), (2, 3));
        assert_eq!(
            ask[0].1.value,
            Value::Scalar {
                text: "true".into(),
                plain: true
            }
        );
        let Value::List(sources) = &map[1].1.value else {
            panic!()
        };
        let Value::Map(first) = &sources[0].value else {
            panic!()
        };
        assert_eq!((first[0].1.line, first[1].1.line), (5, 6));
        assert_eq!(
            first[0].1.value,
            Value::Scalar {
                text: "a".into(),
                plain: false
            }
        );
    }

    #[test]
    fn an_empty_file_is_an_empty_mapping() {
        for text in ["", "\n\n", "# only a remark\n", "---\n", "{}", "\u{feff}"] {
            let parsed = parse("f", text.as_bytes());
            assert!(
                parsed.as_ref().is_ok_and(Vec::is_empty) || text == "---\n",
                "{text:?} {parsed:?}"
            );
        }
    }

    #[test]
    fn what_yaml_allows_and_a_configuration_does_not_need_is_refused() {
        assert!(refused("a: &x 1\nb: *x\n").starts_with("f.yaml:1: YAML anchors"));
        assert!(refused("a: !!python/object:x {}\n").contains("YAML tags"));
        assert!(
            refused("a: 1\nb: 2\na: 3\n")
                .starts_with("f.yaml:3: the key `a` is here for the second time")
        );
        assert!(refused("a: 1\n---\nb: 2\n").starts_with("f.yaml:2: a second YAML document"));
        assert!(refused("- a\n").contains("top level"));
        assert!(refused("just words").contains("top level"));
        assert!(refused("a: [1\nb: 2\n").starts_with("f.yaml:"));
        assert!(
            parse("f", b"a: 1\nb: \xff\n")
                .unwrap_err()
                .message
                .starts_with("f:2: ")
        );
    }

    #[test]
    fn s25_deep_nesting_is_an_error_not_a_crash() {
        for bomb in [
            "[".repeat(100_000),
            format!("a: {}", "{a: ".repeat(50_000)),
            "- ".repeat(100_000),
            "? ".repeat(100_000),
            format!("{}x", "- ? ".repeat(60_000)),
            (0..600)
                .map(|i| format!("{}a:\n", " ".repeat(i)))
                .collect::<String>(),
            (0..80)
                .map(|i| format!("{}{}a:\n", " ".repeat(i * 2), "- ".repeat(60)))
                .collect::<String>(),
        ] {
            assert!(parse("f", bomb.as_bytes()).is_err());
        }
    }

    #[test]
    fn s19_only_regular_files_of_bounded_size_are_read() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read_file(dir.path(), 10).unwrap_err() == "is not a regular file");
        assert!(read_file(&dir.path().join("none"), 10).is_err());
        let file = dir.path().join("big");
        std::fs::write(&file, [b'#'; 11]).unwrap();
        assert!(
            read_file(&file, 10)
                .unwrap_err()
                .ends_with("larger than 10 bytes")
        );
        assert_eq!(read_file(&file, 11).unwrap().len(), 11);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "[ \\-?:,\\[\\]{}&*!|>'\"%#@a~\n\t.]{0,120}") {
            let _ = parse("f", text.as_bytes());
        }

        #[test]
        fn no_bytes_make_the_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse("f", &bytes);
        }
    }
}
