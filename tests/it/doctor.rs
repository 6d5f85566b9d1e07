//! `doctor`: tests its output, when it fails, that the suggested commands fix the problems, and
//! that it changes nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use local_agent_agent::config::keys::INSTRUCTIONS;
use local_agent_testing::server::{Step, ok_json, serve};
use serde_json::{Value, json};

use crate::harness::{Run, World};

/// The example vault, indexed and embedded in its final place, because a copy has other stamps and
/// another root.
fn healthy() -> World {
    let world = World::embedded();
    world.ok(&["index"]);
    world
}

/// Replaces the configuration by one source and these lines.
fn configure(world: &World, name: &str, more: &str) {
    let text = format!("sources:\n  - {{name: {name}, root: .}}\n{more}");
    fs::write(world.vault().join("local-agent.yaml"), text).unwrap();
}

/// The codes of the checks that fail.
fn failing(report: &Value) -> Vec<&str> {
    let checks = report["checks"].as_array().unwrap();
    checks
        .iter()
        .filter(|check| check["ok"] == false)
        .map(|check| check["error_code"].as_str().unwrap())
        .collect()
}

fn codes(report: &Value) -> Vec<&str> {
    report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| check["error_code"].as_str().unwrap())
        .collect()
}

fn fix_of(report: &Value, code: &str) -> String {
    let checks = report["checks"].as_array().unwrap();
    let check = checks
        .iter()
        .find(|check| check["error_code"] == code)
        .unwrap_or_else(|| panic!("{code}: {report}"));
    check["suggested_fix"].as_str().unwrap().to_owned()
}

/// Runs doctor. It must exit with 1 exactly if it reports `ok: false`, and every failure must have
/// a fix.
fn doctor(world: &World, more: &[&str]) -> Value {
    let run = world.run(&[&["doctor", "--offline", "--json"], more].concat());
    let report = run.json();
    assert_eq!(run.code, i32::from(report["ok"] == false), "{}", run.stderr);
    assert_eq!(report["ok"] == false, !failing(&report).is_empty());
    for check in report["checks"].as_array().unwrap() {
        assert!(
            check["ok"] == true
                || check["suggested_fix"]
                    .as_str()
                    .is_some_and(|fix| !fix.is_empty()),
            "{check}"
        );
    }
    report
}

/// Runs a suggested command as a person would, in a shell.
fn follow(world: &World, fix: &str) {
    let program = Path::new(env!("CARGO_BIN_EXE_local-agent"));
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let run: Run = Command::new("sh")
        .args(["-c", fix])
        .env_clear()
        .env("HOME", world.home())
        .env("PATH", path)
        .current_dir(world.vault())
        .output()
        .unwrap()
        .into();
    assert_eq!(run.code, 0, "{fix}\n{}\n{}", run.stdout, run.stderr);
}

/// Checks that the fault is reported under its code, and that the suggested command fixes it.
fn is_found_and_mended(world: &World, code: &str, more: &[&str]) {
    let report = doctor(world, more);
    assert!(
        failing(&report).contains(&code),
        "{code} is not among {:?}: {report}",
        failing(&report)
    );
    follow(world, &fix_of(&report, code));
    let after = doctor(world, more);
    assert_eq!(
        failing(&after),
        [] as [&str; 0],
        "after following the fix of {code}: {after}"
    );
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect()
}

/// Changes one byte in the middle of the largest file that matches.
fn flip_a_byte(folder: &Path, fits: impl Fn(&str) -> bool) {
    let named = |path: &PathBuf| fits(&path.file_name().unwrap().to_string_lossy());
    let file = files_in(folder)
        .into_iter()
        .filter(|path| path.is_file() && named(path))
        .max_by_key(|path| path.metadata().unwrap().len())
        .unwrap_or_else(|| panic!("nothing fits in {folder:?}"));
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x40;
    // The file is new, so that a memory map of the old one does not change.
    fs::remove_file(&file).unwrap();
    fs::write(&file, bytes).unwrap();
}

