//! Gemma 3 as an encoder (EmbeddingGemma, Vera et al. 2025), with bidirectional attention.
//!
//! In most layers, a token attends only to a window of the text around it; in the others, to the
//! whole text.

use candle_core::{D, Device, Result, Tensor};
use candle_nn::{
    Activation, Embedding, Linear, Module as _, RmsNorm, VarBuilder, embedding, linear_b,
    linear_no_bias,
};

use super::rotation::{Rotation, steps};
use crate::models::Gemma3Config;

/// The network.
pub(super) struct Gemma3 {
    words: Embedding,
    /// The factor of every word vector.
    scale: f64,
    whole: Rotation,
    window: Rotation,
    /// The largest distance between two tokens that attend to each other in a layer with a window.
    reach: usize,
    layers: Vec<Gemma3Layer>,
    norm: RmsNorm,
}

struct Gemma3Layer {
    has_window: bool,
    attention: Attention,
    /// The norms before and after attention, and before and after the feed-forward part.
    norms: [RmsNorm; 4],
    gate: Linear,
    up: Linear,
    down: Linear,
    activation: Activation,
}

struct Attention {
    query: Linear,
    key: Linear,
    value: Linear,
    out: Linear,
    query_norm: RmsNorm,
    key_norm: RmsNorm,
    heads: usize,
    /// Number of query heads that share one head of keys and values.
    group: usize,
    head: usize,
    scale: f64,
}

/// A norm of Gemma. The file stores its weights minus 1.
fn norm(width: usize, eps: f64, tensors: VarBuilder<'_>) -> Result<RmsNorm> {
    Ok(RmsNorm::new((tensors.get(width, "weight")? + 1.0)?, eps))
}

impl Gemma3 {
    /// Reads the weights.
    pub(super) fn load(config: &Gemma3Config, tensors: VarBuilder<'_>) -> Result<Self> {
        let width = config.hidden_size;
        let positions = config.max_position_embeddings;
        let rotation = |base: f64| Rotation::new(&steps(base, config.head_dim), positions);
        let layers = config
            .layer_types
            .iter()
            .enumerate()
            .map(|(number, kind)| load_layer(config, &tensors, (number, kind)));
        Ok(Self {
            words: embedding(config.vocab_size, width, tensors.pp("embed_tokens"))?,
            scale: (width as f64).sqrt(),
            whole: rotation(config.rope_theta)?,
            window: rotation(config.rope_local_base_freq)?,
            reach: config.reach(),
            layers: layers.collect::<Result<_>>()?,
            norm: norm(width, config.rms_norm_eps, tensors.pp("norm"))?,
        })
    }

    /// The last hidden states of one text: [1, tokens, width].
    pub(super) fn forward(&self, ids: &Tensor) -> Result<Tensor> {
        let mut x = (self.words.forward(ids)? * self.scale)?;
        let mask = mask(ids.dim(1)?, self.reach)?;
        for layer in &self.layers {
            x = if layer.has_window {
                layer.forward(&x, &self.window, mask.as_ref())?
            } else {
                layer.forward(&x, &self.whole, None)?
            };
        }
        self.norm.forward(&x)
    }
}

/// One layer, by its number and its kind of attention.
fn load_layer(
    config: &Gemma3Config,
    tensors: &VarBuilder<'_>,
    (number, kind): (usize, &String),
) -> Result<Gemma3Layer> {
    Gemma3Layer::load(
        config,
        kind == "sliding_attention",
        tensors.pp("layers").pp(number),
    )
}

/// The attention mask of a layer with a window: minus infinity for tokens that do not attend to
/// each other. `None` if all do.
fn mask(tokens: usize, reach: usize) -> Result<Option<Tensor>> {
    if tokens <= reach + 1 {
        return Ok(None);
    }
    let scores: Vec<f32> = (0..tokens)
        .flat_map(|from| (0..tokens).map(move |to| score_in_reach(reach, from, to)))
        .collect();
    Tensor::from_vec(scores, (tokens, tokens), &Device::Cpu).map(Some)
}

/// The mask value for two tokens: 0, or minus infinity if they are too far apart.
fn score_in_reach(reach: usize, from: usize, to: usize) -> f32 {
    match from.abs_diff(to) <= reach {
        true => 0.0,
        false => f32::NEG_INFINITY,
    }
}

