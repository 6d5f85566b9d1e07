//! The arithmetic between the matrix products: plain loops over slices that the compiler turns into
//! vector code, once for every width of registers ([`vectorised`]).
//!
//! candle has these as separate tensor operations, each with its own pass over memory and a scalar
//! `erf` and `exp`; fused and branch-free they cost a fraction. Sums are computed in sixteen fixed
//! lanes, so a result does not depend on how many texts are computed together. `e^x` and GELU use
//! fused multiply-adds if the processor has them, so the last digits of the portable loops differ
//! from those of all others.

use crate::Isa;
use crate::layout::PANEL;

const LANES: usize = 16;

/// A function whose body is compiled for every register width, and the code that selects one.
macro_rules! vectorised {
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident($isa:ident: Isa $(, $arg:ident: $type:ty)* $(,)?) $body:block
    ) => {
        $(#[$meta])*
        $vis fn $name($isa: Isa $(, $arg: $type)*) {
            #[inline(always)]
            #[allow(dead_code, reason = "not every body looks at it")]
            fn plain<const FUSED: bool>($isa: Isa $(, $arg: $type)*) $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
                fn in_512_bits($isa: Isa $(, $arg: $type)*) {
                    plain::<true>($isa $(, $arg)*)
                }
                #[target_feature(enable = "avx2,fma")]
                fn in_256_bits($isa: Isa $(, $arg: $type)*) {
                    plain::<true>($isa $(, $arg)*)
                }
                match $isa.width() {
                    // SAFETY: an `Isa` only exists if the machine has its instructions.
                    $crate::isa::Width::Bits512 => return unsafe { in_512_bits($isa $(, $arg)*) },
                    // SAFETY: as above.
                    $crate::isa::Width::Bits256 => return unsafe { in_256_bits($isa $(, $arg)*) },
                    _ => {}
                }
            }
            plain::<{ cfg!(any(target_arch = "aarch64", target_feature = "fma")) }>($isa $(, $arg)*)
        }
    };
}
pub(crate) use vectorised;

/// The input range of [`exp`]; other inputs are clamped to it.
pub(crate) const EXP_RANGE: (f32, f32) = (-80.0, 88.0);

/// ln 2, split into two parts.
pub(crate) const LN2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);

/// Coefficients of (e^r − 1 − r) / r², highest power first (from the Cephes library's `expf`).
pub(crate) const EXP_TERMS: [f32; 6] = [
    1.987_569_1e-4,
    1.398_2e-3,
    8.333_452e-3,
    4.166_579_6e-2,
    1.666_666_6e-1,
    0.5,
];

