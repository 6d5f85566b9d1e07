//! Edits the server entry in a YAML file. This works only if the section is a separate block at the
//! left margin, which is how the client itself writes it.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use yaml_rust2::{Yaml, YamlLoader};

use super::client_config::{NAME, NOT_UNDERSTOOD};

/// A file with only the entry.
pub(super) fn alone(section: &str, entry: &Value) -> String {
    format!("{section}:\n{}", block(entry, 2))
        .trim_end()
        .to_owned()
}

/// `text` with `entry`.
pub(super) fn with_entry(text: &str, section: &str, entry: &Value) -> Result<String, String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let Some(head) = head_of(&lines, section) else {
        let gap = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        return Ok(format!("{text}{gap}{}\n", alone(section, entry)));
    };
    let indent = indent_below(&lines, head);
    let new = block(entry, indent.unwrap_or(2));
    let (from, to) = match entry_lines(&lines, head, indent) {
        Some((from, to)) => (from, to),
        None => (head + 1, head + 1),
    };
    let before = lines[..head].concat();
    let between = lines[head + 1..from].concat();
    Ok(format!(
        "{before}{}\n{between}{new}{}",
        opened(lines[head], section),
        lines[to..].concat()
    ))
}

/// `text` without the entry.
pub(super) fn without_entry(text: &str, section: &str) -> Result<String, String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let head = head_of(&lines, section).ok_or(NOT_UNDERSTOOD)?;
    let indent = indent_below(&lines, head);
    let (from, to) = entry_lines(&lines, head, indent).ok_or(NOT_UNDERSTOOD)?;
    let members = (head + 1..lines.len()).take_while(|at| indent_of(lines[*at]) != Some(0));
    let mut others = members.filter(|at| !(from..to).contains(at));
    if others.any(|at| indent_of(lines[at]).is_some()) {
        return Ok(lines[..from].concat() + &lines[to..].concat());
    }
    // Without a value the section would be null, which the client may reject.
    let heading = opened(lines[head], section);
    let rest = &heading[section.len() + 1..];
    Ok(format!(
        "{}{section}: {{}}{rest}\n{}{}",
        lines[..head].concat(),
        lines[head + 1..from].concat(),
        lines[to..].concat()
    ))
}

/// The line with the section as the heading of a block: without `{}`, and with its comment.
fn opened(line: &str, section: &str) -> String {
    let line = line.trim_end();
    let rest = line[section.len() + 1..].trim_start();
    match rest.strip_prefix("{}") {
        Some(rest) => format!("{section}:{rest}"),
        None => line.to_owned(),
    }
}

/// The whole file as JSON; null if it is empty.
pub(super) fn whole(text: &str) -> Result<Value, String> {
    let mut files = YamlLoader::load_from_str(text).map_err(|e| format!("it is not YAML ({e})"))?;
    match files.len() {
        0 => Ok(Value::Null),
        1 => Ok(value(&files.remove(0))),
        _ => Err("it holds several documents".to_owned()),
    }
}

