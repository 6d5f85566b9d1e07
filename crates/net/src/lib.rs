//! The only module that opens sockets.
//!
//! Nothing here runs unless a command needs a server: `index`, `query` and `doctor --offline` never
//! use it.

mod api_key;
pub mod http;
#[cfg(feature = "pull")]
pub mod hub;
pub mod ollama;
mod pinned;
mod url;

pub use api_key::ApiKey;
pub use url::ServerUrl;
