//! The real program under attack. Each mode is a function that takes a seed and a budget and
//! returns a tally. The short form of each mode is a test; one more test, ignored by default, runs
//! them for a given time and prints one table. `docs/reliability.md` says what each mode does and
//! how to start it.
#![cfg(target_os = "linux")]

#[allow(dead_code)]
#[path = "../it/churn.rs"]
mod churn;
#[allow(dead_code)]
#[path = "../it/harness.rs"]
mod harness;
#[path = "../it/json_schema.rs"]
mod json_schema;

mod client;
mod corrupt;
#[cfg(target_arch = "x86_64")]
mod fault;
mod fresh;
mod full;
mod fuzz;
mod hostile;
mod hostile_state;
mod kill;
mod known;
mod long;
mod mix;
mod odd;
mod program;
#[cfg(target_arch = "x86_64")]
mod ptrace;
mod race;
mod readonly;
mod shown;
mod stage;
mod tally;
#[cfg(target_arch = "x86_64")]
mod tracer;

use std::time::Duration;

use self::tally::{Budget, Place, Tally};

/// Runs a mode for a short time and expects only known findings.
fn short(mode: fn(u64, &Budget) -> Tally, operations: usize) {
    let tally = mode(
        7,
        &Budget {
            operations,
            time: Duration::from_secs(240),
            place: Place::temporary(),
            threads: 1,
        },
    );
    let found = tally.unknown();
    assert!(found.is_empty(), "{}\n{}", tally.row(), found.join("\n"));
    assert!(tally.operations > 0, "nothing was done");
}

#[test]
fn kills_at_any_moment_lose_nothing() {
    short(kill::run, 12);
}

#[test]
#[ignore = "what it finds depends on chance: part of the long form"]
fn many_processes_at_once_raise_no_false_alarm_and_lose_nothing() {
    short(mix::run, 250);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_write_that_fails_or_is_torn_loses_nothing() {
    short(fault::run, 40);
}

#[test]
fn full_and_read_only_disks_are_typed_failures_that_pass() {
    short(full::run, 24);
}

#[test]
fn damage_is_said_and_the_printed_fixes_mend_it() {
    short(corrupt::run, 8);
}

#[test]
fn odd_names_and_contents_are_read_word_for_word_or_skipped() {
    short(odd::run, 60);
}

#[test]
fn nothing_that_is_swapped_in_from_outside_comes_out() {
    short(race::run, 400);
}

#[test]
fn mutated_notes_and_messages_end_nothing() {
    short(fuzz::run, 120);
}

#[test]
fn a_state_folder_of_a_stranger_touches_nothing_outside() {
    short(hostile_state::run, 120);
}