fn value(yaml: &Yaml) -> Value {
    match yaml {
        Yaml::Boolean(truth) => Value::from(*truth),
        Yaml::Integer(number) => Value::from(*number),
        Yaml::Real(text) | Yaml::String(text) => Value::from(text.as_str()),
        Yaml::Array(items) => Value::Array(items.iter().map(value).collect()),
        Yaml::Hash(fields) => {
            let fields = fields.iter().map(|(name, held)| (word(name), value(held)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Yaml::Null | Yaml::Alias(_) | Yaml::BadValue => Value::Null,
    }
}

/// A name; one that is not a string is shown in the parser's form.
fn word(yaml: &Yaml) -> String {
    yaml.as_str()
        .map_or_else(|| format!("{yaml:?}"), str::to_owned)
}

/// The entry as a block. Strings and lists are written as in JSON, which is valid YAML.
fn block(entry: &Value, indent: usize) -> String {
    let mut text = format!("{}{NAME}:\n", " ".repeat(indent));
    fields(&mut text, entry, indent + 2);
    text
}

fn fields(text: &mut String, held: &Value, indent: usize) {
    let space = " ".repeat(indent);
    for (name, value) in held.as_object().into_iter().flatten() {
        match value.as_object().filter(|inner| !inner.is_empty()) {
            Some(_) => {
                let _ = writeln!(text, "{space}{name}:");
                fields(text, value, indent + 2);
            }
            None => {
                let _ = writeln!(text, "{space}{name}: {value}");
            }
        }
    }
}

/// The line with the section, which must have a block below it or be empty.
fn head_of(lines: &[&str], section: &str) -> Option<usize> {
    lines.iter().position(|line| {
        let rest = line.strip_prefix(section).and_then(|l| l.strip_prefix(':'));
        rest.is_some_and(|rest| {
            let rest = rest.trim();
            let rest = rest.strip_prefix("{}").unwrap_or(rest).trim_start();
            rest.is_empty() || rest.starts_with('#')
        })
    })
}

/// The indent of a line; `None` for one that is blank or a comment.
fn indent_of(line: &str) -> Option<usize> {
    let rest = line.trim_start_matches(' ');
    let says = rest.trim();
    (!says.is_empty() && !says.starts_with('#')).then(|| line.len() - rest.len())
}

/// The indent of the section's members; `None` if it has none.
fn indent_below(lines: &[&str], head: usize) -> Option<usize> {
    let mut below = lines[head + 1..].iter();
    below
        .find_map(|line| indent_of(line))
        .filter(|indent| *indent > 0)
}

/// The lines of this program's entry.
fn entry_lines(lines: &[&str], head: usize, indent: Option<usize>) -> Option<(usize, usize)> {
    let indent = indent?;
    let block = lines.iter().enumerate().skip(head + 1);
    let mut block = block.take_while(|(_, line)| indent_of(line) != Some(0));
    let from = block.find(|(_, line)| is_own_entry(indent, line))?.0;
    let mut to = from + 1;
    for (at, line) in lines.iter().enumerate().skip(from + 1) {
        match indent_of(line) {
            Some(deep) if deep <= indent => break,
            Some(_) => to = at + 1,
            None => {}
        }
    }
    Some((from, to))
}

/// Whether the line begins this program's entry.
fn is_own_entry(indent: usize, line: &str) -> bool {
    let word = line.trim_start().trim_end();
    let name = word.strip_suffix(':').unwrap_or_default();
    indent_of(line) == Some(indent) && name.trim_matches(['"', '\'']) == NAME
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::client_config::Syntax;

    const FILE: &str = "# mine\nGOOSE_MODEL: m # of today\nextensions:\n  # built in\n  developer:\n    enabled: true\n    type: builtin\n\n  memory: {type: builtin}\nlast: [1, 2]\n";

    #[test]
    fn everything_else_stays_as_it_is_byte_for_byte() {
        let entry = json!({"type": "stdio", "cmd": "/bin/local-agent", "args": ["-C", "/a: \"b\"", "mcp"],
            "envs": {}, "headers": {"Authorization": "Bearer ${X}"}, "enabled": true, "timeout": 300});
        let after = Syntax::Yaml.with_entry(FILE, "extensions", &entry).unwrap();
        insta::assert_snapshot!(after, @r#"
        # mine
        GOOSE_MODEL: m # of today
        extensions:
          local-agent:
            args: ["-C","/a: \"b\"","mcp"]
            cmd: "/bin/local-agent"
            enabled: true
            envs: {}
            headers:
              Authorization: "Bearer ${X}"
            timeout: 300
            type: "stdio"
          # built in
          developer:
            enabled: true
            type: builtin

          memory: {type: builtin}
        last: [1, 2]
        "#);
        assert_eq!(
            Syntax::Yaml
                .with_entry(&after, "extensions", &entry)
                .unwrap(),
            after
        );
        let other = json!({"type": "stdio", "cmd": "/opt/local-agent", "args": ["mcp"]});
        let moved = Syntax::Yaml
            .with_entry(&after, "extensions", &other)
            .unwrap();
        assert_eq!(
            Syntax::Yaml.without_entry(&moved, "extensions").unwrap(),
            FILE
        );
        for text in [
            "",
            "a: 1",
            "a: 1\n",
            "extensions: {}\na: 1\n",
            "extensions: {} # none\n",
            "extensions:\n",
        ] {
            let after = Syntax::Yaml.with_entry(text, "extensions", &entry).unwrap();
            assert_eq!(
                Syntax::Yaml.entry(&after, "extensions").unwrap(),
                Some(entry.clone()),
                "{text:?}"
            );
            assert!(
                Syntax::Yaml.without_entry(&after, "extensions").is_ok(),
                "{text:?}"
            );
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_edited() {
        for bad in [
            "a: [",
            "extensions: 1",
            "extensions: {x: 1}",
            "extensions:\n- a\n",
            "- a\n",
            "a: 1\n---\nb: 2\n",
            "? extensions\n: x: 1\n",
        ] {
            let edited = Syntax::Yaml.with_entry(bad, "extensions", &json!({"cmd": "x"}));
            assert!(edited.is_err(), "{bad}: {edited:?}");
        }
    }
}
