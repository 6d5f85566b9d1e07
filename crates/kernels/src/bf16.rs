//! A linear layer in bf16: half the bytes of f32 with the same range, and eight bits of precision;
//! sums are in f32.
//!
//! Weights are rounded once, activations for each product. If the processor can multiply such
//! numbers (AMX-BF16, AVX512-BF16), pairs of products are added at once and denormal numbers count
//! as zero; otherwise the rounded numbers are multiplied in f32. So the results of two sets agree
//! to about six digits, but not to the bit.

use std::io;

use crate::Isa;
#[cfg(target_arch = "x86_64")]
use crate::avx512::results::{finish_floats, finish_floats_in_halves};
use crate::elementwise::vectorised;
use crate::layout::{Halves, LINE, Line, PANEL, round, widen};
#[cfg(target_arch = "x86_64")]
use crate::layout::{Out, ROWS_AT_ONCE, Rows};
use crate::lines::Lines;
use crate::product::Panels;
use crate::stored::{self, Reader, Stored};

vectorised! {
    /// Rounds numbers but keeps them as f32.
    fn round_floats(isa: Isa, from: &[f32], to: &mut [f32]) {
        let _ = isa;
        for (from, to) in from.iter().zip(to) {
            *to = widen(round(*from));
        }
    }
}

/// The memory layout of the weights.
enum Bf16Layout {
    /// For the instructions: [panels][inputs / 2][2 lines], and the bias of each panel.
    Pairs(Stored<Halves>, Stored<Line<[f32; PANEL]>>),
    /// Rounded, in f32.
    Rounded(Panels),
}

/// Whether such a matrix is packed for bf16 instructions.
fn in_pairs(isa: Isa, inputs: usize, outputs: usize) -> bool {
    isa.has_bf16() && inputs > 0 && inputs.is_multiple_of(PANEL) && outputs.is_multiple_of(PANEL)
}

/// A weight matrix [inputs, outputs] rounded to bf16, and the bias of its outputs.
pub struct Bf16Matrix {
    isa: Isa,
    packed: Bf16Layout,
    inputs: usize,
    outputs: usize,
}

/// Rows of activations, rounded; kept between products to avoid allocation.
#[derive(Default)]
pub struct Rounded(Lines);

impl Bf16Matrix {
    /// An all-zero matrix of this shape for the instructions of `isa`.
    pub fn new(isa: Isa, inputs: usize, outputs: usize) -> Self {
        let panels = outputs / PANEL;
        let packed = if in_pairs(isa, inputs, outputs) {
            let lines = vec![Line([0; 2 * LINE]); panels * inputs];
            Bf16Layout::Pairs(
                Stored::Own(lines),
                Stored::Own(vec![Line([0.0; PANEL]); panels]),
            )
        } else {
            Bf16Layout::Rounded(Panels::new(inputs, outputs))
        };
        Self {
            isa,
            packed,
            inputs,
            outputs,
        }
    }

    /// A matrix of this shape that [`Self::write`] wrote for the same instructions. `None`: there
    /// are too few bytes, or they are not aligned to a line.
    pub fn read(isa: Isa, inputs: usize, outputs: usize, reader: &mut Reader) -> Option<Self> {
        let packed = if in_pairs(isa, inputs, outputs) {
            let panels = outputs / PANEL;
            let biases = reader.take(panels)?;
            Bf16Layout::Pairs(reader.take(panels.checked_mul(inputs)?)?, biases)
        } else {
            Bf16Layout::Rounded(Panels::read(inputs, outputs, reader)?)
        };
        Some(Self {
            isa,
            packed,
            inputs,
            outputs,
        })
    }

