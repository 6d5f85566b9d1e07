//! The layers of a BERT encoder over packed sequences.
//!
//! Sequences stand one behind the other and nothing is padded; every row of a result depends on its own sequence alone,
//! to the last bit. One thread computes one batch: a batch of about [`BATCH_TOKENS`] tokens keeps its activations in the
//! second-level cache. A [`Scratch`] a thread holds everything between the layers, so nothing is allocated while it fits.

use std::io;

use crate::Isa;
use crate::attention::{Room, attend};
use crate::elementwise::{add_and_norm, add_bias};
use crate::int8::{Codes, Matrix};
use crate::product::{BLOCK_ROWS, Panels};

/// Tokens of a batch whose activations stay in a second-level cache of a megabyte or more.
pub const BATCH_TOKENS: usize = 256;

/// A product that is computed elsewhere: rows [count, inputs] → [count, outputs], without a bias.
pub type Product = Box<dyn Fn(&[f32], &mut [f32]) -> Result<(), String> + Send + Sync>;

/// A linear layer.
pub enum Linear {
    /// In f32.
    Full(Panels),
    /// In bytes.
    Int8(Matrix),
    /// By somebody else's product.
    Other {
        /// Computes it.
        product: Product,
        /// As long as a row of results.
        bias: Vec<f32>,
        /// Numbers in a row of activations.
        inputs: usize,
    },
}

/// A layer norm.
pub struct Norm {
    /// As long as a row.
    pub weight: Vec<f32>,
    /// As long as a row.
    pub bias: Vec<f32>,
}

/// One transformer block.
pub struct Layer {
    /// Query, key and value in one product: [hidden, 3·hidden].
    pub qkv: Linear,
    /// [hidden, hidden]
    pub out: Linear,
    pub out_norm: Norm,
    /// [hidden, inner], followed by GELU.
    pub up: Linear,
    /// [inner, hidden]
    pub down: Linear,
    pub down_norm: Norm,
}

/// All layers. Immutable: any number of threads may use it at once.
pub struct Network {
    isa: Isa,
    heads: usize,
    hidden: usize,
    inner: usize,
    eps: f32,
    layers: Vec<Layer>,
}

/// What a thread needs between the layers; grows with the largest batch.
#[derive(Default)]
pub struct Scratch {
    qkv: Vec<f32>,
    context: Vec<f32>,
    rows: Vec<f32>,
    inner: Vec<f32>,
    codes: Codes,
    room: Room,
}

impl Linear {
    /// Numbers in a row of activations, and in a row of results.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Full(panels) => panels.shape(),
            Self::Int8(matrix) => matrix.shape(),
            Self::Other { bias, inputs, .. } => (*inputs, bias.len()),
        }
    }

    /// Writes packed weights as they stand in memory.
    ///
    /// Errors: as writing; a product that is computed elsewhere cannot be written.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Full(panels) => panels.write(out),
            Self::Int8(matrix) => matrix.write(out),
            Self::Other { .. } => Err(io::Error::other("these weights are not packed")),
        }
    }

    fn apply(&self, isa: Isa, rows: &[f32], gelu: bool, codes: &mut Codes, out: &mut [f32]) -> Result<(), String> {
        match self {
            Self::Full(panels) => panels.product(isa, rows, gelu, out),
            Self::Int8(matrix) => matrix.product(rows, codes, gelu, out),
            Self::Other { product, bias, .. } => {
                product(rows, out)?;
                add_bias(isa, out, bias, gelu);
            }
        }
        Ok(())
    }
}

impl Network {
    /// Puts layers of one shape together. `heads` divide `hidden`.
    ///
    /// Errors: a sentence when the shapes do not fit.
    pub fn new(isa: Isa, hidden: usize, heads: usize, eps: f32, layers: Vec<Layer>) -> Result<Self, String> {
        let inner = layers.first().map_or(0, |layer| layer.up.shape().1);
        if hidden == 0 || heads == 0 || !hidden.is_multiple_of(heads) {
            return Err(format!("{heads} heads do not divide {hidden} numbers"));
        }
        for (number, layer) in layers.iter().enumerate() {
            let shapes = [
                (layer.qkv.shape(), (hidden, 3 * hidden)),
                (layer.out.shape(), (hidden, hidden)),
                (layer.up.shape(), (hidden, inner)),
                (layer.down.shape(), (inner, hidden)),
                ((layer.out_norm.weight.len(), layer.out_norm.bias.len()), (hidden, hidden)),
                ((layer.down_norm.weight.len(), layer.down_norm.bias.len()), (hidden, hidden)),
            ];
            if let Some((found, wanted)) = shapes.into_iter().find(|(found, wanted)| found != wanted) {
                return Err(format!("layer {number} holds a {found:?} where {wanted:?} belongs"));
            }
        }
        Ok(Self { isa, heads, hidden, inner, eps, layers })
    }

