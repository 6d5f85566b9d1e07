//! `runs`, and the records of `ask`.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use insta::assert_snapshot;
use local_agent_agent::config::Config;
use local_agent_agent::runs::{Begin, Checking, Mode, RecordedRoots, Run, RunPlace};
use local_agent_text::error::ErrorCode;
use local_agent_text::types::Sha256;
use local_agent_verify::VerifyOptions;
use serde_json::{Value, json};

use crate::harness::World;
use crate::schema::fits;

const QUESTION: &str = "How many apples does the zebra eat a day?";
const NOTE: &str = "# Zoo\n\nThe zebra eats 14 apples a day.\n";

fn zoo() -> World {
    let world = World::with(&[("zoo.md", NOTE)]);
    world.ok(&["index"]);
    world
}

/// Asks, and returns the name and the file of the run.
fn ask(world: &World) -> (String, PathBuf) {
    let body = world.json(&["ask", QUESTION]);
    (
        body["run_id"].as_str().unwrap().to_owned(),
        PathBuf::from(body["run_record"].as_str().unwrap()),
    )
}

fn read(file: &PathBuf) -> Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

fn findings(world: &World) -> Vec<String> {
    let run = world.run(&["runs", "verify", "--json"]);
    let body = run.json();
    assert_eq!(run.code == 0, body["ok"] == true, "{body}");
    body["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["code"].as_str().unwrap().to_owned())
        .collect()
}

fn ledger(world: &World) -> PathBuf {
    world.state().join("runs/ledger.jsonl")
}

#[test]
fn every_ask_leaves_a_record_that_says_all_of_it() {
    let world = zoo();
    let (id, file) = ask(&world);
    let record = read(&file);
    fits(&record);
    assert_eq!(
        (&record["run_id"], &record["status"], &record["ok"]),
        (&json!(id), &json!("done"), &json!(true))
    );
    assert_eq!(
        (&record["outcome"], &record["answerer"]),
        (&json!("answered"), &json!("extractive"))
    );
    assert_eq!(
        (&record["calls"], &record["sent"]),
        (&json!([]), &json!([])),
        "nothing left the program"
    );
    let item = &record["snapshot"]["items"][0];
    assert_eq!(
        (&item["rel_path"], &item["lines"]),
        (&json!("zoo.md"), &json!("1-3"))
    );
    assert_eq!(
        item["text_sha256"],
        Sha256::of(NOTE.trim_end().as_bytes()).to_string()
    );
    assert_eq!(
        record["report_sha256"],
        record["citation_validation"]["sha256"]
    );
    assert!(
        record["assistant_text"]
            .as_str()
            .unwrap()
            .starts_with("The zebra eats 14 apples a day. [source: ")
    );
    assert_eq!(record["roots"]["workroot"], world.vault().to_str().unwrap());
    let lines = fs::read_to_string(ledger(&world)).unwrap();
    let kinds: Vec<Value> = lines
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).unwrap()["kind"].clone())
        .collect();
    assert_eq!(kinds, ["open", "begin", "end"]);
    assert_eq!(findings(&world), [] as [&str; 0]);
    let abstained = world.json(&["ask", "qqqq zzzz xxxx?"]);
    let record = read(&PathBuf::from(abstained["run_record"].as_str().unwrap()));
    fits(&record);
    assert_eq!(
        (
            &record["outcome"],
            &record["draft"],
            &record["report_sha256"]
        ),
        (&json!("abstained"), &json!(null), &json!(null))
    );
}

#[test]
fn a_failure_is_recorded_with_its_code() {
    let world = zoo();
    let index = rusqlite::Connection::open(world.state().join("index.sqlite")).unwrap();
    index
        .execute(
            "UPDATE chunks SET text = 'The zebra eats 15 apples a day.'",
            [],
        )
        .unwrap();
    drop(index);
    assert_eq!(world.code(&["ask", QUESTION]), "DB_CORRUPT");
    let shown = world.json(&["runs", "show", "last"]);
    fits(&shown["record"]);
    assert_eq!(
        (&shown["state"], &shown["record"]["outcome"]),
        (&json!("ended"), &json!("failed"))
    );
    assert_eq!(
        (&shown["record"]["error_code"], &shown["record"]["status"]),
        (&json!("DB_CORRUPT"), &json!("failed"))
    );
}

#[cfg(unix)]
#[test]
fn records_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = zoo();
    let (_, file) = ask(&world);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(file.parent().unwrap()), 0o700);
    assert_eq!(mode(&ledger(&world)), 0o600);
    assert_eq!(mode(&world.state().join("runs")), 0o700);
    assert_eq!(mode(&world.state().join("durable.sqlite")), 0o600);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(findings(&world), ["OPEN_TO_OTHERS"]);
}

