//! Sandboxed tools with which a person, a model's loop or an agent may use the files below the
//! roots.
//!
//! Only a [`ToolFactory`] makes tools, always over one sandbox. So every tool has roots, limits and
//! a policy. A tool reads everything through the sandbox's handles. It never panics, and every
//! failure is readable for its caller: invalid arguments, refused paths and missing files give a
//! [`ToolOutcome`] with a stable code, one sentence and a suggestion.
//!
//! | file | tool |
//! | --- | --- |
//! | `read_text_file` | text of one file, by characters, by bytes or by lines |
//! | `list_dir` | the contents of a folder |
//! | `grep` | lines that a regular expression matches |
//! | `outline`, `read_symbol`, `find_defs`, `find_refs` | headings of notes, symbols of source files |
//! | `related_files` | notes joined by links and tags |
//! | `propose_write`, `delete` | proposals that a person must confirm at the terminal |

mod change;
mod delete;
mod files;
mod find_defs;
mod find_refs;
mod grep;
pub(crate) mod link_target;
mod list_dir;
pub(crate) mod notes;
mod outcome;
mod outline;
mod policy;
mod propose_write;
mod read_symbol;
mod read_text_file;
mod related_files;
mod schema;
mod symbols;
mod text;

#[cfg(test)]
mod testing;

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use serde_json::Value;

use local_agent_files::sandbox::Sandbox;
use local_agent_text::error::{ErrorCode, Failure, Result};

pub use outcome::{Output, ToolOutcome};
pub use policy::{Caller, Rule, ToolPolicy};
pub(crate) use symbols::definitions;

/// Every tool, in listing order.
const SPECS: &[&Spec] = &[
    &read_text_file::SPEC,
    &list_dir::SPEC,
    &grep::SPEC,
    &outline::SPEC,
    &read_symbol::SPEC,
    &find_defs::SPEC,
    &find_refs::SPEC,
    &related_files::SPEC,
    &propose_write::SPEC,
    &delete::SPEC,
];

/// What a tool does to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    /// Changes nothing. Only such tools are ever offered to a model's loop or over MCP.
    Reads,
    /// Proposes a change that a person must confirm.
    Writes,
}

/// The description of one tool, without its sandbox.
struct Spec {
    name: &'static str,
    /// For people and models: what it does, in one or two sentences.
    description: &'static str,
    effect: ToolEffect,
    /// Whether its results may be evidence, because they are exact text of a file with its
    /// position.
    admissible: bool,
    schema: fn() -> Value,
    run: fn(&Bound, Value) -> Result<Output>,
}

/// A call, in the form of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Who called.
    pub caller: Caller,
    /// The name of the tool. An unknown one is recorded as called, without control characters.
    pub tool: String,
    /// The subject of the call: the requested path, name or pattern, shortened.
    pub subject: String,
    /// `ok`, or the code of the failure.
    pub outcome: String,
    /// The true reason behind a `FILE_NOT_FOUND`, only for the operator; for a refused call, who or
    /// what refused it.
    pub why: Option<String>,
    /// Number of bytes handed out.
    pub bytes: u64,
}

/// Writes to the audit log; if it fails, the call fails too.
pub type Audit = dyn Fn(&AuditRow) -> Result<()> + Send + Sync;

/// Asks the person at the terminal: receives the whole proposal, and returns whether the person
/// confirmed.
pub type Confirm = dyn Fn(&str) -> Result<bool> + Send + Sync;

/// Makes tools over one sandbox.
#[derive(Clone)]
pub struct ToolFactory(Arc<Bound>);

/// Shared by all tools of one factory.
struct Bound {
    sandbox: Sandbox,
    policy: ToolPolicy,
    caller: Caller,
    audit: Option<Arc<Audit>>,
    confirm: Option<Arc<Confirm>>,
    /// Number of changes so far.
    writes: AtomicU32,
}

impl ToolFactory {
    /// Tools for a person, without an audit log and without a terminal for confirmations. Tools
    /// that need one are refused.
    pub fn new(sandbox: Sandbox, policy: ToolPolicy) -> Self {
        let writes = AtomicU32::new(0);
        Self(Arc::new(Bound {
            sandbox,
            policy,
            caller: Caller::Person,
            audit: None,
            confirm: None,
            writes,
        }))
    }

    /// The same tools for another caller, with an audit log and a terminal.
    #[must_use]
    pub fn with(
        self,
        caller: Caller,
        audit: Option<Arc<Audit>>,
        confirm: Option<Arc<Confirm>>,
    ) -> Self {
        let (sandbox, policy) = (self.0.sandbox.clone(), self.0.policy.clone());
        Self(Arc::new(Bound {
            sandbox,
            policy,
            caller,
            audit,
            confirm,
            writes: AtomicU32::new(0),
        }))
    }

    /// The same tools over another sandbox, with the count of changes reset.
    #[must_use]
    pub fn over(&self, sandbox: Sandbox) -> Self {
        let Bound {
            policy,
            caller,
            audit,
            confirm,
            ..
        } = &*self.0;
        Self(Arc::new(Bound {
            sandbox,
            policy: policy.clone(),
            caller: *caller,
            audit: audit.clone(),
            confirm: confirm.clone(),
            writes: AtomicU32::new(0),
        }))
    }