/// `e^x`, with a relative error below 3e-7. `x` is clamped to [`EXP_RANGE`]; NaN gives NaN.
///
/// Reduction `x = n·ln 2 + r` with ln 2 in two parts and a polynomial for `e^r` (Cody and Waite's
/// scheme).
#[inline(always)]
pub(crate) fn exp<const FUSED: bool>(x: f32) -> f32 {
    // Adding 1.5·2²³ rounds to the nearest integer, which is then in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(EXP_RANGE.0, EXP_RANGE.1);
    let shifted = fma::<FUSED>(x, std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = fma::<FUSED>(-n, LN2.1, fma::<FUSED>(-n, LN2.0, x));
    let mut p = EXP_TERMS[0];
    for term in &EXP_TERMS[1..] {
        p = fma::<FUSED>(p, r, *term);
    }
    let two_to_n = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    (fma::<FUSED>(p, r * r, r) + 1.0) * two_to_n
}

/// `a·b + c`, rounded once when `FUSED`.
#[inline(always)]
pub(crate) fn fma<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// `x · Φ(x)`, the exact GELU; `erf` by Abramowitz and Stegun 7.1.26 (absolute error below 2e-7).
#[inline(always)]
pub(crate) fn gelu<const FUSED: bool>(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / fma::<FUSED>(0.327_591_1, z, 1.0);
    let mut p = 1.061_405_4;
    for c in [-1.453_152, 1.421_413_7, -0.284_496_73, 0.254_829_6] {
        p = fma::<FUSED>(p, t, c);
    }
    // Half of erfc(z), the part of the distribution beyond Φ(|x|).
    let tail = 0.5 * p * t * exp::<FUSED>(-z * z);
    let phi = if x < 0.0 { tail } else { 1.0 - tail };
    x * phi
}

/// Φ is treated as 0 or 1 outside this range; the error at the limit is 1.3e-4.
pub(crate) const GELU_REACH: f32 = 4.0;

/// (Φ(x) − ½) / x as a polynomial in x², highest power first; fitted so that the largest error of
/// GELU is as small as possible.
pub(crate) const GELU_TERMS: [f32; 8] = [
    -4.392_854_7e-10,
    5.061_025e-8,
    -2.312_156_8e-6,
    5.742_812_2e-5,
    -8.830_204_6e-4,
    9.040_619e-3,
    -6.506_567_5e-2,
    3.981_875_2e-1,
];

/// GELU with an error of at most 1.4e-4, without a division. Rounding to bytes or bf16 loses as
/// much anyway.
#[inline(always)]
pub(crate) fn gelu_near<const FUSED: bool>(x: f32) -> f32 {
    let u = x.clamp(-GELU_REACH, GELU_REACH);
    let z = u * u;
    let mut p = GELU_TERMS[0];
    for term in &GELU_TERMS[1..] {
        p = fma::<FUSED>(p, z, *term);
    }
    x * fma::<FUSED>(u, p, 0.5)
}

/// Writes one row of one panel: the numbers of `value`, with GELU if requested (`NEAR`:
/// [`gelu_near`]).
#[inline(always)]
pub(crate) fn finish<const FUSED: bool, const NEAR: bool>(
    value: impl Fn(usize) -> f32,
    with_gelu: bool,
    out: &mut [f32],
) {
    let gelu = |x: f32| {
        if NEAR {
            gelu_near::<FUSED>(x)
        } else {
            gelu::<FUSED>(x)
        }
    };
    // For a whole panel the compiler knows the length of the loop.
    if let Ok(out) = <&mut [f32; PANEL]>::try_from(&mut *out) {
        if with_gelu {
            for (i, to) in out.iter_mut().enumerate() {
                *to = gelu(value(i));
            }
        } else {
            for (i, to) in out.iter_mut().enumerate() {
                *to = value(i);
            }
        }
        return;
    }
    for (i, to) in out.iter_mut().enumerate() {
        *to = if with_gelu { gelu(value(i)) } else { value(i) };
    }
}

vectorised! {
    /// Adds `bias` to each row of `rows`, and applies GELU if requested.
    pub fn add_bias(isa: Isa, rows: &mut [f32], bias: &[f32], with_gelu: bool) {
        let _ = isa;
        for row in rows.chunks_exact_mut(bias.len()) {
            for (x, b) in row.iter_mut().zip(bias) {
                *x += b;
            }
            if with_gelu {
                for x in row {
                    *x = gelu::<FUSED>(*x);
                }
            }
        }
    }
}

vectorised! {
    /// Adds `more` to the first numbers of `to`.
    pub fn add(isa: Isa, to: &mut [f32], more: &[f32]) {
        let _ = isa;
        for (x, y) in to.iter_mut().zip(more) {
            *x += y;
        }
    }
}

vectorised! {
    /// Adds each row of `rows` to `sum`, which is as long as a row.
    pub fn add_rows(isa: Isa, sum: &mut [f32], rows: &[f32]) {
        let _ = isa;
        for row in rows.chunks_exact(sum.len()) {
            for (x, y) in sum.iter_mut().zip(row) {
                *x += y;
            }
        }
    }
}

/// The sum of `of(value)` over all values, in sixteen lanes.
#[inline(always)]
pub(crate) fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += of(*x);
        }
    }
    for (lane, x) in lanes.iter_mut().zip(rest) {
        *lane += of(*x);
    }
    total(lanes)
}

/// The sum of all lanes: first those that are eight apart are added, then four, two, one.
#[inline(always)]
pub(crate) fn total(mut lanes: [f32; LANES]) -> f32 {
    for apart in [8, 4, 2, 1] {
        for i in 0..apart {
            lanes[i] += lanes[i + apart];
        }
    }
    lanes[0]
}

