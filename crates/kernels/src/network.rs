//! The layers of a BERT encoder over packed sequences.
//!
//! Sequences are stored one after another without padding; every row of a result depends only on
//! its own sequence, including the last bit. One thread computes one batch: a batch of about
//! [`BATCH_TOKENS`] tokens keeps its activations in the second-level cache. One [`Scratch`] per
//! thread contains everything between the layers, so nothing is allocated as long as it is large
//! enough.

use std::io;

use crate::Isa;
use crate::attention::{AttentionScratch, attend};
#[cfg(target_arch = "x86_64")]
use crate::attention::{halves, words};
use crate::bf16;
use crate::elementwise::{add_and_norm, add_bias};
use crate::int8::{Codes, Int8Matrix};
#[cfg(target_arch = "x86_64")]
use crate::layout::PANEL;
#[cfg(target_arch = "x86_64")]
use crate::layout::{Out, ROWS_AT_ONCE, Rows};
#[cfg(target_arch = "x86_64")]
use crate::lines::Lines;
use crate::product::{BLOCK_ROWS, Panels};

/// Number of rows whose inner activations in bf16 stay in the second-level cache.
#[cfg(target_arch = "x86_64")]
const HALVES_ROWS: usize = 192;

/// Number of tokens in a batch whose activations stay in a second-level cache of a megabyte or
/// more.
pub const BATCH_TOKENS: usize = 256;

/// A product that is computed by other code: rows [count, inputs] → [count, outputs], without a
/// bias.
pub type Product = Box<dyn Fn(&[f32], &mut [f32]) -> Result<(), String> + Send + Sync>;

/// A linear layer.
pub enum Linear {
    /// In f32.
    Full(Panels),
    /// In bytes.
    Int8(Int8Matrix),
    /// In bf16.
    Bf16(bf16::Bf16Matrix),
    /// A product computed by other code.
    Other {
        /// The code that computes the product.
        product: Product,
        /// As long as a row of results.
        bias: Vec<f32>,
        /// Length of a row of activations.
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

/// Buffers that a thread needs between the layers; grows with the largest batch.
#[derive(Default)]
pub struct Scratch {
    qkv: Vec<f32>,
    context: Vec<f32>,
    rows: Vec<f32>,
    inner: Vec<f32>,
    rounding: Rounding,
    attention: AttentionScratch,
    #[cfg(target_arch = "x86_64")]
    packed: PackedScratch,
}

/// Rows of activations, rounded for a product.
#[derive(Default)]
struct Rounding {
    codes: Codes,
    halves: bf16::Rounded,
}

/// The same between layers whose inputs and outputs are bf16.
#[cfg(target_arch = "x86_64")]
#[derive(Default)]
struct PackedScratch {
    qkv: Lines,
    context: Lines,
    inner: Lines,
    halves: halves::Bf16AttentionScratch,
    words: words::WordAttentionScratch,
}

impl Linear {
    /// Length of a row of activations, and of a row of results.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Full(panels) => panels.shape(),
            Self::Int8(matrix) => matrix.shape(),
            Self::Bf16(matrix) => matrix.shape(),
            Self::Other { bias, inputs, .. } => (*inputs, bias.len()),
        }
    }

