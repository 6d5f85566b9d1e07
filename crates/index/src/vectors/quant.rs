//! Converts full-precision vectors to the two stored forms: 8-bit codes for the first pass, half
//! floats for rescoring.
//!
//! Codes are symmetric per row: `code = round(value / scale)` with `scale = largest magnitude /
//! 127`, so they are in −127…127 and a row's largest value is exact.

use half::f16;
use half::slice::HalfFloatSliceExt as _;

use local_agent_text::error::{ErrorCode, Failure, Result};

/// Codes in one block: the width of an AVX-512 register, and a cache line.
pub(super) const BLOCK: usize = 64;

/// Maximum deviation of an added vector's Euclidean length from 1. Single-precision normalisation
/// stays well below this.
const NORM_TOLERANCE: f64 = 1e-3;

/// Length of one padded row of codes in bytes.
pub(super) const fn stride(dim: usize) -> usize {
    dim.div_ceil(BLOCK) * BLOCK
}

/// Why `vector` cannot be a row of a matrix with `dim` dimensions; `Ok` if it can.
pub(super) fn check_row(vector: &[f32], dim: usize) -> Result<()> {
    if vector.len() != dim {
        return refused_row(format!(
            "A vector has {} dimensions where {dim} were expected.",
            vector.len()
        ));
    }
    if !vector.iter().all(|v| v.is_finite()) {
        return refused_row("A vector holds a value that is not a finite number.".into());
    }
    let norm = norm(vector);
    if (norm - 1.0).abs() > NORM_TOLERANCE {
        return refused_row(format!(
            "A vector has length {norm:.6} where 1 was expected."
        ));
    }
    Ok(())
}

/// The failure for a vector that cannot be a row.
fn refused_row(why: String) -> Result<()> {
    Err(Failure::new(ErrorCode::EmbedError, why).with_command("local-agent embed --rebuild"))
}

/// Euclidean length, summed in double precision in a fixed order.
pub(super) fn norm(vector: &[f32]) -> f64 {
    dot(vector, vector).sqrt()
}

/// Dot product in double precision. Four running sums in a fixed order, so every machine gets the
/// same bits.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f64 {
    let (a4, a_rest) = a.as_chunks::<4>();
    let (b4, b_rest) = b.as_chunks::<4>();
    let mut sums = [0.0f64; 4];
    for (a, b) in a4.iter().zip(b4) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += f64::from(*a) * f64::from(*b);
        }
    }
    let rest: f64 = a_rest
        .iter()
        .zip(b_rest)
        .map(|(a, b)| f64::from(*a) * f64::from(*b))
        .sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// The scale that maps the largest magnitude of `vector` to 127; 0 for a zero vector.
fn scale_of(vector: &[f32]) -> f32 {
    vector.iter().fold(0.0f32, |max, v| max.max(v.abs())) / 127.0
}

/// One code. A scale of 0 gives 0, because `as` converts the quotient's NaN to 0.
fn code(value: f32, scale: f32) -> i8 {
    (value / scale).round().clamp(-127.0, 127.0) as i8
}

/// Appends the codes of `vector`, padded to whole blocks, and returns their scale.
pub(super) fn push_codes(vector: &[f32], out: &mut Vec<u8>) -> f32 {
    let scale = scale_of(vector);
    let padded = out.len() + stride(vector.len());
    out.extend(vector.iter().map(|v| code(*v, scale).cast_unsigned()));
    out.resize(padded, 0);
    scale
}

/// Appends `vector` as little-endian half floats.
pub(super) fn push_halves(vector: &[f32], out: &mut Vec<u8>) {
    out.extend(vector.iter().flat_map(|v| f16::from_f32(*v).to_le_bytes()));
}

/// Reads little-endian half floats, reusing both buffers.
pub(super) fn read_halves(bytes: &[u8], halves: &mut Vec<f16>, out: &mut Vec<f32>) {
    halves.clear();
    halves.extend(
        bytes
            .as_chunks::<2>()
            .0
            .iter()
            .map(|pair| f16::from_le_bytes(*pair)),
    );
    out.resize(halves.len(), 0.0);
    halves.convert_to_f32_slice(out);
}

/// A query as codes. The fields are private to ensure that no code is −128, which the kernels rely
/// on.
pub(super) struct QuantQuery {
    blocks: Vec<[i8; BLOCK]>,
    offset: i32,
}

impl QuantQuery {
    /// Quantises `query` with its own scale, which is left out of every product because it does not
    /// change the order.
    pub(super) fn new(query: &[f32]) -> Self {
        let scale = scale_of(query);
        let blocks: Vec<[i8; BLOCK]> = query
            .chunks(BLOCK)
            .map(|values| {
                let mut block = [0; BLOCK];
                block
                    .iter_mut()
                    .zip(values)
                    .for_each(|(b, v)| *b = code(*v, scale));
                block
            })
            .collect();
        let offset = 128 * blocks.iter().flatten().map(|c| i32::from(*c)).sum::<i32>();
        Self { blocks, offset }
    }

    /// The codes, padded with zeros.
    pub(super) fn blocks(&self) -> &[[i8; BLOCK]] {
        &self.blocks
    }

    /// 128 × the sum of the codes: the excess in a kernel that shifts rows by 128.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub(super) fn offset(&self) -> i32 {
        self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s39_only_finite_unit_vectors_of_the_right_width_are_rows() {
        assert!(check_row(&[0.6, 0.8], 2).is_ok());
        let bad: [&[f32]; 8] = [
            &[f32::NAN, 0.0],
            &[f32::INFINITY, 0.0],
            &[1.0, f32::NEG_INFINITY],
            &[0.0, 0.0],
            &[0.6, 0.9],
            &[1.0],
            &[1.0, 0.0, 0.0],
            &[],
        ];
        for vector in bad {
            assert_eq!(
                check_row(vector, 2).unwrap_err().code,
                ErrorCode::EmbedError,
                "{vector:?}"
            );
        }
    }

    #[test]
    fn codes_are_symmetric_and_padded() {
        let mut codes = Vec::new();
        let scale = push_codes(&[0.5, -1.0, 1.0, 0.0], &mut codes);
        assert_eq!(codes.len(), BLOCK);
        assert_eq!(
            codes[..5]
                .iter()
                .map(|c| c.cast_signed())
                .collect::<Vec<_>>(),
            [64, -127, 127, 0, 0]
        );
        assert!((scale - 1.0 / 127.0).abs() < 1e-9);
    }

    #[test]
    fn half_floats_round_trip_to_eleven_bits() {
        let vector = [0.1f32, -0.333, 0.75, 1.0, -1.0, 0.0];
        let (mut bytes, mut halves, mut back) = (Vec::new(), Vec::new(), Vec::new());
        push_halves(&vector, &mut bytes);
        read_halves(&bytes, &mut halves, &mut back);
        assert!(
            vector
                .iter()
                .zip(&back)
                .all(|(a, b)| (a - b).abs() <= a.abs() / 2048.0)
        );
    }
}
