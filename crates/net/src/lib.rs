//! The only room that opens sockets.
//!
//! Nothing here runs unless a command was asked for something that needs a server: `index`, `query`
//! and `doctor --offline` never come here.

mod api_key;
pub mod http;
#[cfg(feature = "pull")]
pub mod hub;
pub mod ollama;
mod url;

pub use api_key::ApiKey;
pub use url::ServerUrl;