/// The output without the parts that differ between machines, samples and versions of the example
/// vault.
fn shown(world: &World, text: &str) -> String {
    let text = text.replace(&world.root().display().to_string(), "[root]");
    let line = |line: &str| match line.split_once("DOCTOR_CONFINEMENT: ") {
        Some((before, _)) => format!("{before}DOCTOR_CONFINEMENT: [as this kernel offers]"),
        None => line.to_owned(),
    };
    let word = |word: &str| match word {
        _ if word.len() == 64 && word.bytes().all(|b| b.is_ascii_hexdigit()) => {
            "[sha256]".to_owned()
        }
        _ if word
            .strip_suffix(';')
            .is_some_and(|name| INSTRUCTIONS.contains(&name)) =>
        {
            "[instructions];".to_owned()
        }
        "0" | "1" => word.to_owned(),
        _ if word.bytes().all(|b| b.is_ascii_digit()) && !word.is_empty() => "[n]".to_owned(),
        _ => word.to_owned(),
    };
    text.lines()
        .map(line)
        .map(|line| line.split(' ').map(word).collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_healthy_vault_reads_like_this() {
    let world = healthy();
    let usual = world.ok(&["doctor", "--require-phase3", "--offline"]);
    insta::assert_snapshot!(shown(&world, &usual.stdout), @"[n] checks: 0 failed, [n] passed (-v lists them)");
    let run = world.ok(&["doctor", "--require-phase3", "--offline", "-v"]);
    insta::assert_snapshot!(shown(&world, &run.stdout), @r"
    [OK] DOCTOR_CONFIG_PATH_OK: configuration: [root]/vault/local-agent.yaml (found from here)
    [OK] DOCTOR_CONFIG_TRUST_OK: nothing in the configuration waits for `config trust`
    [OK] DOCTOR_SECURITY_POLICY_OK: 1 source and 0 allowed roots may be read below [root]/vault; hidden paths are denied
    [OK] DOCTOR_CONFINEMENT: [as this kernel offers]
    [OK] DOCTOR_PHASE2_CONFIG_OK: 1 source: vault
    [OK] DOCTOR_EMBED_MODEL_OK: the model `multilingual-e5-small` is there, computed with [instructions]; its weights have SHA-256 [sha256]
    [OK] DOCTOR_INDEX_SCHEMA_OK: [root]/vault/.local-agent/index.sqlite has schema 1
    [OK] DOCTOR_INDEX_INTEGRITY_OK: SQLite finds [root]/vault/.local-agent/index.sqlite whole
    [OK] DOCTOR_INDEX_NONEMPTY: [n] documents, [n] chunks
    [OK] DOCTOR_SKIPPED_FILES: no document was skipped
    [OK] DOCTOR_INDEX_SOURCES_OK: the index holds exactly the configured sources
    [OK] DOCTOR_DOCS_WITHOUT_CHUNKS_OK: every document that has text has chunks
    [OK] DOCTOR_CHUNKS_WITHOUT_DOCS_OK: every chunk belongs to an indexed document
    [OK] DOCTOR_CHUNK_KEY_OK: every chunk has a key of its own
    [OK] DOCTOR_CHUNKER_SIG_OK: the index says how it was cut
    [OK] DOCTOR_CHUNK_SCHEME_OK: every document was cut in the configured way
    [OK] DOCTOR_CHUNKER_SIG_MATCH: the index was cut in the configured way
    [OK] DOCTOR_FILES_FRESH_OK: the index knows [n] files in their present state
    [OK] DOCTOR_FILE_HASH_OK: [n] of [n] files have the bytes that were indexed
    [OK] DOCTOR_CHUNK_TEXT_OK: [n] chunks in them are verbatim slices
    [OK] DOCTOR_LEXICAL_OK: [n] chunks can be found by their words
    [OK] DOCTOR_OLLAMA_NOT_NEEDED: nothing in the configuration needs an Ollama server
    [OK] DOCTOR_EMBED_SCHEMA_OK: [root]/vault/.local-agent/embeddings.sqlite has schema [n]
    [OK] DOCTOR_EMBED_INTEGRITY_OK: SQLite finds [root]/vault/.local-agent/embeddings.sqlite whole
    [OK] DOCTOR_EMBED_RUNTIME_FINGERPRINT_OK: vectors were made by `multilingual-e5-small`, as queries are
    [OK] DOCTOR_EMBED_MISSING_OK: 0 of [n] chunks have no vector
    [OK] DOCTOR_EMBED_OUTDATED_OK: 0 vectors of another fingerprint
    [OK] DOCTOR_EMBED_DIM_MISMATCH_OK: 0 vectors of another length than [n]
    [OK] DOCTOR_EMBED_ORPHANS_OK: 0 vectors of no chunk
    [OK] DOCTOR_VECTORS_OK: the vectors are those of the chunks of the index
    [OK] DOCTOR_VECTORS_PROFILE_OK: unrelated texts have cosines of 0.78 ± 0.03 (measured on this index)
    [OK] DOCTOR_PHASE3_RETRIEVAL_READY_OK: a search by meaning and by words found chunks of the index
    [OK] DOCTOR_MEMORY_DB_MISSING_WARN: there is no durable memory at [root]/vault/.local-agent/durable.sqlite
    [OK] DOCTOR_RUNS_NONE_YET: no run is recorded yet in [root]/vault/.local-agent/runs
    [OK] DOCTOR_STATE_WRITABLE_OK: the folders for the program's own files can be written
    [n] checks: 0 failed, [n] passed
    ");
    assert_eq!(
        world
            .ok(&["doctor", "--require-phase3", "--offline", "--quiet"])
            .stdout,
        ""
    );
    let lenient = world.ok(&["doctor", "--no-ollama", "-v"]);
    assert_eq!(shown(&world, &lenient.stdout), shown(&world, &run.stdout));
    let report = doctor(&world, &["--require-phase3"]);
    let phase3 = &report["phase3"];
    assert_eq!(phase3["retrieval_smoke_reason"], "ok");
    assert_eq!(phase3["missing_embeddings"], 0);
    assert!(phase3["chunks_total"].as_u64().unwrap() > 0);
    assert_eq!(phase3["embed_runtime_fingerprint_match"], true);
    for root in [
        "resolved_config_path",
        "config_root",
        "package_root",
        "workroot",
        "security_root",
    ] {
        assert!(report.get(root).is_some(), "{root}");
    }
}

#[test]
fn w50_what_is_not_embedded_has_an_entry_and_fails_only_when_it_is_required() {
    let world = World::example();
    let report = doctor(&world, &[]);
    assert_eq!(failing(&report), [] as [&str; 0]);
    assert!(codes(&report).contains(&"DOCTOR_PHASE3_EMBEDDINGS_DB_MISSING_WARN"));
    assert!(codes(&report).contains(&"DOCTOR_PHASE3_RETRIEVAL_SMOKE_SKIPPED"));
    let run = world.run(&["doctor", "--offline", "--require-phase3", "--quiet"]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!(shown(&world, &run.stdout), @r"
    [FAIL] DOCTOR_PHASE3_EMBEDDINGS_DB_MISSING: there are no embeddings at [root]/vault/.local-agent/embeddings.sqlite; search goes by words alone
        fix: local-agent embed
    [FAIL] DOCTOR_PHASE3_RETRIEVAL_NOT_READY: no search by meaning was tried: what it needs is missing, damaged or old
        fix: local-agent index && local-agent embed
    ");
}

#[test]
fn w50_missing_outdated_and_orphaned_vectors_are_counted_without_being_required() {
    let world = healthy();
    world.write("new.md", "# New\n\nA note that nobody has embedded yet.\n");
    fs::remove_file(
        files_in(&world.vault())
            .into_iter()
            .find(|f| f.extension().is_some_and(|e| e == "md") && !f.ends_with("new.md"))
            .unwrap(),
    )
    .unwrap();
    world.ok(&["index"]);
    let report = doctor(&world, &[]);
    assert_eq!(failing(&report), [] as [&str; 0]);
    for code in [
        "DOCTOR_EMBED_MISSING_WARN",
        "DOCTOR_EMBED_ORPHANS_WARN",
        "DOCTOR_EMBED_OUTDATED_OK",
        "DOCTOR_VECTORS_STALE_WARN",
    ] {
        assert!(codes(&report).contains(&code), "{code}: {report}");
    }
    assert!(report["phase3"]["missing_embeddings"].as_u64().unwrap() > 0);
    assert!(report["phase3"]["orphan_embeddings"].as_u64().unwrap() > 0);
    is_found_and_mended(
        &world,
        "DOCTOR_EMBED_MISSING_REQUIRE_PHASE3",
        &["--require-phase3"],
    );
}

#[test]
fn w50_a_broken_configuration_is_a_check_and_later_groups_still_run() {
    let world = World::example();
    let file = world.vault().join("local-agent.yaml");
    let sound = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{sound}\nnonsense: 1\n")).unwrap();
    let report = doctor(&world, &[]);
    assert_eq!(failing(&report), ["DOCTOR_CONFIG_INVALID"]);
    assert!(codes(&report).contains(&"DOCTOR_LEXICAL_OK"));
    assert!(
        fix_of(&report, "DOCTOR_CONFIG_INVALID").contains("local-agent"),
        "{report}"
    );
    fs::write(&file, sound).unwrap();
    assert_eq!(failing(&doctor(&world, &[])), [] as [&str; 0]);
    fs::write(&file, "{{{ not yaml").unwrap();
    assert!(failing(&doctor(&world, &[])).contains(&"DOCTOR_CONFIG_INVALID"));
    world
        .run(&[
            "--workroot",
            "/nowhere/at/all",
            "doctor",
            "--offline",
            "--json",
        ])
        .json();
}

#[test]
fn instructions_that_the_machine_lacks_are_named_before_anybody_embeds() {
    let world = healthy();
    let lacking = if cfg!(target_arch = "x86_64") {
        "neon"
    } else {
        "avx2"
    };
    configure(
        &world,
        "vault",
        &format!("embed: {{instructions: {lacking}}}\n"),
    );
    let report = doctor(&world, &[]);
    assert!(
        failing(&report).contains(&"DOCTOR_EMBED_MODEL_NOT_READY"),
        "{report}"
    );
    assert!(
        fix_of(&report, "DOCTOR_EMBED_MODEL_NOT_READY")
            .starts_with("set embed.instructions to auto (here that is ")
    );
    configure(&world, "vault", "embed: {instructions: auto}\n");
    assert_eq!(failing(&doctor(&world, &[])), Vec::<&str>::new());
}

#[test]
fn a_configuration_that_asks_for_more_is_trusted_by_the_suggested_command() {
    let world = World::example();
    configure(
        &world,
        "vault",
        "llm: {base_url: \"http://192.0.2.1:11434\"}\n",
    );
    is_found_and_mended(&world, "DOCTOR_CONFIG_UNTRUSTED", &[]);
}

#[test]
fn a_folder_that_nobody_set_up_is_said_to_be_so() {
    let world = World::empty();
    world.write("a.md", "# A\n\nText.\n");
    let report = doctor(&world, &[]);
    assert!(
        failing(&report).contains(&"DOCTOR_CONFIG_PATH_MISSING"),
        "{report}"
    );
    follow(&world, &fix_of(&report, "DOCTOR_CONFIG_PATH_MISSING"));
    is_found_and_mended(&world, "DOCTOR_INDEX_DB_MISSING", &[]);
    is_found_and_mended(
        &world,
        "DOCTOR_PHASE3_EMBEDDINGS_DB_MISSING",
        &["--require-phase3"],
    );
}

#[test]
fn new_changed_and_gone_files_make_the_index_stale() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n"), ("b.md", "# B\n\nTwo.\n")]);
    world.ok(&["index"]);
    assert_eq!(failing(&doctor(&world, &[])), [] as [&str; 0]);
    let later = fs::FileTimes::new().set_modified(std::time::SystemTime::now());
    fs::File::options()
        .write(true)
        .open(world.vault().join("a.md"))
        .unwrap()
        .set_times(later)
        .unwrap();
    assert_eq!(
        failing(&doctor(&world, &[])),
        [] as [&str; 0],
        "only the stamp moved"
    );
    world.write("a.md", "# A\n\nOther.\n");
    world.write("c.md", "# C\n\nThree.\n");
    fs::remove_file(world.vault().join("b.md")).unwrap();
    let report = doctor(&world, &[]);
    let check = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["error_code"] == "DOCTOR_FILES_STALE")
        .unwrap();
    assert_eq!(
        check["message"],
        "since they were indexed, files are new (1), changed (1), gone (1): notes:c.md, notes:a.md, notes:b.md"
    );
    is_found_and_mended(&world, "DOCTOR_FILES_STALE", &[]);
}

#[test]
fn w24_documents_cut_in_another_way_are_found() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n"), ("b.md", "# B\n\nTwo.\n")]);
    world.ok(&["index", "--max-tokens", "50"]);
    is_found_and_mended(&world, "DOCTOR_CHUNK_SCHEME_MISMATCH", &[]);
}

#[test]
fn w28_a_source_that_is_no_longer_configured_is_found() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    world.ok(&["index"]);
    world.ok(&["init", "--here", "--force", "--source", "other=."]);
    is_found_and_mended(&world, "DOCTOR_INDEX_SOURCES_MISMATCH", &[]);
}

#[test]
fn skipped_files_are_counted_by_reason() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    fs::write(world.vault().join("latin.md"), b"# caf\xe9\n").unwrap();
    world.write("id_rsa.md", "# kept\n\nNot a secret by that name.\n");
    world.ok(&["index"]);
    let report = doctor(&world, &[]);
    let check = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["error_code"] == "DOCTOR_SKIPPED_FILES")
        .unwrap();
    assert_eq!(
        check["message"],
        "1 file listed and not indexed: 1 not_utf8"
    );
    assert_eq!(failing(&report), [] as [&str; 0]);
}

