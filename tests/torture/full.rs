//! Full disks, and files that may not grow. The result is a typed failure, no confirmed data are
//! lost, and the next run repairs the state when space is available again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::churn::Dice;
use super::fresh::compare;
use super::harness::World;
use super::program::{self, Ran};
use super::readonly;
use super::stage::{Stage, memory_add};
use super::tally::{Budget, Tally};

/// A file system in memory mounted over a folder, until this is dropped.
pub(crate) struct Mount(PathBuf);

impl Mount {
    /// Mounts the file system; `None` if this user may not mount.
    pub(crate) fn over(folder: &Path, kilobytes: usize) -> Option<Self> {
        let options = format!("size={kilobytes}k,mode=700");
        let mut command = Command::new("mount");
        command
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(folder)
            .stderr(Stdio::null());
        command
            .status()
            .is_ok_and(|status| status.success())
            .then(|| Self(folder.to_owned()))
    }

    pub(crate) fn again(&self, option: &str) -> bool {
        let mut command = Command::new("mount");
        command
            .args(["-o", &format!("remount,{option}")])
            .arg(&self.0)
            .stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount")
            .arg("-l")
            .arg(&self.0)
            .stderr(Stdio::null())
            .status();
    }
}

/// One operation is one command without disk space.
pub(crate) fn run(seed: u64, budget: &Budget) -> Tally {
    let mut tally = Tally::new("full", seed, budget);
    let mut stage = Stage::new(seed, &budget.place, 12, [2, 1, 14]);
    let half = Budget {
        operations: budget.operations / 3,
        ..budget.clone()
    };
    while tally.goes_on(&half) {
        let command = pick(&mut stage.dice);
        let blocks = 1 << stage.dice.below(11);
        let trapped = stage.dice.below(2) == 0;
        without_room(&mut stage, &mut tally, command, |world, args| {
            small_files(world, blocks, trapped, args)
        });
    }
    settle(&mut stage, &mut tally, budget);
    readonly::run(&mut tally, seed, budget);
    on_full_disks(&mut tally, seed, budget);
    tally
}

fn pick(dice: &mut Dice) -> &'static str {
    ["index", "rebuild", "embed", "ask", "memory", "query"][dice.below(6)]
}

/// Runs one command in a place without disk space; it must succeed or give a typed failure.
fn without_room(
    stage: &mut Stage,
    tally: &mut Tally,
    command: &str,
    go: impl Fn(&World, &[&str]) -> Ran,
) {
    stage.vault.churn(3);
    let content = stage.new_memory();
    let args: Vec<&str> = match command {
        "rebuild" => vec!["index", "--rebuild", "--json"],
        "ask" => vec!["ask", "What is the oven made of?", "--json"],
        "memory" => memory_add(&content),
        "query" => vec!["query", "oven", "--json"],
        job => vec![job, "--json"],
    };
    let ran = go(&stage.world, &args);
    tally.judge(command, &ran);
    if command == "memory" && ran.done() {
        stage.confirmed.insert(content);
    }
    if ["DB_CORRUPT", "LEDGER_BROKEN", "RUN_TAMPERED"].contains(&ran.code().as_str()) {
        tally.find(super::tally::Kind::FalseAlarm, command, ran.stdout);
    }
}

/// Checks the state after disk space is available again.
fn settle(stage: &mut Stage, tally: &mut Tally, budget: &Budget) {
    let operations = tally.operations;
    compare(tally, &stage.world, &budget.place);
    stage.check_memory(tally);
    stage.check_ledger(tally);
    stage.check_doctor(tally);
    tally.operations = operations;
}

/// Runs a command that may write no file longer than `blocks` × 512 bytes. If not trapped, the
/// kernel also sends a signal.
fn small_files(world: &World, blocks: usize, trapped: bool, args: &[&str]) -> Ran {
    let trap = if trapped { "trap '' XFSZ; " } else { "" };
    let script = format!("{trap}ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut shell = Command::new("/bin/sh");
    shell
        .env_clear()
        .env("HOME", world.home())
        .current_dir(world.vault())
        .stdin(Stdio::null());
    shell
        .arg("-c")
        .arg(script)
        .arg(world.command().get_program())
        .args(args);
    program::piped(shell)
}

fn on_full_disks(tally: &mut Tally, seed: u64, budget: &Budget) {
    let mut stage = Stage::new(seed + 1, &budget.place, 12, [2, 1, 14]);
    let kept = stage.world.root().join("kept");
    super::harness::copy(&stage.world.state(), &kept);
    let Some(_disk) = Mount::over(&stage.world.state(), 4096) else {
        return tally
            .skipped
            .push("no full file systems: this user may not mount one".to_owned());
    };
    super::harness::copy(&kept, &stage.world.state());
    program::run(&stage.world, &["config", "trust", "--json"]);
    let filler = stage.world.state().join("filler");
    let mut rounds = 0;
    while tally.goes_on(budget) {
        fill(&filler, stage.dice.below(400) * 1024);
        for _ in 0..3 {
            let command = pick(&mut stage.dice);
            without_room(&mut stage, tally, command, program::run);
        }
        let _ = fs::remove_file(&filler);
        let operations = tally.operations;
        for job in ["index", "embed"] {
            tally.must(
                "the job after a full disk",
                &program::run(&stage.world, &[job, "--json"]),
            );
        }
        stage.check_memory(tally);
        tally.operations = operations;
        rounds += 1;
        if rounds % 10 == 0 {
            settle(&mut stage, tally, budget);
        }
    }
    settle(&mut stage, tally, budget);
}

/// Uses up all space of a file system except this many bytes.
fn fill(filler: &Path, leave: usize) {
    let block = vec![7u8; 64 * 1024];
    let mut file = fs::File::create(filler).unwrap();
    while std::io::Write::write_all(&mut file, &block).is_ok() {}
    let length = file.metadata().unwrap().len();
    file.set_len(length.saturating_sub(leave as u64)).unwrap();
}
