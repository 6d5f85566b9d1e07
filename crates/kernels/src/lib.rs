//! The encoder's arithmetic: the whole network from the normed word vectors to the last layer's
//! output.
//!
//! A package of its own because arithmetic without optimisation is thirty times slower, and tests
//! that embed text would take minutes: the development profile optimises this package fully and
//! leaves the rest quick to build.
//!
//! Everything is written once as plain loops, which the compiler also makes for AVX2 and AVX-512;
//! by hand are the inner loops of products ([`tile`]) and, in 512 bits, what else the time goes
//! into ([`avx512`]). On 64-bit ARM, loops are NEON's by themselves, and inner loops by hand as
//! well. How far the results of two sets may differ is documented in [`product`], [`int8`],
//! [`bf16`].

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

/// The most of something in a test: less where an interpreter looks for undefined behaviour, a
/// thousand times slower.
#[cfg(test)]
const fn most(of: usize) -> usize {
    if cfg!(miri) { of.div_ceil(6) } else { of }
}
