use super::attention::{
    exponentials, largest, pack_float_keys, pack_keys, pack_values, shares, shares_in_words,
    to_words,
};
use super::results::{finish_bytes, finish_bytes_in_halves, finish_floats};
use super::rounding::{encode, to_halves};
use super::*;
use crate::attention;
use crate::isa::Width;
use crate::layout::{Columns, Line, Rows, round, widen};
use crate::{Isa, hadamard};

fn numbers(count: usize, size: f32) -> Vec<f32> {
    let mut state = 7_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 8) as f32 / (1 << 24) as f32 - 0.5) * size
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// The sets that have these functions; none on an older machine.
fn sets() -> impl Iterator<Item = Isa> {
    Isa::all().filter(|isa| isa.width() == Width::Bits512)
}

fn sets_with_bf16() -> impl Iterator<Item = Isa> {
    sets().filter(|isa| isa.has_bf16())
}

#[test]
fn conversion_rounds_as_the_definition_does() {
    for isa in sets_with_bf16() {
        for len in [0, 1, 31, 32, 100] {
            let from = numbers(len, 100.0);
            let mut to = vec![7; len];
            to_halves(isa, &from, &mut to);
            assert!(from.iter().zip(&to).all(|(from, to)| round(*from) == *to));
        }
    }
}

#[test]
fn codes_are_the_nearest_and_what_is_not_finite_is_seen() {
    for isa in sets() {
        for len in [32, 64, 96, 384] {
            let halves: Vec<u16> = numbers(len, 9.0).into_iter().map(round).collect();
            let floats: Vec<f32> = halves.iter().map(|x| widen(*x)).collect();
            let mut wanted = floats.clone();
            hadamard::turn(&mut wanted);
            let (mut codes, mut turned) = (vec![7; len], vec![7.0; len]);
            let (step, low) = encode(isa, Rows::Full(&floats), &mut turned, &mut codes);
            assert_eq!(turned, wanted);
            assert_eq!(low, wanted.iter().copied().fold(f32::INFINITY, f32::min));
            for (x, code) in wanted.iter().zip(&codes) {
                assert!(
                    (low + step * f32::from(*code) - x).abs() <= 0.501 * step,
                    "{x}"
                );
            }
            let mut again = vec![7; len];
            assert_eq!(
                encode(isa, Rows::Halves(&halves), &mut turned, &mut again),
                (step, low)
            );
            assert_eq!(codes, again);
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let mut floats = floats.clone();
                floats[len / 2 + 3] = bad;
                assert!(
                    !encode(isa, Rows::Full(&floats), &mut turned, &mut codes)
                        .0
                        .is_finite()
                );
            }
        }
        // After turning, all its numbers are equal.
        let mut row = [0.0; 32];
        row[0] = 2.5;
        assert_eq!(
            encode(isa, Rows::Full(&row), &mut [9.0; 32], &mut [9; 32]),
            (0.0, 2.5)
        );
    }
}

#[test]
fn gelu_is_near_the_exact_one() {
    let x: Vec<f32> = (-320..320).map(|i| i as f32 * (1.0 / 40.0)).collect();
    for isa in sets() {
        let mut out = vec![0.0; x.len()];
        let sums: Vec<i32> = (-320..320).collect();
        let (sums, rows) = (sums.as_chunks().0, [(1.0 / 40.0, 0.0); 20]);
        finish_bytes(isa, sums, &rows, &PLAIN, true, &mut out, PANEL, 0);
        for (x, found) in x.iter().zip(&out) {
            assert!(
                (found - crate::elementwise::gelu::<false>(*x)).abs() < 1.4e-4,
                "{x}"
            );
            assert_eq!(*found, crate::elementwise::gelu_near::<true>(*x), "{x}");
        }
        if isa.has_bf16() {
            let mut again = vec![7.0; x.len()];
            finish_floats(
                isa,
                x.as_chunks().0,
                &[1.0; 20],
                &[0.0; PANEL],
                true,
                &mut again,
                PANEL,
                0,
            );
            assert_eq!(again, out);
        }
    }
}

/// Columns that do not change the sums.
const PLAIN: Columns = Columns {
    scale: [1.0; PANEL],
    sum: [0.0; PANEL],
    bias: [0.0; PANEL],
};