    /// Every tool, including those that propose changes and those that the policy denies.
    pub fn all(&self) -> Vec<Tool> {
        SPECS
            .iter()
            .map(|spec| Tool {
                spec,
                bound: Arc::clone(&self.0),
            })
            .collect()
    }

    /// The tools that may be offered to a model or an agent: read-only, and not denied by the
    /// policy.
    pub fn read_only(&self) -> Vec<Tool> {
        self.all()
            .into_iter()
            .filter(|tool| self.is_offered(tool))
            .collect()
    }

    /// Whether the tool only reads and the policy does not deny it.
    fn is_offered(&self, tool: &Tool) -> bool {
        tool.effect() == ToolEffect::Reads && self.0.policy.rule(tool.name()) != Rule::Deny
    }

    /// One tool by its name.
    pub fn get(&self, name: &str) -> Option<Tool> {
        self.all().into_iter().find(|tool| tool.name() == name)
    }

    /// Runs the tool with this name from `offered`; an unknown name gives a normal failed outcome.
    pub fn run_among(&self, offered: &[Tool], name: &str, args: &Value) -> ToolOutcome {
        match offered.iter().find(|tool| tool.name() == name) {
            Some(tool) => tool.run(args),
            None => {
                let names: Vec<&str> = offered.iter().map(Tool::name).collect();
                let name: String = name.chars().filter(|c| !c.is_control()).take(80).collect();
                let failure =
                    Failure::new(ErrorCode::ToolError, format!("There is no tool `{name}`."))
                        .with_hint(format!("the tools are: {}", names.join(", ")));
                let outcome = ToolOutcome::failed(&name, failure);
                self.0.audited(outcome, "")
            }
        }
    }
}

impl Bound {
    fn audited(&self, outcome: ToolOutcome, subject: &str) -> ToolOutcome {
        let Some(audit) = &self.audit else {
            return outcome;
        };
        let why = match outcome.code() {
            Some(ErrorCode::FileNotFound) => {
                self.sandbox.explain(subject).map(|why| why.to_string())
            }
            // The code does not say whether a person refused, or nobody could be asked.
            Some(ErrorCode::WriteDenied | ErrorCode::ToolDenied) => outcome
                .result()
                .err()
                .map(|failure| failure.message.clone()),
            _ => None,
        };
        let row = AuditRow {
            caller: self.caller,
            tool: outcome.tool().to_owned(),
            subject: subject.chars().take(200).collect(),
            outcome: outcome.code().map_or("ok", ErrorCode::as_str).to_owned(),
            why,
            bytes: outcome.bytes(),
        };
        match audit(&row) {
            Ok(()) => outcome,
            // A result that cannot be recorded is not returned.
            Err(failure) => ToolOutcome::failed(outcome.tool(), failure),
        }
    }
}

/// One tool, bound to its sandbox.
#[derive(Clone)]
pub struct Tool {
    spec: &'static Spec,
    bound: Arc<Bound>,
}

impl Tool {
    /// Its stable name.
    pub fn name(&self) -> &'static str {
        self.spec.name
    }

    /// What it does.
    pub fn description(&self) -> &'static str {
        self.spec.description
    }

    /// JSON schema of its arguments, an object.
    pub fn schema(&self) -> Value {
        (self.spec.schema)()
    }

    /// Whether it reads or proposes changes.
    pub fn effect(&self) -> ToolEffect {
        self.spec.effect
    }

    /// Whether its results may be cited as evidence.
    pub fn is_admissible(&self) -> bool {
        self.spec.admissible
    }

    /// The policy's rule for it.
    pub fn rule(&self) -> Rule {
        self.bound.policy.rule(self.name())
    }

    /// Runs it. All failures and refusals are in the outcome; the call is in the audit log.
    pub fn run(&self, args: &Value) -> ToolOutcome {
        let outcome = match self
            .admit(args)
            .and_then(|()| (self.spec.run)(&self.bound, args.clone()))
        {
            Ok(output) => ToolOutcome::done(self.name(), output),
            Err(failure) => ToolOutcome::failed(self.name(), failure),
        };
        self.bound.audited(outcome, &subject(args))
    }

    /// Checks the policy, then the arguments against the schema, then asks the person if the rule
    /// is `ask`. So the arguments shown to the person are valid.
    fn admit(&self, args: &Value) -> Result<()> {
        // Only a person can propose changes, whatever tools a caller was offered.
        if self.effect() == ToolEffect::Writes && self.bound.caller != Caller::Person {
            let message = format!(
                "`{}` changes files, and only a person may call it.",
                self.name()
            );
            return Err(Failure::new(ErrorCode::ToolDenied, message)
                .with_hint("tell the person what to change"));
        }
        let admission = self.bound.policy.admission(
            self.name(),
            self.bound.caller,
            self.bound.confirm.as_deref(),
        )?;
        schema::check(self.name(), &self.schema(), args)?;
        admission.confirmed(self.name(), self.bound.caller, args)
    }
}

/// The argument that describes the subject of a call.
fn subject(args: &Value) -> String {
    ["path", "pattern", "symbol"]
        .iter()
        .find_map(|key| args[*key].as_str())
        .unwrap_or_default()
        .to_owned()
}
