//! Files of the program's own that are damaged, foreign, newer or gone.

use std::fs;

use super::case::{Case, Follow, Then, case};
use super::place::{behead, damage, file, newest_run, sql, used};
use crate::harness::World;

pub fn cases() -> Vec<Case> {
    [databases(), durable(), projections(), records()].concat()
}

fn with(change: impl FnOnce(&World)) -> World {
    let world = used();
    change(&world);
    world
}

fn databases() -> Vec<Case> {
    vec![
        case("index.sqlite is no database", || with(|w| behead(w, "index.sqlite")), &["query", "oven"], "DB_FOREIGN")
            .ends(Follow::Printed, Then::Health),
        case("index.sqlite is no database", || with(|w| behead(w, "index.sqlite")), &["index"], "DB_FOREIGN")
            .ends(Follow::Printed, Then::Health),
        case("index.sqlite has damaged pages", || with(|w| damage(w, "index.sqlite")), &["index", "--verify"], "DB_CORRUPT")
            .ends(Follow::Printed, Then::Health),
        case("index.sqlite is of a newer version", || with(|w| sql(w, "index.sqlite", "PRAGMA user_version = 99")), &["query", "oven"], "DB_NEWER")
            .ends(Follow::Printed, Then::Health),
        case("index.sqlite is of a newer version", || with(|w| sql(w, "index.sqlite", "PRAGMA user_version = 99")), &["index"], "DB_NEWER")
            .ends(Follow::Printed, Then::Health),
        case("index.sqlite holds a table of somebody's", || with(|w| sql(w, "index.sqlite", "CREATE TABLE mine (x)")), &["query", "oven"], "DB_CORRUPT")
            .ends(Follow::Printed, Then::Health),
        case("embeddings.sqlite is no database", || with(|w| behead(w, "embeddings.sqlite")), &["embed"], "DB_FOREIGN")
            .ends(Follow::Printed, Then::Health),
        case("embeddings.sqlite has damaged pages", || with(|w| damage(w, "embeddings.sqlite")), &["embed"], "DB_CORRUPT")
            .ends(Follow::Printed, Then::Health),
        case("embeddings.sqlite is of a newer version", || with(|w| sql(w, "embeddings.sqlite", "PRAGMA user_version = 99")), &["embed"], "DB_NEWER")
            .ends(Follow::Printed, Then::Health),
    ]
}

fn durable() -> Vec<Case> {
    let lost = || with(|w| fs::remove_file(file(w, "durable.sqlite")).unwrap());
    let no_database = || with(|w| behead(w, "durable.sqlite"));
    let damaged = || with(|w| damage(w, "durable.sqlite"));
    let newer = || with(|w| sql(w, "durable.sqlite", "PRAGMA user_version = 99"));
    let foreign = || with(|w| sql(w, "durable.sqlite", "PRAGMA application_id = 7"));
    vec![
        case("durable.sqlite is gone", lost, &["memory", "list"], "DURABLE_MISSING")
            .ends(Follow::Printed, Then::Health),
        case("durable.sqlite is no database", no_database, &["memory", "list"], "DB_FOREIGN")
            .ends(Follow::Printed, Then::Health),
        case("durable.sqlite has damaged pages", damaged, &["memory", "list"], "DB_CORRUPT")
            .ends(Follow::Printed, Then::Health),
        case("durable.sqlite is of a newer version", newer, &["memory", "list"], "DB_NEWER")
            .ends(Follow::Printed, Then::Health),
        case("durable.sqlite belongs to another program", foreign, &["memory", "list"], "DB_FOREIGN")
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
        case("the lexical projection is damaged", no_words, &["query", "oven", "--mode", "lexical"], "DB_CORRUPT")
            .ends(Follow::Printed, Then::Health),
        case("the list of vectors is damaged", no_matrix, &["query", "oven"], "DB_CORRUPT")
            .ends(Follow::Printed, Then::Health),
        case("the list of vectors is of a newer version", newer, &["query", "oven"], "DB_NEWER")
            .ends(Follow::Printed, Then::Health),
        case("the list of vectors is of a newer version", newer, &["embed"], "DB_NEWER")
            .ends(Follow::Printed, Then::Health),
    ]
}

fn records() -> Vec<Case> {
    let broken = || {
        with(|w| {
            let text = fs::read_to_string(file(w, "runs/ledger.jsonl")).unwrap();
            fs::write(file(w, "runs/ledger.jsonl"), text.replacen("begin", "bogin", 1)).unwrap();
        })
    };
    let no_ledger = || with(|w| fs::remove_file(file(w, "runs/ledger.jsonl")).unwrap());
    let changed = || {
        with(|w| {
            let record = newest_run(w).join("run.json");
            let text = fs::read_to_string(&record).unwrap();
            fs::write(&record, text.replace("granite", "marble")).unwrap();
        })
    };
    let newer = || {
        with(|w| {
            let record = newest_run(w).join("run.json");
            let text = fs::read_to_string(&record).unwrap();
            fs::write(&record, text.replacen("\"schema_version\":", "\"schema_version\": 9", 1)).unwrap();
        })
    };
    let unlisted = || {
        with(|w| {
            let from = newest_run(w);
            let to = from.with_file_name("20200101T000000Z_0123456789abcdef");
            crate::harness::copy(&from, &to);
        })
    };
    vec![
        case("a line of the ledger was changed", broken, &["ask", "What is the oven made of?"], "LEDGER_BROKEN")
            .ends(Follow::Printed, Then::Health),
        case("a line of the ledger was changed", broken, &["runs", "verify"], "LEDGER_BROKEN")
            .ends(Follow::Printed, Then::Health),
        case("the ledger is gone", no_ledger, &["runs", "verify"], "LEDGER_BROKEN")
            .ends(Follow::Printed, Then::Health),
        case("a record was changed", changed, &["runs", "verify"], "RUN_TAMPERED")
            .ends(Follow::Printed, Then::Health),
        case("a record was changed", changed, &["runs", "show", "last"], "RUN_TAMPERED")
            .ends(Follow::Printed, Then::Informed),
        case("a record is of a newer version", newer, &["runs", "show", "last"], "RUN_NEWER")
            .ends(Follow::Printed, Then::Informed),
        case("a record that no ledger lists", unlisted, &["runs", "verify"], "RUN_UNLISTED")
            .ends(Follow::Printed, Then::Health),
    ]
}
