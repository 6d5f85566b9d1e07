//! Makes the tools for this configuration, with the audit log for every call, and the terminal.

use std::sync::Arc;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::context::Context;
use super::terminal;
use local_agent_agent::config::Config;
use local_agent_agent::runs::{Ledger, LineKind, RunId, ToolLine};
use local_agent_agent::tools::{
    Audit, AuditRow, Caller, Confirm, Tool, ToolEffect, ToolFactory, ToolPolicy,
};
use local_agent_text::error::Result;

/// Tools for `caller`; `run` is the run to which their calls belong.
pub(super) fn factory(
    context: &Context,
    config: &Config,
    caller: Caller,
    run: Option<RunId>,
) -> Result<ToolFactory> {
    let mut policy = ToolPolicy::from(&config.tools);
    if caller == Caller::Person {
        policy.writes_before = writes_of_today(&ledger(config))?;
    }
    let tools = ToolFactory::new(context.sandbox(config)?, policy);
    let audit = audit(config, &tools, run);
    // An agent's client owns the terminal, and without a terminal nobody can be asked.
    let can_ask = caller != Caller::Agent && terminal::is_there();
    let confirm: Option<Arc<Confirm>> = can_ask.then(|| Arc::new(terminal::agrees) as _);
    Ok(tools.with(caller, Some(audit), confirm))
}

/// Enters calls in the ledger, as calls of `run`. With `runs.enabled: false`, only calls of tools
/// in `tools` that change files are entered.
pub(super) fn audit(config: &Config, tools: &ToolFactory, run: Option<RunId>) -> Arc<Audit> {
    audit_of(config, tools, run, None)
}

/// Like [`audit`], with another name for the caller.
pub(super) fn audit_of(
    config: &Config,
    tools: &ToolFactory,
    run: Option<RunId>,
    caller: Option<String>,
) -> Arc<Audit> {
    let (ledger, all) = (ledger(config), config.runs.enabled);
    let writers: Vec<&str> = tools
        .all()
        .iter()
        .filter(|t| t.effect() == ToolEffect::Writes)
        .map(Tool::name)
        .collect();
    Arc::new(move |row: &AuditRow| {
        if !all && !writers.contains(&row.tool.as_str()) {
            return Ok(());
        }
        let mut line = line(row);
        if let Some(caller) = &caller {
            line.caller.clone_from(caller);
        }
        ledger.enter_tool(run.as_ref(), line).map(drop)
    })
}

fn ledger(config: &Config) -> Ledger {
    Ledger::new(&config.runs.dir, &config.memory.db_path)
}

fn line(row: &AuditRow) -> ToolLine {
    ToolLine {
        caller: row.caller.as_str().to_owned(),
        name: row.tool.clone(),
        subject: row.subject.clone(),
        outcome: row.outcome.clone(),
        why: row.why.clone(),
        bytes: row.bytes,
    }
}

/// The number of changes that a person confirmed in the last 24 hours.
fn writes_of_today(ledger: &Ledger) -> Result<u32> {
    let since = OffsetDateTime::now_utc() - time::Duration::DAY;
    let recent = |at: &str| OffsetDateTime::parse(at, &Rfc3339).is_ok_and(|at| at >= since);
    let chain = ledger.read()?.unwrap_or_default();
    let agreed = chain.lines.iter().rev().filter(|(line, _)| {
        line.kind == LineKind::Tool
            && line.tool.as_ref().is_some_and(|t| t.outcome == "agreed")
            && recent(&line.at)
    });
    Ok(u32::try_from(agreed.count()).unwrap_or(u32::MAX))
}
