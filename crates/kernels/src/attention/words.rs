//! Attention in integers of 16 bits, on sets that multiply pairs of them in registers of 512 bits
//! and have no bf16: twice as many products per instruction as in f32.
//!
//! Queries, keys and values are rounded, each with one scale per head of a sequence, to as many
//! bits as still let all sums fit in 32 bits: queries and keys of 32 numbers to 5,792, values of
//! 512 tokens to 2,047. The weights of a token are rounded with their own scale: the largest to
//! 2,047 when all 512 are alike, to 32,767 when a few are much larger. The error is less than half
//! a 32,767th of the largest for each token with a very small weight. Integer sums are exact.

use crate::Isa;
use crate::avx512::attention::{largest, pack_keys, pack_values, shares_in_words, to_words};
use crate::avx512::results::finish_bytes_in_halves;
use crate::layout::{Columns, Halves, LINE, Line, PANEL, ROWS};
use crate::lines::Lines;
use crate::tile;

/// Buffers that are kept between sequences.
#[derive(Default)]
pub(crate) struct WordAttentionScratch {
    queries: Lines,
    others: Lines,
    keys: Vec<Halves>,
    values: Vec<Halves>,
    scores: Lines,
    weights: Lines,
}

/// The largest absolute value of two 16-bit numbers such that `count` of their products add up to
/// at most `sum`.
fn most(sum: i32, count: usize) -> f32 {
    (f64::from(sum) / count as f64)
        .sqrt()
        .floor()
        .min(f64::from(i16::MAX)) as f32
}

/// Rounds one third of a head, which has `len` rows of `width` numbers, one every `stride`; returns
/// the step between two codes, which is not finite if any number of the third is not finite.
fn round_third(
    isa: Isa,
    rows: &[u16],
    (stride, len, width): (usize, usize, usize),
    most: f32,
    out: &mut [u16],
) -> f32 {
    let largest = largest(isa, rows, stride, len, width);
    let scale = most / largest;
    let scale = if scale.is_finite() { scale } else { 0.0 };
    to_words(isa, rows, stride, len, width, scale, out);
    largest / most
}

