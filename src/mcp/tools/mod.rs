//! The tools: there are few, each has one task, and each description helps a model to choose.

mod ask;
mod documents;
mod memory;
mod notes;
mod search;
mod status;
mod verify;
mod words;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rmcp::handler::server::common::{schema_for_input, schema_for_output};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub(super) use words::closest_text;

use super::advice::CHANGE_ARGUMENT;
use super::arguments::fit;
use super::{NOT_DRAFTING, Service};
use local_agent_agent::config::{AskProvider, Config};
use local_agent_agent::operations::privacy;
use local_agent_agent::tools::{AuditRow, Caller, Tool as FileTool};
use local_agent_files::sandbox::Sandbox;
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};

/// All tools.
const SPECS: [&Spec; 10] = [
    &search::SPEC,
    &documents::GET,
    &documents::MULTI_GET,
    &notes::LINKS,
    &notes::TAGS,
    &notes::SIMILAR,
    &memory::SPEC,
    &ask::SPEC,
    &verify::SPEC,
    &status::SPEC,
];

/// One call.
pub(super) struct Call {
    pub(super) service: Arc<Service>,
    /// The sandbox, opened for this call.
    pub(super) sandbox: Sandbox,
    /// Set if the client has cancelled the call.
    pub(super) cancelled: Arc<AtomicBool>,
    /// Receives one sentence per step, if the client wants progress.
    pub(super) progress: Option<tokio::sync::mpsc::UnboundedSender<String>>,
    /// The size of a model's text so far; [`NOT_DRAFTING`] if no model writes.
    pub(super) drafted: Arc<AtomicUsize>,
    /// The client's name for the run's record.
    pub(super) asked_by: String,
}

impl Call {
    fn go_on(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Failure::new(
                ErrorCode::Cancelled,
                "the client took the call back",
            ));
        }
        Ok(())
    }

    /// Reports the size of a model's text so far; `None` if the model has finished.
    fn drafting(&self, characters: Option<usize>) {
        let characters = characters.unwrap_or(NOT_DRAFTING);
        self.drafted.store(characters, Ordering::Relaxed);
    }

    fn tell(&self, what: String) {
        if let Some(progress) = &self.progress {
            // The client may have disconnected; that is not an error.
            let _ = progress.send(what);
        }
    }
}

/// The output of a tool: text for a model, and the same as data.
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) data: Value,
}

impl Reply {
    fn new(text: String, data: &impl Serialize) -> Result<Self> {
        let data = serde_json::to_value(data)
            .map_err(|e| Failure::internal(format!("a result is not JSON: {e}")))?;
        Ok(Self { text, data })
    }

    /// The size of its text.
    fn bytes(&self) -> u64 {
        self.text.len() as u64
    }
}

/// One tool.
pub(super) struct Spec {
    pub(super) name: &'static str,
    description: &'static str,
    input: fn() -> Arc<JsonObject>,
    output: fn() -> Arc<JsonObject>,
    /// The argument with the subject of a call, for the audit log.
    subject: &'static str,
    run: fn(&Call, Value) -> Result<Reply>,
}

/// The tools that the configuration offers, in its order.
pub(super) fn offered(service: &Service) -> impl Iterator<Item = &'static Spec> {
    let names = &service.loaded.config.mcp.operations;
    names
        .iter()
        .filter_map(|name| SPECS.into_iter().find(|spec| spec.name == name.as_str()))
}

/// The names of all tools that a client is offered, those for files among them.
pub(super) fn offered_names(service: &Service) -> Vec<&'static str> {
    let operations = offered(service).map(|spec| spec.name);
    let files = service.file_tools().map(|tool| tool.name());
    operations.chain(files).collect()
}

/// The names of all tools.
pub fn names() -> impl Iterator<Item = &'static str> {
    SPECS.into_iter().map(|spec| spec.name)
}

impl Spec {
    /// The tool as clients see it.
    pub(super) fn listed(&self, service: &Service) -> Tool {
        // Only `ask` can contact a server, and only if one is configured.
        let reaches_out =
            self.name == "ask" && service.loaded.config.ask.provider != AskProvider::Extractive;
        let annotations = ToolAnnotations::new()
            .read_only(true)
            .destructive(false)
            .open_world(reaches_out);
        Tool::new(self.name, self.description, (self.input)())
            .with_raw_output_schema((self.output)())
            .with_annotations(annotations)
    }

