//! Packed weights that are used in place in their file, because packing them costs a hundred times
//! as much as embedding a question.
//!
//! A packed layer is written as whole cache lines and read back unchanged. Length and alignment are
//! checked each time. The content is not checked here; the code that stores it does that.

use std::io;
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::layout::{Columns, LINE, Line, PANEL};

/// The version of all layouts and their contents. It is raised if one changes for any instruction
/// set.
pub const VERSION: u32 = 2;

/// Stored bytes with any owner; cheap to clone.
pub type Source = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Whole cache lines without gaps, of numbers for which every bit pattern is a valid value.
///
/// # Safety
/// The type must be aligned to 64 bytes, and its size must be a multiple of 64 bytes.
pub(crate) unsafe trait WholeLines: Copy {}

// SAFETY: numbers without gaps, aligned by `Line`, 64 bytes in total.
unsafe impl WholeLines for Line<[f32; LINE]> {}
// SAFETY: as above.
unsafe impl WholeLines for Line<[i16; 2 * LINE]> {}
// SAFETY: as above.
unsafe impl WholeLines for Line<[i8; 4 * LINE]> {}
// SAFETY: as above.
unsafe impl WholeLines for Line<[u16; 2 * LINE]> {}
// SAFETY: as above, two times 64 bytes.
unsafe impl WholeLines for Line<[f32; PANEL]> {}
// SAFETY: as above, six times 64 bytes.
unsafe impl WholeLines for Columns {}

/// A part of packed weights: made in this process, or read from stored bytes.
pub(crate) enum Stored<T> {
    Own(Vec<T>),
    There { source: Source, span: Range<usize> },
}

impl<T: WholeLines> Stored<T> {
    /// Mutable access.
    ///
    /// Panics if it was read from stored bytes.
    pub(crate) fn own(&mut self) -> &mut [T] {
        match self {
            Self::Own(lines) => lines,
            Self::There { .. } => panic!("stored weights are not changed"),
        }
    }

    fn bytes(&self) -> &[u8] {
        let lines: &[T] = self;
        // SAFETY: lines have no gaps, and bytes need no alignment.
        unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), size_of_val(lines)) }
    }
}

impl<T: WholeLines> Deref for Stored<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Own(lines) => lines,
            Self::There { source, span } => lines_of(&source.as_ref().as_ref()[span.clone()])
                .expect("stored bytes stay where they were"),
        }
    }
}

/// The same bytes as lines; `None` when they are not aligned, or not whole lines.
fn lines_of<T: WholeLines>(bytes: &[u8]) -> Option<&[T]> {
    // SAFETY: every bit pattern is a valid line.
    let (before, lines, after) = unsafe { bytes.align_to::<T>() };
    (before.is_empty() && after.is_empty()).then_some(lines)
}

/// Reads parts from stored bytes in the order in which they were written.
pub struct Reader {
    source: Source,
    at: usize,
}

impl Reader {
    /// Reads from byte `at` on.
    pub fn new(source: Source, at: usize) -> Self {
        Self { source, at }
    }

    /// The position of the next byte.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The next `count` lines; `None` if there are fewer, or they are not aligned.
    pub(crate) fn take<T: WholeLines>(&mut self, count: usize) -> Option<Stored<T>> {
        let end = self.at.checked_add(count.checked_mul(size_of::<T>())?)?;
        let span = self.at..end;
        lines_of::<T>(self.source.as_ref().as_ref().get(span.clone())?)?;
        self.at = end;
        Some(Stored::There {
            source: self.source.clone(),
            span,
        })
    }
}

