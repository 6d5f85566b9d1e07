//! Products of whole tiles of bytes and of bf16 on the matrix unit of newer Xeons (AMX), eight
//! times as fast as registers of 512 bits.
//!
//! The intrinsics are not in stable Rust yet, so the few instructions are written here as assembly.
//! Sums are as exact as those of [`crate::tile`], and weights have the same layout: sixteen steps
//! of one half of a panel are one tile.

use std::arch::asm;

use crate::isa::amx_is_usable;
use crate::layout::{Halves, PANEL, Quads};

/// Rows of a tile of sums: two tiles of the matrix unit.
pub(crate) const ROWS: usize = 32;

/// The number of inputs is a multiple of the length of a tile row.
pub(crate) const STEP: usize = 64;

/// The shape of the eight tiles: sixteen rows of 64 bytes each.
#[repr(C, align(64))]
struct Shape {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    bytes: [u16; 16],
    rows: [u8; 16],
}

/// The configured tiles of this thread; released on drop. Not `Send`: the state belongs to the
/// thread.
pub(crate) struct Tiles(std::marker::PhantomData<*const ()>);

impl Tiles {
    /// Configures this thread's tiles.
    ///
    /// Panics if the unit is not usable.
    pub(crate) fn new() -> Self {
        static SHAPE: Shape = Shape {
            palette: 1,
            start_row: 0,
            reserved: [0; 14],
            bytes: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
            rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
        };
        assert!(
            amx_is_usable(),
            "an `Isa` is only made where the machine has its instructions"
        );
        // SAFETY: the unit exists and is permitted; the shape is valid for the first palette.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const SHAPE, options(nostack, readonly)) };
        Self(std::marker::PhantomData)
    }

    /// Sums of 32 rows of codes over one panel; a row begins every `stride` bytes. With `half`,
    /// only the first 16.
    ///
    /// Panics when `rows` is too short for that, or the panel is not a multiple of [`STEP`] inputs.
    pub(crate) fn bytes(
        &self,
        rows: &[u8],
        stride: usize,
        panel: &[Quads],
        half: bool,
        sums: &mut [[i32; PANEL]; ROWS],
    ) {
        let inputs = panel.len() * 2;
        let count = if half { ROWS / 2 } else { ROWS };
        assert!(inputs > 0 && inputs.is_multiple_of(STEP) && inputs <= stride);
        assert!(rows.len() >= (count - 1) * stride + inputs);
        let step = Step {
            rows: rows.as_ptr().cast(),
            stride,
            panel: panel.as_ptr().cast(),
            steps: inputs / STEP,
        };
        // SAFETY: the tiles are configured on this thread. Each step reads 64 bytes of each of
        // `count` rows, which have `inputs` bytes each, and 32 lines of the panel; both end with
        // the last step. `sums` is 32 rows of two lines.
        unsafe {
            dot_bytes(
                &step,
                half,
                sums.as_mut_ptr().cast(),
                size_of::<[i32; PANEL]>(),
            )
        };
    }

    /// The same for bf16, with sums of floats; a row of sums begins every `out_stride` numbers.
    ///
    /// Panics when a slice is too short, or the panel is not a multiple of 32 inputs.
    pub(crate) fn halves(
        &self,
        rows: &[u16],
        stride: usize,
        panel: &[Halves],
        half: bool,
        out: &mut [f32],
        out_stride: usize,
    ) {
        let inputs = panel.len();
        let count = if half { ROWS / 2 } else { ROWS };
        assert!(
            inputs > 0
                && inputs.is_multiple_of(STEP / 2)
                && inputs <= stride
                && PANEL <= out_stride
        );
        assert!(
            rows.len() >= (count - 1) * stride + inputs
                && out.len() >= (count - 1) * out_stride + PANEL
        );
        let steps = inputs / (STEP / 2);
        let step = Step {
            rows: rows.as_ptr().cast(),
            stride: 2 * stride,
            panel: panel.as_ptr().cast(),
            steps,
        };
        // SAFETY: as above; a number is two bytes, and `out` has space for 32 sums for each of
        // `count` rows.
        unsafe { dot_halves(&step, half, out.as_mut_ptr().cast(), 4 * out_stride) };
    }
}

