//! Adds one server entry to the file of another program, or removes it, changing only the bytes of
//! that entry. The file belongs to somebody else, whose comments, order and white space may have a
//! reason.
//!
//! This file edits JSON; other files edit TOML and YAML. Every edit is read again. If it changed
//! anything other than the entry, it is discarded.

use std::ops::Range;

use serde_json::Value;

use super::{client_toml, client_yaml};

/// The name of this program's entry.
pub(super) const NAME: &str = "local-agent";

/// The keys of an entry with which a client reaches this program. All others are a person's to set.
const REACH: [&str; 10] = [
    "name",
    "type",
    "command",
    "cmd",
    "args",
    "url",
    "httpUrl",
    "serverUrl",
    "uri",
    "bearer_token_env_var",
];

/// `entry` with what a person set in the old one: its variables, limits, and other keys.
pub(super) fn with_own_settings(old: Option<&Value>, entry: &Value) -> Value {
    let (Some(old), Some(new)) = (old.and_then(Value::as_object), entry.as_object()) else {
        return entry.clone();
    };
    let mut merged = new.clone();
    for (key, value) in old {
        match (key.as_str(), merged.get_mut(key)) {
            (key, _) if REACH.contains(&key) => {}
            // Without an address there is nothing to send them to.
            ("headers" | "env_keys", None) => {}
            ("headers", Some(Value::Object(headers))) => {
                let own = value.as_object().into_iter().flatten();
                let own = own.filter(|(name, _)| !name.eq_ignore_ascii_case("authorization"));
                headers.extend(own.map(|(name, value)| (name.clone(), value.clone())));
            }
            ("env_keys", Some(Value::Array(keys))) => {
                let own = value.as_array().into_iter().flatten();
                let more: Vec<Value> = own.filter(|key| !keys.contains(key)).cloned().collect();
                keys.extend(more);
            }
            _ => {
                merged.insert(key.clone(), value.clone());
            }
        }
    }
    Value::Object(merged)
}

/// The mark of UTF-8 with which some editors begin a file, and the text behind it.
fn split_mark(text: &str) -> (&str, &str) {
    let mark = '\u{feff}';
    text.split_at(if text.starts_with(mark) {
        mark.len_utf8()
    } else {
        0
    })
}

/// Why a file that cannot be edited is not changed.
pub(super) const NOT_UNDERSTOOD: &str = "its form is not understood";

/// The syntax of a client's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Json,
    /// JSON with comments and with commas before a closing bracket.
    JsonWithComments,
    Toml,
    Yaml,
}

impl Syntax {
    /// A file with only the entry.
    pub(super) fn alone(self, section: &str, entry: &Value) -> String {
        match self {
            Self::Json | Self::JsonWithComments => alone(section, entry),
            Self::Toml => client_toml::alone(section, entry),
            Self::Yaml => client_yaml::alone(section, entry),
        }
    }

    /// `text` with `entry` under `section`. Of an existing entry with that name, only what a person
    /// set there stays.
    ///
    /// # Errors
    /// The reason why `text` cannot be edited, as the end of a sentence.
    pub(super) fn with_entry(
        self,
        text: &str,
        section: &str,
        entry: &Value,
    ) -> Result<String, String> {
        let (mark, text) = split_mark(text);
        let old = self.entry(text, section)?;
        let entry = &with_own_settings(old.as_ref(), entry);
        if old.as_ref() == Some(entry) {
            return Ok(format!("{mark}{text}"));
        }
        let edited = match self {
            Self::Json | Self::JsonWithComments => {
                with_entry(text, self.scan(text), section, entry)
            }
            Self::Toml => client_toml::with_entry(text, section, entry),
            Self::Yaml => client_yaml::with_entry(text, section, entry),
        }?;
        let mut meant = self.whole(text)?;
        if meant.is_null() {
            meant = Value::Object(serde_json::Map::new());
        }
        meant[section][NAME] = entry.clone();
        Ok(format!("{mark}{}", self.holds(edited, &meant)?))
    }

