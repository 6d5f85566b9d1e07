//! The index, and the files it was made from.

use std::fs;

use super::super::case::{Case, Follow, Then, case};
use super::super::place::{behead, damage, file, plain, sql};
use super::{DOCTOR, by_hand, configure, mends, with};
use crate::harness::{World, copy};

pub(super) fn cases() -> Vec<Case> {
    [
        whole(),
        of_another_make(),
        inside(),
        against_files(),
        lexical(),
    ]
    .concat()
}

fn whole() -> Vec<Case> {
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

/// Databases that this program cannot use, and one that holds nothing.
fn of_another_make() -> Vec<Case> {
    vec![
        mends(
            "index.sqlite belongs to another program",
            || with(|w| sql(w, "index.sqlite", "PRAGMA application_id = 77")),
            "DOCTOR_INDEX_DB_FOREIGN",
        ),
        by_hand(
            "index.sqlite is of a newer version",
            || with(|w| sql(w, "index.sqlite", "PRAGMA user_version = 99")),
            "DOCTOR_INDEX_SCHEMA_VERSION",
            "another path is set, and `local-agent index` is run",
            |world| {
                configure(world, "index: {db_path: .local-agent/new.sqlite}\n");
                world.ok(&["index"]);
                world.ok(&["embed"]);
            },
        ),
        mends("the index holds nothing", empty, "DOCTOR_INDEX_EMPTY"),
        by_hand(
            "the index holds nothing, and there are no notes",
            || {
                let world = World::with(&[]);
                world.ok(&["index"]);
                world
            },
            "DOCTOR_INDEX_EMPTY",
            "a note is written, and `local-agent index` is run",
            |world| {
                world.write("first.md", "# First\n\nA note.\n");
                world.ok(&["index"]);
            },
        ),
    ]
}

/// An index that was made before there were notes.
fn empty() -> World {
    let world = World::with(&[]);
    world.ok(&["index"]);
    world.write("first.md", "# First\n\nA note.\n");
    world
}

/// Rows that do not fit each other, or not the configuration.
fn inside() -> Vec<Case> {
    vec![
        case(
            "a source has another name",
            || {
                with(|w| {
                    w.write("local-agent.yaml", "sources: [{name: mine, root: .}]\n");
                })
            },
            DOCTOR,
            "DOCTOR_INDEX_SOURCES_MISMATCH",
        )
        .ends(
            Follow::Printed,
            Then::Next("DOCTOR_MEMORY_DANGLING_EVIDENCE"),
        ),
        mends(
            "a chunk whose document is gone",
            || {
                with(|w| {
                    let lost = "PRAGMA foreign_keys = off; DELETE FROM documents WHERE id = 1";
                    sql(w, "index.sqlite", lost);
                })
            },
            "DOCTOR_CHUNKS_WITHOUT_DOCS",
        ),
        mends(
            "the index does not say how it was cut",
            || {
                with(|w| {
                    let change = "DELETE FROM meta WHERE key = 'chunker_sig'";
                    sql(w, "index.sqlite", change);
                })
            },
            "DOCTOR_CHUNKER_SIG_MISSING",
        ),
        mends(
            "chunks of another size are configured",
            || with(|w| configure(w, "index: {max_tokens: 64}\n")),
            "DOCTOR_CHUNK_SCHEME_MISMATCH",
        ),
        mends(
            "chunks of another size are configured",
            || with(|w| configure(w, "index: {max_tokens: 64}\n")),
            "DOCTOR_CHUNKER_SIG_MISMATCH",
        ),
    ]
}

/// Rows that do not fit the files.
fn against_files() -> Vec<Case> {
    vec![
        case(
            "a source that shows nothing any more",
            || {
                with(|w| {
                    for name in ["oven.md", "pump.md", "deep"] {
                        fs::rename(w.vault().join(name), w.root().join(name)).unwrap();
                    }
                })
            },
            DOCTOR,
            "DOCTOR_SOURCE_EMPTY",
        )
        .ends(Follow::Choice(1), Then::Next("DOCTOR_INDEX_EMPTY")),
        mends(
            "a file has other bytes than were indexed",
            || {
                with(|w| {
                    let change = "UPDATE documents SET sha256 = zeroblob(32) WHERE id = 1;
                                  UPDATE sources SET scanned_ns = scanned_ns + 60000000000";
                    sql(w, "index.sqlite", change);
                })
            },
            "DOCTOR_FILE_HASH_MISMATCH",
        ),
        mends(
            "a chunk with a wrong place",
            || {
                with(|w| {
                    let change = "UPDATE chunks SET start_byte = start_byte + 1 WHERE id = 1";
                    sql(w, "index.sqlite", change);
                })
            },
            "DOCTOR_CHUNK_TEXT_MISMATCH",
        ),
    ]
}

fn lexical() -> Vec<Case> {
    vec![
        mends(
            "the lexical projection is of yesterday",
            || with(|w| of_yesterday(w, "lexical")),
            "DOCTOR_LEXICAL_STALE",
        ),
        case(
            "the lexical projection lacks a chunk",
            || {
                with(|w| {
                    let lost = "UPDATE chunks SET key = randomblob(16) WHERE id = 1";
                    sql(w, "index.sqlite", lost);
                })
            },
            DOCTOR,
            "DOCTOR_LEXICAL_KEYS_MISMATCH",
        )
        .ends(Follow::Printed, Then::Next("DOCTOR_VECTORS_KEYS_MISMATCH")),
    ]
}

/// Puts a projection back that was copied before a note was changed and indexed.
pub(super) fn of_yesterday(world: &World, projection: &str) {
    let kept = world.root().join("kept");
    copy(&file(world, projection), &kept);
    world.write("oven.md", "# Oven\n\nIt is cold today.\n");
    world.ok(&["index"]);
    world.ok(&["embed"]);
    fs::remove_dir_all(file(world, projection)).unwrap();
    copy(&kept, &file(world, projection));
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
