//! `eval calibrate`: fits the chance of relevance shown by `query`, and measures its floor.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::EvalCommand;
use super::context::Context;
use super::eval_set::{folder, prepare, set_name};
use super::read::read_text;
use super::write::write_whole;
use local_agent_embed::models::EMBEDDED_ID;
use local_agent_eval::calibrate::{self, CalibrationSample, Costs, Observed};
use local_agent_eval::run::{self, Mode, Searcher};
use local_agent_eval::set::{self, Judgments, Question};
use local_agent_index::profile::{Calibration, Features, JUDGED, Model};
use local_agent_index::retrieval::{self, Hit, by_vectors};
use local_agent_text::error::{Failure, Result};

/// Number of hits per question used for fitting.
const HITS: usize = 10;

/// The search modes with separate weights.
const MODES: [Mode; 3] = [Mode::Default, Mode::Lexical, Mode::Vector];

struct Set {
    dir: PathBuf,
    name: String,
    questions: Vec<Question>,
    judgments: Judgments,
}

pub(super) fn run(context: &Context, command: &EvalCommand) -> Result<ExitCode> {
    let EvalCommand::Calibrate {
        sets,
        questions,
        out,
    } = command
    else {
        return Err(Failure::internal(
            "calibrate was called for another command",
        ));
    };
    let sets = sets
        .iter()
        .map(|path| read(context, path, *questions))
        .collect::<Result<Vec<_>>>()?;
    let observed = observe_all(context, &sets)?;
    let fitted = fitted(&sets, &observed)?;
    if let Some(file) = out {
        let text =
            serde_json::to_string_pretty(&fitted).map_err(|e| Failure::internal(e.to_string()))?;
        write_whole(
            &context.environment.cwd.join(file),
            (text + "\n").as_bytes(),
        )?;
    }
    let costs = costs(&fitted, &observed);
    if context.out.json {
        let modes = costs
            .iter()
            .map(|(mode, _, sets)| CalibratedMode { mode, sets });
        let view = EvalCalibrateView {
            calibration: &fitted,
            modes: modes.collect(),
        };
        context.out.json(context.body(&view)?);
    } else {
        print(context, &costs);
    }
    Ok(ExitCode::SUCCESS)
}

/// What `eval calibrate --json` prints, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct EvalCalibrateView<'a> {
    calibration: &'a Calibration,
    modes: Vec<CalibratedMode<'a>>,
}

/// What the threshold of one mode costs on each set.
#[derive(Serialize, JsonSchema)]
struct CalibratedMode<'a> {
    mode: &'static str,
    sets: &'a [Costs],
}

/// The search results for the questions of every set, by mode.
fn observe_all(context: &Context, sets: &[Set]) -> Result<[Vec<Observed>; 3]> {
    let mut observed: [Vec<Observed>; 3] = Default::default();
    for set in sets {
        let foreign: Vec<Question> = sets
            .iter()
            .filter(|other| other.dir != set.dir)
            .flat_map(|other| other.questions.clone())
            .collect();
        let of_set = observe(context, context.out.json, set, foreign)?;
        for (all, one) in observed.iter_mut().zip(of_set) {
            all.push(one);
        }
    }
    Ok(observed)
}

/// A calibration of each mode, with the sets on which it was fitted.
fn fitted(sets: &[Set], [hybrid, lexical, vector]: &[Vec<Observed>; 3]) -> Result<Calibration> {
    let names: Vec<String> = sets
        .iter()
        .map(|set| format!("{} ({})", set.name, set.questions.len()))
        .collect();
    Ok(Calibration {
        provenance: format!(
            "local-agent eval calibrate, questions of {}",
            names.join(", ")
        ),
        hybrid: calibrate::fit(hybrid)?,
        lexical: calibrate::fit(lexical)?,
        vector: calibrate::fit(vector)?,
    })
}

/// A mode, its model, and the cost of the model's threshold on each set.
type ModeCosts<'m> = (&'static str, &'m Model, Vec<Costs>);

/// The cost of each mode's threshold on each set.
fn costs<'m>(fitted: &'m Calibration, observed: &[Vec<Observed>; 3]) -> Vec<ModeCosts<'m>> {
    let models = [
        ("default", &fitted.hybrid),
        ("lexical", &fitted.lexical),
        ("vector", &fitted.vector),
    ];
    models
        .into_iter()
        .zip(observed)
        .map(|((name, model), all)| {
            let costs = all.iter().map(|one| calibrate::costs(model, one));
            (name, model, costs.collect())
        })
        .collect()
}

