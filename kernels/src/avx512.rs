//! The passes between the matrix products where the processor has bf16 (AVX512-BF16), by hand: the compiler has no loops
//! that convert to these numbers, and each pass reads and writes its rows once.
//!
//! Every public function here panics on a set without bf16 and on slices that are too short.

use std::arch::x86_64::*;

use crate::Isa;
use crate::bf16::{Halves, Out, Rows};
use crate::hadamard;
use crate::tile::{LINE, PANEL};

/// A function of a set with bf16, and its door: the door sees that the machine has the instructions.
macro_rules! with_bf16 {
    ($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block) => {
        $(#[$meta])*
        #[allow(clippy::too_many_arguments)]
        #[inline]
        pub(crate) fn $name(isa: Isa, $($arg: $type),*) $(-> $result)? {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma")]
            #[allow(clippy::too_many_arguments)]
            fn body($($arg: $type),*) $(-> $result)? $body

            assert!(isa.has_bf16(), "the set has bf16");
            // SAFETY: an `Isa` is only made where the machine has its instructions.
            unsafe { body($($arg),*) }
        }
    };
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(from: &[f32; LINE]) -> __m512 {
    // SAFETY: sixteen numbers are there.
    unsafe { _mm512_loadu_ps(from.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_halves(from: &[u16; LINE]) -> __m512 {
    // SAFETY: sixteen numbers are there.
    let halves = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
    _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(halves)))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn store_halves(to: &mut [u16; PANEL], low: __m512, high: __m512) {
    // SAFETY: thirty-two numbers fit; the type of the conversion is 512 bits of them.
    unsafe {
        let both: __m512i = std::mem::transmute(_mm512_cvtne2ps_pbh(high, low));
        _mm512_storeu_si512(to.as_mut_ptr().cast(), both);
    }
}

/// Writes a row's 32 numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn store(out: &mut Out<'_>, at: usize, low: __m512, high: __m512) {
    match out {
        Out::Full(out) => {
            let to = &mut out[at..at + PANEL];
            // SAFETY: the slice is two registers long.
            unsafe {
                _mm512_storeu_ps(to.as_mut_ptr(), low);
                _mm512_storeu_ps(to.as_mut_ptr().add(LINE), high);
            }
        }
        Out::Halves(out) => {
            let to = out[at..at + PANEL].first_chunk_mut().expect("just cut");
            store_halves(to, low, high);
        }
    }
}

/// As [`crate::elementwise::gelu_near`].
#[inline]
#[target_feature(enable = "avx512f")]
fn gelu(x: __m512) -> __m512 {
    use crate::elementwise::{GELU_REACH, GELU_TERMS};
    let reach = _mm512_set1_ps(GELU_REACH);
    // A number that is none comes through: the second operand is what is left.
    let u = _mm512_max_ps(_mm512_set1_ps(-GELU_REACH), _mm512_min_ps(reach, x));
    let z = _mm512_mul_ps(u, u);
    let mut p = _mm512_set1_ps(GELU_TERMS[0]);
    for term in &GELU_TERMS[1..] {
        p = _mm512_fmadd_ps(p, z, _mm512_set1_ps(*term));
    }
    _mm512_mul_ps(x, _mm512_fmadd_ps(u, p, _mm512_set1_ps(0.5)))
}

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
            *to = crate::bf16::round(*from);
        }
    }
}

/// [`hadamard::turn`] of one block, which is `N` registers.
#[inline]
#[target_feature(enable = "avx512f")]
fn turn<const N: usize>(mut x: [__m512; N]) -> [__m512; N] {
    let mut apart = N / 2;
    while apart > 0 {
        for i in (0..N).filter(|i| i & apart == 0) {
            (x[i], x[i + apart]) = (_mm512_add_ps(x[i], x[i + apart]), _mm512_sub_ps(x[i], x[i + apart]));
        }
        apart /= 2;
    }
    // Multiplying by them rounds nothing.
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

/// Turns a row of blocks of `N` registers: its smallest and its largest number, and one that is none as soon as one of
/// them is not finite.
#[inline]
#[target_feature(enable = "avx512f")]
fn turn_row<const N: usize>(row: Rows<'_>, turned: &mut [[f32; LINE]]) -> (f32, f32, f32) {
    let zero = _mm512_setzero_ps();
    let (mut low, mut high) = (_mm512_set1_ps(f32::INFINITY), _mm512_set1_ps(f32::NEG_INFINITY));
    let mut poison = zero;
    for (number, to) in turned.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        let block = match row {
            Rows::Full(row) => row.as_chunks().0.as_chunks::<N>().0[number].each_ref().map(|x| load(x)),
            Rows::Halves(row) => row.as_chunks().0.as_chunks::<N>().0[number].each_ref().map(|x| load_halves(x)),
        };
        for (x, to) in turn(block).into_iter().zip(to) {
            low = _mm512_min_ps(x, low);
            high = _mm512_max_ps(x, high);
            poison = _mm512_fmadd_ps(x, zero, poison);
            // SAFETY: sixteen numbers fit.
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), x) };
        }
    }
    (_mm512_reduce_min_ps(low), _mm512_reduce_max_ps(high), _mm512_reduce_add_ps(poison))
}

