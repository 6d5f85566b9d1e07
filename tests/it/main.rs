//! The only integration binary: one module a command with snapshots of real output, one a promise.

mod architecture;
mod doctor;
mod harness;
