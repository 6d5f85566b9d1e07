//! `try`: answers questions about any folder without set-up.
//!
//! The state is in the cache folder, under a name derived from the folder's path. Nothing is
//! written into the folder itself. The index is brought up to date, then chunks are embedded for at
//! most the budget, beginning with those that the words of the questions found; a second run
//! continues where this one stopped.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{CitationForm, Try};
use super::ask as ask_command;
use super::context::Context;
use super::enter::Needs;
use super::output::{count, talk, visible};
use super::progress::Bar;
use super::write::write_whole;
use local_agent_agent::ask::{self, Answer, Outcome};
use local_agent_agent::config::{self, Config, Inputs, Template};
use local_agent_agent::operations::{self, EmbedRun, EmbeddingModel, IndexRun, jobs};
use local_agent_embed::embedding::{LazyEmbedder, QuestionEmbedder};
use local_agent_files::state::{self, StateDirectory, in_quotes};
use local_agent_index::ids::ChunkId;
use local_agent_index::indexing::{EmbedSummary, IndexSummary};
use local_agent_index::lexical::Query;
use local_agent_index::retrieval::{Coverage, Engine, Mode, Request, Scope};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{Sha256, SourceName};
use local_agent_verify::Report;

include!(concat!(env!("OUT_DIR"), "/example_vault.rs"));

/// Questions for the example vault if no question is given.
const EXAMPLE_QUESTIONS: [&str; 3] = [
    "At what temperature and humidity does the proofbox hold sourdough?",
    "Why did we move the order book from PostgreSQL to SQLite?",
    "How do I restore the order book from a backup?",
];

/// Number of hits per question that are embedded first.
const FIRST_HITS: usize = 60;

pub(super) fn run(context: &mut Context, args: &Try) -> Result<ExitCode> {
    let (dir, questions) = target(context, args)?;
    let config = config_for(context, &dir)?;
    context.enter(&config, &Needs::nothing())?;
    let sandbox = context.sandbox(&config)?;
    let files = context.model(&config)?;
    let bar = Bar::new(context.out.json);
    let model = context.embedding(&config)?;
    let run = IndexRun {
        wait: Duration::from_secs(60),
        ..IndexRun::default()
    };
    let indexed = jobs::run_index(&config, &sandbox, &files, &run, &|p| bar.report(p))?;
    for error in &indexed.errors {
        talk(&format!("error: {error}"));
    }
    let budget = Duration::from_secs(args.budget);
    let embedded = embed_first(&config, &model, &questions, budget, &bar)?;
    bar.finish();
    let fingerprint = model.fingerprint()?;
    let engine = Engine::open(
        &config.index.db_path,
        &config.lexical_dir(),
        &config.vectors_dir(),
        Some(&fingerprint),
    )?;
    let embedder = LazyEmbedder::new(|| model.load());
    let embedder = QuestionEmbedder::new(&embedder);
    let mut answers = Vec::new();
    for text in &questions {
        let chosen = ask::Chosen::extractive("`try` asks nobody");
        let question = operations::ask::question(&config, text, ask_command::today());
        let answer = ask::ask(
            &question,
            &engine,
            &sandbox,
            &chosen,
            &mut |_| Ok(()),
            &embedder,
        )
        .answer?;
        if !context.out.json {
            show(context, &config, text, &answer);
        }
        answers.push((text, answer));
    }
    if context.out.json {
        let view = TryView {
            dir: dir.to_string_lossy(),
            state: config.state_dir.to_string_lossy(),
            index: &indexed,
            embed: embedded.as_ref(),
            answers: answers.iter().map(TriedView::from).collect(),
        };
        context.out.json(context.body(&view)?);
    } else {
        closing(context, &questions, &config, &engine, budget)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Embeds, within the budget, the chunks that a word search finds first. `None` if nothing is
/// embedded.
fn embed_first(
    config: &Config,
    model: &EmbeddingModel,
    questions: &[String],
    budget: Duration,
    bar: &Bar,
) -> Result<Option<EmbedSummary>> {
    let first = first_hits(config, questions)?;
    if budget.is_zero() {
        return Ok(None);
    }
    let run = EmbedRun {
        first: &first,
        budget: Some(budget),
        wait: budget,
        ..EmbedRun::default()
    };
    let (summary, ..) = jobs::run_embed(config, model, &run, &|p| bar.report(p))?;
    Ok(Some(summary))
}

/// What `try --json` prints, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct TryView<'a> {
    /// The vault.
    dir: Cow<'a, str>,
    /// The folder with its index.
    state: Cow<'a, str>,
    index: &'a IndexSummary,
    /// Null: nothing was embedded.
    embed: Option<&'a EmbedSummary>,
    answers: Vec<TriedView<'a>>,
}

/// A question with its answer.
#[derive(Serialize, JsonSchema)]
pub(super) struct TriedView<'a> {
    question: &'a str,
    outcome: Outcome,
    answer: Option<&'a str>,
    /// Why there is no answer, if there is none.
    why: Option<&'a str>,
    coverage: Coverage,
    citation_validation: Option<&'a Report>,
}