/// Writes a part that [`Reader::take`] can read.
pub(crate) fn write<T: WholeLines>(part: &Stored<T>, out: &mut dyn io::Write) -> io::Result<()> {
    out.write_all(part.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bf16;
    use crate::int8::{Codes, Int8Matrix};
    use crate::network::Linear;
    use crate::product::Panels;
    use crate::{Isa, Set};

    /// Stored bytes at an offset from an aligned address.
    struct Shifted(Vec<Line<[i8; 64]>>, usize);

    impl AsRef<[u8]> for Shifted {
        fn as_ref(&self) -> &[u8] {
            // SAFETY: as in `Stored::bytes`.
            let bytes: &[u8] = unsafe {
                std::slice::from_raw_parts(self.0.as_ptr().cast(), size_of_val(&*self.0))
            };
            &bytes[self.1..]
        }
    }

    fn stored(bytes: &[u8], shift: usize) -> Source {
        let mut all = vec![0; shift];
        all.extend_from_slice(bytes);
        all.resize(all.len().next_multiple_of(64), 0);
        let lines = all
            .as_chunks::<64>()
            .0
            .iter()
            .map(|line| Line(line.map(u8::cast_signed)))
            .collect();
        Arc::new(Shifted(lines, shift))
    }

    fn numbers(len: usize) -> Vec<f32> {
        (0..len)
            .map(|i| (i * 37 % 101) as f32 / 50.0 - 1.0)
            .collect()
    }

    #[test]
    fn what_was_stored_multiplies_like_what_was_packed() {
        let count = 14;
        let shapes: &[_] = if cfg!(miri) {
            &[(20, 45)]
        } else {
            &[(20, 45), (64, 96)]
        };
        for (isa, (inputs, outputs)) in
            Isa::all().flat_map(|isa| shapes.iter().map(move |shape| (isa, *shape)))
        {
            let (weights, bias, rows) = (
                numbers(inputs * outputs),
                numbers(outputs),
                numbers(count * inputs),
            );
            let (mut full, mut int8) = (
                Panels::new(inputs, outputs),
                Int8Matrix::new(isa, inputs, outputs),
            );
            let mut halves = bf16::Bf16Matrix::new(isa, inputs, outputs);
            full.set_columns(0, &weights, &bias);
            int8.set_columns(0, &weights, &bias);
            halves.set_columns(0, &weights, &bias);
            let packed = [Linear::Full(full), Linear::Int8(int8), Linear::Bf16(halves)];
            let mut file = vec![9; 64];
            packed
                .iter()
                .for_each(|linear| linear.write(&mut file).unwrap());
            let mut reader = Reader::new(stored(&file, 0), 64);
            let again = [
                Linear::Full(Panels::read(inputs, outputs, &mut reader).unwrap()),
                Linear::Int8(Int8Matrix::read(isa, inputs, outputs, &mut reader).unwrap()),
                Linear::Bf16(bf16::Bf16Matrix::read(isa, inputs, outputs, &mut reader).unwrap()),
            ];
            assert_eq!(reader.at(), file.len());
            for (packed, again) in packed.iter().zip(&again) {
                let product = |linear: &Linear| {
                    let mut out = vec![f32::NAN; count * outputs];
                    match linear {
                        Linear::Full(panels) => panels.product(isa, &rows, true, &mut out),
                        Linear::Int8(matrix) => {
                            matrix.product(&rows, &mut Codes::default(), true, &mut out)
                        }
                        Linear::Bf16(matrix) => {
                            matrix.product(&rows, &mut bf16::Rounded::default(), true, &mut out)
                        }
                        Linear::Other { .. } => unreachable!("not among them"),
                    }
                    out
                };
                assert_eq!(product(packed), product(again), "{isa:?}");
                assert_eq!(packed.shape(), again.shape());
            }
        }
    }

    #[test]
    fn stored_bytes_that_are_short_or_lie_askew_are_refused() {
        let mut panels = Panels::new(20, 45);
        panels.set_columns(0, &numbers(20 * 45), &numbers(45));
        let mut file = Vec::new();
        panels.write(&mut file).unwrap();
        assert!(Panels::read(20, 45, &mut Reader::new(stored(&file, 0), 0)).is_some());
        let short = stored(&file[..file.len() - 64], 0);
        assert!(Panels::read(20, 45, &mut Reader::new(short, 0)).is_none());
        for shift in [1, 4, 32] {
            assert!(
                Panels::read(20, 45, &mut Reader::new(stored(&file, shift), 0)).is_none(),
                "{shift}"
            );
        }
        assert!(Panels::read(20, 45, &mut Reader::new(stored(&file, 0), usize::MAX - 7)).is_none());
        assert!(Panels::read(20, usize::MAX / 8, &mut Reader::new(stored(&file, 0), 0)).is_none());
    }

    #[test]
    fn a_layout_that_changes_gets_a_new_version() {
        let isa = Isa::new(Set::Portable).unwrap();
        let (mut panels, mut matrix) = (Panels::new(3, 35), Int8Matrix::new(isa, 3, 35));
        panels.set_columns(0, &numbers(3 * 35), &numbers(35));
        matrix.set_columns(0, &numbers(3 * 35), &numbers(35));
        let mut file = Vec::new();
        panels.write(&mut file).unwrap();
        matrix.write(&mut file).unwrap();
        let sum = file.iter().fold(0_u32, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(u32::from(*byte))
        });
        let wanted = if cfg!(target_endian = "little") {
            2_511_371_551
        } else {
            sum
        };
        assert_eq!(
            (VERSION, file.len(), sum),
            (2, 2304, wanted),
            "raise `VERSION` with the layout"
        );
    }
}
