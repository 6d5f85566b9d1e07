//! MPNet (Song et al. 2020): a BERT without token types, whose attention adds a bias for the
//! distance between two tokens.

use candle_core::{D, Device, Result, Tensor};
use candle_nn::{
    Embedding, LayerNorm, Linear, Module as _, VarBuilder, embedding, layer_norm, linear,
};

use crate::models::MpnetConfig;

/// Larger distances are treated as equal (as in T5, Raffel et al. 2020).
const LARGEST_DISTANCE: f64 = 128.0;

/// The network.
pub(super) struct Mpnet {
    words: Embedding,
    positions: Embedding,
    first_position: u32,
    norm: LayerNorm,
    /// The biases for distances: [buckets, heads].
    distances: Embedding,
    buckets: usize,
    layers: Vec<MpnetLayer>,
}

struct MpnetLayer {
    query: Linear,
    key: Linear,
    value: Linear,
    out: Linear,
    out_norm: LayerNorm,
    up: Linear,
    down: Linear,
    down_norm: LayerNorm,
    heads: usize,
}

impl Mpnet {
    /// Reads the weights.
    pub(super) fn load(config: &MpnetConfig, tensors: VarBuilder<'_>) -> Result<Self> {
        let width = config.hidden_size;
        let names = tensors.pp("embeddings");
        let buckets = config.relative_attention_num_buckets;
        let distances = tensors.pp("encoder.relative_attention_bias");
        Ok(Self {
            words: embedding(config.vocab_size, width, names.pp("word_embeddings"))?,
            positions: embedding(
                config.max_position_embeddings,
                width,
                names.pp("position_embeddings"),
            )?,
            first_position: config.pad_token_id as u32 + 1,
            norm: layer_norm(width, config.layer_norm_eps, names.pp("LayerNorm"))?,
            distances: embedding(buckets, config.num_attention_heads, distances)?,
            buckets,
            layers: (0..config.num_hidden_layers)
                .map(|number| MpnetLayer::load(config, tensors.pp("encoder.layer").pp(number)))
                .collect::<Result<_>>()?,
        })
    }

    /// The last hidden states of one text: [1, tokens, width].
    pub(super) fn forward(&self, ids: &Tensor) -> Result<Tensor> {
        let tokens = ids.dim(1)?;
        let first = self.first_position;
        let positions = Tensor::arange(first, first + tokens as u32, &Device::Cpu)?;
        let places = self.positions.forward(&positions.unsqueeze(0)?)?;
        let mut x = self.norm.forward(&(self.words.forward(ids)? + places)?)?;
        let distances = self.distance_scores(tokens)?;
        for layer in &self.layers {
            x = layer.forward(&x, &distances)?;
        }
        Ok(x)
    }

    /// The distance biases for the scores of every head: [1, heads, tokens, tokens].
    fn distance_scores(&self, tokens: usize) -> Result<Tensor> {
        let buckets: Vec<u32> = (0..tokens)
            .flat_map(|from| (0..tokens).map(move |to| (from, to)))
            .map(|(from, to)| bucket(from, to, self.buckets) as u32)
            .collect();
        let buckets = Tensor::from_vec(buckets, (tokens, tokens), &Device::Cpu)?;
        self.distances
            .forward(&buckets)?
            .permute((2, 0, 1))?
            .unsqueeze(0)?
            .contiguous()
    }
}

/// The bucket of the distance between two tokens. Half of the buckets are for tokens after `from`.
/// Half of each half are for single distances, the rest for ranges that grow by a factor.
fn bucket(from: usize, to: usize, buckets: usize) -> usize {
    let half = buckets / 2;
    let side = if to > from { half } else { 0 };
    let distance = from.abs_diff(to);
    let single = half / 2;
    if distance < single {
        return side + distance;
    }
    let share = (distance as f64 / single as f64).ln() / (LARGEST_DISTANCE / single as f64).ln();
    let beyond = (share * (half - single) as f64) as usize;
    side + (single + beyond).min(half - 1)
}

impl MpnetLayer {
    fn load(config: &MpnetConfig, tensors: VarBuilder<'_>) -> Result<Self> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let attention = tensors.pp("attention");
        let square = |name: &str| linear(width, width, attention.pp("attn").pp(name));
        let norm = |names: VarBuilder<'_>| layer_norm(width, config.layer_norm_eps, names);
        Ok(Self {
            query: square("q")?,
            key: square("k")?,
            value: square("v")?,
            out: square("o")?,
            out_norm: norm(attention.pp("LayerNorm"))?,
            up: linear(width, inner, tensors.pp("intermediate.dense"))?,
            down: linear(inner, width, tensors.pp("output.dense"))?,
            down_norm: norm(tensors.pp("output.LayerNorm"))?,
            heads: config.num_attention_heads,
        })
    }

    fn forward(&self, x: &Tensor, distances: &Tensor) -> Result<Tensor> {
        let (batch, tokens, width) = x.dims3()?;
        let head = width / self.heads;
        let query = split_into_heads(batch, tokens, self.heads, head, self.query.forward(x)?)?;
        let key = split_into_heads(batch, tokens, self.heads, head, self.key.forward(x)?)?;
        let value = split_into_heads(batch, tokens, self.heads, head, self.value.forward(x)?)?;
        let scores = (query.matmul(&key.t()?)? / (head as f64).sqrt())?;
        let shares = candle_nn::ops::softmax(&scores.broadcast_add(distances)?, D::Minus1)?;
        let found = shares.matmul(&value)?.transpose(1, 2)?;
        let found = self.out.forward(&found.reshape((batch, tokens, width))?)?;
        let x = self.out_norm.forward(&(found + x)?)?;
        let inner = self.up.forward(&x)?.gelu_erf()?;
        self.down_norm.forward(&(self.down.forward(&inner)? + x)?)
    }
}

/// Reshapes the vectors so that the numbers of each head are together.
fn split_into_heads(
    batch: usize,
    tokens: usize,
    heads: usize,
    head: usize,
    x: Tensor,
) -> Result<Tensor> {
    x.reshape((batch, tokens, heads, head))?
        .transpose(1, 2)?
        .contiguous()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_distances_share_a_bucket_and_both_directions_have_their_own() {
        assert_eq!(
            (bucket(5, 5, 32), bucket(9, 2, 32), bucket(2, 9, 32)),
            (0, 7, 23)
        );
        assert_eq!(
            (bucket(8, 0, 32), bucket(200, 0, 32), bucket(0, 200, 32)),
            (8, 15, 31)
        );
        let all = (0..128).map(|distance| bucket(distance, 0, 32));
        assert!(all.clone().zip(all.skip(1)).all(|(near, far)| near <= far));
    }
}
