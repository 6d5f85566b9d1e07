//! Attention: keys and values as panels, and weights from scores.

use std::arch::x86_64::*;

use super::{in_512_bits, load, load_halves, store_halves, with_bf16};
use crate::elementwise::{self, EXP_RANGE, EXP_TERMS, LN2};
use crate::layout::{Floats, Halves, LINE, PANEL, widen};

/// Coefficients of 2^x between −½ and ½, highest power first. The relative error is below 8e-5, a
/// fiftieth of the error of rounding to bf16.
const POWER_TERMS: [f32; 4] = [0.055_171_77, 0.242_611_58, 0.693_261, 0.999_928_06];

/// `2^x` with [`POWER_TERMS`].
#[inline]
#[target_feature(enable = "avx512f")]
fn power(x: __m512, terms: &[__m512; 4]) -> __m512 {
    // Adding 1.5·2²³ rounds to the nearest integer.
    let round = _mm512_set1_ps(12_582_912.0);
    let whole = _mm512_sub_ps(_mm512_add_ps(x, round), round);
    let rest = _mm512_sub_ps(x, whole);
    let mut p = terms[0];
    for term in &terms[1..] {
        p = _mm512_fmadd_ps(p, rest, *term);
    }
    _mm512_scalef_ps(p, whole)
}

with_bf16! {
    /// Weights `e^(scale · (score − highest))` of the first `len` scores, rounded; the rest are set
    /// to 0. Returns 1 / their sum. `weights` is whole panels and as long as `scores`.
    fn shares(scores: &[f32], len: usize, scale: f32, weights: &mut [u16]) -> f32 {
        assert!(scores.len() == weights.len() && len <= scores.len() && len > 0);
        let (scores, _) = scores.as_chunks::<PANEL>();
        let (weights, _) = weights.as_chunks_mut::<PANEL>();
        let mut highest = [_mm512_set1_ps(f32::NEG_INFINITY); 2];
        for (number, part) in scores.iter().enumerate() {
            let (halves, _) = part.as_chunks::<LINE>();
            for (half, highest) in highest.iter_mut().enumerate() {
                *highest =
                    _mm512_mask_max_ps(*highest, first(len, number * PANEL + half * LINE), load(&halves[half]), *highest);
            }
        }
        let highest = _mm512_reduce_max_ps(_mm512_max_ps(highest[0], highest[1]));
        // The rounding error of the shift is the same factor in all weights and in their sum.
        let scale = scale * std::f32::consts::LOG2_E;
        let (factor, shift) = (_mm512_set1_ps(scale), _mm512_set1_ps(-highest * scale));
        let terms = POWER_TERMS.map(|term| _mm512_set1_ps(term));
        let power = |scores: __m512| power(_mm512_fmadd_ps(scores, factor, shift), &terms);
        let mut sums = [_mm512_setzero_ps(); 2];
        for (number, (scores, weights)) in scores.iter().zip(weights).enumerate() {
            let (halves, _) = scores.as_chunks::<LINE>();
            let at = number * PANEL;
            let (mut low, mut high) = (power(load(&halves[0])), power(load(&halves[1])));
            if at + PANEL > len {
                low = _mm512_maskz_mov_ps(first(len, at), low);
                high = _mm512_maskz_mov_ps(first(len, at + LINE), high);
            }
            sums[0] = _mm512_add_ps(sums[0], low);
            sums[1] = _mm512_add_ps(sums[1], high);
            store_halves(weights, low, high);
        }
        1.0 / _mm512_reduce_add_ps(_mm512_add_ps(sums[0], sums[1]))
    }
}

/// The same as [`crate::elementwise::exp`], to the bit.
#[inline]
#[target_feature(enable = "avx512f")]
fn exp(x: __m512) -> __m512 {
    let of = |x: f32| _mm512_set1_ps(x);
    // Adding 1.5·2²³ rounds to the nearest integer, which is then in the low bits.
    let round = of(12_582_912.0);
    // NaN propagates: min and max return the second operand.
    let x = _mm512_max_ps(of(EXP_RANGE.0), _mm512_min_ps(of(EXP_RANGE.1), x));
    let shifted = _mm512_fmadd_ps(x, of(std::f32::consts::LOG2_E), round);
    let n = _mm512_sub_ps(shifted, round);
    let r = _mm512_fnmadd_ps(n, of(LN2.1), _mm512_fnmadd_ps(n, of(LN2.0), x));
    let mut p = of(EXP_TERMS[0]);
    for term in &EXP_TERMS[1..] {
        p = _mm512_fmadd_ps(p, r, of(*term));
    }
    let power = _mm512_slli_epi32::<23>(_mm512_add_epi32(
        _mm512_castps_si512(shifted),
        _mm512_set1_epi32(127),
    ));
    let p = _mm512_add_ps(_mm512_fmadd_ps(p, _mm512_mul_ps(r, r), r), of(1.0));
    _mm512_mul_ps(p, _mm512_castsi512_ps(power))
}

