//! `models list`, `models pull`, `models verify`.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::args::ModelsCommand;
use super::context::Context;
use super::index::extend;
use crate::error::Result;
use crate::models::{self, ModelState};

pub fn run(context: &Context, command: &ModelsCommand) -> Result<ExitCode> {
    match command {
        ModelsCommand::List { .. } => list(context),
        ModelsCommand::Pull { .. } => todo!(),
        ModelsCommand::Verify { id, .. } => verify(context, id.as_deref()),
    }
}

fn list(context: &Context) -> Result<ExitCode> {
    let listed = models::list(&context.environment.models_dir()?)?;
    if context.out.json {
        let one = |model: &models::Listed| {
            json!({
                "id": model.id,
                "state": state(model.state),
                "folder": model.folder.as_ref().map(|folder| folder.to_string_lossy()),
                "revision": model.manifest.as_ref().and_then(|manifest| manifest.revision.as_deref()),
            })
        };
        let mut body = json!({"models": listed.iter().map(one).collect::<Vec<Value>>()});
        extend(&mut body, context.roots());
        context.out.json(body);
        return Ok(ExitCode::SUCCESS);
    }
    for model in &listed {
        let place = model.folder.as_ref().map(|folder| format!("  {}", folder.display())).unwrap_or_default();
        context.out.line(&format!("{}  {}{place}", model.id, state(model.state)));
    }
    Ok(ExitCode::SUCCESS)
}

/// The stable name of where a model stands.
const fn state(state: ModelState) -> &'static str {
    match state {
        ModelState::Embedded => "embedded",
        ModelState::Present => "present",
        ModelState::Absent => "absent",
    }
}

fn verify(context: &Context, id: Option<&str>) -> Result<ExitCode> {
    let models_dir = context.environment.models_dir()?;
    let ids = match id {
        Some(id) => vec![id.to_owned()],
        None => models::list(&models_dir)?
            .into_iter()
            .filter(|model| model.state != ModelState::Absent)
            .map(|model| model.id)
            .collect(),
    };
    let mut verified = Vec::new();
    for id in ids {
        let result = models::verify(&id, &models_dir)?;
        if !context.out.json {
            let how = if result.compared { "matches its recorded hashes" } else { "hashes recorded now" };
            context.out.line(&format!("{id}  {how}"));
        }
        let files: Vec<Value> = result
            .manifest
            .files
            .iter()
            .map(|f| json!({"path": f.path, "bytes": f.bytes, "sha256": f.sha256}))
            .collect();
        verified.push(json!({"id": id, "compared": result.compared, "files": files}));
    }
    if context.out.json {
        let mut body = json!({"verified": verified});
        extend(&mut body, context.roots());
        context.out.json(body);
    }
    Ok(ExitCode::SUCCESS)
}
