//! The only room that opens sockets.
//!
//! Nothing here runs unless a command was asked for something that needs a server: `index`, `query` and
//! `doctor --offline` never come here.

pub mod http;
#[cfg(feature = "pull")]
pub mod hub;
pub mod ollama;
#[cfg(test)]
pub(crate) mod testing;
