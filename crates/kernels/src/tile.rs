//! The inner loops of all matrix products: a few rows times one panel of 32 columns.
//!
//! A panel contains two cache lines for each step through the inner dimension, each with 16
//! columns: of one number (f32), of two (16-bit) or of four (bytes). A tile of 12 rows by 32
//! columns (AVX-512) or 6 by 16 (256 bits) of sums stays in registers while the panel streams
//! through (Goto and van de Geijn 2008, "Anatomy of high-performance matrix multiplication"); in
//! NEON a tile of 4 by 16.

use crate::Isa;
#[cfg(target_arch = "x86_64")]
use crate::layout::Halves;
use crate::layout::{Floats, LINE, PANEL, Pairs, Quads, ROWS, Sums};

/// The number of rows in `rows`. A row begins every `stride` numbers and uses `inputs` of them; the
/// last row may be shorter.
fn count<T>(rows: &[T], stride: usize, inputs: usize) -> usize {
    assert!(inputs <= stride);
    if rows.len() < inputs || inputs == 0 {
        0
    } else {
        ((rows.len() - inputs) / stride + 1).min(ROWS)
    }
}

#[cfg(target_arch = "x86_64")]
macro_rules! by_rows {
    ($count:expr, $kernel:ident $arguments:tt) => {
        by_rows!(@ $count, $kernel $arguments, 1 2 3 4 5 6 7 8 9 10 11 12)
    };
    (@ $count:expr, $kernel:ident $arguments:tt, $($rows:literal)*) => {
        match $count {
            $($rows => x86::$kernel::<$rows> $arguments,)*
            _ => {}
        }
    };
}

/// Six rows at a time: sixteen registers have space for their sums and the weights.
#[cfg(target_arch = "x86_64")]
macro_rules! by_six_rows {
    ($count:expr, $kernel:ident($rows:expr, $stride:expr, $panel:expr, $sums:expr)) => {
        let (first, second) = $sums.split_at_mut(6);
        let count: usize = $count;
        by_six_rows!(@ count.min(6), $kernel($rows, $stride, $panel, first), 1 2 3 4 5 6);
        if count > 6 {
            // SAFETY: there are more than six rows, so the seventh begins within the slice.
            let rest = unsafe { $rows.add(6 * $stride) };
            by_six_rows!(@ count - 6, $kernel(rest, $stride, $panel, second), 1 2 3 4 5 6);
        }
    };
    (@ $count:expr, $kernel:ident $arguments:tt, $($number:literal)*) => {
        // SAFETY: the `Isa` proves the instructions; the caller of this macro has checked that the
        // slices contain what the kernel reads.
        unsafe {
            match $count {
                $($number => x86::$kernel::<$number> $arguments,)*
                _ => {}
            }
        }
    };
}

/// Sums of up to 12 rows over one panel, written into rows of `out`, one every `out_stride`
/// numbers. A row begins every `stride` numbers; `panel` has two lines per input. Panics when `out`
/// is too short.
///
/// Each result is one chain of fused multiply-adds over the inputs in order. (If the processor has
/// no such instruction: of multiplications and additions.)
#[inline]
pub(crate) fn floats(
    isa: Isa,
    rows: &[f32],
    stride: usize,
    panel: &[Floats],
    out: &mut [f32],
    out_stride: usize,
) -> usize {
    let inputs = panel.len() / 2;
    let count = count(rows, stride, inputs);
    assert!(
        out_stride >= PANEL && (count == 0 || out.len() >= (count - 1) * out_stride + PANEL),
        "sums fit"
    );
    #[cfg(target_arch = "x86_64")]
    match isa.width() {
        crate::isa::Width::Bits512 => {
            // SAFETY: the `Isa` proves the instructions; `count` rows of `inputs` numbers are
            // there, a panel is whole lines, and the sums fit.
            unsafe {
                by_rows!(
                    count,
                    floats_512(rows.as_ptr(), stride, panel, out.as_mut_ptr(), out_stride)
                )
            };
            return count;
        }
        crate::isa::Width::Bits256 => {
            for first in (0..count).step_by(6) {
                // SAFETY: as above, starting with row `first`.
                unsafe {
                    let (rows, out) = (
                        rows.as_ptr().add(first * stride),
                        out.as_mut_ptr().add(first * out_stride),
                    );
                    by_rows!(
                        (count - first).min(6),
                        floats_256(rows, stride, panel, out, out_stride)
                    );
                }
            }
            return count;
        }
        _ => {}
    }
    #[cfg(target_arch = "aarch64")]
    if isa.width() == crate::isa::Width::Bits128 {
        crate::neon::floats(rows, stride, panel, count, out, out_stride);
        return count;
    }
    let _ = isa;
    for (row, sums) in rows
        .chunks(stride)
        .zip(out.chunks_mut(out_stride))
        .take(count)
    {
        let sums = sums.first_chunk_mut::<PANEL>().expect("sums fit");
        floats_of_row(&row[..inputs], panel, sums);
    }
    count
}

