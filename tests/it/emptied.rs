//! A source that has lost all its files, or the disk of one of its folders, is kept until a person
//! confirms that they were removed on purpose. Unused vectors are kept for a while.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::harness::World;

/// Two sources, indexed: `disk` with two notes, `desk` with one.
fn two_sources() -> World {
    let world = World::empty();
    world.write("disk/a.md", "# A\n\nOne quokka sleeps.\n");
    world.write("disk/b.md", "# B\n\nTwo wombats eat.\n");
    world.write("desk/c.md", "# C\n\nThree numbats dig.\n");
    world.ok(&[
        "init",
        "--here",
        "--source",
        "disk=disk",
        "--source",
        "desk=desk",
    ]);
    world.ok(&["index"]);
    world
}

/// Unmounts the disk: its folder stays, but is empty. Returns the folder that keeps its files
/// meanwhile.
fn unmount(world: &World) -> PathBuf {
    let away = world.root().join("disk-in-a-drawer");
    fs::rename(world.vault().join("disk"), &away).unwrap();
    fs::create_dir(world.vault().join("disk")).unwrap();
    away
}

fn mount(world: &World, away: &PathBuf) {
    fs::remove_dir(world.vault().join("disk")).unwrap();
    fs::rename(away, world.vault().join("disk")).unwrap();
}

fn hits(world: &World, word: &str) -> Value {
    world.json(&["query", word, "--mode", "lexical", "--min-score", "0"])["count"].clone()
}

#[test]
fn a_source_that_shows_nothing_any_more_is_kept_and_the_others_go_on() {
    let world = two_sources();
    let away = unmount(&world);
    world.write("desk/d.md", "# D\n\nFour bilbies hop.\n");
    for args in [
        &["index", "--json"][..],
        &["index", "--verify", "--json"],
        &["index", "--rebuild", "--json"],
    ] {
        let run = world.run(args);
        let body = run.json();
        assert_eq!(
            (run.code, &body["error_code"]),
            (1, &json!("SOURCE_EMPTY")),
            "{args:?}: {body}"
        );
        assert!(
            body["hint"]
                .as_str()
                .unwrap()
                .contains("`local-agent index --allow-empty`"),
            "{body}"
        );
        assert_eq!(
            (&body["docs_pruned"], &body["total_docs"]),
            (&json!(0), &json!(4)),
            "{args:?}: {body}"
        );
        assert_eq!(
            (hits(&world, "wombats"), hits(&world, "bilbies")),
            (json!(1), json!(1)),
            "{args:?}"
        );
    }
    mount(&world, &away);
    let back = world.json(&["index"]);
    assert_eq!(
        (&back["docs_pruned"], &back["docs_changed"]),
        (&json!(0), &json!(0)),
        "{back}"
    );
}

#[test]
fn a_person_can_say_that_the_files_are_meant_to_be_gone() {
    let world = two_sources();
    unmount(&world);
    let said = world.run(&["index"]).stderr;
    assert!(
        said.contains(
            "error[SOURCE_EMPTY]: the source `disk` had 2 documents and shows no file now"
        ),
        "{said}"
    );
    let run = world.json(&["index", "--allow-empty"]);
    assert_eq!(
        (&run["docs_pruned"], &run["total_docs"]),
        (&json!(2), &json!(1))
    );
    world.ok(&["index"]);
    unmount_desk(&world);
    assert_eq!(
        world.json(&["index", "--rebuild", "--allow-empty"])["total_docs"],
        0
    );
    let checks = world.run(&["doctor", "--offline", "--json"]).json()["checks"].clone();
    let empty = checks
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["error_code"] == "DOCTOR_INDEX_EMPTY")
        .unwrap();
    assert!(
        empty["message"]
            .as_str()
            .unwrap()
            .ends_with("its sources show no file now"),
        "{empty}"
    );
}

fn unmount_desk(world: &World) {
    fs::remove_file(world.vault().join("desk/c.md")).unwrap();
}