/// A mask of the sixteen numbers from `at` on that are among the first `len`.
#[inline]
fn first(len: usize, at: usize) -> __mmask16 {
    let left = len.saturating_sub(at);
    if left >= LINE {
        0xffff
    } else {
        (1 << left) - 1
    }
}

in_512_bits! {
    /// Replaces the first `len` of `scores` by `e^(score − highest)`; returns their sum. The bits
    /// are those of the plain loops.
    fn exponentials(scores: &mut [f32], len: usize) -> f32 {
        let (scores, _) = scores[..len.next_multiple_of(LINE)].as_chunks_mut::<LINE>();
        let mut highest = _mm512_set1_ps(f32::NEG_INFINITY);
        for (number, scores) in scores.iter().enumerate() {
            highest = _mm512_mask_max_ps(highest, first(len, number * LINE), load(scores), highest);
        }
        let highest = _mm512_set1_ps(_mm512_reduce_max_ps(highest));
        let mut sums = _mm512_setzero_ps();
        for (number, scores) in scores.iter_mut().enumerate() {
            let x = exp(_mm512_sub_ps(load(scores), highest));
            sums = _mm512_mask_add_ps(sums, first(len, number * LINE), sums, x);
            // SAFETY: sixteen numbers fit.
            unsafe { _mm512_storeu_ps(scores.as_mut_ptr(), x) };
        }
        let mut lanes = [0.0; LINE];
        // SAFETY: sixteen numbers fit.
        unsafe { _mm512_storeu_ps(lanes.as_mut_ptr(), sums) };
        elementwise::total(lanes)
    }
}

in_512_bits! {
    /// Keys as the columns of panels [panels][width][2 lines], times `scale`: `len` rows, one every
    /// `stride` numbers. Columns after the last key are zero.
    fn pack_float_keys(rows: &[f32], stride: usize, len: usize, width: usize, scale: f32, keys: &mut [Floats]) {
        assert!(width.is_multiple_of(LINE) && keys.len() == len.div_ceil(PANEL) * width * 2);
        let scale = _mm512_set1_ps(scale);
        for (number, panel) in keys.chunks_exact_mut(width * 2).enumerate() {
            for (half, part) in (0..2).flat_map(|half| (0..width / LINE).map(move |part| (half, part))) {
                let first = number * PANEL + half * LINE;
                let mut tile = [_mm512_setzero_si512(); LINE];
                for (row, line) in (first..len).zip(&mut tile) {
                    let at = row * stride + part * LINE;
                    let numbers = rows[at..].first_chunk().expect("a key is whole registers");
                    *line = _mm512_castps_si512(_mm512_mul_ps(load(numbers), scale));
                }
                transpose(&mut tile);
                let lines = panel[part * PANEL..(part + 1) * PANEL].iter_mut().skip(half).step_by(2);
                for (to, line) in lines.zip(tile) {
                    // SAFETY: a line is an aligned register.
                    unsafe { _mm512_store_si512((&raw mut *to).cast(), line) };
                }
            }
        }
    }
}

in_512_bits! {
    /// The largest absolute value in `len` rows of `width` bf16 numbers, one every `stride`. Not
    /// finite if any of them is not finite.
    fn largest(rows: &[u16], stride: usize, len: usize, width: usize) -> f32 {
        assert!(width.is_multiple_of(PANEL) && width <= stride && (len == 0 || rows.len() >= (len - 1) * stride + width));
        // Without their signs, numbers are in the order of their bits, and non-finite ones are
        // above all others.
        let (size, mut most) = (_mm512_set1_epi16(i16::MAX), _mm512_setzero_si512());
        for row in rows.chunks(stride).take(len) {
            for numbers in row[..width].as_chunks::<PANEL>().0 {
                // SAFETY: there are thirty-two numbers.
                let numbers = unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) };
                most = _mm512_max_epu16(most, _mm512_and_si512(numbers, size));
            }
        }
        let mut lanes = [0; PANEL];
        // SAFETY: thirty-two numbers fit.
        unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), most) };
        widen(lanes.into_iter().max().unwrap_or_default())
    }
}

