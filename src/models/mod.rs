//! Model files: registry, pull, verify, the embedded default.
