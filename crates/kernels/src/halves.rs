//! The matrix product for one question: rows of activations times a weight matrix that stays in its
//! file.
//!
//! Packing a matrix ([`crate::product`]) costs more than multiplying a dozen rows with it. So a
//! process that embeds one question reads the half-precision numbers directly from the mapped file,
//! each once, and converts them in registers.
//!
//! Each result is the sum of sixteen (AVX-512), eight (AVX2) or four (NEON) chains of fused
//! multiply-adds; it does not depend on the other rows. The last digits differ from those of the
//! packed product.

use crate::Isa;
use crate::isa::Width;
use crate::layout::OUTPUTS;

/// Numbers in the widest register; the length of a row is a multiple of it.
const LANES: usize = 16;

/// Rows of a tile.
const ROWS: usize = 6;

/// Selects the kernel for the number of rows, 1 to [`ROWS`].
macro_rules! by_rows {
    ($kernel:ident, $outputs:expr, ($rows:expr, $weights:expr, $inputs:expr, $sums:expr)) => {
        match $rows.len() / $inputs {
            1 => $kernel::<1, { $outputs }>($rows, $weights, $inputs, $sums),
            2 => $kernel::<2, { $outputs }>($rows, $weights, $inputs, $sums),
            3 => $kernel::<3, { $outputs }>($rows, $weights, $inputs, $sums),
            4 => $kernel::<4, { $outputs }>($rows, $weights, $inputs, $sums),
            5 => $kernel::<5, { $outputs }>($rows, $weights, $inputs, $sums),
            _ => $kernel::<6, { $outputs }>($rows, $weights, $inputs, $sums),
        }
    };
}

/// Whether there is a product for this set: only if numbers are converted in registers.
pub fn supported(isa: Isa) -> bool {
    isa.width() != Width::Unknown
}

/// `rows · weightsᵀ`: [count, inputs] times [outputs, inputs], written to the columns of `out` from
/// `column` on; a row of `out` has `width` numbers.
///
/// `weights` are little-endian half-precision numbers, one output after another, with any
/// alignment. Panics if the set is not [`supported`], if `inputs` is not a multiple of 16, or if a
/// shape does not fit.
pub fn product(
    isa: Isa,
    rows: &[f32],
    inputs: usize,
    weights: &[u8],
    out: &mut [f32],
    width: usize,
    column: usize,
) {
    assert!(supported(isa), "seen by `supported`");
    assert!(
        inputs > 0 && inputs.is_multiple_of(LANES),
        "a row fills whole registers"
    );
    let count = rows.len() / inputs;
    let outputs = weights.len() / (2 * inputs);
    assert!(
        rows.len() == count * inputs && weights.len() == outputs * inputs * 2,
        "rows are whole"
    );
    assert!(
        out.len() == count * width && column + outputs <= width,
        "the result fits"
    );
    if count == 0 {
        return;
    }
    // Tiles of nearly equal height: a small last one would cost as much as a whole one.
    let height = count.div_ceil(count.div_ceil(ROWS));
    for (group, weights) in weights.chunks(OUTPUTS * inputs * 2).enumerate() {
        let columns =
            column + group * OUTPUTS..(column + (group + 1) * OUTPUTS).min(column + outputs);
        for (rows, out) in rows
            .chunks(height * inputs)
            .zip(out.chunks_mut(height * width))
        {
            let mut sums = [[0.0; OUTPUTS]; ROWS];
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the machine has the instructions; both slices consist of whole rows of
            // `inputs` numbers.
            unsafe {
                x86::tile(isa, rows, weights, inputs, &mut sums);
            }
            #[cfg(target_arch = "aarch64")]
            neon(rows, weights, inputs, &mut sums);
            for (sums, out) in sums.iter().zip(out.chunks_exact_mut(width)) {
                out[columns.clone()].copy_from_slice(&sums[..columns.len()]);
            }
        }
    }
}

