//! Asks a question for `ask` and MCP: chooses the answerer, answers and records the run.

use serde_json::{Map, Value};

use super::address;
use super::freshness::stale_files;
use super::library::Library;
use super::memories::may_see;
use super::model_choice::question_in_another_language;
use super::privacy::{
    KeptBack, coverage_of, hides_notes, is_partial, may_see_memory, owners_coverage, shown_chunks,
};
use super::remarks;
use super::run_log::RunLog;
use super::scope::{Limits, leave_out_unconfigured, scope};
use crate::ask::{self, AskResult, Chosen, Observe, Question};
use crate::config::{Config, Loaded};
use crate::llm::Speed;
use crate::memory::{self, Recalled};
use crate::runs::{Checking, Finished, Mode, RunId};
use crate::tools::ToolFactory;
use local_agent_files::sandbox::Sandbox;
use local_agent_index::retrieval::{Engine, Scope, Stale};
use local_agent_index::store::{Database, FoundDatabase, examine};
use local_agent_text::error::{ClosestPassage, ErrorCode, Failure, FoundNevertheless, Result};
use local_agent_verify::VerifyOptions;

/// The question, its scope, and who asks.
pub struct AskRequest<'a> {
    /// The question as typed. A blank one is refused with `INVALID_QUERY`.
    pub question: &'a str,
    /// The one file that the question is about; it is read whole.
    pub read: Option<&'a str>,
    /// The documents to search. Without limits and tools, a question may choose its own file by
    /// naming it.
    pub limits: Limits,
    /// Which configured chat model to use.
    pub speed: Speed,
    /// Whether to fail instead of falling back if an answer does not pass. The configuration may
    /// also require this.
    pub strict: bool,
    /// The client's name for the record.
    pub asked_by: &'a str,
    /// Makes tools with which the chat model may look further, for the run with this id; `None`: no
    /// tools.
    pub tools: Option<&'a MakeTools<'a>>,
    /// The day on which it is asked.
    pub today: ask::Day,
}

/// Makes tools whose calls belong to a run.
pub type MakeTools<'a> = dyn Fn(Option<RunId>) -> Result<ToolFactory> + 'a;

/// The result of asking.
#[derive(Debug)]
pub struct AskOutcome {
    /// The answer, or the failure that is also in the record.
    pub asked: AskResult,
    /// Memories related to the question: context, never evidence.
    pub recalled: Vec<Recalled>,
    /// The record, if one is kept.
    pub run: Option<Finished>,
}

/// The context for asking: the configuration, and what was opened for it.
pub struct AskContext<'a> {
    /// The configuration, with the origins that the record's hash covers.
    pub loaded: &'a Loaded,
    /// The files that may be read.
    pub sandbox: &'a Sandbox,
    /// The index and the embedding model.
    pub library: &'a Library,
    /// The five root folders named in outputs and records.
    pub roots: &'a Map<String, Value>,
}

