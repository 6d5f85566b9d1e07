//! `models list`, `models pull`, `models verify`.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::args::ModelsCommand;
use super::context::Context;
use super::index::extend;
use crate::error::Result;
use crate::models;

pub fn run(context: &Context, command: &ModelsCommand) -> Result<ExitCode> {
    match command {
        ModelsCommand::List { .. } => list(context),
        ModelsCommand::Pull { id, revision, endpoint, .. } => {
            pull(context, id, revision.as_deref(), endpoint.as_deref())
        }
        ModelsCommand::Verify { id, .. } => verify(context, id.as_deref()),
    }
}

fn list(context: &Context) -> Result<ExitCode> {
    let listed = models::list(&context.environment.models_dir()?)?;
    if context.out.json {
        let mut body = json!({"models": listed});
        extend(&mut body, context.roots());
        context.out.json(body);
        return Ok(ExitCode::SUCCESS);
    }
    for model in &listed {
        let place = model.folder.as_ref().map(|folder| format!("  {}", folder.display())).unwrap_or_default();
        context.out.line(&format!("{}  {}{place}", model.id, model.state.as_str()));
    }
    Ok(ExitCode::SUCCESS)
}
