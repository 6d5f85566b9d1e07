//! Self-attention of one sequence, head by head, in f32.
//!
//! Twelve queries at a time: their scores, weights and weighted sums stay in the first-level cache,
//! so the matrix of all scores is never written. Keys and values of a head are copied once into the
//! layout of [`crate::tile`].

#[cfg(target_arch = "x86_64")]
pub(crate) mod halves;
#[cfg(target_arch = "x86_64")]
pub(crate) mod words;

use crate::Isa;
#[cfg(target_arch = "x86_64")]
use crate::avx512::attention as avx512;
use crate::elementwise::{exp, range, sum, vectorised};
#[cfg(target_arch = "x86_64")]
use crate::isa::Width;
use crate::layout::{Floats, LINE, Line, PANEL, ROWS};
use crate::tile;

/// Buffers that are kept between sequences.
#[derive(Default)]
pub(crate) struct AttentionScratch {
    keys: Vec<Floats>,
    values: Vec<Floats>,
    scores: Vec<f32>,
}

vectorised! {
    /// Attention of all heads of one sequence: `qkv` [len, 3·hidden] contains each token's query,
    /// key and value, all heads side by side; the result is written to `context` [len, hidden].
    pub(crate) fn attend(isa: Isa, qkv: &[f32], hidden: usize, heads: usize, context: &mut [f32], scratch: &mut AttentionScratch) {
        let len = context.len() / hidden;
        assert!(context.len() == len * hidden && qkv.len() == 3 * len * hidden && hidden.is_multiple_of(heads));
        if len == 0 {
            return;
        }
        let width = hidden / heads;
        let scale = 1.0 / (width as f32).sqrt();
        let (key_panels, value_panels) = (len.div_ceil(PANEL), width.div_ceil(PANEL));
        scratch.keys.resize(key_panels * width * 2, Line([0.0; LINE]));
        scratch.values.resize(value_panels * len * 2, Line([0.0; LINE]));
        scratch.scores.resize(ROWS * key_panels * PANEL, 0.0);
        let mut sums = [[0.0; PANEL]; ROWS];
        for head in 0..heads {
            let at = head * width;
            keys(isa, &qkv[hidden + at..], 3 * hidden, len, width, scale, &mut scratch.keys);
            pack_values(&qkv[2 * hidden + at..], 3 * hidden, width, &mut scratch.values);
            for first in (0..len).step_by(ROWS) {
                let count = ROWS.min(len - first);
                let queries = &qkv[first * 3 * hidden + at..(first + count - 1) * 3 * hidden + at + width];
                let stride = key_panels * PANEL;
                for (number, panel) in scratch.keys.chunks_exact(width * 2).enumerate() {
                    tile::floats(isa, queries, 3 * hidden, panel, &mut scratch.scores[number * PANEL..], stride);
                }
                let mut shares = [0.0; ROWS];
                for (row, share) in scratch.scores.chunks_exact_mut(stride).zip(&mut shares[..count]) {
                    *share = 1.0 / weights::<FUSED>(isa, row, len);
                }
                let weights = &scratch.scores[..(count - 1) * stride + len];
                for (number, panel) in scratch.values.chunks_exact(len * 2).enumerate() {
                    tile::floats(isa, weights, stride, panel, sums.as_flattened_mut(), PANEL);
                    let columns = at + number * PANEL..at + width.min((number + 1) * PANEL);
                    let rows = context[first * hidden..].chunks_exact_mut(hidden);
                    for ((sums, share), row) in sums[..count].iter().zip(shares).zip(rows) {
                        scaled(sums, share, &mut row[columns.clone()]);
                    }
                }
            }
        }
    }
}

/// Packs the keys of `len` rows as columns, scaled: [panels][width][2 lines]. The columns after the
/// last key are never read.
#[inline(always)]
#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(unused_variables, reason = "plain loops count rows themselves")
)]
fn keys(
    isa: Isa,
    rows: &[f32],
    stride: usize,
    len: usize,
    width: usize,
    scale: f32,
    keys: &mut [Floats],
) {
    #[cfg(target_arch = "x86_64")]
    if isa.width() == Width::Bits512 && width.is_multiple_of(LINE) {
        return avx512::pack_float_keys(isa, rows, stride, len, width, scale, keys);
    }
    pack_keys(rows, stride, width, scale, keys);
}

/// Like [`keys`], with plain loops.
#[inline(always)]
pub(crate) fn pack_keys(
    rows: &[f32],
    stride: usize,
    width: usize,
    scale: f32,
    keys: &mut [Floats],
) {
    for (block, panel) in rows
        .chunks(PANEL * stride)
        .zip(keys.chunks_exact_mut(width * 2))
    {
        for (place, row) in block.chunks(stride).enumerate() {
            let lines = panel.iter_mut().skip(place / LINE).step_by(2);
            for (line, x) in lines.zip(&row[..width]) {
                line.0[place % LINE] = x * scale;
            }
        }
    }
}