/// Asks. A failure before the run begins, or a failure to record the run, is returned; later
/// failures are in [`AskOutcome`] and in the record.
///
/// Errors: `INVALID_QUERY` for a blank question; `FILE_NOT_FOUND`, `PATH_DENIED` and similar when
/// it asks to read one file that cannot be read; those of choosing a model, of opening the index,
/// of recording.
pub fn ask(
    context: &AskContext<'_>,
    wanted: &AskRequest<'_>,
    observe: &mut Observe<'_>,
) -> Result<AskOutcome> {
    if wanted.question.trim().is_empty() {
        return Err(
            Failure::new(ErrorCode::InvalidQuery, "the question is blank")
                .with_command("local-agent ask \"your question\""),
        );
    }
    let config = &context.loaded.config;
    let chosen = ask::choose_or_search(config, wanted.question, wanted.speed)?;
    let kept = KeptBack::of(config, context.sandbox, &chosen);
    if let (Some(kept), Some(file)) = (&kept, wanted.read) {
        kept.must_show(file, context.sandbox)?;
    }
    let context = &AskContext {
        sandbox: kept.as_ref().map_or(context.sandbox, |kept| &kept.sandbox),
        ..*context
    };
    let question = Question {
        scope: scope(config, &wanted.limits)?,
        strict: wanted.strict || config.ask.strict,
        reranker: context.library.reranker(),
        ..question(config, wanted.question, wanted.today)
    };
    // A requested file that cannot be read is an error; other notes do not replace it.
    if wanted.read.is_none()
        && is_free(wanted)
        && let Some(failure) = ask::unreadable_file(wanted.question, context.sandbox)
            .or_else(|| requested_and_missing(config, wanted.question, context.sandbox))
    {
        return Err(failure);
    }
    match file_of(config, wanted, context.sandbox) {
        Some(file) => recorded(
            context,
            wanted,
            &chosen,
            &question,
            &Subject::File(file),
            kept.as_ref(),
            observe,
        ),
        None => {
            let (library, missing) = context.library.or_words_alone(config)?;
            let context = &AskContext {
                library: &library,
                ..*context
            };
            let mut done = library.with(|engine| {
                let mut question = question.clone();
                question.sees_all =
                    config.client.is_none() && !hides_notes(engine.index(), context.sandbox)?;
                let left_out = leave_out_unconfigured(config, engine, &mut question.scope)?;
                recorded(
                    context,
                    wanted,
                    &chosen,
                    &question,
                    &Subject::Notes { engine, left_out },
                    kept.as_ref(),
                    observe,
                )
            })?;
            if let Ok(answer) = &mut done.asked.answer {
                answer.stale.extend(missing);
            }
            Ok(done)
        }
    }
}

/// The subject of the question.
enum Subject<'a> {
    File(File),
    /// All indexed notes.
    Notes {
        engine: &'a Engine,
        /// What is indexed and not searched.
        left_out: Vec<Stale>,
    },
}

/// One file; whether the question itself names it.
struct File {
    path: String,
    named_by_question: bool,
}

/// Whether a question may choose its own file. With tools, the model reads the files that it needs,
/// and the question covers all notes.
fn is_free(wanted: &AskRequest<'_>) -> bool {
    wanted.limits.is_everything() && wanted.tools.is_none()
}

/// The file of a question; `None` for a question limited to some notes, whatever file it names.
fn file_of(config: &Config, wanted: &AskRequest<'_>, sandbox: &Sandbox) -> Option<File> {
    if let Some(path) = wanted.read {
        return Some(File {
            path: path_of(config, path, sandbox),
            named_by_question: false,
        });
    }
    let named = is_free(wanted)
        .then(|| ask::named_file(wanted.question, sandbox))
        .flatten();
    named.map(|path| File {
        path,
        named_by_question: true,
    })
}

/// Why the file that a question requests by its path or by a link cannot be had; `None` if it can, or
/// if it requests none.
fn requested_and_missing(config: &Config, question: &str, sandbox: &Sandbox) -> Option<Failure> {
    let file = ask::requested_file(question)?;
    address::find(config, sandbox, &file).err()
}

/// The file that `--read` names: a path, or else a note's name, title or alias.
fn path_of(config: &Config, read: &str, sandbox: &Sandbox) -> String {
    match address::find(config, sandbox, read) {
        Ok((at, None)) => format!("{}:{}", at.source, at.path),
        // The failure of reading it says more.
        Ok((_, Some(_))) | Err(_) => read.to_owned(),
    }
}

