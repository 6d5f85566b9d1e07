//! Runs one real search: loads the model, embeds a query, searches both sides, reads the rows.

use super::codes::Code;
use super::configured_model::ConfiguredModel;
use super::{Checks, Phase3, Subject};
use local_agent_agent::config::Config;
use local_agent_embed::embedding::QueryVector;
use local_agent_index::lexical::Query;
use local_agent_index::retrieval::{Engine, Hit, Mode, Request, Scope};
use local_agent_text::error::{Failure, Result};
use local_agent_text::language::terms;

/// The text of the trial vector search. Any text has a nearest neighbour.
const QUERY: &str = "test";

/// Number of words of the found chunk that are then searched for.
const WORDS: usize = 8;

const REASON_PRECONDITIONS: &str = "preconditions_not_met";

/// Why a search did not work.
enum NotReady {
    /// No vector that was found belongs to a chunk of the index.
    NoVectorOfTheIndex,
    /// The nearest vector has a score that is no finite number.
    ScoreIsNotFinite,
    /// The words of a chunk find nothing.
    WordsFindNothing,
    /// The search failed.
    Failed(Failure),
}

impl NotReady {
    fn reason(&self) -> &str {
        match self {
            Self::NoVectorOfTheIndex => "no vector that was found belongs to a chunk of the index",
            Self::ScoreIsNotFinite => "the nearest vector has no finite score",
            Self::WordsFindNothing => "the words of a chunk find nothing",
            Self::Failed(failure) => &failure.message,
        }
    }

    /// The command that fixes it.
    fn fix(&self) -> &str {
        match self {
            Self::NoVectorOfTheIndex => "local-agent embed",
            Self::ScoreIsNotFinite => "local-agent embed --rebuild",
            Self::WordsFindNothing => "local-agent index",
            Self::Failed(failure) => failure
                .hint
                .as_deref()
                .filter(|hint| *hint != "local-agent doctor")
                .unwrap_or("local-agent embed"),
        }
    }
}

pub(super) fn check(
    subject: &Subject<'_>,
    configured: Option<&ConfiguredModel<'_>>,
    checks: &mut Checks,
    phase3: &mut Phase3,
) {
    if subject.config().embed.provider.is_server() && subject.offline {
        phase3.retrieval_smoke_reason = "skipped_no_ollama".to_owned();
        let message =
            "no search was tried: its vectors come from a server, and none may be contacted";
        checks.ok(Code::RetrievalSmokeSkippedNoOllama, message);
        return;
    }
    let matches = phase3.embed_runtime_fingerprint_match == Some(true);
    let Some(configured) = configured.filter(|_| matches && !broken(checks)) else {
        return not_tried(subject, checks, phase3);
    };
    phase3.retrieval_smoke_ran = true;
    match search(subject.config(), configured) {
        Ok(found) => {
            phase3.retrieval_smoke_ok = Some(true);
            phase3.retrieval_smoke_reason = "ok".to_owned();
            checks.ok(Code::RetrievalReadyOk, found);
        }
        // What `embed` would bring up to date is a warning, and a search by words works.
        Err(NotReady::NoVectorOfTheIndex) if checks.reported(Code::VectorsStaleWarn) => {
            phase3.retrieval_smoke_ran = false;
            not_tried(subject, checks, phase3);
        }
        Err(not_ready) => {
            phase3.retrieval_smoke_ok = Some(false);
            not_ready
                .reason()
                .clone_into(&mut phase3.retrieval_smoke_reason);
            checks.fail(Code::RetrievalNotReady, not_ready.reason(), not_ready.fix());
        }
    }
}

/// Whether an earlier check already reports, with the right command, why a search cannot work.
fn broken(checks: &Checks) -> bool {
    let codes = [
        Code::IndexEmpty,
        Code::LexicalMissing,
        Code::LexicalDamaged,
        Code::VectorsMissing,
        Code::VectorsDamaged,
        Code::VectorsNewer,
        Code::VectorsFingerprintMismatch,
    ];
    codes.into_iter().any(|code| checks.failed(code))
}

fn not_tried(subject: &Subject<'_>, checks: &mut Checks, phase3: &mut Phase3) {
    phase3.retrieval_smoke_reason = REASON_PRECONDITIONS.to_owned();
    let message = "no search by meaning was tried: what it needs is missing, damaged or old";
    if subject.require_phase3 {
        checks.fail(
            Code::RetrievalNotReady,
            message,
            "local-agent index && local-agent embed",
        );
    } else {
        checks.ok(Code::RetrievalSmokeSkipped, message);
    }
}

fn search(
    config: &Config,
    configured: &ConfiguredModel<'_>,
) -> std::result::Result<String, NotReady> {
    let fingerprint = configured.fingerprint();
    let engine = Engine::open(
        &config.index.db_path,
        &config.lexical_dir(),
        &config.vectors_dir(),
        Some(&fingerprint),
    )
    .map_err(NotReady::Failed)?;
    let by_meaning = one(config, &engine, &Query::plain(QUERY), Mode::Vector, || {
        configured.embed(QUERY)
    });
    let Some(hit) = by_meaning.map_err(NotReady::Failed)? else {
        return Err(NotReady::NoVectorOfTheIndex);
    };
    let cosine = hit.trace.cosine.unwrap_or(f32::NAN);
    if !hit.score.is_finite() || !cosine.is_finite() {
        return Err(NotReady::ScoreIsNotFinite);
    }
    let words = terms(&hit.chunk.text);
    if !words.is_empty() {
        let text = hit
            .chunk
            .text
            .split_whitespace()
            .take(WORDS)
            .collect::<Vec<_>>()
            .join(" ");
        let query = Query::plain(&text);
        let by_words = one(config, &engine, &query, Mode::Lexical, || {
            Ok(QueryVector::default())
        })
        .map_err(NotReady::Failed)?;
        if !terms(&text).is_empty() && by_words.is_none() {
            return Err(NotReady::WordsFindNothing);
        }
    }
    Ok("a search by meaning and by words found chunks of the index".to_owned())
}

fn one(
    config: &Config,
    engine: &Engine,
    query: &Query,
    mode: Mode,
    embed: impl FnOnce() -> Result<QueryVector>,
) -> Result<Option<Hit>> {
    let request = Request {
        query,
        mode,
        scope: Scope::default(),
        limit: 1,
        fusion: config.retrieve.fusion,
        vector_weight: config.retrieve.vector_weight,
    };
    Ok(engine.search(&request, embed)?.hits.into_iter().next())
}
