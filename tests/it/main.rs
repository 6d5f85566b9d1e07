//! The only integration binary: one module a command with snapshots of real output, one a promise.

mod ancestor;
mod architecture;
mod ask;
mod codes;
mod completions;
mod config;
mod docs;
mod embed;
mod filters;
mod freshness;
mod get;
mod harness;
mod index;
mod init;
mod models;
mod query;
mod readers;
mod reference;
mod status;
mod streams;
mod try_it;
