//! `index`.

use std::fs::{self, File};

use insta::assert_snapshot;

use crate::harness::World;

fn two_sources() -> World {
    let world = World::empty();
    world.write("a/x.md", "# Zebra\n\nThe zebra eats 14 apples.\n");
    world.write("b/y.md", "# Lion\n\nThe lion sleeps 20 hours.\n");
    world.ok(&["init", "--here", "--source", "a=a", "--source", "b=b"]);
    world.ok(&["index"]);
    world
}

#[test]
fn the_example_is_indexed_and_a_second_run_finds_nothing_to_do() {
    let world = World::example();
    world.ok(&["index", "--rebuild"]);
    let text = world.ok(&["index", "--rebuild"]);
    assert_eq!(text.stderr, "");
    assert_snapshot!(world.stable(&text.stdout), @r#"
    indexed: 60 documents in 130 chunks; 60 new or changed (60 files, <s> s)
    "#);
    assert_snapshot!(world.stable(&world.ok(&["index"]).stdout), @r#"
    indexed: 60 documents in 130 chunks; nothing changed (60 files, <s> s)
    "#);
    assert_eq!(world.ok(&["index", "--quiet"]).stdout, "");
    let mut body = world.json(&["index"]);
    // Files this new are opened again, whatever their stamp. Their number depends on the clock.
    assert!(
        body.as_object_mut()
            .unwrap()
            .remove("docs_read")
            .unwrap()
            .as_u64()
            .unwrap()
            <= 60
    );
    body["confinement"] = "<as this kernel offers>".into();
    assert_snapshot!(world.pretty(body), @r#"
    {
      "chunks_removed": 0,
      "chunks_written": 0,
      "confinement": "<as this kernel offers>",
      "docs_changed": 0,
      "docs_pruned": 0,
      "docs_scanned": 60,
      "docs_unchanged": 60,
      "errors": [],
      "errors_count": 0,
      "index_db": "<vault>/.local-agent/index.sqlite",
      "left_out": [],
      "moved_aside": null,
      "ok": true,
      "scheme": "obsidian_v2",
      "skipped": [],
      "sources_count": 1,
      "sources_selected": [
        "vault"
      ],
      "total_chunks": 130,
      "total_docs": 60,
      "warnings": []
    }
    "#);
}

#[test]
fn sources_are_listed_without_touching_anything() {
    let world = two_sources();
    let before = world.photograph();
    assert_snapshot!(world.stable(&world.ok(&["index", "--list-sources"]).stdout), @r#"
    a	notes	<vault>/a
    b	notes	<vault>/b
    "#);
    assert_snapshot!(world.pretty(world.json(&["index", "--list-sources"])), @r#"
    {
      "ok": true,
      "selected_count": 2,
      "sources": [
        {
          "kind": "notes",
          "name": "a",
          "root": "<vault>/a"
        },
        {
          "kind": "notes",
          "name": "b",
          "root": "<vault>/b"
        }
      ]
    }
    "#);
    world.is_as(&before, &["index", "--list-sources"]);
}

#[test]
fn more_files_than_a_batch_holds_are_all_found_and_counted() {
    let world = World::empty();
    // A batch has 2,000 files.
    for n in 0..2_050 {
        world.write(
            &format!("v/{n:04}.md"),
            &format!("# Note {n}\n\nTerm{n} stands here.\n"),
        );
    }
    fs::write(world.vault().join("v/1000.md"), b"\xff\xfe not text").unwrap();
    world.ok(&["init", "--here", "--source", "v=v"]);
    let body = world.json(&["index"]);
    let count = |key: &str| body[key].as_u64().unwrap();
    assert_eq!(
        (
            count("docs_changed"),
            count("chunks_written"),
            count("total_docs")
        ),
        (2_049, 2_049, 2_049)
    );
    assert_eq!(body["skipped"].as_array().unwrap().len(), 1);
    for n in [0, 1_999, 2_000, 2_049] {
        let found = world.json(&["query", "--mode", "lexical", &format!("term{n}")]);
        assert_eq!(
            found["hits"][0]["rel_path"],
            format!("{n:04}.md"),
            "{found}"
        );
    }
}

#[test]
fn a_touched_file_is_not_indexed_again() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n"), ("b.md", "# B\n\nTwo.\n")]);
    world.ok(&["index"]);
    world.write("a.md", "# A\n\nOne.\n");
    let again = world.json(&["index"]);
    assert_eq!(
        (&again["docs_changed"], &again["docs_unchanged"]),
        (&0.into(), &2.into())
    );
    world.write("a.md", "# A\n\nUno.\n");
    let changed = world.json(&["index"]);
    assert_eq!(
        (&changed["docs_changed"], &changed["docs_unchanged"]),
        (&1.into(), &1.into())
    );
    assert_eq!(
        (&changed["chunks_written"], &changed["chunks_removed"]),
        (&1.into(), &1.into())
    );
}

/// The same size within the same second, as when an editor saves twice: only hashing can detect it.
#[cfg(unix)]
#[test]
fn an_edit_that_keeps_size_and_time_is_seen() {
    let world = World::with(&[("a.md", "# A\n\nAlpha one.\n")]);
    world.ok(&["index"]);
    let time = fs::metadata(world.vault().join("a.md"))
        .unwrap()
        .modified()
        .unwrap();
    world.write("a.md", "# A\n\nAlpha two.\n");
    File::options()
        .write(true)
        .open(world.vault().join("a.md"))
        .unwrap()
        .set_modified(time)
        .unwrap();
    assert_eq!(world.json(&["index"])["docs_changed"], 1);
}

#[test]
fn w22_a_section_at_the_top_keeps_the_keys_of_all_others() {
    let words = |name: &str| format!("{name} stands here with many words. ").repeat(40);
    let section = |name: &str| format!("## {name}\n\n{}\n\n", words(name));
    let (top, body) = (
        format!("# Note\n\n{}\n\n", words("It")),
        ["Alpha", "Beta", "Gamma"].map(section).concat(),
    );
    let world = World::with(&[("a.md", &format!("{top}{body}"))]);
    world.ok(&["index"]);
    let keys = || -> std::collections::BTreeSet<String> {
        let hits = world.json(&["query", "words", "--mode", "lexical", "--limit", "50"]);
        hits["hits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|h| h["chunk_key"].as_str().unwrap().to_owned())
            .collect()
    };
    let before = keys();
    assert!(before.len() >= 3, "{before:?}");
    world.write("a.md", &format!("{top}{}{body}", section("New")));
    world.ok(&["index"]);
    let after = keys();
    assert!(before.is_subset(&after), "{before:?} {after:?}");
    assert!(after.len() > before.len());
}

#[test]
fn w24_a_run_over_one_source_never_marks_the_others_as_current() {
    let world = two_sources();
    let partial = world.json(&["index", "--source", "a", "--max-tokens", "100"]);
    assert_eq!(partial["docs_changed"], 1);
    // The full run must chunk only the other source again.
    let whole = world.json(&["index", "--max-tokens", "100"]);
    assert_eq!(
        (&whole["docs_changed"], &whole["docs_unchanged"]),
        (&1.into(), &1.into())
    );
    assert_eq!(whole["total_docs"], 2);
}

#[test]
fn w28_a_source_that_left_the_configuration_is_forgotten() {
    let world = two_sources();
    world.ok(&["init", "--here", "--force", "--source", "a=a"]);
    let before = world.json(&["query", "lion", "--mode", "lexical"]);
    assert_eq!(before["count"], 0, "its files can no longer be checked");
    assert!(
        before
            .to_string()
            .contains("source `b` is indexed and no longer configured")
    );
    let run = world.json(&["index"]);
    assert_eq!(
        (&run["docs_pruned"], &run["total_docs"]),
        (&1.into(), &1.into())
    );
    assert_eq!(
        world.json(&["query", "lion", "--mode", "lexical"])["outcome"],
        "nothing_found"
    );
}

#[test]
fn a_source_whose_folder_is_missing_is_an_error_and_keeps_its_documents() {
    let world = two_sources();
    fs::rename(world.vault().join("b"), world.root().join("b")).unwrap();
    let run = world.run(&["index", "--json"]);
    assert_eq!(run.code, 1, "{}", run.stdout);
    let body = run.json();
    assert_eq!(
        (&body["ok"], &body["errors_count"], &body["total_docs"]),
        (&false.into(), &1.into(), &2.into())
    );
    assert_snapshot!(world.stable(body["errors"][0].as_str().unwrap()), @"The folder of `b` cannot be opened: No such file or directory (os error 2).");
    assert_eq!(body["error_code"], "CONFIG_ERROR");
    let said = world.run(&["index"]).stderr;
    assert_snapshot!(world.stable(&said), @"
    error[CONFIG_ERROR]: The folder of `b` cannot be opened: No such file or directory (os error 2).
    fix: local-agent config show, and correct the source's `root`
    ");
    let partial = world.json(&["index", "--allow-partial"]);
    assert_eq!(
        (
            &partial["ok"],
            &partial["errors_count"],
            &partial["total_docs"]
        ),
        (&true.into(), &1.into(), &2.into())
    );
}

#[test]
fn a_source_with_another_name_that_cannot_be_read_loses_nothing() {
    let world = two_sources();
    fs::create_dir(world.vault().join("nowhere")).unwrap();
    world.ok(&[
        "init",
        "--here",
        "--force",
        "--source",
        "a=a",
        "--source",
        "c=nowhere",
    ]);
    fs::remove_dir(world.vault().join("nowhere")).unwrap();
    let body = world.run(&["index", "--json"]).json();
    assert_eq!(
        (&body["ok"], &body["docs_pruned"], &body["total_docs"]),
        (&false.into(), &0.into(), &2.into())
    );
    fs::create_dir(world.vault().join("nowhere")).unwrap();
    assert_eq!(
        world.json(&["index"])["docs_pruned"],
        1,
        "what was known of `b`"
    );
}

#[cfg(unix)]
#[test]
fn w25_w26_w28_w31_what_cannot_be_read_is_listed_with_its_reason_and_no_longer_found() {
    let world = World::with(&[
        ("kept.md", "# Kept\n\nThe walrus stays.\n"),
        ("bytes.md", "# Bytes\n\nThe walrus was text.\n"),
        ("large.md", "# Large\n\nThe walrus was small.\n"),
        ("linked.md", "# Linked\n\nThe walrus was a file.\n"),
        (".trash/gone.md", "# Gone\n\nThe walrus is hidden.\n"),
        (".obsidian/plugin.md", "# Plugin\n\nThe walrus is hidden.\n"),
    ]);
    world.ok(&["index"]);
    assert_eq!(
        world.json(&["query", "walrus", "--mode", "lexical"])["count"],
        4
    );
    let at = |name: &str| world.vault().join(name);
    fs::write(at("bytes.md"), b"walrus \xff\xfe").unwrap();
    fs::write(at("large.md"), "walrus ".repeat(1_600_000)).unwrap();
    fs::rename(at("linked.md"), world.root().join("outside.md")).unwrap();
    std::os::unix::fs::symlink(world.root().join("outside.md"), at("linked.md")).unwrap();
    let run = world.ok(&["index"]);
    assert_snapshot!(world.stable(&run.stdout), @r#"
    indexed: 1 document in 1 chunk; 3 chunks removed (4 files, <s> s)
    skipped: notes:large.md (too_large)
    skipped: notes:linked.md (symlink)
    skipped: notes:bytes.md (not_utf8)
    "#);
    let hits = world.json(&["query", "walrus", "--mode", "lexical"]);
    assert_eq!(
        (hits["count"].as_u64(), hits["hits"][0]["rel_path"].as_str()),
        (Some(1), Some("kept.md"))
    );
    // They stay listed, and the run still succeeds.
    assert_eq!(
        world.json(&["index"])["skipped"].as_array().unwrap().len(),
        3
    );
    assert_eq!(world.json(&["status"])["skipped_files"], 3);
    fs::remove_file(at("linked.md")).unwrap();
    world.write("bytes.md", "# Bytes\n\nThe walrus is text again.\n");
    let run = world.json(&["index"]);
    assert_eq!(run["skipped"].as_array().unwrap().len(), 1);
    assert_eq!(
        world.json(&["query", "walrus", "--mode", "lexical"])["count"],
        2
    );
}

#[test]
fn s36_a_second_job_is_told_who_holds_the_lock_and_can_wait() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    world.ok(&["index"]);
    let lock = File::options()
        .read(true)
        .write(true)
        .open(world.state().join("index.lock"))
        .unwrap();
    lock.lock().unwrap();
    fs::write(
        world.state().join("index.lock"),
        "pid 7, `local-agent index`, since noon\n",
    )
    .unwrap();
    let refused = world.fails(&["index", "--json"]);
    assert_eq!(refused["error_code"], "LOCKED");
    assert_snapshot!(world.stable(refused["error_message"].as_str().unwrap()), @"<vault>/.local-agent/index.lock is held by pid <pid>, `local-agent index`, since noon");
    assert_eq!(world.code(&["index", "--wait", "1"]), "LOCKED");
    // Readers are not affected.
    assert_eq!(
        world.json(&["query", "one", "--mode", "lexical"])["count"],
        1
    );
    assert_eq!(
        world.json(&["status"])["index_job"],
        "pid 7, `local-agent index`, since noon"
    );
    let waiting = world
        .command()
        .args(["index", "--wait", "60", "--quiet"])
        .spawn()
        .unwrap();
    drop(lock);
    assert!(waiting.wait_with_output().unwrap().status.success());
}

#[test]
fn databases_of_others_and_of_newer_versions_are_not_touched() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    let db = world.state().join("index.sqlite");
    world.adopt_state();
    let make = |pragmas: &str| {
        let _ = fs::remove_file(&db);
        let conn = rusqlite::Connection::open(&db).unwrap();
        conn.execute_batch(&format!("CREATE TABLE theirs (x); {pragmas}"))
            .unwrap();
    };
    let untouched = |code: &str, rebuild: &str| {
        let before = fs::read(&db).unwrap();
        for args in [
            &["index"][..],
            &["query", "x"],
            &["ask", "x"],
            &["status"],
            &["embed"],
        ] {
            assert_eq!(world.code(args), code, "{args:?}");
            assert_eq!(fs::read(&db).unwrap(), before, "{args:?}");
        }
        assert_eq!(
            world.run(&["index", "--rebuild"]).code == 0,
            rebuild == "mends",
            "{code}"
        );
    };
    make("PRAGMA application_id = 7; PRAGMA user_version = 3");
    untouched("DB_FOREIGN", "mends");
    make("PRAGMA application_id = 1279355137; PRAGMA user_version = 99");
    untouched("DB_NEWER", "refuses");
    fs::write(&db, "not a database").unwrap();
    untouched("DB_CORRUPT", "mends");
    let kept = fs::read_dir(world.state()).unwrap();
    let names = kept.map(|e| e.unwrap().file_name().into_string().unwrap());
    assert_eq!(
        names
            .filter(|name| name.starts_with("index.sqlite.ancestor-"))
            .count(),
        2,
        "both foreign files were moved aside"
    );
}

#[test]
fn a_damaged_index_is_said_to_be_damaged_and_can_be_made_again() {
    let world = World::example();
    let db = world.state().join("index.sqlite");
    for beside in ["index.sqlite-wal", "index.sqlite-shm"] {
        let _ = fs::remove_file(world.state().join(beside));
    }
    let mut bytes = fs::read(&db).unwrap();
    for byte in &mut bytes[4096..] {
        *byte = 0xa5;
    }
    fs::write(&db, &bytes).unwrap();
    for args in [
        &["query", "proofbox", "--mode", "lexical"][..],
        &["status"],
        &["index"],
    ] {
        assert_eq!(world.code(args), "DB_CORRUPT", "{args:?}");
    }
    world.ok(&["index", "--rebuild"]);
    assert_ne!(
        world.json(&["query", "proofbox", "--mode", "lexical"])["count"],
        0
    );
}

#[test]
fn nothing_to_index_is_an_error_with_a_remedy() {
    let world = World::empty();
    let failure = world.fails(&["index"]);
    assert_eq!(failure["error_code"], "PHASE2_INDEX_ERROR");
    assert_snapshot!(failure["hint"].as_str().unwrap(), @"local-agent init --here");
}

#[test]
fn two_databases_in_one_folder_do_not_share_a_projection() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    world.ok(&["index"]);
    world.ok(&[
        "index",
        "--db-path",
        ".local-agent/other.sqlite",
        "--scheme",
        "fixed_window_v1",
    ]);
    assert_eq!(
        world.json(&["query", "one", "--mode", "lexical"])["stale"],
        serde_json::json!([])
    );
}

/// The folder cannot be created, because a file has its name.
#[test]
fn a_state_folder_that_cannot_be_written_is_a_write_error() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    fs::write(world.state(), "in the way").unwrap();
    assert_eq!(world.code(&["index"]), "WRITE_ERROR");
    assert_eq!(fs::read_to_string(world.state()).unwrap(), "in the way");
}

#[test]
fn the_kernel_confines_a_run_where_it_can() {
    let world = World::with(&[("a.md", "# A\n\nOne quokka.\n")]);
    let confinement = world.json(&["index"])["confinement"]
        .as_str()
        .unwrap()
        .to_owned();
    let checks = world.run(&["doctor", "--offline", "--json"]).json()["checks"].clone();
    let said = checks
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["error_code"] == "DOCTOR_CONFINEMENT")
        .unwrap();
    let message = said["message"].as_str().unwrap();
    match confinement.as_str() {
        "enforced" => assert!(
            message.starts_with("the kernel confines every command"),
            "{message}"
        ),
        "partly" => assert!(
            message.starts_with("the kernel confines reading"),
            "{message}"
        ),
        _ => assert!(
            confinement == "absent" && message.contains("no process"),
            "{confinement}: {message}"
        ),
    }
}
