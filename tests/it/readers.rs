//! Readers never write (W48), whatever the command and the permissions.

use std::fs;
use std::path::Path;

use crate::harness::World;

const READERS: &[&[&str]] = &[
    &["query", "proofbox temperature"],
    &[
        "query",
        "proofbox temperature",
        "--mode",
        "lexical",
        "--json",
    ],
    &[
        "query",
        "proofbox temperature",
        "--mode",
        "vector",
        "--files",
    ],
    &[
        "ask",
        "At what temperature and humidity does the proofbox hold sourdough?",
        "--config",
        "../quiet.yaml",
    ],
    &["runs", "list"],
    &["runs", "verify"],
    &["runs", "head"],
    &["memory", "list"],
    &["memory", "search", "proofbox"],
    &["get", "Home.md"],
    &["multi-get", "daily/*.md"],
    &["status"],
    &["index", "--list-sources"],
    &["embed", "--dry-run"],
    &["config", "show"],
    &["config", "check"],
    &["models", "list"],
    &["completions", "zsh"],
    &["man"],
];

/// The example vault, with a configuration in which `ask` keeps no record, so that it only reads
/// too.
fn world() -> World {
    let world = World::embedded();
    world.write("../quiet.yaml", "runs: {enabled: false}\n");
    world
}

#[test]
fn w48_no_reader_changes_a_byte() {
    let world = world();
    let before = world.photograph();
    for args in READERS {
        world.ok(args);
        world.is_as(&before, args);
    }
}

#[cfg(unix)]
fn set_modes(folder: &Path, folders: u32, files: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    let set =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    set(folder, 0o755);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            set_modes(&path, folders, files);
        } else {
            set(&path, files);
        }
    }
    set(folder, folders);
}

#[cfg(unix)]
#[test]
fn a_folder_that_nobody_may_write_still_answers() {
    let world = world();
    set_modes(&world.vault(), 0o555, 0o444);
    let before = world.photograph();
    for args in READERS {
        world.ok(args);
    }
    world.is_as(&before, &["all of them"]);
    set_modes(&world.vault(), 0o755, 0o644);
}

/// A copy of the databases without SQLite's side files, as after a backup or in a synced folder.
#[test]
fn databases_without_their_side_files_are_read() {
    let world = World::embedded();
    for entry in fs::read_dir(world.state()).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().ends_with("-wal") || path.to_string_lossy().ends_with("-shm") {
            fs::remove_file(path).unwrap();
        }
    }
    assert_ne!(world.json(&["query", "proofbox"])["count"], 0);
    assert_eq!(world.json(&["status"])["stale"], serde_json::json!([]));
}

/// A damaged projection, or one of another program version, is reported with the command that fixes
/// it.
#[test]
fn a_lost_projection_is_named_and_mended() {
    let world = World::embedded();
    fs::remove_dir_all(world.state().join("lexical")).unwrap();
    let body = world.json(&["query", "proofbox", "--mode", "hybrid"]);
    assert_eq!(
        (&body["stale"][0]["what"], &body["stale"][0]["fix"]),
        (&"lexical".into(), &"local-agent index".into())
    );
    assert_ne!(body["count"], 0, "meaning is still searched");
    assert_eq!(
        world.code(&["query", "proofbox", "--mode", "lexical"]),
        "INDEX_MISSING"
    );
    world.ok(&["index"]);
    fs::remove_dir_all(world.state().join("vectors")).unwrap();
    assert_eq!(
        world.json(&["query", "proofbox"])["stale"][0]["fix"],
        "local-agent embed"
    );
    assert_eq!(world.json(&["embed"])["embedded_written"], 0);
    assert_eq!(
        world.json(&["query", "proofbox"])["stale"],
        serde_json::json!([])
    );
}

#[test]
fn a_damaged_projection_is_said_to_be_damaged() {
    let world = World::embedded();
    for entry in fs::read_dir(world.state().join("vectors")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        }
    }
    assert_eq!(world.code(&["query", "proofbox"]), "DB_CORRUPT");
    assert_ne!(
        world.json(&["query", "proofbox", "--mode", "lexical"])["count"],
        0
    );
    world.ok(&["embed"]);
    assert_eq!(
        world.json(&["query", "proofbox"])["stale"],
        serde_json::json!([])
    );
}

#[test]
fn an_index_of_an_older_version_is_named_and_made_again() {
    let world = World::example();
    let db = world.state().join("index.sqlite");
    let conn = rusqlite::Connection::open(&db).unwrap();
    conn.pragma_update(None, "user_version", 0).unwrap();
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    drop(conn);
    let failure = world.fails(&["query", "proofbox"]);
    assert_eq!(
        (&failure["error_code"], &failure["hint"]),
        (&"DB_ERROR".into(), &"local-agent index".into())
    );
    assert_eq!(world.json(&["index"])["docs_changed"], 60);
}
