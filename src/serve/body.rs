//! The bodies of requests to `/api`. A value that can mean only one thing is taken, as for agents: "3"
//! for 3, one text for a list. Any other is refused with the name of its field.

use hyper::body::Bytes;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::mcp::fit;
use local_agent_text::error::{ErrorCode, Failure, Result};

/// The fields of a search, as a schema.
pub(super) fn search_fields() -> Value {
    json!({
        "properties": {
            "query": {"type": "string"},
            "limit": {"type": "integer"},
            "recent": {"type": "integer"},
            "within": {"type": "object"},
        },
        "required": ["query"],
    })
}

/// The fields of a question, as a schema.
pub(super) fn ask_fields() -> Value {
    json!({
        "properties": {
            "question": {"type": "string"},
            "strict": {"type": "boolean"},
            "within": {"type": "object"},
        },
        "required": ["question"],
    })
}

/// The fields of `within`.
fn within_fields() -> Value {
    let list = json!({"type": "array"});
    json!({"properties": {
        "source": list,
        "path": list,
        "tag": list,
        "after": {"type": "string"},
        "before": {"type": "string"},
    }})
}

/// The body as a value of its type.
///
/// # Errors
/// `INVALID_ARGS` with the field that does not fit.
pub(super) fn parsed<T: DeserializeOwned>(body: &Bytes, fields: Value) -> Result<T> {
    let given: Value =
        serde_json::from_slice(body).map_err(|e| refused(format!("the body is not JSON: {e}")))?;
    if !given.is_object() {
        return Err(refused("the body is not a JSON object".to_owned()));
    }
    let mut fitting = fitted(fields, given, "")?;
    if let Some(within) = fitting.get_mut("within") {
        if !within.is_object() {
            return Err(refused("`within` must be an object".to_owned()));
        }
        *within = fitted(within_fields(), within.take(), "within.")?;
    }
    serde_json::from_value(fitting).map_err(|e| refused(format!("the body does not fit: {e}")))
}

/// The object with its fields in their types; `of` comes before the name of a field in a failure.
fn fitted(fields: Value, given: Value, of: &str) -> Result<Value> {
    let schema = match fields {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    fit(&schema, given).map_err(|failure| {
        let message = failure.message.replacen('`', &format!("`{of}"), 1);
        refused(message.replace("no argument", "no field"))
    })
}

fn refused(why: String) -> Failure {
    Failure::new(ErrorCode::InvalidArgs, why)
        .with_hint("docs/serve.md shows what this address takes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::WantedSearch;

    fn search(body: &Value) -> Result<WantedSearch> {
        parsed(&Bytes::from(body.to_string()), search_fields())
    }

    #[test]
    fn what_can_mean_only_one_thing_is_taken() {
        let body = json!({"query": "x", "limit": "3", "recent": null, "within": {"tag": "a"}});
        let wanted = search(&body).unwrap();
        assert_eq!((wanted.limit, wanted.recent), (Some(3), None));
        assert_eq!(wanted.within.tag, ["a"]);
        assert!(search(&json!({"query": "x", "within": null})).is_ok());
    }

    #[test]
    fn what_does_not_fit_is_refused_by_its_name() {
        let told: Vec<String> = [
            json!([]),
            json!({}),
            json!({"query": 5}),
            json!({"query": "x", "limit": "three"}),
            json!({"query": "x", "limt": 3}),
            json!({"query": "x", "within": "a"}),
            json!({"query": "x", "within": {"tag": 1}}),
            json!({"query": "x", "within": {"tags": []}}),
        ]
        .iter()
        .map(|body| search(body).unwrap_err().message)
        .collect();
        insta::assert_snapshot!(told.join("\n"), @r"
        the body is not a JSON object
        `query` is missing
        `query` must be text
        `limit` must be a whole number from 0 on
        there is no field `limt`; there are limit, query, recent, within
        `within` must be an object
        `within.tag` must be a list of texts
        there is no field `within.tags`; there are after, before, path, source, tag
        ");
    }
}
