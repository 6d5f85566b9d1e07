//! Index, projections and model: opened once for one command, or kept open for a server.
//!
//! A server queries the same index thousands of times. Its engines stay open between questions,
//! without a read transaction, so that a writer's log can be emptied; each question begins a new
//! transaction. Before every question the disk is checked for changes: the newest commit id, and
//! the stamps of the database file, of the lexical projection's `meta.json` and of the matrix's
//! manifest, which are always replaced and never changed in place.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::jobs::EmbeddingModel;
use crate::config::Config;
use local_agent_embed::embedding::{LazyEmbedder, QueryVector, QuestionEmbedder};
use local_agent_embed::models::RerankerFiles;
use local_agent_index::lexical;
use local_agent_index::retrieval::{self, Engine, Projections, SharedReranker, Stale};
use local_agent_index::vectors;
use local_agent_net::http::is_server_failure;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Fingerprint;

/// How many engines are kept between questions, and how many questions use one at once.
const KEPT: usize = 4;

/// How long a question waits for one of them before it opens its own. A few searches take that
/// long; an answer by a chat model takes much longer.
const PATIENCE: Duration = Duration::from_millis(250);

/// The index with its projections, and the model for embedding questions. A clone shares them.
#[derive(Clone)]
pub struct Library {
    shared: Arc<Shared>,
    reranker: Option<Arc<SharedReranker>>,
}

/// The data that the clones of a library share.
struct Shared {
    index_db: PathBuf,
    lexical_dir: PathBuf,
    vectors_dir: PathBuf,
    /// The model; `None`: only words are searched.
    model: Option<EmbeddingModel>,
    fingerprint: Mutex<Option<Fingerprint>>,
    keeps: bool,
    engines: Mutex<Engines>,
    /// Notified when an engine is given back.
    returned: Condvar,
    embedder: LazyEmbedder<'static>,
}

/// The engines that stay open.
#[derive(Default)]
struct Engines {
    idle: Vec<Opened>,
    /// How many questions use one now.
    lent: usize,
    /// The projections that were opened last, and the state of the disk just before.
    newest: Option<(DiskState, Arc<Projections>)>,
}

/// An engine that is lent to one question, and is given back at its end.
struct EngineLease<'a> {
    shared: &'a Shared,
    /// `None`: the question failed or panicked, and the engine is not kept.
    engine: Option<Opened>,
}

impl Drop for EngineLease<'_> {
    fn drop(&mut self) {
        let mut engines = hold(&self.shared.engines);
        engines.lent -= 1;
        if engines.idle.len() < KEPT {
            engines.idle.extend(self.engine.take());
        }
        drop(engines);
        self.shared.returned.notify_one();
    }
}

/// An engine with the state of the disk just before it was opened.
struct Opened {
    engine: Engine,
    seen: DiskState,
}

impl Shared {
    /// Takes an idle engine, if there is one. When [`KEPT`] questions use an engine already, this
    /// waits until one ends, but not longer than [`PATIENCE`]: more searches at once than there are
    /// cores are no faster, and need more memory.
    fn lend(&self) -> (Option<Opened>, EngineLease<'_>) {
        let engines = hold(&self.engines);
        let (mut engines, _) = self
            .returned
            .wait_timeout_while(engines, PATIENCE, |engines| engines.lent >= KEPT)
            .unwrap_or_else(PoisonError::into_inner);
        engines.lent += 1;
        let idle = engines.idle.pop();
        drop(engines);
        let lent = EngineLease {
            shared: self,
            engine: None,
        };
        (idle, lent)
    }
}

/// Differs whenever another engine would see other data.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DiskState([Option<(SystemTime, u64, u64)>; 3]);

impl Library {
    /// A library for one command: the model is loaded on first use, in the quickest way.
    pub fn for_command(config: &Config, model: Option<EmbeddingModel>) -> Self {
        Self::new(config, model, false)
    }

