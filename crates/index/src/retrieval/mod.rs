//! Filters, fusion, packing: from a query to ranked chunks, and from ranked chunks to an evidence
//! snapshot.
//!
//! Readers never write (but for a transaction of a killed writer, which they roll back). A stale projection is searched as it is: a hit whose key differs from its
//! row's key is dropped, and the answer says `stale` with the command that fixes it. All rows of
//! one answer come from one read transaction.

mod chance;
mod document_sums;
mod filters;
mod fuse;
mod legibility;
mod listing;
mod pack;
mod projections;
mod question_scale;
mod refine;
mod rerank;
mod shown;
mod similar;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::ids::{ChunkId, DocumentId, IdSet};
use crate::lexical::{self, Query};
use crate::profile::{JUDGED, NeutralQuestion, Profile, default_calibration};
use crate::search_load::{RunningSearch, threads_of_a_search};
use crate::store::{self, ChunkRecord, Database, IndexReader};
use crate::vectors::{self, Matrix};
use local_agent_embed::embedding::QueryVector;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{Fingerprint, RelPath, SourceName};

use fuse::VectorSide;
use legibility::Pieces;

pub use chance::by_vectors;
pub use fuse::Trace;
pub use pack::{PackLimits, Packed, pack};
pub use projections::Projections;
pub use rerank::{RerankEnd, Reranked, SharedReranker, with_reranked};
pub use shown::{keep_shown, with_spare};

/// Maximum number of candidates of each side. Score-aware fusion needs the tail, because the scale
/// of a list depends on its ends.
const CANDIDATES: usize = 1_000;

/// How the two lists are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fusion {
    /// The weighted sum of their scores on one scale.
    Convex,
    /// Only their ranks (reciprocal rank fusion).
    Rrf,
}

/// Which sides are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Both.
    Hybrid,
    /// Only words; no model is loaded.
    Lexical,
    /// Only vectors.
    Vector,
}

/// Restrictions for both sides, applied before the cut.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The sources to search; empty: all.
    pub sources: Vec<SourceName>,
    /// Only documents below this folder.
    pub path_prefix: Option<RelPath>,
    /// Filters that must all match.
    pub filters: Vec<lexical::Filter>,
}

/// One search.
#[derive(Debug)]
pub struct Request<'a> {
    /// The query.
    pub query: &'a Query,
    /// Which sides are used.
    pub mode: Mode,
    /// Which documents are searched.
    pub scope: Scope,
    /// Maximum number of hits.
    pub limit: usize,
    /// How the sides are combined.
    pub fusion: Fusion,
    /// Share of the vector side in `convex`, 0 to 1; `None`: the share in the model's profile.
    pub vector_weight: Option<f32>,
}

/// One hit.
#[derive(Debug, Clone)]
pub struct Hit {
    /// The chunk, read in the answer's own transaction.
    pub chunk: ChunkRecord,
    /// The ranking score, 0 to 1; comparable within one answer only.
    pub score: f32,
    /// The chance that it is relevant, 0 to 1, assuming the question is like those of the
    /// calibration; comparable between questions. Never greater than that of the hit before.
    pub chance: f32,
    /// All numbers that determined the rank.
    pub trace: Trace,
}

/// How many chunks of the index have a searchable vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Coverage {
    /// Chunks in the index.
    pub chunks: u64,
    /// Of those, how many are in the matrix.
    pub embedded: u64,
}

/// Why an answer may miss the newest state, and how to fix that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Stale {
    /// `lexical`, `vectors`, `files`, or another word for the incomplete part.
    pub what: &'static str,
    /// One sentence.
    pub why: String,
    /// The command or the setting that fixes it.
    pub fix: &'static str,
}

/// What is missing from a search without the embedding server, which failed.
pub fn without_meaning(failure: &Failure) -> Stale {
    Stale {
        what: "meaning",
        why: format!(
            "words alone are searched, not meaning: {}",
            failure.message.trim_end_matches('.')
        ),
        fix: "local-agent doctor",
    }
}