impl<'a> From<&'a (&'a String, Answer)> for TriedView<'a> {
    fn from((question, answer): &'a (&'a String, Answer)) -> Self {
        Self {
            question,
            outcome: answer.outcome(),
            answer: answer.text(),
            why: answer.why(),
            coverage: answer.coverage,
            citation_validation: answer.report(),
        }
    }
}

/// The folder and the questions. What begins with no folder is a question about the example vault.
fn target(context: &Context, args: &Try) -> Result<(PathBuf, Vec<String>)> {
    let Some(dir) = &args.dir else {
        let questions = EXAMPLE_QUESTIONS.map(str::to_owned).to_vec();
        return Ok((example_vault(context)?, questions));
    };
    let path = context.environment.cwd.join(dir);
    let rest = args.words.join(" ");
    if path.is_dir() {
        let questions = Some(rest).filter(|question| !question.is_empty());
        return Ok((path, questions.into_iter().collect()));
    }
    // Two words are a folder that is not there and a question, and more are a question without quotes.
    if looks_like_a_path(dir) || args.words.len() == 1 {
        let message = format!("{} is not a folder", path.display());
        let hint = match rest.is_empty() {
            true => "local-agent try path/to/notes",
            false => "local-agent try path/to/notes \"your question\"",
        };
        return Err(Failure::new(ErrorCode::InvalidArgs, message).with_command(hint));
    }
    if !rest.is_empty() {
        let first = visible(&dir.to_string_lossy());
        talk(&format!(
            "note: no folder is called `{first}`, so this is a question about the example vault"
        ));
    }
    let question = format!("{} {rest}", dir.to_string_lossy());
    Ok((
        example_vault(context)?,
        vec![question.trim_end().to_owned()],
    ))
}

/// Whether an argument was meant as a folder and not as a question.
fn looks_like_a_path(text: &Path) -> bool {
    let text = text.to_string_lossy();
    let is_one_word = !text.contains(char::is_whitespace);
    is_one_word && (text.starts_with(['/', '~', '.']) || text.contains(['/', '\\']))
}

/// Writes the example vault into the cache folder; files that differ are overwritten.
pub(super) fn example_vault(context: &Context) -> Result<PathBuf> {
    let dir = context.environment.cache_dir()?.join("example-vault");
    for (path, bytes) in EXAMPLE_VAULT {
        let file = dir.join(path);
        if std::fs::read(&file).is_ok_and(|there| there == *bytes) {
            continue;
        }
        write_whole(&file, bytes)?;
    }
    Ok(dir)
}

