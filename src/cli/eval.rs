//! `eval`: searches sets of questions with known answers in this process, and scores the results.
//!
//! The state is in the cache folder, under a name derived from the set's path, so that a second run
//! only checks for changes. Nothing is written into the set. Only the embedding model's settings
//! and `--set` are used, so that the same command measures the same thing on every machine.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{EvalArgs, EvalCommand, EvalModeArg};
use super::context::Context;
use super::eval_set::{SOURCE, folder, prepare, set_name};
use super::read::read_text;
use super::write::write_whole;
use local_agent_agent::operations::Library;
use local_agent_eval::passages::{self, Passage, line_starts};
use local_agent_eval::run::{self, Asked, Mode, Searcher};
use local_agent_eval::set::{self, Question};
use local_agent_eval::{ranking, stats};
use local_agent_files::sandbox::{Address, Sandbox};
use local_agent_index::retrieval::Hit;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{RelPath, SourceName};

pub(super) fn run(context: &mut Context, command: &EvalCommand) -> Result<ExitCode> {
    let (args, what) = match command {
        EvalCommand::Retrieval(args) => (args, EvalTarget::Documents),
        EvalCommand::Passages { args, k } => (args, EvalTarget::Passages(cuts(k)?)),
        EvalCommand::Calibrate { .. } => return super::eval_calibrate::run(context, command),
        EvalCommand::Attacks {
            notes,
            claims,
            misses_out,
        } => {
            return super::eval_attacks::run(
                context,
                notes.as_deref(),
                claims,
                misses_out.as_deref(),
            );
        }
        EvalCommand::Drafts { file, sets } => {
            return super::eval_drafts::run(context, file.as_deref(), sets);
        }
        EvalCommand::Natural {
            files,
            vaults,
            show,
        } => {
            return super::eval_natural::run(context, files, vaults, *show);
        }
        EvalCommand::Claims { files, scores_out } => {
            return super::eval_claims::run(context, files, scores_out.as_deref());
        }
    };
    let mut reports = Vec::new();
    for set in &args.sets {
        let report = measure(context, args, set, &what)?;
        if !context.out.json {
            print(context, &what, &report, reports.is_empty());
        }
        reports.push(report);
    }
    if context.out.json {
        let view = EvalView {
            sets: reports.iter().map(EvaluatedSet::from).collect(),
        };
        context.out.json(context.body(&view)?);
    }
    Ok(ExitCode::SUCCESS)
}

enum EvalTarget {
    Documents,
    /// Passages, scored at these cut-offs.
    Passages(Vec<usize>),
}

fn cuts(k: &[usize]) -> Result<Vec<usize>> {
    if k.contains(&0) {
        return Err(Failure::new(
            ErrorCode::InvalidArgs,
            "the first 0 passages cannot be scored",
        )
        .with_hint("for example `--k 1,5`"));
    }
    Ok(k.to_vec())
}

/// The measurements on one set.
struct EvalReport {
    name: String,
    questions: usize,
    scored: usize,
    documents: u64,
    chunks: u64,
    /// The id of the embedding model; `None` if no mode needs vectors.
    model: Option<String>,
    modes: Vec<ModeReport>,
}

struct ModeReport {
    mode: Mode,
    latency: stats::Latency,
    scores: ModeScores,
}

enum ModeScores {
    /// Means, and the difference from the nDCG@10 of the first mode.
    Documents(ranking::Scores, Option<stats::Difference>),
    Passages(Vec<passages::PassageScores>),
}

/// What `eval retrieval --json` and `eval passages --json` print, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct EvalView<'a> {
    sets: Vec<EvaluatedSet<'a>>,
}

/// One set of questions.
#[derive(Serialize, JsonSchema)]
struct EvaluatedSet<'a> {
    set: &'a str,
    questions: usize,
    /// Questions that have a known answer.
    scored: usize,
    documents: u64,
    chunks: u64,
    /// The id of the embedding model; null: no mode needs vectors.
    model: Option<&'a str>,
    modes: Vec<EvaluatedMode<'a>>,
}

/// One mode of search on a set.
#[derive(Serialize, JsonSchema)]
struct EvaluatedMode<'a> {
    mode: &'static str,
    latency: &'a stats::Latency,
    #[serde(flatten)]
    scores: EvaluatedScores<'a>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum EvaluatedScores<'a> {
    Documents {
        scores: &'a ranking::Scores,
        /// The mean difference of nDCG@10 from the first mode; null: this is the first mode.
        ndcg_10_minus_first: Option<&'a stats::Difference>,
    },
    Passages {
        scores: &'a [passages::PassageScores],
    },
}

impl<'a> From<&'a EvalReport> for EvaluatedSet<'a> {
    fn from(report: &'a EvalReport) -> Self {
        Self {
            set: &report.name,
            questions: report.questions,
            scored: report.scored,
            documents: report.documents,
            chunks: report.chunks,
            model: report.model.as_deref(),
            modes: report.modes.iter().map(EvaluatedMode::from).collect(),
        }
    }
}