/// Packs thirty-two 32-bit integers, whose values fit, into 16 bits each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn words(low: __m512i, high: __m512i) -> __m512i {
    // The pack instruction works on quarters of a register.
    let order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    _mm512_permutexvar_epi64(order, _mm512_packs_epi32(low, high))
}

in_512_bits! {
    /// Rounds `len` rows of `width` bf16 numbers, one every `stride`, times `scale`, to integers of
    /// 16 bits in consecutive rows.
    fn to_words(rows: &[u16], stride: usize, len: usize, width: usize, scale: f32, out: &mut [u16]) {
        assert!(width.is_multiple_of(PANEL) && width <= stride && out.len() == len * width);
        assert!(len == 0 || rows.len() >= (len - 1) * stride + width);
        let scale = _mm512_set1_ps(scale);
        for (row, out) in rows.chunks(stride).zip(out.chunks_exact_mut(width)) {
            for (numbers, out) in row[..width].as_chunks::<PANEL>().0.iter().zip(out.as_chunks_mut::<PANEL>().0) {
                let (halves, _) = numbers.as_chunks::<LINE>();
                let rounded = |half: usize| _mm512_cvtps_epi32(_mm512_mul_ps(load_halves(&halves[half]), scale));
                // SAFETY: thirty-two numbers fit.
                unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), words(rounded(0), rounded(1))) };
            }
        }
    }
}

in_512_bits! {
    /// Like [`shares`], for integer scores: weights `e^(scale · (score − highest))`, scaled so that
    /// they add up to `room`, but the largest is at most 32,767, rounded to integers. Returns their
    /// sum. The scores are overwritten.
    fn shares_in_words(scores: &mut [i32], len: usize, scale: f32, room: f32, weights: &mut [u16]) -> f32 {
        assert!(scores.len() == weights.len() && len <= scores.len() && len > 0);
        let load = |from: &[i32; LINE]| {
            // SAFETY: there are sixteen numbers.
            unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
        };
        let (lines, _) = scores.as_chunks_mut::<LINE>();
        let mut highest = _mm512_set1_epi32(i32::MIN);
        for (number, scores) in lines.iter().enumerate() {
            highest = _mm512_mask_max_epi32(highest, first(len, number * LINE), load(scores), highest);
        }
        let highest = _mm512_set1_epi32(_mm512_reduce_max_epi32(highest));
        let factor = _mm512_set1_ps(scale * std::f32::consts::LOG2_E);
        let terms = POWER_TERMS.map(|term| _mm512_set1_ps(term));
        let mut total = _mm512_setzero_ps();
        for (number, scores) in lines.iter_mut().enumerate() {
            // This may wrap for masked scores, which are ignored.
            let below = _mm512_sub_epi32(load(scores), highest);
            let weight = power(_mm512_mul_ps(_mm512_cvtepi32_ps(below), factor), &terms);
            let weight = _mm512_maskz_mov_ps(first(len, number * LINE), weight);
            total = _mm512_add_ps(total, weight);
            // SAFETY: sixteen numbers fit.
            unsafe { _mm512_storeu_si512(scores.as_mut_ptr().cast(), _mm512_castps_si512(weight)) };
        }
        let most = _mm512_set1_ps((room / _mm512_reduce_add_ps(total)).min(f32::from(i16::MAX)));
        let mut sums = _mm512_setzero_si512();
        for (number, weights) in weights.as_chunks_mut::<PANEL>().0.iter_mut().enumerate() {
            let [low, high] = [&lines[2 * number], &lines[2 * number + 1]]
                .map(|exact| _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_castsi512_ps(load(exact)), most)));
            sums = _mm512_add_epi32(sums, _mm512_add_epi32(low, high));
            // SAFETY: thirty-two numbers fit.
            unsafe { _mm512_storeu_si512(weights.as_mut_ptr().cast(), words(low, high)) };
        }
        _mm512_reduce_add_epi32(sums) as f32
    }
}

/// The 32 numbers of a row from `at` on, or zeros if `there` is false.
#[inline]
#[target_feature(enable = "avx512f")]
fn row_or_zeros(rows: &[u16], at: usize, there: bool) -> __m512i {
    if !there {
        return _mm512_setzero_si512();
    }
    let row = &rows[at..at + PANEL];
    // SAFETY: there are thirty-two numbers.
    unsafe { _mm512_loadu_si512(row.as_ptr().cast()) }
}