    /// `text` without this program's entry under `section`.
    ///
    /// # Errors
    /// As [`Self::with_entry`].
    pub(super) fn without_entry(self, text: &str, section: &str) -> Result<String, String> {
        let (mark, text) = split_mark(text);
        if self.entry(text, section)?.is_none() {
            return Ok(format!("{mark}{text}"));
        }
        let edited = match self {
            Self::Json | Self::JsonWithComments => without_entry(text, &self.scan(text), section),
            Self::Toml => client_toml::without_entry(text, section),
            Self::Yaml => client_yaml::without_entry(text, section),
        }?;
        let mut meant = self.whole(text)?;
        if let Some(servers) = meant[section].as_object_mut() {
            servers.remove(NAME);
        }
        Ok(format!("{mark}{}", self.holds(edited, &meant)?))
    }

    /// This program's entry under `section`.
    ///
    /// # Errors
    /// As [`Self::with_entry`].
    pub(super) fn entry(self, text: &str, section: &str) -> Result<Option<Value>, String> {
        let whole = self.whole(split_mark(text).1)?;
        if whole.is_null() {
            return Ok(None);
        }
        if !whole.is_object() {
            return Err("it holds no names with values".to_owned());
        }
        match whole.get(section) {
            // In YAML, an empty section has no value.
            None => Ok(None),
            Some(Value::Null) if self == Self::Yaml => Ok(None),
            Some(servers) if servers.is_object() => Ok(servers.get(NAME).cloned()),
            Some(_) => Err(format!("`{section}` in it holds no names with values")),
        }
    }

    /// The whole file; null if it is empty.
    fn whole(self, text: &str) -> Result<Value, String> {
        if text.trim().is_empty() {
            return Ok(Value::Null);
        }
        match self {
            Self::Json | Self::JsonWithComments => serde_json::from_slice(&self.scan(text).values)
                .map_err(|e| format!("it is not JSON ({e})")),
            Self::Toml => client_toml::whole(text),
            Self::Yaml => client_yaml::whole(text),
        }
    }

    /// `edited`, if it contains the intended change and no other.
    fn holds(self, edited: String, meant: &Value) -> Result<String, String> {
        let mut read = self.whole(&edited);
        // In YAML and TOML, a section that lost its last entry has no value.
        if let Ok(read) = &mut read {
            for (name, value) in meant.as_object().into_iter().flatten() {
                if value.as_object().is_some_and(serde_json::Map::is_empty)
                    && read.get(name).is_none_or(Value::is_null)
                    && matches!(self, Self::Toml | Self::Yaml)
                {
                    if read.is_null() {
                        *read = Value::Object(serde_json::Map::new());
                    }
                    read[name] = value.clone();
                }
            }
        }
        match read {
            Ok(read) if read == *meant => Ok(edited),
            _ => Err(NOT_UNDERSTOOD.to_owned()),
        }
    }

    fn scan(self, text: &str) -> Scan {
        match self {
            Self::JsonWithComments => Scan::without_comments(text),
            _ => Scan {
                code: text.as_bytes().to_owned(),
                values: text.as_bytes().to_owned(),
            },
        }
    }
}

/// The bytes of a JSON file, with blanks in place of syntax that JSON does not allow. Positions are
/// those in the file.
#[derive(Debug)]
struct Scan {
    /// The bytes without comments.
    code: Vec<u8>,
    /// The bytes also without commas before a closing bracket: valid JSON.
    values: Vec<u8>,
}

impl Scan {
    fn without_comments(text: &str) -> Self {
        let mut code = text.as_bytes().to_owned();
        let mut at = 0;
        while at < code.len() {
            at = match (code[at], code.get(at + 1)) {
                (b'"', _) => string_end(&code, at).unwrap_or(code.len()),
                (b'/', Some(b'/' | b'*')) => {
                    let end = comment_end(&code, at);
                    code[at..end].fill(b' ');
                    end
                }
                _ => at + 1,
            };
        }
        let values = without_last_commas(&code);
        Self { code, values }
    }
}

/// The end of the comment that begins at `at`; a line's comment ends before its line break.
fn comment_end(bytes: &[u8], at: usize) -> usize {
    let is_line = bytes[at + 1] == b'/';
    let rest = &bytes[at + 2..];
    let end = if is_line {
        rest.iter().position(|b| matches!(b, b'\n' | b'\r'))
    } else {
        rest.windows(2)
            .position(|two| two == b"*/")
            .map(|at| at + 2)
    };
    end.map_or(bytes.len(), |end| at + 2 + end)
}

