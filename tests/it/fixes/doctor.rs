//! The findings of doctor, with the fixes that it suggests.

use std::fs;

use super::case::{Case, Follow, Then, case};
use super::place::{behead, damage, file, indexed, newest_run, plain, sql, used};
use crate::harness::World;

const DOCTOR: &[&str] = &["doctor", "--offline"];
const STRICT: &[&str] = &["doctor", "--offline", "--require-phase3"];

fn mends(state: &'static str, make: fn() -> World, code: &'static str) -> Case {
    case(state, make, DOCTOR, code).ends(Follow::Printed, Then::Health)
}

fn strict(state: &'static str, make: fn() -> World, code: &'static str) -> Case {
    case(state, make, STRICT, code).ends(Follow::Printed, Then::Health)
}

fn with(change: impl FnOnce(&World)) -> World {
    let world = used();
    change(&world);
    world
}

pub(super) fn cases() -> Vec<Case> {
    [index(), vectors(), durable()].concat()
}

fn index() -> Vec<Case> {
    vec![
        mends("nothing was indexed", plain, "DOCTOR_INDEX_DB_MISSING"),
        mends(
            "a note changed",
            || with(|w| w.write("oven.md", "# Oven\n\nIt is cold.\n")),
            "DOCTOR_FILES_STALE",
        ),
        mends(
            "the lexical projection is gone",
            || with(|w| fs::remove_dir_all(file(w, "lexical")).unwrap()),
            "DOCTOR_LEXICAL_MISSING",
        ),
        mends(
            "the lexical projection is damaged",
            || with(|w| fs::write(file(w, "lexical/meta.json"), "{").unwrap()),
            "DOCTOR_LEXICAL_DAMAGED",
        ),
        mends(
            "a file of the lexical projection is damaged",
            || with(segment),
            "DOCTOR_LEXICAL_DAMAGED",
        ),
        mends(
            "index.sqlite is no database",
            || with(|w| behead(w, "index.sqlite")),
            "DOCTOR_INDEX_DB_ERROR",
        ),
        mends(
            "index.sqlite has damaged pages",
            || with(|w| damage(w, "index.sqlite")),
            "DOCTOR_INDEX_DB_ERROR",
        ),
        mends(
            "the text of a chunk was changed in the database",
            || {
                with(|w| {
                    sql(
                        w,
                        "index.sqlite",
                        "UPDATE chunks SET text = 'The oven is made of marble.' WHERE id = 1",
                    );
                })
            },
            "DOCTOR_INDEX_DB_ERROR",
        ),
        mends(
            "a document without its chunks",
            || {
                with(|w| {
                    sql(
                        w,
                        "index.sqlite",
                        "DELETE FROM chunks WHERE document_id = 1",
                    );
                })
            },
            "DOCTOR_DOCS_WITHOUT_CHUNKS",
        ),
        case(
            "the configuration is gone",
            || {
                with(|w| {
                    fs::rename(w.vault().join("local-agent.yaml"), w.root().join("away")).unwrap();
                })
            },
            DOCTOR,
            "DOCTOR_CONFIG_PATH_MISSING",
        )
        .ends(Follow::Printed, Then::Next("DOCTOR_INDEX_SOURCES_MISMATCH")),
    ]
}

/// Damages a file that contains postings.
fn segment(world: &World) {
    let entries = fs::read_dir(file(world, "lexical")).unwrap().flatten();
    let found = entries
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|end| end == "idx"));
    let path = found.unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.len() / 3;
    bytes[at] ^= 0xff;
    fs::write(path, bytes).unwrap();
}

fn vectors() -> Vec<Case> {
    vec![
        strict(
            "nothing was embedded",
            indexed,
            "DOCTOR_PHASE3_EMBEDDINGS_DB_MISSING",
        ),
        mends(
            "nothing was embedded",
            indexed,
            "DOCTOR_PHASE3_EMBEDDINGS_DB_MISSING_WARN",
        ),
        strict(
            "a note changed and was indexed",
            || with(edited),
            "DOCTOR_VECTORS_STALE_REQUIRE_PHASE3",
        ),
        strict(
            "a note changed and was indexed",
            || with(edited),
            "DOCTOR_EMBED_MISSING_REQUIRE_PHASE3",
        ),
        mends(
            "embeddings.sqlite is no database",
            || with(|w| behead(w, "embeddings.sqlite")),
            "DOCTOR_EMBED_DB_ERROR",
        ),
        mends(
            "embeddings.sqlite has damaged pages",
            || with(|w| damage(w, "embeddings.sqlite")),
            "DOCTOR_EMBED_DB_ERROR",
        ),
        mends(
            "the matrix is gone",
            || with(|w| fs::remove_dir_all(file(w, "vectors")).unwrap()),
            "DOCTOR_VECTORS_MISSING",
        ),
        mends(
            "the list of vectors is damaged",
            || with(|w| fs::write(file(w, "vectors/manifest.json"), "{").unwrap()),
            "DOCTOR_VECTORS_DAMAGED",
        ),
    ]
}

fn edited(world: &World) {
    world.write("oven.md", "# Oven\n\nIt is cold today.\n");
    world.ok(&["index"]);
}

fn durable() -> Vec<Case> {
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
