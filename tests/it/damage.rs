//! Full disks, read-only folders, damaged files, wrong clocks, outdated projections: each gives a
//! typed failure with the command that fixes it, and that command works.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use serde_json::Value;

use super::churn::{Dice, State, Vault, assert_same, check_rows};
use super::crash::fingerprint;
use super::harness::{Run, World, spoken_failure};

/// An indexed vault, and its state when everything is in order.
struct Scene {
    world: World,
    vault: Vault,
    state: State,
    index: Vec<String>,
    vectors: Vec<String>,
}

impl Scene {
    fn new(notes: usize, size: [usize; 3]) -> Self {
        let world = World::with(&[]);
        let vault = Vault::new(
            &world.vault(),
            &world.root().join("versions"),
            41,
            notes,
            size,
        );
        let state = State(world.state());
        world.ok(&["index"]);
        let index = state.dump_index();
        Self {
            world,
            vault,
            state,
            index,
            vectors: Vec::new(),
        }
    }

    fn embedded() -> Self {
        let mut scene = Self::new(6, [2, 1, 12]);
        scene.world.ok(&["embed"]);
        scene.vectors = scene.state.dump_vectors(&fingerprint());
        scene
    }

    fn copy_state(&self) -> PathBuf {
        let copy = self.world.root().join("state-as-it-was");
        if !copy.exists() {
            copy_folder(&self.state.0, &copy);
        }
        copy
    }

    fn restore(&self) {
        let copy = self.copy_state();
        fs::remove_dir_all(&self.state.0).unwrap();
        copy_folder(&copy, &self.state.0);
    }

    /// Runs a command that may succeed; if it fails, it must fail with one of `codes` and name a
    /// command, which is run. Returns the failure.
    fn mended(&self, args: &[&str], codes: &[&str]) -> Option<Value> {
        let run = self.world.run(args);
        let failure = failure(&run, args, codes)?;
        let hint = failure["hint"]
            .as_str()
            .unwrap_or_else(|| panic!("{args:?} names no command: {failure}"));
        let command = hint
            .strip_prefix("local-agent ")
            .unwrap_or_else(|| panic!("not a command: {failure}"));
        let command: Vec<&str> = command
            .split(" (")
            .next()
            .unwrap_or_default()
            .split(' ')
            .collect();
        self.world.ok(&command);
        Some(failure)
    }

    fn assert_well(&self) {
        self.world.ok(&["query", "oven", "--mode", "lexical"]);
        assert_same(&self.state.dump_index(), &self.index);
        if !self.vectors.is_empty() {
            assert_same(&self.state.dump_vectors(&fingerprint()), &self.vectors);
        }
    }
}

fn failure(run: &Run, args: &[&str], codes: &[&str]) -> Option<Value> {
    assert!(!run.stderr.contains("panicked"), "{args:?}: {}", run.stderr);
    if run.code == 0 {
        return None;
    }
    assert_eq!(run.code, 1, "{args:?}: {} {}", run.stdout, run.stderr);
    let failure: Value = if run.stdout.is_empty() {
        spoken_failure(&run.stderr).unwrap_or_else(|| panic!("{args:?}: {}", run.stderr))
    } else {
        run.json()
    };
    let code = failure["error_code"].as_str().unwrap();
    assert!(codes.contains(&code), "{args:?}: {failure}");
    Some(failure)
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            assert!(fs::copy(&path, target).is_ok());
        }
    }
}

fn cut(file: &Path, keep: u64) {
    File::options()
        .write(true)
        .open(file)
        .unwrap()
        .set_len(keep)
        .unwrap();
}

fn flip(file: &Path, at: usize, count: usize) {
    let mut bytes = fs::read(file).unwrap();
    let end = bytes.len().min(at + count);
    bytes[at.min(end)..end].iter_mut().for_each(|b| *b ^= 0x5a);
    fs::write(file, bytes).unwrap();
}

fn length(file: &Path) -> usize {
    usize::try_from(fs::metadata(file).unwrap().len()).unwrap()
}