#[test]
fn lost_and_damaged_lexical_projections_are_found_and_mended() {
    let world = healthy();
    let lexical = world.state().join("lexical");
    fs::remove_dir_all(&lexical).unwrap();
    is_found_and_mended(&world, "DOCTOR_LEXICAL_MISSING", &["--require-phase3"]);
    flip_a_byte(&lexical, |name| name.ends_with(".idx"));
    is_found_and_mended(&world, "DOCTOR_LEXICAL_DAMAGED", &["--require-phase3"]);
}

#[test]
fn lost_and_damaged_matrices_are_found_and_mended() {
    let world = healthy();
    let vectors = world.state().join("vectors");
    fs::remove_dir_all(&vectors).unwrap();
    is_found_and_mended(&world, "DOCTOR_VECTORS_MISSING", &[]);
    flip_a_byte(&vectors, |_| true);
    is_found_and_mended(&world, "DOCTOR_VECTORS_DAMAGED", &[]);
}

#[test]
fn junk_and_foreign_files_where_the_databases_belong_are_moved_aside_by_the_fix() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    world.ok(&["index"]);
    let index = world.state().join("index.sqlite");
    let foreign = [b"SQLite format 3\0".as_slice(), &[0; 200]].concat();
    fs::write(&index, &foreign).unwrap();
    is_found_and_mended(&world, "DOCTOR_INDEX_DB_FOREIGN", &[]);
    let aside = files_in(&world.state())
        .into_iter()
        .filter(|f| f.to_string_lossy().contains(".ancestor-"));
    assert!(
        aside
            .map(|file| fs::read(file).unwrap())
            .any(|bytes| bytes == foreign),
        "the foreign file is kept"
    );
    fs::write(&index, "no database at all").unwrap();
    is_found_and_mended(&world, "DOCTOR_INDEX_DB_ERROR", &[]);
    fs::write(world.state().join("embeddings.sqlite"), &foreign).unwrap();
    is_found_and_mended(&world, "DOCTOR_EMBED_DB_FOREIGN", &[]);
    // Damage inside one of our databases that only SQLite itself detects.
    for (database, code) in [
        ("index", "DOCTOR_INDEX_DB_ERROR"),
        ("embeddings", "DOCTOR_EMBED_DB_ERROR"),
    ] {
        let file = world.state().join(format!("{database}.sqlite"));
        let mut bytes = fs::read(&file).unwrap();
        let end = bytes.len();
        bytes[100..end].fill(0xa5);
        fs::write(&file, bytes).unwrap();
        let report = doctor(&world, &[]);
        assert!(failing(&report).contains(&code), "{report}");
        follow(&world, &fix_of(&report, code));
        follow(&world, "local-agent embed");
        assert_eq!(
            failing(&doctor(&world, &["--require-phase3"])),
            [] as [&str; 0]
        );
    }
}