/// Packs values as rows: [panels][len][2 lines]; columns after the last are zero.
#[inline(always)]
fn pack_values(rows: &[f32], stride: usize, width: usize, values: &mut [Floats]) {
    let len = rows.len().div_ceil(stride);
    for (number, panel) in values.chunks_exact_mut(len * 2).enumerate() {
        for (lines, row) in panel.chunks_exact_mut(2).zip(rows.chunks(stride)) {
            let own = &row[number * PANEL..width.min((number + 1) * PANEL)];
            for (half, line) in lines.iter_mut().enumerate() {
                let own = &own[own.len().min(half * LINE)..own.len().min((half + 1) * LINE)];
                match <&[f32; LINE]>::try_from(own) {
                    Ok(own) => line.0 = *own,
                    Err(_) => {
                        line.0 = [0.0; LINE];
                        line.0[..own.len()].copy_from_slice(own);
                    }
                }
            }
        }
    }
}

/// Replaces the first `len` scores of a row by `e^(score − highest)` and returns their sum.
#[inline(always)]
fn weights<const FUSED: bool>(isa: Isa, row: &mut [f32], len: usize) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if isa.width() == Width::Bits512 {
        return avx512::exponentials(isa, row, len);
    }
    let _ = isa;
    exponentials::<FUSED>(&mut row[..len])
}

/// Writes `sums`, as many as fit, times `share`.
#[inline(always)]
fn scaled(sums: &[f32; PANEL], share: f32, out: &mut [f32]) {
    // For a whole panel the compiler knows the length of the loop.
    if let Ok(out) = <&mut [f32; PANEL]>::try_from(&mut *out) {
        for (to, sum) in out.iter_mut().zip(sums) {
            *to = sum * share;
        }
        return;
    }
    for (to, sum) in out.iter_mut().zip(sums) {
        *to = sum * share;
    }
}

/// Like [`weights`], for a whole row.
#[inline(always)]
pub(crate) fn exponentials<const FUSED: bool>(row: &mut [f32]) -> f32 {
    let (_, highest) = range(row);
    for x in row.iter_mut() {
        *x = exp::<FUSED>(*x - highest);
    }
    sum(row, |x| x)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Set;

    /// Attention by its definition, in f64.
    pub(crate) fn plain(qkv: &[f32], hidden: usize, heads: usize) -> Vec<f32> {
        let width = hidden / heads;
        let at = |token: usize, third: usize, head: usize, i: usize| {
            f64::from(qkv[token * 3 * hidden + third * hidden + head * width + i])
        };
        let len = qkv.len() / (3 * hidden);
        let mut out = vec![0.0; len * hidden];
        for head in 0..heads {
            for token in 0..len {
                let score = |key| {
                    (0..width)
                        .map(|i| at(token, 0, head, i) * at(key, 1, head, i))
                        .sum::<f64>()
                };
                let shares: Vec<f64> = (0..len)
                    .map(|key| (score(key) / (width as f64).sqrt()).exp())
                    .collect();
                let total: f64 = shares.iter().sum();
                for i in 0..width {
                    let sum = (0..len)
                        .map(|key| shares[key] * at(key, 2, head, i))
                        .sum::<f64>();
                    out[token * hidden + head * width + i] = (sum / total) as f32;
                }
            }
        }
        out
    }

    #[test]
    fn attention_is_its_definition_for_all_lengths_and_shapes() {
        let mut state = 7_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 8) as f32 / (1 << 24) as f32 - 0.5) * 4.0
        };
        let mut scratches: Vec<(Isa, AttentionScratch)> = Isa::all()
            .map(|isa| (isa, AttentionScratch::default()))
            .collect();
        // Long sequences come before short ones, because their leftover data must not matter.
        let lengths: &[usize] = if cfg!(miri) {
            &[33, 13, 1]
        } else {
            &[256, 255, 70, 33, 32, 13, 12, 2, 1]
        };
        let shapes: &[_] = if cfg!(miri) {
            &[(24, 2), (40, 1)]
        } else {
            &[(64, 2), (24, 2), (128, 2), (96, 2), (40, 1)]
        };
        for len in lengths.iter().copied() {
            for (hidden, heads) in shapes.iter().copied() {
                let qkv: Vec<f32> = (0..len * 3 * hidden).map(|_| next()).collect();
                let wanted = plain(&qkv, hidden, heads);
                let mut bits = None;
                for (isa, scratch) in &mut scratches {
                    let mut found = vec![f32::NAN; len * hidden];
                    attend(*isa, &qkv, hidden, heads, &mut found, scratch);
                    assert!(
                        wanted.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-5),
                        "{isa:?} {len} {hidden}"
                    );
                    if isa.set() != Set::Portable {
                        assert_eq!(
                            bits.get_or_insert_with(|| found.clone()),
                            &found,
                            "{isa:?} {len} {hidden}"
                        );
                    }
                }
            }
        }
        attend(
            Isa::best(),
            &[],
            64,
            2,
            &mut [],
            &mut AttentionScratch::default(),
        );
    }

    #[test]
    fn s39_a_score_that_is_not_a_number_spoils_its_token() {
        let mut qkv = vec![0.5; 3 * 64];
        qkv[3] = f32::NAN;
        let mut found = vec![0.0; 64];
        attend(
            Isa::best(),
            &qkv,
            64,
            2,
            &mut found,
            &mut AttentionScratch::default(),
        );
        assert!(
            found[..32].iter().all(|x| x.is_nan()) && found[32..].iter().all(|x| x.is_finite())
        );
    }
}
