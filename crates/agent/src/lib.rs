//! The work of the commands after argument parsing.
//!
//! | module | contents |
//! | --- | --- |
//! | [`config`] | raw configuration → validated configuration; the Python version's keys; trust |
//! | [`llm`] | chat models on servers |
//! | [`tools`] | tools that cannot escape, for people, models and agents |
//! | [`ask`] | question → snapshot → draft → verification → answer or abstention |
//! | [`runs`] | records of runs, the hash-chained ledger, redaction, replay, the page of a run |
//! | [`memory`] | the user's memories, with links that track their chunks |
//! | [`operations`] | the work of commands after argument parsing, for the command line and MCP |

pub mod ask;
pub mod config;
pub mod llm;
pub mod memory;
pub mod operations;
pub mod runs;
pub mod tools;
