//! The only integration binary: one module a command with snapshots of real output, one a promise.

mod ancestor;
mod architecture;
mod ask;
mod churn;
mod codes;
mod completions;
mod concurrency;
mod config;
mod crash;
mod damage;
mod docs;
mod embed;
mod filters;
mod freshness;
mod get;
mod harness;
mod index;
mod init;
mod models;
mod properties;
mod query;
mod readers;
mod reference;
mod status;
mod streams;
mod try_it;