impl<'a> From<&'a ModeReport> for EvaluatedMode<'a> {
    fn from(report: &'a ModeReport) -> Self {
        let scores = match &report.scores {
            ModeScores::Documents(scores, difference) => EvaluatedScores::Documents {
                scores,
                ndcg_10_minus_first: difference.as_ref(),
            },
            ModeScores::Passages(scores) => EvaluatedScores::Passages { scores },
        };
        Self {
            mode: report.mode.name(),
            latency: &report.latency,
            scores,
        }
    }
}

fn modes(args: &EvalArgs) -> Vec<Mode> {
    let mut modes = Vec::new();
    for mode in args.modes.iter().map(mode_of) {
        if !modes.contains(&mode) {
            modes.push(mode);
        }
    }
    modes
}

/// The mode that an argument names.
fn mode_of(arg: &EvalModeArg) -> Mode {
    match arg {
        EvalModeArg::Default => Mode::Default,
        EvalModeArg::Lexical => Mode::Lexical,
        EvalModeArg::Vector => Mode::Vector,
        EvalModeArg::Convex => Mode::Convex,
        EvalModeArg::Rrf => Mode::Rrf,
    }
}

fn measure(
    context: &Context,
    args: &EvalArgs,
    set: &Path,
    what: &EvalTarget,
) -> Result<EvalReport> {
    let dir = folder(context, set)?;
    let name = set_name(&dir);
    let questions = set::questions(&read_text(&dir.join("queries.jsonl"))?)
        .map_err(|failure| about(&name, failure))?;
    let modes = modes(args);
    // Errors in a set are detected now and not after an hour of embedding.
    let judge = Judge::read(what, &dir, &questions).map_err(|failure| about(&name, failure))?;
    let (config, sandbox, engine, model) =
        prepare(context, &args.settings, context.out.json, &dir, &modes)?;
    let embedder = match modes.iter().any(|mode| mode.needs_vectors()) {
        true => Some(model.load()?),
        false => None,
    };
    let embed = embedder
        .as_ref()
        .map(|embedder| move |text: &str| embedder.embed_query(text));
    let embed: Option<run::Embed<'_>> = embed.as_ref().map(|embed| embed as _);
    let asked = run::ask(&questions, embed)?;
    let library =
        Library::for_command(&config, None).with_reranker(&config, context.reranker(&config)?);
    let searcher = Searcher {
        engine: &engine,
        retrieve: &config.retrieve,
        reranker: library.reranker(),
    };
    let files = Files {
        sandbox: &sandbox,
        texts: RefCell::default(),
    };
    let totals = engine.index().totals()?;
    let mut report = EvalReport {
        questions: questions.len(),
        scored: judge.count(),
        documents: totals.documents,
        chunks: totals.chunks,
        model: embedder.as_ref().map(|_| model.id().to_owned()),
        modes: Vec::new(),
        name,
    };
    let mut first = None;
    for mode in modes {
        let (scored, tsv) = judge.mode(mode, &searcher, &asked, &files, &mut first)?;
        if let Some(out) = &args.runs_out {
            let file = context.environment.cwd.join(out).join(format!(
                "{}.{}.tsv",
                report.name,
                mode.name()
            ));
            write_whole(&file, tsv.as_bytes())?;
        }
        report.modes.push(scored);
    }
    Ok(report)
}

/// The failure with the name of the set.
fn about(name: &str, failure: Failure) -> Failure {
    Failure {
        message: format!("{name}: {}", failure.message),
        ..failure
    }
}

/// The judgments with which a set's runs are scored.
enum Judge {
    Documents(set::Judgments),
    Passages(Vec<set::Evidence>, Vec<usize>),
}

impl Judge {
    fn read(what: &EvalTarget, dir: &Path, questions: &[Question]) -> Result<Self> {
        Ok(match what {
            EvalTarget::Documents => Self::Documents(set::judgments(
                &read_text(&dir.join("qrels.tsv"))?,
                questions,
            )?),
            EvalTarget::Passages(cuts) => Self::Passages(
                set::evidence(&read_text(&dir.join("spans.jsonl"))?, questions)?,
                cuts.clone(),
            ),
        })
    }

    fn count(&self) -> usize {
        match self {
            Self::Documents(judgments) => judgments.len(),
            Self::Passages(evidence, _) => evidence.len(),
        }
    }