/// Runs a command that may write no file longer than `blocks` × 512 bytes, which has the same
/// effect as a full disk.
#[cfg(unix)]
fn with_small_files(world: &World, blocks: u32, args: &[&str]) -> Run {
    let program = world.command();
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut shell = std::process::Command::new("/bin/sh");
    shell
        .env_clear()
        .env("HOME", world.home())
        .current_dir(world.vault())
        .stdin(Stdio::null());
    Run::from(
        shell
            .arg("-c")
            .arg(script)
            .arg(program.get_program())
            .args(args)
            .output()
            .unwrap(),
    )
}

#[cfg(unix)]
#[test]
fn s33_a_full_disk_is_a_typed_failure_and_the_next_run_completes() {
    const CODES: &[&str] = &["WRITE_ERROR", "DB_ERROR"];
    let mut scene = Scene::embedded();
    let mut failed = 0;
    for blocks in [0, 1, 4, 16, 64, 128, 256, 512] {
        scene.vault.churn(4);
        scene.vault.add();
        for _ in 0..2 {
            if let Some(failure) = failure(
                &with_small_files(&scene.world, blocks, &["index", "--json"]),
                &["index"],
                CODES,
            ) {
                assert!(
                    failure["hint"]
                        .as_str()
                        .is_some_and(|hint| !hint.is_empty()),
                    "{failure}"
                );
                failed += 1;
            }
            let query = scene
                .world
                .run(&["query", "oven", "--mode", "lexical", "--json"]);
            assert_eq!(query.code, 0, "{}", query.stdout);
            let index =
                local_agent_index::store::IndexReader::required(&scene.state.index_db()).unwrap();
            check_rows(&index, &scene.world.root().join("versions"));
        }
        scene.world.ok(&["index"]);
        if let Some(failure) = failure(
            &with_small_files(&scene.world, blocks, &["embed", "--json"]),
            &["embed"],
            CODES,
        ) {
            assert!(
                failure["hint"]
                    .as_str()
                    .is_some_and(|hint| !hint.is_empty()),
                "{failure}"
            );
            failed += 1;
        }
    }
    assert!(failed > 8, "the limits were too generous: {failed}");
    scene.world.ok(&["index"]);
    scene.world.ok(&["embed"]);
    assert_eq!(scene.state.unnamed_files(), Vec::<String>::new());
    let fresh = World::with(&[]);
    scene.vault.copy_to(&fresh.vault());
    fresh.ok(&["index"]);
    assert_same(
        &scene.state.dump_index(),
        &State(fresh.state()).dump_index(),
    );
}

#[cfg(unix)]
#[test]
fn s33_a_read_only_state_folder_can_be_searched_and_not_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut scene = Scene::embedded();
    let chmod = |files: u32, folders: u32| {
        for folder in [
            scene.state.lexical(),
            scene.state.vectors(),
            scene.state.0.clone(),
        ] {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    fs::set_permissions(path, fs::Permissions::from_mode(files)).unwrap();
                }
            }
            fs::set_permissions(folder, fs::Permissions::from_mode(folders)).unwrap();
        }
    };
    chmod(0o444, 0o555);
    let obeyed = File::create(scene.state.0.join("probe")).is_err();
    let before = scene.world.photograph();
    let found = scene.world.json(&["query", "oven", "--mode", "lexical"]);
    if obeyed {
        // Root may write everywhere, so nothing can be refused.
        assert_eq!(scene.world.photograph(), before);
        scene.vault.edit();
        for job in ["index", "embed"] {
            let refused = scene.world.fails(&[job, "--json"]);
            assert!(
                ["WRITE_ERROR", "DB_ERROR"].contains(&refused["error_code"].as_str().unwrap()),
                "{refused}"
            );
        }
    }
    chmod(0o644, 0o755);
    let _ = fs::remove_file(scene.state.0.join("probe"));
    assert!(found["count"].as_u64().unwrap() > 0);
    scene.world.ok(&["index"]);
}