    /// Which instructions it computes with.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Computes all layers in place. `x` holds the normed vectors of all tokens, [tokens, hidden]; `lengths` the tokens
    /// of each sequence.
    ///
    /// Panics when the lengths do not add up. Errors: what a product that is computed elsewhere says.
    pub fn forward(&self, x: &mut [f32], lengths: &[usize], scratch: &mut Scratch) -> Result<(), String> {
        let hidden = self.hidden;
        assert_eq!(x.len(), lengths.iter().sum::<usize>() * hidden, "every token belongs to a sequence");
        let Scratch { qkv, context, rows, inner, codes, room } = scratch;
        for layer in &self.layers {
            let qkv = fitted(qkv, 3 * x.len());
            layer.qkv.apply(self.isa, x, false, codes, qkv)?;
            let context = fitted(context, x.len());
            let mut done = 0;
            for len in lengths {
                let own = done * hidden..(done + len) * hidden;
                attend(self.isa, &qkv[3 * own.start..3 * own.end], hidden, self.heads, &mut context[own], room);
                done += len;
            }
            let rows = fitted(rows, x.len());
            layer.out.apply(self.isa, context, false, codes, rows)?;
            add_and_norm(self.isa, x, rows, &layer.out_norm.weight, &layer.out_norm.bias, self.eps);
            // In blocks: the inner activations are the largest of all.
            for (x, rows) in x.chunks_mut(BLOCK_ROWS * hidden).zip(rows.chunks_mut(BLOCK_ROWS * hidden)) {
                let inner = fitted(inner, x.len() / hidden * self.inner);
                layer.up.apply(self.isa, x, true, codes, inner)?;
                layer.down.apply(self.isa, inner, false, codes, rows)?;
                add_and_norm(self.isa, x, rows, &layer.down_norm.weight, &layer.down_norm.bias, self.eps);
            }
        }
        Ok(())
    }
}

