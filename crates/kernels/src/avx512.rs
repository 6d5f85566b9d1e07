//! Hand-written code between the matrix products, for registers of 512 bits. It replaces the
//! compiler's loops where these took several times as long, and conversions to bf16, which the
//! compiler does not support.
//!
//! Every public function here panics on a set without its instructions and for slices that are too
//! short.

use std::arch::x86_64::*;

use crate::layout::{Halves, LINE, PANEL};

pub(crate) mod attention;
pub(crate) mod results;
pub(crate) mod rounding;

/// Defines a function for some instruction sets, and a safe wrapper that checks that the machine
/// has them.
macro_rules! behind_a_door {
    (
        $features:literal, $of:ident => $has:expr,
        $(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block
    ) => {
        $(#[$meta])*
        #[allow(clippy::too_many_arguments)]
        #[inline]
        pub(crate) fn $name($of: crate::Isa, $($arg: $type),*) $(-> $result)? {
            #[target_feature(enable = $features)]
            #[allow(clippy::too_many_arguments)]
            fn body($($arg: $type),*) $(-> $result)? $body

            assert!($has, "the set has the instructions");
            // SAFETY: an `Isa` only exists if the machine has its instructions.
            unsafe { body($($arg),*) }
        }
    };
}

/// Defines a function for the sets with 512 bits.
macro_rules! in_512_bits {
    ($($function:tt)*) => {
        $crate::avx512::behind_a_door! {
            "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma", isa => isa.width() == crate::isa::Width::Bits512, $($function)*
        }
    };
}

/// Defines a function for the sets with bf16.
macro_rules! with_bf16 {
    ($($function:tt)*) => {
        $crate::avx512::behind_a_door! {
            "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma", isa => isa.has_bf16(), $($function)*
        }
    };
}
use {behind_a_door, in_512_bits, with_bf16};

#[inline]
#[target_feature(enable = "avx512f")]
fn load(from: &[f32; LINE]) -> __m512 {
    // SAFETY: there are sixteen numbers.
    unsafe { _mm512_loadu_ps(from.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_halves(from: &[u16; LINE]) -> __m512 {
    // SAFETY: there are sixteen numbers.
    let halves = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
    _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(halves)))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn store_halves(to: &mut [u16; PANEL], low: __m512, high: __m512) {
    // SAFETY: thirty-two numbers fit; the result type of the conversion has 512 bits of them.
    unsafe {
        let both: __m512i = std::mem::transmute(_mm512_cvtne2ps_pbh(high, low));
        _mm512_storeu_si512(to.as_mut_ptr().cast(), both);
    }
}

/// Like [`store_halves`], without its instruction; ties are rounded away from zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn store_near_halves(to: &mut [u16; PANEL], low: __m512, high: __m512) {
    const UPPER: [u16; PANEL] = {
        let (mut upper, mut i) = ([0; PANEL], 0);
        while i < PANEL {
            upper[i] = 2 * i as u16 + 1;
            i += 1;
        }
        upper
    };
    // NaN and infinity remain non-finite, because their bits are only truncated.
    let rounded = |x: __m512| {
        let bits = _mm512_castps_si512(x);
        _mm512_mask_add_epi32(
            bits,
            _mm512_cmpord_ps_mask(x, x),
            bits,
            _mm512_set1_epi32(0x8000),
        )
    };
    // SAFETY: both have the length of a register, which is thirty-two numbers.
    unsafe {
        let upper = _mm512_loadu_si512(UPPER.as_ptr().cast());
        let both = _mm512_permutex2var_epi16(rounded(low), upper, rounded(high));
        _mm512_storeu_si512(to.as_mut_ptr().cast(), both);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(to: &mut [f32; PANEL], low: __m512, high: __m512) {
    // SAFETY: thirty-two numbers fit.
    unsafe {
        _mm512_storeu_ps(to.as_mut_ptr(), low);
        _mm512_storeu_ps(to.as_mut_ptr().add(LINE), high);
    }
}

/// The 32 numbers of a row from `at` on, for writing.
#[inline]
fn panel<T>(out: &mut [T], at: usize) -> &mut [T; PANEL] {
    out[at..].first_chunk_mut().expect("a row holds the panel")
}

/// Prefetches lines before they are used.
#[inline]
pub(crate) fn prefetch<T>(lines: &[T]) {
    for line in lines {
        // SAFETY: a prefetch is a hint and reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>((&raw const *line).cast()) };
    }
}

/// Sums of `R` rows of `stride` numbers over one panel, written to rows of `out_stride` numbers.
///
/// # Safety
/// The machine has the instructions; `R` rows have a number for each input of `panel`, two inputs
/// for each two lines; `out` has space for 32 numbers for each row.
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
        // SAFETY: two inputs per step, so every row has them; they are read as one unaligned
        // number. A line is an aligned register of numbers of its type.
        unsafe {
            let w: [__m512bh; 2] = [
                std::mem::transmute::<__m512i, __m512bh>(_mm512_load_si512(
                    (&raw const lines[0]).cast(),
                )),
                std::mem::transmute::<__m512i, __m512bh>(_mm512_load_si512(
                    (&raw const lines[1]).cast(),
                )),
            ];
            for (r, acc) in acc.iter_mut().enumerate() {
                let pair = rows
                    .add(r * stride + 2 * step)
                    .cast::<i32>()
                    .read_unaligned();
                let x = std::mem::transmute::<__m512i, __m512bh>(_mm512_set1_epi32(pair));
                acc[0] = _mm512_dpbf16_ps(acc[0], x, w[0]);
                acc[1] = _mm512_dpbf16_ps(acc[1], x, w[1]);
            }
        }
    }
    for (r, acc) in acc.iter().enumerate() {
        // SAFETY: guaranteed by the caller.
        unsafe {
            _mm512_storeu_ps(out.add(r * out_stride), acc[0]);
            _mm512_storeu_ps(out.add(r * out_stride + LINE), acc[1]);
        }
    }
}

#[cfg(test)]
mod tests;
