//! Products of whole tiles of bytes and of bf16 by the matrix unit of newer Xeons (AMX), eight
//! times what a register of 512 bits does.
//!
//! The intrinsics are not in stable Rust yet, so the few instructions stand here as assembly. Sums
//! are as exact as those of [`crate::tile`], and weights lie in the same layout: sixteen steps of
//! one half of a panel are one tile.

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use std::sync::OnceLock;

use crate::bf16::Halves;
use crate::tile::{PANEL, Quads};

/// Rows of a tile of sums: two tiles of the unit.
pub(crate) const ROWS: usize = 32;

/// Inputs are a multiple of what a row of a tile holds.
pub(crate) const STEP: usize = 64;

/// Whether processor and system have the unit; the system is asked for it, once a process.
pub(crate) fn is_usable() -> bool {
    static USABLE: OnceLock<bool> = OnceLock::new();
    *USABLE.get_or_init(|| has_instructions() && is_permitted())
}

fn has_instructions() -> bool {
    const OSXSAVE: u32 = 1 << 27;
    const AMX_TILE: u32 = 1 << 24;
    const AMX_INT8: u32 = 1 << 25;
    const AMX_BF16: u32 = 1 << 22;
    /// The states of tile configuration and tile data.
    const STATES: u64 = 3 << 17;
    // SAFETY: every 64-bit processor has the instruction; newer compilers know, and call it safe.
    #[allow(unused_unsafe, reason = "Rust 1.89 still asks for it")]
    let (most, of_system, features) =
        unsafe { (__cpuid(0).eax, __cpuid(1).ecx, __cpuid_count(7, 0).edx) };
    if !is_x86_feature_detected!("xsave") || of_system & OSXSAVE == 0 || most < 7 {
        return false;
    }
    // SAFETY: the instruction is there, as was just seen.
    let enabled = unsafe { _xgetbv(0) };
    let wanted = AMX_TILE | AMX_INT8 | AMX_BF16;
    features & wanted == wanted && enabled & STATES == STATES
}

/// Linux gives the tiles' state only to programs that ask (`arch_prctl(ARCH_REQ_XCOMP_PERM,
/// XFEATURE_XTILEDATA)`).
#[cfg(target_os = "linux")]
fn is_permitted() -> bool {
    const ARCH_PRCTL: i64 = 158;
    const ARCH_REQ_XCOMP_PERM: u64 = 0x1023;
    const XFEATURE_XTILEDATA: u64 = 18;
    let mut result = ARCH_PRCTL;
    // SAFETY: a system call that reads no memory of ours; it changes the two registers that are
    // named.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") result,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") XFEATURE_XTILEDATA,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result == 0
}

#[cfg(not(target_os = "linux"))]
fn is_permitted() -> bool {
    false
}

/// How the eight tiles are cut: sixteen rows of 64 bytes each.
#[repr(C, align(64))]
struct Shape {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    bytes: [u16; 16],
    rows: [u8; 16],
}

/// The tiles of this thread, ready; given back when dropped. Not to be sent: the state is the
/// thread's.
pub(crate) struct Tiles(std::marker::PhantomData<*const ()>);

impl Tiles {
    /// Sets this thread's tiles up.
    ///
    /// Panics where they are not usable.
    pub(crate) fn new() -> Self {
        static SHAPE: Shape = Shape {
            palette: 1,
            start_row: 0,
            reserved: [0; 14],
            bytes: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
            rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
        };
        assert!(
            is_usable(),
            "an `Isa` is only made where the machine has its instructions"
        );
        // SAFETY: the unit is there and permitted; the shape is one that the first palette allows.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const SHAPE, options(nostack, readonly)) };
        Self(std::marker::PhantomData)
    }

    /// Sums of 32 rows of codes over one panel; a row begins every `stride` bytes. With `half`, of
    /// the first 16.
    ///
    /// Panics when `rows` is shorter than that, or the panel not a multiple of [`STEP`] inputs.
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
        // SAFETY: the tiles are set up, on this thread. Each step reads 64 bytes of `count` rows,
        // which hold `inputs` bytes each, and 32 lines of the panel; both end with the steps.
        // `sums` is 32 rows of two lines.
        unsafe {
            dot_bytes(
                &step,
                half,
                sums.as_mut_ptr().cast(),
                size_of::<[i32; PANEL]>(),
            )
        };
    }

    /// The same of bf16, in sums of floats; a row of sums begins every `out_stride` numbers.
    ///
    /// Panics when a slice is too short, or the panel not a multiple of 32 inputs.
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
        // SAFETY: as above; a number is two bytes, and `out` holds 32 sums for each of `count`
        // rows.
        unsafe { dot_halves(&step, half, out.as_mut_ptr().cast(), 4 * out_stride) };
    }
}

/// Where a product begins: rows every `stride` bytes, of which each step takes 64, and a panel, of
/// which each takes 32 lines.
struct Step {
    rows: *const u8,
    stride: usize,
    panel: *const u8,
    steps: usize,
}

/// One product of tiles by the instruction `$dot`.
macro_rules! product_of_tiles {
    ($name:ident, $dot:literal) => {
        /// # Safety
        /// The tiles of this thread are set up; `step` is as it says, for 32 rows (or 16: `half`),
        /// and `out` takes 128 bytes for each of them, every `line` bytes.
        #[inline]
        unsafe fn $name(step: &Step, half: bool, out: *mut u8, line: usize) {
            let Step { rows, stride, panel, steps } = *step;
            // SAFETY: by the caller's promise.
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
        // SAFETY: the unit is there; nobody else on this thread has tiles.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
    }
}
