//! The inner loops of [`crate::tile`] and [`crate::halves`] in NEON, which every 64-bit ARM
//! processor has.
//!
//! Four rows by sixteen columns of sums at a time: with four registers of weights and four of
//! activations they fit in the 32 registers. If an intrinsic is not in stable Rust yet, the single
//! instruction is written here as assembly.

use std::arch::aarch64::*;
use std::arch::asm;

use crate::isa::has_dot;
use crate::layout::{Floats, LINE, OUTPUTS, PANEL, Pairs, Quads};

/// Rows of a tile.
const ROWS: usize = 4;

/// Calls a kernel for four rows at a time.
macro_rules! by_four_rows {
    ($kernel:ident, $rows:expr, $stride:expr, $sums:expr, ($($argument:expr),*)) => {
        for (tile, sums) in $sums.chunks_mut(ROWS).enumerate() {
            // SAFETY: the caller has checked that all rows are there, and that the machine has the
            // instructions.
            unsafe {
                let rows = $rows.as_ptr().add(tile * ROWS * $stride);
                match sums.len() {
                    1 => $kernel::<1>(rows, $stride, $($argument,)* sums),
                    2 => $kernel::<2>(rows, $stride, $($argument,)* sums),
                    3 => $kernel::<3>(rows, $stride, $($argument,)* sums),
                    _ => $kernel::<4>(rows, $stride, $($argument,)* sums),
                }
            }
        }
    };
}

/// Whether rows that begin every `stride` numbers contain `inputs` numbers each.
fn hold<T>(rows: &[T], count: usize, stride: usize, inputs: usize) -> bool {
    count == 0 || (inputs <= stride && rows.len() >= (count - 1) * stride + inputs)
}

/// Like [`crate::tile::floats`], for `count` rows.
pub(crate) fn floats(
    rows: &[f32],
    stride: usize,
    panel: &[Floats],
    count: usize,
    out: &mut [f32],
    out_stride: usize,
) {
    assert!(hold(rows, count, stride, panel.len() / 2) && hold(out, count, out_stride, PANEL));
    for first in (0..count).step_by(ROWS) {
        // SAFETY: all rows are there, and every processor of this architecture has the
        // instructions.
        unsafe {
            let (rows, out) = (
                rows.as_ptr().add(first * stride),
                out.as_mut_ptr().add(first * out_stride),
            );
            match count - first {
                1 => floats_of::<1>(rows, stride, panel, out, out_stride),
                2 => floats_of::<2>(rows, stride, panel, out, out_stride),
                3 => floats_of::<3>(rows, stride, panel, out, out_stride),
                _ => floats_of::<4>(rows, stride, panel, out, out_stride),
            }
        }
    }
}

/// Like [`crate::tile::pairs`], for as many rows as `sums` has.
pub(crate) fn pairs(rows: &[i16], stride: usize, panel: &[Pairs], sums: &mut [[i32; PANEL]]) {
    assert!(hold(rows, sums.len(), stride, panel.len()));
    by_four_rows!(pairs_of, rows, stride, sums, (panel));
}

/// Exact sums of rows of codes (0 to 255) over one panel of bytes, for as many rows as `sums` has.
/// `totals` contains the sum of each column's weights.
///
/// The instruction takes only signed bytes, so it gets `code − 128`, and each sum begins with 128
/// times the sum of its column's weights.
///
/// Panics if the processor lacks the instruction.
pub(crate) fn quads(
    rows: &[u8],
    stride: usize,
    panel: &[Quads],
    totals: &[f32; PANEL],
    sums: &mut [[i32; PANEL]],
) {
    assert!(has_dot() && hold(rows, sums.len(), stride, panel.len() * 2));
    // Whole numbers below 2²⁴, which f32 represents exactly.
    let starts = totals.map(|total| total as i32 * 128);
    by_four_rows!(quads_of, rows, stride, sums, (panel, &starts));
}

