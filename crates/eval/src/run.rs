//! Runs a set's questions through the search, mode by mode.

use std::collections::BTreeMap;
use std::time::Instant;

use super::set::Question;
use super::stats::Latency;
use super::{invalid, passages, ranking};
use local_agent_agent::config::Retrieve;
use local_agent_embed::embedding::QueryVector;
use local_agent_index::lexical::Query;
use local_agent_index::retrieval::Fusion;
use local_agent_index::retrieval::{self};
use local_agent_index::retrieval::{
    Engine, Found, Hit, Request, RerankEnd, Scope, SharedReranker, with_reranked,
};
use local_agent_text::error::{Failure, Result};

/// Maximum number of documents per question in a run, as many as the deepest score uses.
const DOCUMENTS: usize = 100;

/// Number of hits in searches that are timed: one page of results.
const TIMED_HITS: usize = 10;

/// How a set is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// As in `query` under the same configuration.
    Default,
    /// By word search only.
    Lexical,
    /// By vector search only.
    Vector,
    /// By both, with their scaled scores added.
    Convex,
    /// By both, with only their ranks.
    Rrf,
}

impl Mode {
    /// The name in reports and file names.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Lexical => "lexical",
            Self::Vector => "vector",
            Self::Convex => "convex",
            Self::Rrf => "rrf",
        }
    }

    /// Whether questions are embedded.
    pub fn needs_vectors(self) -> bool {
        self != Self::Lexical
    }

    fn sides(self) -> retrieval::Mode {
        match self {
            Self::Lexical => retrieval::Mode::Lexical,
            Self::Vector => retrieval::Mode::Vector,
            Self::Default | Self::Convex | Self::Rrf => retrieval::Mode::Hybrid,
        }
    }

    fn fusion(self, configured: Fusion) -> Fusion {
        match self {
            Self::Convex => Fusion::Convex,
            Self::Rrf => Fusion::Rrf,
            Self::Default | Self::Lexical | Self::Vector => configured,
        }
    }
}

/// A question with its vector, made once for all modes.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The question from the set.
    pub question: &'a Question,
    query: Query,
    vector: QueryVector,
    embed_ms: f64,
}

/// Returns the vector of a question.
pub type Embed<'a> = &'a dyn Fn(&str) -> Result<QueryVector>;

/// Embeds every question, or none if `embed` is `None`.
pub fn ask<'a>(questions: &'a [Question], embed: Option<Embed<'_>>) -> Result<Vec<Asked<'a>>> {
    questions
        .iter()
        .map(|question| ask_one(embed, question))
        .collect()
}

/// One question with its vector and the time that the vector took.
fn ask_one<'a>(embed: Option<Embed<'_>>, question: &'a Question) -> Result<Asked<'a>> {
    let start = Instant::now();
    let vector = embed.map_or_else(|| Ok(QueryVector::default()), |embed| embed(&question.text))?;
    let embed_ms = if embed.is_some() {
        milliseconds(start)
    } else {
        0.0
    };
    Ok(Asked {
        question,
        query: Query::plain(&question.text),
        vector,
        embed_ms,
    })
}

/// The results of one mode for every question.
#[derive(Debug)]
pub struct Searched<T> {
    /// The results by the id of the question.
    pub found: BTreeMap<String, T>,
    /// Time to embed the question and search for a page of results, with the index already open.
    pub latency: Latency,
}

/// An open index and its search settings.
pub struct Searcher<'a> {
    /// The engine over the index of the set.
    pub engine: &'a Engine,
    /// The search settings of the configuration.
    pub retrieve: &'a Retrieve,
    /// The reranker for the best hits of [`Mode::Default`].
    pub reranker: Option<&'a SharedReranker>,
}

