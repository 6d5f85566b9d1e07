//! Networks that candle computes, in f32: ModernBERT, Nomic's BERT and Qwen 3 come from
//! candle-transformers. That library has no MPNet, and its GTE and Gemma 3 do not return token
//! vectors, so these three are implemented here with candle's layers.
//!
//! One text is computed at a time and nothing is padded.

mod gemma3;
mod gte;
mod mpnet;
mod rotation;

use std::collections::HashSet;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::{modernbert, nomic_bert, qwen3};
use safetensors::SafeTensors;

use super::weights::invalid;
use crate::models::{CandleConfig, ModelFiles};
use local_agent_text::error::{Failure, Result};

use gemma3::Gemma3;
use gte::Gte;
use mpnet::Mpnet;

/// Prefixes of tensor names that some files have and others do not.
const PREFIXES: [&str; 4] = ["model.", "mpnet.", "new.", "nomic_bert."];

/// A loaded network.
pub(super) struct CandleNetwork {
    id: String,
    vocabulary: usize,
    model: Model,
}

enum Model {
    Mpnet(Mpnet),
    ModernBert(modernbert::ModernBert),
    NomicBert(nomic_bert::NomicBertModel),
    Gte(Gte),
    Qwen3(qwen3::Model),
    Gemma3(Gemma3),
}

impl CandleNetwork {
    /// Reads the weights, as f32.
    ///
    /// Errors: `MODEL_INVALID` when a tensor is missing or has another shape.
    pub(super) fn load(files: &ModelFiles, config: &CandleConfig) -> Result<Self> {
        let tensors = tensors(files)?;
        let (vocabulary, model) = match config {
            CandleConfig::Mpnet(config) => (
                config.vocab_size,
                Mpnet::load(config, tensors).map(Model::Mpnet),
            ),
            CandleConfig::ModernBert(config) => (
                config.vocab_size,
                modernbert::ModernBert::load(tensors, config).map(Model::ModernBert),
            ),
            CandleConfig::NomicBert(config) => (
                config.vocab_size,
                nomic_bert::NomicBertModel::load(tensors, config).map(Model::NomicBert),
            ),
            CandleConfig::Gte(config) => (
                config.vocab_size,
                Gte::load(config, tensors).map(Model::Gte),
            ),
            CandleConfig::Qwen3(config) => (
                config.vocab_size,
                qwen3::Model::new(config, tensors).map(Model::Qwen3),
            ),
            CandleConfig::Gemma3(config) => (
                config.vocab_size,
                Gemma3::load(config, tensors).map(Model::Gemma3),
            ),
        };
        Ok(Self {
            id: files.id().to_owned(),
            vocabulary,
            model: model
                .map_err(|e| invalid(files.id(), &format!("its weights do not fit ({e})")))?,
        })
    }

    /// Appends the last hidden states of one sequence: [tokens, width].
    ///
    /// Errors: `MODEL_INVALID` for a token outside the word table.
    pub(super) fn append_states(&self, sequence: &[u32], out: &mut Vec<f32>) -> Result<()> {
        if let Some(id) = sequence.iter().find(|id| **id as usize >= self.vocabulary) {
            let reason = format!("its tokenizer made token {id}, which its weights do not have");
            return Err(invalid(&self.id, &reason));
        }
        let states = self.states(sequence).map_err(failed)?;
        out.extend(
            states
                .flatten_all()
                .and_then(|s| s.to_vec1::<f32>())
                .map_err(failed)?,
        );
        Ok(())
    }

    fn states(&self, sequence: &[u32]) -> candle_core::Result<Tensor> {
        let ids = Tensor::new(sequence, &Device::Cpu)?.unsqueeze(0)?;
        match &self.model {
            Model::Mpnet(model) => model.forward(&ids),
            Model::ModernBert(model) => model.forward(&ids, &ids.ones_like()?),
            Model::NomicBert(model) => model.forward(&ids, None, None),
            Model::Gte(model) => model.forward(&ids),
            // The model collects keys and values while it runs. A clone shares the weights but not
            // the collected values.
            Model::Qwen3(model) => model.clone().forward(&ids, 0),
            Model::Gemma3(model) => model.forward(&ids),
        }
    }
}

/// The tensors of the file under the names that the networks use.
fn tensors(files: &ModelFiles) -> Result<VarBuilder<'_>> {
    let bytes = files.weights().as_slice();
    let (_, metadata) =
        SafeTensors::read_metadata(bytes).map_err(|e| unreadable_weights(files, &e))?;
    let names: HashSet<String> = metadata.tensors().into_keys().collect();
    let tensors = VarBuilder::from_slice_safetensors(bytes, DType::F32, &Device::Cpu);
    let tensors = tensors.map_err(|e| unreadable_weights(files, &e))?;
    Ok(tensors.rename_f(move |name| stored_name(&names, name)))
}

/// The failure for weights that are not a safetensors file.
fn unreadable_weights(files: &ModelFiles, e: &dyn std::fmt::Display) -> Failure {
    let reason = format!("its weights are not a safetensors file ({e})");
    invalid(files.id(), &reason)
}

/// The name of the tensor in the file, with or without one of [`PREFIXES`].
fn stored_name(names: &HashSet<String>, name: &str) -> String {
    let plain = PREFIXES
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name);
    let prefixed = PREFIXES.iter().map(|prefix| format!("{prefix}{plain}"));
    [name.to_owned(), plain.to_owned()]
        .into_iter()
        .chain(prefixed)
        .find(|candidate| names.contains(candidate))
        .unwrap_or_else(|| name.to_owned())
}

/// Converts an error of the tensor library. Sizes were checked when the weights were loaded, so
/// this is a bug.
fn failed(error: candle_core::Error) -> Failure {
    Failure::internal(format!("the encoder's arithmetic failed: {error}"))
}
