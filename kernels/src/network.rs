//! The layers of a BERT encoder over packed sequences.
//!
//! Sequences stand one behind the other and nothing is padded; every row of a result depends on its own sequence alone,
//! to the last bit. One thread computes one batch: a batch of about [`BATCH_TOKENS`] tokens keeps its activations in the
//! second-level cache. A [`Scratch`] a thread holds everything between the layers, so nothing is allocated while it fits.

use std::io;

use crate::Isa;
use crate::attention::{Room, attend};
use crate::bf16;
#[cfg(target_arch = "x86_64")]
use crate::bf16::{Out, ROWS_AT_ONCE, Rows};
use crate::elementwise::{add_and_norm, add_bias};
use crate::int8::{Codes, Matrix};
#[cfg(target_arch = "x86_64")]
use crate::lines::Lines;
use crate::product::{BLOCK_ROWS, Panels};
#[cfg(target_arch = "x86_64")]
use crate::tile::PANEL;

/// Rows whose inner activations in bf16 stay in the second-level cache.
#[cfg(target_arch = "x86_64")]
const HALVES_ROWS: usize = 192;

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
    /// In bf16.
    Bf16(bf16::Matrix),
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
    rounding: Rounding,
    room: Room,
    #[cfg(target_arch = "x86_64")]
    packed: Packed,
}

/// Rows of activations, rounded for a product.
#[derive(Default)]
struct Rounding {
    codes: Codes,
    halves: bf16::Rounded,
}

/// The same between layers that take and give bf16.
#[cfg(target_arch = "x86_64")]
#[derive(Default)]
struct Packed {
    qkv: Lines,
    context: Lines,
    inner: Lines,
    room: crate::attention::halves::Room,
}

impl Linear {
    /// Numbers in a row of activations, and in a row of results.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Full(panels) => panels.shape(),
            Self::Int8(matrix) => matrix.shape(),
            Self::Bf16(matrix) => matrix.shape(),
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
            Self::Bf16(matrix) => matrix.write(out),
            Self::Other { .. } => Err(io::Error::other("these weights are not packed")),
        }
    }

    fn apply(&self, isa: Isa, rows: &[f32], gelu: bool, rounded: &mut Rounding, out: &mut [f32]) -> Result<(), String> {
        match self {
            Self::Full(panels) => panels.product(isa, rows, gelu, out),
            Self::Int8(matrix) => matrix.product(rows, &mut rounded.codes, gelu, out),
            Self::Bf16(matrix) => matrix.product(rows, &mut rounded.halves, gelu, out),
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
        for layer in &self.layers {
            #[cfg(target_arch = "x86_64")]
            if self.isa.has_bf16() && self.rounds(layer) {
                self.in_halves(layer, x, lengths, scratch);
                continue;
            }
            self.in_floats(layer, x, lengths, scratch)?;
        }
        Ok(())
    }

    /// One layer; between its products stand f32.
    fn in_floats(&self, layer: &Layer, x: &mut [f32], lengths: &[usize], scratch: &mut Scratch) -> Result<(), String> {
        let hidden = self.hidden;
        let Scratch { qkv, context, rows, inner, rounding, room, .. } = scratch;
        let qkv = fitted(qkv, 3 * x.len());
        layer.qkv.apply(self.isa, x, false, rounding, qkv)?;
        let context = fitted(context, x.len());
        let mut done = 0;
        for len in lengths {
            let own = done * hidden..(done + len) * hidden;
            attend(self.isa, &qkv[3 * own.start..3 * own.end], hidden, self.heads, &mut context[own], room);
            done += len;
        }
        let rows = fitted(rows, x.len());
        layer.out.apply(self.isa, context, false, rounding, rows)?;
        add_and_norm(self.isa, x, rows, &layer.out_norm.weight, &layer.out_norm.bias, self.eps);
        // In blocks: the inner activations are the largest of all.
        for (x, rows) in x.chunks_mut(BLOCK_ROWS * hidden).zip(rows.chunks_mut(BLOCK_ROWS * hidden)) {
            let inner = fitted(inner, x.len() / hidden * self.inner);
            layer.up.apply(self.isa, x, true, rounding, inner)?;
            layer.down.apply(self.isa, inner, false, rounding, rows)?;
            add_and_norm(self.isa, x, rows, &layer.down_norm.weight, &layer.down_norm.bias, self.eps);
        }
        Ok(())
    }
}

#[cfg(target_arch = "x86_64")]
impl Network {
    /// Whether what stands between the products of `layer` can be bf16: where products are rounded anyway, and rows fill the
    /// panels and registers of the sets that have it.
    fn rounds(&self, layer: &Layer) -> bool {
        let even = [self.hidden / self.heads, self.inner].iter().all(|numbers| numbers.is_multiple_of(PANEL));
        let rounded = |linear: &&Linear| matches!(linear, Linear::Int8(_) | Linear::Bf16(_));
        even && [&layer.qkv, &layer.out, &layer.up, &layer.down].iter().all(rounded)
    }

