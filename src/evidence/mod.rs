//! Evidence snapshots, labels, the canonical citation form. Plain data.
