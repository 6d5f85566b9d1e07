//! Buffers aligned to cache lines. A load that crosses two lines costs twice as much.

use crate::layout::Line;

/// A buffer for numbers of any of the types here; it grows but never shrinks.
#[derive(Default)]
pub(crate) struct Lines(Vec<Line<[u8; 64]>>);

/// Number types for which every bit pattern is a valid value.
///
/// # Safety
/// Any bytes must be a valid value. The type has no padding, and its alignment is at most 64 bytes.
pub(crate) unsafe trait Plain: Copy {}
// SAFETY: numbers of 1, 2 and 4 bytes.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for u16 {}
// SAFETY: as above.
unsafe impl Plain for i32 {}
// SAFETY: as above.
unsafe impl Plain for f32 {}

/// The bytes of `len` numbers.
fn bytes<T: Plain>(len: usize) -> usize {
    len.checked_mul(size_of::<T>())
        .expect("fewer bytes than a computer can address")
}

impl Lines {
    /// Space for `len` numbers, whose values are arbitrary.
    pub(crate) fn fitted<T: Plain>(&mut self, len: usize) -> &mut [T] {
        let lines = bytes::<T>(len).div_ceil(64);
        if self.0.len() < lines {
            self.0.resize(lines, Line([0; 64]));
        }
        // SAFETY: the lines contain that many bytes, which are initialised, aligned to 64, and
        // valid as numbers in any bit pattern.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), len) }
    }

    /// The first `len` numbers of the buffer made by [`Self::fitted`].
    ///
    /// Panics when the buffer is too small.
    pub(crate) fn first<T: Plain>(&self, len: usize) -> &[T] {
        assert!(bytes::<T>(len) <= self.0.len() * 64, "there is room");
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_on_a_line_and_keep_what_they_hold() {
        let mut lines = Lines::default();
        assert!(lines.fitted::<u16>(0).is_empty() && lines.first::<f32>(0).is_empty());
        for len in [1, 31, 33, 1000] {
            let numbers = lines.fitted::<u16>(len);
            assert!(numbers.as_ptr().addr().is_multiple_of(64) && numbers.len() == len);
            numbers.fill(len as u16);
            assert!(
                lines
                    .first::<u16>(len)
                    .iter()
                    .all(|x| usize::from(*x) == len)
            );
        }
        lines.fitted::<f32>(2)[1] = 1.5;
        assert_eq!(lines.first::<f32>(2)[1], 1.5);
    }
}
