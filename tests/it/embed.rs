//! `embed`.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use insta::assert_snapshot;
use local_agent_testing::server::{Step, ok_json, serve};
use serde_json::{Value, json};

use crate::harness::World;

fn vectors(world: &World) -> u64 {
    world.json(&["embed", "--dry-run"])["embeddings_total_before"]
        .as_u64()
        .unwrap()
}

fn three_notes() -> World {
    let world = World::with(&[
        ("a.md", "# A\n\nThe zebra eats 14 apples.\n"),
        ("b.md", "# B\n\nThe lion sleeps 20 hours.\n"),
        ("c.md", "# C\n\nThe heron stands on one leg.\n"),
    ]);
    world.ok(&["index"]);
    world
}

/// The fields of `run` with these names.
fn some(run: &Value, names: &[&str]) -> Value {
    names.iter().map(|name| run[name].clone()).collect()
}

#[test]
fn the_example_is_embedded_and_a_second_run_finds_nothing_to_do() {
    let world = three_notes();
    assert_snapshot!(world.stable(&world.ok(&["embed", "--dry-run"]).stdout), @r#"
    missing: 3 of 3 chunks have no vector; 0 vectors without a chunk
    "#);
    let first = world.ok(&["embed"]);
    assert_eq!(first.stderr, "");
    assert_snapshot!(world.stable(&first.stdout), @r#"
    embedded: 3 of 3 chunks; 3 vectors written (28 tokens, <s> s)
    "#);
    assert_snapshot!(world.stable(&world.ok(&["embed"]).stdout), @r#"
    embedded: 3 of 3 chunks; nothing to do (0 tokens, <s> s)
    "#);
    assert_eq!(world.ok(&["embed", "--quiet"]).stdout, "");
    assert_snapshot!(world.pretty(world.json(&["embed"])), @r#"
    {
      "chunk_preprocess_sig": "headings_v1",
      "covered_chunks": 3,
      "dim": 384,
      "dry_run": false,
      "embed_runtime_fingerprint": "<sha256>",
      "embedded_written": 0,
      "embeddings_db": "<vault>/.local-agent/embeddings.sqlite",
      "embeddings_total_after": 3,
      "embeddings_total_before": 3,
      "engine": "kernels",
      "errors": [],
      "errors_count": 0,
      "existing_embeddings": 3,
      "kept_back": 0,
      "missing": 0,
      "model_id": "all-MiniLM-L6-v2",
      "moved_aside": null,
      "ok": true,
      "orphan_embeddings_before": 0,
      "orphan_embeddings_kept": 0,
      "orphan_embeddings_pruned": 0,
      "outdated": 0,
      "provider": "candle",
      "query_preprocess_sig": "plain_v1",
      "skipped_ok": 3,
      "tokens": 0,
      "total_chunks": 3,
      "vectors_normalized": true,
      "warnings": [],
      "windowed": 0
    }
    "#);
}

#[test]
fn w48_a_dry_run_and_a_run_without_an_index_create_nothing() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    let before = world.photograph();
    for args in [
        &["embed"][..],
        &["embed", "--dry-run"],
        &["embed", "--rebuild"],
        &["embed", "--limit", "1"],
    ] {
        assert_eq!(world.code(args), "INDEX_MISSING", "{args:?}");
        world.is_as(&before, args);
    }
    world.ok(&["index"]);
    let before = world.photograph();
    assert_eq!(world.json(&["embed", "--dry-run"])["missing"], 1);
    world.is_as(&before, &["embed", "--dry-run"]);
}

#[test]
fn w32_a_limit_embeds_so_many_and_prunes_nothing() {
    let world = three_notes();
    let run = world.json(&["embed", "--limit", "2"]);
    assert_eq!(
        some(&run, &["embedded_written", "covered_chunks", "missing"]),
        json!([2, 2, 3])
    );
    let run = world.json(&["embed", "--limit", "1"]);
    assert_eq!(
        some(&run, &["embedded_written", "orphan_embeddings_pruned"]),
        json!([1, 0])
    );
    assert_eq!(vectors(&world), 3);
    // An orphan survives a limited run and one with --no-prune, and the next full run keeps it for
    // a while.
    fs::remove_file(world.vault().join("a.md")).unwrap();
    world.ok(&["index"]);
    for args in [&["embed", "--limit", "1"][..], &["embed", "--no-prune"]] {
        let run = world.json(args);
        assert_eq!(
            some(
                &run,
                &["orphan_embeddings_before", "orphan_embeddings_pruned"]
            ),
            json!([1, 0]),
            "{args:?}"
        );
    }
    let run = world.json(&["embed"]);
    let fields = [
        "orphan_embeddings_pruned",
        "orphan_embeddings_kept",
        "embeddings_total_after",
    ];
    assert_eq!(some(&run, &fields), json!([0, 1, 3]));
}

#[test]
fn a_moved_note_is_not_embedded_again() {
    let world = three_notes();
    world.ok(&["embed"]);
    fs::create_dir(world.vault().join("zoo")).unwrap();
    fs::rename(
        world.vault().join("a.md"),
        world.vault().join("zoo/renamed.md"),
    )
    .unwrap();
    world.ok(&["index"]);
    let run = world.json(&["embed"]);
    assert_eq!(
        some(
            &run,
            &[
                "embedded_written",
                "skipped_ok",
                "covered_chunks",
                "orphan_embeddings_pruned"
            ]
        ),
        json!([0, 3, 3, 0])
    );
    let hit = &world.json(&["query", "zebra", "--mode", "vector", "--limit", "1"])["hits"][0];
    assert_eq!(hit["rel_path"], "zoo/renamed.md");
}

#[test]
fn w22_a_new_section_costs_one_embedding() {
    let words = |name: &str| format!("{name} stands here with many words. ").repeat(40);
    let section = |name: &str| format!("## {name}\n\n{}\n\n", words(name));
    let (top, body) = (
        format!("# Note\n\n{}\n\n", words("It")),
        ["Alpha", "Beta", "Gamma"].map(section).concat(),
    );
    let world = World::with(&[("a.md", &format!("{top}{body}"))]);
    world.ok(&["index"]);
    let first = world.json(&["embed"])["embedded_written"].as_u64().unwrap();
    world.write("a.md", &format!("{top}{}{body}", section("New")));
    world.ok(&["index"]);
    let total = world.json(&["status"])["chunks"].as_u64().unwrap();
    assert_eq!(
        world.json(&["embed"])["embedded_written"].as_u64().unwrap(),
        total - first
    );
}

#[test]
fn a_rebuild_embeds_everything_again_and_changes_no_answer() {
    let world = three_notes();
    world.ok(&["embed"]);
    let before = world.json(&["query", "which animal rests", "--mode", "vector"])["hits"].clone();
    let run = world.json(&["embed", "--rebuild"]);
    assert_eq!(
        some(
            &run,
            &["embedded_written", "embeddings_total_after", "moved_aside"]
        ),
        json!([3, 3, null])
    );
    assert_eq!(
        world.json(&["query", "which animal rests", "--mode", "vector"])["hits"],
        before
    );
}

#[test]
fn an_interrupted_embedding_is_said_to_cover_only_a_part() {
    let world = three_notes();
    world.ok(&["embed", "--limit", "1"]);
    let run = world.ok(&["query", "heron"]);
    assert_snapshot!(run.stderr, @"coverage: 1 of 3 chunks can be found by meaning (fix: local-agent embed)");
    assert_eq!(
        world.json(&["query", "heron"])["coverage"],
        json!({"chunks": 3, "embedded": 1})
    );
    // Chunks without vectors are still found lexically.
    assert_eq!(
        world.json(&["query", "heron"])["hits"][0]["rel_path"],
        "c.md"
    );
}

#[test]
fn a_second_job_is_told_who_holds_the_lock() {
    let world = three_notes();
    world.ok(&["embed"]);
    let lock = fs::File::options()
        .read(true)
        .write(true)
        .open(world.state().join("embed.lock"))
        .unwrap();
    lock.lock().unwrap();
    assert_eq!(world.code(&["embed", "--json"]), "LOCKED");
    // Indexing and searching still work.
    world.ok(&["index"]);
    world.ok(&["query", "zebra"]);
    assert!(world.json(&["status"])["embed_job"].is_string());
    let waiting = world
        .command()
        .args(["embed", "--wait", "60", "--quiet"])
        .spawn()
        .unwrap();
    drop(lock);
    assert!(waiting.wait_with_output().unwrap().status.success());
}

#[test]
fn models_that_are_missing_or_broken_are_named() {
    let world = three_notes();
    assert_eq!(
        world.code(&["embed", "--model", "bge-small-en-v1.5"]),
        "MODEL_NOT_FOUND"
    );
    let folder = world.root().join("model");
    world.write(
        "../own.yaml",
        &format!("embed: {{model: own, model_path: {}}}\n", folder.display()),
    );
    let own = world.root().join("own.yaml");
    let own = own.to_str().unwrap();
    assert_eq!(
        world.code(&["embed", "--config", own]),
        "MODEL_NOT_FOUND",
        "no folder"
    );
    fs::create_dir(&folder).unwrap();
    assert_eq!(
        world.code(&["embed", "--config", own]),
        "MODEL_INVALID",
        "an empty folder"
    );
    for (file, text) in [
        ("config.json", "{}"),
        ("tokenizer.json", "{}"),
        ("model.safetensors", "junk"),
    ] {
        fs::write(folder.join(file), text).unwrap();
    }
    assert_eq!(world.code(&["embed", "--config", own]), "MODEL_INVALID");
}

#[test]
fn a_damaged_embeddings_database_is_said_to_be_damaged() {
    let world = three_notes();
    world.ok(&["embed"]);
    let db = world.state().join("embeddings.sqlite");
    fs::write(&db, "not a database").unwrap();
    assert_eq!(world.code(&["embed"]), "DB_CORRUPT");
    assert_eq!(fs::read_to_string(&db).unwrap(), "not a database");
    let run = world.json(&["embed", "--rebuild"]);
    assert_eq!(run["embedded_written"], 3);
    assert!(run["moved_aside"].as_str().unwrap().contains(".ancestor-"));
}

/// A vault whose vectors a tiny model of `tests/data/encoders` makes.
fn with_tiny_model(name: &str) -> World {
    let world = World::with(&[
        ("a.md", "# A\n\nThe dough rests until four.\n"),
        ("b.md", "# B\n\nThe proof box holds salt and flour.\n"),
    ]);
    configure(&world, name, "");
    world.ok(&["index"]);
    world
}

/// Configures the model, with `more` settings below `embed`.
fn configure(world: &World, name: &str, more: &str) {
    let all = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/encoders");
    let folder = std::path::Path::new(all).join(name);
    let folder = serde_json::to_string(&folder).unwrap();
    let text = format!("embed: {{model: tiny, model_path: {folder}{more}}}\n");
    world.write("../own.yaml", &text);
}

fn embed_with_own(world: &World) -> Value {
    let own = world.root().join("own.yaml");
    world.json(&["embed", "--config", own.to_str().unwrap()])
}

#[test]
fn a_network_that_candle_computes_makes_vectors_and_says_its_precision() {
    let world = with_tiny_model("modernbert");
    let own = world.root().join("own.yaml");
    let run = world.ok(&["embed", "--config", own.to_str().unwrap()]);
    let said =
        "computed in f32: `embed.precision` applies only to BERT networks, and `tiny` is not one";
    assert!(run.stdout.contains(said), "{}", run.stdout);
    let again = embed_with_own(&world);
    assert_eq!(
        (&again["engine"], &again["dim"]),
        (&json!("candle"), &json!(16))
    );
    assert_eq!(again["embedded_written"], 0);
    let found = world.json(&[
        "vsearch",
        "dough",
        "--min-score",
        "0",
        "--config",
        own.to_str().unwrap(),
    ]);
    assert!(!found["hits"].as_array().unwrap().is_empty(), "{found}");
}

#[test]
fn prefixes_and_dimensions_make_other_vectors() {
    let world = with_tiny_model("bert");
    let own = world.root().join("own.yaml");
    let embedded = |more: &str| {
        configure(&world, "bert", more);
        let run = embed_with_own(&world);
        (run["embedded_written"].clone(), run["dim"].clone())
    };
    assert_eq!(embedded(""), (json!(2), json!(16)));
    assert_eq!(embedded(", dimensions: 8"), (json!(2), json!(8)));
    assert_eq!(
        embedded(", passage_prefix: 'passage: '"),
        (json!(2), json!(16))
    );
    assert_eq!(
        embedded(", passage_prefix: 'passage: '"),
        (json!(0), json!(16))
    );
    configure(&world, "bert", ", dimensions: 17");
    let failure = world.fails(&["embed", "--json", "--config", own.to_str().unwrap()]);
    assert_eq!(failure["error_code"], "CONFIG_ERROR");
    assert_eq!(
        failure["hint"],
        "set embed.dimensions to 16 or less, or unset it"
    );
    let server = ", provider: ollama, dimensions: 8";
    configure(&world, "bert", server);
    let failure = world.fails(&["embed", "--json", "--config", own.to_str().unwrap()]);
    assert_eq!(failure["error_code"], "CONFIG_ERROR");
}

/// A vault whose vectors came from a server that now answers with `answer`, with the name of its
/// configuration.
fn with_a_server_that_fails(
    answer: impl Fn() -> Vec<Step> + Send + Sync + 'static,
) -> (World, String) {
    let world = three_notes();
    let is_down = Arc::new(AtomicBool::new(false));
    let down = Arc::clone(&is_down);
    let server = serve(move |request| {
        if down.load(Ordering::SeqCst) {
            return answer();
        }
        let body: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let inputs = body["input"].as_array().map_or(1, Vec::len);
        let vectors: Vec<Value> = (0..inputs).map(|n| json!([0.6, 0.8 + n as f64])).collect();
        let models = json!([{"name": "m", "model": "m", "digest": "d"}]);
        let reply = json!({"embeddings": vectors, "models": models});
        vec![Step::Bytes(ok_json(&reply.to_string()))]
    });
    let config = world.root().join("embed.yaml");
    let text = format!(
        "embed: {{provider: ollama, model: m}}\nllm: {{base_url: '{}'}}\n",
        server.url("")
    );
    fs::write(&config, text).unwrap();
    let config = config.to_str().unwrap().to_owned();
    world.ok(&["embed", "--config", &config]);
    is_down.store(true, Ordering::SeqCst);
    (world, config)
}

#[test]
fn whatever_ails_the_embedding_server_words_are_still_searched_and_what_is_missing_is_said() {
    let status = |code: u16| {
        let head = format!("HTTP/1.1 {code} X\r\ncontent-length: 2\r\n\r\n{{}}");
        vec![Step::Bytes(head.into_bytes())]
    };
    let page = || {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>";
        vec![Step::Bytes(head.into())]
    };
    let no_model = || vec![Step::Bytes(ok_json(r#"{"models": []}"#))];
    type Answer = Box<dyn Fn() -> Vec<Step> + Send + Sync>;
    let ailments: Vec<(&str, Answer)> = vec![
        ("500", Box::new(move || status(500))),
        ("401", Box::new(move || status(401))),
        ("404", Box::new(move || status(404))),
        ("HTML", Box::new(page)),
        ("no model", Box::new(no_model)),
        ("closed", Box::new(Vec::new)),
    ];
    for (name, answer) in ailments {
        let (world, config) = with_a_server_that_fails(answer);
        for args in [
            &["query", "zebra apples"][..],
            &["ask", "How many apples does the zebra eat?"],
            &["status"],
        ] {
            let run = world.run(&[args, &["--config", &config]].concat());
            let said = format!("{}{}", run.stdout, run.stderr);
            assert_eq!(run.code, 0, "{name} {args:?}: {said}");
            assert!(
                said.contains("words alone are searched"),
                "{name} {args:?}: {said}"
            );
        }
        // Stored vectors are compared with each other, without the server.
        let run = world.run(&["similar", "a.md", "--config", &config]);
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
        assert!(
            !run.stdout.contains("no other note"),
            "{name}: {}",
            run.stdout
        );
    }
}

/// Copies a model of `tests/data/encoders` into the model folder, as a pull leaves it.
fn give_model(world: &World, name: &str) {
    let encoders = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/encoders");
    let models = world.home().join(".local/share/local-agent/models");
    copy(&encoders.join(name), &models.join(name));
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), place).unwrap();
        }
    }
}

#[test]
fn a_pulled_model_that_embed_got_by_name_is_kept_under_auto() {
    let world = three_notes();
    give_model(&world, "bert");
    world.ok(&["embed", "--model", "bert"]);
    let status = world.json(&["status"]);
    assert_eq!(status["model"], "bert");
    assert_eq!(status["coverage"]["embedded"], 3);
    assert_eq!(status["stale"], json!([]));
    let again = world.json(&["embed"]);
    assert_eq!(
        (&again["model_id"], &again["embedded_written"]),
        (&json!("bert"), &json!(0))
    );
    world.ok(&["doctor", "--offline"]);
    let listed = world.ok(&["models", "list"]).stdout;
    let line = listed.lines().find(|line| line.contains(" bert ")).unwrap();
    assert!(
        line.starts_with("* ") && line.contains("cosines of unrelated texts"),
        "{line}"
    );
    // Without its files the languages decide again.
    fs::remove_dir_all(world.home().join(".local/share/local-agent/models/bert")).unwrap();
    assert_eq!(world.json(&["embed"])["model_id"], "all-MiniLM-L6-v2");
}

#[test]
fn a_model_in_a_folder_of_its_own_counts_the_tokens_of_chunks_for_doctor_too() {
    let world = three_notes();
    let all = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/encoders");
    let folder = std::path::Path::new(all).join("xlm_roberta");
    let folder = serde_json::to_string(&folder).unwrap();
    world.write("../own.yaml", &format!("embed: {{model_path: {folder}}}\n"));
    let own = world.root().join("own.yaml");
    let own = own.to_str().unwrap();
    world.ok(&["index", "--config", own]);
    world.ok(&["embed", "--config", own]);
    world.ok(&["doctor", "--offline", "--config", own]);
    let listed = world.json(&["models", "list", "--config", own]);
    let models = listed["models"].as_array().unwrap();
    let used: Vec<_> = models.iter().filter(|one| one["in_use"] == true).collect();
    assert_eq!(used.len(), 1, "{listed}");
    assert_eq!(used[0]["id"], "xlm_roberta");
    assert!(
        used[0]["profile"]["unrelated"]["mean"].is_number(),
        "{listed}"
    );
}
