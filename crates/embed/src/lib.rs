//! Turns texts into vectors.
//!
//! | module | contents |
//! | --- | --- |
//! | [`models`] | model files: registry, pull, verify, the compiled-in default |
//! | [`embedding`] | tokens, the encoder, servers that embed |

pub mod embedding;
pub mod models;