/// `code` with blanks in place of commas before a closing bracket.
fn without_last_commas(code: &[u8]) -> Vec<u8> {
    let mut values = code.to_owned();
    let mut at = 0;
    while at < code.len() {
        if code[at] == b'"' {
            at = string_end(code, at).unwrap_or(code.len());
            continue;
        }
        let next = skip_space(code, at + 1);
        if code[at] == b',' && matches!(code.get(next), Some(b'}' | b']')) {
            values[at] = b' ';
        }
        at += 1;
    }
    values
}

fn alone(section: &str, entry: &Value) -> String {
    format!(
        "{{\n  \"{section}\": {{\n    \"{NAME}\": {}\n  }}\n}}",
        pretty(entry, 4)
    )
}

fn with_entry(text: &str, scan: Scan, section: &str, entry: &Value) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(alone(section, entry) + "\n");
    }
    let top = members(&scan.values, skip_space(&scan.values, 0)).ok_or(NOT_UNDERSTOOD)?;
    let new = pretty(entry, 4);
    let Some(held) = top.find(section) else {
        let new = format!("{{\n    \"{NAME}\": {new}\n  }}");
        return Ok(insert(text, &scan, &top, section, &new, 2));
    };
    let inner = members(&scan.values, held.value.start).ok_or(NOT_UNDERSTOOD)?;
    Ok(match inner.find(NAME) {
        Some(old) => format!(
            "{}{new}{}",
            &text[..old.value.start],
            &text[old.value.end..]
        ),
        None => insert(text, &scan, &inner, NAME, &new, 4),
    })
}

fn without_entry(text: &str, scan: &Scan, section: &str) -> Result<String, String> {
    let top = members(&scan.values, skip_space(&scan.values, 0)).ok_or(NOT_UNDERSTOOD)?;
    let held = top.find(section).ok_or(NOT_UNDERSTOOD)?;
    let inner = members(&scan.values, held.value.start).ok_or(NOT_UNDERSTOOD)?;
    let place = inner.members.iter().rposition(|one| one.name == NAME);
    let place = place.ok_or(NOT_UNDERSTOOD)?;
    let gone = &inner.members[place];
    let start = line_start(text.as_bytes(), gone.start);
    let after = skip_space(&scan.code, gone.value.end);
    if scan.code.get(after) == Some(&b',') {
        return Ok(format!("{}{}", &text[..start], &text[after + 1..]));
    }
    let rest = &text[gone.value.end..];
    let Some(before) = place.checked_sub(1).map(|at| &inner.members[at]) else {
        return Ok(format!("{}{rest}", &text[..start]));
    };
    let comma = skip_space(&scan.code, before.value.end);
    Ok(format!(
        "{}{}{rest}",
        &text[..comma],
        &text[comma + 1..start]
    ))
}

fn pretty(value: &Value, indent: usize) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.replace('\n', &format!("\n{}", " ".repeat(indent)))
}

/// A name with its value.
struct Member {
    name: String,
    start: usize,
    value: Range<usize>,
}

/// The members of one object: the last one with a name counts, as for JSON parsers.
struct Members {
    /// The position after the opening brace.
    start: usize,
    members: Vec<Member>,
}

impl Members {
    fn find(&self, name: &str) -> Option<&Member> {
        self.members.iter().rev().find(|held| held.name == name)
    }
}

/// Inserts `name: value` as the last member.
fn insert(
    text: &str,
    scan: &Scan,
    into: &Members,
    name: &str,
    value: &str,
    indent: usize,
) -> String {
    let space = " ".repeat(indent);
    let Some(last) = into.members.last() else {
        let close = skip_space(&scan.values, into.start);
        let outer = " ".repeat(indent.saturating_sub(2));
        // A comment in an empty object keeps its place.
        let kept = text[into.start..close].trim_end();
        return format!(
            "{}{kept}\n{space}\"{name}\": {value}\n{outer}{}",
            &text[..into.start],
            &text[close..]
        );
    };
    let end = last.value.end;
    let comma = skip_space(&scan.code, end);
    if scan.code.get(comma) == Some(&b',') {
        let place = rest_of_line(&scan.code, comma + 1);
        return format!(
            "{}\n{space}\"{name}\": {value},{}",
            &text[..place],
            &text[place..]
        );
    }
    let place = rest_of_line(&scan.code, end);
    format!(
        "{},{}\n{space}\"{name}\": {value}{}",
        &text[..end],
        &text[end..place],
        &text[place..]
    )
}