/// The first `len` numbers of a buffer that grows when it must. They hold anything.
fn fitted(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    &mut buffer[..len]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Set;

    const HIDDEN: usize = 48;
    const HEADS: usize = 3;
    const INNER: usize = 80;

    fn numbers(seed: u32) -> impl FnMut() -> f32 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32 - 0.5
        }
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        Full,
        Int8,
        /// By the definition, in f64.
        Plain,
    }

    fn linear(next: &mut impl FnMut() -> f32, isa: Isa, kind: Kind, inputs: usize, outputs: usize) -> Linear {
        let weights: Vec<f32> = (0..inputs * outputs).map(|_| next() * 0.5).collect();
        let bias: Vec<f32> = (0..outputs).map(|_| next()).collect();
        match kind {
            Kind::Full => {
                let mut panels = Panels::new(inputs, outputs);
                panels.set_columns(0, &weights, &bias);
                Linear::Full(panels)
            }
            Kind::Int8 => {
                let mut matrix = Matrix::new(isa, inputs, outputs);
                matrix.set_columns(0, &weights, &bias);
                Linear::Int8(matrix)
            }
            Kind::Plain => {
                let product = move |rows: &[f32], out: &mut [f32]| {
                    for (row, out) in rows.chunks_exact(inputs).zip(out.chunks_exact_mut(outputs)) {
                        for (column, to) in weights.chunks_exact(inputs).zip(out) {
                            *to =
                                row.iter().zip(column).map(|(x, w)| f64::from(*x) * f64::from(*w)).sum::<f64>() as f32;
                        }
                    }
                    Ok(())
                };
                Linear::Other { product: Box::new(product), bias, inputs }
            }
        }
    }

    /// Two layers of random weights, the same for every set and kind.
    fn network(isa: Isa, kind: Kind, seed: u32) -> Network {
        let mut next = numbers(seed);
        let layers = (0..2).map(|_| {
            let norm = |next: &mut dyn FnMut() -> f32| Norm {
                weight: (0..HIDDEN).map(|_| 1.0 + next()).collect(),
                bias: (0..HIDDEN).map(|_| next()).collect(),
            };
            Layer {
                qkv: linear(&mut next, isa, kind, HIDDEN, 3 * HIDDEN),
                out: linear(&mut next, isa, kind, HIDDEN, HIDDEN),
                out_norm: norm(&mut next),
                up: linear(&mut next, isa, kind, HIDDEN, INNER),
                down: linear(&mut next, isa, kind, INNER, HIDDEN),
                down_norm: norm(&mut next),
            }
        });
        Network::new(isa, HIDDEN, HEADS, 1e-12, layers.collect()).unwrap()
    }

    fn run(network: &Network, x: &[f32], lengths: &[usize], scratch: &mut Scratch) -> Vec<f32> {
        let mut x = x.to_vec();
        network.forward(&mut x, lengths, scratch).unwrap();
        x
    }

    fn least_cosine(a: &[f32], b: &[f32]) -> f64 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
        let rows = a.chunks_exact(HIDDEN).zip(b.chunks_exact(HIDDEN));
        rows.map(|(a, b)| dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()).fold(1.0, f64::min)
    }

    #[test]
    fn every_set_computes_the_definition_and_all_of_x86_the_same_bits() {
        for seed in if cfg!(miri) { 1..2 } else { 1..3 } {
            let mut scratches: Vec<Scratch> = Isa::all().map(|_| Scratch::default()).collect();
            let batches = [vec![512], vec![256], vec![255, 1, 2], vec![0, 13, 0], vec![1], vec![2], vec![0], vec![]];
            // An interpreter takes minutes for the first.
            for lengths in batches.into_iter().filter(|lengths| !cfg!(miri) || lengths.iter().all(|len| *len < 40)) {
                let mut next = numbers(seed + 10);
                let x: Vec<f32> = (0..lengths.iter().sum::<usize>() * HIDDEN).map(|_| 4.0 * next()).collect();
                let portable = Isa::new(Set::Portable).unwrap();
                let exact = run(&network(portable, Kind::Plain, seed), &x, &lengths, &mut Scratch::default());
                for (kind, bound) in [(Kind::Full, 0.999_999), (Kind::Int8, 0.999)] {
                    let mut bits: Option<Vec<f32>> = None;
                    for (isa, scratch) in Isa::all().zip(&mut scratches) {
                        let found = run(&network(isa, kind, seed), &x, &lengths, scratch);
                        let cosine = least_cosine(&found, &exact);
                        assert!(cosine >= bound, "{isa:?} {lengths:?}: {cosine}");
                        if isa.set() != Set::Portable {
                            assert!(bits.get_or_insert_with(|| found.clone()) == &found, "{isa:?} {lengths:?}");
                        } else if let Some(bits) = &bits {
                            assert!(least_cosine(bits, &found) >= 0.999_9, "{lengths:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_sequence_does_not_depend_on_its_companions_to_the_last_bit() {
        let lengths = if cfg!(miri) { [3, 1, 13, 0, 2] } else { [40, 1, 100, 7, 13] };
        let mut next = numbers(5);
        let x: Vec<f32> = (0..lengths.iter().sum::<usize>() * HIDDEN).map(|_| 4.0 * next()).collect();
        for kind in [Kind::Full, Kind::Int8] {
            for isa in Isa::all() {
                let (network, mut scratch) = (network(isa, kind, 3), Scratch::default());
                let together = run(&network, &x, &lengths, &mut scratch);
                let mut done = 0;
                for len in lengths {
                    let own = done * HIDDEN..(done + len) * HIDDEN;
                    assert_eq!(run(&network, &x[own.clone()], &[len], &mut scratch), together[own], "{isa:?} {len}");
                    done += len;
                }
            }
        }
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        let isa = Isa::best();
        let layers = |seed| network(isa, Kind::Full, seed).layers;
        assert!(Network::new(isa, HIDDEN, 5, 1e-12, layers(1)).is_err());
        assert!(Network::new(isa, HIDDEN * 2, HEADS, 1e-12, layers(1)).is_err());
        let mut wrong = layers(1);
        wrong[1].down_norm.bias.pop();
        let refused = Network::new(isa, HIDDEN, HEADS, 1e-12, wrong).err().unwrap();
        assert!(refused.starts_with("layer 1"), "{refused}");
    }
}
