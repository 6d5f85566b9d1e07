//! The long form: runs each mode as much as `LOCAL_AGENT_TORTURE` says, and prints one table.

use std::fs;
use std::time::Duration;

use super::tally::{Budget, Place, Tally};

/// One mode: takes a seed and a budget, returns the results.
type Mode = fn(u64, &Budget) -> Tally;

/// A mode by name, and whether it is also run in memory.
const MODES: &[(&str, Mode, bool)] = &[
    ("kill", super::kill::run, true),
    ("mix", super::mix::run, true),
    ("full", super::full::run, false),
    ("corrupt", super::corrupt::run, true),
    #[cfg(target_arch = "x86_64")]
    ("fault", super::fault::run, true),
    ("odd", super::odd::run, true),
    ("race", super::race::run, true),
    ("fuzz", super::fuzz::run, false),
    ("hostile_state", super::hostile_state::run, false),
];

/// The value of one setting, as in `kill=500 mix=100000 seed=3 minutes=20`.
fn asked(name: &str) -> Option<u64> {
    let line = std::env::var("LOCAL_AGENT_TORTURE").unwrap_or_default();
    let mut words = line
        .split_whitespace()
        .filter_map(|word| word.split_once('='));
    let found = words.rfind(|(key, _)| *key == name);
    found.map(|(key, value)| {
        value
            .parse()
            .unwrap_or_else(|_| panic!("`{key}={value}` is no number"))
    })
}

#[test]
#[ignore = "runs for as long as LOCAL_AGENT_TORTURE says"]
fn all_modes_at_length() {
    let seed = asked("seed").unwrap_or(1);
    let time = Duration::from_secs(60 * asked("minutes").unwrap_or(30));
    let threads = usize::try_from(asked("threads").unwrap_or(1)).unwrap();
    let mut rows = String::new();
    let mut cases = String::new();
    for (name, mode, in_memory) in MODES {
        let Some(operations) = asked(name) else {
            continue;
        };
        let operations = usize::try_from(operations).unwrap();
        let places = [
            Some(Place::temporary()),
            in_memory.then(Place::memory).flatten(),
        ];
        for place in places.into_iter().flatten() {
            let tally = mode(
                seed,
                &Budget {
                    operations,
                    time,
                    place,
                    threads,
                },
            );
            eprintln!("{}\n{}", tally.row(), tally.cases());
            rows += &format!("{}\n", tally.row());
            cases += &tally.cases();
        }
    }
    println!("\n{}\n", machine());
    println!(
        "| mode | world | operations | unexpected errors | false alarms | lost rows | defects | seconds |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |\n{rows}\n{cases}");
    assert!(
        !rows.is_empty(),
        "LOCAL_AGENT_TORTURE names no mode: kill=500 mix=10000 …"
    );
}

/// Processor, kernel and file system of this machine.
fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let info = read("/proc/cpuinfo");
    let model = info
        .lines()
        .find(|line| line.starts_with("model name"))
        .and_then(|line| line.split(": ").nth(1));
    let processors = info
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count();
    format!(
        "{processors} × {}, Linux {}, {}",
        model.unwrap_or(std::env::consts::ARCH),
        read("/proc/sys/kernel/osrelease").trim(),
        Place::temporary().system
    )
}