#[test]
fn results_in_halves_are_the_nearest_ones() {
    for isa in sets() {
        // All values between two neighbours, NaN, and numbers that become infinite.
        let steps = (-64..64).map(|i| 1.0 + i as f32 / 2048.0);
        let ends = [
            f32::MAX,
            f32::MIN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            f32::from_bits(0x7f80_0001),
        ];
        for step in steps.chain(ends) {
            let mut sums = [[0; PANEL]; 2];
            sums[1] = std::array::from_fn(|i| i as i32 - 16);
            let (mut full, mut halves) = (vec![7.0; 3 * PANEL], vec![7; 3 * PANEL]);
            let rows = [(step, 0.0); 2];
            finish_bytes(isa, &sums, &rows, &PLAIN, false, &mut full, PANEL, PANEL);
            finish_bytes_in_halves(isa, &sums, &rows, &PLAIN, false, &mut halves, PANEL, PANEL);
            for (full, half) in full[PANEL..].iter().zip(&halves[PANEL..]) {
                let (found, wanted) = (widen(*half), widen(round(*full)));
                // Two codes may be equally near.
                let alike = found == wanted || (found - full).abs() == (wanted - full).abs();
                assert!(
                    if full.is_finite() {
                        alike
                    } else {
                        !found.is_finite()
                    },
                    "{isa:?} {full}: {found}"
                );
            }
            assert!(halves[..PANEL].iter().all(|x| *x == 7), "another column's");
        }
    }
}

#[test]
fn floats_become_keys_and_weights_as_in_the_plain_loops() {
    for isa in sets() {
        for (len, width) in [(1_usize, 16), (16, 32), (33, 64), (70, 48)] {
            let rows = numbers(len * 3 * width, 4.0);
            let lines = len.div_ceil(PANEL) * width * 2;
            let (mut keys, mut wanted) = (
                vec![Line([9.0; LINE]); lines],
                vec![Line([9.0; LINE]); lines],
            );
            pack_float_keys(isa, &rows, 3 * width, len, width, 0.3, &mut keys);
            attention::pack_keys(&rows, 3 * width, width, 0.3, &mut wanted);
            for (number, (key, wanted)) in keys.iter().zip(&wanted).enumerate() {
                let first = number / (2 * width) * PANEL + number % 2 * LINE;
                let there = len.saturating_sub(first).min(LINE);
                assert_eq!(
                    key.0[..there],
                    wanted.0[..there],
                    "line {number} of {len} keys"
                );
            }
        }
        for len in [1_usize, 2, 15, 16, 17, 31, 32, 33, 64, 255] {
            let mut scores = numbers(len.next_multiple_of(PANEL), 200.0);
            scores[len..].fill(f32::NAN);
            let mut wanted = scores[..len].to_vec();
            let sum = attention::exponentials::<true>(&mut wanted);
            assert_eq!(exponentials(isa, &mut scores, len), sum);
            assert_eq!(scores[..len], wanted);
            scores[len / 2] = f32::NAN;
            assert!(exponentials(isa, &mut scores, len).is_nan());
        }
    }
}

#[test]
fn halves_become_words_on_the_scale_of_the_largest() {
    for isa in sets() {
        for (len, width) in [(1_usize, 32), (5, 64)] {
            let stride = 3 * width;
            let mut rows: Vec<u16> = numbers(len * stride, 9.0).into_iter().map(round).collect();
            let own = |i: usize| i / width * stride + i % width;
            let size = (0..len * width)
                .map(|i| widen(rows[own(i)]).abs())
                .fold(0.0, f32::max);
            assert_eq!(largest(isa, &rows, stride, len, width), size);
            let mut words = vec![7; len * width];
            to_words(isa, &rows, stride, len, width, 32_767.0 / size, &mut words);
            for (i, word) in words.iter().enumerate() {
                let wanted = (widen(rows[own(i)]) * (32_767.0 / size)).round_ties_even();
                assert_eq!(f32::from(word.cast_signed()), wanted);
            }
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                rows[own(len * width - 1)] = round(bad);
                assert!(!largest(isa, &rows, stride, len, width).is_finite());
            }
        }
    }
}

