//! The only integration binary: one module a command with snapshots of real output, one a promise.

mod architecture;
mod churn;
mod concurrency;
mod crash;
mod damage;
mod harness;
mod properties;
