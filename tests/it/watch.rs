//! `watch`, `status --wait-fresh`, `query --refresh`: the index is kept up to date. No test asserts
//! a duration; every wait has a limit that only a hang reaches.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::World;

const CAP: Duration = Duration::from_secs(240);

/// One running `watch`; it ends when this is dropped.
pub(crate) struct Watch {
    child: Child,
    events: Receiver<Value>,
}

impl Watch {
    fn start(world: &World, more: &[&str]) -> Self {
        let mut command = world.command();
        command
            .args(["watch", "--json", "--debounce", "50"])
            .args(more);
        Self::of(command)
    }

    /// Starts a command that prints the events of `watch`.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (send, events) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let event = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
                if send.send(event).is_err() {
                    break;
                }
            }
        });
        Self { child, events }
    }

    /// Waits for an event of this kind.
    pub(crate) fn hears(&mut self, kind: &str) -> Value {
        let until = Instant::now() + CAP;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let event = self.events.recv_timeout(left).unwrap_or_else(|_| {
                let _ = self.child.kill();
                let mut said = String::new();
                let _ = std::io::Read::read_to_string(
                    &mut self.child.stderr.take().unwrap(),
                    &mut said,
                );
                panic!("no `{kind}`: {said}")
            });
            if event["event"] == kind {
                return event;
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn fresh(world: &World) -> Value {
    world.json(&[
        "status",
        "--wait-fresh",
        "--timeout",
        &CAP.as_secs().to_string(),
    ])
}

/// Documents that contain a word, found lexically.
fn files(world: &World, word: &str) -> Vec<String> {
    let run = world.ok(&[
        "query",
        word,
        "--mode",
        "lexical",
        "--files",
        "--limit",
        "50",
        "--min-score",
        "0",
    ]);
    run.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn what_is_written_moved_and_deleted_is_found_soon_and_the_rest_goes() {
    let world = World::with(&[("a.md", "# A\n\nOne quokka.\n")]);
    let mut watch = Watch::start(&world, &[]);
    assert_eq!(watch.hears("watching")["by"], "notifications");
    let first = watch.hears("updated");
    assert_eq!(
        (
            &first["index"]["total_docs"],
            &first["embed"]["embedded_written"]
        ),
        (&1.into(), &1.into())
    );
    assert_eq!(fresh(&world)["fresh"], true);
    world.write("b.md", "# B\n\nTwo wombats.\n");
    watch.hears("updated");
    assert_eq!(fresh(&world)["coverage"]["embedded"], 2);
    assert_eq!(files(&world, "wombats"), ["notes:b.md"]);
    // Written in the way of editors: to a new file, which is then renamed.
    world.write(".a.md.tmp", "# A\n\nThree numbats.\n");
    fs::rename(world.vault().join(".a.md.tmp"), world.vault().join("a.md")).unwrap();
    fresh(&world);
    assert_eq!(
        (files(&world, "numbats"), files(&world, "quokka")),
        (vec!["notes:a.md".to_owned()], vec![])
    );
    // A folder is created, renamed and removed.
    world.write("deep/er/c.md", "# C\n\nFour bilbies.\n");
    fresh(&world);
    assert_eq!(files(&world, "bilbies"), ["notes:deep/er/c.md"]);
    fs::rename(world.vault().join("deep"), world.vault().join("other")).unwrap();
    fresh(&world);
    assert_eq!(files(&world, "bilbies"), ["notes:other/er/c.md"]);
    world.write("other/er/d.md", "# D\n\nFive dingoes.\n");
    fresh(&world);
    assert_eq!(files(&world, "dingoes"), ["notes:other/er/d.md"]);
    fs::remove_dir_all(world.vault().join("other")).unwrap();
    let status = fresh(&world);
    assert_eq!(
        (&status["documents"], &status["stale"]),
        (&2.into(), &serde_json::json!([]))
    );
}

#[test]
fn a_root_that_is_deleted_and_made_again_is_watched_again() {
    let world = World::empty();
    let notes = world.root().join("elsewhere");
    fs::create_dir_all(&notes).unwrap();
    fs::write(notes.join("a.md"), "# A\n\nOne quokka.\n").unwrap();
    let config = world.root().join("c.yaml");
    fs::write(
        &config,
        format!(
            "sources: [{{name: notes, root: {}}}]\nstate_dir: {}\n",
            notes.display(),
            world.root().join("state").display()
        ),
    )
    .unwrap();
    let config = config.to_str().unwrap();
    let mut watch = Watch::start(
        &world,
        &["--config", config, "--no-embed", "--poll", "3600"],
    );
    watch.hears("updated");
    fs::remove_dir_all(&notes).unwrap();
    // First its files are removed, then the folder: either failure may be reported, and nothing is
    // deleted from the index.
    while watch.hears("failed")["error_code"] != "CONFIG_ERROR" {}
    // In one step, so that no walk sees only half of it.
    let made = world.root().join("made");
    fs::create_dir_all(&made).unwrap();
    fs::write(made.join("b.md"), "# B\n\nTwo wombats.\n").unwrap();
    fs::rename(&made, &notes).unwrap();
    let again = watch.hears("updated");
    assert_eq!(again["index"]["total_docs"], 1, "{again}");
    // Changes are reported by notifications again: the next walk is an hour away.
    fs::write(notes.join("c.md"), "# C\n\nThree numbats.\n").unwrap();
    let third = watch.hears("updated");
    assert_eq!(third["index"]["total_docs"], 2, "{third}");
}

#[test]
fn a_disk_that_is_taken_away_is_said_and_nothing_of_it_is_forgotten() {
    let world = World::with(&[
        ("a.md", "# A\n\nOne quokka.\n"),
        ("b.md", "# B\n\nTwo wombats.\n"),
    ]);
    let mut watch = Watch::start(&world, &["--no-embed", "--poll", "1"]);
    watch.hears("updated");
    for note in ["a.md", "b.md"] {
        fs::rename(world.vault().join(note), world.root().join(note)).unwrap();
    }
    // One of the removals may be noticed separately.
    assert_eq!(watch.hears("failed")["error_code"], "SOURCE_EMPTY");
    assert!(!files(&world, "quokka wombats").is_empty());
    fs::rename(world.root().join("b.md"), world.vault().join("c.md")).unwrap();
    watch.hears("updated");
    assert_eq!(files(&world, "wombats"), ["notes:c.md"]);
}

#[test]
fn ten_thousand_changes_at_once_are_one_piece_of_work_or_few() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    let mut watch = Watch::start(&world, &["--no-embed"]);
    watch.hears("updated");
    for folder in 0..20 {
        for n in 0..500 {
            world.write(
                &format!("f{folder}/n{n}.md"),
                &format!("# N\n\nNote {folder} of {n}.\n"),
            );
        }
    }
    let mut rounds = 0;
    loop {
        rounds += 1;
        if watch.hears("updated")["index"]["total_docs"] == 10_001 {
            break;
        }
    }
    assert!(rounds < 1_000, "{rounds} rounds for 10,000 files");
}

#[test]
fn without_notifications_it_walks() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    let mut watch = Watch::start(&world, &["--poll", "1", "--no-embed", "--no-notifications"]);
    let how = watch.hears("watching");
    assert_eq!(
        (how["by"].as_str(), how["why"].is_string()),
        (Some("walks"), true),
        "{how}"
    );
    watch.hears("updated");
    world.write("b.md", "# B\n\nTwo wombats.\n");
    watch.hears("updated");
    assert_eq!(files(&world, "wombats"), ["notes:b.md"]);
}

#[test]
fn a_lock_that_another_job_holds_puts_the_work_off_and_ends_nothing() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    world.ok(&["index"]);
    let mut watch = Watch::start(&world, &["--no-embed"]);
    watch.hears("watching");
    let lock = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(world.state().join("index.lock"))
        .unwrap();
    // Whatever the watch is doing, it will release the lock.
    lock.lock().unwrap();
    world.write("b.md", "# B\n\nTwo wombats.\n");
    watch.hears("put_off");
    drop(lock);
    let done = watch.hears("updated");
    assert_eq!(done["index"]["total_docs"], 2);
    // A second watch of the same index would only interfere.
    assert_eq!(world.code(&["watch", "--json"]), "LOCKED");
}

