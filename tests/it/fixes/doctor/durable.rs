//! What cannot be made again: memory, and the records of runs.

use std::fs;

use super::super::case::{Case, Follow, Then, case};
use super::super::place::{behead, damage, file, newest_run, sql};
#[cfg(unix)]
use super::super::records::open_to_others;
use super::{DOCTOR, configure, mends, named, with};

pub(super) fn cases() -> Vec<Case> {
    [whole(), memory(), runs()].concat()
}

fn whole() -> Vec<Case> {
    vec![
        mends(
            "durable.sqlite is gone",
            || with(|w| fs::remove_file(file(w, "durable.sqlite")).unwrap()),
            "DOCTOR_DURABLE_MISSING",
        ),
        mends(
            "durable.sqlite is no database",
            || with(|w| behead(w, "durable.sqlite")),
            "DOCTOR_MEMORY_DB_ERROR",
        ),
        mends(
            "durable.sqlite has damaged pages",
            || with(|w| damage(w, "durable.sqlite")),
            "DOCTOR_MEMORY_DB_ERROR",
        ),
        mends(
            "a line of the ledger was changed",
            || {
                with(|w| {
                    let text = fs::read_to_string(file(w, "runs/ledger.jsonl")).unwrap();
                    fs::write(
                        file(w, "runs/ledger.jsonl"),
                        text.replacen("begin", "bogin", 1),
                    )
                    .unwrap();
                })
            },
            "DOCTOR_LEDGER_BROKEN",
        ),
        case(
            "a record was changed",
            || {
                with(|w| {
                    let record = newest_run(w).join("run.json");
                    let text = fs::read_to_string(&record).unwrap();
                    fs::write(&record, text.replace("granite", "marble")).unwrap();
                })
            },
            DOCTOR,
            "DOCTOR_RUN_RECORDS_DAMAGED",
        )
        .ends(
            Follow::Printed,
            Then::Says(&["runs", "verify"], "RECORD_CHANGED"),
        ),
        mends(
            "a chunk that a memory leans on moved",
            || {
                with(|w| {
                    fs::rename(w.vault().join("oven.md"), w.vault().join("stove.md")).unwrap();
                    w.ok(&["index"]);
                })
            },
            "DOCTOR_MEMORY_DANGLING_EVIDENCE",
        ),
    ]
}

fn memory() -> Vec<Case> {
    vec![
        mends(
            "durable.sqlite belongs to another program",
            || with(|w| sql(w, "durable.sqlite", "PRAGMA application_id = 77")),
            "DOCTOR_MEMORY_DB_FOUND",
        ),
        mends(
            "durable.sqlite is of a newer version",
            || with(|w| sql(w, "durable.sqlite", "PRAGMA user_version = 99")),
            "DOCTOR_MEMORY_SCHEMA_VERSION",
        ),
        case(
            "a chunk that a memory leans on is gone",
            || {
                with(|w| {
                    fs::remove_file(w.vault().join("oven.md")).unwrap();
                    w.ok(&["index"]);
                })
            },
            DOCTOR,
            "DOCTOR_MEMORY_DANGLING_EVIDENCE_WARN",
        )
        .ends(Follow::Printed, Then::Informed),
    ]
}

fn runs() -> Vec<Case> {
    vec![
        named(
            "no records are kept",
            || with(|w| configure(w, "runs: {enabled: false}\n")),
            "DOCTOR_RUNS_DISABLED_WARN",
        ),
        mends(
            "nothing vouches for the end of the ledger",
            || with(|w| sql(w, "durable.sqlite", "DELETE FROM ledger_heads")),
            "DOCTOR_LEDGER_HEAD_UNKNOWN_WARN",
        ),
        mends(
            "a run never ended",
            || with(|w| drop(crate::runs::begin(w))),
            "DOCTOR_RUNS_INTERRUPTED_WARN",
        ),
        #[cfg(unix)]
        mends(
            "others may read a record",
            || with(|w| open_to_others(&newest_run(w).join("run.json"))),
            "DOCTOR_RUNS_OPEN_TO_OTHERS",
        ),
    ]
}
