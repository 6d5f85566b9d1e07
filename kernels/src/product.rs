//! The matrix product of the encoder: rows of activations times a weight matrix that is packed once.
//!
//! Nine tenths of the arithmetic of embedding a text is this product. A general one packs its operands anew each time and must serve every
//! shape; here the weights never change, so they are laid out the way the inner loop reads them: panels of 48 columns,
//! one cache line after another. A tile of 8 rows by 48 columns (AVX-512) or 4 by 24 (AVX2) then stays in registers
//! while a panel streams by (Goto and van de Geijn 2008, "Anatomy of high-performance matrix multiplication").
//!
//! Each number is one chain of fused multiply-adds over the inner dimension in its order, so a result depends neither on
//! the other rows nor on which of the two instruction sets computed it.

use crate::Isa;

/// Columns of a panel: three registers of AVX-512, twice three of AVX2.
const PANEL: usize = 3 * LINE;

/// Numbers of one cache line.
const LINE: usize = 16;

/// Rows whose activations stay in the second-level cache while all panels pass.
const BLOCK_ROWS: usize = 64;

/// One cache line, on its boundary: a load that straddles two costs twice.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; LINE]);

/// A weight matrix [inputs, outputs], packed.
pub struct Panels {
    /// [panels][inputs][3 lines]; columns beyond `outputs` are zero.
    lines: Vec<Line>,
    inputs: usize,
    outputs: usize,
}

impl Panels {
    /// Room for a matrix of this shape, all zero.
    pub fn new(inputs: usize, outputs: usize) -> Self {
        let lines = vec![Line([0.0; LINE]); outputs.div_ceil(PANEL) * inputs * 3];
        Self { lines, inputs, outputs }
    }

    /// Writes columns from `first` on: `rows` holds them one after another, each `inputs` long. `first` must be a
    /// multiple of 16, as the shapes of transformers are.
    pub fn set_columns(&mut self, first: usize, rows: &[f32]) {
        debug_assert!(first.is_multiple_of(LINE));
        for (number, block) in rows.chunks(LINE * self.inputs).enumerate() {
            let column = first + number * LINE;
            let (panel, third) = (column / PANEL, column % PANEL / LINE);
            let lines = self.lines[panel * self.inputs * 3..].iter_mut().skip(third).step_by(3);
            for (input, line) in lines.take(self.inputs).enumerate() {
                for (to, row) in line.0.iter_mut().zip(block.chunks_exact(self.inputs)) {
                    *to = row[input];
                }
            }
        }
    }

    /// `rows · matrix`: [count, inputs] → [count, outputs], row after row; a rest shorter than a row is left out.
    ///
    /// Panics where the machine does not have the instructions.
    pub fn product(&self, isa: Isa, rows: &[f32]) -> Vec<f32> {
        assert!(isa.is_supported(), "chosen by `Isa::best`");
        let count = rows.len() / self.inputs;
        let rows = &rows[..count * self.inputs];
        let mut out = vec![0.0; count * self.outputs];
        let blocks = rows.chunks(BLOCK_ROWS * self.inputs).zip(out.chunks_mut(BLOCK_ROWS * self.outputs));
        for (rows, out) in blocks {
            for (number, panel) in self.lines.chunks_exact(self.inputs * 3).enumerate() {
                #[cfg(target_arch = "x86_64")]
                self.panel(isa, rows, panel, number * PANEL, out);
            }
        }
        out
    }