/// # Safety
/// For each kernel here: the machine has its instructions, and `R` rows, one every `stride`
/// numbers, have a number for each input of `panel`; if `out` is a pointer, `R` rows of it, one
/// every `out_stride` numbers, have space for a panel.
#[inline]
unsafe fn floats_of<const R: usize>(
    rows: *const f32,
    stride: usize,
    panel: &[Floats],
    out: *mut f32,
    out_stride: usize,
) {
    for half in 0..2 {
        // SAFETY: every row has the inputs of the panel, and four are read at once only if four
        // remain; a line is four registers, and so is half a row of sums.
        unsafe {
            let mut acc = [[vdupq_n_f32(0.0); 4]; R];
            let (fours, rest) = panel.as_chunks::<8>();
            for (number, lines) in fours.iter().enumerate() {
                let mut x = [vdupq_n_f32(0.0); R];
                for (r, x) in x.iter_mut().enumerate() {
                    *x = vld1q_f32(rows.add(r * stride + 4 * number));
                }
                macro_rules! step {
                    ($($lane:literal)*) => {$(
                        let w = four_floats(&lines[2 * $lane + half]);
                        for (acc, x) in acc.iter_mut().zip(x) {
                            for (acc, w) in acc.iter_mut().zip(w) {
                                *acc = vfmaq_laneq_f32::<$lane>(*acc, w, x);
                            }
                        }
                    )*};
                }
                step!(0 1 2 3);
            }
            for (number, lines) in rest.chunks_exact(2).enumerate() {
                let w = four_floats(&lines[half]);
                for (r, acc) in acc.iter_mut().enumerate() {
                    let x = *rows.add(r * stride + 4 * fours.len() + number);
                    for (acc, w) in acc.iter_mut().zip(w) {
                        *acc = vfmaq_n_f32(*acc, w, x);
                    }
                }
            }
            for (r, acc) in acc.iter().enumerate() {
                for (i, acc) in acc.iter().enumerate() {
                    vst1q_f32(out.add(r * out_stride + half * LINE + 4 * i), *acc);
                }
            }
        }
    }
}

fn four_floats(line: &Floats) -> [float32x4_t; 4] {
    // SAFETY: a line has the length of four registers.
    unsafe { [0, 4, 8, 12].map(|i| vld1q_f32(line.0.as_ptr().add(i))) }
}

/// Products of 16-bit numbers are added in 32 bits.
///
/// # Safety
/// As for [`floats_of`].
#[inline]
unsafe fn pairs_of<const R: usize>(
    rows: *const i16,
    stride: usize,
    panel: &[Pairs],
    sums: &mut [[i32; PANEL]],
) {
    for half in 0..2 {
        // SAFETY: every row has the inputs of the panel, two per step; a line is four registers.
        unsafe {
            let mut acc = [[vdupq_n_s32(0); 4]; R];
            for (step, lines) in panel.chunks_exact(2).enumerate() {
                let line = lines[half].0.as_ptr();
                // Each contains eight columns: of the first input, and of the second.
                let (left, right) = (vld2q_s16(line), vld2q_s16(line.add(LINE)));
                for (r, acc) in acc.iter_mut().enumerate() {
                    let x = rows.add(r * stride + 2 * step);
                    for (x, left, right) in [(*x, left.0, right.0), (*x.add(1), left.1, right.1)] {
                        acc[0] = vmlal_n_s16(acc[0], vget_low_s16(left), x);
                        acc[1] = vmlal_high_n_s16(acc[1], left, x);
                        acc[2] = vmlal_n_s16(acc[2], vget_low_s16(right), x);
                        acc[3] = vmlal_high_n_s16(acc[3], right, x);
                    }
                }
            }
            store(&acc, half, sums);
        }
    }
}

/// # Safety
/// As for [`floats_of`].
#[target_feature(enable = "dotprod")]
unsafe fn quads_of<const R: usize>(
    rows: *const u8,
    stride: usize,
    panel: &[Quads],
    starts: &[i32; PANEL],
    sums: &mut [[i32; PANEL]],
) {
    for half in 0..2 {
        // SAFETY: every row has the inputs of the panel, four per step, and sixteen are read at
        // once only if four steps remain; a line is four registers, and so is half of the starts.
        unsafe {
            let start = [0, 4, 8, 12].map(|i| vld1q_s32(starts.as_ptr().add(half * LINE + i)));
            let mut acc = [start; R];
            let (fours, rest) = panel.as_chunks::<8>();
            for (number, lines) in fours.iter().enumerate() {
                let mut x = [vdupq_n_s8(0); R];
                for (r, x) in x.iter_mut().enumerate() {
                    *x = signed(vld1q_u8(rows.add(r * stride + 16 * number)));
                }
                macro_rules! step {
                    ($($lane:literal)*) => {$(
                        let w = four_bytes(&lines[2 * $lane + half]);
                        for (acc, x) in acc.iter_mut().zip(x) {
                            for (acc, w) in acc.iter_mut().zip(w) {
                                *acc = dot::<$lane>(*acc, w, x);
                            }
                        }
                    )*};
                }
                step!(0 1 2 3);
            }
            for (number, lines) in rest.chunks_exact(2).enumerate() {
                let w = four_bytes(&lines[half]);
                for (r, acc) in acc.iter_mut().enumerate() {
                    let x = rows
                        .add(r * stride + 16 * fours.len() + 4 * number)
                        .cast::<u32>()
                        .read_unaligned();
                    let x = signed(vreinterpretq_u8_u32(vdupq_n_u32(x)));
                    for (acc, w) in acc.iter_mut().zip(w) {
                        *acc = dot::<0>(*acc, w, x);
                    }
                }
            }
            store(&acc, half, sums);
        }
    }
}

