//! local-agent answers questions from a person's own markdown, and proves every answer.
//!
//! The map of the house, from the ground up. A room may use only rooms listed above it; `tests/it/architecture.rs`
//! holds the exact table and fails when an arrow points up.
//!
//! | room | what stands there |
//! | --- | --- |
//! | [`types`] | identities and spans: private fields, one constructor each |
//! | [`error`] | the table of stable codes, and `Failure` |
//! | [`state`] | the folders of the program's own files, opened by handle and never through a link |
//! | [`config`] | raw configuration → validated configuration; the ancestor's keys; trust |
//! | [`net`] | the only HTTP client |
//! | [`models`] | model files: registry, pull, verify, the embedded default |
//! | [`sandbox`] | the only code that opens what users' roots hold |
//! | [`markdown`] | text → frontmatter, blocks, sections, links, chunks, sentences. Pure |
//! | [`evidence`] | evidence snapshots, labels, the canonical citation form. Plain data |
//! | [`store`] | SQLite: index, embeddings, what is durable; locks |
//! | [`lexical`] | the tantivy projection |
//! | [`vectors`] | the matrix projection |
//! | [`embedding`] | text → vectors |
//! | [`llm`] | chat models on servers |
//! | [`verify`] | (draft, snapshot, freshness) → report. Pure |
//! | [`tools`] | tools that cannot escape, for people, models and agents |
//! | [`indexing`] | the `index` and `embed` jobs |
//! | [`retrieval`] | filters, fusion, calibration, packing → evidence snapshot |
//! | [`ask`] | question → snapshot → draft → verify → answer or abstention |
//! | [`runs`] | records of runs, the hash-chained ledger, redaction, replay, the page of a run |
//! | [`memory`] | what a person told the program, with links that know what became of their chunks |
//! | [`doctor`] | is everything true that the other commands rely on? |
//! | [`operations`] | what the commands do below argument parsing: for the command line and for MCP |
//! | [`eval`] | scorers and reports on sets with known answers |
//! | [`watch`] | keeping index and embeddings current while somebody writes |
//! | [`mcp`] | the same operations for agents |
//! | [`cli`] | command line, rendering, exit codes |

#![deny(unsafe_code)]

pub mod ask;
pub mod cli;
pub mod config;
pub mod doctor;
pub mod embedding;
pub mod error;
pub mod eval;
pub mod evidence;
pub mod indexing;
pub mod lexical;
pub mod llm;
pub mod markdown;
pub mod mcp;
pub mod memory;
pub mod models;
pub mod net;
pub mod operations;
pub mod retrieval;
pub mod runs;
pub mod sandbox;
pub mod state;
pub mod store;
pub mod tools;
pub mod types;
pub mod vectors;
pub mod verify;
pub mod watch;
