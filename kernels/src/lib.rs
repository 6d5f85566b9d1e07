//! The encoder's arithmetic: the matrix product, and what stands between two products.
//!
//! A package of its own because arithmetic without optimisation is thirty times slower, and tests that embed text would
//! take minutes: the development profile optimises this package fully and leaves the rest quick to build.

pub mod elementwise;
pub mod halves;
mod isa;
pub mod product;

pub use isa::Isa;