    /// One layer; between its products stand bf16.
    fn in_halves(&self, layer: &Layer, x: &mut [f32], lengths: &[usize], scratch: &mut Scratch) {
        let (hidden, tokens) = (self.hidden, x.len() / self.hidden);
        let Scratch { rows, rounding, packed: Packed { qkv, context, inner, room }, .. } = scratch;
        let padded = tokens.next_multiple_of(ROWS_AT_ONCE) + ROWS_AT_ONCE;
        let qkv = qkv.fitted::<u16>(padded * 3 * hidden);
        layer.qkv.apply_to(Rows::Full(x), tokens, false, rounding, &mut Out::Halves(qkv));
        let context = context.fitted::<u16>(padded * hidden);
        let mut done = 0;
        for len in lengths {
            let own = done * hidden..(done + len) * hidden;
            crate::attention::halves::attend(
                self.isa,
                &qkv[3 * own.start..],
                hidden,
                self.heads,
                &mut context[own],
                room,
            );
            done += len;
        }
        let rows = fitted(rows, x.len());
        layer.out.apply_to(Rows::Halves(context), tokens, false, rounding, &mut Out::Full(rows));
        add_and_norm(self.isa, x, rows, &layer.out_norm.weight, &layer.out_norm.bias, self.eps);
        for (x, rows) in x.chunks_mut(HALVES_ROWS * hidden).zip(rows.chunks_mut(HALVES_ROWS * hidden)) {
            let count = x.len() / hidden;
            let inner = inner.fitted::<u16>(count.next_multiple_of(ROWS_AT_ONCE) * self.inner);
            layer.up.apply_to(Rows::Full(x), count, true, rounding, &mut Out::Halves(inner));
            layer.down.apply_to(Rows::Halves(inner), count, false, rounding, &mut Out::Full(rows));
            add_and_norm(self.isa, x, rows, &layer.down_norm.weight, &layer.down_norm.bias, self.eps);
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Linear {
    /// As [`Self::apply`], of `count` rows and to results that may be bf16. Rows of bf16 are padded to a multiple of 32.
    fn apply_to(&self, rows: Rows<'_>, count: usize, gelu: bool, rounded: &mut Rounding, out: &mut Out<'_>) {
        match self {
            Self::Int8(matrix) => matrix.product_of(rows, count, &mut rounded.codes, gelu, out),
            Self::Bf16(matrix) => matrix.product_of(rows, count, &mut rounded.halves, gelu, out),
            Self::Full(_) | Self::Other { .. } => unreachable!("asked before"),
        }
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

    /// Numbers of a token, heads, inner numbers.
    #[derive(Clone, Copy)]
    struct Shape(usize, usize, usize);

    /// Panels, registers and tiles are never full.
    const ODD: Shape = Shape(48, 3, 80);
    /// They always are, so what stands between rounded products is bf16 where the set has it.
    const EVEN: Shape = Shape(64, 2, 96);

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
        Bf16,
        /// Bytes and bf16.
        Both,
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
            Kind::Both if inputs < outputs => linear_of(isa, Kind::Int8, inputs, &weights, &bias),
            Kind::Both => linear_of(isa, Kind::Bf16, inputs, &weights, &bias),
            Kind::Int8 | Kind::Bf16 => linear_of(isa, kind, inputs, &weights, &bias),
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

    fn linear_of(isa: Isa, kind: Kind, inputs: usize, weights: &[f32], bias: &[f32]) -> Linear {
        if kind == Kind::Int8 {
            let mut matrix = Matrix::new(isa, inputs, bias.len());
            matrix.set_columns(0, weights, bias);
            return Linear::Int8(matrix);
        }
        let mut matrix = bf16::Matrix::new(isa, inputs, bias.len());
        matrix.set_columns(0, weights, bias);
        Linear::Bf16(matrix)
    }

    /// Two layers of random weights, the same for every set and kind.
    fn network(isa: Isa, kind: Kind, shape: Shape, seed: u32) -> Network {
        let Shape(hidden, heads, inner) = shape;
        let mut next = numbers(seed);
        let layers = (0..2).map(|_| {
            let norm = |next: &mut dyn FnMut() -> f32| Norm {
                weight: (0..hidden).map(|_| 1.0 + next()).collect(),
                bias: (0..hidden).map(|_| next()).collect(),
            };
            Layer {
                qkv: linear(&mut next, isa, kind, hidden, 3 * hidden),
                out: linear(&mut next, isa, kind, hidden, hidden),
                out_norm: norm(&mut next),
                up: linear(&mut next, isa, kind, hidden, inner),
                down: linear(&mut next, isa, kind, inner, hidden),
                down_norm: norm(&mut next),
            }
        });
        Network::new(isa, hidden, heads, 1e-12, layers.collect()).unwrap()
    }

    fn run(network: &Network, x: &[f32], lengths: &[usize], scratch: &mut Scratch) -> Vec<f32> {
        let mut x = x.to_vec();
        network.forward(&mut x, lengths, scratch).unwrap();
        x
    }

    fn least_cosine(a: &[f32], b: &[f32], hidden: usize) -> f64 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
        let rows = a.chunks_exact(hidden).zip(b.chunks_exact(hidden));
        rows.map(|(a, b)| dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()).fold(1.0, f64::min)
    }

    /// Where there is more than one right result: bf16 in registers rounds sums otherwise than the matrix unit and f32 do.
    fn rounds_alike(isa: Isa, kind: Kind, shape: Shape) -> bool {
        isa.set() != Set::Portable
            && (kind == Kind::Full || kind == Kind::Int8 && (shape.0 == ODD.0 || !isa.has_bf16()))
    }

    #[test]
    fn every_set_computes_the_definition_and_those_that_round_alike_the_same_bits() {
        for (seed, shape) in [(1, ODD), (2, ODD), (3, EVEN)] {
            let hidden = shape.0;
            let mut scratches: Vec<Scratch> = Isa::all().map(|_| Scratch::default()).collect();
            let batches = [vec![512], vec![256], vec![255, 1, 2], vec![0, 13, 0], vec![1], vec![2], vec![0], vec![]];
            // An interpreter takes minutes for the first.
            for lengths in batches.into_iter().filter(|lengths| !cfg!(miri) || lengths.iter().all(|len| *len < 40)) {
                let mut next = numbers(seed + 10);
                let x: Vec<f32> = (0..lengths.iter().sum::<usize>() * hidden).map(|_| 4.0 * next()).collect();
                let portable = Isa::new(Set::Portable).unwrap();
                let exact = run(&network(portable, Kind::Plain, shape, seed), &x, &lengths, &mut Scratch::default());
                let kinds = [(Kind::Full, 0.999_999), (Kind::Int8, 0.999), (Kind::Bf16, 0.999_9), (Kind::Both, 0.999)];
                for (kind, bound) in kinds {
                    let (mut bits, mut first): (Option<Vec<f32>>, Option<Vec<f32>>) = (None, None);
                    for (isa, scratch) in Isa::all().zip(&mut scratches) {
                        let found = run(&network(isa, kind, shape, seed), &x, &lengths, scratch);
                        let cosine = least_cosine(&found, &exact, hidden);
                        assert!(cosine >= bound, "{isa:?} {lengths:?}: {cosine}");
                        if rounds_alike(isa, kind, shape) {
                            assert!(bits.get_or_insert_with(|| found.clone()) == &found, "{isa:?} {lengths:?}");
                        }
                        let cosine = least_cosine(first.get_or_insert_with(|| found.clone()), &found, hidden);
                        assert!(cosine >= 0.999, "{isa:?} {lengths:?}: {cosine}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_sequence_does_not_depend_on_its_companions_to_the_last_bit() {
        let lengths = if cfg!(miri) { [3, 1, 13, 0, 2, 5] } else { [40, 1, 100, 7, 13, 130] };
        for shape in [ODD, EVEN] {
            let hidden = shape.0;
            let mut next = numbers(5);
            let x: Vec<f32> = (0..lengths.iter().sum::<usize>() * hidden).map(|_| 4.0 * next()).collect();
            for kind in [Kind::Full, Kind::Int8, Kind::Bf16, Kind::Both] {
                for isa in Isa::all() {
                    let (network, mut scratch) = (network(isa, kind, shape, 3), Scratch::default());
                    let together = run(&network, &x, &lengths, &mut scratch);
                    let mut done = 0;
                    for len in lengths {
                        let own = done * hidden..(done + len) * hidden;
                        let alone = run(&network, &x[own.clone()], &[len], &mut scratch);
                        assert_eq!(alone, together[own], "{isa:?} {len}");
                        done += len;
                    }
                }
            }
        }
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        let isa = Isa::best();
        let layers = |seed| network(isa, Kind::Full, ODD, seed).layers;
        assert!(Network::new(isa, 48, 5, 1e-12, layers(1)).is_err());
        assert!(Network::new(isa, 96, 3, 1e-12, layers(1)).is_err());
        let mut wrong = layers(1);
        wrong[1].down_norm.bias.pop();
        let refused = Network::new(isa, 48, 3, 1e-12, wrong).err().unwrap();
        assert!(refused.starts_with("layer 1"), "{refused}");
    }
}
