//! A reference implementation to compare with: candle-transformers' BERT on the same weights.
//!
//! The network in `bert` is our own arithmetic around matrix products that differ between
//! processors. Nobody would notice a wrong vector: search would only get worse. So `models verify`
//! embeds a few texts both ways, on the machine that will use them.

use std::collections::HashMap;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config, HiddenAct, PositionEmbeddingType};
use local_agent_kernels::elementwise::normalise;

use super::Encoder;
use super::bert::Scratch;
use super::weights::{Tensors, invalid};
use crate::models::Precision;
use crate::models::{Activation, Architecture, ModelFiles, Pooling};
use local_agent_text::error::Result;

/// Two vectors of one text with a lower cosine count as different: rounding alone gives at least
/// 0.99999 in f32, 0.9999 in bf16 and 0.998 where products are computed in bytes.
const fn least_cosine_of(precision: Precision) -> f64 {
    match precision {
        Precision::F32 => 0.9999,
        Precision::Bf16 => 0.999,
        Precision::Mixed | Precision::Int8 => 0.995,
    }
}

/// Texts of several lengths and scripts; the long ones fill a window.
fn probes() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        "oven",
        "How long does the dough rest?",
        "Decision 2024-03-11: the nightly copy goes to two places, and is tried once a month.",
        "| part | price |\n|---|---|\n| proofbox | 240 € |",
        "let total: f64 = prices.iter().map(|p| p.net * 1.07).sum();",
        "Der Teig ruht über Nacht, die Öfen gehen um vier an.",
        "朝の仕込みは四時に始まる。",
    ]
    .map(str::to_owned)
    .into();
    texts.extend([30, 300].map(|words| "flour water salt time ".repeat(words)));
    texts
}

/// How close our vectors are to those of the reference implementation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// Texts that were embedded both ways.
    pub texts: usize,
    /// The smallest cosine between the two vectors of one text.
    pub least_cosine: f64,
}

/// Embeds a few texts with our encoder and with candle-transformers' (takes about a second, and
/// twice the weights in memory).
///
/// Errors: `MODEL_INVALID` when the files are not a usable encoder, or the two disagree.
pub fn second_opinion(files: &ModelFiles) -> Result<Agreement> {
    let encoder = Encoder::load(files)?;
    let oracle = Oracle::load(files)?;
    let (mut least_cosine, mut texts, mut scratch) = (1.0_f64, 0, Scratch::default());
    for text in probes() {
        let ids = encoder.tokens.ids(&text)?;
        // The reference sees one window; cutting longer texts is our own code and is tested
        // elsewhere.
        let ids = &ids[..ids.len().min(encoder.passage.room)];
        let window = encoder.passage.windows(ids).remove(0);
        let own = encoder.bert.encode(&[&window], &mut scratch)?.remove(0);
        let other = oracle.encode(&window).map_err(|e| broken(files, &e))?;
        let cosine = own
            .iter()
            .zip(&other)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum();
        least_cosine = least_cosine.min(cosine);
        texts += 1;
    }
    if least_cosine.is_nan() || least_cosine < least_cosine_of(files.precision()) {
        let reason = format!(
            "on this machine its vectors differ from those of a second implementation (cosine {least_cosine:.6})"
        );
        return Err(invalid(files.id(), &reason));
    }
    Ok(Agreement {
        texts,
        least_cosine,
    })
}

struct Oracle {
    bert: BertModel,
    pooling: Pooling,
}

impl Oracle {
    fn load(files: &ModelFiles) -> Result<Self> {
        let read = Tensors::open(files.id(), files.weights())?;
        let mut tensors = HashMap::new();
        for (name, shape) in read.shapes() {
            let numbers = read.read(&name, &shape)?;
            let tensor = Tensor::from_vec(numbers, shape, &Device::Cpu);
            tensors.insert(name, tensor.map_err(|e| broken(files, &e))?);
        }
        let tensors = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
        let bert = BertModel::load(tensors, &config(files.architecture()));
        Ok(Self {
            bert: bert.map_err(|e| broken(files, &e))?,
            pooling: files.pooling(),
        })
    }

    /// The unit vector of one window.
    fn encode(&self, window: &[u32]) -> candle_core::Result<Vec<f32>> {
        let ids = Tensor::new(window, &Device::Cpu)?.unsqueeze(0)?;
        let tokens = self
            .bert
            .forward(&ids, &ids.zeros_like()?, None)?
            .squeeze(0)?;
        let pooled = match self.pooling {
            Pooling::Mean => tokens.mean(0)?,
            Pooling::Cls => tokens.get(0)?,
        };
        let mut vector = pooled.to_vec1::<f32>()?;
        normalise(&mut vector);
        Ok(vector)
    }
}

fn config(shape: &Architecture) -> Config {
    let Activation::Gelu = shape.activation;
    Config {
        vocab_size: shape.vocabulary,
        hidden_size: shape.hidden,
        num_hidden_layers: shape.layers,
        num_attention_heads: shape.heads,
        intermediate_size: shape.intermediate,
        hidden_act: HiddenAct::Gelu,
        max_position_embeddings: shape.positions,
        type_vocab_size: 2,
        layer_norm_eps: f64::from(shape.norm_eps),
        position_embedding_type: PositionEmbeddingType::Absolute,
        // Dropout, initial values and the cache are for training and decoders.
        ..Config::default()
    }
}

fn broken(files: &ModelFiles, error: &candle_core::Error) -> local_agent_text::error::Failure {
    invalid(
        files.id(),
        &format!("candle-transformers cannot compute it ({error})"),
    )
}