/// The result of a search.
#[derive(Debug)]
pub struct Found {
    /// Best first.
    pub hits: Vec<Hit>,
    /// How much of the index the vector side covers.
    pub coverage: Coverage,
    /// Projections that are stale.
    pub stale: Vec<Stale>,
    /// Why the searched vectors were ignored, if they were, or say nothing.
    pub vectors_without_say: Option<String>,
    /// Highest cosine of the vector side, before fusion.
    pub top_cosine: Option<f32>,
    /// Whether the chance of the best hit reaches the floor. Results below the floor are no better
    /// than a guess.
    pub is_relevant: bool,
    /// That floor; `None` if every hit contains the requested phrase word for word.
    pub floor: Option<f32>,
    /// Number of hits whose row is gone or belongs to another chunk now.
    pub dropped: usize,
    /// The result of the reranker, if one ranked the hits.
    pub reranked: Option<Reranked>,
}

/// The unit that `limit` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Per {
    Chunk,
    Document,
}

/// The hits of both sides, and the question's vector if vectors were searched.
struct SideHits {
    words: Vec<lexical::LexicalHit>,
    vectors: Vec<vectors::VectorHit>,
    question: Option<AskedVector>,
}

/// The vector of a question.
struct AskedVector {
    question: QueryVector,
    /// The vector that is searched for.
    neutral: NeutralQuestion,
}

/// An index with its projections, in the state in which it was opened.
pub struct Engine {
    index: IndexReader,
    projections: Arc<Projections>,
}

/// Number of chunks whose letters and word pieces show how well a model can read the index.
const READ_FOR_LEGIBILITY: usize = 32;

/// How often opening is retried if the index is replaced meanwhile.
const OPEN_ATTEMPTS: usize = 4;

/// What is said of a query in a script that the model cannot read.
const UNREADABLE_QUERY: &str =
    "the model cannot read the script of this query, so only words are searched";

/// The same for a query in Latin script.
const UNKNOWN_QUERY: &str =
    "the model knows none of the words of this query, so only words are searched";

/// What a search by vectors alone says of such a query.
const UNREADABLE_BY_MEANING: &str = "the model cannot read the script of this query";

/// Why the vectors are ignored for a query that the model cannot read.
fn unreadable(asked: Option<&AskedVector>) -> &'static str {
    match asked.is_none_or(|asked| asked.question.is_in_another_script) {
        true => UNREADABLE_QUERY,
        false => UNKNOWN_QUERY,
    }
}

impl Engine {
    /// Opens everything for reading. `fingerprint` is that of the query vectors; a matrix with
    /// another fingerprint is not searched.
    pub fn open(
        index_db: &Path,
        lexical_dir: &Path,
        vectors_dir: &Path,
        fingerprint: Option<&Fingerprint>,
    ) -> Result<Self> {
        for _ in 0..OPEN_ATTEMPTS {
            let begun = store::identity(index_db);
            let opened = Self::open_once(index_db, lexical_dir, vectors_dir, fingerprint);
            // If another index was swapped in meanwhile, the projections opened later do not belong
            // to the index opened first.
            let whole = opened.as_ref().is_ok_and(Self::is_of_one_state);
            if whole || store::identity(index_db) == begun {
                return opened;
            }
        }
        Self::open_once(index_db, lexical_dir, vectors_dir, fingerprint)
    }

    fn open_once(
        index_db: &Path,
        lexical_dir: &Path,
        vectors_dir: &Path,
        fingerprint: Option<&Fingerprint>,
    ) -> Result<Self> {
        let index = IndexReader::required(index_db)?;
        let projections = Projections::open(&index, lexical_dir, vectors_dir, fingerprint)?;
        Ok(Self {
            index,
            projections: Arc::new(projections),
        })
    }