    /// A library for a long-running process: engines and models stay open.
    pub fn for_server(config: &Config, model: Option<EmbeddingModel>) -> Self {
        Self::new(config, model, true)
    }

    fn new(config: &Config, model: Option<EmbeddingModel>, keeps: bool) -> Self {
        let wanted = model.clone();
        let embedder = LazyEmbedder::new(move || match &wanted {
            Some(model) => model.load(),
            None => Err(Failure::internal(
                "a library without a model was asked for one",
            )),
        });
        let shared = Shared {
            index_db: config.index.db_path.clone(),
            lexical_dir: config.lexical_dir(),
            vectors_dir: config.vectors_dir(),
            model,
            fingerprint: Mutex::default(),
            keeps,
            engines: Mutex::default(),
            returned: Condvar::new(),
            embedder,
        };
        Self {
            shared: Arc::new(shared),
            reranker: None,
        }
    }

    /// The same library with a reranker, which is loaded on first use; `None`: without one.
    #[must_use]
    pub fn with_reranker(mut self, config: &Config, files: Option<RerankerFiles>) -> Self {
        let (time, threads) = (config.retrieve.reranker_ms, config.embed.threads);
        let shared = |files| SharedReranker::new(files, Duration::from_millis(time), threads);
        self.reranker = files.map(|files| Arc::new(shared(files)));
        self
    }

    /// The same index without vectors, for one command.
    pub fn words_alone(&self, config: &Config) -> Self {
        Self {
            reranker: self.reranker.clone(),
            ..Self::for_command(config, None)
        }
    }

    /// This library; if the embedding server cannot be used, the same index without vectors, and
    /// what is missing.
    ///
    /// # Errors
    /// Those of [`Self::fingerprint`] that are not failures of a server.
    pub fn or_words_alone(&self, config: &Config) -> Result<(Self, Option<Stale>)> {
        match self.fingerprint() {
            Ok(_) => Ok((self.clone(), None)),
            Err(failure) if self.is_without_server(&failure) => {
                let missing = retrieval::without_meaning(&failure);
                Ok((self.words_alone(config), Some(missing)))
            }
            Err(failure) => Err(failure),
        }
    }

    /// This library; if the embedding server cannot be used, the same index with the vectors that
    /// are stored, which can be compared with each other but not with a question, and what is
    /// missing.
    ///
    /// # Errors
    /// Those of [`Self::fingerprint`] that are not failures of a server, and of opening the
    /// vectors.
    pub fn or_stored_vectors(&self, config: &Config) -> Result<(Self, Option<Stale>)> {
        let (library, missing) = self.or_words_alone(config)?;
        if missing.is_some()
            && let Some(matrix) = vectors::Matrix::open(&self.shared.vectors_dir)?
        {
            *hold(&library.shared.fingerprint) = Some(matrix.stamp().fingerprint);
        }
        Ok((library, missing))
    }

    /// Whether the failure is one of the embedding server, without which words are still searched.
    pub fn is_without_server(&self, failure: &Failure) -> bool {
        let is_server = self.model().is_some_and(EmbeddingModel::is_server);
        is_server && (is_server_failure(failure) || failure.code == ErrorCode::ModelNotFound)
    }

    /// The reranker for the best hits.
    pub fn reranker(&self) -> Option<&SharedReranker> {
        self.reranker.as_deref()
    }

    /// The embedding model for questions.
    pub fn model(&self) -> Option<&EmbeddingModel> {
        self.shared.model.as_ref()
    }

    /// The fingerprint of the model; a server is asked for it only once.
    pub fn fingerprint(&self) -> Result<Option<Fingerprint>> {
        let mut known = hold(&self.shared.fingerprint);
        if known.is_none()
            && let Some(model) = &self.shared.model
        {
            *known = Some(model.fingerprint()?);
        }
        Ok(*known)
    }

