//! Products of whole tiles of bytes by the matrix unit of newer Xeons (AMX), eight times what a register of 512 bits does.
//!
//! The intrinsics are not in stable Rust yet, so the few instructions stand here as assembly. Sums are as exact as those
//! of [`crate::tile`], and weights lie in the same layout: sixteen steps of one half of a panel are one tile.

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use std::sync::OnceLock;

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
    /// The states of tile configuration and tile data.
    const STATES: u64 = 3 << 17;
    if !is_x86_feature_detected!("xsave") || __cpuid(1).ecx & OSXSAVE == 0 || __cpuid(0).eax < 7 {
        return false;
    }
    let features = __cpuid_count(7, 0).edx;
    // SAFETY: the instruction is there, as was just seen.
    let enabled = unsafe { _xgetbv(0) };
    features & AMX_TILE != 0 && features & AMX_INT8 != 0 && enabled & STATES == STATES
}

/// Linux gives the tiles' state only to programs that ask (`arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)`).
#[cfg(target_os = "linux")]
fn is_permitted() -> bool {
    const ARCH_PRCTL: i64 = 158;
    const ARCH_REQ_XCOMP_PERM: u64 = 0x1023;
    const XFEATURE_XTILEDATA: u64 = 18;
    let mut result = ARCH_PRCTL;
    // SAFETY: a system call that reads no memory of ours; it changes the two registers that are named.
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

/// The tiles of this thread, ready; given back when dropped. Not to be sent: the state is the thread's.
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
        assert!(is_usable(), "an `Isa` is only made where the machine has its instructions");
        // SAFETY: the unit is there and permitted; the shape is one that the first palette allows.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const SHAPE, options(nostack, readonly)) };
        Self(std::marker::PhantomData)
    }

    /// Sums of 32 rows of codes over one panel; a row begins every `stride` bytes. With `half`, of the first 16.
    ///
    /// Panics when `rows` is shorter than that, or the panel not a multiple of [`STEP`] inputs.
    pub(crate) fn product(
        &self,
        rows: &[u8],
        stride: usize,
        panel: &[Quads],
        half: bool,
        sums: &mut [[i32; PANEL]; ROWS],
    ) {
        let inputs = panel.len() * 2;
        let count = if half { ROWS / 2 } else { ROWS };
        assert!(inputs > 0 && inputs.is_multiple_of(STEP) && inputs <= stride && rows.len() >= count * stride);
        let (a, b, out) = (rows.as_ptr(), panel.as_ptr(), sums.as_mut_ptr());
        // SAFETY: the tiles are set up, on this thread. Each step reads 64 bytes of `count` rows, which hold `inputs`
        // bytes each, and 32 lines of the panel; both end with the steps. `out` is 32 rows of two lines.
        unsafe {
            if half {
                asm!(
                    "tilezero tmm0",
                    "tilezero tmm1",
                    "2:",
                    "tileloadd tmm4, [{a} + {stride}*1]",
                    "tileloadd tmm6, [{b} + {line}*1]",
                    "tileloadd tmm7, [{b} + {line}*1 + 64]",
                    "tdpbusd tmm0, tmm4, tmm6",
                    "tdpbusd tmm1, tmm4, tmm7",
                    "add {a}, 64",
                    "add {b}, 2048",
                    "dec {steps}",
                    "jnz 2b",
                    "tilestored [{out} + {line}*1], tmm0",
                    "tilestored [{out} + {line}*1 + 64], tmm1",
                    a = inout(reg) a => _,
                    b = inout(reg) b => _,
                    steps = inout(reg) inputs / STEP => _,
                    stride = in(reg) stride,
                    line = in(reg) size_of::<[i32; PANEL]>(),
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
                    "tileloadd tmm6, [{b} + {line}*1]",
                    "tileloadd tmm7, [{b} + {line}*1 + 64]",
                    "tileloadd tmm5, [{second} + {stride}*1]",
                    "tdpbusd tmm0, tmm4, tmm6",
                    "tdpbusd tmm1, tmm4, tmm7",
                    "tdpbusd tmm2, tmm5, tmm6",
                    "tdpbusd tmm3, tmm5, tmm7",
                    "add {a}, 64",
                    "add {second}, 64",
                    "add {b}, 2048",
                    "dec {steps}",
                    "jnz 2b",
                    "tilestored [{out} + {line}*1], tmm0",
                    "tilestored [{out} + {line}*1 + 64], tmm1",
                    "tilestored [{out} + {line}*1 + 2048], tmm2",
                    "tilestored [{out} + {line}*1 + 2112], tmm3",
                    a = inout(reg) a => _,
                    second = inout(reg) a.add(16 * stride) => _,
                    b = inout(reg) b => _,
                    steps = inout(reg) inputs / STEP => _,
                    stride = in(reg) stride,
                    line = in(reg) size_of::<[i32; PANEL]>(),
                    out = in(reg) out,
                    out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                    out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                    options(nostack),
                );
            }
        }
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: the unit is there; nobody else on this thread has tiles.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
    }
}