    /// Another engine over the same projections, for another thread: only the database is opened
    /// again. `None`: another index was published since these projections were opened.
    pub fn beside(index_db: &Path, projections: &Arc<Projections>) -> Result<Option<Self>> {
        let index = IndexReader::required(index_db)?;
        let is_same = index.commit_id()? == projections.commit;
        Ok(is_same.then(|| Self {
            index,
            projections: Arc::clone(projections),
        }))
    }

    /// What other engines can share, see [`Self::beside`].
    pub fn projections(&self) -> &Arc<Projections> {
        &self.projections
    }

    /// Ends the read transaction, so that an engine kept between questions does not block the
    /// writer's log. Do not use it again before [`Self::resume`].
    pub fn pause(&self) -> Result<()> {
        Ok(self.index.end()?)
    }

    /// Begins a new read transaction. `false`: a new index was published since this engine was
    /// opened, so another engine must be opened.
    pub fn resume(&self) -> Result<bool> {
        Ok(self.index.begin_again()? == self.projections.commit)
    }

    /// The index that all rows are read from.
    pub fn index(&self) -> &IndexReader {
        &self.index
    }

    /// The lexical projection, if there is one.
    pub fn lexical(&self) -> Option<&lexical::Reader> {
        self.projections.lexical.as_ref()
    }

    /// Projections that are stale. Vectors from another state of the index are not, if each chunk has
    /// one.
    ///
    /// # Errors
    /// Those of the database.
    pub fn stale(&self) -> Result<Vec<Stale>> {
        let mut stale = self.projections.stale.clone();
        // Without any text there is nothing to embed.
        if !stale.is_empty() && self.coverage()?.chunks == 0 {
            stale.retain(|one| one.what != "vectors");
        }
        if self.projections.has_older_vectors {
            let Coverage { chunks, embedded } = self.coverage()?;
            stale.extend((embedded < chunks).then(|| Stale {
                what: "vectors",
                why: "the vectors were made from another state of the index".to_owned(),
                fix: "local-agent embed",
            }));
        }
        Ok(stale)
    }

    /// Whether all projections were made from this state of the index.
    fn is_of_one_state(&self) -> bool {
        self.projections.stale.is_empty() && !self.projections.has_older_vectors
    }

    /// Whether there are vectors to search.
    pub fn has_vectors(&self) -> bool {
        self.projections.matrix.is_some()
    }

    /// Searches. `embed` returns the query's vector and is called only if vectors are searched.
    pub fn search(
        &self,
        request: &Request<'_>,
        embed: impl FnOnce() -> Result<QueryVector>,
    ) -> Result<Found> {
        self.found(request, Per::Chunk, embed)
            .map_err(|failure| Database::Index.blame(failure))
    }

    /// Like [`Self::search`], but returns only the best chunk of each document; `limit` counts
    /// documents.
    pub fn search_documents(
        &self,
        request: &Request<'_>,
        embed: impl FnOnce() -> Result<QueryVector>,
    ) -> Result<Found> {
        self.found(request, Per::Document, embed)
            .map_err(|failure| Database::Index.blame(failure))
    }