#[test]
fn s34_a_damaged_index_database_is_said_and_mended_by_the_command_that_is_named() {
    let scene = Scene::new(30, [3, 2, 30]);
    let file = scene.state.index_db();
    let size = length(&file);
    let mut said = 0;
    let mut dice = Dice::new(77);
    for damage in 0..12 {
        scene.restore();
        match damage {
            0 => cut(&file, size as u64 / 2),
            1 => cut(&file, 50),
            2 => cut(&file, 4096),
            3 => cut(&file, 0),
            4 => fs::write(&file, "not a database").unwrap(),
            5 => flip(&file, 100, 400),
            6 => flip(&file, 4096, size),
            7 => flip(&file, 16, 16),
            8 => flip(&file, size - 4096 * 3, 4096),
            _ => flip(&file, 100 + dice.below(size - 100), 3000),
        }
        let args: &[&str] = if damage % 2 == 0 {
            &["query", "oven", "--mode", "lexical", "--json"]
        } else {
            &["index", "--json"]
        };
        let failure = scene.mended(args, &["DB_CORRUPT", "INDEX_MISSING", "DB_ERROR"]);
        said += usize::from(failure.is_some());
        if failure.is_none() && damage >= 5 {
            // No command read the damaged part. Doctor suggests `index --rebuild`.
            scene.world.ok(&["index", "--rebuild"]);
        }
        scene.world.ok(&["index"]);
        scene.assert_well();
    }
    assert!(said >= 8, "{said}");
}

#[test]
fn s34_a_chunk_whose_text_was_changed_in_the_database_is_never_shown() {
    let scene = Scene::new(3, [2, 1, 20]);
    let db = Connection::open(scene.state.index_db()).unwrap();
    db.execute("UPDATE chunks SET text = replace(text, 'e', 'a')", [])
        .unwrap();
    drop(db);
    let failure = scene
        .mended(
            &["query", "made", "--mode", "lexical", "--json"],
            &["DB_CORRUPT"],
        )
        .expect("a failure");
    assert_eq!(failure["hint"], "local-agent index --rebuild");
    scene.assert_well();
}

#[test]
fn s34_a_write_ahead_log_that_is_missing_or_damaged_costs_a_run_and_no_content() {
    let mut scene = Scene::new(20, [3, 1, 20]);
    for damage in 0..3 {
        // A killed writer leaves its newest commits in the log.
        let holder = Connection::open(scene.state.index_db()).unwrap();
        holder
            .query_row("SELECT count(*) FROM chunks", [], |row| {
                row.get::<_, i64>(0)
            })
            .unwrap();
        let log = scene.state.0.join("index.sqlite-wal");
        holder
            .execute_batch("PRAGMA wal_autocheckpoint = 0; BEGIN")
            .unwrap();
        holder
            .query_row("SELECT count(*) FROM chunks", [], |row| {
                row.get::<_, i64>(0)
            })
            .unwrap();
        scene.vault.churn(6);
        let mut child = scene
            .world
            .command()
            .args(["index", "--quiet"])
            .spawn()
            .unwrap();
        for _ in 0..2000 {
            if length(&log) > 0 || child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(30));
        let _ = child.kill();
        child.wait().unwrap();
        let saved = scene.world.root().join("saved");
        let _ = fs::remove_dir_all(&saved);
        copy_folder(&scene.state.0, &saved);
        drop(holder);
        fs::remove_dir_all(&scene.state.0).unwrap();
        copy_folder(&saved, &scene.state.0);
        match damage {
            0 => fs::remove_file(&log).unwrap(),
            1 => flip(&log, 40, 5000),
            _ => cut(&log, length(&log) as u64 / 2),
        }
        scene.mended(
            &["query", "oven", "--mode", "lexical", "--json"],
            &["DB_CORRUPT"],
        );
        scene.mended(&["index", "--json"], &["DB_CORRUPT"]);
        let fresh = World::with(&[]);
        scene.vault.copy_to(&fresh.vault());
        fresh.ok(&["index"]);
        scene.index = State(fresh.state()).dump_index();
        scene.assert_well();
    }
}

#[test]
fn s34_damaged_lexical_files_are_said_and_mended_by_the_command_that_is_named() {
    let scene = Scene::new(30, [3, 2, 30]);
    let names: Vec<String> = fs::read_dir(scene.state.lexical())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.ends_with(".lock"))
        .collect();
    assert!(names.len() > 4, "{names:?}");
    let mut said = 0;
    for name in &names {
        for damage in 0..4 {
            scene.restore();
            let file = scene.state.lexical().join(name);
            match damage {
                0 => fs::remove_file(&file).unwrap(),
                1 => cut(&file, length(&file) as u64 / 2),
                2 => flip(&file, length(&file) / 2, 40),
                _ => flip(&file, 0, length(&file)),
            }
            let query = scene
                .world
                .run(&["query", "oven flour", "--mode", "lexical", "--json"]);
            let failed = failure(
                &query,
                &["query"],
                &["DB_CORRUPT", "INDEX_MISSING", "DB_ERROR"],
            )
            .is_some();
            said += usize::from(failed);
            if failed {
                scene.mended(
                    &["query", "oven flour", "--mode", "lexical", "--json"],
                    &["DB_CORRUPT", "INDEX_MISSING"],
                );
            } else {
                // This query does not read the damaged part. The command that checks every byte
                // fixes it.
                scene.world.ok(&["index", "--verify"]);
            }
            scene.assert_well();
        }
    }
    assert!(said >= names.len(), "{said}");
}

