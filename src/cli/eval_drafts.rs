//! `eval drafts`: how good the citations of faulty drafts are, before the gate and behind it.

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::context::Context;
use super::index::extend;
use super::read::read_text;
use crate::error::Result;
use crate::eval::drafts;

pub fn run(context: &Context, file: Option<&Path>, as_json: bool) -> Result<ExitCode> {
    let text = match file {
        Some(file) => read_text(&context.environment.cwd.join(file))?,
        None => drafts::DRAFTS.to_owned(),
    };
    let rows = drafts::rows(&drafts::read(&text)?);
    if as_json {
        let rows: Vec<Value> = rows.iter().map(|(fault, row)| json!({"fault": fault, "figures": row})).collect();
        let mut body = json!({ "rows": rows });
        extend(&mut body, context.roots());
        context.out.json(body);
        return Ok(ExitCode::SUCCESS);
    }
    context.out.line("| fault | drafts | passed | recall before | precision before | recall after | precision after |");
    context.out.line("| --- | --- | --- | --- | --- | --- | --- |");
    let shown = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), |s| format!("{s:.2}"));
    for (fault, row) in rows {
        let (before, after) = (row.before, row.after);
        context.out.line(&format!(
            "| {fault} | {} | {} | {} | {} | {} | {} |",
            row.drafts,
            row.passed,
            shown(before.recall()),
            shown(before.precision()),
            shown(after.recall()),
            shown(after.precision()),
        ));
    }
    Ok(ExitCode::SUCCESS)
}
