//! The index and embed jobs.