/// The end of the line, if nothing but blanks and comments follow `at` on it; otherwise `at`.
fn rest_of_line(code: &[u8], at: usize) -> usize {
    let blank = code[at..].iter().take_while(|b| matches!(b, b' ' | b'\t'));
    let end = at + blank.count();
    match code.get(end) {
        Some(b'\n' | b'\r') => end,
        _ => at,
    }
}

/// The start of the blanks before `at`, with the line break before them.
fn line_start(text: &[u8], at: usize) -> usize {
    let blank = text[..at].iter().rev();
    let mut start = at - blank.take_while(|b| matches!(b, b' ' | b'\t')).count();
    for end in [b'\n', b'\r'] {
        if start > 0 && text[start - 1] == end {
            start -= 1;
        }
    }
    start
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// The end of the string that begins at `at`.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// The end of the value that begins at `at`, in valid JSON text.
fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => string_end(bytes, at),
        b'{' | b'[' => {
            let (mut depth, mut at) = (0usize, at);
            loop {
                match bytes.get(at)? {
                    b'"' => at = string_end(bytes, at)?,
                    b'{' | b'[' => (depth, at) = (depth + 1, at + 1),
                    b'}' | b']' => {
                        (depth, at) = (depth - 1, at + 1);
                        if depth == 0 {
                            return Some(at);
                        }
                    }
                    _ => at += 1,
                }
            }
        }
        _ => {
            let length = bytes[at..]
                .iter()
                .position(|b| matches!(b, b',' | b'}' | b']') || b.is_ascii_whitespace());
            Some(length.map_or(bytes.len(), |length| at + length))
        }
    }
}

