//! `memory`, and how `ask` uses it.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::chat_server::{ChatServer, say};
use crate::harness::World;

const NOTE: &str =
    "# Oven\n\nThe oven is repaired by Leyla every spring.\n\n# Door\n\nThe door has two locks.\n";

fn oven() -> World {
    let world = World::with(&[
        ("oven.md", NOTE),
        ("tea.md", "# Tea\n\nGreen tea wants 80 degrees.\n"),
    ]);
    world.ok(&["index"]);
    world
}

fn key_of(world: &World, words: &str) -> String {
    world.json(&["query", words])["hits"][0]["chunk_key"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn add(world: &World, content: &str, keys: &[&str]) -> String {
    let source = if keys.is_empty() {
        "manual"
    } else {
        "derived_from_evidence"
    };
    let mut args = vec![
        "memory",
        "add",
        "--type",
        "user_fact",
        "--source",
        source,
        "--content",
        content,
    ];
    for key in keys {
        args.extend(["--chunk-key", key]);
    }
    world.json(&args)["memory_id"].as_str().unwrap().to_owned()
}

fn states(world: &World) -> Vec<String> {
    let items = world.json(&["memory", "list"])["items"].clone();
    let links = items
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|item| item["evidence"].as_array().unwrap().clone());
    links
        .map(|link| link["state"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn what_is_added_is_listed_found_shown_exported_and_deleted() {
    let world = oven();
    assert_snapshot!(world.ok(&["memory", "list"]).stdout, @"Nothing is remembered yet.");
    assert!(
        !world.state().join("durable.sqlite").exists(),
        "reading makes nothing"
    );
    let id = add(&world, "  Answers in German, please.  ", &[]);
    let listed = world.json(&["memory", "list"]);
    let item = &listed["items"][0];
    assert_eq!(
        (&listed["count"], &listed["action"], &item["memory_id"]),
        (&json!(1), &json!("list"), &json!(id))
    );
    assert_eq!(
        (&item["type"], &item["content"]),
        (&json!("user_fact"), &json!("Answers in German, please."))
    );
    assert_eq!(
        (&item["source"], &item["chunk_keys"]),
        (&json!("manual"), &json!([]))
    );
    assert_eq!(world.json(&["memory", "search", "german"])["count"], 1);
    assert_snapshot!(world.ok(&["memory", "search", "zebra"]).stdout, @"No memory holds these words.");
    assert_eq!(
        world.json(&["memory", "show", &id[..8]])["items"][0]["memory_id"],
        id
    );
    let out = world.json(&["memory", "export", "memory.json"]);
    assert_eq!(out["items_count"], 1);
    let written: Value =
        serde_json::from_str(&fs::read_to_string(world.vault().join("memory.json")).unwrap())
            .unwrap();
    assert_eq!(
        (
            &written["schema_version"],
            &written["items"][0]["memory_id"]
        ),
        (&json!(1), &json!(id))
    );
    assert_eq!(world.json(&["memory", "delete", &id])["deleted"], true);
    let again = world.run(&["memory", "delete", &id, "--json"]);
    assert_eq!(
        (again.code, &again.json()["deleted"], &again.json()["ok"]),
        (1, &json!(false), &json!(false))
    );
}

#[test]
fn w52_keys_are_checked_and_links_know_what_became_of_their_text() {
    let world = oven();
    let refused =
        |args: &[&str]| world.code(&[&["memory", "add", "--type", "user_fact"], args].concat());
    let derived = ["--source", "derived_from_evidence", "--content", "x"];
    assert_eq!(refused(&derived), "PHASE3_MEMORY_ERROR");
    assert_eq!(
        refused(&[&derived[..], &["--chunk-key", "not hex"]].concat()),
        "PHASE3_MEMORY_ERROR"
    );
    let nobody = "0".repeat(32);
    assert_eq!(
        refused(&[&derived[..], &["--chunk-key", &nobody]].concat()),
        "PHASE3_MEMORY_ERROR"
    );
    assert_eq!(
        refused(&["--source", "manual", "--content", "  "]),
        "PHASE3_MEMORY_ERROR"
    );
    assert_eq!(world.json(&["memory", "list"])["count"], 0);

    let key = key_of(&world, "oven repaired Leyla");
    let hashed = format!("#{key}");
    let id = add(&world, "Leyla repairs the oven.", &[&key, &hashed]);
    assert_eq!(states(&world), ["intact"]);
    let link = world.json(&["memory", "show", &id])["items"][0]["evidence"][0].clone();
    assert_eq!(
        (&link["rel_path"], &link["source"], &link["state"]),
        (&json!("oven.md"), &json!("notes"), &json!("intact"))
    );
    // The same text in another file.
    fs::rename(world.vault().join("oven.md"), world.vault().join("heat.md")).unwrap();
    world.ok(&["index"]);
    assert_eq!(states(&world), ["moved"]);
    let dry = world.json(&["memory", "repair", "--dry-run"]);
    assert_eq!(
        (&dry["relinked"], states(&world)),
        (&json!(1), vec!["moved".to_owned()])
    );
    assert_snapshot!(world.stable(&world.ok(&["memory", "repair"]).stdout).replace(&id, "<id>"), @r"
    <id>  <key> moved, relinked to <key>
    1 links relinked, 0 dropped, 0 left as they are
    ");
    assert_eq!(states(&world), ["intact"]);
    // Another text at the same position.
    world.write("heat.md", &NOTE.replace("spring", "autumn"));
    world.ok(&["index"]);
    assert_eq!(states(&world), ["changed"]);
    assert_eq!(world.json(&["memory", "repair"])["left"], 1);
    assert_eq!(
        world.json(&["memory", "repair", "--accept-changed"])["relinked"],
        1
    );
    assert_eq!(states(&world), ["intact"]);
    // Neither the text nor the file exists.
    fs::remove_file(world.vault().join("heat.md")).unwrap();
    world.ok(&["index"]);
    assert_eq!(states(&world), ["gone"]);
    let left = world.json(&["memory", "repair", "--drop"]);
    assert_eq!(
        (&left["left"], &left["dropped"]),
        (&json!(1), &json!(0)),
        "a conclusion keeps its last link"
    );
    assert_eq!(
        world.json(&["memory", "list"])["items"][0]["chunk_keys"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn no_rebuild_and_no_prune_touches_what_is_remembered() {
    let world = oven();
    add(
        &world,
        "Leyla repairs the oven.",
        &[&key_of(&world, "oven repaired Leyla")],
    );
    for args in [
        &["index", "--rebuild"][..],
        &["embed", "--limit", "1"],
        &["embed", "--rebuild", "--limit", "1"],
    ] {
        world.ok(args);
    }
    world.ok(&["ask", "Who repairs the oven?"]);
    world.ok(&["runs", "prune", "--keep", "0"]);
    assert_eq!(states(&world), ["intact"]);
}

#[test]
fn memory_is_context_beside_an_answer_and_never_evidence() {
    let world = oven();
    add(&world, "Leyla repairs the oven and is paid 40 euros.", &[]);
    add(&world, "Answers in German, please.", &[]);
    let body = world.json(&["ask", "Who repairs the oven?"]);
    assert_eq!(body["memory"].as_array().unwrap().len(), 1);
    assert_eq!(
        (
            &body["memory"][0]["label"],
            body["memory"][0]["content"].is_string()
        ),
        (&json!("M1"), true)
    );
    assert!(
        body["evidence"]
            .as_array()
            .unwrap()
            .iter()
            .all(|item| item["label"] != "M1")
    );
    assert!(
        !body["answer"].as_str().unwrap().contains("40 euros"),
        "{body}"
    );
    let record: Value =
        serde_json::from_str(&fs::read_to_string(body["run_record"].as_str().unwrap()).unwrap())
            .unwrap();
    crate::schema::fits(&record);
    assert_eq!(record["context"][0]["label"], "M1");
    let run = world.ok(&["ask", "Who repairs the oven?"]);
    assert!(
        run.stdout
            .contains("From memory (context, not evidence):\n  M1  Leyla repairs the oven"),
        "{}",
        run.stdout
    );
    // An answer that relies on it is rejected, because of its label and because of its numbers.
    let answer = world.root().join("answer.md");
    let judge = |text: &str| {
        fs::write(&answer, text).unwrap();
        let record = body["run_record"].as_str().unwrap();
        let run = world.run(&[
            "verify",
            answer.to_str().unwrap(),
            "--snapshot",
            record,
            "--json",
        ]);
        (run.code, run.json()["codes"].clone())
    };
    assert_eq!(
        judge("Leyla is paid 40 euros [M1]."),
        (1, json!(["LOOKALIKE", "NO_CITATIONS"]))
    );
    assert_eq!(judge("Leyla repairs the oven for 40 euros [E1].").0, 1);
}

#[test]
fn a_chat_model_gets_no_memory_and_cannot_cite_one() {
    let world = oven();
    add(&world, "Leyla repairs the oven and is paid 40 euros.", &[]);
    let config = world.root().join("llm.yaml");
    fs::write(&config, "ask: {provider: ollama}\nllm: {model: m}\n").unwrap();
    let ask = |script: Vec<&str>| {
        let server = ChatServer::ollama(script.into_iter().map(say).collect());
        let url = server.url();
        let config = config.to_str().unwrap();
        let body = world.json(&[
            "ask",
            "Who repairs the oven?",
            "--config",
            config,
            "--ollama-base-url",
            &url,
        ]);
        (body, server.prompt(0))
    };
    // The part that relies on memory is rejected twice. The user gets the notes' own words, with
    // the memory next to them.
    for answer in [
        "Leyla is paid 40 euros [M1].",
        "The oven is repaired by Leyla every spring [E1][M1].",
    ] {
        let (body, prompt) = ask(vec![answer, answer]);
        assert_eq!(body["outcome"], "extractive_fallback", "{body}");
        assert!(!body["answer"].as_str().unwrap().contains("M1"), "{body}");
        assert_eq!(body["memory"][0]["label"], "M1");
        assert!(
            prompt.contains("every spring") && !prompt.contains("40 euros"),
            "{prompt}"
        );
    }
    let (body, _) = ask(vec!["The oven is repaired by Leyla every spring [E1]."]);
    assert_eq!(
        (&body["outcome"], &body["memory"][0]["label"]),
        (&json!("answered"), &json!("M1")),
        "{body}"
    );
}

#[test]
fn memory_that_is_switched_off_is_neither_read_nor_written() {
    let world = oven();
    add(&world, "Leyla repairs the oven.", &[]);
    world.write("../off.yaml", "memory: {enabled: false}\n");
    for args in [
        &["memory", "list"][..],
        &["memory", "search", "x"],
        &["memory", "delete", "x"],
        &["memory", "repair"],
    ] {
        assert_eq!(
            world.code(&[args, &["--config", "../off.yaml"]].concat()),
            "PHASE3_MEMORY_DISABLED",
            "{args:?}"
        );
    }
    assert_eq!(
        world.json(&["ask", "Who repairs the oven?", "--config", "../off.yaml"])["memory"],
        json!([])
    );
}

#[test]
fn a_lost_database_is_said_by_everybody_and_begun_again_only_when_told() {
    let world = oven();
    // No run has ever been recorded.
    add(&world, "Leyla repairs the oven.", &[]);
    let database = world.state().join("durable.sqlite");
    let whole = fs::read(&database).unwrap();
    let beside = ["durable.sqlite", "durable.sqlite-wal", "durable.sqlite-shm"];
    for empty in [true, false] {
        for name in &beside {
            let _ = fs::remove_file(world.state().join(name));
        }
        if empty {
            fs::write(&database, "").unwrap();
        }
        for args in [
            &["memory", "list"][..],
            &["memory", "search", "oven"],
            &["memory", "delete", "x"],
            &["memory", "export", "new.json"],
            &["memory", "repair"],
            &[
                "memory",
                "add",
                "--type",
                "user_fact",
                "--source",
                "manual",
                "--content",
                "x",
            ],
        ] {
            assert_eq!(world.code(args), "DURABLE_MISSING", "{args:?}");
        }
        let report = world.run(&["doctor", "--offline", "--json"]).json();
        let check = report["checks"]
            .as_array()
            .unwrap()
            .iter()
            .find(|c| c["error_code"] == "DOCTOR_DURABLE_MISSING");
        assert!(check.is_some_and(|c| c["ok"] == false), "{report}");
        // Asking still works, and a message says so.
        let run = world.ok(&["ask", "Who repairs the oven?"]);
        assert!(
            run.stderr.contains("durable.sqlite")
                && run.stderr.contains("the ledger's head is not kept"),
            "{}",
            run.stderr
        );
        assert!(
            database.metadata().map_or(0, |meta| meta.len()) == 0,
            "nothing is begun in silence"
        );
    }
    // Restored from a backup.
    fs::write(&database, &whole).unwrap();
    assert_eq!(world.json(&["memory", "list"])["count"], 1);
    world.ok(&["ask", "Who repairs the oven?"]);
    assert_eq!(world.json(&["runs", "verify"])["anchored"], true);
    // Without a backup.
    for name in &beside {
        let _ = fs::remove_file(world.state().join(name));
    }
    assert_eq!(
        world.json(&["memory", "repair", "--begin-anew"])["begun"],
        true
    );
    assert_eq!(world.json(&["memory", "list"])["count"], 0);
    assert_eq!(world.json(&["runs", "verify"])["anchored"], true);
    assert_eq!(world.run(&["doctor", "--offline", "--quiet"]).code, 0);
    add(&world, "Leyla repairs the oven.", &[]);
    assert_eq!(
        world.json(&["memory", "repair", "--begin-anew"])["begun"],
        false,
        "what is there stays"
    );
    assert_eq!(world.json(&["memory", "list"])["count"], 1);
}

#[test]
fn no_fix_gives_up_a_link_whose_text_is_gone_for_now() {
    let world = oven();
    add(
        &world,
        "Leyla repairs the oven.",
        &[&key_of(&world, "oven repaired Leyla")],
    );
    add(
        &world,
        "Tea is made at 80 degrees.",
        &[&key_of(&world, "green tea")],
    );
    let note = world.vault().join("oven.md");
    fs::rename(&note, world.root().join("oven.md")).unwrap();
    world.ok(&["index"]);
    let report = world.run(&["doctor", "--offline", "--json"]).json();
    let checks = report["checks"].as_array().unwrap();
    let check = checks
        .iter()
        .find(|c| c["error_code"] == "DOCTOR_MEMORY_DANGLING_EVIDENCE_WARN")
        .unwrap();
    assert_eq!(
        (&check["ok"], &report["phase3"]["dangling_memory_evidence"]),
        (&json!(true), &json!(1)),
        "{check}"
    );
    assert!(
        checks
            .iter()
            .all(|c| !c["suggested_fix"].to_string().contains("--drop")),
        "{report}"
    );
    assert_eq!(check["suggested_fix"], "local-agent memory list --dangling");
    let shown = world.json(&["memory", "list", "--dangling"]);
    assert_eq!(
        (&shown["count"], &shown["items"][0]["evidence"][0]["state"]),
        (&json!(1), &json!("gone"))
    );
    let said = world.ok(&["memory", "repair"]).stdout;
    assert!(said.contains("left") && !said.contains("--drop"), "{said}");
    fs::rename(world.root().join("oven.md"), &note).unwrap();
    world.ok(&["index"]);
    assert_eq!(states(&world), ["intact", "intact"]);
    assert_snapshot!(world.ok(&["memory", "list", "--dangling"]).stdout, @"Every link of every memory is intact.");
}

#[test]
fn what_is_remembered_needs_no_quotes_and_no_options() {
    let world = oven();
    world.ok(&["memory", "add", "I", "bake", "on", "Fridays"]);
    let item = world.json(&["memory", "list"])["items"][0].clone();
    assert_eq!(
        (&item["content"], &item["type"], &item["source"]),
        (
            &json!("I bake on Fridays"),
            &json!("user_fact"),
            &json!("manual")
        )
    );
    let both = world.run(&["memory", "add", "words", "--content", "other words"]);
    assert_eq!(both.code, 2, "{}", both.stderr);
    assert_eq!(world.run(&["memory", "add"]).code, 2);
}
