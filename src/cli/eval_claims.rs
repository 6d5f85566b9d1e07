//! `eval claims`: measures how well the verifier's support score agrees with people.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::context::{Context, to_value};
use super::read::read_text;
use super::write::write_whole;
use local_agent_eval::claims::{self, Claim, ClaimFigures, SUPPORT, Scored};
use local_agent_text::error::Result;

/// What `eval claims --json` prints, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct EvalClaimsView<'a> {
    sets: Vec<JudgedSet<'a>>,
}

/// One set of claims, with the figures of each method.
#[derive(Serialize, JsonSchema)]
struct JudgedSet<'a> {
    set: &'a str,
    claims: usize,
    methods: &'a BTreeMap<&'static str, ClaimFigures>,
}

/// One line of `--scores-out`: a claim with every score and every feature.
#[derive(Serialize)]
struct ScoredClaim<'a> {
    set: &'a str,
    id: &'a str,
    label: u8,
    scores: BTreeMap<&'static str, f64>,
    features: BTreeMap<&'static str, f64>,
}

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
        write_whole(
            &context.environment.cwd.join(file),
            lines(&sets)?.as_bytes(),
        )?;
    }
    let scored: Vec<Scored> = sets.into_iter().map(|(_, scored)| scored).collect();
    let figures = claims::figures(&scored);
    if context.out.json {
        let sets = scored.iter().zip(&figures).map(|(set, methods)| JudgedSet {
            set: &set.name,
            claims: set.labels.len(),
            methods,
        });
        let view = EvalClaimsView {
            sets: sets.collect(),
        };
        context.out.json(context.body(&view)?);
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
fn lines(sets: &[(Vec<Claim>, Scored)]) -> Result<String> {
    let mut out = String::new();
    for (claims, scored) in sets {
        for (i, claim) in claims.iter().enumerate() {
            let scores = scored.methods.iter();
            let line = ScoredClaim {
                set: &scored.name,
                id: &claim.id,
                label: claim.label,
                scores: scores
                    .filter_map(|(method, scores)| Some((*method, *scores.get(i)?)))
                    .collect(),
                features: scored
                    .support
                    .get(i)
                    .map(|support| support.features.iter().copied().collect())
                    .unwrap_or_default(),
            };
            out.push_str(&to_value(&line)?.to_string());
            out.push('\n');
        }
    }
    Ok(out)
}
