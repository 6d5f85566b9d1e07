//! Runs the jobs that several commands share: `index` and `embed`, `query --refresh`, `try`,
//! `watch`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::privacy;
use super::setup::{Cutting, embedding_files, file_stamp, holder, now, seconds};
use crate::config::{Config, stays_on_this_machine, unknown_source};
use local_agent_embed::embedding::{
    self, Embedder, Encoder, QueryVector, ServerEmbedder, ServerSpec, TokenCounter,
};
use local_agent_embed::models::{Engine, ModelFiles, PreparedFolder};
use local_agent_files::sandbox::{PrivateNotes, Sandbox};
use local_agent_index::ids::{ChunkId, IdSet};
use local_agent_index::indexing::Source;
use local_agent_index::indexing::{
    Counter, EmbedOptions, EmbedSummary, IndexOptions, IndexSummary, OnProgress, embed, index,
};
use local_agent_index::store::IndexReader;
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::types::Fingerprint;

/// Options for one run of `index`.
#[derive(Debug, Default)]
pub struct IndexRun<'a> {
    /// Only these sources; empty: all.
    pub only: &'a [String],
    /// Read every file again and compare its hash, even if its time and size did not change.
    pub verify: bool,
    /// Build a new index next to the present one, and replace that one at the end.
    pub rebuild: bool,
    /// Accept that a source has lost all its files.
    pub allow_empty: bool,
    /// How long to wait for another `index` before failing with `LOCKED`.
    pub wait: Duration,
}

/// Runs `index` for `config`.
pub fn run_index(
    config: &Config,
    sandbox: &Sandbox,
    files: &ModelFiles,
    run: &IndexRun<'_>,
    on_progress: OnProgress<'_>,
) -> Result<IndexSummary> {
    // Without sources, there may be notes of removed ones to forget.
    if config.sources.is_empty() && !has_sources(config)? {
        return Err(
            Failure::new(ErrorCode::IndexError, "no sources are configured")
                .with_fix(Fix::ConfigureByCommand, config.first_step()),
        );
    }
    let selected = select(config, run.only)?;
    let cutting = Cutting::new(config, files);
    let (stamp, holder) = (file_stamp(), holder("index"));
    let options = IndexOptions {
        selected: &selected,
        configured: &config.sources,
        db_path: &config.index.db_path,
        lexical_dir: &config.lexical_dir(),
        chunking: cutting.options,
        chunker_sig: &cutting.sig,
        definitions: &crate::tools::definitions,
        verify: run.verify,
        rebuild: run.rebuild.then_some(stamp.as_str()),
        allow_empty: run.allow_empty,
        wait: run.wait,
        holder: &holder,
    };
    let load = || {
        let counter = TokenCounter::for_counting(files)?;
        Ok(Box::new(move |text: &str| counter.count(text)) as Counter<'_>)
    };
    index(&options, sandbox, &load, on_progress)
}

/// Whether the index has a source.
fn has_sources(config: &Config) -> Result<bool> {
    match IndexReader::open(&config.index.db_path)? {
        Some(index) => Ok(!index.source_names()?.is_empty()),
        None => Ok(false),
    }
}

/// The sources named by `--source`, or all without it.
///
/// Errors: `INVALID_ARGS` for a name that no source has.
pub fn select(config: &Config, only: &[String]) -> Result<Vec<Source>> {
    if let Some(unknown) = only.iter().find(|name| {
        !config
            .sources
            .iter()
            .any(|s| s.name.as_str() == name.as_str())
    }) {
        let known = config.sources.iter().map(|s| s.name.as_str());
        return Err(unknown_source(unknown, known));
    }
    Ok(config
        .sources
        .iter()
        .filter(|source| only.is_empty() || only.iter().any(|name| name == source.name.as_str()))
        .cloned()
        .collect())
}

/// Options for one run of `embed`.
#[derive(Debug, Default)]
pub struct EmbedRun<'a> {
    /// Embed at most this many chunks, and remove no vectors; `None`: all.
    pub limit: Option<usize>,
    /// Row ids of chunks to embed first, in this order.
    pub first: &'a [ChunkId],
    /// Stop at the next commit after this time; `None`: when everything is embedded.
    pub budget: Option<Duration>,
    /// Embed everything again. A foreign database is moved aside first.
    pub rebuild: bool,
    /// Neither remove nor mark vectors that no chunk uses.
    pub no_prune: bool,
    /// Count what would be embedded, and change nothing.
    pub dry_run: bool,
    /// How long to wait for another `embed` before failing with `LOCKED`.
    pub wait: Duration,
}

/// How long a server may take for one request.
const SERVER_PATIENCE: Duration = Duration::from_secs(300);

/// The embedding model for questions and chunks; no weights are loaded before
/// [`EmbeddingModel::load`].
#[derive(Debug, Clone)]
pub enum EmbeddingModel {
    /// candle, with files on this machine.
    Local(Box<ModelFiles>),
    /// The configured server.
    Server(ServerSpec),
}