impl Gemma3Layer {
    fn load(config: &Gemma3Config, has_window: bool, tensors: VarBuilder<'_>) -> Result<Self> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let own_norm = |name: &str| norm(width, config.rms_norm_eps, tensors.pp(name));
        Ok(Self {
            has_window,
            attention: Attention::load(config, tensors.pp("self_attn"))?,
            norms: [
                own_norm("input_layernorm")?,
                own_norm("post_attention_layernorm")?,
                own_norm("pre_feedforward_layernorm")?,
                own_norm("post_feedforward_layernorm")?,
            ],
            gate: linear_no_bias(width, inner, tensors.pp("mlp.gate_proj"))?,
            up: linear_no_bias(width, inner, tensors.pp("mlp.up_proj"))?,
            down: linear_no_bias(inner, width, tensors.pp("mlp.down_proj"))?,
            activation: config.hidden_activation,
        })
    }

    fn forward(&self, x: &Tensor, rotation: &Rotation, mask: Option<&Tensor>) -> Result<Tensor> {
        let [before, after, before_inner, after_inner] = &self.norms;
        let found = self
            .attention
            .forward(&before.forward(x)?, rotation, mask)?;
        let x = (after.forward(&found)? + x)?;
        let input = before_inner.forward(&x)?;
        let gate = self.gate.forward(&input)?.apply(&self.activation)?;
        let inner = self.down.forward(&(gate * self.up.forward(&input)?)?)?;
        after_inner.forward(&inner)? + x
    }
}

impl Attention {
    fn load(config: &Gemma3Config, tensors: VarBuilder<'_>) -> Result<Self> {
        let (width, head, bias) = (config.hidden_size, config.head_dim, config.attention_bias);
        let (heads, shared) = (config.num_attention_heads, config.num_key_value_heads);
        let own_norm = |name: &str| norm(head, config.rms_norm_eps, tensors.pp(name));
        Ok(Self {
            query: linear_b(width, heads * head, bias, tensors.pp("q_proj"))?,
            key: linear_b(width, shared * head, bias, tensors.pp("k_proj"))?,
            value: linear_b(width, shared * head, bias, tensors.pp("v_proj"))?,
            out: linear_b(heads * head, width, bias, tensors.pp("o_proj"))?,
            query_norm: own_norm("q_norm")?,
            key_norm: own_norm("k_norm")?,
            heads,
            group: heads / shared,
            head,
            scale: config.query_pre_attn_scalar.powf(-0.5),
        })
    }

    fn forward(&self, x: &Tensor, rotation: &Rotation, mask: Option<&Tensor>) -> Result<Tensor> {
        let (batch, tokens, _) = x.dims3()?;
        let query = self.query_norm.forward(&split_into_heads(
            batch,
            tokens,
            self.head,
            self.query.forward(x)?,
        )?)?;
        let key = self.key_norm.forward(&split_into_heads(
            batch,
            tokens,
            self.head,
            self.key.forward(x)?,
        )?)?;
        let value = split_into_heads(batch, tokens, self.head, self.value.forward(x)?)?;
        let (query, key) = (rotation.apply(&query)?, rotation.apply(&key)?);
        let key = candle_transformers::utils::repeat_kv(key, self.group)?.contiguous()?;
        let value = candle_transformers::utils::repeat_kv(value, self.group)?.contiguous()?;
        let mut scores = (query.matmul(&key.t()?)? * self.scale)?;
        if let Some(mask) = mask {
            scores = scores.broadcast_add(mask)?;
        }
        let found = candle_nn::ops::softmax(&scores, D::Minus1)?.matmul(&value)?;
        let found = found
            .transpose(1, 2)?
            .reshape((batch, tokens, self.heads * self.head))?;
        self.out.forward(&found)
    }
}

/// Reshapes the vectors so that the numbers of each head are together.
fn split_into_heads(batch: usize, tokens: usize, head: usize, x: Tensor) -> Result<Tensor> {
    x.reshape((batch, tokens, (), head))?
        .transpose(1, 2)?
        .contiguous()
}
