//! The frontmatter: found by our own scanner, parsed by `gray_matter`, and classified in the same
//! way as in the Python version.
//!
//! The scanner decides what is frontmatter, because only it knows bytes. The YAML parser sees only
//! the lines between the fences, and never a text that could make it allocate or recurse without
//! bound.

use std::collections::BTreeMap;

use gray_matter::Pod;
use gray_matter::engine::{Engine as _, YAML};
use serde_json::{Map, Value};

use crate::types::ByteSpan;

/// Maximum size of frontmatter that is parsed, in bytes.
const MAX_MATTER: usize = 64 * 1024;

/// Maximum number of columns of indentation, `- ` and `? ` before the text of a line; limits how
/// deep block YAML nests (the parser limits flow YAML to 255).
const MAX_INDENT: usize = 200;

/// The state of a file's frontmatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontmatterState {
    /// The file has no frontmatter.
    Absent,
    /// It exists and was parsed.
    Present,
    /// It exists but could not be parsed; `error` says why.
    Unknown,
}

impl FrontmatterState {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Present => "present",
            Self::Unknown => "unknown",
        }
    }
}

/// The frontmatter of a file, as the index stores it.
#[derive(Debug, Clone, PartialEq)]
pub struct Frontmatter {
    /// Absent, present or unknown.
    pub state: FrontmatterState,
    /// Its bytes in the file, including both fences and the last line break. `None` if the file has
    /// no frontmatter. Also `None` if no key could be parsed between the fences: then they are
    /// thematic breaks around text, and the text is chunked.
    pub span: Option<ByteSpan>,
    /// Whether `uuid` is a non-blank string; `None` unless the state is present.
    pub typed: Option<bool>,
    /// Why it could not be parsed.
    pub error: Option<String>,
    /// Its keys, sorted. When YAML could not be parsed: the `key: value` lines, as strings.
    pub json: Map<String, Value>,
}

impl Frontmatter {
    /// The value for a file without frontmatter.
    pub fn absent() -> Self {
        Self {
            state: FrontmatterState::Absent,
            span: None,
            typed: None,
            error: None,
            json: Map::new(),
        }
    }

    /// The column `yaml_present`.
    pub fn yaml_present(&self) -> bool {
        self.state != FrontmatterState::Absent
    }

    /// The column `yaml_parse_ok`; `None` without frontmatter.
    pub fn yaml_parse_ok(&self) -> Option<bool> {
        self.yaml_present()
            .then_some(self.state == FrontmatterState::Present)
    }

    /// The column `yaml_error`.
    pub fn yaml_error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// The column `required_keys_present`: the same as `typed`.
    pub fn required_keys_present(&self) -> Option<bool> {
        self.typed
    }

    /// The column `frontmatter_json`: compact, keys sorted, `{}` without frontmatter.
    pub fn frontmatter_json(&self) -> String {
        serde_json::to_string(&self.json).unwrap_or_else(|_| "{}".to_owned())
    }

    /// The strings under the first of `keys` that exists: a list, or one string split at commas
    /// (and at white space when `words`). Numbers are returned as their digits; blank entries are
    /// ignored.
    pub fn strings(&self, keys: &[&str], words: bool) -> Vec<String> {
        let Some(value) = keys.iter().find_map(|key| self.get(key)) else {
            return Vec::new();
        };
        let texts: Vec<String> = match value {
            Value::Array(items) => items.iter().filter_map(scalar).collect(),
            other => {
                let text = scalar(other).unwrap_or_default();
                text.split(|c: char| c == ',' || words && c.is_whitespace())
                    .map(str::to_owned)
                    .collect()
            }
        };
        texts
            .into_iter()
            .map(|t| t.trim().to_owned())
            .filter(|t| !t.is_empty())
            .collect()
    }

    /// The text under `key`, when it is a non-blank string or a number.
    pub fn text(&self, key: &str) -> Option<String> {
        self.get(key)
            .and_then(scalar)
            .map(|t| t.trim().to_owned())
            .filter(|t| !t.is_empty())
    }

