//! The arguments of a tool: the schema is derived from their struct, and arguments are checked
//! against it.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use local_agent_text::error::{ErrorCode, Failure, Result};

/// Maximum size of one call's arguments as JSON, in bytes. For content to be written,
/// `security.max_file_bytes` also applies.
const MAX_ARGS: usize = 16 << 20;

/// The schema for a struct of arguments.
pub(super) fn of<T: JsonSchema>() -> Value {
    let mut schema = serde_json::to_value(schemars::schema_for!(T)).unwrap_or_default();
    if let Some(fields) = schema.as_object_mut() {
        // The struct's name is an internal detail.
        fields.remove("title");
        fields.remove("$schema");
    }
    schema
}

/// Parses the struct; arguments that the schema allows always fit.
pub(super) fn parse<T: DeserializeOwned>(args: Value) -> Result<T> {
    serde_json::from_value(args).map_err(|e| {
        Failure::new(
            ErrorCode::InvalidArgs,
            format!("The arguments do not fit: {e}."),
        )
    })
}

/// Fails with `INVALID_ARGS` for the first part of `args` that violates the schema of `tool`.
pub(super) fn check(tool: &str, schema: &Value, args: &Value) -> Result<()> {
    first_violation(schema, args).map_or(Ok(()), |why| {
        let message = format!("The arguments of `{tool}` do not fit: {why}.");
        Err(Failure::new(ErrorCode::InvalidArgs, message)
            .with_command(format!("local-agent tool describe {tool}")))
    })
}

fn first_violation(schema: &Value, args: &Value) -> Option<String> {
    let Some(given) = args.as_object() else {
        return Some("they are not a JSON object".to_owned());
    };
    if args.to_string().len() > MAX_ARGS {
        return Some(format!("they are longer than {MAX_ARGS} bytes"));
    }
    let known = schema["properties"].as_object();
    for name in given.keys() {
        if !known.is_some_and(|known| known.contains_key(name)) {
            let names: Vec<&str> = known
                .into_iter()
                .flat_map(|k| k.keys())
                .map(String::as_str)
                .collect();
            let name: String = name.chars().filter(|c| !c.is_control()).take(80).collect();
            return Some(format!(
                "there is no argument `{name}`; there are {}",
                names.join(", ")
            ));
        }
    }
    let required = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    for name in required {
        if !given.contains_key(name) {
            return Some(format!("`{name}` is missing"));
        }
    }
    given
        .iter()
        .find_map(|(name, value)| value_violation(name, &schema["properties"][name], value))
}

fn value_violation(name: &str, schema: &Value, value: &Value) -> Option<String> {
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|kind| is_of_kind(value, kind)) {
        return Some(format!(
            "`{name}` must be {}",
            types
                .iter()
                .filter(|t| **t != "null")
                .map(|kind| with_article(kind))
                .collect::<Vec<_>>()
                .join(" or ")
        ));
    }
    let number = value.as_f64();
    if let (Some(least), Some(n)) = (schema["minimum"].as_f64(), number)
        && n < least
    {
        return Some(format!("`{name}` is less than {least}"));
    }
    if let (Some(most), Some(n)) = (schema["maximum"].as_f64(), number)
        && n > most
    {
        return Some(format!("`{name}` is more than {most}"));
    }
    let length = value.as_str().map(|text| text.chars().count() as u64);
    if let (Some(least), Some(n)) = (schema["minLength"].as_u64(), length)
        && n < least
    {
        return Some(format!("`{name}` is blank"));
    }
    if let (Some(most), Some(n)) = (schema["maxLength"].as_u64(), length)
        && n > most
    {
        return Some(format!("`{name}` is longer than {most} characters"));
    }
    None
}

/// The name of a type with `a` or `an`.
fn with_article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {kind}")
}

/// Whether the value has this type of JSON Schema.
fn is_of_kind(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_of_another_type_is_refused_in_good_english() {
        let said = |kind: Value| value_violation("n", &json!({"type": kind}), &json!({}));
        for (kind, words) in [
            (json!("integer"), "`n` must be an integer"),
            (json!(["string", "null"]), "`n` must be a string"),
            (
                json!(["integer", "string"]),
                "`n` must be an integer or a string",
            ),
        ] {
            assert_eq!(said(kind).as_deref(), Some(words));
        }
    }
}
