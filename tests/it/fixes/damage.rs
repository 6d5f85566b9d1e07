//! The program's own files damaged, foreign, newer or missing.

use std::fs;

use super::case::{Case, Follow, Then, case};
use super::place::{behead, damage, file, newest_run, sql, used};
use crate::harness::World;

pub(super) fn cases() -> Vec<Case> {
    [databases(), durable(), projections(), records()].concat()
}

fn with(change: impl FnOnce(&World)) -> World {
    let world = used();
    change(&world);
    world
}

fn databases() -> Vec<Case> {
    vec![
        case(
            "index.sqlite is no database",
            || with(|w| behead(w, "index.sqlite")),
            &["query", "oven"],
            "DB_CORRUPT",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "index.sqlite is no database",
            || with(|w| behead(w, "index.sqlite")),
            &["index"],
            "DB_CORRUPT",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "index.sqlite has damaged pages",
            || with(|w| damage(w, "index.sqlite")),
            &["index"],
            "DB_CORRUPT",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "index.sqlite is of a newer version",
            || with(|w| sql(w, "index.sqlite", "PRAGMA user_version = 99")),
            &["query", "oven"],
            "DB_NEWER",
        )
        .ends(
            Follow::ByHand(
                "the newer version wrote nothing that this one does not know",
                |w| older(w, "index.sqlite"),
            ),
            Then::Health,
        ),
        case(
            "index.sqlite is of a newer version",
            || with(|w| sql(w, "index.sqlite", "PRAGMA user_version = 99")),
            &["index"],
            "DB_NEWER",
        )
        .ends(
            Follow::ByHand(
                "the newer version wrote nothing that this one does not know",
                |w| older(w, "index.sqlite"),
            ),
            Then::Health,
        ),
        case(
            "index.sqlite holds a table of somebody's",
            || with(|w| sql(w, "index.sqlite", "CREATE TABLE mine (x)")),
            &["query", "oven"],
            "DB_CORRUPT",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "embeddings.sqlite is no database",
            || with(|w| behead(w, "embeddings.sqlite")),
            &["embed"],
            "DB_CORRUPT",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "embeddings.sqlite has damaged pages",
            || with(|w| damage(w, "embeddings.sqlite")),
            &["embed"],
            "DB_CORRUPT",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "embeddings.sqlite is of a newer version",
            || with(|w| sql(w, "embeddings.sqlite", "PRAGMA user_version = 99")),
            &["embed"],
            "DB_NEWER",
        )
        .ends(
            Follow::ByHand(
                "the newer version wrote nothing that this one does not know",
                |w| older(w, "embeddings.sqlite"),
            ),
            Then::Health,
        ),
    ]
}

fn durable() -> Vec<Case> {
    let lost = || with(|w| fs::remove_file(file(w, "durable.sqlite")).unwrap());
    let no_database = || with(|w| behead(w, "durable.sqlite"));
    let damaged = || with(|w| damage(w, "durable.sqlite"));
    let newer = || with(|w| sql(w, "durable.sqlite", "PRAGMA user_version = 99"));
    let foreign = || with(|w| sql(w, "durable.sqlite", "PRAGMA application_id = 7"));
    vec![
        case(
            "durable.sqlite is gone",
            lost,
            &["memory", "list"],
            "DURABLE_MISSING",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "durable.sqlite is no database",
            no_database,
            &["memory", "list"],
            "DB_CORRUPT",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "durable.sqlite has damaged pages",
            damaged,
            &["memory", "list"],
            "DB_CORRUPT",
        )
        .ends(
            Follow::Printed,
            Then::Says(&["doctor", "--offline"], "DOCTOR_MEMORY_DB_ERROR"),
        ),
        case(
            "durable.sqlite is of a newer version",
            newer,
            &["memory", "list"],
            "DB_NEWER",
        )
        .ends(
            Follow::ByHand(
                "the newer version wrote nothing that this one does not know",
                |w| older(w, "durable.sqlite"),
            ),
            Then::Health,
        ),
        case(
            "durable.sqlite belongs to another program",
            foreign,
            &["memory", "list"],
            "DB_FOREIGN",
        )
        .ends(Follow::Printed, Then::Health),
    ]
}