#[test]
fn a_newer_database_is_named_and_left_alone() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    world.ok(&["index"]);
    let index = world.state().join("index.sqlite");
    let mut bytes = fs::read(&index).unwrap();
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(&index, bytes).unwrap();
    let before = data(&world);
    let report = doctor(&world, &[]);
    assert_eq!(failing(&report), ["DOCTOR_INDEX_SCHEMA_VERSION"]);
    let fix = fix_of(&report, "DOCTOR_INDEX_SCHEMA_VERSION");
    assert!(
        !fix.contains("--rebuild") && fix.contains("`index.db_path`"),
        "{fix}"
    );
    assert_eq!(data(&world), before);
}

#[test]
fn w48_doctor_creates_nothing_and_changes_nothing() {
    let nothing = World::empty();
    let never_indexed = World::with(&[("a.md", "# A\n\nOne.\n")]);
    let foreign = World::with(&[("a.md", "# A\n\nOne.\n")]);
    fs::create_dir_all(foreign.state()).unwrap();
    for name in ["index.sqlite", "embeddings.sqlite", "durable.sqlite"] {
        fs::write(
            foreign.state().join(name),
            [b"SQLite format 3\0".as_slice(), &[0; 200]].concat(),
        )
        .unwrap();
    }
    for world in [nothing, never_indexed, foreign, healthy()] {
        let before = data(&world);
        for args in [
            ["doctor", "--offline", "--quiet"],
            ["doctor", "--require-phase3", "--json"],
        ] {
            world.run(&args);
            let after = data(&world);
            let names = |files: &[(PathBuf, Vec<u8>)]| {
                files
                    .iter()
                    .map(|(path, _)| path.clone())
                    .collect::<Vec<_>>()
            };
            assert_eq!(names(&after), names(&before));
            let changed = after
                .iter()
                .zip(&before)
                .find(|(after, before)| after != before);
            assert_eq!(changed.map(|(after, _)| &after.0), None);
        }
    }
}

