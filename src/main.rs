//! Parse, run, exit code. Nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    local_agent::cli::main()
}
