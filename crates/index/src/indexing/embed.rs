//! The `embed` job: adds vectors for texts that have none under the current fingerprint.
//!
//! Rows are committed in batches, so a killed run loses only seconds of work. The matrix is
//! published at intervals, so even a first run of hours gives results within minutes. Texts are
//! processed in order of length: batches need no padding. Progress is counted in tokens, so the
//! estimate of the remaining time is accurate.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::{OnProgress, Progress, matrix, measure};
use crate::ids::{ChunkId, IdSet};
use crate::store::{
    self, ChunkRef, Database, EmbeddingStore, IndexReader, Inputs, JobLock, StoredEmbedding,
};
use crate::vectors::Matrix;
use local_agent_embed::embedding::{self, Embedder};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{Fingerprint, Sha256};

/// Tokens embedded between two commits: about ten seconds on two cores.
const COMMIT_TOKENS: usize = 32_768;

/// How often a long run publishes its progress.
const PUBLISH_EVERY: Duration = Duration::from_secs(60);

/// What to embed and how.
#[derive(Debug)]
pub struct EmbedOptions<'a> {
    /// `index.sqlite`.
    pub index_db: &'a Path,
    /// `embeddings.sqlite`.
    pub db_path: &'a Path,
    /// The matrix projection's folder.
    pub vectors_dir: &'a Path,
    /// Identifies the model; only vectors with the same fingerprint are comparable.
    pub fingerprint: Fingerprint,
    /// The id of the model, stored with the rows.
    pub model_id: &'a str,
    /// Tokens in one forward pass.
    pub batch_tokens: usize,
    /// Worker threads.
    pub threads: usize,
    /// Embed at most this many chunks, and remove no vectors.
    pub limit: Option<usize>,
    /// Embed these chunks first, in this order (`try`: the hits of the question).
    pub first: &'a [ChunkId],
    /// Stop after this time, at the next commit.
    pub budget: Option<Duration>,
    /// Embed everything again, row by row; a foreign database is first moved aside, with this
    /// suffix.
    pub rebuild: Option<&'a str>,
    /// Neither remove nor mark vectors that no chunk uses.
    pub no_prune: bool,
    /// How long a vector that no chunk uses is kept.
    pub keep_unused: Duration,
    /// The current time in seconds since 1970.
    pub clock: i64,
    /// Only count, and change nothing.
    pub dry_run: bool,
    /// Chunks whose text must not be given to the model.
    pub kept_back: Option<&'a IdSet<ChunkId>>,
    /// How long to wait for another `embed`.
    pub wait: Duration,
    /// The text that other processes see while this job holds the lock.
    pub holder: &'a str,
    /// RFC 3339, stored with each row.
    pub now: &'a str,
}

/// The statistics of a run. Field names are those of `embed --json`.
#[derive(Debug, Default, schemars::JsonSchema, serde::Serialize)]
pub struct EmbedSummary {
    /// Chunks of the whole index.
    pub total_chunks: usize,
    /// Vectors of this model before the run.
    pub existing_embeddings: u64,
    /// All vectors before the run, of every model.
    pub embeddings_total_before: u64,
    /// All vectors after the run, of every model.
    pub embeddings_total_after: u64,
    /// Vectors that no chunk used before the run.
    pub orphan_embeddings_before: u64,
    /// Number of those vectors that the run removed.
    pub orphan_embeddings_pruned: u64,
    /// Vectors that no chunk uses but that are still kept.
    pub orphan_embeddings_kept: u64,
    /// Chunks without a vector.
    pub missing: usize,
    /// Vectors of other models.
    pub outdated: usize,
    /// Vectors that the run stored.
    pub embedded_written: usize,
    /// Chunks that already had their vector.
    pub skipped_ok: usize,
    /// Tokens that were embedded.
    pub tokens: u64,
    /// Chunks longer than the window of the model, whose vector is the mean of several.
    pub windowed: usize,
    /// Chunks of private notes, which are not sent to a model on another machine.
    pub kept_back: usize,
    /// Whether the run wrote nothing.
    pub dry_run: bool,
    /// Chunks that have a vector in the matrix, and all chunks.
    pub covered_chunks: usize,
    /// The number of `errors`.
    pub errors_count: usize,
    /// One sentence for each text that could not be embedded.
    pub errors: Vec<String>,
    /// The new path of a foreign database that was moved aside.
    pub moved_aside: Option<PathBuf>,
}