fn recorded(
    context: &AskContext<'_>,
    wanted: &AskRequest<'_>,
    chosen: &Chosen,
    question: &Question<'_>,
    subject: &Subject<'_>,
    kept: Option<&KeptBack>,
    observe: &mut Observe<'_>,
) -> Result<AskOutcome> {
    let AskContext {
        loaded,
        sandbox,
        library,
        roots,
    } = context;
    let config = &loaded.config;
    let options = match subject {
        Subject::File(_) => ask::file_options(question.verify),
        Subject::Notes { .. } => question.verify,
    };
    let checking = Checking::new(&options, question.strict);
    let recalled = recall(config, sandbox, question.text)?;
    let log = RunLog::begin(
        loaded,
        roots,
        wanted.asked_by,
        Mode::Ask,
        question.text,
        &checking,
    )?;
    // The embedding server is only contacted if there is something to embed.
    let embedder = library.embedder();
    let mut asked = match subject {
        Subject::File(file) => {
            let question = file_question(config, question, file);
            ask::ask_file(&question, sandbox, chosen, observe, &embedder)
        }
        Subject::Notes { engine, .. } => {
            let factory = wanted.tools.map(|make| make(log.id())).transpose()?;
            let factory = factory.map(|factory| factory.over((*sandbox).clone()));
            let tools = factory
                .as_ref()
                .map(|factory| ask::Toolbox::new(factory, &config.tools));
            ask::ask_with(
                question,
                engine,
                sandbox,
                chosen,
                tools.as_ref(),
                observe,
                &embedder,
            )
        }
    };
    add_limits(&mut asked, context, question, subject, kept)?;
    if let Ok(answer) = &mut asked.answer
        && is_free(wanted)
        && wanted.read.is_none()
    {
        answer.stale.extend(unread(question.text, sandbox));
    }
    // A question about one file compares words only, if the model is on a server.
    let to_server = library
        .model()
        .is_some_and(super::EmbeddingModel::is_server)
        && embedder.was_needed()
        && matches!(subject, Subject::Notes { .. });
    let run = log.end(config, &asked, to_server, &recalled)?;
    asked.answer = asked.answer.map_err(|failure| {
        let run_id = run.as_ref().map(|run| run.id.as_str().to_owned());
        with_closest(failure, &asked.trail, run_id)
    });
    Ok(AskOutcome {
        asked,
        recalled,
        run,
    })
}

/// Number of passages that a question without an answer shows, and of characters of each.
const CLOSEST: (usize, usize) = (3, 400);

/// The failure with the passages that were found before a model's server failed.
fn with_closest(failure: Failure, trail: &ask::Trail, run_id: Option<String>) -> Failure {
    let Some(unanswered) = &trail.unanswered else {
        return failure;
    };
    let items = unanswered.0.items().iter().take(CLOSEST.0);
    let closest = items.map(|item| ClosestPassage {
        address: format!("{}:{}", item.source, item.path),
        heading_path: item.heading.to_string(),
        lines: item.lines.to_string(),
        text: beginning(item.text.trim(), CLOSEST.1),
    });
    failure.with_found(FoundNevertheless {
        closest: closest.collect(),
        run_id,
    })
}

/// The beginning of a text, with an ellipsis if it goes on.
fn beginning(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

/// The same question about one file.
fn file_question<'q>(
    config: &Config,
    question: &Question<'q>,
    file: &'q File,
) -> ask::FileQuestion<'q> {
    ask::FileQuestion {
        text: question.text,
        file: &file.path,
        named_by_question: file.named_by_question,
        max_chars: config.llm.max_chars_full_read,
        verify: question.verify,
        strict: question.strict,
        today: question.today,
    }
}