/// The defaults, with `dir` as the only source and state in the cache folder.
pub(super) fn config_for(context: &mut Context, dir: &Path) -> Result<Config> {
    let dir = dir.canonicalize().map_err(|e| {
        Failure::new(
            ErrorCode::InvalidArgs,
            format!("{} cannot be used: {e}", dir.display()),
        )
        .with_command("local-agent try path/to/notes")
    })?;
    let state = Sha256::of(dir.as_os_str().as_encoded_bytes()).to_string();
    let state = context
        .environment
        .cache_dir()?
        .join("try")
        .join(&state[..16]);
    let name = dir
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let name = SourceName::new(name).or_else(|_| SourceName::new("notes"));
    let name = name.map_err(|e| Failure::internal(e.to_string()))?;
    let template = Template {
        sources: vec![(name, dir.to_string_lossy().into_owned())],
        state_dir: Some(state.to_string_lossy().into_owned()),
        sources_anywhere: true,
    };
    private_folder(&state)?;
    let file = state.join("config.yaml");
    write_whole(&file, config::template(&template).as_bytes())?;
    // Neither the caller's folder nor the user's own configuration is used.
    let inputs = Inputs {
        cwd: state,
        config_flag: Some(file),
        ..Inputs::default()
    };
    Ok(config::load(&inputs)?.config)
}

/// Creates the folder of a tried vault's state, which holds the text of its notes, for this user only.
fn private_folder(state: &Path) -> Result<()> {
    let made = StateDirectory::make(state).and_then(|folder| folder.make_private());
    made.map_err(|e| {
        state::refusal(&e).unwrap_or_else(|| {
            let message = format!("{} cannot be made: {e}", state.display());
            Failure::new(ErrorCode::WriteError, message)
                .with_hint("make the cache folder writable, or name another one in XDG_CACHE_HOME")
        })
    })
}

/// The chunks that a word search for the questions finds; they are embedded first.
fn first_hits(config: &Config, questions: &[String]) -> Result<Vec<ChunkId>> {
    let engine = Engine::open(
        &config.index.db_path,
        &config.lexical_dir(),
        &config.vectors_dir(),
        None,
    )?;
    let mut first = Vec::new();
    for text in questions {
        let query = Query::plain(text);
        let request = Request {
            query: &query,
            mode: Mode::Lexical,
            scope: Scope::default(),
            limit: FIRST_HITS,
            fusion: config.retrieve.fusion,
            vector_weight: None,
        };
        let found = engine.search(&request, || {
            Err(Failure::internal("a lexical search asked for a vector"))
        })?;
        first.extend(found.hits.iter().map(|hit| hit.chunk.id));
    }
    Ok(first)
}

fn show(context: &Context, config: &Config, question: &str, answer: &Answer) {
    context
        .out
        .line(&context.out.bold(&format!("? {question}")));
    ask_command::print(context.out, config, answer, CitationForm::Numbers);
    for path in &answer.packed.index_stale {
        talk(&format!(
            "stale: {path} changed while it was being read (fix: run the same command again)"
        ));
    }
    context.out.line("");
}

fn closing(
    context: &Context,
    questions: &[String],
    config: &Config,
    engine: &Engine,
    budget: Duration,
) -> Result<()> {
    let totals = engine.index().totals()?;
    let coverage = engine.coverage()?;
    context.out.line(&format!(
        "{}, {}; found by meaning: {} of {}.",
        count(totals.documents, "note"),
        count(coverage.chunks, "chunk"),
        coverage.embedded,
        coverage.chunks
    ));
    if coverage.embedded < coverage.chunks {
        context.out.line(if budget.is_zero() {
            "Run it again without `--budget 0` to search by meaning too."
        } else {
            "Run the same command again to go on embedding."
        });
    }
    if let (true, Some(source)) = (questions.is_empty(), config.sources.first()) {
        context.out.line(&format!(
            "Ask: local-agent try {} \"your question\"",
            in_quotes(&source.root.display().to_string())
        ));
    }
    Ok(())
}