/// The sums of one row over one panel, on any processor.
#[inline]
fn floats_of_row(row: &[f32], panel: &[Floats], sums: &mut [f32; PANEL]) {
    *sums = [0.0; PANEL];
    for (x, lines) in row.iter().zip(panel.chunks_exact(2)) {
        for (sums, line) in sums.chunks_exact_mut(LINE).zip(lines) {
            for (sum, w) in sums.iter_mut().zip(&line.0) {
                *sum = if cfg!(any(target_arch = "aarch64", target_feature = "fma")) {
                    x.mul_add(*w, *sum)
                } else {
                    *sum + x * w
                };
            }
        }
    }
}

/// Exact sums of up to 12 rows of codes (0 to 255) over one panel of 16-bit weights (−127 to 127).
#[inline]
pub(crate) fn pairs(
    isa: Isa,
    rows: &[i16],
    stride: usize,
    panel: &[Pairs],
    sums: &mut Sums<i32>,
) -> usize {
    let inputs = panel.len();
    let count = count(rows, stride, inputs);
    #[cfg(target_arch = "x86_64")]
    if isa.width() != crate::isa::Width::Unknown {
        by_six_rows!(count, pairs_256(rows.as_ptr(), stride, panel, sums));
        return count;
    }
    #[cfg(target_arch = "aarch64")]
    if isa.width() == crate::isa::Width::Bits128 {
        crate::neon::pairs(rows, stride, panel, &mut sums[..count]);
        return count;
    }
    let _ = isa;
    for (row, sums) in rows.chunks(stride).zip(&mut sums[..count]) {
        *sums = [0; PANEL];
        for (x, lines) in row[..inputs]
            .as_chunks::<2>()
            .0
            .iter()
            .zip(panel.chunks_exact(2))
        {
            for (sums, line) in sums.chunks_exact_mut(LINE).zip(lines) {
                for (sum, w) in sums.iter_mut().zip(line.0.as_chunks::<2>().0) {
                    *sum += i32::from(x[0]) * i32::from(w[0]) + i32::from(x[1]) * i32::from(w[1]);
                }
            }
        }
    }
    count
}

/// Like [`pairs`], for bytes. The set must have products of bytes. In registers of 512 bits,
/// `next`, the panel that is multiplied after this one, is prefetched meanwhile.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn quads(
    isa: Isa,
    rows: &[u8],
    stride: usize,
    panel: &[Quads],
    next: &[Quads],
    sums: &mut Sums<i32>,
) -> usize {
    let count = count(rows, stride, panel.len() * 2);
    match isa.set() {
        crate::Set::Avx512Vnni | crate::Set::Avx512Bf16 => {
            // SAFETY: as in `floats`.
            unsafe { by_rows!(count, quads_512(rows.as_ptr(), stride, panel, next, sums)) };
        }
        crate::Set::AvxVnni => {
            by_six_rows!(count, quads_256(rows.as_ptr(), stride, panel, sums));
        }
        _ => unreachable!("weights are packed for the set that multiplies them"),
    }
    count
}

