//! `eval`: its figures equal those that any scorer computes from its runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::World;

const DOCS: [(&str, &str); 4] = [
    (
        "ferry.md",
        "# Ferry\n\nThe ferry to the island leaves at nine.\n\nDogs travel free on the ferry.\n",
    ),
    (
        "bees/hive.md",
        "# Hive\n\nA hive of bees needs shade at noon. Ünïcode stands before the mark: the queen lays.\n",
    ),
    (
        "bees/honey.md",
        "# Honey\n\nHoney is harvested in July.\n\n## Jars\n\nThe bees' honey goes into jars of 500 g.\n",
    ),
    ("oven.md", "# Oven\n\nThe oven burns beech wood.\n"),
];

const QUERIES: &str = concat!(
    "{\"id\": \"q1\", \"text\": \"when does the ferry leave\"}\n",
    "{\"id\": \"q2\", \"text\": \"bees honey jars\", \"kind\": \"keywords\"}\n",
    "{\"id\": \"q3\", \"text\": \"qqqqzzzz\"}\n",
    "{\"id\": \"q4\", \"text\": \"nobody judged this ferry\"}\n",
);

const QRELS: &str =
    "q1\tferry.md\t1\nq1\toven.md\t0\nq2\tbees/hive.md\t2\nq2\tbees/honey.md\t1\nq3\toven.md\t1\n";

const SPANS: &str = concat!(
    "{\"id\": \"q1\", \"refs\": [{\"path\": \"ferry.md\", \"start\": 9, \"end\": 47}]}\n",
    "{\"id\": \"q2\", \"refs\": [{\"path\": \"bees/hive.md\", \"start\": 45, \"end\": 86}, ",
    "{\"path\": \"bees/honey.md\", \"start_line\": 7, \"end_line\": 7}]}\n",
    "{\"id\": \"q3\", \"refs\": [{\"path\": \"oven.md\", \"start\": 0, \"end\": 4}]}\n",
);

fn set(world: &World, name: &str) -> PathBuf {
    let dir = world.root().join(name);
    for (path, text) in DOCS {
        let file = dir.join("docs").join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    for (file, text) in [
        ("queries.jsonl", QUERIES),
        ("qrels.tsv", QRELS),
        ("spans.jsonl", SPANS),
    ] {
        fs::write(dir.join(file), text).unwrap();
    }
    dir
}

/// The rows of a run by question, in rank order.
fn rows(world: &World, file: &str) -> BTreeMap<String, Vec<Vec<String>>> {
    let text = fs::read_to_string(world.vault().join("runs").join(file)).unwrap();
    let mut all: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
        let rows = all.entry(fields[0].clone()).or_default();
        rows.push(fields);
        assert_eq!(
            rows.last().unwrap()[1],
            rows.len().to_string(),
            "ranks count from 1"
        );
    }
    all
}

/// nDCG@10, Recall@10, Recall@100 and MRR@10, implemented again from their definitions.
fn scores(run: &BTreeMap<String, Vec<Vec<String>>>) -> [f64; 4] {
    let judged = [
        ("q1", vec![("ferry.md", 1.0)]),
        ("q2", vec![("bees/hive.md", 2.0), ("bees/honey.md", 1.0)]),
        ("q3", vec![("oven.md", 1.0)]),
    ];
    let mut sums = [0.0; 4];
    for (id, relevant) in judged {
        let found: Vec<&str> = run.get(id).map_or(Vec::new(), |rows| {
            rows.iter().map(|row| row[2].as_str()).collect()
        });
        let place = |path: &str| found.iter().position(|one| *one == path);
        let discount = |at: usize| 1.0 / ((at + 2) as f64).ln() * 2f64.ln();
        let dcg: f64 = relevant
            .iter()
            .filter_map(|(p, g)| place(p).filter(|at| *at < 10).map(|at| g * discount(at)))
            .sum();
        let ideal: f64 = relevant
            .iter()
            .enumerate()
            .map(|(at, (_, grade))| grade * discount(at))
            .sum();
        let within = |k: usize| {
            relevant
                .iter()
                .filter(|(p, _)| place(p).is_some_and(|at| at < k))
                .count() as f64
        };
        let first = relevant.iter().filter_map(|(p, _)| place(p)).min();
        sums[0] += dcg / ideal;
        sums[1] += within(10) / relevant.len() as f64;
        sums[2] += within(100) / relevant.len() as f64;
        sums[3] += first
            .filter(|at| *at < 10)
            .map_or(0.0, |at| 1.0 / (at + 1) as f64);
    }
    sums.map(|sum| sum / 3.0)
}

