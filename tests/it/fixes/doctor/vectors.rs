//! The embeddings, and the matrix made from them.

use std::fs;

use super::super::case::{Case, Follow, Then, case};
use super::super::place::{behead, damage, file, indexed, sql};
use super::index::of_yesterday;
use super::{STRICT, by_hand, configure, mends, strict, with};
use crate::harness::World;

pub(super) fn cases() -> Vec<Case> {
    [whole(), of_another_make(), rows(), matrix()].concat()
}

fn whole() -> Vec<Case> {
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

/// Databases that this program cannot use, and vectors of other models.
fn of_another_make() -> Vec<Case> {
    vec![
        mends(
            "embeddings.sqlite belongs to another program",
            || with(|w| sql(w, "embeddings.sqlite", "PRAGMA application_id = 77")),
            "DOCTOR_EMBED_DB_FOREIGN",
        ),
        by_hand(
            "embeddings.sqlite is of a newer version",
            || with(|w| sql(w, "embeddings.sqlite", "PRAGMA user_version = 99")),
            "DOCTOR_EMBED_SCHEMA_VERSION",
            "another path is set, and `local-agent embed` is run",
            |world| {
                configure(world, "embed: {db_path: .local-agent/new.sqlite}\n");
                world.ok(&["embed"]);
            },
        ),
        mends(
            "embeddings.sqlite is of an older version",
            || {
                with(|w| {
                    let older = "DROP TABLE unused; PRAGMA user_version = 1";
                    sql(w, "embeddings.sqlite", older);
                })
            },
            "DOCTOR_EMBED_SCHEMA_VERSION",
        ),
        mends(
            "the embeddings do not say who published them",
            || with(|w| sql(w, "embeddings.sqlite", "DELETE FROM meta")),
            "DOCTOR_EMBED_META_MISSING",
        ),
        mends(
            "all vectors are of another model",
            || {
                with(|w| {
                    let change = "UPDATE embeddings SET model_id = 'other', \
                                  fingerprint = zeroblob(32)";
                    sql(w, "embeddings.sqlite", change);
                })
            },
            "DOCTOR_EMBED_MODEL_MISMATCH",
        ),
        mends(
            "all vectors were made in another way",
            || {
                with(|w| {
                    let change = "UPDATE embeddings SET fingerprint = zeroblob(32)";
                    sql(w, "embeddings.sqlite", change);
                })
            },
            "DOCTOR_EMBED_RUNTIME_FINGERPRINT_MISMATCH",
        ),
    ]
}

/// Adds a copy of one vector under another name.
const COPY: &str = "INSERT INTO embeddings SELECT randomblob(32), fingerprint, vector, tokens, \
                    windows, model_id, embedded_at FROM embeddings LIMIT 1";
/// Adds a copy of one vector under another fingerprint.
const OTHER: &str = "INSERT INTO embeddings SELECT input_sha256, zeroblob(32), vector, tokens, \
                     windows, model_id, embedded_at FROM embeddings LIMIT 1";
fn copied() -> World {
    with(|w| sql(w, "embeddings.sqlite", COPY))
}

fn made_otherwise() -> World {
    with(|w| sql(w, "embeddings.sqlite", OTHER))
}

/// Single rows that are missing, or that nothing can use.
fn rows() -> Vec<Case> {
    vec![
        mends(
            "a note changed and was indexed",
            || with(edited),
            "DOCTOR_EMBED_MISSING_WARN",
        ),
        mends(
            "a vector of another fingerprint",
            made_otherwise,
            "DOCTOR_EMBED_OUTDATED_WARN",
        ),
        strict(
            "a vector of another fingerprint",
            made_otherwise,
            "DOCTOR_EMBED_OUTDATED_REQUIRE_PHASE3",
        ),
        mends("a vector of no chunk", copied, "DOCTOR_EMBED_ORPHANS_WARN"),
        strict(
            "a vector of no chunk",
            copied,
            "DOCTOR_EMBED_ORPHANS_REQUIRE_PHASE3",
        ),
    ]
}

fn matrix() -> Vec<Case> {
    vec![
        mends(
            "the matrix is of yesterday",
            || with(|w| of_yesterday(w, "vectors")),
            "DOCTOR_VECTORS_STALE_WARN",
        ),
        strict(
            "the matrix is of yesterday",
            || with(|w| of_yesterday(w, "vectors")),
            "DOCTOR_VECTORS_STALE_REQUIRE_PHASE3",
        ),
        by_hand(
            "the list of vectors is of a newer version",
            || with(|w| in_manifest(w, "\"version\": 1,", "\"version\": 99,")),
            "DOCTOR_VECTORS_NEWER",
            "the newer version wrote nothing that this one does not know",
            |world| in_manifest(world, "\"version\": 99,", "\"version\": 1,"),
        ),
        mends(
            "the matrix holds a row of no chunk",
            || {
                with(|w| {
                    let change = "UPDATE chunks SET key = randomblob(16) WHERE id = 1";
                    sql(w, "index.sqlite", change);
                    fs::remove_dir_all(file(w, "lexical")).unwrap();
                    w.ok(&["index"]);
                })
            },
            "DOCTOR_VECTORS_KEYS_MISMATCH",
        ),
        case(
            "nothing was embedded",
            indexed,
            STRICT,
            "DOCTOR_PHASE3_RETRIEVAL_NOT_READY",
        )
        .ends(Follow::Printed, Then::Health),
    ]
}

/// Changes the text of the list of vectors.
fn in_manifest(world: &World, from: &str, to: &str) {
    let path = file(world, "vectors/manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replace(from, to)).unwrap();
}
