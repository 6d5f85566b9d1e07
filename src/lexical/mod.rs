//! The tantivy projection.