#[test]
fn waiting_for_what_nobody_does_ends_with_what_is_behind() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    let told = world.fails(&["status", "--wait-fresh", "--timeout", "0", "--json"]);
    assert_eq!(told["error_code"], "NOT_FRESH");
    world.ok(&["index"]);
    world.ok(&["embed"]);
    assert_eq!(
        world.json(&["status", "--wait-fresh", "--timeout", "0"])["fresh"],
        true
    );
    world.write("b.md", "# B\n\nTwo wombats.\n");
    let told = world.fails(&["status", "--wait-fresh", "--timeout", "0", "--json"]);
    assert!(
        told["error_message"]
            .as_str()
            .unwrap()
            .contains("notes:b.md"),
        "{told}"
    );
    // A refresh on request is enough for lexical search; the status still reports what is missing
    // for semantic search.
    assert_eq!(
        world.json(&["query", "wombats", "--refresh", "--mode", "lexical"])["count"],
        1
    );
    let told = world.fails(&["status", "--wait-fresh", "--timeout", "0", "--json"]);
    assert!(
        told["error_message"].as_str().unwrap().contains("vectors"),
        "{told}"
    );
}

#[test]
fn the_units_name_this_program_and_this_configuration() {
    let world = World::with(&[]);
    // A configuration that was found by walking up is found again in the same way. So its later
    // edits need confirmation, as they do in its folder.
    let folder = world.vault().canonicalize().unwrap();
    let unit = world.ok(&["watch", "--print-unit", "systemd"]).stdout;
    let start = unit
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="))
        .unwrap();
    assert!(
        start.ends_with(" watch") && start.contains(&format!(" -C {}", folder.display())),
        "{unit}"
    );
    let cron = world.ok(&["watch", "--print-unit", "cron"]).stdout;
    let (jobs, check) = cron.split_once('\n').unwrap();
    // What cron cannot do is said.
    let told = world.ok(&["watch", "--print-unit", "cron", "--debounce", "3000"]);
    assert_eq!(told.stdout, cron);
    assert!(told.stderr.contains("--debounce"), "{}", told.stderr);
    let jobs = jobs.strip_prefix("*/10 * * * * ").unwrap();
    let check = check.trim_end().strip_prefix("0 7 * * * ").unwrap();
    // The command for cron works.
    world.write("a.md", "# A\n\nOne quokka.\n");
    for command in [jobs, check] {
        let done = Command::new("sh")
            .args(["-c", command])
            .env("HOME", world.home())
            .current_dir("/")
            .output()
            .unwrap();
        assert!(done.status.success(), "{command}: {done:?}");
        assert!(done.stdout.is_empty(), "{command}: {done:?}");
    }
    assert_eq!(
        world.json(&["status", "--wait-fresh", "--timeout", "0"])["coverage"]["embedded"],
        1
    );
}
