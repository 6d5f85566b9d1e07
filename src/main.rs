//! Parse, run, exit code. Nothing else.

use std::process::ExitCode;

/// `index` allocates so many small strings that the C library's allocator took a seventh of its
/// time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    local_agent::cli::main()
}
