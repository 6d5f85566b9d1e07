//! Attention in bf16, on instruction sets that can multiply it. Scores and sums are f32; the
//! factors are rounded.
//!
//! It processes as many queries at a time as a tile of the unit has rows. The layouts are those of
//! [`crate::bf16`], so queries are read directly from the result of the product before.

use crate::Isa;
use crate::avx512::attention::{pack_keys, pack_values, shares};
use crate::avx512::results::finish_floats_in_halves;
use crate::bf16::Unit;
use crate::layout::{Halves, LINE, Line, PANEL, ROWS_AT_ONCE};
use crate::lines::Lines;

/// Buffers that are kept between sequences.
#[derive(Default)]
pub(crate) struct Bf16AttentionScratch {
    keys: Vec<Halves>,
    values: Vec<Halves>,
    scores: Lines,
    weights: Lines,
}

/// Attention of all heads of the first sequence of `qkv` [.., 3·hidden], whose length is that of
/// `context` [len, hidden]. Its rows are followed by 32 more, with arbitrary content.
///
/// Panics on a set without bf16, for heads whose width is not a multiple of 32, and for slices that
/// are too short.
pub(crate) fn attend(
    isa: Isa,
    qkv: &[u16],
    hidden: usize,
    heads: usize,
    context: &mut [u16],
    scratch: &mut Bf16AttentionScratch,
) {
    let (len, width, stride) = (context.len() / hidden, hidden / heads, 3 * hidden);
    assert!(
        hidden.is_multiple_of(heads)
            && width.is_multiple_of(PANEL)
            && context.len() == len * hidden
    );
    assert!(qkv.len() >= (len + ROWS_AT_ONCE) * stride);
    if len == 0 {
        return;
    }
    let unit = Unit::new(isa);
    let (height, padded) = (unit.height(), len.next_multiple_of(PANEL));
    let scale = 1.0 / (width as f32).sqrt();
    scratch
        .keys
        .resize(padded / PANEL * width, Line([0; 2 * LINE]));
    scratch
        .values
        .resize(width / PANEL * padded, Line([0; 2 * LINE]));
    let scores = scratch.scores.fitted::<f32>(ROWS_AT_ONCE * padded);
    let weights = scratch.weights.fitted::<u16>(ROWS_AT_ONCE * padded);
    let mut sums = [[0.0; PANEL]; ROWS_AT_ONCE];
    let mut own = [0.0; ROWS_AT_ONCE];
    for at in (0..hidden).step_by(width) {
        pack_keys(
            isa,
            &qkv[hidden + at..],
            stride,
            len,
            width,
            &mut scratch.keys,
        );
        pack_values(
            isa,
            &qkv[2 * hidden + at..],
            stride,
            len,
            width,
            &mut scratch.values,
        );
        for first in (0..len).step_by(height) {
            let count = height.min(len - first);
            for (number, panel) in scratch.keys.chunks_exact(width).enumerate() {
                let out = &mut scores[number * PANEL..];
                unit.product(
                    &qkv[first * stride + at..],
                    stride,
                    count,
                    panel,
                    out,
                    padded,
                );
            }
            let rows = scores
                .chunks_exact(padded)
                .zip(weights.chunks_exact_mut(padded));
            for ((scores, weights), share) in rows.zip(&mut own[..count]) {
                *share = shares(isa, scores, len, scale, weights);
            }
            for (number, panel) in scratch.values.chunks_exact(padded).enumerate() {
                unit.product(
                    weights,
                    padded,
                    count,
                    panel,
                    sums.as_flattened_mut(),
                    PANEL,
                );
                let (sums, out) = (&sums[..count], &mut context[first * hidden..]);
                finish_floats_in_halves(
                    isa,
                    sums,
                    &own,
                    &[0.0; PANEL],
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

    #[test]
    fn attention_is_its_definition_for_all_lengths_and_shapes() {
        let mut state = 7_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 8) as f32 / (1 << 24) as f32 - 0.5) * 4.0
        };
        for isa in Isa::all().filter(|isa| isa.has_bf16()) {
            let mut scratch = Bf16AttentionScratch::default();
            for (hidden, heads) in [(64, 2), (128, 2), (96, 3)] {
                for len in [0, 1, 2, 12, 13, 16, 17, 32, 33, 65, 200] {
                    let halves: Vec<u16> = (0..(len + 32) * 3 * hidden)
                        .map(|_| round(next()))
                        .collect();
                    let floats: Vec<f32> = halves[..len * 3 * hidden]
                        .iter()
                        .map(|x| widen(*x))
                        .collect();
                    let wanted = plain(&floats, hidden, heads);
                    let mut found = vec![round(f32::NAN); len * hidden];
                    attend(isa, &halves, hidden, heads, &mut found, &mut scratch);
                    for (found, wanted) in found.iter().zip(&wanted) {
                        assert!(
                            (widen(*found) - wanted).abs() < 0.012,
                            "{isa:?} {len} {hidden}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn s39_a_score_that_is_not_a_number_spoils_its_token() {
        for isa in Isa::all().filter(|isa| isa.has_bf16()) {
            let mut qkv = vec![round(0.5); 33 * 3 * 64];
            qkv[3] = round(f32::NAN);
            let mut found = vec![0; 64];
            attend(
                isa,
                &qkv,
                64,
                2,
                &mut found,
                &mut Bf16AttentionScratch::default(),
            );
            assert!(found[..32].iter().all(|x| widen(*x).is_nan()));
            assert!(found[32..].iter().all(|x| widen(*x).is_finite()));
        }
    }
}
