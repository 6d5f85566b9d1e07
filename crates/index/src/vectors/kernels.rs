//! Dot products of one quantised query with many quantised rows: one of the two places where
//! `unsafe` is allowed.
//!
//! All kernels compute the same integers, so the choice of kernel never affects a result; tests
//! compare them bit for bit. Rows and query are padded with zeros to whole blocks of [`BLOCK`]
//! codes, so no kernel has a tail.

use super::quant::{BLOCK, QuantQuery};

/// A way to compute dot products. Kernels differ only in speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// Plain Rust, on every machine.
    Portable,
    /// AVX2: 32 codes per step.
    Avx2,
    /// AVX-512 with VNNI: 64 codes per step.
    Avx512Vnni,
}

impl Kernel {
    /// Every kernel, slowest first.
    pub const ALL: [Self; 3] = [Self::Portable, Self::Avx2, Self::Avx512Vnni];

    /// The name shown in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512Vnni => "avx512-vnni",
        }
    }

    /// Whether this machine can run it.
    pub fn is_supported(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => {
                is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512Vnni => false,
        }
    }

    /// The fastest kernel of this machine.
    pub fn best() -> Self {
        Self::ALL
            .into_iter()
            .rev()
            .find(|k| k.is_supported())
            .unwrap_or(Self::Portable)
    }

    /// Writes the dot product of `query` with each row to `out`. Rows are consecutive, each as long
    /// as the padded query; rows beyond `out` and elements beyond the rows are not touched. A
    /// kernel that this machine cannot run is replaced by the portable one.
    pub(super) fn dots(self, query: &QuantQuery, rows: &[u8], out: &mut [i32]) {
        let blocks = query.blocks();
        let rows = rows
            .as_chunks::<BLOCK>()
            .0
            .chunks_exact(blocks.len().max(1));
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni if self.is_supported() => {
                // SAFETY: the features that the function enables were detected on this machine.
                unsafe { x86::dots_avx512(blocks, query.offset(), rows, out) }
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 if self.is_supported() => {
                // SAFETY: the feature that the function enables was detected on this machine.
                unsafe { x86::dots_avx2(blocks, rows, out) }
            }
            _ => rows
                .zip(out)
                .for_each(|(row, dot)| *dot = dot_portable(blocks, row)),
        }
    }
}

/// Rows as whole blocks, consecutive.
#[cfg(target_arch = "x86_64")]
type Rows<'a> = std::slice::ChunksExact<'a, [u8; BLOCK]>;

