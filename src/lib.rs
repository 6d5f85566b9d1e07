//! local-agent answers questions from a person's own markdown, and proves every answer.
//!
//! This package is the program: the command line, the server for agents, the watcher and the
//! doctor. The rest is in the packages below `crates/`, each of which may use only those listed
//! above it; their manifests enforce that rule.
//!
//! | package | contents |
//! | --- | --- |
//! | `kernels` | the encoder's arithmetic |
//! | `text` | types, error codes, markdown, evidence and citations. Pure |
//! | `verify` | (draft, snapshot, freshness) → report. Pure |
//! | `files` | all access to the disk: users' roots, and the program's own state |
//! | `net` | the only HTTP client |
//! | `embed` | model files; text → vectors |
//! | `index` | databases, projections, the jobs, retrieval |
//! | `agent` | configuration, chat models, answers, tools, records, memory, operations |
//! | `eval` | scorers and reports on sets with known answers |
//!
//! | module | contents |
//! | --- | --- |
//! | [`doctor`] | checks everything that the other commands rely on |
//! | [`watch`] | keeps index and embeddings current while files change |
//! | [`mcp`] | the same operations for agents |
//! | [`serve`] | the same operations over HTTP, for this machine only |
//! | [`cli`] | command line, rendering, exit codes |

pub mod cli;
mod doctor;
pub mod mcp;
mod serve;
mod watch;