#[test]
fn shares_are_those_of_the_exponentials() {
    for isa in sets_with_bf16() {
        for len in [1_usize, 2, 15, 16, 17, 31, 32, 33, 64, 255] {
            let padded = len.next_multiple_of(PANEL);
            let mut scores = numbers(padded, 40.0);
            // Values after the last must not matter.
            scores[len..].fill(f32::NAN);
            let mut weights = vec![7; padded];
            let share = f64::from(shares(isa, &scores, len, 0.25, &mut weights));
            let exact: Vec<f64> = scores[..len]
                .iter()
                .map(|x| (f64::from(*x) * 0.25).exp())
                .collect();
            let total: f64 = exact.iter().sum();
            for (weight, exact) in weights.iter().zip(&exact) {
                let found = f64::from(widen(*weight)) * share;
                assert!(
                    (found - exact / total).abs() < 0.005 * exact / total + 1e-30,
                    "{len}"
                );
            }
            assert!(weights[len..].iter().all(|x| *x == 0));
            scores[len / 2] = f32::NAN;
            assert!(shares(isa, &scores, len, 0.25, &mut weights).is_nan());
        }
        // Far apart: the smaller becomes zero, and nothing overflows.
        let mut weights = vec![7; PANEL];
        let mut scores = vec![-1e6; PANEL];
        scores[1] = 1e6;
        let share = shares(isa, &scores, 2, 1.0, &mut weights);
        assert!((widen(weights[1]) * share - 1.0).abs() < 0.004);
        assert_eq!(weights[0], 0);
    }
}

#[test]
fn shares_of_integers_are_those_of_the_exponentials() {
    for isa in sets() {
        for len in [1_usize, 2, 15, 16, 17, 31, 32, 33, 64, 255] {
            let padded = len.next_multiple_of(PANEL);
            let mut scores: Vec<i32> = numbers(padded, 40_000.0)
                .into_iter()
                .map(|x| x as i32)
                .collect();
            let highest = *scores[..len].iter().max().unwrap();
            // Values after the last must not matter.
            scores[len..].fill(i32::MAX);
            let exact: Vec<f64> = scores[..len]
                .iter()
                .map(|score| (f64::from(score - highest) * 2e-4).exp())
                .collect();
            let room = 1_048_576.0;
            let most = (room / exact.iter().sum::<f64>()).min(32_767.0);
            let mut weights = vec![7; padded];
            let sum = shares_in_words(isa, &mut scores, len, 2e-4, room as f32, &mut weights);
            assert_eq!(sum, weights.iter().map(|x| f32::from(*x)).sum());
            assert!(f64::from(sum) <= room + len as f64 / 2.0, "{len}");
            for (weight, exact) in weights.iter().zip(exact) {
                assert!(
                    (f64::from(*weight) - most * exact).abs() < 0.6 + 2e-4 * most * exact,
                    "{len}"
                );
            }
            assert!(weights[len..].iter().all(|x| *x == 0));
        }
        // As far apart as possible: the smaller becomes zero, and nothing wraps.
        let (mut scores, mut weights) = (vec![-(1 << 30); PANEL], vec![7; PANEL]);
        scores[1] = 1 << 30;
        let sum = shares_in_words(isa, &mut scores, 2, 1.0, 1e6, &mut weights);
        assert!(
            sum > 32_760.0 && weights[0] == 0 && f32::from(weights[1]) == sum,
            "{weights:?}"
        );
    }
}

#[test]
fn keys_become_columns_and_values_pairs_of_rows() {
    for isa in sets() {
        for (len, width) in [(1_usize, 32), (16, 32), (33, 64), (70, 32)] {
            let stride = 3 * width;
            let rows: Vec<u16> = (0..len * stride).map(|i| i as u16 + 1).collect();
            let padded = len.next_multiple_of(PANEL);
            let mut keys = vec![Line([9; PANEL]); padded / PANEL * width];
            pack_keys(isa, &rows, stride, len, width, &mut keys);
            let mut values = vec![Line([9; PANEL]); width / PANEL * padded];
            pack_values(isa, &rows, stride, len, width, &mut values);
            for key in 0..padded {
                for i in 0..width {
                    let wanted = if key < len { rows[key * stride + i] } else { 0 };
                    let line = key / PANEL * width + i / 2 * 2 + key % PANEL / LINE;
                    assert_eq!(
                        keys[line].0[key % LINE * 2 + i % 2],
                        wanted,
                        "key {key} {i}"
                    );
                    let line = i / PANEL * padded + key / 2 * 2 + i % PANEL / LINE;
                    assert_eq!(
                        values[line].0[i % LINE * 2 + key % 2],
                        wanted,
                        "value {key} {i}"
                    );
                }
            }
        }
    }
}
