//! The only HTTP client.
