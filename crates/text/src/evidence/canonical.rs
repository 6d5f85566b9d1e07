//! JSON with exactly one spelling, so that its hash is meaningful.

use std::fmt::Write as _;

use serde_json::Value;

/// `value` as JSON with sorted keys and no white space between tokens.
///
/// Keys are sorted here and not by the map type, because a dependency can change that type's order.
/// Values must not contain floats, because their spelling depends on the library.
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_value(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by(|a, b| a.0.cmp(b.0));
            out.push('{');
            for (i, (key, item)) in entries.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write_value(item, out);
            }
            out.push('}');
        }
        Value::String(text) => write_string(text, out),
        scalar => {
            let _ = write!(out, "{scalar}");
        }
    }
}

/// A string as `serde_json` spells it; most need no escaping and are copied.
fn write_string(text: &str, out: &mut String) {
    if text.bytes().any(|b| b < 0x20 || b == b'"' || b == b'\\') {
        let _ = write!(out, "{}", Value::String(text.to_owned()));
        return;
    }
    out.push('"');
    out.push_str(text);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_value_has_one_spelling() {
        let a: Value =
            serde_json::from_str(r#"{"b":[1,{"z":null,"a":"\u00e9"}],"a":true}"#).unwrap();
        let b = json!({"a": true, "b": [1, {"a": "é", "z": null}]});
        assert_eq!(canonical_json(&a), canonical_json(&b));
        assert_eq!(
            canonical_json(&a),
            r#"{"a":true,"b":[1,{"a":"é","z":null}]}"#
        );
    }
}