/// Codes from 0 to 255 as numbers from −128 to 127.
fn signed(codes: uint8x16_t) -> int8x16_t {
    // SAFETY: every processor of this architecture has the instruction.
    unsafe { vreinterpretq_s8_u8(veorq_u8(codes, vdupq_n_u8(0x80))) }
}

fn four_bytes(line: &Quads) -> [int8x16_t; 4] {
    // SAFETY: a line has the length of four registers.
    unsafe { [0, 16, 32, 48].map(|i| vld1q_s8(line.0.as_ptr().add(i))) }
}

/// Adds to each number of `acc` the products of its four bytes of `w` with the four bytes `LANE` of
/// `x`.
#[inline]
#[target_feature(enable = "dotprod")]
fn dot<const LANE: i32>(mut acc: int32x4_t, w: int8x16_t, x: int8x16_t) -> int32x4_t {
    // SAFETY: uses only registers.
    unsafe {
        asm!(
            "sdot {acc:v}.4s, {w:v}.16b, {x:v}.4b[{lane}]",
            acc = inout(vreg) acc,
            w = in(vreg) w,
            x = in(vreg) x,
            lane = const LANE,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    acc
}

/// Writes 16 sums of each row.
fn store<const R: usize>(acc: &[[int32x4_t; 4]; R], half: usize, sums: &mut [[i32; PANEL]]) {
    for (acc, sums) in acc.iter().zip(sums) {
        for (acc, sums) in acc.iter().zip(sums[half * LINE..].as_chunks_mut::<4>().0) {
            // SAFETY: four numbers are a register.
            unsafe { vst1q_s32(sums.as_mut_ptr(), *acc) };
        }
    }
}

/// Four half-precision numbers.
type FourHalves = [u8; 8];

/// Sums of `R` rows times `O` outputs of half-precision weights: each is the sum of four chains of
/// fused multiply-adds.
///
/// # Safety
/// `rows` contains `R` rows and `weights` `O`, each of `inputs` numbers, a multiple of 4.
pub(crate) unsafe fn halves<const R: usize, const O: usize>(
    rows: &[f32],
    weights: &[u8],
    inputs: usize,
    sums: &mut [[f32; OUTPUTS]],
) {
    // SAFETY: `at + 4 <= inputs`, so every load stays within the bounds that the caller guarantees.
    unsafe {
        let mut acc = [[vdupq_n_f32(0.0); O]; R];
        for at in (0..inputs).step_by(4) {
            let mut w = [vdupq_n_f32(0.0); O];
            for (o, w) in w.iter_mut().enumerate() {
                *w = widen(
                    weights
                        .as_ptr()
                        .add((o * inputs + at) * 2)
                        .cast::<FourHalves>()
                        .read(),
                );
            }
            for (r, acc) in acc.iter_mut().enumerate() {
                let x = vld1q_f32(rows.as_ptr().add(r * inputs + at));
                for (acc, w) in acc.iter_mut().zip(w) {
                    *acc = vfmaq_f32(*acc, x, w);
                }
            }
        }
        for (acc, sums) in acc.iter().zip(sums) {
            for (acc, sum) in acc.iter().zip(sums) {
                *sum = vaddvq_f32(*acc);
            }
        }
    }
}

fn widen(numbers: FourHalves) -> float32x4_t {
    // SAFETY: every processor of this architecture has the instructions; only registers are used.
    unsafe {
        let from = vcreate_u8(u64::from_le_bytes(numbers));
        let to: float32x4_t;
        asm!(
            "fcvtl {to:v}.4s, {from:v}.4h",
            from = in(vreg) from,
            to = out(vreg) to,
            options(pure, nomem, nostack, preserves_flags),
        );
        to
    }
}