impl Searcher<'_> {
    /// The best documents of every question, each with the score of its best chunk.
    ///
    /// `EVAL_ERROR` if the search found nothing for all questions. Then the mode does not work, or
    /// the set does not belong to the documents.
    pub fn documents(
        &self,
        mode: Mode,
        asked: &[Asked<'_>],
    ) -> Result<Searched<Vec<(String, f32)>>> {
        let searched = self.each(mode, asked, DOCUMENTS, |request, vector| {
            self.engine.search_documents(request, || Ok(vector))
        })?;
        let found = searched.found.into_iter();
        Ok(Searched {
            found: found
                .map(|(id, hits)| {
                    (
                        id,
                        hits.into_iter()
                            .map(|hit| (hit.chunk.path.as_str().to_owned(), hit.score))
                            .collect(),
                    )
                })
                .collect(),
            latency: searched.latency,
        })
    }

    /// The best `k` chunks of every question. `EVAL_ERROR`: see [`Self::documents`].
    pub fn chunks(&self, mode: Mode, asked: &[Asked<'_>], k: usize) -> Result<Searched<Vec<Hit>>> {
        self.each(mode, asked, k, |request, vector| {
            self.engine.search(request, || Ok(vector))
        })
    }

    /// Hits of a question, at most one per document, best first.
    pub fn best_documents(&self, mode: Mode, asked: &Asked<'_>, limit: usize) -> Result<Vec<Hit>> {
        let request = self.request(mode, &asked.query, limit);
        Ok(self
            .engine
            .search_documents(&request, || Ok(asked.vector.clone()))?
            .hits)
    }

    /// The best `limit` hits of every question, as `search` finds them.
    fn each(
        &self,
        mode: Mode,
        asked: &[Asked<'_>],
        limit: usize,
        search: impl Fn(&Request<'_>, QueryVector) -> Result<Found>,
    ) -> Result<Searched<Vec<Hit>>> {
        let mut found = BTreeMap::new();
        let mut times = Vec::with_capacity(asked.len());
        for one in asked {
            let request = self.request(mode, &one.query, TIMED_HITS);
            let start = Instant::now();
            let mut timed = self.engine.search(&request, || Ok(one.vector.clone()))?;
            self.rerank(mode, one, &mut timed)?;
            let embed_ms = if mode.needs_vectors() {
                one.embed_ms
            } else {
                0.0
            };
            times.push(embed_ms + milliseconds(start));
            let request = self.request(mode, &one.query, limit);
            let mut best = search(&request, one.vector.clone())?;
            self.rerank(mode, one, &mut best)?;
            best.hits.truncate(limit);
            found.insert(one.question.id.clone(), best.hits);
        }
        if found.values().all(Vec::is_empty) {
            return Err(nothing_found(mode));
        }
        Ok(Searched {
            found,
            latency: Latency::of(&times),
        })
    }

    /// The reranker for the hits of this mode.
    fn reranker(&self, mode: Mode) -> Option<&SharedReranker> {
        self.reranker.filter(|_| mode == Mode::Default)
    }

    /// Reranks hits if a query would. `EVAL_ERROR` if some of them were not ranked, because the
    /// figures would depend on the load of the machine.
    fn rerank(&self, mode: Mode, asked: &Asked<'_>, found: &mut Found) -> Result<()> {
        let Some(reranker) = self.reranker(mode) else {
            return Ok(());
        };
        reranker.rerank(found, &asked.question.text)?;
        match &found.reranked {
            Some(done) if done.end != RerankEnd::Complete => Err(invalid(format!(
                "the reranker scored {} of {} passages for the question `{}`",
                done.scored, done.candidates, asked.question.id
            ))
            .with_hint("--set retrieve.reranker_ms=600000")),
            _ => Ok(()),
        }
    }

    fn request<'q>(&self, mode: Mode, query: &'q Query, limit: usize) -> Request<'q> {
        Request {
            query,
            mode: mode.sides(),
            scope: Scope::default(),
            limit: self.reranker(mode).map_or(limit, |_| with_reranked(limit)),
            fusion: mode.fusion(self.retrieve.fusion),
            vector_weight: self.retrieve.vector_weight,
        }
    }
}

fn nothing_found(mode: Mode) -> Failure {
    invalid(format!(
        "mode `{}` found nothing for any question, so there is nothing to measure",
        mode.name()
    ))
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}

/// A run in the format of `score.py` and similar tools: question id, rank, path, score;
/// tab-separated.
pub fn documents_tsv(found: &BTreeMap<String, Vec<(String, f32)>>) -> String {
    let rows = found.iter().flat_map(|(id, documents)| {
        (1..)
            .zip(documents)
            .map(move |(rank, (path, score))| format!("{id}\t{rank}\t{path}\t{score}\n"))
    });
    rows.collect()
}

/// A run of passages: question id, rank, path, start and end in characters; tab-separated.
pub fn passages_tsv(found: &passages::PassageRun) -> String {
    let rows = found.iter().flat_map(|(id, passages)| {
        (1..)
            .zip(passages)
            .map(move |(rank, p)| format!("{id}\t{rank}\t{}\t{}\t{}\n", p.path, p.start, p.end))
    });
    rows.collect()
}

/// The documents alone, for scoring.
pub fn ranked(found: &BTreeMap<String, Vec<(String, f32)>>) -> ranking::Run {
    found
        .iter()
        .map(|(id, documents)| (id.clone(), paths_of(documents)))
        .collect()
}

/// The paths of the documents, in their order.
fn paths_of(documents: &[(String, f32)]) -> Vec<String> {
    documents.iter().map(|(path, _)| path.clone()).collect()
}
