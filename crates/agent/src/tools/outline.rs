//! `outline`: the structure of a file.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::outcome::Output;
use super::symbols::symbols;
use super::text::ReadFile;
use super::{Bound, Spec, ToolEffect, schema};
use local_agent_text::error::Result;

/// Maximum number of names in one result.
const MAX_NAMES: usize = 1000;

pub(super) const SPEC: Spec = Spec {
    name: "outline",
    description: "Lists the headings of a note, or the symbols that a source file defines, with their lines.",
    effect: ToolEffect::Reads,
    admissible: false,
    schema: schema::of::<OutlineArgs>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OutlineArgs {
    /// The file.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
}

fn run(bound: &Bound, args: Value) -> Result<Output> {
    let args: OutlineArgs = schema::parse(args)?;
    let file = ReadFile::of(bound, &args.path)?;
    let mut found = symbols(&file)?;
    found.retain(|symbol| symbol.is_definition);
    let count = found.len();
    found.truncate(MAX_NAMES);
    let mut text = String::new();
    for symbol in &found {
        let what = match symbol.level {
            0 => format!("{} {}", symbol.kind, symbol.name),
            level => format!("{} {}", "#".repeat(level.into()), symbol.name),
        };
        text.push_str(&format!("{}-{}: {what}\n", symbol.line, symbol.end_line));
    }
    if count > MAX_NAMES {
        text.push_str(&format!("TRUNCATED: {} more\n", count - MAX_NAMES));
    }
    let facts = json!({
        "path": file.at.to_string(),
        "sha256": file.sha256,
        "count": count,
        "truncated": count > MAX_NAMES,
        "symbols": found,
    });
    Ok(Output::new(facts, text))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, code, ok};
    use super::*;

    #[test]
    fn headings_and_symbols_are_listed_with_their_lines() {
        let world = World::new();
        world.write("a.md", "# One\n\ntext\n\n## Two\nmore\n");
        assert_eq!(
            ok(&world.run("outline", json!({"path": "a.md"})))["text"],
            "1-6: # One\n5-6: ## Two\n"
        );
        world.write("a.txt", "# One\n");
        assert_eq!(
            code(&world.run("outline", json!({"path": "a.txt"}))),
            "INVALID_ARGS"
        );
        world.write("src/a.rs", "struct A;\n\nfn b() {\n    A;\n}\n");
        #[cfg(feature = "code")]
        assert_eq!(
            ok(&world.run("outline", json!({"path": "src/a.rs"})))["text"],
            "1-1: class A\n3-5: function b\n"
        );
    }
}
