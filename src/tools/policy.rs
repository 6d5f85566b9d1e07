//! Who may call what: `allow`, `ask` (a person says yes at the terminal) or `deny`, a rule a tool.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::Confirm;
use crate::error::{ErrorCode, Failure, Result};

/// Who calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Caller {
    /// A person, by `local-agent tool run`.
    Person,
    /// A model, in a bounded loop.
    Model,
    /// An agent, over MCP.
    Agent,
}

impl Caller {
    /// Its stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Model => "model",
            Self::Agent => "agent",
        }
    }
}

/// The rule for one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    Allow,
    /// Each call needs a yes from the terminal, unless a person made it.
    Ask,
    Deny,
}

/// The rules and caps of `tools.*`.
#[derive(Debug, Clone)]
pub struct ToolPolicy {
    /// Rules by the names of tools; a tool that is not named is allowed.
    pub rules: BTreeMap<String, Rule>,
    /// Changes within a day.
    pub max_writes: u32,
    /// Changes of the last day that others have made, as the audit log counts them.
    pub writes_before: u32,
}

impl Default for ToolPolicy {
    fn default() -> Self {
        Self { rules: BTreeMap::new(), max_writes: 50, writes_before: 0 }
    }
}

impl ToolPolicy {
    /// The rule for a tool.
    pub fn rule(&self, tool: &str) -> Rule {
        self.rules.get(tool).copied().unwrap_or(Rule::Allow)
    }

    /// Whether this call may be made now.
    pub(super) fn admit(&self, tool: &str, caller: Caller, confirm: Option<&Confirm>, args: &Value) -> Result<()> {
        let refused = |why: &str| {
            Err(Failure::new(ErrorCode::ToolDenied, format!("`{tool}` was not run: {why}."))
                .with_hint(format!("see `tools.{tool}` in: local-agent config show")))
        };
        match (self.rule(tool), caller) {
            (Rule::Deny, _) => refused("the configuration denies it"),
            (Rule::Allow, _) | (Rule::Ask, Caller::Person) => Ok(()),
            (Rule::Ask, _) => {
                let Some(confirm) = confirm else { return refused("it needs a yes, and there is no terminal to ask at") };
                let question = format!("A {} wants to run `{tool}` with {args}.", caller.as_str());
                if confirm(&question)? { Ok(()) } else { refused("the person did not agree") }
            }
        }
    }
}
