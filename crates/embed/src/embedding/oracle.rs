//! A reference implementation for comparison: candle-transformers' BERT on the same weights.
//!
//! The network in `bert` is our own arithmetic around matrix products that differ between
//! processors. Nobody would notice a wrong vector, because search would only get worse. So `models
//! verify` embeds a few texts both ways, on the machine that will use them. Networks that candle
//! computes, and tables of vectors, have no second implementation here. For these, the texts are
//! only embedded.

use std::collections::HashMap;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config, HiddenAct, PositionEmbeddingType};
use local_agent_kernels::Isa;

use super::network::TextScratch;
use super::pooling::Pooler;
use super::weights::{Tensors, invalid};
use super::{Encoder, Reranker};
use crate::models::Precision;
use crate::models::{Activation, Architecture, ModelFiles, NetworkConfig, RerankerFiles};
use local_agent_text::error::{Failure, Result};

/// Minimum cosine of two vectors of one text that count as equal. Rounding alone gives at least
/// 0.99999 in f32, 0.9999 in bf16, and 0.998 if products are computed in bytes.
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
    /// Texts that were embedded.
    pub texts: usize,
    /// The smallest cosine between the two vectors of one text; `None` if the network has no second
    /// implementation.
    pub least_cosine: Option<f64>,
}

/// Embeds a few texts with our encoder and, if it computes the network with this program's own
/// kernels, with candle-transformers' too (takes about a second, and twice the weights in memory).
///
/// Errors: `MODEL_INVALID` when the files are not a usable encoder, or the two disagree.
pub fn second_opinion(files: &ModelFiles) -> Result<Agreement> {
    let encoder = Encoder::load(files)?;
    let oracle = match files.network() {
        NetworkConfig::Bert(shape) => Some(Oracle::load(files, shape)?),
        NetworkConfig::Candle(_) | NetworkConfig::Table(_) => None,
    };
    let (mut least_cosine, mut texts, mut scratch) = (1.0_f64, 0, TextScratch::default());
    for text in probes() {
        let mut framed = encoder.passage.tokens(&encoder.tokens, &text)?;
        // The reference sees one window; cutting longer texts is our own code and is tested
        // elsewhere.
        framed.own.truncate(encoder.passage.room.min(LONGEST_PROBE));
        let window = encoder.passage.windows(&framed).remove(0);
        let own = encoder.network.encode(&[&window], &mut scratch)?.remove(0);
        texts += 1;
        let Some(oracle) = &oracle else {
            continue;
        };
        let other = oracle.encode(files, &window)?;
        least_cosine = least_cosine.min(cosine(&own, &other));
    }
    agree(files, least_cosine)?;
    Ok(Agreement {
        texts,
        least_cosine: oracle.map(|_| least_cosine),
    })
}

/// Like [`second_opinion`], for a reranker. It compares the vectors of the first tokens of a few
/// pairs, from which the scores are computed.
///
/// Errors: `MODEL_INVALID` when the files are not a usable reranker, or the two disagree.
pub fn second_opinion_on_pairs(files: &RerankerFiles) -> Result<Agreement> {
    let reranker = Reranker::load(files)?;
    let files = files.network_files();
    let NetworkConfig::Bert(shape) = files.network() else {
        return Err(Failure::internal(
            "a reranker has a network of another kind",
        ));
    };
    let oracle = Oracle::load(files, shape)?;
    let (mut least_cosine, mut texts) = (1.0_f64, 0);
    for text in probes() {
        let own = reranker.first_state(QUESTION, &text)?;
        let states = oracle.states(&own.pair.ids, &own.pair.types);
        let states = states.map_err(|e| broken(files, &e))?;
        let other = oracle.pooler.pooled(&states)?;
        least_cosine = least_cosine.min(cosine(&own.vector, &other));
        texts += 1;
    }
    agree(files, least_cosine)?;
    Ok(Agreement {
        texts,
        least_cosine: Some(least_cosine),
    })
}

/// The question of the pairs that are compared.
const QUESTION: &str = "How long does the dough rest?";

/// The cosine of two unit vectors.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let products = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b));
    products.sum()
}

/// Checks that the cosine of two vectors of one text is as large as rounding allows.
fn agree(files: &ModelFiles, least_cosine: f64) -> Result<()> {
    if least_cosine.is_nan() || least_cosine < least_cosine_of(files.precision()) {
        let reason = format!(
            "on this machine its vectors differ from those of a second implementation (cosine {least_cosine:.6})"
        );
        return Err(invalid(files.id(), &reason));
    }
    Ok(())
}

struct Oracle {
    bert: BertModel,
    pooler: Pooler,
}

impl Oracle {
    fn load(files: &ModelFiles, shape: &Architecture) -> Result<Self> {
        let read = Tensors::open(files.id(), files.weights())?;
        let mut tensors = HashMap::new();
        for (name, shape) in read.shapes() {
            let numbers = read.read(&name, &shape)?;
            let tensor = Tensor::from_vec(numbers, shape, &Device::Cpu);
            tensors.insert(name, tensor.map_err(|e| broken(files, &e))?);
        }
        // candle's BERT counts positions from 0.
        if let Some(table) = tensors.get_mut(POSITIONS) {
            let used = table.narrow(0, shape.first_position, shape.positions);
            *table = used.map_err(|e| broken(files, &e))?;
        }
        let tensors = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
        let bert = BertModel::load(tensors, &config(shape));
        Ok(Self {
            bert: bert.map_err(|e| broken(files, &e))?,
            pooler: Pooler::load(files, Isa::best())?,
        })
    }

    /// The unit vector of one window.
    fn encode(&self, files: &ModelFiles, window: &[u32]) -> Result<Vec<f32>> {
        let types = vec![0; window.len()];
        let states = self.states(window, &types).map_err(|e| broken(files, &e))?;
        self.pooler.pooled(&states)
    }

    fn states(&self, window: &[u32], types: &[u32]) -> candle_core::Result<Vec<f32>> {
        let ids = Tensor::new(window, &Device::Cpu)?.unsqueeze(0)?;
        let types = Tensor::new(types, &Device::Cpu)?.unsqueeze(0)?;
        let states = self.bert.forward(&ids, &types, None)?;
        states.flatten_all()?.to_vec1::<f32>()
    }
}

/// The table of positions.
const POSITIONS: &str = "embeddings.position_embeddings.weight";

/// Maximum number of tokens of a text that is compared. More tokens would only take longer.
const LONGEST_PROBE: usize = 1024;

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
        type_vocab_size: shape.token_types,
        layer_norm_eps: f64::from(shape.norm_eps),
        position_embedding_type: PositionEmbeddingType::Absolute,
        // Dropout, initial values and the cache are for training and decoders.
        ..Config::default()
    }
}

fn broken(files: &ModelFiles, error: &candle_core::Error) -> Failure {
    invalid(
        files.id(),
        &format!("candle-transformers cannot compute it ({error})"),
    )
}
