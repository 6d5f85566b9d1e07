//! The JSON Schema of what each command prints with `--json`, generated from the structs that are
//! printed.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::answer_view::AnswerView;
use super::chat::ChatView;
use super::clean::CleanView;
use super::config::{CheckedView, SettingsView, TrustedView};
use super::conflicts::ConflictsView;
use super::context::TextView;
use super::doctor::DoctorView;
use super::embed::EmbedView;
use super::eval::EvalView;
use super::eval_attacks::EvalAttacksView;
use super::eval_calibrate::EvalCalibrateView;
use super::eval_claims::EvalClaimsView;
use super::eval_drafts::EvalDraftsView;
use super::eval_natural::EvalNaturalView;
use super::folder_context::ContextsView;
use super::get::{ManyView, PieceView};
use super::import::ImportedView;
use super::index::{IndexView, SelectedView};
use super::init::InitializedView;
use super::mcp_clients::{ChangeView, ClientsView};
use super::memory::{
    AddedView, BegunView, DeletedView, ExportedView, ItemsView, MemoryView, RepairedView,
};
use super::models::{ModelsView, PulledView, VerifiedView};
use super::notes::{BacklinksView, LinksView, NotesView, SimilarView, TagsView};
use super::output::ProblemView;
use super::query::view::QueryView;
use super::runs::{HeadView, ListView, PruneView, ReplayView, ShowView, VerifyView};
use super::serve::ListeningView;
use super::serve::daemon::{ServerStateView, StoppedView};
use super::serve::tokens::{AddedTokenView, OwnTokenView, RemovedTokenView, TokensView};
use super::skill::InstalledView;
use super::source::{ChangedView, SourcesView};
use super::status::StatusView;
use super::tool::{CallsView, ToolView, ToolsView};
use super::try_it::TryView;
use super::verify::JudgedView;
use local_agent_agent::operations::RootFields;
use local_agent_agent::operations::run_log::RunFields;

/// The commands whose `--json` output has a schema, each with its schema. The first is `error`: the
/// object that every command prints when it fails.
pub fn json_schemas() -> Vec<(&'static str, Value)> {
    let mut all = schemas_of_views();
    for (command, schema) in &mut all {
        schema["description"] = if *command == "error" {
            "What every command prints with `--json` when it fails.".into()
        } else {
            format!("What `local-agent {command} --json` prints.").into()
        };
    }
    all
}

