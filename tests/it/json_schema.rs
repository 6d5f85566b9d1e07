//! A validator for the published schemas, and the schema of every command's `--json` output.
//!
//! The validator knows only the keywords that the schemas use, and fails on any other.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use regex::Regex;
use serde_json::Value;

/// Keywords that do not restrict a value.
const SAYS_NOTHING: [&str; 8] = [
    "$schema",
    "$id",
    "$defs",
    "title",
    "description",
    "required",
    "default",
    "format",
];

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

/// What is wrong with `value` at `at`, if anything.
pub(crate) fn check(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    if schema == &Value::Bool(true) {
        return Ok(());
    }
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
            "minimum" => value
                .as_f64()
                .is_none_or(|number| number >= rule.as_f64().unwrap()),
            "pattern" => value
                .as_str()
                .is_none_or(|text| Regex::new(rule.as_str().unwrap()).unwrap().is_match(text)),
            "allOf" => {
                for one in rule.as_array().unwrap() {
                    check(root, one, value, at)?;
                }
                true
            }
            "oneOf" => {
                let fits = |one: &&Value| check(root, one, value, at).is_ok();
                rule.as_array().unwrap().iter().filter(fits).count() == 1
            }
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

/// The schema of every command's `--json` output, by command.
fn outputs() -> &'static BTreeMap<&'static str, Value> {
    static OUTPUTS: OnceLock<BTreeMap<&'static str, Value>> = OnceLock::new();
    OUTPUTS.get_or_init(|| local_agent::cli::json_schemas().into_iter().collect())
}

/// The name in [`outputs`] of the command that has these arguments.
fn command_of(args: &[&str]) -> Option<&'static str> {
    let words: Vec<&str> = args
        .iter()
        .copied()
        .filter(|word| !word.starts_with('-'))
        .collect();
    if args.contains(&"--list-sources") {
        return Some("index --list-sources");
    }
    if args.contains(&"--begin-anew") {
        return Some("memory repair --begin-anew");
    }
    for (option, command) in [
        ("--print", "mcp install --print"),
        ("--print-unit", "serve --print-unit"),
        ("--print-unit", "watch --print-unit"),
    ] {
        if args.contains(&option) && words.first() == command.split(' ').next().as_ref() {
            return Some(command);
        }
    }
    if words.len() > 1 && words[0] == "tags" {
        return Some("tags TAG");
    }
    (1..=3).rev().find_map(|count| {
        let name = words.get(..count)?.join(" ");
        let (name, _) = outputs().get_key_value(name.as_str())?;
        Some(*name)
    })
}

/// Fails when what a command printed with `--json` does not match its schema, or has a field that
/// the schema does not name. Commands without a schema print what they like.
pub(crate) fn fits_command(args: &[&str], body: &Value) {
    if let Some(why) = misfit(args, body) {
        panic!("{args:?} does not print what docs/json says: {why}");
    }
}

/// Why this output of a command does not match its schema.
pub(crate) fn misfit(args: &[&str], body: &Value) -> Option<String> {
    let command = command_of(args)?;
    let has_failed = body.get("error_message").is_some();
    let name = if has_failed && command != "memory delete" {
        "error"
    } else {
        command
    };
    let schema = &outputs()[name];
    if let Err(why) = check(schema, schema, body, "") {
        return Some(why);
    }
    let named = named_fields(schema, schema);
    let unnamed = |field: &&String| !named.contains(&field.as_str());
    let field = body.as_object().unwrap().keys().find(unnamed)?;
    Some(format!("`{field}` is not in the schema of `{name}`"))
}

/// The fields that a schema names, in itself or in the parts it is put together from.
fn named_fields<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s str> {
    let own = schema["properties"].as_object().into_iter().flatten();
    let mut names: Vec<&str> = own.map(|(name, _)| name.as_str()).collect();
    for word in ["anyOf", "oneOf", "allOf"] {
        for part in schema[word].as_array().into_iter().flatten() {
            names.extend(named_fields(root, part));
        }
    }
    if let Some(target) = schema["$ref"].as_str() {
        let target = root.pointer(target.strip_prefix('#').unwrap()).unwrap();
        names.extend(named_fields(root, target));
    }
    names
}
