//! Attention in integers of 16 bits, on sets that multiply pairs of them in registers of 512 bits and have no bf16: twice as
//! many products an instruction as in f32.
//!
//! Queries, keys, values and weights are rounded, each on one scale for a head of a sequence, to as many bits as leave room for
//! all sums in 32 bits: queries and keys of 32 numbers to 5,792, weights and values of 512 tokens to 2,047. Integer sums are
//! exact.

use crate::Isa;
use crate::avx512::attention::{largest, pack_keys, pack_values, shares_in_words, to_words};
use crate::avx512::results::finish_bytes_in_halves;
use crate::bf16::Halves;
use crate::int8::Columns;
use crate::lines::Lines;
use crate::tile::{self, LINE, Line, PANEL, ROWS};

/// Room that is kept between sequences.
#[derive(Default)]
pub(crate) struct Room {
    queries: Lines,
    others: Lines,
    keys: Vec<Halves>,
    values: Vec<Halves>,
    scores: Lines,
    weights: Lines,
}

/// The largest size of two numbers of 16 bits whose product is at most `sum` when it is added `count` times.
fn most(sum: i32, count: usize) -> f32 {
    (f64::from(sum) / count as f64).sqrt().floor().min(f64::from(i16::MAX)) as f32
}

/// Attention of all heads of the first sequence of `qkv` [.., 3·hidden], in bf16, whose length is that of `context` [len, hidden].
///
/// Panics where 512 bits do not multiply bytes, for heads whose width is no multiple of 32, and for slices that are too short.
pub(crate) fn attend(isa: Isa, qkv: &[u16], hidden: usize, heads: usize, context: &mut [u16], room: &mut Room) {
    let (len, width, stride) = (context.len() / hidden, hidden / heads, 3 * hidden);
    assert!(hidden.is_multiple_of(heads) && width.is_multiple_of(PANEL) && context.len() == len * hidden);
    assert!(qkv.len() >= len * stride);
    if len == 0 {
        return;
    }
    let padded = len.next_multiple_of(PANEL);
    // Scores are subtracted from each other, and fit even then.
    let (of_products, of_sums) = (most(i32::MAX / 2, width), most(i32::MAX, len));
    room.keys.resize(padded / PANEL * width, Line([0; 2 * LINE]));
    room.values.resize(width / PANEL * padded, Line([0; 2 * LINE]));
    let (queries, others) = (room.queries.fitted::<u16>(len * width), room.others.fitted::<u16>(len * width));
    let (scores, weights) = (room.scores.fitted::<i32>(ROWS * padded), room.weights.fitted::<u16>(ROWS * padded));
    let mut sums = [[0; PANEL]; ROWS];
    // What is multiplied with a share is neither shifted nor on a scale of its own.
    let plain = Columns { scale: [1.0; PANEL], sum: [0.0; PANEL], bias: [0.0; PANEL] };
    for at in (0..hidden).step_by(width) {
        // Rounds one third of the head: the step between two codes, which is not finite when one of the third is not.
        let rounded = |third: usize, most: f32, out: &mut [u16]| {
            let rows = &qkv[third * hidden + at..];
            let largest = largest(isa, rows, stride, len, width);
            let scale = if largest > 0.0 { most / largest } else { 0.0 };
            to_words(isa, rows, stride, len, width, scale, out);
            largest / most
        };
        let of_queries = rounded(0, of_products, queries);
        let of_keys = rounded(1, of_products, others);
        pack_keys(isa, others, width, len, width, &mut room.keys);
        let of_values = rounded(2, of_sums, others);
        pack_values(isa, others, width, len, width, &mut room.values);
        let scale = of_queries * of_keys / (width as f32).sqrt();
        let value = of_values + scale * 0.0;
        for first in (0..len).step_by(ROWS) {
            let count = ROWS.min(len - first);
            for (number, panel) in room.keys.chunks_exact(width).enumerate() {
                let rows = &queries[first * width..(first + count) * width];
                tile::words(isa, rows, width, panel, &mut scores[number * PANEL..], padded);
            }
            let mut shares = [(0.0, 0.0); ROWS];
            let rows = scores.chunks_exact(padded).zip(weights.chunks_exact_mut(padded));
            for ((scores, weights), share) in rows.zip(&mut shares[..count]) {
                share.0 = value / shares_in_words(isa, scores, len, scale, of_sums, weights);
            }
            for (number, panel) in room.values.chunks_exact(padded).enumerate() {
                tile::words(isa, &weights[..count * padded], padded, panel, sums.as_flattened_mut(), PANEL);
                let (sums, out) = (&sums[..count], &mut context[first * hidden..]);
                finish_bytes_in_halves(isa, sums, &shares, &plain, false, out, hidden, at + number * PANEL);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::tests::plain;
    use crate::bf16::{round, widen};

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
            let mut room = Room::default();
            for (hidden, heads) in [(64, 2), (128, 2), (96, 3)] {
                for len in [0, 1, 2, 12, 13, 16, 17, 32, 33, 65, 200, 512] {
                    let qkv: Vec<u16> = (0..len * 3 * hidden).map(|_| round(next())).collect();
                    let wanted = plain(&qkv.iter().map(|x| widen(*x)).collect::<Vec<_>>(), hidden, heads);
                    let mut found = vec![round(f32::NAN); len * hidden];
                    attend(isa, &qkv, hidden, heads, &mut found, &mut room);
                    for (found, wanted) in found.iter().zip(&wanted) {
                        assert!((widen(*found) - wanted).abs() < 0.008, "{isa:?} {len} {hidden}: {wanted}");
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
                    // Every number is the largest, so all products and all weights are.
                    let largest = round(sign * 1e18);
                    let (mut qkv, mut found) = (vec![largest; len * 3 * 64], vec![7; len * 64]);
                    attend(isa, &qkv, 64, 2, &mut found, &mut Room::default());
                    assert!(found.iter().all(|x| *x == largest), "{isa:?} {len}");
                    // Half of the scores are as far below zero as the others are above.
                    for token in qkv.chunks_exact_mut(3 * 64).skip(1).step_by(2) {
                        token[64..].fill(round(-sign * 1e18));
                    }
                    attend(isa, &qkv, 64, 2, &mut found, &mut Room::default());
                    assert!(found.iter().take(64).all(|x| *x == largest), "{isa:?} {len}");
                    qkv.fill(0);
                    attend(isa, &qkv, 64, 2, &mut found, &mut Room::default());
                    assert!(found.iter().all(|x| widen(*x) == 0.0));
                }
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
                    attend(isa, &qkv, 64, 2, &mut found, &mut Room::default());
                    for token in found.chunks_exact(64) {
                        assert!(token[..32].iter().all(|x| !widen(*x).is_finite()), "{isa:?} {third} {bad}");
                        assert!(token[32..].iter().all(|x| widen(*x).is_finite()), "{isa:?} {third} {bad}");
                    }
                }
            }
        }
    }
}