#[test]
fn a_search_that_refreshes_keeps_such_a_source_says_so_and_finds_what_is_in_it() {
    let world = two_sources();
    unmount(&world);
    let run = world.ok(&[
        "query",
        "--refresh",
        "wombats",
        "--mode",
        "lexical",
        "--min-score",
        "0",
    ]);
    assert!(run.stderr.contains("error[SOURCE_EMPTY]"), "{}", run.stderr);
    assert!(run.stdout.contains("wombats"), "{}", run.stdout);
}

#[test]
fn doctor_says_that_the_disk_is_missing_and_never_proposes_to_forget_what_a_person_wrote() {
    let world = two_sources();
    let key = world.json(&["query", "wombats", "--mode", "lexical", "--min-score", "0"])["hits"][0]
        ["chunk_key"]
        .clone();
    let key = key.as_str().unwrap();
    world.ok(&[
        "memory",
        "add",
        "--type",
        "user_fact",
        "--source",
        "manual",
        "--content",
        "Wombats.",
        "--chunk-key",
        key,
    ]);
    let away = unmount(&world);
    let fixes = |code: &str| -> Option<String> {
        let checks = world.run(&["doctor", "--offline", "--json"]).json()["checks"].clone();
        let all = checks.as_array().unwrap().clone();
        assert!(
            all.iter()
                .all(|check| !check["suggested_fix"].to_string().contains("--drop")),
            "{checks}"
        );
        let found = all.iter().find(|check| check["error_code"] == code)?;
        Some(format!(
            "{} | {}",
            found["message"].as_str().unwrap(),
            found["suggested_fix"].as_str().unwrap_or("")
        ))
    };
    let said = fixes("DOCTOR_SOURCE_EMPTY").unwrap();
    assert!(
        said.contains("`disk` had 2 documents") && said.contains("local-agent index --allow-empty"),
        "{said}"
    );
    assert_eq!(
        fixes("DOCTOR_FILES_STALE"),
        None,
        "the files are not believed to be gone"
    );
    // The person confirmed it, and the memory's evidence link is kept until the file returns.
    world.ok(&["index", "--allow-empty"]);
    assert!(
        fixes("DOCTOR_MEMORY_DANGLING_EVIDENCE_WARN")
            .is_some_and(|said| said.contains("memory list"))
    );
    assert_eq!(fixes("DOCTOR_SOURCE_EMPTY"), None);
    mount(&world, &away);
    world.ok(&["index"]);
    assert!(fixes("DOCTOR_MEMORY_DANGLING_EVIDENCE_OK").is_some());
}

#[test]
fn vectors_that_no_chunk_uses_are_kept_and_used_again_when_the_notes_come_back() {
    let world = two_sources();
    world.ok(&["embed"]);
    let away = unmount(&world);
    world.ok(&["index", "--allow-empty"]);
    let run = world.json(&["embed"]);
    let counts = |run: &Value| {
        [
            "orphan_embeddings_pruned",
            "orphan_embeddings_kept",
            "embeddings_total_after",
            "covered_chunks",
        ]
        .map(|field| run[field].as_u64().unwrap())
    };
    assert_eq!(counts(&run), [0, 2, 3, 1]);
    assert_eq!(counts(&world.json(&["embed"])), [0, 2, 3, 1]);
    let checks = world
        .run(&["doctor", "--offline", "--require-phase3", "--json"])
        .json()["checks"]
        .clone();
    assert!(
        checks
            .as_array()
            .unwrap()
            .iter()
            .any(|check| check["error_code"] == "DOCTOR_EMBED_ORPHANS_OK"),
        "{checks}"
    );
    mount(&world, &away);
    world.ok(&["index"]);
    let back = world.json(&["embed"]);
    assert_eq!(
        (&back["embedded_written"], counts(&back)),
        (&json!(0), [0, 0, 3, 3])
    );
    // A person who does not want this can turn it off.
    let config = world.vault().join("local-agent.yaml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{text}\nembed:\n  keep_unused_days: 0\n")).unwrap();
    unmount_desk(&world);
    world.ok(&["index", "--allow-empty"]);
    assert_eq!(counts(&world.json(&["embed"])), [1, 0, 2, 2]);
}