/// The reference that the other kernels must match. Products fit 16 bits (127 × 128 < 2¹⁵), which
/// lets the compiler use pairwise multiply-add; sums cannot overflow (see [`super::MAX_DIM`]);
/// wrapping only avoids the check.
fn dot_portable(query: &[[i8; BLOCK]], row: &[[u8; BLOCK]]) -> i32 {
    let mut sum = 0i32;
    for (q, r) in query.iter().zip(row) {
        for (&q, &r) in q.iter().zip(r) {
            sum = sum.wrapping_add(i32::from(
                i16::from(q).wrapping_mul(i16::from(r.cast_signed())),
            ));
        }
    }
    sum
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{BLOCK, Rows};

    /// `vpdpbusd` multiplies unsigned by signed bytes, so the row is shifted by 128 (its sign bit
    /// flipped), and `offset`, 128 × the sum of the query's codes, is subtracted again.
    #[target_feature(enable = "avx512f,avx512vnni")]
    pub(super) fn dots_avx512(query: &[[i8; BLOCK]], offset: i32, rows: Rows<'_>, out: &mut [i32]) {
        let shift = _mm512_set1_epi32(i32::from_ne_bytes([0x80; 4]));
        for (row, dot) in rows.zip(out) {
            let mut sums = _mm512_setzero_si512();
            for (q, r) in query.iter().zip(row) {
                // SAFETY: both arrays are 64 bytes long, and the load requires no alignment.
                let (q, r) = unsafe {
                    (
                        _mm512_loadu_si512(q.as_ptr().cast()),
                        _mm512_loadu_si512(r.as_ptr().cast()),
                    )
                };
                sums = _mm512_dpbusd_epi32(sums, _mm512_xor_si512(r, shift), q);
            }
            *dot = _mm512_reduce_add_epi32(sums).wrapping_sub(offset);
        }
    }

    /// `|row| × (query with the row's sign)` gives the same products with an unsigned left side;
    /// two of them fit the 16 bits of `vpmaddubsw` (2 × 128 × 127 < 2¹⁵) because no query code is
    /// −128.
    #[target_feature(enable = "avx2")]
    pub(super) fn dots_avx2(query: &[[i8; BLOCK]], rows: Rows<'_>, out: &mut [i32]) {
        let ones = _mm256_set1_epi16(1);
        for (row, dot) in rows.zip(out) {
            let mut sums = _mm256_setzero_si256();
            for (q, r) in query
                .as_flattened()
                .as_chunks::<32>()
                .0
                .iter()
                .zip(row.as_flattened().as_chunks::<32>().0)
            {
                // SAFETY: both arrays are 32 bytes long, and the load requires no alignment.
                let (q, r) = unsafe {
                    (
                        _mm256_loadu_si256(q.as_ptr().cast()),
                        _mm256_loadu_si256(r.as_ptr().cast()),
                    )
                };
                let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(r), _mm256_sign_epi8(q, r));
                sums = _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, ones));
            }
            let half = _mm_add_epi32(
                _mm256_castsi256_si128(sums),
                _mm256_extracti128_si256::<1>(sums),
            );
            let pair = _mm_add_epi32(half, _mm_shuffle_epi32::<0b01_00_11_10>(half));
            let one = _mm_add_epi32(pair, _mm_shuffle_epi32::<0b10_11_00_01>(pair));
            *dot = _mm_cvtsi128_si32(one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all_kernels_agree(query: &[f32], rows: &[u8]) {
        let query = QuantQuery::new(query);
        let n = rows.len() / (query.blocks().len() * BLOCK);
        let mut expected = vec![0; n];
        Kernel::Portable.dots(&query, rows, &mut expected);
        let flat: Vec<i8> = query.blocks().iter().flatten().copied().collect();
        for (row, dot) in rows.chunks_exact(flat.len()).zip(&expected) {
            let exact: i64 = row
                .iter()
                .zip(&flat)
                .map(|(&r, &q)| i64::from(r as i8) * i64::from(q))
                .sum();
            assert_eq!(i64::from(*dot), exact);
        }
        for kernel in Kernel::ALL {
            let mut got = vec![i32::MIN; n];
            kernel.dots(&query, rows, &mut got);
            assert_eq!(got, expected, "{}", kernel.as_str());
        }
    }

    #[test]
    fn the_extremes_do_not_saturate() {
        for dim in [1, 2, 3, 31, 64, 65, 383, 384, 768, super::super::MAX_DIM] {
            let stride = dim.div_ceil(BLOCK) * BLOCK;
            for query in [vec![1.0; dim], vec![-1.0; dim]] {
                for code in [-128i8, -127, -1, 0, 1, 127] {
                    all_kernels_agree(&query, &vec![code as u8; stride * 3]);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn every_kernel_equals_the_portable_one(
            dim in prop::sample::select(vec![1usize, 2, 3, 31, 33, 63, 64, 65, 383, 384, 768]),
            seed in prop::collection::vec(any::<u8>(), 832 * 3),
            query in prop::collection::vec(-1.0f32..1.0, 768),
        ) {
            let stride = dim.div_ceil(BLOCK) * BLOCK;
            prop_assume!(query[..dim].iter().any(|v| *v != 0.0));
            all_kernels_agree(&query[..dim], &seed[..stride * 3]);
        }
    }

    #[test]
    fn short_input_is_left_alone() {
        let query = QuantQuery::new(&[1.0; 64]);
        for kernel in Kernel::ALL {
            let mut out = [7; 2];
            kernel.dots(&query, &[1; 100], &mut out);
            assert_eq!(out, [127 * 64, 7]);
        }
    }
}