/// Where a product begins: rows every `stride` bytes, of which each step reads 64, and a panel, of
/// which each step reads 32 lines.
struct Step {
    rows: *const u8,
    stride: usize,
    panel: *const u8,
    steps: usize,
}

/// One product of tiles with the instruction `$dot`.
macro_rules! product_of_tiles {
    ($name:ident, $dot:literal) => {
        /// # Safety
        /// The tiles of this thread are configured; `step` is valid for 32 rows (or 16: `half`),
        /// and `out` has space for 128 bytes for each of them, every `line` bytes.
        #[inline]
        unsafe fn $name(step: &Step, half: bool, out: *mut u8, line: usize) {
            let Step { rows, stride, panel, steps } = *step;
            // SAFETY: guaranteed by the caller.
            unsafe {
                if half {
                    asm!(
                        "tilezero tmm0",
                        "tilezero tmm1",
                        "2:",
                        "tileloadd tmm4, [{a} + {stride}*1]",
                        "tileloadd tmm6, [{b} + {two}*1]",
                        "tileloadd tmm7, [{b} + {two}*1 + 64]",
                        concat!($dot, " tmm0, tmm4, tmm6"),
                        concat!($dot, " tmm1, tmm4, tmm7"),
                        "add {a}, 64",
                        "add {b}, 2048",
                        "dec {steps}",
                        "jnz 2b",
                        "tilestored [{out} + {line}*1], tmm0",
                        "tilestored [{out} + {line}*1 + 64], tmm1",
                        a = inout(reg) rows => _,
                        b = inout(reg) panel => _,
                        steps = inout(reg) steps => _,
                        stride = in(reg) stride,
                        two = in(reg) 128_usize,
                        line = in(reg) line,
                        out = in(reg) out,
                        out("tmm0") _, out("tmm1") _, out("tmm4") _, out("tmm6") _, out("tmm7") _,
                        options(nostack),
                    );
                } else {
                    asm!(
                        "tilezero tmm0",
                        "tilezero tmm1",
                        "tilezero tmm2",
                        "tilezero tmm3",
                        "2:",
                        "tileloadd tmm4, [{a} + {stride}*1]",
                        "tileloadd tmm6, [{b} + {two}*1]",
                        "tileloadd tmm7, [{b} + {two}*1 + 64]",
                        "tileloadd tmm5, [{second} + {stride}*1]",
                        concat!($dot, " tmm0, tmm4, tmm6"),
                        concat!($dot, " tmm1, tmm4, tmm7"),
                        concat!($dot, " tmm2, tmm5, tmm6"),
                        concat!($dot, " tmm3, tmm5, tmm7"),
                        "add {a}, 64",
                        "add {second}, 64",
                        "add {b}, 2048",
                        "dec {steps}",
                        "jnz 2b",
                        "tilestored [{out} + {line}*1], tmm0",
                        "tilestored [{out} + {line}*1 + 64], tmm1",
                        "tilestored [{below} + {line}*1], tmm2",
                        "tilestored [{below} + {line}*1 + 64], tmm3",
                        a = inout(reg) rows => _,
                        second = inout(reg) rows.add(16 * stride) => _,
                        b = inout(reg) panel => _,
                        steps = inout(reg) steps => _,
                        stride = in(reg) stride,
                        two = in(reg) 128_usize,
                        line = in(reg) line,
                        out = in(reg) out,
                        below = in(reg) out.add(16 * line),
                        out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                        out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                        options(nostack),
                    );
                }
            }
        }
    };
}

product_of_tiles!(dot_bytes, "tdpbusd");
product_of_tiles!(dot_halves, "tdpbf16ps");

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: the unit exists; nothing else on this thread uses tiles.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
    }
}
