//! The memory layout of numbers, for all kernels: cache lines, panels, and the small conversions
//! that go with them. Uses no other module of this package.

/// Columns of one cache line.
pub(crate) const LINE: usize = 16;

/// Columns of a panel.
pub(crate) const PANEL: usize = 2 * LINE;

/// Rows of a tile.
pub(crate) const ROWS: usize = 12;

/// One aligned cache line. A load that crosses a line boundary costs twice as much.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Line<T>(pub T);

/// 16 columns of one step: one f32 each.
pub(crate) type Floats = Line<[f32; LINE]>;
/// 16 columns of two steps: two 16-bit numbers each.
pub(crate) type Pairs = Line<[i16; 2 * LINE]>;
/// 16 columns of four steps: four bytes each.
pub(crate) type Quads = Line<[i8; 4 * LINE]>;

/// The sums of a tile.
pub(crate) type Sums<T> = [[T; PANEL]; ROWS];

/// 16 columns of two steps: two numbers in bf16 each.
pub(crate) type Halves = Line<[u16; 2 * LINE]>;

/// Number of outputs whose weights stay in the first-level cache while all rows are processed.
pub(crate) const OUTPUTS: usize = 4;

/// The values that belong to the columns of one panel.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Columns {
    pub(crate) scale: [f32; PANEL],
    /// The sum of each column's codes.
    pub(crate) sum: [f32; PANEL],
    pub(crate) bias: [f32; PANEL],
}

/// Rows of the largest tile; rows of activations are padded to a multiple of it, with arbitrary
/// values.
#[cfg(target_arch = "x86_64")]
pub(crate) const ROWS_AT_ONCE: usize = 32;

/// Rows of activations that are multiplied.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) enum Rows<'a> {
    Full(&'a [f32]),
    Halves(&'a [u16]),
}

#[cfg(target_arch = "x86_64")]
impl Rows<'_> {
    /// The numbers in this range.
    pub(crate) fn part(self, range: std::ops::Range<usize>) -> Self {
        match self {
            Self::Full(rows) => Self::Full(&rows[range]),
            Self::Halves(rows) => Self::Halves(&rows[range]),
        }
    }
}

/// The destination of results.
#[cfg(target_arch = "x86_64")]
pub(crate) enum Out<'a> {
    Full(&'a mut [f32]),
    Halves(&'a mut [u16]),
}

#[cfg(target_arch = "x86_64")]
impl Out<'_> {
    /// The part that begins at number `at`.
    pub(crate) fn from(&mut self, at: usize) -> Out<'_> {
        match self {
            Out::Full(out) => Out::Full(&mut out[at..]),
            Out::Halves(out) => Out::Halves(&mut out[at..]),
        }
    }
}

/// The nearest bf16, ties to even; NaN stays NaN.
#[inline(always)]
pub(crate) fn round(x: f32) -> u16 {
    let bits = x.to_bits();
    if x.is_nan() {
        (bits >> 16) as u16 | 0x40
    } else {
        ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
    }
}

/// The same value as f32.
#[inline(always)]
pub(crate) fn widen(half: u16) -> f32 {
    f32::from_bits(u32::from(half) << 16)
}

/// The factor that converts a number to a count of steps; 0 if the step is zero or too small to
/// divide by.
pub(crate) fn inverse(step: f32) -> f32 {
    let inverse = 1.0 / step;
    if inverse.is_finite() { inverse } else { 0.0 }
}
