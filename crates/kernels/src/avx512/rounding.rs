//! Before a product: rows are multiplied by the Hadamard matrix and rounded to bytes, or rounded to
//! bf16.

use std::arch::x86_64::*;

use super::{in_512_bits, load, load_halves, store_halves, with_bf16};
use crate::hadamard;
use crate::layout::{LINE, PANEL, Rows, inverse};

with_bf16! {
    /// Rounds numbers to bf16.
    fn to_halves(from: &[f32], to: &mut [u16]) {
        assert!(from.len() == to.len());
        let ((from, rest), (to, others)) = (from.as_chunks::<PANEL>(), to.as_chunks_mut::<PANEL>());
        for (from, to) in from.iter().zip(to) {
            let (halves, _) = from.as_chunks::<LINE>();
            store_halves(to, load(&halves[0]), load(&halves[1]));
        }
        for (from, to) in rest.iter().zip(others) {
            *to = crate::layout::round(*from);
        }
    }
}

/// [`hadamard::turn`] for one block of `N` registers.
#[inline]
#[target_feature(enable = "avx512f")]
fn turn<const N: usize>(mut x: [__m512; N]) -> [__m512; N] {
    let mut apart = N / 2;
    while apart > 0 {
        for i in (0..N).filter(|i| i & apart == 0) {
            (x[i], x[i + apart]) = (
                _mm512_add_ps(x[i], x[i + apart]),
                _mm512_sub_ps(x[i], x[i + apart]),
            );
        }
        apart /= 2;
    }
    // Multiplication by one causes no rounding.
    let one = _mm512_set1_ps(1.0);
    let minus = |second: __mmask16| _mm512_mask_sub_ps(one, second, _mm512_setzero_ps(), one);
    let signs = [minus(0xff00), minus(0xf0f0), minus(0xcccc), minus(0xaaaa)];
    for x in &mut x {
        *x = _mm512_fmadd_ps(*x, signs[0], _mm512_shuffle_f32x4::<0x4e>(*x, *x));
        *x = _mm512_fmadd_ps(*x, signs[1], _mm512_shuffle_f32x4::<0xb1>(*x, *x));
        *x = _mm512_fmadd_ps(*x, signs[2], _mm512_permute_ps::<0x4e>(*x));
        *x = _mm512_fmadd_ps(*x, signs[3], _mm512_permute_ps::<0xb1>(*x));
    }
    x
}

/// Turns (multiplies by the Hadamard matrix) a row of blocks of `N` registers. Returns its smallest
/// and its largest number, and a third that is NaN if any number is not finite.
#[inline]
#[target_feature(enable = "avx512f")]
fn turn_row<const N: usize>(row: Rows<'_>, turned: &mut [[f32; LINE]]) -> (f32, f32, f32) {
    let zero = _mm512_setzero_ps();
    let (mut low, mut high) = (
        _mm512_set1_ps(f32::INFINITY),
        _mm512_set1_ps(f32::NEG_INFINITY),
    );
    let mut poison = zero;
    for (number, to) in turned.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        let block = match row {
            Rows::Full(row) => row.as_chunks().0.as_chunks::<N>().0[number]
                .each_ref()
                .map(|x| load(x)),
            Rows::Halves(row) => row.as_chunks().0.as_chunks::<N>().0[number]
                .each_ref()
                .map(|x| load_halves(x)),
        };
        for (x, to) in turn(block).into_iter().zip(to) {
            low = _mm512_min_ps(x, low);
            high = _mm512_max_ps(x, high);
            poison = _mm512_fmadd_ps(x, zero, poison);
            // SAFETY: sixteen numbers fit.
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), x) };
        }
    }
    (
        _mm512_reduce_min_ps(low),
        _mm512_reduce_max_ps(high),
        _mm512_reduce_add_ps(poison),
    )
}

in_512_bits! {
    /// Turns one row and rounds it to bytes, as described in [`crate::int8`]. Returns its step and
    /// its smallest number. A row is whole panels, and `turned` has the same length.
    fn encode(row: Rows<'_>, turned: &mut [f32], codes: &mut [u8]) -> (f32, f32) {
        assert!(turned.len().is_multiple_of(PANEL) && codes.len() >= turned.len(), "whole panels");
        let block = hadamard::block(turned.len()) / LINE;
        let (turned, _) = turned.as_chunks_mut::<LINE>();
        let (low, high, poison) = match block {
            2 => turn_row::<2>(row, turned),
            4 => turn_row::<4>(row, turned),
            _ => turn_row::<8>(row, turned),
        };
        let step = (high - low) / 255.0;
        let (first, scale) = (_mm512_set1_ps(low), _mm512_set1_ps(inverse(step)));
        for (x, to) in turned.iter().zip(codes.as_chunks_mut::<LINE>().0) {
            // Never below 0: the smallest number is subtracted from all of them first.
            let steps = _mm512_mul_ps(_mm512_sub_ps(load(x), first), scale);
            let code = _mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(steps));
            // SAFETY: sixteen bytes fit.
            unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), code) };
        }
        (step + poison, low)
    }
}
