//! A linear layer in f32: rows of activations times a weight matrix that is packed once, plus a
//! bias.
//!
//! Nine tenths of the arithmetic of embedding a text are such products. A general implementation
//! packs its operands each time and must handle every shape; here the weights never change, so they
//! are stored in the order in which the inner loop reads them ([`crate::tile`]).
//!
//! Each result is one chain of fused multiply-adds over the inner dimension in order. So it depends
//! neither on the other rows nor on the x86 instruction set.

use std::io;

use crate::Isa;
use crate::elementwise::{finish, vectorised};
use crate::layout::{Floats, LINE, Line, PANEL, ROWS};
use crate::stored::{self, Reader, Stored};
use crate::tile;

/// Number of rows whose activations stay in the second-level cache while all panels are processed.
pub(crate) const BLOCK_ROWS: usize = 8 * ROWS;

/// A packed weight matrix [inputs, outputs], and the bias of its outputs.
pub struct Panels {
    /// [panels][inputs][2 lines]; columns beyond `outputs` are zero.
    lines: Stored<Floats>,
    /// As long as the panels are wide.
    bias: Stored<Line<[f32; PANEL]>>,
    inputs: usize,
    outputs: usize,
}

impl Panels {
    /// An all-zero matrix of this shape.
    pub fn new(inputs: usize, outputs: usize) -> Self {
        let panels = outputs.div_ceil(PANEL);
        let lines = Stored::Own(vec![Line([0.0; LINE]); panels * inputs * 2]);
        Self {
            lines,
            bias: Stored::Own(vec![Line([0.0; PANEL]); panels]),
            inputs,
            outputs,
        }
    }

    /// A matrix of this shape that [`Self::write`] wrote. `None`: there are too few bytes, or they
    /// are not aligned to a line.
    pub fn read(inputs: usize, outputs: usize, reader: &mut Reader) -> Option<Self> {
        let panels = outputs.div_ceil(PANEL);
        let bias = reader.take(panels)?;
        let lines = reader.take(panels.checked_mul(inputs)?.checked_mul(2)?)?;
        Some(Self {
            lines,
            bias,
            inputs,
            outputs,
        })
    }

    /// Writes it as it is in memory, in whole cache lines.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        stored::write(&self.bias, out)?;
        stored::write(&self.lines, out)
    }

    /// Writes the columns `first..first + bias.len()`: `rows` contains them one after another, each
    /// `inputs` long.
    ///
    /// Panics when they do not fit, or if the matrix was read from stored bytes.
    pub fn set_columns(&mut self, first: usize, rows: &[f32], bias: &[f32]) {
        assert!(
            rows.len() == bias.len() * self.inputs && first + bias.len() <= self.outputs,
            "columns fit"
        );
        for (column, (row, bias)) in (first..).zip(rows.chunks_exact(self.inputs).zip(bias)) {
            let (panel, place) = (column / PANEL, column % PANEL);
            self.bias.own()[panel].0[place] = *bias;
            let lines = self.lines.own()[panel * self.inputs * 2..]
                .iter_mut()
                .skip(place / LINE)
                .step_by(2);
            for (line, x) in lines.zip(row) {
                line.0[place % LINE] = *x;
            }
        }
    }

    /// Length of a row of activations, and of a row of results.
    pub fn shape(&self) -> (usize, usize) {
        (self.inputs, self.outputs)
    }

    /// `rows · matrix + bias`, with GELU if requested: [count, inputs] → `out` [count, outputs].
    ///
    /// Panics when `rows` is not whole rows or `out` has another length.
    pub fn product(&self, isa: Isa, rows: &[f32], with_gelu: bool, out: &mut [f32]) {
        let count = rows.len() / self.inputs;
        assert!(
            rows.len() == count * self.inputs && out.len() == count * self.outputs,
            "the result fits"
        );
        let blocks = rows
            .chunks(BLOCK_ROWS * self.inputs)
            .zip(out.chunks_mut(BLOCK_ROWS * self.outputs));
        for (rows, out) in blocks {
            block(isa, self, rows, with_gelu, out);
        }
    }
}

vectorised! {
    fn block(isa: Isa, matrix: &Panels, rows: &[f32], with_gelu: bool, out: &mut [f32]) {
        let (inputs, outputs) = (matrix.inputs, matrix.outputs);
        let mut sums = [[0.0; PANEL]; ROWS];
        for (number, (panel, bias)) in matrix.lines.chunks_exact(inputs * 2).zip(&*matrix.bias).enumerate() {
            let columns = number * PANEL..outputs.min((number + 1) * PANEL);
            for (rows, out) in rows.chunks(ROWS * inputs).zip(out.chunks_mut(ROWS * outputs)) {
                tile::floats(isa, rows, inputs, panel, sums.as_flattened_mut(), PANEL);
                for (sums, out) in sums.iter().zip(out.chunks_exact_mut(outputs)) {
                    finish::<FUSED, false>(|i| sums[i] + bias.0[i], with_gelu, &mut out[columns.clone()]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Set;
    use crate::most;
    use proptest::prelude::*;

    /// The definition: one chain of fused multiply-adds per number.
    fn plain(rows: &[f32], columns: &[f32], inputs: usize, bias: &[f32]) -> Vec<f32> {
        let dot = |row: &[f32], column: &[f32]| {
            row.iter()
                .zip(column)
                .fold(0.0_f32, |sum, (x, w)| x.mul_add(*w, sum))
        };
        let columns = || columns.chunks_exact(inputs).zip(bias);
        rows.chunks_exact(inputs)
            .flat_map(|row| columns().map(move |(column, bias)| dot(row, column) + bias))
            .collect()
    }

    proptest! {
        #[test]
        fn every_instruction_set_gives_the_bits_of_the_definition(
            count in 0..most(90), inputs in 1_usize..40, outputs in 1..most(100), seed in any::<u32>()
        ) {
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / (1 << 24) as f32 - 0.5
            };
            let rows: Vec<f32> = (0..count * inputs).map(|_| next()).collect();
            let columns: Vec<f32> = (0..outputs * inputs).map(|_| next()).collect();
            let bias: Vec<f32> = (0..outputs).map(|_| next()).collect();
            let mut panels = Panels::new(inputs, outputs);
            let half = outputs / 2;
            panels.set_columns(0, &columns[..half * inputs], &bias[..half]);
            panels.set_columns(half, &columns[half * inputs..], &bias[half..]);
            let wanted = plain(&rows, &columns, inputs, &bias);
            for isa in Isa::all() {
                let mut found = vec![f32::NAN; count * outputs];
                panels.product(isa, &rows, false, &mut found);
                if isa.set() == Set::Portable && !cfg!(target_arch = "aarch64") {
                    // Without the instruction, products are rounded before the addition.
                    prop_assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-5));
                } else {
                    prop_assert_eq!(&found, &wanted);
                }
                let mut active = vec![f32::NAN; count * outputs];
                panels.product(isa, &rows, true, &mut active);
                let mut twice = found.clone();
                crate::elementwise::add_bias(isa, &mut twice, &vec![0.0; outputs], true);
                prop_assert_eq!(active, twice);
            }
        }
    }
}