#[test]
fn w41_a_record_is_never_evidence() {
    let world = zoo();
    let (id, _) = ask(&world);
    world.ok(&["index"]);
    for path in [
        format!(".local-agent/runs/{id}/run.json"),
        format!("notes:.local-agent/runs/{id}/run.json"),
    ] {
        assert_eq!(world.code(&["get", &path]), "PATH_DENIED");
    }
    assert_eq!(world.json(&["status"])["sources"][0]["documents"], 1);
}

#[test]
fn a_record_that_cannot_be_kept_is_a_failure_and_not_a_silence() {
    let world = zoo();
    fs::write(world.state().join("runs"), "in the way").unwrap();
    let failure = world.fails(&["ask", QUESTION, "--json"]);
    assert_eq!(failure["error_code"], "WRITE_ERROR");
    assert!(
        failure["hint"].as_str().unwrap().contains("runs.dir"),
        "{failure}"
    );
    world.write("../quiet.yaml", "runs: {enabled: false}\n");
    let body = world.json(&["ask", QUESTION, "--config", "../quiet.yaml"]);
    assert_eq!(
        (&body["outcome"], &body["run_id"], &body["run_record"]),
        (&json!("answered"), &json!(null), &json!(null))
    );
}

/// Begins a run in this process, like `ask` does.
pub(crate) fn begin(world: &World) -> Run {
    let mut config = Config::defaults(&world.vault()).unwrap();
    config.runs.dir = world.state().join("runs");
    let place = RunPlace {
        runs_dir: &config.runs.dir,
        durable: &world.state().join("durable.sqlite"),
        only: None,
    };
    let begin = Begin {
        asked_by: "cli",
        mode: Mode::Ask,
        question: QUESTION,
        roots: RecordedRoots::default(),
        config_sha256: Sha256::of(b""),
        checking: Checking::new(&VerifyOptions::default(), false),
    };
    Run::begin(place, (&config.runs).into(), begin).unwrap()
}

#[test]
fn w45_a_run_is_recorded_before_it_begins_and_an_end_that_never_came_is_seen() {
    let world = zoo();
    let run = begin(&world);
    let id = run.id().to_string();
    let record = read(&world.state().join("runs").join(&id).join("run.json"));
    fits(&record);
    assert_eq!(
        (&record["status"], &record["ok"]),
        (&json!("running"), &json!(null))
    );
    let state = || world.json(&["runs", "list"])["runs"][0]["state"].clone();
    assert_eq!(state(), "running");
    assert_eq!(findings(&world), [] as [&str; 0]);
    assert_eq!(
        world.json(&["runs", "prune", &id])["still_running"],
        json!([id])
    );
    drop(run);
    assert_eq!(state(), "interrupted");
    assert_eq!(findings(&world), ["RUN_INTERRUPTED"]);
    let report = world.run(&["doctor", "--offline", "--json"]).json();
    assert!(
        report
            .to_string()
            .contains(&format!("local-agent runs prune {id}")),
        "{report}"
    );
    assert_eq!(
        world.run(&["runs", "verify"]).code,
        0,
        "a crash is no forgery"
    );
    assert_snapshot!(world.stable(&world.ok(&["runs", "list"]).stdout), @"<run>  interrupted  How many apples does the zebra eat a day?");
    world.ok(&["runs", "prune", &id]);
    assert_eq!(findings(&world), [] as [&str; 0]);
}

#[test]
fn s32_asks_that_are_killed_leave_a_ledger_that_holds_together() {
    let world = zoo();
    for wait in 0..24 {
        let mut child = world
            .command()
            .args(["ask", QUESTION])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait * 4));
        let _ = child.kill();
        child.wait().unwrap();
    }
    // The first run may have died after writing its line in the ledger and before storing the
    // ledger's head.
    let left = findings(&world);
    assert!(
        left.iter()
            .all(|code| code == "RUN_INTERRUPTED" || code == "HEAD_UNKNOWN"),
        "{left:?}"
    );
    ask(&world);
    assert!(
        findings(&world)
            .iter()
            .all(|code| code == "RUN_INTERRUPTED"),
        "{:?}",
        findings(&world)
    );
}

