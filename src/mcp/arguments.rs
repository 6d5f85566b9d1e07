//! Converts the arguments of a call to the types in the schema of its tool. Models write `"1"` for
//! 1, and one word for a list of one. An unambiguous value is converted; any other value is refused
//! with the name of its field.

use rmcp::model::JsonObject;
use serde_json::{Map, Value};

use super::advice::CHANGE_ARGUMENT;
use local_agent_text::error::{ErrorCode, Failure, Result};

/// Maximum number of characters of an unknown name that a message repeats.
const LONGEST_NAME: usize = 80;

/// The arguments in the types of the schema. Null values are left out.
///
/// # Errors
/// `INVALID_ARGS` with the first field that does not fit.
pub(crate) fn fit(schema: &JsonObject, args: Value) -> Result<Value> {
    let Value::Object(given) = args else {
        return Err(refused("the arguments are not an object".to_owned()));
    };
    let empty = Map::new();
    let known = schema.get("properties").and_then(Value::as_object);
    let known = known.unwrap_or(&empty);
    let mut fitting = Map::new();
    for (name, value) in given {
        let Some(field) = known.get(&name) else {
            return Err(refused(unknown(&name, known)));
        };
        if !value.is_null() {
            let value =
                fitted(field, value).map_err(|kind| refused(format!("`{name}` must be {kind}")))?;
            fitting.insert(name, value);
        }
    }
    let required = schema.get("required").and_then(Value::as_array);
    let mut required = required.into_iter().flatten().filter_map(Value::as_str);
    match required.find(|name| !fitting.contains_key(*name)) {
        Some(name) => Err(refused(format!("`{name}` is missing"))),
        None => Ok(Value::Object(fitting)),
    }
}

fn refused(why: String) -> Failure {
    Failure::new(ErrorCode::InvalidArgs, why).with_hint(CHANGE_ARGUMENT)
}

fn unknown(name: &str, known: &Map<String, Value>) -> String {
    let name: String = name
        .chars()
        .filter(|c| !c.is_control())
        .take(LONGEST_NAME)
        .collect();
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    match names.as_slice() {
        [] => format!("there is no argument `{name}`; this tool takes none"),
        names => format!(
            "there is no argument `{name}`; there are {}",
            names.join(", ")
        ),
    }
}

/// The value in the type of its field; the error is that type in words.
fn fitted(field: &Value, value: Value) -> std::result::Result<Value, &'static str> {
    match field["type"].as_str() {
        Some("integer") => match whole_number(&value) {
            Some(number) if is_in_range(&number) => Ok(number),
            _ => Err("a whole number from 0 on"),
        },
        Some("boolean") => truth(&value).ok_or("true or false"),
        Some("string") if value.is_string() => Ok(value),
        Some("string") => Err("text"),
        Some("array") => list(value).ok_or("a list of texts"),
        _ => Ok(value),
    }
}

/// Whether the number fits the type of every argument.
fn is_in_range(number: &Value) -> bool {
    number.as_u64().is_some_and(|n| u32::try_from(n).is_ok())
}

fn whole_number(value: &Value) -> Option<Value> {
    if value.is_i64() || value.is_u64() {
        return Some(value.clone());
    }
    if let Some(text) = value.as_str() {
        return text.trim().parse::<i64>().ok().map(Value::from);
    }
    // A whole number that was written with a fraction of zero.
    let number = value.as_f64()?;
    let is_whole = number.fract() == 0.0 && (0.0..1e15).contains(&number);
    is_whole.then(|| Value::from(number as u64))
}

fn truth(value: &Value) -> Option<Value> {
    match value {
        Value::Bool(_) => Some(value.clone()),
        Value::String(text) if text == "true" => Some(Value::Bool(true)),
        Value::String(text) if text == "false" => Some(Value::Bool(false)),
        _ => None,
    }
}

fn list(value: Value) -> Option<Value> {
    match value {
        Value::Array(items) => items
            .iter()
            .all(Value::is_string)
            .then_some(Value::Array(items)),
        Value::String(text) => match serde_json::from_str::<Vec<String>>(&text) {
            Ok(items) => Some(Value::from(items)),
            Err(_) => Some(Value::from(vec![text])),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> JsonObject {
        let schema = json!({"properties": {
            "query": {"type": "string"},
            "limit": {"type": "integer"},
            "strict": {"type": "boolean"},
            "tag": {"type": "array", "items": {"type": "string"}},
        }, "required": ["query"]});
        schema.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn what_can_mean_only_one_thing_is_taken() {
        for (given, taken) in [
            (json!({"limit": "3"}), json!({"limit": 3})),
            (json!({"limit": 3.0}), json!({"limit": 3})),
            (json!({"limit": null}), json!({})),
            (json!({"strict": "true"}), json!({"strict": true})),
            (json!({"tag": "a"}), json!({"tag": ["a"]})),
            (json!({"tag": "[\"a\", \"b\"]"}), json!({"tag": ["a", "b"]})),
            (json!({"tag": ["a"]}), json!({"tag": ["a"]})),
        ] {
            let (mut given, mut taken) = (given, taken);
            given["query"] = json!("q");
            taken["query"] = json!("q");
            assert_eq!(fit(&schema(), given).unwrap(), taken);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_by_its_name() {
        let told: Vec<String> = [
            json!([]),
            json!({}),
            json!({"query": 5}),
            json!({"query": null}),
            json!({"query": "q", "limit": "three"}),
            json!({"query": "q", "limit": 2.5}),
            json!({"query": "q", "limit": "-1"}),
            json!({"query": "q", "limit": -1}),
            json!({"query": "q", "limit": 5_000_000_000_u64}),
            json!({"query": "q", "strict": 1}),
            json!({"query": "q", "tag": [1]}),
            json!({"query": "q", "limt": 3}),
        ]
        .into_iter()
        .map(|args| fit(&schema(), args).unwrap_err().message)
        .collect();
        insta::assert_snapshot!(told.join("\n"), @r"
        the arguments are not an object
        `query` is missing
        `query` must be text
        `query` is missing
        `limit` must be a whole number from 0 on
        `limit` must be a whole number from 0 on
        `limit` must be a whole number from 0 on
        `limit` must be a whole number from 0 on
        `limit` must be a whole number from 0 on
        `strict` must be true or false
        `tag` must be a list of texts
        there is no argument `limt`; there are limit, query, strict, tag
        ");
    }
}