/// Records that another disk was mounted at a folder of the source `all` when it was indexed.
fn was_mounted(world: &World, folder: &str) {
    let index = rusqlite::Connection::open(world.state().join("index.sqlite")).unwrap();
    let mounted = json!({ folder: 4_000_000_000_u64 }).to_string();
    index
        .execute(
            "INSERT INTO meta (key, value) VALUES ('mounts:all', ?1)
             ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            [mounted],
        )
        .unwrap();
}

/// One source with a note, and a disk with two notes that is mounted in it.
fn disk_in_source() -> World {
    let world = World::empty();
    world.write("disk/a.md", "# A\n\nOne quokka sleeps.\n");
    world.write("disk/b.md", "# B\n\nTwo wombats eat.\n");
    world.write("c.md", "# C\n\nThree numbats dig.\n");
    world.ok(&["init", "--here", "--source", "all=."]);
    world.ok(&["index"]);
    was_mounted(&world, "disk");
    world
}

#[test]
fn a_folder_whose_disk_is_missing_is_kept_and_the_rest_of_its_source_goes_on() {
    let world = disk_in_source();
    let away = unmount(&world);
    world.write("d.md", "# D\n\nFour bilbies hop.\n");
    for args in [
        &["index", "--json"][..],
        &["index", "--verify", "--json"],
        &["index", "--rebuild", "--json"],
    ] {
        let body = world.run(args).json();
        let message = "the folder `all:disk` had 2 documents on a disk of its own and shows no file \
                       now; what is indexed of it was kept";
        assert_eq!(
            (&body["error_code"], &body["errors"], &body["docs_pruned"]),
            (&json!("SOURCE_EMPTY"), &json!([message]), &json!(0)),
            "{args:?}: {body}"
        );
        assert_eq!(
            (hits(&world, "wombats"), hits(&world, "bilbies")),
            (json!(1), json!(1)),
            "{args:?}"
        );
    }
    let checks = world.run(&["doctor", "--offline", "--json"]).json()["checks"].to_string();
    assert!(checks.contains("DOCTOR_SOURCE_EMPTY"), "{checks}");
    mount(&world, &away);
    world.ok(&["index"]);
    // The folder is no disk of its own now, so a person may empty it.
    unmount(&world);
    assert_eq!(world.json(&["index"])["docs_pruned"], 2);
}

#[test]
fn a_person_can_say_that_a_disk_is_meant_to_be_gone() {
    let world = disk_in_source();
    unmount(&world);
    assert_eq!(world.json(&["index", "--allow-empty"])["docs_pruned"], 2);
    world.ok(&["index"]);
}

#[test]
fn a_lost_disk_keeps_only_its_own_documents() {
    let world = disk_in_source();
    world.write("e.md", "# E\n\nFive echidnas walk.\n");
    world.ok(&["index"]);
    was_mounted(&world, "disk");
    let away = unmount(&world);
    fs::remove_file(world.vault().join("c.md")).unwrap();
    let body = world.run(&["index", "--json"]).json();
    assert_eq!(
        (
            &body["error_code"],
            &body["docs_pruned"],
            &body["total_docs"]
        ),
        (&json!("SOURCE_EMPTY"), &json!(1), &json!(3)),
        "{body}"
    );
    assert_eq!(hits(&world, "numbats"), 0);
    mount(&world, &away);
    world.ok(&["index"]);
}

#[test]
fn a_disk_that_is_excluded_is_no_lost_disk() {
    let world = disk_in_source();
    world.write(".ignore", "disk/\n");
    assert_eq!(world.json(&["index"])["docs_pruned"], 2);
    let world = disk_in_source();
    let config = world.vault().join("local-agent.yaml");
    fs::write(
        &config,
        "sources: [{name: all, root: ., exclude: ['disk/']}]\n",
    )
    .unwrap();
    assert_eq!(world.json(&["index"])["docs_pruned"], 2);
}
