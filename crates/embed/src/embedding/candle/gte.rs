//! The GTE encoder of Alibaba (`new`; Zhang et al. 2024): a BERT with rotary positions and a gated
//! feed-forward part.

use candle_core::{D, Result, Tensor};
use candle_nn::{
    Embedding, LayerNorm, Linear, Module as _, VarBuilder, embedding, layer_norm, linear,
    linear_no_bias,
};

use super::rotation::{Rotation, steps};
use crate::models::GteConfig;

/// The network.
pub(super) struct Gte {
    words: Embedding,
    /// The vector of the first token type, if there are token types: [width].
    of_type: Option<Tensor>,
    norm: LayerNorm,
    rotation: Rotation,
    layers: Vec<GteLayer>,
}

struct GteLayer {
    qkv: Linear,
    out: Linear,
    out_norm: LayerNorm,
    up_and_gate: Linear,
    down: Linear,
    down_norm: LayerNorm,
    heads: usize,
}

impl Gte {
    /// Reads the weights.
    pub(super) fn load(config: &GteConfig, tensors: VarBuilder<'_>) -> Result<Self> {
        let width = config.hidden_size;
        let names = tensors.pp("embeddings");
        let types = (config.type_vocab_size, width);
        let of_type = match config.type_vocab_size {
            0 => None,
            _ => Some(names.get(types, "token_type_embeddings.weight")?.get(0)?),
        };
        Ok(Self {
            words: embedding(config.vocab_size, width, names.pp("word_embeddings"))?,
            of_type,
            norm: layer_norm(width, config.layer_norm_eps, names.pp("LayerNorm"))?,
            rotation: Rotation::new(&angles(config), config.max_position_embeddings)?,
            layers: (0..config.num_hidden_layers)
                .map(|number| GteLayer::load(config, tensors.pp("encoder.layer").pp(number)))
                .collect::<Result<_>>()?,
        })
    }

    /// The last hidden states of one text: [1, tokens, width].
    pub(super) fn forward(&self, ids: &Tensor) -> Result<Tensor> {
        let mut x = self.words.forward(ids)?;
        if let Some(of_type) = &self.of_type {
            x = x.broadcast_add(of_type)?;
        }
        x = self.norm.forward(&x)?;
        for layer in &self.layers {
            x = layer.forward(&x, &self.rotation)?;
        }
        Ok(x)
    }
}

/// The rotation angles between adjacent positions. With `ntk` scaling, the base is larger by the
/// factor, and the angles are divided by `factor^(2 / head)`.
fn angles(config: &GteConfig) -> Vec<f64> {
    let head = config.hidden_size / config.num_attention_heads;
    let factor = config
        .rope_scaling
        .as_ref()
        .map_or(1.0, |scaling| scaling.factor);
    let mut angles = steps(config.rope_theta * factor, head);
    let divisor = factor.powf(2.0 / head as f64);
    for step in &mut angles {
        *step /= divisor;
    }
    angles
}

impl GteLayer {
    fn load(config: &GteConfig, tensors: VarBuilder<'_>) -> Result<Self> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let norm = |name: &str| layer_norm(width, config.layer_norm_eps, tensors.pp(name));
        Ok(Self {
            qkv: linear(width, 3 * width, tensors.pp("attention.qkv_proj"))?,
            out: linear(width, width, tensors.pp("attention.o_proj"))?,
            out_norm: norm("attn_ln")?,
            up_and_gate: linear_no_bias(width, 2 * inner, tensors.pp("mlp.up_gate_proj"))?,
            down: linear(inner, width, tensors.pp("mlp.down_proj"))?,
            down_norm: norm("mlp_ln")?,
            heads: config.num_attention_heads,
        })
    }

    fn forward(&self, x: &Tensor, rotation: &Rotation) -> Result<Tensor> {
        let (batch, tokens, width) = x.dims3()?;
        let head = width / self.heads;
        let qkv = self
            .qkv
            .forward(x)?
            .reshape((batch, tokens, 3, self.heads, head))?
            .permute((2, 0, 3, 1, 4))?;
        let query = rotation.apply(&qkv.get(0)?)?;
        let key = rotation.apply(&qkv.get(1)?)?;
        let scores = (query.matmul(&key.t()?)? / (head as f64).sqrt())?;
        let shares = candle_nn::ops::softmax(&scores, D::Minus1)?;
        let found = shares.matmul(&qkv.get(2)?.contiguous()?)?.transpose(1, 2)?;
        let found = self.out.forward(&found.reshape((batch, tokens, width))?)?;
        let x = self.out_norm.forward(&(found + x)?)?;
        let both = self.up_and_gate.forward(&x)?.chunk(2, D::Minus1)?;
        let inner = (&both[0] * both[1].gelu_erf()?)?;
        self.down_norm.forward(&(self.down.forward(&inner)? + x)?)
    }
}
