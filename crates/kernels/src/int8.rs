//! A linear layer in bytes: a register contains four times as many numbers as with f32, and sums
//! are exact.
//!
//! Weights and activations are first turned ([`hadamard`]), so that no number of a row is much
//! larger than the others; the product does not change. Weights are rounded once, each output with
//! its own scale: `w ≈ s · c` with `c` from −127 to 127. Activations are rounded for each product,
//! each row between its smallest and its largest number: `x ≈ low + t · q` with `q` from 0 to 255.
//! Then
//!
//! `Σ x·w ≈ s · (t · Σ q·c + low · Σ c)`
//!
//! where the first sum is of integers over all inputs, in 32 bits, and the second is known
//! beforehand. (The error is small mainly because each row has its own scale, so that an outlier of
//! one token does not affect the others.)
//!
//! Integer sums are exact on every set, and the code before and after them is the same chain of
//! fused operations, so all sets give the same bits in [`Int8Matrix::product`]; only the portable
//! loops, which have no such operations, differ by rounding errors. Between the products of a
//! network, sets that multiply bytes in 512 bits use bf16: there the last digits differ, and later
//! rounding may go the other way, so two sets differ from each other about as much as each differs
//! from f32.

use std::io;

use crate::Isa;
use crate::Set;
#[cfg(target_arch = "x86_64")]
use crate::avx512::{
    prefetch,
    results::{finish_bytes, finish_bytes_in_halves},
    rounding,
};
use crate::elementwise::{finish, fma, range, sum, vectorised};
use crate::hadamard;
use crate::layout::{self, Columns, LINE, Line, PANEL, Pairs, Quads, ROWS, inverse};
#[cfg(target_arch = "x86_64")]
use crate::layout::{Out, Rows};
use crate::lines::Lines;
use crate::product::BLOCK_ROWS;
use crate::stored::{self, Reader, Stored};
use crate::tile;

/// Rows of codes are padded to a multiple of the largest tile, with arbitrary values.
const ROWS_AT_ONCE: usize = 32;

/// Maximum number of inputs; more could overflow a sum: 255 · 127 · 65,536 < 2³¹.
pub const MOST_INPUTS: usize = 65_536;

/// The codes in the layout of the instructions that multiply them.
enum CodeLayout {
    Pairs(Stored<Pairs>),
    Quads(Stored<Quads>),
}

/// The layout of the codes.
enum Form {
    Pairs,
    Quads,
}

impl Form {
    fn of(isa: Isa) -> Self {
        match isa.set() {
            Set::AvxVnni | Set::Avx512Vnni | Set::Avx512Bf16 | Set::Amx | Set::NeonDot => {
                Self::Quads
            }
            Set::Portable | Set::Avx2 | Set::Avx512 | Set::Neon => Self::Pairs,
        }
    }
}

/// The number of inputs, padded to fill the last instruction.
fn padded(isa: Isa, inputs: usize) -> usize {
    inputs.next_multiple_of(if isa.set() == Set::Amx { 64 } else { 4 })
}

/// A weight matrix [inputs, outputs] in bytes, and the bias of its outputs.
pub struct Int8Matrix {
    isa: Isa,
    packed: CodeLayout,
    columns: Stored<Columns>,
    inputs: usize,
    padded: usize,
    outputs: usize,
}

/// Rows of activations in bytes; kept between products to avoid allocation.
#[derive(Default)]
pub struct Codes {
    pairs: Vec<i16>,
    quads: Lines,
    /// The number of bytes in use.
    bytes: usize,
    /// The step and the smallest number of each row.
    rows: Vec<(f32, f32)>,
    /// One row, turned.
    turned: Vec<f32>,
}

