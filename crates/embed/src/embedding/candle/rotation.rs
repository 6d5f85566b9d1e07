//! Rotary position embedding ("RoPE", Su et al. 2021).

use candle_core::{Device, Result, Tensor};
use candle_nn::rotary_emb::rope;

/// Cosine and sine of every angle: [positions, half of a head].
pub(super) struct Rotation {
    cos: Tensor,
    sin: Tensor,
}

impl Rotation {
    /// The rotation for `positions` positions. A head has twice as many numbers as `steps` has
    /// angles.
    pub(super) fn new(steps: &[f64], positions: usize) -> Result<Self> {
        let angles: Vec<f32> = (0..positions)
            .flat_map(|position| {
                steps
                    .iter()
                    .map(move |step| (position as f64 * step) as f32)
            })
            .collect();
        let angles = Tensor::from_vec(angles, (positions, steps.len()), &Device::Cpu)?;
        Ok(Self {
            cos: angles.cos()?,
            sin: angles.sin()?,
        })
    }

    /// Rotates [1, heads, tokens, head]; the first token has position 0.
    pub(super) fn apply(&self, x: &Tensor) -> Result<Tensor> {
        rope(&x.contiguous()?, &self.cos, &self.sin)
    }
}

/// The angle between adjacent positions, for each pair of numbers of a head: `base^(-2i / head)`.
pub(super) fn steps(base: f64, head: usize) -> Vec<f64> {
    (0..head / 2)
        .map(|i| base.powf(-2.0 * i as f64 / head as f64))
        .collect()
}
