//! Databases of an older version, of the Python version, and with tables of somebody's.

use super::case::{Case, Follow, Then, case};
use super::place::{indexed, sql, used};
use crate::harness::World;

/// The tables of the Python version's memory, with one memory.
const PYTHON: &str = "
    PRAGMA user_version = 1;
    CREATE TABLE memory (
        memory_id TEXT, type TEXT, content TEXT, source TEXT, created_at TEXT, updated_at TEXT
    );
    CREATE TABLE memory_evidence (memory_id TEXT, chunk_key TEXT);
    INSERT INTO memory VALUES (
        '1', 'user_fact', 'I bake', 'manual', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'
    );
";

pub(super) fn cases() -> Vec<Case> {
    [others(), of_python()].concat()
}

fn with(name: &str, statements: &str) -> World {
    let world = used();
    sql(&world, name, statements);
    world
}

fn mends(
    state: &'static str,
    make: fn() -> World,
    command: &'static [&'static str],
    code: &'static str,
) -> Case {
    case(state, make, command, code).ends(Follow::Printed, Then::Health)
}

fn others() -> Vec<Case> {
    vec![
        mends(
            "index.sqlite is of an older version",
            || with("index.sqlite", "PRAGMA user_version = 0"),
            &["query", "oven"],
            "DB_ERROR",
        ),
        mends(
            "embeddings.sqlite holds a table of somebody's",
            || with("embeddings.sqlite", "CREATE TABLE mine (x)"),
            &["embed"],
            "DB_CORRUPT",
        ),
        mends(
            "durable.sqlite holds a table of somebody's",
            || with("durable.sqlite", "CREATE TABLE mine (x)"),
            &["memory", "list"],
            "DB_CORRUPT",
        ),
    ]
}

/// An indexed vault whose memory another program made.
fn foreign(statements: &str) -> World {
    let world = indexed();
    sql(&world, "durable.sqlite", statements);
    world
}

fn of_python() -> Vec<Case> {
    vec![
        mends(
            "durable.sqlite is of the Python version",
            || foreign(PYTHON),
            &["memory", "list"],
            "DB_FOREIGN",
        ),
        case(
            "durable.sqlite is almost like that of the Python version",
            || foreign("PRAGMA user_version = 1; CREATE TABLE memory (id)"),
            &["memory", "list"],
            "DB_FOREIGN",
        )
        .ends(
            Follow::Printed,
            Then::Says(&["memory", "repair"], "DB_FOREIGN"),
        ),
        mends(
            "durable.sqlite is almost like that of the Python version",
            || foreign("PRAGMA user_version = 1; CREATE TABLE memory (id)"),
            &["memory", "repair"],
            "DB_FOREIGN",
        ),
    ]
}