/// Embeds every text without a vector. `load` is called only if there is one, so otherwise no model
/// is loaded.
pub fn embed(
    options: &EmbedOptions<'_>,
    load: impl FnOnce() -> Result<Embedder>,
    on_progress: OnProgress<'_>,
) -> Result<EmbedSummary> {
    work(options, load, on_progress).map_err(|failure| Database::Embeddings.blame(failure))
}

fn work(
    options: &EmbedOptions<'_>,
    load: impl FnOnce() -> Result<Embedder>,
    on_progress: OnProgress<'_>,
) -> Result<EmbedSummary> {
    if options.dry_run {
        return plan(
            options,
            EmbeddingStore::open_read(options.db_path)?.as_ref(),
        )
        .map(|plan| plan.summary);
    }
    // Without an index there is nothing to embed, and nothing is created.
    IndexReader::required(options.index_db)?;
    let lock_path = JobLock::path_beside(options.db_path, "embed.lock");
    let _lock = JobLock::take(&lock_path, options.holder, options.wait)?;
    let moved_aside = make_room(options)?;
    let mut store = EmbeddingStore::open_write(options.db_path)?;
    let (plan, published) = plan_and_check(options, &store);
    let EmbedPlan {
        mut summary,
        work,
        used,
    } = plan?;
    summary.moved_aside = moved_aside;
    let mut published = Some(published);
    let mut model = OnFirstUse::new(options.fingerprint, load);
    if !work.is_empty() {
        let embedder = model.get()?;
        // The run replaces the published matrix.
        published = None;
        run(
            options,
            &mut store,
            embedder,
            &work,
            &mut summary,
            on_progress,
        )?;
    }
    if !options.no_prune && options.limit.is_none() {
        prune(options, &mut store, &used, &mut summary)?;
    }
    store.checkpoint()?;
    summary.embeddings_total_after = store.count()?;
    let old = match published {
        _ if options.rebuild.is_some() => Ok(None),
        Some(published) => published,
        None => matrix::sound(options.vectors_dir),
    };
    summary.covered_chunks = publish(options, &store, old, &summary)?;
    if measure::profile_is_wanted(options.vectors_dir, &options.fingerprint)? {
        measure::measure(options.index_db, options.vectors_dir, model.get()?)?;
    }
    summary.errors_count = summary.errors.len();
    Ok(summary)
}

/// Plans the run. At the same time, every byte of the published matrix is compared with its
/// checksums.
fn plan_and_check(
    options: &EmbedOptions<'_>,
    store: &EmbeddingStore,
) -> (Result<EmbedPlan>, Result<Option<Matrix>>) {
    thread::scope(|scope| {
        let published = scope.spawn(|| matrix::sound(options.vectors_dir));
        let plan = plan(options, Some(store));
        let published = published.join();
        let panicked = || Err(Failure::internal("checking the vectors panicked"));
        (plan, published.unwrap_or_else(|_| panicked()))
    })
}

/// Removes the vectors that no text has used for long enough.
fn prune(
    options: &EmbedOptions<'_>,
    store: &mut EmbeddingStore,
    used: &Inputs,
    summary: &mut EmbedSummary,
) -> Result<()> {
    let keep = i64::try_from(options.keep_unused.as_secs()).unwrap_or(i64::MAX);
    let pruned = store.prune(&options.fingerprint, used, options.clock, keep)?;
    summary.orphan_embeddings_pruned = pruned.gone;
    summary.orphan_embeddings_kept = pruned.kept;
    Ok(())
}

/// A model that is loaded on first use.
struct OnFirstUse<F> {
    fingerprint: Fingerprint,
    load: Option<F>,
    loaded: Option<Embedder>,
}

impl<F: FnOnce() -> Result<Embedder>> OnFirstUse<F> {
    fn new(fingerprint: Fingerprint, load: F) -> Self {
        Self {
            fingerprint,
            load: Some(load),
            loaded: None,
        }
    }