#[test]
fn s34_damaged_vectors_are_said_and_mended_by_the_command_that_is_named() {
    let scene = Scene::embedded();
    let names: Vec<String> = fs::read_dir(scene.state.vectors())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.len() >= 2, "{names:?}");
    for name in &names {
        for damage in 0..5 {
            scene.restore();
            let file = scene.state.vectors().join(name);
            match damage {
                0 => fs::remove_file(&file).unwrap(),
                1 => cut(&file, length(&file) as u64 / 2),
                2 => flip(&file, 20, 40),
                3 => flip(&file, length(&file) / 2, 8),
                _ => flip(&file, length(&file) - 8, 8),
            }
            if scene
                .mended(&["status", "--json"], &["DB_CORRUPT"])
                .is_none()
            {
                scene.world.ok(&["embed"]);
            }
            scene.assert_well();
        }
    }
}

#[test]
fn s34_a_damaged_embeddings_database_is_said_and_mended_by_the_command_that_is_named() {
    let scene = Scene::embedded();
    let file = scene.state.embeddings_db();
    let size = length(&file);
    for damage in 0..5 {
        scene.restore();
        match damage {
            0 => cut(&file, size as u64 / 2),
            1 => cut(&file, 0),
            2 => fs::write(&file, "not a database").unwrap(),
            3 => flip(&file, 100, 400),
            _ => flip(&file, 4096, size),
        }
        // Searching needs only the matrix.
        scene.world.ok(&["query", "oven"]);
        scene.mended(&["embed", "--json"], &["DB_CORRUPT"]);
        scene.world.ok(&["embed"]);
        scene.assert_well();
    }
}

#[test]
fn s37_files_from_the_future_and_clocks_that_ran_ahead_hide_no_change() {
    let world = World::with(&[]);
    let file = world.vault().join("note.md");
    let stamp = |text: &str, seconds: u64| {
        fs::write(&file, text).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        File::options()
            .write(true)
            .open(&file)
            .unwrap()
            .set_modified(time)
            .unwrap();
    };
    let changed = |world: &World| world.json(&["index"])["docs_changed"].as_u64().unwrap();
    let future = 4_000_000_000;
    stamp("# A\n\nthe first text\n", future);
    assert_eq!(changed(&world), 1);
    assert_eq!(changed(&world), 0);
    stamp("# A\n\nother, as long\n", future);
    assert_eq!(changed(&world), 1);
    // The last scan claims to have begun far in the future.
    let db = Connection::open(world.state().join("index.sqlite")).unwrap();
    db.execute("UPDATE sources SET scanned_ns = 4100000000000000000", [])
        .unwrap();
    drop(db);
    stamp("# A\n\nand a third one\n", future);
    assert_eq!(changed(&world), 1);
    assert_eq!(changed(&world), 0);
    stamp("# A\n\nfrom the longago\n", 5);
    assert_eq!(changed(&world), 1);
    let found = world.json(&["query", "longago", "--mode", "lexical"]);
    assert_eq!(found["count"], 1);
}

