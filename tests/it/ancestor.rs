//! A folder of the Python predecessor: its configuration loads, and its databases are recognised
//! and never written.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;

use crate::harness::World;

/// The configuration file as it was shipped.
const SHIPPED: &str = r#"model: gpt-oss:120b
model_fast: qwen2.5:14b-instruct
model_big: gpt-oss:120b
prefer_fast: true
big_triggers: [deep, long, essay, synthesize, thorough, "in depth", detailed, analysis]
ollama_base_url: http://127.0.0.1:11434
max_tokens: 800
max_tokens_big_second: 4500
temperature: 0.2
timeout_s: 300
timeout_s_big_second: 600
read_full_on_thorough: true
full_evidence_triggers: [full file, entire file]
max_chars_full_read: 200000
workroot: ../local-agent-workroot/
security:
  allowed_roots: [../local-agent-workroot/runs/, ../local-agent-workroot/allowed/]
  allowed_exts: [.md, .txt, .json]
  deny_absolute_paths: true
  deny_hidden_paths: true
  allow_any_path: false
  auto_create_allowed_roots: true
  roots_must_be_within_security_root: true
phase2:
  index_db_path: index/index.sqlite
  sources:
    - {name: corpus, root: allowed/corpus/, kind: corpus}
    - {name: scratch, root: allowed/scratch/, kind: scratch}
  chunking: {scheme: obsidian_v1, max_chars: 1200, overlap: 120}
phase3:
  embeddings_db_path: embeddings/db/embeddings.sqlite
  embed:
    provider: torch
    model_id: sentence-transformers/all-MiniLM-L6-v2
    preprocess: obsidian_v1
    chunk_preprocess_sig: ""
    query_preprocess_sig: ""
    batch_size: 64
    torch:
      local_model_path: ""
      cache_dir: ""
      device: auto
      dtype: float16
      batch_size: 64
      max_length: 512
      pooling: mean
      normalize: true
      trust_remote_code: false
      offline_only: true
  retrieve: {lexical_k: 20, vector_k: 20, vector_fetch_k: 0, rel_path_prefix: "", fusion: simple_union}
  ask:
    evidence: {top_n: 8}
    citation_validation: {enabled: true, strict: false, require_in_snapshot: true, heading_match: prefix, normalize_heading: true}
  runs: {log_evidence_excerpts: true, max_total_evidence_chars: 200000, max_excerpt_chars: 1200}
  memory: {durable_db_path: memory/durable.sqlite, enabled: true}
"#;

/// The predecessor's installation next to its workroot; the vault is the workroot.
struct Ancestor {
    world: World,
    config: String,
}

impl Ancestor {
    fn new() -> Self {
        let world = World::empty();
        world.write("../local-agent/configs/default.yaml", SHIPPED);
        world.write(
            "allowed/corpus/zebra.md",
            "---\nuuid: 1\n---\n# Zebra\n\nThe zebra eats 14 apples a day.\n",
        );
        world.write(
            "allowed/scratch/lion.md",
            "# Lion\n\nThe lion eats 9 kg of meat a day.\n",
        );
        world.write("runs/20260101_000000/run.json", "{}");
        let ancestor = Self {
            config: world
                .root()
                .join("local-agent/configs/default.yaml")
                .display()
                .to_string(),
            world,
        };
        for (path, sql) in DATABASES {
            let file = ancestor.world.vault().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            Connection::open(file).unwrap().execute_batch(sql).unwrap();
        }
        ancestor
    }