    /// Errors: those of loading; `INTERNAL` when it is not the expected model.
    fn get(&mut self) -> Result<&Embedder> {
        if let Some(load) = self.load.take() {
            let embedder = load()?;
            if embedder.fingerprint() != self.fingerprint {
                return Err(Failure::internal(
                    "the loaded model is not the one that was announced",
                ));
            }
            self.loaded = Some(embedder);
        }
        self.loaded
            .as_ref()
            .ok_or_else(|| Failure::internal("the model could not be loaded before"))
    }
}

/// Publishes the matrix unless it is already up to date; returns how many chunks it covers.
fn publish(
    options: &EmbedOptions<'_>,
    store: &EmbeddingStore,
    old: Result<Option<Matrix>>,
    summary: &EmbedSummary,
) -> Result<usize> {
    let EmbedOptions {
        index_db,
        vectors_dir,
        fingerprint,
        ..
    } = options;
    if let (Ok(Some(old)), 0) = (&old, summary.embedded_written)
        && matrix::is_current(
            index_db,
            store,
            vectors_dir,
            fingerprint,
            old,
            summary.skipped_ok,
        )?
    {
        return Ok(summary.skipped_ok);
    }
    matrix::publish(index_db, store, vectors_dir, fingerprint, old)
}

/// For `--rebuild`: a foreign or damaged database is moved aside; our own is kept, and its rows are
/// replaced one by one.
fn make_room(options: &EmbedOptions<'_>) -> Result<Option<PathBuf>> {
    let Some(suffix) = options.rebuild else {
        return Ok(None);
    };
    match store::examine(options.db_path, Database::Embeddings)? {
        store::FoundDatabase::Foreign(..) | store::FoundDatabase::NotADatabase => {
            Ok(Some(store::move_aside(options.db_path, suffix)?))
        }
        store::FoundDatabase::Ours | store::FoundDatabase::Older(_)
            if store::is_damaged(options.db_path, Database::Embeddings)? =>
        {
            Ok(Some(store::move_aside(options.db_path, suffix)?))
        }
        _ => Ok(None),
    }
}

/// One text to embed: a chunk with that text, and its length.
#[derive(Debug, Clone, Copy)]
struct Work {
    chunk_id: ChunkId,
    input: Sha256,
    tokens: usize,
}

struct EmbedPlan {
    summary: EmbedSummary,
    work: Vec<Work>,
    /// Inputs of the whole index, which pruning keeps.
    used: Inputs,
}

fn plan(options: &EmbedOptions<'_>, store: Option<&EmbeddingStore>) -> Result<EmbedPlan> {
    let index = IndexReader::required(options.index_db)?;
    let have = store
        .map(|store| store.inputs(&options.fingerprint))
        .transpose()?
        .unwrap_or_default();
    let total = store.map(EmbeddingStore::count).transpose()?.unwrap_or(0);
    let mut summary = EmbedSummary {
        existing_embeddings: have.len() as u64,
        embeddings_total_before: total,
        embeddings_total_after: total,
        dry_run: options.dry_run,
        ..EmbedSummary::default()
    };
    let mut used = Inputs::default();
    let (mut work, mut kept_back) = (Vec::new(), Vec::new());
    index
        .each_chunk(
            |ChunkRef {
                 id,
                 input_sha256,
                 tokens,
                 ..
             }| {
                summary.total_chunks += 1;
                if options.kept_back.is_some_and(|kept| kept.contains(id)) {
                    kept_back.push(input_sha256);
                    return Ok(());
                }
                let is_new = used.insert(input_sha256);
                if have.contains(&input_sha256) {
                    summary.skipped_ok += 1;
                } else {
                    summary.missing += 1;
                }
                if is_new && (options.rebuild.is_some() || !have.contains(&input_sha256)) {
                    work.push(Work {
                        chunk_id: id,
                        input: input_sha256,
                        tokens,
                    });
                }
                Ok(())
            },
        )
        .map_err(|error| Database::Index.blame(error))?;
    summary.kept_back = kept_back.len();
    // Existing vectors of these inputs are kept.
    for input in kept_back {
        used.insert(input);
    }
    let kept = have.iter().filter(|input| used.contains(*input)).count() as u64;
    summary.orphan_embeddings_before = total - kept;
    summary.outdated = usize::try_from(total - have.len() as u64).unwrap_or(usize::MAX);
    order(&mut work, options.first);
    work.truncate(options.limit.unwrap_or(usize::MAX));
    Ok(EmbedPlan {
        summary,
        work,
        used,
    })
}