/// Adds the limits of the answer: withheld notes, missing opinions, files that are not indexed, and
/// how much of the index the reader may see.
fn add_limits(
    asked: &mut AskResult,
    context: &AskContext<'_>,
    question: &Question<'_>,
    subject: &Subject<'_>,
    kept: Option<&KeptBack>,
) -> Result<()> {
    let (config, sandbox) = (&context.loaded.config, context.sandbox);
    let claims = asked.trail.claims_without_opinion;
    let Ok(answer) = &mut asked.answer else {
        return Ok(());
    };
    answer.stale.extend(kept.and_then(KeptBack::said));
    answer.stale.extend(without_opinion(claims));
    let is_weak = matches!(
        answer.outcome(),
        ask::Outcome::Abstained | ask::Outcome::Closest
    );
    if let Subject::Notes { left_out, engine } = subject {
        if let Some(why) = nothing_in_scope(config, engine, &question.scope)? {
            answer.abstain_because(why);
        }
        if is_weak {
            // Unindexed notes cannot answer.
            let unindexed = stale_files(config, &question.scope.sources, sandbox);
            answer.stale.extend(unindexed);
            if answer.top_cosine.is_some() {
                let unread = question_in_another_language(config, context.library, question.text);
                answer.stale.extend(unread);
            }
        }
        answer.stale.extend(left_out.iter().cloned());
    }
    if config.client.is_none() && is_partial(&answer.coverage) {
        answer.coverage = context
            .library
            .with(|engine| owners_coverage(config, engine))?;
    }
    if config.client.is_some() {
        answer.coverage = context.library.with(|engine| {
            let chunks = shown_chunks(engine.index(), sandbox)?;
            Ok(coverage_of(engine, &chunks))
        })?;
    }
    Ok(())
}

/// Why nothing was searched: the limits of the question select no note. A note that is kept from a
/// client must not be distinguishable from one that does not exist.
fn nothing_in_scope(config: &Config, engine: &Engine, scope: &Scope) -> Result<Option<String>> {
    if config.client.is_some() || scope.filters.is_empty() {
        return Ok(None);
    }
    let allowed = engine.allowed(scope)?;
    let is_empty = allowed.is_some_and(|documents| documents.is_empty());
    Ok(is_empty.then(|| {
        format!(
            "Nothing was searched: {}.",
            remarks::no_note(&scope.filters)
        )
    }))
}

/// The message to the user that a question names files which were not read.
fn unread(question: &str, sandbox: &Sandbox) -> Option<Stale> {
    let names = ask::unread_names(question, sandbox);
    let named = names.join("`, `");
    (!names.is_empty()).then(|| Stale {
        what: "files",
        why: format!("no readable file is called `{named}`; the answer is from other notes"),
        fix: "local-agent ls",
    })
}

/// The message to the user if the model of `verify.judge` was not asked about `claims` claims.
fn without_opinion(claims: usize) -> Option<Stale> {
    let plural = if claims == 1 { "" } else { "s" };
    (claims > 0).then(|| Stale {
        what: "opinions",
        why: format!(
            "the model of `verify.judge` gave no second opinion on {claims} sentence{plural}"
        ),
        fix: "local-agent runs show last",
    })
}

/// A question with the configured limits, over everything, without a reranker.
pub fn question<'a>(config: &'a Config, text: &'a str, today: ask::Day) -> Question<'a> {
    Question {
        text,
        sees_all: false,
        scope: Scope::default(),
        fusion: config.retrieve.fusion,
        vector_weight: config.retrieve.vector_weight,
        top_n: config.ask.top_n,
        max_tokens: config.ask.max_evidence_tokens,
        verify: VerifyOptions {
            heading_match: config.ask.heading_match,
            normalize_heading: config.ask.normalize_heading,
            ..VerifyOptions::default()
        },
        strict: config.ask.strict,
        today,
        contexts: &config.contexts,
        reranker: None,
    }
}

/// The memories related to a question that the sandbox may show, as context for its answer. Empty
/// for a foreign or lost database, which the run's record reports.
fn recall(config: &Config, sandbox: &Sandbox, question: &str) -> Result<Vec<Recalled>> {
    if !config.memory.enabled || is_foreign(&config.memory.db_path) {
        return Ok(Vec::new());
    }
    match memory::all(&config.memory.db_path) {
        Ok(mut rows) => {
            rows.retain(|row| may_see(sandbox, row) && may_see_memory(config, row, sandbox));
            Ok(memory::recall(&rows, question))
        }
        Err(failure) if failure.code == ErrorCode::DurableMissing => Ok(Vec::new()),
        Err(failure) => Err(failure),
    }
}

/// Whether another program wrote the database.
fn is_foreign(path: &std::path::Path) -> bool {
    matches!(
        examine(path, Database::Durable),
        Ok(FoundDatabase::Foreign(..))
    )
}