/// Sums of up to 12 rows of 16-bit integers (in two's complement, although the type is unsigned)
/// over one panel of the same, written into rows of `out`, one every `out_stride` numbers; sums
/// that do not fit in 32 bits wrap. Panics when `out` is too short, and on a set that does not
/// multiply bytes in registers of 512 bits.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn words(
    isa: Isa,
    rows: &[u16],
    stride: usize,
    panel: &[Halves],
    out: &mut [i32],
    out_stride: usize,
) -> usize {
    let count = count(rows, stride, panel.len());
    assert!(
        isa.multiplies_bytes_in_512_bits(),
        "the set has the instruction"
    );
    assert!(
        out_stride >= PANEL && (count == 0 || out.len() >= (count - 1) * out_stride + PANEL),
        "sums fit"
    );
    // SAFETY: as in `floats`, with two inputs per two lines.
    unsafe {
        by_rows!(
            count,
            words_512(rows.as_ptr(), stride, panel, out.as_mut_ptr(), out_stride)
        )
    };
    count
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use crate::layout::{Floats, Halves, LINE, PANEL, Pairs, Quads};

    /// The sums of `R` rows. If the compiler does not know the number of rows, it also keeps the
    /// sums of the 512-bit kernels in memory, first fills that memory with zeros (2 to 3 % of
    /// `embed` by `perf`), and copies it at the end.
    #[inline]
    fn of<const R: usize, T>(sums: &mut [[T; PANEL]]) -> &mut [[T; PANEL]; R] {
        sums.first_chunk_mut()
            .expect("a tile has room for its rows")
    }

    /// # Safety
    /// For each kernel here: the machine has its instructions, and `R` rows, one every `stride`
    /// numbers, have a number for each input of `panel`; if `out` is a pointer, `R` rows of it, one
    /// every `out_stride` numbers, have space for a panel.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn floats_512<const R: usize>(
        rows: *const f32,
        stride: usize,
        panel: &[Floats],
        out: *mut f32,
        out_stride: usize,
    ) {
        let mut acc = [[_mm512_setzero_ps(); 2]; R];
        for (input, lines) in panel.chunks_exact(2).enumerate() {
            // SAFETY: `input` is one of the panel's, so every row has it; a line is an aligned
            // register.
            unsafe {
                let w = [
                    _mm512_load_ps(lines[0].0.as_ptr()),
                    _mm512_load_ps(lines[1].0.as_ptr()),
                ];
                for (r, acc) in acc.iter_mut().enumerate() {
                    let x = _mm512_set1_ps(*rows.add(r * stride + input));
                    acc[0] = _mm512_fmadd_ps(x, w[0], acc[0]);
                    acc[1] = _mm512_fmadd_ps(x, w[1], acc[1]);
                }
            }
        }
        for (r, acc) in acc.iter().enumerate() {
            // SAFETY: each row has space for two registers.
            unsafe {
                _mm512_storeu_ps(out.add(r * out_stride), acc[0]);
                _mm512_storeu_ps(out.add(r * out_stride + LINE), acc[1]);
            }
        }
    }

    /// # Safety
    /// As for [`floats_512`].
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn floats_256<const R: usize>(
        rows: *const f32,
        stride: usize,
        panel: &[Floats],
        out: *mut f32,
        out_stride: usize,
    ) {
        for half in 0..2 {
            let mut acc = [[_mm256_setzero_ps(); 2]; R];
            for (input, lines) in panel.chunks_exact(2).enumerate() {
                // SAFETY: as in `floats_512`; a line is two registers.
                unsafe {
                    let line = lines[half].0.as_ptr();
                    let w = [_mm256_load_ps(line), _mm256_load_ps(line.add(8))];
                    for (r, acc) in acc.iter_mut().enumerate() {
                        let x = _mm256_set1_ps(*rows.add(r * stride + input));
                        acc[0] = _mm256_fmadd_ps(x, w[0], acc[0]);
                        acc[1] = _mm256_fmadd_ps(x, w[1], acc[1]);
                    }
                }
            }
            for (r, acc) in acc.iter().enumerate() {
                // SAFETY: each half of a row has space for two registers.
                unsafe {
                    let to = out.add(r * out_stride + half * LINE);
                    _mm256_storeu_ps(to, acc[0]);
                    _mm256_storeu_ps(to.add(8), acc[1]);
                }
            }
        }
    }

    /// # Safety
    /// As for [`floats_512`].
    #[target_feature(enable = "avx512f,avx512vnni")]
    pub(super) unsafe fn quads_512<const R: usize>(
        rows: *const u8,
        stride: usize,
        panel: &[Quads],
        next: &[Quads],
        sums: &mut [[i32; PANEL]],
    ) {
        let mut acc = [[_mm512_setzero_si512(); 2]; R];
        // Prefetches a line every few steps, at most two per step: if all were requested at once,
        // they would wait for each other, and this loop would wait for them. After the last panel,
        // its own lines are requested again. A prefetch is a hint and reads nothing, wherever it
        // points.
        let next = if next.is_empty() { panel } else { next };
        let (ahead, bytes) = (
            next.as_ptr().cast::<i8>(),
            size_of_val(next) / (panel.len() / 2).max(1),
        );
        for (step, lines) in panel.chunks_exact(2).enumerate() {
            // SAFETY: four inputs per step, so every row has them; they are read as one unaligned
            // number.
            unsafe {
                let w = [
                    _mm512_load_si512((&raw const lines[0]).cast()),
                    _mm512_load_si512((&raw const lines[1]).cast()),
                ];
                _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(step * bytes));
                if bytes > 64 {
                    _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(step * bytes + 64));
                }
                for (r, acc) in acc.iter_mut().enumerate() {
                    let x = _mm512_set1_epi32(
                        rows.add(r * stride + 4 * step)
                            .cast::<i32>()
                            .read_unaligned(),
                    );
                    acc[0] = _mm512_dpbusd_epi32(acc[0], x, w[0]);
                    acc[1] = _mm512_dpbusd_epi32(acc[1], x, w[1]);
                }
            }
        }
        for (acc, sums) in acc.iter().zip(of::<R, _>(sums)) {
            // SAFETY: a row of sums has the length of two registers.
            unsafe {
                _mm512_storeu_si512(sums.as_mut_ptr().cast(), acc[0]);
                _mm512_storeu_si512(sums.as_mut_ptr().add(16).cast(), acc[1]);
            }
        }
    }

    /// # Safety
    /// As for [`floats_512`].
    #[target_feature(enable = "avx512f,avx512vnni")]
    pub(super) unsafe fn words_512<const R: usize>(
        rows: *const u16,
        stride: usize,
        panel: &[Halves],
        out: *mut i32,
        out_stride: usize,
    ) {
        let mut acc = [[_mm512_setzero_si512(); 2]; R];
        for (step, lines) in panel.chunks_exact(2).enumerate() {
            // SAFETY: as in `quads_512`, with two inputs per step.
            unsafe {
                let w = [
                    _mm512_load_si512((&raw const lines[0]).cast()),
                    _mm512_load_si512((&raw const lines[1]).cast()),
                ];
                for (r, acc) in acc.iter_mut().enumerate() {
                    let x = _mm512_set1_epi32(
                        rows.add(r * stride + 2 * step)
                            .cast::<i32>()
                            .read_unaligned(),
                    );
                    acc[0] = _mm512_dpwssd_epi32(acc[0], x, w[0]);
                    acc[1] = _mm512_dpwssd_epi32(acc[1], x, w[1]);
                }
            }
        }
        for (r, acc) in acc.iter().enumerate() {
            // SAFETY: each row has space for two registers.
            unsafe {
                _mm512_storeu_si512(out.add(r * out_stride).cast(), acc[0]);
                _mm512_storeu_si512(out.add(r * out_stride + LINE).cast(), acc[1]);
            }
        }
    }

    /// # Safety
    /// As for [`floats_512`].
    #[target_feature(enable = "avx2,avxvnni")]
    pub(super) unsafe fn quads_256<const R: usize>(
        rows: *const u8,
        stride: usize,
        panel: &[Quads],
        sums: &mut [[i32; PANEL]],
    ) {
        for half in 0..2 {
            let mut acc = [[_mm256_setzero_si256(); 2]; R];
            for (step, lines) in panel.chunks_exact(2).enumerate() {
                // SAFETY: as in `quads_512`; a line is two registers.
                unsafe {
                    let line = (&raw const lines[half]).cast::<__m256i>();
                    let w = [_mm256_load_si256(line), _mm256_load_si256(line.add(1))];
                    for (r, acc) in acc.iter_mut().enumerate() {
                        let x = _mm256_set1_epi32(
                            rows.add(r * stride + 4 * step)
                                .cast::<i32>()
                                .read_unaligned(),
                        );
                        acc[0] = _mm256_dpbusd_avx_epi32(acc[0], x, w[0]);
                        acc[1] = _mm256_dpbusd_avx_epi32(acc[1], x, w[1]);
                    }
                }
            }
            store_256(&acc, half, sums);
        }
    }

    /// Two 16-bit products are added in 32 bits, so nothing saturates; the instruction for bytes
    /// would saturate.
    ///
    /// # Safety
    /// As for [`floats_512`].
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn pairs_256<const R: usize>(
        rows: *const i16,
        stride: usize,
        panel: &[Pairs],
        sums: &mut [[i32; PANEL]],
    ) {
        for half in 0..2 {
            let mut acc = [[_mm256_setzero_si256(); 2]; R];
            for (step, lines) in panel.chunks_exact(2).enumerate() {
                // SAFETY: two inputs per step, so every row has them; a line is two registers.
                unsafe {
                    let line = (&raw const lines[half]).cast::<__m256i>();
                    let w = [_mm256_load_si256(line), _mm256_load_si256(line.add(1))];
                    for (r, acc) in acc.iter_mut().enumerate() {
                        let x = _mm256_set1_epi32(
                            rows.add(r * stride + 2 * step)
                                .cast::<i32>()
                                .read_unaligned(),
                        );
                        acc[0] = _mm256_add_epi32(acc[0], _mm256_madd_epi16(x, w[0]));
                        acc[1] = _mm256_add_epi32(acc[1], _mm256_madd_epi16(x, w[1]));
                    }
                }
            }
            store_256(&acc, half, sums);
        }
    }

    /// Writes 16 sums of each row.
    #[target_feature(enable = "avx2")]
    fn store_256<const R: usize>(acc: &[[__m256i; 2]; R], half: usize, sums: &mut [[i32; PANEL]]) {
        for (acc, sums) in acc.iter().zip(sums) {
            let sums = &mut sums[half * 16..half * 16 + 16];
            // SAFETY: half a row of sums has the length of two registers.
            unsafe {
                _mm256_storeu_si256(sums.as_mut_ptr().cast(), acc[0]);
                _mm256_storeu_si256(sums.as_mut_ptr().add(8).cast(), acc[1]);
            }
        }
    }
}
