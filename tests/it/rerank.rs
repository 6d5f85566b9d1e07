//! `retrieve.reranker`: the order of hits in `query`, `ask` and MCP, its time limit, and the
//! message if it is missing. The rerankers are those of `tests/data/encoders`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::World;
use crate::mcp::Session;

const QUESTION: &str = "how long does the dough rest";

fn encoders() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/encoders")
}

/// Notes that all contain words of the question, indexed and not embedded.
fn vault() -> World {
    let notes: Vec<(String, String)> = [
        "The dough rests until four.",
        "How long the dough rests depends on the flour and the water.",
        "Salt in the dough: 2 of 100.",
        "A long rest in the box at 27 degrees does the dough good.",
        "Does the box hold water, or flour, or dough?",
        "The proof box holds the dough, and the dough rests in it. How long? Until four.",
    ]
    .iter()
    .enumerate()
    .map(|(number, text)| (format!("n{number}.md"), format!("# N{number}\n\n{text}\n")))
    .collect();
    let notes: Vec<(&str, &str)> = notes
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let world = World::with(&notes);
    world.ok(&["index"]);
    world
}

/// Puts a reranker into the folder of models.
fn give(world: &World, name: &str) -> PathBuf {
    let folder = world
        .home()
        .join(".local/share/local-agent/models")
        .join(name);
    fs::create_dir_all(&folder).unwrap();
    for file in fs::read_dir(encoders().join(name)).unwrap().flatten() {
        fs::copy(file.path(), folder.join(file.file_name())).unwrap();
    }
    folder
}

/// Adds the keys to the configuration of the vault.
fn configure(world: &World, retrieve: &str) {
    let file = world.vault().join("local-agent.yaml");
    let text = fs::read_to_string(&file).unwrap();
    let (before, _) = text.split_once("\n#RERANK\n").unwrap_or((&text, ""));
    let more = format!("retrieve: {{{retrieve}}}\nembed: {{precision: f32}}\n");
    // In the template, the section has only comments.
    let before = before.replace("\nretrieve:\n", "\n");
    fs::write(&file, format!("{before}\n#RERANK\n{more}")).unwrap();
}

fn hits(world: &World, more: &[&str]) -> Value {
    let all = [
        "query",
        QUESTION,
        "--min-score",
        "0",
        "--limit",
        "10",
        "--explain",
    ];
    world.json(&[&all, more].concat())
}

fn order(found: &Value) -> Vec<String> {
    let hits = found["hits"].as_array().unwrap();
    let path = |hit: &Value| hit["rel_path"].as_str().unwrap().to_owned();
    hits.iter().map(path).collect()
}

fn numbers(found: &Value, name: &str) -> Vec<f64> {
    let hits = found["hits"].as_array().unwrap();
    let number = |hit: &Value| hit["explain"][name].as_f64().unwrap();
    hits.iter().map(number).collect()
}

fn is_falling(numbers: &[f64]) -> bool {
    numbers.windows(2).all(|pair| pair[0] >= pair[1])
}

