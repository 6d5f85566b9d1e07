//! `read_text_file`: text of one file.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::outcome::Output;
use super::{Bound, Effect, Spec, schema};
use crate::error::{ErrorCode, Failure, Result};
use crate::types::Sha256;

pub(super) const SPEC: Spec = Spec {
    name: "read_text_file",
    description: "Reads text of one file: the beginning, or some lines, or some bytes.",
    effect: Effect::Reads,
    admissible: true,
    schema: schema::of::<Args>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The file: `source:folder/file.md`, a path below a source, or a file name.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
}

fn run(bound: &Bound, args: Value) -> Result<Output> {
    let args: Args = schema::parse(args)?;
    let at = bound.sandbox.resolve(&args.path)?;
    let bytes = bound.sandbox.read(&at)?.bytes;
    let sha256 = Sha256::of(&bytes);
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::new(ErrorCode::FileReadError, format!("{at} is not UTF-8 text")).with_hint("convert the file to UTF-8")
    })?;
    Ok(Output::new(json!({"path": at.to_string(), "sha256": sha256}), text))
}