/// The smallest and the largest of `values`, ignoring NaN.
#[inline(always)]
pub(crate) fn range(values: &[f32]) -> (f32, f32) {
    let (mut low, mut high) = ([f32::INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for ((low, high), x) in low.iter_mut().zip(&mut high).zip(chunk) {
            *low = if *x < *low { *x } else { *low };
            *high = if *x > *high { *x } else { *high };
        }
    }
    let low = low
        .iter()
        .chain(rest)
        .fold(f32::INFINITY, |a, b| if *b < a { *b } else { a });
    let high = high
        .iter()
        .chain(rest)
        .fold(f32::NEG_INFINITY, |a, b| if *b > a { *b } else { a });
    (low, high)
}

#[inline(always)]
fn norm_row(row: &mut [f32], weight: &[f32], bias: &[f32], eps: f32) {
    let width = row.len() as f32;
    let mean = sum(row, |x| x) / width;
    let variance = sum(row, |x| (x - mean) * (x - mean)) / width;
    let scale = 1.0 / (variance + eps).sqrt();
    for ((x, w), b) in row.iter_mut().zip(weight).zip(bias) {
        *x = (*x - mean) * scale * w + b;
    }
}

vectorised! {
    /// A layer norm: `weight · (x − mean) / √(variance + eps) + bias`, row by row, in place.
    pub fn layer_norm(isa: Isa, rows: &mut [f32], weight: &[f32], bias: &[f32], eps: f32) {
        let _ = isa;
        for row in rows.chunks_exact_mut(weight.len()) {
            norm_row(row, weight, bias, eps);
        }
    }
}

vectorised! {
    /// Computes the layer norm of `residual + rows` and stores it in `residual`.
    pub fn add_and_norm(isa: Isa, residual: &mut [f32], rows: &[f32], weight: &[f32], bias: &[f32], eps: f32) {
        let _ = isa;
        for (row, more) in residual.chunks_exact_mut(weight.len()).zip(rows.chunks_exact(weight.len())) {
            for (x, y) in row.iter_mut().zip(more) {
                *x += y;
            }
            norm_row(row, weight, bias, eps);
        }
    }
}

/// Writes the rows of `from` (each `width` long) as columns of `to` (rows of `stride`), from column
/// `column` on.
///
/// Sixteen rows at a time, so that each write fills a whole cache line.
pub fn transpose(from: &[f32], width: usize, to: &mut [f32], stride: usize, column: usize) {
    const ROWS: usize = 16;
    for (number, block) in from.chunks(ROWS * width).enumerate() {
        let rows = block.len() / width;
        let start = column + number * ROWS;
        for (i, line) in to.chunks_exact_mut(stride).take(width).enumerate() {
            for (place, row) in line[start..start + rows]
                .iter_mut()
                .zip(block.chunks_exact(width))
            {
                *place = row[i];
            }
        }
    }
}

/// Scales `vector` to length 1 (the sum of squares in f64); `false` if its length is not finite and
/// positive.
pub fn normalise(vector: &mut [f32]) -> bool {
    let length = vector
        .iter()
        .map(|x| f64::from(*x) * f64::from(*x))
        .sum::<f64>()
        .sqrt();
    if !length.is_finite() || length <= 0.0 {
        return false;
    }
    vector
        .iter_mut()
        .for_each(|x| *x = (f64::from(*x) / length) as f32);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_and_gelu_keep_their_error_bounds() {
        let step = if cfg!(miri) { 100 } else { 1 };
        for i in (-8000..=8800).step_by(step) {
            let x = i as f32 / 100.0;
            let exact = f64::from(x).exp();
            for found in [exp::<true>(x), exp::<false>(x)] {
                assert!(
                    ((f64::from(found) - exact) / exact).abs() < 3e-7,
                    "exp({x})"
                );
            }
        }
        // Φ from the series of erf around 0 in f64, independent of the code under test.
        let erf = |z: f64| {
            let (mut term, mut total) = (z, z);
            for n in 1..200 {
                term *= -z * z / n as f64;
                total += term / (2 * n + 1) as f64;
            }
            total * 2.0 / std::f64::consts::PI.sqrt()
        };
        for i in (-400..=400).step_by(step) {
            let x = i as f32 / 100.0;
            let exact = f64::from(x) * 0.5 * (1.0 + erf(f64::from(x) / 2f64.sqrt()));
            for found in [gelu::<true>(x), gelu::<false>(x)] {
                assert!((f64::from(found) - exact).abs() < 1e-6, "gelu({x})");
            }
        }
        for i in -1000..=1000 {
            let x = i as f32 / 100.0;
            for near in [gelu_near::<true>(x), gelu_near::<false>(x)] {
                assert!((near - gelu::<true>(x)).abs() < 1.4e-4, "gelu({x})");
            }
        }
        assert!(gelu_near::<true>(f32::NAN).is_nan());
        assert!(gelu::<true>(-40.0).abs() < 1e-30);
        assert_eq!(gelu::<true>(40.0), 40.0);
    }

    #[test]
    fn transposing_puts_rows_into_columns() {
        let mut to = vec![0.0; 2 * 40];
        let from: Vec<f32> = (0..36).map(|i| i as f32).collect();
        transpose(&from, 2, &mut to, 40, 3);
        assert_eq!((to[3], to[43], to[20], to[60]), (0.0, 1.0, 34.0, 35.0));
        assert_eq!((to[2], to[21]), (0.0, 0.0));
    }

    #[test]
    fn layer_norm_centres_and_scales() {
        for isa in Isa::all() {
            let mut rows = vec![1.0, 2.0, 3.0, 4.0];
            layer_norm(isa, &mut rows, &[2.0; 4], &[1.0; 4], 0.0);
            let expected = [-1.683_281_6, 0.105_572_8, 1.894_427_2, 3.683_281_6];
            assert!(
                rows.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5),
                "{rows:?}"
            );
            let mut sum = vec![0.0, 4.0, 1.0, 1.0];
            add_and_norm(
                isa,
                &mut sum,
                &[1.0, -2.0, 2.0, 3.0],
                &[2.0; 4],
                &[1.0; 4],
                0.0,
            );
            assert_eq!(sum, rows);
        }
    }

    #[test]
    fn s39_a_vector_without_a_length_is_not_normalised() {
        assert!(!normalise(&mut [0.0, 0.0]));
        assert!(!normalise(&mut [f32::NAN, 1.0]));
        assert!(!normalise(&mut [f32::INFINITY, 1.0]));
    }
}
