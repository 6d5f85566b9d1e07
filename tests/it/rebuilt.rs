//! A rebuild fixes every damage, and readers use the old state until the new one is complete.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::json;

use super::churn::{Dice, State, Vault, assert_same};
use super::crash::fingerprint;
use super::harness::World;

/// Flips some bytes of a file.
fn damage(file: &Path, dice: &mut Dice) {
    let mut bytes = fs::read(file).unwrap();
    for _ in 0..=dice.below(12) {
        let at = dice.below(bytes.len());
        bytes[at] ^= 1 << dice.below(8);
    }
    fs::write(file, bytes).unwrap();
}

/// Merges the log into the file, so that the log does not hide the damage.
fn fold(file: &Path) {
    Connection::open(file)
        .unwrap()
        .execute_batch("PRAGMA journal_mode = delete")
        .unwrap();
}

#[test]
fn a_rebuild_of_the_index_mends_whatever_was_damaged_in_it() {
    let world = World::with(&[]);
    let _vault = Vault::new(
        &world.vault(),
        &world.root().join("versions"),
        17,
        8,
        [2, 1, 12],
    );
    let state = State(world.state());
    world.ok(&["index"]);
    let whole = state.dump_index();
    let file = world.state().join("index.sqlite");
    let mut dice = Dice::new(90);
    for round in 0..24 {
        fold(&file);
        damage(&file, &mut dice);
        let run = world.run(&["index", "--rebuild"]);
        assert_eq!(run.code, 0, "{round}: {}", run.stderr);
        assert_same(&state.dump_index(), &whole);
        let left: Vec<_> = fs::read_dir(world.state())
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        let beside = |name: &&std::ffi::OsString| {
            [".new", ".old"]
                .iter()
                .any(|s| name.to_string_lossy().contains(s))
        };
        assert!(!left.iter().any(|name| beside(&name)), "{left:?}");
    }
    world.ok(&["query", "oven", "--mode", "lexical"]);
}

#[test]
fn a_rebuild_of_the_vectors_mends_whatever_was_damaged_in_them() {
    let world = World::with(&[
        ("a.md", "# A\n\nThe zebra sleeps.\n"),
        ("b.md", "# B\n\nThe oven is hot.\n"),
    ]);
    let state = State(world.state());
    world.ok(&["index"]);
    world.ok(&["embed"]);
    let vectors = state.dump_vectors(&fingerprint());
    let file = world.state().join("embeddings.sqlite");
    let mut dice = Dice::new(91);
    for round in 0..8 {
        fold(&file);
        damage(&file, &mut dice);
        let run = world.run(&["embed", "--rebuild"]);
        assert_eq!(run.code, 0, "{round}: {}", run.stderr);
        assert_same(&state.dump_vectors(&fingerprint()), &vectors);
    }
}

#[test]
fn whoever_asks_during_a_rebuild_gets_what_the_old_index_held() {
    let world = World::with(&[]);
    let _vault = Vault::new(
        &world.vault(),
        &world.root().join("versions"),
        29,
        500,
        [6, 2, 60],
    );
    world.write("oven.md", "# The oven\n\nLeyla repairs the oven in May.\n");
    world.ok(&["index"]);
    let found = |args: &[&str]| world.json(args)["hits"][0]["rel_path"].clone();
    let query = ["query", "Leyla repairs", "--mode", "lexical"];
    assert_eq!(found(&query), json!("oven.md"));
    let mut looks = 0;
    // On a busy machine a rebuild is over after one look.
    for round in 0..30 {
        if round >= 3 && looks > 3 {
            break;
        }
        let mut rebuild = world.command();
        rebuild.args(["index", "--rebuild", "--quiet"]);
        let mut rebuild = rebuild.spawn().unwrap();
        while rebuild.try_wait().unwrap().is_none() {
            let body = world.json(&query);
            assert_eq!(
                (&body["hits"][0]["rel_path"], &body["stale"]),
                (&json!("oven.md"), &json!([])),
                "{body}"
            );
            let answer = world.json(&["ask", "Who repairs the oven?"]);
            assert!(
                answer["answer"].as_str().unwrap().contains("Leyla"),
                "{answer}"
            );
            looks += 1;
        }
        assert!(rebuild.wait().unwrap().success());
        assert_eq!(found(&query), json!("oven.md"));
    }
    assert!(
        looks > 3,
        "the rebuilds were over too soon to be looked at: {looks}"
    );
}

