//! The only integration binary: one module a command with snapshots of real output, one a promise.

mod ancestor;
mod architecture;
mod ask;
mod ask_file;
mod ask_model;
mod chat;
mod chat_server;
mod churn;
mod codes;
mod completions;
mod concurrency;
mod config;
mod crash;
mod damage;
mod defects;
mod docs;
mod doctor;
mod embed;
mod emptied;
mod eval;
mod filters;
mod freshness;
mod fuzzed;
mod get;
mod growth;
mod harness;
#[cfg(unix)]
mod hostile_state;
mod index;
mod init;
mod mcp;
mod memory;
mod models;
#[allow(dead_code)]
#[path = "../../src/net/testing.rs"]
mod net_testing;
mod properties;
mod query;
mod races;
mod readers;
mod readme;
mod rebuilt;
mod reference;
mod runs;
mod schema;
mod status;
mod streams;
mod tools;
mod try_it;
mod verify;
mod watch;
