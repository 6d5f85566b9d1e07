//! Which instructions this machine computes products with.

/// A set of instructions that products are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isa {
    /// AVX2 with FMA and conversions of half-precision numbers; processors that have the first have all three.
    Avx2,
    /// AVX-512F.
    Avx512,
}

impl Isa {
    /// The best of this machine; `None`: it has neither, and a general product is used.
    pub fn best() -> Option<Self> {
        [Self::Avx512, Self::Avx2].into_iter().find(|isa| isa.is_supported())
    }

    #[cfg(target_arch = "x86_64")]
    pub(crate) fn is_supported(self) -> bool {
        match self {
            Self::Avx2 => {
                is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c")
            }
            Self::Avx512 => is_x86_feature_detected!("avx512f"),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn is_supported(self) -> bool {
        false
    }
}