/// Attention of all heads of the first sequence of `qkv` [.., 3·hidden], in bf16, whose length is
/// that of `context` [len, hidden].
///
/// Panics on sets that do not multiply bytes in 512 bits, for heads whose width is not a multiple
/// of 32, and for slices that are too short.
pub(crate) fn attend(
    isa: Isa,
    qkv: &[u16],
    hidden: usize,
    heads: usize,
    context: &mut [u16],
    scratch: &mut WordAttentionScratch,
) {
    let (len, width, stride) = (context.len() / hidden, hidden / heads, 3 * hidden);
    assert!(
        hidden.is_multiple_of(heads)
            && width.is_multiple_of(PANEL)
            && context.len() == len * hidden
    );
    assert!(qkv.len() >= len * stride);
    if len == 0 {
        return;
    }
    let padded = len.next_multiple_of(PANEL);
    // Scores are subtracted from each other, and the differences must fit too.
    let (of_products, of_sums) = (most(i32::MAX / 2, width), most(i32::MAX, len));
    // The maximum sum of the weights of a token; each is rounded by up to a half, and sums of
    // floats are slightly inexact.
    let of_weights = i32::MAX as f32 / of_sums * 0.999 - len as f32;
    scratch
        .keys
        .resize(padded / PANEL * width, Line([0; 2 * LINE]));
    scratch
        .values
        .resize(width / PANEL * padded, Line([0; 2 * LINE]));
    let (queries, others) = (
        scratch.queries.fitted::<u16>(len * width),
        scratch.others.fitted::<u16>(len * width),
    );
    let (scores, weights) = (
        scratch.scores.fitted::<i32>(ROWS * padded),
        scratch.weights.fitted::<u16>(ROWS * padded),
    );
    let mut sums = [[0; PANEL]; ROWS];
    // Columns that neither scale nor shift the products with a share.
    let plain = Columns {
        scale: [1.0; PANEL],
        sum: [0.0; PANEL],
        bias: [0.0; PANEL],
    };
    for at in (0..hidden).step_by(width) {
        let shape = (stride, len, width);
        let of_queries = round_third(isa, &qkv[at..], shape, of_products, queries);
        let of_keys = round_third(isa, &qkv[hidden + at..], shape, of_products, others);
        pack_keys(isa, others, width, len, width, &mut scratch.keys);
        let of_values = round_third(isa, &qkv[2 * hidden + at..], shape, of_sums, others);
        pack_values(isa, others, width, len, width, &mut scratch.values);
        let scale = of_queries * of_keys / (width as f32).sqrt();
        let value = of_values + scale * 0.0;
        for first in (0..len).step_by(ROWS) {
            let count = ROWS.min(len - first);
            for (number, panel) in scratch.keys.chunks_exact(width).enumerate() {
                let rows = &queries[first * width..(first + count) * width];
                tile::words(
                    isa,
                    rows,
                    width,
                    panel,
                    &mut scores[number * PANEL..],
                    padded,
                );
            }
            let mut shares = [(0.0, 0.0); ROWS];
            let rows = scores
                .chunks_exact_mut(padded)
                .zip(weights.chunks_exact_mut(padded));
            for ((scores, weights), share) in rows.zip(&mut shares[..count]) {
                share.0 = value / shares_in_words(isa, scores, len, scale, of_weights, weights);
            }
            for (number, panel) in scratch.values.chunks_exact(padded).enumerate() {
                tile::words(
                    isa,
                    &weights[..count * padded],
                    padded,
                    panel,
                    sums.as_flattened_mut(),
                    PANEL,
                );
                let (sums, out) = (&sums[..count], &mut context[first * hidden..]);
                finish_bytes_in_halves(
                    isa,
                    sums,
                    &shares,
                    &plain,
                    false,
                    out,
                    hidden,
                    at + number * PANEL,
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::tests::plain;
    use crate::layout::{round, widen};

    fn sets() -> impl Iterator<Item = Isa> {
        Isa::all().filter(|isa| isa.multiplies_bytes_in_512_bits())
    }

    #[test]
    fn attention_is_its_definition_for_all_lengths_and_shapes() {
        let mut state = 7_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 8) as f32 / (1 << 24) as f32 - 0.5) * 4.0
        };
        for isa in sets() {
            let mut scratch = WordAttentionScratch::default();
            for (hidden, heads) in [(64, 2), (128, 2), (96, 3)] {
                for len in [0, 1, 2, 12, 13, 16, 17, 32, 33, 65, 200, 512] {
                    let qkv: Vec<u16> = (0..len * 3 * hidden).map(|_| round(next())).collect();
                    let wanted = plain(
                        &qkv.iter().map(|x| widen(*x)).collect::<Vec<_>>(),
                        hidden,
                        heads,
                    );
                    let mut found = vec![round(f32::NAN); len * hidden];
                    attend(isa, &qkv, hidden, heads, &mut found, &mut scratch);
                    for (found, wanted) in found.iter().zip(&wanted) {
                        assert!(
                            (widen(*found) - wanted).abs() < 0.008,
                            "{isa:?} {len} {hidden}: {wanted}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_largest_sums_fit() {
        for isa in sets() {
            for len in [1, 2, 64, 512] {
                for sign in [1.0, -1.0] {
                    // All numbers have the largest size, so all products and weights do too.
                    let largest = round(sign * 1e18);
                    let (mut qkv, mut found) = (vec![largest; len * 3 * 64], vec![7; len * 64]);
                    attend(
                        isa,
                        &qkv,
                        64,
                        2,
                        &mut found,
                        &mut WordAttentionScratch::default(),
                    );
                    assert!(found.iter().all(|x| *x == largest), "{isa:?} {len}");
                    // Half of the scores are as far below zero as the others are above.
                    for token in qkv.chunks_exact_mut(3 * 64).skip(1).step_by(2) {
                        token[64..].fill(round(-sign * 1e18));
                    }
                    attend(
                        isa,
                        &qkv,
                        64,
                        2,
                        &mut found,
                        &mut WordAttentionScratch::default(),
                    );
                    assert!(
                        found.iter().take(64).all(|x| *x == largest),
                        "{isa:?} {len}"
                    );
                    qkv.fill(0);
                    attend(
                        isa,
                        &qkv,
                        64,
                        2,
                        &mut found,
                        &mut WordAttentionScratch::default(),
                    );
                    assert!(found.iter().all(|x| widen(*x) == 0.0));
                }
            }
        }
    }

    /// One token has a much larger weight than hundreds of others, whose sum still matters. With a
    /// largest weight of 2,047, the weights of the others were all rounded to zero or all to one.
    #[test]
    fn a_long_tail_keeps_its_weight() {
        for isa in sets() {
            for key in [-1.46, -1.484_375, -1.3, -1.1] {
                let (len, hidden) = (512, 32);
                let mut qkv = vec![0; len * 3 * hidden];
                for (token, row) in qkv.chunks_exact_mut(3 * hidden).enumerate() {
                    row[..hidden].fill(round(1.0));
                    row[hidden..2 * hidden].fill(round(if token == 0 { 0.0 } else { key }));
                    row[2 * hidden..].fill(round(if token == 0 { 0.0 } else { 1.0 }));
                }
                let wanted = plain(
                    &qkv.iter().map(|x| widen(*x)).collect::<Vec<_>>(),
                    hidden,
                    1,
                );
                let mut found = vec![0; len * hidden];
                attend(
                    isa,
                    &qkv,
                    hidden,
                    1,
                    &mut found,
                    &mut WordAttentionScratch::default(),
                );
                for (found, wanted) in found.iter().zip(&wanted) {
                    assert!(
                        (widen(*found) - wanted).abs() < 0.008,
                        "{isa:?} {key}: {} {wanted}",
                        widen(*found)
                    );
                }
            }
        }
    }

    #[test]
    fn the_smallest_numbers_keep_their_sign() {
        for isa in sets() {
            for len in [2, 512] {
                let (mut qkv, mut found) = (vec![0; len * 3 * 64], vec![7; len * 64]);
                for token in qkv.chunks_exact_mut(3 * 64) {
                    token[128..].fill(round(1e-36));
                }
                attend(
                    isa,
                    &qkv,
                    64,
                    2,
                    &mut found,
                    &mut WordAttentionScratch::default(),
                );
                assert!(
                    found.iter().all(|x| (0.0..=1.01e-36).contains(&widen(*x))),
                    "{isa:?} {len}"
                );
            }
        }
    }

    #[test]
    fn s39_a_number_that_is_not_finite_spoils_its_head() {
        for isa in sets() {
            for third in 0..3 {
                for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                    let mut qkv = vec![round(0.5); 2 * 3 * 64];
                    qkv[third * 64 + 3] = round(bad);
                    let mut found = vec![0; 2 * 64];
                    attend(
                        isa,
                        &qkv,
                        64,
                        2,
                        &mut found,
                        &mut WordAttentionScratch::default(),
                    );
                    for token in found.chunks_exact(64) {
                        assert!(
                            token[..32].iter().all(|x| !widen(*x).is_finite()),
                            "{isa:?} {third} {bad}"
                        );
                        assert!(
                            token[32..].iter().all(|x| widen(*x).is_finite()),
                            "{isa:?} {third} {bad}"
                        );
                    }
                }
            }
        }
    }
}