fn read(context: &Context, path: &std::path::Path, most: usize) -> Result<Set> {
    let dir = folder(context, path)?;
    let questions = set::questions(&read_text(&dir.join("queries.jsonl"))?)?;
    let judgments = set::judgments(&read_text(&dir.join("qrels.tsv"))?, &questions)?;
    let judged: Vec<Question> = questions
        .into_iter()
        .filter(|q| judgments.contains_key(&q.id))
        .collect();
    Ok(Set {
        name: set_name(&dir),
        questions: spread(judged, most),
        judgments,
        dir,
    })
}

/// At most `most` of `all`, evenly spread.
fn spread<T>(all: Vec<T>, most: usize) -> Vec<T> {
    let step = all.len().div_ceil(most.max(1)).max(1);
    all.into_iter().step_by(step).collect()
}

fn observe(
    context: &Context,
    quiet: bool,
    set: &Set,
    foreign: Vec<Question>,
) -> Result<[Observed; 3]> {
    // One calibration is for one model, whatever the languages of the sets.
    let settings = [format!("embed.model={EMBEDDED_ID}")];
    let (config, _, engine, model) = prepare(context, &settings, quiet, &set.dir, &MODES)?;
    let embedder = model.load()?;
    let embed = |text: &str| embedder.embed_query(text);
    let foreign = spread(foreign, set.questions.len());
    let (own, foreign) = (
        run::ask(&set.questions, Some(&embed))?,
        run::ask(&foreign, Some(&embed))?,
    );
    let searcher = Searcher {
        engine: &engine,
        retrieve: &config.retrieve,
        // A reranker does not change the chances.
        reranker: None,
    };
    let mut all: [Observed; 3] = Default::default();
    for (observed, mode) in all.iter_mut().zip(MODES) {
        observed.set.clone_from(&set.name);
        for asked in &own {
            let hits = searcher.best_documents(mode, asked, HITS)?;
            if elsewhere(mode, &hits) {
                continue;
            }
            let grades = set.judgments.get(&asked.question.id);
            observed
                .samples
                .extend(hits.iter().map(|hit| sample_of(grades, hit)));
            observed
                .answerable
                .push(hits.iter().map(features_of).take(JUDGED).collect());
            observed.removed.push(
                hits.iter()
                    .filter(|hit| !is_relevant(grades, hit))
                    .map(features_of)
                    .take(JUDGED)
                    .collect(),
            );
        }
        for asked in &foreign {
            let hits = searcher.best_documents(mode, asked, HITS)?;
            if elsewhere(mode, &hits) {
                continue;
            }
            observed
                .samples
                .extend(hits.iter().map(|hit| CalibrationSample {
                    features: features_of(hit),
                    relevant: false,
                }));
            observed
                .foreign
                .push(hits.iter().map(features_of).take(JUDGED).collect());
        }
    }
    Ok(all)
}

/// A hit and whether it is relevant.
fn sample_of(grades: Option<&BTreeMap<String, i64>>, hit: &Hit) -> CalibrationSample {
    CalibrationSample {
        features: features_of(hit),
        relevant: is_relevant(grades, hit),
    }
}

/// Whether the document of a hit is graded as relevant.
fn is_relevant(grades: Option<&BTreeMap<String, i64>>, hit: &Hit) -> bool {
    grades
        .and_then(|g| g.get(hit.chunk.path.as_str()))
        .is_some_and(|g| *g > 0)
}

/// The features of a hit.
fn features_of(hit: &Hit) -> Features {
    hit.trace.features()
}

/// Whether the default search judges these hits only by their words, so that they belong to the
/// lexical weights.
fn elsewhere(mode: Mode, hits: &[Hit]) -> bool {
    mode == Mode::Default && !by_vectors(retrieval::Mode::Hybrid, hits)
}

fn print(context: &Context, all: &[(&str, &Model, Vec<Costs>)]) {
    let out = context.out;
    for (name, model, costs) in all {
        out.line(&out.bold(&format!(
            "{name}: {:.3} + {:.3} cosine + {:.3} coverage; floor {:.4}",
            model.intercept, model.cosine, model.coverage, model.floor
        )));
        out.line("set                  false refusals   false answers: documents removed   of another set");
        for one in costs.iter().filter(|one| one.questions > 0) {
            let percent = [
                one.false_refusals,
                one.false_answers_removed,
                one.false_answers_foreign,
            ]
            .map(|s| s * 100.0);
            out.line(&format!(
                "{:<20} {:>13.1}%  {:>32.1}%  {:>14.1}%",
                one.set, percent[0], percent[1], percent[2]
            ));
        }
    }
}