#[test]
fn s35_asks_at_once_make_one_chain() {
    let world = zoo();
    let children: Vec<Child> = (0..6)
        .map(|_| {
            world
                .command()
                .args(["ask", QUESTION])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    assert!(
        children
            .into_iter()
            .all(|mut child| child.wait().unwrap().success())
    );
    let body = world.json(&["runs", "verify"]);
    assert_eq!(
        (&body["findings"], &body["records"], &body["ledger_lines"]),
        (&json!([]), &json!(6), &json!(13))
    );
}

#[test]
fn s31_a_cut_tail_is_seen_and_nothing_is_asked_on_top_of_it() {
    let world = zoo();
    ask(&world);
    let head = world.json(&["runs", "head"])["head"]
        .as_str()
        .unwrap()
        .to_owned();
    ask(&world);
    world.ok(&["runs", "verify", "--head", &head]);
    let whole = fs::read_to_string(ledger(&world)).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    fs::write(
        ledger(&world),
        lines[..3]
            .iter()
            .map(|l| format!("{l}\n"))
            .collect::<String>(),
    )
    .unwrap();
    // The run whose line was cut off is still there, and is now unlisted.
    assert_eq!(findings(&world), ["LEDGER_BROKEN", "RUN_UNLISTED"]);
    let failure = world.fails(&["ask", QUESTION, "--json"]);
    assert_eq!(failure["error_code"], "LEDGER_BROKEN");
    assert!(
        failure["hint"]
            .as_str()
            .unwrap()
            .contains("runs head --renew")
    );
    fs::write(
        ledger(&world),
        lines[2..]
            .iter()
            .map(|l| format!("{l}\n"))
            .collect::<String>(),
    )
    .unwrap();
    let run = world.run(&["runs", "verify", "--head", &head]);
    assert!(
        run.code == 1 && run.stdout.contains("HEAD_NOT_HELD"),
        "{}",
        run.stdout
    );
    let renewed = world.json(&["runs", "head", "--renew"]);
    assert!(
        fs::read_to_string(renewed["set_aside"].as_str().unwrap())
            .unwrap()
            .starts_with(lines[2])
    );
    ask(&world);
    // The runs of the ledger that was set aside are adopted.
    assert_eq!(findings(&world), [] as [&str; 0]);
    world.ok(&["runs", "prune", "--keep", "1"]);
    assert_eq!(findings(&world), [] as [&str; 0]);
}

/// Follows the fix of every failing finding, as a person would, until none fails.
#[cfg(unix)]
fn follow_every_fix(world: &World) -> Vec<String> {
    let mut followed = Vec::new();
    for _ in 0..4 {
        let body = world.run(&["runs", "verify", "--json"]).json();
        let Some(one) = body["findings"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["fails"] == true)
        else {
            break;
        };
        let fix = one["fix"].as_str().unwrap().to_owned();
        let args: Vec<&str> = fix
            .strip_prefix("local-agent ")
            .expect("a command")
            .split(' ')
            .collect();
        world.ok(&args);
        followed.push(fix);
    }
    assert_eq!(world.run(&["runs", "verify"]).code, 0, "{followed:?}");
    followed
}

/// Waits until a changed file of the same length gets another time stamp.
#[cfg(unix)]
fn wait_for_another_tick_of_the_file_systems_clock() {
    std::thread::sleep(Duration::from_millis(20));
}

/// Copies a folder with its permissions.
#[cfg(unix)]
fn copy_all(from: &std::path::Path, to: &std::path::Path) {
    assert!(
        std::process::Command::new("cp")
            .arg("-a")
            .args([from, to])
            .status()
            .unwrap()
            .success()
    );
}

#[cfg(unix)]
#[test]
fn whatever_damages_the_ledger_the_fixes_that_are_named_lose_no_record() {
    let world = zoo();
    let records: Vec<PathBuf> = (0..4).map(|_| ask(&world).1).collect();
    world.ok(&["runs", "prune", "--keep", "3"]);
    let bytes: Vec<Vec<u8>> = records
        .iter()
        .filter_map(|file| fs::read(file).ok())
        .collect();
    assert_eq!(bytes.len(), 3);
    let whole = fs::read_to_string(ledger(&world)).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let join = |lines: &[&str]| {
        lines
            .iter()
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let mut damages = vec![
        (
            "cut in a line",
            Some(whole[..whole.len() * 2 / 3].to_owned()),
        ),
        ("cut behind a line", Some(join(&lines[..4]))),
        ("the first line is gone", Some(join(&lines[1..]))),
        (
            "a line is doubled",
            Some(join(&[&lines[..3], &lines[2..]].concat())),
        ),
        (
            "junk in the middle",
            Some(join(&[&lines[..3], &["junk"][..], &lines[3..]].concat())),
        ),
        ("junk", Some("\u{0}\u{1}junk".repeat(50))),
        ("empty", Some(String::new())),
        ("gone", None),
    ];
    for at in 0..lines.len() {
        damages.push((
            "a bit of a line",
            Some(whole.replacen(lines[at], &lines[at].replacen('2', "3", 1), 1)),
        ));
        damages.push((
            "a line is gone",
            Some(join(&[&lines[..at], &lines[at + 1..]].concat())),
        ));
    }
    let copy = world.root().join("before");
    copy_all(&world.state(), &copy);
    for (what, damaged) in damages {
        fs::remove_dir_all(world.state()).unwrap();
        copy_all(&copy, &world.state());
        world.ok(&["runs", "verify"]);
        wait_for_another_tick_of_the_file_systems_clock();
        match &damaged {
            Some(text) => fs::write(ledger(&world), text).unwrap(),
            None => fs::remove_file(ledger(&world)).unwrap(),
        }
        assert_eq!(
            world.code(&["ask", QUESTION]),
            "LEDGER_BROKEN",
            "{what}: nothing is asked on top of it"
        );
        if let Some(text) = &damaged {
            assert_eq!(
                fs::read_to_string(ledger(&world)).unwrap(),
                *text,
                "{what}: nothing is written to it"
            );
        }
        let followed = follow_every_fix(&world);
        assert_eq!(followed, ["local-agent runs head --renew"], "{what}");
        let kept: Vec<Vec<u8>> = records
            .iter()
            .filter_map(|file| fs::read(file).ok())
            .collect();
        assert!(kept == bytes, "{what}: a record is gone or changed");
        let left = findings(&world);
        assert!(
            left.iter()
                .all(|code| code == "RUN_UNVOUCHED" || code == "RUN_LOST"),
            "{what}: {left:?}"
        );
        assert_eq!(
            world.run(&["doctor", "--offline", "--quiet"]).code,
            0,
            "{what}"
        );
        ask(&world);
    }
}

#[cfg(unix)]
#[test]
fn a_renewal_keeps_what_the_chain_was_worth() {
    let world = zoo();
    let files: Vec<PathBuf> = (0..3).map(|_| ask(&world).1).collect();
    wait_for_another_tick_of_the_file_systems_clock();
    // One record is changed, and also an unrelated line.
    fs::write(
        &files[1],
        fs::read_to_string(&files[1])
            .unwrap()
            .replace("14 apples", "41 apples"),
    )
    .unwrap();
    let whole = fs::read_to_string(ledger(&world)).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    fs::write(
        ledger(&world),
        whole.replacen(
            lines[1],
            &lines[1].replacen("\"at\":\"2", "\"at\":\"1", 1),
            1,
        ),
    )
    .unwrap();
    let body = world.json(&["runs", "head", "--renew"]);
    assert_eq!(
        (&body["lines_taken_over"], &body["unvouched"], &body["lost"]),
        (&json!(5), &json!([]), &json!([]))
    );
    assert_eq!(
        findings(&world),
        ["RECORD_CHANGED"],
        "a change from before does not pass by a renewal"
    );
    // A record from elsewhere is added to the ledger, with a message that nothing confirms it.
    let world = zoo();
    ask(&world);
    let other = zoo();
    let (id, file) = ask(&other);
    crate::harness::copy(
        file.parent().unwrap(),
        &world.state().join("runs").join(&id),
    );
    fs::set_permissions(
        world.state().join("runs").join(&id),
        fs::metadata(file.parent().unwrap()).unwrap().permissions(),
    )
    .unwrap();
    assert_eq!(findings(&world), ["RUN_UNLISTED"]);
    assert_eq!(follow_every_fix(&world), ["local-agent runs head --adopt"]);
    assert_eq!(findings(&world), ["RUN_UNVOUCHED"]);
    // The loss of a missing record is accepted by its name.
    fs::remove_dir_all(world.state().join("runs").join(&id)).unwrap();
    assert_eq!(findings(&world), ["RECORD_MISSING"]);
    world.ok(&["runs", "prune", &id]);
    assert_eq!(findings(&world), [] as [&str; 0]);
}

#[test]
fn beside_runs_that_begin_end_and_are_pruned_no_check_raises_an_alarm() {
    let world = zoo();
    ask(&world);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let is_over = || stop.load(std::sync::atomic::Ordering::Relaxed);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while !is_over() {
                    ask(&world);
                }
            });
        }
        threads.spawn(|| {
            while !is_over() {
                // If two processes remove the same run, the later one reports that it is gone.
                world.run(&["runs", "prune", "--keep", "3"]);
            }
        });
        let checks = (0..60).map(|_| world.run(&["runs", "verify", "--json"]));
        let alarms: Vec<String> = checks
            .filter(|run| run.code != 0)
            .map(|run| run.stdout)
            .collect();
        let doctors = (0..4)
            .map(|_| world.run(&["doctor", "--offline", "--quiet"]).stdout)
            .collect::<String>();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(
            alarms.is_empty() && !doctors.contains("LEDGER") && !doctors.contains("RUN"),
            "{alarms:?} {doctors}"
        );
    });
}