/// Every file with its bytes. `-shm` is the memory that SQLite's readers share: it contains nothing
/// that is not in the database and its log, and the first reader creates it, so only its presence
/// counts.
fn data(world: &World) -> Vec<(PathBuf, Vec<u8>)> {
    let is_memory = |path: &Path| path.to_string_lossy().ends_with("-shm");
    let files = world.photograph().into_iter();
    files
        .map(|(path, bytes)| {
            if is_memory(&path) {
                (path, Vec::new())
            } else {
                (path, bytes)
            }
        })
        .collect()
}

#[test]
fn w49_a_server_that_does_not_answer_is_a_check_of_its_own() {
    let world = World::example();
    // The discard port, on which no server listens.
    configure(
        &world,
        "vault",
        "llm: {model: some-model, base_url: \"http://127.0.0.1:9\"}\n",
    );
    let report = world.run(&["doctor", "--json"]).json();
    assert_eq!(failing(&report), ["DOCTOR_OLLAMA_UNREACHABLE"], "{report}");
    assert_eq!(
        failing(&doctor(&world, &[])),
        [] as [&str; 0],
        "not contacted with --offline"
    );
}

#[test]
fn records_and_memory_are_looked_at() {
    let world = healthy();
    world.json(&[
        "ask",
        "At what temperature and humidity does the proofbox hold sourdough?",
    ]);
    let report = doctor(&world, &["--require-phase3"]);
    assert_eq!(failing(&report), [] as [&str; 0]);
    for code in [
        "DOCTOR_LEDGER_OK",
        "DOCTOR_RUN_RECORDS_OK",
        "DOCTOR_MEMORY_DB_OK",
        "DOCTOR_MEMORY_DANGLING_EVIDENCE_OK",
    ] {
        assert!(codes(&report).contains(&code), "{code}: {report}");
    }
    assert_eq!(report["phase3"]["dangling_memory_evidence"], 0);
    // A memory whose chunk moved with its file.
    let key = world.json(&["query", "proofbox sourdough"])["hits"][0]["chunk_key"]
        .as_str()
        .unwrap()
        .to_owned();
    let args = [
        "memory",
        "add",
        "--type",
        "user_fact",
        "--source",
        "derived_from_evidence",
        "--content",
        "x",
        "--chunk-key",
        &key,
    ];
    world.ok(&args);
    fs::rename(
        world.vault().join("projects/Proofbox.md"),
        world.vault().join("projects/Box.md"),
    )
    .unwrap();
    world.ok(&["index"]);
    world.ok(&["embed"]);
    is_found_and_mended(&world, "DOCTOR_MEMORY_DANGLING_EVIDENCE", &[]);
    // A ledger without its last line.
    let ledger = world.state().join("runs/ledger.jsonl");
    let text = fs::read_to_string(&ledger).unwrap();
    fs::write(&ledger, text.lines().next().unwrap().to_owned() + "\n").unwrap();
    let report = doctor(&world, &[]);
    assert_eq!(
        failing(&report),
        ["DOCTOR_LEDGER_BROKEN", "DOCTOR_RUN_RECORDS_DAMAGED"]
    );
    follow(&world, &fix_of(&report, "DOCTOR_LEDGER_BROKEN"));
    world.ok(&["runs", "prune", "--keep", "0"]);
    assert_eq!(failing(&doctor(&world, &[])), [] as [&str; 0]);
    // Records that others may read, and a file that is not a database.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&ledger, fs::Permissions::from_mode(0o644)).unwrap();
        is_found_and_mended(&world, "DOCTOR_RUNS_OPEN_TO_OTHERS", &[]);
    }
    fs::write(world.state().join("durable.sqlite"), "junk").unwrap();
    assert!(failing(&doctor(&world, &[])).contains(&"DOCTOR_MEMORY_DB_ERROR"));
}

