use super::attention::{pack_keys, pack_values, shares};
use super::results::finish_floats;
use super::rounding::{encode, to_halves};
use super::*;
use crate::bf16::{Rows, round, widen};
use crate::tile::Line;
use crate::{Isa, hadamard};

fn numbers(count: usize, size: f32) -> Vec<f32> {
    let mut state = 7_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 8) as f32 / (1 << 24) as f32 - 0.5) * size
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// The sets that have these passes; none on an older machine.
fn sets() -> impl Iterator<Item = Isa> {
    Isa::all().filter(|isa| isa.has_bf16())
}

#[test]
fn conversion_rounds_as_the_definition_does() {
    for isa in sets() {
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
                assert!((low + step * f32::from(*code) - x).abs() <= 0.501 * step, "{x}");
            }
            let mut again = vec![7; len];
            assert_eq!(encode(isa, Rows::Halves(&halves), &mut turned, &mut again), (step, low));
            assert_eq!(codes, again);
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let mut floats = floats.clone();
                floats[len / 2 + 3] = bad;
                assert!(!encode(isa, Rows::Full(&floats), &mut turned, &mut codes).0.is_finite());
            }
        }
        // Turned, every number of it is the same.
        let mut row = [0.0; 32];
        row[0] = 2.5;
        assert_eq!(encode(isa, Rows::Full(&row), &mut [9.0; 32], &mut [9; 32]), (0.0, 2.5));
    }
}

#[test]
fn gelu_is_near_the_exact_one() {
    for isa in sets() {
        let x: Vec<f32> = (-320..320).map(|i| i as f32 / 40.0).collect();
        let mut out = vec![0.0; x.len()];
        let sums: Vec<[f32; PANEL]> = x.as_chunks().0.to_vec();
        let shares = vec![1.0; sums.len()];
        finish_floats(isa, &sums, &shares, &[0.0; PANEL], true, &mut out, PANEL, 0);
        for (x, found) in x.iter().zip(&out) {
            assert!((found - crate::elementwise::gelu::<false>(*x)).abs() < 1.4e-4, "{x}");
            assert!((found - crate::elementwise::gelu_near::<false>(*x)).abs() < 4e-6, "{x}");
        }
    }
}

#[test]
fn shares_are_those_of_the_exponentials() {
    for isa in sets() {
        for len in [1_usize, 2, 15, 16, 17, 31, 32, 33, 64, 255] {
            let padded = len.next_multiple_of(PANEL);
            let mut scores = numbers(padded, 40.0);
            // What stands behind the last must not matter.
            scores[len..].fill(f32::NAN);
            let mut weights = vec![7; padded];
            let share = f64::from(shares(isa, &scores, len, 0.25, &mut weights));
            let exact: Vec<f64> = scores[..len].iter().map(|x| (f64::from(*x) * 0.25).exp()).collect();
            let total: f64 = exact.iter().sum();
            for (weight, exact) in weights.iter().zip(&exact) {
                let found = f64::from(widen(*weight)) * share;
                assert!((found - exact / total).abs() < 0.005 * exact / total + 1e-30, "{len}");
            }
            assert!(weights[len..].iter().all(|x| *x == 0));
            scores[len / 2] = f32::NAN;
            assert!(shares(isa, &scores, len, 0.25, &mut weights).is_nan());
        }
        // Far apart: the smaller vanishes, nothing overflows.
        let mut weights = vec![7; PANEL];
        let mut scores = vec![-1e6; PANEL];
        scores[1] = 1e6;
        let share = shares(isa, &scores, 2, 1.0, &mut weights);
        assert!((widen(weights[1]) * share - 1.0).abs() < 0.004);
        assert_eq!(weights[0], 0);
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
                    assert_eq!(keys[line].0[key % LINE * 2 + i % 2], wanted, "key {key} {i}");
                    let line = i / PANEL * padded + key / 2 * 2 + i % PANEL / LINE;
                    assert_eq!(values[line].0[i % LINE * 2 + key % 2], wanted, "value {key} {i}");
                }
            }
        }
    }
}