    /// Writes it as it is in memory, in whole cache lines.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        match &self.packed {
            Bf16Layout::Pairs(lines, biases) => {
                stored::write(biases, out)?;
                stored::write(lines, out)
            }
            Bf16Layout::Rounded(panels) => panels.write(out),
        }
    }

    /// Rounds and writes the columns `first..first + bias.len()`: `rows` contains them one after
    /// another, each `inputs` long.
    ///
    /// Panics when they do not fit, or if the matrix was read from stored bytes.
    pub fn set_columns(&mut self, first: usize, rows: &[f32], bias: &[f32]) {
        assert!(
            rows.len() == bias.len() * self.inputs && first + bias.len() <= self.outputs,
            "columns fit"
        );
        match &mut self.packed {
            Bf16Layout::Rounded(panels) => {
                let mut rounded = vec![0.0; rows.len()];
                round_floats(self.isa, rows, &mut rounded);
                panels.set_columns(first, &rounded, bias);
            }
            Bf16Layout::Pairs(lines, biases) => {
                for (column, (row, bias)) in (first..).zip(rows.chunks_exact(self.inputs).zip(bias))
                {
                    let (panel, place) = (column / PANEL, column % PANEL);
                    biases.own()[panel].0[place] = *bias;
                    let lines = lines.own()[panel * self.inputs..]
                        .iter_mut()
                        .skip(place / LINE)
                        .step_by(2);
                    for (line, pair) in lines.zip(row.as_chunks::<2>().0) {
                        line.0[place % LINE * 2..][..2].copy_from_slice(&pair.map(round));
                    }
                }
            }
        }
    }

    /// Length of a row of activations, and of a row of results.
    pub fn shape(&self) -> (usize, usize) {
        (self.inputs, self.outputs)
    }

    /// `rows · matrix + bias`, with GELU if requested: [count, inputs] → `out` [count, outputs].
    ///
    /// Panics when `rows` is not whole rows or `out` has another length.
    pub fn product(&self, rows: &[f32], rounded: &mut Rounded, with_gelu: bool, out: &mut [f32]) {
        let count = rows.len() / self.inputs;
        assert!(
            rows.len() == count * self.inputs && out.len() == count * self.outputs,
            "the result fits"
        );
        match &self.packed {
            Bf16Layout::Rounded(panels) => {
                let to = rounded.0.fitted::<f32>(rows.len());
                round_floats(self.isa, rows, to);
                panels.product(self.isa, to, with_gelu, out);
            }
            #[cfg(target_arch = "x86_64")]
            Bf16Layout::Pairs(..) => self.product_of(
                Rows::Full(rows),
                count,
                rounded,
                with_gelu,
                &mut Out::Full(out),
            ),
            #[cfg(not(target_arch = "x86_64"))]
            Bf16Layout::Pairs(..) => unreachable!("packed only for x86"),
        }
    }

    /// Like [`Self::product`], for `count` rows. Rows of halves are padded to a multiple of
    /// [`ROWS_AT_ONCE`].
    ///
    /// Panics if the weights are not packed for bf16 instructions.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn product_of(
        &self,
        rows: Rows<'_>,
        count: usize,
        rounded: &mut Rounded,
        with_gelu: bool,
        out: &mut Out<'_>,
    ) {
        let Bf16Layout::Pairs(lines, biases) = &self.packed else {
            panic!("packed for the instructions")
        };
        // The slices are borrowed once here, because each access to stored weights costs a check.
        let (lines, biases): (&[Halves], &[Line<[f32; PANEL]>]) = (lines, biases);
        let inputs = self.inputs;
        let rows = match rows {
            Rows::Halves(rows) => rows,
            Rows::Full(rows) => {
                let to = rounded
                    .0
                    .fitted::<u16>(count.next_multiple_of(ROWS_AT_ONCE) * inputs);
                crate::avx512::rounding::to_halves(
                    self.isa,
                    &rows[..count * inputs],
                    &mut to[..count * inputs],
                );
                to
            }
        };
        assert!(
            rows.len() >= count.next_multiple_of(ROWS_AT_ONCE) * inputs,
            "rows are padded"
        );
        let unit = Unit::new(self.isa);
        let mut sums = [[0.0; PANEL]; ROWS_AT_ONCE];
        let tiles = count.div_ceil(unit.height()).max(1);
        for (number, (panel, bias)) in lines.chunks_exact(inputs).zip(biases).enumerate() {
            let next = lines[(number + 1) * inputs..]
                .chunks(inputs)
                .next()
                .unwrap_or_default();
            for (tile, first) in (0..count).step_by(unit.height()).enumerate() {
                crate::avx512::prefetch(
                    &next[next.len() * tile / tiles..next.len() * (tile + 1) / tiles],
                );
                let own = unit.height().min(count - first);
                unit.product(
                    &rows[first * inputs..],
                    inputs,
                    own,
                    panel,
                    sums.as_flattened_mut(),
                    PANEL,
                );
                let (sums, shares) = (&sums[..own], &[1.0; ROWS_AT_ONCE][..own]);
                let (stride, column) = (self.outputs, number * PANEL);
                match out.from(first * stride) {
                    Out::Full(out) => finish_floats(
                        self.isa, sums, shares, &bias.0, with_gelu, out, stride, column,
                    ),
                    Out::Halves(out) => {
                        finish_floats_in_halves(
                            self.isa, sums, shares, &bias.0, with_gelu, out, stride, column,
                        );
                    }
                }
            }
        }
    }
}

/// The hardware that multiplies bf16 tiles on this thread: the matrix unit, or registers.
#[cfg(target_arch = "x86_64")]
pub(crate) enum Unit {
    Tiles(crate::amx::Tiles),
    Registers,
}

#[cfg(target_arch = "x86_64")]
impl Unit {
    /// Panics on a set without bf16.
    pub(crate) fn new(isa: Isa) -> Self {
        assert!(isa.has_bf16(), "the set has bf16");
        if isa.set() == crate::Set::Amx {
            Self::Tiles(crate::amx::Tiles::new())
        } else {
            Self::Registers
        }
    }

    /// Rows of a tile.
    pub(crate) fn height(&self) -> usize {
        match self {
            Self::Tiles(_) => crate::amx::ROWS,
            Self::Registers => crate::layout::ROWS,
        }
    }

