//! SQLite: index and embeddings; locks.