    fn found(
        &self,
        request: &Request<'_>,
        per: Per,
        embed: impl FnOnce() -> Result<QueryVector>,
    ) -> Result<Found> {
        let _running = RunningSearch::begin();
        let documents = filters::documents(&self.index, &request.scope)?;
        let chunks = self.chunk_scope(request, documents.as_ref())?;
        let sides = self.both(request, documents.as_ref(), chunks.as_ref(), embed)?;
        let top_cosine = sides.vectors.first().map(|hit| hit.score);
        let with_vector = self
            .projections
            .with_vector
            .get_or_init(|| self.vector_ids().collect());
        let legibility = self.legibility(sides.question.as_ref().map(|asked| &asked.question))?;
        let vectors = VectorSide {
            hits: &sides.vectors,
            profile: self.projections.profile.as_ref(),
            legibility,
            lift: 0.0,
        };
        let scale = self.question_scale(sides.question.as_ref(), vectors)?;
        let vectors = VectorSide {
            lift: scale.rank_lift,
            ..vectors
        };
        let mut fused = fuse::fuse(request, &sides.words, vectors, |chunk_id| {
            with_vector.contains(chunk_id)
        });
        if let (Mode::Hybrid, Some(asked)) = (request.mode, &sides.question) {
            self.refine(request, &asked.neutral, vectors, &mut fused)?;
        }
        let (mut hits, dropped) =
            self.read(fused, documents.as_ref(), per, request.limit.max(JUDGED))?;
        for hit in &mut hits {
            scale.rate_across(hit);
        }
        let floor = self.rate(request.mode, &mut hits);
        let vectors_without_say = match request.mode {
            Mode::Hybrid => self.vectors_without_say()?.or_else(|| {
                (legibility == 0.0).then(|| unreadable(sides.question.as_ref()).to_owned())
            }),
            Mode::Vector => sides
                .question
                .as_ref()
                .filter(|asked| legibility == 0.0 && asked.question.is_in_another_script)
                .map(|_| UNREADABLE_BY_MEANING.to_owned()),
            Mode::Lexical => None,
        };
        hits.truncate(request.limit);
        // A query with a phrase only returns hits that contain it.
        let is_relevant = !request.query.phrases.is_empty()
            || hits.first().is_some_and(|hit| hit.chance >= floor);
        Ok(Found {
            hits,
            coverage: self.coverage()?,
            stale: self.stale()?,
            vectors_without_say,
            top_cosine,
            is_relevant,
            floor: request.query.phrases.is_empty().then_some(floor),
            dropped,
            reranked: None,
        })
    }

    /// How well the model can read the question and the index, 0 to 1. Also 0 if the measured
    /// profile shows that it cannot distinguish texts.
    fn legibility(&self, question: Option<&QueryVector>) -> Result<f32> {
        let tells_apart = self
            .projections
            .profile
            .as_ref()
            .is_none_or(Profile::tells_apart);
        match question {
            _ if !tells_apart => Ok(0.0),
            Some(question) if question.pieces.is_some() => {
                Ok(legibility::legibility(question, self.pieces()?))
            }
            _ => Ok(1.0),
        }
    }

    /// Letters and word pieces of a sample of the index.
    fn pieces(&self) -> Result<Pieces> {
        if let Some(counted) = self.projections.pieces.get() {
            return Ok(*counted);
        }
        let sample = self
            .projections
            .matrix
            .as_ref()
            .map(|matrix| matrix.sample_ids(READ_FOR_LEGIBILITY));
        let texts = self.index.texts_and_tokens(&sample.unwrap_or_default())?;
        let all = texts
            .iter()
            .map(|(text, tokens)| Pieces::of(text, *tokens))
            .fold(Pieces::default(), Pieces::with);
        Ok(*self.projections.pieces.get_or_init(|| all))
    }

    /// Sets the chance of every hit and returns the floor.
    fn rate(&self, mode: Mode, hits: &mut [Hit]) -> f32 {
        let own = self
            .projections
            .profile
            .as_ref()
            .and_then(|profile| profile.calibration.clone());
        let judge = chance::Judge {
            calibration: &own.unwrap_or_else(default_calibration),
            mode,
            has_words: self.projections.lexical.is_some(),
            across_languages: self
                .projections
                .profile
                .as_ref()
                .is_some_and(|profile| !profile.latin_only),
        };
        judge.rate(hits)
    }