    /// Sums of `count` rows, one every `stride` numbers, over one panel of two lines per two
    /// inputs, written into rows of `out`, one every `out_stride` numbers. The unit reads and
    /// writes all rows of a tile, so `rows` and `out` are padded.
    ///
    /// Panics when a slice is too short, or if there are more rows than a tile has.
    #[inline]
    pub(crate) fn product(
        &self,
        rows: &[u16],
        stride: usize,
        count: usize,
        panel: &[Halves],
        out: &mut [f32],
        out_stride: usize,
    ) {
        let inputs = panel.len();
        match self {
            Self::Tiles(tiles) => tiles.halves(
                rows,
                stride,
                panel,
                count <= crate::amx::ROWS / 2,
                out,
                out_stride,
            ),
            Self::Registers => {
                assert!(panel.len().is_multiple_of(2) && inputs <= stride && PANEL <= out_stride);
                assert!(count > 0 && count <= crate::layout::ROWS);
                assert!(
                    rows.len() >= (count - 1) * stride + inputs
                        && out.len() >= (count - 1) * out_stride + PANEL
                );
                macro_rules! by_count {
                    ($($rows:literal)*) => {
                        match count {
                            // SAFETY: the unit is only created if the machine has the instructions;
                            // the lengths of the slices were asserted above.
                            $($rows => unsafe {
                                crate::avx512::dots::<$rows>(rows.as_ptr(), stride, panel, out.as_mut_ptr(), out_stride);
                            },)*
                            _ => unreachable!("asserted"),
                        }
                    };
                }
                by_count!(1 2 3 4 5 6 7 8 9 10 11 12);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::most;
    use proptest::prelude::*;

    #[test]
    fn rounding_goes_to_the_nearest_even_and_keeps_what_is_no_number() {
        for (from, to) in [
            (1.0, 0x3f80),
            (1.003_906_3, 0x3f80),
            (1.011_718_8, 0x3f82),
            (-2.0, 0xc000),
            (0.0, 0),
        ] {
            assert_eq!(round(from), to, "{from}");
        }
        assert!(
            widen(round(f32::NAN)).is_nan() && widen(round(f32::from_bits(0x7f80_0001))).is_nan()
        );
        assert_eq!(widen(round(f32::NEG_INFINITY)), f32::NEG_INFINITY);
        assert_eq!(round(f32::MAX), round(f32::INFINITY));
        for bits in (0..=u32::from(u16::MAX)).filter(|bits| !widen(*bits as u16).is_nan()) {
            assert_eq!(u32::from(round(widen(bits as u16))), bits);
        }
    }

    proptest! {
        #[test]
        fn every_instruction_set_gives_the_sums_of_the_rounded_numbers(
            count in 0..most(80), blocks in 0_usize..4, odd in 0_usize..2, panels in 1_usize..4, seed in any::<u32>(),
            with_gelu: bool
        ) {
            let (inputs, outputs) = (32 * blocks + odd + usize::from(blocks + odd == 0), 32 * panels - 5 * odd);
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / (1 << 24) as f32 - 0.5
            };
            let rows: Vec<f32> = (0..count * inputs).map(|_| next()).collect();
            let columns: Vec<f32> = (0..outputs * inputs).map(|_| next()).collect();
            let bias: Vec<f32> = (0..outputs).map(|_| next()).collect();
            for isa in Isa::all() {
                let mut matrix = Bf16Matrix::new(isa, inputs, outputs);
                let half = outputs / 2;
                matrix.set_columns(0, &columns[..half * inputs], &bias[..half]);
                matrix.set_columns(half, &columns[half * inputs..], &bias[half..]);
                let (mut out, mut room) = (vec![f32::NAN; count * outputs], Rounded::default());
                // Data left by an earlier product must not matter.
                room.0.fitted::<u8>(5000).fill(0xff);
                matrix.product(&rows, &mut room, with_gelu, &mut out);
                for (row, found) in rows.chunks_exact(inputs).zip(out.chunks_exact(outputs)) {
                    for ((column, bias), found) in columns.chunks_exact(inputs).zip(&bias).zip(found) {
                        let products = row.iter().zip(column).map(|(x, w)| widen(round(*x)) * widen(round(*w)));
                        let exact = products.sum::<f32>() + bias;
                        let exact = if with_gelu { crate::elementwise::gelu::<false>(exact) } else { exact };
                        prop_assert!((found - exact).abs() < 3e-4, "{:?}: {} {}", isa, found, exact);
                    }
                }
            }
        }
    }

    #[test]
    fn s39_what_is_not_finite_stays_so() {
        for isa in Isa::all() {
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let mut row = vec![0.25; 64];
                row[40] = bad;
                let mut matrix = Bf16Matrix::new(isa, 64, 32);
                matrix.set_columns(0, &vec![0.5; 64 * 32], &[0.0; 32]);
                for with_gelu in [false, true] {
                    let mut out = vec![0.0; 32];
                    matrix.product(&row, &mut Rounded::default(), with_gelu, &mut out);
                    // GELU turns the most negative numbers into 0.
                    assert!(
                        out.iter().all(|x| !x.is_finite() || with_gelu && bad < 0.0),
                        "{isa:?} {bad} {out:?}"
                    );
                }
            }
        }
    }
}