#[test]
fn a_record_that_was_changed_is_seen_twice() {
    let world = zoo();
    let (id, file) = ask(&world);
    let text = fs::read_to_string(&file).unwrap();
    // The report's hash is changed, so it no longer matches the draft.
    let sha = read(&file)["report_sha256"].as_str().unwrap().to_owned();
    let other = format!(
        "{}{}",
        if sha.starts_with('0') { '1' } else { '0' },
        &sha[1..]
    );
    fs::write(&file, text.replace(&sha, &other)).unwrap();
    assert_eq!(findings(&world), ["RECORD_CHANGED"]);
    assert_eq!(
        world.code(&["runs", "replay", &id, "--json"]),
        "REPLAY_MISMATCH"
    );
    // A draft other than the one that was verified.
    let mut changed = read(&file);
    let quote = changed["draft"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .find(|one| one.get("quote").is_some())
        .unwrap();
    quote["quote"]["span"]["end"] = json!(30);
    fs::write(&file, changed.to_string().replace(&other, &sha)).unwrap();
    assert_eq!(
        world.code(&["runs", "replay", &id]),
        ErrorCode::ReplayMismatch.as_str()
    );
    fs::write(&file, &text).unwrap();
    world.ok(&["runs", "replay", &id]);
    fs::remove_file(&file).unwrap();
    assert_eq!(findings(&world), ["RECORD_MISSING"]);
    fs::remove_dir_all(file.parent().unwrap()).unwrap();
    assert_eq!(findings(&world), ["RECORD_MISSING"]);
    assert_eq!(world.json(&["runs", "list"])["runs"][0]["state"], "missing");
}

#[test]
fn a_replay_gives_the_same_report_or_says_why_it_cannot() {
    let world = zoo();
    let (id, file) = ask(&world);
    let report = read(&file)["report_sha256"].clone();
    assert_snapshot!(world.stable(&world.ok(&["runs", "replay", &id]).stdout), @r"
    1 item of evidence is in their files, byte for byte
    the same report: <sha256>
    ");
    let body = world.json(&["runs", "replay", &id]);
    assert_eq!(
        (&body["report_sha256"], &body["judged"], &body["moved"]),
        (&report, &json!(true), &json!([]))
    );
    // Lines inserted above move the evidence, which changes nothing.
    world.write("zoo.md", &format!("One line more.\n{NOTE}"));
    let body = world.json(&["runs", "replay", "last"]);
    assert_eq!(
        (&body["report_sha256"], &body["moved"]),
        (&report, &json!(["E1"]))
    );
    // Missing bytes do not count as a mismatch.
    world.write("zoo.md", &NOTE.replace("14", "15"));
    let failure = world.fails(&["runs", "replay", &id, "--json"]);
    assert_eq!(failure["error_code"], "REPLAY_EVIDENCE_GONE");
    assert!(
        failure["error_message"]
            .as_str()
            .unwrap()
            .contains("E1 (notes:zoo.md, lines 1-3): the file changed")
    );
    fs::remove_file(world.vault().join("zoo.md")).unwrap();
    assert_eq!(world.code(&["runs", "replay", &id]), "REPLAY_EVIDENCE_GONE");
    // No draft was verified, so a replay has no report to compare.
    let world = zoo();
    world.ok(&["ask", "qqqq zzzz xxxx?"]);
    assert_eq!(world.json(&["runs", "replay", "last"])["judged"], false);
}

#[test]
fn kept_evidence_outlives_the_files() {
    let world = zoo();
    world.write("../keep.yaml", "runs: {keep_evidence: true}\n");
    let body = world.json(&["ask", QUESTION, "--config", "../keep.yaml"]);
    fits(&read(&PathBuf::from(body["run_record"].as_str().unwrap())));
    fs::remove_file(world.vault().join("zoo.md")).unwrap();
    let replayed = world.json(&["runs", "replay", "last"]);
    assert_eq!(
        (&replayed["bytes_from"], &replayed["report_sha256"]),
        (&json!("kept"), &body["citation_validation"]["sha256"])
    );
    let kept = PathBuf::from(body["run_record"].as_str().unwrap())
        .with_file_name("evidence/snapshot.json");
    fs::write(
        &kept,
        fs::read_to_string(&kept)
            .unwrap()
            .replace("14 apples", "15 apples"),
    )
    .unwrap();
    assert_eq!(world.code(&["runs", "replay", "last"]), "RUN_TAMPERED");
}

#[test]
fn s30_w46_secrets_and_whole_texts_are_not_recorded() {
    let secret = format!("ghp_{}", "a1B2c3".repeat(6));
    let story = "The walrus sleeps on the northern rock. ".repeat(20);
    let note = format!("# Door\n\nThe door token is {secret} for the zebra.\n\n{story}\n");
    let world = World::with(&[("door.md", &note)]);
    world.ok(&["index"]);
    let question = format!("What is the door token, is it {secret}?");
    let body = world.json(&["ask", &question]);
    let file = PathBuf::from(body["run_record"].as_str().unwrap());
    let text = fs::read_to_string(&file).unwrap();
    fits(&read(&file));
    assert!(
        !text.contains(&secret) && text.contains("[redacted: GitHub token]"),
        "{text}"
    );
    assert_eq!(read(&file)["exact"], false);
    assert!(
        !text.contains(story.trim()),
        "a passage is never recorded whole"
    );
    for item in read(&file)["snapshot"]["items"].as_array().unwrap() {
        assert!(item["excerpt"].as_str().unwrap().chars().count() <= 240);
    }
    assert_eq!(world.code(&["runs", "replay", "last"]), "REPLAY_REDACTED");
    assert_eq!(findings(&world), [] as [&str; 0]);
    world.write(
        "../keep.yaml",
        "runs: {keep_evidence: true, log_evidence_excerpts: false}\n",
    );
    let body = world.json(&["ask", &question, "--config", "../keep.yaml"]);
    let record = read(&PathBuf::from(body["run_record"].as_str().unwrap()));
    assert_eq!(record["snapshot"]["items"][0]["excerpt"], json!(null));
    world.ok(&["runs", "replay", "last"]);
}

#[test]
fn a_record_judges_another_answer() {
    let world = zoo();
    let (_, file) = ask(&world);
    let answer = world.root().join("answer.md");
    let judge = |text: &str| {
        fs::write(&answer, text).unwrap();
        world.run(&[
            "verify",
            answer.to_str().unwrap(),
            "--snapshot",
            file.to_str().unwrap(),
            "--json",
        ])
    };
    assert_eq!(judge("The zebra eats 14 apples a day [E1].").code, 0);
    let wrong = judge("The zebra eats 41 apples a day [E1].");
    assert_eq!(
        (wrong.code, &wrong.json()["codes"]),
        (1, &json!(["NUMBER"]))
    );
    world.write("zoo.md", "# Zoo\n");
    assert_eq!(
        judge("The zebra eats 14 apples a day [E1].").json()["error_code"],
        "REPLAY_EVIDENCE_GONE"
    );
}

#[test]
fn pruning_leaves_a_tombstone() {
    let world = zoo();
    let ids: Vec<String> = (0..3).map(|_| ask(&world).0).collect();
    let mut sorted = ids.clone();
    sorted.sort();
    let body = world.json(&["runs", "prune", "--keep", "2", "--dry-run"]);
    assert_eq!(
        (&body["removed"], &body["dry_run"]),
        (&json!([sorted[0]]), &json!(true))
    );
    assert_eq!(world.json(&["runs", "list"])["total"], 3);
    assert_snapshot!(world.stable(&world.ok(&["runs", "prune", "--keep", "2"]).stdout), @"removed <run>");
    assert_eq!(world.json(&["runs", "list"])["total"], 2);
    let last: Value = serde_json::from_str(
        fs::read_to_string(ledger(&world))
            .unwrap()
            .lines()
            .last()
            .unwrap(),
    )
    .unwrap();
    assert_eq!(
        (&last["kind"], &last["run"]),
        (&json!("prune"), &json!(sorted[0]))
    );
    assert_eq!(findings(&world), [] as [&str; 0]);
    assert_eq!(world.json(&["runs", "verify"])["pruned"], 1);
    assert_eq!(
        world.json(&["runs", "prune", "--older-than", "1"])["removed"],
        json!([])
    );
    world.ok(&["runs", "prune", &sorted[1], &sorted[2]]);
    assert_snapshot!(world.ok(&["runs", "list"]).stdout, @"No run is recorded yet.");
    world.usage(&["runs", "prune"]);
}

#[test]
fn what_the_commands_print() {
    let world = zoo();
    let (id, _) = ask(&world);
    let print = |args: &[&str]| world.stable(&world.ok(args).stdout);
    assert_snapshot!(print(&["runs", "list"]), @"<run>  answered     How many apples does the zebra eat a day?");
    let shown = regex::Regex::new(r"took       [0-9.]+ s").unwrap();
    assert_snapshot!(shown.replace(&print(&["runs", "show", &id[..17]]), "took       <n> s"), @r"
    run        <run>
    outcome    answered
    started    <time>
    took       <n> s
    answerer   extractive
    sent       nowhere: nothing left this program
    question   How many apples does the zebra eat a day?

    The zebra eats 14 apples a day. [source: zoo.md#H1: Zoo | <key>]

    E1 notes:zoo.md, lines 1-3
    ");
    assert_snapshot!(print(&["runs", "verify"]), @"1 record looked at; the ledger has 3 lines, vouched for by durable.sqlite; head <sha256>");
    assert_snapshot!(print(&["runs", "head"]), @r"
    <sha256>  line 3, <time>
    keep it elsewhere; later: local-agent runs verify --head <sha256>
    ");
    let mut list = world.json(&["runs", "list"]);
    list["runs"][0]["elapsed_s"] = json!(0);
    assert_snapshot!(world.pretty(list), @r#"
    {
      "count": 1,
      "ok": true,
      "runs": [
        {
          "answerer": "extractive",
          "elapsed_s": 0,
          "error_code": null,
          "outcome": "answered",
          "question": "How many apples does the zebra eat a day?",
          "run_id": "<run>",
          "started_at": "<time>",
          "state": "ended",
          "unreadable": null
        }
      ],
      "runs_dir": "<vault>/.local-agent/runs",
      "total": 1
    }
    "#);
    assert_snapshot!(world.pretty(world.json(&["runs", "verify"])), @r#"
    {
      "anchored": true,
      "findings": [],
      "ledger_head": "<sha256>",
      "ledger_lines": 3,
      "ok": true,
      "pruned": 0,
      "records": 1,
      "running": 0
    }
    "#);
}

#[test]
fn every_refusal_has_its_code_and_a_way_out() {
    let world = zoo();
    assert_eq!(world.code(&["runs", "show", "last"]), "RUN_NOT_FOUND");
    let (id, file) = ask(&world);
    ask(&world);
    let refused = |args: &[&str], code: &str| {
        let failure = world.fails(args);
        assert_eq!(failure["error_code"], code, "{args:?}: {failure}");
        assert!(
            failure["hint"]
                .as_str()
                .is_some_and(|hint| hint.contains("local-agent")),
            "{failure}"
        );
    };
    refused(&["runs", "show", "nothing"], "RUN_NOT_FOUND");
    refused(&["runs", "show", &id[..6], "--json"], "RUN_NOT_FOUND");
    refused(&["runs", "show", "../../../etc"], "RUN_NOT_FOUND");
    refused(&["runs", "verify", "--head", "abc"], "INVALID_ARGS");
    world.ok(&["runs", "show", id.split_once('_').unwrap().1]);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        text.replace("\"schema_version\": 1", "\"schema_version\": 2"),
    )
    .unwrap();
    refused(&["runs", "show", &id], "RUN_NEWER");
    fs::write(&file, "{}").unwrap();
    refused(&["runs", "show", &id], "RUN_TAMPERED");
    drop(begin(&world));
    let interrupted = world.json(&["runs", "list"])["runs"]
        .as_array()
        .unwrap()
        .clone();
    let interrupted = interrupted
        .iter()
        .find(|run| run["state"] == "interrupted")
        .unwrap()["run_id"]
        .clone();
    refused(
        &["runs", "replay", interrupted.as_str().unwrap()],
        "RUN_INCOMPLETE",
    );
}

/// A vault whose notes, names and questions try to inject markup.
fn hostile() -> (World, String) {
    let world = World::with(&[(
        "<img src=x onerror=alert(1)>.md",
        "# </style><script>document.title='owned'</script>\n\nThe zebra & the \u{202e}lion eat 14 <b>apples</b> a day.\n\n\
         ```html\n</pre><iframe src=\"http://127.0.0.1:9/\"></iframe>\n```\n",
    )]);
    world.ok(&["index"]);
    let question = "How many apples do the zebra & the lion eat a day? <script>document.title='owned'</script> \"'";
    world.ok(&["ask", question]);
    let page = world.ok(&["runs", "show", "last", "--html"]).stdout;
    (world, page)
}

#[test]
fn the_page_loads_nothing_runs_nothing_and_escapes_everything() {
    let (world, page) = hostile();
    let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; ";
    assert!(page.contains(policy));
    let lower = page.to_lowercase();
    for forbidden in [
        "<script",
        "<img",
        "<iframe",
        "<link",
        "<object",
        "<form",
        "<svg",
        "@import",
        "url(",
        "javascript:",
        "<b>",
    ] {
        assert!(!lower.contains(forbidden), "{forbidden}\n{page}");
    }
    let tag = regex::Regex::new(r"<[^>]*>").unwrap();
    let loads = regex::Regex::new(r"\s(on[a-z]+|src)\s*=").unwrap();
    let quoted = regex::Regex::new("\"[^\"]*\"").unwrap();
    for tag in tag.find_iter(&page).map(|tag| tag.as_str()) {
        let names = quoted.replace_all(tag, "");
        assert!(!loads.is_match(&names), "{tag}");
        if let Some(link) = tag.split("href=\"").nth(1) {
            assert!(link.starts_with('#'), "{tag} leads outside");
        }
    }
    assert!(!page.contains('\u{202e}') && page.contains("U+202E"));
    assert!(page.contains("&lt;script&gt;document.title=&#39;owned&#39;&lt;/script&gt;"));
    assert_eq!(page.matches("</style>").count(), 1);
    // Every link has a target, and every target has a unique name.
    for link in page
        .split("href=\"#")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
    {
        assert_eq!(
            page.matches(&format!(" id=\"{link}\"")).count(),
            1,
            "#{link}"
        );
    }
    // The same page in a file, and for a run whose evidence is gone.
    world.ok(&["runs", "show", "last", "--html", "--out", "page.html"]);
    assert_eq!(
        fs::read_to_string(world.vault().join("page.html")).unwrap(),
        page
    );
    fs::remove_file(world.vault().join("<img src=x onerror=alert(1)>.md")).unwrap();
    let page = world.ok(&["runs", "show", "last", "--html"]).stdout;
    assert!(
        page.contains("Only the excerpts of the record can be shown")
            && !page.to_lowercase().contains("<img")
    );
}

#[test]
fn the_page_of_a_pruned_run_whose_folder_remained_says_that_it_was_pruned() {
    let world = zoo();
    let (id, file) = ask(&world);
    let folder = file.parent().unwrap();
    let kept = world.root().join("kept");
    crate::harness::copy(folder, &kept);
    world.ok(&["runs", "prune", &id]);
    crate::harness::copy(&kept, folder);
    let page = world.ok(&["runs", "show", &id, "--html"]).stdout;
    assert!(page.contains("(pruned)"), "{page}");
    assert!(!page.contains("not in the ledger"), "{page}");
}

#[test]
fn the_page_shows_answer_verdicts_evidence_and_where_text_went() {
    let world = zoo();
    ask(&world);
    let page = world.ok(&["runs", "show", "last", "--html"]).stdout;
    for shown in [
        "<h1 dir=\"auto\">How many apples does the zebra eat a day?</h1>",
        "<a class=\"claim verified\" href=\"#claim-1\" title=\"verified\">✓\u{a0}The zebra eats 14 apples a day.</a>",
        "<a class=\"cite\" href=\"#E1\"",
        "<span class=\"badge verified\">✓ verified</span>",
        "notes:zoo.md, line 3",
        "<span class=\"n\">3</span><mark>The zebra eats 14 apples a day</mark>",
        "nothing was sent anywhere",
        "total ",
    ] {
        assert!(page.contains(shown), "{shown}\n{page}");
    }
}

/// Opens the page in a real browser, if one is installed.
#[test]
fn a_browser_shows_the_page_and_runs_nothing_of_it() {
    let Some(chromium) = [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ]
    .into_iter()
    .find(|path| std::path::Path::new(path).is_file()) else {
        eprintln!("skipped: no chromium is installed");
        return;
    };
    let (world, page) = hostile();
    let file = world.root().join("page.html");
    fs::write(&file, &page).unwrap();
    let look = |more: &[&str]| {
        let run = std::process::Command::new(chromium)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--enable-logging=stderr",
            ])
            .arg(format!(
                "--user-data-dir={}",
                world.root().join("browser").display()
            ))
            .args(more)
            .arg(format!("file://{}", file.display()))
            .env("HOME", world.home())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        (
            String::from_utf8_lossy(&run.stdout).into_owned(),
            String::from_utf8_lossy(&run.stderr).into_owned(),
        )
    };
    let (dom, said) = look(&["--dump-dom"]);
    if dom.is_empty() {
        eprintln!(
            "skipped: {chromium} does not start here: {}",
            said.lines().last().unwrap_or("")
        );
        return;
    }
    assert!(
        dom.contains("<h1 dir=\"auto\">How many apples") && !dom.contains("<title>owned"),
        "{dom}"
    );
    assert!(
        dom.contains("class=\"claim ") && !dom.contains("<iframe") && !dom.contains("<script"),
        "{dom}"
    );
    assert!(
        !said.contains("Refused to"),
        "the page's own policy forbids a part of it: {said}"
    );
    let picture = world.root().join("page.png");
    look(&[
        "--window-size=1000,800",
        "--hide-scrollbars",
        &format!("--screenshot={}", picture.display()),
    ]);
    let picture = fs::read(picture).unwrap();
    // Width and height are at byte 16 of a PNG; a page without any style or text is far smaller.
    assert_eq!(picture[16..24], [0, 0, 3, 232, 0, 0, 3, 32]);
    assert!(picture.len() > 20_000, "{}", picture.len());
}