#[test]
fn s38_a_lexical_projection_that_is_gone_or_of_another_time_is_said_and_mended() {
    let mut scene = Scene::new(12, [2, 1, 20]);
    let stale = |world: &World| {
        world.json(&["query", "oven"])["stale"]
            .as_array()
            .unwrap()
            .clone()
    };
    let names_lexical = |stale: &[Value]| {
        stale
            .iter()
            .any(|one| one["what"] == "lexical" && one["fix"] == "local-agent index")
    };
    assert!(!names_lexical(&stale(&scene.world)));
    fs::remove_dir_all(scene.state.lexical()).unwrap();
    assert!(names_lexical(&stale(&scene.world)));
    assert_eq!(
        scene
            .world
            .fails(&["query", "oven", "--mode", "lexical", "--json"])["hint"],
        "local-agent index"
    );
    scene.world.ok(&["index"]);
    scene.assert_well();

    let old = scene.copy_state();
    let other = Scene::new(9, [3, 1, 15]);
    scene.vault.churn(10);
    scene.world.ok(&["index"]);
    scene.index = scene.state.dump_index();
    for lexical in [old.join("lexical"), other.state.lexical()] {
        fs::remove_dir_all(scene.state.lexical()).unwrap();
        copy_folder(&lexical, &scene.state.lexical());
        assert!(names_lexical(&stale(&scene.world)));
        // The rows that are shown are still correct.
        let found = scene.world.json(&["query", "made", "--mode", "lexical"]);
        for hit in found["hits"].as_array().unwrap() {
            let text =
                fs::read_to_string(scene.world.vault().join(hit["rel_path"].as_str().unwrap()))
                    .unwrap();
            assert!(text.contains(hit["text"].as_str().unwrap()));
        }
        scene.world.ok(&["index"]);
        assert!(!names_lexical(&stale(&scene.world)));
        scene.assert_well();
    }
}

#[test]
fn s39_vectors_of_another_model_are_not_searched_and_said_so() {
    let scene = Scene::embedded();
    let manifest = scene.state.vectors().join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let ours = fingerprint().to_string();
    assert!(text.contains(&ours));
    fs::write(&manifest, text.replace(&ours, &"ab".repeat(32))).unwrap();
    let found = scene.world.json(&["query", "oven flour made"]);
    let stale = &found["stale"].as_array().unwrap()[0];
    assert_eq!(
        (stale["what"].as_str(), stale["fix"].as_str()),
        (Some("vectors"), Some("local-agent embed"))
    );
    assert!(stale["why"].as_str().unwrap().contains("another model"));
    assert_eq!(found["coverage"]["embedded"], 0);
    assert!(
        found["hits"]
            .as_array()
            .unwrap()
            .iter()
            .all(|hit| hit["method"] == "lexical")
    );
    assert_eq!(
        scene
            .world
            .fails(&["query", "oven", "--mode", "vector", "--json"])["hint"],
        "local-agent embed"
    );
    scene.world.ok(&["embed"]);
    assert!(
        scene.world.json(&["query", "oven"])["stale"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    scene.assert_well();
}

#[test]
fn a_vault_without_vectors_left_is_not_stale_after_embed() {
    let scene = Scene::embedded();
    for folder in ["inbox", "work", "home"] {
        let _ = fs::remove_dir_all(scene.world.vault().join(folder));
    }
    scene.world.ok(&["index", "--allow-empty"]);
    scene.world.ok(&["embed"]);
    let found = scene.world.json(&["query", "oven"]);
    assert_eq!(
        (
            found["outcome"].as_str(),
            found["stale"].as_array().unwrap().len()
        ),
        (Some("nothing_found"), 0),
        "{found}"
    );
}

#[test]
fn an_empty_vault_is_an_index_in_which_nothing_is_found() {
    let world = World::with(&[]);
    world.ok(&["index"]);
    assert_eq!(
        world.json(&["query", "oven", "--mode", "lexical"])["outcome"],
        "nothing_found"
    );
}

#[test]
fn a_file_that_stays_skipped_is_no_change() {
    let world = World::with(&[("good.md", "# Good\n\ntext\n")]);
    fs::write(world.vault().join("bad.md"), b"caf\xe9").unwrap();
    world.ok(&["index"]);
    let commit = || {
        let db = super::churn::open(&world.state().join("index.sqlite"));
        db.query_row("SELECT max(gen) FROM commits", [], |row| {
            row.get::<_, i64>(0)
        })
        .unwrap()
    };
    let before = commit();
    let again = world.json(&["index"]);
    assert_eq!(again["skipped"][0]["reason"], "not_utf8");
    assert_eq!(
        commit(),
        before,
        "a run that changed nothing published something"
    );
    world.write("bad.md", "café\n");
    assert_eq!(world.json(&["index"])["docs_changed"], 1);
}
