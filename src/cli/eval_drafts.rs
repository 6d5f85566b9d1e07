//! `eval drafts`: measures the citations of faulty drafts before and after the gate.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use super::eval_attacks::notes;
use super::read::read_text;
use local_agent_eval::drafts::gold::Document;
use local_agent_eval::drafts::{self, Citations, DraftRow, Recorded};
use local_agent_eval::set;
use local_agent_text::error::Result;

/// The results for one set of drafts.
struct Table {
    /// The set from which they are made; `None` for recorded drafts.
    set: Option<String>,
    rows: Vec<(String, DraftRow)>,
}

impl Table {
    fn groups(&self) -> impl Iterator<Item = DraftGroup<'_>> {
        self.rows.iter().map(|(fault, figures)| DraftGroup {
            set: self.set.as_deref(),
            fault,
            figures,
        })
    }
}

/// What `eval drafts --json` prints, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct EvalDraftsView<'a> {
    rows: Vec<DraftGroup<'a>>,
}

/// The drafts with one kind of fault.
#[derive(Serialize, JsonSchema)]
struct DraftGroup<'a> {
    set: Option<&'a str>,
    fault: &'a str,
    figures: &'a DraftRow,
}

pub(super) fn run(
    context: &mut Context,
    file: Option<&Path>,
    sets: &[PathBuf],
) -> Result<ExitCode> {
    let mut tables: Vec<Table> = Vec::new();
    for dir in sets {
        let name = dir.file_name().map_or_else(
            || dir.display().to_string(),
            |n| n.to_string_lossy().into_owned(),
        );
        tables.push(Table {
            set: Some(name),
            rows: drafts::rows(&of_set(context, dir)?),
        });
    }
    if sets.is_empty() {
        let text = match file {
            Some(file) => read_text(&context.environment.cwd.join(file))?,
            None => drafts::DRAFTS.to_owned(),
        };
        tables.push(Table {
            set: None,
            rows: drafts::rows(&drafts::read(&text)?),
        });
    }
    if context.out.json {
        let view = EvalDraftsView {
            rows: tables.iter().flat_map(Table::groups).collect(),
        };
        context.out.json(context.body(&view)?);
        return Ok(ExitCode::SUCCESS);
    }
    let set = if sets.is_empty() { "" } else { "| set " };
    context.out.line(&format!(
        "{set}| fault | drafts | passed | before: recall, precision | own support | after: recall, precision | own support |"
    ));
    context.out.line(&format!(
        "{}| --- | --- | --- | --- | --- | --- | --- |",
        if set.is_empty() { "" } else { "| --- " }
    ));
    for Table { set, rows } in tables {
        let set = set.map_or_else(String::new, |name| format!("| {name} "));
        for (fault, row) in rows {
            let [before, own_before] = [row.before, row.own_before].map(shown);
            let [after, own_after] = [row.after, row.own_after].map(shown);
            context.out.line(&format!(
                "{set}| {fault} | {} | {} | {before} | {own_before} | {after} | {own_after} |",
                row.drafts, row.passed,
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Recall and precision.
fn shown(citations: Citations) -> String {
    format!(
        "{}, {}",
        shown_share(citations.recall()),
        shown_share(citations.precision())
    )
}

/// A share with two decimals, or a dash.
fn shown_share(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |s| format!("{s:.2}"))
}

/// Drafts made from a set's marked answers.
fn of_set(context: &mut Context, dir: &Path) -> Result<Vec<Recorded>> {
    let dir = context.environment.cwd.join(dir);
    let questions = set::questions(&read_text(&dir.join("queries.jsonl"))?)?;
    let evidence = set::evidence(&read_text(&dir.join("spans.jsonl"))?, &questions)?;
    let documents: Vec<Document> = notes(context, &dir.join("docs"))?
        .into_iter()
        .map(|note| Document {
            path: note.path,
            text: note.text,
            passages: note.passages,
        })
        .collect();
    drafts::gold::drafts(&documents, &questions, &evidence)
}