    /// Runs `work` with an engine that sees the newest published data.
    pub fn with<T>(&self, work: impl FnOnce(&Engine) -> Result<T>) -> Result<T> {
        if !self.shared.keeps {
            return work(&self.open(None)?.engine);
        }
        let (idle, mut lent) = self.shared.lend();
        let opened = self.open(idle)?;
        let done = work(&opened.engine);
        // An engine that cannot end its transaction is not kept.
        lent.engine = opened.engine.pause().is_ok().then_some(opened);
        done
    }

    /// The idle engine if it sees the newest published data, otherwise a new one.
    fn open(&self, idle: Option<Opened>) -> Result<Opened> {
        let fingerprint = self.fingerprint()?;
        // Checked first: if something changes while the engine is opened, the next question opens
        // another one.
        let seen = self.look();
        if let Some(idle) = idle
            && idle.seen == seen
            && idle.engine.resume().unwrap_or(false)
        {
            return Ok(idle);
        }
        if let Some(engine) = self.beside_another(&seen)? {
            return Ok(Opened { engine, seen });
        }
        let engine = Engine::open(
            &self.shared.index_db,
            &self.shared.lexical_dir,
            &self.shared.vectors_dir,
            fingerprint.as_ref(),
        )?;
        if self.shared.keeps {
            let newest = (seen.clone(), Arc::clone(engine.projections()));
            hold(&self.shared.engines).newest = Some(newest);
        }
        Ok(Opened { engine, seen })
    }

    /// An engine over projections that are open already, if they are those on the disk.
    fn beside_another(&self, seen: &DiskState) -> Result<Option<Engine>> {
        let newest = hold(&self.shared.engines).newest.clone();
        match newest.filter(|(of, _)| of == seen) {
            Some((_, projections)) => Engine::beside(&self.shared.index_db, &projections),
            None => Ok(None),
        }
    }

    /// A value that changes whenever another engine would see other data.
    pub fn state(&self) -> Result<String> {
        let seen = self.look();
        self.with(|engine| Ok(format!("{seen:?} {:?}", engine.index().commit_id()?)))
    }

    fn look(&self) -> DiskState {
        let lexical = self.shared.lexical_dir.join(lexical::COMMIT_FILE);
        let vectors = self.shared.vectors_dir.join(vectors::MANIFEST_FILE);
        DiskState([
            file_stamp(&self.shared.index_db),
            file_stamp(&lexical),
            file_stamp(&vectors),
        ])
    }

    /// The vector of one question.
    pub fn embed_question(&self, text: &str) -> Result<QueryVector> {
        match &self.shared.model {
            Some(model) if !self.shared.keeps => model.embed_question(text),
            _ => self.shared.embedder.get()?.embed_query(text),
        }
    }

    /// The model for one question.
    pub fn embedder(&self) -> QuestionEmbedder<'_> {
        QuestionEmbedder::new(&self.shared.embedder)
    }
}

/// Values that change when the file is written or replaced.
fn file_stamp(file: &Path) -> Option<(SystemTime, u64, u64)> {
    let meta = fs::metadata(file).ok()?;
    Some((meta.modified().ok()?, meta.len(), inode(&meta)))
}

/// Locks a mutex even if it is poisoned. The lists are changed by single pushes and pops, so a
/// panic cannot leave them half-changed.
fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
fn inode(meta: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_waits_for_an_engine_but_not_for_ever() {
        let config = Config::defaults(Path::new("/nowhere")).unwrap();
        let library = Library::for_server(&config, None);
        let lent: Vec<_> = (0..KEPT).map(|_| library.shared.lend()).collect();
        assert_eq!(hold(&library.shared.engines).lent, KEPT);
        let own = library.shared.lend();
        assert_eq!(hold(&library.shared.engines).lent, KEPT + 1);
        drop((own, lent));
        assert_eq!(hold(&library.shared.engines).lent, 0);
    }
}