with_bf16! {
    /// Turns one row and rounds it to bytes, as [`crate::int8`] says: its step and its smallest number. A row is whole
    /// panels, and `turned` as long.
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
        let inverse = if step > 0.0 { 1.0 / step } else { 0.0 };
        let (scale, shift) = (_mm512_set1_ps(inverse), _mm512_set1_ps(-low * inverse));
        for (x, to) in turned.iter().zip(codes.as_chunks_mut::<LINE>().0) {
            let code = _mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(_mm512_fmadd_ps(load(x), scale, shift)));
            // SAFETY: sixteen bytes fit.
            unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), code) };
        }
        (step + poison, low)
    }
}

with_bf16! {
    /// From sums of codes to numbers: `((sum · step) + total · low) · scale + bias`, and GELU where wanted. A row of `out`
    /// is `stride` long, and gets 32 numbers from `column` on.
    fn finish_bytes(
        sums: &[[i32; PANEL]],
        rows: &[(f32, f32)],
        columns: &crate::int8::Columns,
        with_gelu: bool,
        out: &mut Out<'_>,
        stride: usize,
        column: usize,
    ) {
        let both = |of: &[f32; PANEL]| {
            let (halves, _) = of.as_chunks::<LINE>();
            [load(&halves[0]), load(&halves[1])]
        };
        let (totals, scale, bias) = (both(&columns.sum), both(&columns.scale), both(&columns.bias));
        for (number, (sums, (step, low))) in sums.iter().zip(rows).enumerate() {
            let (step, low) = (_mm512_set1_ps(*step), _mm512_set1_ps(*low));
            let (halves, _) = sums.as_chunks::<LINE>();
            let value = |half: usize| {
                // SAFETY: sixteen numbers are there.
                let sums = _mm512_cvtepi32_ps(unsafe { _mm512_loadu_si512(halves[half].as_ptr().cast()) });
                let value = _mm512_fmadd_ps(sums, step, _mm512_mul_ps(totals[half], low));
                let value = _mm512_fmadd_ps(value, scale[half], bias[half]);
                if with_gelu { gelu(value) } else { value }
            };
            store(out, number * stride + column, value(0), value(1));
        }
    }
}

with_bf16! {
    /// As [`finish_bytes`], from sums of floats: `sum · share + bias`.
    fn finish_floats(
        sums: &[[f32; PANEL]],
        shares: &[f32],
        bias: &[f32; PANEL],
        with_gelu: bool,
        out: &mut Out<'_>,
        stride: usize,
        column: usize,
    ) {
        let (bias, _) = bias.as_chunks::<LINE>();
        let bias = [load(&bias[0]), load(&bias[1])];
        for (number, (sums, share)) in sums.iter().zip(shares).enumerate() {
            let share = _mm512_set1_ps(*share);
            let (halves, _) = sums.as_chunks::<LINE>();
            let value = |half: usize| {
                let value = _mm512_fmadd_ps(load(&halves[half]), share, bias[half]);
                if with_gelu { gelu(value) } else { value }
            };
            store(out, number * stride + column, value(0), value(1));
        }
    }
}

with_bf16! {
    /// Weights `e^(scale · (score − highest))` of the first `len` scores, rounded; those behind get 0. Returns 1 / their sum.
    /// `weights` is whole panels and as long as `scores`.
    ///
    /// `2^x` by a polynomial of degree 3 (relative error below 8e-5, a fiftieth of the rounding).
    fn shares(scores: &[f32], len: usize, scale: f32, weights: &mut [u16]) -> f32 {
        assert!(scores.len() == weights.len() && len <= scores.len() && len > 0);
        let (scores, _) = scores.as_chunks::<PANEL>();
        let (weights, _) = weights.as_chunks_mut::<PANEL>();
        let mask = |at: usize| -> __mmask16 {
            let left = len.saturating_sub(at);
            if left >= LINE { 0xffff } else { (1 << left) - 1 }
        };
        let mut highest = [_mm512_set1_ps(f32::NEG_INFINITY); 2];
        for (number, part) in scores.iter().enumerate() {
            let (halves, _) = part.as_chunks::<LINE>();
            for (half, highest) in highest.iter_mut().enumerate() {
                *highest =
                    _mm512_mask_max_ps(*highest, mask(number * PANEL + half * LINE), load(&halves[half]), *highest);
            }
        }
        let highest = _mm512_reduce_max_ps(_mm512_max_ps(highest[0], highest[1]));
        // What rounding the shift leaves is a factor of all weights and of their sum.
        let scale = scale * std::f32::consts::LOG2_E;
        let (factor, shift) = (_mm512_set1_ps(scale), _mm512_set1_ps(-highest * scale));
        // Adding 1.5·2²³ rounds to the nearest integer.
        let round = _mm512_set1_ps(12_582_912.0);
        let power = |scores: __m512| {
            let x = _mm512_fmadd_ps(scores, factor, shift);
            let whole = _mm512_sub_ps(_mm512_add_ps(x, round), round);
            let rest = _mm512_sub_ps(x, whole);
            let mut p = _mm512_set1_ps(0.055_171_77);
            for term in [0.242_611_58, 0.693_261, 0.999_928_06] {
                p = _mm512_fmadd_ps(p, rest, _mm512_set1_ps(term));
            }
            _mm512_scalef_ps(p, whole)
        };
        let mut sums = [_mm512_setzero_ps(); 2];
        for (number, (scores, weights)) in scores.iter().zip(weights).enumerate() {
            let (halves, _) = scores.as_chunks::<LINE>();
            let at = number * PANEL;
            let (mut low, mut high) = (power(load(&halves[0])), power(load(&halves[1])));
            if at + PANEL > len {
                low = _mm512_maskz_mov_ps(mask(at), low);
                high = _mm512_maskz_mov_ps(mask(at + LINE), high);
            }
            sums[0] = _mm512_add_ps(sums[0], low);
            sums[1] = _mm512_add_ps(sums[1], high);
            store_halves(weights, low, high);
        }
        1.0 / _mm512_reduce_add_ps(_mm512_add_ps(sums[0], sums[1]))
    }
}