fn close(shown: &Value, expected: f64) {
    let shown = shown.as_f64().unwrap();
    assert!((shown - expected).abs() < 1e-9, "{shown} is not {expected}");
}

#[test]
fn rankings_are_scored_as_the_written_runs_say() {
    let world = World::empty();
    let dir = set(&world, "tiny");
    let dir = dir.to_str().unwrap();
    let all = "default,lexical,vector,convex,rrf";
    let body = world.json(&[
        "eval",
        "retrieval",
        dir,
        "--modes",
        all,
        "--runs-out",
        "runs",
    ]);
    let set = &body["sets"][0];
    assert_eq!(
        (&set["set"], &set["questions"], &set["scored"]),
        (&"tiny".into(), &4.into(), &3.into())
    );
    assert_eq!(
        (&set["documents"], set["modes"].as_array().unwrap().len()),
        (&4.into(), 5)
    );
    for mode in set["modes"].as_array().unwrap() {
        let name = mode["mode"].as_str().unwrap();
        let run = rows(&world, &format!("tiny.{name}.tsv"));
        let expected = scores(&run);
        for (metric, expected) in ["nDCG@10", "Recall@10", "Recall@100", "MRR@10"]
            .iter()
            .zip(expected)
        {
            close(&mode["scores"][*metric], expected);
        }
        let (p50, p99) = (
            mode["latency"]["p50_ms"].as_f64().unwrap(),
            mode["latency"]["p99_ms"].as_f64().unwrap(),
        );
        assert!(0.0 < p50 && p50 <= p99, "something was timed");
        for row in run.values().flatten() {
            assert!(
                DOCS.iter().any(|(path, _)| *path == row[2]),
                "paths are those of the judgments: {row:?}"
            );
        }
        assert_eq!(
            run.contains_key("q3"),
            name != "lexical",
            "words find nothing for nonsense"
        );
    }
    let lexical = &set["modes"][1]["scores"];
    assert_eq!(lexical["Recall@10"], 2.0 / 3.0);
    assert!(
        set["modes"][0]["ndcg_10_minus_first"].is_null()
            && set["modes"][1]["ndcg_10_minus_first"].is_object()
    );
}

/// A note is emptied when the vectors are made, which is after its index and before its passages
/// are read.
#[test]
fn a_file_that_changes_while_it_is_measured_is_a_failure_until_the_command_runs_again() {
    let world = World::empty();
    let dir = set(&world, "tiny");
    let args = [
        "eval",
        "passages",
        dir.to_str().unwrap(),
        "--modes",
        "vector",
    ];
    let failure = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_for(&world.home(), "embeddings.sqlite");
            for note in ["ferry.md", "oven.md", "bees/hive.md", "bees/honey.md"] {
                fs::write(dir.join("docs").join(note), "#\n").unwrap();
            }
        });
        world.fails(&args)
    });
    assert_eq!(failure["error_code"], "EVAL_ERROR", "{failure}");
    assert_eq!(failure["hint"], "run the command again");
    world.ok(&args);
}

