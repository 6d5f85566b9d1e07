//! Decides which tools may be called: `allow`, `ask` (a person confirms at the terminal) or `deny`,
//! one rule per tool.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Confirm;
pub use crate::config::ToolRule as Rule;
use crate::config::Tools;
use local_agent_text::error::{ErrorCode, Failure, Result};

/// The caller of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
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

/// The rules and caps of `tools.*`.
#[derive(Debug, Clone)]
pub struct ToolPolicy {
    /// Rules by tool name; a tool without a rule is allowed.
    pub rules: BTreeMap<String, Rule>,
    /// Maximum number of changes per day.
    pub max_writes: u32,
    /// Number of changes by others within the last day, according to the audit log.
    pub writes_before: u32,
}

impl Default for ToolPolicy {
    fn default() -> Self {
        Self {
            rules: BTreeMap::new(),
            max_writes: 50,
            writes_before: 0,
        }
    }
}

impl From<&Tools> for ToolPolicy {
    fn from(tools: &Tools) -> Self {
        let rules = tools
            .rules
            .iter()
            .map(|(name, rule)| ((*name).to_owned(), *rule))
            .collect();
        Self {
            rules,
            max_writes: tools.max_writes,
            writes_before: 0,
        }
    }
}

impl ToolPolicy {
    /// The rule for a tool.
    pub fn rule(&self, tool: &str) -> Rule {
        self.rules.get(tool).copied().unwrap_or(Rule::Allow)
    }

    /// Whether a call may be made; its arguments are checked later.
    ///
    /// Errors: `TOOL_DENIED`.
    pub(super) fn admission<'c>(
        &self,
        tool: &str,
        caller: Caller,
        confirm: Option<&'c Confirm>,
    ) -> Result<Admission<'c>> {
        match (self.rule(tool), caller) {
            (Rule::Deny, _) => Err(refused(tool, "the configuration denies it")),
            (Rule::Allow, _) | (Rule::Ask, Caller::Person) => Ok(Admission::Free),
            (Rule::Ask, _) => confirm
                .map(Admission::Confirm)
                .ok_or_else(|| refused(tool, "it needs a yes, and there is no terminal to ask at")),
        }
    }
}

/// How a call that the policy does not deny is admitted.
pub(super) enum Admission<'c> {
    /// Immediately.
    Free,
    /// After a person has agreed.
    Confirm(&'c Confirm),
}

impl Admission<'_> {
    /// Asks the person if the call needs a confirmation.
    ///
    /// Errors: `TOOL_DENIED` if the person does not agree; those of the terminal.
    pub(super) fn confirmed(self, tool: &str, caller: Caller, args: &Value) -> Result<()> {
        let Self::Confirm(confirm) = self else {
            return Ok(());
        };
        let question = format!("A {} wants to run `{tool}` with {args}.", caller.as_str());
        if confirm(&question)? {
            Ok(())
        } else {
            Err(refused(tool, "the person did not agree"))
        }
    }
}

fn refused(tool: &str, why: &str) -> Failure {
    Failure::new(
        ErrorCode::ToolDenied,
        format!("`{tool}` was not run: {why}."),
    )
    .with_command(format!("see `tools.{tool}` in: local-agent config show"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::super::ToolFactory;
    use super::super::testing::{World, code, ok};
    use super::*;

    fn tools(world: &World, rule: Rule, caller: Caller, yes: Option<bool>) -> ToolFactory {
        let policy = ToolPolicy {
            rules: [("list_dir".to_owned(), rule)].into(),
            ..ToolPolicy::default()
        };
        let confirm = yes.map(|yes| -> Arc<Confirm> { Arc::new(move |_: &str| Ok(yes)) });
        ToolFactory::new(world.sandbox(), policy).with(caller, None, confirm)
    }

    #[test]
    fn deny_is_for_everybody_and_ask_needs_a_yes_for_all_but_a_person() {
        let world = World::new();
        let run = |tools: &ToolFactory| tools.get("list_dir").unwrap().run(&json!({}));
        for caller in [Caller::Person, Caller::Model, Caller::Agent] {
            let denied = tools(&world, Rule::Deny, caller, Some(true));
            assert_eq!(code(&run(&denied)), "TOOL_DENIED");
            assert!(
                denied
                    .read_only()
                    .iter()
                    .all(|tool| tool.name() != "list_dir")
            );
            ok(&run(&tools(&world, Rule::Allow, caller, None)));
        }
        ok(&run(&tools(&world, Rule::Ask, Caller::Person, None)));
        for caller in [Caller::Model, Caller::Agent] {
            assert_eq!(
                code(&run(&tools(&world, Rule::Ask, caller, None))),
                "TOOL_DENIED"
            );
            assert_eq!(
                code(&run(&tools(&world, Rule::Ask, caller, Some(false)))),
                "TOOL_DENIED"
            );
            ok(&run(&tools(&world, Rule::Ask, caller, Some(true))));
        }
    }

    #[test]
    fn the_policy_speaks_before_the_schema_and_the_schema_before_the_person() {
        let world = World::new();
        let wrong = |tools: &ToolFactory| {
            tools
                .get("list_dir")
                .unwrap()
                .run(&json!({"no_such_argument": 1}))
        };
        let denied = wrong(&tools(&world, Rule::Deny, Caller::Model, None));
        assert_eq!(code(&denied), "TOOL_DENIED");
        let nobody = wrong(&tools(&world, Rule::Ask, Caller::Model, None));
        assert_eq!(code(&nobody), "TOOL_DENIED");
        let asked = wrong(&tools(&world, Rule::Ask, Caller::Model, Some(false)));
        assert_eq!(code(&asked), "INVALID_ARGS");
    }

    #[test]
    fn every_tool_has_a_rule_in_the_configuration_and_every_rule_a_tool() {
        let world = World::new();
        let config = crate::config::Config::defaults(std::path::Path::new("/nowhere")).unwrap();
        let mut names: Vec<&str> = world
            .factory()
            .all()
            .iter()
            .map(super::super::Tool::name)
            .collect();
        names.sort_unstable();
        assert_eq!(
            config.tools.rules.keys().copied().collect::<Vec<_>>(),
            names
        );
    }
}
