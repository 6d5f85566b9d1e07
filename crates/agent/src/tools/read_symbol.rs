//! `read_symbol`: the text of one section of a note, or of one definition in a source file.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::outcome::Output;
use super::symbols::symbols;
use super::text::{ReadFile, prefix};
use super::{Bound, Spec, ToolEffect, schema};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// Maximum number of bytes in one result.
const MOST_BYTES: usize = 64 * 1024;

pub(super) const SPEC: Spec = Spec {
    name: "read_symbol",
    description: "Reads one section of a note by its heading, or one definition of a source file by its name.",
    effect: ToolEffect::Reads,
    admissible: true,
    schema: schema::of::<ReadSymbolArgs>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadSymbolArgs {
    /// The file.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// The heading or the name, as outline shows it.
    #[schemars(length(min = 1, max = 500))]
    symbol: String,
    /// Which of several with this name, from 1.
    #[schemars(range(min = 1, max = 1000))]
    occurrence: Option<u32>,
}

fn run(bound: &Bound, args: Value) -> Result<Output> {
    let args: ReadSymbolArgs = schema::parse(args)?;
    let file = ReadFile::of(bound, &args.path)?;
    let mut found = symbols(&file)?;
    found.retain(|symbol| symbol.is_definition);
    let wanted = args
        .symbol
        .trim()
        .trim_start_matches('#')
        .trim()
        .to_lowercase();
    let fits: Vec<_> = found
        .iter()
        .filter(|s| s.name == args.symbol)
        .chain(
            found
                .iter()
                .filter(|s| s.name != args.symbol && s.name.to_lowercase() == wanted),
        )
        .collect();
    let occurrence = args.occurrence.unwrap_or(1) as usize;
    let Some(symbol) = fits.get(occurrence - 1) else {
        let mut names: Vec<&str> = found.iter().map(|s| s.name.as_str()).collect();
        names.dedup();
        let there = format!("`{}` has {} of that name", file.at, fits.len());
        let message = if fits.is_empty() {
            format!(
                "`{}` has no heading or symbol `{}`.",
                file.at,
                prefix(&args.symbol, 80)
            )
        } else {
            format!("{there}, so there is no number {occurrence}.")
        };
        let hint = names
            .iter()
            .take(20)
            .copied()
            .collect::<Vec<_>>()
            .join(", ");
        return Err(Failure::new(ErrorCode::SymbolNotFound, message)
            .with_hint(format!("there are: {}", prefix(&hint, 600))));
    };
    let text = file.text()?;
    let whole = text.get(symbol.range.clone()).unwrap_or_default();
    let shown = prefix(whole, MOST_BYTES);
    let end = symbol.range.start + shown.len();
    let mut out = Output::new(
        json!({
            "path": file.at.to_string(),
            "sha256": file.sha256,
            "symbol": symbol.name,
            "kind": symbol.kind,
            "first_line": symbol.line,
            "last_line": symbol.end_line,
            "occurrence": occurrence,
            "occurrences": fits.len(),
            "truncated": shown.len() < whole.len(),
            "end": if shown.len() < whole.len() { "truncated" } else { "end_of_symbol" },
        }),
        shown,
    );
    out.evidence.extend(file.excerpt(symbol.range.start, end));
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, code, ok};
    use super::*;

    #[test]
    fn a_section_is_read_exactly_and_may_be_cited() {
        let world = World::new();
        let text = "# One\n\ntext\n\n## Two\nmore\n\n# Two\nagain\n";
        world.write("a.md", text);
        let outcome = world.run("read_symbol", json!({"path": "a.md", "symbol": "## two"}));
        let body = ok(&outcome);
        assert_eq!(
            (&body["text"], &body["occurrences"]),
            (&json!("## Two\nmore\n\n"), &json!(2))
        );
        let evidence = &outcome.result().unwrap().evidence[0];
        assert_eq!(
            evidence.span.slice(text.as_bytes()).unwrap(),
            evidence.text.as_bytes()
        );
        let second = ok(&world.run(
            "read_symbol",
            json!({"path": "a.md", "symbol": "Two", "occurrence": 2}),
        ));
        assert_eq!(second["text"], "# Two\nagain\n");
        for (symbol, n) in [("Three", 1), ("Two", 3)] {
            let outcome = world.run(
                "read_symbol",
                json!({"path": "a.md", "symbol": symbol, "occurrence": n}),
            );
            assert_eq!(code(&outcome), "SYMBOL_NOT_FOUND");
            assert_eq!(outcome.to_json()["hint"], "there are: One, Two");
        }
    }
}