    /// Searches with one mode and scores it; `first` keeps the first mode's scores for comparison.
    /// Also returns the run.
    fn mode(
        &self,
        mode: Mode,
        searcher: &Searcher<'_>,
        asked: &[Asked<'_>],
        files: &Files<'_>,
        first: &mut Option<Vec<f64>>,
    ) -> Result<(ModeReport, String)> {
        match self {
            Self::Documents(judgments) => {
                let searched = searcher.documents(mode, asked)?;
                let scores = ranking::per_question(judgments, &run::ranked(&searched.found));
                let ndcg: Vec<f64> = scores.iter().map(|one| one.ndcg_10).collect();
                let difference = first.as_ref().map(|first| stats::paired(&ndcg, first));
                first.get_or_insert(ndcg);
                let scores = ModeScores::Documents(ranking::mean(&scores), difference);
                Ok((
                    ModeReport {
                        mode,
                        latency: searched.latency,
                        scores,
                    },
                    run::documents_tsv(&searched.found),
                ))
            }
            Self::Passages(evidence, cuts) => {
                let deepest = cuts.iter().copied().max().unwrap_or(1);
                let searched = searcher.chunks(mode, asked, deepest)?;
                let mut found = passages::PassageRun::new();
                for (id, hits) in &searched.found {
                    let passages = hits
                        .iter()
                        .map(|hit| files.passage(hit))
                        .collect::<Result<_>>()?;
                    found.insert(id.clone(), passages);
                }
                let lines = |path: &str| {
                    files
                        .text(&RelPath::new(path).ok()?)
                        .ok()
                        .map(|text| line_starts(&text))
                };
                let scores = cuts
                    .iter()
                    .map(|k| passages::score(evidence, &found, *k, &lines))
                    .collect();
                let scores = ModeScores::Passages(scores);
                Ok((
                    ModeReport {
                        mode,
                        latency: searched.latency,
                        scores,
                    },
                    run::passages_tsv(&found),
                ))
            }
        }
    }
}

/// The documents' texts, each read once.
struct Files<'s> {
    sandbox: &'s Sandbox,
    texts: RefCell<HashMap<RelPath, std::rc::Rc<str>>>,
}

impl Files<'_> {
    fn text(&self, path: &RelPath) -> Result<std::rc::Rc<str>> {
        if let Some(text) = self.texts.borrow().get(path) {
            return Ok(text.clone());
        }
        let source = SourceName::new(SOURCE).map_err(|e| Failure::internal(e.to_string()))?;
        let bytes = self
            .sandbox
            .read(&Address {
                source,
                path: path.clone(),
            })?
            .bytes;
        let text: std::rc::Rc<str> = String::from_utf8_lossy(&bytes).into();
        self.texts.borrow_mut().insert(path.clone(), text.clone());
        Ok(text)
    }

    /// A hit as a range of characters of its file.
    fn passage(&self, hit: &Hit) -> Result<Passage> {
        let text = self.text(&hit.chunk.path)?;
        let (start, end) = (hit.chunk.span.start(), hit.chunk.span.end());
        let (Some(before), Some(body)) = (text.get(..start), text.get(start..end)) else {
            let message = format!("{} changed while it was measured", hit.chunk.path);
            return Err(
                Failure::new(ErrorCode::EvalError, message).with_hint("run the command again")
            );
        };
        let from = before.chars().count() as u64;
        Ok(Passage {
            path: hit.chunk.path.as_str().to_owned(),
            start: from,
            end: from + body.chars().count() as u64,
        })
    }
}

fn print(context: &Context, what: &EvalTarget, report: &EvalReport, with_head: bool) {
    let out = context.out;
    if !with_head {
        out.line("");
    }
    let model = report.model.as_ref();
    let model = model.map_or_else(String::new, |id| format!("; {id}"));
    out.line(&out.bold(&format!(
        "{}: {} questions, {} scored; {} documents, {} chunks{model}",
        report.name, report.questions, report.scored, report.documents, report.chunks
    )));
    match what {
        EvalTarget::Documents => out
            .line("mode       nDCG@10  Recall@10  Recall@100   MRR@10   p50 ms   p99 ms   nDCG@10 minus first (95 %)"),
        EvalTarget::Passages(_) => out.line("mode         k      hit   recall  precision      IoU   p50 ms   p99 ms"),
    }
    for one in &report.modes {
        let (mode, p50, p99) = (one.mode.name(), one.latency.p50_ms, one.latency.p99_ms);
        match &one.scores {
            ModeScores::Documents(s, difference) => {
                let difference = difference.map_or(String::new(), |d| {
                    format!("   {:+.4} ({:+.4} to {:+.4})", d.mean, d.low, d.high)
                });
                out.line(&format!(
                    "{mode:<9}  {:>7.4}  {:>9.4}  {:>10.4}  {:>7.4}  {p50:>7.2}  {p99:>7.2}{difference}",
                    s.ndcg_10, s.recall_10, s.recall_100, s.mrr_10
                ));
            }
            ModeScores::Passages(cuts) => {
                for s in cuts {
                    out.line(&format!(
                        "{mode:<9}  {:>3}  {:>7.4}  {:>7.4}  {:>9.4}  {:>7.4}  {p50:>7.2}  {p99:>7.2}",
                        s.k, s.hit, s.recall, s.precision, s.iou
                    ));
                }
            }
        }
    }
}
