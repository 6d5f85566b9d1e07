//! After a product: converts sums to numbers, with GELU if requested.

use std::arch::x86_64::*;

use super::{in_512_bits, load, panel, store, store_halves, store_near_halves, with_bf16};
use crate::Isa;
use crate::layout::{Columns, LINE, PANEL};

/// Like [`crate::elementwise::gelu_near`].
#[inline]
#[target_feature(enable = "avx512f")]
fn gelu(x: __m512) -> __m512 {
    use crate::elementwise::{GELU_REACH, GELU_TERMS};
    let reach = _mm512_set1_ps(GELU_REACH);
    // NaN propagates: min and max return the second operand.
    let u = _mm512_max_ps(_mm512_set1_ps(-GELU_REACH), _mm512_min_ps(reach, x));
    let z = _mm512_mul_ps(u, u);
    let mut p = _mm512_set1_ps(GELU_TERMS[0]);
    for term in &GELU_TERMS[1..] {
        p = _mm512_fmadd_ps(p, z, _mm512_set1_ps(*term));
    }
    _mm512_mul_ps(x, _mm512_fmadd_ps(u, p, _mm512_set1_ps(0.5)))
}

/// The two registers of a panel.
type Both = [__m512; 2];

#[inline]
#[target_feature(enable = "avx512f")]
fn both(of: &[f32; PANEL]) -> Both {
    let (halves, _) = of.as_chunks::<LINE>();
    [load(&halves[0]), load(&halves[1])]
}

/// The values for a panel's columns, in registers.
struct Loaded {
    sum: Both,
    scale: Both,
    bias: Both,
}

impl Loaded {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(columns: &Columns) -> Self {
        Self {
            sum: both(&columns.sum),
            scale: both(&columns.scale),
            bias: both(&columns.bias),
        }
    }

    /// Computes `(sum · step + total · low) · scale + bias` in the same way as the plain loops.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn numbers(&self, sums: &[i32; PANEL], (step, low): (f32, f32), with_gelu: bool) -> Both {
        let (step, low) = (_mm512_set1_ps(step), _mm512_set1_ps(low));
        let (halves, _) = sums.as_chunks::<LINE>();
        let value = |half: usize| {
            // SAFETY: there are sixteen numbers.
            let sums =
                _mm512_cvtepi32_ps(unsafe { _mm512_loadu_si512(halves[half].as_ptr().cast()) });
            let value = _mm512_fmadd_ps(sums, step, _mm512_mul_ps(self.sum[half], low));
            let value = _mm512_fmadd_ps(value, self.scale[half], self.bias[half]);
            if with_gelu { gelu(value) } else { value }
        };
        [value(0), value(1)]
    }
}

in_512_bits! {
    /// Converts sums of codes to numbers, with GELU if requested. A row of `out` has `stride`
    /// numbers; 32 are written from `column` on.
    fn finish_bytes(
        sums: &[[i32; PANEL]],
        rows: &[(f32, f32)],
        columns: &Columns,
        with_gelu: bool,
        out: &mut [f32],
        stride: usize,
        column: usize,
    ) {
        let columns = Loaded::new(columns);
        for (number, (sums, row)) in sums.iter().zip(rows).enumerate() {
            let [low, high] = columns.numbers(sums, *row, with_gelu);
            store(panel(out, number * stride + column), low, high);
        }
    }
}

/// Like [`finish_bytes`], with bf16 results.
#[allow(clippy::too_many_arguments)]
#[inline]
pub(crate) fn finish_bytes_in_halves(
    isa: Isa,
    sums: &[[i32; PANEL]],
    rows: &[(f32, f32)],
    columns: &Columns,
    with_gelu: bool,
    out: &mut [u16],
    stride: usize,
    column: usize,
) {
    let finish = if isa.has_bf16() { converted } else { rounded };
    finish(isa, sums, rows, columns, with_gelu, out, stride, column);
}

with_bf16! {
    fn converted(
        sums: &[[i32; PANEL]],
        rows: &[(f32, f32)],
        columns: &Columns,
        with_gelu: bool,
        out: &mut [u16],
        stride: usize,
        column: usize,
    ) {
        let columns = Loaded::new(columns);
        for (number, (sums, row)) in sums.iter().zip(rows).enumerate() {
            let [low, high] = columns.numbers(sums, *row, with_gelu);
            store_halves(panel(out, number * stride + column), low, high);
        }
    }
}

in_512_bits! {
    fn rounded(
        sums: &[[i32; PANEL]],
        rows: &[(f32, f32)],
        columns: &Columns,
        with_gelu: bool,
        out: &mut [u16],
        stride: usize,
        column: usize,
    ) {
        let columns = Loaded::new(columns);
        for (number, (sums, row)) in sums.iter().zip(rows).enumerate() {
            let [low, high] = columns.numbers(sums, *row, with_gelu);
            store_near_halves(panel(out, number * stride + column), low, high);
        }
    }
}

/// Computes `sum · share + bias`, with GELU if requested.
#[inline]
#[target_feature(enable = "avx512f")]
fn of_floats(sums: &[f32; PANEL], share: f32, bias: &Both, with_gelu: bool) -> Both {
    let (sums, share) = (both(sums), _mm512_set1_ps(share));
    let value = |half: usize| {
        let value = _mm512_fmadd_ps(sums[half], share, bias[half]);
        if with_gelu { gelu(value) } else { value }
    };
    [value(0), value(1)]
}

with_bf16! {
    /// Like [`finish_bytes`], for sums of floats: `sum · share + bias`.
    fn finish_floats(
        sums: &[[f32; PANEL]],
        shares: &[f32],
        bias: &[f32; PANEL],
        with_gelu: bool,
        out: &mut [f32],
        stride: usize,
        column: usize,
    ) {
        let bias = both(bias);
        for (number, (sums, share)) in sums.iter().zip(shares).enumerate() {
            let [low, high] = of_floats(sums, *share, &bias, with_gelu);
            store(panel(out, number * stride + column), low, high);
        }
    }
}

with_bf16! {
    /// Like [`finish_floats`], with bf16 results.
    fn finish_floats_in_halves(
        sums: &[[f32; PANEL]],
        shares: &[f32],
        bias: &[f32; PANEL],
        with_gelu: bool,
        out: &mut [u16],
        stride: usize,
        column: usize,
    ) {
        let bias = both(bias);
        for (number, (sums, share)) in sums.iter().zip(shares).enumerate() {
            let [low, high] = of_floats(sums, *share, &bias, with_gelu);
            store_halves(panel(out, number * stride + column), low, high);
        }
    }
}
