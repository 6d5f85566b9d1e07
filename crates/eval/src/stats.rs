//! Percentiles, and the paired bootstrap, which tests whether a difference is more than chance.

use schemars::JsonSchema;
use serde::Serialize;

/// Times of many searches, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Latency {
    /// The median time.
    pub p50_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
}

impl Latency {
    /// Percentiles of times in milliseconds; 0 for an empty list.
    pub fn of(times: &[f64]) -> Self {
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        Self {
            p50_ms: percentile(&sorted, 0.50),
            p99_ms: percentile(&sorted, 0.99),
        }
    }
}

/// The smallest value such that at least the share `p` of all values is not above it (nearest
/// rank).
fn percentile(sorted: &[f64], p: f64) -> f64 {
    let rank = (p * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(0.0)
}

/// A mean difference and the interval that contains 95 % of its resamples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// The mean over all questions.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// How often the questions are resampled.
const RESAMPLES: usize = 2_000;

/// The mean of `a − b` over the same questions with its 95 % interval by the percentile bootstrap
/// (Efron 1979). The same numbers give the same interval: the generator is seeded.
///
/// # Panics
/// Never; if the lists differ in length, the rest of the longer one is ignored.
pub fn paired(a: &[f64], b: &[f64]) -> Difference {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let count = differences.len();
    if count == 0 {
        return Difference::default();
    }
    let mut random = SplitMix(0x5eed);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| mean_of_draw(&differences, count, &mut random))
        .collect();
    means.sort_by(f64::total_cmp);
    Difference {
        mean: differences.iter().sum::<f64>() / count as f64,
        low: percentile(&means, 0.025),
        high: percentile(&means, 0.975),
    }
}

/// The mean of `count` differences that are drawn with replacement.
fn mean_of_draw(differences: &[f64], count: usize, random: &mut SplitMix) -> f64 {
    let sum: f64 = (0..count).map(|_| differences[random.below(count)]).sum();
    sum / count as f64
}

/// SplitMix64 (Steele, Lea and Flood 2014): small, seeded, the same on every machine.
struct SplitMix(u64);

impl SplitMix {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // The high half of the product is uniform over 0..bound, up to a bias of bound in 2⁶⁴.
        ((u128::from(z ^ (z >> 31)) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let times: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!(
            Latency::of(&times),
            Latency {
                p50_ms: 100.0,
                p99_ms: 198.0
            }
        );
        assert_eq!(
            Latency::of(&[7.0]),
            Latency {
                p50_ms: 7.0,
                p99_ms: 7.0
            }
        );
        assert_eq!(Latency::of(&[]), Latency::default());
    }

    #[test]
    fn a_clear_difference_is_told_from_luck() {
        let better: Vec<f64> = (0..200).map(|n| f64::from(n % 2)).collect();
        let worse: Vec<f64> = (0..200)
            .map(|n| f64::from(n % 2) - 0.1 - 0.1 * f64::from(n % 3))
            .collect();
        let clear = paired(&better, &worse);
        assert!(
            clear.low > 0.0 && clear.low < clear.mean && clear.mean < clear.high,
            "{clear:?}"
        );
        let noise: Vec<f64> = (0..200).map(|n| f64::from((n + 1) % 2)).collect();
        let luck = paired(&better, &noise);
        assert!(luck.low < 0.0 && luck.high > 0.0, "{luck:?}");
        assert_eq!(paired(&better, &better), Difference::default());
        assert_eq!(paired(&better, &worse), clear, "seeded");
    }
}