    /// `args` with the two options that a user of the predecessor would add.
    fn args<'a>(&'a self, args: &[&'a str]) -> Vec<&'a str> {
        [args, &["--config", &self.config, "--workroot", "."]].concat()
    }

    fn databases(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let read = |(path, _): &(&str, &str)| {
            (
                path.into(),
                fs::read(self.world.vault().join(path)).unwrap(),
            )
        };
        DATABASES.iter().map(read).collect()
    }

    /// The files below `folder` that were moved aside, with their bytes.
    fn aside(&self, folder: &str) -> Vec<Vec<u8>> {
        let entries = fs::read_dir(self.world.vault().join(folder))
            .unwrap()
            .map(|e| e.unwrap().path());
        let aside = entries.filter(|path| path.to_string_lossy().contains(".sqlite.ancestor-"));
        aside.map(|path| fs::read(path).unwrap()).collect()
    }
}

const DATABASES: &[(&str, &str)] = &[
    (
        "index/index.sqlite",
        "PRAGMA user_version = 3;
         CREATE TABLE sources (id INTEGER PRIMARY KEY, name TEXT UNIQUE, root TEXT, kind TEXT, created_at TEXT);
         CREATE TABLE docs (id INTEGER PRIMARY KEY, source_id INTEGER REFERENCES sources(id) ON DELETE CASCADE,
             rel_path TEXT, abs_path TEXT, sha256 TEXT, mtime REAL, size INTEGER, UNIQUE (source_id, rel_path));
         CREATE TABLE chunks (id INTEGER PRIMARY KEY, doc_id INTEGER REFERENCES docs(id) ON DELETE CASCADE,
             chunk_index INTEGER, start_char INTEGER, end_char INTEGER, text TEXT, sha256 TEXT, scheme TEXT,
             heading_path TEXT, chunk_key TEXT, UNIQUE (doc_id, chunk_index));
         CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
         INSERT INTO sources VALUES (1, 'corpus', '/old/corpus', 'corpus', '2026-01-01');
         INSERT INTO docs VALUES (1, 1, 'zebra.md', '/old/corpus/zebra.md', 'aa', 0.0, 1);
         INSERT INTO chunks VALUES (1, 1, 0, 0, 5, 'zebra', 'bb', 'obsidian_v1', 'H1: Zebra', 'cc');
         INSERT INTO meta VALUES ('chunker_sig', 'abd4b97185f77c5306bc0ed5067a56bc');",
    ),
    (
        "embeddings/db/embeddings.sqlite",
        "PRAGMA user_version = 1;
         CREATE TABLE embeddings (chunk_key TEXT PRIMARY KEY, embed_sig TEXT, model_id TEXT, dim INTEGER,
             preprocess_sig TEXT, vector BLOB, embedded_at TEXT);
         CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
         INSERT INTO embeddings VALUES ('cc', 'dd', 'm', 2, 'ee', x'0000803f00000000', '2026-01-01');
         INSERT INTO meta VALUES ('schema_version', '1');",
    ),
    (
        "memory/durable.sqlite",
        "PRAGMA user_version = 1;
         CREATE TABLE memory (memory_id TEXT PRIMARY KEY, type TEXT NOT NULL, content TEXT NOT NULL,
             source TEXT NOT NULL, created_at REAL NOT NULL, updated_at REAL NOT NULL);
         CREATE TABLE memory_evidence (memory_id TEXT REFERENCES memory(memory_id) ON DELETE CASCADE,
             chunk_key TEXT, PRIMARY KEY (memory_id, chunk_key));
         CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
         INSERT INTO memory VALUES ('6f1c', 'user_fact', 'Likes tea.', 'manual', 1767225600.25, 1767225600.25);",
    ),
];

#[test]
fn the_shipped_configuration_loads_with_a_warning_for_each_key_that_changed() {
    let ancestor = Ancestor::new();
    let body = ancestor.world.json(&ancestor.args(&["config", "check"]));
    assert_eq!(
        (&body["ok"], &body["files"][0]["ancestor"]),
        (&true.into(), &true.into())
    );
    let warnings: Vec<&str> = body["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| w.as_str().unwrap())
        .collect();
    for key in [
        "phase2.chunking.scheme",
        "phase3.embed.provider",
        "max_length",
        "fusion",
        "runs",
    ] {
        assert!(
            warnings.iter().any(|w| w.contains(key)),
            "{key}: {warnings:#?}"
        );
    }
    let run = ancestor
        .world
        .ok(&ancestor.args(&["index", "--list-sources"]));
    let names: Vec<&str> = run
        .stdout
        .lines()
        .filter_map(|line| line.split('\t').next())
        .collect();
    assert_eq!(names, ["corpus", "scratch"]);
}

#[test]
fn w44_any_name_of_the_workroot_will_do() {
    let ancestor = Ancestor::new();
    assert_eq!(ancestor.world.vault().file_name().unwrap(), "vault");
    let body = ancestor
        .world
        .json(&ancestor.args(&["index", "--list-sources"]));
    assert_eq!(body["workroot"], body["security_root"]);
    assert!(
        body["sources"][0]["root"]
            .as_str()
            .unwrap()
            .ends_with("vault/allowed/corpus"),
        "{body}"
    );
}

#[test]
fn databases_of_the_ancestor_are_recognised_and_stay_as_they_are() {
    let ancestor = Ancestor::new();
    let before = ancestor.world.photograph();
    for args in [
        &["index"][..],
        &["index", "--json"],
        &["embed"],
        &["embed", "--dry-run"],
        &["query", "zebra"],
        &["ask", "What does the zebra eat?"],
        &["status"],
    ] {
        assert_eq!(
            ancestor.world.code(&ancestor.args(args)),
            "DB_FOREIGN",
            "{args:?}"
        );
    }
    let new = ["index.lock", "embed.lock", ".gitignore", "CACHEDIR.TAG"];
    let is_kept = |(path, _): &(PathBuf, Vec<u8>)| !new.iter().any(|name| path.ends_with(name));
    let after: Vec<_> = ancestor.world.photograph();
    let names: Vec<_> = after.iter().map(|(path, _)| path.clone()).collect();
    assert!(
        after
            .into_iter()
            .filter(is_kept)
            .eq(before.into_iter().filter(is_kept)),
        "only {new:?} may be new: {names:?}"
    );
}

#[test]
fn a_rebuild_moves_them_aside_byte_for_byte_and_works() {
    let ancestor = Ancestor::new();
    let (world, before) = (&ancestor.world, ancestor.databases());
    let run = world.json(&ancestor.args(&["index", "--rebuild"]));
    assert_eq!((&run["total_docs"], &run["ok"]), (&2.into(), &true.into()));
    assert!(
        run["moved_aside"]
            .as_str()
            .unwrap()
            .contains("index.sqlite.ancestor-")
    );
    assert_eq!(ancestor.aside("index"), [before[0].1.clone()]);
    // The other two databases do not concern this command.
    assert_eq!(ancestor.databases()[1..], before[1..]);
    assert_eq!(world.code(&ancestor.args(&["embed"])), "DB_FOREIGN");
    let run = world.json(&ancestor.args(&["embed", "--rebuild"]));
    assert_eq!(run["covered_chunks"], 2);
    assert_eq!(ancestor.aside("embeddings/db"), [before[1].1.clone()]);
    let body = world.json(&ancestor.args(&["ask", "How many apples does the zebra eat a day?"]));
    assert!(
        body["answer"].as_str().unwrap().contains("14 apples"),
        "{body}"
    );
    // A second rebuild replaces our own file, which is not kept.
    assert_eq!(
        world.json(&ancestor.args(&["index", "--rebuild"]))["moved_aside"],
        serde_json::Value::Null
    );
    for args in [
        &["index"][..],
        &["embed", "--rebuild"],
        &["query", "zebra"],
        &["status"],
    ] {
        world.ok(&ancestor.args(args));
    }
    assert_eq!(
        ancestor.databases()[2],
        before[2],
        "durable memory is nobody else's to touch"
    );
    // The ledger is still written next to it, and a message says that its head is not stored.
    let run = world.ok(&ancestor.args(&["ask", "How many apples does the zebra eat a day?"]));
    assert!(
        run.stderr.contains("the ledger's head is not kept")
            && run.stderr.contains("memory repair"),
        "{}",
        run.stderr
    );
    assert_eq!(
        world.code(&ancestor.args(&["memory", "list"])),
        "DB_FOREIGN"
    );
    // Doctor reports it, and the fix that it names works.
    let found = |code: &str| {
        let report = world
            .run(&ancestor.args(&["doctor", "--offline", "--require-phase3", "--json"]))
            .json();
        let checks = report["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["error_code"] == code)
    };
    let check = found("DOCTOR_MEMORY_DB_FOUND").unwrap();
    assert_eq!(check["ok"], false);
    let fix = check["suggested_fix"].as_str().unwrap();
    assert!(
        fix.starts_with("local-agent ") && fix.ends_with(" memory repair"),
        "{fix}"
    );
    assert_eq!(ancestor.databases()[2], before[2], "a look changes nothing");
    assert_eq!(
        world.json(&ancestor.args(&["memory", "repair"]))["imported"],
        1
    );
    assert_eq!(found("DOCTOR_MEMORY_DB_FOUND"), None);
    assert_eq!(ancestor.aside("memory"), [before[2].1.clone()]);
    let listed = world.json(&ancestor.args(&["memory", "list"]));
    assert_eq!(
        (&listed["count"], &listed["items"][0]["content"]),
        (&1.into(), &"Likes tea.".into())
    );
    assert_eq!(
        listed["items"][0]["created_at"],
        "2026-01-01T00:00:00.250000000Z"
    );
    world.ok(&ancestor.args(&["ask", "How many apples does the zebra eat a day?"]));
    assert_eq!(
        world.json(&ancestor.args(&["runs", "verify"]))["anchored"],
        true
    );
}

#[test]
fn w41_earlier_runs_of_the_ancestor_are_no_evidence() {
    let ancestor = Ancestor::new();
    assert_eq!(
        ancestor
            .world
            .code(&ancestor.args(&["get", "runs/20260101_000000/run.json"])),
        "FILE_NOT_FOUND"
    );
    let run = ancestor
        .world
        .ok(&ancestor.args(&["get", "allowed/corpus/zebra.md:4:1"]));
    assert_eq!(run.stdout, "    4  # Zebra\n");
}
