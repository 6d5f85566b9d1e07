//! Edits the server entry in a TOML file.

use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, Item, Table};

use super::client_config::{NAME, NOT_UNDERSTOOD};

/// A file with only the entry.
pub(super) fn alone(section: &str, entry: &Value) -> String {
    let mut file = DocumentMut::new();
    enter(&mut file, section, entry);
    file.to_string().trim_end().to_owned()
}

/// `text` with `entry`.
pub(super) fn with_entry(text: &str, section: &str, entry: &Value) -> Result<String, String> {
    let mut file = parsed(text)?;
    if file.get(section).is_some_and(|held| !held.is_table()) {
        return Err(format!("`{section}` in it is not a table with a heading"));
    }
    enter(&mut file, section, entry);
    Ok(file.to_string())
}

/// `text` without the entry.
pub(super) fn without_entry(text: &str, section: &str) -> Result<String, String> {
    let mut file = parsed(text)?;
    let servers = file.get_mut(section).and_then(Item::as_table_mut);
    servers.ok_or(NOT_UNDERSTOOD)?.remove(NAME);
    Ok(file.to_string())
}

/// The whole file as JSON.
pub(super) fn whole(text: &str) -> Result<Value, String> {
    Ok(table_value(parsed(text)?.as_table()))
}

/// The parsed file, if writing it gives the same bytes.
fn parsed(text: &str) -> Result<DocumentMut, String> {
    let file: DocumentMut = text
        .parse()
        .map_err(|e: toml_edit::TomlError| format!("it is not TOML ({})", e.message()))?;
    if file.to_string() != text {
        return Err(NOT_UNDERSTOOD.to_owned());
    }
    Ok(file)
}

fn enter(file: &mut DocumentMut, section: &str, entry: &Value) {
    let mut servers = Table::new();
    servers.set_implicit(true);
    let servers = file.entry(section).or_insert(Item::Table(servers));
    let Some(servers) = servers.as_table_mut() else {
        return;
    };
    // What stays keeps its form and its comments.
    let old = servers.get(NAME).and_then(Item::as_table);
    let mut table = old.cloned().unwrap_or_default();
    table.retain(|name, _| entry.get(name).is_some());
    for (name, value) in entry.as_object().into_iter().flatten() {
        if table.get(name).map(item_value).as_ref() != Some(value) {
            table.insert(name, item(value));
        }
    }
    servers.insert(NAME, Item::Table(table));
}

/// A value of an entry: text, a truth value, or a list of texts.
fn item(value: &Value) -> Item {
    match value {
        Value::Bool(truth) => toml_edit::value(*truth),
        Value::Array(items) => {
            toml_edit::value(items.iter().filter_map(Value::as_str).collect::<Array>())
        }
        value => toml_edit::value(value.as_str().unwrap_or_default()),
    }
}

fn table_value(table: &dyn toml_edit::TableLike) -> Value {
    let fields = table
        .iter()
        .map(|(name, item)| (name.to_owned(), item_value(item)));
    Value::Object(fields.collect::<Map<_, _>>())
}

fn item_value(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return table_value(table);
    }
    match item {
        Item::Value(value) => plain_value(value),
        Item::ArrayOfTables(tables) => {
            Value::Array(tables.iter().map(|table| table_value(table)).collect())
        }
        Item::None | Item::Table(_) => Value::Null,
    }
}

fn plain_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::from(text.value().as_str()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => Value::from(number.value().to_string()),
        toml_edit::Value::Boolean(truth) => Value::from(*truth.value()),
        toml_edit::Value::Datetime(time) => Value::from(time.value().to_string()),
        toml_edit::Value::Array(items) => Value::Array(items.iter().map(plain_value).collect()),
        toml_edit::Value::InlineTable(table) => table_value(table),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::client_config::Syntax;

    const FILE: &str = "# mine\nmodel = \"o4\"   # of today\n\n[mcp_servers.other]\ncommand = 'x'\nargs = [\n  \"a\", # why\n]\n\n[profiles.p]\nn = 1.5\nat = 2026-01-01\n";

    #[test]
    fn everything_else_stays_as_it_is_byte_for_byte() {
        let entry = json!({"command": "/bin/local-agent", "args": ["-C", "/a \"b\"", "mcp"]});
        let after = Syntax::Toml
            .with_entry(FILE, "mcp_servers", &entry)
            .unwrap();
        insta::assert_snapshot!(after, @r#"
        # mine
        model = "o4"   # of today

        [mcp_servers.other]
        command = 'x'
        args = [
          "a", # why
        ]

        [mcp_servers.local-agent]
        args = ["-C", '/a "b"', "mcp"]
        command = "/bin/local-agent"

        [profiles.p]
        n = 1.5
        at = 2026-01-01
        "#);
        assert_eq!(
            Syntax::Toml
                .with_entry(&after, "mcp_servers", &entry)
                .unwrap(),
            after
        );
        assert_eq!(
            Syntax::Toml.entry(&after, "mcp_servers").unwrap(),
            Some(entry.clone())
        );
        let other = json!({"url": "http://127.0.0.1:8377/mcp"});
        let moved = Syntax::Toml
            .with_entry(&after, "mcp_servers", &other)
            .unwrap();
        assert!(moved.contains("[mcp_servers.other]") && !moved.contains("command = \"/bin"));
        assert_eq!(
            Syntax::Toml.without_entry(&after, "mcp_servers").unwrap(),
            FILE
        );
        let fresh = Syntax::Toml.with_entry("", "mcp_servers", &entry).unwrap();
        assert_eq!(fresh.trim_end(), Syntax::Toml.alone("mcp_servers", &entry));
        assert_eq!(
            Syntax::Toml.without_entry(&fresh, "mcp_servers").unwrap(),
            ""
        );
    }

    #[test]
    fn what_cannot_be_read_is_not_edited() {
        for bad in [
            "a = ",
            "mcp_servers = 1",
            "mcp_servers = {x = 1}",
            "[a]\n[a]",
        ] {
            assert!(
                Syntax::Toml
                    .with_entry(bad, "mcp_servers", &json!({"command": "x"}))
                    .is_err(),
                "{bad}"
            );
        }
    }
}
