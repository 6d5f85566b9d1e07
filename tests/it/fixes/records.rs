//! Records of runs that were lost, changed, or never ended.

use std::fs;

use super::case::{Case, Follow, Then, case};
use super::place::{file, newest_run, sql, used};
use crate::harness::World;

const VERIFY: &[&str] = &["runs", "verify"];
/// A head that no ledger has.
const NO_HEAD: &str = "0000000000000000000000000000000000000000000000000000000000000000";

pub(super) fn cases() -> Vec<Case> {
    [found_by_verify(), met_by_commands()].concat()
}

fn with(change: impl FnOnce(&World)) -> World {
    let world = used();
    change(&world);
    world
}

fn mends(state: &'static str, make: fn() -> World, code: &'static str) -> Case {
    case(state, make, VERIFY, code).ends(Follow::Printed, Then::Health)
}

fn found_by_verify() -> Vec<Case> {
    vec![
        mends(
            "a record is gone",
            || with(|w| fs::remove_dir_all(newest_run(w)).unwrap()),
            "RECORD_MISSING",
        ),
        mends(
            "nothing vouches for the end of the ledger",
            || with(|w| sql(w, "durable.sqlite", "DELETE FROM ledger_heads")),
            "HEAD_UNKNOWN",
        ),
        case(
            "a head that was never in the ledger",
            used,
            &["runs", "verify", "--head", NO_HEAD],
            "HEAD_NOT_HELD",
        )
        .ends(Follow::Again(VERIFY), Then::Health),
        mends(
            "a run never ended",
            || with(|w| drop(crate::runs::begin(w))),
            "RUN_INTERRUPTED",
        ),
        mends(
            "a run was not removed whole",
            || with(left_over),
            "RUN_LEFT_OVER",
        ),
        mends(
            "a record was gone when a new ledger was begun",
            || with(lost),
            "RUN_LOST",
        ),
        case(
            "a record that was entered later",
            || with(entered_later),
            VERIFY,
            "RUN_UNVOUCHED",
        )
        .ends(Follow::ByHand("nothing is done", |_| {}), Then::Informed),
        #[cfg(unix)]
        mends(
            "others may read a record",
            || with(|w| open_to_others(&newest_run(w).join("run.json"))),
            "OPEN_TO_OTHERS",
        ),
        #[cfg(unix)]
        mends(
            "others may read the ledger",
            || with(|w| open_to_others(&file(w, "runs/ledger.jsonl"))),
            "OPEN_TO_OTHERS",
        ),
    ]
}

fn met_by_commands() -> Vec<Case> {
    vec![
        case(
            "a record was replaced",
            || with(|w| fs::write(newest_run(w).join("run.json"), "{}").unwrap()),
            &["runs", "show", "last"],
            "RUN_TAMPERED",
        )
        .ends(Follow::Printed, Then::Says(VERIFY, "RECORD_CHANGED")),
        case(
            "a record is of a newer version",
            || with(|w| in_record(w, "\"schema_version\": 1", "\"schema_version\": 2")),
            &["runs", "show", "last"],
            "RUN_NEWER",
        )
        .ends(
            Follow::ByHand(
                "the newer version wrote nothing that this one does not know",
                |w| {
                    in_record(w, "\"schema_version\": 2", "\"schema_version\": 1");
                },
            ),
            Then::Health,
        ),
        case(
            "a run never ended",
            || with(|w| drop(crate::runs::begin(w))),
            &["runs", "replay", "last"],
            "RUN_INCOMPLETE",
        )
        .ends(Follow::Printed, Then::Informed),
    ]
}

#[cfg(unix)]
pub(super) fn open_to_others(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
}

fn id_of(folder: &std::path::Path) -> String {
    folder.file_name().unwrap().to_string_lossy().into_owned()
}

/// Prunes a run, and puts an empty folder of it back.
fn left_over(world: &World) {
    let folder = newest_run(world);
    world.ok(&["runs", "prune", &id_of(&folder)]);
    fs::create_dir(&folder).unwrap();
}

/// Loses a record, breaks the ledger, and begins a new one.
fn lost(world: &World) {
    fs::remove_dir_all(newest_run(world)).unwrap();
    break_ledger(world);
    world.ok(&["runs", "head", "--renew"]);
}

/// Changes the text of the newest record.
fn in_record(world: &World, from: &str, to: &str) {
    let record = newest_run(world).join("run.json");
    let text = fs::read_to_string(&record).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(record, text.replace(from, to)).unwrap();
}

/// Adopts a record of another vault.
fn entered_later(world: &World) {
    let other = used();
    other.ok(&["ask", "When was the pump mended?"]);
    let folder = newest_run(&other);
    fs::rename(&folder, file(world, "runs").join(id_of(&folder))).unwrap();
    world.ok(&["runs", "head", "--adopt"]);
}

fn break_ledger(world: &World) {
    let ledger = file(world, "runs/ledger.jsonl");
    let text = fs::read_to_string(&ledger).unwrap();
    fs::write(ledger, text.replacen("begin", "bogin", 1)).unwrap();
}