impl EmbeddingModel {
    /// The configured model; `models_dir` is the folder of downloaded models.
    pub fn configured(config: &Config, models_dir: Option<&Path>) -> Result<Self> {
        if config.embed.provider.is_server() {
            config.embedding_server(SERVER_PATIENCE).map(Self::Server)
        } else {
            let files = embedding_files(config, models_dir)?;
            Ok(Self::Local(Box::new(files)))
        }
    }

    /// The same model, which stores packed weights in `folder`.
    #[must_use]
    pub fn with_prepared(self, folder: PreparedFolder) -> Self {
        match self {
            Self::Local(files) => Self::Local(Box::new(files.with_prepared(folder))),
            server @ Self::Server(_) => server,
        }
    }

    /// Its id; for a model on a server, the id that the server uses.
    pub fn id(&self) -> &str {
        match self {
            Self::Local(files) => files.id(),
            Self::Server(spec) => &spec.model,
        }
    }

    /// The engine that computes its network; `None` for a model on a server.
    pub fn engine(&self) -> Option<Engine> {
        match self {
            Self::Local(files) => Some(files.network().engine()),
            Self::Server(_) => None,
        }
    }

    /// Whether texts are sent out of this program for embedding.
    pub fn is_server(&self) -> bool {
        matches!(self, Self::Server(_))
    }

    /// The fingerprint of its vectors. A server is asked for its model's digest.
    pub fn fingerprint(&self) -> Result<Fingerprint> {
        match self {
            Self::Local(files) => Ok(embedding::fingerprint(files)),
            Self::Server(_) => Ok(self.load()?.fingerprint()),
        }
    }

    /// Number of dimensions, if known without asking a server.
    pub fn dim(&self) -> Option<usize> {
        match self {
            Self::Local(files) => Some(files.dimensions()),
            Self::Server(_) => None,
        }
    }

    /// The vector of one question, for a process that needs no other vector.
    pub fn embed_question(&self, text: &str) -> Result<QueryVector> {
        match self {
            Self::Local(files) => Encoder::for_questions(files)?.embed_query(text),
            Self::Server { .. } => self.load()?.embed_query(text),
        }
    }

    /// Loads the weights, or connects to the server.
    pub fn load(&self) -> Result<Embedder> {
        match self {
            Self::Local(files) => Ok(Embedder::Candle(Box::new(Encoder::load(files)?))),
            Self::Server(spec) => Ok(Embedder::Server(Box::new(ServerEmbedder::connect(
                spec.clone(),
            )?))),
        }
    }
}

/// The chunks of private notes if `model` is on another machine, to which they are not sent.
fn kept_back(config: &Config, model: &EmbeddingModel) -> Result<Option<IdSet<ChunkId>>> {
    match model {
        EmbeddingModel::Server(server) if !stays_on_this_machine(&server.base, &server.model) => {
            let index = IndexReader::required(&config.index.db_path)?;
            private_chunks(config, &index).map(Some)
        }
        _ => Ok(None),
    }
}

/// The chunks that get no vector, because they are of private notes and the configured embedding
/// model is on another machine.
///
/// # Errors
/// Those of opening the sources and of the database.
pub fn chunks_without_vector(config: &Config, index: &IndexReader) -> Result<IdSet<ChunkId>> {
    let is_elsewhere = config.embed.provider.is_server()
        && !stays_on_this_machine(&config.llm.server()?.to_string(), &config.embed.model);
    match is_elsewhere {
        true => private_chunks(config, index),
        false => Ok(IdSet::default()),
    }
}

/// The chunks of private notes.
fn private_chunks(config: &Config, index: &IndexReader) -> Result<IdSet<ChunkId>> {
    let private = Arc::new(PrivateNotes::new(&config.security));
    let sandbox = super::sandbox(config)?.without_private(private);
    privacy::kept_chunks(index, &sandbox)
}

/// Runs `embed` for `config`.
pub fn run_embed(
    config: &Config,
    model: &EmbeddingModel,
    run: &EmbedRun<'_>,
    on_progress: OnProgress<'_>,
) -> Result<(EmbedSummary, Fingerprint)> {
    let fingerprint = model.fingerprint()?;
    let kept = kept_back(config, model)?;
    let (stamp, holder, now) = (file_stamp(), holder("embed"), now());
    let vectors_dir: PathBuf = config.vectors_dir();
    let threads = match config.embed.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    };
    let options = EmbedOptions {
        index_db: &config.index.db_path,
        db_path: &config.embed.db_path,
        vectors_dir: &vectors_dir,
        fingerprint,
        model_id: model.id(),
        batch_tokens: config.embed.batch_tokens,
        threads,
        limit: run.limit,
        first: run.first,
        budget: run.budget,
        rebuild: run.rebuild.then_some(stamp.as_str()),
        no_prune: run.no_prune,
        keep_unused: Duration::from_secs(config.embed.keep_unused_days * 86_400),
        clock: seconds(),
        dry_run: run.dry_run,
        wait: run.wait,
        kept_back: kept.as_ref(),
        holder: &holder,
        now: &now,
    };
    let summary = embed(&options, || model.load(), on_progress)?;
    Ok((summary, fingerprint))
}
