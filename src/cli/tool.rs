//! `tool list`, `tool describe`, `tool run`, `tool log`: the tools on the command line.

use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::args::{ToolCommand, ToolRun};
use super::context::Context;
use super::enter::Needs;
use super::index::extend;
use super::output::{count, talk, visible};
use super::toolbox;
use local_agent_agent::config::ToolRule;
use local_agent_agent::runs::{Ledger, Line, LineKind};
use local_agent_agent::tools::{Caller, Tool, ToolEffect, ToolFactory};
use local_agent_text::error::{ErrorCode, Failure, Result};

pub(super) fn run(context: &Context, command: &ToolCommand) -> Result<ExitCode> {
    match command {
        ToolCommand::List => list(context),
        ToolCommand::Describe { name } => describe(context, name),
        ToolCommand::Run(args) => run_one(context, args),
        ToolCommand::Log { limit } => log(context, *limit),
    }
}

fn tools(context: &Context) -> Result<ToolFactory> {
    let config = context.load()?.config;
    toolbox::factory(context, &config, Caller::Person, None)
}

fn find(tools: &ToolFactory, name: &str) -> Result<Tool> {
    tools.get(name).ok_or_else(|| {
        let names: Vec<&str> = tools.all().iter().map(Tool::name).collect();
        Failure::new(ErrorCode::ToolError, format!("There is no tool `{name}`."))
            .with_hint(format!("the tools are: {}", names.join(", ")))
    })
}

/// One tool, in the form of `tool list --json` and `tool describe --json`.
#[derive(Serialize, JsonSchema)]
pub(super) struct ToolView {
    name: &'static str,
    description: &'static str,
    effect: &'static str,
    rule: ToolRule,
    admissible_as_evidence: bool,
    /// The schema of its arguments; only in a description.
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<Value>,
}

/// The output of `tool list --json`.
#[derive(Serialize, JsonSchema)]
pub(super) struct ToolsView {
    count: usize,
    tools: Vec<ToolView>,
}

/// The output of `tool log --json`.
#[derive(Serialize, JsonSchema)]
pub(super) struct CallsView<'a> {
    count: usize,
    calls: Vec<&'a Line>,
}

fn facts(tool: &Tool) -> ToolView {
    ToolView {
        name: tool.name(),
        description: tool.description(),
        effect: if tool.effect() == ToolEffect::Reads {
            "reads"
        } else {
            "proposes changes"
        },
        rule: tool.rule(),
        admissible_as_evidence: tool.is_admissible(),
        schema: None,
    }
}