/// Runs `doctor` with a server that has the embedding model `m`.
fn doctor_with_a_server(world: &World) -> Value {
    let server = serve(|request| {
        let body: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let inputs = body["input"].as_array().map_or(1, Vec::len);
        let models = json!([{"name": "m", "model": "m", "digest": "d"}]);
        let reply = json!({"embeddings": vec![json!([0.6, 0.8]); inputs], "models": models});
        vec![Step::Bytes(ok_json(&reply.to_string()))]
    });
    let text = format!(
        "embed: {{provider: ollama, model: m}}\nllm: {{base_url: '{}'}}\n",
        server.url("")
    );
    configure(world, "vault", &text);
    world.run(&["doctor", "--json"]).json()
}

#[test]
fn every_code_of_the_python_version_that_went_is_said_by_the_one_in_the_table() {
    let table = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/codes.md")).unwrap();
    let now_of = |old: &str| {
        let row = table
            .lines()
            .find(|line| line.starts_with(&format!("| `{old}` |")));
        let now = row.unwrap_or_else(|| panic!("{old}")).split('`').nth(3);
        now.unwrap().to_owned()
    };
    let is_said = |old: &str, report: &Value| {
        let now = now_of(old);
        assert!(
            failing(report).contains(&now.as_str()),
            "{old} {now}: {report}"
        );
    };
    let world = healthy();
    is_said(
        "DOCTOR_EMBED_PROVIDER_MISMATCH",
        &doctor_with_a_server(&world),
    );
    configure(&world, "vault", "embed: {provider: nosuch}\n");
    is_said("DOCTOR_EMBED_PROVIDER_UNSUPPORTED", &doctor(&world, &[]));
    configure(&world, "vault", "embed: {passage_prefix: 'other: '}\n");
    is_said(
        "DOCTOR_EMBED_CHUNK_PREPROCESS_SIG_MISMATCH",
        &doctor(&world, &[]),
    );
    configure(&world, "vault", "embed: {query_prefix: 'other: '}\n");
    is_said(
        "DOCTOR_EMBED_QUERY_PREPROCESS_SIG_MISMATCH",
        &doctor(&world, &[]),
    );
    // Whether vectors are normalised is a part of the fingerprint only.
    configure(&world, "vault", "");
    let db = rusqlite::Connection::open(world.state().join("embeddings.sqlite")).unwrap();
    db.execute("UPDATE embeddings SET fingerprint = zeroblob(32)", [])
        .unwrap();
    drop(db);
    is_said(
        "DOCTOR_EMBED_VECTORS_NORMALIZED_INVALID",
        &doctor(&world, &[]),
    );
}