#[test]
fn what_a_killed_rebuild_leaves_is_mended_by_the_next_run() {
    let world = World::with(&[("a.md", "# A\n\nThe zebra sleeps.\n")]);
    world.ok(&["index"]);
    let state = world.state();
    let finds = || {
        world.json(&["query", "zebra", "--mode", "lexical", "--min-score", "0"])["count"].clone()
    };
    // The state after a kill while the new index was being built.
    fs::copy(state.join("index.sqlite"), state.join("index.sqlite.new")).unwrap();
    fs::create_dir(state.join("lexical.new")).unwrap();
    assert_eq!(finds(), json!(1));
    world.ok(&["index"]);
    assert!(!state.join("index.sqlite.new").exists() && !state.join("lexical.new").exists());
    // The state after a kill between swapping in the new index and its projection: the projection
    // belongs to another index.
    let other = World::with(&[("b.md", "# B\n\nThe oven is hot.\n")]);
    other.ok(&["index"]);
    fs::rename(state.join("lexical"), state.join("lexical.new")).unwrap();
    super::harness::copy(&other.state().join("lexical"), &state.join("lexical"));
    assert_eq!(finds(), json!(1), "readers take the one that fits");
    world.ok(&["index"]);
    assert_eq!(finds(), json!(1));
    assert!(!state.join("lexical.new").exists() && !state.join("lexical.old").exists());
    // The state after a kill between the two renames of the projection.
    fs::rename(state.join("lexical"), state.join("lexical.new")).unwrap();
    assert_eq!(finds(), json!(1));
    world.ok(&["index"]);
    assert!(state.join("lexical").exists() && !state.join("lexical.new").exists());
    assert_eq!(finds(), json!(1));
}

#[test]
fn one_note_with_thousands_of_long_links_to_one_target_is_indexed_and_found() {
    let long = "wombat ".repeat(140);
    let links: String = (0..4_000)
        .map(|n| format!("[{n} {long}](home.md)\n\n"))
        .collect();
    let world = World::with(&[
        ("home.md", "# Home\n\nThe zebra sleeps.\n"),
        ("hub.md", &links),
    ]);
    world.ok(&["index"]);
    let body = world.json(&["query", "zebra", "--mode", "lexical", "--min-score", "0"]);
    assert_eq!(body["hits"][0]["rel_path"], "home.md");
}

#[test]
fn vectors_of_the_schema_before_this_one_are_kept() {
    let world = World::with(&[("a.md", "# A\n\nThe zebra sleeps.\n")]);
    world.ok(&["index"]);
    world.ok(&["embed"]);
    let file = world.state().join("embeddings.sqlite");
    fold(&file);
    Connection::open(&file)
        .unwrap()
        .execute_batch("DROP TABLE unused; PRAGMA user_version = 1")
        .unwrap();
    world.ok(&["query", "zebra", "--mode", "vector"]);
    let run = world.json(&["embed"]);
    assert_eq!(
        (&run["embedded_written"], &run["existing_embeddings"]),
        (&json!(0), &json!(1)),
        "{run}"
    );
    let version: u32 = Connection::open(&file)
        .unwrap()
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    assert_eq!(version, 2);
    world.ok(&["doctor", "--offline", "--require-phase3"]);
}

#[cfg(unix)]
#[test]
fn a_limit_for_the_size_of_files_is_a_failure_with_a_name() {
    let text = "The zebra sleeps below the old tree and dreams of grass. ".repeat(4_000);
    let world = World::with(&[("a.md", &text)]);
    world.ok(&["index"]);
    let program = world.command().get_program().to_owned();
    for job in ["index --rebuild", "index --verify --rebuild"] {
        let command = world.command();
        let script = format!("ulimit -f 64; exec \"$0\" {job} --json");
        let mut limited = std::process::Command::new("bash");
        limited
            .args(["-c", &script])
            .arg(&program)
            .envs(command.get_envs().filter_map(|(k, v)| Some((k, v?))));
        limited.current_dir(command.get_current_dir().unwrap());
        let run = limited.output().unwrap();
        assert_eq!(run.status.code(), Some(1), "{run:?}");
        let body: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_eq!(body["error_code"], "WRITE_ERROR", "{body}");
    }
    world.ok(&["index"]);
    world.ok(&["query", "zebra", "--mode", "lexical"]);
}