in_512_bits! {
    /// Keys as the columns of panels [panels][width / 2][2 lines]: `len` rows, one every `stride`
    /// numbers. Columns after the last key are zero.
    fn pack_keys(rows: &[u16], stride: usize, len: usize, width: usize, keys: &mut [Halves]) {
        assert!(width.is_multiple_of(PANEL) && keys.len() == len.div_ceil(PANEL) * width);
        for (number, panel) in keys.chunks_exact_mut(width).enumerate() {
            for half in 0..2 {
                let first = number * PANEL + half * LINE;
                for part in 0..width / PANEL {
                    let mut tile = [_mm512_setzero_si512(); LINE];
                    for (row, line) in tile.iter_mut().enumerate() {
                        *line = row_or_zeros(rows, (first + row) * stride + part * PANEL, first + row < len);
                    }
                    transpose(&mut tile);
                    let lines = panel[part * PANEL..(part + 1) * PANEL].iter_mut().skip(half).step_by(2);
                    for (to, line) in lines.zip(tile) {
                        // SAFETY: a line is an aligned register.
                        unsafe { _mm512_store_si512((&raw mut *to).cast(), line) };
                    }
                }
            }
        }
    }
}

/// Transposes sixteen rows of sixteen pairs.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(rows: &mut [__m512i; LINE]) {
    let mut other = *rows;
    for i in (0..16).step_by(2) {
        other[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
        other[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
    }
    for i in (0..16).step_by(4) {
        for j in 0..2 {
            rows[i + 2 * j] = _mm512_unpacklo_epi64(other[i + j], other[i + j + 2]);
            rows[i + 2 * j + 1] = _mm512_unpackhi_epi64(other[i + j], other[i + j + 2]);
        }
    }
    // rows[4·g + c], in each of its quarters q: column 4·q + c of the rows 4·g to 4·g + 3.
    for c in 0..4 {
        let low = _mm512_shuffle_i32x4::<0x88>(rows[c], rows[4 + c]);
        let low_odd = _mm512_shuffle_i32x4::<0xdd>(rows[c], rows[4 + c]);
        let high = _mm512_shuffle_i32x4::<0x88>(rows[8 + c], rows[12 + c]);
        let high_odd = _mm512_shuffle_i32x4::<0xdd>(rows[8 + c], rows[12 + c]);
        other[c] = _mm512_shuffle_i32x4::<0x88>(low, high);
        other[8 + c] = _mm512_shuffle_i32x4::<0xdd>(low, high);
        other[4 + c] = _mm512_shuffle_i32x4::<0x88>(low_odd, high_odd);
        other[12 + c] = _mm512_shuffle_i32x4::<0xdd>(low_odd, high_odd);
    }
    *rows = other;
}

in_512_bits! {
    /// Values as panels [width / 32][rows / 2][2 lines], the rows rounded up to whole panels: `len`
    /// rows, one every `stride` numbers. The positions of rows after the last are zero.
    fn pack_values(rows: &[u16], stride: usize, len: usize, width: usize, values: &mut [Halves]) {
        let padded = len.next_multiple_of(PANEL);
        assert!(width.is_multiple_of(PANEL) && values.len() == width / PANEL * padded);
        const fn order(from: u16) -> [u16; PANEL] {
            let (mut order, mut i) = ([0; PANEL], 0);
            while i < LINE as u16 {
                order[2 * i as usize] = from + i;
                order[2 * i as usize + 1] = from + i + PANEL as u16;
                i += 1;
            }
            order
        }
        static ORDERS: [[u16; PANEL]; 2] = [order(0), order(LINE as u16)];
        // SAFETY: each has the length of a register.
        let orders = ORDERS.each_ref().map(|order| unsafe { _mm512_loadu_si512(order.as_ptr().cast()) });
        for (number, panel) in values.chunks_exact_mut(padded).enumerate() {
            for (pair, lines) in panel.chunks_exact_mut(2).enumerate() {
                let row = |row: usize| row_or_zeros(rows, row * stride + number * PANEL, row < len);
                let (even, odd) = (row(2 * pair), row(2 * pair + 1));
                for (line, order) in lines.iter_mut().zip(orders) {
                    // SAFETY: a line is an aligned register.
                    unsafe {
                        _mm512_store_si512((&raw mut *line).cast(), _mm512_permutex2var_epi16(even, order, odd));
                    }
                }
            }
        }
    }
}