/// The requested chunks first, in their order; the rest from short to long.
fn order(work: &mut [Work], first: &[ChunkId]) {
    work.sort_by_cached_key(|one| (rank_of(first, one), one.tokens, one.chunk_id));
}

/// The position of a chunk among those that are embedded first.
fn rank_of(first: &[ChunkId], work: &Work) -> usize {
    first
        .iter()
        .position(|id| *id == work.chunk_id)
        .unwrap_or(usize::MAX)
}

fn run(
    options: &EmbedOptions<'_>,
    store: &mut EmbeddingStore,
    embedder: &Embedder,
    work: &[Work],
    summary: &mut EmbedSummary,
    on_progress: OnProgress<'_>,
) -> Result<()> {
    let total: u64 = work.iter().map(|one| one.tokens as u64).sum();
    let (began, mut published) = (Instant::now(), Instant::now());
    let mut done = 0;
    let mut rest = work;
    while !rest.is_empty() {
        let (batch, after) = rest.split_at(batch_len(rest));
        rest = after;
        let (rows, tokens) = embed_batch(options, embedder, batch)?;
        summary.windowed += rows.iter().filter(|row| row.windows > 1).count();
        summary.embedded_written += rows.len();
        summary.tokens += tokens;
        store.publish(&options.fingerprint, options.model_id, options.now, &rows)?;
        done += batch.iter().map(|one| one.tokens as u64).sum::<u64>();
        on_progress(Progress::Tokens { done, total });
        if options
            .budget
            .is_some_and(|budget| began.elapsed() >= budget)
        {
            break;
        }
        if published.elapsed() >= PUBLISH_EVERY && !rest.is_empty() {
            let old = matrix::sound(options.vectors_dir);
            matrix::publish(
                options.index_db,
                store,
                options.vectors_dir,
                &options.fingerprint,
                old,
            )?;
            published = Instant::now();
        }
    }
    Ok(())
}

fn batch_len(work: &[Work]) -> usize {
    let mut tokens = 0;
    let within = |one: &&Work| {
        tokens += one.tokens;
        tokens <= COMMIT_TOKENS
    };
    work.iter().take_while(within).count().max(1)
}

/// Reads the texts of one batch in a separate short transaction, so that `index` is never blocked
/// for long.
fn embed_batch(
    options: &EmbedOptions<'_>,
    embedder: &Embedder,
    batch: &[Work],
) -> Result<(Vec<StoredEmbedding>, u64)> {
    let index = IndexReader::required(options.index_db)?;
    let mut inputs = Vec::with_capacity(batch.len());
    for one in batch {
        // A chunk that `index` has since removed needs no vector.
        let found = index
            .embedding_text(one.chunk_id)
            .map_err(|error| Database::Index.blame(error))?;
        let Some((heading, text)) = found else {
            continue;
        };
        let text = embedding::passage_input(&heading, &text);
        if Sha256::of(text.as_bytes()) == one.input {
            inputs.push((one.input, text));
        }
    }
    drop(index);
    let texts: Vec<&str> = inputs.iter().map(|(_, text)| text.as_str()).collect();
    let vectors =
        embedder.embed_passages(&texts, options.threads, options.batch_tokens, &|_| ())?;
    if vectors.len() != inputs.len() {
        return Err(Failure::new(
            ErrorCode::EmbedError,
            "the embedder returned another number of vectors than texts",
        ));
    }
    let tokens = vectors.iter().map(|v| u64::from(v.tokens)).sum();
    let rows = inputs
        .iter()
        .zip(vectors)
        .map(|((input, _), embedded)| StoredEmbedding {
            input_sha256: *input,
            vector: embedded.vector,
            tokens: embedded.tokens,
            windows: embedded.windows,
        });
    Ok((rows.collect(), tokens))
}