    /// Runs the tool and enters the call in the audit log, even if the sandbox could not be opened.
    pub(super) fn run(
        &self,
        service: &Service,
        args: Value,
        call: impl FnOnce(Sandbox) -> Call,
    ) -> Result<Reply> {
        let subject: String = args[self.subject]
            .as_str()
            .unwrap_or_default()
            .chars()
            .take(200)
            .collect();
        let done = service
            .sandbox()
            .and_then(|sandbox| (self.run)(&call(sandbox), fit(&(self.input)(), args)?));
        enter(service, self.name, subject, done, Reply::bytes)
    }
}

/// Enters a call and returns its result. A result that cannot be entered is not returned.
pub(super) fn enter<T>(
    service: &Service,
    tool: &str,
    subject: String,
    done: Result<T>,
    bytes: impl FnOnce(&T) -> u64,
) -> Result<T> {
    let config = &service.loaded.config;
    let done = done.map_err(|failure| privacy::without_folders(config, failure));
    let done = done.map_err(|failure| with_first_step(config, failure));
    let outcome = done
        .as_ref()
        .err()
        .map_or("ok", |failure| failure.code.as_str());
    (service.audit)(&AuditRow {
        caller: Caller::Agent,
        tool: tool.to_owned(),
        subject,
        outcome: outcome.to_owned(),
        why: None,
        bytes: done.as_ref().map_or(0, bytes),
    })?;
    done
}

/// The failure for a missing index; without a source, `index` would fail too.
fn with_first_step(config: &Config, failure: Failure) -> Failure {
    let has_index = failure.code != ErrorCode::IndexMissing;
    if has_index || !config.sources.is_empty() {
        return failure;
    }
    failure.with_fix(Fix::ConfigureByCommand, config.first_step())
}

/// A file tool as clients see it.
pub(super) fn listed(tool: &FileTool) -> Tool {
    let schema = file_schema(tool);
    let annotations = ToolAnnotations::new()
        .read_only(true)
        .destructive(false)
        .open_world(false);
    Tool::new(tool.name(), tool.description(), schema).with_annotations(annotations)
}

fn file_schema(tool: &FileTool) -> Arc<JsonObject> {
    match tool.schema() {
        Value::Object(schema) => plain(Arc::new(schema)),
        _ => Arc::default(),
    }
}

/// Runs a file tool. It has its own limits, and its output says where the next part begins.
pub(super) fn on_files(service: &Service, name: &str, args: &Value) -> Result<Reply> {
    let files = match service.sandbox() {
        Ok(sandbox) => service.files.over(sandbox),
        Err(failure) => return enter(service, name, String::new(), Err(failure), Reply::bytes),
    };
    let readers = files.read_only();
    // A file tool enters its own calls. A call with invalid arguments does not reach it.
    let tool = readers.iter().find(|tool| tool.name() == name);
    let fitting = tool.map(|tool| fit(&file_schema(tool), args.clone()));
    if let Some(Err(failure)) = fitting {
        return enter(service, name, String::new(), Err(failure), Reply::bytes);
    }
    let args = fitting.transpose()?.unwrap_or(Value::Null);
    let outcome = files.run_among(&readers, name, &args);
    let config = &service.loaded.config;
    let output = outcome
        .result()
        .map_err(|failure| privacy::without_folders(config, failure.clone()))?;
    let mut text = output.text.clone();
    if text.is_empty() {
        text.push_str(&Value::Object(output.data.clone()).to_string());
    }
    Reply::new(text, &outcome.to_json())
}

fn input<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    // Every type of arguments is a struct, whose schema is an object: the test
    // `every_tool_has_a_schema` checks it.
    plain(schema_for_input::<T>().unwrap_or_default())
}

fn output<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    fields_of(&schema_for_output::<T>())
}