fn projections() -> Vec<Case> {
    let no_words = || with(|w| fs::write(file(w, "lexical/meta.json"), "{").unwrap());
    let no_matrix = || with(|w| fs::write(file(w, "vectors/manifest.json"), "{").unwrap());
    let newer = || {
        with(|w| {
            let manifest = file(w, "vectors/manifest.json");
            let text = fs::read_to_string(&manifest).unwrap();
            fs::write(&manifest, text.replace("\"version\": 1", "\"version\": 99")).unwrap();
        })
    };
    vec![
        case(
            "the lexical projection is damaged",
            no_words,
            &["query", "oven", "--mode", "lexical"],
            "DB_CORRUPT",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "the list of vectors is damaged",
            no_matrix,
            &["query", "oven"],
            "DB_CORRUPT",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "the list of vectors is of a newer version",
            newer,
            &["embed"],
            "DB_NEWER",
        )
        .ends(
            Follow::ByHand(
                "its folder is moved aside, as another state folder would have none",
                |w| fs::rename(file(w, "vectors"), w.root().join("newer")).unwrap(),
            ),
            Then::Health,
        ),
    ]
}

fn records() -> Vec<Case> {
    let broken = || {
        with(|w| {
            let text = fs::read_to_string(file(w, "runs/ledger.jsonl")).unwrap();
            fs::write(
                file(w, "runs/ledger.jsonl"),
                text.replacen("begin", "bogin", 1),
            )
            .unwrap();
        })
    };
    let no_ledger = || {
        with(|w| {
            // `durable.sqlite` identifies the ledger by its path.
            w.ok(&["ask", "What is the oven made of?"]);
            fs::remove_file(file(w, "runs/ledger.jsonl")).unwrap();
        })
    };
    let changed = || {
        with(|w| {
            let record = newest_run(w).join("run.json");
            let text = fs::read_to_string(&record).unwrap();
            fs::copy(&record, w.root().join("backup.json")).unwrap();
            fs::write(&record, text.replace("granite", "marble")).unwrap();
        })
    };
    let unlisted = || {
        with(|w| {
            let from = newest_run(w);
            let to = from.with_file_name("20200101T000000Z_0123456789abcdef");
            crate::harness::copy(&from, &to);
            private(&to);
        })
    };
    vec![
        case(
            "a line of the ledger was changed",
            broken,
            &["ask", "What is the oven made of?"],
            "LEDGER_BROKEN",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "a line of the ledger was changed",
            broken,
            &["runs", "verify"],
            "LEDGER_BROKEN",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "the ledger is gone",
            no_ledger,
            &["ask", "What is the oven made of?"],
            "LEDGER_BROKEN",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "a record was changed",
            changed,
            &["runs", "verify"],
            "RECORD_CHANGED",
        )
        .ends(
            Follow::ByHand("the record is put back", put_back),
            Then::Health,
        ),
        case(
            "a record that no ledger lists",
            unlisted,
            &["runs", "verify"],
            "RUN_UNLISTED",
        )
        .ends(Follow::Printed, Then::Health),
    ]
}

fn put_back(world: &World) {
    fs::copy(
        world.root().join("backup.json"),
        newest_run(world).join("run.json"),
    )
    .unwrap();
}

/// Gives a database the version that this program writes.
fn older(world: &World, name: &str) {
    let fresh = used();
    let db = rusqlite::Connection::open(file(&fresh, name)).unwrap();
    let version: u32 = db
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    sql(world, name, &format!("PRAGMA user_version = {version}"));
}

fn private(folder: &std::path::Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let _ = folder;
}