fn list(context: &Context) -> Result<ExitCode> {
    let tools = tools(context)?.all();
    if context.out.json {
        let body = context.body(&ToolsView {
            count: tools.len(),
            tools: tools.iter().map(facts).collect(),
        })?;
        context.out.json(body);
        return Ok(ExitCode::SUCCESS);
    }
    for tool in &tools {
        let rule = tool.rule().as_str();
        context.out.line(&format!(
            "{:<15} {rule:<6} {}",
            tool.name(),
            tool.description()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(context: &Context, name: &str) -> Result<ExitCode> {
    let tool = find(&tools(context)?, name)?;
    if context.out.json {
        let body = context.body(&ToolView {
            schema: Some(tool.schema()),
            ..facts(&tool)
        })?;
        context.out.json(body);
    } else {
        context
            .out
            .line(&format!("{}: {}", tool.name(), tool.description()));
        let schema = tool.schema();
        let required: Vec<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        for (argument, one) in schema["properties"].as_object().into_iter().flatten() {
            let must = if required.contains(&argument.as_str()) {
                " (required)"
            } else {
                ""
            };
            let kind = match &one["type"] {
                Value::Array(kinds) => kinds
                    .iter()
                    .filter_map(Value::as_str)
                    .find(|k| *k != "null")
                    .unwrap_or_default(),
                kind => kind.as_str().unwrap_or_default(),
            };
            let doc = one["description"].as_str().unwrap_or_default();
            context
                .out
                .line(&format!("  --arg {argument}=<{kind}>{must}  {doc}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn run_one(context: &Context, args: &ToolRun) -> Result<ExitCode> {
    let config = context.load()?.config;
    let tool = find(
        &toolbox::factory(context, &config, Caller::Person, None)?,
        &args.name,
    )?;
    context.enter(
        &config,
        &Needs {
            changes_sources: tool.effect() == ToolEffect::Writes,
            ..Needs::state()
        },
    )?;
    let given = match &args.json_args {
        Some(text) => serde_json::from_str(text).map_err(|e| {
            Failure::new(
                ErrorCode::InvalidArgs,
                format!("--json-args is not JSON: {e}."),
            )
            .with_command(format!("local-agent tool describe {}", args.name))
        })?,
        None => typed(&tool.schema(), &args.args)?,
    };
    let outcome = tool.run(&given);
    let output = outcome.result().map_err(Clone::clone)?;
    if context.out.json {
        let mut body = outcome.to_json();
        extend(&mut body, context.roots());
        context.out.json(body);
        return Ok(ExitCode::SUCCESS);
    }
    // A confirmed change has already been shown.
    if output.data.get("applied") == Some(&Value::Bool(true)) {
        let path = output.data.get("path").and_then(Value::as_str);
        let path = path.unwrap_or_default();
        context
            .out
            .line(&context.out.shown(&format!("written: {path}")));
        return Ok(ExitCode::SUCCESS);
    }
    context.out.raw(&context.out.shown(&output.text));
    if output.text.is_empty() {
        talk(&why_empty(&args.name, &output.data));
    }
    if !output.text.is_empty() && !output.text.ends_with('\n') {
        talk("");
    }
    if output.data.get("truncated") == Some(&Value::Bool(true)) {
        let next = ["next_start_line", "next_offset"]
            .iter()
            .find_map(|key| Some((key, output.data.get(*key)?.as_u64()?)));
        let more = next.map_or_else(String::new, |(key, n)| format!(" ({key}: {n})"));
        talk(&format!("this is not all{more}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// The message for a result without text.
fn why_empty(tool: &str, data: &Map<String, Value>) -> String {
    match (
        number_in(data, "first_line"),
        number_in(data, "total_lines"),
    ) {
        (Some(first), Some(total)) if first > total => {
            let path = data.get("path").and_then(Value::as_str).unwrap_or_default();
            format!(
                "{} has {}, so there is no line {first}",
                visible(path),
                count(total, "line")
            )
        }
        _ => format!("{tool} found nothing"),
    }
}

/// A whole number in the result.
fn number_in(data: &Map<String, Value>, name: &str) -> Option<u64> {
    data.get(name).and_then(Value::as_u64)
}

/// Converts `name=value` pairs to the types in the schema. A value of another type stays text, and
/// the schema rejects it.
fn typed(schema: &Value, pairs: &[String]) -> Result<Value> {
    let mut out = Map::new();
    for pair in pairs {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(Failure::new(
                ErrorCode::InvalidArgs,
                format!("`{pair}` is not NAME=VALUE."),
            )
            .with_hint("--arg path=notes:plan.md"));
        };
        let kinds = &schema["properties"][name]["type"];
        let parsed = if is_kind(kinds, "string") {
            None
        } else {
            serde_json::from_str(value).ok()
        };
        if out
            .insert(
                name.to_owned(),
                parsed.unwrap_or_else(|| Value::String(value.to_owned())),
            )
            .is_some()
        {
            return Err(Failure::new(
                ErrorCode::InvalidArgs,
                format!("`{name}` is given twice."),
            ));
        }
    }
    Ok(Value::Object(out))
}

/// Whether a schema allows the type.
fn is_kind(kinds: &Value, kind: &str) -> bool {
    kinds.as_str() == Some(kind)
        || kinds
            .as_array()
            .is_some_and(|k| k.iter().any(|k| k == kind))
}

fn log(context: &Context, limit: usize) -> Result<ExitCode> {
    let config = context.load()?.config;
    context.enter(&config, &Needs::nothing())?;
    let ledger = Ledger::new(&config.runs.dir, &config.memory.db_path);
    let look = ledger.look()?;
    // A ledger that was tampered with is not shown as if it were intact.
    look.anchor?;
    let chain = look.chain.unwrap_or_default();
    let calls: Vec<_> = chain
        .lines
        .iter()
        .rev()
        .filter(|(line, _)| line.kind == LineKind::Tool)
        .collect();
    if context.out.json {
        let body = context.body(&CallsView {
            count: calls.len(),
            calls: calls.iter().take(limit).map(|(line, _)| line).collect(),
        })?;
        context.out.json(body);
        return Ok(ExitCode::SUCCESS);
    }
    for (line, _) in calls.into_iter().take(limit) {
        let Some(tool) = &line.tool else { continue };
        let why = tool
            .why
            .as_ref()
            .map_or_else(String::new, |why| format!(" ({why})"));
        let text = format!(
            "{}  {:<6} {:<15} {}{why}  {} bytes  {}",
            line.at, tool.caller, tool.name, tool.outcome, tool.bytes, tool.subject
        );
        // A subject is what a caller sent; it must not look like a line of its own.
        let text = context.out.shown(&text).replace(['\n', '\r'], " ");
        context.out.line(&text);
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pairs_get_the_types_of_the_schema() {
        let schema = json!({"properties": {
            "path": {"type": "string"}, "n": {"type": ["integer", "null"]}, "yes": {"type": ["boolean", "null"]},
        }});
        let pairs = |pairs: &[&str]| {
            typed(
                &schema,
                &pairs.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>(),
            )
        };
        assert_eq!(
            pairs(&["path=12", "n=3", "yes=true", "other=x"]).unwrap(),
            json!({"path": "12", "n": 3, "yes": true, "other": "x"})
        );
        assert_eq!(pairs(&["n=abc"]).unwrap(), json!({"n": "abc"}));
        assert_eq!(pairs(&["path=a=b"]).unwrap(), json!({"path": "a=b"}));
        assert!(pairs(&["path"]).is_err() && pairs(&["n=1", "n=2"]).is_err());
    }
}