/// A short schema of arguments in types that every client supports. It has no number formats of
/// Rust, and no null, which means the same as an omitted argument.
fn plain(schema: Arc<JsonObject>) -> Arc<JsonObject> {
    let mut schema = Arc::unwrap_or_clone(schema);
    schema.remove("$schema");
    schema.remove("title");
    schema.remove("description");
    let mut whole = Value::Object(schema);
    simplify(&mut whole);
    match whole {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}

fn simplify(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, value| is_kept(name, value));
            if let Some(Value::Array(types)) = fields.get("type")
                && let Some(kind) = types.iter().find(|kind| *kind != "null").cloned()
            {
                fields.insert("type".to_owned(), kind);
            }
            fields.values_mut().for_each(simplify);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        _ => {}
    }
}

/// Whether a keyword of the schema is kept. A field may have the name of a keyword; then its value
/// is neither a text nor a number.
fn is_kept(name: &str, value: &Value) -> bool {
    match name {
        "format" => !value.is_string(),
        "default" => !(value.is_null() || value == &Value::Bool(false) || *value == json!([])),
        // A call that violates one of these gets an error that says so.
        "minimum" | "maximum" | "minLength" | "maxLength" => !value.is_number(),
        _ => true,
    }
}

/// The fields of results whose own fields an agent cannot guess.
const DESCRIBED: [&str; 4] = ["hits", "evidence", "coverage", "stale"];

/// A short schema of a result, because agents read it first: its fields, and what is inside those of
/// [`DESCRIBED`]. The types of plain values are plain in the result.
fn fields_of(schema: &JsonObject) -> Arc<JsonObject> {
    let fields = schema.get("properties").and_then(Value::as_object);
    let said = fields.into_iter().flatten().map(|(name, field)| {
        let names = names_inside(schema, field);
        let names = names.filter(|_| DESCRIBED.contains(&name.as_str()));
        let said = names.map_or_else(|| json!({}), |names| json!({"description": names}));
        (name.clone(), said)
    });
    let fields: JsonObject = said.collect();
    let short = [
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(fields)),
    ];
    Arc::new(short.into_iter().collect())
}

/// The names of the fields in a field that is an object (`{a, b}`) or a list of objects (`[{a, b}]`).
fn names_inside(schema: &JsonObject, field: &Value) -> Option<String> {
    let (link, is_list) = match field["items"]["$ref"].as_str() {
        Some(link) => (link, true),
        None => (field["$ref"].as_str()?, false),
    };
    let name = link.strip_prefix("#/$defs/")?;
    let inside = schema.get("$defs")?.get(name)?;
    let names: Vec<&str> = inside["properties"]
        .as_object()?
        .keys()
        .map(String::as_str)
        .collect();
    let names = format!("{{{}}}", names.join(", "));
    Some(match is_list {
        true => format!("[{names}]"),
        false => names,
    })
}

fn parse<T: DeserializeOwned>(args: Value) -> Result<T> {
    serde_json::from_value(args).map_err(|e| {
        Failure::new(
            ErrorCode::InvalidArgs,
            format!("the arguments do not fit: {e}"),
        )
        .with_hint(CHANGE_ARGUMENT)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_of_a_result_says_what_is_in_its_hits_and_evidence() {
        let of = |spec: &Spec, field: &str| {
            let schema = Value::Object((*(spec.output)()).clone());
            schema["properties"][field]["description"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let hits = of(&search::SPEC, "hits");
        assert!(
            hits.starts_with("[{") && hits.contains("cite, ") && hits.contains("fresh"),
            "{hits}"
        );
        assert!(of(&ask::SPEC, "evidence").contains("label"));
        for spec in [&search::SPEC, &ask::SPEC, &status::SPEC] {
            assert_eq!(of(spec, "coverage"), "{chunks, embedded}");
            assert_eq!(of(spec, "stale"), "[{fix, why}]");
        }
    }

    #[test]
    fn every_tool_has_a_schema() {
        for spec in SPECS {
            for schema in [(spec.input)(), (spec.output)()] {
                assert_eq!(schema["type"], "object", "{}", spec.name);
                assert!(
                    !Value::Object((*schema).clone())
                        .to_string()
                        .contains("\"format\""),
                    "{}",
                    spec.name
                );
            }
            let input = Value::Object((*(spec.input)()).clone()).to_string();
            assert!(
                !input.contains("anyOf") && !input.contains("null"),
                "{input}"
            );
        }
    }
}
