//! Checks the published schema of `run.json` against records of real runs.
//!
//! The validator knows only the keywords that the schema uses, and fails on any other.

use std::fs;
use std::path::Path;

use regex::Regex;
use serde_json::{Value, json};

use crate::harness::World;

/// Keywords that do not restrict a value.
const SAYS_NOTHING: [&str; 7] = [
    "$schema",
    "$id",
    "$defs",
    "title",
    "description",
    "required",
    "format",
];

fn schema() -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/run.schema.json");
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

fn is_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("the schema uses the type `{other}`"),
    }
}

/// The violation in `value` at `at`, if any.
fn check(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    for (word, rule) in schema.as_object().unwrap() {
        let holds = match word.as_str() {
            word if SAYS_NOTHING.contains(&word) => true,
            "$ref" => {
                let target = root
                    .pointer(rule.as_str().unwrap().strip_prefix('#').unwrap())
                    .unwrap();
                return check(root, target, value, at);
            }
            "type" => match rule {
                Value::String(name) => is_type(value, name),
                names => names
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|name| is_type(value, name.as_str().unwrap())),
            },
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "minItems" => value
                .as_array()
                .is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
            "maxItems" => value
                .as_array()
                .is_none_or(|items| items.len() as u64 <= rule.as_u64().unwrap()),
            "minimum" => value.as_f64() >= rule.as_f64(),
            "pattern" => value
                .as_str()
                .is_none_or(|text| Regex::new(rule.as_str().unwrap()).unwrap().is_match(text)),
            "anyOf" => rule
                .as_array()
                .unwrap()
                .iter()
                .any(|one| check(root, one, value, at).is_ok()),
            "items" => {
                for (n, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{at}/{n}"))?;
                }
                true
            }
            "properties" | "additionalProperties" => {
                fields(root, schema, value, at)?;
                true
            }
            other => panic!("the schema uses the word `{other}`"),
        };
        if !holds {
            return Err(format!("{at}: {value} breaks `{word}`: {rule}"));
        }
    }
    Ok(())
}

fn fields(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let Some(fields) = value.as_object() else {
        return Ok(());
    };
    for name in schema["required"].as_array().into_iter().flatten() {
        if !fields.contains_key(name.as_str().unwrap()) {
            return Err(format!("{at}: `{name}` is missing"));
        }
    }
    for (name, field) in fields {
        match (
            schema["properties"].get(name),
            &schema["additionalProperties"],
        ) {
            (Some(rule), _) => check(root, rule, field, &format!("{at}/{name}"))?,
            (None, Value::Bool(false)) => {
                return Err(format!("{at}: `{name}` is not in the schema"));
            }
            (None, Value::Null) => {}
            (None, rule) => check(root, rule, field, &format!("{at}/{name}"))?,
        }
    }
    Ok(())
}

/// Fails when `value` does not match this schema, or has a field that it does not name.
pub(crate) fn holds(schema: &Value, value: &Value) {
    let mut strict = schema.clone();
    strict["additionalProperties"] = json!(false);
    if let Err(why) = check(&strict, &strict, value, "") {
        panic!("{why}");
    }
}

/// Fails when `record` does not match the schema.
pub(crate) fn fits(record: &Value) {
    let schema = schema();
    if let Err(why) = check(&schema, &schema, record, "") {
        panic!("{why}");
    }
}

#[test]
fn the_validator_rejects_what_the_schema_forbids() {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let body = world.json(&["ask", "How many apples does the zebra eat a day?"]);
    let record: Value =
        serde_json::from_str(&fs::read_to_string(body["run_record"].as_str().unwrap()).unwrap())
            .unwrap();
    fits(&record);
    let schema = schema();
    for (place, bad) in [
        ("/schema_version", json!(2)),
        ("/run_id", json!("x")),
        ("/status", json!("over")),
        ("/question_sha256", json!("00")),
        ("/snapshot/items/0/label", json!("M1")),
        ("/snapshot/items/0/lines", json!("0")),
        ("/draft/0", json!({"words": "x"})),
        ("/timings_ms/total", json!(-1)),
        ("/exact", json!(null)),
    ] {
        let mut changed = record.clone();
        *changed
            .pointer_mut(place)
            .unwrap_or_else(|| panic!("{place}")) = bad;
        assert!(check(&schema, &schema, &changed, "").is_err(), "{place}");
    }
    let mut more = record.clone();
    more["surprise"] = json!(1);
    assert!(check(&schema, &schema, &more, "").is_err());
    let mut less = record;
    less.as_object_mut().unwrap().remove("calls");
    assert!(check(&schema, &schema, &less, "").is_err());
}