    /// Why a hybrid search of this index ignores the vectors; `None` if it uses them, or if the
    /// index has none.
    pub fn vectors_without_say(&self) -> Result<Option<String>> {
        let Some(profile) = &self.projections.profile else {
            return Ok(None);
        };
        if !profile.tells_apart() {
            let measured = profile.separation.unwrap_or_default();
            return Ok(Some(format!(
                "the model cannot tell the texts of this index apart (a heading lies nearer to its \
                 own section than to another text in {:.0} of 100 cases), so only words are searched",
                measured * 100.0
            )));
        }
        if profile.latin_only && legibility::of_index(self.pieces()?) == 0.0 {
            return Ok(Some(
                "the model cannot read the script of these notes, so only words are searched"
                    .to_owned(),
            ));
        }
        Ok(None)
    }

    /// The profile of the model whose vectors are searched.
    pub fn profile(&self) -> Option<&Profile> {
        self.projections.profile.as_ref()
    }

    /// The chunks that have a vector, in matrix order.
    fn vector_ids(&self) -> impl Iterator<Item = ChunkId> + '_ {
        self.projections
            .matrix
            .iter()
            .flat_map(Matrix::rows)
            .map(|(id, _)| id)
    }

    /// Searches words and vectors. If a core is free, at once: words on a separate thread while the
    /// question is embedded and the vectors are scanned.
    fn both(
        &self,
        request: &Request<'_>,
        documents: Option<&IdSet<DocumentId>>,
        chunks: Option<&IdSet<ChunkId>>,
        embed: impl FnOnce() -> Result<QueryVector>,
    ) -> Result<SideHits> {
        let reader = self.projections.lexical.as_ref();
        let is_hybrid = self.projections.matrix.is_some() && request.mode == Mode::Hybrid;
        if !is_hybrid || threads_of_a_search() < 2 {
            let words = by_words(reader, request, documents)?;
            let (vectors, question) = self.by_vectors(request, chunks, embed)?;
            return Ok(SideHits {
                words,
                vectors,
                question,
            });
        }
        std::thread::scope(|scope| {
            let words = scope.spawn(|| by_words(reader, request, documents));
            let found = self.by_vectors(request, chunks, embed);
            let words = words
                .join()
                .map_err(|_| Failure::internal("the thread that searches for words panicked"))?;
            let (words, (vectors, question)) = (words?, found?);
            Ok(SideHits {
                words,
                vectors,
                question,
            })
        })
    }

    fn by_vectors(
        &self,
        request: &Request<'_>,
        chunks: Option<&IdSet<ChunkId>>,
        embed: impl FnOnce() -> Result<QueryVector>,
    ) -> Result<(Vec<vectors::VectorHit>, Option<AskedVector>)> {
        match &self.projections.matrix {
            Some(matrix) if request.mode != Mode::Lexical => {
                let question = embed()?;
                let neutral = self.neutral(&question.vector);
                let mut hits = matrix.search(&neutral.vector, CANDIDATES, chunks)?;
                for hit in &mut hits {
                    hit.score = neutral.cosine(hit.score);
                }
                Ok((hits, Some(AskedVector { question, neutral })))
            }
            None if request.mode == Mode::Vector => Err(Failure::new(
                ErrorCode::QueryError,
                "there are no vectors to search",
            )
            .with_command("local-agent embed")),
            _ => Ok((Vec::new(), None)),
        }
    }

    /// The question's vector without its language, if the index is in several languages.
    fn neutral(&self, question: &[f32]) -> NeutralQuestion {
        let languages = self
            .projections
            .profile
            .as_ref()
            .and_then(|profile| profile.languages.as_ref());
        languages.map_or_else(
            || NeutralQuestion::unchanged(question),
            |space| space.neutral(question),
        )
    }

    /// The chunks that the vector search may return, after filters, required phrases and
    /// exclusions. `None`: all.
    fn chunk_scope(
        &self,
        request: &Request<'_>,
        documents: Option<&IdSet<DocumentId>>,
    ) -> Result<Option<IdSet<ChunkId>>> {
        let mut scope = documents
            .map(|documents| self.index.chunks_of(documents))
            .transpose()?;
        let query = request.query;
        let Some(reader) = self
            .projections
            .lexical
            .as_ref()
            .filter(|_| self.projections.matrix.is_some() && request.mode != Mode::Lexical)
        else {
            return Ok(scope);
        };
        let all = usize::try_from(reader.chunk_count()).unwrap_or(usize::MAX);
        if !query.phrases.is_empty() {
            let holding = Query {
                words: Vec::new(),
                filters: Vec::new(),
                ..query.clone()
            };
            let held: IdSet<ChunkId> = reader
                .search(&holding, all, documents)?
                .iter()
                .map(|hit| hit.chunk_id)
                .collect();
            scope = Some(match scope {
                Some(scope) => held.iter().filter(|id| scope.contains(*id)).collect(),
                None => held,
            });
        }
        let excluded = reader.excluded(query)?;
        if !excluded.is_empty() {
            let gone = self.index.chunks_of(&excluded)?;
            let from = scope.map_or_else(|| self.index.all_chunk_ids(), Ok)?;
            scope = Some(from.iter().filter(|id| !gone.contains(*id)).collect());
        }
        Ok(scope)
    }

    /// Reads the rows of the best candidates. A candidate is dropped if its row is gone or is now
    /// another chunk, or if the scope does not allow its document: a stale projection may have
    /// known it under another id.
    fn read(
        &self,
        fused: Vec<fuse::Candidate>,
        documents: Option<&IdSet<DocumentId>>,
        per: Per,
        limit: usize,
    ) -> Result<(Vec<Hit>, usize)> {
        let mut hits = Vec::with_capacity(limit.min(fused.len()));
        let mut seen = HashSet::new();
        let mut dropped = 0;
        for candidate in fused {
            if hits.len() == limit {
                break;
            }
            match self.index.chunks(&[candidate.chunk_id])?.pop() {
                Some(chunk)
                    if chunk.key == candidate.key
                        && documents.is_none_or(|ids| ids.contains(chunk.document_id)) =>
                {
                    if per == Per::Document && !seen.insert(chunk.document_id) {
                        continue;
                    }
                    hits.push(Hit {
                        chunk,
                        score: candidate.score,
                        chance: 0.0,
                        trace: candidate.trace,
                    });
                }
                _ => dropped += 1,
            }
        }
        Ok((hits, dropped))
    }

    /// How many of these chunks have a vector.
    pub fn embedded_among(&self, chunks: &IdSet<ChunkId>) -> u64 {
        if self.projections.matrix.is_none() {
            return 0;
        }
        self.vector_ids().filter(|id| chunks.contains(*id)).count() as u64
    }

    /// How much of the index the vector side covers.
    pub fn coverage(&self) -> Result<Coverage> {
        if let Some(counted) = self.projections.coverage.get() {
            return Ok(*counted);
        }
        let chunks = self.index.chunk_count()?;
        let embedded = match &self.projections.matrix {
            None => 0,
            Some(matrix) if Some(matrix.stamp().index_commit) == self.projections.commit => {
                matrix.len()
            }
            // A search ignores vectors of deleted chunks.
            Some(_) => {
                let chunks = self.index.all_chunk_ids()?;
                self.vector_ids().filter(|id| chunks.contains(*id)).count()
            }
        };
        // All reads between two transactions see the same commit, see `resume`.
        Ok(*self.projections.coverage.get_or_init(|| Coverage {
            chunks,
            embedded: embedded as u64,
        }))
    }
}

fn by_words(
    reader: Option<&lexical::Reader>,
    request: &Request<'_>,
    documents: Option<&IdSet<DocumentId>>,
) -> Result<Vec<lexical::LexicalHit>> {
    match reader {
        Some(reader) if request.mode != Mode::Vector => {
            reader.search(request.query, CANDIDATES, documents)
        }
        None if request.mode == Mode::Lexical => Err(Failure::new(
            ErrorCode::IndexMissing,
            "there is no word index to search",
        )
        .with_command("local-agent index")),
        _ => Ok(Vec::new()),
    }
}
