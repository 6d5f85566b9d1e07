//! Scores pairs of a question and a passage with a cross-encoder.
//!
//! The two texts go through the network together, so that every token of one attends to the tokens
//! of the other. That is slow, so only a few passages are scored, within a time.

use std::sync::atomic::{AtomicUsize, Ordering};

use local_agent_kernels::elementwise as kernels;

use super::batch::on_workers;
use super::bert::{Bert, Purpose, Scratch};
use super::isa;
use super::pooling::DenseLayer;
use super::tokens::{PairIds, PairTokens};
use super::weights::{Tensors, invalid};
use crate::models::{Architecture, NetworkConfig, RerankerFiles, RerankerHead};
use local_agent_text::error::{Failure, Result};

/// A loaded reranker. Immutable; any number of threads may use it at once.
pub struct Reranker {
    id: String,
    bert: Bert,
    tokens: PairTokens,
    head: Head,
    token_types: usize,
}

/// The two layers after the network.
pub(super) struct Head {
    dense: DenseLayer,
    last: DenseLayer,
}

/// The result for a question and its passages.
#[derive(Debug, Clone, PartialEq)]
pub enum PairScores {
    /// One number for each of the first passages; a greater one means a better fit. Fewer than all
    /// passages if the time limit was reached. The numbers have no bounds and are comparable only
    /// within one reranker.
    Scored(Vec<f32>),
    /// The question leaves no room for a passage in the reranker's window.
    QuestionTooLong,
}

impl Reranker {
    /// Loads weights and tokenizer.
    ///
    /// Errors: `MODEL_INVALID` when the files are not a usable reranker, `CONFIG_ERROR` when the
    /// machine lacks the requested instructions.
    pub fn load(files: &RerankerFiles) -> Result<Self> {
        let network = files.network_files();
        let NetworkConfig::Bert(shape) = network.network() else {
            return Err(Failure::internal(
                "a reranker has a network of another kind",
            ));
        };
        let purpose = Purpose::Passages(network.precision());
        Ok(Self {
            id: files.id().to_owned(),
            tokens: PairTokens::load(network)?,
            head: Head::load(files, shape)?,
            bert: Bert::load(network, *shape, purpose, isa(network)?)?,
            token_types: shape.token_types,
        })
    }

    /// The id of its files.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Scores the pairs of `question` with each of `passages`, in their order, on `threads` workers
    /// (0: one per core). Before each pair, a worker calls `is_over`; a pair that was begun is
    /// finished. A passage that does not fit in the window is cut; the question never is. The score
    /// of a pair does not depend on the others.
    ///
    /// Errors: `MODEL_INVALID` for a score that is not finite, or a token that the weights do not
    /// have.
    pub fn scores(
        &self,
        question: &str,
        passages: &[String],
        threads: usize,
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> Result<PairScores> {
        let Some(pairs) = self.tokens.pairs_of(question)? else {
            return Ok(PairScores::QuestionTooLong);
        };
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let next = AtomicUsize::new(0);
        let work = || {
            let mut scratch = PairScratch::default();
            let mut done = Vec::new();
            while !is_over() {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(passage) = passages.get(number) else {
                    break;
                };
                done.push((number, self.score(&pairs.with(passage)?, &mut scratch)?));
            }
            Ok(done)
        };
        let done = on_workers(threads.min(passages.len()), work)?;
        // Numbers are assigned in order, and each assigned pair was scored.
        let mut all: Vec<(usize, f32)> = done.into_iter().flatten().collect();
        all.sort_unstable_by_key(|(number, _)| *number);
        Ok(PairScores::Scored(
            all.into_iter().map(|(_, score)| score).collect(),
        ))
    }

    /// The score of one pair.
    fn score(&self, pair: &PairIds, scratch: &mut PairScratch) -> Result<f32> {
        self.states(pair, scratch)?;
        let score = self.head.score(&scratch.states);
        if !score.is_finite() {
            return Err(invalid(&self.id, "it made a score that is not finite"));
        }
        Ok(score)
    }

    /// The pair of two texts, and the unit vector of its first token.
    ///
    /// Errors: `MODEL_INVALID` if it is not finite, or the first text fills the window.
    pub(super) fn first_state(&self, question: &str, passage: &str) -> Result<FirstState> {
        let Some(pairs) = self.tokens.pairs_of(question)? else {
            return Err(invalid(&self.id, "its window has no room for a passage"));
        };
        let mut pair = pairs.with(passage)?;
        let mut scratch = PairScratch::default();
        self.states(&pair, &mut scratch)?;
        scratch.states.truncate(self.head.dense.inputs());
        if !kernels::normalise(&mut scratch.states) {
            return Err(invalid(&self.id, "it made a vector that is not finite"));
        }
        if self.token_types == 1 {
            pair.types.fill(0);
        }
        Ok(FirstState {
            pair,
            vector: scratch.states,
        })
    }

    /// Computes the last hidden states of the tokens of a pair into `scratch.states`.
    fn states(&self, pair: &PairIds, scratch: &mut PairScratch) -> Result<()> {
        let PairScratch { states, kernels } = scratch;
        states.clear();
        // In a network with one token type, both texts have that type.
        let types: &[u32] = if self.token_types > 1 {
            &pair.types
        } else {
            &[]
        };
        self.bert.forward_pair(&pair.ids, types, states, kernels)
    }
}

/// A pair, and the vector of its first token.
pub(super) struct FirstState {
    pub pair: PairIds,
    pub vector: Vec<f32>,
}

/// Buffers that one thread keeps between pairs.
#[derive(Default)]
struct PairScratch {
    states: Vec<f32>,
    kernels: Scratch,
}

impl Head {
    fn load(files: &RerankerFiles, shape: &Architecture) -> Result<Self> {
        let network = files.network_files();
        let own = Tensors::open(files.id(), network.weights())?;
        let top = Tensors::open(files.id(), network.weights())?.without_prefix();
        let width = shape.hidden;
        let (dense, last) = match files.head() {
            RerankerHead::Bert => (
                DenseLayer::read(&own, "pooler.dense", (width, width), true)?,
                DenseLayer::read(&top, "classifier", (width, 1), false)?,
            ),
            RerankerHead::Roberta => (
                DenseLayer::read(&top, "classifier.dense", (width, width), true)?,
                DenseLayer::read(&top, "classifier.out_proj", (width, 1), false)?,
            ),
        };
        Ok(Self { dense, last })
    }

    /// The score, from the vectors of a pair's tokens.
    fn score(&self, states: &[f32]) -> f32 {
        let first = states.get(..self.dense.inputs()).unwrap_or(states);
        let pooled = self.dense.apply(first);
        self.last
            .apply(&pooled)
            .first()
            .copied()
            .unwrap_or(f32::NAN)
    }
}

#[cfg(test)]
#[path = "reranker_tests.rs"]
mod tests;