/// Waits until a file with this name is somewhere below a folder.
fn wait_for(folder: &Path, name: &str) {
    let has = |folder: &Path| {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.file_name() == name {
                    return true;
                }
                folders.push(entry.path());
            }
        }
        false
    };
    // Only a command that failed before never makes it.
    let until = Instant::now() + Duration::from_secs(120);
    while !has(folder) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn passages_are_scored_in_characters_of_the_file() {
    let world = World::empty();
    let dir = set(&world, "tiny");
    let args = [
        "eval",
        "passages",
        dir.to_str().unwrap(),
        "--modes",
        "lexical",
        "--k",
        "1,2",
        "--runs-out",
        "runs",
    ];
    let body = world.json(&args);
    let run = rows(&world, "tiny.lexical.tsv");
    // Passages are measured in characters and not in bytes: one of the file with umlauts ends at
    // the end of its text.
    let hive: Vec<char> = DOCS[1].1.chars().collect();
    let row = run["q2"]
        .iter()
        .find(|row| row[2] == "bees/hive.md")
        .unwrap();
    let (start, end): (usize, usize) = (row[3].parse().unwrap(), row[4].parse().unwrap());
    let passage: String = hive[start..end].iter().collect();
    assert!(
        passage.starts_with('#') && passage.trim_end().ends_with("lays."),
        "{passage:?}"
    );

    let marks = [
        ("q1", vec![("ferry.md", 9, 47)]),
        (
            "q2",
            vec![("bees/hive.md", 45, 86), ("bees/honey.md", 47, 88)],
        ),
        ("q3", vec![("oven.md", 0, 4)]),
    ];
    let honey = DOCS[2].1;
    assert_eq!(
        &honey[47..],
        "The bees' honey goes into jars of 500 g.\n",
        "line 7"
    );
    for (at, k) in [1, 2].into_iter().enumerate() {
        let (mut hit, mut recall, mut precision, mut iou) = (0.0, 0.0, 0.0, 0.0);
        for (id, marks) in &marks {
            let found: Vec<(&str, usize, usize)> = run.get(*id).map_or(Vec::new(), |rows| {
                rows.iter()
                    .take(k)
                    .map(|r| (r[2].as_str(), r[3].parse().unwrap(), r[4].parse().unwrap()))
                    .collect()
            });
            // Character by character, from the definitions.
            let holds = |set: &[(&str, usize, usize)], path: &str, c: usize| {
                set.iter()
                    .any(|(p, from, to)| *p == path && (*from..*to).contains(&c))
            };
            let (mut gold, mut top, mut both) = (0.0, 0.0, 0.0);
            for path in DOCS.map(|(path, _)| path) {
                for c in 0..200 {
                    let (g, t) = (holds(marks, path, c), holds(&found, path, c));
                    gold += f64::from(u8::from(g));
                    top += f64::from(u8::from(t));
                    both += f64::from(u8::from(g && t));
                }
            }
            let half = |(path, from, to): &(&str, usize, usize)| {
                found.iter().any(|one| {
                    (*from..*to).filter(|c| holds(&[*one], path, *c)).count() * 2 >= to - from
                })
            };
            hit += f64::from(u8::from(marks.iter().any(half))) / 3.0;
            recall += both / gold / 3.0;
            precision += if top > 0.0 { both / top / 3.0 } else { 0.0 };
            iou += both / (gold + top - both) / 3.0;
        }
        let shown = &body["sets"][0]["modes"][0]["scores"][at];
        assert_eq!(shown["k"], k);
        for (name, expected) in [
            ("hit", hit),
            ("recall", recall),
            ("precision", precision),
            ("iou", iou),
        ] {
            close(&shown[name], expected);
        }
        assert!(hit > 0.5);
    }
}

#[test]
fn nothing_to_measure_is_a_failure_and_not_a_zero() {
    let world = World::empty();
    let dir = set(&world, "tiny");
    let path = dir.to_str().unwrap();
    let fails = |file: &str, text: Option<&str>, command: &str, code: &str| {
        let kept = fs::read(dir.join(file)).unwrap();
        match text {
            Some(text) => fs::write(dir.join(file), text).unwrap(),
            None => fs::remove_file(dir.join(file)).unwrap(),
        }
        let failure = world.fails(&["eval", command, path, "--modes", "lexical", "--json"]);
        assert_eq!(failure["error_code"], code, "{file} {text:?}: {failure}");
        fs::write(dir.join(file), kept).unwrap();
    };
    fails("queries.jsonl", None, "retrieval", "FILE_NOT_FOUND");
    fails("queries.jsonl", Some(""), "retrieval", "EVAL_ERROR");
    fails("qrels.tsv", None, "retrieval", "FILE_NOT_FOUND");
    fails(
        "qrels.tsv",
        Some("q1\tferry.md\t0\n"),
        "retrieval",
        "EVAL_ERROR",
    );
    fails("spans.jsonl", None, "passages", "FILE_NOT_FOUND");
    fails(
        "queries.jsonl",
        Some("{\"id\":\"q1\",\"text\":\"qqqqzzzz\"}\n"),
        "retrieval",
        "EVAL_ERROR",
    );
    let useless = "{\"id\":\"q1\",\"text\":\"qqqqzzzz\"}\n";
    fs::write(dir.join("queries.jsonl"), useless).unwrap();
    fs::write(dir.join("qrels.tsv"), "q1\tferry.md\t1\n").unwrap();
    let failure = world.fails(&["eval", "retrieval", path, "--modes", "lexical"]);
    assert_eq!(failure["error_code"], "EVAL_ERROR");
    assert!(
        failure["error_message"]
            .as_str()
            .unwrap()
            .contains("`lexical` found nothing"),
        "{failure}"
    );
    assert_eq!(world.code(&["eval", "retrieval", "nowhere"]), "EVAL_ERROR");
    assert_eq!(
        world.code(&["eval", "passages", path, "--k", "0"]),
        "INVALID_ARGS"
    );
    for setting in [
        "retrieve.vector_weight",
        "retrieve.nosuch=1",
        "security.allowed_exts=.md",
    ] {
        assert_eq!(
            world.code(&["eval", "retrieval", path, "--set", setting]),
            "INVALID_ARGS",
            "{setting}"
        );
    }
    world.usage(&["eval", "retrieval"]);
    world.usage(&["eval", "retrieval", path, "--modes", "best"]);
}

