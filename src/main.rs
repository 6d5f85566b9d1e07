//! Parses the command line, runs the command and returns its exit code.

use std::process::ExitCode;

/// The allocator. `index` allocates many small strings, and the C library's allocator took a
/// seventh of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    local_agent::cli::main()
}