impl Int8Matrix {
    /// An all-zero matrix of this shape for the instructions of `isa`.
    ///
    /// Panics without inputs and with more than [`MOST_INPUTS`].
    pub fn new(isa: Isa, inputs: usize, outputs: usize) -> Self {
        assert!((1..=MOST_INPUTS).contains(&inputs), "sums fit into 32 bits");
        let (padded, panels) = (padded(isa, inputs), outputs.div_ceil(PANEL));
        let packed = match Form::of(isa) {
            Form::Pairs => {
                CodeLayout::Pairs(Stored::Own(vec![Line([0; 2 * LINE]); panels * padded]))
            }
            Form::Quads => {
                CodeLayout::Quads(Stored::Own(vec![Line([0; 4 * LINE]); panels * padded / 2]))
            }
        };
        let columns = Stored::Own(vec![
            Columns {
                scale: [0.0; PANEL],
                sum: [0.0; PANEL],
                bias: [0.0; PANEL]
            };
            panels
        ]);
        Self {
            isa,
            packed,
            columns,
            inputs,
            padded,
            outputs,
        }
    }

    /// A matrix of this shape that [`Self::write`] wrote for the same instructions. `None`: there
    /// are too few bytes, they are not aligned to a line, or the shape is impossible.
    pub fn read(isa: Isa, inputs: usize, outputs: usize, reader: &mut Reader) -> Option<Self> {
        if !(1..=MOST_INPUTS).contains(&inputs) {
            return None;
        }
        let (padded, panels) = (padded(isa, inputs), outputs.div_ceil(PANEL));
        let columns = reader.take(panels)?;
        let lines = panels.checked_mul(padded)?;
        let packed = match Form::of(isa) {
            Form::Pairs => CodeLayout::Pairs(reader.take(lines)?),
            Form::Quads => CodeLayout::Quads(reader.take(lines / 2)?),
        };
        Some(Self {
            isa,
            packed,
            columns,
            inputs,
            padded,
            outputs,
        })
    }

