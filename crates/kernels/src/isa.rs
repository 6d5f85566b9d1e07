//! Detects which instructions this machine has.

/// Instructions that kernels are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// The compiler's code for plain loops.
    Portable,
    /// AVX2 with FMA and conversions of half-precision numbers; processors with AVX2 have all
    /// three.
    Avx2,
    /// Like [`Self::Avx2`], and products of bytes in registers of 256 bits.
    AvxVnni,
    /// AVX-512 F, BW, DQ and VL. Products of bytes are those of [`Self::Avx2`].
    Avx512,
    /// Like [`Self::Avx512`], and products of bytes in registers of 512 bits.
    Avx512Vnni,
    /// Like [`Self::Avx512Vnni`], and products of bf16 in registers of 512 bits.
    Avx512Bf16,
    /// Like [`Self::Avx512Bf16`], and products of tiles of bytes and of bf16 (AMX). Only on Linux:
    /// a program must request the tiles from the system.
    Amx,
    /// The instructions of every 64-bit ARM processor.
    Neon,
    /// Like [`Self::Neon`], and products of four bytes (`sdot`).
    NeonDot,
}

impl Set {
    /// All sets, best first.
    pub const ALL: [Self; 9] = [
        Self::Amx,
        Self::Avx512Bf16,
        Self::Avx512Vnni,
        Self::Avx512,
        Self::AvxVnni,
        Self::Avx2,
        Self::NeonDot,
        Self::Neon,
        Self::Portable,
    ];

    /// Its name: lower-case letters and hyphens.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::AvxVnni => "avx-vnni",
            Self::Avx512 => "avx512",
            Self::Avx512Vnni => "avx512-vnni",
            Self::Avx512Bf16 => "avx512-bf16",
            Self::Amx => "amx",
            Self::Neon => "neon",
            Self::NeonDot => "neon-dot",
        }
    }
}

/// Width of the registers of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    Unknown,
    Bits128,
    Bits256,
    Bits512,
}

/// A set that this machine has. A value of this type proves that calling its instructions is sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Isa(Set);

impl Isa {
    /// `set`, if this machine has it.
    pub fn new(set: Set) -> Option<Self> {
        supports(set).then_some(Self(set))
    }

    /// The best set of this machine.
    pub fn best() -> Self {
        Self::all().next().unwrap_or(Self(Set::Portable))
    }

    /// Every set of this machine, best first.
    pub fn all() -> impl Iterator<Item = Self> {
        Set::ALL.into_iter().filter_map(Self::new)
    }

    /// The set.
    pub fn set(self) -> Set {
        self.0
    }

    /// Whether numbers of 16 bits (bf16) are converted and multiplied in registers.
    pub(crate) fn has_bf16(self) -> bool {
        matches!(self.0, Set::Avx512Bf16 | Set::Amx)
    }

    /// Whether bytes, and pairs of 16-bit numbers, are multiplied and added in registers of 512
    /// bits.
    pub(crate) fn multiplies_bytes_in_512_bits(self) -> bool {
        matches!(self.0, Set::Avx512Vnni | Set::Avx512Bf16 | Set::Amx)
    }

    pub(crate) fn width(self) -> Width {
        match self.0 {
            Set::Portable => Width::Unknown,
            Set::Neon | Set::NeonDot => Width::Bits128,
            Set::Avx2 | Set::AvxVnni => Width::Bits256,
            Set::Avx512 | Set::Avx512Vnni | Set::Avx512Bf16 | Set::Amx => Width::Bits512,
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn supports(set: Set) -> bool {
    match set {
        Set::Portable => true,
        Set::Avx2 => has_avx2(),
        Set::AvxVnni => has_avx2() && is_x86_feature_detected!("avxvnni"),
        Set::Avx512 => has_avx512(),
        Set::Avx512Vnni => has_avx512() && is_x86_feature_detected!("avx512vnni"),
        Set::Avx512Bf16 => has_bf16(),
        Set::Amx => has_bf16() && amx_is_usable(),
        Set::Neon | Set::NeonDot => false,
    }
}

/// Whether the processor multiplies bf16 numbers and bytes.
#[cfg(target_arch = "x86_64")]
fn has_bf16() -> bool {
    has_avx512() && is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512bf16")
}

/// Whether the processor has the parts of AVX-512 that the kernels use.
#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

/// Whether the processor has AVX2, FMA and half floats.
#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
}

#[cfg(target_arch = "aarch64")]
fn supports(set: Set) -> bool {
    match set {
        Set::Portable | Set::Neon => true,
        Set::NeonDot => has_dot(),
        _ => false,
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn supports(set: Set) -> bool {
    set == Set::Portable
}

#[cfg(target_arch = "x86_64")]
pub(crate) use amx_detection::is_usable as amx_is_usable;

/// Whether the matrix unit of newer Xeons (AMX) can be used.
#[cfg(target_arch = "x86_64")]
mod amx_detection {
    use std::arch::asm;
    use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
    use std::sync::OnceLock;

    /// Whether processor and system have the unit. Permission is requested from the system once per
    /// process.
    pub(crate) fn is_usable() -> bool {
        static USABLE: OnceLock<bool> = OnceLock::new();
        *USABLE.get_or_init(|| has_instructions() && is_permitted())
    }

    fn has_instructions() -> bool {
        const OSXSAVE: u32 = 1 << 27;
        const AMX_TILE: u32 = 1 << 24;
        const AMX_INT8: u32 = 1 << 25;
        const AMX_BF16: u32 = 1 << 22;
        /// The state bits of tile configuration and tile data.
        const STATES: u64 = 3 << 17;
        // SAFETY: every 64-bit processor has the instruction; newer compilers know that and treat
        // it as safe.
        #[allow(unused_unsafe, reason = "Rust 1.89 still asks for it")]
        let (most, of_system, features) =
            unsafe { (__cpuid(0).eax, __cpuid(1).ecx, __cpuid_count(7, 0).edx) };
        if !is_x86_feature_detected!("xsave") || of_system & OSXSAVE == 0 || most < 7 {
            return false;
        }
        // SAFETY: the instruction exists, as was just checked.
        let enabled = unsafe { _xgetbv(0) };
        let wanted = AMX_TILE | AMX_INT8 | AMX_BF16;
        features & wanted == wanted && enabled & STATES == STATES
    }

    /// Linux gives the tile state only to programs that request it
    /// (`arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)`).
    #[cfg(target_os = "linux")]
    fn is_permitted() -> bool {
        const ARCH_PRCTL: i64 = 158;
        const ARCH_REQ_XCOMP_PERM: u64 = 0x1023;
        const XFEATURE_XTILEDATA: u64 = 18;
        let mut result = ARCH_PRCTL;
        // SAFETY: a system call that does not access our memory; it changes only the two named
        // registers.
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
}

/// Whether the processor has products of four bytes (`sdot`).
#[cfg(target_arch = "aarch64")]
pub(crate) fn has_dot() -> bool {
    std::arch::is_aarch64_feature_detected!("dotprod")
}
