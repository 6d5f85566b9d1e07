//! The encoder's arithmetic: the whole network from the normed word vectors to the output of the
//! last layer.
//!
//! This is a separate package because arithmetic without optimisation is thirty times slower, and
//! tests that embed text would take minutes: the development profile optimises this package fully,
//! and the other packages still build quickly.
//!
//! Everything is written once as plain loops, which the compiler also compiles for AVX2 and
//! AVX-512. Written by hand are the inner loops of products ([`tile`]) and, for 512 bits, the other
//! code that takes much time ([`avx512`]). On 64-bit ARM, plain loops compile to NEON, and inner
//! loops are written by hand as well. How much the results of two sets may differ is documented in
//! [`product`], [`int8`], [`bf16`].

#[cfg(target_arch = "x86_64")]
mod amx;
mod attention;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "what registers and tiles of x86 take")
)]
pub mod bf16;
pub mod elementwise;
mod hadamard;
pub mod halves;
pub mod int8;
mod isa;
#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "what registers and tiles of x86 take")
)]
mod layout;
#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "what registers and tiles of x86 take")
)]
mod lines;
#[cfg(target_arch = "aarch64")]
mod neon;
pub mod network;
pub mod product;
pub mod stored;
mod tile;

pub use isa::{Isa, Set};

/// A limit for tests: smaller under Miri, an interpreter that looks for undefined behaviour and is
/// a thousand times slower.
#[cfg(test)]
const fn most(of: usize) -> usize {
    if cfg!(miri) { of.div_ceil(6) } else { of }
}