    /// Writes packed weights as they are in memory.
    ///
    /// Errors: errors of `out`; a product that is computed by other code cannot be written.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Full(panels) => panels.write(out),
            Self::Int8(matrix) => matrix.write(out),
            Self::Bf16(matrix) => matrix.write(out),
            Self::Other { .. } => Err(io::Error::other("these weights are not packed")),
        }
    }

    fn apply(
        &self,
        isa: Isa,
        rows: &[f32],
        gelu: bool,
        rounded: &mut Rounding,
        out: &mut [f32],
    ) -> Result<(), String> {
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
    /// Adds `rows` to `x` and normalises every row of the sum.
    fn add_and_norm(&self, x: &mut [f32], rows: &[f32], norm: &Norm) {
        add_and_norm(self.isa, x, rows, &norm.weight, &norm.bias, self.eps);
    }

    /// A network of layers that all have the same shape. `heads` divides `hidden`.
    ///
    /// Errors: a message if the shapes do not match.
    pub fn new(
        isa: Isa,
        hidden: usize,
        heads: usize,
        eps: f32,
        layers: Vec<Layer>,
    ) -> Result<Self, String> {
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
                (
                    (layer.out_norm.weight.len(), layer.out_norm.bias.len()),
                    (hidden, hidden),
                ),
                (
                    (layer.down_norm.weight.len(), layer.down_norm.bias.len()),
                    (hidden, hidden),
                ),
            ];
            if let Some((found, wanted)) =
                shapes.into_iter().find(|(found, wanted)| found != wanted)
            {
                return Err(format!(
                    "layer {number} holds a {found:?} where {wanted:?} belongs"
                ));
            }
        }
        Ok(Self {
            isa,
            heads,
            hidden,
            inner,
            eps,
            layers,
        })
    }

    /// The instructions it computes with.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Computes all layers in place. `x` contains the normed vectors of all tokens, [tokens,
    /// hidden]; `lengths` the number of tokens in each sequence.
    ///
    /// Panics when the lengths do not add up. Errors: those of a product that is computed by other
    /// code.
    pub fn forward(
        &self,
        x: &mut [f32],
        lengths: &[usize],
        scratch: &mut Scratch,
    ) -> Result<(), String> {
        let hidden = self.hidden;
        assert_eq!(
            x.len(),
            lengths.iter().sum::<usize>() * hidden,
            "every token belongs to a sequence"
        );
        for layer in &self.layers {
            #[cfg(target_arch = "x86_64")]
            if self.rounds(layer) {
                self.in_halves(layer, x, lengths, scratch);
                continue;
            }
            self.in_floats(layer, x, lengths, scratch)?;
        }
        Ok(())
    }

    /// One layer, with f32 between its products.
    fn in_floats(
        &self,
        layer: &Layer,
        x: &mut [f32],
        lengths: &[usize],
        scratch: &mut Scratch,
    ) -> Result<(), String> {
        let hidden = self.hidden;
        let Scratch {
            qkv,
            context,
            rows,
            inner,
            rounding,
            attention,
            ..
        } = scratch;
        let qkv = fitted(qkv, 3 * x.len());
        layer.qkv.apply(self.isa, x, false, rounding, qkv)?;
        let context = fitted(context, x.len());
        let mut done = 0;
        for len in lengths {
            let own = done * hidden..(done + len) * hidden;
            attend(
                self.isa,
                &qkv[3 * own.start..3 * own.end],
                hidden,
                self.heads,
                &mut context[own],
                attention,
            );
            done += len;
        }
        let rows = fitted(rows, x.len());
        layer.out.apply(self.isa, context, false, rounding, rows)?;
        self.add_and_norm(x, rows, &layer.out_norm);
        // In blocks, because the inner activations are the largest.
        for (x, rows) in x
            .chunks_mut(BLOCK_ROWS * hidden)
            .zip(rows.chunks_mut(BLOCK_ROWS * hidden))
        {
            let inner = fitted(inner, x.len() / hidden * self.inner);
            layer.up.apply(self.isa, x, true, rounding, inner)?;
            layer.down.apply(self.isa, inner, false, rounding, rows)?;
            self.add_and_norm(x, rows, &layer.down_norm);
        }
        Ok(())
    }
}

#[cfg(target_arch = "x86_64")]
impl Network {
    /// Whether the numbers between the products of `layer` can be bf16. This requires that the
    /// products are rounded anyway, that registers of 512 bits multiply the rounded numbers, and
    /// that rows fill panels and registers.
    fn rounds(&self, layer: &Layer) -> bool {
        let even = [self.hidden / self.heads, self.inner]
            .iter()
            .all(|numbers| numbers.is_multiple_of(PANEL));
        let linears = [&layer.qkv, &layer.out, &layer.up, &layer.down];
        let all = |of: fn(&Linear) -> bool| linears.iter().all(|linear| of(linear));
        even && if self.isa.has_bf16() {
            all(|linear| matches!(linear, Linear::Int8(_) | Linear::Bf16(_)))
        } else {
            self.isa.multiplies_bytes_in_512_bits()
                && all(|linear| matches!(linear, Linear::Int8(_)))
        }
    }