    /// One block of rows times one panel, written to `out` from `column` on.
    #[cfg(target_arch = "x86_64")]
    fn panel(&self, isa: Isa, rows: &[f32], panel: &[Line], column: usize, out: &mut [f32]) {
        let width = PANEL.min(self.outputs - column);
        let tile = if isa == Isa::Avx512 { 8 } else { 4 };
        let mut sums = [[Line([0.0; LINE]); 3]; 8];
        let tiles = rows.chunks(tile * self.inputs).zip(out.chunks_mut(tile * self.outputs));
        for (rows, out) in tiles {
            // SAFETY: `product` has seen that this machine has the instructions.
            unsafe { x86::tile(isa, rows, self.inputs, panel, &mut sums) };
            for (sums, out) in sums.iter().zip(out.chunks_exact_mut(self.outputs)) {
                for (sums, out) in sums.iter().zip(out[column..column + width].chunks_mut(LINE)) {
                    out.copy_from_slice(&sums.0[..out.len()]);
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Isa, LINE, Line};

    /// Sums of up to 8 (AVX-512) or 4 (AVX2) rows over one panel of `inputs` lines.
    ///
    /// # Safety
    /// The machine has the instructions of `isa`.
    pub(super) unsafe fn tile(isa: Isa, rows: &[f32], inputs: usize, panel: &[Line], sums: &mut [[Line; 3]; 8]) {
        let count = rows.len() / inputs;
        assert!(rows.len() == count * inputs && panel.len() == inputs * 3);
        // SAFETY: by the caller's promise; `rows` holds `count` rows and `panel` a panel of `inputs`, as was just seen.
        unsafe {
            match (isa, count) {
                (Isa::Avx512, 8) => avx512::<8>(rows, inputs, panel, sums),
                (Isa::Avx512, 4..8) => {
                    avx512::<4>(rows, inputs, panel, sums);
                    for row in 4..count {
                        let mut one = [[Line([0.0; LINE]); 3]; 8];
                        avx512::<1>(&rows[row * inputs..], inputs, panel, &mut one);
                        sums[row] = one[0];
                    }
                }
                (Isa::Avx512, 2..4) => {
                    avx512::<2>(rows, inputs, panel, sums);
                    for row in 2..count {
                        let mut one = [[Line([0.0; LINE]); 3]; 8];
                        avx512::<1>(&rows[row * inputs..], inputs, panel, &mut one);
                        sums[row] = one[0];
                    }
                }
                (Isa::Avx512, 1) => avx512::<1>(rows, inputs, panel, sums),
                (Isa::Avx2, 4) => avx2::<4>(rows, inputs, panel, sums),
                (Isa::Avx2, _) => {
                    for row in 0..count {
                        let mut one = [[Line([0.0; LINE]); 3]; 8];
                        avx2::<1>(&rows[row * inputs..], inputs, panel, &mut one);
                        sums[row] = one[0];
                    }
                }
                _ => {}
            }
        }
    }

    /// # Safety
    /// `rows` holds at least `R` rows of `inputs` numbers, `panel` three lines for each input.
    #[target_feature(enable = "avx512f")]
    unsafe fn avx512<const R: usize>(rows: &[f32], inputs: usize, panel: &[Line], sums: &mut [[Line; 3]; 8]) {
        let mut acc = [[_mm512_setzero_ps(); 3]; R];
        let (row, mut line) = (rows.as_ptr(), panel.as_ptr().cast::<f32>());
        for input in 0..inputs {
            // SAFETY: `input < inputs`, so both pointers stay within what the caller promised.
            unsafe {
                let weights =
                    [_mm512_load_ps(line), _mm512_load_ps(line.add(LINE)), _mm512_load_ps(line.add(2 * LINE))];
                for (r, acc) in acc.iter_mut().enumerate() {
                    let x = _mm512_set1_ps(*row.add(r * inputs + input));
                    for (acc, weights) in acc.iter_mut().zip(weights) {
                        *acc = _mm512_fmadd_ps(x, weights, *acc);
                    }
                }
                line = line.add(3 * LINE);
            }
        }
        for (acc, sums) in acc.iter().zip(sums) {
            for (acc, sum) in acc.iter().zip(sums) {
                // SAFETY: a line is as long and as aligned as a register.
                unsafe { _mm512_store_ps(sum.0.as_mut_ptr(), *acc) };
            }
        }
    }

    /// # Safety
    /// As [`avx512`].
    #[target_feature(enable = "avx2,fma")]
    unsafe fn avx2<const R: usize>(rows: &[f32], inputs: usize, panel: &[Line], sums: &mut [[Line; 3]; 8]) {
        const HALF: usize = 3 * LINE / 2;
        const LANES: usize = 8;
        for half in 0..2 {
            let mut acc = [[_mm256_setzero_ps(); 3]; R];
            let row = rows.as_ptr();
            let start = panel.as_ptr().cast::<f32>();
            for input in 0..inputs {
                // SAFETY: `input < inputs` and a line triple holds two halves, so both pointers stay within what the
                // caller promised.
                unsafe {
                    let line = start.add(input * 3 * LINE + half * HALF);
                    let weights =
                        [_mm256_load_ps(line), _mm256_load_ps(line.add(LANES)), _mm256_load_ps(line.add(2 * LANES))];
                    for (r, acc) in acc.iter_mut().enumerate() {
                        let x = _mm256_set1_ps(*row.add(r * inputs + input));
                        for (acc, weights) in acc.iter_mut().zip(weights) {
                            *acc = _mm256_fmadd_ps(x, weights, *acc);
                        }
                    }
                }
            }
            for (acc, sums) in acc.iter().zip(sums.iter_mut()) {
                let sums = sums.as_mut_ptr().cast::<f32>();
                for (third, acc) in acc.iter().enumerate() {
                    // SAFETY: three lines hold two halves of three registers.
                    unsafe { _mm256_store_ps(sums.add(half * HALF + third * LANES), *acc) };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: one chain of fused multiply-adds a number.
    fn plain(rows: &[f32], columns: &[f32], inputs: usize) -> Vec<f32> {
        let dot = |row: &[f32], column: &[f32]| row.iter().zip(column).fold(0.0_f32, |sum, (x, w)| x.mul_add(*w, sum));
        let columns = || columns.chunks_exact(inputs);
        rows.chunks_exact(inputs).flat_map(|row| columns().map(move |column| dot(row, column))).collect()
    }

    proptest! {
        #[test]
        fn every_instruction_set_gives_the_bits_of_the_definition(
            count in 0_usize..70, inputs in 1_usize..40, blocks in 1_usize..8, seed in any::<u32>()
        ) {
            let outputs = blocks * LINE;
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / (1 << 24) as f32 - 0.5
            };
            let rows: Vec<f32> = (0..count * inputs).map(|_| next()).collect();
            let columns: Vec<f32> = (0..outputs * inputs).map(|_| next()).collect();
            let mut panels = Panels::new(inputs, outputs);
            let half = blocks / 2 * LINE;
            panels.set_columns(0, &columns[..half * inputs]);
            panels.set_columns(half, &columns[half * inputs..]);
            for isa in [Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| isa.is_supported()) {
                let found = panels.product(isa, &rows);
                prop_assert_eq!(&found, &plain(&rows, &columns, inputs));
            }
        }
    }
}