    /// Keys are compared ignoring ASCII case, as in Obsidian.
    fn get(&self, key: &str) -> Option<&Value> {
        self.json.get(key).or_else(|| {
            self.json
                .iter()
                .find(|(k, _)| k.eq_ignore_ascii_case(key))
                .map(|(_, v)| v)
        })
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Finds and parses the frontmatter of a file. A byte order mark before it is ignored.
pub(super) fn read(file: &str) -> Frontmatter {
    let Some(found) = find(file) else {
        return Frontmatter::absent();
    };
    let matter = &file[found.matter.clone()];
    let (state, error, json) = match parse(matter) {
        Ok(json) => (FrontmatterState::Present, None, json),
        Err((error, json)) => (FrontmatterState::Unknown, Some(error), json),
    };
    let typed = (state == FrontmatterState::Present).then(|| {
        json.get("uuid")
            .and_then(Value::as_str)
            .is_some_and(|uuid| !uuid.trim().is_empty())
    });
    let is_matter = state == FrontmatterState::Present || !json.is_empty();
    let span = ByteSpan::new(found.start, found.end).filter(|_| is_matter);
    Frontmatter {
        state,
        span,
        typed,
        error,
        json,
    }
}

/// The number of bytes of a byte order mark at the start of `file`.
pub(super) fn bom_len(file: &str) -> usize {
    if file.starts_with('\u{feff}') { 3 } else { 0 }
}

/// Whether the file begins like unclosed frontmatter: `---`, then a `key:` line.
pub(super) fn looks_unclosed(file: &str) -> bool {
    let mut lines = file[bom_len(file)..].lines();
    let opens = lines.next().is_some_and(|l| l.trim_end() == "---");
    opens && find(file).is_none() && lines.next().is_some_and(|l| pair(l).is_some())
}

/// The text of a frontmatter whose keys are not known for certain: it could not be parsed, or it is
/// never closed and so may be the whole file. `None` if the file has no such frontmatter. `state`
/// is that of the file.
pub(crate) fn unread_frontmatter(file: &str, state: FrontmatterState) -> Option<&str> {
    match state {
        FrontmatterState::Present => None,
        FrontmatterState::Unknown => find(file).map(|found| &file[found.matter]),
        FrontmatterState::Absent => has_unclosed_keys(file).then_some(file),
    }
}

/// Whether the file begins with `---`, which is never closed, and a `key:` line is above the
/// first blank line.
fn has_unclosed_keys(file: &str) -> bool {
    let mut lines = file[bom_len(file)..].lines();
    lines.next().is_some_and(|line| line.trim_end() == "---")
        && find(file).is_none()
        && lines
            .take_while(|line| !line.trim().is_empty())
            .any(|line| pair(line).is_some())
}

struct Found {
    start: usize,
    end: usize,
    matter: std::ops::Range<usize>,
}

/// Finds the frontmatter: from `---` on the first line to the next line that is `---` or `...`.
/// Trailing white space is ignored.
fn find(file: &str) -> Option<Found> {
    let start = bom_len(file);
    let mut at = start;
    let mut matter = None;
    for line in file[start..].split_inclusive('\n') {
        let end = at + line.len();
        let mark = line.trim_end();
        match matter {
            None if mark == "---" => matter = Some(end),
            None => return None,
            Some(from) if mark == "---" || mark == "..." => {
                return Some(Found {
                    start,
                    end,
                    matter: from..at,
                });
            }
            Some(_) => {}
        }
        at = end;
    }
    None
}

/// The keys of the frontmatter. On failure: a message, and the keys that could be parsed line by
/// line.
fn parse(matter: &str) -> Result<Map<String, Value>, (String, Map<String, Value>)> {
    if matter.trim().is_empty() {
        return Ok(Map::new());
    }
    if matter.len() > MAX_MATTER {
        return Err((
            format!("the frontmatter is larger than {MAX_MATTER} bytes"),
            Map::new(),
        ));
    }
    if let Some(reason) = refused(matter) {
        return Err((reason.to_owned(), pairs(matter)));
    }
    match YAML::parse(matter) {
        Ok(Pod::Hash(hash)) => Ok(object(hash)),
        Ok(Pod::Null) if pairs(matter).is_empty() && only_comments(matter) => Ok(Map::new()),
        Ok(_) => Err((
            "the frontmatter is not a list of keys and values".to_owned(),
            Map::new(),
        )),
        Err(error) => Err((
            format!("the frontmatter is not YAML: {error}"),
            pairs(matter),
        )),
    }
}

fn only_comments(matter: &str) -> bool {
    matter
        .lines()
        .all(|l| l.trim().is_empty() || l.trim_start().starts_with('#'))
}

/// Why the text must not reach the YAML parser: aliases can expand a few bytes to gigabytes, and
/// nesting can overflow its stack.
fn refused(matter: &str) -> Option<&'static str> {
    if has_node(matter, '&') && has_node(matter, '*') {
        return Some("the frontmatter uses YAML anchors and aliases");
    }
    matter
        .lines()
        .any(is_indented_too_deep)
        .then_some("the frontmatter is nested too deeply")
}

/// Whether the line is indented more deeply than people write.
fn is_indented_too_deep(line: &str) -> bool {
    line.len() - line.trim_start_matches([' ', '\t', '-', '?']).len() > MAX_INDENT
}

/// Whether the frontmatter has a YAML node that begins with the mark.
fn has_node(matter: &str, mark: char) -> bool {
    matter
        .match_indices(mark)
        .any(|(at, _)| is_node(matter, at))
}

/// Whether the `&` or `*` at `at` is where a YAML node may begin and is followed by a name.
fn is_node(matter: &str, at: usize) -> bool {
    if !(at == 0 || matter[..at].ends_with([' ', '\t', '\n', '[', '{', ',', ':', '-'])) {
        return false;
    }
    let named = matter[at + 1..].starts_with(|c: char| !c.is_whitespace());
    let before = matter[..at].trim_end_matches([' ', '\t', '\n', '\r']);
    let begins_line = before.len() < at && matter[before.len()..at].contains('\n');
    let last_word = before.rsplit([' ', '\t', '\n']).next().unwrap_or("");
    let opens = before.is_empty()
        || before.ends_with([':', '-', '?', ',', '[', '{'])
        || last_word.starts_with(['!', '&']);
    named && (opens || begins_line)
}

/// The `key: value` lines that are not indented.
fn pairs(matter: &str) -> Map<String, Value> {
    matter
        .lines()
        .filter_map(pair)
        .map(|(k, v)| (k.to_owned(), Value::String(v.to_owned())))
        .collect()
}

fn pair(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let plain =
        !key.trim().is_empty() && !key.starts_with([' ', '\t', '#', '-', '>']) && key.len() <= 64;
    (plain && (value.is_empty() || value.starts_with([' ', '\t', '\r']))).then(|| {
        let value = value.trim();
        (
            key.trim(),
            if is_quoted_by(value, '"') || is_quoted_by(value, '\'') {
                &value[1..value.len() - 1]
            } else {
                value
            },
        )
    })
}

/// Whether the value begins and ends with this quotation mark.
fn is_quoted_by(value: &str, q: char) -> bool {
    value.len() > 1 && value.starts_with(q) && value.ends_with(q)
}

fn object(hash: std::collections::HashMap<String, Pod>) -> Map<String, Value> {
    // The keys are sorted here, because the map type of serde_json depends on its features.
    let sorted: BTreeMap<_, _> = hash.into_iter().collect();
    sorted
        .into_iter()
        .map(|(key, pod)| (key, value(pod)))
        .collect()
}

fn value(pod: Pod) -> Value {
    match pod {
        Pod::Null => Value::Null,
        Pod::String(text) => Value::String(text),
        Pod::Integer(number) => Value::from(number),
        Pod::Float(number) if number.is_finite() => Value::from(number),
        Pod::Float(number) => Value::String(number.to_string()),
        Pod::Boolean(yes) => Value::Bool(yes),
        Pod::Array(items) => Value::Array(items.into_iter().map(value).collect()),
        Pod::Hash(hash) => Value::Object(object(hash)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn body(file: &str) -> &str {
        &file[read(file).span.map_or(bom_len(file), ByteSpan::end)..]
    }

    #[test]
    fn frontmatter_is_found_behind_a_byte_order_mark_and_with_any_line_ends() {
        for file in [
            "---\na: 1\n---\nBody",
            "\u{feff}---\r\na: 1\r\n---\r\nBody",
            "--- \na: 1\n...\nBody",
        ] {
            let matter = read(file);
            assert_eq!(matter.state, FrontmatterState::Present, "{file:?}");
            assert_eq!(Value::Object(matter.json), json!({"a": 1}));
            assert_eq!(body(file), "Body");
        }
        assert_eq!(read(" ---\na: 1\n---\n").state, FrontmatterState::Absent);
        assert_eq!(read("").state, FrontmatterState::Absent);
        assert_eq!(read("---\n---").state, FrontmatterState::Present);
    }

    #[test]
    fn w29_an_unclosed_fence_is_a_thematic_break() {
        let file = "---\nuuid: x\nText: more\n";
        assert_eq!(read(file), Frontmatter::absent());
        assert!(looks_unclosed(file) && !looks_unclosed("---\n\nText"));
    }

    #[test]
    fn w29_only_a_non_blank_string_makes_a_note_typed() {
        for (matter, typed) in [
            ("uuid: abc", true),
            ("uuid: false", false),
            ("uuid: 0", false),
            ("uuid: ' '", false),
            ("uuid:", false),
            ("a: b", false),
        ] {
            assert_eq!(
                read(&format!("---\n{matter}\n---\n")).typed,
                Some(typed),
                "{matter}"
            );
        }
        assert_eq!(read("text").typed, None);
    }

    #[test]
    fn broken_yaml_is_unknown_and_keeps_what_lines_say() {
        let matter = read("---\ntitle: \"x\nother: [a\n---\n");
        assert_eq!(
            (matter.state, matter.typed),
            (FrontmatterState::Unknown, None)
        );
        assert!(matter.error.is_some_and(|e| e.contains("not YAML")));
        assert_eq!(matter.json.get("other"), Some(&json!("[a")));
    }

    #[test]
    fn text_between_two_thematic_breaks_is_not_lost() {
        let file = "---\nJust prose, no key.\n---\nMore";
        let matter = read(file);
        assert_eq!(
            (matter.state, matter.span),
            (FrontmatterState::Unknown, None)
        );
        assert_eq!(body(file), file);
    }

    #[test]
    fn columns_are_those_of_the_reference() {
        let absent = Frontmatter::absent();
        assert_eq!(
            (
                absent.yaml_present(),
                absent.yaml_parse_ok(),
                absent.frontmatter_json()
            ),
            (false, None, "{}".into())
        );
        let present = read("---\nb: 2024-01-02\na: [1, x]\n---\n");
        assert_eq!(
            present.frontmatter_json(),
            r#"{"a":[1,"x"],"b":"2024-01-02"}"#
        );
        assert_eq!(
            (present.yaml_parse_ok(), present.required_keys_present()),
            (Some(true), Some(false))
        );
    }

    #[test]
    fn lists_and_strings_name_tags_and_aliases_alike() {
        let list = read("---\ntags: [a, b/c, 2024, null]\nAliases:\n  - Smith, John\n---\n");
        assert_eq!(list.strings(&["tags", "tag"], true), ["a", "b/c", "2024"]);
        assert_eq!(list.strings(&["aliases", "alias"], false), ["Smith, John"]);
        let one = read("---\ntag: a, b c\nalias: One two, Three\n---\n");
        assert_eq!(one.strings(&["tags", "tag"], true), ["a", "b", "c"]);
        assert_eq!(
            one.strings(&["aliases", "alias"], false),
            ["One two", "Three"]
        );
    }

    #[test]
    fn s25_an_anchor_bomb_is_refused_before_it_is_parsed() {
        let mut bomb = "---\na0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for i in 1..30 {
            let refs = vec![format!("*a{}", i - 1); 9].join(", ");
            bomb.push_str(&format!("a{i}: &a{i} [{refs}]\n"));
        }
        bomb.push_str("---\n");
        assert!(read(&bomb).error.is_some_and(|e| e.contains("anchors")));
        let innocent = read("---\ntitle: Tom & Jerry *new*\nnote: \"a &b *c\"\n---\n");
        assert_eq!(innocent.state, FrontmatterState::Present);
    }

    #[test]
    fn s25_deep_nesting_and_size_are_bounded() {
        for matter in [
            format!("a: {}", "[".repeat(60_000)),
            format!("a: {}{}", "[".repeat(240), "]".repeat(240)),
            format!("a: {}", "{a: ".repeat(15_000)),
            "- ".repeat(30_000),
            "? ".repeat(30_000),
            (0..190).map(|i| format!("{}a:\n", " ".repeat(i))).collect(),
            "a&".repeat(30_000),
            "x: y\n".repeat(20_000),
        ] {
            let found = read(&format!("---\n{matter}\n---\n"));
            assert_ne!(found.state, FrontmatterState::Absent);
        }
    }

    proptest! {
        #[test]
        fn any_matter_is_read_without_panic(matter in "[a-c:\\-?&*!|>%@'\"#{}\\[\\], \n\t~.0-9]{0,60}", any in any::<String>()) {
            for text in [matter, any] {
                let file = format!("---\n{text}\n---\nBody");
                let found = read(&file);
                prop_assert!(found.span.is_none_or(|s| file.get(s.start()..s.end()).is_some()));
                prop_assert_eq!(found.state == FrontmatterState::Present, found.typed.is_some());
            }
        }
    }
}
