//! Checks the published schema of `run.json` against records of real runs.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::World;
use crate::json_schema::{self, check};

fn schema() -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/run.schema.json");
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
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

#[test]
fn the_validator_rejects_outputs_that_their_schema_forbids() {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let args = ["query", "zebra"];
    let body = world.json(&args);
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut changed = body.clone();
        change(&mut changed);
        json_schema::misfit(&args, &changed).is_some()
    };
    assert_eq!(json_schema::misfit(&args, &body), None);
    assert!(refused(&|body| body["count"] = json!("one")));
    assert!(refused(&|body| body["outcome"] = json!("maybe")));
    assert!(refused(&|body| body["hits"][0]["lines"] = json!(3)));
    assert!(refused(&|body| body["surprise"] = json!(1)));
    assert!(refused(&|body| {
        body.as_object_mut().unwrap().remove("coverage");
    }));
}