    /// Writes it as it is in memory, in whole cache lines.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        stored::write(&self.columns, out)?;
        match &self.packed {
            CodeLayout::Pairs(lines) => stored::write(lines, out),
            CodeLayout::Quads(lines) => stored::write(lines, out),
        }
    }

    /// Turns, rounds and writes the columns `first..first + bias.len()`: `rows` contains them one
    /// after another, each `inputs` long. A column with a non-finite weight gives non-finite
    /// results.
    ///
    /// Panics when they do not fit, or if the matrix was read from stored bytes.
    pub fn set_columns(&mut self, first: usize, rows: &[f32], bias: &[f32]) {
        assert!(
            rows.len() == bias.len() * self.inputs && first + bias.len() <= self.outputs,
            "columns fit"
        );
        let share = 1.0 / hadamard::block(self.inputs) as f32;
        let mut turned = vec![0.0; self.inputs];
        for (column, (row, bias)) in (first..).zip(rows.chunks_exact(self.inputs).zip(bias)) {
            let (panel, place) = (column / PANEL, column % PANEL);
            turned.copy_from_slice(row);
            hadamard::turn(&mut turned);
            turned.iter_mut().for_each(|x| *x *= share);
            let (low, high) = range(&turned);
            let largest = high.max(-low);
            let inverse = if largest > 0.0 { 127.0 / largest } else { 0.0 };
            let mut total = 0_i32;
            for (input, x) in turned.iter().enumerate() {
                let code = (x * inverse).round_ties_even() as i8;
                total += i32::from(code);
                self.set(panel, place, input, code);
            }
            let columns = &mut self.columns.own()[panel];
            columns.sum[place] = total as f32;
            // The scale is infinite or NaN if any weight is.
            columns.scale[place] = largest / 127.0 + turned.iter().map(|x| x * 0.0).sum::<f32>();
            columns.bias[place] = *bias;
        }
    }

    fn set(&mut self, panel: usize, place: usize, input: usize, code: i8) {
        let (half, column) = (place / LINE, place % LINE);
        match &mut self.packed {
            CodeLayout::Pairs(lines) => {
                lines.own()[panel * self.padded + input / 2 * 2 + half].0[column * 2 + input % 2] =
                    i16::from(code);
            }
            CodeLayout::Quads(lines) => {
                lines.own()[panel * self.padded / 2 + input / 4 * 2 + half].0
                    [column * 4 + input % 4] = code;
            }
        }
    }

    /// Length of a row of activations, and of a row of results.
    pub fn shape(&self) -> (usize, usize) {
        (self.inputs, self.outputs)
    }

    /// `rows · matrix + bias`, with GELU if requested: [count, inputs] → `out` [count, outputs]. A
    /// row that contains a non-finite number gives non-finite results.
    ///
    /// Panics when `rows` is not whole rows or `out` has another length.
    pub fn product(&self, rows: &[f32], codes: &mut Codes, with_gelu: bool, out: &mut [f32]) {
        let count = rows.len() / self.inputs;
        assert!(
            rows.len() == count * self.inputs && out.len() == count * self.outputs,
            "the result fits"
        );
        #[cfg(target_arch = "x86_64")]
        if self.is_by_hand() {
            return self.product_of(
                Rows::Full(rows),
                count,
                codes,
                with_gelu,
                &mut Out::Full(out),
            );
        }
        let blocks = rows
            .chunks(BLOCK_ROWS * self.inputs)
            .zip(out.chunks_mut(BLOCK_ROWS * self.outputs));
        for (rows, out) in blocks {
            encode(self.isa, self, rows, codes);
            block(self.isa, self, codes, with_gelu, out);
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Int8Matrix {
    /// Whether registers of 512 bits multiply bytes, and rows fill the registers and panels.
    fn is_by_hand(&self) -> bool {
        let even = self.inputs.is_multiple_of(PANEL) && self.outputs.is_multiple_of(PANEL);
        self.isa.width() == crate::isa::Width::Bits512
            && even
            && matches!(self.packed, CodeLayout::Quads(_))
    }

    /// Like [`Self::product`], for `count` rows; rows and results may be bf16.
    ///
    /// Panics if `is_by_hand` is false.
    pub(crate) fn product_of(
        &self,
        rows: Rows<'_>,
        count: usize,
        codes: &mut Codes,
        with_gelu: bool,
        out: &mut Out<'_>,
    ) {
        let CodeLayout::Quads(lines) = &self.packed else {
            panic!("the set multiplies bytes")
        };
        // The slices are borrowed once here, because each access to stored weights costs a check.
        let (lines, columns): (&[Quads], &[Columns]) = (lines, &self.columns);
        assert!(self.is_by_hand(), "rows fill registers and panels");
        let (inputs, padded) = (self.inputs, self.padded);
        let tiles = (self.isa.set() == Set::Amx).then(crate::amx::Tiles::new);
        let height = if tiles.is_some() { ROWS_AT_ONCE } else { ROWS };
        let quads = codes
            .quads
            .fitted::<u8>(count.next_multiple_of(ROWS_AT_ONCE) * padded);
        codes.rows.clear();
        codes.turned.resize(inputs, 0.0);
        for (number, quads) in quads.chunks_exact_mut(padded).take(count).enumerate() {
            let row = rows.part(number * inputs..(number + 1) * inputs);
            codes
                .rows
                .push(rounding::encode(self.isa, row, &mut codes.turned, quads));
        }
        let mut sums: CodeSums = [[0; PANEL]; ROWS_AT_ONCE];
        let steps = count.div_ceil(height).max(1);
        for (number, (panel, columns)) in lines.chunks_exact(padded / 2).zip(columns).enumerate() {
            let next = lines[(number + 1) * padded / 2..]
                .chunks(padded / 2)
                .next()
                .unwrap_or_default();
            for (tile, rows) in codes.rows.chunks(height).enumerate() {
                let next = &next[next.len() * tile / steps..next.len() * (tile + 1) / steps];
                let first = tile * height;
                let quads = &quads[first * padded..];
                match &tiles {
                    Some(tiles) => {
                        prefetch(next);
                        tiles.bytes(
                            quads,
                            padded,
                            panel,
                            rows.len() <= ROWS_AT_ONCE / 2,
                            &mut sums,
                        );
                    }
                    None => {
                        let quads = &quads[..rows.len() * padded];
                        tile::quads(self.isa, quads, padded, panel, next, twelve(&mut sums));
                    }
                }
                let (sums, stride, column) = (&sums[..rows.len()], self.outputs, number * PANEL);
                match out.from(first * stride) {
                    Out::Full(out) => finish_bytes(
                        self.isa, sums, rows, columns, with_gelu, out, stride, column,
                    ),
                    Out::Halves(out) => {
                        finish_bytes_in_halves(
                            self.isa, sums, rows, columns, with_gelu, out, stride, column,
                        );
                    }
                }
            }
        }
    }
}

vectorised! {
    /// Turns rows and rounds them into codes.
    fn encode(isa: Isa, matrix: &Int8Matrix, rows: &[f32], codes: &mut Codes) {
        let _ = isa;
        let (inputs, padded) = (matrix.inputs, matrix.padded);
        let length = (rows.len() / inputs).next_multiple_of(ROWS_AT_ONCE) * padded;
        codes.rows.clear();
        match matrix.packed {
            CodeLayout::Pairs(_) => codes.pairs.resize(length, 0),
            CodeLayout::Quads(_) => codes.bytes = length,
        }
        let quads = codes.quads.fitted::<u8>(codes.bytes);
        codes.turned.resize(inputs, 0.0);
        let row = &mut codes.turned[..];
        for (number, from) in rows.chunks_exact(inputs).enumerate() {
            row.copy_from_slice(from);
            hadamard::turn(row);
            let (low, high) = range(row);
            let step = (high - low) / 255.0;
            let inverse = inverse(step);
            // Adding 2²³ rounds to the nearest integer, which is then in the low bits.
            const ROUND: f32 = 8_388_608.0;
            let code = |x: &f32| ((x - low) * inverse + ROUND).to_bits() & 0xff;
            match matrix.packed {
                CodeLayout::Pairs(_) => {
                    for (to, x) in codes.pairs[number * padded..].iter_mut().zip(&*row) {
                        *to = code(x) as i16;
                    }
                }
                CodeLayout::Quads(_) => {
                    for (to, x) in quads[number * padded..].iter_mut().zip(&*row) {
                        *to = code(x) as u8;
                    }
                }
            }
            codes.rows.push((step + sum(row, |x| x * 0.0), low));
        }
    }
}

/// Sums of up to [`ROWS_AT_ONCE`] rows.
type CodeSums = [[i32; PANEL]; ROWS_AT_ONCE];

vectorised! {
    fn block(isa: Isa, matrix: &Int8Matrix, codes: &Codes, with_gelu: bool, out: &mut [f32]) {
        let (padded, outputs) = (matrix.padded, matrix.outputs);
        // The slices are borrowed once here, because each access to stored weights costs a check.
        let (pairs, bytes): (&[Pairs], &[Quads]) = match &matrix.packed {
            CodeLayout::Pairs(lines) => (lines, &[]),
            CodeLayout::Quads(lines) => (&[], lines),
        };
        let quads = codes.quads.first::<u8>(codes.bytes);
        #[cfg(target_arch = "x86_64")]
        let tiles = (isa.set() == Set::Amx).then(crate::amx::Tiles::new);
        let height = if isa.set() == Set::Amx { ROWS_AT_ONCE } else { ROWS };
        let mut sums: CodeSums = [[0; PANEL]; ROWS_AT_ONCE];
        for (number, columns) in matrix.columns.iter().enumerate() {
            let places = number * PANEL..outputs.min((number + 1) * PANEL);
            for (tile, (rows, out)) in codes.rows.chunks(height).zip(out.chunks_mut(height * outputs)).enumerate() {
                let first = tile * height * padded;
                let span = first..first + rows.len() * padded;
                match &matrix.packed {
                    CodeLayout::Pairs(_) => {
                        let panel = &pairs[number * padded..(number + 1) * padded];
                        tile::pairs(isa, &codes.pairs[span], padded, panel, twelve(&mut sums));
                    }
                    #[cfg(target_arch = "x86_64")]
                    CodeLayout::Quads(_) => {
                        let panel = &bytes[number * padded / 2..(number + 1) * padded / 2];
                        match &tiles {
                            Some(tiles) => {
                                let half = rows.len() <= ROWS_AT_ONCE / 2;
                                tiles.bytes(&quads[first..], padded, panel, half, &mut sums);
                            }
                            None => {
                                tile::quads(isa, &quads[span], padded, panel, &[], twelve(&mut sums));
                            }
                        }
                    }
                    #[cfg(target_arch = "aarch64")]
                    CodeLayout::Quads(_) => {
                        let panel = &bytes[number * padded / 2..(number + 1) * padded / 2];
                        let sums = &mut sums[..rows.len()];
                        crate::neon::quads(&quads[span], padded, panel, &columns.sum, sums);
                    }
                    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
                    CodeLayout::Quads(_) => unreachable!("packed only where bytes are multiplied, not {} lines of {}", bytes.len(), quads.len()),
                }
                for ((sums, (step, low)), out) in sums.iter().zip(rows).zip(out.chunks_exact_mut(outputs)) {
                    let value = |i: usize| {
                        let sum = fma::<FUSED>(sums[i] as f32, *step, columns.sum[i] * low);
                        fma::<FUSED>(sum, columns.scale[i], columns.bias[i])
                    };
                    finish::<FUSED, true>(value, with_gelu, &mut out[places.clone()]);
                }
            }
        }
    }
}

/// The rows of a tile in registers.
#[inline(always)]
fn twelve(sums: &mut CodeSums) -> &mut layout::Sums<i32> {
    sums.first_chunk_mut()
        .expect("a tile in registers is the smaller one")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::most;
    use proptest::prelude::*;

    fn numbers(seed: u32) -> impl FnMut() -> f32 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32 - 0.5
        }
    }

    fn product(
        isa: Isa,
        rows: &[f32],
        columns: &[f32],
        inputs: usize,
        bias: &[f32],
        with_gelu: bool,
    ) -> Vec<f32> {
        let mut matrix = Int8Matrix::new(isa, inputs, bias.len());
        let half = bias.len() / 2;
        matrix.set_columns(0, &columns[..half * inputs], &bias[..half]);
        matrix.set_columns(half, &columns[half * inputs..], &bias[half..]);
        let mut out = vec![7.0; rows.len() / inputs * bias.len()];
        let mut codes = Codes::default();
        // Data left by an earlier product must not matter.
        codes.pairs.resize(9, 7);
        codes.quads.fitted::<u8>(9).fill(7);
        matrix.product(rows, &mut codes, with_gelu, &mut out);
        out
    }

    fn turned(row: &[f32], share: f32) -> Vec<f32> {
        let mut row = row.to_vec();
        hadamard::turn(&mut row);
        row.iter_mut().for_each(|x| *x *= share);
        row
    }

    /// The maximum error of a result: half a step of each number, plus the rounding errors of f32.
    fn bound(row: &[f32], column: &[f32]) -> f32 {
        let (x, w) = (
            turned(row, 1.0),
            turned(column, 1.0 / hadamard::block(row.len()) as f32),
        );
        let (low, high) = range(&x);
        let largest = w.iter().fold(0.0, |most: f32, w| most.max(w.abs()));
        let (of_x, of_w) = ((high - low) / 509.0, largest / 253.0);
        let sizes = x
            .iter()
            .zip(&w)
            .map(|(x, w)| w.abs() * of_x + (x.abs() + of_x) * of_w);
        // GELU's slope is at most 1.13, and its short form has an error of 1.4e-4.
        1.13 * (sizes.sum::<f32>() + 1e-5) + 1.4e-4
    }

    /// Arbitrary sizes, and often those that fill registers and panels.
    fn sizes(most: usize) -> impl Strategy<Value = usize> {
        prop_oneof![
            1..most,
            (1..=most / PANEL + 1).prop_map(|panels| panels * PANEL),
            Just(128),
            Just(384)
        ]
    }

    proptest! {
        #[test]
        fn every_instruction_set_gives_the_same_bits_near_the_exact_product(
            count in 0..most(90), inputs in sizes(50), outputs in sizes(most(100)), seed in any::<u32>(), with_gelu: bool
        ) {
            let mut next = numbers(seed);
            let rows: Vec<f32> = (0..count * inputs).map(|_| next()).collect();
            let columns: Vec<f32> = (0..outputs * inputs).map(|_| next()).collect();
            let bias: Vec<f32> = (0..outputs).map(|_| next()).collect();
            let best = product(Isa::best(), &rows, &columns, inputs, &bias, with_gelu);
            // Without fused operations a code may be off by one.
            let portable = product(Isa::new(Set::Portable).unwrap(), &rows, &columns, inputs, &bias, with_gelu);
            for isa in Isa::all().filter(|isa| isa.set() != Set::Portable) {
                let found = product(isa, &rows, &columns, inputs, &bias, with_gelu);
                prop_assert_eq!(&found, &best, "{:?}", isa);
            }
            for (row, found) in rows.chunks_exact(inputs).zip(best.chunks_exact(outputs).zip(portable.chunks_exact(outputs))) {
                for (((column, bias), best), portable) in columns.chunks_exact(inputs).zip(&bias).zip(found.0).zip(found.1) {
                    let exact: f32 = row.iter().zip(column).map(|(x, w)| x * w).sum::<f32>() + bias;
                    let exact = if with_gelu { crate::elementwise::gelu::<false>(exact) } else { exact };
                    for found in [best, portable] {
                        prop_assert!((found - exact).abs() <= bound(row, column), "{} {}", found, exact);
                    }
                }
            }
        }
    }

    #[test]
    fn the_largest_codes_do_not_saturate() {
        // All products have the same sign and the largest absolute value: pairs of bytes would not
        // fit in 16 bits.
        let largest = if cfg!(miri) { 2048 } else { MOST_INPUTS };
        for inputs in [2, 4, 20, 384, 1536, largest] {
            // The turned row is chosen: turning it once more gives a multiple of it.
            let mut row = vec![1.0; inputs];
            row[0] = 0.0;
            let row = turned(&row, 1.0 / hadamard::block(inputs) as f32);
            for sign in [1.0, -1.0] {
                for isa in Isa::all() {
                    let found = product(
                        isa,
                        &row,
                        &turned(&vec![sign; inputs], 1.0),
                        inputs,
                        &[0.0],
                        false,
                    );
                    let wanted = sign * (inputs - 1) as f32;
                    assert!(
                        (found[0] / wanted - 1.0).abs() < 1e-6,
                        "{isa:?}, {inputs} inputs: {}",
                        found[0]
                    );
                }
            }
        }
    }

    /// A code once fell below 0. One set clamped it, and the other read it as the largest code.
    #[test]
    fn what_is_hardly_apart_has_the_same_codes_on_every_set() {
        let ulp = f32::EPSILON / 2.0;
        for (first, second) in [
            (1.0 + 6.0 * ulp, 2.0 * ulp),
            (0.0, 1e-37),
            (3e38, 1.0),
            (-1.0, -1.0),
            (1e-40, 0.0),
        ] {
            let mut row = vec![0.0; 32];
            (row[0], row[1]) = (first, second);
            let columns: Vec<f32> = (0..32 * 32)
                .map(|i| if i % 32 == 1 { 1.0 } else { 0.0 })
                .collect();
            let best = product(Isa::best(), &row, &columns, 32, &[0.0; 32], false);
            for isa in Isa::all().filter(|isa| isa.set() != Set::Portable) {
                assert_eq!(
                    product(isa, &row, &columns, 32, &[0.0; 32], false),
                    best,
                    "{isa:?} {first} {second}"
                );
            }
            let bound = bound(&row, &columns[..32]);
            assert!(
                best.iter().all(|found| (found - second).abs() <= bound),
                "{first} {second}: {best:?}"
            );
        }
    }

    #[test]
    fn s39_what_is_not_finite_stays_so() {
        for isa in Isa::all() {
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                for place in [0, 7, 39] {
                    let mut row = vec![0.25; 40];
                    row[place] = bad;
                    let fine = vec![0.5; 40];
                    let one = product(isa, &row, &fine, 40, &[0.0], false);
                    let other = product(isa, &fine, &row, 40, &[0.0], false);
                    assert!(
                        !one[0].is_finite() && !other[0].is_finite(),
                        "{isa:?} {bad} at {place}"
                    );
                }
            }
            assert_eq!(product(isa, &[0.5; 8], &[0.0; 8], 8, &[1.0], false), [1.0]);
        }
    }
}
