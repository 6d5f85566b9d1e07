//! local-agent answers questions from a person's own markdown, and proves every answer.
//!
//! This is the map of the house. A room may use only rooms listed above it; `tests/it/architecture.rs`
//! holds the exact table and fails when an arrow points up.

#![deny(unsafe_code)]

pub mod ask; //        question → snapshot → draft → verify → answer or abstention
pub mod cli;
pub mod config; //     raw configuration → validated configuration; the ancestor's keys; trust
pub mod doctor; //     is everything true that the other commands rely on?
pub mod embedding; //  text → vectors
pub mod error; //      the table of stable codes, and `Failure`
pub mod eval; //       scorers and reports
pub mod evidence; //   evidence snapshots, labels, the canonical citation form. Plain data
pub mod indexing; //   the `index` and `embed` jobs
pub mod lexical; //    the tantivy projection
pub mod markdown; //   bytes → frontmatter, blocks, sections, links, chunks. Pure
pub mod models; //     model files: registry, pull, verify, the embedded default
pub mod net; //        the only HTTP client
pub mod retrieval; //  filters, fusion, calibration, packing → evidence snapshot
pub mod sandbox; //    the only code that opens what users' roots hold
pub mod store; //      SQLite: index and embeddings; locks
pub mod types; //      identities and spans: private fields, one constructor each
pub mod vectors; //    the matrix projection
pub mod verify; //     (draft, snapshot, freshness) → report. Pure //        command line, rendering, exit codes