/// Both consist of whole rows of `inputs` numbers, at least one and at most a tile.
#[cfg(target_arch = "aarch64")]
fn neon(rows: &[f32], weights: &[u8], inputs: usize, sums: &mut [[f32; OUTPUTS]; ROWS]) {
    use crate::neon::halves;
    // SAFETY: the slices have as many rows and outputs as are counted here.
    unsafe {
        match weights.len() / (2 * inputs) {
            OUTPUTS => by_rows!(halves, OUTPUTS, (rows, weights, inputs, sums)),
            outputs => {
                for o in 0..outputs {
                    let mut one = [[0.0; OUTPUTS]; ROWS];
                    by_rows!(
                        halves,
                        1,
                        (rows, &weights[o * inputs * 2..], inputs, &mut one)
                    );
                    sums.iter_mut()
                        .zip(one)
                        .for_each(|(sums, one)| sums[o] = one[0]);
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Isa, OUTPUTS, ROWS, Width};

    /// # Safety
    /// The machine has the instructions of `isa`; `rows` and `weights` consist of whole rows of
    /// `inputs` numbers.
    pub(super) unsafe fn tile(
        isa: Isa,
        rows: &[f32],
        weights: &[u8],
        inputs: usize,
        sums: &mut [[f32; OUTPUTS]; ROWS],
    ) {
        // SAFETY: guaranteed by the caller; the numbers of rows and outputs were just counted.
        unsafe {
            match (isa.width(), weights.len() / (2 * inputs)) {
                (Width::Bits512, OUTPUTS) => {
                    by_rows!(avx512, OUTPUTS, (rows, weights, inputs, sums))
                }
                (Width::Bits512, outputs) => {
                    for o in 0..outputs {
                        let mut one = [[0.0; OUTPUTS]; ROWS];
                        by_rows!(
                            avx512,
                            1,
                            (rows, &weights[o * inputs * 2..], inputs, &mut one)
                        );
                        sums.iter_mut()
                            .zip(one)
                            .for_each(|(sums, one)| sums[o] = one[0]);
                    }
                }
                // Sixteen registers are enough for two outputs at a time.
                (_, OUTPUTS) => {
                    for o in [0, 2] {
                        let mut two = [[0.0; OUTPUTS]; ROWS];
                        by_rows!(
                            avx2,
                            2,
                            (rows, &weights[o * inputs * 2..], inputs, &mut two)
                        );
                        sums.iter_mut()
                            .zip(two)
                            .for_each(|(sums, two)| sums[o..o + 2].copy_from_slice(&two[..2]));
                    }
                }
                (_, outputs) => {
                    for o in 0..outputs {
                        let mut one = [[0.0; OUTPUTS]; ROWS];
                        by_rows!(
                            avx2,
                            1,
                            (rows, &weights[o * inputs * 2..], inputs, &mut one)
                        );
                        sums.iter_mut()
                            .zip(one)
                            .for_each(|(sums, one)| sums[o] = one[0]);
                    }
                }
            }
        }
    }

    /// # Safety
    /// `rows` contains `R` rows and `weights` `O`, each of `inputs` numbers, a multiple of 16.
    #[target_feature(enable = "avx512f")]
    unsafe fn avx512<const R: usize, const O: usize>(
        rows: &[f32],
        weights: &[u8],
        inputs: usize,
        sums: &mut [[f32; OUTPUTS]; ROWS],
    ) {
        let mut acc = [[_mm512_setzero_ps(); O]; R];
        for at in (0..inputs).step_by(16) {
            // SAFETY: `at + 16 <= inputs`, so every load stays within the bounds that the caller
            // guarantees.
            unsafe {
                let mut w = [_mm512_setzero_ps(); O];
                for (o, w) in w.iter_mut().enumerate() {
                    *w = _mm512_cvtph_ps(_mm256_loadu_si256(
                        weights.as_ptr().add((o * inputs + at) * 2).cast(),
                    ));
                }
                for (r, acc) in acc.iter_mut().enumerate() {
                    let x = _mm512_loadu_ps(rows.as_ptr().add(r * inputs + at));
                    for (acc, w) in acc.iter_mut().zip(w) {
                        *acc = _mm512_fmadd_ps(x, w, *acc);
                    }
                }
            }
        }
        for (acc, sums) in acc.iter().zip(sums) {
            for (acc, sum) in acc.iter().zip(sums) {
                *sum = _mm512_reduce_add_ps(*acc);
            }
        }
    }

    /// # Safety
    /// As for [`avx512`]; `inputs` is a multiple of 8.
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn avx2<const R: usize, const O: usize>(
        rows: &[f32],
        weights: &[u8],
        inputs: usize,
        sums: &mut [[f32; OUTPUTS]; ROWS],
    ) {
        let mut acc = [[_mm256_setzero_ps(); O]; R];
        for at in (0..inputs).step_by(8) {
            // SAFETY: `at + 8 <= inputs`, so every load stays within the bounds that the caller
            // guarantees.
            unsafe {
                let mut w = [_mm256_setzero_ps(); O];
                for (o, w) in w.iter_mut().enumerate() {
                    *w = _mm256_cvtph_ps(_mm_loadu_si128(
                        weights.as_ptr().add((o * inputs + at) * 2).cast(),
                    ));
                }
                for (r, acc) in acc.iter_mut().enumerate() {
                    let x = _mm256_loadu_ps(rows.as_ptr().add(r * inputs + at));
                    for (acc, w) in acc.iter_mut().zip(w) {
                        *acc = _mm256_fmadd_ps(x, w, *acc);
                    }
                }
            }
        }
        for (acc, sums) in acc.iter().zip(sums) {
            for (acc, sum) in acc.iter().zip(sums) {
                let four = _mm_add_ps(
                    _mm256_castps256_ps128(*acc),
                    _mm256_extractf128_ps::<1>(*acc),
                );
                let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
                *sum = _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Exactly representable half-precision numbers: eighths up to 4.
    fn half(eighths: u8) -> (f32, [u8; 2]) {
        let number = f32::from(eighths % 32) / 8.0;
        let bits = number.to_bits();
        let half = if number == 0.0 {
            0
        } else {
            ((bits >> 23) - 112) << 10 | (bits >> 13 & 0x3ff)
        };
        (number, (half as u16).to_le_bytes())
    }

    proptest! {
        // Sums of small eighths are exact in any order, so there is only one right result.
        #[test]
        fn every_instruction_set_gives_the_sums_of_the_definition(
            count in 0_usize..20, blocks in 1_usize..4, outputs in 1_usize..11, before in 0_usize..3, seed in any::<u32>()
        ) {
            let inputs = blocks * 16;
            let width = before + outputs + 1;
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            };
            let rows: Vec<f32> = (0..count * inputs).map(|_| f32::from(next() % 16) / 8.0 - 1.0).collect();
            let weights: Vec<(f32, [u8; 2])> = (0..outputs * inputs).map(|_| half(next())).collect();
            let bytes: Vec<u8> = weights.iter().flat_map(|(_, bytes)| *bytes).collect();
            for isa in Isa::all().filter(|isa| supported(*isa)) {
                let mut out = vec![-7.0; count * width];
                product(isa, &rows, inputs, &bytes, &mut out, width, before);
                for (row, out) in rows.chunks_exact(inputs).zip(out.chunks_exact(width)) {
                    for (column, found) in out.iter().enumerate() {
                        let wanted = match column.checked_sub(before).filter(|o| *o < outputs) {
                            Some(o) => row.iter().zip(&weights[o * inputs..]).map(|(x, (w, _))| x * w).sum::<f32>(),
                            None => -7.0,
                        };
                        prop_assert_eq!(*found, wanted);
                    }
                }
            }
        }
    }
}