#[test]
fn a_set_is_left_as_it_is_and_a_second_run_only_looks_for_changes() {
    let world = World::empty();
    let dir = set(&world, "tiny");
    let args = [
        "eval",
        "retrieval",
        dir.to_str().unwrap(),
        "--modes",
        "lexical",
        "--json",
    ];
    let files = |dir: PathBuf| {
        world
            .photograph()
            .into_iter()
            .filter(|(path, _)| path.starts_with(&dir))
            .collect::<Vec<_>>()
    };
    let before = files(dir.clone());
    let scores = |run: Value| run["sets"][0]["modes"][0]["scores"].clone();
    let first = scores(world.ok(&args).json());
    assert_eq!(
        files(dir.clone()),
        before,
        "nothing is written into the set"
    );
    assert_eq!(scores(world.ok(&args).json()), first);
    fs::remove_file(dir.join("docs/ferry.md")).unwrap();
    assert_ne!(
        scores(world.ok(&args).json()),
        first,
        "a document that went is seen"
    );
}

#[test]
fn another_setting_measures_another_search() {
    let world = World::empty();
    let dir = set(&world, "tiny");
    let dir = dir.to_str().unwrap();
    let tsv = |setting: &str| {
        world.ok(&[
            "eval",
            "retrieval",
            dir,
            "--modes",
            "convex",
            "--set",
            setting,
            "--runs-out",
            "runs",
        ]);
        fs::read_to_string(world.vault().join("runs/tiny.convex.tsv")).unwrap()
    };
    assert_ne!(
        tsv("retrieve.vector_weight=0.1"),
        tsv("retrieve.vector_weight=0.9")
    );
}

#[test]
fn the_table_of_faulty_drafts_in_the_documents_is_what_is_printed() {
    let world = World::empty();
    let documented =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/verifier.md")).unwrap();
    let printed = world.ok(&["eval", "drafts"]).stdout;
    assert!(printed.lines().count() > 20);
    for line in printed.lines() {
        assert!(
            documented.lines().any(|l| l == line),
            "docs/verifier.md lacks: {line}\n{printed}"
        );
    }
    let rows = world.json(&["eval", "drafts"])["rows"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(rows, printed.lines().count() - 2);
    world.write(
        "none.jsonl",
        "{\"set\":\"x\",\"fault\":\"f\",\"statements\":[]}\n",
    );
    assert_eq!(world.code(&["eval", "drafts", "none.jsonl"]), "EVAL_ERROR");
}

#[test]
fn the_model_is_chosen_by_the_languages_of_the_set_and_named() {
    let world = World::empty();
    let english = set(&world, "set");
    let english = english.to_str().unwrap();
    let measured = world.json(&["eval", "retrieval", english]);
    assert_eq!(measured["sets"][0]["model"], "all-MiniLM-L6-v2");
    let other = ["--set", "embed.model=multilingual-e5-small"];
    let measured = world.json(&[&["eval", "retrieval", english], &other[..]].concat());
    assert_eq!(measured["sets"][0]["model"], "multilingual-e5-small");
    let auto = ["--set", "embed.model=auto"];
    let measured = world.json(&[&["eval", "retrieval", english], &auto[..]].concat());
    let earlier = "vectors of an earlier measurement do not decide";
    assert_eq!(
        measured["sets"][0]["model"], "all-MiniLM-L6-v2",
        "{earlier}"
    );
    let german = "# Teig\n\nDer Teig ruht über Nacht, und die Öfen gehen um vier an, wenn das Brot fertig ist.\n";
    for place in ["ferry.md", "bees/hive.md", "bees/honey.md", "oven.md"] {
        fs::write(Path::new(english).join("docs").join(place), german).unwrap();
    }
    let run = world.ok(&["eval", "retrieval", english]);
    assert!(
        run.stdout.contains("4 chunks; multilingual-e5-small"),
        "{}",
        run.stdout
    );
    let words = world.json(&["eval", "retrieval", english, "--modes", "lexical"]);
    assert!(words["sets"][0]["model"].is_null(), "{words}");
}