#[test]
fn the_order_is_that_of_the_fused_score_mixed_with_the_rerankers() {
    let world = vault();
    let before = hits(&world, &[]);
    assert!(before.get("reranked").is_none());
    for name in ["bert_reranker", "xlm_roberta_reranker"] {
        give(&world, name);
        configure(&world, &format!("reranker: {name}"));
        let after = hits(&world, &[]);
        assert_ne!(order(&before), order(&after), "{name}");
        let wanted = json!({"model": name, "candidates": 6, "scored": 6, "end": "complete"});
        assert_eq!(after["reranked"], wanted);
        assert_eq!(after["stale"].as_array().unwrap().len(), 1, "{after}");
        let (fused, scores) = (numbers(&after, "fused"), numbers(&after, "reranker_score"));
        let best = fused.iter().copied().fold(0.0, f64::max);
        let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let blended = numbers(&after, "blended");
        for ((fused, score), blended) in fused.iter().zip(&scores).zip(&blended) {
            let scaled = (score - least) / (greatest - least);
            assert!(
                (0.5 * fused + 0.5 * best * scaled - blended).abs() < 1e-5,
                "{after}"
            );
        }
        assert!(
            is_falling(&blended) && !is_falling(&fused),
            "{name}: {after}"
        );
        // The chance belongs to the rank, and `--json` shows the score next to it.
        let chances = |found: &Value| {
            let hits = found["hits"].as_array().unwrap();
            hits.iter()
                .map(|hit| hit["score"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(chances(&before), chances(&after));
        assert_eq!(after["hits"][0]["reranker_score"], json!(scores[0]));
        let shown = world.ok(&["query", QUESTION, "--explain"]);
        assert!(shown.stdout.contains("reranker_score"), "{}", shown.stdout);
    }
}

#[test]
fn a_short_list_is_the_beginning_of_the_long_one() {
    let world = vault();
    give(&world, "xlm_roberta_reranker");
    configure(&world, "reranker: xlm_roberta_reranker");
    let whole = order(&hits(&world, &[]));
    let first = world.json(&["query", QUESTION, "--min-score", "0", "--limit", "2"]);
    assert_eq!(order(&first), whole[..2]);
    assert_eq!(first["reranked"]["candidates"], 6);
}

#[test]
fn words_alone_are_not_reranked_and_need_no_reranker() {
    let world = vault();
    let before = world.json(&["search", QUESTION]);
    configure(&world, "reranker: bge-reranker-base");
    let after = world.json(&["search", QUESTION]);
    assert_eq!(before["hits"], after["hits"]);
    assert!(after.get("reranked").is_none());
}

#[test]
fn when_the_time_is_over_the_order_of_the_search_stays_and_that_is_said() {
    let world = vault();
    let before = hits(&world, &[]);
    give(&world, "bert_reranker");
    configure(&world, "reranker: bert_reranker, reranker_ms: 0");
    let after = hits(&world, &[]);
    assert_eq!(order(&before), order(&after));
    assert_eq!(after["reranked"]["scored"], 0);
    assert_eq!(after["reranked"]["end"], "out_of_time");
    let said = after["stale"].as_array().unwrap();
    assert!(said.iter().any(|one| one["what"] == "reranker"), "{after}");
    let text = "the time of the reranker `bert_reranker` ended after 0 of 6 passages";
    for args in [["query", QUESTION], ["ask", QUESTION]] {
        let run = world.ok(&args);
        assert!(run.stderr.contains(text), "{args:?}: {}", run.stderr);
    }
    let asked = world.json(&["ask", QUESTION]);
    assert_eq!(asked["reranked"]["end"], "out_of_time");
}

#[test]
fn a_question_that_fills_the_window_is_said_to_be_too_long() {
    let world = vault();
    give(&world, "bert_reranker");
    configure(&world, "reranker: bert_reranker");
    let long = "the dough rests ".repeat(40);
    let found = world.json(&["query", &long, "--min-score", "0"]);
    assert_eq!(found["reranked"]["end"], "question_too_long");
    let run = world.ok(&["query", &long, "--min-score", "0"]);
    assert!(
        run.stderr.contains("the question fills the window"),
        "{}",
        run.stderr
    );
}

#[test]
fn an_answer_rests_on_the_reranked_evidence_and_its_record_on_the_configuration() {
    let world = vault();
    configure(&world, "reranker_ms: 2000");
    let before = world.json(&["ask", QUESTION]);
    give(&world, "bert_reranker");
    configure(&world, "reranker: bert_reranker");
    let after = world.json(&["ask", QUESTION]);
    assert_eq!(after["reranked"]["scored"], 6);
    let paths = |asked: &Value| {
        let items = asked["evidence"].as_array().unwrap();
        let path = |item: &Value| item["rel_path"].clone();
        items.iter().map(path).collect::<Vec<_>>()
    };
    assert_ne!(paths(&before), paths(&after));
    let found = order(&hits(&world, &[]));
    assert_eq!(
        paths(&after),
        found.iter().map(|path| json!(path)).collect::<Vec<_>>()
    );
    let config = |asked: &Value| {
        let shown = world.json(&["runs", "show", asked["run_id"].as_str().unwrap()]);
        shown["record"]["config_sha256"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_ne!(config(&before), config(&after));
}

#[test]
fn agents_get_the_same_order() {
    let world = vault();
    give(&world, "xlm_roberta_reranker");
    configure(&world, "reranker: xlm_roberta_reranker");
    let wanted = order(&world.json(&["query", QUESTION]));
    let mut session = Session::start(&world, &[]);
    let found = session.call("search", json!({"query": QUESTION}));
    let hits = found["structuredContent"]["hits"]
        .as_array()
        .unwrap()
        .clone();
    let paths: Vec<_> = hits
        .iter()
        .map(|hit| hit["rel_path"].as_str().unwrap())
        .collect();
    assert_eq!(paths[..wanted.len().min(paths.len())], wanted);
    assert_eq!(session.end().0, 0);
}

#[test]
fn a_missing_reranker_is_named_with_the_command_that_gets_it() {
    let world = vault();
    configure(&world, "reranker: BAAI/bge-reranker-base");
    for args in [
        &["query", QUESTION, "--json"][..],
        &["ask", QUESTION, "--json"],
    ] {
        let failure = world.fails(args);
        assert_eq!(failure["error_code"], "MODEL_NOT_FOUND");
        assert_eq!(failure["hint"], "local-agent models pull bge-reranker-base");
    }
    let report = doctor(&world, "DOCTOR_RERANKER_NOT_READY");
    assert_eq!(
        report["suggested_fix"],
        "local-agent models pull bge-reranker-base"
    );
    configure(&world, "reranker: mixedbread-ai/mxbai-rerank-base-v1");
    let failure = world.fails(&["query", QUESTION, "--json"]);
    assert_eq!(failure["error_code"], "MODEL_INVALID");
    let message = failure["error_message"].as_str().unwrap();
    assert!(
        message.contains("deberta-v2") && message.contains("xlm-roberta"),
        "{message}"
    );
}

/// The check with this code, which must exist.
fn doctor(world: &World, code: &str) -> Value {
    let report: Value = serde_json::from_str(&world.run(&["doctor", "--json"]).stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["error_code"] == code);
    found
        .unwrap_or_else(|| panic!("no {code} in {report}"))
        .clone()
}

#[test]
fn doctor_loads_the_reranker_and_verify_compares_it() {
    let world = vault();
    let folder = give(&world, "bert_reranker");
    configure(&world, "reranker: bert_reranker");
    assert_eq!(doctor(&world, "DOCTOR_RERANKER_OK")["ok"], true);
    let verified = world.json(&["models", "verify", "bert_reranker"]);
    let one = &verified["verified"][0];
    assert!(one["least_cosine"].as_f64().unwrap() > 0.9999, "{one}");
    assert_eq!(one["files"].as_array().unwrap().len(), 3);
    let listed = world.json(&["models", "list"]);
    let models = listed["models"].as_array().unwrap();
    let task = |id: &str| models.iter().find(|m| m["id"] == id).unwrap()["task"].clone();
    assert_eq!(
        (task("bert_reranker"), task("bge-reranker-v2-m3")),
        (json!("reranking"), json!("reranking"))
    );
    assert_eq!(task("all-MiniLM-L6-v2"), "vectors");
    let tokenizer = folder.join("tokenizer.json");
    let text = fs::read_to_string(&tokenizer).unwrap();
    fs::write(&tokenizer, text.replacen("[UNK]", "[unk]", 1)).unwrap();
    doctor(&world, "DOCTOR_RERANKER_CHECKSUM_MISMATCH");
    let failure = world.fails(&["models", "verify", "bert_reranker", "--json"]);
    assert_eq!(failure["error_code"], "MODEL_CHECKSUM_MISMATCH");
    fs::write(folder.join("model.safetensors"), "junk").unwrap();
    doctor(&world, "DOCTOR_RERANKER_NOT_READY");
}

#[test]
fn a_folder_can_be_named_but_not_one_outside_by_a_file_that_is_not_trusted() {
    let world = vault();
    let folder = give(&world, "bert_reranker");
    configure(&world, &format!("reranker: {}", folder.display()));
    assert_eq!(
        world.fails(&["query", QUESTION, "--json"])["error_code"],
        "CONFIG_UNTRUSTED"
    );
    fs::rename(&folder, world.vault().join("model")).unwrap();
    configure(&world, "reranker: ./model");
    assert_eq!(hits(&world, &[])["reranked"]["model"], "model");
}