#[test]
fn fixes_name_the_folder_and_the_configuration_in_every_form() {
    let world = World::with(&[("oven.md", "# Oven\n")]);
    let vault = world.vault();
    let vault = vault.to_str().unwrap();
    let report = world
        .run(&["-C", vault, "doctor", "--offline", "--json"])
        .json();
    let checks = report["checks"].as_array().unwrap();
    let missing = checks
        .iter()
        .find(|check| check["error_code"] == "DOCTOR_INDEX_DB_MISSING");
    assert_eq!(
        missing.unwrap()["suggested_fix"],
        format!("local-agent -C {vault} index")
    );
    world.ok(&["index"]);
    drop(crate::runs::begin(&world));
    let found = world.run(&["-C", vault, "runs", "verify", "--json"]).json();
    let fix = found["findings"][0]["fix"].as_str().unwrap();
    assert!(
        fix.starts_with(&format!("local-agent -C {vault} runs prune ")),
        "{fix}"
    );
}

#[test]
fn a_chat_model_that_cannot_be_used_is_a_failure_when_every_ask_would_fail() {
    let world = World::example();
    world.ok(&["index"]);
    world.ok(&["embed"]);
    for (model, code, fix) in [
        (
            "ask: {provider: openai}\nllm: {model: m, base_url: 'http://127.0.0.1:9'}\n",
            "DOCTOR_ASK_PROVIDER_NOT_READY",
            "start the server at llm.base_url, or correct llm.base_url",
        ),
        (
            "ask: {provider: ollama}\nllm: {base_url: 'http://127.0.0.1:9'}\n",
            "DOCTOR_ASK_PROVIDER_NOT_READY",
            "set llm.model",
        ),
        (
            // An address for documents, which no machine has.
            "ask: {provider: ollama}\nllm: {model: m, base_url: 'http://192.0.2.2:9'}\n",
            "DOCTOR_OLLAMA_UNREACHABLE",
            "run `ollama serve` on 192.0.2.2, or correct llm.base_url",
        ),
    ] {
        configure(&world, "vault", model);
        world.ok(&["config", "trust"]);
        let report = world.run(&["doctor", "--json"]).json();
        assert_eq!(failing(&report), [code], "{report}");
        let checks = report["checks"].as_array().unwrap();
        let check = checks
            .iter()
            .find(|check| check["error_code"] == code)
            .unwrap();
        assert_eq!(check["suggested_fix"], fix);
        assert_eq!(
            world.run(&["doctor", "--require-phase3", "--quiet"]).code,
            1
        );
    }
}
