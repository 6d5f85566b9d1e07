//! A loaded network of any kind with its pooling: token ids → vectors.
//!
//! BERT is computed by this program's own kernels, other networks by candle; a table of token
//! vectors needs no arithmetic. Nothing is padded, so the vector of a text does not depend on the
//! other texts of its batch.

use local_agent_kernels::Isa;

use super::bert::{self, Bert, Purpose};
use super::candle::CandleNetwork;
use super::pooling::Pooler;
use super::table::TokenTable;
use crate::models::{ModelFiles, NetworkConfig};
use local_agent_text::error::Result;

/// The implementation that computes the vectors of tokens.
enum LoadedNetwork {
    /// BERT and RoBERTa, computed by this program's own kernels.
    Kernels(Box<Bert>),
    /// A network that candle computes, in f32.
    Candle(Box<CandleNetwork>),
    /// A table of token vectors.
    Table(TokenTable),
}

/// A loaded network and its pooling. Immutable: any number of threads may use it at once.
pub(super) struct TextNetwork {
    network: LoadedNetwork,
    pooler: Pooler,
}

/// Buffers that one thread keeps between batches.
#[derive(Default)]
pub(super) struct TextScratch {
    /// The vectors of the tokens of all sequences: [tokens, width].
    states: Vec<f32>,
    kernels: bert::Scratch,
}

impl TextNetwork {
    /// Reads the weights. `purpose` and `isa` only concern this program's own kernels.
    ///
    /// Errors: `MODEL_INVALID` when a tensor is missing or has another shape.
    pub(super) fn load(files: &ModelFiles, purpose: Purpose, isa: Isa) -> Result<Self> {
        let network = match files.network() {
            NetworkConfig::Bert(shape) => {
                LoadedNetwork::Kernels(Box::new(Bert::load(files, *shape, purpose, isa)?))
            }
            NetworkConfig::Candle(config) => {
                LoadedNetwork::Candle(Box::new(CandleNetwork::load(files, config)?))
            }
            NetworkConfig::Table(shape) => LoadedNetwork::Table(TokenTable::load(files, *shape)?),
        };
        Ok(Self {
            network,
            pooler: Pooler::load(files, isa)?,
        })
    }

    /// Length of the vector of a text.
    pub(super) fn dimensions(&self) -> usize {
        self.pooler.dimensions()
    }

    /// Width of a token's vector.
    pub(super) fn width(&self) -> usize {
        self.pooler.width()
    }

    /// The instructions it computes with, if this program chooses them.
    #[cfg(test)]
    pub(super) fn isa(&self) -> Option<Isa> {
        match &self.network {
            LoadedNetwork::Kernels(bert) => Some(bert.isa()),
            LoadedNetwork::Candle(_) | LoadedNetwork::Table(_) => None,
        }
    }

    /// One unit vector per sequence, in the given order. Every sequence contains at least one token
    /// and at most as many as the network has positions.
    ///
    /// Errors: `MODEL_INVALID` for a token outside the word table or a result that is not finite.
    pub(super) fn encode(
        &self,
        sequences: &[&[u32]],
        scratch: &mut TextScratch,
    ) -> Result<Vec<Vec<f32>>> {
        self.forward(sequences, scratch)?;
        let mut rest = scratch.states.as_slice();
        let mut vectors = Vec::with_capacity(sequences.len());
        for sequence in sequences {
            let (own, others) = rest.split_at(sequence.len() * self.width());
            rest = others;
            vectors.push(self.pooler.pooled(own)?);
        }
        Ok(vectors)
    }

    /// Like [`Self::encode`], and returns with each vector the last hidden states of its tokens,
    /// [tokens, width], not normalised.
    pub(super) fn states(
        &self,
        sequences: &[&[u32]],
        scratch: &mut TextScratch,
    ) -> Result<Vec<(Vec<f32>, Vec<f32>)>> {
        self.forward(sequences, scratch)?;
        let mut rest = scratch.states.as_slice();
        let mut out = Vec::with_capacity(sequences.len());
        for sequence in sequences {
            let (own, others) = rest.split_at(sequence.len() * self.width());
            rest = others;
            out.push((self.pooler.pooled(own)?, own.to_vec()));
        }
        Ok(out)
    }

    /// Computes the last hidden states of all tokens into `scratch.states`.
    fn forward(&self, sequences: &[&[u32]], scratch: &mut TextScratch) -> Result<()> {
        let TextScratch { states, kernels } = scratch;
        states.clear();
        match &self.network {
            LoadedNetwork::Kernels(bert) => bert.forward(sequences, states, kernels),
            LoadedNetwork::Candle(network) => sequences
                .iter()
                .try_for_each(|sequence| network.append_states(sequence, states)),
            LoadedNetwork::Table(table) => sequences
                .iter()
                .try_for_each(|sequence| table.append_rows(sequence, states)),
        }
    }
}