/// The members of the object that begins at `at`, in valid JSON text.
fn members(bytes: &[u8], at: usize) -> Option<Members> {
    if bytes.get(at) != Some(&b'{') {
        return None;
    }
    let mut found = Members {
        start: at + 1,
        members: Vec::new(),
    };
    let mut at = skip_space(bytes, at + 1);
    while bytes.get(at)? != &b'}' {
        let end = string_end(bytes, at)?;
        let name: String = serde_json::from_slice(&bytes[at..end]).ok()?;
        let colon = skip_space(bytes, end);
        let start = skip_space(bytes, colon + 1);
        let value = start..value_end(bytes, start)?;
        let after = value.end;
        found.members.push(Member {
            name,
            start: at,
            value,
        });
        at = skip_space(bytes, after);
        if bytes.get(at)? == &b',' {
            at = skip_space(bytes, at + 1);
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn entry() -> Value {
        json!({"command": "/bin/local-agent", "args": ["mcp"]})
    }

    #[test]
    fn what_a_person_set_in_the_entry_stays() {
        let old = json!({"command": "old", "args": ["x"], "env": {"X": "1"}, "timeout": 5,
            "headers": {"authorization": "Bearer old", "X-Team": "a"}});
        let text = json!({"mcpServers": {"local-agent": old}, "a": 1}).to_string();
        for syntax in [Syntax::Json, Syntax::JsonWithComments] {
            let after = syntax.with_entry(&text, "mcpServers", &entry()).unwrap();
            let held = syntax.entry(&after, "mcpServers").unwrap().unwrap();
            let mut wanted = entry();
            wanted["env"] = json!({"X": "1"});
            wanted["timeout"] = json!(5);
            assert_eq!(held, wanted);
            assert_eq!(syntax.with_entry(&after, "mcpServers", &entry()), Ok(after));
        }
        let http = json!({"url": "http://x", "headers": {"Authorization": "Bearer ${T}"}});
        let merged = with_own_settings(Some(&old), &http);
        let headers = json!({"Authorization": "Bearer ${T}", "X-Team": "a"});
        assert_eq!(
            (&merged["headers"], &merged["timeout"]),
            (&headers, &json!(5))
        );
        assert_eq!((merged.get("command"), merged.get("args")), (None, None));
        let toml = "[mcp_servers.local-agent]\ncommand = \"old\" # mine\nstartup_timeout_sec = 20\n\n[mcp_servers.local-agent.env]\nX = \"1\"\n";
        let after = Syntax::Toml
            .with_entry(toml, "mcp_servers", &entry())
            .unwrap();
        assert!(after.contains("startup_timeout_sec = 20\n"), "{after}");
        assert!(
            after.contains("[mcp_servers.local-agent.env]\nX = \"1\"\n"),
            "{after}"
        );
        assert!(
            after.contains("\"/bin/local-agent\"") && !after.contains("old"),
            "{after}"
        );
        let yaml =
            "extensions:\n  local-agent:\n    cmd: old\n    timeout: 9\n    envs: {X: '1'}\n";
        let goose = json!({"cmd": "new", "timeout": 300, "envs": {}});
        let after = Syntax::Yaml.with_entry(yaml, "extensions", &goose).unwrap();
        let held = Syntax::Yaml.entry(&after, "extensions").unwrap().unwrap();
        assert_eq!(
            held,
            json!({"cmd": "new", "timeout": 9, "envs": {"X": "1"}})
        );
    }

    #[test]
    fn a_mark_at_the_beginning_of_a_file_stays() {
        let files = [
            (Syntax::Json, "{\"a\": 1}\n"),
            (Syntax::JsonWithComments, "// mine\n{}\n"),
            (Syntax::Toml, "a = 1\n"),
            (Syntax::Yaml, "a: 1\n"),
        ];
        for (syntax, text) in files {
            let marked = format!("\u{feff}{text}");
            let after = syntax.with_entry(&marked, "servers", &entry()).unwrap();
            let plain = syntax.with_entry(text, "servers", &entry()).unwrap();
            assert_eq!(after, format!("\u{feff}{plain}"));
            assert_eq!(syntax.entry(&after, "servers"), Ok(Some(entry())));
            let without = syntax.without_entry(&after, "servers").unwrap();
            assert!(without.starts_with('\u{feff}'), "{without}");
        }
    }

    #[test]
    fn everything_else_stays_as_it_is_byte_for_byte() {
        let before = "{\n\t\"z\": 1,   \"a\": {\"b\": [\"}\", 2]},\n  \"mcpServers\": {\n    \"other\": { \"command\" : \"x\" }\n  }\n}\n";
        let after = Syntax::Json
            .with_entry(before, "mcpServers", &entry())
            .unwrap();
        insta::assert_snapshot!(after, @r#"
        {
        	"z": 1,   "a": {"b": ["}", 2]},
          "mcpServers": {
            "other": { "command" : "x" },
            "local-agent": {
              "args": [
                "mcp"
              ],
              "command": "/bin/local-agent"
            }
          }
        }
        "#);
        assert_eq!(
            Syntax::Json
                .with_entry(&after, "mcpServers", &entry())
                .unwrap(),
            after
        );
        let other = json!({"command": "/opt/local-agent", "args": ["mcp"]});
        let moved = Syntax::Json
            .with_entry(&after, "mcpServers", &other)
            .unwrap();
        assert_eq!(moved, after.replace("/bin/", "/opt/"));
    }

    #[test]
    fn what_cannot_be_read_is_not_edited() {
        for bad in [
            "{ // a comment\n}",
            "[]",
            "{\"mcpServers\": []}",
            "{\"a\": 1",
            "null",
            "{} {}",
        ] {
            assert!(
                Syntax::Json
                    .with_entry(bad, "mcpServers", &entry())
                    .is_err(),
                "{bad}"
            );
        }
        assert_eq!(
            Syntax::Json.with_entry(" \n", "servers", &entry()).unwrap(),
            alone("servers", &entry()) + "\n"
        );
        for empty in [
            "{}",
            "{ \n }",
            "{\"mcpServers\":{}}",
            "{\"mcpServers\": { } }",
        ] {
            let after = Syntax::Json
                .with_entry(empty, "mcpServers", &entry())
                .unwrap();
            assert_eq!(
                serde_json::from_str::<Value>(&after).unwrap(),
                json!({"mcpServers": {NAME: entry()}})
            );
        }
    }

    const COMMENTED: &str = "// mine\n{\n  \"a\": [1, 2,], /* b, } */\n  \"servers\": {\n    \"x\": {\"command\": \"y\"}, // \"last\",\n  },\n}\n";

    #[test]
    fn comments_and_last_commas_stay() {
        let syntax = Syntax::JsonWithComments;
        let after = syntax.with_entry(COMMENTED, "servers", &entry()).unwrap();
        insta::assert_snapshot!(after, @r#"
        // mine
        {
          "a": [1, 2,], /* b, } */
          "servers": {
            "x": {"command": "y"}, // "last",
            "local-agent": {
              "args": [
                "mcp"
              ],
              "command": "/bin/local-agent"
            },
          },
        }
        "#);
        assert_eq!(syntax.without_entry(&after, "servers").unwrap(), COMMENTED);
        assert!(
            Syntax::Json
                .with_entry(COMMENTED, "servers", &entry())
                .is_err()
        );
        for text in [
            "{\n  \"servers\": {\n    \"x\": 1 // note\n  }\n}\n",
            "{\n  \"servers\": {\n    \"x\": 1, /* two\n lines */\n    \"y\": \"//\"\n  }\n}\n",
            "{\r\n  \"servers\": {\r\n    \"x\": 1\r\n  }\r\n}\r\n",
            "{\"servers\": {\"x\": 1}}",
        ] {
            let after = syntax.with_entry(text, "servers", &entry()).unwrap();
            assert_ne!(after, text);
            assert_eq!(syntax.without_entry(&after, "servers").unwrap(), text);
        }
        let empty = syntax
            .with_entry("{ // nothing yet\n}\n", "servers", &entry())
            .unwrap();
        assert!(empty.contains("// nothing yet\n"), "{empty}");
    }

    #[test]
    fn an_entry_that_is_removed_takes_nothing_with_it() {
        for (before, after) in [
            (
                "{\"s\": {\"local-agent\": 1, \"x\": 2}}",
                "{\"s\": { \"x\": 2}}",
            ),
            ("{\"s\": {\"local-agent\": 1}}", "{\"s\": {}}"),
            (
                "{\"s\": {\n  \"w\": 0,\n  \"local-agent\": {},\n  \"x\": 2\n}}",
                "{\"s\": {\n  \"w\": 0,\n  \"x\": 2\n}}",
            ),
            ("{\"s\": {\"x\": 2}}", "{\"s\": {\"x\": 2}}"),
        ] {
            assert_eq!(Syntax::Json.without_entry(before, "s").unwrap(), after);
        }
        assert!(
            Syntax::Json
                .without_entry("{\"s\": {\"local-agent\": 1, \"local-agent\": 2}}", "s")
                .is_err()
        );
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[ -~\u{e4}\u{65e5}]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::hash_map(
                    "[a-z\"\\\\{}:,]{0,6}|mcpServers|local-agent",
                    inner,
                    0..5
                )
                .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn an_edit_changes_the_entry_and_nothing_else(file in any_json(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&file) } else { serde_json::to_string(&file) }.unwrap();
            if let Ok(after) = Syntax::Json.with_entry(&text, "mcpServers", &entry()) {
                let mut meant = file;
                meant["mcpServers"][NAME] = entry();
                prop_assert_eq!(&serde_json::from_str::<Value>(&after).unwrap(), &meant);
                let removed = Syntax::Json.without_entry(&after, "mcpServers").unwrap();
                let mut rest = meant.clone();
                rest["mcpServers"].as_object_mut().unwrap().remove(NAME);
                prop_assert_eq!(serde_json::from_str::<Value>(&removed).unwrap(), rest);
            } else {
                prop_assert!(!file.is_object() || file.get("mcpServers").is_some_and(|held| !held.is_object()));
            }
        }
    }
}