/// A row's 32 numbers from `at` on, or zeros where there is no such row.
#[inline]
#[target_feature(enable = "avx512f")]
fn row_or_zeros(rows: &[u16], at: usize, there: bool) -> __m512i {
    if !there {
        return _mm512_setzero_si512();
    }
    let row = &rows[at..at + PANEL];
    // SAFETY: thirty-two numbers are there.
    unsafe { _mm512_loadu_si512(row.as_ptr().cast()) }
}

with_bf16! {
    /// Keys as the columns of panels [panels][width / 2][2 lines]: `len` rows, one every `stride` numbers. Columns behind the
    /// last key are zero.
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
                        // SAFETY: a line is a register on its boundary.
                        unsafe { _mm512_store_si512((&raw mut *to).cast(), line) };
                    }
                }
            }
        }
    }
}

/// Sixteen rows of sixteen pairs become sixteen columns.
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

with_bf16! {
    /// Values as panels [width / 32][rows / 2][2 lines], the rows rounded up to whole panels: `len` rows, one every `stride`
    /// numbers. What stands for rows behind the last is zero.
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
        // SAFETY: each is a register long.
        let orders = ORDERS.each_ref().map(|order| unsafe { _mm512_loadu_si512(order.as_ptr().cast()) });
        for (number, panel) in values.chunks_exact_mut(padded).enumerate() {
            for (pair, lines) in panel.chunks_exact_mut(2).enumerate() {
                let row = |row: usize| row_or_zeros(rows, row * stride + number * PANEL, row < len);
                let (even, odd) = (row(2 * pair), row(2 * pair + 1));
                for (line, order) in lines.iter_mut().zip(orders) {
                    // SAFETY: a line is a register on its boundary.
                    unsafe {
                        _mm512_store_si512((&raw mut *line).cast(), _mm512_permutex2var_epi16(even, order, odd));
                    }
                }
            }
        }
    }
}

/// Asks for lines before they are used.
#[inline]
pub(crate) fn prefetch<T>(lines: &[T]) {
    for line in lines {
        // SAFETY: a hint, which reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>((&raw const *line).cast()) };
    }
}

/// Sums of `R` rows of `stride` numbers over one panel, written to rows of `out_stride` numbers.
///
/// # Safety
/// The machine has the instructions; `R` rows hold a number for each input of `panel`, two inputs for each two lines;
/// `out` holds 32 numbers for each row.
#[target_feature(enable = "avx512f,avx512bf16")]
pub(crate) unsafe fn dots<const R: usize>(
    rows: *const u16,
    stride: usize,
    panel: &[Halves],
    out: *mut f32,
    out_stride: usize,
) {
    let mut acc = [[_mm512_setzero_ps(); 2]; R];
    for (step, lines) in panel.chunks_exact(2).enumerate() {
        // SAFETY: two inputs a step, so every row holds them, read as one number on any boundary; a line is a register on
        // its boundary, of the numbers that the type names.
        unsafe {
            let w: [__m512bh; 2] = [
                std::mem::transmute::<__m512i, __m512bh>(_mm512_load_si512((&raw const lines[0]).cast())),
                std::mem::transmute::<__m512i, __m512bh>(_mm512_load_si512((&raw const lines[1]).cast())),
            ];
            for (r, acc) in acc.iter_mut().enumerate() {
                let pair = rows.add(r * stride + 2 * step).cast::<i32>().read_unaligned();
                let x = std::mem::transmute::<__m512i, __m512bh>(_mm512_set1_epi32(pair));
                acc[0] = _mm512_dpbf16_ps(acc[0], x, w[0]);
                acc[1] = _mm512_dpbf16_ps(acc[1], x, w[1]);
            }
        }
    }
    for (r, acc) in acc.iter().enumerate() {
        // SAFETY: by the caller's promise.
        unsafe {
            _mm512_storeu_ps(out.add(r * out_stride), acc[0]);
            _mm512_storeu_ps(out.add(r * out_stride + LINE), acc[1]);
        }
    }
}

#[cfg(test)]
mod tests;
