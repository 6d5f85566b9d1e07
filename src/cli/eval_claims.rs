//! `eval claims`: measures how well the verifier's support score agrees with people.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::context::Context;
use super::index::extend;
use super::read::read_text;
use super::write::write_whole;
use local_agent_eval::claims::{self, Claim, SUPPORT, Scored};
use local_agent_text::error::Result;

pub(super) fn run(
    context: &Context,
    files: &[PathBuf],
    scores_out: Option<&Path>,
) -> Result<ExitCode> {
    let mut sets: Vec<(Vec<Claim>, Scored)> = Vec::new();
    for file in files {
        let name = name(file);
        let claims = claims::claims(&read_text(&context.environment.cwd.join(file))?, &name)?;
        let scored = claims::score(&name, &claims);
        sets.push((claims, scored));
    }
    if let Some(file) = scores_out {
        write_whole(&context.environment.cwd.join(file), lines(&sets).as_bytes())?;
    }
    let scored: Vec<Scored> = sets.into_iter().map(|(_, scored)| scored).collect();
    let figures = claims::figures(&scored);
    if context.out.json {
        let sets: Vec<Value> = scored
            .iter()
            .zip(&figures)
            .map(|(set, figures)| json!({ "set": set.name, "claims": set.labels.len(), "methods": figures }))
            .collect();
        let mut body = json!({ "sets": sets });
        extend(&mut body, context.roots());
        context.out.json(body);
        return Ok(ExitCode::SUCCESS);
    }
    let out = context.out;
    out.line("| set | claims | method | AUC | balanced accuracy, threshold of the other sets | at the shipped threshold | false accepts at 80 % true accepts |");
    out.line("| --- | --- | --- | --- | --- | --- | --- |");
    for (set, figures) in scored.iter().zip(&figures) {
        for (method, f) in figures {
            let name = if *method == SUPPORT {
                "**support**"
            } else {
                method
            };
            out.line(&format!(
                "| {} | {} | {name} | {:.3} | {} | {} | {:.3} |",
                set.name,
                set.labels.len(),
                f.auc,
                shown_figure(f.left_out),
                shown_figure(f.shipped),
                f.false_accepts_at_80,
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A figure with three decimals, or a dash.
fn shown_figure(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |v| format!("{v:.3}"))
}

/// The folder's name for `…/set/claims.jsonl`, otherwise the file's name.
fn name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default();
    let folder = file
        .parent()
        .and_then(Path::file_name)
        .filter(|_| stem == "claims");
    folder.unwrap_or(stem).to_string_lossy().into_owned()
}

/// One object per claim: set, id, label, every score, every feature.
fn lines(sets: &[(Vec<Claim>, Scored)]) -> String {
    let mut out = String::new();
    for (claims, scored) in sets {
        for (i, claim) in claims.iter().enumerate() {
            let scores: Map<String, Value> = scored
                .methods
                .iter()
                .filter_map(|(m, s)| Some(((*m).to_owned(), json!(s.get(i)?))))
                .collect();
            let features: Map<String, Value> = scored
                .support
                .get(i)
                .map(|s| {
                    s.features
                        .iter()
                        .map(|(n, v)| ((*n).to_owned(), json!(v)))
                        .collect()
                })
                .unwrap_or_default();
            let line = json!({ "set": scored.name, "id": claim.id, "label": claim.label, "scores": scores, "features": features });
            out.push_str(&line.to_string());
            out.push('\n');
        }
    }
    out
}