    /// Attention within each of the sequences, in bf16, or in words if the set has no bf16.
    fn attend_in_halves(
        &self,
        qkv: &[u16],
        lengths: &[usize],
        context: &mut [u16],
        (halves, words): (
            &mut halves::Bf16AttentionScratch,
            &mut words::WordAttentionScratch,
        ),
    ) {
        let hidden = self.hidden;
        let mut done = 0;
        for len in lengths {
            let own = done * hidden..(done + len) * hidden;
            let (qkv, context) = (&qkv[3 * own.start..], &mut context[own]);
            if self.isa.has_bf16() {
                halves::attend(self.isa, qkv, hidden, self.heads, context, halves);
            } else {
                words::attend(self.isa, qkv, hidden, self.heads, context, words);
            }
            done += len;
        }
    }

    /// One layer, with bf16 between its products.
    fn in_halves(&self, layer: &Layer, x: &mut [f32], lengths: &[usize], scratch: &mut Scratch) {
        let (hidden, tokens) = (self.hidden, x.len() / self.hidden);
        let Scratch {
            rows,
            rounding,
            packed:
                PackedScratch {
                    qkv,
                    context,
                    inner,
                    halves,
                    words,
                },
            ..
        } = scratch;
        let padded = tokens.next_multiple_of(ROWS_AT_ONCE) + ROWS_AT_ONCE;
        let qkv = qkv.fitted::<u16>(padded * 3 * hidden);
        layer.qkv.apply_to(
            Rows::Full(x),
            tokens,
            false,
            rounding,
            &mut Out::Halves(qkv),
        );
        let context = context.fitted::<u16>(padded * hidden);
        self.attend_in_halves(qkv, lengths, context, (halves, words));
        let rows = fitted(rows, x.len());
        layer.out.apply_to(
            Rows::Halves(context),
            tokens,
            false,
            rounding,
            &mut Out::Full(rows),
        );
        self.add_and_norm(x, rows, &layer.out_norm);
        for (x, rows) in x
            .chunks_mut(HALVES_ROWS * hidden)
            .zip(rows.chunks_mut(HALVES_ROWS * hidden))
        {
            let count = x.len() / hidden;
            let inner = inner.fitted::<u16>(count.next_multiple_of(ROWS_AT_ONCE) * self.inner);
            layer.up.apply_to(
                Rows::Full(x),
                count,
                true,
                rounding,
                &mut Out::Halves(inner),
            );
            layer.down.apply_to(
                Rows::Halves(inner),
                count,
                false,
                rounding,
                &mut Out::Full(rows),
            );
            self.add_and_norm(x, rows, &layer.down_norm);
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Linear {
    /// Like [`Self::apply`], for `count` rows and with results that may be bf16. Rows of bf16 are
    /// padded to a multiple of 32.
    fn apply_to(
        &self,
        rows: Rows<'_>,
        count: usize,
        gelu: bool,
        rounded: &mut Rounding,
        out: &mut Out<'_>,
    ) {
        match self {
            Self::Int8(matrix) => matrix.product_of(rows, count, &mut rounded.codes, gelu, out),
            Self::Bf16(matrix) => matrix.product_of(rows, count, &mut rounded.halves, gelu, out),
            Self::Full(_) | Self::Other { .. } => unreachable!("asked before"),
        }
    }
}

/// The first `len` numbers of a buffer that grows when necessary. Their values are arbitrary.
fn fitted(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    &mut buffer[..len]
}

#[cfg(test)]
mod tests;