fn schemas_of_views() -> Vec<(&'static str, Value)> {
    vec![
        ("error", of::<ProblemView<'_>>()),
        ("ask", of_a_run::<AnswerView<'_>>()),
        ("backlinks", of::<BacklinksView<'_>>()),
        ("chat", of_a_run::<ChatView<'_>>()),
        ("clean", of::<CleanView>()),
        ("config check", of::<CheckedView<'_>>()),
        ("config show", of::<SettingsView<'_>>()),
        ("config trust", of::<TrustedView<'_>>()),
        ("conflicts", of::<ConflictsView<'_>>()),
        ("context add", of::<ContextsView>()),
        ("context remove", of::<ContextsView>()),
        ("context list", of::<ContextsView>()),
        ("doctor", of::<DoctorView<'_>>()),
        ("embed", of::<EmbedView<'_>>()),
        ("eval attacks", of::<EvalAttacksView<'_>>()),
        ("eval calibrate", of::<EvalCalibrateView<'_>>()),
        ("eval claims", of::<EvalClaimsView<'_>>()),
        ("eval drafts", of::<EvalDraftsView<'_>>()),
        ("eval natural", of::<EvalNaturalView<'_>>()),
        ("eval passages", of::<EvalView<'_>>()),
        ("eval retrieval", of::<EvalView<'_>>()),
        ("get", of::<PieceView<'_>>()),
        ("import", of::<ImportedView>()),
        ("index", of::<IndexView<'_>>()),
        ("index --list-sources", of::<SelectedView<'_>>()),
        ("init", of::<InitializedView<'_>>()),
        ("links", of::<LinksView<'_>>()),
        ("ls", of::<NotesView<'_>>()),
        ("mcp install", of::<ChangeView>()),
        ("mcp install --print", of::<TextView>()),
        ("mcp uninstall", of::<ChangeView>()),
        ("mcp status", of::<ClientsView>()),
        ("memory add", of::<MemoryView<'_, AddedView<'_>>>()),
        ("memory delete", of::<MemoryView<'_, DeletedView<'_>>>()),
        ("memory export", of::<MemoryView<'_, ExportedView<'_>>>()),
        ("memory list", of::<MemoryView<'_, ItemsView<'_>>>()),
        ("memory search", of::<MemoryView<'_, ItemsView<'_>>>()),
        ("memory show", of::<MemoryView<'_, ItemsView<'_>>>()),
        ("memory repair", of::<MemoryView<'_, RepairedView<'_>>>()),
        (
            "memory repair --begin-anew",
            of::<MemoryView<'_, BegunView>>(),
        ),
        ("models list", of::<ModelsView<'_>>()),
        ("models pull", of::<PulledView<'_>>()),
        ("models verify", of::<VerifiedView<'_>>()),
        ("multi-get", of::<ManyView<'_>>()),
        ("query", of::<QueryView<'_>>()),
        ("runs head", of::<HeadView<'_>>()),
        ("runs list", of::<ListView<'_>>()),
        ("runs prune", of::<PruneView<'_>>()),
        ("runs replay", of::<ReplayView<'_>>()),
        ("runs show", of::<ShowView<'_>>()),
        ("runs verify", of::<VerifyView<'_>>()),
        ("search", of::<QueryView<'_>>()),
        ("serve", of::<ListeningView<'_>>()),
        ("serve --print-unit", of::<TextView>()),
        ("serve link", of::<ListeningView<'_>>()),
        ("serve status", of::<ServerStateView<'_>>()),
        ("serve stop", of::<StoppedView>()),
        ("serve token", of::<OwnTokenView<'_>>()),
        ("serve token add", of::<AddedTokenView<'_>>()),
        ("serve token list", of::<TokensView<'_>>()),
        ("serve token remove", of::<RemovedTokenView<'_>>()),
        ("similar", of::<SimilarView<'_>>()),
        ("skill install", of::<InstalledView>()),
        ("skill show", of::<TextView>()),
        ("collection add", of::<ChangedView>()),
        ("collection remove", of::<ChangedView>()),
        ("collection rename", of::<ChangedView>()),
        ("collection list", of::<SourcesView>()),
        ("source add", of::<ChangedView>()),
        ("source remove", of::<ChangedView>()),
        ("source rename", of::<ChangedView>()),
        ("source list", of::<SourcesView>()),
        ("status", of::<StatusView>()),
        ("tags", of::<TagsView<'_>>()),
        ("tags TAG", of::<QueryView<'_>>()),
        ("tool describe", of::<ToolView>()),
        ("tool list", of::<ToolsView>()),
        ("tool log", of::<CallsView<'_>>()),
        ("try", of::<TryView<'_>>()),
        ("vsearch", of::<QueryView<'_>>()),
        ("verify", of::<JudgedView<'_>>()),
        ("watch --print-unit", of::<TextView>()),
    ]
}

/// The schema of a view with the fields that every output has: `ok` and the roots.
fn of<T: JsonSchema>() -> Value {
    let mut schema = plain_schema::<T>();
    let mut more = fields(&plain_schema::<RootFields>());
    more.insert("ok".to_owned(), json!({ "type": "boolean" }));
    extend(&mut schema, more);
    schema
}

/// The same with the fields of a recorded run.
fn of_a_run<T: JsonSchema>() -> Value {
    let mut schema = of::<T>();
    extend(&mut schema, fields(&plain_schema::<RunFields>()));
    schema
}

/// The schema of a struct as it is serialized, without the name of the struct.
fn plain_schema<T: JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    if let Some(parts) = schema.as_object_mut() {
        parts.remove("title");
    }
    schema
}

fn fields(schema: &Value) -> Map<String, Value> {
    schema["properties"]
        .as_object()
        .cloned()
        .unwrap_or_default()
}

/// Adds required fields; a field that the view has itself stays as it is.
fn extend(schema: &mut Value, more: Map<String, Value>) {
    for (name, field) in more {
        if schema["properties"].get(&name).is_none() {
            schema["properties"][&name] = field;
            let required = schema["required"].as_array_mut();
            match required {
                Some(required) => required.push(name.into()),
                None => schema["required"] = json!([name]),
            }
        }
    }
}
