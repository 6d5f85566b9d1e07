//! Texts to vectors.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`models`] | model files: registry, pull, verify, the embedded default |
//! | [`embedding`] | tokens, the encoder, servers that embed |

pub mod embedding;
pub mod models;
