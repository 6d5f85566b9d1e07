//! All benchmarks in one program, because linking a program with all its dependencies takes
//! minutes.
//!
//! ```sh
//! cargo bench -- NAME [FILTER]
//! ```
//!
//! The file of a benchmark describes what it measures and what it needs. The program exits with 1
//! if it measured nothing.

mod embed;
mod kernels;
mod query;
mod vectors;
mod verify;
mod walk;

use std::process::ExitCode;

/// The same allocator as in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A benchmark; it gets the arguments after its name.
type Bench = fn(&[String]) -> Result<(), String>;

const BENCHES: [(&str, Bench); 6] = [
    ("embed", embed::run),
    ("kernels", kernels::run),
    ("query", query::run),
    ("vectors", vectors::run),
    ("verify", verify::run),
    ("walk", walk::run),
];

fn main() -> ExitCode {
    // Flags come from cargo: `--bench`, and none when `cargo test --benches` checks whether a
    // program starts.
    let (flags, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|a| a.starts_with("--"));
    if !flags.iter().any(|flag| flag == "--bench") {
        return ExitCode::SUCCESS;
    }
    let known = || BENCHES.map(|(name, _)| name).join(", ");
    let result = match words.split_first() {
        None => Err(format!("name a bench: {}", known())),
        Some((name, rest)) => match BENCHES.iter().find(|(known, _)| known == name) {
            Some((_, bench)) => bench(rest),
            None => Err(format!("there is no bench {name}, but {}", known())),
        },
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
