//! Turns the vectors of a text's tokens into the vector of the text: pooling, dense layers,
//! cutting, scaling to length 1.

use local_agent_kernels::Isa;
use local_agent_kernels::elementwise as kernels;

use super::weights::{Tensors, invalid};
use crate::models::{DenseFile, ModelFiles, Pooling};
use local_agent_text::error::Result;

/// The steps after the network. Immutable.
pub(super) struct Pooler {
    id: String,
    isa: Isa,
    pooling: Pooling,
    /// Width of a token's vector.
    width: usize,
    dense: Vec<DenseLayer>,
    dimensions: usize,
}

/// A dense layer after the pooling, or in the head of a reranker.
pub(super) struct DenseLayer {
    /// [outputs, inputs].
    weight: Vec<f32>,
    /// One number per output; empty without a bias.
    bias: Vec<f32>,
    inputs: usize,
    is_tanh: bool,
}

impl Pooler {
    /// Reads the dense layers, if there are any.
    ///
    /// Errors: `MODEL_INVALID` when a tensor is missing or has another shape.
    pub(super) fn load(files: &ModelFiles, isa: Isa) -> Result<Self> {
        Ok(Self {
            id: files.id().to_owned(),
            isa,
            pooling: files.pooling(),
            width: files.network().width(),
            dense: files
                .dense()
                .iter()
                .map(|file| DenseLayer::load(files.id(), file))
                .collect::<Result<_>>()?,
            dimensions: files.dimensions(),
        })
    }

    /// Width of a token's vector.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Length of the vector of a text.
    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The unit vector of one text, from the vectors of its tokens: [tokens, width].
    ///
    /// Errors: `MODEL_INVALID` if it is not finite, or has no direction.
    pub(super) fn pooled(&self, states: &[f32]) -> Result<Vec<f32>> {
        let mut vector = vec![0.0; self.width];
        let counted = match self.pooling {
            Pooling::Mean => states,
            Pooling::Cls => states.get(..self.width).unwrap_or(states),
            Pooling::LastToken => {
                let start = states.len().saturating_sub(self.width);
                states.get(start..).unwrap_or(states)
            }
        };
        kernels::add_rows(self.isa, &mut vector, counted);
        if !self.dense.is_empty() {
            // A dense layer needs the mean itself; without one only the direction counts.
            let rows = (counted.len() / self.width).max(1) as f32;
            for x in &mut vector {
                *x /= rows;
            }
        }
        for layer in &self.dense {
            vector = layer.apply(&vector);
        }
        vector.truncate(self.dimensions);
        if !kernels::normalise(&mut vector) {
            return Err(invalid(&self.id, "it made a vector that is not finite"));
        }
        Ok(vector)
    }
}

impl DenseLayer {
    fn load(id: &str, file: &DenseFile) -> Result<Self> {
        let tensors = Tensors::open(id, &file.weights)?;
        let shape = file.shape;
        let bias = if shape.has_bias {
            tensors.read("linear.bias", &[shape.outputs])?
        } else {
            Vec::new()
        };
        Ok(Self {
            weight: tensors.read("linear.weight", &[shape.outputs, shape.inputs])?,
            bias,
            inputs: shape.inputs,
            is_tanh: shape.is_tanh,
        })
    }

    /// The layer `name` with a bias, of `inputs` and `outputs` numbers.
    ///
    /// Errors: `MODEL_INVALID` when a tensor is missing or has another shape.
    pub(super) fn read(
        tensors: &Tensors,
        name: &str,
        (inputs, outputs): (usize, usize),
        is_tanh: bool,
    ) -> Result<Self> {
        Ok(Self {
            weight: tensors.read(&format!("{name}.weight"), &[outputs, inputs])?,
            bias: tensors.read(&format!("{name}.bias"), &[outputs])?,
            inputs,
            is_tanh,
        })
    }

    /// Number of inputs.
    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    pub(super) fn apply(&self, vector: &[f32]) -> Vec<f32> {
        let rows = self.weight.chunks_exact(self.inputs);
        let mut out: Vec<f32> = rows.map(|row| dot(row, vector)).collect();
        out.iter_mut()
            .zip(&self.bias)
            .for_each(|(x, bias)| *x += bias);
        if self.is_tanh {
            for x in &mut out {
                *x = x.tanh();
            }
        }
        out
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
