//! The matrix projection.
