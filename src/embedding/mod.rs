//! Text → vectors.
