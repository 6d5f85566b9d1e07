//! Adds one server entry to the JSON file of another program, changing only the bytes of that
//! entry. The file belongs to somebody else, who may have added comments, an order or white space
//! for a reason.

use std::ops::Range;

use serde_json::Value;

/// The name of this program's entry.
const NAME: &str = "local-agent";

/// A file with only the entry.
pub(super) fn alone(section: &str, entry: &Value) -> String {
    format!(
        "{{\n  \"{section}\": {{\n    \"{NAME}\": {}\n  }}\n}}",
        pretty(entry, 4)
    )
}

/// `text` with `entry` under `section`; an existing entry with that name is replaced. Returns an
/// error message when `text` or its `section` is not a JSON object.
pub(super) fn with_entry(text: &str, section: &str, entry: &Value) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(alone(section, entry) + "\n");
    }
    let whole: Value = serde_json::from_str(text).map_err(|e| format!("it is not JSON ({e})"))?;
    if !whole.is_object() {
        return Err("it is not a JSON object".to_owned());
    }
    if whole.get(section).is_some_and(|held| !held.is_object()) {
        return Err(format!("`{section}` is not an object in it"));
    }
    if whole[section].get(NAME) == Some(entry) {
        return Ok(text.to_owned());
    }
    let bytes = text.as_bytes();
    let top = members(bytes, skip_space(bytes, 0)).ok_or("its form is not understood")?;
    let replaced = match top.find(section) {
        None => insert(
            text,
            &top,
            section,
            &format!("{{\n    \"{NAME}\": {}\n  }}", pretty(entry, 4)),
            2,
        ),
        Some(held) => {
            let inner = members(bytes, held.start).ok_or("its form is not understood")?;
            match inner.find(NAME) {
                Some(old) => format!(
                    "{}{}{}",
                    &text[..old.start],
                    pretty(entry, 4),
                    &text[old.end..]
                ),
                None => insert(text, &inner, NAME, &pretty(entry, 4), 4),
            }
        }
    };
    // Reads the result again to make sure that it contains the intended entry and that nothing else
    // changed.
    let mut meant = whole;
    meant[section][NAME] = entry.clone();
    match serde_json::from_str::<Value>(&replaced) {
        Ok(read) if read == meant => Ok(replaced),
        _ => Err("its form is not understood".to_owned()),
    }
}

fn pretty(value: &Value, indent: usize) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.replace('\n', &format!("\n{}", " ".repeat(indent)))
}

/// The members of one object: the last one with a name counts, as for JSON parsers.
struct Members {
    /// The position after the opening brace.
    start: usize,
    names: Vec<(String, Range<usize>)>,
}

impl Members {
    fn find(&self, name: &str) -> Option<&Range<usize>> {
        self.names
            .iter()
            .rev()
            .find(|(held, _)| held == name)
            .map(|(_, range)| range)
    }
}

/// Inserts `name: value` as the last member.
fn insert(text: &str, into: &Members, name: &str, value: &str, indent: usize) -> String {
    let space = " ".repeat(indent);
    match into.names.last() {
        Some((_, last)) => {
            format!(
                "{},\n{space}\"{name}\": {value}{}",
                &text[..last.end],
                &text[last.end..]
            )
        }
        None => {
            let close = skip_space(text.as_bytes(), into.start);
            let outer = " ".repeat(indent.saturating_sub(2));
            format!(
                "{}\n{space}\"{name}\": {value}\n{outer}{}",
                &text[..into.start],
                &text[close..]
            )
        }
    }
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
        names: Vec::new(),
    };
    let mut at = skip_space(bytes, at + 1);
    while bytes.get(at)? != &b'}' {
        let end = string_end(bytes, at)?;
        let name: String = serde_json::from_slice(&bytes[at..end]).ok()?;
        let colon = skip_space(bytes, end);
        let start = skip_space(bytes, colon + 1);
        let end = value_end(bytes, start)?;
        found.names.push((name, start..end));
        at = skip_space(bytes, end);
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
    fn everything_else_stays_as_it_is_byte_for_byte() {
        let before = "{\n\t\"z\": 1,   \"a\": {\"b\": [\"}\", 2]},\n  \"mcpServers\": {\n    \"other\": { \"command\" : \"x\" }\n  }\n}\n";
        let after = with_entry(before, "mcpServers", &entry()).unwrap();
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
        assert_eq!(with_entry(&after, "mcpServers", &entry()).unwrap(), after);
        let other = json!({"command": "/opt/local-agent", "args": ["mcp"]});
        let moved = with_entry(&after, "mcpServers", &other).unwrap();
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
            assert!(with_entry(bad, "mcpServers", &entry()).is_err(), "{bad}");
        }
        assert_eq!(
            with_entry(" \n", "servers", &entry()).unwrap(),
            alone("servers", &entry()) + "\n"
        );
        for empty in [
            "{}",
            "{ \n }",
            "{\"mcpServers\":{}}",
            "{\"mcpServers\": { } }",
        ] {
            let after = with_entry(empty, "mcpServers", &entry()).unwrap();
            assert_eq!(
                serde_json::from_str::<Value>(&after).unwrap(),
                json!({"mcpServers": {NAME: entry()}})
            );
        }
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
            if let Ok(after) = with_entry(&text, "mcpServers", &entry()) {
                let mut meant = file;
                meant["mcpServers"][NAME] = entry();
                prop_assert_eq!(serde_json::from_str::<Value>(&after).unwrap(), meant);
            } else {
                prop_assert!(!file.is_object() || file.get("mcpServers").is_some_and(|held| !held.is_object()));
            }
        }
    }
}
